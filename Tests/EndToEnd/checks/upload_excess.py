"""What is too much of an upload, or not enough to refuse it: a request that is refused leaves the upload as it was."""

import time

from harness.checks import check, same, true
from harness.uploads import (
    Dialect,
    append,
    careful,
    dialects,
    each,
    one,
    status,
    tus_create,
    tus_head,
    tus_new,
    tus_patch,
    whole,
)

from checks.upload_tus import begin

BODY = bytes(i * 7 % 251 for i in range(1000))


@check(
    "a tus PATCH one byte too long is 413, the upload goes on where it was, and the origin gets its own bytes",
    area="upload excess",
)
def tus(bench):
    origin, pawl = begin(bench)
    for at in (0, 600):
        for excess in (1, 500):
            for chunked in (False, True):
                location = tus_new(pawl.address, 1000)
                if at:
                    same(tus_patch(pawl.address, location, 0, BODY[:at]).status, 204, "the beginning")
                case = f"at {at}, {excess} too many, chunked {chunked}"
                same(
                    tus_patch(pawl.address, location, at, b"x" * (1000 - at + excess), chunked=chunked).status,
                    413,
                    case,
                )
                answer = tus_head(pawl.address, location)
                same(
                    (answer.status, answer.get("Upload-Offset"), answer.get("Upload-Length")),
                    (200, str(at), "1000"),
                    case,
                )
                same(tus_patch(pawl.address, location, at, BODY[at:]).status, 204, f"the rest, {case}")
                true(whole(origin)[-1].body == BODY, f"other bytes at the origin, {case}")
    location = tus_new(pawl.address, None, (("Upload-Defer-Length", "1"),))
    same(
        tus_patch(pawl.address, location, 0, BODY, (("Upload-Length", "999"),)).status,
        413,
        "a length that the same request exceeds",
    )
    answer = tus_head(pawl.address, location)
    same((answer.get("Upload-Offset"), answer.get("Upload-Defer-Length")), ("0", "1"), "after it")
    same(tus_patch(pawl.address, location, 0, BODY, (("Upload-Length", "1000"),)).status, 204, "the right length")


@check("by the drafts before -08, too, what is refused leaves offset and bytes as they were", area="upload excess")
def drafts(bench):
    origin, pawl = begin(bench)

    def row(d):
        for chunked in (False, True):
            for done in (False, True):
                location = careful(pawl.address, d, (("Upload-Length", "1000"),))
                append(pawl.address, d, location, 0, BODY[:600], False)
                case = f"chunked {chunked}, done {done}"
                same(append(pawl.address, d, location, 600, b"x" * 401, done, chunked=chunked).status, 400, case)
                answer = status(pawl.address, d, location)
                same((answer.status, answer.get("Upload-Offset")), (204, "600"), case)
                answer = append(pawl.address, d, location, 600, BODY[600:], True)
                same((answer.status, whole(origin)[-1].body == BODY), (200, True), case)

    each(dialects(5, 7), row)


@check("an empty Upload-Metadata says nothing, and is told to nobody", area="upload excess")
def metadata(bench):
    origin, pawl = begin(bench)
    for value, told in (("", []), (" ", []), ("filename YQ==", ["filename YQ=="])):
        answer = tus_create(pawl.address, 3, (("Upload-Metadata", value),))
        same(answer.status, 201, f"creation with {value!r}")
        location = one(answer, "Location")
        same(tus_head(pawl.address, location).all("Upload-Metadata"), told, f"HEAD after {value!r}")
        same(tus_patch(pawl.address, location, 0, b"abc").status, 204, f"PATCH after {value!r}")
    for value in ("a b", ",", "a,"):
        same(tus_create(pawl.address, 3, (("Upload-Metadata", value),)).status, 400, f"what is no metadata: {value}")


@check(
    "a request of the drafts that ends a part of a tus concatenation is refused at once, and the part stays",
    area="upload excess",
)
def part(bench):
    origin, pawl = begin(bench)
    for number in (3, 5, 6, 9):
        d = Dialect(number)
        for held in (400, 1000):
            answer = tus_create(pawl.address, 1000, (("Upload-Concat", "partial"),), BODY[:held])
            location, began = one(answer, "Location"), time.monotonic()
            answer = append(pawl.address, d, location, held, BODY[held:], True)
            same((answer.status, time.monotonic() - began < 3), (400, True), f"an end of a part, {d}, {held} held")
            same(tus_head(pawl.address, location).get("Upload-Offset"), str(held), f"offset, {d}")
            if held < 1000:
                answer = append(pawl.address, d, location, held, BODY[held:], False)
                true(answer.status in (201, 204), f"more of a part, {d}: {answer}")
            answer = tus_create(pawl.address, None, (("Upload-Concat", "final;" + location),))
            same((answer.status, whole(origin)[-1].body == BODY), (201, True), f"the whole, {d}")
