"""Whose bytes are in a file: parts that go while they are joined, files that are used again."""

import pathlib
import platform
import shutil
import subprocess
import threading

from harness.checks import CLEAR, Skip, check, only, same, true
from harness.content import Content
from harness.process import LIVING, wait_for
from harness.uploads import body_files, landed, path_of, stored, tus_create, tus_delete, tus_new, tus_patch, whole

only(CLEAR, "what becomes of files is the same whatever the bytes came over", __name__)

PARTIAL = (("Upload-Concat", "partial"),)
SIZE = 300_000
# The number of copy_file_range.
COPY = 326 if platform.machine() == "x86_64" else 285


class SlowCopies:
    """While this lasts, each copy from file to file begins late: what may happen meanwhile, does."""

    def __init__(self, pawl, seconds):
        if not shutil.which("strace"):
            raise Skip("strace is needed")
        self.pawl = pawl
        self.strace = subprocess.Popen(
            [
                "strace",
                "-f",
                "-o",
                str(pawl.folder / "copies"),
                "-e",
                "trace=copy_file_range",
                "-e",
                f"inject=copy_file_range:delay_enter={int(seconds * 1e6)}",
                "-p",
                str(pawl.pid),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        LIVING.add(self.strace)
        line = self.strace.stderr.readline()
        if b"attached" not in line:
            self.__exit__()
            raise Skip(f"strace may not attach: {line!r}")

    def begun(self):
        """Whether a copy waits to be made."""
        for task in pathlib.Path(f"/proc/{self.pawl.pid}/task").iterdir():
            try:
                if (task / "syscall").read_text().startswith(f"{COPY} "):
                    return True
            except OSError:
                pass
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.strace.poll() is None:
            self.strace.terminate()
            self.strace.wait(10)
        self.strace.stderr.close()
        LIVING.discard(self.strace)


def begin(bench, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site={"min-resumable": "0", **site})


def part(pawl, body):
    location = tus_new(pawl.address, len(body), PARTIAL)
    same(tus_patch(pawl.address, location, 0, body).status, 204, "a part")
    return location


def join(pawl, locations, target="/whole"):
    return tus_create(
        pawl.address,
        None,
        (("Upload-Concat", "final;" + " ".join(path_of(each) for each in locations)),),
        target=target,
        timeout=20,
    )


@check(
    "a part that is removed while it is joined gives its own bytes or none, never those of who came after it",
    area="upload files",
    seconds=90,
)
def removed_part(bench):
    origin, pawl = begin(bench)
    mine, secret = Content("mine", SIZE).read(), Content("secret", SIZE).read()
    for turn, again in enumerate((False, True)):
        location = part(pawl, mine)
        if again:
            # Not written to for a while: its file is closed, and opened for the copy.
            wait_for(lambda: not any("spool/bodies" in str(name) for name in open_files(pawl)), 10, "the file's end")
        answers, target = [], f"/whole{turn}"
        with SlowCopies(pawl, 2.5) as slow:
            joining = threading.Thread(target=lambda: answers.append(join(pawl, [location], target)))
            joining.start()
            wait_for(slow.begun, 10, "a copy that waits")
            same(tus_delete(pawl.address, location).status, 204, "DELETE of the part")
            besides = set(body_files(pawl, SIZE))
            victims = []
            for number in range(3):
                theirs = tus_new(pawl.address, SIZE + 1, target=f"/theirs{number}")
                same(tus_patch(pawl.address, theirs, 0, secret).status, 204, "another's upload")
                victims.append(theirs)
            landed(pawl, SIZE, besides)
            true(slow.begun() and joining.is_alive(), "the copy was made too early for this check")
            joining.join(20)
        true(answers and answers[0].status in (201, 400, 503), f"the final upload: {answers}")
        bodies = [request.body for request in whole(origin, target)]
        true(all(body == mine for body in bodies), f"bytes at the origin: {[(len(b), b == secret) for b in bodies]}")
        same(answers[0].status != 201 or bodies == [mine], True, "what was said of it")
        for theirs in victims:
            same(tus_patch(pawl.address, theirs, SIZE, b"!").status, 204, "the end of another's upload")
        same(
            [request.body == secret + b"!" for number in range(3) for request in whole(origin, f"/theirs{number}")][
                -3:
            ],
            [True] * 3,
            "another's upload",
        )
        origin.forget()


def open_files(pawl):
    found = []
    for entry in pathlib.Path(f"/proc/{pawl.pid}/fd").iterdir():
        try:
            found.append(entry.readlink())
        except OSError:
            pass
    return found
