import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.metrics import get_metric
from classic_rc.metrics.squad import normalise_squad_answer
from classic_rc.predictions import Prediction
from classic_rc.questions import Task

em, f1 = get_metric("em"), get_metric("f1")
words = st.lists(st.sampled_from(["owl", "Owl,", "the", "nest", "a", "1.50", "-", "bob's"]), max_size=6).map(
    " ".join
)


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
def test_normalise(text, expected):
    assert normalise_squad_answer(text) == expected


def test_the_best_accepted_text_counts():
    gold = ("the grey owl", "an old owl on a roof")
    assert em.value(gold, ("Grey Owl.",)) == 1
    assert f1.value(gold, ("old owl on",)) == pytest.approx(2 * 1 * (3 / 4) / (1 + 3 / 4))
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


@given(st.lists(words, min_size=1, max_size=3).map(tuple), words)
def test_f1_follows_its_definition(gold, answer):
    def of(text):
        predicted, right = normalise_squad_answer(answer).split(), normalise_squad_answer(text).split()
        shared = sum(min(predicted.count(word), right.count(word)) for word in set(predicted))
        return 2 * shared / (len(predicted) + len(right)) if shared else 0.0

    assert f1.value(gold, (answer,)) == pytest.approx(max(map(of, gold)))
    assert em.value(gold, (answer,)) == float(
        normalise_squad_answer(answer) in {normalise_squad_answer(text) for text in gold}
    )


@given(words)
def test_a_nonempty_text_matches_itself(text):
    assert em.value((text,), (text,)) == 1
    assert f1.value((text,), (text,)) == float(normalise_squad_answer(text) != "")


@given(st.lists(words, min_size=1, max_size=5), st.data())
def test_many_answers_are_the_mean_of_each(ask, answers, data):
    question = ask(Task.SPAN, (data.draw(words), "owl nest"))
    for metric in (em, f1):
        together = metric([question], [Prediction("q", tuple((text,) for text in answers))])
        alone = [metric([question], [Prediction("q", ((text,),))]) for text in answers]
        assert together == pytest.approx(sum(alone) / len(alone))


@pytest.fixture(scope="module")
def record_dev(shared_data):
    return load(shared_data / "record" / "record_explorer_123.json")


@pytest.mark.parametrize("case", range(2))
def test_recorded_outputs_of_the_official_script(record_dev, golden, text_predictions, case):
    recorded = golden("record")[case]
    predictions = text_predictions(record_dev, recorded["predictions"])
    for metric, official in ((em, "exact_match"), (f1, "f1")):
        rows = metric.statistics(record_dev, predictions)
        assert 100 * metric.aggregate(rows) == pytest.approx(recorded["expected"][official], abs=1e-10)
        expected = [recorded["per_question"].get(q.id, {metric.name: 0.0})[metric.name] for q in record_dev]
        assert rows[:, 0].tolist() == expected


def test_gold_scores_one_on_record(record_dev):
    predictions = [Prediction(q.id, tuple((text,) for text in q.gold)) for q in record_dev]
    assert (em(record_dev, predictions), f1(record_dev, predictions)) == (1, 1)
