"""Client cut at 10 %, resuming with the tag it got: 206 and the right SHA-256; 200 with the new body where a byte
changed.

Warm; after a restart; after kill -9; after expiry with resume-ttl = 0s and a re-fetch of the same bytes; the same after
one byte changed at the origin; kill -9 with a byte changed between the synced extent and the client's offset. For four
kinds of origin.
"""

import time

from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource

MB = 1_000_000
ORIGINS = {
    "strong tag and ranges": dict(ranges=True, etag='"v1"'),
    "weak tag": dict(etag='W/"v1"'),
    "old date and ranges": dict(ranges=True, last_modified="Sat, 01 Aug 2026 10:00:00 GMT"),
    "nothing": {},
}
CHANGED = {
    "strong tag and ranges": dict(ranges=True, etag='"v2"'),
    "weak tag": dict(etag='W/"v2"'),
    "old date and ranges": dict(ranges=True, last_modified="Sun, 02 Aug 2026 10:00:00 GMT"),
    "nothing": {},
}


def begin(pawl, path, count):
    with Client(pawl.address) as client:
        client.request(path)
        return client.response(limit=count)


def run(scenario):
    size = 5 * MB if scenario.quick else 50 * MB
    tenth = size // 10
    right = total = 0
    for kind, identity in ORIGINS.items():
        origin = scenario.bench.origin()
        name = kind.replace(" ", "-")
        pawl = scenario.bench.pawl(origin, name=name)
        eager = scenario.bench.pawl(origin, name=name + "-ttl0", site={"resume-ttl": "0s"})

        def verdict(what, first, path, proxy, expected, content, old):
            nonlocal right, total
            tag = first.get("ETag")
            answer = get(
                proxy.address,
                path,
                keep=False,
                timeout=60,
                fields=(("Range", f"bytes={len(first.body)}-"), ("If-Range", tag)),
            )
            start = len(first.body) if expected == 206 else 0
            good = (
                (answer.status, answer.complete, answer.sha) == (expected, True, content.sha256(start))
                and first.body == old.read(0, len(first.body))
                and tag
                and (expected == 200 or answer.get("Content-Range") == f"bytes {start}-{size - 1}/{size}")
            )
            total += 1
            right += bool(good)
            scenario.require(good, f"{kind}, {what}: expected {expected}, tag {tag}: {answer}; {origin.of(path)}")

        fresh = (("Cache-Control", "max-age=600"),)
        content = Content(f"cut-{kind}", size)
        for path in ("/warm", "/restart", "/kill"):
            origin.at(path, Resource(content, fields=fresh, **identity))
        first = {path: begin(pawl, path, tenth) for path in ("/warm", "/restart", "/kill")}
        verdict("warm", first["/warm"], "/warm", pawl, 206, content, content)
        pawl.restart()
        verdict("after a restart", first["/restart"], "/restart", pawl, 206, content, content)
        time.sleep(1.5)
        pawl.restart(hard=True)
        verdict("after kill -9", first["/kill"], "/kill", pawl, 206, content, content)

        # Expiry: max-age=1, resume-ttl = 0s, and the origin is asked again.
        stale = (("Cache-Control", "max-age=1"),)
        other = content.changed(size // 2)
        changed = {"now": False}
        origin.at("/expired", Resource(content, fields=stale, **identity))
        origin.at(
            "/changed",
            lambda r: (
                Resource(other, fields=stale, **CHANGED[kind])
                if changed["now"]
                else Resource(content, fields=stale, **identity)
            ),
        )
        origin.at(
            "/changed-early",
            lambda r: (
                Resource(content.changed(3), fields=stale, **CHANGED[kind])
                if changed["now"]
                else Resource(content, fields=stale, **identity)
            ),
        )
        first = {path: begin(eager, path, tenth) for path in ("/expired", "/changed", "/changed-early")}
        for path in first:
            get(eager.address, path, keep=False, timeout=60)
        time.sleep(2.2)
        changed["now"] = True
        verdict(
            "after expiry, resume-ttl = 0s, the same bytes", first["/expired"], "/expired", eager, 206, content, content
        )
        for path, new in (("/changed", other), ("/changed-early", content.changed(3))):
            verdict("after expiry, one byte changed at the origin", first[path], path, eager, 200, new, content)

        # kill -9 in the middle of a fill, and a byte changes just before the client's offset.
        changed["now"] = False
        new = content.changed(tenth - 1)
        origin.at(
            "/unsynced",
            lambda r: (
                Resource(new, fields=fresh, **CHANGED[kind])
                if changed["now"]
                else Resource(content, fields=fresh, pace=size * 2.0, **identity)
            ),
        )
        first = begin(pawl, "/unsynced", tenth)
        pawl.kill()
        changed["now"] = True
        pawl.start()
        verdict(
            "kill -9, a byte changed between the synced extent and the client's offset",
            first,
            "/unsynced",
            pawl,
            200,
            new,
            content,
        )
        pawl.stop()
        eager.stop()
    scenario.figure("right answers", right, total, at_least=True)
    scenario.figure("cases", total)
