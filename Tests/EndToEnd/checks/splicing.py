"""What may be put behind what: broken answers that are not kept, two codings under one tag, stored heads that contradict themselves."""

import gzip
import re
import threading

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource, break_points
from harness.process import wait_for

SIZE = 200_000
BODY = Content("splicing", SIZE)
UNKEPT = (("Cache-Control", "no-store"),)
FRESH = (("Cache-Control", "max-age=600"),)
QUICK = {"resume-attempts": 3, "idle-timeout": "1s"}
OFF = {"route:main/off": {"path": "/off/*", "cache": "off"}}


def answer(status, fields, body, framing="length"):
    """A whole answer as octets."""
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
        body += b"--limit\r\nContent-Range: bytes %d-%d/%d\r\n\r\n" % (first, last, SIZE) + BODY.read(first, last + 1) + b"\r\n"
    return body + b"--limit--\r\n"


TAG, DATE = ("ETag", '"t"'), ("Last-Modified", "Sat, 01 Aug 2026 10:00:00 GMT")
PARTS = ("Content-Type", "multipart/byteranges; boundary=limit")
MANY = multipart((0, 99_999), (100_100, 199_999))
RANGE = ("Range", "bytes=50000-149999")
HALF = BODY.read(50_000, 150_000)
# What the client asks, what it is answered, and which octets, the last of which never come. Nothing that can be asked for goes behind them.
FINAL = {
    "several ranges": ((("Range", "bytes=0-99999,100100-199999"),), 206, (TAG, PARTS), MANY),
    "several ranges with a Content-Range, too": ((("Range", "bytes=0-99999,100100-199999"),), 206, (TAG, PARTS, part(0, len(MANY) - 1, 400_000)), MANY),
    "several ranges, in capitals": ((("Range", "bytes=0-99999,100100-199999"),), 206, (TAG, ("content-type", "MULTIPART/BYTERANGES ; boundary=limit")), MANY),
    "no Content-Range": ((RANGE,), 206, (TAG,), HALF),
    "two Content-Range lines": ((RANGE,), 206, (TAG, part(50_000, 149_999), part(0, 99_999)), HALF),
    "a malformed Content-Range": ((RANGE,), 206, (TAG, ("Content-Range", "bytes 50000-149999")), HALF),
    "a Content-Range that ends before it begins": ((RANGE,), 206, (TAG, ("Content-Range", "bytes 149999-50000/200000")), HALF),
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
    "a whole to If-Modified-Since": ((("If-Modified-Since", "Sat, 01 Aug 2020 10:00:00 GMT"),), 200, (("ETag", 'W/"w"'),), BODY.read(), "replay"),
    "a whole to If-Match": ((("If-Match", "*"),), 200, (TAG,), BODY.read(), "range"),
    "a whole to If-Range": ((RANGE, ("If-Range", '"old"')), 200, (), BODY.read(), "replay"),
    "a part": ((RANGE,), 206, (TAG, part(50_000, 149_999)), HALF, "range"),
    "a part to its tag": ((RANGE, ("If-Range", '"t"')), 206, (TAG, part(50_000, 149_999)), HALF, "range"),
    "a part to its date": ((RANGE, ("If-Range", DATE[1])), 206, (DATE, ("Date", "Mon, 03 Aug 2026 10:00:00 GMT"), part(50_000, 149_999)), HALF, "range"),
    "a first part without a validator": ((("Range", "bytes=0-99999"),), 206, (part(0, 99_999),), BODY.read(0, 100_000), "replay"),
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
            return octets[:len(octets) - cut], "close"
        if "If-None-Match" in dict(request.fields) or "If-Modified-Since" in dict(request.fields):
            return answer(304, UNKEPT, b""), "close"
        return honest(first[1])
    return play


@check("splice: unkept: what broke off and is no representation, or has no certain place in one, ends visibly", seconds=90)
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
                origin.at(path, breaks_once((status, head, body, framing), int(len(body) * share) + (5 if framing == "chunked" else 0)))
                cases.append((f"{prefix}, {framing}, without {share:.0%}: {name}", path, fields, status, body))
    pawl = bench.pawl(origin, upstream=QUICK, extra=OFF)
    wrong = []
    for name, path, fields, status, body in cases:
        got = get(pawl.address, path, fields=fields)
        # With a cache on, a range is asked for as it stands, before anything is said, where the answer to a wider one is no use.
        place = re.fullmatch(r"bytes (\d+)-(\d+)/200000", got.get("Content-Range") or "")
        if got.complete and got.status == 206 and place and origin.count(path) == 2 and "/kept" in path:
            if got.body == BODY.read(int(place[1]), int(place[2]) + 1):
                continue
        if got.complete and got.status == 200 and got.body == BODY.read() and status == 206 and "/kept" in path:
            continue
        # A part that nobody asked for is refused before anything is said. One of which every octet came lacks nothing.
        if got.status == 502 and "another unit" in name or "without 0%" in name and place and got.complete and got.body == body == HALF:
            continue
        if "without 0%: a suffix" in name and got.complete and got.body == body:
            continue
        if got.complete or got.body != body[:len(got.body)] or got.status != status:
            wrong.append((name, got, origin.of(path)))
    true(not wrong, f"{len(wrong)} of {len(cases)}: {[w[0] for w in wrong]} {wrong[:3]}")


@check("splice: unkept: what is one representation, or a part with a certain place, is completed: as long, and no longer, than it was asked for")
def resumed(bench):
    origin = bench.origin()
    for at, (fields, status, head, body, how) in enumerate(RESUMED.values()):
        origin.at(f"/off/{at}", breaks_once((status, head, body, "length"), len(body) * 2 // 5))
    pawl = bench.pawl(origin, upstream=QUICK, extra=OFF)
    for at, (name, (fields, status, head, body, how)) in enumerate(RESUMED.items()):
        got = get(pawl.address, f"/off/{at}", fields=fields)
        same((got.status, got.complete, got.body == body), (status, True, True), f"{name}: {got} {origin.of(f'/off/{at}')}")
        second = origin.of(f"/off/{at}")[1]
        same(second.get("Range") is not None, how == "range", f"{name}: a range was asked for: {second}")
        for condition in ("If-None-Match", "If-Modified-Since", "If-Match"):
            same(second.get(condition), None, f"{name}: {condition} of the first request")


@check("splice: an error page that is stored and breaks off is never filled with the representation, for its readers and for the next")
def stored_errors(bench):
    origin = bench.origin()
    for status in (404, 410, 203, 300, 501):
        for path, tag in ((f"/{status}", TAG), (f"/{status}/none", None)):
            head = ((tag,) if tag else ()) + FRESH
            octets = answer(status, head, BODY.read())

            def play(request, octets=octets, head=head):
                return (octets[:-80_000], "close") if request.serial == 0 else Resource(BODY, ranges=True, etag=dict(head).get("ETag"), type=None, fields=FRESH)
            origin.at(path, play)
    pawl = bench.pawl(origin, upstream=QUICK)
    for path in list(origin.resources):
        got = get(pawl.address, path)
        true(not got.complete and got.status == int(path.split("/")[1]) and got.body == BODY.read(0, len(got.body)), f"{path}: {got} {origin.of(path)}")
        got = get(pawl.address, path)
        same((got.status, got.complete, got.body == BODY.read()), (200, True, True), f"{path}, the next client: {got} {origin.of(path)}")


@check("splice: parts in a message are not taken for a part of the body, whatever their head says")
def parts_are_no_part(bench):
    origin = bench.origin()
    fields = FRESH + (TAG, PARTS, part(0, len(MANY) - 1, 400_000))

    def play(request):
        return answer(206, fields, MANY) if request.get("Range") else Resource(BODY, etag='"t"', type=None, fields=FRESH)
    origin.at("/x", play)
    pawl = bench.pawl(origin, upstream=QUICK)
    got = get(pawl.address, "/x", fields=(("Range", "bytes=0-99999,100100-199999"),))
    same((got.status, got.body), (206, MANY), "as the origin gave it")
    got = get(pawl.address, "/x")
    same((got.status, got.complete, got.body == BODY.read()), (200, True, True), f"who asks for the body: {got}")
