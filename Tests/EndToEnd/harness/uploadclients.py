"""Real clients that upload through a cutting relay and resume as they do by themselves.

Each function uploads `file` to `endpoint`; `trip.folder` is its own, and it may start the client several times, as a
user would. Where the clients come from: tuspy, aiotus and resumable-upload from PyPI into .build/clients/venv
(Deploy/test puts them there, PAWL_CLIENTS_PYTHON names another interpreter); tus-js-client from `npm install --prefix
.build/clients tus-js-client@4 uppy@5` (PAWL_NODE_MODULES names another folder); programs of any other origin from the
folder PAWL_UPLOAD_CLIENTS, each called as `PROGRAM ENDPOINT FILE FOLDER` until it ends with 0.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from . import transport
from .certificates import authority
from .outcomes import Late, Skip
from .process import LIVING, ROOT
from .realclients import need, swift_trust

HERE = pathlib.Path(__file__).resolve().parents[1] / "uploaders"
KIND = "video/mp4"
BROKEN = (16, 18, 35, 52, 55, 56, 92)  # how curl ends when a connection or a stream was cut


class Trip:
    """One upload by one client: where it goes, what it sends, the relay between, and a folder."""

    def __init__(self, endpoint, file, content, relay, folder, over="clear"):
        self.endpoint, self.file, self.content, self.relay, self.folder = (
            endpoint,
            str(file),
            content,
            relay,
            str(folder),
        )
        self.over = over
        self.output, self.kind, self.starts = "", KIND, 0

    def run(self, command, tries=1, seconds=60, good=(0,), environment=None):
        """Runs the client until it ends well; its standard output is `output`."""
        for _ in range(tries):
            self.starts += 1
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                cwd=self.folder,
                env=clean(environment),
            )
            self.output = done.stdout.decode(errors="replace")
            if done.returncode in good:
                return done.returncode
        raise AssertionError(
            f"{os.path.basename(command[0])} gave up with {done.returncode}: "
            f"{self.output[-200:]}{done.stderr.decode(errors='replace')[-400:]}"
        )

    def kill_after(self, command, octets, seconds=30, environment=None):
        """Starts the client and kills it once so many bytes have passed."""
        self.starts += 1
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=clean(environment),
        )
        LIVING.add(process)
        end = time.monotonic() + seconds
        while self.relay.body < octets and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        alive = process.poll() is None
        process.kill()
        process.wait()
        LIVING.discard(process)
        if not alive or self.relay.body < octets:
            raise AssertionError(
                f"the client ended with {process.returncode} before it could be killed, after {self.relay.body} bytes"
            )


def clean(more=None):
    left_out = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {
        **{k: v for k, v in os.environ.items() if k not in left_out},
        "no_proxy": "*",
        **transport.trust(),
        **(more or {}),
    }


# -- tus, from PyPI --------------------------------------------------------------------------------------------------
def python_with(module):
    """A Python that has `module`."""
    for python in (
        os.environ.get("PAWL_CLIENTS_PYTHON"),
        str(ROOT / ".build" / "clients" / "venv" / "bin" / "python"),
        "/usr/bin/python3",
        shutil.which("python3"),
    ):
        if (
            python
            and os.access(python, os.X_OK)
            and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
        ):
            return python
    raise Skip(f"no Python here has {module}")


def tuspy(*words):
    def client(trip):
        trip.run([python_with("tusclient"), str(HERE / "with_tuspy.py"), trip.endpoint, trip.file, *words])

    return client


def tuspy_killed(trip):
    """Its URL storage finds the upload again in a second process."""
    command = [
        python_with("tusclient"),
        str(HERE / "with_tuspy.py"),
        trip.endpoint,
        trip.file,
        f"store={trip.folder}/store.json",
        "chunk=12000000",
    ]
    trip.kill_after(command, trip.content.size // 3)
    trip.run(command)


def aiotus(trip):
    trip.run([python_with("aiotus"), str(HERE / "with_aiotus.py"), trip.endpoint, trip.file])


def resumable_upload(trip):
    trip.run([python_with("resumable_upload"), str(HERE / "with_resumable_upload.py"), trip.endpoint, trip.file])


# -- tus-js-client ---------------------------------------------------------------------------------------------------
def node_modules():
    need("node")
    for folder in (os.environ.get("PAWL_NODE_MODULES"), str(ROOT / ".build" / "clients" / "node_modules")):
        if folder and os.path.exists(os.path.join(folder, "tus-js-client", "package.json")):
            return folder
    raise Skip("tus-js-client is not installed")


def script(*names):
    """A library's bundle for pages, below node_modules."""
    path = os.path.join(node_modules(), *names)
    if not os.path.exists(path):
        raise Skip(f"{names[0]} is not installed")
    return open(path, "rb").read()


def tus_js(**options):
    def client(trip):
        trip.run(
            ["node", str(HERE / "with_tus_js.mjs"), trip.endpoint, trip.file, json.dumps(options)],
            environment={"PAWL_NODE_MODULES": node_modules()},
        )

    return client


def tus_js_killed(**options):
    def client(trip):
        command = [
            "node",
            str(HERE / "with_tus_js.mjs"),
            trip.endpoint,
            trip.file,
            json.dumps(options),
            f"{trip.folder}/urls.json",
        ]
        environment = {"PAWL_NODE_MODULES": node_modules()}
        trip.kill_after(command, trip.content.size // 3, environment=environment)
        trip.run(command, environment=environment)

    return client


# -- curl, driven by hand --------------------------------------------------------------------------------------------
def complete(version, yes):
    return f"Upload-Incomplete: ?{int(not yes)}" if version == 3 else f"Upload-Complete: ?{int(yes)}"


def curl_draft(version, chunked=False):
    """curl prints the 104; what it says is then asked and continued with more curls."""

    def client(trip):
        need("curl")
        heads, body, rest = (os.path.join(trip.folder, name) for name in ("heads", "body", "rest"))
        common = [
            "curl",
            "-sS",
            *transport.curl(trip.over),
            "--noproxy",
            "*",
            "--max-time",
            "40",
            "-D",
            heads,
            "-o",
            body,
            "-H",
            f"Upload-Draft-Interop-Version: {version}",
        ]
        framing = ["-H", "Transfer-Encoding: chunked"] if chunked else []
        broken = (0, *BROKEN)
        code = trip.run(
            [
                *common,
                *framing,
                "-X",
                "POST",
                "-H",
                complete(version, True),
                "-H",
                f"Content-Type: {KIND}",
                "-T",
                trip.file,
                trip.endpoint,
            ],
            good=broken,
        )
        first = read(heads)
        found = re.search(
            rf"HTTP/(?:1\.1|2) 104[^\r\n]*\r\n(?:[^\r\n]+\r\n)*?upload-draft-interop-version: {version}\r\n",
            first,
            re.I,
        )
        url = re.search(r"\r\nlocation: (\S+)\r\n", first, re.I)
        if not found or not url:
            raise AssertionError(f"curl showed no 104 with a Location: {first!r}")
        for _ in range(12):
            if code == 0:
                break
            trip.run([*common, "-I", url.group(1)], good=broken)
            head = read(heads)
            told = re.search(r"\r\nupload-offset: (\d+)\r\n", head, re.I)
            if not re.match(r"HTTP/(1\.1|2) 20", head) or not told:
                raise AssertionError(f"HEAD: {head!r}")
            with open(trip.file, "rb") as source, open(rest, "wb") as target:
                source.seek(int(told.group(1)))
                shutil.copyfileobj(source, target)
            code = trip.run(
                [
                    *common,
                    *framing,
                    "-X",
                    "PATCH",
                    "-H",
                    complete(version, True),
                    "-H",
                    f"Upload-Offset: {told.group(1)}",
                    "-H",
                    "Content-Type: application/partial-upload",
                    "-T",
                    rest,
                    url.group(1),
                ],
                good=broken,
            )
        trip.answer, trip.heads, trip.url = read(body), read(heads), url.group(1)

    return client


def curl_as_tus_js(version):
    """The requests of tus-js-client with a draft and a file in Node: an empty creation, and PATCHes of which all but
    one of the whole file say `?0`."""

    def client(trip):
        need("curl")
        said = lambda *words: curl_said(trip, "-H", f"Upload-Draft-Interop-Version: {version}", *words)  # noqa: E731
        size = trip.content.size
        status, fields = said(
            "-X",
            "POST",
            "-H",
            "Upload-Complete: ?0",
            "-H",
            f"Upload-Length: {size}",
            "-H",
            "Content-Length: 0",
            trip.endpoint,
        )
        url, offset = fields.get("location"), int(fields.get("upload-offset", -1))
        if status != 201 or offset != 0:
            raise AssertionError(f"creation: {status} {fields}")
        for _ in range(12):
            status, fields = said(
                "-X",
                "PATCH",
                "-H",
                f"Upload-Complete: ?{int(offset == 0)}",
                "-H",
                f"Upload-Offset: {offset}",
                "-H",
                "Content-Type: application/partial-upload",
                "-T",
                tail(trip, offset),
                url,
            )
            if status is None:
                status, fields = said("-I", url)
            if not 200 <= status < 300 or "upload-offset" not in fields:
                raise AssertionError(f"no offset: {status} {fields}")
            offset = int(fields["upload-offset"])
            if offset == size:
                return
        raise AssertionError("too many tries")

    return client


def curl_as_tus_java(trip):
    """The requests of tus-java-client: POST with X-HTTP-Method-Override, chunked, Expect: 100-continue."""
    need("curl")
    tus = ["-H", "Tus-Resumable: 1.0.0"]
    status, fields = curl_said(
        trip, *tus, "-X", "POST", "-H", f"Upload-Length: {trip.content.size}", "-H", "Content-Length: 0", trip.endpoint
    )
    url, offset = fields.get("location"), 0
    if status != 201:
        raise AssertionError(f"creation: {status} {fields}")
    for _ in range(12):
        status, fields = curl_said(
            trip,
            *tus,
            "-X",
            "POST",
            "-H",
            "X-HTTP-Method-Override: PATCH",
            "-H",
            f"Upload-Offset: {offset}",
            "-H",
            "Content-Type: application/offset+octet-stream",
            "-H",
            "Transfer-Encoding: chunked",
            "-H",
            "Expect: 100-continue",
            "-T",
            tail(trip, offset),
            url,
        )
        if status == 204:
            return
        if status is not None:
            raise AssertionError(f"append: {status} {fields}")
        status, fields = curl_said(trip, *tus, "-I", url)
        offset = int(fields["upload-offset"])
    raise AssertionError("too many tries")


def tail(trip, offset):
    path = os.path.join(trip.folder, "rest")
    with open(trip.file, "rb") as source, open(path, "wb") as target:
        source.seek(offset)
        shutil.copyfileobj(source, target)
    return path


def curl_said(trip, *words):
    """Status and fields of the final answer; None where the connection broke."""
    heads = os.path.join(trip.folder, "heads")
    code = trip.run(
        [
            "curl",
            "-sS",
            *transport.curl(trip.over),
            "--noproxy",
            "*",
            "--max-time",
            "40",
            "-D",
            heads,
            "-o",
            os.devnull,
            *words,
        ],
        good=(0, *BROKEN),
    )
    if code:
        return None, {}
    final = read(heads).strip().split("\r\n\r\n")[-1].split("\r\n")
    return int(final[0].split(" ")[1]), {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in final[1:])
    }


def read(path):
    return open(path, "rb").read().decode("latin-1") if os.path.exists(path) else ""


# -- programs that are simply there ----------------------------------------------------------------------------------
def programs():
    folder = os.environ.get("PAWL_UPLOAD_CLIENTS")
    return (
        {path.name: str(path) for path in sorted(pathlib.Path(folder).iterdir()) if os.access(path, os.X_OK)}
        if folder
        else {}
    )


def program(path):
    def client(trip):
        trip.kind = None
        trip.run([path, trip.endpoint, trip.file, trip.folder], tries=8)

    return client


# -- plain uploads ---------------------------------------------------------------------------------------------------
CURL = ["curl", "-sS", "--noproxy", "*", "--fail"]
REQUESTS = """
import os, sys, requests
kind, url, path = sys.argv[1:]
session = requests.Session(); session.trust_env = False; session.verify = os.environ["REQUESTS_CA_BUNDLE"]
file = open(path, "rb")
body = iter(lambda: file.read(65536), b"") if kind == "chunked" else file
answer = session.put(url, data=body, headers={"Content-Type": "video/mp4"}, timeout=30)
print(answer.text); sys.exit(answer.status_code != 200)
"""

PLAIN = {  # name: what runs; the endpoint and the file are put in
    "curl -T": [*CURL, "-H", f"Content-Type: {KIND}", "-T", "{file}", "{url}"],
    "curl -T without Expect": [*CURL, "-H", "Expect:", "-T", "{file}", "{url}"],
    "curl -T chunked": [*CURL, "-H", "Transfer-Encoding: chunked", "-T", "{file}", "{url}"],
    "curl -T over HTTP/1.0": [*CURL, "--http1.0", "-T", "{file}", "{url}"],
    "curl --data-binary": [*CURL, "--data-binary", "@{file}", "{url}"],
    "curl --data-binary chunked": [*CURL, "-H", "Transfer-Encoding: chunked", "--data-binary", "@{file}", "{url}"],
    "wget --method=PUT": [
        "wget",
        "-q",
        "--no-proxy",
        "--tries=1",
        "--method=PUT",
        "--body-file={file}",
        "-O",
        "-",
        "{url}",
    ],
    "wget --post-file": ["wget", "-q", "--no-proxy", "--tries=1", "--post-file={file}", "-O", "-", "{url}"],
    "requests": ["python", "-c", REQUESTS, "length", "{url}", "{file}"],
    "requests chunked": ["python", "-c", REQUESTS, "chunked", "{url}", "{file}"],
    "URLSession from a file": ["urlsession", "file", "{url}", "{file}"],
    "URLSession from data": ["urlsession", "data", "{url}", "{file}"],
}


def plain_command(name, url, file, over="clear"):
    """What runs, for a transport; a client that does not speak it is left out."""
    if over not in ("clear", "tls") and (
        not name.startswith(("curl", "URLSession")) or "HTTP/1.0" in name or (over == "h2c" and "URLSession" in name)
    ):
        raise Skip(f"{name} does not speak {over}")
    command = [word.replace("{url}", url).replace("{file}", str(file)) for word in PLAIN[name]]
    if command[0] == "python":
        command[0] = python_with("requests")
    elif command[0] == "urlsession":
        command[0] = urlsession_uploader()
        command[:0] = ["env", *(f"{name}={value}" for name, value in swift_trust().items())]
    else:
        need(command[0])
    if command[0] == "curl":
        command[1:1] = transport.curl(over)
    elif command[0] == "wget" and over == "tls":
        command[1:1] = [f"--ca-certificate={authority().file}"]
    return command


def urlsession_uploader():
    """The URLSession upload client, compiled once into the build folder."""
    need("swiftc")
    source = HERE / "URLSessionUpload.swift"
    program = pathlib.Path(os.environ.get("PAWL_URLSESSION_UPLOADER") or ROOT / ".build" / "urlsession-uploader")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        made = program.with_name(f"{program.name}.{os.getpid()}")  # two checks may need it at the same time
        done = subprocess.run(
            ["swiftc", "-swift-version", "6", "-parse-as-library", "-O", str(source), "-o", str(made)],
            capture_output=True,
        )
        if done.returncode:
            raise AssertionError(f"swiftc: {done.stderr.decode(errors='replace')[-1000:]}")
        made.replace(program)
    return str(program)


# -- a page in a browser ---------------------------------------------------------------------------------------------
@contextlib.contextmanager
def page(trip, address, ready="byHand"):
    """The upload page, or another with a function `ready`, opened in headless Chromium; gives a function that evaluates
    an expression there."""
    from .devtools import Chromium

    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        raise Skip("chromium is not installed")
    with Chromium(os.path.join(trip.folder, "browser")) as browser:
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

        def evaluate(expression):
            answer = browser.call(
                "Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=False
            )
            if "exceptionDetails" in answer:
                raise AssertionError(
                    f"{expression}: "
                    f"{answer['exceptionDetails'].get('exception', {}).get('description', answer['exceptionDetails'])}"
                )
            return answer["result"].get("value")

        def load():
            browser.call("Page.navigate", session, url=address)
            wait_until(
                lambda: evaluate(f"document.readyState === 'complete' && typeof {ready} === 'function'"), 15, "the page"
            )

        load()
        yield evaluate, load


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Late(f"{what} did not come within {seconds} s")
        time.sleep(0.05)


def page_upload(trip, evaluate, call, seconds=60, until=None):
    """Starts an upload on the page and waits for its end, or until so many bytes have passed the relay."""
    evaluate(f"void ({call})")
    if until is not None:
        wait_until(lambda: trip.relay.body >= until, seconds, f"{until} bytes")
        return None
    wait_until(lambda: evaluate("state.end"), seconds, f"the end of {call} (state {evaluate('JSON.stringify(state)')})")
    state = json.loads(evaluate("JSON.stringify(state)"))
    if state["end"] != "success":
        raise AssertionError(f"{call}: {state}")
    return state
