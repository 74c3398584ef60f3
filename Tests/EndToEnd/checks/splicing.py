"""What may be put behind what: broken answers that are not kept, two codings under one tag, stored heads that
contradict themselves."""

import re
import threading

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource, break_points
from harness.process import wait_for

SIZE = 200_000
BODY = Content("splicing", SIZE)
UNKEPT = (("Cache-Control", "no-store"),)
FRESH = (("Cache-Control", "max-age=600"),)
QUICK = {"resume-attempts": 3, "idle-timeout": "1s"}
OFF = {"route:main/off": {"path": "/off/*", "cache": "off"}}


def answer(status, fields, body, framing="length"):
    """A whole answer as bytes."""
    lines = [f"HTTP/1.1 {status} Status"] + [f"{name}: {value}" for name, value in fields]
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    else:
        lines.append("Transfer-Encoding: chunked")
        body = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def part(first, last, total=SIZE):
    return ("Content-Range", f"bytes {first}-{last}/{total}")


def multipart(*ranges):
    body = b""
    for first, last in ranges:
        body += (
            b"--limit\r\nContent-Range: bytes %d-%d/%d\r\n\r\n" % (first, last, SIZE)
            + BODY.read(first, last + 1)
            + b"\r\n"
        )
    return body + b"--limit--\r\n"


TAG, DATE = ("ETag", '"t"'), ("Last-Modified", "Sat, 01 Aug 2026 10:00:00 GMT")
PARTS = ("Content-Type", "multipart/byteranges; boundary=limit")
MANY = multipart((0, 99_999), (100_100, 199_999))
RANGE = ("Range", "bytes=50000-149999")
HALF = BODY.read(50_000, 150_000)
# What the client asks, what it is answered, and which bytes, the last of which never come. Nothing that can be asked
# for goes behind them.
FINAL = {
    "several ranges": ((("Range", "bytes=0-99999,100100-199999"),), 206, (TAG, PARTS), MANY),
    "several ranges with a Content-Range, too": (
        (("Range", "bytes=0-99999,100100-199999"),),
        206,
        (TAG, PARTS, part(0, len(MANY) - 1, 400_000)),
        MANY,
    ),
    "several ranges, in capitals": (
        (("Range", "bytes=0-99999,100100-199999"),),
        206,
        (TAG, ("content-type", "MULTIPART/BYTERANGES ; boundary=limit")),
        MANY,
    ),
    "no Content-Range": ((RANGE,), 206, (TAG,), HALF),
    "two Content-Range lines": ((RANGE,), 206, (TAG, part(50_000, 149_999), part(0, 99_999)), HALF),
    "a malformed Content-Range": ((RANGE,), 206, (TAG, ("Content-Range", "bytes 50000-149999")), HALF),
    "a Content-Range that ends before it begins": (
        (RANGE,),
        206,
        (TAG, ("Content-Range", "bytes 149999-50000/200000")),
        HALF,
    ),
    "a Content-Range beyond its total": ((RANGE,), 206, (TAG, part(50_000, 149_999, 100_000)), HALF),
    "a Content-Range without a total": ((RANGE,), 206, (TAG, part(50_000, 149_999, "*")), HALF),
    "a Content-Range longer than the message": ((RANGE,), 206, (TAG, part(50_000, 199_999)), HALF),
    "a Content-Range shorter than the message": ((RANGE,), 206, (TAG, part(50_000, 99_999)), HALF),
    "another unit": ((("Range", "items=5-9"),), 206, (TAG, ("Content-Range", "items 5-9/20")), HALF),
    "a suffix": ((("Range", "bytes=-100000"),), 206, (TAG, part(100_000, 199_999)), BODY.read(100_000)),
    "a part without a strong validator": ((RANGE,), 206, (("ETag", 'W/"t"'), part(50_000, 149_999)), HALF),
    "a part to a date, without validators": ((RANGE, ("If-Range", DATE[1])), 206, (part(50_000, 149_999),), HALF),
    "404": ((), 404, (TAG,), BODY.read()),
    "404 without a validator": ((), 404, (), BODY.read()),
    "203": ((), 203, (TAG, DATE), BODY.read()),
    "226": ((("A-IM", "gzip"),), 226, (TAG, ("IM", "gzip")), BODY.read()),
    "302": ((), 302, (TAG, ("Location", "/elsewhere")), BODY.read()),
    "401": ((), 401, (TAG, ("WWW-Authenticate", "Basic")), BODY.read()),
    "500": ((), 500, (TAG,), BODY.read()),
    "416": ((("Range", "bytes=900000-"),), 416, (TAG, ("Content-Range", f"bytes */{SIZE}")), BODY.read()),
}
# What is completed: by range, or by a replay that is compared.
RESUMED = {
    "a whole": ((), 200, (TAG,), BODY.read(), "range"),
    "a whole without a validator": ((), 200, (), BODY.read(), "replay"),
    "a whole to If-None-Match": ((("If-None-Match", '"old"'),), 200, (TAG,), BODY.read(), "range"),
    "a whole to If-None-Match, without a validator": ((("If-None-Match", '"old"'),), 200, (), BODY.read(), "replay"),
    "a whole to If-Modified-Since": (
        (("If-Modified-Since", "Sat, 01 Aug 2020 10:00:00 GMT"),),
        200,
        (("ETag", 'W/"w"'),),
        BODY.read(),
        "replay",
    ),
    "a whole to If-Match": ((("If-Match", "*"),), 200, (TAG,), BODY.read(), "range"),
    "a whole to If-Range": ((RANGE, ("If-Range", '"old"')), 200, (), BODY.read(), "replay"),
    "a part": ((RANGE,), 206, (TAG, part(50_000, 149_999)), HALF, "range"),
    "a part to its tag": ((RANGE, ("If-Range", '"t"')), 206, (TAG, part(50_000, 149_999)), HALF, "range"),
    "a part to its date": (
        (RANGE, ("If-Range", DATE[1])),
        206,
        (DATE, ("Date", "Mon, 03 Aug 2026 10:00:00 GMT"), part(50_000, 149_999)),
        HALF,
        "range",
    ),
    "a first part without a validator": (
        (("Range", "bytes=0-99999"),),
        206,
        (part(0, 99_999),),
        BODY.read(0, 100_000),
        "replay",
    ),
}


def honest(fields):
    """What the origin has, however it is asked: conditions count, ranges are given to strong validators only."""
    etag = next((v for n, v in fields if n == "ETag"), None)
    modified = next((v for n, v in fields if n == "Last-Modified"), None)
    return Resource(BODY, ranges=True, etag=etag, last_modified=modified, type=None, fields=UNKEPT)


def breaks_once(first, cut):
    """Plays `first` up to `cut` at the first request; goes on honestly."""

    def play(request):
        if request.serial == 0:
            status, fields, body, framing = first
            octets = answer(status, fields + UNKEPT, body, framing)
            return octets[: len(octets) - cut], "close"
        if "If-None-Match" in dict(request.fields) or "If-Modified-Since" in dict(request.fields):
            return answer(304, UNKEPT, b""), "close"
        return honest(first[1])

    return play


@check(
    "unkept: what broke off and is no representation, or has no certain place in one, ends visibly",
    area="splice",
    tags=("every",),
    seconds=90,
)
def final(bench):
    origin = bench.origin()
    cases = []
    for prefix in ("/off", "/kept"):
        for framing, share in (("length", 0.4), ("length", 1), ("chunked", 0.4), ("chunked", 0)):
            for at, (name, (fields, status, head, body)) in enumerate(FINAL.items()):
                path = f"{prefix}/{framing}{at}/{share}"
                if status == 206 and framing == "chunked" and "than the message" in name:
                    continue  # a length that nobody promised contradicts nothing before its end
                # Of chunks the last one, at least, is missing: its size and the empty line.
                origin.at(
                    path,
                    breaks_once(
                        (status, head, body, framing), int(len(body) * share) + (5 if framing == "chunked" else 0)
                    ),
                )
                cases.append((f"{prefix}, {framing}, without {share:.0%}: {name}", path, fields, status, body))
    pawl = bench.pawl(origin, upstream=QUICK, extra=OFF)
    wrong = []
    for name, path, fields, status, body in cases:
        got = get(pawl.address, path, fields=fields)
        # With a cache on, a range is asked for as it stands, before anything is said, where the answer to a wider one
        # is no use.
        place = re.fullmatch(r"bytes (\d+)-(\d+)/200000", got.get("Content-Range") or "")
        if got.complete and got.status == 206 and place and origin.count(path) == 2 and "/kept" in path:
            if got.body == BODY.read(int(place[1]), int(place[2]) + 1):
                continue
        if got.complete and got.status == 200 and got.body == BODY.read() and status == 206 and "/kept" in path:
            continue
        # A part that nobody asked for is refused before anything is said. One of which every byte came lacks nothing.
        if (
            got.status == 502
            and "another unit" in name
            or "without 0%" in name
            and place
            and got.complete
            and got.body == body == HALF
        ):
            continue
        if "without 0%: a suffix" in name and got.complete and got.body == body:
            continue
        if got.complete or got.body != body[: len(got.body)] or got.status != status:
            wrong.append((name, got, origin.of(path)))
    true(not wrong, f"{len(wrong)} of {len(cases)}: {[w[0] for w in wrong]} {wrong[:3]}")


@check(
    "unkept: what is one representation, or a part with a certain place, is completed: as long, and no longer, than "
    "it was asked for",
    area="splice",
    tags=("every",),
)
def resumed(bench):
    origin = bench.origin()
    for at, (fields, status, head, body, how) in enumerate(RESUMED.values()):
        origin.at(f"/off/{at}", breaks_once((status, head, body, "length"), len(body) * 2 // 5))
    pawl = bench.pawl(origin, upstream=QUICK, extra=OFF)
    for at, (name, (fields, status, head, body, how)) in enumerate(RESUMED.items()):
        got = get(pawl.address, f"/off/{at}", fields=fields)
        same(
            (got.status, got.complete, got.body == body),
            (status, True, True),
            f"{name}: {got} {origin.of(f'/off/{at}')}",
        )
        second = origin.of(f"/off/{at}")[1]
        same(second.get("Range") is not None, how == "range", f"{name}: a range was asked for: {second}")
        for condition in ("If-None-Match", "If-Modified-Since", "If-Match"):
            same(second.get(condition), None, f"{name}: {condition} of the first request")


@check(
    "an error page that is stored and breaks off is never filled with the representation, for its readers and for "
    "the next",
    area="splice",
)
def stored_errors(bench):
    origin = bench.origin()
    for status in (404, 410, 203, 300, 501):
        for path, tag in ((f"/{status}", TAG), (f"/{status}/none", None)):
            head = ((tag,) if tag else ()) + FRESH
            octets = answer(status, head, BODY.read())

            def play(request, octets=octets, head=head):
                return (
                    (octets[:-80_000], "close")
                    if request.serial == 0
                    else Resource(BODY, ranges=True, etag=dict(head).get("ETag"), type=None, fields=FRESH)
                )

            origin.at(path, play)
    pawl = bench.pawl(origin, upstream=QUICK)
    for path in list(origin.resources):
        got = get(pawl.address, path)
        true(
            not got.complete and got.status == int(path.split("/")[1]) and got.body == BODY.read(0, len(got.body)),
            f"{path}: {got} {origin.of(path)}",
        )
        got = get(pawl.address, path)
        same(
            (got.status, got.complete, got.body == BODY.read()),
            (200, True, True),
            f"{path}, the next client: {got} {origin.of(path)}",
        )


@check("parts in a message are not taken for a part of the body, whatever their head says", area="splice")
def parts_are_no_part(bench):
    origin = bench.origin()
    fields = FRESH + (TAG, PARTS, part(0, len(MANY) - 1, 400_000))

    def play(request):
        return (
            answer(206, fields, MANY) if request.get("Range") else Resource(BODY, etag='"t"', type=None, fields=FRESH)
        )

    origin.at("/x", play)
    pawl = bench.pawl(origin, upstream=QUICK)
    got = get(pawl.address, "/x", fields=(("Range", "bytes=0-99999,100100-199999"),))
    same((got.status, got.body), (206, MANY), "as the origin gave it")
    got = get(pawl.address, "/x")
    same((got.status, got.complete, got.body == BODY.read()), (200, True, True), f"who asks for the body: {got}")


@check("the digest of a part's content is told of that part alone", area="splice")
def digests(bench):
    origin = bench.origin()
    digest = (("Content-Digest", "sha-256=:AA==:"), ("Content-MD5", "AA=="))
    for path, fields in (("/kept", FRESH), ("/unkept", UNKEPT)):
        origin.at(
            path,
            lambda r, fields=fields: Resource(
                BODY, ranges=True, etag='"t"', type=None, fields=fields + (digest if r.get("Range") else ())
            ),
        )
    pawl = bench.pawl(origin)
    for path in ("/kept", "/unkept"):
        for asked in ((("Range", "bytes=70000-70009"),), (("Range", "bytes=70000-140000"),), ()):
            got = get(pawl.address, path, fields=asked)
            true(got.complete, f"{path} {asked}: {got}")
            same((got.get("Content-Digest"), got.get("Content-MD5")), (None, None), f"{path} {asked}: {got}")


# -- two codings -----------------------------------------------------------------------------------------------------

PLAIN = Content("two-codings", 150_000)
CODED = Content("two-codings-coded", 120_000)  # nobody decodes it
GZIP = ("Accept-Encoding", "gzip, deflate")
OLD = "Sat, 01 Aug 2026 10:00:00 GMT"


def two_codings(kind, vary=True, keeps=True, tag='"t"', date=None):
    """An origin of gzip and identity under one tag. static: gzip to whoever takes it, ranges too; bare: the same, and a
    206 to If-Range has the least it must have (RFC 9110, 15.3.7); filter: a range is never coded."""

    def play(request):
        coded = "gzip" in (request.get("Accept-Encoding") or "") and not (kind == "filter" and request.get("Range"))
        fields = (FRESH if keeps else UNKEPT) + ((("Vary", "Accept-Encoding"),) if vary else ())
        if coded and not (kind == "bare" and request.get("If-Range")):
            fields += (("Content-Encoding", "gzip"),)
        return Resource(
            CODED if coded else PLAIN,
            ranges=True,
            etag=tag,
            last_modified=date,
            type=None,
            fields=fields,
            conditional=False,
        )

    return play


def coding_of(got):
    """Of which body the bytes are; None: of neither, or of both."""
    found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", got.get("Content-Range") or "")
    first, end = (int(found[1]), int(found[2]) + 1) if got.status == 206 and found else (0, None)
    for name, body in (("gzip", CODED), ("identity", PLAIN)):
        if got.complete and got.body == body.read(first, end) and (got.status == 200 or int(found[3]) == body.size):
            return name
    return None


STATES = {
    "nothing": (),
    "gzip": ((GZIP,),),
    "identity": ((),),
    "gzip, identity": ((GZIP,), ()),
    "identity, gzip": ((), (GZIP,)),
    "identity by range": ((("Range", "bytes=0-999"),),),
    "gzip, identity by range": ((GZIP,), (("Range", "bytes=0-999"),)),
    "identity by range, gzip": ((("Range", "bytes=0-999"),), (GZIP,)),
}


@check(
    "one strong tag over gzip and identity: half of the one is never completed with the other, whatever is stored",
    area="splice",
    seconds=120,
    over=("clear",),
    why="more than a thousand cases of what is stored and asked, whatever that travels in",
)
def one_tag(bench):
    origin, cases = bench.origin(), []
    for kind in ("static", "bare", "filter"):
        for vary in (True, False):
            for keeps in (True, False):
                for condition in (
                    (("If-Range", '"t"'),),
                    (("If-Range", OLD),),
                    (("If-Match", '"t"'),),
                    (("If-Match", '"other", "t"'), ("If-Range", '"t"')),
                ):
                    for state, steps in STATES.items():
                        for accept in (GZIP, None, ("Accept-Encoding", "identity"), ("Accept-Encoding", "gzip;q=0")):
                            if not vary and "identity" in state and accept == GZIP:
                                continue  # what does not say that it varies is what everybody is given
                            path = f"/{len(cases)}"
                            by_date = condition[0][1] == OLD
                            origin.at(
                                path,
                                two_codings(kind, vary, keeps, None if by_date else '"t"', OLD if by_date else None),
                            )
                            cases.append((path, kind, vary, keeps, condition, state, steps, accept))
    pawl = bench.pawl(origin, upstream=QUICK, site={"origin-encoding": "pass"})
    wrong, parts, lock = [], {}, threading.Lock()

    def run(some):
        with Client(pawl.address, 20) as client:
            for case in some:
                path, kind, vary, keeps, condition, state, steps, accept = case
                for step in steps:
                    client.request(path, fields=step)
                    client.response()
                fields = (("Range", "bytes=50000-"),) + condition + ((accept,) if accept else ())
                client.request(path, fields=fields)
                got = client.response()
                coding = coding_of(got)
                holds = "gzip" if accept == GZIP else "identity"
                label = got.get("Content-Encoding") or "identity"
                # Which of two bodies If-Match speaks of, nobody can tell.
                refused = got.status == 412 and condition == (("If-Match", '"t"'),)
                with lock:
                    if refused:
                        pass
                    elif (
                        coding is None
                        or got.status not in (200, 206)
                        or (got.status == 206 and coding != holds)
                        or (got.status == 200 and label != coding)
                    ):
                        wrong.append((case[1:6] + (accept,), got, coding, origin.of(path)))
                    if got.status == 206 and keeps and condition == (("If-Range", '"t"'),):
                        parts[(kind, vary, state, accept)] = coding
                # Whoever asks next is not the worse for it.
                for again in (GZIP, ("Accept-Encoding", "identity")):
                    client.request(path, fields=(again,))
                    got = client.response()
                    if (got.get("Content-Encoding") or "identity") != coding_of(got) or (
                        vary and coding_of(got) != ("gzip" if again == GZIP else "identity")
                    ):
                        with lock:
                            wrong.append((case[1:6] + (accept,), "next", again, got, origin.of(path)))

    threads = [threading.Thread(target=run, args=(cases[at::4],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    true(not wrong, f"{len(wrong)} of {len(cases)}: {wrong[:4]}")
    # Where it can be told, a part is given.
    for kind in ("static", "bare", "filter"):
        for key, coding in (
            (("gzip", GZIP), "gzip"),
            (("identity", None), "identity"),
            (("nothing", None), "identity"),
        ):
            same(parts.get((kind, True) + key), coding, f"{kind}: a part, {key}")


@check(
    "a coded body that breaks off is completed in its coding: by range where the origin says so, else by a replay",
    area="splice",
)
def coded_breaks(bench):
    origin = bench.origin()
    for prefix, keeps in (("/kept", True), ("/unkept", False), ("/off", False)):
        for kind, tag in (
            ("static", lambda coded: '"g"' if coded else '"i"'),
            ("bare", lambda coded: '"g"' if coded else '"i"'),
            ("static-one", lambda coded: '"t"'),
            ("filter", lambda coded: '"t"'),
        ):
            breaks = break_points([50_000, 90_000], "fin")

            def play(request, kind=kind.partition("-")[0], keeps=keeps, tag=tag, breaks=breaks):
                made = two_codings(kind, keeps=keeps)(request)
                made.etag, made.breaks = tag(made.content is CODED), breaks
                return made

            origin.at(f"{prefix}/{kind}", play)
    pawl = bench.pawl(origin, upstream=QUICK, site={"origin-encoding": "pass"}, extra=OFF)
    for path in list(origin.resources):
        got = get(pawl.address, path, fields=(GZIP,))
        same(
            (got.status, got.get("Content-Encoding"), coding_of(got)),
            (200, "gzip", "gzip"),
            f"{path}: {got} {origin.of(path)}",
        )
        requests = origin.of(path)
        for request in requests:
            same(request.get("Accept-Encoding"), GZIP[1], f"{path}: Accept-Encoding of {request}")
        if "static" in path:
            same([r.get("Range") is not None for r in requests], [False, True, True], f"{path}: ranges were asked for")
            true(origin.sent(path) <= CODED.size + 2 * 4096 + 1000, f"{path}: {origin.sent(path)} bytes")


@check("what is missing of a coded body is asked for in its coding; ranges of it go to who names it", area="splice")
def coded_spans(bench):
    origin = bench.origin()
    big, plain = Content("coded-spans", 3 << 20), Content("coded-spans-plain", 4 << 20)
    gate = threading.Event()
    bench.stack.callback(gate.set)

    def play(request):
        coded = "gzip" in (request.get("Accept-Encoding") or "")
        fields = FRESH + (("Vary", "Accept-Encoding"),) + ((("Content-Encoding", "gzip"),) if coded else ())
        gates = ((1 << 20, gate),) if coded and request.serial == 0 else ()
        return Resource(
            big if coded else plain, ranges=True, etag='"g"' if coded else '"i"', fields=fields, gates=gates
        )

    origin.at("/x", play)
    pawl = bench.pawl(origin, site={"origin-encoding": "pass", "abandoned-fill": "64K"})
    client = Client(pawl.address)
    client.request("/x", fields=(GZIP,))
    same(client.response(limit=1 << 19, keep=False).get("ETag"), '"g"', "tag of the first half")
    client.reset()
    wait_for(lambda: "fill-paused" in pawl.log() or "fill-ended" in pawl.log(), 20, "the end of the fill")
    got = get(pawl.address, "/x", fields=(GZIP, ("Range", f"bytes={2 << 20}-"), ("If-Range", '"g"')), keep=False)
    same(
        (got.status, got.get("Content-Encoding"), got.sha),
        (206, "gzip", big.sha256(2 << 20)),
        f"the rest of the coded body: {got}",
    )
    same({r.get("Accept-Encoding") for r in origin.of("/x")}, {GZIP[1]}, "what was asked for")
    got = get(pawl.address, "/x", fields=(GZIP,), keep=False)
    same(
        (got.status, got.get("Content-Encoding"), got.sha),
        (200, "gzip", big.sha256()),
        f"the whole of the coded body: {got}",
    )
    true(origin.sent("/x") < big.size + (1 << 20), f"{origin.sent('/x')} bytes")
    got = get(pawl.address, "/x", fields=(GZIP, ("Range", f"bytes={2 << 20}-"), ("If-Range", '"i"')), keep=False)
    true((got.status, got.sha) == (206, plain.sha256(2 << 20)) or got.status == 200, f"the other tag: {got}")
    got = get(pawl.address, "/x", fields=(("Range", f"bytes={2 << 20}-"), ("If-Range", '"g"')), keep=False)
    same(
        (got.status, got.get("Content-Encoding"), got.sha),
        (200, None, plain.sha256()),
        f"who does not take what the tag names: {got}",
    )


@check("HEAD and If-None-Match are about the coding that a GET would be given", area="splice")
def coded_questions(bench):
    origin = bench.origin()
    for path in ("/cold", "/warm", "/pass/cold", "/pass/warm", "/pass/one"):

        def play(request, path=path):
            made = two_codings("static")(request)
            made.etag, made.conditional = (
                '"t"' if path == "/pass/one" else '"g"' if made.content is CODED else '"i"',
                True,
            )
            return made

        origin.at(path, play)
    pawl = bench.pawl(origin, extra={"route:main/pass": {"path": "/pass/*", "origin-encoding": "pass"}})
    for path in ("/warm", "/pass/warm", "/pass/one"):
        for fields in ((GZIP,), (("Accept-Encoding", "identity"),)):
            get(pawl.address, path, fields=fields)
    for path in ("/cold", "/warm", "/pass/cold", "/pass/warm"):
        for accept in (GZIP, ("Accept-Encoding", "identity")):
            for more in ((), (("Range", "bytes=5-9"),), (("Range", "bytes=5-9"), ("If-Range", '"g"'))):
                got = get(pawl.address, path, fields=(accept,) + more, method="HEAD")
                coded = accept == GZIP and "/pass" in path
                same(
                    (got.status, got.get("Content-Length"), got.get("Content-Encoding"), got.get("ETag")),
                    (200, str((CODED if coded else PLAIN).size), "gzip" if coded else None, '"g"' if coded else '"i"'),
                    f"HEAD {path} {accept} {more}",
                )
    for accept, tag, status in (
        (GZIP, '"g"', 304),
        (GZIP, '"i"', 200),
        (("Accept-Encoding", "identity"), '"i"', 304),
        (("Accept-Encoding", "identity"), '"g"', 200),
    ):
        for path in ("/pass/warm", "/pass/cold"):
            got = get(pawl.address, path, fields=(accept, ("If-None-Match", tag)))
            same(
                (got.status, got.get("ETag")),
                (status, '"g"' if accept == GZIP else '"i"'),
                f"If-None-Match {path} {accept} {tag}: {got}",
            )
    for accept in (GZIP, ("Accept-Encoding", "identity")):
        shown = get(pawl.address, "/pass/one", fields=(accept,))
        got = get(pawl.address, "/pass/one", fields=(accept, ("If-None-Match", shown.get("ETag"))))
        same((got.status, got.get("ETag")), (304, shown.get("ETag")), f"If-None-Match with what was shown, {accept}")
        got = get(pawl.address, "/pass/one", fields=(accept, ("Range", "bytes=9000-"), ("If-Range", shown.get("ETag"))))
        if got.status == 206:
            same(
                coding_of(got), "gzip" if accept == GZIP else "identity", f"the rest of what was shown, {accept}: {got}"
            )


@check("a body that is not coded for anybody is resumed whatever its client accepts, kept or not", area="splice")
def uncoded(bench):
    origin = bench.origin()
    for path, fields in (
        ("/kept", FRESH),
        ("/unkept", UNKEPT),
        ("/vary", UNKEPT + (("Vary", "Accept-Encoding"),)),
        ("/old", (("Cache-Control", "max-age=0"),)),
    ):
        origin.at(path, Resource(PLAIN, ranges=True, etag='"z"', type="application/zip", fields=fields))
    pawl = bench.pawl(origin, site={"origin-encoding": "pass"})
    for path in list(origin.resources):
        for tag, status in (('"z"', 206), ('"other"', 200), ('W/"z"', 200)):
            for warm in (False, True):
                if warm:
                    get(pawl.address, path, fields=(GZIP,))
                got = get(pawl.address, path, fields=(GZIP, ("Range", "bytes=50000-"), ("If-Range", tag)))
                same(
                    (got.status, coding_of(got)),
                    (status, "identity"),
                    f"{path} {tag} warm={warm}: {got} {origin.of(path)[-3:]}",
                )


# -- stored heads ----------------------------------------------------------------------------------------------------

SMALL = Content("small", 3000)
LONG_AGO = "Mon, 03 Aug 2026 10:00:00 GMT"
HEADS = {
    "Content-Range": (("Content-Range", "bytes 0-2999/3000"),),
    "Content-Range twice": (("Content-Range", "bytes 0-4/10"), ("Content-Range", "bytes 5-9/10")),
    "Content-Range of a 416": (("Content-Range", "bytes */10"),),
    "Accept-Ranges: none": (("Accept-Ranges", "none"),),
    "Accept-Ranges twice": (("Accept-Ranges", "bytes"), ("Accept-Ranges", "none")),
    "ETag twice": (("ETag", '"a"'), ("ETag", '"b"')),
    "ETag weak and strong": (("ETag", 'W/"a"'), ("ETag", '"a"')),
    "Last-Modified twice": (("Last-Modified", OLD), ("Last-Modified", "Sun, 02 Aug 2026 10:00:00 GMT")),
    "Age twice": (("Age", "5"), ("Age", "7")),
    "Date twice": (("Date", LONG_AGO), ("Date", OLD)),
    "Content-Type twice": (("Content-Type", "text/plain"), ("Content-Type", "text/html")),
    "Trailer": (("Trailer", "Content-Digest"), ("TE", "trailers"), ("Keep-Alive", "timeout=5"), ("Upgrade", "h2c")),
    "identifiers": (("X-Request-Id", "of-another"), ("Alt-Svc", 'h3=":9"')),
    "digests": (("Content-Digest", "sha-256=:AA==:"), ("Content-MD5", "AA=="), ("Repr-Digest", "sha-256=:AA==:")),
    "Strict-Transport-Security twice": (
        ("Strict-Transport-Security", "max-age=1"),
        ("Strict-Transport-Security", "max-age=2"),
    ),
    "parts": (("Content-Type", "multipart/byteranges; boundary=limit"),),
    "parts, with a Content-Range": (
        ("Content-Type", "multipart/byteranges; boundary=limit"),
        ("Content-Range", "bytes 0-2999/3000"),
    ),
}
ONCE = ("Content-Range", "Accept-Ranges", "ETag", "Last-Modified", "Content-Length", "Age", "Date", "X-Request-Id")
NEVER = ("Transfer-Encoding", "Trailer", "TE", "Keep-Alive", "Connection", "Upgrade", "Alt-Svc")
ASKED = {
    "whole": (),
    "range": (("Range", "bytes=1000-1999"),),
    "suffix": (("Range", "bytes=-5"),),
    "parts": (("Range", "bytes=0-9,2000-2009"),),
    "beyond": (("Range", "bytes=9000-"),),
    "not modified": (("If-None-Match", "*"),),
}


@check(
    "a stored head says nothing that contradicts the answer: one of each field, on the short and on the long way",
    area="splice",
    tags=("every",),
)
def heads(bench):
    origin = bench.origin()
    for prefix in ("/auto", "/origin", "/hsts"):
        for at, fields in enumerate(HEADS.values()):
            origin.at(
                f"{prefix}/{at}",
                Resource(
                    SMALL,
                    type=None,
                    fields=(("Cache-Control", "public, max-age=100000000"),) + fields,
                    conditional=False,
                ),
            )
    pawl = bench.pawl(
        origin,
        extra={
            "route:main/origin": {"path": "/origin/*", "etag": "origin"},
            "route:main/hsts": {"path": "/hsts/*", "hsts": "1h"},
        },
    )
    wrong, count = [], 0
    for prefix in ("/auto", "/origin", "/hsts"):
        for at, (name, fields) in enumerate(HEADS.items()):
            path = f"{prefix}/{at}"
            client = bench.use(Client(pawl.address))

            def ask(fields, method="GET"):
                client.request(path, method, fields)
                return client.response(method)

            for _ in range(2):
                ask(())
            for what, asked in ASKED.items():
                for long in ((), (("TE", "trailers"),)):
                    for method in ("GET", "HEAD"):
                        got = ask(asked + long, method)
                        count += 1
                        complaint = complain(got, name, what, method, prefix)
                        if complaint:
                            wrong.append((path, name, what, method, "long" if long else "short", complaint, got.fields))
    true(not wrong, f"{len(wrong)} of {count}: {wrong[:5]}")


def complain(got, name, what, method, prefix):
    """What is wrong with an answer from such a head, in words; None."""
    whole = (
        what == "whole"
        or method == "HEAD"
        and what != "not modified"
        or name.startswith("parts")
        and what != "not modified"
    )
    status = 200 if whole else {"range": 206, "suffix": 206, "parts": 206, "beyond": 416, "not modified": 304}[what]
    if not got.hit or got.status != status:
        return f"{got}, and not a hit of {status}"
    for field in ONCE + (("Strict-Transport-Security",) if prefix == "/hsts" else ()):
        if len(got.all(field)) > 1:
            return f"{field} {len(got.all(field))} times"
    for field in NEVER:
        if got.all(field):
            return f"{field} is there"
    ranges = (
        {"range": "bytes 1000-1999/3000", "suffix": "bytes 2995-2999/3000", "beyond": "bytes */3000"}.get(what)
        if status in (206, 416)
        else None
    )
    if got.get("Content-Range") != ranges:
        return f"Content-Range {got.get('Content-Range')}"
    if got.get("Accept-Ranges") != ("none" if name.startswith("parts") else "bytes"):
        return f"Accept-Ranges {got.get('Accept-Ranges')}"
    types = got.all("Content-Type")
    if (
        what == "parts"
        and status == 206
        and (
            len(types) != 1 or not types[0].startswith("multipart/byteranges; boundary=") or types[0].endswith("limit")
        )
    ):
        return f"Content-Type {types}"
    if (
        got.all("X-Request-Id") == ["of-another"]
        or status == 206
        and (got.all("Content-Digest") or got.all("Content-MD5"))
    ):
        return f"a field of another message: {got.fields}"
    if method == "GET" and status in (200, 206) and what != "parts":
        first, end = (
            {"range": (1000, 2000), "suffix": (2995, 3000)}.get(what, (0, None)) if status == 206 else (0, None)
        )
        if got.body != SMALL.read(first, end) or not got.complete:
            return "other bytes"
    if what == "parts" and status == 206 and method == "GET":
        if (
            got.body.count(b"\r\nContent-Range: ") != 2
            or got.body.count(b"Content-Type") > 2
            or SMALL.read(2000, 2010) not in got.body
        ):
            return f"parts {got.body}"
    return None


@check("an end that is held is not joined to a 200 that nothing proves to be of the same content", area="splice")
def joined_end(bench):
    origin = bench.origin()
    other = Content("splicing, changed", SIZE)
    pawl = bench.pawl(origin)
    for path, fields in (("/gone", {}), ("/weak", {"etag": 'W/"n"'}), ("/tag", {"etag": '"n"'})):
        origin.at(path, Resource(BODY, ranges=True, last_modified="old", fields=FRESH))
        same(get(pawl.address, path, fields=(("Range", "bytes=150000-"),)).body, BODY.read(150_000), f"{path}: the end")
        origin.at(path, Resource(other, fields=FRESH, **fields))
        answers = [get(pawl.address, path) for _ in range(3)]
        for number, got in enumerate(answers):
            true(got.body == other.read()[: len(got.body)], f"{path}, {number}: bytes of two representations: {got}")
        true(answers[0].complete and answers[1].complete and answers[2].complete, f"{path}: {answers}")
        same([len(got.body) for got in answers], [SIZE] * 3, f"{path}: whole")
