"""The origin's answer: delivered once, kept, asked for again; refusals that do not consume; origins that are down, slow
or die."""

import contextlib
import os
import sqlite3
import threading
import time

from harness.checks import Skip, check, same, timely, true
from harness.client import get
from harness.content import Content
from harness.origin import Origin, Resource
from harness.process import free_port, wait_for
from harness.uploads import (
    NO_STORE,
    Dialect,
    Upload,
    append,
    asked,
    bearer,
    careful,
    create,
    dialects,
    dies,
    digest,
    each,
    early,
    on_connection,
    one,
    problem,
    script,
    status,
    stored,
    token_of,
    tus_new,
    tus_patch,
    whole,
)

MIB = 1 << 20
BODY = Content("answers", 100_000).read()
# The phase of an upload whose last byte may have left (UploadPhase).
OPEN, SENT = 0, 3


def begin(bench, extra=None, upstream=None, pawl=None, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site}, extra=extra, upstream=upstream, pawl=pawl)


def lost(address, dialect, body=BODY, target="/in", fields=(), method="POST"):
    """An upload whose client goes right after its last byte; its Location."""
    with Upload(address) as client:
        client.create(dialect, True, len(body), fields, target, method)
        location = client.location()
        client.send(body)
        client.cut("fin")
    return location


def settled(address, dialect, location, fields=(), seconds=8):
    """Waits until HEAD says that the final answer is there, or (to version 8) that all bytes are."""

    def there():
        answer = status(address, dialect, location, fields)
        return answer.status == 204 and dialect.said(answer) and answer

    return wait_for(there, seconds, "completeness")


@check(
    "a client gone after its last byte: delivered once, and HEAD, GET and an empty append give the answer",
    area="upload answers",
)
def lost_answers(bench):
    origin, pawl = begin(bench)

    def row(d):
        location = lost(pawl.address, d, target=f"/{d}")
        wait_for(lambda: whole(origin, f"/{d}"), 8, "the request at the origin")
        if d.number >= 9:
            answer = settled(pawl.address, d, location)
            same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, "100000", True), "HEAD")
        else:
            answer = status(pawl.address, d, location)
            same(
                (answer.status, answer.get("Upload-Offset"), d.said(answer)),
                (204, "100000", False),
                "HEAD before the answer was delivered",
            )
        for _ in range(2):
            answer = append(pawl.address, d, location, len(BODY), b"")
            same(
                (answer.status, answer.body, answer.get("X-Application"), d.said(answer), answer.get("Upload-Offset")),
                (200, b"got 100000 bytes", "yes", True, "100000"),
                "an empty append",
            )
        answer = status(pawl.address, d, location)
        same(
            (answer.status, answer.get("Upload-Offset"), d.said(answer)),
            (204, "100000", True),
            "HEAD after the answer was delivered",
        )
        answer = status(pawl.address, d, location, method="GET")
        same((answer.status, answer.body, d.said(answer)), (200, b"got 100000 bytes", True), "GET")
        same(len(whole(origin, f"/{d}")), 1, "requests at the origin")

    each(dialects(), row)


@check(
    "100 clients cut right after their last byte: one request each at the origin, the answer for each",
    area="upload answers",
)
def many_lost(bench):
    origin, pawl = begin(bench)
    versions = dialects()
    locations = [
        (versions[i % len(versions)], i, lost(pawl.address, versions[i % len(versions)], BODY[: 5000 + i], f"/n{i}"))
        for i in range(100)
    ]

    def row(case):
        d, i, location = case
        answer = append(pawl.address, d, location, 5000 + i, b"")
        same((answer.status, answer.body), (200, b"got %d bytes" % (5000 + i)), f"/n{i}")
        same(len(whole(origin, f"/n{i}")), 1, f"requests for /n{i}")

    each(locations, row)


@check("the answer outlives pawl", area="upload answers")
def restart(bench):
    origin, pawl = begin(bench)
    d = Dialect(9)
    location = lost(pawl.address, d)
    # Who asks before the last bytes are read ends the request that brought them.
    wait_for(lambda: whole(origin), 8, "the request at the origin")
    settled(pawl.address, d, location)
    for hard in (False, True):
        pawl.restart(hard)
        answer = append(pawl.address, d, location, len(BODY), b"")
        same((answer.status, answer.body, d.said(answer)), (200, b"got 100000 bytes", True), "an empty append")
    same(len(whole(origin)), 1, "requests at the origin")


@check(
    "a body over response-max reaches the waiting client whole, and later without its body but said so",
    area="upload answers",
)
def large_answer(bench):
    origin, pawl = begin(bench, **{"response-max": "1K"})
    content = Content("large", 3 * MIB)
    origin.at("/in", Resource(content, fields=NO_STORE + (("X-A", "b"),)))
    d = Dialect(9)
    with Upload(pawl.address) as client:
        client.create(d, True, len(BODY))
        location = client.location()
        client.send(BODY)
        answer = client.answer()
        same((answer.status, answer.sha, answer.complete), (200, content.sha256(), True), "the waiting client's answer")
    answer = append(pawl.address, d, location, len(BODY), b"")
    same((answer.status, answer.count in (0, content.size)), (200, True), "the answer again")
    pawl.restart()
    answer = append(pawl.address, d, location, len(BODY), b"")
    same(
        (answer.status, answer.get("X-A"), d.said(answer), answer.count),
        (200, "b", True, 0),
        "the answer after a restart",
    )
    true("pawl" in (answer.get("Proxy-Status") or ""), "Proxy-Status of a shortened answer")
    same(len(whole(origin)), 1, "requests at the origin")


@check(
    "an answer of unknown length, an empty one and one with fields of many kinds come as from the origin",
    area="upload answers",
)
def shapes(bench):
    origin, pawl = begin(bench)
    origin.at("/chunked", Resource(b"c" * 5000, framing="chunked", fields=NO_STORE))
    origin.at("/close", Resource(b"c" * 5000, framing="close", fields=NO_STORE))
    origin.at("/204", Resource(b"", status=204, fields=NO_STORE + (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))))

    def row(d):
        for path in ("/chunked", "/close"):
            answer = create(pawl.address, d, BODY, target=path)
            same((answer.status, answer.body, answer.complete, d.said(answer)), (200, b"c" * 5000, True, True), path)
        answer = create(pawl.address, d, BODY, target="/204")
        same(
            (answer.status, answer.all("Set-Cookie"), d.said(answer), answer.get("Content-Length")),
            (204, ["a=1", "b=2"], True, None),
            "/204",
        )

    each([Dialect(n) for n in (3, 6, 9)], row)


@check(
    "401, 429 and 503 do not consume: ?0 with the offset, and the next empty append forwards again with its "
    "credentials",
    area="upload answers",
)
def not_consumed(bench):
    origin, pawl = begin(bench)

    def row(d):
        for code in (401, 429, 503):
            target = f"/{d}-{code}"
            extra = {
                401: (("WWW-Authenticate", "Bearer"),),
                429: (("Retry-After", "120"),),
                503: (("Retry-After", "120"),),
            }[code]
            origin.at(target, script(Resource(b"no %d" % code, status=code, fields=NO_STORE + extra), stored))
            answer = create(
                pawl.address, d, BODY, True, (("Authorization", bearer("ann", 1)), ("Cookie", "c=1")), target
            )
            same(
                (answer.status, answer.body, d.said(answer), answer.get("Upload-Offset")),
                (code, b"no %d" % code, False, "100000"),
                f"{code}",
            )
            same(answer.get(extra[0][0]), extra[0][1], extra[0][0])
            location = [f.get("Location") for s, f in answer.interim if s == 104][0]
            fresh = (("Authorization", bearer("ann", 2)),)
            answer = status(pawl.address, d, location, fresh)
            same(
                (answer.status, answer.get("Upload-Offset"), d.said(answer)),
                (204, "100000", False),
                f"HEAD after {code}",
            )
            answer = append(pawl.address, d, location, len(BODY), b"", True, fresh)
            same(
                (answer.status, answer.body, d.said(answer)),
                (200, b"got 100000 bytes", True),
                f"the append after {code}",
            )
            first, second = whole(origin, target)
            same(
                (first.get("Authorization"), first.get("Cookie")),
                (bearer("ann", 1), "c=1"),
                "credentials of the first request",
            )
            same(second.get("Authorization"), bearer("ann", 2), "credentials of the second request")
            true(second.body == BODY and second.method == "POST", "the second request")
            same(first.get("Idempotency-Key"), second.get("Idempotency-Key"), "Idempotency-Key")

    each(dialects(), row)


@check("the freshest credentials of the owner go to the origin", area="upload answers")
def fresh_credentials(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = careful(pawl.address, d, (("Authorization", bearer("ann", 1)), ("Cookie", "s=1"), ("X-Mine", "first")))
    append(
        pawl.address,
        d,
        location,
        0,
        BODY[:10],
        False,
        (("Authorization", bearer("ann", 2)), ("Cookie", "s=2"), ("X-Mine", "second")),
    )
    answer = append(
        pawl.address, d, location, 10, BODY[10:], True, (("Authorization", bearer("ann", 3)), ("Cookie", "s=3"))
    )
    same(answer.status, 200, "answer")
    (request,) = whole(origin)
    same(
        (request.all("Authorization"), request.all("Cookie"), request.all("X-Mine")),
        ([bearer("ann", 3)], ["s=3"], ["first"]),
        "fields at the origin",
    )


@check("an origin that answers before it read the body ends the upload with its answer", area="upload answers")
def early_answers(bench):
    origin, pawl = begin(bench)
    body = Content("early", 16 * MIB).read()

    def row(case):
        d, raw, code = case
        target = f"/{d}-{code}"
        origin.at(target, early(raw, after=70_000))
        answer = create(pawl.address, d, body, target=target)
        same((answer.status, answer.body, d.said(answer)), (code, b"early", code != 401), f"{d} {code}")

    head = b"HTTP/1.1 %d X\r\nContent-Length: 5\r\nConnection: close\r\nCache-Control: no-store\r\n\r\nearly"
    each([(Dialect(n), head % code, code) for n in (3, 6, 9) for code in (401, 413, 200)], row)


@check(
    "the origin dies without an answer after the whole body: unknown, said so, never sent again by itself",
    area="upload answers",
)
def unknown_outcome(bench):
    origin, pawl = begin(bench)
    origin.default = dies(origin, then=stored)

    def row(d):
        answer = create(pawl.address, d, BODY, target=f"/{d}")
        same((answer.status, d.said(answer)), (502, True), "answer")
        problem(answer)
        location = [f.get("Location") for s, f in answer.interim if s == 104][0]
        again = append(pawl.address, d, location, len(BODY), b"")
        same((again.status, d.said(again)), (502, True), "an empty append")
        same(status(pawl.address, d, location).get("Upload-Offset"), "100000", "offset")
        same(len(whole(origin, f"/{d}")), 1, "requests at the origin")

    each([Dialect(n) for n in (3, 6, 9)], row)
    pawl.restart(hard=True)
    time.sleep(0.5)
    same(len([r for r in origin.requests if r.method != "OPTIONS"]), 3, "requests after a restart")


@check("at-least-once: the origin dies without an answer, and the body is sent again", area="upload answers")
def at_least_once(bench):
    origin, pawl = begin(bench, **{"delivery": "at-least-once"})
    origin.default = dies(origin, then=stored)

    def row(d):
        answer = create(pawl.address, d, BODY, target=f"/{d}")
        same((answer.status, answer.body, d.said(answer)), (200, b"got 100000 bytes", True), "answer")
        same(len(whole(origin, f"/{d}")), 2, "requests at the origin")

    each([Dialect(n) for n in (6, 9)], row)


@check("an origin that dies inside the body is asked again, at most once either way", area="upload answers")
def broken_forward(bench):
    origin, pawl = begin(bench)
    body = Content("broken", 4 * MIB).read()
    for d in (Dialect(9),):
        origin.at(f"/{d}", dies(origin, after=100_000, then=stored, times=2))
        answer = create(pawl.address, d, body, target=f"/{d}", timeout=15)
        same((answer.status, answer.body, d.said(answer)), (200, b"got %d bytes" % len(body), True), f"{d}")
        last = asked(origin, f"/{d}")[-1]
        true(last.body == body, "other bytes at the origin")


@check("the last byte leaves when the journal says so, and not before", area="upload answers", seconds=30)
def last_octet(bench):
    origin, pawl = begin(bench)
    phases = []

    def watch(request, connection, buffer):
        missing = int(request.get("Content-Length")) - len(buffer)
        while missing > 0:
            data = connection.recv(missing)
            if not data:
                return
            missing -= len(data)
        phases.append(journaled(pawl))
        request.status = 200
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    origin.default = on_connection(watch)
    same(create(pawl.address, Dialect(6), BODY).body, b"ok", "answer")
    same(phases, [[SENT]], "what the journal said when the last byte was there")


def journaled(pawl):
    """The phases of the uploads, as another process finds them on the disk."""
    [path] = (pawl.folder / "state").rglob("uploads.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as catalogue:
        return [phase for (phase,) in catalogue.execute("SELECT phase FROM uploads")]


@check(
    "origin down: the upload is safe, the client told 503 with ?0 and Retry-After after tus-wait; delivered once "
    "when it returns",
    area="upload answers",
    seconds=60,
)
def origin_down(bench):
    port = bench.held_port()
    pawl = bench.pawl(
        f"http://127.0.0.1:{port}", site={"min-resumable": "0", "tus-wait": "1s"}, upstream={"connect-timeout": "1s"}
    )
    uploads = []
    for d in [Dialect(n) for n in (3, 6, 9)]:
        begun = time.monotonic()
        answer = create(pawl.address, d, BODY, target=f"/{d}", timeout=10)
        took = time.monotonic() - begun
        same((answer.status, d.said(answer), answer.get("Upload-Offset")), (503, False, "100000"), f"{d}")
        true(int(one(answer, "Retry-After")) > 0, f"Retry-After {answer.get('Retry-After')}")
        timely(0.5 < took < 6, f"after {took:.1f} s")
        location = [f.get("Location") for s, f in answer.interim if s == 104][0]
        answer = status(pawl.address, d, location)
        same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, "100000", False), f"{d} HEAD")
        uploads.append((d, location))
    gone = [(Dialect(9), lost(pawl.address, Dialect(9), target="/lost"))]
    # What is not read yet when pawl ends would have to be sent again.
    wait_for(lambda: len(journaled(pawl)) == 4 and OPEN not in journaled(pawl), 5, "all bytes of the lost one")
    pawl.restart()
    origin = bench.use(Origin(port=port, is_held=True, default=stored))
    for d, location in uploads + gone:

        def back():
            answer = append(pawl.address, d, location, len(BODY), b"")
            return answer.status != 503 and answer

        answer = wait_for(back, 25, f"the answer of {d} after the return")
        same((answer.status, answer.body, d.said(answer)), (200, b"got 100000 bytes", True), f"{d} after the return")
    wait_for(lambda: len([r for r in origin.requests if r.method != "OPTIONS"]) >= 4, 5, "all deliveries")
    for target in ("/v3", "/v6", "/v9", "/lost"):
        same(len(whole(origin, target)), 1, f"requests for {target}")


@check("while the origin works, HEAD says all bytes and ?0, and an empty append joins the wait", area="upload answers")
def attach(bench):
    origin, pawl = begin(bench)
    gate = threading.Event()
    origin.default = script(lambda r: Resource(b"slow", fields=NO_STORE, before_head=lambda _: gate.wait(10)))
    clients = []
    for d in dialects():
        location = lost(pawl.address, d, target=f"/{d}")
        wait_for(lambda: asked(origin, f"/{d}"), 5, "the request at the origin")
        answer = status(pawl.address, d, location)
        same((answer.status, answer.get("Upload-Offset"), d.said(answer)), (204, "100000", False), f"{d} HEAD")
        client = bench.use(Upload(pawl.address, 10))
        client.append(d, location, len(BODY), 0)
        clients.append((d, client))
    gate.set()
    for d, client in clients:
        answer = client.answer()
        same((answer.status, answer.body, d.said(answer)), (200, b"slow", True), f"{d}")
        same(len(whole(origin, f"/{d}")), 1, f"{d} requests")


@check(
    "a waiting client is kept alive by interim answers (104 from 5, 102 for 3 and 4)", area="upload answers", seconds=60
)
def keep_alive(bench):
    if not os.environ.get("PAWL_SLOW_CHECKS"):
        raise Skip("takes 20 s; set PAWL_SLOW_CHECKS")
    origin, pawl = begin(bench)
    gate = threading.Event()
    origin.default = script(lambda r: Resource(b"slow", fields=NO_STORE, before_head=lambda _: gate.wait(40)))
    clients = []
    for d in dialects():
        client = bench.use(Upload(pawl.address, 25))
        client.create(d, True, len(BODY))
        client.location()
        client.send(BODY)
        clients.append((d, client))
    begun = time.monotonic()
    for d, client in clients:
        fields = client.interim(102 if d.number <= 4 else 104)
        if d.number >= 5:
            same(fields.all("Location"), [], "Location in a later 104")
    timely(time.monotonic() - begun < 22, f"{time.monotonic() - begun:.0f} s")
    gate.set()
    for d, client in clients:
        same(client.answer().body, b"slow", f"{d}")


@check("a 2xx or 3xx makes the stored response of the target stale, a 4xx does not", area="upload answers")
def invalidation(bench):
    origin, pawl = begin(bench)
    for path, code in (("/ok", 200), ("/see", 303), ("/no", 422)):
        origin.at(
            path,
            lambda r, code=code: (
                Resource(b"page", fields=(("Cache-Control", "max-age=600"),))
                if r.method == "GET"
                else Resource(b"", status=code, fields=NO_STORE + (("Location", "/x"),))
            ),
        )
        get(pawl.address, path)
        true(get(pawl.address, path).hit, f"{path} is not cached")
        same(create(pawl.address, Dialect(6), BODY, target=path, method="PUT").status, code, path)
        same(get(pawl.address, path).hit, code == 422, f"{path}: a hit after {code}")


@check(
    "Repr-Digest is checked before forwarding: right passes and stays, wrong never reaches the origin",
    area="upload answers",
)
def repr_digest(bench):
    origin, pawl = begin(bench)

    def row(d):
        for name in ("sha-256", "sha-512"):
            fields = (("Repr-Digest", digest(BODY, name)),)
            same(create(pawl.address, d, BODY, True, fields, f"/r{d}").status, 200, f"right {name}")
            same(asked(origin, f"/r{d}")[-1].all("Repr-Digest"), [fields[0][1]], "Repr-Digest at the origin")
            location = careful(pawl.address, d, fields, target=f"/r{d}")
            append(pawl.address, d, location, 0, BODY[:777], False)
            same(append(pawl.address, d, location, 777, BODY[777:]).status, 200, f"right {name} over two appends")
            count = len(asked(origin, f"/r{d}"))
            answer = create(pawl.address, d, BODY, True, (("Repr-Digest", digest(BODY + b"x", name)),), f"/r{d}")
            same(answer.status, 400, f"wrong {name}")
            location = careful(pawl.address, d, (("Repr-Digest", digest(BODY + b"x", name)),), target=f"/r{d}")
            answer = append(pawl.address, d, location, 0, BODY)
            same(answer.status, 400, f"wrong {name} in an append")
            same(len(asked(origin, f"/r{d}")), count, "requests at the origin")
        same(
            create(pawl.address, d, BODY, True, (("Repr-Digest", "unixsum=:AAAA:"),), f"/r{d}").status,
            200,
            "an algorithm nobody checks",
        )

    each([Dialect(n) for n in (3, 6, 8, 9, 10)], row)


@check(
    "Content-Digest is checked before a byte counts: wrong is 400 at the old offset, a cut goes back to it",
    area="upload answers",
)
def content_digest(bench):
    origin, pawl = begin(bench)
    big = Content("digest", 12 * MIB).read()

    def row(d):
        location = careful(pawl.address, d)
        answer = append(pawl.address, d, location, 0, BODY[:1000], False, (("Content-Digest", digest(BODY[:1000])),))
        true(answer.status in (201, 204) and answer.get("Upload-Offset") == "1000", f"a right digest: {answer}")
        for done in (False,):
            answer = append(pawl.address, d, location, 1000, BODY[1000:], done, (("Content-Digest", digest(BODY)),))
            same(answer.status, 400, "a wrong digest")
            same(status(pawl.address, d, location).get("Upload-Offset"), "1000", "offset after a wrong digest")
        answer = append(
            pawl.address,
            d,
            location,
            1000,
            BODY[1000:2000],
            False,
            (("Content-Digest", f"{digest(BODY[1000:2000])}, {digest(BODY[1000:2000], 'sha-512')}"),),
            chunked=True,
        )
        same(answer.get("Upload-Offset"), "2000", "two right digests, chunked")
        answer = append(
            pawl.address,
            d,
            location,
            2000,
            BODY[2000:3000],
            False,
            (("Content-Digest", f"{digest(BODY[2000:3000])}, {digest(BODY, 'sha-512')}"),),
        )
        same(answer.status, 400, "one right and one wrong digest")
        with Upload(pawl.address) as client:
            client.append(d, location, 2000, len(big), False, (("Content-Digest", digest(big)),))
            client.send(big[:-1])
            true(client.nothing(0.2), "progress was told of bytes that are not checked")
            client.cut("fin")
        wait_for(
            lambda: status(pawl.address, d, location).get("Upload-Offset") == "2000", 5, "the old offset after a cut"
        )
        answer = append(pawl.address, d, location, 2000, BODY[2000:], True, (("Content-Digest", digest(BODY[2000:])),))
        same((answer.status, answer.body), (200, b"got 100000 bytes"), "the end")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")
        same(
            create(pawl.address, d, BODY, True, (("Content-Digest", digest(b"")),)).status,
            400,
            "a creation with a wrong digest",
        )
        location = careful(pawl.address, d)
        same(
            append(pawl.address, d, location, 0, BODY, True, (("Content-Digest", digest(b"")),)).status,
            400,
            "a wrong digest at the end",
        )
        same(status(pawl.address, d, location).get("Upload-Offset"), "0", "offset after a wrong digest at the end")
        same(
            append(pawl.address, d, location, 0, BODY, True, (("Content-Digest", digest(BODY)),)).status,
            200,
            "the right digest at the end",
        )

    each([Dialect(n) for n in (3, 6, 8, 9)], row)


@check("Content-Digest as a trailer field is checked too", area="upload answers")
def digest_trailer(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = careful(pawl.address, d)
    for value, good in ((digest(b"other"), False), (digest(BODY), True)):
        answer = append(
            pawl.address,
            d,
            location,
            0,
            BODY,
            False,
            (("Trailer", "Content-Digest"),),
            chunked=True,
            trailers=(("Content-Digest", value),),
        )
        same(
            (answer.status, status(pawl.address, d, location).get("Upload-Offset")),
            (201, "100000") if good else (400, "0"),
            f"trailer, right {good}",
        )


@check(
    "Content-Digest as a trailer field that nobody announced is checked before anything is complete",
    area="upload answers",
    seconds=60,
)
def digest_unannounced(bench):
    origin, pawl = begin(bench)
    big = Content("late digest", 12 * MIB).read()

    def row(d):
        for done, body in ((False, BODY), (True, big if d.number == 6 else BODY)):
            for value, good in ((digest(b"other"), False), (digest(body, "sha-512"), True)):
                target = f"/late{d}{done}{len(body)}{good}".replace(" ", "")
                location = careful(pawl.address, d, target=target)
                same(append(pawl.address, d, location, 0, b"first", False).get("Upload-Offset"), "5", "offset before")
                answer = append(
                    pawl.address, d, location, 5, body, done, chunked=True, trailers=(("Content-Digest", value),)
                )
                after = status(pawl.address, d, location)
                if good:
                    true(answer.status == 200 if done else answer.status in (201, 204), f"a right digest: {answer}")
                    same([r.body for r in whole(origin, target)], [b"first" + body] if done else [], "at the origin")
                else:
                    same(
                        (answer.status, after.status in (404, 410)),
                        (400, True),
                        "a wrong digest: the answer, and the upload is given up",
                    )
                    same(asked(origin, target), [], "at the origin")

    each(dialects(), row)


@check(
    "an offset that was told survives kill -9, SIGTERM and is what the next append is held to", area="upload answers"
)
def durable(bench):
    origin, pawl = begin(bench, pawl={"drain-timeout": "1s"})
    body = Content("durable", 3 * MIB).read()

    def row(d):
        at, location = 0, careful(pawl.address, d)
        for hard in (True, False):
            step = len(body) // 3
            append(pawl.address, d, location, at, body[at : at + step], False)
            at += step
            client = Upload(pawl.address)
            client.append(d, location, at, len(body) - at)
            client.send(body[at : at + 300_000])
            pawl.restart(hard)
            client.close()
            answer = status(pawl.address, d, location)
            same(answer.status, 204, "HEAD after the restart")
            found = int(answer.get("Upload-Offset"))
            true(at <= found <= at + 300_000, f"offset {found}, told {at}")
            at = found
        answer = append(pawl.address, d, location, at, body[at:])
        same((answer.status, answer.body), (200, b"got %d bytes" % len(body)), "the end")
        true(whole(origin)[-1].body == body, "other bytes at the origin")

    each([Dialect(n) for n in (3, 6, 9)], row)


@check("SIGTERM answers what is done and leaves a running upload resumable, exit 0", area="upload answers")
def drain(bench):
    origin, pawl = begin(bench, pawl={"drain-timeout": "2s"})
    d = Dialect(6)
    with Upload(pawl.address) as client:
        client.create(d, True, len(BODY))
        location = client.location()
        client.send(BODY[:40_000])
        same(pawl.stop(10), 0, "exit code")
    pawl.start()
    at = int(status(pawl.address, d, location).get("Upload-Offset"))
    true(0 <= at <= 40_000, f"offset {at}")
    same(append(pawl.address, d, location, at, BODY[at:]).body, b"got 100000 bytes", "the end")


@check(
    "the upload URL of one site is nothing on another that does not share its spool, and Referer never carries it",
    area="upload answers",
)
def referer(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = careful(pawl.address, d)
    get(pawl.address, "/page", (("Referer", location),))
    get(pawl.address, "/page2", (("Referer", "http://pawl.test/other"),))
    same(
        create(pawl.address, d, BODY, True, (("Referer", location),), "/page3").status, 200, "a creation with a Referer"
    )
    for path in ("/page", "/page3"):
        true(token_of(location) not in (origin.of(path)[0].get("Referer") or ""), f"a token in the Referer of {path}")
    same(asked(origin, "/page2")[0].get("Referer"), "http://pawl.test/other", "another Referer")


@check(
    "the origin's own words about uploads never reach the client as pawl's; its other fields do", area="upload answers"
)
def origin_words(bench):
    origin, pawl = begin(bench)
    own = (
        ("Upload-Offset", "77"),
        ("Upload-Complete", "?0"),
        ("Upload-Incomplete", "?1"),
        ("Upload-Limit", "max-size=1"),
        ("Upload-Length", "9"),
        ("Tus-Resumable", "0.1"),
        ("Upload-Draft-Interop-Version", "1"),
        ("Pawl-Origin-Status", "999"),
        ("Upload-Expires", "never"),
    )
    kept = (("Content-Security-Policy", "default-src 'self'"), ("Vary", "Accept"), ("Content-Language", "de"))
    origin.default = script(Resource(b"<html>", fields=own + kept))

    def row(d):
        answer = create(pawl.address, d, b"abc")
        same(
            (answer.all("Upload-Offset"), d.said(answer), answer.all("Upload-Draft-Interop-Version")),
            (["3"], True, [str(d.number)]),
            "what is said of the upload",
        )
        for name in ("Upload-Expires", "Upload-Length", "Tus-Resumable"):
            same(answer.all(name), [], name)
        true(answer.all("Upload-Limit") != ["max-size=1"], "the origin's Upload-Limit")
        for name, value in kept:
            true(value in answer.all(name), f"{name}: {answer.all(name)}")

    each(dialects(), row)
    location = tus_new(pawl.address, 3)
    answer = tus_patch(pawl.address, location, 0, b"abc")
    same(
        (
            answer.all("Upload-Offset"),
            answer.all("Tus-Resumable"),
            answer.all("Pawl-Origin-Status"),
            answer.all("Upload-Complete"),
        ),
        (["3"], ["1.0.0"], ["200"], []),
        "the last PATCH",
    )


@check("errors pawl makes itself say so in Proxy-Status", area="upload answers")
def proxy_status(bench):
    origin = bench.origin()
    origin.default = dies(origin, then=stored)
    pawl = bench.pawl(
        origin, site={"min-resumable": "0"}, extra={"spool:default": {"max-size": "1M", "max-share-per-client": "100%"}}
    )
    down = bench.pawl(
        f"http://127.0.0.1:{free_port()}",
        "down",
        site={"min-resumable": "0", "tus-wait": "200ms"},
        extra={"route:main/asked": {"path": "/asked", "auth-request": "/auth"}},
    )
    d = Dialect(9)
    answers = {
        "unknown": (create(pawl.address, d, b"abc"), 502),
        "origin down": (create(down.address, d, b"abc"), 503),
        "auth-request down": (create(down.address, d, b"abc", target="/asked"), 503),
    }
    with Upload(pawl.address) as client:
        client.create(d, True, chunked=True)
        try:
            client.send(b"200000\r\n" + bytes(2 * MIB))
        except OSError:
            pass
        answers["spool full"] = (client.answer(), 507)
    missing = []
    for what, (answer, code) in answers.items():
        if answer.status not in (code, 413) or "pawl" not in (answer.get("Proxy-Status") or ""):
            missing.append((what, answer.status, answer.all("Proxy-Status")))
    same(missing, [], "answers without Proxy-Status")
