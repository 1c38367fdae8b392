"""Solver specifications: from text to solver and back."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import SOLVERS, Combination, ScoreFile, parse_solver, solver_spec

OPTIONS = (Candidate("a"), Candidate("bcd"))
QUESTIONS = [Question("q", Passage("p", "Ann met Bob."), "Who?", OPTIONS, frozenset({0}), Task.SINGLE_CHOICE)]
SPECS = [
    *(name for name in SOLVERS),
    *(f"{name}:{variant}" for name, solver in SOLVERS.items() for variant in solver.variants),
]


def comparable(solver):
    params = {name: value for name, value in solver.get_params(deep=False).items() if name != "decision"}
    return type(solver), repr(params)


@pytest.mark.parametrize("spec", SPECS)
def test_registered_solvers_and_variants_come_back(spec):
    solver = parse_solver(spec)
    again = parse_solver(solver_spec(solver))
    assert comparable(again) == comparable(solver)
    assert solver_spec(again) == solver_spec(solver)


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("sw+d , window=30", "sw+d,window=30"),
        ("sliding-window:mctest", "sliding-window:mctest"),
        ("sw+d:mctest500,window=3", "sw+d,analyzer=mctest,stop_words=mctest,window=3"),
        ("ir,depth=None", "ir:passage"),
        ('score-file,path="a, b; [c].txt"', 'score-file,path="a, b; [c].txt"'),
        ("score-file,path=[a.txt; b.txt]", "score-file,path=[a.txt; b.txt]"),
        ("score-file,path=scores.7.txt", "score-file,path=scores.7.txt"),
        (r"score-file,path=C:\scores\a.txt", r"score-file,path=C:\scores\a.txt"),
        ("score-file,path=[]", "score-file,path=[]"),
        ('score-file,path="30"', 'score-file,path="30"'),
        (
            "combination,solvers=[ sw+d:mctest160 ;score-file,path=rte.txt ],weights=[0.34;1]",
            "combination,solvers=[sw+d:mctest160; score-file,path=rte.txt],weights=[0.34; 1]",
        ),
        (
            "combination,weights=stacked,solvers=[random; combination,solvers=[ir; sw+d],weights=[1; 2]]",
            "combination,solvers=[random; combination,solvers=[ir:passage; sw+d],weights=[1; 2]],weights=stacked",
        ),
        (
            "combination:mctest160-rte,score-file__path=rte.txt",
            "combination:mctest160-rte,solvers=[score-file,path=rte.txt; sw+d:mctest160]",
        ),
    ],
)
def test_what_is_printed_is_read_as_the_same(spec, printed):
    solver = parse_solver(spec)
    assert solver_spec(solver) == printed
    assert comparable(parse_solver(printed)) == comparable(solver)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_any_plain_value_comes_back(value):
    again = parse_solver(solver_spec(ScoreFile(path="a", format=value))).format
    assert repr(again) == repr(value)


@given(st.lists(st.text(), min_size=2, max_size=3))
def test_any_members_parameter_comes_back(paths):
    solver = Combination(solvers=[ScoreFile(path=path) for path in paths], weights=[1.0] * len(paths))
    assert [m.path for m in parse_solver(solver_spec(solver)).solvers] == paths


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("combination,solvers=[sw+d; ir", "the brackets in .* do not pair"),
        ("combination,solvers=sw+d; ir]", "the brackets in .* do not pair"),
        ("score-file,path=a]b[c", "in double quotes"),
        (r'score-file,path="a\q"', "no text in double quotes"),
        ("combination,solvers=[sw+d; rte]", "member 2 of combination, 'rte': unknown solver 'rte'"),
        ("combination,solvers=[sw+d:mctest16; ir]", "member 1 of combination, .*did you mean 'mctest160'"),
        ("combination,solvers=[sw+d; ir,dept=3]", "member 2 of combination, .*did you mean 'depth'"),
        ("combination,solvers=[sw+d; ]", "member 2 of combination, '': unknown solver ''"),
        (
            "combination,solvers=[sw+d; combination,solvers=[ir; irr]]",
            "member 2 of combination, .*member 2 of combination, 'irr': unknown solver",
        ),
        ("combination,solvers=sw+d", "must be a list, solvers=.A; B., got 'sw.d'"),
        ("combination,solvers=[sw+d; ir],swd__window=3", "unknown member of combination 'swd'.*'sw.d'"),
        (
            "combination,solvers=[sw+d; ir],sw+d__windw=3",
            "unknown parameter of sw.d 'windw': did you mean 'window'",
        ),
        ("combination,sw+d__window=3", "unknown member of combination .*give solvers=.A; B."),
        ("sw+d,window__size=3", "unknown parameter of sw.d"),
    ],
)
def test_errors_name_what_is_wrong(spec, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_solver(spec)


def test_a_member_of_ones_own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from classic_rc import Scores, Solver\n"
        "class Mine(Solver):\n"
        "    def score_candidates(self, questions):\n"
        "        return Scores.from_lists([[float(len(c.text)) for c in q.candidates] for q in questions])\n",
        encoding="utf-8",
    )
    solver = parse_solver(f"combination,solvers=[{path}:Mine; random]")
    assert solver.member_names == ["Mine", "random"]
    with pytest.raises(DataError, match="no such file"):
        parse_solver(f"combination,solvers=[{tmp_path / 'other.py'}:Mine; random]")


def test_ones_own_file_may_have_dataclasses(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from classic_rc.solvers import Random\n"
        "@dataclass\n"
        "class Settings:\n"
        "    seed: int = 0\n"
        "class Mine(Random):\n"
        "    name = 'mine'\n",
        encoding="utf-8",
    )
    before = set(sys.modules)
    assert parse_solver(f"{path}:Mine").name == "mine"
    assert not any(name.startswith("classic_rc_user_") for name in set(sys.modules) - before)


@pytest.mark.parametrize(
    ("spec", "params"),
    [
        ("random", {"seed": 0}),
        ("random,seed=3", {"seed": 3}),
        ("sw+d:mctest160,window=5", {"window": 5, "distance_weight": 10.0, "analyzer": "mctest"}),
        ("sliding-window, window=passage", {"window": "passage"}),
        ("sw+d,distance_weight=1e-3", {"distance_weight": 0.001}),
        ("word-distance,decision=None", {"decision": None}),
    ],
)
def test_specifications(spec, params):
    solver = parse_solver(spec)
    assert {name: solver.get_params()[name] for name in params} == params


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("slidingwindow", "did you mean 'sliding-window'"),
        ("sw+d:mctest600", "did you mean 'mctest"),
        ("random:uniform", "has no variants"),
        ("random,sede=1", "did you mean 'seed'"),
        ("random,sw+d", "one -s each"),
        ("sliding-window:mctest,window=100000000000000000000", "positive number of tokens"),
    ],
)
def test_wrong_specifications(spec, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_solver(spec).fit(QUESTIONS)


def test_ones_own_solver(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from classic_rc import Scores, Solver\n"
        "class Mine(Solver):\n"
        "    def __init__(self, *, sign=1):\n"
        "        self.sign = sign\n"
        "    def score_candidates(self, questions):\n"
        "        return Scores.from_lists([[self.sign * len(c.text) for c in q.candidates] for q in questions])\n"
        "class Unfinished(Solver):\n"
        "    pass\n",
        encoding="utf-8",
    )
    assert parse_solver(f"{path}:Mine,sign=-1").score_candidates(QUESTIONS)[0].tolist() == [-1, -3]
    with pytest.raises(UsageError, match="did you mean 'Mine'"):
        parse_solver(f"{path}:Min")
    with pytest.raises(UsageError, match="must write score_candidates"):
        parse_solver(f"{path}:Unfinished")
    with pytest.raises(DataError, match="no such file"):
        parse_solver(f"{tmp_path / 'other.py'}:Mine")
    path.write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be imported: ZeroDivisionError"):
        parse_solver(f"{path}:Mine")
    path.write_text("class :\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        parse_solver(f"{path}:Mine")
