"""Estimators, the base class of solvers and decisions, and the declarations of their parameters.

From a declaration follow the constructor, its checks and its documentation. An estimator is
scikit-learn's without its import: scikit-learn recognises estimators by their methods, not by their
class, and takes longer to import than a small dataset takes to score. So it is imported when one of
its own functions is called.
"""

from __future__ import annotations

import copy
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import cleandoc
from math import inf
from numbers import Number
from sys import float_info
from typing import Any, ClassVar, Self, TypeVar

from classic_rc.errors import UsageError

_NO_DEFAULT: Any = inspect.Parameter.empty

_LINE_LENGTH = 112
_SECTION = re.compile(r"\n\n[A-Z][A-Za-z ]+\n---")
_WRITTEN = "is_written_from_declarations"


@dataclass(frozen=True)
class Parameter:
    """The declaration of a constructor parameter, shared by checks, help texts, signatures and
    run records.
    """

    # What the parameter means: a phrase, and sentences after it.
    help: str
    # The allowed values. If the parameter names files: the words that do not name a file.
    allowed: tuple[Any, ...] = ()
    # A description of the other values that are allowed.
    also: str = ""
    # Accepts the values that `also` describes. Without it, a value outside `allowed` is refused,
    # except if `allowed` is empty or the value may name a file: then the estimator itself checks
    # the value.
    fits: Callable[[Any], bool] | None = None
    # Whether a string that is not in `allowed` may name a file or a folder.
    is_file: bool = False
    # The separator of several files in one string.
    joined_by: str = ""
    # Whether a list may name several files.
    is_list: bool = False
    # Maps a value to what the signature shows. Default: the value, or a file's name and content.
    signed: Callable[[Any], Any] | None = None
    # Splits that a published constant, which is the default here, was tuned on: content fingerprint
    # -> name.
    default_tuned_on: Mapping[str, str] = field(default_factory=dict)
    # A key inside the text, and the declaration of its value, which ends at a plus: an analyzer's
    # ``stop=FILE``.
    inner: tuple[str, Parameter] | None = None
    # The constructor's default. A parameter that a class's own constructor takes needs none here.
    default: Any = _NO_DEFAULT
    # Makes a default for each object, where objects must not share one. `default` then is an
    # example of it.
    factory: Callable[[], Any] | None = None

    def but(self, **changes: Any) -> Any:
        """Return this declaration with another default, another help or other fields."""
        of_default: dict[str, Any] = (
            {"default_tuned_on": {}, "factory": None} if "default" in changes else {}
        )
        return replace(self, **{**of_default, **changes})

    def new(self, value: Any) -> Any:
        """Return `value`, or what the factory makes instead of the default."""
        return self.factory() if self.factory and value is self.default else value

    @property
    def choices(self) -> str:
        """The allowed values in words: ``one of 'a', 'b' or a number``; empty if only the
        estimator checks them.
        """
        values = ", ".join(map(repr, self.allowed))
        return self._or_other_values(f"one of {values}" if len(self.allowed) > 1 else values)

    def accepts(self, value: Any) -> bool:
        """Return whether `value` is allowed."""
        if value in self.allowed:
            return True
        if self.fits is not None:
            return self.fits(value)
        return self._may_name_files(value) if self.is_file else not self.allowed

    def names_file(self, value: str) -> bool:
        """Return whether `value` may be the path of a file or a folder."""
        return self.is_file and bool(value) and value not in self.allowed

    def with_files(self, value: Any, change: Callable[[str], str]) -> Any:
        """Return a value after `change` of each part that may name a file.

        Parts are the items of a list, the texts between separators, and what follows the key of
        `inner`.
        """
        if isinstance(value, list | tuple) and self.is_file:
            return type(value)(self.with_files(item, change) for item in value)
        if not isinstance(value, str):
            return value
        if self.inner is not None:
            key, inner = self.inner
            before, key, rest = value.partition(key)
            text, plus, after = rest.partition("+")
            return before + key + inner.with_files(text, change) + plus + after
        if not self.names_file(value):
            return value
        changed = change(value)
        # An existing path may itself contain the separator.
        if (
            not self.joined_by
            or self.joined_by not in value
            or os.path.exists(value)
            or os.path.exists(changed)
        ):
            return changed
        parts = value.split(self.joined_by)
        return self.joined_by.join(
            change(path) if self.names_file(path) else path for path in parts
        )

    def documented(self, name: str, annotation: str) -> str:
        """Return the entry of a docstring's section "Parameters"."""
        values = ", ".join(map(repr, self.allowed))
        choices = f"{{{values}}}" if len(self.allowed) > 1 else values
        kind = self._or_other_values(choices) or annotation or "object"
        sentences = self.help[:1].upper() + self.help[1:]
        return f"{name} : {kind}, default {self.default!r}\n{_wrapped(sentences)}."

    def _or_other_values(self, values: str) -> str:
        paths = "a path or a list of paths" if self.is_list else "a path"
        return " or ".join(
            text for text in (values, self.also or (paths if self.is_file else "")) if text
        )

    def _may_name_files(self, value: Any) -> bool:
        """Return whether a value may be a path, or an object in memory in its place; a number is
        neither.
        """
        if isinstance(value, list | tuple):
            return self.is_list and not any(
                isinstance(item, Number | list | tuple | None) for item in value
            )
        return not isinstance(value, Number | None)


def parameter(default: Any = _NO_DEFAULT, help: str = "", **facts: Any) -> Any:
    """Declare a parameter of an estimator's constructor, as the value of an annotated name in the
    class.

    Parameters
    ----------
    default : object
        The default. It is stored unchanged, so it must not be changed by anyone.
    help : str
        What the parameter means: a phrase in lower case, and sentences after it, without a period
        at the end.
    **facts
        The other fields of :class:`Parameter`, such as `allowed`; with `factory` there is no
        default.

    Examples
    --------
    >>> from classic_rc.parameters import Estimator
    >>> class Scaled(Estimator):
    ...     scale: float = parameter(
    ...         1.0, "what each score is multiplied by", also="a number", fits=is_number
    ...     )
    >>> Scaled(scale=2).scale, Scaled.scale
    (2, 1.0)
    """
    if "factory" in facts:
        default = facts["factory"]()
    if default is _NO_DEFAULT:
        raise TypeError("a parameter needs a default, or a factory that makes one")
    return Parameter(help, default=default, **facts)


def whole_number(default: Any, help: str, *, least: int = 1, **facts: Any) -> Any:
    """Declare a parameter that is a whole number of at least `least`, below 2**31, or one of the
    allowed values.
    """
    least_of_all = (
        "a positive whole number" if least == 1 else f"a whole number of at least {least}"
    )
    also = f"{least_of_all}, below 2**31"
    return parameter(
        default, help, also=also, fits=lambda value: is_integer(value, least, 2**31), **facts
    )


def number(default: Any, help: str, *, least: float = -inf, most: float = inf, **facts: Any) -> Any:
    """Declare a parameter that is a finite number from `least` to `most`, or one of the allowed
    values.
    """
    if least > -inf:
        also = f"a number from {least} to {most}" if most < inf else f"a number of at least {least}"
    else:
        also = f"a number of at most {most}" if most < inf else "a finite number"
    return parameter(
        default, help, also=also, fits=lambda value: is_number(value, least, most), **facts
    )


def declare_parameters(cls: Any) -> None:
    """Give a class the constructor, the mapping `parameters` and the docstring that its
    declarations define.

    Inherited parameters come first; one that is declared again moves to its new place. The class
    attribute becomes the default. A class that writes its own constructor keeps it.
    """
    declarations = {
        name: value for name, value in vars(cls).items() if isinstance(value, Parameter)
    }
    if declarations:
        inherited = {name: p for name, p in cls.parameters.items() if name not in declarations}
        cls.parameters = inherited | declarations
        for name, declared in declarations.items():
            setattr(cls, name, declared.default)
        if "__init__" not in vars(cls):
            _write_constructor(cls)
    if hasattr(cls.__init__, _WRITTEN) and cls.__doc__:
        cls.__doc__ = _with_section(cleandoc(cls.__doc__), cls)


def _write_constructor(cls: Any) -> None:
    """Write the constructor that takes the parameters as keywords and stores them unchanged.

    It is compiled from text, as a dataclass's is, so that Python itself words the errors of wrong
    calls.
    """
    base = cls.__init__
    if base is not object.__init__ and not hasattr(base, _WRITTEN):
        raise TypeError(
            f"{cls.__name__} declares parameters, but {base.__qualname__} is written by hand: "
            f"write {cls.__name__}.__init__ too, or declare the parameters of the base class "
            "instead"
        )
    declared: Mapping[str, Parameter] = cls.parameters
    keywords = ", ".join(f"{name}=None" for name in declared)
    lines = ["def write(_declared):", f" def __init__(self, *, {keywords}):"]
    for name, parameter in declared.items():
        value = f"_declared[{name!r}].new({name})" if parameter.factory else name
        lines.append(f"  self.{name} = {value}")
    lines.append(" return __init__")
    functions: dict[str, Any] = {}
    module = sys.modules.get(cls.__module__)
    # names in annotations are the module's
    exec("\n".join(lines), vars(module) if module else {}, functions)
    constructor = functions["write"](declared)
    constructor.__kwdefaults__ = {name: parameter.default for name, parameter in declared.items()}
    annotations = {**getattr(base, "__annotations__", {}), **inspect.get_annotations(cls)}
    parameter_annotations = {name: annotations[name] for name in declared if name in annotations}
    constructor.__annotations__ = {**parameter_annotations, "return": None}
    constructor.__module__ = cls.__module__
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    setattr(constructor, _WRITTEN, True)
    cls.__init__ = constructor


def _with_section(text: str, cls: Any) -> str:
    """Return a docstring with the section "Parameters", which comes before all others; it may
    have its own.
    """
    if "\nParameters\n---" in text:
        return text
    lines = ["Parameters", "----------"]
    for name, declared in cls.parameters.items():
        annotation = cls.__init__.__annotations__.get(name)
        lines.append(declared.documented(name, _in_words(annotation)))
    section = "\n".join(lines)
    next_section = _SECTION.search(text)
    if next_section is None:
        return f"{text}\n\n{section}\n"
    end = next_section.start()
    return f"{text[:end]}\n\n{section}{text[end:]}"


def _in_words(annotation: Any) -> str:
    """Return a type for a reader: ``str | None`` is "str or None"."""
    if annotation is None:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace(" | ", " or ")


def _wrapped(text: str) -> str:
    """Return the text in indented lines; `textwrap` takes ten times as long, at every start."""
    lines = [" " * 3]
    for word in text.split():
        if len(lines[-1]) + len(word) >= _LINE_LENGTH:
            lines.append(" " * 3)
        lines[-1] += f" {word}"
    return "\n".join(lines)


def is_integer(value: Any, least: float = -inf, below: float = inf) -> bool:
    """Return whether `value` is an integer with ``least <= value < below``; a bool is not an
    integer here.
    """
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < below


def is_number(value: Any, least: float = -inf, most: float = inf) -> bool:
    """Return whether `value` is a finite number with ``least <= value <= most``; a bool is not a
    number here.
    """
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    # Whole numbers may be larger than all floats, and `isfinite` refuses those.
    return is_real and abs(value) <= float_info.max and least <= value <= most


# --------------------------------------------------------------------------------------------------
# Estimators

_T = TypeVar("_T")


@cache
def _constructor_parameters(constructor: Callable[..., None], class_name: str) -> tuple[str, ...]:
    """Return the names of a constructor's parameters, sorted."""
    if constructor is object.__init__:
        return ()
    parameters = list(inspect.signature(constructor).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        raise RuntimeError(
            f"the constructor of {class_name} must name its parameters: it takes *args"
        )
    return tuple(sorted(p.name for p in parameters if p.kind is not p.VAR_KEYWORD))


class Estimator:
    """A class whose constructor takes parameters and stores them unchanged under their own names.

    A subclass declares its parameters (:func:`~classic_rc.parameters.parameter`) and gets the
    constructor, or writes a constructor. scikit-learn's `clone`, `GridSearchCV` and pipelines
    accept its objects. Methods that have no documentation here do what those of
    :class:`sklearn.base.BaseEstimator` do.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        The declarations of the constructor's parameters. A class with its own constructor may lack
        some or all.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare_parameters(cls)

    def check_parameters(self) -> None:
        """Check every declared parameter."""
        names = self._get_param_names()
        for name, parameter in type(self).parameters.items():
            if name in names and not parameter.accepts(getattr(self, name)):
                raise self.wrong_value(name, parameter.choices)

    def wrong_value(self, name: str, expected: str, problem: str | None = None) -> UsageError:
        """Return the error for a parameter's value, with the problem if it is not that another
        one is expected.
        """
        value = getattr(self, name)
        problem = problem or f"must be {expected}, got {value!r}"
        message = f"parameter {name!r} of {getattr(self, 'name', type(self).__name__)} {problem}"
        return UsageError(message, field=name, found=repr(value), expected=expected)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the constructor's parameters, sorted."""
        return list(_constructor_parameters(cls.__init__, cls.__name__))

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
                params |= {
                    f"{name}__{inner}": inner_value
                    for inner, inner_value in value.get_params().items()
                }
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and those of parameters as ``name__parameter``."""
        current = self.get_params(deep=True) if params else {}
        nested: dict[str, dict[str, Any]] = {}
        for path, value in params.items():
            name, is_nested, inner = path.partition("__")
            if name not in current:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
                current[name] = value
        for name, inner_params in nested.items():
            current[name].set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = []
        for name, value in self.get_params(deep=False).items():
            if name not in defaults or repr(value) != repr(defaults[name].default):
                changed.append(f"{name}={value!r}")
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
        Whether to refuse an object that is not an estimator; otherwise it is copied.
    """
    if type(estimator) in (list, tuple):
        return type(estimator)([clone(member, safe=safe) for member in estimator])  # type: ignore[attr-defined,call-arg]
    if not isinstance(estimator, Estimator) or hasattr(estimator, "__sklearn_clone__"):
        if not safe and not hasattr(estimator, "get_params"):
            return copy.deepcopy(estimator)
        from sklearn.base import clone as sklearn_clone

        cloned: _T = sklearn_clone(estimator, safe=safe)
        return cloned
    params = {
        name: clone(value, safe=False) for name, value in estimator.get_params(deep=False).items()
    }
    fresh = type(estimator)(**params)
    for name, value in fresh.get_params(deep=False).items():
        if value is not params[name]:
            raise RuntimeError(
                f"Cannot clone object {estimator}, as the constructor either does not set or "
                f"modifies parameter {name}"
            )
    return fresh
