"""Rows about what a server does on two cores and asks the kernel for: loops, system calls."""

import re
import signal
import subprocess
import threading
import time

import load
import running
from goals import Goal, Limit
from rows import KIB, Row
from running import Failure, Skip, start, stop


class Loops(Row):
    """CPU a request of two loops on two cores against one loop; the load shares the cores where there are no others."""

    def __init__(self, name):
        super().__init__(
            name,
            "two loops on two cores, 1 KiB",
            "/bytes/1024/a",
            KIB,
            ["pawl", "nginx"],
            [Goal("bar", "pawl with one loop", 1.15)],
        )

    def sides(self, bench, skipped):
        found = []
        for name in self.peers:
            if bench.wanted and name not in bench.wanted:
                continue
            for workers in (2, 1):
                try:
                    side = bench.server(name, workers=workers).sides("clear")[0]
                except Skip as why:
                    skipped[name] = str(why)
                    continue
                side.variant = "two loops" if workers == 2 else "one loop"
                side.peer = name if workers == 2 else f"{name} with one loop"
                found.append(side)
        return found

    def measure(self, bench, side, turn):
        free = running.CORES[2:] or running.CORES
        cores = [running.LOAD] if side.server.workers == 1 else free[:2] if len(free) > 1 else free
        return load.own(bench, side, self.path, self.length, seconds=bench.seconds, cores=cores)

    def run(self, bench):
        result = super().run(bench)
        bench.stop_servers()
        return result


def attached(strace):
    """Until it says of one more process that it follows its calls."""
    timer = threading.Timer(10, strace.kill)
    timer.start()
    line = strace.stderr.readline()
    timer.cancel()
    if "attached" not in line:
        raise Failure(f"strace: {line.strip()}")


class Trace:
    """strace at the processes of a server."""

    def __init__(self, bench, side):
        self.said, self.pids, self.process = bench.folder / "strace", side.server.processes.pids, None

    def begin(self):
        """Follows all of them; what is answered ends it."""
        self.process = start(
            ["strace", "-c", "-f", "-o", self.said, *(word for pid in self.pids for word in ("-p", str(pid)))],
            {running.LOAD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in self.pids:
            attached(self.process)
        return self.end

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)
        self.stop()

    def stop(self):
        if self.process:
            stop(self.process)
            self.process = None

    def calls(self):
        """How often each was called."""
        found = {}
        for line in self.said.read_text().splitlines():
            words = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line)
            if words and words.group(2) != "total":
                found[words.group(2)] = int(words.group(1))
        return found


class Calls(Row):
    """System calls of a request, as strace counts them, on one connection."""

    unit = "calls"

    def __init__(self, name, title, length, most):
        super().__init__(
            name,
            title,
            f"/bytes/{length}/a",
            length,
            ["pawl", "nginx", "haproxy", "trafficserver", "h2o", "floor:write", "floor:sendfile"],
            [Limit("bar", most, "calls")],
        )

    def run(self, bench):
        rounds, bench.rounds = bench.rounds, 1
        try:
            return super().run(bench)
        finally:
            bench.rounds = rounds

    def sides(self, bench, skipped):
        return [each for each in super().sides(bench, skipped) if each.variant != "tcp_nopush on"]

    def prepare(self, bench, side):
        if side.peer == "h2o" and self.length not in side.server.sizes:
            raise Failure("not among its files")
        super().prepare(bench, side)
        load.rest(side.server.processes)

    def measure(self, bench, side, turn):
        """What is called while requests are answered, less what is called in the same time without any."""
        side.server.processes.refresh()
        count, trace = 200 if bench.quick else 1000, Trace(bench, side)
        try:
            work = load.own(bench, side, self.path, self.length, connections=1, count=count, between=trace.begin)
            busy = trace.calls()
            end = trace.begin()
            time.sleep(work.seconds)
            end()
            idle = trace.calls()
        finally:
            trace.stop()
        work.more = {
            "calls": {name: round(each / count, 3) for name, each in busy.items()},
            "idle": {name: round(each / count, 3) for name, each in idle.items()},
        }
        return work

    def cost(self, work):
        """To a tenth: a connection that closes is not a request's."""
        return round(sum(max(0, each - work.more["idle"].get(name, 0)) for name, each in work.more["calls"].items()), 1)

    def summary(self, side, works):
        made = super().summary(side, works)
        made["detail"] = ", ".join(
            f"{each:g} {name}"
            for name, each in sorted(works[0].more["calls"].items(), key=lambda pair: -pair[1])
            if each >= 0.05
        )
        return made
