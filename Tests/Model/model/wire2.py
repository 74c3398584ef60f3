"""HTTP/2 in clear by prior knowledge (RFC 9113), as far as a client needs it: each request is a stream of one of two
connections."""

import asyncio
import time

from . import hpack
from .wire import Answer, Ended, Fields, connect, held

DATA, HEADERS, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, MORE = 0, 1, 3, 4, 5, 6, 7, 8, 9
ROOM = 1 << 24  # bytes of the receive windows
CANCEL = 8


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


class StreamState:
    def __init__(self, answer, method, cut, on_interim, room):
        self.answer, self.method, self.cut, self.on_interim = answer, method, cut, on_interim
        self.body, self.done = bytearray(), asyncio.get_running_loop().create_future()
        self.room, self.more = room, asyncio.Event()

    def end(self, how, complete=False):
        if not self.done.done():
            answer = self.answer
            answer.body, answer.finished = bytes(self.body), time.time()
            answer.ended, answer.complete = how, complete
            if complete and answer.length is not None and answer.length != len(self.body) and self.method != "HEAD":
                if answer.status not in (204, 304):
                    answer.ended, answer.complete = f"malformed: {len(self.body)} of {answer.length} bytes", False
            self.done.set_result(None)
            self.more.set()


class Connection:
    async def start(self, address):
        self.wire = await connect(address)
        self.streams, self.next, self.room, self.initial, self.over = {}, 1, 65535, 65535, False
        self.largest, self.more, self.gone = 16384, asyncio.Event(), False
        settings = b"".join(k.to_bytes(2, "big") + v.to_bytes(4, "big") for k, v in ((1, 0), (2, 0), (4, ROOM)))
        opening = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings)
        await self.wire.send(opening + frame(WINDOW, 0, 0, (ROOM - 65535).to_bytes(4, "big")))
        self.reading = asyncio.ensure_future(self.read())
        return self

    async def read(self):
        how = "fin"
        try:
            while True:
                head = bytearray()
                await self.wire.exactly(9, head.extend)
                payload = bytearray()
                await self.wire.exactly(int.from_bytes(head[:3], "big"), payload.extend)
                await self.frame(head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, bytes(payload))
        except Ended as end:
            how = end.args[0]
        except (IndexError, ValueError, KeyError) as error:
            how = f"malformed: {error!r}"
        self.over = True
        for each in list(self.streams.values()):
            each.end(how)
        self.more.set()
        self.wire.close()

    async def frame(self, kind, flags, number, payload):
        stream = self.streams.get(number)
        if kind == DATA:
            if payload:
                update = len(payload).to_bytes(4, "big")
                await self.wire.send(frame(WINDOW, 0, 0, update) + frame(WINDOW, 0, number, update))
            if stream:
                data = payload[1 : -payload[0] or None] if flags & 8 else payload
                stream.body += data
                if stream.cut is not None and len(stream.body) >= stream.cut:
                    await self.reset(number)
                    stream.end("cut")
                elif flags & 1:
                    stream.end("whole", True)
        elif kind in (HEADERS, MORE):
            if kind == HEADERS:
                payload = payload[1 : -payload[0] or None] if flags & 8 else payload
                payload = payload[5:] if flags & 32 else payload
                self.block, self.ends = b"", flags & 1
            self.block += payload
            if flags & 4 and stream:
                self.head(stream, hpack.decode(self.block))
                if self.ends:
                    stream.end("whole", True)
        elif kind == RESET and stream:
            stream.end("rst")
        elif kind == SETTINGS and not flags & 1:
            for at in range(0, len(payload), 6):
                self.setting(
                    int.from_bytes(payload[at : at + 2], "big"), int.from_bytes(payload[at + 2 : at + 6], "big")
                )
            await self.wire.send(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            await self.wire.send(frame(PING, 1, 0, payload))
        elif kind == GOAWAY:
            self.gone = True
            last = int.from_bytes(payload[:4], "big") & 0x7FFFFFFF
            for each, state in list(self.streams.items()):
                if each > last:
                    state.end("fin")
        elif kind == WINDOW:
            count = int.from_bytes(payload, "big") & 0x7FFFFFFF
            if not number:
                self.room += count
                self.more.set()
            elif stream:
                stream.room += count
                stream.more.set()

    def setting(self, name, value):
        if name == 4:
            for each in self.streams.values():
                each.room += value - self.initial
                each.more.set()
            self.initial = value
        elif name == 5:
            self.largest = value

    def head(self, stream, fields):
        answer, found = stream.answer, dict(fields)
        if ":status" not in found:
            return  # trailers
        status = int(found[":status"])
        fields = [(n, v) for n, v in fields if not n.startswith(":")]
        if status < 200:
            answer.interim.append((status, fields))
            if stream.on_interim:
                stream.on_interim(status, Fields(fields))
            return
        answer.status, answer.fields, answer.headed = status, fields, time.time()
        length = answer.get("Content-Length")
        answer.length = int(length) if length is not None else None

    async def reset(self, number):
        self.streams.pop(number, None)
        try:
            await self.wire.send(frame(RESET, 0, number, CANCEL.to_bytes(4, "big")))
        except Ended:
            pass

    async def request(
        self,
        answer,
        method,
        target,
        fields,
        host,
        body,
        cut=None,
        announce=None,
        on_interim=None,
        hold=None,
        stop=None,
        pause=None,
    ):
        number, self.next = self.next, self.next + 2
        stream = self.streams[number] = StreamState(answer, method, cut, on_interim, self.initial)
        pseudo = [(":method", method), (":scheme", "http"), (":path", target), (":authority", host)]
        bare = not body and not announce
        await self.wire.send(frame(HEADERS, 5 if bare else 4, number, hpack.encode(pseudo + list(fields))))
        try:
            if not bare:
                await self.send_body(number, stream, body, announce, hold, stop, pause)
            if not stream.done.done():
                await stream.done
        finally:
            if self.streams.pop(number, None) and not stream.done.done():
                await self.reset(number)

    async def send_body(self, number, stream, body, announce, hold, stop, pause):
        end = len(body) if stop is None else stop
        whole = stop is None and (announce is None or announce == len(body))
        at = 0
        while at < end and not stream.done.done():
            count = min(end - at, self.room, stream.room, self.largest)
            if count <= 0:
                stream.more.clear()
                self.more.clear()
                if self.over:
                    return
                waits = [asyncio.ensure_future(each.wait()) for each in (stream.more, self.more)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for each in waits:
                    each.cancel()
                continue
            if pause is not None and at < pause:
                count = min(count, pause - at)
            piece = bytes(body[at : at + count])
            at += count
            self.room -= count
            stream.room -= count
            await self.wire.send(frame(DATA, 1 if whole and at == end else 0, number, piece))
            stream.answer.sent = at
            if at == pause:
                await held(stream.done, hold)
        if pause is not None and not stream.done.done():
            await asyncio.sleep(0.002)
        if not whole and not stream.done.done():
            await asyncio.sleep(0)
            await self.reset(number)
            stream.end("cut")


class Pool2:
    """Two connections that are used in turn, so that both loops of pawl have work."""

    def __init__(self, address):
        self.address, self.connections, self.turn = address, [None, None], 0
        self.lock = asyncio.Lock()

    async def connection(self):
        self.turn = 1 - self.turn
        index = self.turn
        async with self.lock:
            now = self.connections[index]
            if now is None or now.over or now.gone or now.next > 1 << 29:
                now = self.connections[index] = await Connection().start(self.address)
        return now

    async def request(self, method, target, fields=(), body=b"", host="pawl.test", cut=None, **upload):
        answer, fields = Answer(), list(fields)
        if method not in ("GET", "HEAD") or body:
            fields.append(("content-length", str(upload.get("announce", len(body)))))
        for tries in (1, 2):
            try:
                connection = await self.connection()
                await connection.request(answer, method, target, fields, host, body, cut=cut, **upload)
            except (OSError, Ended):
                answer.ended, answer.finished = "refused", time.time()
            again = not answer.status and answer.ended in ("refused", "fin") and method in ("GET", "HEAD")
            if not again:
                break
        return answer

    def close(self):
        for each in self.connections:
            if each:
                each.wire.reset()
        self.connections = [None, None]
