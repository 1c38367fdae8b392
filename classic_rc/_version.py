"""The version of the package."""

from pathlib import Path

RELEASE = "0.2.0"
"""The version that is installed from here: ``X.Y.Z`` at a release, ``X.Y.Z+dev`` before it."""

_IS_CHECKOUT = (Path(__file__).parents[1] / "setup.cfg").is_file()

# Code in a checkout can be edited, so no version of a release says what it does.
__version__ = f"{RELEASE.removesuffix('+dev')}+dev" if _IS_CHECKOUT else RELEASE
