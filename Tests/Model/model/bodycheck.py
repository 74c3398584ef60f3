"""What a 200 or 206 carries: whose bytes they are, whether they are all there, and what their tag has named before."""

from . import freshness, ranges
from .bodies import BLOCK
from .cacheorigin import opened


class BodyCheck:
    def __init__(self, library, coverage, lied_about):
        self.library, self.coverage, self.lied_about = library, coverage, lied_about
        self.tags = {}  # (resource, strong tag): (coding, representation)
        self.coded = {}  # (resource, strong tag): bytes of a coded body, as far as they are known from its start

    def check(self, operation, answer, told):
        """Yields (rule, text)."""
        coding = answer.get("Content-Encoding") or ""
        accepted = operation.get("Accept-Encoding") or ""
        self.coverage.chance("coding")
        if coding and coding not in accepted:
            yield "coding", repr(answer)
            return
        if operation.method == "HEAD":
            yield from self.head(operation, answer, told, coding)
            return
        if answer.status == 206:
            yield from self.partial(operation, answer, told, coding)
        elif coding:
            yield from self.opened(operation, answer, told, coding)
        else:
            yield from self.piece(operation, answer, told, answer.body, 0, None)
            yield from self.complete(answer, told)

    def head(self, operation, answer, told, coding):
        expected = told.representation.length if told.representation else None
        if answer.length is not None and expected is not None and not coding and answer.status == 200:
            self.coverage.chance("length")
            if answer.length != expected:
                yield "length", f"HEAD says {answer.length}, {told.representation} has {expected}"
        if told.representation and not coding:
            yield from self.tag(operation, answer, "", told.representation)

    def piece(self, operation, answer, told, body, start, total):
        """Bytes without a coding that stand at `start`."""
        if not body:
            return
        self.coverage.chance("splice")
        named = self.tags.get((operation.resource, answer.get("ETag")))
        if named and not answer.complete and len(body) < BLOCK and named[1].bytes(start, start + len(body)) == body:
            return  # so few bytes that they are of the one and of the other
        near = [each for each in self.library.numbers[-60:] if each.resource == operation.resource]
        found, wrong = self.library.whose(body, start, ([told.representation] if told.representation else []) + near)
        if found is None:
            yield "splice", f"{wrong}; {answer!r}"
            return
        self.coverage.chance("resource")
        if found.resource != operation.resource:
            yield "resource", f"bytes of {found}; {answer!r}"
            return
        named = answer.get("X-Rep")
        self.coverage.chance("head-of-another")
        if named and not found.same(self.library.numbers[int(named)]):
            yield (
                self.rule("head-of-another", found, self.library.numbers[int(named)], told),
                f"X-Rep {named}, bytes of {found}; {answer!r}",
            )
        if told.representation and not found.same(told.representation):
            rule = "merged-wrong" if told.status == 304 else "head-of-another"
            yield (
                self.rule(rule, found, told.representation, told),
                f"answer {told.number} has {told.representation}, the bytes are of {found}; {answer!r}",
            )
        if told.status == 304:
            self.coverage.chance("merged-wrong")
        if total is not None and total != found.length and found not in self.lied_about:
            yield "range-other", f"Content-Range says {total}, {found} has {found.length}"
        yield from self.tag(operation, answer, "", found, body, start)

    def rule(self, rule, one, other, told=None):
        """The rule for two representations that were taken for each other: one that is known, or `rule`."""
        if told is not None and told.broken and not told.get("ETag") and not told.get("Last-Modified"):
            if one.bytes(0, told.span_sent) == other.bytes(0, told.span_sent):
                return "head-of-broken"
        alike = (one.resource, one.version, one.variant) == (other.resource, other.version, other.variant)
        return "user-by-date" if alike and one.user != other.user else rule

    def complete(self, answer, told):
        expected = told.representation.length if told.representation else None
        if expected is None or told.representation in self.lied_about:
            return
        if answer.length is not None:
            self.coverage.chance("length")
            if answer.length != expected:
                yield "length", f"{answer.length} announced, {told.representation} has {expected}; {answer!r}"
                return
        if answer.complete:
            self.coverage.chance("short")
            if len(answer.body) != expected:
                yield "short", f"{len(answer.body)} of {expected} bytes; {answer!r}"

    def tag(self, operation, answer, coding, representation, piece=None, start=0):
        """`piece`: the bytes that came; a part that is the same in both is right under either tag."""
        tag = answer.get("ETag") or ""
        if not tag.startswith('"'):
            return
        key = (operation.resource, tag)
        self.coverage.chance("tag-two-bodies")
        known = self.tags.setdefault(key, (coding, representation))
        if piece is not None and not known[0] and known[1].bytes(start, start + len(piece)) == piece:
            return
        if known[0] != coding or not known[1].same(representation):
            yield (
                self.rule("tag-two-bodies", known[1], representation),
                f"{tag} named {known[0]} {known[1]} before, now {coding} {representation}",
            )

    def opened(self, operation, answer, told, coding):
        """A whole body that is coded."""
        plain, whole = opened(answer.body)
        self.coverage.chance("coded")
        if plain is None or (answer.complete and not whole):
            yield "coded", repr(answer)
            return
        if plain and told.representation:
            if told.representation.bytes(0, len(plain)) != plain:
                yield "splice", f"decoded, it is not of {told.representation}; {answer!r}"
            elif answer.complete and len(plain) != told.representation.length:
                yield "short", f"decoded {len(plain)} of {told.representation.length}; {answer!r}"
            yield from self.tag(operation, answer, coding, told.representation)
        yield from self.same_coded(operation, answer, answer.body, 0)

    def same_coded(self, operation, answer, body, start):
        key = (operation.resource, answer.get("ETag"))
        if not (key[1] or "").startswith('"'):
            return
        known = self.coded.get(key)
        if known is not None:
            self.coverage.chance("tag-two-bodies")
            common = known[start : start + len(body)]
            if common != body[: len(common)]:
                yield "tag-two-bodies", f"{key[1]}: another coded body; {answer!r}"
        if start == 0 and (known is None or len(body) > len(known)):
            self.coded[key] = body

    def partial(self, operation, answer, told, coding):
        specs = ranges.asked(operation.get("Range"))
        self.coverage.chance("range-unasked")
        if specs is None:
            yield "range-unasked", repr(answer)
            return
        yield from self.condition(operation, answer, told, coding)
        for name in ("ETag", "Date", "Cache-Control", "Vary", "Expires"):
            if told.get(name) and answer.get(name) is None and not operation.get("If-Range"):
                self.coverage.chance("fields-206")
                yield "fields-206", f"{name} is missing; {answer!r}"
        self.coverage.chance("fields-206")
        kind = answer.get("Content-Type") or ""
        if kind.startswith("multipart/byteranges"):
            yield from self.multipart(operation, answer, told, specs, kind)
            return
        place = ranges.content_range(answer.get("Content-Range"))
        if place is None:
            yield "range-other", repr(answer)
            return
        start, end, total = place
        self.coverage.chance("range-other")
        if told.lied:
            pass  # what the origin says of itself is passed on
        elif total is not None and (start, end) not in spans(ranges.resolved(specs, total)):
            yield "range-other", f"asked {operation.get('Range')}: {answer!r}"
        if (
            answer.length is not None
            and answer.length != end - start
            or answer.complete
            and len(answer.body) != end - start
        ):
            yield "length", f"Content-Range has {end - start} bytes: {answer!r}"
        if coding:
            yield from self.same_coded(operation, answer, answer.body, start)
        else:
            yield from self.piece(operation, answer, told, answer.body, start, total)

    def condition(self, operation, answer, told, coding):
        """If-Range of a part (RFC 9110 13.1.5): a strong tag of these bytes, or exactly their date."""
        condition = operation.get("If-Range")
        if condition is None or told.lied:
            return
        self.coverage.chance("if-range")
        if condition.startswith("W/"):
            yield "if-range", f"weak {condition}: {answer!r}"
        elif condition.startswith('"'):
            known = self.tags.get((operation.resource, condition))
            if condition != answer.get("ETag") and (
                known is None or known[0] != coding or not known[1].same(told.representation)
            ):
                yield "if-range", f"{condition} is {known and known[1]}: {answer!r}"
        elif told.get("Last-Modified") is None or freshness.date(condition) != freshness.date(
            told.get("Last-Modified")
        ):
            yield "if-range", f"{condition}: {answer!r}"

    def multipart(self, operation, answer, told, specs, kind):
        found = ranges.parts(answer.body, kind)
        self.coverage.chance("multipart")
        if found is None:
            yield "multipart", repr(answer)
            return
        for start, end, total, data in found:
            if total is not None and not any(a <= start and end <= b for a, b in spans(ranges.resolved(specs, total))):
                yield "multipart", f"part {start}-{end - 1} for {operation.get('Range')}: {answer!r}"
            yield from self.piece(operation, answer, told, data, start, total)
        if answer.complete and found:
            total = found[0][2]
            wanted = ranges.resolved(specs, total)
            if any(not any(s <= a and b <= e for s, e, _, _ in found) for a, b in wanted):
                yield "multipart", f"parts {[(s, e) for s, e, _, _ in found]} for {operation.get('Range')}"


def spans(wanted):
    """Ranges that touch, or lie so near that a server may send them as one (RFC 9110 15.3.7.2)."""
    joined = []
    for start, end in sorted(wanted):
        if joined and start <= joined[-1][1] + 200:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
