"""A small ext4 on a loop device that a row may fill, shut down without its journal, check and mount again (needs
root)."""

import fcntl
import os
import struct
import subprocess
import time

from harness.checks import Skip

SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # EXT4_IOC_SHUTDOWN


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


class Disk:
    def __init__(self, scenario, size, options=""):
        self.image, self.mount = scenario.bench.folder / "disk", scenario.bench.folder / "mounted"
        self.mount.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(size)
        if os.geteuid() or quiet("mkfs.ext4", "-q", "-F", "-m", "0", str(self.image)) or not self.attach(options):
            raise Skip("no right to mount a loop device")
        scenario.bench.stack.callback(lambda: quiet("umount", "-l", str(self.mount)))

    def attach(self, options=""):
        return quiet("mount", "-o", "loop" + ("," + options if options else ""), str(self.image), str(self.mount)) == 0

    def cut_power(self):
        """Nothing that is not on the disk gets there any more; the journal is not written out."""
        directory = os.open(self.mount, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(directory)

    def restore(self, options="", seconds=20):
        """After the processes on it have ended: unmounted, checked, mounted. False when that fails."""
        end = time.monotonic() + seconds
        while quiet("umount", str(self.mount)):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        quiet("e2fsck", "-f", "-y", str(self.image))
        return self.attach(options)

    def free(self):
        numbers = os.statvfs(self.mount)
        return numbers.f_bavail * numbers.f_frsize
