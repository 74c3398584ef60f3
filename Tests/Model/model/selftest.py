"""Finds mistakes that are planted in the reference, one at a time, and none in the reference as it is."""

import time

from .cachegen import CacheHistory
from .cacheplay import CachePlay
from .reference import Reference
from .rules import Coverage
from .uploadgen import UploadHistory
from .uploadplay import UploadPlay

CACHE = {
    "private": ("private",),
    "authorization": ("authorization",),
    "no-store": ("no-store",),
    "request-no-store": ("request-no-store",),
    "vary": ("vary",),
    "set-cookie": ("set-cookie",),
    "no-cache": ("no-cache",),
    "invalidation": ("invalidated", "invalidated-resume"),
    "stale": ("stale",),
    "merge": ("merged", "age", "stale", "merged-wrong"),
    "age": ("age",),
    "splice": ("splice", "head-of-another"),
    "short": ("short", "length"),
    "range": ("splice", "range-other"),
    "if-range": ("if-range",),
    "condition": ("304-wrong",),
    "tag": ("strong-tag",),
    "host": ("resource",),
    "query": ("resource",),
    "only-if-cached": ("only-if-cached",),
}
UPLOADS = {
    "lost-offset": ("offset-lost",),
    "twice": ("delivery-twice",),
    "bytes": ("delivery-bytes",),
    "conflict": ("offset-conflict", "delivery-bytes"),
    "foreign": ("upload-foreign",),
    "answer": ("answer-other",),
    "answer-foreign": ("answer-foreign",),
    "delete": ("deleted",),
    "checksum": ("checksum",),
    "takeover": ("takeover", "offset-lost", "delivery-bytes"),
    "unasked": ("delivery-unasked", "completed-by-length"),
    "beyond": ("offset-beyond",),
    "early": ("complete-early",),
    "join": ("delivery-bytes",),
    "fields": ("delivery-fields",),
    "repeat": ("answer-repeat",),
}
LEAVE = {"needless-error", "not-resumed", "needless-cut"}  # what only pawl promises


async def run(options):
    failed, count = False, 0
    for history, play, planted in ((CacheHistory, CachePlay, CACHE), (UploadHistory, UploadPlay, UPLOADS)):
        for name, rules in [("", ())] + list(planted.items()):
            begun = time.monotonic()
            operations, found = await one(history(options.seed), play, name, rules, 1500 if not name else 20000)
            right = not found if not name else bool(found)
            told = f"{found[0].rule} after {operations}" if found else f"nothing in {operations}"
            mark, seconds = "ok    " if right else "FAILED", time.monotonic() - begun
            print(f"{mark} {name or 'no mistake'}: {told} operations, {seconds:.1f} s", flush=True)
            if found and not name:
                print(f"    {found[0]}")
            failed |= not right
            count += bool(name)
    print(f"{count} mistakes planted")
    return 1 if failed else 0


async def one(history, play, name, rules, limit):
    """(operations, violations): of a mistake those that are of its rules, else all."""
    count = 0
    planted = [name] if name else []
    async with play(lambda sections, origin: Reference(sections, origin, planted), Coverage()) as player:
        while count < limit:
            batch = history.batch()
            count += len(batch)
            found = await player.batch(batch)
            if count >= limit:
                found = found + await player.settle()
            found = (
                [each for each in found if each.rule in rules] if name else [e for e in found if e.rule not in LEAVE]
            )
            if found:
                return count, found
    return count, []
