"""Clients that take their time, by the hundred, beside ordinary ones: whose pace holds a place at the origin.

By default somewhat more slow clients than an upstream has places, with bodies of some MiB; PAWL_SLOW_CLIENTS=200 has as
many as the bar, and answers of 200 MB.
"""

import hashlib
import os
import resource
import socket
import threading
import time

from harness.checks import check, same, timely, true
from harness.client import Client, get, head
from harness.content import Content
from harness.forkingorigin import ForkingOrigin
from harness.origin import Resource
from harness.process import Nginx, have, note, wait_for

FULL = "PAWL_SLOW_CLIENTS" in os.environ
COUNT = int(os.environ.get("PAWL_SLOW_CLIENTS", "80"))
SIZE = 200_000_000 if FULL else 24 << 20
# Seconds, the slowest ordinary request: the bar where nothing else runs on the machine; without an answer it is 10.
BAR = 0.25 if FULL else 2
MIB = 1 << 20


class Ordinary:
    """Asks for small pages that the origin has to answer, one after another on connections of their own, until
    `stop`."""

    def __init__(self, address, clients=3, **how):
        self.address, self.how = address, how
        self.took, self.wrong, self.ending = [], [], threading.Event()
        self.threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(clients)]

    def _work(self, number):
        turn = 0
        while not self.ending.is_set():
            begun = time.monotonic()
            try:
                answer = get(self.address, f"/page/{number}/{turn}", timeout=10, **self.how)
                if answer.status != 200 or answer.body != b"page":
                    self.wrong.append(f"{answer.status} {answer.get('Proxy-Status')}")
            except Exception as error:  # whatever it is, this client had no answer
                self.wrong.append(repr(error))
            self.took.append(time.monotonic() - begun)
            turn += 1
            time.sleep(0.02)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join(12)

    def judge(self, what):
        note(
            f"    {what}: {len(self.took)} ordinary requests, slowest {max(self.took, default=0) * 1000:.0f} ms, "
            f"{len(self.wrong)} failed"
        )
        same(self.wrong[:3], [], f"{what}: ordinary requests that failed, of {len(self.took)}")
        timely(len(self.took) > 20, f"{what}: only {len(self.took)} ordinary requests")
        timely(max(self.took) < BAR, f"{what}: the slowest ordinary request took {max(self.took):.2f} s")


class Slow:
    """`count` connections on which `begin(number)` is sent; then `step` every 0.2 s until the end."""

    def __init__(self, address, count, begin, step, receive_buffer=None, source=None):
        host, port = address.split("//")[1].split(":")
        self.sockets = []
        for number in range(count):
            made = socket.socket()
            if receive_buffer:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            if source:
                made.bind((source(number), 0))
            made.connect((host, int(port)))
            made.sendall(begin(number))
            self.sockets.append(made)
        self.step, self.ending = step, threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)

    def _work(self):
        while not self.ending.wait(0.2):
            for each in self.sockets:
                try:
                    self.step(each)
                except OSError:
                    pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        for each in self.sockets:
            each.close()


def beside(bench, origin, name, slow, seconds):
    """The same beside nginx, where it is installed, for comparison; nothing is required of it."""
    if not have("nginx"):
        return
    nginx = bench.use(Nginx(bench.folder / f"nginx-{name}", f"location / {{ proxy_pass {origin.url}; }}"))
    with slow(nginx.address), Ordinary(nginx.address) as ordinary:
        time.sleep(seconds)
    note(
        f"    nginx, {name}: {len(ordinary.took)} ordinary requests, slowest {max(ordinary.took) * 1000:.0f} ms, "
        f"{len(ordinary.wrong)} failed"
    )


def trickle(framing="length"):
    """A POST of 8 KiB whose content comes a byte at a time."""
    field = "Content-Length: 8192" if framing == "length" else "Transfer-Encoding: chunked"
    octet = b"x" if framing == "length" else b"1\r\nx\r\n"
    return (lambda number: f"POST /form/{number} HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n".encode() + octet), (
        lambda each: each.send(octet)
    )


@check(
    "requests whose content trickles hold no place that others want",
    area="slow",
    seconds=120,
    over=("clear",),
    why="bytes of HTTP/1.1",
)
def trickling(bench):
    seconds = 8 if FULL else 3
    for framing in ("length", "chunked"):
        origin = bench.use(ForkingOrigin(SIZE))
        pawl = bench.pawl(origin, name=framing)
        begin, step = trickle(framing)
        with Slow(pawl.address, COUNT, begin, step), Ordinary(pawl.address) as ordinary:
            time.sleep(seconds)
            held = origin.active
        ordinary.judge(f"{COUNT} trickling requests, {framing}")
        if framing == "length":
            true(held <= 8, f"{held} requests whose content is not here are at the origin")
    beside(bench, origin, "trickling", lambda address: Slow(address, COUNT, *trickle()), seconds)


@check(
    "streams of one HTTP/2 connection hold no places that others want, whichever way they are slow",
    area="slow",
    seconds=120,
    over=("clear",),
    why="frames of HTTP/2",
)
def streams(bench):
    from harness.h2raw import INITIAL_WINDOW_SIZE, Frames

    kinds = (
        ("trickling", "/form", "POST", (("content-length", "8192"),)),
        ("trickling, of no announced length", "/form", "POST", ()),
        ("reading nothing", "/large", "GET", ()),
    )
    for number, (name, path, method, fields) in enumerate(kinds):
        origin = bench.use(ForkingOrigin(SIZE))
        pawl = bench.pawl(origin, name=f"streams-{number}")
        connection = bench.use(
            Frames(pawl.address, "h2c", settings=((INITIAL_WINDOW_SIZE, 0),), credits=False, keep=False)
        )
        opened = [connection.request(f"{path}?{each}", method, fields, end=method == "GET") for each in range(COUNT)]
        with Ordinary(pawl.address) as ordinary:
            for _ in range(40 if FULL else 15):
                if method == "POST":
                    for each in opened[:100]:
                        connection.data(each, b"x")
                until = time.monotonic() + 0.2
                while time.monotonic() < until:
                    connection.pump(0.05)
            note(f"    at the origin {origin.active}, resident {pawl.rss() / MIB:.0f} MiB")
        ordinary.judge(f"{COUNT} streams, {name}")


def reader(path):
    return lambda number: f"GET {path}?{number} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


@check(
    "readers of a large answer that nobody keeps hold no places that others want",
    area="slow",
    seconds=240,
    over=("clear",),
    why="bytes of HTTP/1.1",
)
def readers(bench):
    seconds = 20 if FULL else 5
    origin = bench.use(ForkingOrigin(SIZE))
    beside(
        bench,
        origin,
        "readers",
        lambda address: Slow(address, COUNT, reader("/large"), lambda each: each.recv(512), 4096),
        seconds,
    )
    for source in (None, lambda number: f"127.0.{1 + number // 200}.{1 + number % 200}"):
        origin = bench.use(ForkingOrigin(SIZE))
        pawl = bench.pawl(origin, name=f"readers-{source is None}")
        with (
            Slow(pawl.address, COUNT, reader("/large"), lambda each: each.recv(512), 4096, source),
            Ordinary(pawl.address) as ordinary,
        ):
            time.sleep(seconds)
            note(f"    at the origin {origin.active}, resident {pawl.rss() / MIB:.0f} MiB")
        ordinary.judge(f"{COUNT} slow readers{'' if source is None else ' of as many addresses'}")


@check(
    "an upload that is fast comes through beside many that are slow, of one client or of many",
    area="slow",
    seconds=90,
    over=("clear",),
    why="bytes of HTTP/1.1",
)
def fast_beside_slow(bench):
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    ways = {
        "expects 100": (b"Expect: 100-continue\r\nContent-Length: 6291456\r\n", 0, bytes(6 * MIB)),
        "chunked, slow at first": (
            b"Transfer-Encoding: chunked\r\n",
            0.3,
            b"3e8\r\n" + bytes(1000) + b"\r\n" + chunk * 96 + b"0\r\n\r\n",
        ),
    }
    for source in (None, lambda number: f"127.0.1.{1 + number}"):
        origin = bench.use(ForkingOrigin(SIZE))
        # Without an answer it is 503 after queue-timeout.
        pawl = bench.pawl(origin, name=f"beside-{source is None}", upstream={"queue-timeout": "5s"})
        with Slow(pawl.address, 40, *trickle("chunked"), source=source):
            for name, (fields, pause, content) in ways.items():
                with Client(pawl.address, 15, source="127.0.9.1") as client:
                    client.send(b"POST /form/fast HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n")
                    client.send(content[:1000])
                    time.sleep(pause)
                    client.send(content[1000:])
                    answer = client.response()
                    while answer.status == 100:
                        answer = client.response()
                    same(
                        answer.status,
                        200,
                        f"the fast upload ({name}), {'of one client' if source is None else 'of many'}",
                    )


@check(
    "what waits for its reader, or for its place, comes whole, and leaves nothing behind on disk",
    area="slow",
    seconds=90,
)
def whole(bench):
    origin = bench.origin()
    content, sent = Content("waits", 12 * MIB), Content("sent", 3 * MIB)
    origin.at("/down", Resource(content, fields=(("Cache-Control", "no-store"),)))
    origin.at(
        "/up",
        lambda request: Resource(
            hashlib.sha256(request.body).hexdigest().encode(), fields=(("Cache-Control", "no-store"),)
        ),
    )
    for uploads in ("on", "off"):
        origin.forget()
        pawl = bench.pawl(origin, name=f"uploads-{uploads}", site={"uploads": uploads, "min-resumable": "0"})
        with Client(pawl.address, 30, receive_buffer=4096) as client:
            client.request("/down")
            wait_for(
                lambda: origin.of("/down") and origin.of("/down")[0].ended == "done",
                15,
                "the end of the answer at the origin, whose reader reads nothing",
            )
            answer = client.response(keep=False)
            same(
                (answer.status, answer.count, answer.sha, answer.complete),
                (200, content.size, content.sha256(), True),
                "what the slow reader got",
            )
        with Client(pawl.address, 30) as client:
            client.send(head("/up", "POST", (("Content-Length", str(sent.size)),)))
            for start in range(0, sent.size, 64 << 10):
                if start == sent.size - (64 << 10):
                    same(origin.count("/up"), 0, "requests at the origin before the last of the content came")
                client.send(sent.read(start, start + (64 << 10)))
                time.sleep(0.04)
            same(client.response().body.decode(), sent.sha256(), "what the origin got")
        same([path.name for path in pawl.folder.rglob(".temporary*")], [], "files that were left")


GROWTH = 60_000_000  # resident bytes
WAITING = {"as it comes": 10_000, "all at once": 250_000}


def grown(pawl, before, what, seconds=3):
    """Watches the memory for so long, the most of it."""
    most = 0
    for _ in range(4 * seconds):
        time.sleep(0.25)
        most = max(most, pawl.rss() - before)
    note(
        f"    {what}: resident {before / MIB:.0f} MiB and {most / MIB:.0f} MiB more, at its peak "
        f"{pawl.peak_rss() / MIB:.0f} MiB"
    )
    true(most < GROWTH, f"{what}: {most / MIB:.0f} MiB of memory")


def comes_back(pawl, before, what):
    wait_for(
        lambda: pawl.rss() - before < GROWTH // 2,
        15,
        f"{what}: the memory given back, of which {(pawl.rss() - before) / MIB:.0f} MiB are more than before",
    )


def many_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard != resource.RLIM_INFINITY else 8192, hard))


@check(
    "a thousand requests of one client that wait with 250 kB each hold little memory, also where the disk has no room",
    area="slow",
    seconds=240,
    over=("clear",),
    why="bytes of HTTP/1.1",
)
def waiting(bench):
    many_files()
    for room in ("256M", "16M"):
        for how, piece in WAITING.items():
            origin = bench.use(ForkingOrigin(SIZE))
            pawl = bench.pawl(origin, name=f"waiting-{room}-{piece}", extra={"spool:default": {"max-size": room}})
            before, what = pawl.rss(), f"1000 requests, {how}, {room}"
            sent = {}

            def more(each):
                count = sent.setdefault(each, piece)
                if count < 250_000:
                    sent[each] = count + each.send(b"x" * min(piece, 250_000 - count), socket.MSG_DONTWAIT)

            head_of = lambda number: (
                f"POST /form/{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n".encode()
            )
            with Slow(
                pawl.address,
                1000,
                lambda number: head_of(number) + b"x" * piece,
                more,
                source=lambda number: "127.0.0.7",
            ):
                with Ordinary(pawl.address) as ordinary:
                    grown(pawl, before, what)
                    time.sleep(4)  # silence: those that ask for a place
                ordinary.judge(what)
                grown(pawl, before, what)
            comes_back(pawl, before, what)


@check(
    "three hundred readers of what nobody keeps hold little memory",
    area="slow",
    seconds=120,
    over=("clear",),
    why="bytes of HTTP/1.1",
)
def reading(bench):
    many_files()
    for path, size in (("/large", 3_000_000), ("/large", 300_000)):
        origin = bench.use(ForkingOrigin(size))
        pawl = bench.pawl(origin, name=f"reading-{size}")
        before, what = pawl.rss(), f"300 readers of {size} bytes"
        with Slow(pawl.address, 300, reader(path), lambda each: None, 4096, lambda number: "127.0.0.7"):
            with Ordinary(pawl.address) as ordinary:
                grown(pawl, before, what, 10)
            ordinary.judge(what)
        comes_back(pawl, before, what)


@check(
    "streams that wait with content hold little memory, however many connections of one client have them",
    area="slow",
    seconds=120,
    over=("clear",),
    why="frames of HTTP/2",
)
def waiting_streams(bench):
    from harness.h2raw import Frames

    origin = bench.use(ForkingOrigin(SIZE))
    pawl = bench.pawl(origin)
    before, what = pawl.rss(), "2000 streams of 20 connections"
    for _ in range(20):
        connection = bench.use(Frames(pawl.address, "h2c", keep=False))
        opened = [
            connection.request(f"/form?{each}", "POST", (("content-length", "300000"),), end=False)
            for each in range(100)
        ]
        for each in opened:
            for _ in range(4):
                connection.data(each, b"x" * 16_000)
        connection.pump(0.05)
    with Ordinary(pawl.address) as ordinary:
        grown(pawl, before, what)
    ordinary.judge(what)
