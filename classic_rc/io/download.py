"""A download over HTTP that continues where an earlier one stopped.

pooch downloads; the bytes go to a partial file. If the file's sum is known, the next attempt asks
for the rest only. The sum also tells whether old and new bytes belong together: if not, the
download starts again.
"""

from __future__ import annotations

import errno
import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import Advance, sha256_of, unwritable_error

TIMEOUT_SECONDS = 30.0
"""How long to wait for the next bytes of a server."""

RETRY_SECONDS = (1.0, 5.0)
"""The waits before a download that broke off is continued. The count starts again when bytes
arrive.
"""

_BLOCK = 2**13  # the most that is lost when a connection breaks off
_MAY_PASS = {408, 425, 429, 500, 502, 503, 504}
"""The status codes of a server that may answer in a moment."""

NOT_THERE = "the server does not have the file, or refuses it"
"""The problem of the error for an address that has no such file."""

_DISK_IS_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is downloaded."""

    size: int | None = None  # in bytes
    sha256: str | None = None


class _BrokeOffError(Exception):
    """The connection failed or ended early; what has arrived is in the partial file."""


class _TooLongError(Exception):
    """The server sends more than the file has."""


def download(
    url: str,
    path: Path,
    expected: Expected,
    *,
    advance: Advance = lambda steps: None,
    notify: Callable[[str], object] = lambda text: None,
    hint: str | None = None,
) -> str:
    """Download a file, and return its hex sha256; continue the partial file at `path` if the sum is
    known.

    After an interruption or a failure the partial file stays, so that a later call continues it; a
    file with the wrong content is removed. `advance` gets the number of bytes that are there, then
    of new bytes, negative if a download starts again; `notify` what a user should know of a
    complete download. `hint` is for errors: what the user can do.
    """
    partial_file = _PartialFile(path, expected, advance)
    largest_size, waits, may_restart = partial_file.size, iter(RETRY_SECONDS), True
    while True:
        try:
            partial_file.receive(url, hint)
        except _BrokeOffError as problem:
            # more than ever: a server that makes us start again and again is no progress
            if partial_file.size > largest_size:
                largest_size, waits = partial_file.size, iter(RETRY_SECONDS)
            if (seconds := next(waits, None)) is not None:
                time.sleep(seconds)
                continue
            if not partial_file.size:
                failure = "the download failed"
            else:
                failure = "the download broke off"
                if expected.sha256:
                    hint = (
                        f"{partial_file.size:,} bytes are kept, and the same command continues them"
                    )
            raise DataError(failure, source=url, found=str(problem), hint=hint) from None
        if not partial_file.size:
            raise DataError(
                "the server sends an empty file", source=url, expected="content", hint=hint
            )
        sha256 = sha256_of(path)
        if expected.sha256 in (None, sha256) and expected.size in (None, partial_file.size):
            if expected.sha256 is None and not partial_file.has_known_end:
                notify(f"the server did not say how long {url} is: truncation cannot be detected")
            return sha256
        actual = f"{partial_file.size:,} bytes with sha256 {sha256}"
        partial_file.clear()
        if (
            partial_file.is_continued and may_restart
        ):  # the bytes of an earlier attempt may be at fault
            may_restart = False
            continue
        size = "" if expected.size is None else f"{expected.size:,} bytes with "
        raise DataError(
            "the download is not the expected file",
            source=url,
            field="sha256",
            found=actual,
            expected=f"{size}sha256 {expected.sha256}",
            hint=hint,
        )


class _PartialFile:
    """The file that pooch's downloader writes to, in one request for the whole content or for
    the rest of it.
    """

    def __init__(self, path: Path, expected: Expected, advance: Advance) -> None:
        self.path, self.expected, self.advance = path, expected, advance
        self.size = path.stat().st_size if path.exists() else 0
        self.is_continued = self.has_known_end = False
        self._file: IO[bytes] | None = None  # while it is written
        advance(self.size)

    def receive(self, url: str, hint: str | None) -> None:
        """Download what is missing."""
        import pooch
        import requests
        import urllib3

        if self.expected.sha256 is None:  # Nothing tells whether old and new bytes belong together.
            self.clear()
        if self.size and self.size == self.expected.size:
            self.is_continued = True
            return
        headers = {"Accept-Encoding": "identity", "User-Agent": "classic-rc"}
        if self.size:
            headers["Range"] = f"bytes={self.size}-"
        hooks = {"response": self._check_response}
        receive = pooch.HTTPDownloader(
            chunk_size=_BLOCK, timeout=TIMEOUT_SECONDS, headers=headers, hooks=hooks
        )
        try:
            receive(url, self, None)
        except _TooLongError:
            return
        except UsageError:  # a ValueError too, but of ours
            raise
        except (requests.HTTPError, requests.TooManyRedirects, ValueError) as error:
            actual = _one_line(error)
            if isinstance(error, requests.HTTPError) and error.response is not None:
                actual = f"HTTP {error.response.status_code} {_one_line(error.response.reason)}"
            raise DataError(NOT_THERE, source=url, found=actual, hint=hint) from None
        # The errors of requests are OSErrors; some of the packages below it come through.
        except (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError) as error:
            raise _BrokeOffError(_describe(error)) from None
        finally:
            with _writing(self.path):
                if self._file is not None:
                    self._file.close()
                    self._file = None
        if self.expected.size is not None and self.size < self.expected.size:
            raise _BrokeOffError(f"{self.size:,} of {self.expected.size:,} bytes")

    def write(self, block: bytes) -> None:
        """Write the next bytes."""
        with _writing(self.path):
            if self._file is None:
                self._file = open(self.path, "ab")  # noqa: SIM115 - closed in `receive`
            self._file.write(block)
        self.size += len(block)
        self.advance(len(block))
        # the server may send anything
        if self.expected.size is not None and self.size > self.expected.size:
            raise _TooLongError

    def flush(self) -> None:
        """Put the last bytes on the disk, as pooch asks after every block: they outlive a killed
        process.
        """
        with _writing(self.path):
            if self._file is not None:
                self._file.flush()

    def clear(self) -> None:
        """Forget all bytes."""
        if self.size:
            self.advance(-self.size)
            self.size = 0
            self.path.unlink()

    def _check_response(self, response: Any, **_: Any) -> None:
        """Look at the head of a response before pooch reads its content."""
        is_rest = response.status_code == http.client.PARTIAL_CONTENT
        begins_here = response.headers.get("Content-Range", "").startswith(f"bytes {self.size}-")
        fits = self.size and begins_here and "Content-Encoding" not in response.headers
        if response.status_code in _MAY_PASS:
            raise _BrokeOffError(f"HTTP {response.status_code}")
        if response.status_code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE or (
            is_rest and not fits
        ):
            self.clear()
            raise _BrokeOffError("a part of the file that was not requested")
        if response.status_code == http.client.OK:
            self.clear()  # a server without ranges sends the file again
        self.is_continued = is_rest
        length = response.headers.get("Content-Length")
        self.has_known_end = length is not None or "chunked" in response.headers.get(
            "Transfer-Encoding", ""
        )
        if length is not None and not length.isdecimal():
            raise _BrokeOffError(f"the Content-Length {_one_line(length)!r}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Tell errors of the disk from those of the connection."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in _DISK_IS_FULL
        advice = ": free some space, and the same command continues" if is_full else ""
        raise unwritable_error(path, error, advice) from error


def _describe(error: BaseException) -> str:
    # requests wraps the system's error several times
    while inner := error.__cause__ or error.__context__:
        error = inner
    if isinstance(error, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:g} s"
    return _one_line(getattr(error, "strerror", None) or error) or type(error).__name__


def _one_line(text: object) -> str:
    """Return a text as one short line, as messages need it: it can be whatever a server sent."""
    return " ".join(str(text).split())[:200]
