"""What an answer costs the kernel: system calls, counted."""

import pathlib
import shutil
import signal
import subprocess
import time

from harness.checks import CLEAR, Skip, check, only, same, true
from harness.client import Client, get
from harness.origin import Resource
from harness.process import LIVING, status_field, wait_for

only(CLEAR, "counts what HTTP/1.1 in clear costs, behind the wire", __name__)

REQUESTS = 1000
FRESH = (("Cache-Control", "max-age=600"),)


def loop_thread(pawl):
    """The thread of the only loop, as the kernel numbers it."""
    tasks = pathlib.Path(f"/proc/{pawl.pid}/task")
    return next(int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == "pawl-loop-0")


def counted(pawl, work):
    """The loop's system calls while `work` runs: {name: count}."""
    if not shutil.which("strace"):
        raise Skip("strace is needed")
    table = pawl.folder / "calls"
    strace = subprocess.Popen(
        ["strace", "-c", "-U", "calls,name", "-o", str(table), "-p", str(loop_thread(pawl))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    LIVING.add(strace)
    try:
        line = strace.stderr.readline()
        if b"attached" not in line:
            raise Skip(f"strace may not attach: {line!r}")
        work()
        strace.send_signal(signal.SIGINT)
        strace.wait(10)
    finally:
        if strace.poll() is None:
            strace.kill()
        strace.stderr.close()
        LIVING.discard(strace)
    rows = [line.split() for line in table.read_text().splitlines()]
    return {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit() and row[1] != "total"}


def calls_a_request(bench, size, fields=FRESH, hit=True, packed=0):
    """System calls of an answer of `size` bytes, one after another on one connection; what lies in files begins at 4
    KiB."""
    origin = bench.origin()
    origin.default = Resource(bytes(range(256)) * (size // 256), fields=fields)
    pawl = bench.pawl(
        origin,
        pawl={"workers": 1, "access-log": "off", "log-level": "info"},
        cache={"memory-object": "4K", "packed-object": packed},
    )
    for _ in range(3):
        get(pawl.address, "/hit")
    with Client(pawl.address) as client:

        def ask():
            client.request("/hit")
            answer = client.response()
            same(answer.count, size, "bytes")
            return answer

        wait_for(lambda: ask().hit == hit, 5, "a hit" if hit else "what is no hit")

        def work():
            for _ in range(REQUESTS):
                same(ask().hit, hit, "whether it is a hit")

        return counted(pawl, work)


def bounded(calls, limit):
    # The wait that strace interrupts, and one that was under way.
    total = sum(calls.values())
    true(total <= limit * REQUESTS + 10, f"{total / REQUESTS} calls a request, at most {limit}: {calls}")


@check("a hit from memory takes three system calls: wait, read, write", area="cost")
def memory(bench):
    bounded(calls_a_request(bench, 1024), 3)


@check("a small hit from a pack takes four system calls: wait, read, read, write", area="cost")
def pack(bench):
    bounded(calls_a_request(bench, 6 << 10, packed="64K"), 4)


def sent_from_a_file(bench, packed):
    """A look at the file in each millisecond, at most, and then: wait, read, write, sendfile."""
    begun = time.monotonic()
    calls = calls_a_request(bench, 16 << 10, packed=packed)
    looks = sum(calls.pop(name, 0) for name in ("newfstatat", "fstat"))
    true(looks <= (time.monotonic() - begun) * 1000, f"{looks} looks at the file")
    true(calls.get("sendfile", calls.get("sendfile64", 0)) >= REQUESTS - 10, f"it was not sent from its file: {calls}")
    bounded(calls, 4)


@check(
    "a larger hit from a pack takes four: wait, read, write, sendfile; and a look at the pack in each millisecond",
    area="cost",
)
def larger(bench):
    sent_from_a_file(bench, "64K")


@check(
    "a hit from a file takes four system calls: wait, read, write, sendfile; and a look at the file in each "
    "millisecond",
    area="cost",
)
def file(bench):
    sent_from_a_file(bench, 0)


@check(
    "an answer that passes through takes seven system calls; its head and its content leave in one write", area="cost"
)
def passed(bench):
    calls = calls_a_request(bench, 1024, (("Cache-Control", "no-store"),), hit=False)
    bounded(calls, 7)
    writes = sum(calls.get(name, 0) for name in ("write", "writev", "sendto", "sendmsg"))
    true(writes <= 2 * REQUESTS + 10, f"{writes / REQUESTS} writes a request, at most 2: {calls}")


@check("idle connections wake nobody", area="cost")
def idle(bench):
    origin = bench.origin()
    origin.default = Resource(b"0123456789", fields=FRESH)
    pawl = bench.pawl(origin, pawl={"workers": 1, "access-log": "off"})
    clients = [bench.use(Client(pawl.address)) for _ in range(200)]
    for client in clients:
        client.request("/hit")
        same(client.response().status, 200, "status")
    thread = f"{pawl.pid}/task/{loop_thread(pawl)}"
    time.sleep(0.5)
    before = status_field(thread, "voluntary_ctxt_switches")
    time.sleep(2)
    same(status_field(thread, "voluntary_ctxt_switches"), before, "times that the loop was woken within two seconds")
