"""An autograder for Gradescope: a zip of ``setup.sh``, ``run_autograder``, this package and the teacher's files."""

from __future__ import annotations

import io
import json
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from classic_rc.errors import UsageError
from classic_rc.teaching.assignment import ASSIGNMENTS, DECLARATION, Assignment

_PACKAGE = Path(__file__).resolve().parents[1]
_SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail
apt-get update && apt-get install -y --no-install-recommends python3 python3-pip bubblewrap
python3 -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or later is needed"'
python3 -m pip install --break-system-packages REQUIRED
"""
_RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission, as root. results/results.json is written whatever was submitted.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
own=$root/source/private
mkdir -p "$root/results"
chmod -R go-rwx "$root/source" "$root/results" "${BASH_SOURCE[0]}"
chmod -R go-rwx "$root/submission_metadata.json" 2> /dev/null
rm -f "$root/results/results.json"
cd "$own" || exit 1
PYTHONPATH=$own PYTHONDONTWRITEBYTECODE=1 python3 -m classic_rc grade "$root/submission" --one --unsafe --quiet \\
    --assignment "$own/assignment.json" --timeout SECONDS DATA --gradescope "$root/results" 2> "$own/errors.txt"
if [ ! -s "$root/results/results.json" ]; then
    cat "$own/errors.txt"
    echo '{"score": 0, "output": "This submission could not be graded.", "stdout_visibility": "hidden"}' \\
        > "$root/results/results.json"
fi
exit 0
"""


def autograder_zip(assignment: Assignment, seed: int, data: str | None = None, seconds: float = 60.0) -> bytes:
    """Return an autograder as a zip file, to be uploaded as it is; each regrade has the same rules and cases.

    Raises
    ------
    UsageError
        `data` is not a file.
    """
    if data is not None and not Path(data).is_file():
        raise UsageError(
            f"an autograder takes its hidden questions from a file, not {data}", field="--data", found=data
        )
    is_own = ASSIGNMENTS in assignment.file.parents
    name = assignment.name if is_own else assignment.file.name
    files = {path: path.relative_to(_PACKAGE.parent).as_posix() for path in sorted(_PACKAGE.rglob("*"))}
    files |= {} if is_own else {path: path.name for path in sorted(assignment.file.parent.glob("*.py"))}
    files |= {} if data is None else {Path(data): f"data{''.join(Path(data).suffixes)}"}
    declared = json.dumps({"assignment": name, "seed": seed})
    told = "" if data is None else f'--data "$own/{files[Path(data)]}"'
    try:
        needed = [line.partition(";")[0].strip() for line in requires("classic_rc") or [] if "extra ==" not in line]
    except PackageNotFoundError:  # a checkout that is not installed
        needed = ["numpy"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        run = _RUN.replace("SECONDS", f"{seconds:g}").replace("DATA ", f"{told} " if told else "")
        _add(
            archive, "setup.sh", _SETUP.replace("REQUIRED", " ".join(f"'{one}'" for one in needed)).encode(), 0o755
        )
        _add(archive, "run_autograder", run.encode(), 0o755)
        _add(archive, f"private/{DECLARATION}", declared.encode(), 0o600)
        for path, place in files.items():
            if path.is_file() and "__pycache__" not in path.parts:
                _add(archive, f"private/{place}", path.read_bytes(), 0o600)
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int) -> None:
    info = zipfile.ZipInfo(name)  # always of 1980: the same autograder has the same bytes
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
