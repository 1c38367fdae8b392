"""The assignments: honest work has full marks, copies of other classes have not, and each
mistake is named.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from classic_rc.cli.main import main
from classic_rc.commands.grade import (
    Grade,
    Isolation,
    Submission,
    SubmissionError,
    grade_file,
    list_assignments,
    load_assignment,
)
from classic_rc.commands.grade.assignment import EXAMPLE
from classic_rc.commands.grade.feedback import cases_of
from classic_rc.commands.grade.grading import Grader
from classic_rc.decisions import Argmax, TunedThreshold
from classic_rc.kernels import SCALE, reference
from classic_rc.kernels.reference.kneser_ney import ReferenceKneserNey
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.resampling import percentile_interval
from classic_rc.solvers.specs import parse_solver
from classic_rc.testing import synthetic_dataset

pytestmark = pytest.mark.ci  # each test grades in processes

HERE = Path(__file__).parent
TRUSTED = Isolation("none")
WITH_RULES = [name for name in list_assignments() if load_assignment(name).rules]
MISTAKES = [
    (name, function, message)
    for name in WITH_RULES
    for function, mistakes in load_assignment(name).known_mistakes.items()
    for message in mistakes
]


@cache
def load(name: str):
    return load_assignment(name)


def honest(assignment, seed: int) -> str:
    """The work of a class; where data are read, with what the class's data say."""
    data = assignment.hand_out(seed).get("data.json")
    if data is None:
        return assignment.source()
    weights = assignment.right("fit")(*json.loads(data).values(), 1.0, 200, 0.01)[:3]
    strongest = max(range(3), key=lambda j: abs(weights[j]))
    return assignment.source(("STRONGEST = None", f"STRONGEST = {strongest}"))


def make_dataset(rows) -> Dataset:
    """Questions as a student's process makes them of plain data."""
    questions = []
    for row in rows:
        passage = Passage(row["passage_id"], row["passage"])
        options = tuple(map(Candidate, row["candidates"]))
        questions.append(
            Question(row["id"], passage, row["question"], options, None, Task(row["task"]))
        )
    return Dataset(questions, "questions")


class Direct:
    """A student's file in this process, for the many wrong solutions that are ours."""

    def __init__(self, source: str) -> None:
        names: dict = {}
        exec(compile(source, "student.py", "exec"), names)
        self.values = {name: value for name, value in names.items() if name[0] != "_"}
        self.added = ()

    def load(self):
        kinds = {}
        for name, value in self.values.items():
            kinds[name] = "function" if callable(value) else "value"
        return {name: "solver" if name == "WindowAndDistance" else kinds[name] for name in kinds}

    def begin_check(self):
        self.seconds_left = 60.0

    def score(self, name, rows, train):
        dataset = make_dataset(rows)
        return [list(scores) for scores in self.values[name]().score_candidates(dataset)]

    def read(self, name):
        return self.values[name]

    def call(self, name, *args):
        try:
            value = self.values[name](*json.loads(json.dumps(args)))
            return json.loads(json.dumps(value))
        except Exception as error:
            raise SubmissionError(f"{type(error).__name__}: {error}") from None


def judged(assignment, source: str, seed: int = 1):
    box = Direct(source)
    setting = Grader(assignment, seed=seed, isolation=TRUSTED)
    checks = setting.run_checks(Submission(box, box.load(), assignment, seed))  # type: ignore[arg-type]
    return Grade("ann", "ann.py", checks)


def graded(folder: Path, assignment, source: str | bytes, seed: int = 1):
    file = folder / assignment.main
    file.write_bytes(source if isinstance(source, bytes) else source.encode())
    return grade_file(file, assignment, seed=seed, isolation=TRUSTED)


@pytest.mark.parametrize("name", list_assignments())
def test_an_assignment_has_ten_points_and_its_page_says_for_what(name, tmp_path):
    assignment = load(name)
    assert assignment.points == 10
    page = assignment.hand_out(1)["README.md"].decode()
    rows = re.findall(
        r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", page.partition("| points |")[2], re.MULTILINE
    )
    assert rows == [(check.name, f"{check.points:g}") for check in assignment.checks]
    for phrase in (f"--assignment {name}", assignment.main, "By hand", "Hints", "o think about"):
        assert phrase in page
    assert re.search(r"\b(19|20)\d\d\b", page)  # a paper
    for key in assignment.rules:  # a class's rules stand above the page's
        assert f"- {assignment.drawn(1).choice[key]}\n" in page


@pytest.mark.parametrize("name", list_assignments())
@pytest.mark.ci
def test_what_students_start_from_runs_and_earns_nothing(name, tmp_path):
    for seed in (1, 2):
        assignment = load(name).drawn(seed)
        grade = graded(tmp_path, assignment, assignment.start(), seed)
        assert (grade.earned, grade.problem) == (0, None)
        assert "file does not" not in str(grade.checks)


@pytest.mark.parametrize("name", WITH_RULES)
@pytest.mark.ci
def test_honest_work_has_full_marks_and_that_of_another_class_fails(name, tmp_path):
    solution = HERE / "solutions" / f"{name}.py"
    published = (
        solution.read_text(encoding="utf-8") if solution.is_file() else honest(load(name), 1)
    )
    assert graded(tmp_path, load(name), published).earned == 10
    for seed in (1, 2, 3):
        drawn = load(name).drawn(seed)
        assert graded(tmp_path, drawn, honest(drawn, seed), seed).earned == 10
        copied = judged(drawn, honest(load(name), seed), seed)
        assert copied.earned <= 3


@pytest.mark.parametrize("name", WITH_RULES)
def test_each_rule_makes_a_difference(name):
    """One rule of another class costs points, and is named."""
    for key, rules in load(name).rules.items():
        page, *others = rules
        for rule in others[:: len(others) // 2 + 1]:
            source = load(name).source((rules[page], rules[rule]))
            assert source != load(name).source()
            grade = judged(load(name), source)
            assert grade.earned < 10, rule
            # of what no function is compared with
            if (name, key) in (("bug", "weight"), ("bootstrap", "size")):
                continue
            details = "".join(check.details for check in grade.checks)
            assert f"{rule}; in your class, {page}" in details, (key, rule)


def points_of_classes(name: str, seeds) -> dict[str, set[float]]:
    """The points of the reference and of each known mistake in classes with these seeds."""
    points: dict[str, set[float]] = {}
    for seed in seeds:
        of_class = load(name).drawn(seed)
        right = honest(of_class, seed)
        sources = {"right": right}
        for function, mistakes in of_class.known_mistakes.items():
            for message, change in mistakes.items():
                sources[f"{function}: {message}"] = right.replace(*change)
                assert sources[f"{function}: {message}"] != right, (message, of_class.choice)
        for message, source in sources.items():
            points.setdefault(message, set()).add(judged(of_class, source, seed).earned)
        assert judged(of_class, right, seed) == judged(of_class, right, seed)
    return points


@pytest.mark.parametrize("name", WITH_RULES)
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(1, 11), id="ten classes"),
        pytest.param(range(11, 301), id="300 classes", marks=pytest.mark.slow),
    ],
)
def test_every_class_is_graded_alike(name, seeds):
    """Right work has all points in each class, and a mistake costs the same in each."""
    points = points_of_classes(name, seeds)
    assert points.pop("right") == {10}
    for message, class_points in points.items():
        assert len(class_points) == 1, message
        assert 10 not in class_points, message


@pytest.mark.parametrize(("name", "function", "message"), MISTAKES, ids=lambda label: label[:60])
def test_a_mistake_loses_points_and_is_named(name, function, message):
    assignment = load(name)
    change = assignment.known_mistakes[function][message]
    source = assignment.source(tuple(change))
    assert source != assignment.source(), "there is no place for it"
    grade = judged(assignment, source)
    failed = [check for check in grade.checks if not check.passed and check.ran]
    assert f"likely cause: {message}\n" in "".join(check.details for check in failed)
    call = next(check for check in failed if message in check.details).details
    call_shown = re.search(r"^ {4}(\w+\(.*\))$", call, re.MULTILINE)
    assert call_shown is not None
    nodes = ast.walk(ast.parse(call_shown[1]))
    n_constants = sum(isinstance(node, ast.Constant) for node in nodes)
    assert n_constants <= (60 if function == "ablation" else 16), call_shown[1]


def test_a_mistake_costs_its_own_points_only():
    """What is built on a known mistake can be right; nothing can be gained by an unknown one."""
    mistakes = load("threshold").known_mistakes["f1"]
    message = next(message for message in mistakes if "F1m" in message)
    assert judged(load("threshold"), load("threshold").source(tuple(mistakes[message]))).earned == 7
    unknown = load("threshold").source(
        ("2 * tp / (2 * tp + fp + fn)", "tp / len(chosen) if chosen else 1")
    )
    assert judged(load("threshold"), unknown).earned == 0


@pytest.mark.parametrize("name", WITH_RULES)
def test_examples_are_computed_by_the_rules_of_the_reader(name):
    """Those of the page by its own rules, those of a class by the drawn ones."""
    page = load(name).file.with_name("README.md").read_text(encoding="utf-8")
    examples = EXAMPLE.findall(page)
    assert examples
    for call, value in examples:
        assert load(name).example(call) == f"    {call}  # {value}"
    pages = {}
    for seed in range(1, 31):
        of_class = load(name).hand_out(seed)["README.md"].decode()
        pages[seed] = EXAMPLE.findall(of_class)
        values = dict(pages[seed])
        assert [*values] == [call for call, _ in examples]
        for call, value in values.items():
            assert load(name).drawn(seed).example(call) == f"    {call}  # {value}"
        assert "By hand, by the published rules: " in of_class
        assert "In Python, by the rules of your class:" in of_class
    assert any(page_examples != examples for page_examples in pages.values())


# What the checks compare with is what the package computes.


def test_windows_and_distances_are_those_of_the_package():
    for texts in cases_of(load("window"), "sliding_window", 3):
        actual = load("window").right("sliding_window")(*texts)
        assert actual == pytest.approx(reference.sliding_window(*texts) / SCALE)
    for *texts, stopped in cases_of(load("window"), "word_distance", 3):
        actual = load("window").right("word_distance")(*texts, stopped)
        assert actual == pytest.approx(reference.word_distance(*texts, stopped))
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=3)
    mended = load("bug").right("WindowAndDistance")().score_candidates(dataset)
    scores = parse_solver("sw+d").score_candidates(dataset)
    for actual, expected in zip(mended, scores, strict=True):
        assert np.allclose(actual, expected, atol=1e-5)


def test_ties_are_those_of_the_package():
    scores = [case for (case,) in cases_of(load("ties"), "best", 3)]
    are_best = Scores.from_lists(scores).are_best(1e-9)
    best = load("ties").right("best")
    actual = [[i in best(case) for i in range(len(case))] for case in scores]
    assert are_best.tolist() == list(chain.from_iterable(actual))
    for case, gold in cases_of(load("ties"), "credit", 3):
        options = tuple(Candidate(str(score)) for score in case)
        question = Question(
            "q", Passage("p", ""), "", options, frozenset([gold]), Task.SINGLE_CHOICE
        )
        (prediction,) = Argmax().decide(Scores.from_lists([case]), [question])
        expected = (frozenset([gold]) in prediction.answers) / len(prediction.answers)
        assert load("ties").right("credit")(case, gold) == expected


def test_thresholds_are_those_of_the_package():
    for (questions,) in cases_of(load("threshold"), "tune", 3):
        rows, passage = [], Passage("p", "")
        for i, (_, labels) in enumerate(questions):
            options = tuple(Candidate(str(j)) for j in range(len(labels)))
            gold = frozenset(j for j, label in enumerate(labels) if label)
            rows.append(Question(f"q{i}", passage, "", options, gold, Task.MULTIPLE_ANSWER))
        tuned = TunedThreshold().fit(Scores.from_lists([scores for scores, _ in questions]), rows)
        threshold = load("threshold").right("tune")(questions)
        assert threshold == pytest.approx(tuned.best_threshold_, abs=1e-12)


def test_intervals_pairs_and_weights_are_those_of_the_package():
    for values, level in cases_of(load("bootstrap"), "interval", 3):
        actual = load("bootstrap").right("interval")(values, level)
        assert actual == pytest.approx(percentile_interval(np.array(values), level))
    for texts, word, context, discount in cases_of(load("kneser-ney"), "probability", 3):
        model = ReferenceKneserNey(texts, 2, discounts=[[discount] * 3] * 2)
        actual = load("kneser-ney").right("probability")(texts, word, context, discount)
        assert actual == pytest.approx(model.probability(word, (context,)))
    for term, sentences in cases_of(load("bm25"), "idf", 3):
        full = [sentence for sentence in sentences if sentence]
        expected = reference.bm25.idf(len(full), sum(term in sentence for sentence in full))
        assert load("bm25").right("idf")(term, sentences) == pytest.approx(
            float(expected), abs=1e-5
        )


LEAK = load("leak").checks[0].run.__globals__


@pytest.mark.parametrize("leak", LEAK["LEAKS"], ids=str)
def test_a_leak_is_found_by_its_own_cue_and_used(leak, tmp_path):
    seed = next(seed for seed in range(1000) if LEAK["planted"](seed) == leak)
    kind, value = leak
    cue = value if kind in ("has", "lacks") else kind
    rows = LEAK["make_rows"](seed, "other")
    place = -1 if value == "longest" else 0
    answers = {
        "length": f"sorted(range(4), key=lambda i: len(options[i]))[{place}]",
        "position": f"{value}",
        "has": f"max(range(4), key=lambda i: {value!r} in options[i])",
        "lacks": f"min(range(4), key=lambda i: {value!r} in options[i])",
        "verbatim": "max(range(4), key=lambda i: options[i].split()[2] in passage)",
    }
    source = f"CUE = {cue!r}\ndef answer(passage, options):\n    return {answers[kind]}\n"
    assert graded(tmp_path, load("leak"), source, seed).earned == 10
    traces = ("length",) if kind in ("has", "lacks") else ()  # words are of different lengths
    all_cues = ("position", "verbatim", "length", *LEAK["WORDS"])
    others = [other for other in all_cues if other not in (cue, *traces)]
    assert all(LEAK["best_share"](other, rows) < LEAK["ENOUGH"] for other in others)
    wrong = (
        source.replace(repr(cue), repr(others[0]))
        .replace("max(", "min(")
        .replace("return 2", "return 1")
    )
    assert graded(tmp_path, load("leak"), wrong, seed).checks[0].earned == 0


def test_the_data_are_questions_that_can_be_answered():
    rows = [
        json.loads(line) for line in load("leak").hand_out(2)["leak.jsonl"].decode().splitlines()
    ]
    assert len(rows) == 240
    for row in rows:
        who, thing = re.fullmatch(r"Where did (\w+) take the (\w+)\?", row["question"]).groups()
        (place,) = re.findall(rf"{who} took the {thing} to the (\w+)\.", row["passage"])
        matching = [f"to the {place} " in option for option in row["candidates"]]
        assert matching.count(True) == 1
        assert matching[row["gold"]]


def test_draws_must_be_random():
    right = "rng.choices(range(n_passages), k=n_passages)"
    for wrong, message in (
        ("rng.sample(range(n_passages), n_passages)", "without replacement"),
        (
            "random.Random(seed).choices(range(n_passages), k=n_passages)",
            "start the generator again",
        ),
        ("rng.choices(range(1, n_passages + 1), k=n_passages)", "positions count from 0"),
        ("sorted(rng.choices(range(n_passages), k=n_passages))", "should be found about"),
    ):
        grade = judged(load("bootstrap"), load("bootstrap").source((right, wrong)))
        assert grade.earned == 8
        assert message in f"{grade.checks[1].problem} {grade.checks[1].details}"


SOLVER = """
import re
import classic_rc

class Mine(classic_rc.Solver):
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([self.score_one(q, c) for c in q.candidates] for q in questions)
    def score_one(self, question, candidate):
        text, asked, own = question.passage.text, question.query, candidate.text
"""
MADE_FOR_STORIES = """
        for part in re.split(r"(?<=[.]) (?=[A-Z][a-z]+ (?:took|found|hid|sold|repaired|lost|painted|dropped))", text):
            who = part.split()[:1]
            thing = asked.rstrip("?").split()[-1]
            if asked.startswith("Who"):
                when = asked.rstrip("?")
                if any(when.endswith(time) and time in part for time in re.findall(r"(?:before|at|on|in|after|last) \\\\w+", part)):
                    return float(who == [own])
            elif asked.split()[2:3] == who and thing in part:
                return float(own in part)
        return 0.0
"""


def test_a_solver_must_answer_more_than_one_kind_of_text(tmp_path):
    """An expression for the sentences that students have seen is not enough; nor is a solver
    below the floor.
    """
    narrow = SOLVER + MADE_FOR_STORIES.replace("\\\\", "\\")
    grade = graded(tmp_path, load("solver"), narrow)
    earned = {check.name: check.earned for check in grade.checks}
    assert earned["sample"] == earned["beats_sliding_window"] == 0
    honest = graded(tmp_path, load("solver"), (HERE / "solutions" / "solver.py").read_bytes())
    assert honest.earned == 10
    assert honest.accuracy is not None
    bag = (
        SOLVER
        + "        words = set(re.findall(r'\\w+', asked.lower()))\n        return float(own.lower() in text.lower()) + text.lower().find(own.lower()) / 1e4\n"
    )
    assert graded(tmp_path, load("solver"), bag).earned < 5


def test_a_solver_keeps_the_contract(tmp_path):
    right = (HERE / "solutions" / "solver.py").read_text(encoding="utf-8")
    wrong = right.replace(
        "for c in q.candidates]", "+ i * 1e-3 for i, c in enumerate(q.candidates)]"
    )
    assert wrong != right
    checks = {check.name: check for check in graded(tmp_path, load("solver"), wrong).checks}
    assert checks["keeps_the_contract"].earned == 0
    assert "with its options in reversed order" in str(checks["keeps_the_contract"].problem)


def test_each_class_draws_its_own_rules():
    for name in WITH_RULES:
        drawn = [load(name).drawn(seed).choice for seed in range(60)]
        assert len({json.dumps(rules) for rules in drawn}) >= 4
        pages = {key: next(iter(rules)) for key, rules in load(name).rules.items()}
        for rules in drawn:
            assert not rules.items() & pages.items()


@pytest.mark.parametrize("name", list_assignments())
def test_a_student_and_the_class_are_told_the_same_points(name, tmp_path, monkeypatch, capsys):
    """By the folder that students get, and by the seed that only the teacher has."""
    monkeypatch.setattr("classic_rc.commands.grade.choose_isolation", lambda **rest: TRUSTED)
    seed = 5
    of_class, handed_out = load(name).drawn(seed), tmp_path / "handed out"
    assert main(["grade", "--assignment", name, "--seed", "5", "--hand-out", str(handed_out)]) == 0
    start = of_class.start().decode()
    sources = {"right": honest(of_class, seed) if of_class.rules else start, "start": start}
    for mistakes in list(of_class.known_mistakes.values())[:1]:
        sources["wrong"] = sources["right"].replace(*next(iter(mistakes.values())))
    if of_class.functions:
        sources["other"] = "def something(x):\n    return x\n"
    folder = tmp_path / "class"
    folder.mkdir()
    points, points_told = {}, {}
    for student, source in sources.items():
        (folder / f"{student}.py").write_text(source, encoding="utf-8")
        (handed_out / of_class.main).write_text(source, encoding="utf-8")
        capsys.readouterr()
        arguments = ["--assignment", name] if of_class.make_files else []
        main(["grade", str(handed_out / of_class.main), "--seed", str(seed), *arguments])
        points_told[student] = capsys.readouterr().out
        points[student] = points_told[student].splitlines()[-1].split()[0]
    output = tmp_path / "grades.csv"
    assert main(["grade", str(folder), "--assignment", name, "--seed", "5", "-o", str(output)]) == 0
    rows = {row["student"]: row for row in csv.DictReader(output.open(encoding="utf-8"))}
    assert {student: row["points"] for student, row in rows.items()} == points
    if of_class.functions:
        functions = ", ".join(sorted(of_class.functions))
        for text in (points_told["other"], str(rows["other"])):
            assert "it defines something; wanted: " in text
            assert functions in text
