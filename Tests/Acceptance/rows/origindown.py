"""The origin is down for 60 s under 200 completed uploads: all are delivered once after it returns.

Meanwhile clients are told what their protocol has for it (503 with `?0` and the offset, or 423, each with Retry-After)
and none sends a byte again; one in five goes away for good once its bytes are stored.
"""

import random
import threading
import time

import uploadscenario
from harness.uploadload import TUS, Upload, way_for
from harness.uploadorigin import UploadOrigin


def run(scenario):
    rng = random.Random(33)
    count, down = (40, 10) if scenario.quick else (200, 60)
    origin = UploadOrigin(scenario.bench.folder / "origin")
    pawl = uploadscenario.serve(scenario, origin, site={"tus-wait": "4s" if scenario.quick else "12s"})
    begun, uploads = time.monotonic(), []
    for i in range(count):
        dialect = TUS if i % 3 == 0 else 3 + i % 8
        leaves = i % 5 == 4  # in ways whose last byte completes
        way = (
            rng.choice(["whole", "override"] if dialect == TUS else ["whole", "careful"])
            if leaves
            else way_for(dialect, rng)
        )
        upload = Upload(pawl.where, f"down-{i}", rng.randint(70_000, 2_000_000), dialect, way)
        upload.wait_at_most, upload.all_at_creation, upload.blind, upload.leaves = 4, 0, 0, leaves
        uploads.append(upload)

    def client(upload):
        if upload.leaves:
            # All bytes, a cut after the last one, and never back.
            upload.cuts = [(upload.size, "settled")]
            upload.run(240, until=lambda u: u.cuts_made or u.floor >= u.size)
            upload.result = "left"
        else:
            upload.run(240)

    threads = [threading.Thread(target=client, args=(u,), daemon=True) for u in uploads]
    for thread in threads:
        thread.start()
        time.sleep(0.005)
    time.sleep(max(0, down - (time.monotonic() - begun)))
    stored = sum(u.floor >= u.size or u.result == "left" or u.reach >= u.size for u in uploads)
    refused = {}
    for upload in uploads:
        for status, times in upload.refusals.items():
            refused[status] = refused.get(status, 0) + times
    scenario.bench.use(origin)
    back = time.monotonic()
    for thread in threads:
        thread.join(max(0.1, back + 120 - time.monotonic()))
    scenario.require(not any(t.is_alive() for t in threads), "clients hang")
    end = back + 60
    while len({d.key for d in origin.deliveries() if d.whole}) < count and time.monotonic() < end:
        time.sleep(0.5)
    last = max((d.answered or 0 for d in origin.deliveries()), default=0)
    left = [u for u in uploads if u.result == "left"]
    counts = uploadscenario.judge(scenario, pawl, origin, [u for u in uploads if u.result != "left"], kills=None)
    by_key = origin.by_key()
    for upload in left:
        whole = [d for d in by_key.get(upload.now_key, []) if d.whole]
        scenario.require(
            len(whole) == 1 and whole[0].sha == upload.content.sha256(),
            f"left after its last byte: {whole}; {upload!r}",
        )
        counts["delivered"] += len(whole)
    scenario.figure("uploads complete when the origin returned", stored, count, at_least=True)
    scenario.figure("seconds it was down", round(back - begun, 1))
    scenario.figure("whole bodies at the origin", counts["delivered"], count)
    scenario.figure("delivered more than once", counts["delivered more than once"], 0)
    scenario.figure("answered to the client", counts["answered"], count - len(left), at_least=True)
    scenario.figure("last answer after its return", round(last - back, 1), unit="s")
    again = [u for u in uploads if u.sent > u.size]
    for each in again[:5]:
        scenario.require(False, f"bytes were sent again: {each!r}")
    scenario.figure("bytes sent again", sum(u.sent - u.size for u in again), 0)
    scenario.figure("answers that were wrong", counts["violations"], 0)
    scenario.note(f"told while it was down: {refused}")
