"""Specifications of data, ``DATA[,key=value]…``."""

from __future__ import annotations

import re

import pytest

from classic_rc import load
from classic_rc.datasets.specification import DATA_SETTINGS, DataSpec, merge_settings, parse_data
from classic_rc.errors import UsageError
from tests.errors import raises


@pytest.mark.parametrize(
    ("text", "path", "settings"),
    [
        ("race:dev", "race:dev", {}),
        ("hf:ehovy/race:dev,subset=high", "hf:ehovy/race:dev", {"subset": "high"}),
        ("a b.json, split=dev , reader=squad", "a b.json", {"split": "dev", "reader": "squad"}),
        ("a.tsv,answers=there, or here.ans", "a.tsv", {"answers": "there, or here.ans"}),
        ("a,b.json,spans=5", "a,b.json", {"spans": 5}),
        (r"C:\data,spans=1", r"C:\data", {"spans": 1}),
    ],
)
def test_a_specification_is_a_path_and_settings(text, path, settings):
    spec = parse_data(text)
    assert (spec.path, spec.settings) == (path, settings)
    assert parse_data(str(spec)) == spec


def test_a_path_that_exists_wins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a,split=x.json", "b"):
        (tmp_path / name).write_text("{}")
    assert parse_data("a,split=x.json") == DataSpec("a,split=x.json")
    assert parse_data("a,split=x.json,split=dev") == DataSpec("a,split=x.json", split="dev")
    assert parse_data("b,split=x.json") == DataSpec("b", split="x.json")


@pytest.mark.parametrize(
    ("text", "reported", "problem"),
    [
        ("a,splt=dev", "splt", "did you mean 'split'"),
        ("a,x=1", "x", ", ".join(sorted(DATA_SETTINGS))),
        ("a,split=dev,split=test", None, "split is given twice"),
        ("a,split=,reader=squad", None, "split has no value"),
        (",split=dev", None, "no dataset"),
        ("a,spans=0", None, "'0', expected a number of tokens of at least 1"),
        ("a,spans=two", None, "'two'"),
        ("a,spans=" + "9" * 5000, None, "expected a number of tokens"),
    ],
)
def test_what_is_wrong_is_refused(text, reported, problem):
    with pytest.raises(UsageError, match=re.escape(problem)) as error:
        parse_data(text)
    assert error.value.found == (reported or text)


def test_keywords_and_settings_exclude_each_other():
    spec = parse_data("a,split=dev")
    assert merge_settings(spec, {"split": None, "subset": "x"}) == {"split": "dev", "subset": "x"}
    with raises(UsageError, field="split", found="test"):
        merge_settings(spec, {"split": "test"})
    with raises(UsageError, field="split", found="test"):
        load("sample:cloze,split=dev", split="test")


def test_load_reads_what_a_specification_says():
    assert load("sample:single-choice,split=dev,reader=jsonl").split == "dev"
    short, usual = (load(f"sample:multi-span{spans}") for spans in (",spans=2", ""))
    assert "max_tokens=2" in short.span_generator
    assert usual.span_generator is None
    assert short.fingerprint == usual.fingerprint
    with raises(UsageError, field="spans", found="2"):
        load("sample:single-choice,spans=2")
