"""The row about what a store costs while it rests: a million small objects, until it is ready, memory for each, and
what a hit costs then."""

import os
import statistics
import time

import load
from goals import Limit
from rows import KIB, Row
from running import MISHAPS, Failure, Skip

FEW = 1000  # objects of the store that a hit is held against
FILL_SECONDS = 900  # who has not taken in all of them by then is left out
RESTARTS = 3


class Rest(Row):
    """Proportional memory an object over an empty start: after a restart, and again after all were used once."""

    unit = "bytes"

    def __init__(self, name):
        super().__init__(
            name,
            "10^6 objects of 1 KiB at rest, memory for each",
            "",
            KIB,
            ["pawl", "nginx", "trafficserver", "varnish", "haproxy"],
            [
                Limit("bar", 400, "bytes each after a restart"),
                Limit("aim", 250, "bytes each after a restart"),
                Limit("bar", 400, "bytes each after all were used once", "used"),
                Limit("bar", 1.5, "s until it is ready", "ready"),
                Limit("aim", 0.8, "s until it is ready", "ready"),
                Limit("bar", 1.1, "x a hit when there are 1,000", "slower"),
            ],
        )

    def run(self, bench):
        self.count = 20_000 if bench.quick else 1_000_000
        result = {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "peers": [],
            "skipped": {},
            "wanted": [each.text() for each in self.goals],
        }
        bench.stop_servers()
        for name in [*self.peers, *(["pawl-before"] if bench.before else [])]:
            if bench.wanted and name.removesuffix("-before") not in bench.wanted:
                continue
            try:
                result["peers"].append(self.once(bench, name))
            except MISHAPS as why:
                result["skipped"][name] = str(why) or repr(why)
            finally:
                bench.stop_servers(name)
                os.sync()
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        return result

    def once(self, bench, name):
        """One server, alone with its store on disk."""
        server = self.server(bench, name)
        if server.forgets:
            raise Skip(server.forgets)
        empty = server.processes.memory()
        self.ask(bench, server, FEW, count=FEW)
        few = self.hits(bench, server)
        bench.stop_servers(name)
        server = self.server(bench, name)
        self.ask(bench, server, self.count, count=self.count, most=FILL_SECONDS)
        ready = [self.ready(bench, server) for _ in range(1 if bench.quick else RESTARTS)]
        rested = self.memory(server)
        once = self.ask(bench, server, self.count, count=self.count, kept=0.95)
        used = self.memory(server)
        many = self.hits(bench, server)
        each = {
            what: round((found["pss"] - empty["pss"]) / self.count, 1)
            for what, found in (("rested", rested), ("used", used))
        }
        return {
            "name": name,
            "peer": name,
            "variant": "",
            "cost": each["rested"],
            "costs": [each["rested"]],
            "rate": None,
            "used": each["used"],
            "ready": round(statistics.median(ready), 3),
            "slower": round(many / few, 3),
            "memory": used,
            "rounds": [
                {
                    "ready": ready,
                    "empty": empty,
                    "rested": rested,
                    "used": used,
                    "hit of few": few,
                    "hit of all": many,
                    "first use": once.cpu / once.count * 1e6,
                }
            ],
            "detail": f"ready after {statistics.median(ready):.2f} s; {each['used']:,.0f} bytes when all were used; "
            f"a hit {few:.1f} us when there are {FEW:,}, {many:.1f} us when there are all, "
            f"its first {once.cpu / once.count * 1e6:.1f} us; {once.more['kept']:.1%} from the store",
        }

    def server(self, bench, name):
        """Up and settled."""
        server = bench.server(
            name, objects=self.count, room=4 * KIB * self.count, **({"store": "file"} if name == "varnish" else {})
        )
        self.memory(server)
        return server

    def memory(self, server):
        """When it has nothing more to do."""
        server.processes.refresh()
        load.rest(server.processes, seconds=180, pause=0.5, least=0.02)
        server.processes.refresh()
        return server.processes.memory()

    def ask(self, bench, server, objects, kept=0, **more):
        before = bench.origin.counts()[0]
        work = load.site(
            bench, server.sides("clear")[-1], objects, (KIB, KIB), connections=16, settle=True, **{"most": 1800, **more}
        )
        work.more["kept"] = 1 - (bench.origin.counts()[0] - before) / work.count
        if work.more["kept"] < kept:
            raise Failure(f"only {work.more['kept']:.1%} came from its store")
        return work

    def hits(self, bench, server):
        """Microseconds of a hit, of the same few objects whatever else is there: the median of rounds."""
        self.ask(bench, server, FEW, count=FEW)
        works = [
            self.ask(bench, server, FEW, seconds=bench.seconds / 2, kept=0.99) for _ in range(2 if bench.quick else 5)
        ]
        return statistics.median(each.cpu / each.count * 1e6 for each in works)

    def ready(self, bench, server):
        """Seconds from starting it again until an object comes from the store."""
        before, begun = bench.origin.counts()[0], server.restart()
        bench.probe(server.sides("clear")[-1], f"/site/{KIB}/0", KIB, {"Host": "localhost"})
        took = time.monotonic() - begun
        # Traffic Server asks once for what tells whether its cache is there.
        if bench.origin.counts()[0] != before and not server.twice:
            raise Failure("it was ready without what it had stored")
        return took
