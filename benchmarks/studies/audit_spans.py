"""Cues planted in span data, and false alarms: span data whose gold is drawn anew.

Half of the questions of SQuAD dev are moved to a passage that does not have their answer: these are
unanswerable. A plant is named if the first finding matches its pattern. The nulls draw what one
view asks: which questions are unanswerable, the sentence of the answer, or the span among the
candidates. An alarm is any finding of that view.

Run ``python -m benchmarks.studies.audit_spans [PATH in SQuAD's form] [--draws N] [--questions N]``.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import classic_rc
from benchmarks import DATA
from classic_rc.commands.check import check_dataset
from classic_rc.commands.check.span_views import View, gold_places, make_views
from classic_rc.questions import Dataset, Passage, Question
from classic_rc.text.languages import dataset_language
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.spans import SpanGenerator

_SQUAD = DATA / "squad" / "dev-397-passages.json"
Questions = list[Question]
Change = Callable[[Sequence[Question], random.Random], Questions]


def move_half(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Make half of the questions unanswerable: they ask about a passage without their answer."""
    passages = list({id(q.passage): q.passage for q in questions}.values())
    return [q if rng.random() < 0.5 else _move(q, passages, rng) for q in questions]


def _move(question: Question, passages: Sequence[Passage], rng: random.Random) -> Question:
    while True:
        passage = rng.choice(passages)
        if not any(text in passage.text for text in question.gold_texts):
            return replace(question, passage=passage, gold=("",), meta={"is_impossible": True})


def insert_green(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Insert "the green" in all unanswerable questions."""
    changed = []
    for q in move_half(questions, rng):
        words = q.text.split()
        words.insert(rng.randrange(1, len(words)), "the green")
        changed.append(replace(q, text=" ".join(words)) if q.gold == ("",) else q)
    return changed


def keep_first_sentence(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Keep the questions whose answer is in the first sentence."""
    return [
        q
        for q in questions
        if (places := gold_places(q)) and places[0][1] <= passage_sentences(q.passage)[0][1]
    ]


def quote_answers(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Put the answers into quotes in their passages."""
    return _surround(questions, '"', '"')


def bracket_answers(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Put the answers into brackets in their passages."""
    return _surround(questions, "[", "]")


def _surround(questions: Sequence[Question], opening: str, closing: str) -> Questions:
    """Surround the first answer of the first question about each passage; drop the others."""
    changed, known = [], set()
    for q in questions:
        places = gold_places(q)
        if id(q.passage) in known or not places:
            continue
        known.add(id(q.passage))
        start, end = places[0]
        text = q.passage.text
        marked = f"{text[:start]}{opening}{text[start:end]}{closing}{text[end:]}"
        passage = replace(q.passage, text=marked)
        meta = {"spans": ((start + 1, end + 1),)}
        changed.append(replace(q, passage=passage, gold=(text[start:end],), meta=meta))
    return changed


PLANTS: dict[str, tuple[str, Change]] = {
    '"the green" in unanswerable questions': ('unanswerable .*"the green"', insert_green),
    "answers in the first sentence": ("in the first sentence", keep_first_sentence),
    "answers in quotes": ("(between|after|before).*quote", quote_answers),
    "answers in brackets": ("(between|after|before).*bracket", bracket_answers),
}


def draw_answerability(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Draw which questions are unanswerable; their texts and passages stay."""
    return [
        replace(q, gold=("",), meta={"is_impossible": True}) if rng.random() < 0.5 else q
        for q in questions
    ]


def draw_sentences(questions: Sequence[Question], rng: random.Random) -> Questions:
    """Draw the sentence of each answer, which is the whole sentence."""
    return [_with_gold(q, rng.choice(passage_sentences(q.passage))) for q in questions]


class SpanDraw:
    """Draws each answer from the candidate spans of its passage."""

    def __init__(self, questions: Sequence[Question]) -> None:
        generate = SpanGenerator.of_language(dataset_language(questions))
        self._spans = {id(q.passage): generate(q.passage) for q in questions}

    def __call__(self, questions: Sequence[Question], rng: random.Random) -> Questions:
        """Return the questions with drawn gold."""
        drawn = []
        for q in questions:
            spans = self._spans[id(q.passage)]
            i = rng.randrange(len(spans))
            drawn.append(_with_gold(q, (int(spans.starts[i]), int(spans.ends[i]))))
        return drawn


def _with_gold(question: Question, place: tuple[int, int]) -> Question:
    text = question.passage.text[slice(*place)]
    return replace(question, gold=(text,), meta={"spans": (place,)})


def find_alarms(questions: Questions, about: Sequence[str], seed: int) -> list[str]:
    """Return the findings of some views."""
    data = Dataset(questions, "null")
    alarms = []
    for view in make_views(data, dataset_language(data).analyzer):
        if isinstance(view, View) and view.about in about:
            alarms += [f"{cue.sentence} z {cue.z:.2f}" for cue in view.search(seed=seed).cues]
    return alarms


def main(arguments: list[str] | None = None) -> None:
    """Print the first finding of each plant, then each alarm and the counts."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.audit_spans", description=__doc__
    )
    parser.add_argument("path", nargs="?", type=Path, default=_SQUAD)
    parser.add_argument("--draws", type=int, default=100, help="of each null (default 100)")
    parser.add_argument("--questions", type=int, default=300, help="of nulls (default 300)")
    args = parser.parse_args(arguments)
    questions = list(classic_rc.load(args.path))
    for name, (pattern, change) in PLANTS.items():
        data = Dataset(change(questions, random.Random(7)), name)
        cues = check_dataset(data, header=False, duplicates=False).cues
        first = f"{cues[0].kind}: {cues[0].sentence}" if cues else "nothing"
        print(f"{'yes' if re.search(pattern, first) else 'NO '}  {name}: {first}", flush=True)
    part = questions[: args.questions]
    nulls: dict[str, tuple[tuple[str, ...], Change]] = {
        "answerability drawn": (("answerable",), draw_answerability),
        "sentence drawn": (("sentence",), draw_sentences),
        "span drawn": (("span", "length and type"), SpanDraw(part)),
    }
    for name, (about, change) in nulls.items():
        count = 0
        for seed in range(args.draws):
            alarms = find_alarms(change(part, random.Random(seed)), about, seed)
            count += bool(alarms)
            if alarms:
                print(f"{name}, draw {seed}: {'; '.join(alarms)}", flush=True)
        print(f"{name}: {count} alarms in {args.draws} draws", flush=True)


if __name__ == "__main__":
    main()
