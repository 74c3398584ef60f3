"""How many rounds a row takes: as many as are asked for, and more of those of whom it is not clear yet who is ahead."""

import statistics
import time

from goals import Goal

MOST_ROUNDS = 15  # in all, however unclear it stays
MOST_SECONDS = 600  # for all rounds beyond those asked for
STEADY = 0.1  # rounds that differ by less than this share of their median need no others
AGREED = 0.8  # the share of rounds with the same verdict that makes it clear


def interleaved(bench, sides, once, unclear, asked=None):
    """Rounds in turns, another side first in each. once(side, turn) measures and says whether the side is still in;
    unclear() gives those of whom more rounds are wanted than were asked for; with --quick there are no more."""
    asked = asked or bench.rounds
    most = asked if bench.quick else max(asked, MOST_ROUNDS)
    sides, wanted, turn, end = list(sides), list(sides), 0, None
    while wanted:
        first = turn % len(wanted)
        for side in wanted[first:] + wanted[:first]:
            if not once(side, turn):
                sides.remove(side)
        turn += 1
        wanted = sides
        if turn >= asked:
            end = end or time.monotonic() + MOST_SECONDS
            needed = unclear() if turn < most and time.monotonic() < end else ()
            wanted = [each for each in sides if each in needed]


def spread(figures):
    """How far apart they are, as a share of their median."""
    figures = list(figures)
    middle = statistics.median(figures)
    return (max(figures) - min(figures)) / middle if middle else 0


def clear(mine, other, factor):
    """Whether nearly all rounds say the same, of who is ahead and of the bar. mine, other: figures by round."""
    pairs = [(mine[turn], other[turn]) for turn in mine.keys() & other.keys()]
    for bound in (1, factor):
        below = sum(one <= bound * two for one, two in pairs)
        if max(below, len(pairs) - below) < AGREED * len(pairs):
            return False
    return True


def chosen(rounds, peer, what, figure):
    """A peer's best variant, of pawl the worst, and its figures by round."""
    those = [
        (side, {turn: figure(work, what) for turn, work in works.items()})
        for side, works in rounds.items()
        if works and side.peer == peer
    ]
    largest = (what == "rate") != (peer == "pawl")
    return (max if largest else min)(those, key=lambda each: statistics.median(each[1].values()), default=(None, {}))


def unclear(goals, rounds, figure):
    """The sides of whom more rounds are wanted. rounds: of each side its works by round; figure(work, what) is what a
    goal compares."""
    found = set()
    for goal in goals:
        if isinstance(goal, Goal) and goal.what != "first":
            (mine, figures), (other, others) = (chosen(rounds, peer, goal.what, figure) for peer in ("pawl", goal.peer))
            if (
                mine
                and other
                and max(spread(figures.values()), spread(others.values())) >= STEADY
                and not clear(figures, others, goal.factor)
            ):
                found |= {mine, other}
    return found
