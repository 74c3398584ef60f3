"""Malformed messages, one check for each row of the article Hygiene; the cases are in harness/malformed.py."""

import time

from harness import malformed
from harness.checks import V1, check, only, same, true
from harness.client import Client, get
from harness.origin import Origin, RawOrigin

only(V1, "bytes that HTTP/1.1 does not allow; h2.py has what HTTP/2 does not", __name__)


def row_check(kind, row, run):
    @check(f"{kind}, row {row}", area="malformed", seconds=180)
    def one(bench):
        # With `http2 = on` the preface in clear begins HTTP/2: h2.py.
        listen = {"header-timeout": "2s", "http2": "off"} if row == 28 else {"header-timeout": "2s"}
        results = run(lambda url: bench.pawl(url, listen=listen, upstream={"resume-attempts": 2}).address, row)
        wrong = [(name, what) for _, name, what in results if what]
        true(not wrong, f"{len(wrong)} of {len(results)}: {wrong[:5]}")


for number in sorted({case[0] for case in malformed.request_cases()}):
    row_check("requests", number, malformed.run_requests)
for number in sorted({case[0] for case in malformed.response_cases()}):
    row_check("responses", number, malformed.run_responses)


@check(
    "responses (Hygiene, bytes on an idle connection): unsolicited bytes on an idle connection are never an answer",
    area="malformed",
)
def unsolicited(bench):
    sockets = []

    def early(request, connection, buffer):
        sockets.append(connection)
        connection.sendall(malformed.OK)
        time.sleep(0.15)
        try:
            connection.sendall(malformed.POISON)
            connection.settimeout(1)
            Origin._drain(connection)
        except OSError:
            pass

    early.wants_connection = True
    origin = bench.origin()
    origin.at("/x", early)
    pawl = bench.pawl(origin, pawl={"workers": 1})
    with Client(pawl.address) as client:
        for wait in (0.3, 0.3, 0.2):
            client.request("/x")
            answer = client.response()
            same((answer.status, answer.body), (200, b"ok"), "answer")
            time.sleep(wait)


@check(
    "requests (Hygiene, early final response): see early answers and time limits; a refusal can be read by a client "
    "that sends on",
    area="malformed",
)
def lingering(bench):
    with RawOrigin() as origin:
        pawl = bench.pawl(origin.url)
        for _ in range(5):
            with Client(pawl.address, 5) as client:
                client.send(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")
                try:
                    for _ in range(100):
                        client.send(bytes(10_000))
                except OSError:
                    pass
                answer = client.response()
                same(
                    (answer.status, answer.complete), (400, True), f"answer to a client that goes on sending: {answer}"
                )


@check("a head in single bytes, and cut at every place", area="malformed", seconds=90)
def fragments(bench):
    with RawOrigin(lambda c, n, h: (malformed.OK, "keep")) as origin:
        pawl = bench.pawl(origin.url)
        octets = b"POST /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nA: b\r\n\r\n"
        with Client(pawl.address) as client:
            for i in range(len(octets)):
                client.send(octets[i : i + 1])
                time.sleep(0.0005)
            same(client.response().body, b"ok", "byte by byte")
        for cut in range(1, len(octets)):
            with Client(pawl.address) as client:
                client.send(octets[:cut])
                time.sleep(0.001)
                client.send(octets[cut:])
                answer = client.response()
                same((answer.status, answer.body), (200, b"ok"), f"cut at {cut}")


@check(
    "random mutations of valid requests: pawl lives, and what goes on is one clean request each",
    area="malformed",
    seconds=120,
)
def mutations(bench):
    import random
    import re

    rng = random.Random(5)
    seeds = [
        b"GET /z HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: b\r\n\r\n",
        b"POST /z HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        b"POST /z HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: "
        b"close\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ]
    with RawOrigin(lambda c, n, h: (malformed.OK, "keep")) as origin:
        pawl = bench.pawl(origin.url, listen={"header-timeout": "1s"})
        for i in range(1500):
            data = bytearray(rng.choice(seeds))
            for _ in range(rng.randint(1, 3)):
                at, kind = rng.randrange(len(data)), rng.random()
                if kind < 0.4:
                    data[at] = rng.choice([0, 9, 10, 13, 32, 44, 58, 59, 127, 128, 255, rng.randrange(256)])
                elif kind < 0.7:
                    data[at:at] = rng.choice(
                        [
                            b"\r",
                            b"\n",
                            b"\r\n",
                            b" ",
                            b"\0",
                            b":",
                            b"Content-Length: 3\r\n",
                            b"Transfer-Encoding: chunked\r\n",
                        ]
                    )
                else:
                    del data[at : at + rng.randint(1, 4)]
            with Client(pawl.address, 0.3) as client:
                try:
                    client.send(bytes(data))
                    client.finish()
                    client.response()
                except OSError:
                    pass
        same(get(pawl.address, "/z").body, b"ok", "a plain request afterwards")
        for stream in origin.received:
            for head in re.findall(rb"(?s)((?:GET|POST) [^\r\n]* HTTP/1\.1\r\n.*?\r\n\r\n)", bytes(stream)):
                names = [line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:] if line]
                true(
                    names.count(b"host") == 1
                    and names.count(b"content-length") + names.count(b"transfer-encoding") <= 1,
                    f"forwarded: {head!r}",
                )
                true(
                    not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n", head), f"forwarded: {head!r}"
                )
