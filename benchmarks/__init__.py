"""Benchmarks of this package against its peers: run ``python -m benchmarks``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
"""Published datasets. Without them, benchmarks measure generated data."""
