"""Every row of the table, in its order."""

import load
import rows
from failures import CutUploads, Down, Resets
from resources import Calls, Idle, Loops
from rows import GIB, KIB, MIB
from tail import Tail


def every():
    """All rows, in the order of the table."""
    both = ["pawl", "nginx"]
    caches = [*both, "haproxy", "varnish", "trafficserver", "h2o", "floor:write", "floor:sendfile"]
    spool = {"pawl": {"plain": "spool"}}
    large = [*both, "varnish", "varnish:file", "trafficserver"]
    return [
        rows.Row("hit-1k", "cached hit, 1 KiB", "/bytes/1024/a", KIB, caches, [*rows.goals(0.65, 0.58), rows.Goal("bar", "haproxy", 1), rows.Goal("aim", "h2o", 1)]),
        rows.Row("hit-16k", "cached hit, 16 KiB", "/bytes/16384/a", 16 * KIB, caches, rows.goals(0.78, 0.70)),
        rows.Row("hit-256k", "cached hit, 256 KiB", "/bytes/262144/a", 256 * KIB, caches, [rows.Goal("bar", "nginx", 0.95), rows.Goal("aim", "sendfile in C", 1.05)]),
        rows.Row("large", "cached hit, 1 GiB", f"/bytes/{GIB}/a", GIB, [*large, "floor:sendfile"], [*rows.goals(0.95, 0.85), rows.Goal("bar", "nginx", 1, "rate")], cost="octets", connections=1, count=1),
        rows.Row("ranges", "random 64 KiB ranges of 1 GiB", f"/bytes/{GIB}/a", 64 * KIB, large, [*rows.goals(0.75, 0.65), rows.Goal("bar", "varnish", 0.55)], status=206, ranges=GIB),
        rows.Row("log", "1 KiB with access log", "/bytes/1024/a", KIB, both, rows.goals(0.70, 0.62), kind="log", options={"pawl": {"log": True}}),
        rows.Row("tls-1k", "TLS 1.3, 1 KiB", "/bytes/1024/a", KIB, both, rows.goals(0.65, 0.58), kind="tls"),
        rows.Row("tls-16k", "TLS 1.3, 16 KiB", "/bytes/16384/a", 16 * KIB, both, rows.goals(0.72, 0.63), kind="tls"),
        rows.Row("tls-large", "TLS 1.3, 1 GiB", f"/bytes/{GIB}/a", GIB, both, rows.goals(0.80, 0.72), kind="tls", cost="octets", connections=1, count=1),
        rows.Row("h2-1k", "HTTP/2 over TLS, 1 KiB", "/bytes/1024/a", KIB, both, rows.goals(0.80, 0.65), kind="tls", how=load.http2),
        rows.Row("h2-16k", "HTTP/2 over TLS, 16 KiB", "/bytes/16384/a", 16 * KIB, both, rows.goals(0.80, 0.65), kind="tls", how=load.http2),
        rows.Row("pass", "pass-through of 1 KiB", "/pass/1024/a", KIB, [*both, "haproxy", "varnish", "trafficserver", "through"], rows.goals(0.75, 0.60), warm=False),
        rows.Fill("fill", "cold fill, 100 MiB", f"/bytes/{100 * MIB}", 100 * MIB, ["pawl", "relay", *large[1:]], [*rows.goals(1.3, 1.1, "relay in C"), rows.Goal("bar", "fastest peer", 0.5, "first")],
             warm=False, cost="octets"),
        rows.Upload("upload-1g", "1 GiB upload, spooled and forwarded", "", GIB, ["pawl", "relay", "nginx", "pawl:data"], rows.goals(1.3, 1.1, "relay in C"), kind="upload", warm=False,
               cost="octets", options=spool),
        rows.Upload("uploads-200", "200 concurrent 1 MiB uploads", "", MIB, ["pawl", "relay", "nginx"], rows.goals(0.60, 0.45), kind="upload", warm=False, options=spool,
               connections=200, count=400),
        Idle("idle"),
        Loops("loops"),
        Tail("tail"),
        Calls("syscalls", "system calls of a cached hit, 1 KiB", KIB, 3),
        Calls("syscalls-64k", "system calls of a cached hit, 64 KiB, with sendfile", 64 * KIB, 4),
        Resets("resets", "downloads while the origin breaks off", True),
        Resets("resets-legacy", "the same, from an origin without ranges and validators", False, (0, 1, 5)),
        Down("origin-down", "what clients get while the origin is down"),
        CutUploads("uploads-cut", "an upload whose client loses its connection"),
    ]
