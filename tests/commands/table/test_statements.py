"""Random runs: every statement of the paragraph on methods against the fields of its record."""

from __future__ import annotations

import json
import random
import re
import statistics
from itertools import chain

import pytest

from classic_rc import evaluate, load
from classic_rc._version import __version__
from classic_rc.commands.table import make_paper_table, read_paper_records, table_latex
from classic_rc.commands.table.methods import method_statements, settings_table
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.mean_intervals import PRIOR_ERRORS
from classic_rc.results.record import run_record
from tests.command_line import answers_csv, read_record
from tests.depth import thinned

DATA = ("sample:single-choice", "sample:multiple-answer", "sample:cloze")
SYSTEMS = (
    "random",
    "longest",
    "sliding-window",
    "sliding-window,window=5",
    "sw+d",
    "sw+d:mctest160",
    "surface-lr",
    "lexical",
)
TIES = {
    "partial": "equal part",
    "first": "the first of them",
    "random": "is drawn",
    "strict": "counts as wrong",
}


def make_runs(rng, folder):
    """A record of several runs with random settings, and a system under one name that differs
    between datasets.
    """
    evaluations = []
    baseline = rng.choice(["A", ["A"], ["B", "A"]])
    for data in rng.sample(DATA, rng.randint(1, 3)):
        dataset = load(data)
        systems = dict(zip(("A", "B", "C"), rng.sample(SYSTEMS, 3), strict=True))
        if dataset.task.has_choices and rng.random() < 0.7:
            letters = ["A", "B", "?", "The answer is not A"]
            path = folder / f"{len(evaluations)}.csv"
            path.write_text(answers_csv((q.id, rng.choice(letters)) for q in dataset), "utf-8")
            systems["File"] = str(path)
        if dataset.task is Task.SINGLE_CHOICE:
            systems["Runs"] = []
            for k in range(rng.randint(2, 4)):
                path = folder / f"run{k}.csv"
                path.write_text(answers_csv((q.id, rng.choice("ABC")) for q in dataset), "utf-8")
                systems["Runs"].append(str(path))
            path = folder / "sample.csv"
            path.write_text(answers_csv((q.id, "A") for q in dataset[:15]), "utf-8")
            systems |= {"Human": f"{path},sample=15", "Said": 95.5} if rng.random() < 0.7 else {}
        settings = {"cv": rng.choice([2, 3])}
        settings |= {"ties": rng.choice([*TIES])} if rng.random() < 0.5 else {}
        settings |= {"intervals": rng.choice([20, 30])} if rng.random() < 0.7 else {}
        settings |= {"baseline": baseline} if rng.random() < 0.7 else {}
        evaluations.append(evaluate(dataset, systems, seed=rng.randint(0, 9), **settings))
    (folder / "run.json").write_text(json.dumps(run_record(evaluations)), encoding="utf-8")
    return folder / "run.json"


def check(statement, runs):
    """Check a statement against the runs of its datasets; raise KeyError if nothing knows what
    it says.
    """
    for run in runs:
        rows = {row["name"]: row for row in run["rows"]}
        if match := re.match(r".* has ([\d,]+) questions about (\d+) passage", statement):
            assert int(match[1].replace(",", "")) == run["dataset"]["questions"]
            assert int(match[2]) == run["dataset"]["passages"]
        elif statement.startswith("if several candidates"):
            policy = next(policy for policy, words in TIES.items() if words in statement)
            bracket = re.search(r"\((.*)\)$", statement)
            expected = {name for name, row in rows.items() if row["ties"] == policy}
            assert expected
            others = {row["ties"] for row in rows.values()} - {None, policy}
            assert bool(bracket) == bool(others)
            if bracket:
                assert set(re.split(r", | and ", bracket[1])) == expected
        elif match := re.match(r"the result of (.+) is an expectation", statement):
            assert rows[match[1]]["expected"]
        elif statement.startswith("folds keep"):
            assert any("|folds:near" in row["signature"] for row in rows.values())
        elif statement.startswith("we report"):
            assert run["dataset"]["primary_metric"]
        elif match := re.match(r"intervals are the exact (\d+)% binomial bounds", statement):
            assert int(match[1]) == 100 * run["resampling"]["level"]
            assert f"{PRIOR_ERRORS:g} errors" in statement
        elif match := re.match(
            r"the intervals of .+ are (\d+)% percentile .* from ([\d,]+) .*seed (\d+)", statement
        ):
            resampling = run["resampling"]
            assert int(match[1]) == 100 * resampling["level"]
            assert int(match[2]) == resampling["resamples"]
            assert int(match[3]) == resampling["seed"]
        elif statement.startswith(("an asterisk", "superscripts")):
            significance = run.get("significance")
            if significance is None:
                assert f"on {run['dataset']['name']}" not in statement
                continue
            names = [significance["baseline"], *significance.get("others", [])]
            assert f"{' and '.join(names)} in " in statement
            assert (
                f"{significance['n']:,} random permutations with seed {significance['seed']}"
                in statement
            )
            is_shared = len(names) > 1
            n_tests = 2 * (len(rows) - 1) - 1 if is_shared else len(rows) - 1
            assert re.search(rf"\b{n_tests} comparison", statement)
            assert significance["tests"] == n_tests or not is_shared
        elif match := re.match(
            r"(\w+): mean of (\d+) runs, standard deviation ([\d.]+) on (\S+)", statement
        ):
            if run["dataset"]["name"] != match[4]:
                continue
            row = rows[match[1]]
            right = [outcome["statistics"]["accuracy"] for outcome in row["outcomes"].values()]
            by_run = ([question[k][0] for question in right] for k in range(row["runs"]))
            values = [100 * statistics.mean(credits) for credits in by_run]
            assert int(match[2]) == row["runs"]
            # the statement rounds the two decimals that the record has
            assert float(match[3]) == pytest.approx(statistics.stdev(values), abs=0.0551)
            assert row["metrics"]["accuracy"] == pytest.approx(statistics.mean(values) / 100)
        elif match := re.match(r"the intervals of (\w+) are of both sources", statement):
            assert rows[match[1]]["runs"] > 1
            assert run["resampling"]
        elif match := re.match(r"(\w+): a sample of (\d+) questions of (\S+), not", statement):
            if run["dataset"]["name"] == match[3]:
                ungrouped = [g for g in run["given"][match[1]] if g["group"] is None]
                assert {g["questions"] for g in ungrouped} == {int(match[2])}
        elif match := re.match(
            r"the intervals of (\w+) are 95% intervals of the same kind", statement
        ):
            assert run["given"][match[1]][0]["interval"]
        elif match := re.match(r"(.+) approximates what its source annotated: (.+)", statement):
            parts = re.split(r", | and ", match[2])
            assert f"|approximated:{' + '.join(parts)}|" in rows[match[1]]["signature"]
        elif match := re.match(r"the numbers of (\w+) are given and not measured", statement):
            given = [run["given"][match[1]][0] for run in runs if "given" in run]
            assert "95.5" in {figure["printed"] for figure in given}
        elif statement == "tests compare the mean outcomes of several runs":
            assert any(row.get("runs", 1) > 1 for run in runs for row in run["rows"])
        elif statement == "other metrics are not tested":
            assert any(run.get("significance") for run in runs)
        elif match := re.match(r"the predictions of (.+) are read from files", statement):
            for name in re.split(r", | and ", match[1]):
                all_rows = chain.from_iterable(run["rows"] for run in runs)
                solvers = {row["solver"] for row in all_rows if row["name"] == name}
                assert solvers == {"score-file"}
        elif statement.startswith("answers that could not be parsed"):
            for name, row in rows.items():
                if row["answers"] and row["answers"]["unparsed"]:
                    counts = row["answers"]
                    phrase = f"{counts['unparsed']} of {counts['answers']} answers unparsed"
                    assert f"{name} on {run['dataset']['name']}: {phrase}" in statement
        elif statement.startswith("the runs used"):
            assert "classic_rc" in statement
        else:
            remarks = [*run["dataset"]["warnings"], *run["dataset"]["notes"]]
            for name, row in rows.items():
                remarks += [f"{name}: {caveat}" for caveat in row["caveats"]]
            pattern = re.escape(statement.split(": ")[-1].rstrip("."))
            pattern = re.sub(r"\d+\\\.\d\b", r"\\d+\\.\\d+", pattern)
            assert any(re.search(pattern, remark) for remark in remarks), statement


@pytest.mark.parametrize("seed", thinned(range(12), 4))
def test_every_statement_is_in_its_record(tmp_path, seed):
    path = make_runs(random.Random(seed), tmp_path)
    table = make_paper_table(read_paper_records([path]))
    runs = {run["dataset"]["name"]: run for run in read_record(tmp_path)["runs"]}
    statements = method_statements(table)
    assert statements
    for labels, statement in statements:
        plain = re.sub("\ue000[^\ue001]*\ue001", "", statement)
        if plain.startswith(("sources of data", "published results")):
            continue
        if "are given" in plain:
            check(plain, [run for run in runs.values() if "given" in run])
        else:
            check(plain, [runs[label] for label in labels])
    for (name, _, solver, changed, trained, tuned), labels in settings_rows(table):
        for label in labels:
            row = next(row for row in runs[label]["rows"] if row["name"] == name)
            kind = f"{row['solver']}:{row['variant']}" if row["variant"] else row["solver"]
            assert solver == ("file" if kind == "score-file" else kind)
            assert bool(trained) == bool(row["trained_on"])
            assert bool(tuned) == bool(row["tuned_on"])
            for change in (changed or "").split(", "):
                key, _, value = change.partition("=")
                assert not value or f"|{key}:{value}" in row["signature"]


def settings_rows(table):
    labels = [dataset.label for dataset in table.shown_datasets]
    for group in settings_table(table).row_groups:
        for row in group.rows:
            yield row, labels if row[1] == "all" else re.split(r", | and ", row[1])


def test_several_baselines_are_one_family_and_have_letters(tmp_path):
    options = tuple(map(Candidate, ("a", "bb", "ccc", "dddd")))
    questions = []
    for i in range(40):
        passage, gold = Passage(f"p{i}", f"text {i}"), frozenset({i % 3})
        questions.append(Question(f"q{i}", passage, "?", options, gold, Task.SINGLE_CHOICE))
    dataset = Dataset(questions)
    systems = {"Low": "longest", "SW": "sliding-window"}
    for name, letters in (("Up", "ABC"), ("Down", "BCD")):
        path = tmp_path / f"{name}.csv"
        path.write_text(answers_csv((f"q{i}", letters[i % 3]) for i in range(40)), "utf-8")
        systems[name] = str(path)
    record = run_record([evaluate(dataset, systems)])
    (tmp_path / "run.json").write_text(json.dumps(record), encoding="utf-8")
    records = read_paper_records([tmp_path / "run.json"])
    table = make_paper_table(records, baseline=["Low", "Down"])
    beats = {row.name: row.cells[0].test.beats for row in table.rows}
    assert beats["Up"] == (0, 1)
    assert beats["Down"] == ()
    latex = table_latex(table)
    assert "Low$^{a}$" in latex
    assert r"\rlap{$^{ab}$}" in latex
    (sentence,) = [
        statement
        for _, statement in method_statements(table)
        if statement.startswith("superscripts")
    ]
    assert "for 5 comparisons" in sentence  # 2 x 3 pairs, and the two baselines are one of them
    one_baseline = make_paper_table(records, baseline=["Low"])
    assert len(one_baseline.baselines) == 1
    assert one_baseline.rows[0].cells[0].test.beats == ()


def test_a_paragraph_can_be_pasted(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset = load("sample:single-choice")
    answers = []
    for i, question in enumerate(dataset):
        (gold,) = question.gold
        answers.append((question.id, "ABCD"[(gold + (i > 2)) % 4]))
    (tmp_path / "llm.csv").write_text(answers_csv(answers), encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        """
        baseline = "SW+D"
        [datasets.RACE]
        path = "sample:single-choice"
        [datasets.Notices]
        path = "sample:multiple-answer"
        cv = 3
        [systems]
        "SW+D" = "sw+d"
        longest = "longest"
        [systems.LLM]
        note = "Model X, zero-shot, temperature 0, 2026-11-20."
        RACE = "llm.csv"
        """,
        encoding="utf-8",
    )
    assert cli("run", "s.toml", "--save", "runs", "-q").code == 0
    systems = read_record(tmp_path / "runs")["runs"][0]["protocol"]["systems"]
    (entry,) = (system for system in systems if system["name"] == "LLM")
    assert entry["note"].startswith("Model X")
    text = cli("table", "runs", "--methods", "--rename", "LLM=GPT").out
    assert text.startswith("RACE has 24 questions about 6 passages. Notices has ")
    assert "The predictions of GPT are read from files." in text
    assert "GPT: Model X, zero-shot, temperature 0, 2026-11-20. " in text
    assert "this package" not in text
    assert "score-file" not in text
    assert f"classic_rc {__version__}" in text
    assert (
        "An asterisk marks a system that differs significantly from SW+D in accuracy on RACE and "
        "F1a on Notices at p < 0.05: two-sided paired permutation tests that swap whole passages "
        "between two systems (exact, or 10,000 random permutations with seed 0 if there are more), "
        "with Holm's correction for 2 comparisons. "
    ) in text
    paragraph, _, tables = text.partition("\n\n")
    for citation in re.findall(r"\w+ et al\., \d{4}", paragraph):
        assert paragraph.count(citation) == 1
    assert tables.index("Results (%)") < tables.index("Settings of the systems")
    for decimals in (0, 1, 2):
        printed = cli("table", "runs", "--methods", "--decimals", decimals).out
        (remark,) = re.findall(r"option reaches an accuracy of [^)]*\)", printed)
        numbers = re.findall(r"[\d.]+", remark)
        assert len(numbers) == 2
        assert {len(number.partition(".")[2]) for number in numbers} == {decimals}
        assert re.search(rf"^(SW\+D|longest|LLM) .* {re.escape(numbers[1])}", printed, re.MULTILINE)
    (tmp_path / "s.toml").write_text(
        (tmp_path / "s.toml")
        .read_text(encoding="utf-8")
        .replace('"Model', '["Model')
        .replace('20."', '20."]'),
        encoding="utf-8",
    )
    cli("run", "s.toml", "--save", "other").fails(3, field="systems.LLM.note")
