"""Requests sent in one go before the client ends its side: each is answered, in order; what was cut is not answered as
if it were whole."""

import random
import threading
import time

from harness.checks import V1, check, only, same, true
from harness.client import Client, head
from harness.content import Content
from harness.origin import Resource
from harness.uploads import NO_STORE, PREFIX, Dialect, chunks, stored

only(V1, "HTTP/2 has no order of answers, and ends streams one by one", __name__)

LARGE = Content("half-closed", 300_000).read()
FRESH = (("Cache-Control", "max-age=600"),)


def begin(bench, **site):
    origin = bench.origin()
    origin.default = lambda request: Resource(
        f"{request.method} {request.target} {len(request.body)}".encode(), fields=NO_STORE
    )
    origin.at("/hot", Resource(b"hot", fields=FRESH))
    origin.at("/file", Resource(LARGE, fields=FRESH))
    origin.at("/slow", lambda request: Resource(b"slow", fields=NO_STORE, before_head=lambda _: time.sleep(0.01)))
    origin.at("/stored", stored)
    pawl = bench.pawl(origin, site={"min-resumable": "0", **site})
    for path in ("/hot", "/file"):
        for _ in range(3):
            with Client(pawl.address) as client:
                client.request(path)
                same(client.response().status, 200, path)
    return origin, pawl


def get(path, fields=()):
    return head(path, fields=fields), "GET", None


def post(path, body=b"x" * 100, chunked=False, fields=()):
    kind = (("Transfer-Encoding", "chunked"),) if chunked else (("Content-Length", str(len(body))),)
    return head(path, "POST", kind + tuple(fields)) + (chunks(body) if chunked else body), "POST", len(body)


def creation(body=b"u" * 3000):
    d = Dialect(9)
    return post("/stored", body, fields=d.version + (d.completes(True),))


def wanted(request):
    raw, method, count = request
    path = raw.split(b" ", 2)[1].decode()
    if path == "/stored":
        return 200, b"got %d bytes" % count
    return 200, {"/hot": b"hot", "/file": LARGE, "/slow": b"slow"}.get(path, f"{method} {path} {count or 0}".encode())


def kinds():
    """What is sent in one go, by name."""
    yield "quick answers", [get(f"/q{n}") for n in range(3)]
    yield "a quick and a slow one", [get("/q1"), get("/slow"), get("/q2")]
    yield "hits", [get("/hot") for _ in range(4)]
    yield "a miss and hits", [get("/q1"), get("/hot"), get("/hot"), get("/file"), get("/hot")]
    yield "files", [get("/file"), get("/file")]
    yield "content", [post("/p1"), get("/q1"), post("/p2", chunked=True), post("/p3", b"")]
    yield "large content", [get("/q1"), post("/p1", LARGE), post("/p2", LARGE, chunked=True)]
    yield "the last one closes", [get("/q1"), get("/q2", (("Connection", "close"),))]
    yield "a creation of an upload", [get("/q1"), creation(), get("/q2")]
    yield "many", [get(f"/m{n}") for n in range(30)]
    # More than is read ahead of the answers.
    yield "a crowd", [get("/hot", (("X-Filler", "f" * 800),)) if n % 3 else get(f"/m{n}") for n in range(60)]


def talk(address, requests, pause, cut=0):
    """Sends all and FIN; the answers, and how the connection ended. `cut`: bytes left off at the end."""
    raw = b"".join(each[0] for each in requests)
    with Client(address, timeout=8) as client:
        client.send(raw[: len(raw) - cut])
        if pause:
            time.sleep(pause)
        client.finish()
        answers = []
        for _, method, _ in requests:
            answer = client.response(method)
            if answer.status == 0:
                return answers, answer.ended
            answers.append((answer.status, answer.body if answer.complete else b"(cut) " + answer.body[:20]))
        rest = client.response()
        return answers, rest.ended if rest.status == 0 else f"another answer: {rest}"


def everybody(work, count=400, threads=4):
    """`work` so many times, from several threads; what went wrong."""
    wrong, lock, left = [], threading.Lock(), list(range(count))

    def run():
        while True:
            with lock:
                if not left or len(wrong) > 20:
                    return
                number = left.pop()
            try:
                found = work(number)
            except Exception as error:  # whatever it is, it is this turn's result
                found = f"{type(error).__name__}: {error}"
            if found:
                with lock:
                    wrong.append(found)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return wrong


def all_answered(bench, **site):
    origin, pawl = begin(bench, **site)
    failures = []
    for name, requests in kinds():
        expected = [wanted(each) for each in requests]

        def turn(number):
            # FIN with the last bytes, or while the answers are made.
            pause = random.Random(number).choice((0, 0, 0.0003, 0.001, 0.003))
            answers, ended = talk(pawl.address, requests, pause)
            if answers != expected:
                return f"{len(answers)} of {len(expected)}, then {ended}"
            return None if ended == "fin" else f"ended by {ended}"

        wrong = everybody(turn, 200)
        if wrong:
            failures.append(f"{name}: {len(wrong)} of 200 ({wrong[0]})")
    same(failures, [], "requests in one go, then FIN")


@check("requests in one go before FIN are all answered, in order, and then comes FIN", area="half-closed", seconds=120)
def answered(bench):
    all_answered(bench)


@check("the same where ordinary uploads are spooled", area="half-closed", seconds=120)
def answered_spooled(bench):
    all_answered(bench, **{"plain-uploads": "spool"})


@check(
    "a request that FIN cuts is not worked on as if it were whole; those before it are answered",
    area="half-closed",
    seconds=120,
)
def cut_last(bench):
    for mode in ("stream", "spool"):
        origin, pawl = begin_named(bench, mode)
        failures = []
        for name, last, cuts in (
            ("content", post("/cut"), (1, 50, 100)),
            ("large content", post("/cut", LARGE), (1, 200_000)),
            ("chunked content", post("/cut", chunked=True), (1, 2, 4, 5, 60)),
            ("a head", get("/cut"), (1, 2, 20)),
            ("a head with content", post("/cut"), (101, 102, 120)),
        ):
            before = [get("/q1"), get("/hot"), get("/q2")]
            expected = [wanted(each) for each in before]
            for cut in cuts:
                wrong = everybody(lambda number: check_cut(pawl, before, last, cut, expected, number), 30)
                if wrong:
                    failures.append(f"{name} without its last {cut}: {len(wrong)} of 30 ({wrong[0]})")
        same(failures, [], "a request cut by FIN")
        same(
            [r for r in origin.of("/cut") if r.status is not None],
            [],
            f"cut requests that the origin found whole ({mode})",
        )


def begin_named(bench, mode):
    origin = bench.origin()
    origin.default = lambda request: Resource(
        f"{request.method} {request.target} {len(request.body)}".encode(), fields=NO_STORE
    )
    origin.at("/hot", Resource(b"hot", fields=FRESH))
    pawl = bench.pawl(origin, mode, site={"plain-uploads": mode})
    return origin, pawl


def check_cut(pawl, before, last, cut, expected, number):
    pause = random.Random(number).choice((0, 0, 0.0003, 0.001, 0.003))
    answers, ended = talk(pawl.address, before + [last], pause, cut)
    if answers[:3] != expected:
        return f"{len(answers)} of 3 answers, then {ended}"
    # Nothing, or a refusal: never an answer of the application.
    if len(answers) > 3 and answers[3][0] != 400:
        return f"an answer to what was cut: {answers[3]}"
    return None if ended in ("fin", "rst") else f"ended by {ended}"


@check("an upload whose creation FIN cuts stays where it was cut", area="half-closed", seconds=60)
def cut_upload(bench):
    origin, pawl = begin(bench)
    d = Dialect(9)
    raw, _, _ = post("/stored", LARGE, fields=d.version + (d.completes(True),))
    for _ in range(20):
        with Client(pawl.address, timeout=8) as client:
            client.send(get("/q1")[0] + raw[:-1000])
            client.finish()
            same(client.response().status, 200, "the answer before it")
            answer = client.response("POST")
            locations = [dict(fields).get("Location", "") for number, fields in answer.interim if number == 104]
            true(answer.status == 0 and len(locations) == 1 and PREFIX in locations[0], f"{answer} {answer.interim}")
    same([r for r in origin.of("/stored") if r.status is not None and r.method == "POST"], [], "requests at the origin")
