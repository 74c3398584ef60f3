"""The HTTP/1.1 proxy: framing both ways, connections, interim answers, tunnels, errors, fields."""

import base64
import hashlib
import random
import re
import socket
import threading
import time

from harness import certificates
from harness.checks import V1, check, same, timely, true
from harness.client import Client, get, head
from harness.content import Comparer, Content
from harness.origin import Break, Origin, RawOrigin, Resource, break_points
from harness.process import free_port, wait_for

SHORT = (b"one", b"\0\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n")
PLAIN = dict(fields=(("Cache-Control", "no-store"),))
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def websocket_accept(key):
    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


def once(data, end="keep"):
    return lambda connection, number, head: (data, end)


@check("keep-alive and ordered pipelining", area="proxy")
def pipelining(bench):
    origin = bench.origin()
    for i in range(20):
        origin.at(
            f"/{i}", Resource(b"body %d" % i, before_head=(lambda r: time.sleep(0.2)) if i % 5 == 0 else None, **PLAIN)
        )
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        for i in range(3):
            client.request(f"/{i}")
            same(client.response().body, b"body %d" % i, f"keep-alive answer {i}")
        client.send(b"".join(head(f"/{i}") for i in range(20)))
        same([client.response().body for _ in range(20)], [b"body %d" % i for i in range(20)], "pipelined answers")
    same(origin.count("/7"), 1, "requests for /7")


@check("pipelined hits and misses and a POST keep their order", area="proxy")
def pipelined_mix(bench):
    origin = bench.origin()
    origin.at("/hit", Resource(b"hit", fields=(("Cache-Control", "max-age=60"),)))
    origin.at("/slow", Resource(b"slow", before_head=lambda r: time.sleep(0.3), **PLAIN))
    origin.at("/post", lambda r: Resource(b"got " + r.body, **PLAIN))
    pawl = bench.pawl(origin)
    get(pawl.address, "/hit")
    with Client(pawl.address) as client:
        client.send(head("/slow") + head("/hit") + head("/post", "POST", body=b"abc") + b"abc" + head("/hit"))
        same([client.response().body for _ in range(4)], [b"slow", b"hit", b"got abc", b"hit"], "answers")


@check(
    "Connection: close, HTTP/1.0 and HTTP/1.0 keep-alive clients",
    area="proxy",
    over=V1,
    why="HTTP/2 has no Connection field and one version",
)
def versions(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x" * 1000, framing="chunked", **PLAIN))
    origin.at("/y", Resource(b"y" * 1000, **PLAIN))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/y", fields=(("Connection", "close"),))
        answer = client.response()
        same((answer.body, (answer.get("Connection") or "").lower()), (b"y" * 1000, "close"), "answer with close")
        same(client.until_end(3)[1], "fin", "end of the connection")
    with Client(pawl.address) as client:
        client.request("/x", version="1.0")
        answer = client.response()
        same((answer.status, answer.framing, answer.body), (200, "close", b"x" * 1000), "chunked for HTTP/1.0")
        true(answer.get("Transfer-Encoding") is None, "Transfer-Encoding to an HTTP/1.0 client")
    with Client(pawl.address) as client:
        for _ in range(2):
            client.request("/y", version="1.0", fields=(("Connection", "keep-alive"),))
            answer = client.response()
            same((answer.framing, answer.body), ("length", b"y" * 1000), "HTTP/1.0 keep-alive")
            same((answer.get("Connection") or "").lower(), "keep-alive", "Connection field")


@check("response framings of the origin arrive whole (length, chunked, close, HTTP/1.0, empty)", area="proxy")
def framings(bench):
    origin = bench.origin()
    content = Content("framings", 300_000)
    for framing in ("length", "chunked", "close"):
        origin.at("/" + framing, Resource(content, framing=framing, **PLAIN))
    origin.at("/ten", lambda r: (b"HTTP/1.0 200 OK\r\n\r\nold and closed", "close"))
    origin.at("/empty", Resource(b"", **PLAIN))
    origin.at("/204", Resource(b"", status=204, **PLAIN))
    pawl = bench.pawl(origin)
    for framing in ("length", "chunked", "close"):
        answer = get(pawl.address, "/" + framing)
        same((answer.status, answer.sha, answer.complete), (200, content.sha256(), True), framing)
        if bench.is_1_1:
            answer = get(pawl.address, "/" + framing, version="1.0")
            same((answer.status, answer.sha), (200, content.sha256()), framing + " for HTTP/1.0")
    same(get(pawl.address, "/ten").body, b"old and closed", "HTTP/1.0 origin")
    answer = get(pawl.address, "/empty")
    same((answer.status, answer.length, answer.complete), (200, 0, True), "empty body")
    answer = get(pawl.address, "/204")
    same((answer.status, answer.get("Content-Length"), answer.get("Transfer-Encoding")), (204, None, None), "204")


@check("request bodies pass with their framing and arrive whole", area="proxy")
def request_bodies(bench):
    origin = bench.origin()
    origin.at(
        "/in",
        lambda r: Resource(
            b"%d %s" % (len(r.body), __import__("hashlib").sha256(r.body).hexdigest().encode()), **PLAIN
        ),
    )
    pawl = bench.pawl(origin)
    content = Content("up", 3_000_000)
    expected = b"%d %s" % (content.size, content.sha256().encode())
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = get(pawl.address, "/in", method=method, body=content.read())
        same(answer.body, expected, method + " with a length")
    with Client(pawl.address) as client:
        client.send(head("/in", "POST", (("Transfer-Encoding", "chunked"),)))
        at = 0
        for size in (1, 10, 100_000, 65_536, 1_000_000):
            client.send(b"%x;ext=1\r\n" % size + content.read(at, at + size) + b"\r\n")
            at += size
        client.send(b"%x\r\n" % (content.size - at) + content.read(at) + b"\r\n0\r\n\r\n")
        same(client.response().body, expected, "POST in chunks")
        client.request("/in", "POST", body=b"")
        same(client.response().body[:2], b"0 ", "an empty POST on the same connection")
    forwarded = [r for r in origin.of("/in") if r.method == "POST"][1]
    same(
        len(forwarded.all("Content-Length")) + len(forwarded.all("Transfer-Encoding")),
        1,
        "framing fields at the origin",
    )


@check("Expect: 100-continue is answered before the body, other expectations are 417", area="proxy")
def expect(bench):
    origin = bench.origin()
    origin.at("/in", lambda r: Resource(r.body, **PLAIN))

    def refuse(request, connection, buffer):
        connection.sendall(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        request.status = 413
        connection.settimeout(1)
        Origin._drain(connection)

    refuse.wants_connection = True
    origin.at("/refuse", refuse)
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.send(head("/in", "POST", (("Expect", "100-continue"), ("Content-Length", "5"))))
        client.socket.settimeout(3)
        lines = client._head()
        true(lines[0].startswith(b"HTTP/1.1 100"), f"not 100 but {lines[0]!r}")
        client.send(b"hello")
        same(client.response().body, b"hello", "answer")
        client.send(head("/in", "POST", (("Expect", "200-ok"), ("Content-Length", "0"))))
        same(client.response().status, 417, "status for another expectation")
    with Client(pawl.address) as client:
        client.send(head("/refuse", "POST", (("Expect", "100-continue"), ("Content-Length", "50000000"))))
        answer = client.response()
        same((answer.status, answer.body, answer.interim), (413, b"big", []), "the origin's refusal without a body")


@check("every 1xx passes (102, 103, 104), not to HTTP/1.0; 100 without Expect", area="proxy")
def interim(bench):
    origin = bench.origin()
    interims = (
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
        b"HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\nUpload-Draft-Interop-Version: 6\r\n\r\n",
    )
    origin.at("/x", Resource(b"final", interim=interims, **PLAIN))
    origin.at("/kept", Resource(b"final", interim=interims[1:2], fields=(("Cache-Control", "max-age=60"),)))
    pawl = bench.pawl(origin)
    answer = get(pawl.address, "/x")
    same([number for number, _ in answer.interim], [102, 103, 104], "interim answers")
    same(dict(answer.interim[1][1]).get("Link"), "</a.css>; rel=preload", "Link of the 103")
    same(answer.body, b"final", "body")
    if bench.is_1_1:
        answer = get(pawl.address, "/x", version="1.0")
        same(([n for n, _ in answer.interim], answer.body), ([], b"final"), "for an HTTP/1.0 client")
    same([n for n, _ in get(pawl.address, "/kept").interim], [103], "on a miss that is kept")
    answer = get(pawl.address, "/kept")
    true(answer.hit and answer.body == b"final", "the kept one is no hit")


@check("an early final response reaches a client that still sends", area="proxy")
def early(bench):
    origin = bench.origin()

    def refuse(request, connection, buffer):
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.5)

    refuse.wants_connection = True
    origin.at("/refuse", refuse)
    pawl = bench.pawl(origin)
    with Client(pawl.address, timeout=10) as client:
        client.send(head("/refuse", "POST", (("Content-Length", "200000000"),)))
        sent, block = 0, bytes(65536)
        client.socket.settimeout(3)
        try:
            while sent < 100 << 20:
                client.socket.sendall(block)
                sent += len(block)
        except OSError:
            pass
        answer = client.response()
        same((answer.status, answer.body), (403, b"no"), f"answer after {sent} bytes sent")
    with Client(pawl.address, timeout=10) as client:
        client.send(head("/refuse", "POST", (("Content-Length", "200000000"),)) + bytes(100000))
        answer = client.response()
        same((answer.status, answer.body), (403, b"no"), "answer for a client that waits")


@check("a client that closes its sending side still gets the answer", area="proxy")
def half_close(bench):
    origin = bench.origin()
    content = Content("half", 3_000_000)
    origin.at("/x", Resource(content, before_head=lambda r: time.sleep(0.3), **PLAIN))
    origin.at(
        "/kept", Resource(content, before_head=lambda r: time.sleep(0.3), fields=(("Cache-Control", "max-age=60"),))
    )
    pawl = bench.pawl(origin)
    for path in ("/x", "/kept", "/kept"):
        with Client(pawl.address) as client:
            client.request(path)
            client.finish()
            same(client.response().sha, content.sha256(), path)


@check("upgrade becomes a tunnel, both ways, with leftovers and a half-close", area="proxy")
def upgrade(bench):
    origin = bench.origin()
    seen = {}

    def tunnel(request, connection, buffer):
        seen["fields"] = request.fields
        accept = websocket_accept(request.get("Sec-WebSocket-Key"))  # over HTTP/2 the key is pawl's own
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: " + accept.encode() + b"\r\n\r\nhello from the first packet"
        )
        if buffer:
            connection.sendall(buffer)
        while True:
            data = connection.recv(65536)
            if not data:
                break
            connection.sendall(data[::-1] if data in SHORT else data)
        connection.sendall(b"bye")

    tunnel.wants_connection = True
    origin.at("/ws", tunnel)
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request(
            "/ws",
            fields=(
                ("Connection", "Upgrade"),
                ("Upgrade", "websocket"),
                ("Sec-WebSocket-Key", KEY),
                ("Sec-WebSocket-Version", "13"),
            ),
        )
        answer = client.response()
        same((answer.status, answer.get("Sec-WebSocket-Accept")), (101, websocket_accept(KEY)), "the switch")
        same((answer.get("Upgrade") or "").lower(), "websocket", "Upgrade field")
        data = bytes(client.buffer)
        client.buffer.clear()
        while len(data) < 27:
            data += client._more()
        same(data, b"hello from the first packet", "first bytes of the tunnel")
        for text in SHORT:
            client.send(text)
            data = b""
            while len(data) < len(text):
                data += client._more()
            same(data, text[::-1], "echo")
        content = Content("tunnel", 5_000_000)
        got, comparer = 0, Comparer(content)
        sender = threading.Thread(target=lambda: [client.send(bytes(p)) for p in content.pieces()], daemon=True)
        sender.start()
        while got < content.size:
            piece = client._more()
            comparer(piece)
            got += len(piece)
        true(comparer.same, "the tunnel changed bytes")
        client.finish()
        same(client.until_end(3), (b"bye", "fin"), "after the client's half-close")
    same({k.lower(): v for k, v in seen["fields"]}.get("upgrade"), "websocket", "Upgrade at the origin")


@check(
    "an upgrade the origin does not take is an ordinary answer; h2c is never passed on",
    area="proxy",
    over=V1,
    why="Upgrade is of HTTP/1.1",
)
def upgrade_refused(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"plain", **PLAIN))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x", fields=(("Connection", "Upgrade"), ("Upgrade", "websocket")))
        same(client.response().body, b"plain", "answer")
        client.request(
            "/x", fields=(("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk"))
        )
        same(client.response().body, b"plain", "answer to h2c")
    request = origin.of("/x")[-1]
    same((request.get("Upgrade"), request.get("HTTP2-Settings")), (None, None), "h2c fields at the origin")


@check("text/event-stream is passed on event by event", area="proxy")
def events(bench):
    origin = bench.origin()
    body = b"".join(b"data: event %d\n\n" % i for i in range(6))
    step = len(b"data: event 0\n\n")
    for framing in ("chunked", "close"):
        mine = [threading.Event() for _ in range(5)]
        origin.at(
            "/" + framing,
            Resource(
                body,
                framing=framing,
                type="text/event-stream",
                gates=tuple(((i + 1) * step, g) for i, g in enumerate(mine)),
            ),
        )
        pawl = bench.pawl(origin, name="pawl-" + framing)
        arrived, begun = [], time.monotonic()

        def sink(data):
            arrived.append(data)
            whole = b"".join(arrived)
            count = len(whole) // step
            if count <= len(mine) and count:
                mine[count - 1].set()

        answer = get(pawl.address, "/" + framing, sink=sink, timeout=5)
        same((b"".join(arrived), answer.complete), (body, True), framing + " events")
        timely(time.monotonic() - begun < 4, "too slow")


@check("any slow body is passed on as it comes, kept or not", area="proxy")
def unbuffered(bench):
    origin = bench.origin()
    for name, fields in (("/plain", PLAIN["fields"]), ("/kept", (("Cache-Control", "max-age=60"),))):
        for framing in ("length", "chunked"):
            gate = threading.Event()
            path = f"{name}-{framing}"
            origin.at(path, Resource(b"a" * 10 + b"b" * 10, framing=framing, fields=fields, gates=((10, gate),)))
    pawl = bench.pawl(origin)
    for path, resource in list(origin.resources.items()):
        gate = resource.gates[0][1]
        answer = get(pawl.address, path, sink=lambda data: gate.set() if data.startswith(b"a") else None, timeout=5)
        same((answer.count, answer.complete), (20, True), path)


@check(
    "backpressure: a slow reader slows the origin, a slow origin slows the sender; memory stays",
    area="proxy",
    seconds=90,
)
def backpressure(bench):
    origin = bench.origin()
    content = Content("press", 1 << 30)
    origin.at("/down", Resource(content, **PLAIN))
    release = threading.Event()

    def slow(request, connection, buffer):
        release.wait(20)
        request.body_count = len(buffer)
        connection.settimeout(5)
        try:
            while request.body_count < 100 << 20:
                data = connection.recv(262144)
                if not data:
                    break
                request.body_count += len(data)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except OSError:
            pass

    slow.wants_connection = True
    origin.at("/up", slow)
    pawl = bench.pawl(origin)
    get(pawl.address, "/warm")
    before = pawl.own_rss()
    clients = []
    for _ in range(4):
        client = bench.use(Client(pawl.address, receive_buffer=65536))
        client.request("/down")
        clients.append(client)
    time.sleep(2)
    first = origin.sent("/down")
    time.sleep(1)
    true(origin.sent("/down") - first < 1 << 20, f"the origin goes on sending: {first} then {origin.sent('/down')}")
    true(first < 4 * (40 << 20), f"{first} bytes were taken for four readers that read nothing")
    grown = pawl.own_rss() - before
    true(grown < 24 << 20, f"memory grew by {grown} bytes for four slow readers")
    for client in clients:
        client.close()
    client = bench.use(Client(pawl.address, timeout=1))
    client.send(head("/up", "POST", (("Content-Length", str(100 << 20)),)))
    sent, block = 0, bytes(65536)
    try:
        while sent < 100 << 20:
            client.socket.sendall(block)
            sent += len(block)
    except socket.timeout:
        pass
    true(sent < 40 << 20, f"{sent} bytes of a request were taken by an origin that reads nothing")
    true(pawl.own_rss() - before < 24 << 20, f"memory grew by {pawl.own_rss() - before} bytes for a slow upload")
    release.set()


@check("several URLs: round robin, failover while nothing was sent, a dead one is skipped", area="proxy")
def failover(bench):
    one, two = bench.origin(), bench.origin()
    for origin, name in ((one, b"one"), (two, b"two")):
        origin.at("/x", Resource(name, **PLAIN))
        origin.at("/in", lambda r, name=name: Resource(name + r.body, **PLAIN))
    pawl = bench.pawl([one.url, two.url])
    seen = [get(pawl.address, "/x").body for _ in range(10)]
    true(seen.count(b"one") >= 3 and seen.count(b"two") >= 3, f"not round robin: {seen}")
    dead = free_port()
    pawl = bench.pawl([f"http://127.0.0.1:{dead}", two.url], name="dead")
    for i in range(10):
        same(get(pawl.address, "/x").body, b"two", "answer while the first URL is dead")
        same(get(pawl.address, "/in", method="POST", body=b"!").body, b"two!", "POST while the first URL is dead")


@check("a kept connection that closed before its first byte: GET is retried, POST is not", area="proxy")
def retry(bench):
    def reply(connection, number, request):
        if number == 0 or connection > 0:
            return b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok", "keep"
        return b"", "rst"

    with RawOrigin(reply) as origin:
        pawl = bench.pawl(origin.url, pawl={"workers": 1})
        with Client(pawl.address) as client:
            client.request("/1")
            same(client.response().body, b"ok", "first")
            client.request("/2")
            answer = client.response()
            same((answer.status, answer.body), (200, b"ok"), "GET on a connection the origin resets")
        true(len(origin.received) >= 2, "no second connection")
    posts = []

    def reply_post(connection, number, request):
        posts.append(request.split(b" ")[0])
        if number == 0:
            return b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok", "keep"
        return b"", "rst"

    with RawOrigin(reply_post) as origin:
        pawl = bench.pawl(origin.url, name="post", pawl={"workers": 1})
        with Client(pawl.address) as client:
            client.request("/1")
            same(client.response().body, b"ok", "first")
            client.request("/2", "POST", body=b"pay once")
            answer = client.response()
            same(answer.status, 502, "POST on a connection the origin resets")
            true("pawl" in (answer.get("Proxy-Status") or ""), "no Proxy-Status")
        same(posts.count(b"POST"), 1, "POSTs the origin saw")


@check("fields: Via, X-Forwarded-*, X-Request-Id, hop-by-hop ones gone, inbound copies replaced", area="proxy")
def fields(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        Resource(
            b"x",
            fields=(
                ("Cache-Control", "no-store"),
                ("Connection", "X-Hop"),
                ("X-Hop", "1"),
                ("Keep-Alive", "timeout=5"),
                ("X-End", "2"),
                ("Proxy-Authenticate", "Basic"),
            ),
        ),
    )
    pawl = bench.pawl(origin)
    answer = get(
        pawl.address,
        "/x?a=1&b=%2f",
        host="Shop.Example:8080",
        fields=(
            ("X-Forwarded-For", "6.6.6.6"),
            ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "evil"),
            ("Forwarded", "for=6.6.6.6"),
            ("X-Real-IP", "6.6.6.6"),
            ("TE", "trailers"),
            ("Keep-Alive", "x"),
            ("Proxy-Connection", "keep-alive"),
            ("X-Mine", "a"),
            ("X-Mine", "b"),
            ("Request-Range", "bytes=0-1"),
            ("X_Forwarded_For", "6.6.6.6"),
        ),
    )
    same(answer.body, b"x", "body")
    request = origin.of("/x")[-1]
    same(request.target, "/x?a=1&b=%2f", "target, byte for byte")
    same(len(request.all("Host")), 1, "Host fields")
    same(request.all("X-Forwarded-For"), ["127.0.0.1"], "X-Forwarded-For")
    same(request.all("X-Forwarded-Proto"), [bench.scheme], "X-Forwarded-Proto")
    same([v.lower() for v in request.all("X-Forwarded-Host")], ["shop.example:8080"], "X-Forwarded-Host")
    true("6.6.6.6" not in request.raw.decode("latin-1"), f"a forged address went on: {request.raw!r}")
    true(
        re.search(r"\b1\.1 pawl" if bench.is_1_1 else r"\b(1\.1|2|2\.0) pawl", request.get("Via") or ""),
        "Via at the origin",
    )
    true(re.fullmatch(r"[\x21-\x7e]{8,}", request.get("X-Request-Id") or ""), "X-Request-Id at the origin")
    same([v for v in ", ".join(request.all("X-Mine")).split(", ")], ["a", "b"], "X-Mine")
    for name in ("Keep-Alive", "Proxy-Connection", "Request-Range"):
        same(request.get(name), None, name + " at the origin")
    for name in ("X-Hop", "Keep-Alive"):
        same(answer.get(name), None, name + " at the client")
    same((answer.get("X-End"), answer.get("Via")), ("2", "1.1 pawl"), "fields at the client")
    same(answer.get("X-Request-Id"), request.get("X-Request-Id"), "X-Request-Id at the client")
    true("pawl" in (answer.get("Cache-Status") or ""), "Cache-Status")
    true(answer.get("Date"), "Date")
    answer = get(pawl.address, "/x", fields=(("X-Request-Id", "mine-1"),))
    same(origin.of("/x")[-1].get("X-Request-Id"), "mine-1", "a given X-Request-Id")
    same(answer.get("X-Request-Id"), None, "X-Request-Id at a client that gave one")


@check("trusted-proxies are believed and appended to", area="proxy")
def trusted(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x", **PLAIN))
    pawl = bench.pawl(origin, pawl={"trusted-proxies": "127.0.0.1"})
    get(pawl.address, "/x", fields=(("X-Forwarded-For", "9.9.9.9"), ("X-Forwarded-Proto", "https")))
    request = origin.of("/x")[-1]
    same(", ".join(request.all("X-Forwarded-For")), "9.9.9.9, 127.0.0.1", "X-Forwarded-For")
    same(request.get("X-Forwarded-Proto"), "https", "X-Forwarded-Proto")


@check("a loop ends with proxy_loop_detected", area="proxy")
def loop(bench):
    port = free_port()
    pawl = bench.pawl(
        f"{bench.scheme}://127.0.0.1:{port}",
        listen={"address": f"127.0.0.1:{port}"},
        upstream={"tls-ca": certificates.authority().file} if bench.scheme == "https" else None,
    )
    begun = time.monotonic()
    answer = get(pawl.address, "/x", timeout=10)
    true(answer.status in (502, 508), f"status {answer.status}")
    true(
        "proxy_loop_detected" in (answer.get("Proxy-Status") or "")
        or "proxy_loop_detected" in " ".join(answer.all("Proxy-Status")),
        f"Proxy-Status {answer.all('Proxy-Status')}",
    )
    timely(time.monotonic() - begun < 5, "slow")


ERRORS = [
    ("connection refused", None, {}, (502,), "connection_refused"),
    ("garbage", (b"SMTP ready\r\n\r\n", "close"), {}, (502,), "http_protocol_error"),
    ("closed before a head", (b"", "close"), {}, (502,), "connection_terminated|http_response_incomplete"),
    (
        "closed inside a head",
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", "close"),
        {},
        (502,),
        "http_response_incomplete|connection_terminated",
    ),
    ("silent", "silent", {"response-timeout": "500ms"}, (504,), "http_response_timeout|connection_read_timeout"),
    (
        "huge head",
        (b"HTTP/1.1 200 OK\r\n" + b"A: " + b"b" * 70000 + b"\r\n\r\n", "close"),
        {},
        (502,),
        "http_response_header",
    ),
]


@check("errors of its own carry Proxy-Status and a body for people", area="proxy")
def errors(bench):
    wrong = []
    for name, script, settings, statuses, kind in ERRORS:
        if script is None:
            url = f"http://127.0.0.1:{free_port()}"
        else:
            gate = threading.Event()

            def reply(connection, number, request, script=script, gate=gate):
                if script == "silent":
                    gate.wait(3)
                    return b"", "close"
                return script

            url = bench.use(RawOrigin(reply)).url
        pawl = bench.pawl(url, name=name.replace(" ", "-"), upstream=settings)
        answer = get(pawl.address, "/x", timeout=10)
        status = " ".join(answer.all("Proxy-Status"))
        if (
            answer.status not in statuses
            or not re.search(kind, status)
            or len(answer.body) < 20
            or not answer.complete
            or not (answer.get("Content-Type") or "").startswith("text/")
        ):
            wrong.append((name, answer, status, answer.body[:80]))
        pawl.stop()
    pawl = bench.pawl("http://no-such-host.invalid", name="dns")
    answer = get(pawl.address, "/x", timeout=15)
    if answer.status not in (502, 504) or "dns" not in " ".join(answer.all("Proxy-Status")):
        wrong.append(("dns", answer, answer.all("Proxy-Status")))
    true(not wrong, f"{wrong}")


@check("a truncated response ends visibly for the client, by FIN (RST where nothing else shows it)", area="proxy")
def truncated(bench):
    origin = bench.origin()
    content = Content("truncated", 100_000)
    origin.at(
        "/length",
        lambda r: (
            Resource(content, breaks=lambda s, e: Break(50_000, "fin"), **PLAIN)
            if r.serial == 0
            else Resource(b"other", status=500, **PLAIN)
        ),
    )
    origin.at(
        "/chunked",
        lambda r: (
            Resource(content, framing="chunked", breaks=lambda s, e: Break(50_000, "fin"), **PLAIN)
            if r.serial == 0
            else Resource(b"other", status=500, **PLAIN)
        ),
    )
    pawl = bench.pawl(origin, upstream={"resume-attempts": 2})
    for path, framing in (("/length", "length"), ("/chunked", "chunked")):
        answer = get(pawl.address, path, timeout=15)
        same((answer.status, answer.framing, answer.complete, answer.ended), (200, framing, False, "fin"), path)
        same(answer.body, content.read(0, len(answer.body)), path + ": bytes before the break")
    if not bench.is_1_1:
        return
    origin.at(
        "/old",
        lambda r: (
            Resource(content, framing="chunked", breaks=lambda s, e: Break(50_000, "fin"), **PLAIN)
            if r.serial == 0
            else Resource(b"other", status=500, **PLAIN)
        ),
    )
    answer = get(pawl.address, "/old", version="1.0", timeout=15)
    same((answer.status, answer.framing, answer.ended), (200, "close", "rst"), "a close-delimited body")


@check("thousands of URLs whose answers may not be kept, within seconds", area="proxy", seconds=60)
def many_uncacheable(bench):
    """More than a loop remembers (4,096)."""
    origin = bench.origin()
    origin.at("/page", lambda request: Resource(b"answer to " + request.target.encode(), **PLAIN))
    pawl = bench.pawl(origin, pawl={"workers": 1})
    with Client(pawl.address) as client:
        for first in range(0, 4500, 50):
            targets = [f"/page?{number}" for number in range(first, first + 50)]
            client.send(b"".join(head(each) for each in targets))
            same(
                [client.response().body for _ in targets],
                [b"answer to " + each.encode() for each in targets],
                "answers",
            )


@check("an answer gives its connection back, whatever it is and however it comes", area="proxy", seconds=40)
def connections_come_back(bench):
    plain = b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n"
    answers = [
        plain + b"Content-Length: 0\r\n\r\n",
        plain + b"Content-Length: 2\r\n\r\nok",
        plain + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
    ]
    for cache in ("default", "off"):
        origin = bench.origin()
        origin.at("/page", lambda request: (answers[int(request.target.partition("?")[2]) % len(answers)], "keep"))
        pawl = bench.pawl(
            origin,
            name=f"cache-{cache}",
            pawl={"workers": 1},
            upstream={"max-connections": 1, "queue-timeout": "5s"},
            site={"cache": cache},
        )
        for number in range(3 * len(answers)):
            answer, sent = get(pawl.address, f"/page?{number}"), answers[number % len(answers)]
            same(
                (answer.status, answer.body),
                (int(sent[9:12]), b"ok" if b"ok" in sent else b""),
                f"answer {number}, cache {cache}",
            )
        same(origin.connections, 1, "connections to the origin")


LENGTHS = (0, 1, 1000, 1400, 16383, 16384, 16385, 65535, 65536, 65537, 131072, 262144, 262145, 300000)


@check("answers at random, kept and not, whole and in parts, and every byte of them", area="proxy", seconds=90)
def at_random(bench):
    """What is asked for says what it is: /seed/length/framing/kept."""
    cuts = {}

    def octets(seed, length):
        return random.Random(seed).randbytes(length)

    def answer(request):
        seed, length, framing, kept = request.target.split("/")[1:]
        rng = random.Random(seed)
        if kept == "no":
            return Resource(octets(seed, int(length)), framing=framing, close=rng.random() < 0.1, **PLAIN)
        broken = [rng.randrange(1, int(length))] if int(length) > 1 and rng.random() < 0.2 else []
        cut = cuts.setdefault(request.target, break_points(broken, rng.choice(("rst", "fin"))))
        return Resource(
            octets(seed, int(length)),
            framing="length" if broken else framing,
            ranges=True,
            etag=f'"{seed}"',
            fields=(("Cache-Control", "max-age=600"),),
            breaks=cut,
        )

    origin = bench.origin(chunk=30_000)
    origin.default = answer
    pawl = bench.pawl(
        origin,
        pawl={"workers": 2},
        upstream={"max-connections": 6, "queue-timeout": "20s"},
        cache={"max-size": "64M", "min-free": 0},
    )
    wrong = []

    def ask(number):
        rng = random.Random(number)
        known = [
            f"/{rng.randrange(10**6)}/{rng.choice(LENGTHS)}/{rng.choice(('length', 'chunked'))}/yes" for _ in range(8)
        ]
        try:
            with Client(pawl.address, 40) as client:
                for _ in range(60):
                    asked = []
                    for _ in range(rng.choice((1, 1, 2, 5))):
                        fresh = f"/{rng.randrange(10**6)}/{rng.choice((*LENGTHS, rng.randrange(100_000)))}/{rng.choice(('length', 'length', 'chunked'))}/{rng.choice(('yes', 'no'))}"
                        target = rng.choice((fresh, rng.choice(known)))
                        length = int(target.split("/")[2])
                        part = (
                            sorted(rng.randrange(length) for _ in range(2))
                            if length and rng.random() < 0.3 and target.endswith("yes")
                            else None
                        )
                        asked.append((target, "HEAD" if not part and rng.random() < 0.1 else "GET", part))
                    client.send(
                        b"".join(
                            head(target, method, (("Range", f"bytes={part[0]}-{part[1]}"),) if part else ())
                            for target, method, part in asked
                        )
                    )
                    for target, method, part in asked:
                        seed, length = target.split("/")[1:3]
                        whole = octets(seed, int(length))
                        first, last = part or (0, len(whole) - 1)
                        got = client.response(method)
                        true(
                            got.status == (206 if part else 200),
                            f"client {number}, {method} {target} {part}: status {got.status}",
                        )
                        true(
                            got.body == (b"" if method == "HEAD" else whole[first : last + 1]),
                            f"client {number}, {method} {target} {part}: {got.count} bytes, not those that were sent",
                        )
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
    true(any(request.get("If-Range") for request in origin.requests), "no answer was broken off")


@check("max-connections and queue-timeout hold over all loops", area="proxy", seconds=40)
def queue(bench):
    origin = bench.origin()
    gate, lock, asked = threading.Event(), threading.Lock(), [0, 0]  # requests that have no answer yet, and the most

    def hold(request):
        with lock:
            asked[0] += 1
            asked[1] = max(asked)
        gate.wait(5)
        # Before the answer leaves: pawl may ask again before the origin has noticed that it is done.
        with lock:
            asked[0] -= 1

    origin.at("/x", Resource(b"x", before_head=hold, **PLAIN))
    pawl = bench.pawl(origin, upstream={"max-connections": 3, "queue-timeout": "800ms"}, pawl={"workers": 4})
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(get(pawl.address, f"/x?{i}"))) for i in range(12)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(answers) >= 9, 5, "nine refusals")
    same([a.status for a in answers].count(503), 9, "refused")
    true(
        "connection_limit_reached" in " ".join(answers[0].all("Proxy-Status")),
        f"Proxy-Status {answers[0].all('Proxy-Status')}",
    )
    gate.set()
    for thread in threads:
        thread.join()
    same([a.status for a in answers].count(200), 3, "answered")
    true(asked[1] <= 3, f"{asked[1]} requests at once")
    answers.clear()
    threads = [
        threading.Thread(target=lambda i=i: answers.append(get(pawl.address, f"/x?again{i}"))) for i in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same([a.status for a in answers].count(200), 30, "answered through the queue")
    true(asked[1] <= 3, f"{asked[1]} requests at once")


@check("time limits: slow heads, idle connections, silent bodies", area="proxy")
def timeouts(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x", **PLAIN))
    pawl = bench.pawl(origin, listen={"header-timeout": "500ms", "keepalive-timeout": "500ms"})
    if bench.is_1_1:  # h2.py has the slow heads of HTTP/2
        with Client(pawl.address) as client:
            client.send(b"GET /x HTTP/1.1\r\nHost: a\r\nX-Slow: ")
            begun = time.monotonic()
            octets, ended = client.until_end(5)
            true(ended in ("fin", "rst"), f"a slow head is held: {ended}")
            timely(time.monotonic() - begun < 3, "a slow head is held")
            true(octets == b"" or octets.startswith(b"HTTP/1.1 408"), f"answer to a slow head: {octets[:60]!r}")
    with Client(pawl.address) as client:
        same(client.until_end(5), (b"", "fin"), "a connection that never says anything")
    with Client(pawl.address) as client:
        client.request("/x")
        client.response()
        same(client.until_end(5), (b"", "fin"), "an idle connection")


@check("HEAD passes without a body; methods pass; TRACE and CONNECT do not tunnel", area="proxy")
def methods(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"0123456789", **PLAIN))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x", "HEAD")
        answer = client.response("HEAD")
        same((answer.status, answer.length), (200, 10), "HEAD")
        for method in ("GET", "DELETE", "OPTIONS", "PROPFIND", "PURGE"):
            client.request("/x", method)
            answer = client.response(method)
            same((answer.status, answer.body), (200, b"0123456789"), method)
            same(origin.of("/x")[-1].method, method, "method at the origin")


@check("hosts choose the site, routes choose by longest path", area="proxy")
def routing(bench):
    one, two = bench.origin(), bench.origin()
    one.default, two.default = Resource(b"one", **PLAIN), Resource(b"two", **PLAIN)
    pawl = bench.pawl(
        one,
        extra={
            "upstream:other": {"url": two.url},
            "site:named": {"host": ["two.example", "second.example"], "upstream": "other"},
            "route:main/a": {"path": "/a/*", "upstream": "other"},
            "route:main/ab": {"path": "/a/b/*", "upstream": "app"},
        },
    )
    same(get(pawl.address, "/", host="two.example").body, b"two", "host two.example")
    same(get(pawl.address, "/", host="second.example").body, b"two", "its other host")
    same(get(pawl.address, "/", host="TWO.example:80").body, b"two", "host in capitals with a port")
    same(get(pawl.address, "/", host="three.example").body, b"one", "default site")
    same(get(pawl.address, "/a/x").body, b"two", "route /a/*")
    same(get(pawl.address, "/a/b/x").body, b"one", "longest route")
    same(get(pawl.address, "/ab").body, b"one", "no route")


@check("a gone client ends an unkept transfer at the origin", area="proxy")
def client_leaves(bench):
    origin = bench.origin()
    content = Content("leaves", 1 << 30)
    origin.at("/x", Resource(content, **PLAIN))
    pawl = bench.pawl(origin)
    for end in ("close", "reset"):
        with Client(pawl.address) as client:
            client.request("/x?" + end)
            client.response(limit=1 << 20, keep=False)
            getattr(client, end)()
        wait_for(lambda: origin.of("/x?" + end)[0].ended == "peer", 5, f"the end at the origin after {end}")


@check("an abandoned request body is never completed at the origin", area="proxy")
def upload_cut(bench):
    with RawOrigin() as origin:
        pawl = bench.pawl(origin.url)
        for fields, start in (
            ((("Content-Length", "1000"),), b"x" * 500),
            ((("Transfer-Encoding", "chunked"),), b"1f4\r\n" + b"x" * 500 + b"\r\n"),
        ):
            with Client(pawl.address) as client:
                client.send(head("/in", "POST", fields) + start)
                time.sleep(0.2)
        wait_for(
            lambda: len(origin.closed) < 1 or all(c is not None for c in origin.closed),
            5,
            "the end of the origin connections",
        )
        everything = origin.everything()
        true(everything.count(b"x") <= 1100, "more than was sent")
        true(b"\r\n0\r\n" not in everything, "a chunked body was ended for a client that left")


@check("origins named by a host name, and addresses that change are followed within seconds", area="proxy")
def names(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x", **PLAIN))
    pawl = bench.pawl(f"http://localhost:{origin.port}")
    same(get(pawl.address, "/x").body, b"x", "through localhost")
    same(get(pawl.address, "/x").body, b"x", "again")


@check("max-header gives 431, a long request line 414, and the answer can be read", area="proxy")
def limits(bench):
    origin = bench.origin()
    origin.default = Resource(b"x", **PLAIN)
    pawl = bench.pawl(origin)
    same(get(pawl.address, "/" + "a" * 8000).status, 200, "a target of 8000 bytes")
    long, wide = (
        (200_000, 100_000) if bench.is_1_1 else (60_000, 50_000)
    )  # HTTP/2: beyond 64 KiB the connection ends (h2_abuse.py)
    same(get(pawl.address, "/" + "a" * long).status, 414, f"a target of {long} bytes")
    same(get(pawl.address, "/", fields=(("X", "a" * wide),)).status, 431, f"a field of {wide} bytes")
    same(get(pawl.address, "/", fields=tuple((f"X-{i}", "a") for i in range(300))).status, 431, "300 fields")
    same(get(pawl.address, "/", fields=tuple((f"X-{i}", "a") for i in range(100))).status, 200, "100 fields")
