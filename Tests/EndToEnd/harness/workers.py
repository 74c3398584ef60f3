"""Several checks at a time, each in one of a few processes that this one forks: what a check notes about ports and
listeners stays its own."""

import atexit
import json
import os
import select
import signal
import sys


class Worker:
    """A process that runs rows by their number, one at a time."""

    def __init__(self, work, others):
        ask, self.asks = os.pipe()
        self.answers, answer = os.pipe()
        self.row, self.text, self.gone = None, b"", False
        self.pid = os.fork()
        if not self.pid:
            for each in [self.asks, self.answers] + [end for other in others for end in (other.asks, other.answers)]:
                os.close(each)
            atexit.unregister(end_all)
            serve(work, ask, answer)
        os.close(ask)
        os.close(answer)

    def give(self, row):
        self.row = row
        os.write(self.asks, b"%d\n" % row)

    def take(self):
        """The result of its row, None while there is none; a failure where the process has ended."""
        data = os.read(self.answers, 65536)
        self.text += data
        if data and not self.text.endswith(b"\n"):
            return None
        text, self.text, self.gone = self.text, b"", not data
        return json.loads(text) if data else ["FAIL", "the process that ran this check has ended", 0.0]

    def end(self):
        """One that waits ends by itself when nothing can be asked any more; one that works is told to."""
        for each in (self.asks, self.answers):
            os.close(each)
        if self.row is not None:
            os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        LIVING.remove(self)


LIVING = []


def end_all():
    for each in list(LIVING):
        each.end()


atexit.register(end_all)


def serve(work, ask, answer):
    try:
        for line in os.fdopen(ask):
            os.write(answer, json.dumps(work(int(line))).encode() + b"\n")
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(0)


def run(count, rows, work, done):
    """`work(row)` for every row in one of `count` processes, and `done(row, result)` here as results come. A row that
    ends its process has failed, and another process goes on."""
    rows, running = list(rows), {}
    while rows or running:
        while rows and len(running) < count:
            worker = next((each for each in LIVING if each.row is None), None)
            if worker is None:
                worker = Worker(work, LIVING)
                LIVING.append(worker)
            worker.give(rows.pop(0))
            running[worker.answers] = worker
        for each in select.select(list(running), [], [])[0]:
            worker, result = running[each], running[each].take()
            if result is None:
                continue
            row, worker.row = worker.row, None
            del running[each]
            if worker.gone:
                worker.end()
            done(row, result)
