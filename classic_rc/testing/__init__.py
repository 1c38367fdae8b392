"""Tools for tests: synthetic questions, and the checks that all solvers, readers, metrics and
engines pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.testing.engine_check import check_engine
    from classic_rc.testing.metric_check import check_metric
    from classic_rc.testing.reader_check import check_reader
    from classic_rc.testing.solver_check import check_solver
    from classic_rc.testing.synthetic import synthetic_dataset

__all__ = ["check_engine", "check_metric", "check_reader", "check_solver", "synthetic_dataset"]

__getattr__, __dir__ = names_on_use(__name__)
