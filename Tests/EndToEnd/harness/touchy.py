"""An origin that takes offence at requests: what a plain GET of a page gets from it, and what other requests do, as bad
as origins are.

Each page has some tempers; one that is provoked answers with an error, a redirect or something else that says how long
it is fresh, and marks it with `X-Poison`. Two kinds of answers are left out, since no cache can tell them from what it
is there to keep, and neither nginx nor Varnish does: a 2xx, and a redirect, that differ by a field which ordinary
clients send (User-Agent, Accept and its kin, Accept-Language, Referer, Origin, Cookie beside explicit freshness, Sec-*,
DNT, Save-Data, Prefer) or which nobody knows, without a word of it in `Vary`. What says in whose name, for which host,
URL or method a request is meant (OVERRIDES) is not among them: ordinary clients do not send it.
"""

import dataclasses
import re
import zlib

from .content import Content
from .origin import Resource, http_date

HOST = "pawl.test"
LONG = 2000
ERROR_CONTROLS = (
    (("Cache-Control", "max-age=600"),),
    (("Cache-Control", "public, max-age=600"),),
    (("Cache-Control", "s-maxage=600"),),
    (("Expires", "Fri, 01 Jan 2038 00:00:00 GMT"),),
    (("CDN-Cache-Control", "max-age=600"),),
    (),
)
# Fields that say that a request is meant otherwise than its first line and its Host have it.
METHODS = ("x-http-method-override", "x-http-method", "x-method-override")
URLS = ("x-original-url", "x-rewrite-url")
HOSTS = (
    "x-forwarded-host",
    "x-forwarded-server",
    "x-forwarded-scheme",
    "x-forwarded-proto",
    "x-forwarded-prefix",
    "x-forwarded-port",
    "x_forwarded_host",
    "forwarded",
    "x-host",
    "x-original-host",
    "x-http-host-override",
)
OVERRIDES = METHODS + URLS + HOSTS
# What pawl says of itself and of the client, whatever that said.
INTRODUCED = {"x-forwarded-host": HOST, "x-forwarded-proto": "http"}
# A plain GET: of a program, or of a browser; and what an origin sees of it.
PROGRAM = (("Host", HOST), ("User-Agent", "plain/1.0"), ("Accept", "*/*"))
BROWSER = (
    ("Host", HOST),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Language", "en-US,en;q=0.5"),
    ("Accept-Encoding", "gzip, deflate, br"),
    ("Referer", f"http://{HOST}/"),
)
HINTS = (
    ("DNT", "1"),
    ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Priority", "u=0, i"),
)
UPLOADS = (
    "upload-complete",
    "upload-offset",
    "upload-length",
    "upload-draft-interop-version",
    "upload-limit",
    "tus-resumable",
    "upload-metadata",
    "upload-concat",
    "upload-defer-length",
    "upload-checksum",
    "upload-incomplete",
)


@dataclasses.dataclass(frozen=True)
class Page:
    number: int
    route: str  # plain, ttl, pass (origin-encoding = pass)
    control: tuple
    validator: str  # none, strong, weak, old, both
    vary: str | None
    ranges: bool
    size: int
    framing: str
    tempers: tuple
    error_control: tuple
    turn: int  # which of the statuses a temper has
    plain: tuple  # the fields of its plain GET

    @property
    def path(self):
        return f"/{self.route}/{self.number}"

    def tag_of(self, value):
        """Of the representation for what `Vary` names."""
        name = f'"t{self.number}-{zlib.crc32((value or "").encode())}"'
        return {"strong": name, "both": name, "weak": "W/" + name}.get(self.validator)

    @property
    def tag(self):
        """Of what a plain GET gets."""
        return self.tag_of(self.seen(self.vary))

    def seen(self, name):
        """What an origin sees in a field of a plain GET."""
        fields = INTRODUCED | {key.lower(): value for key, value in self.plain}
        return fields.get((name or "").lower())

    @property
    def modified(self):
        return http_date(1_780_000_000 + self.number) if self.validator in ("old", "both") else None

    def chosen(self, value):
        """The representation for what `Vary` names."""
        return Content(f"page {self.number} {value}", self.size).read()

    def fields(self, value):
        language = (("Content-Language", "de"),) if value else ()
        # A coded answer is known for one by itself; that an uncoded one has another beside it must be said.
        names = [self.vary, "Accept-Encoding" if self.route == "pass" and self.seen("Accept-Encoding") else None]
        vary = (("Vary", ", ".join(filter(None, names))),) if any(names) else ()
        return (
            *self.control,
            *vary,
            *language,
            ("Content-Disposition", f"inline; filename=p{self.number}"),
            ("X-Page", str(self.number)),
        )

    def __str__(self):
        said = ", ".join(": ".join(each) for each in self.control) or "no word of freshness"
        return (
            f"{self.path} ({said}; validator {self.validator}; Vary {self.vary or '-'}; {self.size} "
            f"bytes{', ranges' if self.ranges else ''}; "
            f"provoked by: {', '.join(self.tempers)}; provoked it says {self.error_control})"
        )


def plain(page):
    """(body, fields) of what a plain GET gets."""
    value = page.seen(page.vary)
    if page.route == "pass" and "gzip" in (page.seen("Accept-Encoding") or ""):
        return b"coded " + page.chosen(value), [
            *page.fields(value),
            ("Content-Encoding", "gzip"),
            ("Content-Type", "text/x-page"),
        ]
    fields = list(page.fields(value)) + [("Content-Type", "text/x-page")]
    return page.chosen(value), fields + ([("ETag", page.tag)] if page.tag else []) + (
        [("Last-Modified", page.modified)] if page.modified else []
    )


class Touchy:
    """Answers for pages; a path may have something behind the page's own, so that a page can be had anew."""

    def __init__(self, origin):
        self.pages, self.hold = {}, {}
        origin.default = self.answer

    def page_of(self, path):
        return self.pages.get(path.partition("~")[0])

    def answer(self, request):
        page = self.page_of(request.path)
        if page is None:
            return Resource(b"not here\n", status=404, type="text/plain")
        if hold := self.hold.get(request.path):
            hold(request)
        for name in page.tempers:
            provoked = TEMPERS[name](request, page)
            if provoked is not None:
                return marked(provoked, page, name)
        return self.base(request, page)

    @staticmethod
    def base(request, page):
        value = request.get(page.vary) if page.vary else None
        if page.route == "pass" and "gzip" in (request.get("Accept-Encoding") or ""):
            return Resource(
                b"coded " + page.chosen(value),
                fields=page.fields(value) + (("Content-Encoding", "gzip"),),
                type="text/x-page",
                conditional=False,
            )
        fields, kind, tag = page.fields(value), "text/x-page", page.tag_of(value)
        part = re.fullmatch(r"bytes=(\d+)-\d*", request.get("Range") or "")
        if (
            page.ranges
            and page.validator in ("strong", "both")
            and request.get("If-Range") == tag
            and part
            and int(part[1]) < page.size
        ):
            # Who has the rest of them gets no other fields again (RFC 9110 15.3.7).
            fields, kind = (*page.control, *([("Vary", page.vary)] if page.vary else [])), None
        return Resource(
            page.chosen(value),
            ranges=page.ranges,
            etag=tag,
            last_modified=page.modified,
            framing=page.framing,
            type=kind,
            fields=fields,
        )


def marked(provoked, page, name):
    status, body, fields = provoked
    own = page.error_control
    if not own and status not in (404, 405, 410, 414, 501, 301, 308, 204):
        own = ERROR_CONTROLS[0]
    return Resource(
        body if isinstance(body, bytes) else body.encode(),
        status=status,
        type="text/x-poison",
        conditional=False,
        fields=own + tuple(fields) + (("X-Poison", name), ("Content-Language", "xx")),
    )


def one_of(page, *statuses):
    return statuses[page.turn % len(statuses)]


def error(status, *fields):
    return status, f"offended: {status}\n", fields


def values(request, skip=("host", "via", "x-forwarded-for", "x-request-id")):
    return [value for name, value in request.fields if name.lower() not in skip]


def has(request, *names):
    return any(request.get(name) is not None for name in names)


def odd_range(request, page):
    field = request.get("Range")
    part = re.fullmatch(r"bytes=(\d*)-(\d*)", field or "")
    if field is None or (
        part and part[1] and int(part[1]) < page.size and (not part[2] or int(part[2]) >= int(part[1]))
    ):
        return None
    return error(one_of(page, 416, 416, 400), ("Content-Range", f"bytes */{page.size}"))


def any_range(request, page):
    return (
        error(one_of(page, 416, 416, 501, 503), ("Content-Range", f"bytes */{page.size}"))
        if has(request, "Range") and not page.ranges
        else None
    )


def precondition(request, page):
    match, since = request.get("If-Match"), request.get("If-Unmodified-Since")
    fails = match is not None and match.strip() != "*" or since is not None and since != page.modified
    return error(one_of(page, 412, 412, 428)) if fails else None


def any_condition(request, page):
    match, since = request.get("If-None-Match"), request.get("If-Modified-Since")
    own = page.tag_of(request.get(page.vary) if page.vary else None)
    if match in (None, own, page.tag) and since in (None, page.modified):
        return None
    return one_of(page, 304, 304, 412), b"", (("ETag", '"poison"'),)


def large(request, page):
    return (
        error(one_of(page, 431, 400, 413, 414))
        if any(len(each) > LONG for each in values(request)) or len(request.fields) > 60
        else None
    )


def odd_octets(request, page):
    return (
        error(one_of(page, 400, 500))
        if any(not each.isascii() or "\t" in each or "\\" in each or "%" in each for each in values(request))
        else None
    )


def crash(request, page):
    return (
        error(one_of(page, 500, 502, 503, 504, 508), ("Retry-After", "600"))
        if any("crash" in each for each in values(request))
        else None
    )


def unacceptable(request, page):
    names = ("Accept", "Accept-Language", "Accept-Charset", "Accept-Encoding")
    return error(one_of(page, 406, 415, 404)) if any("x-none" in (request.get(name) or "") for name in names) else None


def stranger(request, page):
    foreign = any(HOST not in (request.get(name) or HOST) for name in ("Referer", "Origin")) or "bot" in (
        request.get("User-Agent") or ""
    )
    return error(one_of(page, 403, 404, 410, 429, 451)) if foreign else None


def hints(request, page):
    names = (
        "DNT",
        "Save-Data",
        "Prefer",
        "Sec-GPC",
        "Sec-Fetch-Mode",
        "Sec-Fetch-Site",
        "Sec-Fetch-Dest",
        "Priority",
        "Device-Memory",
    )
    return error(one_of(page, 404, 410, 400, 501)) if has(request, *names) else None


def credentials(request, page):
    return (
        error(one_of(page, 401, 403, 407), ("WWW-Authenticate", "Basic realm=x"))
        if has(request, "Authorization", "Proxy-Authorization", "Cookie")
        else None
    )


def method_override(request, page):
    if not has(request, *METHODS):
        return None
    status = one_of(page, 200, 405, 204, 501, 200)
    return status, b"" if status == 204 else "done otherwise\n", ()


def url_override(request, page):
    return (one_of(page, 200, 404, 301), "another page\n", (("Location", "/another"),)) if has(request, *URLS) else None


def host_override(request, page):
    said = next(
        (
            request.get(name)
            for name in HOSTS
            if request.get(name) not in (None, INTRODUCED.get(name), "https" if name == "x-forwarded-proto" else None)
            and name != "x-forwarded-port"
        ),
        None,
    )
    return (
        (one_of(page, 301, 302, 200, 307, 404, 308), f"see http://{said}/\n", (("Location", f"http://{said}/"),))
        if said is not None
        else None
    )


def other_host(request, page):
    return error(one_of(page, 421, 400, 404)) if request.get("Host") != HOST or len(request.all("Host")) != 1 else None


def expectation(request, page):
    return error(one_of(page, 417, 400)) if has(request, "Expect") else None


def upgrade(request, page):
    return (
        error(one_of(page, 426, 400, 501), ("Upgrade", "h2c"))
        if has(request, "Upgrade", "HTTP2-Settings", "Sec-WebSocket-Key")
        else None
    )


def content(request, page):
    return (
        error(one_of(page, 411, 413, 400))
        if request.method == "GET" and has(request, "Content-Length", "Transfer-Encoding", "Content-Type")
        else None
    )


def steps(request, page):
    return error(one_of(page, 400, 483, 502)) if has(request, "Max-Forwards", "TE") else None


def uploads(request, page):
    return error(one_of(page, 400, 412, 409, 501)) if has(request, *UPLOADS) else None


def reload(request, page):
    return error(one_of(page, 503, 429, 400)) if has(request, "Cache-Control", "Pragma") else None


def circles(request, page):
    return (
        error(one_of(page, 508, 400, 502)) if "," in (request.get("Via") or "") or len(request.all("Via")) > 1 else None
    )


def not_introduced(request, page):
    missing = [
        name
        for name in ("Host", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID")
        if not has(request, name)
    ]
    return error(one_of(page, 500, 400, 404)) if missing else None


def identified(request, page):
    names = ("X-Request-ID", "Traceparent", "X-Correlation-ID", "X-Api-Key", "X-Debug")
    return error(one_of(page, 400, 500, 404)) if any("odd" in (request.get(name) or "") for name in names) else None


def digests(request, page):
    return (
        error(one_of(page, 400, 501))
        if has(request, "Want-Digest", "Want-Repr-Digest", "Want-Content-Digest", "Digest")
        else None
    )


def connection(request, page):
    names = has(request, "Keep-Alive", "Proxy-Connection") or request.get("Connection") not in ("keep-alive", None)
    return error(one_of(page, 400, 500)) if names else None


def methods(request, page):
    if request.method == "GET":
        return None
    status = one_of(page, 405, 404, 200, 500, 200)
    return status, f"{request.method} is no GET\n", (("ETag", '"poison"'), ("Allow", "GET"))


TEMPERS = {
    each.__name__: each
    for each in (
        odd_range,
        any_range,
        precondition,
        any_condition,
        large,
        odd_octets,
        crash,
        unacceptable,
        stranger,
        hints,
        credentials,
        method_override,
        url_override,
        host_override,
        other_host,
        expectation,
        upgrade,
        content,
        steps,
        uploads,
        reload,
        circles,
        not_introduced,
        identified,
        digests,
        connection,
        methods,
    )
}
