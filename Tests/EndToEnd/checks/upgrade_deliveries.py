"""An upgrade while uploads are being delivered: they end in the old process, the new one serves and records."""

import os
import re
import signal
import socket
import threading
import time

from harness.checks import check, only, same, true
from harness.content import Content
from harness.origin import Resource
from harness.process import binary, wait_for
from harness.uploads import NO_STORE, Dialect, Upload, append, asked, cancel, create, on_connection, status, whole

from .upgrade import children, end_pid, gone, pids_of, upgrade
from .upload_deliveries import ANSWERED, COMPLETE, SENT, UNKNOWN, phases

only(("clear",), "it is about listeners, processes and stores", __name__)

SMALL = Content("lent", 50_000).read()
LARGE = Content("lent and large", 24 << 20).read()
DIALECT = Dialect(9)


class Slow:
    """An application that reads the end of the first upload after `read`, and answers after `answer`; later ones are
    answered at once."""

    def __init__(self, bench, reads=True, answers=False, code=b"200 OK"):
        self.read, self.answer = threading.Event(), threading.Event()
        self.code = code
        if reads:
            self.read.set()
        if answers:
            self.answer.set()
        self.count = 0
        self.origin = bench.origin()
        bench.stack.callback(self.read.set)
        bench.stack.callback(self.answer.set)
        self.origin.default = on_connection(self.serve)

    def serve(self, request, connection, buffer):
        self.count += 1
        if self.count == 1:
            self.connection = connection
        number, length, taken = self.count, int(request.get("Content-Length") or 0), len(buffer)
        request.body_count = taken
        while taken < length:
            if taken > 100_000 and number == 1 and not self.read.wait(60):
                return
            data = connection.recv(65536)
            if not data:
                request.ended = "peer"
                return
            taken += len(data)
            request.body_count = taken
        if number == 1:
            self.answer.wait(60)
        code = self.code if number == 1 else b"200 OK"
        body = b"delivery %d" % number
        request.status = int(code.split()[0])
        connection.sendall(
            b"HTTP/1.1 %s\r\nCache-Control: no-store\r\nContent-Length: %d\r\nX-Application: yes\r\n\r\n%s"
            % (code, len(body), body)
        )
        connection.settimeout(10)
        try:
            connection.recv(1)
        except OSError:
            pass


def start(bench, slow, **site):
    return bench.pawl(
        slow.origin,
        site={"min-resumable": "0", "response-ttl": "1h", **site},
        pawl={"drain-timeout": "1s"},
        upstream={"response-timeout": "60s"},
    )


class Waiting:
    """A client that has sent an upload and waits for the answer of the application."""

    def __init__(self, bench, pawl, body, target="/in"):
        self.client = bench.use(Upload(pawl.address, 60))
        self.client.create(DIALECT, True, len(body), target=target)
        self.location = self.client.location()
        self.client.send(body)
        self.said, self.thread = {}, threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def wait(self):
        try:
            answer = self.client.answer()
            self.said.update(status=answer.status, body=answer.body)
        except Exception as error:  # noqa: BLE001: it is what the client sees
            self.said.update(error=str(error))

    def answer(self):
        self.thread.join(30)
        return self.said.get("status"), self.said.get("body"), self.said.get("error")


def told(address, location):
    """What HEAD says; that an upload is not complete until the application has answered."""
    answer = status(address, DIALECT, location)
    return answer.status, DIALECT.said(answer), answer.get("Upload-Offset")


def is_whole(slow, body):
    return any(r.body_count == len(body) for r in asked(slow.origin))


def joins(address, location, offset):
    """An empty append that waits for the answer; the thread and what it got."""
    got = {}
    thread = threading.Thread(
        target=lambda: got.update(a=append(address, DIALECT, location, offset, b"", timeout=60)), daemon=True
    )
    thread.start()
    return thread, got


@check(
    "SIGUSR2 while an application works on an upload: the new process serves at once, and both get the one answer",
    area="upgrade deliveries",
)
def answers_late(bench):
    slow = Slow(bench)
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, SMALL)
    wait_for(lambda: is_whole(slow, SMALL), 10, "the delivery")
    wait_for(lambda: phases(pawl) == [SENT], 10, "the record")
    before = told(pawl.address, waiting.location)
    same(before, (204, False, str(len(SMALL))), "HEAD before")
    print(f"      gap {upgrade(bench, pawl)} ms")
    true("deliveries-lent count=1" in pawl.log(), pawl.log()[-2000:])
    same(told(pawl.address, waiting.location), before, "HEAD at the new process")
    same(cancel(pawl.address, DIALECT, waiting.location).status, 503, "DELETE at the new process")
    thread, got = joins(pawl.address, waiting.location, len(SMALL))
    true(pawl.running(), "the old process has ended before its delivery")
    same(phases(pawl), [SENT], "on the disk before the answer")
    slow.answer.set()
    same(waiting.answer(), (200, b"delivery 1", None), "the client at the old process")
    same(phases(pawl), [ANSWERED], "on the disk when the client has the answer")
    thread.join(20)
    same((got["a"].status, got["a"].body), (200, b"delivery 1"), "the client at the new process")
    answer = status(pawl.address, DIALECT, waiting.location, method="GET")
    same((answer.status, answer.body, answer.get("X-Application")), (200, b"delivery 1", "yes"), "GET")
    same(slow.count, 1, "requests to the application")
    same(pawl.wait(20), 0, "the exit status of the old process")
    new = pids_of(pawl)
    os.kill(new, signal.SIGTERM)
    wait_for(lambda: gone(new), 20, "the end of the new process")
    same(list((pawl.folder / "state").glob("**/bodies/*")), [], "files that are left")


@check(
    "SIGUSR2 while an upload is being sent: the new process records that it is sent before its last byte is",
    area="upgrade deliveries",
)
def reads_slowly(bench):
    slow = Slow(bench, reads=False)
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, LARGE)
    wait_for(lambda: slow.count == 1 and phases(pawl) == [COMPLETE], 20, "the delivery")
    upgrade(bench, pawl)
    same(told(pawl.address, waiting.location), (204, False, str(len(LARGE))), "HEAD at the new process")
    same(phases(pawl), [COMPLETE], "on the disk while it is sent")
    slow.read.set()
    wait_for(lambda: is_whole(slow, LARGE), 20, "the whole upload")
    same(phases(pawl), [SENT], "on the disk when it is sent")
    slow.answer.set()
    same(waiting.answer(), (200, b"delivery 1", None), "the client")
    same(phases(pawl), [ANSWERED], "on the disk when the client has the answer")
    same(slow.count, 1, "requests to the application")
    same(pawl.wait(20), 0, "the exit status of the old process")


@check(
    "an upload that the application refuses after an upgrade is delivered again by the new process",
    area="upgrade deliveries",
)
def refused(bench):
    slow = Slow(bench, code=b"401 Unauthorized")
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, SMALL)
    wait_for(lambda: is_whole(slow, SMALL), 10, "the delivery")
    upgrade(bench, pawl)
    slow.answer.set()
    same(waiting.answer(), (401, b"delivery 1", None), "the client at the old process")
    same(phases(pawl), [COMPLETE], "on the disk when the client has the refusal")
    same(told(pawl.address, waiting.location), (204, False, str(len(SMALL))), "HEAD at the new process")
    answer = append(pawl.address, DIALECT, waiting.location, len(SMALL), b"", timeout=20)
    same((answer.status, answer.body), (200, b"delivery 2"), "the append at the new process")
    same(slow.count, 2, "requests to the application")
    same(pawl.wait(20), 0, "the exit status of the old process")


@check(
    "a delivery whose application goes away after an upgrade is repeated by the new process, if nothing was sent whole",
    area="upgrade deliveries",
)
def goes_away(bench):
    slow = Slow(bench, reads=False, answers=True)
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, LARGE)
    wait_for(lambda: slow.count == 1, 20, "the delivery")
    upgrade(bench, pawl)
    slow.read.set()
    slow.connection.shutdown(socket.SHUT_RDWR)
    wait_for(lambda: phases(pawl) == [ANSWERED], 20, "the second delivery")
    same(waiting.answer()[0] in (None, 503), True, f"the client at the old process: {waiting.answer()}")
    same(len(whole(slow.origin)), 1, "whole requests")


def killed(bench, body, whole_before, at, **site):
    """kill -9 of the old process after the upgrade, with this phase on the disk."""
    slow = Slow(bench, reads=body is SMALL)
    pawl = start(bench, slow, **site)
    waiting = Waiting(bench, pawl, body)
    wait_for(lambda: slow.count == 1 and phases(pawl) == [at], 20, "the delivery")
    if whole_before:
        wait_for(lambda: is_whole(slow, body), 10, "the whole upload")
    upgrade(bench, pawl)
    new = pids_of(pawl)
    pawl.process.kill()
    pawl.process.wait()
    wait_for(lambda: "delivery-lost" in pawl.log(), 10, "the event")
    return slow, pawl, waiting, new


@check("kill -9 of the old process: what it had sent is unknown, and is not sent again", area="upgrade deliveries")
def killed_once(bench):
    slow, pawl, waiting, new = killed(bench, SMALL, True, SENT)
    wait_for(lambda: phases(pawl) == [UNKNOWN], 10, "the outcome")
    answer = append(pawl.address, DIALECT, waiting.location, len(SMALL), b"", timeout=20)
    true(answer.status >= 500, f"the append {answer}")
    slow.answer.set()
    same(slow.count, 1, "requests to the application")
    true(not gone(new), "the new process has ended")


@check("kill -9 of the old process, at-least-once: what it had sent is sent again", area="upgrade deliveries")
def killed_again(bench):
    slow, pawl, waiting, _ = killed(bench, SMALL, True, SENT, delivery="at-least-once")
    wait_for(lambda: phases(pawl) == [ANSWERED], 20, "the outcome")
    answer = status(pawl.address, DIALECT, waiting.location, method="GET")
    same((answer.status, answer.body), (200, b"delivery 2"), "GET")
    same(slow.count, 2, "requests to the application")


@check("kill -9 of the old process: what it had not sent whole is sent by the new one", area="upgrade deliveries")
def killed_in_part(bench):
    slow, pawl, waiting, _ = killed(bench, LARGE, False, COMPLETE)
    wait_for(lambda: phases(pawl) == [ANSWERED], 20, "the outcome")
    answer = status(pawl.address, DIALECT, waiting.location, method="GET")
    same((answer.status, answer.body), (200, b"delivery 2"), "GET")
    slow.read.set()
    same(len(whole(slow.origin)), 1, "whole requests")


def successor_killed(bench, body, at, then):
    """kill -9 of the new process while the old one delivers, with this phase on the disk; and the next start."""
    slow = Slow(bench, reads=body is SMALL)
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, body)
    wait_for(lambda: slow.count == 1 and phases(pawl) == [at], 20, "the delivery")
    upgrade(bench, pawl)
    end_pid(pids_of(pawl))
    wait_for(lambda: "deliveries-cut count=1" in pawl.log(), 10, "the event")
    same(waiting.answer()[0], 503, f"the client at the old process: {waiting.answer()}")
    same(pawl.wait(20), 0, "the exit status of the old process")
    same(phases(pawl), [at], "on the disk, written by nobody")
    pawl.start()
    wait_for(lambda: phases(pawl) == [then], 20, "the outcome")
    same(slow.count, 1 if then == UNKNOWN else 2, "requests to the application")
    return pawl, waiting


@check(
    "kill -9 of the new process: the old one cuts what it had sent, and the next start finds it unknown",
    area="upgrade deliveries",
)
def successor_killed_once(bench):
    successor_killed(bench, SMALL, SENT, UNKNOWN)


@check(
    "kill -9 of the new process: the old one cuts what it had not sent whole, and the next start delivers it",
    area="upgrade deliveries",
)
def successor_killed_in_part(bench):
    pawl, waiting = successor_killed(bench, LARGE, COMPLETE, ANSWERED)
    answer = status(pawl.address, DIALECT, waiting.location, method="GET")
    same((answer.status, answer.body), (200, b"delivery 2"), "GET")


@check("two upgrades during one delivery: the steps go on to the third process", area="upgrade deliveries")
def twice(bench):
    slow = Slow(bench, reads=False)
    pawl = start(bench, slow)
    waiting = Waiting(bench, pawl, LARGE)
    wait_for(lambda: slow.count == 1 and phases(pawl) == [COMPLETE], 20, "the delivery")
    upgrade(bench, pawl)
    second = pids_of(pawl)
    upgrade(bench, pawl)
    true(not gone(second), "the second process has ended before the first")
    same(told(pawl.address, waiting.location), (204, False, str(len(LARGE))), "HEAD at the third process")
    thread, got = joins(pawl.address, waiting.location, len(LARGE))
    slow.read.set()
    wait_for(lambda: is_whole(slow, LARGE), 20, "the whole upload")
    same(phases(pawl), [SENT], "on the disk when it is sent")
    slow.answer.set()
    same(waiting.answer(), (200, b"delivery 1", None), "the client of the first process")
    same(phases(pawl), [ANSWERED], "on the disk when the client has the answer")
    thread.join(20)
    same((got["a"].status, got["a"].body), (200, b"delivery 1"), "the client of the third process")
    same(slow.count, 1, "requests to the application")
    same(pawl.wait(20), 0, "the exit status of the first process")
    wait_for(lambda: gone(second), 20, "the end of the second process")


def script(bench, pawl, text):
    program = bench.folder / "pawl-binary"
    program.unlink(missing_ok=True)
    if text is None:
        program.symlink_to(binary())
    else:
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)
    pawl.program = str(program)


@check(
    "a new binary that ends after a delivery was lent to it, and one that cannot borrow: the old process delivers once",
    area="upgrade deliveries",
)
def fails(bench):
    slow = Slow(bench, reads=False)
    pawl = bench.pawl(slow.origin, start=False, site={"min-resumable": "0"}, pawl={"drain-timeout": "1s"})
    script(bench, pawl, None)
    pawl.start()
    waiting = Waiting(bench, pawl, LARGE)
    wait_for(lambda: slow.count == 1 and phases(pawl) == [COMPLETE], 20, "the delivery")
    older = "echo prepared >&$PAWL_HANDED_LINE; read -u $PAWL_HANDED_LINE word; exit 5"
    newer = "echo 'prepared borrowing=1' >&$PAWL_HANDED_LINE; read -u $PAWL_HANDED_LINE word; exit 5"
    for text, count, why in (
        (older, 1, "a delivery of an upload still runs after drain-timeout"),
        (newer, 2, "ended before it served (exit status 5)"),
    ):
        script(bench, pawl, text)
        os.kill(pawl.pid, signal.SIGUSR2)
        wait_for(lambda count=count: pawl.log().count("upgrade-failed") == count, 30, "the failure")
        true(why in pawl.log(), pawl.log()[-1500:])
        same(told(pawl.address, waiting.location), (204, False, str(len(LARGE))), "HEAD after the failure")
    thread, got = joins(pawl.address, waiting.location, len(LARGE))
    same(create(pawl.address, DIALECT, SMALL, target="/other", timeout=20).status, 200, "another upload")
    slow.read.set()
    wait_for(lambda: is_whole(slow, LARGE), 20, "the whole upload")
    wait_for(lambda: sorted(phases(pawl)) == [SENT, ANSWERED], 10, "the record")
    # At last a binary that works, while a delivery runs whose upload was handed over before.
    script(bench, pawl, None)
    before = len(re.findall(r" upgraded pid=", pawl.log()))
    os.kill(pawl.pid, signal.SIGUSR2)
    wait_for(lambda: len(re.findall(r" upgraded pid=", pawl.log())) > before, 30, "the upgrade")
    bench.stack.callback(end_pid, pids_of(pawl))
    slow.answer.set()
    same(waiting.answer(), (200, b"delivery 1", None), "the client that waited over all that")
    thread.join(20)
    true(got["a"].status in (200, 503), f"the client that joined: {got['a']}")
    same(phases(pawl), [ANSWERED, ANSWERED], "on the disk")
    same(slow.count, 2, "requests to the application")
    same(pawl.wait(20), 0, "the exit status of the old process")
    same(len(children(pawl)), 1, "processes")


@check("upgrade-timeout ends a delivery in the old process as a crash would", area="upgrade deliveries")
def too_long(bench):
    slow = Slow(bench)
    pawl = bench.pawl(slow.origin, site={"min-resumable": "0"}, pawl={"drain-timeout": "1s", "upgrade-timeout": "3s"})
    waiting = Waiting(bench, pawl, SMALL)
    wait_for(lambda: is_whole(slow, SMALL), 10, "the delivery")
    upgrade(bench, pawl)
    same(pawl.wait(20), 0, "the exit status of the old process")
    true("deliveries-cut count=1" in pawl.log(), pawl.log()[-1500:])
    wait_for(lambda: phases(pawl) == [UNKNOWN], 10, "the outcome")
    same(waiting.answer()[0], None, f"the client at the old process: {waiting.answer()}")
    same(slow.count, 1, "requests to the application")


@check(
    "SIGUSR2 eight times while uploads come to an application that takes up to five seconds: each is delivered once",
    area="upgrade deliveries",
    seconds=180,
)
def crowd(bench):
    origin, lock, seen = bench.origin(), threading.Lock(), {}

    def answer(request):
        if request.method != "POST":
            return Resource(b"", status=405, fields=NO_STORE)
        with lock:
            seen[request.target] = seen.get(request.target, 0) + 1
        pause = int(request.target.rsplit("-", 1)[1]) % 11 / 2
        return Resource(request.target.encode(), fields=NO_STORE, before_head=lambda r: time.sleep(pause))

    origin.default = answer
    pawl = bench.pawl(
        origin,
        site={"min-resumable": "0"},
        pawl={"drain-timeout": "1s"},
        upstream={"max-connections": "400", "max-share-per-client": "100%"},
        extra={"spool:default": {"max-share-per-client": "100%"}},
    )
    done, failures, answered = threading.Event(), [], set()

    def client(number):
        turn = 0
        while not done.is_set():
            turn += 1
            target = f"/in-{number}-{turn * 7 + number}"
            try:
                got = deliver(target)
                if got != (200, target.encode()):
                    failures.append(f"{target}: {got}")
                answered.add(target)
            except Exception as error:  # noqa: BLE001: it is what the client sees
                failures.append(f"{target}: {error!r}")

    def deliver(target):
        with Upload(pawl.address, 60) as upload:
            upload.create(DIALECT, True, len(SMALL), target=target)
            location = upload.location()
            upload.send(SMALL)
            said = upload.answer()
        deadline = time.monotonic() + 60
        while said.status == 503 and time.monotonic() < deadline:
            time.sleep(0.2)
            offset = int(status(pawl.address, DIALECT, location, timeout=30).get("Upload-Offset"))
            said = append(pawl.address, DIALECT, location, offset, SMALL[offset:], timeout=60)
        return said.status, said.body

    threads = [threading.Thread(target=client, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    gaps = []
    for _ in range(8):
        before = len(answered)
        gaps.append(upgrade(bench, pawl))
        wait_for(lambda before=before: len(answered) >= before + 12, 30, "answers after the upgrade")
    done.set()
    for thread in threads:
        thread.join(60)
    print(f"      gaps in ms: {gaps}; {len(answered)} uploads")
    same(failures, [], f"failures among {len(answered)}")
    same({count for count in seen.values()}, {1}, "requests for each upload")
    same(set(seen), answered, "uploads")
    true("deliveries-lent" in pawl.log(), "nothing was lent")
    same(pawl.wait(60), 0, "the exit status of the first process")
