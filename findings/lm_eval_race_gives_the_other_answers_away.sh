#!/usr/bin/env bash
# lm_eval 0.4.13, task race: which questions of a passage are asked, and with what before them.
# Expected: every question of the test set, each with its passage: 3,498 in RACE-high.
# Happens: only the last question of each passage is asked (1,045), and in a run "without examples"
# its prompt shows the passage's other questions with their gold answers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q lm_eval==0.4.13
cd "$folder"
HF_HOME="$folder/home" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - 2>"$folder/log" <<'PY' || { cat "$folder/log"; exit 1; }
from importlib.metadata import version

from lm_eval.tasks.race.preprocess_race import doc_to_choice, doc_to_target, doc_to_text

print("lm_eval", version("lm_eval"))
problems = [
    {"question": "Who has a boat?", "answer": "B", "options": ["Ann", "Tom", "Eve", "Max"]},
    {"question": "When does it rain?", "answer": "D", "options": ["Monday", "Tuesday", "Friday", "Sunday"]},
    {"question": "What colour is it?", "answer": "A", "options": ["red", "blue", "green", "white"]},
]
doc = {"article": "Tom has a red boat. It rains on Sunday.", "problems": repr(problems)}
prompt = doc_to_text(doc)
print(prompt)
print("options:", doc_to_choice(doc), "| gold:", doc_to_target(doc))
assert doc_to_choice(doc) == problems[-1]["options"], "changed: another question is asked"
assert "Answer: Tom" in prompt and "Answer: Sunday" in prompt, "changed: no answers in the prompt"
PY
