"""Answers of the application that break off: whoever gets one sees that it was cut, and what it was about is settled
all the same."""

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Break, Resource
from harness.uploads import (
    NO_STORE,
    Dialect,
    append,
    ask,
    bearer,
    create,
    each,
    script,
    status,
    stored,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

MIB = 1 << 20
BODY = Content("truncated", 100_000).read()
ANSWER = Content("answer", 3 * MIB).read()


def broken(size, at, how="fin", framing="length", status=None, fields=()):
    """An answer of `size` bytes that ends after `at`."""
    return Resource(
        ANSWER[:size], status=status, framing=framing, fields=NO_STORE + fields, breaks=lambda *_: Break(at, how)
    )


# By name: bytes of the answer, those that come, how the connection ends, framing.
KINDS = {
    "half": (1000, 500, "fin", "length"),
    "half, reset": (1000, 500, "rst", "length"),
    "nothing": (1000, 0, "fin", "length"),
    "all but one": (1000, 999, "fin", "length"),
    "chunked": (1000, 500, "fin", "chunked"),
    "chunked, no last chunk": (1000, 1000, "fin", "chunked"),
    "over response-max": (3 * MIB, 2 * MIB, "fin", "length"),
    "over response-max, chunked": (3 * MIB, 2 * MIB, "rst", "chunked"),
    "up to response-max": (5000, 4096, "fin", "length"),
}


def begin(bench, extra=None, name="pawl", **site):
    origin = bench.origin()
    origin.default = stored
    for number, (size, at, how, framing) in enumerate(KINDS.values()):
        # The last chunk is what is missing where all bytes come.
        resource = broken(size, at, how, framing) if at < size else no_last_chunk(size)
        for path in (f"/k{number}", f"/k{number}-tus"):
            origin.at(path, script(resource))
    return origin, bench.pawl(origin, name, site={"min-resumable": "0", "response-max": "4K", **site}, extra=extra)


def no_last_chunk(size):
    return Resource(ANSWER[: size + 1], framing="chunked", fields=NO_STORE, breaks=lambda *_: Break(size, "fin"))


def is_cut(answer, what, code=200):
    """A head, and then an end that nobody takes for the content's."""
    same((answer.status, answer.complete), (code, False), f"{what}: status, and whether it looks whole ({answer})")
    true(answer.ended in ("fin", "rst"), f"{what}: ended by {answer.ended}")
    true(ANSWER.startswith(answer.body), f"{what}: other bytes than the application's")
    return answer


@check(
    "an answer that breaks off is cut for the client that waits and for all who ask again, and nothing is sent twice",
    area="upload truncated",
    seconds=150,
)
def resumable(bench):
    origin, pawl = begin(bench)
    locations = []
    d = Dialect(9)

    def row(case):
        number, name = case
        size, at, how, framing = KINDS[name]
        answer = is_cut(create(pawl.address, d, BODY, target=f"/k{number}"), name)
        same(d.said(answer), True, f"{name}: completeness")
        if how == "fin":
            same(answer.body, ANSWER[:at], f"{name}: what came is passed on")
        if framing == "length" and bench.is_1_1:
            same(answer.get("Content-Length"), str(size), f"{name}: Content-Length")
        location = [fields.get("Location") for code, fields in answer.interim if code == 104][0]
        again(name, location)
        locations.append((name, location))

    def again(name, location):
        for what, answer in (
            ("an empty append", append(pawl.address, d, location, len(BODY), b"")),
            ("GET", status(pawl.address, d, location, method="GET")),
        ):
            is_cut(answer, f"{name}, {what}")
            same(d.said(answer), True, f"{name}, {what}: completeness")
        answer = status(pawl.address, d, location)
        same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, str(len(BODY)), True), f"{name}: HEAD")

    each(list(enumerate(KINDS)), row)
    for hard in (False, True):
        pawl.restart(hard)
        each(locations, lambda case: again(*case))
    for number, name in enumerate(KINDS):
        same(len(whole(origin, f"/k{number}")), 1, f"{name}: requests at the origin")


@check("to versions that ask until they had an answer, what there is of it is one", area="upload truncated", seconds=60)
def older(bench):
    origin, pawl = begin(bench)

    def row(d):
        origin.at(f"/{d}", script(broken(1000, 500)))
        answer = is_cut(create(pawl.address, d, BODY, target=f"/{d}"), "the answer")
        location = [fields.get("Location") for code, fields in answer.interim if code == 104][0]
        answer = status(pawl.address, d, location)
        same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, str(len(BODY)), True), "HEAD")
        is_cut(append(pawl.address, d, location, len(BODY), b""), "an empty append")
        same(len(whole(origin, f"/{d}")), 1, "requests at the origin")

    each([Dialect(n) for n in (3, 4, 6, 8, 10)], row)


@check(
    "tus: the last PATCH tells the status, and GET is cut; a refusal on the PATCH is cut itself",
    area="upload truncated",
    seconds=60,
)
def tus(bench):
    origin, pawl = begin(bench)

    def row(case):
        number, name = case
        location = tus_new(pawl.address, len(BODY), target=f"/k{number}-tus")
        answer = tus_patch(pawl.address, location, 0, BODY)
        same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), f"{name}: PATCH")
        for _ in range(2):
            is_cut(tus_get(pawl.address, location), f"{name}: GET")
        same(tus_head(pawl.address, location).get("Upload-Offset"), str(len(BODY)), f"{name}: HEAD")
        same(len(whole(origin, f"/k{number}-tus")), 1, f"{name}: requests at the origin")

    each(list(enumerate(KINDS)), row)
    origin.at("/422", script(broken(1000, 500, status=422)))
    location = tus_new(pawl.address, len(BODY), target="/422")
    is_cut(tus_patch(pawl.address, location, 0, BODY), "a refusal", 422)


@check("plain uploads, streamed and spooled: the client sees the cut", area="upload truncated", seconds=60)
def plain(bench):
    for mode in ("stream", "spool"):
        origin, pawl = begin(bench, name=mode, **{"plain-uploads": mode})

        def row(case):
            number, name = case
            is_cut(ask(pawl.address, f"/k{number}", "POST", (), BODY), f"{mode}, {name}")

        each(list(enumerate(KINDS)), row)


@check("401, 429 and 503 that break off are cut, too, and do not consume", area="upload truncated", seconds=60)
def not_consumed(bench):
    origin, pawl = begin(bench)
    d = Dialect(9)

    def row(code):
        origin.at(f"/{code}", script(broken(1000, 500, status=code, fields=(("Retry-After", "120"),)), stored))
        answer = is_cut(
            create(pawl.address, d, BODY, True, (("Authorization", bearer("ann", 1)),), f"/{code}"), f"{code}", code
        )
        same(d.said(answer), False, f"{code}: completeness")
        location = [fields.get("Location") for number, fields in answer.interim if number == 104][0]
        answer = append(pawl.address, d, location, len(BODY), b"", True, (("Authorization", bearer("ann", 2)),))
        same(
            (answer.status, answer.body, answer.complete), (200, b"got 100000 bytes", True), f"{code}: the next append"
        )

    each((401, 429, 503), row)


@check(
    "a refusal of auth-request that is too long, or breaks off, is no whole one", area="upload truncated", seconds=60
)
def asked_first(bench):
    origin, pawl = begin(bench, **{"auth-request": "/may"})
    d = Dialect(9)
    origin.at("/may", Resource(ANSWER[:70_000], status=403, fields=NO_STORE))
    is_cut(create(pawl.address, d, BODY), "a long refusal", 403)
    origin.at("/may", Resource(ANSWER[: 64 << 10], status=403, fields=NO_STORE))
    answer = create(pawl.address, d, BODY)
    same(
        (answer.status, answer.body == ANSWER[: 64 << 10], answer.complete),
        (403, True, True),
        "a refusal as long as may be",
    )
    origin.at("/may", broken(1000, 500, status=403))
    answer = create(pawl.address, d, BODY)
    true(answer.status == 503 or not answer.complete, f"a refusal that breaks off: {answer}")
    # At the delivery, where it is the upload's answer.
    answers = [Resource(b"", fields=NO_STORE), Resource(ANSWER[:70_000], status=403, fields=NO_STORE)]
    origin.at("/may", script(*answers))
    answer = is_cut(create(pawl.address, d, BODY, target="/late"), "a long refusal of the delivery", 403)
    location = [fields.get("Location") for code, fields in answer.interim if code == 104][0]
    is_cut(append(pawl.address, d, location, len(BODY), b""), "the same again", 403)
    same(whole(origin, "/late"), [], "requests at the origin")


@check(
    "an answer to OPTIONS that breaks off is cut; a preflight is pawl's to answer", area="upload truncated", seconds=60
)
def options(bench):
    origin, pawl = begin(bench, cors="https://page.test")
    origin.at("/o", broken(1000, 500, status=200, fields=(("Allow", "GET, PROPFIND"), ("DAV", "1"))))
    answer = ask(pawl.address, "/o", "OPTIONS")
    same((answer.status, answer.complete, answer.get("DAV")), (200, False, "1"), f"OPTIONS: {answer}")
    preflight = (
        ("Origin", "https://page.test"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "upload-complete"),
    )
    answer = ask(pawl.address, "/o", "OPTIONS", preflight)
    same((answer.status, answer.complete), (200, True), "a preflight")
