"""Fitting and running the surface-feature learner: seconds, memory and candidates per second."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Table

MULTIRC = Path(__file__).resolve().parents[2] / "shared" / "data" / "multirc" / "train_456-fixedIds.json"

_SPECS = ("surface-lr", "surface-lr,learner=newton-cg", "surface-lr:multirc2018", "surface-lr,hashing=262144")

_PROGRAM = """
import json, sys, time
from benchmarks.generate import dataset
from classic_rc.datasets import load
from classic_rc.solvers import parse_solver

data = load(sys.argv[1]) if sys.argv[1] != "generated" else dataset("RACE", int(sys.argv[2]))
solver = parse_solver(sys.argv[3])

def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start

fit = seconds(lambda: solver.fit(data))
encoded = solver.encoded(data)
score = min(seconds(lambda: solver.score_candidates(encoded)) for _ in range(5))
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
except ImportError:  # Windows
    peak = None
n = sum(len(question.candidates) for question in data)
print(json.dumps([n, solver.design_.n_features, fit, peak, n / score]))
"""


def run(quick: bool = False) -> list[Table]:
    """Measure MultiRC train if its file is there, else generated data; each fit has its own process."""
    name, *source = ("MultiRC train", str(MULTIRC), "0")
    if quick or not MULTIRC.is_file():
        name, *source = ("generated", "generated", "100" if quick else "1700")
    rows = []
    for spec in _SPECS:
        command = [sys.executable, "-c", _PROGRAM, *source, spec]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        candidates, features, fit, peak, rate = json.loads(done.stdout)
        rows.append([f"{name}, {spec}", candidates, features, round(fit, 2), peak and round(peak), round(rate)])
    return [
        {
            "title": "Learning from surface features",
            "header": ["data, solver", "candidates", "features", "fit, seconds", "peak MB", "candidates/s scored"],
            "rows": rows,
            "notes": ["Fitting begins with the text; scored are encoded questions."],
        }
    ]


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["surface"])
