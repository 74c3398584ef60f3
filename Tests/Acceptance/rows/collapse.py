"""100 clients ask for a cold 200 MB body at once, at different speeds, with different ranges.

One origin fetch, every byte right, RSS of the process under 100 MB. Where the origin has ranges, readers far ahead of
the fill may have fetches of their own: how many requests there were, and what came twice, is reported. The body is
fresh because its origin says so, by the age of its `Last-Modified`, by `default-ttl`; or it is not, and all but the
first hold half of it and name the origin's strong tag, about which the origin may be asked.
"""

import random
import threading
import time

from harness.client import Client
from harness.content import Comparer, Content
from harness.origin import Resource
from harness.process import wait_for

MB = 1_000_000
FRESH = (("Cache-Control", "max-age=6000"),)
KINDS = (  # name, the origin's resource, the site's settings
    ("no ranges", dict(fields=FRESH), {}),
    ("ranges", dict(fields=FRESH, ranges=True, etag='"c"'), {}),
    ("Last-Modified", dict(last_modified="old"), {}),
    ("default-ttl", {}, {"default-ttl": "1h"}),
    ("tag", dict(etag='"c"'), {}),
)


def run(scenario):
    rng = random.Random(6)
    size, clients = (30 * MB, 40) if scenario.quick else (200 * MB, 100)
    for kind, identity, site in KINDS:
        origin = scenario.bench.origin()
        content = Content("collapse", size)
        origin.at("/x", Resource(content, pace=size / 3, before_head=lambda r: time.sleep(0.3), **identity))
        pawl = scenario.bench.pawl(origin, name=kind.replace(" ", "-"), pawl={"workers": "auto"}, site=site)
        wrong, peak, stop = [], [0], threading.Event()

        def watch():
            while not stop.wait(0.05):
                peak[0] = max(peak[0], pawl.rss())

        def one(i):
            start, end, fields = 0, size, ()
            if kind == "tag" and i:
                start, fields = size // 2, (("If-Range", '"c"'),)
            elif i % 3:
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
                    if is_part := kind == "tag" and i or i % 3:
                        fields += (("Range", f"bytes={start}-{end - 1}"),)
                    client.request("/x", fields=fields)
                    answer = client.response(sink=sink, keep=False)
                if not (
                    answer.complete
                    and comparer.same
                    and comparer.position == end
                    and answer.status == (206 if is_part else 200)
                ):
                    wrong.append((i, start, end, answer, comparer.differs_at))
            except OSError as error:
                wrong.append((i, str(error)))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        threads = [threading.Thread(target=one, args=(i,)) for i in range(clients)]
        for i, thread in enumerate(threads):
            thread.start()
            if kind == "tag" and not i:  # the others come while its fill runs
                wait_for(lambda: origin.sent("/x"), 10, "the fill")
        for thread in threads:
            thread.join()
        stop.set()
        scenario.require(not wrong, f"{kind}: {len(wrong)} wrong: {wrong[:3]}")
        scenario.figure(f"{kind}: wrong answers of {clients}", len(wrong), 0)
        has_ranges = kind == "ranges"
        bodies = sum(request.status != 304 for request in origin.of("/x"))
        scenario.figure(f"{kind}: origin fetches", bodies, None if has_ranges else 1)
        if origin.count("/x") > bodies:
            scenario.figure(f"{kind}: questions about its tag, answered 304", origin.count("/x") - bodies)
        scenario.figure(
            f"{kind}: bytes from the origin over the size",
            round(origin.sent("/x") / size, 4),
            None if has_ranges else 1.02,
        )
        scenario.figure(f"{kind}: peak RSS", round(peak[0] / MB, 1), 100, "MB")
        pawl.stop()
