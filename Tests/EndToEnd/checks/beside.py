"""Cases beside those that each rule is written for: two rules at once, an origin that contradicts itself, a clock that
goes back, a URL in disguise."""

import os
import threading
import time
import urllib.parse

from harness.checks import CLEAR, check, same, timely, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource, http_date
from harness.process import wait_for

MIB = 1 << 20
OLD, YOUNG = "Sat, 01 Aug 2026 10:00:00 GMT", "Sun, 02 Aug 2026 10:00:00 GMT"
FRESH = ("Cache-Control", "max-age=60")
TUS = ("Tus-Resumable", "1.0.0")


@check(
    "a client that holds two pieces of a body gets nothing between them of another that begins alike, whosever the tag",
    area="splice",
    seconds=40,
)
def between(bench):
    old = Content("between", 8 * MIB).read()
    new = old[: 2 * MIB] + Content("between-new", 6 * MIB).read()
    now, origin = {}, bench.origin()
    origin.default = lambda _: Resource(
        now["body"], ranges=True, etag=now["tag"], last_modified=now["date"], fields=(("Cache-Control", "no-cache"),)
    )
    pawl = bench.pawl(origin)
    for path, tags in (("/theirs", ('"v1"', '"v2"')), ("/ours", (None, None))):
        now.update(body=old, tag=tags[0], date=OLD)
        first = get(pawl.address, path, fields=(("Range", f"bytes=0-{2 * MIB - 1}"),))
        tag = first.get("ETag")
        last = get(pawl.address, path, fields=(("Range", f"bytes={4 * MIB}-{8 * MIB - 1}"), ("If-Range", tag)))
        same((first.status, last.status, last.get("ETag")), (206, 206, tag), f"{path}: the two pieces")
        now.update(body=new, tag=tags[1], date=YOUNG)
        same(get(pawl.address, path).body == new, True, f"{path}: another client gets the new body")
        since = len(pawl.log())
        wait_for(lambda: "refetch-compared" in pawl.log() or since < 0, 10, "the comparison")
        middle = get(pawl.address, path, fields=(("Range", f"bytes={2 * MIB}-{4 * MIB - 1}"), ("If-Range", tag)))
        same((middle.status, middle.body == new), (200, True), f"{path}: what lies between: {middle}")
        true(middle.get("ETag") != tag, f"{path}: it bears the tag {tag} of another body")


@check(
    "an origin whose 304 is about something else is asked once more without conditions, and not for ever", area="shared"
)
def contradicts(bench):
    origin = bench.origin()
    for path, fields, lie in (
        ("/tag", ("Cache-Control", "max-age=0"), {"etag": '"2"'}),
        ("/vary", ("Cache-Control", "max-age=0"), {"etag": '"1"', "fields": (("Vary", "X-Else"),)}),
        ("/background", ("Cache-Control", "max-age=0, stale-while-revalidate=100"), {"etag": '"2"'}),
    ):
        origin.at(
            path,
            lambda r, fields=fields, lie=lie: (
                Resource(b"", status=304, type=None, **lie)
                if r.serial
                else Resource(b"one", etag='"1"', fields=(fields,))
            ),
        )
    pawl = bench.pawl(origin)
    for path in ("/tag", "/vary", "/background"):
        same(get(pawl.address, path).status, 200, path)
        answer = get(pawl.address, path)
        same(answer.status, 200 if path == "/background" else 502, f"{path}: the next one")
        wait_for(lambda: origin.count(path) == 3, 5, f"{path}: both questions")
    for path in ("/tag", "/vary", "/background"):
        same(
            [bool(r.get("If-None-Match")) for r in origin.of(path)],
            [False, True, False],
            f"{path}: what the origin was asked",
        )


@check(
    "nobody waits for a request that can bring nothing to share, and it says nothing of the next ones",
    area="crowd",
    seconds=40,
)
def alone(bench):
    origin, gate = bench.origin(), threading.Event()
    asking = {
        "no-store": ("Cache-Control", "no-store"),
        "authorization": ("Authorization", "Basic YTpi"),
        "if-none-match": ("If-None-Match", '"x"'),
        "range": ("Range", "bytes=99999-"),
        "odd": ("X-Odd", "1"),
    }

    def page(request):
        if request.get("X-Slow"):
            return Resource(b"mine", fields=(("Cache-Control", "private"),), before_head=lambda _: gate.wait(20))
        if request.get("X-Odd"):
            return Resource(b"no", status=400)
        return Resource(
            b"all",
            etag='"v"',
            ranges=True,
            fields=(("Cache-Control", "public, max-age=1"),),
            before_head=lambda _: time.sleep(0.5 if request.get("X-Eight") else 0),
        )

    origin.default = page
    pawl = bench.pawl(origin)
    paths = [f"/{name}{turn}" for name in asking for turn in ("", "/at-once")]
    for path in paths:
        get(pawl.address, path)
    time.sleep(2.1)  # all are known to be for everybody, and stale
    for name in ("no-store", "authorization"):
        path = f"/{name}"
        slow = threading.Thread(
            target=get, args=(pawl.address, path), kwargs={"fields": (asking[name], ("X-Slow", "1"))}, daemon=True
        )
        slow.start()
        wait_for(lambda: any(r.get("X-Slow") for r in origin.of(path)), 5, "the slow one at the origin")
        begun = time.monotonic()
        same(get(pawl.address, path).body, b"all", path)
        timely(
            time.monotonic() - begun < 4,
            f"{path}: it waited {time.monotonic() - begun:.1f} s for what was never to be shared",
        )
    gate.set()
    for name, field in asking.items():
        get(pawl.address, f"/{name}/at-once", fields=(field,))
    time.sleep(2.1)
    for name, field in asking.items():
        path = f"/{name}/at-once"
        threads = [
            threading.Thread(target=get, args=(pawl.address, path), kwargs={"fields": (("X-Eight", "1"),)}, daemon=True)
            for _ in range(8)
        ]
        count = origin.count(path)
        [t.start() for t in threads]
        [t.join(20) for t in threads]
        true(
            origin.count(path) - count <= 2,
            f"{path}: {origin.count(path) - count} requests of eight equal ones after {field}",
        )


@check("a running fill is not joined by a 304 about its date", area="crowd")
def dated(bench):
    origin, gate = bench.origin(), threading.Event()
    origin.at(
        "/page",
        lambda r: Resource(
            f"page of {r.get('X-User')}\n".encode() * 100_000,
            last_modified=OLD,
            gates=((500_000, gate),),
            fields=(("Cache-Control", "no-cache"),),
        ),
    )
    pawl, got = bench.pawl(origin), {}

    def one(user):
        got[user] = get(pawl.address, "/page", fields=(("X-User", user),)).body[:12]

    threads = [threading.Thread(target=one, args=(user,), daemon=True) for user in ("alice", "bob!!")]
    threads[0].start()
    wait_for(lambda: origin.sent("/page") > 100_000, 10, "the first one's body")
    threads[1].start()
    wait_for(lambda: origin.count("/page") == 2, 10, "the second one at the origin")
    gate.set()
    [t.join(20) for t in threads]
    same(got, {"alice": b"page of alic", "bob!!": b"page of bob!"}, "whose page each got")


@check(
    "an answer that is older and comes later takes no newer one's place",
    area="shared",
    over=CLEAR,
    why="about what is kept, not about the wire",
)
def overtaken(bench):
    origin, gate = bench.origin(), threading.Event()
    origin.at(
        "/x",
        lambda r: Resource(
            b"old" if not r.serial else b"new",
            fields=(FRESH, ("Date", http_date(time.time()))),
            before_head=(lambda _: gate.wait(10)) if not r.serial else None,
        ),
    )
    pawl = bench.pawl(origin)
    first = {}
    slow = threading.Thread(target=lambda: first.update(body=get(pawl.address, "/x").body), daemon=True)
    slow.start()
    wait_for(lambda: origin.count("/x") == 1, 5, "the first request")
    time.sleep(1.1)  # the dates have to differ
    same(get(pawl.address, "/x", fields=(("Cache-Control", "no-cache"),)).body, b"new", "a reload")
    gate.set()
    slow.join(10)
    same(
        (first.get("body"), get(pawl.address, "/x").body),
        (b"old", b"new"),
        "the one who had asked first, and the next one",
    )


@check("what a trusted proxy says of the host is part of the key, and what it repeats is not", area="whose")
def hosts(bench):
    origin = bench.origin()
    origin.default = lambda r: Resource(
        f"{r.get('X-Forwarded-Host')} {r.get('Forwarded')} {r.get('X-Forwarded-Prefix')} {r.get('X-Forwarded-Port')} "
        f"{r.get('X-Forwarded-Proto')} {r.get('X-Scheme')} {r.get('X-Forwarded')}".encode(),
        fields=(("Cache-Control", "public, max-age=60"),),
    )
    pawl = bench.pawl(origin, pawl={"trusted-proxies": "127.0.0.1"})
    for at, field in enumerate(
        (
            ("X-Forwarded-Host", "evil.test"),
            ("Forwarded", 'for=192.0.2.1; host ="evil.test"'),
            ("X-Forwarded-Prefix", "/evil"),
            ("X-Forwarded-Port", "666"),
            ("X-Forwarded-Proto", "evil"),
            ("Forwarded", "proto=evil"),
            ("X-Scheme", "evil"),
            ("X-Forwarded", "host=evil"),
        )
    ):
        path = f"/{at}"
        for _ in range(3):  # the last ones by the short way, if that were allowed to look
            evil = get(pawl.address, path, fields=(field,))
            plain = get(pawl.address, path)
        true(b"evil" not in plain.body and b"666" not in plain.body, f"{field}: others get {plain.body!r}")
        same((evil.hit, plain.hit), (True, True), f"{field}: each has an answer of its own")
    get(pawl.address, "/same", fields=(("X-Forwarded-For", "192.0.2.1"),))
    same(
        get(pawl.address, "/same", fields=(("X-Forwarded-Host", "PAWL.test"), ("X-Forwarded-For", "192.0.2.2"))).hit,
        True,
        "the host that the request names itself",
    )


@check("max-object holds for a body whose length nobody tells", area="cache")
def unknown_length(bench):
    origin = bench.origin()
    body = Content("unknown", 3 * MIB).read()
    for path, size in (("/at", MIB), ("/over", MIB + 1), ("/far", 3 * MIB)):
        origin.at(path, Resource(body[:size], framing="chunked", fields=(FRESH,)))
    pawl = bench.pawl(origin, site={"max-object": "1M"})
    for path, size, kept in (("/at", MIB, True), ("/over", MIB + 1, False), ("/far", 3 * MIB, False)):
        same(get(pawl.address, path).body == body[:size], True, path)
        second = get(pawl.address, path)
        same((second.body == body[:size], second.hit), (True, kept), f"{path}: the second time")


@check("Max-Forwards counts down on OPTIONS and TRACE, ends at 0, and means nothing elsewhere", area="proxy")
def forwards(bench):
    origin = bench.origin()
    origin.default = lambda r: Resource(r.get("Max-Forwards", "none").encode(), fields=(("Cache-Control", "no-store"),))
    pawl = bench.pawl(origin)
    for method, value, status, body in (
        ("OPTIONS", "3", 200, b"2"),
        ("OPTIONS", "1", 200, b"0"),
        ("OPTIONS", "0", 200, b""),
        ("TRACE", "2", 200, b"1"),
        ("TRACE", "0", 405, None),
        ("GET", "0", 200, b"0"),
        ("OPTIONS", "x", 200, b"x"),
    ):
        answer = get(pawl.address, "/x", method=method, fields=(("Max-Forwards", value),))
        same((answer.status, body if body is None else answer.body), (status, body), f"{method} with {value}")
    same([r.method for r in origin.of("/x")].count("TRACE"), 1, "TRACE at the origin")


@check("the same parts joined for another host, or with other fields, are another upload", area="upload tus")
def joined(bench):
    one, two = bench.origin(), bench.origin()
    one.at("/up", Resource(b"one"))
    two.at("/up", Resource(b"two"))
    pawl = bench.pawl(
        one, extra={"upstream:two": {"url": two.url}, "site:two": {"upstream": "two", "host": "two.test"}}
    )

    def part(data):
        return get(
            pawl.address,
            "/up",
            method="POST",
            body=data,
            fields=(
                TUS,
                ("Upload-Length", str(len(data))),
                ("Upload-Concat", "partial"),
                ("Content-Type", "application/offset+octet-stream"),
            ),
        ).get("Location")

    def join(host, *fields):
        answer = get(
            pawl.address,
            "/up",
            method="POST",
            body=b"",
            host=host,
            fields=(TUS, ("Upload-Concat", "final;" + " ".join(parts))) + fields,
        )
        same(answer.status, 201, f"{host} {fields}")
        return answer.get("Location").rpartition("/")[2]

    parts = [urllib.parse.urlsplit(part(b"A" * 1000)).path, urllib.parse.urlsplit(part(b"B" * 500)).path]
    made = [
        join("pawl.test"),
        join("pawl.test"),
        join("two.test"),
        join("pawl.test", ("X-Folder", "a")),
        join("pawl.test", ("X-Folder", "b")),
    ]
    same((made[0] == made[1], len(set(made))), (True, 4), "the uploads that were made")
    wait_for(
        lambda: (
            sum(r.method == "POST" for r in one.of("/up")) == 3 and sum(r.method == "POST" for r in two.of("/up")) == 1
        ),
        10,
        "each at its application",
    )
    same({len(r.body) for r in one.of("/up") + two.of("/up") if r.method == "POST"}, {1500}, "bytes")


@check(
    "a URL of an upload that is percent-encoded stands in no log and no Referer, and is not forwarded",
    area="upload settings",
)
def disguised(bench):
    origin = bench.origin()
    origin.default = Resource(b"ok")
    pawl = bench.pawl(origin)
    url = get(pawl.address, "/up", method="POST", body=b"", fields=(TUS, ("Upload-Length", "10"))).get("Location")
    token = url.rpartition("/")[2]
    once = urllib.parse.quote(url, safe="")
    spelled = {
        "once": f"/done?u={once}",
        "twice": f"/done?u={urllib.parse.quote(once, safe='')}",
        "lower": f"/done?u={once.lower()[: -len(token)]}{token}",
        "both": f"/done?u={once}&v={urllib.parse.urlsplit(url).path}",
        "token": f"/done?u={url[:-1]}%{ord(url[-1]):02x}",
        "path": f"/%2epawl/uploads/{token}",
        "slash": f"/.pawl%2Fuploads%2F{token}",
    }
    for name, target in spelled.items():
        answer = get(pawl.address, target)
        same(answer.status, 404 if name in ("path", "slash") else 200, name)
        get(pawl.address, f"/page-{name}", fields=(("Referer", f"http://pawl.test{target}"),))
    get(pawl.address, "/after")
    seen = [field for request in origin.requests for field in request.fields if token[:-1] in field[1]]
    same(seen, [], "what the application was told")
    true(
        not any("%2epawl" in r.target or ".pawl%2F" in r.target and "?" not in r.target for r in origin.requests),
        "a URL of an upload was forwarded",
    )
    access = pawl.folder / "access.log"
    wait_for(lambda: "/after" in access.read_text(), 10, "the access log")
    true(token[:-1] not in access.read_text() + pawl.log(), "the token stands in a log")


@check("a file that is written into and has its date set back: whole and right", area="damaged running")
def set_back(bench):
    body, origin = Content("set-back", 3 * MIB).read(), bench.origin()
    origin.default = Resource(body, ranges=True, etag='"e"', fields=(FRESH,))
    pawl = bench.pawl(origin, cache={"memory": "0"})
    for _ in range(2):
        same(get(pawl.address, "/x").body == body, True, "before")
    wait_for(
        lambda: any(path.stat().st_size == len(body) for path in pawl.folder.rglob("bodies/*/*")), 10, "the body's file"
    )
    file = next(path for path in pawl.folder.rglob("bodies/*/*") if path.stat().st_size == len(body))
    status = file.stat()
    with open(file, "r+b") as out:
        out.seek(MIB + 5)
        out.write(b"otherwise")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    for _ in range(2):
        same(get(pawl.address, "/x").body == body, True, "after")


@check("an answer that goes on with a body gives its beginning to nobody who could not have had it", area="shared")
def wider(bench):
    origin, size = bench.origin(), 2 * MIB
    pages = {who: Content(f"wider-{who}", size) for who in ("alice", "bob")}

    def page(request):
        again = request.get("Range") is not None or request.serial == 1
        who = (request.get("Cookie") or "session=bob").partition("=")[2]
        return Resource(
            pages[who],
            etag=f'"{who}"' if "/ranged" in request.path else None,
            ranges="/ranged" in request.path,
            fields=(("Cache-Control", "public, max-age=60" if again else "must-revalidate"),),
            breaks=None if request.serial else lambda s, e: Break(MIB),
        )

    origin.default = page
    pawl = bench.pawl(origin)
    for path in ("/ranged", "/replayed"):
        alice = get(pawl.address, path, fields=(("Cookie", "session=alice"),), keep=False)
        same((alice.status, alice.sha), (200, pages["alice"].sha256()), f"{path}: who asked")
        for fields in ((("Cookie", "session=bob"),), ()):
            bob = get(pawl.address, path, fields=fields, keep=False)
            same((bob.status, bob.sha), (200, pages["bob"].sha256()), f"{path}: the next one, {fields}")


@check(
    "a body without a length whose client left is whole for who comes later, in full and by range, whatever it is "
    "named by",
    area="resume",
    seconds=60,
)
def unfinished(bench):
    origin, body = bench.origin(), Content("unfinished", 3 * MIB + 262_144).read()
    kinds = {
        "/tag": ({"etag": '"o"'}, FRESH),
        "/date": ({"last_modified": "old"}, FRESH),
        "/stale": ({"etag": '"o"'}, ("Cache-Control", "no-cache")),
    }
    for path, (named, freshness) in kinds.items():
        origin.at(
            path,
            lambda r, named=named, freshness=freshness: Resource(
                body,
                framing="chunked",
                ranges=True,
                fields=(freshness,),
                gates=() if r.serial else ((2 * MIB, gate),),
                **named,
            ),
        )
    gate = threading.Event()
    bench.stack.callback(gate.set)
    pawl = bench.pawl(origin, site={"abandoned-fill": "0"})
    for path in kinds:
        gate.clear()
        client = bench.use(Client(pawl.address))
        client.request(path)
        client.response(limit=1_500_000)
        client.reset()
        wait_for(
            lambda: pawl.log().count("fill-paused") + pawl.log().count("fill-ended") > list(kinds).index(path),
            20,
            "the fill to pause",
        )
        gate.set()
        part = get(pawl.address, path, fields=(("Range", "bytes=-1000"),))
        same(
            (part.status in (200, 206), part.complete, body.endswith(part.body)), (True, True, True), f"{path}: its end"
        )
        for _ in range(2):
            whole = get(pawl.address, path)
            same((whole.status, whole.complete, whole.body == body), (200, True, True), f"{path}: all of it")


@check("an echoed Origin is no other Vary: not where an answer goes on with a body, and not in a 304", area="shared")
def echoed(bench):
    origin = bench.origin()
    big = Content("echoed", 4 * MIB).read()

    def page(request):
        echo = (("Access-Control-Allow-Origin", request.get("Origin")),) if request.get("Origin") else ()
        large = request.path.startswith("/large")
        return Resource(
            big if large else b"page",
            etag='"1"',
            ranges="ranged" in request.path,
            fields=echo + (("Vary", "Accept-Encoding"), ("Cache-Control", "max-age=60" if large else "max-age=0")),
            breaks=(lambda s, e: Break(MIB)) if large and not request.serial else None,
        )

    origin.default = page
    pawl = bench.pawl(origin)
    asks = (("Origin", "https://a.test"),)
    for _ in range(3):
        same(get(pawl.address, "/small", fields=asks).body, b"page", "the page")
    same([r.status for r in origin.of("/small")], [200, 304, 304], "what the origin answered")
    for path in ("/large", "/large-ranged"):
        same(get(pawl.address, path, fields=asks).body == big, True, f"{path}: through a break")
        same(get(pawl.address, path, fields=asks).hit, True, f"{path}: what was resumed is kept")


@check("what one user's request brings takes nothing from what others have, and marks nothing", area="shared")
def others(bench):
    origin, down = bench.origin(), threading.Event()
    answers = {
        "private": (("Cache-Control", "private"),),
        "no-store": (("Cache-Control", "no-store"),),
        "set-cookie": (("Set-Cookie", "a=b"),),
    }

    def page(request):
        if down.is_set():
            return Resource(b"down", status=503)
        if request.get("Authorization") or request.get("Cookie"):
            return Resource(b"mine", fields=answers[request.path.strip("/").partition("/")[0]])
        return Resource(b"all", fields=(("Cache-Control", "public, max-age=1, stale-if-error=600"), ("Age", "5")))

    origin.default = page
    pawl = bench.pawl(origin)
    for name in answers:
        for who in (("Authorization", "Basic YTpi"), ("Cookie", "s=1")):
            path = f"/{name}/{who[0]}"
            same(get(pawl.address, path).body, b"all", path)
            same(get(pawl.address, path, fields=(who,)).body, b"mine", f"{path}: the user's own")
    down.set()
    for name in answers:
        for who in ("Authorization", "Cookie"):
            answer = get(pawl.address, f"/{name}/{who}")
            same((answer.status, answer.body), (200, b"all"), f"/{name}/{who}: while the origin is down")


@check("who waited for an answer that was another's own elects one who asks", area="crowd", seconds=40)
def elects(bench):
    origin, gates = bench.origin(), {}
    leads = {"if-none-match": ("If-None-Match", '"v"'), "cookie": ("Cookie", "s=1"), "odd": ("X-Odd", "1")}

    def page(request):
        name = request.path.strip("/")
        if request.get(leads[name][0]) == leads[name][1]:
            gate = gates[name]
            return Resource(
                b"no",
                status={"odd": 400, "if-none-match": 304}.get(name),
                etag='"v"',
                type=None if name == "if-none-match" else "text/plain",
                fields=(("Cache-Control", "private"),) if name == "cookie" else (),
                before_head=lambda _: gate.wait(10),
            )
        return Resource(
            b"all", etag='"v"', fields=(("Cache-Control", "max-age=60"),), before_head=lambda _: time.sleep(0.3)
        )

    origin.default = page
    pawl = bench.pawl(origin)
    for name, field in leads.items():
        gates[name] = threading.Event()
        leader = threading.Thread(target=get, args=(pawl.address, f"/{name}"), kwargs={"fields": (field,)}, daemon=True)
        leader.start()
        wait_for(lambda: origin.count(f"/{name}") == 1, 5, "the leader at the origin")
        got = []
        crowd = [
            threading.Thread(target=lambda: got.append(get(pawl.address, f"/{name}").body), daemon=True)
            for _ in range(8)
        ]
        [t.start() for t in crowd]
        time.sleep(0.5)  # they wait; were one too late, it would be a hit
        gates[name].set()
        [t.join(20) for t in crowd]
        same(
            (got, origin.count(f"/{name}") <= 3),
            ([b"all"] * 8, True),
            f"{name}: what they got, of {origin.count(f'/{name}')} requests",
        )


@check(
    "an older 304 that comes later takes nothing back",
    area="shared",
    over=CLEAR,
    why="about what is kept, not about the wire",
)
def older_confirmation(bench):
    origin, gate = bench.origin(), threading.Event()

    def page(request):
        now = ("Date", http_date(time.time()))
        if request.serial == 0:
            return Resource(b"page", etag='"1"', fields=(("Cache-Control", "public, max-age=0"), now))
        if request.serial == 1:
            return Resource(
                b"",
                status=304,
                type=None,
                etag='"1"',
                fields=(("Cache-Control", "public, max-age=600"), now),
                before_head=lambda _: gate.wait(10),
            )
        return Resource(b"", status=304, type=None, etag='"1"', fields=(("Cache-Control", "public, no-cache"), now))

    origin.at("/x", page)
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    slow = threading.Thread(target=get, args=(pawl.address, "/x"), daemon=True)
    slow.start()
    wait_for(lambda: origin.count("/x") == 2, 5, "the slow question")
    time.sleep(1.1)  # the dates have to differ
    get(pawl.address, "/x", fields=(("Cache-Control", "no-cache"),))
    gate.set()
    slow.join(10)
    count = origin.count("/x")
    answer = get(pawl.address, "/x")
    same(
        (answer.get("Cache-Control"), origin.count("/x") > count),
        ("public, no-cache", True),
        "what holds, and whether the origin is asked",
    )


@check(
    "what is removed, moved or copied over takes all below it along, in memory and on disk alone; what is only asked "
    "for leaves it",
    area="webdav",
    seconds=60,
)
def trees(bench):
    served, origin = {}, bench.origin()
    origin.default = lambda request: (
        Resource(f"{served.setdefault(request.target, 0)} of {request.target}".encode(), last_modified=OLD)
        if request.method == "GET"
        else Resource(b"", status=207 if request.method == "COPY" else 201)
    )
    pawl = bench.pawl(origin)
    paths = [f"/{top}/{name}" for top in ("one", "two", "three", "onetwo") for name in ("a", "deep/b?x=1", "")] + [
        "/one",
        "/one?q",
    ]

    def asked(why, expected, number):
        found = {}
        for path in paths:
            before = origin.count(path)
            answer = get(pawl.address, path)
            found[path] = origin.count(path) > before
            if found[path]:
                same(answer.body, f"{number} of {path}".encode(), f"{why}: {path}")
        same({path for path in paths if found[path]}, set(expected), f"{why}: asked for anew")

    asked("at first", paths, 0)
    asked("again", (), 0)
    below = lambda *tops: [path for path in paths if any(path.startswith(f"/{top}/") for top in tops)]
    cases = [
        ("PROPFIND", "/one/", {}, ()),
        ("LOCK", "/one/", {}, ["/one/"]),
        ("PUT", "/one/new", {}, ()),
        ("DELETE", "/one/", {}, below("one") + ["/one"]),
        ("DELETE", "/%6fne/", {}, below("one") + ["/one"]),
        ("DELETE", "/one", {}, below("one") + ["/one"]),
        ("MOVE", "/two/", {"Destination": "http://pawl.test/three/"}, below("two", "three")),
        ("COPY", "/onetwo/", {"Destination": "/one/"}, below("one", "onetwo") + ["/one"]),
        ("MOVE", "/tw%6F", {"Destination": "/%6Fne/"}, below("one", "two") + ["/one"]),
        ("MOVE", "/two/a", {"Destination": "/three/"}, ["/two/a"] + below("three")),
    ]
    for restarts in (False, True):
        for number, (method, target, fields, expected) in enumerate(cases, 1 + 100 * restarts):
            if restarts:
                pawl.restart()
            served.update(dict.fromkeys(served, number))
            with Client(pawl.address) as client:
                client.request(target, method, fields=tuple(fields.items()) + (("Content-Length", "0"),))
                same(client.response().status // 100, 2, f"{method} {target}")
            if restarts:
                pawl.restart()
            asked(f"{method} {target}", expected, number)


@check(
    "a collection goes by every spelling of its URL: with and without its slash, in small and capital hex, encoded "
    "though it need not be",
    area="webdav",
    seconds=60,
)
def spellings(bench):
    origin = bench.origin()
    origin.default = lambda request: (
        Resource(b"one" * 10, last_modified=OLD) if request.method == "GET" else Resource(b"", status=204)
    )
    pawl = bench.pawl(origin)
    cases = [
        ("DELETE", "/d/", {}, ["/d", "/d/", "/d/a"], ["/d?x", "/da"]),
        ("DELETE", "/e", {}, ["/e", "/e/", "/e/a?x"], ["/e?x"]),
        ("MOVE", "/f/", {"Destination": "http://pawl.test/g/"}, ["/f", "/f/a", "/g", "/g/a"], ["/fg"]),
        ("COPY", "/h/", {"Destination": "/i"}, ["/h", "/i", "/i/", "/i/a"], ["/hi"]),
        (
            "DELETE",
            "/caf%c3%a9/",
            {},
            ["/caf%C3%A9/a", "/caf%C3%A9", "/caf%c3%a9/b", "/caf%c3%A9/c", "/c%61f%C3%A9/d"],
            ["/caf%C3%A8/a"],
        ),
        ("DELETE", "/n%C3%A9", {}, ["/n%c3%a9", "/n%c3%a9/", "/n%C3%A9/a"], ["/n%c3"]),
        ("DELETE", "/%64eep/%7ex/", {}, ["/deep/~x/a", "/deep/%7Ex", "/d%65ep/~x/b"], ["/deep/a", "/deep%2f~x/a"]),
        ("DELETE", "/a%2fb/", {}, ["/a%2Fb/x", "/a%2Fb"], ["/a/b/x", "/a/b"]),
        ("PUT", "/p%c3%a9", {}, ["/p%c3%a9", "/p%C3%A9"], ["/p%C3%A9/x"]),
        ("POST", "/q%C3%A9?%e9", {}, ["/q%c3%a9?%e9"], ["/q%c3%a9"]),
    ]
    for how in ("in memory", "on disk"):
        for method, target, fields, gone, left in cases:
            for path in gone + left:
                get(pawl.address, path)
                before = origin.count(path)
                get(pawl.address, path)
                same(origin.count(path), before, f"{path} is kept")
            if how == "on disk":
                pawl.restart()
            with Client(pawl.address) as client:
                client.request(target, method, fields=tuple(fields.items()) + (("Content-Length", "0"),))
                same(client.response().status, 204, f"{method} {target}")
            if how == "on disk":
                pawl.restart()
            asked = {}
            for path in gone + left:
                before = len([r for r in origin.requests if r.target == path])
                get(pawl.address, path)
                asked[path] = len([r for r in origin.requests if r.target == path]) > before
            same(
                [path for path in gone if not asked[path]],
                [],
                f"{method} {target}, {how}: still answered from the store",
            )
            same([path for path in left if asked[path]], [], f"{method} {target}, {how}: dropped with it")
