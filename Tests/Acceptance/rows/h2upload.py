"""200 MB over HTTP/2 through a relay of 200 Mbit/s with 100 ms of round trip: at least 0.9 of HTTP/1.1's rate, windows
of at most 16 MiB; nginx beside it.

curl over TLS; slowlink.py is the relay. The windows are read off the WINDOW_UPDATEs by a client of our own. Downloads
are reported too.
nginx has its default settings but client_max_body_size, and beside them is asked to pass bodies on as they come (20 MB
of them).
"""

import collections
import shutil
import statistics
import struct
import subprocess
import time

import h2frames as h2
import tlsscenario
from harness.checks import Skip
from harness.content import Content
from harness.origin import Resource
from harness.uploadorigin import UploadOrigin
from slowlink import SlowLink

MB = 1_000_000
ROUND_TRIP = 0.1


def curl(version, port, *words, seconds=400):
    """(bytes sent or received a second of the whole transfer, status)."""
    done = subprocess.run(
        [
            "curl",
            "-sk",
            version,
            "--connect-to",
            f"pawl.test:443:127.0.0.1:{port}",
            "-o",
            "/dev/null",
            "-H",
            "Expect:",
            "-w",
            "%{http_code} %{http_version} %{size_upload} %{size_download} %{time_total}",
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    code, spoken, up, down, total = done.stdout.split()
    if done.returncode or not spoken.startswith("1" if "1.1" in version else "2"):
        raise AssertionError(f"curl ended with {done.returncode}, HTTP/{spoken}, {code}: {done.stderr[-300:]}")
    return (int(up) + int(down)) / float(total), int(code)


def rates(scenario, front, port, file, size, count, kinds=("--http1.1", "--http2"), path="/upload"):
    """{version: rates} of uploads, interleaved."""
    found = {kind: [] for kind in kinds}
    for _ in range(count):
        for kind in kinds:
            rate, code = curl(kind, port, "-T", str(file), "-X", "POST", f"https://pawl.test{path}")
            scenario.require(code == 201, f"{front.name} {kind}: answered {code}")
            found[kind].append(rate)
    return found


def windows(port, size):
    """Uploads `size` bytes as fast as the windows let it; (largest receive window of the connection, of the stream,
    rate) as they were told.

    What the server had taken when it granted credit is at least what was sent a round trip before: the window is what
    was granted less that.
    """
    with h2.Wire(port, secure=tlsscenario.context(("h2",)), timeout=60) as wire:
        granted, end = 65_535, time.monotonic() + 10 * ROUND_TRIP
        while time.monotonic() < end:
            granted += sum(
                struct.unpack(">I", payload)[0]
                for kind, _, number, payload in wire.frames(0.1)
                if kind == h2.WINDOW_UPDATE and number == 0
            )
        stream = first = wire.peer.get(h2.INITIAL_WINDOW, 65_535)
        wire.send(
            h2.request(
                1,
                "/upload",
                "POST",
                end=False,
                scheme="https",
                fields=(("content-length", str(size)), ("x-test-key", "windows")),
            )
        )
        sent, history, begun, largest, largest_stream = 0, collections.deque([(0.0, 0)]), time.monotonic(), 0, 0
        zeros = b"\x00" * 16_384
        while True:
            room = min(granted, stream, size) - sent
            for kind, flags, number, payload in wire.frames(0.0 if room else 0.05):
                if kind == h2.WINDOW_UPDATE:
                    more = struct.unpack(">I", payload)[0]
                    granted, stream = (granted + more, stream) if number == 0 else (granted, stream + more)
                elif kind == h2.SETTINGS and not flags & h2.ACK:
                    now = wire.peer.get(h2.INITIAL_WINDOW, first)
                    stream, first = stream + now - first, now
                elif kind in (h2.RST_STREAM, h2.GOAWAY):
                    raise AssertionError(f"frame {kind}: {payload.hex()}")
                elif number == 1 and flags & h2.END_STREAM and kind in (h2.HEADERS, h2.DATA):
                    return largest, largest_stream, size / (time.monotonic() - begun)
            now = time.monotonic()
            while len(history) > 1 and history[1][0] <= now - ROUND_TRIP:
                history.popleft()
            largest, largest_stream = max(largest, granted - history[0][1]), max(largest_stream, stream - history[0][1])
            if room:
                count = min(room, 16_384)
                sent += count
                wire.send(h2.frame(h2.DATA, h2.END_STREAM if sent == size else 0, 1, zeros[:count]))
                history.append((time.monotonic(), sent))
            elif now - begun > 300:
                raise AssertionError(f"{sent} of {size} bytes after 300 s")


def run(scenario):
    if not shutil.which("curl"):
        raise Skip("curl is needed")
    size, count = (20 * MB, 1) if scenario.quick else (200 * MB, 3)
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / "origin", hashes=False))
    downloads = scenario.bench.origin()
    downloads.at("/down", Resource(Content("down", size), etag='"d"', fields=(("Cache-Control", "max-age=6000"),)))
    file = scenario.bench.folder / "body"
    with open(file, "wb") as out:
        for each in Content("upload", size).pieces():
            out.write(each)
    files = tlsscenario.pair(scenario.bench.folder)
    route = {
        "route:main/down": {"path": "/down", "upstream": "downloads"},
        "upstream:downloads": {"url": downloads.url},
    }
    front = tlsscenario.pawl_front(scenario, origin.url, {"main": tlsscenario.section(files)}, extra=route)
    with SlowLink(front.tls) as link:
        found = rates(scenario, front, link.port, file, size, count)
        one, two = (statistics.median(found[kind]) for kind in ("--http1.1", "--http2"))
        scenario.figure("pawl: upload over HTTP/1.1", round(one * 8 / MB, 1), unit="Mbit/s")
        scenario.figure("pawl: upload over HTTP/2", round(two * 8 / MB, 1), unit="Mbit/s")
        scenario.figure("pawl: HTTP/2 over HTTP/1.1", round(two / one, 3), 0.9, at_least=True)
        largest, stream, rate = windows(link.port, min(size, 100 * MB))
        scenario.figure("pawl: largest receive window of the connection", round(largest / (1 << 20), 2), 16, "MiB")
        scenario.figure("pawl: largest receive window of the stream", round(stream / (1 << 20), 2), 16, "MiB")
        scenario.figure("pawl: upload of the client that reads the windows", round(rate * 8 / MB, 1), unit="Mbit/s")
        for kind in ("--http1.1", "--http2"):
            curl(kind, link.port, "https://pawl.test/down")
            rate, code = curl(kind, link.port, "https://pawl.test/down")
            scenario.figure(f"pawl: download {kind[2:]}", round(rate * 8 / MB, 1), unit="Mbit/s")
            scenario.require(code == 200, f"download {kind}: {code}")
    nginx = (
        None
        if scenario.quick
        else tlsscenario.nginx_front(
            scenario,
            [files],
            f"client_max_body_size 0; location / {{ proxy_pass {origin.url}; }} location /unbuffered {{ proxy_pass "
            f"{origin.url}; proxy_request_buffering off; "
            f"proxy_http_version 1.1; }} location /down {{ proxy_pass {downloads.url}; }}",
        )
    )
    if not nginx:
        return
    small = scenario.bench.folder / "small"
    small.write_bytes(file.read_bytes()[: 20 * MB])
    with SlowLink(nginx.tls) as link:
        found = rates(scenario, nginx, link.port, file, size, 1)
        one, two = (statistics.median(found[kind]) for kind in ("--http1.1", "--http2"))
        scenario.figure(
            "nginx, which stores the body first: upload over HTTP/1.1", round(one * 8 / MB, 1), unit="Mbit/s"
        )
        scenario.figure("nginx, which stores the body first: upload over HTTP/2", round(two * 8 / MB, 1), unit="Mbit/s")
        scenario.figure("nginx: HTTP/2 over HTTP/1.1", round(two / one, 3))
        found = rates(scenario, nginx, link.port, small, 20 * MB, 1, path="/unbuffered")
        for kind in found:
            scenario.figure(
                f"nginx with proxy_request_buffering off: upload of 20 MB, {kind[2:]}",
                round(statistics.median(found[kind]) * 8 / MB, 1),
                unit="Mbit/s",
            )
        for kind in ("--http1.1", "--http2"):
            rate, _ = curl(kind, link.port, "https://pawl.test/down")
            scenario.figure(f"nginx: download {kind[2:]}", round(rate * 8 / MB, 1), unit="Mbit/s")
