"""Writing to consoles, pipes and files: UTF-8 if possible, ASCII for what an encoding lacks."""

from __future__ import annotations

import codecs
import errno
import io
import os
import signal
import sys
import threading
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TextIO, cast

from classic_rc.errors import ClassicRCError, SystemFailedError, UsageError
from classic_rc.io.files import check_folder
from classic_rc.io.text import printable, write_file
from classic_rc.plugins import PluginWarning

_ASCII = {
    "–": "-",
    "—": "-",
    "·": "|",
    "…": "...",
    "×": "x",
    "→": "->",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
_ASCII_FALLBACK = "classic-rc-ascii"


def _ascii_fallback(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding lacks with plain ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_to_ascii, error.object[error.start : error.end])), error.end


def _to_ascii(character: str) -> str:
    if unicodedata.combining(character):
        return ""
    decomposed = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return _ASCII.get(character) or decomposed or "?"


codecs.register_error(_ASCII_FALLBACK, _ascii_fallback)


class _ClosedOutput(io.TextIOBase):
    """The stdout of a process that was started without one: nothing can be written."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


def prepare_streams() -> None:
    """Set up stdout and stderr: no character raises an error, and pipes get UTF-8 and LF line ends.

    ``PYTHONIOENCODING`` overrides the encoding of pipes. Where the process has no stdout, a write
    raises OSError; where it has no stderr, messages are dropped.
    """
    if sys.stdout is None:
        sys.stdout = cast(Any, _ClosedOutput())
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is open until the process ends
    own_encoding = os.environ.get("PYTHONIOENCODING")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ASCII_FALLBACK)
            if not stream.isatty():
                stream.reconfigure(
                    newline="\n", encoding=None if own_encoding else "utf-8", errors=_ASCII_FALLBACK
                )


def print_message(text: str) -> None:
    """Write one line to stderr, after the program's name."""
    line = printable(text)
    with suppress(OSError):  # There is no other place to say it.
        sys.stderr.write(f"classic-rc: {line}\n")
        sys.stderr.flush()


class Failures:
    """Collects the errors of single datasets or systems, so that the others still give results."""

    exit_code: int = 0  # of the first error; 0 if there is none

    def add(self, error: ClassicRCError, about: str = "") -> None:
        """Report an error on stderr, with what it is about: by default the system that failed."""
        about = about or getattr(error, "name", "")
        print_message(f"error: {about}: {error}" if about else f"error: {error}")
        self.exit_code = self.exit_code or error.exit_code

    def add_failed(self, dataset: str, errors: Mapping[str, ClassicRCError]) -> None:
        """Report those of the systems without a row on a dataset whose code failed."""
        for name, error in errors.items():
            if isinstance(error, SystemFailedError):
                self.add(error, f"{dataset}: {name}")

    @contextmanager
    def caught(self, about: str = "") -> Iterator[None]:
        """Report an error of the block on stderr, with what it is about, and continue after the
        block.
        """
        try:
            yield
        except ClassicRCError as error:
            self.add(error, about)


@contextmanager
def plugin_warnings_as_messages() -> Iterator[None]:
    """Print warnings about plug-ins as one-line messages."""
    with warnings.catch_warnings():
        show: Any = warnings.showwarning

        def write_warning(warning: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, PluginWarning):
                print_message(f"warning: {warning}")
            else:
                show(warning, category, *where, **more)

        warnings.showwarning = cast(Any, write_warning)
        yield


def write_output(text: str | Iterable[str], output: str | None) -> None:
    """Write results to stdout or to a file, in pieces as they are made.

    A whole text is printed if the file cannot be written, so that it is not lost.
    """
    if output is None:
        sys.stdout.writelines([text] if isinstance(text, str) else text)
        return
    try:
        write_file(Path(output), text)
    except UsageError:
        if isinstance(text, str):
            sys.stdout.write(text)
        raise


_IMAGES = (".pdf", ".png", ".svg", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff")


def check_writable(
    output: str | None,
    *inputs: str | None,
    is_figure: bool = False,
    figure_option: str | None = None,
    option: str = "--output",
    is_folder: bool = False,
) -> None:
    """Check, before anything is computed, that `output` can be written and would not replace one of
    the inputs.

    `is_figure` tells that a figure is drawn to it; otherwise its name must not end like that of an
    image, and `figure_option` is the option that draws one. `option` names `output`. An output
    folder may be missing, and its parents too.
    """
    if output is None:
        return

    def refuse(problem: str, expected: str) -> UsageError:
        message = f"cannot write {output}: {problem}, expected {expected} ({option})"
        return UsageError(message, field=option, found=output, expected=expected)

    if not is_figure and not is_folder and output.lower().endswith(_IMAGES):
        root, suffix = os.path.splitext(output)
        figure = output if suffix.lower() in (".pdf", ".png", ".svg") else f"{root}.pdf"
        way = (
            f"use {figure_option} {figure}"
            if figure_option
            else f"save runs with `classic-rc run DATA --save DIR` and draw them with "
            f"`classic-rc table DIR --figure forest -o {figure}`"
        )
        raise refuse(f"this command's output is not an image. For a figure, {way}", "another name")
    try:
        os.lstat(output)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise refuse(str(error.strerror), "another name") from None
    if os.path.exists(output) and os.path.isdir(output) != is_folder:
        raise refuse(*(("it is a file", "a folder") if is_folder else ("it is a folder", "a file")))
    folder = output if is_folder else os.path.dirname(os.path.realpath(output))
    while is_folder and folder and not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder or os.curdir):
        raise refuse(f"the folder {folder} does not exist", "an existing folder")
    # a device is written, and not replaced
    if is_folder or not os.path.exists(output) or os.path.isfile(output):
        try:
            check_folder(folder)
        except OSError as error:
            problem = (
                f"the folder {folder or os.curdir} cannot be written ({error.strerror or error})"
            )
            raise refuse(problem, "another place") from None
    for path in map(_path_of, inputs) if os.path.isfile(output) else ():
        if path is not None and os.path.isfile(path) and os.path.samefile(output, path):
            raise refuse("it is also an input", "another file")


def _path_of(data: str | None) -> str | None:
    """Return the path in a specification of data."""
    if data is None or "," not in data:
        return data
    from classic_rc.datasets.specification import parse_data

    return parse_data(data).path


def use_colour(stream: TextIO, when: Literal["auto", "always", "never"] = "auto") -> bool:
    """Return whether to write colours; ``auto`` means on a terminal that shows them, unless
    NO_COLOR is set.
    """
    if when == "auto":
        return stream.isatty() and not os.environ.get("NO_COLOR") and _shows_colour()
    if when == "always":
        _shows_colour()  # turns colours on in a Windows console; the result does not matter
    return when == "always"


def _shows_colour() -> bool:
    """Return whether the terminal shows colour codes; on Windows, turn them on first."""
    if sys.platform != "win32":
        return os.environ.get("TERM") != "dumb"
    import ctypes

    enable_codes, stdout = 0x0004, -11  # ENABLE_VIRTUAL_TERMINAL_PROCESSING, STD_OUTPUT_HANDLE
    kernel, mode = ctypes.windll.kernel32, ctypes.c_uint32()
    handle = kernel.GetStdHandle(stdout)
    is_console = kernel.GetConsoleMode(handle, ctypes.byref(mode))
    return bool(is_console and kernel.SetConsoleMode(handle, mode.value | enable_codes))


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """End on SIGTERM, which batch systems send, as on Ctrl-C: so what is finished is printed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
