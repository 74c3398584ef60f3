"""Bodies whose length nobody knows: how far they go on without readers, and who waits for whom."""

import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Comparer, Content
from harness.origin import Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20


def leave(pawl, path, octets=100_000, fields=()):
    with Client(pawl.address) as client:
        client.request(path, fields=fields)
        return client.response(limit=octets, keep=False)


@check("unheard: a body of unknown length goes on without readers for at most abandoned-fill, kept or not fresh, by chunks or until the end")
def bounded(bench):
    origin = bench.origin()
    content = Content("bounded", 1 << 30)
    kinds = {"fresh": FRESH, "silent": (), "private": (("Cache-Control", "private"),)}
    for name, fields in kinds.items():
        for framing in ("chunked", "close"):
            origin.at(f"/{name}-{framing}", Resource(content, framing=framing, fields=fields))
    for limit, most in (("0", MIB), ("16M", 17 * MIB), (None, 65 * MIB)):
        pawl = bench.pawl(origin, f"pawl{limit}", site={"abandoned-fill": limit, "resume-private": "1h"})
        for name in kinds:
            for framing in ("chunked", "close"):
                path = f"/{name}-{framing}"
                origin.forget()
                leave(pawl, path, 10_000)
                wait_for(lambda: origin.of(path)[0].ended is not None, 20, f"the end of {path}, abandoned-fill {limit}")
                sent = origin.sent(path)
                # What stands in sockets came, too, and what the reader was given before it left.
                true(sent < most + 14 * MIB, f"{path}: {sent} octets for a reader that left, abandoned-fill {limit}")
                if limit == "16M" and name != "private":
                    true(sent >= 16 * MIB, f"{path}: it went on for {sent} octets only")


@check("unheard: what is held stays: a client that comes back by its tag has the rest, the bytes before it are compared")
def stays(bench):
    origin = bench.origin()
    content = Content("stays", 24 * MIB)
    origin.at("/x", Resource(content, framing="chunked", fields=FRESH))
    pawl = bench.pawl(origin, site={"abandoned-fill": "8M"})
    answer = leave(pawl, "/x", 5 * MIB)
    wait_for(lambda: origin.of("/x")[0].ended is not None, 10, "the end of the first fill")
    true(sum(p.stat().st_blocks * 512 for p in pawl.body_files()) >= 5 * MIB, "what was held is gone")
    rest = get(pawl.address, "/x", fields=(("Range", f"bytes={4 * MIB}-"), ("If-Range", answer.get("ETag"))), keep=False)
    same((rest.status, rest.sha), (206, content.sha256(4 * MIB)), "the rest")


@check("unheard: a live stream ends soon after its last listener left, and goes on while one hears it")
def live(bench):
    origin = bench.origin()
    kinds = ("audio/mpeg", "text/event-stream", "application/octet-stream")
    for kind in kinds:
        origin.at("/" + kind, Resource(Content("live", 1 << 30), framing="chunked", type=kind, pace=60_000))
    pawl = bench.pawl(origin)
    for kind in kinds:
        leave(pawl, "/" + kind, 20_000)
    origin.at("/heard", Resource(Content("live", 1 << 30), framing="chunked", pace=60_000))
    heard, seen = bench.use(Client(pawl.address, timeout=30)), Comparer(Content("live", 1 << 30))
    heard.request("/heard")
    threading.Thread(target=lambda: heard.response(sink=seen, limit=60_000 * 10), daemon=True).start()
    wait_for(lambda: all(origin.of("/" + kind)[0].ended == "peer" for kind in kinds), 15, "the end of the streams")
    wait_for(lambda: seen.position >= 60_000 * 9, 15, "a listener's ten seconds")


@check("unheard: one that comes back in time finds a body of unknown length further on, and one request made it")
def in_time(bench):
    origin = bench.origin()
    content = Content("in-time", 20 * MIB)
    origin.at("/x", Resource(content, framing="chunked", fields=FRESH, pace=4e6))
    pawl = bench.pawl(origin)
    answer = leave(pawl, "/x", 2 * MIB)
    time.sleep(2)
    rest = get(pawl.address, "/x", fields=(("Range", f"bytes={MIB}-"), ("If-Range", answer.get("ETag"))), keep=False, timeout=20)
    same((rest.status, rest.sha, origin.count("/x")), (206, content.sha256(MIB), 1), "the rest")
