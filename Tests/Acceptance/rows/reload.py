"""Reloads under mixed load: no download breaks, no connection is refused, nothing is delivered twice.

Downloads that are kept and that are not, in HTTP/1.1 and HTTP/2, uploads and new connections go on while the
configuration is read again and again, with other values for keys of every section, and with a listener that comes and
goes. After that, many reloads without load show that nothing of them stays in memory.
"""

import re
import signal
import socket
import threading
import time

from harness import transport
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import config, wait_for
from harness.uploads import NO_STORE, Dialect, create, stored, whole

MIB = 1 << 20
D = Dialect(9)
KEPT = (("Cache-Control", "max-age=600"),)


def text(origin, n):
    """The configuration of the nth reload: each section has keys that are new each time."""
    more = {"http2": "on" if n % 2 else "off", "header-timeout": f"{10 + n % 50}s"}
    extra = {
        "listen:second": {"address": "127.0.0.1:0", "max-streams": str(100 + n % 50), "max-window": f"{16 + n % 9}M"},
        "spool:default": {
            "max-size": f"{2 + n % 3}G",
            "expire-after": f"{10 + n % 9}h",
            "max-age": f"{2 + n % 5}d",
            "durability": "none" if n % 4 == 3 else "data",
            "max-uploads-per-client": str(1000 + n % 99),
            "max-share-per-client": f"{50 + n % 50}%",
        },
    }
    if n % 3 == 0:
        extra["listen:third"] = {"address": "127.0.0.2:0"}
    if n % 5 == 0:
        extra["cache:other"] = {"path": "other", "min-free": "64M", "max-size": "64M"}
        extra["site:other"] = {"host": "other.test", "upstream": "app", "cache": "other"}
    return config(
        origin.url,
        pawl={
            "max-connections": str(3000 + n),
            "trusted-proxies": f"192.0.2.{n % 250}",
            "drain-timeout": f"{5 + n % 9}s",
            "log-level": "notice",
        },
        listen={
            **more,
            "keepalive-timeout": f"{20 + n % 30}s",
            "send-timeout": f"{30 + n % 30}s",
            "max-header": f"{16 + n % 16}K",
        },
        cache={
            "min-free": f"{64 + n % 8}M",
            "max-size": f"{2 + n % 4}G",
            "memory": f"{n % 64}M",
            "memory-object": f"{n % 32}K",
            "packed-object": f"{n % 3 * 64}K",
        },
        upstream={
            "connect-timeout": f"{2 + n % 5}s",
            "max-connections": str(64 + n % 64),
            "queue-timeout": f"{20 + n % 9}s",
        },
        site={
            "min-resumable": "0",
            "max-ranges": str(1 + n % 16),
            "max-object": f"{64 + n % 9}M",
            "stale-if-error": f"{n}s",
        },
        extra=extra,
    )


def load_origin(scenario):
    """The application of `Load`: bodies that are kept, small and large, one that is not, and uploads."""
    origin = scenario.bench.origin()
    origin.default, origin.contents = stored, {}
    for path, size, fields in (
        [(f"/kept/{n}", 2 * MIB, KEPT) for n in range(7)]
        + [(f"/small/{n}", 20_000, KEPT) for n in range(7)]
        + [("/passed", 4 * MIB, NO_STORE)]
    ):
        origin.contents[path] = Content(path, size)
        origin.at(path, Resource(origin.contents[path], fields=fields))
    return origin


class Load:
    """What goes on meanwhile, and what went wrong."""

    def __init__(self, scenario, origin, pawl):
        self.scenario, self.origin, self.pawl = scenario, origin, pawl
        self.over, self.lock = threading.Event(), threading.Lock()
        self.counts, self.uploads = {}, 0

    def run(self):
        work = [self.kept, self.kept, self.passed, self.small, self.upload, self.upload, self.knock]
        self.threads = [threading.Thread(target=self.loop, args=(each,), daemon=True) for each in work]
        for thread in self.threads:
            thread.start()

    def loop(self, work):
        turn = 0
        while not self.over.is_set() and len(self.scenario.failures) < 10:
            turn += 1
            try:
                work(turn)
            except Exception as error:  # whatever it is, a client met it
                self.scenario.require(False, f"{work.__name__}: {type(error).__name__}: {error}")
            with self.lock:
                self.counts[work.__name__] = self.counts.get(work.__name__, 0) + 1

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(60)

    def download(self, address, path, content):
        answer = get(address, path, keep=False, timeout=60)
        self.scenario.require(
            (answer.status, answer.complete, answer.sha) == (200, True, content.sha256()),
            f"a download of {path}: {answer}",
        )

    def kept(self, turn):
        path = f"/kept/{turn % 7}"
        self.download(self.pawl.addresses[turn % 2], path, self.origin.contents[path])

    def small(self, turn):
        path = f"/small/{turn % 7}"
        self.download(self.pawl.addresses[turn % 2], path, self.origin.contents[path])

    def passed(self, turn):
        self.download(self.pawl.addresses[turn % 2], "/passed", self.origin.contents["/passed"])

    def upload(self, turn):
        with self.lock:
            self.uploads += 1
            target = f"/in/{self.uploads}"
        body = Content(target, 300_000).read()
        answer = create(self.pawl.addresses[0], D, body, target=target, timeout=30)
        self.scenario.require(answer.status == 200, f"an upload: {answer}")
        delivered = len(whole(self.origin, target))
        self.scenario.require(delivered == 1, f"{target} was delivered {delivered} times")

    def knock(self, turn):
        port = int(self.pawl.addresses[turn % 2].rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port), 5).close()
        time.sleep(0.002)


def reloads(pawl):
    return len(re.findall(r" reloaded$", pawl.log(), re.MULTILINE))


def reload(pawl, octets):
    before = reloads(pawl)
    pawl.file.write_text(octets)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: reloads(pawl) > before or "reload-failed" in pawl.log(), 30, "the reload")


def run(scenario):
    count, more = (15, 100) if scenario.quick else (100, 1000)
    origin = load_origin(scenario)
    pawl = scenario.bench.pawl(origin, start=False)
    pawl.file.write_text(text(origin, 0))
    pawl.start(ready=2)
    transport.register(pawl.addresses[1], "h2c")
    load = Load(scenario, origin, pawl)
    load.run()
    begun = time.monotonic()
    for n in range(1, count + 1):
        reload(pawl, text(origin, n))
        time.sleep(0.05)
    took = time.monotonic() - begun
    load.end()
    scenario.figure("reloads under load", reloads(pawl), count, at_least=True)
    scenario.figure("seconds", round(took, 1))
    for what, value in sorted(load.counts.items()):
        scenario.figure(f"of {what}", value, 1, at_least=True)
    scenario.require("reload-failed" not in pawl.log(), f"a reload failed: {pawl.log()[-600:]}")
    scenario.require("reload-partial" not in pawl.log(), f"a key needs a restart: {pawl.log()[-600:]}")
    for n in range(20):
        reload(pawl, text(origin, n))
    before, descriptors = pawl.own_rss(), pawl.descriptors()
    for n in range(more):
        reload(pawl, text(origin, n % 20))
    scenario.figure(f"MiB more after {more} reloads", round((pawl.own_rss() - before) / MIB, 1), 16)
    scenario.figure("descriptors more", pawl.descriptors() - descriptors, 16)
