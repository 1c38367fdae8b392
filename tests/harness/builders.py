"""Documents of lm-evaluation-harness, made of synthetic questions."""

from __future__ import annotations

from typing import Any

from classic_rc.questions import Dataset


def label_documents(dataset: Dataset) -> list[dict[str, Any]]:
    """Return a document for each option, with its label, as SuperGLUE's MultiRC has them."""
    documents = []
    for number, question in enumerate(dataset):
        texts = {"paragraph": question.passage.text, "question": question.text}
        for option, candidate in enumerate(question.candidates):
            label = int(option in (question.gold or ()))
            place = {"paragraph": 0, "question": number, "answer": option}
            documents.append({**texts, "answer": candidate.text, "label": label, "idx": place})
    return documents
