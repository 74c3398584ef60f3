"""Upgrades under load: no download breaks, no connection is refused, uploads go on, nothing is delivered twice.

A hundred downloads and a hundred uploads run at any time, in HTTP/1.1 and HTTP/2, while a new process takes over from
the running one, again and again.
"""

import time

from checks.upgrade import gone, pids_of, upgrade
from crowdload import Crowd, second_listener
from harness.process import wait_for


def run(scenario):
    count, size = (3, 20) if scenario.quick else (20, 100)
    origin = scenario.bench.origin()
    pawl = scenario.bench.pawl(
        origin,
        pawl={"drain-timeout": "10s", "log-level": "notice"},
        site={"min-resumable": "0"},
        upstream={"max-connections": "500", "max-share-per-client": "100%"},
        extra={
            "listen:second": {"address": "127.0.0.1:0", "http2": "on"},
            "spool:default": {"max-share-per-client": "100%"},
        },
        start=False,
    )
    pawl.start(ready=2)
    second_listener(pawl)
    crowd = Crowd(scenario, origin, pawl.addresses, size, size)
    crowd.begin()
    gaps = []
    for _ in range(count):
        before = dict(crowd.counts)
        time.sleep(2)  # so that all of them are in the middle of something
        old = pids_of(pawl)
        gaps.append(upgrade(scenario.bench, pawl))
        wait_for(lambda before=before: crowd.counts["uploads"] > before["uploads"], 30, "an upload after the upgrade")
        wait_for(lambda old=old: gone(old), 60, "the end of the old process")
    crowd.end()
    gaps.sort()
    scenario.figure("upgrades", len(gaps), count, at_least=True)
    scenario.figure("gap, median", gaps[len(gaps) // 2], unit="ms")
    scenario.figure("gap, longest", gaps[-1], unit="ms")
    crowd.report(may_break=False)
