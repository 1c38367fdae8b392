"""Annotations of datasets: files that say of each text its tokens, lemmas, tags, sentences, chunks and coreference.

The format is described in ``docs/lexical.md``; :mod:`classic_rc.text.corenlp` reads another.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classic_rc.errors import DataError
from classic_rc.files.decoding import decode
from classic_rc.files.nodes import Node, describe
from classic_rc.files.strict_json import parse_json
from classic_rc.files.writing import write_file
from classic_rc.questions import Candidate, Question
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText
from classic_rc.text.annotation_json import FORMAT, parse_annotations, plain_annotations
from classic_rc.text.corenlp import corenlp_annotations

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, eq=False)
class Annotations:
    """The annotation of passages, and of questions with their candidates, by id.

    Parameters
    ----------
    passages : mapping of str to AnnotatedText
    questions : mapping of str to AnnotatedQuestion
    source : str
        What messages call them: the file.
    sha256 : str
        Of the file's content, unpacked; empty where they were not read from a file.
    """

    passages: Mapping[str, AnnotatedText]
    questions: Mapping[str, AnnotatedQuestion]
    source: str = "annotations"
    sha256: str = ""

    @property
    def signature(self) -> str:
        """The file's name and content, wherever it lies."""
        return f"{Path(self.source).name}@{self.sha256[:8]}"

    @property
    def has_negation(self) -> bool:
        """Whether all questions are said to be negated or not."""
        return all(question.negated is not None for question in self.questions.values())

    @property
    def has_categories(self) -> bool:
        """Whether any question has a category."""
        return any(question.categories for question in self.questions.values())

    def passage_of(self, question: Question) -> AnnotatedText:
        """The annotation of a question's passage.

        Raises
        ------
        DataError
            There is none, or it is one of another text.
        """
        passage = question.passage
        if passage.id not in self.passages:
            raise self._missing(question, f"passage {passage.id}", list(self.passages))
        return self._fitting(self.passages[passage.id], passage.text, question, f"passage {passage.id}")

    def question_of(self, question: Question) -> AnnotatedQuestion:
        """The annotation of a question and its candidates.

        Raises
        ------
        DataError
            There is none, or it is one of other texts or of another number of candidates.
        """
        if question.id not in self.questions:
            raise self._missing(question, "the question", list(self.questions))
        annotated = self.questions[question.id]
        self._fitting(annotated.text, question.text, question, "the question")
        if len(annotated.candidates) != len(question.candidates):
            raise DataError(
                "annotated with another number of candidates",
                source=self.source,
                where=f"question {question.id}",
                found=str(len(annotated.candidates)),
                expected=str(len(question.candidates)),
            )
        candidate: Candidate
        for i, (own, candidate) in enumerate(zip(annotated.candidates, question.candidates, strict=True)):
            self._fitting(own, candidate.text, question, f"candidate {i}")
        return annotated

    def save(self, path: str | Path) -> None:
        """Write the documented JSON, compressed where `path` ends in ``.gz``; the same annotations, the same bytes.

        Raises
        ------
        UsageError
            The system does not allow it.
        """
        plain = plain_annotations(self.passages, self.questions)
        data = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        write_file(Path(path), gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)

    @classmethod
    def load(cls, path: str | Path) -> Annotations:
        """What :func:`read_annotations` reads."""
        return read_annotations(path)

    def _missing(self, question: Question, what: str, known: list[str]) -> DataError:
        shown = f"such as {known[0]!r}" if known else "none"
        return DataError(
            f"no annotation of {what}",
            source=self.source,
            where=f"question {question.id}",
            found=f"{len(known)} ids, {shown}",
            hint="Give the file that annotates this dataset",
        )

    def _fitting(self, annotated: AnnotatedText, text: str, question: Question, what: str) -> AnnotatedText:
        if annotated.fits(text):
            return annotated
        raise DataError(
            f"the annotation of {what} is one of another text",
            source=self.source,
            where=f"question {question.id}",
            found=describe(" ".join(annotated.tokens)),
            expected=describe(text),
            hint="Annotate the dataset's own texts",
        )


def read_annotations(path: str | Path) -> Annotations:
    """Read a file of annotations: the package's own JSON, or the CoreNLP JSON of Smith et al. 2015.

    The content tells which of them it is, and whether it is packed by gzip. Passages of the latter have no ids:
    those of ``mc160.dev.corenlp.json.gz`` are taken to be ``mc160.dev.0`` and so on, as the MCTest reader has them.

    Raises
    ------
    DataError
        The file is missing or malformed, with the place.
    """
    source = str(path)
    data = _read(source)
    root = Node(parse_json(decode(data, source), source), source)
    if isinstance(root.value, list):
        passages, questions = corenlp_annotations(root, Path(path).name.partition(".corenlp")[0])
    elif root.has("format") and root.value["format"] == FORMAT:
        passages, questions = parse_annotations(root)
    else:
        raise root.error(
            "not a file of annotations",
            found=describe(root.value),
            expected=f"an object with the format {FORMAT!r}, or the list of stories of Smith et al. 2015",
        )
    return Annotations(passages, questions, source, hashlib.sha256(data).hexdigest())


def _read(source: str) -> bytes:
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=source) from None
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the file cannot be unpacked ({error})", source=source) from None
