"""The loads, each behind one function that answers a Work: what was done, and the CPU that a server took for it."""

import json
import re
import signal
import subprocess
import threading
import time

import running
from running import Failure, start, stop

PERCENTILES = ("p50", "p90", "p99", "p999", "max")


def latency(found):
    return f"p50 {found['p50']:,.0f}, p99 {found['p99']:,.0f}, worst {found['max']:,.0f} us"


class Work:
    """What a load did: answers, bytes of bodies, seconds on the clock, and CPU seconds of the server meanwhile."""

    def __init__(self, count, octets, seconds, cpu, **more):
        self.count, self.octets, self.seconds, self.cpu, self.more = count, octets, seconds, cpu, more

    def figures(self):
        return {
            "count": self.count,
            "bytes": self.octets,
            "seconds": round(self.seconds, 6),
            "cpu": round(self.cpu, 6),
            **self.more,
        }


def finish(process, seconds, name):
    """The words of a load that ended well."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        out, error = process.communicate()
    finally:
        timer.cancel()
        stop(process)
    if process.returncode:
        raise Failure(
            f"{name}: "
            f"{error.strip() or ('it took too long' if process.returncode == -signal.SIGKILL else process.returncode)}"
        )
    return out


def driven(side, loads, settle=False, between=None, most=600):
    """Programs of this folder that open their connections, say "ready", wait for a line, work, and say what they did.
    `loads`: of each its words and its core. What they said, and the server's CPU between the two; with `settle` until
    the server has nothing more to do. `between` is called when all are ready, and what it answers when all is done.
    `most`: seconds after which a load is ended that is not done."""
    started = []
    try:
        for words, core in loads:
            started.append(
                start(
                    words,
                    {core},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                )
            )
        for process in started:
            timer = threading.Timer(60, process.kill)
            timer.start()
            ready = process.stdout.readline()
            timer.cancel()
            if ready != "ready\n":
                raise Failure(f"{side.name}: {process.stderr.read().strip()}")
        side.server.processes.refresh()
        after = between() if between else None
        before = side.server.processes.read()
        for process in started:
            process.stdin.write("\n")
            process.stdin.flush()
        timers = [threading.Timer(most, process.kill) for process in started]
        for timer in timers:
            timer.start()
        said = [process.stdout.readline().split() for process in started]
        for timer in timers:
            timer.cancel()
        if after:
            after()
        if settle and all(said):
            rest(side.server.processes)
        cpu = side.server.processes.since(before)
        for process in started:
            finish(process, 60, side.name)
        return said, cpu
    finally:
        for process in started:
            stop(process)


def rest(processes, seconds=20, pause=0.2, least=0.004):
    """Until the processes do nothing worth a word (Traffic Server looks around for 1 % of a core): what they still had
    to do is theirs to account for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = processes.read()
        time.sleep(pause)
        if processes.since(before) < least:
            return


def own(
    bench,
    side,
    path,
    length,
    status=200,
    connections=64,
    seconds=2.0,
    count=0,
    ranges=0,
    seed=1,
    check=True,
    settle=False,
    cores=None,
    between=None,
):
    """HTTP/1.1 by the C program of this folder, one for each of the cores. The server's CPU is read when all
    connections are open and warm, and when all is answered."""
    cores = cores or [running.LOAD]
    words = [
        bench.tool("load"),
        "--port",
        side.port,
        "--path",
        path,
        "--status",
        status,
        "--length",
        length,
        "--connections",
        connections // len(cores),
        "--seed",
        seed,
        *(["--count", count] if count else ["--seconds", seconds]),
        *(["--ranges", ranges] if ranges else []),
        *(["--tls"] if side.secure else []),
        *(["--file", bench.content] if check else []),
    ]
    said, cpu = driven(side, [(words, core) for core in cores], settle, between)
    answers, octets, took, first = zip(*said)
    return Work(sum(map(int, answers)), sum(map(int, octets)), max(map(float, took)), cpu, first_ms=float(first[0]))


def open_loop(bench, side, path, length, rate, seconds, connections=64):
    """So many requests a second, whether or not others have ended: percentiles of the time from when each was due, in
    microseconds."""
    words = [
        bench.tool("load"),
        "--port",
        side.port,
        "--path",
        path,
        "--length",
        length,
        "--connections",
        connections,
        "--seconds",
        seconds,
        "--rate",
        rate,
    ]
    [said], cpu = driven(side, [(words, running.LOAD)])
    return Work(int(said[0]), int(said[1]), float(said[2]), cpu, **dict(zip(PERCENTILES, map(float, said[4:]))))


def site(
    bench,
    side,
    objects,
    sizes,
    count=0,
    seconds=2.0,
    zipf=0,
    close=False,
    tls="full",
    connections=64,
    seed=1,
    settle=False,
    most=600,
):
    """Many objects of a site by the C program of this folder: percentiles of the time from asking to the last byte, in
    microseconds."""
    low, high = sizes
    words = [
        bench.tool("site"),
        "--port",
        side.port,
        "--file",
        bench.content,
        "--objects",
        objects,
        "--sizes",
        f"{low}-{high}",
        "--connections",
        connections,
        "--seed",
        seed,
        *(["--count", count] if count else ["--seconds", seconds]),
        *(["--zipf", zipf] if zipf else []),
        *(["--close"] if close else []),
        *(["--tls", tls] if side.secure else []),
    ]
    [said], cpu = driven(side, [(words, running.LOAD)], settle, most=most)
    return Work(int(said[0]), int(said[1]), float(said[2]), cpu, **dict(zip(PERCENTILES, map(float, said[3:]))))


def connect(bench, side, path, length, seconds=2.0, seed=1, tls="full"):
    """One object of a site, a new connection for each request."""
    return site(bench, side, 1, (length, length), seconds=seconds, close=True, tls=tls, seed=seed)


def upload(bench, side, path, length, connections=1, count=1, method="POST", fields=(), settle=True, **_):
    """Uploads by the C program of this folder, `connections` at a time, `count` in all; until the server has nothing
    more to do."""
    head = "\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *fields, "", ""])
    words = [
        bench.tool("uploader"),
        "--port",
        side.port,
        "--head",
        head,
        "--length",
        length,
        "--file",
        bench.content,
        "--count",
        count,
        "--connections",
        connections,
    ]
    [(uploads, octets, took)], cpu = driven(side, [(words, running.LOAD)], settle)
    return Work(int(uploads), int(octets), float(took), cpu)


def counted(side, words, seconds, name):
    side.server.processes.refresh()
    before = side.server.processes.read()
    process = start(
        words,
        {running.LOAD},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    out = finish(process, seconds + 60, name)
    return out, side.server.processes.since(before)


def wrk(bench, side, path, length, seconds=2, ranges=0, seed=1, **_):
    """HTTP/1.1 by wrk; connections and handshakes are in the CPU."""
    seconds = max(1, round(seconds))
    words = ["wrk", "-t1", "-c64", f"-d{seconds}s"]
    if ranges:
        script = bench.folder / "ranges.lua"
        script.write_text(
            f"math.randomseed({seed})\nrequest = function()\n  local first = math.random(0, {ranges // length - 1}) "
            f"* {length}\n"
            f"  return wrk.format('GET', '{path}', {{['Range'] = string.format('bytes=%d-%d', first, first + "
            f"{length - 1})}})\nend\n"
        )
        words += ["-s", script]
    out, cpu = counted(side, [*words, side.url(path)], seconds, f"wrk at {side.name}")
    if "Non-2xx" in out or "Socket errors" in out:
        raise Failure(f"{side.name}: {out}")
    count = int(re.search(r"(\d+) requests in", out).group(1))
    return Work(count, count * length, seconds, cpu)


def h2load(bench, side, path, length, seconds=2, connections=64, streams=10, **_):
    """HTTP/2 over TLS by h2load; connections and handshakes are in the CPU."""
    seconds = max(1, round(seconds))
    out, cpu = counted(
        side,
        ["h2load", "-t1", f"-c{connections}", f"-m{streams}", "-D", seconds, side.url(path)],
        seconds,
        f"h2load at {side.name}",
    )
    done, failed = map(int, re.search(r"(\d+) succeeded, (\d+) failed", out).groups())
    if failed or not done or "h2" not in out:
        raise Failure(f"{side.name}: {out}")
    return Work(done, done * length, seconds, cpu)


def bencher(bench, side, scenario, path, words, seconds):
    """pawl-bench at a server: its report, CPU of the server's processes during the measured time among it. Everything
    received has to be right."""
    report = bench.folder / "pawl-bench.json"
    process = start(
        [
            bench.bencher,
            scenario,
            side.url(path),
            "--core",
            running.LOAD,
            "--duration",
            seconds,
            "--warm-up",
            0.3,
            "--process",
            side.server.process.pid,
            "--json",
            report,
            "--quiet",
            *(["--insecure", "--tls-min", "1.3"] if side.secure else []),
            *words,
        ],
        {running.LOAD},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    finish(process, seconds + 60, f"pawl-bench at {side.name}")
    found = json.loads(report.read_text())
    counts, process = found["counts"], found["process"]
    if counts["failures"] or not counts["completed"]:
        raise Failure(f"{side.name}: {counts}")
    return Work(
        counts["completed"],
        counts["received"],
        found["seconds"],
        process["user"] + process["system"],
        p50=found["latency"]["p50"],
        p90=found["latency"]["p90"],
        p99=found["latency"]["p99"],
        p999=found["latency"]["p999"],
        max=found["latency"]["max"],
    )


def http2(bench, side, path, length, seconds=2.0, connections=64, streams=10, **_):
    """The load of HTTP/2 that was chosen: the same answer, ten streams on each connection."""
    if bench.load != "bench":
        return h2load(bench, side, path, length, seconds, connections, streams)
    return bencher(bench, side, "hit", path, ["--http2", "--streams", streams, "--connections", connections], seconds)


def steady(bench, side, path, length, rate, seconds, connections=64):
    """The open loop that was chosen: so many requests a second."""
    if bench.load != "bench":
        return open_loop(bench, side, path, length, rate, seconds, connections)
    return bencher(bench, side, "hit", path, ["--rate", rate, "--connections", connections], seconds)


def http1(bench, side, path, length, **more):
    """The load of HTTP/1.1 that was chosen. Large bodies and ranges of them are always for the program in C: it throws
    them away in the kernel, where pawl-bench would hold all of the body to compare with."""
    if more.get("count") or bench.load == "own" or (more.get("ranges") and bench.load == "bench"):
        return own(bench, side, path, length, **more)
    if bench.load == "wrk":
        return wrk(bench, side, path, length, **more)
    connections = ["--connections", more.get("connections", 64), "--seed", more.get("seed", 1)]
    return bencher(
        bench, side, "hit", path, [*connections, *(["--no-compare"] if length > 65536 else [])], more["seconds"]
    )
