"""The annotation that Smith et al. 2015 made of MCTest by Stanford CoreNLP, in their own JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from classic_rc.files.nodes import Node, describe
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText, Chain


def corenlp_annotations(root: Node, name: str) -> tuple[dict[str, AnnotatedText], dict[str, AnnotatedQuestion]]:
    """The passages and questions of a file, by the ids that the MCTest reader gives them.

    The file is a list of stories. Each has its tokens, lower-cased and without punctuation; the numbers of the
    tokens with which sentences begin, punctuation counted; and for each token its lemma, its tag, the words that
    stand for it where it begins a mention of a coreference chain (``subcoref`` where it goes on with one), and
    whether each question and each candidate has its form and its lemma. So

    * the texts of questions and candidates are not there: what is known of them are the forms and the lemmas that
      they share with the story (``complete=False``);
    * chains are not told apart: each mention makes a chain with the words of its representative.

    Parameters
    ----------
    root : Node
        The list.
    name : str
        Of the dataset: ``"mc160.dev"``.

    Raises
    ------
    DataError
        Something is missing or of the wrong type, or a word matches in one place and not in another.
    """
    passages, questions = {}, {}
    for i, story in enumerate(root.elements()):
        tokens = [_Token(node) for node in story.items("tokens")]
        passages[f"{name}.{i}"] = AnnotatedText(
            tuple(token.word for token in tokens),
            tuple(token.lemma for token in tokens),
            tuple(token.node.text("pos") for token in tokens),
            chains=tuple(_chains(tokens)),
            unfiltered_sentences=_starts(story),
        )
        negated = story.sequence("negativeqs")
        for j, lengths in enumerate(story.items("qalengths")):
            questions[f"{name}.{i},{j}"] = AnnotatedQuestion(
                _shared(tokens, j, None),
                tuple(_shared(tokens, j, k) for k in range(len(lengths.sequence("answers")))),
                story.child("negativeqs").flag(j) if negated else None,
            )
    return passages, questions


class _Token:
    """A token of a story: its two forms, and which questions and candidates have them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.word = _word(node.child("token"))
        self.lemma = _word(node.child("lemma"))
        self.goes_on = bool(node.integer("subcoref"))
        self.stands_for = tuple(_word(word) for word in node.items("coreference"))
        matches = node.child("matches")
        self._of_questions = {form: matches.child(f"q{form}") for form in ("token", "lemma")}
        self._of_candidates = {form: matches.child(f"a{form}") for form in ("token", "lemma")}

    def matches(self, form: str, question: int, candidate: int | None) -> bool:
        """Whether a question, or one of its candidates, has this token's form or lemma."""
        if candidate is None:
            return bool(self._of_questions[form].integer(question))
        return bool(self._of_candidates[form].child(question).integer(candidate))


def _word(node: Node) -> str:
    word = node.text("word")
    if not word:
        raise node.error("the word is empty", field="word")
    return word


def _shared(tokens: Sequence[_Token], question: int, candidate: int | None) -> AnnotatedText:
    """The forms and the lemmas that a text shares with its story."""
    shared: Mapping[str, dict[str, bool]] = {"token": {}, "lemma": {}}
    for token in tokens:
        for form, word in (("token", token.word), ("lemma", token.lemma)):
            found = token.matches(form, question, candidate)
            if shared[form].setdefault(word, found) is not found:
                raise token.node.error(
                    "a word matches in one place of the story and not in another",
                    field="matches",
                    found=f"{describe(word)} in question {question}",
                )
    words, lemmas = (tuple(word for word, found in shared[form].items() if found) for form in ("token", "lemma"))
    return AnnotatedText(words, lemmas, complete=False)


def _chains(tokens: Sequence[_Token]) -> Iterator[Chain]:
    for start, token in enumerate(tokens):
        if token.stands_for:
            end = start + 1
            while end < len(tokens) and tokens[end].goes_on:
                end += 1
            yield Chain(((start, end),), words=token.stands_for)


def _starts(story: Node) -> tuple[int, ...]:
    starts = tuple(story.integers("sentenceoffsets"))
    if starts[:1] not in ((0,), ()) or any(b <= a for a, b in zip(starts, starts[1:], strict=False)):
        expected = "numbers that rise from 0"
        raise story.error("not the starts of sentences", field="sentenceoffsets", expected=expected)
    return starts
