"""Checks: named functions, each given a folder and a stack of things to end; one line a check."""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import traceback

ALL = []


class Skip(Exception):
    pass


def check(name, seconds=60):
    def note(function):
        ALL.append((name, function, seconds))
        return function
    return note


class Bench:
    """What a check works with: a folder, and `use(x)` for what is to be ended after it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.stack = contextlib.ExitStack()
        self.pawls = []

    def use(self, thing):
        return self.stack.enter_context(thing)

    def origin(self, **options):
        from .origin import Origin
        return self.use(Origin(**options))

    def pawl(self, origin, name="pawl", start=True, environment=None, prefix=(), **sections):
        from .process import Pawl, config
        url = origin if isinstance(origin, (str, list)) else origin.url
        made = Pawl(self.folder / name, config(url, **sections), environment=environment, prefix=prefix)
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


def run_one(name, function, seconds, keep=False):
    """(outcome, message, seconds) of one check in a thread of its own, so that a hang is a failure and not a stop."""
    folder = tempfile.mkdtemp(prefix="pawl-check-", dir=os.environ.get("PAWL_CHECK_DIR"))
    bench, box = Bench(folder), {}

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
    if not (outcome == "FAIL" and keep):
        shutil.rmtree(folder, ignore_errors=True)
    return outcome, message, time.monotonic() - begun


def run_all(only=(), keep=False, out=sys.stdout, list_only=False):
    chosen = [c for c in ALL if not only or any(part in c[0] for part in only)]
    if list_only:
        for name, _, _ in chosen:
            print(name, file=out)
        return 0
    passed = failed = skipped = 0
    for name, function, seconds in chosen:
        outcome, message, took = run_one(name, function, seconds, keep)
        passed += outcome == "ok"
        failed += outcome == "FAIL"
        skipped += outcome == "skip"
        print(f"{outcome:4} {name} ({took:.1f} s)" + (f": {message}" if message else ""), file=out, flush=True)
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}", file=out, flush=True)
    return 1 if failed else 0
