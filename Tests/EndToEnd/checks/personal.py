"""resume-private: answers no shared cache may keep, for the rest of one body, for the user who began it."""

import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource

MIB = 1 << 20
ALICE, BOB = ("Authorization", "Basic YWxpY2U6eA=="), ("Authorization", "Basic Ym9iOnk=")
KINDS = {"/private": (("Cache-Control", "private, max-age=60"),), "/auth": (), "/none": (("Cache-Control", "no-store"),), "/cookie": (("Set-Cookie", "session=1"),)}


def bench_with(bench, **site):
    origin = bench.origin()
    for path, fields in KINDS.items():
        origin.at(path, lambda r, fields=fields: Resource(Content(f"{r.get('Authorization')}{r.path}{r.serial}", 4 * MIB), fields=fields))
    return origin, bench.pawl(origin, site={"resume-private": "60s", **site})


def begin(pawl, path, user, limit=MIB):
    with Client(pawl.address) as client:
        client.request(path, fields=(user,))
        return client.response(limit=limit, keep=True)


def resume(pawl, path, user, tag, start=MIB, *more):
    fields = (("Range", f"bytes={start}-"), *([user] if user else []), *([("If-Range", tag)] if tag else []), *more)
    return get(pawl.address, path, fields=fields, keep=False)


@check("private: the owner finishes an interrupted body with If-Range and the tag; nobody else, not by URL, not without the tag")
def owner(bench):
    origin, pawl = bench_with(bench, resume_private_no_store="on")
    for path in KINDS:
        first = begin(pawl, path, ALICE)
        tag = first.get("ETag")
        content = Content(f"{ALICE[1]}{path}0", 4 * MIB)
        true(tag and not tag.startswith("W/"), f"{path}: no tag of pawl's own: {first}")
        same(first.body, content.read(0, MIB), f"{path}: first part")
        answer = resume(pawl, path, ALICE, tag)
        same((answer.status, answer.sha), (206, content.sha256(MIB)), f"{path}: rest for the owner")
        same(origin.count(path), 1, f"{path}: origin requests")
        count = origin.count(path)
        for who, given in ((BOB, tag), (None, tag), (ALICE, None), (ALICE, '"guess"')):
            answer = resume(pawl, path, who, given)
            true(origin.count(path) > count, f"{path}: answered {who} with tag {given} without the origin: {answer}")
            count = origin.count(path)
            true(answer.sha != content.sha256(MIB) and answer.sha != content.sha256(), f"{path}: {who} got Alice's body")
        answer = get(pawl.address, path, fields=(ALICE,), keep=False)
        true(origin.count(path) > count and not answer.hit, f"{path}: found by URL")
        answer = get(pawl.address, path, fields=(ALICE, ("If-None-Match", tag)), keep=False)
        same(answer.status, 200, f"{path}: If-None-Match with a private tag")


@check("private: tags are random: two answers, two tags; no-store only by its own setting; off by default")
def defaults(bench):
    origin, pawl = bench_with(bench)
    first, second = begin(pawl, "/private", ALICE), begin(pawl, "/private", ALICE)
    true(first.get("ETag") != second.get("ETag"), "one tag for two bodies")
    none = begin(pawl, "/none", ALICE)
    answer = resume(pawl, "/none", ALICE, none.get("ETag") or '"x"')
    same((origin.count("/none"), none.get("ETag")), (2, None), "no-store without the setting: origin requests, tag")
    plain = bench.pawl(origin, name="off")
    first = begin(plain, "/private", ALICE)
    same(first.get("ETag"), None, "tag with resume-private = off")


@check("private: ends after its time; is not found over a restart by others", seconds=30)
def expires(bench):
    origin, pawl = bench_with(bench, resume_private="2s")
    first = begin(pawl, "/private", ALICE)
    time.sleep(3)
    count = origin.count("/private")
    answer = resume(pawl, "/private", ALICE, first.get("ETag"))
    true(origin.count("/private") > count and answer.status == 200, f"after its time: {answer}")


@check("private: a broken origin is resumed for the owner too; the fill goes on while the owner is away")
def away(bench):
    origin, pawl = bench_with(bench)
    gate = threading.Event()
    content = Content("away", 4 * MIB)
    origin.at("/report", Resource(content, fields=(("Cache-Control", "private"),), gates=((2 * MIB, gate),)))
    first = begin(pawl, "/report", ALICE)
    gate.set()
    answer = resume(pawl, "/report", ALICE, first.get("ETag"))
    same((answer.status, answer.sha, origin.count("/report")), (206, content.sha256(MIB), 1), "rest of a report that was still being made")


@check("private: owner by cookie:NAME")
def cookie_owner(bench):
    origin = bench.origin()
    origin.at("/x", lambda r: Resource(Content(f"{r.get('Cookie')}{r.serial}", 2 * MIB), fields=(("Cache-Control", "private"),)))
    pawl = bench.pawl(origin, site={"resume-private": "60s", "owner": "cookie:session"})
    mine, other = ("Cookie", "theme=dark; session=abc"), ("Cookie", "theme=dark; session=def")
    tag = begin(pawl, "/x", mine).get("ETag")
    content = Content(f"{mine[1]}0", 2 * MIB)
    answer = resume(pawl, "/x", ("Cookie", "session=abc; theme=light"), tag)
    same((answer.status, answer.sha), (206, content.sha256(MIB)), "same session, other cookies")
    answer = resume(pawl, "/x", other, tag)
    true(answer.sha != content.sha256(MIB) and origin.count("/x") == 2, f"another session: {answer}")
