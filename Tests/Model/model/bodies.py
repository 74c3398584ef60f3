"""Bodies that say of themselves what they are: each aligned block of 32 bytes names its place, its resource, the
version, the user and the number of its representation. From any piece it can be read whose bytes it holds."""

import dataclasses

BLOCK = 32
PLACES = [b"%08x" % place for place in range((4 << 20) // BLOCK)]


@dataclasses.dataclass(frozen=True)
class Representation:
    """One sequence of bytes. `resource` and `user` are small numbers; `number` is unique in a history."""

    number: int
    resource: int
    version: int
    user: int
    variant: str
    length: int

    @property
    def mark(self):
        text = f"|r{self.resource:02x}v{self.version:05x}u{self.user:02x}n{self.number:06x}...\n"
        return text.encode()

    def bytes(self, start=0, end=None):
        end = self.length if end is None else min(end, self.length)
        if start >= end:
            return b""
        first, last = start // BLOCK, (end + BLOCK - 1) // BLOCK
        mark = self.mark
        data = mark.join(PLACES[first:last]) + mark
        return data[start - first * BLOCK : end - first * BLOCK]

    def same(self, other):
        """Whether the other one, or None, is the same sequence of bytes."""
        if other is None or self.length != other.length:
            return False
        return self == other or (self.length < BLOCK and self.bytes() == other.bytes())

    def __str__(self):
        who = f", user {self.user}" if self.user else ""
        what = f", variant {self.variant}" if self.variant else ""
        return f"representation {self.number} (resource {self.resource}, version {self.version}{who}{what})"


class Library:
    """All representations of a history."""

    def __init__(self):
        self.known, self.numbers = {}, []

    def get(self, resource, version, user, variant, length):
        key = (resource, version, user, variant, length)
        if key not in self.known:
            made = Representation(len(self.numbers), resource, version, user, variant, length)
            self.known[key] = made
            self.numbers.append(made)
        return self.known[key]

    def whose(self, piece, start, among=()):
        """(representation, None), or (None, what is wrong) for bytes that stand at `start`. A piece without a whole
        block may be of any of `among`."""
        skip = -start % BLOCK
        if len(piece) < skip + BLOCK:
            for each in among:
                if each.bytes(start, start + len(piece)) == piece:
                    return each, None
            return None, f"{len(piece)} bytes at {start} are of no representation: {bytes(piece[:40])!r}"
        found = self.named(piece[skip : skip + BLOCK])
        if found is None:
            return None, f"no block at {start + skip}: {bytes(piece[skip : skip + BLOCK])!r}"
        right = found.bytes(start, start + len(piece))
        if right == piece:
            return found, None
        at = next((i for i, (a, b) in enumerate(zip(piece, right)) if a != b), len(right))
        block = (start + at) // BLOCK * BLOCK - start
        other = bytes(piece[max(0, block) : max(0, block) + BLOCK])
        return None, f"{found} up to {start + at} (it has {found.length} bytes), then {other!r}"

    def named(self, block):
        mark = bytes(block[8:])
        if len(mark) != 24 or mark[:2] != b"|r":
            return None
        try:
            number = int(mark[14:20], 16)
        except ValueError:
            return None
        found = self.numbers[number] if number < len(self.numbers) else None
        return found if found and found.mark == mark else None
