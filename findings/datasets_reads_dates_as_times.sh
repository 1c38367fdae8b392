#!/usr/bin/env bash
# datasets 5.2.0: JSON lines whose options and answers are texts such as "1998-05-04", read by load_dataset.
# Expected: JSON has no dates, so texts stay texts.
# Happens: if all texts of a column look like dates, lists included, the column has times at midnight. One question with
# another answer changes the type of the whole column. Exact match with the gold text "1998-05-04" is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - "$folder" <<'PY'
import json
import sys
from importlib.metadata import version
from pathlib import Path

from datasets import disable_progress_bars, load_dataset

disable_progress_bars()
print("datasets", version("datasets"))
dates = {"question": "When was it built?", "options": ["1998-05-04", "2001-01-02"], "answer": "1998-05-04"}
names = {"question": "Who built it?", "options": ["Ann", "Eve"], "answer": "Ann"}
kinds = {}
for name, rows in {"dates alone": [dates, dates], "dates and names": [dates, names]}.items():
    file = Path(sys.argv[1], f"{name}.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    row = load_dataset("json", data_files=str(file), split="train")[0]
    kinds[name] = type(row["answer"]).__name__, type(row["options"][0]).__name__
    print(f"{name}: the first answer is {row['answer']!r}, its first option {row['options'][0]!r}")
expected = {"dates alone": ("datetime", "datetime"), "dates and names": ("str", "str")}
assert kinds == expected, f"changed: {kinds}"
PY
