"""Reads and writes annotations: the package's own JSON (``docs/lexical.md``), CoreNLP's,
question categories.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError
from classic_rc.io.files import gzip_bytes, read_unpacked, sha256_of_bytes, sha256_of_text
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import decode_text, read_text, write_file
from classic_rc.questions import Candidate, Question
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText, Chain

ANNOTATION_FORMAT = "classic_rc annotations"
ANNOTATION_VERSION = 1


_TEXT_KEYS = (
    *("tokens", "lemmas", "places", "sentences", "chains"),
    *("text", "sha256", "complete", "unfiltered_sentences"),
)
_QUESTION_KEYS = (*_TEXT_KEYS, "candidates", "negated", "categories")


def parse_annotations(root: Node) -> tuple[dict[str, AnnotatedText], dict[str, AnnotatedQuestion]]:
    """Parse the passages and the questions of a file, each by id."""
    _check_keys(root, ("format", "version", "passages", "questions"))
    if root.integer("version") != ANNOTATION_VERSION:
        raise root.error(
            "unknown version", field="version", found=str(root.value["version"]), expected="1"
        )
    passages, questions = root.child("passages"), root.child("questions")
    for section in (passages, questions):
        if not isinstance(section.value, dict):
            raise section.error(
                "wrong type",
                found=describe_value(section.value),
                expected="an object with ids as keys",
            )
    texts = {id: _parse_text(passages.child(id), _TEXT_KEYS) for id in passages.value}
    return texts, {id: _parse_question(questions.child(id)) for id in questions.value}


def _check_keys(node: Node, fields: tuple[str, ...]) -> None:
    if not isinstance(node.value, dict):
        raise node.error("wrong type", found=describe_value(node.value), expected="an object")
    for key in node.value:
        if key not in fields:
            raise node.error("unknown field", field=key, expected=f"one of {', '.join(fields)}")


def _parse_question(node: Node) -> AnnotatedQuestion:
    text = _parse_text(node, _QUESTION_KEYS)
    candidates = tuple(_parse_text(candidate, _TEXT_KEYS) for candidate in node.items("candidates"))
    negated = node.flag("negated") if node.has("negated") else None
    categories = node.texts("categories") if node.has("categories") else ()
    return AnnotatedQuestion(text, candidates, negated, frozenset(categories))


def _parse_text(node: Node, keys: tuple[str, ...]) -> AnnotatedText:
    _check_keys(node, keys)
    tokens = tuple(node.texts("tokens"))
    if "" in tokens:
        raise node.error(
            "a token is empty", field="tokens", found=f"'' at index {tokens.index('')}"
        )
    complete = node.flag("complete") if node.has("complete") else True
    sha256 = node.text("sha256") if node.has("sha256") else None
    if node.has("text"):
        computed = sha256_of_text(node.text("text"))
        if sha256 not in (None, computed):
            problem = "not the sha256 of the field 'text'"
            raise node.error(
                problem, field="sha256", found=describe_value(sha256), expected=computed
            )
        sha256 = computed
    n = len(tokens)
    lemmas = places = chains = None
    if node.has("lemmas"):
        lemmas = tuple(node.texts("lemmas"))
    if node.has("places"):
        places = tuple(_parse_span(place, None) for place in node.items("places"))
    for key, values in (("lemmas", lemmas), ("places", places)):
        if values is not None and len(values) != n and (complete or key != "lemmas"):
            raise node.error(
                "wrong length", field=key, found=str(len(values)), expected=f"{n}, one per token"
            )
    sentences = _parse_sentences(node, "sentences", n)
    if node.has("chains"):
        chains = tuple(_parse_chain(chain, n) for chain in node.items("chains"))
    return AnnotatedText(
        tokens,
        lemmas=lemmas,
        places=places,
        sentences=sentences,
        chains=chains,
        sha256=sha256,
        complete=complete,
        unfiltered_sentences=_parse_sentences(node, "unfiltered_sentences", None),
    )


def _parse_sentences(node: Node, key: str, n: int | None) -> tuple[int, ...] | None:
    return _read_starts(node, key, n) if node.has(key) else None


def _read_starts(node: Node, key: str, n: int | None) -> tuple[int, ...]:
    starts = tuple(node.integers(key))
    ends = (*starts[1:], *(() if n is None else (max(n, 1),)))
    if starts[:1] not in ((0,), ()) or any(b <= a for a, b in zip(starts, ends, strict=False)):
        expected = "ascending token indices that begin with 0" + (
            "" if n is None else f", below {n}"
        )
        raise node.error(
            "invalid sentence starts", field=key, found=_format_numbers(starts), expected=expected
        )
    return starts


def _format_numbers(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "")


def _parse_chain(node: Node, n: int) -> Chain:
    _check_keys(node, ("mentions", "representative", "words"))
    mentions = tuple(_parse_span(mention, n) for mention in node.items("mentions"))
    if node.has("representative") == node.has("words"):
        raise node.error(
            "a chain needs its representative mention, as an index or as words",
            found="both" if node.has("words") else "neither",
            expected="either 'representative' or 'words'",
        )
    if node.has("words"):
        return Chain(mentions, words=tuple(node.texts("words")))
    representative = node.integer("representative")
    if not 0 <= representative < len(mentions):
        expected = f"an index below {len(mentions)}, the number of mentions"
        raise node.error(
            "no such mention", field="representative", found=str(representative), expected=expected
        )
    return Chain(mentions, representative)


def _parse_span(node: Node, n: int | None) -> tuple[int, int]:
    start, end = node.integer(0), node.integer(1)
    if not 0 <= start <= end or (n is not None and not start < end <= n):
        expected = (
            "0 <= start <= end" if n is None else f"0 <= start < end <= {n}, the number of tokens"
        )
        raise node.error("invalid range", found=f"{start} to {end}", expected=expected)
    return start, end


def annotations_to_json(
    passages: Mapping[str, AnnotatedText], questions: Mapping[str, AnnotatedQuestion]
) -> dict[str, Any]:
    """Return the JSON form that :func:`parse_annotations` reads back."""
    return {
        "format": ANNOTATION_FORMAT,
        "version": ANNOTATION_VERSION,
        "passages": {id: _plain_text(text) for id, text in passages.items()},
        "questions": {id: _plain_question(question) for id, question in questions.items()},
    }


def _plain_text(text: AnnotatedText) -> dict[str, Any]:
    layers = ("lemmas", "places", "sentences", "sha256", "unfiltered_sentences")
    plain: dict[str, Any] = {"tokens": text.tokens}
    plain |= _without_none({key: getattr(text, key) for key in layers})
    if text.chains is not None:
        plain["chains"] = [_without_none(chain._asdict()) for chain in text.chains]
    return plain if text.complete else {**plain, "complete": False}


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _plain_question(question: AnnotatedQuestion) -> dict[str, Any]:
    plain = _plain_text(question.text) | {
        "candidates": [_plain_text(candidate) for candidate in question.candidates]
    }
    if question.negated is not None:
        plain["negated"] = question.negated
    if question.categories:
        plain["categories"] = sorted(question.categories)
    return plain


def parse_corenlp_annotations(
    root: Node, name: str
) -> tuple[dict[str, AnnotatedText], dict[str, AnnotatedQuestion]]:
    """Parse the CoreNLP file of Smith et al. 2015, with the ids that the MCTest reader gives to the
    dataset `name`.

    The file is a list of stories. Each story has its tokens, lower-cased and without punctuation;
    the index of the first token of each sentence, counted with punctuation; and for each token its
    lemma, the words of the representative mention if the token begins a mention of a coreference
    chain (``subcoref`` if it continues one), and whether each question and each candidate has its
    form and its lemma. Two limits follow:

    * The file does not have the texts of questions and candidates. It has only the forms and the
      lemmas that they share with the story (``complete=False``).
    * The file does not tell chains apart. Each mention becomes a chain with the words of its
      representative.
    """
    passages, questions = {}, {}
    for i, story in enumerate(root.elements()):
        tokens = [_CoreNLPToken(node) for node in story.items("tokens")]
        words = tuple(token.word for token in tokens)
        lemmas = tuple(token.lemma for token in tokens)
        passages[f"{name}.{i}"] = AnnotatedText(
            words,
            lemmas,
            chains=tuple(_corenlp_chains(tokens)),
            unfiltered_sentences=_read_starts(story, "sentenceoffsets", None),
        )
        has_negated = bool(story.sequence("negativeqs"))
        for j, lengths in enumerate(story.items("qalengths")):
            text = _shared_words(tokens, j, None)
            n_candidates = len(lengths.sequence("answers"))
            candidates = tuple(_shared_words(tokens, j, k) for k in range(n_candidates))
            negated = story.child("negativeqs").flag(j) if has_negated else None
            questions[f"{name}.{i},{j}"] = AnnotatedQuestion(text, candidates, negated)
    return passages, questions


class _CoreNLPToken:
    """A token of a story: its form and lemma, and which questions and candidates have them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.word = _parse_word(node.child("token"))
        self.lemma = _parse_word(node.child("lemma"))
        self.continues_mention = bool(node.integer("subcoref"))
        self.representative_words = tuple(_parse_word(word) for word in node.items("coreference"))
        matches = node.child("matches")
        self._of_questions = {form: matches.child(f"q{form}") for form in ("token", "lemma")}
        self._of_candidates = {form: matches.child(f"a{form}") for form in ("token", "lemma")}

    def matches(self, form: str, question: int, candidate: int | None) -> bool:
        """Return whether a question, or one of its candidates, has this token's form or lemma."""
        if candidate is None:
            return bool(self._of_questions[form].integer(question))
        return bool(self._of_candidates[form].child(question).integer(candidate))


def _parse_word(node: Node) -> str:
    word = node.text("word")
    if not word:
        raise node.error("the word is empty", field="word", found="''")
    return word


def _shared_words(
    tokens: Sequence[_CoreNLPToken], question: int, candidate: int | None
) -> AnnotatedText:
    """Return the forms and lemmas that a question or a candidate shares with its story."""
    shared: Mapping[str, dict[str, bool]] = {"token": {}, "lemma": {}}
    for token in tokens:
        for form, word in (("token", token.word), ("lemma", token.lemma)):
            is_match = token.matches(form, question, candidate)
            if shared[form].setdefault(word, is_match) is not is_match:
                raise token.node.error(
                    "a word matches in one place of the story but not in another",
                    field="matches",
                    found=f"{describe_value(word)} in question {question}",
                )
    words = tuple(word for word, is_match in shared["token"].items() if is_match)
    lemmas = tuple(lemma for lemma, is_match in shared["lemma"].items() if is_match)
    return AnnotatedText(words, lemmas, complete=False)


def _corenlp_chains(tokens: Sequence[_CoreNLPToken]) -> Iterator[Chain]:
    for start, token in enumerate(tokens):
        if token.representative_words:
            end = start + 1
            while end < len(tokens) and tokens[end].continues_mention:
                end += 1
            yield Chain(((start, end),), words=token.representative_words)


@dataclass(frozen=True, eq=False)
class Annotations:
    """The annotations of passages and of questions with their candidates, by id.

    Parameters
    ----------
    passages : mapping of str to AnnotatedText
    questions : mapping of str to AnnotatedQuestion
    source : str
        The file, as error messages name it.
    sha256 : str
        Hash of the file's unpacked content; empty if the annotations were not read from a file.
    """

    passages: Mapping[str, AnnotatedText]
    questions: Mapping[str, AnnotatedQuestion]
    source: str = "annotations"
    sha256: str = ""

    @property
    def signature(self) -> str:
        """The file's name and content hash, without its folder."""
        return f"{Path(self.source).name}@{self.sha256[:8]}"

    @property
    def has_negation(self) -> bool:
        """Whether every question is marked as negated or not negated."""
        return all(question.negated is not None for question in self.questions.values())

    @property
    def has_categories(self) -> bool:
        """Whether any question has a category."""
        return any(question.categories for question in self.questions.values())

    def passage_of(self, question: Question) -> AnnotatedText:
        """Return the annotation of a question's passage.

        Raises
        ------
        DataError
            There is none, or it does not match the text.
        """
        passage = question.passage
        if passage.id not in self.passages:
            raise self._missing(question, f"passage {passage.id}", list(self.passages))
        return self._fitting(
            self.passages[passage.id], passage.text, question, f"passage {passage.id}"
        )

    def question_of(self, question: Question) -> AnnotatedQuestion:
        """Return the annotation of a question and its candidates.

        Raises
        ------
        DataError
            There is none, or it does not match the texts or the number of candidates.
        """
        if question.id not in self.questions:
            raise self._missing(question, "the question", list(self.questions))
        annotated = self.questions[question.id]
        self._fitting(annotated.text, question.text, question, "the question")
        if len(annotated.candidates) != len(question.candidates):
            raise DataError(
                "wrong number of annotated candidates",
                source=self.source,
                where=f"question {question.id}",
                found=str(len(annotated.candidates)),
                expected=str(len(question.candidates)),
            )
        candidate: Candidate
        for i, (annotation, candidate) in enumerate(
            zip(annotated.candidates, question.candidates, strict=True)
        ):
            self._fitting(annotation, candidate.text, question, f"candidate {i}")
        return annotated

    def save(self, path: str | Path) -> None:
        """Write the JSON form, compressed if `path` ends in ``.gz``; equal annotations give equal
        bytes.

        Raises
        ------
        UsageError
            The operating system refuses the write.
        """
        plain = annotations_to_json(self.passages, self.questions)
        data = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        write_file(Path(path), gzip_bytes(data) if str(path).endswith(".gz") else data)

    def _missing(self, question: Question, what: str, annotated_ids: list[str]) -> DataError:
        actual = "no ids"
        if annotated_ids:
            actual = f"{len(annotated_ids)} ids, such as {annotated_ids[0]!r}"
        return DataError(
            f"no annotation of {what}",
            source=self.source,
            where=f"question {question.id}",
            found=actual,
            hint="Use the annotation file of this dataset",
        )

    def _fitting(
        self, annotated: AnnotatedText, text: str, question: Question, what: str
    ) -> AnnotatedText:
        if annotated.fits(text):
            return annotated
        raise DataError(
            f"the annotation of {what} does not match its text",
            source=self.source,
            where=f"question {question.id}",
            found=describe_value(" ".join(annotated.tokens)),
            expected=describe_value(text),
            hint="Annotate the texts of this dataset",
        )


def read_annotations(path: str | Path) -> Annotations:
    """Read a file of annotations: the package's own JSON, or the CoreNLP JSON of Smith et al. 2015.

    The content decides which of the two it is, and whether it is gzipped. CoreNLP passages have no
    ids: in ``mc160.dev.corenlp.json.gz`` they become ``mc160.dev.0`` and so on, as in the MCTest
    reader.

    Raises
    ------
    DataError
        The file is missing or malformed; the message names the place.
    """
    source = str(path)
    data = read_unpacked(source)
    root = Node(parse_json(decode_text(data, source), source), source)
    if isinstance(root.value, list):
        passages, questions = parse_corenlp_annotations(
            root, Path(path).name.partition(".corenlp")[0]
        )
    elif root.has("format") and root.value["format"] == ANNOTATION_FORMAT:
        passages, questions = parse_annotations(root)
    else:
        raise root.error(
            "not an annotation file",
            found=describe_value(root.value),
            expected=f"an object of format {ANNOTATION_FORMAT!r}, or the list of stories of Smith "
            "et al. 2015",
        )
    return Annotations(passages, questions, source, sha256_of_bytes(data))


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of questions."""

    # by question id; questions without a category are left out
    of_question: Mapping[str, frozenset[str]]
    signature: str  # the folder's name and a hash of its content


def read_categories(path: str | Path) -> Categories:
    """Read a folder with one file per category, such as ``who.txt``, that has one question id
    per line.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(
            "no such folder",
            source=str(path),
            hint="Use a folder with one file per category, such as who.txt",
        )
    categories_by_id: dict[str, set[str]] = {}
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.txt")):
        ids = [line.strip() for line in read_text(file).split("\n")]
        for number, id in enumerate(ids, start=1):
            categories = categories_by_id.setdefault(id, set()) if id else set()
            if file.stem in categories:
                raise DataError(
                    "duplicate question id",
                    source=str(file),
                    where=f"line {number}",
                    found=repr(id),
                )
            categories.add(file.stem)
        digest.update("\n".join([file.stem, *ids, ""]).encode("utf-8", "surrogatepass"))
    if not categories_by_id:
        problem = "no category file in the folder"
        raise DataError(
            problem,
            source=str(path),
            expected="files such as who.txt, with one question id per line",
        )
    of_question = {id: frozenset(categories) for id, categories in categories_by_id.items()}
    return Categories(of_question, f"{folder.name}@{digest.hexdigest()[:8]}")
