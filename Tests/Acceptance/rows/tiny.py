"""bytes=0-0 on 50 cold URLs of 1 GB each, the client gone at once.

Origin with ranges: at most 1 MiB each. Without: never more than four abandoned fills at a time; other clients are
served meanwhile.
"""

import time

from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20


def run(scenario):
    count = 15 if scenario.quick else 50
    for kind, identity in (("ranges", dict(ranges=True)), ("no ranges", {})):
        origin = scenario.bench.origin()
        for i in range(count):
            tag = dict(etag=f'"t{i}"') if identity else {}
            origin.at(
                f"/{i}",
                Resource(
                    Content(f"tiny{i}", 1 << 30),
                    fields=(("Cache-Control", "max-age=6000"),),
                    pace=None if identity else 8e6,
                    **identity,
                    **tag,
                ),
            )
        origin.at("/other", Resource(Content("other", 100_000), fields=(("Cache-Control", "no-store"),)))
        pawl = scenario.bench.pawl(origin, name=kind.replace(" ", "-"))
        running = lambda: sum(r.ended is None and r.sent > 0 for i in range(count) for r in origin.of(f"/{i}"))
        most, slowest, right = 0, 0.0, 0
        for i in range(count):
            with Client(pawl.address) as client:
                client.request(f"/{i}", fields=(("Range", "bytes=0-0"),))
                answer = client.response()
                right += (answer.status, answer.body, answer.get("Content-Range")) == (
                    206,
                    Content(f"tiny{i}", 1 << 30).read(0, 1),
                    f"bytes 0-0/{1 << 30}",
                )
            time.sleep(0.15)
            most = max(most, running())
            begun = time.monotonic()
            other = get(pawl.address, "/other", keep=False, timeout=10)
            slowest = max(slowest, time.monotonic() - begun)
            scenario.require(other.sha == Content("other", 100_000).sha256(), f"{kind}: another client got {other}")
        scenario.figure(f"{kind}: right answers", right, count, at_least=True)
        if identity:
            scenario.figure(f"{kind}: most bytes for one URL", max(origin.sent(f"/{i}") for i in range(count)), MIB)
        else:
            scenario.figure(f"{kind}: most abandoned fills at a time", most, 4)
        scenario.figure(f"{kind}: slowest answer to another client", round(slowest * 1000), 500, "ms")
        pawl.stop()
