"""Which submissions share their code: with each other, with known solutions, and with what grades them.

A flag is a reason to read both files. It changes no points: an honest formula can look like the solution.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations, pairwise
from pathlib import Path
from statistics import quantiles
from types import MappingProxyType

KNOWN = Path(__file__).with_name("known.txt")
"""Hashed pieces of the solutions that the package's authors have published: a name and its hashes a line."""

ALIKE = 0.65
"""Unrelated work for one assignment shares .40 to .54 of its runs of tokens, a copy in another order .71."""

_STRETCH = 60
"""Two people who write the same short function share up to 45 tokens in a row."""

_RUN = 5
_FEW_RUNS = 16
"""Files with less code are alike by chance."""

_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
Runs = Sequence[tuple[str, str]]
"""Each run of tokens as a hash, with the file and line where it begins."""


@dataclass(frozen=True, slots=True)
class Match:
    """Code of a submission that is also in another one, or known.

    `share` is that of the runs of five tokens of the shorter one, `stretch` the most tokens in a row.
    """

    first: str
    second: str
    share: float
    stretch: int
    lines: str

    @property
    def is_flagged(self) -> bool:
        """Whether somebody should read both."""
        return self.share >= ALIKE or self.stretch >= _STRETCH

    def __str__(self) -> str:
        return f"{self.second}: {100 * self.share:.0f} % of the code, {self.stretch} tokens in a row; {self.lines}"


@dataclass(frozen=True, slots=True)
class Similarity:
    """What a class's submissions share: flagged matches, their clusters, and the shares of all pairs, rising."""

    matches: tuple[Match, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    shares: tuple[float, ...] = ()

    def of(self, student: str) -> list[str]:
        """Return what to look at for one student: the known code, and the cluster."""
        told = [str(own) for own in self.matches if own.first == student and own.second.startswith("known: ")]
        others = [", ".join(sorted({*one} - {student})) for one in self.clusters if student in one]
        return told + [f"nearly the same code: {names}" for names in others]

    @property
    def distribution(self) -> str:
        """How much of the code all pairs share, in a line; the flagged ones stand out of it."""
        if len(self.shares) < 2:
            return f"{len(self.shares)} pairs of submissions"
        low, middle, high = (f"{own:.2f}" for own in quantiles(self.shares, n=4))
        ends = f"{self.shares[0]:.2f} to {self.shares[-1]:.2f}"
        return f"{len(self.shares)} pairs share {ends} of their code (quartiles {low}, {middle}, {high})"


def find_similar(
    submissions: Mapping[str, Mapping[str, bytes]],
    template: bytes | None = None,
    references: Mapping[str, bytes] = MappingProxyType({}),
) -> Similarity:
    """Compare submissions, each with its files by name, with each other, with known solutions and with references.

    Comments, white space, docstrings and the names that a file gives do not count, nor do the template's lines.
    """
    given = {tokens for _, tokens in _code_lines(template)} if template else set()
    own = {name: runs for name, files in submissions.items() if len(runs := _runs(files, given)) >= _FEW_RUNS}
    known: dict[str, Runs] = {
        f"known: {name}": [(hashed, "") for hashed in hashes.split()] for name, hashes in known_pieces().items()
    }
    known |= {f"known: {name}": _runs({"": source}, given) for name, source in references.items()}
    matches = [_match(*pair, own) for pair in combinations(own, 2)]
    flagged = [match for match in matches if match.is_flagged]
    groups: list[set[str]] = []
    for match in flagged:
        joined = {match.first, match.second}.union(*(one for one in groups if one & {match.first, match.second}))
        groups = [one for one in groups if not one & joined] + [joined]
    for name in own:
        found = [match for other in known if (match := _match(name, other, own | known)).is_flagged]
        flagged += sorted(found, key=lambda match: -match.stretch)[:3]
    return Similarity(
        tuple(sorted(flagged, key=lambda match: (-match.share, match.first, match.second))),
        tuple(sorted(tuple(sorted(one)) for one in groups)),
        tuple(sorted(match.share for match in matches)),
    )


def known_pieces() -> dict[str, str]:
    """Return the hashes of known solutions by name, separated by spaces."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return {name: hashes for name, _, hashes in (line.partition(": ") for line in lines)}


def pieces_of(source: bytes) -> str:
    """Return the hashes of a file's code, as :data:`KNOWN` has them."""
    return " ".join(hashed for hashed, _ in _runs({"": source}, set()))


def _match(first: str, second: str, runs: Mapping[str, Runs]) -> Match:
    one, other = (Counter(hashed for hashed, _ in runs[name]) for name in (first, second))
    shared = one & other
    longest = length = 0
    for hashed, _ in runs[first]:
        length = length + 1 if hashed in shared else 0
        longest = max(longest, length)
    share = shared.total() / max(min(one.total(), other.total()), _FEW_RUNS)
    places = [_places([place for hashed, place in runs[name] if hashed in shared]) for name in (first, second)]
    return Match(first, second, share, longest + _RUN - 1 if longest else 0, " = ".join(filter(None, places)))


def _places(places: Sequence[str]) -> str:
    """Return lines as ranges of each file: ``lines 3-9, 12 of ann.py``."""
    told = []
    for file in dict.fromkeys(place.rpartition(":")[0] for place in places if ":" in place):
        lines = sorted({int(place.rpartition(":")[2]) for place in places if place.startswith(f"{file}:")})
        starts = [lines[0]] + [after for before, after in pairwise(lines) if after - before > 2]
        ends = [before for before, after in pairwise(lines) if after - before > 2] + [lines[-1]]
        ranges = (f"{a}-{b}" if a < b else str(a) for a, b in zip(starts, ends, strict=True))
        told.append(f"lines {', '.join(ranges)} of {file or 'the file'}")
    return "; ".join(told)


def _runs(files: Mapping[str, bytes], given: set[tuple[str, ...]]) -> Runs:
    found = []
    for name in sorted(files):
        lines = [(number, tokens) for number, tokens in _code_lines(files[name]) if tokens not in given]
        tokens = [(token, number) for number, own in lines for token in own]
        for run in zip(*(tokens[i:] for i in range(_RUN)), strict=False):
            text = " ".join(token for token, _ in run).encode("utf-8", "surrogateescape")
            found.append((blake2b(text, digest_size=5).hexdigest(), f"{name}:{run[0][1]}"))
    return found


def parse_source(source: bytes) -> ast.Module | None:
    """Return the syntax tree of a student's file; None if there is none, or it is deeper than Python can go."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code_lines(source: bytes) -> list[tuple[int, tuple[str, ...]]]:
    """Return the number and the tokens of each logical line; names that the file itself gives are all the same."""
    text = source.decode("utf-8", "replace")
    if (tree := parse_source(source)) is None:
        return [(i, tuple(line.split())) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    nodes = list(ast.walk(tree))
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    with suppress(SyntaxError, LookupError, ValueError):
        text = source.decode(tokenize.detect_encoding(io.BytesIO(source).readline)[0], "replace")
    lines: list[tuple[int, tuple[str, ...]]] = []
    line: list[str] = []
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                is_docstring = len(line) == 1 and line[0][-1:] in "\"'"
                lines += [(token.start[0], tuple(line))] if line and not is_docstring else []
                line = []
            elif token.type not in _SKIPPED:
                line.append("name" if token.type == tokenize.NAME and token.string in names else token.string)
    return lines
