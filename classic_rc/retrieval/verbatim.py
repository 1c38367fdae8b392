"""Which questions and passages does a corpus contain word for word?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import normalised_text
from classic_rc.kernels.arrays import block_size
from classic_rc.questions import Question
from classic_rc.retrieval.base import TextWords
from classic_rc.retrieval.corpus import Corpus
from classic_rc.retrieval.texts import StoredTexts
from classic_rc.text.sentence_arrays import iter_sentence_texts
from classic_rc.work import tracked

_BLOCK = 2**12
"""How many sentences are searched together."""

_MAX_WIDTH = 8
"""By how many of its bytes a text is looked for, at most: those of a 64-bit number."""

_SLOT_BITS = 20
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: Knuth, section 6.4


@dataclass(frozen=True, slots=True)
class VerbatimPassages:
    """What a corpus contains word for word, ignoring case and blanks."""

    questions: int  # questions that some sentence contains
    pairs: int  # of these, questions with a right answer in that sentence or the next one
    # passages whose sentences are all in the corpus; None if passages were not searched
    passages: int | None
    # numbers of the sentences that contain the questions and the passages
    sentences: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def __str__(self) -> str:
        questions = f"{self.questions} questions, {self.pairs} of them with a right answer"
        return questions if self.passages is None else f"{questions}, and {self.passages} passages"


def find_verbatim(
    corpus: Corpus, questions: Sequence[Question], *, passages: bool = True
) -> VerbatimPassages:
    """Search a corpus for questions, questions with their right answers if known, and their
    passages.

    Every text of the corpus is read once, and a second time if it may contain a passage.

    Raises
    ------
    DataError
        The index does not store its texts.
    """
    distinct = list({id(q.passage): q.passage for q in questions}.values()) if passages else []
    split = list(iter_sentence_texts(distinct))
    # The longest sentence is the least likely to be there by chance, so it decides for most
    # passages.
    longest = [max(sentences, key=len, default="") for sentences in split]
    sentences_with = find_texts(corpus, [*(q.query for q in questions), *longest])
    containing = [sentences_with[q.query] for q in questions]
    n_questions = sum(map(bool, containing))
    numbers_of_questions = zip(questions, containing, strict=True)
    n_pairs = sum(_has_answer_near(corpus, q, numbers) for q, numbers in numbers_of_questions)
    pairs = zip(split, longest, strict=True)
    split = [texts for texts, longest_text in pairs if sentences_with[longest_text]]
    if split:
        sentences_with = find_texts(corpus, [text for texts in split for text in texts])
    n_passages = 0
    for texts in split:
        numbers_of_texts = [sentences_with[text] for text in texts]
        if all(numbers_of_texts):
            n_passages += 1
            containing += numbers_of_texts
    return VerbatimPassages(
        n_questions,
        n_pairs,
        n_passages if passages else None,
        frozenset().union(*containing),
    )


def find_texts(corpus: Corpus, texts: Sequence[str]) -> dict[str, list[int]]:
    """Return the sentences that contain each text, ascending.

    A sentence contains a text if it has its characters, up to case and blanks, as whole words, and
    all of its index terms: "It cost 1,000" does not contain "it cost 1". A text without index terms
    is in none.
    """
    engine = corpus.engine
    sentences_with: dict[str, list[int]] = {text: [] for text in texts}
    words = TextWords(engine.analyzer)
    terms_of_texts = zip(sentences_with, words.of(list(sentences_with)), strict=True)
    terms = {text: text_terms for text, text_terms in terms_of_texts if text_terms}
    finders: list[_TextFinder] = []
    first, sentences = 0, engine.sentences() if terms else iter(())
    blocks = iter(lambda: list(islice(sentences, block_size(_BLOCK))), [])
    stage = f"comparing {corpus.name} with the questions"
    for block in tracked(blocks, engine.n_sentences, len, share=0.5, stage=stage):
        normalised = list(map(normalised_text, block))
        stored = StoredTexts.of(normalised)
        finders = finders or _make_finders(list(terms), sample=stored)
        pairs = [pair for finder in finders for pair in finder.find(normalised, stored)]
        places = sorted({place for place, _ in pairs})
        terms_of = dict(zip(places, words.of([block[place] for place in places]), strict=True))
        for place, text in pairs:
            if terms[text] <= terms_of[place]:
                sentences_with[text].append(first + place)
        first += len(block)
    return sentences_with


class _TextFinder:
    """Finds the sentences that contain any of many texts.

    Each text is looked for by those consecutive bytes, `width` of them, that are rarest in a sample
    of the sentences. Only sentences with these are compared with the text.
    """

    def __init__(self, width: int, texts: Mapping[str, str], sample: StoredTexts) -> None:
        self._width = width
        counts = np.bincount(_slots(_windows(sample, width)), minlength=2**_SLOT_BITS)
        by_anchor: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for text, normalised in texts.items():
            windows = _windows(StoredTexts.of([normalised]), width)
            anchor = int(windows[np.argmin(counts[_slots(windows)])])
            by_anchor[anchor].append((text, normalised))
        self._anchors = np.array(sorted(by_anchor), dtype=np.uint64)
        self._texts = [by_anchor[anchor] for anchor in self._anchors.tolist()]
        self._is_used = np.zeros(2**_SLOT_BITS, dtype=np.bool_)
        self._is_used[_slots(self._anchors)] = True

    def find(self, sentences: Sequence[str], stored: StoredTexts) -> Iterator[tuple[int, str]]:
        """Yield the place of a sentence and a text that it contains; places ascend for a text.

        Sentences are normalised; texts are as they were given.
        """
        windows = _windows(stored, self._width)
        positions = np.flatnonzero(self._is_used[_slots(windows)])
        ranks = np.searchsorted(self._anchors, windows[positions])
        ranks[ranks == len(self._anchors)] = 0
        is_anchor = self._anchors[ranks] == windows[positions]
        places = np.searchsorted(stored.offsets[1:], positions[is_anchor], side="right")
        for key in np.unique(places * len(self._anchors) + ranks[is_anchor]).tolist():
            place, rank = divmod(key, len(self._anchors))
            for text, normalised in self._texts[rank]:
                if contains_text(sentences[place], normalised):
                    yield place, text


def _make_finders(texts: Sequence[str], sample: StoredTexts) -> list[_TextFinder]:
    """Return a finder for the texts of each width, which is smaller than eight for short texts."""
    by_width: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for text in texts:
        normalised = normalised_text(text)
        n_bytes = len(StoredTexts.of([normalised]).data)
        by_width[min(_MAX_WIDTH, n_bytes)][text] = normalised
    return [_TextFinder(width, texts, sample) for width, texts in by_width.items()]


def _windows(texts: StoredTexts, width: int) -> NDArray[np.uint64]:
    """Return each `width` consecutive bytes of texts, one after the other, as a number."""
    data = texts.data.tobytes() + bytes(_MAX_WIDTH)
    n_windows = max(0, len(texts.data) - width + 1)
    windows = np.ndarray(n_windows, "<u8", data, strides=(1,))
    return windows if width == _MAX_WIDTH else windows & np.uint64(2 ** (8 * width) - 1)


def _slots(windows: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a number below 2**20 for each window, by multiplicative hashing."""
    return ((windows * _MULTIPLIER) >> np.uint64(64 - _SLOT_BITS)).view(np.int64)


def contains_text(sentence: str, text: str) -> bool:
    """Return whether a sentence contains a text as whole words, both normalised: "this" does not
    contain "his".
    """
    within = f" {sentence} "
    position = within.find(text)
    while text and position >= 0:
        before, after = within[position - 1], within[position + len(text)]
        if not (before.isalnum() and text[0].isalnum()) and not (
            after.isalnum() and text[-1].isalnum()
        ):
            return True
        position = within.find(text, position + 1)
    return False


def _has_answer_near(corpus: Corpus, question: Question, numbers: Sequence[int]) -> bool:
    """Return whether one of these sentences, or the one after it, contains a right answer."""
    answers = list(map(normalised_text, question.gold_texts))
    near = {number + i for number in numbers for i in (0, 1)} - {corpus.engine.n_sentences}
    if not answers:
        return False
    sentences = (normalised_text(corpus.engine.sentence(number)) for number in near)
    return any(contains_text(sentence, answer) for sentence in sentences for answer in answers)
