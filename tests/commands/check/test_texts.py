"""Damaged texts; and what reading left out, as findings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.commands.check.integrity import DAMAGE, find_defects, find_text_defects
from classic_rc.datasets import from_rows, load


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
        # Sound texts:
        ("café, naïve, Ångström, MENÜ», MAÇÃ”, spaß“, Ärger…", set()),
        ("12 °C, 5 £, «très», ¿Qué?", set()),
        ("AT&T, R&D; a & b; x&y;", set()),
        ("two\nlines\tand a tab", set()),
        ("Анна met Ann", set()),
        ("", set()),
    ],
)
def test_damage_in_texts_is_named_by_its_kind(text, kinds):
    assert _kinds(text) == kinds


@given(
    st.text(st.characters(min_codepoint=0xC0, max_codepoint=0xFF, categories=["Ll"]), min_size=1)
)
def test_accented_small_letters_decoded_wrongly_are_found(word):
    assert "mojibake" in _kinds(word.encode("utf-8").decode("cp1252", "replace"))
    assert "mojibake" not in _kinds(word)


def _row(id, passage, question="Who?", options=("Ann", "Eve")):
    return {
        "id": id,
        "passage": passage,
        "question": question,
        "candidates": list(options),
        "gold": 0,
    }


def test_damage_is_found_in_passages_questions_and_options():
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
    rows = [
        _row("a", "One cafÃ©."),
        _row("b", "Two.") | {"gold": 9},
        _row("a", "Three."),
        _row("c", "Four.", ""),
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{", "utf-8")
    places = [
        (f.kind.name, str(f.kind.severity), f.count, f.places)
        for f in find_defects(load(path, skip="bad"))
    ]
    assert places == [
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
