#!/usr/bin/env bash
# lm_eval 0.4.13, tasks xquad_zh and xquad_th: the F1 of an answer that lacks one character.
# Expected: Chinese and Thai are compared by character, as MLQA's own script does; the answer gets
# most of the credit, as in the task mlqa_zh_zh of the same package.
# Happens: all twelve languages have SQuAD's words between blanks. A Chinese answer is one word, so
# F1 is 0 unless it is exact: F1 and exact match are the same number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q lm_eval==0.4.13 evaluate==0.4.6 transformers==4.57.6
cd "$folder"
HF_HOME="$folder/home" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - 2>"$folder/log" <<'PY' || { cat "$folder/log"; exit 1; }
from importlib.metadata import version

from lm_eval.tasks.mlqa.utils import process_results_zh
from lm_eval.tasks.xquad.utils import process_results_qa as xquad

print("lm_eval", version("lm_eval"))
gold, answer = "北京大学", "北京大"
of_xquad = xquad({"answers": {"text": [gold]}}, [answer])
of_mlqa = process_results_zh({"answers": [gold]}, [answer])
print("xquad_zh:", of_xquad)
print("mlqa_zh_zh:", of_mlqa)
assert of_mlqa["f1"] > 0.8, f"changed: {of_mlqa}"
assert of_xquad == {"f1": 0, "exact_match": 0}, f"changed: {of_xquad}"
PY
