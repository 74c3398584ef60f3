"""CPU of each stored answer over TLS 1.3, and over HTTP/2 in it, beside nginx in the same run (reported).

One worker each, pinned to one core, the load on the other; interleaved rounds, medians. Needs wrk, h2load, curl and nginx.
"""

import re
import statistics
import subprocess

import tlsbar
from harness.checks import Skip
from harness.content import Content
from harness.origin import Resource
from harness.process import have

MIB = 1 << 20
OTHER = ["taskset", "-c", "1"]


def output(*words, seconds=120):
    return subprocess.run([*OTHER, *map(str, words)], capture_output=True, text=True, timeout=seconds).stdout


def wrk(url, seconds):
    out = output("wrk", "-t1", "-c64", f"-d{seconds}s", url)
    if "Non-2xx" in out or "Socket errors" in out:
        raise AssertionError(out)
    return int(re.search(r"(\d+) requests in", out).group(1))


def h2load(url, seconds):
    """Ten streams on each of eight connections."""
    out = output("h2load", "-t1", "-c8", "-m10", "-D", seconds, url)
    done, failed = re.search(r"(\d+) succeeded, (\d+) failed", out).groups()
    if int(failed) or not int(done):
        raise AssertionError(out)
    return int(done)


def download(url, version):
    out = output("curl", "-sk", version, "--tlsv1.3", "-o", "/dev/null", "-w", "%{http_code} %{http_version} %{size_download}", url)
    code, _, size = out.split()
    if code != "200":
        raise AssertionError(out)
    return int(size) / 1e9


def run(bar):
    if not have("wrk", "h2load", "curl", "nginx", "taskset"):
        raise Skip("wrk, h2load, curl, nginx and taskset are needed")
    origin = bar.bench.origin()
    kept, large = (("Cache-Control", "max-age=60000"),), (64 if bar.quick else 1024) * MIB
    for name, size in (("/1k", 1024), ("/16k", 16_384), ("/large", large)):
        origin.at(name, Resource(Content(name, size), ranges=True, etag=f'"{name}"', fields=kept))
    files = tlsbar.pair(bar.bench.folder)
    quiet = {"workers": 1, "access-log": "off", "log-level": "warning"}
    pawl = tlsbar.pawl_front(bar, origin, {"main": tlsbar.section(files)}, pawl=quiet, prefix=["taskset", "-c", "0"])
    nginx = tlsbar.nginx_front(
        bar, [files], f"keepalive_timeout 600; location / {{ proxy_pass {origin.url}; proxy_cache c; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_cache_valid 200 1d; "
        "proxy_max_temp_file_size 4096m; }", f"proxy_cache_path {bar.bench.folder}/nginx/cache keys_zone=c:10m max_size=10g inactive=1d; "
        "open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h;", cpu=0)
    sides = {"pawl": pawl, "nginx": nginx}
    for front in sides.values():
        for path in ("/1k", "/16k", "/large"):
            with tlsbar.http1(getattr(front, "http1", front.clear), False, 120) as client:
                client.request(path)
                client.response(keep=False)
    seconds, rounds = (1, 3) if bar.quick else (4, 5)
    measures = [
        ("TLS 1.3, 1 KiB", "us", 1e6, lambda front: wrk(front.url(True, "/1k"), seconds)),
        ("TLS 1.3, 16 KiB", "us", 1e6, lambda front: wrk(front.url(True, "/16k"), seconds)),
        ("HTTP/2, 1 KiB", "us", 1e6, lambda front: h2load(front.url(True, "/1k"), seconds)),
        ("HTTP/2, 16 KiB", "us", 1e6, lambda front: h2load(front.url(True, "/16k"), seconds)),
        ("TLS 1.3, large body", "s/GB", 1, lambda front: download(front.url(True, "/large"), "--http1.1")),
        ("HTTP/2, large body", "s/GB", 1, lambda front: download(front.url(True, "/large"), "--http2")),
    ]
    for what, unit, factor, work in measures:
        costs, rates = {name: [] for name in sides}, {name: [] for name in sides}
        for _ in range(rounds):
            for name, front in sides.items():
                before = front.process.cpu()
                count = work(front)
                costs[name].append((front.process.cpu() - before) / count * factor)
                rates[name].append(count / seconds)
        for name in sides:
            more = f" ({statistics.median(rates[name]):,.0f} a second)" if unit == "us" else ""
            bar.figure(f"{what}, {name}{more}", round(statistics.median(costs[name]), 2), unit=unit)
        bar.figure(f"{what}: pawl over nginx", round(statistics.median(costs["pawl"]) / statistics.median(costs["nginx"]), 2))
