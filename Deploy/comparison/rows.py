"""The rows of the comparison: what is asked of whom, and how it is measured."""

import statistics

import load
from rounds import interleaved, unclear
from running import MISHAPS, Skip

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Row:
    """A row where interleaved rounds of one load are measured."""

    unit, per = "us", 1e6

    def __init__(
        self,
        name,
        title,
        path,
        length,
        peers,
        wanted,
        kind="clear",
        how=load.http1,
        warm=True,
        cost=None,
        options=None,
        takes=None,
        **more,
    ):
        self.name, self.title, self.path, self.length, self.peers, self.goals = name, title, path, length, peers, wanted
        self.kind, self.how, self.warm, self.more, self.options = kind, how, warm, more, options or {}
        self.takes = takes or (1, 10)  # about so many minutes, and so many seconds with --quick
        if cost == "bytes":
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

    def figure(self, work, what):
        """What a goal compares: "cost", "rate", or what the load said."""
        return {"cost": self.cost, "rate": self.rate}.get(what, lambda work: work.more[what])(work)

    def run(self, bench):
        result = {"name": self.name, "title": self.title, "unit": self.unit, "peers": [], "skipped": {}}
        rounds = {}
        for side in self.sides(bench, result["skipped"]):
            try:
                self.prepare(bench, side)
                rounds[side] = {}
            except MISHAPS as why:
                result["skipped"][side.name] = str(why) or repr(why)
        before = bench.origin.counts()[0]

        def once(side, turn):
            try:
                rounds[side][turn] = self.measure(bench, side, turn)
            except MISHAPS as why:
                result["skipped"][side.name] = str(why) or repr(why)
                del rounds[side]
            return side in rounds

        interleaved(bench, rounds, once, lambda: unclear(self.goals, rounds, self.figure))
        if self.warm and self.name != "tail" and rounds and bench.origin.counts()[0] != before:
            result["skipped"]["all"] = (
                f"the origin was asked {bench.origin.counts()[0] - before} times for what is kept"
            )
        for side, works in rounds.items():
            result["peers"].append(self.summary(side, list(works.values())))
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        result["wanted"] = [each.text() for each in self.goals]
        return result

    def summary(self, side, works):
        costs = [self.cost(each) for each in works]
        side.server.processes.refresh()
        return {
            "name": side.name,
            "peer": side.peer,
            "variant": side.variant,
            "cost": round(statistics.median(costs), 4),
            "costs": [round(each, 4) for each in costs],
            "rate": round(statistics.median(self.rate(each) for each in works), 1),
            "memory": side.server.processes.memory(),
            "rounds": [each.figures() for each in works],
        }


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
        """The origin gets every byte."""
        load.upload(bench, side, "/verify", MIB + 1, fields=side.fields)

    def measure(self, bench, side, turn):
        more = {"connections": 1} if side.server.name == "relay" else {}
        return load.upload(bench, side, "/drop", self.length, **{**self.more, **more}, fields=side.fields)


class Connect(Row):
    """One object, a new connection for each request."""

    def prepare(self, bench, side):
        super().prepare(bench, side)
        self.measure(bench, side, 0)  # it is another one where the name of the host counts

    def summary(self, side, works):
        made = super().summary(side, works)
        middle = {name: statistics.median(each.more[name] for each in works) for name in load.PERCENTILES}
        return made | {"p99": middle["p99"], "detail": load.latency(middle)}
