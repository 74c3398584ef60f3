"""Many visitors with cookies: which cookies count, who may have whose bytes, and how a resumption goes on whose cookies
have changed."""

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20


def cookies_at(origin, path):
    return [r.get("Cookie") for r in origin.of(path)]


def ask(pawl, path, cookie, *fields, **options):
    return get(pawl.address, path, fields=(("Cookie", cookie),) * bool(cookie) + fields, **options)


@check(
    "cookies of analytics neither part copies nor reach the origin; others do, and their bytes stay as they came",
    area="visitors",
)
def analytics(bench):
    origin = bench.origin()
    origin.at("/page", lambda r: Resource(f"{r.get('Cookie')}".encode(), last_modified="old"))
    pawl = bench.pawl(origin)
    first = ask(pawl, "/page", "_ga=GA1.1.1; _ga_X=GS1.1; _pk_id.1.1fff=a")
    second = ask(pawl, "/page", "_ga=GA1.1.2; _ga_X=GS1.2; _fbp=x")
    third = ask(pawl, "/page", None)
    same(
        (first.body, second.body, third.body, second.hit, third.hit),
        (b"None", b"None", b"None", True, True),
        "without a jar of its own",
    )
    one, two = ask(pawl, "/page", "_ga=3;sid=1 ; lang=de"), ask(pawl, "/page", "sid=1; _gid=9; lang=de")
    same(
        (one.body, two.body, two.hit),
        (b"sid=1; lang=de", b"sid=1; lang=de", True),
        "the same session and another visit",
    )
    same(ask(pawl, "/page", "sid=1;lang=de").body, b"sid=1;lang=de", "nothing left out: byte for byte")
    true(not ask(pawl, "/page", "sid=2; _ga=3; lang=de").hit, "another session")
    ask(pawl, "/page", "_ga=1; sid=1", method="POST", body=b"")
    same(
        cookies_at(origin, "/page"),
        [None, "sid=1; lang=de", "sid=1;lang=de", "sid=2; lang=de", "_ga=1; sid=1"],
        "what the origin saw",
    )


@check(
    "key-cookies are the only ones that count; none; ignore-cookies beside the known ones; a route's own",
    area="visitors",
)
def named(bench):
    origin = bench.origin()
    for path in ("/x", "/public/x", "/all/x"):
        origin.at(path, lambda r: Resource(f"{r.get('Cookie')}".encode(), last_modified="old"))
    pawl = bench.pawl(
        origin,
        site={"key-cookies": "lang, pref_*"},
        extra={
            "route:main/public": {"path": "/public/*", "key-cookies": "none"},
            "route:main/all": {"path": "/all/*", "key-cookies": "all", "ignore-cookies": "analytics, seen_*"},
        },
    )
    ask(pawl, "/x", "sid=1; lang=de; pref_a=1")
    same(ask(pawl, "/x", "lang=de; sid=2; pref_a=1; _ga=4").hit, True, "the same named ones")
    true(not ask(pawl, "/x", "lang=en; sid=1; pref_a=1").hit, "another language")
    ask(pawl, "/public/x", "sid=1")
    same((ask(pawl, "/public/x", "sid=2").hit, ask(pawl, "/public/x", None).hit), (True, True), "no cookie counts")
    ask(pawl, "/all/x", "sid=1; seen_1=a; _ga=1")
    same(ask(pawl, "/all/x", "seen_2=b; sid=1").hit, True, "ignored beside the known ones")
    same(
        cookies_at(origin, "/x") + cookies_at(origin, "/public/x") + cookies_at(origin, "/all/x"),
        ["lang=de; pref_a=1", "lang=en; pref_a=1", None, "sid=1"],
        "what the origin saw",
    )


@check(
    "Vary: Cookie speaks of the cookies that count; HEAD goes without the others, too; owner still sees all of them",
    area="visitors",
)
def vary_and_owner(bench):
    origin = bench.origin()
    origin.at(
        "/vary",
        lambda r: Resource(f"{r.get('Cookie')}".encode(), fields=(("Vary", "Cookie"), ("Cache-Control", "max-age=60"))),
    )
    content = Content("private", 2 * MIB)
    origin.at("/private", lambda r: Resource(content, fields=(("Cache-Control", "private"),)))
    pawl = bench.pawl(origin, site={"key-cookies": "lang", "resume-private": "60s", "owner": "cookie:sid"})
    ask(pawl, "/vary", "sid=1; lang=de")
    same((ask(pawl, "/vary", "lang=de; sid=2").hit, ask(pawl, "/vary", "lang=en").hit), (True, False), "hits")
    ask(pawl, "/vary", "sid=7", method="HEAD")
    same(cookies_at(origin, "/vary"), ["lang=de", "lang=en", None], "what the origin saw")
    tag = ask(pawl, "/private", "sid=1", limit=MIB, keep=False).get("ETag")
    rest = (("Range", f"bytes={MIB}-"), ("If-Range", tag))
    answer = ask(pawl, "/private", "sid=1; x=2", *rest, keep=False)
    same(
        (answer.status, answer.sha, origin.count("/private")),
        (206, content.sha256(MIB), 1),
        "the owner goes on unasked",
    )
    ask(pawl, "/private", "sid=2", *rest, keep=False)
    same(origin.count("/private"), 2, "for another the origin is asked")


# -- who may have whose bytes ------------------------------------------------------------------------------------------

KINDS = {"strong": {"etag": '"one"'}, "weak": {"etag": 'W/"one"'}, "date": {"last_modified": "old"}, "none": {}}


def begin(pawl, path, cookie, limit=MIB):
    return ask(pawl, path, cookie, limit=limit, keep=False)


def go_on(pawl, path, cookie, tag, start=MIB, **options):
    return ask(pawl, path, cookie, ("Range", f"bytes={start}-"), ("If-Range", tag), keep=False, **options)


@check(
    "with a strong tag one body serves many jars: each asks with its own cookies, a 304 gives the bytes and its own "
    "fields alone",
    area="visitors",
)
def many_jars(bench):
    origin = bench.origin()
    content = Content("one", 2 * MIB)
    for path, sets in (("/x", ()), ("/sets", (("Set-Cookie", "a=b"),))):
        origin.at(
            path,
            lambda r, sets=sets: Resource(
                content,
                etag='"one"',
                type="text/x-one",
                fields=(
                    ("X-For", r.get("Cookie") or "-"),
                    ("Content-Language", "de" if r.serial == 0 else "en"),
                    *((name, f"{value}{r.serial}") for name, value in sets),
                ),
            ),
        )
    pawl = bench.pawl(origin)
    for path in ("/x", "/sets"):
        for number, cookie in enumerate(("sid=1", "sid=2", "sid=3", None, "sid=1")):
            answer = ask(pawl, path, cookie)
            same(
                (
                    answer.status,
                    answer.sha,
                    answer.get("X-For"),
                    answer.get("ETag"),
                    number == 4 or answer.get("Content-Language"),
                    answer.get("Content-Type"),
                ),
                (200, content.sha256(), cookie or "-", '"one"', number == 4 or "de", "text/x-one"),
                f"{path} for {cookie}",
            )
            same(
                answer.all("Set-Cookie"),
                [f"a=b{number}"] if path == "/sets" else [],
                f"Set-Cookie of {path} for {cookie}",
            )
            if 0 < number < 4:
                true("fwd=vary-miss; fwd-status=304" in answer.cache, f"{path} for {cookie}: {answer.cache}")
        asked = origin.of(path)
        same([r.status for r in asked], [200, 304, 304, 304, 304], f"what the origin answered for {path}")
        same([r.get("If-None-Match") for r in asked], [None] + ['"one"'] * 4, f"If-None-Match of {path}")
        part = ask(pawl, path, "sid=4", ("Range", "bytes=5-9"))
        same((part.status, part.body), (206, content.read(5, 10)), f"a part of {path} for another")
        same(ask(pawl, path, "sid=5", ("If-None-Match", '"one"')).status, 304, f"a client's own condition, {path}")


@check(
    "what is personal stays: each with its own tag, tags of others, weak tags, private, no-store, Authorization",
    area="visitors",
)
def personal(bench):
    origin = bench.origin()
    who = lambda r: r.get("Cookie") or r.get("Authorization") or "-"
    kinds = {
        "/own-tag": lambda r: {"etag": f'"{who(r)}"'},
        "/weak": lambda r: {"etag": 'W/"all"'},
        "/date": lambda r: {"last_modified": "old"},
        "/private": lambda r: {"etag": '"p"', "fields": (("Cache-Control", "private"),)},
        "/no-store": lambda r: {"etag": '"p"', "fields": (("Cache-Control", "no-store"),)},
        "/sets": lambda r: {"etag": f'"{who(r)}"', "fields": (("Set-Cookie", f"for={who(r)}"),)},
    }
    for path, made in kinds.items():
        origin.at(path, lambda r, made=made: Resource(Content(who(r), 2 * MIB), **made(r)))
    pawl = bench.pawl(origin)
    for path in kinds:
        for cookie in ("sid=1", "sid=2", "sid=1", "sid=3"):
            answer = ask(pawl, path, cookie)
            same((answer.status, answer.sha), (200, Content(cookie, 2 * MIB).sha256()), f"{path} for {cookie}")
            true(
                path != "/sets" or answer.all("Set-Cookie") == [f"for={cookie}"],
                f"cookies of {path}: {answer.all('Set-Cookie')}",
            )
        tag = answer.get("ETag")
        if tag:
            rest = go_on(pawl, path, "sid=2", tag)
            true(Content("sid=3", 2 * MIB).read(MIB, 2 * MIB) not in rest.body, f"{path}: another's bytes by a tag")
    origin.at("/auth", lambda r: Resource(Content("auth", MIB), etag='"a"'))
    ask(pawl, "/auth", "sid=1")
    get(pawl.address, "/auth", fields=(("Authorization", "Basic eDp5"),))
    same(origin.of("/auth")[1].get("If-None-Match"), None, "what is offered to who shows a credential")


@check(
    "a rolling cookie costs no resumption: strong tag by 304, others by a replay that is compared; changed bytes are "
    "never joined",
    area="visitors",
)
def rolling(bench):
    origin = bench.origin()
    content, other = Content("rolls", 4 * MIB), Content("changed", 4 * MIB)
    for kind, made in KINDS.items():
        for ranges in (False, True):
            origin.at(f"/{kind}{ranges}", lambda r, made=made, ranges=ranges: Resource(content, ranges=ranges, **made))
            origin.at(
                f"/changed/{kind}{ranges}",
                lambda r, made=made, ranges=ranges: Resource(
                    content if r.serial == 0 else other, ranges=ranges, **made
                ),
            )
    pawl = bench.pawl(origin)
    for kind in KINDS:
        for ranges in (False, True):
            path = f"/{kind}{ranges}"
            tag = begin(pawl, path, "sid=1; roll=0").get("ETag")
            for step in range(1, 4):
                answer = go_on(pawl, path, f"sid=1; roll={step}", tag, start=step * MIB)
                same(
                    (answer.status, answer.sha, answer.get("ETag")),
                    (206, content.sha256(step * MIB), tag),
                    f"{path}, step {step}",
                )
            if kind == "strong":
                true(origin.sent(path) <= content.size * 1.05, f"{path}: {origin.sent(path)} bytes from the origin")
            if kind == "strong":
                continue
            path = "/changed" + path
            tag = begin(pawl, path, "sid=1; roll=0").get("ETag")
            true(ask(pawl, path, "sid=1; roll=0", keep=False).complete, f"{path}: the whole of the first")
            answer = go_on(pawl, path, "sid=1; roll=1", tag)
            true(answer.status == 200 and answer.sha == other.sha256() or not answer.complete, f"{path}: {answer}")


@check(
    "the same owner by cookie:NAME goes on unasked, whatever its other cookies; an empty one, or another, is asked "
    "about",
    area="visitors",
)
def same_owner(bench):
    origin = bench.origin()
    content = Content("owned", 2 * MIB)
    origin.at("/x", lambda r: Resource(content))
    pawl = bench.pawl(origin, site={"owner": "cookie:sid"})
    tag = begin(pawl, "/x", "sid=1; roll=0").get("ETag")
    for cookie, asked in (
        ("roll=1; sid=1", 0),
        ("sid=2; roll=0", 1),
        ("roll=0", 1),
        ("sid=; roll=1", 1),
        ("sid=1; sid=2", 1),
        ("sid=1", 0),
    ):
        count = origin.count("/x")
        answer = go_on(pawl, "/x", cookie, tag)
        same(
            (answer.status, answer.sha, origin.count("/x") - count), (206, content.sha256(MIB), asked), f"for {cookie}"
        )
    tag = begin(pawl, "/x", "roll=5").get("ETag")
    count = origin.count("/x")
    same(
        (go_on(pawl, "/x", "roll=6", tag).status, origin.count("/x") - count),
        (206, 1),
        "without the owner's cookie on both sides",
    )


@check(
    "another's running fill is joined by who has its strong tag confirmed; after kill -9 what is held serves other "
    "jars, too",
    area="visitors",
)
def joined(bench):
    import threading

    origin = bench.origin()
    content, gate = Content("runs", 8 * MIB), threading.Event()
    bench.stack.callback(gate.set)
    origin.at(
        "/x", lambda r: Resource(content, etag='"r"', ranges=True, gates=((4 * MIB, gate),) if r.serial == 0 else ())
    )
    pawl = bench.pawl(origin)
    tag = begin(pawl, "/x", "sid=1", limit=2 * MIB).get("ETag")
    same(go_on(pawl, "/x", "sid=2", tag, start=MIB, limit=2 * MIB).status, 206, "while it comes")
    gate.set()
    answer = go_on(pawl, "/x", "sid=3", tag)
    same((answer.status, answer.sha), (206, content.sha256(MIB)), "the rest")
    true(origin.sent("/x") <= content.size * 1.05, f"{origin.sent('/x')} bytes from the origin")
    pawl.kill()
    pawl.start()
    count = origin.sent("/x")
    answer = go_on(pawl, "/x", "sid=4", tag)
    same((answer.status, answer.sha), (206, content.sha256(MIB)), "after a kill")
    true(origin.sent("/x") - count <= 6 * MIB, f"{origin.sent('/x') - count} bytes from the origin after the kill")
