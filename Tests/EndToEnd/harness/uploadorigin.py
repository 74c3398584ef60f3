"""An origin for uploads, in a process of its own: it hashes bodies as they come, writes down what it saw before it
answers, and dies where it is told.

What a request asks of it stands in its fields, which pawl carries through from the upload's creation: X-Test-Key (the
upload's name), X-Test-Status, X-Test-Delay (seconds before the answer), X-Test-Delay-First (before the first answer to
a key only), X-Test-Pace (bytes read a second), X-Test-Answer (bytes of the answer's body beside its line), X-Test-Die
(a stage below; once a key, remembered over restarts).
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

STAGES = ("head", "first", "middle", "held", "whole", "interim", "status", "fields", "part", "answered")


# -- the process -----------------------------------------------------------------------------------------------------
class Server:
    def __init__(self, port, record, hashes=True, small=False):
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.hashes, self.lock, self.serial, self.seen = hashes, threading.Lock(), 0, set()
        self.died = {event["key"] for event in read_events(record) if event["e"] == "die"}
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if small:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(1024)

    def note(self, **event):
        os.write(self.record, (json.dumps(event) + "\n").encode())

    def run(self):
        print("ready", flush=True)
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffer, room = b"", bytearray(1 << 20)
        try:
            while True:
                while b"\r\n\r\n" not in buffer:
                    data = connection.recv(65536)
                    if not data:
                        return
                    buffer += data
                raw, buffer = buffer.split(b"\r\n\r\n", 1)
                lines = raw.decode("latin-1").split("\r\n")
                method, target, _ = lines[0].split(" ")
                fields = [
                    (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])
                ]
                with self.lock:
                    self.serial += 1
                    serial = f"{os.getpid()}.{self.serial}"
                buffer = self.request(connection, serial, method, target, fields, buffer, room)
                if buffer is None:
                    return
        except OSError:
            pass
        finally:
            connection.close()

    def die(self, stage, wanted, key):
        """Ends this process as kill -9 does, once for a key."""
        if stage == wanted and key not in self.died:
            self.note(e="die", key=key, stage=stage, t=time.monotonic())
            os.kill(os.getpid(), signal.SIGKILL)

    def request(self, connection, serial, method, target, fields, buffer, room):
        field = dict(fields)
        key, fate = field.get("x-test-key", target), field.get("x-test-die")
        if method in ("OPTIONS", "GET", "HEAD"):
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                if method != "OPTIONS"
                else b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nAllow: POST, PUT\r\n\r\n"
            )
            return buffer
        length = int(field["content-length"]) if "content-length" in field else None
        self.note(
            e="head", n=serial, key=key, length=length, method=method, target=target, fields=fields, t=time.monotonic()
        )
        self.die("head", fate, key)
        if field.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        count, digest = self.body(connection, length or 0, buffer, room, fate, key, float(field.get("x-test-pace", 0)))
        whole = length is not None and count >= length
        self.note(e="end", n=serial, key=key, count=count, whole=whole, sha=digest, t=time.monotonic())
        if not whole:
            return None
        self.die("whole", fate, key)
        if fate == "interim" and key not in self.died:
            connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
            time.sleep(0.1)
            self.die("interim", fate, key)
        with self.lock:
            first = key not in self.seen
            self.seen.add(key)
        time.sleep(float(field.get("x-test-delay-first", 0) if first else 0) or float(field.get("x-test-delay", 0)))
        body = json.dumps({"key": key, "count": count, "sha": digest, "n": serial}).encode() + b"\n"
        body += b"." * int(field.get("x-test-answer", 0))
        status = field.get("x-test-status", "201")
        head = f"HTTP/1.1 {status} Told\r\nX-Origin: yes\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for stage, part in (("status", head[:17]), ("fields", head), ("part", head + body[:-7])):
            if fate == stage and key not in self.died:
                connection.sendall(part)
                time.sleep(0.1)
                self.die(stage, fate, key)
        connection.sendall(head + body)
        self.note(e="answered", n=serial, key=key, status=int(status), t=time.monotonic())
        if fate == "answered" and key not in self.died:
            time.sleep(0.05)
            self.die("answered", fate, key)
        return b""

    def body(self, connection, length, buffer, room, fate, key, pace):
        """Bytes and SHA-256 of what came; the last byte is left unread where the process is to die before it."""
        digest = hashlib.sha256()
        take, count, begun = buffer[:length], 0, time.monotonic()
        held = length - 1 if fate == "held" and key not in self.died else length
        view = memoryview(room)
        while count < length:
            if not take:
                try:
                    got = connection.recv_into(view, min(len(room), (held if count < held else length) - count))
                except OSError:
                    got = 0
                if not got:
                    break
                take = view[:got]
            if self.hashes:
                digest.update(take)
            count += len(take)
            take = b""
            self.die("first", fate, key)
            if count * 2 >= length:
                self.die("middle", fate, key)
            if count >= length - 1:
                self.die("held", fate, key)
            if pace:
                time.sleep(max(0.0, count / pace - (time.monotonic() - begun)))
        return count, digest.hexdigest() if self.hashes else ""


# -- how a row sees it -----------------------------------------------------------------------------------------------
def read_events(path):
    if not os.path.exists(path):
        return []
    lines = pathlib.Path(path).read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:-1] if line]


@dataclasses.dataclass
class Delivery:
    """One request as the origin saw it."""

    serial: str
    key: str
    length: int | None
    method: str
    target: str
    fields: list
    began: float
    count: int | None = None  # body bytes; None: it was cut short by the origin's own end
    whole: bool = False
    sha: str = ""
    ended: float | None = None
    answered: float | None = None
    status: int | None = None

    def get(self, name):
        return dict(self.fields).get(name.lower())

    def __repr__(self):
        return f"<{self.key} {self.method} length={self.length} count={self.count} whole={self.whole} answered={self.answered is not None}>"


class UploadOrigin:
    """Starts the process; `kill` ends it as a crash does, `start` brings it back on the same port with the same
    memory."""

    def __init__(self, folder, hashes=True, small=False, prefix=()):
        """`small`: hardly anything waits in the kernel unread, so that what it died before was not sent."""
        from .process import free_port

        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.record = self.folder / "origin.jsonl"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.prefix, self.process = list(prefix), None
        self.options = ([] if hashes else ["--no-hash"]) + (["--small"] if small else [])

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def start(self):
        from .process import LIVING

        command = self.prefix + [sys.executable, __file__, str(self.port), str(self.record)] + self.options
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        LIVING.add(self.process)
        if self.process.stdout.readline() != b"ready\n":
            raise AssertionError("the origin did not start")
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        from .process import LIVING

        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            LIVING.discard(self.process)

    def keep_alive(self, stop, pause=0.5):
        """Restarts it whenever it has died, until `stop` is set."""
        while not stop.is_set():
            if not self.running():
                if stop.wait(pause):
                    return
                self.kill()
                try:
                    self.start()
                except AssertionError:
                    if not stop.is_set():
                        raise
            stop.wait(0.05)

    def deliveries(self, key=None):
        found = {}
        for event in read_events(self.record):
            if event["e"] == "head":
                found[event["n"]] = Delivery(
                    event["n"],
                    event["key"],
                    event["length"],
                    event["method"],
                    event["target"],
                    event["fields"],
                    event["t"],
                )
            elif event["e"] == "end":
                each = found[event["n"]]
                each.count, each.whole, each.sha, each.ended = event["count"], event["whole"], event["sha"], event["t"]
            elif event["e"] == "answered":
                found[event["n"]].answered, found[event["n"]].status = event["t"], event["status"]
        return [each for each in found.values() if key is None or each.key == key]

    def by_key(self):
        """Deliveries of each key, in the order they began."""
        sorted_out = {}
        for each in self.deliveries():
            sorted_out.setdefault(each.key, []).append(each)
        return sorted_out


if __name__ == "__main__":
    Server(int(sys.argv[1]), sys.argv[2], "--no-hash" not in sys.argv, "--small" in sys.argv).run()
