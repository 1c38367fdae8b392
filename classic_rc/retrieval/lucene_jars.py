"""Lucene's jars: where they are found, and which Java they need."""

from __future__ import annotations

import importlib.util
import os
import re
import zipfile
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from classic_rc.errors import DataError, UsageError

JARS_VARIABLE = "CLASSIC_RC_LUCENE_JARS"
"""The environment variable that names the jars: folders, files or patterns, divided as in ``PATH``."""

_DEBIAN = Path("/usr/share/java")
_DEBIAN_PARTS = ("core", "analyzers-common", "analysis-common", "backward-codecs")
_CORE = "org/apache/lucene/util/Version.class"
_ANALYZERS = "org/apache/lucene/analysis/en/EnglishAnalyzer.class"


@dataclass(frozen=True, slots=True)
class LuceneJars:
    """One release of Lucene.

    Attributes
    ----------
    paths : tuple of Path
        Jars that hold its core and its English analyzer, and perhaps more.
    source : str
        Who provides them, as in a message.
    java : int
        The oldest release of Java that can run them.
    """

    paths: tuple[Path, ...]
    source: str
    java: int


def find_jars() -> LuceneJars:
    """The jars that :data:`JARS_VARIABLE` names, else those of an installed pyserini, else Debian's.

    Raises
    ------
    UsageError
        None are found; or those of the variable lack a part of Lucene, or hold one twice.
    DataError
        A jar cannot be read.
    """
    for source, paths in ((JARS_VARIABLE, _named()), ("pyserini", _pyserini()), (str(_DEBIAN), _debian())):
        if paths is not None:
            return LuceneJars(paths, source, _java_needed(paths, source))
    raise UsageError(
        f"engine lucene found no jars of Lucene: `pip install --no-deps pyserini` or Debian's liblucene8-java "
        f"provides them, or {JARS_VARIABLE} names their folder"
    )


def _named() -> tuple[Path, ...] | None:
    value = os.environ.get(JARS_VARIABLE)
    if not value:
        return None
    places = [place for place in value.split(os.pathsep) if place]
    patterns = [os.path.join(place, "*.jar") if os.path.isdir(place) else place for place in places]
    return tuple(Path(path) for pattern in patterns for path in sorted(glob(pattern)))


def _pyserini() -> tuple[Path, ...] | None:
    # Importing pyserini would import torch.
    package = importlib.util.find_spec("pyserini")
    folders = package.submodule_search_locations if package else None
    jars = [jar for folder in folders or () for jar in Path(folder).rglob("anserini-*-fatjar.jar")]
    return (max(jars, key=_version),) if jars else None


def _debian() -> tuple[Path, ...] | None:
    cores = sorted(_DEBIAN.glob("lucene-core-*.jar"), key=_version)
    if not cores:
        return None
    version = cores[-1].name.removeprefix("lucene-core-")
    jars = (_DEBIAN / f"lucene-{part}-{version}" for part in _DEBIAN_PARTS)
    return tuple(jar for jar in jars if jar.exists())


def _version(jar: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", jar.name)]


def _java_needed(paths: tuple[Path, ...], source: str) -> int:
    """What the core's class file says: its format is Java's release plus 44."""
    formats: dict[str, list[int]] = {_CORE: [], _ANALYZERS: []}
    for path in paths:
        try:
            with zipfile.ZipFile(path) as jar:
                held = formats.keys() & jar.NameToInfo.keys()
                for name in held:
                    with jar.open(name) as content:
                        formats[name].append(int.from_bytes(content.read(8)[6:], "big"))
        except (OSError, zipfile.BadZipFile) as error:
            raise DataError(f"no jar that can be read ({error})", source=str(path)) from None
    for part, found in (("core", formats[_CORE]), ("analyzers", formats[_ANALYZERS])):
        if len(found) != 1:
            problem = "hold no" if not found else f"hold {len(found)} times a"
            raise UsageError(f"the jars of {source} {problem} Lucene {part}: one release, whole, is needed")
    return formats[_CORE][0] - 44
