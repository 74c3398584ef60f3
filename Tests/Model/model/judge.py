"""Judges the answers of downloads: takes what a client got and what the origin told, and says which rules it breaks."""

import email.utils
import os
import time

from . import freshness, ranges, reuse
from .bodycheck import BodyCheck
from .rules import Violation

CONDITIONS = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since")
TRACE = os.environ.get("MODEL_TRACE")  # the number of a resource whose requests are printed
RECENT = 8  # answers of a resource that are looked at for chances


class Judge:
    def __init__(self, origin, coverage):
        self.origin, self.coverage = origin, coverage
        self.operations, self.unsafe, self.told_of = {}, {}, {}
        self.disturbed = []  # (start, end) of restarts and reloads
        self.bodies = BodyCheck(origin.library, coverage, origin.lied_about)
        self.violations, self.seen_told = [], 0
        self.recent, self.running = {}, []

    # -- what happens --------------------------------------------------------------------------------------------
    def started(self, operation):
        self.operations[operation.number] = operation
        self.running = [each for each in self.running if each.finished is None] + [operation]

    def note_told(self):
        """Sorts what the origin has told since the last time."""
        told = self.origin.told
        while self.seen_told < len(told):
            each = told[self.seen_told]
            self.seen_told += 1
            if each.operation is not None:
                self.told_of.setdefault(each.operation, []).append(each)
            if each.method in ("GET", "POST"):
                self.recent.setdefault(each.resource, []).append(each)

    def unsafe_done(self, operation, answer):
        """An unsafe request whose answer has reached its client."""
        self.note_told()
        for told in self.told_of.get(operation.number, ()):
            if answer.complete and 200 <= told.status < 400 and answer.status == told.status:
                self.unsafe.setdefault(operation.resource, []).append((told.time, answer.finished))

    def say(self, rule, text, operation, also=()):
        asked = "; ".join(f"{n}: {v}" for n, v in operation.fields)
        text = f"{text} <- {operation.method} resource {operation.resource} [{asked}]"
        self.violations.append(Violation(rule, text, operation.number, tuple(also)))

    def undisturbed(self, operation, answer):
        return not any(a <= answer.finished and operation.started <= b for a, b in self.disturbed)

    # -- judging -------------------------------------------------------------------------------------------------
    def judge(self, operation, answer):
        self.note_told()
        operation.finished = answer.finished
        if TRACE == str(operation.resource):
            own = [
                (t.number, t.status, f"{t.time - operation.started:.3f}")
                for t in self.told_of.get(operation.number, ())
            ]
            span = f"{operation.started % 1000:.3f} to {answer.finished % 1000:.3f}"
            print(f"{span} {operation.method} {operation.fields} origin {own} -> {answer!r}")
        own = self.told_of.get(operation.number, [])
        told = self.source(answer)
        self.chances(operation, own)
        self.coverage.chance("malformed")
        self.coverage.chance("no-answer")
        if answer.ended.startswith("malformed"):
            return self.say("malformed", answer.ended, operation)
        if answer.ended == "late":
            lied = any(each.lied for each in self.recent.get(operation.resource, [])[-10:])
            if self.undisturbed(operation, answer) and not lied:
                unknown = any(
                    each.broken and each.get("Content-Length") is None
                    for each in self.recent.get(operation.resource, [])[-10:]
                )
                rule = "range-waits" if operation.get("Range") and unknown else "no-answer"
                self.say(rule, f"after {time.time() - operation.started:.1f} s", operation)
            return
        self.only_if_cached(operation, own)
        if not answer.status:
            if answer.ended != "cut" and self.undisturbed(operation, answer) and self.well(operation):
                self.say("needless-error", f"the connection ended: {answer.ended}", operation)
            return
        if told is None:
            return self.made_by_proxy(operation, answer, own)
        first = self.operations.get(told.operation)
        is_own = told in own
        if answer.status in (200, 206) and any(each.status == 304 for each in own):
            self.coverage.chance("merged")
        if (
            not is_own
            and first is not None
            and answer.status in (200, 206, 304, 416)
            or told.method not in ("GET", "HEAD")
        ):
            self.reused(operation, answer, told, first, own)
        if operation.method not in ("GET", "HEAD"):
            return
        self.status(operation, answer, told, is_own, own)

    def source(self, answer):
        text = answer.get("X-Answer")
        return self.origin.told[int(text)] if text and text.isdigit() and int(text) < len(self.origin.told) else None

    def chances(self, operation, own):
        """Counts the rules that alone forbid one of the last answers of the resource: a proxy could break them here."""
        if operation.method not in ("GET", "HEAD"):
            return
        for told in self.recent.get(operation.resource, ())[-RECENT:]:
            first = self.operations.get(told.operation)
            if told.operation == operation.number or told.status != 200 or first is None or told.ended is None:
                continue
            if told.time > operation.started:
                continue
            failed = self.failure(own)
            found = reuse.forbidden(told, first, operation, self.unsafe.get(operation.resource, ()), failed)
            if len(found) == 1:
                resumed = found[0] == "invalidated" and self.named(operation, told)
                self.coverage.chance("invalidated-resume" if resumed else found[0])
            elif not found:
                self.coverage.chance("may-be-a-hit")

    def only_if_cached(self, operation, own):
        if "only-if-cached" not in freshness.directives(operation.get("Cache-Control")):
            return
        self.coverage.chance("only-if-cached")
        if own:
            self.say("only-if-cached", f"the origin was asked: answer {own[0].number}", operation)

    def well(self, operation):
        """Whether nothing at the origin explains an error or a cut."""
        origin, number = self.origin, operation.resource
        if origin.down or origin.states[number].status != 200 or origin.states[number].lie:
            return False
        if origin.changed[number] > operation.started - 0.2:
            return False
        for field in ("If-Range", "If-Match"):
            named = self.bodies.tags.get((number, operation.get(field)))
            own = self.told_of.get(operation.number, ())
            if named and any(each.representation != named[1] for each in own):
                return False  # the bytes are compared with those that it names, and the body may end where they differ
        recent = [each for each in origin.told[-200:] if each.resource == number and each.time > operation.started - 3]
        return not any(each.broken or each.lied or not each.status for each in recent)

    def made_by_proxy(self, operation, answer, own):
        asked = freshness.directives(operation.get("Cache-Control"))
        if answer.status == 504 and "only-if-cached" in asked:
            return
        if answer.status == 416:
            return self.unsatisfiable(operation, answer)
        if answer.status == 412 and not (operation.get("If-Match") or operation.get("If-Unmodified-Since")):
            return self.say("412", repr(answer), operation)
        if operation.method == "GET":
            self.coverage.chance("needless-error")
        if answer.status >= 500 and self.well(operation) and self.undisturbed(operation, answer):
            self.say("needless-error", repr(answer), operation)

    def unsatisfiable(self, operation, answer):
        self.coverage.chance("range-416")
        specs = ranges.asked(operation.get("Range"))
        total = (answer.get("Content-Range") or "").removeprefix("bytes */")
        if specs is None or not total.isdigit() or ranges.resolved(specs, int(total)):
            several = specs is not None and len(specs) > 1 and self.told_of.get(operation.number)
            self.say("range-416-first" if several else "range-416", repr(answer), operation)

    # -- an answer of another request ----------------------------------------------------------------------------
    def reused(self, operation, answer, told, first, own):
        proof = [each for each in own if each.status in (200, 206, 304) and each.representation == told.representation]
        confirmed = [each for each in proof if each.status == 304]
        if confirmed:
            may = not reuse.forbidden(told, first, operation, self.unsafe.get(operation.resource, ()))
            if told.time < confirmed[-1].time and answer.status in (200, 206) and not may:
                self.say(
                    "merged", f"{answer!r} is answer {told.number}; 304 {confirmed[-1].number} confirmed it", operation
                )
        if proof:
            return
        failed = self.failure(own)
        found = reuse.forbidden(told, first, operation, self.unsafe.get(operation.resource, ()), failed)
        named, others = self.named(operation, told), self.others(told) if found else ()
        reading = any(each.resource == operation.resource and each.finished is None for each in self.running)
        found = reuse.excused(found, told, first, operation, named, others, reading)
        if found and operation.unsure is not None:
            again = reuse.Operation(**{**vars(operation), "settings": operation.unsure, "unsure": None})
            found = reuse.forbidden(told, first, again, self.unsafe.get(operation.resource, ()), failed)
            found = reuse.excused(found, told, first, again, named, others, reading)
        if found in (["stale"], ["stale-error"]) and self.confirmed_meanwhile(operation, answer, told):
            return
        if found:
            since = f"{operation.started - told.time:.3f} s before"
            text = f"{answer!r} came from answer {told.number} ({since}, to operation {told.operation}: {first.fields})"
            self.say(found[0], text, operation, found[1:])
        elif told.ended is not None and told.time < operation.started and not (own or told.broken):
            self.age(operation, answer, told)

    def confirmed_meanwhile(self, operation, answer, told):
        """Whether the origin confirmed the body to another request, while this one was waiting."""
        return any(
            each.representation == told.representation and each.status in (200, 206, 304)
            for each in self.recent.get(told.resource, ())[-20:]
            if operation.started - 0.05 <= each.time <= answer.finished
        )

    def others(self, told):
        """The operations that the origin answered for the resource, lately."""
        same = self.recent.get(told.resource, ())[-150:]
        return [self.operations[each.operation] for each in same if each.operation in self.operations]

    def failure(self, own):
        """How the origin failed this request: `silent` (no answer), `error`, or False."""
        if any(each.status == 0 for each in own) or (self.origin.down and own):
            return "silent"
        return "error" if any(each.status in (500, 502, 503, 504) for each in own) else False

    def named(self, operation, told):
        for field in ("If-Range", "If-Match"):
            text = operation.get(field) or ""
            if text.startswith('"pawl-') and operation.get("Range"):
                found = self.bodies.tags.get((operation.resource, text))
                if found and found[1].same(told.representation):
                    return True
        return False

    def age(self, operation, answer, told):
        self.coverage.chance("age")
        text = answer.get("Age")
        low, high = freshness.youngest(told, operation.started), freshness.oldest(told, answer.finished)
        if text is None or not text.isdigit() or not int(low) - 1 <= int(text) <= high + 1:
            self.say("age", f"Age: {text}, expected {low:.1f} to {high:.1f}; answer {told.number}", operation)

    # -- what the answer is --------------------------------------------------------------------------------------
    def status(self, operation, answer, told, is_own, own):
        if not any(operation.get(name) for name in CONDITIONS):
            self.coverage.chance("304-unasked")
            self.coverage.chance("412")
            if answer.status == 412:
                return self.say("412", repr(answer), operation)
        if answer.status == 304:
            return self.not_modified(operation, answer, told)
        if answer.status == 416:
            return self.unsatisfiable(operation, answer)
        if answer.status not in (200, 206) or told.status not in (200, 206, 304):
            return
        hit = "; hit" in (answer.get("Cache-Status") or "")
        if hit and operation.settings["etag"] == "auto" and not answer.get("Content-Encoding"):
            self.coverage.chance("strong-tag")
            if not (answer.get("ETag") or "").startswith('"'):
                self.say("strong-tag", repr(answer), operation)
        if not is_own and not own:
            self.preconditions(operation, answer, told)
        if "age" in (answer.get("X-Lost") or ""):
            return
        for rule, text in self.bodies.check(operation, answer, told):
            self.say(rule, text, operation)
        self.whole(operation, answer)

    def not_modified(self, operation, answer, told):
        none, since = operation.get("If-None-Match"), operation.get("If-Modified-Since")
        self.coverage.chance("304-wrong")
        if none is None and since is None:
            return self.say("304-unasked", repr(answer), operation)
        if none is not None:
            tag = (answer.get("ETag") or "").removeprefix("W/")
            if none.strip() != "*" and tag not in [each.strip().removeprefix("W/") for each in none.split(",")]:
                if not self.alias(operation, none, told):
                    self.say("304-wrong", f"If-None-Match: {none}: {answer!r}", operation)
            elif none.strip() != "*" and tag:
                found = self.bodies.tags.get((operation.resource, tag))
                if found and told.representation and not found[1].same(told.representation):
                    rule = self.bodies.rule("304-wrong", found[1], told.representation)
                    self.say(rule, f"{tag} is {found[1]}, the answer is {told.representation}", operation)
        elif since is not None and told.get("Last-Modified"):
            if freshness.date(told.get("Last-Modified")) > freshness.date(since):
                self.say("304-wrong", f"If-Modified-Since: {since}: {answer!r}", operation)

    def alias(self, operation, none, told):
        """Whether one of the tags is another name of the same bytes."""
        found = [self.bodies.tags.get((operation.resource, each.strip())) for each in none.split(",")]
        if told.representation and f'"t{told.representation.number}"' in none:
            return True  # the origin's own tag, strong or weak, from when it had one
        return any(each and each[1].same(told.representation) for each in found)

    def preconditions(self, operation, answer, told):
        """Conditions of a request that was answered without the origin."""
        tag = answer.get("ETag") or ""
        match, none = operation.get("If-Match"), operation.get("If-None-Match")
        if match is not None:
            self.coverage.chance("if-match")
            if match != "*" and tag not in [each.strip() for each in match.split(",")]:
                if not self.alias(operation, match, told):
                    self.say("if-match", f"If-Match: {match}: {answer!r}", operation)
        if none is not None and not operation.get("Range"):
            self.coverage.chance("304-missed")
            bare = [each.strip().removeprefix("W/") for each in none.split(",")]
            if (none == "*" or tag.removeprefix("W/") in bare) and match is None:
                self.say("304-missed", f"If-None-Match: {none}: {answer!r}", operation)

    def whole(self, operation, answer):
        """Bodies that ended early: only where the origin or the history explains it."""
        if operation.method != "GET":
            return
        recent = [each for each in self.origin.told[-200:] if each.resource == operation.resource]
        recent = [each for each in recent if each.time > operation.started - 3]
        broken = any(each.broken for each in recent)
        quiet = self.origin.changed[operation.resource] < operation.started - 0.2 or (
            self.origin.states[operation.resource].breaks == () and broken
        )
        kept = "stored" in (answer.get("Cache-Status") or "") or "; hit" in (answer.get("Cache-Status") or "")
        if not kept:
            return
        if broken and not any(each.lied or each.status not in (200, 206, 304) for each in recent):
            versions = {each.representation.version for each in recent if each.representation}
            if len(versions) == 1 and self.undisturbed(operation, answer):
                self.coverage.chance("not-resumed")
                if answer.ended in ("fin", "rst"):
                    self.say("not-resumed", repr(answer), operation)
        elif not broken and self.well(operation) and self.undisturbed(operation, answer) and quiet:
            self.coverage.chance("needless-cut")
            if answer.ended in ("fin", "rst"):
                self.say("needless-cut", repr(answer), operation)


def http_date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)
