"""Rows about what a server holds and asks the kernel for: idle connections, loops, system calls."""

import re
import signal
import socket
import statistics
import subprocess
import threading
import time

import load
import running
from goals import Goal, Limit
from rows import KIB, Row
from running import MISHAPS, Failure, Skip, start, stop

REQUEST = b"GET /bytes/1024/a HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Idle(Row):
    """Memory for each idle keep-alive connection of a fresh process that has seen a load before, and its CPU while they are idle."""

    unit = "bytes"

    def __init__(self, name):
        super().__init__(name, "10,000 idle keep-alive connections", "/bytes/1024/a", KIB, ["pawl", "nginx", "haproxy", "trafficserver", "varnish"],
                         [Limit("bar", 700, "bytes each"), Limit("aim", 500, "bytes each"), Limit("bar", 0.005, "of a core while idle", "idle")])

    def run(self, bench):
        self.count = 2000 if bench.quick else 10_000
        result = {"name": self.name, "title": self.title, "unit": self.unit, "peers": [], "skipped": {}, "wanted": [each.text() for each in self.goals]}
        figures = {}
        for turn in range(1 if bench.quick else 3):
            for name in self.peers:
                if (bench.wanted and name not in bench.wanted) or name in result["skipped"] or (turn and name not in ("pawl", "nginx")):
                    continue
                try:
                    figures.setdefault(name, []).append(self.once(bench, name))
                except MISHAPS as why:
                    result["skipped"][name] = str(why) or repr(why)
        for name, found in figures.items():
            costs = [each["bytes"] for each in found]
            result["peers"].append({"name": name, "peer": name, "variant": "", "cost": round(statistics.median(costs), 1), "costs": costs, "rate": None,
                                    "idle": statistics.median(each["idle"] for each in found), "memory": found[0]["memory"], "rounds": found})
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        return result

    def once(self, bench, name):
        server = bench.server(name, idle=True)
        try:
            side = server.sides("clear")[0]
            bench.prepare(side, self.path, self.length)
            load.own(bench, side, self.path, self.length, seconds=1)
            load.rest(server.processes)
            before = server.processes.memory()
            connections = []
            try:
                self.open(side, connections)
                load.rest(server.processes)
                after, reading = server.processes.memory(), server.processes.read()
                seconds = 2 if bench.quick else 5
                time.sleep(seconds)
                idle = server.processes.since(reading) / seconds
                for connection in connections[::max(1, self.count // 100)]:  # they are still there
                    ask(connection)
            finally:
                for connection in connections:
                    connection.close()
            return {"bytes": round((after["pss"] - before["pss"]) / self.count, 1), "rss": round((after["rss"] - before["rss"]) / self.count, 1), "idle": round(idle, 5), "memory": after}
        finally:
            bench.stop_servers(name)

    def open(self, side, connections):
        """From several addresses, so that ports do not run short; a request on each."""
        for number in range(self.count):
            connection = socket.socket()
            connections.append(connection)
            connection.settimeout(20)
            connection.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            connection.bind((f"127.0.0.{2 + number // 2500}", 0))
            connection.connect(("127.0.0.1", side.port))
            ask(connection)


def ask(connection):
    """One request, its answer whole."""
    connection.sendall(REQUEST)
    got = b""
    while len(got) < 1024 or len(got) - got.find(b"\r\n\r\n") - 4 < 1024:
        data = connection.recv(8192)
        if not data:
            raise Failure("an idle connection was closed")
        got += data
    if not got.startswith(b"HTTP/1.1 200"):
        raise Failure(f"unexpected answer: {got[:60]}")


class Loops(Row):
    """CPU a request of two loops on two cores against one loop; the load shares the cores where there are no others."""

    def __init__(self, name):
        super().__init__(name, "two loops on two cores, 1 KiB", "/bytes/1024/a", KIB, ["pawl", "nginx"], [Goal("bar", "pawl with one loop", 1.15)])

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
        self.process = start(["strace", "-c", "-f", "-o", self.said, *(word for pid in self.pids for word in ("-p", str(pid)))],
                             {running.LOAD}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
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
        super().__init__(name, title, f"/bytes/{length}/a", length, ["pawl", "nginx", "haproxy", "trafficserver", "h2o", "floor:write", "floor:sendfile"], [Limit("bar", most, "calls")])

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
        work.more = {"calls": {name: round(each / count, 3) for name, each in busy.items()}, "idle": {name: round(each / count, 3) for name, each in idle.items()}}
        return work

    def cost(self, work):
        """To a tenth: a connection that closes is not a request's."""
        return round(sum(max(0, each - work.more["idle"].get(name, 0)) for name, each in work.more["calls"].items()), 1)

    def summary(self, side, works):
        made = super().summary(side, works)
        made["detail"] = ", ".join(f"{each:g} {name}" for name, each in sorted(works[0].more["calls"].items(), key=lambda pair: -pair[1]) if each >= 0.05)
        return made
