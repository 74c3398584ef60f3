"""What people were given in the cells of whose.py, against what they may be given: findings, and whether what is for
everybody was asked for once."""

import collections
import dataclasses
import random
import re

from . import certificates, reuse, transport, whose
from .reuse import Answer
from .whose import USERS, Cell, Got, page, pages_user


@dataclasses.dataclass
class Finding:
    what: str
    cell: Cell
    got: Got
    detail: str

    def __str__(self):
        return f"{self.what}: {self.detail} | {self.cell} | {self.got.user or 'nobody'} got {self.got.response}"


def judge(pages, cell, got):
    """Findings of one cell: what was given to somebody though it was made for somebody else, against what may be."""
    found = []
    for each in got:
        response = each.response
        if response.status not in (200, 206, 304):
            continue
        wrong = judge_fields(pages, cell, each) or judge_body(pages, cell, each)
        if wrong:
            found.append(Finding(*wrong[:1], cell, each, wrong[1]))
    return found


def judge_fields(pages, cell, got):
    response = got.response
    named = {name: response.get(name) for name in ("X-Answer", "Set-Cookie", "X-Foo")}
    cookie = (named["Set-Cookie"] or "").removeprefix("ask=")
    if cookie and int(cookie) != got.number:
        return "cookie", f"Set-Cookie of request {cookie}, this is {got.number}"
    if named["X-Answer"] is None:
        return None
    source = int(named["X-Answer"])
    if source == got.number:
        return None
    judged = brought(pages, cell, got, source)
    if (
        got.kind == "plain"
        and named["X-Foo"] == str(source)
        and any(m.answer.directives.get("private") for m in judged)
    ):
        return "private field", f"X-Foo of request {source}"
    reason = forbidden(pages, cell, got, source, judged)
    return reason and ("leak" if owner(pages, cell, source) != got.user else "unasked", reason)


def owner(pages, cell, number):
    return pages.made[cell.path, number][0].user if pages.made[cell.path, number] else None


def brought(pages, cell, got, source):
    """The origin's answers to request `source` by which `got` has to be judged."""
    made = pages.made[cell.path, source]
    if not any(m.broke for m in made):
        return made[-1:]
    # What was given before a body broke off was judged by the answer it came in.
    if not got.response.complete:
        return made[:1]
    # Everything came again before this was asked for: whatever it was, it is that now.
    is_renewed = made[-1].status == 200 and not made[-1].broke and made[-1].at <= pages.times[got.number]
    return made[-1:] if is_renewed else made


def forbidden(pages, cell, got, source, judged):
    """Why `got` may not be what was made for request `source`; None where it may."""
    own, later = pages.made[cell.path, got.number], pages.asks[got.number]
    usable = is_usable(cell, [m for m in judged if m is judged[0] or m.at <= pages.times[got.number]])
    for number, each in enumerate(judged):
        # His own he may have as what the parts of it say together (RFC 9111 3.4).
        is_own = each.user == got.user and each.status == 206
        reason = reuse.may_be_shared(
            together(judged[: number + 1]) if is_own else each.answer, each.asked, later, cell.settings
        )
        # The origin was asked for this request, and said that it is the same, or went on with it.
        was_confirmed = any(m.status in (304, 206) and m.tag == each.tag for m in own)
        if not reason and (usable or was_confirmed):
            continue
        if got.kind == "tag":
            is_minted = cell.validator != "strong" or (got.response.get("ETag") or "") != each.tag
            reason = reuse.may_open(each.answer, each.asked, later, cell.settings, is_minted)
        else:
            reason = reason or "not fresh"
        if reason:
            return f"of request {source} ({each.user or 'nobody'}), {reason}"
    return None


def together(made):
    """What these answers say, one after the other: fields of a later one replace those of the same name (RFC 9111
    3.4)."""
    last, names = made[-1].answer, {name for name, _ in made[-1].answer.fields}
    return Answer(
        last.fields + tuple(each for m in made[:-1] for each in m.answer.fields if each[0] not in names),
        last.status,
        last.date,
    )


def is_usable(cell, made):
    """Whether what these answers brought is fresh for who asks after the last, as that says by itself, with what was
    stored, or all do together."""
    return any(
        reuse.is_usable_unasked(each, cell.settings) for each in (together(made), made[-1].answer, made[-1].bare)
    )


def judge_body(pages, cell, got):
    body = got.response.body
    if not body:
        return None
    whose = pages_user(body) if got.response.status == 200 else part_user(cell, got.response)
    if whose is None:
        return "mixed", f"bytes of no single page: {body[:60]!r}"
    if cell.body == "neutral" or whose[0] == got.user:
        return None
    source = got.response.get("X-Answer")
    # The head names whose it is; a body of another one than its head is never right.
    if source is None or owner(pages, cell, int(source)) != whose[0]:
        return "mixed", f"head of request {source}, body of {whose[0] or 'nobody'}"
    return None


def part_user(cell, response):
    start = re.match(r"bytes (\d+)-", response.get("Content-Range") or "")
    if not start:
        return None
    for user in (*USERS, "everybody"):
        if response.body == page(user, cell.size)[int(start[1]) :][: len(response.body)]:
            return (user,)
    return None


def fetches(pages, cell, got):
    """How many requests the origin got for a cell all of whose users must share one; None where they need not."""
    if cell.body != "whole":
        return None
    plain = [each for each in got if each.kind == "plain"]
    made = [m for each in plain for m in pages.made[cell.path, each.number]]
    if not made or (cell.how == "at once" and cell.way not in ("key", "address")):
        return None
    # A body without a length is joined late only where its own fields say that it is fresh: it may be a live stream.
    if cell.how == "at once" and cell.framing == "chunked" and reuse.explicit_lifetime(made[0].answer) is None:
        return None
    asks = [pages.asks[each.number] for each in plain]
    if all(reuse.must_share(made[0].answer, one, other, cell.settings) for one in asks for other in asks):
        return len(made)
    return None


def sections(**more):
    """A route for each of the settings."""
    routes = {
        f"route:main/{name}": {"path": f"/{name}/*", **whose.settings_of(name), "client-certificate-field": "on"}
        for name in whose.ROUTES
    }
    return {"upstream": {"max-connections": "2048", "resume-attempts": "2"}, "extra": {**routes, **more}}


def in_clear(bench):
    """(pages, people) told apart by fields, over the bench's transport."""
    origin = bench.origin()
    pages = whose.Pages(origin)
    people = whose.People(bench.pawl(origin, name=f"whose{len(bench.pawls)}", **sections()), pages)
    bench.stack.callback(people.close)
    return pages, people


def with_certificates(bench):
    """(pages, people) who show certificates, but for the one without a name."""
    origin, clients, server = bench.origin(), certificates.authority("Authority of clients"), certificates.server()
    pairs = {name: clients.leaf(f"whose-{name}", (), subject=f"/CN={name}", client=True) for name in USERS if name}
    pages = whose.Pages(origin, pairs)
    section = {
        "certificate": str(server.certificate),
        "key": str(server.key),
        "client-ca": str(clients.file),
        "client-certificate": "optional",
    }
    pawl = bench.pawl(
        origin, name=f"whose{len(bench.pawls)}", listen={"tls": "main"}, **sections(**{"tls:main": section})
    )
    people = whose.People(pawl, pages, {name: presenting(pairs.get(name)) for name in USERS})
    bench.stack.callback(people.close)
    return pages, people


def presenting(pair):
    """A context that shows a pair, of its own: tickets of one name are not another's."""
    context = transport.client_context.__wrapped__()
    if pair:
        context.load_cert_chain(pair.certificate, pair.key)
    return context


class Outcome:
    """`found`: Findings; `shared`: origin requests for each cell that must have one; `whole`: how many answers were
    whole of `answers`."""

    def __init__(self, pages, results):
        self.cells, self.found, self.shared = len(results), [], {}
        for cell, got in results.items():
            self.found += judge(pages, cell, got)
            count = fetches(pages, cell, got)
            if count is not None:
                self.shared[cell] = count
        answers = [each.response for got in results.values() for each in got]
        self.answers, self.whole = (
            len(answers),
            sum(each.complete and each.status in (200, 206, 304) for each in answers),
        )

    @property
    def counts(self):
        return dict(collections.Counter(each.what for each in self.found))

    @property
    def unshared(self):
        return [f"{count} origin requests: {cell}" for cell, count in self.shared.items() if count != 1]


def run(pages, people, ways, how, rounds, seed):
    """All cells for these ways and one `how`, asked and judged."""
    cells, rng = whose.cells(seed, rounds, ways, how), random.Random(seed)
    pages.cells.update({cell.path: cell for cell in cells})
    return Outcome(
        pages, whose.at_once(people, pages, cells, rng) if how == "at once" else whose.in_turn(people, cells, rng)
    )
