"""CPU seconds for each GB received, synced and forwarded, and for each 1 MiB upload (reported).

One worker each, pinned to one core, client and origin on the other; interleaved rounds, medians. pawl's uploads are
RUFH version 6 with durability data and none, tus, and version 6 that is only received and synced; plain requests that
it streams are there to compare. Deploy/compare holds uploads against other servers.
"""

import os
import pathlib
import select
import statistics
import time

import uploadscenario
from harness.checks import Skip
from harness.client import Client, head
from harness.content import Content
from harness.process import have
from harness.uploadorigin import UploadOrigin

MIB = 1 << 20
GB = 1_000_000_000
VERSION = (("Upload-Draft-Interop-Version", "6"),)


def run(scenario):
    if not have("taskset"):
        raise Skip("taskset is needed")
    if (os.cpu_count() or 1) < 2:
        raise Skip("two cores are needed")
    large, small = (100_000_000, 40) if scenario.quick else (GB, 400)
    os.sched_setaffinity(0, {1})
    scenario.bench.stack.callback(lambda: os.sched_setaffinity(0, set(range(os.cpu_count()))))
    shared = pathlib.Path("/dev/shm")
    body = (
        shared
        if shared.is_dir() and os.statvfs(shared).f_bavail * os.statvfs(shared).f_frsize > 2 * large
        else scenario.bench.folder
    ) / f"pawl-scenario-{os.getpid()}"
    scenario.bench.stack.callback(lambda: body.unlink(missing_ok=True))
    with open(body, "wb") as file:
        for piece in Content("cpu", large).pieces():
            file.write(piece)
    origin = scenario.bench.use(
        UploadOrigin(scenario.bench.folder / "origin", hashes=False, prefix=["taskset", "-c", "1"])
    )
    pin = ["taskset", "-c", "0"]
    data = uploadscenario.serve(scenario, origin, "data", prefix=pin, workers=1, **{"log-level": "warning"})
    none = uploadscenario.serve(
        scenario, origin, "none", prefix=pin, spool={"durability": "none"}, workers=1, **{"log-level": "warning"}
    )
    sides = {
        "pawl, RUFH": (data.where, data.cpu, rufh),
        "pawl, RUFH, received and synced only": (data.where, data.cpu, held),
        "pawl, tus": (data.where, data.cpu, tus),
        "pawl, RUFH, durability none": (none.where, none.cpu, rufh),
        "pawl, plain, streamed": (data.where, data.cpu, plain),
    }
    for what, size, times, rounds in (
        (f"{large / GB:g} GB", large, 1, 3),
        ("1 MiB upload", MIB, small, 3 if scenario.quick else 5),
    ):
        costs, spent = {name: [] for name in sides}, {name: [] for name in sides}
        with open(body, "rb") as file:
            for turn in range(rounds + 1):
                for name, (address, cpu, way) in sides.items():
                    before, begun = cpu(), time.monotonic()
                    with Client(address, 120) as client:
                        for _ in range(times if turn else max(1, times // 10)):
                            way(scenario, client, file, size)
                    if turn:  # the first round warms up
                        costs[name].append((cpu() - before) / times)
                        spent[name].append((time.monotonic() - begun) / times)
                    time.sleep(0.2)
        for name in sides:
            cost, took = statistics.median(costs[name]), statistics.median(spent[name])
            if size == MIB:
                scenario.figure(f"{what}, {name}: CPU", round(cost * 1e6), unit="us")
                scenario.figure(f"{what}, {name}: time", round(took * 1e3, 2), unit="ms")
            else:
                scenario.figure(f"a GB, {name}: CPU", round(cost * GB / size, 3), unit="s")
                scenario.figure(f"a GB, {name}: MB/s", round(size / took / 1e6))


def send(client, file, size):
    """The first `size` bytes of the file; sockets with a timeout do not block, so their room is waited for."""
    at = 0
    while at < size:
        select.select([], [client.socket], [], 120)
        at += os.sendfile(client.socket.fileno(), file.fileno(), at, min(size - at, 4 * MIB))


def plain(scenario, client, file, size):
    client.send(head("/plain", "PUT", (("Content-Length", str(size)),)))
    send(client, file, size)
    answer = client.response("PUT")
    scenario.require(answer.status == 201, f"plain: {answer}")


def rufh(scenario, client, file, size):
    client.send(head("/up", "POST", VERSION + (("Upload-Complete", "?1"), ("Content-Length", str(size)))))
    send(client, file, size)
    answer = client.response("POST")
    scenario.require(answer.status == 201 and answer.get("X-Origin"), f"RUFH: {answer}")


def held(scenario, client, file, size):
    client.send(head("/up", "POST", VERSION + (("Upload-Complete", "?0"), ("Content-Length", str(size)))))
    send(client, file, size)
    answer = client.response("POST")
    scenario.require(answer.status == 201 and answer.get("Upload-Offset") == str(size), f"RUFH, held: {answer}")
    location = answer.get("Location") or ""
    client.send(head(location[location.find("/", 8) :], "DELETE", VERSION))
    scenario.require(client.response("DELETE").status == 204, "DELETE")


def tus(scenario, client, file, size):
    version = (("Tus-Resumable", "1.0.0"),)
    client.send(head("/up", "POST", version + (("Upload-Length", str(size)), ("Content-Length", "0"))))
    location = client.response("POST").get("Location") or ""
    client.send(
        head(
            location[location.find("/", 8) :],
            "PATCH",
            version
            + (
                ("Upload-Offset", "0"),
                ("Content-Type", "application/offset+octet-stream"),
                ("Content-Length", str(size)),
            ),
        )
    )
    send(client, file, size)
    answer = client.response("PATCH")
    scenario.require(answer.status == 204, f"tus: {answer}")
