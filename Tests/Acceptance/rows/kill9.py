"""kill -9 100 times at random during one 2 GB fill from an origin with ranges, the client asking again each time.

The body bytes that reach pawl are at most the size plus 100 x 8 MiB, and the body is right.
"""

import hashlib
import random
import threading
import time

from harness.client import Client
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20


def run(scenario):
    rng = random.Random(5)
    size, kills = (120_000_000, 8) if scenario.quick else (2_000_000_000, 100)
    origin = scenario.bench.origin()
    content = Content("kill9", size)
    origin.at("/x", Resource(content, ranges=True, etag='"k"', fields=(("Cache-Control", "max-age=6000"),), pace=90e6))
    pawl = scenario.bench.pawl(origin)
    digest, got, tag, done, statuses = hashlib.sha256(), 0, None, 0, []
    restarts = []
    while got < size:
        if done < kills:
            wait = rng.uniform(0.02, 2 * size / kills / 90e6)
            killer = threading.Timer(wait, pawl.kill)
            killer.start()
        else:
            killer = None
        try:
            with Client(pawl.address, 30) as client:
                fields = (("Range", f"bytes={got}-"), ("If-Range", tag)) if got else ()
                client.request("/x", fields=fields)

                def take(data):
                    nonlocal got
                    digest.update(data)
                    got += len(data)

                def head(answer):
                    nonlocal tag, got, digest
                    statuses.append(answer.status)
                    if answer.status == 200 and got:
                        scenario.require(False, f"a 200 instead of the rest at {got}, kill {done}")
                        digest, got = hashlib.sha256(), 0
                    tag = answer.get("ETag")

                answer = client.response(sink=take, on_head=head, keep=False)
        except OSError:
            pass
        if killer:
            killer.join()
            done += 1
            begun = time.monotonic()
            pawl.start()
            restarts.append(time.monotonic() - begun)
        elif got < size and answer.ended != "message":
            scenario.require(False, f"the transfer broke without a kill: {answer}")
            break
    while done < kills:
        pawl.kill()
        pawl.start()
        done += 1
    sent = origin.sent("/x")
    scenario.require(digest.hexdigest() == content.sha256() and got == size, "the body is wrong")
    scenario.figure("kills", done)
    scenario.figure("bytes that reached pawl", sent, size + kills * 8 * MIB)
    scenario.figure("fetched again at each kill", round((sent - size) / kills / MIB, 3), 8, "MiB")
    scenario.figure("slowest start after a kill", round(max(restarts), 3), unit="s")
    scenario.figure("answers of 206", statuses.count(206))
