"""Whose answer it is: three users and one without a name, told apart by a field that no rule knows, by cookies,
`Authorization`, a certificate or their address (which the origin sees in `X-Forwarded-For`, and each forges), ask at
once and in turn for answers with each value of harness/reuse.py's TABLE, with and without validators, `Vary`,
`Set-Cookie`, 304s and breaks. `Tests/Acceptance/run whose` does the same at length.
"""

from harness import reuse, whosejudge
from harness.checks import check, same, true

# Cells for each value and way; each is four to thirteen requests. Three of them are simple, the others drawn.
ROUNDS, SEED = 6, 9111
FIELDS = ("key", "cookie", "authorization", "address")
TLS = "certificates of clients need TLS, which the check speaks by itself"


def judged(outcome, least):
    """`least`: so many cells are such that one request to the origin is enough for all."""
    true(
        not outcome.found,
        f"{outcome.counts} in {outcome.cells} cells, such as: " + " || ".join(map(str, outcome.found[:3])),
    )
    true(
        not outcome.unshared,
        f"{len(outcome.unshared)} of {len(outcome.shared)} cells not shared: {outcome.unshared[:3]}",
    )
    true(len(outcome.shared) >= least, f"only {len(outcome.shared)} cells that must be shared")
    # Only where an origin breaks off and nothing proves the rest the same may an answer be none.
    true(outcome.whole >= 0.8 * outcome.answers, f"only {outcome.whole} of {outcome.answers} answers were whole")


@check("the table of values says what the rules of RFC 9111 say", area="whose")
def agrees(bench):
    same(reuse.differs(), [], "where they differ")


@check(
    "nobody gets what was made for another when all ask at once; what is for everybody is asked for once",
    area="whose",
    tags=("h2",),
    seconds=150,
)
def at_once(bench):
    judged(whosejudge.run(*whosejudge.in_clear(bench), FIELDS, "at once", ROUNDS if bench.is_1_1 else 4, SEED), 20)


@check(
    "nobody gets what was made for another when they ask in turn; what is for everybody is asked for once",
    area="whose",
    seconds=150,
)
def in_turn(bench):
    judged(whosejudge.run(*whosejudge.in_clear(bench), FIELDS, "in turn", ROUNDS if bench.is_1_1 else 4, SEED), 60)


@check(
    "certificates that the application is told of keep answers apart, at once",
    area="whose",
    seconds=150,
    over=("clear",),
    why=TLS,
)
def certificates_at_once(bench):
    judged(whosejudge.run(*whosejudge.with_certificates(bench), ("certificate",), "at once", ROUNDS, SEED), 0)


@check(
    "certificates that the application is told of keep answers apart, in turn",
    area="whose",
    seconds=150,
    over=("clear",),
    why=TLS,
)
def certificates_in_turn(bench):
    judged(whosejudge.run(*whosejudge.with_certificates(bench), ("certificate",), "in turn", ROUNDS, SEED), 5)
