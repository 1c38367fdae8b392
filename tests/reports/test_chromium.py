"""The one-page report in a real browser: browsing, phones, print, screen readers, hostile data,
no network.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import pytest

import classic_rc
from classic_rc.commands.explain.page import explanation_html
from classic_rc.commands.floor.page import floor_page
from classic_rc.commands.report.page import PageContent, default_breakdown_keys, page_html
from classic_rc.questions import Dataset
from classic_rc.results import break_down, group_questions, with_intervals
from classic_rc.results.floors import load_floors
from classic_rc.running.explain import Explainer

pytestmark = pytest.mark.ci  # .ci/chromium runs them

TAB, ENTER = ("Tab", 9), ("Enter", 13, "\r")
ROWS = (
    '[...document.querySelectorAll(".browse li > details > summary")].filter((row) => '
    "row.offsetHeight)"
    ".map((row) => row.textContent)"
)

HOSTILE = (
    "</script><script>document.title='run'</script><!-- <img src=x "
    "onerror=\"document.title='run'\"> "
    '\' onmouseover="alert(1)" \\frac{1}{2} $&% \u2028 \u202eeverse \x00\x1b[31m \N{GRINNING FACE} '
    "\u05e9\u05dc\u05d5\u05dd"
)


def choices(n_questions: int, text: str = "") -> Dataset:
    """Questions about fences, three a passage."""
    rows = []
    for i in range(n_questions):
        town, kind, colour = i // 3, "odd" if i % 2 else "even", "red " if i % 5 == 0 else ""
        row = {
            "id": f"q{i}{text}",
            "passage": f"{text} In town {town} \N{GRINNING FACE} Nora built a fence. "
            f"A year later her old dog Omar kept {town} rabbits there.",
            "question": f"Who built the {colour}fence {text}?",
            "candidates": ["Omar", f"Nora{text}", "a rabbit", "some people who passed by"],
            "gold": i % 2,
            "meta": {f"kind{text}": f"{kind}{text}"},
        }
        rows.append(row)
    return classic_rc.from_rows(rows, name=f"fences{text}")


def page(dataset: Dataset, *specs: str, explained: tuple[int, ...] = (0,)) -> str:
    solvers = [classic_rc.parse_solver(spec) for spec in specs]
    evaluation = with_intervals(classic_rc.evaluate(dataset, solvers), 100)
    explanations = {row: Explainer(solvers[row], dataset) for row in explained}
    results = evaluation.results
    breakdowns = [
        break_down(results, group_questions(dataset, key), n=100)
        for key in default_breakdown_keys(dataset)
    ]
    return page_html(PageContent(evaluation, explanations=explanations, breakdowns=breakdowns))


@pytest.fixture(scope="module")
def fences(tmp_path_factory) -> str:
    """The address of a report on 60 questions."""
    file = tmp_path_factory.mktemp("pages") / "fences.html"
    file.write_text(
        page(choices(60), "sw+d", "longest", "random", explained=(0, 1)), encoding="utf-8"
    )
    return file.as_uri()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> str:
    """The address of a report whose every text is an attack."""
    file = tmp_path_factory.mktemp("pages") / "hostile.html"
    file.write_text(page(choices(9, HOSTILE), "sw+d", "ir"), encoding="utf-8")
    return file.as_uri()


def choose(chromium, label: str, value: str) -> int:
    """Choose a value of a field as a reader does; return how many questions are left."""
    chromium.run(
        '[...document.querySelectorAll(".filters label")].find((of) => '
        f'of.textContent.startsWith("{label}")).querySelector("select").value = "{value}"'
    )
    return len(chromium.run(ROWS))


def test_it_opens_without_a_complaint_and_fetches_nothing(chromium, fences):
    chromium.open(fences)
    assert chromium.complaints == []
    assert chromium.run('document.querySelectorAll("script").length') == 0
    assert not chromium.run('document.querySelector(".browse").open')  # of many questions
    chromium.run('document.querySelector(".browse > summary").click()')
    assert len(chromium.run(ROWS)) == 60


def test_answers_are_filtered_by_system_and_group(chromium, fences):
    chromium.open(fences)
    chromium.run('document.querySelector(".browse > summary").click()')
    # random answers nothing in particular
    assert chromium.run('document.querySelector(".filters select").length') == 2
    counts = {
        value: choose(chromium, "Answers", value)
        for value in ("right", "partly right", "wrong", "chosen in a tie")
    }
    assert counts["right"] + counts["partly right"] + counts["wrong"] == 60
    assert counts["right"] == counts["wrong"] == 30
    choose(chromium, "Answers", "right")
    assert all("right" in row for row in chromium.run(ROWS))
    assert choose(chromium, "System", "longest") == 0
    assert choose(chromium, "Answers", "wrong") == 60
    assert choose(chromium, "kind", "odd") == 30


def test_a_link_opens_the_question_that_it_leads_to(chromium, fences):
    chromium.open(f"{fences}#q41")
    assert chromium.run('document.querySelector("#q41").offsetHeight') > 100
    assert chromium.run('document.querySelectorAll(".browse li > details[open]").length') == 1


def test_a_question_is_explained(chromium, fences):
    chromium.open(f"{fences}#q1")
    marked = (
        '[...document.querySelectorAll("#q1 .passage .pair-candidate")]'
        '.filter((mark) => getComputedStyle(mark).outlineStyle === "solid").map((mark) => '
        "mark.textContent)"
    )
    panels = '[...document.querySelectorAll("#q1 .panel")].filter((one) => one.offsetHeight)'
    panel = f"{panels}.map((one) => one.textContent)"
    assert chromium.run(marked) == ["Nora"]
    assert len(chromium.run(panel)) == 1
    assert "sliding window" in chromium.run(panel)[0]
    assert "longestDwrong" in "".join(
        chromium.run('document.querySelector("#q1 .outcomes").textContent').split()
    )
    # Another candidate, then another system.
    chromium.run(
        '[...document.querySelectorAll("#q1 .option")].find((of) => '
        "/Omar/.test(of.textContent)).click()"
    )
    assert chromium.run(marked) == ["Omar"]
    chromium.run('document.querySelectorAll("#q1 fieldset")[1].querySelector("input").click()')
    assert chromium.run(marked) == []
    assert "length of the candidate" in chromium.run(
        'document.querySelectorAll("#q1 .verdict")[1].textContent'
    )


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_down_only(chromium, fences, hostile, width):
    for address in (f"{fences}#q1", hostile):
        chromium.open(address, width, 844)
        assert chromium.run("document.documentElement.scrollWidth") == width
    head = chromium.screenshot()[16:24]
    assert struct.unpack(">II", head) == (width, 844)


def test_a_long_name_of_a_system_is_wrapped(chromium, tmp_path):
    dataset, solver = choices(3), classic_rc.parse_solver("sw")
    evaluation = classic_rc.evaluate(dataset, {"A system whose name has several words": solver})
    content = PageContent(evaluation, explanations={0: Explainer(solver, dataset)})
    file = tmp_path / "page.html"
    file.write_text(page_html(content), encoding="utf-8")
    chromium.open(file.as_uri(), 320, 844)
    chromium.run('document.querySelectorAll("details").forEach((part) => part.open = true)')
    assert chromium.run("document.documentElement.scrollWidth") == 320


def test_print_leaves_out_what_cannot_be_used_on_paper(chromium, fences):
    chromium.open(fences, 750, 1000)
    chromium.emulate("print")
    hidden = [
        f'getComputedStyle(document.querySelector("{selector}")).display'
        for selector in ("nav", ".filters")
    ]
    assert [chromium.run(script) for script in hidden] == ["none"] * 2
    assert chromium.run("document.documentElement.scrollWidth") <= 750
    assert chromium.pdf().startswith(b"%PDF")
    chromium.emulate()


def test_dark_where_that_is_preferred(chromium, fences):
    ground = "getComputedStyle(document.body).backgroundColor"
    chromium.open(fences)
    light = chromium.run(ground)
    chromium.emulate(prefers_color_scheme="dark")
    dark = chromium.run(ground)
    chromium.emulate()
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(22, 24, 28)")


def test_a_screen_reader_finds_its_way(chromium, fences):
    chromium.open(f"{fences}#q1")
    nodes = chromium.accessibility()
    roles = {node["role"] for node in nodes}
    assert {
        "banner",
        "navigation",
        "main",
        "contentinfo",
        "search",
        "table",
        "columnheader",
    } <= roles
    levels = [node["level"] for node in nodes if node["role"] == "heading"]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    named_elements = (
        "table",
        "textbox",
        "searchbox",
        "combobox",
        "radio",
        "button",
        "link",
        "navigation",
        "region",
    )
    assert [node for node in nodes if node["role"] in named_elements and not node["name"]] == []


def test_the_keyboard_reaches_everything_in_order(chromium, hostile):
    chromium.open(hostile)
    focused = (
        "(document.activeElement.labels?.[0] || "
        "document.activeElement).textContent.trim().slice(0, 30)"
    )
    chromium.press(*TAB)
    assert chromium.run(focused) == "Skip to the results"
    seen = []
    for _ in range(14):
        chromium.press(*TAB)
        seen.append(chromium.run(focused))
    assert seen[0] == "What do simple systems score?"[:30]
    start = seen.index("9 questions") + 1
    filters = [text.split()[0] for text in seen[start : start + 4]]
    assert filters == ["System", "Answers", "kind</script><script>document.t"[:30], "Who"]
    chromium.run("document.querySelector('.browse li summary').focus()")
    chromium.press(*ENTER)
    assert chromium.run("document.querySelector('.browse li details').open")


def test_hostile_data_is_shown_and_does_nothing(chromium, hostile):
    chromium.open(hostile)
    chromium.run('document.querySelectorAll(".browse li summary").forEach((row) => row.click())')
    assert chromium.complaints == []
    assert chromium.run("document.title").startswith("fences</script>")
    assert chromium.run('document.querySelectorAll("script").length') == 0
    assert (
        chromium.run('document.querySelectorAll("img, [onerror], [onmouseover], iframe").length')
        == 0
    )
    passage_text = chromium.run('document.querySelector(".browse .passage").textContent')
    expected = (
        HOSTILE.replace("\u2028", r"\u2028").replace("\u202e", r"\u202e").replace("\x00", r"\x00")
    )
    assert passage_text.startswith(
        expected.replace("\x1b", r"\x1b") + " In town 0 \N{GRINNING FACE} Nora built"
    )
    # Marks count code points, of which emoji are one.
    assert "Nora" in chromium.run(
        '[...document.querySelectorAll(".browse .mark")].map((mark) => mark.textContent)'
    )


def test_a_script_that_got_in_would_not_run(chromium, fences):
    chromium.open(fences)
    chromium.run(
        '{const script = document.createElement("script"); script.textContent = "document.title = '
        '1";document.body.append(script); document.body.insertAdjacentHTML("beforeend", "<img '
        'src=x>")}'
    )
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.run("document.title") == "fences: classical baselines"
    assert len([text for text in chromium.complaints if "Content Security Policy" in text]) == 2


def test_a_report_of_only_expectations_has_questions_and_no_verdicts(chromium, tmp_path):
    file = tmp_path / "random.html"
    file.write_text(page(choices(6), "random", explained=()), encoding="utf-8")
    chromium.open(f"{file.as_uri()}#q2")
    assert chromium.complaints == []
    assert len(chromium.run(ROWS)) == 6
    assert "Nora built a fence" in chromium.run(
        'document.querySelector("#q2 .passage").textContent'
    )


@pytest.mark.parametrize("sample", ["multiple-answer", "cloze", "multi-span"])
def test_every_task_can_be_browsed(chromium, tmp_path, sample):
    from classic_rc.running.plan import add_span_candidates

    dataset = add_span_candidates(classic_rc.load(f"sample:{sample}"))
    solvers = [classic_rc.parse_solver("sw+d")]
    explainer = Explainer(solvers[0], dataset)
    content = PageContent(classic_rc.evaluate(dataset, solvers), explanations={0: explainer})
    file = tmp_path / "page.html"
    file.write_text(page_html(content), encoding="utf-8")
    chromium.open(f"{file.as_uri()}#q0")
    assert chromium.complaints == []
    assert chromium.run('document.querySelectorAll(".passage .mark").length') > 0
    assert chromium.run('document.querySelectorAll(".card .badge.right").length') > 0


def test_an_explanation_by_itself_opens_as_well(chromium, tmp_path: Path):
    dataset = choices(3, HOSTILE)
    explanation = classic_rc.parse_solver("sw+d").fit(dataset).explain(dataset[1])
    file = tmp_path / "explanation.html"
    file.write_text(explanation_html(explanation), encoding="utf-8")
    chromium.open(file.as_uri(), 390, 844)
    assert chromium.complaints == []
    assert chromium.run("document.documentElement.scrollWidth") == 390
    assert chromium.run('document.querySelectorAll("script, img").length') == 0
    assert chromium.run('document.querySelectorAll(".passage .pair-question").length') > 0


def test_the_page_of_floors_sorts_by_a_heading(chromium, tmp_path):
    floors = list(load_floors().values())
    file = tmp_path / "floor.html"
    file.write_text(floor_page(floors), encoding="utf-8")
    chromium.open(file.as_uri())
    assert chromium.complaints == []
    visible_cells = (
        '[...document.querySelectorAll("#floors tbody th")].map((cell) => cell.textContent)'
    )
    chromium.run(
        '[...document.querySelectorAll(".sort")].find((of) => of.textContent === "floor").click()'
    )
    by_floor = sorted(floors, key=lambda of: -of.value(of.floor))
    assert chromium.run(visible_cells) == [of.name for of in by_floor]
    chromium.run(
        '[...document.querySelectorAll(".sort")].find((of) => of.textContent === "dataset").click()'
    )
    assert chromium.run(visible_cells) == sorted(of.name for of in floors)
    human = (
        '[...document.querySelectorAll(".sort")].find((of) => of.textContent === "human").click()'
    )
    chromium.run(human)
    with_human_score = [of.name for of in floors if of.best_published("human")]
    assert set(chromium.run(visible_cells)[: len(with_human_score)]) == set(
        with_human_score
    )  # what is missing stays last
    chromium.open(file.as_uri(), 390, 844)
    assert chromium.run("document.documentElement.scrollWidth") == 390
