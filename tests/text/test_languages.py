"""The language of texts: known from their letters, and what follows from it."""

from __future__ import annotations

import pytest

from classic_rc.questions import Dataset, Passage, Question, Task
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.languages import dataset_language, language_of
from classic_rc.text.segmenters import NewmmTokenizer
from classic_rc.text.tokenizers import CharTokenizer

GERMAN = "Der Fuchs traf den Raben am Rand des Waldes, und die Eule schlief. "
ENGLISH = "The fox met the raven at the edge of the wood, and the owl slept. "


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ENGLISH * 40, "English"),
        ("Fox!", "English"),
        ("123", "English"),
        (GERMAN * 40, "a language with blanks between words"),
        ("Лиса встретила ворона.", "a language with blanks between words"),
        ("狐狸在河边看见了乌鸦。", "Chinese"),
        ("狐は川で烏を見た。", "Japanese"),
        ("여우가 강가에서 까마귀를 만났다.", "Korean"),
        ("สุนัขจิ้งจอกพบอีกาที่แม่น้ำ", "Thai"),
        ("កញ្ជ្រោងបានជួបក្អែក", "Khmer"),
        ("التقى الثعلب بالغراب عند النهر", "Arabic"),
        ("روباه کلاغ را کنار رودخانه دید", "a language with blanks between words"),
    ],
)
def test_the_letters_tell_the_language(text, name):
    assert language_of([text]).name == name


def test_the_order_of_texts_does_not_matter():
    texts = [ENGLISH * 30, "狐狸。", GERMAN * 5]
    assert language_of(texts) == language_of(texts[::-1])


def test_questions_count_where_there_is_no_passage():
    question = Question(
        "q", Passage("p", ""), "狐狸在哪里？", ("河", "山"), None, Task.SINGLE_CHOICE
    )
    assert dataset_language(Dataset([question])).name == "Chinese"


def test_some_text_without_blanks_between_words_is_matched_by_character():
    mixed = Question(
        "q", Passage("p", ENGLISH * 40 + "狐狸在河边看见了乌鸦。" * 40), "Who?", (), None, Task.SPAN
    )
    language = dataset_language(Dataset([mixed]))
    assert (language.name, language.analyzer) == ("English", "char")


def test_arabic_words_match_with_and_without_their_article():
    analyze = get_analyzer(language_of(["التقى الثعلب بالغراب"]).analyzer).analyze
    assert analyze("والثعلب") == analyze("ثعلب")


def test_a_dictionary_serves_if_it_is_installed(monkeypatch):
    thai = language_of(["สุนัขจิ้งจอก"])
    monkeypatch.setattr(NewmmTokenizer, "packages", ("no-such-package",))
    assert (thai.segmenter, thai.missing_extra) == ("syllable", "th")
    monkeypatch.setattr(NewmmTokenizer, "packages", ())
    assert (thai.segmenter, thai.missing_extra) == ("newmm", None)
    chinese = language_of(["狐狸"])
    assert (chinese.segmenter, chinese.missing_extra) == (CharTokenizer.name, None)
