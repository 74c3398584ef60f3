"""The package on a fresh Debian 12 whose process 1 is systemd: installed, used, upgraded, removed, purged."""

import re
import subprocess

from checks import run
from debian_root import TOP, root
from machine import Machine

# Libraries that the package depends on: they wait in the root's archives.
LIBRARIES = (
    "ca-certificates libbrotli1 libevent-core-2.1-7 libgcc-s1 libnghttp2-14 libsqlite3-0 libssl3 libstdc++6 libxxhash0 "
    "libzstd1 zlib1g"
)
INI = "/etc/pawl/pawl.ini"
URL = "http://127.0.0.1:8080"
TLS = "/etc/pawl/tls"


class Installed:
    def __init__(self, built):
        self.built = built
        self.machine = Machine(root("debian12", include=["init", "logrotate", "xz-utils"], download=LIBRARIES.split()))
        self.run = self.machine.run

    def install(self, kind, *options):
        for path in self.built.deb(kind).glob("*.deb"):
            self.machine.copy(path, f"/var/tmp/{path.name.split('_')[0]}.deb")
        return self.run(
            "apt-get",
            "install",
            "--yes",
            "--no-install-recommends",
            *options,
            "/var/tmp/pawl.deb",
            "/var/tmp/pawl-bench.deb",
        )

    def files(self):
        """All files of the root, with their owners and modes."""
        places = "/bin /boot /etc /home /lib /lib64 /mnt /opt /root /sbin /srv /usr /var"
        lines = self.run("sh", "-c", f"find {places} -xdev ! -type d -printf '%p\\n' -o -name '*pawl*' -printf '%p\\n'")
        return set(lines.splitlines())

    def watch(self, limit):
        """Sets WatchdogSec= (None: that of the package) and restarts the service."""
        folder = "/run/systemd/system/pawl.service.d"
        if limit:
            self.run("mkdir", "-p", folder)
            self.write(f"[Service]\nWatchdogSec={limit}", f"{folder}/watchdog.conf")
        else:
            self.run("rm", "-r", folder)
        self.run("systemctl", "daemon-reload")
        self.run("systemctl", "restart", "pawl")
        self.wait_active()

    def main_process(self):
        return self.run("systemctl", "show", "--property=MainPID", "--value", "pawl").strip()

    def wait_active(self):
        self.machine.wait_for(lambda: self.machine.output("systemctl", "is-active", "pawl") == "active", "pawl.service")

    def write(self, text, path=INI):
        self.run("sh", "-c", f"cat >{path} <<'END'\n{text}\nEND")

    def said_since(self, mark):
        """What the journal of the service has got since it had `mark` bytes."""
        self.run("journalctl", "--sync")
        return self.machine.journal()[mark:]

    def download(self, name, rate="4M", url=URL, *options):
        """A download of 24 MiB that has begun; `whole` waits for its end."""
        file = self.built.work / name
        process = subprocess.Popen(
            self.machine.outside(
                "curl", "--silent", "--show-error", "--limit-rate", rate, "--output", str(file),
                "--write-out", "%{http_code} %{size_download} %{num_connects}", *options, f"{url}/bytes/24M/{name}",
            ),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.machine.wait_for(lambda: file.stat().st_size > 0, f"the download {name}")
        return process

    def upgraded(self, before):
        """The new main process, once systemd has it and the service is active."""
        self.machine.wait_for(lambda: self.main_process() not in (before, "0"), "the new process")
        self.wait_active()
        return self.main_process()


WHOLE = ("200 25165824 1", "")


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
    units = ["pawl.service", "pawl.socket", "pawl-https.socket"]
    verified = on.machine.try_run("systemd-analyze", "verify", "--man=no", *units)
    assert (verified.returncode, verified.stderr) == (0, ""), verified
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
    mark = len(on.said_since(0))
    on.write(text.replace("[site:default]", "[site:default]\ndefault-tll = 5m"))
    assert on.machine.try_run("systemctl", "reload", "pawl").returncode != 0
    said = on.said_since(mark)
    assert '[site:default] default-tll: unknown key - did you mean "default-ttl"?' in said, said
    assert "the configuration was NOT reloaded; the old one stays in force" in said, said
    assert on.machine.output("systemctl", "is-active", "pawl") == "active"
    assert on.main_process() == process
    assert on.machine.fetch(f"{URL}/bytes/1000/first")[0] == 200
    # A short drain: a download that survives something was not merely drained.
    on.write(text.replace("[pawl]", "[pawl]\ndrain-timeout = 1s\naccess-log = /var/log/pawl/access.log"))
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
    before, mark = on.main_process(), len(on.said_since(0))
    slow = on.download("slow")
    said = on.install("release")
    new = on.upgraded(before)
    assert f" upgraded pid={new} " in on.said_since(mark), on.said_since(mark)
    assert slow.communicate() == WHOLE, said
    assert "0.0.1" not in on.run("dpkg-query", "--show", "pawl")
    assert on.run("cat", INI).endswith("# changed\n")
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
    assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]
    assert not on.machine.output("dpkg", "--verify", "pawl-bench")
    assert [line[-len(INI) :] for line in on.machine.output("dpkg", "--verify", "pawl").splitlines()] == [INI]


def hands_over(on):
    """pawl upgrade as the unit: systemd follows to the new process and notices its end; downloads go on"""
    before, mark = on.main_process(), len(on.said_since(0))
    slow = on.download("handed")
    assert on.run("pawl", "upgrade", "--config", INI) == "upgraded\n"
    new = on.upgraded(before)
    assert on.run("systemctl", "show", "--property=NRestarts", "--value", "pawl").strip() == "0"
    assert f"process {new}," in on.run("pawl", "status", "--config", INI)
    on.run("systemctl", "reload", "pawl")
    assert on.main_process() == new
    assert slow.communicate() == WHOLE
    on.machine.wait_for(
        lambda: on.machine.try_run("test", "-e", f"/proc/{before}").returncode == 1, "the end of the old process"
    )
    said = on.said_since(mark)
    for word in ("notify-failed", "reception only permitted", "not our child"):
        assert word not in said, said
    on.run("sh", "-c", f"kill -KILL {new}")
    assert on.upgraded(new) != new
    assert on.machine.fetch(f"{URL}/bytes/1000/first")[0] == 200
    # One that ends while its predecessor still sends is noticed, too.
    before = on.main_process()
    slow = on.download("outlived", "1M")
    on.run("pawl", "upgrade", "--config", INI)
    new = on.upgraded(before)
    on.run("sh", "-c", f"kill -KILL {new}")
    assert on.upgraded(new) not in (before, new)
    slow.kill()
    slow.wait()
    assert on.machine.fetch(f"{URL}/bytes/1000/first")[0] == 200


def is_watched(on):
    """one that does not answer any more is restarted by the watchdog, with what it has stored"""
    assert on.run("systemctl", "show", "--property=WatchdogUSec", "--value", "pawl").strip() == "30s"
    assert on.machine.fetch(f"{URL}/bytes/1M/kept")[0] == 200
    on.watch("3s")
    before, mark = on.main_process(), len(on.said_since(0))
    on.run("sh", "-c", f"kill -STOP {before}")
    on.upgraded(before)
    assert "Watchdog timeout" in on.said_since(mark), on.said_since(mark)
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
    assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]
    on.watch(None)


def is_activated(on):
    """sockets of systemd, as their units say: a restart refuses no connection, a connection starts a stopped pawl"""
    before = on.run("cat", INI)
    certificate(on)
    text = before.replace("address = 127.0.0.1:8080", "address = systemd:http")
    on.write(
        f"{text}[listen:secure]\naddress = systemd:https\ntls = web\n"
        f"[tls:web]\ncertificate = {TLS}/c.pem\nkey = {TLS}/k.pem"
    )
    # A key that the service cannot read.
    refused = on.machine.try_run("pawl", "check", "--config", INI)
    assert (
        refused.returncode == 69 and f"key: {TLS}/k.pem: cannot be read: Permission denied (for pawl)" in refused.stderr
    ), refused
    on.run("chgrp", "pawl", f"{TLS}/k.pem")
    for unit in ("pawl.socket", "pawl-https.socket"):
        path = on.run("systemctl", "show", "--property=FragmentPath", "--value", unit).strip()
        lines = on.run("cat", path).split("\n\n")[0].split("\n")
        for line in lines:
            if match := re.match(r"#   (systemctl (?!start).*)", line):
                on.run(*match[1].split())
    on.run("pawl", "check", "--config", INI)
    on.run("systemctl", "start", "pawl")
    on.wait_active()
    fetch = on.machine.fetch
    both = (("http://127.0.0.1/bytes/1000/http",), ("--insecure", "https://127.0.0.1/bytes/1000/https"))
    for words in both:
        assert fetch(*words)[0] == 200
    said = on.run("pawl", "status", "--config", INI)
    assert "listens on http" in said and "listens on https" in said, said
    # curl fails at the first refused connection.
    for words in (["systemctl", "restart", "pawl"], ["pawl", "upgrade", "--config", INI]):
        process = on.main_process()
        load = subprocess.Popen(
            on.machine.outside(
                "curl", "--silent", "--show-error", "--fail", "--fail-early", "--header", "Connection: close",
                "--output", "/dev/null", "http://127.0.0.1/bytes/1000/load?[1-5000]",
            ),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        on.run(*words)
        assert load.poll() is None, (words, load.communicate())
        on.upgraded(process)
        assert (load.communicate(), load.returncode) == (("", ""), 0)
    assert "socket-unused" not in on.machine.journal()
    on.run("systemctl", "stop", "pawl")
    assert on.machine.output("systemctl", "is-active", "pawl") == "inactive"
    assert fetch(*both[0])[0] == 200
    on.wait_active()
    on.write(before)
    on.run("rm", "-r", TLS)
    # They stay enabled: to purge them is part of a later check.
    on.run("systemctl", "stop", "pawl.socket", "pawl-https.socket")
    on.run("systemctl", "restart", "pawl")
    on.wait_active()
    assert fetch(f"{URL}/bytes/1000/first")[0] == 200


def certificate(on):
    """A certificate and its key, which only root may read, in the machine."""
    run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-keyout", on.built.work / "k.pem", "-out", on.built.work / "c.pem",
    )  # fmt: skip
    on.run("install", "-d", TLS)
    for name in ("c.pem", "k.pem"):
        on.machine.copy(on.built.work / name, f"{TLS}/{name}")
    on.run("chmod", "640", f"{TLS}/k.pem")


def restarts(on):
    """a restart keeps what is stored, and waits for the process that an upgrade has left"""
    before, mark = on.main_process(), len(on.said_since(0))
    on.run("systemctl", "restart", "pawl")
    on.wait_active()
    assert on.main_process() != before
    said = on.said_since(mark)
    assert "Killing process" not in said and "clean=yes" in said, said
    again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
    assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]


def reaches(on):
    """ports below 1024, sockets in /run/pawl, and a cache elsewhere once that is allowed as Deploy/README.md says"""
    before = on.run("cat", INI)
    text = (TOP / "Deploy/README.md").read_text()
    makes, allows = re.search(r"another disk .*?```sh\n(.*?)```.*?```ini\n(.*?)```", text, re.S).groups()
    on.run("sh", "-ec", makes)
    addresses = "address = 127.0.0.1:8080\naddress = 127.0.0.1:81\naddress = unix:/run/pawl/web.sock"
    on.write(before.replace("address = 127.0.0.1:8080", addresses).replace("/var/cache/pawl", "/srv/pawl"))
    assert on.machine.try_run("systemctl", "restart", "pawl").returncode != 0
    assert "Read-only file system" in on.machine.journal()
    folder = "/etc/systemd/system/pawl.service.d"
    on.run("mkdir", folder)
    on.write(allows, f"{folder}/override.conf")
    on.run("systemctl", "daemon-reload")
    on.run("systemctl", "restart", "pawl")
    on.wait_active()
    socket = f"/proc/{on.machine.first}/root/run/pawl/web.sock"
    for words in ((URL,), ("http://127.0.0.1:81",), ("--unix-socket", socket, "http://localhost")):
        assert on.machine.fetch(*words[:-1], f"{words[-1]}/bytes/1000/elsewhere")[0] == 200
    on.write(before)
    on.run("rm", "-r", folder, "/srv/pawl")
    on.run("systemctl", "daemon-reload")
    on.run("systemctl", "restart", "pawl")
    on.wait_active()


def rolls_back(on):
    """back to the version before, and forth again: what is stored stays, and the configuration"""
    for kind, options in (("before", ["--allow-downgrades"]), ("release", [])):
        on.install(kind, *options)
        on.run("systemctl", "restart", "pawl")
        on.wait_active()
        assert ("0.0.1" in on.run("dpkg-query", "--show", "pawl")) == (kind == "before")
        again = on.machine.fetch("--dump-header", "-", f"{URL}/bytes/1M/kept")
        assert b"hit" in again[1].split(b"\r\n\r\n")[0], again[1][:500]
        assert "# changed\n" in on.run("cat", INI)


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


def unpacks(on):
    """the tar, unpacked as Deploy/README.md says, runs as a service of the same user, and can be upgraded"""
    on.run("apt-get", "install", "--yes", "--no-install-recommends", *LIBRARIES.split())
    (path,) = on.built.tar().glob("*.tar.xz")
    on.run("mkdir", "/var/tmp/tar")
    on.machine.copy(path, f"/var/tmp/tar/{path.name}")
    text = (TOP / "Deploy/README.md").read_text()
    lines, upgrade = re.findall(r"```sh\n(.*?)```", text.split("## Other distributions")[1].split("\n## ")[0], re.S)
    assert "sysusers" in lines and "pawl upgrade" in upgrade
    on.run("sh", "-ec", f"cd /var/tmp/tar\n{lines}")
    on.wait_active()
    assert on.run("stat", "--format=%U", f"/proc/{on.main_process()}").strip() == "pawl"
    program = on.run("readlink", f"/proc/{on.main_process()}/exe").strip()
    assert program.endswith("/usr/local/bin/pawl"), program
    on.run("pawl", "check", "--config", INI)
    assert on.machine.fetch(f"{URL}/bytes/1000/tar")[0] == 200
    on.run("logrotate", "--debug", "/etc/logrotate.d/pawl")
    before = on.main_process()
    slow = on.download("unpacked")
    on.run("sh", "-ec", f"cd /var/tmp/tar\n{upgrade}")
    on.upgraded(before)
    assert slow.communicate() == WHOLE


CHECKS = [
    installs, serves, reloads, rotates, upgrades, restarts, hands_over, is_watched, is_activated, reaches,
    rolls_back, keeps_uploads, purges, unpacks,
]  # fmt: skip
