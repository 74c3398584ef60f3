"""Event streams, tunnels and long polls: what lasts as long as somebody listens, and may be silent."""

import threading
import time

from harness.checks import check, same, timely, true
from harness.client import Client, get
from harness.origin import Break, Resource
from harness.process import wait_for

EVENT = b"data: event %d\nid: %d\n\n"
LONG = {"idle-timeout": "1s"}


def stream(count, gates=(), breaks=None, framing="chunked", **more):
    body = b"".join(EVENT % (i, i) for i in range(count))
    return Resource(body, framing=framing, type="text/event-stream; charset=utf-8", gates=gates, breaks=breaks, **more)


def listen(pawl, path, *fields, **options):
    return get(pawl.address, path, fields=(("Accept", "text/event-stream"),) + fields, **options)


@check(
    "a stream that is silent for three times idle-timeout goes on, on routes with and without a cache, and for POST; "
    "other content does not",
    area="events",
)
def silent(bench):
    origin = bench.origin()
    size = len(EVENT % (0, 0))
    pawl = bench.pawl(
        origin, upstream={**LONG, "resume-attempts": "0"}, extra={"route:main/off": {"path": "/off/*", "cache": "off"}}
    )
    answers = {}

    def ask(path, method):
        answers[path] = get(
            pawl.address,
            path,
            method=method,
            body=b"" if method == "POST" else None,
            fields=(("Accept", "text/event-stream"),),
            timeout=10,
        )

    threads = []
    for path, method, kind in (
        ("/on", "GET", None),
        ("/off/x", "GET", None),
        ("/post", "POST", None),
        ("/plain", "GET", "text/plain"),
    ):
        gate = threading.Event()
        bench.stack.callback(gate.set)
        resource = stream(2, gates=((size, gate),))
        if kind:
            resource.type = kind
        origin.at(path, resource)
        threads.append(threading.Thread(target=ask, args=(path, method)))
        threading.Timer(3.2, gate.set).start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path in ("/on", "/off/x", "/post"):
        same(
            (answers[path].status, answers[path].body, answers[path].complete, origin.count(path)),
            (200, EVENT % (0, 0) + EVENT % (1, 1), True, 1),
            path,
        )
    same((answers["/plain"].complete, origin.count("/plain")), (False, 1), "other content that is silent")


@check(
    "a broken stream ends visibly and is asked for once; the next request's Last-Event-ID reaches the origin; nobody "
    "joins another's",
    area="events",
)
def broken(bench):
    origin = bench.origin()
    size = len(EVENT % (0, 0))
    for name, fields in (
        ("/says-nothing", ()),
        ("/fresh", (("Cache-Control", "max-age=60"),)),
        ("/tagged", (("ETag", '"e"'),)),
    ):
        for how in ("rst", "fin"):
            path = f"{name}-{how}"
            origin.at(
                path,
                lambda r, how=how, fields=fields: stream(
                    6, breaks=lambda start, end: Break(2 * size + 3, how), fields=fields, ranges=True
                ),
            )
    pawl = bench.pawl(origin)
    for path in list(origin.resources):
        answer = listen(pawl, path, timeout=5)
        same((answer.status, answer.complete), (200, False), f"{path}: a visible end")
        true(
            answer.body.startswith(EVENT % (0, 0) + EVENT % (1, 1)) and len(answer.body) == 2 * size + 3,
            f"{path}: {answer.body}",
        )
        same(origin.count(path), 1, f"{path}: how often it was asked for")
        listen(pawl, path, ("Last-Event-ID", "1"), timeout=5)
        same(origin.of(path)[-1].get("Last-Event-ID"), "1", f"{path}: Last-Event-ID")
    gates = [threading.Event() for _ in range(2)]
    origin.at(
        "/two",
        lambda r: stream(3, gates=((size * (r.serial + 1), gates[r.serial]),), before_head=lambda r: time.sleep(0.3)),
    )
    answers = [None, None]

    def one(number):
        answers[number] = listen(pawl, "/two", timeout=10)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(2)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    wait_for(lambda: origin.count("/two") == 2, 3, "both requests at the origin")
    timely(time.monotonic() - began < 2, "one waited for the other's head")
    for gate in gates:
        gate.set()
    for thread in threads:
        thread.join()
    same([a.body for a in answers], [b"".join(EVENT % (i, i) for i in range(3))] * 2, "both from their beginning")


@check(
    "streams and tunnels hold no place of max-connections; at max-live-connections one more is 503, and room comes "
    "back",
    area="events",
)
def places(bench):
    origin = bench.origin()
    gate = threading.Event()
    bench.stack.callback(gate.set)
    size = len(EVENT % (0, 0))
    origin.at("/events", lambda r: stream(2, gates=((size, gate),)))
    origin.at("/x", Resource(b"x"))
    pawl = bench.pawl(
        origin,
        upstream={
            "max-connections": "2",
            "max-live-connections": "5",
            "max-share-per-client": "100%",
            "queue-timeout": "1s",
        },
    )
    clients = [bench.use(Client(pawl.address)) for _ in range(6)]
    for client in clients[:5]:
        client.request("/events", fields=(("Accept", "text/event-stream"),))
        same(client.response(limit=size).body, EVENT % (0, 0), "the first event")
    same(
        [get(pawl.address, f"/x?{i}").status for i in range(4)], [200] * 4, "others beside five streams with two places"
    )
    refused = listen(pawl, "/events", timeout=5)
    same(
        (refused.status, "connection_limit_reached" in (refused.get("Proxy-Status") or "")),
        (503, True),
        "one past the limit",
    )
    clients[0].close()
    wait_for(lambda: listen(pawl, "/events", limit=size, timeout=5).status == 200, 5, "room for one more")


@check("a long poll may take its time until the first byte; response-timeout ends it", area="events")
def long_poll(bench):
    origin = bench.origin()
    origin.at("/poll", Resource(b"late", before_head=lambda r: time.sleep(2.5)))
    origin.at("/never", Resource(b"late", before_head=lambda r: time.sleep(6)))
    pawl = bench.pawl(origin, upstream={**LONG, "response-timeout": "4s"})
    same(get(pawl.address, "/poll", timeout=10).body, b"late", "after more than idle-timeout")
    same(get(pawl.address, "/never", timeout=10).status, 504, "after response-timeout")
