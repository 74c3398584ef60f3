"""One client's odd request says nothing of what others hold a part of: whatever the origin answers to it, their
resumptions go on."""

import threading

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource

MIB = 1 << 20
CONTENT = Content("legacy", 2 * MIB)

REQUESTS = {
    "odd": (("X-Odd", "1"),),
    "agent": (("User-Agent", "scanner"),),
    "accept": (("Accept", "x/y"),),
    "range": (("Range", "bytes=5-9"),),
    "authorization": (("Authorization", "Basic eDp5"),),
    "no-store": (("Cache-Control", "no-store"),),
    "no-cache": (("Cache-Control", "no-cache"),),
    "cookie": (("Cookie", "a=1"),),
    "override": (("X-HTTP-Method-Override", "PUT"),),
}
FRESH = ("Cache-Control", "max-age=60")
ANSWERS = {status: {"status": status} for status in (204, 400, 401, 403, 404, 410, 413, 429, 500, 503)}
ANSWERS |= {f"{status} fresh": {"status": status, "fields": (FRESH,)} for status in (400, 404, 429, 500, 503)}
ANSWERS |= {
    "no-store": {"fields": (("Cache-Control", "no-store"),)},
    "private": {"fields": (("Cache-Control", "private"),)},
    "cookie": {"fields": (("Set-Cookie", "a=1"),)},
    "redirection": {"status": 302, "fields": (("Location", "/login"),)},
    "redirection, fresh": {"status": 302, "fields": (("Location", "/login"), FRESH)},
    "vary": {"fields": (("Vary", "*"),)},
}


def rest(pawl, path, tag):
    return get(pawl.address, path, fields=(("Range", f"bytes={MIB}-"), ("If-Range", tag)), keep=False)


def spoiled(bench, fields=(), is_filling=False):
    """Of all requests and answers those after which the rest of a body that another client holds half of begins
    anew."""
    origin, found = bench.origin(), []
    pawl = bench.pawl(origin, pawl={"log-level": "error"})
    for name, asked in REQUESTS.items():
        for answer, options in ANSWERS.items():
            path, turn, gate = f"/{name}/{answer}".replace(" ", "-"), {"odd": False}, threading.Event()

            def resource(r, turn=turn, options=options, gate=gate):
                if turn["odd"]:
                    return Resource(b"no\n" if "status" in options else CONTENT, **options)
                return Resource(CONTENT, fields=fields, gates=((3 * MIB // 2, gate),) if is_filling else ())

            origin.at(path, resource)
            with Client(pawl.address) as client:
                client.request(path)
                tag = client.response(limit=MIB if is_filling else None, keep=False).get("ETag")
                turn["odd"] = True
                get(pawl.address, path, fields=asked, keep=False)
                turn["odd"] = False
                gate.set()
            got = rest(pawl, path, tag)
            if (got.status, got.sha) != (206, CONTENT.sha256(MIB)):
                found.append(f"{name}, {answer}: {got.status}")
    return found


@check(
    "after whatever the origin says to one client the rest of a stored body is there for another",
    area="odd",
    seconds=120,
)
def stored(bench):
    same(spoiled(bench), [], "where it began anew")


@check("the same of a body that is fresh for a while", area="odd", seconds=120)
def fresh(bench):
    same(spoiled(bench, (("Cache-Control", "max-age=600"),)), [], "where it began anew")


@check("the same of a body that is still coming", area="odd", seconds=120)
def filling(bench):
    same(spoiled(bench, is_filling=True), [], "where it began anew")


@check(
    "errors for one client's requests push nobody's body out, however many, and what comes after is compared with it",
    area="odd",
)
def many(bench):
    origin = bench.origin()
    origin.at("/x", lambda r: Resource(b"no\n", status=503, fields=(FRESH,)) if r.get("X-Odd") else Resource(CONTENT))
    pawl = bench.pawl(origin, pawl={"log-level": "error"}, site={"resume-ttl": "0s"})
    tag = get(pawl.address, "/x", keep=False).get("ETag")
    for number in range(40):
        same(get(pawl.address, "/x", fields=(("X-Odd", "1" * (100 + number)),)).status, 503, "the odd one")
        same(get(pawl.address, "/x", keep=False).sha, CONTENT.sha256(), "the page")
    got = rest(pawl, "/x", tag)
    same((got.status, got.sha), (206, CONTENT.sha256(MIB)), "the rest with the first tag")


@check("an origin that refuses to go on for the one who asked keeps nobody else from going on", area="odd")
def refused(bench):
    origin = bench.origin()
    for status in (400, 401, 403, 302):
        path = f"/{status}"

        def resource(r, status=status):
            if r.serial == 0:
                return Resource(CONTENT, breaks=lambda start, end: Break(3 * MIB // 2, "fin"))
            return Resource(b"no\n", status=status) if r.get("X-First") else Resource(CONTENT)

        origin.at(path, resource)
    pawl = bench.pawl(origin)
    for status in (400, 401, 403, 302):
        path = f"/{status}"
        first = get(pawl.address, path, fields=(("X-First", "1"),), keep=False)
        true(not first.complete and first.count >= MIB, f"{first}")
        got = rest(pawl, path, first.get("ETag"))
        same((got.status, got.sha), (206, CONTENT.sha256(MIB)), f"the rest after a {status}")
