"""Plays a history of downloads: does its operations, batch by batch, and has each answer judged."""

import asyncio
import time

from . import reuse
from .bodies import Library
from .cacheorigin import CacheOrigin
from .judge import Judge
from .origin import Origin
from .protocols import pool
from .users import USERS
from .wire import Answer

RESOURCES = (
    ("a.test", "/p/0"),
    ("a.test", "/p/1"),
    ("a.test", "/p/1?x"),
    ("b.test", "/p/0"),
    ("a.test", "/error/0"),
    ("a.test", "/private/0"),
    ("a.test", "/ttl/0"),
    ("a.test", "/all/0"),
    ("a.test", "/plain/0"),
    ("a.test", "/text/0"),
    ("a.test", "/nostore/0"),
)
PRIVATE = {"resume-private": 3600, "owner": ("authorization", "cookie:sid")}
ROUTES = {  # by letter of the settings: what differs from the defaults, by the first part of the path
    "a": {
        "error": {"stale-if-error": 60},
        "private": PRIVATE,
        "nostore": {**PRIVATE, "resume-private-no-store": True},
        "ttl": {"default-ttl": 3600},
        "all": {"collapse": "always"},
        "plain": {"cookies": False},
    },
    "b": {
        "p": {"default-ttl": 30},
        "error": {},
        "private": {},
        "nostore": PRIVATE,
        "ttl": {"heuristic": 0, "resume-ttl": 0},
        "plain": {},
        "text": {"resume-ttl-no-cache": True},
    },
}
KEYS = {"resume-private": "{}s", "default-ttl": "{}s", "stale-if-error": "{}s", "resume-ttl": "{}s"}
LATE = 10


def sections(letter):
    """The sections of pawl's configuration for a letter."""
    found = {
        "cache:default": {"path": "cache", "min-free": "64M", "max-size": "24M" if letter == "b" else "80M"},
        "site:main": {"upstream": "app", "uploads": "off"},
    }
    for name, route in ROUTES[letter].items():
        keys = {"path": f"/{name}/*"}
        for key, value in route.items():
            if key == "owner":
                keys[key] = ", ".join(value)
            elif key == "cookies":
                keys["key-cookies"] = "none"
            elif key == "heuristic":
                keys["heuristic-ttl"] = "off"
            elif key == "resume-ttl" and value == 0:
                keys[key] = "0s"
            else:
                keys[key] = "on" if value is True else KEYS.get(key, "{}").format(value)
        found[f"route:main/{name}"] = keys
    return found


def settings_of(letter, target):
    return {**reuse.SETTINGS, **ROUTES[letter].get(target.split("/")[1], {})}


class Flood:
    """Bodies that fill the cache so that others are evicted."""

    def takes(self, request):
        return request.target.startswith("/flood/")

    async def answer(self, request, stream):
        head = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1048576\r\n\r\n"
        await stream.send(head + bytes(1 << 20))
        return True


class CachePlay:
    def __init__(self, subject_of, coverage, protocol="h1"):
        self.subject_of, self.coverage, self.protocol = subject_of, coverage, protocol
        self.seen, self.mine, self.number, self.floods = {}, {}, 0, 0
        self.letter, self.before = "a", None

    async def __aenter__(self):
        self.library = Library()
        self.cache = CacheOrigin(self.library, RESOURCES)
        self.judge = Judge(self.cache, self.coverage)
        self.origin = await Origin([self.cache, Flood()]).start()
        self.subject = self.subject_of(sections, f"http://127.0.0.1:{self.origin.port}")
        await self.subject.start()
        self.pool = pool(self.protocol, self.subject.address)
        return self

    async def __aexit__(self, *_):
        self.pool.close()
        code = await self.subject.end()
        await self.origin.stop()
        return code and False

    async def batch(self, operations):
        """Does the operations of a batch at once; returns what they broke."""
        before = len(self.judge.violations)
        events = [each for each in operations if each["op"] in ("kill", "restart", "reload")]
        if len(operations) == 1 and not events:
            await self.one(operations[0])
        else:
            await asyncio.gather(*(self.one(each) for each in operations))
        self.judge.note_told()
        if not self.subject.running():
            raise AssertionError(f"pawl ended by itself: {self.subject.log()[-3000:]}")
        return self.judge.violations[before:]

    async def settle(self):
        return []

    async def one(self, operation):
        self.coverage.count(operation["op"])
        await getattr(self, "do_" + operation["op"])(operation)

    # -- events --------------------------------------------------------------------------------------------------
    async def do_set(self, operation):
        changes = dict(operation["s"])
        for key in ("vary", "breaks"):
            if key in changes:
                changes[key] = tuple(tuple(each) if isinstance(each, list) else each for each in changes[key])
        if changes.pop("next", False):
            changes["v"] = self.cache.states[operation["r"]].v + 1
        self.cache.set(operation["r"], changes)

    async def do_pause(self, operation):
        await asyncio.sleep(operation["seconds"])

    async def do_down(self, operation):
        self.cache.down = operation["down"]
        self.cache.changed = [time.time()] * len(RESOURCES)

    async def disturb(self, work):
        span = [time.time(), float("inf")]
        self.judge.disturbed.append(span)
        await work
        span[1] = time.time()
        self.pool.close()
        self.pool = pool(self.protocol, self.subject.address)

    async def do_kill(self, operation):
        await asyncio.sleep(operation.get("after", 0))
        await self.disturb(self.subject.kill())

    async def do_restart(self, operation):
        await self.disturb(self.subject.restart())

    async def do_reload(self, operation):
        self.before = self.letter
        self.letter = operation["to"]
        await self.subject.reload(self.letter)
        self.before = None

    async def do_flood(self, operation):
        for _ in range(operation["count"]):
            self.floods += 1
            await self.pool.request("GET", f"/flood/{self.floods}", host="a.test")

    # -- requests ------------------------------------------------------------------------------------------------
    def fields(self, operation, number):
        fields = [("X-Request-Id", f"op-{number}"), *USERS[operation["u"]]]
        fields += [(name, value) for name, value in operation.get("f", ())]
        if "cc" in operation:
            fields.append(("Cache-Control", operation["cc"]))
        if "enc" in operation:
            fields.append(("Accept-Encoding", operation["enc"]))
        if "range" in operation:
            fields.append(("Range", "bytes=" + operation["range"]))
        if "if" in operation:
            found = self.condition(operation["r"], operation["u"], *operation["if"])
            if found:
                fields.append(found)
        return fields

    def condition(self, resource, user, kind, which):
        """A condition with validators that were seen before: `mine`, `last`, `old`, or `wrong`."""
        known = self.mine.get((resource, user)) if which == "mine" else None
        seen = self.seen.get(resource) or [('"none"', "Sat, 01 Jan 2000 00:00:00 GMT")]
        tag, date = known or seen[-1 if which == "last" else 0]
        if which == "wrong":
            tag, date = '"wrong"', "Sat, 01 Jan 2000 00:00:00 GMT"
        tag = tag or '"none"'
        if kind in ("If-Modified-Since", "If-Unmodified-Since") or kind == "If-Range-Date":
            return (kind.removesuffix("-Date"), date) if date else None
        if kind == "If-None-Match" and which == "old" and len(seen) > 1:
            tag = f"{tag}, {seen[-1][0] or tag}"
        return (kind, "*" if which == "star" else tag)

    def model(self, operation, method):
        self.number += 1
        host, target = RESOURCES[operation["r"]]
        unsure = settings_of(self.before, target) if self.before else None
        fields = self.fields(operation, self.number)
        made = reuse.Operation(
            self.number, operation["r"], method, operation["u"], fields, time.time(), settings_of(self.letter, target)
        )
        made.unsure = unsure
        self.judge.started(made)
        return made, host, target

    async def send(self, made, host, target, **how):
        letter = self.letter
        try:
            answer = await asyncio.wait_for(
                self.pool.request(made.method, target, made.fields, host=host, **how), timeout=LATE
            )
        except asyncio.TimeoutError:
            answer = Answer()
            answer.ended, answer.finished = "late", time.time()
        if letter != self.letter and made.unsure is None:
            made.unsure = settings_of(self.letter, target)
        return answer

    async def do_get(self, operation):
        made, host, target = self.model(operation, operation.get("m", "GET"))
        answer = await self.send(made, host, target, cut=operation.get("cut"))
        operation["_"] = made.number
        self.judge.judge(made, answer)
        self.tally(answer)
        if answer.status in (200, 206) and (answer.get("ETag") or answer.get("Last-Modified")):
            pair = (answer.get("ETag"), answer.get("Last-Modified"))
            self.mine[operation["r"], operation["u"]] = pair
            seen = self.seen.setdefault(operation["r"], [])
            if pair not in seen:
                seen.append(pair)
                del seen[:-3]

    async def do_unsafe(self, operation):
        made, host, target = self.model(operation, operation["m"])
        made.fields.append(("X-Then", operation.get("then", "")))
        made.names = None
        answer = await self.send(made, host, target, body=b"change")
        operation["_"] = made.number
        self.judge.unsafe_done(made, answer)

    def tally(self, answer):
        state = answer.get("Cache-Status") or ""
        if "; hit" in state:
            self.coverage.count("hits")
        elif "fwd=" in state:
            self.coverage.count("fwd-" + state.partition("fwd=")[2].split(";")[0])
        if "collapsed" in state:
            self.coverage.count("collapsed")
        if answer.status == 206:
            self.coverage.count("parts")
        if answer.status == 304:
            self.coverage.count("not-modified")
        if answer.status >= 500:
            self.coverage.count("errors")
        if answer.ended in ("fin", "rst"):
            self.coverage.count("cut-bodies")
