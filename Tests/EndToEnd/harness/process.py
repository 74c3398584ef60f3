"""pawl as a process: started, waited for, measured, ended. Only processes started here are ever signalled."""

import atexit
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from .outcomes import Late

ROOT = pathlib.Path(__file__).resolve().parents[3]


def binary():
    return os.environ.get("PAWL") or str(ROOT / ".build" / "release" / "pawl")


LIVING = set()  # processes started here that have not been waited for


def end_the_living():
    """Whatever ends this program, nothing it started stays behind."""
    for process in list(LIVING):
        if process.poll() is None:
            process.kill()


atexit.register(end_the_living)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class StartFailure(Exception):
    pass


def ini(sections):
    """{"site:main": {"upstream": "app"}} as a file; a list value becomes repeated keys, None leaves a key out."""
    lines = []
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        for key, value in keys.items():
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if each is not None:
                    lines.append(f"{key.replace('_', '-')} = {each}")
        lines.append("")
    return "\n".join(lines)


def config(origin, pawl=None, listen=None, cache=None, upstream=None, site=None, extra=None, over="clear"):
    """A configuration for one upstream and one site, with port 0, logs in the folder, and little reserved space; its
    listener is for the transport `over`."""
    from .transport import sections as sections_of

    keys, more = sections_of(over)
    urls = [origin] if isinstance(origin, str) else list(origin)
    sections = {
        "pawl": {
            "state-dir": "state",
            "workers": "2",
            "drain-timeout": "5s",
            "access-log": "access.log",
            "access-log-format": "json",
            "log-level": "debug",
            **clean(pawl),
        },
        "listen:main": {"address": "127.0.0.1:0", **keys, **clean(listen)},
        "cache:default": {"path": "cache", "min-free": "64M", "max-size": "20G", **clean(cache)},
        "upstream:app": {"url": urls, "connect-timeout": "2s", **clean(upstream)},
        "site:main": {"upstream": "app", **clean(site)},
    }
    sections.update(more)
    sections.update(extra or {})
    return ini(sections)


def clean(keys):
    return {key.replace("_", "-"): value for key, value in (keys or {}).items()}


class Pawl:
    """One process at a time in one folder; `start` after `stop` or `kill` is a restart on the same state."""

    def __init__(self, folder, configuration, arguments=None, environment=None, prefix=(), over="clear"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "pawl.ini"
        self.file.write_text(configuration)
        self.arguments = arguments or ["serve", "--config", str(self.file)]
        self.environment = environment
        self.prefix, self.over = list(prefix), over
        self.program = None  # another path of the binary
        self.sockets = []  # listening sockets that are passed as systemd does
        self.process, self.addresses, self.lines = None, [], []
        self.errors = self.folder / "stderr.log"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.end()

    @property
    def address(self):
        return self.addresses[0]

    @property
    def pid(self):
        return self.process.pid

    def start(self, seconds=20, ready=1):
        from .transport import register

        self.addresses, self.lines = [], []
        self.fresh = queue.Queue()
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(
                self.prefix + self._passing() + [self.program or binary()] + self.arguments,
                pass_fds=[each.fileno() for each in self.sockets],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(self.environment or {})},
            )
        LIVING.add(self.process)
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        end = time.monotonic() + seconds
        while len(self.addresses) < ready:
            try:
                line = self.fresh.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                self.end()
                raise StartFailure(f"no Ready line within {seconds} s; standard error ends:\n{self.log()[-1500:]}")
            if line is None:
                code = self.process.wait()
                raise StartFailure(f"ended with {code} before it was ready; standard error ends:\n{self.log()[-1500:]}")
            found = re.match(r"Ready: (https?://\S+)", line)
            if found:
                self.addresses.append(found.group(1))
                register(found.group(1), self.over)
        return self

    def _passing(self):
        """What makes the sockets descriptors 3 and up, and says so in the environment."""
        if not self.sockets:
            return []
        script = (
            "import os, sys\n"
            "given = [os.dup(int(n)) for n in sys.argv[1].split(',')]\n"
            "high = [__import__('fcntl').fcntl(n, 0, 100) for n in given]\n"
            "for i, n in enumerate(high): os.dup2(n, 3 + i)\n"
            "for n in high: os.close(n)\n"
            "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(high)))\n"
            "os.execv(sys.argv[2], sys.argv[2:])\n"
        )
        return [sys.executable, "-c", script, ",".join(str(each.fileno()) for each in self.sockets)]

    def _read(self, process):
        mine = self.fresh
        for line in process.stdout:
            text = line.decode("utf-8", "replace").rstrip("\n")
            self.lines.append(text)
            mine.put(text)
        mine.put(None)
        process.wait()
        LIVING.discard(process)

    def log(self):
        return self.errors.read_text(errors="replace") if self.errors.exists() else ""

    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=15):
        return self.process.wait(seconds)

    def stop(self, seconds=15):
        """SIGTERM, and the exit code."""
        if not self.running():
            return self.process.returncode
        self.signal(signal.SIGTERM)
        try:
            return self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running {seconds} s after SIGTERM")

    def kill(self):
        """kill -9."""
        if self.running():
            self.process.kill()
            self.process.wait()

    def end(self):
        """However it can be ended, quickly."""
        if self.running():
            self.kill()

    def restart(self, hard=False):
        self.kill() if hard else self.stop()
        return self.start()

    # -- what the kernel says ------------------------------------------------------------------------------------
    def rss(self):
        """Resident bytes."""
        return status_field(self.pid, "VmRSS") * 1024

    def own_rss(self):
        """Resident bytes that are not pages of files."""
        return (status_field(self.pid, "RssAnon") + status_field(self.pid, "RssShmem")) * 1024

    def peak_rss(self):
        return status_field(self.pid, "VmHWM") * 1024

    def cpu(self):
        return cpu_seconds(self.pid)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    # -- logs ----------------------------------------------------------------------------------------------------
    def access(self, target=None, count=1, seconds=5, done=None):
        """Access log lines in JSON, waiting until `count` of them are there."""
        end = time.monotonic() + seconds
        while True:
            lines = []
            path = self.folder / "access.log"
            if path.exists():
                for line in path.read_text(errors="replace").splitlines():
                    try:
                        lines.append(json.loads(line))
                    except ValueError:
                        pass
            if target is not None:
                lines = [line for line in lines if target in json.dumps(line)]
            if len(lines) >= count or time.monotonic() > end:
                return lines
            time.sleep(0.05)

    def body_files(self):
        """The body files of the cache, largest first."""
        files = [p for p in (self.folder / "cache").rglob("*") if p.is_file() and "bodies" in p.parts]
        return sorted(files, key=lambda p: -p.stat().st_size)


def status_field(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    """User and system seconds of a process and, for a master, of its children."""
    total = 0
    for each in [pid] + children(pid):
        try:
            fields = pathlib.Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return total / os.sysconf("SC_CLK_TCK")


def children(pid):
    try:
        return [int(x) for x in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def run_pawl(*arguments, folder=None, seconds=20, environment=None):
    """A command of pawl's that ends by itself: (exit code, standard output, standard error)."""
    done = subprocess.run(
        [binary(), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        env={**os.environ, **(environment or {})},
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def held_port():
    """A socket that keeps a port where nobody listens, and the port (Bench.held_port)."""
    import socket

    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def wait_for(condition, seconds=10, what="the condition", step=0.02):
    """Polls until `condition()` is true and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Late(f"{what} did not come within {seconds} s")
        time.sleep(step)


class Nginx:
    """nginx with one worker in a folder of its own; `server` is the inside of its server block."""

    def __init__(self, folder, server, http=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(f"""{user}
daemon off; master_process on; worker_processes 1;
pid {self.folder}/nginx.pid; error_log {self.folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; keepalive_requests 1000000000; default_type application/octet-stream;
  client_body_temp_path {self.folder}/t1; proxy_temp_path {self.folder}/t2; fastcgi_temp_path {self.folder}/t3;
  uwsgi_temp_path {self.folder}/t4; scgi_temp_path {self.folder}/t5;
  {http}
  server {{ listen 127.0.0.1:{self.port} backlog=1024; {server} }}
}}
""")
        self.process = None

    def __enter__(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen(
            [
                program,
                "-p",
                str(self.folder),
                "-c",
                str(self.folder / "nginx.conf"),
                "-e",
                str(self.folder / "error.log"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        LIVING.add(self.process)
        import socket

        def listening():
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return True
            except OSError:
                return False

        wait_for(listening, 10, "nginx")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def have(*programs):
    return all(shutil.which(p) or os.path.exists("/usr/sbin/" + p) for p in programs)


def note(text):
    print(text, file=sys.stderr, flush=True)
