"""The client is cut exactly after its last byte, 1,000 times, in every interop version and tus.

The origin saw one request each, and the client can fetch the origin's answer each time, and once more. The cut is a
reset after the kernel's acknowledgement, a FIN, or a half-close; one in ten is a reset at once, which may take bytes
along.
"""

import random
import time

import uploadscenario
from harness.uploadload import TUS, Upload, dialects
from harness.uploadorigin import UploadOrigin
from scenarios import in_threads


def run(scenario):
    rng, count = random.Random(32), 100 if scenario.quick else 1000
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / "origin"))
    pawl = uploadscenario.serve(scenario, origin)
    uploads, waits, asked = [], {}, {}
    for i in range(count):
        dialect, size = dialects(rng), rng.choice([70_000, 200_000, 1_000_000]) + rng.randrange(1000)
        way = rng.choice(
            ["whole", "creation", "override", "whole"]
            if dialect == TUS
            else ["whole", "whole", "chunked", "expect", "careful"]
        )
        how = rng.choice(["settled"] * 5 + ["fin"] * 3 + ["half", "rst"])
        uploads.append(
            Upload(
                pawl.where,
                f"last-{i}",
                size,
                dialect,
                way,
                cuts=[(size, how)],
                fields=(("X-Test-Delay", f"{rng.choice([0, 0, 0.05, 0.3])}"),),
            )
        )
        uploads[-1].how, uploads[-1].all_at_creation, uploads[-1].blind = how, 0, 0
        waits[uploads[-1].key] = rng.choice([0, 0, 0.05, 0.6])

    def one(upload):
        upload.run(60, until=lambda u: u.cuts_made)
        if upload.result is None:
            time.sleep(waits[upload.key])
            asked[upload.key] = time.monotonic()
            upload.run(60)
        if upload.result == "answered":
            again = upload.again()
            scenario.require(
                again.body == upload.body and again.get("X-Origin"),
                f"asked again: {again.status} {again.fields} {again.body[:100]!r}; {upload!r}",
            )

    in_threads(8, uploads, one, scenario)
    done = [u for u in uploads if u.result]
    counts = uploadscenario.judge(scenario, pawl, origin, done, kills=None)
    kept = [u for u in done if u.how != "rst"]
    again = [u for u in kept if u.sent > u.size and waits[u.key] > 0.5]
    for each in again[:5]:
        scenario.require(False, f"bytes that the kernel had acknowledged had to be sent again: {each!r}")
    scenario.figure("cuts after the last byte", sum(len(u.cuts_made) for u in done), count, at_least=True)
    scenario.figure("acknowledged last bytes that did not count, asked after 0.6 s", len(again), 0)
    scenario.figure("the same, asked sooner", sum(u.sent > u.size for u in kept) - len(again))
    by_key = origin.by_key()
    alone = [u for u in kept if waits[u.key] > 0.5 and u.how != "half" and u.key in asked]
    scenario.figure(
        "at the origin before the client asked again (after 0.6 s)",
        sum(any(d.whole and d.ended < asked[u.key] for d in by_key.get(u.now_key, [])) for u in alone),
        len(alone),
        at_least=True,
    )
    scenario.figure("requests that reached the origin whole", counts["delivered"], len(done))
    scenario.figure("not delivered", counts["not delivered"], 0)
    scenario.figure("requests to the origin in all", counts["attempts"])
    scenario.figure("answers fetched", counts["answered"], count, at_least=True)
    scenario.figure("announced offsets or answers that were wrong", counts["violations"], 0)
