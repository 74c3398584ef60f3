"""Content that changes between two connections of the origin: 10,000 small cases, 0 mixed bodies.

The length is kept or not; a byte changes before the break and others behind it, or only behind it; what tells the
versions apart is an honest new tag, a weak tag, a date, nothing; a 206 starts elsewhere or has another total. Every
such client sees a broken transfer; where nothing identifies the content and only bytes behind the break differ, the
whole second body is right too. A strong tag that stays while the content changes is tried on bodies of 2 MiB and more,
where an overlap is asked for again.
"""

import random
import threading

from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource
from scenarios import in_threads

OLD, NEW = "Sat, 01 Aug 2026 10:00:00 GMT", "Sun, 02 Aug 2026 10:00:00 GMT"
IDENTITIES = {  # (first answer, later answers, whether something a proxy may trust tells the versions apart)
    "new tag": (dict(ranges=True, etag='"1"'), dict(ranges=True, etag='"2"'), True),
    "new tag, no ranges": (dict(etag='"1"'), dict(etag='"2"'), True),
    "new weak tag": (dict(ranges=True, etag='W/"1"'), dict(ranges=True, etag='W/"2"'), True),
    "same weak tag": (dict(ranges=True, etag='W/"1"'), dict(ranges=True, etag='W/"1"'), False),
    "new date": (dict(ranges=True, last_modified=OLD), dict(ranges=True, last_modified=NEW), True),
    "new date, no ranges": (dict(last_modified=OLD), dict(last_modified=NEW), True),
    "fresh date": (dict(ranges=True, last_modified="fresh"), dict(ranges=True, last_modified="fresh"), False),
    "nothing": ({}, {}, False),
    "nothing, ranges": (dict(ranges=True), dict(ranges=True), False),
}
LIES = [
    "starts elsewhere",
    "starts a little before",
    "another total",
    "another tag",
    "same tag, changed near the break",
]


def make(rng, i):
    """(what, first version, second version, first resource, later resource, may the second body be whole)"""
    size = rng.randrange(20_000, 300_000)
    cut = rng.randrange(1, size)
    first = Content(f"changed{i}", size)
    kept = rng.random() < 0.5
    common = dict(
        framing=rng.choice(["length", "length", "chunked"]),
        fields=(("Cache-Control", "max-age=600" if kept else "no-store"),),
    )
    how = rng.choice(["rst", "fin"])
    if rng.random() < 0.25:
        what = rng.choice(LIES)
        if what == LIES[-1]:
            size = rng.randrange(2 << 20, 4 << 20)
            cut, first = rng.randrange(100_000, size), Content(f"changed{i}", size)
        second, lie = first, {}
        if what == "starts elsewhere":
            at = rng.randrange(0, size - 1)
            lie = dict(start=at, body=at) if rng.random() < 0.5 else dict(body=at)
        elif what == "starts a little before":
            lie = dict(body=max(0, cut - rng.randrange(1, 9000)))
        elif what == "another total":
            lie = dict(total=size + rng.choice([-1, 1, 1000]))
        elif what == "another tag":
            second, lie = first.changed(0, size - 1), dict(tag='"2"')
        else:
            second = first.changed(cut - rng.randrange(1, 500), *rng.sample(range(cut, size), min(3, size - cut)))
        return (
            what,
            cut,
            first,
            second,
            Resource(first, ranges=True, etag='"1"', breaks=lambda s, e: Break(cut, how), **common),
            Resource(second, ranges=True, etag='"1"', lie=lie, **common),
            "lie",
        )
    name = rng.choice(list(IDENTITIES))
    one, later, told = IDENTITIES[name]
    kind = rng.choice(["before and behind", "before and behind", "before", "behind", "longer", "shorter"])
    behind = rng.sample(range(cut, size), min(3, size - cut))
    if kind in ("before and behind", "before"):
        second = first.changed(rng.randrange(cut), *(behind if kind != "before" else ()))
    elif kind == "behind":
        second = first.changed(*behind)
    else:
        second = Content(
            f"changed{i}", size + rng.choice([1, 777]) if kind == "longer" else size - 1 if size - 1 > cut else size + 1
        )
    free = kind in ("behind", "longer", "shorter") and not told
    if kind in ("longer", "shorter") and common["framing"] == "length":
        free = False
    return (
        f"{name}, {kind}",
        cut,
        first,
        second,
        Resource(first, breaks=lambda s, e: Break(cut, how), **one, **common),
        Resource(second, **later, **common),
        "either" if free else "broken",
    )


def run(scenario):
    rng = random.Random(3)
    count = 600 if scenario.quick else 10_000
    origin = scenario.bench.origin()
    pawl = scenario.bench.pawl(origin, upstream={"resume-attempts": 2, "idle-timeout": "5s", "max-connections": 256})
    mixed = {}
    lock, seen = threading.Lock(), {"mixed": 0, "broken": 0, "whole second": 0, "whole first": 0, "wrong": 0}
    seeds = [(i, rng.random()) for i in range(count)]

    def one(job):
        i, seed = job
        what, cut, first, second, early, late, allowed = make(random.Random(seed), i)
        path = f"/{i}"
        origin.at(path, lambda r: early if r.serial == 0 else late)
        answer = get(pawl.address, path, timeout=30)
        body = answer.body
        if answer.complete and answer.status == 200:
            verdict = "whole first" if body == first.read() else "whole second" if body == second.read() else "mixed"
        elif answer.status == 200:
            verdict = (
                "broken"
                if body == first.read(0, len(body)) or (allowed == "either" and body == second.read(0, len(body)))
                else "mixed"
            )
        else:
            verdict = "wrong"
        good = (
            verdict == "broken"
            or (allowed == "either" and verdict == "whole second")
            or (allowed == "lie" and verdict == "whole first" and what != "another tag" and first is second)
        )
        with lock:
            seen[verdict] += 1
            if verdict == "mixed":
                kind = f"{what}, {early.framing}"
                mixed[kind] = mixed.get(kind, 0) + 1
            scenario.require(good, f"/{i} {what}, cut at {cut} of {first.size}: {verdict}; {answer}; {origin.of(path)}")
        del origin.resources[path]
        with origin.lock:
            origin.requests[:] = (
                [r for r in origin.requests if r.path != path] if len(origin.requests) > 2000 else origin.requests
            )

    in_threads(12, seeds, one)
    scenario.figure("cases", sum(seen.values()), count, at_least=True)
    scenario.figure("bodies that mix two versions", seen["mixed"], 0)
    for kind in sorted(mixed):
        scenario.note(f"mixed: {mixed[kind]} of {kind}")
    scenario.figure("broken transfers seen", seen["broken"])
    scenario.figure("whole second bodies where that is right", seen["whole second"])
    scenario.figure("whole first bodies after a 206 that lied about the same content", seen["whole first"])
    scenario.figure("answers that were neither", seen["wrong"], 0)
