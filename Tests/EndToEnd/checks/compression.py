"""What pawl compresses itself: in which coding, what is kept and resumed in it, what only passes, and what is left as
it is."""

import gzip
import shutil
import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.coded import CODINGS, beginning, decoded, text
from harness.origin import Resource
from harness.process import wait_for

KIB, MIB = 1 << 10, 1 << 20
KEPT = (("Cache-Control", "max-age=600"),)
ALL = "gzip, deflate, br, zstd"
PAGE = text("page", 300 * KIB, "markup")


def page(content=PAGE, type="text/html", fields=KEPT, **more):
    return Resource(content, type=type, fields=tuple(fields), **more)


def ask(pawl, path="/x", codings=ALL, *fields, **options):
    own = (("Accept-Encoding", codings),) if codings is not None else ()
    return get(pawl.address, path, fields=own + fields, **options)


def rest(pawl, path, codings, start, tag, *fields, **options):
    return ask(pawl, path, codings, ("Range", f"bytes={start}-"), ("If-Range", tag), *fields, **options)


def coding(answer):
    return answer.get("Content-Encoding")


def varies(answer):
    return [v for v in ", ".join(answer.all("Vary")).split(", ") if v.lower() == "accept-encoding"]


def content(answer):
    return decoded(coding(answer), answer.body)


def strong(answer):
    tag = answer.get("ETag") or ""
    return tag.startswith('"')


def setup(bench, resource=None, **options):
    """An origin with /x, a pawl before it."""
    origin = bench.origin()
    origin.at("/x", resource or page())
    return origin, bench.pawl(origin, **options)


# -- which ------------------------------------------------------------------------------------------------------------


@check(
    "by Accept-Encoding with weights, of equal ones zstd, br, gzip; compress-codings says otherwise", area="compress"
)
def weights(bench):
    origin, pawl = setup(bench)
    rows = {
        ALL: "zstd",
        "br;q=1.0, gzip;q=0.8": "br",
        "gzip": "gzip",
        "x-gzip": "gzip",
        "zstd;q=0.5, br;q=0.9, gzip;q=0.9": "br",
        "*": "zstd",
        "*;q=0.5, gzip": "gzip",
        "zstd;q=0, *": "br",
        "identity": None,
        "": None,
        None: None,
        "gzip;q=0": None,
        "deflate": None,
        "identity;q=1, gzip;q=0.5": None,
        "gzip;q=2, br": "br",
        "GZIP": "gzip",
    }
    for codings, expected in rows.items():
        answer = ask(pawl, "/x", codings)
        same(
            (answer.status, coding(answer), answer.complete, content(answer) == PAGE),
            (200, expected, True, True),
            f"for {codings!r}",
        )
        same(len(varies(answer)), 1, f"Vary for {codings!r}")
    other = bench.pawl(origin, name="other", site={"compress-codings": "gzip, br"})
    same(
        [coding(ask(other, "/x", c)) for c in (ALL, "zstd", "br, zstd", "br, gzip;q=0.5")],
        ["gzip", None, "br", "br"],
        "compress-codings",
    )


@check(
    "a kept body once: one tag of its own a coding for all clients, with a length, and identity has another",
    area="compress",
    tags=("h2",),
)
def once(bench):
    origin, pawl = setup(bench, page(etag='"own"'))
    plain = ask(pawl, "/x", None)
    tags = {}
    for each in CODINGS:
        answers = [ask(pawl, "/x", each) for _ in range(4)]
        true(all(strong(a) for a in answers), f"{each}: {answers[0]}")
        same({(a.get("ETag"), a.get("Content-Length"), a.body) for a in answers}.__len__(), 1, f"{each} over clients")
        same((answers[0].length, content(answers[0]) == PAGE, answers[3].hit), (answers[0].count, True, True), each)
        same((answers[0].get("Accept-Ranges"), answers[0].get("Age") is not None), ("bytes", True), each)
        tags[each] = answers[0].get("ETag")
    same(
        (len(set(tags.values()) | {plain.get("ETag")}), plain.get("ETag"), plain.body == PAGE),
        (4, '"own"', True),
        "tags",
    )
    same(origin.count("/x"), 1, "requests to the origin")
    same(origin.of("/x")[0].get("Accept-Encoding"), "identity", "what the origin is asked")


@check("of the origin's digests and weak tag nothing is said of a coded form", area="compress")
def digests(bench):
    said = KEPT + (
        ("Repr-Digest", "sha-256=:AAAA:"),
        ("Content-Digest", "sha-256=:AAAA:"),
        ("Digest", "sha-256=AAAA"),
        ("Content-MD5", "AAAA"),
        ("Vary", "Cookie"),
    )
    origin, pawl = setup(bench, page(fields=said, last_modified="old", etag='W/"w"'))
    plain, coded = ask(pawl, "/x", None), ask(pawl, "/x", "br")
    same(plain.get("Repr-Digest"), "sha-256=:AAAA:", "identity's digest")
    same(
        [coded.get(n) for n in ("Repr-Digest", "Content-Digest", "Digest", "Content-MD5")],
        [None] * 4,
        "digests of the form",
    )
    same(
        (strong(coded), coded.get("ETag") == plain.get("ETag"), coded.get("Last-Modified")),
        (True, False, plain.get("Last-Modified")),
        "validators",
    )
    same(sorted(", ".join(coded.all("Vary")).lower().split(", ")), ["accept-encoding", "cookie"], "Vary")


@check(
    "types, least and greatest size, status, attachments, no-transform; what is not compressed for anybody does not "
    "vary",
    area="compress",
)
def rules(bench):
    big = text("big", 8 * MIB + 1)
    rows = {
        "/1023": (page(PAGE[:1023]), None, False),
        "/1024": (page(PAGE[:1024]), "zstd", True),
        "/8M": (page(big[:-1]), "zstd", True),
        "/8M1": (page(big), None, False),
        "/png": (page(type="image/png"), None, False),
        "/svg": (page(type="image/svg+xml; charset=utf-8"), "zstd", True),
        "/json": (page(type="application/problem+json"), "zstd", True),
        "/none": (page(type=None), None, False),
        "/wasm": (page(type="application/wasm"), "zstd", True),
        "/zip": (page(type="application/zip"), None, False),
        "/attachment": (page(fields=KEPT + (("Content-Disposition", 'attachment; filename="a.txt"'),)), None, False),
        "/odd": (page(fields=KEPT + (("Content-Disposition", "form-data"),)), None, False),
        "/inline": (page(fields=KEPT + (("Content-Disposition", "inline"),)), "zstd", True),
        "/no-transform": (page(fields=(("Cache-Control", "max-age=600, no-transform"),)), None, False),
        "/404": (page(status=404), "zstd", True),
        "/503": (page(status=503, fields=()), "zstd", True),
        "/201": (page(status=201, fields=()), None, False),
        "/302": (page(status=302, fields=(("Location", "/x"),)), None, False),
        # Whether it was coded for one request alone nothing tells once it is stored.
        "/coded": (page(gzip.compress(PAGE), fields=KEPT + (("Content-Encoding", "gzip"),)), "gzip", False),
    }
    origin, pawl = setup(bench)
    for path, (resource, expected, depends) in rows.items():
        origin.at(path, resource)
        for step in ("first", "second"):
            answer = ask(pawl, path)
            same(
                (answer.status, coding(answer), answer.complete),
                (resource.status or 200, expected, True),
                f"{path}, {step}",
            )
            same(bool(varies(answer)), depends, f"Vary of {path}, {step}")
            true(path == "/coded" or content(answer) == bytes(resource.content), f"content of {path}, {step}")
    answer = ask(pawl, "/x", ALL, ("Cache-Control", "no-transform"))
    same(
        (coding(answer), answer.body == PAGE, bool(varies(answer))),
        (None, True, True),
        "a client that wants nothing transformed",
    )


@check(
    "off, named types, sizes and attachments of a route; a reload of them holds for what is stored, both ways",
    area="compress",
)
def settings(bench):
    origin = bench.origin()
    for path in ("/off/x", "/css/x", "/files/x"):
        origin.at(
            path,
            page(type="text/css", fields=KEPT + ((("Content-Disposition", "attachment"),) if "files" in path else ())),
        )
    origin.at("/css/html", page())
    origin.at("/small/x", page(PAGE[:100]))
    pawl = bench.pawl(
        origin,
        extra={
            "route:main/off": {"path": "/off/*", "compress": "off"},
            "route:main/css": {"path": "/css/*", "compress": "text/css", "compress-max": "200K"},
            "route:main/files": {"path": "/files/*", "compress-attachments": "on"},
            "route:main/small": {"path": "/small/*", "compress-min": "100"},
        },
    )
    same(
        [coding(ask(pawl, p)) for p in ("/off/x", "/css/x", "/css/html", "/files/x", "/small/x")],
        [None, None, None, "zstd", "zstd"],
        "first",
    )
    kept = ask(pawl, "/files/x")
    configuration = pawl.file.read_text()
    pawl.file.write_text(
        configuration.replace("compress = off", "compress = text")
        .replace("compress-max = 200K", "compress-max = 300K")
        .replace("compress-attachments = on", "compress-attachments = off")
    )
    import signal

    pawl.signal(signal.SIGHUP)
    wait_for(lambda: coding(ask(pawl, "/off/x")) == "zstd", what="the reload")
    same(
        [coding(ask(pawl, p)) for p in ("/off/x", "/css/x", "/css/html", "/files/x")],
        ["zstd", "zstd", None, None],
        "after a reload",
    )
    answer = rest(pawl, "/files/x", ALL, 1000, kept.get("ETag"))
    true((answer.status, answer.body) in ((206, kept.body[1000:]), (200, PAGE)), f"a form of before: {answer}")
    pawl.file.write_text(configuration)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: coding(ask(pawl, "/off/x")) is None, what="the reload back")
    again = ask(pawl, "/files/x")
    same((coding(again), again.get("ETag")), ("zstd", kept.get("ETag")), "the form is there still")


@check(
    "on a connection that stays, from memory and from disk: the same answers as at first, for each coding and none",
    area="compress",
    tags=("h2",),
)
def again_and_again(bench):
    origin = bench.origin()
    small = text("small", 5 * KIB, "json")
    for path, body, kind in (
        ("/large", PAGE, "text/html"),
        ("/small", small, "application/json"),
        ("/png", PAGE, "image/png"),
        ("/small.pbf", small, "application/x-protobuf"),
        ("/first.pbf", small, "application/x-protobuf"),
        ("/second.pbf", small, "application/x-protobuf"),
    ):
        origin.at(path, codes_itself(body, kind, KEPT, vary=()) if kind.endswith("protobuf") else page(body, kind))
    pawl = bench.pawl(origin, cache={"memory-object": "64K"})
    for path in ("/first.pbf", "/second.pbf", "/small.pbf"):
        ask(pawl, path)
    with Client(pawl.address) as client:
        for path, body, expected in (
            ("/large", PAGE, ("zstd", "br", "gzip", None)),
            ("/small", small, ("zstd", "br", "gzip", None)),
            ("/png", PAGE, (None,) * 4),
            ("/second.pbf", small, ("gzip zstd", "br", "gzip", None)),
            ("/small.pbf", small, ("zstd", "br", "gzip", None)),
            ("/first.pbf", small, ("zstd", "br", "gzip", None)),
        ):
            seen = {}
            for step in range(4):
                for codings, name in zip((ALL, "br", "gzip;q=0.5", None), expected):
                    client.request(path, fields=(("Accept-Encoding", codings),) if codings else ())
                    answer = client.response()
                    what = f"{path} for {codings}, {step}: {answer}"
                    same((answer.status, answer.complete, content(answer) == body), (200, True, True), what)
                    true(str(coding(answer)) in str(name).split(), f"{what}: {coding(answer)}, expected {name}")
                    true(path == "/png" or path.endswith("pbf") or len(varies(answer)) == 1, f"Vary of {what}")
                    same(seen.setdefault((coding(answer)), answer.get("ETag")), answer.get("ETag"), f"tag of {what}")
            same(len(set(seen.values())), len(seen), f"tags of {path}")
            # A part of each, by its tag.
            for name, tag in seen.items():
                client.request(
                    path,
                    fields=(("Range", "bytes=10-"), ("If-Range", tag)) + ((("Accept-Encoding", name),) if name else ()),
                )
                part = client.response()
                true(
                    part.status == 206 and coding(part) == name and part.get("ETag") == tag,
                    f"a part of {path} in {name}: {part}",
                )


# -- conditions and ranges
# -------------------------------------------------------------------------------------------------


@check(
    "304 and If-Match by the form's tag and by identity's, HEAD as GET, Vary on all of them",
    area="compress",
    tags=("h2",),
)
def conditions(bench):
    origin, pawl = setup(bench)
    plain, coded = ask(pawl, "/x", None), ask(pawl, "/x", "br")
    own, form = plain.get("ETag"), coded.get("ETag")
    for codings, tag in (
        ("br", form),
        ("br", own),
        (None, own),
        (ALL, form),
        ("br", "W/" + form),
        ("br", "*"),
        ("br", f'"zz", {form}'),
    ):
        answer = ask(pawl, "/x", codings, ("If-None-Match", tag))
        same(
            (answer.status, bool(varies(answer)), coding(answer)),
            (304, True, None),
            f"If-None-Match: {tag} of {codings}",
        )
        true(
            tag in ("*", "W/" + form) or answer.get("ETag") in tag,
            f"the tag that is told: {answer.get('ETag')} for {tag}",
        )
    # What the client holds it cannot read, as it says now: it gets the content again.
    same(ask(pawl, "/x", None, ("If-None-Match", form)).status, 200, "the form's tag of a client that takes no coding")
    for codings, tag, status in (
        ("br", form, 200),
        ("br", own, 200),
        (None, own, 200),
        ("br", form[:-3] + '00"', 412),
        ("br", "W/" + form, 412),
    ):
        same(ask(pawl, "/x", codings, ("If-Match", tag)).status, status, f"If-Match: {tag} of {codings}")
    for codings, full in (("br", coded), (None, plain)):
        head = ask(pawl, "/x", codings, method="HEAD")
        for name in ("ETag", "Content-Encoding", "Content-Length", "Vary", "Content-Type"):
            same(head.get(name), full.get(name), f"{name} of HEAD for {codings}")
    same(origin.count("/x"), 1, "requests to the origin")


@check(
    "Range is of identity, but with If-Range or If-Match that name the form; a date names no form",
    area="compress",
    tags=("h2",),
)
def ranges(bench):
    _, pawl = setup(bench, page(last_modified="old"))
    plain, coded = ask(pawl, "/x", None), ask(pawl, "/x", "br")
    own, form, date = plain.get("ETag"), coded.get("ETag"), plain.get("Last-Modified")
    bare = ("Range", "bytes=1000-")
    rows = [
        ("no condition", "br", (bare,), 206, None, PAGE[1000:]),
        ("identity's tag", "br", (bare, ("If-Range", own)), 206, None, PAGE[1000:]),
        ("the form's tag", "br", (bare, ("If-Range", form)), 206, "br", coded.body[1000:]),
        ("the form's tag beside others", ALL, (bare, ("If-Range", form)), 206, "br", coded.body[1000:]),
        ("the form's tag, weak", "br", (bare, ("If-Range", "W/" + form)), 200, None, None),
        ("the form's tag of who takes none", None, (bare, ("If-Range", form)), 200, None, PAGE),
        ("the form's tag of who takes another", "gzip", (bare, ("If-Range", form)), 200, None, None),
        ("a date of who takes codings", "br", (bare, ("If-Range", date)), 200, None, None),
        ("a date of who takes none", None, (bare, ("If-Range", date)), 206, None, PAGE[1000:]),
        ("If-Match with the form's", "br", (bare, ("If-Match", form)), 206, "br", coded.body[1000:]),
        ("If-Match with identity's", "br", (bare, ("If-Match", own)), 206, None, PAGE[1000:]),
        ("the last bytes", "br", (("Range", "bytes=-5"), ("If-Range", form)), 206, "br", coded.body[-5:]),
        ("one piece", "br", (("Range", "bytes=5-9"), ("If-Range", form)), 206, "br", coded.body[5:10]),
        ("behind the end", "br", (("Range", f"bytes={coded.count}-"), ("If-Range", form)), 416, None, None),
    ]
    for step in range(2):
        for what, codings, fields, status, name, body in rows:
            answer = ask(pawl, "/x", codings, *fields)
            same(answer.status, status, f"{what}: {answer}")
            if status == 206:
                same((coding(answer), answer.body == body), (name, True), what)
                same(answer.get("ETag"), form if name else own, f"{what}, tag")
                total = coded.count if name else len(PAGE)
                true((answer.get("Content-Range") or "").endswith(f"/{total}"), f"{what}: {answer}")
            elif status == 200:
                true(content(answer) == PAGE, f"{what}: the whole")
            true(varies(answer), f"{what}: Vary")
        pawl.restart(hard=step == 0)


NAMED = ("If-Range", "If-Unmodified-Since")


@check(
    "a date names no half of a compressed answer, not kept, purged, lost or configured away since: the whole comes; "
    "an image is resumed by it",
    area="compress",
)
def dated(bench):
    controls = {
        "no-store": "no-store",
        "private": "private",
        "image": "no-store",
        "film": "private",
        "kept-image": "max-age=600",
    }
    types = {"image": "image/png", "film": "video/mp4", "kept-image": "image/webp"}
    origin = bench.origin()

    def answer(request):
        case = request.path.split("/")[1]
        if request.method == "POST":
            return page(b"done", "text/plain")
        return page(
            PAGE,
            types.get(case, "text/plain"),
            (("Cache-Control", controls.get(case, "max-age=600")),),
            last_modified="old",
            ranges=True,
            etag='"o"' if request.path.endswith("tag") else None,
        )

    origin.default = answer
    cases = ("no-store", "private", "posted", "off", "small", "emptied")
    pawl = bench.pawl(
        origin,
        extra={
            "route:main/off": {"path": "/off/*", "compress": "text"},
            "route:main/small": {"path": "/small/*", "compress-max": "8M"},
        },
    )
    kinds = [f"{name}{tag}" for name in NAMED for tag in ("", "-tag")]
    held = {path: ask(pawl, path, "gzip") for path in (f"/{case}/{kind}" for case in cases for kind in kinds)}
    same({(a.status, coding(a), content(a) == PAGE) for a in held.values()}, {(200, "gzip", True)}, "first")

    def judge(*some, codings=("gzip",)):
        for path in (f"/{case}/{kind}" for case in some for kind in kinds):
            name, date = path.split("/")[2].removesuffix("-tag"), held[path].get("Last-Modified")
            for each in codings:
                answer = ask(pawl, path, each, ("Range", "bytes=5000-"), (name, date))
                same(
                    (answer.status, answer.complete, content(answer) == PAGE),
                    (200, True, True),
                    f"{path} for {each}: {answer}",
                )
            # A date is a name of the content as it is, where the client takes nothing else.
            answer = ask(pawl, path, None, ("Range", "bytes=5000-"), (name, date))
            same((answer.status, answer.body == PAGE[5000:]), (206, True), f"{path} for none: {answer}")

    for kind in kinds:
        same(ask(pawl, f"/posted/{kind}", None, method="POST", body=b"x").status, 200, "POST")
    judge("no-store", "private", "posted", codings=("gzip", ALL))
    pawl.file.write_text(
        pawl.file.read_text()
        .replace("compress = text", "compress = off")
        .replace("compress-max = 8M", "compress-max = 2K")
    )
    import signal

    pawl.signal(signal.SIGHUP)
    wait_for(lambda: {coding(ask(pawl, p)) for p in ("/off/probe", "/small/probe")} == {None}, what="the reload")
    judge("off", "small", codings=("gzip", ALL))
    pawl.kill()
    shutil.rmtree(pawl.folder / "cache")
    pawl.start()
    judge("emptied", codings=("gzip", ALL))
    for case in types:
        date = ask(pawl, f"/{case}/x").get("Last-Modified")
        for name in NAMED:
            answer = ask(pawl, f"/{case}/x", ALL, ("Range", "bytes=5000-"), (name, date))
            same(
                (answer.status, coding(answer), answer.body == PAGE[5000:]),
                (206, None, True),
                f"{case} by {name}: {answer}",
            )


@check(
    "a date names no half of a compressed answer of another type, which was named or found out once, after a reload, "
    "a restart or with an empty cache",
    area="compress",
)
def dated_otherwise(bench):
    import signal

    origin = bench.origin()
    new = {
        "off": ("compress = application/x-named", "compress = off"),
        "other": ("compress = application/x-named", "compress = text"),
        "reload": ("max-ranges = 50", "max-ranges = 49"),
    }
    origin.at("/probe", page(b"<p>x</p>" * 100))
    wrong = []
    for control in ("max-age=600", "no-store"):
        fields = (("Cache-Control", control),)
        for what in (*new, "restart", "emptied"):
            named = what in ("off", "other")
            pawl = bench.pawl(
                origin,
                name=control[:3] + what,
                site={"compress": "application/x-named"} if named else {"max-ranges": "50"},
            )
            path, options = f"/{control[:3]}{what}", {"last_modified": "old", "ranges": True}
            for n in range(4):
                origin.at(
                    f"{path}{n}.pbf",
                    page(type="application/x-named", fields=fields, **options)
                    if named
                    else codes_itself(type="application/x-protobuf", fields=fields, **options),
                )
                first = ask(pawl, f"{path}{n}.pbf", "gzip")
            same((coding(first), content(first) == PAGE), ("gzip", True), f"{path}: first")
            if what in new:
                pawl.file.write_text(
                    pawl.file.read_text().replace(*new[what])
                    + "[route:main/probe]\npath = /probe\ncompress = text\ncompress-min = 1\n"
                )
                pawl.signal(signal.SIGHUP)
                wait_for(lambda: coding(ask(pawl, "/probe", "gzip")) == "gzip", what="the reload")
            elif what == "restart":
                pawl.restart()
            else:
                pawl.kill()
                shutil.rmtree(pawl.folder / "cache")
                pawl.start()
            answer = ask(
                pawl, f"{path}3.pbf", "gzip", ("Range", "bytes=5000-"), ("If-Range", first.get("Last-Modified"))
            )
            if (answer.status, answer.complete, content(answer) == PAGE) != (200, True, True):
                wrong.append(f"{control} {what}: {answer.status} {coding(answer)}")
            pawl.end()
    same(wrong, [], "parts of the content as it is for who may hold half of a compressed one")


@check(
    "a range that is asked for of an answer that is not kept is of the content as it is, with its length and tag, "
    "though the whole comes",
    area="compress",
)
def ranges_unkept(bench):
    origin, pawl = setup(bench, page(fields=(("Cache-Control", "no-store"),), etag='"o"'))
    for fields in (
        (("Range", "bytes=0-"),),
        (("Range", "bytes=1000-"),),
        (("Range", "bytes=1000-"), ("If-Range", '"o"')),
        (("Range", "bytes=-5"),),
    ):
        for codings in ("gzip", ALL):
            answer = ask(pawl, "/x", codings, *fields)
            got = (
                answer.status,
                coding(answer),
                answer.get("ETag"),
                answer.length,
                answer.body == PAGE,
                len(varies(answer)),
            )
            same(got, (200, None, '"o"', len(PAGE), True, 1), f"{fields} for {codings}")
    same(coding(ask(pawl, "/x", "gzip")), "gzip", "the whole")


# -- growing, killed
# ---------------------------------------------------------------------------------------------------------


@check(
    "a cold slow body: its first bytes come at once, decodable, with a strong tag; cut and resumed by it while it "
    "grows",
    area="compress",
    tags=("h2",),
)
def cold(bench):
    for each in CODINGS:
        gate, second = threading.Event(), threading.Event()
        bench.stack.callback(gate.set)
        bench.stack.callback(second.set)
        body = text(each, 400 * KIB)
        origin = bench.origin()
        origin.at("/x", page(body, framing="chunked", gates=((100 * KIB, gate), (300 * KIB, second))))
        pawl = bench.pawl(origin, name=each)
        seen = bytearray()
        with Client(pawl.address, 20) as client:
            client.request("/x", fields=(("Accept-Encoding", each),))
            answer = client.response(sink=lambda data: (seen.extend(data), None)[1], limit=200)
            same(
                (answer.status, coding(answer), strong(answer), answer.get("Content-Length")),
                (200, each, True, None),
                f"{each}: the head",
            )
            tag = answer.get("ETag")
            true(body.startswith(beginning(each, seen)), f"{each}: its beginning")
        held = {}

        def follow():
            held["answer"] = rest(pawl, "/x", each, len(seen), tag)

        follower = threading.Thread(target=follow)
        follower.start()
        # How long the whole becomes is not known while it grows: a part has to wait for that (RFC 9110 14.4).
        gate.set()
        second.set()
        follower.join(20)
        last = held["answer"]
        same(
            (last.status, last.complete, decoded(each, bytes(seen) + last.body) == body),
            (206, True, True),
            f"{each}: the rest",
        )
        full = ask(pawl, "/x", each)
        same(
            (full.get("ETag"), full.body == bytes(seen) + last.body, full.length),
            (tag, True, full.count),
            f"{each}: whole",
        )
        same(origin.count("/x"), 1, f"{each}: requests to the origin")


@check("a cold body that stops is decodable as far as it came within a moment", area="compress", tags=("h2",))
def flushed(bench):
    gate = threading.Event()
    bench.stack.callback(gate.set)
    body = text("stops", 300 * KIB)
    origin = bench.origin()
    origin.at("/x", page(body, framing="chunked", gates=((100 * KIB, gate),)))
    pawl = bench.pawl(origin)
    for each in CODINGS:
        seen, done = bytearray(), threading.Event()
        client = bench.use(Client(pawl.address, 20))
        client.request("/x", fields=(("Accept-Encoding", each),))

        def read(client=client, seen=seen, done=done):
            client.response(sink=seen.extend)
            done.set()

        threading.Thread(target=read, daemon=True).start()
        wait_for(lambda: len(beginning(each, bytes(seen))) >= 100 * KIB - 4096, 10, f"{each}: what has come", step=0.1)
    gate.set()
    true(done.wait(10), "the end")


@check(
    "a part of a form that grows is waited for five seconds, then what is there comes from its beginning; of the "
    "content as it is at once",
    area="compress",
)
def waited(bench):
    gate = threading.Event()
    bench.stack.callback(gate.set)
    body, stop = text("waited", 6 * MIB), 4 * MIB
    origin = bench.origin()
    for each in CODINGS + ("identity",):
        origin.at("/" + each, page(body, etag='"o"', ranges=True, gates=((stop, gate),)))
    pawl = bench.pawl(origin)
    took = {}

    def resume(each):
        first = bench.use(Client(pawl.address, 30))
        first.request("/" + each, fields=(("Accept-Encoding", each),))
        begun = first.response(limit=100 * KIB)
        begin = time.monotonic()
        with Client(pawl.address, 30) as client:
            client.request(
                "/" + each,
                fields=(("Accept-Encoding", each), ("Range", f"bytes={50 * KIB}-"), ("If-Range", begun.get("ETag"))),
            )
            answer = client.response(limit=100 * KIB)
        took[each] = begun, answer, time.monotonic() - begin

    threads = [threading.Thread(target=resume, args=(each,)) for each in CODINGS + ("identity",)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each, (begun, answer, seconds) in took.items():
        if each == "identity":
            same(
                (answer.status, answer.body == body[50 * KIB : 150 * KIB], seconds < 3),
                (206, True, True),
                f"{each} after {seconds:.1f} s: {answer}",
            )
        else:
            same(
                (coding(begun), answer.status, seconds < 9),
                (each, 200, True),
                f"{each} after {seconds:.1f} s: {answer}",
            )
            seen = beginning(each, answer.body) if coding(answer) else answer.body
            true(seen and body.startswith(seen), f"{each}: its beginning")


@check(
    "kill -9 while a form grows: whoever goes on by its tag gets its rest or the whole, and never a mix",
    area="compress",
)
def killed(bench):
    for each in CODINGS:
        for pauses in (0, 7):
            body = text(f"killed{each}{pauses}", 900 * KIB)
            origin = bench.origin()
            gate = threading.Event()
            bench.stack.callback(gate.set)
            origin.at(
                "/x",
                lambda r, body=body, gate=gate, pauses=pauses: page(
                    body,
                    etag='"k"',
                    ranges=True,
                    last_modified="old",
                    pace=4e5 if pauses and r.serial == 0 else None,
                    gates=((700 * KIB, gate),) if r.serial == 0 else (),
                ),
            )
            pawl = bench.pawl(origin, name=f"{each}{pauses}")
            seen = bytearray()
            client = bench.use(Client(pawl.address, 20))
            client.request("/x", fields=(("Accept-Encoding", each),))
            tags = []

            def read():
                client.response(sink=seen.extend, on_head=lambda a: tags.append(a.get("ETag")))

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            wait_for(lambda: len(beginning(each, bytes(seen))) >= 650 * KIB, 15, f"{each}: most of it", step=0.1)
            pawl.kill()
            reader.join(10)
            gate.set()
            pawl.start()
            answer = rest(pawl, "/x", each, len(seen), tags[0])
            if answer.status == 206:
                same(answer.get("ETag"), tags[0], f"{each}, {pauses}: the tag")
                same(decoded(each, bytes(seen) + answer.body) == body, True, f"{each}, {pauses}: the parts together")
            else:
                same(
                    (answer.status, answer.complete, content(answer) == body),
                    (200, True, True),
                    f"{each}, {pauses}: the whole",
                )
            full = ask(pawl, "/x", each)
            same((content(full) == body, full.hit), (True, True), f"{each}, {pauses}: afterwards")
            pawl.end()


@check(
    "kill -9 at once after an answer: its complete form is there with its tag, or another with another", area="compress"
)
def killed_after(bench):
    _, pawl = setup(bench)
    for each in CODINGS:
        first = ask(pawl, "/x", each)
        pawl.kill()
        pawl.start()
        answer = rest(pawl, "/x", each, 1000, first.get("ETag"))
        if answer.status == 206:
            same((coding(answer), answer.body == first.body[1000:]), (each, True), f"{each}: {answer}")
        else:
            same((answer.status, content(answer) == PAGE), (200, True), f"{each}: {answer}")
        second = ask(pawl, "/x", each)
        true(second.get("ETag") != first.get("ETag") or second.body == first.body, f"{each}: one tag, other bytes")
        same(content(second) == PAGE, True, each)
    pawl.restart()
    for each in CODINGS:
        answer = ask(pawl, "/x", each)
        same(
            (content(answer) == PAGE, strong(answer), answer.length),
            (True, True, answer.count),
            f"{each} after a restart",
        )


@check(
    "a form that is damaged on disk is made anew, running or stopped; none of its wrong bytes are given",
    area="compress",
)
def damaged(bench):
    for hurt in ("changed", "shorter", "gone"):
        for stopped in (True, False):
            origin = bench.origin()
            origin.at("/x", page())
            pawl = bench.pawl(origin, name=f"{hurt}{stopped}", cache={"memory-object": "0", "packed-object": "0"})
            plain, first = ask(pawl, "/x", None), ask(pawl, "/x", "br")
            forms = [p for p in pawl.body_files() if p.stat().st_size == first.count]
            same(len(forms), 1, "files of the form")
            if stopped:
                pawl.stop()
            octets = bytearray(forms[0].read_bytes())
            octets[len(octets) // 2] ^= 0xFF
            if hurt == "gone":
                forms[0].unlink()
            else:
                with open(forms[0], "r+b") as file:
                    file.write(octets) if hurt == "changed" else file.truncate(len(octets) // 2)
            if stopped:
                pawl.start()
            good = 0
            for step in range(4):
                answer = ask(pawl, "/x", "br")
                if answer.complete:
                    same(
                        (answer.status, content(answer) == PAGE),
                        (200, True),
                        f"{hurt}, stopped {stopped}, {step}: {answer}",
                    )
                    good += 1
                else:
                    true(first.body.startswith(answer.body), f"{hurt}, stopped {stopped}, {step}: wrong bytes")
            true(good >= 3, f"{hurt}, stopped {stopped}: {good} of 4 answers are whole")
            answer = rest(pawl, "/x", "br", 1000, first.get("ETag"))
            true(
                (answer.status, answer.body) == (206, first.body[1000:])
                or answer.status == 200
                and content(answer) == PAGE,
                f"{hurt}: {answer}",
            )
            same((ask(pawl, "/x", None).get("ETag"), origin.count("/x")), (plain.get("ETag"), 1), f"{hurt}: identity")
            pawl.end()


@check(
    "a part of a form that is damaged on disk is never of wrong bytes: a right beginning, cut, or the whole; then "
    "all is whole again",
    area="compress",
)
def damaged_part(bench):
    body = text("damaged", 3 * MIB)
    for stopped in (False, True):
        for tag in (None, '"o"'):
            origin = bench.origin()
            origin.at("/x", page(body, etag=tag, ranges=tag is not None))
            pawl = bench.pawl(origin, name=f"{stopped}{bool(tag)}", cache={"memory-object": "0"})
            ask(pawl, "/x", "gzip")
            first = ask(pawl, "/x", "gzip")
            forms = wait_for(
                lambda: [p for p in pawl.body_files() if p.stat().st_size == first.count], what="the form's file"
            )
            if stopped:
                pawl.stop()
            with open(forms[0], "r+b") as file:
                file.seek(first.count // 2)
                octets = file.read(50)
                file.seek(first.count // 2)
                file.write(bytes(o ^ 1 for o in octets))
            if stopped:
                pawl.start()
            what = f"stopped {stopped}, {tag}"
            for step in range(3):
                answer = rest(pawl, "/x", "gzip", 100_000, first.get("ETag"))
                if answer.status == 206:
                    part = first.body[100_000:]
                    true(
                        answer.body == part if answer.complete else part.startswith(answer.body),
                        f"{what}, {step}: wrong bytes: {answer}",
                    )
                else:
                    same(
                        (answer.status, answer.complete, content(answer) == body),
                        (200, True, True),
                        f"{what}, {step}: {answer}",
                    )
                for codings in ("gzip", "br", None):
                    answer = ask(pawl, "/x", codings)
                    same(
                        (answer.status, coding(answer), answer.complete and content(answer) == body),
                        (200, codings, True),
                        f"{what}, {step}, {codings}: {answer}",
                    )
                    true(
                        codings != "gzip" or answer.get("ETag") != first.get("ETag") or answer.body == first.body,
                        f"{what}: one tag, other bytes",
                    )
            pawl.end()


@check(
    "a form's tag is resumed where its content's is, also with no-cache and max-age=0, and for as many requests to "
    "the origin",
    area="compress",
)
def resumed_alike(bench):
    body = text("alike", 3 * MIB // 2)
    for name, site in (("plain", None), ("no-cache", {"resume-ttl-no-cache": "on"})):
        origin = bench.origin()
        pawl = bench.pawl(origin, name=name, site=site)
        for control in ("no-cache", "max-age=0", "must-revalidate, max-age=0"):
            for tag in (None, 'W/"w"'):
                got = {}
                for codings in (None, "gzip", "zstd"):
                    path = f"/{control[:8]}-{bool(tag)}-{codings}"
                    origin.at(path, page(body, fields=(("Cache-Control", control),), etag=tag, conditional=False))
                    ask(pawl, path, codings)
                    first = ask(pawl, path, codings)
                    count = origin.count(path)
                    answer = rest(pawl, path, codings, 1000, first.get("ETag") or '""')
                    got[codings] = answer.status, coding(answer), origin.count(path) - count
                    true(
                        answer.status != 206 or answer.body == first.body[1000:],
                        f"{name}, {control}, {tag}, {codings}: {answer}",
                    )
                same([status for status, _, _ in got.values()], [206] * 3, f"{name}, {control}, {tag}: {got}")
                same(
                    (len({count for _, _, count in got.values()}), [c for _, c, _ in got.values()]),
                    (1, [None, "gzip", "zstd"]),
                    f"{name}, {control}, {tag}: {got}",
                )


@check(
    "half of a form goes on, or the new whole comes, when the content changed; an equal re-fetch keeps the form's tag",
    area="compress",
)
def changed(bench):
    new = text("new", 300 * KIB, "markup")
    for ttl in ("0s", "1h"):
        origin = bench.origin()
        state = {"body": PAGE}
        origin.at("/x", lambda r: page(state["body"], fields=(("Cache-Control", "max-age=0"),)))
        pawl = bench.pawl(origin, name="ttl" + ttl, site={"resume-ttl": ttl})
        first = ask(pawl, "/x", "br")
        # The origin gives no validator: what it gives again is compared.
        answer = rest(pawl, "/x", "br", 1000, first.get("ETag"))
        same((answer.status, answer.body == first.body[1000:]), (206, True), f"{ttl}: at an equal re-fetch: {answer}")
        again = ask(pawl, "/x", "br")
        same((content(again) == PAGE, origin.count("/x")), (True, 3 if ttl == "0s" else 2), f"{ttl}: fetched again")
        answer = rest(pawl, "/x", "br", 1000, again.get("ETag"))
        same(
            (answer.status, answer.body == again.body[1000:]),
            (206, True),
            f"{ttl}: by the tag of the second one: {answer}",
        )
        state["body"] = new
        ask(pawl, "/x", "br")
        answer = rest(pawl, "/x", "br", 1000, first.get("ETag"))
        if answer.status == 206:
            same(
                (answer.body == first.body[1000:], answer.get("ETag")),
                (True, first.get("ETag")),
                f"{ttl}: the old rest",
            )
        else:
            same((answer.status, content(answer) == new), (200, True), f"{ttl}: {answer}")
        same(content(ask(pawl, "/x", "br")) == new, True, f"{ttl}: the new one")
    # By 304 it is the same body, and the same form.
    origin, pawl = setup(bench, page(etag='"v"', fields=(("Cache-Control", "max-age=0"),)), name="by304")
    one, two = ask(pawl, "/x", "zstd"), ask(pawl, "/x", "zstd")
    same((one.get("ETag"), [r.status for r in origin.of("/x")]), (two.get("ETag"), [200, 304]), "confirmed by 304")


@check("a form goes with its body, and is evicted like one", area="compress")
def evicted(bench):
    origin = bench.origin()
    count, size = 24, 1 * MIB
    for n in range(count):
        origin.at(f"/{n}", page(text(f"e{n}", size, "numbers")))
    pawl = bench.pawl(origin, cache={"max-size": "12M"})
    tags = {}
    for n in range(count):
        answer = ask(pawl, f"/{n}", "gzip")
        same(content(answer) == text(f"e{n}", size, "numbers"), True, f"/{n}")
        tags[n] = answer
    files = sum(p.stat().st_blocks * 512 for p in pawl.body_files())
    true(files <= 14 * MIB, f"{files} bytes of files")
    for n in (0, count // 2, count - 1):
        answer = rest(pawl, f"/{n}", "gzip", 1000, tags[n].get("ETag"))
        true(
            answer.status == 206
            and answer.body == tags[n].body[1000:]
            or answer.status == 200
            and content(answer) == text(f"e{n}", size, "numbers"),
            f"/{n}: {answer}",
        )


# -- what is not kept
# --------------------------------------------------------------------------------------------------------


@check(
    "what is not kept is coded on its way: no length, no Accept-Ranges, no digests, a weak tag; decodable in every "
    "framing",
    area="compress",
    tags=("h2",),
)
def streamed(bench):
    origin = bench.origin()
    said = (("Cache-Control", "no-store"), ("Repr-Digest", "sha-256=:AAAA:"), ("Content-Digest", "sha-256=:AAAA:"))
    pawl = bench.pawl(origin, extra={"route:main/none": {"path": "/none/*", "cache": "off"}})
    for framing in ("length", "chunked", "close"):
        path = f"/{framing}"
        origin.at(path, page(fields=said, etag='"s"', framing=framing, ranges=True))
        for each in CODINGS:
            answer = ask(pawl, path, each)
            same(
                (answer.status, coding(answer), answer.complete, content(answer) == PAGE),
                (200, each, True, True),
                f"{path}, {each}",
            )
            same(
                [answer.get(n) for n in ("Content-Length", "Accept-Ranges", "Repr-Digest", "Content-Digest")],
                [None] * 4,
                f"{path}, {each}",
            )
            same((answer.get("ETag"), len(varies(answer))), ('W/"s"', 1), f"{path}, {each}")
        plain = ask(pawl, path, None)
        same((plain.get("ETag"), plain.body == PAGE, len(varies(plain))), ('"s"', True, 1), f"{path}, plain")
        head = ask(pawl, path, "br", method="HEAD")
        same((coding(head), head.get("ETag"), head.get("Content-Length")), ("br", 'W/"s"', None), f"HEAD of {path}")
        part = ask(pawl, path, "br", ("Range", "bytes=1000-"))
        same((part.status, coding(part), part.body == PAGE[1000:]), (206, None, True), f"a part of {path}")
    # Where nothing is kept at all, the origin is asked as the client asks.
    origin.at("/none/x", codes_itself(etag='"n"'))
    answer = ask(pawl, "/none/x", "br, gzip")
    same(
        (coding(answer), content(answer) == PAGE, origin.of("/none/x")[0].get("Accept-Encoding")),
        ("gzip", True, "br, gzip"),
        "cache = off",
    )


@check("a stream without an end that is cut by its origin ends visibly in its coding, too", area="compress")
def broken(bench):
    from harness.origin import Break

    origin, pawl = setup(
        bench,
        page(fields=(("Cache-Control", "no-store"),), framing="chunked", breaks=lambda s, e: Break(100 * KIB)),
        upstream={"resume-attempts": "1"},
    )
    for each in CODINGS:
        answer = ask(pawl, "/x", each)
        same((coding(answer), answer.complete), (each, False), f"{each}: {answer}")
        true(PAGE.startswith(beginning(each, answer.body)), f"{each}: its beginning")


@check("an event stream only where it is named, and then each event at once", area="compress", tags=("h2",))
def events(bench):
    gates = [threading.Event() for _ in range(5)]
    for each in gates:
        bench.stack.callback(each.set)
    lines = [b"data: %d %s\n\n" % (n, text(n, 300).replace(b"\n", b" ")) for n in range(6)]
    body = b"".join(lines)
    ends = [sum(map(len, lines[: n + 1])) for n in range(5)]
    origin = bench.origin()

    def stream(request):
        held = request.serial and zip(ends, gates) or ()
        return page(
            body,
            type="text/event-stream",
            framing="chunked",
            fields=(("Cache-Control", "no-store"),),
            gates=tuple(held),
        )

    for path in ("/plain/x", "/named/zstd", "/named/br", "/named/gzip"):
        origin.at(path, stream)
    pawl = bench.pawl(origin, extra={"route:main/named": {"path": "/named/*", "compress": "text/*, text/event-stream"}})
    answer = ask(pawl, "/plain/x")
    same((coding(answer), answer.body, varies(answer)), (None, body, []), "not named")
    for each in CODINGS:
        for gate in gates:
            gate.clear()
        same(coding(ask(pawl, f"/named/{each}", each)), each, "named")
        seen = bytearray()
        client = bench.use(Client(pawl.address, 20))
        client.request(f"/named/{each}", fields=(("Accept-Encoding", each),))
        reader = threading.Thread(target=lambda: client.response(sink=seen.extend), daemon=True)
        reader.start()
        for n, gate in enumerate(gates):
            wait_for(lambda: beginning(each, bytes(seen)) == body[: ends[n]], 5, f"{each}: event {n}", step=0.05)
            gate.set()
        reader.join(10)
        same(decoded(each, bytes(seen)), body, f"{each}: all of it")


@check(
    "of the digests in an answer's trailers nothing is said behind coded content; of the content as it is they stay",
    area="compress",
)
def trailers(bench):
    origin = bench.origin()
    said = tuple((name, "sha-256=:AAAA:") for name in ("Repr-Digest", "Content-Digest")) + (("X-Other", "1"),)
    pawl = bench.pawl(origin)
    for control in ("no-store", "private", "max-age=600"):
        path = "/" + control
        origin.at(path, page(fields=(("Cache-Control", control),), framing="chunked", trailers=said))
        for each in CODINGS + (None,):
            answer = ask(pawl, path, each, ("TE", "trailers"))
            same(
                (answer.status, coding(answer), answer.complete, content(answer) == PAGE),
                (200, each, True, True),
                f"{path}, {each}",
            )
            digests = [name for name, _ in answer.trailers if "digest" in name.lower()]
            true(each is None or not digests, f"{path}, {each}: {answer.trailers}")
            true(each is not None or control != "no-store" or len(digests) == 2, f"{path}, as it is: {answer.trailers}")


@check(
    "one client's answers hold 32 MiB of encoders at most; beyond that they come as they are, and everybody else's "
    "are compressed",
    area="compress",
)
def share(bench):
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin, count = bench.origin(), 24
    unkept = (("Cache-Control", "no-store"),)
    origin.at(
        "/slow", lambda r: page(text("hog", 4 * MIB), fields=unkept, framing="chunked", gates=((256 * KIB, gate),))
    )
    origin.at("/x", page(fields=unkept))
    origin.at("/kept", page())
    pawl = bench.pawl(origin, upstream={"max-connections": "100"})

    def from_address(source, path, codings):
        with Client(pawl.address, 20, source=source) as client:
            client.request(path, fields=(("Accept-Encoding", codings),))
            return client.response()

    clients = [bench.use(Client(pawl.address, 20, source="127.0.0.2")) for _ in range(count)]
    for client in clients:
        client.request("/slow", fields=(("Accept-Encoding", "zstd"),))
    got = [coding(client.response(limit=1)) for client in clients]
    # The encoder of a stream of zstd holds some 1.9 MiB.
    true(14 <= got.count("zstd") <= 17 and got.count(None) == count - got.count("zstd"), f"of one client: {got}")
    same(
        (coding(from_address("127.0.0.2", "/x", "zstd")), coding(from_address("127.0.0.2", "/kept", "zstd"))),
        (None, "zstd"),
        "one more of it; what is kept",
    )
    for source in ("127.0.0.1", "127.0.0.3"):
        same([coding(from_address(source, "/x", each)) for each in CODINGS], list(CODINGS), f"of {source}")
    for client in clients:
        client.reset()
    gate.set()
    wait_for(lambda: coding(from_address("127.0.0.2", "/x", "zstd")) == "zstd", what="room, after they left")


# -- whose answer
# ------------------------------------------------------------------------------------------------------------

COOKIE, LOGIN = ("Cookie", "sid=1"), ("Authorization", "Basic eDp5")


def codes_itself(
    body=PAGE, type="text/html", fields=(("Cache-Control", "private"),), vary=(("Vary", "Accept-Encoding"),), **more
):
    """An origin's answer that it compresses where it is asked for gzip; without Vary as nginx by its defaults."""

    def answer(request):
        if "gzip" in (request.get("Accept-Encoding") or ""):
            return page(gzip.compress(body), type, tuple(fields) + (("Content-Encoding", "gzip"),) + vary, **more)
        return page(body, type, tuple(fields) + vary, **more)

    return answer


@check(
    "pages of users only where the application compresses them, which one answer tells; compress-credentials says "
    "otherwise",
    area="compress",
    tags=("h2",),
)
def credentials(bench):
    origin = bench.origin()
    for prefix in ("/does", "/does-not", "/on", "/off"):
        for n in range(6):
            origin.at(
                f"{prefix}/{n}",
                codes_itself() if prefix != "/does-not" else page(fields=(("Cache-Control", "private"),)),
            )
    names = {prefix[1:]: {"path": prefix + "/*"} for prefix in ("/does", "/does-not", "/on", "/off")}
    names["on"]["compress-credentials"], names["off"]["compress-credentials"] = "on", "off"
    pawl = bench.pawl(origin, extra={f"route:main/{n}": keys for n, keys in names.items()})
    for who in (COOKIE, LOGIN):
        got = {name: [coding(ask(pawl, f"/{name}/0", ALL, who)) for _ in range(4)] for name in names}
        first = "gzip" if who is COOKIE else "zstd"
        same(
            got,
            {"does": [first, "zstd", "zstd", "zstd"], "does-not": [None] * 4, "on": ["zstd"] * 4, "off": [None] * 4},
            f"with {who[0]}",
        )
    asked = origin.of("/does/0")[0]
    same(
        (asked.get("Accept-Encoding"), asked.get("Via"), asked.get("CDN-Loop")),
        (ALL, None, "pawl"),
        "the request that learns",
    )
    for path in ("/does/0", "/does-not/0"):
        same([r.get("Accept-Encoding") for r in origin.of(path)], [ALL] + ["identity"] * 7, f"of {path} one finds out")
    same(
        {r.get("Accept-Encoding") for r in origin.requests if r.target in ("/on/0", "/off/0")},
        {"identity"},
        "all others",
    )
    # Another page of the same type may be one that the application leaves as it is.
    origin.at("/does/plain", page(fields=(("Cache-Control", "private"),)))
    same([coding(ask(pawl, "/does/plain", ALL, COOKIE)) for _ in range(3)], [None] * 3, "a page beside it")
    for n in range(4):
        for name in names:
            answer = ask(pawl, f"/{name}/{n}", ALL, COOKIE)
            same(content(answer) == PAGE, True, f"/{name}/{n}")
    same(coding(ask(pawl, "/does/5", None, COOKIE)), None, "who takes none")


@check(
    "what was learnt by is for those alone who take its coding, though the origin does not say Vary", area="compress"
)
def learnt_by(bench):
    origin = bench.origin()
    for path in ("/x", "/a.pbf", "/b.pbf", "/c.pbf"):
        origin.at(
            path, codes_itself(type="text/html" if path == "/x" else "application/x-protobuf", fields=KEPT, vary=())
        )
    pawl = bench.pawl(origin)
    first = ask(pawl, "/x", "gzip", COOKIE)
    same((coding(first), content(first) == PAGE), ("gzip", True), "the one that teaches")
    for codings, who, expected in (
        (None, (COOKIE,), None),
        ("br", (COOKIE,), "br"),
        ("zstd", (), "zstd"),
        ("gzip", (COOKIE,), "gzip"),
        (None, (), None),
    ):
        for step in range(2):
            answer = ask(pawl, "/x", codings, *who)
            same((coding(answer), content(answer) == PAGE), (expected, True), f"for {codings}, {who}, {step}")
    tags = {c: ask(pawl, "/x", c, COOKIE).get("ETag") for c in (None, "br", "gzip")}
    same(len(set(tags.values())), 3, f"one tag over two codings: {tags}")
    same(coding(ask(pawl, "/a.pbf")), None, "the first of its ending")
    for path in ("/b.pbf", "/c.pbf", "/b.pbf", "/c.pbf"):
        for codings, expected in ((ALL, ("gzip", "zstd")), (None, (None,)), ("br", ("br",))):
            answer = ask(pawl, path, codings)
            same((coding(answer) in expected, content(answer) == PAGE), (True, True), f"{path} for {codings}: {answer}")
    ask(pawl, "/a.pbf")
    same(coding(ask(pawl, "/a.pbf")), "zstd", "the first of its ending, afterwards")


@check(
    "what an origin compresses is learnt by media type, and of requests with cookies or credentials from such "
    "requests alone",
    area="compress",
)
def lessons(bench):
    origin = bench.origin()

    def answer(request):
        name, own = request.path.rpartition("/")[2], (("Cache-Control", "private"),)
        personal = request.get("Cookie") or request.get("Authorization")
        if name.endswith(".css"):
            return codes_itself(type="text/css")(request)
        if name == "pic":
            return page(type="image/png")
        return page(fields=own) if personal else codes_itself()(request)

    origin.default = answer
    firsts = {
        "strangers": (("pic", ()), ("", ()), ("", ())),
        "styles": (("a.css", (COOKIE,)), ("b.css", (COOKIE,))),
        "login": (("a.css", (LOGIN,)), ("b.css", ())),
    }
    pawl = bench.pawl(origin, extra={f"route:main/{name}": {"path": f"/{name}/*"} for name in firsts})
    for name, rows in firsts.items():
        for path, who in rows:
            answer = ask(pawl, f"/{name}/{path}", "gzip", *who)
            same(
                (coding(answer), content(answer) == PAGE), (None if path == "pic" else "gzip", True), f"{name}: {path}"
            )
        for who in (COOKIE, LOGIN):
            for path in ("account.php", "account.php", "other.php"):
                answer = ask(pawl, f"/{name}/{path}", ALL, who)
                same((coding(answer), answer.body == PAGE), (None, True), f"after {name}: {path} of a user by {who[0]}")
        same(
            [r.get("Accept-Encoding") for r in origin.of(f"/{name}/account.php")],
            [ALL] + ["identity"] * 3,
            f"{name}: what the origin is asked",
        )
    same(
        [coding(ask(pawl, "/styles/c.css", c, COOKIE)) for c in (ALL, "br")],
        ["zstd", "br"],
        "what it compresses for users",
    )
    same(origin.of("/styles/c.css")[0].get("Accept-Encoding"), "identity", "asked once for each kind")


@check("answers that say nothing of what their origin compresses teach nothing: the next request asks", area="compress")
def silent(bench):
    origin = bench.origin()
    own = (("Cache-Control", "private"), ("Vary", "Accept-Encoding"))
    firsts = {
        "br": ("x", "br", {}, None),
        "json": ("a.json", "gzip", {}, page(type="application/json", fields=own)),
        "tiny": ("tiny", "gzip", {}, page(b"<p>x", fields=own, framing="chunked")),
        "short": ("short", "gzip", {}, page(b"<p>x", fields=own)),
        "endless": ("endless", "gzip", {}, page(fields=own, framing="chunked")),
        "missing": ("missing", "gzip", {}, page(fields=own, status=404)),
        "fixed": ("fixed", "gzip", {}, page(fields=(("Cache-Control", "private, no-transform"),))),
        "moved": ("moved", "gzip", {}, page(b"", status=302, fields=(("Location", "/x"),))),
        "head": ("x", "gzip", {"method": "HEAD"}, None),
        "post": ("x", "gzip", {"method": "POST", "body": b"x"}, None),
        "nothing": ("x", None, {}, None),
    }
    pawl = bench.pawl(origin, extra={f"route:main/{name}": {"path": f"/{name}/*"} for name in firsts})
    for name, (first, codings, options, resource) in firsts.items():
        origin.at(f"/{name}/x", codes_itself())
        if resource:
            origin.at(f"/{name}/{first}", resource)
        ask(pawl, f"/{name}/{first}", codings, COOKIE, **options)
        got = []
        for n in range(3):
            answer = ask(pawl, f"/{name}/x", "gzip, deflate, br", ("Cookie", f"sid={n}"))
            same(content(answer) == PAGE, True, f"after {name}: {answer}")
            got.append(coding(answer))
        same(
            got,
            ["gzip", "br", "br"],
            f"after {name}: "
            f"{[(r.target, r.method, r.get('Accept-Encoding')) for r in origin.requests if name in r.target]}",
        )


@check(
    "a request that was to find out and got no answer, by its origin's fault or its client's, keeps nobody else from "
    "asking",
    area="compress",
)
def unanswered(bench):
    origin, gate = bench.origin(), threading.Event()
    bench.stack.callback(gate.set)
    pawl = bench.pawl(
        origin,
        extra={f"route:main/{n}": {"path": f"/{n}/*"} for n in ("rst", "close", "gone")},
        upstream={"max-connections": "20"},
    )
    wrong = {}
    for name in ("rst", "close", "gone"):
        first, path = f"/{name}/first", f"/{name}/x"
        origin.at(path, codes_itself())
        origin.at(
            first, (lambda r, name=name: (b"", name)) if name != "gone" else page(before_head=lambda r: gate.wait(10))
        )
        if name == "gone":
            client = Client(pawl.address, 20)
            client.request(first, fields=(("Accept-Encoding", "gzip"), COOKIE))
            wait_for(lambda: origin.count(first), what="the request at the origin")
            client.reset()
            wait_for(lambda: pawl.access(first), what="its line in the log")
        else:
            same(ask(pawl, first, "gzip", COOKIE).status, 502, name)
        got = [coding(ask(pawl, path, "gzip", COOKIE)) for _ in range(3)]
        if got != ["gzip"] * 3:
            wrong[name] = got
    same(wrong, {}, "after it")


@check(
    "what an origin compresses is asked at most once a minute for each path ending; only requests that take gzip "
    "ask, and no HEAD",
    area="compress",
)
def asked_seldom(bench):
    origin = bench.origin()
    rows = {
        # Of requests with cookies the first for each page asks, and of styles the first of all.
        "users": (
            COOKIE,
            (
                ("a", "text/html", "gzip", "gzip"),
                ("b", "application/json", "br", None),
                ("b", "application/json", "gzip", "gzip"),
                ("d", "text/html", "gzip", "gzip"),
                ("e.json", "application/json", "gzip", "gzip"),
                ("f.css", "text/css", "gzip", "gzip"),
                ("g.CSS", "text/css", "br", "br"),
                ("h.js", "text/javascript", "br", None),
            ),
            {"a", "b", "d", "e.json", "f.css"},
        ),
        # Of others the one behind an answer of a type that is not listed.
        "strangers": (
            (),
            (
                ("a", "text/html", "gzip", "gzip"),
                ("b", "font/x", "gzip", None),
                ("c", "font/x", "br", None),
                ("d", "font/x", None, None),
                ("e", "font/x", "gzip", "gzip"),
                ("f", "font/y", "gzip", None),
                ("g", "font/y", "gzip", None),
                ("h", "font/x", "br", "br"),
                ("i.y", "font/y", "gzip", None),
                ("j.y", "font/y", "gzip", "gzip"),
                ("k", "font/y", "gzip", "gzip"),
            ),
            {"e", "j.y"},
        ),
    }
    pawl = bench.pawl(origin, extra={f"route:main/{name}": {"path": f"/{name}/*"} for name in rows})
    for name, (who, paths, expected) in rows.items():
        asked = set()
        for path, type, codings, result in paths:
            origin.at(
                f"/{name}/{path}", codes_itself(type=type, fields=KEPT if not who else (("Cache-Control", "private"),))
            )
            if not path.startswith("a"):
                same(
                    ask(pawl, f"/{name}/{path}", "br", *((who,) if who else ()), method="HEAD").status,
                    200,
                    f"{name}: HEAD of {path}",
                )
            answer = ask(pawl, f"/{name}/{path}", codings, *((who,) if who else ()))
            same((coding(answer), content(answer) == PAGE), (result, True), f"{name}: {path} for {codings}: {answer}")
            asked |= {path for r in origin.of(f"/{name}/{path}") if r.get("Accept-Encoding") not in ("identity", None)}
        same(asked, expected, f"{name}: what finds out")


@check(
    "one image does not have all pages asked for twice: one request finds out, the others are of one answer",
    area="compress",
)
def one_question(bench):
    for stored, seen in (("pic", ()), ("pic", (COOKIE,)), (None, ())):
        origin = bench.origin()
        origin.at("/pic", page(type="image/png"))
        pages = [f"/page{n}" for n in range(4)]
        for path in pages:
            origin.at(path, codes_itself(fields=(("Cache-Control", "public, max-age=600"),), vary=()))
        pawl = bench.pawl(origin, name=f"{stored}{len(seen)}")
        if stored:
            ask(pawl, "/pic", "gzip")
        for path in pages:
            for codings, expected in (
                ("gzip", "gzip"),
                (None, None),
                ("br", "br"),
                ("identity", None),
                ("zstd", "zstd"),
                ("gzip, br", ("br", "gzip")),
                ("gzip;q=0.5", "gzip"),
                ("deflate", None),
            ):
                answer = ask(pawl, path, codings, *seen)
                true(
                    coding(answer) == expected or coding(answer) in (expected or ()), f"{path} for {codings}: {answer}"
                )
                same(content(answer) == PAGE, True, f"{path} for {codings}")
        counts = [origin.count(path) for path in pages]
        # Of what is with cookies each page is asked about.
        true(
            max(counts) <= 2 if seen else counts[0] <= 2 and counts[1:] == [1] * 3,
            f"{stored}, {seen}: requests to the origin: {counts}",
        )


@check(
    "the answer that finds out what the origin compresses says Vary, and goes to those alone who take its coding",
    area="compress",
)
def finding_out(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, extra={f"route:main/{n}": {"path": f"/{n}/*"} for n in range(5)})
    for n, control in enumerate(("public, max-age=600", "max-age=600", "private", "no-store", "no-cache")):
        origin.at(f"/{n}/x", codes_itself(fields=(("Cache-Control", control),), vary=()))
        for step in range(2):
            for codings, expected in (
                ("gzip", "gzip"),
                (None, None),
                ("br", "br"),
                ("gzip", "gzip"),
                ("identity", None),
            ):
                answer = ask(pawl, f"/{n}/x", codings, COOKIE)
                what = f"{control} for {codings}, {step}: {answer}"
                same(
                    (answer.status, coding(answer), content(answer) == PAGE, len(varies(answer))),
                    (200, expected, True, 1),
                    what,
                )
        same(
            [r.get("Accept-Encoding") for r in origin.of(f"/{n}/x")][:2],
            ["gzip", "identity"],
            f"{control}: what the origin is asked",
        )


@check(
    "half of the answer that finds out goes on in its coding or comes whole, by a date and by a tag that the origin "
    "gives to both",
    area="compress",
)
def finding_out_cut(bench):
    origin = bench.origin()
    controls = ("no-store", "private", "public, max-age=600", "no-cache")
    pawl = bench.pawl(
        origin,
        extra={
            f"route:main/{n}{name}": {"path": f"/{n}{name}/*"} for n in range(len(controls)) for name in ("tag", "date")
        },
    )
    for n, control in enumerate(controls):
        for name, more in (("tag", {"etag": '"same"'}), ("date", {"last_modified": "old"})):
            path = f"/{n}{name}/x"
            origin.at(path, codes_itself(type="text/plain", fields=(("Cache-Control", control),), ranges=True, **more))
            first = ask(pawl, path, "gzip", COOKIE)
            same((coding(first), content(first) == PAGE, len(varies(first))), ("gzip", True, 1), f"{control}, {name}")
            held = first.get("ETag" if name == "tag" else "Last-Modified")
            # If-Match with a weak tag is the origin's to refuse (RFC 9110 13.1.1).
            for condition in ("If-Range",) + (
                ("If-Unmodified-Since",) if name == "date" else ("If-Match",) if strong(first) else ()
            ):
                answer = ask(pawl, path, "gzip", COOKIE, ("Range", "bytes=5000-"), (condition, held))
                what = f"{control}, {condition}: {held}: {answer}"
                if answer.status == 206:
                    same((coding(answer), answer.body == first.body[5000:]), ("gzip", True), what)
                elif condition != "If-Match" or answer.status != 412:
                    same((answer.status, answer.complete, content(answer) == PAGE), (200, True, True), what)


@check("what is for everybody is compressed for who has cookies, too, without asking", area="compress")
def public(bench):
    origin, pawl = setup(bench, page(fields=(("Cache-Control", "public, max-age=600"),), etag='"p"'))
    ask(pawl, "/x", None)
    answers = [ask(pawl, "/x", "br", ("Cookie", f"sid={n}")) for n in range(3)]
    same([(coding(a), strong(a), content(a) == PAGE) for a in answers], [("br", True, True)] * 3, "with cookies")
    same((len({a.get("ETag") for a in answers}), origin.count("/x")), (1, 1), "one form")


@check(
    "a type that is not listed is compressed once its application is seen to do it, for paths of its ending",
    area="compress",
)
def unlisted(bench):
    origin = bench.origin()
    for n in range(4):
        origin.at(f"/{n}.pbf", codes_itself(type="application/x-protobuf", fields=KEPT))
        origin.at(f"/{n}.bin", page(type="application/x-other", fields=KEPT))
    pawl = bench.pawl(origin)
    pbf = [ask(pawl, f"/{n}.pbf") for n in range(4)]
    other = [ask(pawl, f"/{n}.bin") for n in range(4)]
    same([coding(a) for a in pbf], [None, "gzip", "zstd", "zstd"], "what the origin compresses")
    same([coding(a) for a in other], [None] * 4, "what it does not")
    same([content(a) == PAGE for a in pbf + other], [True] * 8, "content")
    same([coding(ask(pawl, f"/{n}.pbf")) for n in (2, 3)], ["zstd", "zstd"], "from the cache")
    same(
        [coding(ask(pawl, "/0.pbf")), content(ask(pawl, "/0.pbf")) == PAGE],
        ["zstd", True],
        "the first one, stored before",
    )


# -- pass, Via
# ---------------------------------------------------------------------------------------------------------------


@check(
    "origin-encoding pass: a variant a coding, one tag never over two, and a coded body is resumed in its coding",
    area="compress",
)
def passing(bench):
    origin = bench.origin()
    origin.at("/x", codes_itself(fields=KEPT, etag='"same"', ranges=True))
    pawl = bench.pawl(origin, site={"origin-encoding": "pass"})
    plain, coded = ask(pawl, "/x", None), ask(pawl, "/x", "gzip, br")
    same(
        (coding(plain), plain.body == PAGE, coding(coded), content(coded) == PAGE),
        (None, True, "gzip", True),
        "variants",
    )
    same([coding(ask(pawl, "/x", c)) for c in ("zstd", "br")], [None, None], "pawl compresses nothing itself")
    true(plain.get("ETag") != coded.get("ETag"), f"one tag over two codings: {plain.get('ETag')}")
    answer = rest(pawl, "/x", "gzip, br", 1000, coded.get("ETag"))
    true(
        answer.status == 206 and answer.body == coded.body[1000:] or answer.status == 200 and content(answer) == PAGE,
        f"resumed: {answer}",
    )
    answer = rest(pawl, "/x", None, 1000, plain.get("ETag"))
    true(
        answer.status == 206 and answer.body == PAGE[1000:] or answer.status == 200 and answer.body == PAGE,
        f"resumed plain: {answer}",
    )


@check("via on, off, always: Via keeps no origin from compressing, and CDN-Loop finds circles as well", area="compress")
def via(bench):
    origin = bench.origin()
    names = ("on", "off", "always", "pass")
    origin.default = page(fields=(("Cache-Control", "no-store"),))
    pawl = bench.pawl(
        origin,
        extra={
            f"route:main/{name}": {
                "path": f"/{name}/*",
                "via": name if name != "pass" else "on",
                "origin-encoding": "pass" if name == "pass" else "identity",
            }
            for name in names
        },
    )

    def marks(path, codings, *fields, **options):
        ask(pawl, path, codings, *fields, **options)
        request = origin.of(path)[-1]
        return bool(request.get("Via")), request.get("CDN-Loop")

    rows = [
        ("/on/1", None, (True, None)),
        ("/on/2", ALL, (True, None)),
        ("/off/1", None, (False, "pawl")),
        ("/off/2", ALL, (False, "pawl")),
        ("/always/1", None, (True, None)),
        ("/always/2", ALL, (True, None)),
        ("/pass/1", None, (True, None)),
        ("/pass/2", "identity", (True, None)),
        ("/pass/3", ALL, (False, "pawl")),
    ]
    for path, codings, expected in rows:
        same(marks(path, codings), expected, f"{path} for {codings}")
    same(marks("/on/3", ALL, method="POST", body=b"x"), (False, "pawl"), "what is not asked for identity")
    for field in (("CDN-Loop", "pawl, pawl;v=1, PAWL"), ("Via", "1.1 pawl, 1.1 pawl, 1.1 pawl")):
        same((ask(pawl, "/on/loop", ALL, field).status, origin.count("/on/loop")), (502, 0), field[0])
    same(ask(pawl, "/on/loop", ALL, ("CDN-Loop", "pawl, pawler, other; x=pawl")).status, 200, "not yet a circle")
    looped = bench.pawl("http://127.0.0.1:1", name="loop", start=False, site={"via": "off"})
    from harness.process import free_port

    port = free_port()
    looped.file.write_text(
        looped.file.read_text()
        .replace("127.0.0.1:0", f"127.0.0.1:{port}")
        .replace("http://127.0.0.1:1\n", f"http://127.0.0.1:{port}\n")
    )
    looped.start()
    if bench.over == "clear":
        answer = ask(looped, "/x", ALL)
        same(
            (answer.status, "proxy_loop_detected" in " ".join(answer.all("Proxy-Status"))),
            (502, True),
            "a pawl before itself",
        )


@check(
    "what is stored, and asked for with cookies or credentials, is compressed as soon as the origin has been asked "
    "beside it",
    area="compress",
)
def beside(bench):
    origin = bench.origin()
    paths = {"/a.css": "text/css", "/a": "text/html", "/pdf": "application/pdf"}
    for path, type in paths.items():
        origin.at(
            path,
            codes_itself(
                type=type, fields=(("ETag", '"a"'), ("Cache-Control", "max-age=600" if path == "/pdf" else "no-cache"))
            ),
        )
    pawl = bench.pawl(origin)
    for path in paths:
        listed = path != "/pdf"
        same(coding(ask(pawl, path, "gzip")), "gzip" if listed else None, path)
        for fields in ((COOKIE,), (LOGIN,)) if listed else ((),):
            before = origin.count(path)
            got = wait_for(lambda: coding(ask(pawl, path, "gzip", *fields)), 10, f"{path} with {fields} compressed")
            same(got, "gzip", f"{path} with {fields}")
            own = [r for r in origin.of(path)[before:] if "gzip" in (r.get("Accept-Encoding") or "")]
            true(len(own) <= 1, f"{path}: asked {len(own)} times with {fields}")
            same(content(ask(pawl, path, "gzip", *fields)) == PAGE, True, f"content of {path}")
