"""The base class of solvers and decisions: a scikit-learn estimator that does not import scikit-learn.

scikit-learn recognises estimators by their methods, not by their class, and takes longer to import than a small
dataset takes to score. So it is imported when one of its own functions is called.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from classic_rc.errors import UsageError
from classic_rc.parameters import Parameter, declare_parameters

_T = TypeVar("_T")


class Estimator:
    """A class whose constructor takes parameters and stores them unchanged under their own names.

    A subclass declares its parameters (:func:`~classic_rc.parameters.parameter`) and gets the constructor, or
    writes a constructor. scikit-learn's `clone`, `GridSearchCV` and pipelines accept its objects. Methods that have
    no documentation here do what those of :class:`sklearn.base.BaseEstimator` do.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        The declarations of the constructor's parameters. A class with its own constructor may lack some or all.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare_parameters(cls)

    def check_parameters(self) -> None:
        """Check every declared parameter.

        Raises
        ------
        UsageError
            A parameter has a value that is not allowed.
        """
        known = self._get_param_names()
        for name, parameter in type(self).parameters.items():
            if name in known and not parameter.accepts(value := getattr(self, name)):
                owner = getattr(self, "name", type(self).__name__)
                raise UsageError(
                    f"parameter {name!r} of {owner} must be {parameter.choices}, got {value!r}",
                    field=name,
                    found=repr(value),
                    expected=parameter.choices,
                )

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the constructor's parameters, sorted."""
        if cls.__init__ is object.__init__:
            return []
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            raise RuntimeError(f"the constructor of {cls.__name__} must name its parameters: it takes *args")
        return sorted(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to add the parameters of parameters that are estimators, as ``name__parameter``.
        """
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": own for inner, own in value.get_params().items()}
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and those of parameters as ``name__parameter``.

        Raises
        ------
        ValueError
            A parameter is unknown.
        """
        known = self.get_params(deep=True) if params else {}
        nested: dict[str, dict[str, Any]] = {}
        for path, value in params.items():
            name, is_nested, inner = path.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, own in nested.items():
            known[name].set_params(**own)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name not in defaults or repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """Return the diagram that notebooks show."""
        from sklearn.utils import estimator_html_repr

        html: str = estimator_html_repr(self)
        return html

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of an estimator of no special kind."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()


def clone(estimator: _T, *, safe: bool = True) -> _T:
    """Return an unfitted estimator with the same parameters, as :func:`sklearn.base.clone` does.

    Parameters
    ----------
    estimator : Estimator, or a list or tuple of them
    safe : bool
        Whether to refuse an object that is no estimator; otherwise it is copied.

    Raises
    ------
    RuntimeError
        The constructor changes a parameter.
    TypeError
        The object is no estimator.
    """
    if type(estimator) in (list, tuple):
        return type(estimator)([clone(member, safe=safe) for member in estimator])  # type: ignore[attr-defined,call-arg]
    if not isinstance(estimator, Estimator) or hasattr(estimator, "__sklearn_clone__"):
        if not safe and not hasattr(estimator, "get_params"):
            return copy.deepcopy(estimator)
        from sklearn.base import clone as sklearn_clone

        cloned: _T = sklearn_clone(estimator, safe=safe)
        return cloned
    params = {name: clone(value, safe=False) for name, value in estimator.get_params(deep=False).items()}
    fresh = type(estimator)(**params)
    for name, value in fresh.get_params(deep=False).items():
        if value is not params[name]:
            raise RuntimeError(
                f"Cannot clone object {estimator}, as the constructor either does not set or modifies "
                f"parameter {name}"
            )
    return fresh
