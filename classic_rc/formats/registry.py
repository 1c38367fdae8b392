"""The formats by name, and files read and written in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.formats.base import Format
from classic_rc.formats.by_id import ReCoRD, SQuAD
from classic_rc.formats.jsonl import JSONLines
from classic_rc.formats.mctest import MCTestAnswers, MCTestScores
from classic_rc.formats.multirc import MultiRC
from classic_rc.formats.superglue import SuperGLUE
from classic_rc.io.text import read_text, write_whole
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task

FORMATS: dict[str, Format] = {
    layout.name: layout
    for layout in (MCTestScores(), MCTestAnswers(), MultiRC(), SuperGLUE(), ReCoRD(), SQuAD(), JSONLines())
}
"""Every format by its name."""


def get_format(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    UsageError
        There is none; the message proposes the nearest names.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise unknown_name("format", name, FORMATS) from None


def default_format(task: Task, reader: str | None = None) -> Format:
    """The official format of the datasets of a reader, else our own.

    Examples
    --------
    >>> default_format(Task.MULTI_SPAN, "quoref").name, default_format(Task.SPAN).name
    ('squad', 'jsonl')
    """
    official = (layout for layout in FORMATS.values() if task in layout.tasks and reader in layout.readers)
    return next(official, FORMATS["jsonl"])


def read_predictions(
    path: str | Path, dataset: Sequence[Question], format: str | None = None, *, notes: list[str] | None = None
) -> Scores | list[Prediction]:
    """What a file of predictions holds, in the order of the dataset.

    Parameters
    ----------
    path : path-like
        UTF-8, or UTF-16 with a byte order mark.
    dataset : sequence of Question
        The questions that it answers.
    format : str, optional
        The name of its format; by default recognised from the content.
    notes : list of str, optional
        Gets what the user should be told: how many questions the file leaves out.

    Returns
    -------
    Scores or list of Prediction
        The decisions where the file has any, else the scores.

    Raises
    ------
    UsageError
        The format cannot hold answers to such questions.
    DataError
        The file cannot be opened or recognised, is malformed, names what is not asked, or answers a question
        twice or, unless the official script allows that, not at all.
    """
    text = read_text(path)
    content = _format_of(text, dataset, format, str(path)).read(text, dataset, source=str(path))
    if notes is not None and not isinstance(content, Scores):
        unanswered = sum(not prediction.answers for prediction in content)
        if unanswered:
            notes.append(f"{path}: {unanswered:,} of {len(content):,} questions have no answer and score 0")
    return content


def read_scores(
    path: str | Path, dataset: Sequence[Question], format: str | None = None, *, partial: bool = False
) -> Scores:
    """The scores in a file, be there decisions beside them or not; as :func:`read_predictions`.

    Parameters
    ----------
    partial : bool
        Whether the file may hold scores of other questions too; see :meth:`Format.read_scores`.

    Raises
    ------
    UsageError
        The file holds decisions alone, or its format cannot hold answers to such questions.
    DataError
        As :func:`read_predictions`.
    """
    text = read_text(path)
    layout = _format_of(text, dataset, format, str(path))
    return layout.read_scores(text, dataset, source=str(path), partial=partial)


def write_predictions(
    path: str | Path,
    dataset: Dataset,
    scores: Scores | None = None,
    predictions: Sequence[Prediction] | None = None,
    format: str | None = None,
) -> None:
    r"""Write a file of scores, decisions or both, as UTF-8 with lines ended by ``"\n"``.

    Parameters
    ----------
    path : path-like
        Replaced if it is there.
    dataset : Dataset
    scores : Scores, optional
    predictions : sequence of Prediction, optional
        Of tied answers, the first is written.
    format : str, optional
        A name in :data:`FORMATS`; by default the official one of the dataset's reader.

    Raises
    ------
    UsageError
        The format cannot hold that, a question has no answer and needs one, or the file cannot be written.
    """
    layout = get_format(format) if format else default_format(dataset.task or Task.SINGLE_CHOICE, dataset.reader)
    text = layout.write(dataset, scores, predictions)
    try:
        write_whole(Path(path), text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _format_of(text: str, dataset: Sequence[Question], name: str | None, source: str) -> Format:
    if name is not None:
        return get_format(name)
    recognised = [layout for layout in FORMATS.values() if layout.recognises(text)]
    fitting = [layout for layout in recognised if not dataset or dataset[0].task in layout.tasks]
    if fitting or recognised:
        return (fitting or recognised)[0]  # one that does not fit says so itself
    raise DataError(
        "no format of predictions is recognised",
        source=source,
        found=repr(text.strip()[:40]) if text.strip() else "an empty file",
        expected=f"one of {', '.join(FORMATS)}",
        hint="Name the format to learn what is wrong with the file",
    )
