"""The application behind uploads: keeps what each delivery brought, and answers, breaks and stalls as the upload's own
X-Plan field says."""

import asyncio
import dataclasses
import time

from .origin import answer_head
from .wire import Ended

RETRIED = (401, 429, 503)  # statuses after which the upload is not taken (Config/behaviour.md, Delivery of uploads)


@dataclasses.dataclass
class Attempt:
    """One request that brought an upload, or began to."""

    key: int
    request: object
    time: float
    body: bytearray = dataclasses.field(default_factory=bytearray)
    whole: bool = False
    status: int | None = None  # None: not answered
    said: str = ""  # the answer's body
    ended: bool = False


def plan_of(text):
    """`status=201;delay=5;break=half;count=1` as a dictionary."""
    found = {"status": "201", "delay": "0", "break": "", "count": "0"}
    found.update(part.split("=", 1) for part in (text or "").split(";") if "=" in part)
    return found


class UploadTarget:
    def __init__(self):
        self.attempts = {}  # by the upload's key

    def takes(self, request):
        return request.target.startswith("/up/")

    async def answer(self, request, stream):
        if request.method == "OPTIONS":  # pawl asks whether the application resumes uploads itself
            await stream.send(answer_head(204, [("Allow", "POST, PUT")]))
            return True
        key = int(request.get("X-Upload") or -1)
        mine = self.attempts.setdefault(key, [])
        attempt = Attempt(key, request, time.time())
        mine.append(attempt)
        plan = plan_of(request.get("X-Plan"))
        broken = plan["break"] if len(mine) <= int(plan["count"]) else ""
        try:
            if request.get("Expect", "").lower() == "100-continue":
                await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            lasts = await self.take(attempt, request, stream, broken)
            if lasts:
                lasts = await self.say(attempt, request, stream, plan, broken, len(mine))
        except Ended:
            return False
        finally:
            attempt.ended = True
        return lasts

    async def take(self, attempt, request, stream, broken):
        length = request.get("Content-Length")
        if length is None and request.get("Transfer-Encoding"):
            await stream.chunks(attempt.body.extend)
        else:
            length = int(length or 0)
            if broken == "half":
                await stream.exactly(length // 2, attempt.body.extend)
                stream.reset()
                return False
            await stream.exactly(length, attempt.body.extend)
        attempt.whole = True
        if broken == "whole":
            stream.reset()
            return False
        return True

    async def say(self, attempt, request, stream, plan, broken, serial):
        if plan["delay"] != "0":
            await asyncio.sleep(int(plan["delay"]) / 1000)
        status = int(plan["status"])
        if plan["status"] == "503" and serial > int(plan["count"]):
            status = 201
        attempt.said = f"upload {attempt.key} attempt {serial} status {status}\n"
        data = attempt.said.encode()
        fields = [
            ("X-Told", f"{attempt.key}/{serial}"),
            ("Content-Type", "text/plain"),
            ("Content-Length", str(len(data))),
        ]
        if broken == "answer":
            await stream.send(answer_head(status, fields) + data[:5])
            attempt.status = status
            stream.close()
            return False
        attempt.status = status
        await stream.send(answer_head(status, fields) + data)
        return True
