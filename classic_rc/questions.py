"""The data model: passages, candidates, questions and datasets.

Everything here is immutable and cheap to create. Tokens and ids are not here:
:mod:`classic_rc.text` computes them in bulk.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from classic_rc.equality import normalised_text
from classic_rc.errors import DataError, MissingPackageError
from classic_rc.plugins import Viewed

if TYPE_CHECKING:
    import pandas

_Item = TypeVar("_Item", covariant=True)

PLACEHOLDER = "@placeholder"
"""The mark of the missing entity in a cloze question. Readers convert other notations to it."""

Gold: TypeAlias = "frozenset[int] | tuple[str, ...] | None"
"""The right answer: candidate indices for choices, texts for cloze and spans, None when hidden."""

SHORT_FINGERPRINT = 8
"""How many digits of a fingerprint tables and signatures show."""

_HUB_COMMIT = re.compile(r"hf:[^@]+@([0-9a-f]{40})\b")
_COLUMNS = ("id", "passage_id", "passage", "question", "candidates", "gold", "task", "split")


class Task(StrEnum):
    """The kind of a question. It decides how gold is read and which metrics apply."""

    SINGLE_CHOICE = "single-choice"
    """One candidate is right. Gold is the set with its index (some datasets accept several)."""
    MULTIPLE_ANSWER = "multiple-answer"
    """Each candidate is right or wrong by itself. Gold is the set of right indices and may be
    empty.
    """
    CLOZE = "cloze"
    """An entity fills the placeholder. Gold is the accepted texts; any one of them is enough."""
    SPAN = "span"
    """A span of the passage is the answer. Gold is the accepted texts; any one of them is
    enough.
    """
    MULTI_SPAN = "multi-span"
    """One or more spans are the answer. Gold is the texts of all of them, together one answer."""

    @property
    def has_choices(self) -> bool:
        """Whether gold and predictions are candidate indices; otherwise they are texts."""
        return self in (Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER)

    @property
    def has_spans(self) -> bool:
        """Whether candidates are spans from a generator and not from the dataset."""
        return self in (Task.SPAN, Task.MULTI_SPAN)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Passage:
    """A text that questions are about.

    Parameters
    ----------
    id : str
        Unique within its dataset.
    text : str
        The text, without the dataset's markup.
    sentences : sequence of (int, int), optional
        The dataset's own sentence marks, as character offsets (start, end) into `text`. None when
        the dataset has none; :mod:`classic_rc.text.sentences` then splits the text.
    meta : mapping
        Anything else that the dataset states about the passage.
    """

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Candidate:
    """A possible answer: an option, an entity mention or a span.

    Parameters
    ----------
    text : str
        The candidate's text.
    start, end : int, optional
        Character offsets of a mention or a span in the passage; `end` is exclusive.
    """

    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Question(Viewed):
    """A question about a passage, its candidates and, unless hidden, its gold answer.

    Parameters
    ----------
    id : str
        Unique within its dataset.
    passage : Passage
        One object, shared by all questions about it.
    text : str
        The question. For cloze, the query with :data:`PLACEHOLDER` in the place of the entity.
    candidates : sequence of Candidate
        In the dataset's order. Empty for span questions until a generator is applied.
    gold : frozenset of int, tuple of str, or None
        The right answer, None when hidden. :class:`Task` defines how it is read.
    task : Task
    meta : mapping
        Anything else that the dataset states about the question: level, required sentences, type.
    scorers : tuple of str
        For span questions, the names of the scorers (:data:`classic_rc.text.scorers.SCORERS`) whose
        exact match and F1 tables show, the primary one first. Empty for SQuAD's alone.
    """

    id: str
    passage: Passage
    text: str
    candidates: Sequence[Candidate]
    gold: Gold
    task: Task
    meta: Mapping[str, Any] = field(default_factory=dict)
    scorers: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """The words of the question: its text, without the placeholder of a cloze query."""
        return self.text.replace(PLACEHOLDER, " ") if self.task is Task.CLOZE else self.text

    @property
    def gold_texts(self) -> tuple[str, ...]:
        """The texts of the right candidates, or the accepted texts. Empty when gold is hidden."""
        if self.task.has_choices:
            indices = [i for i in sorted(self.gold or ()) if isinstance(i, int)]
            return tuple(self.candidates[i].text for i in indices)
        return tuple(map(str, self.gold or ()))

    def meta_value(self, key: str, default: Any = None) -> Any:
        """Return the value of `key` in the question's `meta`, else in the passage's, else
        `default`.
        """
        return self.meta.get(key, self.passage.meta.get(key, default))


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a dataset was read from. It is provenance and never part of a dataset's
    identity.
    """

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ReadingLog:
    """What reading left out or repaired, and where each question is: of ``load(...,
    skip="bad")``.
    """

    left_out: tuple[
        DataError, ...
    ] = ()  # what could not be read: a question, a line, a passage with its questions
    repaired: tuple[
        DataError, ...
    ] = ()  # defects that reading removed: an offset moved to its text, a blank row
    # by id: the file and the line, or the JSON path
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Dataset(Viewed, Sequence[Question]):
    """A sequence of questions of one task, with a name and a content fingerprint.

    Slices and :meth:`filter` return datasets that share the questions.

    Parameters
    ----------
    questions : sequence of Question
    name : str
        Such as ``"mc500.dev"``. It is for people and not part of the identity.
    split : str, optional
        ``"train"``, ``"dev"``, ``"test"`` or the source's own name for it.
    reader : str, optional
        The name of the reader that built the dataset.
    sources : tuple of Source
        The files that it was read from.
    notes : tuple of str
        The reader's notes for the user, with counts: files skipped, offsets relocated.

    Raises
    ------
    DataError
        Two questions have the same id, questions have different tasks, or gold names a candidate
        that does not exist.
    """

    questions: Sequence[Question]
    name: str = "questions"
    split: str | None = None
    reader: str | None = None
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    span_generator: str | None = None
    """The signature of the span generator that made the candidates; None when none was applied."""
    read_with: Mapping[str, Any] | None = None
    """The arguments of :func:`classic_rc.load`, as plain data. None for a part of a dataset and
    for questions in memory.
    """
    parts: tuple[Dataset, ...] = ()
    """The datasets that :func:`classic_rc.datasets.join_datasets` joined into this one; else
    empty.
    """

    log: ReadingLog | None = None
    """What reading left out; None unless the dataset was read with ``skip="bad"``."""
    whole: Sequence[Question] | None = None
    """All questions, if only those with gold were kept (``skip="unlabelled"``): a file of
    predictions has them.
    """
    scorers_proposed: bool = False
    """Whether the script of the passages proposed the scorers, because the dataset is unknown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", tuple(self.questions))
        _check_questions(self.questions, self.name)

    def __len__(self) -> int:
        return len(self.questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    def __getitem__(self, index: int | slice) -> Question | Dataset:
        if isinstance(index, slice):
            return replace(self, questions=self.questions[index], read_with=None, parts=())
        return self.questions[index]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self)} {self.task or ''} questions>".replace("  ", " ")

    @property
    def task(self) -> Task | None:
        """The task of all questions; None when the dataset is empty."""
        return self.questions[0].task if self.questions else None

    @property
    def scorers(self) -> tuple[str, ...]:
        """The scorers of the questions, the primary one first; empty for SQuAD's alone."""
        return self.questions[0].scorers if self.questions else ()

    @property
    def revision(self) -> str | None:
        """The commits of data from the Hugging Face hub, joined by plus signs; None for other
        data.
        """
        commits = [_HUB_COMMIT.match(source.path) for source in self.sources]
        return "+".join(dict.fromkeys(match[1] for match in commits if match)) or None

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The distinct passages (by object identity), in the order of their first question."""
        return tuple({id(q.passage): q.passage for q in self.questions}.values())

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions by id."""
        return {q.id: q for q in self.questions}

    @cached_property
    def fingerprint(self) -> str:
        """Hex sha256 of the content: ids, texts, candidates and gold, in order.

        The file format does not matter. Generated spans are not content: the fingerprint is the
        same with and without them.
        """
        return _fingerprint(self.questions)

    def filter(self, keep: Callable[[Question], bool]) -> Dataset:
        """Return a dataset of the questions for which `keep` is true."""
        return replace(
            self, questions=[q for q in self.questions if keep(q)], read_with=None, parts=()
        )

    def with_candidates(
        self, generator: Callable[[Passage], Sequence[Candidate]], signature: str
    ) -> Dataset:
        """Return the same span questions, with the spans that `generator` makes from their passage
        as candidates.

        Parameters
        ----------
        generator : callable
            Takes a passage and returns its candidates. It runs only when candidates are accessed;
            see :class:`LazyCandidates`.
        signature : str
            The generator's parameters, for the reproducibility signature.

        Returns
        -------
        Dataset
        """
        lazy = {id(p): LazyCandidates(p, generator) for p in self.passages}
        questions = [replace(q, candidates=lazy[id(q.passage)]) for q in self.questions]
        return replace(self, questions=questions, span_generator=signature)

    def to_frame(self) -> pandas.DataFrame:
        """Return the questions as a pandas frame, one row per question.

        ``from_rows(frame.to_dict("records"))`` reads the questions back; only mentions lose their
        offsets.

        Returns
        -------
        pandas.DataFrame
            The columns, in this order:

            ``id``, ``passage_id``, ``passage``, ``question``
                Texts. The passage's text is repeated for each of its questions.
            ``candidates``
                A tuple of texts. It is empty for span questions: generated spans are left out.
            ``gold``
                A tuple: the indices of the right candidates from 0, or the accepted texts; None
                when hidden.
            ``task``
                Such as ``"single-choice"``.
            ``split``
                The split in the `meta` of the question or its passage, else the split of the
                dataset.
            ``meta.KEY``
                One column for each other key in the `meta` of questions and passages; None when a
                question has no such key. A question's own value takes precedence over its
                passage's.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError("pandas", needed_for="to_frame()", extra="pandas") from error
        keys: dict[str, None] = {}
        for q in self.questions:
            keys |= dict.fromkeys((*q.passage.meta, *q.meta))
        keys.pop("split", None)
        rows: list[tuple[Any, ...]] = []
        for q in self.questions:
            candidates = () if q.task.has_spans else tuple(candidate_texts(q.candidates))
            gold = sorted(q.gold) if isinstance(q.gold, frozenset) else q.gold
            rows.append(
                (
                    q.id,
                    q.passage.id,
                    q.passage.text,
                    q.text,
                    candidates,
                    None if gold is None else tuple(gold),
                    q.task.value,
                    q.meta_value("split", self.split),
                    *map(q.meta_value, keys),
                )
            )
        return pandas.DataFrame(rows, columns=[*_COLUMNS, *(f"meta.{key}" for key in keys)])


class SequenceView(Sequence[_Item]):
    """A sequence whose items another sequence has, which a subclass returns."""

    __slots__ = ()

    @abstractmethod
    def contents(self) -> Sequence[_Item]:
        """Return the items."""

    def __len__(self) -> int:
        return len(self.contents())

    @overload
    def __getitem__(self, index: int) -> _Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Item]: ...
    def __getitem__(self, index: int | slice) -> _Item | Sequence[_Item]:
        return self.contents()[index]

    def __iter__(self) -> Iterator[_Item]:
        return iter(self.contents())


class LazyCandidates(SequenceView[Candidate]):
    """The generated candidates of one passage, made on every access and never stored.

    Questions about one passage share one object. Code that streams over a dataset can therefore
    call :meth:`generate` once per passage and drop the result.
    """

    __slots__ = ("_generator", "_passage")

    def __init__(
        self, passage: Passage, generator: Callable[[Passage], Sequence[Candidate]]
    ) -> None:
        self._passage, self._generator = passage, generator

    def generate(self) -> Sequence[Candidate]:
        """Generate and return the candidates."""
        return self._generator(self._passage)

    contents = generate


class TextCandidates(SequenceView[Candidate]):
    """Candidates that have only a text, such as options. The objects are made when one is
    accessed.
    """

    __slots__ = ("_made", "texts")

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(texts)
        self._made: tuple[Candidate, ...] | None = None

    def contents(self) -> tuple[Candidate, ...]:
        """Return the candidates."""
        if self._made is None:
            self._made = tuple(map(Candidate, self.texts))
        return self._made

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"TextCandidates({self.texts!r})"


def candidate_texts(candidates: Sequence[Candidate]) -> Sequence[str]:
    """Return the texts of candidates. This is faster than reading each :class:`Candidate`."""
    # isinstance is slow for the subclasses of an abstract class
    if TextCandidates in type(candidates).__mro__:
        texts: Sequence[str] = candidates.texts  # type: ignore[attr-defined]
        return texts
    return [c.text for c in candidates]


def has_constant_candidates(questions: Iterable[Question]) -> bool:
    """Return whether all questions, two or more, have the same candidates, in any order: such as
    *no* and *yes*.
    """
    first: list[str] | None = None
    n_questions = 0
    for question in questions:
        texts = sorted(map(normalised_text, candidate_texts(question.candidates)))
        if first is not None and texts != first:
            return False
        first, n_questions = texts, n_questions + 1
    return n_questions > 1 and len(first or ()) > 1


def _check_questions(questions: Sequence[Question], name: str) -> None:
    if _are_consistent(questions):
        return
    seen: set[str] = set()  # From here on, find the first question that is wrong.
    tasks: set[Task] = set()
    for q in questions:
        if q.id in seen:
            raise DataError(
                "two questions have this id",
                source=name,
                where=f"question {q.id}",
                field="id",
                expected="unique ids",
            )
        seen.add(q.id)
        tasks.add(q.task)
        if q.gold is not None and q.task.has_choices:
            n = len(q.candidates)
            outside = [g for g in q.gold if not isinstance(g, int) or not 0 <= g < n]
            if outside:
                raise DataError(
                    "gold is not among the candidates",
                    source=name,
                    where=f"question {q.id}",
                    field="gold",
                    found=f"{outside[0]!r} with {n} candidates",
                    expected=f"candidate indices from 0 to {n - 1}",
                )
    if len(tasks) > 1:
        raise DataError(
            "questions of different tasks in one dataset",
            source=name,
            field="task",
            found=", ".join(sorted(tasks)),
            expected="one task",
            hint="Load each task as a dataset of its own",
        )


def _are_consistent(questions: Sequence[Question]) -> bool:
    """Return whether ids are unique, the task is one, and gold is among the candidates."""
    if not questions:
        return True
    task = questions[0].task
    if len({q.id for q in questions}) < len(questions) or any(
        q.task is not task for q in questions
    ):
        return False
    if not task.has_choices:
        return True
    # Questions share their gold objects in some datasets, so each is looked at once with each
    # number of candidates.
    distinct = {(id(q.gold), len(q.candidates)): q.gold for q in questions if q.gold is not None}
    for (_, n), gold in distinct.items():
        if not all(isinstance(index, int) and 0 <= index < n for index in gold):
            return False
    return True


_HASHED_AT_ONCE = 2**20  # characters


def _fingerprint(questions: Iterable[Question]) -> str:
    from classic_rc.kernels.arrays import block_size  # it loads NumPy, which `--help` does without

    hashed_at_once = block_size(_HASHED_AT_ONCE)
    digest = hashlib.sha256()
    previous: Passage | None = None
    task: Task | None = None
    pieces: list[str] = []
    n_characters = 0
    parts_of_gold: dict[frozenset[int], str] = {}  # few are distinct
    # Each part follows its length, so two different contents never give the same bytes.
    for q in questions:
        if q.task is not task:
            task = q.task
            of_task = f"{len(task)}:{task}"
            has_candidates, has_offsets = not task.has_spans, task is Task.CLOZE
        if q.passage is not previous:  # Consecutive questions about one passage hash its text once.
            previous, text = q.passage, q.passage.text
            pieces.append(f"7:passage{len(previous.id)}:{previous.id}{len(text)}:{text}")
            n_characters += len(text)
        pieces.append(f"8:question{len(q.id)}:{q.id}{of_task}{len(q.text)}:{q.text}")
        if has_candidates:
            texts = candidate_texts(q.candidates)
            pieces.append(f"10:candidates{len(count := str(len(texts)))}:{count}")
            pieces += [f"{len(text)}:{text}" for text in texts]
        if has_offsets:
            offsets = [f"{c.start}-{c.end}" for c in q.candidates]
            pieces += [f"{len(text)}:{text}" for text in offsets]
        if isinstance(q.gold, frozenset):
            if q.gold not in parts_of_gold:
                parts_of_gold[q.gold] = _gold_part(sorted(q.gold))
            pieces.append(parts_of_gold[q.gold])
        else:
            pieces.append("6:hidden" if q.gold is None else _gold_part(q.gold))
        n_characters += len(q.text)
        if n_characters > hashed_at_once:
            digest.update("".join(pieces).encode("utf-8", "surrogatepass"))
            pieces, n_characters = [], 0
    digest.update("".join(pieces).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def describe_difference(first: Sequence[Question], second: Sequence[Question]) -> str | None:
    """Return what differs in the content of two datasets, with the first example; None if nothing.

    Examples
    --------
    >>> passage = Passage("p", "It opened in 1992.")
    >>> years = [
    ...     [Question("q", passage, "When?", TextCandidates([year]), None, Task.SINGLE_CHOICE)]
    ...     for year in ("1992.0", "1992")
    ... ]
    >>> describe_difference(*years)
    '1 option differs: 1992.0 / 1992'
    """
    if len(first) != len(second):
        return f"{len(first):,} / {len(second):,} questions"
    for name, read in _CONTENT.items():
        pairs: list[tuple[Any, Any]] = []
        for questions in zip(first, second, strict=True):
            content = zip_longest(*map(read, questions), fillvalue="nothing")
            pairs += [pair for pair in content if pair[0] != pair[1]]
        if pairs:
            n = len(pairs)
            counted = f"1 {name} differs" if n == 1 else f"{n:,} {name}s differ"
            excerpts = _show_difference(*map(str, pairs[0]))
            return f"{counted}: {' / '.join(excerpts)}"
    return None


_CONTENT: Mapping[str, Callable[[Question], Iterable[Any]]] = {
    "option": lambda q: () if q.task.has_spans else candidate_texts(q.candidates),
    "question id": lambda q: [q.id],
    "question": lambda q: [q.text],
    "passage": lambda q: [q.passage.text],
    "passage id": lambda q: [q.passage.id],
    "task": lambda q: [q.task],
    "right answer": lambda q: [sorted(q.gold) if isinstance(q.gold, frozenset) else q.gold],
    "offset": lambda q: [(c.start, c.end) for c in q.candidates] if q.task is Task.CLOZE else (),
}
"""The content of a question, part by part, in the order in which differences are named."""

_SHOWN_BEFORE, _SHOWN_AFTER = 20, 40  # characters around a difference


def _show_difference(first: str, second: str) -> Iterator[str]:
    """Yield two different texts, cut around the first character that differs."""
    pairs = zip(first, second, strict=False)
    n_equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start, end = max(n_equal - _SHOWN_BEFORE, 0), n_equal + _SHOWN_AFTER
    for text in (first, second):
        excerpt = text[start:end]
        if start > 0:
            excerpt = "…" + excerpt
        yield excerpt + "…" if end < len(text) else excerpt


def _gold_part(gold: Sequence[int] | Sequence[str]) -> str:
    texts = map(str, (len(gold), *gold))
    return "4:gold" + "".join([f"{len(text)}:{text}" for text in texts])
