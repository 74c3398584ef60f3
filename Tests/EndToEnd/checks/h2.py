"""HTTP/2, frame by frame: what RFC 9113, 8441 and 9218 say, where HTTP/1.1 has no counterpart. What both have runs over
both."""

import base64
import hashlib
import signal
import socket
import struct
import threading
import time

from harness import h2raw, transport
from harness.checks import check, only, same, timely, true
from harness.client import Client, get
from harness.content import Content
from harness.h2raw import Frames
from harness.origin import Break, Origin, Resource
from harness.process import wait_for
from harness.uploads import NO_STORE, asked, stored, whole

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
ENDS = (h2raw.INTERNAL_ERROR, h2raw.CANCEL)
only(("h2", "h2c"), "frames of HTTP/2", __name__)


def begin(bench, **sections):
    origin = bench.origin()
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    return origin, bench.pawl(origin, **sections)


def frames(bench, pawl, **how):
    return bench.use(Frames(pawl.address, bench.over, **how))


def alive(connection, target="/x"):
    answer = connection.answer(connection.request(target))
    same(
        (answer.status, bytes(answer.body), answer.ended),
        (200, b"hello", True),
        "a request afterwards on the same connection",
    )


@check(
    "settings: windows of 1 MiB at the start, max-streams, extended CONNECT, no priorities of RFC 7540, no push",
    area="h2",
)
def settings(bench):
    _, pawl = begin(bench, listen={"max-streams": 77})
    connection = frames(bench, pawl)
    connection.wait(lambda: connection.settings and connection.acks, 5, "SETTINGS and the acknowledgement of ours")
    same(connection.log[0][0], h2raw.SETTINGS, "type of the first frame")
    found = connection.settings
    true(found[h2raw.INITIAL_WINDOW_SIZE] >= MIB, f"window of a stream: {found}")
    connection.wait(lambda: connection.window >= MIB, 2, f"a connection window of 1 MiB (it is {connection.window})")
    same(
        (
            found.get(h2raw.MAX_CONCURRENT_STREAMS),
            found.get(h2raw.ENABLE_CONNECT_PROTOCOL),
            found.get(h2raw.NO_RFC7540_PRIORITIES),
        ),
        (77, 1, 1),
        "settings",
    )
    true(found.get(h2raw.ENABLE_PUSH, 0) == 0, "ENABLE_PUSH from a server")
    true(MIB <= connection.window + 0 <= 16 * MIB, f"connection window {connection.window}")


@check("max-window bounds what a connection is promised", area="h2")
def most(bench):
    origin, pawl = begin(bench, listen={"max-window": "2M"}, site={"plain-uploads": "stream"})
    origin.at("/in", stored)
    connection = frames(bench, pawl)
    stream = connection.request("/in", "POST", end=False)
    connection.upload(stream, bytes(12 * MIB))
    same(connection.answer(stream).status, 200, "answer")
    sent = 12 * MIB
    true(
        65535 + connection.credited.get(0, 0) - sent <= 2 * MIB,
        f"promised beyond what came: {65535 + connection.credited.get(0, 0) - sent}",
    )


@check("102, 103 and 104 are HEADERS before the answer, in order, with lower case names", area="h2")
def interim(bench):
    origin, pawl = begin(bench)
    interims = (
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n",
        b"HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\nUpload-Draft-Interop-Version: 6\r\n\r\n",
    )
    origin.at("/hints", Resource(b"final", interim=interims, fields=NO_STORE))
    connection = frames(bench, pawl)
    answer = connection.answer(connection.request("/hints"))
    same([status for status, _ in answer.interim], [102, 103, 104], "interim answers")
    same(dict(answer.interim[1][1]), {"link": "</a.css>; rel=preload"}, "fields of the 103")
    same(dict(answer.interim[2][1]).get("location"), "/u/1", "Location of the 104")
    same((answer.status, bytes(answer.body), answer.ended), (200, b"final", True), "answer")
    true(
        all(n == n.lower() and n not in ("connection", "transfer-encoding", "keep-alive") for n, _ in answer.fields),
        f"fields {answer.fields}",
    )


@check("an upload is announced by an interim HEADERS before its body, and told its progress", area="h2")
def announced(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    connection = frames(bench, pawl)
    stream = connection.request(
        "/in",
        "POST",
        (("upload-draft-interop-version", "6"), ("upload-complete", "?1"), ("content-length", "3000000")),
        end=False,
    )
    state = connection.streams[stream]
    connection.wait(lambda: state.interim, 5, "the 104")
    same(state.interim[0][0], 104, "interim answer")
    location = dict(state.interim[0][1])["location"]
    true(location.startswith(bench.scheme + "://pawl.test/"), f"Location {location}")
    connection.upload(stream, bytes(1_000_000), end=False)
    connection.reset(stream)
    path = location.partition("pawl.test")[2]
    fields = (("upload-draft-interop-version", "6"),)
    same(
        connection.answer(connection.request(path, "HEAD", fields)).get("upload-offset"),
        "1000000",
        "what is kept of a stream that was reset",
    )
    stream = connection.request(
        path,
        "PATCH",
        fields
        + (("upload-offset", "1000000"), ("upload-complete", "?1"), ("content-type", "application/partial-upload")),
        end=False,
    )
    connection.upload(stream, bytes(2_000_000))
    same(bytes(connection.answer(stream).body), b"got 3000000 bytes", "answer")


@check("trailers of an origin come as HEADERS that end the stream, for a client that takes them", area="h2")
def trailers(bench):
    origin, pawl = begin(bench)
    origin.at(
        "/t",
        Resource(b"body", framing="chunked", trailers=(("X-Sum", "abc"), ("Content-Length", "9")), fields=NO_STORE),
    )
    connection = frames(bench, pawl)
    answer = connection.answer(connection.request("/t", fields=(("te", "trailers"),)))
    same((bytes(answer.body), answer.ended), (b"body", True), "body")
    same(answer.trailers, [("x-sum", "abc")], "trailers, without those that frame a message")
    answer = connection.answer(connection.request("/t"))
    true(answer.ended and answer.trailers in (None, [("x-sum", "abc")]), f"without TE: {answer} {answer.trailers}")


@check(
    "RST_STREAM where HTTP/1.1 cuts: a body that cannot be finished; the connection and other streams go on", area="h2"
)
def truncated(bench):
    origin, pawl = begin(bench, upstream={"resume-attempts": 2})
    content = Content("h2-truncated", 100_000)
    for framing in ("length", "chunked", "close"):
        origin.at(
            "/" + framing,
            lambda r, framing=framing: (
                Resource(content, framing=framing, breaks=lambda s, e: Break(50_000, "rst"), fields=NO_STORE)
                if r.serial == 0
                else Resource(b"other", status=500, fields=NO_STORE)
            ),
        )
    connection = frames(bench, pawl)
    for framing in ("length", "chunked", "close"):
        answer = connection.answer(connection.request("/" + framing), 15)
        same((answer.status, answer.ended), (200, False), f"{framing}: answer without its end")
        true(answer.reset in ENDS, f"{framing}: RST_STREAM with {answer.reset}")
        same(bytes(answer.body), content.read(0, answer.count), f"{framing}: bytes before it")
        alive(connection)
    same(connection.goaways, [], "GOAWAY")


@check("an early answer comes whole, then RST_STREAM(NO_ERROR) asks for no more; the connection goes on", area="h2")
def early(bench):
    origin, pawl = begin(bench)

    def refuse(request, connection, buffer):
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.5)

    refuse.wants_connection = True
    origin.at("/refuse", refuse)
    connection = frames(bench, pawl)
    stream = connection.request("/refuse", "POST", (("content-length", "50000000"),), end=False)
    connection.upload(stream, bytes(100_000), end=False)
    state = connection.streams[stream]
    connection.wait(lambda: state.ended, 5, "the answer")
    same((state.status, bytes(state.body)), (403, b"no"), "answer")
    try:
        connection.upload(stream, bytes(20 * MIB), end=False, seconds=5)
    except AssertionError:
        pass
    connection.wait(lambda: state.reset is not None, 5, "RST_STREAM")
    same(state.reset, h2raw.NO_ERROR, "code of RST_STREAM after an early answer")
    alive(connection)


@check(
    "content-length is held to: too much, too little and none at the end are stream errors, never whole requests at "
    "the origin",
    area="h2",
)
def length(bench):
    origin, pawl = begin(bench)
    origin.at("/in", stored)
    for name, octets, end, declared in (
        ("too little", b"123", True, "5"),
        ("too much", b"1234567", True, "5"),
        ("too much, not ended", b"1234567", False, "5"),
        ("nothing", b"", True, "5"),
        ("some for none", b"1", True, "0"),
    ):
        connection = frames(bench, pawl)
        stream = connection.request("/in", "POST", (("content-length", declared),), end=False)
        connection.data(stream, octets, end)
        answer = connection.answer(stream)
        true(answer.reset == h2raw.PROTOCOL_ERROR or (answer.status == 400 and answer.ended), f"{name}: {answer}")
        if not connection.goaways:
            alive(connection)
    connection = frames(bench, pawl)
    stream = connection.open(connection.head("/in", "POST", (("content-length", "5"),)), end=True)
    answer = connection.answer(stream)
    true(answer.reset == h2raw.PROTOCOL_ERROR or answer.status == 400, f"ended by its head: {answer}")
    same(whole(origin, "/in"), [], "whole requests at the origin")


@check("a request is whole at its origin with the end of its stream, not with the last byte it announced", area="h2")
def whole_at_end(bench):
    origin, pawl = begin(bench, site={"plain-uploads": "stream"})
    origin.at("/in", stored)
    for name, declared, octets in (
        ("nothing", "0", b""),
        ("five bytes", "5", b"12345"),
        ("many", "100000", bytes(100_000)),
    ):
        for good in (False, True):
            connection = frames(bench, pawl)
            stream = connection.request("/in", "POST", (("content-length", declared),), end=False)
            if octets:
                connection.upload(stream, octets, end=False)
            alive(connection)
            same(whole(origin, "/in"), [], f"{name}: whole requests at the origin before the stream's end")
            same(connection.streams[stream].status, 0, f"{name}: answer before the stream's end")
            connection.data(stream, b"" if good else b"!", good)
            answer = connection.answer(stream)
            if good:
                same(
                    (answer.status, answer.ended, bytes(answer.body)),
                    (200, True, f"got {declared} bytes".encode()),
                    f"{name}: answer",
                )
                same(len(whole(origin, "/in")), 1, f"{name}: whole requests at the origin")
                origin.requests.clear()
            else:
                same((answer.status, answer.reset), (0, h2raw.PROTOCOL_ERROR), f"{name}: one byte more")
                alive(connection)
                same(whole(origin, "/in"), [], f"{name}: whole requests at the origin after one byte more")


G, P, S, A = (":method", "GET"), (":path", "/bad"), (":scheme", None), (":authority", "pawl.test")
# name: fields of a request (None: the right scheme) that RFC 9113 8.2, 8.3, RFC 9110 and pawl's own hygiene refuse
BAD = {
    "a name in capitals": (G, S, A, P, ("X-Up", "1")),
    "an empty name": (G, S, A, P, ("", "1")),
    "a space in a name": (G, S, A, P, ("x y", "1")),
    "a colon in a name": (G, S, A, P, ("x:y", "1")),
    "a control in a name": (G, S, A, P, ("x\x01", "1")),
    "a name beyond ASCII": (G, S, A, P, ("x\xe9", "1")),
    "CR in a value": (G, S, A, P, ("x", "a\rb")),
    "LF in a value": (G, S, A, P, ("x", "a\nHost: evil")),
    "NUL in a value": (G, S, A, P, ("x", "a\0b")),
    "a space before a value": (G, S, A, P, ("x", " a")),
    "a tab after a value": (G, S, A, P, ("x", "a\t")),
    "connection": (G, S, A, P, ("connection", "close")),
    "keep-alive": (G, S, A, P, ("keep-alive", "1")),
    "proxy-connection": (G, S, A, P, ("proxy-connection", "x")),
    "transfer-encoding": (G, S, A, P, ("transfer-encoding", "chunked")),
    "upgrade": (G, S, A, P, ("upgrade", "websocket")),
    "te: gzip": (G, S, A, P, ("te", "gzip")),
    "no method": (S, A, P),
    "no path": (G, S, A),
    "no scheme": (G, A, P),
    "an empty path": (G, S, A, (":path", "")),
    "a path without a slash": (G, S, A, (":path", "bad")),
    "an absolute path": (G, S, A, (":path", "http://pawl.test/bad")),
    "a space in the path": (G, S, A, (":path", "/bad x")),
    "a fragment": (G, S, A, (":path", "/bad#x")),
    "two methods": (G, G, S, A, P),
    "two paths": (G, S, A, P, P),
    "two authorities": (G, S, A, A, P),
    "two schemes": (G, S, S, A, P),
    ":status": (G, S, A, P, (":status", "200")),
    "an unknown pseudo-field": (G, S, A, P, (":x", "1")),
    "a pseudo-field behind a field": (G, S, A, ("x", "1"), P),
    "a method that is no token": ((":method", "G T"), S, A, P),
    "another scheme": (G, (":scheme", "ftp"), A, P),
    ":protocol without CONNECT": (G, (":protocol", "websocket"), S, A, P),
    "CONNECT with a path": ((":method", "CONNECT"), S, A, P),
    "CONNECT": ((":method", "CONNECT"), (":authority", "pawl.test:443")),
    "another host": (G, S, A, P, ("host", "other.test")),
    "two hosts": (G, S, P, ("host", "a.test"), ("host", "b.test")),
    "userinfo in the authority": (G, S, (":authority", "me@pawl.test"), P),
    "no authority and no host": (G, S, P),
    "a comma in content-length": (G, S, A, P, ("content-length", "1, 2")),
    "two content-lengths": (G, S, A, P, ("content-length", "0"), ("content-length", "1")),
    "a content-length with a sign": (G, S, A, P, ("content-length", "+0")),
}


@check(
    "header rules (RFC 9113 8.2 and 8.3): what breaks them is refused on its stream and never reaches the origin",
    area="h2",
)
def rules(bench):
    origin, pawl = begin(bench)
    origin.default = Resource(b"reached", fields=NO_STORE)
    wrong = []
    for name, fields in BAD.items():
        connection = frames(bench, pawl)
        head = [(n, bench.scheme if v is None else v) for n, v in fields]
        stream, connection.next = connection.next, connection.next + 2
        connection.streams[stream] = h2raw.Stream()
        block = connection.encoder.encode([(n.encode("latin-1"), v.encode("latin-1")) for n, v in head])
        before = len(origin.requests)
        connection.frame(h2raw.HEADERS, h2raw.END_HEADERS | h2raw.END_STREAM, stream, block)
        answer = connection.answer(stream)
        refused = (
            answer.reset == h2raw.PROTOCOL_ERROR
            or connection.goaway == h2raw.PROTOCOL_ERROR
            or (answer.ended and answer.status in (400, 405, 421, 501))
        )
        if not refused or len(origin.requests) > before:
            wrong.append((name, answer, connection.goaways, origin.requests[before:]))
        elif connection.goaway is None and not connection.ended:
            try:
                alive(connection)
            except AssertionError as error:
                wrong.append((name, f"the connection afterwards: {error}"))
        connection.close()
    true(not wrong, f"{len(wrong)} of {len(BAD)}: {wrong}")


@check("cookies in pieces become one field, authority becomes Host, a Host alone will do", area="h2")
def cookies(bench):
    origin, pawl = begin(bench)
    connection = frames(bench, pawl)
    same(
        connection.answer(
            connection.request("/x?1", fields=(("cookie", "a=1"), ("cookie", "b=2"), ("x-b", "1"), ("cookie", "c=3")))
        ).status,
        200,
        "answer",
    )
    same(
        (origin.of("/x?1")[0].all("Cookie"), origin.of("/x?1")[0].all("Host")),
        (["a=1; b=2; c=3"], ["pawl.test"]),
        "at the origin",
    )
    same(
        connection.answer(connection.request("/x?2", fields=(("host", "only.test"),), authority=None)).status,
        200,
        "answer without :authority",
    )
    same(origin.of("/x?2")[0].all("Host"), ["only.test"], "Host at the origin")
    same(connection.answer(connection.request("/x?3", fields=(("host", "pawl.test"),))).status, 200, "answer with both")


@check("HEAD, 204 and 304 have no DATA, and HEAD keeps content-length", area="h2")
def bodiless(bench):
    origin, pawl = begin(bench)
    origin.at("/none", Resource(b"", status=204, fields=NO_STORE))
    origin.at("/tag", Resource(b"tagged", etag='"t"', fields=FRESH))
    connection = frames(bench, pawl)
    for target, method, fields, status in (
        ("/x", "HEAD", (), 200),
        ("/none", "GET", (), 204),
        ("/tag", "GET", (), 200),
        ("/tag", "GET", (("if-none-match", '"t"'),), 304),
    ):
        answer = connection.answer(connection.request(target, method, fields))
        same((answer.status, answer.ended), (status, True), f"{method} {target}")
        if status != 200 or method == "HEAD":
            same(answer.count, 0, f"bytes of {method} {target}")
        if method == "HEAD":
            same(answer.get("content-length"), "5", "content-length of HEAD")


@check("windows of the client are obeyed to the byte, and changes of SETTINGS count at once", area="h2")
def windows(bench):
    origin, pawl = begin(bench)
    content = Content("h2-windows", 300_000)
    origin.at("/big", Resource(content, fields=FRESH))
    connection = frames(bench, pawl, settings=((h2raw.INITIAL_WINDOW_SIZE, 1000),), credits=False)
    first, second = connection.request("/big"), connection.request("/big")
    states = [connection.streams[first], connection.streams[second]]
    connection.wait(lambda: all(s.count >= 1000 for s in states), 5, "1000 bytes on each stream")
    time.sleep(0.2)
    connection.pump(0.1)
    same([s.count for s in states], [1000, 1000], "bytes within the windows")
    connection.update(first, 500)
    connection.wait(lambda: states[0].count == 1500, 5, "500 bytes more")
    connection.frame(h2raw.SETTINGS, 0, 0, struct.pack(">HI", h2raw.INITIAL_WINDOW_SIZE, 31_000))
    connection.wait(lambda: [s.count for s in states] == [31_500, 31_000], 5, "30000 bytes more on each")
    connection.update(first, 300_000)
    connection.update(0, 2 << 20)
    connection.wait(lambda: states[0].ended, 5, "the end of the first stream")
    same(hashlib.sha256(states[0].body).hexdigest(), content.sha256(), "its body")
    connection.reset(second)
    alive(connection)


@check("more streams than max-streams are refused with REFUSED_STREAM, and the others are answered", area="h2")
def many(bench):
    origin, pawl = begin(bench, listen={"max-streams": 20})
    gate = threading.Event()
    origin.at("/gated", Resource(b"gated", before_head=lambda r: gate.wait(8), fields=NO_STORE))
    connection = frames(bench, pawl, preface=False)
    connection.send(
        h2raw.PREFACE
        + h2raw.frame(h2raw.SETTINGS)
        + b"".join(  # before this side can know the limit
            h2raw.frame(
                h2raw.HEADERS,
                h2raw.END_HEADERS | h2raw.END_STREAM,
                2 * i + 1,
                connection.block_of(connection.head(f"/gated?{i}")),
            )
            for i in range(30)
        )
    )
    streams = [2 * i + 1 for i in range(30)]
    connection.streams.update({stream: h2raw.Stream() for stream in streams})
    states = [connection.streams[s] for s in streams]
    connection.wait(lambda: sum(s.reset == h2raw.REFUSED_STREAM for s in states) >= 10, 5, "ten refusals")
    gate.set()
    connection.wait(lambda: sum(s.ended for s in states) == 20, 8, "twenty answers")
    same(sum(s.reset is not None for s in states), 10, "refusals")


# -- streams beside each other -----------------------------------------------------------------------------------------
def two(bench, one_fields=(), two_fields=()):
    """Two large cached bodies on one connection that reads slowly at first: the states of their streams."""
    origin, pawl = begin(bench)
    for name in ("one", "two"):
        origin.at("/" + name, Resource(Content("h2-" + name, 12 * MIB), fields=FRESH))
        same(get(pawl.address, "/" + name, keep=False).complete, True, "body to be cached")
    settings = ((h2raw.INITIAL_WINDOW_SIZE, 64 * MIB),)
    connection = frames(bench, pawl, settings=settings, credits=False, keep=False, receive_buffer=32768)
    connection.update(0, 64 * MIB)
    one = connection.streams[connection.request("/one", fields=one_fields)]
    connection.wait(lambda: one.count > 0, 5, "the first bytes")
    two = connection.streams[connection.request("/two", fields=two_fields)]
    connection.wait(lambda: two.count > 0 or one.ended, 10, "bytes of the second")
    begun = one.count
    connection.wait(lambda: one.ended or two.ended, 20, "the end of one")
    meanwhile = one.count - begun, two.count
    connection.wait(lambda: one.ended and two.ended, 20, "the end of both")
    return one, two, meanwhile


@check("two large answers without Priority take turns", area="h2", tags=("alone",))
def turns(bench):
    one, two_, (first, second) = two(bench)
    true(first > 0 and 0.4 < second / first < 2.5, f"shares while both ran: {first} and {second}")


@check(
    "Priority: the more urgent answer goes first, though it was asked for later (RFC 9218)", area="h2", tags=("alone",)
)
def urgent(bench):
    one, two_, (first, second) = two(bench, (("priority", "u=7"),), (("priority", "u=0"),))
    true(two_.ended_at < one.ended_at, "the urgent one ended last")
    true(first < second / 4, f"{first} bytes of the other went out beside {second} urgent ones")


@check("PRIORITY_UPDATE changes the order of what is under way", area="h2", tags=("alone",))
def update(bench):
    origin, pawl = begin(bench)
    for name in ("one", "two"):
        origin.at("/" + name, Resource(Content("h2-" + name, 12 * MIB), fields=FRESH))
        get(pawl.address, "/" + name, keep=False)
    connection = frames(
        bench, pawl, settings=((h2raw.INITIAL_WINDOW_SIZE, 64 * MIB),), credits=False, keep=False, receive_buffer=32768
    )
    connection.update(0, 64 * MIB)
    first, second = (connection.request(f"/{name}", fields=(("priority", "u=3"),)) for name in ("one", "two"))
    connection.wait(lambda: connection.streams[first].count > 0, 5, "the first bytes")
    connection.frame(h2raw.PRIORITY_UPDATE, 0, 0, struct.pack(">I", second) + b"u=0")
    connection.wait(lambda: connection.streams[second].ended, 20, "the end of the one that was made urgent")
    true(
        not connection.streams[first].ended and connection.streams[first].count < 9 * MIB,
        f"the other: {connection.streams[first]}",
    )


@check("an upload that its origin does not take holds no other stream of the connection", area="h2")
def held(bench):
    origin, pawl = begin(bench)
    gate = threading.Event()

    def stuck(request, connection, buffer):
        gate.wait(10)

    stuck.wants_connection = True
    origin.at("/stuck", stuck)
    origin.at("/in", stored)
    connection = frames(bench, pawl)
    one = connection.request("/stuck", "POST", end=False)
    try:
        connection.upload(one, bytes(40 * MIB), end=False, seconds=1.5)
        raise AssertionError("40 MiB were taken for an origin that reads nothing")
    except AssertionError as error:
        true("cannot send" in str(error), str(error))
    two_ = connection.request("/in", "POST", end=False)
    connection.upload(two_, bytes(3 * MIB))
    same(bytes(connection.answer(two_).body), b"got %d bytes" % (3 * MIB), "answer to the other upload")
    alive(connection)
    gate.set()


# -- life --------------------------------------------------------------------------------------------------------------
@check("SIGTERM drains: GOAWAY(NO_ERROR), what runs ends whole, no new streams, exit 0", area="h2")
def drain(bench):
    origin, pawl = begin(bench, pawl={"drain-timeout": "20s"})
    gate, content = threading.Event(), Content("h2-drain", 2 * MIB)
    origin.at("/long", Resource(content, gates=((MIB, gate),), fields=NO_STORE))
    connection, idle = frames(bench, pawl), frames(bench, pawl)
    alive(idle)
    stream = connection.request("/long")
    connection.wait(lambda: connection.streams[stream].count >= MIB // 2, 5, "half of the body")
    pawl.signal(signal.SIGTERM)
    connection.wait(lambda: connection.goaways, 5, "GOAWAY")
    same(connection.goaway, h2raw.NO_ERROR, "code of GOAWAY")
    true(connection.goaways[-1][0] >= stream, f"last stream of GOAWAY: {connection.goaways}")
    same((idle.until_end(5), idle.goaway), ("fin", h2raw.NO_ERROR), "an idle connection")
    gate.set()
    answer = connection.answer(stream)
    same((answer.ended, hashlib.sha256(answer.body).hexdigest()), (True, content.sha256()), "what ran")
    same(connection.until_end(5), "fin", "end of the connection")
    pawl.expected_end = True
    same(pawl.wait(8), 0, "exit code")


@check("time limits: a preface or a head that does not come, and idle connections", area="h2")
def limits(bench):
    _, pawl = begin(bench, listen={"header-timeout": "500ms", "keepalive-timeout": "600ms"})
    begun = time.monotonic()
    half = frames(bench, pawl, preface=False)
    half.send(h2raw.PREFACE[:10])
    slow, idle = frames(bench, pawl), frames(bench, pawl)
    alive(idle)
    slow.frame(h2raw.HEADERS, h2raw.END_STREAM, 1, slow.block_of(slow.head("/x"))[:5])
    for name, each in (("half a preface", half), ("half a head", slow), ("idle", idle)):
        true(each.until_end(5) != "timeout", f"{name} is held")
    timely(time.monotonic() - begun < 5, "slow")
    same(idle.goaway, h2raw.NO_ERROR, "GOAWAY of an idle connection")


@check("http2 = off: HTTP/1.1 is what there is", area="h2")
def off(bench):
    _, pawl = begin(bench, listen={"http2": "off"})
    if bench.over == "h2":
        context = transport.client_context(("h2", "http/1.1"))
        with Client(pawl.address, 5, over="tls", context=context) as client:
            same(client.socket.tls.selected_alpn_protocol(), "http/1.1", "ALPN")
            client.request("/x")
            same(client.response().body, b"hello", "answer")
    else:
        connection = frames(bench, pawl)
        true(connection.until_end(5) != "timeout", "the preface was taken")
        with Client(pawl.address, 5, over="clear") as client:
            client.request("/x")
            same(client.response().body, b"hello", "answer over HTTP/1.1")


# -- WebSocket
# -----------------------------------------------------------------------------------------------------------
def accept(key):
    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())


@check(
    "WebSocket by extended CONNECT (RFC 8441): echo both ways, large, half-closed; a refusal is an answer", area="h2"
)
def websocket(bench):
    origin, pawl = begin(bench)

    def echo(request, connection, buffer):
        key = request.get("Sec-WebSocket-Key") or ""
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
            b"websocket\r\nSec-WebSocket-Protocol: chat\r\n"
            b"Sec-WebSocket-Accept: " + accept(key) + b"\r\n\r\nhello"
        )
        request.status = 101
        while data := connection.recv(65536):
            connection.sendall(data)
        connection.sendall(b"bye")

    echo.wants_connection = True
    origin.at("/ws", echo)
    origin.at("/no", Resource(b"no", status=403, fields=NO_STORE))
    connection = frames(bench, pawl)
    connection.wait(lambda: connection.settings, 5, "SETTINGS")
    fields = (("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat"), ("origin", "https://pawl.test"))
    stream = connection.request("/ws", "CONNECT", fields, end=False, protocol="websocket")
    state = connection.streams[stream]
    connection.wait(lambda: state.count >= 5 or state.ended or state.reset is not None, 5, "the first bytes")
    same((state.status, bytes(state.body), state.get("sec-websocket-protocol")), (200, b"hello", "chat"), "the tunnel")
    true(
        state.get("sec-websocket-accept") is None and state.get("upgrade") is None and state.get("connection") is None,
        f"fields of HTTP/1.1: {state.fields}",
    )
    request = origin.of("/ws")[0]
    same(
        (
            request.method,
            (request.get("Upgrade") or "").lower(),
            request.get("Sec-WebSocket-Version"),
            request.get("Sec-WebSocket-Protocol"),
        ),
        ("GET", "websocket", "13", "chat"),
        "at the origin",
    )
    same(len(base64.b64decode(request.get("Sec-WebSocket-Key"))), 16, "bytes of the key")
    content = Content("h2-ws", 3 * MIB)
    connection.upload(stream, content.read(), end=False)
    connection.wait(lambda: state.count == 5 + content.size, 10, "the echo")
    same(hashlib.sha256(state.body[5:]).hexdigest(), content.sha256(), "the echo")
    alive(connection)
    connection.data(stream, b"", end=True)
    connection.wait(lambda: state.ended, 5, "the end")
    same(bytes(state.body[-3:]), b"bye", "after the half-close")
    for target, statuses in (("/no", (403,)), ("/x", (502, 501, 400))):  # a 200 would say that there is a tunnel
        answer = connection.answer(connection.request(target, "CONNECT", fields, end=False, protocol="websocket"))
        true(answer.status in statuses, f"{target}: {answer}")
    answer = connection.answer(connection.request("/ws", "CONNECT", fields, end=False, protocol="connect-udp"))
    true(answer.status in (400, 501) or answer.reset == h2raw.PROTOCOL_ERROR, f"another protocol: {answer}")
    alive(connection)


@check(
    "a WebSocket whose client resets the stream ends at the origin; one whose origin resets ends at the client",
    area="h2",
)
def websocket_ends(bench):
    origin, pawl = begin(bench)
    ended = threading.Event()

    def tunnel(request, connection, buffer):
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
            + accept(request.get("Sec-WebSocket-Key"))
            + b"\r\n\r\n"
        )
        if request.target == "/reset":
            time.sleep(0.2)
            Origin._reset(connection)
            return
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass
        ended.set()

    tunnel.wants_connection = True
    for target in ("/ws", "/reset"):
        origin.at(target, tunnel)
    connection = frames(bench, pawl)
    stream = connection.request("/ws", "CONNECT", (("sec-websocket-version", "13"),), end=False, protocol="websocket")
    connection.wait(lambda: connection.streams[stream].status == 200, 5, "the tunnel")
    connection.reset(stream)
    true(ended.wait(5), "the origin still waits")
    stream = connection.request(
        "/reset", "CONNECT", (("sec-websocket-version", "13"),), end=False, protocol="websocket"
    )
    answer = connection.answer(stream)
    true(answer.ended or answer.reset is not None, f"the client still waits: {answer}")
    alive(connection)


@check("a stream that is reset ends its request at the origin, and nothing else of the connection", area="h2")
def cancelled(bench):
    origin, pawl = begin(bench)
    origin.at("/endless", Resource(Content("h2-endless", 1 << 30), fields=NO_STORE))
    connection = frames(bench, pawl, keep=False)
    stream = connection.request("/endless")
    connection.wait(lambda: connection.streams[stream].count > MIB, 5, "a mebibyte")
    connection.reset(stream)
    wait_for(lambda: connection.pump(0.05) or origin.of("/endless")[0].ended == "peer", 5, "the end at the origin")
    wait_for(lambda: origin.of("/endless")[0].ended == "peer", 5, "the end at the origin")
    connection.keep = True
    alive(connection)
    upload = connection.request("/in", "POST", (("content-length", "1000000"),), end=False)
    connection.upload(upload, bytes(500_000), end=False)
    connection.reset(upload)
    alive(connection)
    same(
        [r for r in asked(origin) if r.status is not None and r.ended != "peer"],
        [],
        "whole requests of a body that was reset",
    )
