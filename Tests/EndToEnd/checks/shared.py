"""What becomes of a shared copy when others ask about it: validations, variants, ranges, resumptions, unsafe
requests."""

import threading
import time

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource
from harness.process import wait_for

MIB = 1 << 20
ALICE, BOB = ("Cookie", "session=alice"), ("Cookie", "session=bob")
MINUTE = ("Cache-Control", "max-age=60")


@check(
    "a 304 freshens for others what a 200 to the same request could be stored as, and no more",
    area="shared",
    seconds=40,
)
def not_modified(bench):
    origin = bench.origin()
    said = {}

    def page(request):
        if request.get("If-None-Match") is None:
            return Resource(
                b"page",
                etag='"1"',
                fields=(("Cache-Control", "public, max-age=1"), ("X-Greeting", "nobody")),
                type="text/plain",
            )
        fields = said[request.path] + (
            ("X-Greeting", request.get("Cookie") or request.get("Authorization") or "stranger"),
        )
        return Resource(b"page", etag='"1"', fields=fields, type="text/plain")

    cases = {  # path: (fields of the 304, of the request, whether the others' copy is fresh after it, their greeting)
        "/cookie": ((), ALICE, True, "nobody"),
        "/private": ((("Cache-Control", "private"),), ALICE, False, "nobody"),
        "/nostore": ((("Cache-Control", "no-store"),), ALICE, False, "nobody"),
        "/set": ((("Set-Cookie", "id=1"), MINUTE), ALICE, False, "nobody"),
        "/authorization": ((), ("Authorization", "Basic YTph"), True, "nobody"),
        "/everybody": ((("Cache-Control", "public, max-age=60"),), ALICE, True, ALICE[1]),
        "/plain": ((MINUTE,), None, True, "stranger"),
    }
    for path, (fields, *_) in cases.items():
        origin.at(path, page)
        said[path] = fields
    pawl = bench.pawl(origin)
    for path in cases:
        same(get(pawl.address, path).body, b"page", path)
    time.sleep(1.1)
    for path, (_, asks, is_fresh, greeting) in cases.items():
        own = get(pawl.address, path, fields=(asks,) if asks else ())
        same(
            (own.status, own.body, own.get("X-Greeting")),
            (200, b"page", asks[1] if asks else "stranger"),
            f"{path}: the one who asked",
        )
        if path == "/set":
            same(own.get("Set-Cookie"), "id=1", "the one who asked gets his cookie")
        count = origin.count(path)
        said[path] = (MINUTE,)
        other = get(pawl.address, path)
        same(
            (other.body, origin.count(path) == count),
            (b"page", is_fresh),
            f"{path}: the next one, whether without the origin",
        )
        if is_fresh:
            same(
                (other.get("X-Greeting"), other.get("Set-Cookie")),
                (greeting, None),
                f"{path}: what the next one is told",
            )


@check("what is no 200 is asked for anew without conditions, and the answer takes its place", area="shared")
def renewed(bench):
    origin = bench.origin()
    fields = (("Cache-Control", "max-age=1, stale-while-revalidate=1000"), ("Age", "5"))
    for status in (301, 404, 410):
        path = f"/{status}"
        origin.at(
            path,
            lambda request, status=status: Resource(
                b"%d" % request.serial, status=status, etag='"e"', last_modified="old", fields=fields
            ),
        )
    pawl = bench.pawl(origin)
    for status in (301, 404, 410):
        path = f"/{status}"
        same(get(pawl.address, path).status, status, path)

        def later():
            answer = get(pawl.address, path)  # each is answered at once, and has the origin asked in the background
            same((answer.status, answer.hit), (status, True), f"{path}: {answer.body}")
            return int(answer.body) >= 3

        wait_for(later, 5, "the third answer of the origin")
        same(
            {r.get("If-None-Match") or r.get("If-Modified-Since") for r in origin.of(path)},
            {None},
            f"{path}: conditions",
        )


@check("a 304 with another strong tag or another Vary confirms nothing: the whole is fetched", area="shared")
def unrelated(bench):
    origin = bench.origin()
    for path, lie in (("/tag", {"etag": '"2"'}), ("/vary", {"etag": '"1"', "fields": (("Vary", "Cookie"),)})):

        def page(request, lie=lie):
            if request.get("If-None-Match"):
                return Resource(b"", status=304, type=None, **lie)
            return Resource(
                b"new" if request.serial else b"old",
                etag='"2"' if request.serial else '"1"',
                fields=(("Cache-Control", "max-age=0"),),
            )

        origin.at(path, page)
    pawl = bench.pawl(origin)
    for path in ("/tag", "/vary"):
        same(get(pawl.address, path).body, b"old", path)
        answer = get(pawl.address, path)
        same(
            (answer.status, answer.body, origin.count(path)),
            (200, b"new", 3),
            f"{path}: after a 304 that speaks of something else",
        )


@check(
    "Vary on fields that pawl sets or changes selects by what the origin was told, not by what a client claims",
    area="shared",
)
def own_fields(bench):
    origin = bench.origin()
    names = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via", "Accept-Encoding", "X-Api-Key")
    for name in names:
        origin.at(f"/{name}", lambda r, name=name: Resource(f"{r.get(name)}".encode(), fields=(MINUTE, ("Vary", name))))
    pawl = bench.pawl(origin)
    for name in names:
        first = get(pawl.address, f"/{name}")
        for forged in ("10.9.8.7", "https", "1.1 evil", "gzip"):
            fields = (
                ((name, forged), ("Connection", f"keep-alive, {name}")) if name == "X-Api-Key" else ((name, forged),)
            )
            answer = get(pawl.address, f"/{name}", fields=fields)
            if name != "Via":
                same(answer.body, first.body, f"{name}: {forged}, which no origin is told")
        count = origin.count(f"/{name}")
        answer = get(pawl.address, f"/{name}")
        same(
            (answer.body, origin.count(f"/{name}"), answer.hit), (first.body, count, True), f"{name}: an honest client"
        )
    # Another variant is another's.
    same(get(pawl.address, "/X-Api-Key", fields=(("X-Api-Key", "k"),)).body, b"k", "another variant")


@check("what answers a range or a condition is stored as a part or a whole and as nothing else", area="shared")
def poisoned(bench):
    origin = bench.origin()
    fresh = (("Cache-Control", "max-age=600"),)

    def page(status):
        def answer(request):
            odd = (
                request.get("Range")
                or request.get("If-None-Match")
                or request.get("If-Modified-Since")
                or request.get("If-Range")
            )
            return (
                Resource(b"odd", status=status, fields=fresh, conditional=False)
                if odd
                else Resource(b"whole", fields=fresh, conditional=False)
            )

        return answer

    statuses = (400, 404, 410, 412, 416, 431, 500, 503, 301, 203, 204)
    asking = (
        (("Range", "bytes=99999999999-"),),
        (("If-None-Match", '"x"'),),
        (("If-Modified-Since", "Thu, 01 Jan 2026 00:00:00 GMT"),),
        (("Range", "bytes=0-"), ("If-Range", '"x"')),
    )
    for status in statuses:
        for number in range(len(asking)):
            origin.at(f"/{status}/{number}", page(status))
    origin.at("/gone", Resource(b"gone", status=404, fields=fresh))
    pawl = bench.pawl(origin)
    for status in statuses:
        for number, fields in enumerate(asking):
            path = f"/{status}/{number}"
            get(pawl.address, path, fields=fields)
            answer = get(pawl.address, path)
            same((answer.status, answer.body), (200, b"whole"), f"a plain GET after {status} to {fields}")
    same(
        [get(pawl.address, "/gone").status for _ in range(3)] + [origin.count("/gone")],
        [404, 404, 404, 1],
        "an error to plain requests",
    )


@check("an error in a validation that may be about the request leaves what is stored alone", area="shared")
def refused(bench):
    origin = bench.origin()
    content = Content("kept", 2 * MIB)

    def page(request):
        if request.get("X-Odd"):
            return Resource(b"no", status=int(request.get("X-Odd")), fields=(("Cache-Control", "max-age=600"),))
        return Resource(content, etag='"k"', fields=(("Cache-Control", "max-age=0"),))

    origin.at("/x", page)
    pawl = bench.pawl(origin)
    get(pawl.address, "/x", keep=False)
    for status in ("400", "401", "403", "431", "500"):
        same(get(pawl.address, "/x", fields=(("X-Odd", status),)).status, int(status), "the odd one")
        answer = get(pawl.address, "/x", keep=False)
        same(
            (answer.sha, [r.status for r in origin.of("/x")].count(200)),
            (content.sha256(), 1),
            f"after a {status}: validated, nothing fetched again",
        )


@check("a cold range with If-Range is stored with the representation's fields, which everybody gets", area="shared")
def cold_range(bench):
    origin = bench.origin()
    content = Content("cold", 3 * MIB)

    def page(request):
        # RFC 9110 15.3.7: a 206 to an If-Range that holds leaves out what the client has.
        bare = request.get("If-Range") is not None
        fields = () if bare else (("Content-Language", "de"), ("Content-Disposition", "inline"), ("X-Own", "1"))
        return Resource(content, etag='"c"', ranges=True, type=None if bare else "text/html", fields=(MINUTE,) + fields)

    for path in ("/x", "/other", "/date"):
        origin.at(path, page)
    pawl = bench.pawl(origin)
    part = get(pawl.address, "/x", fields=(("Range", f"bytes={MIB}-"), ("If-Range", '"c"')), keep=False)
    same((part.status, part.sha), (206, content.sha256(MIB)), "the part")
    whole = get(pawl.address, "/x", keep=False)
    same(
        (whole.status, whole.sha, whole.get("Content-Type"), whole.get("Content-Language"), whole.get("X-Own")),
        (200, content.sha256(), "text/html", "de", "1"),
        "the whole for everybody",
    )
    other = get(pawl.address, "/other", fields=(("Range", f"bytes={MIB}-"), ("If-Range", '"before"')), keep=False)
    same(
        (other.status, other.sha, other.get("Content-Type")),
        (200, content.sha256(), "text/html"),
        "an If-Range that does not hold",
    )


@check("a 206 that is not kept reaches only a client whose If-Range names what it is of", area="shared")
def passed_range(bench):
    origin = bench.origin()
    content = Content("weak", MIB)
    origin.at("/x", Resource(content, etag='W/"w"', ranges=True, fields=(("Cache-Control", "private"),)))
    pawl = bench.pawl(origin)
    for tag, status in (('"w"', 200), ('"other"', 200), (None, 206)):
        answer = get(
            pawl.address, "/x", fields=(("Range", "bytes=1000-"), *((("If-Range", tag),) if tag else ())), keep=False
        )
        expected = content.sha256() if status == 200 else content.sha256(1000)
        # The origin of this check ignores If-Range: what it makes of it is its own.
        true(
            answer.status in (status, 206) and answer.sha in (expected, content.sha256(1000)),
            f"If-Range {tag}: {answer}",
        )


@check(
    "an answer that goes on with a body passes every rule of sharing; where it is narrower the body is no longer for "
    "others",
    area="shared",
    seconds=60,
)
def resumed(bench):
    narrower = {
        "/private": (("Cache-Control", "private, no-store"),),
        "/vary": (MINUTE, ("Vary", "Cookie")),
        "/cookie": (MINUTE, ("Set-Cookie", "id=alice")),
        "/language": (MINUTE, ("Content-Language", "fr")),
        "/disposition": (MINUTE, ("Content-Disposition", "attachment; filename=alice")),
        "/nothing": (),
        "/tagged": (("Cache-Control", "private"),),
    }
    origin = bench.origin()
    bodies = {path: Content(f"alice{path}", 2 * MIB) for path in narrower}
    for path, fields in narrower.items():

        def page(request, path=path, fields=fields):
            ranged = path == "/tagged"
            first = request.serial == 0
            return Resource(
                bodies[path] if request.serial < 2 else Content(f"bob{path}", 2 * MIB),
                etag='"t"' if ranged else None,
                ranges=ranged,
                fields=(MINUTE,) if first or request.serial > 1 else fields,
                breaks=(lambda s, e: Break(MIB)) if first else None,
            )

        origin.at(path, page)
    origin.at(
        "/same",
        lambda r: Resource(
            Content("same", 2 * MIB), fields=(MINUTE,), breaks=(lambda s, e: Break(MIB)) if r.serial == 0 else None
        ),
    )
    pawl = bench.pawl(origin)
    for path in narrower:
        # Alice is alone with it: she gets all of it, and nobody after her.
        alice = get(pawl.address, path, keep=False)
        same((alice.status, alice.sha), (200, bodies[path].sha256()), f"{path}: who asked")
        bob = get(pawl.address, path, keep=False)
        same((bob.status, bob.sha), (200, Content(f"bob{path}", 2 * MIB).sha256()), f"{path}: the next one")
    same(get(pawl.address, "/same", keep=False).sha, Content("same", 2 * MIB).sha256(), "the same head")
    true(get(pawl.address, "/same", keep=False).hit, "what was resumed under the same head is shared")


@check("who reads with others when an answer turns out narrower ends visibly", area="shared")
def resumed_with_others(bench):
    origin = bench.origin()
    content, gate = Content("both", 2 * MIB), threading.Event()
    bench.stack.callback(gate.set)

    def page(request):
        if request.serial == 0:
            return Resource(content, fields=(MINUTE,), gates=((MIB, gate),), breaks=lambda s, e: Break(MIB + 1))
        return Resource(content, fields=(("Cache-Control", "private"),))

    origin.at("/x", page)
    pawl = bench.pawl(origin)
    heads, answers = threading.Semaphore(0), []
    clients = [
        threading.Thread(target=lambda: answers.append(get(pawl.address, "/x", on_head=lambda _: heads.release())))
        for _ in range(2)
    ]
    for client in clients:
        client.start()
    true(all(heads.acquire(timeout=5) for _ in clients), "both have a head")
    gate.set()
    for client in clients:
        client.join(10)
    same(
        [(a.status, a.complete) for a in answers],
        [(200, False)] * 2,
        "what each got of a body whose rest is for one of two",
    )
    true(
        all(a.body == content.read(0, len(a.body)) and len(a.body) <= MIB + 1 for a in answers),
        "bytes behind the break",
    )


@check(
    "a part that is missing is not asked for with a credential that its answer could not be kept with", area="shared"
)
def grown(bench):
    origin = bench.origin()
    content = Content("grown", 4 * MIB)
    origin.at("/x", Resource(content, etag='"g"', ranges=True, fields=(MINUTE,)))
    pawl = bench.pawl(origin)
    same(
        get(pawl.address, "/x", fields=(("Range", "bytes=0-999"),)).body, content.read(0, 1000), "the part that is held"
    )
    answer = get(pawl.address, "/x", fields=(("Authorization", "Basic YTph"),), keep=False)
    same(answer.sha, content.sha256(), "the whole, with a credential")
    sent = origin.sent("/x")
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "the whole, without")
    true(origin.sent("/x") - sent >= 3 * MIB, "what was answered to a credential was kept for others")


@check("what an origin refuses to one client's range leaves the others' body alone", area="shared")
def refused_part(bench):
    origin = bench.origin()
    content = Content("refused", 4 * MIB)

    def page(request):
        if request.get("X-Odd"):
            return Resource(b"no", status=int(request.get("X-Odd")))
        return Resource(content, etag='"r"', ranges=True, fields=(MINUTE,))

    origin.at("/x", page)
    pawl = bench.pawl(origin)
    get(pawl.address, "/x", fields=(("Range", "bytes=0-999"),))
    for status in (400, 401, 403, 302):
        same(
            get(pawl.address, "/x", fields=(("Range", f"bytes={2 * MIB}-"), ("X-Odd", str(status)))).status,
            status,
            "the odd one",
        )
        count = origin.count("/x")
        same(
            (get(pawl.address, "/x", fields=(("Range", "bytes=0-999"),)).hit, origin.count("/x")),
            (True, count),
            f"what was held, after a {status}",
        )


@check("an answer from before an unsafe request is not stored after it, however it was asked for", area="shared")
def outdated(bench):
    origin = bench.origin()
    for way, fields in (
        ("plain", ()),
        ("condition", (("If-None-Match", '"none"'),)),
        ("credential", (("Authorization", "x"),)),
    ):
        path, gate = f"/{way}", threading.Event()
        bench.stack.callback(gate.set)

        def page(request, gate=gate):
            if request.method == "POST":
                return Resource(b"done", status=200)
            number = request.serial
            return Resource(
                f"body {number}".encode(),
                fields=(("Cache-Control", "public, max-age=60"),),
                conditional=False,
                before_head=(lambda r: gate.wait(10)) if number == 1 else None,
            )

        origin.at(path, page)
        pawl = bench.pawl(origin, name=way)
        # The first answer cannot be kept, so that nobody waits for another's after it.
        get(pawl.address, path, fields=fields + (("Cache-Control", "no-store"),))
        box = []
        asking = threading.Thread(target=lambda: box.append(get(pawl.address, path, fields=fields)))
        asking.start()
        deadline = time.monotonic() + 5
        while origin.count(path) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        same(get(pawl.address, path, method="POST", body=b"x").body, b"done", "POST")
        gate.set()
        asking.join(10)
        same(box[0].body, b"body 1", f"{way}: who asked before")
        same(get(pawl.address, path).body, b"body 3", f"{way}: who asks after")


@check("a page that is confirmed by its date alone is not given to another user of the same URL", area="shared")
def by_date(bench):
    origin = bench.origin()
    users = ((), (("X-Api-Key", "k1"),), (("X-Api-Key", "k2"),), (("Authorization", "Bearer t"),))

    def page(request):
        who = request.get("X-Api-Key") or request.get("Authorization") or "nobody"
        body = who.encode() * 100
        fields = (("Cache-Control", "no-cache, must-revalidate"),)
        return Resource(body, last_modified="old", fields=fields)

    origin.default = page
    pawl = bench.pawl(origin)
    for first in range(len(users)):
        for fields in users[first:] + users:
            who = fields[0][1] if fields else "nobody"
            got = get(pawl.address, f"/page{first}", fields=fields)
            same(got.body, who.encode() * 100, f"{who}, behind {users[first]}: {got}")
