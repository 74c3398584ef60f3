"""A machine in namespaces of its own: Debian's systemd as process 1, on a copy of a root, with a network of its own."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from debian_root import CACHE, Skip

# Process 1 gets file systems of its own, and a control group below which it makes those of its services.
BOOT = r"""
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$WORK/scratch"
mkdir "$WORK/scratch/groups" "$WORK/scratch/upper" "$WORK/scratch/work"
mount -t cgroup2 cgroup2 "$WORK/scratch/groups"
mkdir "$WORK/scratch/groups/$GROUP"
echo $$ >"$WORK/scratch/groups/$GROUP/cgroup.procs"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$WORK/scratch/upper,workdir=$WORK/scratch/work" "$WORK/root"
exec unshare --pid --cgroup --fork --kill-child sh -ec '
  cd "$WORK/root"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755 tmpfs dev
  mkdir dev/pts dev/shm
  # Nodes of its own: systemd changes the rights of the console, and those of a shared node would change everywhere.
  while read -r name major minor; do mknod -m 666 dev/$name c $major $minor; done <<NODES
null 1 3
console 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
NODES
  mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs tmpfs dev/shm
  mount -t tmpfs tmpfs tmp
  exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd --system
'
"""


class Machine:
    def __init__(self, lower):
        self.work = CACHE / f"machine-{os.getpid()}"
        for folder in ("root", "scratch"):
            (self.work / folder).mkdir(parents=True, exist_ok=True)
        self.group = f"pawl-package-{os.getpid()}"
        environment = {**os.environ, "WORK": str(self.work), "LOWER": str(lower), "GROUP": self.group}
        self.log = open(self.work / "boot.log", "w+")
        self.outer = subprocess.Popen(
            ["unshare", "--mount", "--uts", "--ipc", "--net", "sh", "-c", BOOT],
            env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
        )  # fmt: skip
        try:
            self.first = self.wait_for(self.found_first, "process 1")
            self.wait_for(
                lambda: self.output("systemctl", "is-system-running") in ("running", "degraded"), "the end of the boot"
            )
        except Exception:
            self.stop()
            raise

    def found_first(self):
        """The process 1 of the machine, as this machine counts it, once it is systemd."""
        if self.outer.poll() is not None:
            self.log.seek(0)
            raise Skip(f"a machine cannot be booted in namespaces here: {self.log.read().strip()[-300:]}")
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        if children and Path(f"/proc/{children[0]}/comm").read_text().strip() == "systemd":
            return children[0]
        return None

    @staticmethod
    def wait_for(what, name, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := what():
                    return found
            except FileNotFoundError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"{name} did not come in {seconds} s")

    def command(self, *words):
        """Words that run a command inside."""
        return [
            "nsenter",
            "--target",
            self.first,
            "--mount",
            "--uts",
            "--ipc",
            "--net",
            "--pid",
            "--cgroup",
            "--root",
            "--wd",
            *words,
        ]

    def outside(self, *words):
        """Words that run a program of this machine in the network of the other."""
        return ["nsenter", "--target", self.first, "--net", *words]

    def try_run(self, *words):
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
            "HOME": "/root",
        }
        return subprocess.run(
            self.command(*words), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )

    def run(self, *words):
        done = self.try_run(*words)
        assert done.returncode == 0, f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def output(self, *words):
        return self.try_run(*words).stdout.strip()

    def fetch(self, *words):
        """curl at this machine's services: (status, content)."""
        done = subprocess.run(
            self.outside(
                "curl", "--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}", *words
            ),
            capture_output=True,
        )
        assert done.returncode == 0, f"curl {' '.join(words)}: {done.stderr.decode()}"
        content, _, status = done.stdout.rpartition(b"\n")
        return int(status), content

    def copy(self, source, target):
        """Copies a file into the machine."""
        with open(source, "rb") as file:
            subprocess.run(self.command("tee", target), stdin=file, stdout=subprocess.DEVNULL, check=True)

    def journal(self, unit="pawl.service"):
        return self.output("journalctl", "--no-pager", "--output=cat", "--unit", unit)

    def stop(self):
        """Ends all processes of the machine, and removes what it wrote."""
        self.outer.kill()
        self.outer.wait()
        self.log.close()
        subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t cgroup2 cgroup2 "$1" && for try in 1 2 3 4 5 6 7 8 9; do '
             'find "$1/$2" -depth -type d -exec rmdir {} + && break; sleep 0.2; done',
             "sh", str(self.work / "scratch"), self.group],
            capture_output=True,
        )  # fmt: skip
        shutil.rmtree(self.work, ignore_errors=True)
