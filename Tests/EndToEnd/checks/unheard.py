"""Bodies whose length nobody knows: how far they go on without readers, and who waits for whom."""

import hashlib
import threading
import time

from harness.checks import check, same, timely, true
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


@check(
    "a body of unknown length goes on without readers for at most abandoned-fill, kept or not fresh, by chunks or "
    "until the end",
    area="unheard",
)
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
                # It may be 64 MiB ahead of a reader of which nobody has noticed yet that it left, and what stands in
                # sockets came, too.
                true(sent < most + 80 * MIB, f"{path}: {sent} bytes for a reader that left, abandoned-fill {limit}")
                if limit == "16M" and name != "private":
                    true(sent >= 16 * MIB, f"{path}: it went on for {sent} bytes only")


@check(
    "what is held stays: a client that comes back by its tag has the rest, the bytes before it are compared",
    area="unheard",
)
def stays(bench):
    origin = bench.origin()
    content = Content("stays", 24 * MIB)
    origin.at("/x", Resource(content, framing="chunked", fields=FRESH))
    pawl = bench.pawl(origin, site={"abandoned-fill": "8M"})
    answer = leave(pawl, "/x", 5 * MIB)
    wait_for(lambda: origin.of("/x")[0].ended is not None, 10, "the end of the first fill")
    true(sum(p.stat().st_blocks * 512 for p in pawl.body_files()) >= 5 * MIB, "what was held is gone")
    rest = get(
        pawl.address, "/x", fields=(("Range", f"bytes={4 * MIB}-"), ("If-Range", answer.get("ETag"))), keep=False
    )
    same((rest.status, rest.sha), (206, content.sha256(4 * MIB)), "the rest")


@check("a live stream ends soon after its last listener left, and goes on while one hears it", area="unheard")
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


@check("one that comes back in time finds a body of unknown length further on, and one request made it", area="unheard")
def in_time(bench):
    origin = bench.origin()
    content = Content("in-time", 20 * MIB)
    origin.at("/x", Resource(content, framing="chunked", fields=FRESH, pace=4e6))
    pawl = bench.pawl(origin)
    answer = leave(pawl, "/x", 2 * MIB)
    time.sleep(2)
    rest = get(
        pawl.address,
        "/x",
        fields=(("Range", f"bytes={MIB}-"), ("If-Range", answer.get("ETag"))),
        keep=False,
        timeout=20,
    )
    same((rest.status, rest.sha, origin.count("/x")), (206, content.sha256(MIB), 1), "the rest")


class Throttled:
    """Takes bytes at 32 KB/s, until it is told to hurry."""

    def __init__(self, content):
        self.seen, self.hurry = Comparer(content), threading.Event()
        self.seen.digest = hashlib.sha256()

    def __call__(self, data):
        self.seen(data)
        self.seen.digest.update(data)
        self.hurry.wait(len(data) / 32_000)


def beside_slow(bench, pawl, path, content, gate, count=1):
    """So many slow readers and a fast one of the same body: the slow ones' answers, what they saw, and how long the
    fast one took."""
    slow = [
        (bench.use(Client(pawl.address, timeout=60, receive_buffer=16384)), Throttled(content)) for _ in range(count)
    ]
    answers, threads = [], []
    for client, sink in slow:
        client.request(path)
        threads.append(
            threading.Thread(
                target=lambda client=client, sink=sink: answers.append(client.response(sink=sink)), daemon=True
            )
        )
        threads[-1].start()
    whole, box = Comparer(content), []
    fast = threading.Thread(target=lambda: box.append(get(pawl.address, path, sink=whole, timeout=25)), daemon=True)
    fast.start()
    wait_for(lambda: whole.position > 0 and all(sink.seen.position > 0 for _, sink in slow), 5, "the first bytes")
    begun = time.monotonic()
    gate.set()
    fast.join(25)
    took = time.monotonic() - begun
    same(
        [(a.status, a.complete, whole.same, whole.position) for a in box],
        [(200, True, True, content.size)],
        f"{path}: the fast one, after {took:.1f} s and {whole.position} bytes",
    )
    for _, sink in slow:
        sink.hurry.set()
    for thread in threads:
        thread.join(30)
    return answers, [sink.seen for _, sink in slow], took


@check(
    "a slow reader of a body that is streamed holds up nobody, and gets every byte by itself",
    area="unheard",
    seconds=100,
)
def slow_reader(bench):
    origin = bench.origin()
    content = Content("slow-reader", 48 * MIB)
    cases = {
        "/rangeless": dict(framing="chunked"),
        "/ranges": dict(framing="chunked", ranges=True, etag='"r"'),
        "/length": dict(),
        "/length-ranges": dict(ranges=True, etag='"l"'),
    }
    gates = {path: threading.Event() for path in cases}
    for path, how in cases.items():
        origin.at(path, Resource(content, fields=FRESH, gates=((200_000, gates[path]),), **how))
    # One whose length nobody knows is not kept beyond max-unknown; for the others there is no room.
    unknown, small = (
        bench.pawl(origin, "unknown", site={"max-unknown": "1M"}),
        bench.pawl(origin, "small", cache={"max-size": "12M"}),
    )
    for path in cases:
        pawl = unknown if "length" not in path else small
        answers, seen, took = beside_slow(bench, pawl, path, content, gates[path], count=2)
        same(
            [(a.complete, s.same, s.position) for a, s in zip(answers, seen)],
            [(True, True, content.size)] * 2,
            f"{path}: the slow ones",
        )
        timely(took < 15, f"{path}: the fast one took {took:.1f} s")


@check(
    "a slow reader that was overtaken is cut where the origin has something else by then, never given a mixture",
    area="unheard",
    seconds=100,
)
def overtaken(bench):
    origin = bench.origin()
    content = Content("overtaken", 48 * MIB)
    pawl = bench.pawl(origin, site={"max-unknown": "1M"})
    for at in (1000, 2 * MIB, 40 * MIB):
        other = content.changed(at)
        gate = threading.Event()
        origin.at(
            f"/{at}",
            lambda r, other=other, gate=gate: Resource(
                content if r.serial == 0 else other, framing="chunked", fields=FRESH, gates=((200_000, gate),)
            ),
        )
        (answer,), (seen,), _ = beside_slow(bench, pawl, f"/{at}", content, gate)
        same(origin.count(f"/{at}"), 2, f"{at}: requests")
        # All that it was given before may be in both: then it has the other one, from its first byte to its last.
        is_other = answer.complete and at > MIB and seen.digest.hexdigest() == other.sha256()
        true(is_other or (not answer.complete and seen.same), f"{at}: {answer}, differs at {seen.differs_at}")


@check(
    "a reader of a streamed body whose origin has ranges waits for what comes, however slowly it comes", area="unheard"
)
def far_behind_held(bench):
    origin = bench.origin()
    content = Content("far-behind", 24 * MIB)
    # 20 MiB beyond what is held, and then a pause that is long beside the time that the first MiB took.
    gate = threading.Event()
    origin.at(
        "/x", Resource(content, framing="chunked", ranges=True, etag='"f"', fields=FRESH, gates=((21 * MIB, gate),))
    )
    pawl = bench.pawl(origin, site={"max-unknown": "1M"})
    timer = threading.Timer(8, gate.set)
    timer.start()
    seen = Comparer(content)
    answer = get(pawl.address, "/x", sink=seen, timeout=20)
    same((answer.status, answer.complete, seen.same, seen.position), (200, True, True, content.size), f"{answer}")


@check(
    "a body of unknown length that is renewed in the background comes whole, though nobody reads it and it comes "
    "slowly",
    area="unheard",
)
def renewed(bench):
    origin = bench.origin()
    fields = (("Cache-Control", "max-age=1, stale-while-revalidate=600"),)
    content = Content("renewed", 300_000)
    origin.at(
        "/x", lambda r: Resource(content, framing="chunked", fields=fields, pace=None if r.serial == 0 else 30_000)
    )
    pawl = bench.pawl(origin)
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "first")
    time.sleep(2.5)
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "the stale one")
    wait_for(lambda: origin.count("/x") == 2 and origin.of("/x")[1].ended is not None, 20, "the end of the renewal")
    same(origin.of("/x")[1].ended, "done", "the renewal")
