"""Start, readiness, drain, reload, signals."""

import signal
import socket
import threading
import time

from harness.checks import check, same, timely, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20


@check("SIGTERM drains: running transfers end whole, new connections are refused, exit 0", area="life", tags=("every",))
def drain(bench):
    origin = bench.origin()
    content = Content("drain", 4 * MIB)
    gates = {path: threading.Event() for path in ("/kept", "/plain")}
    origin.at("/kept", Resource(content, fields=FRESH, gates=((MIB, gates["/kept"]),)))
    origin.at("/plain", Resource(content, fields=(("Cache-Control", "no-store"),), gates=((MIB, gates["/plain"]),)))
    pawl = bench.pawl(origin, pawl={"drain-timeout": "20s"})
    got = {}
    threads = []
    idle = bench.use(Client(pawl.address))
    idle.request("*", method="OPTIONS")
    same(idle.response().status, 200, "a request before")
    for path in gates:
        heads = threading.Event()
        thread = threading.Thread(
            target=lambda path=path, heads=heads: got.update(
                {path: get(pawl.address, path, keep=False, on_head=lambda a: heads.set())}
            )
        )
        thread.start()
        threads.append(thread)
        true(heads.wait(5), f"no head of {path}")
    pawl.signal(signal.SIGTERM)

    def refused():
        try:
            socket.create_connection(("127.0.0.1", int(pawl.address.rsplit(":", 1)[1])), 1).close()
            return False
        except OSError:
            return True

    wait_for(refused, 5, "the refusal of new connections")
    true(pawl.running(), "ended before its transfers")
    same(idle.until_end(3)[1], "fin", "an idle connection during the drain")
    for gate in gates.values():
        gate.set()
    for thread in threads:
        thread.join(10)
    for path in gates:
        same((got[path].complete, got[path].sha), (True, content.sha256()), path)
    same(pawl.wait(5), 0, "exit code")


@check("drain-timeout ends what does not end by itself; the fill is kept", area="life", tags=("every",))
def drain_timeout(bench):
    origin = bench.origin()
    content = Content("drain2", 4 * MIB)
    gate = threading.Event()
    origin.at("/x", Resource(content, ranges=True, etag='"d"', fields=FRESH, gates=((2 * MIB, gate),)))
    pawl = bench.pawl(origin, pawl={"drain-timeout": "1s"})
    client = bench.use(Client(pawl.address))
    client.request("/x")
    client.response(limit=MIB, keep=False)
    begun = time.monotonic()
    same(pawl.stop(10), 0, "exit code")
    timely(0.5 < time.monotonic() - begun < 5, f"ended after {time.monotonic() - begun:.1f} s")
    gate.set()
    pawl.start()
    same(get(pawl.address, "/x", keep=False).sha, content.sha256(), "body after the restart")
    true(origin.sent("/x") <= content.size + MIB, f"{origin.sent('/x')} bytes")


@check("SIGTERM with nothing running ends at once; SIGINT too", area="life")
def quick_end(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin, pawl={"drain-timeout": "20s"})
    for number in (signal.SIGTERM, signal.SIGINT):
        begun = time.monotonic()
        pawl.signal(number)
        same(pawl.wait(10), 0, f"exit code after {number}")
        timely(time.monotonic() - begun < 2, "slow")
        pawl.start()


@check("SIGHUP reloads: new settings count, running transfers go on, a wrong file changes nothing", area="life")
def reload(bench):
    one, two = bench.origin(), bench.origin()
    content = Content("reload", 2 * MIB)
    gate = threading.Event()
    one.at("/x", Resource(b"one", fields=(("Cache-Control", "no-store"),)))
    two.at("/x", Resource(b"two", fields=(("Cache-Control", "no-store"),)))
    one.at("/long", Resource(content, fields=FRESH, gates=((MIB, gate),)))
    one.at("/kept", Resource(b"kept", fields=FRESH))
    pawl = bench.pawl(one)
    get(pawl.address, "/kept")
    got = {}
    heads = threading.Event()
    thread = threading.Thread(
        target=lambda: got.update(a=get(pawl.address, "/long", keep=False, on_head=lambda a: heads.set()))
    )
    thread.start()
    heads.wait(5)
    text = pawl.file.read_text()
    pawl.file.write_text(text.replace("[upstream:app]", "[upstream:app"))
    pawl.signal(signal.SIGHUP)
    time.sleep(0.5)
    same(get(pawl.address, "/x").body, b"one", "after a reload of a wrong file")
    pawl.file.write_text(text.replace(one.url, two.url))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: get(pawl.address, "/x").body == b"two", 5, "the new upstream")
    gate.set()
    thread.join(10)
    same((got["a"].complete, got["a"].sha), (True, content.sha256()), "the running transfer")
    true(get(pawl.address, "/kept").hit, "the cache was lost")


@check("SIGHUP reopens a log that was moved away", area="life")
def reopen(bench):
    origin = bench.origin()
    origin.default = Resource(b"x")
    pawl = bench.pawl(origin)
    get(pawl.address, "/before")
    pawl.access(count=1)
    log = pawl.folder / "access.log"
    log.rename(pawl.folder / "access.log.1")
    pawl.signal(signal.SIGHUP)
    wait_for(log.exists, 5, "a new log file")
    get(pawl.address, "/after")
    true("/after" in str(pawl.access("/after")), "nothing in the new log")


@check("tells systemd READY=1 when it accepts, STOPPING=1 when it ends; Ready line", area="life")
def notify(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x"))
    path = str(bench.folder / "notify")
    receiver = bench.use(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    receiver.bind(path)
    receiver.settimeout(10)
    pawl = bench.pawl(origin, environment={"NOTIFY_SOCKET": path})
    said = receiver.recv(4096).decode()
    true("READY=1" in said, f"said {said!r}")
    same(get(pawl.address, "/x").status, 200, "after READY")
    pawl.signal(signal.SIGTERM)
    said = receiver.recv(4096).decode()
    true("STOPPING=1" in said, f"said {said!r}")
    same(pawl.wait(10), 0, "exit code")


@check("thousands of connections and requests leave no descriptor and little memory behind", area="life", seconds=90)
def leaks(bench):
    origin = bench.origin()
    content = Content("leaks", 200_000)
    origin.default = Resource(content, fields=FRESH)
    origin.at("/plain", Resource(content, fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin)

    def round_of(count):
        for i in range(count):
            with Client(pawl.address) as client:
                client.request("/plain" if i % 3 == 0 else f"/{i % 50}")
                client.response(limit=None if i % 2 else 50_000, keep=False)

    round_of(300)
    time.sleep(0.5)
    descriptors, memory = pawl.descriptors(), pawl.own_rss()
    round_of(2000 if bench.over == "clear" else 500)  # a handshake costs this side more than a connection
    wait_for(lambda: pawl.descriptors() <= descriptors + 40, 10, f"as few descriptors as before ({descriptors})")
    true(pawl.own_rss() < memory + (16 << 20), f"memory from {memory} to {pawl.own_rss()}")
