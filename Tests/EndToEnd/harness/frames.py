"""One direction of an HTTP/2 connection, looked into as it passes: heads as the text HTTP/1.1 has for them, and how
many bytes of bodies."""

from .h2socket import h2

PREFACE = 24
DATA, HEADERS, RST_STREAM, CONTINUATION = 0, 1, 3, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32


class FrameScanner:
    """`begin(stream, head as bytes, ended)` for each head, `body(stream, count, ended)` for bytes of DATA."""

    def __init__(self, begin, body, upward):
        h2()
        import hpack

        self.begin, self.body = begin, body
        self.decoder = hpack.Decoder(max_header_list_size=1 << 24)
        self.decoder.max_allowed_table_size = 1 << 20
        self.skip, self.buffer, self.left = PREFACE if upward else 0, bytearray(), 0
        self.kind = self.flags = self.stream = self.length = 0
        self.payload, self.block, self.ends = None, bytearray(), False

    def feed(self, data, limit=None):
        """How many bytes of `data` may pass until `limit` bytes of bodies have; the rest is not looked at."""
        at = 0
        while at < len(data):
            if self.skip:
                take = min(self.skip, len(data) - at)
                self.skip -= take
                at += take
            elif self.left and self.kind == DATA:
                take = min(self.left, len(data) - at)
                if limit is not None:
                    take = min(take, limit)
                    limit -= take
                self.left -= take
                at += take
                self.body(self.stream, take, not self.left and bool(self.flags & END_STREAM))
                if limit == 0 and self.left:
                    return at
            elif self.left:
                take = min(self.left, len(data) - at)
                self.left -= take
                self.payload += data[at : at + take]
                at += take
                if not self.left:
                    self._frame(bytes(self.payload))
            else:
                take = min(9 - len(self.buffer), len(data) - at)
                self.buffer += data[at : at + take]
                at += take
                if len(self.buffer) == 9:
                    self._begin(bytes(self.buffer))
                    self.buffer.clear()
        return at

    def _begin(self, head):
        self.left = self.length = int.from_bytes(head[:3], "big")
        self.kind, self.flags, self.stream, self.payload = (
            head[3],
            head[4],
            int.from_bytes(head[5:9], "big") & 0x7FFFFFFF,
            bytearray(),
        )
        if not self.left:
            if self.kind == DATA:
                self.body(self.stream, 0, bool(self.flags & END_STREAM))
            else:
                self._frame(b"")

    def _frame(self, payload):
        if self.kind == HEADERS:
            padding = payload[0] if self.flags & PADDED else 0
            payload = payload[
                (1 if self.flags & PADDED else 0) + (5 if self.flags & PRIORITY else 0) : len(payload) - padding
            ]
            self.block, self.ends = bytearray(payload), bool(self.flags & END_STREAM)
        elif self.kind == CONTINUATION:
            self.block += payload
        else:
            return
        if self.flags & END_HEADERS:
            fields = [
                (n if isinstance(n, bytes) else n.encode("latin-1"), v if isinstance(v, bytes) else v.encode("latin-1"))
                for n, v in self.decoder.decode(bytes(self.block), raw=True)
            ]
            self.begin(self.stream, head_text(fields), self.ends)


def head_text(fields):
    """The head as HTTP/1.1 would have it; of trailers only their fields, after an empty line."""
    pseudo = {n: v for n, v in fields if n.startswith(b":")}
    lines = [n + b": " + v for n, v in fields if not n.startswith(b":")]
    if b":method" in pseudo:
        first = pseudo[b":method"] + b" " + pseudo.get(b":path", pseudo.get(b":authority", b"")) + b" HTTP/2"
        lines.insert(0, b"host: " + pseudo.get(b":authority", b""))
    else:
        first = b"HTTP/2 " + pseudo[b":status"] + b" " if b":status" in pseudo else b""
    return b"\r\n".join([first] + lines)
