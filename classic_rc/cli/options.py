"""Every option of the command line, declared once; a command chooses its own and may vary them."""

from __future__ import annotations

from classic_rc.cli.option import (
    Option,
    OptionTable,
    failure_kinds,
    interval_style,
    job_count,
    left_out_sections,
    option,
    parse_finite_number,
    parse_integer,
    setting_option,
    setting_options,
)

DATA = (
    "DATA[,split=…][,subset=…][,reader=…][,answers=FILE][,spans=N]: a file, a folder, a name such as race:dev (see "
    "`classic-rc list datasets`), hf:OWNER/NAME of the Hugging Face hub, or `sample`; spans: the most tokens of "
    "candidate spans (default 10)"
)
SEVERAL_DATA = f"{DATA}; each dataset in a folder has its own table (see --pool)"
SOLVER = "SOLVER[:VARIANT][,key=value]…"
SOLVER_HELP = "a solver (see `classic-rc list solvers`), or path/to/file.py:Class for your own"
SYSTEM = "[NAME=]SYSTEM"
SYSTEM_HELP = f"{SOLVER_HELP}, or a file of predictions (see `classic-rc list formats`)"

FORMATS = ("table", "markdown", "latex", "csv", "html", "json")
FORMAT_BY_SUFFIX = {".md": "markdown", ".tex": "latex", ".html": "html", ".json": "json", ".csv": "csv"}
"""The format of a file by its suffix."""

_OPTIONS: dict[str, tuple[Option, ...]] = {
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
            "floors",
            nargs="*",
            metavar="NAME|LOG|DATA",
            help="a dataset of the list, such as race:test; a log (samples_*.jsonl) or a results file of "
            "lm-evaluation-harness; a file of data, which is recognised by its content; nothing for the list",
        ),
        option(
            "corpus",
            nargs="+",
            metavar="CORPUS",
            help="text with one sentence or paragraph per line, JSON lines, or a folder of such files, plain or "
            "compressed (gzip, bzip2, xz); - for standard input; a dataset, to index each passage once: text "
            "with settings (DATA,split=…,reader=…), files that end in .json, .tsv, .csv, .xml or .tar.gz, folders "
            "with such files, and JSON lines without the text field (CORPUS,reader=text reads them as texts); "
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
            action="store_true",
            help="also download files that no split needs: copies of splits, released scores and labels",
        ),
        option("--check", action="store_true", help="download nothing: check the files in the cache"),
    ),
    "reading": setting_options("reading"),
    "other inputs": (
        option(
            "--pool",
            rare=True,
            action="store_true",
            help="join all DATA into one dataset, instead of a table for each dataset of a folder",
        ),
        option("--data", metavar="DATA", help="the dataset that predictions and solvers answer"),
        option(
            "--search",
            several=True,
            metavar="DIR",
            help="a folder to search, with its subfolders, for data files that have moved; files are recognised by "
            "their sha256; repeat for several",
        ),
        option(
            "--file",
            dest="files",
            several=True,
            metavar="NAME=FILE",
            help="a file that a system needs: rte (the RTE scores released for MCTest), annotations (from "
            "CoreNLP), categories (a folder); repeat for several",
        ),
    ),
    "solvers": (
        option(
            "-s",
            "--solver",
            several=True,
            metavar=SYSTEM,
            help=f"SOLVER[:VARIANT][,key=value]…: {SYSTEM_HELP}; repeat for several; default: a set of solvers "
            "for the task",
        ),
        option("-s", "--solver", name="--solver alone", metavar=f"[NAME=]{SOLVER}", help=SOLVER_HELP),
        setting_option("analyzer")._replace(name="--analyzer of systems"),
        option(
            "--trust",
            rare=True,
            action="store_true",
            help="also run solvers whose code is a file of yours (path/to/file.py:Class)",
        ),
        option(
            "--jobs", type=job_count, default=1, metavar="N", help="number of processes (default 1; -1: all cores)"
        ),
    ),
    "training and tuning": (
        setting_option("train", several=True),
        setting_option("tune"),
        *(setting_option(name) for name in ("cv", "group", "drop_overlap")),
    ),
    "indexing": (
        option(
            "--lines",
            choices=("auto", "sentences", "paragraphs"),
            default="auto",
            help="what a line, or the text of a JSON line, is; auto (default) chooses paragraphs if more than a "
            "quarter of the first 1,000 have several sentences, and prints its choice",
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
    "decisions": setting_options("decisions"),
    "breakdown": (
        option(
            "--by",
            several=True,
            metavar="KEY",
            help="group questions by the name of labels in a file, a field of the data (type, level), or "
            "a key of `classic-rc list keys`; repeat for several. KEY:alone separates questions with only one "
            "label from those with several; KEY:count groups by the number of labels. Default: all labels in "
            "the files. KEY,KEY groups by pairs of groups, and counts how often two groups, or two labels of one "
            "key, occur together",
        ),
        option(
            "--labels",
            rare=True,
            several=True,
            metavar="FILE",
            help="labels of questions by id: CSV, TSV, JSON, the released skills for MCTest or types for RACE, or "
            "a folder of categories; repeat for several",
        ),
    ),
    "metrics and tests": (
        option(
            "--by",
            name="--by of a table",
            dest="group_by",
            metavar="KEY",
            help="break the metrics down by a field of the data or a key of `classic-rc list keys`",
        ),
        setting_option("metrics", default=()),
        option(
            "--analyzer",
            default="word",
            metavar="ANALYZER",
            help="how the common table splits text into tokens (see `classic-rc list analyzers`; default word); "
            "the papers' tables use their own tokens",
        ),
        option("--published", rare=True, action="store_true", help="also show published scores on the same data"),
        setting_option("baseline"),
        setting_option("intervals"),
        option(
            "--test",
            choices=("permutation", "mcnemar"),
            default="permutation",
            help="how to compute p-values: swap passages between systems (permutation, the default), or McNemar's "
            "test, which assumes independent questions",
        ),
    ),
    "findings": (
        option(
            "--fail",
            type=failure_kinds,
            default=frozenset(),
            metavar="KINDS",
            help="exit with 1 if there are findings of some kinds: --fail=artifacts,shortcuts,duplicates,defects, "
            "separated by commas; --fail alone: artifacts and defects",
        ),
        option("--allow", rare=True, metavar="FILE", help="accept cues by name, one per line: they do not fail"),
        option(
            "--ids",
            rare=True,
            metavar="FILE",
            help="write all questions that each cue answers: name, tab, question id",
        ),
        option(
            "--mend",
            metavar="FILE",
            help="write a repaired copy as JSON lines, check it too, and list what a program cannot mend: the "
            "copy has equal blanks, quotes and invisible characters, shuffled options, and no exact copies or "
            "leaking fields",
        ),
    ),
    "perturbations": (
        option(
            "--with",
            name="--with a perturbation",
            dest="perturbation",
            required=True,
            metavar="NAME",
            help="what the copy lacks (see `classic-rc list perturbations`)",
        ),
        option(
            "--perturbed",
            rare=True,
            nargs="?",
            const="",
            metavar="NAME[,NAME]",
            help="also score every system on perturbed copies of DATA (see `classic-rc list perturbations`; "
            "default: all that apply), each the mean over five seeds",
        ),
        option(
            "--function-words",
            default="nltk",
            metavar="LIST",
            help="the words that count as function words: a stop list (see `classic-rc list stop-lists`; default "
            "nltk) or a file with one word per line; interrogatives always do",
        ),
    ),
    "grading": (
        option(
            "submissions",
            nargs="?",
            metavar="FOLDER|FILE",
            help="a folder with a file or a folder for each student, or the file or folder of one student",
        ),
        option(
            "--assignment",
            metavar="NAME|FILE",
            help="an assignment (see `classic-rc list assignments`), a teacher's file, or an assignment.json "
            "(default: the one in the folder's assignment.json)",
        ),
        option("--one", action="store_true", help="the folder is one student's"),
        option(
            "--timeout",
            type=parse_finite_number,
            default=60.0,
            metavar="SECONDS",
            help="the time limit for each submission; one check may use a third of it (default 60)",
        ),
        option(
            "--container",
            metavar="COMMAND",
            help="the command that runs python3 in a container, instead of bubblewrap; it shows {folder} read-only",
        ),
        option(
            "--unsafe",
            action="store_true",
            help="without both: as another user if you are root, else as you; for a throw-away container",
        ),
        option("--html", metavar="DIR", help="also write a page for each student, and one for the class"),
        option("--gradescope", metavar="DIR", help="also write results.json of Gradescope for each student"),
        option(
            "--plain", metavar="DIR", help="also write all code as plain files, for tools that compare programs"
        ),
        option(
            "--autograder",
            metavar="FILE.zip",
            help="grade nothing; write an autograder for Gradescope, with --data and --seed",
        ),
        option(
            "--hand-out",
            metavar="DIR",
            help="grade nothing; write what the class of --seed gets: the page, a file to start from, data",
        ),
    ),
    "contents": (
        option(
            "--explain",
            action="append",
            metavar="SOLVER",
            help="explain the answers of this solver of the report; repeat for several (default: the -s solvers; "
            "without -s, sw+d)",
        ),
        option(
            "--without",
            type=left_out_sections,
            default=frozenset(),
            metavar="SECTION[,SECTION]",
            help="leave out check, explanations or a datasheet's floors (without check and floors, it only counts)",
        ),
        option("--title", rare=True, metavar="TEXT", help="the title of the page (default: the dataset's name)"),
    ),
    "datasheet": (
        option(
            "--datasheet",
            action="store_true",
            help="instead write one page for the appendix of the dataset's paper: sizes, lengths, floors, "
            "findings, duplicates; the ending of FILE chooses Markdown, LaTeX, HTML or JSON",
        ),
        option(
            "--fact",
            rare=True,
            dest="facts",
            several=True,
            metavar="NAME=TEXT",
            help="a fact to show on the datasheet: Licence='CC BY 4.0', Language=English; repeat for several",
        ),
    ),
    "floor": (
        option(
            "--verify",
            name="--verify DATA",
            metavar="DATA",
            help="run the systems that learn nothing again on this data, and compare every digit; exit with 1 if "
            "one differs",
        ),
        option(
            "--learned", action="store_true", help="with --verify: also the systems that learn from gold answers"
        ),
        option(
            "--train",
            name="--train of floors",
            several=True,
            metavar="DATA",
            help="with --verify --learned: the training data of the rows that name it; repeat for several",
        ),
    ),
    "paper": (
        option(
            "--rows",
            metavar="NAME[,NAME]",
            help="the systems to show, in this order within their blocks; no mark changes (default: all)",
        ),
        option(
            "--columns",
            metavar="NAME[,NAME]",
            help="datasets in the order to show; DATASET:METRIC or DATASET:GROUP is one column (default: all)",
        ),
        option(
            "--rename",
            several=True,
            metavar="OLD=NEW",
            help="another name for a system, a dataset, a group or a metric; repeat for several",
        ),
        option(
            "--intervals-as",
            type=interval_style,
            default="lines",
            metavar="STYLE",
            help="show intervals as a second line (lines, the default; in brackets where a cell has one line), as "
            "plus-minus the larger side (pm), or not (none)",
        ),
        option(
            "--decimals",
            type=parse_integer,
            choices=range(4),
            default=1,
            metavar="N",
            help="digits after the decimal point, 0 to 3 (default 1)",
        ),
        option(
            "--above",
            choices=("chance", "floor"),
            help="after each dataset's primary metric, also (value - base) / (1 - base); the base is random "
            "choice, or the best system that learns nothing: in the record, else in `classic-rc floor`",
        ),
        option(
            "--caption",
            rare=True,
            metavar="TEXT",
            help="the beginning of the caption, before the notes on intervals and marks (default: metric and "
            "datasets)",
        ),
        option(
            "--label",
            rare=True,
            default="tab:results",
            metavar="KEY",
            help="the \\label in LaTeX (default tab:results)",
        ),
        option(
            "--width",
            rare=True,
            choices=("column", "text"),
            help="the width of the LaTeX table: a column (table) or the text (table*); default: by its columns",
        ),
        option(
            "--methods",
            action="store_true",
            help="instead of the table, write a paper's paragraph on data, settings and tests, and its BibTeX",
        ),
        option(
            "--verify",
            rare=True,
            action="store_true",
            help="first check that the data, files and code here are those that the records name",
        ),
        option(
            "--release",
            metavar="DIR",
            help="write the table (or the figure, or the methods) into a new folder, with everything that "
            "reproduces it: predictions of every system, the suite, checksums, versions, and the command",
        ),
    ),
    "output": (
        option("--format", choices=FORMATS, default="table", help="the output format (default table)"),
        option(
            "--bibtex",
            nargs="*",
            metavar="NAME",
            help="print the BibTeX of solvers (SOLVER[:VARIANT]), datasets and metrics instead of a list; without "
            "names: of the package and all",
        ),
        option(
            "-v",
            "--verbose",
            action="store_true",
            help="show each system's signature below a plain-text table; the other formats always do",
        ),
        option("-o", "--output", metavar="FILE", help="write the results to a file instead of stdout"),
        option(
            "--scores",
            action="store_true",
            help="write the score of each candidate instead of the answers, in the official format if it holds "
            "scores, else in jsonl",
        ),
        option(
            "--figure",
            choices=("forest",),
            help="draw all systems with their intervals to -o FILE (.pdf, .png, .svg) instead of the table; for "
            "precision against recall see `classic-rc run --figure pr`",
        ),
        option("--save", metavar="DIR", help="also write DIR/run.json: parameters, versions, and every outcome"),
        option(
            "--color",
            choices=("auto", "always", "never"),
            default="auto",
            help="whether to use colours; auto (default): on a terminal, unless NO_COLOR is set",
        ),
        option(
            "--digits",
            type=parse_integer,
            choices=range(1, 13),
            default=5,
            metavar="N",
            help="digits of scores after the decimal point, 1 to 12 (default 5); the numbers behind a score have "
            "as many as they need to add up to it",
        ),
        option("-q", "--quiet", action="store_true", help="print no progress, notes or warnings on stderr"),
    ),
}

TABLE = OptionTable(_OPTIONS)
"""The options, by their heading in ``--help``."""

vary_option = TABLE.vary
