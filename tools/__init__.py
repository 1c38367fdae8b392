"""Tools of developers: run ``python -m tools.recorder``."""
