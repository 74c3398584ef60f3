"""A visitor who notes what a program shows: the same visit without pawl and through it, laid beside each other."""

import hashlib
import http.cookies
import re
import statistics
import time
import urllib.parse

from .client import Client, get, parse_address

# What a visitor notices of a head. ETag and Accept-Ranges are pawl's to add; a strong tag of the program's stays.
NOTICED = (
    "Content-Type",
    "Content-Encoding",
    "Content-Disposition",
    "Content-Language",
    "Content-Location",
    "Content-Range",
    "Cache-Control",
    "Expires",
    "Pragma",
    "Last-Modified",
    "Location",
    "Set-Cookie",
    "WWW-Authenticate",
    "Allow",
    "DAV",
    "Lock-Token",
    "Retry-After",
    "Refresh",
    "Docker-Content-Digest",
    "Docker-Distribution-Api-Version",
    "Docker-Upload-UUID",
    "Range",
    "Link",
    "Vary",
)
# What is another each time: session cookies, tokens in forms, lock tokens, states and numbers of a registry's uploads.
OTHERS = (
    (r"(PHPSESSID|session)=[^;\s,]{8,}", r"\1=VALUE"),
    (r'value="[0-9a-f]{16}"', 'value="TOKEN"'),
    (r"opaquelocktoken:[-0-9a-f]+", "LOCK"),
    (r"_state=[^&\s\"]+", "_state=STATE"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"<(\w+:)?getlastmodified[^<]*<|<(\w+:)?creationdate[^<]*<|<(\w+:)?getetag[^<]*<", "<TIME<"),
    (r"(nginx|Apache|pawl)/[0-9.]+", "SERVER"),
    (r"Port \d+", "Port N"),
)


class Visitor:
    def __init__(self, address):
        host, port = parse_address(address)
        self.address, self.host = address, f"{host}:{port}"
        self.cookies, self.seen = {}, []

    def plain(self, text):
        """Text without what is another each time."""
        text = text.replace(self.host, "ADDRESS").replace(f"localhost:{self.host.rpartition(':')[2]}", "ADDRESS")
        for pattern, word in OTHERS:
            text = re.sub(pattern, word, text)
        return text

    def note(self, what, value):
        self.seen.append((what, self.plain(value) if isinstance(value, str) else value))

    def ask(self, what, path, method="GET", fields=(), body=None, form=None, note="all"):
        """One request with the cookies of before, noted under `what`; the answer. `note`: "all"; "fresh", without dates
        and tags of what was just written; "head", without the body; "status" alone."""
        fields = tuple(fields)
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
            fields += (("Content-Type", "application/x-www-form-urlencoded"),)
        if self.cookies:
            fields += (("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items())),)
        answer = get(self.address, path, fields, method, body, host=self.host)
        noted = {"status": answer.status, "complete": answer.complete}
        for name in NOTICED:
            if answer.all(name):
                values = answer.all(name)
                if name in ("Location", "Content-Location"):  # where it leads, however it is written
                    values = [urllib.parse.urljoin(self.address + path, value) for value in values]
                # That others get it compressed is pawl's to say.
                noted[name] = [self.plain(value) for value in values if (name, value) != ("Vary", "Accept-Encoding")]
        noted = {name: value for name, value in noted.items() if value != []}
        for line in answer.all("Set-Cookie"):
            for name, morsel in http.cookies.SimpleCookie(line).items():
                if morsel["max-age"] == "0" or "1970" in morsel["expires"] or morsel.value in ("", "deleted"):
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        tag = answer.get("ETag", "")
        if tag.startswith('"'):
            noted["ETag"] = tag
        if note == "fresh":
            noted.pop("Last-Modified", None), noted.pop("ETag", None)
        if note == "status":
            noted = {"status": answer.status}
        elif note != "head":
            try:
                noted["body"] = (
                    self.plain(answer.body.decode())
                    if answer.count < 100_000
                    else hashlib.sha256(answer.body).hexdigest()
                )
            except UnicodeDecodeError:
                noted["body"] = hashlib.sha256(answer.body).hexdigest()
        self.seen.append((what, noted))
        return answer

    def first_octet(self, path, tries=15):
        """Median milliseconds until an answer's head is there, each on a new connection."""
        taken = []
        for _ in range(tries):
            begun = time.monotonic()
            with Client(self.address) as client:
                client.request(path, fields=(("Connection", "close"),), host=self.host)
                client.response(on_head=lambda _: taken.append((time.monotonic() - begun) * 1000))
        return statistics.median(taken)


def differences(alone, through):
    """What is worse in `through` (rows of a Visitor) than in `alone`: lines of text."""
    lines = (
        []
        if [what for what, _ in alone] == [what for what, _ in through]
        else [f"other steps: {[w for w, _ in alone]} and {[w for w, _ in through]}"]
    )
    for (what, one), (_, other) in zip(alone, through):
        if one == other:
            continue
        if not isinstance(one, dict) or not isinstance(other, dict):
            lines.append(f"{what}: {short(one)} became {short(other)}")
            continue
        for name in sorted({*one, *other}):
            was, became = one.get(name), other.get(name)
            if name == "ETag" and was is None:  # pawl's own
                continue
            if was != became:
                lines.append(f"{what}: {name}: {short(was)} became {short(became)}")
    return lines


def short(value):
    text = repr(value)
    return text if len(text) < 300 else text[:200] + " ... " + text[-80:]
