"""Raw HTTP/1.1 clients that see whole messages: status line, fields, body, framing and how the connection ended.

What they say travels in the transport of the check (transport.py).
"""

import hashlib
import socket
import struct
import time

from . import transport


class Response:
    def __init__(self):
        self.version, self.status, self.reason = "", 0, ""
        self.fields, self.interim, self.trailers = [], [], []
        self.body, self.count, self.sha = b"", 0, None
        self.framing = None  # none, length, chunked, close
        self.complete = False  # by its own framing (a close-delimited body: ended with FIN)
        self.ended = None  # message, fin, rst, timeout, malformed
        self.length = None
        self.raw_head = b""
        self.note = ""

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    @property
    def cache(self):
        """pawl's own member of Cache-Status."""
        for value in self.all("Cache-Status"):
            for member in value.split(","):
                if member.strip().startswith("pawl"):
                    return member.strip()
        return ""

    @property
    def hit(self):
        return "; hit" in self.cache

    def __repr__(self):
        return (
            f"<{self.status} {self.framing} length={self.length} got={self.count} complete={self.complete} "
            f"ended={self.ended} cache={self.cache!r} etag={self.get('ETag')} "
            f"range={self.get('Content-Range')} proxy={self.get('Proxy-Status')} {self.note}>"
        )


class Ended(Exception):
    def __init__(self, how):
        self.how = how


class Client:
    """One connection. `address` is (host, port), "host:port" or a URL."""

    def __init__(self, address, timeout=20, receive_buffer=None, source=None, **how):
        """`how`: what transport.connect takes to speak otherwise than the check's transport has it."""
        self.address = parse_address(address)
        self.socket = transport.connect(self.address, timeout, receive_buffer, source, **how)
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def finish(self):
        self.socket.shutdown(socket.SHUT_WR)

    def request(self, target="/", method="GET", fields=(), body=None, host="pawl.test", version="1.1"):
        self.send(head(target, method, fields, body, host, version) + (body or b""))

    # -- reading -------------------------------------------------------------------------------------------------
    def _more(self, limit=262144):
        try:
            data = self.socket.recv(limit)
        except socket.timeout:
            raise Ended("timeout")
        except OSError:
            raise Ended("rst")
        if not data:
            raise Ended("fin")
        return data

    def _line(self):
        while True:
            at = self.buffer.find(b"\n")
            if at >= 0:
                line = bytes(self.buffer[: at + 1])
                del self.buffer[: at + 1]
                return line
            self.buffer += self._more(65536)

    def _head(self):
        lines = [self._line()]
        while True:
            line = self._line()
            lines.append(line)
            if line in (b"\r\n", b"\n"):
                return lines

    def response(self, method="GET", sink=None, limit=None, keep=True, on_head=None, on_interim=None):
        """Reads one response. `sink` gets the body's bytes; `keep` also keeps them; `limit` stops after so many."""
        answer = Response()
        digest = hashlib.sha256() if sink is None else None
        body = bytearray()
        done = False

        def take(data):
            nonlocal done
            if limit is not None and answer.count + len(data) >= limit:
                data = data[: limit - answer.count]
                done = True
            answer.count += len(data)
            if digest is not None:
                digest.update(data)
            if sink is not None:
                sink(data)
            if keep and sink is None:
                body.extend(data)
            return done

        try:
            while True:
                lines = self._head()
                answer.raw_head = b"".join(lines)
                if any(not line.endswith(b"\r\n") for line in lines):
                    answer.note = "bare LF in head"
                status = lines[0].decode("latin-1").rstrip("\r\n").split(" ", 2)
                fields = []
                for line in lines[1:-1]:
                    name, _, value = line.decode("latin-1").rstrip("\r\n").partition(":")
                    fields.append((name, value.strip()))
                if status[0][:7] != "HTTP/1." or len(status) < 2:
                    answer.ended, answer.note = "malformed", "status line %r" % lines[0]
                    return answer
                if status[1].startswith("1") and status[1] != "101":
                    answer.interim.append((int(status[1]), fields))
                    if on_interim:
                        on_interim(int(status[1]), fields)
                    continue
                break
            answer.version, answer.status = status[0], int(status[1])
            answer.reason = status[2] if len(status) > 2 else ""
            answer.fields = fields
            length, coding = answer.all("Content-Length"), answer.all("Transfer-Encoding")
            if on_head:
                on_head(answer)
            if len(length) > 1 or (length and coding) or len(coding) > 1:
                answer.ended, answer.note = "malformed", "framing fields %r %r" % (length, coding)
                return answer
            if answer.status in (101, 204, 304) or method == "HEAD":
                answer.framing, answer.complete, answer.ended = "none", True, "message"
                answer.length = int(length[0]) if length else None
            elif coding:
                answer.framing = "chunked"
                self._chunked(answer, take)
            elif length:
                answer.framing, answer.length = "length", int(length[0])
                self._counted(answer, answer.length, take)
                answer.complete = answer.ended == "message"
            else:
                answer.framing = "close"
                try:
                    while True:
                        if self.buffer:
                            data = bytes(self.buffer)
                            self.buffer.clear()
                        else:
                            data = self._more()
                        if take(data):
                            answer.ended = "limit"
                            break
                except Ended as end:
                    answer.ended, answer.complete = end.how, end.how == "fin"
        except Ended as end:
            answer.ended = end.how
        except ValueError as error:
            answer.ended, answer.note = "malformed", str(error)
        answer.body = bytes(body)
        if digest is not None:
            answer.sha = digest.hexdigest()
        return answer

    def _counted(self, answer, left, take):
        while left:
            if self.buffer:
                data = bytes(self.buffer[:left])
                del self.buffer[: len(data)]
            else:
                data = self._more(min(262144, left))
            left -= len(data)
            if take(data) and left:
                answer.ended = "limit"
                return
        answer.ended = "message"

    def _chunked(self, answer, take):
        while True:
            line = self._line()
            text = line.rstrip(b"\r\n").split(b";")[0]
            if not line.endswith(b"\r\n") or not text or any(c not in b"0123456789abcdefABCDEF" for c in text):
                answer.ended, answer.note = "malformed", "chunk line %r" % line
                return
            left = int(text, 16)
            if left == 0:
                while True:
                    line = self._line()
                    if line == b"\r\n":
                        break
                    name, _, value = line.decode("latin-1").rstrip("\r\n").partition(":")
                    answer.trailers.append((name, value.strip()))
                answer.complete, answer.ended = True, "message"
                return
            while left:
                if self.buffer:
                    data = bytes(self.buffer[:left])
                    del self.buffer[: len(data)]
                else:
                    data = self._more(min(262144, left))
                left -= len(data)
                if take(data):
                    answer.ended = "limit"
                    return
            if self._line() != b"\r\n":
                answer.ended, answer.note = "malformed", "no CRLF after chunk data"
                return

    def until_end(self, seconds=5):
        """Whatever comes until the other side ends or `seconds` pass: (bytes, how)."""
        data, end = bytes(self.buffer), time.monotonic() + seconds
        self.buffer.clear()
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return data, "timeout"
            self.socket.settimeout(left)
            try:
                data += self._more()
            except Ended as ended:
                return data, ended.how


def parse_address(address):
    if isinstance(address, str):
        address = address.removeprefix("http://").removeprefix("https://").rstrip("/")
        if address.startswith("unix:"):
            return address[5:]
        host, _, port = address.rpartition(":")
        return (host.strip("[]") or "127.0.0.1", int(port))
    return address


def head(target="/", method="GET", fields=(), body=None, host="pawl.test", version="1.1"):
    lines = [f"{method} {target} HTTP/{version}"]
    names = {name.lower() for name, _ in fields}
    if host is not None and "host" not in names:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in fields]
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def get(address, target="/", fields=(), method="GET", body=None, timeout=20, **reading):
    """One request on a connection of its own."""
    version = reading.pop("version", "1.1")
    host = reading.pop("host", "pawl.test")
    with Client(address, timeout) as client:
        client.request(target, method, tuple(fields) + (("Connection", "close"),), body, host, version)
        return client.response(method, **reading)


def raw(address, data, seconds=5, finish=False):
    """Sends bytes, returns (first response, everything that came, how it ended)."""
    with Client(address, seconds) as client:
        try:
            client.send(data)
            if finish:
                client.finish()
        except OSError:
            pass
        octets, ended = client.until_end(seconds)
    return parse(octets), octets, ended


def parse(octets):
    """The first final response in `bytes`, read as far as it goes; None when there is none."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(0.2)
        try:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            ours.sendall(octets[:200000])
            ours.shutdown(socket.SHUT_WR)
        except OSError:
            return None
        reader = Client.__new__(Client)
        reader.socket, reader.buffer = theirs, bytearray()
        answer = reader.response()
        return answer if answer.status else None
