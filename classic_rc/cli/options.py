"""The options that several commands have; a command chooses of them, may vary them, and declares
its own.
"""

from __future__ import annotations

from classic_rc.cli.option import (
    Bare,
    HelpGroups,
    Option,
    option,
    parser_of,
    setting_option,
    setting_options,
)
from classic_rc.protocol import JOBS, NAMES


def _are_perturbations(text: str) -> bool:
    from classic_rc.datasets.perturbations import PERTURBATIONS

    return all(name.strip() in PERTURBATIONS for name in text.split(","))


DATA = (
    "DATA[,split=…][,subset=…][,reader=…][,answers=FILE][,spans=N]: a file, a folder, a name such "
    "as race:dev (see `classic-rc list datasets`), hf:OWNER/NAME of the Hugging Face hub, or "
    "`sample`; spans: the most tokens of candidate spans (default 10)"
)
SEVERAL_DATA = f"{DATA}; each dataset in a folder has its own table (see --pool)"
SOLVER = "SOLVER[:VARIANT][,key=value]…"
SOLVER_HELP = "a solver (see `classic-rc list solvers`), or path/to/file.py:Class for your own"
SYSTEM = "[NAME=]SYSTEM"
SYSTEM_HELP = f"{SOLVER_HELP}, or a file of predictions (see `classic-rc list formats`)"

EVERY_PERTURBATION = "all"
"""What `--perturbed` without names means."""

FORMATS = ("table", "markdown", "latex", "csv", "html", "json")
FORMAT_BY_SUFFIX = {
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".json": "json",
    ".csv": "csv",
}
"""The format of a file by its suffix."""

_OPTIONS: dict[str, tuple[Option, ...]] = {
    "arguments": (
        option("data", metavar="DATA", help=DATA),
        option("data", name="data...", nargs="+", metavar="DATA", help=SEVERAL_DATA),
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
    ),
    "solvers": (
        option(
            "-s",
            "--solver",
            several=True,
            metavar=SYSTEM,
            help=f"SOLVER[:VARIANT][,key=value]…: {SYSTEM_HELP}; repeat for several; default: a "
            "set of solvers for the task",
        ),
        option(
            "-s", "--solver", name="--solver alone", metavar=f"[NAME=]{SOLVER}", help=SOLVER_HELP
        ),
        setting_option("analyzer")._replace(name="--analyzer of systems"),
        option(
            "--trust",
            rare=True,
            action="store_true",
            help="also run solvers whose code is a file of yours (path/to/file.py:Class)",
        ),
        option(
            "--jobs",
            type=parser_of(JOBS),
            default=1,
            metavar="N",
            help="number of processes (default 1; -1: all cores)",
        ),
    ),
    "training and tuning": (
        setting_option("train", several=True),
        setting_option("tune"),
        *(setting_option(name) for name in ("cv", "group", "drop_overlap")),
    ),
    "decisions": setting_options("decisions"),
    "breakdown": (
        option(
            "--by",
            several=True,
            metavar="KEY",
            help="group questions by the name of labels in a file, a field of the data (type, "
            "level), or a key of `classic-rc list keys`; repeat for several. KEY:alone separates "
            "questions with only one label from those with several; KEY:count groups by the number "
            "of labels. Default: all labels in the files. KEY,KEY groups by pairs of groups, and "
            "counts how often two groups, or two labels of one key, occur together",
        ),
        option(
            "--labels",
            rare=True,
            several=True,
            metavar="FILE",
            help="labels of questions by id: CSV, TSV, JSON, the released skills for MCTest or "
            "types for RACE, or a folder of categories; repeat for several",
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
            help="how the common table splits text into tokens (see `classic-rc list analyzers`; "
            "default word); the papers' tables use their own tokens",
        ),
        option(
            "--published",
            rare=True,
            action="store_true",
            help="also show published scores on the same data",
        ),
        setting_option("baseline"),
        setting_option("intervals"),
    ),
    "perturbations": (
        option(
            "--perturbed",
            rare=True,
            nargs="?",
            type=parser_of(NAMES),
            bare=Bare(EVERY_PERTURBATION, _are_perturbations),
            metavar="NAME[,NAME]",
            help="also score every system on perturbed copies of DATA (see `classic-rc list "
            "perturbations`; default all: those that apply), each the mean over five seeds",
        ),
    ),
    "output": (
        option(
            "--format", choices=FORMATS, default="table", help="the output format (default table)"
        ),
        option(
            "-v",
            "--verbose",
            action="store_true",
            help="show each system's signature below a plain-text table; the other formats always "
            "do",
        ),
        option(
            "-o", "--output", metavar="FILE", help="write the results to a file instead of stdout"
        ),
        option(
            "--figure",
            choices=("forest",),
            help="draw all systems with their intervals to -o FILE (.pdf, .png, .svg) instead of "
            "the table; for precision against recall see `classic-rc run --figure pr`",
        ),
        option(
            "-q",
            "--quiet",
            action="store_true",
            help="print no progress, notes or warnings on stderr",
        ),
    ),
}

TABLE = HelpGroups(_OPTIONS)
"""The options, by their heading in ``--help``."""

vary_option = TABLE.vary
