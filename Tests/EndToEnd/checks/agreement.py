"""The short way to a hit and the long way: whatever is stored, however it is asked for and whatever the settings have
become, they answer the same but for Date, Age and identifiers.

Each request goes out twice on one connection, the second time with a field that asks for nothing and yet is not plain
(`TE`, an empty `Pragma`), which only the long way reads. AGREE=1000000 in the environment: so many pairs, however long
that takes; without it as many as a few seconds allow. AGREE_SEED: another row of them.
"""

import os
import random
import re
import signal
import time

from harness import transport
from harness.checks import check, same, true
from harness.client import Client, parse_address
from harness.content import Content
from harness.h2raw import Frames
from harness.origin import Resource
from harness.process import ini, wait_for

SECONDS = {"clear": 12, "tls": 6, "h2": 8, "h2c": 8}
RELOAD_AFTER = 1000  # pairs between two changes of the settings
BATCH = 24  # pairs on their way at a time
OLD, YOUNG = "Sat, 01 Aug 2026 10:00:00 GMT", "Sun, 22 Nov 2026 10:00:00 GMT"
SIZES = (0, 1, 5, 100, 1000, 4096, 5000, 20_000, 32_768, 32_769, 40_000, 300_000, 1_048_576, 1_200_000)
CONTENT = Content("agreement", max(SIZES)).read()
CODED = Content("agreement-coded", max(SIZES)).read()
OTHER = re.compile(rb"ttl=(-?\d+)")

TAGS = (
    (),
    (("ETag", '"s"'),),
    (("ETag", '"s"'),),
    (("ETag", 'W/"w"'),),
    (("ETag", '"a"'), ("ETag", '"b"')),
    (("ETag", "bare"),),
    (("ETag", '""'),),
)
DATES = ((), (("Last-Modified", OLD),), (("Last-Modified", YOUNG),), (("Last-Modified", OLD), ("Last-Modified", YOUNG)))
VARIES = (
    ((),) * 6
    + ((("Vary", "Accept-Encoding"),),) * 3
    + (
        (("Vary", "accept-encoding, Accept-Encoding"),),
        (("Vary", "Accept-Language"),),
        (("Vary", "Accept-Encoding, Accept-Language"),),
        (("Vary", "Cookie"),),
        (("Vary", "*"),),
        (("Vary", ""),),
    )
)
FRESHNESS = tuple(
    (("Cache-Control", value),)
    for value in (
        "max-age=100000",
        "max-age=100000",
        "max-age=100000",
        "public, max-age=100000",
        "public, max-age=100000",
        "s-maxage=100000",
        "max-age=100000, must-revalidate",
        "max-age=100000, immutable",
        'max-age=100000, no-cache="Set-Cookie"',
        'max-age=100000, private="X-Own"',
        "public",
        "no-cache",
        "max-age=0",
        "max-age=1, stale-while-revalidate=100000",
        "no-store",
        "private, max-age=100000",
    )
) + ((), (("Expires", "Thu, 01 Jan 2032 00:00:00 GMT"),), (("CDN-Cache-Control", "max-age=100000"),))
STATUSES = (200,) * 30 + (203, 204, 301, 404, 410)
OWN = (
    (),
    (("X-Own", "1"), ("X-Own", "2")),
    (("Age", "77"),),
    (("Age", "5"), ("Age", "x")),
    (("Date", OLD),),
    (("Date", "never"),),
    (("Date", OLD), ("Date", YOUNG)),
    (("Via", "1.0 other"),),
    (("Cache-Status", "other; hit"),),
    (("Strict-Transport-Security", "max-age=1"),),
    (("Content-Digest", "sha-256=:AA==:"), ("Content-MD5", "AA==")),
    (("Repr-Digest", "sha-256=:AA==:"),),
    (("Content-Range", "bytes 0-0/1"),),
    (("Accept-Ranges", "none"),),
    (("Set-Cookie", "a=b"),),
    (("X-Request-Id", "stored"),),
    (("Alt-Svc", "h3"),),
    (("Content-Type", "text/html"),),
    (("Content-Type", "multipart/byteranges; boundary=b"),),
    (("Connection", "X-Hop"), ("X-Hop", "1")),
    (("Content-Location", "/elsewhere"), ("Link", "</a>; rel=next")),
    (("Warning", '110 - "old"'),),
)
CODINGS = (None,) * 7 + ("taken", "taken", "always")

SETTINGS = {
    "etag": ("auto", "auto", "origin"),
    "origin-encoding": ("identity", "identity", "pass"),
    "default-ttl": ("0s", "1h", "30m"),
    "max-ranges": ("1", "2", "16"),
    "hsts": ("off", "1h", "1h include-subdomains"),
    "cache": ("default", "default", "default", "default", "other", "off"),
    "resume-ttl": ("0s", "1h"),
    "stale-if-error": ("0s", "1h"),
    "max-object": ("0", "4K"),
    "compress": ("text", "text", "off", "text/html"),
    "compress-min": ("0", "1K"),
    "compress-codings": ("zstd, br, gzip", "gzip", "br"),
    "abandoned-fill": ("0", "64M"),
    "client-certificate-field": ("off", "on"),
    "upstream": ("app", "app", "second"),
    "resume-private": ("off", "1h"),
}


class Table:
    """The stored responses, by path; each is the same whoever asks, but for its coding."""

    def __init__(self, rng, count):
        self.rows = {}
        for at in range(count):
            size = rng.choice(SIZES)
            fields = sum((rng.choice(group) for group in (TAGS, DATES, VARIES, OWN)), ()) + rng.choice(FRESHNESS)
            self.rows[f"{at}"] = (size, fields, rng.choice(STATUSES), rng.choice(CODINGS))

    def answer(self, request):
        size, fields, status, coding = self.rows[request.path.rpartition("/")[2]]
        coded = coding == "always" or coding == "taken" and "gzip" in (request.get("Accept-Encoding") or "")
        content = (CODED if coded else CONTENT)[:size]
        fields += (("Content-Encoding", "gzip"),) if coded else ()
        kind = None if any(name == "Content-Type" for name, _ in fields) else "text/plain"
        named = [[value for name, value in fields if name == wanted] for wanted in ("ETag", "Last-Modified")]
        known = [values[0] for values in named if len(values) == 1]
        if status == 200 and (request.get("If-None-Match") or request.get("If-Modified-Since")) in known:
            return Resource(b"", type=kind, fields=fields, status=304)
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", request.get("Range") or "")
        takes = found and int(found[2] or found[1]) >= int(found[1])  # nothing else is a range that this origin knows
        if request.get("If-Range") in known and not request.get("If-Range").startswith("W/"):
            request.fields = [field for field in request.fields if field[0].lower() != "if-range"]
        return Resource(
            content,
            type=kind,
            fields=fields,
            status=None if status == 200 else status,
            ranges=size % 2 == 0 and bool(takes),
        )


def routes(rng, count):
    made = {}
    for at in range(count):
        made[f"route:main/{at}"] = {"path": f"/{at}/*", **{key: rng.choice(values) for key, values in SETTINGS.items()}}
    return made


def asked(rng, path, tags, over, usual=None):
    """A random request: (method, target, fields, version, host). `usual`: its Accept-Encoding nine times in ten."""
    fields, roll = [], rng.random
    if roll() < 0.45:
        first, last = (
            rng.choice((0, 0, 1, 4, 99, 4095, 5000, 39_999)),
            rng.choice((0, 4, 99, 998, 999, 4999, 40_000, 10**9, 2**64 - 1, 2**70)),
        )
        value = rng.choice(
            (
                f"bytes={first}-{last}",
                f"bytes={first}-{last}",
                f"bytes={first}-",
                f"bytes={first}-",
                f"bytes=-{last % 5000}",
                f"Bytes={first}-{last}",
                f"bytes={first}-{first},{last}-{last}",
                f"bytes={first}-{last},",
                f"bytes= {first}-{last}",
                "bytes=",
                "bytes=x",
                "items=0-1",
                f"bytes={last}-{first}",
                "bytes=-0",
                "bytes=0-0,-1",
                f"bytes=0{first}-{last}",
                "",
            )
        )
        fields.append(("Range", value))
        if roll() < 0.05:
            fields.append(("Range", "bytes=0-0"))
    if roll() < (0.5 if fields else 0.02):
        known = tags.get(path) or ['"s"']
        tag = rng.choice(known)
        fields.append(
            (
                "If-Range",
                rng.choice(
                    (
                        tag,
                        tag,
                        tag,
                        "W/" + tag,
                        '"s"',
                        '"a"',
                        'W/"w"',
                        '"unknown"',
                        OLD,
                        YOUNG,
                        "Sat, 01 Aug 2026 10:00:01 GMT",
                        tag.strip('"'),
                        tag + ", " + tag,
                        "",
                    )
                ),
            )
        )
    if roll() < 0.04:
        known = tags.get(path) or ['"s"']
        fields.append(
            rng.choice(
                (
                    ("If-None-Match", rng.choice(known)),
                    ("If-None-Match", "*"),
                    ("If-Modified-Since", YOUNG),
                    ("If-Match", rng.choice(known)),
                    ("If-Unmodified-Since", YOUNG),
                )
            )
        )
    if roll() < 0.12:
        fields.append(("Cookie", rng.choice(("a=b", "c=d", ""))))
    if roll() < 0.9:
        fields += [("Accept-Encoding", usual)] if usual else []
    else:
        fields.append(
            (
                "Accept-Encoding",
                rng.choice(
                    ("gzip", "gzip, br", "br", "zstd", "identity", "br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0", "", "*")
                ),
            )
        )
    if roll() < 0.1:
        fields.append(("Accept-Language", rng.choice(("de", "en, de;q=0.5"))))
    if roll() < 0.15:
        fields.append(
            rng.choice(
                (
                    ("X-Request-Id", "mine"),
                    ("X-Request-Id", ""),
                    ("User-Agent", "agree"),
                    ("Referer", "http://a/?b"),
                    ("Origin", "http://a"),
                    ("X-Forwarded-Proto", "https"),
                    ("X-Forwarded-For", "192.0.2.1"),
                    ("Max-Forwards", "0"),
                    ("Via", "1.1 other"),
                    ("Via", "1.1 pawl"),
                    ("Via", "1.1 pawl, 1.1 pawl, 1.0 Pawl"),
                    ("Request-Range", "bytes=0-0"),
                    ("Upload-Complete", "?1"),
                    ("Tus-Resumable", "1.0.0"),
                    ("Incremental", "?1"),
                    ("X-HTTP-Method-Override", "POST"),
                    ("CDN-Loop", "pawl"),
                    ("Accept-Ranges", "bytes"),
                    ("Warning", "1"),
                    ("A_b", "c"),
                    ("Priority", "u=1"),
                )
            )
        )
        if roll() < 0.1:
            fields.append(("X-Request-Id", "twice"))
    method = "HEAD" if roll() < 0.05 else "GET"
    version, target, host = "1.1", path, "pawl.test"
    if over in ("clear", "tls"):
        if roll() < 0.02:
            version = "1.0"
        if roll() < 0.03:
            host = rng.choice(
                ("PAWL.test", "pawl.test:80", "pawl.test:443", "pawl.test:8080", "pawl.test.", "pawl.test:")
            )
        elif roll() < 0.02:
            target = f"{'https' if over == 'tls' else 'http'}://pawl.test{path}"
        if roll() < 0.05:
            fields.append(
                ("Connection", rng.choice(("keep-alive", "x-thing", "range", "cookie", "keep-alive, accept-encoding")))
            )
        if roll() < 0.1:  # as others write them
            fields = [
                (
                    "".join(rng.choice((c.upper(), c.lower())) for c in name),
                    rng.choice(("", "\t", "  ")) + value + rng.choice(("", " ", "\t ")),
                )
                for name, value in fields
            ]
    if roll() < 0.03:
        target += rng.choice(("?", "?a=b", "?/../"))
    return method, target, tuple(fields), version, host


LONG = (("TE", "trailers"), ("Pragma", "x"), ("Pragma", ""))


class Lane:
    """A connection over which many requests go at once; answers are (status, [(name, value)], body)."""

    def __init__(self, pawl, over):
        self.over, self.address = over, pawl.address
        self.open()

    def open(self):
        if self.over in ("h2", "h2c"):
            self.frames = Frames(self.address, self.over, settings=((4, 1 << 24),))
            self.frames.update(0, 1 << 28)
        else:
            self.socket = transport.connect(parse_address(self.address), 10, over=self.over)
            self.buffer = bytearray()

    def close(self):
        (self.frames if self.over in ("h2", "h2c") else self.socket).close()

    def ask(self, requests):
        return self._ask2(requests) if self.over in ("h2", "h2c") else self._ask1(requests)

    def _ask1(self, requests):
        octets = []
        for method, target, fields, version, host in requests:
            lines = [f"{method} {target} HTTP/{version}", f"Host: {host}"] + [f"{n}: {v}" for n, v in fields]
            if version == "1.0":
                lines.append("Connection: keep-alive")
            octets.append("\r\n".join(lines) + "\r\n\r\n")
        self.socket.sendall("".join(octets).encode("latin-1"))
        answers = []
        for request in requests:
            try:
                answers.append(self._read1(request[0]))
            except (OSError, AssertionError) as error:
                raise AssertionError(
                    f"{error} while waiting for the answer to {request}; before it "
                    f"{requests[max(0, len(answers) - 1)]}, {answers[-1:]}"
                )
        return answers

    def _more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise AssertionError("the connection ended")
        self.buffer += data

    def _read1(self, method):
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            self._more()
        lines = bytes(self.buffer[:end]).split(b"\r\n")
        del self.buffer[: end + 4]
        status = int(lines[0][9:12])
        fields = []
        length = None
        for line in lines[1:]:
            name, _, value = line.partition(b": ")
            name = name.lower()
            fields.append((name, value))
            if name == b"content-length":
                length = int(value)
        if status in (204, 304) or method == "HEAD":
            length = 0
        elif (b"transfer-encoding", b"chunked") in fields:
            return status, fields, self._chunks()
        true(length is not None, f"an answer without a length: {lines}")
        while len(self.buffer) < length:
            self._more()
        body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return status, fields, body

    def _line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self._more()
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 2]
        return line

    def _chunks(self):
        body = b""
        while (size := int(self._line(), 16)) > 0:
            while len(self.buffer) < size + 2:
                self._more()
            body += bytes(self.buffer[:size])
            del self.buffer[: size + 2]
        while self._line():
            pass
        return body

    def _ask2(self, requests):
        streams = []
        for method, target, fields, _, host in requests:
            streams.append(self.frames.request(target, method, [(n.lower(), v) for n, v in fields], authority=host))
        answers = []
        for stream in streams:
            state = self.frames.answer(stream, 30)
            true(state.ended and state.reset is None, f"stream {stream}: {state}")
            answers.append(
                (state.status, [(n.encode("latin-1"), v.encode("latin-1")) for n, v in state.fields], bytes(state.body))
            )
            del self.frames.streams[stream]
        self.frames.log.clear()
        return answers


def first(fields, name):
    return next((value for key, value in fields if key == name), b"")


def is_hit(answer):
    return first(answer[1][::-1], b"cache-status").startswith(b"pawl; hit")


def lifetime(answer):
    """How long it stays fresh, in seconds."""
    found = OTHER.search(first(answer[1][::-1], b"cache-status"))
    return int(found[1]) if found else 0


def is_short(answer):
    """By the order of its fields: on the long way `Via` is put in last."""
    names = [name for name, _ in answer[1]]
    return b"age" in names and b"via" in names and names[::-1].index(b"via") > names[::-1].index(b"age")


def framing(answer):
    """What is compressed for the first time has no length yet."""
    return not any(name == b"transfer-encoding" for name, _ in answer[1]) and any(
        name == b"content-length" for name, _ in answer[1]
    )


def shape(answer, framed):
    """What has to be the same."""
    status, fields, body = answer
    age = first(fields, b"age")
    kept = []
    for name, value in fields:
        if name in (b"content-length", b"transfer-encoding") and not framed:
            continue
        if name in (b"age", b"date"):
            value = b""
        elif name == b"x-request-id" and len(value) == 32:
            value = b"made"
        elif name == b"cache-status" and age.isdigit():
            value = OTHER.sub(lambda found: b"lifetime=%d" % (int(found[1]) + int(age)), value)
        elif name == b"content-type" and b"boundary=" in value and status == 206:
            boundary = value.partition(b"boundary=")[2]
            value, body = value.replace(boundary, b""), body.replace(boundary, b"")
        kept.append((name, value))
    kept.sort(key=lambda field: field[0])
    return status, kept, body


def pair(rng, request):
    """The same request for both ways, in any order."""
    method, target, fields, version, host = request
    long = (method, target, fields + (rng.choice(LONG),), version, host)
    return (request, long) if rng.random() < 0.7 else (long, request)


def differs(one, two):
    """Of two answers of which at least one was a hit."""
    if not is_hit(one) or not is_hit(two):
        return None if is_hit(one) == is_hit(two) and (one[0], one[2]) == (two[0], two[2]) else "one is a hit"
    framed = framing(one) and framing(two)
    a, b = shape(one, framed), shape(two, framed)
    if a == b:
        return None
    return (
        f"status {a[0]} {b[0]}"
        if a[0] != b[0]
        else f"fields {[f for f in a[1] if f not in b[1]]} {[f for f in b[1] if f not in a[1]]}"
        if a[1] != b[1]
        else f"{len(a[2])} and {len(b[2])} bytes"
    )


@check(
    "the short and the long way to a hit, random requests over a table of stored responses, settings that change",
    area="agree",
    seconds=36_000 if "AGREE" in os.environ else 120,
)
def agree(bench):
    rng = random.Random(int(os.environ.get("AGREE_SEED", 20261123)))
    wanted, over = int(os.environ.get("AGREE", 0)), bench.over
    until = None if wanted else time.monotonic() + SECONDS[over]
    # HTTP/2 is spoken slowly here: of fewer bodies each is asked for as often.
    rows, ways = (90, 4) if wanted or bench.is_1_1 else (30, 2)
    table, origin = Table(rng, rows), bench.origin()
    origin.default = table.answer
    extra = {
        "cache:other": {"path": "other", "min-free": "64M", "max-size": "1G"},
        "upstream:second": {"url": origin.url},
    }
    pawl = bench.pawl(origin, pawl={"workers": 1}, extra={**extra, **routes(rng, ways)})
    template = pawl.file.read_text()
    paths = [f"/{route}/{row}" for route in range(ways) for row in table.rows]
    tags, counts, wrong, lane = {}, {"pairs": 0, "hits": 0, "short": 0, "reloads": 0}, [], Lane(pawl, over)
    warm, quick = {}, {}  # what was a hit last time, and what the short way gave, is asked for more than what never is

    def heavy(path):
        return table.rows[path.rpartition("/")[2]][0] > 100_000

    def batch():
        requests = []
        while len(requests) < 2 * BATCH:
            roll = rng.random()
            path = rng.choice(list(quick) if quick and roll < 0.6 else list(warm) if warm and roll < 0.93 else paths)
            if heavy(path) and rng.random() < 0.9:
                continue
            # Until the settings change most clients of a body are alike: it has one variant, which others meet after
            # that.
            usual = ("gzip", None)[sum(path.encode()) + counts["reloads"] & 1]
            requests += pair(rng, asked(rng, path, tags, over, usual))
        answers = lane.ask(requests)
        for at in range(0, len(requests), 2):
            path = requests[at][1].partition("?")[0]
            for request, answer in zip(requests[at : at + 2], answers[at : at + 2]):
                tag = first(answer[1], b"etag").decode("latin-1")
                if tag and tag not in tags.setdefault(path, []):
                    tags[path] = (tags[path] + [tag])[-6:]
                counts["short"] += is_short(answer)
            counts["pairs"] += 1
            if not is_hit(answers[at]) and not is_hit(answers[at + 1]):
                warm.pop(path, None)
                quick.pop(path, None)
                continue
            warm[path] = True
            if is_short(answers[at]) or is_short(answers[at + 1]):
                quick[path] = True
            counts["hits"] += 1
            if differs(*answers[at : at + 2]):
                confirm(requests[at : at + 2], answers[at : at + 2])
        origin.forget()

    def confirm(requests, answers):
        """What was filled, or became stale, between the two is another answer; what differs otherwise is so each
        time."""
        why = differs(*answers)
        # The short way took for fresh, and for this client, what the long way did not: it is gone when one asks again.
        isolated = is_short(answers[0]) and lifetime(answers[0]) > 2 and not is_hit(answers[1])
        for _ in range(0 if isolated else 3):
            answers = lane.ask(requests)
            why = differs(*answers)
            if not why:
                return
        wrong.append(
            (
                requests,
                why,
                [(a[0], a[1], len(a[2])) for a in answers],
                table.rows[requests[0][1].partition("?")[0].rpartition("/")[2]],
                route_of(requests[0][1]),
            )
        )

    def route_of(target):
        number = target.partition("pawl.test")[2].split("/")[1] if "://" in target else target.split("/")[1]
        return pawl.file.read_text().partition(f"[route:main/{number}]")[2].partition("[")[0].split("\n")

    while len(wrong) < 20 and (counts["pairs"] < wanted if wanted else time.monotonic() < until):
        batch()
        if counts["pairs"] // RELOAD_AFTER > counts["reloads"]:
            counts["reloads"] += 1
            quick.clear()
            since = len(pawl.log())
            pawl.file.write_text(template.partition("[route:main/0]")[0] + ini(routes(rng, ways)))
            pawl.signal(signal.SIGHUP)
            wait_for(lambda: " reloaded" in pawl.log()[since:], 10, "the reload")
    lane.close()
    if wanted:
        print(f"{over}: {counts}", flush=True)
    true(not wrong, f"{counts}: {sorted({w[1] for w in wrong})}: {wrong[:2]}")
    true(counts["short"] > counts["pairs"] / 40, f"the short way was hardly taken: {counts}")


# what a reload changes, from, to; what the origin's answer says; what the client asks; what is seen before and after it
RELOADS = {
    "origin-encoding": (
        "origin-encoding",
        "pass",
        "identity",
        (("Vary", "Accept-Encoding"),),
        "taken",
        (("Accept-Encoding", "gzip"),),
        (),
        lambda a: a.get("Content-Encoding"),
        "gzip",
        None,
    ),
    "origin-encoding, coded without Vary": (
        "origin-encoding",
        "pass",
        "identity",
        (),
        "taken",
        (("Accept-Encoding", "gzip"),),
        (),
        lambda a: a.get("Content-Encoding"),
        "gzip",
        None,
    ),
    "origin-encoding, a range": (
        "origin-encoding",
        "pass",
        "identity",
        (("ETag", '"t"'),),
        "taken",
        (("Accept-Encoding", "gzip"),),
        (("Range", "bytes=1-"), ("If-Range", '"t"')),
        lambda a: a.get("Content-Encoding"),
        "gzip",
        None,
    ),
    "origin-encoding, the other way": (
        "origin-encoding",
        "identity",
        "pass",
        (("Vary", "Accept-Encoding"),),
        "taken",
        (),
        (("Accept-Encoding", "gzip"),),
        lambda a: a.get("Content-Encoding"),
        None,
        "gzip",
    ),
    "etag": ("etag", "auto", "origin", (("ETag", 'W/"w"'),), None, (), (), lambda a: a.get("ETag")[:2], '"p', "W/"),
    "etag, none": ("etag", "auto", "origin", (), None, (), (), lambda a: a.get("ETag") is None, False, True),
    "etag, the other way": ("etag", "origin", "auto", (), None, (), (), lambda a: a.get("ETag") is None, True, False),
    "default-ttl": ("default-ttl", "1h", "0s", (), None, (), (), lambda a: a.hit, True, False),
    "hsts": (
        "hsts",
        "1h",
        "2h",
        (),
        None,
        (),
        (),
        lambda a: a.get("Strict-Transport-Security"),
        "max-age=3600",
        "max-age=7200",
    ),
    "hsts, off": (
        "hsts",
        "1h",
        "off",
        (("Strict-Transport-Security", "max-age=9"),),
        None,
        (),
        (),
        lambda a: a.get("Strict-Transport-Security"),
        "max-age=3600",
        "max-age=9",
    ),
    "cache": ("cache", "default", "other", (), None, (), (), lambda a: a.hit, True, False),
    "cache, off": ("cache", "default", "off", (), None, (), (), lambda a: a.hit, True, False),
    "upstream": ("upstream", "app", "second", (), None, (), (), lambda a: a.hit, True, True),
    "max-ranges": (
        "max-ranges",
        "16",
        "1",
        (),
        None,
        (("Range", "bytes=0-0,900-900"),),
        (("Range", "bytes=0-0,900-900"),),
        lambda a: a.status,
        206,
        200,
    ),
    "max-ranges, one": (
        "max-ranges",
        "16",
        "1",
        (),
        None,
        (("Range", "bytes=5-9"),),
        (("Range", "bytes=5-9"),),
        lambda a: a.status,
        206,
        206,
    ),
}


@check("what a reload changes holds for what is stored, on the short and on the long way", area="agree")
def reloads(bench):
    table, origin = Table(random.Random(1), 0), bench.origin()
    origin.default = table.answer
    keys = {}
    for at, (setting, before, _, fields, coding, *_) in enumerate(RELOADS.values()):
        fresh = () if setting == "default-ttl" else (("Cache-Control", "max-age=1000"),)
        keys[f"route:main/{at}"] = {"path": f"/{at}/*", setting: before}
        for way in ("short", "long"):
            table.rows[f"{at}{way}"] = (1000, fields + fresh, 200, coding)
    pawl = bench.pawl(
        origin,
        pawl={"workers": 1},
        extra={
            "cache:other": {"path": "other", "min-free": "64M", "max-size": "1G"},
            "upstream:second": {"url": origin.url},
            **keys,
        },
    )
    client = bench.use(Client(pawl.address))

    def ask(at, way, fields):
        client.request(f"/{at}/{at}{way}", fields=fields + ((("TE", "trailers"),) if way == "long" else ()))
        return client.response()

    def expected(setting, value):
        return None if setting == "hsts" and bench.scheme == "http" and value != "max-age=9" else value

    for at, (name, (setting, _, _, _, _, first_fields, _, look, value, _)) in enumerate(RELOADS.items()):
        for way in ("short", "long"):
            for _ in range(3):
                ask(at, way, tuple(field for field in first_fields if field[0] == "Accept-Encoding"))
            got = ask(at, way, first_fields)
            same(look(got), expected(setting, value), f"{name}, {way}, before: {got}")
    text, since = pawl.file.read_text(), len(pawl.log())
    for at, (setting, before, after, *_) in enumerate(RELOADS.values()):
        text = text.replace(f"path = /{at}/*\n{setting} = {before}\n", f"path = /{at}/*\n{setting} = {after}\n")
    pawl.file.write_text(text)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: " reloaded" in pawl.log()[since:], 10, "the reload")
    for at, (name, (setting, _, _, _, _, _, fields, look, _, value)) in enumerate(RELOADS.items()):
        for way in ("short", "long"):
            got = ask(at, way, fields)
            same(look(got), expected(setting, value), f"{name}, {way}, after: {got}")
            coding = CODED if got.get("Content-Encoding") else CONTENT
            if got.status == 200:
                same(got.body, coding[:1000], f"{name}, {way}: bytes")
