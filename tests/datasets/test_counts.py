"""The counts of questions in the datasets' own files."""

from __future__ import annotations

import tarfile

import pytest

from classic_rc.datasets import load
from classic_rc.questions import Task, candidate_texts
from tests.contents import cut

_COUNTS = [
    # file, reader, split, passages, questions, candidates
    ("mctest/mc160.train.tsv", "mctest", "train", 70, 280, 1_120),
    ("mctest/mc160.dev.tsv", "mctest", "dev", 30, 120, 480),
    ("mctest/mc500.train.tsv", "mctest", "train", 300, 1_200, 4_800),
    ("mctest/mc500.dev.tsv", "mctest", "dev", 50, 200, 800),
    ("multirc/train_456-fixedIds.json", "multirc", "train", 456, 5_131, 27_243),
    ("multirc/dev_83-fixedIds.json", "multirc", "dev", 83, 953, 4_848),
    ("multirc/superglue/val.jsonl", "superglue", "val", 83, 953, 4_848),
    ("record/record_explorer_123.json", "record", None, 122, 123, 2_077),
    ("record/record_fixture_12.json", "record", None, 6, 12, 221),
    ("record/superglue_format_example.jsonl", "record", None, 1, 1, 15),
    ("quoref/quoref-dev-v0.1.json", "quoref", "dev", 454, 2_418, 0),
    ("dream/train.json", "dream", "train", 3_869, 6_116, 18_348),
    ("dream/dev.json", "dream", "dev", 1_288, 2_040, 6_120),
    ("mcscript/train-data.xml", "mcscript", "train", 1_469, 9_731, 19_462),
    ("mcscript/dev-data.xml", "mcscript", "dev", 219, 1_411, 2_822),
]


@pytest.mark.parametrize(
    ("path", "reader", "split", "passages", "questions", "candidates"), _COUNTS
)
def test_released_files_have_the_published_counts(
    shared_data, path, reader, split, passages, questions, candidates
):
    dataset = load(shared_data / path)
    assert (dataset.reader, dataset.split) == (reader, split)
    assert (len(dataset.passages), len(dataset)) == (passages, questions)
    assert sum(len(q.candidates) for q in dataset) == candidates
    assert all(q.gold is not None for q in dataset)
    assert len({passage.id for passage in dataset.passages}) == passages


def test_mctest_categories_name_our_questions(shared_data):
    for name in ("mc160.dev", "mc160.train", "mc500.dev", "mc500.train"):
        dataset = load(shared_data / "mctest", subset=name[:5], split=name[6:])
        categories = []
        for path in (shared_data / "mctest" / "categories" / name).iterdir():
            categories += path.read_text("utf-8").split()
        assert categories
        assert set(categories) <= dataset.by_id.keys()


def test_mctest_has_the_published_number_of_each_type(shared_data):
    types = [q.meta["type"] for q in load(shared_data / "mctest" / "mc500.train.tsv")]
    assert (types.count("one"), types.count("multiple")) == (547, 653)


def test_multirc_keeps_questions_without_a_right_option(shared_data):
    dev = load(shared_data / "multirc" / "dev_83-fixedIds.json")
    train = load(shared_data / "multirc" / "train_456-fixedIds.json")
    assert sum(not q.gold for q in dev) == 3
    assert sum(not q.gold for q in train) == 23
    sentences = [len(passage.sentences) for split in (train, dev) for passage in split.passages]
    assert round(sum(sentences) / len(sentences), 2) == 14.39
    assert all("<" not in passage.text for passage in dev.passages)


def test_multirc_and_superglue_have_the_same_questions(shared_data):
    def content(dataset):
        return {(q.text, tuple(candidate_texts(q.candidates)), q.gold) for q in dataset}

    original = load(shared_data / "multirc", split="dev")
    assert content(original) == content(load(shared_data / "multirc" / "superglue" / "val.jsonl"))


def test_quoref_offsets_are_moved(shared_data):
    dataset = load(shared_data / "quoref")
    assert dataset.notes == ("answer offsets moved to the answer's text: 50",)
    assert sum(len(q.gold) for q in dataset) == 2_768
    for q in dataset:
        assert cut(q.passage.text, q.meta["spans"]) == list(q.gold)


def test_mcscript_counts_the_text_without_questions(shared_data):
    assert load(shared_data / "mcscript", split="train").notes == ("passages without questions: 1",)


def test_dream_folder_has_the_published_splits(shared_data):
    dataset = load(shared_data / "dream")
    assert len(dataset) == 6_116 + 2_040
    assert {q.meta["split"] for q in dataset} == {"train", "dev"}
    assert dataset.notes[0].startswith("other files skipped (annotator1_dev.txt,")


@pytest.mark.ci
def test_the_race_archive_has_its_published_splits_and_levels(shared_data):
    dataset = load(shared_data / "race" / "RACE-train-dev.tar.gz")
    counts = {}
    for q in dataset:
        key = q.meta["split"], q.meta["level"]
        counts[key] = counts.get(key, 0) + 1
    assert counts == {
        ("train", "middle"): 25_421,
        ("train", "high"): 62_445,
        ("dev", "middle"): 1_436,
        ("dev", "high"): 3_451,
    }
    assert dataset.task is Task.SINGLE_CHOICE
    assert sum(len(q.candidates) for q in dataset) == 4 * 92_753
    assert len(dataset.sources) == 1
    order = []
    for q in dataset:
        split, level = q.meta["split"], q.meta["level"]
        order.append((split, level, int(q.passage.id.removeprefix(level))))
    assert order == sorted(order)


@pytest.mark.ci
def test_race_unpacked_is_the_same(shared_data, tmp_path):
    archive = shared_data / "race" / "RACE-train-dev.tar.gz"
    packed = load(archive, split="dev")
    with tarfile.open(archive) as tar:
        members = [
            member for member in tar if member.name.startswith("RACE/dev/") and member.isfile()
        ]
        for member in members:
            path = tmp_path / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())
    (tmp_path / "RACE" / "dev" / "high" / "._10.txt").write_bytes(b"\0")
    (tmp_path / "RACE" / ".DS_Store").write_bytes(b"\0")
    unpacked = load(tmp_path / "RACE")
    assert packed.fingerprint == unpacked.fingerprint
    assert (packed.name, packed.split) == (unpacked.name, unpacked.split) == ("race.dev", "dev")
    assert unpacked.notes == ("macOS metadata files skipped (._*, .DS_Store, __MACOSX): 2",)
    middle = load(tmp_path / "RACE" / "dev" / "middle")
    assert (len(middle), middle.split) == (1_436, "dev")
    assert middle.fingerprint == load(archive, split="dev", subset="middle").fingerprint
    assert len(unpacked.sources) == 1  # one digest of a thousand files
