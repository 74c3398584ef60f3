"""Two and three nodes whose bodies break 200 times each: equal bytes come whole, those that change are never mixed.

What the nodes say of their bytes is a strong tag of each one's own, one strong tag, weak tags, dates or nothing; the
body is kept or not. A break is at a random place of a random connection: reset, ended, silent, or the node is gone for
a second and refuses. Where bytes change in the middle of a transfer, at the node that began it alone, the others still
prove the rest, and it comes whole; where each node has the new version from a moment of its own on, every client sees
one version whole, or a visible end.
"""

import random
import threading
import time

from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource
from scenarios import in_threads

NO_STORE, KEPT = (("Cache-Control", "no-store"),), (("Cache-Control", "max-age=600"),)
KINDS = {
    "own strong tags": lambda n, v: {"etag": f'"node-{n}-{v}"', "ranges": True},
    "one strong tag": lambda n, v: {"etag": f'"all-{v}"', "ranges": True},
    "weak tags": lambda n, v: {"etag": f'W/"node-{n}-{v}"', "ranges": True},
    "dates": lambda n, v: {"last_modified": f"Sun, {n + 1:02} Nov 2026 {10 + v}:00:00 GMT", "ranges": True},
    "nothing": lambda n, v: {},
}
HOWS = ("rst", "rst", "fin", "fin", "stall")


class Plan:
    """The breaks of one download, at the same time those of all its nodes: a connection meets the next that lies behind
    its start."""

    hows = HOWS

    def __init__(self, rng, size, least=1, most=3):
        self.lock, self.met = threading.Lock(), 0
        self.left = sorted((rng.randrange(1, size), rng.choice(self.hows)) for _ in range(rng.randint(least, most)))

    def __call__(self, start, end):
        with self.lock:
            for point in self.left:
                if start < point[0] < end:
                    self.left.remove(point)
                    self.met += 1
                    return Break(*point)
        return None


def flap(inner, origins, over):
    """One node after the other is gone for a while: its connections end, and new ones are refused."""
    rng = random.Random(len(origins))
    while not over.wait(1):
        node = rng.randrange(len(origins))
        old = origins[node]
        old.stop()
        over.wait(0.3)
        new = inner.origin(port=old.port)
        new.resources, origins[node] = old.resources, new


def equal(scenario, count, kind, kept, cases, size):
    """So many downloads, each broken one to three times and more where a node goes: all whole."""
    rng, lock = random.Random(f"{count} {kind} {kept}"), threading.Lock()
    inner = scenario.bench.__class__(scenario.bench.folder / f"{count}-{kind}-{kept}".replace(" ", "-"))
    seen = {"whole": 0, "cut": 0, "mixed": 0, "breaks": 0}
    with inner.stack:
        origins = [inner.origin() for _ in range(count)]
        pawl = inner.pawl(
            [origin.url for origin in origins],
            upstream={"idle-timeout": "1s", "resume-attempts": "20", "max-rest": "1s"},
        )
        jobs = [(number, rng.random()) for number in range(cases)]
        over = threading.Event()
        gone = threading.Thread(target=flap, args=(inner, origins, over), daemon=True)
        gone.start()

        def one(job):
            number, seed = job
            own = random.Random(seed)
            content, path = Content(f"equal{count}{kind}{number}", own.randrange(size // 4, size)), f"/{number}"
            plan, framing = Plan(own, content.size), own.choice(["length", "length", "chunked"])
            for node, origin in enumerate(origins):
                origin.at(
                    path,
                    Resource(
                        content, fields=KEPT if kept else NO_STORE, breaks=plan, framing=framing, **KINDS[kind](node, 1)
                    ),
                )
            answer = get(pawl.address, path, timeout=60)
            good = (answer.status, answer.complete, answer.sha) == (200, True, content.sha256())
            is_mixed = answer.status == 200 and answer.body != content.read(0, len(answer.body))
            with lock:
                seen["breaks"] += plan.met
                seen["mixed" if is_mixed else "whole" if good else "cut"] += 1
                scenario.require(
                    good,
                    f"{count} nodes, {kind}, kept {kept}: {path} of {content.size}: {answer}; "
                    f"{[(r.get('Range'), r.get('If-Range'), r.status, r.start, r.sent, r.ended) for o in origins for r in o.of(path)]}",
                )

        try:
            in_threads(8, jobs, one, scenario)
        finally:
            over.set()
            gone.join()
    return seen


def changed(scenario, count, kind, kept, cases, size, alone):
    """Each node has the new version from a request of its own on. `alone`: the one that began a body has, and no
    other."""
    rng, lock = random.Random(f"changed {count} {kind} {kept} {alone}"), threading.Lock()
    inner = scenario.bench.__class__(scenario.bench.folder / f"changed-{count}-{kind}-{kept}-{alone}".replace(" ", "-"))
    seen = {"whole": 0, "cut": 0, "mixed": 0, "breaks": 0}
    with inner.stack:
        origins = [inner.origin() for _ in range(count)]
        pawl = inner.pawl(
            [origin.url for origin in origins],
            upstream={"idle-timeout": "1s", "resume-attempts": "10" if alone else "3"},
        )

        def one(job):
            number, seed = job
            own = random.Random(seed)
            old = Content(f"changed{count}{kind}{number}", own.randrange(size // 4, size))
            at, path = own.randrange(1, old.size), f"/{number}"
            # A byte before the break tells the versions apart where no validator does, and others behind it.
            new = old.changed(own.randrange(at), *own.sample(range(at, old.size), min(3, old.size - at)))
            plan, turns = Plan(own, old.size, 1, 2), iter(range(1000))
            plan.left.append((at, own.choice(("rst", "fin"))))
            plan.left.sort()
            begun = {}

            def play(request, node):
                # The first request finds all of them old; each node is new from a request of its own on, or soon after.
                with lock:
                    turn = next(turns)
                    if alone:
                        version = 2 if turn > 0 and node == begun.setdefault("first", node) else 1
                        begun.setdefault("first", node)
                        return Resource(
                            new if version == 2 else old,
                            fields=KEPT if kept else NO_STORE,
                            breaks=plan,
                            **KINDS[kind](node, version),
                        )
                    version = begun.setdefault(node, 1 if turn == 0 else own.choice((1, 2, 2)))
                    if turn > 2:
                        version = begun[node] = 2
                return Resource(
                    new if version == 2 else old,
                    fields=KEPT if kept else NO_STORE,
                    breaks=plan,
                    **KINDS[kind](node, version),
                )

            for node, origin in enumerate(origins):
                origin.at(path, lambda r, node=node: play(r, node))
            answer = get(pawl.address, path, timeout=60)
            fits = [c for c in (old, new) if answer.body == c.read(0, len(answer.body))]
            is_whole = answer.status == 200 and answer.complete and any(answer.sha == c.sha256() for c in (old, new))
            # What ends like a whole message and is none is as bad as one of two versions.
            is_mixed = answer.status == 200 and (not fits or answer.complete and not is_whole)
            with lock:
                seen["breaks"] += plan.met
                seen["mixed" if is_mixed else "whole" if is_whole else "cut"] += 1
                scenario.require(
                    is_whole if alone else not is_mixed,
                    f"{count} nodes, {kind}, kept {kept}: {path} of {old.size}, changed at {at}: {answer}; "
                    f"{[(r.get('Range'), r.get('If-Range'), r.status, r.start, r.sent, r.ended) for o in origins for r in o.of(path)]}",
                )

        in_threads(8, [(number, rng.random()) for number in range(cases)], one, scenario)
    return seen


def run(scenario):
    cases, size = (6, 400_000) if scenario.quick else (200, 2_000_000)
    begun = time.monotonic()
    # A node that falls silent costs its idle-timeout.
    Plan.hows = HOWS[:4] if scenario.quick else HOWS
    for count in (2, 3):
        for kind in KINDS:
            # Each count with one of both, where time is short: most of it is spent on nodes that fall silent.
            for kept in (count == 3,) if scenario.quick else (False, True):
                name = f"{count} nodes, {kind}, {'kept' if kept else 'unkept'}"
                seen = equal(scenario, count, kind, kept, cases, size)
                scenario.figure(
                    f"{name}: equal bytes, {seen['breaks']} breaks and nodes that go: {seen['cut']} cut, "
                    f"{seen['mixed']} mixed, whole of {cases}",
                    seen["whole"],
                    cases,
                    at_least=True,
                )
                seen = changed(scenario, count, kind, kept, cases, size, alone=True)
                scenario.figure(
                    f"{name}: one node changes: {seen['cut']} cut, {seen['mixed']} mixed, whole of {cases}",
                    seen["whole"],
                    cases,
                    at_least=True,
                )
                seen = changed(scenario, count, kind, kept, cases, size, alone=False)
                scenario.figure(
                    f"{name}: all change: {seen['whole']} whole, {seen['cut']} cut, mixed", seen["mixed"], 0
                )
    scenario.note(f"{time.monotonic() - begun:.0f} s")
