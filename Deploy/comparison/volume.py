"""A file system of its own for each life of a server with many objects. Where files were removed a moment ago, ext4
looks at every inode of them before it makes a new one, for minutes: a server that makes a file for each object would
pay for those of the server before it."""

import shutil
import subprocess

import running

CLONE_NEWNS = 0x20000
TOOLS = ("mkfs.ext4", "mount", "umount", "losetup")
SPARE = 4 << 30  # beside what is to be kept
can = False  # whether this program may mount


def alone():
    """Mounts of this program, and of what it starts, are seen by nobody else, and go with it."""
    global can
    can = (
        all(map(shutil.which, TOOLS))
        and running.LIBC.unshare(CLONE_NEWNS) == 0
        and run("mount", "--make-rprivate", "/")
    )


def run(*words):
    return subprocess.run([str(each) for each in words], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


class Volume:
    """An empty ext4 in a sparse file, mounted on a folder. `isThere` says whether that could be done; else the folder
    is as it was."""

    def __init__(self, folder, octets):
        self.folder, self.image = folder, folder.with_name(folder.name + ".image")
        self.isThere = False
        if not can:
            return
        with open(self.image, "wb") as file:
            file.truncate(octets + SPARE)
        self.isThere = run(
            "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", self.image
        ) and run("mount", "-o", "loop", self.image, folder)
        if not self.isThere:
            self.image.unlink()
            return
        folder.chmod(0o755)
        # What it writes is in the page cache once.
        device = subprocess.run(
            ["losetup", "-n", "-O", "NAME", "-j", self.image], capture_output=True, text=True
        ).stdout.split()
        if device:
            run("losetup", "--direct-io=on", device[0])

    def end(self):
        if self.isThere:
            run("umount", self.folder) or run("umount", "-l", self.folder)
            self.image.unlink(missing_ok=True)
            self.isThere = False
