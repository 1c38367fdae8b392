"""``classic-rc index``: build, extend or check a search index of sentences."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import DataError, UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import integer_kind

if TYPE_CHECKING:
    from classic_rc.retrieval.base import Engine
    from classic_rc.retrieval.reading import TextInput


_DATASET_SUFFIXES = (".csv", ".json", ".tar", ".tgz", ".tsv", ".xml")
"""Suffixes of files that may be a dataset, and are not lines of text."""

_TEXT_READER = "text"
OPTIONS: Choice = (
    option(
        "corpus",
        nargs="+",
        metavar="CORPUS",
        help="text with one sentence or paragraph per line, JSON lines, or a folder of such files, "
        "plain or compressed (gzip, bzip2, xz); - for standard input; a dataset, to index each "
        "passage once: text with settings (DATA,split=…,reader=…), files that end in .json, .tsv, "
        ".csv, .xml or .tar.gz, folders with such files, and JSON lines without the text field "
        "(CORPUS,reader=text reads them as texts); with --check, an index",
    ),
    *under(
        "indexing",
        option(
            "--lines",
            choices=("auto", "sentences", "paragraphs"),
            default="auto",
            help="what a line, or the text of a JSON line, is; auto (default) chooses paragraphs "
            "if more than a quarter of the first 1,000 have several sentences, and prints its "
            "choice",
        ),
        option(
            "--field",
            metavar="FIELD",
            default="text",
            help="the text field of JSON lines (default text)",
        ),
        option(
            "--id-field",
            metavar="FIELD",
            help="the id field of JSON lines (default id, where a line has it)",
        ),
        option(
            "--analyzer",
            name="--analyzer of an index",
            default="lucene-english",
            metavar="ANALYZER",
            help="how text becomes index terms (see `classic-rc list analyzers`; default "
            "lucene-english)",
        ),
        option(
            "--segment-sentences",
            type=parser_of(integer_kind(1, 500_001)),
            metavar="N",
            help="the number of sentences per segment, the unit that is held in memory and kept "
            "after an interruption (default and maximum 500,000)",
        ),
        option("--append", action="store_true", help="add to the existing index in DIR"),
        option(
            "--engine",
            default="sparse",
            metavar="NAME",
            help="the search engine whose index is built (see `classic-rc list engines`; default "
            "sparse)",
        ),
        option(
            "--check",
            name="--check of an index",
            action="store_true",
            help="read an existing index completely and compare it with its checksums",
        ),
    ),
    vary_option(
        "--jobs",
        help="number of processes that build segments (default 1; -1: all cores); no file depends "
        "on it",
    ),
    "--quiet",
    vary_option(
        "--output",
        metavar="DIR",
        help="the folder of the index, new or empty (required without --check)",
    ),
    "--split",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    if args.check:
        return _check_indexes(args)
    engine = _stored_engine(args.engine)
    if args.output is None:
        raise UsageError("no folder for the index: add -o DIR", field="--output")
    check_writable(args.output, is_folder=True)
    sources = _read_sources(args)
    sizes = [source.size for source in sources]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    try:
        with progress_bar("indexing", total, inputs.shows_progress(args), unit="B") as advance:
            report = engine.build(
                sources,
                args.output,
                analyzer=args.analyzer,
                advance=advance,
                **_build_options(args, engine),
            )
    except (DataError, KeyboardInterrupt):
        _note_finished_segments(args.output)
        raise
    for note in report.notes:
        _note(args, note)
    write_output(report.summary + "\n", None)
    return 0


def _check_indexes(args: argparse.Namespace) -> int:
    """Check the indexes, and print how to search them. An engine that is not named is recognised
    by the index.
    """
    from classic_rc.retrieval.registry import DEFAULT_ENGINE, recognise_index

    for place in args.corpus:
        recognised = recognise_index(place) if args.engine == DEFAULT_ENGINE else None
        name = recognised or args.engine
        with progress_bar(f"checking {place}", None, inputs.shows_progress(args)):
            summary = _stored_engine(name).check(place)
        write_output(f"{summary}\n  intact\n  search it: {_search_command(name, place)}\n", None)
    return 0


def _stored_engine(name: str) -> type[Engine]:
    from classic_rc.retrieval.registry import engine_class

    engine = engine_class(name)
    if not engine.stored_as:
        raise UsageError(
            f"engine {name!r} has indexes in memory only", field="--engine", found=name
        )
    return engine


def _search_command(engine: str, place: str) -> str:
    from classic_rc.datasets.specification import quote_argument
    from classic_rc.retrieval.registry import DEFAULT_ENGINE

    setting = "" if engine == DEFAULT_ENGINE else f"engine={engine},"
    return f"classic-rc run DATA -s {quote_argument(f'ir,{setting}corpus={place}')}"


def _build_options(args: argparse.Namespace, engine: type[Engine]) -> dict[str, Any]:
    """Return the options that are not defaults and that only some engines have."""
    values = {"append": args.append, "jobs": args.jobs, "segment_sentences": args.segment_sentences}
    defaults = {"append": False, "jobs": 1, "segment_sentences": None}
    options = {name: value for name, value in values.items() if value != defaults[name]}
    for name in options:
        if name not in engine.build_options:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"engine {engine.name!r} has no {option}: leave it out", field=option)
    return options


def _read_sources(args: argparse.Namespace) -> list[TextInput]:
    """Return what to index, in the order of the arguments, and note on stderr how each CORPUS is
    read.
    """
    from classic_rc.datasets.registry import expand_sample_names
    from classic_rc.datasets.specification import parse_data
    from classic_rc.io.files import STDIN
    from classic_rc.retrieval.reading import PassageInput, read_texts

    if STDIN in args.corpus[:-1]:
        raise UsageError(
            "- (standard input) can be used only once, as the last CORPUS",
            field="CORPUS",
            found="-",
        )
    inputs.refuse_spans(args.corpus, "an index has passages")
    sources: list[TextInput] = []
    seen: set[str] = set()
    for corpus in args.corpus:
        path = parse_data(corpus).path
        _check_output_outside(path, args.output)
        _refuse_index(path)
        if _is_dataset(corpus, args):
            for name in expand_sample_names(parse_data(corpus).path):
                spec = replace(parse_data(corpus), path=name)
                dataset = inputs.load_dataset(args, str(spec))
                passage_by_text = {passage.text: passage for passage in dataset.passages}
                passages = [p for text, p in passage_by_text.items() if text not in seen]
                seen.update(passage_by_text)
                sources.append(PassageInput(name, passages))
                _note(args, f"{name}: a dataset ({dataset.reader}), {len(passages):,} passages")
        else:
            files = read_texts(path, lines=args.lines, field=args.field, id_field=args.id_field)
            sources += files
            unit = "paragraph" if files[0].paragraphs else "sentence"
            if args.split is not None:
                raise UsageError(
                    f"--split is about datasets, and {corpus} has texts: leave it out",
                    field="--split",
                    found=args.split,
                )
            noun = "file" if len(files) == 1 else "files"
            _note(args, f"{corpus}: {len(files):,} {noun}, each line a {unit}")
    return sources


def _is_dataset(corpus: str, args: argparse.Namespace) -> bool:
    from classic_rc.datasets.fetch import find_split, is_hub_name
    from classic_rc.datasets.specification import parse_data
    from classic_rc.io.files import STDIN, strip_compression_suffix
    from classic_rc.retrieval.reading import find_files, read_first_line

    spec = parse_data(corpus)
    corpus = spec.path
    if spec.reader is not None or corpus == STDIN:
        return spec.reader not in (None, _TEXT_READER)
    if spec.settings:
        return True
    is_sample = corpus == "sample" or corpus.startswith("sample:")
    if is_sample or is_hub_name(corpus) or find_split(corpus) is not None:
        return True
    files = find_files(corpus)
    if any(strip_compression_suffix(file).lower().endswith(_DATASET_SUFFIXES) for file in files):
        return True
    first = read_first_line(files[0])
    return isinstance(first, list) or (isinstance(first, dict) and args.field not in first)


def _check_output_outside(corpus: str, output: str) -> None:
    folder = Path(os.path.realpath(corpus))
    if folder.is_dir() and Path(os.path.realpath(output)).is_relative_to(folder):
        raise UsageError(
            f"cannot write the index to {output}: it is inside the input {corpus}, choose another "
            "folder",
            field="--output",
            found=output,
        )


def _refuse_index(corpus: str) -> None:
    from classic_rc.retrieval.registry import recognise_index

    engine = recognise_index(corpus)
    if engine is not None:
        raise DataError(
            "not a folder of texts",
            source=corpus,
            found=f"an index of engine {engine}",
            expected="texts, or a dataset",
            hint=f"`{_search_command(engine, corpus)}` searches it",
        )


def _note(args: argparse.Namespace, text: str) -> None:
    inputs.report_notes(args, "note", [text])


def _note_finished_segments(output: str) -> None:
    from classic_rc.retrieval.building import has_unfinished_segments

    if has_unfinished_segments(output):
        print_message(
            f"note: finished segments are kept in {output}: run the same command again to continue"
        )
