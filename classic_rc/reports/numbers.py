"""Numbers as tables show them: fractions in percent, differences in points, p-values."""

from __future__ import annotations

from classic_rc.evaluation.resampling import Interval


def percent(value: float | None, decimals: int = 2, interval: Interval | None = None, mark: str = "") -> str:
    """A fraction in percent, a mark and its interval behind it; a dash where there is none.

    Examples
    --------
    >>> percent(0.57994, interval=Interval(0.5512, 0.6061))
    '57.99 [55.1, 60.6]'
    """
    if value is None or value != value:
        return "–"
    shown = f"{100 * value:.{decimals}f}{mark}"
    return shown if interval is None else f"{shown} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def points(value: float | None) -> str:
    """A difference of fractions in points (hundredths), with its sign.

    Examples
    --------
    >>> points(0.05), points(-0.00001), points(None)
    ('+5.00', '+0.00', '–')
    """
    return "–" if value is None else _signed(value, 2)


def bounds(interval: Interval | None) -> str:
    """An interval of a difference, in points.

    Examples
    --------
    >>> bounds(Interval(-0.012, 0.04))
    '[-1.2, +4.0]'
    """
    return "–" if interval is None else f"[{_signed(interval.low, 1)}, {_signed(interval.high, 1)}]"


def p_value(p: float) -> str:
    """A p-value with four decimals, or two digits where that shows nothing of it.

    Examples
    --------
    >>> p_value(0.04321), p_value(0.0000321)
    ('0.0432', '3.2e-05')
    """
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1e}"


def _signed(value: float, decimals: int) -> str:
    return f"{round(100 * value, decimals) + 0.0:+.{decimals}f}"  # adding 0 makes -0 a plain 0
