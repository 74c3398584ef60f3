"""A relay before pawl that cuts uploads: it counts body bytes on their way up, and notes what was asked and answered.
TLS ends in it and begins anew.
"""

import socket
import struct
import threading
import time

from . import transport
from .frames import FrameScanner
from .listening import Listening, serve
from .origin import Origin


class Message:
    """One request or response head that passed, and how much of its body."""

    def __init__(self, head, number):
        lines = head.decode("latin-1").split("\r\n")
        self.line, self.number, self.body, self.done = lines[0], number, 0, False
        self.fields = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
        self.time = time.monotonic()

    def get(self, name, default=None):
        return next((value for key, value in self.fields if key.lower() == name.lower()), default)

    @property
    def method(self):
        return self.line.split(" ")[0]

    @property
    def target(self):
        return self.line.split(" ")[1]

    @property
    def status(self):
        return int(self.line.split(" ")[1])

    def __repr__(self):
        kept = (
            "content-length",
            "transfer-encoding",
            "content-type",
            "location",
            "tus-resumable",
            "retry-after",
            "origin",
            "pawl-origin-status",
            "x-http-method-override",
            "access-control-allow-origin",
            "access-control-request-method",
            "expect",
        )
        shown = [
            f"{key}: {value}" for key, value in self.fields if key.lower().startswith("upload-") or key.lower() in kept
        ]
        return f"#{self.number} {self.line} [{'; '.join(shown)}] body={self.body}"


class Scanner:
    """Splits one direction of a connection into heads and bodies."""

    def __init__(self, begin, body):
        self.begin, self.on_body = begin, body  # begin(head) -> "none" | bytes | "chunked" | "close"
        self.state, self.buffer, self.left = "head", bytearray(), 0

    def feed(self, data, limit=None):
        """How many bytes of `data` may pass until `limit` body bytes have; the rest is not looked at."""
        at = 0
        while at < len(data):
            if self.state in ("length", "chunk"):
                take = min(len(data) - at, self.left)
                if limit is not None:
                    take = min(take, limit)
                    limit -= take
                self.left -= take
                at += take
                self.on_body(take, self.state == "length" and self.left == 0)
                if self.left == 0:
                    self.state = "head" if self.state == "length" else "chunk-end"
                elif limit == 0:
                    return at
                continue
            if self.state == "close":
                self.on_body(len(data) - at, False)
                return len(data)
            at += self._line_or_head(data, at)
        return at

    def _line_or_head(self, data, at):
        mark = b"\r\n\r\n" if self.state == "head" else b"\r\n"
        begun = len(self.buffer)
        self.buffer += data[at:]
        end = self.buffer.find(mark)
        if end < 0:
            return len(data) - at
        text, used = bytes(self.buffer[:end]), end + len(mark) - begun
        self.buffer.clear()
        if self.state == "head":
            framing = self.begin(text)
            if framing == "chunked":
                self.state = "chunk-size"
            elif framing == "close":
                self.state = "close"
            elif framing:
                self.state, self.left = "length", framing
        elif self.state == "chunk-size":
            self.left = int(text.split(b";")[0], 16)
            self.state = "chunk" if self.left else "trailers"
        elif self.state == "chunk-end":
            self.state = "chunk-size"
        elif not text:  # the line that ends the trailers
            self.state = "head"
            self.on_body(0, True)
        return used


class UploadRelay(Listening):
    """`cuts`: a row of (bytes of all bodies together that may pass before the cut, "rst" | "fin"), or with "stall" and
    seconds of silence. `lose`: how many answers to a request that was the end of an upload are swallowed. `rate`: bytes
    a second, all connections together."""

    def __init__(self, target, cuts=(), lose=0, rate=None, size=None, over="clear"):
        self.target, self.cuts, self.lose, self.rate, self.size = target, list(cuts), lose, rate, size
        self.over = over
        self.lock = threading.Lock()
        self.connections, self.cut_count, self.lost, self.body = 0, 0, 0, 0
        self.requests, self.answers, self.begun = [], [], None
        self.begin()
        self.address = transport.address_of(self.port, over)

    def log(self):
        """What passed, in order, a line each."""
        with self.lock:
            both = [(m.time, "> " + repr(m)) for m in self.requests] + [(m.time, "< " + repr(m)) for m in self.answers]
        return [text for _, text in sorted(both)]

    def accepted(self, client, number):
        self.connections = number + 1
        serve(Frames if self.over in ("h2", "h2c") else Connection, self, client, number + 1)


class Connection:
    def __init__(self, relay, client, number):
        self.relay, self.client, self.number = relay, client, number
        self.waiting, self.current, self.answering, self.silent, self.over = [], None, None, False, False
        try:
            client = self.client = transport.accept(client, relay.over)
            self.server = transport.dial(relay.target, relay.over)
        except OSError:
            client.close()
            return
        self.server.settimeout(None)
        for each in (client, self.server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.scanners = self._scanners()
        downward = threading.Thread(target=self._down, daemon=True)
        downward.start()
        self._up()
        downward.join(20)
        for each in (client, self.server):
            each.close()

    # -- towards pawl --------------------------------------------------------------------------------------------
    def _request(self, head):
        self.current = Message(head, self.number)
        with self.relay.lock:
            self.relay.requests.append(self.current)
            self.waiting.append(self.current)
        if (self.current.get("Transfer-Encoding") or "").lower() == "chunked":
            return "chunked"
        length = int(self.current.get("Content-Length") or 0)
        if not length:
            self.current.done = True
        return length

    def _request_body(self, count, done):
        with self.relay.lock:
            self.current.body += count
            self.current.done = done
            self.relay.body += count
            if done and self.relay.lose and self._ends_upload():
                self.relay.lose -= 1
                self.silent = True

    def _ends_upload(self):
        offset = int(self.current.get("Upload-Offset") or 0)
        return offset + self.current.body == self.relay.size

    def _scanners(self):
        return Scanner(self._request, self._request_body), Scanner(self._answer, self._answer_body)

    def _up(self):
        scanner = self.scanners[0]
        try:
            while True:
                data = self.client.recv(65536)
                if not data:
                    self.server.shutdown(socket.SHUT_WR)
                    return
                self._pace(len(data))
                while data:
                    with self.relay.lock:
                        limit = max(0, self.relay.cuts[0][0] - self.relay.body) if self.relay.cuts else None
                    may = scanner.feed(data, limit)
                    self.server.sendall(data[:may])
                    data = data[may:]
                    with self.relay.lock:
                        cut = (
                            self.relay.cuts.pop(0)
                            if self.relay.cuts and limit is not None and self.relay.body >= self.relay.cuts[0][0]
                            else None
                        )
                    if cut and cut[1] == "stall":
                        self._stall(cut[2])
                    elif cut:
                        return self._cut(cut[1])
                    if self.silent:
                        return self._swallow()
        except OSError:
            for each in (self.server, self.client):
                self._end(each)

    def _pace(self, count):
        if not self.relay.rate:
            return
        with self.relay.lock:
            now = time.monotonic()
            self.relay.begun = max(self.relay.begun or now, now - 0.05) + count / self.relay.rate
            ahead = self.relay.begun - now
        if ahead > 0:
            time.sleep(ahead)

    def _cut(self, how):
        with self.relay.lock:
            self.relay.cut_count += 1
        self.over = True
        if how == "rst":
            # What this side has not yet handed over would be lost with the reset, though it was counted.
            end = time.monotonic() + 5
            while Origin._unsent(self.server) and time.monotonic() < end:
                time.sleep(0.002)
            for each in (self.client, self.server):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for each, direction in (
            (self.server, socket.SHUT_RD if how == "rst" else socket.SHUT_RDWR),
            (self.client, socket.SHUT_RD if how == "rst" else socket.SHUT_RDWR),
        ):
            self._end(each, direction)

    def _stall(self, seconds):
        with self.relay.lock:
            self.relay.cut_count += 1
        time.sleep(seconds)

    def _swallow(self):
        """pawl has everything, and whatever it answers is lost."""
        with self.relay.lock:
            self.relay.lost += 1
        time.sleep(0.5)
        self._cut("rst")

    @staticmethod
    def _end(each, how=socket.SHUT_RDWR):
        try:
            each.shutdown(how)
        except OSError:
            pass

    # -- towards the client --------------------------------------------------------------------------------------
    def _answer(self, head):
        answer = Message(head, self.number)
        interim = answer.status < 200 and answer.status != 101
        with self.relay.lock:
            request = self.waiting[0] if interim and self.waiting else self.waiting.pop(0) if self.waiting else None
            self.relay.answers.append(answer)
        self.answering = answer
        if interim or answer.status in (204, 304) or (request and request.method == "HEAD"):
            return 0
        if (answer.get("Transfer-Encoding") or "").lower() == "chunked":
            return "chunked"
        length = answer.get("Content-Length")
        return int(length) if length is not None else "close"

    def _answer_body(self, count, done):
        self.answering.body += count

    def _down(self):
        scanner = self.scanners[1]
        try:
            while True:
                data = self.server.recv(65536)
                if not data:
                    break
                if self.silent or self.over:
                    continue
                scanner.feed(data)
                self.client.sendall(data)
        except OSError:
            pass
        if not self.silent and not self.over:
            self._end(self.client, socket.SHUT_WR)


class Frames(Connection):
    """The same of HTTP/2: messages by their streams."""

    def _scanners(self):
        self.asked, self.answered = {}, {}
        return FrameScanner(self._stream_request, self._stream_body, True), FrameScanner(
            self._stream_answer, self._stream_answer_body, False
        )

    def _stream_request(self, stream, head, ended):
        if stream in self.asked:  # trailers
            return self._stream_body(stream, 0, ended)
        message = self.asked[stream] = Message(head, self.number)
        message.done = ended
        with self.relay.lock:
            self.relay.requests.append(message)

    def _stream_body(self, stream, count, ended):
        self.current = self.asked[stream]
        self._request_body(count, ended)

    def _stream_answer(self, stream, head, ended):
        if head.startswith(b"HTTP/2 "):
            self.answered[stream] = Message(head, self.number)
            with self.relay.lock:
                self.relay.answers.append(self.answered[stream])

    def _stream_answer_body(self, stream, count, ended):
        self.answered[stream].body += count
