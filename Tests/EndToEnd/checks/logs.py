"""Logs that say why: failures of upstreams, explanations, formats, syslog and the journal, secrets."""

import array
import json
import os
import re
import socket
import struct
import threading

from harness.checks import Skip, check, only, same, true
from harness.client import Client, get, raw
from harness.content import Content
from harness.listening import Listening
from harness.origin import Break, RawOrigin, Resource
from harness.process import Nginx, have, wait_for

only(("clear",), "they are about what is logged, not about how clients speak", __name__)

DIRECT = {"cache": "off"}
FRESH = (("Cache-Control", "max-age=600"),)


def events(pawl, name):
    """The event's lines, each as a dictionary of its fields."""
    found = []
    for line in pawl.log().splitlines():
        words = line.split(" ", 3)
        if len(words) > 2 and words[2] == name:
            fields = dict(re.findall(r'([a-z-]+)=("(?:[^"\\]|\\.)*"|\S*)', words[3] if len(words) > 3 else ""))
            found.append({key: value.strip('"') for key, value in fields.items()} | {"level": words[1]})
    return found


def event(pawl, name, count=1):
    wait_for(lambda: len(events(pawl, name)) >= count, 10, f"{count} of {name}")
    return events(pawl, name)[count - 1]


class Mute(Listening):
    """Listens, accepts and does one thing with each connection."""

    def __init__(self, act):
        self.act, self.kept = act, []
        self.begin()

    def accepted(self, connection, _):
        self.kept.append(connection)
        self.act(connection)

    def stop(self):
        super().stop()
        for connection in self.kept:
            connection.close()


def reset(connection):
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def answers(octets, how="close"):
    return RawOrigin(lambda connection, number, head: (octets, how))


HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
KINDS = {
    "refused": (lambda: None, {}, "502 to the client"),
    "reset": (lambda: Mute(reset), {}, "502 to the client"),
    "closed": (lambda: answers(b"", "close"), {}, "502 to the client"),
    "response-timeout": (lambda: Mute(lambda c: None), {"response-timeout": "300ms"}, "504 to the client"),
    "idle-timeout": (lambda: answers(HALF, "keep"), {"idle-timeout": "300ms"}, "cuts the transfer"),
    "bad-response": (lambda: answers(b"nonsense\r\n\r\n"), {}, "502 to the client"),
    "head-too-large": (
        lambda: answers(b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20) + b"\r\nContent-Length: 0\r\n\r\n"),
        {},
        "502 to the client",
    ),
    "tls": (lambda: Mute(lambda c: c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")), {}, "502 to the client"),
    "not-resolved": (lambda: None, {}, "502 to the client|504 to the client"),
}


@check("each kind of failure of an upstream is logged at once: node, reason, what was done", area="logs", seconds=150)
def kinds(bench):
    for kind, (make, settings, done) in KINDS.items():
        origin = make()
        if origin is not None:
            bench.use(origin)
            url = origin.url.replace("http", "https") if kind == "tls" else origin.url
        else:
            url = f"http://127.0.0.1:{closed_port()}" if kind == "refused" else "http://no-such-host.invalid"
        pawl = bench.pawl(url, name=kind, site=DIRECT, upstream=settings)
        # A request without content, so that the reset is what is read, and not what a write meets.
        head = b"GET /x HTTP/1.1" if kind == "reset" else b"POST /x HTTP/1.1\r\nContent-Length: 1"
        rest = b"\r\nHost: h\r\nX-Request-Id: me\r\nConnection: close\r\n\r\n"
        raw(pawl.address, head + rest + (b"" if kind == "reset" else b"1"), seconds=10)
        line = event(pawl, "upstream-failed")
        same((line["kind"], line["upstream"], line["level"]), (kind, "app", "warning"), f"{kind}: {line}")
        same((line["node"], line["request"], line["omitted"]), (url, "me", "0"), f"{kind}: {line}")
        true(re.fullmatch(done, line["next"]), f"{kind}: what was done: {line}")
        true(line["why"] not in ("", "-"), f"{kind}: no reason: {line}")


@check("failures of one kind are logged once a minute, and counted", area="logs")
def limited(bench):
    port = closed_port()
    pawl = bench.pawl(f"http://127.0.0.1:{port}", site=DIRECT)
    for turn in range(30):
        same(get(pawl.address, f"/{turn}").status, 502, "status")
    same(len(events(pawl, "upstream-failed")), 1, "lines of one kind")


@check("a node that fails is named with what was done instead: the next node, another connection", area="logs")
def instead(bench):
    alive = bench.origin()
    alive.default = Resource(b"alive")
    pawl = bench.pawl([f"http://127.0.0.1:{closed_port()}", alive.url], site=DIRECT)
    for turn in range(4):
        same(get(pawl.address, f"/{turn}").status, 200, "status")
    same(event(pawl, "upstream-failed")["next"], "tries the next node", "what was done")


@check("an origin that breaks off in a body: what, how far, why, what next", area="logs")
def broke(bench):
    origin = bench.origin()
    content = Content("broke", 2 << 20)
    origin.at(
        "/f",
        Resource(
            content, ranges=True, etag='"e"', fields=FRESH, breaks=lambda s, e: Break(1 << 20) if s == 0 else None
        ),
    )
    pawl = bench.pawl(origin)
    same(get(pawl.address, "/f", fields=(("X-Request-Id", "me"),)).sha, content.sha256(), "the body")
    line = event(pawl, "origin-broke")
    same((line["target"], line["of"], line["request"]), ("/f", str(2 << 20), "me"), f"{line}")
    true(re.match(r"fetches the rest from byte \d+, in ", line["next"]), f"{line}")
    failed = event(pawl, "upstream-failed")
    true(failed["kind"] in ("reset", "closed"), f"{failed}")
    same(failed["next"], line["next"], "what both events say is next")


@check("one break of an origin is one story: all events say the same is next", area="logs")
def story(bench):
    content = Content("story", 2 << 20)
    ranged = {"ranges": True, "etag": '"e"'}
    kinds = {
        "a rest": (ranged | {"fields": FRESH}, {}, r"fetches the rest from byte \d+, in .*"),
        "a replay": ({"fields": FRESH}, {}, "fetches it from the start and compares, in .*"),
        "a replay of what is not stored": (
            {"fields": (("Cache-Control", "no-store"),)},
            {},
            "fetches it from the start and compares, in .*",
        ),
        "no attempt": (ranged | {"fields": FRESH}, {"resume-attempts": 0}, "gives up: .*"),
    }
    for turn, (kind, (how, settings, words)) in enumerate(kinds.items()):
        origin = bench.origin()
        origin.at("/f", Resource(content, breaks=lambda s, e: Break(1 << 20) if s == 0 else None, **how))
        pawl = bench.pawl(origin, name=f"p{turn}", upstream={"resume-attempts": 1} | settings)
        get(pawl.address, "/f", keep=False)
        broke, failed = event(pawl, "origin-broke"), event(pawl, "upstream-failed")
        true(re.fullmatch(words, broke["next"]), f"{kind}: {broke}")
        same(failed["next"], broke["next"], f"{kind}: what both events say is next")


@check("a transfer that is cut: to whom, how far, of how much, why, what the client can do", area="logs")
def cut(bench):
    origin = bench.origin()
    origin.at(
        "/f",
        Resource(Content("cut", 1 << 20), fields=(("Cache-Control", "no-store"),), breaks=lambda s, e: Break(1 << 19)),
    )
    pawl = bench.pawl(origin, site=DIRECT, upstream={"resume-attempts": 0})
    get(pawl.address, "/f", keep=False)
    line = event(pawl, "transfer-cut")
    same(
        (line["by"], line["target"], line["of"], line["client"]), ("origin", "/f", str(1 << 20), "127.0.0.1"), f"{line}"
    )
    true(0 < int(line["sent"]) <= 1 << 19 and line["why"] and line["next"], f"{line}")


@check("five server errors in a row are logged, and their end", area="logs")
def streak(bench):
    origin = bench.origin()
    origin.at("/bad", Resource(b"bad", status=500))
    origin.at("/good", Resource(b"good"))
    pawl = bench.pawl(origin, site=DIRECT)
    for _ in range(4):
        get(pawl.address, "/bad")
    get(pawl.address, "/good")
    same(events(pawl, "upstream-errors"), [], "four in a row")
    for _ in range(7):
        get(pawl.address, "/bad")
    line = event(pawl, "upstream-errors")
    same((line["count"], line["status"], line["node"]), ("5", "500", origin.url), f"{line}")
    get(pawl.address, "/good")
    same(event(pawl, "upstream-errors-ended")["count"], "7", "the end")
    same(len(events(pawl, "upstream-errors")), 1, "one line for the streak")


@check(
    "log-level = debug explains misses, hits, what is not stored, not shared, and uploads; info does not", area="logs"
)
def explained(bench):
    origin = bench.origin()
    origin.at("/fresh", Resource(b"fresh", etag='"e"', fields=FRESH))
    origin.at("/private", Resource(b"mine", fields=(("Cache-Control", "private"),)))
    pawl = bench.pawl(origin)
    identify = lambda name: (("X-Request-Id", name),)
    get(pawl.address, "/fresh", fields=identify("one"))
    wait_for(lambda: events(pawl, "request-explained"), 10, "the explanation of the first")
    get(pawl.address, "/fresh", fields=identify("two"))
    get(pawl.address, "/private", fields=identify("three"))
    get(pawl.address, "/fresh", method="POST", body=b"x", fields=identify("four"))
    wait_for(lambda: len(events(pawl, "request-explained")) >= 4, 10, "explanations")
    by = {line["target"] + line["method"]: line for line in events(pawl, "request-explained")}
    lines = events(pawl, "request-explained")
    true(lines[0]["found"] == "nothing" and "asks the origin" in lines[0]["does"], f"the miss: {lines[0]}")
    same((lines[0]["store"], lines[0]["route"], lines[0]["request"]), ("for all requests", "main", "one"), "the miss")
    true("strong validator" in lines[0]["resumable"], f"{lines[0]}")
    same(lines[1]["cache"], "hit", "the hit")
    true("private (RFC 9111 §5.2.2.7)" in by["/privateGET"]["store"], f"{by['/privateGET']}")
    true("neither Tus-Resumable nor Upload-Complete" in by["/freshPOST"]["upload"], f"{by['/freshPOST']}")
    quiet = bench.pawl(origin, name="quiet", pawl={"log-level": "info"})
    get(quiet.address, "/fresh")
    same(events(quiet, "request-explained"), [], "at level info")


FORMAT = (
    '$remote_addr - $remote_user "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" '
    '"$http_x_one" $request_method $request_uri $args $is_args $server_protocol $scheme $host $http_host '
    "$request_length $bytes_sent $sent_http_content_type $sent_http_etag $upstream_status $pid"
)


def asked(address):
    """Requests whose lines nginx and pawl write alike."""
    b64 = "YW5uOnNlY3JldA=="
    plain = b"GET /a HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n\r\n"
    requests = [
        plain,
        b'GET /a?b=c HTTP/1.1\r\nHost: h.test:81\r\nReferer: http://r/\r\nUser-Agent: a "b" \\ \xe9\r\nX-One: 1\r\n'
        b"Connection: close\r\n\r\n",
        f"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Basic {b64}\r\nConnection: close\r\n\r\n".encode(),
        b"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Basic ImE6Yg==\r\nConnection: close\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Basic OnB3\r\nConnection: close\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer abc\r\nConnection: close\r\n\r\n",
        b"HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /missing? HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12345",
        b"GET /a HTTP/1.0\r\nHost: h\r\n\r\n",
    ]
    for request in requests:
        raw(address, request, seconds=5)
    return len(requests)


@check("a format of nginx gives nginx's line, byte for byte, and so does combined", area="logs")
def formats(bench):
    if not have("nginx"):
        raise Skip("nginx is not installed")
    origin = bench.origin()
    origin.at("/a", Resource(b"0123456789", etag='"e"', type="text/plain"))
    origin.at("/missing", Resource(b"no", status=404, type="text/plain"))
    # What belongs to one of the two programs: the size of its own response fields, its process.
    own = FORMAT.replace(" $bytes_sent", "").replace(" $pid", "").replace(" $sent_http_etag", "")
    for name, format in (("own", own), ("combined", "combined")):
        folder = bench.folder / f"nginx-{name}"
        definition = "" if format == "combined" else f"log_format x '{format}';"
        log = f"access_log {folder}/access.log {'x' if definition else 'combined'};"
        nginx = bench.use(
            Nginx(
                folder,
                f"location / {{ proxy_pass {origin.url}; }} {log}",
                http=definition,
            )
        )
        pawl = bench.pawl(origin, name=name, pawl={"access-log-format": format}, site=DIRECT)
        count = asked(nginx.address)
        asked(pawl.address)
        lines = []
        for path in (folder / "access.log", pawl.folder / "access.log"):
            wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, 10, f"lines in {path}")
            lines.append([re.sub(rb"\[[^]]*\]", b"[]", line) for line in path.read_bytes().splitlines()])
        for mine, theirs in zip(lines[1], lines[0], strict=True):
            same(mine, theirs, f"{name}: pawl's line, and nginx's")


@check("statuses are those of nginx for clients that leave, bad requests and heads that come too late", area="logs")
def statuses(bench):
    if not have("nginx"):
        raise Skip("nginx is not installed")
    release = threading.Event()
    origin = bench.origin()
    origin.default = Resource(b"late", before_head=lambda r: release.wait(20))
    folder = bench.folder / "nginx"
    nginx = bench.use(
        Nginx(
            folder,
            f"client_header_timeout 1s; access_log {folder}/access.log x; location / {{ proxy_pass {origin.url}; }}",
            http="log_format x '$status';",
        )
    )
    pawl = bench.pawl(origin, pawl={"access-log-format": "$status"}, listen={"header-timeout": "1s"}, site=DIRECT)
    logs = (folder / "access.log", pawl.folder / "access.log")
    count = lambda path: path.read_bytes().count(b"\n") if path.exists() else 0
    for address, path in zip((nginx.address, pawl.address), logs):
        begun = len(origin.requests)
        with Client(address) as client:
            client.request("/leaves")
            wait_for(lambda begun=begun: len(origin.requests) > begun, 10, "the request at the origin")
            client.reset()
        wait_for(lambda: count(path) >= 1, 10, "the line of the client that left")
        raw(address, b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", seconds=5)
        wait_for(lambda: count(path) >= 2, 10, "the line of the bad request")
        raw(address, b"GET / HTTP/1.1\r\nHost: a\r\n", seconds=5)
        wait_for(lambda: count(path) >= 3, 10, "the line of the late head")
    release.set()
    same(logs[1].read_text().split(), logs[0].read_text().split(), "pawl's statuses, and nginx's")
    same(logs[1].read_text().split(), ["499", "400", "408"], "the statuses")


@check("the access log goes to standard output and events to standard error, each by itself", area="logs")
def apart(bench):
    origin = bench.origin()
    origin.default = Resource(b"1")
    pawl = bench.pawl(origin, pawl={"access-log": "stdout"})
    get(pawl.address, "/seen")
    wait_for(lambda: any("/seen" in line for line in pawl.lines), 5, "the line on standard output")
    access = [line for line in pawl.lines if "/seen" in line]
    true(json.loads(access[0])["target"] == "/seen", f"{access}")
    true('"target"' not in pawl.log(), "an access line on standard error")


@check("events go to a file of their own, which SIGUSR1 opens again", area="logs")
def file(bench):
    origin = bench.origin()
    origin.default = Resource(b"1")
    pawl = bench.pawl(origin, pawl={"log": "events.log"})
    path = pawl.folder / "events.log"
    get(pawl.address, "/first")
    wait_for(lambda: "/first" in path.read_text(), 5, "the first event")
    path.rename(pawl.folder / "events.1")
    os.kill(pawl.pid, 10)

    def again():
        get(pawl.address, "/second")
        return path.exists() and "/second" in path.read_text()

    wait_for(again, 10, "an event in the new file")
    same(pawl.log(), "", "standard error")


class Daemon:
    """A local datagram socket that keeps what it gets; a message in a file is read and checked to be sealed."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.messages, self.files = [], 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                data, control, _, _ = self.socket.recvmsg(1 << 20, socket.CMSG_SPACE(4))
            except OSError:
                return
            for level, kind, value in control:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptor = array.array("i", value[:4])[0]
                    seals = __import__("fcntl").fcntl(descriptor, 1034)
                    if seals & 0xF == 0xF:
                        self.files += 1
                    data = os.pread(descriptor, 1 << 24, 0)
                    os.close(descriptor)
            self.messages.append(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def fields(message):
    """The fields of a message in the journal's native protocol."""
    found, rest = {}, message
    while rest:
        line, _, rest = rest.partition(b"\n")
        if b"=" in line:
            key, _, value = line.partition(b"=")
        else:
            key, length = line, struct.unpack("<Q", rest[:8])[0]
            value, rest = rest[8 : 8 + length], rest[9 + length :]
        found[key.decode()] = value.decode("utf-8", "replace")
    return found


@check(
    "journald gets a field for each value, large messages as sealed files, and access lines with theirs", area="logs"
)
def journald(bench):
    origin = bench.origin()
    origin.default = Resource(b"1", fields=FRESH)
    daemon = bench.use(Daemon(bench.folder / "journal"))
    pawl = bench.pawl(
        origin,
        pawl={
            "log": f"journald:{daemon.path}",
            "access-log": f"journald:{daemon.path}",
            "access-log-format": "combined",
        },
        listen={"max-header": "512K"},
    )
    get(pawl.address, "/seen", fields=(("X-Request-Id", "me"),))
    large = "x" * 250_000
    same(get(pawl.address, "/large", fields=(("User-Agent", large),)).status, 200, "a long field")
    found = lambda: [fields(message) for message in daemon.messages]
    access = lambda: [each for each in found() if each.get("PAWL_EVENT") == "access"]
    wait_for(lambda: len(access()) >= 2, 10, "access lines")
    first = access()[0]
    same(
        [
            first[key]
            for key in ("PRIORITY", "SYSLOG_IDENTIFIER", "PAWL_TARGET", "PAWL_STATUS", "PAWL_REQUEST", "PAWL_CACHE")
        ],
        ["6", "pawl", "/seen", "200", "me", "miss"],
        f"{first}",
    )
    true('"GET /seen HTTP/1.1" 200 1' in first["MESSAGE"], f"{first}")
    true(large in access()[1]["MESSAGE"], "the long field")
    true(daemon.files >= 1, "no message came as a sealed file")
    explained = [each for each in found() if each.get("PAWL_EVENT") == "request-explained"]
    same((explained[0]["PAWL_TARGET"], explained[0]["PRIORITY"]), ("/seen", "7"), f"{explained[0]}")
    same(pawl.log(), "", "standard error")


SYSLOG = re.compile(
    rb"<(\d+)>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S+) pawl (\d+) ([!-~]{1,32}) - (.*)", re.DOTALL
)


@check(
    "syslog gets messages of RFC 5424 with facility and severity, or of the older format; no request waits", area="logs"
)
def syslog(bench):
    origin = bench.origin()
    origin.default = Resource(b"1", fields=FRESH)
    daemon = bench.use(Daemon(bench.folder / "log"))
    where = f"syslog:{daemon.path}"
    pawl = bench.pawl(
        origin, pawl={"log": where, "access-log": where, "access-log-format": "combined", "syslog-facility": "local4"}
    )
    get(pawl.address, "/seen")
    wait_for(lambda: any(b" access - " in each for each in daemon.messages), 10, "an access line")
    for message in daemon.messages:
        parts = SYSLOG.fullmatch(message)
        true(parts, f"not RFC 5424: {message!r}")
        same(
            (int(parts[1]) >> 3, parts[3].decode(), int(parts[4])), (20, socket.gethostname(), pawl.pid), f"{message!r}"
        )
        true(int(parts[1]) & 7 in (3, 4, 5, 6, 7), f"severity: {message!r}")
    access = next(each for each in daemon.messages if b" access - " in each)
    true(SYSLOG.fullmatch(access)[6].startswith(b"127.0.0.1 - - ["), f"{access!r}")
    old = bench.use(Daemon(bench.folder / "old"))
    older = bench.pawl(origin, name="older", pawl={"log": f"syslog:{old.path}", "syslog-format": "rfc3164"})
    get(older.address, "/seen")
    wait_for(lambda: old.messages, 10, "a message")
    true(
        re.match(rb"<\d+>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d pawl\[\d+\]: ", old.messages[0]),
        f"not RFC 3164: {old.messages[0]!r}",
    )
    # A daemon that takes nothing any more holds up no request.
    stuck = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bench.use(stuck)
    stuck.bind(str(bench.folder / "stuck"))
    slow = bench.pawl(
        origin, name="slow", pawl={"log": f"syslog:{bench.folder}/stuck", "access-log": f"syslog:{bench.folder}/stuck"}
    )
    for turn in range(200):
        same(get(slow.address, f"/{turn}").status, 200, "a request beside a daemon that is stuck")


@check("a sample of the hits is logged, and everything else", area="logs")
def sample(bench):
    origin = bench.origin()
    origin.at("/f", Resource(b"1", fields=FRESH))
    origin.at("/missing", Resource(b"", status=404, fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin, pawl={"access-log-sample": "1/10"})
    for _ in range(101):
        get(pawl.address, "/f")
    for _ in range(5):
        get(pawl.address, "/missing")
    lines = pawl.access(count=16)
    same(
        (sum(each["cache"] == "hit" for each in lines), sum(each["status"] == 404 for each in lines)),
        (10, 5),
        "hits and others",
    )


@check("clients see no address, port or name of the inside; trusted proxies see all", area="logs")
def inside(bench):
    port = closed_port()
    open_port = bench.pawl(f"http://127.0.0.1:{port}", name="public", site=DIRECT)
    answer = get(open_port.address, "/x")
    same((answer.status, answer.get("Proxy-Status")), (502, "pawl; error=connection_refused"), "to the public")
    everything = f"{answer.fields} {answer.body!r}"
    true(str(port) not in everything and "upstream" not in everything, f"of the inside: {everything}")
    trusted = bench.pawl(f"http://127.0.0.1:{port}", name="trusted", site=DIRECT, pawl={"trusted-proxies": "127.0.0.1"})
    answer = get(trusted.address, "/x")
    true(
        f'details="127.0.0.1:{port}' in answer.get("Proxy-Status"), f"to a trusted proxy: {answer.get('Proxy-Status')}"
    )
    true(b"upstream app" in answer.body, f"{answer.body!r}")
    nodes = [bench.origin(), bench.origin()]
    for node, other in zip(nodes, reversed(nodes)):
        node.default = Resource(b"", status=302, fields=(("Location", f"{other.url}/next"),))
    pawl = bench.pawl([node.url for node in nodes], name="nodes", site=DIRECT)
    same({get(pawl.address, "/x").get("Location") for _ in range(4)}, {"/next"}, "redirects to another node")


@check("no secret is in any log: tokens of uploads, credentials, cookies, passwords", area="logs")
def secrets(bench):
    origin = bench.origin()
    origin.default = Resource(b"1", fields=(("Set-Cookie", "sid=SECRET1"),))
    formats = {
        "json": "json",
        "combined": "combined",
        "own": "$request $http_referer $http_x_original_uri $sent_http_location",
    }
    for name, format in formats.items():
        pawl = bench.pawl(origin, name=name, pawl={"access-log-format": format, "log-level": "debug"})
        hidden = (("Authorization", "Basic YW5uOlNFQ1JFVDI="), ("Cookie", "sid=SECRET3"), ("X-Api-Key", "SECRET4"))
        get(pawl.address, "/a", fields=hidden)
        created = raw(
            pawl.address,
            b"POST /up HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 5\r\n\r\n",
            seconds=2,
        )
        location = re.search(rb"(?i)\r\nlocation: (\S+)", created[1])[1].decode()
        token = location.rstrip("/").rsplit("/", 1)[1]
        path = "/" + location.split("/", 3)[3] if "://" in location else location
        get(pawl.address, path, method="HEAD", fields=(("Tus-Resumable", "1.0.0"),))
        get(pawl.address, "/b", fields=(("Referer", f"http://h{path}"), ("X-Original-Uri", path)))
        get(pawl.address, path.replace("/.pawl", "/%2Epawl"))
        wait_for(lambda: (pawl.folder / "access.log").read_bytes().count(b"\n") >= 4, 10, "lines")
        pawl.stop()
        logs = (pawl.folder / "access.log").read_text() + pawl.log()
        for secret in ("SECRET", "U0VDUkVU", "YW5uOlNFQ1JFVDI=", token):
            true(
                secret not in logs, f"{name}: {secret} is in a log: {[l for l in logs.splitlines() if secret in l][:2]}"
            )
