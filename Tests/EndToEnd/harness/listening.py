"""What peers that only listen share: a port of their own, a thread that accepts, and an end."""

import socket
import threading


class Listening:
    """Calls `accepted(connection, number)` for each connection, counted from 0, on the thread that accepts. `begin`
    starts it."""

    def begin(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        number = 0
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted(connection, number)
            number += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


def serve(method, *arguments):
    """Calls `method` on a thread of its own."""
    threading.Thread(target=method, args=arguments, daemon=True).start()
