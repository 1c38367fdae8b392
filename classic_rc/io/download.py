"""A download over HTTP that continues where an earlier one stopped, and a lock between processes.

The bytes go to a partial file; a small file next to it names the version of the server's file that they belong to.
The next attempt asks for the rest of that version only: ``Range`` with ``If-Range`` (RFC 9110, sections 13.1.5 and
14.2). A server that has another version now, or that knows no ranges, sends the whole file with status 200, and the
download starts again.
"""

from __future__ import annotations

import errno
import http.client
import json
import re
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from classic_rc.errors import DataError, UsageError
from classic_rc.io import files
from classic_rc.io.hashing import sha256_of
from classic_rc.io.text import replace_file, write_atomically

TIMEOUT_SECONDS = 30.0
"""How long to wait for the next bytes of a server."""

RETRY_SECONDS = (1.0, 5.0)
"""The waits before a download that broke off is continued. The count starts again when bytes arrive."""

_BLOCK = 2**16
_GZIP = 31  # zlib's number for gzip
_POLL_SECONDS = 0.2
_RANGE_NOT_SATISFIABLE = 416
_MAY_PASS = {408, 425, 429, 500, 502, 503, 504}
"""The status codes of a server that may answer in a moment."""

_DISK_IS_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))

_BROKEN = (urllib.error.URLError, http.client.HTTPException, OSError)
"""The errors of a connection that fails or breaks off; timeouts are OSErrors."""


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is downloaded."""

    size: int | None = None  # in bytes
    sha256: str | None = None


class _BrokeOffError(Exception):
    """The connection failed or ended early; what has arrived is in the partial file."""


def download(
    url: str,
    path: Path,
    expected: Expected,
    *,
    advance: Callable[[int], object] = lambda steps: None,
    notify: Callable[[str], object] = lambda text: None,
    hint: str | None = None,
) -> str:
    """Download a file, continuing the partial file at `path` if there is one.

    Parameters
    ----------
    url : str
    path : Path
        The partial file. When the function returns, it is complete. After an interruption or a failure it stays, so
        that a later call continues it; a file with the wrong content is removed.
    expected : Expected
    advance : callable
        Called with the number of bytes that are there, then of new bytes; negative if a download starts again.
    notify : callable
        Called with what a user should know of a complete download.
    hint : str, optional
        What the user can do if the server does not have the file.

    Returns
    -------
    str
        The hex sha256 of the file.

    Raises
    ------
    DataError
        The server cannot be reached, does not have the file, breaks off again and again, or sends other content
        than expected.
    UsageError
        The partial file cannot be written.
    """
    waits = iter(RETRY_SECONDS)
    may_restart, has_known_end = True, True
    most = _size(path)
    advance(most)
    while True:
        start = _size(path)
        try:
            if expected.size is None or start != expected.size:
                has_known_end = _receive(url, path, expected, advance, hint)
        except _BrokeOffError as problem:
            if _size(path) > most:  # more than ever: a server that makes us start again and again is no progress
                waits = iter(RETRY_SECONDS)
            most = max(most, _size(path))
            seconds = next(waits, None)
            if seconds is None:
                kept = (
                    f"{_size(path):,} bytes are kept, and the same command continues them" if _size(path) else None
                )
                what = "the download broke off" if kept else "the download failed"
                raise DataError(what, source=url, found=str(problem), hint=kept or hint) from None
            time.sleep(seconds)
            continue
        if not _size(path):
            _forget(path, advance)
            raise DataError("the server sends an empty file", source=url, expected="content", hint=hint)
        sha256 = sha256_of(path)
        if (expected.sha256 is None or sha256 == expected.sha256) and expected.size in (None, _size(path)):
            if not has_known_end and expected == Expected():
                notify(f"the server did not say how long {url} is: nobody can tell whether its end is missing")
            return sha256
        found = f"{_size(path):,} bytes with sha256 {sha256}"
        _forget(path, advance)
        if start and may_restart:  # the bytes of an earlier attempt may be at fault
            may_restart = False
            continue
        size = "" if expected.size is None else f"{expected.size:,} bytes with "
        raise DataError(
            "the download is not the expected file",
            source=url,
            field="sha256",
            found=found,
            expected=f"{size}sha256 {expected.sha256}",
            hint=hint,
        )


class _HttpRedirects(urllib.request.HTTPRedirectHandler):
    """Redirections to HTTP addresses only; urllib would follow those to FTP servers too."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not newurl.lower().startswith(("http://", "https://")):
            raise urllib.error.HTTPError(req.full_url, code, f"{msg}, to {newurl}, no HTTP address", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _receive(url: str, path: Path, expected: Expected, advance: Callable[[int], object], hint: str | None) -> bool:
    """Download the rest of a file, or all of it, and return whether the server told where it ends."""
    start, validator = _size(path), _read_validator(path)
    # Without a validator, only the sum can tell whether the bytes belong together.
    if start and validator is None and expected.sha256 is None:
        start = 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "classic-rc"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator
    try:
        opener = urllib.request.build_opener(_HttpRedirects)
        with opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:
            if response.status == http.client.PARTIAL_CONTENT and not _continues(response, start, validator):
                _forget(path, advance)
                raise _BrokeOffError("a part of the file that was not asked for")
            if response.status == http.client.OK:
                advance(-start)
                start = 0
                _check_content(response, url, expected, hint)
            elif response.status != http.client.PARTIAL_CONTENT:
                raise _not_given_error(url, f"HTTP {response.status} {response.reason}", hint)
            _store(response, url, path, start, expected, advance)
            return response.chunked or _announced_length(response) is not None
    except UsageError:  # a ValueError too, but of ours
        raise
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == _RANGE_NOT_SATISFIABLE and start:
            _forget(path, advance)
            raise _BrokeOffError("a shorter file than before") from None
        if error.code in _MAY_PASS:
            raise _BrokeOffError(f"HTTP {error.code} {_one_line(error.reason)}") from None
        raise _not_given_error(url, f"HTTP {error.code} {_one_line(error.reason)}", hint) from None
    except _BROKEN as error:
        raise _BrokeOffError(_describe(error)) from None
    except ValueError as error:  # urllib's, for an address or a redirection that it cannot take apart
        raise DataError(
            "not an HTTP address, or redirected to none", source=url, found=_one_line(error), hint=hint
        ) from None


def _not_given_error(url: str, found: str, hint: str | None) -> DataError:
    return DataError("the server does not give the file", source=url, found=found, hint=hint)


def _continues(response: Any, start: int, validator: str | None) -> bool:
    """Return whether a part is that of the file from `start` on, in the version that was asked for."""
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    version = _validator_of(response.headers)
    return (
        start > 0
        and found is not None
        and int(found[1]) == start
        and (None in (validator, version) or validator == version)
        and response.headers.get("Content-Encoding", "identity").lower() == "identity"
    )


def _check_content(response: Any, url: str, expected: Expected, hint: str | None) -> None:
    """Refuse a web page in place of a file, such as that of a login, if no sum can tell them apart."""
    kind = response.headers.get_content_type()
    if expected.sha256 is None and kind in ("text/html", "application/xhtml+xml"):
        raise DataError(
            "the server sends a web page in place of the file",
            source=url,
            field="Content-Type",
            found=kind,
            expected="the file",
            hint=hint,
        )


def _announced_length(response: Any) -> int | None:
    length = response.headers.get("Content-Length")
    return int(length) if length is not None and length.isdecimal() else None


def _decoder(response: Any, url: str) -> Callable[[bytes], bytes]:
    """Return the function that undoes the content coding, although none was asked for."""
    coding = response.headers.get("Content-Encoding", "identity").lower()
    if coding in ("gzip", "x-gzip"):
        return zlib.decompressobj(_GZIP).decompress
    if coding == "identity":
        return bytes
    raise DataError(
        "the server sends the file in a content coding that was not asked for",
        source=url,
        field="Content-Encoding",
        found=coding[:40],
        expected="identity",
    )


def _store(
    response: Any, url: str, path: Path, start: int, expected: Expected, advance: Callable[[int], object]
) -> None:
    n_announced = _announced_length(response)
    limit = files.MAX_INPUT if expected.size is None else expected.size
    decode = _decoder(response, url)
    written, n_received = start, 0
    with _writing(path):
        file: IO[bytes] = open(path, "r+b" if start else "wb")  # noqa: SIM115 - closed below, where errors are named
        if not start:
            _write_validator(path, response.headers)
    try:
        file.seek(start)
        # Never more than one block beyond the expected size: the server may send anything.
        while written <= limit and (received := response.read1(_BLOCK)):
            n_received += len(received)
            block = decode(received)
            with _writing(path):
                file.write(block)
            written += len(block)
            advance(len(block))
    except zlib.error as error:
        raise _BrokeOffError(f"damaged gzip ({error})") from None
    finally:
        with _writing(path):
            file.close()
    if written > limit:
        if expected.size is None:
            _forget(path, advance)
            raise files.too_large_error(url, f"more than {limit:,} bytes")
        return
    # http.client does not complain about a body that is shorter than announced. Without an announcement, the end of
    # the connection is the end of the file, and only the expected size tells whether it came too early.
    if n_announced is not None and n_received < n_announced:
        raise _BrokeOffError(f"{n_received:,} of {n_announced:,} bytes")
    if n_announced is None and expected.size is not None and written < expected.size:
        raise _BrokeOffError(f"{written:,} of {expected.size:,} bytes")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Tell errors of the disk from those of the connection."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in _DISK_IS_FULL
        advice = ": free some space, and the same command continues" if is_full else ""
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}{advice}",
            field="path",
            found=str(path),
            expected="a file that can be written",
        ) from error


def _describe(error: BaseException) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:g} s"
    return _one_line(getattr(reason, "strerror", None) or reason) or type(reason).__name__


def _one_line(text: object) -> str:
    """Return a text as one short line, as messages need it: it can be whatever a server sent."""
    return " ".join(str(text).split())[:200]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _validator_file(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _read_validator(path: Path) -> str | None:
    """Return what identifies the version of the server's file that the partial file belongs to, or None."""
    try:
        kept = json.loads(_validator_file(path).read_text(encoding="utf-8"))["if_range"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return kept if isinstance(kept, str) else None


def _write_validator(path: Path, headers: Any) -> None:
    # Bytes that a content coding changed do not count as the server counts them, so they cannot be continued.
    is_coded = headers.get("Content-Encoding", "identity").lower() != "identity"
    if (validator := _validator_of(headers)) and not is_coded:
        write_atomically(_validator_file(path), json.dumps({"if_range": validator}))
    else:
        _validator_file(path).unlink(missing_ok=True)


def _validator_of(headers: Any) -> str | None:
    """Return what identifies a version of the server's file: its strong ETag, or its date."""
    # A weak ETag cannot be used: files of equal meaning may have other bytes.
    etag = headers.get("ETag", "")
    return etag if etag.startswith('"') else headers.get("Last-Modified")


def _forget(path: Path, advance: Callable[[int], object]) -> None:
    advance(-_size(path))
    path.unlink(missing_ok=True)
    _validator_file(path).unlink(missing_ok=True)


def finish_download(path: Path, target: Path) -> None:
    """Move a complete partial file to its place.

    Raises
    ------
    UsageError
        The file cannot be moved.
    """
    with _writing(target):
        replace_file(path, target)
        _validator_file(path).unlink(missing_ok=True)


@contextmanager
def exclusive_lock(path: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold the lock file `path`; wait while another process holds it.

    The operating system releases the lock when its process ends, however it ends.

    Parameters
    ----------
    path : Path
    on_wait : callable
        Called once if the lock is not free.

    Raises
    ------
    UsageError
        The lock file cannot be written, or its file system has no locks.
    """
    with _writing(path):
        file = open(path, "ab")  # noqa: SIM115 - closed below; the errors of opening it are named here
    try:
        is_first = True
        while not _try_lock(path, file):
            if is_first:
                on_wait()
            is_first = False
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        file.close()


def _try_lock(path: Path, file: IO[bytes]) -> bool:
    """Take the lock of an open file, if it is free."""
    with _writing(path), suppress(BlockingIOError, PermissionError):
        _lock_file(file)
        return True
    return False


def _lock_file(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
