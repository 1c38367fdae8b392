"""Assignments, checks and grading."""
