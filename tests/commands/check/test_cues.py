"""Cues: what is planted is named, what is not there is not, and its figures are those of a plain
count.
"""

from __future__ import annotations

import csv
import random
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import classic_rc
from classic_rc.commands.check import CueKind, check_dataset, mend_dataset
from classic_rc.commands.check.conditional_logit import ConditionalLogit
from classic_rc.commands.check.cues import ORDER_NAMES, order_features
from classic_rc.commands.check.features import build_features
from classic_rc.commands.check.measurements import point_in_time
from classic_rc.commands.check.option_arrays import OptionTable
from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import small_blocks

WORDS = (
    "river tower garden station bakery harbour library theatre museum stable orchard market".split()
)


def make_rows(n: int = 160, k: int = 4, seed: int = 1, per_passage: int = 2):
    """Questions without any cue: words, gold and order are random."""
    rng = random.Random(seed)
    rows = []
    passage = ""
    for i in range(n):
        if i % per_passage == 0:
            passage = f"story {i // per_passage}: " + " ".join(rng.choices(WORDS, k=30))
        options = [" ".join(rng.choices(WORDS, k=4)) for _ in range(k)]
        question = f"Which {rng.choice(WORDS)} is it?"
        row: dict[str, Any] = {
            "id": f"q{i}",
            "passage": passage,
            "question": question,
            "candidates": options,
        }
        rows.append({**row, "gold": rng.randrange(k)})
    return rows


def change_options(row, edit):
    """Edit the options of a row: `edit` takes a text, and whether it is right."""
    gold = row["gold"]
    row["candidates"] = [edit(text, j == gold) for j, text in enumerate(row["candidates"])]


def mirror(row, question):
    return {**row, "id": f"{row['id']}m", "question": question, "gold": 1 - row["gold"]}


def check(rows, **options):
    return check_dataset(classic_rc.from_rows(rows), header=False, **options)


def change(rows, what):
    """Change the right options by a function of text and number."""
    for i, row in enumerate(rows):
        row["candidates"][row["gold"]] = what(row["candidates"][row["gold"]], i)
    return rows


PLANTED = {
    "a word": (lambda t, i: f"{t} quickly", r'"quickly"', CueKind.ARTIFACT),
    "a blank": (lambda t, i: f"{t} ", "blank at an end|ends with U", CueKind.ARTIFACT),
    "an invisible character": (
        lambda t, i: f"{t[:3]}\u200b{t[3:]}",
        "200B|invisible|ASCII",
        CueKind.ARTIFACT,
    ),
    "a rare mark": (lambda t, i: f"{t}*" if i % 16 == 0 else t, r"\*|mark", CueKind.ARTIFACT),
    "length": (lambda t, i: f"{t} {t} {t}", "words|characters", CueKind.ARTIFACT),
}


@cache
def first_finding(name: str):
    return check(change(make_rows(), PLANTED[name][0])).cues[0]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_cue_is_the_first_finding(name):
    _, pattern, kind = PLANTED[name]
    first = first_finding(name)
    assert re.search(pattern, first.name)
    assert (first.kind, first.direction) == (kind, "right")
    assert first.precision > 0.9
    assert abs(first.z) > first.bound
    assert first.p == pytest.approx(1 / 201)


def test_a_rare_mark_has_its_coverage_and_examples():
    first = first_finding("a rare mark")
    assert (first.coverage, first.precision) == (10 / 160, 1.0)
    assert [example.id for example in first.examples] == ["q0", "q16", "q32"]
    assert set(first.ids) == {f"q{i}" for i in range(0, 160, 16)}


def test_small_blocks_change_nothing():
    rows = change(make_rows(), PLANTED["a rare mark"][0])
    for i, row in enumerate(rows):
        row["aux"], row["gold"] = [i % 7, i % 3], [row["gold"]] if i % 3 else [0, 3]
        row["task"] = "multiple-answer"
    dataset = classic_rc.from_rows(rows)
    unblocked = check_dataset(dataset)
    with small_blocks(50):
        parts = check_dataset(dataset)
    assert len(unblocked.cues) > 0
    assert {**parts.to_dict(), "seconds": None} == {**unblocked.to_dict(), "seconds": None}


def test_random_gold_has_no_findings():
    for seed, (n, k) in enumerate([(120, 2), (240, 4)]):
        assert check(make_rows(n, k, seed), draws=200, seed=seed).cues == ()


def test_what_correlates_with_a_chosen_cue_disappears():
    rows = change(make_rows(), lambda text, i: f"{text} because it is so" if i % 2 else text)
    cues = check(rows).cues
    assert len([cue for cue in cues if cue.kind is CueKind.ARTIFACT]) == 1


def test_copying_the_passage_is_a_shortcut():
    rows = make_rows()
    for i, row in enumerate(rows):
        row["candidates"][row["gold"]] = " ".join(row["passage"].split()[4 + 6 * (i % 2) :][:4])
    first = check(rows).cues[0]
    assert first.kind is CueKind.SHORTCUT
    assert "passage" in first.name


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (
            lambda row: row["gold"],
            'index from 0 is in the field|has its index|where the field "aux"',
        ),
        (lambda row: "ABCD"[row["gold"]], 'letter in the field "aux"|where the field "aux"'),
        (lambda row: {"deep": [j == row["gold"] for j in range(4)]}, 'field "aux'),
        (lambda row: f"see {row['candidates'][row['gold']]}", 'text in the field "aux"'),
    ],
)
def test_a_leaking_field_is_named(value, pattern):
    rows = make_rows()
    for row in rows:
        row["aux"] = value(row)
    first = check(rows).cues[0]
    assert re.search(pattern, first.name)
    assert (first.coverage, first.precision) == (1.0, 1.0)


def test_mirrored_items_are_gold_order_and_do_not_fail():
    rows = make_rows(120, 2)
    rows += [mirror(row, f"Not: {row['question']}") for row in rows]
    cues = check(rows).cues
    assert {cue.kind for cue in cues} == {CueKind.GOLD_ORDER}
    assert any("240 questions are mirrored" in cue.note for cue in cues)


def test_a_learner_that_finds_nothing_guesses():
    """Mirrored items without questions leave a gradient of zeros."""
    rows = [{**row, "question": "Why?"} for row in make_rows(60, 2)]
    rows += [{**row, "id": f"{row['id']}m", "gold": 1 - row["gold"]} for row in rows]
    header = check_dataset(classic_rc.from_rows(rows)).header
    assert [row.accuracy for row in header if row.input == "options only"] == [0.5]


def test_a_cue_that_reads_the_question_of_mirrored_items_is_a_shortcut():
    rows = make_rows(120, 2)
    for row in rows:
        row["candidates"][row["gold"]] = row["question"]
    rows += [mirror(row, row["candidates"][1 - row["gold"]]) for row in rows]
    first = check(rows).cues[0]
    assert (first.kind, "question" in first.name) == (CueKind.SHORTCUT, True)


def test_the_values_of_one_field_are_one_finding():
    rows = make_rows()
    ids = random.Random(2).sample(range(1000, 9999), len(rows))
    for i, row in enumerate(rows):
        row["id"], row["worker"] = f"q{ids[i]}", f"w-{'stuvwxyz'[i % 8]}"
        row["candidates"].insert(i % 8 % 4, row["candidates"].pop(row["gold"]))
        row["gold"] = i % 8 % 4
    cues = check(random.Random(1).sample(rows, len(rows))).cues
    assert len(cues) == 1
    assert (cues[0].coverage, cues[0].precision) == (1.0, 1.0)
    assert "more like this" in cues[0].name


def add_votes(rows, accuracy=0.95):
    rng = random.Random(3)
    for row in rows:
        for name in ("vote1", "vote2", "vote3"):
            row[name] = row["gold"] if rng.random() < accuracy else rng.randrange(4)
    return rows


def test_votes_hide_no_cue_and_no_other_field():
    """What is found without votes is found with them, with the same figures; they are one
    finding.
    """
    rows = change(make_rows(), lambda text, i: f"{text}." if i % 3 == 0 else text)
    rng = random.Random(4)
    for row in rows:
        row["minutes"] = 20 * row["gold"] + rng.randrange(25)
    before, after = check(rows).cues, check(add_votes(rows)).cues
    votes = [cue for cue in after if "vote" in cue.name]
    assert [cue for cue in after if cue not in votes] == list(before)
    assert re.search(r"\.|mark", before[0].name)
    assert any('field "minutes"' in cue.name for cue in before)
    assert [cue.name.partition('"')[0] for cue in votes] == ["has its index from 0 in the field "]
    assert votes[0].name.count("field") == 3


def write_dates(row, rng):
    years = sorted(rng.sample(range(1950, 2020), 4))
    latest, wrong = years.pop(), iter(rng.sample(years, 3))

    def write_date(text, is_right):
        day, month = rng.randrange(1, 28), rng.choice(("May", "July"))
        return f"{day} {month} {latest if is_right else next(wrong)}"

    change_options(row, write_date)


def sort_wrong_options(row, rng):
    texts = [*row["candidates"]]
    del texts[row["gold"]]
    wrong = iter(sorted(texts))
    change_options(row, lambda text, is_right: text if is_right else next(wrong))


def copy_passage(row, rng):
    start = rng.randrange(20)
    words = row["passage"].split()[start : start + 4]
    row["candidates"][row["gold"]] = " ".join(words)


def note_hour(row, rng):
    hour = 4 * row["gold"] + rng.randrange(4)
    minute, second, day = rng.randrange(60), rng.randrange(60), rng.randrange(1, 9)
    row["at"] = f"2021-03-0{day} {hour:02}:{minute:02}:{second:02}"


@pytest.mark.parametrize(
    ("plant", "pattern", "share"),
    [
        (write_dates, "has the latest date", 1),
        (sort_wrong_options, "out of an order .* in the alphabet", 1),
        (copy_passage, "copied from the passage word for word|mentions|copies the longest", 0.3),
        (note_hour, 'the field "at"', 0.6),
    ],
)
def test_what_generators_leave_behind_is_named(plant, pattern, share):
    """What is planted in a share of the questions; in the others hours are random."""
    rows, rng = make_rows(240), random.Random(7)
    for row in rows:
        is_planted = rng.random() < share
        if plant is note_hour and not is_planted:
            row["at"] = f"2021-03-01 {rng.randrange(16):02}:00:00"
        elif is_planted:
            plant(row, rng)
    assert re.search(pattern, check(rows).cues[0].name)


@pytest.mark.parametrize(
    "texts",
    [
        ["3 May 1998", "June 1, 1998", "sept 2001", "12 December 2001"],
        ["1998-05-03", "1998-05-03 14:05:06", "1998-05-03 14:05:07", "1998年6月1日"],
        ["0:59", "1:00", "10:00:01"],
    ],
)
def test_dates_and_times_are_ordered(texts):
    times = [*map(point_in_time, texts)]
    assert times == sorted(set(times))


@pytest.mark.parametrize("text", ["maybe in 1998", "decided in 1998", "1998", "", "3 May"])
def test_other_texts_are_no_dates(text):
    assert np.isnan(point_in_time(text))


def test_an_accepted_cue_is_not_searched_for_and_hides_nothing():
    rows = change(make_rows(), lambda text, i: f"{text} quickly{'!' * (i % 3 == 0)}")
    first = check(rows).cues[0]
    report = check(rows, accepted={first.name: "as in the source"})
    assert "quickly" in first.name
    assert not any("quickly" in cue.name for cue in report.cues)
    assert re.search("!|mark", report.cues[0].name)
    assert report.to_dict()["accepted"] == {first.name: "as in the source"}
    assert check(rows, accepted={first.id: ""}).cues == report.cues


def test_what_only_goes_along_with_an_accepted_cue_is_not_found():
    rows, rng = make_rows(240), random.Random(6)

    def negate(text, is_right):
        return f"does not {text}" if rng.random() < (0.6 if is_right else 0.15) else text

    for row in rows:
        change_options(row, negate)
    assert check(rows).cues != ()
    for names in (['the word "not"', 'the word "does"'], ["has the most words"]):
        assert check(rows, accepted=dict.fromkeys(names, "")).cues == ()


def test_the_printed_name_of_several_fields_accepts_them_all():
    rows = change(make_rows(), lambda text, i: f"{text}." if i % 3 == 0 else text)
    before = check(rows).cues
    *others, votes = check(add_votes(rows)).cues
    assert before == tuple(others) != ()
    for name in (votes.name, votes.id):
        assert check(rows, accepted={name: ""}).cues == before


def test_fields_can_be_left_out():
    rows = add_votes(make_rows())
    assert check(rows, without_fields=("vote1", "vote2", "vote3")).cues == ()
    with pytest.raises(UsageError, match="vote1") as error:
        check(rows, without_fields=["vote"])
    assert error.value.found == "vote"


def test_mending_removes_all_votes():
    mended = mend_dataset(check(add_votes(make_rows()))).dataset
    assert not {key for q in mended for key in q.meta}


def test_one_answer_for_all_is_an_error():
    rows = [{**row, "candidates": ["yes", "no"], "gold": 0} for row in make_rows(60, 2)]
    findings = {finding.kind.name: finding for finding in check(rows).defects}
    assert findings["one-answer"].count == 60
    fine = [{**row, "candidates": ["yes", "no"]} for row in make_rows(60, 2)]
    assert "one-answer" not in {finding.kind.name for finding in check(fine).defects}


def test_the_order_of_equal_options_changes_nothing():
    report = [check(change(make_rows(), PLANTED["a word"][0])).to_dict() for _ in range(2)]
    for plain in report:
        del plain["seconds"]
    assert report[0] == report[1]


def test_several_right_options_have_exact_probabilities():
    """The model's probabilities are those of all subsets of the right size."""
    rows = [
        {"passage": "p", "question": f"q{i}", "candidates": list("abcd"), "gold": [0, 2]}
        for i in range(3)
    ]
    table = OptionTable.of(classic_rc.from_rows(rows))
    scores = np.tile([0.3, -1.0, 0.8, 0.1], 3)
    odds = np.exp(scores[:4])
    pairs = [(i, j) for i in range(4) for j in range(i)]
    total = sum(odds[i] * odds[j] for i, j in pairs)
    expected = [
        sum(odds[i] * odds[j] for i, j in pairs if option in (i, j)) / total for option in range(4)
    ]
    model = ConditionalLogit(table, scores)
    assert model.p[:4] == pytest.approx(expected)
    draws = model.draw(np.random.default_rng(0), 2000)
    assert (draws.reshape(-1, 3, 4).sum(axis=2) == 2).all()
    assert draws.reshape(-1, 3, 4).mean(axis=(0, 1)) == pytest.approx(expected, abs=0.03)


def test_multiple_answers_use_the_same_statistic():
    rows = make_rows(200, 5)
    for i, row in enumerate(rows):
        row["gold"] = [row["gold"], (row["gold"] + 1) % 5]
        row["candidates"] = [
            f"{text} maybe" if j in row["gold"] and i % 3 else text
            for j, text in enumerate(row["candidates"])
        ]
    first = check(rows).cues[0]
    assert "maybe" in first.name
    assert first.precision == 1.0


def test_a_deviate_is_that_of_its_definition():
    """One frequent word, often right: the score and its variance, written out question by
    question.
    """
    rows = make_rows(200, 3)
    for i, row in enumerate(rows):
        row["passage"] = str(i)
        having = [j for j, option in enumerate(row["candidates"]) if WORDS[0] in option.split()]
        row["gold"] = having[0] if having and i % 3 else row["gold"]
    score = variance = 0.0
    for row in rows:
        x = np.array([WORDS[0] in option.split() for option in row["candidates"]], dtype=float)
        score += x[row["gold"]] - x.mean()
        variance += x.var()
    cue = check(rows).cues[0]
    assert cue.name == f'the word "{WORDS[0]}"'
    assert cue.z == pytest.approx(score / np.sqrt(variance), rel=1e-4)


def test_mending_removes_what_it_can():
    rows = change(make_rows(), lambda text, i: f"“{text}”\u200b " if i % 2 else text)
    for row in rows:
        row["aux"] = row["gold"]
        row["scores"] = [j == row["gold"] for j in range(4)]
    rows.append({**rows[0], "id": "copy"})
    report = check(rows)
    repairs = mend_dataset(report, seed=3)
    mended = repairs.dataset
    assert len(mended) == 160
    # what says the same as the first cue leaks too
    assert not {key for q in mended for key in q.meta}
    texts = {text for q in mended for text in (c.text for c in q.candidates)}
    assert not any("\u200b" in text or text != text.strip() or "“" in text for text in texts)

    def letters_of_gold(dataset):
        return {q.id: {re.sub(r"\W", "", text) for text in q.gold_texts} for q in dataset}

    assert letters_of_gold(mended).items() <= letters_of_gold(report.dataset).items()
    mended_again = mend_dataset(report, seed=3).dataset
    assert mended_again.fingerprint == mended.fingerprint


def test_options_that_speak_of_others_keep_their_order():
    rows = [
        {**row, "candidates": [*row["candidates"][:3], "all of the above"]} for row in make_rows()
    ]
    report = check(rows)
    before = [[c.text for c in q.candidates] for q in report.dataset]
    assert [[c.text for c in q.candidates] for q in mend_dataset(report).dataset] == before


ARCT = Path("../shared/data/artefacts/arct-train.tsv")


@pytest.mark.ci
@pytest.mark.skipif(
    not ARCT.is_file(), reason="needs ARCT train, which is not a part of the project"
)
def test_the_published_cue_of_arct_leads():
    """Coverage and productivity of "not" (Niven and Kao 2019) are those of a plain count."""
    with ARCT.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    rows, applicable, productive = [], 0, 0
    for line in lines:
        options, gold = [line["warrant0"], line["warrant1"]], int(line["correctLabelW0orW1"])
        rows.append(
            {
                "passage": line["reason"],
                "question": line["claim"],
                "candidates": options,
                "gold": gold,
            }
        )
        has = [bool(re.search(r"\bnot\b|n't\b", option.lower())) for option in options]
        applicable += has[0] != has[1]
        productive += has[0] != has[1] and has[gold]
    first = check(rows).cues[0]
    assert (first.name, first.direction) == ('the word "not" or "n\'t"', "right")
    plain = first.to_dict()
    # a stray apostrophe is another word
    assert plain["applicability"] == pytest.approx(applicable, abs=2)
    assert first.coverage == pytest.approx(applicable / len(rows), abs=0.002)
    assert first.precision == pytest.approx(productive / applicable, abs=0.002)


def test_a_hidden_gold_is_left_out():
    data = classic_rc.from_rows(make_rows(60))
    hidden = replace(data, questions=[replace(q, gold=None) for q in data])
    report = check_dataset(hidden)
    assert (report.cues, report.header) == ((), ())
    assert report.notes == ("no cues: gold is hidden",)


@pytest.mark.ci
def test_the_part_that_represents_a_large_dataset_is_in_all_folds():
    """Of 10,000 passages every second one is kept, and two folds must not be the even and the
    odd ones.
    """
    rows = [{**row, "passage": f"story {i // 2}"} for i, row in enumerate(make_rows(20_000, k=2))]
    for row in rows:
        row["candidates"][row["gold"]] += "!"
    report = check_dataset(classic_rc.from_rows(rows), folds=2, duplicates=False, draws=20)
    assert report.header[0].accuracy == 1.0


def test_cues_of_more_questions_than_are_needed_are_those_of_whole_passages(monkeypatch):
    """The test lowers the public bound, because 100,000 questions take minutes."""
    rows = make_rows(180, per_passage=3)
    for row in rows:
        row["candidates"][row["gold"]] += "!"
    monkeypatch.setattr("classic_rc.commands.check.audit.MOST_QUESTIONS", 60)
    report = check(rows, duplicates=False)
    assert report.notes == ("cues: searched for in 60 of 180 questions, by whole passages",)
    numbers = {int(id_.removeprefix("q")) for id_, _ in report.suspects}
    assert {number // 3 % 3 for number in numbers} == {2}
    assert report.cues[0].coverage == 1.0


def test_sums_over_choices_are_those_of_the_columns():
    table = OptionTable.of(classic_rc.from_rows(make_rows(60, 4)))
    features = build_features(table)
    # Not a multiple of the choices that are counted together.
    choices = np.random.default_rng(0).random((len(table.texts), 30)) < 0.3
    columns = np.column_stack([*features.columns(range(len(features)))])
    counts = np.concatenate([*features.counts(choices)], axis=1)
    assert counts == pytest.approx(columns.T @ choices, abs=1e-4)
    assert (counts[: features.n_sparse] == (columns.T @ choices)[: features.n_sparse]).all()


@pytest.mark.parametrize("multiple", [False, True])
def test_features_of_gold_order_are_as_their_names_say(multiple):
    rng = random.Random(3)
    rows = []
    for i in range(40):
        options = rng.sample(["yes", "no", "both", "neither", f"only {i}"], rng.randint(2, 5))
        gold = rng.sample(range(len(options)), rng.randint(1, len(options) - 1))
        gold = gold if multiple else gold[0]
        rows.append({"passage": f"p{i}", "question": "Is it?", "candidates": options, "gold": gold})
    table = OptionTable.of(classic_rc.from_rows(rows))
    starts, places = table.offsets.tolist(), table.position.tolist()
    right = [[p for p in range(b - a) if table.right[a + p]] for a, b in pairwise(starts)]
    expected = [set() for _ in ORDER_NAMES]
    for i, (start, text) in enumerate(zip(table.question.tolist(), table.texts, strict=True)):
        size = int(table.sizes[start])
        before = right[start - 1][0] if start else None
        earlier = right[start - 2][0] if start > 1 else None
        others = [j for j, option_text in enumerate(table.texts) if option_text == text and j != i]
        is_right = any(table.right[j] for j in others)
        for number, has in enumerate(
            (
                places[i] == before,
                before is not None and places[i] == (before + 1) % size,
                before is not None and places[i] == (before - 1) % size,
                places[i] == earlier,
                is_right,
                others and not is_right,
            )
        ):
            if has:
                expected[number].add(i)
    order = order_features(table)(table.right)
    assert [set(options.tolist()) for options in order.places + order.texts] == expected
    assert all(
        len(np.unique(table.question[of_place])) == len(of_place) for of_place in order.places
    )


def test_shapes_are_those_of_the_characters():
    rows = make_rows(60, 3)
    for row in rows:
        row["candidates"][0] = "Ä1 ßx--9"
    features = build_features(OptionTable.of(classic_rc.from_rows(rows)))
    names = {features.name(j) for j in range(len(features))}
    assert "has the shape X9 x-9" in names
