"""HTTP/2 frames by hand, for what a well-behaved client would never send: building, reading, and the little of HPACK
that this takes."""

import select
import socket
import ssl
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 0x10
END_STREAM, ACK, END_HEADERS = 1, 1, 4
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_STREAMS, INITIAL_WINDOW, MAX_FRAME, MAX_HEADER_LIST = range(1, 7)
STATUSES = {8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500}  # of the static table


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def integer(value, prefix, first=0):
    """RFC 7541 5.1."""
    most = (1 << prefix) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(128 | value & 127)
        value >>= 7
    return bytes(out + [value])


def text(value):
    value = value if isinstance(value, bytes) else value.encode("latin-1")
    return integer(len(value), 7) + value


def literal(name, value, indexed=False):
    """A field that is (not) put into the dynamic table, its name spelled out."""
    return (b"\x40" if indexed else b"\x00") + text(name) + text(value)


def block(method="GET", path="/", scheme="http", authority="pawl.test", fields=()):
    methods, schemes = {"GET": b"\x82", "POST": b"\x83"}, {"http": b"\x86", "https": b"\x87"}
    return (
        methods.get(method, b"\x02" + text(method))
        + schemes[scheme]
        + b"\x04"
        + text(path)
        + b"\x01"
        + text(authority)
        + b"".join(literal(name, value) for name, value in fields)
    )


def request(stream, path="/", method="GET", end=True, fields=(), scheme="http"):
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block(method, path, scheme, fields=fields))


def status(payload):
    """The status that a block begins with, 0 where it is not plain to see (the peer was told to keep no table)."""
    while payload and payload[0] & 0xE0 == 0x20:
        payload = payload[1:]
    if not payload:
        return 0
    if payload[0] & 0x80:
        return STATUSES.get(payload[0] & 0x7F, 0)
    if payload[0] & 0x3F in STATUSES or payload[0] & 0x0F in STATUSES:
        count = payload[1] & 0x7F
        return int(payload[2 : 2 + count]) if not payload[1] & 0x80 and payload[2 : 2 + count].isdigit() else 0
    return 0


class Ended(Exception):
    pass


class Wire:
    """A connection that has sent its preface; frames are read when asked for."""

    def __init__(self, port, secure=None, pairs=(), receive_buffer=None, timeout=10, early=b"", host="pawl.test"):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.scheme = "https" if secure else "http"
        if secure:
            self.socket = secure.wrap_socket(self.socket, server_hostname=host)
        self.buffer, self.gone, self.peer = b"", None, {}
        self.send(PREFACE + settings((HEADER_TABLE_SIZE, 0), (ENABLE_PUSH, 0), *pairs) + early)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def frames(self, wait=0.0):
        """What has come, or comes within `wait` seconds: [(kind, flags, stream, payload)]. Answers SETTINGS and PING.
        Ended at the end."""
        end = time.monotonic() + wait
        while True:
            found = self._parse()
            if found:
                return found
            left = end - time.monotonic()
            if (
                not getattr(self.socket, "pending", int)()
                and not select.select([self.socket], [], [], max(0.0, left))[0]
            ):
                return []
            try:
                data = self.socket.recv(1 << 18)
            except (BlockingIOError, ssl.SSLWantReadError, TimeoutError):
                continue
            except OSError as error:
                raise Ended(type(error).__name__)
            if not data:
                raise Ended("end")
            self.buffer += data

    def _parse(self):
        found, at, answers = [], 0, b""
        while len(self.buffer) - at >= 9:
            length = int.from_bytes(self.buffer[at : at + 3], "big")
            if len(self.buffer) - at < 9 + length:
                break
            kind, flags, stream = struct.unpack(">BBI", self.buffer[at + 3 : at + 9])
            payload = self.buffer[at + 9 : at + 9 + length]
            at += 9 + length
            if kind == SETTINGS and not flags & ACK:
                self.peer.update(struct.unpack(">HI", payload[i : i + 6]) for i in range(0, len(payload), 6))
                answers += frame(SETTINGS, ACK)
            elif kind == PING and not flags & ACK:
                answers += frame(PING, ACK, 0, payload)
            elif kind == GOAWAY:
                self.gone = struct.unpack(">I", payload[4:8])[0]
            found.append((kind, flags, stream & 0x7FFFFFFF, payload))
        self.buffer = self.buffer[at:]
        if answers:
            try:
                self.send(answers)
            except OSError:
                pass
        return found
