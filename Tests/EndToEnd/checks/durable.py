"""What was fetched is kept; what is on disk is checked before it is trusted."""

import os
import signal
import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)


def rest(pawl, path, tag, start):
    return get(pawl.address, path, fields=(("Range", f"bytes={start}-"), ("If-Range", tag)), keep=False)


@check(
    "a cut fill goes on after SIGTERM and kill -9 from where it was (ranges): at most 8 MiB again",
    area="durable",
    seconds=60,
)
def partial(bench):
    origin = bench.origin()
    content = Content("partial", 60 * MIB)
    pawl = bench.pawl(origin)
    for hard in (False, True):
        path = f"/{hard}"
        gate = threading.Event()
        origin.at(path, Resource(content, ranges=True, etag='"p"', fields=FRESH, gates=((30 * MIB, gate),)))
        with Client(pawl.address) as client:
            client.request(path)
            answer = client.response(limit=29 * MIB, keep=False)
            if hard:
                time.sleep(1.3)
                pawl.kill()
            else:
                pawl.signal(signal.SIGTERM)
        if not hard:
            same(pawl.wait(10), 0, "exit code")
        gate.set()
        pawl.start()
        got = rest(pawl, path, answer.get("ETag"), 20 * MIB)
        same((got.status, got.sha), (206, content.sha256(20 * MIB)), f"rest after {'kill -9' if hard else 'SIGTERM'}")
        same(get(pawl.address, path, keep=False).sha, content.sha256(), "whole body")
        true(origin.sent(path) <= content.size + 8 * MIB + 65536, f"{origin.sent(path)} bytes for {content.size}")


@check("an incomplete body of an origin without validators is completed after a restart by comparing", area="durable")
def partial_rangeless(bench):
    origin = bench.origin()
    content = Content("partial-none", 20 * MIB)
    gate = threading.Event()
    origin.at("/x", Resource(content, fields=FRESH, gates=((10 * MIB, gate),)))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x")
        answer = client.response(limit=9 * MIB, keep=False)
        tag = answer.get("ETag")
        pawl.signal(signal.SIGTERM)
    pawl.wait(10)
    gate.set()
    pawl.start()
    got = rest(pawl, "/x", tag, 8 * MIB)
    same((got.status, got.sha), (206, content.sha256(8 * MIB)), "rest with the tag of the first answer")


def damage_check(bench, spoil, restart_hard=False):
    origin = bench.origin()
    content = Content("damage", 8 * MIB)
    origin.at("/x", Resource(content, ranges=True, etag='"d"', fields=FRESH))
    origin.at("/y", Resource(content, fields=FRESH))
    pawl = bench.pawl(origin)
    tags = {path: get(pawl.address, path, keep=False).get("ETag") for path in ("/x", "/y")}
    time.sleep(1.3)
    pawl.kill() if restart_hard else pawl.stop()
    files = [p for p in pawl.body_files() if p.stat().st_size >= MIB]
    true(len(files) >= 2, f"body files: {files}")
    for file in files:
        spoil(file)
    pawl.start()
    for path, tag in tags.items():
        got = rest(pawl, path, tag, MIB)
        true(
            (got.status == 206 and got.sha == content.sha256(MIB))
            or (got.status == 200 and got.sha == content.sha256())
            or (not got.complete),
            f"{path}, rest: {got}",
        )
        for _ in range(2):
            got = get(pawl.address, path, keep=False)
        same((got.status, got.complete, got.sha), (200, True, content.sha256()), f"{path}: {got}")
    return pawl, origin, content


@check("a corrupt file is mended or dropped, logged, never served", area="durable")
def corrupt(bench):
    def spoil(file):
        with open(file, "r+b") as f:
            f.seek(5 * MIB + 3)
            octet = f.read(1)
            f.seek(5 * MIB + 3)
            f.write(bytes([octet[0] ^ 1]))

    pawl, origin, content = damage_check(bench, spoil)
    true(
        any(word in pawl.log().lower() for word in ("corrupt", "digest", "damaged", "mismatch", "mended", "dropped")),
        f"nothing logged: {pawl.log()[-800:]}",
    )
    true(origin.sent("/x") <= content.size + 3 * MIB, f"{origin.sent('/x')} bytes: not mended by range")


@check("a truncated file", area="durable")
def truncated(bench):
    damage_check(bench, lambda file: os.truncate(file, 3 * MIB + 17))


@check("an emptied file", area="durable")
def emptied(bench):
    damage_check(bench, lambda file: os.truncate(file, 0))


@check("a removed file", area="durable")
def removed(bench):
    damage_check(bench, os.unlink)


@check("a foreign file of the same size", area="durable")
def foreign(bench):
    damage_check(bench, lambda file: file.write_bytes(Content("foreign", 8 * MIB).read()))


@check("kill -9, then bytes after the recorded extent are rubbish: never served", area="durable")
def rubbish(bench):
    def spoil(file):
        with open(file, "r+b") as f:
            f.seek(6 * MIB)
            f.write(Content("rubbish", 2 * MIB).read())

    damage_check(bench, spoil, restart_hard=True)


@check("orphan files are removed, a broken catalogue does not stop pawl", area="durable")
def orphans(bench):
    origin = bench.origin()
    content = Content("orphans", 2 * MIB)
    origin.at("/x", Resource(content, fields=FRESH))
    pawl = bench.pawl(origin)
    get(pawl.address, "/x", keep=False)
    pawl.stop()
    real = pawl.body_files()[0]
    orphan = real.with_name(("f" * len(real.name))[: len(real.name)])
    orphan.write_bytes(b"orphan" * 1000)
    pawl.start()
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "body")
    wait_for(lambda: not orphan.exists(), 10, "the removal of an orphan file")
    pawl.stop()
    catalogue = [p for p in (pawl.folder / "cache").glob("*") if p.is_file() and "sqlite" in p.name]
    true(catalogue, "no catalogue file")
    for file in catalogue:
        file.write_bytes(b"this is no database" * 1000)
    pawl.start()
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "body after the catalogue was overwritten")
    pawl.restart()
    answer = get(pawl.address, "/x", keep=False)
    same((answer.sha, answer.hit), (content.sha256(), True), "body after another restart")


@check("kill -9 at random moments under mixed load: every answer right afterwards", area="durable", seconds=120)
def kills(bench):
    import random

    rng = random.Random(9)
    origin = bench.origin()
    contents = {}
    for i in range(12):
        contents[f"/{i}"] = Content(f"kills{i}", rng.choice([1000, 70_000, 3 * MIB, 12 * MIB]))
        origin.at(
            f"/{i}",
            Resource(
                contents[f"/{i}"],
                ranges=i % 2 == 0,
                etag=f'"k{i}"' if i % 2 == 0 else None,
                fields=FRESH if i % 3 else (),
                framing="chunked" if i % 4 == 3 else "length",
            ),
        )
    pawl = bench.pawl(origin)
    wrong, tags = [], {}
    for round in range(10):
        stop = threading.Event()

        def load(seed):
            mine = random.Random(seed)
            while not stop.is_set():
                path = mine.choice(list(contents))
                content = contents[path]
                start = mine.randrange(content.size) if mine.random() < 0.6 else 0
                fields = []
                if start:
                    fields.append(("Range", f"bytes={start}-"))
                    if path in tags and mine.random() < 0.7:
                        fields.append(("If-Range", tags[path]))
                try:
                    answer = get(pawl.address, path, fields=fields, keep=False, timeout=10)
                except OSError:
                    continue
                if answer.complete and answer.status in (200, 206):
                    if answer.sha != content.sha256(start if answer.status == 206 else 0):
                        wrong.append((round, path, start, answer))
                    tags[path] = answer.get("ETag") or tags.get(path)

        threads = [threading.Thread(target=load, args=(round * 10 + k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(rng.uniform(0.05, 0.8))
        pawl.kill()
        stop.set()
        for thread in threads:
            thread.join()
        pawl.start()
        for path, content in contents.items():
            answer = get(pawl.address, path, keep=False)
            if (answer.status, answer.complete, answer.sha) != (200, True, content.sha256()):
                wrong.append((round, path, answer))
    true(not wrong, f"{len(wrong)} wrong: {wrong[:4]}")
