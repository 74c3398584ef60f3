"""tus 1.0.0: every MUST of the core and of the extensions, as bytes on a socket."""

import base64
import email.utils
import re
import threading
import time

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for
from harness.uploads import (
    NO_STORE,
    OCTETS,
    TUS,
    Dialect,
    Upload,
    ask,
    asked,
    bearer,
    careful,
    checksum,
    chunks,
    each,
    landed,
    metadata,
    one,
    path_of,
    status,
    stored,
    tus_create,
    tus_delete,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

MIB = 1 << 20
BODY = Content("tus", 100_000).read()
NAME = "Upload-Metadata"


def begin(bench, extra=None, pawl=None, upstream=None, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site=site, extra=extra, pawl=pawl, upstream=upstream)


def is_tus(answer, where):
    same(answer.all("Tus-Resumable"), ["1.0.0"], f"Tus-Resumable of {where}")
    same([s for s, _ in answer.interim if s != 100], [], f"interim answers of {where}")
    for name in ("Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version"):
        same(answer.all(name), [], f"{name} of {where}")
    return answer


def offset(pawl, location, fields=()):
    return tus_head(pawl.address, location, fields).get("Upload-Offset")


# -- core --------------------------------------------------------------------------------------------------------------


@check(
    "creation, HEAD, PATCH in pieces; the last gives 204 with the offset and the origin's status, GET the answer",
    area="upload tus",
    tags=("every",),
)
def core(bench):
    origin, pawl = begin(bench)
    answer = is_tus(tus_create(pawl.address, len(BODY), target="/files/"), "POST")
    same((answer.status, answer.body), (201, b""), "creation")
    location = one(answer, "Location")
    true(re.search(r"^(https?://pawl\.test)?/\.pawl/uploads/[A-Za-z0-9_-]{32}$", location), f"Location {location}")
    at = 0
    for size, chunked in ((1, False), (40_000, True), (0, False), (30_000, False)):
        answer = is_tus(tus_head(pawl.address, location), "HEAD")
        same(
            (
                answer.status in (200, 204),
                answer.all("Upload-Offset"),
                answer.all("Upload-Length"),
                answer.all("Upload-Defer-Length"),
            ),
            (True, [str(at)], ["100000"], []),
            "HEAD",
        )
        true("no-store" in one(answer, "Cache-Control"), f"Cache-Control {answer.all('Cache-Control')}")
        answer = is_tus(tus_patch(pawl.address, location, at, BODY[at : at + size], chunked=chunked), "PATCH")
        at += size
        same((answer.status, answer.all("Upload-Offset"), answer.body), (204, [str(at)], b""), f"PATCH of {size}")
    same(len(asked(origin, "/files/")), 0, "requests before the end")
    answer = is_tus(tus_patch(pawl.address, location, at, BODY[at:]), "the last PATCH")
    same(
        (answer.status, answer.all("Upload-Offset"), answer.get("Pawl-Origin-Status"), answer.body),
        (204, ["100000"], "200", b""),
        "the last PATCH",
    )
    (request,) = whole(origin, "/files/")
    same(
        (request.method, request.body == BODY, request.get("Content-Length")), ("POST", True, "100000"), "at the origin"
    )
    for name in (
        "Tus-Resumable",
        "Upload-Length",
        "Upload-Offset",
        NAME,
        "Upload-Concat",
        "Upload-Checksum",
        "Upload-Defer-Length",
    ):
        same(request.all(name), [], f"{name} at the origin")
    answer = tus_get(pawl.address, location)
    same((answer.status, answer.body, answer.get("X-Application")), (200, b"got 100000 bytes", "yes"), "GET")
    answer = tus_head(pawl.address, location)
    same((answer.status in (200, 204), answer.get("Upload-Offset")), (True, "100000"), "HEAD of a finished upload")
    answer = tus_patch(pawl.address, location, len(BODY), b"")
    same(
        (answer.status, answer.get("Upload-Offset"), answer.get("Pawl-Origin-Status")),
        (204, "100000", "200"),
        "an empty PATCH of a finished upload",
    )
    same(len(whole(origin, "/files/")), 1, "requests at the origin")


@check(
    "any URL takes a creation, with or without a slash, with a Content-Type, and by other methods than POST as the "
    "application has it",
    area="upload tus",
)
def targets(bench):
    origin, pawl = begin(bench)
    for target in ("/", "/files", "/files/", "/a/b?c=d"):
        location = tus_new(pawl.address, 3, (("Content-Type", "application/octet-stream"),), target=target)
        same(tus_patch(pawl.address, location, 0, b"abc").status, 204, target)
        same(
            [(r.method, r.target, r.body) for r in origin.requests if r.method != "OPTIONS"][-1],
            ("POST", target, b"abc"),
            "at the origin",
        )


@check("another version is 412 with Tus-Version and nothing is worked on; OPTIONS ignores it", area="upload tus")
def versions(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, 10)
    for version in ("0.2.2", "1.0.1", "2.0.0", "1", "", "x"):
        wrong = (("Tus-Resumable", version),)
        for what, answer in (
            ("POST", tus_create(pawl.address, 10, version=wrong)),
            ("HEAD", tus_head(pawl.address, location, version=wrong)),
            ("PATCH", tus_patch(pawl.address, location, 0, b"0123456789", version=wrong)),
            ("DELETE", ask(pawl.address, path_of(location), "DELETE", wrong)),
        ):
            same((answer.status, answer.get("Tus-Version")), (412, "1.0.0"), f"{what} with {version!r}")
        for path in ("/in", path_of(location)):
            answer = ask(pawl.address, path, "OPTIONS", wrong)
            true(answer.status in (200, 204), f"OPTIONS with {version!r}: {answer.status}")
    same(offset(pawl, location), "0", "offset")
    same([r.method for r in origin.requests if r.method != "OPTIONS"], [], "requests at the origin")


@check(
    "OPTIONS tells version, extensions, largest size and checksum algorithms, on targets and upload URLs",
    area="upload tus",
)
def options(bench):
    origin, pawl = begin(bench, **{"max-upload": "5M"})
    location = tus_new(pawl.address, 10)
    for path in ("/in", "/files/", path_of(location)):
        for fields in ((), TUS):
            answer = ask(pawl.address, path, "OPTIONS", fields)
            true(answer.status in (200, 204), f"{path}: {answer.status}")
            same((one(answer, "Tus-Version"), one(answer, "Tus-Max-Size")), ("1.0.0", str(5 << 20)), f"{path}")
            names = set(one(answer, "Tus-Extension").replace(" ", "").split(","))
            wanted = {
                "creation",
                "creation-with-upload",
                "creation-defer-length",
                "expiration",
                "checksum",
                "checksum-trailer",
                "termination",
                "concatenation",
            }
            true(wanted <= names and "concatenation-unfinished" not in names, f"extensions {names}")
            same(
                set(one(answer, "Tus-Checksum-Algorithm").replace(" ", "").split(",")),
                {"sha1", "md5", "crc32", "sha256"},
                "algorithms",
            )


@check(
    "PATCH at a wrong offset is 409 at once and changes nothing; unusable offsets are 400, other types 415",
    area="upload tus",
)
def wrong_patches(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, len(BODY))
    tus_patch(pawl.address, location, 0, BODY[:500])
    for at in (0, 499, 501, 99_999):
        with Upload(pawl.address) as client:
            client.head(
                path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", str(at)), ("Content-Length", "1000"))
            )
            answer = is_tus(client.answer(), "409")
            same(answer.status, 409, f"offset {at}, before the body")
    for at in (
        "-1",
        "+500",
        "5e2",
        "0x1",
        "",
        "500 ",
        "500;a",
        "500, 500",
        "99999999999999999999999999",
        "1.0",
        "five",
    ):
        answer = is_tus(tus_patch(pawl.address, location, at, BODY[500:600]), "400")
        # Blanks around a value are no part of it.
        true(answer.status == (204 if at == "500 " else 400), f"offset {at!r} gave {answer.status}")
        if at == "500 ":
            tus_delete(pawl.address, location)
            location = tus_new(pawl.address, len(BODY))
            tus_patch(pawl.address, location, 0, BODY[:500])
    same(ask(pawl.address, path_of(location), "PATCH", TUS + OCTETS, b"abc").status, 400, "PATCH without an offset")
    twice = (("Upload-Offset", "500"), ("Upload-Offset", "500"))
    same(
        ask(pawl.address, path_of(location), "PATCH", TUS + OCTETS + twice, b"abc").status,
        400,
        "PATCH with two offsets",
    )
    for kind in (
        (),
        (("Content-Type", "application/octet-stream"),),
        (("Content-Type", "application/partial-upload"),),
    ):
        answer = is_tus(tus_patch(pawl.address, location, 500, BODY[500:600], kind=kind), "415")
        same(answer.status, 415, f"type {kind}")
    same(offset(pawl, location), "500", "offset")
    same(tus_patch(pawl.address, location, 500, BODY[500:]).status, 204, "the right PATCH")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")


@check("content beyond Upload-Length is refused with 413 and never reaches the origin", area="upload tus")
def beyond(bench):
    origin, pawl = begin(bench)
    for chunked in (False, True):
        location = tus_new(pawl.address, 100)
        tus_patch(pawl.address, location, 0, BODY[:60])
        answer = is_tus(tus_patch(pawl.address, location, 60, BODY[:50], chunked=chunked), "413")
        true(answer.status in (413, 400), f"answer {answer.status}, chunked {chunked}")
    same([r.method for r in origin.requests if r.method != "OPTIONS"], [], "requests at the origin")


@check("unknown uploads are 404 without an offset and never reach the origin", area="upload tus")
def unknown(bench):
    origin, pawl = begin(bench)
    for path in ("/.pawl/uploads/" + "B" * 32, "/.pawl/uploads/x"):
        for answer in (
            tus_head(pawl.address, path),
            tus_patch(pawl.address, path, 0, b"abc"),
            tus_delete(pawl.address, path),
            tus_get(pawl.address, path),
        ):
            is_tus(answer, "404")
            same((answer.status, answer.all("Upload-Offset")), (404, []), path)
    same(origin.connections, 0, "connections to the origin")


@check(
    "a PATCH cut by FIN or RST keeps what came, and goes on there; no byte twice", area="upload tus", tags=("every",)
)
def cuts(bench):
    origin, pawl = begin(bench)

    def row(how):
        location = tus_new(pawl.address, len(BODY))
        at = 0
        for end in (10_000, 44_444, 80_000):
            with Upload(pawl.address) as client:
                client.head(
                    path_of(location),
                    "PATCH",
                    TUS + OCTETS + (("Upload-Offset", str(at)), ("Content-Length", str(len(BODY) - at))),
                )
                client.send(BODY[at:end])
                client.cut(how)
            landed(pawl, end, must=how == "fin")
            found = int(offset(pawl, location))
            true(at <= found <= end, f"offset {found}")
            at = found
        same(tus_patch(pawl.address, location, at, BODY[at:]).status, 204, "the rest")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(("fin", "rst"), row)


@check("the client goes with its last byte: delivered once, and HEAD tells the end", area="upload tus", tags=("every",))
def last_octet(bench):
    origin, pawl = begin(bench)
    for i in range(20):
        location = tus_new(pawl.address, len(BODY), target=f"/n{i}")
        with Upload(pawl.address) as client:
            client.head(
                path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(len(BODY))))
            )
            client.send(BODY)
            client.cut("fin")
        # A HEAD that came before pawl read what the client left behind would rightly end that transfer where it was.
        wait_for(lambda: whole(origin, f"/n{i}"), 5, "the request at the origin")
        wait_for(lambda: offset(pawl, location) == "100000", 5, "the end")
        same(len(whole(origin, f"/n{i}")), 1, "requests at the origin")
        same(tus_get(pawl.address, location).body, b"got 100000 bytes", "GET")


@check("no 1xx but the 100 that was asked for", area="upload tus", tags=("every",))
def continue_only(bench):
    origin, pawl = begin(bench)
    with Upload(pawl.address) as client:
        client.head(
            "/in", "POST", TUS + OCTETS + (("Upload-Length", "3"), ("Content-Length", "3"), ("Expect", "100-continue"))
        )
        client.interim(100)
        client.send(b"abc")
        answer = client.answer()
        same((answer.status, [s for s, _ in answer.interim]), (201, [100]), "creation with upload")
    location = tus_new(pawl.address, 9 * MIB)
    with Upload(pawl.address) as client:
        client.head(
            path_of(location),
            "PATCH",
            TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(9 * MIB)), ("Expect", "100-continue")),
        )
        client.interim(100)
        client.send(bytes(9 * MIB))
        answer = client.answer()
        same((answer.status, [s for s, _ in answer.interim]), (204, [100]), "PATCH")


@check(
    "method override by POST on upload URLs, for PATCH, DELETE and HEAD only; elsewhere it is just a field",
    area="upload tus",
)
def override(bench):
    origin, pawl = begin(bench)

    def over(method, fields=(), body=b"", path=None, version=TUS):
        return ask(
            pawl.address,
            path or path_of(location),
            "POST",
            version + (("X-HTTP-Method-Override", method),) + tuple(fields),
            body,
        )

    location = tus_new(pawl.address, len(BODY), target="/o")
    same(
        (over("PATCH", OCTETS + (("Upload-Offset", "0"),), BODY[:100]).status, offset(pawl, location)),
        (204, "100"),
        "PATCH",
    )
    with Upload(pawl.address) as client:  # as tus-java-client: chunked and Expect
        client.head(
            path_of(location),
            "POST",
            TUS
            + OCTETS
            + (
                ("X-HTTP-Method-Override", "PATCH"),
                ("Upload-Offset", "100"),
                ("Transfer-Encoding", "chunked"),
                ("Expect", "100-continue"),
            ),
        )
        client.interim(100)
        client.send(chunks(BODY[100:]))
        same(client.answer().status, 204, "a chunked PATCH with Expect")
    true(whole(origin, "/o")[-1].body == BODY, "other bytes at the origin")
    same(whole(origin, "/o")[-1].all("X-HTTP-Method-Override"), [], "the field at the origin")
    location = tus_new(pawl.address, 10)
    answer = over("HEAD")
    same((answer.status in (200, 204), answer.get("Upload-Offset")), (True, "0"), "HEAD")
    for method in ("PUT", "GET", "OPTIONS", "patch", "DELETE, PATCH", ""):
        answer = over(method)
        true(answer.status in (400, 404, 405), f"{method!r} gave {answer.status}")
    same(offset(pawl, location), "0", "offset")
    same(over("DELETE").status, 204, "DELETE")
    true(tus_head(pawl.address, location).status in (404, 410), "HEAD after DELETE")
    for fields in (
        (("X-HTTP-Method-Override", "DELETE"),),
        (("X-HTTP-Method-Override", "PATCH"), ("Content-Type", "application/offset+octet-stream")),
    ):
        answer = ask(pawl.address, "/plain", "POST", fields, b"abc")
        same(answer.body, b"got 3 bytes", "a plain POST with the field")
        same(
            (asked(origin, "/plain")[-1].method, asked(origin, "/plain")[-1].all("X-HTTP-Method-Override")),
            ("POST", [fields[0][1]]),
            "at the origin",
        )
    location = careful(pawl.address, Dialect(6))
    answer = over("DELETE", version=Dialect(6).version)
    true(answer.status in (400, 404, 405), f"an override without tus gave {answer.status}")
    same(status(pawl.address, Dialect(6), location).status, 204, "the upload after an override without tus")


@check("a request with the fields of both protocols is tus", area="upload tus")
def both(bench):
    origin, pawl = begin(bench)
    apple = (("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?1"))
    answer = is_tus(tus_create(pawl.address, len(BODY), apple), "POST")
    same(answer.status, 201, "creation")
    location = answer.get("Location")
    answer = is_tus(tus_patch(pawl.address, location, 0, BODY[:100], apple), "PATCH")
    same((answer.status, answer.get("Upload-Offset")), (204, "100"), "PATCH that says ?1 but is not at the end")
    answer = is_tus(tus_head(pawl.address, location, apple), "HEAD")
    same(answer.get("Upload-Offset"), "100", "HEAD")
    answer = is_tus(tus_patch(pawl.address, location, 100, BODY[100:], apple), "the last PATCH")
    same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), "the last PATCH")
    for name in ("Upload-Draft-Interop-Version", "Upload-Complete"):
        same(whole(origin)[-1].all(name), [], f"{name} at the origin")


# -- creation ----------------------------------------------------------------------------------------------------------


@check("creation says one length: both, neither or invalid values are 400; too large is 413", area="upload tus")
def lengths(bench):
    origin, pawl = begin(bench, **{"max-upload": "1M"})
    wrong = [
        (("Upload-Length", v),)
        for v in ("-1", "+5", "abc", "", "1e3", "5.0", "0x10", "5, 5", "99999999999999999999999999")
    ]
    wrong += [
        (("Upload-Length", "5"), ("Upload-Length", "5")),
        (("Upload-Defer-Length", "0"),),
        (("Upload-Defer-Length", "2"),),
        (("Upload-Defer-Length", "true"),),
        (("Upload-Length", "5"), ("Upload-Defer-Length", "1")),
    ]
    for fields in wrong:
        answer = is_tus(tus_create(pawl.address, None, fields), f"{fields}")
        true(answer.status == 400, f"{fields} gave {answer.status}")
    answer = is_tus(tus_create(pawl.address, None, ()), "neither")
    same(answer.status, 400, "neither length")
    answer = is_tus(tus_create(pawl.address, (1 << 20) + 1), "413")
    same(answer.status, 413, "too large")
    answer = is_tus(tus_create(pawl.address, 1 << 20), "as large as may be")
    same(answer.status, 201, "as large as may be")
    same([r.method for r in origin.requests if r.method != "OPTIONS"], [], "requests at the origin")


@check("an upload of length 0 is complete at once", area="upload tus")
def zero(bench):
    origin, pawl = begin(bench)
    answer = is_tus(tus_create(pawl.address, 0), "POST")
    same((answer.status, answer.get("Pawl-Origin-Status")), (201, "200"), "creation")
    (request,) = whole(origin)
    same((request.method, request.body, request.get("Content-Length")), ("POST", b"", "0"), "at the origin")
    same(offset(pawl, answer.get("Location")), "0", "HEAD")


@check("metadata come back as they were given; malformed ones are 400", area="upload tus")
def metadata_rules(bench):
    origin, pawl = begin(bench)
    for value in (
        metadata(filename="world_domination_plan.pdf", is_confidential=""),
        "a",
        "a ",
        "a YQ==,b",
        "a YQ==, b Yg==",
        "f/o:o%20 YQ==",
        metadata(name='ü"\r\n.txt', type="text/plain"),
    ):
        location = tus_new(pawl.address, 10, ((NAME, value),))
        same(tus_head(pawl.address, location).all(NAME), [value.strip()], f"{value!r}")
    same(tus_head(pawl.address, tus_new(pawl.address, 10)).all(NAME), [], "metadata nobody gave")
    for value in (
        "a YQ==,a Yg==",
        "a Y!Q=",
        "a YQ== b",
        "a YQ",
        "ü YQ==",
        ",",
        "a YQ==,,b Yg==",
        "a=YQ==",
        "a YQ==;b Yg==",
    ):
        answer = is_tus(tus_create(pawl.address, 10, ((NAME, value),)), "400")
        # Unpadded Base64 and a key such as a=YQ== may be forgiven: nothing in them is lost.
        true(
            answer.status == 400 or (value in ("a YQ", "a=YQ==") and answer.status == 201),
            f"{value!r} gave {answer.status}",
        )


@check(
    "creation-with-upload takes content of its own type, tells the offset, completes when that is all",
    area="upload tus",
)
def with_upload(bench):
    origin, pawl = begin(bench)
    answer = is_tus(tus_create(pawl.address, len(BODY), body=BODY[:40_000]), "POST")
    same((answer.status, answer.all("Upload-Offset")), (201, ["40000"]), "creation with a beginning")
    location = answer.get("Location")
    same(tus_patch(pawl.address, location, 40_000, BODY[40_000:]).status, 204, "the rest")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")
    for chunked in (False, True):
        answer = is_tus(tus_create(pawl.address, len(BODY), body=BODY, target="/all", chunked=chunked), "POST")
        same(
            (
                answer.status,
                answer.all("Upload-Offset"),
                answer.get("Pawl-Origin-Status"),
                answer.get("Location") is not None,
                answer.body,
            ),
            (201, ["100000"], "200", True, b""),
            "creation with everything",
        )
        true(whole(origin, "/all")[-1].body == BODY, "other bytes at the origin")
        same(tus_get(pawl.address, answer.get("Location")).body, b"got 100000 bytes", "GET")
    answer = is_tus(tus_create(pawl.address, 10, (("Content-Type", "text/plain"),), body=b"abc"), "415")
    same(answer.status, 415, "content of another type")
    answer = is_tus(tus_create(pawl.address, 10, body=b"x" * 11), "beyond")
    true(answer.status in (413, 400), f"content beyond the length: {answer.status}")
    origin.at("/no", Resource(b"refused", status=422, fields=NO_STORE))
    answer = tus_create(pawl.address, 3, body=b"abc", target="/no")
    same((answer.status, answer.body), (422, b"refused"), "a creation the origin refuses")


@check("creation-defer-length: told by HEAD, declared once by a later PATCH, complete when reached", area="upload tus")
def deferred(bench):
    origin, pawl = begin(bench)
    defer = (("Upload-Defer-Length", "1"),)
    location = tus_new(pawl.address, None, defer)
    answer = is_tus(tus_head(pawl.address, location), "HEAD")
    same(
        (answer.get("Upload-Offset"), answer.all("Upload-Defer-Length"), answer.all("Upload-Length")),
        ("0", ["1"], []),
        "HEAD",
    )
    same(tus_patch(pawl.address, location, 0, BODY[:100]).status, 204, "PATCH without a length")
    for value in ("abc", "-1", "99"):
        true(
            tus_patch(pawl.address, location, 100, b"", (("Upload-Length", value),)).status in (400, 413),
            f"length {value}",
        )
    same(
        tus_patch(pawl.address, location, 100, BODY[100:200], (("Upload-Length", "300"),)).status,
        204,
        "the declaration",
    )
    answer = tus_head(pawl.address, location)
    same(
        (answer.all("Upload-Length"), answer.all("Upload-Defer-Length"), answer.get("Upload-Offset")),
        (["300"], [], "200"),
        "HEAD",
    )
    true(
        tus_patch(pawl.address, location, 200, b"", (("Upload-Length", "400"),)).status in (400, 403), "another length"
    )
    same(tus_patch(pawl.address, location, 200, b"", (("Upload-Length", "300"),)).status, 204, "the same length again")
    same(len(whole(origin)), 0, "requests before the end")
    same(tus_patch(pawl.address, location, 200, BODY[200:300]).status, 204, "the end")
    true(whole(origin)[-1].body == BODY[:300], "other bytes at the origin")
    location = tus_new(pawl.address, None, defer)
    tus_patch(pawl.address, location, 0, BODY)
    answer = tus_patch(pawl.address, location, len(BODY), b"", (("Upload-Length", str(len(BODY))),))
    same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), "a declaration that completes")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")
    answer = is_tus(tus_create(pawl.address, None, defer, body=BODY[:7]), "with upload")
    same((answer.status, answer.get("Upload-Offset")), (201, "7"), "a deferred creation with upload")


# -- expiration, termination -------------------------------------------------------------------------------------------


@check(
    "Upload-Expires on creation, PATCH and HEAD slides with the bytes; afterwards 404 or 410, and the bytes are gone",
    area="upload tus",
)
def expiration(bench):
    origin, pawl = begin(bench, extra={"spool:default": {"expire-after": "2s", "path": "spool"}})

    def left(answer):
        value = one(answer, "Upload-Expires")
        true(value.endswith(" GMT") and value[3] == ",", f"Upload-Expires {value!r}")
        return email.utils.parsedate_to_datetime(value).timestamp() - time.time()

    answer = tus_create(pawl.address, 100)
    true(0 < left(answer) < 3.1, f"{left(answer)} s after creation")
    location = answer.get("Location")
    end = time.monotonic() + 3.5  # longer than expire-after: bytes keep it alive
    at = 0
    while time.monotonic() < end:
        answer = tus_patch(pawl.address, location, at, b"x")
        same(answer.status, 204, f"PATCH at {at}")
        true(-0.1 < left(answer) < 3.1, f"{left(answer)} s after a PATCH")
        at += 1
        time.sleep(0.5)
    wait_for(lambda: tus_head(pawl.address, location).status in (404, 410), 16, "the end of the upload", 0.2)
    answer = tus_patch(pawl.address, location, at, b"x")
    true(answer.status in (404, 410) and not answer.all("Upload-Offset"), f"PATCH of an expired upload: {answer}")
    same([r.method for r in origin.requests if r.method != "OPTIONS"], [], "requests at the origin")


@check("termination: DELETE is 204, ends a running PATCH, and the upload is gone", area="upload tus", tags=("every",))
def termination(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, len(BODY))
    tus_patch(pawl.address, location, 0, BODY[:100])
    same(is_tus(tus_delete(pawl.address, location), "DELETE").status, 204, "DELETE")
    for answer in (
        tus_head(pawl.address, location),
        tus_patch(pawl.address, location, 100, b"abc"),
        tus_delete(pawl.address, location),
        tus_get(pawl.address, location),
    ):
        is_tus(answer, "afterwards")
        true(answer.status in (404, 410) and not answer.all("Upload-Offset"), f"afterwards {answer}")
    location = tus_new(pawl.address, len(BODY))
    with Upload(pawl.address) as client:
        client.head(
            path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(len(BODY))))
        )
        client.send(BODY[:100])
        landed(pawl, 100)
        same(tus_delete(pawl.address, location).status, 204, "DELETE of a running upload")
        true(client.until_end(5)[1] in ("fin", "rst"), "the running PATCH goes on")
    location = tus_new(pawl.address, 3)
    tus_patch(pawl.address, location, 0, b"abc")
    same(tus_delete(pawl.address, location).status, 204, "DELETE of a finished upload")
    same(len(whole(origin)), 1, "requests at the origin")


# -- checksum ----------------------------------------------------------------------------------------------------------


@check(
    "checksum: sha1, md5, crc32 and sha256 are checked, in the field and as a trailer; wrong is 460 and changes "
    "nothing",
    area="upload tus",
    tags=("every",),
)
def checksums(bench):
    origin, pawl = begin(bench)

    def row(name):
        location = tus_new(pawl.address, len(BODY))
        at = 0
        for trailing in (False, True):

            def send(value, data):
                if trailing:
                    return tus_patch(
                        pawl.address,
                        location,
                        at,
                        data,
                        (("Trailer", "Upload-Checksum"),),
                        chunked=True,
                        trailers=(("Upload-Checksum", value),),
                    )
                return tus_patch(pawl.address, location, at, data, (("Upload-Checksum", value),))

            answer = is_tus(send(checksum(name, b"other"), BODY[at : at + 20_000]), "460")
            same(answer.status, 460, f"wrong, trailer {trailing}")
            same(offset(pawl, location), str(at), "offset after 460")
            answer = send(checksum(name, BODY[at : at + 20_000]), BODY[at : at + 20_000])
            at += 20_000
            same((answer.status, answer.get("Upload-Offset")), (204, str(at)), f"right, trailer {trailing}")
        wrong = tus_patch(pawl.address, location, at, BODY[at:], (("Upload-Checksum", checksum(name, BODY)),))
        same((wrong.status, len(whole(origin))), (460, before[0]), "a wrong checksum of the last PATCH")
        answer = tus_patch(pawl.address, location, at, BODY[at:], (("Upload-Checksum", checksum(name, BODY[at:])),))
        same((answer.status, answer.get("Upload-Offset")), (204, "100000"), "the last PATCH")
        before[0] += 1
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    before = [0]
    each(("sha1", "md5", "crc32", "sha256"), row)


@check("unknown algorithms and malformed checksums are 400 and change nothing", area="upload tus")
def bad_checksums(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, 100)
    good = base64.b64encode(b"\0" * 20).decode()
    for value in (
        f"sha512 {good}",
        f"SHA1 {good}",
        "sha1",
        "sha1 ",
        "sha1 !!!!",
        f"sha1 {good} x",
        good,
        "",
        f"sha1 {base64.b64encode(b'short').decode()}",
    ):
        answer = is_tus(tus_patch(pawl.address, location, 0, b"abc", (("Upload-Checksum", value),)), "400")
        true(
            answer.status == 400 or (value.startswith("sha1 c2hv") and answer.status == 460),
            f"{value!r} gave {answer.status}",
        )
    same(offset(pawl, location), "0", "offset")
    answer = tus_patch(
        pawl.address,
        location,
        0,
        b"abc",
        (("Trailer", "Upload-Checksum"),),
        chunked=True,
        trailers=(("Upload-Checksum", f"sha512 {good}"),),
    )
    same((answer.status, offset(pawl, location)), (400, "0"), "an unknown algorithm in a trailer")
    answer = tus_patch(pawl.address, location, 0, b"abc", (("Trailer", "Upload-Checksum"),), chunked=True)
    true(answer.status in (204, 400), f"an announced trailer that does not come: {answer.status}")


@check("a PATCH with a checksum that is cut counts not at all, also after kill -9", area="upload tus")
def checksum_cut(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, len(BODY))
    tus_patch(pawl.address, location, 0, BODY[:1000], (("Upload-Checksum", checksum("sha1", BODY[:1000])),))
    fields = (
        TUS
        + OCTETS
        + (
            ("Upload-Offset", "1000"),
            ("Content-Length", str(len(BODY) - 1000)),
            ("Upload-Checksum", checksum("sha1", BODY[1000:])),
        )
    )
    for end in ("fin", "rst", "kill"):
        with Upload(pawl.address) as client:
            client.head(path_of(location), "PATCH", fields)
            client.send(BODY[1000:60_000])
            if end == "kill":
                time.sleep(0.2)  # the bytes have to be there when it dies; being early would prove nothing
                pawl.restart(hard=True)
            client.cut("fin" if end == "kill" else end)
        same(offset(pawl, location), "1000", f"offset after {end}")
    same(
        tus_patch(
            pawl.address, location, 1000, BODY[1000:], (("Upload-Checksum", checksum("sha1", BODY[1000:])),)
        ).status,
        204,
        "the rest",
    )
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")


# -- concatenation -----------------------------------------------------------------------------------------------------

PARTIAL = (("Upload-Concat", "partial"),)


def part(pawl, data, fields=(), **options):
    location = tus_new(pawl.address, len(data), PARTIAL + tuple(fields), **options)
    own = tuple(f for f in fields if f[0] == "Authorization")
    same(tus_patch(pawl.address, location, 0, data, own).status, 204, "PATCH of a part")
    return location


@check(
    "concatenation: parts stay here, the final upload goes to the origin in the order named, with its own metadata",
    area="upload tus",
)
def concatenation(bench):
    origin, pawl = begin(bench)
    pieces = [BODY[:30_000], BODY[30_000:30_001], BODY[30_001:]]
    locations = [
        part(pawl, piece, ((NAME, metadata(filename="part.bin", filetype="text/part")),), target="/up")
        for piece in pieces
    ]
    same(len(whole(origin, "/up")), 0, "requests for parts")
    answer = is_tus(tus_head(pawl.address, locations[0]), "HEAD of a part")
    same(
        (answer.get("Upload-Concat"), answer.get("Upload-Offset"), answer.get("Upload-Length")),
        ("partial", "30000", "30000"),
        "HEAD of a part",
    )
    for form in (path_of, lambda l: f"{bench.scheme}://pawl.test" + path_of(l)):
        value = "final;" + " ".join(form(each_) for each_ in locations)
        answer = is_tus(
            tus_create(
                pawl.address,
                None,
                (("Upload-Concat", value), (NAME, metadata(filename="whole.bin", filetype="text/whole"))),
                target="/up",
            ),
            "final",
        )
        same((answer.status, answer.get("Pawl-Origin-Status")), (201, "200"), "the final upload")
        final = answer.get("Location")
        request = whole(origin, "/up")[-1]
        true(request.body == BODY and request.method == "POST", "other bytes at the origin")
        same(request.get("Content-Type"), "text/whole", "type at the origin")
        answer = is_tus(tus_head(pawl.address, final), "HEAD of the final upload")
        same(
            (answer.get("Upload-Concat"), answer.get("Upload-Length"), answer.get("Upload-Offset"), answer.get(NAME)),
            (value, "100000", "100000", metadata(filename="whole.bin", filetype="text/whole")),
            "HEAD of the final upload",
        )
        answer = is_tus(tus_patch(pawl.address, final, 100_000, b"x"), "PATCH of the final upload")
        same(answer.status, 403, "PATCH of the final upload")
        same(tus_get(pawl.address, final).body, b"got 100000 bytes", "GET of the final upload")
    same(len(whole(origin, "/up")), 2, "final uploads at the origin")
    answer = tus_create(
        pawl.address,
        None,
        (("Upload-Concat", value), (NAME, metadata(filename="whole.bin", filetype="text/whole"))),
        target="/up",
    )
    same(
        (answer.status, answer.get("Location"), len(whole(origin, "/up"))),
        (201, final, 2),
        "the same again, because the answer got lost",
    )
    value = f"final;{locations[1]} {locations[1]} {locations[0]}"
    same(tus_create(pawl.address, None, (("Upload-Concat", value),), target="/up").status, 201, "a part used twice")
    true(whole(origin, "/up")[-1].body == pieces[1] * 2 + pieces[0], "bytes of a part used twice")


@check(
    "a final upload is refused with unfinished, unknown or stranger's parts, with a length, with malformed lists",
    area="upload tus",
)
def bad_concatenation(bench):
    origin, pawl = begin(bench)
    ann, bob = (("Authorization", bearer("ann")),), (("Authorization", bearer("bob")),)
    mine = part(pawl, b"abc", ann)
    open_ = tus_new(pawl.address, 10, PARTIAL + ann)
    whole_ = tus_new(pawl.address, 10, ann)
    theirs = part(pawl, b"def", bob)
    none = "/.pawl/uploads/" + "C" * 32
    for what, fields in {
        "an unfinished part": (("Upload-Concat", f"final;{mine} {open_}"),),
        "an unknown part": (("Upload-Concat", f"final;{mine} {none}"),),
        "a stranger's part": (("Upload-Concat", f"final;{mine} {theirs}"),),
        "an upload that is no part": (("Upload-Concat", f"final;{mine} {whole_}"),),
        "a length": (("Upload-Concat", f"final;{mine}"), ("Upload-Length", "3")),
        "no parts": (("Upload-Concat", "final;"),),
        "no list": (("Upload-Concat", "final"),),
        "another word": (("Upload-Concat", "both"), ("Upload-Length", "3")),
        "another case": (("Upload-Concat", f"Final;{mine}"),),
        "a URL of elsewhere": (("Upload-Concat", f"final;{mine} http://other.test/x"),),
    }.items():
        answer = is_tus(tus_create(pawl.address, None, fields + ann), what)
        true(400 <= answer.status < 500, f"{what}: {answer.status}")
    same(len(whole(origin)), 0, "requests at the origin")
    same(tus_create(pawl.address, None, (("Upload-Concat", f"final;{mine}"),) + ann).status, 201, "the right one")
    same(len(whole(origin)), 1, "requests at the origin")


@check(
    "parts sent side by side, cut and resumed, make the whole body; deferred parts too",
    area="upload tus",
    tags=("every",),
)
def parallel(bench):
    origin, pawl = begin(bench)
    content = Content("parallel", 6 * MIB)
    size = content.size // 3
    locations, wrong = [None] * 3, []

    def run(i):
        try:
            data = content.read(i * size, (i + 1) * size)
            location = locations[i] = tus_new(
                pawl.address,
                None if i == 2 else len(data),
                PARTIAL + ((("Upload-Defer-Length", "1"),) if i == 2 else ()),
            )
            with Upload(pawl.address) as client:
                client.head(
                    path_of(location),
                    "PATCH",
                    TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(len(data)))),
                )
                client.send(data[: 700_000 + i])
                client.cut("fin")
            landed(pawl, 700_000 + i)
            same(offset(pawl, location), f"{700_000 + i}", "offset")
            declared = (("Upload-Length", str(len(data))),) if i == 2 else ()
            same(
                tus_patch(pawl.address, location, 700_000 + i, data[700_000 + i :], declared).status,
                204,
                "the rest of a part",
            )
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    [t.start() for t in threads]
    [t.join(20) for t in threads]
    true(not wrong, f"{wrong}")
    same(
        tus_create(pawl.address, None, (("Upload-Concat", "final;" + " ".join(locations)),)).status,
        201,
        "the final upload",
    )
    true(whole(origin)[-1].body == content.read(), "other bytes at the origin")
