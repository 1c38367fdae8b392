#!/usr/bin/env bash
# datasets 5.2.0 reads JSON lines in which one option of one question is a number.
# Expected: the number becomes a text, or the file is refused; the other options stay as they are.
# Happens: the column gets the feature Json. In memory it looks right, but to_parquet() writes every
# option as a JSON text, and any other reader gets quotes and escapes as parts of the options.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0 pandas==3.1.1 pyarrow==26.0.1
cd "$folder"
HF_HOME="$folder/home" HF_DATASETS_OFFLINE=1 "$folder/venv/bin/python" - <<'PY'
import json

import datasets
import pandas

rows = [
    {"question": "Who sang?", "options": ["Ann", "Zoé"]},
    {"question": "How many sang?", "options": ["none", 3]},
]
with open("rows.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps(row) + "\n" for row in rows)
datasets.disable_progress_bars()
table = datasets.load_dataset("json", data_files="rows.jsonl", split="train", cache_dir="cache")
table.to_parquet("rows.parquet")
options = [list(own) for own in pandas.read_parquet("rows.parquet")["options"]]
print("datasets", datasets.__version__, "|", table.features["options"])
print("in memory:        ", [row["options"] for row in table])
print("pandas, Parquet:  ", options)
assert [row["options"] for row in table] == [["Ann", "Zoé"], ["none", 3]]
assert options == [['"Ann"', '"Zo\\u00e9"'], ['"none"', "3"]], f"changed: {options}"
PY
