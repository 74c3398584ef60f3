"""Several URLs of one upstream: a broken transfer goes on at the node that began it, or at another one that is proven to have the same."""

import threading

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource, break_points
from harness.process import wait_for

MIB = 1 << 20
NO_STORE = (("Cache-Control", "no-store"),)
# What the nodes say of equal octets, each by its number.
KINDS = {"own strong tags": lambda n: {"etag": f'"node-{n}"', "ranges": True}, "one strong tag": lambda n: {"etag": '"all"', "ranges": True},
         "own weak tags": lambda n: {"etag": f'W/"node-{n}"'}, "own dates": lambda n: {"last_modified": f"Sun, 0{n + 1} Nov 2026 10:00:00 GMT", "ranges": True},
         "nothing": lambda n: {}}
QUICK = {"resume-attempts": "20"}


def nodes(bench, count):
    return [bench.origin() for _ in range(count)]


@check("nodes: two and three nodes with validators of their own: downloads that break several times come whole, kept and unkept", seconds=120)
def breaks(bench):
    content = Content("nodes", 3 * MIB)
    for count in (2, 3):
        inner = bench.__class__(bench.folder / str(count))
        with inner.stack:
            origins = nodes(inner, count)
            cases = []
            for kind, made in KINDS.items():
                for fields in ((), NO_STORE):
                    for how in ("rst", "fin"):
                        path = f"/{len(cases)}"
                        plan = break_points([600_000, 1_500_000, 2_400_000], how)
                        for number, origin in enumerate(origins):
                            origin.at(path, lambda r, made=made, number=number, fields=fields, plan=plan: Resource(content, fields=fields, breaks=plan, **made(number)))
                        cases.append((path, kind, fields, how))
            pawl = inner.pawl([origin.url for origin in origins], upstream=QUICK)
            for path, kind, fields, how in cases:
                answer = get(pawl.address, path, keep=False, timeout=30)
                same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), f"{count} nodes, {kind}, {fields}, {how}")


@check("nodes: one that goes for good in mid body is made up for by another, which is compared; the log says once that their tags differ", seconds=60)
def gone(bench):
    content = Content("gone", 3 * MIB)
    for kind, made in KINDS.items():
        inner = bench.__class__(bench.folder / kind.replace(" ", "-"))
        with inner.stack:
            origins = nodes(inner, 2)
            first = []

            def play(request, number, made=made):
                if not first:
                    first.append(number)
                if number == first[0]:
                    # All that it still says is the beginning.
                    return Resource(content, breaks=lambda start, end: Break(max(start, MIB), "rst"), **made(number))
                return Resource(content, **made(number))
            for number, origin in enumerate(origins):
                origin.at("/x", lambda r, number=number: play(r, number))
            pawl = inner.pawl([origin.url for origin in origins], upstream=QUICK)
            done = {}
            thread = threading.Thread(target=lambda: done.update(answer=get(pawl.address, "/x", keep=False, timeout=50)))
            thread.start()
            wait_for(lambda: first and origins[first[0]].of("/x")[0].ended is not None, 10, "the break")
            origins[first[0]].stop()
            thread.join()
            same((done["answer"].complete, done["answer"].sha), (True, content.sha256()), kind)
            lines = [line for line in pawl.log().splitlines() if "nodes-tag-differently" in line]
            same(len(lines), 1 if kind in ("own strong tags", "own weak tags") else 0, f"{kind}: {lines}")


@check("nodes: another that has other octets is never joined: the body ends visibly, or comes whole from the one that began it")
def others(bench):
    content, other = Content("mine", 2 * MIB), Content("others", 2 * MIB)
    for kind, made in KINDS.items():
        if kind == "one strong tag":
            continue
        inner = bench.__class__(bench.folder / kind.replace(" ", "-"))
        with inner.stack:
            origins = nodes(inner, 2)
            for number, origin in enumerate(origins):
                mine = content if number == 0 else other
                for turn in range(6):
                    origin.at(f"/{turn}", Resource(mine, breaks=break_points([500_000, 1_200_000], "rst"), **made(number)))
            pawl = inner.pawl([origin.url for origin in origins], upstream={"resume-attempts": "6"})
            for turn in range(6):
                answer = get(pawl.address, f"/{turn}", timeout=40)
                whole = [c for c in (content, other) if answer.body == c.read(0, len(answer.body))]
                true(len(whole) == 1, f"{kind}: octets of two bodies")
                true(answer.complete, f"{kind}: the node that began it still has it: {answer}")


@check("nodes: stale bodies are validated under the tags of all nodes, once these are proven equal: no fetch after that")
def validated(bench):
    content = Content("validated", MIB)
    origins = nodes(bench, 2)
    for number, origin in enumerate(origins):
        origin.at("/x", Resource(content, etag=f'"node-{number}"', ranges=True))
    pawl = bench.pawl([origin.url for origin in origins], pawl={"workers": "1"})
    tags = set()
    for _ in range(6):
        answer = get(pawl.address, "/x", keep=False)
        same((answer.status, answer.sha), (200, content.sha256()), "a plain request")
        tags.add(answer.get("ETag"))
        if len(tags) == 2:
            wait_for(lambda: "refetch-compared" in pawl.log(), 10, "the comparison")
    wholes = [r for origin in origins for r in origin.of("/x") if r.status == 200]
    same(len(wholes), 2, "one fetch from each")
    last = [origin.of("/x")[-1].get("If-None-Match") for origin in origins]
    true(all('"node-0"' in tag and '"node-1"' in tag for tag in last[:1] + last[1:] if tag), f"tags that are offered: {last}")
    for tag in tags:
        answer = get(pawl.address, "/x", fields=(("Range", "bytes=1000-"), ("If-Range", tag)), keep=False)
        same((answer.status, answer.sha), (206, content.sha256(1000)), f"a rest under {tag}")
