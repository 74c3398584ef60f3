"""Poisoned URLs: 100,000 times a client asks with fields of its choice, and a plain GET of another one gets what it
would have got.

Cold and warm URLs of an origin that takes offence: ranges, conditions, overrides, odd, oversize and unknown fields,
answered with errors, redirects and other content that say how long they are fresh.
"""

import collections
import os

from harness import poison
from harness.touchy import Touchy


def run(scenario):
    count, seed = 3000 if scenario.quick else 100_000, int(os.environ.get("PAWL_SEED", 15))
    origin = scenario.bench.origin()
    routes = {f"route:main/{name}": {"path": f"/{name}/*", **settings} for name, settings in poison.SETTINGS.items()}
    pawl = scenario.bench.pawl(
        origin, pawl={"log-level": "error", "access-log": "off"}, upstream={"max-connections": "256"}, extra=routes
    )
    played, found, words = poison.run(pawl.address, Touchy(origin), poison.cases(seed, count), forget=origin.forget)
    for what, answer, case in found:
        scenario.require(False, f"{what}: {case}: {answer}")
    scenario.figure("cases", played, count, at_least=True)
    scenario.figure("plain GETs that got something else", len(found), 0)
    scenario.figure("plain GETs answered from the store", words["hit"], played // 5, at_least=True)
    for name, number in collections.Counter(answer.get("X-Poison") or what for what, answer, _ in found).most_common():
        scenario.note(f"{number} by {name}")
