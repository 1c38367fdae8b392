"""What a finding says: a name, a direction, coverage, precision, examples and one sentence of
advice.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.families import FIELD_NAME, PIECE, WORD_CUE, Family, FeatureSource
from classic_rc.commands.check.feature_matrix import FeatureMatrix
from classic_rc.commands.check.known_cues import PUBLISHED, WORD_CUES
from classic_rc.commands.check.null_distribution import OrderFeatures
from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.commands.check.score_test import CueStep, ScoreTest

_SHOWN_EXAMPLES = 3
_SHOWN_TEXT = 160
ORDER_NAMES = (
    "is at the place of the right option of the question before",
    "is one place after the right option of the question before",
    "is one place before the right option of the question before",
    "is at the place of the right option two questions before",
    "was right in another question",
    "was wrong in another question, and never right",
)


class CueKind(StrEnum):
    """The kinds of findings."""

    DEFECT = "DEFECT"
    """The file contradicts itself, or cannot measure anything."""
    ARTIFACT = "ARTIFACT"
    """The passage is not read."""
    SHORTCUT = "SHORTCUT"
    """The passage is read, the question not."""
    GOLD_ORDER = "GOLD ORDER"
    """The passage is not read, but the gold of other questions is."""
    ANSWER_TYPE = "ANSWER TYPE"
    """The question predicts the length and type of the answer; the passage is not read."""


_ADVICE = {
    FeatureSource.POSITION: "shuffle the options (--mend does it)",
    FeatureSource.FIELD: (
        "remove the field, or shuffle the options so that it says nothing (--mend)"
    ),
    FeatureSource.UNUSUAL: "write all options in the same way (--mend does it)",
    FeatureSource.OPTION: "use the option as often where it is wrong, or replace it",
    FeatureSource.WORD: (
        "use the word as often in wrong options as in right ones, or add mirrored items"
    ),
    FeatureSource.WORDS: (
        "use the words as often in wrong options as in right ones, or add mirrored items"
    ),
    FeatureSource.RANK: "write wrong options that are like right ones in this",
    FeatureSource.CHARACTER: "write all options in the same style (--mend makes quotes equal)",
    FeatureSource.PIECE: (
        "read the examples: only right, or only wrong, options are written this way"
    ),
    FeatureSource.ORDER: (
        "shuffle questions and options; keep questions with the same options in one fold"
    ),
}
_ADVICE_OF_POOLS = "choose right and wrong options from texts that are used equally often"


class Example(NamedTuple):
    """An option that has a cue."""

    id: str
    option: str  # the cue is marked by [[ and ]], if it is a part of the text
    right: bool


@dataclass(frozen=True, slots=True)
class Cue:
    """A feature that tells right options from wrong ones; shares are fractions.

    Niven and Kao 2019 define applicability (the number of questions where the cue tells the options
    apart), productivity (the precision) and coverage for two options.
    """

    kind: CueKind
    id: str  # of the name, without what is added to it
    name: str
    direction: (
        str  # "right" or "wrong": what the option with the cue, or with more of it, tends to be
    )
    coverage: float  # the share of questions where it tells options apart
    precision: float  # how often the option it favours is right there
    accuracy: float  # of answering by it alone, and guessing elsewhere
    chance: float  # of all questions
    z: float
    bound: float  # of the largest |z| of all features of its search under chance
    p: float  # over all features of its search
    n_questions: int  # where it tells options apart
    n_with: int  # options that have it; 0 for ranks
    n_right: int  # of these, how many are right
    others: int  # how many features say about the same
    examples: tuple[Example, ...]
    ids: tuple[str, ...]  # the questions that it answers
    advice: str
    note: str = ""
    # with "that", of what the name is one; without, what has the property that the name begins with
    subject: str = "the option that"
    about: str = ""  # what is asked of span data: answerable, sentence, span, length and type

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.subject.endswith(" that"):
            return f"{self.subject} {phrase(self.name)} tends to be {self.direction}"
        tends = "tends to be" if self.direction == "right" else "tends not to be"
        return f"{self.subject} {tends} {self.name.removeprefix('is ')}"

    @property
    def label(self) -> str:
        """The name as tables show it."""
        return f"{self.subject} {phrase(self.name)}" if self.about else phrase(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain: dict[str, Any] = {
            "kind": str(self.kind),
            "id": self.id,
            "name": self.name,
            "label": self.label,
            "direction": self.direction,
        }
        for name in ("coverage", "precision", "accuracy", "chance", "z", "bound", "p"):
            plain[name] = round(float(getattr(self, name)), 6)
        plain |= {
            "questions": self.n_questions,
            "with": self.n_with,
            "right": self.n_right,
            "similar": self.others,
            "applicability": self.n_questions,
            "productivity": plain["precision"],
            "examples": [example._asdict() for example in self.examples],
            "advice": self.advice,
        }
        plain |= {"about": self.about} if self.about else {}
        return plain | ({"note": self.note} if self.note else {})


def finding_id(name: str) -> str:
    """Return the id of a finding, which depends on nothing but its name."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def phrase(name: str) -> str:
    """Return the name of a cue as what an option does."""
    if name.startswith('the option "'):
        return f"is {name.removeprefix('the option ')}"
    verbs = ("is ", "was ", "has ", "stands ", "begins ", "ends ", "copies ", "shares ")
    return name if name.startswith(verbs) else f"has {name}"


def describe_steps(test: ScoreTest, chance: Floats) -> tuple[Cue, ...]:
    """Return the findings of a score test by kind, those of a kind in the order in which they were
    chosen.

    A choice that only corrects what earlier ones claim too much is not a finding: alone it says
    nothing.
    """
    n_mirrored = count_mirrored(test.table)
    cues = [
        _describe(test, step, chance, n_mirrored) for step in test.steps if not step.is_correction
    ]
    return tuple(sorted(cues, key=lambda cue: list(CueKind).index(cue.kind)))


def _describe(test: ScoreTest, step: CueStep, chance: Floats, n_mirrored: int) -> Cue:
    features, table = test.features, test.table
    is_order = step.feature >= len(features)
    is_rank = features.n_sparse <= step.feature < len(features)
    values = test.values_of(step)
    sign = 1 if step.more else step.z
    favoured, covered = favour(table, values if sign > 0 else -values)
    right = table.right
    n_favoured = table.sum(favoured.astype(np.float64))
    n_hits = table.sum((right & favoured).astype(np.float64))
    precision = n_hits / n_favoured
    n = int(covered.sum())
    covered_precision = float(precision[covered].mean()) if n else 0.0
    has_it = (values > 0) & covered[table.question]
    if is_order:
        family = Family(FeatureSource.ORDER, "{}", frozenset({"order"}))
        name, kind = ORDER_NAMES[step.feature - len(features)], CueKind.GOLD_ORDER
        paper = ""
    else:
        family, name = features.families[step.feature], features.name(step.feature)
        paper = PUBLISHED.get(name, "")
        if is_rank and step.z < 0:
            name = features.opposites[name]
        # Where the same options come with the other gold too, only who reads the question can tell
        # them apart.
        has_pairs = 2 * n_mirrored > len(table)
        reads = "passage" in family.sees or ("question" in family.sees and has_pairs)
        kind = CueKind.SHORTCUT if reads else CueKind.ARTIFACT
    id_ = finding_id(name)
    mirrored = n_mirrored if name in ORDER_NAMES[4:] else 0  # of those about the text of options
    if family.context and step.more:
        name += f", and {len(step.more)} more like this"
    elif step.more:
        names = [features.name(j) for j in step.more]
        id_ = "+".join((id_, *map(finding_id, names)))
        fields = [FIELD_NAME.findall(further_name)[0] for further_name in names]
        name += "".join(f', and the field "{field}"' for field in fields)
    if family in (PIECE, WORD_CUE):
        name += _words_of(table.texts, has_it, family, features.values[step.feature])
    is_rank |= bool(step.more)
    direction = "right" if step.z > 0 or is_rank else "wrong"
    answered = np.flatnonzero(covered & (n_hits == n_favoured)).tolist()
    is_of_pool = " used " in name and family.source is not FeatureSource.FIELD
    advice = _ADVICE_OF_POOLS if is_of_pool else _ADVICE[family.source]
    if paper:
        advice += f" (a known cue: {paper})"
    note = ""
    if mirrored:
        note = f"{mirrored:,} questions are mirrored (same options, another gold): keep in one fold"
    with_cue = favoured if is_rank or step.z > 0 else has_it
    if is_rank:
        has_it = np.zeros_like(has_it)
    return Cue(
        kind,
        id_,
        name,
        direction,
        coverage=n / len(table),
        precision=covered_precision,
        accuracy=float(np.where(covered, precision, chance).mean()),
        chance=float(chance.mean()),
        z=abs(step.z) if is_rank else step.z,
        bound=step.bound,
        p=step.p,
        n_questions=n,
        n_with=int(has_it.sum()),
        n_right=int((has_it & right).sum()),
        others=step.others,
        examples=_examples(features, step, with_cue, covered, direction, family),
        ids=tuple(table.questions[i].id for i in answered),
        advice=advice,
        note=note,
    )


def rank_suspects(table: OptionTable, test: ScoreTest) -> tuple[tuple[str, float], ...]:
    """Return the questions that the cues answer, the surest first."""
    if not test.steps:
        return ()
    p = table.sum(np.where(table.right, test.model.p, 0)) / table.n_right
    gain = p - table.n_right / table.sizes
    order = np.argsort(-np.round(gain, 9), kind="stable")
    answered = order[gain[order] > 0].tolist()
    return tuple((table.questions[i].id, float(p[i])) for i in answered)


def _words_of(texts: Sequence[str], has_it: NDArray[np.bool_], family: Family, value: str) -> str:
    """Return the two most frequent words that a piece is in, or that are in a group, in
    brackets.
    """
    piece = rf"[^\s,.;:!?]*{re.escape(value)}[^\s,.;:!?]*"
    word = WORD_CUES[value] if family is WORD_CUE else re.compile(piece)
    words = Counter[str]()
    for i in np.flatnonzero(has_it).tolist():
        words.update(map(str.strip, word.findall(texts[i].lower())))
    most_frequent = sorted(words.items(), key=lambda entry: (-entry[1], entry[0]))[:2]
    return f" ({', '.join(text for text, _ in most_frequent)})" if most_frequent else ""


def favour(table: OptionTable, values: Floats) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], Any]:
    """Return which options have the largest value, and in which questions values differ."""
    largest, smallest = table.largest(values), table.smallest(values)
    return values >= largest[table.question] - 1e-9, largest > smallest + 1e-9


def _examples(
    features: FeatureMatrix,
    step: CueStep,
    has_cue: Any,
    covered: Any,
    direction: str,
    family: Family,
) -> tuple[Example, ...]:
    """Return three options with the cue: two that confirm it, and one that does not, if there is
    one.
    """
    table = features.table
    options = np.flatnonzero(has_cue & covered[table.question])
    agrees = table.right[options] == (direction == "right")
    confirming, contrary = options[agrees].tolist(), options[~agrees].tolist()
    first = [*confirming[:2], *contrary[:1], *confirming[2:3]]
    value = features.values[step.feature] if step.feature < len(features) else ""
    examples = []
    for i in first[:_SHOWN_EXAMPLES]:
        question = table.questions[int(table.question[i])]
        text = table.texts[i]
        if family.sees == {"question"}:
            text = f"{text}: {question.query}"
        else:
            text = mark_cue(text, family, value)
        examples.append(Example(question.id, text, bool(table.right[i])))
    return tuple(examples)


def mark_cue(text: str, family: Family, value: str) -> str:
    """Return a text with its cue in double brackets, shortened around it: They did [[not]] go."""
    pattern = cue_pattern(family, value)
    match = pattern.search(text) if pattern else None
    if match is None:
        return text[:_SHOWN_TEXT]
    start = max(match.start() - _SHOWN_TEXT // 2, 0)
    after = text[match.end() : match.end() + _SHOWN_TEXT // 2]
    marked = f"{text[start : match.start()]}[[{match[0]}]]{after}"
    return f"…{marked}" if start else marked


def cue_pattern(family: Family, value: str) -> re.Pattern[str] | None:
    """Return the pattern of a cue that is a part of the text, else None."""
    if family is WORD_CUE:
        return WORD_CUES[value]
    if family.how == "word":
        pattern = r"\W+".join(rf"\b{re.escape(word)}\b" for word in value.split())
        if "not" in value.split():
            pattern = re.sub(r"\\bnot\\b", r"(?:\\bnot\\b|n['’]t\\b)", pattern)
        return re.compile(pattern, re.IGNORECASE)
    if family is PIECE:
        return re.compile(re.escape(value))
    character = re.match(r'"(.)" ?|U\+([0-9A-F]+)', value)
    if not family.how or character is None:
        return None
    pattern = re.escape(character[1] or chr(int(character[2], 16)))
    ends = {"first": rf"\A{pattern}", "last": rf"{pattern}\Z"}
    return re.compile(ends.get(family.how, pattern))


# Gold order: features that read the gold of other questions


def order_features(table: OptionTable) -> Callable[[NDArray[np.bool_]], OrderFeatures]:
    """Return a function from the right options to the features of :data:`ORDER_NAMES`."""
    text = table.normalised[0]
    repeated = np.flatnonzero((np.bincount(text) > 1)[text])
    text = np.unique(text[repeated], return_inverse=True)[1]
    position, question, starts, sizes = table.position, table.question, table.offsets, table.sizes

    def options_at(places: Integers, later: int, *, around: bool) -> Integers:
        """Return the options at places of the questions before, in questions that have them."""
        question_sizes, start = sizes[later:], starts[later:-1]
        is_inside = (places >= 0) & (places < question_sizes)
        if is_inside.all():
            return start + places
        return start + places % question_sizes if around else (start + places)[is_inside]

    def features(right: NDArray[np.bool_]) -> OrderFeatures:
        first = np.empty(len(table), dtype=np.int64)
        where = np.flatnonzero(right)[::-1]
        first[question[where]] = position[where]
        is_right = right[repeated]
        is_elsewhere = np.bincount(text, is_right)[text] > is_right
        before = first[:-1]
        places = (
            options_at(before, 1, around=False),
            options_at(before + 1, 1, around=True),
            options_at(before - 1, 1, around=True),
            options_at(first[:-2], 2, around=False),
        )
        return OrderFeatures(places, (repeated[is_elsewhere], repeated[~is_elsewhere]))

    return features


def count_mirrored(table: OptionTable) -> int:
    """Return how many questions have the options of another question, but a different right one."""
    text = table.normalised[0]
    golds_by_options: dict[tuple[int, ...], list[frozenset[int]]] = {}
    for start, stop in pairwise(table.offsets.tolist()):
        options = text[start:stop]
        gold = frozenset(options[table.right[start:stop]].tolist())
        golds_by_options.setdefault(tuple(sorted(options.tolist())), []).append(gold)
    if len(golds_by_options) < 3:
        return 0  # all questions have the same options
    return sum(len(golds) for golds in golds_by_options.values() if len({*golds}) > 1)
