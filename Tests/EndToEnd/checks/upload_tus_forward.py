"""tus and the application: waiting for its answer, refusals, raw and multipart forwards, origins that speak the
protocols themselves."""

import re
import threading
import time
import urllib.parse

from harness.checks import check, same, timely, true
from harness.content import Content
from harness.origin import Origin, Resource
from harness.process import run_pawl, wait_for
from harness.uploads import (
    NO_STORE,
    OCTETS,
    TUS,
    Dialect,
    Fields,
    Upload,
    asked,
    bearer,
    checksum,
    create,
    dies,
    each,
    landed,
    metadata,
    one,
    path_of,
    script,
    stored,
    tus_create,
    tus_delete,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

BODY = Content("tus forward", 50_000).read()
DATA = b"abc\r\n--not a boundary\0\xff"


def begin(bench, extra=None, pawl=None, upstream=None, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site=site, extra=extra, pawl=pawl, upstream=upstream)


def upload(pawl, fields=(), data=DATA, target="/in", **options):
    """A whole upload: (the last answer, Location)."""
    own = tuple(f for f in fields if f[0] in ("Authorization", "Cookie"))
    location = tus_new(pawl.address, len(data), fields, target=target)
    return tus_patch(pawl.address, location, 0, data, own, **options), location


def decided(pawl, location, fields=()):
    """The answer to an empty PATCH once it is not 423 any more."""

    def patched():
        answer = tus_patch(pawl.address, location, len(DATA), b"", fields)
        return answer.status != 423 and answer

    return wait_for(patched, 8, "the decision")


# -- the answer --------------------------------------------------------------------------------------------------------


@check(
    "2xx and 3xx become 204 with the offset and the origin's status, 4xx and 5xx go through as they are, then 410",
    area="upload tus answer",
)
def shapes(bench):
    origin, pawl = begin(bench)

    def row(code):
        origin.at(
            f"/{code}",
            Resource(b"body %d" % code, status=code, fields=NO_STORE + (("X-A", "b"), ("Location", "/there"))),
        )
        answer, location = upload(pawl, target=f"/{code}")
        same(answer.all("Tus-Resumable"), ["1.0.0"], "Tus-Resumable")
        if code < 400:
            same(
                (answer.status, answer.get("Upload-Offset"), answer.get("Pawl-Origin-Status"), answer.body),
                (204, str(len(DATA)), str(code), b""),
                "the last PATCH",
            )
            same(tus_head(pawl.address, location).get("Upload-Offset"), str(len(DATA)), "HEAD")
            answer = tus_get(pawl.address, location)
            same((answer.status, answer.body, answer.get("X-A")), (code, b"body %d" % code, "b"), "GET")
        else:
            same((answer.status, answer.body, answer.get("X-A")), (code, b"body %d" % code, "b"), "the last PATCH")
            answer = tus_head(pawl.address, location)
            same((answer.status, answer.all("Upload-Offset")), (410, []), "HEAD of a refused upload")
            same(tus_patch(pawl.address, location, len(DATA), b"").status, 410, "PATCH of a refused upload")
            answer = tus_get(pawl.address, location)
            same((answer.status, answer.body), (code, b"body %d" % code), "GET of a refused upload")
        same(len(whole(origin, f"/{code}")), 1, "requests at the origin")

    each((200, 201, 202, 303, 308, 400, 403, 404, 413, 422, 500, 502), row)


@check(
    "while the origin has not decided PATCH answers 423 after tus-wait and HEAD at once, with Retry-After; then the "
    "answer",
    area="upload tus answer",
)
def undecided(bench):
    origin, pawl = begin(bench, **{"tus-wait": "1s"})
    gate = threading.Event()
    origin.default = script(lambda r: Resource(b"decided", fields=NO_STORE, before_head=lambda _: gate.wait(20)))
    begun = time.monotonic()
    answer, location = upload(pawl)
    took = time.monotonic() - begun
    same((answer.status, answer.all("Tus-Resumable")), (423, ["1.0.0"]), "the last PATCH")
    true(int(one(answer, "Retry-After")) >= 1, f"Retry-After {answer.get('Retry-After')}")
    timely(0.7 < took < 4, f"after {took:.1f} s")
    begun = time.monotonic()
    answer = tus_head(pawl.address, location)
    same(answer.status, 423, "HEAD")
    true(answer.get("Retry-After"), "no Retry-After")
    timely(time.monotonic() - begun < 0.7, "a slow HEAD")
    same(tus_patch(pawl.address, location, len(DATA), b"").status, 423, "another PATCH")
    gate.set()
    answer = decided(pawl, location)
    same(
        (answer.status, answer.get("Upload-Offset"), answer.get("Pawl-Origin-Status")),
        (204, str(len(DATA)), "200"),
        "an empty PATCH afterwards",
    )
    same(tus_head(pawl.address, location).get("Upload-Offset"), str(len(DATA)), "HEAD afterwards")
    same(len(whole(origin)), 1, "requests at the origin")


@check("origin down: 423 after tus-wait, delivered once when it is back", area="upload tus answer")
def down(bench):
    port = bench.held_port()
    pawl = bench.pawl(f"http://127.0.0.1:{port}", site={"tus-wait": "1s"}, upstream={"connect-timeout": "1s"})
    answer, location = upload(pawl)
    same(answer.status, 423, "the last PATCH")
    true(answer.get("Retry-After"), "no Retry-After")
    same(tus_head(pawl.address, location).status, 423, "HEAD")
    pawl.restart(hard=True)
    same(tus_head(pawl.address, location).status, 423, "HEAD after kill -9")
    origin = bench.use(Origin(port=port, is_held=True, default=stored))
    wait_for(lambda: tus_head(pawl.address, location).status in (200, 204), 25, "the delivery", 0.1)
    answer = tus_patch(pawl.address, location, len(DATA), b"")
    same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), "PATCH")
    same(len(whole(origin)), 1, "requests at the origin")


@check("the origin dies without an answer: 423, nothing is sent again", area="upload tus answer")
def unknown(bench):
    origin, pawl = begin(bench, **{"tus-wait": "1s"})
    origin.default = dies(origin, then=stored)
    answer, location = upload(pawl)
    same((answer.status, tus_head(pawl.address, location).status), (423, 423), "PATCH and HEAD")
    same(len(whole(origin)), 1, "requests at the origin")


@check("401 passes and does not consume: the next empty PATCH forwards with its credentials", area="upload tus answer")
def not_consumed(bench):
    origin, pawl = begin(bench)
    origin.default = script(Resource(b"who?", status=401, fields=NO_STORE + (("WWW-Authenticate", "Bearer"),)), stored)
    answer, location = upload(pawl, (("Authorization", bearer("ann", 1)),))
    same((answer.status, answer.body, answer.get("WWW-Authenticate")), (401, b"who?", "Bearer"), "the last PATCH")
    answer = decided(pawl, location, (("Authorization", bearer("ann", 2)),))
    same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), "the next PATCH")
    same(
        [r.get("Authorization") for r in whole(origin)],
        [bearer("ann", 1), bearer("ann", 2)],
        "credentials at the origin",
    )


# -- raw ---------------------------------------------------------------------------------------------------------------


def disposition_name(value):
    """The file name in a Content-Disposition, as RFC 6266 reads it."""
    extended = re.search(r"filename\*=UTF-8''([^;]*)", value, re.I)
    if extended:
        return urllib.parse.unquote(extended.group(1))
    quoted = re.search(r'filename="((?:\\.|[^"\\])*)"', value)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted.group(1))
    plain = re.search(r"filename=([^;\s]+)", value)
    return plain.group(1) if plain else None


@check("raw sends the body with type and file name from the metadata, whatever they contain", area="upload tus forward")
def raw(bench):
    origin, pawl = begin(bench)
    cases = {
        "plain": (metadata(filename="report.pdf", filetype="application/pdf"), "application/pdf", "report.pdf"),
        "utf8": (
            metadata(filename="Größe ünïcode 日本.txt", filetype="text/plain"),
            "text/plain",
            "Größe ünïcode 日本.txt",
        ),
        "quotes": (
            metadata(filename='a "b"; c.txt', filetype="text/plain;charset=utf-8"),
            "text/plain;charset=utf-8",
            'a "b"; c.txt',
        ),
        "folders": (metadata(filename="C:\\fake/../x.txt", filetype="text/plain"), "text/plain", "x.txt"),
        "uppy": (metadata(name="x.png", type="image/png"), "image/png", "x.png"),
        "none": (None, None, None),
    }

    def row(name):
        value, kind, file_name = cases[name]
        answer, _ = upload(pawl, (("Upload-Metadata", value),) if value else (), target=f"/{name}")
        same(answer.status, 204, "answer")
        (request,) = whole(origin, f"/{name}")
        same(request.body == DATA, True, "bytes at the origin")
        got = request.get("Content-Type")
        true(got == kind or (kind is None and got in (None, "application/octet-stream")), f"type {got!r}")
        if file_name:
            same(
                disposition_name(one(Fields(request.fields), "Content-Disposition")),
                file_name,
                f"name in {request.get('Content-Disposition')!r}",
            )
        same(request.all("Upload-Metadata"), [], "Upload-Metadata at the origin")

    each(cases, row)
    for name, value in {
        "crlf": metadata(filename="a\r\nX-Evil: 1\r\n\r\n.txt", filetype="text/plain\r\nX-Evil: 2"),
        "nul": metadata(filename="a\0b", filetype="\0"),
        "bytes": metadata(filename=b"\xff\xfe", filetype=b"\x80/\xff"),
        "long": metadata(filename="n" * 8000),
    }.items():
        answer, _ = upload(pawl, (("Upload-Metadata", value),), target=f"/{name}")
        same(answer.status, 204, f"hostile metadata: {name}")
        (request,) = whole(origin, f"/{name}")
        true(request.body == DATA and not request.all("X-Evil"), f"{name}: {request.fields}")
        true(len(request.all("Content-Type")) <= 1 and "\0" not in str(request.raw), f"{name}: {request.raw!r}"[:300])


# -- multipart ---------------------------------------------------------------------------------------------------------


def form(request):
    """The parts of a multipart/form-data body: (head lines, bytes) each. Anything but the exact grammar is an error."""
    match = re.fullmatch(
        r'multipart/form-data; ?boundary="?([A-Za-z0-9\'()+_,./:=? -]{1,70}?)"?',
        one(Fields(request.fields), "Content-Type"),
    )
    true(match, f"type {request.get('Content-Type')!r}")
    boundary = match.group(1).encode()
    same(request.get("Content-Length"), str(len(request.body)), "Content-Length")
    true(
        request.body.startswith(b"--" + boundary + b"\r\n") and request.body.endswith(b"\r\n--" + boundary + b"--\r\n"),
        f"frame {request.body[:80]!r}",
    )
    inner = request.body[len(boundary) + 4 : -len(boundary) - 8]
    parts = []
    for piece in inner.split(b"\r\n--" + boundary + b"\r\n"):
        head, _, data = piece.partition(b"\r\n\r\n")
        parts.append((head.split(b"\r\n"), data))
    return parts


@check(
    "multipart is byte for byte the form a browser sends: field name, UTF-8 file name, quotes, type, length",
    area="upload tus forward",
)
def multipart(bench):
    origin, pawl = begin(bench, **{"tus-forward": "multipart", "tus-field": "upload"})
    cases = {
        "plain": (
            metadata(filename="report.pdf", filetype="application/pdf"),
            b'filename="report.pdf"',
            b"application/pdf",
        ),
        "utf8": (
            metadata(filename="Größe 日本.txt", filetype="text/plain"),
            'filename="Größe 日本.txt"'.encode(),
            b"text/plain",
        ),
        "quotes": (
            metadata(filename='a "b"; c.txt', filetype="text/plain"),
            b'filename="a %22b%22; c.txt"',
            b"text/plain",
        ),
        "lines": (metadata(filename="a\r\nb.txt", filetype="text/plain"), b'filename="ab.txt"', b"text/plain"),
        "uppy": (metadata(name="x.png", type="image/png"), b'filename="x.png"', b"image/png"),
        "none": (None, None, b"application/octet-stream"),
    }

    def row(name):
        value, file_name, kind = cases[name]
        for data in (DATA, b""):
            target = f"/{name}{len(data)}"
            fields = (("Upload-Metadata", value),) if value else ()
            if data:
                answer, _ = upload(pawl, fields, data, target)
                same((answer.status, answer.get("Upload-Offset")), (204, str(len(data))), "answer")
            else:
                same(tus_create(pawl.address, 0, fields, target=target).status, 201, "an empty upload")
            (request,) = whole(origin, target)
            same(request.method, "POST", "method")
            files = [(head, octets) for head, octets in form(request) if any(b'name="upload"' in line for line in head)]
            same(len(files), 1, f"parts named upload in {request.body[:300]!r}")
            head, octets = files[0]
            same(octets, data, "the file's bytes")
            true(head[0].startswith(b'Content-Disposition: form-data; name="upload"; filename="'), f"{head}")
            if file_name:
                same(
                    head[0],
                    b'Content-Disposition: form-data; name="upload"; ' + file_name,
                    "Content-Disposition of the part",
                )
            true(b"Content-Type: " + kind in head, f"{head}")
            same(request.all("Content-Disposition"), [], "Content-Disposition of the request")

    each(cases, row)
    answer, _ = upload(
        pawl, (("Upload-Metadata", metadata(filename="f", filetype="text/plain\r\nX-Evil: 1\r\n\r\n")),), target="/evil"
    )
    (request,) = whole(origin, "/evil")
    true(
        not any(line.lower().startswith(b"x-evil") for head, _ in form(request) for line in head),
        f"{request.body[:300]!r}",
    )


@check(
    "multipart of a large file arrives whole, with its length, over cuts; IETF uploads of the same route stay as "
    "they are",
    area="upload tus forward",
)
def large_multipart(bench):
    origin, pawl = begin(bench, **{"tus-forward": "multipart", "min-resumable": "0"})
    content = Content("form", 5_000_000)
    location = tus_new(pawl.address, content.size, (("Upload-Metadata", metadata(filename="big.bin")),))
    with Upload(pawl.address) as client:
        client.head(
            path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(content.size)))
        )
        client.send(content.read(0, 2_000_000))
        client.cut("fin")
    landed(pawl, 2_000_000)
    same(tus_head(pawl.address, location).get("Upload-Offset"), "2000000", "offset")
    same(tus_patch(pawl.address, location, 2_000_000, content.read(2_000_000)).status, 204, "the rest")
    ((head, octets),) = [p for p in form(whole(origin)[-1]) if b'name="file"' in p[0][0]]
    true(octets == content.read(), "other bytes in the form")
    same(
        create(
            pawl.address,
            Dialect(6),
            b"--x\r\nabc",
            True,
            (("Content-Type", "multipart/form-data; boundary=x"),),
            "/ietf",
        ).status,
        200,
        "an IETF upload",
    )
    same(
        (asked(origin, "/ietf")[0].body, asked(origin, "/ietf")[0].get("Content-Type")),
        (b"--x\r\nabc", "multipart/form-data; boundary=x"),
        "its body",
    )


@check(
    "tus-form makes a field of each NAME=TEMPLATE on its lines, as Config/uploads.ini writes them; config print says "
    "the same",
    area="upload tus forward",
)
def form_fields(bench):
    lines = ("title={title}, kind=video", "by=a, b and {who}", "odd=x,, y=z")
    wanted = {"title": "Ein Film", "kind": "video", "by": "a, b and Ann", "odd": "x, y=z"}
    origin, pawl = begin(bench, **{"tus-forward": "multipart"})
    text = pawl.file.read_text().replace(
        "tus-forward = multipart", "\n".join(["tus-forward = multipart", *(f"tus-form = {line}" for line in lines)])
    )
    for name in ("written", "printed"):
        pawl.file.write_text(text)
        pawl.restart()
        answer, _ = upload(
            pawl, (("Upload-Metadata", metadata(title="Ein Film", who="Ann", filename="f")),), target=f"/{name}"
        )
        same(answer.status, 204, "answer")
        fields = [
            (head[0].decode(), octets.decode())
            for head, octets in form(whole(origin, f"/{name}")[0])
            if b"filename=" not in head[0]
        ]
        same(
            fields,
            [(f'Content-Disposition: form-data; name="{key}"', value) for key, value in wanted.items()],
            f"{name}: fields of the form",
        )
        code, printed, err = run_pawl("config", "--config", str(pawl.file), folder=pawl.folder)
        same(code, 0, err)
        fields = re.findall(r"^(tus-form = .*?)(?: +#.*)?$", printed, re.MULTILINE)
        text = re.sub(r"(?m)^tus-form = .*\n", "", text).replace(
            "tus-forward = multipart", "\n".join(["tus-forward = multipart", *fields])
        )


@check("Rails, PHP and Python style parsers read the form (Werkzeug here)", area="upload tus forward")
def parser(bench):
    try:
        from werkzeug.formparser import parse_form_data
    except ImportError:
        from harness.checks import Skip

        raise Skip("no werkzeug")
    import io

    origin, pawl = begin(bench, **{"tus-forward": "multipart", "tus-field": "file[]"})
    upload(pawl, (("Upload-Metadata", metadata(filename="Größe.txt", filetype="text/plain")),), BODY)
    (request,) = whole(origin)
    _, _, files = parse_form_data(
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": request.get("Content-Type"),
            "CONTENT_LENGTH": request.get("Content-Length"),
            "wsgi.input": io.BytesIO(request.body),
        }
    )
    found = files["file[]"]
    same((found.filename, found.mimetype, found.read() == BODY), ("Größe.txt", "text/plain", True), "the file")


# -- origins that do it themselves -------------------------------------------------------------------------------------


def speaking(fields, status=204):
    def reply(request):
        if request.method == "OPTIONS":
            return Resource(b"", status=status, fields=NO_STORE + fields)
        return Resource(b"", status=201, fields=NO_STORE + (("Location", "/own/1"), ("Tus-Resumable", "1.0.0")))

    return reply


@check(
    "an origin that speaks tus itself is passed through with all fields, asked once, and it is logged",
    area="upload probe",
)
def tus_origin(bench):
    origin, pawl = begin(bench)
    origin.default = speaking((("Tus-Resumable", "1.0.0"), ("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")))
    for _ in range(3):
        answer = tus_create(
            pawl.address,
            10,
            (("Upload-Metadata", "a YQ=="), ("Upload-Checksum", checksum("sha1", b""))),
            target="/files",
        )
        same(
            (answer.status, answer.all("Location"), answer.all("Tus-Resumable")),
            (201, ["/own/1"], ["1.0.0"]),
            "the origin's answer",
        )
    request = [r for r in asked(origin, "/files") if r.method == "POST"][-1]
    for name, value in (
        ("Tus-Resumable", "1.0.0"),
        ("Upload-Length", "10"),
        ("Upload-Metadata", "a YQ=="),
        ("Upload-Checksum", checksum("sha1", b"")),
    ):
        same(request.all(name), [value], f"{name} at the origin")
    same(len([r for r in origin.of("/files") if r.method == "OPTIONS"]), 1, "questions to the origin")
    answer = tus_patch(pawl.address, "/own/1", 0, b"0123456789")
    same(
        (asked(origin, "/own/1")[-1].method, asked(origin, "/own/1")[-1].body),
        ("PATCH", b"0123456789"),
        "PATCH at the origin",
    )
    wait_for(lambda: "speaks" in pawl.log(), 5, "a log line")


@check("an origin that speaks the IETF draft itself is passed through, its 104 included", area="upload probe")
def ietf_origin(bench):
    origin, pawl = begin(bench, **{"min-resumable": "0"})
    interim = b"HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\nLocation: http://pawl.test/own/2\r\n\r\n"

    def reply(request):
        if request.method == "OPTIONS":
            return Resource(
                b"",
                status=200,
                fields=NO_STORE + (("Upload-Limit", "min-size=0"), ("Accept-Patch", "application/partial-upload")),
            )
        return Resource(b"own", status=200, fields=NO_STORE + (("Upload-Complete", "?1"),), interim=(interim,))

    origin.default = reply
    answer = create(pawl.address, Dialect(6), BODY)
    same((answer.status, answer.body, answer.all("Upload-Complete")), (200, b"own", ["?1"]), "the origin's answer")
    same([(s, f.get("Location")) for s, f in answer.interim], [(104, "http://pawl.test/own/2")], "the origin's 104")
    request = [r for r in asked(origin, "/in") if r.method == "POST"][-1]
    same(
        (request.all("Upload-Complete"), request.all("Upload-Draft-Interop-Version"), request.body == BODY),
        (["?1"], ["6"], True),
        "fields at the origin",
    )


@check("an origin that refuses or does not know OPTIONS keeps nobody waiting, and pawl speaks", area="upload probe")
def slow_probe(bench):
    origin, pawl = begin(bench, **{"min-resumable": "0"})

    def reply(request):
        if request.method == "OPTIONS":
            return Resource(b"", status={"/501": 501, "/404": 404, "/500": 500}.get(request.path, 200), fields=NO_STORE)
        return stored(request)

    origin.default = reply
    for path in ("/501", "/404", "/500", "/200"):
        begun = time.monotonic()
        answer = create(pawl.address, Dialect(6), BODY, target=path)
        same((answer.status, [s for s, _ in answer.interim][:1]), (200, [104]), path)
        location = tus_new(pawl.address, 3, target=path)
        same(tus_patch(pawl.address, location, 0, b"abc").status, 204, f"{path} by tus")
        timely(time.monotonic() - begun < 4, f"{path}: {time.monotonic() - begun:.1f} s")
        same(tus_delete(pawl.address, location).status, 204, "DELETE")
