"""CPU time and memory of a server: of its process and everything below it, as the kernel accounts for them, never by
the clock on the wall."""

import os
import pathlib

TICK = os.sysconf("SC_CLK_TCK")
PROC = pathlib.Path("/proc")


def fields(pid):
    """What stands in /proc/PID/stat after the name in parentheses."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def tree(pid):
    """The process and its descendants, those that are gone left out."""
    children = {}
    for each in PROC.iterdir():
        if each.name.isdigit():
            try:
                children.setdefault(int(fields(each.name)[1]), []).append(int(each.name))
            except (OSError, IndexError):
                continue
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        left += children.get(one, [])
    return found


class Reading:
    """CPU used so far by some processes: to the nanosecond of each thread where the kernel keeps that, else in
    ticks."""

    def __init__(self, pids):
        self.threads, self.ticks = {}, 0
        for pid in pids:
            try:
                # utime, stime, and those of children that have ended
                self.ticks += sum(int(each) for each in fields(pid)[11:15])
                for task in (PROC / str(pid) / "task").iterdir():
                    self.threads[task.name] = int((task / "schedstat").read_text().split()[0])
            except (OSError, ValueError):
                continue


class Processes:
    """The processes of one server. They are looked up once, and again by `refresh`."""

    def __init__(self, pid):
        self.pid = pid
        self.refresh()

    def refresh(self):
        self.pids = tree(self.pid)

    def read(self):
        return Reading(self.pids)

    def since(self, before):
        """CPU seconds since a reading. Threads that ended in between are in the ticks alone."""
        after = self.read()
        if after.threads and not before.threads.keys() - after.threads.keys():
            return sum(used - before.threads.get(name, 0) for name, used in after.threads.items()) / 1e9
        return (after.ticks - before.ticks) / TICK

    def memory(self):
        """Bytes: resident of each process added up, and proportional, which counts what they share once."""
        resident = proportional = 0
        for pid in self.pids:
            try:
                for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
                    if line.startswith("Rss:"):
                        resident += int(line.split()[1]) * 1024
                    elif line.startswith("Pss:"):
                        proportional += int(line.split()[1]) * 1024
            except OSError:
                continue
        return {"rss": resident, "pss": proportional}
