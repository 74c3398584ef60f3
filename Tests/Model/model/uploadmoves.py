"""The operations on uploads that are more than one request: takeovers and joins."""

import asyncio
import time

from . import dialects
from .uploadrules import Upload, may_continue


def path_of(location):
    if "://" in location:
        return "/" + location.partition("://")[2].partition("/")[2]
    return location


class UploadMoves:
    """A part of UploadPlay."""

    async def do_takeover(self, operation, upload, user):
        """An append that stalls, a newer one that goes on, and the rest of the older one."""
        if upload.joined or upload.ended_by or may_continue(upload, user) is not True or upload.active > 1:
            return
        used = self.mark(upload)
        offset = await self.do_head(operation, upload, user)
        if offset is None or offset + 2 >= upload.length:
            return
        end = min(upload.length - 1, offset + operation["n"])
        body = upload.representation.bytes(offset, end)
        hold = asyncio.Event()
        upload.high = max(upload.high, end)
        fields = dialects.append(upload.version, offset, False)
        half = len(body) // 2
        how = {"announce": len(body) + 1, "hold": hold, "stop": len(body), "pause": half}
        old = asyncio.ensure_future(self.ask("PATCH", upload.url, fields, user, body, **how))
        await asyncio.sleep(operation.get("wait", 0.003))
        told = await self.do_head(operation, upload, user)
        newer, began = None, time.time()
        if told is not None and told < upload.length - 1:
            piece = upload.representation.bytes(told, min(upload.length - 1, told + 100))
            fields = dialects.append(upload.version, told, False)
            newer = await self.send(upload, user, "PATCH", upload.url, fields, piece, False, {}, told)
            if upload.used == used and self.judge.calm(began) and told > offset:  # the older one had begun
                self.coverage.chance("takeover")
                if newer.status in (404, 409, 410, 423) and not upload.delete_tried:
                    self.judge.say("takeover", f"append at {told} after HEAD: {newer!r}", upload)
        hold.set()
        await old
        if newer is not None and newer.status in (201, 204) and upload.used == used and self.judge.calm(began):
            again = await self.do_head(operation, upload, user)
            if again is not None and again != told + len(piece) and upload.used == used:
                self.judge.say("takeover", f"offset {again} instead of {told + len(piece)}", upload)

    async def overrun(self, operation, upload, user, offset):
        """An append with more content than the upload's length, which the server knows."""
        known = upload.version == dialects.TUS or upload.version >= 6
        if not known or upload.joined or may_continue(upload, user) is not True or offset > upload.length:
            return
        body = upload.representation.bytes(offset) + b"x" * operation["extra"]
        fields = dialects.append(upload.version, offset, False)
        upload.invalid, upload.ended_by = True, upload.ended_by or "maybe"
        answer = await self.send(upload, user, "PATCH", upload.url, fields, body, False, {}, offset)
        self.coverage.chance("overrun")
        if answer.status and answer.status < 300 and answer.get("X-Told") is None:
            self.judge.say("overrun", f"{len(body)} bytes at {offset}: {answer!r}", upload)

    async def do_join(self, operation):
        """tus: parts, each whole or not, and a final upload of them, or two of the same."""
        parts, user = [], operation["u"]
        for length, sent in operation["parts"]:
            made = {"s": operation["s"], "d": dialects.TUS, "u": user, "len": length, "send": sent, "done": False}
            await self.do_create({**made, "partial": True})
            parts.append(self.slots[operation["s"]])
        if operation.get("foreign") and may_continue(parts[0], operation["foreign"]) is False:
            user = operation["foreign"]
        for _ in range(operation.get("finals", 1)):
            await self.final(operation, parts, user)

    async def final(self, operation, parts, user):
        if not parts or any(each.url is None for each in parts):
            return
        self.key += 1
        data = b"".join(each.representation.bytes() for each in parts)
        upload = Upload(self.key, dialects.TUS, user, parts[0].representation, f"/up/{operation['s']}", "POST")
        upload.expected, upload.joined, upload.high = data, True, len(data)
        upload.users.add(user)
        self.judge.uploads[self.key] = self.slots[operation["s"]] = upload
        whole = all(each.low >= each.length for each in parts)
        foreign = any(may_continue(each, user) is False for each in parts)
        used = [each.used for each in parts]
        fields = dialects.common(dialects.TUS) + [
            ("Upload-Concat", "final;" + " ".join(each.url for each in parts)),
            ("X-Upload", str(self.key)),
            ("X-Plan", operation.get("plan", "")),
        ]
        began = time.time()
        answer = await self.ask("POST", upload.target, fields, user)
        if not answer.status:
            return
        self.coverage.chance("join")
        if foreign:
            self.coverage.chance("upload-foreign")
            if answer.status < 300:
                self.judge.say(
                    "upload-foreign", f"user {user} joined parts of user {parts[0].user}: {answer!r}", upload
                )
        elif answer.status == 201 and answer.get("Location"):
            upload.url = path_of(answer.get("Location"))
            if whole:
                upload.ended_by, upload.low = "sure", len(data)
        elif whole and used == [each.used for each in parts] and not any(each.active for each in parts):
            if answer.get("X-Told") is not None or any(each.delete_tried for each in parts):
                return
            if self.judge.calm(began) and answer.status != 423:
                self.judge.say("join", repr(answer), upload)
