"""The fill: out of band, followed by any number of readers, bounded when nobody reads."""

import threading
import time

from harness.checks import check, same, timely, true
from harness.client import Client, get
from harness.content import Comparer, Content
from harness.origin import Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20


@check("goes on after its client left (origin without ranges); the next one gets it from the store", area="fill")
def goes_on(bench):
    origin = bench.origin()
    content = Content("goes-on", 30 * MIB)
    origin.at("/x", Resource(content, fields=FRESH, pace=40e6))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x")
        client.response(limit=MIB, keep=False)
    wait_for(lambda: origin.of("/x")[0].ended == "done", 10, "the end of the fill")
    answer = get(pawl.address, "/x", keep=False)
    same((answer.sha, answer.hit, origin.count("/x")), (content.sha256(), True, 1), "second client")


@check("followers join a running fill at once, at their own speed, with their own ranges", area="fill")
def followers(bench):
    origin = bench.origin()
    gate = threading.Event()
    content = Content("followers", 8 * MIB)
    origin.at("/x", Resource(content, fields=FRESH, gates=((4 * MIB, gate),)))
    pawl = bench.pawl(origin, pawl={"workers": 4})
    first = bench.use(Client(pawl.address))
    first.request("/x")
    seen = Comparer(content)
    answer = first.response(sink=seen, limit=MIB)
    same(answer.ended, "limit", "first MiB")
    for start, end in ((0, MIB), (2 * MIB, 3 * MIB), (100, 101)):
        got = get(pawl.address, "/x", fields=(("Range", f"bytes={start}-{end - 1}"),), timeout=5)
        same((got.status, got.sha), (206, content.sha256(start, end)), f"{start}-{end - 1} while the fill waits")
    late, box = Comparer(content, 6 * MIB), {}
    thread = threading.Thread(
        target=lambda: box.update(a=get(pawl.address, "/x", fields=(("Range", f"bytes={6 * MIB}-"),), sink=late))
    )
    thread.start()
    time.sleep(0.3)
    same((origin.count("/x"), box), (1, {}), "origin requests, and a range beyond the fill waits")
    gate.set()
    thread.join(10)
    same((box["a"].status, box["a"].complete, late.same), (206, True, True), "range beyond the fill")
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "whole body")
    same(origin.count("/x"), 1, "origin requests")


@check("a cold range on an origin with ranges fetches what is missing, aligned, at most 1 MiB more", area="fill")
def cold_range(bench):
    origin = bench.origin()
    content = Content("cold", 200 * MIB)
    origin.at("/x", Resource(content, ranges=True, etag='"c"', fields=FRESH))
    pawl = bench.pawl(origin)
    total = 0
    for start, count in ((100 * MIB + 7, 10), (50 * MIB, 3 * MIB), (0, 1), (content.size - 5, 5), (50 * MIB + 10, MIB)):
        answer = get(pawl.address, "/x", fields=(("Range", f"bytes={start}-{start + count - 1}"),))
        same(
            (answer.status, answer.get("Content-Range"), answer.sha),
            (206, f"bytes {start}-{start + count - 1}/{content.size}", content.sha256(start, start + count)),
            f"{start}+{count}",
        )
        total += count
    time.sleep(0.3)
    true(origin.sent("/x") <= total + 5 * (MIB + 131072), f"{origin.sent('/x')} bytes came for {total} asked")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=-100"),))
    same((answer.status, answer.sha), (206, content.sha256(content.size - 100)), "suffix")
    before = origin.sent("/x")
    answer = get(pawl.address, "/x", keep=False)
    same(answer.sha, content.sha256(), "whole body from pieces and the rest")
    true(origin.sent("/x") - before <= content.size - 3 * MIB + MIB, "what was held came again")


@check("a cold range on an origin without ranges is answered as soon as its bytes arrive", area="fill")
def cold_rangeless(bench):
    origin = bench.origin()
    gate = threading.Event()
    content = Content("rangeless", 4 * MIB)
    origin.at("/x", Resource(content, fields=FRESH, gates=((2 * MIB, gate),)))
    pawl = bench.pawl(origin)
    answer = get(pawl.address, "/x", fields=(("Range", f"bytes={MIB}-{MIB + 999}"),), timeout=5)
    same(
        (answer.status, answer.get("Content-Range"), answer.body),
        (206, f"bytes {MIB}-{MIB + 999}/{content.size}", content.read(MIB, MIB + 1000)),
        "range",
    )
    gate.set()
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=-10"),), timeout=5)
    same((answer.status, answer.body), (206, content.read(content.size - 10)), "suffix")
    same(origin.count("/x"), 1, "origin requests")


@check("unknown length: a range waits for the total, then 206 with it; never a-b/*", area="fill")
def unknown(bench):
    origin = bench.origin()
    gate = threading.Event()
    content = Content("unknown", 2 * MIB)
    origin.at("/slow", Resource(content, framing="chunked", fields=FRESH, gates=((MIB, gate),)))
    origin.at("/close", Resource(content, framing="close", fields=FRESH))
    pawl = bench.pawl(origin)
    box = {}
    thread = threading.Thread(
        target=lambda: box.update(a=get(pawl.address, "/slow", fields=(("Range", "bytes=100-199"),), timeout=20))
    )
    thread.start()
    time.sleep(0.5)
    true(not box or box["a"].status == 200, "answered before the total was known")
    gate.set()
    thread.join(10)
    answer = box["a"]
    true(
        (answer.status, answer.get("Content-Range"), answer.body)
        == (206, f"bytes 100-199/{content.size}", content.read(100, 200)),
        f"{answer}",
    )
    whole = get(pawl.address, "/slow", keep=False)
    same((whole.sha, whole.hit), (content.sha256(), True), "whole body")
    whole = get(pawl.address, "/close", keep=False)
    same(whole.sha, content.sha256(), "close-delimited")
    answer = get(pawl.address, "/close", fields=(("Range", "bytes=-5"),))
    same((answer.status, answer.body), (206, content.read(content.size - 5)), "suffix of the close-delimited")
    same(origin.count("/close"), 1, "origin requests")


@check("unknown length beyond max-unknown streams with backpressure, whole, and is not kept", area="fill", seconds=60)
def max_unknown(bench):
    origin = bench.origin()
    content = Content("endless", 48 * MIB)
    origin.at("/x", Resource(content, framing="chunked", fields=FRESH))
    origin.at("/endless", Resource(Content("endless", 1 << 40), framing="chunked", fields=FRESH))
    pawl = bench.pawl(origin, site={"max-unknown": "8M"})
    answer = get(pawl.address, "/x", keep=False)
    same((answer.status, answer.sha, answer.complete), (200, content.sha256(), True), "body")
    before = pawl.own_rss()
    client = bench.use(Client(pawl.address, receive_buffer=65536))
    client.request("/endless")
    client.response(limit=20 * MIB, keep=False)
    time.sleep(1)
    held = origin.sent("/endless")
    time.sleep(1)
    true(origin.sent("/endless") - held < MIB, "an endless stream runs ahead of its reader")
    true(held < 20 * MIB + 90 * MIB, f"{held} bytes were taken for a reader of 20 MiB")
    true(pawl.own_rss() - before < 32 * MIB, f"memory grew by {pawl.own_rss() - before}")
    disk = sum(p.stat().st_blocks * 512 for p in pawl.body_files())
    true(disk < 90 * MIB, f"{disk} bytes on disk")
    client.close()
    wait_for(lambda: origin.of("/endless")[0].ended == "peer", 10, "the end of an endless stream without readers")


@check("abandoned: pauses on an origin with ranges, and goes on from there", area="fill", seconds=60)
def abandoned(bench):
    origin = bench.origin()
    content = Content("abandoned", 300 * MIB)
    origin.at("/x", Resource(content, ranges=True, etag='"a"', fields=FRESH, pace=60e6))
    pawl = bench.pawl(origin, site={"abandoned-fill": "16M"})
    with Client(pawl.address) as client:
        client.request("/x")
        client.response(limit=20 * MIB, keep=False)
    wait_for(lambda: origin.of("/x")[0].ended == "peer", 8, "the pause")
    held = origin.sent("/x")
    true(held < 120 * MIB, f"{held} bytes came for an abandoned 20 MiB")
    origin.resources["/x"].pace = None
    answer = get(pawl.address, "/x", keep=False)
    same(answer.sha, content.sha256(), "body")
    true(origin.sent("/x") <= content.size + 8 * MIB, f"{origin.sent('/x')} bytes in all for {content.size}")


@check("never more than four abandoned fills; other clients are served meanwhile", area="fill", seconds=60)
def four(bench):
    origin = bench.origin()
    for i in range(12):
        origin.at(f"/{i}", Resource(Content(f"four{i}", 1 << 30), fields=FRESH, pace=4e6))
    origin.at("/other", Resource(b"served", fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin)
    for i in range(12):
        with Client(pawl.address) as client:
            client.request(f"/{i}", fields=(("Range", "bytes=0-0"),))
            client.response()
    running = lambda: sum(1 for i in range(12) for r in origin.of(f"/{i}") if r.ended is None)
    wait_for(lambda: running() <= 4, 5, "at most four abandoned fills")
    same(get(pawl.address, "/other", timeout=3).body, b"served", "another client")


@check("a slow first client does not slow the others, nor the fill", area="fill")
def slow_first(bench):
    origin = bench.origin()
    content = Content("slow-first", 64 * MIB)
    origin.at("/x", Resource(content, fields=FRESH))
    pawl = bench.pawl(origin)
    slow = bench.use(Client(pawl.address, receive_buffer=16384))
    slow.request("/x")
    slow.response(limit=10_000, keep=False)
    begun = time.monotonic()
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "second client")
    timely(time.monotonic() - begun < 10, "the second client was slowed")
    wait_for(lambda: origin.of("/x")[0].ended == "done", 5, "the end of the fill")


@check("disk full streams without storing, never an error", area="fill", seconds=60)
def disk_full(bench):
    import os
    import subprocess

    from harness.checks import Skip

    folder = bench.folder / "small"
    folder.mkdir()
    if (
        os.geteuid()
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], stderr=subprocess.DEVNULL
        ).returncode
    ):
        raise Skip("no right to mount a tmpfs")
    bench.stack.callback(lambda: subprocess.run(["umount", "-l", str(folder)], stderr=subprocess.DEVNULL))
    origin = bench.origin()
    for name, framing in (("length", "length"), ("chunked", "chunked")):
        origin.at("/" + name, Resource(Content(name, 60 * MIB), framing=framing, fields=FRESH))
    origin.at("/small", Resource(Content("small", 100_000), fields=FRESH))
    pawl = bench.pawl(origin, cache={"path": str(folder), "min-free": "1M", "max-size": "1G"})
    for path in ("/small", "/length", "/chunked", "/small"):
        answer = get(pawl.address, path, keep=False)
        size = 100_000 if path == "/small" else 60 * MIB
        same((answer.status, answer.complete, answer.sha), (200, True, Content(path[1:], size).sha256()), path)
    got, threads = [], []
    for i in range(6):
        origin.at(
            f"/many{i}", Resource(Content(f"many{i}", 9 * MIB), framing="chunked" if i % 2 else "length", fields=FRESH)
        )
        threads.append(
            threading.Thread(
                target=lambda i=i: got.append(
                    get(pawl.address, f"/many{i}", keep=False).sha == Content(f"many{i}", 9 * MIB).sha256()
                )
            )
        )
        threads[-1].start()
    for thread in threads:
        thread.join()
    same(got, [True] * 6, "six bodies at once on a disk that is full")
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(65536))
        except OSError:
            pass
    same(
        get(pawl.address, "/small", keep=False).sha, Content("small", 100_000).sha256(), "a stored body on a full disk"
    )
    answer = get(pawl.address, "/length", keep=False)
    same((answer.status, answer.sha), (200, Content("length", 60 * MIB).sha256()), "a body when nothing can be written")
