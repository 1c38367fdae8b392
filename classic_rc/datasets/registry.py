"""The readers by name, and what reads with them: paths, names, embedded samples, and data in
memory.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.datasets.base import Reader
from classic_rc.datasets.fetch import (
    NamedSplit,
    cached_path,
    check_split,
    find_split,
    is_hub_name,
    require_cached,
)
from classic_rc.datasets.fields import PROPOSAL_ROWS, parse_fields
from classic_rc.datasets.known_scorers import with_scorers
from classic_rc.datasets.memory import from_rows, is_table, join_datasets
from classic_rc.datasets.nested_rows import find_question_lists
from classic_rc.datasets.proposal import unknown_rows_error
from classic_rc.datasets.reading import Options, Reading, check_skipped
from classic_rc.datasets.rows import RowReader
from classic_rc.datasets.specification import DataSpec, merge_settings, parse_data, quote_argument
from classic_rc.datasets.splits import SPLIT_NAMES
from classic_rc.errors import ClassicRCError, DataError, UsageError, unknown_name
from classic_rc.io.archives import InputFile, InputFiles, list_names, open_input
from classic_rc.io.json import describe_value
from classic_rc.plugins import Registry, accept_instances
from classic_rc.questions import Dataset, Question, Source

READERS = Registry[Reader](
    "reader",
    {
        "mctest": "classic_rc.datasets.mctest:MCTestReader",
        "race": "classic_rc.datasets.race:RaceReader",
        "multirc": "classic_rc.datasets.multirc:MultiRCReader",
        "superglue": "classic_rc.datasets.multirc:SuperGLUEReader",
        "record": "classic_rc.datasets.cloze:ReCoRDReader",
        "cnn-dailymail": "classic_rc.datasets.cloze:CNNDailyMailReader",
        "cbt": "classic_rc.datasets.cloze:CBTReader",
        "quoref": "classic_rc.datasets.squad:QuorefReader",
        "squad": "classic_rc.datasets.squad:SquadReader",
        "dream": "classic_rc.datasets.dream:DreamReader",
        "c3": "classic_rc.datasets.dream:C3Reader",
        "mcscript": "classic_rc.datasets.row_datasets:MCScriptReader",
        "quail": "classic_rc.datasets.row_datasets:QuailReader",
        "cosmosqa": "classic_rc.datasets.row_datasets:CosmosQAReader",
        "logiqa": "classic_rc.datasets.logiqa:LogiQAReader",
        "logiqa2": "classic_rc.datasets.logiqa:LogiQA2Reader",
        "boolq": "classic_rc.datasets.row_datasets:BoolQReader",
        "belebele": "classic_rc.datasets.row_datasets:BelebeleReader",
        "arc": "classic_rc.datasets.row_datasets:ArcReader",
        "harness": "classic_rc.datasets.harness:HarnessReader",
        "huggingface": "classic_rc.datasets.huggingface:HuggingFaceReader",
        "jsonl": "classic_rc.datasets.own_files:JsonLinesReader",
        "table": "classic_rc.datasets.own_files:TableReader",
    },
    accept_instances("classic_rc.datasets:Reader"),
)
"""The readers by name, in the order in which they try to recognise a file. Plug-ins of other
packages come last.
"""

_SAMPLE_FOLDER = Path(__file__).parent / "sample"
SAMPLES = {
    "sample:single-choice": _SAMPLE_FOLDER / "single_choice.jsonl",
    "sample:multiple-answer": _SAMPLE_FOLDER / "multiple_answer.jsonl",
    "sample:cloze": _SAMPLE_FOLDER / "cloze.jsonl",
    "sample:multi-span": _SAMPLE_FOLDER / "multi_span.jsonl",
}
"""The embedded samples, written for this project: one file for each of four tasks."""


def load(
    path: str | os.PathLike[str] | Any,
    reader: str | Reader | None = None,
    split: str | None = None,
    subset: str | None = None,
    *,
    answers: str | os.PathLike[str] | None = None,
    fields: str | Mapping[str, str] | None = None,
    gold_as: str | None = None,
    skip: str | Iterable[str] = (),
    scorer: str | None = None,
) -> Dataset:
    """Read a published dataset (a file, folder or tar archive), your own file, or a table in
    memory.

    Parameters
    ----------
    path : str, path or table
        A path, a name in :data:`SAMPLES` such as ``"sample:cloze"``, a split of a dataset that
        ``classic-rc fetch`` has downloaded, such as ``"race:dev"``, or one of the Hugging Face hub,
        such as ``"hf:ehovy/race:validation"``. A path that exists wins over a name. Settings may
        follow: ``"RACE,split=dev,subset=high"``
        (:func:`~classic_rc.datasets.specification.parse_data`). Or a table in memory, as
        :func:`from_rows` reads it: a Hugging Face ``Dataset``, or a ``DatasetDict`` with `split`; a
        pandas data frame; an Arrow table.
    reader : str or Reader, optional
        The format. None recognises it from the content.
    split : str, optional
        The split to read if the source has several; None reads all. If the source does not name its
        split, this becomes its name.
    subset : str, optional
        The subset: ``"mc160"`` or ``"mc500"`` of MCTest, ``"middle"`` or ``"high"`` of RACE; the
        one of a dataset of the hub that has several.
    answers : str or path, optional
        MCTest's ``.ans`` file, or the folder that has it, if it is not next to the stories.
    fields : str or mapping, optional
        For your own file: the role of each key or column; see
        :func:`~classic_rc.datasets.fields.parse_fields`.
    gold_as : {"index0", "index1", "letter", "label", "text", "flags"}, optional
        For your own file, or the targets of a log: how gold names options
        (:data:`classic_rc.encodings.READINGS`).
    skip : str or iterable of str
        What to leave out; the notes of the dataset count it. ``"bad"``: what cannot be read,
        instead of raising the error; the dataset's `log` has each error. ``"unlabelled"``:
        questions whose gold is hidden.
    scorer : str, optional
        For span questions: the scorer whose exact match and F1 are reported
        (:data:`classic_rc.text.scorers.SCORERS`), several joined by plus signs, the primary one
        first. None takes that of the dataset's owner if the dataset is known, and proposes one by
        the script of the passages otherwise.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The path does not exist, no reader recognises it, or it is malformed; or the named dataset
        is not in the cache.
    UsageError
        An option or a name is unknown, or the reader does not accept the option.

    Examples
    --------
    >>> load("sample:cloze").task.value
    'cloze'
    """
    settings: dict[str, Any] = {"reader": reader, "subset": subset, "answers": answers}
    if not isinstance(path, str | os.PathLike):
        if is_table(path):
            _refuse("a table in memory", "it has rows only", settings)
            return from_rows(
                path, fields=fields, gold_as=gold_as, split=split, skip=skip, scorer=scorer
            )
        actual, fix = type(path).__name__, _fix_of(path) or 'give a path, or "sample:single-choice"'
        raise UsageError(
            f"cannot load a {actual}: {fix}", field="path", found=actual, expected="a path"
        )
    if isinstance(path, str) and (spec := parse_data(path)).settings:
        settings |= {"split": split, "fields": fields, "gold_as": gold_as, "scorer": scorer}
        dataset = load(spec.path, **merge_settings(spec, settings), skip=skip)
        return dataset if spec.spans is None else _with_spans(dataset, spec)
    name, roles = os.fspath(path), None if fields is None else parse_fields(fields)
    options = Options(split, subset, answers, roles, gold_as, check_skipped(skip), scorer)
    return with_scorers(_read(name, reader, options), scorer)


def _read(name: str, reader: str | Reader | None, options: Options) -> Dataset:
    if name == "sample" or name.startswith("sample:"):
        return _load_sample(name, reader, options)
    if (named_split := find_split(name)) is not None:
        return _load_named(named_split, reader, options)
    if is_hub_name(name):
        return _load_from_hub(name, reader, options)
    source = open_input(name)
    for file in source.files if options.skip_bad else ():
        file.damaged = {}
    file_reader = (
        get_reader(reader) if reader is not None else _detect_reader(source, options.fields)
    )
    return file_reader.read(source, options)


_UNKNOWN_FORMATS = ("unknown format", "no file has a known format")


def read_to_learn(
    path: str, reading: Mapping[str, Any], read: Callable[..., Dataset] = load
) -> Dataset:
    """Read data to learn from, with the options of the data that is to be answered.

    Those about the user's own rows apply only if the data needs them: if its format is unknown, and
    its specification has no fields.
    """
    general = {key: value for key, value in reading.items() if key not in ("fields", "gold_as")}
    if parse_data(path).fields is not None or general == reading:
        return read(path, **general)
    has_fields = "fields" in reading
    first, second = (general, reading) if has_fields else (reading, general)
    try:
        return read(path, **first)
    except ClassicRCError as error:
        if not has_fields and getattr(error, "field", None) != "gold_as":
            raise
        if getattr(error, "problem", None) not in _UNKNOWN_FORMATS:
            with suppress(ClassicRCError):
                return read(path, **second)
            raise
    return read(path, **second)


def _with_spans(dataset: Dataset, spec: DataSpec) -> Dataset:
    """Return span questions with the candidates that the specification of their data sets."""
    from classic_rc.text.languages import dataset_language
    from classic_rc.text.spans import SpanGenerator

    if dataset.task is None or not dataset.task.has_spans:
        raise UsageError(
            f"{spec.path} does not accept spans: it has {dataset.task} questions, not span "
            "questions",
            field="spans",
            found=str(spec.spans),
            expected="None",
        )
    generator = SpanGenerator.of_language(dataset_language(dataset), spec.spans)
    return dataset.with_candidates(generator, generator.signature)


TrainingData: TypeAlias = Dataset | Sequence[Dataset] | Any
"""A dataset, several that are joined (:func:`~classic_rc.datasets.memory.join_datasets`), or a
table in memory.
"""


def as_dataset(data: TrainingData | None) -> Dataset | None:
    """Return a dataset as it is, several as one, a table in memory as one, and None for None or
    an empty list.
    """
    if data is None or isinstance(data, Dataset):
        return data
    items = list(data) if isinstance(data, list | tuple) else [data]
    return join_datasets([require_dataset(item, "train") for item in items]) if items else None


def require_dataset(value: Any, role: str) -> Dataset:
    """Return a dataset as it is, and a table in memory as :func:`from_rows` reads it."""
    if isinstance(value, Dataset):
        return value
    if is_table(value):
        return from_rows(value)
    fix = (
        _fix_of(value)
        or "load it with classic_rc.load(path), or make one with classic_rc.from_rows(rows)"
    )
    actual = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise UsageError(
        f"{role} must be a classic_rc.Dataset, not a {actual}: {fix}",
        field=role,
        found=actual,
        expected="a classic_rc.Dataset",
    )


def _fix_of(value: Any) -> str | None:
    """Return what to do with a value that is in the wrong place; None for values that are not
    data.
    """
    if isinstance(value, Dataset):
        return "it is a dataset already: use it as it is"
    if isinstance(value, str | os.PathLike):
        return f"load it first: classic_rc.load({os.fspath(value)!r})"
    if isinstance(value, Sequence) and value and all(isinstance(item, Question) for item in value):
        return "make one of the questions: classic_rc.Dataset(questions)"
    if isinstance(value, Sequence) and any(isinstance(item, Dataset) for item in value):
        return "give one dataset, or join them: classic_rc.datasets.join_datasets(datasets)"
    is_rows = isinstance(value, Iterable) and not isinstance(value, bytes)
    return "read rows in memory with classic_rc.from_rows(rows)" if is_rows else None


def expand_sample_names(name: str) -> list[str]:
    """Expand a name from the command line: ``sample`` to all embedded samples, any other name to
    itself.

    Examples
    --------
    >>> expand_sample_names("sample")
    ['sample:single-choice', 'sample:multiple-answer', 'sample:cloze', 'sample:multi-span']
    """
    return list(SAMPLES) if name == "sample" else [name]


def _load_sample(name: str, reader: str | Reader | None, options: Options) -> Dataset:
    if name == "sample":
        names = ", ".join(SAMPLES)
        raise UsageError(
            f"one dataset is needed here, but {name} is several, of different tasks: choose one of "
            f"{names}",
            field="sample",
            found=name,
            expected=names,
        )
    if name not in SAMPLES:
        raise unknown_name("sample", name, SAMPLES)
    _refuse(
        name,
        "it is an embedded sample",
        options.to_dict(),
        "subset",
        "answers",
        "fields",
        "gold_as",
    )
    dataset = get_reader(reader or "jsonl").read(open_input(SAMPLES[name]), options)
    return replace(dataset, name=name, read_with={**(dataset.read_with or {}), "path": name})


def _load_named(named_split: NamedSplit, reader: str | Reader | None, options: Options) -> Dataset:
    """Read a split of a dataset from the cache."""
    reason = "it is read from the files of `classic-rc list datasets`"
    _refuse(named_split.name, reason, options.to_dict(), "answers", "fields", "gold_as")
    check_split(named_split.name, named_split.split.rpartition(".")[2], options.split)
    file_reader = get_reader(named_split.reader if reader is None else reader)
    sums = require_cached(named_split)
    source = open_input(cached_path(named_split.file))
    if named_split.member is not None:
        source = source.only(named_split.member)
    answers = None if named_split.answers is None else cached_path(named_split.answers)
    dataset = file_reader.read(source, replace(options, split=named_split.option, answers=answers))
    name = dataset.name if file_reader.is_dataset else named_split.name.replace(":", ".")
    sources = tuple(Source(key, sha256) for key, sha256 in sums.items())
    read_with = _read_with(named_split.name, file_reader, replace(options, split=None))
    return replace(dataset, name=name, sources=sources, read_with=read_with)


def _load_from_hub(name: str, reader: str | Reader | None, options: Options) -> Dataset:
    """Read a split of a dataset of the hub, as the rows that ``datasets`` has."""
    from classic_rc.datasets.hub import find_hub_split

    _refuse(name, "it is read from the Hugging Face hub", options.to_dict(), "answers")
    hub = find_hub_split(name, options.subset, options.split)
    options = replace(options, split=None)
    full_name = name if name.endswith(f":{hub.split}") else f"{name}:{hub.split}"
    # as the commands that errors propose name it
    source = hub.open(str(DataSpec(full_name, subset=options.subset)))
    row_reader = (
        get_reader(reader) if reader is not None else _detect_reader(source, options.fields)
    )
    dataset = row_reader.read(source, replace(options, subset=None))
    sources = (Source(hub.name, dataset.fingerprint),)
    read_with = _read_with(hub.name, row_reader, options)
    return replace(dataset, name=hub.title, sources=sources, read_with=read_with)


def _read_with(path: str, reader: Reader, options: Options) -> dict[str, Any]:
    return {"path": path, "reader": reader.name, **options.to_dict()}


def read_split(split: NamedSplit) -> Dataset:
    """Read a split of a named dataset from the cache."""
    return _load_named(split, None, Options())


def _refuse(name: str, reason: str, options: Mapping[str, Any], *names: str) -> None:
    for option in names or options:
        if (value := options[option]) is not None:
            raise UsageError(
                f"{name} does not accept {option}: {reason}",
                field=option,
                found=str(value),
                expected="None",
            )


def dataset_names(dataset: Dataset) -> list[str]:
    """Return which datasets' questions these are, so that splits and parts of one dataset have a
    name in common.

    The reader of a single dataset gives the name. Else the words of the data's own name do: one of
    them may be such a reader's name; if not, they are the name, without the words for splits.

    Examples
    --------
    >>> dataset_names(load("sample:single-choice"))
    ['sample single choice']
    """
    return sorted(
        {name for component in dataset.parts or (dataset,) for name in _dataset_names(component)}
    )


def _dataset_names(dataset: Dataset) -> list[str]:
    reader = READERS.get(dataset.reader or "")
    if reader is not None and reader.is_dataset:
        return [reader.dataset or reader.name]
    words = re.findall(r"[^\W_]+", dataset.name.lower())
    reader_names = [word for word in words if word in READERS and READERS[word].is_dataset]
    return reader_names or [" ".join(word for word in words if word not in SPLIT_NAMES)]


def is_log(dataset: Dataset) -> bool:
    """Return whether questions were read from a log that has a model's answers too."""
    reader = READERS.get(dataset.reader or "")
    return reader is not None and reader.is_log


def get_reader(reader: str | Reader) -> Reader:
    """Return the reader of a name, or a reader as it is."""
    if isinstance(reader, Reader):
        return reader
    if reader not in READERS:
        raise unknown_name("reader", reader, READERS)
    return READERS[reader]


def _detect_reader(source: InputFiles, fields: Mapping[str, str] | None) -> Reader:
    """Return the reader that recognises a file, trying the files from the highest folder down."""
    first_error: DataError | None = None
    for file in sorted(source.files, key=lambda file: file.depth):
        try:
            if (reader := find_reader(file, fields)) is not None:
                return reader
        except DataError as error:
            first_error = first_error or error
    if (mistake := _describe_other(source)) is not None:
        raise mistake
    if first_error:
        raise first_error
    data_file = source.single or next(
        (file for file in source.files if file.columns is not None), None
    )
    if data_file is None:
        argument = quote_argument(source.path + ",reader=")
        raise DataError(
            "no file has a known format",
            source=source.path,
            found=list_names(source.files),
            hint=f"Load one of the files, or name the format: {argument}NAME",
        )
    raise _unrecognised_file_error(data_file)


def find_reader(file: InputFile, fields: Mapping[str, str] | None) -> Reader | None:
    """Return the first reader that recognises a file, or None; with `fields`, one of the user's
    own rows.
    """
    if fields is not None:
        row_readers = (reader for reader in READERS.values() if isinstance(reader, RowReader))
        return next((reader for reader in row_readers if reader.has_rows(file)), None)
    has_text = file.columns is None
    if not (has_text or file.head is not None):
        raise DataError("no rows", source=file.name, expected="at least one row")
    for reader in READERS.values():
        # Rows have no text: only readers of JSON look at them.
        with nullcontext() if has_text else suppress(DataError):
            if reader.recognises(file):
                return reader
    return None


def _unrecognised_file_error(file: InputFile) -> DataError:
    for reader in READERS.values():
        if isinstance(reader, RowReader) and reader.has_rows(file):
            options = Options(fields={"passage": "", "question": ""})
            rows = itertools.islice(reader.rows(file, Reading(options)), PROPOSAL_ROWS)
            objects = [row for row in rows if isinstance(row.value, Mapping)]
            objects = [row for row in objects if len(row.value) > 1 or find_question_lists([row])]
            if objects:
                return unknown_rows_error(objects, file.name)
    if file.head:
        actual = describe_value(file.head)
    else:
        actual = f"text that starts with {describe_value(file.text.lstrip()[:40])}"
    argument = quote_argument(file.name + ",reader=")
    return DataError(
        "unknown format",
        source=file.name,
        found=actual,
        expected=f"one of the formats {', '.join(READERS)}",
        hint=f"To see what a format expects: `classic-rc run {argument}NAME`",
    )


_INDEX_FILES = {"manifest.json", "building.json"}
_SCORES = re.compile(r"\s*-?\d[\d.eE+-]*(?:[,\t]\s*-?\d[\d.eE+-]*)+\s*")
_LETTERS = re.compile(r"[A-Z](?:\t[A-Z])+\s*")
_DATA_KEYS = {
    "passage",
    "context",
    "article",
    "story",
    "text",
    "document",
    "question",
    "query",
    "version",
    "data",
}


def _describe_other(source: InputFiles) -> DataError | None:
    """Return the error for what users name by mistake where a dataset is due, with the command
    that reads it.
    """
    names = os.listdir(source.path) if source.is_folder else []
    record = os.path.join(source.path, "run.json")
    file = InputFile(record) if "run.json" in names else source.single
    description = None if file is None else _recognise_other(file)
    if description is None and not _INDEX_FILES.isdisjoint(names):
        index = quote_argument(f"ir,corpus={source.path}")
        description = "a search index", f"`classic-rc run DATA -s {index}` searches it for DATA"
    name = source.path if file is None else file.name
    return description and DataError(
        "not a dataset",
        source=name,
        found=description[0],
        expected="a dataset",
        hint=description[1],
    )


def _recognise_other(file: InputFile) -> tuple[str, str] | None:
    """Return what a file is, and the command that reads it; None for unknown files."""
    path = file.name
    if file.suffix == ".npz" and b"header.npy" in file.data[:100]:
        return "a saved solver", f"`classic-rc run DATA -s saved,path={path}` runs it on DATA"
    if file.suffix == ".ans":
        stories = quote_argument(f"{Path(path).with_suffix('.tsv')},answers={path}")
        hint = f"`classic-rc run {stories}` reads the stories too"
        return "MCTest's answers without the stories", hint
    try:
        text, value = file.text, file.head
    except DataError:
        return None
    match value:
        case {"runs": [*_], "version": _}:
            hint = (
                f"`classic-rc compare {path}` compares its systems, `classic-rc table {path}` "
                "prints them"
            )
            return "a run record", hint
        case {"results": _, "configs": _, "versions": _}:
            hint = "Run the harness with --log_samples"
            for log in sorted(Path(path).parent.glob("samples_*"))[:1]:
                hint = f"`classic-rc run {log}` reads a log of its answers"
            return "a results file of lm-evaluation-harness, without questions and answers", hint
    first = value[0] if isinstance(value, list) and value else value
    line = text.lstrip("\n").partition("\n")[0]
    hint = f"`classic-rc run DATA -s {path}` scores them; DATA has the questions that they answer"
    if _SCORES.fullmatch(line):
        return "scores of candidates", hint
    if _LETTERS.fullmatch(line):
        return "the letters of answers, without questions", hint
    is_by_id = file.is_one_value and isinstance(value, Mapping) and _maps_ids_to_answers(value)
    return ("predictions", hint) if is_by_id or _is_prediction(first) else None


def _is_prediction(row: Any) -> bool:
    """Return whether a row is one of MultiRC's, SuperGLUE's or our own predictions."""
    match row:
        case {"passage": {"questions": _, **others}} if "text" not in others:
            return True
        case {"question_id": _, "score": _} | {"question_id": _, "selected": _}:
            return True
        case {"pid": _, "qid": _, "scores": _}:
            return True
        case {"idx": _, "label": _, **others}:
            return not others
    return False


def _maps_ids_to_answers(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like ReCoRD's or SQuAD's predictions: texts, or lists of
    texts, by id.
    """
    if not value or _DATA_KEYS & {key.lower() for key in value}:
        return False
    answers = (answer if isinstance(answer, list) else [answer] for answer in value.values())
    return all(isinstance(text, str) for texts in answers for text in texts)
