"""Many visitors with cookies: which cookies count, who may have whose bytes, and how a resumption goes on whose cookies have changed."""

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20


def cookies_at(origin, path):
    return [r.get("Cookie") for r in origin.of(path)]


def ask(pawl, path, cookie, *fields, **options):
    return get(pawl.address, path, fields=(("Cookie", cookie),) * bool(cookie) + fields, **options)


@check("visitors: cookies of analytics neither part copies nor reach the origin; others do, and their octets stay as they came")
def analytics(bench):
    origin = bench.origin()
    origin.at("/page", lambda r: Resource(f"{r.get('Cookie')}".encode(), last_modified="old"))
    pawl = bench.pawl(origin)
    first = ask(pawl, "/page", "_ga=GA1.1.1; _ga_X=GS1.1; _pk_id.1.1fff=a")
    second = ask(pawl, "/page", "_ga=GA1.1.2; _ga_X=GS1.2; _fbp=x")
    third = ask(pawl, "/page", None)
    same((first.body, second.body, third.body, second.hit, third.hit), (b"None", b"None", b"None", True, True), "without a jar of its own")
    one, two = ask(pawl, "/page", "_ga=3;sid=1 ; lang=de"), ask(pawl, "/page", "sid=1; _gid=9; lang=de")
    same((one.body, two.body, two.hit), (b"sid=1; lang=de", b"sid=1; lang=de", True), "the same session and another visit")
    same(ask(pawl, "/page", "sid=1;lang=de").body, b"sid=1;lang=de", "nothing left out: octet for octet")
    true(not ask(pawl, "/page", "sid=2; _ga=3; lang=de").hit, "another session")
    ask(pawl, "/page", "_ga=1; sid=1", method="POST", body=b"")
    same(cookies_at(origin, "/page"), [None, "sid=1; lang=de", "sid=1;lang=de", "sid=2; lang=de", "_ga=1; sid=1"], "what the origin saw")


@check("visitors: key-cookies are the only ones that count; none; ignore-cookies beside the known ones; a route's own")
def named(bench):
    origin = bench.origin()
    for path in ("/x", "/public/x", "/all/x"):
        origin.at(path, lambda r: Resource(f"{r.get('Cookie')}".encode(), last_modified="old"))
    pawl = bench.pawl(origin, site={"key-cookies": "lang, pref_*"}, extra={
        "route:main/public": {"path": "/public/*", "key-cookies": "none"},
        "route:main/all": {"path": "/all/*", "key-cookies": "all", "ignore-cookies": "analytics, seen_*"}})
    ask(pawl, "/x", "sid=1; lang=de; pref_a=1")
    same(ask(pawl, "/x", "lang=de; sid=2; pref_a=1; _ga=4").hit, True, "the same named ones")
    true(not ask(pawl, "/x", "lang=en; sid=1; pref_a=1").hit, "another language")
    ask(pawl, "/public/x", "sid=1")
    same((ask(pawl, "/public/x", "sid=2").hit, ask(pawl, "/public/x", None).hit), (True, True), "no cookie counts")
    ask(pawl, "/all/x", "sid=1; seen_1=a; _ga=1")
    same(ask(pawl, "/all/x", "seen_2=b; sid=1").hit, True, "ignored beside the known ones")
    same(cookies_at(origin, "/x") + cookies_at(origin, "/public/x") + cookies_at(origin, "/all/x"),
         ["lang=de; pref_a=1", "lang=en; pref_a=1", None, "sid=1"], "what the origin saw")


@check("visitors: Vary: Cookie speaks of the cookies that count; HEAD goes without the others, too; owner still sees all of them")
def vary_and_owner(bench):
    origin = bench.origin()
    origin.at("/vary", lambda r: Resource(f"{r.get('Cookie')}".encode(), fields=(("Vary", "Cookie"), ("Cache-Control", "max-age=60"))))
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
    same((answer.status, answer.sha, origin.count("/private")), (206, content.sha256(MIB), 1), "the owner goes on unasked")
    ask(pawl, "/private", "sid=2", *rest, keep=False)
    same(origin.count("/private"), 2, "for another the origin is asked")
