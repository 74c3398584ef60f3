"""Real clients that download through a cutting relay and resume as they do by themselves.

Each function downloads `url` into `folder` and returns the path of the file; it may start the client several times, as a user would.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from .checks import Skip
from .process import ROOT


def again(command, path, tries=12, good=(0,), seconds=60):
    for _ in range(tries):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        if done.returncode in good:
            return path
    raise AssertionError(f"{command[0]} gave up with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")


def curl(url, folder):
    """curl -C -: Range without If-Range, a new process for each try."""
    need("curl")
    path = os.path.join(folder, "file")
    return again(["curl", "-sS", "--noproxy", "*", "-C", "-", "-o", path, url], path)


def wget(url, folder):
    """wget -c: retries and resumes within one process."""
    need("wget")
    path = os.path.join(folder, "file")
    return again(["wget", "-q", "--no-proxy", "-c", "--tries=10", "--waitretry=1", "-O", path, url], path, tries=3)


def aria2(url, folder):
    """aria2c -x4: segments side by side, a control file between processes."""
    need("aria2c")
    return again(["aria2c", "-q", "--no-conf", "--all-proxy=", "-x4", "-s4", "-k1M", "-c", "--file-allocation=none", "--max-tries=8", "--retry-wait=1",
                  "-d", folder, "-o", "file", url], os.path.join(folder, "file"), tries=4)


def requests(url, folder):
    """Python requests in the usual loop: Range and If-Range with the tag, else the date."""
    path = os.path.join(folder, "file")
    script = """
import sys, requests
url, path = sys.argv[1:]
got, validator = 0, None
session = requests.Session(); session.trust_env = False
for attempt in range(12):
    fields = {"Range": f"bytes={got}-", "If-Range": validator} if got and validator else {}
    try:
        with session.get(url, headers=fields, stream=True, timeout=20) as answer:
            if answer.status_code == 200:
                got = 0
            elif answer.status_code != 206 or not answer.headers["Content-Range"].startswith(f"bytes {got}-"):
                sys.exit(f"status {answer.status_code}")
            if validator is None or got == 0:
                validator = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
            with open(path, "r+b" if got else "wb") as file:
                file.seek(got)
                for piece in answer.iter_content(16384):
                    file.write(piece); got += len(piece)
            sys.exit(0)
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError):
        pass
sys.exit("too many tries")
"""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import requests"], capture_output=True).returncode == 0:
            return again([python, "-c", script, url, path], path, tries=1)
    raise Skip("Python's requests is not installed")


def chromium(url, folder):
    """Headless Chromium: resumes by itself after FIN."""
    from .devtools import Chromium
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        raise Skip("chromium is not installed")
    with Chromium(os.path.join(folder, "browser")) as browser:
        state, path = browser.download(url, os.path.join(folder, "downloads"))
    if state != "completed":
        raise AssertionError(f"Chromium's download is {state}")
    return path


def swift_client():
    """The URLSession client, compiled once into the build folder."""
    need("swiftc")
    source = ROOT / "Tests" / "EndToEnd" / "URLSessionClient" / "main.swift"
    program = pathlib.Path(os.environ.get("PAWL_URLSESSION_CLIENT") or ROOT / ".build" / "urlsession-client")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        done = subprocess.run(["swiftc", "-swift-version", "6", "-O", str(source), "-o", str(program)], capture_output=True)
        if done.returncode:
            raise AssertionError(f"swiftc: {done.stderr.decode(errors='replace')[-1000:]}")
    return str(program)


def urlsession(style):
    def client(url, folder):
        path = os.path.join(folder, "file")
        return again([swift_client(), style, url, path], path, tries=1, seconds=90)
    client.__name__ = f"urlsession_{style}"
    return client


CLIENTS = {  # name: (function, how connections are cut, may its count of octets sent again vary from run to run)
    "curl -C -": (curl, ("rst", "fin"), False),
    "wget -c": (wget, ("rst", "fin"), False),
    "aria2 -x4": (aria2, ("fin", "rst"), True),
    "requests": (requests, ("rst", "fin"), True),
    "Chromium": (chromium, ("fin", "fin"), False),
    "URLSession as Nuke": (urlsession("nuke"), ("rst", "fin"), True),
    "URLSession as Alamofire": (urlsession("alamofire"), ("fin", "rst"), True),
    "URLSession as RealHTTP": (urlsession("realhttp"), ("rst", "rst"), True),
}


def plan_for(name, size, hows):
    """Which connections are cut, after how many octets. Chromium opens spare connections: only those that carry data count."""
    if name.startswith("aria2"):
        cuts = {0: (size // 8, hows[0]), 1: (size // 10, hows[1]), 3: (size // 16, hows[0])}
        return lambda number: cuts.get(number)
    done = []

    def plan(number):
        at = (size * 3 // 10, size // 3)
        if len(done) < 2:
            done.append(number)
            return at[len(done) - 1], hows[len(done) - 1]
        return None
    return plan


def download(name, server, size, digest, path="/file"):
    """Downloads `path` of `server` (host, port) through a cutting relay; (octets sent again, cuts, requests)."""
    import hashlib
    import tempfile
    from .relay import Relay
    function, hows, _ = CLIENTS[name]
    with tempfile.TemporaryDirectory(prefix="pawl-client-", dir=os.environ.get("PAWL_CHECK_DIR")) as folder, \
            Relay(server, plan_for(name, size, hows), rate=60e6 if name.startswith(("aria2", "Chromium")) else None) as relay:
        file = function(relay.address + path, folder)
        with open(file, "rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != digest:
            raise AssertionError(f"{name}: the file of {os.path.getsize(file)} octets is wrong")
        return relay.body.get(path, 0) - size, relay.cuts, [r.split(b"\r\n")[0] + b" " + b" ".join(
            line for line in r.split(b"\r\n") if line.lower().startswith((b"range", b"if-range"))) for r in relay.requests]
