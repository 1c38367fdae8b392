"""The builder of the file of floors that comes with the package.

    classic-rc run benchmarks/floor.toml --save build/floor
    python -m benchmarks.floor build/floor

Records of runs are reduced to a row for each system, without texts and outcomes. A row of data that
is not here stays in the file if the file's rows of this system and today's have equal digits on
another split of the same dataset and on all other data here, and if the signatures name the same
parameters, training data and learned constants.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from classic_rc.commands.floor.verify import row_differences, row_entry, signature_without
from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import READERS
from classic_rc.results.floors import CHANCE, SCHEMA, row_from_entry

FILE = Path(__file__).parents[1] / "classic_rc" / "results" / "floor.json"

NAMES: Mapping[str, tuple[str, str | None]] = {
    "race-last.dev": ("race-last:dev", None),
    "mc160.test": ("mctest:mc160.test", "MC160"),
    "mc500.test": ("mctest:mc500.test", "MC500"),
    "race.test": ("race:test", "RACE"),
    "dream.test": ("dream:test", "DREAM"),
    "mcscript.test": ("mcscript:test", "MCScript"),
    "c3.test.m": ("c3:m.test", None),
    "c3.test.d": ("c3:d.test", None),
}
"""The names that datasets get here, and those that published figures give their test sets."""

NOTES: Mapping[str, str] = {
    "record:sample": "123 queries that the authors' page shows, not the development set",
    "squad:dev-part": "2,000 of the 10,570 questions of the development set, in whole passages",
    "race-last:dev": "the last question of each article of the high schools, which is what "
    "lm-evaluation-harness asks of RACE: other questions than race:dev, and not its floor",
    "quail:dev-ordered": "a file whose options are not shuffled: the right one is the first, or "
    '"not enough information"; positions tell nothing about the shuffled file',
    "arct:train": "two warrants of an argument; the reason is the passage, the claim the question",
    "mutual:dev": "the next turn of a dialogue; there is no question",
}

HARNESS: Mapping[str, Mapping[str, str]] = {
    "race-last:dev": {
        "task": "race",
        "version": "3.0",
        "dataset_path": "EleutherAI/race",
        "dataset_name": "high",
        "split": "validation",
        "metric": "acc,none",
        # The SHA-256 of doc_to_choice and doc_to_target, which take four options.
        "options": "3e920724bcd6844003fcf824d2e8a602558f0b434424ab112e63702bd911847d",
    },
}
"""The tasks of lm-evaluation-harness that ask exactly the questions of a dataset, as results
files record them.
"""

_RECORDED = "today's code made these rows from the data"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the file of floors from records and rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor", description=__doc__)
    parser.add_argument(
        "records", nargs="*", type=Path, metavar="DIR", help="folders of `run --save`, or of suites"
    )
    parser.add_argument(
        "--date", default=datetime.date.today().isoformat(), help="the day of the numbers"
    )
    parser.add_argument("-o", "--output", type=Path, default=FILE, metavar="FILE")
    parser.add_argument(
        "--last-questions",
        nargs=2,
        metavar=("RACE.tar.gz", "FILE"),
        help="write RACE's questions that lm-evaluation-harness asks, and nothing else",
    )
    args = parser.parse_args(argv)
    if args.last_questions:
        write_last_questions(*map(Path, args.last_questions))
        return
    runs = [
        (run, record["version"]) for record in map(_read, args.records) for run in record["runs"]
    ]
    made_here: dict[str, dict[str, Any]] = {}
    for run, version in runs:  # of several records of a dataset, the one with the most rows
        entry = dataset_entry(run, version, _RECORDED, args.date)
        made_here[entry["name"]] = max(
            entry, made_here.get(entry["name"], entry), key=lambda of: len(of["rows"])
        )
    before = _read(args.output)["datasets"] if args.output.exists() else []
    datasets = [*made_here.values(), *unseen(before, list(made_here.values()))]
    datasets.sort(key=lambda entry: entry["name"])
    args.output.write_text(floors_text(datasets), encoding="utf-8", newline="\n")
    n_rows = sum(len(entry["rows"]) for entry in datasets)
    print(
        f"{args.output}: {len(datasets)} datasets, {n_rows} rows, {args.output.stat().st_size:,} "
        "bytes"
    )


def floors_text(datasets: Sequence[Mapping[str, Any]]) -> str:
    """Return the file's text, with a line for each dataset and row, so that its history can be
    read.
    """
    entries = []
    for entry in datasets:
        head = json.dumps({**entry, "rows": []}, ensure_ascii=False)
        rows = ",\n  ".join(
            json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in entry["rows"]
        )
        entries.append(f"{head[:-2]}\n  {rows}]}}")
    listed = ",\n ".join(entries)
    return f'{{"schema": {SCHEMA}, "datasets": [\n {listed}]}}\n'


def _read(path: Path) -> Any:
    return json.loads((path / "run.json" if path.is_dir() else path).read_text(encoding="utf-8"))


def dataset_entry(run: Mapping[str, Any], version: str, verified: str, date: str) -> dict[str, Any]:
    of = run["dataset"]
    name, official = NAMES.get(of["name"], (of["name"], None))
    found = FINGERPRINTS.get(of["fingerprint"]) or (official and (official, "test"))
    settings = (run.get("protocol") or {}).get("settings", {})
    reader = READERS.get(of["reader"])
    return {
        "name": name,
        **{
            key: of[key]
            for key in (
                "reader",
                "split",
                "task",
                "fingerprint",
                "passages",
                "questions",
                "candidates",
            )
        },
        "metric": of["primary_metric"],
        "by": (run.get("grouping") or {}).get("key"),
        "cv": settings.get("cv"),
        "group": settings.get("group"),
        "official": found and list(found),
        "cites": [key for key in (reader.cites if reader else ()) if key != "classic_rc"],
        "verified": verified,
        "date": date,
        "notes": [NOTES[name]] if name in NOTES else [],
        "harness": HARNESS.get(name),
        "left_out": [],
        "rows": [row_entry(row, version) for row in run["rows"]],
    }


def unseen(
    before: Sequence[Mapping[str, Any]], datasets: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of data that is not here, with the rows whose systems give the same
    digits elsewhere.
    """
    older = {
        (entry["fingerprint"], row["system"]): row for entry in before for row in entry["rows"]
    }
    # the dataset, by its name without split, and the row's setup
    agreeing: set[tuple[str, str]] = set()
    refused: set[str] = set()
    for entry in datasets:
        for row in entry["rows"]:
            if (old := older.get((entry["fingerprint"], row["system"]))) is None:
                continue
            agreeing.add((_family(entry["name"]), _setup(row)))
            if differences := row_differences(row_from_entry(old), row_from_entry(row)):
                refused.add(_setup(row))
                print(f"{entry['name']}: the file differs: {differences[0]}")
    here = {entry["name"] for entry in datasets}
    for entry in (entry for entry in before if entry["name"] not in here):
        family = _family(entry["name"])
        rows = [
            r for r in entry["rows"] if (family, _setup(r)) in agreeing and _setup(r) not in refused
        ]
        systems = {row["system"] for row in rows}
        left_out = [row["system"] for row in entry["rows"] if row["system"] not in systems]
        if CHANCE in systems:
            yield {**entry, "left_out": [*entry["left_out"], *left_out], "rows": rows}


def _setup(row: Mapping[str, Any]) -> str:
    """Return a row's signature without what says on which data it was measured."""
    return signature_without(row, "data", "split", "questions", "version", "copied")


def _family(name: str) -> str:
    """Return a dataset's name without its split: ``mctest:mc160``, ``race``."""
    return re.sub(r"[:.](train|dev|test)$", "", name)


def write_last_questions(archive: Path, file: Path) -> None:
    """Write the last question of each article of RACE's high schools, dev, as JSON lines."""
    lines = []
    with tarfile.open(archive) as opened:
        members = [member for member in opened if re.search(r"dev/high/[^/]+\.txt$", member.name)]
        for member in sorted(members, key=lambda member: member.name):
            found = opened.extractfile(member)
            assert found is not None
            article = json.loads(found.read().decode("utf-8"))
            last = {key: article[key][-1] for key in ("questions", "options", "answers")}
            line = {
                "id": f"{article['id']}.{len(article['questions']) - 1}",
                "passage": article["article"],
                "question": last["questions"],
                "candidates": last["options"],
                "gold": "ABCD".index(last["answers"]),
            }
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    file.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{file}: {len(lines):,} questions")


if __name__ == "__main__":
    main()
