"""What an operator sees when something is wrong: secrets that stay secret, logs that cannot be opened, files that are
not the server's, disks that are full."""

import fcntl
import json
import os
import pathlib
import pty
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import time

from harness.checks import Skip, check, only, same, true
from harness.origin import Resource
from harness.process import binary, run_pawl, wait_for

from .admin import BOTH, TOKEN, ask, command, sock, tcp_port
from .upgrade import end_pid, gone, pids_of

only(("clear",), "it is about the process and its operators", __name__)

SECRET = "geheim-0123456789"


@check("a wrong value that is a secret is shown nowhere; its key and its line are", area="operators")
def secrets(bench):
    pawl = bench.pawl(bench.origin())
    text = pawl.file.read_text()
    (pawl.folder / "secret").write_text(SECRET + "\n")
    wrong = text + f"\n[upstream:other]\nurl = http://user:{SECRET}@127.0.0.1:9\nqueue-timeout = ${{file:secret}}\n"
    pawl.file.write_text(wrong)
    lines = [n + 1 for n, line in enumerate(wrong.splitlines()) if SECRET in line or "${file" in line]
    places = [f"{pawl.file}:{number}: [upstream:other] " for number in lines]
    said = [command(pawl, name, code=78) for name in ("check", "config", "reload")]
    said.append(run_pawl("reload", "--json", "--config", str(pawl.file), folder=pawl.folder)[1])
    said.append(ask(sock(pawl), "GET", "/v1/status").content.decode())
    said.append(pawl.log()[pawl.log().index("reload-failed") :])
    for number, each in enumerate(said):
        true(SECRET not in each, f"{number}: {each}")
        true(all(place in each for place in places), f"{number}: {places} in {each}")


@check(
    "idle clients over TCP that prove nothing keep neither the unix socket nor an operator over TCP out",
    area="operators",
)
def idle_clients(bench):
    pawl = bench.pawl(bench.origin(), extra=BOTH)
    port = tcp_port(pawl)
    idle = [bench.use(socket.create_connection(("127.0.0.1", port))) for _ in range(80)]
    for client in idle:
        client.sendall(b"G")
    same(ask(sock(pawl), "GET", "/v1/status").status, 200, "over the unix socket")
    same(ask(port, "GET", "/v1/status", Authorization=f"Bearer {TOKEN}").status, 200, "over TCP with the token")
    idle[0].settimeout(20)
    try:
        same(idle[0].recv(1), b"", "the oldest one was closed")
    except ConnectionResetError:
        pass
    idle[-1].settimeout(20)
    begun = time.monotonic()
    while idle[-1].recv(100):
        pass
    true(time.monotonic() - begun < 12, "the newest one ends soon, too")


@check(
    "user: a log that root made is given to the user, so that it is opened again there and after an upgrade",
    area="operators",
)
def logs_of_user(bench):
    if os.geteuid() != 0:
        raise Skip("needs root")
    folder = pathlib.Path(tempfile.mkdtemp(dir="/var/lib", prefix="pawl-check-"))
    bench.stack.callback(shutil.rmtree, folder, True)
    folder.chmod(0o755)
    events, access = folder / "events.log", folder / "access.log"
    events.touch()
    origin = bench.origin()
    settings = {"user": "nobody", "log": str(events), "access-log": str(access), "state-dir": str(folder / "state")}
    pawl = bench.pawl(origin, start=False, pawl=settings)
    for each in (pawl.folder, pawl.folder.parent):
        each.chmod(0o755)
    same(run_pawl("check", "--config", str(pawl.file), folder=pawl.folder)[0], 0, "check")
    pawl.start()
    owner = events.stat().st_uid
    true(owner != 0 and access.stat().st_uid == owner, "the user's")
    where = ("--config", str(pawl.file))
    for number in range(2):
        for file in (events, access):
            file.rename(f"{file}.{number}")
            file.touch()
            os.chown(file, owner, -1)
        command(pawl, "reopen-logs", where=where)
        true("admin-order" in pathlib.Path(f"{events}.{number}").read_text(), "the old events")
        if number == 0:
            command(pawl, "upgrade", where=where)
            pid = json.loads(command(pawl, "status", "--json", where=where))["pid"]
            bench.stack.callback(end_pid, pid)
            true("upgraded" in events.read_text(), "the new events")
    for file in (events, access):
        file.rename(f"{file}.old")
    out = command(pawl, "reopen-logs", code=1, where=where)
    true(f"cannot open the log {events}: Permission denied" in out and str(access) in out, out)
    true(" error event-log-failed why=" in pathlib.Path(f"{events}.old").read_text(), "the event")
    command(pawl, "stop", where=where)


@check("a log that cannot be opened again is a problem with the reason, an exit status, and an event", area="operators")
def not_reopened(bench):
    pawl = bench.pawl(bench.origin(), pawl={"access-log": "logs/access.log"}, start=False)
    (pawl.folder / "logs").mkdir()
    pawl.start()
    (pawl.folder / "logs").rename(pawl.folder / "moved")
    reply = ask(sock(pawl), "POST", "/v1/reopen-logs", "{}")
    same((reply.status, reply.fields["content-type"]), (500, "application/problem+json"), "the answer")
    path = pawl.folder / "logs" / "access.log"
    true(f"cannot open the log {path}: No such file or directory" in reply.json["detail"], reply.json["detail"])
    true(str(path) in command(pawl, "reopen-logs", code=1), "the command")
    true(json.loads(command(pawl, "reopen-logs", "--json", code=1))["exit_status"] == 1, "as JSON")
    true(" error access-log-failed why=" in pawl.log(), "the event")


@check("check and serve end alike for what this machine stands in the way of", area="operators")
def alike(bench):
    pawl = bench.pawl(bench.origin(), start=False)
    text, folder = pawl.file.read_text(), pawl.folder
    os.mkfifo(folder / "fifo")
    (folder / "held").mkdir()
    (folder / "link").symlink_to(folder / "held")
    other = bench.pawl(bench.origin(), name="other")
    theirs = other.folder / "state" / "spool"

    def with_log(line):
        return text.replace("[pawl]\n", f"[pawl]\n{line}\n", 1)

    cases = {
        "syslog": (with_log("log = syslog:/none/log"), 69, "cannot open the log /none/log: No such file or directory"),
        "journal": (with_log("log = journald:none"), 69, f"cannot open the log {folder}/none: No such file"),
        "fifo": (with_log("log = fifo"), 69, f"cannot open the log {folder}/fifo: No such device or address"),
        "user": (with_log("user = no-such-user"), 69, 'there is no user "no-such-user" on this system'),
        "proc": (text + "\n[cache:x]\npath = /proc/pawl-x\n", 69, "mkdir /proc/pawl-x: No such file or directory"),
        "link": (
            text + "\n[cache:x]\npath = held\n[spool:x]\npath = link\n",
            69,
            f"cannot use {folder}/link: it is the directory of [cache:x], too: a link leads there",
        ),
        "spool": (text + f"\n[spool:default]\npath = {theirs}\n", 69, f"{theirs} is used by another process"),
        "addresses": (
            text + "\n[listen:x]\naddress = 127.0.0.1:9 0.0.0.0:9\n",
            78,
            '"0.0.0.0:9" cannot be listened on beside "127.0.0.1:9"',
        ),
    }
    for name, (changed, status, said) in cases.items():
        pawl.file.write_text(changed)
        for word in ("check", "serve"):
            got, out, err = run_pawl(word, "--config", str(pawl.file), folder=folder)
            same(got, status, f"{name}: {word}: {(out + err)[-500:]}")
            true(said in out + err, f"{name}: {word}: {said} in {out + err}")


@check("reload names the server's file, and refuses another one", area="operators")
def other_file(bench):
    pawl = bench.pawl(bench.origin())
    other = pawl.folder / "other.ini"
    other.write_text(pawl.file.read_text())
    out = command(pawl, "reload", code=64, where=("--config", str(other)))
    true(f"the server reads {pawl.file}, not {other}: nothing was reloaded" in out, out)
    true(" reloaded" not in pawl.log(), pawl.log())
    same(command(pawl, "reload"), f"reloaded {pawl.file}\n", "its own file")


@check("stop and status name the process before an upgrade that still drains", area="operators")
def older(bench):
    origin = bench.origin()
    origin.at("/slow", Resource(b"x" * 2_000_000, pace=100_000))
    pawl = bench.pawl(origin)
    client = subprocess.Popen(["curl", "-sN", "--limit-rate", "50k", "-o", os.devnull, pawl.address + "/slow"])
    bench.stack.callback(client.kill)
    wait_for(lambda: json.loads(command(pawl, "status", "--json"))["connections"]["open"] > 0, 10, "the download")
    command(pawl, "upgrade")
    bench.stack.callback(end_pid, pids_of(pawl))
    same(json.loads(command(pawl, "status", "--json"))["still_draining"], [pawl.pid], "in the status")
    out = command(pawl, "stop")
    true(f"process {pawl.pid}, which ran before an upgrade, still finishes its transfers" in out, out)
    client.kill()
    client.wait()
    wait_for(lambda: gone(pawl.pid), 20, "its end")


@check("upgrade-failed has the reason that the new binary gives, without secrets", area="operators")
def failed_upgrade(bench):
    pawl = bench.pawl(bench.origin())
    pawl.file.write_text(pawl.file.read_text() + f"\n[upstream:x]\nurl = http://u:{SECRET}@127.0.0.1\n")
    out = command(pawl, "upgrade", code=1)
    said = f"the new binary ended before it was ready (exit status 78): {pawl.file}:"
    true(said in out and "(secret)@127.0.0.1" in out and SECRET not in out, out)
    line = next(line for line in pawl.log().splitlines() if " upgrade-failed " in line)
    true(said in line and SECRET not in line, line)
    same(command(pawl, "log-level"), "info\n" if "info" in command(pawl, "log-level") else "debug\n", "it goes on")


@check("a full disk behind standard output is an error of every command", area="operators")
def full_output(bench):
    pawl = bench.pawl(bench.origin())
    file = ["--config", str(pawl.file)]
    commands = [["version"], ["--help"]]
    for words in ("status", "transfers", "config", "check --offline", "top --once"):
        commands.append([*words.split(), *file])
    for arguments in commands:
        with open("/dev/full", "w") as full:
            done = subprocess.run([binary(), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        same(done.returncode, 1, f"{arguments}: {done.stderr}")
        # The reason is forgotten where much was printed.
        true(done.stderr.startswith("pawl: cannot write to standard output"), f"{arguments}: {done.stderr}")


@check("with --json an error is JSON, too", area="operators")
def json_errors(bench):
    pawl = bench.pawl(bench.origin(), start=False)
    for arguments in (["status"], ["transfers"], ["stop"], ["upgrade"], ["log-level"], ["reopen-logs"]):
        got, out, err = run_pawl(*arguments, "--json", "--config", str(pawl.file), folder=pawl.folder)
        same((got, json.loads(out)["exit_status"], err), (69, 69, ""), f"{arguments}")
    effective = json.loads(run_pawl("config", "--json", "--config", str(pawl.file), folder=pawl.folder)[1])
    true(any(each["section"] == "pawl" for each in effective["sections"]), "config --json")
    pawl.file.write_text(pawl.file.read_text().replace("upstream = app", "upstream = ap"))
    got, out, err = run_pawl("config", "--json", "--config", str(pawl.file), folder=pawl.folder)
    same((got, err), (78, ""), "of a file with a mistake")
    true('did you mean "app"?' in json.loads(out)["mistakes"][0], out)


@check(
    "ExecReload reaches a server whose admin interface is off: SIGHUP, if the file has no mistakes",
    area="operators",
)
def signalled(bench):
    pawl = bench.pawl(bench.origin(), extra={"admin": {"listen": "off"}})
    reload = [binary(), "reload", "--config", str(pawl.file)]
    environment = {**os.environ, "MAINPID": str(pawl.pid)}
    done = subprocess.run(reload, capture_output=True, text=True, env=environment, timeout=20)
    same((done.returncode, done.stderr), (0, ""), done.stdout)
    wait_for(lambda: " reloaded" in pawl.log(), 10, "the reload")
    pawl.file.write_text(pawl.file.read_text().replace("upstream = app", "upstream = ap"))
    done = subprocess.run(reload, capture_output=True, text=True, env=environment, timeout=20)
    same(done.returncode, 78, done.stderr)
    true("reload-failed" not in pawl.log(), "the signal was sent")
    del environment["MAINPID"]
    same(subprocess.run(reload, capture_output=True, env=environment, timeout=20).returncode, 69, "without a unit")


@check("top leaves most of the screen to transfers, and shows the nodes that do not work", area="operators")
def top_screen(bench):
    origin = bench.origin()
    origin.at("/", Resource(b"well"))
    origin.at("/slow", Resource(b"x" * 2_000_000, pace=50_000))
    # Nothing listens on the other addresses.
    nodes = [f"http://127.0.0.{n}:{origin.port}" for n in range(1, 41)]
    checks = {"check-path": "/", "check-interval": "1s", "check-fall": "1"}
    pawl = bench.pawl(nodes, upstream=checks)
    for number in range(8):
        url = f"{pawl.address}/slow?{number}"
        client = subprocess.Popen(["curl", "-sN", "--limit-rate", "20k", "-o", os.devnull, url])
        bench.stack.callback(client.kill)
    wait_for(lambda: "fails-checks" in command(pawl, "status", code=1), 20, "the node")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(binary(), [binary(), "top", "--config", str(pawl.file)])
    bench.stack.callback(os.close, terminal)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    seen = b""

    def screen():
        nonlocal seen
        seen += os.read(terminal, 65536)
        return seen.rsplit(b"\x1b[H", 1)[-1].decode(errors="replace")

    def shown():
        lines = screen().replace("\x1b[K", "").split("\r\n")
        return lines if sum("/slow" in line for line in lines) >= 8 else None

    wait_for(lambda: shown() is not None, 20, "the transfers on the screen")
    lines = shown() or screen().replace("\x1b[K", "").split("\r\n")
    os.write(terminal, b"q")
    os.waitpid(pid, 0)
    above = next(n for n, line in enumerate(lines) if " transfers, " in line)
    true(above <= 10, f"{above} lines above: {lines}")
    upstream = next(n for n, line in enumerate(lines) if line.startswith("upstream app: "))
    true(f":{origin.port}: fails-checks" in lines[upstream + 1], f"a node: {lines}")
    true(" more upstreams and nodes" in lines[above - 1], f"the others: {lines}")
