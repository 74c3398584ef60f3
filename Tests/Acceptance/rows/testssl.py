"""testssl.sh: protocols, ciphers and vulnerabilities: nothing of MEDIUM or worse; nginx beside it.

Set TESTSSL to the script, or install Debian's package testssl.sh. The trust and revocation of the test certificate are
not judged.
"""

import tlsscenario
from harness import protocolsuites
from harness.content import Content
from harness.origin import Resource


def run(scenario):
    program = tlsscenario.program("TESTSSL", "testssl", "testssl.sh")
    origin = scenario.bench.origin()
    origin.default = lambda request: Resource(Content("testssl", 2000), type="text/plain")
    files = [
        tlsscenario.pair(scenario.bench.folder, "ec", days=300),
        tlsscenario.pair(scenario.bench.folder, "rsa", "rsa", days=300),
    ]
    pawl = tlsscenario.pawl_front(scenario, origin, {"main": tlsscenario.section(*files)})
    count, trouble = protocolsuites.testssl(program, pawl.tls)
    scenario.figure("findings in all", count, 50, at_least=True)
    scenario.figure("findings of MEDIUM or worse", len(trouble), 0)
    for finding, what in trouble.items():
        scenario.require(False, f"{finding}: {what}")
    if scenario.quick:
        return
    nginx = tlsscenario.nginx_front(scenario, files, f"location / {{ proxy_pass {origin.url}; }}")
    if nginx:
        count, trouble = protocolsuites.testssl(program, nginx.tls)
        scenario.figure(f"nginx: findings of MEDIUM or worse ({', '.join(trouble)})", len(trouble))
