"""SIGHUP under running work: spools and caches that move, leave and come back are found again, with what they hold."""

import contextlib
import shutil
import signal
import sqlite3
import threading
import time

from harness.checks import CLEAR, check, only, same, true
from harness.client import Client, head
from harness.content import Content
from harness.origin import Resource
from harness.process import run_pawl, wait_for
from harness.uploads import Dialect, Upload, on_connection, stored

from .upload_deliveries import ANSWERED, SENT, UNKNOWN
from .upload_settings import begin, begun, reload, rewrite, uses

only(CLEAR, "they are about what pawl has on its disk", __name__)

BODY = Content("settings", 100_000).read()
D = Dialect(9)
REMOVED = 7


def spool_section(name, path):
    return f"[spool:{name}]\npath = {path}\n"


@check(
    "what a spool opened by SIGHUP has as sent is unknown at once; resend and rm work", area="upload reload", seconds=60
)
def sent(bench):
    origin, pawl = begin(bench, extra={"spool:a": {"path": "spool-a"}}, spool="a")
    gate = threading.Event()

    def wait(request, connection, buffer):
        origin._read_body(request, connection, buffer)
        request.status = 200
        gate.wait(20)

    origin.default = on_connection(wait)
    clients = [Upload(pawl.address) for _ in range(2)]
    for client in clients:
        client.create(D, True, len(BODY), (), "/in")
        client.send(BODY)
    spool = pawl.folder / "spool-a"
    wait_for(lambda: kept(spool) == [SENT, SENT], 10, "both sent")
    pawl.kill()
    gate.set()
    origin.default = stored
    rewrite(pawl, (spool_section("a", "spool-a"), spool_section("b", "spool-b")), ("spool = a", "spool = b"))
    pawl.start()
    rewrite(pawl, (spool_section("b", "spool-b"), spool_section("b", "spool-b") + spool_section("a", "spool-a")))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: kept(spool) == [UNKNOWN, UNKNOWN], 5, "unknown")
    names = sorted(path.name for path in (spool / "bodies").iterdir())
    for command, name in zip(("resend", "rm"), names):
        code, out, err = run_pawl("uploads", command, name, "--config", str(pawl.file), folder=pawl.folder)
        same(code, 0, f"{command}: {out} {err}")
    wait_for(lambda: sorted(kept(spool)) == [ANSWERED, REMOVED], 10, "what the operator wanted")


def kept(folder):
    """The phases of the uploads in a spool."""
    with contextlib.closing(sqlite3.connect(f"file:{folder}/uploads.sqlite?mode=ro", uri=True)) as catalogue:
        return [phase for (phase,) in catalogue.execute("SELECT phase FROM uploads")]


def stays(bench, name, change, extra=None, **site):
    origin, pawl = begin(bench, name=name, extra=extra, **site)
    locations = [begun(pawl, target=f"/{n}") for n in range(3)]
    reload(pawl, *change)
    uses(pawl, locations[0], target="/0", origin=origin)
    for n, hard in enumerate((False, True)):
        pawl.restart(hard=hard)
        uses(pawl, locations[n + 1], target=f"/{n + 1}", origin=origin)


@check(
    "another state-dir by SIGHUP is refused with its line, and what is open goes on, after a restart, too",
    area="upload reload",
    seconds=60,
)
def state_dir(bench):
    origin, pawl = begin(bench)
    locations = [begun(pawl, target=f"/{n}") for n in range(2)]
    rewrite(pawl, ("state-dir = state", "state-dir = state2"), ("[site:main]", "[site:main]\nmax-ranges = 3"))
    line = 1 + pawl.file.read_text().splitlines().index("state-dir = state2")
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: "reload-failed" in pawl.log(), 10, "the refusal")
    true(f"{pawl.file}:{line}: [pawl] state-dir: it cannot be changed while pawl runs" in pawl.log(), "the reason")
    true(not (pawl.folder / "state2").exists(), "nothing in the new directory")
    uses(pawl, locations[0], target="/0", origin=origin)
    rewrite(pawl, ("state-dir = state2", "state-dir = state"))
    pawl.restart()
    uses(pawl, locations[1], target="/1", origin=origin)


@check(
    "a spool whose path or section another one takes by SIGHUP: what is open is found after a restart, too",
    area="upload reload",
    seconds=60,
)
def path(bench):
    extra = {"spool:a": {"path": "spool-a"}}
    stays(bench, "path", (("path = spool-a", "path = spool-b"),), extra, spool="a")
    stays(
        bench,
        "gone",
        ((spool_section("a", "spool-a"), spool_section("b", "spool-b")), ("spool = a", "spool = b")),
        extra,
        spool="a",
    )


@check(
    "a spool's directory that was moved is found under its new path, with what is open and being sent",
    area="upload reload",
    seconds=60,
)
def moved_directory(bench):
    origin, pawl = begin(bench, extra={"spool:a": {"path": "spool-a"}}, spool="a")
    locations = [begun(pawl, target=f"/{n}") for n in range(3)]
    with Upload(pawl.address) as running:
        running.create(D, True, len(BODY), (), "/running")
        running.location()
        running.send(BODY[:40_000])
        shutil.move(str(pawl.folder / "spool-a"), str(pawl.folder / "spool-moved"))
        reload(pawl, ("path = spool-a", "path = spool-moved"))
        running.send(BODY[40_000:])
        same(running.answer().body, b"got 100000 bytes", "the one that was being sent")
    uses(pawl, locations[0], target="/0", origin=origin)
    uses(pawl, begun(pawl, target="/new"), target="/new", origin=origin)
    for n, hard in enumerate((False, True)):
        pawl.restart(hard=hard)
        uses(pawl, locations[n + 1], target=f"/{n + 1}", origin=origin)
    true(not (pawl.folder / "spool-a").exists(), "nothing at the old place")


@check("a cache that leaves and comes back by SIGHUP while a download still has it", area="upload reload", seconds=60)
def cache(bench):
    content = Content("reload", 64 << 20)
    origin = bench.origin()
    origin.at("/large", Resource(content, fields=(("Cache-Control", "max-age=1000"), ("ETag", '"a"'))))
    pawl = bench.pawl(origin)
    section = "[cache:default]\npath = cache\n"
    with Client(pawl.address) as client:
        client.send(head("/large"))
        time.sleep(0.5)
        for old, new in ((section, "[cache:default]\npath = cache2\n"), ("[cache:default]\npath = cache2\n", section)):
            reload(pawl, (old, new))
        answer = client.response()
        same((answer.status, answer.sha), (200, content.sha256()), "the download")
    reload(pawl, ("[cache:default]", "[cache:other]"), ("[site:main]", "[site:main]\ncache = other"))
    true("reload-failed" not in pawl.log(), "a reload failed")


@check(
    "a spool's directory that was copied is refused while pawl has the original: nothing is sent from both",
    area="upload reload",
    seconds=60,
)
def copied(bench):
    origin, pawl = begin(bench, extra={"spool:a": {"path": "spool-a"}}, spool="a")
    location = begun(pawl, target="/in")
    shutil.copytree(pawl.folder / "spool-a", pawl.folder / "spool-copy")
    rewrite(pawl, ("path = spool-a", "path = spool-copy"))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: "reload-failed" in pawl.log(), 10, "the refusal")
    uses(pawl, location, target="/in", origin=origin)
