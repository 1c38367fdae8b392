"""A headless Chromium that tests talk to over a pipe: the DevTools protocol, with nothing installed for it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """The program, where there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with one page.

    Parameters
    ----------
    profile : Path
        A folder of its own.
    """

    def __init__(self, program: str, profile: Path) -> None:
        to_read, to_browser = os.pipe()
        from_browser, to_write = os.pipe()
        flags = "--headless=new --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe"
        command = [program, *flags.split(), f"--user-data-dir={profile}", "about:blank"]
        # The protocol's ends have to be the descriptors 3 and 4.
        shell = ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "sh", *command]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(shell, pass_fds=(to_read, to_write), stdout=quiet, stderr=quiet)
        os.close(to_read)
        os.close(to_write)
        self._out, self._in = os.fdopen(to_browser, "wb"), os.fdopen(from_browser, "rb")
        self._buffer, self._last, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        (target,) = (t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command's result; events that come meanwhile are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._in.fileno(), 1 << 20)
            assert chunk, "Chromium has gone"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url: str, width: int = 1280, height: int = 900, *, mobile: bool = False) -> None:
        """Load an address anew in a window of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )
        self.call("Page.navigate", url="about:blank")
        self._wait_for_load()
        self.events.clear()
        self.call("Page.navigate", url=url)
        self._wait_for_load()

    def _wait_for_load(self) -> None:
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())
        self.events = [event for event in self.events if event["method"] != "Page.loadEventFired"]

    def run(self, script: str) -> Any:
        """The value of an expression, promises awaited."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def media(self, media: str = "", **features: str) -> None:
        """Emulate a medium (print), or what a user prefers."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=listed)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """The window, or the whole page, as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors and broken policies since the page was opened, and what it tried to fetch besides itself."""
        found = []
        for event in self.events:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(params["exceptionDetails"]["text"])
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"]["text"])
                case "Network.requestWillBeSent" if params["type"] != "Document":
                    found.append(params["request"]["url"])
        return found

    def close(self) -> None:
        """End the browser."""
        self._out.close()
        self._in.close()
        self._process.terminate()
        self._process.wait()
