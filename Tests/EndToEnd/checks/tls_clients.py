"""TLS: certificates of clients, whom an upload belongs to by them, and 421."""

import ssl

from harness import certificates, transport
from harness.certificates import authority
from harness.checks import CLEAR, check, only, same
from harness.client import Client
from harness.content import Content
from harness.origin import Resource
from harness.uploads import NO_STORE, Dialect, append, ask, asked, careful, path_of, status, stored

from checks.tls import FRESH, fetch, keys, refused
from checks.upload_settings import reload

BODY = Content("tls-clients", 200_000).read()
only(CLEAR, "says itself what it speaks", __name__)
NAMES = {"ann": "/O=Readers/CN=ann", "bob": "/O=Readers/CN=bob"}


def client_authority():
    return authority("Authority of clients")


def person(name, file=None):
    return client_authority().leaf(file or name, (), subject=NAMES[name], client=True)


def presenting(pair, alpn=("http/1.1",), version=None):
    """A context that shows a pair."""
    context = transport.client_context.__wrapped__(alpn, None, version, version)
    if pair:
        context.load_cert_chain(pair.certificate, pair.key)
    return context


def begin(bench, demand, site=None, more=None, extra=None):
    origin = bench.origin()
    origin.default = stored
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    section = {**keys(certificates.server()), "client-ca": str(client_authority().file), "client-certificate": demand}
    pawl = bench.pawl(
        origin,
        listen={"tls": ", ".join(["main", *(more or {})])},
        site={"min-resumable": "0", **(site or {})},
        extra={"tls:main": section, **{f"tls:{n}": s for n, s in (more or {}).items()}, **(extra or {})},
    )
    return origin, pawl


@check("off, optional, required; another authority's certificate is refused, in TLS 1.2 and 1.3", area="tls clients")
def demands(bench):
    ann, stranger = person("ann"), authority("Authority of nobody").leaf("stranger", (), subject="/CN=ann", client=True)
    server = authority().leaf("as-client", ("as.client.test",))
    late = client_authority().leaf("late", (), subject=NAMES["ann"], client=True, days=(-9, -2))
    for demand, rows in (
        ("optional", ((None, True), (ann, True), (stranger, False), (late, False))),
        ("required", ((None, False), (ann, True), (stranger, False), (server, False), (late, False))),
    ):
        _, pawl = begin(bench, demand)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for pair, good in rows:
                why = refused(pawl, context=presenting(pair, version=version))
                same(
                    why is None,
                    good,
                    f"{demand}, {pair.certificate.name if pair else 'no certificate'}, {version.name}: {why}",
                )
        pawl.stop()
    origin = bench.origin()
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    off = bench.pawl(origin, "off", listen={"tls": "main"}, extra={"tls:main": keys(certificates.server())})
    same(refused(off, context=presenting(stranger)), None, "off: nobody is asked")


@check("a certificate owns an upload: another one, or none, is told 404; a renewed one goes on", area="tls clients")
def owner(bench):
    ann, bob, renewed = person("ann"), person("bob"), person("ann", "ann-renewed")
    for over in ("tls", "h2"):
        origin, pawl = begin(bench, "optional")
        alpn = ("h2",) if over == "h2" else ("http/1.1",)
        how = {pair: {"over": over, "context": presenting(pair, alpn)} for pair in (ann, bob, renewed, None)}
        for d in (Dialect(6), Dialect(9)):
            location = careful(pawl.address, d, how=how[ann])
            same(
                append(pawl.address, d, location, 0, BODY[:1000], False, how=how[ann]).status,
                201 if d.number <= 6 else 204,
                "append",
            )
            for pair in (bob, None):
                same(status(pawl.address, d, location, how=how[pair]).status, 404, f"HEAD of a stranger over {over}")
                same(
                    append(pawl.address, d, location, 1000, BODY[1000:], how=how[pair]).status,
                    404,
                    f"PATCH of a stranger over {over}",
                )
                same(
                    ask(pawl.address, path_of(location), "DELETE", d.version, how=how[pair]).status,
                    404,
                    f"DELETE of a stranger over {over}",
                )
            same(
                status(pawl.address, d, location, how=how[renewed]).get("Upload-Offset"),
                "1000",
                "HEAD with a renewed certificate",
            )
            same(
                append(pawl.address, d, location, 1000, BODY[1000:], how=how[renewed]).body,
                b"got 200000 bytes",
                "the rest",
            )
            free = careful(pawl.address, d, how=how[None])
            same(status(pawl.address, d, free, how=how[None]).status, 204, "an upload of nobody")
        pawl.stop()


@check(
    "a certificate owns an upload when `owner` names it no more, or something else",
    area="tls clients",
    over=("tls",),
    why="what a client shows is the same over h2",
)
def former_owner(bench):
    ann, bob = person("ann"), person("bob")
    how = {pair: {"over": "tls", "context": presenting(pair)} for pair in (ann, bob, None)}
    d = Dialect(9)
    for new in ("none", "authorization"):
        _, pawl = begin(bench, "optional", site={"owner": "client-certificate"})
        location = careful(pawl.address, d, how=how[ann])
        same(append(pawl.address, d, location, 0, BODY[:1000], False, how=how[ann]).status, 204, "append")
        reload(pawl, ("owner = client-certificate\n", f"owner = {new}\n"))
        for pair in (bob, None):
            same(status(pawl.address, d, location, how=how[pair]).status, 404, f"HEAD of a stranger, owner = {new}")
            same(
                append(pawl.address, d, location, 1000, BODY[1000:], how=how[pair]).status,
                404,
                f"PATCH of a stranger, owner = {new}",
            )
        same(
            append(pawl.address, d, location, 1000, BODY[1000:], how=how[ann]).body,
            b"got 200000 bytes",
            f"the rest, owner = {new}",
        )
        pawl.stop()


@check(
    "a certificate owns a private body: it is opened unasked for its owner, renewed or not; for another, or none, "
    "the origin is asked",
    area="tls clients",
)
def private_owner(bench):
    ann, bob, renewed = person("ann"), person("bob"), person("ann", "ann-renewed")
    mib = 1 << 20

    def run(name, asks, told, **site):
        """`asks`: whether the origin is asked for who comes with this certificate."""
        origin, pawl = begin(
            bench, "optional", site={"resume-private": "60s", "client-certificate-field": told, **site}
        )
        origin.at(
            "/p",
            lambda r: Resource(Content(f"for {r.get('Client-Cert')}", 2 * mib), fields=(("Cache-Control", "private"),)),
        )
        tag = fetch(pawl, "/p", context=presenting(ann)).get("ETag")
        mine = origin.of("/p")[0].get("Client-Cert")
        for who, pair in (("ann", ann), ("renewed", renewed), ("bob", bob), ("nobody", None)):
            count = origin.count("/p")
            answer = fetch(pawl, "/p", context=presenting(pair), fields=(("Range", f"bytes={mib}-"), ("If-Range", tag)))
            same(origin.count("/p") > count, who in asks, f"{name}: whether the origin is asked for {who}")
            own = origin.of("/p")[-1].get("Client-Cert") if who in asks else mine
            expected = Content(f"for {own}", 2 * mib)
            same(
                (answer.status, answer.sha),
                (206, expected.sha256(mib)) if own == mine else (200, expected.sha256()),
                f"{name}: what {who} gets",
            )
        pawl.stop()

    run("told", ("bob", "nobody"), "on")
    run("not told", ("bob", "nobody"), "off")
    run("told, and not what owner goes by", ("ann", "renewed", "bob", "nobody"), "on", owner="cookie:session")
    run("neither told nor what owner goes by", (), "off", owner="cookie:session")


@check("Client-Cert tells the origin who it is, and nobody else can (RFC 9440)", area="tls clients")
def field(bench):
    import base64

    ann = person("ann")
    origin, pawl = begin(
        bench,
        "optional",
        site={"client-certificate-field": "on"},
        extra={"route:main/quiet": {"path": "/quiet", "client-certificate-field": "off"}},
    )
    forged = (("Client-Cert", ":Zm9yZ2Vk:"), ("Client-Cert-Chain", ":Zm9yZ2Vk:"))
    for pair, wanted in ((ann, [f":{base64.b64encode(ann.der()).decode()}:"]), (None, [])):
        same(fetch(pawl, "/x", context=presenting(pair), fields=forged).status, 200, "answer")
        request = origin.of("/x")[-1]
        same(
            (request.all("Client-Cert"), request.all("Client-Cert-Chain")),
            (wanted, []),
            f"at the origin, {'with' if pair else 'without'} a certificate",
        )
    fetch(pawl, "/quiet", context=presenting(ann), fields=forged)
    same(asked(origin, "/quiet")[-1].all("Client-Cert"), [], "forged, on a route that tells nobody")


@check(
    "421 where a request is for another section than its connection, once any asks for certificates", area="tls clients"
)
def misdirected(bench):
    open_, closed = authority().leaf("open", ("open.test", "also.test")), authority().leaf("closed", ("closed.test",))
    origin = bench.origin()
    origin.at("/x", Resource(b"hello", fields=NO_STORE))
    pawl = bench.pawl(
        origin,
        listen={"tls": "open, closed"},
        extra={
            "tls:open": keys(open_),
            "tls:closed": {**keys(closed), "client-ca": str(client_authority().file), "client-certificate": "required"},
        },
    )
    for over in ("tls", "h2"):
        with Client(pawl.address, 5, over=over, server_name="open.test") as client:
            for host, code in (
                ("open.test", 200),
                ("closed.test", 421),
                ("also.test", 200),
                ("CLOSED.test:443", 421),
                ("unknown.test", 200),
            ):
                client.request("/x", host=host)
                same(client.response().status, code, f"{host} on a connection for open.test over {over}")
    with Client(pawl.address, 5, over="tls", server_name="closed.test", context=presenting(person("ann"))) as client:
        client.request("/x", host="closed.test")
        same(client.response().status, 200, "with a certificate")
        client.request("/x", host="open.test")
        same(client.response().status, 421, "the other way round")
    same([r.get("Host") for r in origin.of("/x")].count("closed.test"), 1, "requests for closed.test at the origin")
    origin.at("/kept", Resource(b"kept", fields=FRESH))
    with Client(pawl.address, 5, over="tls", server_name="closed.test", context=presenting(person("ann"))) as client:
        for _ in range(3):
            client.request("/kept", host="closed.test")
            same(client.response().body, b"kept", "with a certificate")
    for over in ("tls", "h2"):
        with Client(pawl.address, 5, over=over, server_name="open.test") as client:
            client.request("/kept", host="closed.test")
            same(
                client.response().status,
                421,
                f"what is stored for closed.test, on a connection for open.test over {over}",
            )


@check("a ticket carries no identity past another client-ca, nor to another section", area="tls clients")
def tickets(bench):
    ann = person("ann")
    context = presenting(ann, version=ssl.TLSVersion.TLSv1_3)
    origin, pawl = begin(bench, "required")

    def session(old=None):
        with Client(pawl.address, 5, over="tls", context=context, session=old) as client:
            client.request("/x")
            answer = client.response()
            return client.socket.tls.session, client.socket.tls.session_reused, answer.status

    first, _, _ = session()
    same(session(first)[1:], (True, 200), "resumed with its certificate")
    import signal

    from harness.process import wait_for

    other = authority("Authority of nobody")
    text = pawl.file.read_text()
    lines = len(pawl.log().splitlines())
    pawl.file.write_text(text.replace(str(client_authority().file), str(other.file)))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: any("reload" in line for line in pawl.log().splitlines()[lines:]), 5, "the reload")

    def gone():
        try:
            return session(first)[2] != 200
        except (OSError, ssl.SSLError):
            return True

    wait_for(gone, 5, "the refusal of a ticket from before another client-ca")
