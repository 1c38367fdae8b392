"""What fitting and scoring with the span ranker cost, up to as many questions as SQuAD has."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import DATA, ROOT
from benchmarks.timing import Table
from classic_rc.datasets import load
from classic_rc.questions import Dataset, Question
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import SpanRanker

FILE = DATA / "squad" / "train-44-articles.json"
SQUAD = 87_599
"""The number of training questions of SQuAD 1.1."""
N_SCORED = 2_000

_LONG_WORD = re.compile(r"[A-Za-z]{6,}")
_SOUNDS = "aeiou", "bcdfghjklmnpqrstvwxz"


def copied(questions: Dataset, n: int) -> Dataset:
    """Return `n` questions: those given, then copies of them whose long words have other letters.

    Vowels and consonants are rotated, another way in each copy, except in the last three letters of
    a word: so copies have words of their own, and suffixes, capitals and the places of answers
    stay.
    """
    made: list[Question] = []
    while len(made) < n:
        number = len(made) // len(questions)
        passages = {id(p): replace(p, text=_rewrite(p.text, number)) for p in questions.passages}
        made += [
            replace(
                question,
                id=f"{question.id}-{number}",
                passage=passages[id(question.passage)],
                text=_rewrite(question.text, number),
                gold=tuple(_rewrite(text, number) for text in question.gold_texts),
            )
            for question in list(questions)[: n - len(made)]
        ]
    return Dataset(made, f"{questions.name}, {n} questions")


def _rewrite(text: str, number: int) -> str:
    rotated = [
        letters[number % len(letters) :] + letters[: number % len(letters)] for letters in _SOUNDS
    ]
    both = [
        ("".join(_SOUNDS) + "".join(_SOUNDS).upper()),
        ("".join(rotated) + "".join(rotated).upper()),
    ]
    table = str.maketrans(*both)
    return _LONG_WORD.sub(lambda word: word[0][:-3].translate(table) + word[0][-3:], text)


def measure(path: Path, n: int) -> dict[str, float]:
    """Fit on `n` questions and score some, in this process; return CPU seconds and MB."""
    questions = load(path)
    data = add_span_candidates(copied(questions, n))
    start = time.process_time()
    solver = SpanRanker().fit(data)
    fitted = time.process_time()
    some = list(data)[:N_SCORED]
    scores = solver.score_candidates(some)
    scored = time.process_time()
    # The bytes of the child's largest size so far; Linux counts kilobytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {
        "questions": len(data),
        "fit": fitted - start,
        "score": (scored - fitted) / len(some) * N_SCORED,
        "candidates": len(scores.values) / len(some),
        "peak": peak,
    }


def run(quick: bool = False) -> list[Table]:
    """Measure each size in a process of its own, where the file is."""
    rows = []
    if FILE.is_file():
        for n in (1_000,) if quick else (3_000, 11_877, SQUAD):
            command = [sys.executable, "-m", "benchmarks.spans", str(FILE), str(n)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            cost = json.loads(done.stdout)
            rows.append(
                [
                    int(cost["questions"]),
                    *(round(cost[key], 1) for key in ("fit", "score")),
                    round(cost["peak"]),
                ]
            )
    return [
        {
            "title": "Span ranker: learning from SQuAD's questions, and copies of them with other "
            "words",
            "header": [
                "training questions",
                "fit, CPU s",
                f"scoring {N_SCORED:,} questions, CPU s",
                "peak MB",
            ],
            "rows": rows,
            "notes": [
                f"The first 11,877 questions are real. {SQUAD:,} is the size of SQuAD's training "
                "data. The peak is that of the process, with the data."
            ],
        }
    ]


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
