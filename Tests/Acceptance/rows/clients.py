"""Real clients through a cutting relay: complete, identical, and no more bytes sent again than against nginx.

curl, wget, aria2, headless Chromium, Python requests, URLSession with the fields of three libraries; the origin behind
pawl knows neither ranges nor validators, nginx serves the same file. Scripted raw clients: 0 bytes again.
"""

from harness import realclients
from harness.checks import Skip
from harness.client import Client
from harness.content import Content
from harness.origin import Resource
from harness.process import Nginx, have


def run(scenario):
    size = 12_000_000 if scenario.quick else 33_554_432
    content = Content("clients", size)
    origin = scenario.bench.origin()
    origin.at("/file", Resource(content))
    pawl = scenario.bench.pawl(origin)
    folder = scenario.bench.folder / "files"
    folder.mkdir()
    with open(folder / "file", "wb") as file:
        for piece in content.pieces():
            file.write(piece)
    servers = {"pawl": pawl.address}
    if have("nginx"):
        servers["nginx"] = scenario.bench.use(Nginx(scenario.bench.folder / "nginx", f"root {folder};")).address
    else:
        scenario.note("nginx is not installed: nothing to compare with")
    for name, (_, _, varies) in realclients.CLIENTS.items():
        runs = (1 if scenario.quick else 3) if varies else 1
        again = {}
        try:
            for who, address in servers.items():
                host, port = address.removeprefix("http://").split(":")
                again[who] = []
                for _ in range(runs if who == "pawl" else max(runs, 2) if varies else runs):
                    octets, cuts, requests = realclients.download(name, (host, int(port)), size, content.sha256())
                    again[who].append(octets)
                    if who == "pawl":
                        scenario.require(cuts >= 2, f"{name}: only {cuts} cuts")
        except Skip as skip:
            scenario.note(f"{name}: {skip}")
            continue
        except AssertionError as error:
            scenario.require(False, f"{name} through {who}: {error}")
            continue
        # Where a client's own timing decides, one of its own buffers or pieces is allowed on top.
        slack = 0 if not varies else 1 << 20 if name.startswith("aria2") else 262_144
        best = sorted(again["pawl"])[len(again["pawl"]) // 2]
        limit = max(again["nginx"]) + slack if "nginx" in again else None
        scenario.figure(f"{name}: bytes sent again (nginx {again.get('nginx')})", best, limit)

    raw = 0
    for step in (1, 1000, 65_537, 1_000_000, size // 3):
        got, tag = 0, None
        while got < min(size, 4 * step):
            with Client(pawl.address) as client:
                client.request("/file", fields=(("Range", f"bytes={got}-"), ("If-Range", tag)) if got else ())
                answer = client.response(limit=step)
            scenario.require(
                answer.status == (206 if got else 200) and answer.body == content.read(got, got + step),
                f"raw client at {got}: {answer}",
            )
            tag = tag or answer.get("ETag")
            if answer.status != 206 and got:
                raw += got
            got += len(answer.body)
    scenario.figure("scripted raw clients: bytes sent again", raw, 0)
    scenario.figure("origin requests for all of them", origin.count("/file"))
