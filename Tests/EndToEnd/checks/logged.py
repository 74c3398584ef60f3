"""What of a request is logged, over each protocol: requests that were refused, fields of responses, addresses; and how
uploads that run are listed."""

import base64
import json
import socket
import threading

from harness.checks import CLEAR, V1, check, same, true
from harness.client import Client, get, raw
from harness.content import Content
from harness.h2raw import Frames
from harness.origin import Resource
from harness.process import wait_for

from .admin import ask, sock

FRESH = (("Cache-Control", "max-age=600"),)
NO_STORE = (("Cache-Control", "no-store"),)


def lines(pawl, count):
    path = pawl.folder / "access.log"
    wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, 10, f"{count} lines of the access log")
    return path.read_text().splitlines()


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


REFUSED = {
    b"GET /x HTTP/3.7\r\nHost: a.test\r\n\r\n": ('505 "GET /x HTTP/3.7"', "a.test", "HTTP/3.7"),
    b"GET /x?q HTTP/1.1\r\nHost: a b\r\n\r\n": ('400 "GET /x?q HTTP/1.1"', "a b", "HTTP/1.1"),
    b"GET /y HTTP/1.1\r\nX: " + b"x" * 70_000: ('431 "GET /y HTTP/1.1"', "-", "HTTP/1.1"),
    b"GET /" + b"l" * 20_000 + b" HTTP/1.1\r\n\r\n": (f'414 "GET /{"l" * 1019}"', "-", "-"),
    b"GET /late HTTP/1.1\r\nHost: late.test\r\nX": ('408 "GET /late HTTP/1.1"', "late.test", "HTTP/1.1"),
    b"GET /unended": ('408 "GET /unended"', "-", "-"),
    b'GET /"\x01\xe9 HTTP/1.1\r\nHost: c\r\n\r\n': (r'400 "GET /\x22\x01\xE9 HTTP/1.1"', "c", "HTTP/1.1"),
}


@check(
    "requests that are refused before they have a route are logged with what came of them",
    area="logs",
    over=V1,
    why="malformed requests of HTTP/2 end streams",
)
def refused(bench):
    format = '$status "$request"|$host|$server_protocol|$remote_addr:$remote_port|$server_port'
    pawl = bench.pawl(
        "http://127.0.0.1:1",
        pawl={"access-log-format": format},
        listen={"header-timeout": "1s"},
    )
    port = pawl.address.rsplit(":", 1)[1] if isinstance(pawl.address, str) else str(pawl.address[1])
    for turn, (octets, (request, host, version)) in enumerate(REFUSED.items()):
        with Client(pawl.address) as client:
            own = client.socket.getsockname()[1]
            client.send(octets)
            client.response(keep=False)
        line = lines(pawl, turn + 1)[turn]
        same(line, f"{request}|{host}|{version}|127.0.0.1:{own}|{port}", "the line")


@check("in JSON, too, and without the secret of an upload's URL", area="logs", over=V1, why="as above")
def refused_json(bench):
    pawl = bench.pawl("http://127.0.0.1:1")
    token = "A" * 32
    raw_head = f"PUT /.pawl/uploads/{token} HTTP/9.9\r\nHost: a.test\r\n\r\n".encode()
    with Client(pawl.address) as client:
        client.send(raw_head)
        same(client.response().status, 505, "status")
    record = json.loads(lines(pawl, 1)[0])
    same((record["method"], record["host"], record["version"]), ("PUT", "a.test", "HTTP/9.9"), f"{record}")
    true(record["target"].startswith("/.pawl/uploads/~") and token not in str(record), f"{record}")


@check(
    "malformed requests of HTTP/2 that are answered are logged with what came of them",
    area="logs",
    over=("h2", "h2c"),
    why="they are of HTTP/2",
)
def refused_over_h2(bench):
    pawl = bench.pawl("http://127.0.0.1:1", pawl={"access-log-format": '$status "$request"|$host'})
    with Frames(pawl.address, bench.over) as frames:
        same(int(frames.answer(frames.request("/x", method="M" * 40, authority="a.test")).status), 501, "status")
    same(lines(pawl, 1)[0], f'501 "{"M" * 40} /x HTTP/2.0"|a.test', "the line")


@check("Content-Length and others that are sent can be logged: of answers stored, relayed, of pawl's own", area="logs")
def sent(bench):
    origin = bench.origin()
    content = Content("sent", 10_000)
    origin.at("/kept", Resource(content, etag='"e"', type="text/x", fields=FRESH))
    origin.at("/big", Resource(Content("big", 3_000_000), etag='"e"', type="text/x", fields=FRESH))
    origin.at("/direct", Resource(content, type="text/x", fields=NO_STORE))
    origin.at("/chunked", Resource(content, type="text/x", fields=NO_STORE, framing="chunked"))
    names = ("content_length", "content_type", "via", "x_request_id", "age")
    format = "|".join(["$request_uri", "$status"] + [f"$sent_http_{name}" for name in names])
    pawl = bench.pawl(origin, pawl={"access-log-format": format}, site={"request-buffering": "on"})
    asked = ["/kept", "/kept", "/kept", "/big", "/big", "/direct", "/chunked", "/missing"]
    for turn, target in enumerate(asked):
        answer = get(pawl.address, target, fields=(("X-Request-Id", "me"),) if turn == 2 else ())
        wanted = [target, str(answer.status)]
        wanted += [answer.get(name.replace("_", "-"), "-") for name in names]
        same(lines(pawl, turn + 1)[turn].split("|"), wanted, f"request {turn}")


@check("the origin's address has its port, also where no connection or no TLS came about", area="logs")
def addresses(bench):
    port = closed_port()
    origin = bench.origin()
    origin.default = Resource(b"1")
    deaf = f"https://127.0.0.1:{origin.url.rsplit(':', 1)[1]}"
    for turn, (url, wanted) in enumerate(
        (
            (f"http://127.0.0.1:{port}", f"127.0.0.1:{port}"),
            (deaf, deaf.removeprefix("https://")),
            (origin.url, origin.url.removeprefix("http://")),
            ("http://no-such-host.invalid:81", "no-such-host.invalid:81"),
        )
    ):
        for cache in ("on", "off"):
            site = {} if cache == "on" else {"cache": "off"}
            pawl = bench.pawl(url, name=f"p{turn}{cache}", pawl={"access-log-format": "$upstream_addr"}, site=site)
            get(pawl.address, "/x")
            same(lines(pawl, 1)[0], wanted, f"{url}, cache {cache}")


@check("an ordinary upload is listed as one, with its progress", area="metrics")
def uploads(bench):
    for turn, site in enumerate(({}, {"plain-uploads": "spool"})):
        origin = bench.origin()
        release = threading.Event()
        origin.default = lambda request, release=release: Resource(
            b"taken", fields=NO_STORE, before_head=lambda r: release.wait(20)
        )
        pawl = bench.pawl(origin, name=f"p{turn}", site=site)
        body = Content("upload", 300_000).read()

        def listed(state, done, pawl=pawl):
            page = ask(sock(pawl), "GET", "/transfers").json
            rows = [each for each in page["transfers"] if each["state"] == state and each["done"] == done]
            return rows and page["total"] == 1 and rows[0]

        with Client(pawl.address) as client:
            head = "POST /form HTTP/1.1\r\nHost: pawl.test\r\nX-Request-Id: mine\r\nContent-Length: 300000\r\n\r\n"
            client.send(head.encode() + body[:100_000])
            row = wait_for(lambda: listed("receiving", 100_000), 10, "the upload that is received")
            same((row["kind"], row["total"], row["id"], row["target"]), ("upload", 300_000, "mine", "/form"), f"{row}")
            client.send(body[100_000:])
            row = wait_for(lambda: listed("delivering", 300_000), 10, "the upload that the application has")
            same((row["kind"], row["total"]), ("upload", 300_000), f"{row}")
            release.set()
            same(client.response().status, 200, "status")


@check("the URL of an upload is in no log, whatever field of a request it is in", area="logs")
def hidden(bench):
    origin = bench.origin()
    origin.at("/kept", Resource(b"kept", fields=FRESH))
    origin.default = Resource(b"1", fields=NO_STORE)
    token = base64.urlsafe_b64encode(b"a secret of 24 bytes ...").decode()
    same(len(token), 32, "the length of a token")
    url = f"https://pawl.test/.pawl/uploads/{token}"
    dead = closed_port()
    fields = (("User-Agent", f"app {url}"), ("X-Request-Id", url), ("Referer", url), ("X-Other", url))
    own = '$request "$http_user_agent" $request_id $http_x_request_id $http_x_other $sent_http_x_request_id'
    for turn, format in enumerate(("json", "combined", own)):
        for to, targets in ((origin, ("/kept", "/kept", "/kept", "/direct")), (f"http://127.0.0.1:{dead}", ("/502",))):
            name = f"p{turn}{'dead' if isinstance(to, str) else ''}"
            pawl = bench.pawl(to, name=name, pawl={"access-log-format": format, "log-level": "debug"})
            for target in targets:
                get(pawl.address, target, fields=fields)
            lines(pawl, len(targets))
            pawl.stop()
            logs = (pawl.folder / "access.log").read_text() + pawl.log()
            true("/.pawl/uploads/~" in logs or format == "combined", f"{name}: the rest is there")
            true(token not in logs, f"{name}: {[line for line in logs.splitlines() if token in line][:2]}")


@check("with escape=none a client cannot end a line", area="logs", over=CLEAR, why="it is about what is logged")
def forging(bench):
    origin = bench.origin()
    origin.default = Resource(b"1", fields=NO_STORE)
    pawl = bench.pawl(origin, pawl={"access-log-format": "escape=none $remote_user $http_user_agent $status"})
    user = base64.b64encode(b"anna\n10.0.0.1 forged\r\x1b[2J\x7f:x").decode()
    fields = (("Authorization", f"Basic {user}"), ("User-Agent", 'a\t"b" \\ é'))
    head = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n"
    raw(pawl.address, head.encode("latin-1"), seconds=5)
    wanted = rb"anna\x0A10.0.0.1 forged\x0D\x1B[2J\x7F a\x09" + b'"b" \\ \xe9 200\n'
    lines_of = pawl.folder / "access.log"
    wait_for(lambda: lines_of.exists() and lines_of.read_bytes().endswith(b"\n"), 10, "the line")
    same(lines_of.read_bytes(), wanted, "the line")
