"""SIGUSR2: a new process takes over from the running one."""

import os
import re
import signal
import threading
import time

from harness.checks import check, only, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import binary, wait_for
from harness.uploads import Dialect, Upload, append, status, stored, whole

only(("clear",), "it is about listeners, processes and stores", __name__)

FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20


def pids_of(pawl):
    """The process that serves: the one that the last event "upgraded" names, else the one that was started."""
    found = re.findall(r" upgraded pid=(\d+)", pawl.log())
    return int(found[-1]) if found else pawl.pid


def upgrade(bench, pawl, count=1):
    """SIGUSR2 to the serving process, and the wait for its successor; the gap in milliseconds."""
    pid = pids_of(pawl)
    before = len(re.findall(r" upgraded pid=", pawl.log()))
    os.kill(pid, signal.SIGUSR2)
    wait_for(
        lambda: len(re.findall(r" upgraded pid=", pawl.log())) > before or "upgrade-failed" in pawl.log(),
        60,
        "the upgrade",
    )
    true("upgrade-failed" not in pawl.log(), pawl.log()[-2000:])
    new = pids_of(pawl)
    bench.stack.callback(end_pid, new)
    return int(re.findall(r" gap-ms=(\d+)", pawl.log())[-1])


def end_pid(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def gone(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0] == "Z"
    except FileNotFoundError:
        return True


@check(
    "SIGUSR2 under load, 20 times: no download breaks, no connection is refused",
    area="upgrade",
    seconds=240,
    tags=("every",),
    over=("clear",),
    why="it is about listeners and stores",
)
def upgrades(bench):
    origin = bench.origin()
    content = Content("upgrade", 3 * MIB)
    origin.default = Resource(content, etag='"u"', fields=FRESH, pace=2 * MIB)
    small = Content("small", 20_000)
    origin.at("/small", Resource(small, fields=FRESH))
    pawl = bench.pawl(origin, pawl={"drain-timeout": "30s"})
    failures, done, counts = [], threading.Event(), {"small": 0, "large": 0}

    def load(name, wanted, kind):
        number = 0
        while not done.is_set():
            number += 1
            try:
                path = f"/{name}" if kind == "small" else f"/{name}-{number}"
                answer = get(pawl.address, path, keep=False, timeout=30)
                if not answer.complete or answer.sha != wanted.sha256():
                    failures.append(f"{kind} {answer} {answer.ended} {answer.note} {answer.length}")
                counts[kind] += 1
            except Exception as error:
                failures.append(f"{kind} {error!r}")

    threads = [threading.Thread(target=load, args=(f"l{n}", content, "large")) for n in range(20)]
    threads += [threading.Thread(target=load, args=("small", small, "small")) for n in range(2)]
    for thread in threads:
        thread.start()
    gaps = []
    for _ in range(20):
        before = dict(counts)
        gaps.append(upgrade(bench, pawl))
        wait_for(lambda before=before: all(counts[k] > before[k] for k in counts), 20, "answers after the upgrade")
    done.set()
    for thread in threads:
        thread.join(60)
    print(f"      gaps in ms: {gaps}; {counts}")
    same(failures, [], f"failures among {counts}")


@check(
    "SIGUSR2 with 100 downloads and 100 uploads running: downloads end whole, uploads go on where they were",
    area="upgrade",
    seconds=180,
)
def crowd(bench):
    origin = bench.origin()
    content = Content("crowd", 2 * MIB)
    gate = threading.Event()
    body = Content("crowd upload", 300_000).read()

    def answer(request):
        if request.method in ("POST", "PUT", "PATCH"):
            return stored(request)
        return Resource(content, etag='"c"', fields=FRESH, gates=((MIB, gate),))

    origin.default = answer
    pawl = bench.pawl(
        origin,
        site={"min-resumable": "0"},
        pawl={"drain-timeout": "60s"},
        upstream={"max-connections": "400", "max-share-per-client": "100%"},
        extra={"spool:default": {"max-share-per-client": "100%"}},
    )
    got, heads = {}, [threading.Event() for _ in range(100)]
    threads = []
    for number in range(100):
        thread = threading.Thread(
            target=lambda number=number: got.update(
                {
                    number: get(
                        pawl.address, f"/d{number}", keep=False, timeout=60, on_head=lambda a: heads[number].set()
                    )
                }
            )
        )
        thread.start()
        threads.append(thread)
    for each in heads:
        true(each.wait(30), "no head of a download")
    dialect, uploads = Dialect(9), []
    for number in range(100):
        client = bench.use(Upload(pawl.address, 30))
        client.create(dialect, True, len(body))
        uploads.append((client, client.location()))
        client.send(body[:200_000])
    spool = pawl.folder / "state"
    wait_for(
        lambda: sum(each.stat().st_size >= 200_000 for each in spool.glob("**/bodies/*") if each.is_file()) >= 100,
        30,
        "the bytes of the uploads",
    )
    gap = upgrade(bench, pawl)
    print(f"      gap {gap} ms")
    offsets = []
    for client, location in uploads:
        said = client.answer()
        same((said.status, dialect.said(said)), (503, False), "an upload that was ended early")
        told = int(said.get("Upload-Offset"))
        offset = int(status(pawl.address, dialect, location).get("Upload-Offset"))
        same(offset, told, "the offset at the new process")
        offsets.append(offset)
        same(append(pawl.address, dialect, location, offset, body[offset:]).status, 200, "the end of an upload")
    same(set(offsets), {200_000}, "offsets")
    gate.set()
    for thread in threads:
        thread.join(60)
    same({(a.complete, a.sha == content.sha256()) for a in got.values()}, {(True, True)}, "downloads over the upgrade")
    bodies = [request for request in whole(origin)]
    same(len(bodies), 100, "deliveries")
    same({request.body == body for request in bodies}, {True}, "bytes at the origin")
    same(pawl.wait(60), 0, "the exit status of the old process")
    same(get(pawl.address, "/d1", keep=False).sha, content.sha256(), "at the new process")


@check("a new process that cannot read its file leaves the old one serving", area="upgrade")
def failing(bench):
    origin = bench.origin()
    origin.default = Resource(b"x", fields=FRESH)
    pawl = bench.pawl(origin)
    same(get(pawl.address, "/x").status, 200, "before")
    right = pawl.file.read_text()
    pawl.file.write_text(right + "\n[upstream:app\n")
    os.kill(pawl.pid, signal.SIGUSR2)
    wait_for(lambda: "upgrade-failed" in pawl.log(), 30, "the failure")
    true("before it was ready (exit status 78)" in pawl.log(), pawl.log()[-1000:])
    true(pawl.running(), "the old process ended")
    same(get(pawl.address, "/x").status, 200, "after a wrong file")
    pawl.file.write_text(right)
    upgrade_count = pawl.log().count("upgrade-failed")
    same(upgrade_count, 1, "failures")
    new = None
    os.kill(pawl.pid, signal.SIGUSR2)
    wait_for(lambda: " upgraded pid=" in pawl.log(), 30, "the upgrade")
    new = int(re.findall(r" upgraded pid=(\d+)", pawl.log())[-1])
    bench.stack.callback(end_pid, new)
    same(pawl.wait(20), 0, "the exit status of the old process")
    true(get(pawl.address, "/x").hit, "the cache was lost")


@check("a file with another state-dir or spool path: the upgrade is refused, and the uploads stay", area="upgrade")
def stranding(bench):
    origin = bench.origin()
    origin.default = stored
    spool = {"spool:default": {"path": "spool-a"}}
    pawl = bench.pawl(origin, site={"min-resumable": "0"}, extra=spool)
    dialect = Dialect(9)
    client = bench.use(Upload(pawl.address, 20))
    client.create(dialect, True, 1000)
    location = client.location()
    right = pawl.file.read_text()
    for old, new, why in (
        ("state-dir = state", "state-dir = other", "cannot be changed while pawl runs"),
        ("path = spool-a", "path = spool-b", "reload first"),
    ):
        pawl.file.write_text(right.replace(old, new))
        os.kill(pawl.pid, signal.SIGUSR2)
        wait_for(lambda why=why: re.search(f"upgrade-refused .*{why}", pawl.log()), 10, "the refusal")
        true(pawl.running(), "it ended")
    client.cut()
    wait_for(lambda: status(pawl.address, dialect, location).status == 204, 5, "the upload")
    pawl.file.write_text(right)
    upgrade(bench, pawl)


@check("SIGTERM during an upgrade ends the new process, too", area="upgrade")
def ended_meanwhile(bench):
    origin = bench.origin()
    origin.default = Resource(b"x", fields=FRESH)
    pawl = bench.pawl(origin)
    same(get(pawl.address, "/x").status, 200, "before")
    os.kill(pawl.pid, signal.SIGUSR2)
    wait_for(lambda: " upgrading " in pawl.log(), 10, "the upgrade")
    os.kill(pawl.pid, signal.SIGTERM)
    same(pawl.wait(30), 0, "the exit status of the old process")
    wait_for(lambda: not children(pawl), 20, "the end of the new process")


@check("the file of a unix socket stays over upgrades, and goes with the last process", area="upgrade")
def unix_file(bench):
    origin = bench.origin()
    origin.default = Resource(b"x", fields=FRESH)
    path = bench.folder / "unix.sock"
    pawl = bench.pawl(origin, start=False, listen={"address": f"unix:{path}"})
    pawl.start(ready=0)
    wait_for(path.exists, 10, "the socket")
    wait_for(lambda: " listening " in pawl.log(), 10, "the start")
    for _ in range(2):
        old = pids_of(pawl)
        upgrade(bench, pawl)
        wait_for(lambda old=old: gone(old), 20, "the end of the old process")
        same(get(f"unix:{path}", "/x").status, 200, "over the unix socket")
    os.kill(pids_of(pawl), signal.SIGTERM)
    wait_for(lambda: gone(pids_of(pawl)), 20, "the end of the last process")
    true(not path.exists(), "the file of the socket stays")


@check(
    "a new binary that ends after the old one has let go: the old one takes its stores back and serves on",
    area="upgrade",
)
def takes_back(bench):
    origin = bench.origin()
    content = Content("takes back", 2 * MIB)
    gate = threading.Event()
    origin.default = stored
    origin.at("/x", Resource(b"x", fields=FRESH))
    origin.at("/slow", Resource(content, etag='"s"', fields=FRESH, gates=((MIB, gate),)))
    body = Content("takes back upload", 200_000).read()
    program = bench.folder / "pawl-binary"
    program.symlink_to(binary())
    pawl = bench.pawl(origin, start=False, site={"min-resumable": "0"}, pawl={"drain-timeout": "20s"})
    pawl.program = str(program)
    pawl.start()
    get(pawl.address, "/x")
    heads, got = threading.Event(), {}
    thread = threading.Thread(
        target=lambda: got.update(a=get(pawl.address, "/slow", keep=False, on_head=lambda a: heads.set()))
    )
    thread.start()
    true(heads.wait(5), "no head")
    dialect = Dialect(9)
    client = bench.use(Upload(pawl.address, 20))
    client.create(dialect, True, len(body))
    location = client.location()
    client.send(body[:100_000])
    program.unlink()
    half = "echo prepared >&$PAWL_HANDED_LINE; read -u $PAWL_HANDED_LINE word; exit 5"
    for script, count in (("exit 3", 1), (half, 2)):
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)
        os.kill(pawl.pid, signal.SIGUSR2)
        wait_for(lambda count=count: pawl.log().count("upgrade-failed") == count, 30, "the failure")
        same(get(pawl.address, "/x").status, 200, "after the failure")
    true("ended before it served (exit status 5)" in pawl.log(), pawl.log()[-1500:])
    same(client.answer().status, 503, "the upload that was ended early")
    offset = int(status(pawl.address, dialect, location).get("Upload-Offset"))
    same(append(pawl.address, dialect, location, offset, body[offset:]).status, 200, "the end of the upload")
    same(len(whole(origin)), 1, "deliveries")
    true(get(pawl.address, "/x").hit, "the cache was lost")
    gate.set()
    thread.join(20)
    same((got["a"].complete, got["a"].sha == content.sha256()), (True, True), "the download over all that")
    same(get(pawl.address, "/slow", keep=False).sha, content.sha256(), "the same again")
    # At last a binary that works.
    program.unlink()
    program.symlink_to(binary())
    upgrade_failures = pawl.log().count("upgrade-failed")
    os.kill(pawl.pid, signal.SIGUSR2)
    wait_for(lambda: " upgraded pid=" in pawl.log(), 30, "the upgrade")
    bench.stack.callback(end_pid, int(re.findall(r" upgraded pid=(\d+)", pawl.log())[-1]))
    same(pawl.log().count("upgrade-failed"), upgrade_failures, "failures")
    same(pawl.wait(20), 0, "exit status")
    true(get(pawl.address, "/x").hit, "the cache was lost")


@check(
    "kill -9 of the old process while it hands over, or of the new one: what is left serves, and nothing is lost",
    area="upgrade",
    seconds=120,
)
def killed(bench):
    origin = bench.origin()
    content = Content("killed", MIB)
    origin.default = stored
    origin.at("/x", Resource(content, fields=FRESH))
    body = Content("killed upload", 200_000).read()
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "before")
    dialect = Dialect(9)
    with Upload(pawl.address) as client:
        client.create(dialect, True, len(body))
        location = client.location()
        client.send(body[:100_000])
        spool = pawl.folder / "state"
        wait_for(
            lambda: any(e.stat().st_size >= 100_000 for e in spool.glob("**/bodies/*") if e.is_file()), 5, "the bytes"
        )
        os.kill(pawl.pid, signal.SIGUSR2)
        time.sleep(0.05)
        pawl.process.kill()
        pawl.process.wait()
    ready = len(pawl.addresses)
    # The new process goes on by itself once the old one has ended, if it was started already.
    deadline = time.monotonic() + 10
    address, served = pawl.addresses[0], False
    while time.monotonic() < deadline and not served:
        try:
            served = get(address, "/x", keep=False, timeout=3).status == 200
        except (OSError, AssertionError):
            time.sleep(0.05)
            if not children(pawl):
                break
    for pid in children(pawl):
        bench.stack.callback(end_pid, pid)
    if not served:
        pawl.start()
        address = pawl.address
    offset = int(status(address, dialect, location).get("Upload-Offset"))
    true(0 <= offset <= 100_000, f"offset {offset}")
    same(append(address, dialect, location, offset, body[offset:]).status, 200, "the end")
    same(len(whole(origin)), 1, "deliveries")
    true(ready >= 1, "never ready")


def children(pawl):
    """Processes that serve with the file of this pawl."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            line = open(f"/proc/{name}/cmdline", "rb").read()
        except OSError:
            continue
        if str(pawl.file).encode() in line and not gone(int(name)):
            found.append(int(name))
    return found
