"""HTTP/1.1 as a client and an origin speak it, on asyncio: one process holds all peers of pawl."""

import asyncio
import socket
import struct
import time


class Ended(Exception):
    """The other side ended: `fin` or `rst`."""


class Stream(asyncio.Protocol):
    """A connection with a buffer to read from."""

    def __init__(self, serve=None):
        self.buffer, self.waiter, self.ended, self.transport = bytearray(), None, None, None
        self.serve, self.task, self.room, self.paused = serve, None, None, False

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.serve:
            self.task = asyncio.ensure_future(self.serve(self))

    def data_received(self, data):
        self.buffer += data
        if len(self.buffer) > 1 << 20 and not self.paused:
            self.paused = True
            self.transport.pause_reading()
        self.wake()

    def eof_received(self):
        self.ended = self.ended or "fin"
        self.wake()

    def connection_lost(self, error):
        self.ended = self.ended or ("rst" if error else "fin")
        self.wake()
        self.resume_writing()

    def pause_writing(self):
        self.room = asyncio.get_running_loop().create_future()

    def resume_writing(self):
        if self.room and not self.room.done():
            self.room.set_result(None)
        self.room = None

    def wake(self):
        if self.waiter and not self.waiter.done():
            self.waiter.set_result(None)

    async def more(self):
        """Waits until the buffer has grown."""
        if self.ended:
            raise Ended(self.ended)
        if self.paused:
            self.paused = False
            self.transport.resume_reading()
        before = len(self.buffer)
        while len(self.buffer) == before:
            if self.ended:
                raise Ended(self.ended)
            self.waiter = asyncio.get_running_loop().create_future()
            await self.waiter

    async def gone(self):
        """Waits until the other side ends."""
        try:
            while True:
                await self.more()
        except Ended:
            pass

    async def send(self, data):
        if self.ended or self.transport.is_closing():
            raise Ended(self.ended or "fin")
        self.transport.write(data)
        if self.room:
            await self.room

    def close(self):
        if self.transport:
            self.transport.close()

    def reset(self):
        """Ends the connection with RST."""
        if self.transport and not self.transport.is_closing():
            try:
                raw = self.transport.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            except OSError:
                pass
            self.transport.abort()

    async def head(self):
        """The first line and the fields of the next message."""
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end >= 0:
                break
            await self.more()
        lines = self.buffer[:end].decode("latin-1").split("\r\n")
        del self.buffer[: end + 4]
        return lines[0], [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines[1:])]

    async def exactly(self, count, sink):
        """Gives `count` bytes to `sink` as they come."""
        while count:
            if not self.buffer:
                await self.more()
            piece = bytes(self.buffer[:count])
            del self.buffer[: len(piece)]
            count -= len(piece)
            sink(piece)

    async def line(self):
        while True:
            end = self.buffer.find(b"\r\n")
            if end >= 0:
                line = bytes(self.buffer[:end])
                del self.buffer[: end + 2]
                return line
            await self.more()

    async def chunks(self, sink):
        while True:
            size = int((await self.line()).split(b";")[0], 16)
            if not size:
                while await self.line():
                    pass
                return
            await self.exactly(size, sink)
            await self.line()


def by_name(fields):
    """Field values by name in lower case, joined where there are several."""
    found = {}
    for name, value in fields:
        name = name.lower()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


class Fields:
    def __init__(self, fields):
        self.fields = fields

    def get(self, name, default=None):
        name = name.lower()
        found = [v for n, v in self.fields if n.lower() == name]
        return ", ".join(found) if found else default


class Answer(Fields):
    """What a client got. `complete`: the framing said that the body is whole."""

    def __init__(self):
        super().__init__([])
        self.status, self.body, self.complete, self.ended, self.interim = 0, b"", False, "", []
        self.began, self.headed, self.finished, self.length = time.time(), None, None, None
        self.sent = 0

    def __repr__(self):
        shown = "; ".join(f"{n}: {v}" for n, v in self.fields)
        text = f" {self.body[:200]!r}" if self.status >= 400 else ""
        return f"<{self.status} {len(self.body)} bytes, complete={self.complete} {self.ended} | {shown}>{text}"


class Cut(Exception):
    """The client has as much as it wanted."""


async def connect(address):
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(Stream, *address))[1]


async def read_answer(stream, method, answer, limit=None, on_interim=None):
    body = bytearray()

    def take(piece):
        body.extend(piece)
        if limit is not None and len(body) >= limit:
            raise Cut

    try:
        while True:
            first, fields = await stream.head()
            status = int(first.split(" ", 2)[1])
            if status >= 200:
                break
            answer.interim.append((status, fields))
            if on_interim:
                on_interim(status, Fields(fields))
        answer.status, answer.fields, answer.headed = status, fields, time.time()
        length, coding = answer.get("Content-Length"), answer.get("Transfer-Encoding")
        answer.length = int(length) if length is not None else None
        if method == "HEAD" or status in (204, 304):
            pass
        elif coding:
            await stream.chunks(take)
        elif length is not None:
            await stream.exactly(answer.length, take)
        else:
            try:
                while True:
                    take(bytes(stream.buffer))
                    stream.buffer.clear()
                    await stream.more()
            except Ended as end:
                if end.args[0] != "fin":
                    raise
        answer.complete, answer.ended = True, "whole"
    except Ended as end:
        answer.ended = end.args[0]
    except Cut:
        answer.ended = "cut"
    except (ValueError, IndexError) as error:
        answer.ended = f"malformed: {error}"
    answer.body, answer.finished = bytes(body), time.time()
    return answer


def request_head(method, target, fields, host):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"] + [f"{n}: {v}" for n, v in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Pool:
    """Connections to pawl that are kept for the next request."""

    def __init__(self, address):
        self.address, self.idle = address, []

    async def request(self, method, target, fields=(), body=b"", host="pawl.test", cut=None, fresh=False, **upload):
        """One exchange. `cut`: the client resets after so many bytes of the body. `upload`: as `exchange_body`."""
        answer = Answer()
        reused = bool(self.idle) and not fresh
        stream = self.idle.pop() if reused else None
        while stream is not None and stream.ended:
            stream = self.idle.pop() if self.idle else None
        try:
            if stream is None:
                reused = False
                stream = await connect(self.address)
            fields = list(fields)
            if method not in ("GET", "HEAD") or body:
                fields.append(("Content-Length", str(upload.get("announce", len(body)))))
            await stream.send(request_head(method, target, fields, host) + (b"" if upload else body))
        except (OSError, Ended):
            answer.ended, answer.finished = "refused", time.time()
            return answer
        if not upload:
            await read_answer(stream, method, answer, cut)
        else:
            await exchange_body(stream, method, answer, body, **upload)
        if answer.ended in ("fin", "rst") and not answer.status and reused and method in ("GET", "HEAD"):
            return await self.request(method, target, fields, body, host, cut, fresh=True)
        lasts = answer.get("Connection", "").lower() != "close" and not stream.ended
        lasts = lasts and (not upload or answer.sent == upload.get("announce", len(body)))
        if answer.ended == "whole" and lasts:
            self.idle.append(stream)
        elif answer.ended == "cut" or upload:
            stream.reset()
        else:
            stream.close()
        return answer

    def close(self):
        for each in self.idle:
            each.reset()
        self.idle.clear()


async def held(reading, hold):
    """Waits for an event, or until the answer is there."""
    waiting = asyncio.ensure_future(hold.wait())
    await asyncio.wait([reading, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


async def exchange_body(stream, method, answer, body, announce=None, hold=None, on_interim=None, stop=None, pause=None):
    """Sends a body while the answer is being read. `stop`: the connection is reset after so many bytes of it; `hold`:
    an event to wait for after `pause` bytes."""
    reading = asyncio.ensure_future(read_answer(stream, method, answer, on_interim=on_interim))
    end = len(body) if stop is None else stop
    try:
        view = memoryview(body)[:end]
        at = 0
        while at < len(view) and not reading.done():
            piece = view[at : at + 65536] if pause is None or at >= pause else view[at:pause]
            await stream.send(bytes(piece))
            at += len(piece)
            answer.sent = at
            if at == pause:
                await held(reading, hold)
        if pause is not None and not reading.done():
            await asyncio.sleep(0.002)
    except Ended:
        pass
    if stop is not None and not reading.done():
        if hold is None:
            await asyncio.sleep(0)
        stream.reset()
    await reading
