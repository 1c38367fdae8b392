"""The default systems of ``classic-rc run``, and one of them, against a script with scikit-learn
for one system: whole processes, from RACE's archive to accuracies.
"""

from __future__ import annotations

import statistics

from benchmarks import DATA, ROOT
from benchmarks.pairs import Run, run_python
from benchmarks.retrieval import peak_memory
from benchmarks.timing import Table, ratios, with_range
from classic_rc.questions import Task
from classic_rc.solvers import DEFAULT_SOLVERS

SCRIPT = ROOT / "benchmarks" / "tfidf_script.py"
ARCHIVE = DATA / "race" / "RACE-train-dev.tar.gz"


def run(quick: bool = False) -> list[Table]:
    """Run the script and the command in turn; the quick way takes RACE's dev split alone."""
    table: Table = {
        "title": "From RACE's archive to accuracies, against a script with scikit-learn",
        "header": ["program", "CPU s", "times the script's", "peak MB"],
        "rows": [],
        "notes": ["CPU seconds of whole processes; in parentheses, the range of all rounds."],
    }
    if not ARCHIVE.is_file():
        return [{**table, "notes": [f"Not measured: there is no {ARCHIVE.name}."]}]
    split, option = (["dev"], ["--split", "dev"]) if quick else ([], [])
    command = ["-m", "classic_rc", "run", str(ARCHIVE), *option, "--quiet"]
    script = [str(SCRIPT), str(ARCHIVE), *split]
    every_system = f"classic-rc run, {len(DEFAULT_SOLVERS[Task.SINGLE_CHOICE])} systems"
    programs = {
        f"{SCRIPT.name}, one system": script,
        every_system: command,
        "classic-rc run -s ir:passage": [*command, "-s", "ir:passage"],
    }
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for _ in range(2 if quick else 5):
        for name, arguments in programs.items():
            runs[name].append(run_python(arguments, ROOT))
    seconds = {name: [run.cpu for run in of_program] for name, of_program in runs.items()}
    script_seconds, *_ = seconds.values()
    for name, values in seconds.items():
        times = with_range(ratios(values, script_seconds))
        peak = statistics.median(run.peak for run in runs[name])
        # Linux counts the peak of the process that starts another one as the other one's.
        known_peak = round(peak) if peak > 1.01 * peak_memory() else None
        table["rows"].append([name, with_range(values), times, known_peak])
    table["lost"] = statistics.median(ratios(seconds[every_system], script_seconds)) > 1
    return [table]
