"""Benchmarks of this package against its peers: run ``python -m benchmarks``, or one file by itself."""
