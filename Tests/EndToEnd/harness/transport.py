"""What a check's HTTP/1.1 bytes travel in: `clear`, `tls`, `h2` (HTTP/2 over TLS, by ALPN) or `h2c` (HTTP/2 in clear,
by prior knowledge).

pawl's listeners are noted here as they become ready; whoever connects to one speaks its transport. Everything else is
spoken to in clear.
"""

import functools
import socket
import ssl

from . import certificates
from .h2socket import H2Socket, end_lingering
from .tlssocket import TLSSocket

NAMES = ("clear", "tls", "h2", "h2c")
SECURE = ("tls", "h2")
LISTENERS = {}  # (port or path): transport


def register(address, over):
    """Notes that a listener is spoken to in that transport; an address with https is, whatever else is meant, spoken to
    in TLS."""
    secure = address.startswith("https:")
    if over in SECURE and not secure:
        over = "clear"
    if over in ("clear", "h2c") and secure:
        over = "tls"
    LISTENERS[key(address)] = over


def key(address):
    if isinstance(address, tuple):
        return address[1]
    text = address.partition("://")[2] or address
    return text[5:] if text.startswith("unix:") else int(text.rstrip("/").rpartition(":")[2])


def spoken(address):
    return LISTENERS.get(address if isinstance(address, str) else address[1], "clear")


@functools.lru_cache(maxsize=None)
def client_context(alpn=("http/1.1",), ca=None, lowest=None, highest=None):
    context = ssl.create_default_context(cafile=ca or str(certificates.authority().file))
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if lowest:
        context.minimum_version = lowest
    if highest:
        context.maximum_version = highest
    return context


@functools.lru_cache(maxsize=None)
def server_context(alpn=("http/1.1",)):
    """A server's context with the pair pawl has in checks: for relays that look into what passes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = certificates.server()
    context.load_cert_chain(pair.certificate, pair.key)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


def wrap(raw, over, window=None, server_name="pawl.test", context=None, session=None):
    """A connected socket as a check sees it."""
    if over == "clear":
        return raw
    if over == "h2c":
        return H2Socket(raw, "http", window)
    if over == "tls":
        return TLSSocket(raw, context or client_context(), server_name, session=session)
    carrier = TLSSocket(raw, context or client_context(("h2", "http/1.1")), server_name)
    chosen = carrier.tls.selected_alpn_protocol()
    if chosen != "h2":
        carrier.close()
        raise AssertionError(f"ALPN h2 was not chosen, but {chosen}")
    return H2Socket(carrier, "https", window, cancels=True)


def accept(raw, over):
    """The end of a relay that a client connected to: the relay sees what passes."""
    return (
        raw
        if over not in SECURE
        else TLSSocket(raw, server_context(("h2",) if over == "h2" else ("http/1.1",)), server_side=True)
    )


def dial(target, over, timeout=10):
    """The other end of a relay, towards pawl."""
    raw = socket.create_connection(target, timeout)
    if over not in SECURE:
        return raw
    return TLSSocket(raw, client_context(("h2",) if over == "h2" else ("http/1.1",)), "pawl.test")


def address_of(port, over, host="127.0.0.1"):
    return f"{'https' if over in SECURE else 'http'}://{host}:{port}"


def trust():
    """Environment in which the clients that look there trust the authority of the checks."""
    file = str(certificates.authority().file)
    return dict.fromkeys(
        (
            "SSL_CERT_FILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "URLSessionCertificateAuthorityInfoFile",
        ),
        file,
    )


CURL = {"clear": ["--http1.1"], "tls": ["--http1.1"], "h2": ["--http2"], "h2c": ["--http2-prior-knowledge"]}


def curl(over):
    """curl's options for a transport."""
    return CURL[over] + (["--cacert", str(certificates.authority().file)] if over in SECURE else [])


def end():
    """After a check: nothing of it stays open."""
    end_lingering()


def sections(over):
    """What pawl's configuration needs for a transport: (more keys of the listener, more sections)."""
    if over not in SECURE:
        return {}, {}
    pair = certificates.server()
    return {"tls": "checks"}, {"tls:checks": {"certificate": str(pair.certificate), "key": str(pair.key)}}


def connect(
    address,
    timeout,
    receive_buffer=None,
    source=None,
    over=None,
    server_name="pawl.test",
    context=None,
    session=None,
    first=b"",
):
    """`first`: bytes that go before everything else, in clear. `address` is (host, port) or the path of a local
    socket."""
    local = isinstance(address, str)
    raw = socket.socket(socket.AF_UNIX if local else socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    if receive_buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.settimeout(timeout)
    try:
        if source:
            raw.bind((source, 0))
        raw.connect(address)
        if not local:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.sendall(first)
        return wrap(raw, over or spoken(address), receive_buffer, server_name, context, session)
    except BaseException:
        raw.close()
        raise
