"""Resumable uploads as bytes on a socket: the interop versions of the IETF draft, tus, cut connections, and origins for
them."""

import base64
import hashlib
import json
import re
import threading
import time
import urllib.parse
import zlib

from .client import Client, Ended, Response
from .client import head as head_octets
from .origin import Origin, Resource
from .process import wait_for

VERSIONS = tuple(range(3, 11))
FINAL = 11
PREFIX = "/.pawl/uploads/"
NO_STORE = (("Cache-Control", "no-store"),)
LIMIT_KEYS = {"max-size", "min-size", "max-append-size", "min-append-size", "max-age", "expires"}
STATE_FIELDS = (
    "upload-draft-interop-version",
    "upload-complete",
    "upload-incomplete",
    "upload-offset",
    "upload-length",
    "incremental",
    "expect",
    "tus-resumable",
    "upload-metadata",
    "upload-concat",
    "upload-checksum",
    "upload-defer-length",
    "x-http-method-override",
)


# -- what is said ------------------------------------------------------------------------------------------------------


class Fields(list):
    """Field lines in their order, found without regard to case."""

    def get(self, name, default=None):
        found = self.all(name)
        return found[0] if found else default

    def all(self, name):
        return [value for key, value in self if key.lower() == name.lower()]


class Dialect:
    """An interop version 3 to 10, or `FINAL`: the fields without a version."""

    def __init__(self, number):
        self.number = number

    def __str__(self):
        return "final" if self.number == FINAL else f"v{self.number}"

    __repr__ = __str__

    @property
    def name(self):
        return "Upload-Incomplete" if self.number == 3 else "Upload-Complete"

    @property
    def other(self):
        return "Upload-Complete" if self.number == 3 else "Upload-Incomplete"

    @property
    def version(self):
        return () if self.number == FINAL else (("Upload-Draft-Interop-Version", str(self.number)),)

    def completes(self, done):
        return (self.name, "?1" if done != (self.number == 3) else "?0")

    def said(self, answer):
        """What the answer says of completeness (None: nothing); the spelling of other versions is an error."""
        fields = answer if isinstance(answer, Fields) else Fields(answer.fields)
        wrong, right = fields.all(self.other), fields.all(self.name)
        if wrong or len(right) > 1 or (right and right[0] not in ("?0", "?1")):
            raise AssertionError(f"{self.name}: {right}, {self.other}: {wrong}")
        return None if not right else (right[0] == "?1") != (self.number == 3)

    @property
    def append_type(self):
        return (("Content-Type", "application/partial-upload"),) if self.number >= 6 else ()


def limits(value):
    """Upload-Limit as a dictionary of integers; anything else is an error."""
    if value is None:
        raise AssertionError("no Upload-Limit")
    found = {}
    for member in value.split(","):
        match = re.fullmatch(r" *([a-z*][a-z0-9_.*-]*)=(-?\d{1,15}) *", member)
        if not match:
            raise AssertionError(f"Upload-Limit is no dictionary of integers: {value!r}")
        found[match.group(1)] = int(match.group(2))
    return found


def problem(answer):
    """The problem details of an answer as a dictionary."""
    if (answer.get("Content-Type") or "").split(";")[0].lower() != "application/problem+json":
        raise AssertionError(f"no problem details: {answer} {answer.get('Content-Type')} {answer.body[:100]!r}")
    return json.loads(answer.body)


def problem_type(name):
    return "https://iana.org/assignments/http-problem-types#" + name


def path_of(location):
    """Path and query of a URL or an absolute path."""
    if location is None:
        raise AssertionError("no Location")
    parts = urllib.parse.urlsplit(location)
    return parts.path + ("?" + parts.query if parts.query else "")


def token_of(location):
    return path_of(location).rsplit("/", 1)[1]


def bearer(subject, issue=1, issuer="https://issuer.test"):
    """A Bearer JWT of `subject`; `issue` numbers refreshed ones."""

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")

    return (
        f"Bearer {part({'alg': 'HS256', 'typ': 'JWT'})}."
        f"{part({'iss': issuer, 'sub': subject, 'iat': 1000 + issue, 'jti': f'j{issue}'})}.c2ln{issue:04d}"
    )


def basic(name, word):
    return "Basic " + base64.b64encode(f"{name}:{word}".encode()).decode()


def metadata(**pairs):
    return ",".join(
        f"{key} {base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()}".rstrip()
        for key, value in pairs.items()
    )


def checksum(name, data):
    """The value of Upload-Checksum."""
    octets = zlib.crc32(data).to_bytes(4, "big") if name == "crc32" else hashlib.new(name, data).digest()
    return f"{name} {base64.b64encode(octets).decode()}"


def digest(data, name="sha-256"):
    """A member of Content-Digest or Repr-Digest."""
    return f"{name}=:{base64.b64encode(hashlib.new(name.replace('-', ''), data).digest()).decode()}:"


def chunks(data, *sizes, trailers=()):
    """`data` in the chunked coding; what `sizes` leave goes into a last one."""
    out, at = b"", 0
    for size in [*sizes, len(data) - sum(sizes)]:
        if size > 0:
            out += b"%x\r\n" % size + data[at : at + size] + b"\r\n"
            at += size
    return out + b"0\r\n" + b"".join(f"{n}: {v}\r\n".encode() for n, v in trailers) + b"\r\n"


# -- clients -----------------------------------------------------------------------------------------------------------


class Upload(Client):
    """One connection; heads and bodies leave it separately, and interim answers can be waited for."""

    def __init__(self, address, timeout=6, source=None, **how):
        super().__init__(address, timeout, source=source, **how)
        self.interims = []

    def head(self, target, method="POST", fields=(), host="pawl.test", version="1.1"):
        self.method = method
        self.send(head_octets(target, method, fields, None, host, version))

    def create(
        self,
        dialect,
        done=True,
        length=None,
        fields=(),
        target="/in",
        method="POST",
        host="pawl.test",
        chunked=False,
        version="1.1",
    ):
        """The head of a creation."""
        framing = (("Transfer-Encoding", "chunked"),) if chunked else (("Content-Length", str(length or 0)),)
        self.head(target, method, dialect.version + (dialect.completes(done),) + framing + tuple(fields), host, version)

    def append(self, dialect, location, offset, length, done=True, fields=(), chunked=False, host="pawl.test"):
        framing = (("Transfer-Encoding", "chunked"),) if chunked else (("Content-Length", str(length)),)
        self.head(
            path_of(location),
            "PATCH",
            dialect.version
            + dialect.append_type
            + (("Upload-Offset", str(offset)), dialect.completes(done))
            + framing
            + tuple(fields),
            host,
        )

    def interim(self, status=104):
        """The next head, which has to be interim: (status, Fields). 100s are skipped unless asked for."""
        while True:
            try:
                lines = self._head()
            except Ended as ended:
                raise AssertionError(f"no interim {status}: {ended.how}") from None
            number = int(lines[0].split(b" ")[1])
            fields = Fields()
            for line in lines[1:-1]:
                name, _, value = line.decode("latin-1").rstrip("\r\n").partition(":")
                fields.append((name, value.strip()))
            if number >= 200:
                raise AssertionError(f"{number} instead of an interim {status}: {fields}")
            self.interims.append((number, fields))
            if number == status:
                return fields
            if number != 100:
                raise AssertionError(f"interim {number} instead of {status}")

    def location(self):
        """The Location of the 104 that has to come now."""
        return self.interim(104).get("Location")

    def answer(self):
        """The final answer; `interim` of it has all that came on this connection."""
        answer = self.response(self.method)
        answer.interim = self.interims + [(s, Fields(f)) for s, f in answer.interim]
        answer.fields = Fields(answer.fields)
        if answer.status == 0:
            raise AssertionError(f"no answer: {answer.ended} {answer.note}")
        return answer

    def cut(self, how="fin"):
        self.reset() if how == "rst" else self.close()

    def nothing(self, seconds=0.3):
        """True when nothing comes for a while. For proving absence only."""
        self.socket.settimeout(seconds)
        try:
            self.buffer += self._more()
            return False
        except Ended as ended:
            return ended.how == "timeout"
        finally:
            self.socket.settimeout(8)


def ask(
    address,
    target,
    method="GET",
    fields=(),
    body=None,
    timeout=6,
    host="pawl.test",
    version="1.1",
    chunked=False,
    trailers=(),
    source=None,
    how=None,
):
    """One request on a connection of its own, from `source`. `body` None sends no Content-Length; `how` as
    transport.connect takes it."""
    fields = tuple(fields)
    with Upload(address, timeout, source, **(how or {})) as client:
        close = (("Connection", "close"),)
        if chunked:
            client.head(target, method, fields + (("Transfer-Encoding", "chunked"),) + close, host, version)
        else:
            framing = (("Content-Length", str(len(body))),) if body is not None else ()
            client.head(target, method, fields + framing + close, host, version)
        if body is not None:
            try:
                client.send(chunks(body, trailers=trailers) if chunked else body)
            except OSError:
                pass
        return client.answer()


def create(address, dialect, body=b"", done=True, fields=(), target="/in", method="POST", **options):
    """A creation with its whole body."""
    return ask(address, target, method, dialect.version + (dialect.completes(done),) + tuple(fields), body, **options)


def careful(address, dialect, fields=(), **options):
    """An empty creation that says more follows; its Location."""
    answer = create(address, dialect, b"", False, fields, **options)
    if answer.status != 201:
        raise AssertionError(f"empty creation: {answer} {answer.body[:200]!r}")
    return answer.get("Location")


def append(address, dialect, location, offset, body=b"", done=True, fields=(), plain_type=None, **options):
    kind = dialect.append_type if plain_type is None else (("Content-Type", plain_type),) if plain_type else ()
    return ask(
        address,
        path_of(location),
        "PATCH",
        dialect.version + kind + (("Upload-Offset", str(offset)), dialect.completes(done)) + tuple(fields),
        body,
        **options,
    )


def status(address, dialect, location, fields=(), method="HEAD", **options):
    return ask(address, path_of(location), method, dialect.version + tuple(fields), **options)


def cancel(address, dialect, location, fields=(), **options):
    return ask(address, path_of(location), "DELETE", dialect.version + tuple(fields), **options)


def body_files(pawl, least=1):
    """The body files of a spool in the state directory, by path with their sizes: bytes written, not yet bytes told."""
    found = {}
    for path in (pawl.folder / "state").rglob("*"):
        try:
            if path.is_file() and "sqlite" not in path.name and path.stat().st_size >= least:
                found[path] = path.stat().st_size
        except OSError:
            pass
    return found


def landed(pawl, size, besides=(), seconds=5, must=True):
    """Waits until a body file has that size, which unlike HEAD disturbs no transfer."""
    end = time.monotonic() + seconds
    while True:
        files = body_files(pawl)
        if any(found == size for path, found in files.items() if path not in besides):
            return
        if time.monotonic() > end:
            if not must:
                return
            raise AssertionError(f"no body file of {size} bytes within {seconds} s, but {sorted(files.values())}")
        time.sleep(0.01)


def running(pawl, besides, seconds=5):
    """Waits until a body file that was not among `besides` has bytes: the transfer has begun, and no newer request has
    to come first."""
    wait_for(lambda: set(body_files(pawl)) - set(besides), seconds, "the first bytes of a transfer", 0.005)


def partial(
    pawl,
    dialect,
    body,
    sent,
    fields=(),
    how="fin",
    target="/in",
    method="POST",
    done=True,
    host="pawl.test",
    source=None,
):
    """A creation of `body` that is cut after `sent` bytes; its Location, once pawl holds these bytes."""
    besides = set(body_files(pawl, sent))
    client = Upload(pawl.address, source=source)
    client.create(dialect, done, len(body), fields, target, method, host)
    location = client.location()
    client.send(body[:sent])
    client.cut(how)
    landed(pawl, sent, besides, 5 if how == "fin" else 0.5, must=how == "fin")
    return location


# -- tus ---------------------------------------------------------------------------------------------------------------

TUS = (("Tus-Resumable", "1.0.0"),)
OCTETS = (("Content-Type", "application/offset+octet-stream"),)


def tus_create(address, length=None, fields=(), body=None, target="/in", method="POST", version=TUS, **options):
    """POST; with a body the creation carries it."""
    declared = (("Upload-Length", str(length)),) if length is not None else ()
    kind = OCTETS if body is not None and not any(n.lower() == "content-type" for n, _ in fields) else ()
    return ask(
        address,
        target,
        method,
        tuple(version) + declared + kind + tuple(fields),
        body if body is not None else b"",
        **options,
    )


def tus_new(address, length=None, fields=(), **options):
    """The Location of a new upload."""
    answer = tus_create(address, length, fields, **options)
    if answer.status != 201 or not answer.get("Location"):
        raise AssertionError(f"tus creation: {answer} {answer.body[:200]!r}")
    return answer.get("Location")


def tus_patch(address, location, offset, body=b"", fields=(), version=TUS, kind=OCTETS, method="PATCH", **options):
    return ask(
        address,
        path_of(location),
        method,
        tuple(version) + tuple(kind) + (("Upload-Offset", str(offset)),) + tuple(fields),
        body,
        **options,
    )


def tus_head(address, location, fields=(), version=TUS, **options):
    return ask(address, path_of(location), "HEAD", tuple(version) + tuple(fields), **options)


def tus_get(address, location, fields=(), **options):
    return ask(address, path_of(location), "GET", TUS + tuple(fields), **options)


def tus_delete(address, location, fields=(), **options):
    return ask(address, path_of(location), "DELETE", TUS + tuple(fields), **options)


# -- origins -----------------------------------------------------------------------------------------------------------


def stored(request):
    """An application that says what it got."""
    return Resource(
        b"got %d bytes" % len(request.body), type="text/plain", fields=NO_STORE + (("X-Application", "yes"),)
    )


def turns():
    """Numbers the requests of each target from 0, questions by OPTIONS left out."""
    counts, lock = {}, threading.Lock()

    def turn(request):
        with lock:
            number = counts.get(request.target, 0)
            counts[request.target] = number + 1
        return number

    return turn


def script(*answers):
    """The first request gets the first answer, the last answer stays. OPTIONS is not known here."""
    turn = turns()

    def reply(request):
        if request.method == "OPTIONS":
            return Resource(b"", status=405, fields=NO_STORE)
        answer = answers[min(turn(request), len(answers) - 1)]
        return answer(request) if callable(answer) else answer

    return reply


def on_connection(function):
    """`function(request, connection, bytes of the body that came with the head)` has the connection; OPTIONS is not
    known here."""

    def reply(request, connection, buffer):
        if request.method == "OPTIONS":
            connection.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            request.status = 405
            return
        function(request, connection, buffer)

    reply.wants_connection = True
    return reply


def early(answer, after=0):
    """Answers raw bytes after `after` bytes of the body, without reading on, and closes."""

    def reply(request, connection, buffer):
        taken = len(buffer)
        while taken < after:
            data = connection.recv(65536)
            if not data:
                return
            taken += len(data)
        request.body_count = taken
        connection.sendall(answer)
        request.status = -1
        connection.settimeout(2)
        Origin._drain(connection)

    return on_connection(reply)


def dies(origin, after=None, then=None, times=1):
    """Takes `after` bytes of the body (all without), and resets the connection without an answer; `then` answers later
    requests."""
    turn = turns()

    def reply(request, connection, buffer):
        if then is not None and turn(request) >= times:
            origin._read_body(request, connection, buffer)
            answer = then(request) if callable(then) else then
            answer.close = True
            origin._answer(request, answer, connection)
            return
        need = int(request.get("Content-Length") or 0) if after is None else after
        taken = len(buffer)
        while taken < need:
            data = connection.recv(65536)
            if not data:
                request.ended = "peer"
                return
            taken += len(data)
        request.body_count, request.ended = taken, "rst" if after is None else "broken"
        Origin._reset(connection)

    return on_connection(reply)


def asked(origin, path="/in"):
    """The requests for a path, without the questions whether the origin speaks the protocol itself."""
    return [r for r in origin.of(path) if r.method != "OPTIONS"]


def whole(origin, path="/in", method=None):
    """The requests whose body came whole: those an application would have worked on."""
    return [
        r
        for r in asked(origin, path)
        if (r.status is not None or r.ended == "rst") and (method is None or r.method == method)
    ]


# -- what holds --------------------------------------------------------------------------------------------------------


def each(cases, function):
    """Runs `function` for every case and fails with all that were wrong."""
    wrong, begun = [], time.monotonic()
    for case in cases:
        if time.monotonic() - begun > 40:
            wrong.append("the others were not tried: too slow")
            break
        try:
            function(case)
        except Exception as error:  # noqa: BLE001: whatever it is, it is this case's result
            kind = "" if isinstance(error, AssertionError) else type(error).__name__ + ": "
            wrong.append(f"{case}: {kind}{error}")
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(list(cases))}: " + " || ".join(wrong))


def dialects(least=3, most=10):
    return [Dialect(number) for number in VERSIONS if least <= number <= most]


def one(answer, name):
    """The value of a field that has to be there exactly once."""
    values = Fields(answer.fields).all(name) if isinstance(answer, Response) else answer.all(name)
    if len(values) != 1:
        raise AssertionError(f"{name} is there {len(values)} times: {values} in {answer}")
    return values[0]


def secret_in(folder, *secrets):
    """Files below `folder` that hold one of `secrets`."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += [f"{path.relative_to(folder)}: {secret[:12]}..." for secret in secrets if secret.encode() in data]
    return found
