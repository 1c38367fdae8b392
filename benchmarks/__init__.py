"""How fast this package is beside its peers: ``python -m benchmarks``, or one file by itself."""
