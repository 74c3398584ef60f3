"""Range, If-Range, multipart/byteranges, 416 and HEAD on what is held and on what is not."""

import re
import threading

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=60"),)
MIB = 1 << 20
BODY = Content("ranges", 1000)
WHOLE = "whole"

SINGLE = [  # (Range, expected: (first, last), "416" or whole)
    ("bytes=0-0", (0, 0)),
    ("bytes=0-", (0, 999)),
    ("bytes=0-499", (0, 499)),
    ("bytes=500-", (500, 999)),
    ("bytes=999-", (999, 999)),
    ("bytes=-1", (999, 999)),
    ("bytes=-1000", (0, 999)),
    ("bytes=-5000", (0, 999)),
    ("bytes=0-5000", (0, 999)),
    ("bytes=10-10", (10, 10)),
    ("BYTES=0-9", (0, 9)),
    ("Bytes=0-9", (0, 9)),
    ("bytes= 0-9", WHOLE),
    ("bytes=0-9 ", (0, 9)),
    ("bytes=0-9,", (0, 9)),
    ("bytes=0-18446744073709551615", (0, 999)),
    ("bytes=0-99999999999999999999999999", (0, 999)),
    ("bytes=-99999999999999999999999999", (0, 999)),
    ("bytes=1000-", 416),
    ("bytes=1000-2000", 416),
    ("bytes=-0", 416),
    ("bytes=99999999999999999999999999-", 416),
    ("bytes=2000-3000,4000-", 416),
    ("bytes=", WHOLE),
    ("bytes=a-b", WHOLE),
    ("bytes=5-2", WHOLE),
    ("bytes=-", WHOLE),
    ("bytes 0-5", WHOLE),
    ("bytes=0-5-6", WHOLE),
    ("bytes=0--5", WHOLE),
    ("bytes=--5", WHOLE),
    ("bytes=0-5;x", WHOLE),
    ("bytes=+0-5", WHOLE),
    ("bytes=0x0-5", WHOLE),
    ("lines=0-5", WHOLE),
    ("bytes", WHOLE),
    ("bytes:0-5", WHOLE),
    ("0-5", WHOLE),
    ("bytes=0-5,9-7", WHOLE),
    ("bytes=0 - 5", WHOLE),
]


@check("single and suffix ranges, clamping, 416 and what is ignored, on a hit and on a miss", area="ranges")
def single(bench):
    wrong = []
    origin = bench.origin()
    origin.default = Resource(BODY, etag='"v"', last_modified="old", fields=FRESH, type="text/x-test")
    pawl = bench.pawl(origin)
    get(pawl.address, "/warm")
    with Client(pawl.address) as client:
        for place in ("/warm", "/cold"):
            for i, (value, expected) in enumerate(SINGLE):
                client.request(place if place == "/warm" else f"/cold-{i}", fields=(("Range", value),))
                answer = client.response()
                if expected == WHOLE:
                    good = (answer.status, answer.body, answer.get("Content-Range")) == (200, BODY.read(), None)
                elif expected == 416:
                    good = (answer.status, answer.get("Content-Range")) == (416, "bytes */1000") and answer.complete
                else:
                    first, last = expected
                    good = (
                        answer.status,
                        answer.get("Content-Range"),
                        answer.body,
                        answer.get("Content-Type"),
                        answer.get("ETag"),
                    ) == (206, f"bytes {first}-{last}/1000", BODY.read(first, last + 1), "text/x-test", '"v"')
                if not good:
                    wrong.append((place, value, expected, answer))
                if answer.ended != "message":
                    client.close()
                    client = bench.use(Client(pawl.address))
    true(not wrong, f"{len(wrong)} of {2 * len(SINGLE)}: {wrong[:6]}")


def parts(answer):
    boundary = re.fullmatch(r'multipart/byteranges; *boundary="?([^"]+)"?', answer.get("Content-Type") or "")
    if not boundary:
        return None
    marker, found, rest = b"--" + boundary.group(1).encode(), [], answer.body
    pieces = rest.split(b"\r\n" + marker)
    if pieces[0].startswith(marker):
        pieces[0] = pieces[0][len(marker) :]
    else:
        pieces = pieces[1:]
    if not pieces or not pieces[-1].startswith(b"--"):
        return None
    for piece in pieces[:-1]:
        head, _, body = piece.partition(b"\r\n\r\n")
        fields = dict(line.decode().split(": ", 1) for line in head.strip().split(b"\r\n"))
        found.append(({k.lower(): v for k, v in fields.items()}, body))
    return found


MULTI = [  # (Range, expected parts; None: either the whole body or one part covering them)
    ("bytes=0-9,500-509", [(0, 9), (500, 509)]),
    ("bytes=500-509,0-9", [(500, 509), (0, 9)]),
    ("bytes=0-9, 500-509 , -5", [(0, 9), (500, 509), (995, 999)]),
    ("bytes=0-1,,500-501", [(0, 1), (500, 501)]),
    ("bytes=0-9,5000-6000", [(0, 9)]),
    ("bytes=0-9,300-309,600-609,-10", [(0, 9), (300, 309), (600, 609), (990, 999)]),
]


@check("multipart/byteranges in requested order, with exact length, on a hit and on a miss", area="ranges")
def multi(bench):
    origin = bench.origin()
    origin.default = Resource(BODY, etag='"v"', fields=FRESH, type="text/x-test")
    pawl = bench.pawl(origin)
    get(pawl.address, "/warm")
    wrong = []
    for place in ("/warm", "/cold"):
        for i, (value, expected) in enumerate(MULTI):
            answer = get(pawl.address, place if place == "/warm" else f"/cold{i}", fields=(("Range", value),))
            if len(expected) == 1:
                first, last = expected[0]
                good = (answer.status, answer.get("Content-Range"), answer.body) == (
                    206,
                    f"bytes {first}-{last}/1000",
                    BODY.read(first, last + 1),
                )
            else:
                found = parts(answer)
                good = (
                    answer.status == 206
                    and found is not None
                    and answer.get("Content-Range") is None
                    and answer.complete
                    and answer.framing == "length"
                    and answer.body.startswith(b"\r\n--")
                    and [(f.get("content-range"), f.get("content-type"), b) for f, b in found]
                    == [(f"bytes {a}-{b}/1000", "text/x-test", BODY.read(a, b + 1)) for a, b in expected]
                )
            if not good:
                wrong.append((place, value, answer, answer.body[:300]))
    true(not wrong, f"{wrong}")


@check("abuse: many, overlapping, tiny parts give the whole body or less, never more", area="ranges")
def abuse(bench):
    origin = bench.origin()
    origin.at("/x", Resource(BODY, fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    for value in (
        "bytes=" + ",".join(f"{i * 10}-{i * 10}" for i in range(100)),
        "bytes=" + ",".join(["0-"] * 50),
        "bytes=" + ",".join(["0-999"] * 5),
        "bytes=" + ",".join(f"{i}-" for i in range(1000)),
        "bytes=0-600,500-900,100-800,50-999",
        "bytes=" + ",".join(f"{i * 40}-{i * 40 + 1}" for i in range(17)),
    ):
        answer = get(pawl.address, "/x", fields=(("Range", value),))
        true(answer.complete and answer.status in (200, 206, 416) and answer.count <= 1300, f"{value[:60]}: {answer}")
        if answer.status == 200:
            same(answer.body, BODY.read(), "whole body")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=" + ",".join(f"{i * 55}-{i * 55}" for i in range(17))),))
    same((answer.status, answer.body), (200, BODY.read()), "17 parts")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=0-9"), ("Range", "bytes=20-29")))
    same((answer.status, answer.body), (200, BODY.read()), "two Range lines")


@check("If-Range: strong tag, exact strong date; everything else is the whole body", area="ranges")
def if_range(bench):
    origin = bench.origin()
    origin.at("/tag", Resource(BODY, etag='"v"', last_modified="old", fields=FRESH))
    origin.at("/fresh", Resource(BODY, last_modified="fresh", fields=FRESH))
    origin.at("/weak", Resource(BODY, etag='W/"w"', last_modified="old", fields=FRESH))
    pawl = bench.pawl(origin)
    date = {path: get(pawl.address, path).get("Last-Modified") for path in ("/tag", "/fresh", "/weak")}
    minted = get(pawl.address, "/weak").get("ETag")
    cases = [
        ("/tag", '"v"', 206),
        ("/tag", 'W/"v"', 200),
        ("/tag", '"w"', 200),
        ("/tag", '"v", "w"', 200),
        ("/tag", "*", 200),
        ("/tag", "v", 200),
        ("/tag", date["/tag"], 206),
        ("/tag", "Sun, 02 Aug 2026 10:00:00 GMT", 200),
        ("/tag", "Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("/weak", 'W/"w"', 200),
        ("/weak", '"w"', 200),
        ("/weak", minted, 206),
        ("/tag", "", None),
    ]
    wrong = []
    for path, value, status in cases:
        answer = get(pawl.address, path, fields=(("Range", "bytes=100-199"), ("If-Range", value)))
        good = answer.status in ((status,) if status else (200, 206)) and answer.body == (
            BODY.read(100, 200) if answer.status == 206 else BODY.read()
        )
        if not good:
            wrong.append((path, value, status, answer))
    answer = get(pawl.address, "/tag", fields=(("If-Range", '"zzz"'),))
    if answer.status != 200:
        wrong.append(("If-Range alone", answer))
    for path in ("/tag", "/weak"):
        answer = get(pawl.address, path, fields=(("Range", "bytes=1000-"), ("If-Range", '"other"')))
        if (answer.status, answer.body) != (200, BODY.read()):
            wrong.append(("unsatisfiable with a failed If-Range", answer))
    true(not wrong, f"{wrong}")


@check("not for other methods; HEAD says what GET without Range would", area="ranges")
def methods(bench):
    origin = bench.origin()
    origin.at("/x", Resource(BODY, etag='"v"', last_modified="old", fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    get_again = get(pawl.address, "/x")
    for fields in ((), (("Range", "bytes=0-9"),), (("Range", "bytes=5000-"),)):
        answer = get(pawl.address, "/x", method="HEAD", fields=fields)
        same(
            (answer.status, answer.length, answer.get("Content-Range"), answer.get("Accept-Ranges")),
            (200, 1000, None, "bytes"),
            f"HEAD with {fields}",
        )
    names = lambda a: {n.lower() for n, _ in a.fields} - {"connection", "age", "x-request-id"}
    same(names(get(pawl.address, "/x", method="HEAD")), names(get_again), "fields of HEAD and GET")
    partial = get(pawl.address, "/x", fields=(("Range", "bytes=0-9"),))
    for name in ("Date", "Cache-Control", "ETag", "Last-Modified", "Content-Type", "Accept-Ranges"):
        same(partial.get(name), get_again.get(name), f"{name} on the 206")
    answer = get(pawl.address, "/x", method="POST", body=b"", fields=(("Range", "bytes=0-9"),))
    same((answer.status, answer.body), (200, BODY.read()), "POST with Range")


@check(
    "Accept-Ranges and a strong ETag on everything kept, from the first answer; the origin's none is replaced",
    area="ranges",
)
def accept(bench):
    origin = bench.origin()
    for framing in ("length", "chunked", "close"):
        origin.at("/" + framing, Resource(BODY, framing=framing, fields=FRESH + (("Accept-Ranges", "none"),)))
    origin.at("/kept-never-fresh", Resource(BODY))
    origin.at("/no", Resource(BODY, fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin)
    for path in ("/length", "/chunked", "/close", "/kept-never-fresh"):
        for answer in (get(pawl.address, path), get(pawl.address, path)):
            same(answer.all("Accept-Ranges"), ["bytes"], f"Accept-Ranges of {path}")
            true(re.fullmatch(r'"[^"]{8,}"', answer.get("ETag") or ""), f"ETag of {path}: {answer.get('ETag')}")
    answer = get(pawl.address, "/no")
    same((answer.get("Accept-Ranges"), answer.get("ETag")), (None, None), "on what is not kept")


@check("an empty body: 416 for 0-, the empty whole for -5", area="ranges")
def empty(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"", fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=0-"),))
    same((answer.status, answer.get("Content-Range")), (416, "bytes */0"), "0-")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=-5"),))
    same((answer.status, answer.body, answer.complete), (200, b"", True), "-5")


@check("content codings: identity is asked for, a Range never gets a freshly coded body", area="ranges")
def codings(bench):
    origin = bench.origin()
    coded = Content("coded", 500)

    def resource(r):
        if "gzip" in (r.get("Accept-Encoding") or ""):
            return Resource(coded, fields=FRESH + (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")))
        return Resource(BODY, fields=FRESH + (("Vary", "Accept-Encoding"),))

    origin.at("/x", resource)
    origin.at("/pass/x", resource)
    pawl = bench.pawl(origin, extra={"route:main/pass": {"path": "/pass/*", "origin-encoding": "pass"}})
    many = ("Accept-Encoding", "gzip, deflate, br, zstd")
    same(get(pawl.address, "/x", fields=(many,)).body, BODY.read(), "identity by default")
    answer = get(pawl.address, "/x", fields=(many, ("Range", "bytes=100-199")))
    same(
        (answer.status, answer.body, answer.get("Content-Encoding")),
        (206, BODY.read(100, 200), None),
        "Range with Accept-Encoding",
    )
    first = get(pawl.address, "/pass/x", fields=(many,))
    same((first.body, first.get("Content-Encoding")), (coded.read(), "gzip"), "origin-encoding = pass")
    plain = get(pawl.address, "/pass/x", fields=(("Accept-Encoding", "identity"),))
    same((plain.body, plain.get("Content-Encoding")), (BODY.read(), None), "identity variant")
    true(first.get("ETag") != plain.get("ETag"), f"one tag over two codings: {first.get('ETag')}")
    answer = get(pawl.address, "/pass/x", fields=(many, ("Range", "bytes=100-199"), ("If-Range", plain.get("ETag"))))
    same(
        (answer.status, answer.body, answer.get("Content-Encoding")),
        (206, BODY.read(100, 200), None),
        "Range with the identity tag",
    )
    answer = get(pawl.address, "/pass/x", fields=(many, ("Range", "bytes=100-199"), ("If-Range", first.get("ETag"))))
    true(
        (answer.status == 200 and answer.body in (BODY.read(), coded.read()))
        or (answer.status == 206 and answer.body == coded.read(100, 200) and answer.get("Content-Encoding") == "gzip"),
        f"Range with the coded tag: {answer}",
    )


@check("what is not kept: an origin's own 206 passes, Range reaches the origin", area="ranges")
def unkept(bench):
    origin = bench.origin()
    origin.at("/x", Resource(BODY, ranges=True, etag='"v"', fields=(("Cache-Control", "no-store"),)))
    origin.at("/none", Resource(BODY, fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin)
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=100-199"),))
    same(
        (answer.status, answer.body, answer.get("Content-Range")),
        (206, BODY.read(100, 200), "bytes 100-199/1000"),
        "origin with ranges",
    )
    answer = get(pawl.address, "/none", fields=(("Range", "bytes=100-199"),))
    true(
        (answer.status == 206 and answer.body == BODY.read(100, 200))
        or (answer.status == 200 and answer.body == BODY.read()),
        f"origin without: {answer}",
    )


@check(
    "what is not kept: several ranges, and one that cannot be satisfied, are answered as they were asked", area="ranges"
)
def unkept_as_asked(bench):
    body = Content("unkept-as-asked", 200_000)
    origin = bench.origin()
    origin.default = Resource(body, ranges=True, fields=(("Cache-Control", "no-store"),))
    origin.at("/tagged", Resource(body, ranges=True, etag='"v"', fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin)
    for path in ("/plain", "/tagged"):
        for parts in (
            ((70_000, 70_010), (190_000, 190_005)),
            ((190_000, 199_999), (0, 5)),
            ((0, 0), (65_536, 65_536), (131_072, 131_072)),
        ):
            answer = get(pawl.address, path, fields=(("Range", "bytes=" + ",".join(f"{a}-{b}" for a, b in parts)),))
            if answer.status == 200:
                true(answer.body == body.read(), f"{path} {parts}: a 200 of {answer.count} bytes")
                continue
            same(
                (answer.status, (answer.get("Content-Type") or "").partition(";")[0]),
                (206, "multipart/byteranges"),
                f"{path} {parts}",
            )
            for a, b in parts:
                true(body.read(a, b + 1) in answer.body, f"{path} {parts}: {a}-{b} is missing")
        answer = get(pawl.address, path, fields=(("Range", "bytes=200000-200005"),))
        same((answer.status, answer.get("Content-Range")), (416, "bytes */200000"), f"{path}, behind the end")
        answer = get(pawl.address, path, fields=(("Range", "bytes=199999-300000"),))
        same(
            (answer.status, answer.get("Content-Range"), answer.body),
            (206, "bytes 199999-199999/200000", body.read(199_999)),
            f"{path}, the last byte",
        )


@check(
    "a part of a body whose room others have taken comes from the origin, whole, with one more request",
    area="ranges",
    seconds=60,
)
def room_taken(bench):
    body, origin = Content("room-taken", 32 * MIB), bench.origin()
    pawl = bench.pawl(origin, cache={"max-size": "4M", "min-free": 0})
    # Before the window that the body goes through, and behind it.
    for name, first, wanted in (("/behind", 0, 20 * MIB), ("/before", 30 * MIB, MIB)):
        gate = threading.Event()
        free, gated = (
            Resource(body, ranges=True, etag='"v"', fields=FRESH, gates=gates) for gates in ((), ((wanted, gate),))
        )
        origin.at(
            name,
            lambda request, wanted=wanted, gated=gated, free=free: (
                gated if f"={wanted}-" in (request.get("Range") or "") else free
            ),
        )
        same(
            get(pawl.address, name, fields=(("Range", f"bytes={first}-{first + 499_999}"),)).sha,
            body.sha256(first, first + 500_000),
            "the first part",
        )
        late, other = bench.use(Client(pawl.address, 10)), bench.use(Client(pawl.address, 20, receive_buffer=65536))
        late.request(name, fields=(("Range", f"bytes={wanted}-{wanted + MIB - 1}"),))
        wait_for(lambda: origin.count(name) == 2, 5, "the question for the part that will find no room")
        seen = pawl.log().count("streaming-unstored")
        other.request(name, fields=(("Range", f"bytes={8 * MIB}-{18 * MIB - 1}"),))
        wait_for(lambda: pawl.log().count("streaming-unstored") > seen, 10, "the end of the room")
        gate.set()
        answer = late.response()
        same(
            (answer.status, answer.complete, answer.sha),
            (206, True, body.sha256(wanted, wanted + MIB)),
            f"{name}: the part that found no room",
        )
        true(origin.count(name) <= 4, f"{origin.count(name)} requests at the origin")
        answer = other.response(keep=False)
        same(
            (answer.status, answer.complete, answer.sha),
            (206, True, body.sha256(8 * MIB, 18 * MIB)),
            "the part that took the room",
        )


@check("parts of a body for which there is no room: an end in sight, and few requests at the origin", area="ranges")
def no_room(bench):
    body = Content("no-room", 3_000_000)
    origin = bench.origin()
    origin.at("/x", Resource(body, ranges=True, etag='"v"', fields=FRESH))
    pawl = bench.pawl(origin, cache={"max-size": "1M"})
    for first in ("2900000-2900010", "0-1000000"):
        get(pawl.address, "/x", fields=(("Range", f"bytes={first}"),))
        origin.forget()
        for ranges in ("1000000-2899000,0-10", "1500000-2999999,0-99,1400000-1400001"):
            with Client(pawl.address, 10) as client:
                client.request("/x", fields=(("Range", f"bytes={ranges}"),))
                answer = client.response()
                true(answer.status in (200, 206), f"{ranges}: {answer.status}")
        true(origin.count("/x") <= 12, f"{origin.count('/x')} requests at the origin")
    same(pawl.stop(), 0, "exit status")
