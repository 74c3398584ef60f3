"""When the origin breaks: one unbroken body for the client, or a visible end; never two versions in one body."""

import random
import threading
import time

from harness.checks import check, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Break, Resource, break_points, random_breaks
from harness.process import wait_for

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
UNKEPT = (("Cache-Control", "no-store"),)
QUICK = {"resume-attempts": 4, "idle-timeout": "1s"}


def whole(answer, content, what):
    same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), f"{what}: {answer}")


@check(
    "resets, clean closes, missing last chunks and silence; with ranges and without; kept and unkept",
    area="resume",
    seconds=120,
)
def breaks(bench):
    origin = bench.origin()
    content = Content("breaks", 6 * MIB)
    cases = []
    for kept in (True, False):
        for ranges in (True, False):
            for framing in ("length", "chunked"):
                for how in ("rst", "fin", "stall"):
                    path = f"/{'kept' if kept else 'unkept'}-{'ranges' if ranges else 'none'}-{framing}-{how}"
                    offsets = [MIB + 1, 2 * MIB, 4 * MIB + 12345] if how != "stall" else [3 * MIB + 77]
                    origin.at(
                        path,
                        Resource(
                            content,
                            ranges=ranges,
                            etag='"b"' if ranges else None,
                            framing=framing,
                            fields=FRESH if kept else UNKEPT,
                            breaks=break_points(offsets, how),
                        ),
                    )
                    cases.append((path, ranges, len(offsets)))
    pawl = bench.pawl(origin, upstream={"idle-timeout": "1s", "resume-attempts": 10})
    wrong = []
    for path, ranges, count in cases:
        answer = get(pawl.address, path, keep=False, timeout=30)
        if (answer.status, answer.complete, answer.sha) != (200, True, content.sha256()):
            wrong.append((path, answer, origin.of(path)))
        elif ranges and origin.sent(path) > content.size + count * 4096 + 65536:
            wrong.append((path, f"{origin.sent(path)} bytes for {content.size}"))
    true(not wrong, f"{len(wrong)} of {len(cases)}: {wrong[:4]}")


@check("asks for Range and If-Range with the strong validator, overlapping by at most 4 KiB", area="resume")
def asks(bench):
    origin = bench.origin()
    content = Content("asks", 4 * MIB)
    origin.at(
        "/tag",
        Resource(content, ranges=True, etag='"t"', last_modified="old", fields=FRESH, breaks=break_points([2 * MIB])),
    )
    origin.at(
        "/date", Resource(content, ranges=True, last_modified="old", fields=FRESH, breaks=break_points([2 * MIB]))
    )
    origin.at(
        "/young", Resource(content, ranges=True, last_modified="fresh", fields=FRESH, breaks=break_points([2 * MIB]))
    )
    pawl = bench.pawl(origin)
    for path in ("/tag", "/date", "/young"):
        whole(get(pawl.address, path, keep=False), content, path)
    for path, condition in (("/tag", '"t"'), ("/date", "Sat, 01 Aug 2026 10:00:00 GMT")):
        second = origin.of(path)[1]
        start = int(second.get("Range").split("=")[1].split("-")[0])
        true(2 * MIB - 4096 <= start <= 2 * MIB, f"{path}: asked from {start}, held {2 * MIB}")
        same((second.get("If-Range"), second.status), (condition, 206), f"{path}: If-Range, status")
    second = origin.of("/young")[1]
    same((second.get("Range"), second.status), (None, 200), "a fresh Last-Modified is not strong: replayed")


@check("every follower of a broken fill gets its body, on all loops", area="resume")
def followers(bench):
    origin = bench.origin()
    content = Content("broken-followers", 8 * MIB)
    rng = random.Random(4)
    for path in ("/far", "/near"):
        breaks = random_breaks(rng, content.size, 8, 8)[0]
        origin.at(path, Resource(content, ranges=True, etag='"t"', fields=FRESH, breaks=breaks, pace=40e6))
    origin.at("/all", Resource(content, fields=FRESH, breaks=random_breaks(rng, content.size, 4, 4)[0], pace=60e6))
    pawl = bench.pawl(origin, pawl={"workers": 4})
    # A reader more than 64 KiB ahead of a slow fill may ask for a range of its own; none is so far ahead in /near.
    for path, step in (("/far", MIB), ("/near", 20_000), ("/all", MIB)):
        got = []

        def one(i):
            start = (i % 4) * step
            fields = (("Range", f"bytes={start}-"),) if start else ()
            answer = get(pawl.address, path, fields=fields, keep=False, timeout=30)
            got.append(
                (answer.status, answer.complete, answer.sha) == (206 if start else 200, True, content.sha256(start))
            )

        threads = [threading.Thread(target=one, args=(i,)) for i in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same(got, [True] * 24, path)
    sent = [(request.get("Range"), request.status, request.sent) for request in origin.of("/near")]
    true(origin.sent("/near") <= content.size + 8 * 4096 + 65536, f"{origin.sent('/near')} bytes in all: {sent}")


@check("5xx, 429 and refusals in the middle are waited out with backoff", area="resume", seconds=60)
def middle_errors(bench):
    origin = bench.origin()
    content = Content("middle", 2 * MIB)
    for ranges in (True, False):
        breaks = break_points([MIB])
        origin.at(
            f"/{ranges}",
            lambda r, ranges=ranges, breaks=breaks: (
                Resource(b"busy", status=(503, 502, 429)[r.serial - 1])
                if 0 < r.serial < 4
                else Resource(content, ranges=ranges, etag='"m"' if ranges else None, fields=FRESH, breaks=breaks)
            ),
        )
    pawl = bench.pawl(origin)
    for path in ("/True", "/False"):
        whole(get(pawl.address, path, keep=False, timeout=30), content, path)
        times = [r.time for r in origin.of(path)]
        gaps = [b - a for a, b in zip(times[1:], times[2:])]
        true(all(gap > 0.03 for gap in gaps), f"no backoff: {gaps}")


@check("an origin that is down for a while and comes back", area="resume", seconds=60)
def outage(bench):
    from harness.origin import Origin

    origin = bench.origin()
    content = Content("outage", 2 * MIB)
    resource = Resource(content, ranges=True, etag='"m"', fields=FRESH, breaks=break_points([MIB]))
    origin.at("/x", resource)
    pawl = bench.pawl(origin)
    port, box = origin.port, {}
    thread = threading.Thread(target=lambda: box.update(a=get(pawl.address, "/x", keep=False, timeout=30)))
    origin.resources["/x"] = Resource(
        content,
        ranges=True,
        etag='"m"',
        fields=FRESH,
        breaks=lambda s, e: Break(MIB, "rst"),
        before_head=lambda r: None,
    )
    thread.start()
    wait_for(lambda: origin.of("/x") and origin.of("/x")[0].ended == "rst", 5, "the break")
    origin.stop()
    time.sleep(1)
    again = bench.use(Origin(port))
    again.at("/x", Resource(content, ranges=True, etag='"m"', fields=FRESH))
    thread.join(25)
    whole(box["a"], content, "after the outage")


@check("gives up after resume-attempts, visibly", area="resume")
def gives_up(bench):
    origin = bench.origin()
    content = Content("gives-up", 2 * MIB)
    for framing in ("length", "chunked"):
        origin.at(
            "/" + framing,
            lambda r, framing=framing: (
                Resource(content, ranges=True, etag='"m"', framing=framing, fields=FRESH, breaks=break_points([MIB]))
                if r.serial == 0
                else Resource(b"", status=503)
            ),
        )
    pawl = bench.pawl(origin, upstream={"resume-attempts": 3})
    for path in ("/length", "/chunked"):
        answer = get(pawl.address, path, timeout=30)
        same((answer.status, answer.complete, answer.ended), (200, False, "fin"), path)
        same(answer.body, content.read(0, len(answer.body)), "bytes so far")
        true(2 <= origin.count(path) <= 6, f"{origin.count(path)} requests")


CHANGES = {  # how the second connection differs from the first
    "changed byte before the break": dict(changed=(1000,)),
    "changed bytes before and after": dict(changed=(1000, 1_900_000)),
    "longer": dict(size=2 * MIB + 10),
    "shorter": dict(size=2 * MIB - 10),
}


@check("changed content ends visibly: by tag, weak tag, date, nothing; kept and unkept", area="resume", seconds=120)
def changed(bench):
    origin = bench.origin()
    content = Content("changed", 2 * MIB)
    wrong = []
    plans = []
    for what, plan in CHANGES.items():
        other = (
            content.changed(*plan["changed"]) if "changed" in plan else Content("changed", plan["size"]).changed(1000)
        )
        for label, first, second in (
            ("new tag", dict(ranges=True, etag='"a"'), dict(ranges=True, etag='"b"')),
            ("weak tag", dict(ranges=True, etag='W/"a"'), dict(ranges=True, etag='W/"b"')),
            ("same weak tag", dict(ranges=True, etag='W/"a"'), dict(ranges=True, etag='W/"a"')),
            (
                "date",
                dict(ranges=True, last_modified="old"),
                dict(ranges=True, last_modified="Sun, 02 Aug 2026 10:00:00 GMT"),
            ),
            ("fresh date", dict(ranges=True, last_modified="fresh"), dict(ranges=True, last_modified="fresh")),
            ("nothing", {}, {}),
            ("ranges alone", dict(ranges=True), dict(ranges=True)),
        ):
            for kept in (FRESH, UNKEPT):
                for framing in ("length", "chunked"):
                    plans.append(
                        (
                            f"{what}, {label}, {'kept' if kept is FRESH else 'unkept'}, {framing}",
                            other,
                            first,
                            second,
                            kept,
                            framing,
                        )
                    )
    for i, (what, other, first, second, kept, framing) in enumerate(plans):
        origin.at(
            f"/{i}",
            lambda r, p=plans[i]: (
                Resource(content, framing=p[5], fields=p[4], breaks=lambda s, e: Break(MIB, "rst"), **p[2])
                if r.serial == 0
                else Resource(p[1], framing=p[5], fields=p[4], **p[3])
            ),
        )
    pawl = bench.pawl(origin, upstream=QUICK)
    lock = threading.Lock()

    def some(numbers):
        for i in numbers:
            answer = get(pawl.address, f"/{i}", timeout=20)
            if answer.complete or not (answer.body == content.read(0, len(answer.body))) or answer.status != 200:
                with lock:
                    wrong.append((plans[i][0], answer, origin.of(f"/{i}")))

    threads = [threading.Thread(target=some, args=(range(k, len(plans), 8),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    true(not wrong, f"{len(wrong)} of {len(plans)}: {wrong[:3]}")


@check("after changed content the next client gets the new body, whole", area="resume")
def after_change(bench):
    origin = bench.origin()
    content = Content("after", 2 * MIB)
    other = content.changed(1000)
    origin.at(
        "/x",
        lambda r: (
            Resource(content, fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
            if r.serial == 0
            else Resource(other, fields=FRESH)
        ),
    )
    pawl = bench.pawl(origin, upstream=QUICK)
    first = get(pawl.address, "/x")
    same((first.complete, first.body), (False, content.read(0, len(first.body))), "first client")
    second = get(pawl.address, "/x", keep=False)
    same((second.status, second.complete, second.sha), (200, True, other.sha256()), "second client")
    answer = get(pawl.address, "/x", fields=(("Range", "bytes=100000-"), ("If-Range", first.get("ETag"))))
    same((answer.status, answer.sha), (200, other.sha256()), "the first client comes back with its tag")


LIES = [  # a 206 that is not what was asked for; `changed` where the bytes themselves are another version's
    ("starts earlier than it says", dict(body=MIB - 5000), None),
    ("starts elsewhere", dict(start=MIB + 4096, body=MIB + 4096), None),
    ("another total", dict(total=3 * MIB), None),
    ("another tag", dict(tag='"z"'), None),
    ("another version under the same tag", {}, (MIB - 10,)),
    ("another version that differs at the break", {}, (MIB, MIB + 1)),
    ("no total", dict(total="*"), None),
    ("last before first", dict(last=5), None),
]


@check("a 206 that lies is never joined", area="resume", seconds=90)
def lies(bench):
    origin = bench.origin()
    content = Content("lies", 2 * MIB)
    for i, (what, lie, change) in enumerate(LIES):
        other = content.changed(*change) if change else content
        origin.at(
            f"/{i}",
            lambda r, lie=lie, other=other: (
                Resource(content, ranges=True, etag='"t"', fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
                if r.serial == 0
                else Resource(other, ranges=True, etag='"t"', fields=FRESH, lie=lie)
            ),
        )
    pawl = bench.pawl(origin, upstream=QUICK)
    wrong = []
    for i, (what, lie, change) in enumerate(LIES):
        answer = get(pawl.address, f"/{i}", timeout=30)
        right = answer.body == content.read(0, len(answer.body))
        if (
            what == "another version that differs at the break"
        ):  # only bytes after what is held differ: nothing can tell
            right = right or not answer.complete or answer.body == content.changed(*change).read()
        if not right or (answer.complete and answer.body != content.read() and not change):
            wrong.append((what, answer, origin.of(f"/{i}")))
    true(not wrong, f"{wrong}")


@check("a changed origin behind an honest 200 to If-Range: the old readers end, a new client goes on", area="resume")
def honest(bench):
    origin = bench.origin()
    content = Content("honest", 3 * MIB)
    other = content.changed(5)
    origin.at(
        "/x",
        lambda r: (
            Resource(content, ranges=True, etag='"1"', fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
            if r.serial == 0
            else Resource(other, ranges=True, etag='"2"', fields=FRESH)
        ),
    )
    pawl = bench.pawl(origin, upstream=QUICK)
    answer = get(pawl.address, "/x")
    same((answer.complete, answer.body), (False, content.read(0, len(answer.body))), "old reader")
    true(len(answer.body) >= MIB - 4096, f"the old reader got {len(answer.body)} bytes of the {MIB} that came")
    fresh = get(pawl.address, "/x", keep=False)
    same((fresh.sha, fresh.get("ETag")), (other.sha256(), '"2"'), "new client")


@check("an origin that announces ranges and refuses them is learnt: replay", area="resume")
def refuses(bench):
    origin = bench.origin()
    content = Content("refuses", 3 * MIB)
    origin.at(
        "/200", Resource(content, etag='"t"', fields=FRESH + (("Accept-Ranges", "bytes"),), breaks=break_points([MIB]))
    )
    breaks = break_points([MIB])
    origin.at(
        "/416",
        lambda r: (
            Resource(b"", status=416) if r.get("Range") else Resource(content, etag='"t"', fields=FRESH, breaks=breaks)
        ),
    )
    pawl = bench.pawl(origin)
    for path in ("/200", "/416"):
        whole(get(pawl.address, path, keep=False, timeout=20), content, path)


@check("breaks before the head and at the very ends of a body", area="resume")
def edges(bench):
    origin = bench.origin()
    content = Content("edges", 1_000_000)
    for at in (0, 1, 16384, 999_999):
        for ranges in (True, False):
            for framing in ("length", "chunked"):
                origin.at(
                    f"/{at}-{ranges}-{framing}",
                    lambda r, at=at, ranges=ranges, framing=framing: Resource(
                        content,
                        ranges=ranges,
                        framing=framing,
                        etag='"e"' if ranges else None,
                        fields=FRESH,
                        breaks=(lambda s, e: Break(at, "fin")) if r.serial == 0 else None,
                    ),
                )
    origin.at(
        "/end-chunk",
        lambda r: (
            Resource(content, framing="chunked", fields=FRESH)
            if r.serial
            else (
                b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Type: "
                b"application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n"
                % content.size
                + content.read()
                + b"\r\n",
                "close",
            )
        ),
    )
    pawl = bench.pawl(origin)
    for path in list(origin.resources):
        whole(get(pawl.address, path, keep=False, timeout=20), content, path)


@check("a range that breaks in a cold fetch is finished the same way", area="resume")
def broken_range(bench):
    origin = bench.origin()
    content = Content("broken-range", 64 * MIB)
    origin.at(
        "/x",
        Resource(
            content, ranges=True, etag='"t"', fields=FRESH, breaks=break_points([33 * MIB, 34 * MIB + 5, 35 * MIB])
        ),
    )
    pawl = bench.pawl(origin)
    answer = get(pawl.address, "/x", fields=(("Range", f"bytes={32 * MIB}-{36 * MIB - 1}"),), keep=False)
    same((answer.status, answer.complete, answer.sha), (206, True, content.sha256(32 * MIB, 36 * MIB)), "range")
    true(origin.sent("/x") <= 4 * MIB + MIB + 65536 + 3 * 4096, f"{origin.sent('/x')} bytes")


@check("a range of a body of unknown length that breaks off at once is answered without a wait", area="resume")
def early_range(bench):
    origin = bench.origin()
    old, new = Content("early-range, old", 50_000), Content("early-range, new", 50_000)
    stale = (("Cache-Control", "max-age=60"), ("Age", "100"))
    origin.at("/x", Resource(old, etag='"a"', fields=stale))
    pawl = bench.pawl(origin)
    whole(get(pawl.address, "/x"), old, "the old body")
    breaks = break_points([25_000], "fin")
    origin.at("/x", Resource(new, framing="chunked", ranges=True, etag='"b"', fields=stale, breaks=breaks))
    # 30 s are waited where nothing can be done.
    got = get(pawl.address, "/x", fields=(("Range", "bytes=20-25"),), timeout=20)
    # Which of the two it is depends on what came first, the length or the end of the first fetch.
    expected = {200: new.read(), 206: new.read(20, 26)}
    same(got.body, expected.get(got.status), f"the range: {got}")
