"""A relay before pawl that cuts connections towards the client, and counts what passed. TLS ends in it and begins
anew."""

import socket
import struct
import threading
import time

from . import transport
from .frames import FrameScanner
from .listening import Listening, serve
from .origin import Origin


class Relay(Listening):
    """`plan(number)` gives for connection `number` (bytes towards the client after which to cut, "rst" | "fin"),
    or None. Body bytes are counted with heads taken off."""

    def __init__(self, target, plan=None, rate=None, over="clear"):
        self.target, self.plan, self.rate = target, plan or (lambda number: None), rate
        self.over = over
        self.connections, self.cuts, self.down = 0, 0, 0
        self.lock = threading.Lock()
        self.requests, self.answers = [], []
        self.body = {}  # body bytes towards the client by request target
        self.begin()
        self.address = transport.address_of(self.port, over)

    def accepted(self, client, number):
        self.connections = number + 1
        serve(self._serve, client, number)

    def _serve(self, client, number):
        try:
            client = transport.accept(client, self.over)
            server = transport.dial(self.target, self.over)
            server.settimeout(None)
        except OSError:
            client.close()
            return
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        counter = FrameCounter(self) if self.over in ("h2", "h2c") else Counter(self)
        upward = threading.Thread(target=self._up, args=(client, server, counter), daemon=True)
        upward.start()
        plan, asked, passed = None, False, 0
        begun = time.monotonic()
        try:
            while True:
                data = server.recv(65536)
                if not data:
                    break
                if plan and passed + len(data) >= plan[0]:
                    data = data[: plan[0] - passed]
                    if data:
                        client.sendall(data)
                        counter.down(data)
                    passed += len(data)
                    with self.lock:
                        self.cuts += 1
                        self.down += len(data)
                    if plan[1] == "rst":
                        # A client loses what it has not read when the reset comes: let it read first.
                        end = time.monotonic() + 2
                        while Origin._unsent(client) and time.monotonic() < end:
                            time.sleep(0.005)
                        time.sleep(0.25)
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    else:
                        client.shutdown(socket.SHUT_WR)
                        time.sleep(0.3)
                    break
                client.sendall(data)
                counter.down(data)
                passed += len(data)
                if counter.begun and not asked:  # spare connections of a browser have no plan
                    plan, asked = self.plan(number), True
                with self.lock:
                    self.down += len(data)
                if self.rate:
                    ahead = passed / self.rate - (time.monotonic() - begun)
                    if ahead > 0:
                        time.sleep(ahead)
        except OSError:
            pass
        finally:
            # The other thread waits in recv on these: it has to be woken first, or close would change nothing.
            for each, how in ((client, socket.SHUT_RD), (server, socket.SHUT_RDWR)):
                try:
                    each.shutdown(how)
                except OSError:
                    pass
            upward.join(1)
            client.close()
            server.close()

    def _up(self, client, server, counter):
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    break
                counter.up(data)
                server.sendall(data)
        except OSError:
            pass
        try:
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Counter:
    """Counts body bytes of the responses on one connection; bodies have a length, a chunked one counts whole."""

    def __init__(self, relay):
        self.relay, self.targets, self.head, self.left, self.target = relay, [], bytearray(), 0, None
        self.kept, self.begun = bytearray(), False

    def up(self, data):
        if len(self.kept) < 65536:
            self.kept += data
            while b"\r\n\r\n" in self.kept:
                one, _, rest = bytes(self.kept).partition(b"\r\n\r\n")
                with self.relay.lock:
                    self.relay.requests.append(one)
                self.targets.append(one.split(b" ")[1].decode("latin-1"))
                self.kept = bytearray(rest)

    def down(self, data):
        self.begun = True
        while data:
            if self.left:
                take = min(self.left, len(data))
                self.left -= take
                with self.relay.lock:
                    self.relay.body[self.target] = self.relay.body.get(self.target, 0) + take
                data = data[take:]
                continue
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            head, data = bytes(self.head[:end]), bytes(self.head[end + 4 :])
            self.head.clear()
            status = head.split(b" ")[1]
            if status.startswith(b"1"):
                continue
            self.target = self.targets.pop(0) if self.targets else "?"
            with self.relay.lock:
                self.relay.answers.append((self.target, int(status)))
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            if status in (b"304", b"204"):
                continue
            self.left = int(length[0].split(b":")[1]) if length else 1 << 60


class FrameCounter:
    """The same of HTTP/2."""

    def __init__(self, relay):
        self.relay, self.targets, self.begun = relay, {}, False
        self.upward = FrameScanner(self._request, lambda *_: None, True)
        self.downward = FrameScanner(self._answer, self._body, False)

    def up(self, data):
        self.upward.feed(data)

    def down(self, data):
        self.downward.feed(data)

    def _request(self, stream, head, ended):
        if stream in self.targets:
            return  # trailers
        self.targets[stream] = head.split(b" ")[1].decode("latin-1")
        with self.relay.lock:
            self.relay.requests.append(head)

    def _answer(self, stream, head, ended):
        if head.startswith(b"HTTP/2 ") and not head.startswith(b"HTTP/2 1"):
            with self.relay.lock:
                self.relay.answers.append((self.targets.get(stream, "?"), int(head.split(b" ")[1])))

    def _body(self, stream, count, ended):
        target, self.begun = self.targets.get(stream, "?"), True
        with self.relay.lock:
            self.relay.body[target] = self.relay.body.get(target, 0) + count
