"""The planter of leaks beside votes, and what the audit says of some of its leaks."""

from __future__ import annotations

import pytest

from benchmarks import DATA
from benchmarks.studies.audit_votes import LEAKS, SHARE, VOTES, find_rank, is_named, main, plant
from classic_rc.commands.check import check_dataset

DREAM = DATA / "dream" / "dev.json"

pytestmark = pytest.mark.skipif(
    not DREAM.is_file(), reason="needs DREAM dev.json in ../shared/data/dream"
)


def plain(dataset, excluded=()):
    return [
        [q.id, q.text, [c.text for c in q.candidates], q.gold]
        + [value for key, value in q.meta.items() if key not in excluded]
        for q in dataset
    ]


@pytest.mark.parametrize("name", ["a full stop on right options only", "a field with times"])
def test_a_seed_decides_the_leak_and_votes_change_nothing_else(name):
    planted = plant(name, 0)
    assert plain(planted) == plain(plant(name, 0))
    assert plain(planted) != plain(plant(name, 1))
    assert plain(planted, excluded=VOTES) == plain(plant(name, 0, votes=False))
    agreement = sum(q.meta[vote] in q.gold for q in planted for vote in VOTES)
    assert 0.9 < agreement / len(VOTES) / len(planted) < 1


def test_about_a_third_of_the_questions_has_the_leak():
    planted = plant("a word in right options", 0)
    n_changed = sum("indeed" in text for q in planted for text in q.gold_texts)
    assert len(planted) > 300
    assert n_changed / len(planted) == pytest.approx(SHARE, abs=0.08)


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", ["a full stop on right options only", "quotes around right options"]
)
def test_votes_do_not_hide_a_leak(name):
    """Findings that are not about votes are the same with and without them."""
    reports = [
        check_dataset(plant(name, 0, votes=votes), header=False, duplicates=False)
        for votes in (True, False)
    ]
    assert all(is_named(report, name) for report in reports)
    cue_names, expected = (
        [cue for cue in report.cues if "vote" not in cue.name] for report in reports
    )
    assert cue_names == expected


def test_the_table_counts_what_is_named(capsys):
    (name,) = (leak for leak in LEAKS if "blank" in leak)
    main(["--seeds", "1", "--leak", name])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("seed 0: named")
    assert last.endswith("of 1")


def test_a_leak_that_is_not_named_has_no_rank():
    report = check_dataset(plant("a word in right options", 0), header=False, duplicates=False)
    assert find_rank(report, "a blank at the end of right options") == 0
