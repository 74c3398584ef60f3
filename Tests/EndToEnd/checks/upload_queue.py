"""Deliveries: places belong to an upstream, clients take turns, and what nobody waits for gets its turn."""

import threading
import time

from harness.checks import check, same, timely, true
from harness.origin import Resource
from harness.process import wait_for
from harness.uploads import NO_STORE, Dialect, ask, create, on_connection, stored, tus_create

PLACES = 64  # deliveries of one loop to one upstream
BODY = b"x" * 1000
ROOM = {"spool:default": {"max-uploads-per-client": "10000"}}


# One client may have all places.
ALONE = {"max-share-per-client": "100%", "max-share-per-path": "100%"}


def begin(bench, origin, extra=None, **pawl):
    return bench.pawl(
        origin,
        pawl={"workers": "1", "trusted-proxies": "127.0.0.1", **pawl},
        site={"min-resumable": "0"},
        upstream={"max-connections": "1000", **ALONE},
        extra={**ROOM, **(extra or {})},
    )


def at_once(count, function):
    def quietly(i):
        try:
            function(i)
        except (OSError, AssertionError):
            pass  # a client that was left without an answer at the end of the check

    threads = [threading.Thread(target=quietly, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    return threads


SENDS = {
    "IETF": lambda address, target, number, timeout: create(
        address, Dialect(6), BODY, target=target, fields=client(number), timeout=timeout
    ),
    "tus": lambda address, target, number, timeout: tus_create(
        address, len(BODY), client(number), BODY, target, timeout=timeout
    ),
    "spooled": lambda address, target, number, timeout: ask(
        address, target, "POST", client(number), BODY, timeout=timeout
    ),
}


def hangs(bench, end):
    """An origin that answers what is below /hang only after `end`."""
    origin = bench.origin()

    def answer(request):
        if request.method == "OPTIONS":
            return Resource(b"", status=405, fields=NO_STORE)
        if request.target.startswith("/hang"):
            return Resource(b"late", fields=NO_STORE, before_head=lambda r: end.wait(50))
        return stored(request) if request.method == "POST" else Resource(b"page", fields=NO_STORE)

    origin.default = answer
    return origin


def others_are_served(pawl, what, number=2):
    """Requests and uploads of another client, each within two seconds."""
    begun = time.monotonic()
    for i in range(5):
        answer = ask(pawl.address, f"/page/{i}", fields=client(number), timeout=10)
        same((answer.status, answer.body), (200, b"page"), f"another client's request, {what}")
        answer = create(pawl.address, Dialect(6), BODY, target=f"/other/{i}", fields=client(number), timeout=10)
        same((answer.status, answer.body), (200, b"got 1000 bytes"), f"another client's upload, {what}")
        timely(
            time.monotonic() - begun < 2, f"another client was kept waiting, {what}: {time.monotonic() - begun:.1f} s"
        )
        begun = time.monotonic()


def client(number):
    return (("X-Forwarded-For", f"192.0.2.{number}"),)


@check(
    "an application that hangs - without an answer, or taking nothing - delays no other site's uploads",
    area="upload queue",
)
def hung(bench):
    other = bench.origin()
    other.default = stored
    end = threading.Event()
    silent, deaf = bench.origin(), bench.origin(receive_buffer=4096)
    silent.default = lambda r: (
        Resource(b"", status=405, fields=NO_STORE)
        if r.method == "OPTIONS"
        else Resource(b"late", fields=NO_STORE, before_head=lambda r: end.wait(50))
    )
    deaf.default = on_connection(lambda request, connection, buffer: end.wait(50))
    extra = {}
    for name, origin in (("silent", silent), ("deaf", deaf)):
        extra[f"upstream:{name}"] = {"url": origin.url, "max-connections": "1000", **ALONE}
        extra[f"site:{name}"] = {"host": f"{name}.test", "upstream": name, "min-resumable": "0"}
    pawl = begin(bench, other, extra)

    def hang(i, name, body):
        create(pawl.address, Dialect(6), body, target=f"/{i}", host=f"{name}.test", fields=client(1), timeout=40)

    try:
        for name, origin, body in (("silent", silent, BODY), ("deaf", deaf, b"x" * 8_000_000)):
            count = PLACES + 10 if name == "silent" else PLACES + 2
            at_once(count, lambda i: hang(i, name, body))
            wait_for(
                lambda: len([r for r in origin.requests if r.method != "OPTIONS"]) >= PLACES,
                25,
                f"deliveries to the {name} one",
            )
            begun = time.monotonic()
            for i in range(5):
                answer = create(pawl.address, Dialect(6), BODY, target=f"/{name}{i}", fields=client(1))
                same((answer.status, answer.body), (200, b"got 1000 bytes"), f"beside the {name} one")
            timely(time.monotonic() - begun < 4, f"took {time.monotonic() - begun:.1f} s")
    finally:
        end.set()


@check("one client with many uploads delays each other client by little", area="upload queue")
def fair(bench):
    origin, begun = bench.origin(), threading.Event()
    lock, order = threading.Lock(), []

    def slow(request):
        if request.method == "OPTIONS":
            return Resource(b"", status=405, fields=NO_STORE)
        with lock:
            order.append(request.target)
        if len(order) <= PLACES:
            begun.wait(20)
        return Resource(b"done", fields=NO_STORE, before_head=lambda r: time.sleep(0.05))

    origin.default = slow
    pawl = begin(bench, origin)
    many = at_once(
        PLACES * 4, lambda i: create(pawl.address, Dialect(6), BODY, target=f"/many/{i}", fields=client(1), timeout=40)
    )
    wait_for(lambda: len(order) == PLACES, 20, "the places")
    wait_for(lambda: pawl.log().count("upload-completed") == PLACES * 4, 20, "the others")
    few = at_once(
        3, lambda i: create(pawl.address, Dialect(6), BODY, target=f"/few/{i}", fields=client(2 + i), timeout=40)
    )
    wait_for(lambda: pawl.log().count("upload-completed") == PLACES * 4 + 3, 10, "those of other clients")
    begun.set()
    for thread in many + few:
        thread.join(40)
    same(len(order), PLACES * 4 + 3, "deliveries")
    late = [order.index(f"/few/{i}") - PLACES for i in range(3)]
    true(max(late) < PLACES * 3 // 2, f"the other clients' uploads were number {late} of those that waited")


@check("what nobody waits for is delivered while others keep coming", area="upload queue", seconds=120)
def patient(bench):
    origin = bench.origin()
    ended, tries = threading.Event(), []

    def answer(request, connection, buffer):
        origin._read_body(request, connection, buffer)
        reply = Resource(b"done", fields=NO_STORE, before_head=lambda r: time.sleep(0.4), close=True)
        if request.target == "/patient":
            tries.append(time.monotonic())
            reply = (
                Resource(b"busy", status=503, fields=NO_STORE, close=True)
                if len(tries) == 1
                else Resource(b"done", fields=NO_STORE, close=True)
            )
        origin._answer(request, reply, connection)

    origin.default = on_connection(answer)
    pawl = begin(bench, origin)
    d = Dialect(6)
    first = create(pawl.address, d, BODY, target="/patient", fields=client(1))
    same(first.status, 503, "the first attempt's answer")

    def keep_coming(i):
        number = 0
        while not ended.is_set():
            number += 1
            create(pawl.address, d, BODY, target=f"/{i}/{number}", fields=client(10 + i % 100), timeout=30)

    time.sleep(50)  # a minute after a 503 that says nothing of when
    threads = at_once(PLACES * 2, keep_coming)
    try:
        wait_for(lambda: len(tries) == 2, 25, "its second attempt")
    finally:
        ended.set()
    for thread in threads:
        thread.join(20)


@check(
    "one client's uploads to paths that hang leave others their share of the connections and deliveries",
    area="upload queue",
    seconds=240,
    over=("clear",),
    why="places do not depend on the wire",
)
def shared(bench):
    for kind, connections, path in [
        (k, c, p) for k in SENDS for c in ("64", "8", "1000") for p in ("/hang", "/hang/{}")
    ]:
        if connections != "64" and kind != "IETF":
            continue
        what = f"{kind}, {connections} connections, {path}"
        end, statuses = threading.Event(), []
        origin = hangs(bench, end)
        pawl = bench.pawl(
            origin,
            name=f"pawl-{len(bench.pawls)}",
            pawl={"workers": "1", "trusted-proxies": "127.0.0.1"},
            site={"min-resumable": "0", "plain-uploads": "spool" if kind == "spooled" else "stream"},
            upstream={"max-connections": connections, "queue-timeout": "2s"},
            extra=ROOM,
        )
        threads = at_once(
            PLACES + 6, lambda i: statuses.append(SENDS[kind](pawl.address, path.format(i), 1, 40).status)
        )
        try:
            share = min(int(connections), PLACES) * (60 if path == "/hang" else 80) // 100
            wait_for(
                lambda: (
                    len([r for r in origin.requests if r.target.startswith("/hang") and r.method == "POST"]) >= share
                ),
                15,
                f"its share, {what}",
            )
            others_are_served(pawl, what)
            if kind != "spooled":
                time.sleep(2.2)  # queue-timeout: what waited for its place waits again
                others_are_served(pawl, what)
        finally:
            end.set()
        for thread in threads:
            thread.join(40)
        if kind == "IETF":
            same(statuses, [200] * (PLACES + 6), f"the one client's own uploads, {what}")


@check(
    "after a restart uploads count for the client that made them",
    area="upload queue",
    seconds=90,
    over=("clear",),
    why="places do not depend on the wire",
)
def shared_after_restart(bench):
    end = threading.Event()
    origin = hangs(bench, end)
    pawl = bench.pawl(
        origin,
        pawl={"workers": "1", "trusted-proxies": "127.0.0.1"},
        site={"min-resumable": "0", "delivery": "at-least-once"},
        extra=ROOM,
    )
    hung = lambda: [r for r in origin.requests if r.target == "/hang" and r.method == "POST"]
    try:
        at_once(
            PLACES + 6, lambda i: create(pawl.address, Dialect(6), BODY, target="/hang", fields=client(1), timeout=40)
        )
        wait_for(lambda: pawl.log().count("upload-completed") == PLACES + 6 and len(hung()) >= 38, 15, "its uploads")
        origin.forget()
        pawl.restart(hard=True)
        wait_for(lambda: len(hung()) >= 30, 15, "deliveries after the restart")
        time.sleep(0.5)
        others_are_served(pawl, "after a restart")
    finally:
        end.set()
    wait_for(lambda: pawl.log().count("upload-answered") >= PLACES + 6, 30, "the answers")
