"""HTTP/2 against those who mean harm: what floods a connection ends it with ENHANCE_YOUR_CALM, others are served
meanwhile, memory stays."""

import struct
import threading
import time

from harness import h2raw
from harness.checks import check, only, same, timely, true
from harness.client import get
from harness.content import Content
from harness.h2raw import ENHANCE_YOUR_CALM, Frames, frame
from harness.origin import Resource
from harness.uploads import NO_STORE

MIB = 1 << 20
GROWTH = 20_000_000
only(("h2c",), "frames: TLS below them changes nothing", __name__)


class Others:
    """Clients that go on asking while a flood lasts."""

    def __init__(self, pawl):
        self.pawl, self.over, self.answers, self.slowest = pawl, threading.Event(), [], 0.0
        self.thread = threading.Thread(target=self._ask, daemon=True)

    def _ask(self):
        while not self.over.is_set():
            begun = time.monotonic()
            try:
                status = get(self.pawl.address, "/other", timeout=8).status
            except OSError as error:
                status = str(error)
            self.answers.append(status)
            self.slowest = max(self.slowest, time.monotonic() - begun)
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(10)


def begin(bench, **sections):
    origin = bench.origin()
    origin.default = Resource(b"hello", fields=NO_STORE)
    return origin, bench.pawl(origin, **sections)


def flood(bench, pawl, piece, seconds=2.0, most=80_000_000, before=b"", codes=(ENHANCE_YOUR_CALM,)):
    """Sends `piece` (bytes, or a function of a count) until the connection ends; then what ended it. Others are served
    meanwhile."""
    memory = pawl.own_rss()
    with Others(pawl) as others:
        connection = bench.use(Frames(pawl.address, bench.over))
        end, sent, count = time.monotonic() + seconds, 0, 0
        try:
            connection.send(before)
            while time.monotonic() < end and sent < most and not connection.goaways and not connection.ended:
                data = piece(count) if callable(piece) else piece
                connection.send(data)
                sent, count = sent + len(data), count + 1
                connection.pump(0)
        except OSError:
            pass
        connection.until_end(3)
        time.sleep(0.2)
    true(
        connection.goaway in codes,
        f"ended with {connection.goaway} ({connection.ended}) after {sent} bytes: {connection}",
    )
    true(connection.ended, f"the connection is still there after GOAWAY, {sent} bytes")
    same(set(others.answers), {200}, "answers to others")
    true(len(others.answers) > 3, f"{len(others.answers)} answers to others")
    timely(others.slowest < 2, f"the slowest answer to others took {others.slowest:.1f} s")
    true(pawl.own_rss() - memory < GROWTH, f"memory grew by {pawl.own_rss() - memory}")
    return connection


FLOODS = {
    "SETTINGS": frame(h2raw.SETTINGS, 0, 0, struct.pack(">HI", h2raw.INITIAL_WINDOW_SIZE, 70000)) * 50,
    "empty SETTINGS": frame(h2raw.SETTINGS) * 50,
    "PING": frame(h2raw.PING, 0, 0, bytes(8)) * 200,
    "PRIORITY": frame(h2raw.PRIORITY, 0, 5, bytes(5)) * 200,
    "PRIORITY_UPDATE": frame(h2raw.PRIORITY_UPDATE, 0, 0, struct.pack(">I", 1) + b"u=1") * 200,
    "frames of no known type": frame(0x77, 0, 0, bytes(8)) * 200,
}
for name, piece in FLOODS.items():

    @check(f"a flood of {name} ends with GOAWAY(ENHANCE_YOUR_CALM)", area="abuse")
    def flooded(bench, piece=piece):
        _, pawl = begin(bench)
        flood(bench, pawl, piece)


@check("floods of empty DATA and of WINDOW_UPDATE on a stream end with GOAWAY(ENHANCE_YOUR_CALM)", area="abuse")
def on_stream(bench):
    _, pawl = begin(bench)
    for piece in (
        frame(h2raw.DATA, 0, 1) * 200,
        frame(h2raw.WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)) * 200,
        frame(h2raw.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 200,
    ):
        import hpack

        block = hpack.Encoder().encode(
            [(":method", "POST"), (":scheme", "http"), (":path", "/in"), (":authority", "pawl.test")]
        )
        flood(bench, pawl, piece, before=frame(h2raw.HEADERS, h2raw.END_HEADERS, 1, block))


@check(
    "CONTINUATION without end, empty or full, ends with GOAWAY(ENHANCE_YOUR_CALM); the origin sees nothing",
    area="abuse",
)
def continuation(bench):
    origin, pawl = begin(bench)
    head = frame(h2raw.HEADERS, h2raw.END_STREAM, 1, b"\x82\x86\x84")
    for name, piece in (
        ("empty", frame(h2raw.CONTINUATION, 0, 1) * 100),
        ("full", frame(h2raw.CONTINUATION, 0, 1, (b"\x40\x01x" + b"\x7f\x81\x7f" + bytes(16000))[:16384])),
        ("of one byte", frame(h2raw.CONTINUATION, 0, 1, b"\x82") * 100),
    ):
        connection = flood(
            bench,
            pawl,
            piece,
            before=head,
            codes=(ENHANCE_YOUR_CALM,) if name != "full" else (ENHANCE_YOUR_CALM, h2raw.PROTOCOL_ERROR, 9),
        )
        true(connection.ended, name)
    same([r for r in origin.requests if r.target != "/other"], [], "requests at the origin")


@check(
    "rapid reset: GOAWAY(ENHANCE_YOUR_CALM), no request at the origin for streams already reset (CVE-2023-44487)",
    area="abuse",
)
def rapid_reset(bench):
    origin, pawl = begin(bench)
    import hpack

    encoder, numbers = hpack.Encoder(), iter(range(1, 1 << 30, 2))

    def pairs(count):
        out = []
        for _ in range(50):
            stream = next(numbers)
            out.append(
                frame(
                    h2raw.HEADERS,
                    h2raw.END_HEADERS | h2raw.END_STREAM,
                    stream,
                    encoder.encode(
                        [(":method", "GET"), (":scheme", "http"), (":path", "/reset"), (":authority", "pawl.test")]
                    ),
                )
            )
            out.append(frame(h2raw.RST_STREAM, 0, stream, struct.pack(">I", h2raw.CANCEL)))
        return b"".join(out)

    flood(bench, pawl, pairs)
    same(origin.count("/reset"), 0, "requests at the origin")


@check("a few requests taken back at once cost nothing: none at the origin, and the connection goes on", area="abuse")
def few_resets(bench):
    origin, pawl = begin(bench)
    connection = bench.use(Frames(pawl.address, bench.over))
    connection.wait(lambda: connection.settings, 5, "SETTINGS")
    octets = b""
    for _ in range(60):
        stream, connection.next = connection.next, connection.next + 2
        octets += frame(
            h2raw.HEADERS, h2raw.END_HEADERS | h2raw.END_STREAM, stream, connection.block_of(connection.head("/reset"))
        )
        octets += frame(h2raw.RST_STREAM, 0, stream, struct.pack(">I", h2raw.CANCEL))
    connection.send(octets)
    same(bytes(connection.answer(connection.request("/x")).body), b"hello", "a request afterwards")
    same((origin.count("/reset"), connection.goaways), (0, []), "requests at the origin, and GOAWAYs")


@check("streams that pawl is made to reset count, too (CVE-2025-8671)", area="abuse")
def made_to_reset(bench):
    origin, pawl = begin(bench)
    gate = threading.Event()
    origin.at("/made", Resource(b"late", before_head=lambda r: gate.wait(6), fields=NO_STORE))
    import hpack

    encoder, numbers = hpack.Encoder(), iter(range(1, 1 << 30, 2))

    def pairs(count):
        out = []
        for _ in range(20):
            stream = next(numbers)
            out.append(
                frame(
                    h2raw.HEADERS,
                    h2raw.END_HEADERS | h2raw.END_STREAM,
                    stream,
                    encoder.encode(
                        [(":method", "GET"), (":scheme", "http"), (":path", "/made"), (":authority", "pawl.test")]
                    ),
                )
            )
            out.append(frame(h2raw.WINDOW_UPDATE, 0, stream, struct.pack(">I", 0)))  # an error of the stream
        return b"".join(out)

    flood(bench, pawl, pairs, codes=(ENHANCE_YOUR_CALM, h2raw.PROTOCOL_ERROR))
    gate.set()


@check("header bombs: 431 or GOAWAY, no memory, nothing at the origin", area="abuse")
def bombs(bench):
    origin, pawl = begin(bench)
    memory = pawl.own_rss()
    for name in (
        "one large field",
        "a table of large fields, named over and over",
        "many fields",
        "a large field in many frames",
    ):
        connection = bench.use(Frames(pawl.address, bench.over))
        fields = connection.head("/bomb")
        if name == "one large field":
            block = connection.block_of(fields + [("x", "a" * 100_000)])
        elif name == "many fields":
            block = connection.block_of(fields + [(f"x-{i}", "") for i in range(2000)])
        elif name == "a large field in many frames":
            block = connection.block_of(fields + [("x", "a" * 1_000_000)])
        else:  # 3,900 bytes put into the table once, then one byte for each further copy
            block = connection.block_of(fields + [("x-bomb", "a" * 3900)]) + bytes([0x80 | 62]) * 16000
        stream, connection.next = connection.next, connection.next + 2
        connection.streams[stream] = h2raw.Stream()
        pieces = [block[i : i + 16000] for i in range(0, len(block), 16000)]
        try:
            for i, piece in enumerate(pieces):
                connection.frame(
                    h2raw.HEADERS if i == 0 else h2raw.CONTINUATION,
                    (h2raw.END_STREAM if i == 0 else 0) | (h2raw.END_HEADERS if i == len(pieces) - 1 else 0),
                    stream,
                    piece,
                )
        except OSError:
            pass
        answer = connection.answer(stream)
        true(
            answer.status == 431 or connection.goaway in (ENHANCE_YOUR_CALM, h2raw.PROTOCOL_ERROR, 9),
            f"{name}: {answer} {connection}",
        )
        if answer.status == 431:
            true(answer.ended, f"{name}: the answer is not whole: {answer}")
            if connection.goaway is None and not connection.ended:
                same(bytes(connection.answer(connection.request("/x")).body), b"hello", f"{name}: a request afterwards")
    same(origin.count("/bomb"), 0, "requests at the origin")
    true(pawl.own_rss() - memory < GROWTH, f"memory grew by {pawl.own_rss() - memory}")


@check("who opens large windows and reads nothing holds nobody and no memory", area="abuse")
def slow_readers(bench):
    origin, pawl = begin(bench)
    content = Content("h2-slow", 64 * MIB)
    origin.at("/kept", Resource(content, fields=(("Cache-Control", "max-age=600"),)))
    origin.at("/plain", Resource(content, fields=NO_STORE))
    same(get(pawl.address, "/kept", keep=False).complete, True, "body to be cached")
    memory = pawl.own_rss()
    with Others(pawl) as others:
        for _ in range(10):
            connection = bench.use(
                Frames(
                    pawl.address,
                    bench.over,
                    settings=((h2raw.INITIAL_WINDOW_SIZE, (1 << 31) - 1),),
                    credits=False,
                    receive_buffer=16384,
                )
            )
            connection.update(0, (1 << 31) - 65536)
            for i in range(10):
                connection.request("/kept" if i % 2 else "/plain")
        time.sleep(2)
        answer = get(pawl.address, "/kept", keep=False)
        same(answer.sha, content.sha256(), "the body for one who reads")
    same(set(others.answers), {200}, "answers to others")
    timely(others.slowest < 2, f"the slowest took {others.slowest:.1f} s")
    true(pawl.own_rss() - memory < GROWTH + 10 * MIB, f"memory grew by {pawl.own_rss() - memory} for 100 streams")


@check("windows of one byte and of nothing: the connection is ended by send-timeout, others are served", area="abuse")
def small_windows(bench):
    _, pawl = begin(bench, listen={"send-timeout": "1s"})
    for window in (0, 1):
        connection = bench.use(
            Frames(pawl.address, bench.over, settings=((h2raw.INITIAL_WINDOW_SIZE, window),), credits=False)
        )
        stream = connection.request("/x")
        connection.wait(lambda: connection.streams[stream].status == 200, 5, "the head")
        end = time.monotonic() + 6
        while connection.streams[stream].reset is None and not connection.ended and time.monotonic() < end:
            connection.pump(0.2)
        true(
            connection.streams[stream].reset is not None or connection.ended,
            f"a stream without progress is held: {connection}",
        )
        same(get(pawl.address, "/other").status, 200, "another client")


@check("protocol errors end the connection with their own code", area="abuse")
def errors(bench):
    _, pawl = begin(bench)
    cases = {
        "DATA on stream 0": (frame(h2raw.DATA, 0, 0, b"x"), (h2raw.PROTOCOL_ERROR,)),
        "DATA on an idle stream": (frame(h2raw.DATA, 0, 7, b"x"), (h2raw.PROTOCOL_ERROR, h2raw.STREAM_CLOSED)),
        "an even stream": (frame(h2raw.HEADERS, 5, 2, b"\x82\x86\x84"), (h2raw.PROTOCOL_ERROR,)),
        "a frame too large": (frame(h2raw.DATA, 0, 1, bytes(20000)), (6,)),
        "a block that is no HPACK": (frame(h2raw.HEADERS, 5, 1, b"\xff\xff\xff\xff\xff\xff"), (9,)),
        "CONTINUATION alone": (frame(h2raw.CONTINUATION, 4, 1, b""), (h2raw.PROTOCOL_ERROR,)),
        "SETTINGS of five bytes": (frame(h2raw.SETTINGS, 0, 0, bytes(5)), (6,)),
        "a window too large": (frame(h2raw.WINDOW_UPDATE, 0, 0, struct.pack(">I", (1 << 31) - 1)), (3,)),
        "PUSH_PROMISE": (frame(h2raw.PUSH_PROMISE, 4, 1, bytes(4)), (h2raw.PROTOCOL_ERROR,)),
        "PING of four bytes": (frame(h2raw.PING, 0, 0, bytes(4)), (6,)),
    }
    wrong = []
    for name, (octets, codes) in cases.items():
        connection = bench.use(Frames(pawl.address, bench.over))
        connection.wait(lambda: connection.settings, 5, "SETTINGS")
        connection.send(octets)
        connection.until_end(4)
        if connection.goaway not in codes or not connection.ended:
            wrong.append((name, connection.goaway, connection.ended))
        connection.close()
    true(not wrong, f"{wrong}")
