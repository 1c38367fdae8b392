#!/usr/bin/env bash
# inspect_ai 0.3.285, multiple_choice(shuffle=...): whoever reads a log wants to know what the model
# answered.
# Expected: the log has the letters as the model wrote them, or all of them mapped to the data's
# order.
# Happens: an output that inspect can parse is rewritten to the data's order, prompt and answer alike;
# an output that it cannot parse keeps the shuffled letters and the shuffled prompt. `choices` and
# `target` always have the data's order, so letters of one log mean two orders.
# The mock model counts tokens with a downloaded file; a count of words is in its place.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q inspect_ai==0.3.285 tiktoken==0.14.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import random
from importlib.metadata import version

import tiktoken


class Words:
    def encode(self, text, **options):
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: Words()

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

options = ["red", "blue", "green", "black"]
samples = [Sample(input=f"Which, {i}?", choices=options, target="A", id=i) for i in range(12)]
said = ["ANSWER: A", "I think it must be A"] * 6
outputs = [ModelOutput.from_content("mockllm/model", text) for text in said]
task = Task(
    dataset=MemoryDataset(samples),
    solver=multiple_choice(shuffle=random.Random(7)),
    scorer=choice(),
)
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = eval(task, model=model, log_dir="logs", display="none", max_connections=1)
assert log.status == "success", log.error
print("inspect_ai", version("inspect_ai"), "| the model wrote A every time")
rewritten = kept = 0
for sample in log.samples:
    prompt = sample.messages[0].text
    order = [line.split(") ")[1] for line in prompt.splitlines() if line[1:3] == ") "]
    answer = sample.output.completion.strip()
    is_parsed = answer.startswith("ANSWER")
    in_data_order = order == options
    rewritten += is_parsed and answer != "ANSWER: A"
    kept += not is_parsed and not in_data_order
    print(f"  {sample.id:2}  logged: {answer:22} prompt: {' '.join(order)}  choices: {' '.join(sample.choices)}")
    assert sample.choices == options
    assert not is_parsed or in_data_order
assert rewritten and kept, f"changed: {rewritten} answers rewritten, {kept} left in shuffled order"
print(f"{rewritten} answers are rewritten, {kept} have the letters of a shuffled prompt")
PY
