"""300 uploads of 1 to 200 MB, cut 1 to 20 times each, all interop versions and tus mixed, pawl killed with -9 50 times
meanwhile.

At most once: every body at the origin at most once with the right SHA-256, exactly once but for those shown `unknown`,
and those only where a kill fell between the last byte and the answer. Then 100 more with `delivery = at-least-once`:
never none. No announced offset is ever taken back. Sizes are spread evenly over their logarithm (half are below 14 MB,
a quarter above 53 MB): about 11 GB and 4 GB; ten clients at a time, cuts at random bytes by resets, FINs, half-closes
and connections that stay and are taken over.
"""

import random
import threading

import uploadscenario
from harness.uploadload import TUS, Upload, dialects, random_cuts, way_for
from harness.uploadorigin import UploadOrigin
from scenarios import in_threads


def run(scenario):
    play(scenario, "at-most-once", *((30, 5, 50e6) if scenario.quick else (300, 50, 200e6)))
    play(scenario, "at-least-once", *((10, 2, 50e6) if scenario.quick else (100, 20, 200e6)))


def play(scenario, delivery, count, kill_count, most):
    rng = random.Random(31)
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / f"origin-{delivery}"))
    pawl = uploadscenario.serve(scenario, origin, delivery, site={"delivery": delivery})
    uploads = []
    for i in range(count):
        dialect = i % 8 + 3 if i < 8 else TUS if i < 12 else dialects(rng)
        size = int({0: 1e6, 1: most}.get(i) or 1e6 * (most / 1e6) ** rng.random())
        uploads.append(
            Upload(
                pawl.where,
                f"{delivery}-{i}",
                size,
                dialect,
                way_for(dialect, rng),
                method=rng.choice(["POST", "POST", "PUT"]),
                cuts=random_cuts(rng, size),
                fields=(("X-Test-Delay", f"{rng.choice([0, 0, 0.1, 0.5]) * rng.random():.3f}"),),
            )
        )
    rng.shuffle(uploads)
    total, lock, ended = sum(u.size for u in uploads), threading.Lock(), []
    with uploadscenario.Watch(pawl) as watch:
        with uploadscenario.Kills(
            pawl, kill_count, lambda: sum(u.size if u.result else u.floor for u in uploads) / total, rng
        ) as kills:

            def one(upload):
                upload.run(240, until=lambda u: watch.over(u) or kills.failure)
                if upload.result is None and watch.over(upload):
                    upload.result = "unknown"
                with lock:
                    ended.append(upload)

            in_threads(10, uploads, one, scenario)
    scenario.require(kills.failure is None, kills.failure)
    scenario.require(not watch.failures, f"pawl uploads list: {watch.failures[:2]}")
    counts = uploadscenario.judge(scenario, pawl, origin, [u for u in uploads if u.result], delivery, kills.times)
    scenario.note(
        f"{delivery}: {total / 1e9:.1f} GB, cuts {sum(len(u.cuts_made) for u in uploads)}, resumptions "
        f"{sum(u.resumptions for u in uploads)}, "
        f"attempts at the origin {counts['attempts']}, interim answers {sum(u.interims for u in uploads)}, "
        f"bytes sent again by clients {sum(max(0, u.sent - u.size) for u in uploads) / 1e6:.0f} MB"
    )
    scenario.note(
        f"{delivery}: cut appends that were read only after the HEAD that followed: {sum(u.overtaken for u in uploads)}"
    )
    scenario.figure(f"{delivery}: uploads", len(ended), count, at_least=True)
    scenario.figure(f"{delivery}: kills", len(kills.times), kill_count, at_least=True)
    scenario.figure(f"{delivery}: wrong bodies at the origin", counts["wrong bodies"], 0)
    scenario.figure(f"{delivery}: announced offsets or answers that were wrong", counts["violations"], 0)
    scenario.figure(f"{delivery}: answered to the client", counts["answered"])
    if delivery == "at-most-once":
        scenario.figure(f"{delivery}: delivered more than once", counts["delivered more than once"], 0)
        scenario.figure(f"{delivery}: shown unknown", counts["unknown"])
        scenario.figure(
            f"{delivery}: unknown without a kill between last byte and answer", counts["unknown without cause"], 0
        )
    else:
        scenario.figure(f"{delivery}: delivered more than once", counts["delivered more than once"])
        scenario.figure(f"{delivery}: not delivered", counts["not delivered"], 0)
    scenario.figure(f"{delivery}: slowest start after a kill", round(max(kills.starts, default=0), 3), unit="s")
    pawl.stop()
    origin.kill()
