"""The origin of downloads: a few resources whose state the history sets, and a record of everything it answered."""

import dataclasses
import email.utils
import gzip
import re
import time
import zlib

from .origin import answer_head, read_body, write_body
from .users import identity_of
from .wire import Ended, by_name

BASE = int(time.time()) - 200_000  # Last-Modified of version 0; each version is ten seconds younger


@dataclasses.dataclass
class State:
    """How a resource answers now."""

    v: int = 1  # version of the content
    length: int = 1000
    tag: str = "strong"  # strong, weak, none
    dated: bool = True  # has Last-Modified
    ranges: bool = True
    cc: str = "max-age=60"
    cdn: str = ""  # CDN-Cache-Control
    expires: int | None = None  # seconds from now
    age: int | None = None
    back: int = 0  # Date is so many seconds in the past
    vary: tuple = ()
    per_user: bool = False
    cookie: bool = False  # sets a cookie
    framing: str = "length"
    status: int = 200
    breaks: tuple = ()  # ((fraction, how), ...): one for each body from now on
    bump: bool = False  # the content changes as a body breaks off
    lie: str = ""  # see `CacheOrigin.lying`
    conditional: bool = True
    type: str = "application/octet-stream"
    coded: bool = False  # is compressed for those that accept it
    delay: int = 0  # milliseconds before the head
    pause: int = 0  # milliseconds amid the body


@dataclasses.dataclass
class Told:
    """An answer of the origin."""

    number: int
    operation: int | None
    resource: int
    method: str
    request: object
    status: int = 0
    fields: list = dataclasses.field(default_factory=list)
    representation: object = None
    coding: str = ""
    time: float = 0.0
    ended: float | None = None
    whole: bool = False
    broken: bool = False
    lied: bool = False
    span_sent: int = -1  # bytes before the break
    span: tuple = (0, 0)
    names: dict | None = None  # of `named`, for `get`
    named: list | None = None

    def get(self, name, default=None):
        if self.names is None or self.named is not self.fields:
            self.names, self.named = by_name(self.fields), self.fields
        return self.names.get(name.lower(), default)


def varied(name, value):
    """A request field as the variant of a body names it, so that the content depends on what Vary names."""
    value = (value or "").strip()
    return f"{name.lower()}={value}" if value else ""


def declares(state, field):
    """Whether an answer says that it depends on who asks, as far as that shows in the field."""
    said = state.cdn or state.cc
    if field in state.vary or re.search(r"private|no-store|no-cache", said):
        return True
    stated = re.search(r"max-age|public", said) or state.expires is not None
    return field == "Cookie" and not stated


class CacheOrigin:
    def __init__(self, library, resources):
        self.library, self.resources = library, resources  # index: (host, target)
        self.states = [State() for _ in resources]
        self.told, self.changed = [], [0.0] * len(resources)
        self.unsafe = [[] for _ in resources]  # (time, status) of unsafe requests
        self.index = {place: number for number, place in enumerate(resources)}
        self.down, self.lied_about = False, set()

    def takes(self, request):
        return self.place(request) is not None

    def place(self, request):
        return self.index.get((request.get("Host"), request.target))

    def set(self, number, changes):
        old, new = self.states[number], dataclasses.replace(self.states[number], **changes)
        lost = (old.cc and not new.cc) or (old.cdn and not new.cdn) or (old.expires is not None and new.expires is None)
        other = new.per_user and (old.cc, old.cdn, old.vary, old.expires) != (new.cc, new.cdn, new.vary, new.expires)
        if (
            (lost or other) and new.v == old.v
        ):  # others may get other content now, and a 304 cannot take a field away (RFC 9111 3.2): the content changes
            new = dataclasses.replace(new, v=old.v + 1)
        self.states[number] = new
        self.changed[number] = time.time()

    def representation(self, number, request):
        state = self.states[number]
        named = ",".join(filter(None, (varied(name, request.get(name)) for name in state.vary if name != "*")))
        user = 0
        if state.per_user:
            user = identity_of(request, lambda field: declares(state, field))
        return self.library.get(number, state.v, user, named, state.length)

    def tag(self, state, representation, coding=""):
        if state.tag == "none":
            return None
        text = f'"t{representation.number}{coding}"'
        return "W/" + text if state.tag == "weak" else text

    def modified(self, state):
        return BASE + 10 * state.v

    async def answer(self, request, stream):
        number = self.place(request)
        try:
            await read_body(request, stream)
        except Ended:
            return False
        state = self.states[number]
        if state.delay:
            import asyncio

            await asyncio.sleep(state.delay / 1000)
            state = self.states[number]
        told = Told(len(self.told), request.operation, number, request.method, request)
        self.told.append(told)
        told.time = time.time()
        if self.down or state.status == 0:
            told.ended = told.time
            stream.reset()
            return False
        if request.method not in ("GET", "HEAD"):
            return await self.change(number, state, told, stream)
        return await self.get(number, state, told, request, stream)

    async def change(self, number, state, told, stream):
        """An unsafe request: what it says in X-Then is done to the resource before the answer leaves."""
        wish = told.request.get("X-Then") or ""
        told.status = 500 if "fail" in wish else 204 if "empty" in wish else 200
        if "bump" in wish and told.status < 400:
            self.set(number, {"v": state.v + 1})
        self.unsafe[number].append((told.time, told.status))
        told.fields = [
            ("X-Answer", str(told.number)),
            ("Cache-Control", "no-store" if "store" in wish else "max-age=60"),
        ]
        body = b"" if told.status == 204 else b"done\n"
        if told.status != 204:
            told.fields.append(("Content-Length", str(len(body))))
        await stream.send(answer_head(told.status, told.fields) + body)
        told.ended, told.whole = time.time(), True
        return True

    def common(self, state, told, representation, coding):
        now = time.time()
        fields = [("Date", email.utils.formatdate(now - state.back, usegmt=True)), ("X-Answer", str(told.number))]
        tag = self.tag(state, representation, coding)
        if tag:
            fields.append(("ETag", tag))
        if state.dated:
            fields.append(("Last-Modified", email.utils.formatdate(self.modified(state), usegmt=True)))
        if state.cc:
            fields.append(("Cache-Control", state.cc))
        if state.cdn:
            fields.append(("CDN-Cache-Control", state.cdn))
        if state.expires is not None:
            fields.append(("Expires", email.utils.formatdate(now - state.back + state.expires, usegmt=True)))
        if state.age is not None:
            fields.append(("Age", str(state.age)))
        vary = list(state.vary) + (["Accept-Encoding"] if state.coded else [])
        if vary:
            fields.append(("Vary", ", ".join(vary)))
        if state.cookie:
            fields.append(("Set-Cookie", f"seen={told.number}"))
        return fields

    async def get(self, number, state, told, request, stream):
        representation = self.representation(number, request)
        coding = "gzip" if state.coded and "gzip" in (request.get("Accept-Encoding") or "") else ""
        data = representation.bytes() if state.status < 300 else b"trouble\n"
        if coding:
            data = gzip.compress(data, 1, mtime=0)
        told.representation, told.coding = representation, coding
        fields = self.common(state, told, representation, "z" if coding else "")
        tag, lm = self.tag(state, representation, "z" if coding else ""), self.modified(state)
        told.status = state.status
        if state.status == 200 and state.conditional and self.unchanged(request, tag, lm if state.dated else None):
            told.status, told.fields = 304, fields
            await stream.send(answer_head(304, fields))
            told.ended, told.whole = time.time(), True
            return True
        start, end = 0, len(data)
        if state.ranges and state.status == 200 and request.method == "GET":
            asked = self.asked(request, tag, lm if state.dated else None, len(data))
            if asked == "unsatisfiable":
                told.status, told.fields = 416, fields + [("Content-Range", f"bytes */{len(data)}")]
                await stream.send(answer_head(416, told.fields + [("Content-Length", "0")]))
                told.ended, told.whole = time.time(), True
                return True
            if asked:
                start, end = asked
                told.status = 206
                start, end, data, fields = self.lying(state, number, told, start, end, data, fields)
                fields = fields + [("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")]
        if state.ranges:
            fields.append(("Accept-Ranges", "bytes"))
        if state.status < 300:
            fields += [("Content-Type", state.type), ("X-Rep", str(told.representation.number))]
        if coding:
            fields.append(("Content-Encoding", coding))
        body, told.span = data[start:end], (start, end)
        framing = state.framing
        if framing == "length" or request.method == "HEAD":
            fields.append(("Content-Length", str(len(body))))
        elif framing == "chunked":
            fields.append(("Transfer-Encoding", "chunked"))
        else:
            fields.append(("Connection", "close"))
        told.fields = fields
        await stream.send(answer_head(told.status, fields))
        if request.method == "HEAD":
            told.ended, told.whole = time.time(), True
            return True
        return await self.send(number, state, told, stream, body, framing)

    async def send(self, number, state, told, stream, body, framing):
        broken = None
        if self.states[number].breaks and len(body) > 1 and told.status in (200, 206):
            first, *rest = self.states[number].breaks
            self.set(number, {"breaks": tuple(rest)})
            broken, told.broken = (int(len(body) * first[0]), first[1]), True
            told.span_sent = broken[0]
        if state.pause:
            import asyncio

            half = len(body) // 2 if not broken else broken[0] // 2
            if framing == "length" and half:
                await stream.send(body[:half])
                await asyncio.sleep(state.pause / 1000)
                body = body[half:]
                broken = (broken[0] - half, broken[1]) if broken else None
        if broken and state.bump:
            self.set(number, {"v": self.states[number].v + 1})
        lasts = await write_body(stream, body, framing, broken)
        told.ended, told.whole = time.time(), not broken
        return lasts

    def unchanged(self, request, tag, lm):
        none, since = request.get("If-None-Match"), request.get("If-Modified-Since")
        if none is not None:
            bare = lambda text: text.strip().removeprefix("W/")
            return none.strip() == "*" or (tag and bare(tag) in [bare(each) for each in none.split(",")])
        if since is not None and lm is not None:
            parsed = email.utils.parsedate_to_datetime(since)
            return parsed is not None and lm <= parsed.timestamp()
        return False

    def asked(self, request, tag, lm, length):
        """(start, end) of the one range that is asked for, `unsatisfiable`, or None."""
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", request.get("Range") or "")
        if not found or found.group(0) == "bytes=-":
            return None
        condition = request.get("If-Range")
        if condition is not None:
            if condition.startswith(('"', "W/")):
                if condition != tag or condition.startswith("W/"):
                    return None
            elif lm is None or email.utils.formatdate(lm, usegmt=True) != condition:
                return None
        first, last = found.groups()
        if not first:
            count = min(int(last), length)
            return (length - count, length) if count else "unsatisfiable"
        start, end = int(first), min(int(last) + 1 if last else length, length)
        if start >= length or (last and int(last) < start):
            return "unsatisfiable" if start >= length else None
        return start, end

    def lying(self, state, number, told, start, end, data, fields):
        """A 206 that is not what was asked for: `other`: of a new version with its own validators; `shift`: another
        place, which it admits; `total`: another total length."""
        if state.lie not in ("other", "shift", "total"):
            return start, end, data, fields
        told.lied = True
        if state.lie == "other":
            self.set(number, {"v": state.v + 1})
            told.representation = self.representation(number, told.request)
            data = told.representation.bytes()
            fields = self.common(self.states[number], told, told.representation, "")
        elif state.lie == "shift" and start + 32 < end:
            start += 32
        elif state.lie == "total":
            data = data + b"x" * 7
            self.lied_about.add(told.representation)
        return start, end, data, fields


def opened(data):
    """gzip as far as it goes: (bytes, whether it is whole)."""
    reader = zlib.decompressobj(31)
    try:
        plain = reader.decompress(data)
    except zlib.error:
        return None, False
    return plain, reader.eof
