"""Word diffs on one line: what differs, and nothing half shown."""

from __future__ import annotations

import pytest

from classic_rc.text.differences import word_diff


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("a b c", "a b c", "equal"),
        ("A b, c", "a  b c.", "case, blanks or punctuation"),
        ("a b c d e", "a b x d e", "b [-c-] {+x+} d e"),
        ("a b c", "a b", "b [-c-]"),
        ("a b", "a b c", "b {+c+}"),
        ("x", "y", "[-x-] {+y+}"),
        ("a b " + "w " * 20, "a b", "b [-w w … w (20 words)-]"),
        ("a b c d e f g h", "x b c d e y g h", "[-a-] {+x+} b … e [-f-] {+y+} g h"),
    ],
)
def test_differences_are_shown_on_one_line(before, after, line):
    assert word_diff(before, after) == line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "[-a-] {+x+} b … e [-f-] {+y+} g … i [-j-] {+z+}"),
        (40, "[-a-] {+x+} b … e [-f-] {+y+} g … i …"),
        (30, "[-a-] {+x+} b … e [-f-] …"),
        (14, "[-a-] {+x+} …"),
        (8, "[-a-] …"),
    ],
)
def test_what_does_not_fit_is_left_out_whole(width, line):
    assert word_diff("a b c d e f g h i j", "x b c d e y g h i z", width) == line
    assert len(line) <= width


def test_scripts_without_spaces_are_compared_by_character():
    before = "第0天早上，小明和爸爸一起去市场。他们买了西红柿、面包和一瓶油。"
    after = before.replace("西红柿", "苹果")
    assert word_diff(before, after) == "他们买了 [-西红柿-] {+苹果+} 、面包和一瓶油。"
    assert word_diff(before, after, 28) == "他们买了 [-西红柿-] …"


def test_a_long_change_is_cut_on_one_line():
    before, after = "w" * 300, "v\n" * 300
    assert len(word_diff(before, after, 40)) <= 40
    assert "\n" not in word_diff(before, after, 500)
