"""Saving fitted solvers to files and loading them, without pickle: arrays and JSON, with a
checksum over both.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.io.files import read_bytes
from classic_rc.io.members import read_stored_arrays
from classic_rc.io.text import write_file
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.sketches import Sketch
from classic_rc.solvers.base import Provenance, Solver, TrainedOn
from classic_rc.solvers.codec import value_from_plain, value_to_plain
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.registry import SOLVERS
from classic_rc.solvers.shared_parameters import DECISION, PATH
from classic_rc.solvers.specs import own_code
from classic_rc.text.scorers import SCORERS

_FORMAT = "classic_rc solver"
_FORMAT_VERSION = 3
_ARRAY = "array."
"""The prefix of array names in a file."""
_SKETCH = "sketch."
"""The prefix of the arrays of the training data's sketch."""
_HINT = "Save it again with `classic-rc fit DATA -s SOLVER -o FILE`"


@runtime_checkable
class Persistent(Protocol):
    """The two methods that a solver needs to be saved: they export and restore what ``fit``
    learned.
    """

    def fitted_state(self) -> tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]:
        """Return what was learned: plain data for JSON, and arrays of numbers, both by name."""

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state of a solver that has the same parameters."""


def has_fitted_state(solver: Solver) -> bool:
    """Return whether the solver has something to save: it learns from questions or from its own
    text files.
    """
    return solver.learns_from != "nothing" or bool(getattr(solver, "learns_from_files", False))


def require_persistent(solver: Solver) -> None:
    """Check that a solver can be saved: it learns something, is registered, and is
    :class:`Persistent`.
    """
    if not has_fitted_state(solver):
        advice, expected = (
            f"it learns nothing, so run it directly (-s {solver.name})",
            "a solver that learns",
        )
    elif SOLVERS.get(solver.name) is not type(solver) or not isinstance(solver, Persistent):
        advice, expected = (
            "fit it in each run (--train DATA)",
            "a registered solver with fitted_state() and restore()",
        )
    else:
        return
    problem = f"{solver.name} cannot be saved: {advice}"
    raise UsageError(problem, field="solver", found=solver.name, expected=expected)


def save_solver(solver: Solver, path: str | Path) -> None:
    """Write a fitted solver to a file. The write is atomic.

    The file is an uncompressed ``.npz`` without pickled objects: the learned arrays, a JSON header
    with everything else (see :func:`solver_to_plain`), and the sha256 of both. The same fit gives
    the same bytes. If the solver learned from gold, the file also has a sketch of the training data
    (:class:`~classic_rc.sketches.Sketch`), with which copies of it are recognised later.

    Parameters
    ----------
    solver : Solver
        A registered solver that is :class:`Persistent`.
    path : str or Path

    Raises
    ------
    NotFittedError
        The solver is not fitted.
    UsageError
        The solver cannot be saved, or the file cannot be written.
    """
    plain, arrays = solver_to_plain(solver)
    header = {"format": _FORMAT, "version": _FORMAT_VERSION, "classic_rc": __version__, **plain}
    members: dict[str, Any] = {"header": _bytes_array(json.dumps(header).encode("ascii"))}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(
                f"array {name!r} of {solver.name} holds objects, which cannot be stored without "
                "pickle"
            )
        members[_ARRAY + name] = np.ascontiguousarray(array)
    members |= _sketch_arrays(solver)
    buffer = io.BytesIO()
    np.savez(buffer, **members, sha256=_bytes_array(members_digest(members)))
    write_file(Path(path), buffer.getvalue())


def load_solver(path: str | Path) -> Solver:
    """Load a fitted solver that :func:`save_solver` wrote.

    The checksum detects damage and accidental edits. It does not show who wrote the file. Loading
    runs no code from the file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Solver

    Raises
    ------
    DataError
        The file is missing, is not a saved solver, was changed or cut off, or has an unknown format
        version.
    """
    header, members = _read_archive(str(path))
    if header.get("version") != _FORMAT_VERSION:
        problem = "unknown format version"
        actual, expected = (
            f"{header.get('version')}, of classic_rc {header.get('classic_rc')}",
            str(_FORMAT_VERSION),
        )
        raise DataError(
            problem, source=str(path), field="version", found=actual, expected=expected, hint=_HINT
        )
    arrays = _members_with(_ARRAY, members)
    try:
        _check_types(header, arrays)
        with own_code(trusted=False):
            solver: Any = solver_from_plain(header, arrays)
            _try_out(solver)
        _restore_sketch(solver, members)
    except DataError:
        raise
    except (
        Exception
    ) as error:  # the checksum fits any content, and what is wrong with it can fail anywhere
        cause = str(error)[:200] or type(error).__name__
        raise DataError(
            f"cannot restore the solver with classic_rc {__version__} ({cause})",
            source=str(path),
            hint=_HINT,
        ) from error
    assert isinstance(solver, Solver)
    return solver


def solver_to_plain(solver: Solver) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Convert a fitted solver to plain data, ready for JSON, and arrays. A combination saves its
    members with it.

    The data are the solver's name, variant and parameters, the decision if it was tuned, the
    training data's provenance, the caveats of the fit, and the plain data of the fitted state.
    """
    require_persistent(solver)
    assert isinstance(solver, Persistent)
    state, arrays = solver.fitted_state()
    params = solver.get_params(deep=False)
    decision = getattr(solver, "decision_", None)
    described = {
        "solver": solver.name,
        "variant": solver.variant_name(),
        "params": {key: value_to_plain(solver, key, value) for key, value in params.items()},
        "decision": value_to_plain(solver, "decision_", decision),
        "trained_on": getattr(solver, "trained_on_", None),
        "caveats": list(getattr(solver, "caveats_", ())),
        "state": dict(state),
    }
    return described, dict(arrays)


def solver_from_plain(described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Solver:
    """Return the fitted solver that :func:`solver_to_plain` described.

    Raises
    ------
    AttributeError, KeyError, TypeError or ValueError
        The solver is unknown, or its state does not match it.
    """
    params = {name: value_from_plain(value) for name, value in described["params"].items()}
    solver: Any = SOLVERS[described["solver"]].from_recorded(params)
    solver.restore(described["state"], arrays)
    if described["decision"] is not None:
        solver.decision_ = value_from_plain(described["decision"])
    solver.trained_on_, solver.caveats_ = described["trained_on"], tuple(described["caveats"])
    return solver


def nested_to_plain(solver: Solver) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Convert a fitted solver that another one saves with it, and the sketch of what it learned."""
    plain, arrays = solver_to_plain(solver)
    return plain, {**arrays, **_sketch_arrays(solver)}


def nested_from_plain(
    plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], prefix: str
) -> Solver:
    """Return the solver that :func:`nested_to_plain` converted; the names of its arrays begin with
    a prefix.
    """
    nested_arrays = _members_with(prefix, arrays)
    solver = solver_from_plain(plain, nested_arrays)
    _restore_sketch(solver, nested_arrays)
    return solver


def learned_by(solver: Solver) -> tuple[TrainedOn, ...]:
    """Return the dataset with gold that a fitted solver learned, if it was one, and what it had
    learned before.
    """
    learned = getattr(solver, "trained_on_", None) or {}
    if not solver.is_trained or learned.get("fingerprint") is None:
        return solver.learned_before
    trained_on = TrainedOn(
        name=learned["name"],
        fingerprint=learned["fingerprint"],
        datasets=tuple(learned["datasets"]),
        sentences=learned.get("sentences"),
        scorers=tuple(learned.get("scorers", ())),
        language=learned.get("language"),
        sketch=learned.sketch if isinstance(learned, Provenance) else None,
    )
    return tuple(dict.fromkeys((trained_on, *solver.learned_before)))


def _sketch_arrays(solver: Any) -> dict[str, NDArray[Any]]:
    learned = getattr(solver, "trained_on_", None)
    if not solver.is_trained or not isinstance(learned, Provenance) or learned.sketch is None:
        return {}
    return {_SKETCH + name: array for name, array in learned.sketch.to_arrays().items()}


def _restore_sketch(solver: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    if sketch := _members_with(_SKETCH, arrays):
        solver.trained_on_ = Provenance(solver.trained_on_, sketch=Sketch.from_arrays(sketch))


def _check_types(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Check the types and the numbers of what all saved solvers have, before anything is made
    from it.
    """
    parts = {"solver": str, "params": dict, "state": dict, "caveats": list}
    for name, kind in parts.items():
        if not isinstance(header[name], kind):
            raise TypeError(
                f"{name} is of type {type(header[name]).__name__}, expected {kind.__name__}"
            )
    if not all(isinstance(caveat, str) for caveat in header["caveats"]):
        raise TypeError("caveats are not strings")
    trained_on = header["trained_on"]
    if trained_on is not None and not (
        isinstance(trained_on, dict)
        and all(
            isinstance(trained_on.get(name), str | None)
            for name in ("name", "fingerprint", "sentences", "language")
        )
        and (trained_on.get("name") is None) == (trained_on.get("fingerprint") is None)
        and isinstance(names := trained_on.get("datasets"), list)
        and isinstance(scorers := trained_on.get("scorers", []), list)
        and all(isinstance(name, str) for name in names)
        and all(name in SCORERS for name in scorers)
    ):
        raise TypeError("trained_on has no name, fingerprint and datasets")
    values: list[Any] = [header]
    for value in values:  # the list grows in the loop: nested data can be deep
        values += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError("a whole number has more than 64 bits")
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise TypeError(f"array {name!r} is of type {array.dtype}, expected numbers")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"array {name!r} has numbers that are not finite")


_TRIAL_TEXT = "Ann met Bob at the market. Bob sold pears."
_TRIAL_CANDIDATES = (Candidate("Ann", 0, 3), Candidate("Bob", 8, 11))


def _try_out(solver: Solver) -> None:
    """Answer a small question of each task, so that a state that cannot be used is an error
    before a run.
    """
    passage = Passage("trial", _TRIAL_TEXT)
    solver.check_parameters()
    if not isinstance(solver.decision, Decision | None):
        raise TypeError(f"decision is {solver.decision!r}, expected a decision rule")
    rule = getattr(solver, "decision_", None)
    if rule is not None and not isinstance(rule, Decision):
        raise TypeError(f"decision is {rule!r}, expected a decision rule")
    _ = solver.signature_facts(), solver.variant_name()
    for task in sorted(solver.tasks):
        text = "Who met @placeholder?" if task is Task.CLOZE else "Who met Bob?"
        question = Question("trial", passage, text, _TRIAL_CANDIDATES, None, task)
        try:
            solver.predict([question])
        except ClassicRCError:  # such as questions without annotation: no fault of the state
            continue


def _read_archive(path: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if not Path(path).exists():
        raise DataError(
            "no such file", source=path, hint=_HINT.replace("Save it again", "Save a solver")
        )
    data = read_bytes(path)
    try:
        members = read_stored_arrays(data, path)
        digest = members.pop("sha256").tobytes()
        header = json.loads(members["header"].tobytes())
        if header["format"] != _FORMAT:
            raise ValueError(header["format"])
    except DataError:
        raise
    except (
        Exception
    ) as error:  # broken archives, arrays and JSON raise errors that have no common base class
        problem = f"not a saved solver, or a damaged one ({error or type(error).__name__})"
        raise DataError(problem, source=path, expected=f"format {_FORMAT!r}", hint=_HINT) from None
    if digest != members_digest(members):
        raise DataError(
            "the content was changed after it was saved", source=path, field="sha256", hint=_HINT
        )
    return header, members


def _members_with(prefix: str, members: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in members.items()
        if name.startswith(prefix)
    }


def _bytes_array(data: bytes) -> NDArray[Any]:
    return np.frombuffer(data, dtype=np.uint8)


def members_digest(members: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the sha256 that a saved file has of its members."""
    digest = hashlib.sha256()
    for name, array in sorted(members.items()):
        description = [name, array.dtype.str, list(array.shape)]
        digest.update(json.dumps(description).encode("ascii"))
        digest.update(array.tobytes())
    return digest.digest()


def _of_saved(name: str, before: Any) -> Any:
    """Return a property with a fact about the saved solver, or with `before` until its file is
    read.
    """
    doc = f"The saved solver's `{name}`; {before!r} before the file is read."
    return property(
        lambda self: getattr(self.solver_, name) if hasattr(self, "solver_") else before, doc=doc
    )


class SavedSolver(Solver):
    r"""A solver that was fitted earlier and is read from its file.

    .. math:: s = \text{the score of the saved solver}

    Attributes
    ----------
    solver_ : Solver
        The solver in the file.
    name : str
        After :meth:`fit`, ``"saved:"`` and the solver's name and variant.
    """

    name = "saved"
    cites = ("classic_rc",)

    path: str = PATH.but(help="a file that :func:`save_solver` or ``classic-rc fit`` wrote")
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None is the saved solver's own, with its "
        "tuned threshold if it has one"
    )

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Read the file. Nothing is learned from `questions`; members that are score files read
        their scores.
        """
        solver = self._loaded_solver()
        if len(questions) and questions[0].task not in solver.tasks:
            problem = f"{solver.name} in {self.path} does not support {questions[0].task} questions"
            actual, expected = str(questions[0].task), ", ".join(sorted(solver.tasks))
            raise UsageError(problem, field="task", found=actual, expected=expected)
        _fit_members_without_state(solver, questions)
        self.solver_ = solver
        self.name = f"saved:{solver.row_name()}"  # type: ignore[misc]
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score the candidates with the saved solver."""
        return self._loaded_solver().score_candidates(questions)

    def score_with_members(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the saved solver's scores and, for a combination, its members' after them."""
        return self._loaded_solver().score_with_members(questions)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Yield the saved solver's explanations."""
        return self._loaded_solver().explain_each(questions)

    def default_decision(self, task: Task) -> Decision:
        """Return the saved solver's rule, with its tuned threshold if it has one."""
        solver = self._loaded_solver()
        rule = getattr(solver, "decision_", None) or solver.decision_for(task)
        # A fixed threshold in place of the tuned one, so that `tune` on new data does not move it.
        if isinstance(rule, TunedThreshold) and not rule.needs_fit:
            return Threshold(value=rule.best_threshold_)
        if isinstance(rule, Argmax) and task is Task.MULTIPLE_ANSWER:
            return solver.default_decision(task)
        return rule

    analyzer = _of_saved("analyzer", None)
    members = _of_saved("members", ())
    member_names = _of_saved("member_names", [])
    takes_encoding = _of_saved("takes_encoding", True)

    def runs_solvers(self) -> Sequence[str]:
        """Return the names of the saved solver and of its members."""
        solvers: list[Solver] = [self._loaded_solver()]
        for solver in solvers:  # the list grows in the loop: members have members
            solvers += solver.members
        return sorted({type(solver).name for solver in solvers})

    @property
    def needs_only_arrays(self) -> bool:  # type: ignore[override]
        """Whether the saved solver reads only the arrays of an encoding."""
        return self._loaded_solver().needs_only_arrays

    @property
    def is_trained(self) -> bool:
        """Whether the saved solver learned from gold."""
        return self._loaded_solver().is_trained

    @property
    def trained_on_(self) -> Mapping[str, Any] | None:
        """The data that the saved solver learned from; see
        :func:`~classic_rc.solvers.base.provenance`.
        """
        return getattr(self._loaded_solver(), "trained_on_", None)

    @property
    def learned_before(self) -> tuple[TrainedOn, ...]:
        """The data with gold that the saved solver learned."""
        return learned_by(self._loaded_solver())

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Return the caveats of the fit, plus a warning if the solver learned from these very
        questions.
        """
        trained_on = self.trained_on_ or {}
        caveats = (*self._loaded_solver().caveats(questions), *super().caveats(questions))
        # The fresh object() is equal to nothing: a bare list without a fingerprint must not match a
        # missing one.
        if trained_on.get("fingerprint") == getattr(questions, "fingerprint", object()):
            caveats += (
                f"{self.path} learned from the data that is reported ({trained_on['name']})",
            )
        return caveats

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the saved solver's facts."""
        return self._loaded_solver().signature_facts()

    def row_name(self) -> str:
        """Return ``"saved:"`` and the row name of the saved solver."""
        return f"saved:{self._loaded_solver().row_name()}"

    def _loaded_solver(self) -> Solver:
        if hasattr(self, "solver_"):
            return self.solver_
        if not self.path:
            raise UsageError(
                "saved needs a file: path=FILE",
                field="path",
                found=repr(self.path),
                expected="a saved solver",
            )
        self.check_parameters()
        return load_solver(self.path)


def _fit_members_without_state(solver: Solver, questions: Sequence[Question]) -> None:
    """Fit the members that learn nothing, at any depth, on `questions`."""
    for member in solver.members:
        if has_fitted_state(member):
            _fit_members_without_state(member, questions)
        else:
            member.fit(questions)
