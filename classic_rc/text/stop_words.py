"""Stop lists: the named ones that ship with the package, and users' own files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from classic_rc.errors import DataError, unknown_name
from classic_rc.io.files import read_input
from classic_rc.io.hashing import sha256_of_text

STOP_LISTS: dict[str, str] = {
    "none": "No words.",
    "smart": "The SMART retrieval system's 570 English words (571 lines in its file: 'would' is there twice).",
    "mctest": "The MCTest authors' list: SMART, ten punctuation marks and brackets, and 's.",
    "mcobzarenco": "The list of Sugawara et al. (AAAI 2017): MCTest's list and four more quotes and marks.",
    "lucene": "Lucene's 33 English words (EnglishAnalyzer; Elasticsearch's _english_).",
    "nltk": "nltk's 179 English words (its list until 2024), used in DREAM's sliding window.",
    "sklearn": "scikit-learn's 318 English words (ENGLISH_STOP_WORDS).",
}
"""A one-sentence description of each named list."""

_SHIPPED = ("smart", "lucene", "nltk")
_MCTEST_MARKS = frozenset([",", "?", ";", "_", "$", "'s", ".", "-LRB-", "-RRB-", '"', ":"])
_MCOBZARENCO_MARKS = frozenset(["!", "'", "''", "``"])


@cache
def stop_words(name_or_path: str) -> frozenset[str]:
    """Return the words of a stop list.

    Parameters
    ----------
    name_or_path : str
        A name in :data:`STOP_LISTS`, or the path of a UTF-8 text file with one word per line. A string with a
        slash, a backslash or a full stop is a path. The file is read once and lower-cased.

    Returns
    -------
    frozenset of str

    Raises
    ------
    UsageError
        No list has this name.
    DataError
        The file is missing or not UTF-8.

    Examples
    --------
    >>> len(stop_words("lucene")), "?" in stop_words("mctest"), stop_words("none")
    (33, True, frozenset())
    """
    if name_or_path == "none":
        return frozenset()
    if name_or_path == "mctest":
        return stop_words("smart") | _MCTEST_MARKS
    if name_or_path == "mcobzarenco":
        return stop_words("mctest") | _MCOBZARENCO_MARKS
    if name_or_path == "sklearn":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if name_or_path in _SHIPPED:
        shipped = files("classic_rc.text") / "stop_lists" / f"{name_or_path}.txt"
        return frozenset(shipped.read_text(encoding="utf-8").split())
    if not any(mark in name_or_path for mark in "/\\."):
        raise unknown_name("stop list", name_or_path, STOP_LISTS)
    return _read_stop_list(name_or_path)


def stop_list_signature(name_or_path: str) -> str:
    """Return a named list's name, or a file's name and content hash (``mine.txt@1f2e3d4c``) without its folder."""
    if name_or_path in STOP_LISTS:
        return name_or_path
    content = "\n".join(sorted(stop_words(name_or_path)))
    return f"{Path(name_or_path).name}@{sha256_of_text(content)[:8]}"


def _read_stop_list(path: str) -> frozenset[str]:
    try:
        text = read_input(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(
            "no such file", source=path, hint=f"Use a file of stop words or one of {', '.join(STOP_LISTS)}"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            "the stop list is not UTF-8", source=path, where=f"byte {error.start}", hint="Save it as UTF-8"
        ) from None
    except OSError as error:
        raise DataError("the stop list cannot be read", source=path, found=error.strerror) from None
    return frozenset(line.strip().lower() for line in text.splitlines()) - {""}
