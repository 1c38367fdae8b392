"""Solver specifications: from text to solver and back."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.decisions import Argmax, ExpectedF1, RelativeThreshold, Threshold, TunedThreshold
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import SOLVERS, Combination, ScoreFile, parse_solver, solver_spec
from tests.errors import raises

OPTIONS = (Candidate("a"), Candidate("bcd"))
QUESTIONS = [
    Question("q", Passage("p", "Ann met Bob."), "Who?", OPTIONS, frozenset({0}), Task.SINGLE_CHOICE)
]
SPECS = [
    *(name for name in SOLVERS),
    *(f"{name}:{variant}" for name, solver in SOLVERS.items() for variant in solver.variants),
]


def comparable(solver):
    params = {
        name: value for name, value in solver.get_params(deep=False).items() if name != "decision"
    }
    return type(solver), repr(params)


@pytest.mark.parametrize("spec", SPECS)
def test_registered_solvers_and_variants_come_back(spec):
    solver = parse_solver(spec)
    reparsed = parse_solver(solver_spec(solver))
    assert comparable(reparsed) == comparable(solver)
    assert solver_spec(reparsed) == solver_spec(solver)


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
        ("score-file,path=2024", 'score-file,path="2024"'),
        ("score-file,path=[007; 1e5; 1_000]", 'score-file,path=["007"; "1e5"; "1_000"]'),
        ("saved,path=True", 'saved,path="True"'),
        ("ir,corpus=2024", 'ir,corpus="2024"'),
        ("alignment-ilp,wordnet=30", 'alignment-ilp,wordnet="30"'),
        ("lexical,annotations=nan", 'lexical,annotations="nan"'),
        ("alignment-ilp,wordnet=None", "alignment-ilp"),
        (
            "combination:mctest160-rte,score-file__path=2024",
            'combination:mctest160-rte,solvers=[score-file,path="2024"; sw+d:mctest160]',
        ),
        ("lexical,stop_words=571", 'lexical,stop_words="571"'),
        (
            "combination,solvers=[ sw+d:mctest160 ;score-file,path=rte.txt ],weights=[0.34;1]",
            "combination,solvers=[sw+d:mctest160; score-file,path=rte.txt],weights=[0.34; 1]",
        ),
        (
            "combination,weights=stacked,solvers=[random; combination,solvers=[ir; "
            "sw+d],weights=[1; 2]]",
            "combination,solvers=[random; combination,solvers=[ir:passage; sw+d],weights=[1; "
            "2]],weights=stacked",
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
    reparsed = parse_solver(solver_spec(ScoreFile(path="a", format=value))).format
    assert repr(reparsed) == repr(value)


@given(st.lists(st.text(), min_size=2, max_size=3))
def test_any_members_parameter_comes_back(paths):
    solver = Combination(
        solvers=[ScoreFile(path=path) for path in paths], weights=[1.0] * len(paths)
    )
    assert [m.path for m in parse_solver(solver_spec(solver)).solvers] == paths


@pytest.mark.parametrize(
    ("spec", "field", "found_text", "expected"),
    [
        *(
            (spec, "solver", spec, "matching brackets")
            for spec in (
                "combination,solvers=[sw+d; ir",
                "combination,solvers=sw+d; ir]",
                "score-file,path=a]b[c",
            )
        ),
        (r'score-file,path="a\q"', "solver", r'"a\q"', re.compile("JSON")),
        ("combination,solvers=[sw+d; ir],swd__window=3", "member of combination", "swd", "sw+d"),
        ("combination,solvers=[sw+d; ir],sw+d__windw=3", "parameter of sw+d", "windw", "window"),
        (
            "combination,sw+d__window=3",
            "member of combination",
            "sw+d",
            re.compile(r"solvers=\[A; B\]"),
        ),
        ("sw+d,window__size=3", "parameter of sw+d", "window__size", "window"),
    ],
)
def test_errors_name_what_is_wrong(spec, field, found_text, expected):
    with raises(UsageError, field=field, found=found_text, expected=expected) as caught:
        parse_solver(spec)
    assert found_text in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("combination,solvers=[sw+d; rte]", "member 2 of combination.* solver 'rte'"),
        (
            "combination,solvers=[sw+d:mctest16; ir]",
            "member 1 of combination.* sw.d 'mctest16'.*'mctest160'",
        ),
        ("combination,solvers=[sw+d; ir,dept=3]", "member 2 of combination.* ir 'dept'.*'depth'"),
        ("combination,solvers=[sw+d; ]", "member 2 of combination.* solver ''"),
        (
            "combination,solvers=[sw+d; combination,solvers=[ir; irr]]",
            "member 2 of combination.*member 2 of combination.* solver 'irr'.*'ir'",
        ),
        ("combination,solvers=sw+d", r"'solvers' of combination.*solvers=\[A; B\].*'sw\+d'"),
    ],
)
def test_errors_name_the_member(spec, facts):
    with raises(UsageError) as caught:
        parse_solver(spec)
    assert re.search(facts, str(caught.value))


def test_a_users_class_can_be_a_member(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from classic_rc import Scores, Solver\n"
        "class Mine(Solver):\n"
        "    def score_candidates(self, questions):\n"
        "        return Scores.from_lists([[float(len(c.text)) for c in q.candidates] for q in "
        "questions])\n",
        encoding="utf-8",
    )
    solver = parse_solver(f"combination,solvers=[{path}:Mine; random]")
    assert solver.member_names == ["Mine", "random"]
    with raises(DataError, source=str(tmp_path / "other.py")):
        parse_solver(f"combination,solvers=[{tmp_path / 'other.py'}:Mine; random]")


def test_a_users_file_may_have_dataclasses(tmp_path):
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
def test_a_specification_sets_parameters(spec, params):
    solver = parse_solver(spec)
    assert {name: solver.get_params()[name] for name in params} == params


@pytest.mark.parametrize(
    ("spec", "field", "found_text", "expected"),
    [
        ("slidingwindow", "solver", "slidingwindow", "sliding-window"),
        ("sw+d:mctest600", "variant of sw+d", "mctest600", re.compile("mctest500")),
        ("random:uniform", "variant of random", "uniform", "no variant"),
        ("random,sede=1", "parameter of random", "sede", "seed"),
        ("random,sw+d", "solver", "sw+d", "key=value"),
        (
            "sliding-window:mctest,window=100000000000000000000",
            "window",
            str(10**20),
            re.compile(r"2\*\*31"),
        ),
    ],
)
def test_a_wrong_specification_is_one_error(spec, field, found_text, expected):
    with raises(UsageError, field=field, found=found_text, expected=expected) as caught:
        parse_solver(spec).fit(QUESTIONS)
    assert found_text in str(caught.value)


def test_a_users_solver_is_loaded_from_its_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from classic_rc import Scores, Solver\n"
        "class Mine(Solver):\n"
        "    def __init__(self, *, sign=1):\n"
        "        self.sign = sign\n"
        "    def score_candidates(self, questions):\n"
        "        return Scores.from_lists([[self.sign * len(c.text) for c in q.candidates] for q "
        "in questions])\nclass Unfinished(Solver):\n"
        "    pass\n",
        encoding="utf-8",
    )
    assert parse_solver(f"{path}:Mine,sign=-1").score_candidates(QUESTIONS)[0].tolist() == [-1, -3]
    class_field = f"solver class in {path}"
    with raises(UsageError, field=class_field, found="Min", expected="Mine"):
        parse_solver(f"{path}:Min")
    with raises(
        UsageError, field=class_field, found="Unfinished", expected=re.compile("score_candidates")
    ):
        parse_solver(f"{path}:Unfinished")
    with raises(DataError, source=str(tmp_path / "other.py")) as missing:
        parse_solver(f"{tmp_path / 'other.py'}:Mine")
    assert "no such file" in str(missing.value)
    path.write_text("1 / 0\n", encoding="utf-8")
    with raises(UsageError, field="solver", found=str(path)) as broken:
        parse_solver(f"{path}:Mine")
    assert "ZeroDivisionError" in str(broken.value)
    path.write_text("class :\n", encoding="utf-8")
    with raises(UsageError, field="solver", found=str(path)) as broken:
        parse_solver(f"{path}:Mine")
    assert "line 1" in str(broken.value)
    path.write_text("import classic_rc\n", encoding="utf-8")
    with raises(
        UsageError, field=class_field, found="Mine", expected="a subclass of classic_rc.Solver"
    ):
        parse_solver(f"{path}:Mine")


@pytest.mark.parametrize(
    ("spec", "decision", "printed"),
    [
        ("span-sw,margin=0.1", RelativeThreshold(margin=0.1), "span-sw:squad2016,margin=0.1"),
        (
            "span-sw,margin=0.0",
            RelativeThreshold(),
            "span-sw:squad2016,decision=relative-threshold",
        ),
        ("span-sw,decision=expected-f1", ExpectedF1(), "span-sw:squad2016,decision=expected-f1"),
        ("span-ranker,decision=argmax", Argmax(), "span-ranker,decision=argmax"),
        ("span-ranker,scale=0.5", ExpectedF1(scale=0.5), "span-ranker,scale=0.5"),
        ("span-ranker,ties=first", Argmax(ties="first"), "span-ranker,ties=first"),
        ("sw+d,ties=first", Argmax(ties="first"), "sw+d,ties=first"),
        ("ir:multirc2018,value=0.1", Threshold(value=0.1), "ir:multirc2018,value=0.1"),
        ("ir:clark2016,metric=em0", TunedThreshold(metric="em0"), "ir:clark2016,metric=em0"),
        ("sw+d:mctest160,seed=3", Argmax(seed=3), "sw+d:mctest160,seed=3"),
    ],
)
def test_parameters_of_a_decision_are_given_like_those_of_the_solver(spec, decision, printed):
    solver = parse_solver(spec)
    assert repr(solver.decision) == repr(decision)
    assert solver_spec(solver) == printed
    assert repr(parse_solver(printed).decision) == repr(decision)


@pytest.mark.parametrize(
    ("spec", "field", "found_text"),
    [
        ("sw+d,ties=frist", "ties", "'frist'"),
        ("sw+d,decision=argmin", "decision", "argmin"),
        ("span-sw,decision=argmax,scale=1", "decision", "scale"),
        ("sw+d,margin=-1", "margin", "-1"),
        ("sw+d,margin=1,ties=first", "decision", "margin and ties"),
    ],
)
def test_wrong_parameters_of_a_decision_are_refused(spec, field, found_text):
    with raises(UsageError, field=field, found=found_text):
        parse_solver(spec)
