"""Uploads FILE to ENDPOINT with tuspy, which resumes by itself. Usage: with_tuspy.py ENDPOINT FILE [checksum] [patient]
[store=PATH] [chunk=OCTETS]"""

import sys

from tusclient import client
from tusclient.storage import filestorage

endpoint, path, *words = sys.argv[1:]
options = dict(word.partition("=")[::2] for word in words)
more = {}
if "store" in options:
    more = {"store_url": True, "url_storage": filestorage.FileStorage(options["store"])}
uploader = client.TusClient(endpoint).uploader(
    path,
    chunk_size=int(options.get("chunk", 1 << 20)),
    retries=12,
    retry_delay=1 if "patient" in options else 0.1,
    upload_checksum="checksum" in options,
    metadata={"filename": "with tuspy.bin", "filetype": "video/mp4"},
    **more,
)
uploader.upload()
print(uploader.url, uploader.request.status_code if uploader.request else "-")
