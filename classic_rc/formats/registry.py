"""The formats by name, and the functions that read and write files in them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from classic_rc.datasets.fields import find_paths
from classic_rc.errors import DataError, unknown_name
from classic_rc.formats.base import Content, FileContent, Format, first_row
from classic_rc.io.files import unwritable_error
from classic_rc.io.json import describe_value
from classic_rc.io.text import write_atomically
from classic_rc.plugins import Registry, accept_instances
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task

FORMATS = Registry[Format](
    "format",
    {
        "mctest-scores": "classic_rc.formats.official:MCTestScoresFormat",
        "mctest-answers": "classic_rc.formats.official:MCTestAnswersFormat",
        # before ReCoRD's, because it is the official one for files in SuperGLUE's form
        "superglue": "classic_rc.formats.official:SuperGLUEFormat",
        "record": "classic_rc.formats.official:ReCoRDFormat",
        "squad": "classic_rc.formats.official:SQuADFormat",
        # before those that recognise every JSON list, or one JSON object
        "harness": "classic_rc.formats.harness:HarnessFormat",
        "harness-norm": "classic_rc.formats.harness:HarnessNormFormat",
        "harness-yes": "classic_rc.formats.harness:HarnessYesFormat",
        "harness-last": "classic_rc.formats.harness:HarnessLastFormat",
        # before those that recognise every JSON list, or every row with a question_id
        "answers": "classic_rc.formats.answers:AnswersFormat",
        "multirc": "classic_rc.formats.official:MultiRCFormat",
        "jsonl": "classic_rc.formats.jsonl:JSONLinesFormat",
    },
    accept_instances("classic_rc.formats:Format"),
)
"""All formats by name, in the order in which they try to recognise a file."""


def get_format(name: str) -> Format:
    """Return the format with this name.

    Raises
    ------
    UsageError
        The name is unknown; the message proposes the closest names.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise unknown_name("format", name, FORMATS) from None


def default_format(dataset: Dataset, content: Content = "decisions") -> Format:
    """Return the official format for a dataset, or our own where there is none that holds the
    content.

    Parameters
    ----------
    dataset : Dataset
    content : {"decisions", "scores"}
        What the format must hold. Few official formats hold scores.

    Examples
    --------
    >>> from classic_rc import load
    >>> (
    ...     default_format(load("sample:cloze")).name,
    ...     default_format(load("sample:cloze"), "scores").name,
    ... )
    ('answers', 'jsonl')
    """
    for layout in FORMATS.values():
        is_possible = content in layout.holds and dataset.task in layout.tasks
        if dataset.reader in layout.readers and is_possible and layout.is_official(dataset):
            return layout
    return FORMATS["answers" if content == "decisions" else "jsonl"]


def read_predictions(
    path: str | Path,
    dataset: Sequence[Question],
    format: str | None = None,
    *,
    partial: bool = False,
    notes: list[str] | None = None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> FileContent:
    """Read a file of predictions, in the order of the dataset.

    Parameters
    ----------
    path : path-like
        A file in UTF-8, or in UTF-16 with a byte order mark.
    dataset : sequence of Question
        The questions that the file answers.
    format : str, optional
        The name of the format. None recognises it from the content.
    partial : bool
        Whether the file may also answer other questions; see :meth:`Format.read`.
    notes : list of str, optional
        Receives notes for the user: the numbers of questions that the file leaves out and of
        answers that say nothing.
    options : mapping of str to str
        The options of a specification: ``{"pattern": "Answer: ([A-D])"}``; see :class:`Format`.
        ``{"strict": "yes"}`` refuses a file with anything to note, such as answers to other
        questions, two answers to one, or none.

    Returns
    -------
    Scores or list of Prediction
        The decisions if the file has any, else the scores.

    Raises
    ------
    UsageError
        The format is unknown, or does not support the task.
    DataError
        The file cannot be read or recognised, is malformed, has an unknown question, or answers a
        question twice or (unless the official script allows that) not at all.
    """
    text, layout = _open(path, dataset[0].task if len(dataset) else None, format, options)
    remarks: list[str] = []
    is_strict = "strict" in options
    content = _read_or_choose(
        layout, text, dataset, str(path), remarks, partial=partial, is_strict=is_strict
    )
    if remarks and is_strict:
        raise DataError(f"{remarks[0]} (refused, as strict=yes says)")
    if notes is not None:
        notes += remarks
    return content


def _read_or_choose(
    layout: Format,
    text: str,
    dataset: Sequence[Question],
    source: str,
    notes: list[str],
    *,
    partial: bool,
    is_strict: bool,
) -> FileContent:
    """Read a file that answers the questions of a dataset, or choose them from its answers to
    others, unless this is strict.
    """
    everything = dataset.whole if isinstance(dataset, Dataset) else None
    log = dataset.log if isinstance(dataset, Dataset) else None
    left_out = log is not None and bool(log.left_out)
    read = functools.partial(layout.read, text, source=source, notes=notes)
    try:
        return read(dataset, partial=partial)
    except DataError:
        # The file may also answer other questions: those that ``skip`` left out, or those of the
        # whole dataset.
        if everything is None and not left_out:
            if partial or is_strict:
                raise
            return _read_part(layout, text, dataset, source, notes)
    try:
        content = read(everything or dataset, partial=partial)
    except DataError:
        if partial or not left_out:
            raise
        content = read(everything or dataset, partial=True)
        notes.append(
            f"{source}: answers to questions that could not be read (--skip bad) are left out"
        )
    if everything is None:
        return content
    position = {question.id: i for i, question in enumerate(everything)}
    places = [position[question.id] for question in dataset]
    return content.take(places) if isinstance(content, Scores) else [content[i] for i in places]


def _read_part(
    layout: Format, text: str, dataset: Sequence[Question], source: str, notes: list[str]
) -> FileContent:
    """Read a file that answers all questions of a dataset and others too; raise the error of the
    file otherwise.
    """
    from classic_rc.formats.answers import AnswersFormat

    file_notes: list[str] = []
    try:
        content = layout.read(text, dataset, source=source, partial=True, notes=file_notes)
    except DataError:
        content = list[Prediction]()
    # Where a question may be missing, a file of other data can have one of the ids too.
    is_whole = (
        isinstance(layout, AnswersFormat)
        or isinstance(content, Scores)
        or all(prediction.answers for prediction in content)
    )
    if not len(content) or not is_whole:
        return layout.read(text, dataset, source=source)  # raises the error again
    notes += file_notes
    notes.append(
        f"{source}: it answers more questions than these {len(dataset):,}: the others are left out"
    )
    return content


def has_scores(path: str | Path, task: Task, format: str | None = None) -> bool:
    """Return whether a file has scores, and not only decisions."""
    text, layout = _open(path, task, format)
    return layout.has_scores(text, str(path))


def read_scores(
    path: str | Path,
    dataset: Sequence[Question],
    format: str | None = None,
    *,
    partial: bool = False,
) -> Scores:
    """Read the scores in a file, which may also have decisions.

    Parameters
    ----------
    path, dataset, format
        See :func:`read_predictions`.
    partial : bool
        Whether the file may also have scores of other questions; see :meth:`Format.read_scores`.

    Returns
    -------
    Scores

    Raises
    ------
    UsageError
        The file has decisions only, or its format does not support the task.
    DataError
        See :func:`read_predictions`.
    """
    text, layout = _open(path, dataset[0].task if len(dataset) else None, format)
    return layout.read_scores(text, dataset, source=str(path), partial=partial)


def write_predictions(
    path: str | Path,
    dataset: Dataset,
    scores: Scores | None = None,
    predictions: Sequence[Prediction] | None = None,
    format: str | None = None,
) -> None:
    r"""Write a file of scores, decisions or both, as UTF-8 with ``"\n"`` line ends.

    Parameters
    ----------
    path : path-like
        An existing file is replaced.
    dataset : Dataset
    scores : Scores, optional
    predictions : sequence of Prediction, optional
        Of tied answers, the first is written.
    format : str, optional
        A name in :data:`FORMATS`. None means the official format for the dataset's reader.

    Raises
    ------
    UsageError
        The format does not support the task or the content, a question has no answer and needs one,
        or the file cannot be written.
    """
    content: Content = "scores" if predictions is None else "decisions"
    layout = get_format(format) if format else default_format(dataset, content)
    text = layout.write(dataset, scores, predictions)
    try:
        write_atomically(Path(path), text)
    except OSError as error:
        raise unwritable_error(path, error) from None


def _open(
    path: str | Path,
    task: Task | None,
    name: str | None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, Format]:
    """Return the text of a file, and its format."""
    from classic_rc.formats.layouts import read_answer_text

    text = read_answer_text(path)
    if name is not None:
        return text, get_format(name).with_options(options)
    able = [
        layout.with_options(options) for layout in FORMATS.values() if {*options} <= layout.takes
    ]
    recognised = [layout for layout in able if layout.recognises(text)]
    fitting = [layout for layout in recognised if task is None or task in layout.tasks]
    row = first_row(text)
    if fitting or (recognised and not (isinstance(row, Mapping) and "\n" in text.strip())):
        # A format that does not support the task raises its own error.
        return text, (fitting or recognised)[0]
    hint = "Name the format to see what it expects (-s FORMAT:FILE)"
    if isinstance(row, Mapping):
        paths = ", ".join(find_paths(row))
        hint = f"Name the paths of ids and answers: -s FILE,id=PATH,text=PATH; it has {paths}"
    elif text.lstrip().startswith("["):
        hint = 'Each element of a list needs the id of its question: {"id": "...", "answer": "..."}'
    elif not text.lstrip().startswith("{"):
        first_line = text.strip().partition("\n")[0]
        hint = (
            "The first line of a table has the names of its columns, such as id,prediction; here "
            f"it is {describe_value(first_line)}. {hint}"
        )
    raise DataError(
        "unknown format of predictions",
        source=str(path),
        found=repr(text.strip()[:40]) if text.strip() else "an empty file",
        expected=f"one of {', '.join(FORMATS)}",
        hint=hint,
    )
