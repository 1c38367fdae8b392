"""The one-page report in a real browser: browsing, phones, print, screen readers, hostile data, no network."""

from __future__ import annotations

import struct
from pathlib import Path
from urllib.parse import quote

import pytest

import classic_rc
from classic_rc.evaluation import SharedResults, break_down, group_questions, with_intervals
from classic_rc.evaluation.curves import PrecisionRecallCurve
from classic_rc.evaluation.explain import Explainer
from classic_rc.questions import Dataset
from classic_rc.reports.explanations import explanation_html
from classic_rc.reports.floor import load_floors
from classic_rc.reports.floor_page import floor_page
from classic_rc.reports.page import PageContent, default_breakdown_keys, page_html

pytestmark = pytest.mark.ci  # .ci/chromium runs them

TAB, ENTER = ("Tab", 9), ("Enter", 13, "\r")
COUNT = 'document.getElementById("count").textContent'
ROWS = '[...document.querySelectorAll("#list summary")].map((row) => row.textContent)'

HOSTILE = (
    "</script><script>document.title='run'</script><!-- <img src=x onerror=\"document.title='run'\"> "
    '\' onmouseover="alert(1)" \\frac{1}{2} $&% \u2028 \u202eeverse \x00\x1b[31m \N{GRINNING FACE} '
    "\u05e9\u05dc\u05d5\u05dd"
)


def choices(n_questions: int, text: str = "") -> Dataset:
    """Questions about fences, three a passage."""
    rows = [
        {
            "id": f"q{i}{text}",
            "passage": f"{text} In town {i // 3} \N{GRINNING FACE} Nora built a fence. "
            f"A year later her old dog Omar kept {i // 3} rabbits there.",
            "question": f"Who built the {'red ' if i % 5 == 0 else ''}fence {text}?",
            "candidates": ["Omar", f"Nora{text}", "a rabbit", "some people who passed by"],
            "gold": i % 2,
            "meta": {f"kind{text}": f"{'odd' if i % 2 else 'even'}{text}"},
        }
        for i in range(n_questions)
    ]
    return classic_rc.from_rows(rows, name=f"fences{text}")


def page(dataset: Dataset, *specs: str, explained: tuple[int, ...] = (0,)) -> str:
    solvers = [classic_rc.parse_solver(spec) for spec in specs]
    evaluation = with_intervals(classic_rc.evaluate(dataset, solvers), 100)
    explanations = {row: Explainer(solvers[row], dataset) for row in explained}
    results = SharedResults.of(evaluation)
    breakdowns = [
        break_down(results, group_questions(dataset, key), n=100) for key in default_breakdown_keys(dataset)
    ]
    return page_html(PageContent(evaluation, explanations=explanations, breakdowns=breakdowns))


@pytest.fixture(scope="module")
def fences(tmp_path_factory) -> str:
    """The address of a report on 60 questions."""
    file = tmp_path_factory.mktemp("pages") / "fences.html"
    file.write_text(page(choices(60), "sw+d", "longest", "random", explained=(0, 1)), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> str:
    """The address of a report whose every text is an attack."""
    file = tmp_path_factory.mktemp("pages") / "hostile.html"
    file.write_text(page(choices(9, HOSTILE), "sw+d", "ir"), encoding="utf-8")
    return file.as_uri()


def choose(chromium, id: str, value: str) -> None:
    chromium.run(
        f'{{const field = document.getElementById("{id}"); field.value = "{value}";'
        'field.dispatchEvent(new Event("change"));}'
    )


def search(chromium, text: str) -> str:
    """The count after a search, which waits for the typist to pause."""
    return chromium.run(
        f'new Promise((done) => {{const field = document.getElementById("find"); field.value = "{text}";'
        f'field.dispatchEvent(new Event("input")); setTimeout(() => done({COUNT}), 250);}})'
    )


def test_it_opens_without_a_complaint_and_fetches_nothing(chromium, fences):
    chromium.open(fences)
    assert chromium.complaints == []
    assert chromium.run(COUNT) == "60 of 60 questions, 1 to 25 shown"
    assert len(chromium.run(ROWS)) == 25


def test_answers_are_filtered_by_system(chromium, fences):
    chromium.open(fences)
    assert chromium.run('document.getElementById("system").selectedOptions[0].textContent') == "sw+d"
    assert chromium.run('document.getElementById("system").length') == 2  # random answers nothing in particular
    counts = {}
    for value in ("r", "p", "w", "t"):
        choose(chromium, "show", value)
        counts[value] = int(chromium.run(COUNT).split()[0])
    assert counts["r"] + counts["p"] + counts["w"] == 60
    assert counts["r"] == counts["w"] == 30
    choose(chromium, "show", "r")
    assert all("right" in row for row in chromium.run(ROWS))
    choose(chromium, "system", "1")
    assert chromium.run(COUNT) == "0 of 60 questions"
    choose(chromium, "show", "w")
    choose(chromium, "group-0", "1")
    assert chromium.run(COUNT) == "30 of 60 questions, 1 to 25 shown"


def test_an_open_question_follows_the_chosen_system(chromium, fences):
    chromium.open(f"{fences}#questions?question=q4")
    checked = (
        'document.querySelector(".card fieldset:has(:checked)").parentElement.querySelectorAll("h2, fieldset")'
    )
    order = (
        f"[...{checked}].filter((of) => of.matches('h2') || of.matches(':has(:checked)')).map((of) => of.tagName)"
    )
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.run(order) == ["H2", "FIELDSET", "H2"]  # the first system
    choose(chromium, "system", "1")
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.run(order) == ["H2", "H2", "FIELDSET"]
    assert "longest: " in chromium.run('document.querySelector("#list details[open] summary").textContent')


def test_search_looks_at_questions_options_and_passages(chromium, fences):
    chromium.open(fences)
    assert search(chromium, "RED fence ").startswith("12 of 60")
    assert search(chromium, "town 19").startswith("3 of 60")
    assert search(chromium, "a rabbit").startswith("60 of 60")
    assert search(chromium, "q59").startswith("1 of 60")
    assert search(chromium, "zebra") == "0 of 60 questions"


def test_pages_turn(chromium, fences):
    chromium.open(fences)
    chromium.run('document.getElementById("next").click(); document.getElementById("next").click()')
    assert chromium.run(COUNT) == "60 of 60 questions, 51 to 60 shown"
    assert chromium.run('document.getElementById("next").disabled')
    chromium.run('document.getElementById("back").click()')
    assert chromium.run(COUNT).endswith("26 to 50 shown")


def test_the_address_keeps_what_is_chosen(chromium, fences):
    chromium.open(fences)
    choose(chromium, "show", "w")
    chromium.run('document.querySelectorAll("#list summary")[2].click()')
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    address = chromium.run("location.href")
    assert address == f"{fences}#questions?system=sw%2Bd&show=wrong&question=q4"
    chromium.open(address)
    assert chromium.run(COUNT) == "30 of 60 questions, 1 to 25 shown"
    assert chromium.run('document.querySelector("#list details[open] summary").textContent').endswith("q4")
    chromium.open(f"{fences}#questions?show=wrong&question=q41")  # which is right: the filter gives way
    assert chromium.run('document.querySelector("#list details[open] summary").textContent').endswith("q41")


def test_a_question_is_explained(chromium, fences):
    chromium.open(f"{fences}#questions?question=q1")
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    marked = (
        '[...document.querySelectorAll(".passage .pair-candidate")]'
        '.filter((mark) => getComputedStyle(mark).outlineStyle === "solid").map((mark) => mark.textContent)'
    )
    panel = (
        '[...document.querySelectorAll(".panel")].filter((one) => one.offsetHeight).map((one) => one.textContent)'
    )
    assert chromium.run(marked) == ["Nora"]
    assert len(chromium.run(panel)) == 1
    assert "sliding window" in chromium.run(panel)[0]
    assert "longestDwrong" in chromium.run('document.querySelector(".outcomes").textContent').replace(" ", "")
    # Another candidate, then another system.
    chromium.run(
        '[...document.querySelectorAll("#list .option")].find((of) => /Omar/.test(of.textContent)).click()'
    )
    assert chromium.run(marked) == ["Omar"]
    chromium.run('document.querySelectorAll("#list fieldset")[1].querySelector("input").click()')
    assert chromium.run(marked) == []
    assert "length of the candidate" in chromium.run('document.querySelectorAll(".verdict")[1].textContent')


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_down_only(chromium, fences, hostile, width):
    for address in (f"{fences}#questions?question=q1", hostile):
        chromium.open(address, width, 844)
        chromium.run("new Promise((done) => setTimeout(done, 200))")
        assert chromium.run("document.documentElement.scrollWidth") == width
    head = chromium.screenshot()[16:24]
    assert struct.unpack(">II", head) == (width, 844)


def test_print_leaves_out_what_cannot_be_used_on_paper(chromium, fences):
    chromium.open(fences, 750, 1000)
    chromium.emulate("print")
    hidden = [f'getComputedStyle(document.querySelector("{of}")).display' for of in ("nav", "#filters", "#pages")]
    assert [chromium.run(script) for script in hidden] == ["none"] * 3
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
    chromium.open(f"{fences}#questions?question=q1")
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    nodes = chromium.accessibility()
    roles = {node["role"] for node in nodes}
    assert {"banner", "navigation", "main", "contentinfo", "search", "status", "table", "columnheader"} <= roles
    levels = [node["level"] for node in nodes if node["role"] == "heading"]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    named = ("table", "textbox", "searchbox", "combobox", "radio", "button", "link", "navigation", "region")
    assert [node for node in nodes if node["role"] in named and not node["name"]] == []
    (count,) = (node for node in nodes if node["role"] == "status")
    assert count["live"] == "polite"


def test_the_keyboard_reaches_everything_in_order(chromium, fences):
    chromium.open(fences)
    focused = "document.activeElement.id || document.activeElement.textContent.trim().slice(0, 30)"
    chromium.press(*TAB)
    assert chromium.run(focused) == "Skip to the results"
    seen = []
    for _ in range(14):
        chromium.press(*TAB)
        seen.append(chromium.run(focused))
    filters = seen.index("find")
    assert seen[filters : filters + 4] == ["find", "system", "show", "group-0"]
    assert seen[0] == "What do simple systems score?"[:30]
    assert seen[filters + 4].startswith("Who built the red fence")
    assert not chromium.run("document.querySelector('#list details').open")
    chromium.run("document.querySelector('#list summary').focus()")
    chromium.press(*ENTER)
    assert chromium.run("document.querySelector('#list details').open")


def test_hostile_data_is_shown_and_does_nothing(chromium, hostile):
    chromium.open(hostile)
    chromium.run('document.querySelectorAll("#list summary").forEach((row) => row.click())')
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.complaints == []
    assert chromium.run("document.title").startswith("fences</script>")
    assert chromium.run('document.querySelectorAll("script").length') == 2  # the data and the page's own
    assert chromium.run('document.querySelectorAll("img, [onerror], [onmouseover], iframe").length') == 0
    shown = chromium.run('document.querySelector("#list .passage").textContent')
    expected = HOSTILE.replace("\u2028", r"\u2028").replace("\u202e", r"\u202e").replace("\x00", r"\x00")
    assert shown.startswith(expected.replace("\x1b", r"\x1b") + " In town 0 \N{GRINNING FACE} Nora built")
    # Marks count code points, of which emoji are one.
    assert "Nora" in chromium.run('[...document.querySelectorAll("#list .mark")].map((mark) => mark.textContent)')


def test_a_script_that_got_in_would_not_run(chromium, fences):
    chromium.open(fences)
    chromium.run(
        '{const script = document.createElement("script"); script.textContent = "document.title = 1";'
        'document.body.append(script); document.body.insertAdjacentHTML("beforeend", "<img src=x>")}'
    )
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.run("document.title") == "fences: classical baselines"
    assert len([text for text in chromium.complaints if "Content Security Policy" in text]) == 2


def test_a_report_of_only_expectations_has_questions_and_no_verdicts(chromium, tmp_path):
    file = tmp_path / "random.html"
    file.write_text(page(choices(6), "random", explained=()), encoding="utf-8")
    chromium.open(f"{file.as_uri()}#questions?question=q2&show=wrong&system=sw")
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.complaints == []
    assert chromium.run(COUNT) == "6 of 6 questions"
    assert "Nora built a fence" in chromium.run('document.querySelector(".passage").textContent')


@pytest.mark.parametrize("sample", ["multiple-answer", "cloze", "multi-span"])
def test_every_task_can_be_browsed(chromium, tmp_path, sample):
    from classic_rc.evaluation.plan import add_span_candidates

    dataset = add_span_candidates(classic_rc.load(f"sample:{sample}"))
    solvers = [classic_rc.parse_solver("sw+d")]
    explainer = Explainer(solvers[0], dataset)
    curves = []
    if sample == "multiple-answer":
        curves = [PrecisionRecallCurve.from_scores(explainer.scores(), dataset, "sw+d")]
    content = PageContent(classic_rc.evaluate(dataset, solvers), curves=curves, explanations={0: explainer})
    file = tmp_path / "page.html"
    file.write_text(page_html(content), encoding="utf-8")
    chromium.open(f"{file.as_uri()}#questions?question={quote(dataset[0].id)}")
    chromium.run("new Promise((done) => setTimeout(done, 200))")
    assert chromium.complaints == []
    assert chromium.run('document.querySelectorAll(".passage .mark").length') > 0
    assert chromium.run('document.querySelectorAll(".card .badge.right").length') > 0
    assert chromium.run('document.querySelectorAll("svg.curve path[class^=c0]").length') == len(curves)


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
    shown = '[...document.querySelectorAll("#floors tbody th")].map((cell) => cell.textContent)'
    chromium.run('[...document.querySelectorAll(".sort")].find((of) => of.textContent === "floor").click()')
    by_floor = sorted(floors, key=lambda of: -of.value(of.floor))
    assert chromium.run(shown) == [of.name for of in by_floor]
    chromium.run('[...document.querySelectorAll(".sort")].find((of) => of.textContent === "dataset").click()')
    assert chromium.run(shown) == sorted(of.name for of in floors)
    human = '[...document.querySelectorAll(".sort")].find((of) => of.textContent === "human").click()'
    chromium.run(human)
    known = [of.name for of in floors if of.best_published("human")]
    assert set(chromium.run(shown)[: len(known)]) == set(known)  # what is missing stays last
    chromium.open(file.as_uri(), 390, 844)
    assert chromium.run("document.documentElement.scrollWidth") == 390
