"""Real programs, with and without pawl before them: the same pages, logins, forms, transfers; downloads cut on both
sides come whole.

Each is configured by the example of Config/ that is for its kind, of which nothing is replaced but addresses, paths,
hosts and the upstream's URL.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess

from harness import certificates, programs, uploadclients
from harness.checks import CLEAR, Skip, check, only, same, timely, true
from harness.client import parse_address
from harness.content import Content
from harness.devtools import Chromium
from harness.process import Pawl, wait_for
from harness.programs import VENV, example, program
from harness.relay import Relay
from harness.uploadrelay import UploadRelay
from harness.visitor import Visitor, differences

only(CLEAR, "what the programs say; their clients speak HTTP/1.1", __name__)


# -- the frame -------------------------------------------------------------------------------------------------------
def pawl(bench, name, ini, urls, ready=1, **options):
    made = Pawl(bench.folder / name, example(ini, bench.folder / name, urls, **options))
    bench.pawls.append(made)
    bench.stack.callback(made.end)
    return made.start(ready=ready)


def beside(bench, kind, ini, visit, page="/"):
    """The visit to the program alone and to a second one, begun anew at the same place, through pawl; fails where
    something is worse."""
    rows, times = [], []
    for through in (False, True):
        shutil.rmtree(bench.folder / "program", ignore_errors=True)
        with kind(bench.folder / "program") as served:
            visitor = Visitor(pawl(bench, "pawl", ini, served.address).address if through else served.address)
            visit(visitor, served)
            times.append(visitor.first_octet(page))
            rows.append(visitor.seen)
    wrong = differences(*rows)
    true(not wrong, f"{len(wrong)} things are worse through pawl: " + " | ".join(wrong))
    timely(
        times[1] < times[0] + 10,
        f"the first byte of {page} comes after {times[1]:.1f} ms, without pawl after {times[0]:.1f}",
    )


class Cut:
    """Relays on both sides of a pawl that cut the first connections with data, each further on in the body."""

    def __init__(self, bench, name, ini, served, size, towards=("rst", "fin"), origin=("rst", "fin")):
        self.size = size
        self.back = bench.use(Relay(parse_address(served.address), self.plan(origin, 0.15)))
        self.pawl = pawl(bench, name, ini, self.back.address)
        self.front = bench.use(Relay(parse_address(self.pawl.address), self.plan(towards, 0.3), rate=60e6))
        self.address = self.front.address

    def plan(self, hows, first):
        left = list(hows)

        def of(number):
            if not left:
                return None
            return int(self.size * (first + 0.02 * len(left))), left.pop(0)

        return of


def whole(bench, what, cut, path, digest, client, **options):
    """Downloads by a client through the cuts, and compares the whole."""
    folder = bench.folder / f"got {what}"
    folder.mkdir(exist_ok=True)
    file = client(cut.address + path, folder, **options)
    found = hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
    same(
        found,
        digest,
        f"{what}: the file of {os.path.getsize(file)} bytes, after {cut.front.cuts} cuts before and {cut.back.cuts} "
        "behind pawl",
    )
    true(cut.front.cuts, f"{what}: nothing was cut before pawl: {cut.front.requests}")
    again = cut.front.body.get(path, 0) - os.path.getsize(file)
    true(again < cut.size * 0.1, f"{what}: {again} bytes were sent to the client again: {cut.front.requests}")


def run(command, folder=None, good=0, **environment):
    left_out = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=90,
        env={**kept, "no_proxy": "*", **environment},
    )
    if good is not None:
        same(done.returncode, good, f"{' '.join(map(str, command))}: {done.stdout[-500:]!r} {done.stderr[-500:]!r}")
    return done


def curl(url, folder, cookies=None, fields=()):
    """curl -C -: a new process for each try, no tag."""
    path = folder / "file"
    for _ in range(10):
        more = [word for line in fields for word in ("-H", line)]
        done = run(
            [
                program("curl"),
                "-sS",
                "--noproxy",
                "*",
                "-C",
                "-",
                *(["-b", cookies] if cookies else []),
                *more,
                "-o",
                path,
                url,
            ],
            good=None,
        )
        if done.returncode == 0:
            return path
        true(done.returncode in (18, 56), f"curl -C -: {done.returncode} {done.stderr!r}")
    raise AssertionError("curl did not come to an end")


def if_range(url, folder, cookies=None, fields=()):
    """curl with Range and the tag of the first answer in If-Range, as a program does that keeps it."""
    path, piece, heads = folder / "file", folder / "piece", folder / "heads"
    path.write_bytes(b"")
    tag = None
    for _ in range(10):
        held = path.stat().st_size
        more = [word for line in fields for word in ("-H", line)]
        asked = ["-H", f"Range: bytes={held}-", "-H", f"If-Range: {tag}"] if held and tag else []
        done = run(
            [
                program("curl"),
                "-sS",
                "--noproxy",
                "*",
                *(["-b", cookies] if cookies else []),
                *more,
                *asked,
                "-D",
                heads,
                "-o",
                piece,
                url,
            ],
            good=None,
        )
        head = heads.read_bytes().decode("latin-1").split("\r\n")
        status = head[0].split(" ")[1]
        true(status in ("200", "206"), f"If-Range: {head}")
        tag = tag or next((line.partition(":")[2].strip() for line in head if line.lower().startswith("etag:")), None)
        path.write_bytes((path.read_bytes() if status == "206" else b"") + piece.read_bytes())
        if done.returncode == 0:
            return path
    raise AssertionError("curl did not come to an end")


def browser_download(url, folder, cookies=None):
    """Headless Chromium's download, resumed by itself."""
    program("chromium", "google-chrome")
    with Chromium(folder / "browser") as browser:
        for name, _, value in (each.partition("=") for each in (cookies or "").split("; ") if each):
            browser.call("Storage.setCookies", cookies=[{"name": name, "value": value, "url": url}])
        state, path = browser.download(url, folder / "downloads")
    same(state, "completed", f"Chromium's download: {state}")
    return path


CLIENTS = {"curl -C -": curl, "If-Range": if_range, "Chromium": browser_download}


def by_all(
    bench, ini, served, clients=CLIENTS, hows=("rst", "fin"), origin=("rst", "fin"), path=None, digest=None, **options
):
    for name in clients:
        towards = ("fin", "fin") if name == "Chromium" else hows
        cut = Cut(bench, f"cut {name}", ini, served, served.size, towards, origin)
        whole(bench, name, cut, path or served.large, digest or served.digest, clients[name], **options)
        true(not origin or cut.back.cuts, f"{name}: nothing was cut behind pawl")
        cut.pawl.stop()


def in_browser(visitor, folder):
    """A tab of a browser of its own."""
    program("chromium", "google-chrome")
    return Chromium(folder / "browser")


# -- nginx -----------------------------------------------------------------------------------------------------------
def files(visitor, served):
    """Listings, pages, redirects, conditions, ranges, what is not there."""
    visitor.ask("listing", "/")
    visitor.ask("page", "/page.html")
    visitor.ask("text", "/text.txt")
    visitor.ask("sub folder", "/sub%20folder/")
    visitor.ask("no slash", "/sub%20folder")
    visitor.ask("json", "/sub%20folder/inner.json")
    visitor.ask("head", "/large.bin", "HEAD", note="head")
    visitor.ask("whole", "/large.bin")
    visitor.ask("missing", "/nowhere")
    answer = visitor.ask("page again", "/page.html")
    visitor.ask(
        "not modified", "/page.html", fields=(("If-Modified-Since", answer.get("Last-Modified")),), note="status"
    )
    done = run([program("curl"), "-sS", "-L", "--compressed", visitor.address + "/text.txt"])
    visitor.note("curl --compressed", hashlib.sha256(done.stdout).hexdigest())
    with in_browser(visitor, served.folder) as browser:
        page = browser.page()
        visitor.note("Chromium: listing", page.go(visitor.address + "/"))
        visitor.note("Chromium: page", page.go(visitor.address + "/page.html"))
        visitor.note("Chromium: a link", page.loaded(lambda: page.run("document.querySelector('a').click()")))
        visitor.note("Chromium: fetch", page.run("fetch('/text.txt').then(a => a.text()).then(t => t.length)"))


@check(
    "nginx with listings behind Config/fileserver.ini: pages as without pawl, downloads cut on both sides come whole",
    area="program",
    seconds=90,
)
def nginx(bench):
    def visit(visitor, served):
        files(visitor, served)
        visitor.ask("redirect", "/old")
        visitor.ask("part", "/large.bin", fields=(("Range", "bytes=1000-1999"),))
        visitor.ask("past the end", "/large.bin", fields=(("Range", "bytes=99999999-"),), note="status")
        visitor.ask("method", "/page.html", "POST", body=b"x", note="head")

    beside(bench, programs.NginxFiles, "fileserver.ini", visit)
    with programs.NginxFiles(bench.folder / "program-to-cut") as served:
        by_all(bench, "fileserver.ini", served)


@check(
    "nginx behind Config/minimal.ini: pages as without pawl, downloads cut on both sides come whole",
    area="program",
    seconds=90,
)
def smallest(bench):
    beside(bench, programs.NginxFiles, "minimal.ini", files)
    with programs.NginxFiles(bench.folder / "program-to-cut") as served:
        by_all(bench, "minimal.ini", served, clients={"curl -C -": curl})


@check(
    "python3 -m http.server behind Config/fileserver.ini: pages as without pawl, downloads cut on both sides come "
    "whole",
    area="program",
    seconds=90,
)
def http_server(bench):
    beside(bench, programs.HTTPServer, "fileserver.ini", files)
    with programs.HTTPServer(bench.folder / "program-to-cut") as served:
        by_all(bench, "fileserver.ini", served)


# -- Apache ----------------------------------------------------------------------------------------------------------
PROPFIND = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><getcontentlength/><resourcetype/><getetag/></prop></propfind>'
)
LOCK = b'<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>check</owner></lockinfo>'


def dav(visitor, served):
    files(visitor, served)
    where = visitor.address
    visitor.ask("OPTIONS", "/", "OPTIONS")
    visitor.ask(
        "PROPFIND", "/", "PROPFIND", fields=(("Depth", "1"), ("Content-Type", "application/xml")), body=PROPFIND
    )
    visitor.ask("PUT", "/new.txt", "PUT", body=b"first")
    visitor.ask("GET what was put", "/new.txt", note="fresh")
    visitor.ask("PUT again", "/new.txt", "PUT", body=b"second")
    visitor.ask("GET what was put again", "/new.txt", note="fresh")
    visitor.ask("GET what will be replaced", "/text.txt")
    visitor.ask("MOVE", "/new.txt", "MOVE", fields=(("Destination", f"{where}/text.txt"), ("Overwrite", "T")))
    visitor.ask("GET what was replaced", "/text.txt", note="fresh")
    visitor.ask("GET what was moved", "/new.txt", note="fresh")
    visitor.ask("COPY refused", "/page.html", "COPY", fields=(("Destination", f"{where}/text.txt"), ("Overwrite", "F")))
    visitor.ask("GET below a folder", "/sub%20folder/inner.json")
    visitor.ask("MKCOL", "/made/", "MKCOL")
    visitor.ask("COPY", "/page.html", "COPY", fields=(("Destination", f"{where}/made/page.html"),))
    locked = visitor.ask("LOCK", "/made/page.html", "LOCK", fields=(("Content-Type", "application/xml"),), body=LOCK)
    visitor.ask("PUT into a lock", "/made/page.html", "PUT", body=b"x")
    token = locked.get("Lock-Token", "")
    visitor.ask("PUT with the lock", "/made/page.html", "PUT", fields=(("If", f"({token})"),), body=b"mine")
    visitor.ask("UNLOCK", "/made/page.html", "UNLOCK", fields=(("Lock-Token", token),))
    visitor.ask("DELETE a folder", "/sub%20folder/", "DELETE")
    visitor.ask("GET below what was deleted", "/sub%20folder/inner.json")
    visitor.ask("the listing after it", "/made/")
    visitor.ask("a login is asked for", "/own/text.txt")
    visitor.ask("wrong login", "/own/text.txt", fields=(("Authorization", "Basic YW5uYTpmYWxzZQ=="),), note="head")
    visitor.ask("right login", "/own/text.txt", fields=(("Authorization", "Basic YW5uYTpzZWNyZXQ="),))
    visitor.ask("and without it again", "/own/text.txt")
    try:
        program("cadaver")
    except Skip:
        return
    (served.folder / "put.bin").write_bytes(bytes(range(256)) * 4000)
    script = served.folder / "script"
    script.write_text(
        f"open {where}/\nput {served.folder}/put.bin\nmkcol box\nmove put.bin box/put.bin\nls box\nget box/put.bin "
        f"{served.folder}/got.bin\ndelete box/put.bin\nls box\nquit\n"
    )
    done = subprocess.run(
        [program("cadaver")],
        stdin=script.open("rb"),
        capture_output=True,
        timeout=30,
        env={**os.environ, "HOME": str(served.folder)},
    )
    text = done.stdout.decode(errors="replace").replace(str(served.folder), "FOLDER")
    visitor.note(
        "cadaver", "\n".join(line for line in text.splitlines() if "[" not in line and "put.bin  " not in line)
    )
    visitor.note(
        "cadaver's file",
        hashlib.sha256((served.folder / "got.bin").read_bytes()).hexdigest()
        if (served.folder / "got.bin").exists()
        else None,
    )


@check(
    "Apache with mod_dav behind Config/webdav.ini: WebDAV as without pawl, downloads cut on both sides come whole",
    area="program",
    seconds=90,
)
def apache(bench):
    os.chmod(bench.folder, 0o755)  # Apache gives its files to a user of its own
    beside(bench, programs.Apache, "webdav.ini", dav)
    with programs.Apache(bench.folder / "program-to-cut") as served:
        by_all(bench, "webdav.ini", served)
        # What is behind Basic goes on for who shows the same credentials.
        login = "Authorization: Basic YW5uYTpzZWNyZXQ="
        size, digest = 100_000, hashlib.sha256((served.folder / "files" / "own" / "large.bin").read_bytes()).hexdigest()
        for name in ("curl -C -", "If-Range"):
            cut = Cut(bench, f"own {name}", "webdav.ini", served, size)
            whole(bench, f"own {name}", cut, "/own/large.bin", digest, CLIENTS[name], fields=(login,))


# -- PHP, Flask ------------------------------------------------------------------------------------------------------
def token_of(answer):
    return answer.body.decode().partition('name="token" value="')[2].partition('"')[0]


def multipart(token, name, data):
    edge = "edge0123456789"
    parts = (
        f'--{edge}\r\nContent-Disposition: form-data; name="token"\r\n\r\n{token}\r\n'
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: '
        "application/octet-stream\r\n\r\n"
    ).encode()
    return {
        "fields": (("Content-Type", f"multipart/form-data; boundary={edge}"),),
        "body": parts + data + f"\r\n--{edge}--\r\n".encode(),
    }


def session(visitor, served):
    """A login that fails, one that succeeds, pages and forms behind it, an upload, a download, the logout."""
    visitor.ask("start", "/")
    visitor.ask("account before the login", "/account")
    form = visitor.ask("login form", "/login")
    visitor.ask("wrong password", "/login", "POST", form={"token": token_of(form), "name": "anna", "password": "?"})
    visitor.ask("wrong token", "/login", "POST", form={"token": "?", "name": "anna", "password": "secret"})
    visitor.ask("login", "/login", "POST", form={"token": token_of(form), "name": "anna", "password": "secret"})
    account = visitor.ask("account", "/account")
    visitor.ask("start, logged in", "/")
    visitor.ask("upload", "/upload", "POST", **multipart(token_of(account), "a file.bin", bytes(range(256)) * 8000))
    visitor.ask("download", served.large)
    others, visitor.cookies = visitor.cookies, {}
    visitor.ask("download by a stranger", served.large)
    visitor.ask("account for a stranger", "/account")
    visitor.cookies = others
    with in_browser(visitor, served.folder) as browser:
        page = browser.page()
        visitor.note("Chromium: not logged in", page.go(visitor.address + "/account"))
        visitor.note("Chromium: login", page.fill(name="bert", password="secret"))
        visitor.note("Chromium: address", page.run("location.href"))
        visitor.note("Chromium: cookies", page.run("document.cookie"))
        visitor.note("Chromium: start", page.go(visitor.address + "/"))
        visitor.note(
            "Chromium: upload",
            page.run(
                "fetch('/account').then(a => a.text()).then(t => { const f = new FormData(new "
                "DOMParser().parseFromString(t, 'text/html').forms[0]);"
                " f.set('file', new Blob(['x'.repeat(300000)]), 'x.txt'); return fetch('/upload', {method: 'POST', "
                "body: f}); }).then(a => a.text())"
            ),
        )
        state, path = browser.download(visitor.address + served.large, served.folder / "browser" / "downloads")
        visitor.note("Chromium: download", (state, hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()))
    visitor.ask("logout", "/logout")
    visitor.ask("account after it", "/account")


def logged_in(served):
    """The cookies of a user, from the program itself."""
    visitor = Visitor(served.address)
    form = visitor.ask("form", "/login")
    visitor.ask("login", "/login", "POST", form={"token": token_of(form), "name": "anna", "password": "secret"})
    true("lang" in visitor.cookies or "theme" in visitor.cookies, f"no login: {visitor.seen}")
    return "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())


@check(
    "PHP's server with sessions behind Config/sessions.ini: logins and forms as without pawl, downloads cut on both "
    "sides come whole",
    area="program",
    seconds=90,
)
def php(bench):
    def visit(visitor, served):
        jar = served.folder / "jar"
        got = run([program("curl"), "-sS", "-L", "-c", jar, "-b", jar, visitor.address + "/login"]).stdout.decode()
        token = got.partition('name="token" value="')[2].partition('"')[0]
        done = run(
            [
                program("curl"),
                "-sS",
                "-L",
                "-c",
                jar,
                "-b",
                jar,
                "-d",
                f"token={token}&name=carl&password=secret",
                "-w",
                "%{url_effective} %{num_redirects}",
                visitor.address + "/login",
            ]
        )
        visitor.note("curl -L: login", done.stdout.decode())
        session(visitor, served)
        visitor.ask("style", "/style.css")

    beside(bench, programs.PHP, "sessions.ini", visit)
    with programs.PHP(bench.folder / "program-to-cut") as served:
        cookies = logged_in(served)
        by_all(
            bench,
            "sessions.ini",
            served,
            clients={name: CLIENTS[name] for name in ("If-Range", "Chromium")},
            cookies=cookies,
        )
        # A body that ends with its connection: cut off by a reset, it goes on.
        by_all(
            bench,
            "sessions.ini",
            served,
            clients={"If-Range": if_range},
            origin=("rst", "rst"),
            path="/download/report.csv",
            cookies=cookies,
        )


FLASK_CLIENT = """
import json, sys, requests
address, file = sys.argv[1:]
session = requests.Session(); session.trust_env = False
seen = []
def note(answer):
    seen.append([answer.status_code, [each.status_code for each in answer.history], answer.url, sorted(session.cookies.keys()), answer.headers.get("Content-Disposition")])
def token(text):
    return text.partition('name="token" value="')[2].partition('"')[0]
answer = session.get(address + "/account"); note(answer)
answer = session.post(address + "/login", data={"token": token(answer.text), "name": "dora", "password": "secret"}); note(answer)
note(session.get(address + "/"))
answer = session.post(address + "/upload", data={"token": token(answer.text)}, files={"file": open(file, "rb")}); note(answer)
seen.append(answer.json())
answer = session.get(address + "/download/file.bin"); note(answer); seen.append(len(answer.content))
print(json.dumps(seen))
"""


@check(
    "gunicorn with Flask behind Config/sessions.ini: logins and forms as without pawl, downloads cut on both sides "
    "come whole",
    area="program",
    seconds=90,
)
def flask(bench):
    def visit(visitor, served):
        done = run([python(), "-c", FLASK_CLIENT, visitor.address, served.folder / "file.bin"])
        visitor.note("requests", done.stdout.decode())
        session(visitor, served)
        visitor.ask("json after a logout", "/download/file.bin")

    beside(bench, programs.Gunicorn, "sessions.ini", visit)
    with programs.Gunicorn(bench.folder / "program-to-cut") as served:
        cookies = logged_in(served)
        by_all(bench, "sessions.ini", served, cookies=cookies)
        # An archive that is another one each time: who holds a part goes on with the copy that it began with.
        for name in ("If-Range", "Chromium"):
            cut = Cut(bench, f"archive {name}", "sessions.ini", served, served.size, ("fin", "fin"), ())
            folder = bench.folder / f"archive of {name}"
            folder.mkdir()
            file = CLIENTS[name](cut.address + "/download/archive.zip", folder, cookies=cookies)
            import zipfile

            with zipfile.ZipFile(file) as opened:
                same(opened.testzip(), None, f"{name}: the archive")
                same(hashlib.sha256(opened.read("file.bin")).hexdigest(), served.digest, f"{name}: what is in it")
            true(cut.front.cuts == 2, f"{name}: {cut.front.cuts} cuts")


@check(
    "gunicorn with Flask behind Config/appserver.ini: pages, logins and events as without pawl, exports and "
    "attachments cut on both sides come whole",
    area="program",
    seconds=90,
)
def appserver(bench):
    def visit(visitor, served):
        session(visitor, served)
        visitor.ask("events", "/events")
        visitor.ask("attachment", "/attachments/file.bin")
        with in_browser(visitor, served.folder / "events") as browser:
            page = browser.page()
            page.go(visitor.address + "/")
            visitor.note(
                "Chromium: events",
                page.run(
                    "new Promise(done => { const got = [], s = new EventSource('/events'); s.onmessage = e => "
                    "got.push(e.data);"
                    " s.onerror = () => { s.close(); done(got); }; })"
                ),
            )

    beside(bench, programs.Gunicorn, "appserver.ini", visit)
    with programs.Gunicorn(bench.folder / "program-to-cut") as served:
        by_all(
            bench,
            "appserver.ini",
            served,
            clients={"If-Range": if_range, "Chromium": browser_download},
            path="/export/report.bin",
            cookies=logged_in(served),
        )
        by_all(bench, "appserver.ini", served, clients={"curl -C -": curl}, path="/attachments/file.bin")


# -- uploads ---------------------------------------------------------------------------------------------------------
@check(
    "gunicorn with Flask behind Config/uploads.ini: forms as without pawl; tus and the IETF draft through cuts come "
    "once, whole",
    area="program",
    seconds=90,
)
def uploads(bench):
    content = Content("upload", 6_000_000)
    file = bench.folder / "file.bin"
    file.write_bytes(content.read())

    def visit(visitor, served):
        visitor.ask("start", "/")
        for path in ("/api/raw", "/videos/raw"):
            visitor.ask(path, path, "POST", body=content.read(0, 300_000), fields=(("Content-Type", "video/mp4"),))
            done = run(
                [
                    program("curl"),
                    "-sS",
                    "--noproxy",
                    "*",
                    "-H",
                    "Content-Type: video/mp4",
                    "-T",
                    file,
                    "-X",
                    "POST",
                    visitor.address + path,
                ]
            )
            visitor.note(f"curl -T {path}", done.stdout.decode())
        visitor.note(
            "curl -F",
            run(
                [
                    program("curl"),
                    "-sS",
                    "--noproxy",
                    "*",
                    "-F",
                    "title=a title",
                    "-F",
                    f"file=@{file}",
                    visitor.address + "/files",
                ]
            ).stdout.decode(),
        )
        with in_browser(visitor, served.folder) as browser:
            page = browser.page()
            page.go(visitor.address + "/")
            visitor.note(
                "Chromium: form",
                page.run(
                    "(() => { const f = new FormData(document.forms[0]); f.set('title', 't'); f.set('file', new "
                    "Blob(['x'.repeat(400000)]), 'x.txt');"
                    " return fetch('/files', {method: 'POST', body: f}).then(a => a.text()); })()"
                ),
            )
        visitor.note("what arrived", served.arrived())

    beside(bench, programs.GunicornUploads, "uploads.ini", visit)
    with programs.GunicornUploads(bench.folder / "program-to-cut") as served:
        made = pawl(bench, "cut uploads", "uploads.ini", served.address)
        cuts = ((1_500_000, "rst"), (3_000_000, "fin"))
        for name, path, client in (
            ("tuspy", "/files", uploadclients.tuspy()),
            ("draft", "/videos/film", uploadclients.curl_draft(6)),
        ):
            relay = bench.use(UploadRelay(parse_address(made.address), cuts, rate=60e6, size=content.size))
            folder = bench.folder / name
            folder.mkdir()
            before = len(served.arrived())
            client(uploadclients.Trip(relay.address + path, file, content, relay, folder))
            came = wait_for(lambda: served.arrived()[before:], 10, f"{name}: the upload at the application")
            same(
                [(each["size"], each["sha256"]) for each in came],
                [(content.size, content.sha256())],
                f"{name}: what the application got",
            )
            if name == "tuspy":
                same((came[0]["name"], came[0]["kind"]), ("with tuspy.bin", "video"), "the form")


# -- TLS -------------------------------------------------------------------------------------------------------------
@check(
    "nginx, in clear and over TLS, behind Config/tls.ini: pages as without pawl for the names and certificates of "
    "clients, downloads cut on both sides come whole",
    area="program",
    seconds=90,
)
def tls(bench):
    folder, authority = bench.folder / "tls", certificates.authority()
    folder.mkdir()
    names = ("files.example.com", "downloads.example.com", "pawl.test", "IP:127.0.0.1")
    for name, pair in (
        ("public-ecdsa", authority.leaf("public-ecdsa", names)),
        ("public-rsa", authority.leaf("public-rsa", names, "rsa")),
        ("partners", authority.leaf("partners", ("partners.example.com",))),
        ("pawl", authority.leaf("pawl", ("pawl.example.com",), client=True)),
    ):
        shutil.copyfile(pair.certificate, folder / f"{name}.pem")
        shutil.copyfile(pair.key, folder / f"{name}.key")
    for name in ("partners-ca", "internal-ca"):
        shutil.copyfile(authority.file, folder / f"{name}.pem")
    partner = authority.leaf("partner", ("partner",), client=True)

    def start(name, served, files_url):
        return pawl(
            bench,
            name,
            "tls.ini",
            {"files": files_url, "app": served.secure},
            ready=3,
            keeps_hosts=True,
            certificates=folder,
        )

    def curl_to(port, host, path, *more, good=0):
        done = run(
            [
                program("curl"),
                "-sS",
                "--noproxy",
                "*",
                "--cacert",
                authority.file,
                "--resolve",
                f"{host}:{port}:127.0.0.1",
                *more,
                f"https://{host}:{port}{path}",
            ],
            good=good,
        )
        return done.stdout

    with programs.NginxTLS(bench.folder / "program", certificates.server(), authority.file) as served:
        made = start("pawl", served, served.address)
        port = parse_address(made.address)[1]
        for path in ("/", "/page.html", "/text.txt", "/sub%20folder/", "/large.bin", "/nowhere"):
            alone = run([program("curl"), "-sS", "--noproxy", "*", served.address + path]).stdout
            for words in (["--http2"], ["--http1.1"]):
                same(curl_to(port, "files.example.com", path, *words) == alone, True, f"{path} {words}")
        for host in ("files.example.com", "downloads.example.com"):
            said = curl_to(
                port,
                host,
                "/sub%20folder",
                "-L",
                "-w",
                "%{url_effective} %{http_version} %header{strict-transport-security}",
            ).decode()
            true(
                said.endswith(f"https://{host}:{port}/sub%20folder/ 2 max-age=31536000; includeSubDomains"),
                f"a redirect: {said[-300:]}",
            )
        refused = run(
            [
                program("curl"),
                "-sS",
                "--noproxy",
                "*",
                "--cacert",
                authority.file,
                "--resolve",
                f"partners.example.com:{port}:127.0.0.1",
                f"https://partners.example.com:{port}/who",
            ],
            good=None,
        )
        true(refused.returncode in (35, 56), f"without a certificate: {refused.returncode} {refused.stdout!r}")
        said = curl_to(
            port, "partners.example.com", "/who", "--cert", partner.certificate, "--key", partner.key
        ).decode()
        true(said.startswith("CN=pawl.example.com | :"), f"what the application knows: {said}")
        said = curl_to(
            port,
            "partners.example.com",
            "/sub%20folder",
            "-L",
            "--cert",
            partner.certificate,
            "--key",
            partner.key,
            "-w",
            "%{url_effective}",
        ).decode()
        true(
            said.endswith(f"https://partners.example.com:{port}/sub%20folder/"),
            f"a redirect of the application: {said[-300:]}",
        )
        # Cut before pawl, over TLS, and behind it.
        back = bench.use(Relay(parse_address(served.address), Cut.plan(served, ("rst", "fin"), 0.15)))
        cut = start("cut pawl", served, back.address)
        front = bench.use(
            Relay(parse_address(cut.address), Cut.plan(served, ("fin", "rst"), 0.3), rate=60e6, over="tls")
        )
        path = bench.folder / "file"
        for _ in range(10):
            done = run(
                [
                    program("curl"),
                    "-sS",
                    "--noproxy",
                    "*",
                    "-k",
                    "--http1.1",
                    "-H",
                    "Host: files.example.com",
                    "-C",
                    "-",
                    "-o",
                    path,
                    f"{front.address}/large.bin",
                ],
                good=None,
            )
            if done.returncode == 0:
                break
        same(
            (front.cuts, back.cuts, hashlib.sha256(path.read_bytes()).hexdigest()),
            (2, 2, served.digest),
            "curl -C - over TLS",
        )


def python():
    from harness.uploadclients import python_with

    return python_with("requests")


# -- registries ------------------------------------------------------------------------------------------------------
def pip_install(address, folder, what):
    """pip's own words would tell times; what counts is what it installed."""
    target = folder / "installed"
    shutil.rmtree(target, ignore_errors=True)
    done = run(
        [
            program("pip3") if not (VENV / "pip").exists() else VENV / "pip",
            "install",
            "--quiet",
            "--isolated",
            "--no-cache-dir",
            "--no-deps",
            "--disable-pip-version-check",
            "--index-url",
            f"{address}/simple/",
            "--trusted-host",
            "127.0.0.1",
            "--target",
            target,
            what,
        ],
        good=None,
        HOME=str(folder),
    )
    return (
        done.returncode,
        done.stderr.decode()[-300:],
        hashlib.sha256(b"".join(each.read_bytes() for each in sorted(target.rglob("*.bin")))).hexdigest(),
    )


@check(
    "pypiserver behind Config/registry.ini: twine and pip as without pawl, downloads cut on both sides come whole",
    area="program",
    seconds=120,
)
def pypiserver(bench):
    def visit(visitor, served):
        for path in (
            "/",
            "/simple/",
            "/simple/alpha/",
            "/packages/",
            "/simple/alpha",
            served.large,
            "/packages/nothing.whl",
        ):
            visitor.ask(path, path)
        visitor.ask("head", served.large, "HEAD", note="head")
        visitor.ask("part", served.large, fields=(("Range", "bytes=100-199"),))
        visitor.note("pip install", pip_install(visitor.address, served.folder, "alpha"))
        visitor.note("pip: not there yet", pip_install(visitor.address, served.folder, "beta")[0])
        made = programs.wheel(served.folder, "beta", "2.0", 300_000)
        command = [
            program("twine"),
            "upload",
            "--non-interactive",
            "--disable-progress-bar",
            "--repository-url",
            visitor.address + "/",
            "-u",
            "anna",
            "-p",
            "x",
            made,
        ]
        visitor.note("twine", run(command, good=None, HOME=str(served.folder)).returncode)
        visitor.note("pip: what was uploaded", pip_install(visitor.address, served.folder, "beta"))
        visitor.ask("the index after it", "/simple/")
        visitor.note("twine: the same again", run(command, good=None, HOME=str(served.folder)).returncode)
        with in_browser(visitor, served.folder) as browser:
            visitor.note("Chromium: the index", browser.page().go(visitor.address + "/simple/"))

    beside(bench, programs.PyPIServer, "registry.ini", visit, page="/simple/alpha/")
    with programs.PyPIServer(bench.folder / "program-to-cut") as served:
        by_all(bench, "registry.ini", served)
        cut = Cut(bench, "cut pip", "registry.ini", served, served.size, origin=())
        (bench.folder / "pip").mkdir()
        cut.front.plan = lambda number: None if cut.front.cuts else (served.size // 2, "fin")
        code, words, _ = pip_install(cut.address, bench.folder / "pip", "alpha")
        same((code, cut.front.cuts), (0, 1), f"pip install through a cut: {words}")


@check(
    "docker-registry behind Config/registry.ini: skopeo as without pawl, blobs cut on both sides come whole",
    area="program",
    seconds=120,
)
def registry(bench):
    def copy(what, *words):
        folder = bench.folder / "skopeo"
        folder.mkdir(exist_ok=True)
        return run(
            [program("skopeo"), "--insecure-policy", "copy", "--quiet", *words],
            folder,
            HOME=str(folder),
            XDG_RUNTIME_DIR=str(folder),
        )

    source = bench.folder / "image"
    source.mkdir()
    digest, size = programs.image(source)
    blob = f"/v2/demo/blobs/{digest}"

    def visit(visitor, served):
        there = "docker://" + visitor.host
        visitor.ask("version", "/v2/")
        visitor.ask("catalogue", "/v2/_catalog")
        visitor.ask("nothing yet", "/v2/demo/tags/list")
        copy("in", "--dest-tls-verify=false", f"oci:{source}:1", f"{there}/demo:1")
        visitor.ask("tags", "/v2/demo/tags/list")
        manifests = (("Accept", "application/vnd.oci.image.manifest.v1+json"),)
        visitor.ask("manifest", "/v2/demo/manifests/1", fields=manifests)
        visitor.ask("blob", blob)
        visitor.ask("blob's head", blob, "HEAD", note="head")
        out = served.folder / "out"
        copy("out", "--src-tls-verify=false", f"{there}/demo:1", f"oci:{out}:1")
        visitor.note(
            "the layer that came out",
            hashlib.sha256((out / "blobs" / "sha256" / digest.partition(":")[2]).read_bytes()).hexdigest(),
        )
        copy("again", "--dest-tls-verify=false", "--src-tls-verify=false", f"{there}/demo:1", f"{there}/demo:2")
        copy(
            "other",
            "--dest-tls-verify=false",
            "--src-tls-verify=false",
            f"{there}/demo:1",
            f"{there}/other/name:latest",
        )
        visitor.ask("tags after it", "/v2/demo/tags/list")
        visitor.ask("catalogue after it", "/v2/_catalog")
        # By hand, in two pieces, as the protocol has it.
        begun = visitor.ask("an upload begins", "/v2/hand/blobs/uploads/", "POST", body=b"")
        place = begun.get("Location", "").partition(visitor.host)[2] or begun.get("Location", "/")
        data = b"0123456789" * 20_000
        for start in (0, 100_000):
            piece = data[start : start + 100_000]
            patched = visitor.ask(
                f"piece at {start}",
                place,
                "PATCH",
                body=piece,
                fields=(
                    ("Content-Type", "application/octet-stream"),
                    ("Content-Range", f"{start}-{start + len(piece) - 1}"),
                ),
            )
            place = patched.get("Location", "").partition(visitor.host)[2] or "/"
        name = "sha256:" + hashlib.sha256(data).hexdigest()
        visitor.ask("its end", f"{place}&digest={name}", "PUT", body=b"")
        visitor.ask("what was uploaded", f"/v2/hand/blobs/{name}")
        visitor.ask("DELETE", f"/v2/hand/blobs/{name}", "DELETE")
        visitor.ask("no such blob", "/v2/demo/blobs/sha256:" + "0" * 64)

    beside(bench, programs.DockerRegistry, "registry.ini", visit, page="/v2/")
    with programs.DockerRegistry(bench.folder / "program-to-cut") as served:
        copy("in", "--dest-tls-verify=false", f"oci:{source}:1", f"docker://{served.address.partition('//')[2]}/demo:1")
        served.size = size
        by_all(
            bench,
            "registry.ini",
            served,
            clients={name: CLIENTS[name] for name in ("curl -C -", "If-Range")},
            path=blob,
            digest=digest.partition(":")[2],
        )
        # The registry's side alone is cut: skopeo does not notice.
        cut = Cut(bench, "cut skopeo", "registry.ini", served, size, (), ("rst",))
        cut.back.plan = lambda number: None if cut.back.cuts else (size // 2, "rst")
        out = bench.folder / "out of a cut"
        copy("out", "--src-tls-verify=false", f"docker://{cut.address.partition('//')[2]}/demo:1", f"oci:{out}:1")
        same(
            hashlib.sha256((out / "blobs" / "sha256" / digest.partition(":")[2]).read_bytes()).hexdigest(),
            digest.partition(":")[2],
            "the layer",
        )
        same(cut.back.cuts, 1, "cuts behind pawl")
