"""Sample logs of lm-evaluation-harness, read and checked: the questions, and what the model
answered to each.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from classic_rc.encodings import (
    GOLD_AS,
    READINGS,
    Written,
    ambiguity_error,
    find_difference,
    fitting_readings,
)
from classic_rc.equality import TextLadder
from classic_rc.errors import DataError
from classic_rc.formats.harness_docs import (
    Document,
    conditional_requests,
    join_documents,
    read_document,
    says_right,
)
from classic_rc.formats.harness_settings import read_settings
from classic_rc.io.json import Node, describe_value, json_lines, read_literal
from classic_rc.questions import Question, Task

Kind: TypeAlias = Literal["choices", "labels", "texts"]
"""What a model answered with: a log-likelihood of each option, of each label of each option, or
a text.
"""

Golds: TypeAlias = "tuple[list[Any], str | None, DataError | None]"
"""The right answers that rows have, and the reading of their targets, or the error for several."""

_KEYS = {"doc", "arguments", "resps"}
_LETTER = re.compile(r"\W*\w\W*")


class Response(NamedTuple):
    """What a model answered to a question of a log."""

    # log-likelihoods of options; for labels of each option; empty for texts
    values: tuple[tuple[float, ...], ...]
    # what `values` are the log-likelihoods of; for labels, of the first option
    continuations: tuple[str, ...]
    texts: tuple[Any, ...]  # generated: samples of an answer, or for labels one for each option
    node: Node  # the place in the log
    logged: Mapping[str, float]  # the accuracies that the harness logged
    whole_texts: tuple[Any, ...] = ()  # `texts` before the harness filtered them


class HarnessLog(NamedTuple):
    """A log, read and checked."""

    questions: tuple[Question, ...]
    responses: tuple[Response, ...]  # one for each question
    kind: Kind
    notes: tuple[str, ...]  # about the questions, and what the model saw apart from them
    n_rows: int  # documents; of MultiRC, one for each option
    n_filters: int  # of the task; the harness logs every document once for each
    reading: str | None  # how targets name options, as generated answers do too
    undecided: DataError | None  # why gold is unknown: targets that can be read in several ways

    @property
    def is_reversed(self) -> bool:
        """Whether the first of two labels is "yes" but the harness counts it as label 0,
        "wrong".
        """
        return self.kind == "labels" and _is_reversed(self.responses[0])

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of the formats that read different answers from this log, the one of ``acc``
        first.
        """
        are_read = {
            "harness": True,
            "harness-norm": self._has_norm,
            "harness-yes": self.is_reversed,
            "harness-last": self.n_filters > 1,
        }
        return tuple(name for name, is_read in are_read.items() if is_read)

    @property
    def _has_norm(self) -> bool:
        logs_norm = all("acc_norm" in response.logged for response in self.responses)
        return self.kind == "choices" and logs_norm


def is_log_row(row: Any) -> bool:
    """Return whether a JSON value is a row of a sample log."""
    return isinstance(row, Mapping) and row.keys() >= _KEYS and isinstance(row["doc"], Mapping)


# the questions, the answers and their normalised form are read one after the other
@lru_cache(maxsize=3)
def read_log(
    text: str, source: str, last_filter: bool = False, gold_as: str | None = None
) -> HarnessLog:
    """Read a sample log, as the current release of the harness and the one before it write logs.

    The log's settings are in ``results_*.json`` next to its path, `source`. With `last_filter`, the
    rows are those of the last filter. `gold_as` is how targets name options, one of
    :data:`classic_rc.encodings.READINGS`.
    """
    notes: list[str] = []
    rows, n_filters = _choose_filter(_read_rows(text, source), notes, -1 if last_filter else 0)
    documents = []
    for row in rows:
        contexts, continuations = _read_arguments(row)
        n_prompts = len({contexts[i] for i in conditional_requests(contexts)})
        document = read_document(row.child("doc"), continuations, n_prompts)
        documents.append(document)
        if document.family != documents[0].family or document.is_label != documents[0].is_label:
            change = (
                f"{document.family or 'unknown fields'} after "
                f"{documents[0].family or 'unknown fields'}"
            )
            raise _several_tasks(row, change)
    first = documents[0]
    responses = [_read_response(row) for row in rows]
    has_values = bool(responses[0].values)
    kind: Kind = "labels" if first.is_label else "choices" if has_values else "texts"
    for row, response in zip(rows, responses, strict=True):
        if bool(response.values) != has_values:
            raise _several_tasks(row, "texts and log-likelihoods")
    ids = [str(row.value.get("doc_id", place)) for place, row in enumerate(rows)]
    joined = join_documents(documents, ids)
    questions = [question for question, _ in joined]
    reading, undecided = gold_as, None
    if kind == "labels":
        responses = [_join_responses(rows, responses, members) for _, members in joined]
    else:
        golds, reading, undecided = _read_golds(
            questions, documents, rows, responses, source, gold_as
        )
        questions = [
            replace(question, gold=gold) for question, gold in zip(questions, golds, strict=True)
        ]
    notes += _describe_questions(documents, questions)
    if kind == "choices":
        notes += _describe_metrics(rows, responses)
    if kind == "labels":
        notes += _describe_labels(questions, responses)
    notes += _compare_with_results(rows, source)
    read = tuple(questions), tuple(responses)
    return HarnessLog(*read, kind, tuple(notes), len(rows), n_filters, reading, undecided)


def _read_rows(text: str, source: str) -> list[Node]:
    rows: list[Node] = []
    try:
        for row in json_lines(text, source):
            rows.append(row)  # the rows before an error tell whether only the last one is bad
    except DataError as error:
        n_lines = text.rstrip("\n").count("\n") + 1
        if not rows or not str(error.where).startswith(f"line {n_lines} "):
            raise
        raise DataError(
            "the log is cut off in its last line",
            source=source,
            where=f"line {n_lines}",
            found=describe_value(text.rstrip("\n").rpartition("\n")[2][-40:]),
            expected="a whole JSON object",
            hint=f"Copy the log again, or take its whole lines: head -n {n_lines - 1} {source} > "
            "whole.jsonl",
        ) from None
    for row in rows:
        if not is_log_row(row.value):
            raise row.error(
                "not a row of a sample log",
                found=describe_value(row.value),
                expected=f"an object with {', '.join(sorted(_KEYS))}",
            )
    if not rows:
        raise DataError("the log has no rows", source=source, expected="a row for each document")
    return rows


def _choose_filter(rows: Sequence[Node], notes: list[str], place: int) -> tuple[list[Node], int]:
    """Return the rows of the filter at a place, and the number of filters: each has a row for
    every document.
    """
    filters: dict[str, list[Node]] = {}
    for row in rows:
        filters.setdefault(str(row.value.get("filter", "")), []).append(row)
    names = list(filters)
    if len(names) > 1:
        notes.append(
            f"the log has the filters {', '.join(names)}: the answers are those of {names[0]}, and "
            f"those of {names[-1]} are another row of the model"
        )
    first: dict[str, Node] = {}
    for row in filters[names[place]]:
        first_row = first.setdefault(str(row.value.get("doc_id", row.where)), row)
        if row.value["doc"] != first_row.value["doc"]:
            doc_id = row.value.get("doc_id")
            raise _several_tasks(row, f"doc_id {doc_id} with two different documents")
        if first_row is not row:
            raise row.error(
                "a document is logged twice",
                field="doc_id",
                found=str(row.value["doc_id"]),
                expected="each once, in the log of one run",
                hint="If these are the logs of several runs or models, name their files one by one",
            )
    return filters[names[place]], len(names)


def _several_tasks(row: Node, actual: str) -> DataError:
    return row.error(
        "the log has several tasks",
        found=actual,
        expected="the rows of one task",
        hint="The harness writes a file for each task: name these files, samples_TASK_DATE.jsonl, "
        "one by one",
    )


def _read_arguments(row: Node) -> tuple[list[str], list[str] | None]:
    """Return the contexts and continuations of a row; no continuations if the model generated a
    text.
    """
    value = row.child("arguments").value
    requests = list(value.values()) if isinstance(value, Mapping) else []
    contexts: list[str] = []
    seconds: list[Any] = []  # continuations, or the settings of a generation
    for request in requests:
        pair = list(request.values()) if isinstance(request, Mapping) else []
        if pair:
            context = pair[0]
            contexts.append(context if isinstance(context, str) else json.dumps(context))
            seconds.append(pair[1] if len(pair) > 1 else None)
    if not contexts or len(contexts) < len(requests):
        raise row.error(
            "no arguments", field="arguments", found=describe_value(value), expected="requests"
        )
    if len(requests) == 1 and isinstance(seconds[0], Mapping):
        return contexts, None
    if len(requests) < 2 or not all(isinstance(second, str) for second in seconds):
        actual = describe_value(value)
        if len(requests) == 1:
            actual = "one text whose probability is measured"
        raise row.error(
            "the task has no options to choose from",
            field="arguments",
            found=actual,
            expected="log-likelihoods of two options or more, or a generated answer",
            hint="Logs of perplexity and completion tasks cannot be measured here",
        )
    return contexts, [str(seconds[i]) for i in conditional_requests(contexts)]


def _read_response(row: Node) -> Response:
    """Return the model's response to one row; the values of a label are those of its one option."""
    key = "filtered_resps" if row.has("filtered_resps") else "resps"
    contexts, continuations = _read_arguments(row)
    logged: dict[str, float] = {}
    for name in ("acc", "acc_norm", "exact_match"):
        value = row.value.get(name)
        if isinstance(value, (int, float, bool)):
            logged[name] = float(value)
    place = _place(row)
    if continuations is None:
        texts, whole_texts = _samples(row.sequence(key)), _samples(row.sequence("resps"))
        return Response((), (), texts, place, logged, whole_texts)
    logged_responses = row.sequence(key)
    if len(logged_responses) != len(contexts):
        raise row.error(
            "responses do not fit the arguments",
            field=key,
            found=f"{len(logged_responses)} responses to {len(contexts)} requests",
            expected="one for each",
        )
    values = tuple(_log_likelihood(row, key, i) for i in conditional_requests(contexts))
    return Response((values,), tuple(continuations), (), place, logged)


def _samples(texts: Sequence[Any]) -> tuple[Any, ...]:
    """Return the samples of a generated answer: the harness logs several of them as a list."""
    samples: list[Any] = []
    for text in texts:
        samples += text if isinstance(text, list) and text else [text]
    return tuple(samples)


def _log_likelihood(row: Node, key: str, i: int) -> float:
    value = row.value[key][i]
    while isinstance(value, list) and value:
        value = value[0]
    with suppress(ValueError, TypeError, OverflowError):
        number = float(value)
        if not math.isnan(number) and not isinstance(value, bool):
            return number
    raise row.error(
        "invalid log-likelihood",
        field=f"{key}[{i}]",
        found=describe_value(value),
        expected="a number",
    )


# --------------------------------------------------------------------------------------------------
# Questions


def _read_golds(
    questions: Sequence[Question],
    documents: Sequence[Document],
    rows: Sequence[Node],
    responses: Sequence[Response],
    source: str,
    gold_as: str | None,
) -> Golds:
    """Return the right answers that the rows have and the reading of their targets, or the error
    for several.
    """
    if responses[0].values:
        return _read_targets(rows, documents, responses, gold_as)
    # Here, because its patterns take long to compile.
    from classic_rc.formats.answer_meaning import decide_answers, decide_samples

    # A target of a generated answer is an answer itself: a letter, a text or an index.
    targets = [[(_place(row), _plain_target(row))] for row in rows]
    answers = [[(response.node, text) for text in response.texts] for response in responses]
    with suppress(DataError):
        gold_as = gold_as or decide_samples(questions, targets, "target", GOLD_AS)
    # Answers are compared with targets, so they name options in the same way and can show which it
    # is.
    targets_and_answers = [target + answer for target, answer in zip(targets, answers, strict=True)]
    try:
        reading = gold_as or decide_samples(questions, targets_and_answers, "target", GOLD_AS)
    except DataError as error:
        return [None] * len(rows), None, error
    parsed = decide_answers(questions, targets, source, [], reading)
    for row, prediction in zip(rows, parsed, strict=True):
        if not prediction.answers:
            raise _no_option(row, READINGS[reading or "text"])
    return [parsed_target.answers[0] for parsed_target in parsed], reading, None


def _place(row: Node) -> Node:
    return Node(None, row.source, row.line if row.line is not None else row.where)


def _plain_target(row: Node) -> Any:
    target = row.get("target", "the right answer")
    return target.strip() if isinstance(target, str) else target


def _read_targets(
    rows: Sequence[Node],
    documents: Sequence[Document],
    responses: Sequence[Response],
    gold_as: str | None,
) -> Golds:
    """Return the right options of each row, None where they are hidden, and the reading of targets
    or the error.

    A target is a choice, or the position of one from 0 (several in a list), below 0 if it is
    hidden; a log has all as texts. Where "2" may be both, it is not what contradicts the logged
    accuracy.
    """
    written = []
    for row, document, response in zip(rows, documents, responses, strict=True):
        values, logged = response.values[0], response.logged.get("acc")
        position = document.right or _position(row)
        choice = None if document.right else _choice(row, document, response)
        meanings: dict[str, frozenset[int]] = {}
        for name, places in (("index0", position), ("text", choice)):
            if places is not None and max(places, default=0) < len(values):
                meanings[name] = places
        if not meanings and _plain_target(row) is not None:
            last = len(responses[0].continuations) - 1
            raise _no_option(row, f"a position from 0 to {last}, or the text of an option")
        if logged is not None:
            best = values.index(max(values))
            is_right = logged > 0.5
            agreeing = {name: m for name, m in meanings.items() if (best in m) == is_right}
            meanings = agreeing or meanings
        written.append(Written(row, row.value.get("target"), response.continuations, meanings))
    fitting = [gold_as] if gold_as in ("index0", "text") else fitting_readings(written)
    differing = find_difference(written, fitting or ("index0", "text"))
    if differing is not None:
        error = ambiguity_error(differing, list(differing.meanings), "target", GOLD_AS)
        return [None] * len(rows), None, error
    golds: list[Any] = []
    for target in written:
        rights = (target.meanings.get(name) for name in (*fitting, "index0", "text"))
        right = next((right for right in rights if right is not None), ())
        golds.append(frozenset(option for option in right if option >= 0) or None)
    return golds, next(iter(fitting), None), None


def _position(row: Node) -> frozenset[int] | None:
    """Return the positions that a target has, or None."""
    target = _plain_target(row)
    target = read_literal(target) if isinstance(target, str) else target
    places = target if isinstance(target, list) else [target]
    return frozenset(map(int, places)) if all(isinstance(i, int) for i in places) else None


def _choice(row: Node, document: Document, response: Response) -> frozenset[int] | None:
    """Return the position of the choice that a target is, as the model saw it or in the
    document, or None.
    """
    target = _plain_target(row)
    if not isinstance(target, str):
        return None
    for texts in (response.continuations, document.options):
        places = TextLadder(texts).find(target)
        if len({texts[i] for i in places}) == 1:
            return frozenset(places[:1])
    return None


def _no_option(row: Node, expected: str) -> DataError:
    return row.error(
        "the target is not an option",
        field="target",
        found=describe_value(row.value.get("target")),
        expected=expected,
        hint=f"Without this document: sed {row.line}d {row.source} > others.jsonl",
    )


def _join_responses(
    rows: Sequence[Node], responses: Sequence[Response], members: Sequence[int]
) -> Response:
    values: list[tuple[float, ...]] = []
    texts: list[Any] = []
    for i in members:
        values += responses[i].values
        if responses[i].values and len(values[-1]) != 2:
            raise rows[i].error(
                "not two labels", field="arguments", found=str(len(values[-1])), expected="2"
            )
        texts.append(next(iter(responses[i].texts), None))
    first = responses[members[0]]
    samples = () if first.values else tuple(texts)
    return Response(tuple(values), first.continuations, samples, first.node, {})


def _describe_questions(documents: Sequence[Document], questions: Sequence[Question]) -> list[str]:
    """Return notes on what the questions lack, and on what the model's prompts have apart from
    them.
    """
    notes = []
    has_passage = any(document.passage for document in documents)
    has_question = any(document.question for document in documents)
    n_scored = sum(not document.has_options for document in documents)
    if n_scored and not documents[0].is_known:
        passages = "a field of the documents" if has_passage else "empty"
        share = f" ({n_scored:,} of {len(documents):,} documents)"
        scored = f"scored{share if n_scored < len(documents) else ''}"
        notes.append(
            "the fields of this task's documents are unknown: options are the continuations that "
            f"the model {scored}, and passages are {passages}"
        )
        if all(_LETTER.fullmatch(option) for document in documents for option in document.options):
            notes.append(
                "the options are letters without their texts, so systems that compare texts only "
                "guess"
            )
    elif has_question and not has_passage:
        notes.append(
            "the documents have no passage: the other systems see only the question and the options"
        )
    if unread := Counter(name for document in documents for name in document.unread):
        notes.append(
            f"the other systems do not see the fields {', '.join(unread)}, whose role is unknown"
        )
    if not has_question:
        notes.append(
            "the documents have no question: the other systems see only the options and any passage"
        )
    if n_more := sum(document.n_other_questions > 0 for document in documents):
        notes.append(
            f"the model saw more: {n_more:,} of {len(documents):,} prompts also have the passage's "
            "other questions with their right answers; the other systems see only the passage"
        )
    golds = {q.gold or () for q in questions if q.task is Task.SINGLE_CHOICE}
    places = [place for gold in golds for place in gold if isinstance(place, int)]
    if len(golds) == len(places) == 1 and len(questions) > 9:
        notes.append(
            f"the right option is always option {places[0] + 1}: the harness puts it there, so "
            "systems that use positions, such as constant-position, measure nothing"
        )
    return notes


def _describe_metrics(rows: Sequence[Node], responses: Sequence[Response]) -> list[str]:
    """Return notes on what the harness measured instead of the share of right answers."""
    values = [response.logged.get("acc") for response in responses]
    if any(value not in (0, 1, None) for value in values):
        return ["the log's acc is not a share of right answers: it has values between 0 and 1"]
    if None not in values:
        return []
    metrics = rows[0].value.get("metrics")
    names = f" ({', '.join(map(str, metrics))})" if isinstance(metrics, list) and metrics else ""
    return [
        f"the harness has not measured acc, but other metrics{names}: the accuracy uses the best "
        "options"
    ]


def _describe_labels(questions: Sequence[Question], responses: Sequence[Response]) -> list[str]:
    """Return notes on the accuracy of labels, which is not among the metrics of multiple-answer
    questions.
    """
    n = n_right = 0
    for question, response in zip(questions, responses, strict=True):
        if question.gold is not None:
            n += len(response.values)
            for option, (zero, yes) in enumerate(response.values):
                n_right += (yes > zero) == (option in question.gold)
    if not n:
        return []
    share = f"{100 * n_right / n:.2f} ({n_right:,} of {n:,})"
    notes = [f"the harness measures options one by one: acc {share}"]
    if _is_reversed(responses[0]):
        notes.append(
            "the harness has the labels reversed: its acc compares label 1, a right option, with "
            "the continuation "
            f'"no"; with "yes" as right, {100 * (n - n_right) / n:.2f}, the second row of the model'
        )
    return notes


def _is_reversed(response: Response) -> bool:
    """Return whether the continuation of label 0 says that an option is right."""
    return bool(response.continuations) and says_right(response.continuations[0])


def _compare_with_results(rows: Sequence[Node], source: str) -> list[str]:
    settings = read_settings(source)
    if settings is None:
        return [
            "no results_*.json next to the log: the number of examples in the prompts is unknown"
        ]
    notes = []
    shots = settings.facts.get("few-shot")
    if isinstance(shots, int) and shots > 0:
        notes.append(
            f"the model saw more: {shots} examples with right answers before each question "
            f"({shots}-shot); the other systems see only the passage"
        )
    counted = settings.n_documents
    n_rows = len(rows)
    if counted is not None and counted != n_rows:
        ids = [row.value.get("doc_id") for row in rows]
        is_start = n_rows < counted and ids == list(range(n_rows))
        end = f", and ends after document {n_rows - 1:,}" if is_start else ""
        notes.append(
            f"the log has {n_rows:,} documents{end}; the results file counts {counted:,}, so "
            "that its figures are not those of this log"
        )
    return notes
