"""Every row of the table, in its order."""

import load
import rows
from connections import Idle, Slow
from failures import CutUploads, Down, Resets
from goals import Goal, goals
from resources import Calls, Loops
from rest import Rest
from rows import GIB, KIB, MIB
from sites import Site, Story
from tail import Tail

# About how long each takes: minutes, and seconds with --quick. Rows that tell of the same life are measured with the
# first of them.
TAKES = {
    "hit-1k": (1.5, 15),
    "hit-16k": (1.5, 15),
    "hit-256k": (1.5, 15),
    "large": (1.5, 25),
    "ranges": (1, 8),
    "log": (0.5, 8),
    "tls-1k": (0.5, 5),
    "tls-16k": (0.5, 5),
    "tls-large": (1, 15),
    "h2-1k": (0.5, 5),
    "h2-16k": (0.5, 5),
    "pass": (1, 12),
    "fill": (1, 12),
    "upload-1g": (2, 35),
    "uploads-200": (1, 15),
    "cold-small": (8, 30),
    "tail-warm": (0, 0),
    "tail-restart": (0, 0),
    "cold-200k": (30, 15),
    "zipf": (55, 30),
    "zipf-warm": (0, 0),
    "zipf-restart": (0, 0),
    "zipf-close": (30, 20),
    "zipf-quarter": (16, 25),
    "rest": (40, 50),
    "connect": (1, 10),
    "connect-tls": (1, 8),
    "connect-resumed": (1, 8),
    "idle": (2, 20),
    "slow": (3, 25),
    "loops": (1, 8),
    "tail": (4, 30),
    "syscalls": (1, 15),
    "syscalls-64k": (1, 15),
    "resets": (2, 15),
    "resets-legacy": (1, 10),
    "origin-down": (1, 15),
    "uploads-cut": (1, 15),
}


def every():
    """All rows, in the order of the table."""
    both = ["pawl", "nginx"]
    caches = [*both, "haproxy", "varnish", "trafficserver", "h2o", "floor:write", "floor:sendfile"]
    spool = {"pawl": {"plain": "spool"}}
    large = [*both, "varnish", "varnish:file", "trafficserver"]
    return [
        rows.Row(
            "hit-1k",
            "cached hit, 1 KiB",
            "/bytes/1024/a",
            KIB,
            caches,
            [*goals(0.58, 0.50), Goal("bar", "h2o", 1), Goal("bar", "haproxy", 1)],
        ),
        rows.Row(
            "hit-16k",
            "cached hit, 16 KiB",
            "/bytes/16384/a",
            16 * KIB,
            caches,
            [*goals(0.75, 0.62), Goal("bar", "h2o", 1)],
        ),
        rows.Row(
            "hit-256k",
            "cached hit, 256 KiB",
            "/bytes/262144/a",
            256 * KIB,
            caches,
            [*goals(0.85, 0.80), Goal("bar", "h2o", 1), Goal("aim", "sendfile in C", 1.05)],
        ),
        rows.Row(
            "large",
            "cached hit, 1 GiB",
            f"/bytes/{GIB}/a",
            GIB,
            [*large, "floor:sendfile"],
            [*goals(0.98, 0.90), Goal("bar", "nginx", 1, "rate")],
            cost="bytes",
            connections=1,
            count=1,
        ),
        rows.Row(
            "ranges",
            "random 64 KiB ranges of 1 GiB",
            f"/bytes/{GIB}/a",
            64 * KIB,
            large,
            [*goals(0.75, 0.65), Goal("bar", "varnish", 0.55)],
            status=206,
            ranges=GIB,
        ),
        rows.Row(
            "log",
            "1 KiB with access log",
            "/bytes/1024/a",
            KIB,
            both,
            goals(0.70, 0.62),
            kind="log",
            options={"pawl": {"log": True}},
        ),
        rows.Row("tls-1k", "TLS 1.3, 1 KiB", "/bytes/1024/a", KIB, both, goals(0.65, 0.58), kind="tls"),
        rows.Row("tls-16k", "TLS 1.3, 16 KiB", "/bytes/16384/a", 16 * KIB, both, goals(0.72, 0.63), kind="tls"),
        rows.Row(
            "tls-large",
            "TLS 1.3, 1 GiB",
            f"/bytes/{GIB}/a",
            GIB,
            both,
            goals(0.80, 0.72),
            kind="tls",
            cost="bytes",
            connections=1,
            count=1,
        ),
        rows.Row(
            "h2-1k", "HTTP/2 over TLS, 1 KiB", "/bytes/1024/a", KIB, both, goals(0.80, 0.65), kind="tls", how=load.http2
        ),
        rows.Row(
            "h2-16k",
            "HTTP/2 over TLS, 16 KiB",
            "/bytes/16384/a",
            16 * KIB,
            both,
            goals(0.80, 0.65),
            kind="tls",
            how=load.http2,
        ),
        rows.Row(
            "pass",
            "pass-through of 1 KiB",
            "/pass/1024/a",
            KIB,
            [*both, "haproxy", "varnish", "trafficserver", "through"],
            goals(0.75, 0.60),
            warm=False,
        ),
        rows.Fill(
            "fill",
            "cold fill, 100 MiB",
            f"/bytes/{100 * MIB}",
            100 * MIB,
            ["pawl", "relay", *large[1:]],
            [*goals(1.3, 1.1, "relay in C"), Goal("bar", "fastest peer", 0.5, "first")],
            warm=False,
            cost="bytes",
        ),
        rows.Upload(
            "upload-1g",
            "1 GiB upload, spooled and forwarded",
            "",
            GIB,
            ["pawl", "relay", "nginx", "pawl:data"],
            goals(1.3, 1.1, "relay in C"),
            kind="upload",
            warm=False,
            cost="bytes",
            options=spool,
        ),
        rows.Upload(
            "uploads-200",
            "200 concurrent 1 MiB uploads",
            "",
            MIB,
            ["pawl", "relay", "nginx"],
            goals(0.60, 0.45),
            kind="upload",
            warm=False,
            options=spool,
            connections=200,
            count=400,
        ),
        *small(),
        *zipf(),
        Rest("rest"),
        *connects(),
        Idle("idle"),
        Slow("slow"),
        Loops("loops"),
        Tail("tail"),
        Calls("syscalls", "system calls of a cached hit, 1 KiB", KIB, 3),
        Calls("syscalls-64k", "system calls of a cached hit, 64 KiB, with sendfile", 64 * KIB, 4),
        Resets("resets", "downloads while the origin breaks off", True),
        Resets("resets-legacy", "the same, from an origin without ranges and validators", False, (0, 1, 5)),
        Down("origin-down", "what clients get while the origin is down"),
        CutUploads("uploads-cut", "an upload whose client loses its connection"),
    ]


def small():
    """Objects of 10 KiB, each in turn."""
    stored = ["pawl", "nginx", "varnish:file", "varnish:malloc", "trafficserver", "haproxy"]
    few = Story(
        stored, (20_000, 2000), (10 * KIB, 10 * KIB), count=(20_000, 2000), again=(60_000, 6000), connections=16
    )
    many = Story(
        stored[:3] + ["trafficserver"],
        (200_000, 4000),
        (10 * KIB, 10 * KIB),
        count=(200_000, 4000),
        again=(0, 0),
        connections=16,
    )
    return [
        Site("cold-small", "20,000 cold objects of 10 KiB", few, "cold", goals(1, 0.7)),
        Site("tail-warm", "hits over 20,000 objects of 10 KiB, all used before", few, "warm", goals(0.9, 0.6)),
        Site("tail-restart", "the same, first use after a restart", few, "restart", goals(1, 0.7)),
        Site("cold-200k", "200,000 cold objects of 10 KiB", many, "cold", goals(1, 0.7)),
    ]


def zipf():
    """A mix as sites have it: 10^5 objects, log-uniform from 1 to 256 KiB, 64 connections, few objects asked for often
    and many seldom."""
    stored, bars = (
        ["pawl", "nginx", "varnish:file", "trafficserver", "haproxy"],
        [
            *goals(0.85, 0.65),
            Goal("bar", "trafficserver", 0.6),
            Goal("bar", "varnish", 0.6),
            Goal("bar", "nginx", 1, "p99"),
        ],
    )
    site = {
        "objects": (100_000, 10_000),
        "sizes": (KIB, 256 * KIB),
        "count": (1_000_000, 10_000),
        "again": (100_000, 5_000),
        "connections": 64,
        "zipf": 0.95,
    }
    kept, closed, quarter = (
        Story(stored, **site),
        Story(stored, **site, close=True, rounds=3),
        Story(stored[:-1], **{**site, "count": (300_000, 10_000)}, share=0.25, rounds=3),
    )
    return [
        Site("zipf", "Zipf mix, 10^6 requests from cold", kept, "cold", bars),
        Site("zipf-warm", "Zipf mix, warm", kept, "warm", []),
        Site("zipf-restart", "Zipf mix after a restart", kept, "restart", []),
        Site("zipf-close", "Zipf mix, 10^6 requests from cold, a connection for each", closed, "cold", bars),
        Site("zipf-quarter", "Zipf mix, warm, with memory for a quarter of it", quarter, "warm", []),
    ]


def connects():
    """One hot object of 1 KiB, a connection for each request."""
    hot, peers = {"how": load.connect}, ["pawl", "nginx", "haproxy", "trafficserver"]
    return [
        rows.Connect(
            "connect",
            "1 KiB, a connection for each request",
            "/site/1024/0",
            KIB,
            [*peers, "varnish"],
            goals(0.9, 0.7),
            **hot,
        ),
        rows.Connect(
            "connect-tls",
            "the same over TLS 1.3, full handshakes",
            "/site/1024/0",
            KIB,
            peers,
            goals(1, 0.95),
            kind="tls",
            **hot,
        ),
        rows.Connect(
            "connect-resumed",
            "the same, resumed",
            "/site/1024/0",
            KIB,
            peers,
            goals(0.95, 0.85),
            kind="tls",
            tls="resumed",
            **hot,
        ),
    ]
