"""Floods of 10 s each: others served meanwhile, memory growth under 20 MB, no origin request for streams reset before
their headers were handled; nginx beside it.

FLOODS=ping,settings chooses some of them.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import tlsscenario
from harness.content import Content
from harness.origin import Resource
from harness.process import LIVING, children, status_field

MB = 1_000_000
CALM = {"GOAWAY 11"}
# kind: (connections, what GOAWAYs must have been seen, whether requests may reach the origin)
PLAN = {
    "rapid-reset": (4, CALM, 0),
    "rapid-reset-at-once": (4, CALM, None),
    "made-you-reset": (4, {"GOAWAY 11", "GOAWAY 1", "GOAWAY 3", "GOAWAY 5"}, 0),
    "continuation": (4, CALM, 0),
    "continuation-empty": (4, CALM, 0),
    "settings": (4, CALM, None),
    "ping": (4, CALM, None),
    "empty-data": (4, CALM, None),
    "empty-headers": (4, {"GOAWAY 11", "GOAWAY 1"}, None),
    "header-bomb": (4, {"GOAWAY 11", "GOAWAY 9", "GOAWAY 1"}, None),
    "cookie-crumbs": (4, {"GOAWAY 11", "GOAWAY 1"}, None),
    "window-update": (4, CALM, None),
    "priority-update": (4, CALM, None),
    "priority": (4, CALM, None),
    "slow-readers": (20, None, None),
    "slow-windows": (20, None, None),
    "tls-handshakes": (4, None, None),
    "tls-slow": (2, None, None),
}
REFUSED = {"header-bomb", "cookie-crumbs"}  # 431 on the stream does as well as GOAWAY
FLOODLOAD = pathlib.Path(__file__).resolve().parent.parent / "floodload.py"


class Memory(threading.Thread):
    """Samples what a server's processes hold that is no page of a file."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0, threading.Event()

    def now(self):
        total = 0
        for each in [self.pid] + children(self.pid):
            try:
                total += (status_field(each, "RssAnon") + status_field(each, "RssShmem")) * 1024
            except OSError:
                pass
        return total

    def run(self):
        while not self.over.wait(0.2):
            self.most = max(self.most, self.now())


class Other(threading.Thread):
    """Another client: a stored and a forwarded answer, over TLS and in clear, on connections new and old, twenty times
    a second."""

    def __init__(self, front):
        super().__init__(daemon=True)
        self.front, self.over, self.took, self.failures = front, threading.Event(), [], []

    def run(self):
        count, clients = 0, {}
        while not self.over.wait(0.05):
            count += 1
            secure, path = bool(count % 2) and bool(self.front.tls), "/kept" if count % 3 else f"/forwarded/{count}"
            begun = time.monotonic()
            try:
                if count % 20 < 2:
                    clients.pop(secure, None)
                client = clients.get(secure) or clients.setdefault(secure, self.client(secure))
                client.request(path, fields=(("Cache-Control", "no-cache"),) if "forwarded" in path else ())
                answer = client.response()
                if answer.status != 200 or not answer.complete:
                    self.failures.append(f"{path}: {answer}")
            except Exception as error:
                clients.pop(secure, None)
                self.failures.append(f"{path}: {type(error).__name__} {error} after {time.monotonic() - begun:.1f} s")
            self.took.append(time.monotonic() - begun)

    def client(self, secure):
        return tlsscenario.http1(self.front.tls if secure else getattr(self.front, "http1", self.front.clear), secure)


def flood(front, origin, kind, connections, seconds):
    """One flood: what floodload.py tells, and `before`, `most` and `after` in memory, the other client's times and
    failures, origin requests."""
    memory, other = Memory(front.process.process.pid), Other(front)
    before, seen = memory.now(), len(origin.requests)
    memory.start()
    other.start()
    port = front.tls if kind.startswith("tls-") else front.clear
    process = subprocess.Popen(
        [sys.executable, str(FLOODLOAD), kind, str(port), str(seconds), str(connections)],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    LIVING.add(process)
    try:
        told = json.loads(process.communicate(timeout=seconds + 30)[0])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        told = {"connections": 0, "bytes": 0, "units": 0, "ends": {"floodload did not end": 1}, "answers": {}}
    LIVING.discard(process)
    other.over.set()
    other.join(15)
    time.sleep(1)
    memory.over.set()
    memory.join()
    mine = [each.path for each in origin.requests[seen:] if each.path.startswith("/flood")]
    return {
        **told,
        "paths": mine[:5],
        "before": before,
        "most": memory.most,
        "after": memory.now(),
        "took": sorted(other.took),
        "failures": other.failures,
        "origin": len(mine),
    }


def run(scenario):
    seconds = 2 if scenario.quick else 10
    wanted = [each for each in os.environ.get("FLOODS", "").split(",") if each] or list(PLAN)
    origin = scenario.bench.origin()
    kept = (("Cache-Control", "max-age=60000"),)
    origin.at("/kept", Resource(Content("kept", 2000), etag='"k"', fields=kept))
    origin.at("/large", Resource(Content("large", 64 * MB), ranges=True, etag='"l"', fields=kept))
    origin.default = lambda request: Resource(
        b"forwarded\n", fields=(("Cache-Control", "no-store"),), type="text/plain"
    )
    files = tlsscenario.pair(scenario.bench.folder)
    fronts = [
        tlsscenario.pawl_front(
            scenario, origin, {"main": tlsscenario.section(files)}, pawl={"access-log": "off", "log-level": "warning"}
        )
    ]
    cache = f"proxy_cache_path {scenario.bench.folder}/nginx/cache keys_zone=c:10m max_size=1g;"
    nginx = (
        None
        if scenario.quick
        else tlsscenario.nginx_front(
            scenario,
            [files],
            f"location / {{ proxy_pass {origin.url}; proxy_http_version 1.1; proxy_cache c; proxy_set_header "
            "Connection ''; }",
            cache,
        )
    )
    fronts += [nginx] if nginx else []
    for front in fronts:
        for path in ("/kept", "/large"):  # warm: stored, and what serving takes is allocated
            with tlsscenario.http1(getattr(front, "http1", front.clear), False, 60) as client:
                client.request(path)
                scenario.require(client.response().status == 200, f"{front.name}: {path}")
        calm(front)
    for kind in wanted:
        connections, codes, allowed = PLAN[kind]
        for front in fronts:
            report(scenario, front, kind, flood(front, origin, kind, connections, seconds), codes, allowed)
        if not fronts[0].process.running():
            scenario.require(False, f"pawl ended during {kind}")
            return


def calm(front):
    other = Other(front)
    other.start()
    time.sleep(3)
    other.over.set()
    other.join(15)


def report(scenario, front, kind, seen, codes, allowed):
    ours = front.name == "pawl"
    growth, took = seen["most"] - seen["before"], seen["took"]
    scenario.figure(f"{kind}: {front.name}: memory grown at most", round(growth / MB, 1), 20 if ours else None, "MB")
    scenario.figure(
        f"{kind}: {front.name}: the other client's requests that failed, of {len(took)}",
        len(seen["failures"]),
        0 if ours else None,
    )
    scenario.figure(
        f"{kind}: {front.name}: the other client's median and slowest answer",
        f"{statistics.median(took) * 1000:.1f} / {took[-1] * 1000:.0f}" if took else "none",
        unit="ms",
    )
    scenario.figure(f"{kind}: {front.name}: origin requests of the flood", seen["origin"], allowed if ours else None)
    scenario.note(
        f"{kind}: {front.name}: {seen['connections']:,} connections, {seen['units']:,} units, "
        f"{seen['bytes'] / MB:,.0f} MB; ends {seen['ends']}; "
        f"answers {seen['answers']}; memory {seen['before'] / MB:.1f} before, {seen['after'] / MB:.1f} MB after"
    )
    if ours:
        scenario.require(not seen["paths"] or allowed is None, f"{kind}: at the origin: {seen['paths']}")
        for each in seen["failures"][:3]:
            scenario.require(False, f"{kind}: {each}")
        if codes is not None:
            good = codes & set(seen["ends"]) or kind in REFUSED and seen["answers"].get("431")
            scenario.require(good, f"{kind}: no {' or '.join(sorted(codes))} was seen: {seen['ends']}")
