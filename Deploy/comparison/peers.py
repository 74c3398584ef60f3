"""Varnish, Traffic Server, HAProxy, h2o and the floors in C: one worker each, before the same origin, each keeping what
it keeps best."""

import os
import subprocess
import time

from running import free_port
from servers import Server, Side


class Varnish(Server):
    """One thread pool; a cache in memory, and with `store="file"` in a file."""

    name, programs = "varnish", ("varnishd",)
    forgets = "it starts with an empty cache"

    def launch(self):
        host, port = (self.options.get("origin") or self.bench.origin.address).split(":")
        (self.folder / "main.vcl").write_text(f"""vcl 4.1;
backend default {{ .host = "{host}"; .port = "{port}"; .first_byte_timeout = 600s; .between_bytes_timeout = 60s; }}
""")
        self.ports["clear"] = free_port()
        room = f"{max(64, self.room >> 20)}M" if self.room else "4G"
        store = f"file,{self.folder}/store,{room}" if self.options.get("store") == "file" else f"malloc,{room}"
        self.run(
            self.program(),
            "-F",
            "-j",
            "none",
            "-n",
            self.folder / "work",
            "-a",
            f"127.0.0.1:{self.ports['clear']}",
            "-f",
            self.folder / "main.vcl",
            "-s",
            store,
            "-T",
            "none",
            "-p",
            "thread_pools=1",
            "-p",
            "timeout_idle=3600",
            "-p",
            "default_grace=600",
            "-p",
            "thread_pool_max=6000",
        )
        self.wait("clear")

    def sides(self, kind="clear"):
        return [self.side("clear", "file" if self.options.get("store") == "file" else "malloc")]


class TrafficServer(Server):
    """One thread that runs exchanges, a RAM cache large enough for everything, a cache on disk."""

    name, programs = "trafficserver", ("traffic_server",)
    twice = True

    def launch(self):
        certificate, key = self.bench.certificate
        self.synced = (
            2 if self.bench.quick else 5
        )  # seconds from one time that it writes down what its cache holds to the next; it does not when it ends
        for each in ("etc", "log", "run", "cache"):
            (self.folder / each).mkdir(exist_ok=True)
        for each in ("clear", "tls"):
            self.ports[each] = free_port()
        (self.folder / "runroot.yaml").write_text(f"""prefix: {self.folder}
exec_prefix: {self.folder}
bindir: /usr/bin
sbindir: /usr/bin
sysconfdir: {self.folder}/etc
datadir: {self.folder}
includedir: /usr/include
libdir: /usr/lib
libexecdir: /usr/lib/trafficserver/modules
localstatedir: {self.folder}/run
runtimedir: {self.folder}/run
logdir: {self.folder}/log
cachedir: {self.folder}/cache
""")
        # Where its memory is limited, half of it: the rest is for all else.
        memory = self.options["memory"] // 2 if "memory" in self.options else 4 << 30
        values = {
            "http.server_ports": f"STRING {self.ports['clear']}:ip-in=127.0.0.1 "
            f"{self.ports['tls']}:ip-in=127.0.0.1:ssl",
            "exec_thread.autoconfig": "INT 0",
            "exec_thread.limit": f"INT {self.workers}",
            "exec_thread.affinity": "INT 0",
            "accept_threads": "INT 0",
            "task_threads": "INT 1",
            "admin.user_id": "STRING #-1",
            "log.logging_enabled": "INT 0",
            "cache.ram_cache.size": f"INT {memory}",
            "cache.ram_cache.algorithm": "INT 1",
            "cache.ram_cache.use_seen_filter": "INT 0",
            "cache.ram_cache_cutoff": "INT 2147483648",
            "url_remap.remap_required": "INT 1",
            "reverse_proxy.enabled": "INT 1",
            "http.keep_alive_no_activity_timeout_in": "INT 3600",
            "http.keep_alive_no_activity_timeout_out": "INT 3600",
            "http.transaction_no_activity_timeout_in": "INT 600",
            "http.transaction_no_activity_timeout_out": "INT 60",
            "net.connections_throttle": "INT 18000",
            "net.max_connections_in": "INT 18000",
            "cache.min_average_object_size": "INT "
            f"{max(1000, self.room // self.objects // 2) if self.objects else 64000}",
            "http.background_fill_active_timeout": "INT 0",
            "cache.dir.sync_frequency": f"INT {self.synced if self.objects else 60}",
            "http.background_fill_completed_threshold": "FLOAT 0.0",
            "http.cache.open_write_fail_action": "INT 5",
            "cache.enable_read_while_writer": "INT 1",
            "http.cache.max_open_write_retries": "INT 5",
            "http.insert_response_via_str": "INT 0",
            "dns.nameservers": "STRING 127.0.0.1:53",
            "ssl.server.cert.path": f"STRING {certificate.parent}",
            "ssl.server.private_key.path": f"STRING {key.parent}",
            "output.logfile": f"STRING {self.folder}/log/out.log",
        }
        files = {
            "records.config": "".join(f"CONFIG proxy.config.{name} {value}\n" for name, value in values.items()),
            "storage.config": f"{self.folder}/cache {max(256, self.room >> 20)}M\n"
            if self.room
            else f"{self.folder}/cache 6G\n",
            "remap.config": f"map / http://{self.options.get('origin') or self.bench.origin.address}/\n",
            "ssl_multicert.config": f"dest_ip=* ssl_cert_name={certificate.name} ssl_key_name={key.name}\n",
            "plugin.config": "",
            "ip_allow.yaml": "ip_allow:\n  - apply: in\n    ip_addrs: 0/0\n    action: allow\n    methods: ALL\n",
        }
        for name, text in files.items():
            (self.folder / "etc" / name).write_text(text)
        self.run(self.program(), f"--run-root={self.folder}/runroot.yaml", stdout=subprocess.DEVNULL)
        self.wait("clear")
        self.settle()

    def end(self, seconds=8, keep=False):
        if keep:
            time.sleep(2 * self.synced + 1)
        super().end(seconds)

    def settle(self):
        """It listens before its cache is there. An origin of a row's own says nothing about that."""
        end, asked, side = time.monotonic() + 10, -1, self.side("clear")
        if "origin" in self.options:
            return self.bench.wait_kept(side, "/bytes/1/start")
        while asked != self.bench.origin.counts()[0] and time.monotonic() < end:
            asked = self.bench.origin.counts()[0]
            self.bench.probe(side, "/bytes/1/start", 1)


class HAProxy(Server):
    """One thread, its small-object cache in memory made as large as it may be."""

    name, programs = "haproxy", ("haproxy",)
    forgets = "its cache is in memory"

    def launch(self):
        certificate, _ = self.bench.certificate
        for each in ("clear", "tls"):
            self.ports[each] = free_port()
        (self.folder / "haproxy.cfg").write_text(f"""global
  nbthread {self.workers}
  maxconn 18000
  no strict-limits
defaults
  mode http
  timeout connect 5s
  timeout client 3600s
  timeout server 600s
  timeout http-keep-alive 3600s
  option http-keep-alive
  http-reuse always
cache kept
  total-max-size {min(4095, max(64, self.room >> 20)) if self.room else 1024}
  max-object-size {min(300_000_000, self.room // 4) if self.room else 300_000_000}
  max-age 86400
frontend front
  bind 127.0.0.1:{self.ports["clear"]} backlog 4096
  bind 127.0.0.1:{self.ports["tls"]} ssl crt {certificate.parent}/both.pem alpn h2,http/1.1 backlog 4096
  http-request cache-use kept
  http-response cache-store kept
  default_backend back
backend back
  server origin {self.options.get("origin") or self.bench.origin.address}
""")
        self.run(self.program(), "-db", "-f", self.folder / "haproxy.cfg")
        self.wait("clear")


class H2O(Server):
    """It has no cache: the same files, static."""

    name, programs = "h2o", ("h2o",)
    sizes = (1 << 10, 16 << 10, 256 << 10)

    def launch(self):
        self.ports["clear"] = free_port()
        for size in self.sizes:
            file = self.folder / "bytes" / str(size) / "a"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.bench.bytes[:size])
        (self.folder / "h2o.conf").write_text(f"""num-threads: {self.workers}
max-connections: 18000
{"user: root" if os.geteuid() == 0 else ""}
http1-request-timeout: 3600
listen:
  host: 127.0.0.1
  port: {self.ports["clear"]}
hosts:
  default:
    paths:
      /bytes:
        file.dir: {self.folder}/bytes
""")
        self.run(self.program(), "-m", "worker", "-c", self.folder / "h2o.conf")
        self.wait("clear")

    def sides(self, kind="clear"):
        return [self.side("clear", "static file")]


class InC(Server):
    """A program of the floors, which says at which port it listens."""

    def program(self):
        return self.bench.tool(self.name)

    def listen(self, *words):
        self.run(self.program(), *words, stdout=subprocess.PIPE)
        self.ports["clear"] = int(self.process.stdout.readline().split()[1])


class Floor(InC):
    """What the machine cannot do better: a loop of epoll, read and one write of a fixed answer, or sendfile."""

    name = "floor"

    def program(self):
        return self.bench.tool("hit")

    def launch(self):
        how = self.options["how"]
        self.listen(self.bench.content, how)
        self.name = f"{how} in C"

    def sides(self, kind="clear"):
        return [self.side("clear")]


class Relay(InC):
    """What the machine cannot do better for a cold fill, or an upload that is spooled and forwarded: the same bytes
    through one file."""

    name = "relay"

    def launch(self):
        self.listen(self.bench.origin.port, self.folder / "file")

    def sides(self, kind="clear"):
        return [
            Side(
                self,
                self.ports["clear"],
                "receive, write, send" if kind == "clear" else "receive, write, sendfile",
                peer="relay in C",
            )
        ]


class Through(InC):
    """What the machine cannot do better where nothing is kept: bytes in, bytes out, both ways, unread."""

    name = "through"

    def launch(self):
        self.listen(self.bench.origin.port)

    def sides(self, kind="clear"):
        return [Side(self, self.ports["clear"], "receive, send, both ways", peer="relay in C")]
