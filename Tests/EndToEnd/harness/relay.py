"""A relay before pawl that cuts connections towards the client, and counts what passed."""

import socket
import struct
import threading
import time


class Relay:
    """`plan(number)` gives for connection `number` (octets towards the client after which to cut, "rst" | "fin"),
    or None. Body octets are counted with heads taken off."""

    def __init__(self, target, plan=None, rate=None):
        self.target, self.plan, self.rate = target, plan or (lambda number: None), rate
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.connections, self.cuts, self.down = 0, 0, 0
        self.lock = threading.Lock()
        self.requests, self.answers = [], []
        self.delivered = []       # (connection number, body octets the client's side took)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                number = self.connections
                self.connections += 1
            threading.Thread(target=self._serve, args=(client, number), daemon=True).start()

    def _serve(self, client, number):
        try:
            server = socket.create_connection(self.target, 10)
            server.settimeout(None)
        except OSError:
            client.close()
            return
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._up, args=(client, server), daemon=True).start()
        plan, passed, head = self.plan(number), 0, bytearray()
        begun = time.monotonic()
        try:
            while True:
                data = server.recv(65536)
                if not data:
                    break
                if plan and passed + len(data) >= plan[0]:
                    data = data[:plan[0] - passed]
                    if data:
                        client.sendall(data)
                    passed += len(data)
                    with self.lock:
                        self.cuts += 1
                        self.down += len(data)
                    if plan[1] == "rst":
                        time.sleep(0.02)
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    else:
                        client.shutdown(socket.SHUT_WR)
                        time.sleep(0.3)
                    break
                client.sendall(data)
                passed += len(data)
                with self.lock:
                    self.down += len(data)
                if self.rate:
                    ahead = passed / self.rate - (time.monotonic() - begun)
                    if ahead > 0:
                        time.sleep(ahead)
        except OSError:
            pass
        finally:
            for each in (client, server):
                try:
                    each.shutdown(socket.SHUT_RDWR) if each is server else None
                except OSError:
                    pass
                each.close()

    def _up(self, client, server):
        kept = bytearray()
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    break
                if len(kept) < 65536:
                    kept += data
                    while b"\r\n\r\n" in kept:
                        one, _, rest = bytes(kept).partition(b"\r\n\r\n")
                        with self.lock:
                            self.requests.append(one)
                        kept = bytearray(rest)
                server.sendall(data)
        except OSError:
            pass
        try:
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass
