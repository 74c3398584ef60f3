"""Whether an answer may be given to another request without asking the origin: pure functions of what the answer says,
of who asked and who asks now, and of the settings. RFC 9111 sections 3, 3.5, 4, 4.1, 4.2 and 5.2.2, RFC 5861, RFC 9213,
and what pawl adds to protect applications that say too little:

- an answer to a request with cookies that says neither `public` nor for how long it is fresh is for the same cookies
only;
- `Set-Cookie` without `public`, `s-maxage` or a targeted field means `private`;
- a client's certificate that the application is told of is a credential as `Authorization` is;
- what is not for everybody is opened by its tag by an equal, named owner only, or by nobody's name where neither side
showed a credential.

Nothing here knows pawl's code. `TABLE` says the same for each value in words that can be read; a check compares the
two.
"""

import dataclasses
import email.utils

LONGEST_HEURISTIC = 24 * 3600


@dataclasses.dataclass(frozen=True)
class Settings:
    """Keys of a route, in seconds; `certificate_field`: the application is told of a client's certificate."""

    default_ttl: int = 0
    resume_ttl: int = 3600
    resume_private: int = 0
    resume_private_no_store: bool = False
    certificate_field: bool = False


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request as the origin sees it: lower-case names."""

    fields: tuple = ()

    def get(self, name):
        return next((value for key, value in self.fields if key == name.lower()), None)


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer by its fields; `date` and what they name in dates are seconds since 1970."""

    fields: tuple = ()
    status: int = 200
    date: float = 0.0

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        return next(iter(self.all(name)), None)

    @property
    def directives(self):
        """Those that count: the targeted field's where there is one (RFC 9213 2.2), else Cache-Control's."""
        return directives(self.all("CDN-Cache-Control") or self.all("Cache-Control"))

    @property
    def is_targeted(self):
        return self.get("CDN-Cache-Control") is not None


def directives(values):
    """{name: argument or None} of the values of all lines; commas inside quotes part nothing."""
    found = {}
    for value in values:
        quoted, start = False, 0
        for at, octet in enumerate(value + ","):
            if octet == '"':
                quoted = not quoted
            elif octet == "," and not quoted:
                name, equals, argument = value[start:at].strip().partition("=")
                if name:
                    found[name.strip().lower()] = argument.strip().strip('"') if equals else None
                start = at + 1
    return found


def seconds(argument):
    return int(argument) if argument and argument.isdigit() else 0


def explicit_lifetime(answer):
    """How long the origin says that it is fresh (RFC 9111 4.2.1); None where it does not say."""
    said = answer.directives
    for name in ("s-maxage", "max-age"):
        if name in said:
            return seconds(said[name])
    if answer.is_targeted or answer.get("Expires") is None:
        return None
    until = email.utils.parsedate_tz(answer.get("Expires"))
    return max(0, email.utils.mktime_tz(until) - answer.date) if until else 0


def lifetime(answer, settings):
    """In seconds; by a heuristic or `default-ttl` where the origin does not say (4.2.2)."""
    said = explicit_lifetime(answer)
    if said is not None:
        return said
    modified = email.utils.parsedate_tz(answer.get("Last-Modified") or "")
    if modified:
        return min(max(0, answer.date - email.utils.mktime_tz(modified)) / 10, LONGEST_HEURISTIC)
    return settings.default_ttl


def means_everybody(answer):
    return "public" in answer.directives or (explicit_lifetime(answer) or 0) > 0


def is_private(answer):
    """Whether no shared cache may keep it, whoever asked (5.2.2.5, 5.2.2.7; `Set-Cookie` as pawl takes it)."""
    said = answer.directives
    if "no-store" in said and not ("must-understand" in said and answer.status == 200):
        return True
    # With an argument it speaks of those fields alone.
    if "private" in said and said["private"] is None:
        return True
    return answer.get("Set-Cookie") is not None and not ("public" in said or "s-maxage" in said or answer.is_targeted)


def credentials(asked, settings):
    """What names its user so that the answer is his alone (3.5)."""
    return [
        name
        for name in ("authorization", *(["client-cert"] if settings.certificate_field else []))
        if asked.get(name) is not None
    ]


def permits_credentials(answer):
    return bool({"public", "s-maxage", "must-revalidate"} & set(answer.directives))


def vary(answer):
    return [name.strip().lower() for value in answer.all("Vary") for name in value.split(",") if name.strip()]


def may_be_shared(answer, first, later, settings):
    """Whether the answer to `first` may be kept and chosen for `later` at all, fresh or confirmed by the origin: None,
    or why not."""
    if is_private(answer):
        return "private"
    if credentials(first, settings) and not permits_credentials(answer):
        return "credentials"
    names = vary(answer)
    if "*" in names or any(first.get(name) != later.get(name) for name in names):
        return "vary"
    if not means_everybody(answer) and first.get("cookie") != later.get("cookie"):
        return "cookies"
    return None


def is_usable_unasked(answer, settings):
    """Whether it is fresh when it comes, or may be used stale at once (5.2.2.4, 4.2; RFC 5861 3)."""
    said = answer.directives
    if "no-cache" in said and said["no-cache"] is None:
        return False
    if lifetime(answer, settings) > 0:
        return True
    return seconds(said.get("stale-while-revalidate")) > 0 and not {
        "must-revalidate",
        "proxy-revalidate",
        "s-maxage",
    } & set(said)


def may_reuse(answer, first, later, settings):
    """Whether the answer to `first` may be given to `later` without asking, whether it is whole or on its way: None, or
    why not."""
    return may_be_shared(answer, first, later, settings) or (
        None if is_usable_unasked(answer, settings) else "not fresh"
    )


def may_open(answer, first, later, settings, is_minted):
    """Whether `later`, who holds a part of the answer to `first` and names its tag, may have the rest unasked: None, or
    why not."""
    reason = may_reuse(answer, first, later, settings)
    if reason is None:
        return None
    said = answer.directives
    if may_be_shared(answer, first, later, settings) is None:
        # What resume-ttl is for: no validator of the origin, and no word against it.
        has_validator = answer.get("ETag") or answer.get("Last-Modified")
        return (
            reason
            if has_validator or "must-revalidate" in said or "no-cache" in said or not settings.resume_ttl
            else None
        )
    # A variant of a body that is for others too is chosen as any other is.
    is_variant = reason == "vary" and "*" not in vary(answer) and "private" not in said
    if reason == "cookies" or is_variant or not settings.resume_private or not is_minted:
        return reason
    if "no-store" in said and "must-understand" not in said and not settings.resume_private_no_store:
        return reason
    shown = [[asked.get(name) for name in ("authorization", "client-cert")] for asked in (first, later)]
    if any(shown[0]) and shown[0] == shown[1]:
        return None
    return reason if any(shown[0] + shown[1]) or first.get("cookie") or later.get("cookie") else None


def must_share(answer, first, later, settings):
    """Whether a cache that does not give the answer to `later` is one that refuses everything: fresh, and nothing that
    a cache may understand more narrowly."""
    if may_reuse(answer, first, later, settings) is not None or lifetime(answer, settings) <= 0:
        return False
    said = answer.directives
    return not {"private", "no-cache"} & set(said) and answer.get("Set-Cookie") is None


PAST, FUTURE = "Thu, 01 Jan 2026 00:00:00 GMT", "Fri, 01 Jan 2038 00:00:00 GMT"

# What of an answer other users get unasked, by what tells users apart: a field that no rule knows (X-Api-Key), cookies,
# Authorization; and where it brings `Set-Cookie`, to requests that are told apart by no rule. On the left nothing else
# gives freshness, on the right `Last-Modified` of long ago or `default-ttl` does. s: shared, -: each gets his own.
TABLE = """
                                                          |  by themselves                        |  with a heuristic or default-ttl
value                                                     |  key  cookie  authorization  set-cookie  |  key  cookie  authorization  set-cookie
nothing                                                   |  -    -       -              -           |  s    -       -              -
Cache-Control: public                                     |  -    -       -              -           |  s    s       s              s
Cache-Control: public, max-age=60                         |  s    s       s              s           |  s    s       s              s
Cache-Control: private                                    |  -    -       -              -           |  -    -       -              -
Cache-Control: private, max-age=60                        |  -    -       -              -           |  -    -       -              -
Cache-Control: no-store                                   |  -    -       -              -           |  -    -       -              -
Cache-Control: no-cache                                   |  -    -       -              -           |  -    -       -              -
Cache-Control: no-cache="Set-Cookie", max-age=60          |  s    s       -              -           |  s    s       -              -
Cache-Control: max-age=0                                  |  -    -       -              -           |  -    -       -              -
Cache-Control: max-age=60                                 |  s    s       -              -           |  s    s       -              -
Cache-Control: s-maxage=60                                |  s    s       s              s           |  s    s       s              s
Cache-Control: max-age=60, s-maxage=0                     |  -    -       -              -           |  -    -       -              -
Cache-Control: must-revalidate                            |  -    -       -              -           |  s    -       s              -
Cache-Control: must-revalidate, max-age=0                 |  -    -       -              -           |  -    -       -              -
Cache-Control: must-revalidate, max-age=60                |  s    s       s              -           |  s    s       s              -
Cache-Control: proxy-revalidate                           |  -    -       -              -           |  s    -       -              -
Cache-Control: no-store, must-understand, max-age=60      |  s    s       -              -           |  s    s       -              -
Cache-Control: max-age=0, stale-while-revalidate=60       |  s    -       -              -           |  s    -       -              -
Cache-Control: max-age=0, stale-if-error=60               |  -    -       -              -           |  -    -       -              -
Cache-Control: immutable                                  |  -    -       -              -           |  s    -       -              -
Cache-Control: no-transform                               |  -    -       -              -           |  s    -       -              -
Cache-Control: private="X-Foo", max-age=60                |  s    s       -              -           |  s    s       -              -
Expires: the past                                         |  -    -       -              -           |  -    -       -              -
Expires: the future                                       |  s    s       -              -           |  s    s       -              -
Cache-Control: private / CDN-Cache-Control: max-age=60    |  s    s       -              s           |  s    s       -              s
Cache-Control: public, max-age=60 / CDN-Cache-Control: private  |  -    -       -        -           |  -    -       -              -
"""


def table():
    """[(name, fields, eight booleans)] of TABLE."""
    rows = []
    for line in TABLE.strip().splitlines()[2:]:
        name, *columns = (each.strip() for each in line.split("|"))
        fields = tuple(tuple(part.strip().split(": ", 1)) for part in name.split(" / ") if ": " in part)
        fields = tuple((key, {"the past": PAST, "the future": FUTURE}.get(value, value)) for key, value in fields)
        rows.append((name, fields, [letter == "s" for column in columns for letter in column.split()]))
    return rows


def differs():
    """Where TABLE and the functions above disagree."""
    now, wrong = 1_790_000_000.0, []
    askers = [
        (Asked(), Asked()),
        *((Asked(((name, "a"),)), Asked(((name, "b"),))) for name in ("cookie", "authorization")),
        (Asked(), Asked()),
    ]
    for name, fields, expected in table():
        for column, wanted in enumerate(expected):
            with_cookie, heuristic = column % 4 == 3, column >= 4
            more = (("Set-Cookie", "a=b"),) if with_cookie else ()
            first, later = askers[column % 4]
            for source in (
                ((("Last-Modified", email.utils.formatdate(now - 864_000, usegmt=True)),), ()) if heuristic else ((),)
            ):
                settings = Settings(default_ttl=60 if heuristic and not source else 0)
                got = may_reuse(Answer(fields + more + source, date=now), first, later, settings) is None
                if got != wanted:
                    wrong.append(
                        (
                            name,
                            ("key", "cookie", "authorization", "set-cookie")[column % 4],
                            "heuristic" if heuristic else "alone",
                            got,
                        )
                    )
    return wrong
