"""What the span ranker learns of a language that is not English."""

from __future__ import annotations

import json

import numpy as np
import pytest

from classic_rc.errors import DataError
from classic_rc.folds import FoldPlan
from classic_rc.questions import Dataset, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import SpanRanker, load_solver, save_solver
from classic_rc.solvers.spans.grammar import LearnedGrammar
from classic_rc.text.tokenizers import SyllableTokenizer
from tests.errors import raises

NAMES = ["Лисицын", "Воронов", "Совин", "Зайцев", "Барсуков", "Волков", "Медведев", "Ежов"]
TOWNS = ["Казани", "Перми", "Твери", "Пскове", "Туле", "Рязани", "Самаре", "Уфе"]
PASSAGES = [
    f"Однажды {name} долго жил в {town} и писал книги. Потом он уехал." for name in NAMES
    for town in TOWNS[:4]
]  # fmt: skip
QUESTIONS = [f"Кто жил в {town} и писал книги?" for _ in NAMES for town in TOWNS[:4]]


def grammar(tokenizer: str = "word") -> LearnedGrammar:
    return LearnedGrammar.learn(tokenizer, PASSAGES, QUESTIONS)


def test_question_words_and_heads_are_learned():
    learned = grammar()
    parts = learned.parts([token for token, *_ in learned.tokens("Скажи, кто жил в Уфе?")])
    assert (parts.wh, parts.place) == ("кто", 2)
    assert learned.parts(["Уфе"]).wh == "none"
    assert learned.parts(["кто"]).head == -1


def test_classes_have_no_english_in_them():
    learned = grammar()
    assert learned.is_function_class(learned.word_class("жил"))
    assert learned.word_class("the") == "latin" == learned.word_class("quickly")
    classes = list(map(learned.word_class, ("1854", "3.5", "Уфа", "США", "。", "「", ",")))
    assert classes == ["year", "number", "name", "capitals", "stop", "quote", ","]


def test_frequent_endings_are_classes_and_no_part_of_stems():
    words = [f"{letters}ować" for letters in ("prac", "kup", "rys", "mal", "not", "bud")]
    learned = LearnedGrammar("word", [], [w[-3:] for w in words], [])
    assert learned.stem("budować") == learned.stem("budo")
    assert learned.word_class("budować") == "-wać"
    assert learned.stem("wać") == "wać"


def test_tokens_are_words_and_single_marks_at_their_places():
    text = "狐狸 (fox)，3.5！"
    tokens = LearnedGrammar("char", [], [], []).tokens(text)
    assert [token for token, *_ in tokens] == ["狐", "狸", "(", "fox", ")", "，", "3.5", "！"]
    assert all(text[start:end] == token for token, start, end in tokens)


def test_blanks_are_marks_where_they_are_not_between_words():
    learned = LearnedGrammar.learn("char", ["狐狸在 河边 看见了乌鸦。"], [])
    assert [token for token, *_ in learned.tokens("狐 狸")] == ["狐", " ", "狸"]
    assert learned.word_class(" ") == " "
    assert [token for token, *_ in grammar().tokens("кто жил")] == ["кто", "жил"]


def test_the_order_of_texts_changes_nothing():
    backwards = LearnedGrammar.learn("word", PASSAGES[::-1], QUESTIONS[::-1])
    assert backwards.state() == grammar().state()


def test_a_state_is_plain_and_belongs_to_a_version(monkeypatch):
    state = json.loads(json.dumps(grammar("syllable").state()))
    assert LearnedGrammar.restore(state).state() == state
    monkeypatch.setattr(SyllableTokenizer, "version", "2")
    with raises(DataError, found="2", expected=""):
        LearnedGrammar.restore(state)


@pytest.fixture(scope="module")
def russian() -> Dataset:
    questions = []
    for i, (text, question_text) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        passage, gold = Passage(f"p{i}", text), (text.split()[1],)
        questions.append(Question(f"q{i}", passage, question_text, (), gold, Task.SPAN))
    return add_span_candidates(Dataset(questions))


def test_it_learns_another_language_and_is_saved_with_it(russian, tmp_path):
    folds = FoldPlan(2).folds(russian)
    train, held_out = ([russian[i] for i in index.tolist()] for index in folds[0])
    ranker = SpanRanker().fit(train)
    answers = [prediction.answers[0][0] for prediction in ranker.predict(held_out)]
    right = [answer == q.gold[0] for q, answer in zip(held_out, answers, strict=True)]
    assert np.mean(right) > 0.9
    save_solver(ranker, tmp_path / "ranker.npz")
    restored = load_solver(tmp_path / "ranker.npz")
    before, after = (s.score_candidates(held_out).values for s in (ranker, restored))
    assert before.tolist() == after.tolist()
