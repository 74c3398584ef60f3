"""The rows of the comparison: what is asked of whom, and what pawl has to reach."""

import statistics

import load
from running import Failure, Skip

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Goal:
    """pawl's figure at most `factor` times that of a peer; `what`: "cost", or "rate", which is to be at least that."""

    def __init__(self, kind, peer, factor, what="cost"):
        self.kind, self.peer, self.factor, self.what = kind, peer, factor, what

    def judge(self, peers):
        """Ratio to the best variant of the peer and whether it is met; None where either is missing."""
        mine, other = best(peers, "pawl", self.what), best(peers, self.peer, self.what)
        if mine is None or other is None:
            return None
        ratio = mine / other if other else float("inf")
        return {"kind": self.kind, "peer": self.peer, "what": self.what, "factor": self.factor, "ratio": round(ratio, 4),
                "met": ratio >= self.factor if self.what == "rate" else ratio <= self.factor}

    def text(self):
        return f"{self.kind} {'>=' if self.what == 'rate' else '<='} {self.factor:g} x {self.peer}{' in throughput' if self.what == 'rate' else ''}"


def best(peers, name, what):
    figures = [each[what] for each in peers if each["peer"] == name and each.get(what) is not None]
    return (max if what == "rate" else min)(figures) if figures else None


def goals(bar, aim, peer="nginx"):
    return [Goal("bar", peer, bar), *([Goal("aim", peer, aim)] if aim else [])]


class Row:
    """A row where interleaved rounds of one load are measured."""

    unit, per = "us", 1e6

    def __init__(self, name, title, path, length, peers, wanted, kind="clear", how=load.http1, warm=True, cost=None, options=None, **more):
        self.name, self.title, self.path, self.length, self.peers, self.goals = name, title, path, length, peers, wanted
        self.kind, self.how, self.warm, self.more, self.options = kind, how, warm, more, options or {}
        if cost == "octets":
            self.unit = "s/GB"

    def sides(self, bench, skipped):
        found = []
        peers = [*self.peers, *(["pawl-before"] if bench.before and "pawl" in self.peers else [])]
        for each in peers:
            name, *store = each.split(":")
            if bench.wanted and name.removesuffix("-before") not in bench.wanted:
                continue
            more = self.options.get(name.removesuffix("-before"), {})
            if store:
                more = {**more, {"varnish": "store", "floor": "how"}[name]: store[0]}
            try:
                found += bench.server(name, **more).sides(self.kind)
            except Skip as why:
                skipped[each] = str(why)
        return found

    def prepare(self, bench, side):
        """The answer is right, and kept."""
        length = self.more.get("ranges") or self.length
        if self.warm:
            bench.prepare(side, self.path, length)
        else:
            bench.probe(side, self.path, length)

    def measure(self, bench, side, turn):
        return self.how(bench, side, self.path, self.length, seconds=bench.seconds, seed=turn + 1, **self.more)

    def cost(self, work):
        return work.cpu / work.octets * 1e9 if self.unit == "s/GB" else work.cpu / work.count * self.per

    def rate(self, work):
        return work.octets / work.seconds / 1e6 if self.unit == "s/GB" else work.count / work.seconds

    def run(self, bench):
        result = {"name": self.name, "title": self.title, "unit": self.unit, "peers": [], "skipped": {}}
        rounds = {}
        for side in self.sides(bench, result["skipped"]):
            try:
                self.prepare(bench, side)
                rounds[side] = []
            except Failure as why:
                result["skipped"][side.name] = str(why)
        before = bench.origin.counts()[0]
        for turn in range(bench.rounds):
            for side in list(rounds):
                try:
                    rounds[side].append(self.measure(bench, side, turn))
                except Failure as why:
                    result["skipped"][side.name] = str(why)
                    del rounds[side]
        if self.warm and rounds and bench.origin.counts()[0] != before:
            result["skipped"]["all"] = f"the origin was asked {bench.origin.counts()[0] - before} times for what is kept"
        for side, works in rounds.items():
            result["peers"].append(self.summary(side, works))
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        result["wanted"] = [each.text() for each in self.goals]
        return result

    def summary(self, side, works):
        costs = [self.cost(each) for each in works]
        return {"name": side.name, "peer": side.peer, "variant": side.variant, "cost": round(statistics.median(costs), 4), "costs": [round(each, 4) for each in costs],
                "rate": round(statistics.median(self.rate(each) for each in works), 1), "memory": side.server.processes.memory(), "rounds": [each.figures() for each in works]}


def every():
    """All rows, in the order of the table."""
    both = ["pawl", "nginx"]
    caches = [*both, "haproxy", "varnish", "trafficserver", "h2o", "floor:write", "floor:sendfile"]
    large = [*both, "varnish", "varnish:file", "trafficserver"]
    return [
        Row("hit-1k", "cached hit, 1 KiB", "/bytes/1024/a", KIB, caches, [*goals(0.65, 0.58), Goal("bar", "haproxy", 1), Goal("aim", "h2o", 1)]),
        Row("hit-16k", "cached hit, 16 KiB", "/bytes/16384/a", 16 * KIB, caches, goals(0.78, 0.70)),
        Row("hit-256k", "cached hit, 256 KiB", "/bytes/262144/a", 256 * KIB, caches, [Goal("bar", "nginx", 0.95), Goal("aim", "sendfile in C", 1.05)]),
        Row("large", "cached hit, 1 GiB", f"/bytes/{GIB}/a", GIB, [*large, "floor:sendfile"], [*goals(0.95, 0.85), Goal("bar", "nginx", 1, "rate")], cost="octets", connections=1, count=1),
        Row("ranges", "random 64 KiB ranges of 1 GiB", f"/bytes/{GIB}/a", 64 * KIB, large, [*goals(0.75, 0.65), Goal("bar", "varnish", 0.55)], status=206, ranges=GIB),
        Row("log", "1 KiB with access log", "/bytes/1024/a", KIB, both, goals(0.70, 0.62), kind="log", options={"pawl": {"log": True}}),
        Row("tls-1k", "TLS 1.3, 1 KiB", "/bytes/1024/a", KIB, both, goals(0.65, 0.58), kind="tls"),
        Row("tls-16k", "TLS 1.3, 16 KiB", "/bytes/16384/a", 16 * KIB, both, goals(0.72, 0.63), kind="tls"),
        Row("tls-large", "TLS 1.3, 1 GiB", f"/bytes/{GIB}/a", GIB, both, goals(0.80, 0.72), kind="tls", cost="octets", connections=1, count=1),
        Row("h2-1k", "HTTP/2 over TLS, 1 KiB", "/bytes/1024/a", KIB, both, goals(0.80, 0.65), kind="tls", how=load.h2load),
        Row("h2-16k", "HTTP/2 over TLS, 16 KiB", "/bytes/16384/a", 16 * KIB, both, goals(0.80, 0.65), kind="tls", how=load.h2load),
        Row("pass", "pass-through of 1 KiB", "/pass/1024/a", KIB, [*both, "haproxy", "varnish", "trafficserver"], goals(0.75, 0.60), warm=False),
    ]
