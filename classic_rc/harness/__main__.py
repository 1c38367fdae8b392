"""``python -m classic_rc.harness``: the command line of lm-evaluation-harness, with the model
``classic-rc``.
"""

from __future__ import annotations

import sys

from classic_rc.cli.main import run_program
from classic_rc.harness.model import require_harness  # importing it registers the model


def main() -> int:
    """Run the harness's own command line on ``sys.argv``, and return the exit code: those of
    ``classic-rc``.
    """

    def run() -> int:
        require_harness()
        from lm_eval.__main__ import cli_evaluate

        cli_evaluate()
        return 0

    return run_program(run)


if __name__ == "__main__":
    sys.exit(main())
