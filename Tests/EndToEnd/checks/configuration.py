"""Command line, configuration files, exit codes, demo."""

import os
import re
import signal
import socket
import subprocess
import time

from harness.checks import CLEAR, Late, check, only, same, true
from harness.client import get
from harness.origin import Resource
from harness.process import Pawl, binary, run_pawl

only(CLEAR, "the command line and the file", __name__)

SMALLEST = "[upstream:app]\nurl = http://127.0.0.1:9\n[site:main]\nupstream = app\n"


def write(bench, text, name="pawl.ini"):
    path = bench.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@check("the smallest file has four lines", area="config")
def smallest(bench):
    code, out, err = run_pawl("check", "--config", write(bench, SMALLEST))
    same(code, 0, f"exit code of check ({err or out})")


MISTAKES = """[pawl]
worker = 2
drain-timeout = 30
[listen:main]
address = 127.0.0.1:99999999
tls = nowhere
[cache:default]
max-size = 5Q
[upstream:app]
url = ftp://example.org/
max-connections = -3
[site:main]
upstream = ap
etag = automatic
etag = origin
max-ranges = many
resume-private-no-store = perhaps
[sites:other]
upstream = app
"""

EXPECTED = [  # (line, a word of the key or section, the nearest match or None)
    (2, "worker", "workers"),
    (3, "drain-timeout", None),
    (5, "address", None),
    (6, "tls", None),
    (8, "max-size", None),
    (10, "url", None),
    (11, "max-connections", None),
    (13, "upstream", "app"),
    (14, "etag", "auto"),
    (15, "etag", None),
    (16, "max-ranges", None),
    (17, "resume-private-no-store", None),
    (18, "sites", "site"),
]


@check("every mistake at once, with file:line, key and nearest match; exit 78", area="config")
def mistakes(bench):
    path = write(bench, MISTAKES)
    code, out, err = run_pawl("check", "--config", path)
    same(code, 78, "exit code")
    text, missing = out + err, []
    for line, key, nearest in EXPECTED:
        said = [each for each in text.splitlines() if re.search(rf"pawl\.ini:{line}\b", each)]
        if not any(key in each and (nearest is None or nearest in each) for each in said):
            missing.append((line, key, nearest))
    true(not missing, f"not reported: {missing}; it said:\n{text}")


@check("serve refuses a wrong file with 78 and prints the same", area="config")
def serve_wrong(bench):
    code, out, err = run_pawl("serve", "--config", write(bench, MISTAKES))
    same(code, 78, "exit code")
    true(re.search(r"pawl\.ini:2\b", out + err), f"no file:line in {out + err!r}")


@check("missing required keys, missing file, unset variable, unit, comment after a value", area="config")
def more_mistakes(bench):
    cases = {
        "a site without upstream": "[site:main]\netag = auto\n",
        "an upstream without url": "[upstream:app]\nconnect-timeout = 5s\n[site:main]\nupstream = app\n",
        "an unset variable": SMALLEST + "[pawl]\nstate-dir = ${PAWL_TEST_UNSET}\n",
        "a time without unit": SMALLEST + "[pawl]\ndrain-timeout = 30\n",
        "a key before any section": "workers = 2\n" + SMALLEST,
        "a line without =": SMALLEST + "[pawl]\nworkers\n",
        "a section that never closes": SMALLEST + "[pawl\nworkers = 2\n",
        "a file that is not there to substitute": SMALLEST + "[pawl]\nstate-dir = ${file:nowhere}\n",
        "two sites without host": SMALLEST + "[site:other]\nupstream = app\n",
        "a route of no site": SMALLEST + "[route:nosite/x]\npath = /x*\n",
        "a route without path": SMALLEST + "[route:main/x]\netag = auto\n",
        "a cache that is not there": SMALLEST + "cache = fast\n",
        "comment after a number": SMALLEST + "[pawl]\nworkers = 2 # two\n",
    }
    wrong = []
    for what, text in cases.items():
        code, out, err = run_pawl("check", "--config", write(bench, text))
        if code != 78 or not (out + err).strip():
            wrong.append((what, code, (out + err)[:200]))
    code, out, err = run_pawl("check", "--config", str(bench.folder / "nowhere.ini"))
    if code != 78:
        wrong.append(("a missing file", code, (out + err)[:200]))
    true(not wrong, f"{wrong}")


@check("variables, defaults, files, includes, _ for -, booleans, ; comments; config prints origins", area="config")
def right(bench):
    write(bench, "7", "seven.txt")
    write(bench, "[site:main]\nupstream = app\netag = origin\n", "conf.d/10-site.ini")
    write(bench, "[route:main/big]\npath = /big/*\nmax_ranges = 3\n", "conf.d/20-route.ini")
    path = write(
        bench,
        "; a comment\n# another\n[pawl]\nstate_dir = state\nworkers = ${PAWL_TEST_WORKERS:-2}\n"
        "[upstream:app]\nurl = ${PAWL_TEST_URL}\nmax-connections = ${file:seven.txt}\n"
        "[include]\nfiles = conf.d/*.ini\n[cache:default]\nmax-size = 10M\n",
    )
    code, out, err = run_pawl(
        "check", "--config", path, environment={"PAWL_TEST_URL": "http://127.0.0.1:9"}, folder="/"
    )
    same(code, 0, f"check: {out + err}")
    code, out, err = run_pawl(
        "config", "--config", path, environment={"PAWL_TEST_URL": "http://127.0.0.1:9"}, folder="/"
    )
    same(code, 0, f"config: {out + err}")
    for word in ("http://127.0.0.1:9", "max-ranges", "etag"):
        true(word in out, f"{word} is not in the effective configuration:\n{out}")
    true(
        re.search(r"max-ranges *= *3.*20-route\.ini:3|20-route\.ini:3.*max-ranges", out),
        f"no origin file:line at max-ranges:\n{out[:3000]}",
    )
    true(re.search(r"max-connections *= *\(secret\)", out), "what came from a file is shown")
    true(str(bench.folder / "state") in out or re.search(r"state-dir *= *state\b", out), "state-dir is not there")


@check("a relative path counts from its file, not from the working directory", area="config")
def relative(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"relative", fields=(("Cache-Control", "max-age=60"),)))
    pawl = bench.pawl(origin, name="deep/er", start=False)
    pawl.arguments = ["serve", "--config", str(pawl.file)]
    real, pawl.folder = pawl.folder, bench.folder
    pawl.start()
    get(pawl.address, "/x")
    pawl.stop()
    true((real / "state").is_dir() or (real / "cache").is_dir(), "nothing was made beside the file")
    true(not (bench.folder / "state").exists(), "state was made in the working directory")
    true((real / "access.log").exists(), "the access log is not beside the file")


@check("version, help, usage errors 64", area="command line")
def version(bench):
    code, out, err = run_pawl("version")
    same(code, 0, "exit code of version")
    for word in ("pawl", "swift", "libevent", "openssl"):
        true(word in out.lower(), f"{word} is not in {out!r}")
    for wrong in (["serve", "--bogus"], ["swerve"], ["check"], ["serve"]):
        code, out, err = run_pawl(*wrong, folder=bench.folder)
        same(code, 64, f"exit code of pawl {' '.join(wrong)} ({(out + err)[:200]})")
    code, out, err = run_pawl("--help")
    same(code, 0, "exit code of --help")
    for word in ("serve", "check", "config", "version", "demo"):
        true(word in out, f"{word} is not in the help")


@check("address in use or no disk is 69", area="command line")
def unavailable(bench):
    busy = bench.use(socket.create_server(("127.0.0.1", 0)))
    address = "127.0.0.1:%d" % busy.getsockname()[1]
    code, out, err = run_pawl(
        "serve", "--config", write(bench, SMALLEST + f"[listen:a]\naddress = {address}\n[pawl]\nstate-dir = s\n")
    )
    same(code, 69, f"exit code with a used address ({err[-300:]})")
    true(address in err + out, f"the address is not named: {err!r}")
    write(bench, "a file", "file")
    code, out, err = run_pawl(
        "serve",
        "--config",
        write(bench, SMALLEST + "[listen:a]\naddress = 127.0.0.1:0\n[pawl]\nstate-dir = file/state\n"),
    )
    same(code, 69, f"exit code with an impossible state folder ({err[-300:]})")


@check("a second pawl on the same cache is refused with 69", area="command line")
def second(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin)
    code, out, err = run_pawl("serve", "--config", str(pawl.file), folder=pawl.folder)
    same(code, 69, f"exit code ({err[-300:]})")


@check(
    "a second pawl on the same address and port is refused with 69, whatever the number of loops, and takes no "
    "connection",
    area="command line",
)
def same_address(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"the first", fields=(("Cache-Control", "no-store"),)))
    for mine, theirs in ((1, 2), (2, 1), (2, 2), (2, 3)):
        pawl = bench.pawl(origin, f"{mine}-{theirs}", pawl={"workers": str(mine)})
        host, port = pawl.address.removeprefix("http://").split(":")
        for place in (f"{host}:{port}", f"0.0.0.0:{port}"):
            code, out, err = run_pawl(
                "serve",
                "--config",
                write(
                    bench, SMALLEST + f"[listen:a]\naddress = {place}\n[pawl]\nworkers = {theirs}\nstate-dir = other\n"
                ),
            )
            same(code, 69, f"{mine} loops, then {theirs} at {place}: exit code ({err[-300:]})")
            true(place in err + out and "in use" in err + out, f"what is in use is not said: {err!r}")
        for _ in range(20):
            answer = get(pawl.address, "/x")
            same(answer.body, b"the first", f"an answer: {answer}")
        # Its own place is free again at once.
        pawl.restart()
        same(get(pawl.address, "/x").body, b"the first", "after a restart")
        pawl.stop()


def nobody():
    """A user who may read nothing here."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@check(
    "uploads list, show, resend and rm say 69 and why where the spool is not there, or may not be read",
    area="command line",
)
def unreadable_spool(bench):
    origin = bench.origin()
    pawl = bench.pawl(origin)
    text = pawl.file.read_text()
    spool = pawl.folder / "state" / "spool"

    def run(*arguments, before=None):
        found = subprocess.run(
            [binary(), "uploads", *arguments], capture_output=True, text=True, preexec_fn=before, timeout=20, cwd="/"
        )
        return found.returncode, found.stdout, found.stderr

    same(run("list", "--config", str(pawl.file)), (0, "no uploads\n", ""), "an empty spool")
    same(run("list", "--state", str(pawl.folder / "state")), (0, "no uploads\n", ""), "by its state directory")
    missing = str(bench.folder / "none")
    moved = write(bench, text + f"\n[spool:default]\npath = {missing}\n", "moved.ini")
    for command in (("list",), ("list", "--json"), ("show", "ab"), ("resend", "abcd"), ("rm", "abcd")):
        for where in (("--state", missing), ("--config", moved)):
            code, out, err = run(*command, *where)
            # With --json the message is JSON, on standard output.
            (told, nothing) = (out, err) if "--json" in command else (err, out)
            same((code, nothing), (69, ""), f"{command} {where}: {told}")
            true(missing in told and "No such file" in told, f"{command} {where}: {told}")
    if os.getuid() == 0:
        bench.folder.chmod(0o755)
        for closed in (spool, spool / "uploads.sqlite"):
            closed.chmod(0)
            code, out, err = run("list", "--state", str(pawl.folder / "state"), before=nobody)
            closed.chmod(0o755)
            same((code, out), (69, ""), f"{closed.name} may not be read: {err}")
            true(str(spool) in err and "ermission" in err, f"{closed.name}: {err}")


@check("serve --to URL --listen --state needs no file", area="command line")
def serve_to(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"no file needed", fields=(("Cache-Control", "max-age=60"),)))
    pawl = Pawl(
        bench.folder,
        "",
        arguments=["serve", "--to", origin.url, "--listen", "127.0.0.1:0", "--state", str(bench.folder / "s")],
    )
    bench.pawls.append(pawl)
    bench.stack.callback(pawl.end)
    pawl.start()
    same(get(pawl.address, "/x").body, b"no file needed", "body")
    true(get(pawl.address, "/x").hit, "the second answer is no hit")
    same(pawl.stop(), 0, "exit code")
    true((bench.folder / "s").is_dir(), "the state folder was not made")


@check("several addresses, a unix socket, a Ready line for each", area="listen")
def listeners(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x"))
    path = bench.folder / "pawl.sock"
    pawl = bench.pawl(origin, listen={"address": ["127.0.0.1:0", "[::1]:0", f"unix:{path}"]}, start=False)
    pawl.start(ready=3)
    same(get(pawl.addresses[0], "/x").body, b"x", "over IPv4")
    same(get(f"unix:{path}", "/x").body, b"x", "over the unix socket")
    six = next(a for a in pawl.addresses if "::1" in a)
    with socket.create_connection(("::1", int(six.rsplit(":", 1)[1].rstrip("/")))) as client:
        client.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        true(client.recv(100).startswith(b"HTTP/1.1 200"), "no answer over IPv6")


@check("prints commands, shows a resumed download, ends on Ctrl-C", area="demo", seconds=90)
def demo(bench):
    with open(bench.folder / "err", "wb") as err:
        process = subprocess.Popen(
            [binary(), "demo"], cwd=bench.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err
        )
    bench.stack.callback(lambda: process.poll() is None and process.kill())
    os.set_blocking(process.stdout.fileno(), False)
    text, end = "", time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        data = process.stdout.read()
        if data:
            text += data.decode(errors="replace")
        if (
            "curl" in text
            and re.search(r"resum|206", text, re.I)
            and re.search(r"identical|complete|same|match|SHA|✓|right", text, re.I)
        ):
            break
        time.sleep(0.1)
    true("curl" in text, f"no command to try in:\n{text[-1500:]}")
    true(re.search(r"resum", text, re.I), f"no resumed download shown in:\n{text[-1500:]}")
    url = re.search(r"http://127\.0\.0\.1:\d+\S*", text)
    true(url, "no URL in the output")
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(8)
    except subprocess.TimeoutExpired:
        raise Late("still running 8 s after Ctrl-C")
    same(code, 0, "exit code after Ctrl-C")
