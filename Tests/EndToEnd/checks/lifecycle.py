"""Start, readiness, drain, reload, signals."""

import os
import pwd
import signal
import socket
import subprocess
import threading
import time

from harness.checks import Skip, check, same, timely, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.process import Pawl, StartFailure, free_port, run_pawl, wait_for
from harness.uploads import Dialect, Upload, append, status, stored, whole

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


def reopens_log(bench, number):
    """pawl, whose access log was moved away and is a new file after the signal."""
    origin = bench.origin()
    origin.default = Resource(b"x")
    pawl = bench.pawl(origin)
    get(pawl.address, "/before")
    pawl.access(count=1)
    log = pawl.folder / "access.log"
    log.rename(pawl.folder / "access.log.1")
    pawl.signal(number)
    wait_for(log.exists, 5, "a new log file")
    return pawl


@check("SIGHUP reopens a log that was moved away", area="life")
def reopen(bench):
    pawl = reopens_log(bench, signal.SIGHUP)
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


@check(
    "SIGTERM closes the listeners at once: a successor serves while a slow download of the old one ends whole",
    area="life",
    tags=("every",),
    over=("clear",),
    why="it is about listeners",
)
def successor(bench):
    origin = bench.origin()
    content, gate = Content("successor", 4 * MIB), threading.Event()
    origin.at("/slow", Resource(content, fields=(("Cache-Control", "no-store"),), gates=((MIB, gate),)))
    origin.at("/x", Resource(b"x"))
    listen = {"address": f"127.0.0.1:{free_port()}"}
    old = bench.pawl(origin, name="old", listen=listen, pawl={"drain-timeout": "20s"})
    heads, got = threading.Event(), {}
    thread = threading.Thread(
        target=lambda: got.update(a=get(old.address, "/slow", keep=False, on_head=lambda a: heads.set()))
    )
    thread.start()
    true(heads.wait(5), "no head")
    begun = time.monotonic()
    old.signal(signal.SIGTERM)
    wait_for(lambda: "draining" in old.log(), 5, "the drain")
    new = bench.pawl(origin, name="new", listen=listen, pawl={"drain-timeout": "1s"})
    same(get(new.address, "/x").status, 200, "at the successor")
    timely(time.monotonic() - begun < 5, f"the successor serves after {time.monotonic() - begun:.1f} s")
    true(old.running(), "the old one ended before its download")
    gate.set()
    thread.join(10)
    same((got["a"].complete, got["a"].sha), (True, content.sha256()), "the download of the old one")
    same(old.wait(10), 0, "exit code")


@check("SIGQUIT drains as SIGTERM does; SIGUSR1 reopens the logs; neither is lost", area="life")
def other_signals(bench):
    pawl = reopens_log(bench, signal.SIGUSR1)
    pawl.signal(signal.SIGQUIT)
    same(pawl.wait(10), 0, "exit code after SIGQUIT")


@check(
    "SIGTERM ends uploads at a synced offset: the client goes on at the next start, and nothing is sent twice",
    area="life",
    tags=("every",),
    over=("clear",),
    why="the client speaks HTTP/1.1 as bytes",
)
def uploads_end_early(bench):
    body = Content("ended early", 600_000).read()
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0"}, pawl={"drain-timeout": "20s"})
    for number in (3, 6, 9, 10):
        dialect, count = Dialect(number), len(whole(origin))
        with Upload(pawl.address) as client:
            client.create(dialect, True, len(body))
            location = client.location()
            client.send(body[:400_000])
            wait_for(lambda: received(pawl) >= 400_000, 5, "the bytes in the spool")
            pawl.signal(signal.SIGTERM)
            if number >= 9:
                answer = client.answer()
                same((answer.status, dialect.said(answer)), (503, False), f"v{number}")
                same(answer.get("Upload-Offset"), "400000", f"v{number}: the offset that is told")
            else:
                true(client.until_end(5)[1] in ("fin", "rst"), f"v{number}: the connection stays")
        same(pawl.wait(10), 0, "exit code")
        pawl.start()
        answer = status(pawl.address, dialect, location)
        same(answer.get("Upload-Offset"), "400000", f"v{number}: the offset after the restart")
        same(append(pawl.address, dialect, location, 400_000, body[400_000:]).status, 200, f"v{number}: the end")
        same(len(whole(origin)) - count, 1, f"v{number}: deliveries")
        true(whole(origin)[-1].body == body, f"v{number}: other bytes at the origin")


def received(pawl):
    """The bytes of the largest upload on disk."""
    files = [each for each in (pawl.folder / "state").glob("**/bodies/*") if each.is_file()]
    return max((each.stat().st_size for each in files), default=0)


def activated(bench, origin, count=1, **sections):
    """pawl with sockets that were bound before; what has bound them keeps them over restarts."""
    sockets = []
    for _ in range(count):
        each = bench.use(socket.socket())
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        each.bind(("127.0.0.1", 0))
        each.listen(128)
        sockets.append(each)
    pawl = bench.pawl(origin, start=False, listen={"address": "systemd:0"}, **sections)
    pawl.sockets = sockets
    return pawl


@check(
    "socket activation: 20 restarts under load, no connection is refused, every answer is right",
    area="life",
    seconds=120,
    over=("clear",),
    why="it is about listeners",
)
def activation(bench):
    origin = bench.origin()
    content = Content("activated", 100_000)
    origin.default = Resource(content, fields=FRESH)
    pawl = activated(bench, origin, pawl={"drain-timeout": "5s"})
    address = pawl.start().address
    failures, done, asked = [], threading.Event(), []

    def load(name):
        while not done.is_set():
            try:
                answer = get(address, f"/{name}", keep=False)
                if not answer.complete or answer.sha != content.sha256():
                    failures.append(f"{answer} {answer.ended} {answer.note}")
                asked.append(1)
            except OSError as error:
                failures.append(repr(error))

    threads = [threading.Thread(target=load, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        before = len(asked)
        pawl.restart()
        same(pawl.address, address, "the address after a restart")
        wait_for(lambda before=before: len(asked) > before + 4, 10, "answers after the restart")
    done.set()
    for thread in threads:
        thread.join(20)
    same(failures, [], f"failures among {len(asked)}")


@check(
    "a pawl that starts while another one drains in the same directories binds and waits: its clients wait, too",
    area="life",
    over=("clear",),
    why="it is about listeners and stores",
)
def beside_a_drain(bench):
    origin = bench.origin()
    content = Content("beside a drain", 2 * MIB)
    gate = threading.Event()
    origin.at("/slow", Resource(content, fields=FRESH, gates=((MIB, gate),)))
    origin.at("/kept", Resource(b"kept", fields=FRESH))
    port = free_port()
    first = bench.pawl(origin, listen={"address": f"127.0.0.1:{port}"}, pawl={"drain-timeout": "30s"})
    same(get(first.address, "/kept").status, 200, "before")
    second = Pawl(first.folder, first.file.read_text(), over=first.over)
    bench.stack.callback(second.end)
    try:
        second.start(5)
        raise AssertionError("two of them serve")
    except StartFailure as failure:
        true("is used by another process" in str(failure) or "in use" in str(failure), f"said {failure}")
    heads, got = threading.Event(), {}
    slow = threading.Thread(
        target=lambda: got.update(slow=get(first.address, "/slow", keep=False, on_head=lambda a: heads.set()))
    )
    slow.start()
    true(heads.wait(5), "no head")
    first.signal(signal.SIGTERM)
    wait_for(lambda: " draining " in first.log(), 5, "the drain")
    starting = threading.Thread(target=lambda: second.start(25))
    starting.start()
    wait_for(lambda: "waiting-for-end" in first.log(), 10, "the wait")
    early = threading.Thread(target=lambda: got.update(early=get(f"127.0.0.1:{port}", "/kept", timeout=25)))
    early.start()
    true(first.running() and not second.addresses, "the second one serves already")
    gate.set()
    for thread in (slow, starting, early):
        thread.join(30)
    same(first.wait(10), 0, "the exit status")
    same((got["slow"].complete, got["slow"].sha), (True, content.sha256()), "the download that was drained")
    same((got["early"].status, got["early"].body), (200, b"kept"), "the client that waited")
    true(got["early"].hit and get(second.address, "/slow", keep=False).hit, "the cache was lost")


@check(
    "a passed socket that no listener uses is closed with a warning; a name that was not passed ends the start",
    area="life",
    over=("clear",),
    why="it is about listeners",
)
def unused_sockets(bench):
    origin = bench.origin()
    origin.default = Resource(b"x")
    pawl = activated(bench, origin, count=2)
    pawl.start()
    same(get(pawl.address, "/x").status, 200, "over the first socket")
    wait_for(lambda: "socket-unused" in pawl.log(), 5, "the warning")
    pawl.stop()
    pawl.sockets, pawl.expected_end = [], True
    try:
        pawl.start()
        raise AssertionError("started without the socket")
    except StartFailure as failure:
        true("no socket of this name was passed" in str(failure), f"said {failure}")


@check("the watchdog is told that the loops turn, and what goes on", area="life", over=("clear",), why="no transport")
def watchdog(bench):
    origin = bench.origin()
    origin.default = Resource(b"x")
    path = str(bench.folder / "notify")
    receiver = bench.use(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    receiver.bind(path)
    receiver.settimeout(10)
    pawl = bench.pawl(origin, environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "800000"})
    true("READY=1" in receiver.recv(4096).decode(), "no READY=1")
    for _ in range(3):
        said = receiver.recv(4096).decode()
        true("WATCHDOG=1" in said and "STATUS=Serving: " in said, f"said {said!r}")
    pawl.signal(signal.SIGHUP)
    said = [receiver.recv(4096).decode() for _ in range(4)]
    true(any(each.startswith("RELOADING=1\nMONOTONIC_USEC=") for each in said), f"said {said}")


@check(
    "user: pawl binds as root, then is the user for good; unix-mode sets the socket's permissions",
    area="life",
    over=("clear",),
    why="no transport",
)
def becomes_user(bench):
    if os.geteuid() != 0:
        raise Skip("needs root")
    origin = bench.origin()
    origin.default = Resource(b"x")
    folder = bench.folder
    os.chmod(folder, 0o755)
    pawl = bench.pawl(
        origin,
        start=False,
        pawl={"user": "nobody", "access-log": "off", "state-dir": str(folder / "made" / "state")},
        cache={"path": str(folder / "made" / "cache")},
        listen={"address": ["127.0.0.1:0", f"unix:{folder}/socket"], "unix-mode": "0666"},
    )
    pawl.start(ready=2)
    text = open(f"/proc/{pawl.pid}/status").read()
    nobody = pwd.getpwnam("nobody")
    true(f"Uid:\t{nobody.pw_uid}\t{nobody.pw_uid}\t{nobody.pw_uid}\t{nobody.pw_uid}\n" in text, text)
    true(f"Gid:\t{nobody.pw_gid}\t{nobody.pw_gid}\t{nobody.pw_gid}\t{nobody.pw_gid}\n" in text, text)
    true("CapPrm:\t0000000000000000\n" in text and "NoNewPrivs:\t1\n" in text, text)
    same(get(pawl.address, "/x").status, 200, "a request")
    info = os.stat(folder / "socket")
    same((info.st_mode & 0o777, info.st_uid), (0o666, nobody.pw_uid), "the socket's file")
    same(os.stat(folder / "made" / "state").st_uid, nobody.pw_uid, "the state directory")
    same(pawl.stop(), 0, "exit code")
    text = pawl.file.read_text().replace("user = nobody", "user = no-such-user")
    pawl.file.write_text(text)
    pawl.expected_end = True
    try:
        pawl.start()
        raise AssertionError("started as an unknown user")
    except StartFailure as failure:
        true('there is no user "no-such-user" on this system' in str(failure), f"said {failure}")


@check(
    "as process 1 of a container it is not upgraded, orphans leave no zombie, SIGTERM ends it with status 0",
    area="life",
    over=("clear",),
    why="no transport",
)
def first_process(bench):
    if os.geteuid() != 0:
        raise Skip("needs root")
    origin = bench.origin()
    origin.default = Resource(b"x")
    pawl = bench.pawl(origin, prefix=["unshare", "--pid", "--fork", "--kill-child"])
    children = lambda pid: [int(each) for each in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    (first,) = children(pawl.pid)
    inside = ["nsenter", "--target", str(first), "--pid"]
    subprocess.run([*inside, "sh", "-c", "sleep 0.1 & kill -9 $$"], stdin=subprocess.DEVNULL)
    wait_for(lambda: children(first) == [], 10, f"the end of an orphan (left: {children(first)})")
    refused = "pawl is process 1 of a container, which ends with it: restart the container"
    said = run_pawl("upgrade", "--config", str(pawl.file), folder=pawl.folder)
    same((said[0], "".join(said[1:])), (1, f"pawl: {refused}\n"), "pawl upgrade")
    os.kill(first, signal.SIGUSR2)
    wait_for(lambda: pawl.log().count(f'upgrade-refused why="{refused}"') == 2, 10, "the refusals in the log")
    same(get(pawl.address, "/x").status, 200, "after the refusals")
    os.kill(first, signal.SIGTERM)
    same(pawl.wait(10), 0, "exit code")


@check("the event log says at the start where pawl listens, what will not work, which upstreams answer", area="life")
def start_report(bench):
    origin = bench.origin()
    silent = f"http://127.0.0.1:{free_port()}"
    pawl = bench.pawl([origin.url, silent], cache={"min-free": "4000000G"})
    wait_for(lambda: all(name in pawl.log() for name in ("upstream-answers", "upstream-silent")), 10, "the upstreams")
    events = [line.split(" ", 1)[1] for line in pawl.log().splitlines() if line[:1].isdigit()]

    def place(beginning):
        found = [number for number, event in enumerate(events) if event.startswith(beginning)]
        same(len(found), 1, f"lines that begin with {beginning}")
        return found[0]

    order = [
        place("info cache-opened cache=default "),
        place("info spool-opened spool=default "),
        place("notice listening url=http"),
        place('warning will-not-work section=[cache:default] why="the file system of '),
    ]
    same(order, sorted(order), "the order of the events")
    place(f"info upstream-answers upstream=app url={origin.url} address=")
    place(f"warning upstream-silent upstream=app url={silent} why=")
    same(origin.connections, 0, "connections that were used")
