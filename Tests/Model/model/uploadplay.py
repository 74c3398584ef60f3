"""Plays a history of uploads: does its operations, batch by batch, and has each answer judged."""

import asyncio
import time

from . import dialects
from .bodies import Library
from .origin import Origin
from .protocols import pool
from .uploadmoves import UploadMoves, path_of
from .uploadrules import Upload, UploadJudge, may_continue
from .uploadtarget import RETRIED, UploadTarget
from .uploadusers import shown
from .wire import Answer

LATE = 25
PREFIX = "/.pawl/uploads/"


def sections(letter):
    site = {"upstream": "app", "cache": "off", "min-resumable": "1" if letter == "a" else "64K"}
    if letter == "b":
        site["upload-prefix"] = "/other/uploads/"
    return {
        "spool:default": {
            "path": "spool",
            "max-size": "4G",
            "max-uploads-per-client": "100000",
            "max-share-per-client": "100%",
        },
        "site:main": site,
    }


class UploadPlay(UploadMoves):
    def __init__(self, subject_of, coverage, protocol="h1"):
        self.subject_of, self.coverage, self.protocol = subject_of, coverage, protocol
        self.slots, self.key, self.letter, self.number = {}, 0, "a", 0

    async def __aenter__(self):
        self.library, self.target = Library(), UploadTarget()
        self.judge = UploadJudge(self.target, self.coverage)
        self.origin = await Origin([self.target]).start()
        self.subject = self.subject_of(sections, f"http://127.0.0.1:{self.origin.port}")
        await self.subject.start()
        self.pool = pool(self.protocol, self.subject.address)
        return self

    async def __aexit__(self, *_):
        self.pool.close()
        await self.subject.end()
        await self.origin.stop()

    async def batch(self, operations):
        before = len(self.judge.violations)
        await asyncio.gather(*(self.one(each) for each in operations))
        if not self.subject.running():
            raise AssertionError(f"pawl ended by itself: {self.subject.log()[-3000:]}")
        self.judge.deliveries()
        return self.found(before, operations)

    def found(self, before, operations):
        for each in self.judge.violations[before:]:
            each.operation = self.number
        for each in operations:
            each["_"] = self.number
        return self.judge.violations[before:]

    async def settle(self):
        """At the end: deliveries that are owed get some seconds."""
        before = len(self.judge.violations)
        for _ in range(1000):
            if not self.judge.owed():
                break
            await asyncio.sleep(0.02)
        self.judge.at_the_end()
        return self.judge.violations[before:]

    async def one(self, operation):
        self.coverage.count(operation["op"])
        self.number += 1
        name = operation["op"]
        if name in ("kill", "restart", "reload", "create", "join"):
            await getattr(self, "do_" + name)(operation)
            return
        upload = self.slots.get(operation["s"])
        if name in ("takeover", "sum") and self.over(upload):
            upload = await self.fresh(operation, upload)
        if upload is None or upload.url is None:
            return
        user = operation.get("u", upload.user)
        upload.used += 1
        upload.active += 1
        upload.last = time.time()
        try:
            await getattr(self, "do_" + name)(operation, upload, user)
        finally:
            upload.active -= 1

    def over(self, upload):
        """Whether nothing more can be appended to it."""
        if upload is None or upload.url is None or upload.joined:
            return True
        return bool(upload.settled or upload.delete_tried or upload.ended_by or upload.low >= upload.length)

    async def fresh(self, operation, upload):
        """A new upload in the slot, as the one that was there."""
        version = dialects.TUS if operation["op"] == "sum" else upload.version if upload else 9
        user = operation.get("u", 0)
        made = {
            "s": operation["s"],
            "d": version,
            "u": user,
            "len": 5000 if version % 2 else 70_000,
            "send": 0,
            "done": False,
        }
        await self.do_create(made)
        return self.slots[operation["s"]]

    # -- events --------------------------------------------------------------------------------------------------
    async def disturb(self, work):
        span = [time.time(), float("inf")]
        self.judge.disturbed.append(span)
        await work
        span[1] = time.time()
        self.pool.close()
        self.pool = pool(self.protocol, self.subject.address)

    async def do_kill(self, operation):
        await asyncio.sleep(operation.get("after", 0))
        await self.disturb(self.subject.kill())

    async def do_restart(self, operation):
        await self.disturb(self.subject.restart())

    async def do_reload(self, operation):
        self.letter = operation["to"]
        await self.subject.reload(self.letter)

    # -- requests ------------------------------------------------------------------------------------------------
    async def ask(self, method, target, fields, user, body=b"", **upload):
        fields = list(fields) + shown(user)
        try:
            work = self.pool.request(method, target, fields, body=body, **upload)
            return await asyncio.wait_for(work, LATE)
        except asyncio.TimeoutError:
            answer = Answer()
            answer.ended, answer.finished = "late", time.time()
            return answer

    def mark(self, upload):
        return upload.used if upload.active == 1 else None

    def alone(self, upload, used):
        """Whether nothing else was done to the upload since `used` was noted; None was noted where something was."""
        return upload.used == used and upload.active == 1

    def common(self, upload, answer, what, began, user):
        """What is judged of each answer; True where no more is to be said."""
        if answer.ended == "late" and self.judge.calm(began):
            self.judge.say("no-answer", what, upload)
        if not answer.status:
            return True
        if answer.ended.startswith("malformed"):
            self.judge.say("malformed", f"{what}: {answer.ended}", upload)
            return True
        if not self.judge.entitled(upload, user, answer, what):
            return True
        self.judge.after_delete(upload, answer, what, began)
        self.judge.claims(upload, answer, what)
        if answer.status >= 500 and answer.get("X-Told") is None and self.judge.calm(began - 0.2):
            trouble = any(each.status in (None, *RETRIED) for each in self.target.attempts.get(upload.key, ()))
            self.coverage.chance("upload-error")
            if not trouble and answer.status != 503 and upload.low < upload.length:
                self.judge.say("upload-error", f"{what}: {answer!r}", upload)
        return False

    async def do_create(self, operation):
        self.key += 1
        version, user, length = operation["d"], operation["u"], operation["len"]
        representation = self.library.get(64 + operation["s"], self.key, user, "", length)
        method = "POST" if version == dialects.TUS else operation.get("m", "POST")
        upload = Upload(self.key, version, user, representation, f"/up/{operation['s']}", method)
        upload.users.add(user)
        self.judge.uploads[self.key] = self.slots[operation["s"]] = upload
        count, done = min(operation["send"], length), operation["done"]
        if version == dialects.TUS:
            done = False
        elif done:
            count = length
        body = representation.bytes(0, count)
        fields = dialects.creation(version, done, length, body) + [
            ("X-Upload", str(self.key)),
            ("X-Plan", operation.get("plan", "")),
        ]
        if operation.get("partial") and version == dialects.TUS:
            upload.partial = True
            fields.append(("Upload-Concat", "partial"))
        await self.send(
            upload,
            user,
            method,
            upload.target,
            fields,
            body,
            done or version == dialects.TUS and count == length,
            operation,
            0,
        )

    async def send(self, upload, user, method, target, fields, body, done, operation, offset):
        """A creation or an append with content; returns its answer."""
        began, low, cut = time.time(), upload.low, operation.get("cut")
        upload.active += 1
        upload.users.add(user)
        stop = None if cut is None else min(cut, len(body))
        sent = len(body) if stop is None else stop
        if offset is not None:
            upload.high = max(upload.high, min(upload.length, offset + sent))
        whole = done and sent == len(body)
        if whole:
            upload.ended_by = upload.ended_by or "maybe"

        def interim(status, answer):
            if status != 104:
                return
            self.coverage.count("104")
            if answer.get("Location"):
                upload.url = path_of(answer.get("Location"))
            self.judge.offset(upload, answer, low, "104")

        how = {"announce": len(body), "on_interim": interim}
        if stop is not None:
            how["stop"] = stop
        answer = await self.ask(method, target, fields, user, body, **how)
        upload.active -= 1
        creation = method != "PATCH" or target == upload.target
        if creation and answer.get("Location") and answer.get("X-Told") is None and answer.status < 300:
            upload.url = path_of(answer.get("Location"))
        if self.common(upload, answer, method, began, user):
            return answer
        told = self.judge.offset(upload, answer, low, method)
        if creation and answer.get("X-Told") and upload.url is None:
            upload.plain = True
        mine = self.judge.targets_answer(upload, user, answer, method)
        if answer.status < 300 and not mine and whole and not creation and answer.status == 204:
            upload.settled = upload.version == dialects.TUS or upload.settled
        if answer.status < 300 and told is not None and whole and told == upload.length:
            upload.ended_by = "sure"
        if answer.status in (404, 410) and not creation:
            self.judge.gone(upload, answer, method, began)
        return answer

    async def do_head(self, operation, upload, user):
        began, low = time.time(), upload.low
        answer = await self.ask("HEAD", upload.url, dialects.common(upload.version), user)
        if self.common(upload, answer, "HEAD", began, user):
            return None
        if answer.status >= 300:
            if (
                not self.judge.gone(upload, answer, "HEAD", began)
                and answer.status < 500
                and not self.busy(upload, answer)
            ):
                self.judge.say("upload-error", f"HEAD: {answer!r}", upload)
            return None
        return self.judge.offset(upload, answer, low, "HEAD")

    def busy(self, upload, answer):
        """403: complete, and another token shall not have the answer. 423: complete, and the answer is not there."""
        return answer.status == 403 or answer.status == 423 and (upload.ended_by or upload.high >= upload.length)

    async def do_append(self, operation, upload, user):
        """Asks for the offset, or takes what it believes, and appends there."""
        used, began, at = self.mark(upload), time.time(), operation["at"]
        low = upload.low
        if at == "told":
            if upload.joined or user != upload.user and not may_continue(upload, user):
                return
            told = await self.do_head(operation, upload, user)
            if told is None:
                return
            offset = told
        else:
            offset = {"zero": 0, "low": low, "over": low + 7, "back": max(0, low - 5)}[at]
        end = min(upload.length, offset + operation["n"]) if not operation["done"] else upload.length
        if offset > upload.length:
            end = offset
        if operation.get("extra"):
            return await self.overrun(operation, upload, user, offset)
        body = upload.representation.bytes(offset, end) if not upload.joined else b""
        done = operation["done"]
        fields = dialects.append(upload.version, offset, done)
        whole = (done or upload.version == dialects.TUS) and end == upload.length
        wrong = offset < upload.low or offset > upload.high
        answer = await self.send(
            upload, user, "PATCH", upload.url, fields, body, whole and not wrong, operation, None if wrong else offset
        )
        if not answer.status or may_continue(upload, user) is False:
            return
        if wrong:
            self.coverage.chance("offset-conflict")
            if answer.status < 300 and answer.get("X-Told") is None and not upload.settled:
                self.judge.say("offset-conflict", f"append at {offset}: {answer!r}", upload)
        elif at == "told" and self.alone(upload, used) and self.judge.calm(began):
            self.coverage.chance("append-refused")
            free = not (upload.settled or upload.deleted or upload.invalid or upload.ended_by or upload.joined)
            if answer.status in (404, 409, 410) and free:
                self.judge.say("append-refused", f"append at {offset} with {len(body)} bytes: {answer!r}", upload)

    async def do_sum(self, operation, upload, user):
        """A tus append with a checksum, right or wrong."""
        if upload.version != dialects.TUS or upload.joined or may_continue(upload, user) is not True:
            return
        used, began = self.mark(upload), time.time()
        offset = await self.do_head(operation, upload, user)
        if offset is None or offset >= upload.length:
            return
        end = min(upload.length, offset + operation["n"])
        body = upload.representation.bytes(offset, end)
        right = operation["right"]
        fields = dialects.append(upload.version, offset, False) + [dialects.checksum(body, right)]
        answer = await self.send(
            upload,
            user,
            "PATCH",
            upload.url,
            fields,
            body,
            right and end == upload.length,
            operation,
            offset if right else None,
        )
        if not right:
            self.coverage.chance("checksum")
            if answer.status and answer.status < 300:
                self.judge.say("checksum", f"{answer!r}", upload)
            if self.alone(upload, used) and self.judge.calm(began):
                upload.high = offset  # HEAD told it, and nobody else has sent anything
                await self.do_head(operation, upload, user)

    async def do_delete(self, operation, upload, user):
        began, used = time.time(), self.mark(upload)
        may = may_continue(upload, user)
        if may is not False:
            upload.delete_tried = True
        answer = await self.ask("DELETE", upload.url, dialects.common(upload.version), user)
        if self.common(upload, answer, "DELETE", began, user):
            return
        if 200 <= answer.status < 300 and may is not False:
            if not upload.ended_by and not upload.joined:
                upload.deleted = answer.finished
                self.coverage.chance("delete-refused")
                self.coverage.chance("delivery-cancelled")
        elif not self.judge.gone(upload, answer, "DELETE", began) and answer.status != 403 and self.judge.calm(began):
            self.coverage.chance("delete-refused")
            over = upload.ended_by or (upload.version <= 6 and upload.high >= upload.length)
            if not over and not upload.joined and not upload.partial:
                rule = "delete-refused" if self.alone(upload, used) else "delete-busy"
                self.judge.say(rule, repr(answer), upload)

    async def do_again(self, operation, upload, user):
        """Asks for the target's answer again: an empty append at the end."""
        if upload.version == dialects.TUS or upload.joined:
            return
        began, was_settled = time.time(), upload.settled
        attempts = self.target.attempts.get(upload.key, [])
        told = [each for each in attempts if each.status not in (None, *RETRIED) and each.ended]
        upload.users.add(user) if may_continue(upload, user) and not was_settled else None
        if upload.high >= upload.length:
            upload.ended_by = upload.ended_by or "maybe"
        fields = dialects.append(upload.version, upload.length, True)
        answer = await self.ask("PATCH", upload.url, fields, user)
        if self.common(upload, answer, "empty append", began, user):
            return
        self.judge.offset(upload, answer, 0, "empty append")
        mine = self.judge.targets_answer(upload, user, answer, "empty append")
        if was_settled and told and not upload.delete_tried and user == upload.user and self.judge.calm(began):
            self.coverage.chance("answer-repeat")
            if not mine:
                self.judge.say("answer-repeat", f"{answer!r}", upload)
