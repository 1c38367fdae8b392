#!/usr/bin/env bash
# DuckDB 2.0.1 (Python): question ids in capitals that have the form of a UUID, read from JSON lines and from CSV, and written as
# JSON lines again.
# Expected: JSON and CSV have texts, so an id stays the text that it is.
# Happens: the JSON reader makes UUIDs of them, and they come back in lower case, so no prediction has the id of its question.
# From CSV they stay as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q duckdb==2.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import json
from pathlib import Path

import duckdb

print("duckdb", duckdb.__version__)
ids = [f"7D444840-9DC0-11D1-B245-5FFDCE74FAD{i}" for i in range(3)]
Path("q.jsonl").write_text("".join(json.dumps({"id": i, "answer": "Ann"}) + "\n" for i in ids))
Path("q.csv").write_text("id,answer\n" + "".join(f"{i},Ann\n" for i in ids))
same = {}
for reader, file in (("read_json", "q.jsonl"), ("read_csv", "q.csv")):
    duckdb.sql(f"copy (select * from {reader}('{file}')) to 'out.jsonl' (format json)")
    written = [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()]
    same[reader] = written == ids
    print(f"{reader}: {ids[0]} is written as {written[0]}")
assert same == {"read_json": False, "read_csv": True}, f"changed: {same}"
PY
