"""Where the placeholder stands among a query's tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.questions import PLACEHOLDER, Passage, Question, Task
from classic_rc.text.analyzers import ANALYZERS, get_analyzer
from classic_rc.text.encode import tokens_before_placeholder

_TEXTS = st.text(st.sampled_from("ab Z09.,'’-\"()é猫\u00a0\n")).map(str.strip)


def query(text):
    return Question("q", Passage("p", ""), text, (), None, Task.CLOZE)


@pytest.mark.parametrize("name", [*ANALYZERS, "word+stop=smart", "treebank+cased+porter"])
@given(left=_TEXTS, right=_TEXTS, gap=st.sampled_from(["", " "]))
def test_it_stands_where_the_tokens_before_it_end(name, left, right, gap):
    analyzer = get_analyzer(name)
    question = query(f"{left}{gap}{PLACEHOLDER}{gap}{right}")
    (before,) = tokens_before_placeholder([question], analyzer).tolist()
    located = analyzer.locate(question.query)
    assert all(end <= len(left) for _, _, end in located[:before])
    assert all(start >= len(left) for _, start, _ in located[before:])


def test_the_first_placeholder_counts_and_without_one_all_tokens_stand_before():
    queries = [query(f"So {PLACEHOLDER} met {PLACEHOLDER}"), query("no gap here"), query("")]
    assert tokens_before_placeholder(queries, get_analyzer("word")).tolist() == [1, 3, 0]
    assert tokens_before_placeholder([], get_analyzer("treebank")).tolist() == []


def test_a_stop_before_it_is_no_end_of_the_text():
    # The Treebank tokenizer takes a stop off the last word of a text only.
    question = query(f"the U.S. {PLACEHOLDER} office")
    assert tokens_before_placeholder([question], get_analyzer("treebank")).tolist() == [2]
