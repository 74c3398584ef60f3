"""Entity tags: minted, aliased, over restarts and re-fetches, and never a match beyond what can be proven."""

import re
import time

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=60"),)


def part(pawl, path, tag, start=1000, host="pawl.test", **options):
    return get(pawl.address, path, fields=(("Range", f"bytes={start}-"), ("If-Range", tag)), host=host, **options)


def expect_rest(answer, content, start, what):
    same(
        (answer.status, answer.get("Content-Range"), answer.sha),
        (206, f"bytes {start}-{content.size - 1}/{content.size}", content.sha256(start)),
        what,
    )


@check("minted ones are strong, random, stable, different for each body and variant", area="tags")
def minted(bench):
    origin = bench.origin()
    content = Content("minted", 50_000)
    for i in range(5):
        origin.at(f"/{i}", Resource(content, fields=FRESH))
    origin.at(
        "/vary",
        lambda r: Resource(Content(r.get("Accept-Language"), 5000), fields=FRESH + (("Vary", "Accept-Language"),)),
    )
    pawl = bench.pawl(origin)
    tags = []
    for i in range(5):
        first, second = get(pawl.address, f"/{i}"), get(pawl.address, f"/{i}")
        same(first.get("ETag"), second.get("ETag"), "tag of the hit")
        true(re.fullmatch(r'"[\x21\x23-\x7e]{16,}"', first.get("ETag") or ""), f"tag {first.get('ETag')}")
        tags.append(first.get("ETag"))
    tags += [get(pawl.address, "/vary", fields=(("Accept-Language", l),)).get("ETag") for l in ("de", "en")]
    same(len(set(tags)), len(tags), "different tags")


@check("the origin's strong tag passes; a weak one is replaced by a strong one; etag = origin never mints", area="tags")
def passing(bench):
    origin = bench.origin()
    content = Content("passing", 50_000)
    origin.at("/strong", Resource(content, etag='"s-1"', fields=FRESH))
    origin.at("/weak", Resource(content, etag='W/"w-1"', fields=FRESH))
    origin.at("/o/none", Resource(content, fields=FRESH))
    origin.at("/o/weak", Resource(content, etag='W/"w-1"', fields=FRESH))
    pawl = bench.pawl(origin, extra={"route:main/o": {"path": "/o/*", "etag": "origin"}})
    same(get(pawl.address, "/strong").get("ETag"), '"s-1"', "strong")
    weak = get(pawl.address, "/weak").get("ETag")
    true(weak and not weak.startswith("W/"), f"weak became {weak}")
    same(get(pawl.address, "/o/none").get("ETag"), None, "etag = origin, none")
    same(get(pawl.address, "/o/weak").get("ETag"), 'W/"w-1"', "etag = origin, weak")
    expect_rest(part(pawl, "/weak", weak), content, 1000, "range with the minted tag")
    same(part(pawl, "/weak", 'W/"w-1"').status, 200, "range with the weak tag")
    answer = get(pawl.address, "/weak", fields=(("If-None-Match", weak),))
    same(answer.status, 304, "If-None-Match with the minted tag")


@check("live over a restart and kill -9, for complete and incomplete bodies", area="tags")
def restart(bench):
    origin = bench.origin()
    content = Content("restart", 8 << 20)
    origin.at("/x", Resource(content))
    origin.at("/fresh", Resource(content, fields=FRESH))
    pawl = bench.pawl(origin)
    tags = {path: get(pawl.address, path).get("ETag") for path in ("/x", "/fresh")}
    for hard in (False, True):
        if hard:
            time.sleep(1.5)
        pawl.restart(hard)
        for path, tag in tags.items():
            answer = part(pawl, path, tag, 1 << 20)
            expect_rest(answer, content, 1 << 20, f"{path} after {'kill -9' if hard else 'a restart'}")
            same(answer.get("ETag"), tag, "tag on the 206")


@check("a re-fetch of the same bytes keeps old tags as aliases, over restarts; of other bytes does not", area="tags")
def alias(bench):
    origin = bench.origin()
    content, other = Content("alias", 2 << 20), Content("alias", 2 << 20).changed(5)
    for path in ("/same", "/other"):
        origin.at(
            path,
            lambda r, path=path: Resource(
                other if path == "/other" and r.serial else content, fields=(("Cache-Control", "max-age=0"),)
            ),
        )
    pawl = bench.pawl(origin, site={"resume-ttl": "0s"})
    first = {path: get(pawl.address, path).get("ETag") for path in ("/same", "/other")}
    second = {path: get(pawl.address, path) for path in ("/same", "/other")}
    same((second["/same"].sha, second["/other"].sha), (content.sha256(), other.sha256()), "second bodies")
    wait_for(
        lambda: part(pawl, "/same", first["/same"]).status == 206, 5, "a match of the old tag after an equal re-fetch"
    )
    answer = part(pawl, "/same", first["/same"])
    expect_rest(answer, content, 1000, "old tag after an equal re-fetch")
    same(answer.get("ETag"), first["/same"], "the 206 echoes the tag the client named")
    answer = part(pawl, "/other", first["/other"])
    same((answer.status, answer.sha), (200, other.sha256()), "old tag after a changed re-fetch")
    expect_rest(part(pawl, "/other", second["/other"].get("ETag")), other, 1000, "new tag after a changed re-fetch")
    pawl.restart()
    expect_rest(part(pawl, "/same", first["/same"]), content, 1000, "old tag after a restart")
    expect_rest(part(pawl, "/same", second["/same"].get("ETag")), content, 1000, "new tag after a restart")


@check("a foreign or made-up tag never matches; a tag of another URL does not either", area="tags")
def foreign(bench):
    origin = bench.origin()
    one, two = Content("one", 50_000), Content("two", 50_000)
    origin.at("/1", Resource(one, fields=FRESH))
    origin.at("/2", Resource(two, fields=FRESH))
    pawl = bench.pawl(origin)
    tags = get(pawl.address, "/1").get("ETag"), get(pawl.address, "/2").get("ETag")
    for tag in (tags[1], '"made-up"', "W/" + tags[0], tags[0].strip('"'), tags[0] + ", " + tags[1]):
        answer = part(pawl, "/1", tag)
        same((answer.status, answer.sha), (200, one.sha256()), f"If-Range: {tag}")


@check(
    "resume-ttl: within it stored bytes answer without asking an origin that gave no validator; no-cache asks",
    area="tags",
)
def resume_ttl(bench):
    origin = bench.origin()
    content = Content("ttl", 1 << 20)
    origin.at("/x", Resource(content))
    origin.at("/validator", Resource(content, etag='"v"', fields=(("Cache-Control", "max-age=0"),)))
    for name in ("no-cache", "must-revalidate, max-age=0"):
        origin.at("/" + name[:4], Resource(content, fields=(("Cache-Control", name),)))
    pawl = bench.pawl(origin)
    tag = get(pawl.address, "/x").get("ETag")
    expect_rest(part(pawl, "/x", tag), content, 1000, "within resume-ttl")
    same(origin.count("/x"), 1, "origin requests")
    tag = get(pawl.address, "/validator").get("ETag")
    expect_rest(part(pawl, "/validator", tag), content, 1000, "with a validator")
    same(origin.of("/validator")[1].status, 304, "the origin was asked")
    for path in ("/no-c", "/must"):
        tag = get(pawl.address, path).get("ETag")
        answer = part(pawl, path, tag)
        true(origin.count(path) >= 2, f"{path}: the origin was not asked")
        expect_rest(answer, content, 1000, f"{path}: the same bytes, fetched and compared")
