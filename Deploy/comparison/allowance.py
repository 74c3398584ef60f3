"""Memory for a server, page cache and all: a control group of its own with a limit, in version 2 or 1 of the kernel's
interface."""

import os
import pathlib
import re
import time

from running import Failure, Skip

GROUPS = pathlib.Path("/sys/fs/cgroup")
PREFIX = "pawl-compare"


def hierarchy():
    """The folder where groups for memory are made, and the name of the file with a group's limit."""
    controllers = GROUPS / "cgroup.controllers"
    if controllers.exists() and "memory" in controllers.read_text().split():
        return GROUPS, "memory.max"
    return GROUPS / "memory", "memory.limit_in_bytes"


def forget_the_dead():
    """Removes the groups of comparisons that were killed."""
    for each in hierarchy()[0].glob(f"{PREFIX}-*-*"):
        owner = re.match(rf"{PREFIX}-(\d+)-", each.name)
        if owner and not os.path.exists(f"/proc/{owner.group(1)}"):
            each.rmdir()


class Allowance:
    """So many bytes for the processes that join. Raises Skip where this machine does not allow it."""

    def __init__(self, name, octets):
        folder, limit = hierarchy()
        self.folder, self.octets = folder / f"{PREFIX}-{os.getpid()}-{name}", octets
        try:
            if limit == "memory.max" and "memory" not in (folder / "cgroup.subtree_control").read_text().split():
                (folder / "cgroup.subtree_control").write_text("+memory")
            self.folder.mkdir()
            for each, most in ((limit, octets), ("memory.memsw.limit_in_bytes", octets), ("memory.swap.max", 0)):
                if each == limit or (self.folder / each).exists():
                    (self.folder / each).write_text(str(most))
        except OSError as why:
            self.end()
            raise Skip(f"no control group with a limit of memory can be made here: {why}") from None

    def join(self):
        """Called by a process before it becomes the server."""
        (self.folder / "cgroup.procs").write_text("0")

    def killed(self):
        """Whether the kernel ended a process because the allowance was too small."""
        counts = [
            each.read_text()
            for each in (self.folder / "memory.events", self.folder / "memory.oom_control")
            if each.exists()
        ]
        return any(int(count) for text in counts for count in re.findall(r"^oom_kill (\d+)", text, re.M))

    def end(self, seconds=10):
        """When its processes have ended."""
        end = time.monotonic() + seconds
        while self.folder.exists():
            try:
                self.folder.rmdir()
            except OSError as why:
                if time.monotonic() > end:
                    raise Failure(f"{self.folder}: {why}") from None
                time.sleep(0.05)
