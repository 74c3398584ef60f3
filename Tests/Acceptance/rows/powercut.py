"""The power fails at random during one paced fill: what was fetched up to a second before it is there afterwards.

A real ext4 on a loop device is shut down without flushing its journal (needs root); then fsck, mount, start, ask again.
"""

import fcntl
import os
import random
import struct
import subprocess
import threading
import time

from harness.checks import Skip
from harness.client import Client
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # EXT4_IOC_SHUTDOWN


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def run(scenario):
    rng = random.Random(11)
    cuts, size, pace = (3, 60_000_000, 20e6) if scenario.quick else (15, 200_000_000, 40e6)
    image, mount = scenario.bench.folder / "disk", scenario.bench.folder / "mounted"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(4 * size + (64 << 20))
    if (
        os.geteuid()
        or quiet("mkfs.ext4", "-q", "-F", str(image))
        or quiet("mount", "-o", "loop", str(image), str(mount))
    ):
        raise Skip("no right to mount a loop device")
    scenario.bench.stack.callback(lambda: quiet("umount", "-l", str(mount)))
    origin = scenario.bench.origin()
    lost, wrong, restarts = [], 0, []
    pawl = scenario.bench.pawl(origin, start=False, cache={"path": str(mount / "cache"), "min-free": "1M"})
    for number in range(cuts):
        path = f"/{number}"
        content = Content(path, size)
        # Even numbers: an origin that can be asked for the rest; odd ones: one that has to be replayed.
        ranges = number % 2 == 0
        origin.at(
            path,
            Resource(
                content,
                ranges=ranges,
                etag='"p"' if ranges else None,
                pace=pace,
                fields=(("Cache-Control", "max-age=6000"),),
            ),
        )
        pawl.start()
        reader = threading.Thread(target=read, args=(pawl.address, path))
        reader.start()
        time.sleep(rng.uniform(1.2, 0.9 * size / pace))
        before = origin.sent(path)
        cut_power(mount)
        pawl.kill()
        reader.join()
        while quiet("umount", str(mount)):
            time.sleep(0.05)
        quiet("e2fsck", "-f", "-y", str(image))
        if quiet("mount", "-o", "loop", str(image), str(mount)):
            return scenario.require(False, "the file system could not be mounted again")
        begun = time.monotonic()
        pawl.start()
        restarts.append(time.monotonic() - begun)
        answer = read(pawl.address, path)
        if answer is None or not answer.complete or answer.sha != content.sha256():
            wrong += 1
        if ranges:
            lost.append(before - (size - (origin.sent(path) - before)))
        pawl.kill()
    scenario.figure("cuts", cuts)
    scenario.figure("wrong bodies afterwards", wrong, 0)
    scenario.figure("most bytes fetched again (8 MiB or one second)", max(lost), max(8 * MIB, int(pace)) + 2 * MIB)
    scenario.figure("slowest start after a cut", round(max(restarts), 3), unit="s")


def read(address, path):
    try:
        with Client(address, 60) as client:
            client.request(path)
            return client.response(keep=False)
    except OSError:
        return None


def cut_power(mount):
    directory = os.open(mount, os.O_RDONLY)
    try:
        fcntl.ioctl(directory, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(directory)
