"""Whether the analyzers and the sentence splitter take linear time on texts that make patterns
backtrack.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

from benchmarks.timing import Table
from classic_rc.text.analyzers import TOKENIZERS, Analyzer
from classic_rc.text.annotated import locate_tokens
from classic_rc.text.sentences import split_sentences

UNITS = (
    # words of one character without end, in several scripts
    *(
        "a",
        "1",
        "_",
        "-",
        "y",
        "\u0e01",
        "\ud55c",
        "\u0640",
        "\u4e00",
        "\u30a2",
        "\U00010437",
        "\U0001f600",
        "\U0001f1e9",
    ),
    # marks and joiners: in order, out of order, after a letter, with what joins them
    *(
        "\u0301",
        "\u0f71\u0f72",
        "a\u0301",
        "_\u0301",
        "\u200da",
        "1\ufe0f\u20e3",
        "\u30a2_",
        "_a",
        '\u05d0\u05d1"',
    ),
    # allowed inside a word or a number
    *("a'", "A.", "ab:", "1.", "1,", "a.b", "e.g."),
    # runs of punctuation, closed and not
    *("'", "''", '"', "``", "(", "])", "--", "*", "&quot;", "\\newline"),
    # ends of sentences that are none, and that are
    *(
        ".",
        "?!",
        ". .",
        ".)",
        '."',
        "Mr. ",
        "1. ",
        "! ",
        "\u65e5\u672c\u3002",
        "\uff1f\u300d",
        "!\n",
        "\n",
        " ",
    ),
    # numbers in words, and clitics
    *("twenty ", "one hundred ", "half past ", "can't ", "'tis "),
)
"""Texts repeat one of these. Each has been slow in some tokenizer, or looks like one that has."""


def functions() -> dict[str, Callable[[str], object]]:
    """Return what is measured, by name. An analyzer's `locate` finds the tokens, and then their
    places.
    """
    named: dict[str, Callable[[str], object]] = {
        name: Analyzer.named(name).locate for name in TOKENIZERS
    }
    named["sentence splitter"] = split_sentences
    named["places of annotated tokens"] = lambda text: locate_tokens(text[: len(text) // 2], text)
    return named


def run(quick: bool = False) -> list[Table]:
    """Measure each function on every text as the text grows, in steps of ten times."""
    most, patience = (10**5, 0.2) if quick else (10**6, 2.0)
    rows = [_measure(name, function, most, patience) for name, function in functions().items()]
    return [
        {
            "title": f"Adversarial texts of up to {most:,} characters, and of a tenth: the ratio "
            "of their times",
            "header": [
                "function",
                "texts",
                "median ratio",
                "largest ratio",
                "its text repeats",
                "its characters",
            ],
            "rows": rows,
            "notes": [
                "A ratio of 10 is linear, one of 100 quadratic. A text stops growing when it takes "
                f"more than {patience:g} s of CPU time.",
            ],
        }
    ]


def _measure(
    name: str, function: Callable[[str], object], most: int, patience: float
) -> list[object]:
    gc.collect()
    function("What is loaded on first use is loaded. \u00e9")
    ratios = {unit: _growth(function, unit, most, patience) for unit in UNITS}
    worst = max(ratios, key=ratios.__getitem__)
    ratio, length = ratios[worst]
    median = statistics.median(ratio for ratio, _ in ratios.values())
    return [name, len(UNITS), round(median, 1), round(ratio, 1), f"`{ascii(worst)[1:-1]}`", length]


def _growth(
    function: Callable[[str], object], unit: str, most: int, patience: float
) -> tuple[float, int]:
    """Return the ratio of the times of the two longest texts, and the length of the longest."""
    length, ratio = 1000, 1.0
    seconds = _seconds(function, (unit * length)[:length])
    while length < most and seconds < patience:
        length, before = 10 * length, seconds
        seconds = _seconds(function, (unit * length)[:length])
        ratio = seconds / before
    return ratio, length


def _seconds(function: Callable[[str], object], text: str) -> float:
    """Return CPU seconds without garbage collections, whose number depends on all objects of the
    process.
    """
    gc.disable()
    start = time.process_time()
    function(text)
    seconds = time.process_time() - start
    gc.enable()
    return seconds
