"""What the rows about uploads share: pawl on a port that stays, kills along the way, and the judgement of what the
origin saw."""

import collections
import threading
import time

from harness.process import free_port
from harness.uploadload import Listing

UNDECIDED = ("open", "complete", "forwarding", "sent")


def serve(
    scenario,
    origin,
    name="pawl",
    start=True,
    spool=None,
    site=None,
    port=None,
    prefix=(),
    upstream=None,
    cache=None,
    extra=None,
    **pawl,
):
    """A pawl for uploads whose port outlives it; nothing but the disk limits what is open at a time."""
    port = port or free_port()
    pawl = scenario.bench.pawl(
        origin,
        name,
        start,
        prefix=prefix,
        pawl={"log-level": "info", "access-log": "off", **pawl},
        listen={"address": f"127.0.0.1:{port}"},
        upstream=upstream,
        cache=cache,
        site={"tus-wait": "20s", **(site or {})},
        extra={
            "spool:default": {
                "path": "spool",
                "max-size": "100G",
                "max-uploads-per-client": "100000",
                "max-share-per-client": "100%",
                **(spool or {}),
            },
            **(extra or {}),
        },
    )
    pawl.where = f"http://127.0.0.1:{port}"
    return pawl


class Watch:
    """Asks `pawl uploads list` again and again for the uploads whose outcome is unknown, so that no client asks for
    ever."""

    def __init__(self, pawl, pause=1.5):
        self.pawl, self.pause, self.listing, self.failures = pawl, pause, None, []
        self.stopping, self.asked = threading.Event(), 0
        self.thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def _loop(self):
        while not self.stopping.wait(self.pause):
            try:
                self.listing = Listing(self.pawl)
                self.asked += 1
            except Exception as error:
                self.failures.append(str(error))

    def over(self, upload):
        return self.listing is not None and self.listing.phase(upload) == "unknown"


class Kills:
    """kill -9 and a start at once, `count` times, spread over the progress that `done()` tells as a fraction."""

    def __init__(self, pawl, count, done, rng):
        self.pawl, self.count, self.done, self.rng = pawl, count, done, rng
        self.times, self.starts, self.failure = [], [], None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def _loop(self):
        for number in range(self.count):
            while self.done() < (number + 0.5) / (self.count + 1) and not self.stopping.is_set():
                time.sleep(0.02)
            self.stopping.wait(self.rng.uniform(0, 0.4))
            if self.stopping.is_set():
                return
            try:
                self.kill()
            except Exception as error:
                self.failure = f"pawl did not come back after kill {number + 1}: {error}"
                return

    def kill(self):
        self.times.append(time.monotonic())
        self.pawl.kill()
        begun = time.monotonic()
        self.pawl.start()
        self.starts.append(time.monotonic() - begun)


def settle(pawl, uploads, seconds=60):
    """Waits until pawl has decided about all of them; what it lists then."""
    end = time.monotonic() + seconds
    while True:
        found = Listing(pawl)
        if time.monotonic() > end or not any(found.phase(each) in UNDECIDED for each in uploads):
            return found
        time.sleep(0.5)


def judge(scenario, pawl, origin, uploads, delivery="at-most-once", kills=(), slack=1.0, seconds=60):
    """Holds what the origin saw against what the clients sent and were told; counts of outcomes."""
    found = settle(pawl, uploads, seconds)
    by_key, counts = origin.by_key(), collections.Counter()
    for upload in uploads:
        for violation in upload.violations:
            scenario.require(False, violation)
        counts["violations"] += len(upload.violations)
        sha, phase = upload.content.sha256(), found.phase(upload)
        for creation in range(1, upload.creations + 1):
            seen = by_key.get(f"{upload.key}.{creation}", [])
            whole = [d for d in seen if d.whole]
            counts["attempts"] += len(seen)
            counts["delivered"] += len(whole)
            wrong = [d for d in whole if d.sha != sha or d.count != upload.size]
            counts["wrong bodies"] += len(wrong)
            scenario.require(not wrong, f"{upload.key}: a wrong body at the origin: {wrong}")
            if len(whole) > 1:
                counts["delivered more than once"] += 1
                scenario.require(
                    delivery != "at-most-once",
                    f"{upload.key}.{creation}: {len(whole)} whole bodies at the origin: {whole}; {upload!r}",
                )
            if creation < upload.creations:
                counts["creations without a URL"] += 1
                continue
            if not whole:
                counts["not delivered"] += 1
            if delivery == "at-most-once" and phase == "unknown":
                counts["unknown"] += 1
                counts["unknown early"] += all(d.count is not None and d.count < upload.size - 1 for d in seen)
                if kills is not None and not excused(seen, upload, kills, slack):
                    counts["unknown without cause"] += 1
                    scenario.require(
                        False,
                        f"{upload.key}: unknown, and no kill between its last byte and its answer: {seen}; {upload!r}",
                    )
            else:
                scenario.require(bool(whole), f"{upload.key}: never delivered, {phase}: {upload!r} origin: {seen}")
                scenario.require(phase != "unknown", f"{upload.key}: unknown although {delivery}: {upload!r}")
                scenario.require(
                    upload.result == "answered",
                    f"{upload.key}: the client ended with {upload.result}, {phase}: {upload!r}",
                )
                counts["answered"] += upload.result == "answered"
    return counts


def excused(seen, upload, kills, slack):
    """Whether a kill lies between the moment the last byte may have left and the moment its answer was safe."""
    for each in seen:
        if each.whole:
            begin, end = each.ended - slack, (each.answered or each.ended + 3600) + slack
        elif each.count is not None and each.count >= upload.size - 1:
            begin, end = each.ended - 3600, each.ended + slack  # the last byte was held back and never came
        else:
            continue
        if any(begin <= at <= end for at in kills):
            return True
    return False
