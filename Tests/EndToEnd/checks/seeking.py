"""Seeking and downloading in pieces: a range ahead of a fill, and ranges within a stale body."""

import pathlib
import subprocess
import threading

from harness.checks import V1, check, only, same, true
from harness.client import Client, get
from harness.content import Content
from harness.origin import Resource
from harness.realclients import TOOLS, need

MIB = 1 << 20
OLD = {"last_modified": "old"}

only(V1, "the programs speak HTTP/1.1, and the rest is about the origin", __name__)


def part(pawl, path, start, end, *fields, **options):
    return get(pawl.address, path, fields=(("Range", f"bytes={start}-{end - 1}"),) + fields, **options)


@check(
    "a range ahead of a fill is asked for at once when the fill would need half a second, however near; a fast fill "
    "is waited for",
    area="seek",
)
def ahead(bench):
    origin = bench.origin()
    slow, fast = Content("slow", 12 * MIB), Content("fast", 12 * MIB)
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin.at("/slow", lambda r: Resource(slow, ranges=True, etag='"s"', pace=1e6 if r.serial == 0 else None))
    origin.at("/fast", Resource(fast, ranges=True, etag='"f"', pace=60e6))
    pawl = bench.pawl(origin)
    for path, content, asked in (("/slow", slow, 2), ("/fast", fast, 1)):
        client = bench.use(Client(pawl.address, timeout=30))
        client.request(path)
        client.response(limit=1000)
        start = 3 * MIB
        answer = part(pawl, path, start, start + 100_000, ("If-Range", '"s"' if path == "/slow" else '"f"'), timeout=30)
        same((answer.status, answer.body), (206, content.read(start, start + 100_000)), path)
        fetches = [r for r in origin.of(path) if r.status in (200, 206)]
        same(len(fetches), asked, f"{path}: {fetches}")
        client.close()
    true(origin.of("/slow")[0].sent < 3 * MIB, "the slow fill was not waited for")


@check(
    "an origin without ranges is waited for, also one that announces them: nobody is cut off, and the body is "
    "fetched once",
    area="seek",
)
def without(bench):
    content = Content("without", 6 * MIB)
    for name, fields in (("says-nothing", ()), ("announces", (("Accept-Ranges", "bytes"),))):
        inner = bench.__class__(bench.folder / name)
        with inner.stack:
            origin = inner.origin()
            origin.at("/x", Resource(content, etag='"w"', pace=3e6, fields=fields + (("Cache-Control", "max-age=60"),)))
            pawl = inner.pawl(origin)
            answers = {}

            def ask(start):
                answers[start] = (
                    part(pawl, "/x", start, start + MIB, timeout=30) if start else get(pawl.address, "/x", timeout=30)
                )

            threads = [threading.Thread(target=ask, args=(n * MIB,)) for n in (0, 3, 5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for start, answer in answers.items():
                true(
                    answer.complete
                    and answer.body == (content.read(start, start + MIB) if start else content.read(0, 6 * MIB)),
                    f"{name}: from {start}: {answer}",
                )
            wholes = [r for r in origin.of("/x") if r.sent > 4 * MIB]
            same(len(wholes), 1, f"{name}: fetches: {origin.of('/x')}")


@check(
    "a range within a stale body costs one validation a few seconds for one client, not one a seek; other clients, "
    "cookies and directives ask",
    area="seek",
)
def stale(bench):
    origin = bench.origin()
    content = Content("stale", 4 * MIB)
    for name, control in (
        ("plain", None),
        ("zero", "max-age=0"),
        ("no-cache", "no-cache"),
        ("must", "must-revalidate, max-age=0"),
        ("proxy", "proxy-revalidate, max-age=0"),
        ("s-maxage", "s-maxage=0"),
    ):
        origin.at("/" + name, Resource(content, etag='"x"', fields=(("Cache-Control", control),) if control else ()))
    pawl = bench.pawl(origin)
    for name, each in (("plain", 1), ("zero", 1), ("no-cache", 5), ("must", 5), ("proxy", 5), ("s-maxage", 5)):
        path = "/" + name
        get(pawl.address, path, keep=False)
        count = origin.count(path)
        for number in range(5):
            answer = part(pawl, path, number * 1000, number * 1000 + 500)
            same((answer.status, answer.body), (206, content.read(number * 1000, number * 1000 + 500)), path)
        same(origin.count(path) - count, each, f"{path}: validations of five seeks")
    count = origin.count("/plain")
    for fields in (
        (("Cookie", "a=1"),),
        (("Authorization", "Basic eDp5"),),
        (("X-Api-Key", "1"),),
        (("Cache-Control", "no-cache"),),
        (("Cache-Control", "max-age=0"),),
    ):
        part(pawl, "/plain", 0, 10, *fields)
        count += 1
        same(origin.count("/plain"), count, f"another: {fields}")
    get(pawl.address, "/plain", keep=False)
    same(origin.count("/plain"), count + 1, "the whole")
    get(pawl.address, "/plain", method="POST", body=b"")
    part(pawl, "/plain", 0, 10)
    same(origin.of("/plain")[-1].method, "GET", "after an unsafe request it is asked again")


@check(
    "what the origin confirmed of a stale body is for the same Authorization only, whatever the owner of answers is "
    "made of",
    area="seek",
)
def confirmed(bench):
    content = Content("confirmed", MIB)
    origin = bench.origin()

    def answer(request):
        if request.get("Authorization") != "Bearer good":
            return Resource(b"no", status=401, fields=(("Cache-Control", "no-store"),))
        return Resource(
            content, ranges=True, etag='"e"', type="video/mp4", fields=(("Cache-Control", "public, max-age=0"),)
        )

    origin.at("/v", answer)
    good, wrong = ("Authorization", "Bearer good"), ("Authorization", "Bearer WRONG")
    for name, site in (
        ("default", None),
        ("cookie", {"owner": "cookie:sid"}),
        ("authorization", {"owner": "authorization"}),
        ("none", {"owner": "none"}),
    ):
        pawl = bench.pawl(origin, name=name, site=site)
        origin.forget()
        same(get(pawl.address, "/v", fields=(good,)).status, 200, f"{name}: the fill")

        def seek(start, *fields, source="127.0.0.1"):
            with Client(pawl.address, 10, source=source) as client:
                client.request("/v", fields=(("Range", f"bytes={start}-{start + 99}"),) + fields)
                answer = client.response()
                true(answer.status == 401 or answer.body == content.read(start, start + 100), f"{name}: {answer}")
                return answer.status

        same([seek(start, good) for start in (0, 500, 900)], [206] * 3, f"{name}: seeks")
        same(origin.count("/v"), 2, f"{name}: one question for three seeks")
        for source in ("127.0.0.1", "127.0.0.2"):
            for fields in ((wrong,), (), (("Cookie", "sid=1"), wrong), (("X-User", "1"), wrong)):
                same(seek(900, *fields, source=source), 401, f"{name}: {fields} from {source}")
        same((seek(900, good), origin.count("/v")), (206, 10), f"{name}: who was asked about has it still")


@check(
    "aria2 -x4, axel -n4 and lftp pget -n4 over a cold body: four fetches side by side, every byte right, none twice "
    "beyond 2 %",
    area="seek",
    seconds=60,
)
def programs(bench):
    origin = bench.origin()
    content = Content("programs", 60_000_000)
    pawl = bench.pawl(origin)
    for name, command in TOOLS.items():
        need(name)
        path = "/" + name
        origin.at(path, Resource(content, ranges=True, etag='"p"', pace=16e6))
        file = pathlib.Path(bench.folder) / f"{name}.out"
        done = subprocess.run(
            command(f"http://{pawl.address}{path}".replace("http://http://", "http://"), file),
            timeout=60,
            capture_output=True,
        )
        same((done.returncode, file.read_bytes() == content.read(0, content.size)), (0, True), f"{name}: {done.stderr}")
        true(origin.sent(path) <= content.size * 1.02, f"{name}: {origin.sent(path)} bytes from the origin")
        fetches = [r for r in origin.of(path) if r.sent > 5_000_000]
        true(len(fetches) >= 3, f"{name}: fetches side by side: {origin.of(path)}")
