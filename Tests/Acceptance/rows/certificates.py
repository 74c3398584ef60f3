"""Certificate and key replaced 100 times under load: 0 failed connections, and each new one is served within a few
seconds.

Clients connect all the time, over HTTP/1.1 and HTTP/2, new connections and kept ones. The two files are renamed into
place one after the other, in either order, with a pause between them; every tenth time they are written in place, in
two halves.
"""

import hashlib
import os
import random
import shutil
import ssl
import statistics
import struct
import threading
import time

import h2frames as h2
import tlsscenario
from harness.content import Content
from harness.origin import Resource
from scenarios import in_threads

SERVED_WITHIN = 5  # seconds after both files are there


class Load:
    """Clients that connect until `over` is set, and what they saw: failures, and which certificate when."""

    def __init__(self, port):
        self.port, self.over, self.lock = port, threading.Event(), threading.Lock()
        self.failures, self.counts, self.served = [], {}, {}
        self.threads = [
            threading.Thread(target=self.turn, args=(name, work), daemon=True)
            for name, work in (
                ("new, HTTP/1.1", self.new_http1),
                ("new, HTTP/2", self.new_http2),
                ("kept, HTTP/1.1", self.kept_http1),
                ("kept, HTTP/2", self.kept_http2),
            )
        ]

    def turn(self, name, work):
        state = {}
        while not self.over.is_set():
            try:
                work(state)
            except Exception as error:
                state.clear()
                with self.lock:
                    self.failures.append(f"{name}: {type(error).__name__} {error}")
            with self.lock:
                self.counts[name] = self.counts.get(name, 0) + 1
            time.sleep(0.005)

    def saw(self, sock):
        mark = hashlib.sha256(sock.getpeercert(binary_form=True)).hexdigest()
        with self.lock:
            self.served.setdefault(mark, time.monotonic())

    def http1(self):
        client = tlsscenario.http1(self.port, True)
        self.saw(client.socket.tls)
        return client

    def ask(self, client):
        client.request("/kept")
        answer = client.response()
        if answer.status != 200 or not answer.complete:
            raise AssertionError(f"answered {answer}")

    def new_http1(self, _):
        with self.http1() as client:
            self.ask(client)

    def kept_http1(self, state):
        client = state.get("client") or state.setdefault("client", self.http1())
        self.ask(client)
        time.sleep(0.05)

    def http2(self):
        wire = h2.Wire(self.port, secure=tlsscenario.context(("h2",)))
        wire.next = 1
        self.saw(wire.socket)
        return wire

    def get(self, wire):
        wire.send(h2.request(wire.next, "/kept", scheme="https"))
        end, stream = time.monotonic() + 10, wire.next
        wire.next += 2
        while time.monotonic() < end:
            for kind, flags, number, payload in wire.frames(1):
                if kind == h2.HEADERS and number == stream and h2.status(payload) != 200:
                    raise AssertionError(f"answered {h2.status(payload)}")
                if kind in (h2.RST_STREAM, h2.GOAWAY):
                    raise AssertionError(f"frame {kind}: {payload.hex()}")
                if kind == h2.DATA and payload:
                    wire.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
                if number == stream and kind == h2.DATA and flags & h2.END_STREAM:
                    return
        raise AssertionError("no answer within 10 s")

    def new_http2(self, _):
        with self.http2() as wire:
            self.get(wire)

    def kept_http2(self, state):
        wire = state.get("wire") or state.setdefault("wire", self.http2())
        self.get(wire)
        time.sleep(0.05)


def replace(pair, live, number, rng):
    """Puts the pair's bytes into the live files; neither step waits for pawl."""
    steps = list(zip(pair, live))
    if rng.random() < 0.5:
        steps.reverse()
    for new, old in steps:
        if number % 10 == 9:
            octets = new.read_bytes()
            with open(old, "wb", buffering=0) as file:
                file.write(octets[: len(octets) // 2])
                time.sleep(rng.uniform(0, 0.3))
                file.write(octets[len(octets) // 2 :])
        else:
            shutil.copyfile(new, f"{old}.new")
            os.rename(f"{old}.new", old)
        time.sleep(rng.uniform(0, 0.5))


def run(scenario):
    times = 6 if scenario.quick else 100
    rng = random.Random(4)
    origin = scenario.bench.origin()
    origin.at("/kept", Resource(Content("kept", 2000), etag='"k"', fields=(("Cache-Control", "max-age=60000"),)))
    folder = scenario.bench.folder / "pairs"
    pairs = [None] * (times + 1)

    def make(number):
        pairs[number] = tlsscenario.pair(folder, f"pair{number}", "rsa" if number % 5 == 4 else "ec")

    in_threads(2, range(times + 1), make)
    live = tuple(scenario.bench.folder / name for name in ("live.pem", "live.key"))
    for new, old in zip(pairs[0], live):
        shutil.copyfile(new, old)
    front = tlsscenario.pawl_front(scenario, origin, {"main": tlsscenario.section(live)})
    load = Load(front.tls)
    for each in load.threads:
        each.start()
    time.sleep(1)
    delays = []
    for number in range(1, times + 1):
        mark = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pairs[number][0].read_text())).hexdigest()
        replace(pairs[number], live, number, rng)
        begun = time.monotonic()
        while mark not in load.served and time.monotonic() < begun + SERVED_WITHIN:
            time.sleep(0.02)
        if scenario.require(
            mark in load.served,
            f"replacement {number}: not served within {SERVED_WITHIN} s; the log ends: {front.process.log()[-400:]}",
        ):
            delays.append(max(0.0, load.served[mark] - begun))
        if len(scenario.failures) > 5:
            break
    time.sleep(0.5)
    load.over.set()
    for each in load.threads:
        each.join(15)
    scenario.figure("replacements served", len(delays), times, at_least=True)
    scenario.figure("failed connections and requests", len(load.failures), 0)
    for each in load.failures[:5]:
        scenario.require(False, each)
    if delays:
        scenario.figure("median until served", round(statistics.median(delays), 2), unit="s")
        scenario.figure("slowest until served", round(max(delays), 2), SERVED_WITHIN, "s")
    for name, count in load.counts.items():
        scenario.figure(f"{name}: connections or requests", count, 10, at_least=True)
