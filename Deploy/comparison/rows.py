"""The rows of the comparison: what is asked of whom, and what pawl has to reach."""

import statistics

import load
from running import MISHAPS, Skip

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Goal:
    """pawl's figure at most `factor` times that of a peer; `what`: "cost", or "rate", which is to be at least that."""

    def __init__(self, kind, peer, factor, what="cost"):
        self.kind, self.peer, self.factor, self.what = kind, peer, factor, what

    def judge(self, peers):
        """Ratio to the best variant of the peer and whether it is met; None where either is missing."""
        mine = best(peers, "pawl", self.what)
        if self.what == "first":  # no later than the fastest peer and so many milliseconds
            others = [each["first"] for each in peers if each["peer"] not in ("pawl", "pawl-before", "relay in C")]
            return None if mine is None or not others else self.judged(mine - min(others), mine - min(others) <= self.factor)
        other = best(peers, self.peer, self.what)
        if mine is None or not other:
            return None
        return self.judged(mine / other, mine / other >= self.factor if self.what == "rate" else mine / other <= self.factor)

    def judged(self, ratio, met):
        return {"kind": self.kind, "peer": self.peer, "what": self.what, "factor": self.factor, "ratio": round(ratio, 4), "met": met, "text": self.text()}

    def text(self):
        if self.what == "first":
            return f"first octet <= {self.peer} + {self.factor:g} ms"
        return f"{'throughput >=' if self.what == 'rate' else '<='} {self.factor:g} x {self.peer}"


class Limit:
    """pawl's figure at most `most`, whatever the others do."""

    def __init__(self, kind, most, what, figure="cost"):
        self.kind, self.most, self.what, self.figure = kind, most, what, figure

    def judge(self, peers):
        mine = best(peers, "pawl", self.figure)
        return None if mine is None else {"kind": self.kind, "what": self.what, "factor": self.most, "ratio": round(mine, 4), "met": mine <= self.most, "text": self.text()}

    def text(self):
        return f"<= {self.most:g} {self.what}"


def best(peers, name, what):
    """The best figure among a peer's variants; of pawl's own the worst."""
    figures = [each[what] for each in peers if each["peer"] == name and each.get(what) is not None]
    return (max if (what == "rate") != (name == "pawl") else min)(figures) if figures else None


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
                more = {**more, {"varnish": "store", "floor": "how", "pawl": "durability"}[name]: store[0]}
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
            except MISHAPS as why:
                result["skipped"][side.name] = str(why) or repr(why)
        before = bench.origin.counts()[0]
        for turn in range(bench.rounds):
            order = list(rounds)
            for side in order[turn % max(1, len(order)):] + order[:turn % max(1, len(order))]:
                try:
                    rounds[side].append(self.measure(bench, side, turn))
                except MISHAPS as why:
                    result["skipped"][side.name] = str(why) or repr(why)
                    del rounds[side]
        if self.warm and self.name != "tail" and rounds and bench.origin.counts()[0] != before:
            result["skipped"]["all"] = f"the origin was asked {bench.origin.counts()[0] - before} times for what is kept"
        for side, works in rounds.items():
            result["peers"].append(self.summary(side, works))
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        result["wanted"] = [each.text() for each in self.goals]
        return result

    def summary(self, side, works):
        costs = [self.cost(each) for each in works]
        side.server.processes.refresh()
        return {"name": side.name, "peer": side.peer, "variant": side.variant, "cost": round(statistics.median(costs), 4), "costs": [round(each, 4) for each in costs],
                "rate": round(statistics.median(self.rate(each) for each in works), 1), "memory": side.server.processes.memory(), "rounds": [each.figures() for each in works]}


class Fill(Row):
    """A body that nobody has asked for before; CPU until the server has nothing more to do with it."""

    def prepare(self, bench, side):
        bench.probe(side, "/bytes/1000/warm", 1000)

    def measure(self, bench, side, turn):
        bench.fresh += 1
        return load.own(bench, side, f"{self.path}/{bench.fresh}", self.length, connections=1, count=1, settle=True)

    def summary(self, side, works):
        made = super().summary(side, works)
        made["first"] = round(statistics.median(each.more["first_ms"] for each in works), 3)
        return made


class Upload(Row):
    """Uploads that the server takes in whole and then forwards; CPU until the server has nothing more to do."""

    def prepare(self, bench, side):
        """The origin gets every octet."""
        load.upload(bench, side, "/verify", MIB + 1, fields=side.fields)

    def measure(self, bench, side, turn):
        more = {"connections": 1} if side.server.name == "relay" else {}
        return load.upload(bench, side, "/drop", self.length, **{**self.more, **more}, fields=side.fields)
