"""Uploads FILE to ENDPOINT with aiotus, which resumes by itself. Usage: with_aiotus.py ENDPOINT FILE"""

import asyncio
import sys

import aiotus


async def run(endpoint, path):
    configuration = aiotus.RetryConfiguration(retry_attempts=12, max_retry_period_seconds=0.2)
    with open(path, "rb") as file:
        url = await aiotus.upload(
            endpoint, file, {"filename": b"with aiotus.bin", "filetype": b"video/mp4"}, config=configuration
        )
    print(url)
    return 0 if url else 1


sys.exit(asyncio.run(run(*sys.argv[1:3])))
