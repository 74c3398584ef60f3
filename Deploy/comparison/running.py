"""Processes started for a comparison, pinned, and ended with it, whatever ends it; and ports that are free."""

import atexit
import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import time

LIVING = []
MOST_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
CORES = sorted(os.sched_getaffinity(0))
SERVER, LOAD = CORES[0], CORES[-1]
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


class Failure(Exception):
    """A server or a load that did not do what was asked of it."""


class Skip(Exception):
    """Why something cannot be run here."""


# What may go wrong with one server or one row without ending the comparison.
MISHAPS = (Failure, Skip, OSError, ValueError, KeyError, subprocess.SubprocessError)


def start(words, cores=None, join=None, **more):
    """A process of its own session, so that Ctrl-C reaches this program alone; it ends with this program even when that
    is killed. `join` is called in it at first."""
    cores = {SERVER} if cores is None else set(cores)

    def before():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        os.sched_setaffinity(0, cores)
        if join:
            join()

    process = subprocess.Popen([str(each) for each in words], preexec_fn=before, start_new_session=True, **more)
    LIVING.append(process)
    return process


def stop(process, seconds=8):
    """Asks it to end, and makes it: with everything of its session that is still there."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    if process in LIVING:
        LIVING.remove(process)


def stop_all():
    for process in list(LIVING):
        stop(process, 2)


atexit.register(stop_all)


def ends(*_):
    sys.exit(143)


signal.signal(signal.SIGTERM, ends)
signal.signal(signal.SIGHUP, ends)

HELD = set()


def free_port():
    """A port that nobody listens on, and that this program has not given out before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in HELD:
            HELD.add(port)
            return port


def wait_port(port, process, name, seconds=20, log=None):
    """Until somebody accepts connections there."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                text = ""
                if log and os.path.exists(log):
                    with open(log, errors="replace") as file:
                        text = file.read()[-2000:]
                raise Failure(f"{name} did not start: {text.strip() or 'it said nothing'}") from None
            time.sleep(0.02)
