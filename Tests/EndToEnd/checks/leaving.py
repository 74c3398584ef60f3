"""Clients that leave before they have their whole answer: what the logs say of them."""

import json
import re
import threading
import time

from harness.checks import V1, check, same, true
from harness.client import Client
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

NO_STORE = (("Cache-Control", "no-store"),)


def records(pawl, target):
    """The lines of the access log about the target."""
    path = pawl.folder / "access.log"
    lines = path.read_text().splitlines() if path.exists() else []
    return [record for record in map(json.loads, lines) if record["target"] == target]


def record(pawl, target):
    wait_for(lambda: records(pawl, target), 10, f"the line of {target}")
    return records(pawl, target)[0]


def cuts(pawl, target):
    """The fields of the events transfer-cut about the target."""
    lines = [line for line in pawl.log().splitlines() if " transfer-cut " in line and f" target={target} " in line]
    return [dict(re.findall(r'([a-z-]+)=("[^"]*"|\S*)', line)) | {"level": line.split(" ")[1]} for line in lines]


def asked(origin, target):
    wait_for(lambda: any(each.target == target for each in origin.requests), 10, f"{target} at the origin")


@check("a client that leaves while it waits has no answer in the log, by FIN, by a reset, by both", area="leaving")
def waits(bench):
    release = {}
    origin = bench.origin()
    origin.default = lambda request: Resource(
        b"late", fields=NO_STORE, before_head=lambda r: release[r.target].wait(20)
    )
    pawl = bench.pawl(origin)
    for how in ("close", "reset", "half"):
        target = f"/{how}"
        release[target] = threading.Event()
        began = time.monotonic()
        with Client(pawl.address) as client:
            client.request(target)
            asked(origin, target)
            if how == "half":
                client.finish()
            if how != "close":
                client.reset()
            elif bench.is_1_1:
                # Over TLS, too, without a word that would be waited for.
                getattr(client.socket, "raw", client.socket).close()
        if how == "close":
            # Until the answer is refused, such a client may be one that only sends nothing more (RFC 9112 §9.6).
            time.sleep(0.5)
            release[target].set()
        line = record(pawl, target)
        same((line["status"], line["bytes"], line["ended_by"]), (0, 0, "client"), f"{how}: {line}")
        true(line["end_reason"] in ("reset", "broken-pipe", "closed"), f"{how}: {line}")
        true(time.monotonic() - began < 10, f"{how}: the line came before the origin's answer")
        release[target].set()
        same(cuts(pawl, target), [], f"{how}: nothing was cut")


@check(
    "a half-closed client that reads its answer has it in the log",
    area="leaving",
    over=V1,
    why="HTTP/2 ends streams one by one",
)
def halves(bench):
    origin = bench.origin()
    content = Content("halves", 3_000_000)
    origin.at("/x", Resource(content, before_head=lambda r: time.sleep(0.2), fields=NO_STORE))
    pawl = bench.pawl(origin)
    with Client(pawl.address) as client:
        client.request("/x")
        client.finish()
        same(client.response().sha, content.sha256(), "/x")
    line = record(pawl, "/x")
    same((line["status"], line["bytes"], line["ended_by"]), (200, 3_000_000, "done"), f"{line}")


@check("a client that leaves in the middle of a body: one event transfer-cut, at info", area="leaving")
def middle(bench):
    origin = bench.origin()
    origin.at("/direct", Resource(Content("direct", 64 << 20), fields=NO_STORE))
    origin.at("/kept", Resource(Content("kept", 64 << 20), fields=(("Cache-Control", "max-age=600"),)))
    pawl = bench.pawl(origin)
    for target in ("/direct", "/kept", "/kept"):
        before = len(records(pawl, target))
        with Client(pawl.address, receive_buffer=65536) as client:
            client.request(target)
            wait_for(lambda client=client: client.socket.recv(1000), 10, "the beginning")
            client.reset()
        wait_for(lambda: len(records(pawl, target)) > before, 10, f"the line of {target}")
        line = records(pawl, target)[before]
        same((line["status"], line["ended_by"]), (200, "client"), f"{line}")
        wait_for(lambda: len(cuts(pawl, target)) > before, 10, f"the event of {target}")
        found = cuts(pawl, target)
        same(len(found), before + 1, f"{target}: {found}")
        cut = found[before]
        same((cut["by"], cut["why"], cut["level"]), ("client", line["end_reason"], "info"), f"{cut}")
        same(cut["of"], str(64 << 20), f"{cut}")
        same(cut["request"], line["request_id"], f"{cut}")
