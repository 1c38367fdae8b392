#!/usr/bin/env bash
# gensim 4.4.0: the tokenizer of its tutorials, simple_preprocess, on a passage and on the options of a question about a year.
# Expected: numbers are words, as for most tokenizers.
# Happens: a word has letters only and at least two of them. All options are empty, so every overlap of a "when" or "how
# many" question is 0, and all options tie. "3rd" is "rd".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q gensim==4.4.0
"$folder/venv/bin/python" - <<'PY'
from importlib.metadata import version

from gensim.utils import simple_preprocess

print("gensim", version("gensim"))
passage = simple_preprocess("In 1854 the 3rd school had 12 pupils.")
options = {text: simple_preprocess(text) for text in ("1854", "1912", "12", "3rd")}
print("passage:", passage)
for text, words in options.items():
    print(f"option {text!r}: {words}, in the passage {len({*words} & {*passage})}")
assert passage == ["in", "the", "rd", "school", "had", "pupils"], f"changed: {passage}"
assert options == {"1854": [], "1912": [], "12": [], "3rd": ["rd"]}, f"changed: {options}"
PY
