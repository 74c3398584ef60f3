"""Access log and event log."""

import json
import re

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Break, Resource, break_points
from harness.process import wait_for

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
COMBINED = re.compile(
    r'127\.0\.0\.1 - \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "([^"]*)" (\d{3}) (\d+) "([^"]*)" "([^"]*)"'
)


@check("combined is nginx's, with its escapes", area="log")
def combined(bench):
    origin = bench.origin()
    origin.default = Resource(b"0123456789", fields=FRESH)
    pawl = bench.pawl(origin, pawl={"access-log-format": "combined"})
    get(pawl.address, "/a?b=c", fields=(("Referer", "http://r/"), ("User-Agent", 'agent "1" \\ \xe9')))
    path = pawl.folder / "access.log"
    wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= 1, 5, "the first line")
    get(pawl.address, "/a?b=c", method="HEAD")
    wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2, 5, "two lines")
    lines = path.read_text(errors="replace").splitlines()
    version = "HTTP/1.1" if bench.is_1_1 else "HTTP/2.0"
    for line in lines:
        true(COMBINED.fullmatch(line), f"not combined: {line}")
    same(
        COMBINED.fullmatch(lines[0]).groups(),
        (f"GET /a?b=c {version}", "200", "10", "http://r/", "agent \\x221\\x22 \\x5C \\xE9"),
        "first line",
    )
    same(COMBINED.fullmatch(lines[1]).groups(), (f"HEAD /a?b=c {version}", "200", "0", "-", "-"), "second line")


def value(line, *parts):
    """The value of the first key that has all parts in its name, in any case and spelling."""
    for key, found in line.items():
        if all(part in key.lower().replace("_", "").replace("-", "") for part in parts):
            return found
    return None


@check("json tells bytes from cache, origin, resumed, replayed, resumes, who ended it and why, request id", area="log")
def json_lines(bench):
    origin = bench.origin()
    content = Content("json", 4 * MIB)
    origin.at("/hit", Resource(b"0123456789", fields=FRESH))
    origin.at("/ranges", Resource(content, ranges=True, etag='"j"', fields=FRESH, breaks=break_points([MIB, 2 * MIB])))
    origin.at("/replay", Resource(content, fields=FRESH, breaks=break_points([MIB])))
    origin.at(
        "/change",
        lambda r: (
            Resource(content, fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
            if r.serial == 0
            else Resource(content.changed(5), fields=FRESH)
        ),
    )
    origin.at("/leave", Resource(Content("leave", 1 << 30), fields=(("Cache-Control", "no-store"),)))
    pawl = bench.pawl(origin, upstream={"resume-attempts": 3})
    get(pawl.address, "/hit")
    get(pawl.address, "/hit", fields=(("X-Request-Id", "me-1"),))
    for path in ("/ranges", "/replay", "/change"):
        get(pawl.address, path, keep=False)
    with Client(pawl.address) as client:
        client.request("/leave")
        client.response(limit=MIB, keep=False)
    lines = pawl.access(count=6)
    true(len(lines) >= 6, f"{len(lines)} lines that are JSON")
    by = {}
    for line in lines:
        by.setdefault(value(line, "target") or value(line, "uri") or value(line, "path"), []).append(line)
    hit = next(line for line in by["/hit"] if "me-1" in json.dumps(line))
    same((value(hit, "bytes", "cache"), value(hit, "bytes", "origin")), (10, 0), f"hit: {hit}")
    true(
        value(by["/ranges"][0], "origin", "resumes") == 2 or value(by["/ranges"][0], "resumes") == 2,
        f"resumes: {by['/ranges'][0]}",
    )
    true((value(by["/ranges"][0], "resumed") or 0) >= 3 * MIB - 65536, f"resumed: {by['/ranges'][0]}")
    true((value(by["/replay"][0], "replayed") or 0) >= MIB - 65536, f"replayed: {by['/replay'][0]}")
    true("client" in str(value(by["/leave"][0], "ended")), f"who ended: {by['/leave'][0]}")
    true(
        str(value(by["/change"][0], "ended")) in ("origin", "pawl") and value(by["/change"][0], "reason"),
        f"who ended: {by['/change'][0]}",
    )
    same(value(by["/ranges"][0], "status"), 200, "status")
    true(all(value(line, "request", "id") or value(line, "id") for line in lines), "request ids")


@check("the event log names each resumption and each cut with its reason", area="log")
def events(bench):
    origin = bench.origin()
    content = Content("events", 2 * MIB)
    origin.at("/resumed", Resource(content, ranges=True, etag='"j"', fields=FRESH, breaks=break_points([MIB])))
    origin.at(
        "/cut",
        lambda r: (
            Resource(content, fields=FRESH, breaks=lambda s, e: Break(MIB, "rst"))
            if r.serial == 0
            else Resource(content.changed(5), fields=FRESH)
        ),
    )
    pawl = bench.pawl(origin, upstream={"resume-attempts": 3}, pawl={"log-level": "info"})
    for path in ("/resumed", "/cut"):
        get(pawl.address, path, keep=False)
    line = lambda path: [l for l in pawl.log().splitlines() if path in l]
    wait_for(lambda: line("/resumed") and line("/cut"), 5, "event log lines")
    true(any("resum" in l for l in line("/resumed")), f"{line('/resumed')}")
    true(any(("cut" in l or "chang" in l or "differ" in l) for l in line("/cut")), f"{line('/cut')}")
    for each in pawl.log().splitlines():
        if "/resumed" in each or "/cut" in each:
            true(
                re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|notice|warning|error) \S+", each),
                f"form of {each!r}",
            )


@check("hostile request lines stay one line and valid JSON", area="log")
def hostile(bench):
    origin = bench.origin()
    origin.default = Resource(b"x")
    pawl = bench.pawl(origin)
    get(pawl.address, "/\"'<>%0a%0d", fields=(("User-Agent", 'a"b\\c\td\xe9\xff'), ("Referer", "\x80\x81")))
    wait_for(
        lambda: (pawl.folder / "access.log").exists() and (pawl.folder / "access.log").read_bytes().count(b"\n") >= 1,
        5,
        "a line",
    )
    data = (pawl.folder / "access.log").read_bytes()
    same(len(data.splitlines()), 1, "lines")
    json.loads(data)
