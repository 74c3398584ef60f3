"""Reloads that change the spool while the process before an upgrade still delivers an upload that it was lent."""

import os

from harness.checks import check, only, same, true
from harness.process import wait_for
from harness.uploads import asked

from .admin import command, sock
from .upgrade import upgrade
from .upgrade_deliveries import LARGE, SMALL, Slow, Waiting, is_whole, told
from .upload_deliveries import ANSWERED, phases

only(("clear",), "it is about listeners, processes and stores", __name__)


def renamed(pawl, text):
    """Another path: the former directory stays in use."""
    return text.replace("spool-a", "spool-b")


def moved(pawl, text):
    """The directory was moved, too."""
    os.rename(pawl.folder / "spool-a", pawl.folder / "spool-b")
    return renamed(pawl, text)


def removed(pawl, text):
    """No section names the directory any more."""
    return text.replace("spool = one\n", "").replace("[spool:one]\npath = spool-a\n", "")


def lent(bench, change, body, again=False):
    slow = Slow(bench, reads=body is SMALL)
    pawl = bench.pawl(
        slow.origin,
        site={"min-resumable": "0", "response-ttl": "1h", "spool": "one"},
        pawl={"drain-timeout": "1s"},
        upstream={"response-timeout": "60s"},
        extra={"spool:one": {"path": "spool-a"}},
    )
    waiting = Waiting(bench, pawl, body)
    if body is SMALL:
        wait_for(lambda: is_whole(slow, body), 10, "the delivery")
    else:
        wait_for(lambda: any(r.body_count > 100_000 for r in asked(slow.origin)), 10, "the beginning of the delivery")
    upgrade(bench, pawl)
    true("deliveries-lent count=1" in pawl.log(), pawl.log()[-2000:])
    wait_for(lambda: os.path.exists(sock(pawl)), 10, "the admin interface of the new process")
    pawl.file.write_text(change(pawl, pawl.file.read_text()))
    command(pawl, "reload")
    if again:
        upgrade(bench, pawl)
    same(told(pawl.address, waiting.location)[0], 204, "HEAD at the new process")
    slow.read.set()
    slow.answer.set()
    same(waiting.answer(), (200, b"delivery 1", None), "the client at the old process")
    folder = "spool-b" if change is moved else "spool-a"
    same(phases(pawl, folder), [ANSWERED], "on the disk, where the upload is")
    true("upload-record-failed" not in pawl.log(), pawl.log()[-2000:])
    same(len(asked(slow.origin)), 1, "requests")


for change in (renamed, moved, removed):
    for body, name in ((SMALL, "one that was sent whole"), (LARGE, "one that is being sent")):

        @check(
            f"a reload with the spool {change.__name__} while {name} is lent: its answer is recorded where it is",
            area="upgrade reload",
        )
        def reloaded(bench, change=change, body=body):
            lent(bench, change, body)


@check("the same over two upgrades", area="upgrade reload")
def twice(bench):
    lent(bench, renamed, SMALL, again=True)
