"""The options about what commands read: data, systems, corpora, and what solvers learn from."""

from __future__ import annotations

from classic_rc.cli.option import Option, job_count, option, setting_option, setting_options

DATA = (
    "a dataset: a file, a folder, a name such as race:dev (see `classic-rc list datasets`), hf:OWNER/NAME for one "
    "of the Hugging Face hub, or `sample` for the questions that come with the package"
)
SEVERAL_DATA = f"{DATA}; each dataset in a folder has its own table (see --pool)"
SOLVER = "SOLVER[:VARIANT][,key=value]…"
SOLVER_HELP = "a solver (see `classic-rc list solvers`), or path/to/file.py:Class for your own"
SYSTEM = "[NAME=]SYSTEM"
SYSTEM_HELP = f"{SOLVER_HELP}, or a file of predictions (see `classic-rc list formats`)"

INPUT_OPTIONS: dict[str, tuple[Option, ...]] = {
    "arguments": (
        option("data", metavar="DATA", help=DATA),
        option("data", name="data...", nargs="+", metavar="DATA", help=SEVERAL_DATA),
        option("question", metavar="QUESTION_ID", help="the id of the question in DATA"),
        option(
            "systems",
            nargs="+",
            metavar="[NAME=]SYSTEM",
            help="a record of `run --save` (its folder or file; FOLDER#NAME for one row), or, together with "
            "--data, a file of predictions or a solver",
        ),
        option(
            "records",
            nargs="+",
            metavar="DIR|run.json",
            help="records of `run --save`: folders with run.json, or the files",
        ),
        option(
            "corpus",
            nargs="+",
            metavar="CORPUS",
            help="text with one sentence or paragraph per line, JSON lines, or a folder of such files, plain or "
            "compressed (gzip, bzip2, xz); - for standard input; a dataset, to index each of its passages once; "
            "with --check, an index",
        ),
        option(
            "what",
            nargs="?",
            metavar="WHAT",
            help="analyzers, assignments, datasets, engines, formats, keys, metrics, perturbations, readers, "
            "solvers, stop-lists or variants",
        ),
    ),
    "fetching": (
        option(
            "names",
            name="datasets",
            nargs="+",
            metavar="NAME[:SPLIT]",
            help="what to download: a dataset, or what one split needs (see `classic-rc list datasets`)",
        ),
        option(
            "--all",
            name="--all of fetch",
            action="store_true",
            help="download what no split needs too: copies of splits, released scores and labels",
        ),
        option("--offline", action="store_true", help="download nothing: check the files in the cache"),
    ),
    "reading": (
        *setting_options("reading"),
        option(
            "--offline",
            name="--offline of data",
            action="store_true",
            help="do not connect to the Hugging Face hub: read hf:OWNER/NAME as it was read before",
        ),
    ),
    "other inputs": (
        option(
            "--pool",
            action="store_true",
            help="join all DATA into one dataset, instead of a table for each dataset of a folder",
        ),
        option("--data", metavar="DATA", help="the dataset that predictions and solvers answer"),
        option(
            "--data",
            name="--data of records",
            dest="places",
            action="append",
            default=[],
            metavar="DIR",
            help="a folder to search, with its subfolders, for data files that have moved; files are recognised by "
            "their sha256; repeat for several",
        ),
        option(
            "--with",
            dest="files",
            action="append",
            default=[],
            metavar="NAME=FILE",
            help="a file that a system needs: rte (the RTE scores released for MCTest), annotations (from "
            "CoreNLP), categories (a folder); repeat for several",
        ),
    ),
    "solvers": (
        option(
            "-s",
            "--solver",
            action="append",
            default=[],
            metavar=SYSTEM,
            help=f"SOLVER[:VARIANT][,key=value]…: {SYSTEM_HELP}; repeat for several; default: a set of solvers "
            "for the task",
        ),
        option("-s", "--solver", name="--solver alone", metavar=f"[NAME=]{SOLVER}", help=SOLVER_HELP),
        setting_option("spans"),
        setting_option("analyzer")._replace(name="--analyzer of systems"),
        option(
            "--trust",
            action="store_true",
            help="also run solvers whose code is a file of yours (path/to/file.py:Class)",
        ),
        option(
            "--jobs", type=job_count, default=1, metavar="N", help="number of processes (default 1; -1: all cores)"
        ),
    ),
    "training and tuning": (
        setting_option("train", action="append", default=[]),
        option("--train-split", metavar="SPLIT", help="the split of the --train data to use"),
        setting_option("tune"),
        option("--tune-split", metavar="SPLIT", help="the split of the --tune data to use"),
        *(setting_option(name) for name in ("cv", "group", "drop_overlap")),
    ),
    "searching": (
        option(
            "--corpus",
            action="append",
            default=[],
            metavar="DIR",
            help="an index (see `classic-rc index`) for `ir` to search, instead of the question's own passage or "
            "in addition to all paragraphs; repeat for several",
        ),
        option(
            "--exclude-verbatim",
            action="store_true",
            help="exclude from the search of `ir` all sentences that contain a question of DATA word for word",
        ),
    ),
    "indexing": (
        option(
            "--lines",
            choices=("auto", "sentences", "paragraphs"),
            default="auto",
            help="what each line of text, or the text of each JSON line, is; auto (default) means paragraphs if "
            "more than a quarter of the first 1,000 have several sentences, and prints its choice",
        ),
        option("--field", metavar="FIELD", default="text", help="the text field of JSON lines (default text)"),
        option("--id-field", metavar="FIELD", default="id", help="the id field of JSON lines, if any (default id)"),
        option(
            "--analyzer",
            name="--analyzer of an index",
            default="lucene-english",
            metavar="ANALYZER",
            help="how text becomes index terms (see `classic-rc list analyzers`; default lucene-english)",
        ),
        option(
            "--segment-sentences",
            type=int,
            metavar="N",
            help="the number of sentences per segment, the unit that is held in memory and kept after an "
            "interruption (default and maximum 500,000)",
        ),
        option("--append", action="store_true", help="add to the existing index in DIR"),
        option(
            "--engine",
            default="sparse",
            metavar="NAME",
            help="the search engine whose index is built (see `classic-rc list engines`; default sparse)",
        ),
        option(
            "--check",
            name="--check of an index",
            action="store_true",
            help="read an existing index completely and compare it with its checksums",
        ),
    ),
}
"""The options, by their heading in ``--help``."""
