"""RFC 9111: what is kept, how long it is fresh, validation, Vary, invalidation, stale answers, collapsing."""

import re
import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource, http_date
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=60"),)


def answers(pawl, path, count=2, **options):
    return [get(pawl.address, path, **options) for _ in range(count)]


def freshness_cases():
    now = time.time()
    return [  # (what, fields, Last-Modified, hit on the second request)
        ("max-age", (("Cache-Control", "max-age=60"),), None, True),
        ("max-age=0", (("Cache-Control", "max-age=0"),), None, False),
        ("s-maxage over max-age", (("Cache-Control", "max-age=0, s-maxage=60"),), None, True),
        ("s-maxage=0 over max-age", (("Cache-Control", "max-age=60, s-maxage=0"),), None, False),
        ("Expires in future", (("Expires", http_date(now + 3600)),), None, True),
        ("Expires in past", (("Expires", http_date(now - 3600)),), None, False),
        ("Expires: 0", (("Expires", "0"),), None, False),
        (
            "max-age over Expires",
            (
                ("Cache-Control", "max-age=60"),
                ("Expires", http_date(now - 9)),
            ),
            None,
            True,
        ),
        ("heuristic", (), "old", True),
        ("nothing", (), None, False),
        ("no-cache", (("Cache-Control", "no-cache, max-age=60"),), None, False),
        ("no-store", (("Cache-Control", "no-store, max-age=60"),), None, False),
        ("private", (("Cache-Control", "private, max-age=60"),), None, False),
        ("Age beyond", (("Cache-Control", "max-age=60"), ("Age", "100")), None, False),
        ("CDN-Cache-Control", (("Cache-Control", "no-store"), ("CDN-Cache-Control", "max-age=60")), None, True),
        (
            "CDN-Cache-Control no-store",
            (("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "no-store")),
            None,
            False,
        ),
        ("broken CDN-Cache-Control", (("Cache-Control", "max-age=60"), ("CDN-Cache-Control", 'max-age="')), None, True),
        ("bad max-age", (("Cache-Control", "max-age=soon"),), None, False),
        ("quoted", (("Cache-Control", 'extension="a, no-store", max-age=60'),), None, True),
        ("Vary: *", (("Cache-Control", "max-age=60"), ("Vary", "*")), None, False),
        ("Set-Cookie without freshness", (("Set-Cookie", "a=b"),), "old", False),
        ("must-understand", (("Cache-Control", "no-store, must-understand, max-age=60"),), None, True),
        ("event stream", (("Cache-Control", "max-age=60"), ("Content-Type", "text/event-stream")), None, False),
    ]


@check("freshness table (explicit, heuristic, CDN-Cache-Control, refusals)", area="cache")
def freshness(bench):
    origin = bench.origin()
    cases = freshness_cases()
    for i, (what, fields, modified, hit) in enumerate(cases):
        type = None if any(f[0] == "Content-Type" for f in fields) else "text/plain"
        origin.at(f"/{i}", Resource(b"body", fields=fields, last_modified=modified, type=type, conditional=False))
    pawl = bench.pawl(origin)
    wrong = []
    for i, (what, fields, modified, hit) in enumerate(cases):
        first, second = answers(pawl, f"/{i}")
        count = origin.count(f"/{i}")
        if (
            (first.status, second.status, second.body) != (200, 200, b"body")
            or (count == 1) != hit
            or second.hit != hit
        ):
            wrong.append((what, f"origin asked {count} times", second.cache))
    true(not wrong, f"{wrong}")


@check(
    "heuristic-ttl bounds what a date alone gives; off, or default-ttl = 0s in the file, a replaced file is seen at "
    "once",
    area="cache",
)
def heuristic(bench):
    for name, site, hit in (
        ("usual", {}, True),
        ("off", {"heuristic-ttl": "off"}, False),
        ("zero", {"default-ttl": "0s"}, False),
        ("bounded", {"heuristic-ttl": "1s"}, False),
        ("both", {"default-ttl": "0s", "heuristic-ttl": "1h"}, True),
    ):
        inner = bench.__class__(bench.folder / name)
        with inner.stack:
            origin = inner.origin()
            origin.at(
                "/file", lambda r: Resource(b"old" if r.serial == 0 else b"new", last_modified="old", conditional=False)
            )
            pawl = inner.pawl(origin, site=site)
            first = get(pawl.address, "/file")
            if name == "bounded":
                same(get(pawl.address, "/file").hit, True, "within heuristic-ttl = 1s")
                time.sleep(1.1)
            second = get(pawl.address, "/file")
            same((first.body, second.body), (b"old", b"old" if hit else b"new"), f"bodies with {name}")


@check("statuses: what may be kept and what not", area="cache")
def statuses(bench):
    origin = bench.origin()
    cases = [
        (404, FRESH, True),
        (404, (), False),
        (301, FRESH, True),
        (410, FRESH, True),
        (500, (), False),
        (302, (), False),
        (302, FRESH, True),
        (206, FRESH, False),
        (503, FRESH, True),
    ]
    for i, (status, fields, hit) in enumerate(cases):
        extra = (("Content-Range", "bytes 0-3/10"),) if status == 206 else ()
        origin.at(f"/{i}", Resource(b"body", status=status, fields=fields + extra))
    pawl = bench.pawl(origin)
    wrong = []
    for i, (status, fields, hit) in enumerate(cases):
        got = answers(pawl, f"/{i}")
        if (origin.count(f"/{i}") == 1) != hit or (status != 206 and [a.status for a in got] != [status] * 2):
            wrong.append((status, fields, origin.count(f"/{i}"), got))
    true(not wrong, f"{wrong}")


@check("default-ttl, Age, Date, and Cache-Status on hit, miss, bypass, method", area="cache")
def status_field(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x"))
    origin.at("/no", Resource(b"x", fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin, site={"default-ttl": "60s"})
    first = get(pawl.address, "/x")
    true(re.search(r"pawl; fwd=(uri-)?miss", first.cache) and "stored" in first.cache, f"miss: {first.cache}")
    time.sleep(1.1)
    second = get(pawl.address, "/x")
    true(second.hit and re.search(r"ttl=5[0-9]", second.cache), f"hit: {second.cache}")
    true(int(second.get("Age")) >= 1, f"Age {second.get('Age')}")
    same(second.get("Date"), first.get("Date"), "Date of the stored answer")
    same(len(second.all("Age")), 1, "Age fields")
    answer = get(pawl.address, "/no")
    true("fwd=" in answer.cache and "stored" not in answer.cache, f"no-store: {answer.cache}")
    answer = get(pawl.address, "/x", method="POST", body=b"")
    true("hit" not in answer.cache, f"POST: {answer.cache}")
    answer = get(pawl.address, "/x", method="HEAD")
    true("pawl" in answer.cache, "no Cache-Status on HEAD")
    origin.at("/upstream", Resource(b"x", fields=(("Cache-Status", "cdn; hit"), ("Cache-Control", "max-age=60"))))
    answer = get(pawl.address, "/upstream")
    joined = ", ".join(answer.all("Cache-Status"))
    true(joined.startswith("cdn; hit") and "pawl" in joined, f"members: {joined}")


@check("validation: 304 merges, a 200 replaces, the client sees neither tag nor 304 it did not ask for", area="cache")
def validation(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        lambda r: Resource(
            b"first" if r.serial < 3 else b"second",
            etag='"a"' if r.serial < 3 else '"b"',
            fields=(("Cache-Control", "max-age=0"), ("X-Count", str(r.serial))),
        ),
    )
    pawl = bench.pawl(origin)
    first, second, third, fourth = answers(pawl, "/x", 4)
    same([a.body for a in (first, second, third, fourth)], [b"first", b"first", b"first", b"second"], "bodies")
    same([r.status for r in origin.of("/x")], [200, 304, 304, 200], "what the origin answered")
    same(origin.of("/x")[1].get("If-None-Match"), '"a"', "If-None-Match at the origin")
    same((third.status, third.get("X-Count")), (200, "2"), "a field of the 304")
    same((third.get("Content-Length"), third.get("ETag")), ("5", '"a"'), "length and tag after the 304")
    same(fourth.get("ETag"), '"b"', "tag of the new body")
    true("stale" in second.cache or "hit" in second.cache, f"Cache-Status after validation: {second.cache}")


@check("validation with Last-Modified alone and with a weak tag", area="cache")
def weak_validation(bench):
    origin = bench.origin()
    origin.at("/m", Resource(b"dated", last_modified="old", fields=(("Cache-Control", "max-age=0"),)))
    origin.at("/w", Resource(b"weak", etag='W/"w"', fields=(("Cache-Control", "max-age=0"),)))
    pawl = bench.pawl(origin)
    for path, name in (("/m", "If-Modified-Since"), ("/w", "If-None-Match")):
        same([a.body for a in answers(pawl, path)], [origin.resources[path].content] * 2, path)
        same(origin.of(path)[1].status, 304, path)
        true(origin.of(path)[1].get(name), f"no {name} at the origin")


@check("conditional requests are answered from the store: 304 by tag, list, *, date; 200 else", area="cache")
def conditionals(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"body", etag='"t"', last_modified="old", fields=FRESH))
    pawl = bench.pawl(origin)
    first = get(pawl.address, "/x")
    modified = first.get("Last-Modified")
    cases = [
        ((("If-None-Match", '"t"'),), 304),
        ((("If-None-Match", 'W/"t"'),), 304),
        ((("If-None-Match", '"a", "t"'),), 304),
        ((("If-None-Match", "*"),), 304),
        ((("If-None-Match", '"z"'),), 200),
        ((("If-Modified-Since", modified),), 304),
        ((("If-Modified-Since", "Mon, 01 Jan 1990 00:00:00 GMT"),), 200),
        ((("If-Modified-Since", "rubbish"),), 200),
        ((("If-None-Match", '"z"'), ("If-Modified-Since", modified)), 200),
        ((("If-None-Match", '"t"'), ("Range", "bytes=0-1")), 304),
    ]
    wrong = []
    for fields, status in cases:
        answer = get(pawl.address, "/x", fields=fields)
        # Who names it weakly may hold it in another form.
        tag = 'W/"t"' if ("If-None-Match", 'W/"t"') in fields else '"t"'
        if (
            answer.status != status
            or answer.body != (b"" if status == 304 else b"body")
            or (status == 304 and answer.get("ETag") != tag)
        ):
            wrong.append((fields, status, answer))
    same((wrong, origin.count("/x")), ([], 1), "wrong answers, origin requests")


@check("Vary keeps variants apart and normalises", area="cache")
def vary(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        lambda r: Resource(
            (r.get("Accept-Language") or "none").encode(), fields=FRESH + (("Vary", "Accept-Language"),)
        ),
    )
    pawl = bench.pawl(origin)
    for language in ("de", "en", "de", "en"):
        same(get(pawl.address, "/x", fields=(("Accept-Language", language),)).body, language.encode(), language)
    same(get(pawl.address, "/x").body, b"none", "no language")
    same(origin.count("/x"), 3, "origin requests")
    true(
        "vary-miss" in get(pawl.address, "/x", fields=(("Accept-Language", "fr"),)).cache,
        "no vary-miss in Cache-Status",
    )


@check("nothing private is shared: Authorization, cookies, Set-Cookie, private", area="cache")
def private(bench):
    origin = bench.origin()
    who = lambda r: (r.get("Authorization") or r.get("Cookie") or "nobody").encode()
    origin.at("/auth", lambda r: Resource(who(r), fields=FRESH))
    origin.at("/public", lambda r: Resource(who(r), fields=(("Cache-Control", "public, max-age=60"),)))
    origin.at("/cookie", lambda r: Resource(who(r), last_modified="old", conditional=False))
    for path, control in (("/set", "public, max-age=60"), ("/set-shared", "s-maxage=60"), ("/set-own", "max-age=60")):
        origin.at(
            path,
            lambda r, control=control: Resource(
                b"same", fields=(("Cache-Control", control), ("Set-Cookie", f"id={r.serial}"))
            ),
        )
    origin.at("/private", lambda r: Resource(who(r), fields=(("Cache-Control", "private, max-age=60"),)))
    pawl = bench.pawl(origin)
    for path, name in (
        ("/auth", "Authorization"),
        ("/private", "Authorization"),
        ("/cookie", "Cookie"),
        ("/private", "Cookie"),
    ):
        for user in ("Basic YTph", "Basic Yjpi", "Basic YTph"):
            same(get(pawl.address, path, fields=((name, user),)).body, user.encode(), f"{path} for {user}")
        same(get(pawl.address, path).body, b"nobody", f"{path} for nobody")
    same(get(pawl.address, "/public", fields=(("Authorization", "Basic YTph"),)).body, b"Basic YTph", "/public first")
    same(get(pawl.address, "/public").body, b"Basic YTph", "/public second, a hit")
    for path in ("/set", "/set-shared"):
        first, second = answers(pawl, path)
        true(second.hit and second.get("Set-Cookie") is None, f"Set-Cookie from the store: {second.all('Set-Cookie')}")
        same(first.get("Set-Cookie"), "id=0", "Set-Cookie on the miss")
    same(
        [a.get("Set-Cookie") for a in answers(pawl, "/set-own")],
        ["id=0", "id=1"],
        "a cookie with a lifetime, and nothing said to shared caches",
    )


@check("request directives: no-cache, no-store, max-age, only-if-cached, max-stale", area="cache")
def request_directives(bench):
    origin = bench.origin()
    origin.at("/x", lambda r: Resource(b"%d" % r.serial, fields=FRESH))
    origin.at("/stale", lambda r: Resource(b"%d" % r.serial, fields=(("Cache-Control", "max-age=0"),)))
    pawl = bench.pawl(origin)
    same(
        get(pawl.address, "/x", fields=(("Cache-Control", "only-if-cached"),)).status, 504, "only-if-cached on nothing"
    )
    for method, more in (("HEAD", ()), ("GET", (("If-Match", '"n"'),)), ("GET", (("If-Unmodified-Since", "x"),))):
        got = get(pawl.address, "/x", method=method, fields=(("Cache-Control", "only-if-cached"), *more))
        same(got.status, 504, f"only-if-cached with {method} {more}")
    same(len(origin.of("/x")), 0, "nothing was asked of the origin")
    get(pawl.address, "/x")
    same(get(pawl.address, "/x", fields=(("Cache-Control", "only-if-cached"),)).body, b"0", "only-if-cached on a hit")
    same(get(pawl.address, "/x", fields=(("Cache-Control", "no-cache"),)).body, b"1", "no-cache")
    same(get(pawl.address, "/x").body, b"1", "what no-cache fetched")
    same(get(pawl.address, "/x", fields=(("Cache-Control", "max-age=0"),)).body, b"2", "max-age=0")
    same(get(pawl.address, "/x", fields=(("Pragma", "no-cache"),)).body, b"3", "Pragma: no-cache")
    get(pawl.address, "/stale")
    same(get(pawl.address, "/stale", fields=(("Cache-Control", "max-stale"),)).body, b"0", "max-stale")


@check("unsafe methods invalidate the target and what Location names", area="cache")
def invalidation(bench):
    origin = bench.origin()

    def resource(r):
        if r.method in ("POST", "PUT", "DELETE"):
            return Resource(b"", status=201 if r.path != "/fail" else 500, fields=(("Location", "/other"),))
        return Resource(b"%d" % r.serial, fields=FRESH)

    for path in ("/x", "/other", "/fail"):
        origin.at(path, resource)
    pawl = bench.pawl(origin)
    for method in ("POST", "PUT", "DELETE"):
        for path in ("/x", "/other"):
            answers(pawl, path)
        before = origin.count("/x"), origin.count("/other")
        get(pawl.address, "/x", method=method, body=b"")
        get(pawl.address, "/x")
        get(pawl.address, "/other")
        same(
            (origin.count("/x") - before[0], origin.count("/other") - before[1]),
            (2, 1),
            f"origin requests after {method}",
        )
    answers(pawl, "/fail")
    get(pawl.address, "/fail", method="POST", body=b"")
    true(get(pawl.address, "/fail").hit, "a refused POST invalidated")


@check(
    "stale-while-revalidate: the stale copy at once, one validation in the background, nothing beyond the window",
    area="cache",
)
def stale_while_revalidate(bench):
    origin = bench.origin()
    control = (("Cache-Control", "max-age=1, stale-while-revalidate=60"),)
    late = threading.Event()
    origin.at(
        "/x",
        lambda r: Resource(
            b"%d" % r.serial, fields=control, before_head=(lambda _: late.wait(10)) if r.serial else None
        ),
    )
    origin.at(
        "/over",
        lambda r: Resource(b"%d" % r.serial, fields=(("Cache-Control", "max-age=0, stale-while-revalidate=0"),)),
    )
    pawl = bench.pawl(origin, pawl={"workers": 2})
    for path in ("/x", "/over"):
        get(pawl.address, path)
    time.sleep(2.1)
    got = answers(pawl, "/x", 5)
    same([(a.body, a.hit) for a in got], [(b"0", True)] * 5, "while the origin thinks")
    true(re.search(r"ttl=-[1-9]", got[0].cache), f"Cache-Status of a stale answer: {got[0].cache}")
    wait_for(lambda: origin.count("/x") == 2, 5, "the validation at the origin")
    late.set()
    wait_for(lambda: get(pawl.address, "/x").body == b"1", 5, "the new answer")
    same(origin.count("/x"), 2, "origin requests")
    same(get(pawl.address, "/over").body, b"1", "beyond the window")


@check("a 204 is answered from the store without a length, and is fetched anew when stale", area="cache")
def no_content(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        Resource(
            b"", status=204, framing="none", fields=(("Cache-Control", "max-age=1"), ("Connection", "keep-alive"))
        ),
    )
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        for hit in (False, True):
            client.request("/x")
            answer = client.response()
            same(
                (answer.status, answer.hit, answer.all("Content-Length"), answer.all("Transfer-Encoding")),
                (204, hit, [], []),
                "204",
            )
    time.sleep(2.1)
    get(pawl.address, "/x")
    same(origin.count("/x"), 2, "origin requests")


@check("the answer to a POST is kept only where it says that it is what a GET would be given", area="cache")
def kept_post(bench):
    origin = bench.origin()
    cases = (
        ("/own", FRESH + (("Content-Location", "/own"),), True),
        ("/other", FRESH + (("Content-Location", "/own"),), False),
        ("/bare", FRESH, False),
        ("/stale", (("Content-Location", "/stale"),), False),
        ("/private", (("Cache-Control", "private, max-age=60"), ("Content-Location", "/private")), False),
    )
    for path, fields, _ in cases:
        origin.at(path, lambda r, fields=fields: Resource(b"%d" % r.serial, fields=fields))
    pawl = bench.pawl(origin)
    for path, _, kept in cases:
        get(pawl.address, path, method="POST", body=b"a=b")
        time.sleep(0.2)
        answer = get(pawl.address, path)
        same((answer.body, answer.hit), (b"0", True) if kept else (b"1", False), path)
    get(pawl.address, "/own", method="PUT", body=b"new")
    same(get(pawl.address, "/own").hit, False, "/own after PUT")


@check("stale-if-error by directive and by setting; not with must-revalidate", area="cache", seconds=40)
def stale_if_error(bench):
    for name, field, settings, expected in (
        ("directive", "max-age=0, stale-if-error=60", {}, 200),
        ("setting", "max-age=0", {"stale-if-error": "60s"}, 200),
        ("none", "max-age=0", {}, 502),
        ("must", "max-age=0, must-revalidate", {"stale-if-error": "60s"}, (502, 504)),
    ):
        for how in ("gone", "503"):
            origin = bench.origin()
            origin.at(
                "/x",
                lambda r, how=how: (
                    Resource(b"body", fields=(("Cache-Control", field),), etag='"a"')
                    if r.serial == 0
                    else Resource(b"down", status=503)
                ),
            )
            pawl = bench.pawl(origin, name=f"{name}-{how}", site=settings)
            get(pawl.address, "/x")
            if how == "gone":
                origin.stop()
            answer = get(pawl.address, "/x")
            wanted = expected if how == "gone" or expected == 200 else 503
            true(answer.status in (wanted if isinstance(wanted, tuple) else (wanted,)), f"{name}, {how}: {answer}")
            if answer.status == 200:
                true(answer.body == b"body" and "pawl" in answer.cache, f"{name}: {answer}")
            pawl.stop()


@check("concurrent misses are one origin request, on all loops, and say collapsed", area="cache")
def collapse(bench):
    origin = bench.origin()
    content = Content("collapse", 1_000_000)
    origin.at("/x", Resource(content, fields=FRESH, before_head=lambda r: time.sleep(0.5)))
    origin.at(
        "/stale",
        lambda r: Resource(
            content, fields=(("Cache-Control", "max-age=1"),), etag='"a"', before_head=lambda r: time.sleep(0.3)
        ),
    )
    pawl = bench.pawl(origin, pawl={"workers": 4})
    for path, requests in (("/x", 1),):
        got, threads = [], []
        for _ in range(40):
            thread = threading.Thread(target=lambda: got.append(get(pawl.address, path)))
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()
        same([a.sha for a in got], [content.sha256()] * 40, "bodies")
        same(origin.count(path), requests, "origin requests")
        same(sum("collapsed" in a.cache for a in got), 39, "answers that say collapsed")


@check("followers of an answer that may not be shared each ask for themselves", area="cache")
def collapse_private(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        lambda r: Resource(
            (r.get("X-User") or "").encode(),
            fields=(("Cache-Control", "private"),),
            before_head=lambda r: time.sleep(0.2),
        ),
    )
    pawl = bench.pawl(origin)
    got = {}
    threads = [
        threading.Thread(
            target=lambda i=i: got.update({i: get(pawl.address, "/x", fields=(("X-User", f"u{i}"),)).body})
        )
        for i in range(15)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(got, {i: b"u%d" % i for i in range(15)}, "what each user got")


@check("what is stored survives a restart and kill -9", area="cache")
def survives(bench):
    origin = bench.origin()
    sizes = (0, 10, 5000, 100_000, 3_000_000)
    for size in sizes:
        origin.at(f"/{size}", Resource(Content(f"s{size}", size), fields=FRESH + (("X-Kept", str(size)),)))
    pawl = bench.pawl(origin)
    for size in sizes:
        get(pawl.address, f"/{size}")
    for hard in (False, True):
        if hard:
            time.sleep(1.5)
        pawl.restart(hard)
        for size in sizes:
            answer = get(pawl.address, f"/{size}")
            same(
                (answer.status, answer.sha, answer.get("X-Kept"), answer.hit),
                (200, Content(f"s{size}", size).sha256(), str(size), True),
                f"{size} bytes after {'kill -9' if hard else 'a restart'}",
            )
    same([origin.count(f"/{size}") for size in sizes], [1] * 5, "origin requests")


@check("HEAD is answered from a stored GET; a HEAD does not store", area="cache")
def head_requests(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"body", fields=FRESH))
    origin.at("/y", Resource(b"body", fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    answer = get(pawl.address, "/x", method="HEAD")
    same((answer.status, answer.length, answer.hit), (200, 4, True), "HEAD after GET")
    get(pawl.address, "/y", method="HEAD")
    same(get(pawl.address, "/y").body, b"body", "GET after HEAD")


@check("cache = off and max-object leave bodies alone", area="cache")
def off(bench):
    origin = bench.origin()
    origin.at("/a/x", Resource(b"x", fields=FRESH))
    origin.at("/b/x", Resource(b"x" * 5000, fields=FRESH))
    pawl = bench.pawl(
        origin,
        extra={"route:main/a": {"path": "/a/*", "cache": "off"}, "route:main/b": {"path": "/b/*", "max-object": "1K"}},
    )
    for path in ("/a/x", "/b/x"):
        answers(pawl, path)
        same(origin.count(path), 2, path)


@check("max-size holds: old bodies go, new ones are kept", area="cache", seconds=60)
def eviction(bench):
    origin = bench.origin()
    for i in range(30):
        origin.at(f"/{i}", Resource(Content(f"e{i}", 1 << 20), fields=FRESH))
    pawl = bench.pawl(origin, cache={"max-size": "10M"})
    for i in range(30):
        same(get(pawl.address, f"/{i}").sha, Content(f"e{i}", 1 << 20).sha256(), f"body {i}")
    held = lambda: sum(p.stat().st_blocks * 512 for p in pawl.body_files())
    wait_for(lambda: held() <= 11 << 20, 5, "at most 11 MiB on disk")
    true(held() >= 4 << 20, f"only {held()} bytes are kept")
    before = origin.count("/29")
    get(pawl.address, "/29")
    same(origin.count("/29"), before, "origin requests for the newest")
