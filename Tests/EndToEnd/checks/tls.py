"""TLS at the front: which certificate is shown, versions, sessions, staples, and what goes with them."""

import re
import signal
import socket
import ssl
import subprocess
import time

from harness import certificates, transport
from harness.certificates import authority
from harness.checks import CLEAR, check, only, same, timely, true
from harness.client import Client
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

NO_STORE = (("Cache-Control", "no-store"),)
FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20
only(CLEAR, "says itself what it speaks", __name__)


def keys(*pairs):
    """A certificate and a key for each pair, as a section has them."""
    return {"certificate": [str(p.certificate) for p in pairs], "key": [str(p.key) for p in pairs]}


def begin(bench, sections, listen=None, **more):
    """pawl with TLS sections, the first of them the default; /x answers."""
    origin = bench.origin()
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    extra = {f"tls:{name}": settings for name, settings in sections.items()} | more.pop("extra", {})
    return origin, bench.pawl(origin, listen={"tls": ", ".join(sections), **(listen or {})}, extra=extra, **more)


def loose(alpn=("http/1.1",)):
    """A context that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(list(alpn))
    return context


def shown(pawl, name, context=None):
    """The certificate (DER) that a client gets that asks for this name."""
    with Client(pawl.address, 5, over="tls", server_name=name, context=context or loose()) as client:
        return client.socket.tls.getpeercert(binary_form=True)


def fetch(pawl, target="/x", name="pawl.test", host=None, context=None, fields=(), over="tls"):
    with Client(pawl.address, 6, over=over, server_name=name, context=context) as client:
        client.request(target, fields=fields, host=host or name)
        return client.response()


def refused(pawl, **how):
    """Why a handshake, or the first read after it, fails; None when it does not."""
    try:
        with Client(pawl.address, 5, over="tls", **how) as client:
            client.request("/x")
            answer = client.response()
            return None if answer.status else answer.ended
    except (OSError, ssl.SSLError) as error:
        return str(error)


def s_client(pawl, *words, name="pawl.test", say=b""):
    host, port = pawl.address.rpartition("//")[2].rsplit(":", 1)
    done = subprocess.run(
        [
            "openssl",
            "s_client",
            "-connect",
            f"{host}:{port}",
            "-servername",
            name,
            "-CAfile",
            str(authority().file),
            *words,
        ],
        input=say,
        capture_output=True,
        timeout=15,
    )
    return done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


@check("SNI chooses: exact name, then wildcard of one label, then the first section; without SNI the first", area="tls")
def names(bench):
    ca = authority()
    first, exact, wild = (
        ca.leaf("first", ("first.test",)),
        ca.leaf("exact", ("shop.wild.test", "other.test")),
        ca.leaf("wild", ("*.wild.test",)),
    )
    named = ca.leaf("named", (), subject="/CN=common.test")
    _, pawl = begin(bench, {"first": keys(first), "exact": keys(exact), "wild": keys(wild), "named": keys(named)})
    for name, pair in (
        ("first.test", first),
        ("shop.wild.test", exact),
        ("SHOP.Wild.Test", exact),
        ("other.test", exact),
        ("any.wild.test", wild),
        ("a.b.wild.test", first),
        ("wild.test", first),
        ("unknown.test", first),
        ("common.test", named),
        (None, first),
    ):
        same(shown(pawl, name), pair.der(), f"certificate for {name}")
    same(
        fetch(pawl, name="any.wild.test", context=transport.client_context()).body,
        b"hello",
        "answer, its certificate verified",
    )


@check(
    "several pairs in one section, by name and by kind of key: ECDSA and RSA side by side, in TLS 1.2 and 1.3",
    area="tls",
)
def kinds(bench):
    ca = authority()
    curve, rsa, third = (
        ca.leaf("both-ec", ("both.test",)),
        ca.leaf("both-rsa", ("both.test",), kind="rsa"),
        ca.leaf("third", ("third.test",)),
    )
    _, pawl = begin(bench, {"main": keys(curve, rsa, third)})
    for cipher, pair in (
        ("ECDHE-ECDSA-AES128-GCM-SHA256", curve),
        ("ECDHE-RSA-AES128-GCM-SHA256", rsa),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", curve),
        ("ECDHE-RSA-AES256-GCM-SHA384", rsa),
    ):
        context = loose()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(cipher)
        same(shown(pawl, "both.test", context), pair.der(), f"certificate for {cipher}")
    same(shown(pawl, "third.test"), third.der(), "another name of the section")
    for algorithms, kind in (("ECDSA+SHA256", "ECDSA"), ("RSA-PSS+SHA256", "RSA-PSS")):
        text = s_client(pawl, "-tls1_3", "-sigalgs", algorithms, name="both.test")
        true(
            f"Peer signature type: {kind}" in text,
            f"{algorithms}: {re.findall('Peer signature.*', text)} {text[-300:]}",
        )


@check("ALPN: h2 first, http/1.1, none; a client that speaks only others is told so", area="tls")
def alpn(bench):
    _, pawl = begin(bench, {"main": keys(certificates.server())})
    for offered, chosen in (
        (("h2", "http/1.1"), "h2"),
        (("http/1.1", "h2"), "h2"),
        (("http/1.1",), "http/1.1"),
        (("foo", "http/1.1"), "http/1.1"),
        (("http/1.0",), "http/1.0"),
        (("http/1.0", "http/1.1"), "http/1.1"),
        ((), None),
    ):
        with Client(pawl.address, 5, over="tls", context=transport.client_context(offered)) as client:
            same(client.socket.tls.selected_alpn_protocol(), chosen, f"ALPN for {offered}")
            if chosen != "h2":
                client.request("/x")
                same(client.response().body, b"hello", f"answer for {offered}")
    why = refused(pawl, context=transport.client_context(("foo", "spdy/3")))
    true(why and "APPLICATION_PROTOCOL" in why.upper().replace(" ", "_"), f"for others only: {why}")


@check("versions: 1.2 and 1.3, never 1.1; min-version = 1.3; TLS 1.2 only with ECDHE and AEAD", area="tls")
def versions(bench):
    server = certificates.server()
    _, pawl = begin(
        bench, {"main": keys(server), "new": {**keys(authority().leaf("new", ("new.test",))), "min-version": "1.3"}}
    )
    v = ssl.TLSVersion
    for lowest, highest, name, good in (
        (v.TLSv1_2, v.TLSv1_2, "pawl.test", True),
        (v.TLSv1_3, v.TLSv1_3, "pawl.test", True),
        (v.TLSv1_3, v.TLSv1_3, "new.test", True),
        (v.TLSv1_2, v.TLSv1_2, "new.test", False),
    ):
        context = transport.client_context(("http/1.1",), None, lowest, highest)
        why = refused(pawl, context=context, server_name=name)
        same(why is None, good, f"TLS {lowest.name} for {name}: {why}")
    text = s_client(pawl, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
    true("Cipher is (NONE)" in text, f"TLS 1.1: {text[-400:]}")
    for cipher in (
        "AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES128-SHA256",
        "ECDHE-ECDSA-AES256-SHA",
        "DHE-RSA-AES128-GCM-SHA256",
        "AES128-SHA",
    ):
        text = s_client(pawl, "-tls1_2", "-cipher", cipher + ":@SECLEVEL=0")
        true("Cipher is (NONE)" in text, f"{cipher}: {re.findall('Cipher is.*', text)}")


@check("sessions are resumed by ticket on every loop, and after SIGHUP; no early data", area="tls")
def tickets(bench):
    _, pawl = begin(bench, {"main": keys(certificates.server())}, pawl={"workers": "4"})
    v = ssl.TLSVersion
    for version in (v.TLSv1_2, v.TLSv1_3):
        context = transport.client_context.__wrapped__(("http/1.1",), None, version, version)

        def session(old=None):
            """(a session, whether the old one was resumed); the answer brings the ticket of TLS 1.3."""
            with Client(pawl.address, 5, over="tls", context=context, session=old) as client:
                client.request("/x")
                same(client.response().body, b"hello", "answer")
                return client.socket.tls.session, client.socket.tls.session_reused

        first, resumed = session()
        same(resumed, False, "the first is new")
        same([session(first)[1] for _ in range(8)], [True] * 8, f"{version.name}: resumed on connections to any loop")
        lines = len(pawl.log().splitlines())
        pawl.signal(signal.SIGHUP)
        wait_for(lambda: any("reload" in line for line in pawl.log().splitlines()[lines:]), 5, "the reload")
        same([session(first)[1] for _ in range(4)], [True] * 4, f"{version.name}: resumed after SIGHUP")
    text = s_client(pawl, "-tls1_3", "-ign_eof", say=b"GET /x HTTP/1.1\r\nHost: pawl.test\r\nConnection: close\r\n\r\n")
    true("hello" in text, f"no answer: {text[-300:]}")
    early = set(re.findall(r"Max Early Data: (\d+)", text))
    true(early <= {"0"}, f"early data allowed: {early}")


@check("OCSP responses are stapled to the certificate that they are about", area="tls")
def staple(bench):
    ca = authority()
    one, other = ca.leaf("stapled", ("stapled.test",)), ca.leaf("unstapled", ("unstapled.test",))
    _, pawl = begin(bench, {"main": {**keys(one), "ocsp": str(ca.staple(one, "stapled"))}, "other": keys(other)})
    for version in ("-tls1_2", "-tls1_3"):
        text = s_client(pawl, version, "-status", name="stapled.test")
        true("OCSP Response Status: successful" in text and "Cert Status: good" in text, f"{version}: {text[:600]}")
        text = s_client(pawl, version, "-status", name="unstapled.test")
        true("OCSP response: no response sent" in text, f"{version}, without: {text[:300]}")


@check(
    "small records first, full ones after that, small ones again after a second of silence; the body is right",
    area="tls",
)
def records(bench):
    origin, pawl = begin(bench, {"main": keys(certificates.server())})
    content = Content("records", 3 * MIB)
    origin.at("/big", Resource(content, fields=FRESH))
    fetch(pawl, "/big")
    with Tapped(pawl) as client:
        for turn in range(2):
            before = len(client.sizes())
            client.request("/big")
            same(client.response().sha, content.sha256(), "body")
            sizes = client.sizes()[before:]
            small = sum(size for size in sizes[:12])
            true(max(sizes[:6]) <= 1700, f"turn {turn}: first records {sizes[:12]} ({small} bytes)")
            full = [size for size in sizes if size >= 16 << 10]
            true(
                len(full) >= 0.8 * (3 * MIB - 65536) / 16384,
                f"turn {turn}: {len(full)} full records of {len(sizes)}: {sizes[20:60]}",
            )
            time.sleep(1.3)


class Tapped(Client):
    """A client that sees the records: their lengths as they came."""

    def __init__(self, pawl):
        address = pawl.address.rpartition("//")[2].rsplit(":", 1)
        raw = socket.create_connection((address[0], int(address[1])), 8)
        self.tap, self.buffer = Tap(raw), bytearray()
        self.socket = transport.wrap(self.tap, "tls")

    def sizes(self):
        """Lengths of records of application data so far."""
        at, found = 0, []
        while at + 5 <= len(self.tap.seen):
            length = int.from_bytes(self.tap.seen[at + 3 : at + 5], "big")
            if self.tap.seen[at] == 23:
                found.append(length)
            at += 5 + length
        return found


class Tap:
    def __init__(self, raw):
        self.raw, self.seen = raw, bytearray()

    def recv(self, *how):
        data = self.raw.recv(*how)
        self.seen += data
        return data

    def __getattr__(self, name):
        return getattr(self.raw, name)


@check(
    "a request in clear on a port of TLS gets a 400 in clear that says so; bytes that are nothing, an alert or the end",
    area="tls",
)
def clear(bench):
    _, pawl = begin(bench, {"main": keys(certificates.server())})
    with Client(pawl.address, 5, over="clear") as client:
        client.request("/x")
        answer = client.response()
        same((answer.status, answer.complete), (400, True), "answer")
        true(b"TLS" in answer.body or b"https" in answer.body, f"body {answer.body[:200]!r}")
        true(client.until_end(4)[1] in ("fin", "rst"), "the connection stays")
    for octets in (
        b"\x00" * 50,
        b"\x16\x03\x01\xff\xff" + bytes(100),
        b"\x80\x2e\x01\x03\x01" + bytes(60),
        bytes(range(128, 256)),
    ):
        with Client(pawl.address, 5, over="clear") as client:
            client.send(octets)
            data, ended = client.until_end(5)
            true(ended in ("fin", "rst") and (data == b"" or data[0] == 21), f"{octets[:6]!r}: {data[:40]!r} {ended}")
    same(fetch(pawl).body, b"hello", "a client afterwards")


@check("a handshake that does not go on ends with header-timeout", area="tls")
def slow(bench):
    _, pawl = begin(bench, {"main": keys(certificates.server())}, listen={"header-timeout": "600ms"})
    begun = time.monotonic()
    for octets in (b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40)):
        with Client(pawl.address, 5, over="clear") as client:
            client.send(octets)
            true(client.until_end(5)[1] in ("fin", "rst"), f"held after {octets[:4]!r}")
    timely(time.monotonic() - begun < 6, "slow")


@check(
    "Strict-Transport-Security by route, on hits, misses and errors over TLS, in place of the origin's, never in clear",
    area="tls",
)
def hsts(bench):
    origin, pawl = begin(
        bench,
        {"main": keys(certificates.server())},
        site={"hsts": "365d include-subdomains"},
        extra={
            "listen:plain": {"address": "127.0.0.1:0"},
            "route:main/off": {"path": "/off/*", "hsts": "off"},
            "route:main/short": {"path": "/short/*", "hsts": "1h preload"},
        },
    )
    pawl.stop()
    pawl.start(ready=2)
    secure, plain = (next(a for a in pawl.addresses if a.startswith(s)) for s in ("https:", "http:"))
    theirs = (("Strict-Transport-Security", "max-age=1"),)
    origin.at("/kept", Resource(b"kept", fields=FRESH + theirs))
    origin.at("/off/x", Resource(b"off", fields=NO_STORE + theirs))
    origin.at("/short/x", Resource(b"short", fields=NO_STORE))
    for over in ("tls", "h2"):
        for target, wanted in (
            ("/x", ["max-age=31536000; includeSubDomains"]),
            ("/kept", ["max-age=31536000; includeSubDomains"]),
            ("/kept", ["max-age=31536000; includeSubDomains"]),
            ("/.pawl/uploads/nothing", ["max-age=31536000; includeSubDomains"]),
            ("/off/x", ["max-age=1"]),
            ("/short/x", ["max-age=3600; preload"]),
        ):
            with Client(secure, 5, over=over) as client:
                client.request(target)
                same(client.response().all("Strict-Transport-Security"), wanted, f"{target} over {over}")
    for target in ("/x", "/kept"):
        with Client(plain, 5, over="clear") as client:
            client.request(target)
            values = client.response().all("Strict-Transport-Security")
            true("max-age=31536000; includeSubDomains" not in values, f"{target} in clear: {values}")


@check(
    "what is stored for https is never an answer in clear, whatever port Host names, nor the other way round",
    area="tls",
)
def schemes(bench):
    origin, pawl = begin(
        bench, {"main": keys(certificates.server())}, extra={"listen:plain": {"address": "127.0.0.1:0"}}
    )
    pawl.stop()
    pawl.start(ready=2)
    secure, plain = (next(a for a in pawl.addresses if a.startswith(s)) for s in ("https:", "http:"))
    origin.default = lambda request: Resource((request.get("X-Forwarded-Proto") or "none").encode(), fields=FRESH)
    hosts = ("pawl.test", "pawl.test:443", "pawl.test:80", "pawl.test:8443")
    for first, second in ((secure, plain), (plain, secure)):
        for number, host in enumerate(hosts):
            for address in (first, second):
                for other in (host, *hosts) if address == second else (host,):
                    over = "tls" if address == secure else "clear"
                    with Client(address, 5, over=over) as client:
                        client.request(
                            f"/{over if address == first else ('clear' if over == 'tls' else 'tls')}-first/{number}",
                            host=other,
                        )
                        answer = client.response()
                    same(
                        (answer.status, answer.body),
                        (200, b"https" if address == secure else b"http"),
                        f"{other} over {over}, after {host} over the other ({answer.cache})",
                    )


@check(
    "one connection for several names (RFC 9113 9.1.1) is served, where no section asks for certificates of clients",
    area="tls",
)
def coalesced(bench):
    _, pawl = begin(bench, {"one": keys(authority().leaf("one", ("one.test", "two.test")))})
    for over in ("tls", "h2"):
        with Client(pawl.address, 5, over=over, server_name="one.test") as client:
            for host in ("one.test", "two.test", "three.test:443"):
                client.request("/x", host=host)
                same(client.response().status, 200, f"{host} over {over}")
