"""Settings that change under uploads: URLs that were given out stay pawl's as long as their uploads live, and no log
shows them."""

import re
import signal
import threading

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Origin, Resource
from harness.process import wait_for
from harness.uploads import (
    NO_STORE,
    PREFIX,
    Dialect,
    Upload,
    append,
    ask,
    asked,
    bearer,
    cancel,
    careful,
    create,
    each,
    path_of,
    script,
    status,
    stored,
    token_of,
    tus_create,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

BODY = Content("settings", 100_000).read()
D = Dialect(9)


def begin(bench, extra=None, pawl=None, name="pawl", **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, name, site={"min-resumable": "0", **site}, extra=extra, pawl=pawl)


def rewrite(pawl, *changes):
    """The configuration, with texts in it replaced: (old, new) each."""
    text = pawl.file.read_text()
    for old, new in changes:
        true(old in text, f"{old!r} is not in the configuration")
        text = text.replace(old, new)
    pawl.file.write_text(text)


def reloads(pawl):
    return len(re.findall(r" reloaded$", pawl.log(), re.MULTILINE))


def reload(pawl, *changes):
    before = reloads(pawl)
    rewrite(pawl, *changes)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: reloads(pawl) > before, 10, "the reload")


def takes_effect(pawl, how, *changes):
    """By SIGHUP, or with the next start."""
    if how == "reload":
        return reload(pawl, *changes)
    rewrite(pawl, *changes)
    pawl.restart(hard=how == "kill")


OFF = ("[site:main]", "[site:main]\nuploads = off")
MOVED = ("[site:main]", "[site:main]\nupload-prefix = /new/place/")
HOWS = ("reload", "restart", "kill")


def nothing_leaked(origin, pawl, locations, prefix=PREFIX):
    """No upload's URL has come to the application, and no token to a log."""
    same(
        [(r.method, r.target) for r in origin.requests if r.target.startswith(prefix)],
        [],
        "requests for uploads' URLs at the application",
    )
    tokens = [token_of(each) for each in locations]
    same(
        [name for r in origin.requests for name, value in r.fields if any(token in value for token in tokens)],
        [],
        "fields with tokens at the application",
    )
    in_no_log(pawl, *locations)


def in_no_log(pawl, *locations):
    said = pawl.log() + (pawl.folder / "access.log").read_text(errors="replace")
    same([each for each in locations if token_of(each) in said], [], "uploads' URLs in a log")


def uses(pawl, location, tus=False, target="/in", origin=None, host="pawl.test"):
    """An upload of which 1000 bytes are there goes on at its URL to its end."""
    path = path_of(location)
    # What its URL is asked as a link is nothing for the application, either.
    ask(pawl.address, "/page", fields=(("Referer", f"http://pawl.test{path}"),), host=host)
    if tus:
        same(tus_head(pawl.address, location, host=host).get("Upload-Offset"), "1000", "tus HEAD")
        same(tus_patch(pawl.address, location, 0, b"x" * 10, host=host).status, 409, "a PATCH elsewhere")
        answer = ask(pawl.address, path, "OPTIONS", (), host=host)
        true(answer.get("Tus-Version") == "1.0.0", f"OPTIONS: {answer}")
        answer = tus_patch(pawl.address, location, 1000, BODY[1000:50_000], host=host)
        same((answer.status, answer.get("Upload-Offset")), (204, "50000"), "tus PATCH")
        answer = tus_patch(pawl.address, location, 50_000, BODY[50_000:], host=host)
        same((answer.status, answer.get("Pawl-Origin-Status")), (204, "200"), "the last tus PATCH")
        same(tus_get(pawl.address, location, host=host).body, b"got 100000 bytes", "tus GET")
    else:
        answer = status(pawl.address, D, location, host=host)
        same((answer.status, answer.get("Upload-Offset"), D.said(answer)), (204, "1000", False), "HEAD")
        same(append(pawl.address, D, location, 0, b"x" * 10, False, host=host).status, 409, "an append elsewhere")
        true(ask(pawl.address, path, "OPTIONS", (), host=host).get("Accept-Patch") is not None, "OPTIONS")
        answer = append(pawl.address, D, location, 1000, BODY[1000:50_000], False, host=host)
        same((answer.status, D.said(answer)), (204, False), "append")
        answer = append(pawl.address, D, location, 50_000, BODY[50_000:], host=host)
        same((answer.status, answer.body, D.said(answer)), (200, b"got 100000 bytes", True), "the last append")
        same(status(pawl.address, D, location, method="GET", host=host).body, b"got 100000 bytes", "GET")
    if origin:
        same([(r.method, r.body == BODY) for r in whole(origin, target)], [("POST", True)], "at the application")


def begun(pawl, tus=False, target="/in", host="pawl.test"):
    """An upload of which 1000 bytes are there; its Location."""
    if not tus:
        location = careful(pawl.address, D, target=target, host=host)
        same(append(pawl.address, D, location, 0, BODY[:1000], False, host=host).status, 204, "the beginning")
        return location
    location = tus_new(pawl.address, len(BODY), target=target, host=host)
    same(tus_patch(pawl.address, location, 0, BODY[:1000], host=host).status, 204, "the beginning")
    return location


# -- uploads = off, another upload-prefix ------------------------------------------------------------------------------


@check(
    "after uploads = off or another upload-prefix, by SIGHUP or a restart, uploads go on at the URLs they have, to "
    "their end",
    area="upload settings",
    seconds=120,
)
def goes_on(bench):
    def row(case):
        name, change, how = case
        origin, pawl = begin(bench, name=f"{name}-{how}")
        old, olds = begun(pawl, target="/a"), begun(pawl, tus=True, target="/b")
        gone = begun(pawl, target="/c")
        takes_effect(pawl, how, change)
        uses(pawl, old, target="/a", origin=origin)
        uses(pawl, olds, tus=True, target="/b", origin=origin)
        same(cancel(pawl.address, D, gone).status, 204, "DELETE")
        true(status(pawl.address, D, gone).status in (404, 410), "HEAD after DELETE")
        same(whole(origin, "/c"), [], "what was cancelled")
        nothing_leaked(origin, pawl, [old, olds, gone])
        # New ones are as the settings say.
        fields = D.version + (D.completes(False), ("Content-Length", "0"))
        answer = ask(pawl.address, "/n", "POST", fields)
        if name == "off":
            same((answer.status, [r.get(D.name) for r in asked(origin, "/n")]), (200, ["?0"]), "a creation now")
        else:
            true(
                answer.status == 201 and path_of(answer.get("Location")).startswith("/new/place/"),
                f"a creation now: {answer} {answer.get('Location')}",
            )
            same(append(pawl.address, D, answer.get("Location"), 0, BODY).body, b"got 100000 bytes", "what it made")

    each([(name, change, how) for name, change in (("off", OFF), ("moved", MOVED)) for how in HOWS], row)


@check(
    "a creation under way, one that waits for its answer, and one that is being tried again go on over the change",
    area="upload settings",
    seconds=90,
)
def under_way(bench):
    for name, change in (("off", OFF), ("moved", MOVED)):
        gate = threading.Event()
        origin, pawl = begin(bench, name=name)
        origin.at("/slow", script(lambda r: Resource(b"slow", fields=NO_STORE, before_head=lambda _: gate.wait(20))))
        origin.at("/later", script(Resource(b"no", status=503, fields=NO_STORE + (("Retry-After", "1"),)), stored))
        with Upload(pawl.address, 20) as running, Upload(pawl.address, 20) as waiting:
            running.create(D, True, len(BODY), target="/run")
            first = running.location()
            running.send(BODY[:40_000])
            waiting.create(D, True, len(BODY), target="/slow")
            second = waiting.location()
            waiting.send(BODY)
            wait_for(lambda: asked(origin, "/slow"), 5, "the delivery")
            answer = create(pawl.address, D, BODY, target="/later")
            same(answer.status, 503, "the first attempt")
            third = [fields.get("Location") for number, fields in answer.interim if number == 104][0]
            reload(pawl, change)
            same(status(pawl.address, D, second).get("Upload-Offset"), "100000", "HEAD of one that is being delivered")
            running.send(BODY[40_000:])
            same(running.answer().body, b"got 100000 bytes", "the creation under way")
            gate.set()
            same(waiting.answer().body, b"slow", "the one that waited")
        same(append(pawl.address, D, second, len(BODY), b"").body, b"slow", "its answer again")
        same(append(pawl.address, D, third, len(BODY), b"").body, b"got 100000 bytes", "the next attempt")
        nothing_leaked(origin, pawl, [first, second, third])


@check(
    "what was complete while the application was away is delivered once, whatever was changed before it came back",
    area="upload settings",
    seconds=120,
)
def away(bench):
    for name, change, how in (("off", OFF, "reload"), ("moved", MOVED, "reload"), ("off", OFF, "kill")):
        port = bench.held_port()
        pawl = bench.pawl(
            f"http://127.0.0.1:{port}",
            f"{name}-{how}",
            site={"min-resumable": "0", "tus-wait": "1s"},
            upstream={"connect-timeout": "1s"},
        )
        answer = create(pawl.address, D, BODY, target="/x", timeout=10)
        same(answer.status, 503, "while it is away")
        location = [fields.get("Location") for number, fields in answer.interim if number == 104][0]
        takes_effect(pawl, how, change)
        with Origin(port=port, is_held=True, default=stored) as origin:
            # By itself, without its client.
            wait_for(lambda: whole(origin, "/x"), 30, "the delivery")
            wait_for(
                lambda: append(pawl.address, D, location, len(BODY), b"").body == b"got 100000 bytes", 10, "the answer"
            )
            same([r.body == BODY for r in whole(origin, "/x")], [True], "deliveries")
            nothing_leaked(origin, pawl, [location])


@check("tus parts made before the change are joined after it", area="upload settings", seconds=60)
def parts(bench):
    for name, change in (("off", OFF), ("moved", MOVED)):
        origin, pawl = begin(bench, name=name)
        made = []
        for at in (0, 50_000):
            location = tus_new(pawl.address, 50_000, (("Upload-Concat", "partial"),))
            same(tus_patch(pawl.address, location, 0, BODY[at : at + 30_000]).status, 204, "a part")
            made.append(location)
        reload(pawl, change)
        for at, location in zip((0, 50_000), made):
            same(
                tus_patch(pawl.address, location, 30_000, BODY[at + 30_000 : at + 50_000]).status,
                204,
                "the rest of a part",
            )
        value = "final;" + " ".join(path_of(each) for each in made)
        answer = tus_create(pawl.address, None, (("Upload-Concat", value),), target="/whole")
        same((answer.status, answer.get("Pawl-Origin-Status")), (201, "200"), f"{name}: the final upload")
        same([r.body == BODY for r in whole(origin, "/whole")], [True], "at the application")
        same(tus_get(pawl.address, answer.get("Location")).body, b"got 100000 bytes", "GET of it")
        nothing_leaked(origin, pawl, made + [answer.get("Location")])


@check(
    "prefixes within each other, of a site and its routes: each upload is found at its URL, by SIGHUP and a restart, "
    "too",
    area="upload settings",
    seconds=60,
)
def nested(bench):
    prefixes = {"/in": "/u/", "/deep/": "/u/deep/", "/deeper/": "/u/deep/er/"}
    routes = {
        f"route:main{path.rstrip('/')}": {"path": path + "*", "upload-prefix": prefix}
        for path, prefix in prefixes.items()
        if path != "/in"
    }
    origin, pawl = begin(bench, extra=routes, **{"upload-prefix": "/u/"})
    uploads = {}

    def found(when):
        for target, (location, sent) in uploads.items():
            same(status(pawl.address, D, location).get("Upload-Offset"), str(sent), f"{when}: HEAD of {location}")
            answer = append(pawl.address, D, location, sent, BODY[sent : sent + 1000], done=False)
            true(answer.status < 300, f"{when}: {location}: {answer}")
            uploads[target] = (location, sent + 1000)

    for target in ("/in", "/deep/a", "/deeper/a"):
        location = careful(pawl.address, D, target=target)
        expected = prefixes.get(target, prefixes.get(target[:-1]))
        true(path_of(location).startswith(expected), f"{location} below {expected}")
        uploads[target] = (location, 0)
    found("at once")
    for how in HOWS:
        takes_effect(
            pawl,
            how,
            ("[site:main]", "[site:main]\nmax-ranges = 5") if how == "reload" else ("max-ranges = 5", "max-ranges = 5"),
        )
        found(how)
    for target, (location, sent) in uploads.items():
        same(append(pawl.address, D, location, sent, BODY[sent:]).body, b"got 100000 bytes", f"the end of {location}")
        true(whole(origin, target)[0].body == BODY, f"other bytes for {target}")
    nothing_leaked(origin, pawl, [location for location, _ in uploads.values()], "/u")


@check("below a former prefix everything else is the application's again", area="upload settings", seconds=60)
def others(bench):
    origin, pawl = begin(bench, **{"upload-prefix": "/files/"})
    origin.default = lambda request: (
        Resource(f"app {request.target}".encode(), fields=NO_STORE) if request.method == "GET" else stored(request)
    )
    location = begun(pawl)
    nobody = "/files/" + "B" * 32
    for path in ("/files/report.pdf", nobody):
        same(ask(pawl.address, path).status, 404, f"{path} before")
    for how in ("reload", "restart"):
        if how == "reload":
            reload(pawl, ("upload-prefix = /files/", "upload-prefix = /files/up/"))
        else:
            pawl.restart()
        for path in ("/files/report.pdf", nobody, "/files/", "/files/" + "c" * 40):
            same(ask(pawl.address, path).body, f"app {path}".encode(), f"{path} after {how}")
        same(ask(pawl.address, "/files/up/x").status, 404, "below the new one")
        # An upload's URL with something behind it is no URL of it, and nobody else's.
        for behind in ("/x", "/", ".info", "x"):
            same(ask(pawl.address, path_of(location) + behind).status, 404, f"behind an upload's URL: {behind}")
        same(status(pawl.address, D, location).get("Upload-Offset"), "1000", f"HEAD after {how}")
    lines = [line["target"] for line in pawl.access("/files/", 10)]
    true("/files/report.pdf" in lines, f"the application's own paths in the log: {lines}")
    same(append(pawl.address, D, location, 1000, BODY[1000:]).body, b"got 100000 bytes", "the rest")
    in_no_log(pawl, location)


@check(
    "changed twice and back, each upload has its own URL, and a stranger still finds nothing",
    area="upload settings",
    seconds=60,
)
def twice(bench):
    origin, pawl = begin(bench, **{"upload-prefix": "/one/"})
    ann = (("Authorization", bearer("ann")),)
    locations = [careful(pawl.address, D, ann, target="/in")]
    for old, new in (("/one/", "/two/"), ("/two/", "/three/"), ("/three/", "/one/")):
        reload(pawl, (f"upload-prefix = {old}", f"upload-prefix = {new}"))
        locations.append(careful(pawl.address, D, ann, target="/in"))
        true(path_of(locations[-1]).startswith(new), f"Location {locations[-1]} below {new}")
    for how in ("now", "restart"):
        if how == "restart":
            pawl.restart()
        for location in locations:
            same(status(pawl.address, D, location, ann).get("Upload-Offset"), "0", f"HEAD, {how}")
            same(
                status(pawl.address, D, location, (("Authorization", bearer("bob")),)).status,
                404,
                f"a stranger's HEAD, {how}",
            )
    for location in locations:
        same(append(pawl.address, D, location, 0, BODY, True, ann).body, b"got 100000 bytes", "append")
    same(len([r for r in origin.requests if r.method == "POST" and r.body == BODY]), 4, "deliveries")
    for prefix in ("/one/", "/two/", "/three/"):
        nothing_leaked(origin, pawl, locations, prefix)


@check("a smaller max-upload is for new uploads", area="upload settings", seconds=60)
def smaller(bench):
    for how in HOWS:
        origin, pawl = begin(bench, name=how, **{"max-upload": "1M"})
        locations = [begun(pawl, target="/a"), begun(pawl, tus=True, target="/b")]
        takes_effect(pawl, how, ("max-upload = 1M", "max-upload = 20K"))
        same(create(pawl.address, D, b"", False, (("Upload-Length", "30000"),)).status, 413, "a new one")
        uses(pawl, locations[0], target="/a", origin=origin)
        uses(pawl, locations[1], tus=True, target="/b", origin=origin)


# -- sites, routes, spools ---------------------------------------------------------------------------------------------


def one_route(bench, name):
    return begin(bench, name=name, extra={"route:main/up": {"path": "/up/*", "upload-prefix": "/up-urls/"}})


@check("one route's uploads = off, another prefix, or the route gone", area="upload settings", seconds=90)
def routes(bench):
    kinds = {
        "off": ("upload-prefix = /up-urls/", "upload-prefix = /up-urls/\nuploads = off"),
        "moved": ("upload-prefix = /up-urls/", "upload-prefix = /up-elsewhere/"),
        "gone": ("[route:main/up]\npath = /up/*\nupload-prefix = /up-urls/\n", ""),
    }

    def row(case):
        name, how = case
        origin, pawl = one_route(bench, f"{name}-{how}")
        location, beside = begun(pawl, target="/up/x"), begun(pawl, target="/y")
        true(path_of(location).startswith("/up-urls/") and path_of(beside).startswith(PREFIX), f"{location}, {beside}")
        takes_effect(pawl, how, kinds[name])
        uses(pawl, location, target="/up/x", origin=origin)
        uses(pawl, beside, target="/y", origin=origin)
        nothing_leaked(origin, pawl, [location, beside], "/up-urls/")

    each([(name, how) for name in kinds for how in ("reload", "restart")], row)


@check(
    "a site whose host is gone: its uploads are gone on with, and nothing of them reaches another's application",
    area="upload settings",
    seconds=90,
    over=("clear", "h2c"),
    why="the certificate of the checks is for one host",
)
def hosts(bench):
    mine, theirs = bench.origin(), bench.origin()
    for origin in (mine, theirs):
        origin.default = stored
    section = "[site:mine]\nhost = mine.test\nupstream = mine\nmin-resumable = 0\n"
    moved = "[site:mine]\nhost = other.test\nupstream = mine\nmin-resumable = 0\n"

    def row(case):
        name, new, how = case
        pawl = bench.pawl(
            theirs,
            f"{name}-{how}",
            site={"host": "theirs.test", "min-resumable": "0"},
            extra={
                "upstream:mine": {"url": mine.url},
                "site:mine": {"host": "mine.test", "upstream": "mine", "min-resumable": "0"},
            },
        )
        location = begun(pawl, target=f"/{name}-{how}", host="mine.test")
        takes_effect(pawl, how, (section, new))
        answer = status(pawl.address, D, location, host="mine.test")
        same((answer.status, answer.get("Upload-Offset")), (204, "1000"), f"HEAD after {name}, {how}")
        same(status(pawl.address, D, location, host="theirs.test").status, 404, "at another site")
        if how == "reload":
            uses(pawl, location, target=f"/{name}-{how}", origin=mine, host="mine.test")
        else:
            # Where it went is not known any more: its bytes are kept until a site is there again.
            same(
                append(pawl.address, D, location, 1000, BODY[1000:50_000], False, host="mine.test").status,
                204,
                "append",
            )
            rewrite(pawl, (new, section)) if new else pawl.file.write_text(pawl.file.read_text() + section)
            pawl.signal(signal.SIGHUP)
            wait_for(lambda: reloads(pawl), 10, "the reload")
            same(
                append(pawl.address, D, location, 50_000, BODY[50_000:], host="mine.test").body,
                b"got 100000 bytes",
                "the rest, with the site again",
            )
            same([r.body == BODY for r in whole(mine, f"/{name}-{how}")], [True], "at the application")
        same(ask(pawl.address, "/", host="nobody.test").status, 404, "a host that nobody has")
        same([r.target for r in theirs.requests if r.method != "GET"], [], "at the other application")
        nothing_leaked(mine, pawl, [location])
        nothing_leaked(theirs, pawl, [location])

    each([(name, new, how) for name, new in (("gone", ""), ("moved", moved)) for how in ("reload", "restart")], row)


@check(
    "a host that another site takes over takes its uploads with it",
    area="upload settings",
    seconds=60,
    over=("clear", "h2c"),
    why="the certificate of the checks is for one host",
)
def taken_over(bench):
    mine, theirs = bench.origin(), bench.origin()
    for origin in (mine, theirs):
        origin.default = stored
    section = "[site:mine]\nhost = mine.test\nupstream = mine\nmin-resumable = 0\n"
    for how in ("reload", "restart"):
        pawl = bench.pawl(
            theirs,
            how,
            site={"uploads": "off"},
            extra={
                "upstream:mine": {"url": mine.url},
                "site:mine": {"host": "mine.test", "upstream": "mine", "min-resumable": "0"},
            },
        )
        location = begun(pawl, target=f"/{how}", host="mine.test")
        takes_effect(pawl, how, (section, ""))
        uses(pawl, location, target=f"/{how}", origin=theirs, host="mine.test")
        nothing_leaked(theirs, pawl, [location])


def in_spool_a(bench, name, how, changes):
    origin, pawl = begin(bench, name=f"{name}-{how}", extra={"spool:a": {"path": "spool-a"}}, spool="a")
    location, beside = begun(pawl, target="/x"), begun(pawl, tus=True, target="/y")
    parts = [tus_new(pawl.address, 5, (("Upload-Concat", "partial"),))]
    same(tus_patch(pawl.address, parts[0], 0, b"first").status, 204, "a part")
    takes_effect(pawl, how, *changes)
    parts.append(tus_new(pawl.address, 6, (("Upload-Concat", "partial"),)))
    same(tus_patch(pawl.address, parts[1], 0, b"second").status, 204, "a part made after it")
    uses(pawl, location, target="/x", origin=origin)
    uses(pawl, beside, tus=True, target="/y", origin=origin)
    answer = tus_create(
        pawl.address, None, (("Upload-Concat", "final;" + " ".join(path_of(each) for each in parts)),), target="/z"
    )
    same((answer.status, [r.body for r in whole(origin, "/z")]), (201, [b"firstsecond"]), "parts of both")
    nothing_leaked(origin, pawl, [location, beside] + parts)


B = ("spool = a", "spool = b")


@check("a spool under another name: its uploads are found", area="upload settings", seconds=90)
def renamed(bench):
    each(HOWS, lambda how: in_spool_a(bench, "named", how, (("[spool:a]", "[spool:b]"), B)))


@check("a site moved to another spool: its uploads are found where they are", area="upload settings", seconds=90)
def moved_spool(bench):
    both = ("[spool:a]\npath = spool-a\n", "[spool:a]\npath = spool-a\n[spool:b]\npath = spool-b\n")
    each(HOWS, lambda how: in_spool_a(bench, "moved", how, (both, B)))


@check(
    "after SIGHUP uploads of a spool whose section is gone are found where they are; another state-dir is refused",
    area="upload settings",
    seconds=60,
)
def gone_spool(bench):
    in_spool_a(bench, "gone", "reload", (("[spool:a]\npath = spool-a\n", "[spool:b]\npath = spool-b\n"), B))
    origin, pawl = begin(bench, name="state")
    location = begun(pawl)
    rewrite(pawl, ("state-dir = state", "state-dir = state2"))
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: "reload-failed" in pawl.log(), 10, "the refusal")
    true(re.search(r"reload-failed why=\"[^\"]*pawl\.ini:\d+: \[pawl\] state-dir: ", pawl.log()), pawl.log()[-600:])
    true(careful(pawl.address, D) and not (pawl.folder / "state2").exists(), "a new one is where the others are")
    uses(pawl, location, origin=origin)


@check("pages of other origins may go on after uploads = off, as cors says", area="upload settings", seconds=30)
def cors(bench):
    origin, pawl = begin(bench, cors="https://page.test")
    location = begun(pawl, tus=True)
    reload(pawl, OFF)
    asked_for = (
        ("Origin", "https://page.test"),
        ("Access-Control-Request-Method", "PATCH"),
        ("Access-Control-Request-Headers", "upload-offset, tus-resumable"),
    )
    answer = ask(pawl.address, path_of(location), "OPTIONS", asked_for)
    same((answer.status, answer.get("Access-Control-Allow-Origin")), (200, "https://page.test"), "the preflight")
    answer = tus_patch(pawl.address, location, 1000, BODY[1000:], (("Origin", "https://page.test"),))
    same((answer.status, answer.get("Access-Control-Allow-Origin")), (204, "https://page.test"), "the PATCH")


@check("auth-request is told the creation's target, never an upload's URL", area="upload settings", seconds=30)
def auth(bench):
    origin, pawl = begin(bench, **{"auth-request": "/auth", "owner": "auth-request:X-User"})
    origin.at("/auth", Resource(b"", fields=NO_STORE + (("X-User", "ann"),)))
    location = begun(pawl)
    for change in (OFF, MOVED):
        reload(pawl, change)
    same(append(pawl.address, D, location, 1000, BODY[1000:]).body, b"got 100000 bytes", "the rest")
    same({r.get("X-Original-URI") for r in origin.of("/auth")}, {"/in"}, "X-Original-URI")
    nothing_leaked(origin, pawl, [location])


# -- owner -------------------------------------------------------------------------------------------------------------


def owned(name, made, others, old, new, **site):
    return name, (made, others, old, new, site)


ANN, SID = ("Authorization", bearer("ann")), ("Cookie", "a=1; sid=x")
OWNED = dict(
    (
        owned(
            "authorization to cookie",
            (ANN,),
            [(), (("Authorization", bearer("bob")),), (("Cookie", "sid=x"),)],
            "authorization",
            "cookie:sid",
        ),
        owned(
            "authorization to none",
            (("Authorization", "Bearer abc"),),
            [(), (("Authorization", "Bearer abd"),), (("Cookie", "authorization=Bearer abc"),)],
            "authorization",
            "none",
        ),
        owned(
            "cookie to authorization",
            (SID,),
            [(), (("Cookie", "sid=y"),), (("Cookie", "SID=x; xsid=x"),), (("Cookie", "sid=x; sid=y"),), (ANN,)],
            "cookie:sid",
            "authorization",
        ),
        owned("cookie to another", (SID,), [(), (("Cookie", "a=1; other=x"),)], "cookie:sid", "cookie:a"),
        owned(
            "both to one",
            (ANN, SID),
            [(), (ANN,), (SID,), (("Authorization", bearer("bob")), SID)],
            "authorization, cookie:sid",
            "authorization",
        ),
        owned("both to none", (ANN, SID), [(), (ANN,), (SID,)], "authorization, cookie:sid", "none"),
        owned(
            "auth-request to none",
            (("Authorization", "Bearer t1"),),
            [(), (("Authorization", "Bearer t3"),), (("Cookie", "x-user=ann"),)],
            "auth-request:X-User",
            "none",
            auth_request="/auth",
        ),
        owned(
            "auth-request to cookie",
            (("Authorization", "Bearer t1"),),
            [(), (("Authorization", "Bearer t3"),), (SID,)],
            "auth-request:X-User",
            "cookie:sid",
            auth_request="/auth",
        ),
    )
)


def says_who(origin):
    users = {"Bearer t1": "ann", "Bearer t3": "bob"}

    def who(request):
        user = users.get(request.get("Authorization"))
        return (
            Resource(b"", status=204, fields=NO_STORE + (("X-Mood", "good"), ("X-User", user)))
            if user
            else Resource(b"who?", status=401, fields=NO_STORE)
        )

    origin.at("/auth", who)


@check(
    "whoever takes a rule out of `owner` leaves uploads under way to those who made them, and to nobody else",
    area="upload settings",
    seconds=180,
)
def owner_lost(bench):
    def row(case):
        name, how = case
        mine, strangers, old, new, site = OWNED[name]
        origin, pawl = begin(bench, name=f"{name.replace(' ', '-')}-{how}", owner=old, **site)
        says_who(origin)
        location, parts = careful(pawl.address, D, mine, target="/a"), []
        same(append(pawl.address, D, location, 0, BODY[:1000], False, mine).status, 204, "the beginning")
        tus = tus_new(pawl.address, len(BODY), mine, target="/b")
        same(tus_patch(pawl.address, tus, 0, BODY[:1000], mine).status, 204, "the beginning by tus")
        parts = [tus_new(pawl.address, 5, mine + (("Upload-Concat", "partial"),))]
        same(tus_patch(pawl.address, parts[0], 0, b"first", mine).status, 204, "a part")
        takes_effect(pawl, how, (f"owner = {old}\n", f"owner = {new}\n"))
        for stranger in strangers:
            for what, answer in (
                ("HEAD", status(pawl.address, D, location, stranger)),
                ("PATCH", append(pawl.address, D, location, 1000, b"evil", True, stranger)),
                ("DELETE", cancel(pawl.address, D, location, stranger)),
                ("tus HEAD", tus_head(pawl.address, tus, stranger)),
                ("tus PATCH", tus_patch(pawl.address, tus, 1000, b"evil", stranger)),
            ):
                same((answer.status, answer.get("Upload-Offset")), (404, None), f"{what} of {stranger}")
        answer = status(pawl.address, D, location, mine)
        same((answer.status, answer.get("Upload-Offset")), (204, "1000"), "HEAD of its maker")
        same(append(pawl.address, D, location, 1000, BODY[1000:], True, mine).body, b"got 100000 bytes", "the rest")
        same(status(pawl.address, D, location, mine, "GET").body, b"got 100000 bytes", "its answer")
        same(tus_head(pawl.address, tus, mine).get("Upload-Offset"), "1000", "tus HEAD of its maker")
        same(tus_patch(pawl.address, tus, 1000, BODY[1000:], mine).get("Upload-Offset"), "100000", "the rest by tus")
        answer = tus_create(pawl.address, None, mine + (("Upload-Concat", f"final;{path_of(parts[0])}"),), target="/z")
        same((answer.status, [r.body for r in whole(origin, "/z")]), (201, [b"first"]), "a part made before it")
        for stranger in strangers:
            same(status(pawl.address, D, location, stranger, "GET").status, 404, f"the answer for {stranger}")

    each(
        [(name, "reload") for name in OWNED] + [(name, "kill") for name in ("authorization to none", "both to one")],
        row,
    )


@check(
    "a token that only claims to be the owner's is not given the answer, whatever has become of `owner`",
    area="upload settings",
    seconds=60,
)
def owner_claimed(bench):
    mine, claim = (ANN,), (("Authorization", bearer("ann", 3)),)
    for new in ("none", "cookie:sid"):
        origin, pawl = begin(bench, name=new.replace(":", "-"), owner="authorization")
        location = careful(pawl.address, D, mine)
        same(append(pawl.address, D, location, 0, BODY[:1000], False, mine).status, 204, "the beginning")
        change = [("owner = authorization\n", f"owner = {new}\n")]
        reload(pawl, *change)
        same(append(pawl.address, D, location, 1000, BODY[1000:], True, mine).body, b"got 100000 bytes", "the rest")
        for why in ("then", "with the rule back"):
            for who, code in ((mine, 200), (claim, 403)):
                answer = status(pawl.address, D, location, who, "GET")
                same(
                    (answer.status, b"got 100000" in answer.body),
                    (code, code == 200),
                    f"the answer for {who[0][1][-8:]} {why}",
                )
            if why == "then":
                reload(pawl, *[(b, a) for a, b in change])
