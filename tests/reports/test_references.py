"""Citations: everything has at least one, every key has its entry, and the entries are valid
BibTeX.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from classic_rc import __version__
from classic_rc.errors import UsageError
from classic_rc.reports.references import (
    bibliography,
    citables,
    citation_text,
    find_citable,
    references,
)
from tests.errors import raises

_FIELD = re.compile(r"^  (\w+) += \{(.*)\},?$")


@pytest.mark.parametrize(
    "citable", [c for c in citables() if c.cites != ("classic_rc",)], ids=lambda c: c.name
)
def test_everything_that_follows_somebody_cites_entries_that_are_there(citable):
    assert citable.citation
    assert citable.cites
    assert set(citable.cites) <= references().keys() - {"classic_rc"}


def test_the_years_and_names_of_citations_are_those_of_their_entries():
    for citable in citables():
        for key in set(citable.cites) - {"classic_rc"}:
            first_author = re.search(r"author += \{([^,]+),", references()[key])
            assert first_author, key
            assert re.search(r"year +[=] +\{\d{4}\}", references()[key])
            if citable.kind == "dataset" and key == citable.cites[0]:
                assert first_author[1].replace("{", "") in citable.citation


def test_every_entry_is_cited_and_is_there_once():
    used = {key for citable in citables() for key in citable.cites}
    assert references().keys() == used


REQUIRED = {
    "inproceedings": ["booktitle"],
    "article": ["journal"],
    "book": ["publisher"],
    "techreport": ["institution"],
    "misc": [],
}


@pytest.mark.parametrize("key", references())
def test_entries_are_bibtex_with_what_each_kind_must_have(key):
    lines = references()[key].splitlines()
    kind = re.fullmatch(r"@(\w+)\{(\w+),", lines[0])
    assert kind
    assert kind[2] == key
    assert lines[-1] == "}"
    fields = dict(_FIELD.fullmatch(line).groups() for line in lines[1:-1])
    assert len(fields) == len(lines) - 2
    assert {"title", "author", *REQUIRED[kind[1]]} <= fields.keys()
    assert key == "classic_rc" or "year" in fields
    if kind[1] == "misc" and key != "classic_rc":
        assert "doi" in fields or {"eprint", "archiveprefix"} <= fields.keys()
    assert all(value.count("{") == value.count("}") for value in fields.values())
    assert all(line.endswith(",") for line in lines[:-2])
    assert not lines[-2].endswith(",")
    assert "\n".join(lines).isascii()
    if key != "classic_rc":
        assert all(", " in author for author in fields["author"].split(" and "))
        assert "et al" not in fields["author"]


def test_titles_and_keys_are_of_one_paper_each():
    titles = Counter(re.search(r"title +[=] \{(.*)\}", entry)[1] for entry in references().values())
    assert max(titles.values()) == 1


def test_the_package_cites_itself_with_its_version():
    assert f"note   = {{Version {__version__}}}" in references()["classic_rc"]
    released = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"date-released: {citation_text('classic_rc')[-4:]}-" in released
    assert next(iter(references())) == "classic_rc"
    assert bibliography(("classic_rc",)).count("@") == 1


def test_names_may_be_of_solvers_variants_datasets_metrics_and_keys():
    assert [c.kind for c in find_citable("sw+d")] == ["solver"]
    assert find_citable("sw+d:mcobzarenco")[0].cites == ("richardson2013", "sugawara2017")
    assert find_citable("mctest")[0].kind == "dataset"
    assert find_citable("f1_a")[0].kind == "metric"
    assert find_citable("hill2015")[0].kind == "reference"
    assert {c.name for c in citables() if c.kind == "variant"} >= {
        "ir:clark2016",
        "lexical:smith2015",
    }
    with raises(
        UsageError,
        field="solver, dataset or metric",
        found="mctestt",
        expected=re.compile(r"\bmctest\b"),
    ):
        find_citable("mctestt")


def test_a_reference_of_several_things_is_printed_once_behind_a_line_for_each():
    text = bibliography(("mctest", "accuracy", "sw+d"))
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert [line.split(":")[0] for line in comments] == [
        "% dataset mctest",
        "% metric accuracy",
        "% solver sw+d",
    ]
    assert text.count("@") == 1
    everything = bibliography()
    assert everything.startswith("@misc{classic_rc,")
    assert all(f"{{{key}," in everything for key in references())
