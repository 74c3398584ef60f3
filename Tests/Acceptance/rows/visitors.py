"""1,000 visitors whose cookies roll with each request download 20 bodies, are cut and resume; a share of the bodies is
personal.

With strong tags every resumption is a 206 and a body for everybody comes from its origin once; with weak tags, dates or
nothing a resumption goes on by what the origin gives again. No byte of another visitor's personal body reaches anybody.
"""

import random
import re
import threading

from harness.client import Client
from harness.content import Content
from harness.origin import Resource

KINDS = ("strong", "weak", "date", "none")


def sid_of(request):
    found = re.search(r"\bsid=(\d+)", request.get("Cookie") or "")
    return found[1] if found else "nobody"


def run(scenario):
    visitors, size = (150, 400_000) if scenario.quick else (1000, 2_000_000)
    origin = scenario.bench.origin()
    bodies = []
    for number in range(20):
        kind, personal, ranges = KINDS[number % 4], number % 5 == 4, number % 3 != 0
        path = f"/{kind}-{'personal' if personal else 'shared'}-{'ranges' if ranges else 'whole'}-{number}"

        def resource(request, path=path, kind=kind, personal=personal, ranges=ranges):
            owner = sid_of(request) if personal else "all"
            made = {
                "strong": {"etag": f'"{number_of(path)}-{owner}"'},
                "weak": {"etag": f'W/"{number_of(path)}-{owner}"'},
                "date": {"last_modified": "old"},
                "none": {},
            }[kind]
            # What is personal says so to nobody: no Vary, no Cache-Control.
            return Resource(Content(path + owner, size), ranges=ranges, fields=(("X-For", owner),), **made)

        origin.at(path, resource)
        bodies.append((path, kind, personal))
    pawl = scenario.bench.pawl(
        origin, pawl={"workers": "auto"}, upstream={"max-share-per-client": "100%", "max-share-per-path": "100%"}
    )
    lock, wrong, foreign = threading.Lock(), [], []
    resumed = {kind: [0, 0] for kind in KINDS}
    turns = iter(range(visitors))

    def visit(visitor):
        rng = random.Random(visitor)
        path, kind, personal = bodies[rng.randrange(len(bodies))]
        content = Content(path + (str(visitor) if personal else "all"), size)
        held, tag, requests = b"", None, 0
        while len(held) < size and requests < 12:
            requests += 1
            fields = (("Cookie", f"sid={visitor}; roll={rng.randrange(1 << 30)}"),)
            if held and tag:
                fields += (("Range", f"bytes={len(held)}-"), ("If-Range", tag))
            with Client(pawl.address, 60) as client:
                client.request(path, fields=fields)
                cut = None if requests > 3 else rng.randrange(1000, size // 2)
                answer = client.response(limit=cut)
            with lock:
                if personal and answer.get("X-For") != str(visitor):
                    foreign.append((path, visitor, answer.get("X-For")))
                if held and tag:
                    resumed[kind][0] += 1
                    resumed[kind][1] += answer.status == 206
            if answer.status == 206:
                held += answer.body
            elif answer.status == 200:
                held, tag = answer.body, answer.get("ETag")
            else:
                with lock:
                    wrong.append((path, visitor, answer))
                return
            if held != content.read(0, len(held)):
                with lock:
                    (foreign if personal else wrong).append((path, visitor, answer, "other bytes"))
                return
        if len(held) != size:
            with lock:
                wrong.append((path, visitor, len(held), requests))

    def work():
        while True:
            with lock:
                visitor = next(turns, None)
            if visitor is None:
                return
            try:
                visit(visitor)
            except OSError as error:
                with lock:
                    wrong.append((visitor, str(error)))

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    scenario.require(not wrong, f"{wrong[:3]}")
    scenario.figure(f"downloads of {visitors} that did not come whole and right", len(wrong), 0)
    scenario.figure("answers with something of another visitor's personal body", len(foreign), 0)
    for kind, (asked, parts) in resumed.items():
        scenario.figure(
            f"{kind}: resumptions of {asked} that were no 206", asked - parts, 0 if kind == "strong" else None
        )
    most = max(
        sum(r.sent for r in origin.of(path)) / size
        for path, kind, personal in bodies
        if kind == "strong" and not personal
    )
    scenario.figure("strong, shared: most bytes from the origin over the size of a body", round(most, 2), 1.05)
    scenario.figure("requests to the origin", len(origin.requests))


def number_of(path):
    return path.rpartition("-")[2]
