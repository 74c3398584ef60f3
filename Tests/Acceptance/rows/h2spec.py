"""h2spec: every test, generic, HTTP/2 and HPACK, in clear and over TLS; nginx beside it.

Set H2SPEC to the program (summerwind/h2spec, built with `go build ./cmd/h2spec`).
"""

import tlsscenario
from harness import protocolsuites
from harness.content import Content
from harness.origin import Resource


def run(scenario):
    program = tlsscenario.program("H2SPEC", "h2spec")
    origin = scenario.bench.origin()
    origin.default = lambda request: Resource(Content("h2spec", 2000), type="text/plain")
    files = tlsscenario.pair(scenario.bench.folder)
    pawl = tlsscenario.pawl_front(scenario, origin, {"main": tlsscenario.section(files)})
    for secure, what in ((False, "in clear"), (True, "over TLS")):
        total, failed = protocolsuites.h2spec(program, pawl.port(secure), secure)
        scenario.figure(f"{what}: tests passed", total - len(failed), total, at_least=True)
        scenario.require(total >= 146, f"{what}: only {total} tests ran")
        for test, why in failed.items():
            scenario.require(False, f"{what}: {test}: {why}")
    if scenario.quick:
        return
    nginx = tlsscenario.nginx_front(scenario, [files], f"location / {{ proxy_pass {origin.url}; }}")
    if nginx:
        total, failed = protocolsuites.h2spec(program, nginx.port(True), True)
        scenario.figure("nginx, over TLS: tests passed", total - len(failed))
