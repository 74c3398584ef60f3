"""Texts of 2 KB to 6 MB in zstd, Brotli and gzip, cut at 1,000 places, resumed, decoded by the programs of these
codings.

Forms are complete, growing or cold when they are cut; pawl is killed (-9) in between, and content changes. Whatever
comes together in the end is one version of the content: nothing is mixed. Nobody who goes on with a complete form that
nothing happened to gets a 200. The CPU that compressing takes is reported.
"""

import random
import threading
import time

from harness.client import Client, get
from harness.coded import CODINGS, decoded, text
from harness.origin import Resource
from scenarios import in_threads

KB, MB = 1000, 1_000_000
SIZES = (2 * KB, 30 * KB, 200 * KB, 1 * MB, 6 * MB)
KINDS = ("prose", "json", "markup", "numbers")
STATES = ("complete", "cold", "growing")
PATIENCE = 120  # seconds for one download, starts of pawl included


class Body:
    """One path of the origin, whose content has versions; `given` are all that it has had."""

    def __init__(self, number, rng):
        self.kind, self.size, self.state = KINDS[number % 4], SIZES[number % 5], STATES[number % 3]
        self.path = f"/{number}-{self.kind}-{self.size}-{self.state}"
        self.text = text(self.kind, self.size, self.kind)
        # Each third changes: with a tag of the origin's, or with nothing by which pawl could ask for less than all of
        # it.
        self.changes, self.tagged = number % 9 in (1, 5, 6), number % 2 == 0
        self.version, self.given = 0, [self.text]
        # Half of what grows says how long it will be.
        self.chunked = self.state == "growing" and number % 4 < 2

    def change(self, rng):
        if self.changes:
            at = rng.randrange(1, self.size)
            self.given.append(self.text[at:] + self.text[:at])
            self.version += 1

    def answer(self, request):
        version = self.version
        fields = (("Cache-Control", "max-age=0" if self.changes else "max-age=6000"),)
        slow = self.state == "growing" and request.serial == 0
        return Resource(
            self.given[version],
            type="text/plain",
            fields=fields,
            etag=f'"{version}"' if self.tagged else None,
            ranges=self.tagged,
            framing="chunked" if self.chunked else "length",
            pace=max(20 * KB, self.size / 1.5) if slow else None,
        )


def run(scenario):
    count, kills = (100, 3) if scenario.quick else (1000, 30)
    rng = random.Random(11)
    origin = scenario.bench.origin()
    pawl = scenario.bench.pawl(
        origin, pawl={"workers": "auto"}, upstream={"max-share-per-client": "100%", "max-share-per-path": "100%"}
    )
    lock, tally, mixed, stuck = threading.Lock(), {"cuts": 0, 206: 0, 200: 0, "whole": 0, "lost": []}, [], []
    epoch, over = [0], threading.Event()

    def kill_now_and_then():
        for _ in range(kills):
            if over.wait(rng.uniform(1, 3)):
                break
            epoch[0] += 1
            pawl.kill()
            pawl.start()
            epoch[0] += 1

    killer = threading.Thread(target=kill_now_and_then)
    numbers = iter(range(100 * count))

    def address():
        known = list(pawl.addresses)
        if not known:
            raise ConnectionRefusedError("it is starting")
        return known[0]

    def ask(body, coding, held, tag, limit):
        fields = (("Accept-Encoding", coding),) + (
            (("Range", f"bytes={len(held)}-"), ("If-Range", tag)) if held else ()
        )
        with Client(address(), 30) as client:
            client.request(body.path, fields=fields)
            return client.response(limit=limit)

    def download(number):
        own = random.Random(number)
        body, coding = Body(number, own), CODINGS[number // 3 % 3]
        origin.at(body.path, body.answer)
        if body.state == "complete":
            for _ in range(2):
                try:
                    get(address(), body.path, (("Accept-Encoding", coding),), keep=False)
                except OSError:
                    time.sleep(0.1)
        held, tag, plain, seen = b"", None, False, (epoch[0], body.version)
        end, answers, answer = time.monotonic() + PATIENCE, 0, None
        while time.monotonic() < end:
            # So many places in one download; then all of the rest.
            limit = own.randrange(1, max(2, body.size // 8)) if answers < 6 else None
            before = epoch[0], body.version
            try:
                answer = ask(body, coding, held, tag, limit)
            except OSError:
                time.sleep(0.05)
                continue
            if answer.status == 0:
                continue
            answers += 1
            # What came in one piece may be complete where it was to be cut.
            is_cut = limit is not None and answer.count >= limit and answer.count != answer.length
            calm = before == seen == (epoch[0], body.version)
            with lock:
                if held:
                    tally[answer.status] = tally.get(answer.status, 0) + 1
                    if answer.status != 206 and body.state == "complete" and calm and not body.changes:
                        tally["lost"].append((body.path, coding, len(held), answer))
                if is_cut:
                    tally["cuts"] += 1
            if answer.status == 206:
                if answer.get("ETag") != tag or answer.get("Content-Encoding") != (None if plain else coding):
                    mixed.append((body.path, coding, "another tag or coding in a 206", answer))
                held += answer.body
            elif answer.status == 200:
                held, tag = answer.body, answer.get("ETag")
                name = answer.get("Content-Encoding")
                if name not in (coding, None) or tag is None:
                    stuck.append((body.path, coding, answer))
                    return
                plain = name is None
            elif answer.status == 416 and answer.get("Content-Range") == f"bytes */{len(held)}":
                # It was cut behind its last byte.
                judge(body, None if plain else coding, held)
                return
            else:
                stuck.append((body.path, coding, answer))
                return
            seen = epoch[0], body.version
            if answer.complete and not is_cut:
                judge(body, None if plain else coding, held)
                return
            if own.random() < 0.3:
                body.change(own)
        stuck.append((body.path, coding, f"not whole after {PATIENCE} s, {answers} answers, {len(held)} bytes", answer))

    def judge(body, coding, held):
        try:
            good = decoded(coding, held) in body.given
        except AssertionError as error:
            good, coding = False, f"{coding}: {error}"
        with lock:
            tally["whole"] += 1
            if not good:
                mixed.append((body.path, coding, len(held), body.version))

    def work(_):
        while tally["cuts"] < count and len(mixed) + len(stuck) < 20:
            with lock:
                number = next(numbers)
            download(number)

    killer.start()
    try:
        in_threads(6, range(6), work)
    finally:
        over.set()
        killer.join()
    scenario.figure("cuts", tally["cuts"], count, at_least=True)
    scenario.figure("downloads that came whole", tally["whole"])
    scenario.figure("kills", epoch[0] // 2)
    scenario.figure("resumptions that went on (206)", tally[206])
    scenario.figure("resumptions that began anew (200)", tally[200])
    scenario.figure("of complete forms that nothing happened to", len(tally["lost"]), 0)
    scenario.figure("mixed, or not to be decoded", len(mixed), 0)
    scenario.figure("answered otherwise, or never whole", len(stuck), 0)
    scenario.require(not mixed, f"{mixed[:3]}")
    scenario.require(not stuck, f"{stuck[:3]}")
    scenario.require(not tally["lost"], f"{tally['lost'][:3]}")
    cost(scenario)


def cost(scenario):
    """CPU of making forms: bodies that are stored already are asked for in a coding, once each."""
    number, size = (8, 400 * KB) if scenario.quick else (40, 400 * KB)
    origin = scenario.bench.origin()
    pawl = scenario.bench.pawl(origin, name="cost")
    for n in range(number):
        origin.at(
            f"/{n}",
            Resource(
                text(f"cost{n}", size, KINDS[n % 4]), type="text/html", fields=(("Cache-Control", "max-age=6000"),)
            ),
        )
        get(pawl.address, f"/{n}", keep=False)
    for coding in CODINGS:
        begun, octets = pawl.cpu(), 0
        for n in range(number):
            octets += get(pawl.address, f"/{n}", (("Accept-Encoding", coding),), keep=False).count
        first = pawl.cpu() - begun
        for n in range(number):
            get(pawl.address, f"/{n}", (("Accept-Encoding", coding),), keep=False)
        spent = first - (pawl.cpu() - begun - first)
        scenario.figure(
            f"{coding}: CPU for each KB of content that is kept",
            round(spent * 1e6 / (number * size / KB), 1),
            unit="us",
        )
        scenario.figure(f"{coding}: as large as", round(100 * octets / (number * size), 1), unit="% of it")
