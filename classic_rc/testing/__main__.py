"""``python -m classic_rc.testing``: the old form of ``classic-rc grade``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from classic_rc.cli.console import print_message
from classic_rc.cli.main import main as run_command
from classic_rc.cli.main import run_program
from classic_rc.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``check FILE`` or ``grade FOLDER`` as ``classic-rc grade`` does.

    Returns
    -------
    int
        The exit code of ``classic-rc grade``.
    """
    command, *arguments = sys.argv[1:] if argv is None else argv or [""]

    def refuse() -> int:
        raise UsageError(
            f"no command {command!r}; write `classic-rc grade FOLDER` or `classic-rc grade FILE`",
            field="COMMAND",
            found=command,
            expected="check or grade",
        )

    if command not in ("check", "grade"):
        return run_program(refuse)
    new = ["--assignment" + a.removeprefix("--checker") if a.startswith("--checker") else a for a in arguments]
    print_message(f"notice: write `classic-rc grade {' '.join(new)}`; this form will go with the next release")
    return run_command(["grade", *new])


if __name__ == "__main__":
    sys.exit(main())
