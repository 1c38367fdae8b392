"""Classical, non-neural baselines for reading comprehension."""

from classic_rc._version import __version__

__all__ = ["__version__"]
