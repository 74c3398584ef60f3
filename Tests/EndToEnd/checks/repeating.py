"""An answer that takes too long is work at the application: an origin that can only be replayed is not made to do it
again and again."""

import threading

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
STALL = {"idle-timeout": "1s"}


def stalls(at):
    """Every answer falls silent at the offsets of `at`, one a request, and from the last one on always there."""

    def breaks(request):
        place = at[min(request.serial, len(at) - 1)]
        return (lambda start, end: Break(place, "stall")) if place is not None else None

    return breaks


@check(
    "a slow answer that falls silent runs twice at the application, kept or not, with a length or without, from any "
    "place on",
    area="repeat",
)
def slow_report(bench):
    origin = bench.origin()
    content = Content("report", 2 * MIB)
    cases = [
        (f"/{kept}-{framing}-{at}", kept, framing, at)
        for kept in ("kept", "no-store", "private")
        for framing in ("length", "chunked")
        for at in (0, 1000, MIB)
    ]
    for path, kept, framing, at in cases:
        fields = FRESH if kept == "kept" else (("Cache-Control", kept),)
        breaks = stalls([at])
        origin.at(
            path,
            lambda r, f=framing, fields=fields, breaks=breaks: Resource(
                content, framing=f, fields=fields, breaks=breaks(r)
            ),
        )
    # One whose tag says that it could be resumed, but which takes no range; and one without a byte yet to resume from.
    origin.at("/tagged", lambda r: Resource(content, etag='"t"', fields=FRESH, breaks=stalls([MIB])(r)))
    origin.at("/ranges-0", lambda r: Resource(content, etag='"t"', ranges=True, fields=FRESH, breaks=stalls([0])(r)))
    pawl = bench.pawl(origin, upstream=STALL)
    wrong = []

    def one(path):
        answer = get(pawl.address, path, timeout=50)
        if answer.complete or origin.count(path) > 2 or answer.body != content.read(0, len(answer.body)):
            wrong.append((path, answer, origin.count(path)))

    threads = [
        threading.Thread(target=one, args=(path,)) for path in [case[0] for case in cases] + ["/tagged", "/ranges-0"]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    true(not wrong, f"{len(wrong)}: {wrong}")


@check("an origin that falls silent and gets on by 1 % each time is asked until all is here", area="repeat")
def gets_on(bench):
    origin = bench.origin()
    content = Content("gets-on", 2 * MIB)
    step = content.size // 100 + 1
    at = [MIB + i * step for i in range(4)] + [None]
    origin.at("/x", lambda r: Resource(content, fields=FRESH, breaks=stalls(at)(r)))
    once = [MIB, None]
    origin.at("/once", lambda r: Resource(content, fields=FRESH, breaks=stalls(once)(r)))
    pawl = bench.pawl(origin, upstream=STALL)
    for path, count in (("/x", 5), ("/once", 2)):
        answer = get(pawl.address, path, keep=False, timeout=30)
        same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), path)
        same(origin.count(path), count, f"requests for {path}")


@check(
    "after a silence a busy or unreachable origin is waited for, and a range is asked for as often as before",
    area="repeat",
)
def waits(bench):
    origin = bench.origin()
    content = Content("waits", 2 * MIB)
    stall = stalls([MIB])
    origin.at(
        "/busy",
        lambda r: (
            Resource(b"", status=503)
            if 0 < r.serial < 4
            else Resource(content, fields=FRESH, breaks=stall(r) if r.serial == 0 else None)
        ),
    )
    silent = stalls([MIB])
    origin.at(
        "/ranges",
        lambda r: Resource(
            content,
            ranges=True,
            etag='"r"',
            fields=FRESH,
            breaks=silent(r)
            if r.serial == 0
            else (lambda start, end: Break(start + 4096, "stall"))
            if r.serial < 4
            else None,
        ),
    )
    pawl = bench.pawl(origin, upstream=STALL)
    for path in ("/busy", "/ranges"):
        answer = get(pawl.address, path, keep=False, timeout=30)
        same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), path)


@check("a resumption that is never answered counts: after it the application is asked once more", area="repeat")
def unanswered(bench):
    origin = bench.origin()
    content = Content("unanswered", 2 * MIB)
    never = threading.Event()
    origin.at(
        "/x",
        lambda r: (
            Resource(content, fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
            if r.serial == 0
            else Resource(content, fields=FRESH, before_head=lambda r: never.wait(20))
        ),
    )
    pawl = bench.pawl(origin, upstream={"response-timeout": "1s"})
    answer = get(pawl.address, "/x", timeout=30)
    never.set()
    same((answer.complete, origin.count("/x")), (False, 3), "cut, and requests")
