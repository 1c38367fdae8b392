"""CNN/Daily Mail's question files, on small files invented here."""

from __future__ import annotations

import re
import tarfile

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.questions import Task
from classic_rc.solvers import parse_solver
from tests.errors import raises

_PASSAGE = "@entity2 , who met @entity0 in @entity11 , said @entity0 was glad ."


def test_candidates_are_the_entities_of_the_passage(tmp_path, write):
    (question,) = load(write(tmp_path, "cnn-dailymail"))
    assert (question.id, question.task, question.gold) == ("0a1b", Task.CLOZE, ("@entity0",))
    assert question.text == "@placeholder likes @entity11"
    assert [c.text for c in question.candidates] == [
        "@entity2",
        "@entity0",
        "@entity11",
        "@entity0",
    ]
    text = question.passage.text
    assert text.startswith("@entity2 , who met")
    assert text.endswith("was glad .")
    assert all(text[c.start : c.end] == c.text for c in question.candidates)
    assert question.passage.meta == {"url": "http://news.example/2015/rome"}
    assert question.meta["entities"]["@entity0"] == "Bob Lee"


def test_a_tree_of_question_files(tmp_path, write, content):
    for place in ("cnn/questions/test/b", "cnn/questions/test/a", "cnn/questions/training/c"):
        write(tmp_path, "cnn-dailymail", name=f"{place}.question")
    write(
        tmp_path,
        "cnn-dailymail",
        content("cnn-dailymail").replace("glad", "sad"),
        "dailymail/questions/test/d.question",
    )
    (tmp_path / "cnn" / "questions" / "readme.txt").write_text("about", "utf-8")
    dataset = load(tmp_path, split="test", subset="cnn")
    assert (dataset.name, dataset.split, [q.id for q in dataset]) == (
        "cnn-dailymail.test.cnn",
        "test",
        ["a", "b"],
    )
    assert dataset[0].passage is dataset[1].passage
    assert len(load(tmp_path)) == 4
    archive = tmp_path / "cnn.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "cnn", "cnn")
    assert load(archive, split="test").fingerprint == dataset.fingerprint
    folder = load(tmp_path / "cnn" / "questions" / "test")
    assert (folder.split, folder.fingerprint) == ("test", dataset.fingerprint)


@pytest.mark.parametrize(
    ("old", "new", "where", "reported", "expected"),
    [
        ("\n\n@placeholder", "\nmore\n@placeholder", "line 4", "'more'", "a blank line"),
        ("@placeholder", "Someone", "line 5", "'Someone likes @entity11'", "@placeholder"),
        ("\n@entity0\n", "\nBob\n", "line 7", "'Bob'", "a marker such as @entity1"),
        ("@entity2:Ann", "@entity2 Ann", "line 10", "'@entity2 Ann'", "@entity1:Name"),
        (_PASSAGE, "Rain .", "line 3", "'Rain .'", "entities such as @entity1"),
        (_PASSAGE, "", "line 3", None, "the passage between blank lines"),
    ],
)
def test_a_malformed_question_file_is_refused(
    tmp_path, write, content, old, new, where, reported, expected
):
    text = content("cnn-dailymail")
    assert old in text
    path = write(tmp_path, "cnn-dailymail", text.replace(old, new))
    with raises(DataError, source=str(path), where=where, found=reported, expected=expected):
        load(path, reader="cnn-dailymail")


def test_a_question_file_that_ends_early_is_refused(tmp_path, write, content):
    path = write(tmp_path, "cnn-dailymail", "\n".join(content("cnn-dailymail").split("\n")[:6]))
    with raises(DataError, source=str(path), where="line 7", expected=re.compile("the answer")):
        load(path, reader="cnn-dailymail")


def test_answers_missing_from_the_passage_are_counted(tmp_path, write, content):
    text = content("cnn-dailymail").replace("\n@entity0\n", "\n@entity9\n")
    dataset = load(write(tmp_path, "cnn-dailymail", text))
    assert dataset.notes == ("queries whose answer is not in the passage (kept): 1",)


@pytest.mark.parametrize("which", ["cnn-dailymail", "cbt"])
def test_every_cloze_solver_runs_on_it(tmp_path, write, which):
    dataset = load(write(tmp_path, which))
    specs = (
        "random",
        "max-frequency",
        "exclusive-frequency",
        "cloze-distance,analyzer=whitespace",
        "cloze-window:hill2015",
    )
    rows = evaluate(dataset, [parse_solver(spec) for spec in specs]).rows
    assert all(0 <= row.metrics()["em"] <= 1 for row in rows)
    chance = {"cnn-dailymail": 0.5, "cbt": 0.1}  # two of four mentions; one of ten words
    assert rows[0].metrics()["em"] == pytest.approx(chance[which])
    assert rows[1].metrics()["em"] == 1.0
