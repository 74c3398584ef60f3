"""Real clients through a relay that cuts connections: complete and identical, from an origin that knows neither ranges nor validators."""

from harness import realclients
from harness.checks import check, true
from harness.client import parse_address
from harness.content import Content
from harness.origin import Resource


def client_check(name):
    over = realclients.OVER.get(name)

    @check(f"client: {name} resumes through cuts", seconds=150, over=over, why=realclients.WHY.get(over))
    def one(bench):
        origin = bench.origin()
        content = Content("client", 12_000_000)
        origin.at("/file", Resource(content))
        pawl = bench.pawl(origin)
        again, cuts, requests = realclients.download(name, parse_address(pawl.address), content.size, content.sha256(), over=bench.over)
        true(cuts >= 2, f"only {cuts} cuts: {requests}")
        limit = 6_000_000 if name.startswith("aria2") else 400_000
        true(again <= limit, f"{again} octets were sent again: {requests}")


for each in realclients.CLIENTS:
    client_check(each)
