"""One row: figures against their limits, with everything the end-to-end checks have."""

import importlib
import os
import pathlib
import shutil
import tempfile
import threading
import time
import traceback

from harness.checks import Bench, Skip

ROWS = [
    "resume",
    "replay",
    "changed",
    "cut",
    "kill9",
    "powercut",
    "collapse",
    "tiny",
    "slow",
    "clients",
    "malformed",
    "uploads",
    "lastbyte",
    "journal",
    "origindown",
    "uploadfull",
    "openuploads",
    "uploadcpu",
    "uploadpower",
    "h2spec",
    "testssl",
    "tlsfuzzer",
    "h2upload",
    "floods",
    "certificates",
    "kerneltls",
    "whose",
    "poison",
    "visitors",
    "events",
    "nodes",
    "seeking",
    "compressed",
    "reload",
    "reloadkeys",
    "upgrade",
    "restart",
]


def row_names():
    return ROWS


class Scenario:
    """What a row reports into. `limit` None: a figure that is only reported."""

    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick
        self.figures, self.failures, self.notes = [], [], []

    def figure(self, what, value, limit=None, unit="", at_least=False):
        good = limit is None or (value >= limit if at_least else value <= limit)
        self.figures.append({"what": what, "value": value, "limit": limit, "unit": unit, "good": good})
        if not good:
            self.failures.append(f"{what}: {value} {unit}, limit {limit}")

    def require(self, condition, what):
        if not condition:
            self.failures.append(what)
        return bool(condition)

    def note(self, text):
        self.notes.append(text)


def run_row(name, quick):
    module = importlib.import_module(f"rows.{name}")
    folder = tempfile.mkdtemp(prefix="pawl-scenario-", dir=os.environ.get("PAWL_CHECK_DIR"))
    bench = Bench(folder)
    scenario = Scenario(bench, quick)
    begun, outcome = time.monotonic(), None
    try:
        module.run(scenario)
    except Skip as skip:
        scenario.note(f"skipped: {skip}")
        outcome = "SKIP"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        scenario.failures.append(
            f"{type(error).__name__}: {error} [{pathlib.Path(place.filename).name}:{place.lineno}]"
        )
    for pawl in bench.pawls:
        if pawl.process is not None and pawl.process.poll() not in (None, 0, -9):
            scenario.failures.append(f"pawl ended with {pawl.process.returncode}: {pawl.log()[-800:]}")
    try:
        bench.stack.close()
    except Exception as error:
        scenario.note(f"while ending: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    return {
        "row": name,
        "title": module.__doc__.strip().splitlines()[0],
        "quick": quick,
        "seconds": round(time.monotonic() - begun, 1),
        "outcome": outcome or ("FAIL" if scenario.failures else "PASS"),
        "figures": scenario.figures,
        "failures": scenario.failures[:20],
        "failed": len(scenario.failures),
        "notes": scenario.notes,
    }


def show(result):
    print(
        f"{result['outcome']:4} {result['row']}: {result['title']} ({result['seconds']} "
        f"s{', quick' if result['quick'] else ''})"
    )
    for each in result["figures"]:
        value = f"{each['value']:,}" if isinstance(each["value"], (int, float)) else each["value"]
        limit = "" if each["limit"] is None else f"   limit {each['limit']:,}{'' if each['good'] else '   MISSED'}"
        print(f"       {each['what']}: {value} {each['unit']}{limit}")
    for each in result["notes"]:
        print(f"       {each}")
    for each in result["failures"]:
        print(f"     - {each}"[:1500])
    if result["failed"] > len(result["failures"]):
        print(f"     - and {result['failed'] - len(result['failures'])} more")
    print(end="", flush=True)


def in_threads(count, jobs, work, scenario=None):
    """Runs work(job) for every job on `count` threads; an exception is raised again at the end; 25 failures are
    enough."""
    jobs, lock, errors = iter(list(jobs)), threading.Lock(), []

    def loop():
        while True:
            with lock:
                job = next(jobs, None)
                if job is None or len(errors) > 5 or (scenario and len(scenario.failures) >= 25):
                    return
            try:
                work(job)
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
