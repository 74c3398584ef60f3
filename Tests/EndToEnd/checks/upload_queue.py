"""Deliveries: places belong to an upstream, clients take turns, and what nobody waits for gets its turn."""

import threading
import time

from harness.checks import check, same, true
from harness.origin import Resource
from harness.process import wait_for
from harness.uploads import NO_STORE, Dialect, create, on_connection, stored

PLACES = 64  # deliveries of one loop to one upstream
BODY = b"x" * 1000
ROOM = {"spool:default": {"max-uploads-per-client": "10000"}}


def begin(bench, origin, extra=None, **pawl):
    return bench.pawl(origin, pawl={"workers": "1", "trusted-proxies": "127.0.0.1", **pawl}, site={"min-resumable": "0"},
                      upstream={"max-connections": "1000"}, extra={**ROOM, **(extra or {})})


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


def client(number):
    return (("X-Forwarded-For", f"192.0.2.{number}"),)


@check("upload queue: an application that hangs - without an answer, or taking nothing - delays no other site's uploads")
def hung(bench):
    other = bench.origin()
    other.default = stored
    end = threading.Event()
    silent, deaf = bench.origin(), bench.origin(receive_buffer=4096)
    silent.default = lambda r: Resource(b"", status=405, fields=NO_STORE) if r.method == "OPTIONS" else Resource(b"late", fields=NO_STORE, before_head=lambda r: end.wait(50))
    deaf.default = on_connection(lambda request, connection, buffer: end.wait(50))
    extra = {}
    for name, origin in (("silent", silent), ("deaf", deaf)):
        extra[f"upstream:{name}"] = {"url": origin.url, "max-connections": "1000"}
        extra[f"site:{name}"] = {"host": f"{name}.test", "upstream": name, "min-resumable": "0"}
    pawl = begin(bench, other, extra)

    def hang(i, name, body):
        create(pawl.address, Dialect(6), body, target=f"/{i}", host=f"{name}.test", fields=client(1), timeout=40)
    try:
        for name, origin, body in (("silent", silent, BODY), ("deaf", deaf, b"x" * 8_000_000)):
            count = PLACES + 10 if name == "silent" else PLACES + 2
            at_once(count, lambda i: hang(i, name, body))
            wait_for(lambda: len([r for r in origin.requests if r.method != "OPTIONS"]) >= PLACES, 25, f"deliveries to the {name} one")
            begun = time.monotonic()
            for i in range(5):
                answer = create(pawl.address, Dialect(6), BODY, target=f"/{name}{i}", fields=client(1))
                same((answer.status, answer.body), (200, b"got 1000 octets"), f"beside the {name} one")
            true(time.monotonic() - begun < 4, f"took {time.monotonic() - begun:.1f} s")
    finally:
        end.set()


@check("upload queue: one client with many uploads delays each other client by little")
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
    many = at_once(PLACES * 4, lambda i: create(pawl.address, Dialect(6), BODY, target=f"/many/{i}", fields=client(1), timeout=40))
    wait_for(lambda: len(order) == PLACES, 20, "the places")
    wait_for(lambda: pawl.log().count("upload-completed") == PLACES * 4, 20, "the others")
    few = at_once(3, lambda i: create(pawl.address, Dialect(6), BODY, target=f"/few/{i}", fields=client(2 + i), timeout=40))
    wait_for(lambda: pawl.log().count("upload-completed") == PLACES * 4 + 3, 10, "those of other clients")
    begun.set()
    for thread in many + few:
        thread.join(40)
    same(len(order), PLACES * 4 + 3, "deliveries")
    late = [order.index(f"/few/{i}") - PLACES for i in range(3)]
    true(max(late) < PLACES * 3 // 2, f"the other clients' uploads were number {late} of those that waited")


@check("upload queue: what nobody waits for is delivered while others keep coming", seconds=120)
def patient(bench):
    origin = bench.origin()
    ended, tries = threading.Event(), []

    def answer(request, connection, buffer):
        origin._read_body(request, connection, buffer)
        reply = Resource(b"done", fields=NO_STORE, before_head=lambda r: time.sleep(0.4), close=True)
        if request.target == "/patient":
            tries.append(time.monotonic())
            reply = Resource(b"busy", status=503, fields=NO_STORE, close=True) if len(tries) == 1 else Resource(b"done", fields=NO_STORE, close=True)
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
