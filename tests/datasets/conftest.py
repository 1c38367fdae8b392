"""A small valid file for every reader, invented for these tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness_logs import belebele_rows
from tests.simulated import leaks, simulated

__all__ = ["leaks", "simulated"]

_STORY = r"Ann had a red kite.\newline\tabIt flew away, and Bob found it."
_QUESTIONS = [
    ("one: Who had a kite?", ["Ann", "Bob", "no one", "the cat"]),
    ("multiple: Why did it fly: wind or luck?", ["wind", "luck", "a bird", "magic"]),
    ("one: What colour was it?", ["blue", "red", "green", "grey"]),
    ("multiple: Who found it?", ["Ann", "the cat", "Bob", "a boy"]),
]
MCTEST = "".join(
    "\t".join(
        [
            f"mc160.dev.{i}",
            "Author: 1",
            _STORY,
            *(x for q, options in _QUESTIONS for x in (q, *options)),
        ]
    )
    + "\n"
    for i in range(2)
)
MCTEST_ANSWERS = "A\tA\tB\tC\nA\tB\tB\tC\n"

RACE = {
    "id": "middle7.txt",
    "article": "Tom plays the drum.\nHis sister sings.",
    "questions": ["What does Tom play?", "Who sings?"],
    "options": [["a drum", "a flute", "a song", "cards"], ["Tom", "his sister", "both", "a bird"]],
    "answers": ["A", "B"],
}
MULTIRC = {
    "data": [
        {
            "id": "News/rain.txt",
            "paragraph": {
                "text": "<b>Sent 1: </b>It rained.<br> <b>Sent 2: </b>The river rose <br>"
                "<b>Sent 3: </b>Ann left.<br>",
                "questions": [
                    {
                        "question": "What happened?",
                        "sentences_used": [0, 1],
                        "answers": [
                            {"text": "rain", "isAnswer": True, "scores": {}},
                            {"text": "", "isAnswer": False, "scores": {}},
                            {"text": "a flood", "isAnswer": True, "scores": {}},
                        ],
                        "idx": "0",
                        "multisent": True,
                    },
                    {
                        "question": "Who stayed?",
                        "sentences_used": [2],
                        "answers": [{"text": "Ann", "isAnswer": False, "scores": {}}],
                        "idx": "1",
                        "multisent": False,
                    },
                ],
            },
        }
    ]
}
SUPERGLUE = {
    "idx": 3,
    "version": 1.1,
    "passage": {
        "text": "It rained. The river rose.",
        "questions": [
            {
                "question": "What rose?",
                "answers": [
                    {"text": "the river", "idx": 9, "label": 1},
                    {"text": "rain", "idx": 10, "label": 0},
                ],
                "idx": 4,
            }
        ],
    },
}
_NEWS = "Ann Lee met Bob in Rome.\n@highlight\nBob likes Rome"
_ENTITIES = [
    {"start": 0, "end": 6},
    {"start": 12, "end": 14},
    {"start": 19, "end": 22},
    {"start": 36, "end": 38},
]
_ANSWERS = [{"start": 12, "end": 14, "text": "Bob"}, {"start": 36, "end": 38, "text": "Bob"}]
RECORD = {
    "version": "1.0",
    "data": [
        {
            "id": "p1",
            "source": "CNN",
            "passage": {"text": _NEWS, "entities": _ENTITIES},
            "qas": [{"id": "q1", "query": "@placeholder was glad", "answers": _ANSWERS}],
        }
    ],
}
RECORD_LINE = {
    "source": "CNN",
    "idx": 5,
    "passage": {"text": _NEWS, "entities": _ENTITIES},
    "qas": [{"idx": 8, "query": "@placeholder was glad", "answers": _ANSWERS}],
}
CNN_DAILYMAIL = """http://news.example/2015/rome

@entity2 , who met @entity0 in @entity11 , said @entity0 was glad .

@placeholder likes @entity11

@entity0

@entity0:Bob Lee
@entity2:Ann
@entity11:Rome
"""
_CBT_NAMES = "Ann|Bob|Carla|Dora|Emil|Fay|Gus|Hal|Ida|Jo"
CBT = "".join(
    "".join(f"{i} {name} had {i} `` figs '' .\n" for i in range(1, 21))
    + f"21 Then XXXXX ate them all .\t{name}\t\t{_CBT_NAMES}\n\n"
    for name in ("Fay", "Hal")
)
_CONTEXT = "Maya wrote to Ines and to Paul."
SQUAD = {
    "version": "2.0",
    "data": [
        {
            "title": "Letters",
            "paragraphs": [
                {
                    "context": _CONTEXT,
                    "qas": [
                        {
                            "id": "s1",
                            "question": "Who wrote?",
                            "answers": [
                                {"text": "Maya", "answer_start": 0},
                                {"text": "Maya", "answer_start": 1},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "id": "s2",
                            "question": "Who slept?",
                            "answers": [],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        }
    ],
}
QUOREF = {
    "data": [
        {
            "title": "Letters",
            "url": "",
            "paragraphs": [
                {
                    "context": _CONTEXT,
                    "context_id": "c1",
                    "qas": [
                        {
                            "id": "r1",
                            "question": "Who got a letter?",
                            "answers": [
                                {"text": "Ines", "answer_start": 14},
                                {"text": "Paul", "answer_start": 26},
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}
DREAM = [
    [
        ["M: Shall we walk?", "W: I would rather drive."],
        [
            {
                "question": "What will the woman do?",
                "choice": ["walk", "drive", "fly"],
                "answer": "drive",
            }
        ],
        "12-3",
    ]
]
MCSCRIPT = """<?xml version="1.0" encoding="UTF-8"?>
<data>
  <instance id="4">
    <text>I boiled water &amp; made tea.</text>
    <questions>
      <question id="0" text="What was made?" type="text">
        <answer correct="False" id="0" text="Soup"/>
        <answer correct="True" id="1" text="Tea"/>
      </question>
    </questions>
  </instance>
</data>
"""
C3 = [
    [
        ["男：我们走路吗?", "女：我想开车去。"],
        [{"question": "女的想怎么去?", "choice": ["走路", "开车"], "answer": "开车"}],
        "12-3",
    ],
    [
        ["河边有一只猫。"],
        [{"question": "谁在河边?", "choice": ["猫", "狗", "鸟"], "answer": "猫"}],
        "m1-4",
    ],
]
QUAIL = {
    "id": "f7_0",
    "question_type": "Unanswerable",
    "question": "What is her name?",
    "answers": ["Ines", "not enough information", "Mira", "Ann"],
    "correct_answer_id": "1",
    "metadata": {"author": "A", "title": "Rain", "url": "http://a.example"},
    "domain": "fiction",
    "context_id": "f7",
    "context": "It rained.\nShe stayed at home.",
}
QUAIL_XML = """<data>
 <text domain="fiction" id="f7">
  <metadata>
   <author>
    A
   </author>
  </metadata>
  <text_body>
   It rained.
She stayed at home.
  </text_body>
  <questions>
   <q id="0" type="Unanswerable">
    What is her name?
    <a id="0">
     Ines
    </a>
    <a id="1" correct="True">
     not enough information
    </a>
    <a id="2">
     Mira
    </a>
    <a id="3">
     Ann
    </a>
   </q>
   <q id="1" type="Causality">
    Why did she stay?
    <a id="0" correct="True">
     It rained &amp; she was tired.
    </a>
    <a id="1" correct="False">
     She was ill.
    </a>
   </q>
  </questions>
 </text>
</data>
"""
COSMOS_QA = """id,context,question,answer0,answer1,answer2,answer3,label
a##b##q1_a1,"The bus was late , I walked .",Why ?,Joy .,"No bus , no choice .",\
None of the above choices .,Cold .,1
a##b##q2_a1,"The bus was late , I walked .",How ?,Annoyed .,Rich .,Old .,\
None of the above choices .,0
"""
LOGIQA = """

b
All ferries are boats.No boat is a train.
Which of the following must be true?
A.All trains are ferries.
B.No ferry is a train.
C. B. is a boat.
D.Some ferries are trains.

d
Otto or Mira has the key.
Who has it, if Otto does not?
A.Otto
B.No one
C.Both
D.Mira
"""
LOGIQA_2 = {
    "id": 71,
    "answer": 2,
    "text": "All ferries are boats.",
    "question": "What follows?",
    "options": [
        "No boat is a ferry.",
        "All boats are ferries.",
        "A ferry is a boat.",
        "Boats are old.",
    ],
    "type": {
        "Categorical Reasoning": True,
        "Disjunctive Reasoning": False,
        "Conjunctive Reasoning": True,
    },
}
BOOLQ = {
    "question": "can bees swim",
    "passage": "Bees drown in deep water.",
    "answer": False,
    "title": "Bee",
}
BELEBELE = {
    "link": "https://a.example/wiki/Harbour",
    "question_number": 2,
    "flores_passage": "The harbour is old.",
    "question": "What is old?",
    "mc_answer1": "The ferry",
    "mc_answer2": "The key",
    "mc_answer3": "The harbour",
    "mc_answer4": "The cat",
    "correct_answer_num": "3",
    "dialect": "eng_Latn",
    "ds": "2023-05-03",
}
ARC = {
    "id": "arc_1",
    "question": {
        "stem": "What melts ice?",
        "choices": [{"text": "heat", "label": "A"}, {"text": "cold", "label": "B"}],
    },
    "answerKey": "A",
}
OWN = {
    "id": "o1",
    "passage": "Ann sang. Bob hummed.",
    "passage_id": "p1",
    "question": "Who sang?",
    "candidates": ["Bob", {"text": "Ann", "start": 0, "end": 3}],
    "gold": 1,
    "task": "single-choice",
    "sentences": [[0, 9], [10, 21]],
    "meta": {"kind": "easy"},
}
ROW = {
    "example_id": "high2.txt",
    "article": "Snow fell.",
    "question": "What fell?",
    "options": ["snow", "rain"],
    "answer": "A",
}
LOG = belebele_rows([[-1.0, -2.0, -3.0, -4.0]] * 4)[0]
TABLE = (
    'id,passage,question,candidate_0,candidate_1,gold,kind\no1,"Ann sang, Bob hummed.",Who '
    "sang?,Bob,Ann,1,easy\n"
)

_FILES: dict[str, tuple[str, Any]] = {
    "mctest": ("mc160.dev.tsv", MCTEST),
    "race": ("middle/7.txt", RACE),
    "multirc": ("dev.json", MULTIRC),
    "superglue": ("val.jsonl", SUPERGLUE),
    "record": ("record.json", RECORD),
    "record-line": ("record.jsonl", RECORD_LINE),
    "cnn-dailymail": ("0a1b.question", CNN_DAILYMAIL),
    "cbt": ("cbtest_NE_valid_2ex.txt", CBT),
    "squad": ("squad.json", SQUAD),
    "quoref": ("quoref.json", QUOREF),
    "dream": ("dream.json", DREAM),
    "mcscript": ("dev-data.xml", MCSCRIPT),
    "c3": ("c3-d-dev.json", C3),
    "quail": ("quail_1.3_dev_randomized.xml", QUAIL_XML),
    "quail-line": ("dev.jsonl", QUAIL),
    "cosmosqa": ("valid.csv", COSMOS_QA),
    "logiqa": ("Eval.txt", LOGIQA),
    "logiqa2": ("dev.txt", LOGIQA_2),
    "boolq": ("dev.jsonl", BOOLQ),
    "belebele": ("eng_Latn.jsonl", BELEBELE),
    "arc": ("arc.jsonl", ARC),
    "jsonl": ("own.jsonl", OWN),
    "harness": ("samples_made_2026-01-02T03-04-05.678901.jsonl", LOG),
    "huggingface": ("rows.jsonl", ROW),
    "table": ("own.csv", TABLE),
}
FORMS = tuple(_FILES)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `form` runs for every small file; one that takes `json_form`, for every
    JSON one.
    """
    if "form" in metafunc.fixturenames:
        metafunc.parametrize("form", FORMS)
    if "json_form" in metafunc.fixturenames:
        metafunc.parametrize(
            "json_form", [form for form in FORMS if not isinstance(_FILES[form][1], str)]
        )


@pytest.fixture(scope="session")
def content() -> Callable[[str], Any]:
    """The content of a small file by the name of its form: a string, or a JSON value to be
    changed at will.
    """

    def make(form: str) -> Any:
        value = _FILES[form][1]
        return value if isinstance(value, str) else json.loads(json.dumps(value))

    return make


@pytest.fixture(scope="session")
def write() -> Callable[..., Path]:
    """Write content (a JSON value, text or bytes) in a folder, under the usual name of its form;
    gives the path.
    """

    def write_it(folder: Path, form: str, value: Any = None, name: str | None = None) -> Path:
        usual, default = _FILES[form]
        value = default if value is None else value
        path = folder / (name or usual)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(value, (str, bytes)):
            value = json.dumps(value) + "\n"
        path.write_bytes(value if isinstance(value, bytes) else value.encode("utf-8"))
        if form == "mctest":
            path.with_suffix(".ans").write_bytes(MCTEST_ANSWERS.encode())
        return path

    return write_it
