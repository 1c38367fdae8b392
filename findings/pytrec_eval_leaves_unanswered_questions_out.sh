#!/usr/bin/env bash
# pytrec_eval-terrier 0.5.11 and ir_measures 0.4.3: four questions with gold, and a run that answers one of them rightly.
# Expected: an unanswered question counts as wrong: precision at 1 is 1/4.
# Happens: pytrec_eval has no value for unanswered questions, so the mean over its values is 1. ir_measures, which calls
# pytrec_eval, has 1/4.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pytrec_eval-terrier==0.5.11 ir_measures==0.4.3
"$folder/venv/bin/python" - <<'PY'
from importlib.metadata import version

import ir_measures
import pytrec_eval
from ir_measures import P

print(*(f"{name} {version(name)}" for name in ("pytrec_eval-terrier", "ir_measures")))
gold = {f"q{i}": {"A": 0, "B": 1} for i in range(4)}
run = {"q0": {"A": 1.0, "B": 2.0}}
values = pytrec_eval.RelevanceEvaluator(gold, {"P_1"}).evaluate(run)
mean = sum(value["P_1"] for value in values.values()) / len(values)
print(f"pytrec_eval: values of {len(values)} of {len(gold)} questions, mean {mean}")
other_mean = ir_measures.calc_aggregate([P @ 1], gold, run)[P @ 1]
print(f"ir_measures: mean {other_mean}")
assert (mean, other_mean) == (1.0, 0.25), f"changed: {mean}, {other_mean}"
PY
