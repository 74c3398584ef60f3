"""Servers of a few answers, for tests of the loads."""

import os
import pathlib
import socket
import sys
import threading
import unittest

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Deploy" / "comparison"
sys.path.insert(0, str(FOLDER))

import accounting  # noqa: E402
from bench import Bench  # noqa: E402


class Machine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench("/nowhere", None, 0.2, 1).__enter__()
        cls.addClassCleanup(cls.bench.__exit__)

    def side(self, port):
        class Server:
            name, processes = "a server", accounting.Processes(os.getpid())

        return type("Side", (), {"name": "a server", "port": port, "secure": False, "server": Server})()

    def answers(self, *texts):
        """A server that gives each connection these answers, one for each request."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            connection, _ = listener.accept()
            with connection:
                for text in texts:
                    if not connection.recv(65536):
                        return
                    connection.sendall(text)

        threading.Thread(target=serve, daemon=True).start()
        return self.side(listener.getsockname()[1])

    def answer(self, body, status="200 OK"):
        return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
