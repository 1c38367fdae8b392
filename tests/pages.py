"""A dataset, parts of pages, an HTML parser, and a headless Chromium driven over a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from classic_rc.questions import Dataset, Passage, Question, Task
from classic_rc.reports.html import template_environment


@pytest.fixture(scope="session")
def quoref() -> Dataset:
    """Two questions in Quoref's form, with a name that is markup in LaTeX and mathematics in
    figures.
    """
    passage = Passage("p", "Ada met Bo. Ada left.")
    questions = [
        Question(f"q{i}", passage, "Who $met$ <b>Bo</b>?", (), gold, Task.MULTI_SPAN)
        for i, gold in enumerate([("Ada",), None])
    ]
    return Dataset(questions, "mine_&$", "dev", "quoref")


_VOID = {"meta", "input", "br", "wbr", "rect", "path", "circle"}


@pytest.fixture(scope="session")
def html_part() -> Callable[..., str]:
    """Fills in a part that pages share: its name in parts.html, then what it shows."""
    parts = template_environment().get_template("parts.html").module
    return lambda name, *values: str(getattr(parts, name)(*values))


class Outline(HTMLParser):
    """The elements and texts of a document; refuses elements that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


@pytest.fixture(scope="session")
def outline() -> type[Outline]:
    """What takes a document apart."""
    return Outline


_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 60
"""Seconds without the awaited answer or event after which the browser counts as lost."""

_LAUNCHER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for wanted, end in zip((3, 4), ends):  # where the browser looks for the pipe
    os.dup2(end, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """A browser with one page.

    Parameters
    ----------
    program : str
    profile : Path
        A folder of its own.
    """

    def __init__(self, program: str, profile: Path) -> None:
        to_read, to_browser = os.pipe()
        from_browser, to_write = os.pipe()
        flags = "--headless=new --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe"
        command = [program, *flags.split(), f"--user-data-dir={profile}", "about:blank"]
        launched = [sys.executable, "-c", _LAUNCHER, str(to_read), str(to_write), *command]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            launched, pass_fds=(to_read, to_write), stdout=quiet, stderr=quiet
        )
        os.close(to_read)
        os.close(to_write)
        self._out, self._in = os.fdopen(to_browser, "wb"), os.fdopen(from_browser, "rb")
        self._buffer, self._last, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        (target,) = (
            t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"
        )
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one command; events that arrive meanwhile are stored."""
        self._last += 1
        self._deadline = time.monotonic() + _PATIENCE
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while (answer := self._read()).get("id") != self._last:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            seconds_left = max(0, self._deadline - time.monotonic())
            assert select.select([self._in], [], [], seconds_left)[0], "Chromium does not answer"
            chunk = os.read(self._in.fileno(), 1 << 20)
            assert chunk, "Chromium has gone"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, address: str, width: int = 1280, height: int = 900) -> None:
        """Load an address anew in a window of this size."""
        self.resize(width, height)
        for url in ("about:blank", address):  # a change of the fragment alone would load nothing
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self.events.append(self._read())

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window a size; a narrow one is a phone's."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """The value of an expression, promises awaited."""
        done = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key, which may type something."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text=text,
            )

    def emulate(self, media: str = "", **features: str) -> None:
        """Emulate a medium (print), and what a user prefers; nothing undoes it."""
        listed = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", media=media, features=listed)

    def screenshot(self) -> bytes:
        """The window as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def accessibility(self) -> list[dict[str, Any]]:
        """The accessibility tree: each element with a role, its name and its properties."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{item["name"]: item["value"].get("value") for item in node.get("properties", [])},
            }
            for node in nodes
            if not node["ignored"]
        ]

    @property
    def complaints(self) -> list[str]:
        """Errors and broken policies since the page was opened, and what it fetched besides
        itself.
        """
        faults = []
        for event in self.events:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    faults.append(params["exceptionDetails"]["text"])
                case "Log.entryAdded":
                    faults.append(params["entry"]["text"])
                case "Network.requestWillBeSent" if params["type"] != "Document":
                    faults.append(params["request"]["url"])
        return faults

    def close(self) -> None:
        """End the browser."""
        self._out.close()
        self._in.close()
        self._process.terminate()
        self._process.wait()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A running browser, where there is one."""
    if sys.platform == "win32":
        pytest.skip("Chromium is driven over file descriptors, which Windows has not")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here (Debian: apt-get install chromium)")
    browser = Chromium(program, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()
