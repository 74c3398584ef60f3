"""The listening half of the origin: reads requests, gives each to a part's `answer`, and writes what that says."""

import asyncio
import time

from .wire import Ended, Fields, Stream


class Request(Fields):
    def __init__(self, first, fields):
        super().__init__(fields)
        self.method, self.target = (first.split(" ") + ["", ""])[:2]
        self.body, self.whole, self.time = bytearray(), False, time.time()

    @property
    def operation(self):
        """The number of the operation whose request this is; None: one of pawl's own."""
        text = self.get("X-Request-Id") or ""
        return int(text[3:].split(",")[0]) if text.startswith("op-") else None


class Origin:
    """`parts`: functions of (request) that return True where the request is theirs; then `answer(request, stream)` of
    the part is awaited, which returns whether the connection lasts."""

    def __init__(self, parts):
        self.parts, self.server, self.tasks = parts, None, set()

    async def start(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Stream(self.serve), "127.0.0.1", 0, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def serve(self, stream):
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                first, fields = await stream.head()
                request = Request(first, fields)
                part = next((each for each in self.parts if each.takes(request)), None)
                if part is None:
                    await stream.send(b"HTTP/1.1 404 Unknown\r\nContent-Length: 0\r\n\r\n")
                    continue
                if not await part.answer(request, stream):
                    break
            stream.close()
        except Ended:
            stream.close()
        except asyncio.CancelledError:
            stream.reset()
        finally:
            self.tasks.discard(asyncio.current_task())

    async def stop(self):
        self.server.close()
        for each in list(self.tasks):
            each.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def read_body(request, stream):
    """Reads a request's body; `whole` tells whether all of it came."""
    length, coding = request.get("Content-Length"), request.get("Transfer-Encoding")
    if coding:
        await stream.chunks(request.body.extend)
    elif length:
        await stream.exactly(int(length), request.body.extend)
    request.whole = True


def answer_head(status, fields):
    lines = [f"HTTP/1.1 {status} Told"] + [f"{n}: {v}" for n, v in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def write_body(stream, data, framing, broken=None):
    """A body in its framing; `broken`: (bytes that leave, how it ends). Returns whether the connection lasts."""
    whole = data
    if broken:
        data = data[: broken[0]]
    if framing == "chunked":
        half = max(1, len(data) // 2)
        for piece in (data[:half], data[half:]):
            if piece:
                await stream.send(b"%x\r\n" % len(piece) + piece + b"\r\n")
        if not broken:
            await stream.send(b"0\r\n\r\n")
    else:
        for at in range(0, len(data), 131072):
            await stream.send(data[at : at + 131072])
    if broken:
        await drained(stream)
        if broken[1] == "stall":
            await stream.gone()
        stream.reset() if broken[1] != "fin" or framing == "close" else stream.close()
        return False
    return framing != "close" or whole is None


async def drained(stream):
    """Waits until what was written has left this process, so that RST does not take it back."""
    while stream.transport.get_write_buffer_size() and not stream.ended:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.003)
