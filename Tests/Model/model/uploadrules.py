"""What the drafts, tus and Config/behaviour.md allow of uploads: a judge with bounds for each upload, not one state."""

import dataclasses
import time

from . import dialects
from .rules import Violation
from .uploadtarget import RETRIED

JWT = {3: "x", 4: "x", 5: "y"}  # users whose tokens are JWTs, with their subject


@dataclasses.dataclass
class Upload:
    """One upload. Its offset is somewhere in [low, high]: `low` was told, `high` was sent."""

    key: int
    version: int
    user: int
    representation: object
    target: str
    method: str
    url: str | None = None
    low: int = 0
    high: int = 0
    length_known: bool = True
    ended_by: bool = False  # a request that would complete it may have arrived whole
    settled: bool = False  # a client got the target's answer, or knows that it is complete
    deleted: float | None = None  # when a DELETE was confirmed
    delete_tried: bool = False
    invalid: bool = False  # a body beyond its length, or a lost state
    partial: bool = False
    joined: bool = False
    plain: bool = False
    used: int = 0  # grows with each operation on it
    active: int = 0
    users: set = dataclasses.field(default_factory=set)  # whose tokens took part
    expected: bytes | None = None  # of a join: what has to arrive
    last: float = 0.0
    born: float = dataclasses.field(default_factory=time.time)

    @property
    def length(self):
        return len(self.expected) if self.expected is not None else self.representation.length

    def bytes(self):
        return self.expected if self.expected is not None else self.representation.bytes()


def may_continue(upload, user):
    """True, False, or None where the model leaves it open."""
    if upload.user == 0:
        return True if user == 0 else None
    if user == upload.user:
        return True
    return bool(JWT.get(user) and JWT.get(user) == JWT.get(upload.user))


class UploadJudge:
    def __init__(self, target, coverage):
        self.target, self.coverage = target, coverage
        self.uploads, self.violations, self.disturbed = {}, [], []
        self.checked, self.counted, self.said = {}, set(), set()

    def say(self, rule, text, upload, operation=0):
        if rule.startswith(("delivery", "completed")):  # which are looked at again and again
            if (rule, upload.key) in self.said:
                return
            self.said.add((rule, upload.key))
        where = (
            f"upload {upload.key} ({'tus' if not upload.version else 'v%d' % upload.version}, {upload.length} bytes, "
        )
        where += f"user {upload.user}, offset {upload.low} to {upload.high})"
        self.violations.append(Violation(rule, f"{where}: {text}", operation))

    def calm(self, since):
        return not any(b >= since for _, b in self.disturbed)

    # -- single answers ------------------------------------------------------------------------------------------
    def offset(self, upload, answer, low, what):
        """An offset that was told: not below what was told before, not beyond what was sent."""
        told = dialects.told_offset(answer)
        if told is None:
            return None
        self.coverage.chance("offset-lost")
        self.coverage.chance("offset-beyond")
        if told < low:
            self.say("offset-lost", f"{what} says {told}, {low} was told before: {answer!r}", upload)
        if told > upload.high:
            self.say("offset-beyond", f"{what} says {told}: {answer!r}", upload)
        upload.low = max(upload.low, min(told, upload.high))
        return told

    def entitled(self, upload, user, answer, what):
        """An answer to a request for an upload by somebody; False where no more is to be judged."""
        may = may_continue(upload, user)
        if may is False:
            self.coverage.chance("upload-foreign")
            if answer.status and (answer.status < 400 or dialects.told_offset(answer) is not None):
                self.say("upload-foreign", f"{what} of user {user}: {answer!r}", upload)
            return False
        return True

    def targets_answer(self, upload, user, answer, what):
        """The application's answer, where this is one."""
        told = answer.get("X-Told")
        if told is None:
            return False
        self.coverage.chance("answer-other")
        key, _, serial = told.partition("/")
        attempts = self.target.attempts.get(int(key), [])
        if int(key) != upload.key:
            self.say("answer-other", f"{what} got the answer of upload {key}: {answer!r}", upload)
            return True
        if upload.user in JWT or user in JWT:
            self.coverage.chance("answer-foreign")
            if upload.user != user and user not in upload.users and upload.user:
                self.say("answer-foreign", f"{what} of user {user} got the answer: {answer!r}", upload)
        attempt = attempts[int(serial) - 1]
        if answer.complete and attempt.status not in (None, *RETRIED):
            self.coverage.chance("answer-bytes")
            wrong = answer.body.decode("latin-1") != attempt.said and upload.version != dialects.TUS
            if wrong or (upload.version != dialects.TUS and answer.status != attempt.status):
                self.say("answer-bytes", f"{what}: {answer.body!r} instead of {attempt.said!r}: {answer!r}", upload)
        if upload.version >= 9 and attempt.status not in RETRIED and not upload.plain:
            self.coverage.chance("complete-field")
            if dialects.said_complete(upload.version, answer) is not True:
                self.say("complete-field", f"{what}: {answer!r}", upload)
        if attempt.status not in RETRIED:
            upload.settled = True
        return True

    def claims(self, upload, answer, what):
        """`Upload-Complete: ?1` since version 9: only where the application has answered."""
        unknown = any(end >= upload.born for _, end in self.disturbed)  # it may have been sent as pawl was killed
        if upload.version >= 9 and dialects.said_complete(upload.version, answer) and not unknown:
            self.coverage.chance("complete-early")
            attempts = self.target.attempts.get(upload.key, [])
            if not any(each.status is not None or each.ended for each in attempts) and answer.status < 400:
                self.say("complete-early", f"{what}: {answer!r}", upload)

    def gone(self, upload, answer, what, since):
        """Whether a refusal with 404 or 410 is right."""
        if answer.status not in (404, 410):
            return False
        self.coverage.chance("upload-lost")
        excused = (
            upload.deleted or upload.delete_tried or upload.invalid or upload.settled or upload.plain or upload.ended_by
        )
        if not excused:
            self.say("upload-lost", f"{what}: {answer!r}", upload)
        return True

    def after_delete(self, upload, answer, what, since):
        if upload.deleted is None or upload.deleted > since:
            return
        self.coverage.chance("deleted")
        if answer.status and answer.status < 400:
            self.say("deleted", f"{what} after DELETE: {answer!r}", upload)

    # -- deliveries ----------------------------------------------------------------------------------------------
    def deliveries(self, final=False):
        """What the application got."""
        for key, attempts in self.target.attempts.items():
            upload = self.uploads.get(key)
            if upload is None or self.checked.get(key) == [each.ended for each in attempts] and not final:
                continue
            self.checked[key] = [each.ended for each in attempts]
            self.delivered(upload, attempts)

    def delivered(self, upload, attempts):
        taken = None
        for each in attempts:
            if each.whole and id(each) not in self.counted:
                self.counted.add(id(each))
                for rule in ("delivery-twice", "delivery-bytes", "delivery-unasked", "delivery-fields"):
                    self.coverage.chance(rule)
            if upload.deleted is not None and each.time > upload.deleted:
                self.say("delivery-cancelled", f"{each.request.method} {each.request.target}", upload)
            if not each.whole:
                continue
            again = upload.method == "PUT" and upload.url is None  # passed on; RFC 9110 9.2.2 lets it be sent again
            if taken is not None and not again:
                self.say("delivery-twice", f"answered {taken.status} the first time", upload)
            if each.status not in RETRIED:
                taken = each
            if bytes(each.body) != upload.bytes():
                self.say("delivery-bytes", self.difference(upload, bytes(each.body)), upload)
            if not upload.ended_by and not upload.joined:
                by_length = upload.version <= 6 and upload.high == upload.length
                self.say("completed-by-length" if by_length else "delivery-unasked", "it was never completed", upload)
            if upload.partial:
                self.say("delivery-unasked", "it is a part of a join", upload)
            self.fields(upload, each.request)

    def difference(self, upload, body):
        right = upload.bytes()
        at = next((i for i, (a, b) in enumerate(zip(body, right)) if a != b), min(len(body), len(right)))
        return f"{len(body)} bytes instead of {len(right)}, different from {at}: {body[at : at + 40]!r}"

    def fields(self, upload, request):
        if request.method != upload.method or request.target != upload.target:
            self.say(
                "delivery-fields", f"{request.method} {request.target} for {upload.method} {upload.target}", upload
            )
        for name, value in request.fields:
            if name.lower().startswith(("upload-", "tus-")) and not upload.plain:
                self.say("delivery-fields", f"{name}: {value}", upload)

    def owed(self):
        """Complete uploads that the application has not got."""
        found = []
        for upload in self.uploads.values():
            attempts = self.target.attempts.get(upload.key, [])
            sure = upload.low >= upload.length and upload.ended_by == "sure"
            if sure and not upload.partial and upload.deleted is None and not upload.delete_tried and not attempts:
                found.append(upload)
        return found

    def at_the_end(self):
        self.deliveries(final=True)
        for upload in self.uploads.values():
            if upload.ended_by == "sure":
                self.coverage.chance("delivery-lost")
        for upload in self.owed():
            self.say("delivery-lost", f"complete for {time.time() - upload.last:.1f} s and never delivered", upload)
