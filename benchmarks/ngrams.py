"""Language models of generated text: seconds, memory, and candidates per second."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.timing import Table

_PROGRAM = """
import json, sys, time
import numpy as np
from benchmarks.generate import dataset, zipf_words
from classic_rc.kernels.kneser_ney import END, MARKS, START, count_ngrams, kneser_ney
from classic_rc.solvers import NGramLM
from classic_rc.solvers.ngram_lm.model import LanguageModel

n_tokens, order, sentence, n_words = int(sys.argv[1]), int(sys.argv[2]), 20, 100_000
ids = zipf_words(np.random.default_rng(0), n_tokens, n_words).reshape(-1, sentence)

def seconds(action):
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result

def texts():
    words = [f"w{i}" for i in range(n_words)]
    return (" ".join([words[i] for i in row]) for row in ids.tolist())

def of_ids():
    marked = np.pad(ids + len(MARKS), ((0, 0), (1, 1)))
    marked[:, 0], marked[:, -1] = START, END
    offsets = np.arange(len(marked) + 1) * marked.shape[1]
    return kneser_ney(count_ngrams(marked.ravel(), offsets, n_words + len(MARKS), order))

def from_text():
    return LanguageModel.fit(texts(), analyzer="word", order=order)

if sys.argv[3] == "text":
    fit, model = seconds(from_text)
    tables = model.model
else:
    fit, tables = seconds(of_ids)
try:
    import resource
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
except ImportError:  # Windows
    peak = None
rate = None
if sys.argv[3] == "text":
    solver, asked = NGramLM(order=order), dataset("RACE", max(n_tokens // 10_000, 10))
    solver.model_ = model
    rate = sum(len(q.candidates) for q in asked) / min(
        seconds(lambda: solver.score_candidates(asked))[0] for _ in range(3)
    )
print(json.dumps([sum(map(len, tables.keys)), fit, peak, rate]))
"""


def run(quick: bool = False) -> list[Table]:
    """Measure each model in a separate process, from word ids and from text."""
    rows = []
    for order in (3, 5):
        for source in ("ids", "text"):
            n_tokens = 200_000 if quick else 10_000_000
            command = [sys.executable, "-c", _PROGRAM, str(n_tokens), str(order), source]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            ngrams, fit, peak, rate = json.loads(done.stdout)
            name = f"{n_tokens:,} words, order {order}, from {source}"
            rows.append([name, ngrams, round(fit, 2), peak and round(peak), rate and round(rate)])
    return [
        {
            "title": "N-gram language models",
            "header": ["text, order", "n-grams", "fit, seconds", "peak MB", "candidates/s scored"],
            "rows": rows,
            "notes": [
                "Words drawn by Zipf's law from 100,000, 20 a sentence. Peak memory is the "
                "process's, the drawn words included; fitting from text writes and analyses the "
                "text, too; so does scoring.",
            ],
        }
    ]
