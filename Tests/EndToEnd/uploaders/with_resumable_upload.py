"""Uploads FILE to ENDPOINT with resumable-upload, which checks sums and resumes by itself. Usage:
with_resumable_upload.py ENDPOINT FILE"""

import sys

from resumable_upload import TusClient

endpoint, path = sys.argv[1:3]
client = TusClient(endpoint, chunk_size=1 << 20, max_retries=12, retry_delay=0.1, checksum=True)
print(client.upload_file(path, metadata={"filename": "resumable.bin", "filetype": "video/mp4"}))
