"""Texts that compress as real ones do, and content codings undone by the programs that everybody has: gzip, brotli,
zstd."""

import ctypes
import ctypes.util
import functools
import random
import subprocess
import zlib

CODINGS = ("zstd", "br", "gzip")
PROGRAMS = {"zstd": ["zstd", "-dcq"], "br": ["brotli", "-dc"], "gzip": ["gzip", "-dcq"]}


@functools.lru_cache(maxsize=64)
def text(key, size, kind="prose"):
    """`size` bytes of a kind of text; the same for the same key."""
    rng = random.Random(f"{key}|{kind}")
    words = ["".join(rng.choice("etaoinshrdlucmfwypvbgkq") for _ in range(rng.randint(2, 9))) for _ in range(2000)]
    parts, count = [], 0
    while count < size:
        some = " ".join(rng.choices(words, k=40))
        if kind == "json":
            some = '{"id":%d,"name":"%s","on":%s,"tags":["%s"]},\n' % (
                rng.randrange(1 << 40),
                some[:60],
                rng.choice(("true", "false")),
                some[60:90],
            )
        elif kind == "markup":
            some = '<li class="row r%d"><a href="/x/%s">%s</a></li>\n' % (
                rng.randrange(9),
                some[:12].replace(" ", "-"),
                some[12:120],
            )
        elif kind == "numbers":
            some = ",".join(str(rng.randrange(1 << 30)) for _ in range(30)) + "\n"
        else:
            some += ".\n"
        parts.append(some)
        count += len(some)
    return "".join(parts).encode()[:size]


def decoded(coding, octets):
    """The content, by the program that is named for the coding."""
    if coding is None:
        return octets
    done = subprocess.run(PROGRAMS[coding], input=octets, capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"{coding} does not decode {len(octets)} bytes: {done.stderr[:200]!r}")
    return done.stdout


def beginning(coding, octets):
    """As much of the content as a part that was cut gives, by the libraries."""
    octets = bytes(octets)
    if coding == "gzip":
        return zlib.decompressobj(31).decompress(octets)
    return _brotli(octets) if coding == "br" else _zstd(octets)


@functools.lru_cache(maxsize=None)
def _library(name, *results):
    made = ctypes.CDLL(ctypes.util.find_library(name) or f"lib{name}.so.1")
    for function, result in results:
        getattr(made, function).restype = result
    return made


def _brotli(octets):
    library = _library(
        "brotlidec", ("BrotliDecoderCreateInstance", ctypes.c_void_p), ("BrotliDecoderDecompressStream", ctypes.c_int)
    )
    state, room = (
        ctypes.c_void_p(library.BrotliDecoderCreateInstance(None, None, None)),
        ctypes.create_string_buffer(1 << 20),
    )
    left, source, content = ctypes.c_size_t(len(octets)), ctypes.c_char_p(octets), b""
    while True:
        free, place = ctypes.c_size_t(len(room)), ctypes.cast(room, ctypes.c_void_p)
        outcome = library.BrotliDecoderDecompressStream(
            state, ctypes.byref(left), ctypes.byref(source), ctypes.byref(free), ctypes.byref(place), None
        )
        content += room.raw[: len(room) - free.value]
        if outcome != 3:  # it has no more to give
            library.BrotliDecoderDestroyInstance(state)
            return content


class _Buffer(ctypes.Structure):
    _fields_ = [("place", ctypes.c_void_p), ("size", ctypes.c_size_t), ("position", ctypes.c_size_t)]


def _zstd(octets):
    library = _library("zstd", ("ZSTD_createDStream", ctypes.c_void_p), ("ZSTD_decompressStream", ctypes.c_size_t))
    stream, room = ctypes.c_void_p(library.ZSTD_createDStream()), ctypes.create_string_buffer(1 << 20)
    source, content = _Buffer(ctypes.cast(ctypes.c_char_p(octets), ctypes.c_void_p), len(octets), 0), b""
    while True:
        target = _Buffer(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
        library.ZSTD_decompressStream(stream, ctypes.byref(target), ctypes.byref(source))
        content += room.raw[: target.position]
        if source.position == source.size and target.position < target.size or not target.position:
            library.ZSTD_freeDStream(stream)
            return content
