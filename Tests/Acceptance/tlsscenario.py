"""What the rows about TLS and HTTP/2 share: certificates, and pawl and nginx with listeners in clear and over TLS."""

import os
import pathlib
import re
import shutil
import ssl
import subprocess

from harness.checks import Skip
from harness.client import Client
from harness.process import Nginx, free_port

NAMES = ("pawl.test", "localhost")


def pair(folder, name="server", kind="ec", names=NAMES, bits=2048, days=30):
    """A self-signed certificate for `names` and its key, as PEM files: (certificate, key)."""
    if not shutil.which("openssl"):
        raise Skip("needs openssl, which makes the certificates")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "ec" else ["-newkey", f"rsa:{bits}"]
    alternatives = ",".join(f"DNS:{each}" for each in names) + ",IP:127.0.0.1"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            *algorithm,
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            str(days),
            "-subj",
            f"/CN={names[0]}",
            "-addext",
            f"subjectAltName={alternatives}",
            "-addext",
            "keyUsage=critical,digitalSignature" + (",keyEncipherment" if kind == "rsa" else ""),
            "-addext",
            "extendedKeyUsage=serverAuth",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return certificate, key


def section(*pairs, **more):
    """The keys of a [tls:NAME] section for pairs of files."""
    return {"certificate": [each[0] for each in pairs], "key": [each[1] for each in pairs], **more}


class Front:
    """Where one server listens: `clear` and `tls` are ports on 127.0.0.1; `process` can be asked for rss()."""

    def __init__(self, name, clear, tls, process):
        self.name, self.clear, self.tls, self.process = name, clear, tls, process

    def port(self, secure):
        return self.tls if secure else self.clear

    def url(self, secure, path="/"):
        return f"{'https' if secure else 'http'}://127.0.0.1:{self.port(secure)}{path}"


def pawl_front(scenario, origin, tls, name="pawl", prefix=(), **sections):
    """pawl with one listener in clear and one over TLS; `tls`: {section name: keys}, in the order of the listener."""
    listen = sections.pop("listen", {})
    extra = {f"tls:{each}": keys for each, keys in tls.items()}
    extra["listen:secure"] = {"address": "127.0.0.1:0", "tls": ", ".join(tls), **listen}
    extra.update(sections.pop("extra", {}))
    pawl = scenario.bench.pawl(origin, name=name, start=False, prefix=prefix, listen=listen, extra=extra, **sections)
    return start_front(pawl)


def start_front(pawl):
    pawl.start(ready=2)
    ports = {}
    for address in pawl.addresses:
        scheme, port = re.match(r"(https?)://.*:(\d+)/?$", address).groups()
        ports[scheme] = int(port)
    return Front("pawl", ports["http"], ports["https"], pawl)


def nginx_front(scenario, pairs, server, http="", name="nginx", http2=True, also=""):
    """nginx with the same listeners; `server` is the inside of its server block, `also` further words for the listener
    over TLS. None without nginx."""
    if not (shutil.which("nginx") or os.path.exists("/usr/sbin/nginx")):
        return None
    secure, clear = free_port(), free_port()
    kind = " http2" if http2 else ""
    lines = f"listen 127.0.0.1:{secure} ssl{kind} backlog=1024; listen 127.0.0.1:{clear}{kind} backlog=1024; ssl_protocols TLSv1.2 TLSv1.3; {also}"
    for certificate, key in pairs:
        lines += f" ssl_certificate {certificate}; ssl_certificate_key {key};"
    made = scenario.bench.use(Nginx(scenario.bench.folder / name, lines + " " + server, http))
    front = Front("nginx", clear if http2 else made.port, secure, made)
    front.http1 = made.port
    return front


def context(alpn=("h2",), certificate=None, tickets=True):
    """A client's TLS settings; without `certificate` it trusts everybody."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if certificate:
        made.load_verify_locations(certificate)
        made.verify_mode = ssl.CERT_REQUIRED
    if not tickets:
        made.options |= ssl.OP_NO_TICKET
    made.set_alpn_protocols(list(alpn))
    return made


def program(variable, *names):
    """A program given by an environment variable, else found by its name; Skip when there is none."""
    given = os.environ.get(variable)
    for each in [given] if given else names:
        found = shutil.which(each)
        if found:
            return found
    raise Skip(f"needs {given or ' or '.join(names)} (set {variable} to its path)")


def http1(port, secure, timeout=10):
    """A client that speaks HTTP/1.1 to a port and trusts everybody."""
    return Client(
        ("127.0.0.1", port),
        timeout=timeout,
        over="tls" if secure else "clear",
        context=context(("http/1.1",)) if secure else None,
    )
