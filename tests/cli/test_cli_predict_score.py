"""``predict`` writes every format, and ``score`` measures what it wrote as ``run`` measured the solver."""

from __future__ import annotations

import hashlib
import json

import pytest


def answers(first, **labels):
    return [{"idx": first + i, "text": text, "label": label} for i, (text, label) in enumerate(labels.items())]


SUPERGLUE_MULTIRC = [
    {
        "idx": 4,
        "passage": {
            "text": "Nora planted beans. Omar built a fence around the beans.",
            "questions": [
                {"idx": 9, "question": "What did Nora plant?", "answers": answers(30, beans=1, fences=0)},
                {"idx": 10, "question": "Who built or planted?", "answers": answers(32, Omar=1, Nora=1)},
            ],
        },
    },
    {
        "idx": 5,
        "passage": {
            "text": "The train left at nine, without a cello.",
            "questions": [
                {"idx": 11, "question": "When did the train leave?", "answers": answers(34, nine=1, ten=0)}
            ],
        },
    },
]

_ARTICLE = "Nora met Omar in Lisbon.\n@highlight\nOmar moved to Lisbon"


def mention(name):
    start = _ARTICLE.index(name)
    return {"start": start, "end": start + len(name) - 1}


SUPERGLUE_RECORD = [
    {
        "source": "invented",
        "idx": 3,
        "passage": {"text": _ARTICLE, "entities": [mention(name) for name in ("Nora", "Omar", "Lisbon")]},
        "qas": [
            {"idx": 7, "query": "@placeholder now lives abroad", "answers": [{**mention("Omar"), "text": "Omar"}]}
        ],
    }
]


@pytest.fixture
def data(write):
    """The path or name of some data for each layout."""

    def named(name):
        if name.startswith("sample:"):
            return name
        rows = {
            "superglue-multirc": SUPERGLUE_MULTIRC,
            "superglue-record": SUPERGLUE_RECORD,
            "span": [
                {
                    "passage": "Nora planted beans. Omar built a fence.",
                    "question": question,
                    "gold": [gold],
                    "task": "span",
                    "id": gold,
                }
                for question, gold in [("What did Nora plant?", "beans"), ("Who built a fence?", "Omar")]
            ],
        }[name]
        return write(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    return named


SCORES = [
    ("sample:single-choice", "sliding-window", "mctest-scores"),
    ("sample:single-choice", "sw+d:mctest160", "mctest-scores"),
    ("sample:single-choice", "longest", "jsonl"),
    ("sample:multiple-answer", "sw+d", "multirc"),
    ("sample:multiple-answer", "sliding-window", "jsonl"),
    ("superglue-multirc", "word-distance", "jsonl"),
    ("sample:cloze", "max-frequency", "jsonl"),
]


@pytest.mark.parametrize(("name", "solver", "form"), SCORES)
def test_scores_come_back_as_what_run_measures(cli, data, tmp_path, name, solver, form):
    out = tmp_path / "scores"
    done = cli("predict", data(name), "-s", solver, "--as", form, "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    scored = cli("score", data(name), out, "--format", "json").row("score-file")
    ran = cli("run", data(name), "-s", solver, "--format", "json").row(solver.split(":")[0])
    for key in ("metrics", "tie_rate", "ties", "selected_share", "threshold"):
        assert scored[key] == ran[key]
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    assert f"|file:{digest}|" in scored["signature"]
    assert "path" not in scored["signature"]
    if form == "jsonl":
        assert scored["no_evidence"] == ran["no_evidence"]


DECISIONS = [
    ("sample:single-choice", "sw+d", "mctest-answers", ["--ties", "first"]),
    ("sample:single-choice", "sliding-window", "mctest-answers", ["--ties", "random", "--seed", "5"]),
    ("sample:single-choice", "longest", "jsonl", ["--ties", "first", "--decide"]),
    ("sample:multiple-answer", "sw+d", "multirc", ["--decide"]),
    ("sample:multiple-answer", "shortest", "multirc", ["--decide", "--threshold", "-9.5"]),
    ("sample:multiple-answer", "sliding-window", "jsonl", ["--decide", "--tune", "sample:multiple-answer"]),
    ("superglue-multirc", "sw+d", "superglue", []),
    ("superglue-record", "sliding-window", "superglue", ["--ties", "first"]),
    ("sample:cloze", "exclusive-frequency", "record", ["--ties", "first"]),
    ("sample:cloze", "sw+d", "jsonl", ["--ties", "first", "--decide"]),
    ("sample:multi-span", "sw+d", "squad", ["--ties", "first"]),
    ("sample:multi-span", "word-distance", "jsonl", ["--ties", "first", "--spans", "k=3"]),
    ("span", "sliding-window", "squad", ["--ties", "first", "--spans", "2"]),
    ("span", "sw+d", "jsonl", ["--ties", "first"]),
]


@pytest.mark.parametrize(("name", "solver", "form", "options"), DECISIONS)
def test_decisions_come_back_as_what_run_measures(cli, data, tmp_path, name, solver, form, options):
    out = tmp_path / "decisions"
    done = cli("predict", data(name), "-s", solver, "--as", form, "-o", out, *options)
    assert (done.code, done.out) == (0, "")
    scored = cli("score", data(name), out, "--format", "json").row("score-file")
    run_options = [option for option in options if option != "--decide"]
    rows = cli("run", data(name), "-s", solver, "--format", "json", *run_options).rows
    ran = next(row for row in rows if row["solver"] == solver)
    assert scored["metrics"] == ran["metrics"]
    assert (scored["ties"], scored["tie_rate"], scored["no_evidence"]) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("sample:single-choice", '{"question_id": "lantern.1", "candidate": 0'),
        ("superglue-multirc", '{"idx": 4, "passage": {"questions": [{"idx": 9, "answers": [{"idx": 30, "label":'),
        ("span", '{"question_id": "beans", "text": "'),
    ],
)
def test_without_a_format_the_datasets_own_is_written(cli, data, name, beginning):
    done = cli("predict", data(name), "-s", "sw+d")
    assert done.code == 0
    assert done.out.startswith(beginning)


def test_the_official_format_of_each_dataset_is_the_default(cli, own_files):
    scores = cli("predict", own_files / "mctest" / "sample.dev.tsv", "-s", "sw+d:mctest160").out
    lines = scores.splitlines()
    assert len(lines) == 3
    assert all(len(line.split("\t")) == 4 for line in lines)
    assert all(len(cell.split(",")) == 4 for line in lines for cell in line.split("\t"))
    assert all(number.strip()[-6] == "." for number in lines[0].split("\t")[0].split(","))
    (first, *_) = json.loads(cli("predict", own_files / "multirc" / "sample.json", "-s", "sw+d").out)
    assert set(first) == {"pid", "qid", "scores"}


def test_predict_needs_no_gold(cli, hidden, write):
    for options in ([], ["--decide"]):
        assert cli("predict", hidden, "-s", "sw+d", *options).code == 0
    rows = [
        {"passage": f"p{i}", "question": "q", "candidates": ["a", "bb"], "task": "multiple-answer"} for i in (1, 2)
    ]
    several = write("several-hidden.jsonl", rows)
    assert cli("predict", several, "-s", "longest").code == 0
    done = cli("predict", several, "-s", "longest", "--decide")
    assert done.code == 2
    assert "hides its gold answers" in done.err
    assert "--tune" in done.err
    decided = cli("predict", several, "-s", "longest", "--decide", "--threshold", "1.5").out
    assert [json.loads(line)["selected"] for line in decided.splitlines()] == [False, True] * 2
    tuned = cli("predict", several, "-s", "longest", "--decide", "--tune", "sample:multiple-answer")
    assert tuned.code == 0


def test_predict_says_where_one_of_equals_is_written(cli, write):
    rows = [{"passage": "p", "question": "q", "candidates": ["aa", "bb"], "gold": 1}]
    tied = write("tied.jsonl", rows)
    done = cli("predict", tied, "-s", "longest", "--decide")
    assert "the best score is shared in 1 questions" in done.err
    assert cli("predict", tied, "-s", "longest", "--decide", "--quiet").err == ""
    assert cli("predict", tied, "-s", "longest").err == ""


def test_random_predicts_what_its_seed_draws(cli):
    draws = [cli("predict", "sample:single-choice", "-s", "random", "--seed", seed).out for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


def test_predict_learns_from_training_data(cli, single, write):
    lasts = write("train.jsonl", [{"passage": "p", "question": "q", "candidates": ["a", "b", "c"], "gold": 2}])
    done = cli("predict", single, "-s", "constant-position:majority", "--train", lasts, "--decide")
    selected = [json.loads(line)["selected"] for line in done.out.splitlines()]
    assert selected == [False, False, True] * 3


def test_a_window_is_tuned_out_of_fold_where_there_is_nothing_else(cli, single):
    scores = cli("predict", single, "-s", "sliding-window:race")
    assert scores.code == 0
    assert len(scores.out.splitlines()) == 9


def test_predict_writes_the_same_in_any_number_of_processes(cli, monkeypatch):
    import joblib

    from classic_rc.evaluation import fitted_system as scoring

    monkeypatch.setattr(scoring, "PASSAGES_A_SHARD", 1)
    with joblib.parallel_config(backend="threading"):
        one, two = (cli("predict", "sample:cloze", "-s", "sw+d", "--jobs", jobs).out for jobs in (1, 2))
    assert one == two


def test_scores_are_decided_by_the_options_of_score(cli, several, tmp_path):
    out = tmp_path / "scores.jsonl"
    cli("predict", several, "-s", "longest", "-o", out)
    args = ("score", several, out, "--format", "json")
    fixed = cli(*args, "--threshold", "4.5").row("score-file")
    assert fixed["threshold"] == 4.5
    here, cv5 = cli(*args, "--tune", several).rows[:2]
    assert (here["tuned_here"], cv5["tuned_on"]) == (True, "cv5")
    assert cli(*args, "--tune-metric", "em0").row("score-file")["signature"].count("tuned_for:em0") == 1


def test_tie_policies_apply_to_scores(cli, write, tmp_path):
    rows = [{"passage": "p", "question": "q", "candidates": ["aa", "bb"], "gold": 1}]
    tied, out = write("tied.jsonl", rows), tmp_path / "scores.jsonl"
    cli("predict", tied, "-s", "longest", "-o", out)
    for ties, accuracy in (("partial", 0.5), ("first", 0.0), ("strict", 0.0)):
        row = cli("score", tied, out, "--ties", ties, "--format", "json").row("score-file")
        assert row["metrics"]["accuracy"] == accuracy
    seeds = {
        cli("score", tied, out, "--ties", "random", "--seed", n, "--format", "json").row("score-file")["metrics"][
            "accuracy"
        ]
        for n in range(10)
    }
    assert seeds == {0.0, 1.0}


def test_options_for_scores_are_refused_where_there_are_only_decisions(cli, several, tmp_path):
    out = tmp_path / "decisions.json"
    cli("predict", several, "-s", "longest", "--as", "multirc", "--decide", "-o", out)
    for options in (["--threshold", "0.5"], ["--tune", several], ["--ties", "first"]):
        done = cli("score", several, out, *options)
        assert done.code == 2
        assert "holds decisions, not scores" in done.err


def test_a_file_with_both_is_read_for_what_the_options_need(cli, several, tmp_path):
    out = tmp_path / "both.jsonl"
    cli("predict", several, "-s", "longest", "--decide", "--threshold", "4.5", "-o", out)
    decided = cli("score", several, out, "--format", "json").row("score-file")
    again = cli("score", several, out, "--threshold", "4.5", "--format", "json").row("score-file")
    assert decided["metrics"] == again["metrics"]
    assert (decided["threshold"], again["threshold"]) == (None, 4.5)


def test_score_shows_all_positive_beside_where_several_may_be_right(cli, several, single, tmp_path):
    for options in ([], ["--decide"]):
        out = tmp_path / f"file{len(options)}"
        cli("predict", several, "-s", "longest", "-o", out, *options)
        rows = cli("score", several, out, "--format", "json").rows
        assert [row["solver"] for row in rows] == ["score-file", "all-positive"]
        assert rows[1]["selected_share"] == 1.0
    cli("predict", single, "-s", "longest", "-o", out)
    assert len(cli("score", single, out, "--format", "json").rows) == 1


def test_a_file_of_nothing_but_0_and_1_holds_decisions(cli, several, tmp_path):
    out = tmp_path / "ones.json"
    cli("predict", several, "-s", "all-positive", "--as", "multirc", "-o", out)
    ones, beside = cli("score", several, out, "--format", "json").rows
    assert ones["metrics"] == beside["metrics"]
    assert ones["threshold"] is None


def test_score_names_the_format_and_groups(cli, single, tmp_path):
    out = tmp_path / "scores"
    cli("predict", single, "-s", "longest", "-o", out)
    done = cli("score", single, out, "--as", "jsonl", "--group-by", "kind", "--format", "json")
    assert set(done.row("score-file")["groups"]) == {"who", "what", "when"}
    assert cli("score", single, out, "--as", "multirc").code == 2
    assert cli("score", single, out, "--as", "record").code == 2
    for form in ("table", "markdown", "latex", "csv"):
        assert "score-file" in cli("score", single, out, "--format", form).out


def test_the_file_of_another_dataset_is_refused(cli, single, several, tmp_path):
    out = tmp_path / "scores"
    cli("predict", "sample:single-choice", "-s", "longest", "-o", out)
    done = cli("score", single, out)
    assert done.code == 3
    assert "another split" in done.err


def test_unanswered_questions_score_0_and_are_counted(cli, write, tmp_path):
    answers = write("answers.json", '{"map-maker.1": ["Edda Fairweather", "Maud"]}')
    done = cli("score", "sample:multi-span", answers, "--format", "json")
    assert done.row("score-file")["metrics"]["quoref_em"] == pytest.approx(1 / 9)
    assert "8 of 9 questions have no answer and score 0" in done.err
    assert cli("score", "sample:multi-span", answers, "--quiet").err == ""


def test_gold_cannot_be_hidden_from_score(cli, single, hidden, tmp_path):
    out = tmp_path / "scores"
    cli("predict", hidden, "-s", "longest", "-o", out)
    assert cli("score", hidden, out).code == 3
    cli("predict", hidden, "-s", "longest", "--decide", "-o", out)
    assert cli("score", hidden, out).code == 3
