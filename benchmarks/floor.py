"""The builder of the file of floors that comes with the package.

    python -m benchmarks.floor build/floor

It computes the floors of ``benchmarks/floor.toml`` in a folder, where finished systems are kept,
and reduces them to a row for each system, without texts and outcomes. A row of data that
is not here stays in the file if the file's rows of this system and today's have equal digits on
another split of the same dataset and on all other data here, and if the signatures name the same
parameters, training data and learned constants.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from classic_rc.commands.floor.compute import FloorTask, compute_floor
from classic_rc.commands.floor.verify import row_differences, signature_without
from classic_rc.io.progress import progress_bar
from classic_rc.results.floor_entries import entry_of, floors_text
from classic_rc.results.floors import CHANCE, SHIPPED, read_entries, row_from_entry

SUITE = Path(__file__).with_suffix(".toml")
_LAST_QUESTIONS = "race-last.jsonl"

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


def main(argv: Sequence[str] | None = None) -> None:
    """Compute floors, and write the file of floors."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where finished systems are kept")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these datasets of the file")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED, metavar="FILE")
    parser.add_argument(
        "--last-questions",
        type=Path,
        metavar="RACE.tar.gz",
        help="write RACE's questions that lm-evaluation-harness asks to DIR/race-last.jsonl, and "
        "nothing else",
    )
    parser.add_argument(
        "--core",
        type=Path,
        metavar="NAME.jsonl",
        help="write the questions of a file of DCLM's CORE to DIR/NAME.jsonl, and nothing else",
    )
    parser.add_argument(
        "--prior", metavar="FILE", help="a ranker that learned from RACE, for the rows `prior`"
    )
    args = parser.parse_args(argv)
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.last_questions:
        write_last_questions(args.last_questions, args.folder / _LAST_QUESTIONS)
        return
    if args.core:
        write_core_questions(args.core, args.folder / args.core.name)
        return
    tasks = list(read_tasks(SUITE))
    if (last_questions := args.folder / _LAST_QUESTIONS).exists():
        tasks.append(FloorTask("race-last:dev", str(last_questions), learned=True))
    tasks = [task for task in tasks if args.only is None or task.name in args.only]
    tasks = [
        task if task.name.startswith("race") else replace(task, prior=args.prior) for task in tasks
    ]
    today = [_entry(task, args.folder / task.name.replace(":", "-")) for task in tasks]
    kept = unseen(read_entries(args.output), today)
    entries = [*today, *kept]
    args.output.write_text(floors_text(entries), encoding="utf-8", newline="\n")
    n_rows, n_bytes = sum(len(entry["rows"]) for entry in entries), args.output.stat().st_size
    print(f"{args.output}: {len(entries)} datasets, {n_rows} rows, {n_bytes:,} bytes")


def read_tasks(path: Path) -> Iterator[FloorTask]:
    """Yield the datasets of a file in the form of ``benchmarks/floor.toml``."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    folder = (path.parent / content["data"]).resolve()
    for name, values in content["datasets"].items():
        data, learned = str(folder / values.pop("path")), values.pop("learned", True)
        train = [str(folder / values.pop("train"))] if "train" in values else []
        yield FloorTask(name, data, train, learned, reading=values)


def _entry(task: FloorTask, folder: Path) -> dict[str, Any]:
    with progress_bar(task.name, None, True) as progress:
        evaluation = compute_floor(task, folder, progress=progress)
    notes = [NOTES[task.name]] if task.name in NOTES else []
    return {**entry_of(evaluation), "notes": notes}


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
        rows = []
        for row in entry["rows"]:
            agrees = (family, _setup(row)) in agreeing and _setup(row) not in refused
            is_made_again = agrees and not row["outdated"]  # what was lost stays lost
            if is_made_again or row["learns"]:  # a learned row belongs to the version that made it
                rows.append({**row, "outdated": row["learns"] and not is_made_again})
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
    rows = []
    with tarfile.open(archive) as opened:
        members = [member for member in opened if re.search(r"dev/high/[^/]+\.txt$", member.name)]
        for member in sorted(members, key=lambda member: member.name):
            found = opened.extractfile(member)
            assert found is not None
            article = json.loads(found.read().decode("utf-8"))
            last = {key: article[key][-1] for key in ("questions", "options", "answers")}
            row = {
                "id": f"{article['id']}.{len(article['questions']) - 1}",
                "passage": article["article"],
                "question": last["questions"],
                "candidates": last["options"],
                "gold": "ABCD".index(last["answers"]),
            }
            rows.append(row)
    _write_rows(rows, file)


_CORE_PROMPT = re.compile(
    r"(?:Passage|Context): (.*)\n(?:Question|Q): (.*?)"
    r"(?:\n(?:Choices:\s)?A\.\)? (.*?))?\s*(?:Answer: ?)?",
    re.DOTALL,
)
"""Passage, question and options in a text of the data of DCLM's CORE."""


def write_core_questions(data: Path, file: Path) -> None:
    """Write the questions of a file of DCLM's CORE, whose texts also have the options."""
    rows = []
    for number, line in enumerate(data.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        match = _CORE_PROMPT.fullmatch(row.get("query") or row["context"])
        if match is None:
            raise SystemExit(f"{data}, line {number + 1}: no passage and question in the text")
        passage, question, options = match.groups()
        candidates = re.split(r"\n[B-E]\.\)? ", options) if options else row["choices"]
        gold = row["gold"] if "gold" in row else candidates.index(row["continuation"])
        question_row = {"id": str(number), "passage": passage, "question": question}
        rows.append({**question_row, "candidates": candidates, "gold": gold})
    _write_rows(rows, file)


def _write_rows(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    file.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{file}: {len(lines):,} questions")


if __name__ == "__main__":
    main()
