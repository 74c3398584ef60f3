"""Origin without ranges or validators, reset 1 to 50 times a transfer at growing random offsets.

500 downloads of 20 MB and one of 2 GB: every body right, nothing spliced.
"""

import random
import threading

from harness.client import get
from harness.content import Content
from harness.origin import Resource, random_breaks
from scenarios import in_threads

MB = 1_000_000


def run(scenario):
    rng = random.Random(2)
    origin = scenario.bench.origin()
    count, size, large = (10, 5 * MB, 50 * MB) if scenario.quick else (500, 20 * MB, 2000 * MB)
    plans, lock = [], threading.Lock()
    for i in range(count + 1):
        content = Content(f"replay{i}", size if i < count else large)
        breaks, resets = random_breaks(
            rng, content.size, 1, 50 if i < count else 8, how=lambda: rng.choice(["rst", "fin"])
        )
        kept = i % 2 == 0
        origin.at(
            f"/{i}",
            Resource(
                content,
                breaks=breaks,
                framing="chunked" if i % 5 == 4 else "length",
                fields=(("Cache-Control", "max-age=600" if kept else "no-store"),),
            ),
        )
        plans.append((i, content, resets))
    pawl = scenario.bench.pawl(origin)
    totals = [0, 0, 0, 0]

    def one(plan):
        i, content, _ = plan
        answer = get(pawl.address, f"/{i}", keep=False, timeout=120)
        good = (answer.status, answer.complete, answer.sha) == (200, True, content.sha256())
        with lock:
            totals[0] += sum(r.ended in ("rst", "fin") for r in origin.of(f"/{i}"))
            totals[1] += origin.sent(f"/{i}")
            totals[2] += content.size
            totals[3] += good
            scenario.require(good, f"/{i}: {answer}, {origin.of(f'/{i}')[-2:]}")

    in_threads(4, plans, one, scenario)
    scenario.figure("transfers", len(plans))
    scenario.figure("right bodies", totals[3], len(plans), at_least=True)
    scenario.figure("resets", totals[0])
    scenario.figure("bytes replayed over bytes of bodies", round(totals[1] / totals[2], 2))
