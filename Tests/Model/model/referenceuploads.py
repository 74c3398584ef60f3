"""The uploads of the reference: every dialect, kept in memory that `crash` leaves as a disk would."""

import asyncio
import base64
import hashlib
import secrets

from . import dialects
from .origin import answer_head
from .uploadrules import JWT
from .uploadusers import USERS
from .wire import Ended

PREFIX = "/.reference/"
RETRIED = (401, 429, 503)


class Held:
    """One upload."""

    def __init__(self, request, version, user, length):
        self.request, self.version, self.user, self.length = request, version, user, length
        self.data, self.generation, self.complete, self.told, self.sent = bytearray(), 0, False, None, False
        self.partial, self.users, self.lock, self.synced = False, {user}, asyncio.Lock(), 0


class ReferenceUploads:
    def __init__(self, proxy):
        self.proxy, self.held = proxy, {}

    @property
    def planted(self):
        return self.proxy.planted

    def takes(self, request):
        return request.target.startswith(("/up/", PREFIX))

    def crash(self):
        for each in self.held.values():
            each.generation += 1
            each.lock = asyncio.Lock()
            if "lost-offset" in self.planted:
                del each.data[each.synced :]

    def go_on(self):
        for each in list(self.held.values()):
            if each.complete and each.told is None and not each.sent:
                asyncio.ensure_future(self.deliver(each))

    async def serve(self, request, stream):
        version = 0 if request.get("Tus-Resumable") else int(request.get("Upload-Draft-Interop-Version") or 10)
        user = USERS.index(request.get("Authorization"))
        try:
            if request.target.startswith("/up/"):
                return await self.create(request, stream, version, user)
            return await self.use(request, stream, version, user)
        except Ended:
            return False

    async def say(self, stream, status, fields=(), body=b""):
        fields = list(fields) + ([] if status in (204, 304) else [("Content-Length", str(len(body)))])
        await stream.send(answer_head(status, fields) + body)

    def state(self, held, version, done=False):
        fields = dialects.common(version) + [("Upload-Offset", str(len(held.data)))]
        if version:
            fields.append(dialects.completes(version, done))
        return fields

    async def create(self, request, stream, version, user):
        length = request.get("Upload-Length")
        count, done = int(request.get("Content-Length") or 0), dialects.said_complete(version, request)
        if done and length is None:
            length = count
        held = Held(request, version, user, int(length) if length is not None else None)
        url = PREFIX + secrets.token_hex(8)
        self.held[url] = held
        concat = request.get("Upload-Concat") or ""
        held.partial = concat == "partial"
        if concat.startswith("final;"):
            return await self.join(stream, held, url, concat[6:].split())
        if version:
            await stream.send(answer_head(104, dialects.common(version) + [("Location", url)]))
        return await self.receive(request, stream, held, version, user, count, done, [("Location", url)])

    async def join(self, stream, held, url, names):
        parts = [self.held.get(each) for each in names]
        if any(each is None or len(each.data) != each.length for each in parts):
            await self.say(stream, 400, dialects.common(0))
            return True
        if any(each.user != held.user for each in parts) and "foreign" not in self.planted:
            await self.say(stream, 404, dialects.common(0))
            return True
        for each in reversed(parts) if "join" in self.planted else parts:
            held.data += each.data
        held.length, held.complete = len(held.data), True
        asyncio.ensure_future(self.deliver(held))
        await self.say(stream, 201, dialects.common(0) + [("Location", url)])
        return True

    async def receive(self, request, stream, held, version, user, count, done, more=()):
        """Takes content, and delivers what is complete."""
        held.generation += 1
        mine, start = held.generation, len(held.data)
        held.users.add(user)

        def take(piece):
            if held.generation == mine or "takeover" in self.planted:
                held.data += piece

        check = request.get("Upload-Checksum") if version == 0 else None
        if check:
            whole = bytearray()
            await stream.exactly(count, whole.extend)
            right = base64.b64encode(hashlib.sha1(whole).digest()).decode() == check.split()[1]
            if not right and "checksum" not in self.planted:
                await self.say(stream, 460, dialects.common(0))
                return True
            take(whole)
        else:
            await stream.exactly(count, take)
        if held.generation != mine:
            return False
        full = held.length is not None and len(held.data) >= held.length
        finished = (version == 0 and full and not held.partial) or (version and done)
        if "unasked" in self.planted and version and full:
            finished = True
        if "beyond" in self.planted and len(held.data) > start + 10 and not finished:
            await self.say(stream, 201 if more else 204, [*more, *self.beyond(held, version)])
            return True
        if not finished:
            await self.say(stream, 201 if more else 204, [*more, *self.state(held, version)])
            return True
        held.complete = True
        await self.deliver(held)
        return await self.final(stream, held, version, more)

    def beyond(self, held, version):
        return [(n, str(len(held.data) + 1) if n == "Upload-Offset" else v) for n, v in self.state(held, version)]

    async def deliver(self, held):
        async with held.lock:
            while held.told is None and (not held.sent or "twice" in self.planted and held.sent < 3):
                drop = ("upload-", "tus-") if "fields" not in self.planted else ("upload-offset",)
                fields = [(n, v) for n, v in held.request.fields if not n.lower().startswith(drop)]
                fields = [(n, v) for n, v in fields if n.lower() not in ("host", "content-length")]
                body = bytes(held.data)
                if "bytes" in self.planted and len(body) > 64:
                    body = body[32:] + body[:32]
                held.sent += 1
                got = await self.proxy.pool.request(
                    held.request.method, held.request.target, fields, body, "a.test", fresh=True
                )
                if got.status in RETRIED:
                    held.sent = False
                    held.last = got
                    return
                if got.status:
                    held.told = got
                elif "half" in (held.request.get("X-Plan") or ""):
                    held.sent = False

    async def final(self, stream, held, version, more=()):
        told = held.told or getattr(held, "last", None)
        if "answer" in self.planted:
            told = next((each.told for each in self.held.values() if each.told), told)
        if told is None:
            await self.say(stream, 502, dialects.common(version))
            return True
        fields = [(n, v) for n, v in told.fields if n in ("X-Told", "Content-Type")]
        if not told.complete:  # cut for this client as well
            fields.append(("Content-Length", str(told.length)))
            await stream.send(answer_head(told.status, fields + self.state(held, version, True)) + told.body)
            return False
        if version == 0 and told.status < 300:
            await self.say(stream, 201 if more else 204, [*more, *fields, *self.state(held, version)])
            return True
        await self.say(stream, told.status, fields + self.state(held, version, held.told is not None), told.body)
        return True

    def mine(self, held, user):
        if held.user == 0 or user == held.user or "foreign" in self.planted:
            return True
        return bool(JWT.get(user)) and JWT.get(user) == JWT.get(held.user)

    async def use(self, request, stream, version, user):
        count, held = int(request.get("Content-Length") or 0), self.held.get(request.target)
        if held is None or not self.mine(held, user):
            await stream.exactly(count, lambda piece: None)
            await self.say(stream, 404)
            return True
        if request.method == "HEAD":
            held.generation += 1
            early = held.told is not None or "early" in self.planted and held.data
            await self.say(stream, 204, self.state(held, version, early))
            return True
        if request.method == "DELETE":
            held.generation += 1
            if "delete" not in self.planted:
                del self.held[request.target]
            await self.say(stream, 204, dialects.common(version))
            return True
        offset, done = int(request.get("Upload-Offset") or 0), dialects.said_complete(version, request)
        if held.complete:
            await stream.exactly(count, lambda piece: None)
            if offset != len(held.data) or count or not version:
                await self.say(stream, 409, self.state(held, version))
            elif held.user in JWT and user not in held.users and "answer-foreign" not in self.planted:
                await self.say(stream, 403, dialects.common(version))
            elif "repeat" in self.planted:
                await self.say(stream, 410, dialects.common(version))
            else:
                await self.deliver(held)
                return await self.final(stream, held, version)
            return True
        if offset != len(held.data) and "conflict" not in self.planted:
            await stream.exactly(count, lambda piece: None)
            await self.say(stream, 409, self.state(held, version))
            return True
        over = held.length is not None and offset + count > held.length
        if over or version and done and held.length is not None and offset + count != held.length:
            await stream.exactly(count, lambda piece: None)
            await self.say(stream, 400, self.state(held, version))
            return True
        return await self.receive(request, stream, held, version, user, count, done)
