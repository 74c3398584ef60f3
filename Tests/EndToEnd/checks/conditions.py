"""Conditions on pawl's own tags: what they become at an origin that has never heard of them, and what pawl judges
itself."""

import threading

from harness.checks import check, same, true
from harness.client import Client, get
from harness.coded import text
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20
OLD = "Sun, 01 Nov 2026 10:00:00 GMT"
VALIDATORS = {"weak": {"etag": 'W/"w"'}, "date": {"last_modified": OLD}, "none": {}}


def origin_with(bench, content, **more):
    origin = bench.origin()
    for name, made in VALIDATORS.items():
        origin.at(
            "/" + name,
            lambda r, made=made: Resource(content if r.method in ("GET", "HEAD") else b"done", **made, **more),
        )
    origin.at("/gone", Resource(content, etag='W/"w"'))
    return origin


def sent(request):
    return {
        name: request.get(name)
        for name in ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")
        if request.get(name) is not None
    }


@check(
    "a tag of pawl's own in If-None-Match becomes the validator of its body for HEAD, and 304 names it; unknown ones "
    "go, and a date beside them",
    area="conditions",
)
def none_match(bench):
    content = Content("conditions", MIB)
    origin = origin_with(bench, content)
    pawl = bench.pawl(origin, site={"heuristic-ttl": "off"})
    for name, expected in (("weak", {"If-None-Match": 'W/"w"'}), ("date", {"If-Modified-Since": OLD}), ("none", {})):
        tag = get(pawl.address, "/" + name).get("ETag")
        true(tag.startswith('"pawl-'), f"{name}: {tag}")
        answer = get(pawl.address, "/" + name, method="HEAD", fields=(("If-None-Match", tag),))
        same(
            (answer.status, answer.get("ETag"), sent(origin.of("/" + name)[-1])),
            (304 if expected else 200, tag if expected else None, expected),
            f"HEAD of {name}",
        )
        answer = get(pawl.address, "/" + name, fields=(("If-None-Match", f'"other", {tag}'),))
        same(answer.status, 304 if expected else 200, f"GET of {name}")
    for method in ("GET", "HEAD"):
        get(pawl.address, "/gone", method=method, fields=(("If-None-Match", '"pawl-0123"'), ("If-Modified-Since", OLD)))
        same(sent(origin.of("/gone")[-1]), {}, f"unknown, with a date, {method}")


@check(
    "HEAD tells what GET would: tag, Accept-Ranges and length, where the origin says that it is still the same",
    area="conditions",
)
def head(bench):
    content = Content("conditions", MIB)
    origin = origin_with(bench, content)
    pawl = bench.pawl(origin, site={"heuristic-ttl": "off"})
    for name in VALIDATORS:
        tag = get(pawl.address, "/" + name).get("ETag")
        answer = get(pawl.address, "/" + name, method="HEAD")
        same(
            (answer.status, answer.get("ETag"), answer.get("Accept-Ranges"), answer.get("Content-Length")),
            (200, tag if name != "none" else None, "bytes", str(MIB)),
            name,
        )
    origin.at("/weak", Resource(content, etag='W/"other"'))
    answer = get(pawl.address, "/weak", method="HEAD")
    same(answer.get("ETag"), 'W/"other"', "another by now")


@check(
    "unsafe methods: If-Match becomes the strong validator stored with that body, or 412 without the origin; also "
    "read back after a restart",
    area="conditions",
)
def unsafe(bench):
    content = Content("conditions", MIB)
    origin = origin_with(bench, content)
    # One strong tag over two codings: pawl gives each a tag of its own.
    origin.at(
        "/strong",
        lambda r: Resource(
            content if r.method == "GET" else b"done",
            etag='"s"',
            fields=(("Vary", "Accept-Encoding"),)
            + ((("Content-Encoding", "gzip"),) if "gzip" in (r.get("Accept-Encoding") or "") else ()),
        ),
    )
    pawl = bench.pawl(origin, site={"origin-encoding": "pass", "heuristic-ttl": "off"})
    get(pawl.address, "/strong")
    tags = {name: get(pawl.address, "/" + name).get("ETag") for name in VALIDATORS}
    tags["strong"] = get(pawl.address, "/strong", fields=(("Accept-Encoding", "gzip"),)).get("ETag")
    true(all(tag.startswith('"pawl-') for tag in tags.values()), f"{tags}")
    for restarted in (False, True):
        for method in ("PUT", "DELETE", "PATCH"):
            for name in ("weak", "date", "none"):
                count = origin.count("/" + name)
                answer = get(
                    pawl.address, "/" + name, method=method, body=b"x" * 100_000, fields=(("If-Match", tags[name]),)
                )
                same((answer.status, origin.count("/" + name) - count), (412, 0), f"{method} of {name}, {restarted}")
        answer = get(pawl.address, "/none", method="PUT", body=b"x", fields=(("If-Match", '"pawl-made-up"'),))
        same(answer.status, 412, "unknown")
        answer = get(pawl.address, "/none", method="PUT", body=b"x", fields=(("If-None-Match", tags["none"]),))
        same(answer.status, 412, "If-None-Match of what nobody can tell")
        if not restarted:
            pawl.stop()
            pawl.start()
    answer = get(pawl.address, "/strong", method="PUT", body=b"y" * 300_000, fields=(("If-Match", tags["strong"]),))
    request = origin.of("/strong")[-1]
    same(
        (answer.status, request.method, sent(request), request.body_count),
        (200, "PUT", {"If-Match": '"s"'}, 300_000),
        "with a strong one, after a restart",
    )


@check(
    "If-Match with a range: what is named goes on, also without asking twice; another body is 412, and nothing of it "
    "is given",
    area="conditions",
)
def if_match(bench):
    content, other = Content("conditions", 4 * MIB), Content("other", 4 * MIB)
    origin = bench.origin()
    for name, made in {**VALIDATORS, "strong": {"etag": '"s"'}}.items():
        origin.at("/" + name, Resource(content, **made))
    pawl = bench.pawl(origin, site={"heuristic-ttl": "off"})
    for name in (*VALIDATORS, "strong"):
        tag = get(pawl.address, "/" + name).get("ETag")
        answer = get(pawl.address, "/" + name, fields=(("Range", f"bytes={MIB}-"), ("If-Match", tag)))
        same((answer.status, answer.sha, answer.get("ETag")), (206, content.sha256(MIB), tag), f"{name}: the rest")
        for wrong in ('"pawl-made-up"', '"x"'):
            answer = get(pawl.address, "/" + name, fields=(("Range", f"bytes={MIB}-"), ("If-Match", wrong)))
            same((answer.status, other.read(0, 10) in answer.body), (412, False), f"{name}: {wrong}")
        origin.at(
            "/" + name,
            lambda r, name=name: Resource(
                other, **({"etag": '"n"'} if name == "strong" else {"etag": 'W/"n"'} if name == "weak" else {})
            ),
        )
        if name != "none":
            # Another client: the one before has been told a moment ago that it is still the same.
            answer = get(
                pawl.address, "/" + name, fields=(("Range", f"bytes={MIB}-"), ("If-Match", tag), ("X-Client", "2"))
            )
            same(answer.status, 412, f"{name}: changed")


@check(
    "304 keeps the weak tag that its client named, which may be of compressed content, and says Vary; a strong one "
    "stays strong",
    area="conditions",
)
def weak_kept(bench):
    content = text("weak kept", 64 << 10)
    origin = bench.origin()
    pawl = bench.pawl(origin)
    for control in ("private, no-cache", "no-store", "private, max-age=600", "no-cache", "max-age=600"):
        path = "/" + control.replace(", ", "-")
        origin.at(
            path, Resource(content, type="text/plain", ranges=True, etag='"o"', fields=(("Cache-Control", control),))
        )
        for codings in ("gzip", "zstd, br"):
            first = get(pawl.address, path, fields=(("Accept-Encoding", codings),))
            true(first.get("Content-Encoding"), f"{control}: {first}")
            for named in (first.get("ETag"), 'W/"o"', f'"other", {first.get("ETag")}'):
                answer = get(pawl.address, path, fields=(("Accept-Encoding", codings), ("If-None-Match", named)))
                what = f"{control}, {named} of {codings}: {answer}"
                same((answer.status, ", ".join(answer.all("Vary")).lower()), (304, "accept-encoding"), what)
                true('W/"o"' not in named or answer.get("ETag") == 'W/"o"', what)
                # What a client's cache then holds under that tag are the bytes of the first answer (RFC 9111 3.2).
                if first.get("ETag") in named:
                    part = get(
                        pawl.address,
                        path,
                        fields=(
                            ("Accept-Encoding", codings),
                            ("Range", "bytes=5000-"),
                            ("If-Range", answer.get("ETag")),
                        ),
                    )
                    true(part.status == 200 or part.body == first.body[5000:], f"{what}: resumed by it: {part}")
        for fields in ((), (("Accept-Encoding", "gzip"),)):
            answer = get(pawl.address, path, fields=fields + (("If-None-Match", '"o"'),))
            same((answer.status, answer.get("ETag")), (304, '"o"'), f"{control}, strong, {fields}")


@check(
    "parallel pieces with If-Match, as Chromium asks for them, of an origin without ranges cause one fetch",
    area="conditions",
)
def pieces(bench):
    content = Content("pieces", 8 * MIB)
    for name, made in {**VALIDATORS, "strong": {"etag": '"s"'}}.items():
        inner = bench.__class__(bench.folder / name)
        with inner.stack:
            origin = inner.origin()
            origin.at("/x", Resource(content, pace=16e6, **made))
            pawl = inner.pawl(origin)
            first = inner.use(Client(pawl.address, timeout=30))
            first.request("/x")
            begun = first.response(limit=1000)
            tag, answers = begun.get("ETag"), {}

            def piece(start, end):
                answers[start] = get(
                    pawl.address, "/x", fields=(("Range", f"bytes={start}-{end - 1}"), ("If-Match", tag)), timeout=30
                )

            threads = [threading.Thread(target=piece, args=(n * MIB, (n + 2) * MIB)) for n in (2, 4, 6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for start, answer in answers.items():
                same(
                    (answer.status, answer.body == content.read(start, start + 2 * MIB)),
                    (206, True),
                    f"{name}: the piece at {start}",
                )
            whole = [r for r in origin.of("/x") if r.status == 200]
            same(len(whole), 1, f"{name}: fetches: {origin.of('/x')}")
