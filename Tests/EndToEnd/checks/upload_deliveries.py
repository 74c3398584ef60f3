"""Deliveries that end badly: connections that the origin has closed, answers that come early, what is on record when somebody is told."""

import contextlib
import random
import socket
import sqlite3
import struct
import threading
import time

from harness.checks import CLEAR, check, only, same, true
from harness.content import Content
from harness.origin import Resource
from harness.uploads import NO_STORE, Dialect, create

only(CLEAR, "they are about what goes to the application", __name__)

BODY = Content("deliveries", 50_000).read()
# Phases of an upload as they stand on the disk (UploadPhase).
COMPLETE, UNKNOWN = 1, 5


def rows(pawl, *columns):
    """These columns of all uploads, as another process finds them on the disk."""
    [path] = (pawl.folder / "state").rglob("uploads.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as catalogue:
        return list(catalogue.execute(f"SELECT {', '.join(columns)} FROM uploads ORDER BY created_at, id"))


def phases(pawl):
    return [phase for phase, in rows(pawl, "phase")]


class Closing:
    """An origin that answers uploads and closes its connections at random when they are idle, most of them at once when something comes."""

    def __init__(self, seed):
        self.random, self.lock, self.served = random.Random(seed), threading.Lock(), 0
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(256)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            while True:
                buffer = b""
                while b"\r\n\r\n" not in buffer:
                    data = connection.recv(65536)
                    if not data:
                        return
                    buffer += data
                head, body = buffer.split(b"\r\n\r\n", 1)
                length = int(next((line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), b"0"))
                while len(body) < length:
                    data = connection.recv(65536)
                    if not data:
                        return
                    body += data
                with self.lock:
                    self.served += length > 0
                    pause = self.random.choice((0.0, 0.001, 0.004, 0.01, 0.02, 0.05))
                code = b"405 No" if head.startswith(b"OPTIONS") else b"200 OK"
                connection.sendall(b"HTTP/1.1 " + code + b"\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
                # Closed with what has come meanwhile unread: whoever sent that is told by a reset.
                time.sleep(pause)
                if pause < 0.05:
                    return


@check("upload deliveries: 1,000 to an origin that closes idle connections at random: none is unknown", seconds=240)
def closing(bench):
    origin = bench.use(Closing(16))
    pawl = bench.pawl(origin.url, site={"min-resumable": "0"})

    wrong = []
    for number in range(1000):
        answer = create(pawl.address, Dialect(6), BODY[:(1, 100, 20_000)[number % 3]], target=f"/{number}", timeout=30)
        if (answer.status, answer.body) != (200, b"ok"):
            wrong.append((number, answer.status))
    same((wrong, phases(pawl).count(UNKNOWN)), ([], 0), "other answers, and unknown uploads")
    same(origin.served, 1000, "uploads at the origin")


@check("upload deliveries: a connection that the origin closes when the next upload comes is not used for it", seconds=60)
def stale(bench):
    """The origin keeps each connection open, and resets it some moments after anything more has come by it."""
    seen = []
    origin = bench.use(Closing(1))

    def reset_later(connection):
        with contextlib.suppress(OSError):
            buffer = b""
            while b"\r\n\r\n" not in buffer:
                buffer += connection.recv(65536)
            head, body = buffer.split(b"\r\n\r\n", 1)
            length = int(next((line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), b"0"))
            while len(body) < length:
                body += connection.recv(65536)
            seen.append(len(body))
            code = b"405 No" if head.startswith(b"OPTIONS") else b"200 OK"
            connection.sendall(b"HTTP/1.1 " + code + b"\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
            connection.recv(1, socket.MSG_PEEK)
            # Long enough for all of a small request, the journal between its last octets included.
            time.sleep(0.3)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
    origin.serve = reset_later
    pawl = bench.pawl(origin.url, site={"min-resumable": "0"})
    for number in range(3):
        answer = create(pawl.address, Dialect(6), b"hello", target=f"/{number}", timeout=20)
        same((answer.status, answer.body), (200, b"ok"), f"upload {number}")
    same(sorted(seen)[-3:], [5, 5, 5], "what the origin read")


@check("upload deliveries: who is told 401, 429 or 503 may rely on it: a crash in that moment leaves the upload complete", seconds=60)
def told(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    for code in (401, 429, 503) * 3:
        origin.default = lambda request, code=code: Resource(b"no", status=code, fields=NO_STORE + (("Retry-After", "100"),))
        answer = create(pawl.address, Dialect(6), BODY, target=f"/{code}", timeout=20)
        found = phases(pawl)
        same((answer.status, found), (code, [COMPLETE] * len(found)), "what is on the disk when the client has been told")
    pawl.restart(hard=True)
    time.sleep(0.3)
    true(UNKNOWN not in phases(pawl), "unknown after a restart")
