"""Examples: questions that one system has wrong and another one right, with both answers and what
explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from classic_rc.kernels.draws import text_keys
from classic_rc.questions import Dataset, Question
from classic_rc.reports.explanations import passage_extract
from classic_rc.reports.verdict import RIGHT, candidate_label, outcomes, verdict_of
from classic_rc.results.comparison import Comparison
from classic_rc.results.outcomes import Row
from classic_rc.running.explain import Explainer
from classic_rc.solvers.explanation import Explanation


def find_examples(
    comparison: Comparison,
    dataset: Dataset,
    explainers: Mapping[tuple[str, str], Callable[[], Explainer]],
    n: int,
) -> Iterator[dict[str, Any]]:
    """Yield, for each pair of systems, `n` questions that the first has wrong and the second right,
    and `n` the other way round.

    Which questions are drawn depends on their ids and the seed of the comparison alone. Systems
    whose metrics are expectations, or means of several runs, have no examples.

    Parameters
    ----------
    comparison : Comparison
    dataset : Dataset
        The questions of the comparison, or more; explainers have the same.
    explainers : mapping
        What makes the explainer of a solver, by the fingerprint of the dataset and its row.
    n : int

    Yields
    ------
    dict
        Plain data, ready for JSON: the two systems, the number of such questions, the question's
        id, and rows of a name, a text and an outcome: the passage, the question, the options or
        accepted texts, both answers, and why solvers give theirs.
    """
    results = comparison.results
    judged_rows = [row for row in results.systems if row.runs == 1 and not row.expected]
    systems = {row.name: row for row in judged_rows}
    judged = {name: outcomes(results, row.statistics)[0] for name, row in systems.items()}
    # By hashes of ids: an example stays whatever other questions the data has, and their order.
    seed = comparison.resampling.seed
    order = np.argsort(text_keys(f"{seed} {question_id}" for question_id in results.ids)).tolist()
    for pair in comparison.pairs:
        names = pair.first, pair.second
        for wrong, right in permutations(names) if systems.keys() >= {*names} else ():
            right_outcomes, wrong_outcomes = judged[right], judged[wrong]
            solved = [i for i in order if right_outcomes[i] == RIGHT != wrong_outcomes[i]]
            for i in solved[:n]:
                place = [*dataset.by_id].index(results.ids[i])
                question, explanations = dataset[place], dict[str, Explanation]()
                for name in reversed(names):  # the evidence of the second one, the baseline, first
                    if make := explainers.get((results.fingerprint, name)):
                        (explanations[name],) = make().each([place])
                extract = passage_extract(question.passage, *explanations.values())
                rows = [("passage", extract, ""), ("question", question.text, "")]
                rows += _option_rows(question)
                for name in names:
                    answer = _answer_text(question, systems[name], i)
                    rows.append((name, answer, judged[name][i]))
                for name, explanation in explanations.items():
                    rows.append((f"why {name}", verdict_of(explanation).sentence, ""))
                yield {
                    "wrong": wrong,
                    "right": right,
                    "questions": len(solved),
                    "question_id": question.id,
                    "rows": rows,
                }


def _option_rows(question: Question) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the options, or of the accepted texts of a question without options."""
    gold = question.gold or ()
    if not question.task.has_choices:
        for text in gold:
            yield "gold", str(text), RIGHT
    else:
        for i, candidate in enumerate(question.candidates):
            yield candidate_label(i), candidate.text, RIGHT if i in gold else ""


def _answer_text(question: Question, row: Row, i: int) -> str:
    """Return the answer of a row to the question at position `i`."""
    answer = row.outcomes.answers[i] or ()
    if question.task.has_choices:
        answer = [f"{candidate_label(k)} {question.candidates[k].text}" for k in answer]
    text = " + ".join(answer) or "no answer"
    n_tied = row.outcomes.n_tied[i]
    return f"{text} (one of {n_tied} tied)" if n_tied > 1 else text
