"""Whose answer it was: cells of a large table, an origin that writes on each answer for which request it made it, and
who got what.

A cell is a path of its own with one way of telling users apart, one value of freshness and so on. Three users and one
without a name ask for it, at once or in turn. Every request carries a number (`X-Ask`), every answer names the user and
the number it was made for; reuse.py says which of them others may have been given.
"""

import base64
import collections
import dataclasses
import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from . import reuse
from .client import Client
from .origin import Break, Resource, http_date
from .reuse import Answer, Asked, Settings

# What tells users apart, and the field that the origin sees it in.
WAYS = {
    "key": "X-Api-Key",
    "cookie": "Cookie",
    "authorization": "Authorization",
    "certificate": "Client-Cert",
    "address": "X-Forwarded-For",
}
ADDRESSES = {"ann": "127.0.0.2", "bob": "127.0.0.3", "eve": "127.0.0.4", None: "127.0.0.1"}
USERS = ("ann", "bob", "eve", None)
ROUTES = {
    "plain": Settings(),
    "ttl": Settings(default_ttl=60),
    "private": Settings(resume_private=60),
    "both": Settings(default_ttl=60, resume_private=60),
}
VALUES = [(name, fields) for name, fields, _ in reuse.table()]
SIMPLE = (("plain", "none"), ("ttl", "none"), ("plain", "old"))  # route and validator
OLD = 1_780_000_000
# How long nothing may have come any more before all requests of a step are taken for underway.
QUIET = 0.06


def settings_of(route):
    """A route's keys as reuse.py has them, in the configuration's words."""
    given = ROUTES[route]
    return {
        **({"default-ttl": f"{given.default_ttl}s"} if given.default_ttl else {}),
        "resume-private": f"{given.resume_private}s" if given.resume_private else "off",
    }


@dataclasses.dataclass(frozen=True)
class Cell:
    number: int
    way: str
    route: str
    value: int  # which of VALUES
    validator: str  # none, strong, weak, old
    vary: str | None
    sets_cookie: bool
    body: str  # whole; break: the first answer breaks off in its middle; neutral: the same for all users, with 304s
    second: int | None  # of VALUES: what an answer says that continues, replaces or confirms another one
    second_vary: str | None
    tells_user: bool  # the users' requests have X-User
    size: int
    framing: str
    how: str  # at once, in turn

    @property
    def path(self):
        return f"/{self.route}/{self.number}"

    @property
    def settings(self):
        return dataclasses.replace(ROUTES[self.route], certificate_field=True)

    def __str__(self):
        name = lambda value: "-" if value is None else VALUES[value][0]
        words = [
            self.how,
            self.way,
            name(self.value),
            f"validator {self.validator}",
            f"Vary {self.vary or '-'}",
            f"settings {self.route}",
            self.body,
        ]
        words += ["Set-Cookie"] if self.sets_cookie else []
        words += [f"then {name(self.second)}, Vary {self.second_vary or '-'}"] if self.second is not None else []
        words += ["X-User"] if self.tells_user else []
        return f"{self.path}: " + "; ".join(words) + f"; {self.size} bytes, {self.framing}"


def cells(seed, rounds, ways, how):
    """`rounds` cells for each way and value, the rest of each drawn."""
    rng, made = random.Random(seed), []
    for way in ways:
        for value in range(len(VALUES)):
            for turn in range(rounds):
                # The first of each are as simple as can be, with each source of freshness: what must be shared is seen
                # there.
                simple = turn < len(SIMPLE)
                body = "whole" if simple else rng.choice(("whole", "whole", "break", "neutral"))
                varies = (None, None, WAYS[way], "Cookie", "Authorization", "X-User", "*")
                second = (
                    None
                    if body == "whole"
                    else rng.choice((value, rng.randrange(len(VALUES)), rng.randrange(len(VALUES))))
                )
                made.append(
                    Cell(
                        len(made),
                        way,
                        SIMPLE[turn][0] if simple else rng.choice(tuple(ROUTES)),
                        value,
                        SIMPLE[turn][1]
                        if simple
                        else rng.choice(("none", "strong", "weak", "old")[body == "neutral" :]),
                        None if simple else rng.choice(varies),
                        not simple and rng.random() < 0.25,
                        body,
                        second,
                        None if second is None else rng.choice(varies),
                        not simple and rng.random() < 0.5,
                        rng.choice((900, 900, 40_000)),
                        rng.choice(("length", "length", "chunked")),
                        how,
                    )
                )
    return made


def page(user, size):
    """The body made for a user: his name in every line."""
    line = f"this is for {user or 'nobody'}\n"
    return (line * (size // len(line) + 1)).encode()[:size]


def pages_user(body):
    """Whose page it is a beginning of: (user,), or None for bytes of several or of none."""
    for user in (*USERS, "everybody"):
        if body == page(user, len(body)):
            return (user,)
    return None


@dataclasses.dataclass
class Made:
    """An answer of the origin as it went to pawl."""

    answer: Answer  # of a 304 with what was stored at first, where it does not say
    bare: Answer  # as it came
    asked: Asked
    user: str | None
    status: int
    tag: str | None
    broke: bool
    at: float  # when, by the monotonic clock


class Pages:
    """The origin's side: what each cell answers, and to whom it did."""

    def __init__(self, origin, certificates=()):
        self.origin, self.cells = origin, {}
        self.names = {f":{base64.b64encode(pair.der()).decode()}:": name for name, pair in dict(certificates).items()}
        self.made = collections.defaultdict(list)  # (path, number of the asker): what the origin made for it, in order
        self.asks, self.times = {}, {}  # number: what was asked, and when
        self.lock, self.coming, self.came = threading.Condition(), 0, 0
        self.heads, self.bodies = threading.Event(), threading.Event()
        self.heads.set()
        self.bodies.set()
        origin.default = self.answer

    def who(self, request, way):
        said = request.get(WAYS[way]) or ""
        if way == "certificate":
            return self.names.get(said)
        if way == "address":
            return next((name for name, address in ADDRESSES.items() if address == said), "a forger")
        return said.rpartition("=")[2].rpartition(" ")[2] or None

    def answer(self, request):
        cell = self.cells[request.path]
        with self.lock:
            self.came += 1
            self.lock.notify_all()
        if cell.how == "at once":
            self.heads.wait(10)
        user, number = self.who(request, cell.way), int(request.get("X-Ask") or 0)
        made = self.made[cell.path, number]
        whose = "everybody" if cell.body == "neutral" else user
        content = page(whose, cell.size)
        tag, modified = self.validators(cell, whose)
        asks = request.get("If-None-Match")
        confirms = bool(asks == tag if asks else modified and request.get("If-Modified-Since") == modified)
        is_later = cell.second is not None and (bool(made) or confirms)
        fields = list(VALUES[cell.second if is_later else cell.value][1])
        if vary := cell.second_vary if is_later else cell.vary:
            fields.append(("Vary", vary))
        if cell.sets_cookie:
            fields.append(("Set-Cookie", f"ask={number}"))
        fields += [("X-Answer", str(number)), ("X-Whose", user or "nobody"), ("X-Foo", str(number))]
        breaks = None
        if cell.body == "break" and request.serial == 0:
            breaks = lambda start, end: Break(cell.size // 2)
        now = time.time()
        # Of a 304 only what it has replaces what was stored (RFC 9111 3.2).
        names = {name for name, _ in fields}
        stored = list(VALUES[cell.value][1]) + ([("Vary", cell.vary)] if cell.vary else [])
        said = fields + ([each for each in stored if each[0] not in names] if confirms else [])
        identity = ([("ETag", tag)] if tag else []) + ([("Last-Modified", modified)] if modified else [])
        asked = Asked(tuple((name.lower(), value) for name, value in request.fields))
        gates = ((cell.size // 2, self.bodies),) if cell.how == "at once" else ()
        resource = Resource(
            content,
            ranges=cell.validator == "strong",
            etag=tag,
            last_modified=modified,
            framing=cell.framing,
            type="text/plain",
            fields=tuple(fields),
            breaks=breaks,
            gates=gates,
            conditional=False,
            status=304 if confirms else None,
        )
        part = resource.ranges and not confirms and re.fullmatch(r"bytes=(\d+)-\d*", request.get("Range") or "")
        status = 304 if confirms else 206 if part and request.get("If-Range") in (None, tag) else 200
        with self.lock:
            made.append(
                Made(
                    *(Answer(tuple(each + identity), 200, now) for each in (said, fields)),
                    asked,
                    user,
                    status,
                    tag,
                    breaks is not None,
                    time.monotonic(),
                )
            )
        return resource

    @staticmethod
    def validators(cell, whose):
        tag = {"strong": f'"{cell.number}-{whose or "nobody"}"', "weak": f'W/"{cell.number}-{whose or "nobody"}"'}.get(
            cell.validator
        )
        turn = (*USERS, "everybody").index(whose)
        return tag, http_date(OLD + 3600 * turn) if cell.validator == "old" else None

    def settled(self):
        """Waits until no request has come for a moment."""
        end = time.monotonic() + 5
        with self.lock:
            before = None
            while before != self.came and time.monotonic() < end:
                before = self.came
                self.lock.wait_for(lambda: self.came != before, QUIET)


@dataclasses.dataclass
class Got:
    """What a client was given."""

    number: int
    user: str | None
    response: object
    kind: str = "plain"  # plain, tag: a range by the tag of another's answer


class People:
    """The clients: one name each, connections that stay open."""

    def __init__(self, pawl, pages, contexts=None):
        self.pawl, self.pages, self.contexts = pawl, pages, contexts
        self.idle, self.numbers, self.lock = collections.defaultdict(list), 0, threading.Lock()

    def fields(self, cell, user):
        told = [("X-User", user)] if cell.tells_user and user else []
        if cell.way == "address":
            # What a stranger says of addresses counts for nothing.
            return told + [("X-Forwarded-For", ADDRESSES[USERS[USERS.index(user) - 1]])]
        if user and cell.way != "certificate":
            value = {"key": user, "cookie": f"session={user}", "authorization": f"Bearer {user}"}[cell.way]
            told.append((WAYS[cell.way], value))
        return told

    def connection(self, cell, user):
        key = self.key(cell, user)
        with self.lock:
            if self.idle[key]:
                return self.idle[key].pop()
        how = {} if self.contexts is None else {"over": "tls", "context": self.contexts[user]}
        return Client(self.pawl.address, 15, source=ADDRESSES[user] if cell.way == "address" else None, **how)

    def key(self, cell, user):
        """Whose connections may be used."""
        return user if self.contexts or cell.way == "address" else "anybody"

    def ask(self, cell, user, more=(), kind="plain"):
        """Sends a request; what it returns is for `take`."""
        with self.lock:
            self.numbers += 1
            number = self.numbers
        fields = self.fields(cell, user) + list(more)
        seen = [(name.lower(), value) for name, value in fields if name != "X-Forwarded-For"]
        seen += [("x-forwarded-for", ADDRESSES[user if cell.way == "address" else None])]
        self.pages.asks[number] = Asked(tuple(seen) + self.certificate(user))
        client = self.connection(cell, user)
        self.pages.times[number] = time.monotonic()
        client.request(cell.path, fields=fields + [("X-Ask", str(number))])
        return cell, user, number, client, kind

    def certificate(self, user):
        name = next((value for value, name in self.pages.names.items() if name == user), None)
        return (("client-cert", name),) if name else ()

    def take(self, begun):
        cell, user, number, client, kind = begun
        response = client.response()
        if (
            response.ended == "message"
            and response.framing in ("length", "chunked", "none")
            and (response.get("Connection") or "").lower() != "close"
        ):
            with self.lock:
                self.idle[self.key(cell, user)].append(client)
        else:
            client.close()
        return Got(number, user, response, kind)

    def close(self):
        for clients in self.idle.values():
            for client in clients:
                client.close()


def at_once(people, pages, cell_list, rng, width=40):
    """Per cell two ask together while the origin thinks, two more while its answer is on the way; what is the same for
    all has been asked for once before. {cell: what they got}"""
    results = {}
    for at in range(0, len(cell_list), width):
        batch = cell_list[at : at + width]
        begun = [people.ask(cell, rng.choice(USERS)) for cell in batch if cell.body == "neutral"]
        results |= {each[0]: [people.take(each)] for each in begun}
        begun.clear()
        pages.heads.clear()
        pages.bodies.clear()
        orders = {cell: rng.sample(USERS, len(USERS)) for cell in batch}
        for turn in range(len(USERS)):
            begun += [people.ask(cell, orders[cell][turn]) for cell in batch]
            if turn == 1:
                pages.settled()
                pages.heads.set()
                pages.settled()
        pages.settled()
        pages.bodies.set()
        for each in begun:
            results.setdefault(each[0], []).append(people.take(each))
        for cell in batch:
            results[cell] += by_tag(people, cell, results[cell])
    return results


def in_turn(people, cell_list, rng, threads=4):
    """All of them one after the other, twice, and with the tag each was given. {cell: what they got}"""
    orders = {cell: rng.sample(USERS, len(USERS)) + rng.sample(USERS, len(USERS)) for cell in cell_list}

    def one(cell):
        got = [people.take(people.ask(cell, user)) for user in orders[cell]]
        if cell.body == "neutral":
            for user in orders[cell][:4]:
                tag = next((each.response.get("ETag") for each in got if each.user == user), None)
                if tag:
                    got.append(people.take(people.ask(cell, user, (("If-None-Match", tag),))))
            got += [people.take(people.ask(cell, user)) for user in orders[cell][4:]]
        return cell, got + by_tag(people, cell, got)

    with ThreadPoolExecutor(threads) as pool:
        return dict(pool.map(one, cell_list))


def by_tag(people, cell, got):
    """Each asks for the second half of what somebody else was given, by its tag."""
    if ROUTES[cell.route].resume_private == 0:
        return []
    answered = {each.user: each for each in got if each.response.status == 200 and each.response.get("ETag")}
    names = [user for user in USERS if user in answered]
    return [
        people.take(
            people.ask(
                cell,
                user,
                (("Range", f"bytes={cell.size // 2}-"), ("If-Range", answered[other].response.get("ETag"))),
                "tag",
            )
        )
        for user, other in zip(names, names[1:] + names[:1])
        if len(names) > 1
    ]
