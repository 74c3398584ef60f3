"""RFC 9111 section 4.2: how long an answer of the origin is fresh, and how old it is at a time."""

import email.utils
import functools

HEURISTIC = {200, 203, 204, 206, 300, 301, 304, 404, 405, 410, 414, 501}


@functools.lru_cache(maxsize=4096)
def directives(text):
    """Cache-Control as a dictionary; a directive without a value is None. The first one counts."""
    found, text = {}, text or ""
    for part in split_list(text):
        name, _, value = part.partition("=")
        if name.strip():
            found.setdefault(name.strip().lower(), value.strip().strip('"') or None)
    return found


def split_list(text):
    parts, quoted, now = [], False, ""
    for letter in text:
        if letter == '"':
            quoted = not quoted
        if letter == "," and not quoted:
            parts.append(now)
            now = ""
        else:
            now += letter
    return [each.strip() for each in parts + [now] if each.strip()]


def seconds(found, name):
    """A directive's number; None where it is not there, 0 where it is no number."""
    if name not in found:
        return None
    value = found[name]
    return int(value) if value and value.isdigit() else 0


@functools.lru_cache(maxsize=4096)
def date(text):
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None


def control(told):
    """The directives that count for a shared cache: CDN-Cache-Control, where it is there (RFC 9213)."""
    targeted = told.get("CDN-Cache-Control")
    return directives(targeted) if targeted else directives(told.get("Cache-Control"))


def explicit(told):
    """The lifetime that the answer states, or None."""
    found = control(told)
    for name in ("s-maxage", "max-age"):
        if name in found:
            return seconds(found, name)
    if not told.get("CDN-Cache-Control") and told.get("Expires") is not None:
        expires, made = date(told.get("Expires")), date(told.get("Date"))
        return 0 if expires is None else max(0, expires - (made if made is not None else told.time))
    return None


def lifetime(told, settings):
    """The longest time for which the answer may be taken for fresh, with the settings of its route."""
    stated = explicit(told)
    if stated is not None:
        return stated
    found = control(told)
    modified, made = date(told.get("Last-Modified") or ""), date(told.get("Date") or "")
    guess = 0
    if (told.status in HEURISTIC or "public" in found) and modified is not None and settings["heuristic"]:
        guess = min(settings["heuristic"], max(0, ((made or told.time) - modified) / 10))
    if told.status in HEURISTIC or "public" in found:
        guess = max(guess, settings["default-ttl"])
    return guess


def youngest(told, now):
    """The least age that the answer can be said to have at a time (RFC 9111 4.2.3)."""
    made, age = date(told.get("Date") or ""), told.get("Age")
    apparent = max(0, told.time - made - 1) if made is not None else 0
    stated = int(age) if age and age.isdigit() else 0
    return max(apparent, stated) + max(0, now - told.time)


def oldest(told, now):
    made, age = date(told.get("Date") or ""), told.get("Age")
    apparent = max(0, told.time - made + 1) if made is not None else 0
    stated = int(age) if age and age.isdigit() else 0
    return max(apparent, stated) + max(0, now - told.time) + 2


def forbids_stale(told):
    """Whether the answer must not be used stale, whatever happens."""
    found = control(told)
    return any(name in found for name in ("must-revalidate", "proxy-revalidate", "no-cache")) or (
        "s-maxage" in found and "stale-if-error" not in found and "stale-while-revalidate" not in found
    )


def after_error(told, settings):
    """For how many seconds after its lifetime an answer may be used when the origin fails."""
    stated = seconds(control(told), "stale-if-error")
    return settings["stale-if-error"] if stated is None else stated
