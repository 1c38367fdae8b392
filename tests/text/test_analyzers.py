"""Analyzers: names, specifications, and what they do to tokens."""

from __future__ import annotations

import importlib.util
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.text.analyzers import STEMMERS, STOP_LISTS, TOKENIZERS, Analyzer, get_analyzer
from classic_rc.text.segmenters import SEGMENTERS
from tests.depth import examples
from tests.errors import raises
from tests.text.builders import texts_at

PACKAGES = {segmenter.name: segmenter.packages for segmenter in SEGMENTERS}


def is_installed(tokenizer: str) -> bool:
    modules = [package.replace("-", "_") for package in PACKAGES.get(tokenizer, ())]
    return all(map(importlib.util.find_spec, modules))


INSTALLED = sorted(filter(is_installed, TOKENIZERS))

any_analyzer = st.builds(
    Analyzer,
    st.sampled_from(INSTALLED),
    lowercase=st.booleans(),
    stemmer=st.sampled_from(sorted(STEMMERS)),
    stop_words=st.sampled_from(sorted(STOP_LISTS)),
)


@given(any_analyzer)
def test_a_specification_restores_the_analyzer(analyzer):
    assert get_analyzer(analyzer.spec) == analyzer
    assert str(analyzer) == analyzer.spec
    name, version = analyzer.tokenizer, TOKENIZERS[analyzer.tokenizer].version
    signed = f"{name}-{version}" if version else name
    assert analyzer.signature == analyzer.spec.replace(name, signed, 1)
    assert pickle.loads(pickle.dumps(analyzer)) == analyzer


def test_specifications_are_canonical():
    assert get_analyzer("word+stop=smart+porter+cased").spec == "word+cased+porter+stop=smart"
    assert get_analyzer("word+unstemmed+porter+cased+lower").spec == "word+porter"
    assert get_analyzer("mcobzarenco+lower+stop=none").spec == "mcobzarenco+lower+stop=none"


def test_each_tokenizer_has_an_analyzer_of_its_name():
    assert all(Analyzer.named(name).spec == name for name in TOKENIZERS)


def test_an_analyzer_is_returned_as_it_is():
    analyzer = Analyzer("char")
    assert get_analyzer(analyzer) is analyzer


@settings(max_examples=examples(8, 50))
@given(any_analyzer, st.text() | st.text("The cats' 3.5 HATS don’t \n.!é"))
def test_final_tokens_are_the_folded_surface_tokens(analyzer, text):
    surface = TOKENIZERS[analyzer.tokenizer].tokenize(text)
    folded = analyzer.fold(surface)
    assert len(folded) == len(surface)
    assert analyzer.analyze(text) == [token for token in folded if token is not None]
    assert [token for token, _, _ in analyzer.locate(text)] == analyzer.analyze(text)


def test_fold_drops_by_the_lower_cased_unstemmed_form():
    cased = get_analyzer("word+cased+porter+stop=lucene")
    assert cased.fold(["The", "THE", "Cats", "thes"]) == [None, None, "Cat", "the"]


def test_locate_points_into_the_text():
    text = "The CATS’ cafe\u0301s"
    located = get_analyzer("word+porter+stop=lucene").locate(text)
    assert [token for token, _, _ in located] == ["cat", "café"]
    assert texts_at(text, [place for _, *place in located]) == ["CATS", "cafe\u0301s"]


def test_mcobzarenco_is_cased_and_without_stop_words_and_marks():
    assert Analyzer.named("mcobzarenco").analyze('The Bear\'s "big" bed, yes! IT.') == [
        "Bear",
        "big",
        "bed",
    ]


def test_a_description_names_what_is_done():
    described = get_analyzer("whitespace+cased+porter+stop=smart").description
    assert described.endswith("cased; stemmed by porter; without the stop words of smart.")


@pytest.mark.parametrize(
    ("spec", "field", "found_text", "expected"),
    [
        ("wrod", "analyzer", "wrod", "^word"),
        ("word+portr", "analyzer modifier", "portr", "^porter"),
        ("word+", "analyzer modifier", "", "cased"),
        ("word+none", "analyzer modifier", "none", "."),
        ("word+stop=smrt", "stop list", "smrt", "^smart$"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(spec, field, found_text, expected):
    with raises(UsageError, field=field, found=found_text, expected=re.compile(expected)):
        get_analyzer(spec)


def test_unknown_names_are_refused_by_the_constructor_too():
    with raises(UsageError, field="tokenizer", found="words"):
        Analyzer("words")
    with raises(UsageError, field="stemmer", found="porter2"):
        Analyzer("word", stemmer="porter2")


def test_a_missing_stop_list_is_found_before_text_is_read():
    with raises(DataError, source="no-such.txt"):
        get_analyzer("word+stop=no-such.txt")


def test_the_signature_of_a_stop_list_file_does_not_depend_on_its_place(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.txt").write_text("fox\n", encoding="utf-8")
    a, b = (get_analyzer(f"word+stop={tmp_path / folder / 'mine.txt'}") for folder in "ab")
    assert a.analyze("The fox") == ["the"]
    assert a.signature == b.signature != a.spec
