"""The power fails at random under running and completed uploads: no announced offset goes back, what was complete is
delivered.

A real ext4 on a loop device is shut down without flushing its journal (needs root) while eight clients upload and pawl
runs under a boot id of its own for each start; then fsck, mount, start. In every second round the origin is down, so
that completed uploads wait.
"""

import random
import threading
import time
import uuid

import uploadscenario
from diskscenario import Disk
from harness.uploadload import TUS, Upload, dialects, random_cuts, way_for
from harness.uploadorigin import UploadOrigin
from scenarios import in_threads


def run(scenario):
    rng, rounds = random.Random(36), 3 if scenario.quick else 15
    disk = Disk(scenario, 6 << 30)
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / "origin"))
    boot = scenario.bench.folder / "boot_id"
    prefix = ["unshare", "-m", "sh", "-c", f'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec "$0" "$@"']
    boot.write_text(f"{uuid.uuid4()}\n")
    pawl = uploadscenario.serve(
        scenario,
        origin,
        start=False,
        spool={"path": str(disk.mount / "spool")},
        prefix=prefix,
        site={"tus-wait": "2s"},
        cache={"path": str(disk.mount / "cache"), "min-free": "1M"},
        **{"state-dir": str(disk.mount / "state")},
    )
    uploads, cuts, starts = [], [], []
    pawl.start()
    for number in range(rounds):
        mine = []
        if number % 2:
            origin.kill()
        for i in range(8):
            dialect = TUS if rng.random() < 0.3 else dialects(rng)
            size = rng.randint(100_000, 3_000_000) if i < 4 else rng.randint(5_000_000, 40_000_000)
            upload = Upload(
                pawl.where,
                f"power-{number}-{i}",
                size,
                dialect,
                way_for(dialect, rng),
                cuts=random_cuts(rng, size, 0, 3),
                pace=rng.choice([2e6, 5e6, 10e6]),
                fields=(("X-Test-Delay", f"{rng.choice([0, 0.2, 1])}"),),
            )
            upload.may_vanish = True
            mine.append(upload)
        uploads += mine
        with uploadscenario.Watch(pawl, 3) as watch:
            clients = threading.Thread(
                target=lambda: in_threads(8, mine, lambda u: finish(u, watch), scenario), daemon=True
            )
            clients.start()
            time.sleep(rng.uniform(0.6, 4))
            cuts.append(time.monotonic())
            disk.cut_power()
            pawl.kill()
            if not disk.restore("data=writeback" if number % 3 == 1 else ""):
                return scenario.require(False, "the file system could not be mounted again")
            boot.write_text(f"{uuid.uuid4()}\n")
            begun = time.monotonic()
            pawl.start()
            starts.append(time.monotonic() - begun)
            if not origin.running():
                time.sleep(1)
                origin.start()
            clients.join(150)
            scenario.require(not clients.is_alive(), "clients hang")
            watch.failures.clear()  # the list cannot be read while the disk is away
        if len(scenario.failures) > 10:
            break
    counts = uploadscenario.judge(scenario, pawl, origin, uploads, kills=cuts, slack=2.0)
    scenario.figure("power cuts", len(cuts), rounds, at_least=True)
    scenario.figure("uploads", len(uploads))
    scenario.figure("announced offsets or answers that were wrong", counts["violations"], 0)
    scenario.figure("wrong bodies at the origin", counts["wrong bodies"], 0)
    scenario.figure("delivered more than once", counts["delivered more than once"], 0)
    scenario.figure("shown unknown", counts["unknown"])
    scenario.figure("answered to the client", counts["answered"], len(uploads) - counts["unknown"], at_least=True)
    scenario.figure(
        "gone with the power before a byte was announced",
        sum("gone with the power" in " ".join(u.trace) for u in uploads),
    )
    scenario.figure("slowest start after a cut", round(max(starts), 3), unit="s")


def finish(upload, watch):
    upload.run(140, until=watch.over)
    if upload.result is None:
        upload.result = "unknown"
