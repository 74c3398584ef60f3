"""TLS: certificates are read again, on SIGHUP and when a file changes; what cannot be read changes nothing, and is
said."""

import os
import shutil
import signal
import threading
import time

from harness.certificates import Pair, authority
from harness.checks import CLEAR, check, only, same, true
from harness.client import Client
from harness.content import Content
from harness.origin import Resource
from harness.process import wait_for

from checks.tls import begin, fetch, keys, shown

MIB = 1 << 20
NO_STORE = (("Cache-Control", "no-store"),)
only(CLEAR, "says itself what it speaks", __name__)


def files(bench, pair, name="shown"):
    """A copy of a pair that can be changed."""
    copy = Pair(bench.folder / f"{name}.pem", bench.folder / f"{name}.key")
    pair.copy_to(copy)
    return copy


def pairs():
    return authority().leaf("reload-one", ("pawl.test",)), authority().leaf("reload-two", ("pawl.test",), kind="rsa")


def now_shown(pawl, pair, seconds=8):
    wait_for(lambda: shown(pawl, "pawl.test") == pair.der(), seconds, "the new certificate", 0.1)


def said(pawl, word, since=0, seconds=8):
    wait_for(lambda: any(word in line for line in pawl.log().splitlines()[since:]), seconds, f"{word} in the log", 0.1)
    return next(line for line in pawl.log().splitlines()[since:] if word in line)


@check("new files count after SIGHUP, and by themselves within seconds; open connections go on", area="tls reload")
def changes(bench):
    one, two = pairs()
    copy = files(bench, one)
    origin, pawl = begin(bench, {"main": keys(copy)})
    gate, content = threading.Event(), Content("reload", 4 * MIB)
    origin.at("/long", Resource(content, gates=((MIB, gate),), fields=NO_STORE))
    got = {}
    heads = threading.Event()

    def download():
        with Client(pawl.address, 20) as client:
            client.request("/long")
            got["long"] = client.response(keep=False, on_head=lambda _: heads.set())

    thread = threading.Thread(target=download)
    thread.start()
    true(heads.wait(5), "no head")
    with Client(pawl.address, 10) as kept:
        for turn, pair in enumerate((two, one, two)):
            since = len(pawl.log().splitlines())
            pair.copy_to(copy)
            if turn == 0:
                pawl.signal(signal.SIGHUP)
            now_shown(pawl, pair)
            said(pawl, "tls-reloaded", since)
            kept.request("/x")
            same(kept.response().body, b"hello", "a connection from before")
    gate.set()
    thread.join(10)
    same((got["long"].complete, got["long"].sha), (True, content.sha256()), "the transfer that ran")


@check(
    "a file replaced by rename and through a link is noticed; so are a changed staple and client-ca", area="tls reload"
)
def renamed(bench):
    one, two = pairs()
    folders = [bench.folder / "a", bench.folder / "b"]
    for folder, pair in zip(folders, (one, two)):
        folder.mkdir()
        pair.copy_to(Pair(folder / "cert.pem", folder / "key.pem"))
    live = bench.folder / "live"
    live.symlink_to(folders[0])
    _, pawl = begin(bench, {"main": {"certificate": str(live / "cert.pem"), "key": str(live / "key.pem")}})
    same(shown(pawl, "pawl.test"), one.der(), "the first certificate")
    other = bench.folder / "next"
    other.symlink_to(folders[1])
    os.replace(other, live)
    now_shown(pawl, two)
    copy = Pair(folders[1] / "new.pem", folders[1] / "new.key")
    one.copy_to(copy)
    os.replace(copy.key, folders[1] / "key.pem")
    os.replace(copy.certificate, folders[1] / "cert.pem")
    now_shown(pawl, one)


@check("broken files keep the old certificate and say why; a later good one is taken", area="tls reload", seconds=120)
def broken(bench):
    one, two = pairs()
    copy = files(bench, one)
    _, pawl = begin(bench, {"main": keys(copy)})
    cases = {
        "an empty certificate": lambda: copy.certificate.write_text(""),
        "rubbish": lambda: copy.certificate.write_bytes(os.urandom(500)),
        "half a certificate": lambda: copy.certificate.write_bytes(two.certificate.read_bytes()[:400]),
        "another's key": lambda: shutil.copyfile(two.key, copy.key),
        "no key": lambda: copy.key.unlink(),
        "no certificate": lambda: copy.certificate.unlink(),
    }
    for how in ("by itself", "SIGHUP"):
        for name, spoil in cases.items():
            since = len(pawl.log().splitlines())
            spoil()
            if how == "SIGHUP":
                pawl.signal(signal.SIGHUP)
            # A reload of which anything cannot be used is refused as a whole.
            line = said(pawl, "reload-failed" if how == "SIGHUP" else "tls-reload-failed", since, 10)
            true(str(copy.certificate.name) in line or str(copy.key.name) in line, f"{name}, {how}: which file? {line}")
            same(shown(pawl, "pawl.test"), one.der(), f"{name}, {how}: certificate shown")
            same(fetch(pawl).body, b"hello", f"{name}, {how}: answer")
            since = len(pawl.log().splitlines())
            one.copy_to(copy)
            pawl.signal(signal.SIGHUP)
            said(pawl, "reload", since)
    two.copy_to(copy)
    now_shown(pawl, two)
    true(pawl.running(), "pawl ended")


@check("a certificate and a key changed one after the other say nothing wrong in between", area="tls reload")
def halves(bench):
    one, two = pairs()
    copy = files(bench, one)
    _, pawl = begin(bench, {"main": keys(copy)})
    since = len(pawl.log().splitlines())
    shutil.copyfile(two.certificate, copy.certificate)
    time.sleep(1.5)
    same(shown(pawl, "pawl.test"), one.der(), "certificate shown in between")
    shutil.copyfile(two.key, copy.key)
    now_shown(pawl, two)
    same([line for line in pawl.log().splitlines()[since:] if "tls-reload-failed" in line], [], "complaints")


@check("replaced under load no connection fails", area="tls reload", seconds=60)
def load(bench):
    one, two = pairs()
    copy = files(bench, one)
    _, pawl = begin(bench, {"main": keys(copy)})
    over, failures, count = threading.Event(), [], [0]

    def ask():
        while not over.is_set():
            try:
                answer = fetch(pawl)
                if answer.body != b"hello":
                    failures.append(repr(answer))
            except OSError as error:
                failures.append(str(error))
            count[0] += 1

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(6):
            pair = (two, one)[turn % 2]
            pair.copy_to(copy)
            pawl.signal(signal.SIGHUP)
            now_shown(pawl, pair)
    finally:
        over.set()
        for thread in threads:
            thread.join(10)
    same(failures[:3], [], f"failures of {count[0]} connections")
    true(count[0] > 20, f"only {count[0]} connections")


@check("a file that is broken at the start is exit code 78, and pawl check says which and why", area="tls reload")
def start(bench):
    from harness.process import run_pawl

    one, two = pairs()
    copy = files(bench, one)
    _, pawl = begin(bench, {"main": keys(copy)}, start=False)
    shutil.copyfile(two.key, copy.key)
    for command in ("check", "serve"):
        code, out, err = run_pawl(command, "--config", str(pawl.file), folder=pawl.folder)
        same(code, 78, f"exit code of {command}: {(out + err)[-400:]}")
        true("shown.key" in out + err or "shown.pem" in out + err, f"{command}: {(out + err)[-400:]}")
    soon = authority().leaf("soon", ("soon.test",), days=(-80, 3))
    soon.copy_to(copy)
    code, out, err = run_pawl("check", "--config", str(pawl.file), folder=pawl.folder)
    same(code, 0, f"exit code for one that expires soon: {(out + err)[-400:]}")
    true("expire" in out + err, f"no warning: {(out + err)[-400:]}")


@check(
    "a certificate that one's own root has issued directly is warned of by nobody; check says whose certificate "
    "clients need",
    area="tls reload",
)
def private_root(bench):
    from harness.process import run_pawl

    leaf = authority().leaf("plain", ("plain.test",), days=(-2, 90))
    origin, pawl = begin(bench, {"main": keys(files(bench, leaf))})
    code, out, err = run_pawl("check", "--config", str(pawl.file), folder=pawl.folder)
    same(code, 0, f"exit code: {(out + err)[-400:]}")
    true("warning" not in out + err and "clients need the certificate of its issuer" in out, f"{(out + err)[-600:]}")
    true("tls-warning" not in pawl.log(), f"{pawl.log()[-400:]}")
