"""What is kept grows with what is asked for, up to a limit: tags of a body, variants of a URL."""

import os
import sqlite3
import time

from harness.checks import check, only, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

only(("clear",), "what is kept does not depend on what the wire is made of", __name__)

# Requests of the checks that measure memory; ten thousand are what they are meant for.
POLLS = int(os.environ.get("POLLS", "2000"))
MIB = 1 << 20


def tag_rows(pawl):
    """Rows of tags that the catalogue has of the body with most of them."""
    database = sqlite3.connect(f"file:{pawl.folder}/cache/catalogue.sqlite?mode=ro", uri=True)
    try:
        return max((row[0] for row in database.execute("SELECT count(*) FROM tags GROUP BY object")), default=0)
    finally:
        database.close()


def polled(pawl, path, count, fields=()):
    with Client(pawl.address) as client:
        for _ in range(count):
            client.request(path, fields=fields)
            yield client.response()


@check("a short page that is fetched anew and is the same keeps its tag, also over a restart", area="bounded")
def same_tag(bench):
    origin = bench.origin()
    content = Content("page", 10_000)
    for path, framing in (("/length", "length"), ("/chunked", "chunked")):
        origin.at(path, Resource(content, framing=framing))
        # What is in packs is not in the catalogue.
        pawl = bench.pawl(origin, name="pawl" + framing, cache={"packed-object": "0"})
        tags = {answer.get("ETag") for answer in polled(pawl, path, 200)}
        same(len(tags), 1, f"tags of {path}")
        wait_for(lambda: tag_rows(pawl) == 1, 5, "one tag in the catalogue")
        pawl.restart()
        tags |= {answer.get("ETag") for answer in polled(pawl, path, 5)}
        same(len(tags), 1, f"tags of {path} after a restart")
        same(origin.count(path), 205, "requests at the origin")


@check("another page under the same URL has another tag, and the old tag names nothing", area="bounded")
def other_tag(bench):
    origin = bench.origin()
    pages = [Content("one", 10_000), Content("two", 10_000)]
    origin.at("/x", lambda r: Resource(pages[r.serial // 2 % 2]))
    pawl = bench.pawl(origin)
    tags = [answer.get("ETag") for answer in polled(pawl, "/x", 6)]
    same(
        [tags[0] == tags[1], tags[1] == tags[2], tags[2] == tags[3]],
        [True, False, True],
        f"which are the same of {tags}",
    )


@check("a long body that is fetched anew has its first tag, and the latest 64 others", area="bounded", seconds=90)
def aliases(bench):
    origin = bench.origin()
    content = Content("long", 300_000)
    origin.at("/x", Resource(content, fields=(("Cache-Control", "max-age=1"),)))
    origin.at("/plain", Resource(content))
    pawl = bench.pawl(origin, site={"resume-ttl": "1h"})
    tags = []
    for count, answer in enumerate(polled(pawl, "/plain", 80)):
        tags.append(answer.get("ETag"))
        wait_for(lambda: pawl.log().count("refetch-compared") >= count, 5, "the comparison")
    same(len(set(tags)), 80, "different tags, for nothing was compared when they were told")

    def holds(tag):
        return get(pawl.address, "/plain", fields=(("Range", "bytes=1000-1999"), ("If-Range", tag)), keep=False).status

    same([holds(tag) for tag in tags[:1] + tags[-64:]], [206] * 65, "the first and the latest 64")
    same(holds(tags[1]), 200, "the longest unused")
    wait_for(lambda: tag_rows(pawl) <= 65, 5, "65 tags in the catalogue")


@check("re-fetches of what stays the same cost less than 60 MB of memory", area="bounded", seconds=900)
def polls(bench):
    origin = bench.origin()
    origin.at("/x", Resource(Content("page", 2000)))
    origin.at("/long", Resource(Content("long", 100_000)))
    pawl = bench.pawl(origin, pawl={"access-log": "off", "log-level": "error"})
    for path in ("/x", "/long"):
        list(polled(pawl, path, 100))
        before = pawl.own_rss()
        list(polled(pawl, path, POLLS))
        grown = pawl.own_rss() - before
        true(grown < 60 * MIB, f"{grown / MIB:.0f} MiB more after {POLLS} requests for {path}")


LIMIT = 4096  # variants of one URL


def by_field(origin, path, name, size=200):
    """One that answers each value of a field otherwise, and says so."""
    origin.at(
        path, lambda r: Resource((r.get(name) or "").encode().ljust(size, b"."), fields=FRESH + (("Vary", name),))
    )


def own(origin, path, name, size=200):
    """One whose answers do not say that they are for everybody: each belongs to the cookies it was asked with."""
    origin.at(path, lambda r: Resource((r.get(name) or "").encode().ljust(size, b"."), last_modified="old"))


FRESH = (("Cache-Control", "max-age=3600"),)


def ask(client, path, name, value):
    client.request(path, fields=((name, value),))
    answer = client.response()
    same(answer.body.rstrip(b"."), value.encode(), f"what was made for {name}: {value}")
    return answer


def cost(pawl, client, path, name, values, hit=True, count=400):
    """CPU seconds of a request, for one of `values` after another."""
    before = pawl.cpu()
    for number in range(count):
        same(ask(client, path, name, values[number % len(values)]).hit, hit, "whether it is a hit")
    return (pawl.cpu() - before) / count


@check(
    "a hit among 3,000 variants costs at most twice one among 10; so does a visitor with a cookie of its own",
    area="bounded",
    seconds=300,
)
def variants(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, pawl={"access-log": "off", "log-level": "error"})
    with Client(pawl.address) as client:
        for name, make in (("User-Agent", by_field), ("Cookie", own)):
            costs = {}
            for count in (10, 3000):
                path, values = f"/{name}/{count}", [f"{name}={number}" for number in range(count)]
                make(origin, path, name)
                for value in values:
                    ask(client, path, name, value)
                time.sleep(0.5)
                costs[count] = cost(pawl, client, path, name, values[-10:])
                same(ask(client, path, name, values[0]).hit, True, "the first is kept")
            shown = {count: f"{each * 1e6:.0f} us" for count, each in costs.items()}
            # A tick of the kernel's accounting is 10 ms.
            true(costs[3000] <= 2 * costs[10] + 0.02 / 400, f"{name}: CPU of a hit by variants: {shown}")


@check("variants beyond the limit take the place of the longest unused", area="bounded", seconds=300)
def variant_limit(bench):
    origin = bench.origin()
    by_field(origin, "/x", "User-Agent")
    pawl = bench.pawl(origin, pawl={"access-log": "off", "log-level": "error"})
    with Client(pawl.address) as client:
        for number in range(LIMIT):
            ask(client, "/x", "User-Agent", f"a/{number}")
        same(ask(client, "/x", "User-Agent", "a/0").hit, True, "the first at the limit")
        for number in range(8):
            ask(client, "/x", "User-Agent", f"b/{number}")
        same(
            [ask(client, "/x", "User-Agent", f"{which}").hit for which in ("a/0", "b/0", "b/7", "a/4095")],
            [True] * 4,
            "used ones",
        )
        same(ask(client, "/x", "User-Agent", "a/1").hit, False, "the longest unused")
    files = lambda: sum(1 for p in pawl.body_files() if p.stat().st_size)
    wait_for(lambda: files() <= LIMIT, 10, "as many files as variants")


@check("variants and visitors without end cost less than 60 MB of memory", area="bounded", seconds=900)
def variants_memory(bench):
    origin = bench.origin()
    for name, make in (("User-Agent", by_field), ("Cookie", own)):
        pawl = bench.pawl(origin, name=name, pawl={"access-log": "off", "log-level": "error"})
        make(origin, "/x", name)
        with Client(pawl.address) as client:
            for number in range(10):
                ask(client, "/x", name, f"a={number}")
            before = pawl.own_rss()
            for number in range(POLLS):
                ask(client, "/x", name, f"b={number}")
            grown = pawl.own_rss() - before
        true(grown < 60 * MIB, f"{name}: {grown / MIB:.0f} MiB more after {POLLS} requests")
        pawl.end()
