"""Lesson 12: interpolated modified Kneser-Ney, in plain Python.

The idea: subtract a little from every count of a long n-gram, and give what is left to the next
shorter one. A shorter n-gram is not judged by how often it occurs but by how many different words
precede it.

Texts are lists of words. Counts are in dictionaries with tuples as keys. Each probability is
computed on request by the recursion of Chen and Goodman 1998.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

NGram = tuple[str, ...]


class ReferenceKneserNey:
    """A model of order n; the formulas are in :func:`classic_rc.kernels.kneser_ney.kneser_ney`.

    Parameters
    ----------
    texts : sequence of sequence of str
    order : int
    discounts : sequence of sequences of three floats, one sequence per order, optional
        By default estimated from counts of counts.

    Examples
    --------
    >>> model = ReferenceKneserNey(["the cat sat".split(), "the dog sat".split()], order=2)
    >>> round(model.probability("cat", ("the",)), 4)
    0.3333
    >>> round(sum(model.probability(word, ("the",)) for word in model.vocabulary), 12)
    1.0
    """

    def __init__(
        self,
        texts: Sequence[Sequence[str]],
        order: int,
        discounts: Sequence[Sequence[float]] | None = None,
    ) -> None:
        self.order = order
        self.counts = self._adjusted_counts([["<s>", *text, "</s>"] for text in texts])
        self.vocabulary = {"</s>", "<unk>", *(word for text in texts for word in text)}
        self.discounts = discounts or [self._estimate_discounts(counts) for counts in self.counts]
        self.followers: defaultdict[NGram, dict[str, int]] = defaultdict(dict)
        for counts in self.counts:
            for (*context, word), count in counts.items():
                self.followers[tuple(context)][word] = count

    def probability(self, word: str, context: NGram) -> float:
        """Return the probability of a word after a context; only the context's last n - 1 words
        count.
        """
        context = context[max(len(context) - self.order + 1, 0) :]
        word = word if word in self.vocabulary else "<unk>"
        lower = self.probability(word, context[1:]) if context else 1 / len(self.vocabulary)
        followers = self.followers.get(context)
        if not followers:  # the texts do not have this context
            return lower
        total = sum(followers.values())
        # What all followers lose goes to the shorter context, in the proportions of `lower`.
        discounted = sum(self._discount(context, count) for count in followers.values())
        count = followers.get(word, 0)
        return (count - self._discount(context, count)) / total + discounted / total * lower

    def _discount(self, context: NGram, count: int) -> float:
        return self.discounts[len(context)][min(count, 3) - 1] if count else 0.0

    def _adjusted_counts(self, texts: Sequence[Sequence[str]]) -> list[Counter[NGram]]:
        """The longest n-grams keep their counts; shorter ones get how many distinct words
        precede them.
        """
        raw: list[Counter[NGram]] = [Counter() for _ in range(self.order)]
        for text in texts:
            for k, counts in enumerate(raw, start=1):
                counts.update(tuple(text[i : i + k]) for i in range(len(text) - k + 1))
        adjusted = [counts.copy() for counts in raw]
        for shorter, longer in zip(adjusted, raw[1:], strict=False):
            preceded = Counter(ngram[1:] for ngram in longer)
            for ngram in shorter:
                # Nothing precedes the start mark, so n-grams that begin with it keep their counts.
                if ngram[0] != "<s>":
                    shorter[ngram] = preceded[ngram]
        del adjusted[0][("<s>",)]  # the start mark is never predicted
        return adjusted

    @staticmethod
    def _estimate_discounts(counts: Counter[NGram]) -> list[float]:
        """Equation 26 of Chen and Goodman 1998, or KenLM's fallback if the text is too small."""
        n = Counter(counts.values())  # how many n-grams have each count
        if n[1] and n[2] and n[3]:
            y = n[1] / (n[1] + 2 * n[2])
            discounts = [i - (i + 1) * y * n[i + 1] / n[i] for i in (1, 2, 3)]
            if all(0 <= discount <= i for i, discount in enumerate(discounts, start=1)):
                return discounts
        return [0.5, 1.0, 1.5]
