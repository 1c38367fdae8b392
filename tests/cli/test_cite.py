"""``classic-rc cite``: BibTeX of anything by name, and of everything."""

from __future__ import annotations

import re

import pytest

from classic_rc.reports.references import references


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["sw+d"], ["richardson2013"]),
        (["race"], ["lai2017"]),
        (["f1_m"], ["khashabi2018multirc"]),
        (["ir:clark2016", "record"], ["clark2016", "zhang2018"]),
        (["jsonl"], ["classic_rc"]),
    ],
)
def test_names_give_their_entries(cli, names, keys):
    done = cli("cite", *names)
    assert done.code == 0
    assert done.err == ""
    assert [line[line.index("{") + 1 : -1] for line in done.out.splitlines() if line.startswith("@")] == keys


def test_without_a_name_everything_goes_to_stdout_or_a_file(cli, tmp_path):
    out = tmp_path / "all.bib"
    assert cli("cite", "-o", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert text == cli("cite").out
    assert text.count("\n@") + 1 == len(references())


def test_an_unknown_name_is_refused_with_the_nearest(cli):
    done = cli("cite", "sw+e")
    done.fails(2, found="sw+e", expected=re.compile(r"\bsw\+d\b"))
    assert done.out == ""
