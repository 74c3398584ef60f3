"""Limits: sizes, room, clients, rates, lifetimes."""

import os
import time

from harness.checks import Skip, check, same, true
from harness.content import Content
from harness.origin import Origin
from harness.process import wait_for
from harness.uploads import (
    Dialect,
    Upload,
    append,
    ask,
    asked,
    bearer,
    body_files,
    cancel,
    careful,
    chunks,
    create,
    dialects,
    each,
    limits,
    on_connection,
    one,
    partial,
    status,
    stored,
    tus_create,
    tus_delete,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

MIB = 1 << 20
BODY = Content("limits", 3 * MIB).read()


def begin(bench, spool=None, pawl=None, name="pawl", **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(
        origin, name, site={"min-resumable": "0", **site}, pawl=pawl, extra={"spool:default": spool} if spool else None
    )


def files(pawl, least=1):
    return list(body_files(pawl, least))


@check(
    "max-upload: declared lengths are 413 with Upload-Limit before a body byte; undeclared ones when they pass it",
    area="upload limits",
    tags=("every",),
)
def max_upload(bench):
    origin, pawl = begin(bench, **{"max-upload": "1M"})

    def row(d):
        with Upload(pawl.address) as client:
            client.create(d, True, MIB + 1)
            answer = client.answer()
            same((answer.status, [s for s, _ in answer.interim]), (413, []), "a declared creation")
            if d.number >= 6:
                same(limits(one(answer, "Upload-Limit")).get("max-size"), MIB, "max-size")
        if d.number >= 6:
            answer = create(pawl.address, d, b"", False, (("Upload-Length", str(MIB + 1)),))
            same((answer.status, limits(one(answer, "Upload-Limit")).get("max-size")), (413, MIB), "an Upload-Length")
        with Upload(pawl.address) as client:
            client.create(d, True, chunked=True)
            client.location()
            try:
                client.send(chunks(BODY, 65536))
            except OSError:
                pass
            answer = client.answer()
            same(answer.status, 413, "a chunked creation")
        location = careful(pawl.address, d)
        same(append(pawl.address, d, location, 0, BODY[: MIB - 10], False).status // 100, 2, "an append below it")
        answer = append(pawl.address, d, location, MIB - 10, b"x" * 11, False)
        same(answer.status, 413, "an append that passes it")
        if d.number >= 6:
            same(limits(one(answer, "Upload-Limit")).get("max-size"), MIB, "max-size of the append's answer")
        same(create(pawl.address, d, BODY[:MIB]).status, 200, "an upload of exactly max-upload")

    each(dialects(), row)
    true(all(len(r.body) == MIB for r in whole(origin)), "what reached the origin")
    answer = tus_create(pawl.address, MIB + 1)
    same((answer.status, answer.all("Tus-Resumable")), (413, ["1.0.0"]), "tus creation")
    location = tus_new(pawl.address, None, (("Upload-Defer-Length", "1"),))
    same(
        tus_patch(pawl.address, location, 0, BODY[:100], (("Upload-Length", str(MIB + 1)),)).status,
        413,
        "a deferred length",
    )
    same(tus_patch(pawl.address, location, 0, BODY[: MIB + 1]).status, 413, "deferred content")
    same(ask(pawl.address, "/in", "OPTIONS").get("Tus-Max-Size"), str(MIB), "Tus-Max-Size")


@check(
    "larger than the spool is 413; no room now is 507 with Retry-After, and there is room again once one is gone",
    area="upload limits",
)
def spool_full(bench):
    origin, pawl = begin(bench, {"max-size": "8M", "max-share-per-client": "100%"})

    def row(d):
        answer = create(pawl.address, d, b"", False, (("Upload-Length", str(9 * MIB)),)) if d.number >= 6 else None
        if answer:
            same(
                (answer.status, limits(one(answer, "Upload-Limit")).get("max-size") <= 8 * MIB),
                (413, True),
                "larger than the spool",
            )
        # The room of what was delivered a moment ago may take a moment.
        wait_for(lambda: not files(pawl, MIB), 5, "freed files")
        time.sleep(0.1)
        first, second = [partial(pawl, d, BODY, len(BODY) - 1) for _ in range(2)]
        with Upload(pawl.address) as client:
            client.create(d, True, len(BODY))
            answer = client.answer()
            same((answer.status, [s for s, _ in answer.interim if s == 104]), (507, []), "a third of 3 MiB")
            true(int(one(answer, "Retry-After")) > 0, "Retry-After")
        same(tus_create(pawl.address, len(BODY)).status, 507, "a third by tus")
        same(
            append(pawl.address, d, first, len(BODY) - 1, BODY[-1:]).body,
            b"got %d bytes" % len(BODY),
            "the first completes",
        )
        wait_for(lambda: len(files(pawl, MIB)) == 1, 5, "the end of the first one's file")
        time.sleep(0.1)
        third = partial(pawl, d, BODY, 1000)
        for location in (second, third):
            same(cancel(pawl.address, d, location).status, 204, "DELETE")
        same(create(pawl.address, d, BODY).status, 200, "an upload once there is room")

    each([Dialect(n) for n in (6, 9)], row)
    true(wait_for(lambda: not files(pawl, MIB), 5, "freed files") is True, "files")


@check(
    "spool full while a length-less body comes: 507 at its offset, nothing lost, it goes on when there is room",
    area="upload limits",
    tags=("every",),
)
def pause(bench):
    origin, pawl = begin(bench, {"max-size": "8M", "max-share-per-client": "100%"})
    d = Dialect(9)
    blocker = partial(pawl, d, bytes(6 * MIB), 6 * MIB - 1)
    location = careful(pawl.address, d)
    with Upload(pawl.address) as client:
        client.append(d, location, 0, 0, True, chunked=True)
        try:
            client.send(chunks(BODY, MIB, MIB)[:-5])
        except OSError:
            pass
        answer = client.answer()
        same((answer.status, d.said(answer)), (507, False), "a body beyond the room")
        true(int(one(answer, "Retry-After")) > 0, "Retry-After")
    at = int(status(pawl.address, d, location).get("Upload-Offset"))
    true(0 < at < len(BODY), f"offset {at}")
    same(ask(pawl.address, "/page").status, 200, "a read")
    same(cancel(pawl.address, d, blocker).status, 204, "DELETE of the other")
    wait_for(lambda: append(pawl.address, d, location, at, BODY[at:]).status == 200, 2, "the rest once there is room")
    true(whole(origin, method="POST")[-1].body == BODY, "other bytes at the origin")


@check(
    "an open upload without bytes does not hold the spool against others for longer than a minute",
    area="upload limits",
    seconds=90,
)
def promises(bench):
    if not os.environ.get("PAWL_SLOW_CHECKS"):
        raise Skip("takes a minute; set PAWL_SLOW_CHECKS")
    origin, pawl = begin(bench, {"max-size": "8M", "max-share-per-client": "100%"})
    d = Dialect(6)
    for _ in range(3):
        create(pawl.address, d, b"", False, (("Upload-Length", str(7 * MIB)),))
    wait_for(lambda: create(pawl.address, d, BODY).status == 200, 75, "the lapse of promises", 1)


@check(
    "max-uploads-per-client: one more is 429 with Retry-After, counted by address; other clients are not hurt",
    area="upload limits",
)
def per_client(bench):
    origin, pawl = begin(bench, {"max-uploads-per-client": "3"})
    ann, bob = (("Authorization", bearer("ann")),), (("Authorization", bearer("bob")),)
    d = Dialect(9)
    mine = [careful(pawl.address, d, ann) for _ in range(3)]
    same(create(pawl.address, d, b"", False, bob).status, 429, "another claim from the same address")
    answer = create(pawl.address, d, b"", False, ann)
    same(answer.status, 429, "a fourth")
    true(int(one(answer, "Retry-After")) > 0, "Retry-After")
    same(tus_create(pawl.address, 10, ann).status, 429, "a fourth by tus")
    theirs = careful(pawl.address, d, bob, source="127.0.0.2")
    same(append(pawl.address, d, mine[0], 0, b"abc", True, ann).status, 200, "one of the three completes")
    mine.append(careful(pawl.address, d, ann))
    same(cancel(pawl.address, d, mine[1], ann).status, 204, "DELETE")
    careful(pawl.address, d, ann)
    same(create(pawl.address, d, b"", False, ann).status, 429, "a fourth again")
    same(append(pawl.address, d, theirs, 0, b"abc", True, bob).status, 200, "another client")


@check("max-share-per-client keeps one client from filling the spool", area="upload limits")
def share(bench):
    origin, pawl = begin(bench, {"max-size": "16M", "max-share-per-client": "25%"})
    ann = (("Authorization", bearer("ann")),)
    d = Dialect(9)
    answer = create(pawl.address, d, b"", False, ann + (("Upload-Length", str(5 * MIB)),))
    true(answer.status in (413, 429, 507), f"more than the share: {answer.status}")
    true(limits(one(answer, "Upload-Limit")).get("max-size") <= 4 * MIB, "max-size of a client with a share of 4 MiB")
    location = partial(pawl, d, BODY, len(BODY) - 1, ann)
    answer = create(pawl.address, d, b"", False, ann + (("Upload-Length", str(2 * MIB)),))
    true(answer.status in (413, 429, 507), f"more than what is left of the share: {answer.status}")
    same(create(pawl.address, d, BODY, source="127.0.0.2").status, 200, "another client")
    same(append(pawl.address, d, location, len(BODY) - 1, BODY[-1:], True, ann).status, 200, "the first completes")
    same(create(pawl.address, d, BODY, True, ann).status, 200, "the share is free again")


@check("a sender below min-rate is cut, its bytes stay, and it may go on", area="upload limits", tags=("every",))
def min_rate(bench):
    origin, pawl = begin(bench, **{"min-rate": "100K/1s"})
    d = Dialect(9)
    with Upload(pawl.address) as client:
        client.create(d, True, len(BODY))
        location = client.location()
        client.send(BODY[:50_000])
        answer = client.response("POST")
        true(answer.status in (0, 408) and answer.ended in ("fin", "rst", "message"), f"a stalled sender: {answer}")
    same(status(pawl.address, d, location).get("Upload-Offset"), "50000", "offset")
    same(append(pawl.address, d, location, 50_000, BODY[50_000:]).status, 200, "the rest")


@check(
    "an upload whose time is over is 410 from that moment on, whenever it is swept up: HEAD, PATCH, DELETE, GET, as "
    "a part",
    area="upload limits",
)
def expired_at_once(bench):
    origin, pawl = begin(bench, {"expire-after": "3s"}, **{"response-ttl": "3s"})
    rows = []
    for number in range(3):
        begun = time.monotonic()
        ietf, tus, part = (
            careful(pawl.address, Dialect(9)),
            tus_new(pawl.address, 10),
            tus_new(pawl.address, 5, (("Upload-Concat", "partial"),)),
        )
        same(tus_patch(pawl.address, part, 0, b"12345").status, 204, "a part")
        answered = tus_new(pawl.address, 3)
        same(tus_patch(pawl.address, answered, 0, b"abc").status, 204, "a whole upload")
        same(tus_head(pawl.address, tus).status, 200, "HEAD before")
        rows.append((begun, ietf, tus, part, answered))
        time.sleep(1.1)
    for begun, ietf, tus, part, answered in rows:
        # Sweeps come seconds apart: whichever is just over is asked for.
        time.sleep(max(0, begun + 3.6 - time.monotonic()))
        found = {
            "HEAD": status(pawl.address, Dialect(9), ietf),
            "PATCH": append(pawl.address, Dialect(9), ietf, 0, b"x"),
            "tus HEAD": tus_head(pawl.address, tus),
            "tus PATCH": tus_patch(pawl.address, tus, 0, b"x"),
            "tus DELETE": tus_delete(pawl.address, tus),
            "tus GET": tus_get(pawl.address, answered),
            "HEAD of the answered": tus_head(pawl.address, answered),
            "HEAD of the part": tus_head(pawl.address, part),
        }
        same(
            {name: answer.status for name, answer in found.items()},
            dict.fromkeys(found, 410),
            f"{time.monotonic() - begun:.1f} s after",
        )
        final = tus_create(pawl.address, None, (("Upload-Concat", f"final;{part}"),))
        true(400 <= final.status < 500, f"a final of it: {final}")
    same([len(r.body) for r in whole(origin)], [3, 3, 3], "requests at the origin")


@check(
    "expire-after, max-age and response-ttl end what they are about, with files and rows, also over a restart; "
    "completed uploads stay, or go by forward-give-up",
    area="upload limits",
)
def expiry(bench):
    def gone(pawl, d, *locations):
        return all(status(pawl.address, d, location).status in (404, 410) for location in locations)

    d, tus = Dialect(9), []
    origin, pawl = begin(bench, {"expire-after": "2s", "max-uploads-per-client": "1000"}, **{"response-ttl": "1s"})
    old = partial(pawl, d, BODY, MIB)
    pawl.kill()
    time.sleep(2.1)  # it expires while nobody runs
    pawl.start()
    location = partial(pawl, d, BODY, MIB + 1)
    found = limits(one(status(pawl.address, d, location), "Upload-Limit"))
    true(0 <= found["max-age"] <= 2, f"{found}")
    answered = [f.get("Location") for s, f in create(pawl.address, d, BODY).interim if s == 104][0]
    before = pawl.descriptors()
    with Upload(pawl.address) as client:
        for _ in range(200):
            client.create(d, False, 0)
            tus.append(client.answer().get("Location"))
    same(len(set(tus)), 200, "Locations")
    wait_for(lambda: pawl.descriptors() <= before + 30, 5, f"descriptors back from {pawl.descriptors()} to {before}")

    port = bench.held_port()
    down = bench.pawl(
        f"http://127.0.0.1:{port}",
        "down",
        site={"min-resumable": "0", "tus-wait": "200ms"},
        extra={
            "spool:default": {"expire-after": "1s", "max-age": "1s"},
            "route:main/drop": {"path": "/drop", "forward-give-up": "1s"},
        },
    )
    stays, drops = [
        [f.get("Location") for s, f in create(down.address, d, BODY, target=target).interim if s == 104][0]
        for target in ("/in", "/drop")
    ]
    incomplete = careful(down.address, d)

    _, busy = begin(bench, {"expire-after": "1h", "max-age": "2s"}, name="busy")
    ageing, at = tus_new(busy.address, 1000), 0
    end = time.monotonic() + 16
    while time.monotonic() < end and tus_patch(busy.address, ageing, at, b"x").status == 204:
        at += 1
        time.sleep(0.2)
    same(
        tus_patch(busy.address, ageing, at, b"x").status in (404, 410),
        True,
        f"a busy upload after {at} bytes and max-age",
    )

    wait_for(lambda: gone(pawl, d, old, location, answered, tus[0], tus[-1]), 16, "the end of all", 0.2)
    true(append(pawl.address, d, location, MIB + 1, b"x").status in (404, 410), "PATCH")
    wait_for(lambda: not files(pawl, MIB), 5, "the end of the body files")
    wait_for(lambda: "upload-expired" in pawl.log(), 5, "a log line")
    same([len(r.body) for r in whole(origin)], [len(BODY)], "requests at the origin")

    wait_for(lambda: gone(down, d, incomplete, drops), 16, "the end of an incomplete upload and of one given up", 0.2)
    same(status(down.address, d, stays).get("Upload-Offset"), str(len(BODY)), "HEAD of the completed one")
    late = bench.use(Origin(port=port, is_held=True, default=stored))
    wait_for(lambda: whole(late), 20, "the delivery")
    same(
        [(r.path, r.body == BODY) for r in late.requests if r.method != "OPTIONS"],
        [("/in", True)],
        "what was delivered",
    )


@check(
    "max-upload holds for ordinary uploads that stream to the application, declared or not, to the byte",
    area="upload limits",
)
def streamed_max_upload(bench):
    origin, pawl = begin(bench, **{"max-upload": "1M", "plain-uploads": "stream"})
    kinds = {
        "plain": (),
        "form": (("Content-Type", "multipart/form-data; boundary=x"),),
        "part": (("Content-Range", "bytes 0-9/20"),),
        "incremental": (("Incremental", "?1"),),
        "expects": (("Expect", "100-continue"),),
        "grpc": (("Content-Type", "application/grpc"),),
    }

    def row(case):
        name, method, chunked = case
        path = f"/{name}-{method}-{chunked}"
        answer = ask(pawl.address, path, method, kinds[name], BODY[:MIB], chunked=chunked)
        same((answer.status, answer.body), (200, b"got 1048576 bytes"), "exactly max-upload")
        answer = ask(pawl.address, path, method, kinds[name], BODY[: MIB + 1], chunked=chunked)
        same((answer.status, [s for s, _ in answer.interim if s != 100]), (413, []), "one more")
        whole_ones = [
            r for r in asked(origin, path) if len(r.body) > MIB or (r.status is not None and len(r.body) < MIB)
        ]
        same(whole_ones, [], "at the origin")

    each([(name, method, chunked) for name in kinds for method in ("POST", "PUT") for chunked in (False, True)], row)
    with Upload(pawl.address) as client:
        client.head("/declared", "PUT", (("Content-Length", str(MIB + 1)), ("Expect", "100-continue")))
        answer = client.answer()
        same((answer.status, answer.interim, asked(origin, "/declared")), (413, [], []), "declared, before any byte")


@check(
    "an application that answers while it reads is cut off with its client when max-upload is passed",
    area="upload limits",
)
def answered_early(bench):
    origin = bench.origin()
    seen = []

    def talk(request, connection, buffer):
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\r\n5\r\nhello\r\n"
        )
        request.status = 200
        while True:
            try:
                data = connection.recv(65536)
            except OSError:
                break
            if not data:
                break
            seen.append(len(data))
            if data.endswith(b"0\r\n\r\n"):
                seen.append("end")

    origin.default = on_connection(talk)
    pawl = bench.pawl(origin, site={"max-upload": "1M", "min-resumable": "0"})
    with Upload(pawl.address) as client:
        client.head("/talk", "POST", (("Transfer-Encoding", "chunked"),))
        octets = chunks(BODY, 65536)
        client.send(octets[:100_000])
        wait_for(lambda: seen, 5, "the first bytes at the application, which has answered by then")
        try:
            client.send(octets[100_000:])
        except OSError:
            pass
        answer = client.response()
    true((answer.status, answer.complete) in ((200, False), (413, True)), f"the answer: {answer}")
    true("end" not in seen, "the application was shown the end of a request that is too large")
