"""Deliveries that end badly: connections that the origin has closed, answers that come early, what is on record when
somebody is told."""

import contextlib
import hashlib
import random
import socket
import sqlite3
import struct
import threading
import time

from harness.checks import CLEAR, check, only, same, true
from harness.client import Client, head
from harness.content import Content
from harness.origin import Origin, Resource
from harness.process import run_pawl, wait_for
from harness.uploads import (
    NO_STORE,
    Dialect,
    Upload,
    append,
    asked,
    create,
    each,
    early,
    on_connection,
    path_of,
    stored,
    tus_create,
    tus_new,
    tus_patch,
    whole,
)

only(CLEAR, "they are about what goes to the application", __name__)

BODY = Content("deliveries", 50_000).read()
# Phases of an upload as they stand on the disk (UploadPhase).
COMPLETE, SENT, ANSWERED, UNKNOWN = 1, 3, 4, 5


def rows(pawl, *columns, folder="state"):
    """These columns of all uploads, as another process finds them on the disk."""
    [path] = (pawl.folder / folder).rglob("uploads.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as catalogue:
        return list(catalogue.execute(f"SELECT {', '.join(columns)} FROM uploads ORDER BY created_at, id"))


def phases(pawl, folder="state"):
    return [phase for (phase,) in rows(pawl, "phase", folder=folder)]


class Closing:
    """An origin that answers uploads and closes its connections at random when they are idle, most of them at once when
    something comes."""

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
                length = int(
                    next(
                        (
                            line.split(b":")[1]
                            for line in head.split(b"\r\n")
                            if line.lower().startswith(b"content-length:")
                        ),
                        b"0",
                    )
                )
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


@check(
    "1,000 to an origin that closes idle connections at random: none is unknown", area="upload deliveries", seconds=240
)
def closing(bench):
    origin = bench.use(Closing(16))
    pawl = bench.pawl(origin.url, site={"min-resumable": "0"})

    wrong = []
    for number in range(1000):
        answer = create(pawl.address, Dialect(6), BODY[: (1, 100, 20_000)[number % 3]], target=f"/{number}", timeout=30)
        if (answer.status, answer.body) != (200, b"ok"):
            wrong.append((number, answer.status))
    same((wrong, phases(pawl).count(UNKNOWN)), ([], 0), "other answers, and unknown uploads")
    same(origin.served, 1000, "uploads at the origin")


@check(
    "a connection that the origin closes when the next upload comes is not used for it",
    area="upload deliveries",
    seconds=60,
)
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
            length = int(
                next(
                    (
                        line.split(b":")[1]
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"content-length:")
                    ),
                    b"0",
                )
            )
            while len(body) < length:
                body += connection.recv(65536)
            seen.append(len(body))
            code = b"405 No" if head.startswith(b"OPTIONS") else b"200 OK"
            connection.sendall(b"HTTP/1.1 " + code + b"\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
            connection.recv(1, socket.MSG_PEEK)
            # Long enough for all of a small request, the journal between its last bytes included.
            time.sleep(0.3)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    origin.serve = reset_later
    pawl = bench.pawl(origin.url, site={"min-resumable": "0"})
    for number in range(3):
        answer = create(pawl.address, Dialect(6), b"hello", target=f"/{number}", timeout=20)
        same((answer.status, answer.body), (200, b"ok"), f"upload {number}")
    same(sorted(seen)[-3:], [5, 5, 5], "what the origin read")


@check(
    "who is told 401, 429 or 503 may rely on it: a crash in that moment leaves the upload complete",
    area="upload deliveries",
    seconds=60,
)
def told(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    for code in (401, 429, 503) * 3:
        origin.default = lambda request, code=code: Resource(
            b"no", status=code, fields=NO_STORE + (("Retry-After", "100"),)
        )
        answer = create(pawl.address, Dialect(6), BODY, target=f"/{code}", timeout=20)
        found = phases(pawl)
        same(
            (answer.status, found), (code, [COMPLETE] * len(found)), "what is on the disk when the client has been told"
        )
    pawl.restart(hard=True)
    time.sleep(0.3)
    true(UNKNOWN not in phases(pawl), "unknown after a restart")


# -- answers that come before the request is whole ---------------------------------------------------------------------

LARGE = Content("early", 16 << 20).read()
HEAD = b"HTTP/1.1 %s\r\nContent-Length: 5\r\nCache-Control: no-store\r\n"


def reading_on(raw, found):
    """Answers with all it says after some of the body, reads the rest, and notes in `found` what it had."""

    def reply(request, connection, buffer):
        missing, digest = int(request.get("Content-Length")) - len(buffer), hashlib.sha256(buffer)
        connection.sendall(raw)
        time.sleep(0.3)
        connection.settimeout(5)
        with contextlib.suppress(OSError):
            while missing > 0:
                data = connection.recv(1 << 20)
                if not data:
                    break
                digest.update(data)
                missing -= len(data)
        found.append((missing, digest.hexdigest()))
        request.status = 200

    return on_connection(reply)


def gone(raw, after=0):
    """Answers with all it says after so many bytes of the body, and closes with the others unread."""

    def reply(request, connection, buffer):
        taken = len(buffer)
        while taken < after:
            taken += len(connection.recv(65536))
        connection.sendall(raw)
        request.status = -1
        time.sleep(0.1)  # for the answer to be read before the reset
        connection.close()

    return on_connection(reply)


def stalled(raw, seconds):
    """Answers with all it says, reads nothing more and stays."""

    def reply(request, connection, buffer):
        connection.sendall(raw)
        request.status = -1
        time.sleep(seconds)

    return on_connection(reply)


@check("a 2xx before the whole body counts once the origin has all of it", area="upload deliveries", seconds=60)
def early_success(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, site={"min-resumable": "0"})

    def row(case):
        code, size, closes = case
        found = []
        target = f"/{code[:3].decode()}-{size}-{closes}"
        origin.at(target, reading_on(HEAD % code + (b"Connection: close\r\n" if closes else b"") + b"\r\nearly", found))
        answer = create(pawl.address, Dialect(6), LARGE[:size], target=target, timeout=20)
        same((answer.status, answer.body), (int(code[:3]), b"early"), target)
        wait_for(lambda: found, 5, "the end of the body")
        same(found, [(0, hashlib.sha256(LARGE[:size]).hexdigest())], f"what the origin had of {target}")

    each(
        [
            (code, size, closes)
            for code in (b"200 OK", b"201 Created", b"303 See Other")
            for size in (2, 1000, 16 << 20)
            for closes in (False, True)
        ],
        row,
    )
    same(set(phases(pawl)), {ANSWERED}, "phases")


@check(
    "a 2xx of an origin that never has the whole body: the copy stays, unknown, with that answer, and is not sent "
    "again by itself",
    area="upload deliveries",
    seconds=90,
)
def early_and_gone(bench):
    for number, (code, size, delivery) in enumerate(
        (
            (b"200 OK", 16 << 20, "at-most-once"),
            (b"201 Created", 16 << 20, "at-least-once"),
            (b"303 See Other", 16 << 20, "at-most-once"),
        )
    ):
        origin = bench.origin()
        pawl = bench.pawl(origin, f"pawl{number}", site={"min-resumable": "0", "delivery": delivery})
        origin.at("/in", gone(HEAD % code + b"\r\nearly"))
        with Upload(pawl.address) as client:
            client.create(Dialect(6), True, size, (), "/in")
            location = client.location()
            client.send(LARGE[:size])
            answer = client.answer()
        same(answer.status, 502, f"case {number}: what the client is told")
        same(rows(pawl, "phase", "origin_status"), [(UNKNOWN, int(code[:3]))], f"case {number}: on the disk")
        same(append(pawl.address, Dialect(6), location, size, b"").status, 502, "an empty append")
        pawl.restart(hard=True)
        time.sleep(2.5)
        same((len(asked(origin)), phases(pawl)), (1, [UNKNOWN]), f"case {number}: requests after a restart")
        (kept,) = [path for path in (pawl.folder / "state").rglob("bodies/*") if path.is_file()]
        true(kept.read_bytes() == LARGE[:size], "the copy")
        same(answers(pawl), [(int(code[:3]), b"early")], "the answer that is kept")
        origin.at("/in", stored)
        code_, out, err = run_pawl("uploads", "resend", kept.name, "--config", str(pawl.file), folder=pawl.folder)
        same(code_, 0, f"resend: {out} {err}")
        wait_for(lambda: phases(pawl) == [ANSWERED], 10, "the delivery of what was sent again")
        true(asked(origin)[-1].body == LARGE[:size], "what was sent again")
        same(append(pawl.address, Dialect(6), location, size, b"").body, b"got %d bytes" % size, "its answer")


def answers(pawl):
    [path] = (pawl.folder / "state").rglob("uploads.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as catalogue:
        return [(code, bytes(body)) for code, body in catalogue.execute("SELECT status, body FROM answers")]


@check(
    "pawl ends while it still sends what has a 2xx already: unknown afterwards, not sent again",
    area="upload deliveries",
    seconds=60,
)
def early_and_ended(bench):
    for how in ("kill", "stop"):
        origin = bench.origin()
        pawl = bench.pawl(origin, how, site={"min-resumable": "0"}, pawl={"drain-timeout": "1s"})
        origin.at("/in", stalled(HEAD % b"200 OK" + b"\r\nearly", 6))
        with Upload(pawl.address) as client:
            client.create(Dialect(6), True, len(LARGE), (), "/in")
            client.send(LARGE)
            wait_for(lambda: phases(pawl) == [SENT], 10, "the record")
            pawl.restart(hard=how == "kill")
        wait_for(lambda: phases(pawl) == [UNKNOWN], 5, "the outcome")
        time.sleep(1.5)
        same((len(asked(origin)), rows(pawl, "phase", "origin_status")), (1, [(UNKNOWN, 200)]), f"after {how}")


@check(
    "an error before the whole body ends the delivery, and a 2xx that breaks off before it is none",
    area="upload deliveries",
    seconds=60,
)
def early_errors(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    for code in (b"413 Too Large", b"500 Broken", b"401 Who"):
        target = "/" + code[:3].decode()
        origin.at(target, early(HEAD % code + b"Connection: close\r\n\r\nearly", after=70_000))
        answer = create(pawl.address, Dialect(6), LARGE, target=target, timeout=20)
        same((answer.status, answer.body), (int(code[:3]), b"early"), target)
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"
    origin.at("/half", script_connection(gone(half, after=70_000), origin))
    answer = create(pawl.address, Dialect(6), LARGE, target="/half", timeout=20)
    same((answer.status, answer.body), (200, b"got %d bytes" % len(LARGE)), "after a part of an answer")


def script_connection(first, origin):
    """`first` has the first connection, others are answered by `stored`."""
    turns = []

    def reply(request, connection, buffer):
        if request.method != "OPTIONS" and turns:
            origin._read_body(request, connection, buffer)
            return origin._answer(request, stored(request), connection)
        if request.method != "OPTIONS":
            turns.append(1)
        first(request, connection, buffer)

    reply.wants_connection = True
    return reply


# -- time, and joins ---------------------------------------------------------------------------------------------------


@check("forward-give-up does not count the time in which pawl is off", area="upload deliveries", seconds=60)
def give_up(bench):
    for how in ("stop", "kill"):
        port = bench.held_port()
        pawl = bench.pawl(
            f"http://127.0.0.1:{port}", how, site={"min-resumable": "0", "tus-wait": "1s", "forward-give-up": "6s"}
        )
        same(create(pawl.address, Dialect(9), BODY, timeout=10).status, 503, "while the application is away")
        pawl.kill() if how == "kill" else pawl.stop()
        time.sleep(8)
        pawl.start()
        wait_for(lambda: rows(pawl, "attempts")[0][0] >= 2, 8, "an attempt after the start")
        time.sleep(0.3)
        same(phases(pawl), [COMPLETE], f"after {how} and one failed attempt")
        with Origin(port=port, is_held=True, default=stored) as origin:
            wait_for(lambda: phases(pawl) == [ANSWERED], 15, "the delivery")
            same([r.body == BODY for r in asked(origin)], [True], "at the application")


@check(
    "parts whose client leaves while they are joined are delivered once, and who comes again gets the answer",
    area="upload deliveries",
    seconds=60,
)
def left_join(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin)
    half = Content("join", 48 << 20).read()
    parts = []
    for _ in range(2):
        location = tus_new(pawl.address, len(half), (("Upload-Concat", "partial"),))
        same(tus_patch(pawl.address, location, 0, half).status, 204, "a part")
        parts.append(path_of(location))
    fields = (("Tus-Resumable", "1.0.0"), ("Upload-Concat", "final;" + " ".join(parts * 4)))
    for _ in range(2):
        with Client(pawl.address) as client:
            client.send(head("/whole", "POST", fields, b""))
            time.sleep(0.05)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_for(lambda: whole(origin, "/whole"), 30, "the delivery, without a client")
    answer = tus_create(pawl.address, None, fields[1:], target="/whole")
    same((answer.status, answer.get("Pawl-Origin-Status")), (201, "200"), "who comes again")
    same([len(r.body) for r in whole(origin, "/whole")], [len(half) * 8], "at the application")
    same(pawl.log().count("upload-created"), 3, "uploads made")
