"""Requests that meet: who may join a running fill, who may not, and what each is told."""

import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)


def running(bench, resource, **options):
    """A pawl with a fill of /x that waits at 1 MiB, its first client, and the gate."""
    origin = bench.origin()
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin.at("/x", lambda r: resource(r, ((MIB, gate),) if r.serial == 0 else ()))
    pawl = bench.pawl(origin, pawl={"workers": 4}, **options)
    client = bench.use(Client(pawl.address))
    client.request("/x", fields=(("Accept-Language", "de"),))
    first = client.response(limit=1000)
    return origin, pawl, gate, first


@check(
    "a running fill is joined where its answer may be reused without asking, or collapse = always covers what says "
    "nothing",
    area="meet",
)
def joins(bench):
    never = ("max-age=0", "no-cache", "private", "no-store", "must-revalidate, max-age=0")
    cases = [
        ("none", (), False, {}),
        ("max-age=60", FRESH, True, {}),
        ("default-ttl", (), True, {"default-ttl": "60s"}),
        ("always", (), True, {"collapse": "always"}),
        ("always-cookie", (("Set-Cookie", "a=b"), ("Cache-Control", "public")), False, {"collapse": "always"}),
    ]
    for control in never:
        fields = (("Cache-Control", control),)
        cases += [(control, fields, False, {}), (f"always-{control}", fields, False, {"collapse": "always"})]
    for name, fields, joined, site in cases:
        inner = bench.__class__(bench.folder / name)
        with inner.stack:
            origin, pawl, gate, _ = running(
                inner,
                lambda r, gates: Resource(Content(f"{name}{r.serial}", 2 * MIB), fields=fields, gates=gates),
                site=site,
            )
            answer = get(pawl.address, "/x", fields=(("Accept-Language", "en"),), limit=1000, timeout=5)
            same(origin.count("/x"), 1 if joined else 2, f"origin requests with {name}")
            same(answer.body, Content(f"{name}{0 if joined else 1}", 2 * MIB).read(0, 1000), f"body with {name}")


@check(
    "a request that says no-cache or max-age=0, or another variant, or other credentials, does not join", area="meet"
)
def does_not_join(bench):
    origin, pawl, gate, _ = running(
        bench,
        lambda r, gates: Resource(
            Content(f"v{r.serial}", 2 * MIB), fields=FRESH + (("Vary", "Accept-Language"),), gates=gates
        ),
    )
    count = 1
    for fields in ((("Cache-Control", "no-cache"),), (("Cache-Control", "max-age=0"),), (("Accept-Language", "en"),)):
        fields = fields if fields[0][0] == "Accept-Language" else fields + (("Accept-Language", "de"),)
        answer = get(pawl.address, "/x", fields=fields, keep=False, timeout=5)
        count += 1
        same((origin.count("/x"), answer.complete), (count, True), f"origin requests and answer with {fields}")


@check("HEAD and conditional requests during a fill", area="meet")
def during(bench):
    content = Content("during", 2 * MIB)
    origin, pawl, gate, first = running(
        bench, lambda r, gates: Resource(content, etag='"d"', fields=FRESH, gates=gates)
    )
    answer = get(pawl.address, "/x", method="HEAD", timeout=5)
    same((answer.status, answer.length, answer.get("ETag")), (200, content.size, '"d"'), "HEAD")
    answer = get(pawl.address, "/x", fields=(("If-None-Match", '"d"'),), timeout=5)
    same((answer.status, answer.body), (304, b""), "If-None-Match")
    answer = get(pawl.address, "/x", fields=(("Range", f"bytes={content.size}-"),), timeout=5)
    same((answer.status, answer.get("Content-Range")), (416, f"bytes */{content.size}"), "a range behind the end")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=0-9,500-509"),), timeout=5)
    true(
        answer.status == 206 and content.read(0, 10) in answer.body and content.read(500, 510) in answer.body,
        f"parts: {answer}",
    )
    same(origin.count("/x"), 1, "origin requests")


@check("an unsafe method during a fill: the fill's client is served, the next one gets the new body", area="meet")
def invalidated(bench):
    origin, pawl, gate, _ = running(
        bench,
        lambda r, gates: (
            Resource(b"done", fields=())
            if r.method == "POST"
            else Resource(Content(f"i{r.serial}", 2 * MIB), fields=FRESH, gates=gates)
        ),
    )
    same(get(pawl.address, "/x", method="POST", body=b"").body, b"done", "POST")
    answer = get(pawl.address, "/x", keep=False, timeout=5)
    same(answer.sha, Content("i2", 2 * MIB).sha256(), "after the POST")
    gate.set()


@check("readers at every place when the content changes: all end visibly, none mixes", area="meet")
def change_under_readers(bench):
    origin = bench.origin()
    content, other = Content("under", 8 * MIB), Content("under", 8 * MIB).changed(3 * MIB, 7 * MIB)
    gate = threading.Event()
    origin.at(
        "/x",
        lambda r: (
            Resource(content, fields=FRESH, gates=((4 * MIB, gate),), breaks=lambda s, e: Break(4 * MIB, "rst"))
            if r.serial == 0
            else Resource(other, fields=FRESH)
        ),
    )
    pawl = bench.pawl(origin, pawl={"workers": 4})
    got, began = [], threading.Barrier(13)

    def read(i):
        start = i * 600_000
        fields = (("Range", f"bytes={start}-"),) if start else ()
        with Client(pawl.address, 20) as client:
            client.request("/x", fields=fields)
            pieces = []
            first = [True]

            def sink(data):
                pieces.append(data)
                if first[0]:
                    first[0] = False
                    began.wait(10)

            answer = client.response(sink=sink)
            got.append((start, answer, b"".join(pieces)))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(12) if i * 600_000 < 4 * MIB]
    began = threading.Barrier(len(threads) + 1)
    for thread in threads:
        thread.start()
    began.wait(10)
    gate.set()
    for thread in threads:
        thread.join(20)
    for start, answer, body in got:
        true(not answer.complete and body == content.read(start, start + len(body)), f"reader from {start}: {answer}")
    answer = get(pawl.address, "/x", keep=False)
    same(answer.sha, other.sha256(), "the next client")


@check("a 206 whose body is not as long as its Content-Range says is never taken for whole (chunked)", area="meet")
def wrong_length(bench):
    origin = bench.origin()
    content = Content("wrong-length", 200_000)
    for i, (what, body) in enumerate((("longer", 90_000), ("shorter", 110_000))):
        origin.at(
            f"/{i}",
            lambda r, body=body: (
                Resource(
                    content,
                    ranges=True,
                    etag='"w"',
                    framing="chunked",
                    fields=FRESH,
                    breaks=lambda s, e: Break(100_000, "rst"),
                )
                if r.serial == 0
                else Resource(content, ranges=True, etag='"w"', framing="chunked", fields=FRESH, lie=dict(body=body))
            ),
        )
    pawl = bench.pawl(origin, upstream={"resume-attempts": 2})
    for i, what in enumerate(("longer", "shorter")):
        answer = get(pawl.address, f"/{i}")
        true(
            answer.body == content.read(0, len(answer.body))
            and not (answer.complete and len(answer.body) != content.size),
            f"a body that is {what}: {answer}",
        )


@check("a range of a partial body that turns out changed is a 200 with the new body, not a broken 206", area="meet")
def partial_changed(bench):
    origin = bench.origin()
    content, changed = Content("partial-changed", 16 * MIB), {"now": False}
    other = content.changed(9 * MIB)
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin.at(
        "/x",
        lambda r: (
            Resource(other, ranges=True, etag='"2"', fields=FRESH)
            if changed["now"]
            else Resource(content, ranges=True, etag='"1"', fields=FRESH, gates=((4 * MIB, gate),))
        ),
    )
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x")
        client.response(limit=3 * MIB, keep=False)
        time.sleep(1.3)
    pawl.kill()
    changed["now"] = True
    pawl.start()
    answer = get(pawl.address, "/x", fields=(("Range", f"bytes={8 * MIB}-"), ("If-Range", '"1"')), keep=False)
    same(
        (answer.status, answer.complete, answer.sha),
        (200, True, other.sha256()),
        f"rest of a body that changed: {answer}",
    )


@check("the client's connection limit and many idle connections", area="meet")
def many_idle(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x", fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x")
    before = pawl.own_rss()
    clients = []
    for _ in range(1500 if bench.over == "clear" else 400):  # a handshake costs this side more than a connection
        clients.append(bench.use(Client(pawl.address)))
        clients[-1].request("/x")
    for client in clients:
        same(client.response().body, b"x", "answer")
    grown = (pawl.own_rss() - before) / len(clients)
    most = {"clear": 16, "h2c": 32, "tls": 48, "h2": 64}[
        bench.over
    ] << 10  # OpenSSL and nghttp2 have states of their own
    true(grown < most, f"{grown:.0f} bytes an idle connection")
    same(get(pawl.address, "/x").status, 200, "one more")
