import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.metrics import get_metric
from classic_rc.metrics.squad import compare_exactly, compare_f1
from classic_rc.predictions import Prediction
from classic_rc.questions import Task
from classic_rc.text.scorers import SCORERS
from classic_rc.text.squad import normalise_squad_answer

TEXTS = st.text(st.sampled_from("aB, .。猫鳥が가나"), max_size=9)

em, f1 = get_metric("em"), get_metric("f1")
words = st.lists(
    st.sampled_from(["owl", "Owl,", "the", "nest", "a", "1.50", "-", "bob's"]), max_size=6
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Owl's\tnest!", "owls nest"),
        ("an a-the then", "athe then"),
        ("A", ""),
        ("a£the“ an", "£ “"),
        ("Éa the Straße", "éa straße"),
    ],
)
def test_articles_punctuation_and_case_do_not_count(text, expected):
    assert normalise_squad_answer(text) == expected


def test_the_best_accepted_text_counts():
    gold = ("the grey owl", "an old owl on a roof")
    assert em.value(gold, ("Grey Owl.",)) == 1
    assert f1.value(gold, ("old owl on",)) == pytest.approx(6 / 7)  # precision 1, recall 3/4
    assert f1.value(gold, ("owl",)) == pytest.approx(2 / 3)


def test_words_count_as_often_as_they_stand():
    assert f1.value(("owl owl nest",), ("owl owl owl",)) == pytest.approx(2 / 3)


def test_a_text_of_articles_alone_equals_another_but_shares_no_word_with_it():
    assert em.value(("the",), ("a",)) == 1
    assert f1.value(("the",), ("a",)) == 0


def test_an_answer_is_one_text():
    for metric in (em, f1):
        assert metric.value(("owl",), ()) == 0
        assert metric.value(("owl",), ("owl", "nest")) == 0
        assert metric.value((), ("owl",)) == 0


def bag_f1(predicted, right):
    """The F1 of two bags of words; 0 if they share none."""
    shared = (Counter(predicted) & Counter(right)).total()
    return 2 * shared / (len(predicted) + len(right)) if shared else 0.0


@given(st.lists(words, min_size=1, max_size=3).map(tuple), words)
def test_exact_match_and_f1_follow_their_definitions(gold, answer):
    accepted = [normalise_squad_answer(text) for text in gold]
    predicted = normalise_squad_answer(answer)
    expected = max(bag_f1(predicted.split(), text.split()) for text in accepted)
    if "" in gold and not predicted:
        expected = 1.0
    assert f1.value(gold, (answer,)) == pytest.approx(expected)
    assert em.value(gold, (answer,)) == (predicted in accepted)


@given(words)
def test_a_nonempty_text_matches_itself(text):
    has_words = normalise_squad_answer(text) != ""
    assert em.value((text,), (text,)) == 1
    assert f1.value((text,), (text,)) == (text == "" or has_words)


@given(st.lists(words, min_size=1, max_size=5), st.data())
def test_many_answers_are_the_mean_of_each(ask, answers, data):
    question = ask(Task.SPAN, (data.draw(words), "owl nest"))
    for metric in (em, f1):
        together = metric([question], [Prediction("q", tuple((text,) for text in answers))])
        alone = [metric([question], [Prediction("q", ((text,),))]) for text in answers]
        assert together == pytest.approx(sum(alone) / len(alone))


_PARTS = [get_metric(name) for name in ("has_ans_em", "has_ans_f1", "no_ans_em", "no_ans_f1")]


def test_questions_without_an_answer_by_hand(ask):
    """Three with an answer (right; F1 2/3; unanswered) and two without (unanswered; answered)."""
    golds = [("the nest",), ("grey owl",), ("mice",), ("",), ("",)]
    answers = ["Nest", "owl of the grey wood", "", "", "mice"]
    questions = [ask(Task.SPAN, gold) for gold in golds]
    predictions = [Prediction("q", ((answer,),)) for answer in answers]
    assert em(questions, predictions) == pytest.approx(2 / 5)
    assert f1(questions, predictions) == pytest.approx(8 / 3 / 5)
    values = [metric(questions, predictions) for metric in _PARTS]
    assert values == pytest.approx([1 / 3, 5 / 9, 1 / 2, 1 / 2])


@pytest.mark.parametrize(("answer", "value"), [("", 1), ("the", 1), (" - ", 1), ("owl", 0)])
def test_without_an_answer_only_an_empty_prediction_is_right(answer, value):
    """As in the script v2.0, a prediction is empty if nothing is left of it after normalisation."""
    assert em.value(("",), (answer,)) == f1.value(("",), (answer,)) == value


def test_a_missing_prediction_is_not_the_empty_answer():
    assert em.value(("",), ()) == f1.value(("",), ()) == 0


@given(
    st.lists(
        st.tuples(st.just(("",)) | words.filter(normalise_squad_answer).map(lambda w: (w,)), words),
        min_size=1,
    )
)
def test_the_parts_make_up_the_whole_as_in_version_2(ask, cases):
    questions = [ask(Task.SPAN, gold) for gold, _ in cases]
    predictions = [Prediction("q", ((answer,),)) for _, answer in cases]
    n_without = sum(gold == ("",) for gold, _ in cases)
    for overall, with_answer, without_answer in ((em, *_PARTS[::2]), (f1, *_PARTS[1::2])):
        parts = (len(cases) - n_without) * with_answer(questions, predictions)
        parts += n_without * without_answer(questions, predictions)
        assert len(cases) * overall(questions, predictions) == pytest.approx(parts)


@pytest.fixture(scope="module")
def record_dev(shared_data):
    return load(shared_data / "record" / "record_explorer_123.json")


@pytest.mark.parametrize("case", range(2))
def test_recorded_outputs_of_the_official_script(record_dev, golden, text_predictions, case):
    recorded = golden("record")[case]
    predictions = text_predictions(record_dev, recorded["predictions"])
    for metric, official in ((em, "exact_match"), (f1, "f1")):
        rows = metric.statistics(record_dev, predictions)
        total = recorded["expected"][official]
        assert 100 * metric.aggregate(rows) == pytest.approx(total, abs=1e-10)
        unanswered = {metric.name: 0.0}
        values = [recorded["per_question"].get(q.id, unanswered) for q in record_dev]
        assert rows[:, 0].tolist() == [value[metric.name] for value in values]


def test_gold_scores_one_on_record(record_dev):
    predictions = [Prediction(q.id, tuple((text,) for text in q.gold)) for q in record_dev]
    assert (em(record_dev, predictions), f1(record_dev, predictions)) == (1, 1)


def official_2(golds, answer):
    """Exact match and F1 of version 2.0's script, from its definition."""
    bags = [normalise_squad_answer(gold).split() for gold in golds]
    accepted = [bag for bag in bags if bag] or [[]]
    predicted = normalise_squad_answer(answer).split()
    values = []
    for bag in accepted:
        values.append(bag_f1(predicted, bag) if predicted and bag else float(predicted == bag))
    return float(predicted in accepted), max(values)


@given(st.lists(st.lists(words.filter(bool), max_size=3), min_size=1, max_size=4), st.data())
def test_golds_that_normalise_to_nothing_count_as_in_version_2(tmp_path_factory, golds, data):
    answers = [data.draw(words) for _ in golds]
    context = " | ".join(text for accepted in golds for text in accepted)
    questions = []
    for i, accepted in enumerate(golds):
        texts = [{"text": text, "answer_start": context.index(text)} for text in accepted]
        question = {"id": str(i), "question": f"{i}?", "answers": texts}
        questions.append({**question, "is_impossible": not accepted})
    paragraph = {"context": context or "-", "qas": questions}
    content = {"version": "v2.0", "data": [{"paragraphs": [paragraph]}]}
    path = tmp_path_factory.getbasetemp() / "squad2.json"
    path.write_text(json.dumps(content), "utf-8")
    dataset = load(path)
    predictions = [Prediction(str(i), ((answer,),)) for i, answer in enumerate(answers)]
    rows = np.hstack([metric.statistics(dataset, predictions) for metric in (em, f1)])
    assert rows == pytest.approx(np.array(list(map(official_2, golds, answers))))


def test_golds_that_normalise_to_nothing_score_no_f1_in_version_1_1():
    assert (em.value(("the",), ("the",)), f1.value(("the",), ("the",))) == (1, 0)


@given(st.lists(TEXTS, max_size=4), st.sampled_from([*SCORERS]))
def test_all_pairs_at_once_are_each_pair(texts, name):
    scorer = SCORERS[name]
    for measure, compare in (
        (scorer.f1, compare_f1),
        (scorer.exact_match, compare_exactly),
    ):
        expected = [[measure((gold,), text) for gold in texts] for text in texts]
        assert compare(scorer, texts).tolist() == [pytest.approx(row) for row in expected]
