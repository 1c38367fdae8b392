"""The command line run in this process, and small input files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from classic_rc.cli import console
from classic_rc.cli.main import main
from classic_rc.errors import ClassicRCError
from tests.errors import raises

ROW = dict[str, Any]

__all__ = [
    "cli",
    "data",
    "forty_questions",
    "hidden",
    "multiple_answer",
    "own_files",
    "single",
    "write",
]  # the fixtures: conftests import them all


@dataclass(frozen=True)
class CommandOutcome:
    """What a command did."""

    code: int
    out: str
    err: str
    errors: tuple[ClassicRCError, ...] = ()  # that were turned into messages

    @property
    def json(self) -> Any:
        """What ``--format json`` printed."""
        return json.loads(self.out)

    @property
    def records(self) -> list[dict[str, str]]:
        """What ``--format csv`` printed."""
        return list(csv.DictReader(io.StringIO(self.out)))

    def fails(self, code: int, *facts: object, **fields: object) -> None:
        """Assert that it ended with an exit code and one error, with facts in its line and with
        some fields.
        """
        assert self.code == code, self.err
        errors = self.messages("error")
        assert len(errors) == 1, self.err
        assert "Traceback" not in self.err
        for fact in facts:
            assert str(fact) in errors[0]
        if fields:
            (error,) = self.errors
            with raises(type(error), **fields):
                raise error

    @property
    def titles(self) -> list[str]:
        """The first word of each table's title."""
        return [line.split(" ", 1)[0] for line in self.out.splitlines() if " · " in line]

    def messages(self, kind: str, *facts: object) -> list[str]:
        """The lines on stderr of a kind (``error``, ``warning`` or ``note``) that have all these
        facts.
        """
        lines = (line for line in self.err.splitlines() if line.startswith(f"classic-rc: {kind}: "))
        return [line for line in lines if all(str(fact) in line for fact in facts)]

    @property
    def run(self) -> dict[str, Any]:
        """The one dataset of ``--format json``."""
        (run,) = self.json["runs"]
        return run

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.run["rows"]

    def row(self, solver: str) -> dict[str, Any]:
        """The one row of a solver."""
        (row,) = (row for row in self.rows if row["solver"] == solver)
        return row


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record that ``run --save`` wrote into a folder."""
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def row_names(record: dict[str, Any]) -> list[list[str]]:
    """Return the names of the rows of each dataset of a record."""
    return [[row["name"] for row in run["rows"]] for run in record["runs"]]


def answers_csv(answers: Iterable[tuple[str, object]]) -> str:
    """Return a file of answers, each after its question's id."""
    return "id,answer\n" + "".join(f"{id_},{answer}\n" for id_, answer in answers)


@pytest.fixture
def cli(capsys, monkeypatch) -> Callable[..., CommandOutcome]:
    """Runs a command line in this process."""
    errors = []
    add = console.Failures.add

    def record(self: console.Failures, error: ClassicRCError, about: str = "") -> None:
        errors.append(error)
        add(self, error, about)

    monkeypatch.setattr(console.Failures, "add", record)

    def run(*args: object) -> CommandOutcome:
        errors.clear()
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return CommandOutcome(code, out, err, tuple(errors))

    return run


GARDEN = (
    "Nora planted beans in the garden. Her uncle Omar built a fence. Rabbits came through a hole "
    "in the fence."
)
STATION = (
    "The last train left the station at nine. Omar waited for it with two heavy bags and a cello."
)


def choices(passage: str, question: str, candidates: list[str], gold: Any, **more: Any) -> ROW:
    return {
        "passage": passage,
        "question": question,
        "candidates": candidates,
        "gold": gold,
        **more,
    }


SINGLE = [
    choices(
        GARDEN,
        "Who built the fence?",
        ["Nora", "Omar", "a rabbit"],
        1,
        meta={"kind": "who", "level": 10},
    ),
    choices(
        GARDEN,
        "What did Nora plant?",
        ["beans", "a fence", "bags"],
        0,
        meta={"kind": "what", "level": 9},
    ),
    choices(
        STATION,
        "When did the train leave?",
        ["at noon", "at nine", "at ten"],
        1,
        meta={"kind": "when"},
    ),
]
SEVERAL = [
    choices(GARDEN, "What was in the garden?", ["beans", "a fence", "a cello"], [0, 1]),
    choices(GARDEN, "Who is Omar?", ["an uncle", "a rabbit"], [0]),
    choices(STATION, "What did Omar carry?", ["a cello", "two bags", "beans"], [0, 1]),
    choices(STATION, "What left at noon?", ["the train", "Omar"], []),
]


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes rows as a JSON lines file (or a text as it is) and gives its path."""

    def write(name: str, content: list[ROW] | str) -> Path:
        if isinstance(content, list):
            rows = ({"id": f"q{number}", **row} for number, row in enumerate(content, start=1))
            content = "".join(json.dumps(row) + "\n" for row in rows)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
        return path

    return write


@pytest.fixture
def single(write) -> Path:
    """Three questions about two passages, one right answer each."""
    return write("single.jsonl", SINGLE)


@pytest.fixture
def multiple_answer(write) -> Path:
    """Four questions about two passages, any number of right answers each."""
    return write("several.jsonl", SEVERAL)


@pytest.fixture
def hidden(write) -> Path:
    """Questions whose gold is hidden."""
    return write("hidden.jsonl", [{**row, "gold": None, "task": "single-choice"} for row in SINGLE])


@pytest.fixture
def own_files() -> Path:
    """The repository's own data in the layouts of the datasets' files."""
    return Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def forty_questions(write):
    """Forty questions about as many passages."""
    rows = [
        {
            "passage": f"Owl {i} ate a mouse.",
            "question": "What?",
            "candidates": ["mouse", "a bat at night"],
            "gold": i % 3 // 2,
        }
        for i in range(40)
    ]
    return write("many.jsonl", rows)


def answers(first, **labels):
    return [
        {"idx": first + i, "text": text, "label": label}
        for i, (text, label) in enumerate(labels.items())
    ]


SUPERGLUE_MULTIRC = [
    {
        "idx": 4,
        "passage": {
            "text": "Nora planted beans. Omar built a fence around the beans.",
            "questions": [
                {
                    "idx": 9,
                    "question": "What did Nora plant?",
                    "answers": answers(30, beans=1, fences=0),
                },
                {
                    "idx": 10,
                    "question": "Who built or planted?",
                    "answers": answers(32, Omar=1, Nora=1),
                },
            ],
        },
    },
    {
        "idx": 5,
        "passage": {
            "text": "The train left at nine, without a cello.",
            "questions": [
                {
                    "idx": 11,
                    "question": "When did the train leave?",
                    "answers": answers(34, nine=1, ten=0),
                }
            ],
        },
    },
]


_ARTICLE = "Nora met Omar in Lisbon.\n@highlight\nOmar moved to Lisbon"


def mention(name):
    start = _ARTICLE.index(name)
    return {"start": start, "end": start + len(name) - 1}


SUPERGLUE_RECORD = [
    {
        "source": "invented",
        "idx": 3,
        "passage": {
            "text": _ARTICLE,
            "entities": [mention(name) for name in ("Nora", "Omar", "Lisbon")],
        },
        "qas": [
            {
                "idx": 7,
                "query": "@placeholder now lives abroad",
                "answers": [{**mention("Omar"), "text": "Omar"}],
            }
        ],
    }
]


@pytest.fixture
def data(write) -> Callable[[str], object]:
    """The path or name of some data for each layout."""

    def named(name):
        if name.startswith("sample:"):
            return name
        name, comma, settings = name.partition(",")
        rows = {
            "superglue-multirc": SUPERGLUE_MULTIRC,
            "superglue-record": SUPERGLUE_RECORD,
            "span": [
                {
                    "passage": "Nora planted beans. Omar built a fence.",
                    "question": question,
                    "gold": [gold],
                    "task": "span",
                    "id": gold,
                }
                for question, gold in [
                    ("What did Nora plant?", "beans"),
                    ("Who built a fence?", "Omar"),
                ]
            ],
        }[name]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        return f"{write(f'{name}.jsonl', text)}{comma}{settings}"

    return named
