"""Perturbed copies of a dataset: each lacks something that a reader needs, and keeps the ids and
the gold.

A system that scores as high on a copy as on the original did not use what the copy lacks. The
method is by Sugawara, Stenetorp, Inui and Aizawa 2020 (AAAI): "Assessing the Benchmarking Capacity
of Machine Reading Comprehension Datasets". They tag parts of speech; here a stop list decides, so
that a copy needs no tagger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from classic_rc.datasets import edits
from classic_rc.datasets.edits import Settings
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.plugins import Registry, accept_instances, by_name
from classic_rc.questions import Dataset, Question, Task, candidate_texts
from classic_rc.text.analyzers import stop_words
from classic_rc.text.rewriting import WORDS

_CHOICES = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER})
_QUESTIONS = frozenset(Task) - {Task.CLOZE}


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to take something from the questions of a dataset."""

    name: str
    removes: str  # what it does to the texts, a sentence
    loses: str  # "a reader loses …"
    # yields a question for each question, in order
    apply: Callable[[Dataset, Settings], Iterable[Question]]
    draws: bool = False  # whether the result depends on the seed
    tasks: frozenset[Task] = frozenset(Task)  # for which the copy can still be answered
    refusal: str = ""  # why it does not apply to other tasks


def perturb_dataset(
    dataset: Dataset, name: str, *, seed: int = 0, function_words: str = "nltk"
) -> Dataset:
    """Return a perturbed copy of a dataset.

    Parameters
    ----------
    dataset : Dataset
    name : str
        A name in :data:`PERTURBATIONS`.
    seed : int
        The seed of the random choices.
    function_words : str
        A stop list of :data:`~classic_rc.text.analyzers.STOP_LISTS`, or the path of a file with one
        word per line.

    Returns
    -------
    Dataset
        The same ids, options (unless words are replaced) and gold, in the same order. Questions
        about one passage share the perturbed passage, except where it depends on the question
        (``matching-sentences``); the `meta` of passages then has ``original_passage``. Its notes
        count what can no longer be answered.

    Raises
    ------
    UsageError
        The name is unknown, the perturbation does not apply to the task, or there is no other
        passage to take.
    DataError
        The dataset has no questions.

    Examples
    --------
    >>> from classic_rc import from_rows
    >>> row = {
    ...     "id": "q",
    ...     "passage": "The fox ran. It was cold.",
    ...     "question": "Who ran?",
    ...     "candidates": ["a", "b"],
    ... }
    >>> dataset = from_rows([{**row, "gold": 0}])
    >>> perturb_dataset(dataset, "no-function-words")[0].passage.text
    'fox ran. cold.'
    >>> perturb_dataset(dataset, "interrogatives-only")[0].text
    'Who?'
    """
    perturbation = get_perturbation(name, dataset)
    settings = Settings(seed, stop_words(function_words))
    questions = list(perturbation.apply(dataset, settings))
    if dataset.task is not None and dataset.task.has_spans:
        questions = [replace(question, candidates=()) for question in questions]
    drawn = f" (seed {seed})" if perturbation.draws else ""
    notes = (f"{name}{drawn}: {perturbation.removes}", *_count_notes(dataset, questions))
    return Dataset(questions, f"{dataset.name}+{name}", dataset.split, notes=notes)


def get_perturbation(name: str, dataset: Dataset) -> Perturbation:
    """Return the perturbation of this name, after checking that it applies to the dataset."""
    if name not in PERTURBATIONS:
        raise unknown_name("perturbation", name, PERTURBATIONS)
    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    perturbation = PERTURBATIONS[name]
    if dataset.task not in perturbation.tasks:
        applicable = [p.name for p in PERTURBATIONS.values() if dataset.task in p.tasks]
        raise UsageError(
            f"{name} does not apply to the {dataset.task} questions of {dataset.name}: "
            f"{perturbation.refusal}",
            field="perturbation",
            found=name,
            expected=" or ".join(applicable),
        )
    return perturbation


def count_unanswerable(original: Sequence[Question], perturbed: Sequence[Question]) -> int:
    """Return the number of span questions whose answer was in the passage and is no longer in
    the perturbed one.
    """
    pairs = zip(original, perturbed, strict=True)
    return sum(_has_answer(old) and not _has_answer(new) for old, new in pairs)


def _has_answer(question: Question) -> bool:
    if not question.task.has_spans or question.gold is None:
        return True
    is_in_passage = [text in question.passage.text for text in question.gold_texts]
    return all(is_in_passage) if question.task is Task.MULTI_SPAN else any(is_in_passage)


def _count_notes(original: Dataset, perturbed: Sequence[Question]) -> Iterator[str]:
    n = len(perturbed)
    if lost := count_unanswerable(original, perturbed):
        yield (
            f"{lost:,} of {n:,} questions no longer have a right answer in the passage; they count "
            "as wrong"
        )
    pairs = list(zip(original, perturbed, strict=True))
    if empty := sum(
        not new.passage.text.strip() and bool(old.passage.text.strip()) for old, new in pairs
    ):
        yield f"{empty:,} of {n:,} questions have no passage left"
    words = WORDS.tokenize
    if empty := sum(not words(new.text) and bool(words(old.text)) for old, new in pairs):
        yield f"{empty:,} of {n:,} questions have no word left"
    if 2 * (n_equal := sum(_texts(new) == _texts(old) for old, new in pairs)) > n:
        yield f"{n_equal:,} of {n:,} questions are as before"


def _texts(question: Question) -> tuple[str, ...]:
    options = () if question.task.has_spans else candidate_texts(question.candidates)
    return question.passage.text, question.text, *options


_SPAN_IN_PASSAGE = "the answer is part of the passage"
PERTURBATIONS = Registry[Perturbation](
    "perturbation",
    by_name(
        Perturbation(
            "interrogatives-only",
            "Only the interrogatives of the question are left (who, what, how), or nothing if it "
            "has none.",
            "what the question asks about; the kind of the answer remains",
            edits.keep_interrogatives,
            tasks=_QUESTIONS,
            refusal="a cloze query has no interrogative",
        ),
        Perturbation(
            "no-question",
            "The question is empty; a cloze query keeps only the placeholder.",
            "what is asked",
            edits.drop_questions,
        ),
        Perturbation(
            "shuffled-question",
            "The words of the question change places; punctuation and the placeholder's word stay "
            "whole.",
            "the grammar of the question: who did what to whom",
            edits.shuffle_questions,
            draws=True,
        ),
        Perturbation(
            "no-function-words",
            "The passage has no function words; entity mentions stay whole.",
            "pronouns, prepositions, negation, tense: how the words of a sentence belong together",
            edits.drop_function_words,
        ),
        Perturbation(
            "no-content-words",
            "The passage has only function words; entity mentions stay whole.",
            "what the passage is about",
            edits.drop_content_words,
        ),
        Perturbation(
            "shuffled-words",
            "The words of each sentence of the passage change places; punctuation and labels of "
            "speakers stay.",
            "the grammar of sentences: who did what to whom",
            edits.shuffle_words,
            draws=True,
        ),
        Perturbation(
            "shuffled-sentences",
            "The sentences of the passage change places; labels of speakers stay.",
            "the order of events, what pronouns mean, and who said what",
            edits.shuffle_sentences,
            draws=True,
        ),
        Perturbation(
            "matching-sentences",
            "The passage has only the sentences with a content word of the question; each question "
            "has its own.",
            "everything that does not repeat a word of the question: context and other sentences",
            edits.keep_matching_sentences,
            tasks=_QUESTIONS,
            refusal="entities whose sentences go would no longer be candidates",
        ),
        Perturbation(
            "no-blanks",
            "The passage has no blanks, except between words of scripts that need them; gold texts "
            "have none either.",
            "borders that blanks give away in a script without blanks between words",
            edits.drop_blanks,
        ),
        Perturbation(
            "other-passage",
            "The passage is another one of similar length, but not a near duplicate.",
            "the passage; a text of its kind and length remains",
            edits.swap_passages,
            draws=True,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
        Perturbation(
            "anonymous-words",
            "Each content word of passage, question and options is a code (@word7), equal within a "
            "question.",
            "what words mean, and that two forms of a word belong together; equal words remain "
            "equal",
            edits.anonymise,
            draws=True,
        ),
        Perturbation(
            "no-passage",
            "The passage is empty.",
            "the passage",
            edits.drop_passages,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
        Perturbation(
            "options-only",
            "Passage and question are empty.",
            "passage and question",
            edits.keep_options,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
    ),
    accept_instances("classic_rc.datasets:Perturbation"),
)
"""The perturbations by name, in the order of tables."""
