"""A legacy origin that misbehaves as a script says, and counts what it sent.

Every connection has a thread. What a path answers is a `Resource`, or a function of the request that returns one.
"""

import dataclasses
import email.utils
import fcntl
import re
import socket
import struct
import termios
import threading
import time

from .content import Content
from .listening import Listening, serve
from .tlssocket import TLSSocket


@dataclasses.dataclass
class Break:
    """Where a body ends early, counted from the first byte of the representation, and how."""

    at: int
    how: str = "rst"  # rst, fin, stall; over TLS cut: FIN without close_notify


@dataclasses.dataclass
class Resource:
    content: object = b""  # Content or bytes
    ranges: bool = False
    etag: str | None = None  # as on the wire, quotes and all
    last_modified: str | None = None  # "old", "fresh" or an HTTP date
    framing: str = "length"  # length, chunked, close
    type: str | None = "application/octet-stream"
    fields: tuple = ()  # more field lines, ("Name", "value")
    breaks: object = None  # function (start, end) -> Break or None
    pace: float | None = None  # bytes a second
    status: int | None = None  # another status than 200, with `content` as its body
    before_head: object = None  # function (request) called before anything is sent
    gates: tuple = ()  # ((offset, threading.Event), ...): wait there before going on
    lie: dict | None = None  # a lying 206: start, total, tag, length (see _range_head)
    interim: tuple = ()  # raw 1xx heads sent first
    conditional: bool = True  # answers 304 to a matching If-None-Match or If-Modified-Since
    close: bool = False  # Connection: close after this answer
    trailers: tuple = ()


class Request:
    def __init__(self, raw, connection, number):
        self.raw, self.connection, self.number = raw, connection, number
        head = raw.split(b"\r\n\r\n", 1)[0].split(b"\r\n")
        parts = head[0].decode("latin-1").split(" ")
        self.method, self.target, self.version = (parts + ["", "", ""])[:3]
        self.path = self.target.split("?")[0]
        self.fields = []
        for line in head[1:]:
            name, _, value = line.decode("latin-1").partition(":")
            self.fields.append((name, value.strip()))
        self.body = b""
        self.trailers = []
        self.body_count = 0
        self.serial = 0  # how many requests for this path came before
        self.status = None
        self.sent = 0  # body bytes that left for pawl (acknowledged ones where the connection broke)
        self.start = 0  # offset of the first body byte
        self.ended = None  # done, rst, fin, stall, peer
        self.time = time.monotonic()

    def get(self, name, default=None):
        for key, value in self.fields:
            if key.lower() == name.lower():
                return value
        return default

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def __repr__(self):
        return (
            f"<{self.method} {self.target} range={self.get('Range')} if-range={self.get('If-Range')} "
            f"status={self.status} start={self.start} sent={self.sent} ended={self.ended}>"
        )


def http_date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


class PeerGone(Exception):
    pass


def begins(connection):
    """Whether a byte comes before the end: when pawl starts, it makes a connection without any."""
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except OSError:
        return False


class Origin:
    """Listens on 127.0.0.1. Use as a context manager. `tls`: an ssl.SSLContext; then it speaks TLS.

    `default` answers what `resources` has no answer for; give it here where a request may come at once.
    """

    def __init__(self, port=0, chunk=256 << 10, date=True, receive_buffer=None, tls=None, is_held=False, default=None):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if is_held:  # by Bench.held_port
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(1024)
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.tls, self.handshakes, self.failures = tls, [], []
        self.chunk, self.send_date = chunk, date
        self.resources, self.default = {}, default
        self.requests, self.lock = [], threading.Lock()
        self.connections, self.open, self.most_open = 0, 0, 0
        self.serials, self.stopping = {}, threading.Event()
        self.firsts = {}
        self.sockets = set()
        self.active = 0  # requests whose answer has not left whole
        self.dates_off = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopping.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        with self.lock:
            sockets = list(self.sockets)
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def at(self, path, resource):
        """`resource`: a Resource, a function request -> Resource, or a function request -> bytes, sent as they are."""
        self.resources[path] = resource
        return resource

    # -- counting ------------------------------------------------------------------------------------------------
    def of(self, path):
        with self.lock:
            return [request for request in self.requests if request.target == path or request.path == path]

    def count(self, path):
        return len(self.of(path))

    def sent(self, path=None):
        """Body bytes that went to pawl."""
        with self.lock:
            return sum(r.sent for r in self.requests if path is None or r.target == path or r.path == path)

    def forget(self):
        with self.lock:
            self.requests.clear()
            self.serials.clear()
            self.connections, self.most_open = 0, self.open

    # -- one connection ------------------------------------------------------------------------------------------
    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.sockets.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _begin(self, connection):
        """Counts a connection once its first byte is here: when pawl starts, it makes one without any."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        is_used = begins(connection)
        with self.lock:
            if not is_used:
                self.sockets.discard(connection)
                return None
            self.connections += 1
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            return self.connections

    def _serve(self, connection):
        number = self._begin(connection)
        if number is None:
            connection.close()
            return
        buffer = b""
        try:
            if self.tls:
                connection = self._secure(connection)
            while not self.stopping.is_set():
                while b"\r\n\r\n" not in buffer:
                    data = connection.recv(65536)
                    if not data:
                        return
                    buffer += data
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                request = Request(head + b"\r\n\r\n", number, len(self.requests))
                request.socket = connection
                with self.lock:
                    key = request.target
                    request.serial = self.serials.get(key, 0)
                    self.serials[key] = request.serial + 1
                    self.requests.append(request)
                    self.active += 1
                try:
                    resource = self.resources.get(request.target, self.resources.get(request.path, self.default))
                    if getattr(resource, "wants_connection", False):
                        resource(request, connection, buffer)
                        return
                    buffer = self._read_body(request, connection, buffer)
                    if callable(resource):
                        resource = resource(request)
                    if resource is None:
                        resource = Resource(b"not here\n", status=404, type="text/plain")
                    if isinstance(resource, (bytes, tuple)):
                        if not self._raw(request, connection, resource):
                            return
                    elif not self._answer(request, resource, connection):
                        return
                finally:
                    with self.lock:
                        self.active -= 1
        except (OSError, PeerGone):
            pass
        finally:
            with self.lock:
                self.open -= 1
                self.sockets.discard(connection)
            try:
                connection.close()
            except OSError:
                pass

    def _secure(self, raw):
        """TLS on a connection; `handshakes` keeps what each came to, `failures` why others failed."""
        try:
            secured = TLSSocket(raw, self.tls, server_side=True)
        except (OSError, ValueError) as error:
            self.failures.append(str(error))
            raise OSError(str(error)) from error
        with self.lock:
            self.sockets.discard(raw)
            self.sockets.add(secured)
            self.handshakes.append(
                {
                    "version": secured.tls.version(),
                    "resumed": secured.tls.session_reused,
                    "certificate": secured.tls.getpeercert(binary_form=True),
                    "alpn": secured.tls.selected_alpn_protocol(),
                    "name": getattr(secured.tls.context, "asked", None),
                }
            )
        return secured

    def _read_body(self, request, connection, buffer):
        def more():
            data = connection.recv(262144)
            if not data:
                request.ended = "peer"
                raise PeerGone()
            return data

        keep = bytearray()
        if (request.get("Transfer-Encoding") or "").lower() == "chunked":
            while True:
                while b"\r\n" not in buffer:
                    buffer += more()
                line, buffer = buffer.split(b"\r\n", 1)
                size = int(line.split(b";")[0], 16)
                if size == 0:
                    while True:
                        while b"\r\n" not in buffer:
                            buffer += more()
                        line, buffer = buffer.split(b"\r\n", 1)
                        if not line:
                            break
                        request.trailers.append(line)
                    break
                while len(buffer) < size + 2:
                    buffer += more()
                keep += buffer[:size]
                request.body_count = len(keep)
                buffer = buffer[size + 2 :]
        else:
            left = int(request.get("Content-Length") or 0)
            if left and (request.get("Expect") or "").lower() == "100-continue":
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            while left:
                if not buffer:
                    buffer = more()
                take = buffer[:left]
                keep += take
                buffer = buffer[len(take) :]
                left -= len(take)
                request.body_count = len(keep)
        request.body = bytes(keep)
        return buffer

    def _raw(self, request, connection, script):
        """Bytes as they are; a tuple ends with what happens then: keep, close, rst."""
        data, end = (script, "close") if isinstance(script, bytes) else (script[0], script[1])
        request.status = -1
        connection.sendall(data)
        request.ended = end
        if end == "rst":
            self._settle(connection)
            self._reset(connection)
        return end == "keep"

    def _answer(self, request, resource, connection):
        if resource.before_head:
            resource.before_head(request)
        content = resource.content
        if isinstance(content, (bytes, bytearray)):
            content = Octets(bytes(content))
        now = time.time()
        # Of the first time somebody asked: one that moved on with the clock would be another representation's.
        with self.lock:
            first = self.firsts.setdefault(request.path, now)
        modified = {"old": http_date(now - 86400 * 30), "fresh": http_date(first - 2), None: None}.get(
            resource.last_modified, resource.last_modified
        )
        if resource.last_modified == "old":
            modified = "Sat, 01 Aug 2026 10:00:00 GMT"
        start, end, status = 0, content.size, resource.status or 200
        fields = []
        if resource.ranges:
            fields.append(("Accept-Ranges", "bytes"))
        if resource.etag:
            fields.append(("ETag", resource.etag))
        if modified:
            fields.append(("Last-Modified", modified))
        if resource.type:
            fields.append(("Content-Type", resource.type))
        fields += resource.fields
        if status == 200 and resource.conditional and request.method in ("GET", "HEAD"):
            none_match = request.get("If-None-Match")
            since = request.get("If-Modified-Since")
            weak = lambda tag: tag.strip().removeprefix("W/")
            if none_match is not None:
                if resource.etag and weak(resource.etag) in [weak(t) for t in none_match.split(",")]:
                    status = 304
            elif since and modified and (email.utils.parsedate(since) or (0,)) >= email.utils.parsedate(modified):
                status = 304
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", request.get("Range") or "")
        condition = request.get("If-Range")
        if (
            status == 200
            and resource.ranges
            and wanted
            and request.method == "GET"
            and (
                condition is None
                or condition == modified
                or (condition == resource.etag and not condition.startswith("W/"))
            )
        ):
            first, last = wanted.groups()
            if first:
                start, end = int(first), min(int(last) + 1 if last else content.size, content.size)
            else:
                start, end = max(0, content.size - int(last)), content.size
            if start >= content.size:
                status, start, end = 416, 0, 0
                fields.append(("Content-Range", f"bytes */{content.size}"))
                content = Octets(b"")
            else:
                status = 206
                lie = resource.lie or {}
                shown = lie.get("start", start)
                fields.append(
                    ("Content-Range", f"bytes {shown}-{lie.get('last', end - 1)}/{lie.get('total', content.size)}")
                )
                if "tag" in lie:
                    fields = [f for f in fields if f[0] != "ETag"] + [("ETag", lie["tag"])]
                start = lie.get("body", start)
        request.status, request.start = status, start
        for interim in resource.interim:
            connection.sendall(interim)
        empty = request.method == "HEAD" or status in (204, 304)
        framing = resource.framing
        if request.version == "HTTP/1.0" and framing == "chunked":
            framing = "close"
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        if self.send_date and not any(f[0].lower() == "date" for f in fields):
            lines.append("Date: " + http_date(now + self.dates_off))
        lines += [f"{name}: {value}" for name, value in fields]
        if framing == "length" and status not in (204, 304):
            lines.append(f"Content-Length: {end - start}")
        elif framing == "chunked" and status not in (204, 304):
            lines.append("Transfer-Encoding: chunked")
            if resource.trailers:
                lines.append("Trailer: " + ", ".join(n for n, _ in resource.trailers))
        keep = not resource.close and framing != "close"
        if not keep:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
        if empty:
            connection.sendall(head)
            request.ended = "done"
            return keep
        broken = resource.breaks(start, end) if resource.breaks else None
        stop = min(end, broken.at) if broken and broken.at < end else end
        if broken and broken.at >= end:
            broken = None
        try:
            self._body(request, resource, connection, head, content, start, stop, framing)
        except OSError:
            request.ended = "peer"
            request.sent = max(0, request.sent - self._unsent(connection))
            raise PeerGone()
        if broken is None:
            if framing == "chunked":
                tail = "".join(f"{n}: {v}\r\n" for n, v in resource.trailers).encode()
                connection.sendall(b"0\r\n" + tail + b"\r\n")
            request.ended = "done"
            if framing == "close":
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(2)
                self._drain(connection)
            return keep
        request.ended = broken.how
        if broken.how == "stall":
            self._drain(connection)
            return False
        self._settle(connection)
        if broken.how == "rst":
            self._reset(connection)
        elif broken.how == "cut":
            connection.abrupt = True
            connection.raw.shutdown(socket.SHUT_WR)
            connection.settimeout(2)
            self._drain(connection)
        else:
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(2)
            self._drain(connection)
        return False

    def _body(self, request, resource, connection, head, content, start, stop, framing):
        at, pending, begun = start, [head], time.monotonic()
        gates = [g for g in resource.gates if g[0] >= start]
        step = self.chunk if not resource.pace else max(1, min(self.chunk, int(resource.pace / 20)))
        if start == stop:
            connection.sendall(head)
        while at < stop:
            until = min(stop, at + step)
            if gates:
                if gates[0][0] <= at:
                    if pending:
                        connection.sendall(b"".join(pending))
                        pending = []
                    self._wait(gates[0][1], connection)
                    gates.pop(0)
                    continue
                until = min(until, gates[0][0])
            if framing == "chunked":
                pending.append(b"%x\r\n" % (until - at))
            pending += content.pieces(at, until)
            if framing == "chunked":
                pending.append(b"\r\n")
            self._send(connection, pending)
            pending = []
            request.sent += until - at
            at = until
            if resource.pace:
                ahead = (at - start) / resource.pace - (time.monotonic() - begun)
                if ahead > 0:
                    time.sleep(ahead)
        # A gate at the very end holds back whatever would end the body.
        for offset, event in gates:
            if offset <= stop:
                self._wait(event, connection)

    def _wait(self, event, connection):
        while not event.wait(0.05):
            if self.stopping.is_set():
                raise PeerGone()
            connection.setblocking(False)
            try:
                if connection.recv(1, socket.MSG_PEEK) == b"":
                    raise OSError("peer closed")
            except BlockingIOError:
                pass
            finally:
                connection.setblocking(True)

    @staticmethod
    def _send(connection, buffers):
        if sum(map(len, buffers)) < 16384:
            connection.sendall(b"".join(buffers))
            return
        for piece in buffers:
            connection.sendall(piece)

    @staticmethod
    def _unsent(connection):
        try:
            return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]
        except OSError:
            return 0

    def _settle(self, connection, seconds=5):
        """Waits until pawl's side has taken everything, so that what a reset takes away is nothing."""
        end = time.monotonic() + seconds
        while self._unsent(connection) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.002)

    @staticmethod
    def _reset(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    @staticmethod
    def _drain(connection):
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass


class Octets(Content):
    """A body given as bytes."""

    def __init__(self, data):
        super().__init__("bytes", len(data))
        self.data = memoryview(data)

    def pieces(self, start=0, end=None):
        end = self.size if end is None else min(end, self.size)
        if start < end:
            yield self.data[start:end]


REASONS = {
    200: "OK",
    201: "Created",
    204: "No Content",
    206: "Partial Content",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    416: "Range Not Satisfiable",
    417: "Expectation Failed",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


def break_points(offsets, how="rst"):
    """One break for each offset, in growing order; a connection meets the next that lies behind its start."""
    left, lock = sorted(offsets), threading.Lock()

    def next_break(start, end):
        with lock:
            while left and left[0] <= start:
                left.pop(0)
            if left and left[0] < end:
                return Break(left.pop(0), how if isinstance(how, str) else how())
            return None

    next_break.left = left
    return next_break


def random_breaks(rng, size, least=1, most=50, how="rst"):
    """`least` to `most` breaks at random offsets of a body of `size` bytes. Returns (function, how many)."""
    count = rng.randint(least, most)
    offsets = sorted(rng.sample(range(1, size), min(count, size - 1)))
    return break_points(offsets, how), len(offsets)


def always_break(after, how="rst"):
    """Each connection breaks after so many bytes of its own body."""
    return lambda start, end: Break(start + after, how) if start + after < end else None


class RawOrigin(Listening):
    """Keeps every byte that comes in, by connection, and plays a function (connection number, request number,
    bytes so far) -> bytes or (bytes, "keep" | "close" | "rst"). A request counts once its head has ended."""

    def __init__(self, reply=None):
        self.reply = reply or (
            lambda connection, number, head: (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "keep")
        )
        self.received, self.lock = [], threading.Lock()
        self.closed = []
        self.begin()

    def everything(self):
        with self.lock:
            return b"".join(bytes(each) for each in self.received)

    def forget(self):
        with self.lock:
            for each in self.received:
                each.clear()

    def accepted(self, connection, _):
        serve(self._serve, connection)

    def _serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not begins(connection):
            connection.close()
            return
        with self.lock:
            number = len(self.received)
            self.received.append(bytearray())
            self.closed.append(None)
        pending, requests = b"", 0
        try:
            while True:
                data = connection.recv(65536)
                if not data:
                    self.closed[number] = "fin"
                    return
                with self.lock:
                    self.received[number] += data
                pending += data
                while b"\r\n\r\n" in pending:
                    head, pending = pending.split(b"\r\n\r\n", 1)
                    length = re.search(rb"(?im)^content-length: *(\d+)", head)
                    if length:
                        need = int(length.group(1))
                        while len(pending) < need:
                            data = connection.recv(65536)
                            if not data:
                                return
                            with self.lock:
                                self.received[number] += data
                            pending += data
                        pending = pending[need:]
                    elif re.search(rb"(?im)^transfer-encoding: *chunked", head):
                        while (
                            not (pending.startswith(b"0\r\n") and pending.endswith(b"\r\n\r\n"))
                            and b"\r\n0\r\n" not in pending
                        ):
                            data = connection.recv(65536)
                            if not data:
                                return
                            with self.lock:
                                self.received[number] += data
                            pending += data
                        pending = b""
                    answer = self.reply(number, requests, head)
                    requests += 1
                    data, end = answer if isinstance(answer, tuple) else (answer, "close")
                    if data:
                        connection.sendall(data)
                    if end == "rst":
                        Origin._reset(connection)
                        return
                    if end == "close":
                        connection.shutdown(socket.SHUT_WR)
                        connection.settimeout(1)
                        Origin._drain(connection)
                        return
        except OSError:
            self.closed[number] = "rst"
        finally:
            self.closed[number] = self.closed[number] or "fin"
            connection.close()
