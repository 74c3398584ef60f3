"""resume-private: answers no shared cache may keep, for the rest of one body, for the user who began it."""

import hashlib
import signal
import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource
from harness.process import wait_for
from harness.uploads import bearer

MIB = 1 << 20
ALICE, BOB = ("Authorization", "Basic YWxpY2U6eA=="), ("Authorization", "Basic Ym9iOnk=")
KINDS = {
    "/private": (("Cache-Control", "private, max-age=60"),),
    "/auth": (),
    "/none": (("Cache-Control", "no-store"),),
    "/cookie": (("Set-Cookie", "session=1"),),
}


def bench_with(bench, **site):
    origin = bench.origin()
    for path, fields in KINDS.items():
        origin.at(
            path,
            lambda r, fields=fields: Resource(
                Content(f"{r.get('Authorization')}{r.path}{r.serial}", 4 * MIB), fields=fields
            ),
        )
    return origin, bench.pawl(origin, site={"resume-private": "60s", **site})


def begin(pawl, path, user, limit=MIB):
    with Client(pawl.address) as client:
        client.request(path, fields=(user,))
        return client.response(limit=limit, keep=True)


def resume(pawl, path, user, tag, start=MIB, *more):
    fields = (("Range", f"bytes={start}-"), *([user] if user else []), *([("If-Range", tag)] if tag else []), *more)
    return get(pawl.address, path, fields=fields, keep=False)


@check(
    "the owner finishes an interrupted body with If-Range and the tag; nobody else, not by URL, not without the tag",
    area="private",
)
def owner(bench):
    origin, pawl = bench_with(bench, resume_private_no_store="on")
    for path in KINDS:
        first = begin(pawl, path, ALICE)
        tag = first.get("ETag")
        content = Content(f"{ALICE[1]}{path}0", 4 * MIB)
        true(tag and not tag.startswith("W/"), f"{path}: no tag of pawl's own: {first}")
        same(first.body, content.read(0, MIB), f"{path}: first part")
        answer = resume(pawl, path, ALICE, tag)
        same((answer.status, answer.sha), (206, content.sha256(MIB)), f"{path}: rest for the owner")
        same(origin.count(path), 1, f"{path}: origin requests")
        count = origin.count(path)
        for who, given in ((BOB, tag), (None, tag), (ALICE, None), (ALICE, '"guess"')):
            answer = resume(pawl, path, who, given)
            true(origin.count(path) > count, f"{path}: answered {who} with tag {given} without the origin: {answer}")
            count = origin.count(path)
            true(
                answer.sha != content.sha256(MIB) and answer.sha != content.sha256(), f"{path}: {who} got Alice's body"
            )
        answer = get(pawl.address, path, fields=(ALICE,), keep=False)
        true(origin.count(path) > count and not answer.hit, f"{path}: found by URL")
        answer = get(pawl.address, path, fields=(ALICE, ("If-None-Match", tag)), keep=False)
        same(answer.status, 200, f"{path}: If-None-Match with a private tag")


@check("tags are random: two answers, two tags; no-store only by its own setting; off by default", area="private")
def defaults(bench):
    origin, pawl = bench_with(bench)
    first, second = begin(pawl, "/private", ALICE), begin(pawl, "/private", ALICE)
    true(first.get("ETag") != second.get("ETag"), "one tag for two bodies")
    none = begin(pawl, "/none", ALICE)
    resume(pawl, "/none", ALICE, none.get("ETag") or '"x"')
    same((origin.count("/none"), none.get("ETag")), (2, None), "no-store without the setting: origin requests, tag")
    plain = bench.pawl(origin, name="off")
    first = begin(plain, "/private", ALICE)
    same(first.get("ETag"), None, "tag with resume-private = off")


@check("ends after its time; is not found over a restart by others", area="private", seconds=30)
def expires(bench):
    origin, pawl = bench_with(bench, resume_private="2s")
    first = begin(pawl, "/private", ALICE)
    time.sleep(3)
    count = origin.count("/private")
    answer = resume(pawl, "/private", ALICE, first.get("ETag"))
    true(origin.count("/private") > count and answer.status == 200, f"after its time: {answer}")


@check("a broken origin is resumed for the owner too; the fill goes on while the owner is away", area="private")
def away(bench):
    origin, pawl = bench_with(bench)
    gate = threading.Event()
    content = Content("away", 4 * MIB)
    origin.at("/report", Resource(content, fields=(("Cache-Control", "private"),), gates=((2 * MIB, gate),)))
    first = begin(pawl, "/report", ALICE)
    gate.set()
    answer = resume(pawl, "/report", ALICE, first.get("ETag"))
    same(
        (answer.status, answer.sha, origin.count("/report")),
        (206, content.sha256(MIB), 1),
        "rest of a report that was still being made",
    )


@check("owner by cookie:NAME", area="private")
def cookie_owner(bench):
    origin = bench.origin()
    origin.at(
        "/x",
        lambda r: Resource(Content(f"{r.get('Cookie')}{r.serial}", 2 * MIB), fields=(("Cache-Control", "private"),)),
    )
    pawl = bench.pawl(origin, site={"resume-private": "60s", "owner": "cookie:session"})
    mine, other = ("Cookie", "theme=dark; session=abc"), ("Cookie", "theme=dark; session=def")
    tag = begin(pawl, "/x", mine).get("ETag")
    content = Content(f"{mine[1]}0", 2 * MIB)
    answer = resume(pawl, "/x", ("Cookie", "session=abc; theme=light"), tag)
    same((answer.status, answer.sha), (206, content.sha256(MIB)), "same session, other cookies")
    answer = resume(pawl, "/x", other, tag)
    true(answer.sha != content.sha256(MIB) and origin.count("/x") == 2, f"another session: {answer}")


# -- for others the origin is asked ------------------------------------------------------------------------------------

KEPT = (("Cache-Control", "private"),)
# What an origin may say of a body, and whether its tag is strong.
ORIGINS = {
    "nothing": {},
    "its own tag": {"etag": '"{user}"'},
    "a weak tag": {"etag": 'W/"{user}"'},
    "the date of the page": {"last_modified": "old"},
    "ranges and its own tag": {"etag": '"{user}"', "ranges": True},
    "ranges and the date": {"last_modified": "old", "ranges": True},
    "chunks": {"framing": "chunked"},
    "a tag without conditions": {"etag": '"{user}"', "conditional": False},
}


def user_of(request):
    """By whatever a request shows; a refreshed token or a further cookie is the same user's."""
    import json
    from base64 import urlsafe_b64decode

    bearer = (request.get("Authorization") or "").removeprefix("Bearer ").split(".")
    if len(bearer) == 3:
        return json.loads(urlsafe_b64decode(bearer[1] + "=="))["sub"]
    session = [c.strip() for c in (request.get("Cookie") or "").split(";") if c.strip().startswith("session=")]
    return (request.get("Authorization") or "") + "".join(session) + (request.get("X-Api-Key") or "")


def token(subject, issue=1):
    return ("Authorization", bearer(subject, issue))


def body_of(user, size=4 * MIB):
    return Content(f"of {user}", size)


def asking(bench, name="pawl", fields=KEPT, size=4 * MIB, **site):
    """Each user has a body, all of one length; a token that was made up is refused."""
    origin = bench.origin()

    def at(kind):
        def answer(r):
            if (r.get("Authorization") or "").endswith("forged"):
                return Resource(b"no such token", status=401)
            user = user_of(r)
            how = {
                k: v.format(user="".join(c for c in user if c.isalnum())) if isinstance(v, str) else v
                for k, v in ORIGINS[kind].items()
            }
            return Resource(body_of(user, size), fields=fields, **how)

        return answer

    for number, kind in enumerate(ORIGINS):
        origin.at(f"/{number}", at(kind))
    return origin, bench.pawl(origin, name, site={"resume-private": "60s", **site})


def each_origin(function):
    for number, kind in enumerate(ORIGINS):
        function(f"/{number}", kind)


JAR, OTHER_JAR = ("Cookie", "session=ann; seen=1"), ("Cookie", "session=bob; seen=1")


@check(
    "visitors told apart by cookies alone: the tag is no credential, the origin is asked with their own",
    area="private",
    seconds=60,
)
def cookies_alone(bench):
    origin, pawl = asking(bench)

    def row(path, kind):
        tag = begin(pawl, path, JAR).get("ETag")
        count, mine, other = origin.count(path), body_of("session=ann"), body_of("session=bob")
        answer = resume(pawl, path, OTHER_JAR, tag)
        true(origin.count(path) > count, f"{kind}: another visitor was answered without the origin: {answer}")
        same((answer.status, answer.sha), (200, other.sha256()), f"{kind}: another visitor has a body of his own")
        true(answer.get("ETag") != tag, f"{kind}: the other body has the tag")
        same(
            resume(pawl, path, OTHER_JAR, answer.get("ETag")).sha,
            other.sha256(MIB),
            f"{kind}: who goes on with it by its own tag",
        )
        for request in origin.of(path)[count:]:
            same(request.get("Cookie"), OTHER_JAR[1], f"{kind}: cookies at the origin")
        count = origin.count(path)
        answer = resume(pawl, path, None, tag)
        same(
            (answer.status, answer.sha, origin.count(path) > count),
            (200, body_of("").sha256(), True),
            f"{kind}: nobody with the tag",
        )
        for jar in (JAR, ("Cookie", "session=ann; seen=2; added=1")):
            count = origin.count(path)
            answer = resume(pawl, path, jar, tag)
            same(
                (answer.status, answer.sha, answer.get("ETag")),
                (206, mine.sha256(MIB), tag),
                f"{kind}: the same visitor with {jar[1]}",
            )
            true(
                origin.count(path) > count and origin.of(path)[-1].get("Cookie") == jar[1],
                f"{kind}: the origin was not asked with {jar[1]}",
            )

    each_origin(row)


@check(
    "of a token nothing counts but its bytes: a refreshed one asks the origin and goes on, a forged one is refused "
    "by it",
    area="private",
    seconds=60,
)
def tokens(bench):
    origin, pawl = asking(bench)

    def row(path, kind):
        tag, mine = begin(pawl, path, token("ann", 1)).get("ETag"), body_of("ann")
        count = origin.count(path)
        answer = resume(pawl, path, token("ann", 1), tag)
        same(
            (answer.status, answer.sha, origin.count(path)),
            (206, mine.sha256(MIB), count),
            f"{kind}: the same token, unasked",
        )
        answer = resume(pawl, path, ("Authorization", token("ann", 9)[1].rsplit(".", 1)[0] + ".forged"), tag)
        same((answer.status, origin.count(path)), (401, count + 1), f"{kind}: a forged token")
        count = origin.count(path)
        compared = pawl.log().count("private-compared")
        answer = resume(pawl, path, token("ann", 2), tag)
        same(
            (answer.status, answer.sha, answer.get("ETag")), (206, mine.sha256(MIB), tag), f"{kind}: a refreshed token"
        )
        true(
            origin.count(path) > count and origin.of(path)[-1].get("Authorization") == token("ann", 2)[1],
            f"{kind}: not asked with the refreshed token",
        )
        if ORIGINS[kind].get("etag", "W/").startswith("W/") or ORIGINS[kind].get("conditional") is False:
            wait_for(lambda: pawl.log().count("private-compared") > compared, what="the end of the comparison")
        count = origin.count(path)
        answer = resume(pawl, path, token("ann", 2), tag, 2 * MIB)
        same(
            (answer.status, answer.sha, origin.count(path)),
            (206, mine.sha256(2 * MIB), count),
            f"{kind}: the refreshed token again, unasked",
        )
        answer = resume(pawl, path, token("bob"), tag)
        same((answer.status, answer.sha), (200, body_of("bob").sha256()), f"{kind}: another user's token")

    each_origin(row)


@check(
    "a 304 with the strong tag moves no byte of the body, and nothing of another user's head comes with it",
    area="private",
)
def not_modified(bench):
    origin = bench.origin()
    body = body_of("all")
    origin.at("/x", lambda r: Resource(body, etag='"v1"', fields=KEPT + (("X-For", user_of(r)),)))
    pawl = bench.pawl(origin, site={"resume-private": "60s"})
    tag = begin(pawl, "/x", token("ann")).get("ETag")
    answer = resume(pawl, "/x", token("bob"), tag)
    asked = origin.of("/x")[-1]
    same(
        (answer.status, answer.sha, answer.get("ETag"), answer.all("X-For")),
        (206, body.sha256(MIB), tag, ["bob"]),
        "the rest",
    )
    same(
        (asked.status, asked.get("If-None-Match"), asked.get("Range"), asked.sent),
        (304, '"v1"', None, 0),
        "the question",
    )


@check("without any credential the tag is enough; an added cookie, credential or key asks the origin", area="private")
def nobody(bench):
    origin, pawl = asking(bench)
    path, body = "/0", body_of("")
    tag = begin(pawl, path, ("X-Color", "red")).get("ETag")
    answer = resume(pawl, path, ("X-Color", "red"), tag)
    same((answer.status, answer.sha, origin.count(path)), (206, body.sha256(MIB), 1), "the same request, unasked")
    for added in (
        ("Cookie", "seen=1"),
        ("Proxy-Authorization", "Basic eA=="),
        ("X-Color", "blue"),
        ("Client-Cert", ":AAAA:"),
    ):
        count = origin.count(path)
        answer = resume(pawl, path, added, tag)
        same((answer.status, answer.sha), (206, body.sha256(MIB)), f"with {added[0]}")
        true(origin.count(path) > count or added[0] == "Client-Cert", f"with {added[0]}: the origin was not asked")
    for added in (("X-Api-Key", "k2"), ("Authorization", "Basic eA=="), ("Cookie", "session=bob")):
        answer = resume(pawl, path, added, tag)
        same((answer.status, answer.sha), (200, body_of(added[1]).sha256()), f"with {added[0]}")


@check("X-Api-Key is a credential: another key, or none, opens nothing; the same one asks", area="private")
def api_key(bench):
    origin, pawl = asking(bench)

    def row(path, kind):
        tag = begin(pawl, path, ("X-Api-Key", "k1")).get("ETag")
        for key in ("k2", None):
            answer = resume(pawl, path, ("X-Api-Key", key) if key else None, tag)
            same((answer.status, answer.sha), (200, body_of(key or "").sha256()), f"{kind}: key {key}")
        answer = resume(pawl, path, ("X-Api-Key", "k1"), tag)
        same((answer.status, answer.sha), (206, body_of("k1").sha256(MIB)), f"{kind}: the same key")

    each_origin(row)


@check(
    "the same Authorization and other cookies, where owner names none of them, is another visitor; owner = none "
    "opens by the tag",
    area="private",
)
def both(bench):
    origin = bench.origin()
    origin.at("/x", lambda r: Resource(body_of(r.get("Cookie")), fields=KEPT))
    pawl = bench.pawl(
        origin, site={"resume-private": "60s"}, extra={"route:main/free": {"path": "/free", "owner": "none"}}
    )
    staging = ("Authorization", "Basic c3RhZ2luZzp4")
    with Client(pawl.address) as client:
        client.request("/x", fields=(staging, JAR))
        tag = client.response(limit=MIB).get("ETag")
    answer = resume(pawl, "/x", staging, tag, MIB, OTHER_JAR)
    same((answer.status, answer.sha), (200, body_of(OTHER_JAR[1]).sha256()), "other cookies")
    count = origin.count("/x")
    answer = resume(pawl, "/x", staging, tag, MIB, JAR)
    same(
        (answer.status, answer.sha, origin.count("/x")),
        (206, body_of(JAR[1]).sha256(MIB), count),
        "the same cookies, unasked",
    )
    origin.at("/free", lambda r: Resource(body_of("free"), fields=KEPT))
    tag = begin(pawl, "/free", JAR).get("ETag")
    answer = resume(pawl, "/free", OTHER_JAR, tag)
    same((answer.status, answer.sha, origin.count("/free")), (206, body_of("free").sha256(MIB), 1), "owner = none")


@check(
    "bytes that differ behind the client's offset are never joined: the client is cut off where they begin to",
    area="private",
)
def differs_later(bench):
    origin = bench.origin()
    body = body_of("ann", 8 * MIB)
    other = body.changed(6 * MIB + 5)
    origin.at("/x", lambda r: Resource(body if r.serial == 0 else other, fields=KEPT))
    pawl = bench.pawl(origin, site={"resume-private": "60s"})
    tag = begin(pawl, "/x", JAR).get("ETag")
    for offset in (0, MIB, 6 * MIB + 4):
        with Client(pawl.address) as client:
            client.request("/x", fields=(JAR, ("Range", f"bytes={offset}-"), ("If-Range", tag)))
            answer = client.response(keep=True)
        if answer.status == 200:  # it was found out in time
            same(answer.body, other.read(), f"whole, from {offset}")
            continue
        same(
            (answer.status, answer.complete, answer.body),
            (206, False, body.read(offset, 6 * MIB + 5)),
            f"from {offset}: up to where they differ",
        )
    for offset in (6 * MIB + 5, 7 * MIB):
        answer = resume(pawl, "/x", JAR, tag, offset)
        same((answer.status, answer.sha), (200, other.sha256()), f"from {offset}: the whole")


@check(
    "what the origin says to the asker is the answer: 403, 404, 503, a redirect, another length; kept under its own "
    "tag",
    area="private",
)
def refusals(bench):
    origin = bench.origin()
    said = [None]
    origin.at("/x", lambda r: said[0] or Resource(body_of("x"), fields=KEPT))
    pawl = bench.pawl(origin, site={"resume-private": "60s"})
    tag = begin(pawl, "/x", JAR).get("ETag")
    for status in (403, 404, 500, 503, 302):
        said[0] = Resource(b"no", status=status, fields=(("Location", "/login"),))
        answer = resume(pawl, "/x", OTHER_JAR, tag)
        same((answer.status, answer.count), (status, 2), "what the origin said")
    for content in (body_of("x", 4 * MIB - 1), body_of("x", 4 * MIB + 1), Content("y", 4 * MIB)):
        said[0] = Resource(content, fields=KEPT)
        answer = resume(pawl, "/x", OTHER_JAR, tag)
        same((answer.status, answer.sha), (200, content.sha256()), "another body")
        true(answer.get("ETag") not in (None, tag), f"tag of another body: {answer}")
    said[0] = Resource(body_of("x"), fields=(("Cache-Control", "no-store"),))
    answer = resume(pawl, "/x", OTHER_JAR, tag)
    same((answer.status, answer.sha, answer.get("ETag")), (200, body_of("x").sha256(), None), "no-store")
    said[0] = None
    same(resume(pawl, "/x", JAR, tag).status, 206, "the first visitor")


@check("over a restart and a reload with another owner list nobody gets more than before", area="private")
def reloaded(bench):
    origin, pawl = asking(bench, owner="cookie:session, authorization")
    path, mine = "/0", body_of("session=ann")
    tag = begin(pawl, path, JAR).get("ETag")
    wait_for(lambda: origin.of(path)[0].ended == "done", what="the end of the fill")

    def asks(jar, what, sha):
        count = origin.count(path)
        answer = resume(pawl, path, jar, tag)
        true(origin.count(path) > count, f"{what}: not asked: {answer}")
        same(answer.sha, sha, what)

    def opens(jar, what):
        count = origin.count(path)
        answer = resume(pawl, path, jar, tag)
        same((answer.status, answer.sha, origin.count(path)), (206, mine.sha256(MIB), count), what)

    opens(JAR, "before")
    pawl.restart()
    opens(JAR, "after a restart")
    asks(OTHER_JAR, "another after a restart", body_of("session=bob").sha256())
    for owner, same_one in (
        ("authorization, cookie:session", True),
        ("authorization", False),
        ("cookie:other", False),
        ("none", False),
    ):
        text = pawl.file.read_text()
        pawl.file.write_text(
            "\n".join(f"owner = {owner}" if line.startswith("owner") else line for line in text.split("\n"))
        )
        reloads = pawl.log().count(" reloaded")
        pawl.signal(signal.SIGHUP)
        wait_for(lambda: pawl.log().count(" reloaded") > reloads, what="the reload")
        opens(JAR, f"owner = {owner}") if same_one else asks(JAR, f"owner = {owner}", mine.sha256(MIB))
        asks(OTHER_JAR, f"another, owner = {owner}", body_of("session=bob").sha256())


# -- bodies of which a part is held, and that nobody fills any more
# ------------------------------------------------------

SHOWN = {"a credential": (ALICE,), "a cookie": (JAR,), "both": (ALICE, JAR), "nothing": ()}
HOWS = {
    "the origin gives up": lambda pawl: None,
    "SIGTERM": lambda pawl: pawl.restart(),
    "kill -9": lambda pawl: pawl.restart(hard=True),
}


def hows(what):
    """All for those that show one thing; the last one tells of the others."""
    return list(HOWS.items())[0 if what in ("a credential", "a cookie") else -1 :]


class Breaking:
    """An origin whose bodies break off at a place for ever, until that is moved; of bytes that can be changed."""

    def __init__(self, bench, name="pawl", size=4 * MIB, **site):
        self.octets, self.at = Content("breaking", size).read(0, size), 2 * MIB
        self.origin = bench.origin()
        for number, kind in enumerate(ORIGINS):
            self.origin.at(f"/{number}", self.answer(kind))
        self.pawl = bench.pawl(
            self.origin,
            name,
            site={"resume-private": "5m", **site},
            upstream={"resume-attempts": 1},
            pawl={"log-level": "info"},
        )

    def answer(self, kind):
        def answer(r):
            if (r.get("Authorization") or "").endswith("forged"):
                return Resource(b"no such token", status=401)
            octets = self.octets if user_of(r) not in ("bob", BOB[1]) else bytes(reversed(self.octets))
            name = hashlib.sha256(octets).hexdigest()[:8]
            how = {k: v.format(user=name) if isinstance(v, str) else v for k, v in ORIGINS[kind].items()}
            return Resource(
                octets, fields=KEPT, breaks=lambda start, end: Break(self.at, "fin") if self.at < end else None, **how
            )

        return answer

    def ask(self, path, shown, tag=None, wanted=None):
        fields = tuple(shown) + ((("Range", f"bytes={wanted}"), ("If-Range", tag)) if tag else ())
        return get(self.pawl.address, path, fields=fields, keep=True)

    def begin(self, path, shown):
        """Up to the break, and until pawl has given up: the tag."""
        ended = self.pawl.log().count(" fill-ended ")
        first = self.ask(path, shown)
        same((first.status, first.body), (200, self.octets[: self.at]), f"{path}: the beginning")
        wait_for(lambda: self.pawl.log().count(" fill-ended ") > ended, 10, "the end of the fill")
        return first.get("ETag")


@check(
    "a body whose fill has ended goes on where it was: after the origin gave up, SIGTERM and kill -9; by a "
    "credential, a cookie or nothing; whatever the origin says of it",
    area="private",
    seconds=240,
    over=("clear",),
    why="what is kept is the same however it is sent",
)
def left(bench):
    for what, shown in SHOWN.items():
        b = Breaking(bench, what.replace(" ", "-"))

        def row(path, kind):
            for how, act in hows(what):
                why, b.at = f"{kind}, {what}, {how}", 2 * MIB
                tag = b.begin(path, shown)
                act(b.pawl)
                count = b.origin.count(path)
                if kind != "chunks" and what != "a cookie":
                    answer = b.ask(path, shown, tag, "0-99")
                    same((answer.status, answer.body), (206, b.octets[:100]), f"{why}: what is held")
                    same(b.origin.count(path), count, f"{why}: the origin was asked for what is held")
                b.at = 3 * MIB
                if kind != "chunks":
                    ended = b.pawl.log().count(" fill-ended ")
                    second = b.ask(path, shown, tag, f"{2 * MIB}-")
                    same((second.status, second.get("ETag")), (206, tag), f"{why}: the rest")
                    true(b.octets[2 * MIB : 3 * MIB] == second.body, f"{why}: {len(second.body)} bytes of the rest")
                    wait_for(lambda: b.pawl.log().count(" fill-ended ") > ended, 10, "the end of the second fill")
                    act(b.pawl)
                    start = 3 * MIB
                else:
                    start = 2 * MIB
                b.at = 4 * MIB
                last = b.ask(path, shown, tag, f"{start}-")
                same(
                    (last.status, last.get("ETag"), last.body == b.octets[start:]), (206, tag, True), f"{why}: the end"
                )

        each_origin(row)
        b.pawl.stop()


@check(
    "of a body whose fill has ended others get what the origin gives them: the same goes on, another is another, a "
    "forged token is refused",
    area="private",
    seconds=120,
    over=("clear",),
    why="what is kept is the same however it is sent",
)
def left_for_others(bench):
    b = Breaking(bench)

    def row(path, kind):
        for how, act in HOWS.items():
            why, b.at = f"{kind}, {how}", 2 * MIB
            tag = b.begin(path, (token("ann", 1),))
            act(b.pawl)
            b.at = 4 * MIB
            count = b.origin.count(path)
            answer = b.ask(path, (("Authorization", token("ann", 9)[1].rsplit(".", 1)[0] + ".forged"),), tag, f"{MIB}-")
            same(answer.status, 401, f"{why}: a forged token")
            answer = b.ask(path, (token("bob", 1),), tag, f"{MIB}-")
            same(
                (answer.status, answer.body == bytes(reversed(b.octets)), answer.get("ETag") != tag),
                (200, True, True),
                f"{why}: another user",
            )
            answer = b.ask(path, (token("ann", 2),), tag, f"{2 * MIB}-")
            same(
                (answer.status, answer.get("ETag"), answer.body == b.octets[2 * MIB :]),
                (206, tag, True),
                f"{why}: a refreshed token",
            )
            true(b.origin.count(path) >= count + 3, f"{why}: the origin was not asked")
            count = b.origin.count(path)
            answer = b.ask(path, (token("ann", 1),), tag, f"{MIB}-")
            same(
                (answer.status, answer.get("ETag"), answer.body == b.octets[MIB:]),
                (206, tag, True),
                f"{why}: the first token",
            )

    each_origin(row)


@check(
    "what is held in part is never joined to other content, and an answer that is not its rest takes nothing from it",
    area="private",
    seconds=240,
    over=("clear",),
    why="what is kept is the same however it is sent",
)
def left_and_changed(bench):
    for what, shown in SHOWN.items():
        b = Breaking(bench, what.replace(" ", "-"))
        mine = b.octets

        def row(path, kind):
            for how, act in hows(what):
                why, b.at, b.octets = f"{kind}, {what}, {how}", 2 * MIB, mine
                tag = b.begin(path, shown)
                act(b.pawl)
                b.at = 4 * MIB
                for place in (0, 2 * MIB - 1):
                    b.octets = mine[:place] + bytes([mine[place] ^ 1]) + mine[place + 1 :]
                    answer = b.ask(path, shown, tag, f"{2 * MIB}-")
                    same(
                        (answer.status, answer.body == b.octets, answer.get("ETag") != tag),
                        (200, True, True),
                        f"{why}: a byte differs at {place}",
                    )
                if kind != "chunks":
                    b.octets = mine[:-1]
                    answer = b.ask(path, shown, tag, f"{2 * MIB}-")
                    same((answer.status, answer.body == b.octets), (200, True), f"{why}: a shorter one")
                b.octets = mine
                answer = b.ask(path, shown, tag, f"{2 * MIB}-")
                same(
                    (answer.status, answer.get("ETag"), answer.body == mine[2 * MIB :]),
                    (206, tag, True),
                    f"{why}: the same again",
                )

        each_origin(row)
        b.pawl.stop()
