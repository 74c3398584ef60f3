"""Deterministic bodies that can be produced at any offset and never have to be held.

A body is a row of blocks of one MiB. Block k begins with sixteen bytes derived from the key and k, and goes on
with a slice of one random pool that starts where the same derivation says: blocks of one body, and the
same block of two bodies, differ everywhere, and a splice at a wrong offset changes the digest.
"""

import bisect
import functools
import hashlib
import random

BLOCK = 1 << 20
_POOL = memoryview(random.Random(20260101).randbytes(2 * BLOCK))
_ZEROS = memoryview(bytes(BLOCK))


class Content:
    """`size` bytes named by `key`; `changes` maps offsets to bytes xor'ed in."""

    def __init__(self, key, size, changes=None):
        self.key, self.size = str(key), size
        self.changes = dict(changes or {})
        self._changed = sorted(self.changes)
        self._blocks = {}

    def changed(self, *offsets, by=0x5A):
        """The same body with the bytes at these offsets changed."""
        changes = dict(self.changes)
        for offset in offsets:
            changes[offset] = changes.get(offset, 0) ^ by
        return Content(self.key, self.size, changes)

    def _block(self, number):
        block = self._blocks.get(number)
        if block is None:
            digest = hashlib.sha256(b"%s|%d" % (self.key.encode(), number)).digest()
            block = (digest[:16], int.from_bytes(digest[16:20], "big") % BLOCK)
            if len(self._blocks) > 4096:
                self._blocks.clear()
            self._blocks[number] = block
        return block

    def _plain(self, start, end):
        while start < end:
            number, inside = divmod(start, BLOCK)
            stamp, turn = self._block(number)
            stop = min(end, (number + 1) * BLOCK)
            if inside < 16:
                take = min(16, inside + stop - start)
                yield stamp[inside:take]
                start += take - inside
                inside = take
            if start < stop:
                yield _POOL[turn + inside : turn + inside + stop - start]
                start = stop

    def pieces(self, start=0, end=None):
        """The bytes [start, end) as a row of buffers."""
        end = self.size if end is None else min(end, self.size)
        if not self._changed:
            yield from self._plain(start, end)
            return
        at = bisect.bisect_left(self._changed, start)
        while start < end:
            stop = self._changed[at] if at < len(self._changed) and self._changed[at] < end else end
            yield from self._plain(start, stop)
            if stop < end:
                yield bytes([next(iter(self._plain(stop, stop + 1)))[0] ^ self.changes[stop]])
                stop += 1
                at += 1
            start = stop

    def read(self, start=0, end=None):
        return b"".join(self.pieces(start, end))

    @functools.lru_cache(maxsize=64)
    def sha256(self, start=0, end=None):
        digest = hashlib.sha256()
        for piece in self.pieces(start, end):
            digest.update(piece)
        return digest.hexdigest()


class Holes(Content):
    """`size` zero bytes, as a file of holes is."""

    def __init__(self, size):
        super().__init__("holes", size)

    def _plain(self, start, end):
        while start < end:
            count = min(BLOCK, end - start)
            yield _ZEROS[:count]
            start += count


class Comparer:
    """Says whether bytes that arrive piece by piece are `content` from `start` on, and where they first differ."""

    def __init__(self, content, start=0):
        self.content, self.start, self.position, self.differs_at = content, start, start, None

    def __call__(self, data):
        if self.differs_at is None:
            expected = self.content.read(self.position, self.position + len(data))
            if expected != data:
                self.differs_at = self.position + next(
                    (i for i, (a, b) in enumerate(zip(expected, data)) if a != b), len(expected)
                )
        self.position += len(data)

    @property
    def same(self):
        return self.differs_at is None
