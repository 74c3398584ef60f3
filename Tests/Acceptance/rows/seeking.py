"""Downloads in four pieces and a video with seeks, over a cold body of 200 MB from an origin that gives 16 MB/s a
connection.

aria2 -x4, axel -n4, lftp pget -n4, and headless Chromium that plays a video, once with its index in front (faststart)
and once with it at the end, and jumps to five places. Each in turns without pawl and through it, cold each time;
medians. The file has to be right; no byte is fetched twice beyond 2 %.
"""

import shutil
import statistics
import subprocess
import time

from harness.content import Content
from harness.devtools import Chromium
from harness.origin import Resource
from harness.realclients import TOOLS

RATE = 16e6
# Where a viewer goes, as parts of the whole.
PLACES = (0.5, 0.9, 0.2, 0.7, 0.35)
WATCH = """new Promise((done, failed) => {
  const video = document.createElement('video'), times = [], places = %s;
  let begun = performance.now(), left = places.slice();
  const took = () => { times.push(performance.now() - begun); };
  const next = () => {
    if (!left.length) { video.pause(); video.removeAttribute('src'); video.load(); return done(times); }
    const place = left.shift() * video.duration;
    begun = performance.now();
    video.currentTime = place;
  };
  video.muted = true;
  video.onerror = () => failed(new Error(video.error && video.error.message));
  video.addEventListener('canplay', () => { took(); video.play().catch(() => {}); next(); }, {once: true});
  video.onseeked = () => { took(); next(); };
  video.src = %s;
  document.body.append(video);
})"""


def film(folder, size):
    """Two videos of about `size` bytes, with the index in front and at the end: ten seconds of noise, again and
    again."""
    if not (shutil.which("ffmpeg") and (shutil.which("chromium") or shutil.which("google-chrome"))):
        return {}
    piece = folder / "piece.mp4"
    rate = 16_000_000  # bits a second: 2 MB
    common = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"]
    subprocess.run(
        [
            *common,
            "-f",
            "lavfi",
            "-i",
            "testsrc2=size=640x360:rate=25,noise=alls=60:allf=t",
            "-t",
            "10",
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-g",
            "25",
            "-pix_fmt",
            "yuv420p",
            "-b:v",
            str(rate),
            "-minrate",
            str(rate),
            "-maxrate",
            str(rate),
            "-bufsize",
            str(rate),
            piece,
        ],
        check=True,
    )
    turns = max(1, round(size / piece.stat().st_size)) - 1
    films = {}
    for name, flags in (("faststart", ["-movflags", "+faststart"]), ("index at the end", [])):
        file = folder / f"{name}.mp4"
        subprocess.run([*common, "-stream_loop", str(turns), "-i", piece, "-c", "copy", *flags, file], check=True)
        films[name] = file.read_bytes()
        file.unlink()
    return films


def twice(origin, path, size):
    """The share of the body that the origin sent more than once."""
    spans, end, sent, single = sorted((r.start, r.start + r.sent) for r in origin.of(path) if r.sent), 0, 0, 0
    for first, last in spans:
        sent += last - first
        single += max(0, last - max(first, end))
        end = max(end, last)
    return (sent - single) / size


def download(scenario, name, url, content, file):
    begun = time.monotonic()
    done = subprocess.run(TOOLS[name](url, file), stdin=subprocess.DEVNULL, timeout=300, capture_output=True)
    took = time.monotonic() - begun
    scenario.require(done.returncode == 0, f"{name}: {done.returncode} {done.stderr[-300:]}")
    with open(file, "rb") as opened:
        scenario.require(
            all(opened.read(len(piece)) == piece for piece in content.pieces()) and not opened.read(1),
            f"{name}: the file of {url} is wrong",
        )
    file.unlink()
    return took


def run(scenario):
    size, rounds = (40_000_000, 1) if scenario.quick else (200_000_000, 3)
    # One round of a small body says nothing of a tenth.
    most = 1.35 if scenario.quick else 1.1
    # Evenly, as a network does: in larger pieces it is the last of them that a seek waits for.
    origin = scenario.bench.origin(chunk=32 << 10)
    pawl = scenario.bench.pawl(origin, pawl={"workers": "auto"})
    content = Content("seeking", size)
    for name in TOOLS:
        if not shutil.which(name):
            scenario.note(f"{name} is not installed")
            continue
        times, again, fetched = {"alone": [], "pawl": []}, [], []
        for number in range(rounds):
            for who, address in (("alone", origin.url), ("pawl", pawl.address)):
                path = f"/{name}-{who}-{number}"
                origin.at(path, Resource(content, ranges=True, etag='"s"', pace=RATE))
                times[who].append(download(scenario, name, address + path, content, scenario.bench.folder / "got"))
                if who == "pawl":
                    again.append(twice(origin, path, size))
                    fetched.append(origin.sent(path) / size)
        report(scenario, name, times, again, fetched, most)

    films = film(scenario.bench.folder, size)
    if not films:
        scenario.note("Chromium or ffmpeg is not installed: no video")
    for name, data in films.items():
        steps, again, fetched = {"alone": [], "pawl": []}, [], []
        with Chromium(scenario.bench.folder / f"browser {name}") as browser:
            browser.socket.settimeout(120)
            for number in range(-1, rounds * 3):
                for who, address in (("alone", origin.url), ("pawl", pawl.address)):
                    path = f"/{name.replace(' ', '-')}-{who}-{number}.mp4"
                    origin.at(path, Resource(data, ranges=True, etag='"v"', type="video/mp4", pace=RATE))
                    page = browser.page()
                    taken = page.run(WATCH % (list(PLACES), repr(address + path)))
                    page.close()
                    # The first of each shows how long the browser needs to have its decoders ready.
                    if number >= 0:
                        steps[who].append(taken)
                    if who == "pawl":
                        again.append(twice(origin, path, len(data)))
                        fetched.append(origin.sent(path) / len(data))
        # Each step's median, and these together: what one step takes varies more than a tenth.
        times = {who: [sum(map(statistics.median, zip(*rows))) / 1000] for who, rows in steps.items()}
        for who, rows in steps.items():
            scenario.note(
                f"video, {name}, {who}: ms until it can play and until each of {len(PLACES)} places is there, "
                f"{len(rows)} rounds: "
                f"{[[round(each) for each in row] for row in rows]}"
            )
        report(scenario, f"Chromium, video, {name}", times, again, fetched, most)
        best = {who: sum(map(min, zip(*rows))) for who, rows in steps.items()}
        scenario.figure(
            f"Chromium, video, {name}: the same of each step's best", round(best["pawl"] / best["alone"], 3)
        )


def report(scenario, name, times, again, fetched, most):
    alone, through = (statistics.median(times[who]) for who in ("alone", "pawl"))
    scenario.note(
        f"{name}: {[round(each, 2) for each in times['pawl']]} s through pawl, "
        f"{[round(each, 2) for each in times['alone']]} s without"
    )
    scenario.figure(f"{name}: time through pawl over without", round(through / alone, 3), most)
    scenario.figure(f"{name}: bytes fetched twice over the size", round(max(again), 4), 0.02)
    scenario.figure(f"{name}: bytes from the origin over the size", round(max(fetched), 3))
