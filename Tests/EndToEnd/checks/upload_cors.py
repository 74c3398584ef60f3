"""What browsers need: preflights, fields on every answer and error, nothing doubled."""

import re

from harness.checks import check, same, true
from harness.content import Content
from harness.origin import Resource
from harness.uploads import (
    NO_STORE,
    Dialect,
    Fields,
    Upload,
    append,
    ask,
    basic,
    cancel,
    careful,
    checksum,
    create,
    each,
    path_of,
    status,
    stored,
    tus_create,
    tus_delete,
    tus_get,
    tus_head,
    tus_new,
    tus_patch,
)

BODY = Content("cors", 100_000).read()
ORIGIN = "https://app.test"
FROM = (("Origin", ORIGIN),)
# Base list of tusd and what it lacks; see (UploadProtocols, "tus and CORS").
REQUEST = {
    "authorization",
    "origin",
    "x-requested-with",
    "x-request-id",
    "x-http-method-override",
    "content-type",
    "upload-length",
    "upload-offset",
    "tus-resumable",
    "upload-metadata",
    "upload-defer-length",
    "upload-concat",
    "upload-checksum",
    "upload-complete",
    "upload-incomplete",
    "upload-draft-interop-version",
    "content-digest",
    "repr-digest",
    "want-repr-digest",
    "content-disposition",
    "incremental",
}
RESPONSE = {
    "upload-offset",
    "location",
    "upload-length",
    "upload-limit",
    "upload-expires",
    "tus-version",
    "tus-resumable",
    "tus-max-size",
    "tus-extension",
    "tus-checksum-algorithm",
    "upload-metadata",
    "upload-defer-length",
    "upload-concat",
    "upload-complete",
    "upload-incomplete",
    "upload-draft-interop-version",
    "retry-after",
}


def names(values):
    return {name.strip().lower() for value in values for name in value.split(",") if name.strip()}


def begin(bench, cors=ORIGIN, **site):
    origin = bench.origin()
    origin.default = stored
    return origin, bench.pawl(origin, site={"min-resumable": "0", "cors": cors, **site})


def dressed(answer, what, origin=ORIGIN):
    same(
        answer.all("Access-Control-Allow-Origin"), [origin], f"Access-Control-Allow-Origin of {what} ({answer.status})"
    )
    exposed = names(answer.all("Access-Control-Expose-Headers"))
    true(RESPONSE <= exposed, f"{what} ({answer.status}) does not expose {RESPONSE - exposed}")
    same(len(answer.all("Access-Control-Expose-Headers")), 1, f"Access-Control-Expose-Headers lines of {what}")
    if origin != "*":
        true("origin" in names(answer.all("Vary")), f"Vary of {what} ({answer.status}): {answer.all('Vary')}")
    same(answer.all("Access-Control-Allow-Credentials")[1:], [], f"Access-Control-Allow-Credentials of {what}")
    return answer


@check(
    "preflights on targets and upload URLs allow methods, fields and credentials, joined with discovery",
    area="upload cors",
)
def preflight(bench):
    origin, pawl = begin(bench)
    origin.at("/501", Resource(b"", status=501, fields=NO_STORE))
    origin.at("/403", Resource(b"", status=403, fields=NO_STORE))
    location = careful(pawl.address, Dialect(6))

    def row(case):
        path, method = case
        answer = ask(
            pawl.address,
            path,
            "OPTIONS",
            FROM
            + (
                ("Access-Control-Request-Method", method),
                ("Access-Control-Request-Headers", "authorization,content-type,tus-resumable,upload-length"),
            ),
        )
        true(answer.status in (200, 204), f"status {answer.status}")
        same(answer.all("Access-Control-Allow-Origin"), [ORIGIN], "Access-Control-Allow-Origin")
        methods = {m.strip() for v in answer.all("Access-Control-Allow-Methods") for m in v.split(",")}
        true({"POST", "HEAD", "PATCH", "OPTIONS", "GET", "DELETE", "PUT"} <= methods, f"methods {methods}")
        true(
            REQUEST <= names(answer.all("Access-Control-Allow-Headers")),
            f"fields lack {REQUEST - names(answer.all('Access-Control-Allow-Headers'))}",
        )
        true("*" not in names(answer.all("Access-Control-Allow-Headers")), "a * among the fields")
        same(answer.all("Access-Control-Allow-Credentials"), ["true"], "credentials")
        true(int(answer.get("Access-Control-Max-Age") or 0) > 0, "Access-Control-Max-Age")
        true("origin" in names(answer.all("Vary")), f"Vary {answer.all('Vary')}")
        true(answer.get("Upload-Limit") and answer.get("Tus-Version"), "no discovery beside it")
        for name in (
            "Access-Control-Allow-Methods",
            "Access-Control-Allow-Headers",
            "Access-Control-Max-Age",
            "Tus-Version",
            "Upload-Limit",
        ):
            same(len(answer.all(name)), 1, f"lines of {name}")

    each([(p, m) for p in ("/in", "/501", path_of(location)) for m in ("POST", "PATCH", "PUT", "HEAD", "DELETE")], row)


@check("every answer and every error of both protocols carries the fields", area="upload cors")
def everywhere(bench):
    origin, pawl = begin(bench, **{"max-upload": "1M"})
    ann = (("Authorization", basic("ann", "x")),) + FROM
    d = Dialect(6)
    answer = dressed(create(pawl.address, d, b"", False, ann), "201")
    location = answer.get("Location")
    dressed(status(pawl.address, d, location, ann), "HEAD")
    dressed(append(pawl.address, d, location, 5, b"x", True, ann), "409")
    dressed(append(pawl.address, d, location, 0, b"x", True, ann, plain_type="text/plain"), "415")
    dressed(append(pawl.address, d, location, 0, b"x", False, ann), "append")
    dressed(status(pawl.address, d, location, FROM), "a stranger's 404")
    dressed(status(pawl.address, d, "/.pawl/uploads/none", ann), "404")
    dressed(ask(pawl.address, path_of(location), "PUT", d.version + ann, b"x"), "405")
    with Upload(pawl.address) as client:
        client.create(d, True, 2 << 20, ann)
        dressed(client.answer(), "413")
    dressed(append(pawl.address, d, location, 1, BODY, True, ann), "the final answer")
    dressed(append(pawl.address, d, location, 1 + len(BODY), b"", True, ann), "the answer again")
    dressed(cancel(pawl.address, d, location, ann), "DELETE")
    dressed(status(pawl.address, d, location, ann), "gone")
    dressed(create(pawl.address, Dialect(9), b"x", True, FROM + (("Upload-Length", "5"),)), "an inconsistent length")
    dressed(tus_create(pawl.address, 5, FROM, version=(("Tus-Resumable", "9.9.9"),)), "412")
    dressed(tus_create(pawl.address, None, FROM), "tus 400")
    dressed(tus_create(pawl.address, 2 << 20, FROM), "tus 413")
    location = dressed(tus_create(pawl.address, 10, FROM), "tus 201").get("Location")
    dressed(tus_head(pawl.address, location, FROM), "tus HEAD")
    dressed(tus_patch(pawl.address, location, 3, b"x", FROM), "tus 409")
    dressed(tus_patch(pawl.address, location, 0, b"x", FROM, kind=()), "tus 415")
    dressed(tus_patch(pawl.address, location, 0, b"x", FROM + (("Upload-Checksum", checksum("sha1", b"y")),)), "460")
    dressed(tus_patch(pawl.address, location, 0, b"01234", FROM), "tus PATCH")
    dressed(tus_patch(pawl.address, location, 5, b"56789", FROM), "the last tus PATCH")
    true(
        "pawl-origin-status"
        in names(tus_patch(pawl.address, location, 10, b"", FROM).all("Access-Control-Expose-Headers")),
        "Pawl-Origin-Status is not exposed",
    )
    dressed(tus_get(pawl.address, location, FROM), "tus GET")
    dressed(tus_delete(pawl.address, location, FROM), "tus DELETE")
    dressed(tus_head(pawl.address, location, FROM), "tus gone")


@check("origins that are not listed get nothing, * is * without credentials, off is silent", area="upload cors")
def origins(bench):
    origin, pawl = begin(bench, cors="https://one.test, https://app.test")
    d = Dialect(6)
    for value in ("https://evil.test", "http://app.test", "https://app.test.evil", "https://app.test:444", "null"):
        for answer in (
            create(pawl.address, d, b"", False, (("Origin", value),)),
            status(pawl.address, d, "/.pawl/uploads/none", (("Origin", value),)),
            ask(pawl.address, "/in", "OPTIONS", (("Origin", value), ("Access-Control-Request-Method", "POST"))),
        ):
            same(answer.all("Access-Control-Allow-Origin"), [], f"for {value}")
    same(
        create(pawl.address, d, b"", False, (("Origin", "https://one.test"),)).all("Access-Control-Allow-Origin"),
        ["https://one.test"],
        "the other listed one",
    )
    same(create(pawl.address, d, b"", False).all("Access-Control-Allow-Origin"), [], "without Origin")
    star = bench.pawl(origin, "star", site={"min-resumable": "0", "cors": "*"})
    answer = create(star.address, d, b"", False, FROM)
    true(
        answer.all("Access-Control-Allow-Origin") in (["*"], [ORIGIN]),
        f"* gives {answer.all('Access-Control-Allow-Origin')}",
    )
    true(
        not (answer.get("Access-Control-Allow-Origin") == "*" and answer.all("Access-Control-Allow-Credentials")),
        "* with credentials",
    )
    off = bench.pawl(origin, "off", site={"min-resumable": "0"})
    same(
        [n for n, _ in create(off.address, d, b"", False, FROM).fields if n.lower().startswith("access-control")],
        [],
        "cors = off",
    )


@check(
    "nothing is doubled where the origin sends its own fields, on finals, plain answers and preflights",
    area="upload cors",
)
def merged(bench):
    origin, pawl = begin(bench)
    own = NO_STORE + (
        ("Access-Control-Allow-Origin", ORIGIN),
        ("Access-Control-Expose-Headers", "X-Own"),
        ("Vary", "Origin, Accept"),
        ("Access-Control-Allow-Credentials", "true"),
        ("X-Own", "1"),
    )

    def reply(request):
        if request.method == "OPTIONS":
            return Resource(
                b"",
                status=204,
                fields=own
                + (
                    ("Access-Control-Allow-Methods", "GET, REPORT"),
                    ("Access-Control-Allow-Headers", "X-Own-Request"),
                    ("Access-Control-Max-Age", "5"),
                ),
            )
        return Resource(b"own", fields=own)

    origin.default = reply
    final = create(pawl.address, Dialect(6), BODY, True, FROM)
    location = tus_new(pawl.address, 3, FROM)
    tus_patch(pawl.address, location, 0, b"abc", FROM)
    answers = {
        "final": final,
        "tus GET": tus_get(pawl.address, location, FROM),
        "plain GET": ask(pawl.address, "/page", "GET", FROM),
        "preflight": ask(pawl.address, "/in", "OPTIONS", FROM + (("Access-Control-Request-Method", "POST"),)),
    }
    for what, answer in answers.items():
        for name in (
            "Access-Control-Allow-Origin",
            "Access-Control-Allow-Credentials",
            "Access-Control-Allow-Methods",
            "Access-Control-Max-Age",
        ):
            true(len(answer.all(name)) <= 1, f"{name} of {what}: {answer.all(name)}")
        same(answer.all("Access-Control-Allow-Origin"), [ORIGIN], what)
        same(
            sum(n == "origin" for v in answer.all("Vary") for n in [x.strip().lower() for x in v.split(",")]),
            1,
            f"Vary of {what}: {answer.all('Vary')}",
        )
    true("x-own" in names(final.all("Access-Control-Expose-Headers")), "the origin's exposed field is lost")
    dressed(joined(final), "final")
    allowed = answers["preflight"]
    true("REPORT" in ",".join(allowed.all("Access-Control-Allow-Methods")), "the origin's method is lost")
    true("x-own-request" in names(allowed.all("Access-Control-Allow-Headers")), "the origin's field is lost")


def joined(answer):
    """Several lines of a list field count as one."""
    lines = answer.all("Access-Control-Expose-Headers")
    answer.fields = Fields(
        [f for f in answer.fields if f[0].lower() != "access-control-expose-headers"]
        + [("Access-Control-Expose-Headers", ", ".join(lines))]
    )
    return answer


@check(
    "what tus-js-client sends from a page works: preflight, creation, PATCH, HEAD, with X-Request-ID and override",
    area="upload cors",
)
def as_browser(bench):
    origin, pawl = begin(bench)
    page = FROM + (("X-Request-ID", "0f9a"), ("X-Requested-With", "XMLHttpRequest"))
    for override in (False, True):
        allowed = ask(
            pawl.address,
            "/files/",
            "OPTIONS",
            FROM
            + (
                ("Access-Control-Request-Method", "POST"),
                ("Access-Control-Request-Headers", "tus-resumable,upload-length,upload-metadata,x-request-id"),
            ),
        )
        true(re.search("upload-metadata", ",".join(allowed.all("Access-Control-Allow-Headers")), re.I), "a preflight")
        location = dressed(
            tus_create(pawl.address, 6, page + (("Upload-Metadata", "filename YQ=="),), target="/files/"), "creation"
        ).get("Location")
        extra = (("X-HTTP-Method-Override", "PATCH"),) if override else ()
        answer = dressed(
            tus_patch(pawl.address, location, 0, b"abc", page + extra, method="POST" if override else "PATCH"), "PATCH"
        )
        same((answer.status, answer.get("Upload-Offset")), (204, "3"), "PATCH")
        same(dressed(tus_head(pawl.address, location, page), "HEAD").get("Upload-Offset"), "3", "HEAD")
        same(
            dressed(tus_patch(pawl.address, location, 3, b"def", page), "the last PATCH").status, 204, "the last PATCH"
        )
