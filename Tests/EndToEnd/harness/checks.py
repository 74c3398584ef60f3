"""Checks: named functions, each given a folder and a stack of things to end; one line a check.

A check runs over transports (transport.py): all four where nothing else is said. One that is about what only some of them can say is
marked with those and the reason; a part of a check asks `bench.is_1_1`, `bench.scheme` or `bench.over`.
"""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import traceback

from . import transport

CLEAR, V1 = ("clear",), ("clear", "tls")


class Skip(Exception):
    pass


class Check:
    def __init__(self, name, function, seconds, over, why):
        self.name, self.function, self.seconds, self.over, self.why = name, function, seconds, over, why

    def title(self, over):
        return self.name if over == "clear" or self.over == CLEAR else f"{self.name} [{over}]"


ALL = []
MODULES = {}  # name of a module: (transports, reason), for checks that say nothing themselves


def only(over, why, module):
    """All checks of a module, for these transports only, and why."""
    MODULES[module] = (tuple(over), why)


def check(name, seconds=60, over=None, why=None):
    """`over`: the transports it is for, where those are not all, and `why`."""
    if (over is None) != (why is None):
        raise ValueError(f"{name}: transports and the reason belong together")

    def note(function):
        chosen, reason = (tuple(over), why) if over else MODULES.get(function.__module__, (transport.NAMES, None))
        ALL.append(Check(name, function, seconds, chosen, reason))
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

    def pawl(self, origin, name="pawl", start=True, environment=None, prefix=(), **sections):
        from .process import Pawl, config
        url = origin if isinstance(origin, (str, list)) else origin.url
        made = Pawl(self.folder / name, config(url, over=self.over, **sections), environment=environment, prefix=prefix, over=self.over)
        self.pawls.append(made)
        self.stack.callback(made.end)
        return made.start() if start else made


def same(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: expected {show(expected)}, got {show(got)}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def show(value):
    text = repr(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-100:]


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
            place = next((f"{pathlib.Path(f.filename).name}:{f.lineno}" for f in reversed(where)
                          if "checks/" in f.filename or "rows/" in f.filename), "")
            kind = "" if isinstance(error, AssertionError) else type(error).__name__ + ": "
            box["outcome"] = ("FAIL", f"{kind}{error} [{place}]")

    begun = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    outcome, message = box.get("outcome", ("FAIL", f"not done within {seconds} s"))
    died = [p for p in bench.pawls if p.process is not None and p.process.poll() is not None
            and p.process.returncode not in (0, -9) and not getattr(p, "expected_end", False)]
    if died:
        tail = died[0].log()[-600:]
        outcome, message = "FAIL", f"{message} | pawl ended with {died[0].process.returncode}: {tail}"
    if outcome == "FAIL" and keep and bench.pawls:
        message += f" | kept: {folder}"
    try:
        bench.stack.close()
    except BaseException as error:
        message += f" (while ending: {error})"
    transport.end()
    if not (outcome == "FAIL" and keep):
        shutil.rmtree(folder, ignore_errors=True)
    return outcome, message, time.monotonic() - begun


# So many checks that failed are tried again; more are no accident.
AGAIN = 8


def plan(only=(), over=None):
    """What runs: rows of (transport, check). Without `over` all in clear, and over the others what plan.py names for them."""
    from .plan import DEFAULT
    chosen = [c for c in ALL if not only or any(part in c.title(name) for part in only for name in c.over)]
    rows = []
    for name in transport.NAMES:
        for each in chosen:
            if name not in each.over or (over is not None and name not in over):
                continue
            if only and not any(part in each.title(name) for part in only):
                continue
            if over is None and name != "clear" and not only and "clear" in each.over and not each.name.startswith(DEFAULT[name]):
                continue
            rows.append((name, each))
    return rows


def run_all(only=(), keep=False, out=sys.stdout, list_only=False, over=None, jobs=2):
    """`jobs` at a time, those of plan.py's ALONE before them by themselves."""
    from .plan import ALONE
    from .workers import run
    rows = plan(only, over)
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
        """What fails beside others is tried once more, by itself and last: a machine in use makes clients late. Not so where pawl ended."""
        name, each = rows[row]
        outcome, message, took = result
        is_late = outcome == "FAIL" and row not in again and len(again) < AGAIN and "pawl ended with" not in message
        if is_late:
            again.append(row)
        else:
            count[outcome] += 1
        word = "late" if is_late else outcome
        print(f"{word:4} {each.title(name)} ({took:.1f} s)" + (f": {message}" if message else ""), file=out, flush=True)

    alone = [row for row, (_, each) in enumerate(rows) if each.name.startswith(ALONE)]
    run(1, alone, work, done)
    run(jobs, [row for row in range(len(rows)) if row not in set(alone)], work, done)
    run(1, list(again), work, done)
    tail = f", {count['skip']} skipped" if count["skip"] else ""
    if again:
        tail += f", {len(again)} tried again by themselves"
    print(f"{count['ok']} passed, {count['FAIL']} failed{tail} in {time.monotonic() - begun:.0f} s", file=out, flush=True)
    return 1 if count["FAIL"] else 0
