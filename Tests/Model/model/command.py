"""What `Tests/Model/run` does."""

import asyncio
import pathlib
import time

from . import cacheplay, selftest, shrink, subject
from .cachegen import CacheHistory
from .cacheplay import CachePlay
from .rules import KNOWN, RULES, Coverage
from .uploadgen import UploadHistory
from .uploadplay import UploadPlay


def maker(sections, origin):
    return subject.PawlSubject(sections, origin)


PARTS = {"cache": (CacheHistory, CachePlay), "uploads": (UploadHistory, UploadPlay)}


async def main(options):
    subject.binary(options.pawl)
    if options.self_test:
        return await selftest.run(options)
    if options.shrink:
        return await shorter(options)
    if options.replay:
        return await replay(options.replay)
    coverage, failed = Coverage(), False
    parts = list(PARTS) if options.part == "all" else [options.part]
    protocols = ["h1", "h2"] if options.protocol == "both" else [options.protocol]
    for part in parts:
        for protocol in protocols:
            failed |= await play(options, part, protocol, coverage)
    tell(coverage)
    return 1 if failed else 0


async def play(options, part, protocol, coverage):
    """Plays a random history; tells and shrinks what the model does not allow."""
    history_of, play_of = PARTS[part]
    history, played, times, found, count, begun = history_of(options.seed), [], [], [], 0, time.monotonic()
    async with play_of(maker, coverage, protocol) as run:
        while count < options.operations and len(found) < options.go_on:
            batch = history.batch()
            played.append(batch)
            times.append(time.monotonic() - begun)
            count += len(batch)
            broken = await run.batch(batch)
            if count >= options.operations:
                broken = broken + await run.settle()
            for each in broken:
                known = "(known) " if each.rule in KNOWN else ""
                text = str(each)[:200] if known and not options.strict else each
                print(f"{known}{part} {protocol} seed {options.seed} operation {count}: {text}", flush=True)
                coverage.count("X " + each.rule)
                if each.rule not in options.allow and (options.strict or each.rule not in KNOWN):
                    found.append((each, len(played)))
    seconds = time.monotonic() - begun
    print(
        f"{part} {protocol}: {count} operations in {seconds:.1f} s ({count / seconds:.0f}/s), {len(found)} not allowed"
    )
    if not options.no_shrink:
        told = set()
        for violation, length in found:
            if violation.rule not in told:
                told.add(violation.rule)
                await shortened(options, part, protocol, violation, played[:length], times[:length])
    return bool(found)


async def once(part, protocol, batches, times=None, say=None, until=None):
    """Plays batches with a fresh pawl; the violations. Ends at the first one of the rule `until`."""
    broken, begun = [], time.monotonic()
    async with PARTS[part][1](maker, Coverage(), protocol) as run:
        for index, batch in enumerate(shrink.plain(batches)):
            if times and times[index] is not None:
                await asyncio.sleep(max(0, times[index] - times[0] - (time.monotonic() - begun)))
            found = await run.batch(batch)
            if index + 1 == len(batches):
                found = found + await run.settle()
            if say:
                say(batch, found)
            broken += found
            if until and any(each.rule == until for each in found):
                break
    return broken


async def shortened(options, part, protocol, violation, batches, times):
    resource = next(
        (each.get("r") for batch in batches[-1:] for each in batch if each.get("_") == violation.operation), None
    )

    rule = violation.rule

    async def breaks(tried, at):
        return any(each.rule == rule for each in await once(part, protocol, tried, until=rule))

    async def breaks_paced(tried, at):
        return any(each.rule == rule for each in await once(part, protocol, tried, at, until=rule))

    name = pathlib.Path(options.found) / f"{part}-{protocol}-{violation.rule}-{options.seed}.json"
    for paced, test in ((False, breaks), (True, breaks_paced)):
        shrinker = shrink.Shrinker(test, options.shrink_seconds)
        short = await shrinker.shrink(batches, times, resource)
        if short:
            left, at = [each for each, _ in short], [when for _, when in short]
            shrink.write(name, str(violation), part, protocol, left, at if paced else None)
            print(f"{violation.rule}: {sum(map(len, left))} operations left after {shrinker.trials} trials: {name}")
            return
    shrink.write(name, "(does not break again) " + str(violation), part, protocol, batches, times)
    print(f"{violation.rule}: playing it again does not break the rule; all of it: {name}")


async def shorter(options):
    """Goes on making a script short."""
    head, batches, times = shrink.read(options.shrink)
    rule = head["wrong"].partition("[")[2].partition("]")[0]
    if rule == "no-answer":
        cacheplay.LATE = 5

    async def breaks(tried, at):
        return any(
            each.rule == rule
            for each in await once(head["part"], head["protocol"], tried, at if head["paced"] else None, until=rule)
        )

    shrinker = shrink.Shrinker(breaks, options.shrink_seconds, options.times)
    items = list(zip(batches, times))
    items = await shrinker.simpler(await shrinker.single(await shrinker.fewer(items)))
    left, at = [each for each, _ in items], [when for _, when in items]
    shrink.write(options.shrink, head["wrong"], head["part"], head["protocol"], left, at if head["paced"] else None)
    print(f"{sum(map(len, left))} operations left after {shrinker.trials} trials")
    return 0


async def replay(path):
    head, batches, times = shrink.read(path)

    def say(batch, found):
        print("-- at once:" if len(batch) > 1 else "--")
        for each in batch:
            print({k: v for k, v in each.items() if k != "_"})
        for each in found:
            print(f"    {each}")

    found = await once(head["part"], head["protocol"], batches, times if head["paced"] else None, say)
    print(f"{len(found)} not allowed; first written for: {head['wrong'][:200]}")
    return 1 if found else 0


def tell(coverage):
    print("did: " + ", ".join(f"{count} {name}" for name, count in sorted(coverage.counts.items())))
    print("chances: " + ", ".join(f"{coverage.chances[name]} {name}" for name in RULES if coverage.chances[name]))
