"""An autograder for Gradescope: a zip of ``setup.sh``, ``run_autograder``, this package and the
teacher's files.
"""

from __future__ import annotations

import io
import json
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from classic_rc.commands.grade.assignment import DECLARATION, Assignment
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import UsageError
from classic_rc.questions import Dataset

_PACKAGE = Path(__file__).resolve().parents[2]
_SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then  \
# Ubuntu 22.04 offers 3.11 too
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python=python3.11
fi
"$python" -m venv /opt/grader
/opt/grader/bin/python -m pip install REQUIRED
"""
_RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission, as root. results/results.json is \
written whatever was submitted.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -d "$root/private" ] && root=$(dirname "$root")
own=$root/source/private
python=/opt/grader/bin/python
[ -x "$python" ] || python=python3
mkdir -p "$root/results"
chmod -R go-rwx "$root/source" "$root/submission" "$root/results" "${BASH_SOURCE[0]}"
chmod -R go-rwx "$root/submission_metadata.json" 2> /dev/null
rm -f "$root/results/results.json"
cd "$own" && PYTHONPATH=$own PYTHONDONTWRITEBYTECODE=1 "$python" \
-m classic_rc grade "$root/submission" --one \\
    --unsafe --quiet --assignment "$own/assignment.json" --timeout SECONDS \
--gradescope "$root/results" OPTIONS \\
    2> "$own/errors.txt"
if [ ! -s "$root/results/results.json" ]; then
    cat "$own/errors.txt"
    echo '{"score": 0, "output": "This submission could not be graded.", \
"stdout_visibility": "hidden"}' \\
        > "$root/results/results.json"
fi
exit 0
"""


def autograder_zip(
    assignment: Assignment,
    seed: int,
    data: Dataset | None = None,
    train: Dataset | None = None,
    seconds: float = 60.0,
) -> bytes:
    """Return an autograder as a zip file, to be uploaded as it is; each regrade has the same rules
    and cases.

    Raises
    ------
    UsageError
        The package is not installed, so what it requires is not known.
    """
    try:
        all_requirements = requires("classic_rc") or []
    except PackageNotFoundError:
        raise UsageError(
            "what to install there is not known: install this package (`pip install .`)"
        ) from None
    required = [line for line in all_requirements if "extra ==" not in line]
    quoted = [f"'{line.partition(';')[0].strip()}'" for line in required]
    # What other processes compile comes and goes.
    paths = [path for path in sorted(_PACKAGE.rglob("*")) if "__pycache__" not in path.parts]
    files = [path for path in paths if path.is_file()]
    content = {path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes() for path in files}
    content |= {path.name: path.read_bytes() for path in assignment.own_files}
    options = []
    for option, questions in (("data", data), ("train", train)):
        if questions is not None:
            content[f"{option}.jsonl"] = to_jsonl(questions).encode()
            options.append(f'--{option} "$own/{option}.jsonl"')
    run = _RUN.replace("SECONDS", f"{seconds:g}").replace("OPTIONS", " ".join(options))
    name = assignment.file.name if assignment.own_files else assignment.name
    placed: dict[str, str | bytes] = {
        "setup.sh": _SETUP.replace("REQUIRED", " ".join(quoted)),
        "run_autograder": run,
        f"private/{DECLARATION}": json.dumps({"assignment": name, "seed": seed}),
    }
    placed |= {f"private/{path}": file for path, file in content.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in placed.items():
            info = zipfile.ZipInfo(path)  # always of 1980: the same autograder has the same bytes
            # The two scripts at the top are run; everything else is private to the grader.
            info.external_attr = (0o600 if "/" in path else 0o755) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, file)
    return out.getvalue()
