"""``classic-rc floor --compute`` and ``--add``: the protocol of floors, on a split of a mirror and
on data of the user's.
"""

from __future__ import annotations

import json

import pytest

from classic_rc.commands.floor.compute import TRAINED, UNTRAINED
from classic_rc.datasets import fetch as sources
from classic_rc.datasets.fetch import parse_datasets
from classic_rc.results.floors import load_floors, user_file
from tests.http_server import Resource, http_server

SOURCES = """
[talks]
title = "Talks"
cites = ["sun2019"]
licence = "free"
page = "http://talks.example/"
[talks.splits]
train = { reader = "dream", file = "train.json" }
dev = { reader = "dream", file = "dev.json" }
test = { reader = "dream", file = "test.json" }
[talks.files."train.json"]
url = "http://talks.example/train.json"
[talks.files."dev.json"]
url = "http://talks.example/dev.json"
[talks.files."test.json"]
url = "http://talks.example/test.json"
"""

_PLACES = ("harbour", "library", "museum", "station", "market", "garden")


def talks(start: int, n: int) -> bytes:
    """Dialogues in DREAM's form, which mention two of the options."""
    dialogues = []
    for i in range(start, start + n):
        place, *others = (_PLACES[(i + j) % len(_PLACES)] for j in range(3))
        choice = [f"To the {place_}." for place_ in sorted({place, *others})]
        right_place = place if i % 3 else others[0]
        question = {
            "question": f"Where does speaker {i} go?",
            "choice": choice,
            "answer": f"To the {right_place}.",
        }
        lines = [f"W: Speaker {i}, where do you go today?", f"M: Not to the {others[0]}."]
        lines.append(f"M: {'I walk' if i % 3 else 'We walk'} to the {place} number {i}.")
        dialogues.append([lines, [question], f"{i}-1"])
    return json.dumps(dialogues).encode()


@pytest.fixture(autouse=True)
def mirror(tmp_path, monkeypatch):
    """A mirror of an invented dataset, and an empty cache."""
    datasets = parse_datasets(SOURCES)
    monkeypatch.setattr(sources, "named_datasets", lambda: datasets)
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr("classic_rc.io.download.RETRY_SECONDS", (0.0, 0.0))
    monkeypatch.chdir(tmp_path)
    with http_server() as server:
        server.resources |= {
            "/talks/train.json": Resource(talks(0, 60)),
            "/talks/dev.json": Resource(talks(100, 60)),
            "/talks/test.json": Resource(talks(200, 60)),
        }
        monkeypatch.setenv("CLASSIC_RC_MIRROR", server.address)
        yield server


def systems_of(done) -> dict[str, dict]:
    return {row["system"]: row for row in json.loads(done.out)["floors"]}


def test_a_floor_is_computed_added_and_shown_like_one_of_the_package(cli):
    done = cli("floor", "talks:dev", "--compute", "--format", "json")
    computed = systems_of(done)
    assert set(computed) < set(UNTRAINED)
    assert "`classic-rc floor --add floor-talks-dev`" in done.err
    added = cli("floor", "--add", "floor-talks-dev")
    assert f"{user_file()}: talks:dev: {len(computed)} rows, every digit is the same" in added.err
    assert systems_of(cli("floor", "talks:dev", "--format", "json")) == computed
    assert "talks:dev" in cli("floor").out
    low, high = load_floors()["talks:dev"].floor_interval
    assert low <= computed[load_floors()["talks:dev"].floor.system]["accuracy"] <= high
    cli("floor", "talks:dev", "--verify", "talks:dev")


def test_rows_that_learn_do_so_from_the_official_training_split(cli):
    done = cli("floor", "talks:dev", "--compute", "--learned", "--format", "json")
    learned = {name: row for name, row in systems_of(done).items() if name in TRAINED}
    assert set(learned) == {name for name in TRAINED if not name.startswith("span-")}
    assert {row["trained_on"] for row in learned.values()} == {"dream.train"}


def test_the_floor_of_a_test_split_is_chosen_on_the_development_split(cli):
    for split in ("dev", "test"):
        cli("floor", f"talks:{split}", "--compute")
        cli("floor", "--add", f"floor-talks-{split}")
    floors = load_floors()
    assert floors["talks:test"].floor.system == floors["talks:dev"].floor.system
    printed = cli("floor", "talks:test").out
    assert "it was chosen on talks:dev" in printed
    for row in floors["talks:test"].rows:
        low, high = row.above["above_floor"]
        assert low <= high


def test_data_of_the_users_own_has_a_floor_out_of_fold(cli, tmp_path):
    (tmp_path / "mine.json").write_bytes(talks(300, 30))
    done = cli("floor", "mine", "--compute", "mine.json", "--learned", "--format", "json")
    assert systems_of(done)["surface-lr"]["trained_on"] == "cv5"
    cli("floor", "--add", "floor-mine")
    assert load_floors()["mine"].cv == 5


def test_a_ranker_of_other_data_has_a_row_of_its_own(cli, tmp_path):
    (tmp_path / "other.json").write_bytes(talks(500, 60))
    cli("fit", "other.json", "-s", "feature-ranker", "-o", "other.npz")
    rows = systems_of(
        cli("floor", "talks:dev", "--compute", "--prior", "other.npz", "--format", "json")
    )
    assert rows["prior"]["trained_on"] == "other"
    cli("floor", "--add", "floor-talks-dev")
    dataset_floor = load_floors()["talks:dev"]
    assert dataset_floor.prior.learns
    assert dataset_floor.trained(out_of_fold=False) is None
    verified = cli("floor", "talks:dev", "--verify", "talks:dev", "--learned")
    assert "the fitted file is not here: prior" in verified.err


def test_a_record_is_not_added_unless_every_digit_is_made_again(cli, tmp_path):
    cli("floor", "talks:dev", "--compute")
    record = tmp_path / "floor-talks-dev" / "run.json"
    text = record.read_text(encoding="utf-8")
    plain = json.loads(text)
    plain["version"] = "0.1.0"
    record.write_text(json.dumps(plain), encoding="utf-8")
    cli("floor", "--add", "floor-talks-dev").fails(3, "of another version", field="version")
    record.write_text(text.replace('"tie_rate": 0.0', '"tie_rate": 0.25', 1), encoding="utf-8")
    assert record.read_text(encoding="utf-8") != text
    cli("floor", "--add", "floor-talks-dev").fails(3)
    record.write_text(text, encoding="utf-8")
    (tmp_path / "cache" / "talks" / "dev.json").unlink()
    cli("floor", "--add", "floor-talks-dev").fails(3, "is needed to check its numbers")
    assert not user_file().exists()
    cli("floor", "mine", "--add", tmp_path).fails(3, "no run record")


def test_another_dataset_does_not_take_a_known_name(cli, tmp_path):
    (tmp_path / "mine.json").write_bytes(talks(300, 30))
    cli("floor", "dream:dev", "--compute", "mine.json", "--save", "own")
    cli("floor", "--add", "own").fails(3, "not those of the known floor dream:dev")


def test_a_damaged_file_of_floors_is_one_line(cli):
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('{"schema": 1}', encoding="utf-8")
    cli("floor").fails(3, "not a file of floors", source=str(user_file()))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--save", "x"), "--save"),
        (("talks:dev", "--prior", "x.npz"), "--prior"),
        (("talks:dev", "--learned"), "--learned"),
        (("--add", "x", "--train", "talks:train"), "--train"),
        (("talks:dev", "--compute", "--add", "x"), "--compute"),
        (("talks:dev", "--compute", "x", "--verify", "x"), "--compute"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(cli, options, field):
    cli("floor", *options).fails(2, field=field)


def test_a_prior_of_another_language_is_said_to_have_no_row(cli, tmp_path):
    (tmp_path / "other.json").write_bytes(talks(500, 60))
    cli("fit", "other.json", "-s", "feature-ranker", "-o", "other.npz")
    question = {"question": "他去哪儿？", "choice": ["图书馆", "公园"], "answer": "图书馆"}
    chinese = [[["女：你去哪儿？", "男：我去图书馆。"], [question], str(i)] for i in range(30)]
    (tmp_path / "zh.json").write_text(json.dumps(chinese), encoding="utf-8")
    done = cli("floor", "zh", "--compute", "zh.json", "--prior", "other.npz")
    assert done.code == 2
    assert "zh: prior" in done.err


@pytest.mark.parametrize("names", [(), ("talks:dev", "talks:test")])
def test_one_name_is_needed_for_data(cli, names):
    cli("floor", *names, "--compute", "mine.json").fails(2, field="--compute")


def test_a_name_without_an_address_needs_data(cli):
    cli("floor", "mine:dev", "--compute").fails(2)
