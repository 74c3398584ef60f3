"""Where requests end and begin: last bytes, pipelines, expectations that are refused, reloads."""

import signal
import threading
import time

from harness.checks import V1, check, same, true
from harness.client import head
from harness.content import Content
from harness.origin import Resource
from harness.process import run_pawl, wait_for
from harness.uploads import (
    NO_STORE,
    OCTETS,
    TUS,
    Dialect,
    Upload,
    append,
    ask,
    basic,
    body_files,
    careful,
    chunks,
    create,
    dialects,
    each,
    landed,
    on_connection,
    partial,
    path_of,
    status,
    stored,
    tus_head,
    tus_new,
    whole,
)

BODY = Content("edges", 100_000).read()


def begin(bench, extra=None, pawl=None, name="pawl", **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, name, site={"min-resumable": "0", **site}, extra=extra, pawl=pawl)


@check(
    "a chunked body is complete with its last chunk's line end, and not a byte before, whatever length was told",
    area="upload edges",
)
def last_chunk(bench):
    origin, pawl = begin(bench)
    raw = chunks(BODY, 40_000)

    def row(case):
        missing, how, tells = case
        target = f"/c{missing}{how}{tells}"
        with Upload(pawl.address) as client:
            client.create(
                Dialect(9),
                True,
                target=target,
                chunked=True,
                fields=(("Upload-Length", str(len(BODY))),) if tells else (),
            )
            location = client.location()
            client.send(raw[: len(raw) - missing])
            client.cut(how)
        if missing:
            landed(pawl, len(BODY)) if missing <= 7 else None
            answer = status(pawl.address, Dialect(9), location)
            same((answer.status, Dialect(9).said(answer)), (204, False), "HEAD")
            same(len(whole(origin, target)), 0, "requests at the origin")
            at = int(answer.get("Upload-Offset"))
            answer = append(pawl.address, Dialect(9), location, at, BODY[at:])
            same((answer.status, answer.body), (200, b"got 100000 bytes"), "the rest")
        wait_for(lambda: whole(origin, target), 5, "the request at the origin")
        same([r.body == BODY for r in whole(origin, target)], [True], "requests at the origin")

    each([(missing, "fin", tells) for tells in (False, True) for missing in (0, 1, 2, 4, 5, 7, 9)], row)


@check(
    "a chunked body that ends in nonsense is 400 and completes nothing, though its length is reached",
    area="upload edges",
    over=V1,
    why="HTTP/2 has no chunks",
)
def nonsense_at_the_end(bench):
    origin, pawl = begin(bench)
    raw = b"%x\r\n" % len(BODY) + BODY

    def row(case):
        name, rest = case
        target = f"/n-{name}"
        with Upload(pawl.address) as client:
            client.create(Dialect(9), True, target=target, chunked=True, fields=(("Upload-Length", str(len(BODY))),))
            location = client.location()
            client.send(raw + rest)
            same(client.response().status, 400, "answer")
        answer = status(pawl.address, Dialect(9), location)
        same(
            (answer.status, Dialect(9).said(answer), len(whole(origin, target))),
            (204, False, 0),
            "HEAD, requests at the origin",
        )
        at = int(answer.get("Upload-Offset"))
        same(append(pawl.address, Dialect(9), location, at, BODY[at:]).status, 200, "the rest")
        same([r.body == BODY for r in whole(origin, target)], [True], "requests at the origin")

    each([("line", b"XX0\r\n\r\n"), ("size", b"\r\nzz\r\n"), ("trailer", b"\r\n0\r\nbad trailer\r\n\r\n")], row)


@check(
    "a body with Content-Length is complete with its last byte, and not a byte before, FIN or RST", area="upload edges"
)
def last_octet(bench):
    origin, pawl = begin(bench)

    def row(case):
        missing, how, d = case
        target = f"/l{missing}{how}{d}"
        if missing:
            location = partial(pawl, d, BODY, len(BODY) - missing, how=how, target=target)
            at = int(status(pawl.address, d, location).get("Upload-Offset"))
            true(at <= len(BODY) - missing, f"offset {at}")
            same(len(whole(origin, target)), 0, "requests at the origin")
            same(append(pawl.address, d, location, at, BODY[at:]).status, 200, "the rest")
        else:
            before = body_files(pawl)
            with Upload(pawl.address) as client:
                client.create(d, True, len(BODY), target=target)
                client.location()
                client.send(BODY)
                if how == "rst":  # a reset takes away what pawl has not read
                    wait_for(
                        lambda: (
                            whole(origin, target)
                            or len(BODY) in [s for p, s in body_files(pawl).items() if p not in before]
                        ),
                        5,
                        "the bytes",
                    )
                client.cut(how)
            wait_for(lambda: whole(origin, target), 5, "the request at the origin")
        same([r.body == BODY for r in whole(origin, target)], [True], "requests at the origin")

    each([(m, how, d) for d in (Dialect(3), Dialect(6), Dialect(10)) for how in ("fin", "rst") for m in (0, 1)], row)


@check(
    "pipelined upload requests are answered in order on one connection",
    area="upload edges",
    over=V1,
    why="in HTTP/2 requests run side by side, and a newer one for an upload displaces the older",
)
def pipeline(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    location = path_of(careful(pawl.address, d))
    base = d.version + d.append_type

    def patch(at, data, done):
        return head(location, "PATCH", base + (("Upload-Offset", str(at)), d.completes(done)), data) + data

    with Upload(pawl.address) as client:
        client.method = "PATCH"
        client.send(
            patch(0, BODY[:1000], False)
            + head(location, "HEAD", d.version)
            + patch(5, b"x", False)
            + patch(1000, BODY[1000:2000], False)
            + head("/page", "GET")
            + patch(2000, BODY[2000:], True)
            + head("/page", "GET")
        )
        answers = [client.response(m) for m in ("PATCH", "HEAD", "PATCH", "PATCH", "GET", "PATCH", "GET")]
    same([a.status for a in answers], [201, 204, 409, 201, 200, 200, 200], "statuses")
    same([a.get("Upload-Offset") for a in answers], ["1000", "1000", "1000", "2000", None, "100000", None], "offsets")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")


@check("Expect: 100-continue of what is refused gets the refusal and no 100", area="upload edges")
def expectation(bench):
    origin = bench.origin()
    origin.at(
        "/auth",
        lambda r: Resource(b"", status=204 if r.get("Authorization") == basic("ann", "x") else 401, fields=NO_STORE),
    )
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0", "max-upload": "1M", "auth-request": "/auth"})
    d, ann, expect = Dialect(9), (("Authorization", basic("ann", "x")),), (("Expect", "100-continue"),)
    location = careful(pawl.address, d, ann)
    tus = tus_new(pawl.address, 10, ann)
    octets = OCTETS + (("Content-Length", "5"),)
    rows = {
        "too large": (413, lambda c: c.create(d, True, 2 << 20, ann + expect)),
        "not allowed": (401, lambda c: c.create(d, True, 1000, expect)),
        "wrong offset": (409, lambda c: c.append(d, location, 7, 1000, True, ann + expect)),
        "another type": (
            415,
            lambda c: c.head(
                path_of(location),
                "PATCH",
                d.version
                + ann
                + expect
                + (("Content-Type", "a/b"), ("Content-Length", "5"), ("Upload-Offset", "0"), ("Upload-Complete", "?0")),
            ),
        ),
        "unknown": (404, lambda c: c.append(d, "/.pawl/uploads/" + "D" * 32, 0, 1000, True, ann + expect)),
        "tus wrong offset": (
            409,
            lambda c: c.head(path_of(tus), "PATCH", TUS + octets + ann + expect + (("Upload-Offset", "3"),)),
        ),
        "tus version": (
            412,
            lambda c: c.head(
                path_of(tus), "PATCH", (("Tus-Resumable", "2.0.0"),) + octets + ann + expect + (("Upload-Offset", "0"),)
            ),
        ),
    }

    def row(name):
        code, send = rows[name]
        with Upload(pawl.address) as client:
            send(client)
            answer = client.answer()
            same((answer.status, [s for s, _ in answer.interim]), (code, []), name)

    each(rows, row)


@check(
    "of a refused or displaced upload no more than 1 MiB is read, or a second long; who is refused still finds the "
    "answer",
    area="upload edges",
    seconds=60,
)
def unread(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0", "max-upload": "100M"})
    d, size, block = Dialect(9), 500 << 20, bytes(65536)
    location, displaced, tus = careful(pawl.address, d), careful(pawl.address, d), tus_new(pawl.address, 90 << 20)
    rows = {
        "too large": (413, lambda c: c.create(d, True, size)),
        "wrong offset": (409, lambda c: c.append(d, location, 7, size)),
        "chunked": (409, lambda c: c.append(d, location, 7, 0, chunked=True)),
        "unknown": (404, lambda c: c.append(d, "/.pawl/uploads/" + "D" * 32, 0, size)),
        "tus wrong offset": (
            409,
            lambda c: c.head(
                path_of(tus), "PATCH", TUS + OCTETS + (("Content-Length", str(size)), ("Upload-Offset", "3"))
            ),
        ),
        "displaced": (None, lambda c: c.append(d, displaced, 0, 90 << 20, False)),
    }

    def row(name):
        code, send = rows[name]
        with Upload(pawl.address, timeout=10) as client:
            send(client)
            if name == "displaced":
                client.send(block)
                landed(pawl, len(block))
                same(status(pawl.address, d, displaced).get("Upload-Offset"), "65536", "the offset by who displaces it")
            framed = b"10000\r\n" + block + b"\r\n" if name == "chunked" else block
            sent, begun = 0, time.monotonic()
            client.socket.settimeout(0.4)
            try:
                while sent < 200 << 20:
                    client.socket.sendall(framed)
                    sent += len(framed)
            except OSError:
                pass
            took = time.monotonic() - begun
            # What both kernels keep comes to it.
            true(sent < 14 << 20, f"{name}: {sent >> 20} MiB were taken in {took:.1f} s")
            # Who is displaced is cut off without one.
            if bench.over == "clear" and code:
                client.socket.settimeout(3)
                same(client.answer().status, code, name)

    each(rows, row)


@check("plain-uploads = spool does not hold back what asks to be incremental", area="upload edges")
def incremental(bench):
    origin = bench.origin()
    seen = threading.Event()

    def watch(request, connection, buffer):
        need, got = int(request.get("Content-Length")), len(buffer)
        while got < need:
            if got >= 1000:
                seen.set()
            data = connection.recv(65536)
            if not data:
                return
            got += len(data)
        request.status = 200
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    origin.default = on_connection(watch)
    pawl = bench.pawl(origin, site={"plain-uploads": "spool"})
    with Upload(pawl.address) as client:
        client.head("/in", "POST", (("Incremental", "?1"), ("Content-Length", str(len(BODY)))))
        client.send(BODY[:50_000])
        if not seen.wait(2):
            answer = client.answer()
            same(answer.status, 501, "a spooling answer to Incremental: ?1")
            return
        client.send(BODY[50_000:])
        same(client.answer().body, b"ok", "answer")


@check("SIGHUP reloads under a running upload, and uploads and their URLs stay", area="upload edges")
def reload(bench):
    origin, pawl = begin(bench)
    d = Dialect(6)
    kept = partial(pawl, d, BODY, 1000)
    with Upload(pawl.address) as client:
        client.create(d, True, len(BODY))
        client.location()
        client.send(BODY[:50_000])
        text = pawl.file.read_text()
        pawl.file.write_text(text.replace("[site:main]", "[site:main]\nmax-upload = 1M"))
        pawl.signal(signal.SIGHUP)
        wait_for(
            lambda: create(pawl.address, d, b"", False, (("Upload-Length", str(2 << 20)),)).status == 413,
            5,
            "the new limit",
        )
        client.send(BODY[50_000:])
        same(client.answer().body, b"got 100000 bytes", "the running upload")
    same(append(pawl.address, d, kept, 1000, BODY[1000:]).body, b"got 100000 bytes", "the one from before")


@check("a second pawl on the same spool is refused with 69", area="upload edges")
def second(bench):
    origin, pawl = begin(bench)
    careful(pawl.address, Dialect(6))
    other = bench.folder / "other.ini"
    other.write_text(pawl.file.read_text().replace("path = cache", "path = cache2"))
    text = other.read_text() + f"\n[spool:default]\npath = {pawl.folder}/state/spool\n"
    other.write_text(text)
    code, out, err = run_pawl("serve", "--config", str(other), folder=bench.folder)
    same(code, 69, f"exit code ({err[-300:]})")


@check("the head of an append comes in single bytes, its body in one; and the other way round", area="upload edges")
def fragments(bench):
    origin, pawl = begin(bench)
    for d in (Dialect(3), Dialect(9)):
        location = careful(pawl.address, d)
        raw = head(
            path_of(location),
            "PATCH",
            d.version + d.append_type + (("Upload-Offset", "0"), d.completes(True)),
            BODY[:2000],
        )
        with Upload(pawl.address) as client:
            client.method = "PATCH"
            for at in range(len(raw)):
                client.send(raw[at : at + 1])
            client.send(BODY[:2000])
            same(client.answer().body, b"got 2000 bytes", "head in pieces")
        location = careful(pawl.address, d)
        raw = head(
            path_of(location),
            "PATCH",
            d.version + d.append_type + (("Upload-Offset", "0"), d.completes(True), ("Transfer-Encoding", "chunked")),
        )
        with Upload(pawl.address) as client:
            client.method = "PATCH"
            client.send(raw)
            for octet in chunks(BODY[:300], *([1] * 50), 100):
                client.send(bytes([octet]))
            same(client.answer().body, b"got 300 bytes", "chunks in pieces")


@check(
    "two requests' worth of trouble: Content-Length with Transfer-Encoding is 400 and adds nothing",
    area="upload edges",
    over=V1,
    why="HTTP/2 has one framing",
)
def smuggling(bench):
    origin, pawl = begin(bench)
    location = tus_new(pawl.address, 100)
    answer = ask(
        pawl.address,
        path_of(location),
        "PATCH",
        TUS + OCTETS + (("Upload-Offset", "0"), ("Transfer-Encoding", "chunked"), ("Content-Length", "3")),
        None,
    )
    same(answer.status, 400, "both framings")
    same(tus_head(pawl.address, location).get("Upload-Offset"), "0", "offset")
    with Upload(pawl.address) as client:
        client.head(
            path_of(location), "PATCH", TUS + OCTETS + (("Upload-Offset", "0"), ("Transfer-Encoding", "chunked"))
        )
        client.send(b"5\r\nabcde\r\nzz\r\n")
        answer = client.response("PATCH")
        true(answer.status in (0, 400), f"a broken chunk: {answer}")
    at = int(tus_head(pawl.address, location).get("Upload-Offset"))
    true(at in (0, 5), f"offset {at}")
    same(len(whole(origin)), 0, "requests at the origin")


@check(
    "kill -9 at random moments of uploads: told offsets hold, bodies are whole, none twice unless unknown",
    area="upload edges",
)
def kills(bench):
    origin, pawl = begin(bench)
    size = 400_000
    content = Content("kills", size).read()
    uploads = []
    for i in range(6):
        d = dialects()[i % 8]
        uploads.append([d, careful(pawl.address, d, target=f"/k{i}"), 0, f"/k{i}"])
    for turn in range(6):
        stop, threads = threading.Event(), []

        def send(entry):
            d, location, _, _ = entry
            try:
                while not stop.is_set():
                    answer = status(pawl.address, d, location)
                    at = int(answer.get("Upload-Offset"))
                    if at < entry[2]:
                        wrong.append(f"{entry[3]}: {at} after {entry[2]} was told")
                    entry[2] = at
                    done = at + 50_000 >= size
                    answer = append(pawl.address, d, location, at, content[at : at + 50_000], done)
                    if answer.status == 200:
                        return
                    if answer.get("Upload-Offset"):
                        entry[2] = max(entry[2], int(answer.get("Upload-Offset")))
            except (AssertionError, OSError, TypeError):
                pass

        wrong = []
        threads = [threading.Thread(target=send, args=(e,)) for e in uploads]
        [t.start() for t in threads]
        time.sleep(0.05 + 0.05 * turn)
        pawl.restart(hard=True)
        stop.set()
        [t.join(10) for t in threads]
        same(wrong, [], "offsets that went back")
    for d, location, _, target in uploads:

        def finished():
            answer = status(pawl.address, d, location)
            at = int(answer.get("Upload-Offset"))
            answer = append(pawl.address, d, location, at, content[at:] if at < size else b"")
            return answer.status in (200, 502)

        wait_for(finished, 15, f"the end of {target}")
        requests = whole(origin, target)
        true(len(requests) <= 1 and all(r.body == content for r in requests), f"{target}: {len(requests)} requests")
