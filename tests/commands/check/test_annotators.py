"""Votes of annotators: how they are read, their agreement, the human rows, disputes with gold."""

from __future__ import annotations

import json
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import classic_rc
from classic_rc.commands.check import check_dataset, mend_dataset
from classic_rc.commands.check.annotators import cohen_kappa, krippendorff_alpha
from classic_rc.commands.check.tables import check_tables, dispute_table
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import DataError
from tests.tables import texts

OPTIONS = ["red", "blue", "green", "pink"]
FIELDS = "passage=text,question=ask,candidates=A+B+C+D,gold=key,id=id,annotators=v1+v2+v3"

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": the data of sections B and C.
BEN, GERRY = "aabbdcccedda", "babbbccceddd"
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def units_of(observers):
    return [[v for v in unit if v != "."] for unit in zip(*observers, strict=True)]


@pytest.mark.parametrize(
    ("observers", "alpha"), [([BEN, GERRY], 0.692), (OBSERVERS, 0.743)], ids=["two", "missing"]
)
def test_alpha_is_that_of_published_examples(observers, alpha):
    assert krippendorff_alpha(units_of(observers)) == pytest.approx(alpha, abs=5e-4)


units = st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=8)


@given(units)
def test_alpha_is_one_minus_observed_over_expected_disagreement(units):
    """By all pairs: those within units, each weighted by 1 / (m - 1), and those of all values."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum((a != b) / (len(u) - 1) for u in units for a, b in permutations(u, 2))
    different = sum(a != b for a, b in permutations(values, 2))
    alpha = krippendorff_alpha(units)
    if different == 0:
        assert alpha is None
    else:
        expected = different / (len(values) - 1)
        assert alpha == pytest.approx(1 - observed / expected)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=12))
def test_kappa_is_that_of_scikit_learn(pairs):
    from sklearn.metrics import cohen_kappa_score

    kappa = cohen_kappa(pairs)
    if kappa is None:
        assert len({value for pair in pairs for value in pair}) < 2
    else:
        assert kappa == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))


def rows(votes, golds=None):
    golds = golds or ["A"] * len(votes)
    return [
        {
            "id": f"q{i}",
            "text": f"Story {i}.",
            "ask": "Which?",
            **dict(zip("ABCD", OPTIONS, strict=True)),
            "key": gold,
            **{f"v{n}": vote for n, vote in enumerate(row_votes, 1)},
        }
        for i, (row_votes, gold) in enumerate(zip(votes, golds, strict=True))
    ]


def read(votes, golds=None, fields=FIELDS, **settings):
    return classic_rc.from_rows(rows(votes, golds), fields=fields, **settings)


def test_votes_are_read_as_gold_is_and_count_by_question():
    dataset = read([("A", "A", "A"), ("A", "B", ""), ("B", "B", "A"), (None, None, "D")])
    assert dataset[1].meta == {"annotators": {"v1": 0, "v2": 1, "v3": None}}
    annotators = check_dataset(dataset).annotators
    assert (annotators.n_votes, annotators.names) == (9, ("v1", "v2", "v3"))
    assert annotators.accuracies["one annotator"].mean == pytest.approx((1 + 1 / 2 + 1 / 3 + 0) / 4)
    assert annotators.accuracies["most annotators"].mean == pytest.approx((1 + 1 / 2 + 0 + 0) / 4)
    assert annotators.n_tied == 1
    disputes = [(d.id, d.gold, d.answer, d.against, d.votes) for d in annotators.disputes]
    assert disputes == [("q3", "red", "pink", 1, 1), ("q2", "red", "blue", 2, 3)]
    assert annotators.alpha == krippendorff_alpha(["AAA", "AB", "BBA", "D"])
    pairs = [[("A", "A"), ("A", "B"), ("B", "B")], [("A", "A"), ("B", "A")]]
    kappas = [cohen_kappa(labels) for labels in (*pairs, [("A", "A"), ("B", "A")])]
    assert annotators.kappa == pytest.approx(sum(kappas) / 3)


def test_votes_that_count_from_another_number_than_gold_are_refused(tmp_path):
    rows = ["id,p,q,a,b,label,v1"]
    rows += [f"q{i},text {i},why,red,blue,{i % 2 + 1},{i % 2}" for i in range(30)]
    (tmp_path / "shifted.csv").write_text("\n".join(rows), encoding="utf-8")
    fields = "id=id,passage=p,question=q,candidates=a+b,gold=label,annotators=v1"
    with pytest.raises(DataError, match="another number than gold"):
        classic_rc.load(tmp_path / "shifted.csv", fields=fields, gold_as="index1", skip="bad")


def test_one_annotator_has_no_majority():
    agreement = check_dataset(read([("A", None, None), ("B", None, None)])).annotators
    assert list(agreement.accuracies) == ["one annotator"]
    assert (agreement.names, agreement.alpha, agreement.kappa) == (("v1",), None, None)


@pytest.mark.parametrize("field", ["votes", "votes.label"])
def test_votes_may_be_in_a_list_or_a_mapping(field):
    vote_rows = rows([("A", "C", "B")] * 2, ["A", "D"])
    for row in vote_rows:
        votes = [row.pop(f"v{n}") for n in (1, 2, 3)]
        row["votes"] = votes if field == "votes" else [{"label": vote} for vote in votes]
    fields = FIELDS.replace("v1+v2+v3", field)
    dataset = classic_rc.from_rows(vote_rows, fields=fields)
    assert dataset[0].meta["annotators"] == {"1": 0, "2": 2, "3": 1}
    vote_rows[0]["votes"] = vote_rows[1]["votes"] = {"ann": "A", "bob": None}
    dataset = classic_rc.from_rows(vote_rows, fields=FIELDS.replace("v1+v2+v3", "votes"))
    assert dataset[0].meta["annotators"] == {"ann": 0, "bob": None}


def test_votes_may_have_another_coding_than_gold_if_it_is_certain():
    golds = ["red", "blue"]
    assert read([("A", "D", None), ("B", "B", "C")], golds)[0].meta["annotators"]["v2"] == 3
    numbers = [("1", "4", "2"), ("2", "1", "1")]
    assert read(numbers, golds)[0].meta["annotators"] == {"v1": 0, "v2": 3, "v3": 1}
    with pytest.raises(DataError) as error:
        read([("1", "2", "2"), ("2", "1", "1")], golds)  # from 0 or from 1
    assert error.value.field == "annotators"
    with pytest.raises(DataError) as error:
        read([("1", "4", "2"), ("2", "1", "1")], ["0", "3"])  # gold counts from 0
    assert error.value.field == "v2"


def test_a_vote_for_two_options_is_refused_where_one_is_right():
    with pytest.raises(DataError) as error:
        read([("A", "B", "C"), ("A", "B, C", "A")], ["A", "B"])
    assert error.value.field == "v2"


def test_votes_for_sets_and_texts_are_compared_as_gold_is():
    multiple = read([("A, B", "B, A", "A"), ("C", "C", "A")], ["A, B", "A"])
    assert multiple[0].meta["annotators"] == {"v1": [0, 1], "v2": [0, 1], "v3": [0]}
    annotators = check_dataset(multiple).annotators
    assert annotators.accuracies["one annotator"].mean == pytest.approx((2 / 3 + 1 / 3) / 2)
    span_rows = [
        {"text": f"It rained in {place}.", "ask": "Where?", "key": place, "v1": f"in {place}"}
        | {"v2": f"the {place}!", "v3": ""}
        for place in ("Oslo", "Rome")
    ]
    fields = "passage=text,question=ask,gold=key,task=span,annotators=v1+v2+v3"
    spans = classic_rc.from_rows(span_rows, fields=fields)
    annotators = check_dataset(spans).annotators  # as SQuAD's exact match compares
    assert annotators.accuracies["one annotator"].mean == pytest.approx(1 / 2)
    assert (annotators.n_votes, annotators.n_tied) == (4, 2)


def leaking(n=200, **settings):
    """Gold ends in a mark in half of the questions; annotators contradict it in a tenth."""
    rng, leaking_rows = random.Random(5), []
    for i in range(n):
        options = [f"{rng.choice('bdgk')}{rng.choice('aeiou')}l{i}{c}" for c in "mnpr"]
        gold = rng.randrange(4)
        options[gold] = options[gold][:-1] + "!" if i % 2 else options[gold]
        vote = (gold + (i % 10 == 0)) % 4
        row = {"id": f"q{i}", "text": f"Story {i}.", "ask": "Which?", "key": "ABCD"[gold]}
        row |= dict(zip("ABCD", options, strict=True))
        leaking_rows.append(row | dict.fromkeys(("v1", "v2", "v3"), "ABCD"[vote]))
    return classic_rc.from_rows(leaking_rows, fields=FIELDS, **settings)


def test_a_check_shows_the_votes_and_finds_no_cues_in_them():
    dataset = leaking()
    report = check_dataset(dataset)
    assert all('"!"' in cue.name for cue in report.cues)
    assert report.cues
    disputes = report.annotators.disputes
    assert {dispute.id for dispute in disputes} == {f"q{i}" for i in range(0, 200, 10)}
    verdicts = [dispute.learner for dispute in disputes]
    assert verdicts == sorted(verdicts)
    assert 0.0 in verdicts
    header = check_tables(report)[0]
    assert [row[0] for row in texts(header)[-2:]] == ["one annotator", "most annotators"]
    assert len(texts(dispute_table(report))) == 20
    data = json.loads(json.dumps(report.to_dict()))["annotators"]
    assert data["most annotators"]["accuracy"] == 0.9
    low, high = data["most annotators"]["interval"]
    assert low < 0.9 < high


def test_votes_survive_our_json_lines_and_a_repair(tmp_path):
    dataset = leaking(60)
    path = tmp_path / "own.jsonl"
    path.write_text(to_jsonl(dataset), encoding="utf-8")
    reloaded = classic_rc.load(str(path))
    assert [q.meta for q in reloaded] == [q.meta for q in dataset]
    report = check_dataset(reloaded)
    assert report.annotators.to_dict() == check_dataset(dataset).annotators.to_dict()
    mended = mend_dataset(report).dataset
    assert [q.gold for q in mended] != [q.gold for q in dataset]

    def chosen(data):
        return [[q.candidates[v].text for v in q.meta["annotators"].values()] for q in data]

    assert chosen(mended) == chosen(dataset)


def test_a_field_of_that_name_that_has_no_votes_is_a_plain_field():
    plain_rows = [
        {"passage": f"It rained {i}.", "question": "Did it?", "candidates": ["no", "yes"]}
        | {"gold": i % 2, "annotators": {"ann": "late"} if i else 3}
        for i in range(30)
    ]
    report = check_dataset(classic_rc.from_rows(plain_rows))
    assert report.annotators is None
    assert any("annotators" in note for note in report.notes)


@pytest.mark.parametrize("hides", [(), ("annotators",), ("annotators.ann",)], ids=str)
def test_votes_of_hidden_gold_and_votes_left_out_by_name_are_measured(hides, tmp_path):
    rows = [
        {"id": f"q{i}", "passage": f"Story {i}.", "question": "Which?"}
        | {"candidates": ["here", "there"], "task": "single-choice"}
        | {"gold": 0 if i % 2 or hides else None}
        | ({} if i % 2 else {"meta": {"annotators": {"ann": i % 4 // 2, "bob": 0}}})
        for i in range(40)
    ]
    file = tmp_path / "votes.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    report = check_dataset(classic_rc.load(file), without_fields=hides, header=False)
    assert report.annotators.n_votes == 40


def test_votes_that_are_all_blank_are_said():
    report = check_dataset(read([["", "", ""]] * 30), header=False)
    assert report.annotators is None
    assert any("all votes are blank" in note for note in report.notes)
