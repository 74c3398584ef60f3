"""Real clients through a relay that cuts connections: complete and identical, from an origin that knows neither ranges
nor validators."""

import subprocess

from harness import realclients
from harness.checks import check, same, true
from harness.client import parse_address
from harness.content import Content
from harness.origin import Resource


def client_check(name):
    over = realclients.OVER.get(name)

    @check(f"{name} resumes through cuts", area="client", seconds=150, over=over, why=realclients.WHY.get(over))
    def one(bench):
        origin = bench.origin()
        content = Content("client", 12_000_000)
        origin.at("/file", Resource(content))
        pawl = bench.pawl(origin)
        again, cuts, requests = realclients.download(
            name, parse_address(pawl.address), content.size, content.sha256(), over=bench.over
        )
        true(cuts >= 2, f"only {cuts} cuts: {requests}")
        limit = 6_000_000 if name.startswith("aria2") else 400_000
        true(again <= limit, f"{again} bytes were sent again: {requests}")


for each in realclients.CLIENTS:
    client_check(each)


@check(
    "zsync fetches the parts that changed, several ranges at a time",
    area="client",
    seconds=60,
    over=("clear",),
    why="zsync speaks HTTP/1.1 in clear alone",
)
def zsync(bench):
    realclients.need("zsync")
    origin = bench.origin()
    old = Content("zsync", 4_000_000).read()
    new = bytearray(old)
    for place in range(100_000, 4_000_000, 400_000):
        new[place : place + 5000] = Content(f"zsync{place}", 5000).read()
    folder = bench.folder / "zsync"
    folder.mkdir()
    (folder / "new").write_bytes(new)
    (folder / "old").write_bytes(old)
    subprocess.run(["zsyncmake", "-u", "new", "-o", "new.zsync", "new"], cwd=folder, check=True, capture_output=True)
    for name in ("new", "new.zsync"):
        origin.at(f"/{name}", Resource((folder / name).read_bytes(), fields=(("Cache-Control", "max-age=600"),)))
    pawl = bench.pawl(origin)
    for number in range(2):
        begun = len(pawl.access("/new", 0))
        done = subprocess.run(
            ["zsync", "-i", "old", "-o", f"got{number}", f"{pawl.address}/new.zsync"],
            cwd=folder,
            capture_output=True,
            timeout=40,
        )
        same(done.returncode, 0, f"exit code: {done.stderr[-300:]}")
        same((folder / f"got{number}").read_bytes() == new, True, "the file")
        sent = sum(line["bytes"] for line in pawl.access("/new", 1)[begun:] if line["target"] == "/new")
        true(sent < 200_000, f"{sent} bytes for ten changed places of 5,000")
