"""Uploads seen from outside: pawl uploads list, show, rm, resend, on a state directory and beside a running server."""

import re

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Origin
from harness.process import run_pawl, wait_for
from harness.uploads import (
    Dialect,
    append,
    asked,
    careful,
    create,
    dies,
    partial,
    status,
    stored,
    token_of,
    tus_new,
    tus_patch,
    whole,
)

BODY = Content("operator", 100_000).read()
D = Dialect(9)


def begin(bench, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site})


def uploads(pawl, *arguments, code=0, state=False):
    """The output of a command of `pawl uploads`."""
    where = ("--state", str(pawl.folder / "state")) if state else ("--config", str(pawl.file))
    got, out, err = run_pawl("uploads", *arguments, *where, folder=pawl.folder)
    same(got, code, f"exit code of uploads {' '.join(arguments)} ({(out + err)[-300:]})")
    return out if code == 0 else out + err


def ids(text):
    return re.findall(r"\b[0-9a-f]{12,32}\b", text)


@check(
    "list and show tell ID, state, offset, length and target beside a running server and without one, never the token",
    area="upload operator",
)
def listing(bench):
    origin, pawl = begin(bench)
    same(ids(uploads(pawl, "list")), [], "a list of nothing")
    open_ = partial(pawl, D, BODY, 33_333, target="/open?x=y")
    done = [f.get("Location") for s, f in create(pawl.address, D, BODY, target="/done").interim if s == 104][0]
    tus = tus_new(pawl.address, 77, target="/tus")
    for running in (True, False):
        if not running:
            pawl.stop()
        for state in (False, True):
            text = uploads(pawl, "list", state=state)
            found = ids(text)
            same((len(found), len(set(found))), (3, 3), f"IDs in {text!r}")
            lines = {
                name: next((line for line in text.splitlines() if name in line), "")
                for name in ("/open", "/done", "/tus")
            }
            true("32.6K" in lines["/open"] or "33333" in lines["/open"], f"the offset in {lines['/open']!r}")
            for name, word in (("/open", "open"), ("/done", "answered"), ("/tus", "open")):
                true(word in lines[name].replace(name, ""), f"{word} in {lines[name]!r}")
            details = uploads(pawl, "show", ids(lines["/open"])[0], state=state)
            for word in ("33333", "100000", "/open?x=y", "POST"):
                true(word in details.replace(",", "").replace("_", ""), f"{word} in {details!r}")
            for location in (open_, done, tus):
                true(token_of(location) not in text + details, "a token in the output")
    given = asked(origin, "/done")[0].get("X-Pawl-Upload-Id")
    true(any(given.startswith(each) for each in found), f"the ID the origin was given, {given}, among {found}")
    uploads(pawl, "show", "0" * 32, code=1)
    uploads(pawl, "rm", "0" * 32, code=1)


@check("rm removes beside a running server and without one; an ID may be shortened", area="upload operator")
def removal(bench):
    origin, pawl = begin(bench)
    for running in (True, False):
        location = partial(pawl, D, BODY, 50_000)
        (found,) = ids(uploads(pawl, "list"))
        if not running:
            pawl.stop()
        # What a script passes whose variable is not set.
        for command, code in (("rm", 64), ("resend", 64), ("show", 64)):
            uploads(pawl, command, "", code=code)
        uploads(pawl, "rm", found[:3], code=64)
        uploads(pawl, "rm", found[:12])
        true(found not in uploads(pawl, "list") or "removed" in uploads(pawl, "list"), "still listed")
        if not running:
            pawl.start()
        true(status(pawl.address, D, location).status in (404, 410), "HEAD of a removed upload")
        sizes = [p.stat().st_size for p in (pawl.folder / "state").rglob("*") if p.is_file() and "sqlite" not in p.name]
        true(50_000 not in sizes and 100_000 not in sizes, f"files {sizes}")
    same(len(whole(origin)), 0, "requests at the origin")


@check("unknown uploads are listed, survive a restart, and can be sent again or dropped", area="upload operator")
def unknown(bench):
    origin, pawl = begin(bench)
    origin.default = dies(origin, then=stored)
    locations = []
    for target in ("/again", "/drop"):
        answer = create(pawl.address, D, BODY, target=target)
        same(answer.status, 502, f"answer for {target}")
        locations.append([f.get("Location") for s, f in answer.interim if s == 104][0])
    pawl.restart(hard=True)
    text = uploads(pawl, "list")
    lines = {t: next(line for line in text.splitlines() if t in line) for t in ("/again", "/drop")}
    for line in lines.values():
        true("unknown" in line, f"unknown in {line!r}")
    same(len([r for r in origin.requests if r.method != "OPTIONS"]), 2, "requests after the restart")
    uploads(pawl, "resend", ids(lines["/again"])[0])
    wait_for(lambda: len(whole(origin, "/again")) == 2, 10, "the second request")
    wait_for(lambda: D.said(status(pawl.address, D, locations[0])), 5, "the answer")
    answer = append(pawl.address, D, locations[0], len(BODY), b"")
    same((answer.status, answer.body), (200, b"got 100000 bytes"), "the answer of the second try")
    first, second = asked(origin, "/again")
    same(
        (first.get("Idempotency-Key"), second.body == BODY), (second.get("Idempotency-Key"), True), "the second request"
    )
    uploads(pawl, "rm", ids(lines["/drop"])[0])
    true(status(pawl.address, D, locations[1]).status in (404, 410), "HEAD of the dropped one")
    same(len(whole(origin, "/drop")), 1, "requests of the dropped one")


@check("resend of an unknown upload while no server runs is carried out by the next one", area="upload operator")
def resend_offline(bench):
    origin, pawl = begin(bench)
    origin.default = dies(origin, then=stored)
    create(pawl.address, D, BODY)
    pawl.stop()
    (found,) = ids(uploads(pawl, "list"))
    uploads(pawl, "resend", found)
    same(len(whole(origin)), 1, "requests while nobody runs")
    pawl.start()
    wait_for(lambda: len(whole(origin)) == 2, 10, "the second request")
    wait_for(lambda: "answered" in uploads(pawl, "show", found), 5, "the answer")


@check(
    "resend refuses what is not unknown; show tells attempts and the last error while the origin is down",
    area="upload operator",
)
def waiting(bench):
    port = bench.held_port()
    pawl = bench.pawl(f"http://127.0.0.1:{port}", site={"min-resumable": "0", "tus-wait": "200ms"})
    same(create(pawl.address, D, BODY, target="/down").status, 503, "answer")
    careful(pawl.address, D, target="/open")
    text = uploads(pawl, "list")
    lines = {t: next(line for line in text.splitlines() if t in line) for t in ("/down", "/open")}
    true("complete" in lines["/down"] or "forwarding" in lines["/down"], f"{lines['/down']!r}")
    details = uploads(pawl, "show", ids(lines["/down"])[0]).lower()
    true("attempt" in details and ("refused" in details or "connect" in details), f"{details!r}")
    uploads(pawl, "resend", ids(lines["/open"])[0], code=1)
    origin = bench.use(Origin(port=port, is_held=True, default=stored))
    wait_for(lambda: len(whole(origin, "/down")) == 1, 25, "the delivery", 0.1)
    wait_for(lambda: "answered" in uploads(pawl, "list"), 5, "the answer")


@check("the event log tells an upload's life with its ID", area="upload operator")
def events(bench):
    origin, pawl = begin(bench)
    location = partial(pawl, D, BODY, 40_000)
    append(pawl.address, D, location, 40_000, BODY[40_000:])
    tus = tus_new(pawl.address, 3)
    tus_patch(pawl.address, tus, 0, b"abc")
    found = asked(origin, "/in")[0].get("X-Pawl-Upload-Id")
    text = wait_for(lambda: len(re.findall("upload-answered", pawl.log())) >= 2 and pawl.log(), 5, "the lines")
    mine = [line for line in text.splitlines() if found in line]
    for word in ("upload-created", "upload-resumed", "upload-completed", "upload-forwarding", "upload-answered"):
        true(any(word in line for line in mine), f"no {word} among {mine}")
    true(any("40000" in line for line in mine), f"no offset among {mine}")
    same([token_of(each) in text for each in (location, tus)], [False, False], "tokens in the log")
