"""Several URLs of one upstream: a broken transfer goes on at the node that began it, or at another one that is proven
to have the same."""

import contextlib
import signal
import socket
import ssl
import threading
import time

from harness import certificates
from harness.checks import CLEAR, check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Origin, Resource, break_points
from harness.process import wait_for

MIB = 1 << 20
NO_STORE = (("Cache-Control", "no-store"),)
# What the nodes say of equal bytes, each by its number.
KINDS = {
    "own strong tags": lambda n: {"etag": f'"node-{n}"', "ranges": True},
    "one strong tag": lambda n: {"etag": '"all"', "ranges": True},
    "own weak tags": lambda n: {"etag": f'W/"node-{n}"'},
    "own dates": lambda n: {"last_modified": f"Sun, 0{n + 1} Nov 2026 10:00:00 GMT", "ranges": True},
    "nothing": lambda n: {},
}
QUICK = {"resume-attempts": "20"}


def nodes(bench, count):
    return [bench.origin() for _ in range(count)]


@check(
    "two and three nodes with validators of their own: downloads that break several times come whole, kept and unkept",
    area="nodes",
    seconds=120,
)
def breaks(bench):
    content = Content("nodes", 3 * MIB)
    for count in (2, 3):
        inner = bench.__class__(bench.folder / str(count))
        with inner.stack:
            origins = nodes(inner, count)
            cases = []
            for kind, made in KINDS.items():
                for fields in ((), NO_STORE):
                    for how in ("rst", "fin"):
                        path = f"/{len(cases)}"
                        plan = break_points([600_000, 1_500_000, 2_400_000], how)
                        for number, origin in enumerate(origins):
                            origin.at(
                                path,
                                lambda r, made=made, number=number, fields=fields, plan=plan: Resource(
                                    content, fields=fields, breaks=plan, **made(number)
                                ),
                            )
                        cases.append((path, kind, fields, how))
            pawl = inner.pawl([origin.url for origin in origins], upstream=QUICK)
            for path, kind, fields, how in cases:
                answer = get(pawl.address, path, keep=False, timeout=30)
                same(
                    (answer.status, answer.complete, answer.sha),
                    (200, True, content.sha256()),
                    f"{count} nodes, {kind}, {fields}, {how}",
                )


@check(
    "one that goes for good in mid body is made up for by another, which is compared; the log says once that their "
    "tags differ",
    area="nodes",
    seconds=60,
)
def gone(bench):
    content = Content("gone", 3 * MIB)
    for kind, made in KINDS.items():
        inner = bench.__class__(bench.folder / kind.replace(" ", "-"))
        with inner.stack:
            origins = nodes(inner, 2)
            first = []

            def play(request, number, made=made):
                if not first:
                    first.append(number)
                if number == first[0]:
                    # All that it still says is the beginning.
                    return Resource(content, breaks=lambda start, end: Break(max(start, MIB), "rst"), **made(number))
                return Resource(content, **made(number))

            for number, origin in enumerate(origins):
                origin.at("/x", lambda r, number=number: play(r, number))
            pawl = inner.pawl([origin.url for origin in origins], upstream=QUICK)
            done = {}
            thread = threading.Thread(
                target=lambda: done.update(answer=get(pawl.address, "/x", keep=False, timeout=50))
            )
            thread.start()
            wait_for(lambda: first and origins[first[0]].of("/x")[0].ended is not None, 10, "the break")
            origins[first[0]].stop()
            thread.join()
            same((done["answer"].complete, done["answer"].sha), (True, content.sha256()), kind)
            lines = [line for line in pawl.log().splitlines() if "nodes-tag-differently" in line]
            same(len(lines), 1 if kind in ("own strong tags", "own weak tags") else 0, f"{kind}: {lines}")


@check(
    "another that has other bytes is never joined: the body ends visibly, or comes whole from the one that began it",
    area="nodes",
)
def others(bench):
    content, other = Content("mine", 2 * MIB), Content("others", 2 * MIB)
    for kind, made in KINDS.items():
        if kind == "one strong tag":
            continue
        inner = bench.__class__(bench.folder / kind.replace(" ", "-"))
        with inner.stack:
            origins = nodes(inner, 2)
            for number, origin in enumerate(origins):
                mine = content if number == 0 else other
                for turn in range(6):
                    origin.at(
                        f"/{turn}", Resource(mine, breaks=break_points([500_000, 1_200_000], "rst"), **made(number))
                    )
            pawl = inner.pawl([origin.url for origin in origins], upstream={"resume-attempts": "6"})
            for turn in range(6):
                answer = get(pawl.address, f"/{turn}", timeout=40)
                whole = [c for c in (content, other) if answer.body == c.read(0, len(answer.body))]
                true(len(whole) == 1, f"{kind}: bytes of two bodies")
                true(answer.complete, f"{kind}: the node that began it still has it: {answer}")


@check(
    "stale bodies are validated under the tags of all nodes, once these are proven equal: no fetch after that",
    area="nodes",
)
def validated(bench):
    content = Content("validated", MIB)
    origins = nodes(bench, 2)
    for number, origin in enumerate(origins):
        origin.at("/x", Resource(content, etag=f'"node-{number}"', ranges=True))
    pawl = bench.pawl([origin.url for origin in origins], pawl={"workers": "1"})
    tags = set()
    for _ in range(6):
        answer = get(pawl.address, "/x", keep=False)
        same((answer.status, answer.sha), (200, content.sha256()), "a plain request")
        tags.add(answer.get("ETag"))
        if len(tags) == 2:
            wait_for(lambda: "refetch-compared" in pawl.log(), 10, "the comparison")
    wholes = [r for origin in origins for r in origin.of("/x") if r.status == 200]
    same(len(wholes), 2, "one fetch from each")
    last = [origin.of("/x")[-1].get("If-None-Match") for origin in origins]
    true(
        all('"node-0"' in tag and '"node-1"' in tag for tag in last[:1] + last[1:] if tag),
        f"tags that are offered: {last}",
    )
    for tag in tags:
        answer = get(pawl.address, "/x", fields=(("Range", "bytes=1000-"), ("If-Range", tag)), keep=False)
        same((answer.status, answer.sha), (206, content.sha256(1000)), f"a rest under {tag}")


# What follows is about which node is asked: the same over any transport of the client.
CHOICE = {"over": CLEAR, "why": "which node is asked, whatever the client speaks"}
DIRECT = {"cache": "off"}
OK = Resource(b"ok")


def ask(pawl, target="/", method="GET", body=None):
    fields = () if body is None else (("Content-Length", str(len(body))),)
    with Client(pawl.address, 20) as client:
        client.request(target, method, fields, body)
        return client.response(method)


def served(origins):
    """How many requests each had, the checks left out."""
    return [sum(r.path != "/up" for r in origin.requests) for origin in origins]


def events(pawl, name):
    return [line for line in pawl.log().splitlines() if f" {name} " in line]


def answering(bench, count, **resource):
    origins = nodes(bench, count)
    for origin in origins:
        origin.default = Resource(b"ok", **resource)
    return origins


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@check("one that refuses rests, is said once, and gets requests again when it is back", area="nodes", **CHOICE)
def refusing(bench):
    port = closed_port()
    alive = answering(bench, 1)[0]
    pawl = bench.pawl([f"http://127.0.0.1:{port}", alive.url], site=DIRECT)
    for turn in range(20):
        same(ask(pawl, f"/{turn}").status, 200, "a request while one refuses")
    down = events(pawl, "node-down")
    true(len(down) == 1 and f":{port}" in down[0] and "refused" in down[0], f"said once, with the reason: {down}")
    back = bench.origin(port=port)
    back.default = OK
    wait_for(lambda: ask(pawl, "/x").status == 200 and back.requests, 10, "a request at the node that is back")
    wait_for(lambda: len(events(pawl, "node-up")) == 1, 5, "the news")
    same(len(events(pawl, "node-down")), 1, "news of the refusals")


@check("one that does not answer in time rests: the requests after it do not wait", area="nodes", **CHOICE)
def silent(bench):
    origins = answering(bench, 2)
    release = threading.Event()
    origins[0].default = Resource(b"late", before_head=lambda r: release.wait(20))
    pawl = bench.pawl(
        [origin.url for origin in origins], site=DIRECT, upstream={"response-timeout": "1s", "max-rest": "1m"}
    )
    same(ask(pawl, "/first", "POST", b"x").status, 504, "the one that meets it")
    begun = time.monotonic()
    statuses = [ask(pawl, f"/{turn}").status for turn in range(10)]
    took = time.monotonic() - begun
    if took < 0.9:
        same((statuses, len(origins[0].requests)), ([200] * 10, 1), "requests within the rest")
    true("http_response_timeout" in events(pawl, "node-down")[0], f"the reason: {events(pawl, 'node-down')}")
    release.set()


@check("errors in a row rest one when they come from several paths, and not from one", area="nodes", **CHOICE)
def erring(bench):
    origins = answering(bench, 2)
    origins[0].default = Resource(b"broken", status=503)
    pawl = bench.pawl(
        [origin.url for origin in origins], site=DIRECT, upstream={"rest-after-errors": "3", "connect-timeout": "5s"}
    )
    begun = time.monotonic()
    for turn in range(16):
        ask(pawl, f"/{turn}")
    if time.monotonic() - begun < 0.9:
        same(served(origins), [3, 13], "of 16 to sixteen paths")
    same(len(events(pawl, "node-down")), 1, "the news")
    origins[0].default = OK
    origins[0].at("/bad", Resource(b"broken", status=500))
    wait_for(lambda: ask(pawl, "/x").status == 200 and len(events(pawl, "node-up")) == 1, 10, "its return")
    for origin in origins:
        origin.forget()
    for turn in range(20):
        ask(pawl, f"/bad?{turn}")
    same(served(origins), [10, 10], "of 20 to one path")
    same(len(events(pawl, "node-down")), 1, "no more news")


@check(
    "the last one that works goes on, whatever it answers; a limit of 0 rests nobody for errors", area="nodes", **CHOICE
)
def last(bench):
    origin = bench.origin()
    origin.default = Resource(b"broken", status=500)
    pawl = bench.pawl(
        [origin.url, f"http://127.0.0.1:{closed_port()}"], site=DIRECT, upstream={"rest-after-errors": "2"}
    )
    for turn in range(20):
        same((ask(pawl, f"/{turn}").status, len(origin.requests)), (500, turn + 1), "an answer of the last one")
    origins = answering(bench, 2)
    origins[0].default = Resource(b"broken", status=500)
    patient = bench.pawl(
        [origin.url for origin in origins], name="patient", site=DIRECT, upstream={"rest-after-errors": "0"}
    )
    for turn in range(20):
        ask(patient, f"/{turn}")
    same(served(origins), [10, 10], "with a limit of 0")


@check(
    "what may change something is sent to one node, once; a connect that is refused moves on", area="nodes", **CHOICE
)
def unsafe(bench):
    origins = nodes(bench, 2)
    for origin in origins:
        origin.default = OK
        origin.at("/break", lambda r: (b"", "rst"))
    pawl = bench.pawl([origin.url for origin in origins], site={**DIRECT, "uploads": "off"})
    for reuse in (False, True):
        for method in ("POST", "PATCH", "PUT", "DELETE"):
            body = None if method == "DELETE" else b"change"
            if reuse:
                for turn in range(4):
                    ask(pawl, f"/{turn}")
            for origin in origins:
                origin.forget()
            same(ask(pawl, "/break", method, body).status, 502, f"{method}, broken off")
            counts = sorted(len(origin.of("/break")) for origin in origins)
            # A DELETE over a connection that was idle may be repeated (RFC 9110 9.2.2): at the same node.
            true(
                counts[0] == 0 and counts[1] in ((1, 2) if method == "DELETE" and reuse else (1,)),
                f"{method}: {counts}",
            )
    for origin in origins:
        origin.forget()
    same(ask(pawl, "/break").status, 502, "a GET that both break off")
    # One more where a connection was idle before.
    counts = sorted(len(origin.of("/break")) for origin in origins)
    true(counts in ([1, 1], [1, 2]), f"a GET that both break off: {counts}")
    origins[0].at("/break", OK)
    for turn in range(4):
        same(ask(pawl, "/break").status, 200, "a GET that one breaks off")
    moved = answering(bench, 1)[0]
    port = closed_port()
    other = bench.pawl([f"http://127.0.0.1:{port}", moved.url], name="moved", site=DIRECT)
    for turn in range(4):
        same(
            (ask(other, "/", "POST", b"x").status, len(moved.requests)),
            (200, turn + 1),
            "a POST past a node that refuses",
        )


@check(
    "checks take a node out and bring it back, each said once; a reload begins and ends them", area="nodes", **CHOICE
)
def checked(bench):
    origins = answering(bench, 2)
    state = {"up": 200}
    for number, origin in enumerate(origins):
        origin.at("/up", lambda r, number=number: Resource(b"", status=state["up"] if number == 0 else 204))
    checks = {"check-path": "/up", "check-interval": "50ms", "check-timeout": "1s", "check-status": "200, 204"}
    pawl = bench.pawl([origin.url for origin in origins], site=DIRECT, upstream=checks)
    wait_for(lambda: all(origin.count("/up") > 2 for origin in origins), 10, "checks")
    asked = origins[0].of("/up")[0]
    same(
        (asked.method, asked.get("Host"), asked.get("User-Agent"), asked.get("Connection")),
        ("GET", f"127.0.0.1:{origins[0].port}", "pawl", "close"),
        "a check",
    )
    for down, why in ((503, "status 503"), (302, "status 302")):
        before = len(events(pawl, "node-down"))
        state["up"] = down
        wait_for(lambda: len(events(pawl, "node-down")) > before, 10, "the news")
        true(why in events(pawl, "node-down")[-1], f"the reason: {events(pawl, 'node-down')}")
        seen = served(origins)
        for turn in range(10):
            same(ask(pawl, f"/{turn}").status, 200, "a request meanwhile")
        same(served(origins), [seen[0], seen[1] + 10], "requests meanwhile")
        state["up"] = 200
        wait_for(lambda: len(events(pawl, "node-up")) > before, 10, "its return")
        seen = served(origins)
        for turn in range(10):
            ask(pawl, f"/{turn}")
        same(served(origins), [seen[0] + 5, seen[1] + 5], "requests after its return")
    same((len(events(pawl, "node-down")), len(events(pawl, "node-up"))), (2, 2), "news in all")
    written = pawl.file.read_text()
    pawl.file.write_text("\n".join(line for line in written.splitlines() if not line.startswith("check-")))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: " reloaded" in pawl.log(), 10, "the reload")
    wait_for(lambda: not any(origin.active for origin in origins), 5, "the end of the checks")
    counts = [origin.count("/up") for origin in origins]
    for turn in range(20):
        ask(pawl, f"/{turn}")
    time.sleep(0.2)  # Four intervals.
    same([origin.count("/up") for origin in origins], counts, "checks after they were switched off")
    pawl.file.write_text(written)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: all(origin.count("/up") > count for origin, count in zip(origins, counts)), 10, "checks again")


@check("checks of https nodes go by the upstream's TLS settings", area="nodes", **CHOICE)
def checked_tls(bench):
    pairs = [certificates.server(), certificates.authority("Authority of nobody").leaf("nobody")]
    origins = []
    for pair in pairs:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        origins.append(bench.use(Origin(tls=context)))
        origins[-1].default = OK
    checks = {"check-path": "/up", "check-interval": "50ms", "tls-ca": str(certificates.authority().file)}
    pawl = bench.pawl([origin.url for origin in origins], site=DIRECT, upstream=checks)
    wait_for(lambda: origins[0].count("/up") > 2, 10, "checks of the one that is right")
    wait_for(lambda: events(pawl, "node-down"), 10, "the news of the other")
    down = events(pawl, "node-down")
    true(
        len(down) == 1 and origins[1].url in down[0] and "tls_certificate_error" in down[0],
        f"the one nobody trusts: {down}",
    )
    for turn in range(4):
        same(ask(pawl, f"/{turn}").status, 200, "a request")


@check(
    "checks that fail everywhere keep nobody from being asked, and one that is silent is out as well",
    area="nodes",
    **CHOICE,
)
def unchecked(bench):
    origins = answering(bench, 2)
    checks = {
        "check-path": "/up",
        "check-interval": "50ms",
        "check-timeout": "200ms",
        "check-fall": "1",
        "check-rise": "1",
    }
    held = threading.Event()
    origins[0].at("/up", Resource(b"", status=404))
    origins[1].at("/up", Resource(b"", before_head=lambda r: held.wait(20)))
    pawl = bench.pawl([origin.url for origin in origins], site=DIRECT, upstream=checks)
    wait_for(lambda: len(events(pawl, "node-down")) == 2, 10, "both")
    true(any("no answer within" in line for line in events(pawl, "node-down")), f"{events(pawl, 'node-down')}")
    for turn in range(10):
        same(ask(pawl, f"/{turn}").status, 200, "a request")
    same(served(origins), [5, 5], "in turn")
    held.set()


@check("weights, and backups, which are asked while all others rest", area="nodes", **CHOICE)
def shares(bench):
    origins = answering(bench, 3)
    urls = [f"{origins[0].url} weight=3", origins[1].url, f"{origins[2].url} backup"]
    pawl = bench.pawl(urls, site=DIRECT)
    for turn in range(40):
        ask(pawl, f"/{turn}")
    same(served(origins), [30, 10, 0], "of 40")
    origins[0].stop()
    for turn in range(10):
        same(ask(pawl, f"/{turn}").status, 200, "without the first")
    same(len(origins[2].requests), 0, "the backup while one works")
    origins[1].stop()
    for turn in range(10):
        same(ask(pawl, f"/{turn}").status, 200, "without both")
    same(len(origins[2].requests), 10, "the backup while none works")


@check("least connections leave out those that are busy", area="nodes", **CHOICE)
def least(bench):
    origins = answering(bench, 2)
    release = threading.Event()
    for origin in origins:
        origin.at("/long", Resource(b"long", before_head=lambda r: release.wait(20)))
    pawl = bench.pawl([origin.url for origin in origins], site=DIRECT, upstream={"balance": "least-connections"})
    with contextlib.ExitStack() as stack:
        clients = []
        for turn in range(3):
            client = stack.enter_context(Client(pawl.address, 20))
            client.request("/long")
            wait_for(lambda: sum(o.active for o in origins) == turn + 1, 5, "the request")
            clients.append(client)
        same(sorted(o.active for o in origins), [1, 2], "three at a time")
        busy = max(range(2), key=lambda n: origins[n].active)
        before = served(origins)
        for turn in range(10):
            ask(pawl, f"/{turn}")
        same(served(origins)[busy] - before[busy], 0, "what the busier one had of ten that came one after the other")
        release.set()
        for client in clients:
            same(client.response().status, 200, "one that was long")
    for origin in origins:
        origin.forget()
    for turn in range(10):
        ask(pawl, f"/{turn}")
    same(served(origins), [5, 5], "in turn, once none is busy")


@check(
    "by hash a target stays with its node; one that goes moves its own share alone, and has it again when it is back",
    area="nodes",
    **CHOICE,
)
def hashed(bench):
    origins = answering(bench, 3)
    pawl = bench.pawl([origin.url for origin in origins], site=DIRECT, upstream={"balance": "hash", "max-rest": "1s"})
    targets = [f"/file{n}?v={n % 3}" for n in range(60)]

    def owners():
        for origin in origins:
            origin.forget()
        for target in targets:
            same(ask(pawl, target).status, 200, target)
        return {
            target: [n for n, origin in enumerate(origins) if any(r.target == target for r in origin.requests)]
            for target in targets
        }

    first = owners()
    true(all(len(found) == 1 for found in first.values()), f"one each: {first}")
    true(all(sum(found == [n] for found in first.values()) > 5 for n in range(3)), f"shares: {first}")
    same(owners(), first, "again")
    port = origins[0].port
    origins[0].stop()
    without = owners()
    same(
        {t: f for t, f in without.items() if first[t] != [0]},
        {t: f for t, f in first.items() if f != [0]},
        "the shares of those that stayed",
    )
    origins[0] = Origin(port=port)
    with origins[0]:
        origins[0].default = OK
        wait_for(lambda: owners() == first, 10, "the old shares")
