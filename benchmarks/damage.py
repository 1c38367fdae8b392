"""Flips random bits in the files of an index and compares its answers with those of the undamaged
one.

``python -m benchmarks.damage [--flips 5000] [--seed 0]`` prints, for each file, how many flips were
refused with an error of the package, changed no answer, changed an answer silently, or ended in
another exception.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from classic_rc.errors import ClassicRCError
from classic_rc.questions import Passage
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.reading import PassageInput, TextFile
from classic_rc.retrieval.registry import open_corpus

WORDS = (
    "the fox ate sour grapes a crow held old cheese foxes praise crows vine of Zoë's café 東京 "
    "running"
).split()
QUERIES = [
    "What did the fox eat?",
    "Who held the cheese?",
    "running foxes in the café",
    "東京",
    "nothing known",
]
OPTIONS = [["grapes", "cheese", "of the"], ["a crow", "Zoë"], ["berries"], ["vine"], ["x"]]
REFUSED, SAME, SILENT, CRASHED = "refused", "same answers", "other answers", "other exceptions"


def make_index(folder: Path, n_sentences: int = 120, seed: int = 0) -> Path:
    """Build an index of three segments, from lines of text and from passages with ids."""
    rng = np.random.default_rng(seed)
    sentences = [
        " ".join(rng.choice(WORDS, rng.integers(1, 12))) + f" item{rng.integers(n_sentences)}."
        for _ in range(n_sentences)
    ]
    half = n_sentences // 2
    text = folder / "lines.txt"
    text.write_text("\n".join(sentences[:half]), encoding="utf-8")
    passages = [Passage(f"p-{i}", sentence) for i, sentence in enumerate(sentences[half:])]
    inputs = [TextFile(str(text)), PassageInput("passages", passages)]
    build_index(inputs, folder / "index", segment_sentences=-(-n_sentences // 3))
    return folder / "index"


def read_answers(folder: Path) -> list[Any]:
    """Return all that an index answers to some queries, and what it says of itself and of its
    sentences.
    """
    corpus = open_corpus(folder)
    engine = corpus.engine
    hits, best = engine.top(QUERIES, 10), engine.best_constrained(QUERIES, OPTIONS)
    numbers = range(engine.n_sentences)
    return [
        *(
            getattr(found, name).tobytes()
            for found in (hits, best)
            for name in ("sentences", "scores", "offsets")
        ),
        engine.term_facts(QUERIES[0], int(hits.sentences[0])),
        [engine.sentence(number) for number in numbers],
        list(engine.sentences()),
        [corpus.source(number) for number in numbers],
        engine.without([1, 5]).top(QUERIES, 10).scores.tobytes(),
        corpus.signature,
    ]


def flip_bits(
    folder: Path, n_flips: int, seed: int = 0, read: Callable[[Path], Any] = read_answers
) -> Counter[Any]:
    """Flip one bit after the other in the files of an index, and set each back.

    Parameters
    ----------
    folder : Path
    n_flips : int
        The files take turns.
    seed : int
    read : callable
        What is compared.

    Returns
    -------
    Counter
        How often each outcome came, by file and outcome.
    """
    rng = np.random.default_rng(seed)
    expected, outcomes = read(folder), Counter[Any]()
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    for number in range(n_flips):
        path = files[number % len(files)]
        content = path.read_bytes()
        place = int(rng.integers(len(content)))
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            outcome = SAME if read(folder) == expected else SILENT
        except ClassicRCError:
            outcome = REFUSED
        except Exception as error:
            outcome = f"{CRASHED} ({type(error).__name__})"
        finally:
            path.write_bytes(content)
        outcomes[path.name, outcome] += 1
    return outcomes


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = flip_bits(make_index(Path(folder)), args.flips, args.seed)
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{name:<20} {outcome:<30} {count:>6,}")
    for outcome in (REFUSED, SAME, SILENT, CRASHED):
        total = sum(count for (_, kind), count in outcomes.items() if kind.startswith(outcome))
        print(f"{'all files':<20} {outcome:<30} {total:>6,}")


if __name__ == "__main__":
    main()
