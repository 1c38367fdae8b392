"""The package's own JSON of annotations, described in ``docs/lexical.md``: from values to objects and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc.files.nodes import Node, describe
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText, Chain, Chunk, text_sha256

FORMAT = "classic_rc annotations"
VERSION = 1

_TEXT_KEYS = (
    *("tokens", "lemmas", "pos", "places", "sentences", "chunks", "chains"),
    *("text", "sha256", "complete", "unfiltered_sentences"),
)
_QUESTION_KEYS = (*_TEXT_KEYS, "candidates", "negated", "categories")


def parse_annotations(root: Node) -> tuple[dict[str, AnnotatedText], dict[str, AnnotatedQuestion]]:
    """The passages and questions of a file, by id.

    Raises
    ------
    DataError
        Something is missing, unknown, of the wrong type or inconsistent.
    """
    _only_keys(root, ("format", "version", "passages", "questions"))
    if root.integer("version") != VERSION:
        raise root.error("unknown version", field="version", found=str(root.value["version"]), expected="1")
    passages, questions = root.child("passages"), root.child("questions")
    for part in (passages, questions):
        if not isinstance(part.value, dict):
            raise part.error("wrong type", found=describe(part.value), expected="an object, ids as its keys")
    return (
        {id: _text(passages.child(id), _TEXT_KEYS) for id in passages.value},
        {id: _question(questions.child(id)) for id in questions.value},
    )


def _only_keys(node: Node, known: tuple[str, ...]) -> None:
    if not isinstance(node.value, dict):
        raise node.error("wrong type", found=describe(node.value), expected="an object")
    for key in node.value:
        if key not in known:
            raise node.error("unknown field", field=key, expected=f"one of {', '.join(known)}")


def _question(node: Node) -> AnnotatedQuestion:
    return AnnotatedQuestion(
        _text(node, _QUESTION_KEYS),
        tuple(_text(candidate, _TEXT_KEYS) for candidate in node.items("candidates")),
        node.flag("negated") if node.has("negated") else None,
        frozenset(node.texts("categories")) if node.has("categories") else frozenset(),
    )


def _text(node: Node, keys: tuple[str, ...]) -> AnnotatedText:
    _only_keys(node, keys)
    tokens = tuple(node.texts("tokens"))
    if "" in tokens:
        raise node.error("a token is empty", field="tokens", found=f"'' at {tokens.index('')}")
    complete = node.flag("complete") if node.has("complete") else True
    sha256 = node.text("sha256") if node.has("sha256") else None
    if node.has("text"):
        own = text_sha256(node.text("text"))
        if sha256 not in (None, own):
            found = describe(sha256)
            raise node.error("not the fingerprint of its text", field="sha256", found=found, expected=own)
        sha256 = own
    return AnnotatedText(
        tokens,
        _parallel(node, "lemmas", len(tokens) if complete else None),
        _parallel(node, "pos", len(tokens)),
        _places(node, len(tokens)),
        _sentences(node, "sentences", len(tokens)),
        _chunks(node, len(tokens)),
        _chains(node, len(tokens)),
        sha256,
        complete,
        _sentences(node, "unfiltered_sentences", None),
    )


def _parallel(node: Node, key: str, n: int | None) -> tuple[str, ...] | None:
    if not node.has(key):
        return None
    values = tuple(node.texts(key))
    if n is not None and len(values) != n:
        raise node.error("not one a token", field=key, found=f"{len(values)}", expected=f"{n}")
    return values


def _places(node: Node, n: int) -> tuple[tuple[int, int], ...] | None:
    if not node.has("places"):
        return None
    places = tuple(_span(place, None) for place in node.items("places"))
    if len(places) != n:
        raise node.error("not one a token", field="places", found=f"{len(places)}", expected=f"{n}")
    return places


def _sentences(node: Node, key: str, n: int | None) -> tuple[int, ...] | None:
    if not node.has(key):
        return None
    starts = tuple(node.integers(key))
    ends = (*starts[1:], *(() if n is None else (max(n, 1),)))
    if starts[:1] not in ((0,), ()) or any(b <= a for a, b in zip(starts, ends, strict=False)):
        expected = "numbers of tokens that begin with 0 and rise" + ("" if n is None else f", below {n}")
        raise node.error("not the starts of sentences", field=key, found=_numbers(starts), expected=expected)
    return starts


def _numbers(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "")


def _chunks(node: Node, n: int) -> tuple[Chunk, ...] | None:
    if not node.has("chunks"):
        return None
    return tuple(Chunk(*_span(chunk, n), chunk.text(2)) for chunk in node.items("chunks"))


def _chains(node: Node, n: int) -> tuple[Chain, ...] | None:
    if not node.has("chains"):
        return None
    return tuple(_chain(chain, n) for chain in node.items("chains"))


def _chain(node: Node, n: int) -> Chain:
    _only_keys(node, ("mentions", "representative", "words"))
    mentions = tuple(_span(mention, n) for mention in node.items("mentions"))
    if node.has("representative") == node.has("words"):
        raise node.error("a chain has either the number of its representative mention or the words of one")
    if node.has("words"):
        return Chain(mentions, words=tuple(node.texts("words")))
    representative = node.integer("representative")
    if not 0 <= representative < len(mentions):
        expected = f"a number from 0 to {len(mentions) - 1}"
        raise node.error("no such mention", field="representative", found=str(representative), expected=expected)
    return Chain(mentions, representative)


def _span(node: Node, n: int | None) -> tuple[int, int]:
    start, end = node.integer(0), node.integer(1)
    if not 0 <= start <= end or (n is not None and not start < end <= n):
        expected = "start and end" if n is None else f"start and end among {n} tokens, the end exclusive"
        raise node.error("not a stretch of the text", found=f"{start} to {end}", expected=expected)
    return start, end


def plain_annotations(
    passages: Mapping[str, AnnotatedText], questions: Mapping[str, AnnotatedQuestion]
) -> dict[str, Any]:
    """What :func:`parse_annotations` makes the same of."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "passages": {id: _plain_text(text) for id, text in passages.items()},
        "questions": {id: _plain_question(question) for id, question in questions.items()},
    }


def _plain_text(text: AnnotatedText) -> dict[str, Any]:
    plain: dict[str, Any] = {"tokens": text.tokens}
    optional = ("lemmas", "pos", "places", "sentences", "chunks", "sha256", "unfiltered_sentences")
    plain |= {key: value for key in optional if (value := getattr(text, key)) is not None}
    if text.chains is not None:
        plain["chains"] = [
            {key: value for key, value in chain._asdict().items() if value is not None} for chain in text.chains
        ]
    return plain if text.complete else {**plain, "complete": False}


def _plain_question(question: AnnotatedQuestion) -> dict[str, Any]:
    plain = _plain_text(question.text) | {"candidates": [_plain_text(own) for own in question.candidates]}
    if question.negated is not None:
        plain["negated"] = question.negated
    if question.categories:
        plain["categories"] = sorted(question.categories)
    return plain
