"""Random histories of uploads over a few slots that are used again and again."""

import random

from . import dialects

SLOTS = 10
LENGTHS = (0, 1, 31, 100, 1000, 5000, 70_000, 70_000, 100_000, 300_000)
PLANS = (
    *[""] * 8,
    "delay=5",
    "delay=30",
    "status=400",
    "status=500",
    "status=303",
    "break=half;count=1",
    "break=whole;count=1",
    "break=answer;count=1",
    "status=401",
    "status=503",
)


class UploadHistory:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.slots, self.next = {}, 0  # slot: (dialect, user, length)

    def chance(self, part):
        return self.random.random() < part

    def batch(self):
        draw, pick = self.random.random(), self.random
        if len(self.slots) < SLOTS:
            return [self.create(len(self.slots))]
        if draw < 0.004:
            return self.some(3) + [{"op": "kill", "after": pick.choice((0, 0.002, 0.01, 0.03))}]
        if draw < 0.005:
            return [{"op": "restart"}]
        if draw < 0.008:
            return self.some(pick.choice((0, 2))) + [{"op": "reload", "to": pick.choice("ab")}]
        return self.some(pick.choice((1, 1, 1, 2, 3, 4)))

    def some(self, count):
        return [self.operation() for _ in range(count)]

    def create(self, slot):
        pick = self.random
        version = pick.choice((dialects.TUS,) * 4 + dialects.VERSIONS)
        user, length = pick.choice((0, 1, 1, 2, 3, 4, 5)), pick.choice(LENGTHS)
        made = {"op": "create", "s": slot, "d": version, "u": user, "len": length, "plan": pick.choice(PLANS)}
        if self.chance(0.05):
            made["len"] = length = 2 << 20
        made["done"] = self.chance(0.35)
        made["send"] = pick.choice((0, 0, 1, length // 2, length))
        if self.chance(0.15):
            made["cut"] = pick.choice((0, 1, length // 3, max(0, length - 1)))
        if version != dialects.TUS and self.chance(0.3):
            made["m"] = "PUT"
        if version == dialects.TUS and self.chance(0.3):
            made["partial"] = True
        self.slots[slot] = (version, user, length)
        return made

    def operation(self):
        pick = self.random
        slot = pick.randrange(SLOTS)
        version, user, length = self.slots[slot]
        who = user if self.chance(0.85) else pick.randrange(6)
        draw = pick.random()
        if draw < 0.13:
            return self.create(slot)
        made = {"s": slot, "u": who}
        if draw < 0.25:
            return {"op": "head", **made}
        if draw < 0.7:
            return {"op": "append", **made, **self.append(length)}
        if draw < 0.76:
            return {"op": "takeover", **made, "n": max(4, length // 2), "wait": pick.choice((0.001, 0.005, 0.01))}
        if draw < 0.88:
            return {"op": "again", **made}
        if draw < 0.92:
            return {"op": "sum", **made, "n": pick.choice((1, 100, length)), "right": self.chance(0.5)}
        if draw < 0.96:
            return {"op": "delete", **made}
        return self.join(slot, user)

    def join(self, slot, user):
        pick = self.random
        lengths = [pick.choice((1, 31, 100, 5000, 70_000)) for _ in range(pick.choice((1, 2, 3)))]
        parts = [[each, each if self.chance(0.9) else each // 2] for each in lengths]
        made = {"op": "join", "s": slot, "u": user, "parts": parts, "plan": pick.choice(PLANS)}
        if self.chance(0.2):
            made["finals"] = 2
        if self.chance(0.15):
            made["foreign"] = pick.choice((1, 2, 5))
        self.slots[slot] = (dialects.TUS, user, 100)
        return made

    def append(self, length):
        pick = self.random
        made = {
            "at": pick.choice(("told",) * 8 + ("low", "zero", "over", "back")),
            "n": pick.choice((0, 1, 100, length // 3, length // 3, length // 2, length)),
            "done": self.chance(0.3),
        }
        if self.chance(0.04):
            made["extra"] = pick.choice((1, 100, 70_000))
        elif self.chance(0.3):
            made["cut"] = pick.choice((0, 1, length // 3, max(0, length - 1)))
        return made
