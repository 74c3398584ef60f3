"""Restarts with socket activation: every download is whole after its client's own resumption, no connection is refused.

SIGTERM, the end, and a new process with the same listening sockets, which the test holds as systemd does.
"""

import time

from checks.lifecycle import activated
from crowdload import Crowd
from harness.process import wait_for


def run(scenario):
    count, size = (3, 20) if scenario.quick else (20, 100)
    origin = scenario.bench.origin()
    pawl = activated(
        scenario.bench,
        origin,
        pawl={"drain-timeout": "2s", "log-level": "notice"},
        site={"min-resumable": "0"},
        upstream={"max-connections": "500", "max-share-per-client": "100%"},
        extra={"spool:default": {"max-share-per-client": "100%"}},
    )
    pawl.start()
    crowd = Crowd(scenario, origin, pawl.addresses, size, size, 4 << 20)  # longer than a drain
    crowd.begin()
    took = []
    for _ in range(count):
        before = dict(crowd.counts)
        time.sleep(2)  # so that all of them are in the middle of something
        begun = time.monotonic()
        code = pawl.stop(30)
        scenario.require(code == 0, f"pawl ended with {code}")
        pawl.start()
        took.append(round((time.monotonic() - begun) * 1000))
        wait_for(lambda before=before: crowd.counts["uploads"] > before["uploads"], 30, "an upload after the restart")
    crowd.end()
    took.sort()
    scenario.figure("restarts", len(took), count, at_least=True)
    scenario.figure("restart, median", took[len(took) // 2], unit="ms")
    crowd.report(may_break=True)
