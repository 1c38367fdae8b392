"""CNN/Daily Mail's question files, on small files invented here."""

from __future__ import annotations

import re
import tarfile

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.evaluation import evaluate
from classic_rc.questions import Task
from classic_rc.solvers import parse_solver

_PASSAGE = "@entity2 , who met @entity0 in @entity11 , said @entity0 was glad ."


def test_cnn_dailymail(tmp_path, write):
    (question,) = load(write(tmp_path, "cnn-dailymail"))
    assert (question.id, question.task, question.gold) == ("0a1b", Task.CLOZE, ("@entity0",))
    assert question.text == "@placeholder likes @entity11"
    assert [c.text for c in question.candidates] == ["@entity2", "@entity0", "@entity11", "@entity0"]
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
    assert (dataset.name, dataset.split, [q.id for q in dataset]) == ("cnn-dailymail.test.cnn", "test", ["a", "b"])
    assert dataset[0].passage is dataset[1].passage
    assert len(load(tmp_path)) == 4
    archive = tmp_path / "cnn.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "cnn", "cnn")
    assert load(archive, split="test").fingerprint == dataset.fingerprint
    folder = load(tmp_path / "cnn" / "questions" / "test")
    assert (folder.split, folder.fingerprint) == ("test", dataset.fingerprint)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("\n\n@placeholder", "\nmore\n@placeholder", "line 4: not a blank line: found 'more'"),
        ("@placeholder", "Someone", "line 5: no placeholder in the query: found 'Someone likes @entity11'"),
        ("\n@entity0\n", "\nBob\n", "line 7: the answer is no entity: found 'Bob', expected such as @entity1"),
        ("@entity2:Ann", "@entity2 Ann", "line 10: not an entity and its name: found '@entity2 Ann'"),
        (_PASSAGE, "Rain .", "line 3: no candidate: found 'Rain .', expected entities such as @entity1"),
        (_PASSAGE, "", "line 3: the passage is missing: expected the passage, between blank lines"),
    ],
)
def test_a_malformed_question_file_is_refused(tmp_path, write, content, old, new, complaint):
    text = content("cnn-dailymail")
    assert old in text
    path = write(tmp_path, "cnn-dailymail", text.replace(old, new))
    with pytest.raises(DataError, match=re.escape(f"{path}, {complaint}")):
        load(path, reader="cnn-dailymail")


def test_a_question_file_that_ends_early_is_refused(tmp_path, write, content):
    path = write(tmp_path, "cnn-dailymail", "\n".join(content("cnn-dailymail").split("\n")[:6]))
    with pytest.raises(DataError, match="line 7: the answer is missing"):
        load(path, reader="cnn-dailymail")


def test_an_answer_that_the_passage_does_not_mention_is_counted(tmp_path, write, content):
    text = content("cnn-dailymail").replace("\n@entity0\n", "\n@entity9\n")
    dataset = load(write(tmp_path, "cnn-dailymail", text))
    assert dataset.notes == ("answers that their passage does not mention, kept: 1",)


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
