"""nghttp2's clients and Chromium over HTTP/2: load, large bodies, uploads, downloads that break at the origin or on the
way."""

import hashlib
import json
import os
import re
import shutil
import subprocess

from harness import realclients, uploadclients
from harness.checks import Skip, check, same, true
from harness.client import parse_address
from harness.content import Content
from harness.origin import Resource, break_points
from harness.relay import Relay
from harness.uploads import NO_STORE, Dialect, asked, stored

MIB = 1 << 20
FRESH = (("Cache-Control", "max-age=600"),)
SECURE = dict(over=("tls", "h2", "h2c"), why="HTTP/1.1 in clear has its own measures")
H2 = dict(over=("h2", "h2c"), why="it speaks HTTP/2 only")
BROWSER = dict(over=("tls", "h2"), why="what a browser speaks over TLS")


def run(*command, seconds=60, good=(0,)):
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    true(
        done.returncode in good,
        f"{command[0]} ended with {done.returncode}: {done.stderr[-300:]!r} {done.stdout[-300:]!r}",
    )
    return done.stdout


@check(
    "h2load: thousands of requests on many streams, all answered with the right sizes",
    area="client",
    tags=("h2c",),
    **SECURE,
)
def load(bench):
    origin = bench.origin()
    origin.at("/kept", Resource(Content("h2load", 20_000), fields=FRESH))
    origin.at("/plain", Resource(Content("h2load", 3_000), fields=NO_STORE))
    origin.at("/big", Resource(Content("h2load", 4 * MIB), fields=FRESH))
    pawl = bench.pawl(origin)
    speak = ["--h1"] if bench.over == "tls" else []
    for target, count, size, streams in (
        ("/kept", 4000, 20_000, 20),
        ("/plain", 1000, 3_000, 10),
        ("/big", 60, 4 * MIB, 6),
    ):
        text = run(
            "h2load", *speak, "-n", str(count), "-c", "10", "-m", str(streams), "-t", "1", pawl.address + target
        ).decode()
        same(
            re.findall(r"requests: (\d+) total.* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", text),
            [(str(count), str(count), "0", "0", "0")],
            f"{target}: {text[-700:]}",
        )
        same(re.findall(r"status codes: (\d+) 2xx", text), [str(count)], f"{target}: status codes")
        data = re.search(r"traffic: .*?\((\d+)\) total, .*?\((\d+)\) headers .*?, .*?\((\d+)\) data", text)
        same(int(data.group(3)), count * size, f"{target}: bytes of data")


@check(
    "nghttp: bodies from hits, misses and an origin that breaks are whole; uploads arrive",
    area="client",
    tags=("h2c",),
    **H2,
)
def nghttp(bench):
    origin = bench.origin()
    content = Content("nghttp", 6 * MIB)
    origin.at("/kept", Resource(content, fields=FRESH))
    origin.at(
        "/broken", Resource(content, ranges=True, etag='"n"', fields=NO_STORE, breaks=break_points([MIB, 4 * MIB]))
    )
    origin.at("/in", stored)
    pawl = bench.pawl(origin)
    for target in ("/kept", "/kept", "/broken"):
        got = run("nghttp", "--no-verify-peer", pawl.address + target)
        same((len(got), hashlib.sha256(got).hexdigest()), (content.size, content.sha256()), target)
    file = bench.folder / "file"
    file.write_bytes(content.read())
    same(
        run("nghttp", "--no-verify-peer", "-d", str(file), pawl.address + "/in").strip(),
        b"got %d bytes" % content.size,
        "upload",
    )
    d = Dialect(6)
    fields = [word for name, value in d.version + (d.completes(True),) for word in ("-H", f"{name.lower()}: {value}")]
    text = run("nghttp", "--no-verify-peer", "-v", "-n", "-d", str(file), *fields, pawl.address + "/in").decode(
        "latin-1"
    )
    true(
        re.search(r":status: 104", text) and re.search(r"location: \S+/\.pawl/uploads/", text), f"no 104: {text[-800:]}"
    )
    same([len(r.body) for r in asked(origin)], [content.size] * 2, "uploads at the origin")


@check(
    "Chromium downloads whole from an origin that breaks and knows no ranges",
    area="client",
    seconds=120,
    over=("h2",),
    why="it chooses HTTP/2 itself",
)
def broken_origin(bench):
    origin = bench.origin()
    content = Content("h2-chromium", 12_000_000)
    origin.at("/file", Resource(content, fields=FRESH, breaks=break_points([3_000_000, 8_000_000])))
    pawl = bench.pawl(origin)
    path = realclients.chromium(pawl.address + "/file", str(bench.folder), bench.over)
    with open(path, "rb") as file:
        same(
            (os.path.getsize(path), hashlib.file_digest(file, "sha256").hexdigest()),
            (content.size, content.sha256()),
            "the file",
        )
    line = pawl.access("/file")[0]
    true("HTTP/2" in str(line), f"spoken: {line}")


PAGE = """<!doctype html><title>download</title><script>
const state = { got: 0, tries: 0, end: null, asked: [] }
async function download(url) {
  const parts = []
  let tag = null
  while (state.tries++ < 12) {
    try {
      const headers = state.got && tag ? { Range: `bytes=${state.got}-`, 'If-Range': tag } : {}
      const answer = await fetch(url, { headers, cache: 'no-store' })
      state.asked.push(`${answer.status} ${headers.Range ?? ''}`)
      if (answer.status === 200) { parts.length = 0; state.got = 0 }
      else if (answer.status !== 206) { state.end = `status ${answer.status}`; return }
      tag ??= answer.headers.get('ETag')
      const reader = answer.body.getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        parts.push(value)
        state.got += value.length
      }
      const digest = await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer())
      state.sha = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, '0')).join('')
      state.end = 'success'
      return
    } catch (error) { state.asked.push(String(error)) }
  }
  state.end = 'too many tries'
}
</script>"""


@check(
    "a page in Chromium goes on with Range and If-Range where its connection was cut",
    area="client",
    seconds=120,
    **BROWSER,
)
def page(bench):
    origin = bench.origin()
    content = Content("h2-page", 12_000_000)
    origin.at("/file", Resource(content, fields=FRESH))
    origin.at("/page", Resource(PAGE.encode(), type="text/html"))
    pawl = bench.pawl(origin)
    cuts = []

    def plan(number):
        """The first two connections on which the file is under way."""
        if len(cuts) < 2:
            cuts.append(number)
            return (3_000_000, 4_500_000)[len(cuts) - 1], ("fin", "rst")[len(cuts) - 1]
        return None

    with Relay(parse_address(pawl.address), plan, rate=40e6, over=bench.over) as relay:
        host = relay.address.replace("127.0.0.1", "localhost")  # where a page may compute digests
        trip = uploadclients.Trip(host, "", content, relay, bench.folder, bench.over)
        with uploadclients.page(trip, host + "/page", ready="download") as (evaluate, _):
            evaluate(f"void download('{host}/file')")
            uploadclients.wait_until(lambda: evaluate("state.end"), 60, "the end of the download")
            state = json.loads(evaluate("JSON.stringify(state)"))
        same((state["end"], state.get("sha"), state["got"]), ("success", content.sha256(), content.size), f"{state}")
        true(
            relay.cuts == 2 and any(a.startswith("206 bytes=") for a in state["asked"]),
            f"{relay.cuts} cuts, {state['asked']}",
        )
        again = relay.body.get("/file", 0) - content.size
        true(again <= 2_000_000, f"{again} bytes were sent again: {state['asked']}")
