"""HTTP/2 frame by frame: what a check sends is what is sent, and every frame that comes is looked at as it is."""

import struct
import time

from . import transport
from .client import parse_address
from .h2socket import h2

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 16
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, REFUSED_STREAM, CANCEL = (
    0,
    1,
    2,
    3,
    5,
    7,
    8,
)
ENHANCE_YOUR_CALM = 11
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = (
    1,
    2,
    3,
    4,
    5,
    6,
)
ENABLE_CONNECT_PROTOCOL, NO_RFC7540_PRIORITIES = 8, 9
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Stream:
    def __init__(self):
        self.status, self.fields, self.interim, self.trailers = 0, [], [], None
        self.body, self.count, self.ended, self.reset, self.window = bytearray(), 0, False, None, None
        self.first_at = self.ended_at = None  # how many DATA frames of the connection came before

    def get(self, name, default=None):
        return next((v for n, v in self.fields if n == name), default)

    def __repr__(self):
        return f"<{self.status} {self.count} bytes ended={self.ended} reset={self.reset} interim={[s for s, _ in self.interim]}>"


class Frames:
    """A connection. `credits`: whether windows are given back as bytes come; `keep`: whether bodies are kept."""

    def __init__(self, address, over="h2c", settings=(), credits=True, keep=True, preface=True, seconds=6, **how):
        h2()
        import hpack

        self.address, self.over, self.credits, self.keep = parse_address(address), over, credits, keep
        if over == "h2":
            how.setdefault("context", transport.client_context(("h2",)))
        self.socket = transport.connect(self.address, seconds, over="tls" if over == "h2" else "clear", **how)
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder(max_header_list_size=1 << 24)
        self.streams, self.next, self.buffer, self.block = {}, 1, bytearray(), None
        self.settings, self.goaways, self.pongs, self.acks, self.log, self.data_frames = {}, [], [], 0, [], 0
        self.window, self.start, self.ended = 65535, 65535, None
        self.credited = {}  # bytes of WINDOW_UPDATE by stream, 0 the connection
        if preface:
            self.send(PREFACE + frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", k, v) for k, v in settings)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    # -- what is said --------------------------------------------------------------------------------------------
    def send(self, octets):
        self.socket.sendall(octets)

    def frame(self, kind, flags=0, stream=0, payload=b""):
        self.send(frame(kind, flags, stream, payload))

    def block_of(self, fields):
        return self.encoder.encode([(n, v) for n, v in fields], huffman=max(len(v) for _, v in fields) < 5000)

    def head(self, target="/", method="GET", fields=(), scheme=None, authority="pawl.test", protocol=None):
        pseudo = [(":method", method)] + ([(":protocol", protocol)] if protocol else [])
        pseudo += [
            (":scheme", scheme or ("https" if self.over == "h2" else "http")),
            (":path", target),
            (":authority", authority),
        ]
        return [(n, v) for n, v in pseudo if v is not None] + list(fields)

    def request(self, target="/", method="GET", fields=(), end=True, **how):
        """A whole head in one HEADERS frame; its stream."""
        return self.open(self.head(target, method, fields, **how), end)

    def open(self, fields, end=True):
        stream, self.next = self.next, self.next + 2
        self.frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, self.block_of(fields))
        self.streams[stream] = Stream()
        return stream

    def data(self, stream, octets, end=False):
        """In frames of at most 16 KiB, whatever the windows say."""
        view = memoryview(octets)
        while True:
            piece, view = view[:16384], view[16384:]
            self.frame(DATA, END_STREAM if end and not view else 0, stream, bytes(piece))
            if not view:
                return

    def upload(self, stream, octets, end=True, seconds=20):
        """As the windows allow."""
        view, until = memoryview(octets), time.monotonic() + seconds
        self.wait(lambda: self.settings, 5, "SETTINGS")
        state = self.streams[stream]
        if state.window is None:
            state.window = self.start + self.credited.get(stream, 0)
        while view:
            room = min(16384, self.window, state.window)
            if room <= 0:
                if state.reset is not None or self.ended or time.monotonic() > until:
                    raise AssertionError(
                        f"stream {stream} cannot send: window {state.window}, of the connection {self.window}, "
                        f"{state}, {self}"
                    )
                self.pump(0.2)
                continue
            piece, view = view[:room], view[room:]
            self.window -= len(piece)
            state.window -= len(piece)
            self.frame(DATA, END_STREAM if end and not view else 0, stream, bytes(piece))
            self.pump(0)

    def reset(self, stream, code=CANCEL):
        self.frame(RST_STREAM, 0, stream, struct.pack(">I", code))

    def update(self, stream, count):
        self.frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", count))

    # -- what comes ----------------------------------------------------------------------------------------------
    def pump(self, seconds=0.1):
        """Reads what comes within so many seconds, at most one read; whether something came."""
        if self.ended:
            return False
        self.socket.settimeout(max(seconds, 0.001))
        try:
            data = self.socket.recv(262144)
        except TimeoutError:
            return False
        except OSError:
            self.ended = "rst"
            return False
        finally:
            self.socket.settimeout(6)
        if not data:
            self.ended = "fin"
            return False
        self.buffer += data
        answer = bytearray()
        while len(self.buffer) >= 9:
            length = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + length:
                break
            kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
            payload = bytes(self.buffer[9 : 9 + length])
            del self.buffer[: 9 + length]
            answer += self._frame(kind, flags, stream, payload)
        if answer:
            try:
                self.send(answer)
            except OSError:
                pass
        return True

    def _frame(self, kind, flags, stream, payload):
        """Notes a frame; the bytes that answer it."""
        self.log.append((kind, flags, stream, len(payload)))
        state = self.streams.get(stream)
        if kind == SETTINGS and flags & ACK:
            self.acks += 1
        elif kind == SETTINGS:
            for at in range(0, len(payload), 6):
                key, value = struct.unpack(">HI", payload[at : at + 6])
                self.settings[key] = value
            self.settings.setdefault(INITIAL_WINDOW_SIZE, 65535)
            self.start = self.settings[INITIAL_WINDOW_SIZE]
            return frame(SETTINGS, ACK)
        elif kind == PING:
            if flags & ACK:
                self.pongs.append(payload)
            else:
                return frame(PING, ACK, 0, payload)
        elif kind == GOAWAY:
            self.goaways.append((*struct.unpack(">II", payload[:8]), payload[8:]))
        elif kind == WINDOW_UPDATE:
            count = struct.unpack(">I", payload)[0]
            self.credited[stream] = self.credited.get(stream, 0) + count
            if stream == 0:
                self.window += count
            elif state and state.window is not None:
                state.window += count
        elif kind == RST_STREAM and state:
            state.reset = struct.unpack(">I", payload)[0]
        elif kind in (HEADERS, CONTINUATION):
            self.block = (self.block or b"") + payload
            ends = flags & END_STREAM if kind == HEADERS else self.block_ends
            self.block_ends = ends
            if flags & END_HEADERS:
                block, self.block = self.block, None
                self._head(
                    state,
                    [(n.decode("latin-1"), v.decode("latin-1")) for n, v in self.decoder.decode(block, raw=True)],
                    ends,
                )
        elif kind == DATA and state:
            self.data_frames += 1
            state.first_at = self.data_frames if state.first_at is None else state.first_at
            state.count += len(payload)
            if self.keep:
                state.body += payload
            if flags & END_STREAM:
                state.ended, state.ended_at = True, self.data_frames
            if self.credits and payload:
                more = frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload)))
                return more + (b"" if state.ended else frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", len(payload))))
        return b""

    def _head(self, state, fields, ends):
        if state is None:
            return
        status = next((v for n, v in fields if n == ":status"), None)
        rest = [(n, v) for n, v in fields if n != ":status"]
        if status is None:
            state.trailers = rest
        elif status.startswith("1"):
            state.interim.append((int(status), rest))
        else:
            state.status, state.fields = int(status), rest
        state.ended = state.ended or bool(ends)

    def wait(self, condition, seconds=6, what="what was waited for"):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come within {seconds} s: {self}")
            if not self.pump(0.1) and self.ended and not condition():
                raise AssertionError(f"{what} did not come before the connection ended ({self.ended}): {self}")
        return condition()

    def answer(self, stream, seconds=8):
        """The whole answer on a stream, or what was there when it was reset or the connection ended."""
        state = self.streams[stream]
        try:
            self.wait(lambda: state.ended or state.reset is not None, seconds, f"the end of stream {stream}")
        except AssertionError:
            if not self.ended:
                raise
        return state

    def until_end(self, seconds=6):
        """Reads until the connection ends: how, or "timeout"."""
        end = time.monotonic() + seconds
        while not self.ended and time.monotonic() < end:
            self.pump(0.1)
        return self.ended or "timeout"

    @property
    def goaway(self):
        """Code of the last GOAWAY; None when there was none."""
        return self.goaways[-1][1] if self.goaways else None

    def __repr__(self):
        return f"<HTTP/2 streams={self.streams if len(self.streams) < 6 else len(self.streams)} goaways={self.goaways} ended={self.ended} last={self.log[-5:]}>"
