"""Rows about connections that are held: idle ones, and those of slow readers."""

import socket
import statistics
import time

import load
import network
from goals import Limit
from rows import KIB, MIB, Row
from running import MISHAPS, Failure

REQUEST = b"GET /bytes/1024/a HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Held(Row):
    """Memory for each connection of a fresh process that has seen a load before. `counts`: how many, and how many with
    --quick."""

    unit = "bytes"

    def __init__(self, name, title, length, counts, wanted):
        super().__init__(
            name, title, f"/bytes/{length}/a", length, ["pawl", "nginx", "haproxy", "trafficserver", "varnish"], wanted
        )
        self.counts = counts

    def run(self, bench):
        self.count = self.counts[bench.quick]
        result = {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "peers": [],
            "skipped": {},
            "wanted": [each.text() for each in self.goals],
        }
        figures = {}
        for turn in range(1 if bench.quick else 3):
            for name in self.peers:
                if (
                    (bench.wanted and name not in bench.wanted)
                    or name in result["skipped"]
                    or (turn and name not in ("pawl", "nginx"))
                ):
                    continue
                try:
                    figures.setdefault(name, []).append(self.once(bench, name))
                except MISHAPS as why:
                    result["skipped"][name] = str(why) or repr(why)
        for name, found in figures.items():
            if found:
                costs = [each["bytes"] for each in found]
                result["peers"].append(
                    {
                        "name": name,
                        "peer": name,
                        "variant": "",
                        "cost": round(statistics.median(costs), 1),
                        "costs": costs,
                        "rate": None,
                        "idle": statistics.median(each["idle"] for each in found),
                        "memory": found[0]["memory"],
                        "rounds": found,
                    }
                )
        result["goals"] = [each for each in (goal.judge(result["peers"]) for goal in self.goals) if each]
        return result

    def once(self, bench, name):
        server = bench.server(name, held=True)
        try:
            side = server.sides("clear")[0]
            bench.prepare(side, self.path, self.length)
            load.own(bench, side, "/bytes/1024/a", KIB, seconds=1)
            load.rest(server.processes)
            before = server.processes.memory()
            connections = []
            try:
                for number in range(self.count):
                    connections.append(socket.socket())
                    self.open(side, connections[-1], number)
                after, busy = self.hold(bench, server, connections)
            finally:
                for connection in connections:
                    connection.close()
            return {
                "bytes": round((after["pss"] - before["pss"]) / self.count, 1),
                "rss": round((after["rss"] - before["rss"]) / self.count, 1),
                "idle": round(busy, 5),
                "memory": after,
            }
        finally:
            bench.stop_servers(name)

    def open(self, side, connection, number):
        """From several addresses, so that ports do not run short."""
        connection.settimeout(20)
        connection.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        connection.bind((f"127.0.0.{2 + number // 2500}", 0))
        connection.connect(("127.0.0.1", side.port))


class Idle(Held):
    """Keep-alive connections after one request each, and the server's CPU while they are idle."""

    def __init__(self, name):
        super().__init__(
            name,
            "15,000 idle keep-alive connections",
            KIB,
            (15_000, 2000),
            [
                Limit("bar", 700, "bytes each"),
                Limit("aim", 500, "bytes each"),
                Limit("bar", 0.005, "of a core while idle", "idle"),
            ],
        )

    def open(self, side, connection, number):
        super().open(side, connection, number)
        ask(connection)

    def hold(self, bench, server, connections):
        load.rest(server.processes)
        after, reading, seconds = server.processes.memory(), server.processes.read(), 2 if bench.quick else 5
        time.sleep(seconds)
        idle = server.processes.since(reading) / seconds
        for connection in connections[:: max(1, self.count // 100)]:  # they are still there
            ask(connection)
        return after, idle


class Slow(Held):
    """Readers that take 4 KiB a second each of a large body, and the server's CPU meanwhile."""

    PIECE, BUFFER = 4 * KIB, 128 * KIB

    def __init__(self, name):
        super().__init__(name, "5,000 slow readers of a body of 64 MiB", 64 * MIB, (5000, 500), [])

    def run(self, bench):
        with network.send_buffers(self.BUFFER):
            return super().run(bench)

    def open(self, side, connection, number):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * self.PIECE)
        super().open(side, connection, number)
        connection.sendall(f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{side.port}\r\n\r\n".encode())

    def hold(self, bench, server, connections):
        """Every second each reads once; the head and the beginning of the body have to be right."""
        for connection in connections:
            head, _, body = connection.recv(self.PIECE).partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200") or body != bench.bytes[: len(body)]:
                raise Failure(f"unexpected answer: {head[:60]}")
        seconds, reading, begun = 3 if bench.quick else 10, server.processes.read(), time.monotonic()
        for second in range(1, seconds + 1):
            for connection in connections:
                if not connection.recv(self.PIECE):
                    raise Failure("a slow reader's connection was closed")
            time.sleep(max(0, begun + second - time.monotonic()))
        return server.processes.memory(), server.processes.since(reading) / (time.monotonic() - begun)


def ask(connection):
    """One request, its answer whole."""
    connection.sendall(REQUEST)
    got = b""
    while len(got) < 1024 or len(got) - got.find(b"\r\n\r\n") - 4 < 1024:
        data = connection.recv(8192)
        if not data:
            raise Failure("an idle connection was closed")
        got += data
    if not got.startswith(b"HTTP/1.1 200"):
        raise Failure(f"unexpected answer: {got[:60]}")
