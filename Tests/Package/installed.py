"""The package on a fresh Debian 12 whose process 1 is systemd: installed, used, upgraded, removed, purged."""

import subprocess

from debian_root import root
from machine import Machine

# Libraries that the package depends on: they wait in the root's archives.
LIBRARIES = (
    "ca-certificates libbrotli1 libevent-core-2.1-7 libgcc-s1 libnghttp2-14 libsqlite3-0 libssl3 libstdc++6 libxxhash0 "
    "libzstd1 zlib1g"
)
INI = "/etc/pawl/pawl.ini"
URL = "http://127.0.0.1:8080"


class Installed:
    def __init__(self, built):
        self.built = built
        self.machine = Machine(root("debian12", include=["init", "logrotate"], download=LIBRARIES.split()))
        self.run = self.machine.run

    def install(self, kind):
        for path in self.built.deb(kind).glob("*.deb"):
            self.machine.copy(path, f"/var/tmp/{path.name.split('_')[0]}.deb")
        return self.run(
            "apt-get", "install", "--yes", "--no-install-recommends", "/var/tmp/pawl.deb", "/var/tmp/pawl-bench.deb"
        )

    def files(self):
        """All files of the root, with their owners and modes."""
        places = "/bin /boot /etc /home /lib /lib64 /mnt /opt /root /sbin /srv /usr /var"
        lines = self.run("sh", "-c", f"find {places} -xdev ! -type d -printf '%p\\n' -o -name '*pawl*' -printf '%p\\n'")
        return set(lines.splitlines())

    def main_process(self):
        return self.run("systemctl", "show", "--property=MainPID", "--value", "pawl").strip()

    def wait_active(self):
        self.machine.wait_for(lambda: self.machine.output("systemctl", "is-active", "pawl") == "active", "pawl.service")

    def write(self, text):
        self.run("sh", "-c", f"cat >{INI} <<'END'\n{text}\nEND")


def installs(on):
    """installed by apt, it runs as the user pawl, enabled, with directories of its own"""
    on.before = on.files()
    on.install("before")
    assert on.run("systemctl", "is-enabled", "pawl").strip() == "enabled"
    assert on.machine.output("systemctl", "is-enabled", "pawl.socket") == "disabled"
    on.wait_active()
    owners = on.run(
        "stat", "--format=%n %U:%G %a", "/var/lib/pawl", "/var/cache/pawl", "/var/log/pawl", "/run/pawl", INI
    )
    assert owners.splitlines() == [
        "/var/lib/pawl pawl:pawl 750", "/var/cache/pawl pawl:pawl 750", "/var/log/pawl pawl:pawl 750",
        "/run/pawl pawl:pawl 755",
        f"{INI} root:root 644",
    ], owners  # fmt: skip
    status = on.run("cat", f"/proc/{on.main_process()}/status")
    user = on.run("id", "--user", "pawl").strip()
    assert f"Uid:\t{user}\t{user}\t{user}\t{user}" in status, status
    assert "CapEff:\t0000000000000400" in status and "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status, status
    on.run("pawl", "check", "--config", INI)
    assert "/usr/share/man/man8/pawl.8.gz" in on.run("dpkg", "-L", "pawl")


def serves(on):
    """it serves an application, from its cache the second time"""
    on.run("systemd-run", "--unit=origin", "pawl-bench", "origin", "--listen", "127.0.0.1:9000")
    on.machine.wait_for(lambda: on.machine.fetch(f"{URL}/bytes/1000/first")[0] == 200, "the application")
    once = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/second")
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/second")
    assert once[0] == again[0] == 200 and b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]
    assert once[1].split(b"\r\n\r\n", 1)[1] == again[1].split(b"\r\n\r\n", 1)[1]


def reloads(on):
    """a reload with a mistake in the file is refused and changes nothing; a right one takes effect"""
    text = on.run("cat", INI)
    process = on.main_process()
    on.write(text.replace("[site:default]", "[site:default]\ndefault-tll = 5m"))
    assert on.machine.try_run("systemctl", "reload", "pawl").returncode != 0
    assert on.machine.fetch(f"{URL}/bytes/1000/first")[0] == 200
    on.write(text.replace("[pawl]", "[pawl]\naccess-log = /var/log/pawl/access.log"))
    on.run("systemctl", "reload", "pawl")
    assert on.main_process() == process
    on.wait_active()


def rotates(on):
    """logrotate moves the access log away, and pawl goes on in a new file"""
    on.run("systemctl", "restart", "pawl")
    on.wait_active()
    assert on.machine.fetch(f"{URL}/bytes/1000/old")[0] == 200
    read = lambda name: on.machine.output("cat", f"/var/log/pawl/{name}")
    on.machine.wait_for(lambda: "/old" in read("access.log"), "the line of the access log")
    on.run("logrotate", "--force", "/etc/logrotate.d/pawl")
    assert on.run("stat", "--format=%U:%G %a", "/var/log/pawl/access.log").strip() == "pawl:pawl 640"

    def isNew():
        on.machine.fetch(f"{URL}/bytes/1000/new")
        return "/new" in read("access.log")

    on.machine.wait_for(isNew, "a line in the new access log")
    assert "/old" in read("access.log.1") and "/old" not in read("access.log")


def upgrades(on):
    """an upgrade keeps the changed configuration, what is stored, and downloads that are running"""
    on.run("sh", "-c", f"echo '# changed' >>{INI}")
    assert on.machine.fetch(f"{URL}/bytes/1M/kept")[0] == 200
    before = on.main_process()
    slow = subprocess.Popen(
        on.machine.outside(
            "curl", "--silent", "--show-error", "--limit-rate", "4M", "--output", str(on.built.work / "slow"),
            "--write-out", "%{http_code} %{size_download}", f"{URL}/bytes/24M/slow",
        ),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    on.machine.wait_for(lambda: (on.built.work / "slow").stat().st_size > 0, "the download")
    said = on.install("release")
    on.machine.wait_for(lambda: on.main_process() not in (before, "0"), "the new process")
    on.wait_active()
    assert slow.communicate() == ("200 25165824", ""), said
    assert on.run("cat", INI).endswith("# changed\n")
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
    assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]
    assert not on.machine.output("dpkg", "--verify", "pawl-bench")
    assert [line[-len(INI) :] for line in on.machine.output("dpkg", "--verify", "pawl").splitlines()] == [INI]


def restarts(on):
    """a restart keeps what is stored"""
    before = on.main_process()
    on.run("systemctl", "restart", "pawl")
    on.wait_active()
    assert on.main_process() != before
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
    assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]


def keeps_uploads(on):
    """purged with an upload in the spool, it leaves that and says so"""
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "1000000", "Content-Type": "application/offset+octet-stream"}
    fields = [word for name, value in tus.items() for word in ("--header", f"{name}: {value}")]
    started = on.machine.fetch("--data-binary", "the beginning", *fields, f"{URL}/in")
    assert started[0] == 201, started
    said = on.run("apt-get", "purge", "--yes", "pawl", "pawl-bench")
    assert on.machine.output("systemctl", "is-active", "pawl") == "inactive"
    left = {name for name in on.files() if "pawl" in name and not name.startswith("/var/tmp/")}
    assert left and all(name.startswith("/var/lib/pawl") for name in left), left
    done = on.machine.try_run("ls", "-A", "/var/lib/pawl")
    assert done.stdout.split() == ["spool"], (done.stdout, said)


def purges(on):
    """installed again and purged without uploads, it leaves nothing but its user"""
    on.run("rm", "-r", "/var/lib/pawl")
    on.install("release")
    on.wait_active()
    on.run("apt-get", "purge", "--yes", "--autoremove", "pawl", "pawl-bench")
    on.run(
        "apt-get",
        "purge",
        "--yes",
        "--autoremove",
        *LIBRARIES.split()[:2],
        "libevent-core-2.1-7",
        "libnghttp2-14",
        "libsqlite3-0",
    )
    ignored = (
        "/var/lib/logrotate/",
        "/var/tmp/",
        "/var/log/",
        "/var/lib/dpkg/",
        "/var/lib/apt/",
        "/var/cache/",
        "/etc/ssl/",
        "/etc/ca-certificates",
        "/usr/share/ca-certificates",
    )
    left = {name for name in on.files() - on.before if not name.startswith(ignored) and not name.endswith("-")}
    assert not left, sorted(left)
    assert not on.machine.output("sh", "-c", "ls -d /var/*/pawl /etc/pawl /run/pawl /usr/share/pawl 2>/dev/null")


CHECKS = [installs, serves, reloads, rotates, upgrades, restarts, keeps_uploads, purges]
