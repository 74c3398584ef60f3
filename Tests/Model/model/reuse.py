"""Whether an answer that the origin gave to one request may be given to another: RFC 9111 sections 3 and 4, and what
Config/*.md promises beyond them. A cache may always ask the origin; here stands what it must not do."""

import dataclasses

from . import freshness
from .users import cookies
from .wire import by_name

SLACK = 0.35  # seconds that clocks and whole seconds may differ by
SETTINGS = {
    "default-ttl": 0,
    "heuristic": 86400,
    "stale-if-error": 0,
    "resume-private": 0,
    "resume-private-no-store": False,
    "resume-ttl": 3600,
    "resume-ttl-no-cache": False,
    "owner": ("authorization",),
    "collapse": "auto",
    "cookies": True,
    "etag": "auto",
}


@dataclasses.dataclass
class Operation:
    """A request of a client as the model sees it."""

    number: int
    resource: int
    method: str
    user: int
    fields: list
    started: float
    settings: dict
    finished: float | None = None
    unsure: dict | None = None  # the settings before a reload that was not yet over

    names: dict | None = None

    def get(self, name, default=None):
        if self.names is None:
            self.names = by_name(self.fields)
        return self.names.get(name.lower(), default)


def shared_cookies(operation):
    return cookies(operation.fields) if operation.settings["cookies"] else ()


def credentials(operation, settings):
    """What the request shows of all that tells users apart."""
    shown = [("authorization", operation.get("Authorization"))]
    named = [each[7:] for each in settings["owner"] if each.startswith("cookie:")]
    for each in cookies(operation.fields):
        if not named or each.partition("=")[0] in named:
            shown.append(("cookie", each))
    return shown


def forbidden(told, first, operation, unsafe, failed=False):
    """The rules against giving the answer `told`, which the origin gave to `first`, to `operation`. `unsafe`: the
    (time at the origin, time at the client) of unsafe requests that worked; `failed`: the origin failed just now."""
    settings, found = operation.settings, []
    control, asked = freshness.control(told), freshness.directives(operation.get("Cache-Control"))
    if told.resource != operation.resource:
        return ["resource"]
    if told.method != "GET" and not (told.method == "HEAD" and operation.method == "HEAD"):
        found.append("method")
    if "no-store" in control:
        found.append("no-store")
    if "no-store" in freshness.directives(first.get("Cache-Control")) and told.status != 304:
        found.append("request-no-store")
    if "private" in control:
        found.append("private")
    public = any(name in control for name in ("public", "s-maxage", "must-revalidate"))
    if first.get("Authorization") and not public:
        found.append("authorization")
    vary = [each.lower() for each in freshness.split_list(told.get("Vary") or "")]
    if "*" in vary:
        found.append("vary-star")
    if any(differs(name, first, operation) for name in vary if name not in ("*", "accept-encoding")):
        found.append("vary")
    stated = freshness.explicit(told) is not None or "public" in control
    if shared_cookies(first) != shared_cookies(operation) and not stated:
        found.append("cookie-key")
    open_to_all = "public" in control or "s-maxage" in control or told.get("CDN-Cache-Control")
    if told.get("Set-Cookie") and not open_to_all:
        found.append("set-cookie")
    if "no-cache" in control:
        found.append("no-cache")
    if any(told.time < at and until < operation.started for at, until in unsafe):
        found.append("invalidated")
    found += too_old(told, operation, settings, asked, failed)
    return found


def differs(name, first, operation):
    if name == "cookie":
        return shared_cookies(first) != shared_cookies(operation)
    return plain(first.get(name)) != plain(operation.get(name))


WISHES = ("request-no-cache", "request-max-age", "request-min-fresh")  # of a client, not bans


def plain(value):
    return (value or "").replace(" ", "").lower()


def too_old(told, operation, settings, asked, failed):
    found = []
    life, age = freshness.lifetime(told, settings), freshness.youngest(told, operation.started)
    stale = age - life - SLACK >= 0 or life <= 0
    if failed:
        asked = {name: value for name, value in asked.items() if name in ("max-stale", "stale-if-error")}
    if "no-cache" in asked or (
        not failed and operation.get("Cache-Control") is None and operation.get("Pragma") == "no-cache"
    ):
        found.append("request-no-cache")
    limit = freshness.seconds(asked, "max-age")
    if limit is not None and age - limit > SLACK + 1 and not stale_welcome(asked, age, life):
        found.append("request-max-age")
    least = freshness.seconds(asked, "min-fresh")
    if least is not None and not stale and life - age < least - SLACK - 1:
        found.append("request-min-fresh")
    if not stale:
        return found
    never = freshness.forbids_stale(told)
    if stale_welcome(asked, age, life) and not never:
        return found
    while_asking = freshness.seconds(freshness.control(told), "stale-while-revalidate")
    if while_asking is not None and age - life <= while_asking + SLACK and not never:
        return found
    if failed and not never and (failed == "silent" or age - life <= after_error(told, settings, asked) + SLACK + 1):
        return found
    return found + ["stale-error" if failed else "stale"]


def stale_welcome(asked, age, life):
    if "max-stale" not in asked:
        return False
    return asked["max-stale"] is None or age - life <= int(asked["max-stale"]) + SLACK + 1


def after_error(told, settings, asked):
    return max(freshness.after_error(told, settings), freshness.seconds(asked, "stale-if-error") or 0)


def excused(rules, told, first, operation, named, others=(), reading=False):
    """What is left of the rules where pawl may complete a download (Config/behaviour.md, "Who shares a response" and
    "Private downloads"). `named`: the request names the body by a tag that pawl made; `others`: the operations that
    the origin answered for the resource lately; `reading`: others are being answered now."""
    settings, left = operation.settings, list(rules)
    control = freshness.control(told)
    mine = any(equal_but_range(each, operation) for each in (first, *others))
    joined = reading or told.ended is None or told.ended + 0.05 >= operation.started
    if joined and mine and operation.get("Range"):
        left = [each for each in left if each not in ("stale", "private", "authorization", "set-cookie", "no-cache")]
    if mine and operation.get("Range"):
        left = ["stale-part" if each == "stale" else each for each in left]
    if not named:
        return left
    left = ["invalidated-resume" if each == "invalidated" else each for each in left if each not in WISHES]
    bare = not operation.get("Authorization") and not cookies(operation.fields)
    open_to_all = not {"private", "authorization", "set-cookie", "no-store"} & set(rules)
    if settings["resume-ttl"] and (bare or open_to_all):
        strict = any(name in control for name in ("no-cache", "must-revalidate", "proxy-revalidate"))
        if not strict or settings["resume-ttl-no-cache"]:
            left = [
                each for each in left if each not in ("stale", "stale-part", "no-cache", "stale-error", "vary-star")
            ]
    if settings["resume-private"] and owned(first, operation, settings):
        kept = {"stale", "private", "authorization", "set-cookie", "no-cache", "vary", "vary-star", "cookie-key"}
        kept |= {"stale-error", "stale-part"}
        if settings["resume-private-no-store"]:
            kept |= {"no-store"}
            left = ["request-no-store-resume" if each == "request-no-store" else each for each in left]
        left = [each for each in left if each not in kept]
    return left


def owned(first, operation, settings):
    """Whether the request shows the same as the one whose answer is kept."""
    mine, theirs = credentials(operation, settings), credentials(first, settings)
    if settings["owner"] == ("none",):
        return True
    if mine != theirs:
        return False
    shown = any(value for _, value in mine)
    return shown or (not cookies(operation.fields) and not cookies(first.fields) and equal_but_range(first, operation))


def equal_but_range(first, operation):
    leave = {"range", "if-range", "x-request-id", "if-match", "if-none-match", "if-modified-since", "cache-control"}
    leave |= {"accept-encoding", "if-unmodified-since"}
    mine = sorted((n.lower(), v) for n, v in operation.fields if n.lower() not in leave)
    return mine == sorted((n.lower(), v) for n, v in first.fields if n.lower() not in leave)
