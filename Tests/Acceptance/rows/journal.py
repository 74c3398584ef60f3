"""pawl killed between system calls, and the origin killed at every stage, while one completed upload is forwarded.

At most once: never two whole bodies at the origin, and one or `unknown`, shown. At least once: never none. strace kills
pawl before the
N-th call of a kind on any of its threads, from the arrival of the last bytes until the answer is stored; N rises until
no kill comes.
Then it is killed while the origin has the whole body and has not answered, and once more at the points of the start
that follows.
"""

import os
import signal
import subprocess
import threading
import time

import uploadscenario
from harness.checks import Skip
from harness.process import LIVING, StartFailure, children, have, wait_for
from harness.uploadload import TUS, Upload
from harness.uploadorigin import STAGES, UploadOrigin

#: Kinds of system calls, and how many of each are tried at most.
KINDS = (
    ("fdatasync,fsync", 8),
    ("pwrite64,pwritev,pwritev2", 12),
    ("sendfile,splice", 5),
    ("sendto,sendmsg,write,writev", 9),
    ("recvfrom,recvmsg,read,readv", 8),
    ("socket,connect", 3),
    ("openat,close", 6),
    ("unlink,unlinkat,ftruncate,fallocate", 4),
    ("epoll_ctl", 4),
    ("pread64,lseek,fcntl", 6),
)


def run(scenario):
    if not have("strace"):
        raise Skip("strace is needed")
    for delivery in ("at-most-once", "at-least-once"):
        one_delivery(scenario, delivery)


def one_delivery(scenario, delivery):
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / f"origin-{delivery}", small=True))
    stop = threading.Event()
    threading.Thread(target=origin.keep_alive, args=(stop, 0.3), daemon=True).start()
    scenario.bench.stack.callback(stop.set)
    pawl = uploadscenario.serve(
        scenario, origin, delivery, site={"delivery": delivery}, upstream={"response-timeout": "20s"}
    )
    uploads, kills, points, number = [], [], {}, 0
    for kind, most in KINDS:
        missed = 0
        for count in range(1, 3 if scenario.quick else most + 1):
            upload = made(pawl, f"{delivery}-{number}")
            uploads.append(upload)
            number += 1
            if not attached(scenario, pawl, upload, kind, count, kills):
                missed += 1
                if missed == 2:
                    break
            else:
                points[kind] = points.get(kind, 0) + 1
            if len(scenario.failures) > 20:
                break
    again = 0
    for kind, most in (("fdatasync,fsync", 5), ("pwrite64,pwritev,pwritev2", 10), ("unlink,unlinkat,ftruncate", 4)):
        for count in range(1, 2 if scenario.quick else most + 1):
            upload = made(pawl, f"{delivery}-twice-{number}", (("X-Test-Delay-First", "20"),))
            number += 1
            uploads.append(upload)
            killed = killed_twice(scenario, pawl, origin, upload, kind, count)
            again += killed
            if not killed or len(scenario.failures) > 20:
                break
    stages = {}
    for stage in STAGES:
        upload = made(pawl, f"{delivery}-{stage}", (("X-Test-Die", stage),), 16_000_000)
        stages[stage], upload.body_may_be_lost = upload, stage in ("fields", "part")
        uploads.append(upload)
        finish(pawl, upload)
    counts = uploadscenario.judge(scenario, pawl, origin, uploads, delivery, kills=None, seconds=40)
    by_key = origin.by_key()
    if delivery == "at-most-once":
        for stage in ("head", "first", "middle", "answered"):
            scenario.require(stages[stage].result == "answered", f"the origin died at {stage}: {stages[stage]!r}")
    told = [
        f"{stage} {stages[stage].result} ({sum(d.whole for d in by_key.get(stages[stage].now_key, []))})"
        for stage in STAGES
    ]
    scenario.note(f"{delivery}, the origin dying, result and whole bodies: {', '.join(told)}")
    places = ", ".join(kind.split(",")[0] + " " + str(times) for kind, times in points.items())
    scenario.note(f"{delivery}, pawl killed before: {places}")
    scenario.figure(
        f"{delivery}: points at which pawl was killed", len(kills), 8 if scenario.quick else 30, at_least=True
    )
    scenario.figure(f"{delivery}: points at which it was killed again as it started", again, 2, at_least=True)
    scenario.figure(f"{delivery}: stages at which the origin died", len(STAGES))
    scenario.figure(f"{delivery}: whole bodies, of {len(uploads)} uploads", counts["delivered"])
    scenario.figure(f"{delivery}: shown unknown", counts["unknown"])
    scenario.figure(f"{delivery}: unknown before the origin had all but the last byte", counts["unknown early"], 0)
    if delivery == "at-most-once":
        scenario.figure(f"{delivery}: delivered more than once", counts["delivered more than once"], 0)
    else:
        scenario.figure(f"{delivery}: not delivered", counts["not delivered"], 0)
    stop.set()
    pawl.end()
    origin.kill()


def made(pawl, key, fields=(), size=400_000):
    upload = Upload(
        pawl.where, key, size, TUS if hash_of(key) % 3 == 0 else 3 + hash_of(key) % 8, "steps", fields=fields
    )
    upload.stop_at = upload.size - 1000
    upload.run(30, until=lambda u: u.floor >= u.stop_at)
    return upload


def hash_of(key):
    import zlib

    return zlib.crc32(key.encode())


def finish(pawl, upload, seconds=60):
    """Lets the client go on to the end; its outcome may be that it is listed as unknown."""
    with uploadscenario.Watch(pawl, 0.7) as watch:
        upload.result = None
        upload.run(seconds, until=watch.over)
    if upload.result is None:
        upload.result = "unknown"


def killed_twice(scenario, pawl, origin, upload, kind, count):
    """Killed with the last byte sent and no answer, and before the `count`-th call of the start after it; whether that
    kill came."""
    client = threading.Thread(target=finish, args=(pawl, upload), daemon=True)
    client.start()
    wait_for(lambda: any(d.whole for d in origin.deliveries(upload.now_key)), 20, "the whole body at the origin", 0.05)
    pawl.kill()
    pawl.prefix = [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        f"trace={kind}",
        "-e",
        f"inject={kind}:signal=KILL:when={count}",
    ]
    try:
        pawl.start()
        time.sleep(1)
    except StartFailure:
        pass
    killed = not pawl.running()
    for each in children(pawl.pid) if not killed else ():  # pawl itself, below strace
        os.kill(each, signal.SIGKILL)
    pawl.wait()
    pawl.prefix = []
    pawl.start()
    client.join(90)
    scenario.require(not client.is_alive(), f"twice, {kind} {count}: the client hangs: {upload!r}")
    return killed


def attached(scenario, pawl, upload, kind, count, kills):
    """Sends the last bytes while strace waits for the `count`-th call; whether pawl was killed."""
    strace = subprocess.Popen(
        [
            "strace",
            "-f",
            "-p",
            str(pawl.pid),
            "-o",
            "/dev/null",
            "-e",
            f"trace={kind}",
            "-e",
            f"inject={kind}:signal=KILL:when={count}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    LIVING.add(strace)
    try:
        line = strace.stderr.readline()
        if b"attached" not in line:
            raise Skip(f"strace may not attach: {line!r}")
        client = threading.Thread(target=finish, args=(pawl, upload), daemon=True)
        client.start()
        end, settled = time.monotonic() + 8, None
        while pawl.running() and time.monotonic() < end:
            time.sleep(0.02)
            if upload.result and settled is None:
                settled = time.monotonic()
            if settled and time.monotonic() > settled + 0.3:
                break
        killed = not pawl.running()
        if not killed:
            strace.terminate()
        strace.wait(10)
        if killed:
            kills.append(time.monotonic())
            pawl.kill()
            pawl.start()
        client.join(70)
        scenario.require(not client.is_alive(), f"{kind} {count}: the client hangs: {upload!r}")
        return killed
    finally:
        if strace.poll() is None:
            strace.kill()
        strace.stderr.close()
        LIVING.discard(strace)
