"""One writer an upload: the newest request wins at once, whichever loop either is on, and is told an offset that
holds."""

import threading
import time

from harness.checks import check, same, timely, true
from harness.content import Content
from harness.process import wait_for
from harness.uploads import (
    OCTETS,
    TUS,
    Dialect,
    Upload,
    append,
    body_files,
    careful,
    dialects,
    digest,
    each,
    path_of,
    running,
    status,
    stored,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

MIB = 1 << 20
CONTENT = Content("takeover", 3 * MIB)
BODY = CONTENT.read()
JUNK = bytes(x ^ 0xFF for x in BODY[:65536]) * 48


def begin(bench, workers="2", **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site}, pawl={"workers": workers})


def ended(client, what, seconds=5):
    octets, how = client.until_end(seconds)
    true(how in ("fin", "rst"), f"{what} is not ended: {how} {octets[:100]!r}")
    true(b"HTTP/1.1 2" not in octets.split(b"HTTP/1.1 104")[-1], f"{what} was told success: {octets[-200:]!r}")


@check(
    "HEAD ends a running creation or append, tells its offset, and that append is accepted (each version, both loops)",
    area="upload takeover",
)
def by_head(bench):
    origin, pawl = begin(bench)

    def row(case):
        d, turn = case
        before = body_files(pawl)
        with Upload(pawl.address) as old:
            if turn % 2:
                location = careful(pawl.address, d)
                old.append(d, location, 0, len(BODY))
            else:
                old.create(d, True, len(BODY))
                location = old.location()
            old.send(BODY[:300_000])
            running(pawl, before)
            begun = time.monotonic()
            answer = status(pawl.address, d, location)
            took = time.monotonic() - begun
            same(answer.status, 204, "HEAD")
            at = int(answer.get("Upload-Offset"))
            true(0 <= at <= 300_000, f"offset {at}")
            timely(took < 1.5, f"offset {at} after {took:.2f} s")
            try:
                old.send(JUNK[:500_000])  # what the old writer still has in its pockets
            except OSError:
                pass
            same(
                status(pawl.address, d, location).get("Upload-Offset"), str(at), "offset after more from the old writer"
            )
            answer = append(pawl.address, d, location, at, BODY[at:])
            same((answer.status, answer.body), (200, b"got %d bytes" % len(BODY)), "append at the offset told")
            ended(old, "the old transfer")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each([(d, turn) for d in dialects() for turn in (0, 1)], row)


@check(
    "PATCH takes over at the stored offset, and a wrong one is 409 with an offset that holds", area="upload takeover"
)
def by_patch(bench):
    origin, pawl = begin(bench)

    def row(turn):
        d = Dialect(9 if turn % 2 else 6)
        location, before = careful(pawl.address, d), body_files(pawl)
        with Upload(pawl.address) as old, Upload(pawl.address) as new:
            old.append(d, location, 0, len(BODY))
            old.send(BODY[:200_000])
            running(pawl, before)
            new.append(d, location, 1, len(BODY) - 1)
            answer = new.answer()
            same(answer.status, 409, "PATCH at a wrong offset")
            at = int(answer.get("Upload-Offset"))
            answer = append(pawl.address, d, location, at, BODY[at : at + 100_000], False)
            if answer.status == 409:  # the old one was not ended by the refused request, and wrote on
                at = int(answer.get("Upload-Offset"))
                answer = append(pawl.address, d, location, at, BODY[at : at + 100_000], False)
            true(answer.status in (201, 204), f"append at the offset told: {answer}")
            try:
                old.send(JUNK[:100_000])
            except OSError:
                pass
            same(append(pawl.address, d, location, at + 100_000, BODY[at + 100_000 :]).status, 200, "the rest")
            ended(old, "the old transfer")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(range(8), row)


@check(
    "an old connection that keeps pouring wrong bytes adds none after the newer request; 16 times over 2 loops",
    area="upload takeover",
    seconds=90,
)
def dribbling(bench):
    origin, pawl = begin(bench)

    def row(turn):
        d = Dialect(3 + turn % 8)
        tus = turn % 4 == 3
        location = tus_new(pawl.address, len(BODY)) if tus else careful(pawl.address, d)
        stop, over = threading.Event(), threading.Event()
        old = Upload(pawl.address)
        if tus:
            old.head(
                path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(len(BODY))))
            )
        else:
            old.append(d, location, 0, len(BODY))

        def pour():
            sent = 0
            try:
                while not stop.is_set() and sent < len(BODY) - 1000:
                    # Right bytes until the newer request has its answer, wrong ones from then on.
                    step = 4096
                    old.send(JUNK[sent : sent + step] if over.is_set() else BODY[sent : sent + step])
                    sent += step
                    if sent > 200_000:
                        time.sleep(0.0005)
            except OSError:
                pass

        thread = threading.Thread(target=pour)
        before = body_files(pawl)
        thread.start()

        def asked():
            return tus_head(pawl.address, location) if tus else status(pawl.address, d, location)

        running(pawl, before)
        time.sleep(0.01 * (turn % 5))
        answer = asked()
        over.set()
        at = int(answer.get("Upload-Offset"))
        for _ in range(5):
            again = int(asked().get("Upload-Offset"))
            same(again, at, "offset told after the takeover")
        answer = (
            tus_patch(pawl.address, location, at, BODY[at:])
            if tus
            else append(pawl.address, d, location, at, BODY[at:])
        )
        same(answer.status, 204 if tus else 200, f"append at {at}")
        stop.set()
        thread.join(5)
        old.close()
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(range(16), row)


@check("between tus requests too: HEAD and PATCH end the older PATCH, no 423", area="upload takeover")
def tus(bench):
    origin, pawl = begin(bench)

    def row(turn):
        location, before = tus_new(pawl.address, len(BODY)), body_files(pawl)
        with Upload(pawl.address) as old:
            old.head(
                path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Content-Length", str(len(BODY))))
            )
            old.send(BODY[:250_000])
            running(pawl, before)
            if turn % 2:
                answer = tus_head(pawl.address, location)
                at = int(answer.get("Upload-Offset"))
            else:
                same(tus_patch(pawl.address, location, 2 * MIB, b"x").status, 409, "PATCH at a wrong offset")
                at = int(tus_head(pawl.address, location).get("Upload-Offset"))
            true(at <= 250_000, f"offset {at}")
            same(tus_patch(pawl.address, location, at, BODY[at:]).status, 204, "PATCH at the offset told")
            ended(old, "the old PATCH")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")

    each(range(6), row)


@check(
    "many HEADs at once while a transfer runs: all get answers, and the last told offset is accepted",
    area="upload takeover",
)
def crowd(bench):
    origin, pawl = begin(bench)
    d = Dialect(9)
    for _ in range(5):
        location, before = careful(pawl.address, d), body_files(pawl)
        old = bench.use(Upload(pawl.address))
        old.append(d, location, 0, len(BODY))
        old.send(BODY[:123_456])
        running(pawl, before)
        answers, threads = [], []

        def look():
            try:
                answers.append(status(pawl.address, d, location))
            except AssertionError as error:
                answers.append(error)

        for _ in range(12):
            threads.append(threading.Thread(target=look))
            threads[-1].start()
        [t.join(10) for t in threads]
        same([getattr(a, "status", str(a)) for a in answers], [204] * 12, "HEADs")
        at = int(status(pawl.address, d, location).get("Upload-Offset"))
        true(all(int(a.get("Upload-Offset")) <= at for a in answers), "an offset that was told went back")
        same(append(pawl.address, d, location, at, BODY[at:]).status, 200, "append")
        true(whole(origin)[-1].body == BODY, "other bytes at the origin")


@check("two appends at the same offset: one upload, whole, delivered once", area="upload takeover")
def race(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    for turn in range(10):
        target = f"/r{turn}"
        location = careful(pawl.address, d, target=target)
        clients = [bench.use(Upload(pawl.address)) for _ in range(3)]
        for client in clients:
            client.append(d, location, 0, len(BODY))

        def send(client):
            try:
                client.send(BODY)
            except OSError:
                pass

        threads = [threading.Thread(target=send, args=(c,)) for c in clients]
        [t.start() for t in threads]
        [t.join(10) for t in threads]
        answers = [c.response("PATCH") for c in clients]
        for answer in answers:
            true(answer.status in (200, 409, 400, 0), f"{answer}")
        if not any(a.status == 200 for a in answers):  # each was ended by the next, or refused: the upload goes on
            at = int(status(pawl.address, d, location).get("Upload-Offset"))
            same(append(pawl.address, d, location, at, BODY[at:]).status, 200, "the rest")
        wait_for(lambda: whole(origin, target), 5, "the delivery")
        same([r.body == BODY for r in whole(origin, target)], [True], "requests at the origin")


@check("a verified append is displaced without a trace", area="upload takeover")
def verified(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = careful(pawl.address, d)
    append(pawl.address, d, location, 0, BODY[:1000], False)
    with Upload(pawl.address) as old:
        old.append(d, location, 1000, len(BODY) - 1000, True, (("Content-Digest", digest(BODY[1000:])),))
        old.send(BODY[1000:900_000])
        same(status(pawl.address, d, location).get("Upload-Offset"), "1000", "HEAD")
        same(append(pawl.address, d, location, 1000, BODY[1000:]).status, 200, "the rest without a digest")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")
