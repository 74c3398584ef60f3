"""Makes a history that the model does not allow short: drops batches and operations, then simplifies what is left, as
long as the same rule is broken."""

import json
import pathlib
import time

SECONDS = 120
NEEDED = "op r u m s _ d len send done at n parts right to count seconds down".split()


class Shrinker:
    """`breaks(batches, times)`: awaited, whether the rule is broken when they are played."""

    def __init__(self, breaks, seconds=SECONDS, times=1):
        """`times`: so often in a row the rule has to be broken, where it is not broken each time."""
        self.breaks, self.end, self.trials, self.times = breaks, time.monotonic() + seconds, 0, times

    async def holds(self, items):
        if time.monotonic() > self.end:
            return False
        if not items:
            return False
        self.trials += 1
        for _ in range(self.times):
            if not await self.breaks([batch for batch, _ in items], [at for _, at in items]):
                return False
        return True

    async def shrink(self, batches, times, resource):
        """The shortest history that was found, or None where playing it again does not break the rule."""
        items = list(zip(batches, times))
        found = None
        for candidate in self.candidates(items, resource):
            if await self.holds(candidate) or (len(candidate) < 300 and await self.holds(candidate)):
                found = candidate
                break
        if found is None:
            return None
        found = await self.fewer(found)
        found = await self.single(found)
        return await self.simpler(found)

    def candidates(self, items, resource):
        """First what concerns the resource, the last of it before all of it."""
        mine = []
        for batch, at in items:
            kept = [each for each in batch if each.get("r", resource) == resource and each["op"] not in ("pause",)]
            if kept:
                mine.append((kept, at))
        sets = [each for each in mine if each[0][0]["op"] == "set"]
        for size in (20, 60, 200, 600):
            tail = mine[-size:]
            yield [each for each in sets if each not in tail] + tail
        for size in (100, 400, 2000):
            yield items[-size:]
        yield mine
        yield items

    async def fewer(self, items):
        parts = 2
        while len(items) > 1:
            size = max(1, len(items) // parts)
            for at in range(0, len(items), size):
                left = items[:at] + items[at + size :]
                if await self.holds(left):
                    items, parts = left, max(2, parts - 1)
                    break
            else:
                if size == 1:
                    break
                parts = min(len(items), parts * 2)
        return items

    async def single(self, items):
        """Without single operations of batches."""
        at = 0
        while at < len(items):
            batch, when = items[at]
            for each in list(batch):
                left = [other for other in batch if other is not each]
                if left and await self.holds(items[:at] + [(left, when)] + items[at + 1 :]):
                    batch = left
                    items = items[:at] + [(left, when)] + items[at + 1 :]
            at += 1
        return items

    async def simpler(self, items):
        """Without single fields of operations."""
        for at in range(len(items)):
            batch, when = items[at]
            for index in range(len(batch)):
                for less in simpler_than(batch[index]):
                    tried = batch[:index] + [less] + batch[index + 1 :]
                    if await self.holds(items[:at] + [(tried, when)] + items[at + 1 :]):
                        batch = tried
                        items = items[:at] + [(tried, when)] + items[at + 1 :]
        return items


def simpler_than(operation):
    """One field less each; keeps following what has been accepted by looking at the names only."""
    for key in [key for key in operation if key not in NEEDED]:
        yield {k: v for k, v in operation.items() if k != key}
    if operation.get("u"):
        yield {**operation, "u": 0}
    for key in list(operation["s"] if operation["op"] == "set" else ()):
        yield {**operation, "s": {k: v for k, v in operation["s"].items() if k != key}}


def plain(batches):
    return [[{k: v for k, v in each.items() if k != "_"} for each in batch] for batch in batches]


def write(path, first, part, protocol, batches, times=None):
    """A script: a line that says what was wrong, then the operations, a batch on each line."""
    lines = [json.dumps({"wrong": first, "part": part, "protocol": protocol, "paced": bool(times)})]
    for index, batch in enumerate(plain(batches)):
        lines.append(json.dumps({"at": round(times[index], 3), "do": batch} if times else {"do": batch}))
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def read(path):
    head, *lines = pathlib.Path(path).read_text().splitlines()
    batches = [json.loads(line) for line in lines if line]
    return json.loads(head), [each["do"] for each in batches], [each.get("at") for each in batches]
