"""An origin that breaks off where it is told, goes down and comes back, and counts what it had to send."""

import fcntl
import socket
import struct
import termios
import threading
import time

import running

STEP = 65536


class Unreliable:
    """Answers of `size` bytes of the content under any path. `plan(path, number, first)` says after how many bytes the
    answer breaks off (None: it does not) and whether the origin knows ranges and validators."""

    def __init__(self, bench, size):
        self.bench, self.size, self.port = bench, size, running.free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.lock, self.open, self.plans = threading.Lock(), set(), {}
        self.asked, self.sent, self.bodies = {}, {}, []
        self.listener = None
        self.rise()

    def rise(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(256)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def fall(self):
        """Nobody listens any more, and every connection is reset."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for each in list(self.open):
                reset(each)
            self.open.clear()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.open.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held = b""
        try:
            while True:
                while b"\r\n\r\n" not in held:
                    data = connection.recv(STEP)
                    if not data:
                        return
                    held += data
                raw, _, held = held.partition(b"\r\n\r\n")
                lines = raw.decode("latin-1").split("\r\n")
                method, path, _ = lines[0].split(" ")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
                if method in ("GET", "HEAD"):
                    going = self.answer(connection, method, path, fields)
                elif method == "OPTIONS":
                    connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                    going = True
                else:
                    held, going = self.take(connection, path, fields, held)
                if not going:
                    return
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.open.discard(connection)
            connection.close()

    def answer(self, connection, method, path, fields):
        plan = self.plans.get(path.split("/")[1], {})
        with self.lock:
            number = self.asked[path] = self.asked.get(path, 0) + 1
        first, last, size = 0, self.size - 1, self.size
        tag = f'"{path}"'
        wanted = fields.get("range", "")
        if wanted.startswith("bytes=") and plan.get("ranges", True) and fields.get("if-range", tag) == tag:
            begin, _, end = wanted[6:].partition("-")
            first, last = int(begin), min(int(end), last) if end else last
        part = first > 0 or last < size - 1
        head = f"HTTP/1.1 {'206 Partial Content' if part else '200 OK'}\r\nContent-Type: application/octet-stream\r\nContent-Length: {last - first + 1}\r\n"
        head += f"Cache-Control: {plan.get('keep', 'max-age=86400')}\r\n"
        if part:
            head += f"Content-Range: bytes {first}-{last}/{size}\r\n"
        if plan.get("ranges", True):
            head += f"ETag: {tag}\r\nAccept-Ranges: bytes\r\n"
        connection.sendall((head + "\r\n").encode())
        if method == "HEAD":
            return True
        cut = plan["cut"](number, first) if "cut" in plan else None
        end = last + 1 if cut is None else min(cut, last + 1)
        at = first
        while at < end:
            piece = self.bench.bytes[at : min(end, at + STEP)]
            connection.sendall(piece)
            at += len(piece)
            with self.lock:
                self.sent[path] = self.sent.get(path, 0) + len(piece)
            if plan.get("pause"):
                time.sleep(plan["pause"])
        if at <= last:
            drained(connection)
            if plan.get("after"):
                plan["after"]()
            reset(connection)
            return False
        return True

    def take(self, connection, path, fields, held):
        """A body; it is written down as whole or broken, right or wrong."""
        got, length, chunked = bytearray(), fields.get("content-length"), "transfer-encoding" in fields
        whole = False
        try:
            if chunked:
                while True:
                    while b"\r\n" not in held:
                        held += more(connection)
                    line, _, held = held.partition(b"\r\n")
                    size = int(line, 16)
                    while len(held) < size + 2:
                        held += more(connection)
                    got += held[:size]
                    held = held[size + 2 :]
                    if not size:
                        break
            else:
                size = int(length or 0)
                got += held[:size]
                held = held[size:]
                while len(got) < size:
                    data = more(connection)
                    got += data
            whole = True
        except EOFError:
            pass
        with self.lock:
            self.bodies.append((path, whole, len(got), bytes(got) == self.bench.bytes[: len(got)]))
        if whole:
            connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nok\n")
        return held, whole


def more(connection):
    data = connection.recv(1 << 18)
    if not data:
        raise EOFError
    return data


def drained(connection, seconds=5):
    """Until the other side has what was sent."""
    end = time.monotonic() + seconds
    while (
        time.monotonic() < end and struct.unpack("i", fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
    ):
        time.sleep(0.001)


def reset(connection):
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    connection.close()
