"""Small bodies, which lie in files together: over kills, restarts and damage, and when there is no room for all of
them."""

import random

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource

FRESH = (("Cache-Control", "max-age=600"),)
COUNT = 400


def contents(count=COUNT, seed="pack", most=40_000):
    rng = random.Random(seed)
    return {f"/{n}": Content(f"{seed} {n}", rng.randrange(0, most)) for n in range(count)}


def serve(origin, pages, **how):
    for path, content in pages.items():
        origin.at(path, Resource(content, fields=FRESH, **how))


def whole(content):
    return content.read(0, content.size)


def ask_all(pawl, pages, fields=()):
    """Whether each was from the cache."""
    hits = 0
    with Client(pawl.address) as client:
        for path, content in pages.items():
            client.request(path, fields=fields)
            answer = client.response(keep=True)
            same((answer.status, answer.body == whole(content)), (200, True), path)
            hits += "hit" in (answer.get("Cache-Status") or "")
    return hits


def files(pawl, folder):
    return [f for f in (pawl.folder / "cache" / folder).rglob("*") if f.is_file() and f.stat().st_size > 0]


@check("small bodies have no files of their own, and each is found after kill -9 and after SIGTERM", area="packs")
def restarts(bench):
    origin, pages = bench.origin(), contents()
    serve(origin, pages)
    pawl = bench.pawl(origin)
    ask_all(pawl, pages)
    same(len(files(pawl, "bodies")), 0, "files of bodies")
    true(files(pawl, "packs"), "there are packs")
    for hard in (True, False, True):
        pawl.restart(hard=hard)
        for _ in range(2):
            same(ask_all(pawl, pages), COUNT, f"hits after a restart, hard: {hard}")
    same(origin.count("/0"), 1, "requests at the origin")


@check(
    "kill -9 while small bodies come, again and again: no answer is a wrong one, before and after",
    area="packs",
    seconds=90,
)
def kills(bench):
    rng, origin, pages = random.Random(7), bench.origin(), contents()
    serve(origin, pages)
    pawl = bench.pawl(origin)
    paths = list(pages)
    for _ in range(8):
        with Client(pawl.address) as client:
            for path in rng.sample(paths, rng.randrange(20, 120)):
                client.request(path)
                answer = client.response(keep=True)
                same((answer.status, answer.body == whole(pages[path])), (200, True), path)
        pawl.restart(hard=True)
    ask_all(pawl, pages)
    pawl.restart()
    same(ask_all(pawl, pages), COUNT, "hits at the end")


@check(
    "whatever bytes of a pack are damaged, nobody gets one of them; the rest is still there", area="packs", seconds=90
)
def damage(bench):
    rng, origin, pages = random.Random(11), bench.origin(), contents()
    serve(origin, pages, etag='"p"', ranges=True)
    for running in (False, True):
        pawl = bench.pawl(origin, name=f"pawl{running}", cache={"memory": "0"})
        ask_all(pawl, pages)
        if not running:
            pawl.stop()
        hit = 0
        for pack in files(pawl, "packs"):
            size = pack.stat().st_size
            if size <= 64 or pack.suffix:
                continue
            with open(pack, "r+b") as opened:
                for _ in range(12):
                    at = rng.randrange(64, size)
                    opened.seek(at)
                    octet = opened.read(1)
                    opened.seek(at)
                    opened.write(bytes([octet[0] ^ 1 << rng.randrange(8)]))
                    hit += 1
        if not running:
            pawl.start()
        hits = ask_all(pawl, pages)
        true(hits >= COUNT - hit, f"{hits} of {COUNT} with {hit} bytes damaged, running: {running}")
        # By parts, too, which are given otherwise.
        for path, content in pages.items():
            if content.size > 10:
                answer = get(pawl.address, path, fields=(("Range", "bytes=1-9"),), keep=True)
                same((answer.status, answer.body), (206, content.read(1, 10)), f"{path}: a part")
        same(ask_all(pawl, pages), COUNT, f"mended, or fetched anew, running: {running}")
        pawl.restart(hard=True)
        ask_all(pawl, pages)


@check(
    "in a cache that is too small for all, what is asked for often stays, and what is given is right",
    area="packs",
    seconds=120,
)
def evicts(bench):
    origin, pages = bench.origin(), contents(3000, "small", 60_000)
    serve(origin, pages)
    often = dict(list(pages.items())[:20])
    pawl = bench.pawl(origin, cache={"max-size": "64M", "memory": "0"})
    rest = list(pages.items())
    for start in range(0, len(rest), 200):
        ask_all(pawl, dict(rest[start : start + 200]))
        ask_all(pawl, often)
    # While a pack is emptied, what is kept of it stands twice: less than one pack, of 1 MiB here.
    size = sum(f.stat().st_size for f in files(pawl, "packs") if not f.suffix)
    true(size <= 65 << 20, f"the cache keeps to its size: {size / (1 << 20):.2f} MiB")
    true(ask_all(pawl, often) >= 10, "what is asked for often is there")
    pawl.restart(hard=True)
    ask_all(pawl, dict(rest[-200:]))
    true("body-refused" not in pawl.log(), "every body found its place")


@check("what an unsafe request or a newer answer has made out of date stays so over kill -9", area="packs")
def outdated(bench):
    origin = bench.origin()
    versions = [Content(f"version {n}", 9000) for n in range(3)]
    state = {"version": 0}
    origin.at("/x", lambda r: Resource(versions[state["version"]], fields=FRESH))
    pawl = bench.pawl(origin)
    for number in range(3):
        state["version"] = number
        if number:
            get(pawl.address, "/x", method="DELETE")
        for _ in range(2):
            same(get(pawl.address, "/x", keep=True).body == whole(versions[number]), True, f"version {number}")
        # What is under way to the disk is there.
        with Client(pawl.address) as client:
            client.request("/x")
            client.response()
        pawl.restart(hard=True)
        same(
            get(pawl.address, "/x", keep=True).body == whole(versions[number]), True, f"version {number} after kill -9"
        )
