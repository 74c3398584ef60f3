"""HTTP/2 that looks like a socket on which HTTP/1.1 is spoken, so that one check serves both.

What a check writes is read as HTTP/1.1 requests, each of which becomes a stream (python h2); what comes back is given
out as HTTP/1.1 answers, in the order of the requests: interim HEADERS as 1xx heads, `content-length` as it came, DATA
without one in chunks, trailers behind them. RST_STREAM, GOAWAY and a lost connection show as the connection ending
early. What HTTP/2 cannot say (HTTP/1.0, bytes that are no request) is an error of the check, which has to declare it.
`Upgrade: websocket` becomes an extended CONNECT (RFC 8441), and its 2xx a 101. Windows are credited as the check reads,
so that who does not read holds the sender back.
"""

import base64
import collections
import functools
import glob
import hashlib
import http
import re
import socket
import struct
import sys
import threading
import time

from .process import ROOT
from .tlssocket import leave

CONNECTION_WINDOW = 64 << 20
DROPPED = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "host"}
BODILESS = (101, 204, 304)
SPELT = {
    "etag": "ETag",
    "www-authenticate": "WWW-Authenticate",
}  # names are lower case in HTTP/2; HTTP/1.1 shows them as usual


@functools.lru_cache(maxsize=None)
def h2():
    """The h2 package: this Python's, or that of the clients' folder, where Deploy/test puts it."""
    try:
        import h2.connection
    except ImportError:
        sys.path += glob.glob(str(ROOT / ".build" / "clients" / "venv" / "lib" / "python3*" / "site-packages"))
        import h2.connection
    import h2.config
    import h2.errors
    import h2.events
    import h2.exceptions
    import h2.settings

    return h2


def connection(**options):
    """A client's H2Connection that goes on with its streams after a GOAWAY, as RFC 9113 6.8 has it; h2's own ends
    there."""
    library = h2()
    made = library.connection.H2Connection(
        library.config.H2Configuration(
            client_side=True, header_encoding=None, validate_outbound_headers=False, **options
        )
    )

    encode = made.encoder.encode

    # Huffman coding takes the library a time that grows with the square of a value's length.
    def encoded(fields, huffman=True):
        fields = list(fields)
        return encode(fields, max(len(field[1]) for field in fields) < 5000)

    made.encoder.encode = encoded

    def goaway(frame):
        event = library.events.ConnectionTerminated()
        event.error_code, event.last_stream_id, event.additional_data = (
            frame.error_code,
            frame.last_stream_id,
            frame.additional_data,
        )
        return [], [event]

    kind = next(key for key in made._frame_dispatch_table if key.__name__ == "GoAwayFrame")
    made._frame_dispatch_table[kind] = goaway
    return made


class Exchange:
    """One request and what came of it."""

    def __init__(self, stream, method, closes=False, key=None):
        self.stream, self.method, self.closes, self.key = stream, method, closes, key
        self.out, self.unread = bytearray(), 0  # bytes for the check; flow-controlled bytes not yet credited
        self.status, self.chunked, self.done, self.reset = 0, False, False, None
        self.sent_all, self.tunnel = False, False


class H2Socket:
    """`cancels`: closing amid an answer resets that stream and leaves the connection; otherwise it closes the
    connection."""

    def __init__(self, carrier, scheme, window=None, cancels=False):
        self.carrier, self.scheme, self.cancels = carrier, scheme, cancels
        self.lock, self.write_lock = threading.Condition(threading.RLock()), threading.Lock()
        self.timeout = carrier.gettimeout()
        carrier.settimeout(None)
        self.order, self.streams = collections.deque(), {}
        self.given, self.current = (
            bytearray(),
            None,
        )  # bytes of the check not yet understood; the exchange whose body is being sent
        self.state, self.left = "head", 0
        self.goaway, self.lost, self.over, self.closed, self.abrupt = None, None, False, False, False
        self.finished = False
        self.connection = connection()
        window = min(max(window or 1 << 20, 1024), 1 << 30)
        codes = h2().settings.SettingCodes
        self.connection.local_settings = h2().settings.Settings(
            client=True,
            initial_values={
                codes.INITIAL_WINDOW_SIZE: window,
                codes.ENABLE_PUSH: 0,
                codes.MAX_HEADER_LIST_SIZE: 1 << 20,
                codes.MAX_CONCURRENT_STREAMS: 100,
            },
        )
        self.connection.initiate_connection()
        self.connection.increment_flow_control_window(CONNECTION_WINDOW - 65535)
        self._flush()
        threading.Thread(target=self._receive, daemon=True).start()

    # -- what comes ----------------------------------------------------------------------------------------------
    def _receive(self):
        library = h2()
        while True:
            try:
                data = self.carrier.recv(262144)
                how = "fin"
            except OSError:
                data, how = b"", "rst"
            with self.lock:
                if not data:
                    self.lost = self.lost or how
                    self.lock.notify_all()
                    return
                try:
                    for event in self.connection.receive_data(data):
                        self._event(event)
                except library.exceptions.ProtocolError as error:
                    self.lost = f"protocol error: {type(error).__name__} {error}"
                self.lock.notify_all()
            try:
                self._flush()
            except OSError:
                pass
            if self.lost:
                return

    def _event(self, event):
        kind = type(event).__name__
        exchange = self.streams.get(getattr(event, "stream_id", None))
        if kind == "ConnectionTerminated":
            self.goaway = event
        elif exchange is None:
            if kind == "DataReceived":  # of a stream that was cancelled
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif kind == "InformationalResponseReceived":
            self._head(exchange, event.headers, interim=True)
        elif kind == "ResponseReceived":
            self._head(exchange, event.headers, ended=event.stream_ended is not None)
        elif kind == "DataReceived":
            exchange.unread += event.flow_controlled_length
            if event.data and exchange.chunked:
                exchange.out += b"%x\r\n" % len(event.data) + event.data + b"\r\n"
            else:
                exchange.out += event.data
            if not exchange.out:
                self._credit(exchange, exchange.unread)
        elif kind == "TrailersReceived":
            exchange.trailers = event.headers
        elif kind == "StreamEnded":
            if exchange.chunked:
                lines = b"".join(n + b": " + v + b"\r\n" for n, v in getattr(exchange, "trailers", ()))
                exchange.out += b"0\r\n" + lines + b"\r\n"
            exchange.done = True
        elif kind == "StreamReset":
            exchange.reset = int(event.error_code)
            self.streams.pop(event.stream_id, None)

    def _head(self, exchange, headers, interim=False, ended=False):
        fields = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in headers]
        status = int(dict(fields[:1])[":status"])
        fields = fields[1:]
        if exchange.key is not None and 200 <= status < 300:
            status, exchange.tunnel = 101, True
            accept = base64.b64encode(
                hashlib.sha1(exchange.key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
            ).decode()
            fields = [("connection", "Upgrade"), ("upgrade", "websocket"), ("sec-websocket-accept", accept)] + fields
        try:
            reason = http.HTTPStatus(status).phrase
        except ValueError:
            reason = "Status"
        if not interim:
            exchange.status = status
            counted = any(n == "content-length" for n, _ in fields)
            exchange.chunked = not counted and exchange.method != "HEAD" and status not in BODILESS
            if exchange.chunked:
                fields.append(("transfer-encoding", "chunked"))
        lines = [f"HTTP/1.1 {status} {reason}"] + [
            f"{SPELT.get(n) or '-'.join(w.capitalize() for w in n.split('-'))}: {v}" for n, v in fields
        ]
        exchange.out += "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def _credit(self, exchange, count):
        count = min(count, exchange.unread)
        if count and not self.lost:
            exchange.unread -= count
            self.connection.acknowledge_received_data(count, exchange.stream)

    # -- as a socket: reading ------------------------------------------------------------------------------------
    def recv(self, limit, flags=0):
        end = None if self.timeout is None else time.monotonic() + self.timeout
        with self.lock:
            while True:
                found = self._next(limit)
                if found is not None:
                    break
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise socket.timeout("timed out")
                self.lock.wait(left)
        try:
            self._flush()
        except OSError:
            pass
        return found

    def _next(self, limit):
        """Bytes for the check, b"" where the connection has ended for it, None where it has to wait."""
        while True:
            exchange = self.order[0] if self.order else None
            if exchange and exchange.out:
                data = bytes(exchange.out[:limit])
                del exchange.out[: len(data)]
                self._credit(exchange, len(data) if exchange.out else exchange.unread)
                return data
            if self.over:
                return b""
            if exchange and exchange.done and not exchange.tunnel:
                self.order.popleft()
                self.over = exchange.closes
                continue
            if exchange and (exchange.done or exchange.reset is not None):
                self.over = True
                return b""
            if self.lost and self.lost != "fin":
                raise ConnectionResetError(self.lost)
            if self.lost or (self.goaway and (exchange is None or exchange.stream > (self.goaway.last_stream_id or 0))):
                self.over = True
                return b""
            if self.finished and exchange is None:
                return b""
            return None

    # -- as a socket: writing ------------------------------------------------------------------------------------
    def _flush(self):
        with self.write_lock:
            with self.lock:
                data = self.connection.data_to_send()
            if data:
                self.carrier.sendall(data)

    def sendall(self, data):
        if self.closed or self.finished:
            raise BrokenPipeError("sent after the end")
        self.given += data
        while self.given and self._step():
            pass

    def send(self, data):
        self.sendall(data)
        return len(data)

    def _step(self):
        """Understands one piece of what the check wrote; False where more has to come."""
        if self.state == "head":
            end = self.given.find(b"\r\n\r\n")
            if end < 0:
                return False
            text = bytes(self.given[:end])
            del self.given[: end + 4]
            self._request(text)
        elif self.state in ("length", "chunk"):
            piece = bytes(self.given[: min(self.left, 1 << 20)])
            del self.given[: len(piece)]
            self.left -= len(piece)
            self._data(piece, end=self.state == "length" and not self.left)
            if not self.left:
                self.state = "head" if self.state == "length" else "chunk-end"
        elif self.state == "tunnel":
            piece = bytes(self.given)
            self.given.clear()
            self._data(piece)
        else:
            end = self.given.find(b"\r\n")
            if end < 0:
                return False
            line = bytes(self.given[:end])
            del self.given[: end + 2]
            self._line(line)
        return True

    def _line(self, line):
        if self.state == "chunk-size":
            self.left = int(line.split(b";")[0], 16)
            self.state, self.trailers = ("chunk" if self.left else "trailers"), []
        elif self.state == "chunk-end":
            if line:
                raise AssertionError(f"HTTP/2 cannot say this: a chunk that goes on after its size: {line[:40]!r}")
            self.state = "chunk-size"
        elif line:
            name, _, value = line.partition(b":")
            self.trailers.append((name.lower(), value.strip()))
        else:
            self.state = "head"
            if self.trailers:
                with self.lock:
                    if self.current.reset is None and not self.lost:
                        self.connection.send_headers(self.current.stream, self.trailers, end_stream=True)
                    self.current.sent_all = True
                self._flush()
            else:
                self._data(b"", end=True)

    def _request(self, text):
        lines = text.decode("latin-1").split("\r\n")
        while lines and not lines[0]:
            lines.pop(0)
        match = re.fullmatch(r"(\S+) (\S+) HTTP/1\.1", lines[0])
        if not match:
            raise AssertionError(f"HTTP/2 cannot say this: {lines[0]!r}")
        method, target = match.groups()
        fields = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines[1:])]
        found = {n.lower(): v for n, v in fields}
        named = {w.strip().lower() for n, v in fields if n.lower() == "connection" for w in v.split(",")}
        authority = found.get("host")
        if not target.startswith("/") and "://" in target:
            authority, _, path = target.partition("://")[2].partition("/")
            target = "/" + path
        websocket = method == "GET" and "upgrade" in named and found.get("upgrade", "").lower() == "websocket"
        pseudo = [(":method", "CONNECT" if websocket else method)]
        if websocket:
            pseudo.append((":protocol", "websocket"))
        if method != "CONNECT":
            pseudo += [(":scheme", self.scheme), (":path", target)]
        if authority is not None or method == "CONNECT":
            pseudo.append((":authority", authority if method != "CONNECT" else target))
        gone = DROPPED | named | ({"sec-websocket-key"} if websocket else set())
        kept = [
            (n.lower(), v)
            for n, v in fields
            if n.lower() not in gone or (n.lower() == "te" and v.lower() == "trailers")
        ]
        kept = [(n, v) for n, v in kept if n != "te" or v.lower() == "trailers"]
        chunked = found.get("transfer-encoding", "").lower() == "chunked"
        length = int(found.get("content-length") or 0)
        empty = not chunked and not length and not websocket and method != "CONNECT"
        until = None if self.timeout is None else time.monotonic() + self.timeout
        with self.lock:
            while (
                not self.lost
                and not self.goaway
                and self.connection.open_outbound_streams >= self.connection.remote_settings.max_concurrent_streams
            ):
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise socket.timeout("timed out: no stream is free")
                self.lock.wait(left)
            if self.lost or self.goaway:
                raise BrokenPipeError("the connection has ended")
            exchange = Exchange(
                self.connection.get_next_available_stream_id(),
                method,
                "close" in named,
                found.get("sec-websocket-key", "") if websocket else None,
            )
            self.connection.send_headers(
                exchange.stream,
                [(n.encode("latin-1"), v.encode("latin-1")) for n, v in pseudo + kept],
                end_stream=empty,
            )
            self.streams[exchange.stream] = exchange
            self.order.append(exchange)
            self.current, exchange.sent_all = exchange, empty
        self._flush()
        if not empty:
            self.state, self.left = ("tunnel" if websocket else "chunk-size" if chunked else "length"), length

    def _data(self, data, end=False):
        """Sends a body as the windows allow; what the other side no longer wants after its answer is dropped, as
        RST_STREAM(NO_ERROR) asks."""
        view, exchange = memoryview(data), self.current
        until = None if self.timeout is None else time.monotonic() + self.timeout
        while True:
            with self.lock:
                while True:
                    if exchange.reset == 0 and (exchange.done or exchange.status >= 200):
                        return
                    if exchange.reset is not None or self.lost:
                        raise BrokenPipeError(f"the stream has ended: {exchange.reset} {self.lost}")
                    room = min(
                        self.connection.local_flow_control_window(exchange.stream),
                        self.connection.max_outbound_frame_size,
                    )
                    if room or not view:
                        break
                    left = None if until is None else until - time.monotonic()
                    if left is not None and left <= 0:
                        raise socket.timeout("timed out")
                    self.lock.wait(left)
                for _ in range(8):
                    room = min(
                        self.connection.local_flow_control_window(exchange.stream),
                        self.connection.max_outbound_frame_size,
                        len(view),
                    )
                    piece, view = view[:room], view[room:]
                    if piece or (end and not view):
                        self.connection.send_data(exchange.stream, bytes(piece), end_stream=end and not view)
                    if not view:
                        break
                exchange.sent_all = exchange.sent_all or (end and not view)
            self._flush()
            if not view:
                return

    # -- as a socket: ending -------------------------------------------------------------------------------------
    def shutdown(self, how):
        """The end of what the check says: of a tunnel END_STREAM, amid a request RST_STREAM(CANCEL)."""
        if how == socket.SHUT_RD:
            return
        with self.lock:
            self.finished = True
            exchange = self.current
            if exchange and not exchange.sent_all and exchange.reset is None and not self.lost:
                if exchange.tunnel:
                    self.connection.end_stream(exchange.stream)
                    exchange.sent_all = True
                else:
                    self._cancel(exchange)
        self._flush()

    def _cancel(self, exchange):
        self.connection.reset_stream(exchange.stream, 8)
        exchange.reset = 8
        self.streams.pop(exchange.stream, None)

    def close(self):
        if self.closed:
            return
        self.closed = True
        with self.lock:
            running = [x for x in self.order if x.reset is None and not self.lost and not (x.done and x.sent_all)]
            if self.cancels and not self.abrupt and running:
                for exchange in running:
                    self._cancel(exchange)
                linger(self)
                alive = True
            else:
                alive = False
                if not running and not self.abrupt and not self.lost:
                    self.connection.close_connection()
        try:
            self._flush()
        except OSError:
            pass
        if not alive:
            self.end()

    def end(self):
        """Closes the connection itself."""
        try:
            if self.abrupt:
                self.carrier.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif not hasattr(self.carrier, "raw"):
                return leave(self.carrier)
            getattr(self.carrier, "raw", self.carrier).shutdown(socket.SHUT_RD)  # wakes the thread that reads
        except OSError:
            pass
        self.carrier.close()

    def setsockopt(self, level, name, value):
        if (level, name) == (socket.SOL_SOCKET, socket.SO_LINGER):
            self.abrupt = True
        else:
            self.carrier.setsockopt(level, name, value)

    def settimeout(self, seconds):
        self.timeout = seconds

    def gettimeout(self):
        return self.timeout

    def fileno(self):
        return self.carrier.fileno()

    def getsockname(self):
        return self.carrier.getsockname()

    def getpeername(self):
        return self.carrier.getpeername()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# -- connections whose streams were cancelled
# ----------------------------------------------------------------------------
LINGERING, MOST = collections.deque(), 8


def linger(connection):
    """Leaves a connection open a while, so that nothing but RST_STREAM tells of what was cancelled."""
    LINGERING.append(connection)
    while len(LINGERING) > MOST:
        LINGERING.popleft().end()


def end_lingering():
    while LINGERING:
        LINGERING.popleft().end()
