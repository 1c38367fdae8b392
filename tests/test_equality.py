"""Which texts are the same: the rungs of the ladder, and all that use it."""

from __future__ import annotations

import json
import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.cli.main import main
from classic_rc.commands.check import check_dataset
from classic_rc.commands.check.integrity import find_defects
from classic_rc.commands.check.mend import mend_dataset
from classic_rc.datasets import from_rows
from classic_rc.equality import TextLadder, bare_text, folded_text, normalised_text, option_forms
from classic_rc.errors import DataError
from classic_rc.formats import read_predictions
from tests.errors import raises

WORDS = (
    "Aa",
    "aA",
    "Zoe\u0301",
    "Zo\u00e9",
    "GG",
    "gg",
    "the park",
    "Park.",
    "f'",
    "C++",
    "?!",
    "東京",
)
CHANGES = {
    "composed form": (
        lambda t: unicodedata.normalize("NFD", t),
        lambda t: unicodedata.normalize("NFC", t),
    ),
    "blanks": (lambda t: f"  {t} ", lambda t: t.replace(" ", " \n\t")),
    "marks": (lambda t: f"{t}.", lambda t: f"“{t}”", lambda t: f"**{t}**", lambda t: f'"{t}."'),
    "case": (str.upper, str.lower),
}
"""What each rung forgives, from the second rung on."""


def test_the_first_rung_with_a_match_decides():
    rng = random.Random(0)
    rungs = list(CHANGES.values())
    for _ in range(4000):
        texts = rng.sample(WORDS, rng.randint(1, 5))
        answer, changed = rng.choice(texts), 0
        for rung, changes in enumerate(rungs, 1):
            if rng.random() < 0.4:
                changed_answer = rng.choice(changes)(answer)
                changed = rung if changed_answer != answer else changed
                answer = changed_answer
        # The texts that are equal after each rung's forms, by other code than the package's.
        matches = TextLadder(texts).find(answer)
        expected = next(
            (equal_texts for form in _FORMS if (equal_texts := _equal(form, answer, texts))), []
        )
        assert matches == expected, (texts, answer)


def _strip(text: str) -> str:
    text, before = " ".join(unicodedata.normalize("NFC", text).split()), ""
    while text != before:
        before = text
        shorter = text
        if len(text) > 2 and text[0] in "\"'“*" and text[-1] in "\"'”*":
            shorter = text.strip("\"'“”* ")
        elif text[-1:] in tuple(".,;:! "):
            shorter = text.rstrip(".,;:! ")
        text = shorter or text
    return text


_FORMS = (
    str,
    lambda t: unicodedata.normalize("NFC", t),
    lambda t: " ".join(unicodedata.normalize("NFC", t).split()),
    _strip,
    lambda t: unicodedata.normalize("NFC", _strip(t).casefold()),
)


def _equal(form, answer, texts):
    return [i for i, text in enumerate(texts) if form(text) == form(answer)]


@given(st.text(max_size=12))
def test_forms_are_forms_of_themselves(text):
    for form in (bare_text, folded_text, normalised_text):
        assert form(form(text)) == form(text) or form is not bare_text
    assert not text.strip() or bare_text(text)
    assert TextLadder([text]).find(text) == [0]


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5), st.randoms())
def test_texts_in_another_order_are_found_again(texts, rng):
    order = list(range(len(texts)))
    rng.shuffle(order)
    places = TextLadder(texts).order(texts[i] for i in order)
    assert places is not None
    assert [texts[i] for i in places] == [texts[i] for i in order]
    assert sorted(places) == list(range(len(texts)))
    assert TextLadder(texts).order([*texts, "one more"]) is None


@pytest.mark.parametrize(
    ("texts", "n_different"),
    [
        (["Red", "red."], 1),
        (["GG", "gg", "Gg"], 3),
        (["GG", "gg", "gg."], 2),
        (["Zoé", "Zoe\u0301"], 1),
        (["the  park", "“the park”"], 1),
        (["f", "f'"], 2),
        (["C", "C++"], 2),
    ],
)
def test_options_that_differ_in_case_alone_are_different(texts, n_different):
    assert len(set(option_forms(texts))) == n_different


CASES = [
    ("AA", "Aa", "aa", 2, "white"),
    ("AA", "Aa", "aa", 1, "pink"),
    ("CO", "Co", "N", 1, "a metal"),
    ("AA", "Aa", "aa", 0, "red"),
]


def _rows(passage: str = "A plant. Cobalt.") -> list[dict]:
    return [
        {"id": str(i), "passage": f"{passage} {i}", "question": f"Which is {what}?"}
        | {"candidates": options, "gold": gold}
        for i, (*options, gold, what) in enumerate(CASES)
    ]


def test_answers_keep_their_case_where_it_matters(tmp_path):
    dataset = from_rows(_rows())
    path = tmp_path / "answers.jsonl"
    lines = [{"id": q.id, "answer": q.gold_texts[0]} for q in dataset]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [p.answers[0] for p in read_predictions(path, dataset)] == [q.gold for q in dataset]
    lines[2]["answer"] = "cO"  # CO or Co: nothing says which
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_predictions(path, dataset)[2].answers == ()


def test_gold_is_found_where_case_matters():
    rows = [{**row, "gold": row["candidates"][row["gold"]]} for row in _rows()]
    assert [q.gold for q in from_rows(rows)] == [{2}, {1}, {1}, {0}]
    rows[0]["gold"] = "aA"
    with raises(DataError, field="gold", found="'aA', the text of 3 candidates"):
        from_rows(rows)


def test_checks_and_repairs_know_case():
    rows = _rows()
    rows += [{**rows[1], "id": "other gold", "gold": 2}, {**rows[0], "id": "copy"}]
    dataset = from_rows(rows)
    kinds = {finding.kind.name for finding in find_defects(dataset)}
    assert not kinds & {"equal-options", "option-both"}
    remaining_ids = [q.id for q in mend_dataset(check_dataset(dataset)).dataset]
    assert remaining_ids == ["0", "1", "2", "3", "other gold"]


def test_the_files_of_development_read_alike(shared_data, capsys):
    data = shared_data / "cases" / "case_matters.jsonl"
    answers = data.with_name("case_matters_answers.jsonl")
    if not data.is_file():
        pytest.skip("the small cases are not here (shared/data/cases beside the checkout)")
    assert main(["run", str(data), "-s", str(answers), "--format", "json", "-q"]) == 0
    assert '"accuracy": 1.0' in capsys.readouterr().out
