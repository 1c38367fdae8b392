"""The options about what commands compute: decisions, metrics, groups, tests, findings and perturbations."""

from __future__ import annotations

from classic_rc.cli.input_options import SYSTEM
from classic_rc.cli.option import (
    Option,
    failure_kinds,
    option,
    parse_finite_number,
    resample_count,
    setting_option,
    setting_options,
)

ANALYSIS_OPTIONS: dict[str, tuple[Option, ...]] = {
    "decisions": setting_options("decisions"),
    "breakdown": (
        option(
            "--by",
            action="append",
            default=[],
            metavar="KEY",
            help="what to group questions by: the name of labels in a file, a field of the data (type, level), or "
            "a key of `classic-rc list keys`; repeat for several. KEY:alone separates questions with only one "
            "label from those with several; KEY:count groups by the number of labels. Default: all labels in "
            "the files",
        ),
        option(
            "--labels",
            action="append",
            default=[],
            metavar="FILE",
            help="labels of questions by id: CSV, TSV, JSON, the released skills for MCTest or types for RACE, or "
            "a folder of categories; repeat for several",
        ),
        option("--other-questions", action="store_true", help="ignore labels of questions that are not in DATA"),
        option(
            "--cross",
            action="append",
            default=[],
            metavar="KEY[,KEY]",
            help="also count how often the groups of two keys, or two labels of one key, occur together; repeat "
            "for several",
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
        option("--published", action="store_true", help="also show published scores on the same data"),
        setting_option("baseline"),
        setting_option("intervals"),
        option(
            "--resamples",
            type=resample_count,
            default=10_000,
            metavar="N",
            help="the number of resamples of passages for intervals and p-values (default 10000)",
        ),
        option(
            "--test",
            choices=("permutation", "mcnemar"),
            default="permutation",
            help="how to compute p-values: swap passages between systems (permutation, the default), or McNemar's "
            "test, which assumes independent questions",
        ),
        option(
            "--check", action="store_true", help="exit with 1 if a score that is known to be reproducible differs"
        ),
    ),
    "findings": (
        option(
            "--fail",
            type=failure_kinds,
            default=frozenset(),
            metavar="KINDS",
            help="exit with 1 if there are findings of some kinds: --fail=artifacts,shortcuts,duplicates,defects, "
            "separated by commas; --fail alone: artifacts, duplicates and defects",
        ),
        option(
            "--level",
            type=float,
            default=5.0,
            metavar="POINTS",
            help="a finding is significant and at least this far from chance (default 5)",
        ),
        option(
            "--allow",
            metavar="FILE",
            help="accept findings by name, one per line: they are listed in one line and do not fail",
        ),
        option("--write-allow", metavar="FILE", help="write the names of all findings, for --allow"),
        option(
            "--ids", metavar="FILE", help="write all questions that each finding answers: name, tab, question id"
        ),
        option(
            "--against",
            metavar="DATA",
            help="compare with another version: a dataset, or the JSON of an earlier check (--format json)",
        ),
        option(
            "--annotators",
            metavar="FILE",
            help="answers of annotators (CSV, TSV or JSON lines with id, annotator, answer): also print each one's "
            "accuracy, the majority's and that of each against the others, and their agreement",
        ),
        option(
            "--rules-only",
            action="store_true",
            help="only rules and counts: no logistic regressions, which take most of the time",
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
            nargs="?",
            const="",
            metavar="NAME[,NAME]",
            help="score every system on perturbed copies of DATA too (see `classic-rc list perturbations`; "
            "default: all that apply), each the mean over five seeds",
        ),
        option(
            "--perturbed-train",
            action="store_true",
            help="with --perturbed: train and tune on perturbed data too, instead of original data",
        ),
        option(
            "--function-words",
            default="nltk",
            metavar="LIST",
            help="the words that count as function words: a stop list (see `classic-rc list stop-lists`; default "
            "nltk) or a file with a word a line; interrogatives always do",
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
            default="solver",
            metavar="NAME|FILE",
            help="an assignment (see `classic-rc list assignments`), or a file with functions check_…(submission) "
            "(default solver)",
        ),
        option(
            "--timeout",
            type=parse_finite_number,
            default=60.0,
            metavar="SECONDS",
            help="the time limit for each submission; one check may use a third of it (default 60)",
        ),
        option(
            "--unsafe",
            action="store_true",
            help="also run submissions where the system cannot keep them from reading your files",
        ),
        option("--html", metavar="DIR", help="also write a page for each student, and one for the class"),
        option("--gradescope", metavar="DIR", help="also write results.json of Gradescope for each student"),
        option(
            "--questions",
            metavar="FILE",
            help="grade nothing; write the fresh questions of the grading with --seed N, with gold",
        ),
        option(
            "--hand-out",
            metavar="DIR",
            help="grade nothing; write what students get: the page, the file to start from, data if there are any",
        ),
    ),
    "filtering": (
        option(
            "--hard",
            action="store_true",
            help="instead of all else: find the questions that no system of -s solves (default: the usual systems "
            "of the task), and score systems on all and on these; -o FILE writes them",
        ),
        option(
            "--report",
            action="append",
            default=[],
            metavar=SYSTEM,
            help="a system to score on all and on the hard questions without using it as a filter; repeat for "
            "several",
        ),
        option(
            "--max-solved",
            type=int,
            default=0,
            metavar="K",
            help="keep questions that at most K of the -s systems solve (default 0)",
        ),
        option(
            "--solved-above",
            type=float,
            metavar="CREDIT",
            help="a question counts as solved above this credit (default 0.5); k tied answers share the credit, "
            "1/k each",
        ),
    ),
}
"""The options, by their heading in ``--help``."""
