"""Label files: every format, what is refused, and how much of the data has labels."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.datasets.labels import Labels, check_names, read_labels
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from tests.errors import raises

MADE = Dataset(
    [
        Question(
            f"story{i // 4},{i % 4}",
            passage,
            "What _ is it?",
            tuple(map(Candidate, "ab")),
            frozenset({0}),
            Task.SINGLE_CHOICE,
        )
        for passages in [[Passage(f"story{i}", f"Text {i}.") for i in range(2)]]
        for i, passage in enumerate([p for p in passages for _ in range(4)])
    ],
    "made",
)


@pytest.fixture
def read(tmp_path):
    """The labels of a file with some content."""

    def read(content, name="labels.txt", **more):
        path = tmp_path / name
        path.write_text(
            content if isinstance(content, str) else json.dumps(content),
            encoding="utf-8",
            newline="",
        )
        return read_labels(path, MADE, **more)

    return read


def sets(labels: Labels) -> dict[str, set[str]]:
    return {id_: set(names) for id_, names in labels.of_question.items()}


FORMS = {
    "csv": 'id,skills,hard\n"story0,0",b; a,yes\n"story0,1",-,\n"story1,2",,no\n',
    "tsv": "id\tskills\thard\r\nstory0,0\tb;a\tyes\r\n\r\nstory0,1\t - \t\r\nstory1,2\t\tno\r\n",
    "lines": '{"id": "story0,0", "skills": ["b", "a"], "hard": true}\n\n{"question_id": '
    '"story0,1", "skills": []}\n{"id": "story1,2", "skills": null, "hard": false}\n',
    "list": '[{"id": "story0,0", "skills": ["b", "a"], "hard": "yes"}, {"id": "story0,1", '
    '"skills": []}, {"id": "story1,2", "hard": "no"}]',
    "object": '{\n"story0,0": {"skills": ["b", "a"], "hard": true},\n"story0,1": {"skills": []},\n'
    '"story1,2": {"hard": "no"}}',
}


@pytest.mark.parametrize("written", FORMS)
def test_every_layout_gives_the_same_labels(read, written):
    skills, hard = read(FORMS[written])
    assert (skills.name, hard.name, skills.source) == ("skills", "hard", "labels.txt")
    assert sets(skills) == {"story0,0": {"a", "b"}, "story0,1": set()}
    assert sets(hard) == {"story0,0": {"yes"}, "story1,2": {"no"}}


def test_labels_without_a_name_are_called_labels(read):
    (labels,) = read({"story0,0": ["a", 3], "story0,1": "b", "story0,2": []})
    assert labels.name == "labels"
    assert sets(labels) == {"story0,0": {"a", "3"}, "story0,1": {"b"}, "story0,2": set()}


def test_a_single_row_with_an_id_is_not_an_object_by_id(read):
    (labels,) = read('{"id": "story0,0", "skills": ["a"]}\n')
    assert sets(labels) == {"story0,0": {"a"}}


def test_numeric_ids_become_strings(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": 7, "kind": "x"}', encoding="utf-8")
    (question,) = MADE.questions[:1]
    data = Dataset([Question("7", question.passage, "?", question.candidates, None, question.task)])
    (labels,) = read_labels(path, data)
    assert sets(labels) == {"7": {"x"}}


@pytest.mark.parametrize(
    ("content", "where", "field", "reported", "expected"),
    [
        (
            "id,skills\nstory0_0,a\nstory0.1,b\nx,c\n",
            "line 2",
            None,
            "question 'story0_0' and 2 more",
            "'story0,0'",
        ),
        ('id,skills\n"story0,0",a\n"story0,0",b\n', "line 3", None, "'story0,0'", "one entry"),
        ("name,skills\nx,a\n", "line 1", None, "'name,skills'", "id and other columns"),
        ("id,skills,skills\nx,a,b\n", "line 1", None, "'skills'", "unique names"),
        ('id,skills\n"story0,0"\n', "line 2", None, "1", "2, as in the header"),
        ("id,skills\n,a\n", "line 2", "id", "''", "a non-empty string"),
        ('{"story0,0": {"skills": [["a"]]}}', "$['story0,0']", "skills", "a list of 1", "a label"),
        ('{"story0,0": [""]}', "$['story0,0']", "labels", "''", "a label"),
        ("id,skills\n", None, None, None, "an id and labels"),
        ("[]", None, None, None, "an id and labels"),
        ("", None, None, None, "an id and labels"),
    ],
)
def test_malformed_label_files_are_refused(
    read, tmp_path, content, where, field, reported, expected
):
    facts = {
        "where": where,
        "field": field,
        "found": reported,
        "expected": re.compile(re.escape(expected)),
    }
    with raises(DataError, source=str(tmp_path / "labels.txt"), **facts):
        read(content)


def test_an_open_quote_is_refused(read, tmp_path):
    with raises(
        DataError, source=str(tmp_path / "labels.txt"), line=2, problem=re.compile("end of data")
    ):
        read('id,skills\n"story0,0,a\n')


def test_labels_of_unknown_questions_can_be_skipped_and_are_counted(read):
    notes = []
    (labels,) = read('id,kind\n"story0,0",a\nelsewhere,b\n', notes=notes)
    assert sets(labels) == {"story0,0": {"a"}}
    assert len(notes) == 1
    assert notes[0].endswith(
        "labels.txt: 1 labelled questions are not in made, such as 'elsewhere' (line 3)"
    )


def test_label_names_are_unique_across_files(read):
    first = read('id,kind\n"story0,0",a\n', "one.csv")
    second = read('id,kind\n"story0,0",a\n', "other.csv")
    check_names(first)
    with raises(UsageError, field="labels", found="kind") as caught:
        check_names([*first, *second])
    assert "one.csv and other.csv" in str(caught.value)


def skills(story: str, *numbers: list[int]) -> dict:
    return {
        "original_id": story,
        "annotations": [{"skills": skill_numbers} for skill_numbers in numbers],
    }


def test_released_skills_have_names_and_an_order(read):
    notes = []
    content = [
        skills("story0", [11, 2], [13], [14], [2, 13]),
        skills("elsewhere", [1], [1], [1], [1]),
    ]
    (labels,) = read(content, notes=notes)
    assert labels.name == "skills"
    assert sets(labels) == {
        "story0,0": {"schematic clause relation", "coreference resolution"},
        "story0,1": set(),
        "story0,3": {"coreference resolution"},
    }
    assert labels.order.index("coreference resolution") < labels.order.index(
        "schematic clause relation"
    )
    assert [note.partition(": ")[2] for note in notes] == [
        "4 labelled questions are not in made, such as 'elsewhere,0' ($[1].annotations[0])",
        "1 nonsense or ambiguous questions are left out",
        "'no skill' is ignored for 1 questions that also list skills",
    ]
    with raises(
        DataError, where="$[0].annotations[1]", field="skills", found="[15]", expected="0 to 14"
    ):
        read([skills("story0", [0], [15])])


def race(number: int, text: str = "What is it ?", answer: str = "A") -> str:
    row = {"example_id": "story1.txt", "question_id": number, "question": text, "answer": answer}
    return json.dumps({**row, " question_type": " Detail reasoning"})


def test_released_race_types_are_checked_against_the_questions(tmp_path):
    passage, kind = Passage("story1", "Text."), Task.SINGLE_CHOICE
    data = Dataset(
        [
            Question(
                f"story1-{i}",
                passage,
                "What _ is it?",
                tuple(map(Candidate, "abcd")),
                frozenset({i}),
                kind,
            )
            for i in (0, 1)
        ],
        "race",
    )
    path = tmp_path / "types.jsonl"
    path.write_text(race(1) + "\n" + race(2, answer="B") + "\n", encoding="utf-8")
    (labels,) = read_labels(path, data)
    assert labels.name == "reasoning-type"
    assert sets(labels) == {id_: {"Detail reasoning"} for id_ in ("story1-0", "story1-1")}
    for row, reported, expected in (
        (race(1, "What was it?"), "'What was it?'", "'What _ is it?'"),
        (race(1, answer="B"), "answer B", "answer A"),
    ):
        path.write_text(row + "\n" + race(2, answer="B"), encoding="utf-8")
        with raises(DataError, source=str(path), where="line 1", found=reported, expected=expected):
            read_labels(path, data)


def test_a_folder_of_categories_is_read(tmp_path):
    for name, ids in (("who", "story0,0\nstory0,1\n"), ("neg", "story0,1"), ("empty", "")):
        (tmp_path / f"{name}.txt").write_text(ids, encoding="utf-8")
    (labels,) = read_labels(tmp_path, MADE)
    assert labels.name == "categories"
    assert sets(labels) == {"story0,0": {"who"}, "story0,1": {"who", "neg"}}


@pytest.mark.parametrize(
    ("name", "labelled", "coreference"), [("mc160.dev", 55, 22), ("mc500.dev", 44, 29)]
)
def test_the_released_skills_of_mctest(shared_data, name, labelled, coreference):
    data = load(shared_data / "mctest" / f"{name}.tsv")
    (skills,) = read_labels(shared_data / "annotations" / "mctest_skills_acl2017.json", data)
    assert len(skills.of_question) == labelled
    assert (
        sum("coreference resolution" in names for names in skills.of_question.values())
        == coreference
    )
    (categories,) = read_labels(shared_data / "mctest" / "categories" / name, data)
    assert (
        sum("who" in names for names in categories.of_question.values())
        == {"mc160.dev": 17, "mc500.dev": 16}[name]
    )
