"""Metrics and the list of transfers, as a scraper and an operator see them."""

import json
import re
import shutil
import signal
import socket
import subprocess
import threading

from harness.checks import CLEAR, Skip, check, only, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource, break_points
from harness.process import ROOT, wait_for

from .admin import ask, sock

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
