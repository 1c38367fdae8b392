"""The content and data of the one-page report, without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import pytest

import classic_rc
from classic_rc import evaluate
from classic_rc.commands.check import check_dataset
from classic_rc.commands.check.audit import CheckReport
from classic_rc.commands.check.page import defects_section, duplicates_section, findings_section
from classic_rc.commands.report.page import (
    PageContent,
    audit_tiles,
    default_breakdown_keys,
    overview_drawing,
    page_html,
    questions_section,
    shown_questions,
)
from classic_rc.datasets.statistics import describe_datasets
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.reports.html import escape_html
from classic_rc.results import (
    Evaluation,
    break_down,
    group_questions,
    with_intervals,
)
from classic_rc.running import evaluate_perturbed
from classic_rc.running.explain import Explainer
from classic_rc.solvers import Solver
from classic_rc.testing import synthetic_dataset

SAMPLE = classic_rc.load("sample:single-choice")
SOLVERS = [classic_rc.parse_solver(spec) for spec in ("random", "sw+d", "longest")]


@cache
def evaluation() -> Evaluation:
    return with_intervals(evaluate(SAMPLE, SOLVERS), 100)


@cache
def audit() -> CheckReport:
    return check_dataset(SAMPLE)


def content(**changes) -> PageContent:
    grouping = group_questions(SAMPLE, "verbatim")
    filled = PageContent(
        evaluation(),
        audit(),
        describe_datasets([SAMPLE]),
        explanations={1: Explainer(SOLVERS[1], SAMPLE)},
        breakdowns=[break_down(evaluation().results, grouping, n=100)],
    )
    return replace(filled, **changes)


def test_all_sections_are_there_and_linked():
    html = page_html(content())
    ids = ["overview", "results", "leaks", "questions", "groups", "statistics", "cite"]
    assert re.findall(r'<li><a href="#(\w+)">', html.partition("</nav>")[0]) == ids
    assert re.findall(r'<h2 id="(\w+)"', html) == ids
    assert "<wbr><small> [" in html.partition('id="groups"')[0]  # intervals
    for row in evaluation().rows:
        assert row.signature.replace("|", "|<wbr>") in html
    assert "@inproceedings{richardson2013," in html


def test_sections_without_content_are_left_out():
    html = page_html(PageContent(evaluation()))
    assert re.findall(r'<h2 id="(\w+)"', html) == ["overview", "results", "questions", "cite"]


def test_the_same_content_makes_the_same_page():
    assert page_html(content()) == page_html(content())
    assert "<h1><bdi>A &amp; B</bdi></h1>" in page_html(content(title="A & B"))


def test_ids_on_the_page_are_unique():
    ids = re.findall(r'\bid="([^"]+)"', page_html(content()))
    assert len(ids) == len(set(ids))


def entries(results, explanations=MappingProxyType({})) -> list[dict]:
    """The values of each question."""
    return list(questions_section(results, explanations)["questions"])


def test_verdicts_follow_from_the_outcomes():
    section = questions_section(evaluation(), {})
    assert section["systems"] == ["sw+d", "longest"]  # random answers nothing in particular
    questions = list(section["questions"])
    credits = evaluation().rows[1].outcomes.statistics["accuracy"][:, 0].tolist()
    for entry, credit in zip(questions, credits, strict=True):
        look = "right" if credit == 1 else "partly" if credit > 0 else "wrong"
        looks_of_first = {name for name in entry["looks"] if name[-1] == "0"}
        assert looks_of_first - {"tied0"} == {f"{look}0"}
    tied = [n > 1 for n in evaluation().rows[2].outcomes.n_tied.tolist()]
    assert [("tied1" in entry["looks"]) for entry in questions] == tied
    _, (_, _, badges) = questions[tied.index(True)]["answers"]
    assert any("tie of" in text for _, text in badges)


def test_an_exact_answer_is_right_where_nothing_is_to_be_selected():
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER)
    cards = entries(evaluate(dataset, [classic_rc.parse_solver("all-negative")]))
    assert [entry["looks"][0] for entry in cards] == [
        "wrong0" if q.gold else "right0" for q in dataset
    ]


def test_of_a_large_dataset_the_page_has_questions_from_everywhere():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=600)
    selection = shown_questions(dataset)
    assert len(selection) == 1000 < len(dataset)
    assert selection == sorted(set(selection))
    assert selection[0] == 0
    assert len(dataset) - selection[-1] < 4
    html = page_html(PageContent(evaluate(dataset, ["longest"])))
    assert f"1,000 of {len(dataset):,} questions" in html
    assert html.count('class="card"') == 1000


def leaking(n: int = 60) -> classic_rc.Dataset:
    """The right option is the only one with a full stop; two stories are told twice."""
    rows = []
    for i in range(n):
        story = i if i < n - 2 else i - 2
        words = [f"word{(7 * i + j) % 97}x{story}" for j in range(40)]
        options = [f"thing {chr(97 + (i + j) % 26)}" for j in range(3)]
        options[i % 3] += "."
        row = {"id": f"q{i}", "passage": " ".join(words), "question": f"Which {i}?"}
        rows.append({**row, "candidates": options, "gold": i % 3})
    return classic_rc.from_rows(rows)


def test_findings_have_their_rule_figures_and_examples():
    check = check_dataset(leaking(), header=False)
    section = findings_section(check, {})
    first, cue = section["cues"][0], check.cues[0]
    assert first["kind"] == "ARTIFACT"
    coverage, precision = f"{100 * cue.coverage:.1f}", f"{100 * cue.precision:.1f}"
    assert f"coverage {coverage} %, precision {precision} %" in first["figures"]
    assert [id_ for id_, *_ in first["examples"]] == [example.id for example in cue.examples]
    html = page_html(PageContent(evaluate(check.dataset, ["longest"]), check))
    assert '<span class="badge artifact">artifact</span>' in html
    assert "<svg" in html
    place = f"q{[question.id for question in check.dataset].index(cue.examples[0].id)}"
    assert f'href="#{place}"' in html
    assert f'class="card" id="{place}"' in html
    tiles = {tile.name: tile.number for tile in audit_tiles(check)}
    assert tiles["artifacts"] != "0"


def test_duplicates_show_what_differs_and_no_page_lists_all():
    story = (
        "Nora planted {} apple trees behind the old mill and Omar sold them at the market in "
        "spring."
    )
    row = {"question": "Who?", "candidates": ["Nora", "Omar"], "gold": 0}
    numbers = "three four five six seven eight nine ten three".split()
    rows = [
        {"id": f"q{i}", "passage": story.format(number), **row} for i, number in enumerate(numbers)
    ]
    check = check_dataset(classic_rc.from_rows(rows), header=False)
    section = duplicates_section(check, None)
    kinds = {kind["what"]: kind for kind in section["kinds"]}
    near = kinds["near copies of another passage"]
    assert near["count"] == 7
    assert len(near["pairs"]) == 5
    marks = [mark for mark, _ in near["pairs"][0]["diff"]]
    assert "del" in marks
    assert "ins" in marks
    assert duplicates_section(check_dataset(SAMPLE, header=False), None) is None


def test_defects_are_counted_and_located():
    rows = [
        {"id": f"q{i}", "passage": "p", "question": "", "candidates": ["a", "b"], "gold": 0}
        for i in range(6)
    ]
    defects = {
        defect["what"]: defect
        for defect in defects_section(check_dataset(classic_rc.from_rows(rows)))
    }
    assert defects["empty questions"]["count"] == 6
    assert defects["empty questions"]["places"] == ["q0", "q1", "q2"]


def test_the_overview_has_a_bar_for_each_system_and_the_line_of_chance():
    drawing = overview_drawing(evaluation())
    assert [row[0] for row in drawing["rows"]] == [row.name for row in evaluation().rows]
    assert drawing["chance"] == 25
    _, width, (low, high), _ = drawing["rows"][1]
    accuracy = evaluation().rows[1].metrics()["accuracy"]
    assert width == pytest.approx(100 * accuracy, abs=0.01)
    assert low <= width <= high


def test_perturbed_copies_and_facts_have_their_places():
    html = page_html(
        content(
            perturbed=evaluate_perturbed(SAMPLE, ["longest"], ["no-question"]),
            facts={"Licence": "CC BY 4.0"},
        )
    )
    assert '<h2 id="perturbed"' in html
    assert "no-question" in html
    assert "<dt>Licence</dt><dd>CC BY 4.0</dd>" in html


def test_each_question_has_its_card_with_every_explanation():
    explainers = {row: Explainer(SOLVERS[row], SAMPLE) for row in (1, 2)}
    _, *cards = page_html(PageContent(evaluation(), explanations=explainers)).split(
        '<div class="card"'
    )
    assert len(cards) == len(SAMPLE)
    for question, card in zip(SAMPLE, cards, strict=True):
        assert re.findall("<h2>(.*?)</h2>", card)[:2] == ["sw+d", "longest"]
        assert card.count('type="radio"') == 2 * len(question.candidates)
        assert card.count(" checked>") == 1
        # the passage is there once
        assert re.sub("<.*?>", "", card).count(escape_html(question.passage.text)) == 1


def test_a_solver_that_fails_later_keeps_what_it_has_explained():
    some = list(Explainer(SOLVERS[1], SAMPLE))[:3]
    cards = entries(evaluation(), {1: some})
    n_explained = [len(card["view"]["systems"]) for card in cards]
    assert n_explained[:5] == [1, 1, 1, 0, 0]


def test_default_keys_tell_a_few_groups_apart():
    rows = []
    for i in range(20):
        row = {"passage": "p", "question": f"q{i}", "candidates": ["a", "b"], "gold": 0}
        rows.append({**row, "meta": {"few": i % 3, "id": i, "one": 1}})
    assert default_breakdown_keys(classic_rc.from_rows(rows)) == ["few"]


class Mine(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


def test_a_solver_of_the_users_own_is_no_ones_work():
    html = page_html(PageContent(evaluate(SAMPLE, [Mine()])))
    assert "<dt>Mine</dt><dd>not part of this package</dd>" in html


def test_systems_with_names_of_their_own_are_cited():
    html = page_html(PageContent(evaluate(SAMPLE, {"A": "sw+d", "B": "sw+d:mctest160"})))
    assert "<dt>A</dt><dd>Richardson, Burges and Renshaw 2013" in html
    assert "<dt>B</dt><dd>the authors&#x27; released score files" in html
    assert "richardson2013" in html
