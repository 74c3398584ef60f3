"""A small caching proxy with uploads, in this process: what the model is tried on. `planted` names the mistakes that it
makes on purpose."""

import asyncio
import hashlib
import time

from . import freshness, ranges
from .origin import Request, answer_head, read_body
from .referenceuploads import ReferenceUploads
from .wire import Answer, Ended, Pool, Stream

HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")


class Entry:
    """A stored answer."""

    def __init__(self, request, answer, body, time):
        self.request, self.fields, self.body, self.time = request, list(answer.fields), body, time
        self.status = 200

    def get(self, name, default=None):
        name = name.lower()
        found = [v for n, v in self.fields if n.lower() == name]
        return ", ".join(found) if found else default

    def merge(self, answer, now):
        fresh = {n.lower() for n, _ in answer.fields}
        self.fields = [(n, v) for n, v in self.fields if n.lower() not in fresh] + list(answer.fields)
        self.time = now


class Reference:
    """Has what `subject.PawlSubject` has."""

    def __init__(self, sections, origin, planted=()):
        self.target = ("127.0.0.1", int(origin.rpartition(":")[2]))
        self.planted, self.store, self.tasks = set(planted), {}, set()
        self.uploads = ReferenceUploads(self)

    async def start(self):
        self.pool = Pool(self.target)
        self.server = await asyncio.get_running_loop().create_server(lambda: Stream(self.serve), "127.0.0.1", 0)
        self.address = self.server.sockets[0].getsockname()[:2]

    async def kill(self):
        await self.end()
        self.uploads.crash()
        await self.start()
        self.uploads.go_on()

    restart = kill

    async def reload(self, settings):
        pass

    def running(self):
        return True

    def log(self):
        return ""

    async def end(self):
        self.server.close()
        tasks, self.tasks = self.tasks, set()
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.pool.close()

    async def serve(self, stream):
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                request = Request(*await stream.head())
                if self.uploads.takes(request):
                    if not await self.uploads.serve(request, stream):
                        break
                    continue
                await read_body(request, stream)
                status, fields, body, whole = await self.answer(request)
                fields = [(n, v) for n, v in fields if n.lower() not in HOP]
                length = len(body) if isinstance(body, bytes) else body
                if not whole:
                    await stream.send(answer_head(status, fields + [("Transfer-Encoding", "chunked")]))
                    await stream.send(b"%x\r\n" % len(body) + body)
                    break
                if status != 304:
                    fields.append(("Content-Length", str(length)))
                data = body if isinstance(body, bytes) and request.method != "HEAD" and status != 304 else b""
                await stream.send(answer_head(status, fields) + data)
            stream.close()
        except Ended:
            stream.close()
        except asyncio.CancelledError:
            stream.reset()
        finally:
            self.tasks.discard(asyncio.current_task())

    def key(self, request):
        host = "" if "host" in self.planted else request.get("Host")
        target = request.target.partition("?")[0] if "query" in self.planted else request.target
        return host, target

    async def forward(self, request, more=(), without=()):
        left = {"host", "content-length", *without}
        fields = [(n, v) for n, v in request.fields if n.lower() not in left] + list(more)
        work = self.pool.request(request.method, request.target, fields, bytes(request.body), request.get("Host"))
        try:
            return await asyncio.wait_for(work, 0.6)
        except asyncio.TimeoutError:
            return Answer()  # the origin stalls

    async def answer(self, request):
        """(status, fields, body or its length, whether the body is whole)."""
        key = self.key(request)
        if request.method not in ("GET", "HEAD"):
            got = await self.forward(request)
            if got.status and got.status < 400 and "invalidation" not in self.planted:
                self.store.pop(key, None)
            return self.through(got)
        asked = freshness.directives(request.get("Cache-Control"))
        entry = next((each for each in self.store.get(key, ()) if self.matches(each, request)), None)
        plain = not any(request.get(n) for n in ("If-Match", "If-Unmodified-Since"))
        if (
            entry is not None
            and plain
            and "no-cache" not in asked
            and "max-age" not in asked
            and "min-fresh" not in asked
        ):
            if self.fresh(entry):
                return self.hit(request, entry)
            got = None if "only-if-cached" in asked else await self.validated(request, entry)
            if got is not None:
                return got
        if "only-if-cached" in asked and "only-if-cached" not in self.planted:
            return 504, [], b"", True
        sent = time.time()
        got = await self.forward(request)
        if request.method == "GET" and got.status == 200:
            await self.complete(request, got)
            if got.complete and self.storable(request, got, asked):
                self.keep(key, Entry(request, got, got.body, sent))
        return self.through(got)

    def through(self, got):
        if not got.status:
            return 502, [], b"", True
        if got.complete:
            return got.status, got.fields, got.body if got.body or not got.length else got.length, True
        return got.status, got.fields, got.body, "short" in self.planted

    async def complete(self, request, got):
        """Fetches the rest of a body that broke off."""
        tag = got.get("ETag") or ""
        if got.complete or not got.length or not got.body or not tag.startswith('"') or request.get("Range"):
            return
        more = [("Range", f"bytes={len(got.body)}-")]
        if "splice" not in self.planted:
            more.append(("If-Range", tag))
        rest = await self.forward(request, more, ("if-none-match", "if-modified-since"))
        place = ranges.content_range(rest.get("Content-Range"))
        right = place == (len(got.body), got.length, got.length) and rest.get("ETag") == tag
        if rest.status == 206 and rest.complete and (right or "splice" in self.planted):
            if len(got.body) + len(rest.body) == got.length:
                got.body, got.complete = got.body + rest.body, True

    def keep(self, key, entry):
        if "tag" not in self.planted and not (entry.get("ETag") or "").startswith('"'):
            tag = '"ref-' + hashlib.sha256(entry.body).hexdigest()[:16] + '"'
            entry.fields = [(n, v) for n, v in entry.fields if n.lower() != "etag"] + [("ETag", tag)]
            entry.made = tag
        kept = [each for each in self.store.get(key, ()) if not self.matches(each, entry.request)]
        self.store[key] = [entry] + kept[:7]

    def storable(self, request, got, asked):
        control, planted = freshness.control(got), self.planted
        public = any(name in control for name in ("public", "s-maxage", "must-revalidate"))
        if "no-store" in control and "no-store" not in planted or "private" in control and "private" not in planted:
            return False
        if "no-cache" in control and "no-cache" not in planted or "*" in (got.get("Vary") or ""):
            return False
        if request.get("Authorization") and not public and "authorization" not in planted:
            return False
        if "no-store" in asked and "request-no-store" not in planted:
            return False
        if got.get("Set-Cookie") and "set-cookie" not in planted or got.get("Content-Encoding"):
            return False
        return freshness.explicit(Told(got, time.time())) is not None

    def matches(self, entry, request):
        if "vary" in self.planted:
            return True
        vary = freshness.split_list(entry.get("Vary") or "")
        return all(entry.request.get(name) == request.get(name) for name in vary)

    def fresh(self, entry):
        if "stale" in self.planted:
            return True
        return (freshness.explicit(entry) or 0) - 1 > freshness.oldest(entry, time.time()) - 2

    async def validated(self, request, entry):
        if not entry.get("ETag") or hasattr(entry, "made") or request.get("Range") or request.get("If-None-Match"):
            return None
        sent = time.time()
        got = await self.forward(request, [("If-None-Match", entry.get("ETag"))], ("if-modified-since",))
        if got.status != 304:
            return self.through(got) if got.status else None
        if "merge" not in self.planted:
            entry.merge(got, sent)
        return self.hit(request, entry)

    def hit(self, request, entry):
        fields = [(n, v) for n, v in entry.fields if n.lower() not in ("age", "accept-ranges", "cache-status")]
        if "age" not in self.planted:
            fields.append(("Age", str(int(freshness.youngest(entry, time.time())))))
        fields += [("Accept-Ranges", "bytes"), ("Cache-Status", "reference; hit")]
        none, tag = request.get("If-None-Match"), entry.get("ETag") or ""
        if none is not None:
            names = [each.strip().removeprefix("W/") for each in none.split(",")]
            if none == "*" or tag.removeprefix("W/") in names or "condition" in self.planted:
                return 304, fields, b"", True
        elif request.get("If-Modified-Since") and entry.get("Last-Modified"):
            if freshness.date(entry.get("Last-Modified")) <= freshness.date(request.get("If-Modified-Since")):
                return 304, fields, b"", True
        if request.method == "HEAD":
            return 200, fields, len(entry.body), True
        return self.part(request, entry, fields)

    def part(self, request, entry, fields):
        specs, condition = ranges.asked(request.get("Range")), request.get("If-Range")
        if condition is not None and "if-range" not in self.planted:
            tag = entry.get("ETag") or ""
            if condition != (tag if condition.startswith('"') else entry.get("Last-Modified")):
                specs = None
        if not specs or len(specs) != 1:
            return 200, fields, entry.body, True
        found = ranges.resolved(specs, len(entry.body))
        if not found:
            return 416, [("Content-Range", f"bytes */{len(entry.body)}")], b"", True
        start, end = found[0]
        body = entry.body[start:end]
        if "range" in self.planted and start:
            body = entry.body[start - 1 : end - 1]
        return 206, fields + [("Content-Range", f"bytes {start}-{end - 1}/{len(entry.body)}")], body, True


class Told:
    """An answer with the time at which it was got."""

    def __init__(self, answer, now):
        self.get, self.time, self.status = answer.get, now, answer.status
