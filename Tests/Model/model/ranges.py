"""Ranges as RFC 9110 section 14 has them: what is asked for, and what a 206 says it holds."""

import re


def asked(text):
    """[(first, last) or (None, suffix length)], or None where the field is to be ignored."""
    if not text or not text.startswith("bytes="):
        return None
    found = []
    for each in text[6:].split(","):
        match = re.fullmatch(r"\s*(\d*)-(\d*)\s*", each)
        if not match or not (match.group(1) or match.group(2)):
            return None
        first, last = match.groups()
        if first and last and int(last) < int(first):
            return None
        found.append((int(first) if first else None, int(last) if last else None))
    return found


def resolved(specs, length):
    """[start, end) of each range that can be satisfied."""
    found = []
    for first, last in specs:
        if first is None:
            if last:
                found.append((max(0, length - last), length))
        elif first < length:
            found.append((first, length if last is None else min(last + 1, length)))
    return [each for each in found if each[0] < each[1]]


def content_range(text):
    """(start, end, total) of Content-Range, the total None for `*`; None where it is no range."""
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", text or "")
    if not match:
        return None
    return int(match.group(1)), int(match.group(2)) + 1, None if match.group(3) == "*" else int(match.group(3))


def parts(body, kind):
    """[(start, end, total, bytes)] of a multipart/byteranges body, as far as it goes; None where it is malformed."""
    match = re.search(r'boundary="?([^";]+)"?', kind)
    if not match:
        return None
    found, mark = [], b"--" + match.group(1).encode()
    rest = body
    at = rest.find(mark)
    while at >= 0:
        rest = rest[at + len(mark) :]
        if rest.startswith(b"--"):
            return found
        end = rest.find(b"\r\n\r\n")
        if end < 0:
            return found
        fields = rest[:end].decode("latin-1").split("\r\n")
        named = [line.partition(":")[2].strip() for line in fields if line.lower().startswith("content-range:")]
        place = content_range(named[0]) if named else None
        if place is None:
            return None
        start, stop, total = place
        found.append((start, stop, total, rest[end + 4 : end + 4 + stop - start]))
        rest = rest[end + 4 + stop - start :]
        at = rest.find(mark)
    return found
