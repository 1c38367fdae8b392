"""Every scorer gives the numbers of its official script."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.text.scorers import SCORERS, get_scorer
from tests.errors import raises

PAGE = Path(__file__).resolve().parents[3] / "shared" / "scorers.md"
SECTIONS = {
    "CMRC 2018": "cmrc2018",
    "DuReader-robust": "dureader",
    "XQuAD": "squad",
    "KorQuAD 1.0": "korquad1",
    "KorQuAD 2.0": "korquad2",
    "KLUE-MRC": "klue",
    "JSQuAD": "jsquad",
    "ARCD": "arcd",
    "PersianQA": "persianqa",
}
MARKS = {
    "‹ZWNJ›": "\u200c",
    "‹ZWJ›": "\u200d",
    "‹U+3000›": "\u3000",
    "⏎": "\n",
    "(empty)": "",
    "  ‹blank at the end›": " ",
}


def text_of(cell):
    text, is_decomposed, _ = cell.strip(" ").partition(" (decomposed, NFD)")
    for mark, characters in MARKS.items():
        text = text.replace(mark, characters)
    return unicodedata.normalize("NFD", text) if is_decomposed else text


def cases_of_the_page():
    """Return (scorer, golds, answer, EM, F1 in percent) of every row of the page's tables."""
    cases, scorer = [], None
    for line in PAGE.read_text("utf-8").splitlines() if PAGE.is_file() else ():
        if line.startswith("## "):
            section_names = (name for start, name in SECTIONS.items() if line[3:].startswith(start))
            scorer = next(section_names, None)
        elif language := re.fullmatch(r"(\w\w):", line):
            scorer = f"mlqa_{language[1]}"
        row = re.fullmatch(r"\|(.*)\|(.*)\| ([01]) \| ([\d.]+) \|", line)
        if row and scorer:
            golds, answer, em, f1 = row.groups()
            golds = tuple(map(text_of, golds.split(" / ")))
            cases.append((scorer, golds, text_of(answer), int(em), float(f1)))
    return cases


def test_the_cases_of_the_page_are_scored_as_the_scripts_do():
    cases = cases_of_the_page()
    if not cases:
        pytest.skip("needs ../shared/scorers.md")
    assert len(cases) > 180
    assert len({case[0] for case in cases}) == len({*SECTIONS.values()}) + 6  # languages of MLQA
    wrong = []
    for name, golds, answer, em, f1 in cases:
        scorer = SCORERS[name]
        values = scorer.exact_match(golds, answer), round(100 * scorer.f1(golds, answer), 2)
        if values != (em, f1):
            wrong.append((name, golds, answer, values))
    assert wrong == []


CASES = [
    ("squad", "the old owl", "An old owl.", 1, 1),
    ("squad", "猫头鹰在树上", "猫头鹰在树", 0, 0),
    ("squad", "the", "a", 1, 0),
    ("squad2", "the", "a", 1, 1),
    ("squad2", "", "owl", 0, 0),
    ("cmrc2018", "「老」猫头鹰", "老猫头鹰", 1, 1),
    ("cmrc2018", "猫头鹰", "鹰头猫", 0, 1 / 3),
    ("cmrc2018", "don't 走", "do 走", 0, 2 / 5),
    ("cmrc2018", "猫。", "猫.", 0, 2 / 3),
    ("cmrc2018", "高3,500米", "高3,500", 0, 4 / 5),
    ("dureader", "猫(老)", "猫老", 1, 1),
    ("dureader", "Old Owl猫", "old owl猫", 1, 1),
    ("dureader", "Old Owl猫", "owl猫", 0, 1 / 2),
    ("dureader", "㐀𠀀猫", "㐀𠀀", 0, 4 / 5),
    ("mlqa_en", "The “Owl”", "owl", 1, 1),
    ("mlqa_en", "5 €", "5", 0, 2 / 3),
    ("mlqa_es", "unas lechuzas", "las lechuzas", 1, 1),
    ("mlqa_de", "dem Uhu", "eine Uhu", 1, 1),
    ("mlqa_vi", "chiếc lá", "lá", 1, 1),
    ("mlqa_vi", "An", "", 0, 0),
    ("mlqa_hi", "उल्लू।", "उल्लू", 1, 1),
    ("mlqa_ar", "البومة", "بومة", 1, 1),
    ("mlqa_ar", "مقالة", "مق ة", 1, 1),
    ("mlqa_zh", "猫 头鹰", "猫头 鹰", 1, 1),
    ("mlqa_zh", "鹰头猫", "猫头鹰", 0, 1),
    ("korquad1", "<올빼미>새", "올빼미 새", 1, 1),
    ("korquad1", "올빼미 새", "새올빼미", 0, 1),
    ("korquad2", "<b>올빼미</b>&nbsp;새", "올빼미새", 1, 1),
    ("klue", "올빼미 새", "올빼미새", 0, 2 * 3 / 9),
    ("klue", "", "!", 1, 1),
    ("jsquad", "梟。。", "梟", 1, 1),
    ("jsquad", "梟", "", 0, 0),
    ("jsquad", "梟 鳥", "梟\u3000鳥", 1, 1),
    ("arcd", "مقالة.", "مق ة", 1, 1),
    ("arcd", "بومة؟", "بومة", 0, 0),
    ("persianqa", "\u200cجغد", " جغد", 1, 1),
    ("persianqa", "", "", 1, 0),
    ("words", "Hội An", "Hội", 0, 2 / 3),
    ("words", "e\u0301l «hoy»", "\u00e9l hoy", 1, 1),
    ("chars", "ที่กรุงเทพ", "กรุงเทพ", 0, 2 * 7 / 17),
    ("chars", "２ 猫", "2猫", 1, 1),
]


@pytest.mark.parametrize(("name", "gold", "answer", "em", "f1"), CASES)
def test_scores_are_those_computed_by_hand(name, gold, answer, em, f1):
    scorer = get_scorer(name)
    assert scorer.exact_match((gold,), answer) == em
    assert scorer.f1((gold,), answer) == pytest.approx(f1)


def test_every_scorer_has_a_case():
    assert {name for name, *_ in CASES} == {*SCORERS}


def test_an_unknown_scorer_is_met_with_the_nearest():
    with raises(UsageError, field="scorer", found="cmrc", expected="cmrc2018"):
        get_scorer("cmrc")


TEXTS = st.text(st.sampled_from("aB, .。猫鳥が가나"), max_size=9)


@given(st.lists(TEXTS, min_size=1, max_size=3).map(tuple), TEXTS, st.sampled_from([*SCORERS]))
def test_the_best_gold_counts_for_each_number(golds, answer, name):
    scorer = SCORERS[name]
    if scorer.drops_empty_golds:
        golds = tuple(gold for gold in golds if scorer.normalise(gold)) or ("",)
    for measure in (scorer.exact_match, scorer.f1):
        assert measure(golds, answer) == max(measure((gold,), answer) for gold in golds)
        assert 0 <= measure(golds, answer) <= 1


def test_golds_that_normalise_to_nothing_do_not_count_beside_others():
    for name in ("jsquad", "squad2"):
        assert SCORERS[name].exact_match(("。" if name == "jsquad" else "the", "x"), "") == 0


@given(st.text(st.sampled_from("가나다 "), max_size=12), st.text(st.sampled_from("가나다 ")))
def test_the_longest_run_is_that_of_difflib(gold, answer):
    scorer = SCORERS["klue"]
    gold, answer = scorer.normalise(gold), scorer.normalise(answer)
    run = SequenceMatcher(None, answer, gold).find_longest_match().size
    expected = float(gold == answer)
    if gold and answer:
        expected = 2 * run / (len(gold) + len(answer))
    assert scorer.f1((gold,), answer) == pytest.approx(expected)


def test_in_a_long_gold_a_frequent_character_begins_no_run():
    gold = "가" * 100 + "나" + "가" * 100
    assert SCORERS["klue"].f1((gold,), "다가") == 0
    assert SCORERS["klue"].f1((gold,), "가나") == pytest.approx(2 * 2 / 203)


@given(st.text(), st.sampled_from([*SCORERS]))
def test_any_text_equals_itself(text, name):
    assert SCORERS[name].exact_match((text,), text) == 1


PIECES = (
    "ab 3 . , .. 5 cannot gonna can't don't x's $ % ( ) [ : - -- ; ! ? ' \" é の 가 \n _ / &"
).split(" ")


@given(st.lists(st.sampled_from([*PIECES, " "]), max_size=8).map("".join))
def test_the_words_between_chinese_characters_are_those_of_nltk(text):
    from nltk.tokenize import NLTKWordTokenizer

    scorer = SCORERS["cmrc2018"]
    assert list(scorer.units(scorer.normalise(text))) == NLTKWordTokenizer().tokenize(
        scorer.normalise(text)
    )


@pytest.mark.parametrize("name", [name for name, scorer in SCORERS.items() if scorer.by_words])
@given(st.text(max_size=30) | st.text("the a,Σs\u0301–uno elال。x ", max_size=30))
def test_words_between_blanks_are_normalised_alone(name, text):
    normalise = SCORERS[name].normalise
    words = [word for chunk in text.split(" ") for word in normalise(chunk).split()]
    assert normalise(text).split() == words
