"""``classic-rc list`` shows everything that exists."""

from __future__ import annotations

import pytest

from classic_rc.datasets import READERS
from classic_rc.datasets.fetch import named_datasets
from classic_rc.formats import FORMATS
from classic_rc.metrics import METRICS
from classic_rc.solvers import SOLVERS, parse_solver
from classic_rc.text.analyzers import TOKENIZERS
from classic_rc.text.stop_words import STOP_LISTS


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("solvers", SOLVERS),
        ("variants", [f"{name}:{variant}" for name, solver in SOLVERS.items() for variant in solver.variants]),
        ("datasets", named_datasets()),
        ("readers", READERS),
        ("metrics", METRICS),
        ("analyzers", TOKENIZERS),
        ("formats", FORMATS),
        ("stop-lists", STOP_LISTS),
    ],
)
def test_lists_have_a_line_for_each_with_a_description(cli, what, names):
    done = cli("list", what)
    assert (done.code, done.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in done.out.splitlines()]
    assert [name for name, *_ in lines] == list(names)
    assert all(len(line) == 2 and len(line[1]) > 5 for line in lines)


def test_listed_variants_can_be_given_to_run(cli):
    for line in cli("list", "variants").out.splitlines():
        spec = line.split()[0]
        solver, variant = parse_solver(spec), spec.partition(":")[2]
        given = solver.get_params(deep=False)
        assert all(repr(given[name]) == repr(value) for name, value in solver.variants[variant].params.items())


def test_keys_are_listed(cli):
    done = cli("list", "keys")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()][:2] == ["question-type", "first-word"]
