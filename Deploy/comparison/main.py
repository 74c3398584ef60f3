"""Compares pawl with other proxies on this machine: CPU a request, CPU a GB, memory, throughput. The Debian packages
are there already."""

import argparse
import json
import os
import platform
import sys
import time

import network
import running
import volume
from bench import Bench
from report import markdown, show
from rounds import MOST_ROUNDS
from table import TAKES, every


def options(names):
    parser = argparse.ArgumentParser(
        prog="Deploy/compare", description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help="rows to measure (all when none is named; --list shows them)"
    )
    parser.add_argument(
        "--list", action="store_true", help="show the rows, how long each takes, and what pawl has to reach"
    )
    parser.add_argument("--pawl", metavar="BINARY", help="pawl (a release build when not given)")
    parser.add_argument("--pawl-before", metavar="BINARY", help="another pawl, measured in the same rounds")
    parser.add_argument("--bench", metavar="BINARY", help="pawl-bench (a release build when not given)")
    parser.add_argument(
        "--servers",
        metavar="A,B",
        help="only these: pawl, nginx, varnish, trafficserver, haproxy, h2o, floor, relay, through",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="interleaved rounds, and more where they differ too much to tell who is ahead; the median counts",
    )
    parser.add_argument("--seconds", type=float, default=1.5, help="of load in a round")
    parser.add_argument(
        "--load",
        choices=["bench", "own", "wrk"],
        default="bench",
        help="pawl-bench; or the program in C of this folder; or wrk, which counts connecting and handshakes, too. "
        "With the latter two h2load for HTTP/2",
    )
    parser.add_argument(
        "--quick", action="store_true", help="two short rounds, less of everything: to see whether it works"
    )
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="where caches and files are kept while it runs (the system's folder for such things)",
    )
    parser.add_argument("--json", metavar="FILE", help="write every figure of every round")
    parser.add_argument("--markdown", metavar="FILE", help="write the table")
    found = parser.parse_args()
    unknown = [each for each in found.rows if each not in names]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)} (there are {', '.join(names)})")
    if found.quick:
        found.rounds, found.seconds = min(found.rounds, 2), min(found.seconds, 0.5)
    return found


def machine():
    model = ""
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "server core": running.SERVER,
        "load core": running.LOAD,
    }


def absolute(path):
    return path and os.path.abspath(path)


def write(found, report):
    """After each row, so that a comparison that is interrupted has what it found."""
    for path, text in ((found.json, json.dumps(report, indent=1)), (found.markdown, markdown(report))):
        if path:
            with open(path, "w") as file:
                file.write(text)


def main():
    rows = every()
    found = options([each.name for each in rows])
    if found.list:
        for each in rows:
            minutes, seconds = TAKES[each.name]
            print(
                f"{each.name:15} {f'{minutes:g} min ({seconds} s)' if minutes else 'with the above':15} "
                f"{each.title}: {'; '.join(f'{goal.kind} {goal.text()}' for goal in each.goals)}"
            )
        minutes, seconds = (sum(each) for each in zip(*TAKES.values()))
        print(
            f"About how long each takes, and in parentheses with --quick; {minutes / 60:.1f} h ({seconds / 60:.0f} "
            f"min) in all. Where rounds differ much there are up to {MOST_ROUNDS}."
        )
        return 0
    if len(running.CORES) < 2:
        sys.exit("Deploy/compare: two cores are needed, one for the server and one for the load")
    chosen = [each for each in rows if not found.rows or each.name in found.rows]
    report = {"machine": machine(), "rounds": found.rounds, "seconds": found.seconds, "rows": []}
    begun = time.monotonic()
    try:
        network.alone()
    except running.Failure as why:
        sys.exit(f"Deploy/compare: {why}")
    report["congestion control"] = network.preferred()
    volume.alone()
    report["own file systems"] = volume.can
    with Bench(
        absolute(found.pawl),
        found.servers.split(",") if found.servers else None,
        found.seconds,
        found.rounds,
        found.quick,
        found.load,
        found.folder,
        absolute(found.pawl_before),
        absolute(found.bench),
    ) as bench:
        bench.rows = [each.name for each in chosen]
        for row in chosen:
            started = time.monotonic()
            try:
                result = row.run(bench)
            except running.MISHAPS as why:
                result = {
                    "name": row.name,
                    "title": row.title,
                    "unit": row.unit,
                    "peers": [],
                    "skipped": {"all": str(why) or repr(why)},
                    "goals": [],
                    "wanted": [],
                }
            for each in result["peers"]:
                each["spread"] = [min(each["costs"]), max(each["costs"])]
            result["took"] = round(time.monotonic() - started, 1)
            report["rows"].append(result)
            report["took"] = round(time.monotonic() - begun, 1)
            show(result)
            write(found, report)
    print(f"\n{len(report['rows'])} rows in {report['took']:.0f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
