"""The PROXY protocol, versions 1 and 2: whom it names, from whom it is believed, in clear and before TLS."""

import ipaddress
import json
import struct
import time

from harness import certificates
from harness.checks import CLEAR, check, only, same, timely, true
from harness.client import Client
from harness.origin import Resource
from harness.process import wait_for

NO_STORE = (("Cache-Control", "no-store"),)
SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
only(CLEAR, "says itself what it speaks", __name__)


def v1(source="203.0.113.7", target="192.0.2.1", port=51234, to=443):
    family = "TCP6" if ":" in source else "TCP4"
    return f"PROXY {family} {source} {target} {port} {to}\r\n".encode()


def v2(source="203.0.113.7", target="192.0.2.1", port=51234, to=443, command=1, tlvs=b"", family=None, kind=1):
    a, b = ipaddress.ip_address(source), ipaddress.ip_address(target)
    body = a.packed + b.packed + struct.pack(">HH", port, to) + tlvs
    family = family if family is not None else (1 if a.version == 4 else 2)
    return SIGNATURE + bytes([0x20 | command, family << 4 | kind]) + struct.pack(">H", len(body)) + body


def tlv(kind, value):
    return bytes([kind]) + struct.pack(">H", len(value)) + value


SSL = tlv(0x20, bytes([1]) + struct.pack(">I", 0) + tlv(0x21, b"TLSv1.3"))  # the client spoke TLS with the proxy


def begin(bench, secure=False, trusted="127.0.0.1", **listen):
    origin = bench.origin()
    origin.default = Resource(b"hello", fields=NO_STORE)
    pair = certificates.server()
    tls = {"tls:main": {"certificate": str(pair.certificate), "key": str(pair.key)}} if secure else {}
    return origin, bench.pawl(
        origin,
        pawl={"trusted-proxies": trusted} if trusted else None,
        listen={"proxy-protocol": "on", **({"tls": "main"} if secure else {}), **listen},
        extra=tls,
    )


def fetch(pawl, first, target="/x", over="clear", source=None, fields=()):
    with Client(pawl.address, 5, source=source, over=over, first=first) as client:
        client.request(target, fields=fields)
        return client.response()


def seen(origin, target):
    """What the origin was told: X-Forwarded-For, X-Forwarded-Proto."""
    request = origin.of(target)[-1]
    return ", ".join(request.all("X-Forwarded-For")), request.get("X-Forwarded-Proto")


HEADERS = {
    "v1": (v1(), "203.0.113.7"),
    "v1 IPv6": (v1("2001:db8::7", "2001:db8::1"), "2001:db8::7"),
    "v2": (v2(), "203.0.113.7"),
    "v2 IPv6": (v2("2001:db8::7", "2001:db8::1"), "2001:db8::7"),
    "v2 with TLVs": (v2(tlvs=tlv(1, b"h2") + tlv(4, bytes(300)) + tlv(5, b"id")), "203.0.113.7"),
    "v2 LOCAL": (v2(command=0), "127.0.0.1"),
    "v2 LOCAL without addresses": (SIGNATURE + b"\x20\x00\x00\x00", "127.0.0.1"),
}


@check(
    "the client it names is in the log and in X-Forwarded-For, in clear and before TLS, over HTTP/1.1 and HTTP/2",
    area="proxy protocol",
)
def named(bench):
    for secure, overs in ((False, ("clear", "h2c")), (True, ("tls", "h2"))):
        origin, pawl = begin(bench, secure)
        for over in overs:
            for number, (name, (octets, address)) in enumerate(HEADERS.items()):
                target = f"/{over}{number}"
                answer = fetch(pawl, octets, target, over)
                same((answer.status, answer.body), (200, b"hello"), f"{name} over {over}")
                same(
                    seen(origin, target), (address, "https" if secure else "http"), f"{name} over {over}: at the origin"
                )
                line = pawl.access(target)[0]
                true(any(value == address for value in line.values()), f"{name} over {over}: log {line}")
        pawl.stop()


@check("a proxy that ended TLS says so: https at the origin", area="proxy protocol")
def secured(bench):
    origin, pawl = begin(bench)
    same(fetch(pawl, v2(tlvs=SSL), "/secure").status, 200, "answer")
    same(seen(origin, "/secure"), ("203.0.113.7", "https"), "at the origin")
    same(fetch(pawl, v2(tlvs=tlv(0x20, bytes(5))), "/clear").status, 200, "answer")
    same(seen(origin, "/clear")[1], "http", "a client that spoke no TLS")


@check("UNKNOWN, unix and unspecified families are served without an address of the client's", area="proxy protocol")
def unnamed(bench):
    origin, pawl = begin(bench)
    unix = (
        SIGNATURE
        + b"\x21\x31"
        + struct.pack(">H", 216)
        + b"/run/client".ljust(108, b"\0")
        + b"/run/server".ljust(108, b"\0")
    )
    for number, octets in enumerate(
        (b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", SIGNATURE + b"\x21\x00\x00\x00", unix)
    ):
        answer = fetch(pawl, octets, f"/u{number}")
        same(answer.status, 200, f"{octets[:20]!r}")
        true("203.0.113.7" not in json.dumps(pawl.access(f"/u{number}")), "an address from nowhere")


@check(
    "the header may come in single bytes, and with the request or the handshake in one packet", area="proxy protocol"
)
def pieces(bench):
    origin, pawl = begin(bench)
    for octets in (v1(), v2(tlvs=tlv(4, bytes(40)))):
        with Client(pawl.address, 5, over="clear") as client:
            for i in range(len(octets)):
                client.send(octets[i : i + 1])
                time.sleep(0.001)
            client.request("/slow")
            same(client.response().status, 200, "byte by byte")
        with Client(pawl.address, 5, over="clear") as client:
            client.send(octets + b"GET /once HTTP/1.1\r\nHost: pawl.test\r\n\r\n" * 2)
            same([client.response().status for _ in range(2)], [200, 200], "in one packet with two requests")
        same(seen(origin, "/once")[0], "203.0.113.7", "at the origin")


BAD = {
    "no header": b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    "v1 in lower case": b"proxy TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
    "v1 with a bad address": b"PROXY TCP4 1.2.3.999 5.6.7.8 1 2\r\n",
    "v1 of the other family": b"PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n",
    "v1 with a port of 70000": b"PROXY TCP4 1.2.3.4 5.6.7.8 70000 2\r\n",
    "v1 with LF only": b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n",
    "v1 without end": b"PROXY TCP4 " + b"1" * 200 + b"\r\n",
    "v1 with two spaces": b"PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
    "v1 with a port too few": b"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n",
    "v2 of version 3": SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
    "v2 with an unknown command": SIGNATURE + b"\x22\x11\x00\x0c" + bytes(12),
    "v2 with too few bytes": SIGNATURE + b"\x21\x11\x00\x04" + bytes(4),
    "v2 with a broken signature": b"\r\n\r\n\x00\r\nQUIX\n" + bytes(16),
    "bytes": bytes(range(256)),
}


@check("what is no header ends the connection, and nothing reaches the origin", area="proxy protocol")
def malformed(bench):
    origin, pawl = begin(bench, **{"header-timeout": "800ms"})
    wrong = []
    for name, octets in BAD.items():
        with Client(pawl.address, 5, over="clear") as client:
            try:
                client.send(octets + b"GET /bad HTTP/1.1\r\nHost: pawl.test\r\n\r\n")
            except OSError:
                pass
            data, ended = client.until_end(4)
            if ended == "timeout" or b" 200 " in data[:20]:
                wrong.append((name, data[:40], ended))
    true(not wrong, f"{wrong}")
    same(origin.requests, [], "requests at the origin")
    for octets in (b"", v1()[:10], v2()[:20]):
        begun = time.monotonic()
        with Client(pawl.address, 5, over="clear") as client:
            client.send(octets)
            true(client.until_end(4)[1] != "timeout", f"{octets!r} is held")
            timely(time.monotonic() - begun < 3, f"{octets!r} is held")
    same(fetch(pawl, v1()).status, 200, "a good one afterwards")


@check("whoever is not among trusted-proxies is not heard, whatever it says", area="proxy protocol")
def untrusted(bench):
    origin, pawl = begin(bench)
    for octets in (v1(), v2(), b""):
        with Client(pawl.address, 5, source="127.0.0.2", over="clear") as client:
            try:
                client.send(octets + b"GET /x HTTP/1.1\r\nHost: pawl.test\r\n\r\n")
            except OSError:
                pass
            data, ended = client.until_end(4)
            true(ended != "timeout" and not data, f"{octets[:16]!r} from elsewhere: {data[:60]!r} {ended}")
    same(origin.requests, [], "requests at the origin")
    wait_for(lambda: "proxy-protocol-refused" in pawl.log(), 10, "the news")
    same(fetch(pawl, v1(), source="127.0.0.1").status, 200, "from a trusted one")


@check("without proxy-protocol = on a header is a malformed request", area="proxy protocol")
def off(bench):
    origin = bench.origin()
    origin.default = Resource(b"hello", fields=NO_STORE)
    pawl = bench.pawl(origin, pawl={"trusted-proxies": "127.0.0.1"})
    for octets in (v1(), v2()):
        with Client(pawl.address, 5, over="clear") as client:
            client.send(octets + b"GET /x HTTP/1.1\r\nHost: pawl.test\r\n\r\n")
            data, ended = client.until_end(5)
            true(ended != "timeout" and b" 200 " not in data[:20], f"{octets[:16]!r}: {data[:60]!r} {ended}")
    same(origin.requests, [], "requests at the origin")


@check(
    "X-Forwarded-For of a client it names is believed only where that client is trusted itself", area="proxy protocol"
)
def vouched(bench):
    origin, pawl = begin(bench, trusted=["127.0.0.1", "198.51.100.9"])
    forged = (("X-Forwarded-For", "6.6.6.6"), ("Forwarded", "for=6.6.6.6"))
    fetch(pawl, v1(), "/a", fields=forged)
    same(seen(origin, "/a")[0], "203.0.113.7", "named, and not trusted")
    true("6.6.6.6" not in origin.of("/a")[0].raw.decode("latin-1"), "a forged address went on")
    fetch(pawl, v1("198.51.100.9"), "/b", fields=forged)
    same(seen(origin, "/b")[0], "6.6.6.6, 198.51.100.9", "named, and trusted")


@check("an upload belongs to who is named, for max-uploads-per-client", area="proxy protocol")
def counted(bench):
    from harness.uploads import Dialect, create, stored

    origin, pawl = begin(bench)
    origin.default = stored
    pawl.stop()
    pawl.file.write_text(pawl.file.read_text() + "\n[spool:default]\nmax-uploads-per-client = 2\n")
    pawl.start()
    d = Dialect(9)
    answers = [
        create(
            pawl.address, d, b"", False, (("Upload-Length", "1000000"),), how={"over": "clear", "first": v1(address)}
        ).status
        for address in ("203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.8")
    ]
    true(answers[:2] == [201, 201] and answers[2] >= 400 and answers[3] == 201, f"answers {answers}")
