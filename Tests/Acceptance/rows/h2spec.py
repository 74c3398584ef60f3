"""h2spec: every test, generic, HTTP/2 and HPACK, in clear and over TLS; nginx beside it.

Set H2SPEC to the program (summerwind/h2spec, built with `go build ./cmd/h2spec`).
"""

import tlsbar
from harness import protocolsuites
from harness.content import Content
from harness.origin import Resource


def run(bar):
    program = tlsbar.program("H2SPEC", "h2spec")
    origin = bar.bench.origin()
    origin.default = lambda request: Resource(Content("h2spec", 2000), type="text/plain")
    files = tlsbar.pair(bar.bench.folder)
    pawl = tlsbar.pawl_front(bar, origin, {"main": tlsbar.section(files)})
    for secure, what in ((False, "in clear"), (True, "over TLS")):
        total, failed = protocolsuites.h2spec(program, pawl.port(secure), secure)
        bar.figure(f"{what}: tests passed", total - len(failed), total, at_least=True)
        bar.require(total >= 146, f"{what}: only {total} tests ran")
        for test, why in failed.items():
            bar.require(False, f"{what}: {test}: {why}")
    if bar.quick:
        return
    nginx = tlsbar.nginx_front(bar, [files], f"location / {{ proxy_pass {origin.url}; }}")
    if nginx:
        total, failed = protocolsuites.h2spec(program, nginx.port(True), True)
        bar.figure("nginx, over TLS: tests passed", total - len(failed))
