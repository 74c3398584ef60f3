"""Rows about trouble: origins that break off, go down, know nothing of ranges; clients that break off in an upload. No
CPU is measured here."""

import re
import socket
import threading
import time

from running import MISHAPS, Failure
from unreliable import Unreliable, reset

MIB = 1 << 20
SERVERS = ["pawl", "nginx", "varnish", "trafficserver", "haproxy"]
TIMES = (0, 1, 2, 5, 10, 20, 50)


def many(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


class Answer:
    """What a client got: status, fields, bytes, whether they are the right ones, whether all of them came."""

    def __init__(self):
        self.status, self.fields, self.octets, self.right, self.whole, self.why = 0, {}, 0, True, False, ""

    def text(self, size):
        if not self.status:
            return self.why or "nothing"
        if self.status not in (200, 206):
            return str(self.status)
        if not self.right:
            return f"{self.status}, WRONG OCTETS"
        return (
            f"{self.status}, whole"
            if self.whole
            else f"{self.status}, {self.octets / size * 100:.0f} % and then {self.why}"
        )


def get(bench, port, path, first=0, last=None, tag=None, seconds=20):
    """One GET on a connection of its own, from a byte on."""
    answer, connection = Answer(), socket.socket()
    head, end = b"", time.monotonic() + seconds
    connection.settimeout(seconds)
    try:
        connection.connect(("127.0.0.1", port))
        more = f"Range: bytes={first}-{'' if last is None else last}\r\n" if first or last is not None else ""
        more += f"If-Range: {tag}\r\n" if tag and more else ""
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
        while b"\r\n\r\n" not in head:
            data = connection.recv(65536)
            if not data:
                answer.why = "closed without an answer"
                return answer
            head += data
        raw, _, body = head.partition(b"\r\n\r\n")
        lines = raw.decode("latin-1").split("\r\n")
        answer.status = int(lines[0].split()[1])
        answer.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        at = (
            int(re.match(r"bytes (\d+)-", answer.fields.get("content-range", "")).group(1))
            if answer.status == 206
            else 0
        )
        answer.first = at
        length, chunked = answer.fields.get("content-length"), "transfer-encoding" in answer.fields
        if chunked:
            answer.why = "chunked"  # of a body whose length the origin gave
        while length is None or answer.octets < int(length):
            if body:
                answer.right &= body == bench.bytes[at : at + len(body)]
                at, answer.octets = at + len(body), answer.octets + len(body)
                if length is not None and answer.octets >= int(length):
                    break
            connection.settimeout(max(0.01, end - time.monotonic()))
            body = connection.recv(1 << 18)
            if not body:
                answer.why = "closed"
                return answer
        answer.whole = True
    except socket.timeout:
        answer.why = f"nothing more for {seconds} s"
    except OSError:
        answer.why = "reset"
    finally:
        connection.close()
    return answer


class Trouble:
    """A row whose result is a table of its own: what happened, by server."""

    unit, goals, columns = "", [], []

    def __init__(self, name, title):
        self.name, self.title = name, title

    def run(self, bench):
        self.size = (4 if bench.quick else 16) * MIB
        result = {
            "name": self.name,
            "title": self.title,
            "unit": "",
            "peers": [],
            "skipped": {},
            "goals": [],
            "wanted": [],
            "columns": self.columns,
            "table": [],
        }
        for name in SERVERS:
            if bench.wanted and name not in bench.wanted:
                continue
            origin = Unreliable(bench, self.size)
            try:
                side = bench.server(
                    name, origin=origin.address, **({"disk": "1G"} if name == "trafficserver" else {})
                ).sides("clear")[0]
                result["table"] += [{"server": name, **line} for line in self.lines(bench, side, origin)]
            except MISHAPS as why:
                result["skipped"][name] = str(why) or repr(why)
            finally:
                bench.stop_servers(name)
                origin.fall()
        return result


class Resets(Trouble):
    """Downloads while the origin resets the connection so many times in each, evenly spread: with a plain client, which
    asks once, and with one that asks for the rest. What came has to be right to the byte."""

    def __init__(self, name, title, ranges, times=TIMES):
        super().__init__(name, title)
        self.ranges, self.times = ranges, times
        self.columns = ["server", "client", *(many(each, "reset") for each in times)]

    def lines(self, bench, side, origin):
        downloads = 2 if bench.quick else 5
        for client in ("asks once", "asks for the rest"):
            line = {"client": client}
            for resets in self.times:
                done = wrong = 0
                sent, begun = 0, time.monotonic()
                for number in range(downloads):
                    kind = f"cut{resets}-{client.replace(' ', '-')}"
                    origin.plans[kind] = {"ranges": self.ranges, "cut": self.cuts(origin, resets)}
                    path = f"/{kind}/{number}"
                    good = (
                        self.once(bench, side, path)
                        if client == "asks once"
                        else self.persistent(bench, side, path, resets)
                    )
                    done, wrong = done + (good is True), wrong + (good is None)
                    sent += origin.sent.get(path, 0)
                line[many(resets, "reset")] = {
                    "completed": done / downloads,
                    "wrong": wrong,
                    "origin": round(sent / downloads / self.size, 2),
                    "seconds": round((time.monotonic() - begun) / downloads, 2),
                }
            yield line

    def cuts(self, origin, resets):
        """Where an answer breaks off: with ranges after a part of the body, counted from its first byte, else a part
        further each time."""
        step = origin.size // (resets + 1)
        if self.ranges:
            return lambda number, first: first + step if number <= resets else None
        return lambda number, first: step * number if number <= resets else None

    def once(self, bench, side, path):
        answer = get(bench, side.port, path)
        return None if not answer.right else answer.status == 200 and answer.whole and answer.octets == self.size

    def persistent(self, bench, side, path, resets):
        """As download managers do: what is missing is asked for, with If-Range where there was a strong tag; None when
        the file is wrong."""
        held, tag, right = 0, None, True
        for _ in range(resets + 5):
            answer = get(bench, side.port, path, first=held, tag=tag if tag and not tag.startswith("W/") else None)
            if answer.status == 206 and answer.first == held:
                held += answer.octets
            elif answer.status == 200:
                held, right = answer.octets, True
            elif answer.status:
                time.sleep(0.05)
                continue
            right &= answer.right
            tag = answer.fields.get("etag", tag)
            if held == self.size:
                return right or None
        return False


class Down(Trouble):
    """What clients get while the origin is down, and when it is back."""

    columns = [
        "server",
        "download when it goes down at 50 % for 3 s",
        "kept and fresh",
        "kept and stale",
        "range of what had come",
        "the rest, when it is back",
        "origin sent, in all",
    ]

    def lines(self, bench, side, origin):
        origin.plans = {
            "fresh": {"keep": "max-age=3600"},
            "stale": {"keep": "max-age=1, stale-if-error=3600"},
            "part": {
                "keep": "max-age=3600",
                "pause": 0.001,
                "cut": lambda number, first: origin.size // 2 if number == 1 else None,
            },
        }
        for path in ("/fresh/1", "/stale/1"):
            for _ in range(2):
                get(bench, side.port, path)
        time.sleep(2.5)
        line, found, fell = {}, [], threading.Event()
        origin.plans["part"]["after"] = lambda: (origin.fall(), fell.set())
        reader = threading.Thread(target=lambda: found.append(get(bench, side.port, "/part/1", seconds=20)))
        reader.start()
        if not fell.wait(20):
            raise Failure("the origin was not asked")
        down = time.monotonic()
        line[self.columns[2]] = get(bench, side.port, "/fresh/1", seconds=5).text(self.size)
        line[self.columns[3]] = get(bench, side.port, "/stale/1", seconds=5).text(self.size)
        line[self.columns[4]] = get(bench, side.port, "/part/1", last=65535, first=0, seconds=5).text(65536)
        time.sleep(max(0, down + 3 - time.monotonic()))
        origin.rise()
        reader.join()
        [part] = found
        line[self.columns[1]] = part.text(self.size)
        rest = (
            None
            if part.whole
            else get(bench, side.port, "/part/1", first=part.octets, tag=part.fields.get("etag"), seconds=20)
        )
        line[self.columns[5]] = rest.text(self.size) if rest else "nothing was missing"
        line[self.columns[6]] = f"{origin.sent.get('/part/1', 0) / self.size:.2f} of the body"
        yield line


class CutUploads(Trouble):
    """An upload whose client loses its connection so many times: bytes it had to send, and what the origin took for
    whole."""

    times = (0, 1, 5, 20)
    columns = ["server", "0 cuts", "1 cut", "5 cuts", "20 cuts"]

    def lines(self, bench, side, origin):
        line = {}
        for cuts in self.times:
            path = f"/upload/{cuts}"
            send = resumed if side.peer == "pawl" else restarted
            status, octets = send(bench, side.port, path, self.size, cuts)
            seen = [each for each in origin.bodies if each[0] == path]
            line[many(cuts, "cut")] = {
                "status": status,
                "sent": round(octets / self.size, 2),
                "requests at the origin": len(seen),
                "right": sum(whole and count == self.size and right for _, whole, count, right in seen),
                "wrong": sum(whole and (count != self.size or not right) for _, whole, count, right in seen),
            }
        yield line


def head_of(connection, body=True):
    """Status and fields of the next answer, interim ones too; its body is read, where one comes."""
    held = b""
    while b"\r\n\r\n" not in held:
        data = connection.recv(1)
        if not data:
            raise OSError("closed")
        held += data
    lines = held.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split()[1])
    for _ in range(int(fields.get("content-length", 0)) if body and status >= 200 else 0):
        connection.recv(1)
    return status, fields


def dial(port):
    connection = socket.create_connection(("127.0.0.1", port), 20)
    connection.settimeout(20)
    return connection


def restarted(bench, port, path, size, cuts):
    """Without a protocol for it there is nothing but beginning again."""
    sent = 0
    for number in range(cuts + 1):
        connection = dial(port)
        end = size * (number + 1) // (cuts + 1)
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
        connection.sendall(bench.bytes[:end])
        sent += end
        if number < cuts:
            time.sleep(0.02)
            reset(connection)
            continue
        status, _ = head_of(connection)
        connection.close()
        return status, sent


def resumed(bench, port, path, size, cuts):
    """The IETF's protocol, interop version 6."""
    version, sent, place, offset = "Upload-Draft-Interop-Version: 6\r\n", 0, None, 0
    for number in range(cuts + 1):
        connection = dial(port)
        end = size * (number + 1) // (cuts + 1)
        if place is None:
            lines = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{version}Upload-Complete: ?1\r\nContent-Length: {size}\r\n\r\n"
        else:
            connection.sendall(f"HEAD {place} HTTP/1.1\r\nHost: localhost\r\n{version}\r\n".encode())
            status, fields = head_of(connection, body=False)
            if status not in (200, 204):
                return status, sent
            offset = int(fields["upload-offset"])
            lines = (
                f"PATCH {place} HTTP/1.1\r\nHost: localhost\r\n{version}Upload-Complete: ?1\r\nUpload-Offset: "
                f"{offset}\r\n"
                f"Content-Type: application/partial-upload\r\nContent-Length: {size - offset}\r\n\r\n"
            )
        connection.sendall(lines.encode())
        connection.sendall(bench.bytes[offset:end])
        sent += max(0, end - offset)
        if place is None and cuts:
            status, fields = head_of(connection)
            if "location" not in fields:
                return status, sent
            place = re.sub(r"^https?://[^/]*", "", fields["location"])
        if number < cuts:
            time.sleep(0.02)
            reset(connection)
            continue
        status, _ = head_of(connection)
        while status < 200:
            status, _ = head_of(connection)
        connection.close()
        return status, sent
