"""`kill -9` while the body of an origin without ranges and validators is coming: its client goes on where it was."""

import os
import random
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20
# A hundred are what it is meant for.
KILLS = int(os.environ.get("KILLS", "12"))


def goes_on(bench, count, seed, framing="length", size=24 * MIB, pace=16 * MIB):
    """A client that resumes whatever happens, and a pawl that is killed: how often its rest began at zero."""
    rng, origin = random.Random(seed), bench.origin(chunk=16384)
    pawl = bench.pawl(origin, pawl={"log-level": "info"})
    zeros, resumed, number = [], 0, 0
    kills = 0
    while kills < count:
        number += 1
        path, content = f"/{number}", Content(f"killed {number}", size)
        origin.at(path, Resource(content, framing=framing, pace=pace))
        got, tag = 0, None
        while got < size:
            fields = () if tag is None or got == 0 else (("Range", f"bytes={got}-"), ("If-Range", tag))
            stop = kills < count
            with Client(pawl.address, timeout=60) as client:
                client.request(path, fields=fields)
                began = [time.monotonic(), rng.uniform(0.0, 0.9) ** 2]
                killed = []

                def sink(data):
                    if stop and not killed and time.monotonic() - began[0] >= began[1]:
                        pawl.kill()
                        killed.append(True)

                answer = client.response(sink=sink)
            if fields:
                resumed += 1
                if answer.status == 200:
                    zeros.append((path, got))
                    got = 0
                else:
                    same(
                        (answer.status, answer.get("Content-Range", "").split("/")[0]),
                        (206, f"bytes {got}-{size - 1}"),
                        f"rest from {got}",
                    )
            got += answer.count
            tag = answer.get("ETag") if answer.status == 200 else tag
            if killed:
                kills += 1
                pawl.start()
            elif got < size:
                raise AssertionError(f"cut without a kill: {answer}")
        whole = get(pawl.address, path, keep=False)
        same((whole.status, whole.sha), (200, content.sha256()), "the whole body afterwards")
    return zeros, resumed


@check(
    "a client that holds more than the catalogue knows goes on after kill -9, also in the midst of the comparison",
    area="killed",
    seconds=1800,
)
def length(bench):
    zeros, resumed = goes_on(bench, KILLS, 1)
    true(not zeros, f"{len(zeros)} of {resumed} resumptions began at zero: {zeros[:5]}")


@check("the same of a body of unknown length", area="killed", seconds=1800)
def chunked(bench):
    zeros, resumed = goes_on(bench, KILLS, 2, "chunked")
    true(not zeros, f"{len(zeros)} of {resumed} resumptions began at zero: {zeros[:5]}")


@check("bytes that are not what was recorded do not count after kill -9", area="killed", seconds=120)
def spoiled(bench):
    size = 24 * MIB
    content = Content("spoiled", size)
    origin = bench.origin(chunk=16384)
    origin.at("/x", Resource(content, pace=16 * MIB))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x")
        answer = client.response(limit=6 * MIB, keep=False)
        pawl.kill()
    file = pawl.body_files()[0]
    for file in pawl.body_files():
        if file.stat().st_size > 4 * MIB:
            with open(file, "r+b") as f:
                f.seek(4 * MIB + 5)
                octet = f.read(1)
                f.seek(4 * MIB + 5)
                f.write(bytes([octet[0] ^ 1]))
    pawl.start()
    got = get(pawl.address, "/x", fields=(("Range", f"bytes={3 * MIB}-"), ("If-Range", answer.get("ETag"))), keep=False)
    true((got.status, got.sha) in ((206, content.sha256(3 * MIB)), (200, content.sha256())), f"{got}")
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "the whole body")
