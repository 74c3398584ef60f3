"""Real clients through a relay that cuts connections: complete and identical, from an origin that knows neither ranges nor validators."""

from harness import realclients
from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Resource


def client_check(name):
    @check(f"client: {name} resumes through cuts", seconds=150)
    def one(bench):
        origin = bench.origin()
        content = Content("client", 12_000_000)
        origin.at("/file", Resource(content))
        pawl = bench.pawl(origin)
        host, port = pawl.address.removeprefix("http://").split(":")
        again, cuts, requests = realclients.download(name, (host, int(port)), content.size, content.sha256())
        true(cuts >= 2, f"only {cuts} cuts: {requests}")
        limit = 6_000_000 if name.startswith("aria2") else 400_000
        true(again <= limit, f"{again} octets were sent again: {requests}")


for each in realclients.CLIENTS:
    client_check(each)
