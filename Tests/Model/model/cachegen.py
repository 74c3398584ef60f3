"""Random histories of downloads, dense in coincidences: few resources, few users, few variants, much reuse."""

import random

from .cacheplay import RESOURCES
from .users import USERS

CONTROLS = (
    *["max-age=60"] * 5,
    *["max-age=0"] * 2,
    "max-age=1",
    "no-store",
    "no-store, max-age=60",
    "private, max-age=60",
    "private, max-age=60",
    "private",
    "public, max-age=60",
    "s-maxage=60",
    "s-maxage=0, max-age=60",
    "no-cache",
    *["no-cache, max-age=60"] * 2,
    "max-age=60, must-revalidate",
    "max-age=60, proxy-revalidate",
    "max-age=60, stale-if-error=60",
    "max-age=60, stale-while-revalidate=60",
    "public",
    "",
    "",
)
VARY = ((), (), (), ("X-Variant",), ("X-Variant",), ("X-Variant", "X-Lang"), ("X-Api-Key",), ("Cookie",), ("*",))
LENGTHS = (1, 31, 33, 100, 1000, 1000, 5000, 20000, 20000, 100_000, 300_000)
REQUEST_CONTROLS = (
    "no-cache",
    "max-age=0",
    "max-age=30",
    "min-fresh=30",
    "max-stale",
    "max-stale=30",
    "no-store",
    "no-store",
)


class CacheHistory:
    """`batch()` makes the next batch; what it returns is all that has to be known to play it again."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lengths, self.later, self.count = [1000] * len(RESOURCES), [], 0
        self.focus, self.user = 0, 0

    def chance(self, part):
        return self.random.random() < part

    def batch(self):
        self.count += 1
        if self.later and self.later[0][0] <= self.count:
            return [self.later.pop(0)[1]]
        draw, pick = self.random.random(), self.random
        if self.count <= len(RESOURCES):
            return [self.set(self.count - 1)]
        if draw < 0.12:
            return [self.set(self.resource())]
        if draw < 0.122:
            return [{"op": "flood", "count": pick.choice((4, 30))}]
        if draw < 0.125:
            return self.gets() + [{"op": "kill", "after": pick.choice((0, 0.002, 0.01, 0.03))}]
        if draw < 0.126:
            return [{"op": "restart"}]
        if draw < 0.1275:
            return self.gets(pick.choice((0, 2))) + [{"op": "reload", "to": pick.choice("ab")}]
        if draw < 0.129:
            self.after(pick.randint(1, 4), {"op": "down", "down": False})
            return [{"op": "down", "down": True}]
        if draw < 0.13:
            return [{"op": "pause", "seconds": 1.4}]
        if draw < 0.165:
            return self.unsafe()
        if draw < 0.18:
            return self.scene(self.resource())
        return self.gets()

    def after(self, batches, operation):
        self.later.append((self.count + batches, operation))
        self.later.sort(key=lambda each: each[0])

    def scene(self, resource):
        """A few operations in a row that belong together, amid the others."""
        pick, user = self.random, self.one_user()
        get = lambda **more: {"op": "get", "r": resource, "u": user, **more}
        set = lambda **state: {"op": "set", "r": resource, "s": {"breaks": [], "lie": "", "bump": False, **state}}
        well = {"status": 200, "vary": [], "cdn": "", "expires": None, "coded": False, "cookie": False, "next": True}
        strict = pick.choice(
            ("max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "max-age=60")
        )
        length = self.lengths[resource]
        kind = pick.choice(("error", "unsafe", "change", "part", "resume"))
        if kind == "error":
            failure = pick.choice((500, 502, 503, 504, 0))
            row = [set(**well, cc=strict, age=100), get(), set(status=failure), get(), get(u=0), set(status=200)]
        elif kind == "unsafe":
            unsafe = {"op": "unsafe", "r": resource, "u": self.one_user(), "m": "PUT", "then": "bump"}
            row = [set(**well, cc="max-age=60", age=None), get(), unsafe, get(), get(u=self.one_user())]
        elif kind == "change":
            row = [set(**well, cc="max-age=60", age=100), get(), set(next=True), get(), get(range="0-50")]
        elif kind == "part":
            parts = (f"{length // 2}-", f"0-{length // 2}", "-1", "0-0")
            row = [set(**well, cc="max-age=60", age=None), get(range=pick.choice(parts)), set(next=True)]
            row += [set(dated=pick.choice((True, False)))] + [get(), get(range=pick.choice(parts))]
        else:
            cut = [[pick.choice((0.1, 0.5, 0.9)), "rst"]]
            row = [set(**well, cc="max-age=60", age=None, tag=pick.choice(("strong", "none")), ranges=self.chance(0.7))]
            row += [set(breaks=cut, bump=self.chance(0.5), next=True), get(), get(u=self.one_user())]
        for number, operation in enumerate(row[1:]):
            self.after(number + 1, operation)
        return [row[0]]

    def resource(self):
        if not self.chance(0.6):
            self.focus = self.random.randrange(len(RESOURCES))
        return self.focus

    def set(self, resource):
        pick, change = self.random, {}
        if self.chance(0.5):
            change["cc"] = pick.choice(CONTROLS)
            change["age"] = pick.choice((None, None, None, 50, 100))
            change["back"] = pick.choice((0, 0, 0, 100))
            change["expires"] = pick.choice((60, -60)) if self.chance(0.15) else None
            change["cdn"] = pick.choice(("max-age=60", "no-store", "private, max-age=60")) if self.chance(0.05) else ""
            change["cookie"] = self.chance(0.15)
        if self.chance(0.3):
            change["vary"] = pick.choice(VARY)
            change["per_user"] = self.chance(0.35)
            change["next"] = True
        if self.chance(0.3):
            change["tag"] = pick.choice(("strong", "strong", "weak", "none", "none"))
            change["dated"] = self.chance(0.6)
            change["ranges"] = self.chance(0.6)
            change["conditional"] = self.chance(0.85)
            change["framing"] = pick.choice(("length", "length", "length", "chunked", "close"))
            change["next"] = True
        if self.chance(0.25):
            change["length"] = self.lengths[resource] = 2 << 20 if self.chance(0.01) else pick.choice(LENGTHS)
            change["next"] = True
        change["breaks"] = [
            (pick.choice((0, 0.1, 0.5, 0.5, 0.9)), pick.choice(("rst", "fin") * 8 + ("stall",)))
            for _ in range(pick.choice((0, 0, 0, 0, 1, 1, 2, 3)))
        ]
        change["bump"] = bool(change["breaks"]) and self.chance(0.4)
        change["lie"] = pick.choice(("other", "shift", "total")) if change["breaks"] and self.chance(0.2) else ""
        change["delay"], change["pause"] = pick.choice((0, 0, 0, 0, 3, 10)), pick.choice((0, 0, 0, 0, 0, 5, 15))
        text = resource == 9 or self.chance(0.05)
        change["type"] = "text/plain" if text else "application/octet-stream"
        change["coded"] = text and self.chance(0.3)
        if change["coded"]:
            change["next"] = True
        change["status"] = 200
        if self.chance(0.12):
            change["status"] = pick.choice((404, 500, 503, 503, 0))
            self.after(pick.randint(1, 5), {"op": "set", "r": resource, "s": {"status": 200}})
        elif self.chance(0.3):
            change["next"] = True
        return {"op": "set", "r": resource, "s": change}

    def unsafe(self):
        pick = self.random
        wish = pick.choice(("bump", "bump", "", "empty", "fail", "bump store"))
        method = pick.choice(("POST", "PUT", "DELETE", "PATCH"))
        made = {"op": "unsafe", "r": self.resource(), "u": self.one_user(), "m": method, "then": wish}
        return [made] if self.chance(0.8) else [made] + self.gets(2)

    def one_user(self):
        if self.chance(0.5):
            self.user = self.random.randrange(len(USERS))
        return self.user if self.chance(0.7) else 0

    def gets(self, count=None):
        count = count if count is not None else self.random.choice((1, 1, 1, 2, 3, 4, 6))
        resource = self.resource()
        return [self.get(resource if self.chance(0.8) else self.resource()) for _ in range(count)]

    def get(self, resource):
        pick = self.random
        made = {"op": "get", "r": resource, "u": self.one_user()}
        if self.chance(0.06):
            made["m"] = "HEAD"
        fields = []
        if self.chance(0.5):
            fields.append(["X-Variant", pick.choice("ab")])
        if self.chance(0.2):
            fields.append(["X-Lang", pick.choice(("de", "en"))])
        if fields:
            made["f"] = fields
        if self.chance(0.1):
            made["cc"] = pick.choice(REQUEST_CONTROLS)
        elif self.chance(0.05):
            made["cc"] = "only-if-cached"
        if self.chance(0.7 if resource == 9 else 0.1):
            made["enc"] = pick.choice(("gzip", "gzip", "identity", "gzip;q=0.5"))
        if self.chance(0.3):
            made["range"] = self.range(self.lengths[resource])
        if "range" in made and self.chance(0.6):
            made["if"] = (
                pick.choice(("If-Range", "If-Range", "If-Range", "If-Range-Date", "If-Match")),
                pick.choice(("mine", "mine", "last", "old", "wrong")),
            )
        elif self.chance(0.2):
            made["if"] = (
                pick.choice(("If-None-Match", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since")),
                pick.choice(("mine", "last", "last", "old", "wrong", "star")),
            )
        if self.chance(0.04) and self.lengths[resource] > 1000:
            made["cut"] = pick.choice((1, self.lengths[resource] // 2))
        return made

    def range(self, length):
        pick = self.random
        a = pick.choice((0, 0, length // 2, pick.randrange(length), length - 1, length, length + 50))
        b = pick.choice((a, a + 31, a + 100, length - 1, length + 100, ""))
        if b != "" and b < a:
            b = ""
        kind = pick.random()
        if kind < 0.1:
            return f"-{pick.choice((1, 33, length // 2 or 1, length + 5))}"
        if kind < 0.2:
            c = pick.randrange(length)
            return f"{a}-{b},{c}-{c + 40}"
        return f"{a}-{b}"
