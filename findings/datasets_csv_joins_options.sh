#!/usr/bin/env bash
# datasets 5.2.0 writes a column of lists to CSV; the usual way back is ast.literal_eval.
# Expected: a list of two options comes back as a list of two options, or an error says it cannot.
# Happens: the cell is NumPy's print, which has no commas. Python joins texts that stand side by
# side, so literal_eval returns ONE option with the words of all, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0 pandas==3.1.1 pyarrow==26.0.1
cd "$folder"
HF_HOME="$folder/home" HF_DATASETS_OFFLINE=1 "$folder/venv/bin/python" - <<'PY'
import ast
import csv

import datasets

datasets.disable_progress_bars()
rows = [{"question": "Who sang?", "options": ["Ann", "Eve"], "answer": "Eve"}]
datasets.Dataset.from_list(rows).to_csv("rows.csv")
with open("rows.csv", encoding="utf-8", newline="") as file:
    (row,) = csv.DictReader(file)
options = ast.literal_eval(row["options"])
print("datasets", datasets.__version__, "| cell:", row["options"])
print("ast.literal_eval:", options)
assert options == ["AnnEve"], f"changed: {options}"
PY
