"""The file system is full during 50 uploads: no offset goes back, no completed byte is lost, all complete after space
is there.

A small ext4 (needs root) holds spool and cache; the origin is down while it fills, so nothing leaves. Cached downloads
go on unharmed.
Then the same with room on the disk and `max-size` a third of what the uploads need: all get through, with a larger one
if need be.
"""

import os
import random
import threading
import time

import uploadscenario
from diskscenario import Disk
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for
from harness.uploadload import TUS, Upload
from harness.uploadorigin import UploadOrigin
from scenarios import in_threads

MIB = 1 << 20


def run(scenario):
    full_disk(scenario)
    small_spool(scenario)


def made(pawl, name, count, size, rng, pace=None):
    uploads = []
    for i in range(count):
        dialect = TUS if i % 3 == 0 else 3 + i % 8
        way = rng.choice(
            [
                w
                for w in (
                    "whole",
                    "parts",
                    "careful" if dialect != TUS else "creation",
                    "digests" if dialect != TUS else "checksums",
                )
            ]
        )
        octets = (size // 20 if i % 10 == 9 else size) + rng.randrange(100_000)  # some are complete before it is full
        upload = Upload(pawl.where, f"{name}-{i}", octets, dialect, way, pace=pace)
        upload.all_at_creation = 0
        uploads.append(upload)
    return uploads


def full_disk(scenario):
    rng = random.Random(34)
    count, size = (20, 6_000_000) if scenario.quick else (50, 10_000_000)
    room = count * size // 2
    disk = Disk(scenario, 3 * room + 200 * MIB)
    pages, kept = scenario.bench.origin(), Content("kept", 3_000_000)
    pages.at("/pages/kept", Resource(kept, ranges=True, etag='"k"', fields=(("Cache-Control", "max-age=60000"),)))
    origin = UploadOrigin(scenario.bench.folder / "origin")
    pawl = uploadscenario.serve(
        scenario,
        origin,
        "full",
        spool={"path": str(disk.mount / "spool")},
        site={"tus-wait": "3s"},
        cache={"path": str(disk.mount / "cache"), "min-free": "64K", "memory-object": "1K"},
        extra={"upstream:pages": {"url": pages.url}, "route:main/pages": {"path": "/pages/*", "upstream": "pages"}},
    )
    scenario.require(get(pawl.where, "/pages/kept", keep=False).sha == kept.sha256(), "the page that is to be cached")
    filler = disk.mount / "filler"
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, disk.free() - room)
    uploads, stop, reads = made(pawl, "full", count, size, rng, pace=2e6), threading.Event(), [0, 0, 0.0]

    def read():
        while not stop.wait(0.1):
            begun = time.monotonic()
            try:
                answer = get(pawl.where, "/pages/kept", keep=False, timeout=20)
                right = (answer.status, answer.sha) == (200, kept.sha256())
            except OSError:
                right = False
            reads[0] += 1
            reads[1] += not right
            reads[2] = max(reads[2], time.monotonic() - begun)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    clients = threading.Thread(target=lambda: in_threads(count, uploads, lambda u: u.run(200), scenario), daemon=True)
    clients.start()
    wait_for(
        lambda: sum(u.refusals.get(507, 0) for u in uploads) > count or len(scenario.failures) > 10,
        90,
        "a full disk (507)",
    )
    time.sleep(3 if scenario.quick else 8)
    free, paused = disk.free(), sum(u.refusals.get(507, 0) > 0 for u in uploads)
    held, stored = sum(u.floor for u in uploads), sum(u.floor >= u.size for u in uploads)
    # pawl leaves a little free: something else takes that, too, so that nothing can be written, and the origin returns
    # meanwhile.
    rest = disk.mount / "rest"
    to_the_brim(disk, rest)
    brim = disk.free()
    origin.start()
    scenario.bench.stack.callback(origin.kill)
    for _ in range(6 if scenario.quick else 16):
        time.sleep(0.5)
        to_the_brim(disk, rest)
    rest.unlink()
    filler.unlink()
    back = time.monotonic()
    clients.join(200)
    scenario.require(not clients.is_alive(), "clients hang")
    took = time.monotonic() - back
    stop.set()
    reader.join(30)
    counts = uploadscenario.judge(scenario, pawl, origin, uploads, kills=None)
    scenario.figure("full disk: uploads", len(uploads), count, at_least=True)
    scenario.figure("full disk: free when it was full", round(free / MIB, 1), unit="MiB")
    scenario.figure("full disk: free after something else took the rest", round(brim / MIB, 1), unit="MiB")
    scenario.figure("full disk: uploads that were told 507", paused, 1, at_least=True)
    scenario.figure(
        "full disk: bytes announced, of all", f"{held:,} of {sum(u.size for u in uploads):,}; {stored} complete"
    )
    scenario.figure("full disk: announced offsets or answers that were wrong", counts["violations"], 0)
    scenario.figure(
        "full disk: delivered once with the right SHA-256",
        counts["delivered"] - counts["wrong bodies"],
        count,
        at_least=True,
    )
    scenario.figure("full disk: delivered more than once", counts["delivered more than once"], 0)
    scenario.figure("full disk: cached downloads meanwhile", reads[0])
    scenario.figure("full disk: cached downloads that were wrong", reads[1], 0)
    scenario.figure("full disk: slowest cached download", round(reads[2], 3), unit="s")
    scenario.figure("full disk: all complete after space was there", round(took, 1), unit="s")
    scenario.figure("full disk: fetches of the page, which gives way when no space is left", pages.count("/pages/kept"))
    pawl.stop()
    origin.kill()


def to_the_brim(disk, path):
    """Takes every block that is left."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 65536, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


def small_spool(scenario):
    rng = random.Random(35)
    count, size = (20, 2_000_000) if scenario.quick else (50, 10_000_000)
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / "origin-small"))
    limit = f"{count * size // 3 // 1024}K"
    pawl = uploadscenario.serve(scenario, origin, "small", spool={"max-size": limit})
    uploads, begun = made(pawl, "small", count, size, rng), time.monotonic()
    clients = threading.Thread(target=lambda: in_threads(count, uploads, lambda u: u.run(150), scenario), daemon=True)
    clients.start()
    clients.join(15 if scenario.quick else 40)
    through, took = sum(u.result == "answered" for u in uploads), time.monotonic() - begun
    if clients.is_alive():  # they hold what each other needs: more room, and all go on
        pawl.stop()
        pawl.file.write_text(pawl.file.read_text().replace(f"max-size = {limit}", "max-size = 100G"))
        pawl.start()
        clients.join(120)
    counts = uploadscenario.judge(scenario, pawl, origin, uploads, kills=None)
    scenario.figure(
        "small spool: uploads that were told 507 or 413",
        sum(bool(u.refusals.get(507, 0) or u.refusals.get(413, 0)) for u in uploads),
    )
    scenario.figure("small spool: got through within a third of the room they need", through, unit=f"in {took:.1f} s")
    scenario.figure("small spool: delivered once, with more room if need be", counts["delivered"], count)
    scenario.figure("small spool: answers that were wrong", counts["violations"], 0)
