"""Uploads by raw clients that are cut where a plan says, resume, and hold the server to every offset they were ever
told.

An `Upload` speaks one interop version (3 to 10) or tus in one way (`WAYS`), from its creation to the origin's answer.
What the server does that it must not do is in `violations`; how it ended in `result`: answered, unknown, refused,
stored (a part of a concatenation), gone, late.
"""

import base64
import fcntl
import hashlib
import json
import random
import select
import socket
import struct
import subprocess
import termios
import time

from .client import Client, Ended, head
from .content import Content
from .process import binary

TUS = "tus"
KIB, MIB = 1 << 10, 1 << 20
#: How an upload may be spoken: for the interop versions, and for tus.
WAYS = {
    "ietf": ("whole", "chunked", "expect", "careful", "parts", "digests"),
    "tus": ("whole", "parts", "creation", "deferred", "checksums", "override", "concat"),
}


class Wire(Client):
    """A connection that reads what comes while it sends: interim heads go to `on_interim`, a final head ends the
    sending."""

    def __init__(self, address, timeout=60, on_interim=None, send_buffer=None):
        super().__init__(address, timeout)
        self.timeout, self.on_interim, self.final = timeout, on_interim, False
        if send_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.poll = select.poll()

    def pump(self, wait=0.0):
        """Takes what has come within `wait` seconds; True when a final head has begun. Raises Ended when the peer is
        gone."""
        self.poll.register(self.socket, select.POLLIN)
        while True:
            while not self.final:
                at = self.buffer.find(b"\r\n\r\n")
                if at < 0:
                    break
                if self.buffer[9:10] != b"1":
                    self.final = True
                    break
                lines = bytes(self.buffer[:at]).decode("latin-1").split("\r\n")
                del self.buffer[: at + 4]
                self._tell(lines)
                wait = 0.0
            if self.final or not self.poll.poll(wait * 1000):
                return self.final
            self.buffer += self._more(65536)

    def _tell(self, lines):
        fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
        if self.on_interim:
            self.on_interim(int(lines[0][9:12]), fields)

    def put(self, data, sent=None):
        """Sends `data`, reading meanwhile; False when a final head came first. `sent(n)` is told of every piece that
        left."""
        view, poll = memoryview(data), select.poll()
        poll.register(self.socket, select.POLLIN | select.POLLOUT)
        while len(view):
            try:
                count = self.socket.send(view[: 256 * KIB], socket.MSG_DONTWAIT)
            except BlockingIOError:
                ready = poll.poll(self.timeout * 1000)
                if not ready:
                    raise Ended("timeout")
                if ready[0][1] & ~select.POLLOUT and self.pump():
                    return False
                continue
            except OSError:
                self.pump()  # a final answer may lie before the reset
                if self.final:
                    return False
                raise Ended("rst")
            view = view[count:]
            if sent:
                sent(count)
        return not self.pump()

    def answer(self, method="GET"):
        """The final response, whole, or Ended."""
        got = self.response(method, on_interim=self.on_interim)
        self.final = False
        if not got.complete:
            ended = Ended(got.ended or "fin")
            ended.within = got
            raise ended
        return got

    def settle(self, seconds=10):
        """Waits until the peer's kernel has acknowledged every byte."""
        end = time.monotonic() + seconds
        while struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, b"\0" * 4))[0] and time.monotonic() < end:
            time.sleep(0.0005)

    def cut(self, how):
        """rst, settled (a reset after everything was acknowledged), fin; half leaves the socket to the caller.

        A close with unread interim answers resets, and takes along what was not acknowledged: so a fin settles, too.
        """
        if how in ("settled", "fin"):
            self.settle()
        if how in ("rst", "settled"):
            self.reset()
        elif how == "half":
            self.finish()
        else:
            self.close()


class Upload:
    """One upload by one client. Used from one thread; `offset` None: not known, ask."""

    def __init__(
        self,
        address,
        key,
        size,
        dialect,
        way,
        seed=0,
        path=None,
        method="POST",
        cuts=(),
        fields=(),
        pace=None,
        base=0,
        content=None,
        concat=None,
        patience=60,
        status=201,
    ):
        self.address, self.key, self.size, self.dialect, self.way = address, key, size, dialect, way
        self.rng = random.Random(f"{seed}|{key}")
        self.path, self.method, self.cuts, self.fields, self.pace = (
            path or f"/up/{key}",
            method,
            list(cuts),
            tuple(fields),
            pace,
        )
        self.base, self.content, self.concat, self.patience, self.status = (
            base,
            content or Content(key, size),
            concat,
            patience,
            status,
        )
        self.location, self.offset, self.trusted = None, None, False
        self.floor, self.reach, self.creations = 0, 0, 0
        self.result, self.body, self.violations, self.trace, self.hung = None, None, [], [], []
        self.begun, self.ended, self.cuts_made, self.resumptions, self.refusals, self.interims = (
            time.monotonic(),
            None,
            [],
            0,
            {},
            0,
        )
        self.sent, self.overtaken = 0, 0
        self.began_at, self.begins_at = None, None  # where the append before this one began, and this one
        self.on_told = None  # told(offset) besides
        self.parts = []  # of a concatenation

    # -- what is known of it ------------------------------------------------------------------------------------------
    @property
    def tus(self):
        return self.dialect == TUS

    @property
    def now_key(self):
        """Each creation has its own key: a client that lost a creation's URL cannot but create again."""
        return f"{self.key}.{self.creations}"

    @property
    def id(self):
        token = (self.location or "").rstrip("/").rpartition("/")[2]
        return hashlib.sha256(token.encode()).hexdigest()[:32]

    def note(self, text):
        self.trace.append(f"{time.monotonic() - self.begun:.3f} {text}")
        if len(self.trace) > 60:
            del self.trace[10]

    def wrong(self, text):
        self.note("WRONG " + text)
        if len(self.violations) < 10:
            self.violations.append(
                f"{self.key} ({self.dialect} {self.way}, {self.size} bytes): {text}; before: "
                f"{'; '.join(self.trace[-9:-1])}"
            )

    def told(self, offset, where):
        """Every offset the server announces goes through here."""
        if offset is None:
            return
        self.note(f"told {offset} by {where}")
        if offset < self.floor:
            self.wrong(f"{where} told {offset} after {self.floor} had been announced")
        if offset > self.reach:
            self.wrong(f"{where} told {offset}, and only {self.reach} bytes were ever sent")
        self.floor = max(self.floor, min(offset, self.size))
        if self.on_told:
            self.on_told(offset)

    def __repr__(self):
        return (
            f"<{self.key} {self.dialect} {self.way} {self.size} result={self.result} floor={self.floor} id={self.id} "
            f"trace: {'; '.join(self.trace[-14:])}>"
        )

    # -- from the creation to the end ----------------------------------------------------------------------------------
    def run(self, seconds=300, until=None):
        """Goes on until there is a result, or until `until(self)` says that it is enough."""
        end = time.monotonic() + seconds
        while self.result is None and not (until and until(self)):
            if time.monotonic() > end:
                self.note("out of time")
                self.result = "late"
                break
            try:
                if self.concat == "final":
                    self.create_final()
                elif self.way == "concat":
                    self.run_parts(end)
                elif self.location is None:
                    self.create()
                elif self.offset is None:
                    self.retrieve()
                else:
                    self.append()
            except (Ended, OSError) as error:
                within = getattr(error, "within", None)
                self.note(f"lost: {getattr(error, 'how', '') or type(error).__name__}")
                if self.body_may_be_lost and within is not None and within.status == self.status:
                    self.note(
                        f"the answer {within.status} came with {len(within.body)} bytes of its body, and ended visibly"
                    )
                    self.body, self.result = within.body, "answered"
                    break
                self.offset = None
                self.resumptions += 1
                time.sleep(self.rng.uniform(0.005, 0.05) if isinstance(error, Ended) else 0.05)
        self.ended = time.monotonic()
        self.let_go()
        return self

    def let_go(self):
        for each in self.hung:
            each.close()
        self.hung.clear()

    def wire(self):
        return Wire(self.address() if callable(self.address) else self.address, self.patience, self.interim)

    def version(self):
        return (("Tus-Resumable", "1.0.0"),) if self.tus else (("Upload-Draft-Interop-Version", str(self.dialect)),)

    def completes(self, yes):
        if self.dialect == 3:
            return (("Upload-Incomplete", "?0" if yes else "?1"),)
        return (("Upload-Complete", "?1" if yes else "?0"),)

    def interim(self, status, fields):
        named = {name.lower(): value for name, value in fields}
        self.interims += 1
        if self.tus and status != 100:
            self.wrong(f"a {status} to tus")
        if status != 104:
            return
        if named.get("upload-draft-interop-version") != str(self.dialect):
            self.wrong(f"a 104 for version {named.get('upload-draft-interop-version')}")
        if "location" in named:
            self.locate(named["location"], "104")
        if "upload-offset" in named:
            if self.dialect in (3, 4):
                self.wrong("a progress 104 to a version that has none")
            self.told(number(named["upload-offset"]), "a 104")

    def locate(self, location, where):
        at = location.find("/", location.find("//") + 2) if "//" in location else 0
        if self.location not in (None, location[at:]):
            self.wrong(f"{where} names {location[at:]} after {self.location}")
        if self.location is None:
            self.note(f"located by {where}")
        self.location = location[at:]

    # -- creation ------------------------------------------------------------------------------------------------------
    def create(self):
        self.creations += 1
        self.reach, self.floor, self.trusted, self.durable = 0, 0, False, False
        fields = (("X-Test-Key", self.now_key),) + self.fields + self.version()
        first = 0
        if self.tus:
            length = (("Upload-Defer-Length", "1"),) if self.way == "deferred" else (("Upload-Length", str(self.size)),)
            fields += length + (("Upload-Metadata", "filename " + base64.b64encode(self.key.encode()).decode()),)
            if self.concat:
                fields += (("Upload-Concat", "partial"),)
            if self.way == "creation":
                first = (
                    self.size if self.rng.random() < self.all_at_creation else self.rng.randrange(self.size // 2 + 1)
                )
                fields += (("Content-Type", "application/offset+octet-stream"),)
            self.transfer("POST", self.path, fields, 0, first, whole=first == self.size)
            return
        if self.way in ("careful", "steps"):
            self.transfer(self.method, self.path, fields + self.completes(False) + self.length_field(), 0, 0)
        elif self.way in ("parts", "digests"):
            first = self.part(0)
            self.transfer(
                self.method,
                self.path,
                fields + self.completes(False) + self.length_field(),
                0,
                first,
                digest=self.way == "digests" and 6 <= self.dialect <= 8,
            )
        else:
            self.transfer(
                self.method, self.path, fields + self.completes(True), 0, self.size, whole=True, wait_for_url=True
            )

    def length_field(self):
        return (("Upload-Length", str(self.size)),) if self.dialect >= 6 and self.rng.random() < 0.7 else ()

    def part(self, offset):
        """Where the part that begins at `offset` ends. In `steps`: at `stop_at`, then at the end."""
        if self.way == "steps":
            return self.stop_at if offset < self.stop_at else self.size
        most = 4 * MIB if self.way in ("checksums", "digests") else max(64 * KIB, self.size // 2)
        return min(self.size, offset + self.rng.randint(min(most, 16 * KIB), most))

    # -- offsets, parts, the answer
    # --------------------------------------------------------------------------------------
    def retrieve(self):
        """HEAD; or, now and then, the highest offset ever told without asking (a 409 must then tell the right one)."""
        if self.floor and self.rng.random() < self.blind:
            self.offset, self.trusted = self.floor, False
            self.note(f"goes on at {self.floor} without asking")
            return
        with self.wire() as wire:
            override = self.tus and self.way == "override"
            wire.send(
                head(
                    self.location,
                    "POST" if override else "HEAD",
                    self.version()
                    + self.fields_of_each()
                    + ((("X-HTTP-Method-Override", "HEAD"), ("Content-Length", "0")) if override else ()),
                )
            )
            answer = wire.answer("HEAD")
        if answer.status in (200, 204):
            offset = number(answer.get("Upload-Offset"))
            if offset is None:
                return self.odd("HEAD", answer)
            self.told(offset, "HEAD")
            self.offset, self.trusted = offset, True
            if (
                self.tus
                and offset == self.size
                and not self.concat
                and not (self.way == "deferred" and not answer.get("Upload-Length"))
            ):
                self.fetch()
            elif self.tus and offset == self.size and self.concat:
                self.result = "stored"
        else:
            self.refused("HEAD", answer)

    def fields_of_each(self):
        return tuple((name, value) for name, value in self.fields if name in ("Authorization", "Cookie"))

    def append(self):
        start, end, extra, digest = self.offset, self.size, (), False
        if self.way in ("parts", "checksums", "digests", "deferred", "steps"):
            end = self.part(start)
        last = end == self.size
        if self.tus:
            extra = (("Content-Type", "application/offset+octet-stream"),)
            if self.way == "deferred" and (last or self.rng.random() < 0.3):
                extra += (("Upload-Length", str(self.size)),)
            if self.way == "checksums":
                name = self.rng.choice(["sha1", "sha1", "md5", "sha256"])
                value = base64.b64encode(self.hash(name, start, end).digest()).decode()
                extra += (("Upload-Checksum", f"{name} {value}"),)
        else:
            # Two ways to end in parts: the last one completes, or an empty one after it does.
            completing = last and not (self.way == "parts" and start < end and self.rng.random() < 0.3)
            extra = self.completes(completing)
            if self.dialect >= 6:
                extra += (("Content-Type", "application/partial-upload"),)
            elif self.rng.random() < 0.5:
                extra += (("Content-Type", "video/mp4"),)
            digest, last = self.way == "digests", completing
        method = "PATCH"
        if self.tus and self.way == "override":
            method, extra = "POST", extra + (("X-HTTP-Method-Override", "PATCH"),)
        self.transfer(
            method,
            self.location,
            self.version() + self.fields_of_each() + (("Upload-Offset", str(start)),) + extra,
            start,
            end,
            whole=last,
            digest=digest,
        )

    def hash(self, name, start, end):
        digest = hashlib.new(name)
        for piece in self.content.pieces(self.base + start, self.base + end):
            digest.update(piece)
        return digest

    def next_cut(self, start, end):
        """(where, how) this transfer is cut; None when it goes through."""
        if not self.cuts:
            return None
        where, how = self.cuts[0]
        if where <= start < self.size:
            where = start + self.rng.randint(1, max(1, (self.size - start) // 2))
        return (where, how) if start < where <= end else None

    def transfer(self, method, target, fields, start, end, whole=False, digest=False, wait_for_url=False):
        """One request with the bytes [start, end), cut where the plan has it, and what its answer means."""
        cut, creating = self.next_cut(start, end), method != "PATCH" and target == self.path
        self.began_at, self.begins_at = self.begins_at, None if creating else start
        stop = cut[0] if cut else end
        if digest:
            value = base64.b64encode(self.hash("sha256", start, end).digest()).decode()
            fields += (("Content-Digest", f"sha-256=:{value}:"),)
        chunked = self.way == "chunked" and end > start
        fields += (("Transfer-Encoding", "chunked"),) if chunked else (("Content-Length", str(end - start)),)
        if self.way == "expect" and creating:
            fields += (("Expect", "100-continue"),)
        if method == "PATCH" or "Override" in str(fields):
            self.note(f"{method} [{start}, {end}) whole={whole}")
        wire = self.wire()
        try:
            wire.send(head(target, method, fields))
            if wait_for_url:
                limit = time.monotonic() + 10
                while self.location is None and not wire.final:
                    left = limit - time.monotonic()
                    if left <= 0:
                        self.wrong("no 104 within 10 s of a creation")
                        break
                    wire.pump(left)
            if not wire.final:
                through = self.send(wire, start, stop, chunked)
                if through and chunked and stop == end:
                    wire.put(b"0\r\n\r\n")
                if through and cut:
                    return self.cut(wire, cut)
            answer = wire.answer(method)
        except (Ended, OSError):
            wire.close()
            raise
        finally:
            if wire not in self.hung:
                wire.close()
        self.judge(answer, method, creating, start, end, whole)

    def send(self, wire, start, stop, chunked):
        """True when everything up to `stop` has left."""
        at, begun = start, time.monotonic()

        def left(count):
            nonlocal at
            at += count
            self.sent += count
            self.reach = max(self.reach, min(at, self.size))

        step = MIB if not self.pace else max(1024, int(self.pace / 20))
        for piece in self.content.pieces(self.base + start, self.base + stop):
            for begin in range(0, len(piece), step):
                part = piece[begin : begin + step]
                if chunked:
                    wire.put(b"%x\r\n" % len(part))
                if not wire.put(part, left):
                    return at >= stop
                if chunked:
                    wire.put(b"\r\n")
                if self.pace:
                    ahead = (at - start) / self.pace - (time.monotonic() - begun)
                    if ahead > 0 and wire.pump(ahead):
                        return False
        return True

    def cut(self, wire, cut):
        where, how = cut
        self.cuts.pop(0)
        self.cuts_made.append(how)
        self.note(f"cut at {where} by {how}")
        self.offset = None
        self.resumptions += 1
        if how in ("hang", "half"):  # the old connection stays, and is taken over
            if how == "half":
                wire.settle()
                wire.finish()
            self.hung.append(wire)
            if len(self.hung) > 2:
                self.hung.pop(0).close()
        else:
            try:
                wire.pump()
            except Ended:
                pass
            wire.cut(how)

    # -- answers
    # -----------------------------------------------------------------------------------------------------------
    def judge(self, answer, method, creating, start, end, whole):
        offset = number(answer.get("Upload-Offset"))
        if creating and answer.status == 201:
            self.durable = True
        if (
            creating
            and answer.get("Location")
            and (self.tus or answer.get("X-Origin") is None)
            and answer.status in (201, 503, 507, 423)
        ):
            self.locate(answer.get("Location"), f"the {answer.status}")
        if answer.get("X-Origin") and not (self.tus and answer.get("Pawl-Origin-Status")):
            return self.finished(answer, offset, method)
        if answer.status in (201, 204):
            if self.tus and offset is None and creating:
                if start < end:  # stored, and the origin has not decided: the client asks at the URL
                    return self.note("created, undecided")
                offset = 0
            if offset is None:
                return self.odd(method, answer)
            self.told(offset, f"the {answer.status}")
            if offset != end:
                self.wrong(f"the {answer.status} to [{start}, {end}) told {offset}")
            self.offset, self.trusted = offset, True
            if self.tus and offset == self.size and whole:
                if self.concat:
                    self.result = "stored"
                elif answer.get("Pawl-Origin-Status") != str(self.status):
                    self.wrong(
                        f"a {answer.status} at the end with Pawl-Origin-Status {answer.get('Pawl-Origin-Status')}"
                    )
                else:
                    self.fetch()
            elif whole and not self.tus:
                self.wrong(f"a {answer.status} that is not the origin's to a request that completes")
            return
        self.refused(method, answer, start)

    def refused(self, method, answer, start=None):
        """Anything but success: what may be is waited for, what may not be is written down."""
        offset = number(answer.get("Upload-Offset"))
        self.refusals[answer.status] = self.refusals.get(answer.status, 0) + 1
        self.note(f"{answer.status} to {method} offset={offset} complete={self.complete(answer)}")
        self.offset = None
        if answer.get("X-Origin"):
            return self.finished(answer, offset, method)
        if offset is not None and answer.status in (409, 503, 507):
            self.told(offset, f"the {answer.status}")
        if answer.status == 409:
            if offset is None:
                if not self.tus:
                    self.odd(method, answer)
                elif self.trusted and self.began_at != start:
                    self.wrong(f"409 to an append at {start}, the offset announced before")
                self.overtaken += self.trusted
            elif self.trusted and offset > start == self.began_at:
                # The request that was cut before it stored anything: it may have been read after our HEAD.
                self.overtaken += 1
                self.offset = offset
            elif self.trusted:
                self.wrong(f"409 with {offset} to an append at {start}, the offset announced before")
            else:
                self.offset, self.trusted = offset, True
        elif answer.status == 502 and not self.tus and self.complete(answer):
            self.result, self.body = "unknown", answer.body
        elif answer.status == 404 and self.may_vanish and not self.durable and not self.floor:
            self.note("gone with the power, and no byte of it had been announced")
            self.location = None
        elif answer.status in (404, 410) and method != self.method:
            self.wrong(f"{answer.status} to {method}: the upload is gone")
            self.result = "gone"
        elif answer.status in (423, 429, 503, 507):
            if answer.get("Retry-After") is None:
                self.wrong(f"a {answer.status} without Retry-After")
            time.sleep(min(self.wait_at_most, float(answer.get("Retry-After") or 1)))
        else:
            self.odd(method, answer)

    wait_at_most, stop_at, all_at_creation, blind = 0.5, 0, 0.3, 0.12
    body_may_be_lost = False  # an origin that dies inside its answer
    may_vanish, durable = False, False  # a URL that only a 104 named need not survive a power cut

    def odd(self, method, answer):
        self.wrong(f"{method} was answered {answer.status} {answer.fields} {answer.body[:200]!r}")
        self.offset = None
        if len(self.violations) >= 4:
            self.result = "odd"
        time.sleep(0.1)

    def complete(self, answer):
        if self.dialect == 3:
            return answer.get("Upload-Incomplete") == "?0"
        return answer.get("Upload-Complete") == "?1"

    def finished(self, answer, offset, method):
        """The origin's own answer came through."""
        if not self.tus:
            consumed = answer.status not in (401, 429, 503)
            if self.complete(answer) != consumed:
                self.wrong(
                    f"the origin's {answer.status} came with completeness {answer.get('Upload-Complete')} "
                    f"{answer.get('Upload-Incomplete')}"
                )
            if offset != self.size:
                self.wrong(f"the origin's answer came with Upload-Offset {offset}")
            if not consumed:
                self.offset, self.trusted = self.size, True
                self.note(f"origin {answer.status}, not consumed")
                time.sleep(0.2)
                return
        self.body, self.result = answer.body, "answered" if answer.status == self.status else f"origin {answer.status}"
        if self.body_may_be_lost and not answer.body and answer.get("Proxy-Status"):
            return self.note(f"answered {answer.status} to {method} without its body")
        try:
            told = json.loads(answer.body.split(b"\n")[0])
            if (told["key"], told["count"], told["sha"]) != (self.now_key, self.size, self.content.sha256()):
                self.wrong(f"the origin's answer says {told}")
        except (ValueError, KeyError):
            self.wrong(f"not the origin's answer: {answer.status} {answer.fields} {answer.body[:200]!r}")
        self.note(f"answered {answer.status} to {method}")

    def fetch(self):
        """tus: the origin's answer has to be asked for."""
        with self.wire() as wire:
            wire.send(head(self.location, "GET", self.version() + self.fields_of_each()))
            answer = wire.answer("GET")
        if answer.get("X-Origin"):
            self.finished(answer, self.size, "GET")
        else:
            self.refused("GET", answer)

    def again(self):
        """Asks a second time for an answer that was given; the answer."""
        with self.wire() as wire:
            if self.tus:
                wire.send(head(self.location, "GET", self.version() + self.fields_of_each()))
                return wire.answer("GET")
            fields = (
                self.version() + self.completes(True) + (("Upload-Offset", str(self.size)), ("Content-Length", "0"))
            )
            if self.dialect >= 6:
                fields += (("Content-Type", "application/partial-upload"),)
            wire.send(head(self.location, "PATCH", fields + self.fields_of_each()))
            return wire.answer("PATCH")

    # -- tus concatenation
    # --------------------------------------------------------------------------------------------------
    def run_parts(self, end):
        """Three partial uploads one after the other, each cut as the plan has it, then the final one."""
        if not self.parts:
            bounds = [0, self.size // 3, 2 * self.size // 3, self.size]
            for i in range(3):
                cuts = [(where - bounds[i], how) for where, how in self.cuts if bounds[i] < where <= bounds[i + 1]]
                self.parts.append(
                    Upload(
                        self.address,
                        f"{self.key}-{i}",
                        bounds[i + 1] - bounds[i],
                        TUS,
                        "whole",
                        path=self.path,
                        cuts=cuts,
                        pace=self.pace,
                        base=bounds[i],
                        content=self.content,
                        concat="partial",
                        patience=self.patience,
                    )
                )
            self.cuts = []
        for part in self.parts:
            if part.result is None:
                part.run(max(1, end - time.monotonic()))
                self.violations += part.violations
                self.cuts_made += part.cuts_made
                self.resumptions += part.resumptions
                self.sent += part.sent
                if part.result != "stored":
                    self.note(f"part: {part!r}")
                    self.result = part.result
                    return
        self.reach = self.size
        self.concat, self.way = "final", "concat final"

    def create_final(self):
        if self.location is None:
            self.creations = 1  # the same parts joined again are the same upload
            names = " ".join(part.location for part in self.parts)
            fields = (
                (("X-Test-Key", self.now_key),)
                + self.fields
                + self.version()
                + (("Upload-Concat", f"final;{names}"), ("Content-Length", "0"))
            )
            with self.wire() as wire:
                wire.send(head(self.path, "POST", fields))
                answer = wire.answer("POST")
            if answer.status == 201 and answer.get("Location"):
                self.locate(answer.get("Location"), "the 201")
                if answer.get("Pawl-Origin-Status") != str(self.status):
                    self.wrong(f"a 201 to the final upload with Pawl-Origin-Status {answer.get('Pawl-Origin-Status')}")
            else:
                if answer.get("Location"):
                    self.locate(answer.get("Location"), f"the {answer.status}")
                self.refused("POST", answer)
        if self.location is not None:
            self.concat = None

    # ---------------------------------------------------------------------------------------------------------------------
    def until_complete(self):
        """For `run`: enough when every byte has been sent and told."""
        return self.floor >= self.size


def number(text):
    return int(text) if text and text.isdigit() else None


def dialects(rng):
    """One in three is tus; the interop versions share the rest."""
    return TUS if rng.random() < 0.33 else rng.randint(3, 10)


def way_for(dialect, rng):
    return rng.choice(WAYS["tus" if dialect == TUS else "ietf"])


def random_cuts(rng, size, least=1, most=20):
    """1 to 20 cuts at random bytes, each by a reset, a FIN, a half-close, or a connection that stays and is taken
    over."""
    hows = ["rst", "rst", "settled", "fin", "fin", "half", "hang"]
    return [
        (where, rng.choice(hows)) for where in sorted(rng.randint(1, size) for _ in range(rng.randint(least, most)))
    ]


class Listing:
    """What `pawl uploads list` shows, beside the running server or without one."""

    def __init__(self, pawl):
        done = subprocess.run(
            [binary(), "uploads", "list", "--json", "--config", str(pawl.file)],
            cwd=pawl.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        if done.returncode:
            raise AssertionError(
                f"pawl uploads list ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}"
            )
        self.rows = [json.loads(line) for line in done.stdout.splitlines() if line]
        self.by_id = {row["id"]: row for row in self.rows}

    def phase(self, upload):
        """Of an upload whose URL its client never learned (the final one of a concatenation): by its target."""
        if upload.location is not None:
            return self.by_id.get(upload.id, {}).get("state", "not listed")
        if not upload.parts:
            return "never located"
        states = [
            row["state"]
            for row in self.rows
            if row["target"] == upload.path and row["id"] not in {p.id for p in upload.parts}
        ]
        return states[0] if len(states) == 1 else f"not known: {states}"
