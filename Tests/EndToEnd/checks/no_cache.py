"""Answers that are to be validated before each use, and have nothing to be validated by: archives that an application
makes anew."""

import re

from harness.checks import check, same
from harness.client import get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20
VALUES = ("no-cache", "must-revalidate, max-age=0", "max-age=0")


def made_anew(bench, **site):
    """Each request is given other bytes of the same length; what `site` says holds for all."""
    origin = bench.origin()
    for number, value in enumerate(VALUES):
        origin.at(
            f"/{number}",
            lambda r, value=value: Resource(
                Content(f"{r.path}{r.serial}", 4 * MIB), fields=(("Cache-Control", value),)
            ),
        )
    return origin, bench.pawl(origin, site=site)


def rest(pawl, path, tag, *fields):
    return get(pawl.address, path, fields=(("Range", f"bytes={MIB}-"), ("If-Range", tag)) + fields, keep=False)


@check(
    "with resume-ttl-no-cache a body made anew for each request is finished from the copy that it began with; others "
    "get a new one",
    area="no-cache",
)
def own_copy(bench):
    origin, pawl = made_anew(bench, **{"resume-ttl-no-cache": "on", "resume-ttl": "60s"})
    for number, value in enumerate(VALUES):
        path = f"/{number}"
        first = get(pawl.address, path, limit=MIB, keep=False)
        other = get(pawl.address, path, keep=False)
        same(other.sha, Content(f"{path}1", 4 * MIB).sha256(), f"{value}: another's")
        count = origin.count(path)
        answer = rest(pawl, path, first.get("ETag"))
        same(
            (answer.status, answer.sha, origin.count(path)),
            (206, Content(f"{path}0", 4 * MIB).sha256(MIB), count),
            f"{value}: the rest",
        )
        answer = rest(pawl, path, first.get("ETag"), ("Cache-Control", "no-cache"))
        same((answer.status, origin.count(path)), (200, count + 1), f"{value}: a client that wants it validated")
        same(get(pawl.address, path, keep=False).hit, False, f"{value}: a plain request")


@check("by default such a body is asked for again, and never goes on with other bytes", area="no-cache")
def by_default(bench):
    origin, pawl = made_anew(bench)
    for number in range(2):
        path = f"/{number}"
        first = get(pawl.address, path, limit=MIB, keep=False)
        answer = rest(pawl, path, first.get("ETag"))
        same(
            (answer.status, answer.sha, origin.count(path)),
            (200, Content(f"{path}1", 4 * MIB).sha256(), 2),
            VALUES[number],
        )


def advice(pawl):
    return [re.sub(r"^\S+ ", "", line) for line in pawl.log().splitlines() if " not-resumable " in line]


@check(
    "what cannot be resumed for lack of a setting is said once an hour, with the lines to write; with them, it is not",
    area="no-cache",
)
def said(bench):
    origin = bench.origin()
    for name, fields in (
        ("zip", (("Cache-Control", "no-cache"),)),
        ("export", (("Cache-Control", "private"),)),
        ("secret", (("Cache-Control", "no-store"),)),
        ("login", (("Set-Cookie", "a=b"),)),
        ("small", (("Cache-Control", "private"),)),
    ):
        origin.at(
            f"/{name}",
            lambda r, name=name, fields=fields: Resource(
                Content(name, 1000 if name == "small" else 2 * MIB), fields=fields
            ),
        )
    pawl = bench.pawl(origin)
    for _ in range(3):
        for name in ("small", "zip", "export", "secret", "login"):
            get(pawl.address, f"/{name}", keep=False)
    same(
        sorted(advice(pawl)),
        [
            'notice not-resumable route=main path=/export why=private write="resume-private = 15m" omitted=0',
            'notice not-resumable route=main path=/login why=set-cookie write="resume-private = 15m" omitted=0',
            'notice not-resumable route=main path=/secret why=no-store write="resume-private = 15m; '
            'resume-private-no-store = on" omitted=0',
            'notice not-resumable route=main path=/zip why=no-cache write="resume-ttl-no-cache = on" omitted=0',
        ],
        "lines of the log",
    )
    inner = bench.__class__(bench.folder / "written")
    with inner.stack:
        written = inner.pawl(
            origin, site={"resume-private": "15m", "resume-private-no-store": "on", "resume-ttl-no-cache": "on"}
        )
        for name in ("zip", "export", "secret", "login"):
            tag = get(written.address, f"/{name}", limit=MIB, keep=False).get("ETag")
            same(rest(written, f"/{name}", tag).status, 206, f"{name} with the lines written")
        same(advice(written), [], "lines of the log when all is written")
