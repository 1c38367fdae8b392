"""Damaged texts, other scripts and languages; and what reading left out, as findings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.audit.integrity import find_defects
from classic_rc.audit.texts import DAMAGE, find_language, find_script, find_text_defects
from classic_rc.datasets import from_rows, load

_EN = "The owl sat on the roof of the house and looked at the mice that were in the garden with his friend."
_DE = "Die Eule sitzt auf dem Dach und der Hund ist nicht mit den Katzen im Garten, das ist ein Spiel von Kindern."


def _kinds(text):
    return {kind for kind, has in DAMAGE.items() if has(text)}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("cafÃ©", {"mojibake"}),
        ("Itâ€™s", {"mojibake"}),
        ("12 Â°C", {"mojibake"}),
        ("Ð¡Ñ‚", {"mojibake"}),
        ("ðŸ˜€", {"mojibake"}),
        ("lost �", {"lost-character"}),
        ("bell \x07", {"control-character"}),
        ("\ufeffstart", {"control-character"}),
        ("Tom &amp; Ann", {"html-entity"}),
        ("&#39;tis &#x27;", {"html-entity"}),
        ("p\u0430ypal", {"mixed-script"}),
        # Sound texts:
        ("café, naïve, Ångström, MENÜ», MAÇÃ”, spaß“, Ärger…", set()),
        ("12 °C, 5 £, «très», ¿Qué?", set()),
        ("AT&T, R&D; a & b; x&y;", set()),
        ("two\nlines\tand a tab", set()),
        ("Анна met Ann", set()),
        ("", set()),
    ],
)
def test_damage(text, kinds):
    assert _kinds(text) == kinds


@given(st.text(st.characters(min_codepoint=0xC0, max_codepoint=0xFF, categories=["Ll"]), min_size=1))
def test_accented_small_letters_decoded_wrongly_are_found(word):
    assert "mojibake" in _kinds(word.encode("utf-8").decode("cp1252", "replace"))
    assert "mojibake" not in _kinds(word)


@given(st.text())
def test_any_text_has_a_script_a_language_or_none(text):
    assert find_script(text) is None or find_script(text).isupper()
    find_language(text)
    _kinds(text)


def test_languages():
    assert (find_language(_EN), find_language(_DE), find_language("owl " * 30)) == ("English", "German", None)


def _row(id, passage, question="Who?", options=("Ann", "Eve")):
    return {"id": id, "passage": passage, "question": question, "candidates": list(options), "gold": 0}


def test_foreign_texts_are_told_from_most():
    rows = [_row(f"q{i}", f"{_EN} {i}") for i in range(5)]
    rows += [_row("de", _DE), _row("ru", "Анна пела."), _row("options", _EN, "Кто пела?", ("Анна", "Ева"))]
    found = list(find_text_defects(from_rows(rows)))
    assert found == [("other-language", "de"), ("other-script", "ru"), ("other-script", "options")]


_OTHERS = {
    "pl": "Następnego ranka Janek poszedł z ojcem na targ i kupił tam chleb oraz butelkę oliwy.",
    "tr": "Ertesi sabah Ali babasıyla birlikte pazara gitti ve domates, ekmek ve zeytinyağı aldı.",
    "it": "La mattina dopo Marco andò al mercato con suo padre e comprò pane, olio e pomodori.",
}
_STORIES = [
    f"In the morning {name} went to the {place} with a friend, and then they ate {food} in the garden of the house."
    for name in ("Nora", "Omar", "Eve")
    for place in ("market", "river", "old mill")
    for food in ("bread", "soup", "a cake")
]


@pytest.mark.parametrize("language", _OTHERS)
def test_two_foreign_passages_in_thirty_are_found_in_any_language(language):
    rows = [_row(f"q{i}", text) for i, text in enumerate(_STORIES)]
    table = "Bread 2.50 Milk 1.20 Tea 3.00 Rice 4.10 Soup 5.00 Cake 2.20 Fish 9.90 Eggs 3.10 Corn 1.10 Beans 2.00"
    rows += [_row("one", _OTHERS[language]), _row("two", _OTHERS[language] + " Nora."), _row("table", table)]
    assert list(find_text_defects(from_rows(rows))) == [("other-language", "one"), ("other-language", "two")]


def test_half_of_each_language_is_no_defect():
    han = "第二天早上，小明和爸爸一起去市场。他们买了西红柿、面包和一瓶油。"
    rows = [_row(f"q{i}", f"{han}{i}" if i % 2 else _STORIES[i]) for i in range(20)]
    assert list(find_text_defects(from_rows(rows))) == []


def test_without_a_common_language_none_is_foreign():
    assert list(find_text_defects(from_rows([_row("a", _EN), _row("b", "owl"), _row("c", _DE)]))) == []


def test_damage_of_passages_questions_and_options():
    rows = [
        _row("a", "One cafÃ©."),
        _row("b", "One cafÃ©.", "&lt;Who&gt;?"),
        _row("c", "Two.", options=("x", "\x01")),
    ]
    assert list(find_text_defects(from_rows(rows))) == [
        ("mojibake", "a"),
        ("mojibake", "b"),
        ("html-entity", "b"),
        ("control-character", "c"),
    ]


def test_what_reading_left_out_comes_first_and_everything_has_its_place(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [_row("a", "One cafÃ©."), _row("b", "Two.") | {"gold": 9}, _row("a", "Three."), _row("c", "Four.", "")]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{", "utf-8")
    found = [(f.kind.name, str(f.kind.severity), f.count, f.places) for f in find_defects(load(path, skip="bad"))]
    assert found == [
        ("left-out", "error", 1, (f"{path}, line 5 column 2",)),
        ("left-out", "error", 1, (f"{path}, line 2, question b",)),
        ("repaired", "warning", 1, (f"{path}, line 3, question a",)),
        ("mojibake", "warning", 1, (f"{path}, line 1, question a",)),
        ("empty-question", "warning", 1, (f"{path}, line 4, question c",)),
    ]


def test_repaired_offsets_are_a_warning(tmp_path):
    question = {"id": "q", "question": "Who?", "answers": [{"text": "Ann", "answer_start": 3}]}
    data = {"data": [{"paragraphs": [{"context": "So Ann sang. Ann!", "qas": [question]}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(data), "utf-8")
    assert find_defects(load(path, skip="bad")) == ()
    question["answers"][0]["answer_start"] = 4
    path.write_text(json.dumps(data), "utf-8")
    (finding,) = find_defects(load(path, skip="bad"))
    assert (finding.kind.name, finding.count, finding.examples) == ("repaired", 1, ("q",))
