"""Duplicates: passages, questions and sets of options that a dataset repeats or shares with
training data.

Passages are compared as :func:`classic_rc.near_duplicates.similar_texts` says, questions as
:mod:`classic_rc.commands.check.near_questions` says. Questions whose gold contradicts each other
are different questions, or one question with another gold
(:mod:`classic_rc.commands.check.other_gold`), which is a defect of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from classic_rc.commands.check.kinds import EXAMPLES, DefectKind, Finding, Severity
from classic_rc.commands.check.other_gold import find_cause
from classic_rc.commands.check.question_copies import find_question_copies
from classic_rc.commands.check.question_table import QuestionTable
from classic_rc.commands.check.similar_passages import SimilarPassages
from classic_rc.datasets.registry import TrainingData, as_dataset
from classic_rc.equality import folded_text
from classic_rc.questions import Dataset, Question, candidate_texts
from classic_rc.text.differences import word_diff

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

DUPLICATE_KINDS = (
    DefectKind(
        "question-in-train",
        _E,
        "questions that are in the training data",
        "their answers can be looked up",
    ),
    DefectKind(
        "gold-differs-in-train",
        _E,
        "training questions with another gold",
        "one of the two must be wrong",
    ),
    DefectKind(
        "gold-differs", _E, "questions repeated with different gold", "one of the two must be wrong"
    ),
    DefectKind(
        "question-repeated", _W, "questions repeated about a passage", "counted more than once"
    ),
    DefectKind(
        "question-reused", _W, "questions reused with the same options", "answers may carry over"
    ),
    DefectKind(
        "question-nearly-repeated", _W, "near copies of another question", "answers may carry over"
    ),
    DefectKind(
        "question-nearly-in-train",
        _W,
        "near copies of training questions",
        "their answers may be looked up",
    ),
    DefectKind(
        "passage-repeated",
        _W,
        "passages with the text of another one",
        "folds and splits may separate them",
    ),
    DefectKind(
        "passage-nearly-repeated", _W, "near copies of another passage", "splits may separate them"
    ),
    DefectKind(
        "passage-in-train",
        _W,
        "passages that are in the training data",
        "seen in training, then tested on",
    ),
    DefectKind(
        "passage-nearly-in-train", _W, "near copies of training passages", "nearly seen in training"
    ),
    DefectKind(
        "options-repeated", _N, "options of another question", "they may suggest the answer"
    ),
    DefectKind(
        "options-in-train", _N, "options of a training question", "they may suggest the answer"
    ),
)
"""The kinds of duplicates, the most severe first. Repetitions are counted from the second time
on. Texts are equal if they differ only in case, white space and punctuation; options, as
:mod:`classic_rc.equality` says. Near copies are not equal.
"""

COPIES = frozenset(
    kind.name
    for kind in DUPLICATE_KINDS
    if kind.severity is not _N and kind.name.startswith(("question-", "passage-"))
) - {"question-reused"}
"""The names of the kinds that are copies of a passage or a question.

A question with another gold is none: the other one does not tell its answer. Its passage can be.
"""
OTHER_GOLD = frozenset(("gold-differs", "gold-differs-in-train"))
"""The names of the kinds of questions that have another gold than a copy of them."""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """A passage or question, and the one that it repeats."""

    id: str
    other: str  # earlier in the dataset, or in the training data
    similarity: float
    """1 for equal texts, else the share of the longer text that both have: of its 4-grams, or of
    its words if the texts are short or questions with their options.
    """
    text: str
    other_text: str
    golds: tuple[str, ...] = ()  # of both, if they differ
    cause: str | None = None  # why they differ, if the options tell

    def diff(self, width: int = 96) -> str:
        """Return what differs, on one line of at most `width` characters
        (:func:`~classic_rc.text.differences.word_diff`)."""
        if not self.golds:
            return word_diff(self.other_text, self.text, width)
        cause = f"; {self.cause}" if self.cause else ""
        room = (width - len(cause)) // 2 - 8
        gold, other_gold = (text[:room] for text in self.golds)
        return f"gold [-{other_gold}-] {{+{gold}+}}{cause}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "other": self.other,
            "similarity": round(self.similarity, 4),
            "diff": self.diff(),
            **({"golds": list(self.golds), "cause": self.cause} if self.golds else {}),
        }


@dataclass(frozen=True, slots=True)
class DuplicateFinding(Finding):
    """A kind of duplicates with all its pairs."""

    pairs: tuple[
        DuplicatePair, ...
    ] = ()  # one per passage or question, the most similar; in the dataset's order

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with all pairs."""
        return {**Finding.to_dict(self), "pairs": [pair.to_dict() for pair in self.pairs]}


def find_duplicates(
    dataset: Dataset, train: TrainingData | None = None
) -> tuple[DuplicateFinding, ...]:
    """Find equal and nearly equal passages, questions and sets of options, within a dataset and in
    training data.

    Near copies are cut off, have a few words replaced, other sentence order, options in another
    order, or another option. Questions that many passages have in common, and options that many
    questions have in common, are not duplicates.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden.
    train : Dataset or sequence of Dataset, optional

    Returns
    -------
    tuple of DuplicateFinding
        One per kind that was found, in the order of :data:`DUPLICATE_KINDS`.

    Examples
    --------
    >>> import classic_rc
    >>> row = {
    ...     "id": "q1",
    ...     "passage": "Nora planted beans in spring.",
    ...     "gold": 0,
    ...     "question": "What did Nora plant in spring?",
    ...     "candidates": ["beans", "a tree", "corn"],
    ... }
    >>> copy = {**row, "id": "t1", "question": "What did Nora plant in the spring?"}
    >>> dev, train = classic_rc.from_rows([row]), classic_rc.from_rows([copy])
    >>> for finding in find_duplicates(dev, train):
    ...     print(
    ...         finding.kind.name,
    ...         finding.pairs[0].id,
    ...         finding.pairs[0].other,
    ...         finding.pairs[0].diff(),
    ...     )
    question-nearly-in-train q1 t1 in [-the-] spring? …
    passage-in-train passage-1 passage-1 equal
    """
    train = as_dataset(train)
    passages = SimilarPassages(dataset, train)
    pairs_by_kind: dict[str, list[DuplicatePair]] = {}
    for kind, pair in chain(
        _passage_pairs(passages), _question_pairs(QuestionTable(dataset, train, passages))
    ):
        pairs_by_kind.setdefault(kind, []).append(pair)
    kinds = (kind for kind in DUPLICATE_KINDS if kind.name in pairs_by_kind)
    return tuple(_make_finding(kind, pairs_by_kind[kind.name]) for kind in kinds)


def _make_finding(kind: DefectKind, pairs: Sequence[DuplicatePair]) -> DuplicateFinding:
    examples = tuple(pair.id for pair in pairs[:EXAMPLES])
    n_shuffled = sum(pair.cause is not None for pair in pairs)
    detail = (
        f"; in {n_shuffled:,} the options are shuffled and the letter kept" if n_shuffled else ""
    )
    return DuplicateFinding(kind, len(pairs), examples, detail=detail, pairs=tuple(pairs))


def _passage_pairs(passages: SimilarPassages) -> Iterator[tuple[str, DuplicatePair]]:
    """Yield the names of kinds with pairs of passages."""
    for kind, number, partner, similarity in passages.copies():
        passage, copied = passages.passages[number], passages.passages[partner]
        yield kind, DuplicatePair(passage.id, copied.id, similarity, passage.text, copied.text)


def _question_pairs(table: QuestionTable) -> Iterator[tuple[str, DuplicatePair]]:
    """Yield the names of kinds with pairs of questions."""
    for kind, number, partner_number, similarity in find_question_copies(table):
        question, partner = table.questions[number], table.questions[partner_number]
        pair = DuplicatePair(
            question.id, partner.id, similarity, _full_text(question), _full_text(partner)
        )
        if kind in OTHER_GOLD:
            golds = _gold_text(question), _gold_text(partner)
            pair = replace(pair, golds=golds, cause=find_cause(question, partner))
        yield kind, pair


def _gold_text(question: Question) -> str:
    return " + ".join(sorted(question.gold_texts))


def _full_text(question: Question) -> str:
    """Return a question and its options, which are sorted, because their order does not matter."""
    if not question.task.has_choices:
        return question.text
    options = sorted(candidate_texts(question.candidates), key=folded_text)
    return " | ".join((question.text, *options))


def paired_ids(findings: Iterable[Finding], kinds: Collection[str]) -> set[str]:
    """Return the ids of the questions or passages of some kinds of duplicates."""
    return {
        pair.id
        for finding in findings
        if isinstance(finding, DuplicateFinding) and finding.kind.name in kinds
        for pair in finding.pairs
    }
