"""testssl.sh: protocols, ciphers and vulnerabilities: nothing of MEDIUM or worse; nginx beside it.

Set TESTSSL to the script, or install Debian's package testssl.sh. The trust and revocation of the test certificate are not judged.
"""

import tlsbar
from harness import protocolsuites
from harness.content import Content
from harness.origin import Resource


def run(bar):
    program = tlsbar.program("TESTSSL", "testssl", "testssl.sh")
    origin = bar.bench.origin()
    origin.default = lambda request: Resource(Content("testssl", 2000), type="text/plain")
    files = [tlsbar.pair(bar.bench.folder, "ec", days=300), tlsbar.pair(bar.bench.folder, "rsa", "rsa", days=300)]
    pawl = tlsbar.pawl_front(bar, origin, {"main": tlsbar.section(*files)})
    count, trouble = protocolsuites.testssl(program, pawl.tls)
    bar.figure("findings in all", count, 50, at_least=True)
    bar.figure("findings of MEDIUM or worse", len(trouble), 0)
    for finding, what in trouble.items():
        bar.require(False, f"{finding}: {what}")
    if bar.quick:
        return
    nginx = tlsbar.nginx_front(bar, files, f"location / {{ proxy_pass {origin.url}; }}")
    if nginx:
        count, trouble = protocolsuites.testssl(program, nginx.tls)
        bar.figure(f"nginx: findings of MEDIUM or worse ({', '.join(trouble)})", len(trouble))
