"""Resumable Uploads for HTTP: every row of the table of interop versions 3 to 10, as bytes on a socket."""

import re
import time

from harness.checks import V1, check, same, true
from harness.client import Ended
from harness.content import Content
from harness.origin import Resource
from harness.uploads import (
    FINAL,
    NO_STORE,
    Dialect,
    Fields,
    Upload,
    append,
    ask,
    asked,
    cancel,
    careful,
    chunks,
    create,
    dialects,
    each,
    landed,
    limits,
    one,
    partial,
    path_of,
    problem,
    problem_type,
    status,
    stored,
    token_of,
    whole,
)

MIB = 1 << 20
BODY = Content("ietf", 200_000).read()


def begin(bench, **site):
    origin = bench.origin()
    origin.default = stored
    extra = site.pop("extra", None)
    trusted = site.pop("pawl", None)
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site}, extra=extra, pawl=trusted)


def echoes(dialect, fields, where):
    same(Fields(fields).all("Upload-Draft-Interop-Version"), [str(dialect.number)], f"interop version of {where}")


# -- creation ----------------------------------------------------------------------------------------------------------


@check("104 comes before the body: version, absolute Location, Upload-Limit from version 6", area="upload rows")
def announcement(bench):
    origin, pawl = begin(bench)

    def row(d):
        for chunked in (False, True):
            with Upload(pawl.address) as client:
                client.create(d, True, len(BODY), chunked=chunked, host="app.test:8080", target=f"/in?v={d}")
                fields = client.interim(104)
                echoes(d, fields, "the 104")
                location = one(fields, "Location")
                true(
                    re.fullmatch(bench.scheme + r"://app\.test:8080/\.pawl/uploads/[A-Za-z0-9_-]{32}", location),
                    f"Location {location}",
                )
                true(
                    fields.get("Upload-Offset") in (None, "0"),
                    f"Upload-Offset {fields.get('Upload-Offset')} in the first 104",
                )
                if d.number >= 6:
                    true(limits(one(fields, "Upload-Limit")), f"limits {fields.get('Upload-Limit')}")
                for name in ("Content-Length", "Transfer-Encoding"):
                    same(fields.all(name), [], f"{name} in a 104")
                client.send(chunks(BODY, 1, 70_000) if chunked else BODY)
                answer = client.answer()
                same((answer.status, answer.body), (200, b"got 200000 bytes"), "answer")
                if d.number <= 4:
                    same([s for s, _ in answer.interim], [104], "interim answers of a version that allows one 104")

    each(dialects(), row)
    for request in whole(origin):
        same(
            (request.body == BODY, request.get("Content-Length"), request.get("Transfer-Encoding")),
            (True, "200000", None),
            "the request at the origin",
        )
    same(len(whole(origin)), 16, "requests at the origin")


@check(
    "creation by POST, PUT, PATCH and unknown methods on any target; method, target and fields reach the origin, "
    "upload fields do not",
    area="upload rows",
)
def methods(bench):
    origin, pawl = begin(bench)

    def row(d):
        for method in ("POST", "PUT", "PATCH", "STORE"):
            target = f"/{method}/{d}?a=b&c=%2F"
            answer = create(
                pawl.address,
                d,
                BODY,
                True,
                (
                    ("Content-Type", "video/mp4"),
                    ("Content-Encoding", "zstd"),
                    ("Content-Disposition", 'inline; filename="x.mp4"'),
                    ("Content-Language", "de"),
                    ("X-Mine", "kept"),
                    ("Cookie", "a=b"),
                    ("Authorization", "Basic eDp5"),
                    ("Origin", "https://o.test"),
                    ("User-Agent", "ua/1"),
                    ("Incremental", "?1"),
                ),
                target,
                method,
            )
            same(answer.status, 200, f"{method} status")
            true(any(s == 104 for s, _ in answer.interim), f"{method}: no 104")
            (request,) = asked(origin, target)
            same((request.method, request.target, request.body == BODY), (method, target, True), "what the origin got")
            for name, value in (
                ("Content-Type", "video/mp4"),
                ("Content-Encoding", "zstd"),
                ("Content-Language", "de"),
                ("Content-Disposition", 'inline; filename="x.mp4"'),
                ("X-Mine", "kept"),
                ("Cookie", "a=b"),
                ("Authorization", "Basic eDp5"),
                ("Origin", "https://o.test"),
                ("User-Agent", "ua/1"),
                ("Content-Length", str(len(BODY))),
                ("Host", "pawl.test"),
            ):
                same(request.all(name), [value], f"{name} at the origin")
            for name in (
                "Upload-Draft-Interop-Version",
                "Upload-Complete",
                "Upload-Incomplete",
                "Upload-Offset",
                "Upload-Length",
                "Incremental",
                "Expect",
                "Transfer-Encoding",
            ):
                same(request.all(name), [], f"{name} at the origin")
            true(re.fullmatch(r"[0-9a-f]{32}", one(Fields(request.fields), "X-Pawl-Upload-Id")), "X-Pawl-Upload-Id")
            true(one(Fields(request.fields), "Idempotency-Key"), "Idempotency-Key")

    each(dialects(), row)


@check("a client's own Idempotency-Key stays", area="upload rows")
def idempotency(bench):
    origin, pawl = begin(bench)
    create(pawl.address, Dialect(6), BODY, True, (("Idempotency-Key", '"mine"'),))
    same(asked(origin, "/in")[0].all("Idempotency-Key"), ['"mine"'], "Idempotency-Key at the origin")


@check("GET, HEAD, DELETE and OPTIONS create nothing", area="upload rows")
def no_creation(bench):
    origin, pawl = begin(bench)

    def row(d):
        for method in ("GET", "HEAD", "DELETE"):
            answer = ask(pawl.address, f"/{method}{d}", method, d.version + (d.completes(True),))
            same((answer.status, answer.interim), (200, []), f"{method} with a completeness field")
            same(len(asked(origin, f"/{method}{d}")), 1, "requests at the origin")

    each(dialects(), row)


@check("Location follows Host, and the scheme only a trusted proxy may change", area="upload rows")
def locations(bench):
    origin, pawl = begin(bench)
    forwarded = (("X-Forwarded-Proto", "https"),)
    for d in (Dialect(6), Dialect(9)):
        for host in ("files.example", "files.example:8443", "[::1]:80"):
            location = careful(pawl.address, d, forwarded, host=host)
            true(location.startswith(f"{bench.scheme}://{host}/.pawl/uploads/"), f"Location {location} for {host}")
    trusting = bench.pawl(
        origin,
        "trusting",
        site={"min-resumable": "0", "upload-prefix": "/files/up/"},
        pawl={"trusted-proxies": "127.0.0.1"},
    )
    location = careful(trusting.address, d, forwarded, host="files.example")
    true(
        re.fullmatch(r"https://files\.example/files/up/[A-Za-z0-9_-]{32}", location),
        f"Location {location} behind a trusted proxy",
    )
    same(status(trusting.address, d, location).status, 204, "HEAD of it")
    true(careful(trusting.address, d, host="files.example").startswith(f"{bench.scheme}:"), "scheme without the field")
    if not bench.is_1_1:
        return
    answer = ask(
        pawl.address, "/in", "POST", d.version + (d.completes(False), ("Content-Length", "0")), host=None, version="1.0"
    )
    true(all(s == 100 for s, _ in answer.interim), "interim answer to HTTP/1.0")


@check("Expect: 100-continue is answered beside the 104, before the body", area="upload rows")
def expectation(bench):
    origin, pawl = begin(bench)

    def row(d):
        with Upload(pawl.address) as client:
            client.create(d, True, len(BODY), (("Expect", "100-continue"),))
            location = client.location()
            if not any(s == 100 for s, _ in client.interims):
                client.interim(100)
            same(sorted(s for s, _ in client.interims), [100, 104], "interim answers before the body")
            client.send(BODY)
            same(client.answer().status, 200, "answer")
        with Upload(pawl.address) as client:
            location = careful(pawl.address, d)
            client.append(d, location, 0, len(BODY), True, (("Expect", "100-continue"),))
            client.interim(100)
            client.send(BODY)
            same(client.answer().status, 200, "answer of the append")

    each(dialects(), row)


@check(
    "an incomplete creation is 201 with Location, offset and completeness; all its Locations are the same",
    area="upload rows",
)
def incomplete_creation(bench):
    origin, pawl = begin(bench)

    def row(d):
        for chunked in (False, True):
            answer = create(pawl.address, d, BODY[:50_000], False, chunked=chunked)
            same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (201, "50000", False), "answer")
            announced = [f.get("Location") for s, f in answer.interim if s == 104 and f.get("Location")]
            same(announced, [one(answer, "Location")], "Locations of the 104s")
            echoes(d, answer.fields, "the 201")
            same(answer.body, b"", "body")
            if d.number >= 6:
                limits(one(answer, "Upload-Limit"))
            same(status(pawl.address, d, announced[0]).get("Upload-Offset"), "50000", "offset by HEAD")

    each(dialects(), row)
    same(len(asked(origin, "/in")), 0, "requests at the origin")


@check("careful creation: empty, more follows, 201 at offset 0; the rest in one append", area="upload rows")
def careful_creation(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d, (("Content-Type", "image/png"),), target=f"/{d}")
        answer = status(pawl.address, d, location)
        same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, "0", False), "HEAD")
        answer = append(pawl.address, d, location, 0, BODY)
        same((answer.status, answer.body), (200, b"got 200000 bytes"), "answer")
        (request,) = asked(origin, f"/{d}")
        same(
            (request.method, request.body == BODY, request.get("Content-Type")),
            ("POST", True, "image/png"),
            "at the origin",
        )

    each(dialects(), row)


@check(
    "the completing request gets the origin's answer, completeness, the whole length as offset; Location only to 6",
    area="upload rows",
)
def completion(bench):
    origin, pawl = begin(bench)
    origin.at(
        "/own",
        lambda r: Resource(
            b"made",
            status=201,
            fields=NO_STORE + (("Location", "/things/7"), ("ETag", '"e"'), ("X-A", "1"), ("X-A", "2")),
        ),
    )

    def row(d):
        answer = create(pawl.address, d, BODY)
        same((answer.status, answer.body, answer.get("X-Application")), (200, b"got 200000 bytes", "yes"), "answer")
        same((answer.get("Upload-Offset"), d.said(answer)), ("200000", True), "offset and completeness")
        echoes(d, answer.fields, "the final answer")
        announced = [f.get("Location") for s, f in answer.interim if s == 104][0]
        if d.number <= 6:
            same(answer.all("Location"), [announced], "Location of a final answer without one of the origin's")
        else:
            true(answer.all("Location") in ([], [announced]), f"Location {answer.all('Location')}")
        answer = create(pawl.address, d, BODY, target="/own")
        same(
            (answer.status, answer.all("Location"), answer.get("ETag"), answer.all("X-A")),
            (201, ["/things/7"], '"e"', ["1", "2"]),
            "origin's own fields",
        )
        location = careful(pawl.address, d, target="/own")
        answer = append(pawl.address, d, location, 0, BODY[:1000])
        same(
            (answer.status, answer.body, answer.get("Upload-Offset"), d.said(answer)),
            (201, b"made", "1000", True),
            "append that completes",
        )
        same(answer.all("Location"), ["/things/7"], "Location of it")

    each(dialects(), row)


@check("3xx, 4xx and 5xx of the origin pass as they are, with the upload complete", area="upload rows")
def refusals(bench):
    origin, pawl = begin(bench)
    codes = (303, 308, 400, 403, 404, 409, 413, 422, 500, 502, 507)
    for code in codes:
        origin.at(
            f"/{code}",
            Resource(
                b"code %d" % code, status=code, fields=NO_STORE + ((("Location", "/there"),) if code < 400 else ())
            ),
        )

    def row(d):
        for code in codes:
            before = len(whole(origin, f"/{code}"))
            answer = create(pawl.address, d, BODY, target=f"/{code}")
            same((answer.status, answer.body, d.said(answer)), (code, b"code %d" % code, True), f"answer for {code}")
            if code < 400:
                same(answer.all("Location"), ["/there"], "Location of the origin")
            same(len(whole(origin, f"/{code}")) - before, 1, f"requests for {code}")

    each(dialects(), row)


@check("empty uploads complete at once; an empty append completes what is there", area="upload rows")
def empty(bench):
    origin, pawl = begin(bench)

    def row(d):
        for chunked in (False, True):
            answer = create(pawl.address, d, b"", chunked=chunked, target=f"/none{d}")
            same((answer.status, answer.body), (200, b"got 0 bytes"), f"empty creation, chunked {chunked}")
        request = asked(origin, f"/none{d}")[-1]
        same((request.method, request.all("Content-Length"), request.body), ("POST", ["0"], b""), "at the origin")
        location = careful(pawl.address, d)
        answer = append(pawl.address, d, location, 0, b"")
        same(
            (answer.status, answer.body, d.said(answer), answer.get("Upload-Offset")),
            (200, b"got 0 bytes", True, "0"),
            "empty completion",
        )
        location = create(pawl.address, d, BODY, False).get("Location")
        answer = append(pawl.address, d, location, len(BODY), b"")
        same(
            (answer.status, answer.body, d.said(answer)),
            (200, b"got 200000 bytes", True),
            "completion by an empty append",
        )

    each(dialects(), row)


# -- progress ----------------------------------------------------------------------------------------------------------


@check(
    "from version 5 progress is told by 104 with Upload-Offset and without Location, never beyond what was sent; 3 "
    "and 4 get one 104",
    area="upload rows",
)
def progress(bench):
    origin, pawl = begin(bench)
    size = 12 * MIB
    content = Content("progress", size)

    def told(client, d, most):
        """Offsets told while bytes come, slowly enough for `most` of them."""
        offsets, sent, end = [], 0, time.monotonic() + 8
        client.socket.settimeout(0.01)
        while len(offsets) < most and sent < size - MIB and time.monotonic() < end:
            step = 65536 if most == 1 else 4 * 65536
            client.send(content.read(sent, sent + step))
            sent += step
            try:
                client.buffer += client._more()
            except Ended as ended:
                same(ended.how, "timeout", "end of the connection")
            while b"\r\n\r\n" in client.buffer:
                fields = client.interim(104)
                echoes(d, fields, "a progress 104")
                same(fields.all("Location"), [], "Location of a progress 104")
                offsets.append(int(one(fields, "Upload-Offset")))
                true(offsets[-1] <= sent, f"offset {offsets[-1]} of {sent} sent")
        client.socket.settimeout(8)
        client.send(content.read(sent))
        same(offsets, sorted(offsets), "offsets told")
        return offsets

    def row(d):
        location = None
        for part in ("creation", "append"):
            with Upload(pawl.address, 15) as client:
                if part == "creation":
                    client.create(d, True, size)
                    client.location()
                else:
                    client.append(d, location, 0, size)
                most = 1 if d.number >= 5 else 99
                offsets = told(client, d, most)
                answer = client.answer()
                same(answer.body, b"got %d bytes" % size, f"answer of the {part}")
                if d.number >= 5:
                    same(len(offsets), 1, f"offsets told during the {part}, {offsets}")
                else:
                    same(
                        [s for s, _ in answer.interim if s != 102],
                        [104] if part == "creation" else [],
                        f"interim answers of the {part}",
                    )
            location = careful(pawl.address, d)

    each([Dialect(n) for n in (3, 5, 9)], row)
    true(all(r.body == content.read() for r in whole(origin)), "other bytes at the origin")


# -- retrieval ---------------------------------------------------------------------------------------------------------


@check(
    "HEAD is 204 with offset and completeness, no-store, limits from 6, Upload-Length where known; GET too from 9",
    area="upload rows",
)
def retrieval(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = partial(pawl, d, BODY, 70_000)
        for method in ("HEAD", "GET") if d.number >= 9 else ("HEAD",):
            answer = status(pawl.address, d, location, method=method)
            same((answer.status, one(answer, "Upload-Offset"), d.said(answer)), (204, "70000", False), method)
            true("no-store" in one(answer, "Cache-Control"), f"Cache-Control {answer.all('Cache-Control')}")
            echoes(d, answer.fields, method)
            if d.number >= 6:
                same(one(answer, "Upload-Length"), "200000", f"Upload-Length of {method}")
                limits(one(answer, "Upload-Limit"))
        location = create(pawl.address, d, BODY[:10], False).get("Location")
        same(status(pawl.address, d, location).all("Upload-Length"), [], "Upload-Length that nobody declared")
        if d.number >= 6:
            location = create(pawl.address, d, BODY[:10], False, (("Upload-Length", "50"),)).get("Location")
            same(status(pawl.address, d, location).all("Upload-Length"), ["50"], "Upload-Length that was declared")

    each(dialects(), row)


@check("what iOS sends with HEAD (Content-Length: 0, the file's type) is harmless", area="upload rows")
def apple_head(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = partial(pawl, d, BODY, 100)
        answer = status(pawl.address, d, location, (("Content-Length", "0"), ("Content-Type", "video/quicktime")))
        same((answer.status, answer.get("Upload-Offset")), (204, "100"), "HEAD")

    each(dialects(), row)


@check("stray upload fields on HEAD and DELETE are 400 to version 6 and ignored from 7", area="upload rows")
def stray(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        strays = [("Upload-Offset", "0"), d.completes(True)] + ([("Upload-Length", "5")] if d.number >= 6 else [])
        for field in strays:
            answer = status(pawl.address, d, location, (field,))
            same(answer.status, 400 if d.number <= 6 else 204, f"HEAD with {field}")
        for field in strays[:2]:
            answer = cancel(pawl.address, d, location, (field,))
            same(answer.status, 400 if d.number <= 6 else 204, f"DELETE with {field}")
            location = careful(pawl.address, d)

    each(dialects(), row)


@check("a request without a version on an upload URL is harmless and works", area="upload rows")
def tolerant(bench):
    origin, pawl = begin(bench)
    location = partial(pawl, Dialect(6), BODY, 100)
    answer = ask(pawl.address, path_of(location), "HEAD")
    same((answer.status, answer.get("Upload-Offset"), answer.interim), (204, "100", []), "HEAD")
    answer = ask(
        pawl.address,
        path_of(location),
        "PATCH",
        (("Content-Type", "application/partial-upload"), ("Upload-Offset", "100"), ("Upload-Complete", "?1")),
        BODY[100:],
    )
    same((answer.status, answer.body, answer.interim), (200, b"got 200000 bytes", []), "PATCH")
    location = careful(pawl.address, Dialect(6))
    same(ask(pawl.address, path_of(location), "DELETE").status, 204, "DELETE")


# -- appends -----------------------------------------------------------------------------------------------------------


@check(
    "an append that does not complete is 201 to version 6 and 204 from 7, with offset and completeness",
    area="upload rows",
)
def incomplete_append(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        at = 0
        for size, chunked in ((1, False), (70_000, True), (0, False), (30_000, False)):
            answer = append(pawl.address, d, location, at, BODY[at : at + size], False, chunked=chunked)
            at += size
            same(
                (answer.status, one(answer, "Upload-Offset"), d.said(answer), answer.body),
                (201 if d.number <= 6 else 204, str(at), False, b""),
                f"append of {size}",
            )
            echoes(d, answer.fields, "the answer")
            same(
                [f.get("Location") for s, f in answer.interim if f.get("Location")],
                [],
                "Location in a 104 of an append",
            )
        answer = append(pawl.address, d, location, at, BODY[at:], chunked=True)
        same((answer.status, answer.body), (200, b"got 200000 bytes"), "the last append")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(dialects(), row)


@check(
    "an interrupted creation and appends cut at any byte keep the longest prefix and go on there", area="upload rows"
)
def cuts(bench):
    origin, pawl = begin(bench)

    def row(d):
        for how in ("fin", "rst"):
            location = partial(pawl, d, BODY, 33_333, how=how)
            at = int(status(pawl.address, d, location).get("Upload-Offset"))
            true(at <= 33_333 if how == "rst" else at == 33_333, f"offset {at} after {how}")
            with Upload(pawl.address) as client:
                client.append(d, location, at, len(BODY) - at)
                client.send(BODY[at:77_777])
                client.cut(how)
            landed(pawl, 77_777, must=how == "fin")
            at = int(status(pawl.address, d, location).get("Upload-Offset"))
            with Upload(pawl.address) as client:  # chunked, and cut inside a chunk
                client.append(d, location, at, 0, chunked=True)
                client.send(b"fffff\r\n" + BODY[at:150_000])
                client.cut("fin")
            landed(pawl, 150_000)
            same(status(pawl.address, d, location).get("Upload-Offset"), "150000", "the offset of the cut chunk")
            answer = append(pawl.address, d, location, 150_000, BODY[150_000:])
            same((answer.status, answer.body), (200, b"got 200000 bytes"), "answer")
            true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(dialects(), row)
    same(len(whole(origin)), 16, "requests at the origin")


@check(
    "the type of an append: ignored to version 5, application/partial-upload from 6 (any case, parameters), else 415",
    area="upload rows",
)
def append_types(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        at = 0
        for kind in ("video/mp4", "", "application/offset+octet-stream"):
            answer = append(pawl.address, d, location, at, b"abc", False, plain_type=kind)
            if d.number >= 6:
                true(answer.status in (415, 400) and answer.status == 415, f"{kind!r} gave {answer.status}")
                same(status(pawl.address, d, location).get("Upload-Offset"), str(at), "offset after a refused append")
            else:
                same(answer.status, 201, f"{kind!r}")
                at += 3
        for kind in (
            "application/partial-upload",
            "Application/Partial-Upload",
            "application/partial-upload; charset=x",
        ):
            answer = append(pawl.address, d, location, at, b"abc", False, plain_type=kind)
            true(answer.status in (201, 204), f"{kind!r} gave {answer.status}")
            at += 3

    each(dialects(), row)


@check("an append without completeness completes to version 6 and is 400 from 7", area="upload rows")
def no_completeness(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        answer = ask(
            pawl.address, path_of(location), "PATCH", d.version + d.append_type + (("Upload-Offset", "0"),), b"abc"
        )
        if d.number <= 6:
            same((answer.status, answer.body, d.said(answer)), (200, b"got 3 bytes", True), "answer")
        else:
            same(answer.status, 400, "answer")
            same(status(pawl.address, d, location).get("Upload-Offset"), "0", "offset")

    each(dialects(), row)


@check(
    "an append without a usable offset is 400 and changes nothing; parameters of an offset are ignored",
    area="upload rows",
)
def bad_offsets(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        for offsets in ((), ("-1",), ("abc",), ("0.0",), ("0", "0"), ("0, 0",), ("1000000000000000",), ('"0"',)):
            answer = ask(
                pawl.address,
                path_of(location),
                "PATCH",
                d.version + d.append_type + (d.completes(False),) + tuple(("Upload-Offset", o) for o in offsets),
                b"abc",
            )
            true(answer.status == 400, f"offsets {offsets} gave {answer.status}")
        same(status(pawl.address, d, location).get("Upload-Offset"), "0", "offset")
        answer = ask(
            pawl.address,
            path_of(location),
            "PATCH",
            d.version + d.append_type + (d.completes(False), ("Upload-Offset", "0;a=1;b")),
            b"abc",
        )
        same((answer.status in (201, 204), answer.get("Upload-Offset")), (True, "3"), "an offset with parameters")

    each(dialects(), row)


@check(
    "a wrong offset is 409 at once with the right one, completeness from 9, a problem from 6; the upload stays usable",
    area="upload rows",
)
def mismatch(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = partial(pawl, d, BODY, 1000)
        for offset in (0, 999, 1001, 150_000):
            with Upload(pawl.address) as client:
                client.append(d, location, offset, len(BODY) - offset)
                answer = client.answer()  # not a body byte was sent
                same((answer.status, answer.all("Upload-Offset")), (409, ["1000"]), f"answer to offset {offset}")
                true(d.said(answer) is False if d.number >= 9 else d.said(answer) in (False, None), "completeness")
                echoes(d, answer.fields, "the 409")
                if d.number >= 6:
                    details = problem(answer)
                    same(
                        (details.get("type"), details.get("expected-offset"), details.get("provided-offset")),
                        (problem_type("mismatching-upload-offset"), 1000, offset),
                        "problem",
                    )
        answer = append(pawl.address, d, location, 1000, BODY[1000:])
        same((answer.status, answer.body), (200, b"got 200000 bytes"), "append at the right offset")

    each(dialects(), row)
    true(all(r.body == BODY for r in whole(origin)), "other bytes at the origin")


@check(
    "after a 409 the rest of the body is read away or the connection closed, and the next request is answered",
    area="upload rows",
)
def mismatch_drain(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = partial(pawl, d, BODY, 1000)
    for size in (100_000, 8 * MIB):
        with Upload(pawl.address) as client:
            client.append(d, location, 0, size)
            sent = 0
            try:
                while sent < size:
                    client.send(bytes(50_000 if size - sent > 50_000 else size - sent))
                    sent += 50_000
                if bench.is_1_1:  # in HTTP/2 a HEAD would run beside the append, and displace it
                    client.head(path_of(location), "HEAD", d.version)
            except OSError:
                pass
            answer = client.response("PATCH")
            same(
                (answer.status, answer.get("Upload-Offset")),
                (409, "1000"),
                f"answer while {size} bytes come ({answer})",
            )
            if answer.get("Connection", "").lower() != "close":
                if not bench.is_1_1:
                    client.head(path_of(location), "HEAD", d.version)
                answer = client.response("HEAD")
                true(
                    answer.status == 204 or answer.ended in ("fin", "rst"), f"next request on the connection: {answer}"
                )
        same(status(pawl.address, d, location).get("Upload-Offset"), "1000", "offset")


@check(
    "an append to a completed upload: a valid empty one gets the answer again, one with content is refused",
    area="upload rows",
)
def completed(bench):
    origin, pawl = begin(bench)

    def row(d):
        answer = create(pawl.address, d, BODY)
        location = [f.get("Location") for s, f in answer.interim if s == 104][0]
        for offset in (len(BODY), 0):
            answer = append(pawl.address, d, location, offset, b"more")
            true(400 <= answer.status < 500, f"content at {offset}: {answer.status}")
            if d.number == 6 and offset:
                same((answer.status, problem(answer)["type"]), (400, problem_type("completed-upload")), "refusal")
            if d.number >= 7:
                true(answer.status in (400, 404, 409, 410), f"refusal {answer.status}")
        answer = append(pawl.address, d, location, len(BODY), b"")
        same((answer.status, answer.body, d.said(answer)), (200, b"got 200000 bytes", True), "the empty append")

    each(dialects(), row)
    same(len(whole(origin)), 8, "requests at the origin")


@check("an inconsistent length is 400 with a problem from 7, and reaches no origin", area="upload rows")
def inconsistent(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = partial(pawl, d, BODY, 1000)  # ?1 and Content-Length have said 200000
        answer = append(pawl.address, d, location, 1000, BODY[1000:2000])
        true(answer.status == 400, f"a shorter end: {answer.status}")
        if d.number >= 7:
            same(problem(answer)["type"], problem_type("inconsistent-upload-length"), "problem")
        if d.number >= 6:
            location = careful(pawl.address, d, (("Upload-Length", "100"),))
            answer = append(pawl.address, d, location, 0, b"", False, (("Upload-Length", "90"),))
            same(answer.status, 400, "another Upload-Length")
            location = careful(pawl.address, d, (("Upload-Length", "100"),))
            answer = append(pawl.address, d, location, 0, b"x" * 99, True)
            same(answer.status, 400, "an end before Upload-Length")
            answer = create(pawl.address, d, b"x" * 99, True, (("Upload-Length", "100"),))
            same((answer.status, d.said(answer)), (400, False), "a creation that contradicts itself")

    each(dialects(4), row)
    same(len(asked(origin, "/in")), 0, "requests at the origin")


@check(
    "content beyond the length is 400, stops at the length to version 7, and ends the upload from 8", area="upload rows"
)
def beyond(bench):
    origin, pawl = begin(bench)

    def row(d):
        for chunked in (False, True):
            location = careful(pawl.address, d, (("Upload-Length", "1000"),))
            append(pawl.address, d, location, 0, b"x" * 600, False)
            answer = append(pawl.address, d, location, 600, b"y" * 500, False, chunked=chunked)
            true(answer.status in (400, 413), f"answer {answer.status}, chunked {chunked}")
            after = status(pawl.address, d, location)
            if d.number >= 8:
                true(400 <= after.status < 500, f"HEAD afterwards {after.status}, chunked {chunked}")
                true(
                    400 <= append(pawl.address, d, location, 600, b"z" * 400).status < 500,
                    "a later append went through",
                )
            elif after.status == 204:
                true(int(after.get("Upload-Offset")) <= 1000, f"offset {after.get('Upload-Offset')}")
        location = careful(pawl.address, d)
        same(
            append(pawl.address, d, location, 0, b"x" * 10, False, (("Upload-Length", "5"),)).status,
            400,
            "a length below the content",
        )

    each(dialects(6), row)
    same(len(asked(origin, "/in")), 0, "requests at the origin")


@check("the last append may be chunked where the length is known, and must end there", area="upload rows")
def chunked_end(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d, (("Upload-Length", "1000"),))
        answer = append(pawl.address, d, location, 0, b"x" * 1000, True, chunked=True)
        same((answer.status, answer.body), (200, b"got 1000 bytes"), "answer")
        location = careful(pawl.address, d, (("Upload-Length", "1000"),))
        answer = append(pawl.address, d, location, 0, b"x" * 900, True, chunked=True)
        same(answer.status, 400, "an end before the length")

    each(dialects(6), row)


@check("length reached is not completion from version 7: only the completeness field is", area="upload rows")
def not_by_length(bench):
    origin, pawl = begin(bench)

    def row(d):
        answer = create(pawl.address, d, b"x" * 100, False, (("Upload-Length", "100"),))
        same((answer.status, d.said(answer)), (201, False), "creation that brought everything")
        answer = status(pawl.address, d, answer.get("Location"))
        same((answer.get("Upload-Offset"), d.said(answer)), ("100", False), "HEAD")

    each(dialects(7), row)
    same(len(asked(origin, "/in")), 0, "requests at the origin")


@check(
    "versions 5 and 6 complete where the declared length is reached: tus-js-client takes that offset for success and "
    "never comes back",
    area="upload rows",
)
def by_length(bench):
    origin, pawl = begin(bench)

    def row(d):
        answer = create(pawl.address, d, b"x" * 100, False, (("Upload-Length", "100"),))
        same(
            (answer.status, answer.body, answer.get("Upload-Offset"), d.said(answer)),
            (200, b"got 100 bytes", "100", True),
            "creation that brought everything",
        )
        location = careful(pawl.address, d, (("Upload-Length", "100"),))
        same(append(pawl.address, d, location, 0, b"x" * 99, False).status, 201, "an append that does not")
        answer = append(pawl.address, d, location, 99, b"x", False)
        same(
            (answer.status, answer.body, answer.get("Upload-Offset"), d.said(answer)),
            (200, b"got 100 bytes", "100", True),
            "an append that does",
        )

    each(dialects(5, 6), row)
    same(len(whole(origin)), 4, "requests at the origin")


# -- unknown, cancelled, discovered ------------------------------------------------------------------------------------


@check("unknown uploads are 404 for every method and never reach the origin", area="upload rows")
def unknown(bench):
    origin, pawl = begin(bench)

    def row(d):
        for path in (
            "/.pawl/uploads/" + "A" * 32,
            "/.pawl/uploads/",
            "/.pawl/uploads/x",
            "/.pawl/uploads/" + "A" * 32 + "/more",
            "/.pawl/uploads/" + "A" * 31 + "%41",
        ):
            for answer in (
                status(pawl.address, d, path),
                status(pawl.address, d, path, method="GET"),
                append(pawl.address, d, path, 0, b"abc"),
                cancel(pawl.address, d, path),
                create(pawl.address, d, b"abc", target=path),
                ask(pawl.address, path, "GET"),
            ):
                true(answer.status in (404, 405), f"{path}: {answer.status}")
                same(answer.all("Upload-Offset"), [], "Upload-Offset of nothing")
            same(status(pawl.address, d, path).status, 404, "HEAD")

    each([Dialect(n) for n in (3, 6, 10)], row)
    same(origin.connections, 0, "connections to the origin")


@check("DELETE cancels with 204, ends a running transfer, and the upload is gone", area="upload rows")
def cancellation(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = careful(pawl.address, d)
        answer = cancel(pawl.address, d, location)
        same((answer.status, answer.body), (204, b""), "DELETE")
        for answer in (
            status(pawl.address, d, location),
            append(pawl.address, d, location, 0, b"abc"),
            cancel(pawl.address, d, location),
        ):
            true(answer.status in (404, 410), f"afterwards {answer.status}")
        with Upload(pawl.address) as client:
            client.create(d, True, len(BODY))
            location = client.location()
            client.send(BODY[:1000])
            same(cancel(pawl.address, d, location).status, 204, "DELETE of a running upload")
            octets, ended = client.until_end(5)
            true(ended in ("fin", "rst"), f"the running transfer: {ended} {octets[:100]!r}")
        answer = create(pawl.address, d, BODY)
        location = [f.get("Location") for s, f in answer.interim if s == 104][0]
        same(cancel(pawl.address, d, location).status, 204, "DELETE of a finished upload")
        true(status(pawl.address, d, location).status in (404, 410), "a finished upload after DELETE")

    each(dialects(), row)


@check(
    "OPTIONS on a target tells Upload-Limit and Accept-Patch, joined with the origin's answer; 501 becomes 200",
    area="upload rows",
)
def discovery(bench):
    origin, pawl = begin(bench, **{"min-resumable": "64K", "max-upload": "5M"})
    origin.at("/none", Resource(b"no", status=501, fields=NO_STORE))
    origin.at("/some", Resource(b"", status=200, fields=NO_STORE + (("Allow", "GET, POST"), ("X-Dav", "1"))))
    origin.at(
        "/204", Resource(b"", status=204, fields=NO_STORE + (("Allow", "GET, POST"), ("Accept-Patch", "text/x-diff")))
    )

    def row(d):
        for path in ("/none", "/some", "/204"):
            answer = ask(pawl.address, path, "OPTIONS", d.version)
            true(answer.status in (200, 204) if path != "/none" else answer.status == 200, f"{path}: {answer.status}")
            found = limits(one(answer, "Upload-Limit"))
            same((found.get("max-size"), found.get("min-size")), (5 << 20, 64 << 10), f"limits of {path}")
            true("max-age" not in found or found["max-age"] > 0, f"{found}")
            true(
                "application/partial-upload" in ",".join(answer.all("Accept-Patch")),
                f"Accept-Patch of {path}: {answer.all('Accept-Patch')}",
            )
            same(answer.interim, [], "interim answers")
            if path == "/some":
                same((answer.get("Allow") is not None, answer.get("X-Dav")), (True, "1"), "the origin's fields")
            if path == "/204":
                true("text/x-diff" in ",".join(answer.all("Accept-Patch")), "the origin's Accept-Patch is lost")

    each(dialects(), row)
    answer = ask(pawl.address, "/none", "OPTIONS")
    same(answer.status, 200, "OPTIONS of a client without a version (PhotoKit)")
    limits(one(answer, "Upload-Limit"))
    origin.stop()
    answer = ask(pawl.address, "/some", "OPTIONS", Dialect(6).version)
    true(answer.status in (200, 204) or answer.status >= 502, f"OPTIONS while the origin is down: {answer.status}")


@check("lifetimes are announced as expires for version 6 and as max-age from 7, and shrink", area="upload rows")
def lifetime(bench):
    origin, pawl = begin(bench, extra={"spool:default": {"expire-after": "30m", "max-age": "2h"}})

    def row(d):
        with Upload(pawl.address) as client:
            client.create(d, True, len(BODY))
            announced = limits(one(client.interim(104), "Upload-Limit"))
        location = careful(pawl.address, d)
        found = limits(one(status(pawl.address, d, location), "Upload-Limit"))
        key = "expires" if d.number == 6 else "max-age"
        true(1700 <= found.get(key, 0) <= 1800, f"HEAD {found}")
        true(key not in announced or 1700 <= announced[key] <= 1800, f"104 {announced}")
        true(
            set(found) <= {"max-size", "min-size", "max-append-size", "min-append-size", "max-age", "expires"},
            f"{found}",
        )

    each(dialects(6), row)


# -- who is meant ------------------------------------------------------------------------------------------------------


@check("other versions, none, and invalid values are ordinary requests: no 104, fields untouched", area="upload rows")
def plain(bench):
    origin, pawl = begin(bench)
    cases = {
        f"version {v}": (("Upload-Draft-Interop-Version", v), ("Upload-Complete", "?1"))
        for v in ("0", "1", "2", "11", "100", "-6", "6.0", "?1", "abc", '"6"', "", "6, 6")
    }
    cases["no version"] = (("Upload-Complete", "?1"),)
    cases["two versions"] = (
        ("Upload-Draft-Interop-Version", "6"),
        ("Upload-Draft-Interop-Version", "6"),
        ("Upload-Complete", "?1"),
    )
    for value in ("1", "true", "?2", "?", "?10", "", "?1, ?1", '"?1"'):
        cases[f"Upload-Complete: {value}"] = (("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", value))
    cases["Upload-Complete twice"] = (
        ("Upload-Draft-Interop-Version", "6"),
        ("Upload-Complete", "?1"),
        ("Upload-Complete", "?1"),
    )
    cases["the field of version 3 with 6"] = (("Upload-Draft-Interop-Version", "6"), ("Upload-Incomplete", "?0"))
    cases["the field of version 6 with 3"] = (("Upload-Draft-Interop-Version", "3"), ("Upload-Complete", "?1"))
    cases["version alone"] = (("Upload-Draft-Interop-Version", "6"),)

    def row(name):
        target = "/" + name.replace(" ", "_").replace('"', "q").replace("?", "Q").replace(",", "c")
        answer = ask(pawl.address, target, "POST", cases[name], BODY)
        same((answer.status, answer.body, answer.interim), (200, b"got 200000 bytes", []), "answer")
        for field in ("Upload-Complete", "Upload-Incomplete", "Upload-Offset"):
            same(answer.all(field), [], f"{field} in the answer")
        (request,) = asked(origin, target)
        true(request.body == BODY, "other bytes at the origin")
        for field, value in set(cases[name]):
            same(request.all(field), [v for f, v in cases[name] if f == field], f"{field} at the origin")

    each(cases, row)


@check("parameters of versions and completeness, and any case of names, are understood", area="upload rows")
def spelling(bench):
    origin, pawl = begin(bench)
    for fields in (
        (("upload-draft-interop-version", "6;a=b"), ("upload-complete", "?1;x")),
        (("UPLOAD-DRAFT-INTEROP-VERSION", " 6 "), ("UPLOAD-COMPLETE", "?1 ")),
    ):
        answer = ask(pawl.address, "/in", "POST", fields, BODY)
        same([s for s, _ in answer.interim][:1], [104], f"{fields}")
    location = careful(pawl.address, Dialect(6), (("Upload-Length", "200000;a"),))
    same(status(pawl.address, Dialect(6), location).all("Upload-Length"), ["200000"], "a length with a parameter")
    location = careful(pawl.address, Dialect(6), (("Upload-Length", "many"),))
    same(status(pawl.address, Dialect(6), location).all("Upload-Length"), [], "an invalid length is ignored")


@check(
    "a small upload of known length is passed on as it is, stripped; never an incomplete, chunked or tus one",
    area="upload rows",
)
def small(bench):
    origin, pawl = begin(bench, **{"min-resumable": "64K"})
    edge = 64 << 10
    body = bytes(edge)

    def row(d):
        for size, resumable in ((0, False), (10, False), (edge - 1, False), (edge, True)):
            answer = create(pawl.address, d, body[:size], target=f"/s{d}-{size}")
            same(
                (answer.status, answer.body, [s for s, _ in answer.interim if s == 104][:1]),
                (200, b"got %d bytes" % size, [104] if resumable else []),
                f"{size} bytes",
            )
            (request,) = asked(origin, f"/s{d}-{size}")
            for name in ("Upload-Draft-Interop-Version", "Upload-Complete", "Upload-Incomplete", "Upload-Length"):
                same(request.all(name), [], f"{name} at the origin")
            same(request.get("X-Pawl-Upload-Id") is not None, resumable, "an upload's id at the origin")
        answer = create(pawl.address, d, b"abc", False)
        same((answer.status, [s for s, _ in answer.interim]), (201, [104]), "a small beginning")
        answer = create(pawl.address, d, b"abc", True, chunked=True)
        same((answer.status, [s for s, _ in answer.interim][:1]), (200, [104]), "a small chunked upload")
        if d.number >= 6:
            found = limits(one(ask(pawl.address, "/in", "OPTIONS", d.version), "Upload-Limit"))
            same(found.get("min-size"), edge, "min-size")

    each(dialects(), row)
    tus = (("Tus-Resumable", "1.0.0"), ("Upload-Length", "3"))
    same(ask(pawl.address, "/in", "POST", tus, b"").status, 201, "a small tus upload")


@check("HTTP/1.0 gets no interim answer and the origin's answer", area="upload rows", over=V1, why="HTTP/1.0")
def old_http(bench):
    origin, pawl = begin(bench)

    def row(d):
        answer = create(pawl.address, d, BODY, version="1.0")
        same((answer.status, answer.body, answer.interim), (200, b"got 200000 bytes", []), "answer")

    each([Dialect(n) for n in (3, 6, 10)], row)
    true(all(r.body == BODY for r in whole(origin)), "other bytes at the origin")


@check("the version is that of each request, not of the upload", area="upload rows")
def upgrades(bench):
    origin, pawl = begin(bench)
    old, new = Dialect(3), Dialect(9)
    location = partial(pawl, old, BODY, 1000)
    answer = status(pawl.address, new, location)
    same(
        (new.said(answer), answer.get("Upload-Offset"), answer.get("Upload-Draft-Interop-Version")),
        (False, "1000", "9"),
        "HEAD by a newer version",
    )
    answer = append(pawl.address, old, location, 1000, BODY[1000:2000], False)
    same((answer.status, old.said(answer)), (201, False), "append by the old version")
    answer = append(pawl.address, new, location, 2000, BODY[2000:3000], False)
    same((answer.status, new.said(answer)), (204, False), "append by the new one")
    answer = append(pawl.address, Dialect(6), location, 3000, BODY[3000:])
    same((answer.status, answer.body), (200, b"got 200000 bytes"), "the end by a third")


@check("the final dialect (no version) is off by default and works when it is on", area="upload rows")
def final(bench):
    origin, pawl = begin(bench, **{"final-dialect": "on"})
    d = Dialect(FINAL)
    location = careful(pawl.address, d, (("Upload-Length", str(len(BODY))),))
    answer = status(pawl.address, d, location)
    same(
        (answer.status // 100, answer.get("Upload-Offset"), d.said(answer), answer.get("Upload-Length")),
        (2, "0", False, "200000"),
        "HEAD",
    )
    same(answer.all("Upload-Draft-Interop-Version"), [], "interop version in the final dialect")
    limits(one(answer, "Upload-Limit"))
    answer = append(pawl.address, d, location, 0, BODY[:100], False)
    same((answer.status, d.said(answer)), (204, False), "append")
    answer = append(pawl.address, d, location, 0, BODY[100:])
    same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (409, "100", False), "wrong offset")
    answer = append(pawl.address, d, location, 100, BODY[100:])
    same((answer.status, answer.body, d.said(answer)), (200, b"got 200000 bytes", True), "the end")
    answer = create(pawl.address, d, BODY)
    same((answer.status, answer.body, d.said(answer)), (200, b"got 200000 bytes", True), "creation with everything")
    same(status(pawl.address, d, "/.pawl/uploads/" + "A" * 32).status, 404, "an unknown upload")
    same(cancel(pawl.address, d, careful(pawl.address, d)).status // 100, 2, "DELETE")


@check("everything below the prefix is no-store and nosniff, with Content-Length where no body is", area="upload rows")
def hygiene(bench):
    origin, pawl = begin(bench)
    d = Dialect(9)
    location = partial(pawl, d, BODY, 1000)
    for what, answer in (
        ("HEAD", status(pawl.address, d, location)),
        ("409", append(pawl.address, d, location, 0, b"abc", False)),
        ("append", append(pawl.address, d, location, 1000, b"abc", False)),
        ("404", status(pawl.address, d, "/.pawl/uploads/nothing")),
        ("DELETE", cancel(pawl.address, d, location)),
        ("gone", status(pawl.address, d, location, method="GET")),
        ("405", ask(pawl.address, path_of(careful(pawl.address, d)), "PUT", d.version, b"x")),
    ):
        true("no-store" in one(answer, "Cache-Control"), f"{what}: {answer.all('Cache-Control')}")
        same(answer.all("X-Content-Type-Options"), ["nosniff"], what)
        true(answer.complete, f"{what}: {answer}")
    answer = ask(pawl.address, path_of(careful(pawl.address, d)), "PUT", d.version, b"x")
    same((answer.status, answer.get("Allow") is not None), (405, True), "another method on an upload URL")
    tokens = {token_of(careful(pawl.address, d)) for _ in range(50)}
    true(len(tokens) == 50 and all(re.fullmatch(r"[A-Za-z0-9_-]{32}", t) for t in tokens), "tokens")
    same(len({t[:4] for t in tokens}) > 40, True, "tokens begin differently")


@check("several uploads follow each other on one connection, interim and final answers in order", area="upload rows")
def keep_alive(bench):
    origin, pawl = begin(bench)
    with Upload(pawl.address) as client:
        for d in dialects():
            client.interims = []
            client.create(d, True, len(BODY))
            location = client.location()
            client.send(BODY)
            same(client.answer().status, 200, f"{d} creation")
            client.head(path_of(location), "HEAD", d.version)
            same(client.answer().status, 204, f"{d} HEAD")
            client.create(d, False, 0)
            answer = client.answer()
            same(answer.status, 201, f"{d} careful creation")
            client.append(d, answer.get("Location"), 0, 3)
            client.send(b"abc")
            same(client.answer().body, b"got 3 bytes", f"{d} append")
