#!/usr/bin/env bash
# datasets 5.2.0: labels "1" to "4", as in ARC, read as numbers and cast to ClassLabel(names=["1", "2", "3", "4"]).
# Expected: the number 1 becomes the class named "1", as the text "1" does; or an error.
# Happens: a number is taken as an index. 1 becomes the class named "2", and every gold label moves by
# one without an error, unless the data has a question whose answer is 4.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0 pandas==3.1.1 pyarrow==26.0.1
cd "$folder"
HF_HOME="$folder/home" HF_DATASETS_OFFLINE=1 "$folder/venv/bin/python" - <<'PY'
import datasets

datasets.disable_progress_bars()
names = datasets.ClassLabel(names=["1", "2", "3", "4"])
print("datasets", datasets.__version__)
with open("rows.csv", "w", encoding="utf-8") as file:
    file.write("question,answerKey\nWhich is a gas?,1\nWhich is a metal?,3\n")
numbers = datasets.Dataset.from_csv("rows.csv", cache_dir="cache")
texts = numbers.cast_column("answerKey", datasets.Value("string"))
for rows in (texts, numbers):
    labels = rows.cast_column("answerKey", names)["answerKey"]
    decoded = [names.int2str(label) for label in labels]
    print(rows.features["answerKey"].dtype, rows["answerKey"][:], "->", decoded)
    if rows is texts:
        assert decoded == ["1", "3"], f"changed: {decoded}"
assert decoded == ["2", "4"], f"changed: {decoded}"
PY
