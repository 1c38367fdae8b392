"""Explanations of the cloze solvers: the best mention or place, and the words that match around it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from classic_rc.kernels.reference.cloze import alignments, best_shift
from classic_rc.kernels.weights import SCALE, inverse_count_weight
from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.placeholder import tokens_before_placeholder

if TYPE_CHECKING:
    from classic_rc.solvers.base import Solver
    from classic_rc.solvers.cloze.distance import ClozeDistance
    from classic_rc.solvers.cloze.window import ClozeWindow


class _Texts(NamedTuple):
    passage: list[str]
    places: list[tuple[int, int]]
    query: list[str]
    placeholder: int

    @classmethod
    def of(cls, solver: Solver, question: Question) -> _Texts:
        analyzer = get_analyzer(solver.analyzer)
        located = analyzer.locate(question.passage.text)
        return cls(
            [token for token, _, _ in located],
            [(start, end) for _, start, end in located],
            analyzer.analyze(question.query),
            int(tokens_before_placeholder([question], analyzer)[0]),
        )


_Marked = tuple[tuple[Mark, ...], dict[str, float]]


def explain_distance(solver: ClozeDistance, question: Question) -> Explanation:
    """Each candidate's best mention, and what every word near its place around it saves of the maximum."""
    texts = _Texts.of(solver, question)
    encoded = solver.encoded([question])
    counted = dict(zip(encoded.vocabulary, solver.counted(encoded).tolist(), strict=True))
    n_words = sum(counted[word] for word in texts.query)

    def marked(candidate: list[str]) -> _Marked:
        mentions = alignments(
            texts.passage,
            texts.query,
            texts.placeholder,
            candidate,
            max_distance=solver.max_distance,
            ignored={word for word, counts in counted.items() if not counts},
            alignment=solver.alignment,
            own_words=solver.own_words,
        )
        if not mentions:
            return (), {"distance": float(solver.max_distance * n_words), "words": float(n_words), "matched": 0.0}
        start, words = min(mentions, key=lambda mention: sum(word.steps for word in mention[1]))
        matched = [word for word in words if word.place is not None]
        saved: dict[int, float] = {}
        for word in matched:
            assert word.place is not None
            saved[word.place] = saved.get(word.place, 0.0) + solver.max_distance - word.steps
        mention = Mark(texts.places[start][0], texts.places[start + len(candidate) - 1][1], "candidate")
        marks = (mention, *(Mark(*texts.places[place], "question", weight) for place, weight in saved.items()))
        distance = float(sum(word.steps for word in words))
        return marks, {"distance": distance, "words": float(len(words)), "matched": float(len(matched))}

    return _explanation(solver, question, marked)


def explain_window(solver: ClozeWindow, question: Question) -> Explanation:
    """Each candidate's best place for the completed query, and the weights of the words that match there."""
    texts = _Texts.of(solver, question)
    encoded = solver.encoded([question])
    weights = solver.word_weights(encoded)
    weigh: dict[Hashable, int]
    if weights is None:
        weigh = {word: inverse_count_weight(texts.passage.count(word)) for word in set(texts.passage)}
    else:
        weigh = dict(zip(encoded.vocabulary, weights.tolist(), strict=True))

    def marked(candidate: list[str]) -> _Marked:
        total, shift = best_shift(
            texts.passage,
            texts.query,
            texts.placeholder,
            candidate,
            anchored=solver.anchored,
            weigh=weigh.__getitem__,
        )
        if not total:
            return (), {"window": 0.0}
        completed = [*texts.query[: texts.placeholder], *candidate, *texts.query[texts.placeholder :]]
        inside = range(max(shift, 0), min(shift + len(completed), len(texts.passage)))
        matched = [place for place in inside if texts.passage[place] == completed[place - shift]]
        filling = range(shift + texts.placeholder, shift + texts.placeholder + len(candidate))

        def marks() -> Iterator[Mark]:
            yield Mark(texts.places[inside[0]][0], texts.places[inside[-1]][1], "window", total / SCALE)
            for place in matched:
                kind = "candidate" if place in filling else "question"
                yield Mark(*texts.places[place], kind, weigh[texts.passage[place]] / SCALE)

        return tuple(marks()), {"window": total / SCALE, "matched": float(len(matched))}

    return _explanation(solver, question, marked)


def _explanation(solver: Solver, question: Question, marked: Callable[[list[str]], _Marked]) -> Explanation:
    """The scores with marks and numbers, which candidates with one text share."""
    analyzer = get_analyzer(solver.analyzer)
    of_text = cache(lambda text: marked(analyzer.analyze(text)))
    plain = Explanation.from_scores(solver.name, question, solver.score_candidates([question]))
    explained = (CandidateExplanation(c.text, c.score, c.evidence, *of_text(c.text)) for c in plain.candidates)
    return Explanation(solver.name, question, tuple(explained))
