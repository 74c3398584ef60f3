"""Real clients that upload through a relay that cuts connections: the origin gets each body once, whole."""

import hashlib
import threading
import time

from harness import transport
from harness import uploadclients as clients
from harness.checks import CLEAR, V1, check, same, timely, true
from harness.client import parse_address
from harness.content import Content
from harness.origin import Origin, Resource
from harness.process import wait_for
from harness.uploadrelay import UploadRelay

SIZE = 12_000_000
CUTS = ((3_100_000, "rst"), (5_300_000, "fin"), (8_000_000, "rst"))
STORED = b"stored\n"
ANY = "any"


def stored(request):
    return Resource(STORED, type="text/plain", status=200)


def target(pawl):
    return parse_address(pawl.address)


class Journey:
    """An origin, pawl, a relay before it, and a client's way through all three."""

    def __init__(self, bench, content=None, cuts=CUTS, lose=0, rate=60e6, path="/files/", site=None, name=""):
        self.bench, self.path = bench, path
        self.content = content or Content("uploading", SIZE)
        self.origin = bench.origin()
        for each in {path, path.rstrip("/")}:  # a client takes the last slash away
            self.origin.at(each, stored)
        self.pawl = bench.pawl(self.origin, name=f"pawl{name}", site=site)
        self.relay = bench.use(UploadRelay(target(self.pawl), cuts, lose, rate, self.content.size, bench.over))
        file = bench.folder / f"upload{name}.bin"
        file.write_bytes(self.content.read())
        folder = bench.folder / f"client{name}"
        folder.mkdir()
        self.trip = clients.Trip(self.relay.address + path, file, self.content, self.relay, folder, bench.over)

    def go(self, client):
        try:
            client(self.trip)
        except AssertionError as error:
            raise AssertionError(f"{error} | {self.traffic()}")
        return self

    def traffic(self):
        return "\n  ".join(
            ["traffic:"]
            + self.relay.log()[-40:]
            + ["at the origin:"]
            + [repr(r) + f" body={r.body_count}" for r in self.origin.requests]
        )

    def arrivals(self):
        """Requests with a body for the target, probes of the origin's abilities aside."""
        return [
            r
            for r in self.origin.requests
            if r.path.rstrip("/") == self.path.rstrip("/") and r.method not in ("OPTIONS", "HEAD", "GET")
        ]

    def check(self, cuts=None, again=400_000, kind=clients.KIND):
        """Once, whole, as one ordinary request; and no more bytes sent again than the client cannot help."""
        came = self.arrivals()
        true(len(came) == 1, f"{len(came)} requests at the origin | {self.traffic()}")
        request = came[0]
        same(
            (len(request.body), hashlib.sha256(request.body).hexdigest()),
            (self.content.size, self.content.sha256()),
            "body at the origin",
        )
        same(request.get("Content-Length"), str(self.content.size), "Content-Length at the origin")
        true(request.get("Transfer-Encoding") is None, f"framing at the origin: {request.fields}")
        left = [
            name
            for name, _ in request.fields
            if name.lower().startswith(("upload-", "tus-")) or name.lower() == "x-http-method-override"
        ]
        true(not left, f"fields of the upload protocol reached the origin: {left}")
        true(
            request.get("X-Pawl-Upload-Id") and request.get("Idempotency-Key"),
            f"no X-Pawl-Upload-Id or Idempotency-Key: {request.fields}",
        )
        if kind != ANY:
            same(request.get("Content-Type"), kind, "Content-Type at the origin")
        wanted = len(CUTS) if cuts is None else cuts
        true(self.relay.cut_count >= wanted, f"only {self.relay.cut_count} cuts | {self.traffic()}")
        twice = self.relay.body - self.content.size
        timely(twice <= again, f"{twice} bytes were sent again | {self.traffic()}")
        return request


ALL = dict(over=None, why=None)
TLS_TOO = dict(over=V1, why="the library speaks HTTP/1.1 only")
BROWSERS = dict(over=("clear", "tls", "h2"), why="browsers take HTTP/2 over TLS only")


def resumes(name, client, seconds=90, speaks=TLS_TOO, **expected):
    @check(f"{name} resumes through cuts", area="upload client", seconds=seconds, **speaks)
    def one(bench):
        Journey(bench).go(client).check(**expected)


def loses_the_answer(name, client, seconds=60, parts=1, speaks=TLS_TOO, **expected):
    @check(f"{name} loses the last answer", area="upload client", seconds=seconds, **speaks)
    def one(bench):
        journey = Journey(bench, cuts=(), lose=1)
        journey.relay.size //= parts
        journey.go(client)
        journey.check(cuts=1, **expected)
        same(journey.relay.lost, 1, "answers lost")


def goes_on_after_a_kill(name, client, seconds=60, speaks=TLS_TOO, **expected):
    @check(f"{name} goes on in another process after kill -9", area="upload client", seconds=seconds, **speaks)
    def one(bench):
        Journey(bench, cuts=(), rate=12e6).go(client).check(cuts=0, **expected)


def outlives_pawl(name, client, seconds=60, speaks=TLS_TOO, **expected):
    @check(
        f"{name} goes on when pawl is killed and started again, twice", area="upload client", seconds=seconds, **speaks
    )
    def one(bench):
        journey = Journey(bench, cuts=(), rate=8e6)
        done = threading.Event()

        def kill():
            for octets in (SIZE // 4, SIZE // 2):
                while journey.relay.body < octets and not done.wait(0.005):
                    pass
                if not done.is_set():
                    journey.pawl.restart(hard=True)
                    journey.relay.target = target(journey.pawl)
                    killed.append(octets)

        killed = []
        thread = threading.Thread(target=kill)
        thread.start()
        try:
            journey.go(client)
        finally:
            done.set()
            thread.join()
        same(len(killed), 2, "kills")
        journey.check(cuts=0, **expected)


# -- tus, from PyPI --------------------------------------------------------------------------------------------------
resumes("tuspy", clients.tuspy())
resumes("tuspy with checksums", clients.tuspy("checksum"), again=4_000_000)  # of a cut chunk nothing counts
resumes("aiotus", clients.aiotus)
resumes("resumable-upload", clients.resumable_upload, again=4_000_000)
loses_the_answer("tuspy", clients.tuspy())
loses_the_answer("aiotus", clients.aiotus)
goes_on_after_a_kill("tuspy", clients.tuspy_killed)
outlives_pawl("tuspy", clients.tuspy("patient"), again=2_000_000)


@check("files of no bytes and of one arrive once", area="upload client", **TLS_TOO)
def tiny(bench):
    for size in (0, 1):
        for name, client in (
            ("tuspy", clients.tuspy()),
            ("aiotus", clients.aiotus),
            ("tus-js-client", clients.tus_js(buffer=True)),
        ):
            try:
                Journey(bench, content=Content(name, size), cuts=(), name=f"-{name}-{size}").go(client).check(
                    cuts=0, kind=ANY
                )
            except clients.Skip:
                pass


# -- tus-js-client in Node -------------------------------------------------------------------------------------------
PROTOCOLS = {
    "tus-v1": clients.KIND,
    "ietf-draft-03": None,
    "ietf-draft-05": None,
}  # the type that arrives: with the drafts the library names none
for protocol, kind in PROTOCOLS.items():
    resumes(f"tus-js-client, {protocol}", clients.tus_js(protocol=protocol), kind=kind)
    resumes(f"tus-js-client, {protocol} from a buffer", clients.tus_js(protocol=protocol, buffer=True), kind=kind)
    resumes(f"tus-js-client, {protocol} in chunks", clients.tus_js(protocol=protocol, chunkSize=1 << 20), kind=kind)
    loses_the_answer(f"tus-js-client, {protocol}", clients.tus_js(protocol=protocol), kind=kind)
resumes("tus-js-client, POST instead of PATCH", clients.tus_js(overridePatchMethod=True))
resumes("tus-js-client, parallel uploads", clients.tus_js(parallelUploads=3))
loses_the_answer("tus-js-client, parallel uploads", clients.tus_js(parallelUploads=3), parts=3)
resumes(
    "tus-js-client, data with the creation", clients.tus_js(uploadDataDuringCreation=True, buffer=True), again=SIZE
)  # it learns no URL then
goes_on_after_a_kill("tus-js-client", clients.tus_js_killed())
outlives_pawl("tus-js-client", clients.tus_js(retryDelays=[500] * 12), again=2_000_000)
outlives_pawl(
    "tus-js-client, ietf-draft-05",
    clients.tus_js(protocol="ietf-draft-05", retryDelays=[500] * 12),
    kind=None,
    again=2_000_000,
)
goes_on_after_a_kill("tus-js-client, ietf-draft-05", clients.tus_js_killed(protocol="ietf-draft-05"), kind=None)


# -- curl by hand ----------------------------------------------------------------------------------------------------
for version in range(3, 11):

    @check(f"curl by hand, interop version {version}, resumes through cuts", area="upload client", tags=("h2",))
    def by_hand(bench, version=version):
        for chunked in (False, True):
            journey = Journey(
                bench,
                name=f"-{chunked}",
                content=Content(f"by-hand-{chunked}", 4_000_000),
                cuts=((1_200_000, "rst"), (2_500_000, "fin")),
                path="/files",
            )
            journey.go(clients.curl_draft(version, chunked)).check(cuts=2)
            same(journey.trip.answer.encode(), STORED, "the origin's answer")


for version in (5, 6):
    resumes(
        f"curl with the requests of tus-js-client, interop version {version},",
        clients.curl_as_tus_js(version),
        speaks=ALL,
        kind=None,
    )
resumes(
    "curl with the requests of tus-java-client", clients.curl_as_tus_java, speaks=ALL, kind="application/octet-stream"
)


@check("curl by hand asks again for the answer it lost", area="upload client", tags=("every", "h2"))
def asks_again(bench):
    journey = Journey(bench, content=Content("asks-again", 3_000_000), cuts=(), lose=1, path="/files")
    journey.go(clients.curl_draft(6))
    journey.check(cuts=1)
    same(journey.trip.answer.encode(), STORED, "the origin's answer")


# -- other programs --------------------------------------------------------------------------------------------------
for name, path in clients.programs().items():
    resumes(
        name,
        clients.program(path),
        speaks=dict(over=CLEAR, why="whose certificates it trusts is not known"),
        kind=ANY,
        again=6_000_000,
    )


# -- a client that sleeps --------------------------------------------------------------------------------------------
def sleeps(name, client, speaks=TLS_TOO, **expected):
    @check(f"{name} goes on after it was slower than min-rate", area="upload client", seconds=60, **speaks)
    def one(bench):
        Journey(bench, cuts=((SIZE // 3, "stall", 5),), site={"min-rate": "1K/1s"}).go(client).check(cuts=1, **expected)


sleeps("tuspy", clients.tuspy(), again=2 << 20)
sleeps("tus-js-client", clients.tus_js(), again=2_000_000)
sleeps("tus-js-client, ietf-draft-05", clients.tus_js(protocol="ietf-draft-05"), kind=None, again=2_000_000)


# -- an application that is slow, or says no -------------------------------------------------------------------------
def waits(name, client, speaks=TLS_TOO, **expected):
    @check(f"{name} waits for an application that is slower than tus-wait", area="upload client", seconds=60, **speaks)
    def one(bench):
        journey = Journey(
            bench,
            content=Content("waits", 4_000_000),
            cuts=((1_500_000, "rst"),),
            path="/files",
            site={"tus-wait": "1s"},
        )
        journey.origin.at(
            "/files", lambda request: (time.sleep(4 if request.method == "POST" else 0), stored(request))[1]
        )
        begun = time.monotonic()
        journey.go(client).check(cuts=1, **expected)
        true(time.monotonic() - begun > 4, "the client was content before the application was")


waits("tuspy", clients.tuspy("patient"))
waits("tus-js-client with its own delays", clients.tus_js(retryDelays=[0, 1000, 3000, 5000]))
waits("curl by hand, interop version 6,", clients.curl_draft(6), speaks=ALL)


@check("tus-js-client is told what the application refused, and why", area="upload client", **TLS_TOO)
def refused(bench):
    journey = Journey(bench, content=Content("refused", 4_000_000), cuts=((1_500_000, "rst"),), path="/files")
    journey.origin.at("/files", lambda request: Resource(b"no room for cats\n", status=422, type="text/plain"))
    try:
        clients.tus_js()(journey.trip)
        raise AssertionError(f"the client is content | {journey.traffic()}")
    except AssertionError as error:
        true("422" in str(error) and "no room for cats" in str(error), f"{error} | {journey.traffic()}")
    same(len(journey.arrivals()), 1, "requests at the origin")


# -- browsers --------------------------------------------------------------------------------------------------------
def browser_check(
    name,
    call,
    cross=False,
    library="tus",
    reload=False,
    seconds=120,
    again=2 * SIZE,
    cuts=CUTS[:2],
    lose=0,
    rate=10e6,
    kind=clients.KIND,
    content=None,
):
    """Chromium itself sends a broken PATCH again on a new connection, with the offset it had, and reads the 409 when it
    has sent it all:
    that is what `again` allows for."""

    @check(f"Chromium, {name}", area="upload client", seconds=seconds, **BROWSERS)
    def one(bench):
        other = bench.use(Origin())
        journey = Journey(
            bench, content, () if reload else cuts, lose, rate, site={"cors": other.url} if cross else None
        )
        where = other if cross else journey.origin
        scripts = {"tus": b"", "uppy": b""}
        if library:
            scripts[library] = (
                clients.script("tus-js-client", "dist", "tus.js")
                if library == "tus"
                else clients.script("uppy", "dist", "uppy.min.js")
            )
        for path, octets, media in (
            ("/page", (clients.HERE / "page.html").read_bytes(), "text/html"),
            ("/page/tus.js", scripts["tus"], "text/javascript"),
            ("/page/uppy.js", scripts["uppy"], "text/javascript"),
            ("/page/page.js", (clients.HERE / "page.js").read_bytes(), "text/javascript"),
            ("/page/file", journey.content, clients.KIND),
        ):
            where.at(path, Resource(octets, type=media))
        address = other.url if cross else journey.relay.address

        def drive(trip):
            with clients.page(trip, address + "/page") as (evaluate, load):
                endpoint = f"'{trip.endpoint}'"
                if reload:
                    clients.page_upload(
                        trip, evaluate, call.format(endpoint=endpoint, again="false"), until=trip.content.size // 3
                    )
                    load()
                state = clients.page_upload(
                    trip, evaluate, call.format(endpoint=endpoint, again="true" if reload else "false")
                )
                if reload:
                    same(state["earlier"], 1, "uploads that an earlier page left")
                journey.state = state

        journey.go(drive)
        arrived = journey.check(cuts=0 if reload else len(cuts) + lose, again=again, kind=kind)
        same(
            arrived.get("Authorization"),
            "Bearer of.good.news" if "Authorization" in call else None,
            "Authorization at the origin",
        )
        if cross:
            plain = [
                a
                for a in journey.relay.answers
                if a.status >= 200 and a.get("Access-Control-Allow-Origin") != other.url
            ]
            true(not plain, f"answers without Access-Control-Allow-Origin: {plain[:3]}")


for cross in (False, True):
    where = "another origin's page" if cross else "the site's own page"
    browser_check(f"by hand, tus, {where}", "byHand({endpoint}, null)", cross, library=None)
    browser_check(f"by hand, interop version 6, {where}", "byHand({endpoint}, 6)", cross, library=None)
    browser_check(
        f"by hand, with credentials, {where}",
        "byHand({endpoint}, null, {{Authorization: 'Bearer of.good.news'}})",
        cross,
        library=None,
    )
    for protocol, kind in PROTOCOLS.items():
        browser_check(
            f"tus-js-client {protocol}, {where}",
            f"withTusJS({{endpoint}}, {{{{protocol: '{protocol}'}}}}, {{again}})",
            cross,
            kind=kind,
        )
    browser_check(
        f"tus-js-client parallel uploads, {where}", "withTusJS({endpoint}, {{parallelUploads: 3}}, {again})", cross
    )
    browser_check(
        f"tus-js-client loses the last answer, {where}", "withTusJS({endpoint}, {{}}, {again})", cross, lose=1, cuts=()
    )
    browser_check(f"Uppy, {where}", "withUppy({endpoint}, {{}})", cross, library="uppy")
    browser_check(
        f"tus-js-client goes on after a reload, {where}", "withTusJS({endpoint}, {{}}, {again})", cross, reload=True
    )
browser_check(
    "by hand, more than is read after a refusal",
    "byHand({endpoint}, null)",
    True,
    library=None,
    rate=100e6,
    again=80_000_000,
    content=Content("large", 100_000_000),
    cuts=((20_000_000, "rst"),),
)


# -- plain uploads ---------------------------------------------------------------------------------------------------
@check("plain uploads reach the origin as they are", area="upload client", tags=("tls", "h2"), seconds=120)
def plain(bench):
    content = Content("plain", 3_000_000)
    file = bench.folder / "upload.bin"
    file.write_bytes(content.read())
    origin = bench.origin()
    origin.default = stored
    for mode in ("stream", "spool"):
        pawl = bench.pawl(origin, name=mode, site={"plain-uploads": mode})
        trip = clients.Trip(pawl.address, file, content, None, bench.folder, bench.over)
        for number, name in enumerate(clients.PLAIN):
            path = f"/{mode}/{number}"
            try:
                command = clients.plain_command(name, pawl.address + path, file, bench.over)
            except clients.Skip:
                continue
            trip.run(command)
            same(trip.output.strip().encode(), STORED.strip(), f"{mode}, {name}: the answer")
            came = [r for r in origin.of(path) if r.method != "OPTIONS"]
            same(
                [(len(r.body), hashlib.sha256(r.body).hexdigest()) for r in came],
                [(content.size, content.sha256())],
                f"{mode}, {name}: bodies",
            )
            true(came[0].get("X-Pawl-Upload-Id") is None or mode == "spool", f"{mode}, {name}: {came[0].fields}")


@check(
    "a plain upload that breaks off is never a whole request at the origin",
    area="upload client",
    tags=("h2",),
    seconds=120,
)
def plain_broken(bench):
    content = Content("plain-broken", 3_000_000)
    file = bench.folder / "upload.bin"
    file.write_bytes(content.read())
    origin = bench.origin()
    origin.default = stored
    for mode in ("stream", "spool"):
        pawl = bench.pawl(origin, name=mode, site={"plain-uploads": mode})
        for number, name in enumerate(clients.PLAIN):
            for how in ("rst", "fin"):
                path = f"/{mode}/{number}/{how}"
                with UploadRelay(target(pawl), ((1_000_000, how),), over=bench.over) as relay:
                    trip = clients.Trip(relay.address, file, content, relay, bench.folder, bench.over)
                    try:
                        command = clients.plain_command(name, relay.address + path, file, bench.over)
                    except clients.Skip:
                        continue
                    code = trip.run(command, good=range(-64, 256))
                    true(code != 0, f"{mode}, {name}, {how}: the client ended well: {relay.log()}")
                wait_for(lambda: origin.active == 0, 10, "the end of the broken request at the origin")
                whole = [r for r in origin.of(path) if r.method != "OPTIONS" and r.status is not None]
                true(not whole, f"{mode}, {name}, {how}: {whole} with {[len(r.body) for r in whole]} bytes")
                if mode == "spool":
                    same(
                        len([r for r in origin.of(path) if r.method != "OPTIONS"]),
                        0,
                        f"{name}, {how}: requests at the origin",
                    )


@check("curl -T -C sends Content-Range, which the origin gets as it is", area="upload client", tags=("h2",))
def content_range(bench):
    content = Content("content-range", 300_000)
    file = bench.folder / "upload.bin"
    file.write_bytes(content.read())
    origin = bench.origin()
    origin.at("/x", stored)
    pawl = bench.pawl(origin)
    trip = clients.Trip(pawl.address, file, content, None, bench.folder, bench.over)
    trip.run([*clients.CURL, *transport.curl(bench.over), "-C", "100000", "-T", str(file), pawl.address + "/x"])
    came = [r for r in origin.of("/x") if r.method != "OPTIONS"]
    same(
        [(r.method, r.get("Content-Range"), len(r.body)) for r in came],
        [("PUT", "bytes 100000-299999/300000", 200_000)],
        "at the origin",
    )
