"""The reader of Belebele: the same questions in 122 languages, one file for each."""

from __future__ import annotations

import re
from typing import ClassVar

from classic_rc.datasets.schema import Schema, SchemaReader, convert_fields, read_gold, required_keys
from classic_rc.io.archives import InputFile, InputFiles

_ANSWERS = tuple(f"mc_answer{number}" for number in range(1, 5))
_LANGUAGE = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")  # a code of FLORES-200


BELEBELE = Schema(
    "Belebele",
    required_keys("link", "question_number", "flores_passage", "question", *_ANSWERS, "dialect"),
    convert_fields(
        lambda row, number, split: f"{row.text('dialect')}-{number}",
        passage="flores_passage",
        question="question",
        candidates=lambda row: [row.text(key) for key in _ANSWERS],
        gold=lambda row: read_gold(row, "correct_answer_num", _ANSWERS, "index1"),
        meta=lambda row: {
            "language": row.text("dialect"),
            "link": row.text("link"),
            "question_number": row.name("question_number"),
        },
    ),
)


class BelebeleReader(SchemaReader):
    """Belebele's files, one for each language: JSON lines, or a table of the same columns.

    ``correct_answer_num`` counts from 1. A question's id is the language and the position in the file, from 0
    (``eng_Latn-12``), because neither ``link`` nor a passage is unique. ``meta`` has ``language``, ``link`` and
    ``question_number``. In a folder, or in the authors' archive, ``subset`` chooses the language.
    """

    name: ClassVar[str] = "belebele"
    title: ClassVar[str] = "Belebele"
    description: ClassVar[str] = "Four-option questions in 122 languages: JSON lines or a table for each language."
    citation: ClassVar[str] = (
        "Bandarkar, Liang, Muller, Artetxe, Shukla, Husa, Goyal, Krishnan, Zettlemoyer and Khabsa 2024, The "
        "Belebele Benchmark: a Parallel Reading Comprehension Dataset in 122 Language Variants, ACL"
    )
    cites = ("bandarkar2024",)
    takes: ClassVar[frozenset[str]] = frozenset({"subset"})
    schemas: ClassVar[tuple[Schema, ...]] = (BELEBELE,)
    takes_tables: ClassVar[bool] = True

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file's name gives; ``test``, the only one of Belebele, without one."""
        return super().split_of(file) or "test"

    def subset_of(self, file: InputFile) -> str | None:
        """Return the language in the file's name, or None."""
        found = _LANGUAGE.search(file.stem)
        return found.group() if found else None

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return ``belebele.eng_Latn`` for a file of one language."""
        language = self.subset_of(files[0]) if len(files) == 1 else subset
        return f"{self.name}.{language}" if language else super().dataset_name(source, files, split, subset)
