"""TLS to the origin: who it has to be, what pawl shows, sessions, and bodies that break off."""

import re
import socket
import ssl
import threading
import time

from harness import certificates
from harness.certificates import authority
from harness.checks import CLEAR, check, only, same, timely, true
from harness.client import get
from harness.content import Content
from harness.origin import Break, Origin, Resource, always_break, break_points
from harness.process import wait_for
from harness.uploads import Dialect, create, stored, tus_new, tus_patch, whole

MIB = 1 << 20
NO_STORE = (("Cache-Control", "no-store"),)
FRESH = (("Cache-Control", "max-age=600"),)
only(CLEAR, "pawl and its origin: what the client speaks changes nothing", __name__)


def context(pair=None, clients=None, version=None):
    """An origin's context: its pair, whose certificates it demands, its only version."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = pair or certificates.server()
    made.load_cert_chain(pair.certificate, pair.key)
    made.set_alpn_protocols(["http/1.1"])
    if clients:
        made.load_verify_locations(clients)
        made.verify_mode = ssl.CERT_REQUIRED
    if version:
        made.minimum_version = made.maximum_version = version

    def asked(connection, name, _):
        made.asked = name

    made.sni_callback = asked
    return made


def begin(bench, tls=None, name="pawl", site=None, url=None, **upstream):
    origin = bench.use(Origin(tls=tls or context()))
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    settings = {"tls-ca": str(authority().file), **{k.replace("_", "-"): v for k, v in upstream.items()}}
    return origin, bench.pawl(url.format(origin.port) if url else origin, name, upstream=settings, site=site)


def proxy_status(answer):
    return " ".join(answer.all("Proxy-Status"))


@check("verified by name and by address with its own authority; SNI for names only; TLS 1.2 and 1.3", area="tls origin")
def good(bench):
    v = ssl.TLSVersion
    for number, (url, version, sni) in enumerate(
        (
            (None, v.TLSv1_3, None),
            ("https://localhost:{}", v.TLSv1_3, "localhost"),
            ("https://localhost:{}", v.TLSv1_2, "localhost"),
        )
    ):
        origin, pawl = begin(bench, context(version=version), f"pawl{number}", url=url)
        same(get(pawl.address, "/x").body, b"hello", f"answer from {url or origin.url}")
        found = origin.handshakes[0]
        same(
            (found["version"], found["name"]),
            ("TLSv1.3" if version == v.TLSv1_3 else "TLSv1.2", sni),
            "version and SNI",
        )
        request = origin.of("/x")[0]
        same(request.version, "HTTP/1.1", "what is spoken")
        true(found["alpn"] in ("http/1.1", None), f"ALPN {found['alpn']}")
        pawl.stop()
    origin, pawl = begin(
        bench, context(authority().leaf("named-origin", ("inside.test",))), "named", tls_server_name="inside.test"
    )
    same((get(pawl.address, "/x").body, origin.handshakes[0]["name"]), (b"hello", "inside.test"), "tls-server-name")


@check(
    "a wrong certificate is 502 with tls_certificate_error, and no request reaches it", area="tls origin", seconds=90
)
def wrong(bench):
    ca = authority()
    cases = {
        "another host": (context(ca.leaf("elsewhere", ("elsewhere.test",))), {}),
        "expired": (context(ca.leaf("expired", days=(-30, -2))), {}),
        "not yet": (context(ca.leaf("early", days=(2, 30))), {}),
        "an unknown authority": (context(authority("Authority of nobody").leaf("nobody")), {}),
        "the system's authorities only": (context(), {"tls-ca": "system"}),
        "a client's certificate": (context(ca.leaf("no-server", client=True)), {}),
        "another tls-server-name": (context(), {"tls-server-name": "other.test"}),
    }
    bad = []
    for number, (name, (tls, more)) in enumerate(cases.items()):
        origin, pawl = begin(bench, tls, f"pawl{number}", **more)
        answer = get(pawl.address, "/x")
        if (
            answer.status != 502
            or "tls_certificate_error" not in proxy_status(answer)
            or origin.requests
            or len(answer.body) < 20
        ):
            bad.append((name, answer, proxy_status(answer), origin.requests))
        pawl.stop()
    true(not bad, f"{bad}")
    origin, pawl = begin(bench, cases["another host"][0], "unverified", tls_verify="off")
    same(get(pawl.address, "/x").body, b"hello", "tls-verify = off")


@check("other failures of the handshake: in clear, an old version, an alert, silence", area="tls origin")
def handshakes(bench):
    v = ssl.TLSVersion
    clear = bench.use(socket.create_server(("127.0.0.1", 0)))

    def answer_in_clear():
        while True:
            try:
                connection, _ = clear.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    threading.Thread(target=answer_in_clear, daemon=True).start()
    pawl = bench.pawl(
        f"https://127.0.0.1:{clear.getsockname()[1]}", "clear", upstream={"tls-ca": str(authority().file)}
    )
    answer = get(pawl.address, "/x")
    true(
        answer.status == 502 and re.search("tls_protocol_error|connection_terminated", proxy_status(answer)),
        f"clear: {answer} {proxy_status(answer)}",
    )
    origin, pawl = begin(bench, context(version=v.TLSv1_2), "old", tls_min_version="1.3")
    answer = get(pawl.address, "/x")
    true(
        answer.status == 502 and re.search("tls_(protocol_error|alert_received)", proxy_status(answer)),
        f"version: {answer} {proxy_status(answer)}",
    )
    for version in (v.TLSv1_2, v.TLSv1_3):
        origin, pawl = begin(
            bench, context(clients=authority("Authority of clients").file, version=version), f"demanding-{version.name}"
        )
        answer = get(pawl.address, "/x")
        true(
            answer.status == 502
            and re.search("tls_alert_received|tls_protocol_error|connection_terminated", proxy_status(answer)),
            f"no certificate: {answer} {proxy_status(answer)}",
        )
        same(origin.requests, [], "requests")
    silent = bench.use(socket.create_server(("127.0.0.1", 0)))
    pawl = bench.pawl(
        f"https://127.0.0.1:{silent.getsockname()[1]}",
        "silent",
        upstream={"connect-timeout": "700ms", "tls-ca": str(authority().file)},
    )
    begun = time.monotonic()
    answer = get(pawl.address, "/x", timeout=10)
    true(answer.status in (502, 504), f"silence: {answer}")
    timely(time.monotonic() - begun < 6, f"silence: {time.monotonic() - begun:.1f} s")


@check("pawl shows its certificate to one that asks", area="tls origin")
def shows(bench):
    pair = authority("Authority of clients").leaf("pawl-itself", (), subject="/CN=pawl", client=True)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        origin, pawl = begin(
            bench,
            context(clients=authority("Authority of clients").file, version=version),
            version.name,
            tls_certificate=str(pair.certificate),
            tls_key=str(pair.key),
        )
        same((get(pawl.address, "/x").body, origin.handshakes[0]["certificate"]), (b"hello", pair.der()), version.name)


@check("sessions are resumed when connections are made anew", area="tls origin")
def resumed(bench):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        origin, pawl = begin(bench, context(version=version), version.name)
        origin.at("/once", Resource(b"once", close=True, fields=NO_STORE))
        for _ in range(8):
            same(get(pawl.address, "/once").body, b"once", "answer")
        found = [h["resumed"] for h in origin.handshakes]
        true(
            len(found) >= 8 and found.count(True) >= len(found) - 3, f"{version.name}: resumed {found}"
        )  # each loop may begin with one of its own


@check("a body that breaks off is resumed by range and by replay, over TLS", area="tls origin", seconds=60)
def breaks(bench):
    origin, pawl = begin(bench)
    content = Content("tls-origin", 8 * MIB)
    for how in ("rst", "fin", "cut"):
        origin.at(
            f"/ranges-{how}",
            Resource(
                content, ranges=True, etag='"t"', fields=FRESH, breaks=break_points([MIB, 3 * MIB + 5, 7 * MIB], how)
            ),
        )
        origin.at(f"/replay-{how}", Resource(content, fields=FRESH, breaks=break_points([2 * MIB, 5 * MIB], how)))
        origin.at(f"/plain-{how}", Resource(content, fields=NO_STORE, breaks=break_points([2 * MIB], how)))
        for kind in ("ranges", "replay", "plain"):
            answer = get(pawl.address, f"/{kind}-{how}", keep=False, timeout=20)
            same((answer.complete, answer.sha), (True, content.sha256()), f"{kind}, {how}")
        true(origin.sent(f"/ranges-{how}") <= content.size + MIB, f"{how}: {origin.sent(f'/ranges-{how}')} bytes")


@check(
    "the end of the connection without close_notify is no end of a body: never shown whole, never kept",
    area="tls origin",
)
def truncation(bench):
    origin, pawl = begin(bench, resume_attempts="1")
    content = Content("tls-truncated", 200_000)
    origin.at("/whole", Resource(content, framing="close", fields=FRESH))
    for how in ("cut", "rst"):
        path = f"/{how}"
        origin.at(
            path,
            lambda r, how=how: Resource(
                content, framing="close", fields=FRESH, breaks=lambda s, e: Break(100_000, how)
            ),
        )
    answer = get(pawl.address, "/whole", keep=False)
    same((answer.complete, answer.sha), (True, content.sha256()), "an end with close_notify")
    for path in ("/cut", "/rst"):
        answer = get(pawl.address, path, timeout=15)
        true(not answer.complete or answer.status >= 500, f"{path}: a truncated body is shown as whole: {answer}")
        same(answer.body, content.read(0, len(answer.body)) if answer.status == 200 else answer.body, f"{path}: bytes")
        origin.at(path, Resource(content, framing="close", fields=FRESH))
        answer = get(pawl.address, path, keep=False, timeout=15)
        same((answer.complete, answer.sha), (True, content.sha256()), f"{path}: afterwards")


@check(
    "uploads are delivered over TLS: once, whole; a broken delivery is tried again while it may be", area="tls origin"
)
def uploads(bench):
    origin, pawl = begin(bench, site={"min-resumable": "0"})
    origin.default = stored
    body = Content("tls-upload", 3 * MIB).read()
    for d in (Dialect(3), Dialect(6), Dialect(9)):
        same(create(pawl.address, d, body, target=f"/{d}").body, b"got %d bytes" % len(body), f"{d}")
        same([r.body == body for r in whole(origin, f"/{d}")], [True], f"{d}: at the origin")
    location = tus_new(pawl.address, len(body), target="/tus")
    same(tus_patch(pawl.address, location, 0, body).status, 204, "tus")
    same([r.body == body for r in whole(origin, "/tus")], [True], "tus: at the origin")


@check("many requests share connections; none is given a body of another", area="tls origin")
def shared(bench):
    origin, pawl = begin(bench)
    for i in range(40):
        origin.at(
            f"/{i}", Resource(Content(f"s{i}", 60_000 + i), fields=NO_STORE, framing="chunked" if i % 2 else "length")
        )
    wrong = []

    def ask(start):
        for i in range(start, 40, 4):
            answer = get(pawl.address, f"/{i}", keep=False)
            if answer.sha != Content(f"s{i}", 60_000 + i).sha256():
                wrong.append((i, answer))

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    same(wrong, [], "bodies")
    true(len(origin.handshakes) <= 12, f"{len(origin.handshakes)} connections for 40 requests")


@check(
    "one that breaks every connection ends visibly for the client, and the origin is not asked for ever",
    area="tls origin",
)
def hopeless(bench):
    origin, pawl = begin(bench, resume_attempts="3")
    content = Content("tls-hopeless", 500_000)
    origin.at("/x", Resource(content, fields=NO_STORE, breaks=always_break(1000, "cut")))
    answer = get(pawl.address, "/x", timeout=20)
    true(not answer.complete, f"{answer}")
    wait_for(lambda: origin.active == 0, 5, "the end at the origin")
    true(origin.count("/x") <= 40, f"{origin.count('/x')} requests")
