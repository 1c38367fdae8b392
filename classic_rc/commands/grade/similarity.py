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
    runs_of = {}
    for name, files in submissions.items():
        runs = _runs(files, template_lines)
        if len(runs) >= _FEW_RUNS:
            runs_of[name] = runs
    known_runs: dict[str, Runs] = {}
    for name, hashes in known_pieces().items():
        known_runs[f"known: {name}"] = [(hashed, "") for hashed in hashes.split()]
    known_runs |= {
        f"known: {name}": _runs({"": source}, template_lines) for name, source in references.items()
    }
    matches = [_match(*pair, runs_of, _FEW_OF_PAIR) for pair in combinations(runs_of, 2)]
    flagged = _flagged(matches, ALIKE, _STRETCH)
    clusters: list[set[str]] = []
    for match in flagged:
        pair = {match.first, match.second}
        touched = [cluster for cluster in clusters if cluster & pair]
        clusters = [cluster for cluster in clusters if not cluster & pair]
        clusters.append(pair.union(*touched))
    likeness: list[Match] = []
    for solution, runs in known_runs.items():
        is_short = len(runs) < _SHORT_TASK
        limits = (_COPY, math.inf) if is_short else (_ALIKE_KNOWN, _STRETCH)
        likeness += _flagged(
            [_match(name, solution, runs_of | known_runs) for name in runs_of], *limits
        )
    for name in runs_of:
        of_student = [match for match in likeness if match.first == name]
        flagged += sorted(of_student, key=lambda match: -match.stretch)[:3]
    flagged.sort(key=lambda match: (-match.share, match.first, match.second))
    names_of_clusters = sorted(tuple(sorted(cluster)) for cluster in clusters)
    shares = sorted(match.share for match in matches)
    return ClassSimilarity(tuple(flagged), tuple(names_of_clusters), tuple(shares))


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
    share = shared.total() / max(min(first_counts.total(), second_counts.total()), fewest)
    places = []
    for name in (first, second):
        shared_places = [place for hashed, place in runs[name] if hashed in shared]
        places.append(_places(shared_places))
    stretch = longest + _RUN - 1 if longest else 0
    return Match(first, second, share, stretch, " = ".join(filter(None, places)))


def _places(places: Sequence[str]) -> str:
    """Return lines as ranges of each file: ``lines 3-9, 12 of ann.py``."""
    parts = []
    for file in dict.fromkeys(place.rpartition(":")[0] for place in places if ":" in place):
        places_in_file = [place for place in places if place.startswith(f"{file}:")]
        lines = sorted({int(place.rpartition(":")[2]) for place in places_in_file})
        gaps = [(before, after) for before, after in pairwise(lines) if after - before > 2]
        starts = [lines[0], *(after for _, after in gaps)]
        ends = [*(before for before, _ in gaps), lines[-1]]
        ranges = (f"{a}-{b}" if a < b else str(a) for a, b in zip(starts, ends, strict=True))
        parts.append(f"lines {', '.join(ranges)} of {file or 'the file'}")
    return "; ".join(parts)


def _runs(files: Mapping[str, bytes], template_lines: set[tuple[str, ...]]) -> Runs:
    hashed_runs = []
    for name in sorted(files):
        parts = []
        for number, line_parts in _code_lines(files[name]):
            if line_parts not in template_lines:
                parts += [(piece, number) for piece in line_parts]
        for run in zip(*(parts[i:] for i in range(_RUN)), strict=False):
            text = " ".join(piece for piece, _ in run).encode("utf-8", "surrogatepass")
            hashed_runs.append((blake2b(text, digest_size=5).hexdigest(), f"{name}:{run[0][1]}"))
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
        text = source.decode("utf-8", "replace")
        words_of_lines = enumerate(map(str.split, text.splitlines()), 1)
        return [(i, tuple(words)) for i, words in words_of_lines if words]
    given_names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            given_names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given_names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            given_names.add(node.name)
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
                child_nodes = [child for child in children if isinstance(child, ast.AST)]
                if field in _LEFT_OUT:
                    continue
                is_block = field in _BLOCKS and isinstance(value, list)
                (statements if is_block else inside).extend(reversed(child_nodes))
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
    texts = [
        repr(value)
        for value in contents
        if isinstance(value, str | int | float | None) and value not in given_names
    ]
    return [type(node).__name__, *texts]
