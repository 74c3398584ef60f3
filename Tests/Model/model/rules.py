"""The rules whose breaking the model finds: where each is written, and how often it could have been broken."""

import collections
import dataclasses

RULES = {
    # Who may get a stored answer.
    "no-store": ("RFC 9111 5.2.2.5", "an answer with no-store was given to another request"),
    "request-no-store": ("RFC 9111 5.2.1.5", "the answer to a request with no-store was given to another request"),
    "request-no-store-resume": ("RFC 9111 5.2.1.5", "the answer to a request with no-store was kept for a download"),
    "private": ("RFC 9111 5.2.2.7", "a private answer was given to another request"),
    "authorization": ("RFC 9111 3.5", "an answer to Authorization was given to another request"),
    "vary": ("RFC 9111 4.1", "an answer was given to a request that differs in a field that Vary names"),
    "vary-star": ("RFC 9111 4.1", "an answer with Vary: * was given to another request"),
    "cookie-key": ("Config/README.md ignore-cookies", "an answer that states no freshness was given for other cookies"),
    "set-cookie": ("Config/behaviour.md Who shares", "an answer that sets a cookie was given to another request"),
    "method": ("RFC 9111 4", "an answer to another method was given"),
    "resource": ("RFC 9111 4", "an answer of another resource was given"),
    # Freshness.
    "stale": ("RFC 9111 4.2.4", "a stale answer was given without asking the origin"),
    "stale-part": ("RFC 9111 4.2.4", "a stale part was given to a client that had one validated before"),
    "stale-error": ("RFC 9111 4.2.4, RFC 5861 4", "a stale answer was given although its directives forbid it"),
    "no-cache": ("RFC 9111 5.2.2.4", "an answer with no-cache was given without validation"),
    "invalidated": ("RFC 9111 4.4", "an answer from before an unsafe request was given after it"),
    "invalidated-resume": ("RFC 9111 4.4", "a download was completed from before an unsafe request"),
    "request-no-cache": ("RFC 9111 5.2.1.4", "a stored answer was given to a request with no-cache"),
    "request-max-age": ("RFC 9111 5.2.1.1", "an answer older than the request's max-age was given"),
    "request-min-fresh": ("RFC 9111 5.2.1.3", "an answer that is not fresh for min-fresh was given"),
    "only-if-cached": ("RFC 9111 5.2.1.7", "a request with only-if-cached went to the origin"),
    "age": ("RFC 9111 5.1", "Age is not the age of the answer"),
    # Heads and validators.
    "merged": ("RFC 9111 4.3.4", "an answer lacks the fields of the 304 that confirmed it"),
    "merged-wrong": ("RFC 9111 4.3.4", "a 304 was taken for another representation than it confirmed"),
    "head-of-another": ("RFC 9110 8", "the head is of another representation than the body"),
    "head-of-broken": ("RFC 9110 8", "the head of an answer that broke before its first byte, with another's body"),
    "user-by-date": ("Config/behaviour.md Who shares", "a no-cache page of another user, confirmed by its date alone"),
    "tag-two-bodies": ("RFC 9110 8.8.1", "one strong tag names two sequences of bytes"),
    "strong-tag": ("Config/behaviour.md Response fields", "a stored body came without a strong tag"),
    "fields-206": ("RFC 9110 15.3.7", "a 206 lacks fields that the 200 has"),
    # Bodies.
    "splice": ("RFC 9111 3.4", "bytes of two representations in one body, or bytes of none"),
    "short": ("RFC 9112 8", "a body looks whole and is not"),
    "length": ("RFC 9110 8.6", "Content-Length is not the length of the representation"),
    "needless-cut": ("README.md", "a body was cut although the origin was well"),
    "not-resumed": ("README.md", "a body was cut although the origin could go on"),
    "needless-error": ("RFC 9110 15.6", "an error of the proxy although the origin was well"),
    "no-answer": ("RFC 9110 3.4", "no answer within the time"),
    "range-waits": (
        "README.md",
        "a range waits when a body of unknown length breaks off, though the origin could go on",
    ),
    "coding": ("RFC 9110 12.5.3", "a content coding that the client did not accept"),
    "coded": ("RFC 9110 8.4.1", "a coded body cannot be decoded"),
    # Conditions and ranges.
    "304-unasked": ("RFC 9110 15.4.5", "a 304 to a request without a condition"),
    "304-wrong": ("RFC 9110 13.1.2", "a 304 whose validators the request did not name"),
    "304-missed": ("RFC 9111 4.3.2", "a stored answer was sent again to who has it"),
    "if-match": ("RFC 9110 13.1.1", "a stored answer was given although If-Match names another"),
    "412": ("RFC 9110 15.5.13", "a 412 to a request without a precondition"),
    "range-unasked": ("RFC 9110 15.3.7", "a 206 to a request without Range"),
    "range-other": ("RFC 9110 14.4", "another range than was asked for"),
    "if-range": ("RFC 9110 13.1.5", "a part although If-Range names another representation"),
    "range-416": ("RFC 9110 15.5.17", "a 416 although the range can be satisfied"),
    "range-416-first": ("RFC 9110 15.5.17", "a 416 to several ranges of which only the first cannot be satisfied"),
    "multipart": ("RFC 9110 15.3.7.2", "a multipart body with other parts than were asked for"),
    "malformed": ("RFC 9112", "the answer cannot be read"),
    # Uploads.
    "offset-lost": ("draft 4.1.1, tus HEAD", "an offset that was told is not held any more"),
    "offset-beyond": ("draft 4.1.1, tus HEAD", "an offset beyond what was sent"),
    "offset-conflict": ("draft 4.4, tus PATCH", "an append at another offset than the upload's was taken"),
    "overrun": ("draft 4.4, tus PATCH", "an append beyond the upload's length was taken"),
    "append-refused": ("draft 4.6", "an append at the offset that was told was refused"),
    "upload-foreign": ("Config/behaviour.md Uploads", "somebody else got at an upload"),
    "upload-lost": ("draft 4.3", "an upload is not there any more"),
    "upload-error": ("RFC 9110 15.6", "an error of the proxy although all was well"),
    "deleted": ("draft 4.5, tus Termination", "a deleted upload is still there"),
    "delete-refused": ("draft 4.5, tus Termination", "an upload could not be deleted"),
    "delete-busy": ("draft 4.5", "one of two DELETEs at once got an error that says that all bytes are here"),
    "checksum": ("tus Checksum", "content with a wrong checksum counts"),
    "join": ("tus Concatenation", "a join was refused or taken wrongly"),
    "complete-field": ("draft 4.2.1", "the target's answer does not say Upload-Complete: ?1"),
    "complete-early": ("draft 4.3", "Upload-Complete: ?1 without an answer of the target"),
    "answer-other": ("Config/behaviour.md Uploads", "the answer of another upload"),
    "answer-foreign": ("Config/behaviour.md Uploads", "the target's answer went to another token"),
    "answer-bytes": ("draft 4.4", "the target's answer was changed"),
    "answer-repeat": ("Config/README.md response-ttl", "the target's answer could not be asked for again"),
    "takeover": ("Config/behaviour.md Uploads", "an older request added bytes after a newer one"),
    "delivery-twice": ("Config/behaviour.md Delivery", "the application got an upload twice"),
    "delivery-bytes": ("Config/behaviour.md Delivery", "the application got other bytes"),
    "delivery-unasked": ("draft 4.4", "an upload was delivered that was not complete"),
    "completed-by-length": (
        "draft-05 4.4",
        "an upload was taken for complete at its length, without Upload-Complete: ?1",
    ),
    "delivery-cancelled": ("draft 4.5", "a deleted upload was delivered"),
    "delivery-fields": ("Config/behaviour.md Delivery", "the delivery is no plain request"),
    "delivery-lost": ("Config/behaviour.md Delivery", "a complete upload was never delivered"),
}


# Broken by pawl when the model was written, each with its script in ../found. They are counted and told, and end a run
# only with --strict. A rule leaves this list when pawl keeps it.
KNOWN = {
    # Its pages are kept apart now; a HEAD still shows the tag of a stored body of the same date.
    "user-by-date": "page-of-another-user-by-date.json",
    "only-if-cached": "only-if-cached-asks-the-origin.json",
    "stale-part": "stale-part-after-a-validated-part.json",
    "invalidated-resume": "download-goes-on-after-an-unsafe-request.json",
    "request-no-store-resume": "answer-to-no-store-is-kept.json",
    "range-416-first": "416-for-the-first-of-two-ranges.json",
    "head-of-broken": "head-of-an-answer-that-broke-before-its-body.json",
    "completed-by-length": "version-6-complete-by-its-length.json",
    "delete-busy": "second-delete-at-once-gets-503.json",
}


@dataclasses.dataclass
class Violation:
    rule: str
    text: str
    operation: int
    also: tuple = ()

    def __str__(self):
        section, sentence = RULES[self.rule]
        return f"[{self.rule}] {sentence} ({section}): {self.text}"


class Coverage:
    def __init__(self):
        self.chances, self.counts = collections.Counter(), collections.Counter()

    def chance(self, rule):
        self.chances[rule] += 1

    def count(self, what):
        self.counts[what] += 1
