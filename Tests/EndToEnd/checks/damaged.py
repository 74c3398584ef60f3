"""Body files that others have damaged: before a start, and while pawl runs. Who asks first gets one whole, right body,
or sees its end.

`DAMAGED=100` in the environment tries each kind of damage so many times; a few without it.
"""

import os
import random
import shutil
import threading
import time

from harness.checks import check, same, timely, true
from harness.client import Client, get
from harness.content import Comparer, Content
from harness.origin import Origin, Resource
from harness.process import wait_for

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
ROUNDS = int(os.environ.get("DAMAGED", "2"))
LARGE, SMALL = 5 * MIB + 12345, 300_001

ORIGINS = {  # what it says of a body, and whether it has ranges
    "ranges": dict(ranges=True, etag='"d"'),
    "plain": {},
    "weak": dict(etag='W/"d"'),
    "date": dict(ranges=True, last_modified="old"),
    "refusing": dict(etag='"d"', fields=FRESH + (("Accept-Ranges", "bytes"),)),
}


# -- kinds of damage: functions of the file, its size and what is random
# ----------------------------------------------------------------------


def place(size, where, rng):
    """A byte in the first, a middle or the last MiB."""
    last = (size - 1) // MIB
    number = {"first": 0, "middle": last // 2, "last": last}[where]
    return rng.randrange(number * MIB, min(size, (number + 1) * MIB))


def overwrite(file, at, octets):
    with open(file, "r+b") as opened:
        opened.seek(at)
        opened.write(octets)


def flipped(where):
    def spoil(file, size, rng):
        at = place(size, where, rng)
        octet = file.read_bytes()[at]
        overwrite(file, at, bytes([octet ^ 1 << rng.randrange(8)]))

    return spoil


def zeroed(where):
    def spoil(file, size, rng):
        at = place(size, where, rng) // MIB * MIB
        overwrite(file, at, bytes(min(MIB, size - at)))

    return spoil


def zeroed_to_end(where):
    def spoil(file, size, rng):
        at = place(size, where, rng)
        overwrite(file, at, bytes(size - at))

    return spoil


def swapped(where):
    def spoil(file, size, rng):
        count = min(MIB, size // 4)
        one = min(place(size, where, rng), size - count)
        other = (one + size // 2) % (size - count)
        old = file.read_bytes()
        overwrite(file, one, old[other : other + count])
        overwrite(file, other, old[one : one + count])

    return spoil


def truncated(where):
    return lambda file, size, rng: os.truncate(file, place(size, where, rng))


def foreign(file, size, rng):
    file.write_bytes(Content(f"foreign{rng.random()}", size).read())


def replaced(file, size, rng):
    other = file.with_name("x" + file.name)
    other.write_bytes(Content(f"foreign{rng.random()}", size).read())
    other.rename(file)


def longer(file, size, rng):
    with open(file, "ab") as opened:
        opened.write(rng.randbytes(rng.randrange(1, 3 * MIB)))


def longer_and_flipped(file, size, rng):
    longer(file, size, rng)
    flipped("middle")(file, size, rng)


def directory(file, size, rng):
    file.unlink()
    file.mkdir()


def link(file, size, rng):
    other = file.parent.parent.parent / ("elsewhere" + file.name)
    file.rename(other)
    file.symlink_to(other)


KINDS = {
    f"{name}, {where} MiB": kind(where)
    for name, kind in (
        ("flipped bit", flipped),
        ("zeroed MiB", zeroed),
        ("zeroed to the end", zeroed_to_end),
        ("swapped pieces", swapped),
        ("truncated", truncated),
    )
    for where in ("first", "middle", "last")
}
KINDS.update(
    {
        "emptied": lambda file, size, rng: os.truncate(file, 0),
        "missing": lambda file, size, rng: file.unlink(),
        "foreign": foreign,
        "another file": replaced,
        "longer": longer,
        "longer and flipped": longer_and_flipped,
        "a directory": directory,
        "a link": link,
    }
)


def sizes(pawl):
    return {file: file.stat().st_size for file in pawl.body_files()}


class Shelf:
    """Bodies of one pawl, each with its content and its file."""

    def __init__(self, bench, **sections):
        self.bench, self.origin = bench, bench.origin()
        self.pawl = bench.pawl(self.origin, **sections)
        self.bodies, self.files, self.tags = {}, {}, {}

    def put(self, path, size, kind="plain", **more):
        content = Content(path, size)
        said = dict(fields=FRESH) | ORIGINS[kind] | more
        self.origin.at(path, Resource(content, **said))
        before = sizes(self.pawl)
        answer = get(self.pawl.address, path, keep=False)
        same((answer.status, answer.sha), (200, content.sha256()), f"{path}, stored")
        new = [file for file, count in sizes(self.pawl).items() if count == size and not before.get(file)]
        same(len(new), 1, f"new files for {path}")
        self.bodies[path], self.files[path], self.tags[path] = content, new[0], answer.get("ETag")
        return content

    def end(self):
        self.pawl.stop()
        self.origin.stop()
        shutil.rmtree(self.pawl.folder / "cache")


def table(bench, rounds, size, kinds, origins=tuple(ORIGINS), ask=None, then=None):
    """So many times: stores a body for each row, damages all files between two runs of pawl, and asks for each."""
    rng, count, wrong = random.Random(12), 0, []
    for number in range(rounds):
        shelf = Shelf(bench)
        rows = [
            (f"/{number}/{kind.replace(' ', '-').replace(',', '')}/{origin}", kind, origin)
            for kind in kinds
            for origin in origins
        ]
        for path, _, origin in rows:
            shelf.put(path, size, origin)
        shelf.pawl.stop()
        for path, kind, _ in rows:
            KINDS[kind](shelf.files[path], size, rng)
        shelf.origin.forget()
        shelf.pawl.start()
        for path, kind, origin in rows:
            why = (ask or whole)(shelf, path, rng)
            if why:
                wrong.append((path, why, shelf.origin.of(path)))
        count += len(rows)
        if then and not wrong:
            then(shelf, rows)
        shelf.end()
    true(not wrong, f"{len(wrong)} of {count}: {wrong[:3]}")
    # Said where many were asked for.
    if rounds > 1:
        print(f"      {count} damaged bodies, {size} bytes each", flush=True)


def whole(shelf, path, rng):
    answer = get(shelf.pawl.address, path, keep=False, timeout=20)
    right = (answer.status, answer.complete, answer.sha) == (200, True, shelf.bodies[path].sha256())
    return None if right else answer


def rest(shelf, path, rng):
    """The rest of what a client holds, by the tag that it was given: that, or the whole."""
    content = shelf.bodies[path]
    start = rng.randrange(content.size)
    answer = get(
        shelf.pawl.address,
        path,
        fields=(("Range", f"bytes={start}-"), ("If-Range", shelf.tags[path])) if shelf.tags[path] else (),
        keep=False,
    )
    sha = content.sha256(start) if answer.status == 206 else content.sha256()
    return None if answer.status in (200, 206) and answer.complete and answer.sha == sha else (start, answer)


@check(
    "a large body, every kind of damage, origins with and without ranges: whole and right at the first request",
    area="damaged",
    seconds=60 + 40 * ROUNDS,
)
def large(bench):
    def mended(shelf, rows):
        wait_for(lambda: "body-mended" in shelf.pawl.log(), 5, "a word of what was mended")
        # Where there are ranges, a damaged MiB costs a MiB.
        for path, kind, origin in rows:
            if kind.startswith(("flipped bit", "zeroed MiB")) and origin in ("ranges", "date"):
                sent = shelf.origin.sent(path)
                true(0 < sent <= MIB, f"{path}: {sent} bytes for a damaged MiB")

    table(bench, ROUNDS // 2 or 1, LARGE, KINDS, then=mended)


@check(
    "a small body, every kind of damage: whole and right at the first request", area="damaged", seconds=60 + 20 * ROUNDS
)
def small(bench):
    table(bench, ROUNDS, SMALL, KINDS)


@check("who resumes gets the right rest, or the whole, of a damaged body", area="damaged", seconds=60 + 30 * ROUNDS)
def resumed(bench):
    table(bench, ROUNDS // 2 or 1, LARGE, KINDS, ("ranges", "plain"), rest)


@check(
    "with one MiB damaged, the tag stays good for the rest, proven by what was recorded of it",
    area="damaged",
    seconds=60,
)
def tag_stays(bench):
    shelf = Shelf(bench)
    for origin in ("plain", "weak", "ranges"):
        shelf.put(f"/{origin}", LARGE, origin)
    shelf.pawl.stop()
    for file in shelf.files.values():
        zeroed("middle")(file, LARGE, random.Random(1))
    shelf.pawl.start()
    for path, content in shelf.bodies.items():
        tag, middle = shelf.tags[path], (LARGE - 1) // MIB // 2 * MIB + 5
        for start in (middle, middle - MIB, LARGE - 1):
            answer = get(shelf.pawl.address, path, fields=(("Range", f"bytes={start}-"), ("If-Range", tag)), keep=False)
            same(
                (answer.status, answer.complete, answer.sha),
                (206 if path != "/weak" else answer.status, True, content.sha256(start if answer.status == 206 else 0)),
                f"{path} from {start}",
            )
        again = get(shelf.pawl.address, path, keep=False)
        same((again.sha, again.get("ETag"), again.hit), (content.sha256(), tag, True), f"{path} afterwards")
    shelf.pawl.restart()
    shelf.origin.forget()
    for path, content in shelf.bodies.items():
        same(get(shelf.pawl.address, path, keep=False).sha, content.sha256(), f"{path} after a restart")
        same(shelf.origin.count(path), 0, "origin requests for what was mended")


# -- while pawl runs
# ---------------------------------------------------------------------------------------------------------------------------


def grown_again(file, size, rng):
    os.truncate(file, 0)
    os.truncate(file, size)


def written_into(file, size, rng):
    overwrite(file, 0, Content("foreign", size).read())


RUNNING = {
    "cut to nothing": lambda file, size, rng: os.truncate(file, 0),
    "cut to a half": lambda file, size, rng: os.truncate(file, size // 2 + 17),
    "cut to a MiB": lambda file, size, rng: os.truncate(file, min(MIB, size // 2)),
    "deleted": lambda file, size, rng: file.unlink(),
    "another file": replaced,
    "cut and grown again": grown_again,
    "written into": written_into,
}
# What is under way to a client in clear are pages of the file itself: what else is done to those reaches it, and is no
# whole answer then.
HARMLESS = ("cut to nothing", "deleted", "another file")


def slow_get(pawl, path, content, at, then, fields=(), start=0):
    """Reads `at` bytes of an answer, lets `then` happen, reads on. Gives the answer and whether what came was right."""
    seen, met = Comparer(content, start), []

    def sink(data):
        seen(data)
        if seen.position - start >= at and not met:
            met.append(True)
            time.sleep(0.1)
            then()
            time.sleep(0.05)

    with Client(pawl.address, timeout=20, receive_buffer=16384) as client:
        client.request(path, fields=fields)
        answer = client.response(sink=sink)
    true(met, f"{path}: only {answer.count} bytes came: {answer}")
    return answer, seen.same


@check(
    "a file that is cut, deleted, replaced, grown again or written into under a reader: whole and right, or a "
    "visible end; the next is whole",
    area="damaged running",
    seconds=150,
)
def running(bench):
    rng, wrong, took = random.Random(14), [], []
    shelf = Shelf(bench)
    size = 20 * MIB + 4321 if bench.is_1_1 else 400_000
    for kind, spoil in RUNNING.items():
        for origin in ("ranges", "plain"):
            for count, at in ((size, 100_000), (size, size // 3), (950_000, 10_000))[: 3 if bench.is_1_1 else 1]:
                path = f"/{kind.replace(' ', '-')}/{origin}/{count}/{at}"
                content = shelf.put(path, count, origin)
                get(shelf.pawl.address, path, keep=False)
                begun = time.monotonic()
                answer, right = slow_get(shelf.pawl, path, content, at, lambda: spoil(shelf.files[path], count, rng))
                took.append(time.monotonic() - begun)
                whole = answer.complete and right
                # Small enough, all of it was with the kernel before.
                is_out = bench.over == "clear" and (kind not in HARMLESS or count < MIB)
                if not whole and (not is_out or (answer.complete and count > MIB) or answer.ended == "timeout"):
                    wrong.append((path, answer, right))
                answer = get(shelf.pawl.address, path, keep=False)
                if (answer.status, answer.complete, answer.sha) != (200, True, content.sha256()):
                    wrong.append((path, "the next", answer))
    true(not wrong, f"{len(wrong)}: {wrong[:3]}")
    timely(max(took) < 8, f"{max(took):.1f} s for one answer")


@check(
    "readers of a running fill, with a length and without: whole and right, or a visible end",
    area="damaged running",
    seconds=60,
)
def running_fill(bench):
    rng, wrong = random.Random(15), []
    origin = bench.origin()
    pawl = bench.pawl(origin)
    size = 6 * MIB if bench.is_1_1 else MIB + 4321
    held = size * 5 // 6
    for kind in ("cut to nothing", "cut to a MiB", "cut and grown again"):
        for which in ("ranges", "plain"):
            for framing in ("length", "chunked"):
                path, gate = f"/{kind.replace(' ', '-')}/{which}/{framing}", threading.Event()
                content = Content(path, size)
                origin.at(
                    path,
                    lambda r, content=content, which=which, framing=framing, gate=gate: Resource(
                        content,
                        framing=framing,
                        gates=() if r.serial else ((held, gate),),
                        **(dict(fields=FRESH) | ORIGINS[which]),
                    ),
                )

                def spoil():
                    wait_for(lambda: origin.of(path)[0].sent >= held, 10, "the fill")
                    time.sleep(0.2)
                    file = next(file for file, count in sizes(pawl).items() if count and not before.get(file))
                    RUNNING[kind](file, file.stat().st_size, rng)
                    gate.set()

                before = sizes(pawl)
                answer, right = slow_get(pawl, path, content, 200_000, spoil)
                if answer.ended == "timeout" or (answer.complete and not right):
                    wrong.append((path, answer, right, origin.of(path)))
                if bench.over != "clear" and framing == "length" and not (answer.complete and right):
                    wrong.append((path, "not mended", answer))
                answer = get(pawl.address, path, keep=False)
                if (answer.status, answer.complete, answer.sha) != (200, True, content.sha256()):
                    wrong.append((path, "the next", answer))
    true(not wrong, f"{len(wrong)}: {wrong[:3]}")


@check(
    "the origin is down, the file is gone: 502 before the head, a visible end behind it, whole when it is back",
    area="damaged running",
    seconds=60,
)
def origin_down(bench):
    shelf = Shelf(bench, upstream={"resume-attempts": 2})
    contents = {
        path: shelf.put(path, LARGE, kind)
        for path, kind in (("/a", "ranges"), ("/b", "plain"), ("/c", "ranges"), ("/d", "plain"))
    }
    shelf.pawl.stop()
    for path, where in (("/a", "first"), ("/b", "first"), ("/c", "last"), ("/d", "last")):
        flipped(where)(shelf.files[path], LARGE, random.Random(3))
    port, resources = shelf.origin.port, dict(shelf.origin.resources)
    shelf.origin.stop()
    shelf.pawl.start()
    for path in ("/a", "/b"):
        answer = get(shelf.pawl.address, path)
        same((answer.status, answer.complete), (502, True), f"{path}: {answer}")
        true("pawl" in (answer.get("Proxy-Status") or ""), f"{path}: {answer}")
    for path in ("/c", "/d"):
        answer = get(shelf.pawl.address, path)
        same(
            (answer.status, answer.complete, answer.ended, answer.body),
            (200, False, "fin", contents[path].read(0, len(answer.body))),
            path,
        )
        true(len(answer.body) >= LARGE // MIB * MIB - MIB, f"{path}: only {answer}")
    again = bench.use(Origin(port))
    again.resources.update(resources)
    for path, content in contents.items():
        answer = get(shelf.pawl.address, path, keep=False)
        same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), f"{path}, the origin is back")


@check(
    "the origin has something else by now: the new whole before the head is out, a visible end behind it, never both",
    area="damaged",
    seconds=60,
)
def changed(bench):
    shelf = Shelf(bench)
    rows = [(f"/{origin}/{where}", origin, where) for origin in ORIGINS for where in ("first", "middle", "last")]
    for path, origin, _ in rows:
        shelf.put(path, LARGE, origin)
    shelf.pawl.stop()
    others = {}
    for path, origin, where in rows:
        flipped(where)(shelf.files[path], LARGE, random.Random(4))
        # One byte in each MiB, under the same tag.
        others[path] = shelf.bodies[path].changed(*range(77, LARGE, MIB))
        shelf.origin.at(path, Resource(others[path], **(dict(fields=FRESH) | ORIGINS[origin])))
    shelf.pawl.start()
    wrong = []
    for path, origin, where in rows:
        answer = get(shelf.pawl.address, path)
        is_new = answer.complete and answer.body == others[path].read()
        is_cut = not answer.complete and answer.body == shelf.bodies[path].read(0, len(answer.body))
        if not (is_new if where == "first" else is_cut):
            wrong.append((path, answer))
        answer = get(shelf.pawl.address, path, keep=False)
        if (answer.complete, answer.sha) != (True, others[path].sha256()):
            wrong.append((path, "the next", answer))
    true(not wrong, f"{len(wrong)}: {wrong[:3]}")
