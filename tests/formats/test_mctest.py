import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.formats import get_format, read_predictions
from classic_rc.metrics import get_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from tests.depth import thinned
from tests.errors import raises
from tests.formats.builders import select

scores_format, answers_format = get_format("mctest-scores"), get_format("mctest-answers")

ROW = "1, 2, 3, 4"
STORY = "\t".join([ROW] * 4)

SETS = ["mc160.dev", "mc160.train", "mc500.dev", "mc500.train"]
SYSTEMS = ["Baseline_SW", "Baseline_SW_D", "BaselineInPaper_SW_D", "RTE", "RTE_Plus_BaselineSW_D"]


@pytest.mark.parametrize(
    ("score", "printed"),
    [
        (1.203, "1.203"),
        (2.0, "2"),
        (-0.000001, "0"),
        (-8.0383449, "-8.03834"),
        (0.0001, "0.0001"),
        (0.00002, "2E-05"),
        (12345.678901, "12345.6789"),
    ],
)
def test_numbers_are_printed_as_the_authors_do(task_datasets, score, printed):
    scores = Scores.from_lists([[score, 1, 2, 3]] * 8)
    text = scores_format.write(task_datasets["single-choice"], scores)
    row = f"{printed}, 1, 2, 3"
    assert text == ("\t".join([row] * 4) + "\n") * 2


@pytest.mark.parametrize(
    "text", [f"{STORY}\n{STORY}", f"{STORY}\t\n{STORY}\t\n", f"{STORY}\n{STORY}\n\n"]
)
def test_trailing_tabs_and_blank_lines_are_read(task_datasets, text):
    dataset = task_datasets["single-choice"]
    scores = scores_format.read(text.replace(", ", ","), dataset, source="a")
    assert scores[7].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "where", "found_text", "expected"),
    [
        (STORY, None, "1", "2, one for each story"),
        ("", None, "0", "2, one for each story"),
        (f"{STORY}\n{ROW}\t{ROW}", "line 2", "2", "4, one for each question"),
        (
            f"{STORY}\n{STORY}".replace("4\n", "\n"),
            "line 1, question 4, option 4",
            "''",
            "a finite number",
        ),
        (
            f"{STORY}\n" + STORY.replace("3, ", "", 1),
            "line 2, question 1",
            "3",
            "4, one for each option",
        ),
        (
            f"{STORY}\n" + STORY.replace("3", "NaN", 1),
            "line 2, question 1, option 3",
            "'NaN'",
            "a finite number",
        ),
        (
            f"{STORY}\n" + STORY.replace("3", "1e999", 1),
            "line 2, question 1, option 3",
            "'1e999'",
            "a finite number",
        ),
    ],
)
def test_malformed_scores_are_refused_with_their_place(refused, text, where, found_text, expected):
    refused(
        "mctest-scores", "single-choice", text, where=where, found=found_text, expected=expected
    )


@pytest.mark.parametrize(
    ("text", "where", "found_text", "expected"),
    [
        ("A\tB\tC\tD\nA\tB\tC\tE\n", "line 2, question 4", "'E'", "A, B, C, D"),
        ("A\tB\tC\tD\nA\tb\tC\tD\n", "line 2, question 2", "'b'", "A, B, C, D"),
        ("A\tB\tC\tD\n", None, "1", "2, one for each story"),
    ],
)
def test_malformed_letters_are_refused_with_their_place(refused, text, where, found_text, expected):
    refused(
        "mctest-answers", "single-choice", text, where=where, found=found_text, expected=expected
    )


def test_letters_are_in_the_order_of_the_dataset(task_datasets):
    dataset = task_datasets["single-choice"]
    predictions = select(dataset, *([{0}, {1}, {2}, {3}] * 2))
    assert answers_format.write(dataset, predictions=predictions) == "A\tB\tC\tD\n" * 2


@pytest.mark.parametrize("layout", [scores_format, answers_format])
def test_datasets_without_four_questions_per_passage_are_refused(task_datasets, layout):
    short = task_datasets["single-choice"][:7]
    mixed = Dataset([task_datasets["single-choice"][i] for i in (0, 4, 1, 5, 2, 6, 3, 7)])
    for dataset, n in ((short, 3), (mixed, 1)):
        facts = {"field": "format", "found": re.compile(rf"^{n} .*m\.[01]$"), "expected": "4"}
        with raises(UsageError, **facts):
            layout.read("A", dataset, source="a")
        scores = Scores.from_lists([[1, 2, 3, 4]] * len(dataset))
        with raises(UsageError, **facts) as caught:
            layout.write(dataset, scores, select(dataset, {0}))
        assert layout.name in str(caught.value)
        assert "jsonl" in str(caught.value)


@pytest.mark.parametrize("split", thinned(SETS, 4))
@pytest.mark.parametrize("system", SYSTEMS)
def test_released_scores_are_read_and_written_again(shared_data, tmp_path, system, split):
    dataset = load(shared_data / "mctest" / f"{split}.tsv")
    file = shared_data / "mctest" / "scores" / system / f"{split}.scores"
    scores = read_predictions(file, dataset)
    assert len(scores.values) == 4 * len(dataset)
    text = scores_format.write(dataset, scores)
    reread = scores_format.read(text, dataset, source="a")
    if system == "RTE_Plus_BaselineSW_D":  # seven decimals, and no blank after the commas
        assert reread.values == pytest.approx(scores.values, abs=0.5e-5 + 1e-12)
    else:
        assert text.encode() == file.read_bytes().replace(b"\r\n", b"\n")
        assert reread.values.tolist() == scores.values.tolist()


@pytest.mark.parametrize("split", SETS)
def test_scores_of_smith_et_al_are_read(shared_data, split):
    dataset = load(shared_data / "mctest" / f"{split}.tsv")
    for kind in ("rte", "norte"):
        file = shared_data / "mctest" / "smith2015" / f"{split}.{kind}.scores"
        assert len(read_predictions(file, dataset).values) == 4 * len(dataset)


@pytest.mark.parametrize("split", SETS)
def test_released_answers_are_gold_byte_for_byte(shared_data, split):
    dataset = load(shared_data / "mctest" / f"{split}.tsv")
    file = shared_data / "mctest" / f"{split}.ans"
    predictions = read_predictions(file, dataset)
    assert get_metric("accuracy")(dataset, predictions) == 1
    text = answers_format.write(dataset, predictions=predictions)
    assert text.encode() == file.read_bytes().replace(b"\r\n", b"\n")


def test_a_long_number_is_recognised_and_a_long_text_is_not():
    layout = get_format("mctest-scores")
    digits = "1" * 300_000
    assert layout.recognises(f"{digits}.{digits},2\n")
    assert not layout.recognises(f"{digits}x,2\n")
    assert not layout.recognises(f"{digits}.{digits}.,2\n")
