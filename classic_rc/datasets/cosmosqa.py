"""The reader of Cosmos QA: everyday narratives with four-option questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reading
from classic_rc.datasets.schema import Schema, SchemaReader, decode_index, make_row, required_keys
from classic_rc.io.json import Node
from classic_rc.questions import Task

_ANSWERS = tuple(f"answer{number}" for number in range(4))


def _convert(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    for node in rows:
        with reading.at(node):
            yield make_row(
                node,
                id=node.name("id"),
                passage=node.text("context"),
                question=node.text("question"),
                candidates=[node.text(key) for key in _ANSWERS],
                gold=decode_index(node, "label", len(_ANSWERS)),
                task=Task.SINGLE_CHOICE.value,
            )


COSMOS_QA = Schema("Cosmos QA", required_keys("id", "context", "question", *_ANSWERS), _convert)


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
