"""Event streams: 1,000 silent for three times idle-timeout, and an origin that breaks 100 times under a client that
reconnects as EventSource does.

No event is lost or comes twice; the time from the origin's write to the client's read is reported, beside the same
without pawl.
"""

import re
import selectors
import socket
import threading
import time

from harness.client import parse_address
from harness.origin import Break, Resource

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Events:
    """An origin of its own: each connection is told what `tell` says, and stays open."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(2048)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.address = self.listener.getsockname()
        self.open, self.asked, self.lock = [], 0, threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            received = b""
            while b"\r\n\r\n" not in received:
                data = peer.recv(65536)
                if not data:
                    break
                received += data
            if not received:
                continue
            with self.lock:  # whoever has read the first event gets what `tell` says from then on
                peer.sendall(HEAD + chunk(b"data: first\n\n"))
                self.open.append(peer)
                self.asked += 1

    def tell(self, data):
        with self.lock:
            for peer in self.open:
                peer.sendall(chunk(data))

    def stop(self):
        self.listener.close()
        for peer in self.open:
            peer.close()


def listeners(address, count):
    sockets = []
    for _ in range(count):
        peer = socket.create_connection(address)
        peer.sendall(b"GET /events HTTP/1.1\r\nHost: pawl.test\r\nAccept: text/event-stream\r\n\r\n")
        sockets.append(peer)
    return sockets


def read_all(sockets, wanted, seconds):
    """Reads until each has `wanted` in what came; how long each took, in seconds."""
    begun, came, took = time.monotonic(), {peer: b"" for peer in sockets}, []
    with selectors.DefaultSelector() as selector:
        for peer in sockets:
            peer.setblocking(False)
            selector.register(peer, selectors.EVENT_READ)
        while len(took) < len(sockets) and time.monotonic() - begun < seconds:
            for key, _ in selector.select(1):
                try:
                    data = key.fileobj.recv(65536)
                except BlockingIOError:
                    continue
                came[key.fileobj] += data
                if not data or wanted in came[key.fileobj]:
                    selector.unregister(key.fileobj)
                    if data:
                        took.append(time.monotonic() - begun)
    return took


def silent(scenario):
    count = 100 if scenario.quick else 1000
    origin = Events()
    scenario.bench.stack.callback(origin.stop)
    pawl = scenario.bench.pawl(
        origin.url,
        name="silent",
        upstream={"idle-timeout": "2s", "max-share-per-client": "100%"},
        pawl={"workers": "auto"},
    )
    sockets = listeners(parse_address(pawl.address), count)
    scenario.figure(f"first events of {count} streams", len(read_all(sockets, b"first", 20)), count, at_least=True)
    time.sleep(6.5)
    threading.Timer(0.2, origin.tell, (b"data: second\n\n",)).start()
    scenario.figure(
        "streams that go on after three times idle-timeout in silence",
        len(read_all(sockets, b"second", 20)),
        count,
        at_least=True,
    )
    scenario.figure("requests at the origin", origin.asked, count)
    for peer in sockets:
        peer.close()
    pawl.stop()


def latency(scenario):
    medians = {}
    origin = Events()
    scenario.bench.stack.callback(origin.stop)
    pawl = scenario.bench.pawl(origin.url, name="latency")
    for way, address in (("direct", origin.address), ("pawl", parse_address(pawl.address))):
        [peer] = listeners(address, 1)
        read_all([peer], b"first", 5)
        peer.setblocking(True)
        times = []
        for number in range(200):
            word = b"event-%d" % number
            begun = time.monotonic()
            origin.tell(b"data: " + word + b"\n\n")
            received = b""
            while word not in received:
                received += peer.recv(65536)
            times.append(time.monotonic() - begun)
        medians[way] = sorted(times)
        peer.close()
        origin.open.clear()
    for way, times in medians.items():
        scenario.figure(
            f"{way}: from the origin's write to the client's read, median", round(times[100] * 1e6), None, "us"
        )
    scenario.figure("pawl: the longest of 200", round(medians["pawl"][-1] * 1e3, 2), None, "ms")


def broken(scenario):
    total, breaks = (300, 30) if scenario.quick else (1000, 100)
    origin = scenario.bench.origin()
    sent = {"breaks": 0}

    def play(request):
        after = int(request.get("Last-Event-ID") or -1)
        body = b"".join(b"id: %d\ndata: %d\n\n" % (n, n) for n in range(after + 1, total))
        if sent["breaks"] < breaks:
            sent["breaks"] += 1
            step = len(body) // max(1, breaks - sent["breaks"] + 2)
            return Resource(
                body,
                framing="chunked",
                type="text/event-stream",
                breaks=lambda start, end: Break(step, ("rst", "fin")[sent["breaks"] % 2]),
            )
        return Resource(body, framing="chunked", type="text/event-stream")

    origin.at("/events", play)
    pawl = scenario.bench.pawl(origin, name="broken")
    seen, last, connections = [], None, 0
    while len(seen) < total and connections < breaks + 20:
        connections += 1
        from harness.client import Client

        fields = (("Accept", "text/event-stream"),) + ((("Last-Event-ID", last),) if last is not None else ())
        with Client(pawl.address, 20) as client:
            client.request("/events", fields=fields)
            answer = client.response()
        # What has no empty line behind it is no event (HTML, 9.2.6).
        for event in answer.body.split(b"\n\n")[:-1]:
            last = re.search(rb"id: (\d+)", event)[1].decode()
            seen.append(int(re.search(rb"data: (\d+)", event)[1]))
    scenario.figure(
        f"events of {total} that were lost, came twice or out of order",
        sum(a != b for a, b in zip(seen, range(total))) + abs(len(seen) - total),
        0,
    )
    scenario.figure("breaks", sent["breaks"])
    scenario.figure("connections of the client", connections)
    scenario.figure("requests at the origin beyond those", len(origin.requests) - connections, 0)


def run(scenario):
    silent(scenario)
    latency(scenario)
    broken(scenario)
