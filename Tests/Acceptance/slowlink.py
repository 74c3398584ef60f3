"""A link of so many bits a second and so long a way, in a process of its own: python3 slowlink.py TARGET-PORT MBIT
ONE-WAY-MS

Prints the port it listens on. Each direction of each connection is a link: bytes leave one after the other at the rate,
arrive after the way, and at most 10 ms of them wait before it. What the sockets on both sides hold is bounded, so that
the relay holds about rate x way + 10 ms + 128 KiB of a direction, and flow control between the ends decides about the
rest.
"""

import collections
import heapq
import os
import select
import socket
import subprocess
import sys
import time

CHUNK = 32 << 10
BUFFER = 64 << 10  # SO_RCVBUF and SO_SNDBUF of the relay's sockets (the kernel doubles them)
QUEUE = 0.010  # seconds of bytes that wait in front of the link


class Way:
    """One direction: from `source` to `sink`."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.flight = collections.deque()  # (time it arrives, bytes)
        self.free = 0.0  # when the link has sent all it was given
        self.ended = self.shut = self.blocked = False
        self.carried = 0


class Link:
    def __init__(self, target, rate, way):
        self.target, self.rate, self.way = target, rate, way
        self.poll = select.epoll()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.poll.register(self.listener, select.EPOLLIN)
        self.into, self.outof, self.interest = {}, {}, {}  # by descriptor: the way read from it, the way written to it
        self.due, self.serial = [], 0

    def later(self, at, way):
        self.serial += 1
        heapq.heappush(self.due, (at, self.serial, way))

    def turn(self, parent):
        while os.getppid() == parent:
            now = time.monotonic()
            wait = min(0.5, max(0.0, self.due[0][0] - now)) if self.due else 0.5
            for descriptor, events in self.poll.poll(wait):
                if descriptor == self.listener.fileno():
                    self.accept()
                    continue
                if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR) and descriptor in self.into:
                    self.read(self.into[descriptor])
                if events & (select.EPOLLOUT | select.EPOLLHUP | select.EPOLLERR) and descriptor in self.outof:
                    way = self.outof[descriptor]
                    way.blocked = False
                    self.write(way)
                    if way.source.fileno() >= 0:
                        self.read(way)
            now = time.monotonic()
            while self.due and self.due[0][0] <= now:
                way = heapq.heappop(self.due)[2]
                if way.source.fileno() >= 0:
                    self.write(way)
                    self.read(way)

    def accept(self):
        client, _ = self.listener.accept()
        server = socket.socket()
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            server.setsockopt(socket.SOL_SOCKET, option, BUFFER)
        server.connect(("127.0.0.1", self.target))
        for each in (client, server):
            each.setblocking(False)
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.poll.register(each, 0)
            self.interest[each.fileno()] = 0
        for source, sink in ((client, server), (server, client)):
            self.into[source.fileno()] = self.outof[sink.fileno()] = Way(source, sink)
        for each in (client, server):
            self.read(self.into[each.fileno()])

    def want(self, sock):
        """Tells epoll what is wanted of a socket: reading while its link has room, writing while something waits for
        room."""
        number = sock.fileno()
        into, outof = self.into[number], self.outof[number]
        wanted = (0 if into.ended or self.full(into) else select.EPOLLIN) | (select.EPOLLOUT if outof.blocked else 0)
        if wanted != self.interest[number]:
            self.interest[number] = wanted
            self.poll.modify(number, wanted)

    def full(self, way):
        return way.free - time.monotonic() > QUEUE or way.blocked

    def read(self, way):
        while not way.ended and not self.full(way):
            try:
                data = way.source.recv(CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            now = time.monotonic()
            way.free = max(now, way.free) + len(data) / self.rate
            way.flight.append((way.free + self.way, data))
            self.later(way.free + self.way, way)
            if not data:
                way.ended = True
        if not way.ended and self.full(way) and not way.blocked:
            self.later(way.free - QUEUE / 2, way)
        if way.source.fileno() >= 0:
            self.want(way.source)

    def write(self, way):
        now = time.monotonic()
        while way.flight and way.flight[0][0] <= now and not way.blocked:
            at, data = way.flight[0]
            if not data:
                way.flight.clear()
                way.shut = True
                try:
                    way.sink.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                break
            try:
                sent = way.sink.send(data)
            except BlockingIOError:
                way.blocked = True
                break
            except OSError:
                way.shut = way.ended = True
                self.outof[way.source.fileno()].shut = True
                break
            way.carried += sent
            if sent < len(data):
                way.flight[0] = (at, data[sent:])
            else:
                way.flight.popleft()
        if way.shut and self.outof[way.source.fileno()].shut:
            for each in (way.source, way.sink):
                number = each.fileno()
                self.poll.unregister(number)
                for table in (self.into, self.outof, self.interest):
                    del table[number]
            way.source.close()
            way.sink.close()
        elif way.sink.fileno() >= 0:
            self.want(way.sink)


class SlowLink:
    """The process, for a row: `port` leads to `target`. Ends with the row, or with the process that started it."""

    def __init__(self, target, megabits=200, milliseconds=50):
        self.words = [sys.executable, __file__, str(target), str(megabits), str(milliseconds)]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    link = Link(int(sys.argv[1]), float(sys.argv[2]) * 1e6 / 8, float(sys.argv[3]) / 1000)
    print(link.port, flush=True)
    link.turn(os.getppid())
