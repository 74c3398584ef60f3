"""Origins that speak tus themselves, and do not say so at once: nothing of theirs is taken over and lost."""

import threading
import time

from harness.checks import check, same, timely, true
from harness.origin import Resource
from harness.process import wait_for
from harness.uploads import NO_STORE, Dialect, ask, create, one, stored, tus_create, tus_head, tus_patch

from checks.upload_tus import begin

BODY = bytes(i * 7 % 251 for i in range(1000))
TUS_FIELDS = NO_STORE + (("Tus-Resumable", "1.0.0"),)


class Tus:
    """A tus server in the origin's place: a request without Tus-Resumable is 412."""

    def __init__(self, options, with_upload=True, bare=False):
        self.options, self.with_upload, self.uploads, self.whole = options, with_upload, {}, []
        self.fields = NO_STORE if bare else TUS_FIELDS

    def __call__(self, request):
        if request.method == "OPTIONS":
            return self.options(request)
        if request.get("Tus-Resumable") != "1.0.0":
            return Resource(
                b"no tus\n",
                status=412,
                fields=self.fields + (() if self.fields is NO_STORE else (("Tus-Version", "1.0.0"),)),
            )
        if request.method == "POST":
            name = f"/own/{len(self.uploads)}"
            taken = request.body if self.with_upload else b""
            self.uploads[name] = [int(request.get("Upload-Length")), taken, request.get("Upload-Metadata")]
            told = (("Upload-Offset", str(len(taken))),) if taken else ()
            return Resource(b"", status=201, fields=TUS_FIELDS + (("Location", name),) + told)
        known = self.uploads[request.path]
        if request.method == "PATCH":
            known[1] += request.body
        return Resource(
            b"",
            status=204 if request.method == "PATCH" else 200,
            fields=TUS_FIELDS + (("Upload-Offset", str(len(known[1]))),),
        )


def no_options(request):
    return Resource(b"", status=405, fields=NO_STORE)


@check(
    "an origin of tus that answers OPTIONS with 405 has its first upload all the same, in tus, and the next passes",
    area="upload probe",
)
def refused_options(bench):
    origin, pawl = begin(bench)
    for bare, path in ((False, "/files"), (True, "/bare")):
        origin.default = server = Tus(no_options, bare=bare)
        location = one(tus_create(pawl.address, 1000, (("Upload-Metadata", "filename YQ=="),), target=path), "Location")
        same(tus_patch(pawl.address, location, 0, BODY[:400]).status, 204, "a beginning")
        answer = tus_patch(pawl.address, location, 400, BODY[400:])
        same((answer.status, answer.get("Upload-Offset")), (204, "1000"), "the end")
        same(
            [list(known) for known in server.uploads.values()], [[1000, BODY, "filename YQ=="]], "uploads of the origin"
        )
        answer = tus_create(pawl.address, 1000, target=path)
        same((answer.status, answer.get("Location")), (201, "/own/1"), "the next creation")
        same(tus_patch(pawl.address, "/own/1", 0, BODY).status, 204, "a PATCH that passes")
        same(server.uploads["/own/1"][1], BODY, "the second upload at the origin")


@check(
    "an upload that an origin of tus cannot take in one request is kept, and its answer is not taken for success",
    area="upload probe",
)
def without_extension(bench):
    origin, pawl = begin(bench)
    origin.default = Tus(no_options, with_upload=False)
    location = one(tus_create(pawl.address, 1000, target="/files"), "Location")
    answer = tus_patch(pawl.address, location, 0, BODY)
    true(not 200 <= answer.status < 300 or answer.get("Upload-Offset") != "1000", f"success was told: {answer}")
    same(tus_head(pawl.address, location).status, 423, "the upload is still there")


@check(
    "an origin that is slow at OPTIONS: the late answer counts, tus waits for it, drafts pass",
    area="upload probe",
    seconds=60,
)
def late(bench):
    origin, pawl = begin(bench, **{"min-resumable": "0"})
    gate = threading.Event()

    def options(request):
        gate.wait(30)
        return Resource(b"", status=204, fields=TUS_FIELDS + (("Tus-Version", "1.0.0"),))

    origin.default = Tus(options)
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(tus_create(pawl.address, 1000, target="/files", timeout=20))
    )
    waiting.start()
    wait_for(lambda: origin.of("/files"), 5, "the question")
    origin.at(
        "/draft",
        lambda request: (
            (gate.wait(30), Resource(b"", status=204, fields=NO_STORE))[1]
            if request.method == "OPTIONS"
            else stored(request)
        ),
    )
    begun = time.monotonic()
    answer = create(pawl.address, Dialect(6), BODY, target="/draft", timeout=20)
    same(
        (answer.status, answer.body, [s for s, _ in answer.interim]),
        (200, b"got 1000 bytes", []),
        "a creation of the drafts",
    )
    timely(time.monotonic() - begun < 5, "it waited")
    time.sleep(max(0, 2.5 - (time.monotonic() - begun)))
    same(answers, [], "answers to tus before the origin said anything")
    gate.set()
    waiting.join()
    same((answers[0].status, answers[0].get("Location")), (201, "/own/0"), "the creation that waited")
    same((tus_create(pawl.address, 1000, target="/files").get("Location")), "/own/1", "the next")


@check(
    "an origin that never answers OPTIONS: tus is 503 with Retry-After after ten seconds, and nothing is made",
    area="upload probe",
    seconds=60,
)
def never(bench):
    origin, pawl = begin(bench)
    gate = threading.Event()

    def options(request):
        gate.wait(30)
        return Resource(b"", status=204, fields=NO_STORE)

    origin.default = Tus(options)
    begun = time.monotonic()
    answer = tus_create(pawl.address, 1000, target="/files", timeout=20)
    took = time.monotonic() - begun
    same((answer.status, answer.get("Tus-Resumable"), answer.all("Location")), (503, "1.0.0", []), "the answer")
    true(int(one(answer, "Retry-After")) > 0, "no Retry-After")
    timely(9 < took < 13, f"after {took:.1f} s")
    gate.set()


@check("answers to other requests teach: a PATCH that passes, OPTIONS of a client", area="upload probe")
def taught(bench):
    origin, pawl = begin(bench)
    origin.default = server = Tus(no_options)
    server.uploads["/files/x"] = [1000, b"", None]
    same(tus_patch(pawl.address, "/files/x", 0, BODY).status, 204, "a PATCH to an upload of the origin's")
    same(tus_create(pawl.address, 1000, target="/files/").get("Location"), "/own/1", "a creation after it")
    server.options = lambda request: Resource(b"", status=204, fields=TUS_FIELDS + (("Tus-Version", "1.0.0"),))
    same(ask(pawl.address, "/other", "OPTIONS").status // 100, 2, "OPTIONS")
    server.options = no_options
    same(tus_create(pawl.address, 1000, target="/other").get("Location"), "/own/2", "a creation where OPTIONS said so")
