"""Checks: named functions, each given a folder and a stack of things to end; one line a check.

A check runs over transports (transport.py): all four where nothing else is said. One that is about what only some of
them can say is marked with those and the reason; a part of a check asks `bench.is_1_1`, `bench.scheme` or `bench.over`.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from . import transport
from .outcomes import Late, Skip

CLEAR, V1 = ("clear",), ("clear", "tls")


class Check:
    """`area`: what it is about; `tags`: further words by which it is chosen, see plan.py."""

    def __init__(self, sentence, area, tags, function, seconds, over, why):
        self.sentence, self.area, self.tags = sentence, area, frozenset(tags)
        self.function, self.seconds, self.over, self.why = function, seconds, over, why

    @property
    def name(self):
        return f"{self.area}: {self.sentence}"

    def title(self, over):
        return self.name if over == "clear" or self.over == CLEAR else f"{self.name} [{over}]"

    def carries(self, tag, over):
        """Whether it has a tag: its area, a transport, one of its own, or "slow" (it may take more than a minute)."""
        return tag in self.tags or tag in (self.area, over) or (tag == "slow" and self.seconds > 60)


ALL = []
MODULES = {}  # name of a module: (transports, reason), for checks that say nothing themselves


def only(over, why, module):
    """All checks of a module, for these transports only, and why."""
    MODULES[module] = (tuple(over), why)


def check(sentence, area, tags=(), seconds=60, over=None, why=None):
    """`over`: the transports it is for, where those are not all, and `why`."""
    if (over is None) != (why is None):
        raise ValueError(f"{area}: {sentence}: transports and the reason belong together")

    def note(function):
        chosen, reason = (tuple(over), why) if over else MODULES.get(function.__module__, (transport.NAMES, None))
        ALL.append(Check(sentence, area, tags, function, seconds, chosen, reason))
        return function

    return note


class Bench:
    """What a check works with: a folder, and `use(x)` for what is to be ended after it."""

    def __init__(self, folder, over="clear"):
        self.folder, self.over = pathlib.Path(folder), over
        self.stack = contextlib.ExitStack()
        self.pawls = []

    @property
    def scheme(self):
        return "https" if self.over in transport.SECURE else "http"

    @property
    def is_1_1(self):
        """Whether the transport speaks HTTP/1.1 as bytes: its versions, its connections, its framing."""
        return self.over in V1

    def use(self, thing):
        return self.stack.enter_context(thing)

    def origin(self, **options):
        from .origin import Origin

        return self.use(Origin(**options))

    def held_port(self):
        """A port where nobody listens, kept until the check ends: for an Origin that comes later, with is_held."""
        from .process import held_port

        holder, port = held_port()
        self.use(holder)
        return port

    def pawl(self, origin, name="pawl", start=True, environment=None, prefix=(), **sections):
        from .process import Pawl, config

        url = origin if isinstance(origin, (str, list)) else origin.url
        made = Pawl(
            self.folder / name,
            config(url, over=self.over, **sections),
            environment=environment,
            prefix=prefix,
            over=self.over,
        )
        self.pawls.append(made)
        self.stack.callback(made.end)
        return made.start() if start else made


def same(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: expected {show(expected)}, got {show(got)}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def timely(condition, what):
    """As `true`, of something that only came late."""
    if not condition:
        raise Late(what)


def show(value):
    text = repr(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-100:]


def is_late(error):
    """Whether a check failed by time alone: nothing that came was wrong."""
    return isinstance(error, (Late, TimeoutError, subprocess.TimeoutExpired)) or str(error) == "timeout"


def run_one(name, function, seconds, keep=False, over="clear"):
    """(outcome, message, seconds) of one check in a thread of its own, so that a hang is a failure and not a stop."""
    folder = tempfile.mkdtemp(prefix="pawl-check-", dir=os.environ.get("PAWL_CHECK_DIR"))
    bench, box = Bench(folder, over), {}

    def work():
        try:
            function(bench)
            box["outcome"] = ("ok", "")
        except Skip as skip:
            box["outcome"] = ("skip", str(skip))
        except BaseException as error:  # whatever it is, it is this check's result
            where = traceback.extract_tb(error.__traceback__)
            place = next(
                (
                    f"{pathlib.Path(f.filename).name}:{f.lineno}"
                    for f in reversed(where)
                    if "checks/" in f.filename or "rows/" in f.filename
                ),
                "",
            )
            kind = "" if isinstance(error, AssertionError) else type(error).__name__ + ": "
            box["outcome"] = ("LATE" if is_late(error) else "FAIL", f"{kind}{error} [{place}]")

    begun = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    outcome, message = box.get("outcome", ("LATE", f"not done within {seconds} s"))
    died = [
        p
        for p in bench.pawls
        if p.process is not None
        and p.process.poll() is not None
        and p.process.returncode not in (0, -9)
        and not getattr(p, "expected_end", False)
    ]
    if died:
        tail = died[0].log()[-600:]
        outcome, message = "FAIL", f"{message} | pawl ended with {died[0].process.returncode}: {tail}"
    if outcome in ("FAIL", "LATE") and keep and bench.pawls:
        message += f" | kept: {folder}"
    try:
        bench.stack.close()
    except BaseException as error:
        message += f" (while ending: {error})"
    transport.end()
    if not (outcome in ("FAIL", "LATE") and keep):
        shutil.rmtree(folder, ignore_errors=True)
    return outcome, message, time.monotonic() - begun


# So many checks that failed are tried again; more are no accident.
AGAIN = 8


def plan(only=(), over=None, tags=()):
    """What runs: rows of (transport, check). Without `over` all in clear, and over the others what plan.py names for
    them."""
    from .plan import is_repeated

    chosen = [c for c in ALL if not only or any(part in c.title(name) for part in only for name in c.over)]
    rows = []
    for name in transport.NAMES:
        for each in chosen:
            if name not in each.over or (over is not None and name not in over):
                continue
            if only and not any(part in each.title(name) for part in only):
                continue
            if tags and not all(each.carries(tag, name) for tag in tags):
                continue
            is_chosen = only or tags or name == "clear" or "clear" not in each.over
            if over is None and not is_chosen and not is_repeated(each, name):
                continue
            rows.append((name, each))
    return rows


def run_all(only=(), keep=False, out=sys.stdout, list_only=False, over=None, jobs=2, tags=()):
    """`jobs` at a time, those that plan.py wants alone before them by themselves."""
    from .plan import is_alone
    from .workers import run

    rows = plan(only, over, tags)
    if list_only:
        for name, each in rows:
            print(each.title(name), file=out)
        return 0
    count, begun = dict.fromkeys(("ok", "FAIL", "skip"), 0), time.monotonic()

    def work(row):
        name, each = rows[row]
        return run_one(each.name, each.function, each.seconds, keep, name)

    again = []

    def done(row, result):
        """What was late is tried once more, by itself and last: a machine in use makes clients late. Nothing else is
        tried again."""
        name, each = rows[row]
        outcome, message, took = result
        if outcome == "LATE" and row not in again and len(again) < AGAIN:
            again.append(row)
            word = "late"
        else:
            word = "FAIL" if outcome == "LATE" else outcome
            count[word] += 1
        print(f"{word:4} {each.title(name)} ({took:.1f} s)" + (f": {message}" if message else ""), file=out, flush=True)

    alone = [row for row, (_, each) in enumerate(rows) if is_alone(each)]
    run(1, alone, work, done)
    run(jobs, [row for row in range(len(rows)) if row not in set(alone)], work, done)
    run(1, list(again), work, done)
    tail = f", {count['skip']} skipped" if count["skip"] else ""
    if again:
        tail += f", {len(again)} tried again by themselves"
    print(
        f"{count['ok']} passed, {count['FAIL']} failed{tail} in {time.monotonic() - begun:.0f} s", file=out, flush=True
    )
    return 1 if count["FAIL"] else 0
