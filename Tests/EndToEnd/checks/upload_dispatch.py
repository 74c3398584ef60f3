"""Uploads that are somebody else's: other protocols, origins with their own resumption, and ordinary bodies."""

import re
import shutil
import subprocess
import threading
import time

from harness import transport
from harness.certificates import authority
from harness.checks import V1, Skip, check, same, timely, true
from harness.client import Client
from harness.content import Content
from harness.origin import RawOrigin, Resource
from harness.process import wait_for
from harness.uploads import NO_STORE, TUS, Dialect, Upload, ask, asked, chunks, create, each, on_connection, stored

from checks.proxy import websocket_accept

BODY = Content("dispatch", 150_000).read()
APPLE = (("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?1"))
# What a proxy may add to a request, and what belongs to one connection.
ADDED = {
    "via",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-request-id",
    "x-real-ip",
    "connection",
    "forwarded",
}

FOREIGN = {
    "S3 part": (
        "PUT",
        "/bucket/key?partNumber=1&uploadId=abc",
        (
            ("Authorization", "AWS4-HMAC-SHA256 Credential=AK/x/s3/aws4_request, SignedHeaders=host, Signature=00"),
            ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
            ("Content-Encoding", "aws-chunked"),
        ),
    ),
    "S3 object": (
        "PUT",
        "/bucket/key%20a//b",
        (("Authorization", "AWS4-HMAC-SHA256 Credential=AK/x"), ("x-amz-date", "20261121T000000Z")),
    ),
    "S3 presigned part": ("PUT", "/b/k?uploadId=U&partNumber=2&X-Amz-Signature=00", ()),
    "OCI chunk": (
        "PATCH",
        "/v2/name/blobs/uploads/9b0c?_state=xyz",
        (("Content-Range", "0-149999"), ("Content-Type", "application/octet-stream")),
    ),
    "OCI stream": ("PATCH", "/v2/a/b/blobs/uploads/9b0c", (("Content-Type", "application/octet-stream"),)),
    "OCI close": ("PUT", "/v2/name/blobs/uploads/9b0c?digest=sha256:00", ()),
    "OCI start": ("POST", "/v2/name/blobs/uploads/", ()),
    "Google resumable start": (
        "POST",
        "/upload/drive/v3/files?uploadType=resumable",
        (("X-Upload-Content-Type", "video/mp4"), ("Content-Type", "application/json")),
    ),
    "Google resumable chunk": (
        "PUT",
        "/upload?uploadType=resumable&upload_id=x",
        (("Content-Range", "bytes 0-149999/2000000"),),
    ),
    "Google upload protocol": (
        "POST",
        "/v0/b/x/o",
        (
            ("X-Goog-Upload-Protocol", "resumable"),
            ("X-Goog-Upload-Command", "upload, finalize"),
            ("X-Goog-Upload-Offset", "0"),
        ),
    ),
    "Microsoft Graph": ("PUT", "/up/session?tempauth=x", (("Content-Range", "bytes 0-149999/150000"),)),
    "nginx upload module": (
        "POST",
        "/upload",
        (
            ("Session-ID", "1111"),
            ("Content-Range", "bytes 0-149999/150001"),
            ("Content-Disposition", 'attachment; filename="a"'),
        ),
    ),
    "nginx upload module, X": (
        "POST",
        "/upload",
        (
            ("X-Session-ID", "1111"),
            ("X-Content-Range", "bytes 0-149999/150001"),
            ("Content-Range", "bytes 0-149999/150001"),
        ),
    ),
    "Content-Range on POST": (
        "POST",
        "/jquery",
        (("Content-Range", "bytes 0-149999/1000000"), ("Content-Disposition", 'attachment; filename="a"')),
    ),
    "curl -C": ("PUT", "/file", (("Content-Range", "bytes 100-150099/150100"),)),
    "gRPC": ("POST", "/pkg.Service/Call", (("Content-Type", "application/grpc+proto"), ("grpc-timeout", "1S"))),
}


def split(octets):
    """Requests in what an origin received: (request line, fields, body)."""
    found = []
    while octets:
        head, _, rest = octets.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        low = {n.lower(): v for n, v in fields}
        if low.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while True:
                size, _, rest = rest.partition(b"\r\n")
                count = int(size.split(b";")[0], 16)
                body, rest = body + rest[:count], rest[count + 2 :]
                if count == 0:
                    break
        else:
            count = int(low.get("content-length", 0))
            body, rest = rest[:count], rest[count:]
        found.append((lines[0], fields, body))
        octets = rest
    return found


@check(
    "S3, OCI, Google, Graph, Content-Range and gRPC requests reach the origin as they are, also with upload fields "
    "on them",
    area="upload dispatch",
)
def foreign(bench):
    origin = bench.use(
        RawOrigin(
            lambda c, n, h: (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok", "keep")
        )
    )
    pawl = bench.pawl(origin.url, site={"min-resumable": "0"})

    def row(name):
        method, target, fields = FOREIGN[name]
        for extra in ((), APPLE, (("Upload-Draft-Interop-Version", "3"), ("Upload-Incomplete", "?0"))):
            origin.forget()
            answer = ask(pawl.address, target, method, fields + extra, BODY, host="files.test")
            same((answer.status, answer.body, answer.interim), (200, b"ok", []), "answer")
            for field in ("Upload-Offset", "Upload-Complete"):
                same(answer.all(field), [], field)
            requests = [r for r in split(origin.everything()) if not r[0].startswith("OPTIONS ")]
            same(len(requests), 1, "requests")
            line, got, body = requests[0]
            same((line, body == BODY), (f"{method} {target} HTTP/1.1", True), "request line and body")
            kept = [(n.lower(), v) for n, v in got if n.lower() not in ADDED]
            sent = (
                [("host", "files.test")]
                + [(n.lower(), v) for n, v in fields + extra]
                + [("content-length", str(len(BODY)))]
            )
            same(sorted(kept), sorted(sent), "fields")

    each(FOREIGN, row)


@check(
    "foreign uploads are never spooled: the origin sees the first bytes before the last are sent, Expect reaches it",
    area="upload dispatch",
)
def unspooled(bench):
    origin = bench.origin()
    seen = threading.Event()

    def watch(request, connection, buffer):
        need, got = int(request.get("Content-Length")), len(buffer)
        while got < need:
            if got >= 1000:
                seen.set()
            data = connection.recv(65536)
            if not data:
                return
            got += len(data)
        request.status = 200
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    origin.default = on_connection(watch)
    pawl = bench.pawl(origin, site={"min-resumable": "0", "plain-uploads": "spool"})
    with Upload(pawl.address) as client:
        client.head("/b/k?partNumber=1&uploadId=x", "PUT", APPLE + (("Content-Length", str(len(BODY))),))
        client.send(BODY[:100_000])
        true(seen.wait(5), "the origin saw nothing of a running upload")
        client.send(BODY[100_000:])
        same(client.answer().body, b"ok", "answer")


@check(
    "with uploads = off nothing is pawl's: fields, offsets, upload paths and the origin's 104 pass",
    area="upload dispatch",
)
def off(bench):
    origin = bench.origin()
    interim = b"HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\nLocation: http://pawl.test/resumable_upload/1\r\n\r\n"
    origin.at(
        "/in",
        Resource(
            b"own", fields=NO_STORE + (("Upload-Offset", "150000"), ("Upload-Complete", "?1")), interim=(interim,)
        ),
    )
    origin.at(
        "/resumable_upload/1",
        lambda r: Resource(b"", status=204, fields=NO_STORE + (("Upload-Offset", "7"), ("Upload-Complete", "?0"))),
    )
    origin.at("/.pawl/uploads/x", Resource(b"the origin's", fields=NO_STORE))
    pawl = bench.pawl(origin, site={"uploads": "off"})
    with Upload(pawl.address) as client:
        client.create(Dialect(6), True, len(BODY), (("Upload-Length", "150000"), ("X-HTTP-Method-Override", "PATCH")))
        client.send(BODY[:10])
        client.send(BODY[10:])
        answer = client.answer()
    same(
        [(s, f.get("Location")) for s, f in answer.interim],
        [(104, "http://pawl.test/resumable_upload/1")],
        "interim answers",
    )
    same(
        (answer.body, answer.all("Upload-Offset"), answer.all("Upload-Complete")),
        (b"own", ["150000"], ["?1"]),
        "answer",
    )
    (request,) = asked(origin, "/in")
    for name, value in (
        ("Upload-Draft-Interop-Version", "6"),
        ("Upload-Complete", "?1"),
        ("Upload-Length", "150000"),
        ("X-HTTP-Method-Override", "PATCH"),
    ):
        same(request.all(name), [value], f"{name} at the origin")
    answer = ask(pawl.address, "/resumable_upload/1", "HEAD", Dialect(6).version)
    same((answer.status, answer.get("Upload-Offset")), (204, "7"), "HEAD")
    ask(
        pawl.address,
        "/resumable_upload/1",
        "PATCH",
        Dialect(6).version
        + (("Upload-Offset", "7"), ("Upload-Complete", "?1"), ("Content-Type", "application/partial-upload")),
        b"rest",
    )
    same(
        (asked(origin, "/resumable_upload/1")[-1].method, asked(origin, "/resumable_upload/1")[-1].body),
        ("PATCH", b"rest"),
        "PATCH at the origin",
    )
    same(ask(pawl.address, "/.pawl/uploads/x").body, b"the origin's", "a path below the default prefix")
    answer = ask(pawl.address, "/tus", "POST", TUS + (("Upload-Length", "5"),), b"")
    same((answer.status, asked(origin, "/tus")[0].all("Upload-Length")), (404, ["5"]), "tus")


@check("a route decides: uploads off on one path, on elsewhere, with its own prefix untouched", area="upload dispatch")
def routes(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(
        origin, site={"min-resumable": "0"}, extra={"route:main/raw": {"path": "/raw/*", "uploads": "off"}}
    )
    answer = create(pawl.address, Dialect(6), BODY, target="/raw/x")
    same(
        (answer.status, answer.interim, asked(origin, "/raw/x")[0].all("Upload-Complete")),
        (200, [], ["?1"]),
        "the route without uploads",
    )
    same(
        [s for s, _ in create(pawl.address, Dialect(6), BODY, target="/rest").interim][:1],
        [104],
        "the rest of the site",
    )


@check("WebSocket upgrades and upload fields without an upload stay what they are", area="upload dispatch")
def websocket(bench):
    origin = bench.origin()

    def echo(request, connection, buffer):
        key = request.get("Sec-WebSocket-Key")  # over HTTP/2 pawl sends one of its own, and looks at the answer
        accept = f"Sec-WebSocket-Accept: {websocket_accept(key)}\r\n".encode() if key else b""
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + accept
            + b"\r\n"
            + buffer
        )
        request.status = 101
        while True:
            data = connection.recv(1000)
            if not data:
                return
            connection.sendall(data)

    echo.wants_connection = True
    origin.at("/ws", echo)
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/ws", fields=(("Upgrade", "websocket"), ("Connection", "Upgrade")) + APPLE)
        same(client.response().status, 101, "answer")
        client.send(b"ping")
        same(client._more(), b"ping", "echo")


# -- ordinary uploads --------------------------------------------------------------------------------------------------


def broken_off(bench, mode):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"plain-uploads": mode, "min-resumable": "0"})

    def row(case):
        how, chunked = case
        target = f"/{how}{chunked}"
        with Upload(pawl.address) as client:
            framing = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(BODY)))
            client.head(target, "PUT", (framing,))
            client.send(b"%x\r\n" % len(BODY) + BODY[:100_000] if chunked else BODY[:100_000])
            if mode == "stream":
                wait_for(
                    lambda: asked(origin, target) and asked(origin, target)[0].body_count + 1,
                    5,
                    "the request at the origin",
                )
            client.cut(how)
        if mode == "stream":
            wait_for(lambda: asked(origin, target)[0].ended == "peer", 5, "the end of the connection to the origin")
        else:
            wait_for(lambda: ask(pawl.address, "/ok", "PUT", (), b"x").status == 200, 5, "another request")
        same(
            [r for r in asked(origin, target) if r.status is not None],
            [],
            "a broken body was shown to the origin as complete",
        )

    each([(how, chunked) for how in ("fin", "rst") for chunked in (False, True)], row)


@check("stream: a body that breaks off is never complete at the origin", area="upload plain")
def stream(bench):
    broken_off(bench, "stream")


@check("spool: a body that breaks off never reaches the origin", area="upload plain")
def spool(bench):
    broken_off(bench, "spool")


@check(
    "spool: the origin is asked once all is here, with Content-Length, and Expect is answered by pawl",
    area="upload plain",
)
def spooled(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"plain-uploads": "spool"})
    content = Content("spooled", 20_000_000)
    for chunked in (False, True):
        target = f"/s{chunked}"
        with Upload(pawl.address, 15) as client:
            framing = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(content.size))
            client.head(target, "PUT", (framing, ("Expect", "100-continue"), ("Content-Type", "a/b"), ("X-Mine", "1")))
            client.interim(100)
            data = content.read()
            whole_ = chunks(data, 1_000_000, 5_000_000) if chunked else data
            client.send(whole_[:-1])
            time.sleep(0.1)  # an origin that would be told too early has had its time
            same(len(asked(origin, target)), 0, "requests before the last byte")
            client.send(whole_[-1:])
            answer = client.answer()
            same((answer.status, answer.body), (200, b"got 20000000 bytes"), "answer")
        (request,) = asked(origin, target)
        same(
            (
                request.method,
                request.body == data,
                request.get("Content-Length"),
                request.all("Transfer-Encoding"),
                request.all("Expect"),
                request.get("X-Mine"),
                request.get("Content-Type"),
            ),
            ("PUT", True, str(content.size), [], [], "1", "a/b"),
            "at the origin",
        )
    same(ask(pawl.address, "/get").status, 200, "GET")
    same(ask(pawl.address, "/empty", "POST", (), b"").body, b"got 0 bytes", "an empty body")
    wait_for(
        lambda: not [p for p in (pawl.folder / "state").rglob("*") if p.is_file() and p.stat().st_size >= 20_000_000],
        5,
        "the end of the spooled files",
    )


def commands(folder, url, over="clear"):
    path = folder / "file"
    path.write_bytes(BODY)
    curl = ["curl", "-sS", "--noproxy", "*", *transport.curl(over)]
    found = {
        "curl -T": [*curl, "-T", str(path), url],
        "curl -T without Expect": [*curl, "-H", "Expect:", "-T", str(path), url],
        "curl -T chunked with Expect": [
            *curl,
            "-H",
            "Transfer-Encoding: chunked",
            "-H",
            "Expect: 100-continue",
            "-T",
            str(path),
            url,
        ],
        "curl --data-binary": [*curl, "--data-binary", f"@{path}", url],
        "curl --data-binary chunked": [*curl, "-H", "Transfer-Encoding: chunked", "--data-binary", f"@{path}", url],
        "curl with Expect and data": [*curl, "-H", "Expect: 100-continue", "--data-binary", f"@{path}", url],
        "curl -F": [*curl, "-F", f"file=@{path}", url],
    }
    if over in V1:
        wget = ["wget", "-q", "--no-proxy", f"--ca-certificate={authority().file}", "-O", "-"]
        found["curl HTTP/1.0"] = [*curl, "-0", "-T", str(path), url]
        found["wget --method=PUT"] = [*wget, "--method=PUT", f"--body-file={path}", url]
        found["wget --post-file"] = [*wget, f"--post-file={path}", url]
    return found


@check("curl -T (Expect, chunked, HTTP/1.0), --data-binary, -F and wget upload through both modes", area="upload plain")
def tools(bench):
    if not shutil.which("curl"):
        raise Skip("no curl")
    origin = bench.origin()
    origin.default = stored
    for mode in ("stream", "spool"):
        pawl = bench.pawl(origin, mode, site={"plain-uploads": mode})

        def row(name):
            target = re.sub(r"\W", "", name)
            command = commands(bench.folder, f"{pawl.address}/{mode}{target}", bench.over)[name]
            if not shutil.which(command[0]):
                return
            begun = time.monotonic()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=15)
            same(done.returncode, 0, f"exit code ({done.stderr[-200:]!r})")
            (request,) = asked(origin, f"/{mode}{target}")
            true(request.body == BODY if "-F" not in name else BODY in request.body, "other bytes at the origin")
            same(done.stdout, b"got %d bytes" % len(request.body), "what was printed")
            timely(time.monotonic() - begun < 1.5, "a second went by: 100 Continue did not come")

        each(commands(bench.folder, pawl.address, bench.over), row)
