"""Fitted solvers in files: what is restored, and what is refused."""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc import evaluate
from classic_rc.decisions import Argmax, Threshold, TunedThreshold
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.questions import Task
from classic_rc.running.evaluate import predict
from classic_rc.running.plan import add_span_candidates
from classic_rc.sketches import Sketch
from classic_rc.solvers import (
    SOLVERS,
    ConstantPosition,
    NGramLM,
    SavedSolver,
    Solver,
    SurfaceLR,
    load_solver,
    parse_solver,
    save_solver,
    saved,
)
from classic_rc.solvers.saved import solver_from_plain, solver_to_plain
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from tests.depth import examples
from tests.errors import raises
from tests.solvers.builders import are_equal

TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10, seed=1, name="lessons")
DEV = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=2, name="exam")
SEVERAL = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=10, seed=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"inputs": "candidates", "features": "answer", "question_words": 2},
        {
            "scaling": "none",
            "C": np.float64(0.5),
            "analyzer": get_analyzer("treebank+porter"),
        },
        {"decision": Argmax(ties="random", seed=3)},
        {"learner": "liblinear", "C": 2.0},
        *({**variant.params} for variant in SurfaceLR.variants.values()),
    ],
)
def test_a_loaded_solver_scores_and_explains_as_the_saved_one(path, params):
    solver = SurfaceLR(**params).fit(TRAIN)
    save_solver(solver, path)
    loaded = load_solver(path)
    assert type(loaded) is SurfaceLR
    assert repr(loaded) == repr(solver) or "analyzer" in params
    assert loaded.variant_name() == solver.variant_name()
    assert are_equal(loaded.score_candidates(DEV), solver.score_candidates(DEV))
    assert loaded.explain(DEV[0]).to_dict() == solver.explain(DEV[0]).to_dict()
    assert loaded.caveats_ == solver.caveats_
    assert loaded.trained_on_ == {
        "name": "lessons",
        "fingerprint": TRAIN.fingerprint,
        "sentences": None,
        "datasets": ["lessons"],
        "passages": 10,
        "questions": 30,
        "candidates": sum(len(q.candidates) for q in TRAIN),
    }
    assert loaded.fit(DEV).trained_on_["name"] == "exam", "a loaded solver can be fitted again"


def test_the_training_data_is_recognised_by_its_sketch(path):
    solver = SurfaceLR().fit(TRAIN)
    save_solver(solver, path)
    (trained_on,) = SavedSolver(path=str(path)).learned_before
    copied = trained_on.copied(TRAIN)
    assert copied is not None
    assert np.array_equal(copied, Sketch.of(TRAIN).copied(TRAIN))
    assert copied.any()
    assert trained_on == SavedSolver(path=str(path)).learned_before[0], "whatever the sketch"
    save_solver(load_solver(path), path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()


def test_a_sketch_is_made_only_for_a_file(path):
    solver = SurfaceLR().fit(TRAIN)
    assert pickle.loads(pickle.dumps(solver)).trained_on_.sketch is None, "for another process"
    save_solver(solver, path)
    assert pickle.loads(pickle.dumps(solver)).trained_on_.sketch is not None
    save_solver(NGramLM().fit(TRAIN), path)
    assert load_solver(path).trained_on_["name"] == "lessons"
    assert not any(name.startswith("sketch") for name in members_of(path)), "no gold is learned"


def test_without_provenance_there_is_no_sketch(path):
    solver = SurfaceLR().fit(TRAIN)
    solver.trained_on_ = dict(solver.trained_on_)
    save_solver(solver, path)
    (trained_on,) = SavedSolver(path=str(path)).learned_before
    assert trained_on.copied(TRAIN) is None


def test_the_same_fit_gives_the_same_bytes(tmp_path):
    contents = set()
    for name in ("one", "other.npz"):
        save_solver(SurfaceLR().fit(TRAIN), tmp_path / name)
        contents.add((tmp_path / name).read_bytes())
    assert len(contents) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "other.npz"], (
        "no other file is left"
    )


def test_a_file_holds_no_pickle_and_says_what_it_is(path):
    save_solver(SurfaceLR.variant("multirc2018").fit(TRAIN), path)
    with np.load(path, allow_pickle=False) as members:
        header = json.loads(members["header"].tobytes())
    assert header["solver"] == "surface-lr"
    assert header["variant"] == "multirc2018"
    assert header["params"]["scaling"] == "none"
    assert header["trained_on"]["name"] == "lessons"


def test_a_tuned_decision_comes_back(path):
    solver = SurfaceLR().fit(SEVERAL).tune(SEVERAL)
    save_solver(solver, path)
    loaded = load_solver(path)
    assert isinstance(loaded.decision_, TunedThreshold)
    assert loaded.decision_.best_threshold_ == solver.decision_.best_threshold_
    assert loaded.predict(SEVERAL) == solver.predict(SEVERAL)
    saved = SavedSolver(path=str(path)).fit(SEVERAL)
    assert saved.predict(SEVERAL) == solver.predict(SEVERAL)
    (row,) = evaluate(SEVERAL, [SavedSolver(path=str(path))]).rows
    assert row.tuned_on is None


def test_a_caveat_comes_back(path):
    solver = SurfaceLR().fit(TRAIN)
    solver.caveats_ = ("the learner newton stopped",)
    save_solver(solver, path)
    assert load_solver(path).caveats_ == solver.caveats_ != ()
    (row,) = evaluate(DEV, [SavedSolver(path=str(path))]).rows
    assert row.caveats == solver.caveats_


def test_words_of_any_characters_come_back(path):
    from dataclasses import replace

    odd = TRAIN.filter(lambda q: True)
    odd = replace(odd, questions=[replace(q, text=f"\ud800x é 中 {q.text}") for q in odd])
    solver = SurfaceLR(analyzer="whitespace").fit(odd)
    save_solver(solver, path)
    assert are_equal(load_solver(path).score_candidates(odd), solver.score_candidates(odd))


@pytest.mark.parametrize(
    ("solver", "error", "fields", "facts"),
    [
        (
            parse_solver("sw+d"),
            UsageError,
            {"found": "sw+d", "expected": "a solver that learns"},
            "-s sw+d",
        ),
        (
            ConstantPosition.variant("majority").fit(TRAIN),
            UsageError,
            {"found": "constant-position", "expected": re.compile("fitted_state")},
            "--train DATA",
        ),
        (SurfaceLR(), NotFittedError, {}, "surface-lr"),
    ],
)
def test_what_cannot_be_saved_is_refused(path, solver, error, fields, facts):
    with raises(error, **fields) as caught:
        save_solver(solver, path)
    assert facts in str(caught.value)
    assert not path.exists()


def test_a_users_solver_or_decision_is_refused(path):
    class UsersRanker(SurfaceLR):
        name = "own"

    class Coin(Argmax):
        pass

    with raises(UsageError, field="solver", found="own") as caught:
        save_solver(UsersRanker().fit(TRAIN), path)
    assert "--train DATA" in str(caught.value)
    with raises(UsageError, field="decision", found="Coin()") as caught:
        save_solver(SurfaceLR(decision=Coin()).fit(TRAIN), path)
    assert all(fact in str(caught.value) for fact in ("surface-lr", "pickle"))


def test_a_place_that_cannot_be_written_is_one_error(tmp_path):
    with raises(UsageError) as caught:
        save_solver(SurfaceLR().fit(TRAIN), tmp_path / "no folder" / "model.npz")
    assert "model.npz" in str(caught.value)


def saved_bytes(tmp_path) -> bytes:
    path = tmp_path / "whole.npz"
    if not path.exists():
        save_solver(SurfaceLR(features="answer").fit(TRAIN), path)
    return path.read_bytes()


def outcome(path):
    """The solver in a file, or the error."""
    try:
        return load_solver(path)
    except DataError as caught:
        error = caught
    assert error.source == str(path)
    assert "`classic-rc fit DATA -s SOLVER -o FILE`" in error.hint
    return error


def is_foreign(path) -> bool:
    """Whether a file is refused because it is not a saved solver."""
    loading_outcome = outcome(path)
    return (
        isinstance(loading_outcome, DataError)
        and loading_outcome.expected == "format 'classic_rc solver'"
    )


@settings(
    max_examples=examples(25, 150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_changed_byte_is_refused_or_changes_nothing(tmp_path, data):
    content = saved_bytes(tmp_path)
    at = data.draw(st.integers(0, len(content) - 1))
    changed = tmp_path / "changed.npz"
    changed_content = bytearray(content)
    changed_content[at] ^= data.draw(st.integers(1, 255))
    changed.write_bytes(changed_content)
    loading_outcome = outcome(changed)
    if not isinstance(loading_outcome, DataError):  # a date in the archive's table
        assert are_equal(
            loading_outcome.score_candidates(DEV),
            load_solver(tmp_path / "whole.npz").score_candidates(DEV),
        )


@settings(max_examples=examples(8, 50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_was_cut_off_is_refused(tmp_path, data):
    content = saved_bytes(tmp_path)
    cut = tmp_path / "cut.npz"
    cut.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert isinstance(outcome(cut), DataError)


def rewrite(path, change) -> None:
    """Change the members of a saved file, as somebody who edits it would."""
    with np.load(path, allow_pickle=False) as file:
        members = dict(file)
    header = json.loads(members["header"].tobytes())
    change(header, members)
    members["header"] = np.frombuffer(json.dumps(header).encode("ascii"), dtype=np.uint8)
    np.savez(path, **members)


def rewrite_with_checksum(path, change) -> None:
    """Change the members of a saved file, as another version would have written it."""
    rewrite(path, change)
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files if name != "sha256"}
    np.savez(path, **members, sha256=np.frombuffer(saved.members_digest(members), dtype=np.uint8))


def test_an_edited_file_is_refused(path):
    def heavier(header, members):
        members["array.weights"] = members["array.weights"] * 2

    save_solver(SurfaceLR().fit(TRAIN), path)
    rewrite(path, heavier)
    assert outcome(path).field == "sha256"


@pytest.mark.parametrize(
    ("change", "cause", "facts"),
    [
        (lambda h, m: h.update(version=2), type(None), "found 2, of classic_rc .* expected 3"),
        (lambda h, m: h.update(format="other"), type(None), "format 'classic_rc solver'"),
        (lambda h, m: h.update(solver="none-such"), KeyError, "'none-such'"),
        (lambda h, m: h["params"].update(unheard_of=1), UsageError, "surface-lr .*'unheard_of'"),
        (lambda h, m: h["params"].update(features="answer"), ValueError, "restore"),
        (
            lambda h, m: h["params"].update(
                decision={"kind": "decision", "class": "Coin", "params": {}, "fitted": {}}
            ),
            KeyError,
            "'Coin'",
        ),
        (lambda h, m: h.update(solver="sw+d", params={}), AttributeError, "restore"),
        (lambda h, m: m.pop("array.weights"), KeyError, "'weights'"),
        (lambda h, m: h.pop("state"), KeyError, "'state'"),
        (lambda h, m: m.pop("sketch.keys"), KeyError, "'keys'"),
        (lambda h, m: m.update({"sketch.grams": np.ones(3)}), TypeError, "grams of the sketch"),
        (lambda h, m: m.update({"sketch.keys": m["sketch.name"]}), ValueError, "hashes of 44 bits"),
    ],
)
def test_a_file_of_another_version_is_refused(path, change, cause, facts):
    """With a checksum that is right, as a later version would write it."""
    save_solver(SurfaceLR().fit(TRAIN), path)
    rewrite_with_checksum(path, change)
    error = outcome(path)
    assert type(error.__cause__) is cause
    assert re.search(facts, str(error))


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"PK\x03\x04", b"\x93NUMPY\x01\x00", pickle.dumps([1])]
)
def test_a_foreign_file_is_refused(path, content):
    path.write_bytes(content)
    assert is_foreign(path)


def test_other_archives_are_refused(path):
    np.savez(path, weights=np.ones(3))
    assert is_foreign(path)
    np.save(path.with_suffix(".npy"), np.ones(3))
    assert is_foreign(path.with_suffix(".npy"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header", "{}")
    assert is_foreign(path)
    assert "no such file" in outcome(path.with_name("none.npz")).problem


def members_of(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_deflated_members_are_refused_unread(path, monkeypatch):
    """The same content, compressed: no saved solver is written so, and a small file could fill
    the memory.
    """
    save_solver(SurfaceLR().fit(TRAIN), path)
    members = members_of(path)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(
                    name, content, method if name == "array.weights.npy" else zipfile.ZIP_STORED
                )
        with monkeypatch.context() as patched:
            patched.setattr(zipfile.ZipFile, "read", lambda *args: pytest.fail("a member was read"))
            patched.setattr(
                zipfile.ZipFile, "open", lambda *args: pytest.fail("a member was opened")
            )
            assert is_foreign(path)
            assert "compressed members" in outcome(path).problem


def test_members_that_share_their_bytes_or_name_are_refused(path):
    save_solver(SurfaceLR().fit(TRAIN), path)
    content = path.read_bytes()
    with zipfile.ZipFile(path, "a") as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        for number in range(4):
            twin = zipfile.ZipInfo(f"array.{number}.npy")
            for fact in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(twin, fact, getattr(largest, fact))
            archive.filelist.append(twin)
        archive._didModify = True
    assert is_foreign(path)
    assert "larger than the archive" in outcome(path).problem
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("header.npy", b"")
    assert "two members of one name" in outcome(path).problem


@pytest.mark.parametrize(
    "header",
    [
        {"descr": "<f8", "fortran_order": False, "shape": (10**12,)},
        {"descr": "<f8", "fortran_order": False, "shape": (-1, -3)},
        {"descr": "<f8", "fortran_order": False, "shape": (2,)},
        {"descr": "|O", "fortran_order": False, "shape": (3,)},
        {"descr": "|S0", "fortran_order": False, "shape": (10**12,)},
        {"descr": "|V0", "fortran_order": False, "shape": ()},
    ],
)
def test_the_size_in_an_arrays_header_is_not_trusted(path, header):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, header)
    save_solver(SurfaceLR().fit(TRAIN), path)
    members = members_of(path) | {"array.weights.npy": content.getvalue() + bytes(24)}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert is_foreign(path)


def test_nothing_pickled_is_loaded(path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was run",))

    save_solver(SurfaceLR().fit(TRAIN), path)
    with np.load(path, allow_pickle=False) as file:
        members = dict(file)
    np.savez(path, **{**members, "array.weights": np.array([Trap()], dtype=object)})
    assert is_foreign(path)


def test_a_saved_solver_is_a_solver(path):
    save_solver(SurfaceLR(analyzer="treebank").fit(TRAIN), path)
    saved = SavedSolver(path=str(path))
    check_solver(saved, tasks=[Task.SINGLE_CHOICE])
    assert saved.learns_from == "nothing"
    assert saved.fit(DEV).analyzer == "treebank"
    assert saved.needs_only_arrays
    assert are_equal(saved.score_candidates(DEV), load_solver(path).score_candidates(DEV))


@pytest.mark.parametrize("spec", ["surface-lr", "lexical,weights=learned"])
def test_questions_are_encoded_for_a_saved_solver_that_takes_an_encoding(path, spec):
    solver = parse_solver(spec).fit(TRAIN)
    save_solver(solver, path)
    assert SavedSolver(path=str(path)).fit(DEV).takes_encoding == solver.takes_encoding


def test_a_row_names_the_saved_solver_and_its_training_data(path):
    solver = SurfaceLR.variant("mitre2018")
    save_solver(solver.fit(TRAIN), path)
    row, anew = evaluate(DEV, [SavedSolver(path=str(path)), solver], train=TRAIN).rows
    assert row.name == "saved:surface-lr:mitre2018"
    assert row.metrics() == anew.metrics()
    assert "|analyzer:word|path:model.npz@" in row.signature
    assert f"|trained_on:lessons@{TRAIN.fingerprint[:8]}|" in row.signature
    moved = path.with_name("moved.npz")
    save_solver(solver.fit(DEV), moved)
    (changed,) = evaluate(DEV, [SavedSolver(path=str(moved))]).rows
    digests = {re.search("path:.*npz@(.{8})", r.signature)[1] for r in (row, changed)}
    assert len(digests) == 2


def test_learning_from_the_reported_data_is_a_caveat(path):
    def caveats(dataset):
        return evaluate(dataset, [SavedSolver(path=str(path))]).rows[0].caveats

    save_solver(SurfaceLR().fit(DEV), path)
    assert caveats(DEV) == (f"{path} learned from the data that is reported (exam)",)
    assert caveats(TRAIN) == ()
    save_solver(SurfaceLR().fit(list(DEV)), path)
    assert caveats(DEV) == ()


def test_a_saved_solver_has_its_decision_unless_another_one_is_set(path):
    save_solver(SurfaceLR(decision=Argmax(ties="first")).fit(TRAIN), path)
    saved = SavedSolver(path=str(path))
    assert saved.decision_for(Task.SINGLE_CHOICE).ties == "first"
    assert isinstance(saved.decision_for(Task.MULTIPLE_ANSWER), TunedThreshold)
    fixed = SavedSolver(path=str(path), decision=Threshold(value=0.1))
    assert fixed.decision_for(Task.MULTIPLE_ANSWER).value == 0.1
    n_candidates = [p.n_candidates for p in predict(DEV, saved).predictions]
    assert n_candidates == [len(q.candidates) for q in DEV]


def test_a_saved_solver_needs_a_file_and_its_task(path):
    with raises(UsageError, field="path", found="''") as caught:
        SavedSolver().fit(DEV)
    assert "path=FILE" in str(caught.value)
    save_solver(SurfaceLR().fit(TRAIN), path)
    with raises(UsageError, field="task", found="span", expected=re.compile("single-choice")):
        SavedSolver(path=str(path)).fit(synthetic_dataset(Task.SPAN))


def test_a_described_solver_is_restored_from_plain_data():
    for features in ("answer", "overlap"):
        solver = SurfaceLR(features=features).fit(TRAIN)
        plain, arrays = solver_to_plain(solver)
        restored = solver_from_plain(json.loads(json.dumps(plain)), arrays)
        assert are_equal(restored.score_candidates(DEV), solver.score_candidates(DEV))


def test_every_solver_that_can_be_saved_comes_back(path):
    """All registered solvers that learn and can be saved."""
    from classic_rc.solvers import SOLVERS
    from classic_rc.solvers.saved import Persistent

    def is_persistent(solver: type[Solver]) -> bool:
        return issubclass(solver, Persistent)

    def learning(solver: type[Solver]) -> Solver | None:
        """With its own parameters, or else those of a variant that learns."""
        variants = [solver(), *(solver.variant(name) for name in solver.variants)]
        return next((variant for variant in variants if variant.learns_from != "nothing"), None)

    # A combination needs members: it is tested with some.
    solvers = [
        learning(s) for s in SOLVERS.values() if is_persistent(s) and s.name != "combination"
    ]
    assert {"surface-lr", "span-ranker", "ngram-lm", "cloze-window"} <= {
        s.name for s in solvers if s
    }
    for solver in filter(None, solvers):
        train = add_span_candidates(synthetic_dataset(min(solver.tasks), n_passages=6))
        solver.fit(train)
        save_solver(solver, path)
        assert are_equal(load_solver(path).score_candidates(train), solver.score_candidates(train))


WRONG = [
    None,
    True,
    "x",
    [],
    {},
    [1, 2],
    {"a": 1},
    10**400,
    -1,
    0.5,
    float("nan"),
    float("inf"),
    [[["x"]]],
]
CRAFTED = {
    "surface-lr": SurfaceLR(),
    "stacked": parse_solver(
        "combination,solvers=[surface-lr; longest],weights=stacked,normalise=standard"
    ),
    "language-model": parse_solver("ngram-lm"),
}


@cache
def crafted(name: str) -> Solver:
    return CRAFTED[name].fit_for(TRAIN, TRAIN)


def places(value, path=()):
    """Yield the path of every value in nested data; of a long list, of its first two."""
    yield path
    inner = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list):
        inner = dict(enumerate(value[:2]))
    for key, item in inner.items():
        yield from places(item, (*path, key))


@pytest.mark.parametrize("name", CRAFTED)
@settings(
    max_examples=examples(12, 60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_wrong_types_under_a_valid_checksum_are_one_error_or_a_working_solver(path, name, data):
    save_solver(crafted(name), path)

    def spoil_header(header, members):
        place = data.draw(st.sampled_from([p for p in places(header) if p]))
        for key in place[:-1]:
            header = header[key]
        header[place[-1]] = data.draw(st.sampled_from(WRONG))

    def spoil_array(header, members):
        key = data.draw(
            st.sampled_from(sorted(name for name in members if name.startswith("array.")))
        )
        array = members[key]
        spoilt = [array.astype(str), array[:0], array[None], array.astype(complex)]
        spoilt.append(array.astype(np.float16) * np.nan)
        members[key] = data.draw(st.sampled_from(spoilt))

    with np.load(path, allow_pickle=False) as file:
        has_arrays = any(key.startswith("array.") for key in file.files)
    rewrite_with_checksum(
        path,
        data.draw(st.sampled_from([spoil_header, spoil_array] if has_arrays else [spoil_header])),
    )
    try:
        (row,) = evaluate(DEV, [SavedSolver(path=str(path))]).rows
    except (DataError, UsageError):
        return
    assert 0 <= row.metrics()["accuracy"] <= 1


@pytest.mark.parametrize(
    "change",
    [
        lambda h, m: h["state"].update(bias=10**400),
        lambda h, m: h.update(caveats="text"),
        lambda h, m: h.update(trained_on={"name": 3, "fingerprint": "x"}),
        lambda h, m: h.update(
            decision={
                "decision": "TunedThreshold",
                "params": {},
                "fitted": {"best_threshold_": "x"},
            }
        ),
        lambda h, m: h["params"].update(C="x"),
        lambda h, m: m.update({"array.weights": m["array.weights"] * np.nan}),
        lambda h, m: m.update({"array.weights": m["array.weights"][:, None]}),
    ],
)
def test_crafted_content_is_one_error(path, change):
    save_solver(SurfaceLR().fit(SEVERAL), path)
    rewrite_with_checksum(path, change)
    with raises(DataError, source=str(path), exit_code=3):
        load_solver(path)


@pytest.mark.parametrize("name", [name for name, solver in SOLVERS.items() if solver.former_params])
def test_a_parameter_that_is_gone_is_read_with_its_former_value_only(name):
    solver = SOLVERS[name]
    gone = solver.former_params
    assert not gone.keys() & solver.parameters.keys()
    params = {**solver().get_params(deep=False), **gone}
    assert solver.from_recorded(params).get_params() == solver().get_params()
    for parameter in gone:
        with raises(UsageError, field=f"parameter of {name}", found=parameter):
            solver.from_recorded({**params, parameter: "another value"})
