"""The reader of Cosmos QA: everyday narratives with four-option questions."""

from __future__ import annotations

from typing import ClassVar

from classic_rc.datasets.schema import Schema, SchemaReader, convert_fields, read_gold, required_keys

_ANSWERS = tuple(f"answer{number}" for number in range(4))


COSMOS_QA = Schema(
    "Cosmos QA",
    required_keys("id", "context", "question", *_ANSWERS),
    convert_fields(
        "id",
        passage="context",
        question="question",
        candidates=lambda row: [row.text(key) for key in _ANSWERS],
        gold=lambda row: read_gold(row, "label", _ANSWERS, "index0"),
    ),
)


class CosmosQAReader(SchemaReader):
    """Cosmos QA's CSV (``train.csv``, ``valid.csv``), and rows of the same keys as JSON lines (``test.jsonl``).

    ``label`` counts from 0; gold is hidden if it is missing, empty or -1. "None of the above choices ." is an
    option like others.
    """

    name: ClassVar[str] = "cosmosqa"
    title: ClassVar[str] = "Cosmos QA"
    description: ClassVar[str] = "Everyday narratives with four-option questions: CSV, or JSON lines."
    citation: ClassVar[str] = (
        "Huang, Le Bras, Bhagavatula and Choi 2019, Cosmos QA: Machine Reading Comprehension with Contextual "
        "Commonsense Reasoning, EMNLP"
    )
    cites = ("huang2019",)
    schemas: ClassVar[tuple[Schema, ...]] = (COSMOS_QA,)
    takes_tables: ClassVar[bool] = True
