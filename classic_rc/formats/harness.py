"""Formats that read the answers of a model from a sample log of lm-evaluation-harness."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import TextLadder, normalised_text, option_forms
from classic_rc.errors import DataError, UsageError
from classic_rc.formats.answer_meaning import decide_answers
from classic_rc.formats.base import (
    AnswerFile,
    FileContent,
    Format,
    SystemOutput,
    first_row,
    prediction_of_file,
)
from classic_rc.formats.harness_docs import RIGHT_WORDS, WRONG_WORDS
from classic_rc.formats.harness_log import HarnessLog, Response, is_log_row, read_log
from classic_rc.io.json import describe_value
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, candidate_texts

_OptionScores: TypeAlias = "list[NDArray[np.float64]]"
"""The scores of the options of each question."""


class HarnessFormat(Format):
    """A log of ``lm_eval --log_samples``: the option with the highest log-likelihood, or the
    generated answer.

    Of equal log-likelihoods the first counts, as in the harness, so that the accuracy is its
    ``acc`` to the last digit. Questions are matched by content (passage, question and options up to
    blanks and case), never by id, and options may be in another order. The log may have more
    questions.

    MultiRC's logs have a row for each option. An option is selected if the harness would have taken
    its label for 1, so that the share of options labelled correctly is its ``acc``.
    """

    name = "harness"

    metric: ClassVar[str] = "acc"  # the harness's name of the accuracy of these answers
    last_filter: ClassVar[bool] = False  # whether the last of several filters has the answers
    yes_is_right: ClassVar[bool] = False  # also where the harness has the labels reversed

    def recognises(self, text: str) -> bool:
        """Return whether the first row has a document, the model's arguments and its responses."""
        return self.is_detected and is_log_row(first_row(text))

    def has_scores(self, text: str, source: str) -> bool:
        """Return whether the log has log-likelihoods, and not texts only."""
        return bool(self._read_log(text, source).responses[0].values)

    def _read_log(self, text: str, source: str, questions: Sequence[Question] = ()) -> HarnessLog:
        gold_as = _reading_of_log(questions, source)
        return read_log(text, source, self.last_filter, gold_as)

    def parse_scores(self, file: AnswerFile) -> FileContent:
        """Parse the log-likelihoods of options; for labels, how much more likely 1 is than 0."""
        text, questions, source, *_ = file
        log = self._read_log(text, source, questions)
        if not log.responses[0].values:
            return []
        scores = self._option_scores(log)
        matches = _match(log, questions, source, [])
        rows = [scores[i][order].tolist() for i, order in matches]
        return Scores.from_lists(rows, relative_ties=True)

    def render(self, output: SystemOutput) -> str:
        """Raise UsageError: only the harness writes its logs."""
        raise UsageError(
            "logs of lm-evaluation-harness are read, not written: choose another format, such as "
            "jsonl",
            field="format",
            found=self.name,
            expected="jsonl",
        )

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the answers of a log; see :meth:`read`."""
        text, questions, source, _, notes = file
        log = self._read_log(text, source, questions)
        matches = _match(log, questions, source, notes)
        answers = self._decide(log, source, notes)
        predictions = []
        for question, (i, order) in zip(questions, matches, strict=True):
            place = {option: position for position, option in enumerate(order.tolist())}
            log_answer = answers[i]
            mapped = []
            for options in log_answer.answers:
                if isinstance(options, frozenset):
                    mapped.append(frozenset(place[option] for option in options))
            prediction = Prediction(
                question.id,
                tuple(mapped),
                log_answer.weights,
                n_tied=log_answer.n_tied,
                n_candidates=len(order),
            )
            predictions.append(prediction)
        return predictions

    def _decide(self, log: HarnessLog, source: str, notes: list[str]) -> list[Prediction]:
        """Return the answers to the log's own questions."""
        if log.kind == "texts":
            if log.undecided is not None:
                raise log.undecided
            filtered = [[(r.node, text) for text in r.texts] for r in log.responses]
            whole_texts = [[(r.node, text) for text in r.whole_texts] for r in log.responses]
            predictions = decide_answers(log.questions, filtered, source, notes, log.reading)
            others = decide_answers(log.questions, whole_texts, source, [], log.reading)
            readings = {"its answers": predictions, "its whole texts": others}
            self._check_accuracy(log, readings, "exact_match", source, notes)
            return predictions
        if not log.responses[0].values:
            return _decide_label_texts(log, source, notes)
        scores = self._option_scores(log)
        if log.kind == "labels":
            selections = [frozenset(np.flatnonzero(row > 0).tolist()) for row in scores]
            return list(map(prediction_of_file, log.questions, selections))
        predictions = []
        for question, row in zip(log.questions, scores, strict=True):
            best = frozenset({int(row.argmax())})
            n_tied = int((row == row.max()).sum())
            predictions.append(
                Prediction(question.id, (best,), n_tied=n_tied, n_candidates=len(row))
            )
        readings = {"its best log-likelihoods": predictions}
        self._check_accuracy(log, readings, self.metric, source, notes)
        return predictions

    def _option_scores(self, log: HarnessLog) -> _OptionScores:
        if log.kind != "labels":
            return [np.array(response.values[0]) for response in log.responses]
        sign = -1 if self.yes_is_right and log.is_reversed else 1
        differences = ([sign * (yes - zero) for zero, yes in r.values] for r in log.responses)
        return list(map(np.array, differences))

    def _check_accuracy(
        self,
        log: HarnessLog,
        readings: Mapping[str, Sequence[Prediction]],
        metric: str,
        source: str,
        notes: list[str],
    ) -> None:
        """Note the accuracies where answers are not those that the harness measured."""
        places: list[int] = []
        logged: list[bool] = []
        for i, (question, response) in enumerate(zip(log.questions, log.responses, strict=True)):
            is_logged = response.logged.get(metric) in (0, 1)
            # Nothing is known of samples, nor of a metric with values between 0 and 1.
            if question.gold and is_logged and len(response.texts) < 2:
                places.append(i)
                logged.append(response.logged[metric] == 1)
        n = len(places)
        differing = []
        for name, predictions in readings.items():
            rights = [_is_right(predictions[i], log.questions[i]) for i in places]
            if rights != logged:
                n_other = sum(map(operator.ne, rights, logged))
                score = 100 * sum(rights) / n
                differing.append(f"{score:.2f} by {name}, other on {n_other:,} of {n:,} questions")
        if differing:
            logged_score = 100 * sum(logged) / n
            notes.append(
                f"{source}: {metric} is {logged_score:.2f} in the log, {'; '.join(differing)}"
            )


def _is_right(prediction: Prediction, question: Question) -> bool:
    """Return whether the first answer is one of the right options, and nothing else."""
    answers = prediction.answers[:1]
    return any(answers == (frozenset({option}),) for option in question.gold or ())


class HarnessNormFormat(HarnessFormat):
    """The format ``harness`` with ``acc_norm``: log-likelihoods divided by the characters of the
    option.

    The delimiter before an option does not count: a blank, unless the task has another one or none.
    The one that gives the logged ``acc_norm`` of most questions is taken.
    """

    name = "harness-norm"

    def _option_scores(self, log: HarnessLog) -> _OptionScores:
        if log.kind != "choices":
            raise UsageError(
                "acc_norm needs log-likelihoods of options, and this log has none",
                field="format",
                found=self.name,
                expected="harness",
            )
        texts = (text for response in log.responses for text in response.continuations)
        blanks = [text[: len(text) - len(text.lstrip())] for text in texts]
        # "" also where options start with blanks
        delimiters = dict.fromkeys((" ", min(blanks, key=len), ""))
        ways = [[_normalised(response, d) for response in log.responses] for d in delimiters]
        return min(ways, key=lambda scores: _count_other(log, scores))  # of equal ones the first


class HarnessYesFormat(HarnessFormat):
    """The format ``harness`` for logs whose labels are reversed: an option is selected if "yes" is
    more likely.

    The harness's ``multirc`` compares label 1, "right", with the second continuation, and that is
    "no". So its ``acc`` is high for a model that says "no" to right options.
    """

    name = "harness-yes"


class HarnessLastFormat(HarnessFormat):
    """The format ``harness`` with the last of several filters: ``flexible-extract`` after
    ``strict-match``.
    """

    name = "harness-last"


def _reading_of_log(questions: Sequence[Question], source: str) -> str | None:
    """Return how the targets of a log were declared to name options, where the questions are the
    log's own.
    """
    read_with = questions.read_with if isinstance(questions, Dataset) else None
    if read_with is None or Path(source).absolute() != Path(read_with["path"]).absolute():
        return None
    return read_with["gold_as"]


def _normalised(response: Response, delimiter: str) -> NDArray[np.float64]:
    scores = []
    for value, continuation in zip(response.values[0], response.continuations, strict=True):
        n_characters = len(continuation.removeprefix(delimiter))
        # An empty option is the worst one, as in the harness, also if its log-likelihood is 0.
        scores.append(value / n_characters if n_characters else -np.inf)
    return np.array(scores)


def _count_other(log: HarnessLog, scores: _OptionScores) -> int:
    """Return the number of questions on which these scores do not give the logged ``acc_norm``."""
    n_other = 0
    for question, response, row in zip(log.questions, log.responses, scores, strict=True):
        if "acc_norm" in response.logged:
            is_right = int(row.argmax()) in (question.gold or ())
            n_other += is_right != (response.logged["acc_norm"] > 0.5)
    return n_other


def _decide_label_texts(log: HarnessLog, source: str, notes: list[str]) -> list[Prediction]:
    """Return the options that the model called right in words; a text that is not a label counts
    as wrong.
    """
    predictions = []
    unparsed: list[tuple[Response, Any]] = []
    for question, response in zip(log.questions, log.responses, strict=True):
        selected = set()
        for option, text in enumerate(response.texts):
            word = normalised_text(str(text)).strip(".!?\"'")
            if word not in RIGHT_WORDS | WRONG_WORDS:
                unparsed.append((response, text))
            is_wrong = question.gold is not None and option not in question.gold
            if word in RIGHT_WORDS or (word not in WRONG_WORDS and is_wrong):
                selected.add(option)
        predictions.append(prediction_of_file(question, frozenset(selected)))
    if unparsed:
        response, text = unparsed[0]
        notes.append(
            f"{source}: {len(unparsed):,} of {log.n_rows:,} answers could not be parsed and count "
            f"as wrong: first near {response.node.where}: {describe_value(text)}"
        )
    return predictions


_Match: TypeAlias = "tuple[int, NDArray[np.int64]]"
"""The index of a question in a log, and the log's index of each of the question's options."""


def _match(
    log: HarnessLog, questions: Sequence[Question], source: str, notes: list[str]
) -> list[_Match]:
    """Find each question in the log, by passage, question and options; else by question and
    options alone.
    """
    exact: dict[Any, list[int]] = defaultdict(list)
    loose: dict[Any, list[int]] = defaultdict(list)
    for i, log_question in enumerate(log.questions):
        exact[_content(log_question)].append(i)
        loose[_content(log_question)[1:]].append(i)
    n_with_key = Counter(_content(question)[1:] for question in questions)
    n_loose = 0
    matches: list[_Match] = []
    missing: list[Question] = []
    for question in questions:
        key = _content(question)
        places = exact[key]
        if not places and n_with_key[key[1:]] == 1 and len(loose[key[1:]]) == 1 and key[1]:
            places = loose[key[1:]]
            n_loose += 1
        order = None
        if places:
            # equal questions in the order of the log
            place = places.pop(0) if len(places) > 1 else places[0]
            options = TextLadder(candidate_texts(log.questions[place].candidates))
            order = options.order(candidate_texts(question.candidates))
        if order is None:
            missing.append(question)
        else:
            matches.append((place, np.array(order, dtype=np.int64)))
    if missing:
        raise DataError(
            f"{len(missing):,} of {len(questions):,} questions are not among the log's "
            f"{len(log.questions):,}",
            source=source,
            found=f"none with the passage, question and options of {missing[0].id!r}",
            expected="each question, equal up to blanks and case",
            hint=f"Measure the log on its own questions: classic-rc run {source}",
        )
    if n_loose:
        notes.append(
            f"{source}: {n_loose:,} of {len(questions):,} questions are matched by question and "
            "options alone, because their passages differ"
        )
    return matches


def _content(question: Question) -> tuple[str, str, tuple[str, ...]]:
    options = tuple(sorted(option_forms(candidate_texts(question.candidates))))
    return normalised_text(question.passage.text), normalised_text(question.text), options
