"""pawl as the histories see it: an address that changes with each start, settings that change with a reload."""

import asyncio
import os
import pathlib
import shutil
import signal
import tempfile

from harness.process import Pawl, ini

HOLD = "\n"


class PawlSubject:
    """A process in a folder of its own. `sections` makes the configuration from the origin's URL and a letter."""

    def __init__(self, sections, origin, settings="a"):
        self.sections, self.origin, self.settings = sections, origin, settings
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pawl-model-"))
        self.pawl = Pawl(self.folder, self.text())

    def text(self):
        common = {
            "pawl": {
                "state-dir": "state",
                "workers": "2",
                "drain-timeout": "1s",
                "access-log": "off",
                "log-level": "notice",
            },
            "listen:main": {"address": "127.0.0.1:0"},
            "upstream:app": {
                "url": self.origin,
                "connect-timeout": "2s",
                "response-timeout": "20s",
                "idle-timeout": "500ms",
            },
        }
        return ini({**common, **self.sections(self.settings)})

    async def in_thread(self, work):
        return await asyncio.get_running_loop().run_in_executor(None, work)

    async def start(self):
        await self.in_thread(self.pawl.start)
        host, _, port = self.pawl.address.partition("://")[2].rpartition(":")
        self.address = (host, int(port))

    async def kill(self):
        self.pawl.process.kill()
        await self.in_thread(self.pawl.process.wait)
        await self.start()

    async def restart(self):
        await self.in_thread(self.pawl.stop)
        await self.start()

    async def reload(self, settings):
        """Returns once the new settings are in use."""
        self.settings = settings
        self.pawl.file.write_text(self.text())
        before = self.pawl.errors.stat().st_size if self.pawl.errors.exists() else 0
        self.pawl.signal(signal.SIGHUP)
        for _ in range(2000):
            await asyncio.sleep(0.005)
            with open(self.pawl.errors, "rb") as log:
                log.seek(before)
                said = log.read()
            if b"reload" in said and (b"reloaded" in said or b"reload-failed" in said):
                if b"reload-failed" in said:
                    raise AssertionError(f"a reload failed: {said[-1000:]!r}")
                return
        raise AssertionError("no word of the reload")

    def running(self):
        return self.pawl.running()

    def log(self):
        return self.pawl.log()

    async def end(self):
        code = self.pawl.process.returncode
        self.pawl.end()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code


def binary(path):
    os.environ["PAWL"] = str(pathlib.Path(path).resolve())
