"""Solvers that combine other solvers."""
