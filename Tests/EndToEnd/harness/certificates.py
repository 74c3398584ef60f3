"""Certificates for checks, made with the openssl command: an authority of one's own, and what it signs. Nothing
outlives the run."""

import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

NAMES = ("pawl.test", "*.pawl.test", "localhost", "IP:127.0.0.1", "IP:::1")
LOCK = threading.RLock()


def openssl(*words, stdin=None):
    done = subprocess.run(["openssl", *map(str, words)], input=stdin, capture_output=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(map(str, words[:3]))}: {done.stderr.decode(errors='replace')[-600:]}")
    return done.stdout


class Pair:
    """A certificate (with what leads up to its authority, when there is more) and its key, as PEM files."""

    def __init__(self, certificate, key):
        self.certificate, self.key = pathlib.Path(certificate), pathlib.Path(key)

    def fingerprint(self):
        """SHA-256 of the certificate in DER, as hexadecimal digits."""
        import hashlib

        return hashlib.sha256(self.der()).hexdigest()

    def der(self):
        return openssl("x509", "-in", self.certificate, "-outform", "DER")

    def copy_to(self, other):
        """Puts this pair's bytes into the files of another pair."""
        shutil.copyfile(self.key, other.key)
        os.chmod(other.key, 0o600)
        shutil.copyfile(self.certificate, other.certificate)


class Authority:
    """A certificate authority in a folder; `file` is what a client has to trust."""

    def __init__(self, folder, name="Authority of the checks"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file, self.key, self.count = self.folder / "ca.pem", self.folder / "ca.key", 0
        new_key(self.key, "ec")
        openssl(
            "req",
            "-x509",
            "-new",
            "-key",
            self.key,
            "-subj",
            f"/CN={name}",
            "-days",
            30,
            "-out",
            self.file,
            "-addext",
            "basicConstraints=critical,CA:TRUE",
            "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        )

    def leaf(self, file, names=NAMES, kind="ec", subject=None, client=False, days=(-1, 20)):
        """A pair for `names` (IP: before addresses); `days` are its first and last, counted from now."""
        with LOCK:
            self.count += 1
            key, request, out = (self.folder / f"{file}.{end}" for end in ("key", "csr", "pem"))
            new_key(key, kind)
            names = tuple(names)
            subject = subject or "/CN=" + (names[0].removeprefix("IP:") if names else file)
            openssl("req", "-new", "-key", key, "-subj", subject, "-out", request)
            settings = self.folder / f"{file}.cnf"
            alternatives = ",".join(n if n.startswith("IP:") else "DNS:" + n for n in names)
            settings.write_text(f"""[ca]
default_ca = this
[this]
database = {self.folder}/{file}.index
new_certs_dir = {self.folder}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = leaf
copy_extensions = none
unique_subject = no
[any]
commonName = optional
organizationName = optional
organizationalUnitName = optional
countryName = optional
[leaf]
basicConstraints = CA:FALSE
keyUsage = digitalSignature{", keyEncipherment" if kind.startswith("rsa") else ""}
extendedKeyUsage = {"clientAuth" if client else "serverAuth"}
{"subjectAltName = " + alternatives if alternatives else ""}
""")
            (self.folder / f"{file}.index").write_text("")
            at = [time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + 86400 * each)) for each in days]
            openssl(
                "ca",
                "-batch",
                "-notext",
                "-config",
                settings,
                "-cert",
                self.file,
                "-keyfile",
                self.key,
                "-in",
                request,
                "-out",
                out,
                "-startdate",
                at[0],
                "-enddate",
                at[1],
            )
            return Pair(out, key)

    def staple(self, pair, file, status="good"):
        """An OCSP response (DER) about a pair, signed by this authority itself."""
        index, request, out = (self.folder / f"{file}.{end}" for end in ("ocsp-index", "ocsp-request", "ocsp"))
        serial = openssl("x509", "-in", pair.certificate, "-noout", "-serial").decode().strip().partition("=")[2]
        subject = (
            openssl("x509", "-in", pair.certificate, "-noout", "-subject", "-nameopt", "compat")
            .decode()
            .strip()
            .partition("=")[2]
        )
        later = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() + 86400 * 20))
        gone = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() - 3600)) if status == "revoked" else ""
        index.write_text(f"{'R' if gone else 'V'}\t{later}\t{gone}\t{serial}\tunknown\t{subject}\n")
        openssl("ocsp", "-issuer", self.file, "-cert", pair.certificate, "-reqout", request, "-no_nonce")
        openssl(
            "ocsp",
            "-index",
            index,
            "-rsigner",
            self.file,
            "-rkey",
            self.key,
            "-CA",
            self.file,
            "-reqin",
            request,
            "-respout",
            out,
            "-ndays",
            5,
            "-no_nonce",
        )
        return out


def new_key(path, kind):
    if kind == "ec":
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
    else:
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{kind[3:] or 2048}", "-out", path)


@functools.lru_cache(maxsize=None)
def folder():
    path = tempfile.mkdtemp(prefix="pawl-certificates-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path)


@functools.lru_cache(maxsize=None)
def _authority(name):
    return Authority(folder() / name.replace(" ", "-"), name)


def authority(name="Authority of the checks"):
    """One authority of that name for the whole run."""
    with LOCK:
        return _authority(name)


@functools.lru_cache(maxsize=None)
def _server(kind):
    return authority().leaf(f"server-{kind}", kind=kind)


def server(kind="ec"):
    """The pair that pawl shows in checks that are not about certificates."""
    with LOCK:
        return _server(kind)
