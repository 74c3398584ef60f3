"""100 clients ask for a cold 200 MB body at once, at different speeds, with different ranges.

One origin fetch, every byte right, RSS of the process under 100 MB. Where the origin has ranges, readers far ahead of the fill may
have fetches of their own: how many requests there were, and what came twice, is reported.
"""

import random
import threading
import time

from harness.client import Client
from harness.content import Comparer, Content
from harness.origin import Resource

MB = 1_000_000


def run(bar):
    rng = random.Random(6)
    size, clients = (30 * MB, 40) if bar.quick else (200 * MB, 100)
    for kind, identity in (("no ranges", {}), ("ranges", dict(ranges=True, etag='"c"'))):
        origin = bar.bench.origin()
        content = Content("collapse", size)
        origin.at("/x", Resource(content, fields=(("Cache-Control", "max-age=6000"),), pace=size / 3, before_head=lambda r: time.sleep(0.3), **identity))
        pawl = bar.bench.pawl(origin, name=kind.replace(" ", "-"), pawl={"workers": "auto"})
        wrong, peak, stop, heads = [], [0], threading.Event(), []

        def watch():
            while not stop.wait(0.05):
                peak[0] = max(peak[0], pawl.rss())

        def one(i):
            start, end = 0, size
            if i % 3:
                start = rng.randrange(size)
                end = min(size, start + rng.randrange(1, size // 4)) if i % 3 == 1 else size
            comparer = Comparer(content, start)
            pause = (0, 0, 0, 0.0005, 0.002)[i % 5]

            def sink(data):
                comparer(data)
                if pause:
                    time.sleep(pause * len(data) / 65536)
            try:
                with Client(pawl.address, 60) as client:
                    fields = (("Range", f"bytes={start}-{end - 1}"),) if i % 3 else ()
                    client.request("/x", fields=fields)
                    answer = client.response(sink=sink, keep=False)
                if not (answer.complete and comparer.same and comparer.position == end and answer.status == (206 if i % 3 else 200)):
                    wrong.append((i, start, end, answer, comparer.differs_at))
            except OSError as error:
                wrong.append((i, str(error)))
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        threads = [threading.Thread(target=one, args=(i,)) for i in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        bar.require(not wrong, f"{kind}: {len(wrong)} wrong: {wrong[:3]}")
        bar.figure(f"{kind}: wrong answers of {clients}", len(wrong), 0)
        if kind == "no ranges":
            bar.figure(f"{kind}: origin requests", origin.count("/x"), 1)
        else:
            bar.figure(f"{kind}: origin requests", origin.count("/x"))
        bar.figure(f"{kind}: octets from the origin over the size", round(origin.sent("/x") / size, 4), 1.02 if kind == "no ranges" else None)
        bar.figure(f"{kind}: peak RSS", round(peak[0] / MB, 1), 100, "MB")
        pawl.stop()
