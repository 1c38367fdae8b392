#!/usr/bin/env bash
# polars 2.1.0, read_ndjson: questions with three options, and some with a fourth one later in the file.
# Expected: a column option_d with nulls above, or an error about an unknown key.
# Happens: columns are those of the first 100 lines; a key that first occurs later is dropped without
# a word, and questions whose answer is D have no such option.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q polars==2.1.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import json

import polars

lines = []
for number in range(120):
    row = {"question": f"Question {number}?", "option_a": "x", "option_b": "y", "option_c": "z", "answer": "A"}
    if number >= 110:
        row |= {"option_d": "w", "answer": "D"}
    lines.append(json.dumps(row))
with open("rows.jsonl", "w", encoding="utf-8") as file:
    file.write("\n".join(lines))
table = polars.read_ndjson("rows.jsonl")
print("polars", polars.__version__, "| columns:", table.columns)
print("answers:", table["answer"].value_counts(sort=True).rows())
assert ("D", 10) in table["answer"].value_counts().rows()
assert "option_d" not in table.columns, "changed: the column is there"
whole = polars.read_ndjson("rows.jsonl", infer_schema_length=None)
assert "option_d" in whole.columns
print("with infer_schema_length=None:", whole.columns)
PY
