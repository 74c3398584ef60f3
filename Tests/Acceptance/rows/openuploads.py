"""1,000 open uploads at 10 KB/s each, RUFH and tus: under 64 KiB of RSS each."""

import resource
import selectors
import socket
import time

import uploadscenario
from harness.client import Client, head
from harness.content import Content
from harness.uploadload import TUS, Upload, number
from harness.uploadorigin import UploadOrigin

KIB = 1 << 10
RATE, STEP = 10_000, 5_000


def run(scenario):
    count, seconds = (200, 8) if scenario.quick else (1000, 40)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit[1], max(limit[0], 4096)), limit[1]))
    origin = scenario.bench.use(UploadOrigin(scenario.bench.folder / "origin"))
    pawl = uploadscenario.serve(scenario, origin)
    for i, dialect in enumerate((6, TUS, 10)):  # what the first uploads cost is not an open upload's
        scenario.require(
            Upload(pawl.where, f"warm-{i}", 5_000_000, dialect, "whole").run(30).result == "answered", "a first upload"
        )
    time.sleep(1)
    before = pawl.rss()
    content, size = Content("open", 8_000_000), 8_000_000
    octets = content.read(0, RATE * seconds + STEP)
    opened, watch = [], selectors.DefaultSelector()
    for i in range(count):
        opened.append(begin(scenario, pawl, i, size))
        watch.register(opened[-1].socket, selectors.EVENT_READ, opened[-1])
    bare = pawl.rss()
    begun, peak, turn, late = time.monotonic(), 0, 0, 0.0
    while time.monotonic() - begun < seconds:
        turn += 1
        for each in opened:
            try:
                each.sent += each.socket.send(octets[each.sent : each.sent + STEP], socket.MSG_DONTWAIT)
            except BlockingIOError:
                each.stalled += 1
            except OSError as error:
                scenario.require(False, f"an open upload was cut: {error}")
        for key, _ in watch.select(0):
            try:
                data = key.fileobj.recv(65536, socket.MSG_DONTWAIT)
            except OSError:
                data = b""
            if not scenario.require(
                data[:12] in (b"HTTP/1.1 104", b"HTTP/1.1 102"), f"an open upload got {data[:200]!r}"
            ):
                watch.unregister(key.fileobj)
        peak = max(peak, pawl.rss())
        ahead = begun + turn * STEP / RATE - time.monotonic()
        late = max(late, -ahead)
        time.sleep(max(0.0, ahead))
        if len(scenario.failures) > 10:
            break
    rate = sum(each.sent for each in opened) / count / (time.monotonic() - begun)
    time.sleep(1.5)
    right = 0
    for each in opened[:: max(1, count // 50)]:
        with Client(pawl.where) as client:
            client.send(head(each.location, "HEAD", each.version))
            answer = client.response("HEAD")
        offset = number(answer.get("Upload-Offset"))
        right += scenario.require(offset == each.sent, f"{each.sent} bytes were sent, {answer.status} tells {offset}")
    scenario.figure("open uploads", len(opened), count, at_least=True)
    scenario.figure("bytes a second, each", round(rate), RATE * 0.9, at_least=True)
    scenario.figure("RSS each", round((peak - before) / count / KIB, 1), 64, "KiB")
    scenario.figure("RSS each before their bytes came", round((bare - before) / count / KIB, 1), unit="KiB")
    scenario.figure("peak RSS", round(peak / 1e6, 1), unit="MB")
    scenario.figure("descriptors each", round(pawl.descriptors() / count, 2))
    scenario.figure("sends that had to wait", sum(each.stalled for each in opened))
    scenario.figure("offsets asked for and right", right)
    scenario.figure("client behind its schedule at most", round(late, 2), unit="s")
    for each in opened:
        each.close()


def begin(scenario, pawl, i, size):
    """A client whose upload has a URL and waits for its bytes: half of them creations of whole uploads, half tus
    appends."""
    client = scenario.bench.use(Client(pawl.where, 20))
    client.sent, client.stalled = 0, 0
    if i % 2:
        client.version = (("Tus-Resumable", "1.0.0"),)
        client.send(
            head(
                "/up/open",
                "POST",
                client.version + (("Upload-Length", str(size)), ("Content-Length", "0"), ("X-Test-Key", f"open-{i}")),
            )
        )
        location = client.response("POST").get("Location") or ""
    else:
        client.version = (("Upload-Draft-Interop-Version", str(3 + i // 2 % 8)),)
        done = ("Upload-Incomplete", "?0") if i // 2 % 8 == 0 else ("Upload-Complete", "?1")
        client.send(
            head(
                "/up/open", "POST", client.version + (done, ("Content-Length", str(size)), ("X-Test-Key", f"open-{i}"))
            )
        )
        raw = b""
        while b"\r\n\r\n" not in raw:
            raw += client.socket.recv(4096)
        location = next(
            (
                line.partition(b":")[2].strip().decode()
                for line in raw.split(b"\r\n")
                if line.lower().startswith(b"location:")
            ),
            "",
        )
    client.location = location[location.find("/", 8) :]
    if not scenario.require(location, f"open upload {i} got no URL"):
        raise AssertionError("no URL")
    if i % 2:
        client.send(
            head(
                client.location,
                "PATCH",
                client.version
                + (
                    ("Upload-Offset", "0"),
                    ("Content-Type", "application/offset+octet-stream"),
                    ("Content-Length", str(size)),
                ),
            )
        )
    client.socket.setblocking(False)
    return client
