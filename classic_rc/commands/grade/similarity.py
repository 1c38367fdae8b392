"""Which submissions share their code: with each other, with known solutions, and with what grades
them.

A flag is a reason to read both files. It changes no points: an honest formula can look like the
solution.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median, quantiles
from types import MappingProxyType

KNOWN = Path(__file__).with_name("known.txt")
"""Hashed pieces of the solutions that the package's authors have published: a name and its
hashes a line.
"""

ALIKE = 0.65
"""Honest work for one assignment shares up to .55 of its runs, copies with other names or in
another order .80.
"""

_ALIKE_KNOWN = 0.8
"""Work that nobody has copied shares up to .77 with known code."""

_STRETCH = 80
"""Two people who write the same short function share up to 62 parts in a row."""

_BLOCKS = {"body", "orelse", "finalbody", "handlers", "cases"}
_LEFT_OUT = {"ctx", "annotation", "returns", "type_comment", "type_params", "decorator_list"}
_RUN = 5
_FEW_RUNS = 16
"""Files with less code are similar by chance."""

_FEW_OF_PAIR = 48
"""Honest answers to a small question, such as `answer` of `leak`, are often the same two or three
lines: the share of such a pair is that of this many runs.
"""

_SHORT_TASK = 192
"""Where known code has fewer runs, as that of `ties`, there are few ways to write it: likeness to
it flags nothing, only a copy does.
"""

_COPY = 0.95

Runs = Sequence[tuple[str, str]]
"""Each run of parts of the syntax as a hash, with the file and line where it begins."""


@dataclass(frozen=True, slots=True)
class Match:
    """Code of a submission that is also in another one, or known.

    `share` is that of the runs of five parts of the shorter one, `stretch` the most parts in a row.
    `usual` is the median share of the rest of the class: with the known code, or of all other
    pairs; None without a rest.
    """

    first: str
    second: str
    share: float
    stretch: int
    lines: str
    usual: float | None = None

    @property
    def is_with_known(self) -> bool:
        """Whether the second one is no submission."""
        return self.second.startswith("known: ")

    def __str__(self) -> str:
        return f"{self.second}: {self.extent}"

    @property
    def extent(self) -> str:
        """How much of the code is shared, how much the rest of the class shares, and the lines."""
        usual = "" if self.usual is None else f" (the rest of the class: {100 * self.usual:.0f} %)"
        return (
            f"{100 * self.share:.0f} % of the code{usual}, {self.stretch} parts in a row; "
            f"{self.lines}"
        )


@dataclass(frozen=True, slots=True)
class ClassSimilarity:
    """What a class's submissions share: flagged matches, their clusters, and the shares of all
    pairs, rising.
    """

    matches: tuple[Match, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    shares: tuple[float, ...] = ()

    def of(self, student: str) -> list[str]:
        """Return what to look at for one student: the known code, and the cluster."""
        remarks = [
            str(match) for match in self.matches if match.first == student and match.is_with_known
        ]
        for cluster in self.clusters:
            if student in cluster:
                names = ", ".join(sorted({*cluster} - {student}))
                pairs = [match for match in self.matches if student in (match.first, match.second)]
                nearest = max(
                    (match for match in pairs if not match.is_with_known),
                    key=lambda match: match.share,
                    default=None,
                )
                extent = "" if nearest is None else f": {nearest.extent}"
                remarks.append(f"nearly the same code: {names}{extent}")
        return remarks

    @property
    def distribution(self) -> str:
        """How much of the code all pairs share, in a line."""
        if len(self.shares) < 2:
            return f"{len(self.shares)} pairs of submissions"
        low, middle, high = (f"{quartile:.2f}" for quartile in quantiles(self.shares, n=4))
        ends = f"{self.shares[0]:.2f} to {self.shares[-1]:.2f}"
        return (
            f"{len(self.shares)} pairs share {ends} of their code (quartiles {low}, {middle}, "
            f"{high})"
        )


def find_similar(
    submissions: Mapping[str, Mapping[str, bytes]],
    template: bytes | None = None,
    references: Mapping[str, bytes] = MappingProxyType({}),
) -> ClassSimilarity:
    """Compare submissions, each with its files by name, with each other, with known solutions and
    with references.

    Layout, comments, docstrings, annotations, the names that a file gives, and the template do not
    count.
    """
    template_lines = {parts for _, parts in _code_lines(template)} if template else set()
    runs_of = {name: _runs(files, template_lines) for name, files in submissions.items()}
    runs_of = {name: runs for name, runs in runs_of.items() if len(runs) >= _FEW_RUNS}
    known_runs: dict[str, Runs] = {}
    for name, hashes in known_pieces().items():
        known_runs[f"known: {name}"] = [(hashed, "") for hashed in hashes.split()]
    for name, source in references.items():
        known_runs[f"known: {name}"] = _runs({"": source}, template_lines)
    matches = [_match(*pair, runs_of, _FEW_OF_PAIR) for pair in combinations(runs_of, 2)]
    flagged = _flagged(matches, ALIKE, _STRETCH)
    clusters: list[set[str]] = []
    for match in flagged:
        pair = {match.first, match.second}
        joined = pair.union(*(cluster for cluster in clusters if cluster & pair))
        clusters = [cluster for cluster in clusters if not cluster & joined] + [joined]
    likeness: list[Match] = []
    all_runs = runs_of | known_runs
    for solution, runs in known_runs.items():
        is_short = len(runs) < _SHORT_TASK
        limits = (_COPY, math.inf) if is_short else (_ALIKE_KNOWN, _STRETCH)
        of_solution = [_match(name, solution, all_runs) for name in runs_of]
        likeness += _flagged(of_solution, *limits)
    for name in runs_of:
        of_student = [match for match in likeness if match.first == name]
        flagged += sorted(of_student, key=lambda match: -match.stretch)[:3]
    flagged.sort(key=lambda match: (-match.share, match.first, match.second))
    sorted_clusters = sorted(tuple(sorted(cluster)) for cluster in clusters)
    shares = sorted(match.share for match in matches)
    return ClassSimilarity(tuple(flagged), tuple(sorted_clusters), tuple(shares))


def _flagged(matches: Sequence[Match], share: float, stretch: float) -> list[Match]:
    """Return the matches that a teacher should read, with the median share of the others."""
    flagged = []
    for number, match in enumerate(matches):
        if match.share >= share or match.stretch >= stretch:
            others = [other_match.share for i, other_match in enumerate(matches) if i != number]
            flagged.append(replace(match, usual=median(others) if others else None))
    return flagged


def known_pieces() -> dict[str, str]:
    """Return the hashes of known solutions by name, separated by spaces."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return {name: hashes for name, _, hashes in (line.partition(": ") for line in lines)}


def pieces_of(source: bytes) -> str:
    """Return the hashes of a file's code, as :data:`KNOWN` has them."""
    return " ".join(hashed for hashed, _ in _runs({"": source}, set()))


def _match(first: str, second: str, runs: Mapping[str, Runs], fewest: int = _FEW_RUNS) -> Match:
    first_counts = Counter(hashed for hashed, _ in runs[first])
    second_counts = Counter(hashed for hashed, _ in runs[second])
    shared = first_counts & second_counts
    longest = length = 0
    for hashed, _ in runs[first]:
        length = length + 1 if hashed in shared else 0
        longest = max(longest, length)
    n_pieces = min(first_counts.total(), second_counts.total())
    share = shared.total() / max(n_pieces, fewest)
    stretch = longest + _RUN - 1 if longest else 0
    texts = []
    for name in (first, second):
        places = [place for hashed, place in runs[name] if hashed in shared]
        texts.append(_places(places))
    return Match(first, second, share, stretch, " = ".join(filter(None, texts)))


def _places(places: Sequence[str]) -> str:
    """Return lines as ranges of each file: ``lines 3-9, 12 of ann.py``."""
    texts = []
    for file in dict.fromkeys(place.rpartition(":")[0] for place in places if ":" in place):
        in_file = [place for place in places if place.startswith(f"{file}:")]
        lines = sorted({int(place.rpartition(":")[2]) for place in in_file})
        # A single line between two of them, blank or a comment, does not end a range.
        gaps = [(before, after) for before, after in pairwise(lines) if after - before > 2]
        starts = [lines[0], *(after for _, after in gaps)]
        ends = [*(before for before, _ in gaps), lines[-1]]
        ranges = []
        for start, end in zip(starts, ends, strict=True):
            ranges.append(f"{start}-{end}" if start < end else str(start))
        texts.append(f"lines {', '.join(ranges)} of {file or 'the file'}")
    return "; ".join(texts)


def _runs(files: Mapping[str, bytes], template_lines: set[tuple[str, ...]]) -> Runs:
    hashed_runs = []
    for name in sorted(files):
        pieces = []
        for number, line_pieces in _code_lines(files[name]):
            if line_pieces not in template_lines:
                pieces += [(piece, number) for piece in line_pieces]
        for run in zip(*(pieces[i:] for i in range(_RUN)), strict=False):
            text = " ".join(piece for piece, _ in run).encode("utf-8", "surrogatepass")
            hashed = blake2b(text, digest_size=5).hexdigest()
            first_line = run[0][1]
            hashed_runs.append((hashed, f"{name}:{first_line}"))
    return hashed_runs


def parse_source(source: bytes) -> ast.Module | None:
    """Return the syntax tree of a student's file; None if there is none, or it is deeper than
    Python can go.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code_lines(source: bytes) -> list[tuple[int, tuple[str, ...]]]:
    """Return the line and the parts of each statement, without those inside; names that a file
    gives are equal.
    """
    tree = parse_source(source)
    if tree is None:
        text_lines = source.decode("utf-8", "replace").splitlines()
        words_of_lines = [(i, tuple(line.split())) for i, line in enumerate(text_lines, 1)]
        return [(i, words) for i, words in words_of_lines if words]
    nodes = list(ast.walk(tree))
    given_names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    name_nodes = [node for node in nodes if isinstance(node, ast.Name)]
    given_names |= {node.id for node in name_nodes if isinstance(node.ctx, ast.Store)}
    given_names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    lines = []
    statements: list[ast.AST] = [tree]
    while statements:
        statement, parts = statements.pop(), []
        inside = [statement]
        while inside:
            node = inside.pop()
            parts += _parts(node, given_names)
            for field, value in reversed(list(ast.iter_fields(node))):
                children = value if isinstance(value, list) else [value]
                child_nodes = [
                    child
                    for child in children
                    if isinstance(child, ast.AST) and field not in _LEFT_OUT
                ]
                (statements if field in _BLOCKS and isinstance(value, list) else inside).extend(
                    reversed(child_nodes)
                )
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if (
            isinstance(statement, ast.stmt | ast.excepthandler)
            and not is_docstring
            and parts != ["Pass"]
        ):
            lines.append((statement.lineno, tuple(parts)))
    return lines


def _parts(node: ast.AST, given_names: set[str]) -> list[str]:
    """Return the kind of a node and what it says, as a name or a number."""
    if isinstance(node, ast.Name | ast.arg):
        name = node.id if isinstance(node, ast.Name) else node.arg
        return ["name" if name in given_names else name]
    contents = [
        getattr(node, name) for name in ("attr", "value", "module", "name") if hasattr(node, name)
    ]
    plain = [value for value in contents if isinstance(value, str | int | float | None)]
    texts = [repr(value) for value in plain if value not in given_names]
    return [type(node).__name__, *texts]
