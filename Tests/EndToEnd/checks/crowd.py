"""Many who ask for the same thing at the same time: who waits for whom, for how long, and whose fetch serves whom.
Tests/Acceptance has the crowd of a hundred before a body of 200 MB (`collapse`).
"""

import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import run_pawl, wait_for

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=60"),)


def crowd(pawl, path, count, fields=lambda i: (("X-User", f"u{i}"),), timeout=20):
    """A thread for each of so many clients; `join()` gives their answers in order."""
    got = {}
    threads = [
        threading.Thread(target=lambda i=i: got.update({i: get(pawl.address, path, fields=fields(i), timeout=timeout)}))
        for i in range(count)
    ]
    for thread in threads:
        thread.start()

    def join():
        for thread in threads:
            thread.join(timeout)
        return [got.get(i) for i in range(count)]

    return join


class Heads:
    """Holds each answer's head back until `go`; `all_came(n)` waits for n requests of a path."""

    def __init__(self, origin):
        self.origin, self.go = origin, threading.Event()

    def __call__(self, request):
        self.go.wait(15)

    def came(self, path, count, seconds):
        """Whether so many requests come within so many seconds; and when the last did."""
        begun = time.monotonic()
        try:
            wait_for(lambda: self.origin.count(path) >= count, seconds)
        except AssertionError:
            return None
        return time.monotonic() - begun


def named(origin, path, heads, fields):
    """Each answer is a page for the X-User who asked."""
    origin.at(path, lambda r: Resource(f"for {r.get('X-User')}".encode(), fields=fields, before_head=heads))


@check(
    "whoever waits for a head is answered by one request where that is fresh, and by his own where it is not; then "
    "nobody waits",
    area="crowd",
    seconds=60,
)
def heads(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, extra={"route:main/ttl": {"path": "/ttl/*", "default-ttl": "60s"}})
    own = {i: b"for u%d" % i for i in range(12)}
    for path, fields, is_shared in (
        ("/fresh", FRESH, True),
        ("/expires", (("Expires", "Fri, 01 Jan 2038 00:00:00 GMT"),), True),
        ("/ttl/x", (), True),
        ("/nothing", (), False),
        ("/no-cache", (("Cache-Control", "no-cache"),), False),
        ("/zero", (("Cache-Control", "max-age=0"),), False),
        ("/must", (("Cache-Control", "must-revalidate"),), False),
        ("/ttl/zero", (("Cache-Control", "max-age=0"),), False),
    ):
        for turn in range(2):
            before, hold = origin.count(path), Heads(origin)
            named(origin, path, hold, fields)
            answers = crowd(pawl, path, 12)
            if turn and is_shared:
                hold.go.set()
            elif turn:
                # What was learnt: all ask at once.
                true(
                    hold.came(path, before + 12, 4) is not None,
                    f"{path}: {origin.count(path) - before} of 12 asked while the first had no answer",
                )
            else:
                true(hold.came(path, 1, 4) is not None, f"{path}: nobody asked")
                time.sleep(0.3)
            hold.go.set()
            got = answers()
            if is_shared:
                same(
                    (len({a.body for a in got}), origin.count(path)),
                    (1, 1),
                    f"{path}, turn {turn}: different answers, origin requests",
                )
            else:
                same({i: a.body for i, a in enumerate(got)}, own, f"{path}, turn {turn}: what each was given")
                same(origin.count(path) - before, 12, f"{path}, turn {turn}: origin requests")


@check(
    "what nothing is known of is waited for at most five seconds, what was for everybody as long as it takes",
    area="crowd",
    seconds=60,
)
def patience(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin)
    unknown, known = Heads(origin), Heads(origin)
    origin.at("/known", Resource(b"page", fields=(("Cache-Control", "max-age=1"),)))
    same(get(pawl.address, "/known").body, b"page", "what is known")
    time.sleep(2.1)
    origin.at("/known", Resource(b"page", fields=FRESH, before_head=known))
    named(origin, "/unknown", unknown, ())
    begun, waiting, knowing = time.monotonic(), crowd(pawl, "/unknown", 8), crowd(pawl, "/known", 8)
    came = unknown.came("/unknown", 8, 9)
    true(came is not None, f"{origin.count('/unknown')} of 8 asked within 9 s")
    true(4 < came < 7, f"all asked after {came:.1f} s")
    unknown.go.set()
    same([a.body for a in waiting()], [b"for u%d" % i for i in range(8)], "what each was given")
    time.sleep(max(0, 7 - (time.monotonic() - begun)))
    same(origin.count("/known"), 2, "origin requests for what was shared before, after seven seconds")
    known.go.set()
    same([a.body for a in knowing()], [b"page"] * 8, "what all were given")
    same(origin.count("/known"), 2, "origin requests for what was shared before")


@check(
    "a running fill that is not fresh is joined by who names its tag, and by whose own question is answered with 304 "
    "and its strong tag",
    area="crowd",
)
def running(bench):
    origin = bench.origin()
    content, gate = Content("running", 3 * MIB), threading.Event()
    rows = (
        ("/strong", dict(etag='"s"'), ()),
        ("/no-cache", dict(etag='"s"'), (("Cache-Control", "no-cache"),)),
        ("/minted", {}, ()),
    )
    for path, identity, fields in rows:
        origin.at(path, Resource(content, gates=((2 * MIB, gate),), fields=fields, **identity))
    pawl = bench.pawl(origin)
    firsts, joined = {}, {}
    for path, identity, _ in rows:
        firsts[path] = bench.use(Client(pawl.address))
        firsts[path].request(path)
        tag = firsts[path].response(limit=MIB, keep=False).get("ETag")
        joined[path] = bench.use(Client(pawl.address))
        joined[path].request(path, fields=(("Range", f"bytes={MIB}-"), ("If-Range", tag)))
    asking = bench.use(Client(pawl.address))
    asking.request("/strong")
    wait_for(
        lambda: [r.status for r in origin.of("/strong")].count(304) >= 1 or origin.count("/strong") > 2,
        5,
        "a question about the strong tag",
    )
    gate.set()
    for path, client in joined.items():
        answer = client.response(keep=False)
        same(
            (answer.status, answer.sha, answer.complete),
            (206, content.sha256(MIB), True),
            f"{path}: the rest by its tag",
        )
    answer = asking.response(keep=False)
    same((answer.status, answer.sha), (200, content.sha256()), "who asked about it")
    for path, *_ in rows:
        same([r.status for r in origin.of(path)].count(200), 1, f"{path}: bodies that left the origin")
        true(origin.sent(path) <= content.size + MIB, f"{path}: {origin.sent(path)} bytes came")


@check("Range requests that are equal in all else share one fetch, where nothing personal was answered", area="crowd")
def ranges(bench):
    origin = bench.origin()
    content, pieces = Content("crowd-ranges", 4 * MIB), [(i * 300_000, i * 300_000 + 99_999) for i in range(12)]
    hold = Heads(origin)
    personal = {
        "/private": (("Cache-Control", "private"),),
        "/cookie": (("Set-Cookie", "a=b"),),
        "/no-store": (("Cache-Control", "no-store"),),
    }
    origin.at("/x", Resource(content, before_head=hold))
    for path, fields in (("/differs", ()), *personal.items()):
        origin.at(
            path,
            lambda r, fields=fields: Resource(Content(f"{r.path}{r.serial}", 4 * MIB), fields=fields, before_head=hold),
        )
    pawl = bench.pawl(origin)
    by_range = lambda i: (("Range", "bytes=%d-%d" % pieces[i]), ("User-Agent", "one"))
    by_user = lambda i: (*by_range(i), ("X-User", f"u{i}"))
    begun = {
        path: crowd(pawl, path, 12, by_user if path == "/differs" else by_range)
        for path in ("/x", "/differs", *personal)
    }
    for path in begun:
        true(hold.came(path, 1, 5) is not None, f"{path}: nobody asked")
    time.sleep(0.5)
    hold.go.set()
    for i, answer in enumerate(begun["/x"]()):
        first, last = pieces[i]
        same((answer.status, answer.sha), (206, content.sha256(first, last + 1)), f"range {i}")
    same(origin.count("/x"), 1, "origin requests for ranges of one body")
    for path in ("/differs", *personal):
        answers = begun[path]()
        same(origin.count(path), 12, f"{path}: origin requests")
        bodies = [Content(f"{path}{serial}", 4 * MIB) for serial in range(12)]
        made = {
            body.sha256() if answer.status == 200 else body.sha256(first, last + 1)
            for body in bodies
            for answer, (first, last) in zip(answers, pieces)
        }
        same(
            (len({a.sha for a in answers}), {a.sha for a in answers} <= made),
            (12, True),
            f"{path}: answers, each of one body",
        )


@check(
    "a second listener of a live stream does not hear it from its beginning, unless its own fields say that it is "
    "fresh",
    area="crowd",
)
def stream(bench):
    origin = bench.origin()
    gate = threading.Event()
    stale = (("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"), ("Cache-Control", "max-age=0"))
    kinds = (("/live", (), False), ("/ttl/live", (), False), ("/stale", stale, False), ("/fresh", FRESH, True))
    for path, fields, _ in kinds:
        origin.at(
            path,
            lambda r, fields=fields: Resource(
                Content(f"{r.path}{r.serial}", 64 * MIB),
                framing="chunked",
                type="audio/mpeg",
                fields=fields,
                gates=((2 * MIB, gate),),
            ),
        )
    pawl = bench.pawl(origin, extra={"route:main/ttl": {"path": "/ttl/*", "default-ttl": "60s"}})
    for path, _, is_joined in kinds:
        first, second = bench.use(Client(pawl.address)), bench.use(Client(pawl.address))
        first.request(path)
        same(first.response(limit=MIB).body, Content(f"{path}0", MIB).read(), f"{path}: the first listener")
        second.request(path)
        answer = second.response(limit=MIB)
        heard = next((serial for serial in range(2) if answer.body == Content(f"{path}{serial}", MIB).read()), None)
        same(heard, 0 if is_joined else 1, f"{path}: whose stream the second listener hears")
        same(origin.count(path), 1 if is_joined else 2, f"{path}: origin requests")
        first.close()
        second.close()
    gate.set()


@check("a fresh running fill is not joined by a request that says no-cache or max-age=0", area="crowd")
def reload(bench):
    origin = bench.origin()
    gate = threading.Event()
    origin.at(
        "/x",
        lambda r: Resource(
            Content(f"reload{r.serial}", 3 * MIB), fields=FRESH, gates=((2 * MIB, gate),) if not r.serial else ()
        ),
    )
    pawl = bench.pawl(origin)
    first = bench.use(Client(pawl.address))
    first.request("/x")
    first.response(limit=MIB, keep=False)
    for turn, directive in enumerate(("no-cache", "max-age=0")):
        answer = get(pawl.address, "/x", fields=(("Cache-Control", directive),), keep=False)
        same(answer.sha, Content(f"reload{turn + 1}", 3 * MIB).sha256(), directive)
    gate.set()


ALWAYS = (  # what an answer or its request may say without being for its own asker alone; what it may not
    (("/nothing", (), ()), ("/weak", (), ())),
    (
        ("/private", (("Cache-Control", "private"),), ()),
        ("/no-store", (("Cache-Control", "no-store"),), ()),
        ("/no-cache", (("Cache-Control", "no-cache"),), ()),
        ("/zero", (("Cache-Control", "max-age=0"),), ()),
        ("/set-cookie", (("Set-Cookie", "a=b"),), ()),
        ("/cookies", (), None),
        ("/authorization", (), (("Authorization", "Bearer a"),)),
    ),
)


@check(
    "collapse = always is for large bodies of origins that say nothing; never for what is somebody's own", area="crowd"
)
def always(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, start=False, extra={"route:main/always": {"path": "/*", "collapse": "always"}})
    code, _, errors = run_pawl("check", "--config", str(pawl.file), folder=pawl.folder)
    same((code, errors), (0, errors), "pawl check")
    pawl.start()
    for is_shared, rows in zip((True, False), ALWAYS):
        for path, fields, asked in rows:
            hold = Heads(origin)
            identity = {"etag": 'W/"w"'} if path == "/weak" else {}
            origin.at(
                path,
                lambda r, fields=fields, identity=identity, hold=hold: Resource(
                    Content(f"{r.path}{r.serial}", MIB), fields=fields, before_head=hold, **identity
                ),
            )
            own = lambda i, asked=asked: (
                *(asked if asked is not None else (("Cookie", f"a={i}"),)),
                ("X-User", f"u{i}"),
            )
            answers = crowd(pawl, path, 6, own)
            true(hold.came(path, 1, 5) is not None, f"{path}: nobody asked")
            time.sleep(0.2)
            hold.go.set()
            bodies = {a.sha for a in answers()}
            same(
                (len(bodies), origin.count(path)),
                (1, 1) if is_shared else (6, 6),
                f"{path}: different answers, origin requests",
            )


@check(
    "what one request said of itself alone - no-store, Authorization, a condition - keeps nobody from sharing the "
    "next answer",
    area="crowd",
)
def after_one(bench):
    origin = bench.origin()
    ways = {
        "no-store": (("Cache-Control", "no-store"),),
        "Authorization": (("Authorization", "Basic eDp5"),),
        "If-None-Match": (("If-None-Match", '"e"'),),
        "If-Modified-Since": (("If-Modified-Since", "Sun, 01 Nov 2026 10:00:00 GMT"),),
        "If-Match": (("If-Match", '"e"'),),
    }
    pawl = bench.pawl(origin)
    for way, fields in ways.items():
        path = f"/{way}"
        origin.at(
            path,
            Resource(
                b"shared",
                etag='"e"',
                last_modified="old",
                fields=(("Cache-Control", "max-age=600"),),
                before_head=lambda r: time.sleep(0.5),
            ),
        )
        get(pawl.address, path, fields=fields)
        got = []
        threads = [
            threading.Thread(target=lambda: got.append(get(pawl.address, path, timeout=15).body)) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same((got, origin.count(path)), ([b"shared"] * 20, 2), way)
