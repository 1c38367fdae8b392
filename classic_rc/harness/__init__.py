"""Solvers as models of lm-evaluation-harness: ``python -m classic_rc.harness run --model classic-rc
...``.

:mod:`classic_rc.harness.answering` turns the harness's documents into questions and answers them;
it does not need the harness. :mod:`classic_rc.harness.model` is the model that the harness sees.
Releases of the harness that load plug-ins find it by its entry point; for the others ``python -m
classic_rc.harness`` registers it and calls their command line.
"""
