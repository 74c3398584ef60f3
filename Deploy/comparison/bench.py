"""What the rows share: a folder, programs in C, a certificate, the origin, and the servers that are up."""

import http.client
import os
import pathlib
import random
import re
import shutil
import ssl
import subprocess
import tempfile
import time

import allowance
import peers
import running
import servers
from running import Failure, Skip, start, stop

HERE = pathlib.Path(__file__).resolve().parent
CONTENT = 33_554_393  # a prime, so that no offset looks like another
KINDS = {
    each.name: each
    for each in (
        servers.Pawl,
        servers.PawlBefore,
        servers.Nginx,
        peers.Varnish,
        peers.TrafficServer,
        peers.HAProxy,
        peers.H2O,
        peers.Floor,
        peers.Relay,
        peers.Through,
    )
}


def forget_the_dead(parent):
    """Removes the folders of comparisons that were killed."""
    for each in parent.glob("pawl-compare-*"):
        owner = re.match(r"pawl-compare-(\d+)-", each.name)
        if owner and not os.path.exists(f"/proc/{owner.group(1)}"):
            shutil.rmtree(each, ignore_errors=True)


class Origin:
    """The origin in C, on the load's core."""

    def __init__(self, bench):
        self.process = start(
            [bench.tool("origin"), bench.content], {running.LOAD}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        self.port = int(self.process.stdout.readline().split()[1])
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.address}"

    def counts(self, path="/count"):
        """Requests, bytes of bodies sent, bytes of bodies received; with "/break" it resets what it is sending."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        client.request("GET", path)
        said = client.getresponse().read()
        client.close()
        return tuple(map(int, said.split())) if path == "/count" else ()


class Bench:
    def __init__(self, pawl, wanted, seconds, rounds, quick=False, load="own", folder=None, before=None, bencher=None):
        self.pawl, self.wanted, self.seconds, self.rounds, self.quick, self.load, self.before, self.bencher = (
            pawl,
            wanted,
            seconds,
            rounds,
            quick,
            load,
            before,
            bencher,
        )
        forget_the_dead(pathlib.Path(folder or tempfile.gettempdir()))
        allowance.forget_the_dead()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"pawl-compare-{os.getpid()}-", dir=folder))
        self.rows = None  # the names of those that are measured; all when not set
        self.up, self.broken, self.tools, self.warm = {}, {}, {}, set()
        self.content = self.folder / "content"
        self.fresh = 0  # how many bodies were asked for once only
        self._origin = self._certificate = None

    def __enter__(self):
        self.content.write_bytes(random.Random(5).randbytes(CONTENT))
        self.bytes = self.content.read_bytes()
        self.folder.chmod(0o755)  # for servers that change their user
        return self

    def __exit__(self, *_):
        self.stop_servers()
        if self._origin:
            stop(self._origin.process)
        running.stop_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tool(self, name):
        """A program of the floors, compiled once."""
        if name not in self.tools:
            source, program = HERE / "floors" / f"{name}.c", self.folder / f"floor-{name}"
            made = subprocess.run(
                [
                    "cc",
                    "-O2",
                    "-o",
                    program,
                    source,
                    "-lm",
                    *(["-lssl", "-lcrypto"] if "openssl/" in source.read_text() else []),
                ],
                capture_output=True,
                text=True,
            )
            if made.returncode:
                raise Failure(f"{source}: {made.stderr}")
            self.tools[name] = program
        return self.tools[name]

    @property
    def origin(self):
        if not self._origin:
            self._origin = Origin(self)
        return self._origin

    @property
    def certificate(self):
        """A certificate for 127.0.0.1 and its key, P-256."""
        if not self._certificate:
            certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
            subprocess.run(
                [
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                    "-nodes",
                    "-keyout",
                    key,
                    "-out",
                    certificate,
                    "-days",
                    "30",
                    "-subj",
                    "/CN=localhost",
                    "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1",
                ],
                check=True,
                capture_output=True,
            )
            both = self.folder / "both.pem"
            both.write_text(certificate.read_text() + key.read_text())
            self._certificate = (certificate, key)
        return self._certificate

    def server(self, name, **options):
        """The server of this name with these options, started when it is not up; the reason again when it did not
        start."""
        key = (name, *sorted(options.items()))
        if key in self.broken:
            raise Skip(self.broken[key])
        if key in self.up and self.up[key].process.poll() is not None:
            self.broken[key] = f"{name} ended by itself, {self.up.pop(key).process.returncode}"
            raise Skip(self.broken[key])
        if key not in self.up:
            try:
                self.up[key] = KINDS[name](self, **options).start()
            except (Skip, Failure, OSError) as why:
                self.broken[key] = str(why)
                raise Skip(str(why)) from None
        return self.up[key]

    def stop_servers(self, *names):
        """Those of these names, or all."""
        for key in [each for each in self.up if not names or each[0] in names]:
            self.up.pop(key).stop()

    def probe(self, side, path, length, headers=None, status=200, first=0, method="GET"):
        """One request of its own connection; every byte of the answer is compared with the content."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        client = (
            http.client.HTTPSConnection("127.0.0.1", side.port, timeout=120, context=context)
            if side.secure
            else http.client.HTTPConnection("127.0.0.1", side.port, timeout=120)
        )
        try:
            client.request(method, path, headers=headers or {})
            answer = client.getresponse()
            if answer.status != status:
                raise Failure(f"{side.name} {path}: {answer.status}")
            at, buffer = first, memoryview(bytearray(1 << 20))
            while True:
                got = answer.readinto(buffer)
                if not got:
                    break
                self.compare(side, path, at, buffer[:got])
                at += got
            if at - first != length:
                raise Failure(f"{side.name} {path}: {at - first} bytes instead of {length}")
            return answer
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{side.name} {path}: {error!r}") from None
        finally:
            client.close()

    def prepare(self, side, path, length):
        """The server has the answer, whole and right, and the second time it is kept."""
        if (side.cache, path) in self.warm and length > 1 << 20:
            return
        self.probe(side, path, length)
        if side.server.twice and length > 1 << 20:
            self.probe(side, path, length)
        if (side.cache, path) not in self.warm:
            self.wait_kept(side, path)
        self.warm.add((side.cache, path))

    def wait_kept(self, side, path, seconds=10):
        """Until the origin is not asked any more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = self.origin.counts()[0]
            self.probe(side, path, 0, method="HEAD")
            if self.origin.counts()[0] == before:
                return
            time.sleep(0.05)

    def compare(self, side, path, at, data):
        done = 0
        while done < len(data):
            offset = (at + done) % CONTENT
            size = min(len(data) - done, CONTENT - offset)
            if data[done : done + size].tobytes() != self.bytes[offset : offset + size]:
                raise Failure(f"{side.name} {path}: wrong bytes between {at + done} and {at + done + size}")
            done += size
