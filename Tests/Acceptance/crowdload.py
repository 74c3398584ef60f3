"""Downloads and uploads that always run, with clients that resume, while pawl is replaced beneath them."""

import select
import socket
import threading
import time

from harness import transport
from harness.client import Ended, get
from harness.content import Content
from harness.origin import Resource
from harness.uploads import NO_STORE, Dialect, Upload, status, stored, whole

MIB = 1 << 20
KEPT = (("Cache-Control", "max-age=600"),)
D = Dialect(9)
BODY = 200_000


class Crowd:
    """`downloads` clients and as many uploads at once, at any time from `begin` to `end`.

    Downloads are new bodies (kept and not kept by turns) that come slowly from the origin, in HTTP/1.1 and HTTP/2.
    Uploads are sent in pieces over a second or two. `broken` counts downloads that ended before their length; their
    clients ask for the rest, with If-Range.
    """

    COUNTED = ("downloads", "broken", "uploads", "ended early", "refused", "connections")
    COUNTED += ("sent", "sent again", "sent elsewhere")

    def __init__(self, scenario, origin, addresses, downloads, uploads, size=MIB):
        self.scenario, self.origin, self.addresses = scenario, origin, addresses
        self.lock, self.over, self.threads = threading.Lock(), threading.Event(), []
        self.counts = dict.fromkeys(self.COUNTED, 0)
        self.sizes, self.size = (downloads, uploads), size
        self.contents = {}
        origin.default = self.answer

    def answer(self, request):
        if request.method in ("POST", "PUT", "PATCH"):
            return stored(request)
        kind = request.path.split("/")[1]
        return Resource(
            self.content(request.path),
            etag=f'"{request.path}"',
            fields=KEPT if kind == "kept" else NO_STORE,
            # Without ranges a restart every few seconds would send each download back to its beginning for ever.
            ranges=True,
            pace=MIB // 2,
        )

    def content(self, path):
        with self.lock:
            return self.contents.setdefault(path, Content(path, self.size))

    def count(self, **more):
        with self.lock:
            for name, value in more.items():
                self.counts[name.replace("_", " ")] += value

    def begin(self):
        work = [self.download] * self.sizes[0] + [self.upload] * self.sizes[1] + [self.knock]
        for number, each in enumerate(work):
            thread = threading.Thread(target=self.loop, args=(each, number), daemon=True)
            thread.start()
            self.threads.append(thread)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(90)
        self.scenario.require(not any(t.is_alive() for t in self.threads), "a client has not ended")

    def loop(self, work, number):
        turn = 0
        while not self.over.is_set() and len(self.scenario.failures) < 10:
            turn += 1
            try:
                work(number, turn)
            except ConnectionRefusedError:
                self.count(refused=1)
            except Exception as error:  # whatever it is, a client met it
                self.scenario.require(False, f"{work.__name__}: {type(error).__name__}: {error}")

    def download(self, number, turn):
        """One body, asked for again with If-Range as often as it breaks."""
        path = f"/{'kept' if number % 2 else 'passed'}/{number}-{turn}"
        address = self.addresses[number // 2 % len(self.addresses)]
        content, body, tag = self.content(path), bytearray(), None
        for _ in range(60):
            fields = (("Range", f"bytes={len(body)}-"), ("If-Range", tag)) if body and tag else ()
            body = body if fields else bytearray()
            try:
                answer = get(address, path, fields, timeout=60)
            except BrokenPipeError:  # HTTP/2: GOAWAY before the request, which clients send again by themselves
                self.count(sent_elsewhere=1)
                continue
            if not answer.status:
                raise AssertionError(f"{path}: no answer: {answer}")
            if answer.status == 503:  # the drain of a restart
                time.sleep(0.05)
                continue
            if fields and answer.status == 200:
                body = bytearray()
            body += answer.body
            tag = answer.get("ETag")
            if answer.complete:
                break
            self.count(broken=1)
        good = bytes(body) == content.read()
        self.scenario.require(good, f"{path}: {len(body)} bytes, not those of the origin")
        self.count(downloads=1)
        with self.lock:
            del self.contents[path]

    def upload(self, number, turn):
        """One upload in pieces, which goes on where pawl says after each end."""
        target = f"/in/{number}-{turn}"
        body = Content(target, BODY).read()
        with Upload(self.addresses[0], 60) as client:
            client.create(D, True, BODY, target=target)
            answer, sent = self.pieces(client, body)
            location = next((f.get("Location") for s, f in client.interims if s == 104), None)
        for _ in range(20):
            if answer is not None and answer.status == 200:
                break
            if location is None:
                raise AssertionError(f"{target}: {sent} bytes sent, no URL, and {answer}")
            self.count(ended_early=1)
            offset = int(self.offset(location))
            told = answer.get("Upload-Offset") if answer is not None else None
            self.scenario.require(
                told is None or int(told) == offset, f"{target}: told {told}, and then {offset} by the next process"
            )
            self.count(sent_again=sent - offset)
            with Upload(self.addresses[0], 60) as client:
                client.append(D, location, offset, BODY - offset)
                answer, more = self.pieces(client, body[offset:])
                sent = offset + more
        else:
            self.scenario.require(False, f"{target} never ended: {answer}")
        delivered = len(whole(self.origin, target))
        self.scenario.require(delivered == 1, f"{target} was delivered {delivered} times")
        self.count(uploads=1, sent=BODY)

    def offset(self, location):
        for _ in range(200):
            said = None
            try:
                said = status(self.addresses[0], D, location, timeout=60)
            except ConnectionRefusedError:
                self.count(refused=1)
            except AssertionError:  # cut before its answer
                pass
            if said is not None and said.get("Upload-Offset"):
                return said.get("Upload-Offset")
            time.sleep(0.05)
        raise AssertionError(f"no offset of {location}: {said}")

    def pieces(self, client, body):
        """Sends the body piece by piece; (the answer or None when the connection was cut, bytes sent)."""
        sent, piece = 0, BODY // 10
        while sent < len(body):
            if is_answered(client):
                break
            try:
                client.send(body[sent : sent + piece])
            except OSError:
                break
            sent += len(body[sent : sent + piece])
            time.sleep(0.15)
        try:
            return client.answer(), sent
        except (AssertionError, OSError):
            return None, sent

    def knock(self, number, turn):
        host, _, port = self.addresses[turn % len(self.addresses)].rpartition("//")[2].rpartition(":")
        socket.create_connection((host, int(port)), 10).close()
        self.count(connections=1)
        time.sleep(0.002)

    def report(self, may_break, refusals=0):
        for what in ("downloads", "uploads", "connections"):
            self.scenario.figure(what, self.counts[what], 1, at_least=True)
        self.scenario.figure("downloads broken", self.counts["broken"], None if may_break else 0)
        self.scenario.figure("connections refused", self.counts["refused"], refusals)
        self.scenario.figure("requests that GOAWAY sent to another connection", self.counts["sent elsewhere"])
        self.scenario.figure("uploads ended early", self.counts["ended early"])
        again = self.counts["sent again"] / max(1, self.counts["sent"])
        self.scenario.figure("bytes of uploads sent and not taken", f"{again:.4%}")


def is_answered(client):
    """Whether the final answer has begun to come, or the end; interim answers are read away."""
    while client.buffer or select.select([client.socket], [], [], 0)[0]:
        if not client.buffer:
            try:
                client.buffer += client._more()
            except Ended:
                return True
        if not client.buffer.startswith(b"HTTP/1.1 1"):
            return True
        client.interim(int(client.buffer[9:12]))
    return False


def second_listener(pawl):
    """The second address speaks HTTP/2 with prior knowledge."""
    transport.register(pawl.addresses[1], "h2c")
