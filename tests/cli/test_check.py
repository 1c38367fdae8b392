"""``classic-rc check``: reports, options, exit codes."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest

from classic_rc.audit import artifacts
from classic_rc.audit.integrity import KINDS

WORDS = "garden river letter small red house found lost went gave three old train bag fence hole".split()


def rows(n_passages=30, leak=False, seed=0):
    """Questions with random answers; where it leaks, two thirds of the right options are longer."""
    rng = random.Random(seed)

    def text(n):
        return " ".join(rng.choices(WORDS, k=n))

    made = []
    for _ in range(n_passages):
        passage = text(30)
        for _ in range(3):
            options, gold = [text(rng.randint(1, 4)) for _ in range(4)], rng.randrange(4)
            if leak and rng.random() < 0.67:
                options[gold] = text(9)
            made.append({"passage": passage, "question": text(6), "candidates": options, "gold": gold})
    return made


@pytest.fixture
def sound(write):
    return write("sound.jsonl", rows())


@pytest.fixture
def leaking(write):
    return write("leaking.jsonl", rows(leak=True, seed=1))


def results(done):
    (report,) = done.json["checks"]
    return {row["name"]: row for row in report["partial_inputs"]["results"]}


def test_the_sample_is_checked_in_lines_that_fit(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = cli("check", "sample", "--fail=artifacts,shortcuts")
    assert done.code == 0
    assert done.out.count("the right option …") == 3
    assert done.out.count("integrity\n") == 4
    assert max(map(len, done.out.splitlines())) <= 100


def test_a_finding_fails_with_the_option_fail(cli, leaking):
    assert cli("check", leaking, "--rules-only").code == 0
    done = cli("check", "--fail", leaking, "--rules-only")  # DATA is not the value of --fail
    assert done.code == 1
    assert "leaking: artifact: the right option is the longest in" in done.err
    assert "is the longest in" in done.out
    assert cli("check", leaking, "--fail=shortcuts,defects", "--rules-only").code == 0


def test_no_finding_does_not_fail(cli, sound):
    done = cli("check", sound, "--fail", "--rules-only")
    assert done.code == 0
    assert "nothing found" in done.out
    assert done.err == ""


def test_the_level_in_points(cli, leaking):
    assert cli("check", leaking, "--fail", "--level", "70", "--rules-only").code == 0
    assert cli("check", leaking, "--fail", "--level", "70", "--level", "5", "--rules-only").code == 1


def test_json_has_everything(cli, leaking):
    done = cli("check", leaking, "--format", "json", "--rules-only")
    (report,) = done.json["checks"]
    assert report["dataset"]["questions"] == 90
    length = results(done)["is the longest in words"]
    assert length["chance"] == pytest.approx(0.25)
    assert length["verdict"] == "artifact"
    assert length["p"] < 1e-6
    assert len(length["examples"]) == 5
    assert length["answers"] + length["remaining"] == 90
    assert set(report) == {"dataset", "partial_inputs", "words", "balance", "findings", "accepted"} | {
        *("scores_without_duplicates", "missing")
    }
    assert report["missing"] == []


def test_a_bad_file_of_annotators_does_not_cost_the_check(cli, leaking, write):
    done = cli("check", leaking, "--rules-only", "--annotators", write("answers.csv", "id,annotator\nq1,a\n"))
    assert done.code == 3
    assert "is the longest in words" in done.out


def test_systems_are_scored_without_the_copies(cli, write):
    wrong = "something else altogether"
    stories = [
        ("Nora planted three apple trees behind the mill before winter.", "What did Nora plant?", "apple trees"),
        ("After school Omar fed his uncle's grey donkey with carrots.", "Whom did Omar feed?", "a grey donkey"),
    ]
    rows = [
        {
            "id": f"q{i}",
            "passage": text,
            "question": asks,
            "candidates": [right, wrong],
            "gold": 0,
        }
        for i, (text, asks, right) in enumerate(stories)
    ]
    file = write("twice.jsonl", [*rows, {**rows[1], "id": "again"}])
    (best,) = cli("check", file, "--rules-only", "--format", "json").json["checks"][0]["scores_without_duplicates"]
    assert (best["questions"], best["left"], best["value"], best["value_left"]) == (3, 2, 1, 1)
    done = cli("check", file, "--rules-only", "-s", "longest", "-s", "sw", "--intervals", 20)
    shown = [line.split()[:2] for line in done.out.splitlines() if line.startswith(("longest", "sliding-window"))]
    assert shown == [["longest", "0.00"], ["sliding-window", "100.00"]]
    assert "Acc. without 2" in done.out
    sound = cli("check", write("once.jsonl", rows), "-s", "sw", "--rules-only")
    assert "Scores without duplicates" not in sound.out


def test_accepted_findings_do_not_fail(cli, leaking, tmp_path):
    allow = tmp_path / "allow.txt"
    assert cli("check", leaking, "--rules-only", "--write-allow", allow).code == 0
    assert "is the longest in characters\n" in allow.read_text(encoding="utf-8")
    done = cli("check", leaking, "--rules-only", "--fail", "--allow", allow)
    assert done.code == 0
    assert "accepted: " in done.out
    cli("check", leaking, "--allow", tmp_path / "nowhere.txt").fails(3, "nowhere.txt")


def test_all_answered_questions_in_a_file(cli, leaking, tmp_path):
    ids = tmp_path / "ids.tsv"
    done = cli("check", leaking, "--rules-only", "--format", "json", "--ids", ids)
    lines = [line.split("\t") for line in ids.read_text(encoding="utf-8").splitlines()]
    own = [id_ for name, id_ in lines if name == "is the longest in words"]
    assert len(own) == results(done)["is the longest in words"]["answers"]


def test_another_version_or_a_saved_check_to_compare_with(cli, leaking, sound, tmp_path):
    saved = tmp_path / "v1.json"
    assert cli("check", leaking, "--rules-only", "--format", "json", "-o", saved).code == 0
    for earlier in (leaking, saved):
        done = cli("check", sound, "--rules-only", "--against", earlier)
        assert "gone  is the longest in" in done.out
    saved.write_text('{"checks": [{}]}', encoding="utf-8")
    cli("check", sound, "--against", saved).fails(3, "v1.json")


def test_chinese_is_cut_into_characters(cli, write):
    rng = random.Random(5)
    han = [chr(code) for code in range(0x4E00, 0x4E40)]

    def text(n):
        return "".join(rng.choices(han, k=n))

    made = []
    for _ in range(40):
        passage = "。".join(text(8) for _ in range(3))
        for _ in range(3):
            options, gold = [text(rng.randint(2, 5)) for _ in range(4)], rng.randrange(4)
            if rng.random() < 0.6:
                options[gold] = "甲乙" + options[gold]
            made.append({"passage": passage, "question": text(6), "candidates": options, "gold": gold})
    data = write("zh.jsonl", made)
    done = cli("check", data, "--rules-only", "--format", "json")
    assert done.json["checks"][0]["partial_inputs"]["analyzer"] == "char"
    assert results(done)["has the word '甲'"]["verdict"] == "artifact"
    word = cli("check", data, "--rules-only", "--format", "json", "--analyzer", "word")
    assert word.json["checks"][0]["partial_inputs"]["analyzer"] == "word"


def test_it_learns_from_training_data(cli, leaking, write):
    train = write("train.jsonl", rows(leak=True, seed=2) + rows(leak=True, seed=1)[:3])
    done = cli("check", leaking, "--train", train)
    assert "learned from train" in done.out
    assert KINDS["passage-in-train"].what in done.out
    assert done.messages("warning", "leaking", "3 questions")
    assert cli("check", leaking, "--train", train, "--quiet").err == ""


def test_folds_and_groups(cli, write):
    authored = [{**row, "meta": {"author": i // 15}} for i, row in enumerate(rows())]
    done = cli("check", write("a.jsonl", authored), "--cv", 3, "--group", "author")
    assert "learned from cv3/author" in done.out


def test_several_datasets_and_one_that_cannot_be_read(cli, sound, leaking, tmp_path):
    done = cli("check", sound, tmp_path / "nowhere.jsonl", leaking, "--format", "json", "--fail")
    assert done.code == 3
    assert [check["dataset"]["name"] for check in done.json["checks"]] == ["sound", "leaking"]
    assert "nowhere.jsonl" in done.err


def test_hidden_gold(cli, hidden):
    done = cli("check", hidden, "--fail")
    assert done.code == 0
    first, _, integrity = done.out.partition("integrity\n")
    assert "hidden" in next(line for line in first.splitlines() if line.startswith("all "))
    assert KINDS["gold-hidden"].what in integrity


def test_markdown_into_a_file(cli, sound, tmp_path):
    output = tmp_path / "report.md"
    done = cli("check", sound, "--format", "markdown", "-o", output)
    assert done.out == ""
    assert output.read_text(encoding="utf-8").startswith("**sound (jsonl)")
    assert cli("check", sound, "-o", sound).code == 2


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--level", "nan"], ["--level", "nan"]),
        (["--fail=leaks"], ["--fail", "leaks"]),
        (["--analyzer", "words"], ["words"]),
        (["--cv", "1"], ["folds"]),
        (["--cv", "five"], ["--cv", "five"]),
        (["--group", "author"], ["group"]),
        (["--train", "sample", "--cv", "5"], []),
    ],
)
def test_bad_options(cli, sound, options, facts):
    cli("check", sound, *options).fails(2, *facts)


def test_annotators_are_measured(cli, write, sound):
    ids = [json.loads(line)["id"] for line in Path(sound).read_text(encoding="utf-8").splitlines()]
    rows = "".join(f"{id_},{name},A\n" for id_ in ids for name in ("ann", "bob"))
    answers = write("answers.csv", "id,annotator,answer\n" + rows)
    done = cli("check", sound, "--annotators", answers, "--rules-only", "--format", "json")
    (check,) = done.json["checks"]
    assert {row["annotator"] for row in check["annotators"]["annotators"]} >= {"ann", "bob"}
    table = cli("check", sound, "--annotators", answers, "--rules-only").out
    assert "ann" in table
    assert "bob" in table
    cli("check", sound, "--annotators", write("bad.csv", "a,b\n1,2\n"), "--rules-only").fails(3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_prints_what_it_found(cli, leaking, monkeypatch, number):
    monkeypatch.setattr(artifacts, "_run_learners", lambda *_: signal.raise_signal(number))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    try:
        done = cli("check", leaking, "--fail")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 130
    assert "is the longest in" in done.out
    assert "INTERRUPTED. Missing: learning from position by the question's number modulo 2" in done.out
    assert "right options by position" in done.out
    assert done.err == "classic-rc: interrupted\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
