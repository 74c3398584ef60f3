"""The admin interface and the commands that use it: who may ask, what is told, what is changed."""

import json
import os
import pathlib
import pty
import select
import signal
import socket
import ssl
import stat
import subprocess
import time

from harness import certificates
from harness.certificates import authority
from harness.checks import CLEAR, check, only, same, true
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import Pawl, binary, run_pawl, wait_for
from harness.uploads import Dialect, partial, stored

only(CLEAR, "the admin interface has transports of its own", __name__)

TOKEN = "sekret-0123456789abcdef"
BOTH = {"admin": {"listen": ["unix:state/admin.sock", "127.0.0.1:0"], "token": TOKEN}}


class Reply:
    def __init__(self, data):
        head, _, self.content = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}

    @property
    def json(self):
        return json.loads(self.content)


def exchange(address, request):
    """Everything that comes back on a connection of its own, to a path or a port."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(20)
        client.connect(address if isinstance(address, str) else ("127.0.0.1", address))
        client.sendall(request)
        data = b""
        while True:
            try:
                got = client.recv(65536)
            except ConnectionResetError:
                break
            if not got:
                break
            data += got
    return Reply(data)


def ask(address, method, path, body=None, host="localhost", **fields):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return exchange(address, ("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode())


def sock(pawl):
    return str(pawl.folder / "state" / "admin.sock")


def tcp_port(pawl):
    """The admin port that the kernel chose: the one that pawl listens on and that no Ready line names."""
    inodes = {os.readlink(f"/proc/{pawl.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pawl.pid}/fd")}
    ports = set()
    for line in pathlib.Path(f"/proc/{pawl.pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
            ports.add(int(words[1].split(":")[1], 16))
    (port,) = ports - {int(a.rsplit(":", 1)[1]) for a in pawl.addresses}
    return port


def command(pawl, *arguments, code=0, where=None):
    """The output of a command for this server."""
    got, out, err = run_pawl(*arguments, *(where or ("--config", str(pawl.file))), folder=pawl.folder)
    same(got, code, f"exit code of {' '.join(arguments)} ({(out + err)[-400:]})")
    return out if code == 0 else out + err


@check("a unix socket of mode 0600 in the state directory by default; health and status over it", area="admin")
def default_socket(bench):
    pawl = bench.pawl(bench.origin())
    mode = os.stat(sock(pawl)).st_mode
    true(stat.S_ISSOCK(mode), "a socket")
    same(stat.S_IMODE(mode), 0o600, "its mode")
    health = ask(sock(pawl), "GET", "/healthz")
    same((health.status, health.content), (200, b"ok\n"), "/healthz")
    same(health.fields["cache-control"], "no-store", "Cache-Control")
    same(health.fields["x-content-type-options"], "nosniff", "X-Content-Type-Options")
    ready = ask(sock(pawl), "GET", "/readyz")
    same((ready.status, ready.json), (200, {"state": "ready", "reasons": []}), "/readyz")
    uploads = ask(sock(pawl), "GET", "/readyz/uploads")
    same((uploads.status, uploads.json["state"]), (200, "ready"), "/readyz/uploads")
    status = ask(sock(pawl), "GET", "/v1/status").json
    same((status["pid"], status["state"], status["configuration"]["generation"]), (pawl.pid, "ready", 1), "status")
    same(status["listeners"], pawl.addresses, "listeners")
    same(status["upstreams"][0]["nodes"][0]["state"], "works", "the node")
    pawl.stop()
    true(not os.path.exists(sock(pawl)), "the socket is gone with the server")
    pawl.start()
    pawl.kill()
    true(os.path.exists(sock(pawl)), "a killed server leaves its socket")
    pawl.start()
    same(ask(sock(pawl), "GET", "/healthz").status, 200, "/healthz over the socket that replaced it")


@check("over TCP nothing but probes without the token, and no token in a URL", area="admin")
def token(bench):
    pawl = bench.pawl(bench.origin(), extra=BOTH)
    port = tcp_port(pawl)
    for path in ("/healthz", "/readyz", "/readyz/uploads"):
        same(ask(port, "GET", path).status, 200, path)
    same(ask(port, "GET", "/readyz").json, {"state": "ready"}, "readiness for anyone")
    good = {"Authorization": f"Bearer {TOKEN}"}
    names = "v1/status v1/cache cache v1/uploads uploads v1/config config v1/log-level x"
    for path in ("/" + name for name in names.split()):
        same(ask(port, "GET", path).status, 401, f"{path} without a token")
        same(
            ask(port, "GET", f"{path}?token={TOKEN}&access_token={TOKEN}").status,
            401,
            f"{path} with a token in the URL",
        )
        for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ", f"Basic {TOKEN}", TOKEN):
            same(ask(port, "GET", path, Authorization=wrong).status, 401, f"{path} with {wrong!r}")
        same(ask(port, "GET", path, **good).status, 404 if path == "/x" else 200, f"{path} with the token")
    for path in ("/v1/stop", "/v1/reload", "/v1/upgrade", "/v1/reopen-logs", "/v1/log-level"):
        same(ask(port, "POST", path, "{}").status, 401, f"{path} without a token")
    refusal = ask(port, "GET", "/v1/status")
    same(refusal.fields["content-type"], "application/problem+json", "the form of an error")
    same(refusal.fields["www-authenticate"], 'Bearer realm="pawl"', "WWW-Authenticate")
    true("admin-refused" in pawl.log() and TOKEN not in pawl.log(), "refusals are logged, the token is not")


@check("pages in browsers get nothing: Host, Origin, Sec-Fetch-Site, methods, heads without end", area="admin")
def browsers(bench):
    pawl = bench.pawl(bench.origin(), extra=BOTH)
    good = {"Authorization": f"Bearer {TOKEN}"}
    for address in (sock(pawl), tcp_port(pawl)):
        same(ask(address, "GET", "/v1/status", host="evil.example", **good).status, 421, "another host")
        same(ask(address, "GET", "/v1/status", Origin="http://evil.example", **good).status, 403, "another origin")
        same(ask(address, "GET", "/v1/status", Origin="null", **good).status, 403, "an opaque origin")
        same(
            ask(address, "POST", "/v1/stop", "{}", Origin="http://evil.example", **good).status, 403, "a stop by a page"
        )
        same(ask(address, "GET", "/v1/status", Sec_Fetch_Site="cross-site", **good).status, 403, "a fetch of a page")
        same(ask(address, "GET", "/v1/status", Sec_Fetch_Site="none", **good).status, 200, "an address that was typed")
        for path in ("/v1/stop", "/v1/reload", "/v1/upgrade", "/v1/reopen-logs"):
            for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
                reply = ask(address, method, path, **good)
                same((reply.status, reply.fields.get("allow")), (405, "POST"), f"{method} {path}")
        reply = ask(address, "POST", "/v1/status", "{}", **good)
        same((reply.status, reply.fields["allow"]), (405, "GET, HEAD"), "POST of a question")
        same(ask(address, "GET", "/v1/status", X="x" * 20_000, **good).status, 431, "a huge head")
        same(exchange(address, b"\x00" * 100 + b"\r\n\r\n").status, 400, "no HTTP")
        same(ask(address, "POST", "/v1/reload", " " * 70_000, **good).status, 413, "a huge order")
        same(ask(address, "POST", "/v1/stop", '{"nov":1}', **good).status, 400, "an order with a mistake")
    true(pawl.running(), "pawl still runs")


@check("the configuration is told with its origins and without secrets", area="admin")
def configuration(bench):
    (bench.folder / "token").write_text(TOKEN + "\n")
    extra = {"admin": {"listen": "127.0.0.1:0, unix:state/admin.sock", "token": "${file:../token}"}}
    pawl = bench.pawl(bench.origin(), extra=extra)
    text = ask(sock(pawl), "GET", "/v1/config").content.decode()
    true(TOKEN not in text, "no secret")
    values = {v["key"]: v for s in json.loads(text)["sections"] if s["section"] == "admin" for v in s["values"]}
    same(values["token"]["value"], "(secret)", "the token")
    true(values["token"]["origin"].startswith(str(pawl.file)), "its origin")
    true(TOKEN not in command(pawl, "config"), "pawl config shows it neither")
    same(ask(tcp_port(pawl), "GET", "/v1/status", Authorization=f"Bearer {TOKEN}").status, 200, "the token of the file")


@check("uploads are listed in pages, by state", area="admin")
def uploads(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    dialect, body = Dialect(9), Content("admin", 10_000).read()
    for number in range(5):
        partial(pawl, dialect, body, 1000 + number, target=f"/u{number}")
    seen, cursor = [], ""
    while True:
        page = ask(sock(pawl), "GET", f"/v1/uploads?limit=2{cursor}").json
        seen += [each["target"] for each in page["uploads"]]
        if page["next"] is None:
            break
        cursor = "&cursor=" + page["next"]
    same(sorted(seen), [f"/u{n}" for n in range(5)], "all pages together")
    same(len(ask(sock(pawl), "GET", "/v1/uploads?state=open").json["uploads"]), 5, "open ones")
    same(len(ask(sock(pawl), "GET", "/uploads?state=answered").json["uploads"]), 0, "answered ones")
    for wrong in ("state=lost", "limit=0", "limit=x"):
        same(ask(sock(pawl), "GET", f"/v1/uploads?{wrong}").status, 400, wrong)
    same(ask(sock(pawl), "GET", "/v1/uploads?cursor=00").status, 410, "a cursor that is gone")
    status = ask(sock(pawl), "GET", "/v1/status").json
    same(status["spools"][0]["uploads"], {"open": 5}, "in the status")


@check("a node that is down and a disk without room make it degraded, with 200 and the reason", area="admin")
def degraded(bench):
    origin = bench.origin()
    origin.at("/", Resource(b"well"))
    pawl = bench.pawl(
        [origin.url, "http://127.0.0.1:1"],
        upstream={"check-path": "/", "check-interval": "1s", "check-fall": "1"},
        cache={"min-free": "1000T"},
    )

    def reasons():
        reply = ask(sock(pawl), "GET", "/readyz")
        return reply.status, reply.json["state"], sorted(each["reason"] for each in reply.json["reasons"])

    wait_for(lambda: reasons() == (200, "degraded", ["cache-full", "node-down"]), 20, "the reasons")
    out = command(pawl, "status", code=1)
    true("node-down" in out and "NO ROOM" in out, f"pawl status says so: {out}")


@check("the only node of an upstream that is down is told of until it answers again", area="admin")
def only_node(bench):
    port = bench.held_port()
    pawl = bench.pawl(f"http://127.0.0.1:{port}")
    same(get(pawl.address, "/x").status, 502, "nobody listens")

    def told():
        ready = ask(sock(pawl), "GET", "/readyz")
        text = ask(sock(pawl), "GET", "/metrics").content.decode()
        up = next(line.split()[-1] for line in text.splitlines() if line.startswith("pawl_node_up{"))
        node = ask(sock(pawl), "GET", "/v1/status").json["upstreams"][0]["nodes"][0]["state"]
        return ready.status, [each["reason"] for each in ready.json["reasons"]], node, up

    same(told(), (200, ["upstream-down"], "failed", "0"), "while it is down")
    true("failed" in command(pawl, "status", code=1), "pawl status says so")
    origin = bench.origin(port=port, is_held=True)
    origin.at("/x", Resource(b"well"))
    same(get(pawl.address, "/x").status, 200, "it is back")
    same(told(), (200, [], "works", "1"), "after that")
    wait_for(lambda: " node-up " in pawl.log(), 10, "the news")
    news = [word for word in pawl.log().split() if word in ("node-down", "node-up")]
    same(news, ["node-down", "node-up"], "the news")


@check("pawl reload waits for the outcome: applied, a restart that is needed, mistakes", area="admin")
def reload(bench):
    pawl = bench.pawl(bench.origin())
    text = pawl.file.read_text()
    same(command(pawl, "reload"), f"reloaded {pawl.file}\n", "a reload without changes")
    pawl.file.write_text(text.replace("workers = 2", "workers = 1"))
    out = command(pawl, "reload")
    true("[pawl] workers" in out and "needs a restart" in out, f"what needs a restart: {out}")
    true("restart-needed" in command(pawl, "status", code=1), "status says so, too")
    pawl.file.write_text(text.replace("upstream = app", "upstream = ap"))
    out = command(pawl, "reload", code=78)
    true(f"{pawl.file}:" in out and 'did you mean "app"?' in out, f"the mistakes: {out}")
    true("NOT reloaded" in out, f"what became of it: {out}")
    outcome = json.loads(run_pawl("reload", "--json", "--config", str(pawl.file), folder=pawl.folder)[1])
    true(not outcome["applied"] and outcome["mistakes"], f"as JSON: {outcome}")
    status = json.loads(command(pawl, "status", "--json", code=1))
    same(status["configuration"]["last_reload"]["applied"], False, "in the status")
    pawl.file.write_text(text)
    same(command(pawl, "reload"), f"reloaded {pawl.file}\n", "the file as it was")


@check("the token and the addresses change at a reload", area="admin")
def moved(bench):
    pawl = bench.pawl(bench.origin(), extra=BOTH)
    port, other = tcp_port(pawl), "sekret-abcdef0123456789"
    pawl.file.write_text(
        pawl.file.read_text()
        .replace(TOKEN, other)
        .replace("listen = unix:state/admin.sock", "listen = unix:state/b.sock")
    )
    same(ask(sock(pawl), "POST", "/v1/reload", "{}").status, 200, "the reload over the old socket")
    same(ask(port, "GET", "/v1/status", Authorization=f"Bearer {TOKEN}").status, 401, "the former token")
    same(ask(port, "GET", "/v1/status", Authorization=f"Bearer {other}").status, 200, "the new token")
    wait_for(lambda: not os.path.exists(sock(pawl)), 10, "the old socket goes")
    same(ask(str(pawl.folder / "state" / "b.sock"), "GET", "/healthz").status, 200, "the new socket")
    command(pawl, "status")


@check(
    "over TLS a client certificate stands for the token; a stranger's certificate and none get probes alone",
    area="admin",
)
def over_tls(bench):
    ours, others = authority("admin-clients"), authority("admin-strangers")
    server = certificates.server()
    extra = {
        "admin": {"listen": "127.0.0.1:0", "tls": "admin", "token": TOKEN},
        "tls:admin": {
            "certificate": str(server.certificate),
            "key": str(server.key),
            "client-ca": str(ours.file),
            "client-certificate": "optional",
        },
    }
    pawl = bench.pawl(bench.origin(), extra=extra)
    port = tcp_port(pawl)

    def asked(path, pair=None, method="GET"):
        context = ssl.create_default_context(cafile=str(authority().file))
        context.check_hostname = False
        if pair:
            context.load_cert_chain(pair.certificate, pair.key)
        data = b""
        with socket.create_connection(("127.0.0.1", port), 5) as raw, context.wrap_socket(raw) as client:
            client.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            while got := client.recv(65536):
                data += got
        return Reply(data)

    operator = ours.leaf("operator", client=True, subject="/CN=operator")
    same(asked("/healthz").status, 200, "a probe without a certificate")
    same(asked("/v1/status").status, 401, "the status without a certificate")
    same(asked("/v1/status", operator).status, 200, "the status with a certificate")
    same(asked("/v1/stop", operator).status, 405, "a change by GET")
    same(asked("/v1/reload", method="POST").status, 401, "a reload without a certificate")
    same(asked("/v1/reload", operator, "POST").status, 200, "a reload with one")
    try:
        status = asked("/v1/status", others.leaf("stranger", client=True, subject="/CN=stranger")).status
    except OSError:
        status = "no connection"
    true(status in ("no connection", 401), f"a stranger's certificate: {status}")
    with socket.create_connection(("127.0.0.1", port), 5) as raw:
        raw.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        raw.settimeout(5)
        try:
            got = raw.recv(65536)
        except ConnectionResetError:
            got = b""
    true(b" 200 " not in got, f"in clear: {got!r}")


@check("pawl check tries the addresses of [admin], too", area="admin")
def checked(bench):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        pawl = bench.pawl(bench.origin(), start=False, extra={"admin": {"listen": address, "token": TOKEN}})
        command = [binary(), "check", "--config", str(pawl.file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    same(done.returncode, 69, "the exit status")
    true(f"[admin] listen: {address}" in done.stdout + done.stderr, done.stdout + done.stderr)


@check("pawl reload finds the server by its default socket when the file has another address now", area="admin")
def found_by_default_socket(bench):
    pawl = bench.pawl(bench.origin())
    text = pawl.file.read_text()
    pawl.file.write_text(text + "\n[admin]\nlisten = unix:state/other.sock\n")
    true("reloaded" in command(pawl, "reload"), "by the default socket")
    wait_for((pawl.folder / "state" / "other.sock").exists, 5, "the new socket")
    true("ready" in command(pawl, "status"), "by the new one")
    pawl.file.write_text(text)
    out = command(pawl, "reload", code=69)
    true("send it SIGHUP" in out, f"back, where only SIGHUP helps: {out}")


@check("the log level changes, for a time, and until the next reload", area="admin")
def log_level(bench):
    pawl = bench.pawl(bench.origin(), pawl={"log-level": "info"})
    same(command(pawl, "log-level"), "info\n", "the level of the file")
    same(command(pawl, "log-level", "debug"), "debug\n", "a new one")
    wait_for(lambda: "log-level-changed level=debug" in pawl.log(), 5, "it in the log")
    command(pawl, "reload")
    same(command(pawl, "log-level"), "info\n", "after a reload")
    same(command(pawl, "log-level", "debug", "--for", "1s"), "debug\n", "for a second")
    wait_for(lambda: command(pawl, "log-level") == "info\n", 10, "the level comes back")


@check("logs are opened again", area="admin")
def reopened(bench):
    origin = bench.origin()
    origin.at("/a", Resource(b"a"))
    pawl = bench.pawl(origin)
    (pawl.folder / "access.log").rename(pawl.folder / "access.log.1")
    same(ask(sock(pawl), "POST", "/v1/reopen-logs", "{}").json, {"reopened": True}, "the order")
    get(pawl.address, "/a")
    same(len(pawl.access("/a")), 1, "lines in the new file")


@check("pawl stop waits for the drain, and --now cuts it", area="admin")
def stopped(bench):
    origin = bench.origin()
    origin.at("/slow", Resource(Content("slow", 400_000).read(), pace=50_000))
    pawl = bench.pawl(origin, pawl={"drain-timeout": "30s"})
    out = command(pawl, "stop")
    true(f"stopped process {pawl.pid}" in out, out)
    same(pawl.wait(), 0, "the exit code of the server")
    pawl.start()
    client = subprocess.Popen(["curl", "-sN", "--limit-rate", "10k", "-o", os.devnull, pawl.address + "/slow"])
    bench.stack.callback(client.kill)
    wait_for(lambda: json.loads(command(pawl, "status", "--json"))["connections"]["open"] > 0, 10, "the download")
    begun = time.monotonic()
    command(pawl, "stop", "--now")
    true(time.monotonic() - begun < 15, "not the whole drain")
    same(pawl.wait(), 0, "the exit code of the server")
    client.wait(20)
    out = command(pawl, "stop", code=69)
    true(f"no server is running for {pawl.file} (no socket at " in out, out)


@check("readiness is withdrawn while it drains", area="admin")
def draining(bench):
    origin = bench.origin()
    origin.at("/slow", Resource(Content("slow", 400_000).read(), pace=50_000))
    pawl = bench.pawl(origin, pawl={"drain-timeout": "20s"})
    client = subprocess.Popen(["curl", "-sN", "--limit-rate", "20k", "-o", os.devnull, pawl.address + "/slow"])
    bench.stack.callback(client.kill)
    wait_for(lambda: ask(sock(pawl), "GET", "/v1/status").json["connections"]["open"] > 0, 10, "the download")
    pawl.signal(signal.SIGTERM)

    def state():
        reply = ask(sock(pawl), "GET", "/readyz")
        return reply.status, reply.json["state"]

    wait_for(lambda: state() == (503, "draining"), 10, "503 while it drains")
    same(ask(sock(pawl), "GET", "/healthz").status, 200, "it lives")
    client.kill()
    same(pawl.wait(), 0, "the exit code")


@check("without a server the commands say so, and do what they can", area="admin")
def absent(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(origin, site={"min-resumable": "0"})
    partial(pawl, Dialect(9), Content("admin", 10_000).read(), 1000, target="/u")
    pawl.stop()
    for name in ("status", "top", "transfers", "reload", "stop", "upgrade", "log-level"):
        out = command(pawl, name, code=69)
        true(f"pawl: no server is running for {pawl.file} (no socket at {sock(pawl)})" in out, f"{name}: {out}")
        out = command(pawl, name, code=69, where=("--state", str(pawl.folder / "state")))
        true("no server is running for" in out, f"{name} --state: {out}")
    true("uploads on disk: 1 open" in command(pawl, "status", code=69), "status tells of the disk")
    true(": valid" in command(pawl, "reload", code=69), "reload checks the file")
    true("/u" in command(pawl, "uploads"), "uploads reads the catalogue")
    pawl.file.write_text(pawl.file.read_text().replace("upstream = app", "upstream = ap"))
    true('did you mean "app"?' in command(pawl, "reload", code=78), "reload tells the mistakes")


@check("status and top show a running server, in a terminal too", area="admin")
def shown(bench):
    pawl = bench.pawl(bench.origin())
    out = command(pawl, "status")
    for word in (f"process {pawl.pid}", ": ready", "listens on " + pawl.address, "upstream app", "cache default"):
        true(word in out, f"{word} in {out}")
    state = ("--state", str(pawl.folder / "state"))
    true(": ready" in command(pawl, "status", where=state), "by the state directory")
    true(": ready" in command(pawl, "top", "--once"), "top, once")
    primary, secondary = pty.openpty()
    top = subprocess.Popen(
        [binary(), "top", "--config", str(pawl.file)], stdin=secondary, stdout=secondary, stderr=secondary
    )
    bench.stack.callback(top.kill)
    os.close(secondary)
    seen, end = b"", time.monotonic() + 20
    while b": ready" not in seen and time.monotonic() < end:
        if select.select([primary], [], [], 1)[0]:
            seen += os.read(primary, 65536)
    true(seen.startswith(b"\x1b[?1049h") and b": ready" in seen, f"the alternate screen: {seen[:80]}")
    os.write(primary, b"q")
    end = time.monotonic() + 20
    while b"\x1b[?1049l" not in seen and time.monotonic() < end:
        if select.select([primary], [], [], 1)[0]:
            seen += os.read(primary, 65536)
    true(seen.endswith(b"\x1b[?1049l"), "the screen is given back")
    same(top.wait(10), 0, "exit code of top")
    os.close(primary)


@check("a probe is answered at a listener of clients where its path is set", area="admin")
def health_path(bench):
    origin = bench.origin()
    origin.at("/healthz", Resource(b"of the application"))
    pawl = bench.pawl(origin, listen={"health-path": "/healthz"}, site={"host": "a.example"})
    reply = get(pawl.address, "/healthz?x", host="b.example")
    same((reply.status, reply.body), (200, b"ok\n"), "the probe, whatever its host")
    same(len(origin.requests), 0, "requests at the application")


@check("a path that no socket fits is said and changes nothing else", area="admin")
def too_long(bench):
    folder = bench.folder / ("x" * 100)
    from harness.process import config

    pawl = Pawl(folder, config(bench.origin().url))
    bench.stack.callback(pawl.end)
    pawl.start()
    wait_for(lambda: "admin-not-listening" in pawl.log(), 10, "the warning")
    same(get(pawl.address, "/nothing").status, 404, "it serves")
