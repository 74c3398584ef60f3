"""Real clients that download through a cutting relay and resume as they do by themselves.

Each function downloads `url` over a transport into `folder` and returns the path of the file; it may start the client
several times, as a user would.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from . import transport
from .certificates import authority
from .checks import Skip
from .process import ROOT


def again(command, path, tries=12, good=(0,), seconds=60, environment=None):
    for _ in range(tries):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env={**os.environ, **transport.trust(), **(environment or {})},
        )
        if done.returncode in good:
            return path
    raise AssertionError(f"{command[0]} gave up with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")


def trusting(over, option):
    return [option + str(authority().file)] if over in transport.SECURE else []


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")


def curl(url, folder, over="clear"):
    """curl -C -: Range without If-Range, a new process for each try."""
    need("curl")
    path = os.path.join(folder, "file")
    return again(["curl", "-sS", "--noproxy", "*", *transport.curl(over), "-C", "-", "-o", path, url], path)


def curl_if_range(url, folder, over="clear"):
    """curl with Range and If-Range, as one who has kept the tag of the first answer; a new process for each try."""
    need("curl")
    path, heads, piece = (os.path.join(folder, name) for name in ("file", "heads", "piece"))
    tag = None
    for _ in range(12):
        have = os.path.getsize(path) if os.path.exists(path) else 0
        asked = ["-H", f"Range: bytes={have}-", "-H", f"If-Range: {tag}"] if tag and have else []
        done = subprocess.run(
            ["curl", "-sS", "--noproxy", "*", *transport.curl(over), "-D", heads, *asked, "-o", piece, url],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        head = open(heads, "rb").read().decode("latin-1") if os.path.exists(heads) else ""
        final = [part for part in head.split("\r\n\r\n") if part][-1:] or [""]
        status = final[0].split(" ")[1] if " " in final[0] else ""
        if status not in ("200", "206"):
            raise AssertionError(f"curl: {head!r} {done.stderr!r}")
        tag = tag or next(
            (line.partition(":")[2].strip() for line in final[0].split("\r\n") if line.lower().startswith("etag:")),
            None,
        )
        with open(path, "ab" if status == "206" else "wb") as file, open(piece, "rb") as got:
            shutil.copyfileobj(got, file)
        if done.returncode == 0:
            return path
    raise AssertionError(f"curl gave up with {done.returncode}: {done.stderr!r}")


def wget(url, folder, over="clear"):
    """wget -c: retries and resumes within one process."""
    need("wget")
    path = os.path.join(folder, "file")
    return again(
        [
            "wget",
            "-q",
            "--no-proxy",
            "-c",
            "--tries=10",
            "--waitretry=1",
            *trusting(over, "--ca-certificate="),
            "-O",
            path,
            url,
        ],
        path,
        tries=3,
    )


def aria2(url, folder, over="clear"):
    """aria2c -x4: segments side by side, a control file between processes."""
    need("aria2c")
    return again(
        [
            "aria2c",
            "-q",
            *trusting(over, "--ca-certificate="),
            "--no-conf",
            "--all-proxy=",
            "-x4",
            "-s4",
            "-k1M",
            "-c",
            "--file-allocation=none",
            "--max-tries=8",
            "--retry-wait=1",
            "-d",
            folder,
            "-o",
            "file",
            url,
        ],
        os.path.join(folder, "file"),
        tries=4,
    )


def requests(url, folder, over="clear"):
    """Python requests in the usual loop: Range and If-Range with the tag, else the date."""
    path = os.path.join(folder, "file")
    script = """
import sys, requests
url, path, ca = sys.argv[1:]
got, validator = 0, None
session = requests.Session(); session.trust_env = False; session.verify = ca
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
            return again([python, "-c", script, url, path, str(authority().file)], path, tries=1)
    raise Skip("Python's requests is not installed")


def chromium(url, folder, over="clear"):
    """Headless Chromium: resumes by itself after FIN; over HTTP/2 its user has to press Resume."""
    from .devtools import Chromium

    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        raise Skip("chromium is not installed")
    with Chromium(os.path.join(folder, "browser")) as browser:
        state, path = browser.download(url, os.path.join(folder, "downloads"), resumes=4 if over == "h2" else 0)
    if state != "completed":
        raise AssertionError(f"Chromium's download is {state}")
    return path


# Programs that download in four pieces side by side: the command for a URL and a file.
TOOLS = {
    "aria2c": lambda url, file: [
        "aria2c",
        "-q",
        "--no-conf",
        "--all-proxy=",
        "-x4",
        "-s4",
        "-k1M",
        "--file-allocation=none",
        "-d",
        str(file.parent),
        "-o",
        file.name,
        url,
    ],
    "axel": lambda url, file: ["axel", "-q", "-n4", "-o", str(file), url],
    "lftp": lambda url, file: ["lftp", "-c", f"pget -n 4 {url} -o {file}"],
}


def swift_client():
    """The URLSession client, compiled once into the build folder."""
    need("swiftc")
    source = ROOT / "Tests" / "EndToEnd" / "URLSessionClient" / "main.swift"
    program = pathlib.Path(os.environ.get("PAWL_URLSESSION_CLIENT") or ROOT / ".build" / "urlsession-client")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        made = program.with_name(f"{program.name}.{os.getpid()}")  # two checks may need it at the same time
        done = subprocess.run(
            ["swiftc", "-swift-version", "6", "-O", str(source), "-o", str(made)], capture_output=True
        )
        if done.returncode:
            raise AssertionError(f"swiftc: {done.stderr.decode(errors='replace')[-1000:]}")
        made.replace(program)
    return str(program)


def swift_trust():
    """Environment in which programs that use URLSession trust the authority of the checks: Foundation has no word for
    that on Linux, so a few lines of C set it in the libcurl below."""
    source, library = (
        ROOT / "Tests" / "EndToEnd" / "URLSessionClient" / "trust.c",
        ROOT / ".build" / "urlsession-trust.so",
    )
    compiler = next((c for c in ("clang", "cc", "gcc") if shutil.which(c)), None)
    if not compiler:
        raise Skip("there is no C compiler")
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        library.parent.mkdir(exist_ok=True)
        made = library.with_name(f"{library.name}.{os.getpid()}")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"], check=True, capture_output=True
        )
        made.replace(library)
    return {"LD_PRELOAD": str(library), "PAWL_CHECK_CA": str(authority().file)}


def urlsession(style):
    def client(url, folder, over="clear"):
        path = os.path.join(folder, "file")
        return again([swift_client(), style, url, path], path, tries=1, seconds=90, environment=swift_trust())

    client.__name__ = f"urlsession_{style}"
    return client


V1 = ("clear", "tls")
BROWSERS = ("clear", "tls", "h2")
CLIENTS = {  # name: (function, how connections are cut, may its count of bytes sent again vary from run to run)
    "curl -C -": (curl, ("rst", "fin"), False),
    "curl with If-Range": (curl_if_range, ("fin", "rst"), False),
    "wget -c": (wget, ("rst", "fin"), False),
    "aria2 -x4": (aria2, ("fin", "rst"), True),
    "requests": (requests, ("rst", "fin"), True),
    "Chromium": (chromium, ("fin", "fin"), False),
    "URLSession as Nuke": (urlsession("nuke"), ("rst", "fin"), True),
    "URLSession as Alamofire": (urlsession("alamofire"), ("fin", "rst"), True),
    "URLSession as RealHTTP": (urlsession("realhttp"), ("rst", "rst"), True),
}


OVER = {
    "wget -c": V1,
    "aria2 -x4": V1,
    "requests": V1,
    "Chromium": BROWSERS,
    "URLSession as Nuke": BROWSERS,
    "URLSession as Alamofire": BROWSERS,
    "URLSession as RealHTTP": BROWSERS,
}
WHY = {V1: "it speaks HTTP/1.1 only", BROWSERS: "it takes HTTP/2 over TLS only"}


def plan_for(name, size, hows):
    """Which connections are cut, after how many bytes. Chromium opens spare connections: only those that carry data
    count."""
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


def download(name, server, size, digest, path="/file", over="clear"):
    """Downloads `path` of `server` (host, port) through a cutting relay; (bytes sent again, cuts, requests)."""
    import hashlib
    import tempfile

    from .relay import Relay

    function, hows, _ = CLIENTS[name]
    with (
        tempfile.TemporaryDirectory(prefix="pawl-client-", dir=os.environ.get("PAWL_CHECK_DIR")) as folder,
        Relay(
            server, plan_for(name, size, hows), rate=60e6 if name.startswith(("aria2", "Chromium")) else None, over=over
        ) as relay,
    ):
        file = function(relay.address + path, folder, over)
        with open(file, "rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != digest:
            raise AssertionError(f"{name}: the file of {os.path.getsize(file)} bytes is wrong")
        return (
            relay.body.get(path, 0) - size,
            relay.cuts,
            [
                r.split(b"\r\n")[0]
                + b" "
                + b" ".join(line for line in r.split(b"\r\n") if line.lower().startswith((b"range", b"if-range")))
                for r in relay.requests
            ],
        )
