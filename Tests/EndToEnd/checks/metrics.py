"""Metrics and the list of transfers, as a scraper and an operator see them."""

import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import certificates
from harness.checks import CLEAR, Skip, check, only, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Origin, Resource, break_points
from harness.process import ROOT, wait_for
from harness.uploads import Dialect, create, stored, whole

from .admin import ask, sock
from .tls import begin as tls_pawl
from .tls import keys, loose

only(CLEAR, "the admin interface has transports of its own", __name__)

OPEN = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5"
FRESH = (("Cache-Control", "max-age=600"),)


def scrape(pawl, accept=OPEN):
    reply = ask(sock(pawl), "GET", "/metrics", Accept=accept)
    same(reply.status, 200, "/metrics")
    return reply


def samples(text):
    """{name with labels: value}, and {family: type}."""
    values, types = {}, {}
    for line in text.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            true(name not in values, f"{name} comes twice")
            values[name] = float(value)
    return values, types


def counters(text):
    values, types = samples(text)
    rising = {}
    for name, value in values.items():
        bare = name.split("{")[0]
        for suffix in ("_total", "_bucket", "_sum", "_count"):
            family = bare.removesuffix(suffix)
            if bare.endswith(suffix) and types.get(family) in ("counter", "histogram"):
                rising[name] = value
    return rising


def total(values, name, **labels):
    """The sum of the samples of a metric that have these labels."""
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(v for n, v in values.items() if n.split("{")[0] == name and all(w in n for w in wanted))


@check("promtool has nothing to say about /metrics; both formats have the same samples", area="metrics")
def promtool(bench):
    tool = shutil.which("promtool") or ROOT / ".build" / "clients" / "promtool"
    if not shutil.which(str(tool)):
        raise Skip("there is no promtool")
    origin = bench.origin()
    origin.at("/f", Resource(Content("metrics", 100_000), fields=FRESH, etag='"m"'))
    pawl = bench.pawl(origin)
    for _ in range(3):
        get(pawl.address, "/f")
    plain = scrape(pawl, "text/plain")
    same(plain.fields["content-type"], "text/plain; version=0.0.4; charset=utf-8", "the media type")
    done = subprocess.run([str(tool), "check", "metrics"], input=plain.content, capture_output=True, timeout=30)
    same((done.returncode, done.stdout, done.stderr), (0, b"", b""), "promtool check metrics")
    text = scrape(pawl)
    same(text.fields["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8", "the media type")
    true(text.content.endswith(b"\n# EOF\n") and text.content.count(b"# EOF") == 1, "the end")
    same(set(samples(text.content)[0]), set(samples(plain.content)[0]), "the samples")


@check(
    "bytes by source add up, defects are counted, and no counter goes down over a reload", area="metrics", seconds=60
)
def counting(bench):
    origin = bench.origin()
    content = Content("counting", 3_000_000)
    origin.at("/f", Resource(content, fields=FRESH, etag='"c"', ranges=True, breaks=break_points([1_000_000], "rst")))
    origin.at("/ignores", Resource(content, fields=FRESH, etag='"c"', breaks=break_points([1_000_000], "rst")))
    pawl = bench.pawl(origin, pawl={"access-log": "off"})
    got = 0
    for path in ("/f", "/f", "/ignores"):
        answer = get(pawl.address, path)
        same((answer.status, answer.sha), (200, content.sha256()), path)
        got += content.size
    answer = get(pawl.address, "/f", fields=[("Range", "bytes=2000000-")])
    same(answer.status, 206, "the rest")
    got += 1_000_000

    def settled():
        values, _ = samples(scrape(pawl).content)
        return total(values, "pawl_requests_total") == 4 and values['pawl_transfers_active{kind="fill"}'] == 0

    wait_for(settled, what="four requests")
    first = scrape(pawl).content
    values, _ = samples(first)
    same(total(values, "pawl_bytes_total", direction="to_client"), got, "bytes to clients")
    received = total(values, "pawl_origin_bytes_total", direction="received")
    same(total(values, "pawl_bytes_total", direction="from_origin"), received, "bytes from the origin, by source")
    same(values['pawl_bytes_total{direction="from_origin",source="resumed"}'], 4_000_000, "resumed bytes")
    true(values['pawl_bytes_total{direction="from_origin",source="replayed"}'] >= 1_000_000, "replayed bytes")
    same(values['pawl_fill_resumes_total{reason="reset"}'], 2, "resumptions")
    same(values['pawl_client_resumes_total{kind="range"}'], 1, "a resumption by a client")
    same(values['pawl_origin_defects_total{upstream="app",defect="range_ignored"}'], 1, "an ignored range")
    same(values['pawl_requests_total{code="2xx",cache="hit"}'], 2, "hits")
    same(total(values, "pawl_request_duration_seconds_count"), 4, "durations")
    pawl.file.write_text(pawl.file.read_text().replace("[upstream:app]", "[upstream:app]\nmax-connections = 7"))
    pawl.signal(signal.SIGHUP)
    applied = 'pawl_config_reloads_total{result="applied"}'
    wait_for(lambda: samples(scrape(pawl).content)[0][applied] == 1, what="the reload")
    get(pawl.address, "/f")
    before, after = counters(first), counters(scrape(pawl).content)
    true(len(before) > 200, f"only {len(before)} counters")
    lower = {name: (value, after.get(name)) for name, value in before.items() if after.get(name, -1) < value}
    same(lower, {}, "counters that went down")


@check("running transfers are listed with their progress, as a page and as an event stream", area="metrics")
def transfers(bench):
    origin = bench.origin()
    gate = threading.Event()
    origin.at("/slow?secret=no", Resource(Content("slow", 400_000), fields=FRESH, gates=((200_000, gate),)))
    origin.at("/slow", Resource(Content("slow", 400_000), fields=FRESH, gates=((200_000, gate),)))
    pawl = bench.pawl(origin)
    client = Client(pawl.address)
    try:
        client.send(b"GET /slow HTTP/1.1\r\nHost: pawl.test\r\nX-Request-Id: mine\r\n\r\n")

        def listed():
            page = ask(sock(pawl), "GET", "/transfers").json
            done = {each["kind"]: each for each in page["transfers"]}
            return done if page["total"] == 2 and done["download"]["done"] >= 100_000 else None

        done = wait_for(listed, what="a download and its fill")
        download, fill = done["download"], done["fill"]
        same((download["id"], download["target"], download["total"]), ("mine", "/slow", 400_000), "the download")
        same((download["client"], download["protocol"], download["state"]), ("127.0.0.1", "HTTP/1.1", "sending"), "it")
        shown = (fill["target"], fill["upstream"], fill["total"], fill["resumes"])
        same(shown, ("/slow", "app", 400_000, 0), "the fill")
        page = ask(sock(pawl), "GET", "/v1/transfers?kind=fill&upstream=app&limit=1").json
        same([each["key"] for each in page["transfers"]], [fill["key"]], "the filter")
        same(ask(sock(pawl), "GET", "/transfers?limit=20001").status, 400, "past the limit")
        events = stream(pawl)
        name, first = next(events)
        same((name, first["total"]), ("snapshot", 2), "the first event")
        gate.set()
        ended = set()
        for name, change in events:
            same(name, "changes", "a later event")
            ended |= {each["key"] for each in change["ended"]}
            if ended >= {download["key"], fill["key"]}:
                break
    finally:
        gate.set()
        client.close()


def stream(pawl):
    """The events of the event stream: (name, data)."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(sock(pawl))
        client.sendall(b"GET /transfers HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        data = b""
        while b"\r\n\r\n" not in data:
            data += client.recv(65536)
        head, _, data = data.partition(b"\r\n\r\n")
        true(b"\r\nContent-Type: text/event-stream\r\n" in head, f"the head {head}")
        text = b""
        while True:
            # Chunks, one behind another.
            match = re.match(rb"([0-9a-fA-F]+)\r\n", data)
            if match and len(data) >= match.end() + int(match[1], 16) + 2:
                size = int(match[1], 16)
                text += data[match.end() : match.end() + size]
                data = data[match.end() + size + 2 :]
                while b"\n\n" in text:
                    event, _, text = text.partition(b"\n\n")
                    name, _, body = event.decode().partition("\n")
                    yield name.removeprefix("event: "), json.loads(body.removeprefix("data: "))
                continue
            got = client.recv(65536)
            true(got, "the stream goes on")
            data += got


def counted(pawl, **wanted):
    """Waits until the samples have these values; the names without quotes: {"name{label=value}": 3}."""

    def have():
        values, _ = samples(scrape(pawl).content)
        bare = {name.replace('"', ""): value for name, value in values.items()}
        return {name: bare.get(name) for name in wanted}

    got = None
    for _ in range(50):
        got = have()
        if got == wanted:
            return
        time.sleep(0.1)
    same(got, wanted, "the metrics")


@check("handshakes, those that failed, and when a certificate expires are told", area="metrics")
def tls(bench):
    pair = certificates.server()
    origin, pawl = tls_pawl(bench, {"main": keys(pair)})
    context = loose()
    port = int(pawl.address.rpartition(":")[2])
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", port), 5) as raw, context.wrap_socket(raw, server_hostname="x"):
            pass
    with socket.create_connection(("127.0.0.1", port), 5) as raw:
        raw.sendall(b"\x16\x03\x01\x00\x05hello")
        raw.settimeout(5)
        while raw.recv(4096):
            pass
    counted(
        pawl,
        **{
            "pawl_tls_handshakes_total{version=1.3,resumed=no}": 2,
            "pawl_tls_handshake_failures_total": 1,
        },
    )
    values, _ = samples(scrape(pawl).content)
    name = f'pawl_tls_certificate_expiry_timestamp_seconds{{tls="main",file="{pair.certificate}"}}'
    true(name in values, f"no expiry: {[n for n in values if 'expiry' in n]}")
    until = subprocess.run(
        ["openssl", "x509", "-in", str(pair.certificate), "-noout", "-enddate"], capture_output=True, check=True
    ).stdout.decode()
    same(values[name], ssl.cert_time_to_seconds(until.strip().partition("=")[2]), "the end of the certificate")


@check("what is turned away is counted by its limit", area="metrics", seconds=60)
def rejected(bench):
    origin = bench.origin()
    origin.default = stored
    pawl = bench.pawl(
        origin,
        pawl={"max-connections": "40"},
        site={"max-upload": "1M", "min-resumable": "0", "min-rate": "10K/1s"},
        extra={"spool:default": {"max-uploads-per-client": "2", "max-share-per-client": "100%"}},
    )
    dialect = Dialect(9)
    too_large = create(pawl.address, dialect, b"x", fields=(("Upload-Length", str(2 << 20)),), done=False)
    same(too_large.status, 413, "an upload past max-upload")
    for _ in range(2):
        same(create(pawl.address, dialect, b"x" * 10, done=False).status, 201, "an upload")
    many = create(pawl.address, dialect, b"x" * 10, done=False)
    true(many.status >= 400, f"the third upload: {many}")
    with Client(pawl.address) as slow:
        slow.send(b"POST /slow HTTP/1.1\r\nHost: pawl.test\r\nContent-Length: 100000\r\n\r\nx")
        true(slow.until_end(15)[1] in ("fin", "rst"), "the slow sender stays")
    clients = [bench.use(Client(pawl.address)) for _ in range(40)]
    for client in clients[:39]:
        client.send(b"GET / HTTP/1.1\r\n")
    wait_for(lambda: "connections-refused" in pawl.log() or knock(bench, pawl), 10, "a refused connection")
    for client in clients:
        client.close()

    def value(why):
        values, _ = samples(scrape(pawl).content)
        return values[f'pawl_admission_rejected_total{{why="{why}"}}']

    wait_for(lambda: value("connections") >= 1, 5, "refused connections")
    same((value("upload_size"), value("upload_count"), value("min_rate")), (1, 1, 1), "of each kind")


def knock(bench, pawl):
    """One more connection that begins a request, kept until the check ends."""
    bench.use(Client(pawl.address)).send(b"GET / HTTP/1.1\r\n")
    time.sleep(0.1)


@check("deliveries are counted by their results", area="metrics", seconds=60)
def deliveries(bench):
    port = bench.held_port()
    pawl = bench.pawl(
        f"http://127.0.0.1:{port}", site={"min-resumable": "0", "tus-wait": "1s"}, upstream={"connect-timeout": "1s"}
    )
    dialect = Dialect(9)
    same(create(pawl.address, dialect, b"x" * 1000, target="/a", timeout=10).status, 503, "with no application")
    name = "pawl_forward_attempts_total"
    wait_for(lambda: total(samples(scrape(pawl).content)[0], name, result="unreachable") >= 1, 5, "unreachable")
    answers = {"/b": 503, "/c": 200}

    def answer(request):
        if request.path == "/d":
            return Resource(b"", breaks=lambda start, end: None, before_head=lambda r: r.connection.close())
        return stored(request) if answers.get(request.path, 200) == 200 else Resource(b"later", status=503)

    origin = bench.use(Origin(port=port, is_held=True, default=answer))
    wait_for(lambda: total(samples(scrape(pawl).content)[0], name, result="answered") == 1, 20, "the first upload")
    same(create(pawl.address, dialect, b"x" * 1000, target="/b").status, 503, "the application's 503")
    same(create(pawl.address, dialect, b"x" * 1000, target="/c").status, 200, "an answer")
    values, _ = samples(scrape(pawl).content)
    same(
        (total(values, name, result="answered"), total(values, name, result="not_consumed") >= 1),
        (2, True),
        "results",
    )
    true(total(values, "pawl_delivery_duration_seconds_count") >= 4, "durations")
    same([r.path for r in whole(origin, "/c")], ["/c"], "deliveries")


@check("an unstable tag and a wrong answer to HEAD are counted as defects of their upstream", area="metrics")
def defects(bench):
    origin = bench.origin()
    content = Content("defects", 50_000)
    tags = iter(f'"{n}"' for n in range(1000))
    stale = (("Cache-Control", "max-age=0"),)

    def answer(request):
        if request.path == "/head" and request.method == "HEAD":
            return Resource(Content("defects", 40_000), etag='"h"', fields=stale)
        if request.path == "/head":
            return Resource(content, etag='"h"', fields=stale)
        return Resource(content, etag=next(tags), fields=stale, conditional=False)

    origin.default = answer
    pawl = bench.pawl(origin)
    for _ in range(2):
        same(get(pawl.address, "/tags").sha, content.sha256(), "a body whose tag changes")
    same(get(pawl.address, "/head").sha, content.sha256(), "a body")
    same(get(pawl.address, "/head", method="HEAD").status, 200, "HEAD")
    counted(
        pawl,
        **{
            "pawl_origin_defects_total{upstream=app,defect=etag_unstable}": 1,
            "pawl_origin_defects_total{upstream=app,defect=head_wrong}": 1,
        },
    )
