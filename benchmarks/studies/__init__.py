"""Experiments whose figures pages cite: run ``python -m benchmarks.studies.NAME``."""
