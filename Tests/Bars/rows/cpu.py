"""CPU microseconds for each cached 1 KiB and 64 KiB-range answer, beside nginx in the same run (reported).

One worker each, pinned to one core, the load on the other; interleaved rounds, medians. Needs wrk and nginx.
"""

import os
import statistics
import subprocess

from harness.checks import Skip
from harness.client import get
from harness.content import Content
from harness.origin import Resource
from harness.process import Nginx, have

MIB = 1 << 20


def wrk(address, path, seconds, script=None):
    """Requests answered with 2xx, and how many were not."""
    command = ["taskset", "-c", str((os.cpu_count() or 2) - 1), "wrk", "-t1", "-c64", f"-d{seconds}s"]
    if script:
        command += ["-s", script]
    out = subprocess.run(command + [f"{address}{path}"], capture_output=True, text=True, timeout=seconds + 30).stdout
    import re
    requests = int(re.search(r"(\d+) requests in", out).group(1))
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    return requests, int(wrong.group(1)) if wrong else 0, out if broken and any(map(int, broken.groups())) else ""


def run(bar):
    if not have("wrk", "nginx", "taskset"):
        raise Skip("wrk, nginx and taskset are needed")
    if (os.cpu_count() or 1) < 2:
        raise Skip("two cores are needed")
    origin = bar.bench.origin()
    small, large = Content("cpu-small", 1024), Content("cpu-large", (64 if bar.quick else 1024) * MIB)
    kept = (("Cache-Control", "max-age=60000"),)
    origin.at("/small", Resource(small, etag='"s"', fields=kept))
    origin.at("/large", Resource(large, ranges=True, etag='"l"', fields=kept))
    ranges = bar.bench.folder / "ranges.lua"
    ranges.write_text("math.randomseed(7)\nrequest = function()\n  local block = math.random(0, %d)\n"
                      "  return wrk.format('GET', '/large', {['Range'] = 'bytes=' .. (block * 65536) .. '-' .. (block * 65536 + 65535), ['Host'] = 'pawl.test'})\nend\n" % (large.size // 65536 - 1))
    pawl = bar.bench.pawl(origin, pawl={"workers": 1, "access-log": "off", "log-level": "warning"}, prefix=["taskset", "-c", "0"])
    nginx = bar.bench.use(Nginx(
        bar.bench.folder / "nginx", f"location / {{ proxy_pass {origin.url}; proxy_cache c; proxy_http_version 1.1; proxy_set_header Connection ''; "
        "proxy_cache_valid 200 1d; proxy_force_ranges on; proxy_max_temp_file_size 4096m; }}".replace("}}", "}"),
        f"proxy_cache_path {bar.bench.folder}/nginx/cache keys_zone=c:10m max_size=10g inactive=1d; open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h; tcp_nopush off;", cpu=0))
    sides = {"pawl": (pawl.address, pawl.cpu), "nginx": (nginx.address, nginx.cpu)}
    for name, (address, _) in sides.items():
        for path, content in (("/small", small), ("/large", large)):
            for _ in range(2):
                answer = get(address, path, keep=False, timeout=60)
                bar.require(answer.sha == content.sha256(), f"{name} {path}: {answer}")
    seconds, rounds = (1, 3) if bar.quick else (5, 7)
    for what, path, script in (("1 KiB", "/small", None), ("64 KiB range", "/large", str(ranges))):
        costs, rates = {name: [] for name in sides}, {name: [] for name in sides}
        for _ in range(rounds):
            for name, (address, cpu) in sides.items():
                before = cpu()
                requests, wrong, errors = wrk(address, path, seconds, script)
                used = cpu() - before
                bar.require(not wrong and not errors, f"{name} {what}: {wrong} wrong answers {errors}")
                costs[name].append(used / max(1, requests) * 1e6)
                rates[name].append(requests / seconds)
        for name in sides:
            bar.figure(f"{what}, {name}: CPU an answer", round(statistics.median(costs[name]), 2), unit="us")
            bar.figure(f"{what}, {name}: answers a second", round(statistics.median(rates[name])))
        bar.figure(f"{what}: pawl over nginx", round(statistics.median(costs["pawl"]) / statistics.median(costs["nginx"]), 2))
    bar.figure("origin requests while measuring", origin.count("/small") + origin.count("/large"))
