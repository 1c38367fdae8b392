"""Sample logs as lm-evaluation-harness writes them, built for the tests; the texts are invented."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TEXTS = (
    "Mira keeps bees on the roof. In June she sells the honey at the school.",
    "The ferry to Holm leaves at nine. On Sundays it stays in the harbour.",
    "Otto lost his key in the snow and climbed through the kitchen window.",
    "The museum is closed on Mondays, but its garden is always open.",
)
QUESTIONS = (
    ("Where are the bees?", ("on the roof", "in the snow", "at the school", "in the harbour")),
    ("When does the ferry stay?", ("on Mondays", "on Sundays", "in June", "at nine")),
    ("How did Otto come in?", ("by the door", "with a key", "through the window", "he did not")),
    ("What is always open?", ("the museum", "the school", "the ferry", "the garden")),
)
GOLD = (0, 1, 2, 3)


def choice_row(
    doc_id: int,
    doc: Mapping[str, Any],
    continuations: Sequence[str],
    values: Sequence[float],
    target: Any,
    *,
    context: str = "prompt",
    **more: Any,
) -> dict[str, Any]:
    """Return the row of a multiple-choice task, with the strings that the harness makes of all
    values.
    """
    responses = [[str(value), "False"] for value in values]
    best = list(values).index(max(values))
    return {
        "doc_id": doc_id,
        "doc": dict(doc),
        "target": str(target),
        "arguments": {
            f"gen_args_{i}": {"arg_0": context, "arg_1": text}
            for i, text in enumerate(continuations)
        },
        "resps": [[response] for response in responses],
        "filtered_resps": responses,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "0" * 64,
        "acc": float(str(best) == str(target)),
        **more,
    }


def text_row(
    doc_id: int, doc: Mapping[str, Any], answer: str, target: Any, **more: Any
) -> dict[str, Any]:
    """Return the row of a task whose answers are generated."""
    return {
        "doc_id": doc_id,
        "doc": dict(doc),
        "target": target,
        "arguments": {
            "gen_args_0": {"arg_0": "prompt", "arg_1": {"until": ["\n"], "do_sample": False}}
        },
        "resps": [[f" {answer} and more"]],
        "filtered_resps": [answer],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": float(answer == str(target).strip()),
        **more,
    }


def belebele_docs() -> list[dict[str, Any]]:
    """Return documents in the fields of Belebele."""
    return [
        {
            "flores_passage": text,
            "question": question,
            **{f"mc_answer{i + 1}": option for i, option in enumerate(options)},
            "correct_answer_num": str(gold + 1),
        }
        for text, (question, options), gold in zip(TEXTS, QUESTIONS, GOLD, strict=True)
    ]


def belebele_rows(values: Sequence[Sequence[float]], **more: Any) -> list[dict[str, Any]]:
    """Return rows with letters as continuations and these log-likelihoods."""
    letters = [" A", " B", " C", " D"]
    return [
        choice_row(i, doc, letters, of_doc, GOLD[i], **more)
        for i, (doc, of_doc) in enumerate(zip(belebele_docs(), values, strict=True))
    ]


def multirc_rows(
    labels: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
) -> list[dict[str, Any]]:
    """Return a row for each option: its label, and the label that the model finds more likely."""
    rows: list[dict[str, Any]] = []
    for i, (question_labels, question_answers) in enumerate(zip(labels, answers, strict=True)):
        question, options = QUESTIONS[i]
        for j, (label, answer) in enumerate(zip(question_labels, question_answers, strict=True)):
            doc = {
                "paragraph": TEXTS[i],
                "question": question,
                "answer": options[j],
                "idx": {"paragraph": i, "question": 7, "answer": len(rows)},
                "label": label,
            }
            texts = [f" {options[j]}\nIs the answer correct? {word}" for word in ("yes", "no")]
            rows.append(
                choice_row(len(rows), doc, texts, (-1.0, -0.5) if answer else (-0.5, -1.0), label)
            )
    return rows


def write_log(
    folder: Path, rows: Sequence[Mapping[str, Any]], task: str = "made", results: Any = None
) -> Path:
    """Write a log with the harness's name for it, and the results file beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_2026-01-02T03-04-05.678901.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if results is not None:
        name = folder / "results_2026-01-02T03-04-05.678901.json"
        name.write_text(json.dumps(results), encoding="utf-8")
    return path
