"""A poisoned URL: requests of one client with fields of its choice, and after each what a plain GET of another one
gets; before an origin that takes offence (harness/touchy.py). `Tests/Acceptance/run poison` does the same a hundred
thousand times.
"""

import collections

from harness import poison
from harness.checks import V1, check, only, same, true
from harness.client import get
from harness.origin import Resource
from harness.touchy import Touchy

only(V1, "bytes as a client may write them, of which HTTP/2 cannot say all", __name__)

COUNT, SECONDS = 3000, 30


def scene(bench):
    origin = bench.origin()
    routes = {f"route:main/{name}": {"path": f"/{name}/*", **settings} for name, settings in poison.SETTINGS.items()}
    return (
        origin,
        Touchy(origin),
        bench.pawl(origin, pawl={"log-level": "error"}, upstream={"max-connections": "256"}, extra=routes),
    )


@check("whatever one client asks, a plain GET of another gets what it would have got", area="poison", seconds=150)
def random_requests(bench):
    origin, touchy, pawl = scene(bench)
    played, found, words = poison.run(
        pawl.address, touchy, poison.cases(7, COUNT), forget=origin.forget, seconds=SECONDS
    )
    counts = dict(collections.Counter(answer.get("X-Poison") or what.partition(":")[0] for what, answer, _ in found))
    true(
        not found,
        f"{counts} in {played} cases, such as: "
        + " || ".join(f"{what}: {case}: {answer}" for what, answer, case in found[:3]),
    )
    true(played >= COUNT / 4, f"only {played} cases within {SECONDS} s")
    true(words["hit"] >= played / 5, f"a cache that keeps nothing proves nothing: {dict(words)}")


@check("an error that a plain GET got, and that says how long it is fresh, is kept for others", area="poison")
def errors_are_kept(bench):
    origin, _, pawl = scene(bench)
    for status in (404, 410, 500, 503):
        origin.at(f"/{status}", Resource(b"no\n", status=status, fields=(("Cache-Control", "max-age=60"),)))
        answers = [get(pawl.address, f"/{status}") for _ in range(3)]
        same([a.status for a in answers], [status] * 3, "what came")
        same(origin.count(f"/{status}"), 1, f"origin requests for a {status}")
