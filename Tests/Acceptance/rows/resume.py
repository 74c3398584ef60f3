"""Origin with ranges and validators, reset 1 to 50 times a transfer at random offsets.

500 downloads of 20 MB and one of 2 GB: every client sees one 200 and the right SHA-256; the body bytes that reach pawl
are at most 1.02 x the size plus 4 KiB a reset. Every second transfer is one that pawl does not keep.
"""

import random
import threading

from harness.client import get
from harness.content import Content
from harness.origin import Resource, random_breaks
from scenarios import in_threads

MB = 1_000_000


def run(scenario):
    rng = random.Random(1)
    origin = scenario.bench.origin()
    count, size, large = (16, 20 * MB, 100 * MB) if scenario.quick else (500, 20 * MB, 2000 * MB)
    plans, lock = [], threading.Lock()
    for i in range(count + 1):
        content = Content(f"resume{i}", size if i < count else large)
        breaks, resets = random_breaks(rng, content.size, 1, 50, how=lambda: rng.choice(["rst", "rst", "fin"]))
        kept = i % 2 == 0
        validator = dict(etag=f'"v{i}"') if i % 3 else dict(last_modified="old")
        origin.at(
            f"/{i}",
            Resource(
                content,
                ranges=True,
                breaks=breaks,
                framing="chunked" if i % 5 == 4 else "length",
                fields=(("Cache-Control", "max-age=600" if kept else "no-store"),),
                **validator,
            ),
        )
        plans.append((i, content, resets))
    pawl = scenario.bench.pawl(origin)
    worst, totals = [0.0], [0, 0, 0]

    def one(plan):
        i, content, resets = plan
        answer = get(pawl.address, f"/{i}", keep=False, timeout=60)
        sent, made = origin.sent(f"/{i}"), sum(r.ended in ("rst", "fin") for r in origin.of(f"/{i}"))
        limit = 1.02 * content.size + 4096 * made
        with lock:
            totals[0] += made
            totals[1] += sent
            totals[2] += content.size
            worst[0] = max(worst[0], sent / limit)
            scenario.require(
                (answer.status, answer.complete, answer.sha) == (200, True, content.sha256()),
                f"/{i}: {answer}, {made} resets, {origin.of(f'/{i}')[-2:]}",
            )
            scenario.require(sent <= limit, f"/{i}: {sent} bytes reached pawl for {content.size} with {made} resets")

    in_threads(4, plans, one, scenario)
    scenario.figure("transfers", len(plans))
    scenario.figure("resets", totals[0])
    scenario.figure("bytes that reached pawl over bytes of bodies", round(totals[1] / totals[2], 5), 1.02)
    scenario.figure("worst transfer, bytes over its limit", round(worst[0], 5), 1.0)
