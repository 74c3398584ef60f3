"""Who may: owners of uploads, auth-request, and tokens that stay secret."""

import threading

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Resource
from harness.uploads import (
    NO_STORE,
    TUS,
    Dialect,
    Upload,
    append,
    ask,
    asked,
    basic,
    bearer,
    cancel,
    careful,
    create,
    each,
    partial,
    path_of,
    secret_in,
    status,
    stored,
    token_of,
    tus_create,
    tus_delete,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

BODY = Content("owner", 100_000).read()
D = Dialect(6)


def begin(bench, extra=None, pawl=None, upstream=None, name="pawl", origin=None, **site):
    origin = origin or bench.origin()
    origin.default = origin.default or stored
    return origin, bench.pawl(
        origin, name, site={"min-resumable": "0", **site}, extra=extra, pawl=pawl, upstream=upstream
    )


def fields_of(value):
    return (("Authorization", value),) if value else ()


def refused(pawl, location, fields, what):
    """Every request of a stranger is answered like one for nothing."""
    for name, answer in (
        ("HEAD", status(pawl.address, D, location, fields)),
        ("GET", status(pawl.address, Dialect(9), location, fields, "GET")),
        ("PATCH", append(pawl.address, D, location, 0, b"evil", True, fields)),
        ("DELETE", cancel(pawl.address, D, location, fields)),
        ("tus HEAD", tus_head(pawl.address, location, fields)),
        ("tus PATCH", tus_patch(pawl.address, location, 0, b"evil", fields)),
        ("tus DELETE", tus_delete(pawl.address, location, fields)),
    ):
        same(
            (answer.status, answer.all("Upload-Offset"), answer.all("Upload-Length")), (404, [], []), f"{what}: {name}"
        )


@check(
    "authorization: Basic by its value, JWT by issuer and subject, others by value; a stranger gets 404",
    area="upload owner",
)
def authorization(bench):
    origin, pawl = begin(bench)
    cases = {
        "basic": (basic("ann", "x"), [basic("ann", "x")], [basic("ann", "y"), basic("bob", "x"), bearer("ann"), None]),
        "jwt": (
            bearer("ann", 1),
            [bearer("ann", 2), bearer("ann", 3)],
            [bearer("bob", 1), bearer("ann", 1, "https://other.test"), "Bearer opaque", None],
        ),
        "opaque": ("Bearer opaque-1", ["Bearer opaque-1"], ["Bearer opaque-2", "Bearer", None]),
    }

    def row(name):
        mine, same_owner, strangers = cases[name]
        location = create(pawl.address, D, BODY[:100], False, fields_of(mine)).get("Location")
        for stranger in strangers:
            refused(pawl, location, fields_of(stranger), f"{stranger}")
        for value in [mine] + same_owner:
            answer = status(pawl.address, D, location, fields_of(value))
            same((answer.status, answer.get("Upload-Offset")), (204, "100"), f"HEAD with {value}")
        answer = append(pawl.address, D, location, 100, BODY[100:], True, fields_of(same_owner[-1]))
        same((answer.status, answer.body), (200, b"got 100000 bytes"), "the end")
        same(whole(origin)[-1].all("Authorization"), [same_owner[-1]], "Authorization at the origin")
        answer = append(pawl.address, D, location, len(BODY), b"", True, fields_of(strangers[0]))
        same((answer.status, answer.body), (404, answer.body), "a stranger asking for the answer")
        same(
            append(pawl.address, D, location, len(BODY), b"", True, fields_of(mine)).status,
            200,
            "the owner asking for the answer",
        )

    each(cases, row)


@check(
    "only what the creator sent binds: without credentials the URL is enough, and later ones do not bind",
    area="upload owner",
)
def unbound(bench):
    origin, pawl = begin(bench)
    location = careful(pawl.address, D)
    for value in (None, basic("ann", "x"), bearer("bob")):
        same(status(pawl.address, D, location, fields_of(value)).status, 204, f"HEAD with {value}")
    append(pawl.address, D, location, 0, b"abc", False, fields_of(basic("ann", "x")))
    same(append(pawl.address, D, location, 3, b"def", True, fields_of(None)).body, b"got 6 bytes", "the end")
    same(
        append(pawl.address, D, careful(pawl.address, D), 0, b"abc", True, (("Cookie", "session=1"),)).body,
        b"got 3 bytes",
        "with a cookie",
    )


@check("a stranger's HEAD, PATCH and DELETE do not disturb a running transfer", area="upload owner")
def undisturbed(bench):
    origin, pawl = begin(bench)
    mine = fields_of(basic("ann", "x"))
    with Upload(pawl.address) as client:
        client.create(D, True, len(BODY), mine)
        location = client.location()
        client.send(BODY[:50_000])
        refused(pawl, location, fields_of(basic("bob", "x")), "a stranger")
        refused(pawl, location, (), "nobody")
        client.send(BODY[50_000:])
        same(client.answer().body, b"got 100000 bytes", "answer")
    true(whole(origin)[-1].body == BODY, "other bytes at the origin")


@check("cookie:NAME, and owner = none", area="upload owner")
def cookies(bench):
    origin, pawl = begin(bench, owner="cookie:session")
    location = create(
        pawl.address, D, BODY[:10], False, (("Cookie", "a=1; session=abc; b=2"), ("Authorization", bearer("ann")))
    ).get("Location")
    refused(pawl, location, (("Cookie", "a=1; session=abd"),), "another cookie")
    refused(pawl, location, (("Cookie", "xsession=abc"),), "a cookie with a longer name")
    refused(pawl, location, (), "no cookie")
    same(status(pawl.address, D, location, (("Cookie", "session=abc"),)).get("Upload-Offset"), "10", "the same cookie")
    same(
        status(pawl.address, D, location, (("Cookie", "z=9; session=abc"), ("Authorization", bearer("bob")))).get(
            "Upload-Offset"
        ),
        "10",
        "with other credentials",
    )
    _, pawl = begin(bench, name="none", origin=origin, owner="none")
    location = careful(pawl.address, D, fields_of(basic("ann", "x")))
    for value in (None, basic("bob", "x")):
        same(status(pawl.address, D, location, fields_of(value)).status, 204, f"owner = none, HEAD with {value}")


@check("auth-request:FIELD binds to what the application says of the user", area="upload owner")
def by_application(bench):
    origin = bench.origin()
    users = {"t1": "ann", "t2": "ann", "t3": "bob"}

    def who(request):
        user = users.get((request.get("Authorization") or "").removeprefix("Bearer "))
        return (
            Resource(b"", status=204, fields=NO_STORE + (("X-User", user),))
            if user
            else Resource(b"who?", status=401, fields=NO_STORE)
        )

    origin.at("/auth", who)
    origin.default = stored
    _, pawl = begin(bench, origin=origin, **{"auth-request": "/auth", "owner": "auth-request:X-User"})
    location = careful(pawl.address, D, fields_of("Bearer t1"))
    same(
        status(pawl.address, D, location, fields_of("Bearer t2")).status,
        204,
        "HEAD with another token of the same user",
    )
    same(status(pawl.address, D, location, fields_of("Bearer t3")).status, 404, "HEAD of another user")
    true(status(pawl.address, D, location, ()).status in (401, 404), "HEAD of nobody")
    same(
        append(pawl.address, D, location, 0, b"evil", True, fields_of("Bearer t3")).status, 404, "PATCH of another user"
    )
    same(append(pawl.address, D, location, 0, BODY, True, fields_of("Bearer t2")).body, b"got 100000 bytes", "the end")


@check(
    "a token that only claims to be the owner's goes on with the upload, and is not given the application's answer",
    area="upload owner",
)
def claimed(bench):
    origin, pawl = begin(bench)
    mine, fresh, claim = (fields_of(bearer("ann", n)) for n in (1, 2, 3))
    for d in (Dialect(6), Dialect(9)):
        location = create(pawl.address, d, BODY[:100], False, mine).get("Location")
        same(status(pawl.address, d, location, claim).get("Upload-Offset"), "100", "HEAD with a claim")
        same(
            append(pawl.address, d, location, 100, BODY[100:], True, fresh).body,
            b"got 100000 bytes",
            "the end, with a refreshed token",
        )
        same(whole(origin)[-1].all("Authorization"), [fresh[0][1]], "Authorization at the origin")
        for round_ in ("at once", "after a restart"):
            for who, code in ((mine, 200), (fresh, 200), (claim, 403)):
                answers = [append(pawl.address, d, location, len(BODY), b"", True, who)] + (
                    [status(pawl.address, d, location, who, "GET")] if d.number > 6 else []
                )
                for answer in answers:
                    same(
                        (answer.status, b"got 100000" in answer.body),
                        (code, code == 200),
                        f"the answer with {who[0][1][-8:]} {round_}",
                    )
            same(status(pawl.address, d, location, claim).status, 204, "HEAD with a claim")
            pawl.restart()
    location = tus_new(pawl.address, 10, mine)
    tus_patch(pawl.address, location, 0, BODY[:10], fresh)
    for who, code in ((mine, 200), (fresh, 200), (claim, 403)):
        answer = ask(pawl.address, path_of(location), "GET", TUS + who)
        same((answer.status, b"got 10 " in answer.body), (code, code == 200), f"tus: the answer with {who[0][1][-8:]}")


@check(
    "with auth-request a token not seen with the upload yet is asked about before it counts for anything",
    area="upload owner",
)
def claims_are_asked(bench):
    origin = bench.origin()
    good = {bearer("ann", n) for n in (1, 2, 4)}
    origin.at(
        "/auth",
        lambda r: (
            Resource(b"", status=204, fields=NO_STORE)
            if r.get("Authorization") in good
            else Resource(b"made up", status=403, fields=NO_STORE)
        ),
    )
    origin.default = stored
    _, pawl = begin(bench, origin=origin, **{"auth-request": "/auth"})
    location = create(pawl.address, D, BODY[:100], False, fields_of(bearer("ann", 1))).get("Location")
    forged = fields_of(bearer("ann", 3))
    for what, answer in (
        ("HEAD", status(pawl.address, D, location, forged)),
        ("PATCH", append(pawl.address, D, location, 100, b"evil", True, forged)),
        ("DELETE", cancel(pawl.address, D, location, forged)),
    ):
        same((answer.status, answer.all("Upload-Offset")), (403, []), f"{what} with a token that was made up")
    asked_ = len(origin.of("/auth"))
    same(
        status(pawl.address, D, location, fields_of(bearer("ann", 1))).get("Upload-Offset"),
        "100",
        "HEAD with the creator's",
    )
    same(len(origin.of("/auth")), asked_, "questions about a token that was seen")
    same(
        append(pawl.address, D, location, 100, BODY[100:], True, fields_of(bearer("ann", 2))).body,
        b"got 100000 bytes",
        "the end with a refreshed token",
    )
    for n, code in ((1, 200), (2, 200), (4, 200), (3, 403)):
        answer = append(pawl.address, D, location, len(BODY), b"", True, fields_of(bearer("ann", n)))
        same((answer.status, b"got 100000" in answer.body), (code, code == 200), f"the answer with token {n}")


@check("OPTIONS on an upload URL is never bound", area="upload owner")
def options(bench):
    origin, pawl = begin(bench, cors="https://app.test")
    location = careful(pawl.address, D, fields_of(basic("ann", "x")))
    preflight = (
        ("Origin", "https://app.test"),
        ("Access-Control-Request-Method", "PATCH"),
        ("Access-Control-Request-Headers", "authorization,upload-offset"),
    )
    for fields in ((), preflight, TUS):
        answer = ask(pawl.address, path_of(location), "OPTIONS", fields)
        true(answer.status in (200, 204), f"OPTIONS with {fields}: {answer.status}")
    same(
        ask(pawl.address, path_of(location), "OPTIONS", preflight).all("Access-Control-Allow-Origin"),
        ["https://app.test"],
        "Access-Control-Allow-Origin",
    )
    same([r.target for r in origin.requests if r.target != "/in"], [], "requests at the origin")


# -- auth-request ------------------------------------------------------------------------------------------------------


@check(
    "the application is asked before anything is accepted, with the request's own fields and what is meant",
    area="upload auth",
)
def auth_fields(bench):
    origin = bench.origin()
    origin.at("/auth", Resource(b"", status=204, fields=NO_STORE))
    _, pawl = begin(bench, origin=origin, **{"auth-request": "/auth"})
    sent = (
        ("Authorization", bearer("ann")),
        ("Cookie", "a=b"),
        ("X-Mine", "1"),
        ("Content-Type", "video/mp4"),
        ("Range", "bytes=0-1"),
        ("If-Match", '"x"'),
        ("If-None-Match", '"y"'),
        ("Expect", "100-continue"),
        ("Upload-Length", "100000"),
    )
    answer = create(pawl.address, D, BODY, True, sent, "/in?a=b", "PUT")
    same((answer.status, answer.body), (200, b"got 100000 bytes"), "answer")
    questions = origin.of("/auth")
    true(len(questions) >= 2, f"{len(questions)} questions: one before accepting and one before forwarding are due")
    for question in questions:
        same(
            (question.method, question.body, question.all("X-Original-Method"), question.all("X-Original-URI")),
            ("GET", b"", ["PUT"], ["/in?a=b"]),
            "question",
        )
        same(
            (question.all("Authorization"), question.all("Cookie"), question.all("X-Mine")),
            ([bearer("ann")], ["a=b"], ["1"]),
            "fields of the client",
        )
        for name in (
            "Content-Length",
            "Transfer-Encoding",
            "Range",
            "If-Match",
            "If-None-Match",
            "Expect",
            "Upload-Complete",
            "Upload-Draft-Interop-Version",
            "Upload-Length",
        ):
            same(question.all(name), [], f"{name} in the question")
    order = [r.path for r in origin.requests if r.method != "OPTIONS"]
    same((order[0], order[-1]), ("/auth", "/in"), "order")


@check("4xx is the answer, before a 104 and without a body read; anything else or silence is 503", area="upload auth")
def auth_answers(bench):
    origin = bench.origin()
    gate = threading.Event()
    answers = {
        401: Resource(b"who?", status=401, fields=NO_STORE + (("WWW-Authenticate", "Basic"),)),
        403: Resource(b"no", status=403, fields=NO_STORE),
        404: Resource(b"none", status=404, fields=NO_STORE),
        413: Resource(b"big", status=413, fields=NO_STORE),
        500: Resource(b"x", status=500),
        302: Resource(b"", status=302, fields=(("Location", "/login"),)),
        0: Resource(b"", status=204, before_head=lambda r: gate.wait(8)),
    }
    current = [200]
    origin.at("/auth", lambda r: answers[current[0]])
    _, pawl = begin(bench, origin=origin, upstream={"response-timeout": "1s"}, **{"auth-request": "/auth"})

    def row(code):
        current[0] = code
        expected = code if 400 <= code < 500 else 503
        with Upload(pawl.address) as client:
            client.create(D, True, len(BODY))
            answer = client.answer()  # no byte of the body was sent
            same((answer.status, [s for s, _ in answer.interim]), (expected, []), "IETF creation")
            if 400 <= code < 500:
                same(
                    (answer.body, answer.get("WWW-Authenticate")),
                    (answers[code].content, "Basic" if code == 401 else None),
                    "the application's answer",
                )
        same(tus_create(pawl.address, 10).status, expected, "tus creation")

    each((401, 403, 404, 413, 500, 302, 0), row)
    gate.set()
    same(len(asked(origin, "/in")), 0, "requests for the target")
    origin.stop()
    same(create(pawl.address, D, BODY).status, 503, "creation while the application is down")


@check(
    "asked again before the body is forwarded, with the freshest credentials: a withdrawn right stops it",
    area="upload auth",
)
def withdrawn(bench):
    origin = bench.origin()
    allowed = {bearer("ann", 1), bearer("ann", 2)}
    origin.at(
        "/auth",
        lambda r: (
            Resource(b"", status=204, fields=NO_STORE)
            if r.get("Authorization") in allowed
            else Resource(b"withdrawn", status=403, fields=NO_STORE)
        ),
    )
    _, pawl = begin(bench, origin=origin, **{"auth-request": "/auth"})
    location = create(pawl.address, D, BODY[:100], False, fields_of(bearer("ann", 1))).get("Location")
    allowed.clear()
    answer = append(pawl.address, D, location, 100, BODY[100:], True, fields_of(bearer("ann", 2)))
    same((answer.status, answer.body), (403, b"withdrawn"), "the end")
    same(len(asked(origin, "/in")), 0, "requests for the target")
    allowed.add(bearer("ann", 3))
    location = careful(pawl.address, D, fields_of(bearer("ann", 3)))
    same(
        append(pawl.address, D, location, 0, BODY, True, fields_of(bearer("ann", 3))).status,
        200,
        "an upload that is allowed",
    )
    same(origin.of("/auth")[-1].get("Authorization"), bearer("ann", 3), "credentials of the last question")


@check("plain requests and OPTIONS are not asked about", area="upload auth")
def not_asked(bench):
    origin = bench.origin()
    origin.at("/auth", Resource(b"", status=403, fields=NO_STORE))
    _, pawl = begin(bench, origin=origin, **{"auth-request": "/auth"})
    same(ask(pawl.address, "/page").status, 200, "GET")
    same(ask(pawl.address, "/in", "OPTIONS", D.version).status in (200, 204), True, "OPTIONS")
    same(len(origin.of("/auth")), 0, "questions")


# -- secrets -----------------------------------------------------------------------------------------------------------


@check(
    "tokens and credentials are in no log, no file's text and no Referer, whatever happens to the upload",
    area="upload secrets",
)
def secrets(bench):
    origin, pawl = begin(bench, pawl={"log-level": "debug"})
    locations = [partial(pawl, D, BODY, 1000)]
    location = locations[0]
    status(pawl.address, D, location)
    append(pawl.address, D, location, 5, b"x")
    ask(pawl.address, path_of(location) + "?query=1")
    ask(pawl.address, path_of(location), "PUT", (), b"x")
    ask(pawl.address, "/page", "GET", (("Referer", location),))
    ask(pawl.address, "/page", "GET", (("Referer", f"{bench.scheme}://pawl.test{path_of(location)}?x"),))
    append(pawl.address, D, location, 1000, BODY[1000:], True, (("Referer", location),))
    locations.append(tus_new(pawl.address, 10))
    tus_patch(pawl.address, locations[1], 0, b"01234")
    parts = [tus_new(pawl.address, 1, (("Upload-Concat", "partial"),)) for _ in range(2)]
    [tus_patch(pawl.address, p, 0, b"x") for p in parts]
    locations += parts + [
        tus_create(pawl.address, None, (("Upload-Concat", "final;" + " ".join(parts)),)).get("Location")
    ]
    cancel(pawl.address, D, careful(pawl.address, D))
    lines = pawl.access(count=8)
    pawl.restart()
    tokens = [token_of(each_) for each_ in locations]
    same([f for f in secret_in(pawl.folder, *tokens) if "log" in f], [], "logs with tokens in them")
    # HEAD of a final upload has to repeat the URLs of its parts.
    same(
        secret_in(pawl.folder / "state", *(token_of(each_) for each_ in locations if each_ not in parts)),
        [],
        "files with tokens in them",
    )
    for request in origin.requests:
        true(
            not any(token.encode() in request.raw for token in tokens), f"a token at the origin: {request.raw[:300]!r}"
        )
    true(any("uploads" in str(line) for line in lines), "no line of an upload URL in the access log")
    text = pawl.log()
    for word in ("upload-created", "upload-completed", "upload-answered"):
        true(word in text, f"no {word} in the event log")


@check("combined access log and Referer field hide the token too", area="upload secrets")
def combined(bench):
    origin, pawl = begin(bench, pawl={"access-log-format": "combined"})
    location = careful(pawl.address, D)
    status(pawl.address, D, location, (("Referer", location), ("User-Agent", "x")))
    ask(pawl.address, "/page", "GET", (("Referer", location),))
    append(pawl.address, D, location, 0, b"abc")
    pawl.stop()
    text = (pawl.folder / "access.log").read_text()
    true(text.count("\n") >= 4, f"lines {text!r}")
    true(token_of(location) not in text, "the token is in the access log")


@check("files of the spool are readable by their owner only", area="upload secrets")
def modes(bench):
    origin, pawl = begin(bench)
    partial(pawl, D, BODY, 1000)
    state = pawl.folder / "state"
    files = [p for p in state.rglob("*") if p.is_file() and "spool" in str(p)]
    true(files, f"no spool below {state}")
    true(any(p.stat().st_size >= 1000 for p in files), "no body file")
    for path in files:
        same(path.stat().st_mode & 0o077, 0, f"mode of {path.relative_to(state)}")
