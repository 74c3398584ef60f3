"""The row about latency: small hits at a steady rate while a large cold fill runs and the file system is busy."""

import statistics
import subprocess
import sys
import time

import load
import running
from goals import Goal
from rows import GIB, KIB, Row
from running import start, stop

BUSY = """
import os, sys
block = os.urandom(1 << 20)
while True:
    with open(sys.argv[1], "wb", buffering=0) as file:
        for _ in range(16):
            for _ in range(16):
                file.write(block)
            os.fdatasync(file.fileno())
"""


class Tail(Row):
    """Each round with fresh processes: the fill begins, another program writes and syncs, and then hits of 1 KiB are
    asked for in an open loop."""

    unit = "us"

    def __init__(self, name):
        super().__init__(
            name,
            "99th percentile of 1 KiB hits at 60 % of the peak rate, during a cold fill of 10 GiB",
            "/bytes/1024/a",
            KIB,
            ["pawl", "nginx"],
            [Goal("bar", "nginx", 1), Goal("aim", "nginx", 0.5)],
        )

    def run(self, bench):
        bench.stop_servers()
        self.seconds, self.rates = 3 if bench.quick else 8, {}
        rounds, bench.rounds = bench.rounds, min(2, bench.rounds) if bench.quick else bench.rounds
        try:
            return super().run(bench)
        finally:
            bench.rounds = rounds

    def sides(self, bench, skipped):
        """The peak of each, with nothing else going on; the rate is that of the slower."""
        found = [each for each in super().sides(bench, skipped) if each.variant != "tcp_nopush on"]
        for side in found:
            bench.prepare(side, self.path, self.length)
            self.rates[side.peer] = statistics.median(
                self.rate(load.own(bench, side, self.path, self.length, seconds=1)) for _ in range(3)
            )
        bench.stop_servers()
        return found

    def prepare(self, bench, side):
        """Each round has a server of its own."""

    def measure(self, bench, side, turn):
        rate = round(0.6 * min(self.rates.values()))
        fresh = bench.server(side.peer, round=turn).sides("clear")[0]
        reader = writer = None
        try:
            bench.prepare(fresh, self.path, self.length)
            writer = start(
                [sys.executable, "-c", BUSY, bench.folder / "busy"], {running.LOAD}, stdin=subprocess.DEVNULL
            )
            reader = start(
                [
                    bench.tool("load"),
                    "--port",
                    fresh.port,
                    "--path",
                    f"/bytes/{10 * GIB}/tail-{turn}",
                    "--length",
                    10 * GIB,
                    "--connections",
                    1,
                    "--count",
                    1,
                ],
                {running.LOAD},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            reader.stdout.readline()
            reader.stdin.write("\n")
            reader.stdin.flush()
            time.sleep(0.5)
            before = bench.origin.counts()[1]
            work = load.steady(bench, fresh, self.path, self.length, rate, self.seconds)
            fresh.server.processes.refresh()
            work.more |= {
                "rate": rate,
                "peak": round(self.rates[side.peer]),
                "filled": bench.origin.counts()[1] - before,
                "memory": fresh.server.processes.memory(),
            }
            return work
        finally:
            for each in (reader, writer):
                if each:
                    stop(each)
            bench.origin.counts("/break")
            bench.stop_servers(side.peer)
            (bench.folder / "busy").unlink(missing_ok=True)

    def cost(self, work):
        return work.more["p99"]

    def summary(self, side, works):
        made = {
            "name": side.name,
            "peer": side.peer,
            "variant": side.variant,
            "rate": works[0].more["rate"],
            "memory": works[-1].more["memory"],
            "rounds": [each.figures() for each in works],
        }
        made["costs"] = [self.cost(each) for each in works]
        made["cost"] = round(statistics.median(made["costs"]), 1)
        middle = {
            name: statistics.median(each.more[name] for each in works)
            for name in ("p50", "p90", "p999", "max", "filled", "peak")
        }
        made["detail"] = (
            f"p50 {middle['p50']:,.0f}, p90 {middle['p90']:,.0f}, p99.9 {middle['p999']:,.0f}, worst "
            f"{middle['max']:,.0f} us; {middle['filled'] / 1e6 / self.seconds:,.0f} MB/s filled meanwhile; peak "
            f"{middle['peak']:,.0f}/s"
        )
        return made
