#!/usr/bin/env bash
# pytrec_eval-terrier 0.5.11 (trec_eval), P@1 of a system that gives all options the same score.
# Expected: 1 of 4 on average, or the first option wins, as it does in NumPy's argmax.
# Happens: equal scores are ranked by name in descending order, whatever the order of the run. With
# options A to D the answer is always D: P@1 is 1 where the gold letter is D and 0 elsewhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pytrec-eval-terrier==0.5.11 numpy==2.3.4
"$folder/venv/bin/python" - <<'PY'
from importlib.metadata import version

import pytrec_eval

print("pytrec_eval-terrier", version("pytrec-eval-terrier"))
gold = {f"question {letter}": {letter: 1} for letter in "ABCD"}
measured = pytrec_eval.RelevanceEvaluator(gold, {"P_1", "recip_rank"})
for order in ("ABCD", "DCBA"):
    run = {question: dict.fromkeys(order, 1.0) for question in gold}
    figures = measured.evaluate(run)
    precision = {question: figures[question]["P_1"] for question in sorted(figures)}
    print("options in the run:", order, "| P@1:", precision)
    assert list(precision.values()) == [0, 0, 0, 1], f"changed: {precision}"
PY
