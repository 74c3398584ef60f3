"""An origin of many processes, each with one connection at a time: what it does for one client costs another nothing
but the machine's time, and the clients of a check share no interpreter with it.

`/page...` is a page of four bytes that nobody may keep, `/large...` a body of SIZE bytes, `/active` tells how many
requests it has in hand.
Run as a program it prints its port: forkingorigin.py SIZE
"""

import mmap
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.request

# More than an upstream has places.
WORKERS = 80


class ForkingOrigin:
    def __init__(self, size):
        self.process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).resolve()), str(size)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    @property
    def active(self):
        """Requests in hand, those included whose content has not come."""
        with urllib.request.urlopen(self.url + "/active", timeout=10) as answer:
            return int(answer.read())


def serve(connection, shared, place, size):
    block = bytes(range(256)) * 4096
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            data = connection.recv(65536)
            if not data:
                return
            buffer += data
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        target = head.split(b" ", 2)[1]
        shared[place] = 0 if target == b"/active" else 1
        length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
        need = int(length.group(1)) if length else 0
        chunked = b"chunked" in head.lower()
        while len(buffer) < need or chunked and not buffer.endswith(b"0\r\n\r\n"):
            data = connection.recv(65536)
            if not data:
                return
            buffer += data
        buffer = b"" if chunked else buffer[need:]
        if target.startswith(b"/large"):
            connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % size)
            left = size
            while left:
                connection.sendall(block[:left] if left < len(block) else block)
                left -= min(left, len(block))
        else:
            body = b"%d" % sum(shared[:]) if target == b"/active" else b"page"
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
        shared[place] = 0


def work(listener, shared, place, size):
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            serve(connection, shared, place, size)
        except OSError:
            pass
        shared[place] = 0
        connection.close()


def main(size):
    shared = mmap.mmap(-1, WORKERS)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    for place in range(WORKERS):
        if os.fork() == 0:
            work(listener, shared, place, size)
    print(listener.getsockname()[1], flush=True)
    signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]))
