"""Malformed and borderline messages, row by row of the article Hygiene (requests 1 to 54, responses 55 to 74).

A request case sends bytes in which PATH stands for a path of its own; what may come back and what may reach the origin
is said by its expectation. Wherever bytes could be read in two ways a hidden request for /smuggled is in them: it must
never reach the origin.
"""

import re

from .client import Client
from .origin import RawOrigin

HIDDEN = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok"


class Refuse:
    """One of these statuses, then the connection ends; the origin saw nothing of it (`partly`: no complete request)."""

    def __init__(self, *statuses, partly=False, silent=False):
        self.statuses, self.partly, self.silent = statuses, partly, silent

    def __repr__(self):
        return f"refuse with {'/'.join(map(str, self.statuses))} and close"


class Forward:
    """Answered by the origin with 200; `wants` and `never` are expressions searched in the bytes the origin got."""

    def __init__(self, wants=None, never=None, answers=1, status=200, anywhere=False):
        self.wants, self.never, self.answers, self.status = wants, never, answers, status

    def __repr__(self):
        return f"forward (wants {self.wants}, never {self.never}, {self.answers} answers)"


class Local:
    """Answered by pawl or the origin with one of these statuses; the connection may stay."""

    def __init__(self, *statuses):
        self.statuses = statuses

    def __repr__(self):
        return f"answer {self.statuses}"


class Either:
    def __init__(self, *choices):
        self.choices = choices

    def __repr__(self):
        return " or ".join(map(repr, self.choices))


BAD = Refuse(400)


def post(fields, body=b"", version=b"1.1"):
    return b"POST PATH HTTP/" + version + b"\r\nHost: a\r\n" + fields + b"\r\n" + body


def plain(fields=b"", target=b"PATH", method=b"GET", version=b"HTTP/1.1", host=b"Host: a\r\n"):
    return method + b" " + target + b" " + version + b"\r\n" + host + fields + b"\r\n"


CHUNKED = b"Transfer-Encoding: chunked\r\n"


def request_cases():
    cases = []

    def add(row, name, octets, expected, finish=False):
        cases.append((row, name, octets, expected, finish))

    end = b"0\r\n\r\n"
    add(1, "CL then TE", post(b"Content-Length: 5\r\n" + CHUNKED, end + HIDDEN), BAD)
    add(1, "TE then CL", post(CHUNKED + b"Content-Length: 60\r\n", end + HIDDEN), BAD)
    add(1, "CL: 0 and TE", post(CHUNKED + b"Content-Length: 0\r\n", end + HIDDEN), BAD)
    for value in (b"chunked, gzip", b"identity", b"xchunked", b"gzip", b"chunked, identity"):
        add(
            2,
            value.decode(),
            post(b"Transfer-Encoding: " + value + b"\r\n", end + HIDDEN),
            Either(BAD, Refuse(501)) if value == b"gzip" else BAD,
        )
    for value in (b"foo, chunked", b"gzip, chunked"):
        add(2, value.decode(), post(b"Transfer-Encoding: " + value + b"\r\n", end + HIDDEN), Either(Refuse(501), BAD))
    add(3, "two lines", post(CHUNKED + CHUNKED, end + HIDDEN), BAD)
    add(3, "chunked, chunked", post(b"Transfer-Encoding: chunked, chunked\r\n", end + HIDDEN), BAD)
    add(3, "chunked and identity lines", post(CHUNKED + b"Transfer-Encoding: identity\r\n", end + HIDDEN), BAD)
    for line in (
        b"Transfer-Encoding : chunked",
        b"Transfer-Encoding: \x0bchunked",
        b"Transfer-Encoding: chunked\x00",
        b'Transfer-Encoding: "chunked"',
        b"Transfer-Encoding: chunked;a=b",
        b"Transfer-Encoding: ,chunked",
        b"Transfer-Encoding: chunked,",
        b"Transfer-Encoding:",
        b"Transfer-Encoding: \x0cchunked",
        b"Transfer-Encoding\x00: chunked",
        b"Transfer_Encoding : chunked",
        b"Transfer-Encoding: chun\tked",
        b"Transfer-Encoding: chunked\xa0",
        b"\x0bTransfer-Encoding: chunked",
    ):
        add(
            4,
            repr(line),
            post(line + b"\r\n", end + HIDDEN),
            Either(BAD, Refuse(501)) if line.endswith(b"\xa0") else BAD,
        )
    add(
        4,
        "Chunked in other case",
        post(b"Transfer-Encoding: Chunked\r\nConnection: close\r\n", b"2\r\nhi\r\n" + end),
        Forward(rb"hi"),
    )
    add(5, "TE in HTTP/1.0", post(CHUNKED, end + HIDDEN, b"1.0"), BAD)
    same_length = Either(BAD, Forward(rb"(?i)content-length: 5\r\n", rb"5, ?5"))
    add(6, "5, 5", post(b"Content-Length: 5, 5\r\nConnection: close\r\n", b"hello"), same_length)
    add(
        6,
        "two equal lines",
        post(b"Content-Length: 5\r\nContent-Length: 5\r\nConnection: close\r\n", b"hello"),
        same_length,
    )
    add(7, "two lines", post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello" + HIDDEN), BAD)
    add(7, "list", post(b"Content-Length: 5, 6\r\n", b"hello" + HIDDEN), BAD)
    add(7, "6 then 5", post(b"Content-Length: 6\r\nContent-Length: 5\r\n", b"hello" + HIDDEN), BAD)
    for value in (
        b"+5",
        b"-1",
        b"0x5",
        b"5 5",
        b"5a",
        b"",
        b"1e1",
        b"9223372036854775808",
        b"18446744073709551621",
        b"99999999999999999999999999",
        "\u0665".encode(),
        b"5,",
        b",5",
        b"5;5",
        b"5.0",
        b"-0",
        b"\x0b5",
        b"5\x00",
        b"0_5",
        b'"5"',
        b"5\xa0",
        b"five",
    ):
        add(8, repr(value), post(b"Content-Length: " + value + b"\r\n", b"hello" + HIDDEN), BAD)
    add(
        8,
        "005",
        post(b"Content-Length: 005\r\nConnection: close\r\n", b"hello"),
        Either(Forward(rb"(?i)content-length: 5\r\n"), BAD),
    )
    add(9, "POST without either", post(b"") + plain(b"Connection: close\r\n"), Either(Forward(answers=2), Refuse(411)))
    add(
        9,
        "PUT without either",
        plain(b"", method=b"PUT") + plain(b"Connection: close\r\n"),
        Either(Forward(answers=2), Refuse(411)),
    )
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS"):
        add(
            10,
            method.decode() + " with a body",
            method
            + b" PATH HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n"
            + HIDDEN
            + b"x" * (40 - len(HIDDEN))
            + plain(b"Connection: close\r\n"),
            Either(Forward(answers=2), BAD),
        )
        add(
            10,
            method.decode() + " with chunks",
            method
            + b" PATH HTTP/1.1\r\nHost: a\r\n"
            + CHUNKED
            + b"\r\n%x\r\n" % len(HIDDEN)
            + HIDDEN
            + b"\r\n"
            + end
            + plain(b"Connection: close\r\n"),
            Either(Forward(answers=2), BAD),
        )
    for line in (b"X : y", b"X\t: y", b": y", b" : y", b"Content-Length : 5", b"X  : y"):
        add(11, repr(line), plain(b"A: b\r\n" + line + b"\r\n"), BAD)
    for line in (b"nocolon", b"X", b"GET / HTTP/1.1"):
        add(12, repr(line), plain(line + b"\r\n"), BAD)
    for line in (b"X: a\r\n b", b"X: a\r\n\tb", b"X:\r\n b", b"Transfer-Encoding:\r\n chunked"):
        add(
            13,
            repr(line),
            plain(line + b"\r\nConnection: close\r\n"),
            BAD if b"Enc" in line else Either(BAD, Forward(rb"X: a? ?b")),
        )
    for line in (b" Host: a", b"\tHost: a", b" X: y\r\nHost: a", b" \r\nHost: a"):
        add(14, repr(line), b"GET PATH HTTP/1.1\r\n" + line + b"\r\n\r\n", BAD)
    for name, octets in (
        ("in the request line", b"GET PATH\r HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("after the version", b"GET PATH HTTP/1.1\r\r\nHost: a\r\n\r\n"),
        ("in a value", plain(b"X: a\rb\r\n")),
        ("in a name", plain(b"X\rY: a\r\n")),
        ("before CRLF", plain(b"X: a\r\r\n")),
        ("as a line end", b"GET PATH HTTP/1.1\rHost: a\r\r"),
        ("hiding a field", plain(b"X: a\rContent-Length: 44\r\n")),
        ("as the empty line", b"GET PATH HTTP/1.1\r\nHost: a\r\n\r\r\n"),
    ):
        add(15, name, octets, Either(BAD, Refuse(408)) if name == "as a line end" else BAD)
    add(15, "in a chunk line", post(CHUNKED, b"5\r\rhello\r\n" + end), Refuse(400, partly=True))
    add(15, "in a chunk extension", post(CHUNKED, b"5;a\rb\r\nhello\r\n" + end), Refuse(400, partly=True))
    add(16, "head with LF alone", b"GET PATH HTTP/1.1\nHost: a\nConnection: close\n\n", Either(BAD, Forward()))
    add(
        16,
        "one field with LF alone",
        b"GET PATH HTTP/1.1\r\nX: y\nHost: a\r\nConnection: close\r\n\r\n",
        Either(BAD, Forward()),
    )
    add(16, "chunk size with LF", post(CHUNKED, b"5\nhello\r\n" + end), Refuse(400, partly=True))
    add(16, "chunk end with LF", post(CHUNKED, b"5\r\nhello\n" + end), Refuse(400, partly=True))
    add(16, "last chunk with LF", post(CHUNKED, b"5\r\nhello\r\n0\n\n"), Refuse(400, partly=True))
    add(16, "trailer with LF", post(CHUNKED, b"5\r\nhello\r\n0\r\nA: b\n\r\n"), Refuse(400, partly=True))
    add(16, "LF ends the trailers", post(CHUNKED, b"5\r\nhello\r\n0\r\n\n"), Refuse(400, partly=True))
    for octet in [*range(0, 9), 11, 12, *range(14, 32), 127]:
        add(17, "%#04x in a value" % octet, plain(b"X: a" + bytes([octet]) + b"b\r\n"), BAD)
    add(17, "NUL at the end", plain(b"X: a\x00\r\n"), BAD)
    add(17, "HT inside", plain(b"X: a\tb\r\nConnection: close\r\n"), Forward(rb"X: a\tb\r\n"))
    add(
        17,
        "obs-text",
        plain(b"X: \x85\xa0\xe9b\xa0\x85\r\nConnection: close\r\n"),
        Forward(rb"X: \x85\xa0\xe9b\xa0\x85\r\n"),
    )
    for name in (
        b"X\x80",
        b'X"',
        b"X(",
        b"X Y",
        b"X/",
        b"X\x00",
        b"X\x7f",
        b"X[",
        b"X@",
        b"X,",
        b"X\xc3\xa9",
        b"{X}",
        b"X=",
        b"X;",
    ):
        add(18, repr(name), plain(name + b": y\r\n"), BAD)
    for name, host in (
        ("missing", b""),
        ("twice", b"Host: a\r\nHost: a\r\n"),
        ("two different", b"Host: a\r\nHost: b\r\n"),
        ("a b", b"Host: a b\r\n"),
        ("NUL", b"Host: a\x00.b\r\n"),
        ("a,b", b"Host: a,b\r\n"),
        ("userinfo", b"Host: u@a\r\n"),
        (":80 only", b"Host: :80\r\n"),
        ("path", b"Host: a/b\r\n"),
        ("bad port", b"Host: a:b\r\n"),
        ("big port", b"Host: a:99999999\r\n"),
        ("query", b"Host: a?b\r\n"),
        ("bracket", b"Host: [::1\r\n"),
        ("backslash", b"Host: a\\b\r\n"),
        ("quote", b'Host: "a"\r\n'),
        ("two ports", b"Host: a:1:2\r\n"),
    ):
        add(19, name, plain(host=host), BAD)
    add(19, "empty", plain(b"Connection: close\r\n", host=b"Host:\r\n"), Either(Forward(), BAD))
    add(19, "HTTP/1.0 without Host", plain(version=b"HTTP/1.0", host=b""), Either(Forward(), BAD))
    add(19, "IPv6 literal", plain(b"Connection: close\r\n", host=b"Host: [::1]:80\r\n"), Forward(rb"(?i)host: "))
    add(
        20,
        "absolute-form wins over Host",
        plain(b"Connection: close\r\n", target=b"http://inner.example:81PATH?q", host=b"Host: outer\r\n"),
        Forward(rb"GET PATH\?q HTTP/1\.1\r\n(?s:.*)X-Forwarded-Host: inner\.example:81", rb"GET http:|outer"),
    )
    add(20, "https scheme", plain(target=b"https://aPATH"), Either(BAD, Refuse(421), Local(421, 400)))
    add(
        20,
        "absolute-form without a path",
        plain(b"Connection: close\r\nX-Mark: PATH\r\n", target=b"http://a"),
        Either(Forward(rb"GET / HTTP"), BAD),
    )
    add(20, "absolute-form with userinfo", plain(target=b"http://u:p@aPATH"), Either(BAD, Forward(never=rb"u:p@")))
    add(20, "another scheme", plain(target=b"ftp://aPATH"), Either(BAD, Refuse(421)))
    add(21, "CONNECT", plain(method=b"CONNECT", target=b"a:80"), Either(Refuse(405), Refuse(501), BAD))
    add(21, "CONNECT with a path", plain(method=b"CONNECT"), Either(Refuse(405), Refuse(501), BAD))
    add(21, "authority-form GET", plain(target=b"a:80"), Either(BAD, Refuse(405), Refuse(501)))
    add(22, "OPTIONS *", plain(b"Connection: close\r\n", target=b"*", method=b"OPTIONS"), Local(200, 204))
    add(22, "GET *", plain(target=b"*"), BAD)
    for target in (
        b"PATH a",
        b"PATH\ta",
        b"PATH\x01",
        b"PATH\x7f",
        b"PATH\\a",
        b"PATH\xc3\xa9",
        b"PATH#f",
        b"",
        b"a/PATH",
        b"?PATH",
        b"PATH\x80",
        b"PATH\x00",
    ):
        add(23, repr(target), plain(target=target), BAD)
    for target in (
        b"PATH/../x",
        b"PATH//x",
        b"//PATH",
        b"PATH/%2e%2e/x",
        b"PATH%2fx",
        b"PATH;p=1/x;q",
        b"PATH/./x",
        b"PATH/%41%zz",
        b"PATH?a=%20&b=//..",
        b"PATH?",
        b"PATH/'()*!~$,|^`{}[]\"<>",
    ):
        strange = re.search(rb'[|^`{}\[\]"<>]', target)
        forwarded = Forward(re.escape(b"GET " + target + b" HTTP/1.1"))
        add(
            24,
            repr(target),
            plain(b"Connection: close\r\n", target=target),
            Either(forwarded, BAD) if strange or b"%zz" in target else forwarded,
        )
    for name, line in (
        ("two SP", b"GET  PATH HTTP/1.1"),
        ("two SP behind", b"GET PATH  HTTP/1.1"),
        ("tab", b"GET\tPATH HTTP/1.1"),
        ("leading SP", b" GET PATH HTTP/1.1"),
        ("no version", b"GET PATH"),
        ("lower case", b"GET PATH http/1.1"),
        ("trailing SP", b"GET PATH HTTP/1.1 "),
        ("words behind", b"GET PATH HTTP/1.1 x"),
        ("no SP", b"GETPATH"),
        ("empty version", b"GET PATH "),
        ("other protocol", b"GET PATH ICY/1.1"),
        ("no minor", b"GET PATH HTTP/1"),
        ("letters", b"GET PATH HTTP/a.b"),
        ("version with SP", b"GET PATH HTTP/ 1.1"),
    ):
        add(
            25,
            name,
            line + b"\r\nHost: a\r\n\r\n",
            Either(BAD, Refuse(505))
            if name in ("no minor", "letters", "other protocol", "version with SP", "lower case")
            else BAD,
        )
    for version in (b"1.2", b"1.9"):
        add(
            26,
            version.decode(),
            plain(b"Connection: close\r\n", version=b"HTTP/" + version),
            Either(Forward(rb"HTTP/1\.1\r\n"), Refuse(505)),
        )
    for version in (
        b"2.0",
        b"0.9",
        b"01.1",
        b"1.10",
        b"1.32",
        b"3.0",
        b"1.01",
        b"11.1",
        b"1",
        b"1.1.1",
        b"4294967297.1",
        b"-1.1",
    ):
        add(26, version.decode(), plain(version=b"HTTP/" + version), Either(Refuse(505), BAD))
    add(27, "GET PATH", b"GET PATH\r\n", BAD)
    add(27, "GET PATH with LF", b"GET PATH\n", BAD)
    add(28, "preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Either(Refuse(505), BAD))
    for method in (b"G(T", b"G\x00T", b"G\x80T", b"", b"G,T", b"G:T"):
        add(29, repr(method), plain(method=method), Either(BAD, Refuse(501)))
    add(29, "too long", plain(method=b"M" * 500), Either(Refuse(501), BAD))
    add(
        29,
        "unknown",
        plain(b"Connection: close\r\n", method=b"BREW"),
        Either(Forward(rb"BREW PATH"), Refuse(501), Local(501)),
    )
    add(
        29,
        "get",
        plain(b"Connection: close\r\n", method=b"get"),
        Either(Forward(rb"get PATH"), Refuse(501), Local(501)),
    )
    add(30, "8000 bytes", plain(b"Connection: close\r\n", target=b"PATH" + b"a" * 7970), Forward(rb"a{7970}"))
    add(30, "100,000 bytes", plain(target=b"PATH" + b"a" * 100_000), Refuse(414))
    add(31, "one huge field", plain(b"X: " + b"a" * 100_000 + b"\r\n"), Refuse(431))
    add(31, "1000 fields", plain(b"".join(b"X-%d: a\r\n" % i for i in range(1000))), Refuse(431))
    add(31, "a huge name", plain(b"X" * 100_000 + b": a\r\n"), Refuse(431))
    add(32, "one CRLF", b"\r\n" + plain(b"Connection: close\r\n"), Forward())
    add(32, "twenty CRLF", b"\r\n" * 20 + plain(b"Connection: close\r\n"), Either(BAD, Forward()))
    add(32, "20,000 CRLF", b"\r\n" * 20_000 + plain(b"Connection: close\r\n"), BAD)
    for size in (
        b"",
        b"0x5",
        b"+5",
        b"-1",
        b"5_0",
        b" 5",
        b"5 ",
        b"5\x0b",
        b"10000000000000005",
        b"FFFFFFFFFFFFFFFFF",
        b"8000000000000000",
        b"5\x00",
        b"g",
        b"5\t",
        b"0x",
        b"5,5",
        b"5.0",
        b"\xb2",
    ):
        add(33, repr(size), post(CHUNKED, size + b"\r\nhello\r\n" + end + HIDDEN), Refuse(400, partly=True))
    add(
        33,
        "leading zeros",
        post(CHUNKED + b"Connection: close\r\n", b"0005\r\nhello\r\n" + end),
        Either(Forward(rb"hello"), Refuse(400, partly=True)),
    )
    add(33, "endless zeros", post(CHUNKED, b"0" * 10_000 + b"5\r\nhello\r\n" + end), Refuse(400, partly=True))
    add(
        34,
        "valid one",
        post(CHUNKED + b"Connection: close\r\n", b'5;a=b;c="d\\"e"\r\nhello\r\n' + end),
        Forward(rb"hello", rb"a=b"),
    )
    add(34, "huge", post(CHUNKED, b"5;a=" + b"b" * 20_000 + b"\r\nhello\r\n" + end), Refuse(400, 413, partly=True))
    add(34, "many", post(CHUNKED, (b"1;a=" + b"b" * 200 + b"\r\nx\r\n") * 200 + end), Refuse(400, 413, partly=True))
    add(34, "unterminated quote", post(CHUNKED, b'5;a="b\r\nhello\r\n' + end), Refuse(400, partly=True))
    add(34, "LF inside", post(CHUNKED, b"5;a\nb\r\nhello\r\n" + end + HIDDEN), Refuse(400, partly=True))
    add(34, "NUL inside", post(CHUNKED, b"5;a=\x00\r\nhello\r\n" + end), Refuse(400, partly=True))
    for tail in (b"hello" + end, b"helloXX" + end, b"hello\r" + end, b"hello\n\r" + end, b"hello0\r\n\r\n"):
        add(35, repr(tail), post(CHUNKED, b"5\r\n" + tail + HIDDEN), Refuse(400, partly=True))
    add(36, "no last chunk", post(CHUNKED, b"5\r\nhello\r\n"), Refuse(400, partly=True, silent=True), True)
    add(36, "inside a chunk", post(CHUNKED, b"a\r\nhello"), Refuse(400, partly=True, silent=True), True)
    add(
        36,
        "inside the trailers",
        post(CHUNKED, b"5\r\nhello\r\n0\r\nA: b\r\n"),
        Refuse(400, partly=True, silent=True),
        True,
    )
    add(
        36,
        "short Content-Length",
        post(b"Content-Length: 10\r\n", b"hello"),
        Refuse(400, partly=True, silent=True),
        True,
    )
    for name in (
        b"Content-Length: 99",
        b"Transfer-Encoding: chunked",
        b"Host: evil",
        b"Authorization: evil",
        b"X-Evil: 1",
        b"Content-Type: evil/x",
    ):
        add(
            37,
            "trailer " + name.decode(),
            post(CHUNKED + b"Connection: close\r\n", b"5\r\nhello\r\n0\r\n" + name + b"\r\n\r\n"),
            Either(Forward(rb"hello", rb"(?i)evil|: 99\r"), Refuse(400, partly=True)),
        )
    add(37, "malformed", post(CHUNKED, b"5\r\nhello\r\n0\r\nbad line\r\n\r\n"), Refuse(400, partly=True))
    add(
        37,
        "huge",
        post(CHUNKED, b"5\r\nhello\r\n0\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"),
        Refuse(400, 431, partly=True),
    )
    add(39, "another expectation", post(b"Expect: 200-maybe\r\nContent-Length: 0\r\nConnection: close\r\n"), Local(417))
    add(40, "in HTTP/1.0", post(b"Expect: 100-continue\r\nContent-Length: 5\r\n", b"hello", b"1.0"), Forward(rb"hello"))
    add(
        41,
        "h2c",
        plain(
            b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: "
            b"AAMAAABkAAQCAAAAAAIAAAAA\r\n"
        ),
        Forward(never=rb"(?i)h2c|http2-settings"),
    )
    add(
        42,
        "Content-Length",
        post(b"Content-Length: 5\r\nConnection: close, content-length\r\n", b"hello"),
        Either(Forward(rb"(?i)content-length: 5\r\n(?s:.*)hello"), BAD),
    )
    add(42, "Host", plain(b"Connection: close, host\r\n"), Either(Forward(rb"(?i)\r\nhost: "), BAD))
    add(
        42,
        "Authorization",
        plain(b"Authorization: Basic abc\r\nConnection: close, Authorization\r\n"),
        Either(Forward(rb"Basic abc"), BAD),
    )
    add(
        42,
        "Transfer-Encoding",
        post(CHUNKED + b"Connection: close, transfer-encoding\r\n", b"5\r\nhello\r\n" + end),
        Either(Forward(rb"hello"), BAD),
    )
    add(
        42,
        "X-Forwarded-For",
        plain(b"X-Forwarded-For: 1.2.3.4\r\nConnection: close, X-Forwarded-For\r\n"),
        Either(Forward(rb"(?i)x-forwarded-for: 127\.0\.0\.1"), BAD),
    )
    add(42, "an ordinary one", plain(b"X-Hop: hopping\r\nConnection: close, X-Hop\r\n"), Forward(never=rb"hopping"))
    add(
        43,
        "Content-Length with Upgrade",
        post(b"Content-Length: 40\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", HIDDEN + b"x" * (40 - len(HIDDEN)))
        + plain(b"Connection: close\r\n"),
        Either(Forward(answers=2), BAD),
    )
    for name in (b"Content_Length", b"Transfer_Encoding", b"X_Forwarded_For"):
        add(44, name.decode(), plain(name + b": evil\r\nConnection: close\r\n"), Either(Forward(never=rb"evil"), BAD))
    for name in (b"Content-Type: a/b", b"Authorization: Basic a"):
        other = name[:-1] + b"z"
        add(45, name.decode(), plain(name + b"\r\n" + other + b"\r\nConnection: close\r\n"), Either(Forward(), BAD))
    add(45, "Range twice", plain(b"Range: bytes=0-1\r\nRange: bytes=5-6\r\nConnection: close\r\n"), Forward())
    add(46, "after an error that closes", plain(b"X : y\r\n") + plain(target=b"/smuggled"), BAD)
    add(46, "in order", plain() + plain() + plain(b"Connection: close\r\n"), Forward(answers=3))
    add(48, "half-close", plain(), Forward(), True)
    add(
        50,
        "on POST",
        post(b'Range: bytes=0-0\r\nIf-Range: "a"\r\nContent-Length: 0\r\nConnection: close\r\n'),
        Forward(),
    )
    add(
        51,
        "Content-Range on PUT",
        plain(b"Content-Range: bytes 0-4/10\r\nContent-Length: 5\r\nConnection: close\r\n", method=b"PUT") + b"hello",
        Forward(rb"Content-Range: bytes 0-4/10"),
    )
    for line in (
        b"X-Forwarded-For: 6.6.6.6",
        b"X-Forwarded-Proto: evil",
        b"X-Forwarded-Host: evil",
        b"Forwarded: for=6.6.6.6",
        b"X-Real-IP: 6.6.6.6",
    ):
        add(52, line.decode(), plain(line + b"\r\nConnection: close\r\n"), Forward(never=rb"6\.6\.6\.6|evil"))
    return cases


def one_request(address, origin, index, case):
    """None when the reaction is right, else what was wrong."""
    row, name, octets, expected, finish = case
    path = b"/m%d" % index
    octets = octets.replace(b"PATH", path)
    answers, rest, ended = [], b"", None
    with Client(address, 3) as client:
        try:
            client.send(octets)
            if finish:
                client.finish()
        except OSError:
            pass
        method = octets.split(b" ")[0].decode("latin-1").strip()
        want = max((e.answers for e in flat(expected) if isinstance(e, Forward)), default=1)
        while len(answers) < want:
            answer = client.response("HEAD" if method == "HEAD" and not answers else "GET")
            if not answer.status:
                ended = answer.ended
                break
            answers.append(answer)
            if answer.ended not in ("message", None) or answer.status >= 400:
                break
        if ended is None:
            rest, ended = client.until_end(0.2 if all(isinstance(e, Local) for e in flat(expected)) else 2)
    got = origin.everything()
    forwarded = path in got
    statuses = [a.status for a in answers]
    if b"/smuggled HTTP" in got and re.search(
        rb"GET /smuggled HTTP/1\.[01]\r\n(?:[^\r\n]+\r\n)*?(?i:via|x-forwarded-for): ", got
    ):
        return f"a hidden request reached the origin: {got!r}"

    def judge(choice):
        if isinstance(choice, Refuse):
            if choice.silent and not statuses:
                pass
            elif len(statuses) != 1 or statuses[0] not in choice.statuses:
                return f"answers {statuses}"
            if ended not in ("fin", "rst"):
                return f"the connection stayed open ({ended})"
            if answers and not answers[0].complete and not choice.silent:
                return f"its answer was cut: {answers[0]}"
            if forwarded and not choice.partly:
                return f"forwarded: {got!r}"
            if forwarded:
                mine = got[got.index(path) :]
                length = re.search(rb"(?i)content-length: (\d+)\r\n", mine.split(b"\r\n\r\n")[0])
                if b"\r\n0\r\n\r\n" in mine or (length and len(mine.split(b"\r\n\r\n", 1)[1]) >= int(length.group(1))):
                    return f"forwarded as complete: {mine!r}"
            return None
        if isinstance(choice, Local):
            return None if statuses and statuses[0] in choice.statuses else f"answers {statuses}"
        if statuses != [choice.status] * choice.answers or not all(a.complete for a in answers):
            return f"answers {statuses} {answers}"
        if choice.wants and not re.search(choice.wants.replace(b"PATH", path), got):
            return f"the origin got {got!r}"
        if choice.never and re.search(choice.never, got):
            return f"the origin got {got!r}"
        if got.count(path + b" HTTP") > choice.answers:
            return f"forwarded more than once: {got!r}"
        return None

    verdicts = [judge(choice) for choice in flat(expected)]
    if None in verdicts:
        return None
    return f"expected {expected!r}: {verdicts[0]}"


def flat(expected):
    return list(expected.choices) if isinstance(expected, Either) else [expected]


def run_requests(make_pawl, only_row=None):
    """[(row, name, None or what was wrong)] for every case, one origin and one pawl."""
    results = []
    with RawOrigin(
        lambda connection, number, head: (OK if not head.startswith(b"HEAD") else OK[:-2], "keep")
    ) as origin:
        address = make_pawl(origin.url)
        for index, case in enumerate(request_cases()):
            if only_row is not None and case[0] != only_row:
                continue
            origin.forget()
            try:
                wrong = one_request(address, origin, index, case)
            except OSError as error:
                wrong = f"no connection: {error}"
            results.append((case[0], case[1], wrong))
    return results


# -- responses
# ----------------------------------------------------------------------------------------------------------


def r(status=b"200 OK", fields=b"", body=b"", store=False):
    return (
        b"HTTP/1.1 " + status + b"\r\n" + (b"" if store else b"Cache-Control: no-store\r\n") + fields + b"\r\n" + body
    )


POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
LENGTH2 = b"Content-Length: 2\r\n"


class Gets:
    """What the client may get: statuses; the body when the status is below 500; `kind` in Proxy-Status of a 502."""

    def __init__(self, *statuses, body=None, kind=None, broken=False, fields=(), never=()):
        self.statuses, self.body, self.kind, self.broken, self.fields, self.never = (
            statuses,
            body,
            kind,
            broken,
            fields,
            never,
        )

    def __repr__(self):
        return f"{self.statuses} body={self.body} broken={self.broken} {self.fields} never={self.never}"


def response_cases():
    """(row, name, what the origin sends, (end), method, request fields, expected, whether its connection may be used
    again)"""
    cases = []

    def add(row, name, octets, expected, end="keep", method="GET", fields=(), reuse=False, version="1.1"):
        cases.append((row, name, octets, end, method, tuple(fields), expected, reuse, version))

    bad = Gets(502, kind="http_protocol_error|http_response")
    add(55, "CL and TE", r(fields=LENGTH2 + CHUNKED, body=b"2\r\nok\r\n0\r\n\r\n"), Gets(502, 200, body=b"ok"))
    for value in (b"5, 6", b"abc", b"-1", b"+2", b"0x2", b"2 2", b"99999999999999999999999", b"2,", b""):
        add(56, repr(value), r(fields=b"Content-Length: " + value + b"\r\n", body=b"ok" + POISON), bad)
    add(56, "two lines", r(fields=b"Content-Length: 2\r\nContent-Length: 3\r\n", body=b"ok" + POISON), bad)
    add(56, "two equal lines", r(fields=LENGTH2 + LENGTH2, body=b"ok"), Gets(502, 200, body=b"ok"), reuse=True)
    add(57, "TE: gzip", r(fields=b"Transfer-Encoding: gzip\r\n", body=b"ok"), Gets(200, 502, body=b"ok"), end="close")
    add(
        57,
        "TE: chunked, gzip",
        r(fields=b"Transfer-Encoding: chunked, gzip\r\n", body=b"ok"),
        Gets(200, 502, body=b"ok"),
        end="close",
    )
    add(58, "CL in 204", r(b"204 No Content", LENGTH2, b"ok"), Gets(204, body=b"", never=("Content-Length",)))
    add(
        58,
        "TE in 204",
        r(b"204 No Content", CHUNKED, b"2\r\nok\r\n0\r\n\r\n"),
        Gets(204, body=b"", never=("Transfer-Encoding",)),
    )
    add(
        58,
        "CL in 103",
        b"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: <x>\r\n\r\n" + r(fields=LENGTH2, body=b"ok"),
        Gets(200, body=b"ok"),
        reuse=True,
    )
    add(58, "a body after HEAD", r(fields=LENGTH2, body=b"ok" + POISON), Gets(200, body=b""), method="HEAD")
    add(
        58,
        "a body after 304",
        r(b"304 Not Modified", LENGTH2 + b'ETag: "a"\r\n', b"ok" + POISON),
        Gets(304, body=b""),
        fields=(("If-None-Match", '"a"'),),
    )
    add(60, "another response behind", r(fields=LENGTH2, body=b"ok" + POISON), Gets(200, body=b"ok"))
    add(60, "behind chunks", r(fields=CHUNKED, body=b"2\r\nok\r\n0\r\n\r\n" + POISON), Gets(200, body=b"ok"))
    add(60, "CRLF behind", r(fields=LENGTH2, body=b"ok\r\n"), Gets(200, body=b"ok"))
    add(
        61,
        "Content-Type : ",
        r(fields=b"Content-Type : text/x\r\n" + LENGTH2, body=b"ok"),
        Gets(200, body=b"ok", fields=(("Content-Type", "text/x"),)),
        reuse=True,
    )
    add(
        61, "Content-Length : ", r(fields=b"Content-Length : 2\r\n", body=b"ok"), Gets(200, 502, body=b"ok"), reuse=True
    )
    add(62, "folded", r(fields=b"X-Fold: a\r\n b\r\n" + LENGTH2, body=b"ok"), Gets(200, 502, body=b"ok"), reuse=True)
    for name, line in (
        ("bare CR", b"X: a\rb"),
        ("NUL", b"X: a\x00b"),
        ("CTL", b"X: a\x01b"),
        ("DEL", b"X: a\x7fb"),
        ("NUL in a name", b"X\x00: a"),
        ("CR before CRLF", b"X: a\r"),
        ("no colon", b"no colon"),
        ("name with SP", b"X Y: a"),
    ):
        add(
            63,
            name,
            r(fields=line + b"\r\n" + LENGTH2, body=b"ok"),
            bad if name not in ("no colon", "name with SP") else Gets(502, 200, body=b"ok"),
            reuse=name in ("no colon", "name with SP"),
        )
    add(
        64,
        "one huge field",
        r(fields=b"X: " + b"a" * 300_000 + b"\r\n" + LENGTH2, body=b"ok"),
        Gets(502, kind="http_response_header"),
    )
    add(
        64,
        "5000 fields",
        r(fields=b"".join(b"X-%d: a\r\n" % i for i in range(5000)) + LENGTH2, body=b"ok"),
        Gets(502, kind="http_response_header"),
    )
    for line in (
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 2000 OK",
        b"HTTP/2.0 200 OK",
        b"ICY 200 OK",
        b"HTTP/1.1  200 OK",
        b"http/1.1 200 OK",
        b"HTTP/1.1 abc OK",
        b"HTTP/1.1",
        b" HTTP/1.1 200 OK",
        b"HTTP/1.1\t200 OK",
        b"HTTP/1.1 099 OK",
        b"HTTP/1.1 000 OK",
        b"200 OK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.1 -20 OK",
        b"HTTP/1.1 2 0 OK",
    ):
        add(
            65,
            line.decode(),
            line + b"\r\n" + LENGTH2 + b"\r\nok",
            Gets(502, kind="http_protocol_error|http_response"),
            end="close",
        )
    add(
        65,
        "empty reason",
        b"HTTP/1.1 200 \r\nCache-Control: no-store\r\n" + LENGTH2 + b"\r\nok",
        Gets(200, body=b"ok"),
        reuse=True,
    )
    add(
        65,
        "no reason",
        b"HTTP/1.1 200\r\nCache-Control: no-store\r\n" + LENGTH2 + b"\r\nok",
        Gets(200, body=b"ok"),
        reuse=True,
    )
    add(65, "799", r(b"799 Odd", LENGTH2, b"ok"), Gets(799, body=b"ok"), reuse=True)
    add(65, "HTTP/1.0", b"HTTP/1.0 200 OK\r\nCache-Control: no-store\r\n" + LENGTH2 + b"\r\nok", Gets(200, body=b"ok"))
    add(
        66,
        "101 unasked",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw bytes",
        bad,
    )
    add(
        67,
        "1000 of 103",
        b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 1000 + r(fields=LENGTH2, body=b"ok"),
        Gets(502),
    )
    add(
        68,
        "nothing but a head cut short",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        Gets(502, kind="http_response_incomplete|connection_terminated"),
        end="close",
    )
    for size in (b"FFFFFFFFFFFFFFFFF", b"0x2", b"-1", b" 2", b"", b"2 2", b"g"):
        add(
            70,
            repr(size),
            r(fields=CHUNKED, body=size + b"\r\nok\r\n0\r\n\r\n" + POISON),
            Gets(502, 200, body=b"", broken=True),
        )
    add(
        70,
        "no CRLF behind data",
        r(fields=CHUNKED, body=b"2\r\nokXX0\r\n\r\n"),
        Gets(502, 200, body=b"ok", broken=True),
    )
    add(
        70,
        "huge extension",
        r(fields=CHUNKED, body=b"2;" + b"a" * 200_000 + b"\r\nok\r\n0\r\n\r\n"),
        Gets(502, 200, body=b"", broken=True),
    )
    add(
        71,
        "chunks for HTTP/1.0",
        r(fields=CHUNKED, body=b"2\r\nok\r\n0\r\n\r\n"),
        Gets(200, body=b"ok", never=("Transfer-Encoding",)),
        version="1.0",
        reuse=True,
    )
    add(
        72,
        "206 unasked",
        r(b"206 Partial Content", b"Content-Range: bytes 0-1/10\r\n" + LENGTH2, b"ok"),
        Gets(502),
        reuse=True,
    )
    add(73, "304 unasked", r(b"304 Not Modified", b'ETag: "a"\r\n'), Gets(502), reuse=True)
    add(
        74,
        "Content-Encoding not offered",
        r(fields=b"Content-Encoding: gzip\r\n" + LENGTH2, body=b"ok"),
        Gets(200, body=b"ok", fields=(("Content-Encoding", "gzip"),)),
        reuse=True,
    )
    return cases


def run_responses(make_pawl, only_row=None):
    results = []
    script = {}

    def reply(connection, number, head):
        path = head.split(b" ")[1].decode("latin-1")
        if path.startswith("/after"):
            script["after"] = connection
            return (OK, "keep")
        script["by"] = connection
        case = script["case"]
        return (case[2], case[3])

    with RawOrigin(reply) as origin:
        address = make_pawl(origin.url)
        for index, case in enumerate(response_cases()):
            row, name, octets, end, method, fields, expected, reuse, version = case
            if only_row is not None and row != only_row:
                continue
            script.clear()
            script["case"] = case
            wrong = None
            try:
                with Client(address, 5) as client:
                    client.request(f"/r{index}", method, fields + (("Connection", "close"),), version=version)
                    answer = client.response(method)
                if answer.status not in expected.statuses:
                    wrong = f"status {answer.status}, {answer}"
                elif (
                    answer.status < 500
                    and answer.status != 502
                    and expected.body is not None
                    and answer.body != expected.body
                    and not (expected.broken and not answer.complete)
                ):
                    wrong = f"body {answer.body!r}"
                elif expected.broken and answer.status == 200 and answer.complete:
                    wrong = f"a malformed body ended as if it were whole: {answer}"
                elif answer.status == 502 and (
                    not answer.all("Proxy-Status")
                    or (expected.kind and not re.search(expected.kind, " ".join(answer.all("Proxy-Status"))))
                ):
                    wrong = f"Proxy-Status {answer.all('Proxy-Status')}"
                for field, value in expected.fields:
                    if answer.status < 500 and answer.get(field) != value:
                        wrong = f"{field} is {answer.get(field)!r}"
                for field in expected.never:
                    if answer.get(field) is not None:
                        wrong = f"{field} is {answer.get(field)!r}"
                for turn in range(2):
                    with Client(address, 5) as client:
                        client.request(f"/after{index}", fields=(("Connection", "close"),))
                        after = client.response()
                    if (after.status, after.body) != (200, b"ok"):
                        wrong = f"the next request on this origin got {after.status} {after.body!r}"
                if not reuse and script.get("after") == script.get("by"):
                    wrong = (wrong or "") + " its connection was used again"
            except OSError as error:
                wrong = f"no connection: {error}"
            results.append((row, name, wrong and f"expected {expected!r}: {wrong}"))
    return results
