"""One client fills the spool in every way there is, and another one uploads meanwhile: max-share-per-client and
max-size hold."""

import os
import threading

from harness.checks import check, same, true
from harness.origin import Resource
from harness.process import free_port, wait_for
from harness.uploads import (
    NO_STORE,
    Dialect,
    Upload,
    append,
    ask,
    body_files,
    create,
    metadata,
    path_of,
    stored,
    tus_create,
    tus_new,
    tus_patch,
)

MIB = 1 << 20
SHARE = 4 * MIB
OTHER = "127.0.0.2"
D = Dialect(9)
BODY = bytes(range(256)) * 4096


def begin(bench, origin=None, spool=None, **site):
    if origin is None:
        origin = bench.origin()
        origin.default = stored
    spool = {"max-size": "16M", "max-share-per-client": "25%", **(spool or {})}
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site}, extra={"spool:default": spool})


def nameless(pawl):
    """Bytes on disk of files that only pawl's descriptors know."""
    total = 0
    folder = f"/proc/{pawl.process.pid}/fd"
    for name in os.listdir(folder):
        try:
            facts = os.stat(f"{folder}/{name}")
            if os.readlink(f"{folder}/{name}").endswith("(deleted)"):
                total += facts.st_blocks * 512
        except OSError:
            pass
    return total


def kept(pawl):
    """Bytes of the spool: bodies, nameless files, and the catalogue without its journal."""
    catalogue = sum(path.stat().st_size for path in (pawl.folder / "state").rglob("uploads.sqlite"))
    return sum(body_files(pawl).values()) + nameless(pawl) + catalogue


def other_is_served(pawl, origin_is_away=False):
    """Uploads of another client, in each protocol."""
    if origin_is_away:
        location = tus_new(pawl.address, MIB, source=OTHER)
        same(tus_patch(pawl.address, location, 0, BODY[:-1], source=OTHER).status, 204, "the other client's content")
        return
    answer = create(pawl.address, D, BODY, source=OTHER, target="/other")
    same((answer.status, answer.body), (200, b"got %d bytes" % MIB), "the other client's upload")
    location = tus_new(pawl.address, MIB, source=OTHER, target="/other")
    same(tus_patch(pawl.address, location, 0, BODY, source=OTHER).status, 204, "the other client's upload by tus")
    same(ask(pawl.address, "/other", "POST", (), BODY, source=OTHER).status, 200, "the other client's ordinary upload")


def attack(step, most):
    """How often `step` was taken before it was refused, and with what."""
    for count in range(most):
        status = step(count)
        if status in (413, 429, 507):
            return count, status
    return most, None


@check("ordinary uploads that are spooled count for their client", area="upload shares", seconds=60)
def plain(bench):
    origin, pawl = begin(bench, **{"plain-uploads": "spool"})
    held = []
    for _ in range(24):
        client = bench.use(Upload(pawl.address))
        client.head("/in", "POST", (("Content-Length", str(MIB)),))
        try:
            client.send(BODY[:-1])
        except OSError:
            pass
        held.append(client)
    wait_for(lambda: nameless(pawl) >= SHARE // 2, 5, "spooled content")
    other_is_served(pawl)
    true(nameless(pawl) <= SHARE + MIB, f"{nameless(pawl)} bytes of one client")
    refused = [client for client in held if not client.nothing(0.05)]
    true(len(refused) >= 20, f"{len(refused)} of 24 were refused")
    same({client.answer().status for client in refused}, {429}, "what is beyond the share")
    same(
        ask(pawl.address, "/in", "POST", (("Content-Length", str(SHARE + 1)), ("Expect", "100-continue"))).status,
        413,
        "larger than a share",
    )
    for client in held:
        client.close()
    wait_for(lambda: ask(pawl.address, "/in", "POST", (), BODY).status == 200, 5, "the share free again")


@check("answers that are kept count for their client", area="upload shares", seconds=60)
def answers(bench):
    origin, pawl = begin(bench)
    origin.at("/long", lambda request: Resource(BODY[:900_000], fields=NO_STORE))
    count, status = attack(lambda n: create(pawl.address, D, b"%d" % n, target="/long").status, 40)
    true(count < 8 and status == 429, f"{count} answers of 900 kB were kept for a share of 4 MiB, then {status}")
    other_is_served(pawl)
    true(kept(pawl) < SHARE + 3 * MIB, f"{kept(pawl)} bytes kept")
    # The oldest answers make room for uploads.
    wait_for(
        lambda: create(pawl.address, D, b"again", target="/in").status == 200,
        15,
        "room for an upload of the same client",
        0.5,
    )


@check("answers beyond response-max count for their client while they are in a file", area="upload shares", seconds=60)
def spilled(bench):
    origin, pawl = begin(bench, **{"response-max": "1K"})
    origin.at("/long", lambda request: Resource(BODY * 3, fields=NO_STORE))
    whole = 0
    for number in range(12):
        with Upload(pawl.address) as client:
            client.create(D, True, 1, target="/long")
            client.send(b"x")
            answer = client.answer()
            whole += len(answer.body) == 3 * MIB
    true(nameless(pawl) <= SHARE + MIB, f"{nameless(pawl)} bytes in files of one client")
    true(whole >= 1, "not one answer came whole")
    other_is_served(pawl)


@check("what uploads were asked with counts for their client, after the answer, too", area="upload shares", seconds=60)
def records(bench):
    origin, pawl = begin(bench, spool={"max-size": "8M"})
    told = metadata(filename="x" * 11_000)

    def made(number):
        return tus_create(pawl.address, 1, (("Upload-Metadata", told),), b"x").status

    # A share is full of some 120 of them; the oldest make room every ten seconds.
    for _ in range(3):
        attack(made, 200)
        other_is_served(pawl)
    true(kept(pawl) < 5 * MIB, f"{kept(pawl)} bytes kept")


@check("uploads without a byte that wait for their origin count for their client", area="upload shares", seconds=60)
def waiting(bench):
    port = free_port()
    origin, pawl = begin(bench, f"http://127.0.0.1:{port}", {"max-size": "8M"}, **{"tus-wait": "1s"})
    fields = (("X-Long", "y" * 6000),)

    def made(number):
        with Upload(pawl.address) as client:
            client.create(D, True, 1, fields, target=f"/in/{number}")
            client.send(b"x")
            try:
                client.interim(104)
            except AssertionError as other:
                return int(str(other).split(" ")[0])
            return 104

    count, status = attack(made, 600)
    true(
        count < 250 and status == 429,
        f"{count} uploads of 1 byte with 6 kB of fields waited in a share of 2 MiB, then {status}",
    )
    other_is_served(pawl, origin_is_away=True)


@check(
    "one part that is named hundreds of times counts as often, and partial uploads count",
    area="upload shares",
    seconds=60,
)
def parts(bench):
    origin, pawl = begin(bench)
    gate = threading.Event()
    origin.at(
        "/joined",
        lambda request: stored(request) if request.method == "OPTIONS" else (gate.wait(20), stored(request))[1],
    )
    part = tus_new(pawl.address, MIB, (("Upload-Concat", "partial"),), target="/joined")
    same(tus_patch(pawl.address, part, 0, BODY).status, 204, "a part")
    url = path_of(part)
    for times in (5, 100, 300):
        answer = tus_create(
            pawl.address, None, (("Upload-Concat", "final;" + " ".join([url] * times)),), target="/joined"
        )
        true(answer.status in (413, 429), f"a part named {times} times: {answer}")
    threads = [threading.Thread(target=lambda n=n: attempt(pawl, url, n)) for n in range(6)]
    for thread in threads:
        thread.start()
    wait_for(lambda: sum(body_files(pawl).values()) >= 3 * MIB, 5, "a join")
    for _ in range(20):
        answer = create(pawl.address, D, b"", False)
        if answer.status == 201:
            append(pawl.address, D, answer.get("Location"), 0, BODY[:-1], False)
    used = sum(body_files(pawl).values())
    true(used <= 2 * SHARE, f"{used} bytes of one client")
    other_is_served(pawl)
    gate.set()
    for thread in threads:
        thread.join()


def attempt(pawl, url, number):
    try:
        tus_create(
            pawl.address,
            None,
            (("Upload-Concat", "final;" + " ".join([url] * 3)), ("Upload-Metadata", metadata(n=str(number)))),
            target="/joined",
            timeout=30,
        )
    except AssertionError:
        pass


SPOOLS = int(os.environ.get("SPOOLS", "1"))


def ways(pawl, held):
    """What one client does to fill a spool; each is called again and again, and may be refused or cut.

    held: connections that stay open, up to 60."""
    told = metadata(filename="x" * 11_000)
    parts = []

    def keep(client):
        held.append(client)
        if len(held) > 60:
            held.pop(0).close()
        return client

    def held_back():
        client = keep(Upload(pawl.address))
        client.head("/plain/in", "POST", (("Content-Length", str(MIB)),))
        client.send(BODY[:-1])

    def answered():
        create(pawl.address, D, os.urandom(8), target="/long")

    def spilled():
        client = keep(Upload(pawl.address))
        client.create(D, True, 1, target="/plain/long")
        client.send(b"x")

    def recorded():
        tus_create(pawl.address, 1, (("Upload-Metadata", told),), b"x")

    def begun():
        answer = create(pawl.address, D, b"", False)
        if answer.status == 201:
            append(pawl.address, D, answer.get("Location"), 0, BODY[:-1], False)

    def joined():
        if not parts:
            part = tus_new(pawl.address, MIB, (("Upload-Concat", "partial"),), target="/in")
            if tus_patch(pawl.address, part, 0, BODY).status == 204:
                parts.append(path_of(part))
        if parts:
            names = (
                ("Upload-Concat", "final;" + " ".join(parts * 3)),
                ("Upload-Metadata", metadata(n=os.urandom(4).hex())),
            )
            tus_create(pawl.address, None, names, target="/hung")

    def unread():
        client = keep(Upload(pawl.address, receive_buffer=4096))
        client.head("/long", "GET", ())

    return [held_back, answered, spilled, recorded, begun, joined, unread]


@check(
    "one client attacks in all ways at once, and the other one is never refused",
    area="upload shares",
    seconds=60 + 30 * SPOOLS,
)
def everything(bench):
    for _ in range(SPOOLS):
        attacked(bench)


def attacked(bench):
    over, held = threading.Event(), []
    origin = bench.origin()
    origin.default = stored
    origin.at("/long", lambda request: Resource(BODY[:900_000], fields=NO_STORE))
    origin.at("/plain/long", lambda request: Resource(BODY * 3, fields=NO_STORE))
    origin.at(
        "/hung", lambda request: stored(request) if request.method == "OPTIONS" else (over.wait(20), stored(request))[1]
    )
    plain = {"path": "/plain/*", "plain-uploads": "spool", "response-max": "1K", "min-resumable": "0"}
    pawl = bench.pawl(
        origin,
        name=os.urandom(4).hex(),
        site={"min-resumable": "0"},
        extra={"spool:default": {"max-size": "24M", "max-share-per-client": "25%"}, "route:main/plain": plain},
    )
    counts = {}

    def insist(way):
        while not over.is_set():
            try:
                way()
            except (AssertionError, OSError, EOFError):
                pass
            counts[way.__name__] = counts.get(way.__name__, 0) + 1
            over.wait(0.02)

    threads = [threading.Thread(target=insist, args=(way,)) for way in ways(pawl, held)]
    for thread in threads:
        thread.start()
    most = 0
    try:
        for _ in range(30):
            other_is_served(pawl)
            most = max(most, kept(pawl))
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for client in held:
            client.close()
    pawl.end()
    print(f"    {most} bytes at most; {counts}")
    # One share of 6 MiB, what the other client has under way, and what SQLite keeps of its own.
    true(most <= 6 * MIB + 8 * MIB, f"{most} bytes of a spool of 24 MiB, and a share of 6 MiB")
    same(len(counts), 7, "ways that were tried")
