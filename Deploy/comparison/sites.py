"""Rows about sites: many objects, most of them cold or lukewarm. Each round is one life of each server, alone with its
store on disk: filled from nothing, used again, restarted with what it kept. Rows that tell of the same life share
it."""

import dataclasses
import math
import os
import statistics

import load
from rounds import interleaved, unclear
from rows import Row
from running import MISHAPS, Failure

PHASES = ("cold", "warm", "restart")
VARIANTS = {"haproxy": "in memory"}


@dataclasses.dataclass(frozen=True)
class Who:
    """A server that lives once in each round, and what tells it from others of its kind."""

    server: str
    peer: str
    variant: str = ""
    store: str = ""

    @property
    def name(self):
        return f"{self.peer}, {self.variant}" if self.variant else self.peer


def who(peer):
    """varnish:malloc keeps all in memory and is not the peer that a store on disk is held against."""
    server, _, more = peer.partition(":")
    return Who(server, f"{server} in memory" if more == "malloc" else server, more or VARIANTS.get(server, ""), more)


class Story:
    """What each server lives through. objects, count: of the site, and how often they are asked for at first; again:
    how often later; each of the three as two numbers, the second with --quick. zipf: the exponent; without it each
    object is asked for in turn. share: of the site's bytes, how much memory the server may have, page cache and all.
    rounds: at first, where it takes too long for as many as other rows have."""

    def __init__(self, peers, objects, sizes, count, again, connections, zipf=0, close=False, share=None, rounds=None):
        self.peers, self.objects, self.sizes, self.count, self.again = peers, objects, sizes, count, again
        self.more, self.share = {"connections": connections, "zipf": zipf, "close": close}, share
        self.rows, self.works, self.skipped, self.rounds = [], None, None, rounds

    def octets(self, bench):
        """Of all objects together, as they are to be expected."""
        low, high = self.sizes
        return round(self.objects[bench.quick] * ((high - low) / math.log(high / low) if high > low else low))

    def options(self, bench, each):
        made = {"objects": self.objects[bench.quick], "room": 2 * self.octets(bench)}
        if self.share:
            made["memory"] = round(self.share * self.octets(bench))
        return made | ({"store": each.store} if each.server == "varnish" else {})

    def run(self, bench):
        """Lived through once, however many rows tell of it, and as far as those go that were chosen."""
        if self.works is not None:
            return
        rows = [each for each in self.rows if bench.rows is None or each.name in bench.rows]
        last = max(PHASES.index(each.phase) for each in rows)
        self.works, self.skipped = {each: {} for each in PHASES}, {each: {} for each in PHASES}
        sides = [
            each
            for each in map(who, [*self.peers, *(["pawl-before"] if bench.before else [])])
            if not bench.wanted or each.server.removesuffix("-before") in bench.wanted
        ]
        bench.stop_servers()

        def once(side, turn):
            os.sync()  # nobody pays for what another has written
            phase = PHASES[0]
            try:
                server = bench.server(side.server, **self.options(bench, side))
                for phase in PHASES[: last + 1]:
                    work = getattr(self, phase)(bench, server, turn, side)
                    self.works[phase].setdefault(side, {})[turn] = work
                return True
            except MISHAPS as why:
                killed = server_killed(bench, side)
                for each in PHASES[PHASES.index(phase) :]:
                    self.skipped[each][side.name] = killed or str(why) or repr(why)
                    self.works[each].pop(side, None)
                return phase != PHASES[0]
            finally:
                bench.stop_servers(side.server)

        interleaved(
            bench,
            sides,
            once,
            lambda: set().union(*(unclear(each.goals, self.works[each.phase], each.figure) for each in rows)),
            1 if bench.quick else min(bench.rounds, self.rounds or bench.rounds),
        )

    def ask(self, bench, server, side, **more):
        """A load, and which share of its answers came from the store."""
        before = bench.origin.counts()[0]
        work = load.site(
            bench,
            self.door(server),
            self.objects[bench.quick],
            self.sizes,
            settle=True,
            most=1800,
            **{**self.more, **more},
        )
        work.more |= {
            "kept": round(1 - (bench.origin.counts()[0] - before) / work.count, 4),
            "memory": server.processes.memory(),
        }
        return work

    def door(self, server):
        """Of nginx the one that is cheaper for it: tcp_nopush on where all bodies are small (a head and a file in one
        segment), off where some do not fit into a socket's buffer: the last bytes of those would wait 40 ms for the
        client's delayed acknowledgement."""
        return server.sides("clear")[0 if self.more["zipf"] else -1]

    def cold(self, bench, server, turn, side):
        return self.ask(bench, server, side, count=self.count[bench.quick], seed=turn + 1)

    def warm(self, bench, server, turn, side):
        if not self.more["zipf"]:  # all have been used before
            self.ask(bench, server, side, count=self.objects[bench.quick])
        return self.ask(bench, server, side, count=self.again[bench.quick], seed=1000 + turn)

    def restart(self, bench, server, turn, side):
        """The first use after it: of every object once, or of the mix."""
        server.restart()
        work = self.ask(
            bench,
            server,
            side,
            count=self.again[bench.quick] if self.more["zipf"] else self.objects[bench.quick],
            seed=2000 + turn,
        )
        if work.more["kept"] < 0.5:
            raise Failure(f"of what it had kept it served {work.more['kept']:.0%} after a restart")
        return work


def server_killed(bench, side):
    """Why it is not there any more, where that was for want of memory."""
    for key, server in bench.up.items():
        if key[0] == side.server and server.allowance and server.allowance.killed():
            return f"it needs more memory than {server.allowance.octets / 1e6:,.0f} MB"
    return None


class Site(Row):
    """CPU of a request in one part of a story, until the server has nothing more to do, beside how long requests
    took."""

    def __init__(self, name, title, story, phase, wanted):
        super().__init__(name, title, "", 0, story.peers, wanted)
        self.story, self.phase = story, phase
        story.rows.append(self)

    def run(self, bench):
        self.story.run(bench)
        result = {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "skipped": self.story.skipped[self.phase],
            "peers": [self.summary(side, list(works.values())) for side, works in self.story.works[self.phase].items()],
        }
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        result["wanted"] = [each.text() for each in self.goals]
        return result

    def summary(self, side, works):
        costs = [self.cost(each) for each in works]
        middle = {name: statistics.median(each.more[name] for each in works) for name in (*load.PERCENTILES, "kept")}
        return {
            "name": side.name,
            "peer": side.peer,
            "variant": side.variant,
            "cost": round(statistics.median(costs), 4),
            "costs": [round(each, 4) for each in costs],
            "rate": round(statistics.median(self.rate(each) for each in works), 1),
            "p99": middle["p99"],
            "memory": works[-1].more["memory"],
            "rounds": [each.figures() for each in works],
            "detail": load.latency(middle) + (f"; {middle['kept']:.1%} from the store" if middle["kept"] > 0 else ""),
        }
