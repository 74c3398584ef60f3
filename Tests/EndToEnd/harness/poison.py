"""Requests of one client with fields of its choice, and after them what a plain GET of another one gets: drawn by a
seed, judged, made small."""

import collections
import dataclasses
import random
import threading
import time

from . import touchy
from .client import Client, Ended, Response
from .touchy import BROWSER, ERROR_CONTROLS, HINTS, HOST, PROGRAM, TEMPERS, Page

COMPARED = (
    "Content-Type",
    "Content-Language",
    "Content-Encoding",
    "Content-Disposition",
    "Content-Location",
    "Content-Range",
    "Last-Modified",
    "Vary",
    "Cache-Control",
    "Expires",
    "CDN-Cache-Control",
    "Location",
    "WWW-Authenticate",
    "Retry-After",
    "Allow",
    "Set-Cookie",
    "X-Page",
    "X-Poison",
)
CONTROLS = (
    (("Cache-Control", "max-age=600"),),
    (("Cache-Control", "max-age=600"),),
    (("Cache-Control", "public, s-maxage=600"),),
    (("Cache-Control", "max-age=0"),),
    (("Cache-Control", "no-cache"),),
    (("Cache-Control", "no-store"),),
    (),
    (),
)
# What pawl compresses for who takes that is made of what is judged here.
SETTINGS = {
    "plain": {"compress": "off"},
    "ttl": {"compress": "off", "default-ttl": "10m"},
    "pass": {"origin-encoding": "pass", "via": "always"},
}
BIG = "a" * 3000
# Names with values that mean something to an origin; TAG, DATE and SIZE stand for the page's own.
FIELDS = {
    "Range": [
        "bytes=0-0",
        "bytes=99999999999-",
        "bytes=SIZE-",
        "bytes=0-",
        "bytes=5-2",
        "bytes=-1",
        "bytes=-0",
        "bytes=-99999999",
        "bytes=1-1,3-4",
        "bytes=0-,0-,0-",
        "bytes=100-200",
        "bytes=abc",
        "items=0-1",
        "bytes=0-0,-1",
        "BYTES=0-5",
        "bytes=18446744073709551615-",
        "bytes=0-18446744073709551616",
        "crash",
    ],
    "If-Range": ["TAG", 'W/"x"', '"x"', "DATE", "Thu, 01 Jan 1970 00:00:00 GMT", "rubbish"],
    "If-None-Match": ["TAG", "*", '"x"', 'W/"x", "y"', "rubbish", '"crash"'],
    "If-Match": ["TAG", "*", '"x"', "rubbish"],
    "If-Modified-Since": ["DATE", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 01 Jan 2038 00:00:00 GMT", "rubbish"],
    "If-Unmodified-Since": ["DATE", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 01 Jan 2038 00:00:00 GMT", "rubbish"],
    "Accept": ["text/html", "application/x-none", "*/*;q=0", "crash/crash", BIG],
    "Accept-Language": ["de", "x-none", "crash", "%00", "en, " * 700],
    "Accept-Encoding": ["gzip", "br, gzip", "identity;q=0", "x-none", "*;q=0", "crash"],
    "Accept-Charset": ["utf-8", "x-none", "\xe9"],
    "Host": ["pawl.test:80", "PAWL.test", "pawl.test.", "evil.test", "pawl.test:8080", "127.0.0.1", "pawl.test:"],
    "X-Forwarded-Host": ["evil.test"],
    "X-Forwarded-For": ["6.6.6.6", "odd"],
    "X-Forwarded-Proto": ["https", "evil"],
    "X-Forwarded-Port": ["1"],
    "X-Forwarded-Server": ["evil.test"],
    "X-Forwarded-Scheme": ["https", "http"],
    "X-Forwarded-Prefix": ["/evil"],
    "X_Forwarded_Host": ["evil.test"],
    "X-Real-IP": ["6.6.6.6"],
    "Forwarded": ["for=6.6.6.6;host=evil.test;proto=https", "crash"],
    "X-Host": ["evil.test"],
    "X-Original-Host": ["evil.test"],
    "X-HTTP-Host-Override": ["evil.test"],
    "X-Original-URL": ["/evil", "/plain/0"],
    "X-Rewrite-URL": ["/evil"],
    "X-HTTP-Method-Override": ["POST", "DELETE", "HEAD"],
    "X-HTTP-Method": ["PUT"],
    "X-Method-Override": ["POST"],
    "Expect": ["100-continue", "200-ok"],
    "TE": ["trailers", "gzip", "trailers, crash"],
    "Upgrade": ["h2c", "websocket", "foo/2"],
    "HTTP2-Settings": ["AAMAAABkAAQAAP__"],
    "Connection": ["keep-alive", "X-Debug", "X-Forwarded-For, Via, Host", "upgrade", "Cookie, X-Request-ID", "close"],
    "Keep-Alive": ["timeout=5"],
    "Proxy-Connection": ["keep-alive"],
    "Max-Forwards": ["0", "crash"],
    "Content-Length": ["0"],
    "Content-Type": ["text/plain"],
    "Transfer-Encoding": ["chunked"],
    "Trailer": ["X-T"],
    "Referer": ["http://evil.test/", "http://pawl.test/", BIG, "crash"],
    "Origin": ["http://evil.test", "null", "crash"],
    "Cookie": ["a=b", "session=" + BIG, "\xff=\xfe", "crash=1"],
    "Authorization": ["Basic YTpi", "Bearer crash", "odd"],
    "Proxy-Authorization": ["Basic YTpi"],
    "Cache-Control": [
        "no-cache",
        "no-store",
        "max-age=0",
        "max-stale",
        "only-if-cached",
        "max-age=10",
        "crash",
        "no-transform",
    ],
    "Pragma": ["no-cache", "crash"],
    "Via": ["1.1 other", "1.1 pawl", "1.1 a, 1.1 b"],
    "Prefer": ["return=minimal", "crash"],
    "Save-Data": ["on"],
    "DNT": ["1"],
    "Sec-GPC": ["1"],
    "Priority": ["u=1, i"],
    "Sec-Fetch-Mode": ["navigate"],
    "Sec-Fetch-Site": ["cross-site"],
    "Sec-Fetch-Dest": ["image"],
    "Device-Memory": ["8"],
    "User-Agent": ["bot/1", "crash", BIG, "\xe9\xe9", "() { :;}"],
    "Want-Digest": ["sha-256"],
    "Want-Repr-Digest": ["sha-256=1"],
    "Want-Content-Digest": ["sha-256=1", "crash"],
    "Digest": ["sha-256=crash"],
    "Upload-Complete": ["?0", "?1", "crash"],
    "Upload-Offset": ["0", "5"],
    "Upload-Length": ["5"],
    "Upload-Draft-Interop-Version": ["6", "8"],
    "Tus-Resumable": ["1.0.0", "9.9.9"],
    "Upload-Metadata": ["filename Zm9v"],
    "Upload-Concat": ["partial"],
    "Upload-Incomplete": ["?1"],
    "X-Request-ID": ["odd", "crash", "\xe9"],
    "Traceparent": ["odd"],
    "X-Api-Key": ["odd"],
    "X-Debug": ["odd", "crash", "a\\b", "a\tb"],
    "X-Unknown": ["crash", BIG, "a" * 40_000, "\x80", "%2e"],
    "CDN-Loop": ["pawl", "crash"],
    "Alt-Used": ["evil.test"],
    "From": ["crash@evil.test"],
    "Idempotency-Key": ["crash"],
    "Early-Data": ["1"],
    "Client-Cert": [":Zm9v:"],
    "Accept-Datetime": ["crash"],
    "Service-Worker": ["script"],
    "Purpose": ["prefetch"],
    "X-Requested-With": ["XMLHttpRequest"],
    "X-Pawl-Upload-Id": ["crash"],
}
# Which fields a temper can be provoked by: most of what is drawn for a page is of these.
PROVOKES = {
    "odd_range": ("Range", "If-Range"),
    "any_range": ("Range",),
    "precondition": ("If-Match", "If-Unmodified-Since"),
    "any_condition": ("If-None-Match", "If-Modified-Since"),
    "unacceptable": ("Accept", "Accept-Language", "Accept-Charset", "Accept-Encoding"),
    "stranger": ("Referer", "Origin", "User-Agent"),
    "hints": ("DNT", "Save-Data", "Prefer", "Sec-GPC", "Sec-Fetch-Mode", "Priority"),
    "credentials": ("Authorization", "Cookie", "Proxy-Authorization"),
    "method_override": ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"),
    "url_override": ("X-Original-URL", "X-Rewrite-URL"),
    "host_override": (
        "X-Forwarded-Host",
        "X-Forwarded-Server",
        "X-Forwarded-Scheme",
        "Forwarded",
        "X-Host",
        "X-Original-Host",
        "X_Forwarded_Host",
        "X-HTTP-Host-Override",
    ),
    "other_host": ("Host",),
    "expectation": ("Expect",),
    "upgrade": ("Upgrade", "HTTP2-Settings", "Connection"),
    "content": ("Content-Length", "Content-Type", "Transfer-Encoding"),
    "steps": ("Max-Forwards", "TE"),
    "uploads": (
        "Upload-Complete",
        "Upload-Offset",
        "Tus-Resumable",
        "Upload-Incomplete",
        "Upload-Draft-Interop-Version",
        "Upload-Metadata",
    ),
    "reload": ("Cache-Control", "Pragma"),
    "circles": ("Via",),
    "not_introduced": ("Connection", "X-Request-ID"),
    "identified": ("X-Request-ID", "Traceparent", "X-Api-Key", "X-Debug"),
    "digests": ("Want-Digest", "Want-Repr-Digest", "Want-Content-Digest", "Digest"),
    "connection": ("Connection", "Keep-Alive", "Proxy-Connection"),
}


@dataclasses.dataclass(frozen=True)
class Hostile:
    method: str
    fields: tuple
    form: str = "origin"  # or absolute: the target with scheme and host

    def head(self, path):
        fields = list(self.fields)
        if not any(name == "Host" for name, _ in fields):
            fields.insert(0, ("Host", HOST))
        target = f"http://{HOST}{path}" if self.form == "absolute" else path
        is_chunked = any(name == "Transfer-Encoding" for name, _ in fields)
        has_length = any(name == "Content-Length" for name, _ in fields)
        if self.method in ("POST", "PUT") and not is_chunked and not has_length:
            fields.append(("Content-Length", "0"))
        lines = [f"{self.method} {target} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"0\r\n\r\n" if is_chunked else b"")

    def __str__(self):
        short = lambda value: value if len(value) < 60 else f"{value[:12]}... ({len(value)})"
        return f"{self.method}{' absolute-form' if self.form == 'absolute' else ''} " + "; ".join(
            f"{name}: {short(value)!r}" for name, value in self.fields
        )


@dataclasses.dataclass(frozen=True)
class Case:
    page: Page
    how: str  # cold, warm, meanwhile: the plain GET comes while the origin thinks about the other
    hostile: tuple

    def __str__(self):
        return f"{self.how} {self.page}: " + " / ".join(map(str, self.hostile))


def cases(seed, count):
    """A row of so many cases, always the same for a seed."""
    rng = random.Random(seed)
    for number in range(count):
        tempers = tuple(rng.sample(list(TEMPERS), rng.choice((1, 1, 2, 3))))
        route = rng.choice(("plain", "plain", "ttl", "pass"))
        page = Page(
            number,
            route,
            rng.choice(CONTROLS),
            rng.choice(("none", "strong", "strong", "weak", "old", "both")),
            rng.choice((None, None, None, "Accept-Language", "Accept", "Cookie", "Origin", "X-Forwarded-Host")),
            rng.random() < 0.6,
            rng.choice((700, 700, 5000, 200_000)),
            rng.choice(("length", "length", "chunked")),
            tempers,
            rng.choice(ERROR_CONTROLS),
            rng.randrange(60),
            plain_fields(rng, tempers),
        )
        hostile = tuple(draw(rng, page) for _ in range(rng.choice((1, 1, 1, 2, 3))))
        yield Case(page, rng.choice(("cold", "cold", "cold", "warm", "warm", "meanwhile")), hostile)


def plain_fields(rng, tempers):
    """A browser shows more than a program; what the page would take offence at by itself it does not show."""
    if rng.random() < 0.6:
        return PROGRAM
    return BROWSER + (HINTS if "hints" not in tempers and rng.random() < 0.7 else ())


def draw(rng, page):
    """A request; in three of four cases something in it is what the page's tempers can be provoked by."""
    names = [name for temper in page.tempers for name in PROVOKES.get(temper, tuple(FIELDS))]
    chosen = rng.sample(sorted(FIELDS), rng.choice((0, 0, 1, 1, 2, 4, 8)))
    chosen += [rng.choice(names) for _ in range(rng.choice((0, 1, 1, 2)))]
    own = {
        "TAG": page.tag or '"none"',
        "DATE": page.modified or "Thu, 01 Jan 2026 00:00:00 GMT",
        "SIZE": str(page.size),
    }
    fields = []
    for name in dict.fromkeys(chosen):
        value = rng.choice(FIELDS[name])
        for word, own_value in own.items():
            value = value.replace(word, own_value)
        fields.append((name, value))
    if "Range" in chosen and "If-Range" not in chosen and rng.random() < 0.4:
        fields.append(("If-Range", own["TAG"]))
    method = (
        rng.choice(("GET",) * 8 + ("HEAD", "HEAD", "OPTIONS", "POST"))
        if "methods" not in page.tempers
        else rng.choice(("HEAD", "OPTIONS", "POST", "GET"))
    )
    return Hostile(method, tuple(fields), "absolute" if rng.random() < 0.03 else "origin")


class Line:
    """A connection that is opened again where it was ended."""

    def __init__(self, address):
        self.address, self.client = address, None

    def begin(self, octets):
        for last in (False, True):
            is_new = self.client is None
            try:
                if is_new:
                    self.client = Client(self.address, 10)
                self.client.send(octets)
                return
            except OSError:
                self.close()
                if is_new or last:
                    raise

    def end(self, method="GET"):
        try:
            answer = self.client.response(method)
        except Ended as ended:
            answer = Response()
            answer.ended = ended.how
        if (
            answer.ended != "message"
            or (answer.get("Connection") or "").lower() == "close"
            or answer.framing == "close"
            or answer.status == 101
        ):
            self.close()
        return answer

    def ask(self, octets, method="GET"):
        """An answer; a connection that pawl had ended before the request came counts for nothing."""
        was_open = self.client is not None
        self.begin(octets)
        answer = self.end(method)
        if not answer.status and was_open:
            self.begin(octets)
            answer = self.end(method)
        return answer

    def close(self):
        if self.client:
            self.client.close()
        self.client = None


def head(path, fields):
    return "\r\n".join([f"GET {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields]).encode() + b"\r\n\r\n"


class Attempt:
    """Plays cases against a pawl before a Touchy origin, on two connections of its own."""

    def __init__(self, address, origin):
        self.hostile, self.plain, self.origin = Line(address), Line(address), origin

    def close(self):
        self.hostile.close()
        self.plain.close()

    def play(self, case, path=None):
        """What the plain GETs got that they should not: None, or (what, answer). The last answer stays in `last`."""
        path = path or case.page.path
        if case.how == "warm":
            self.last = self.plain.ask(head(path, case.page.plain))
            wrong = self.compare(case.page, self.last)
            if wrong:
                return f"before anything: {wrong[0]}", wrong[1]
        if case.how == "meanwhile":
            return self.meanwhile(case, path)
        for each in case.hostile:
            self.hostile.ask(each.head(path), each.method)
        return self.judged(case, path)

    def judged(self, case, path):
        self.last = self.plain.ask(head(path, case.page.plain))
        wrong = self.compare(case.page, self.last)
        if wrong is None and case.page.number % 8 == 0 and case.page.route != "pass":
            # What a HEAD or a range of another one brings is of the same.
            self.last = self.plain.ask(head(path, case.page.plain + (("Range", "bytes=0-9"),)))
            wrong = self.compare_part(case.page, self.last)
        return wrong

    def meanwhile(self, case, path):
        """The origin thinks about the first request until the plain one is underway."""
        came, go = threading.Event(), threading.Event()

        def hold(request):
            if not came.is_set():
                came.set()
                go.wait(5)

        for each in case.hostile[:-1]:
            self.hostile.ask(each.head(path), each.method)
        self.origin.hold[path] = hold
        self.hostile.begin(case.hostile[-1].head(path))
        came.wait(0.1)
        self.plain.begin(head(path, case.page.plain))
        time.sleep(0.01)
        go.set()
        del self.origin.hold[path]
        self.hostile.end(case.hostile[-1].method)
        self.last = self.plain.end()
        wrong = self.compare(case.page, self.last)
        return wrong or self.judged(case, path)

    @staticmethod
    def compare(page, answer):
        body, fields = touchy.plain(page)
        if answer.status != 200:
            return f"status {answer.status}", answer
        if answer.body != body:
            return "content", answer
        return differing(page, fields, answer)

    @staticmethod
    def compare_part(page, answer):
        body, fields = touchy.plain(page)
        if answer.status not in (200, 206):
            return (f"status {answer.status} to a range", answer) if answer.get("X-Poison") != "any_range" else None
        if answer.body != (body if answer.status == 200 else body[:10]):
            return "content of a range", answer
        return None


def differing(page, fields, answer):
    for name in COMPARED:
        expected = [value for key, value in fields if key.lower() == name.lower()]
        if answer.all(name) != expected:
            return f"{name}: {answer.all(name)} instead of {expected}", answer
    tag = answer.get("ETag")
    is_coded = any(name == "Content-Encoding" for name, _ in fields)
    if page.tag and not is_coded and not page.tag.startswith("W/") and tag != page.tag or tag == '"poison"':
        return f"ETag {tag} instead of {page.tag}", answer
    return None


def smaller(attempt, case, count=60):
    """The case with what is not needed left out, as far as `count` plays go."""
    plays = iter(range(count))

    def fails(changed):
        number = next(plays, None)
        return number is not None and attempt.play(changed, f"{changed.page.path}~{number}") is not None

    for each in case.hostile if len(case.hostile) > 1 else ():
        changed = dataclasses.replace(case, hostile=(each,))
        if fails(changed):
            case = changed
            break
    if case.how != "cold" and fails(dataclasses.replace(case, how="cold")):
        case = dataclasses.replace(case, how="cold")
    for at, request in enumerate(case.hostile):
        for field in request.fields:
            less = dataclasses.replace(
                case.hostile[at], fields=tuple(each for each in case.hostile[at].fields if each != field)
            )
            changed = dataclasses.replace(case, hostile=case.hostile[:at] + (less,) + case.hostile[at + 1 :])
            if fails(changed):
                case = changed
    return case


def run(address, origin, made, threads=4, most=40, forget=None, seconds=None):
    """Plays all: (how many were played, [(what, answer, case made small)], {cache's word for the last answer: count}).
    Stops at `most` findings or after `seconds`."""
    lock, found, played, words, end = (
        threading.Lock(),
        [],
        [0],
        collections.Counter(),
        time.monotonic() + (seconds or 1e9),
    )

    def work():
        attempt = Attempt(address, origin)
        try:
            while len(found) < most and time.monotonic() < end:
                with lock:
                    case = next(made, None)
                    if case is None:
                        return
                    origin.pages[case.page.path] = case.page
                    played[0] += 1
                    if forget and played[0] % 1000 == 0:
                        forget()
                wrong = attempt.play(case)
                words["hit" if attempt.last.hit else "other"] += 1
                if wrong:
                    small = smaller(attempt, case)
                    with lock:
                        found.append((*wrong, small))
                else:
                    del origin.pages[case.page.path]
        finally:
            attempt.close()

    errors = []

    def guarded():
        try:
            work()
        except Exception as error:
            errors.append(error)

    running = [threading.Thread(target=guarded, daemon=True) for _ in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    if errors:
        raise errors[0]
    return played[0], found, words
