"""The keys of every file that the commands write: ``python -m tests.written_files`` pins them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from classic_rc.cli.main import main
from classic_rc.commands.grade import Isolation
from classic_rc.datasets import load, to_jsonl
from classic_rc.datasets.statistics import describe_datasets
from classic_rc.questions import Dataset, Task
from classic_rc.retrieval.storage import MANIFEST, read_folder
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import Solver, parse_solver, save_solver
from classic_rc.testing import synthetic_dataset
from tests import harness_logs, simulated

_ROOT = Path(__file__).resolve().parents[1]
PINNED = _ROOT / "tests" / "data" / "written_keys.txt"

Keys = dict[str, set[str]]
"""The keys of all objects at each path of a file."""

MODELS = {
    "surface-lr": ("surface-lr", "single"),
    "surface-lr-tuned": ("surface-lr:multirc2018", "several"),
    "feature-ranker": ("feature-ranker,trees=0", "single"),
    "feature-ranker-trees": ("feature-ranker,inputs=candidates,trees=2", "other"),
    "feature-ranker-prior": (
        "feature-ranker,inputs=candidates,trees=0,prior={folder}/feature-ranker.npz",
        "other",
    ),
    "lexical": ("lexical,weights=learned", "single"),
    "cloze-window": ("cloze-window:hill2015", "cloze"),
    "span-ranker": ("span-ranker,features=length+sentence+paths+borders", "spans"),
    "span-ranker-foreign": ("span-ranker,features=length+sentence+borders", "foreign"),
    "ngram-lm": ("ngram-lm", "cloze"),
    "combination": (
        "combination,solvers=[sw+d; surface-lr,features=answer],weights=stacked",
        "single",
    ),
}
"""The specification and the training data of each kind of saved solver, by the name of its file."""

N_SPAN_TOKENS = 3
"""The most tokens of candidate spans."""

COMMANDS = (
    "run several.jsonl -s random -s ir -s 'Some system=60' --threshold exact --tune several.jsonl "
    "--ties random --save {out}/saved --format json -o {out}/out.json",
    "run single.jsonl -s surface-lr --train single.jsonl --group kind --save {out}/saved "
    "--format json -o {out}/out.json",
    "run spans.jsonl -s span-sw --save {out}/saved --format json -o {out}/out.json",
    "run single.jsonl -s sw+d --by kind --by kind,skills --by skills,skills --intervals 50 "
    "--save {out}/saved --labels labels.csv --format json -o {out}/out.json",
    "run {log} -s LLM={log} -s sw+d --save {out}/saved --format json -o {out}/out.json",
    "run race -s sw+d --published --save {out}/saved --format json -o {out}/out.json",
    "run cloze.jsonl -s max-frequency --save {out}/saved --format json -o {out}/out.json",
    "run single.jsonl -s sw+d --perturbed=no-question --format json -o {out}/perturbed.json",
    "run single.jsonl -s 'Sliding window=sw+d' --by kind --format suite -o {out}/suite.toml",
    "run suite.toml --save {out}/saved --format json -o {out}/out.json",
    "run single.jsonl -s random -s sw+d -s surface-lr -s 'A file=answers.jsonl' --cv 3 --by kind "
    "--baseline sw+d --intervals 50 --save {out}/saved --format json -o {out}/out.json",
    "compare {run}/saved --by kind --examples 1 --format json -o {out}/out.json",
    "table {run}/saved --release {out}/release -o {out}/table.tex",
    "reproduce {run}/saved --format json -o {out}/out.json",
    "floor mine --compute single.jsonl --save {out}/saved --format json -o {out}/out.json",
    "floor --add {floor}/saved -o {out}/floors.json",
    "floor race:dev --by level --format json -o {out}/out.json",
    "floor --format json -o {out}/list.json",
    "floor {log} --format json -o {out}/out.json",
    "check single.jsonl --train other.jsonl -v --format json -o {out}/out.json "
    "--mend {out}/mended.jsonl",
    "check leaky.jsonl --train leaky.jsonl --format json -o {out}/out.json",
    "check votes.jsonl --fields passage=passage,id=id,gold=gold,question=ask,candidates=A+B+C+D,"
    "annotators=first+second --format json -o {out}/out.json",
    "check several.jsonl --format json -o {out}/out.json",
    "check spans.jsonl --format json -o {out}/out.json",
    "perturb single.jsonl --with no-question -o {out}/copy.jsonl",
    "perturb single.jsonl --with no-question --format lm-eval -o {out}/lm-eval.jsonl",
    "explain single.jsonl p2,0 -s sw+d -s ir -s surface-lr -s feature-ranker,trees=2 -s lexical "
    "-s alignment-ilp -s ngram-lm -s length --cv 3 --format json -o {out}/out.json",
    "explain cloze.jsonl p2,0 -s cloze-distance -s cloze-window -s max-frequency --format json "
    "-o {out}/out.json",
    "explain spans.jsonl p2,0 -s span-sw -s span-ranker --cv 3 --format json -o {out}/out.json",
    "predict single.jsonl -s sw+d --format jsonl -o {out}/answers.jsonl",
    "predict single.jsonl -s sw+d --scores --format jsonl -o {out}/scores.jsonl",
    "grade class --assignment adding.py --seed 1 --format json -o {out}/out.json "
    "--gradescope {out}/gradescope",
    "grade --assignment window --seed 1 --hand-out {out}/hand-out",
    "index single.jsonl -o {out}/index",
    "list metrics --format json -o {out}/out.json",
)
"""The command lines that write; ``{out}`` is a new folder for each, ``{run}`` the one of the last
`run`, and ``{log}`` what lm-evaluation-harness wrote. The keys of official forms of answers are not
ours: their scorers fix them (``tests/formats``).
"""

_SUITE = """
intervals = 50
[datasets.first]
path = "single.jsonl"
by = "kind"
[datasets.second]
path = "several.jsonl"
[systems]
Chance = "random"
"Sliding window" = "sw+d"
Spans = {first = "span-sw", second = "ir"}
"""

_FIELD = re.compile(r"[A-Za-z_][\w+-]*")
"""The form of a field's name. Most names from data, as those of ours, have other characters."""

_OPEN = ("packages", ".meta", "$.tasks", "$.tasks.*", "$.tasks.*.*[].metric", "$.floors")
"""Objects whose keys are the user's, or depend on what is installed."""

_NAMES_IN_PATHS = re.compile(r"\b[0-9a-f]{12,}\b|(?<=gradescope/)\w+|(?<=single/)[^.]+")
"""Digests, and the names of students and systems."""

_REPEATED = re.compile(r"(\.parts\[\])+")
"""Formulas are trees."""


def write_data(folder: Path) -> Path:
    """Write the data that :data:`COMMANDS` read, and return the log of lm-evaluation-harness."""
    for name, dataset in make_datasets().items():
        (folder / f"{name}.jsonl").write_text(to_jsonl(dataset), encoding="utf-8")
    single, leaky, spans = (
        read_jsonl(folder / f"{name}.jsonl") for name in ("single", "leaky", "spans")
    )
    foreign = [
        {**row, "gold": [_in_cyrillic(gold) for gold in row["gold"]]}
        | {name: _in_cyrillic(row[name]) for name in ("passage", "question")}
        for row in spans
    ]
    write_jsonl(folder / "foreign.jsonl", foreign)
    votes = [
        {"id": row["id"], "passage": row["passage"], "ask": row["question"], "gold": "A"}
        | dict(zip("ABCD", row["candidates"], strict=True))
        | {"first": "A", "second": "AB"[number % 2]}
        for number, row in enumerate(leaky)
    ]
    write_jsonl(folder / "votes.jsonl", votes)
    write_jsonl(folder / "answers.jsonl", [{"id": row["id"], "answer": "A"} for row in single])
    labels = "".join(f'"{row["id"]}",a skill;another one\n' for row in single)
    (folder / "labels.csv").write_text(f"id,skills\n{labels}", encoding="utf-8")
    (folder / "suite.toml").write_text(_SUITE, encoding="utf-8")
    shutil.copytree(_ROOT / "data" / "race", folder / "race")
    shutil.copy(_ROOT / "tests" / "commands" / "grade" / "adding.py", folder)
    (folder / "class").mkdir()
    for student, operator in (("good", "+"), ("wrong", "-"), ("similar", "-")):
        source = f"def add(a, b):\n    return a {operator} b\n"
        (folder / "class" / f"{student}.py").write_text(source, encoding="utf-8")
    likelihoods = [[-1.0, -2.0, -3.0, -4.0]] * len(harness_logs.GOLD)
    return harness_logs.write_log(folder, harness_logs.belebele_rows(likelihoods))


def _in_cyrillic(text: str) -> str:
    """Return a text in letters of another language, whose grammar a solver has to learn."""
    return text.translate(
        {ord("a") + number: ord("\N{CYRILLIC SMALL LETTER A}") + number for number in range(26)}
    )


def make_datasets() -> dict[str, Dataset]:
    """Return small datasets of all tasks, by the names of their files."""
    datasets = {
        "single": synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6, seed=1),
        "other": synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6, seed=2),
        "several": synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=6, seed=1),
        "cloze": synthetic_dataset(Task.CLOZE, n_passages=4, seed=1),
        "spans": synthetic_dataset(Task.SPAN, n_passages=4, seed=1),
        "leaky": simulated.make(Task.SINGLE_CHOICE, 1, leak=simulated.telling_word),
    }
    return {name: _with_kinds(dataset) for name, dataset in datasets.items()}


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _with_kinds(dataset: Dataset) -> Dataset:
    questions = [
        replace(question, meta={"kind": f"kind {number % 2}"})
        for number, question in enumerate(dataset)
    ]
    return replace(dataset, questions=questions)


def run_command(arguments: str) -> None:
    """Run a command line in this process."""
    messages = io.StringIO()
    trusted = mock.patch(
        "classic_rc.commands.grade.choose_isolation", return_value=Isolation("none")
    )
    with trusted, contextlib.redirect_stderr(messages), contextlib.redirect_stdout(messages):
        code = main(shlex.split(arguments))
    if code != 0:
        raise RuntimeError(f"classic-rc {arguments}: exit code {code}\n{messages.getvalue()}")


def fit_models(folder: Path) -> dict[str, Solver]:
    """Fit the solvers of :data:`MODELS` on the data of the working directory, and save them."""
    models = {}
    for name, (spec, data) in MODELS.items():
        dataset = add_span_candidates(load(f"{data}.jsonl"), N_SPAN_TOKENS)
        model = parse_solver(spec.format(folder=folder)).fit(dataset)
        models[name] = model.tune(dataset) if data == "several" else model
        save_solver(models[name], folder / f"{name}.npz")
    return models


def written_keys(folder: Path) -> dict[str, Keys]:
    """Run all commands in a folder, and return the keys of each kind of file that they write."""
    log = write_data(folder)
    outputs: list[Path] = []
    with contextlib.chdir(folder):
        for number, line in enumerate(COMMANDS):
            earlier = {path.name.split("-")[0]: path for path in outputs}
            outputs.append(_new_folder(f"{line.split()[0]}-{number}"))
            run_command(line.format(**earlier, out=outputs[-1], log=log.name))
        outputs.append(_new_folder("solvers"))
        fit_models(outputs[-1])
        described = describe_datasets([load("single.jsonl")]).to_dict()
        (outputs[-1] / "statistics.json").write_text(json.dumps(described), encoding="utf-8")
        return _merge_keys(outputs)


def _new_folder(name: str) -> Path:
    folder = Path(name)
    folder.mkdir()
    return folder


def pinned_keys() -> dict[str, Keys]:
    """Return the keys that are pinned."""
    sections = PINNED.read_text(encoding="utf-8").strip().split("\n\n")
    pinned = {}
    for label, *lines in map(str.splitlines, sections):
        keys = (line.partition(":") for line in lines)
        pinned[label[1:-1]] = {place: set(names.split()) for place, _, names in keys}
    return pinned


def _merge_keys(outputs: Iterable[Path]) -> dict[str, Keys]:
    """Return the keys of files, by command and name."""
    written: defaultdict[str, Keys] = defaultdict(lambda: defaultdict(set))
    for out in outputs:
        command = out.name.split("-")[0]
        for path in out.rglob("*"):
            name = _NAMES_IN_PATHS.sub("*", path.relative_to(out).as_posix())
            for place, names in _keys_of_file(path):
                written[f"{command}: {name}"][_REPEATED.sub(r"\1", place)] |= names
    return {label: dict(keys) for label, keys in sorted(written.items())}


def _keys_of_file(path: Path) -> Iterator[tuple[str, set[str]]]:
    if path.suffix == ".json":
        yield from _keys_in(json.loads(path.read_text(encoding="utf-8")))
    elif path.suffix == ".jsonl":
        yield from _keys_in(read_jsonl(path))
    elif path.suffix == ".toml":
        yield from _keys_in(tomllib.loads(path.read_text(encoding="utf-8")))
    elif path.suffix == ".yaml":
        lines = path.read_text(encoding="utf-8").splitlines()
        yield "$", {line.split(":")[0] for line in lines if re.match(r"\w+:", line)}
    elif path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as members:
            yield "$", {re.sub(r"[ ,]+", "_", name) for name in members.files}
            yield from _keys_in(json.loads(members["header"].tobytes()), "$.header")
    if path.name == MANIFEST:
        for arrays in read_folder(path.parent)[2]:
            yield "$.segments", set(arrays)


def _keys_in(content: Any, place: str = "$") -> Iterator[tuple[str, set[str]]]:
    if isinstance(content, Mapping):
        is_open = place.endswith(_OPEN)
        names = {key: key if _FIELD.fullmatch(key) and not is_open else "*" for key in content}
        yield place, set(names.values())
        for key, member in content.items():
            yield from _keys_in(member, f"{place}.{names[key]}")
    elif isinstance(content, list):
        for member in content:
            yield from _keys_in(member, f"{place}[]")


def keys_text(written: Mapping[str, Keys]) -> str:
    """Return keys as text: a heading for each kind of file, and a line for each kind of object."""
    sections = []
    for label, keys in written.items():
        lines = [f"{place}: {' '.join(sorted(names))}".rstrip() for place, names in keys.items()]
        sections.append("\n".join([f"[{label}]", *sorted(lines)]))
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["CLASSIC_RC_DATA"] = str(Path(temporary) / "cache")
        PINNED.parent.mkdir(exist_ok=True)
        PINNED.write_text(keys_text(written_keys(Path(temporary))), encoding="utf-8")
