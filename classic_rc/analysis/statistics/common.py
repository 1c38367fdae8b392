"""The statistics that every dataset has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from classic_rc.analysis.statistics.counts import Contents
from classic_rc.analysis.statistics.measures import Count, Measure, Values, Vocabulary
from classic_rc.questions import normalised_text
from classic_rc.text import sentences

QUESTION_WORDS = ("what", "who", "when", "where", "why", "how", "which")


@dataclass(frozen=True)
class Statistic:
    """One row of a table of statistics.

    Parameters
    ----------
    label : str
    definition : str
        How it is counted.
    measure : callable
        Takes :class:`~classic_rc.analysis.statistics.counts.Contents`; a small function named after what it counts.
    decimals : int
        Of means; counts are whole.
    is_share : bool
        Shown in percent.
    """

    label: str
    definition: str
    measure: Callable[[Contents], Measure]
    decimals: int = 1
    is_share: bool = False


def n_passages(contents: Contents) -> Count:
    """Passages that a question is asked about."""
    return Count(len(contents.dataset.passages))


def n_questions(contents: Contents) -> Count:
    """Questions."""
    return Count(len(contents.dataset))


def n_candidates(contents: Contents) -> Count:
    """Options or mentions."""
    return Count(len(contents.candidates.lengths))


def questions_per_passage(contents: Contents) -> Values:
    """Questions about each passage."""
    dataset = contents.dataset
    position = {id(passage): i for i, passage in enumerate(dataset.passages)}
    asked = np.array([position[id(q.passage)] for q in dataset], dtype=np.int64)
    return Values(np.bincount(asked, minlength=len(position)))


def candidates_per_question(contents: Contents) -> Values:
    """Options or mentions of each question."""
    return Values(np.array([len(q.candidates) for q in contents.dataset if not q.task.has_spans], dtype=np.int64))


def gold_per_question(contents: Contents) -> Values:
    """Right options, or accepted texts, of each question whose gold is not hidden."""
    return Values(np.array([len(q.gold) for q in contents.dataset if q.gold is not None], dtype=np.int64))


def passage_tokens(contents: Contents) -> Values:
    """Tokens of each passage."""
    return Values(contents.passages.lengths)


def passage_sentences(contents: Contents) -> Values:
    """Sentences of each passage: the dataset's own marks, else what the splitter finds."""
    counts = [len(sentences.passage_sentences(passage)) for passage in contents.dataset.passages]
    return Values(np.array(counts, dtype=np.int64))


def question_tokens(contents: Contents) -> Values:
    """Tokens of each question."""
    return Values(contents.questions.lengths)


def candidate_tokens(contents: Contents) -> Values:
    """Tokens of each option or mention."""
    return Values(contents.candidates.lengths)


def gold_tokens(contents: Contents) -> Values:
    """Tokens of each right option or accepted text."""
    return Values(contents.gold.lengths)


def vocabulary(contents: Contents) -> Vocabulary:
    """Distinct tokens, in lower case."""
    return Vocabulary(frozenset(word.lower() for word in contents.vocabulary))


def gold_verbatim(contents: Contents) -> Values:
    """Whether the passage holds the right text as it is, but for case and white space."""
    return Values(np.array(list(_verbatim(contents)), dtype=np.bool_))


def _verbatim(contents: Contents) -> Iterator[bool]:
    passages = contents.lowered_passages
    for question in contents.dataset:
        for text in question.gold_texts:
            yield normalised_text(text) in passages[id(question.passage)]


def begins_with(word: str) -> Callable[[Contents], Values]:
    """A function: whether each question begins with a word."""

    def first_word(contents: Contents) -> Values:
        starts = [question.text.split(None, 1)[:1] for question in contents.dataset]
        return Values(np.array([bool(s) and s[0].lower().rstrip(",'’s") == word for s in starts], dtype=np.bool_))

    return first_word


COMMON: tuple[Statistic, ...] = (
    Statistic("passages", "that a question is asked about", n_passages),
    Statistic("questions", "all, also those whose gold is hidden", n_questions),
    Statistic("candidates", "options or mentions; spans that a generator makes are not counted", n_candidates),
    Statistic("questions a passage", "mean (s.d.)", questions_per_passage),
    Statistic("candidates a question", "mean (s.d.)", candidates_per_question),
    Statistic("right ones a question", "right options, or accepted texts; mean (s.d.)", gold_per_question),
    Statistic("tokens a passage", "mean (s.d.)", passage_tokens),
    Statistic("sentences a passage", "the dataset's own marks, else the splitter's", passage_sentences),
    Statistic("tokens a question", "mean (s.d.)", question_tokens),
    Statistic("tokens a candidate", "mean (s.d.)", candidate_tokens),
    Statistic("tokens a right answer", "mean (s.d.)", gold_tokens),
    Statistic("vocabulary", "distinct tokens of passages, questions and candidates, in lower case", vocabulary),
    Statistic(
        "right answers verbatim %", "right texts that the passage holds but for case", gold_verbatim, is_share=True
    ),
    *(
        Statistic(f"questions with {word} %", f"that begin with {word!r}", begins_with(word), is_share=True)
        for word in QUESTION_WORDS
    ),
)  # fmt: skip
"""In the order of the table."""
