"""``classic-rc check``: output, exit codes, repairs."""

from __future__ import annotations

import json
import random

import pytest

from classic_rc.datasets import load

WORDS = (
    "river tower garden station bakery harbour library theatre museum stable orchard market".split()
)


def make_rows(n=120, leak="", field=False):
    rng = random.Random(5)
    rows = []
    for i in range(n):
        options, gold = [" ".join(rng.choices(WORDS, k=3)) for _ in range(3)], rng.randrange(3)
        options[gold] += leak
        row = {"id": f"q{i}", "passage": f"p{i} {rng.choice(WORDS)}", "question": f"Where {i}?"}
        rows.append(
            {**row, "candidates": options, "gold": gold, **({"key": "abc"[gold]} if field else {})}
        )
    return rows


@pytest.fixture
def leaking(write):
    return write("leaking.jsonl", make_rows(leak=" indeed"))


def test_json_has_a_header_and_findings_in_order(cli, leaking):
    (check,) = cli("check", leaking, "--format", "json").json["checks"]
    assert [row["input"] for row in check["header"]][:2] == ["options only", "question and options"]
    first = check["findings"][0]
    assert (first["kind"], first["direction"], first["coverage"]) == ("ARTIFACT", "right", 1.0)
    assert first["name"].endswith('word "indeed"')
    assert {"precision", "accuracy", "chance", "z", "bound", "p", "examples"} <= set(first)
    assert "[[indeed]]" in first["examples"][0]["option"]
    assert check["header"][0]["accuracy"] > 0.9 > check["without"]


def test_a_terminal_gets_a_page_of_at_most_25_lines(cli, leaking, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("check", leaking).out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert "falls from" in "".join(lines)


@pytest.mark.parametrize(
    ("kinds", "code"),
    [("--fail=artifacts", 1), ("--fail=shortcuts,duplicates,defects", 0)],
)
def test_fail_is_by_kind_of_finding(cli, leaking, kinds, code):
    done = cli("check", leaking, kinds)
    assert done.code == code
    assert ("ARTIFACT" in done.err) is bool(code)


@pytest.mark.parametrize("what", ["name", "printed", "id", "json"])
def test_an_accepted_finding_does_not_fail(cli, leaking, tmp_path, what):
    """A name as the table prints it, the name in JSON, the id, or a list with reasons."""
    (check,) = cli("check", leaking, "--format", "json").json["checks"]
    cue = check["findings"][0]
    text = {
        "name": cue["name"],
        "printed": f"has {cue['name']}",
        "id": f"# by id\n{cue['id']}\n",
        "json": json.dumps([{"name": cue["name"], "reason": "it is a style"}]),
    }[what]
    file = tmp_path / "accepted.txt"
    file.write_text(text, encoding="utf-8")
    assert cli("check", leaking, "--fail").code == 1
    done = cli("check", leaking, "--fail", "--allow", file)
    assert (done.code, "accepted" in done.out) == (0, True)


def test_an_accepted_name_that_matches_nothing_is_an_error_with_the_nearest(cli, leaking, tmp_path):
    file = tmp_path / "accepted.txt"
    file.write_text('the word "indeeed"', encoding="utf-8")
    cli("check", leaking, "--allow", file).fails(2, '"indeed"', field="finding")


def test_an_accepted_finding_in_json_has_a_reason(cli, leaking, tmp_path):
    file = tmp_path / "accepted.json"
    file.write_text('[{"name": "the word \\"indeed\\""}]', encoding="utf-8")
    cli("check", leaking, "--allow", file).fails(3, "reason")


def test_an_accepted_kind_of_defect_does_not_fail(cli, write, tmp_path):
    rows = [{**row, "candidates": ["yes", "no"], "gold": 0} for row in make_rows(40)]
    file = tmp_path / "accepted.txt"
    file.write_text("one-answer", encoding="utf-8")
    done = cli("check", write("one.jsonl", rows), "--fail", "--allow", file)
    assert (done.code, done.err) == (0, "")


def test_all_defects_show_their_first_ids(cli, write):
    rows = make_rows(40)
    rows[3]["candidates"][0] = rows[5]["passage"] = rows[7]["question"] = ""
    out = cli("check", write("bad.jsonl", rows)).out
    for kind, id_ in (("option", "q3"), ("passage", "q5"), ("question", "q7")):
        assert any(f"empty {kind}" in line and id_ in line for line in out.splitlines())


def test_fields_can_be_left_out_of_the_search(cli, write):
    file = write("field.jsonl", make_rows(field=True))
    assert cli("check", file, "--fail", "--without-fields", "key").code == 0
    cli("check", file, "--without-fields", "keys").fails(2, "key", field="field")


def test_one_answer_for_all_fails(cli, write):
    rows = [{**row, "candidates": ["yes", "no"], "gold": 0} for row in make_rows(40)]
    done = cli("check", write("one.jsonl", rows), "--fail")
    assert done.code == 1
    assert "DEFECT" in done.err


def test_nothing_found_does_not_fail(cli, write):
    done = cli("check", write("fine.jsonl", make_rows()), "--fail")
    assert done.code == 0
    assert "nothing found" in done.out


def test_html_is_a_page_with_a_picture_that_loads_nothing(cli, leaking, tmp_path):
    file = tmp_path / "check.html"
    assert cli("check", leaking, "--format", "html", "-o", file).code == 0
    html = file.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "<mark>indeed</mark>" in html
    assert "polyline" in html  # the bound
    assert "src=" not in html


def test_mending_writes_a_copy_its_provenance_and_both_figures(cli, write, tmp_path):
    file, out = write("field.jsonl", make_rows(field=True)), tmp_path / "mended.jsonl"
    done = cli("check", file, "--mend", out, "--fail")
    assert done.code == 1  # the data as it was
    assert "before and after" in done.out
    assert all("key" not in q.meta for q in load(out))
    repairs = json.loads((tmp_path / "mended.jsonl.repairs.json").read_text(encoding="utf-8"))[
        "repairs"
    ]
    assert any("leaking fields removed: key" in row["repair"] for row in repairs)
    assert cli("check", out, "--fail").code == 0
    sheet = tmp_path / "sheet.md"
    assert cli("report", out, "--datasheet", "--without", "check,floors", "-o", sheet).code == 0
    assert "leaking fields removed: key" in sheet.read_text(encoding="utf-8")


def test_mending_writes_one_dataset(cli, leaking, write, tmp_path):
    second = write("other.jsonl", make_rows())
    cli("check", leaking, second, "--mend", tmp_path / "m.jsonl").fails(2, "--pool", field="--mend")
