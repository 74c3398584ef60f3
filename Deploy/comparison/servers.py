"""pawl and nginx, configured alike: one worker on one core, a cache on disk before the same origin, keep-alive without
end."""

import os
import re
import shutil
import subprocess
import threading
import time

import running
from accounting import Processes
from allowance import Allowance
from running import Failure, Skip, free_port, start, stop, wait_port
from volume import Volume

# The order in which pawl and browsers prefer them; left alone, nginx takes the first that the client names, and
# OpenSSL's clients name AES-256 first.
CIPHERS = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"


class Side:
    """One way to ask a server: what stands in a column. `peer` is whom a bar speaks of, `variant` how it was set."""

    def __init__(self, server, port, variant="", secure=False, peer=None):
        self.server, self.port, self.variant, self.secure = server, port, variant, secure
        self.peer = peer or server.name
        self.fields = ()  # more fields of its requests
        self.cache = server if server.shared else (server, port)  # what keeps the answers

    @property
    def name(self):
        return f"{self.peer}, {self.variant}" if self.variant else self.peer

    def url(self, path):
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}{path}"


class Server:
    """A server as processes in a folder; `options` tell instances of the same program apart."""

    name, programs = "", ()
    shared = False  # whether one answer kept serves every listener
    twice = False  # whether the first hit moves a large body to where it stays
    forgets = None  # why its cache does not outlive it

    def __init__(self, bench, **options):
        self.bench, self.options, self.process = bench, options, None
        self.workers = options.get("workers", 1)
        self.cores = {running.SERVER} if self.workers == 1 else set(running.CORES[: self.workers])
        self.folder = bench.folder / (
            "-".join([self.name, *(f"{key}-{value}" for key, value in sorted(options.items()))])
        )
        self.log = self.folder / "errors.log"
        self.ports = {}
        self.allowance = self.volume = None
        # Of a site: how many objects it may hold, and how many bytes.
        self.objects, self.room = self.options.get("objects", 0), self.options.get("room", 0)

    def program(self):
        for each in self.programs:
            found = shutil.which(each) or next(
                (
                    f"{folder}/{each}"
                    for folder in ("/usr/sbin", "/usr/local/sbin")
                    if os.access(f"{folder}/{each}", os.X_OK)
                ),
                None,
            )
            if found:
                return found
        raise Skip(f"{self.name} is not installed")

    def start(self):
        self.program()
        if "memory" in self.options:
            self.allowance = Allowance(self.name, self.options["memory"])
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.objects:
            self.volume = Volume(self.folder, 3 * self.room)
        try:
            self.launch()
        except BaseException:
            self.stop()
            raise
        self.processes = Processes(self.process.pid)
        return self

    def run(self, *words, **more):
        with open(self.log, "ab") as log:
            self.process = start(
                words,
                self.cores,
                self.allowance and self.allowance.join,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                **{"stdout": log, "stderr": log, **more},
            )

    def wait(self, *kinds):
        for kind in kinds:
            wait_port(self.ports[kind], self.process, self.name, log=self.log)

    def end(self, seconds=8, keep=False):
        """keep: not before everything is on disk."""
        if self.process:
            stop(self.process, seconds)
            self.process = None

    def restart(self):
        """Ends it and starts it again with what it keeps on disk; returns when it does. When it was started, by the
        clock."""
        if self.forgets:
            raise Skip(self.forgets)
        self.end(60, keep=True)
        self.ports = {}
        os.sync()
        begun = time.monotonic()
        self.launch()
        self.processes = Processes(self.process.pid)
        return begun

    def stop(self):
        self.end()
        if self.allowance:
            self.allowance.end()
        if self.volume:
            self.volume.end()
        if not self.options.get("keep"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def side(self, kind="clear", variant=""):
        return Side(self, self.ports[kind], variant, kind.startswith("tls"))

    def sides(self, kind="clear"):
        """Every variant of the listener of this kind."""
        return [self.side(kind if kind in self.ports else "clear")]


class Pawl(Server):
    name = "pawl"

    def program(self):
        return self.bench.pawl

    def launch(self):
        certificate, key = self.bench.certificate
        log = self.folder / "access.log" if self.options.get("log") else "off"
        (self.folder / "pawl.ini").write_text(f"""[pawl]
state-dir = {self.folder}/state
workers = {self.workers}
access-log = {log}
access-log-format = combined
log-level = warning
[listen:clear]
address = 127.0.0.1:0
keepalive-timeout = 600s
[listen:secure]
address = 127.0.0.1:0
keepalive-timeout = 600s
tls = main
[tls:main]
certificate = {certificate}
key = {key}
[cache:default]
max-size = 40G
min-free = 64M
[spool:default]
max-size = 40G
max-uploads-per-client = 100000
max-share-per-client = 100%
durability = {self.options.get("durability", "none")}
[upstream:origin]
url = http://{self.options.get("origin") or self.bench.origin.address}
max-connections = 512
[site:default]
upstream = origin
plain-uploads = {self.options.get("plain", "stream")}
""")
        self.run(self.program(), "serve", "--config", self.folder / "pawl.ini", stdout=subprocess.PIPE)
        end = time.monotonic() + 20
        timer = threading.Timer(20, self.process.kill)
        timer.start()
        while len(self.ports) < 2 and time.monotonic() < end:
            line = self.process.stdout.readline().decode()
            if not line:
                raise Failure(f"pawl did not start: {self.log.read_text()[-2000:].strip()}")
            ready = re.match(r"Ready: (https?)://.*:(\d+)", line)
            if ready:
                self.ports["tls" if ready.group(1) == "https" else "clear"] = int(ready.group(2))
        timer.cancel()

    def sides(self, kind="clear"):
        if kind != "upload":
            return super().sides(kind)
        durability = self.options.get("durability", "none")
        peer = self.name if durability == "none" else f"{self.name} (durability {durability})"
        ietf, plain = (
            Side(self, self.ports["clear"], variant, peer=peer) for variant in ("IETF resumable", "plain, spooled")
        )
        ietf.fields = ("Upload-Draft-Interop-Version: 6", "Upload-Complete: ?1")
        return [ietf, plain]


class PawlBefore(Pawl):
    """Another binary of pawl, to see what a change did."""

    name = "pawl-before"

    def program(self):
        return self.bench.before


class Nginx(Server):
    """One nginx with a listener for each variant: tcp_nopush off and on, in clear, over TLS and HTTP/2, with its access
    log, with request buffering. They share its cache and its worker."""

    name, programs, shared = "nginx", ("nginx",), True

    def launch(self):
        certificate, key = self.bench.certificate
        servers = []
        for kind, listen in (("clear", ""), ("tls", "ssl http2"), ("log", ""), ("logbuffer", "")):
            for push in ("off", "on"):
                port = self.ports[f"{kind}-{push}"] = free_port()
                more = {
                    "log": f"access_log {self.folder}/{push}.log combined;",
                    "logbuffer": f"access_log {self.folder}/b{push}.log combined buffer=64k flush=1s;",
                    "tls": f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3; "
                    f"ssl_prefer_server_ciphers on; ssl_conf_command Ciphersuites {CIPHERS};",
                }.get(kind, "")
                servers.append(
                    f"server {{ listen 127.0.0.1:{port} {listen} backlog=4096; tcp_nopush {push}; {more} location / "
                    f"{{ {self.cached()} }} }}"
                )
        for kind, buffering in (("upload", "on"), ("unbuffered", "off")):
            port = self.ports[kind] = free_port()
            servers.append(
                f"server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ {self.passed()} "
                f"proxy_request_buffering {buffering}; }} }}"
            )
        (
            self.folder / "nginx.conf"
        ).write_text(f"""daemon off; worker_processes {self.workers}; pid {self.folder}/pid; error_log {self.log} warn; worker_rlimit_nofile 20000;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 18000; }}
http {{
  default_type application/octet-stream; access_log off; server_tokens off; sendfile on; tcp_nodelay on;
  keepalive_timeout 3600; keepalive_requests 2000000000; send_timeout 600; proxy_read_timeout 600; client_max_body_size 0;
  client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/temp; fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;
  proxy_cache_path {self.folder}/cache levels=1:2 keys_zone=c:{10 + self.objects // 5000}m max_size=40g inactive=1d use_temp_path=off {self.site()[0]};
  {self.site()[1]}
  upstream origin {{ server {self.options.get("origin") or self.bench.origin.address}; keepalive 512; keepalive_requests 2000000000; keepalive_timeout 3600; }}
  {chr(10).join(servers)}
}}
""")
        self.run(self.program(), "-c", self.folder / "nginx.conf", "-p", self.folder)
        self.wait(*self.ports)

    def site(self):
        """More about its cache, and how files are held open: not at all where there are many more than fit. What it
        kept is read in at once, not within minutes."""
        if self.objects:
            return "loader_files=100000 loader_threshold=10s", "open_file_cache off;"
        return "", "open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h; open_file_cache_min_uses 1;"

    def passed(self):
        return "proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection '';"

    def cached(self):
        return f"{self.passed()} proxy_cache c; proxy_cache_key $uri; proxy_cache_use_stale error timeout; proxy_max_temp_file_size 40960m;"

    def sides(self, kind="clear"):
        if kind in ("upload", "unbuffered"):
            return [self.side(kind, "request buffering on" if kind == "upload" else "request buffering off")]
        made = []
        for each in ("log", "logbuffer") if kind == "log" else (kind,):
            for push in ("off", "on"):
                more = {"log": ", access_log", "logbuffer": ", access_log buffer=64k"}.get(each, "")
                made.append(self.side(f"{each}-{push}", f"tcp_nopush {push}{more}"))
        return made
