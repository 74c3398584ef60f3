"""Headless Chromium over the DevTools protocol, with a websocket of the standard library."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import time

from .process import LIVING


class Chromium:
    def __init__(self, folder):
        self.folder = str(folder)
        os.makedirs(self.folder, exist_ok=True)
        # One of before, in the same folder, would name a port that nobody listens on.
        if os.path.exists(f"{self.folder}/profile/DevToolsActivePort"):
            os.remove(f"{self.folder}/profile/DevToolsActivePort")
        self.number, self.events = 0, []

    def __enter__(self):
        program = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-proxy-server",
                "--ignore-certificate-errors",
                f"--user-data-dir={self.folder}/profile",
                "--remote-debugging-port=0",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        LIVING.add(self.process)
        port_file, end = f"{self.folder}/profile/DevToolsActivePort", time.monotonic() + 30
        while True:
            try:
                port, path = open(port_file).read().split("\n")[:2]
                break
            except (OSError, ValueError):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise RuntimeError("Chromium did not start")
                time.sleep(0.05)
        self.socket = socket.create_connection(("127.0.0.1", int(port)), 30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        LIVING.discard(self.process)

    def _take(self, count):
        while len(self.buffer) < count:
            data = self.socket.recv(65536)
            if not data:
                raise RuntimeError("Chromium closed its DevTools connection")
            self.buffer += data
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _receive(self):
        message = b""
        while True:
            first, second = self._take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack(">H", self._take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self._take(8))[0]
            data = self._take(length)
            if first & 15 in (0, 1, 2):
                message += data
                if first & 128:
                    return json.loads(message)

    def _send(self, text):
        data, mask = text.encode(), os.urandom(4)
        length = len(data)
        head = bytes([0x81]) + (bytes([0x80 | length]) if length < 126 else bytes([0xFE]) + struct.pack(">H", length))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._send(json.dumps(message))
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})
            self.events.append(answer)

    def wait(self, method, condition, seconds):
        end = time.monotonic() + seconds
        while True:
            for event in self.events:
                if event.get("method") == method and condition(event["params"]):
                    self.events.remove(event)
                    return event["params"]
            left = end - time.monotonic()
            if left <= 0:
                raise RuntimeError(
                    f"no {method} within {seconds} s; events: {[e.get('method') for e in self.events][-10:]}"
                )
            self.socket.settimeout(left)
            try:
                self.events.append(self._receive())
            except socket.timeout:
                pass
            finally:
                self.socket.settimeout(30)

    def page(self):
        """A new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, target, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def download(self, url, folder, seconds=60, resumes=0):
        """Downloads as a user who clicks a link would, and presses Resume so many times; "completed" or "canceled", and
        the file's path."""
        os.makedirs(folder, exist_ok=True)
        self.call("Browser.setDownloadBehavior", behavior="allowAndName", downloadPath=str(folder), eventsEnabled=True)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable", session)
        try:
            self.call("Page.navigate", session, url=url)
        except RuntimeError:
            pass
        begun = self.wait("Browser.downloadWillBegin", lambda p: True, 20)
        done = self.wait(
            "Browser.downloadProgress", lambda p: p["guid"] == begun["guid"] and p["state"] != "inProgress", seconds
        )
        state = done["state"]
        for _ in range(resumes):
            if state == "canceled":
                state = self.resume(seconds)
        return state, os.path.join(str(folder), begun["guid"])

    def resume(self, seconds):
        """Presses Resume on the page of downloads, as a user would, and waits: "completed" or "canceled"."""
        target = self.call("Target.createTarget", url="chrome://downloads")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        item = "document.querySelector('downloads-manager')?.shadowRoot.querySelector('downloads-item')"

        def ask(expression):
            return self.call("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"].get(
                "value"
            )

        end, pressed = time.monotonic() + seconds, False
        while time.monotonic() < end:
            state = ask(f"{item}?.data?.state")  # 2: complete, 5: interrupted
            if state == 2:
                return "completed"
            if state == 5 and pressed:
                return "canceled"
            if state == 5:
                ask(f"{item}.shadowRoot.querySelector('#pause-or-resume').click()")
                pressed = True
                time.sleep(0.5)
            time.sleep(0.1)
        return "canceled"


class Page:
    """A tab: goes to addresses, fills in forms, runs scripts."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        browser.call("Page.enable", session)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def go(self, url):
        """Navigates and waits until all of the page is there; its text."""
        return self.loaded(lambda: self.browser.call("Page.navigate", self.session, url=url))

    def loaded(self, act, seconds=20):
        """Does what loads another page, and waits for that; its text."""
        self.browser.events = [event for event in self.browser.events if event.get("method") != "Page.loadEventFired"]
        act()
        self.browser.wait("Page.loadEventFired", lambda _: True, seconds)
        return self.text()

    def run(self, script):
        """The value of a script, or of its promise."""
        answer = self.browser.call(
            "Runtime.evaluate", self.session, expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def text(self):
        return self.run("document.title + '\\n' + document.body.innerText")

    def fill(self, **values):
        """Fills in the page's form and presses its button; the text of the page that comes."""
        for name, value in values.items():
            self.run(f"document.querySelector('[name={name}]').value = {json.dumps(value)}")
        return self.loaded(lambda: self.run("document.querySelector('form button').click()"))
