"""What once kept a client waiting, cut it off, or kept pawl itself from going on."""

import threading
import time

from harness.checks import check, same, true
from harness.client import Client, get, head
from harness.content import Content
from harness.origin import Break, Resource
from harness.process import wait_for

FRESH = (("Cache-Control", "max-age=600"),)
MIB = 1 << 20


@check("requests that came before the client's FIN are all answered", area="endure")
def half_close(bench):
    origin = bench.origin()
    for name in "abc":
        origin.at(f"/{name}", Resource(Content(name, 3000), fields=FRESH))
    client = bench.use(Client(bench.pawl(origin).address))
    client.send(b"".join(head(f"/{name}") for name in "abc"))
    client.finish()
    for name in "abc":
        same(client.response().sha, Content(name, 3000).sha256(), f"/{name}")


@check("a client is not cut while the origin is silent for longer than send-timeout", area="endure")
def silence(bench):
    origin = bench.origin()
    content = Content("silence", 2000)
    for path, fields in (("/kept", FRESH), ("/passed", (("Cache-Control", "no-store"),))):
        gate = threading.Event()
        threading.Timer(2.5, gate.set).start()
        origin.at(path, Resource(content, fields=fields, gates=((1000, gate),)))
        pawl = bench.pawl(origin, name=path[1:], listen={"send-timeout": "1s"})
        answer = get(pawl.address, path, timeout=10)
        same((answer.complete, answer.sha), (True, content.sha256()), path)


@check(
    "half a tagged body of an origin without ranges is finished by the next client, also after kill -9", area="endure"
)
def tag_without_ranges(bench):
    for hard in (False, True):
        origin = bench.origin()
        content = Content("tagged", 3 * MIB)
        gate = threading.Event()
        bench.stack.callback(gate.set)
        broken = Resource(
            content, etag='"t"', fields=FRESH, gates=((2 * MIB, gate),), breaks=lambda start, end: Break(2 * MIB + 1)
        )
        origin.at(
            "/x",
            lambda r: (
                broken
                if r.serial == 0
                else Resource(content, etag='"t"', fields=FRESH)
                if r.serial > 1 or hard
                else Resource(b"", status=503)
            ),
        )
        pawl = bench.pawl(origin, name=f"hard{hard}", upstream={"resume-attempts": 1})
        with Client(pawl.address) as client:
            client.request("/x")
            client.response(limit=2 * MIB - 1, keep=False)
            time.sleep(0.5)
            if hard:
                pawl.restart(hard=True)
            gate.set()
            if not hard:
                wait_for(lambda: "fill-ended" in pawl.log(), 10, "the end of the fill")
        for turn in range(2):
            answer = get(pawl.address, "/x", keep=False)
            same(
                (answer.status, answer.complete, answer.sha),
                (200, True, content.sha256()),
                f"request {turn + 1}, kill -9: {hard}",
            )


@check("a body too long to keep is resumed like any other", area="endure")
def streamed(bench):
    for name, options in (("ranges", {"ranges": True, "etag": '"s"'}), ("replayed", {})):
        origin = bench.origin()
        content = Content(name, 6 * MIB)
        origin.at(
            "/x",
            lambda r: Resource(
                content,
                framing="chunked",
                fields=FRESH,
                breaks=(lambda start, end: Break(4 * MIB)) if r.serial == 0 else None,
                **options,
            ),
        )
        answer = get(bench.pawl(origin, name=name, site={"max-unknown": "1M"}).address, "/x", keep=False)
        same((answer.status, answer.complete, answer.sha), (200, True, content.sha256()), name)


@check("a re-fetch that is too long to keep does not keep its loop busy", area="endure")
def refetch_streamed(bench):
    origin = bench.origin()
    content = Content("again", 4 * MIB)
    origin.at(
        "/x",
        lambda r: Resource(
            Content("again", MIB // 2) if r.serial == 0 else content,
            framing="chunked",
            fields=(("Cache-Control", "max-age=1"),),
            pace=20e6,
        ),
    )
    pawl = bench.pawl(origin, pawl={"workers": 1}, site={"max-unknown": "1M"})
    get(pawl.address, "/x", keep=False)
    time.sleep(2.1)
    same(get(pawl.address, "/x", keep=False, timeout=10).sha, content.sha256(), "re-fetch")
    before = pawl.cpu()
    time.sleep(1)
    true(pawl.cpu() - before < 0.3, f"{pawl.cpu() - before} s of CPU in an idle second")


@check("a stored 204 has no body, and its fetch ends", area="endure")
def no_content(bench):
    origin = bench.origin()
    origin.at("/x", lambda r: (b"HTTP/1.1 204 No Content\r\nCache-Control: max-age=600\r\n\r\n", "keep"))
    pawl = bench.pawl(origin)
    for turn in range(2):
        answer = get(pawl.address, "/x")
        same(
            (answer.status, answer.get("Transfer-Encoding"), answer.get("Content-Length")),
            (204, None, None),
            f"request {turn + 1}",
        )
    same((answer.hit, origin.count("/x")), (True, 1), "the second is a hit")


@check("when all who wait have left, the request to the origin ends", area="endure")
def nobody_waits(bench):
    origin = bench.origin()
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin.at("/x", Resource(b"late", fields=FRESH, before_head=lambda r: gate.wait(20)))
    origin.at("/y", Resource(b"other", fields=FRESH))
    pawl = bench.pawl(origin, pawl={"workers": 4}, upstream={"max-connections": 1, "queue-timeout": "3s"})
    clients = [Client(pawl.address) for _ in range(6)]
    for client in clients:
        client.request("/x")
        time.sleep(0.05)
    same(origin.count("/x"), 1, "origin requests")
    for client in clients:
        client.reset()
    same(get(pawl.address, "/y", timeout=10).body, b"other", "the only connection is free again")


@check("what was asked for before a POST is not stored after it", area="endure")
def post_meanwhile(bench):
    origin = bench.origin()
    gate = threading.Event()
    bench.stack.callback(gate.set)
    origin.at(
        "/x",
        lambda r: (
            Resource(b"", status=200)
            if r.method == "POST"
            else Resource(
                b"old" if r.serial == 0 else b"new",
                fields=FRESH,
                before_head=(lambda r: gate.wait(10)) if r.serial == 0 else None,
            )
        ),
    )
    pawl = bench.pawl(origin, pawl={"workers": 4})
    first = bench.use(Client(pawl.address))
    first.request("/x")
    wait_for(lambda: origin.count("/x") == 1, 5, "the first request")
    same(get(pawl.address, "/x", method="POST", body=b"change").status, 200, "POST")
    gate.set()
    same(first.response().body, b"old", "who asked before")
    for turn in range(2):
        same(get(pawl.address, "/x").body, b"new", f"request {turn + 1} after it")


@check("a storm of pipelined requests waits in the kernel, not in memory", area="endure")
def pipelining(bench):
    origin = bench.origin()
    origin.at("/x", Resource(b"x", fields=(("Cache-Control", "no-store"),), before_head=lambda r: time.sleep(0.002)))
    pawl = bench.pawl(origin)
    before, stop = pawl.rss(), time.monotonic() + 4
    clients = [bench.use(Client(pawl.address)) for _ in range(10)]
    storm = head("/x") * 5000

    def send(client):
        try:
            while time.monotonic() < stop:
                client.send(storm)
        except OSError:
            pass

    def take(client):
        # Each answer that is taken lets pawl go on to the next request.
        try:
            while client.socket.recv(65536):
                pass
        except OSError:
            pass

    threads = [
        threading.Thread(target=work, args=(client,), daemon=True) for client in clients for work in (send, take)
    ]
    for thread in threads:
        thread.start()
    time.sleep(4)
    true(pawl.rss() - before < 24 * MIB, f"{(pawl.rss() - before) >> 20} MiB more")


@check("an answer has its status, fields and body after SIGTERM and kill -9, whatever the status", area="endure")
def statuses(bench):
    origin = bench.origin()
    rows = [200, 203, 204, 300, 301, 302, 308, 400, 404, 405, 410, 414, 451, 500, 501, 503]
    for status in rows:
        length = b"" if status == 204 else b"Content-Length: 4\r\n"
        head = b"HTTP/1.1 %d Said\r\nCache-Control: max-age=600\r\nLocation: /there\r\n%s\r\n" % (status, length)
        origin.at(f"/{status}", lambda r, head=head, body=b"" if status == 204 else b"body": (head + body, "keep"))
    pawl = bench.pawl(origin)

    def seen(status):
        answer = get(pawl.address, f"/{status}")
        names = ("Location", "Cache-Control", "Content-Length", "ETag", "Accept-Ranges")
        return (answer.status, answer.body, *(answer.get(name) for name in names))

    before = {status: seen(status) for status in rows}
    for hard in (False, True):
        time.sleep(1.2)
        pawl.restart(hard=hard)
        for status in rows:
            for turn in range(2):
                same(seen(status), before[status], f"{status}, kill -9: {hard}, request {turn + 1}")
            same(origin.count(f"/{status}"), 1, f"requests for {status}")
    true(
        not get(pawl.address, "/400", fields=(("X-Odd", "o"),)).hit,
        "an error is no answer to a request of another kind",
    )
