"""TLS over a socket, with both directions usable from threads of their own, as a plain socket's are.

Python's ssl.SSLSocket is not meant for that before 3.13. Reads that end without a close_notify are a reset, as they
have to be seen by one who must tell a whole body from a truncated one.
"""

import fcntl
import socket
import ssl
import struct
import termios
import threading
import time


def unsent(raw):
    """Bytes that the other side's kernel has not taken yet."""
    try:
        return struct.unpack("i", fcntl.ioctl(raw.fileno(), termios.TIOCOUTQ, bytes(4)))[0]
    except (OSError, ValueError):
        return 0


def leave(raw):
    """FIN, and soon the end. Closing with something unread, as tickets of a session or credit are, would be a reset,
    which throws away what the other side's kernel has not taken yet.
    """
    raw.shutdown(socket.SHUT_WR)
    threading.Thread(target=_leave, args=(raw,), daemon=True).start()


def _leave(raw):
    end, room = time.monotonic() + 5, 65536
    while True:
        try:
            while room > 0 and (data := raw.recv(room, socket.MSG_DONTWAIT)):
                room -= len(data)
        except BlockingIOError:
            pass
        except OSError:
            break
        if time.monotonic() > end or not unsent(raw):
            break
        time.sleep(0.002)
    try:
        raw.shutdown(socket.SHUT_RD)  # wakes a thread that reads
    except OSError:
        pass
    raw.close()


class TLSSocket:
    """A client's or a server's end. `raw` is connected, and is closed with this."""

    def __init__(self, raw, context, server_name=None, server_side=False, session=None, first=b""):
        self.raw, self.lock, self.write_lock = raw, threading.RLock(), threading.Lock()
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(
            self.incoming, self.outgoing, server_side, None if server_side else server_name, session
        )
        self.ended, self.abrupt, self.said_end, self.unsent = None, False, False, bytearray()
        if first:
            self.incoming.write(first)
        try:
            self._handshake()
        except BaseException:
            raw.close()
            raise

    def _handshake(self):
        while True:
            try:
                self.tls.do_handshake()
                return self._flush()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                try:
                    self._flush()
                except OSError:
                    pass
                raise

    def _fill(self):
        data = self.raw.recv(262144)
        with self.lock:
            if data:
                self.incoming.write(data)
            else:
                self.incoming.write_eof()

    def _flush(self):
        with self.write_lock:
            with self.lock:
                self.unsent += self.outgoing.read()
            while self.unsent:
                del self.unsent[: self.raw.send(self.unsent)]

    # -- as a socket ---------------------------------------------------------------------------------------------
    def recv(self, limit, flags=0):
        if flags & socket.MSG_PEEK:
            return self.raw.recv(limit, flags)
        while True:
            if self.ended == "end":
                return b""
            if self.ended == "cut":
                raise ConnectionResetError("TLS ended without a close_notify")
            with self.lock:
                try:
                    data = self.tls.read(limit)
                    if not data:
                        self.ended = "end"
                    else:
                        wrote = self.outgoing.pending
                except ssl.SSLWantReadError:
                    data, wrote = None, self.outgoing.pending
                except ssl.SSLZeroReturnError:
                    data, self.ended = b"", "end"
                except ssl.SSLEOFError:
                    data, self.ended = b"", "cut"
                except ssl.SSLError as error:
                    self.ended = "cut"
                    raise ConnectionResetError(f"TLS: {error.reason}") from error
            if data:
                if wrote:
                    self._flush()
                return data
            if data is None:
                if wrote:
                    self._flush()
                self._fill()

    def sendall(self, data):
        view = memoryview(data)
        if self.said_end:
            raise BrokenPipeError("after shutdown")
        for at in range(0, len(view), 262144):
            with self.lock:
                try:
                    self.tls.write(view[at : at + 262144])
                except ssl.SSLError as error:
                    raise BrokenPipeError(f"TLS: {error.reason}") from error
            self._flush()

    def send(self, data):
        self.sendall(data)
        return len(data)

    def shutdown(self, how):
        """close_notify, then FIN for the directions of `how`."""
        if how in (socket.SHUT_WR, socket.SHUT_RDWR):
            self._notify()
        if how in (socket.SHUT_RD, socket.SHUT_RDWR):
            self.raw.shutdown(how)

    def _notify(self):
        if self.said_end:
            return
        self.said_end = True
        with self.lock:
            try:
                self.tls.unwrap()
            except (ssl.SSLError, OSError, ValueError):
                pass
        try:
            self._flush()
        except OSError:
            pass

    def close(self):
        if not self.abrupt and self.raw.fileno() >= 0:
            timeout = self.raw.gettimeout()
            try:
                self.raw.settimeout(0.2)
                self._notify()
                self.raw.settimeout(timeout)
                return leave(self.raw)
            except OSError:
                pass
        self.raw.close()

    def setsockopt(self, level, name, value):
        if (level, name) == (socket.SOL_SOCKET, socket.SO_LINGER):
            self.abrupt = True
        self.raw.setsockopt(level, name, value)

    def setblocking(self, yes):
        self.raw.setblocking(yes)

    def settimeout(self, seconds):
        self.raw.settimeout(seconds)

    def gettimeout(self):
        return self.raw.gettimeout()

    def fileno(self):
        return self.raw.fileno()

    def getsockname(self):
        return self.raw.getsockname()

    def getpeername(self):
        return self.raw.getpeername()

    def pending(self):
        return self.tls.pending()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
