"""200 slow readers of one fully held 10 GB body (the origin serves a file of holes): at most 128 KiB of RSS each."""

import random
import time

from harness.client import Client, get
from harness.content import Holes
from harness.origin import Resource


def run(scenario):
    rng = random.Random(8)
    size, readers = (300_000_000, 60) if scenario.quick else (10_000_000_000, 200)
    origin = scenario.bench.origin()
    origin.at("/x", Resource(Holes(size), ranges=True, etag='"h"', fields=(("Cache-Control", "max-age=60000"),)))
    pawl = scenario.bench.pawl(origin)
    begun = time.monotonic()
    answer = get(pawl.address, "/x", sink=lambda data: None, keep=False, timeout=60)
    scenario.require(answer.complete and answer.count == size, f"the fill: {answer}")
    scenario.figure("cold fill", round(size / (time.monotonic() - begun) / 1e6), unit="MB/s")
    scenario.figure("RSS after the fill", round(pawl.rss() / 1e6, 1), unit="MB")
    before, clients = pawl.rss(), []
    for i in range(readers):
        client = scenario.bench.use(Client(pawl.address, 10, receive_buffer=32768))
        start = rng.randrange(size - 50_000_000)
        client.request("/x", fields=(("Range", f"bytes={start}-"),) if i % 4 else ())
        clients.append(client)
    right = 0
    for client in clients:
        answer = client.response(limit=10_000)
        right += answer.status in (200, 206) and answer.body == bytes(10_000)
    peak = 0
    for _ in range(10 if scenario.quick else 40):
        for client in clients:
            try:
                client.socket.settimeout(2)
                client.socket.recv(rng.randrange(1, 20_000))
            except OSError as error:
                scenario.require(False, f"a slow reader got {error}")
        time.sleep(0.1)
        peak = max(peak, pawl.rss())
    scenario.figure("readers", right, readers, at_least=True)
    scenario.figure("RSS a reader", round((peak - before) / readers / 1024, 1), 128, "KiB")
    scenario.figure("peak RSS", round(peak / 1e6, 1), unit="MB")
    scenario.figure("bytes from the origin over the size", round(origin.sent("/x") / size, 5), 1.001)
