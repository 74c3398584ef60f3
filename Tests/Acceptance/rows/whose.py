"""Whose answer it is: 0 answers of another user's request that RFC 9111 does not allow; what is for everybody is asked
for once.

Three users and one without a name, told apart by a cookie, Authorization, a certificate, X-Api-Key or their address,
ask at once and in turn for answers with each of 26 values of freshness, with and without validators, Vary, Set-Cookie,
304s and breaks.
"""

from harness import whosejudge

WAYS = {
    "fields": (whosejudge.in_clear, ("key", "cookie", "authorization", "address")),
    "certificates": (whosejudge.with_certificates, ("certificate",)),
}


def run(scenario):
    rounds = 6 if scenario.quick else 100
    answers = cells = shared = 0
    for name, (scene, ways) in WAYS.items():
        for how in ("at once", "in turn"):
            pages, people = scene(scenario.bench)
            outcome = whosejudge.run(pages, people, ways, how, rounds, seed=15)
            people.pawl.stop()
            for each in outcome.found[:10]:
                scenario.require(False, str(each))
            scenario.figure(f"{name}, {how}: answers of another request that may not be given", len(outcome.found), 0)
            scenario.figure(f"{name}, {how}: cells that must be shared and were not", len(outcome.unshared), 0)
            answers, cells, shared = answers + outcome.answers, cells + outcome.cells, shared + len(outcome.shared)
    scenario.figure("cells", cells)
    scenario.figure("of them such that must be shared", shared)
    scenario.figure("answers", answers)
