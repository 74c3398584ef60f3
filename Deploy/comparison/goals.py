"""What pawl has to reach: a share of a peer's figure, or a limit of its own."""


class Goal:
    """pawl's figure at most `factor` times that of a peer; `what`: "cost", "p99", or "rate", which is to be at least
    that."""

    def __init__(self, kind, peer, factor, what="cost"):
        self.kind, self.peer, self.factor, self.what = kind, peer, factor, what

    def judge(self, peers):
        """Ratio to the best variant of the peer and whether it is met; None where either is missing."""
        mine = best(peers, "pawl", self.what)
        if self.what == "first":  # no later than the fastest peer and so many milliseconds
            others = [each["first"] for each in peers if each["peer"] not in ("pawl", "pawl-before", "relay in C")]
            return (
                None
                if mine is None or not others
                else self.judged(mine - min(others), mine - min(others) <= self.factor)
            )
        other = best(peers, self.peer, self.what)
        if mine is None or not other:
            return None
        return self.judged(
            mine / other, mine / other >= self.factor if self.what == "rate" else mine / other <= self.factor
        )

    def judged(self, ratio, met):
        return {
            "kind": self.kind,
            "peer": self.peer,
            "what": self.what,
            "factor": self.factor,
            "ratio": round(ratio, 4),
            "met": met,
            "text": self.text(),
        }

    def text(self):
        if self.what == "first":
            return f"first byte <= {self.peer} + {self.factor:g} ms"
        return f"{({'rate': 'throughput >=', 'p99': 'p99 <='}).get(self.what, '<=')} {self.factor:g} x {self.peer}"


class Limit:
    """pawl's figure at most `most`, whatever the others do."""

    def __init__(self, kind, most, what, figure="cost"):
        self.kind, self.most, self.what, self.figure = kind, most, what, figure

    def judge(self, peers):
        mine = best(peers, "pawl", self.figure)
        return (
            None
            if mine is None
            else {
                "kind": self.kind,
                "what": self.what,
                "factor": self.most,
                "ratio": round(mine, 4),
                "met": mine <= self.most,
                "text": self.text(),
            }
        )

    def text(self):
        return f"<= {self.most:g} {self.what}"


def best(peers, name, what):
    """The best figure among a peer's variants; of pawl's own the worst."""
    figures = [each[what] for each in peers if each["peer"] == name and each.get(what) is not None]
    return (max if (what == "rate") != (name == "pawl") else min)(figures) if figures else None


def goals(bar, aim, peer="nginx"):
    return [Goal("bar", peer, bar), *([Goal("aim", peer, aim)] if aim else [])]
