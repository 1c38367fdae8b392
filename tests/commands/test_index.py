"""``classic-rc index``: what it reads, prints, keeps and refuses."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from classic_rc.datasets import load
from classic_rc.errors import ClassicRCError
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.engines.lucene import Lucene
from classic_rc.retrieval.sparse import Sparse
from classic_rc.retrieval.storage import Manifest
from tests.retrieval.facts import check_index, segment_files

FABLES = ["The fox ate sour grapes.", "A crow held a cheese.", "Zoë's vine has grapes."]


@pytest.fixture
def index(tmp_path):
    return tmp_path / "index"


def sentences_of(index):
    corpus = open_corpus(index)
    numbers = range(corpus.engine.n_sentences)
    return [(corpus.engine.sentence(i), corpus.source(i)) for i in numbers]


def test_each_line_is_a_sentence_with_its_place(cli, write, index):
    path = write("fables.txt", "\n".join(FABLES))
    done = cli("index", path, "-o", index)
    manifest = Manifest.read(index)
    assert (done.code, done.err) == (0, f"classic-rc: note: {path}: 1 file, each line a sentence\n")
    assert done.out == (
        f"{index}: 3 sentences, 11 tokens, 10 terms; 0.0 MB of text, 0.0 MB on disk; "
        f"lucene-english; fingerprint {manifest.fingerprint[:8]}\n"
    )
    sources = [f"{path}:{n}" for n in (1, 2, 3)]
    assert sentences_of(index) == list(zip(FABLES, sources, strict=True))


def test_one_process_builds_one_segment(cli, write, index, tmp_path):
    path = write("fables.txt", "\n".join(FABLES))
    assert "--jobs 2 is not used" in cli("index", path, "-o", index, "--jobs", 2).err
    quiet = cli("index", path, "-o", tmp_path / "quiet", "--jobs", 2, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    done = cli("index", path, "-o", tmp_path / "two", "--jobs", 2, "--segment-sentences", 2)
    assert "is not used" not in done.err
    assert sentences_of(tmp_path / "two") == sentences_of(index)


def test_standard_input_and_several_inputs_in_their_order(cli, write, index, monkeypatch):
    first, second = write("b.txt", FABLES[0]), write("a.txt", FABLES[1])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FABLES[2].encode())))
    assert cli("index", first, second, "-", "-o", index).code == 0
    sources = [f"{first}:1", f"{second}:1", "stdin:1"]
    assert sentences_of(index) == list(zip(FABLES, sources, strict=True))
    cli("index", "-", first, "-o", index).fails(2, "standard input", field="CORPUS", found="-")


def test_a_dataset_gives_the_sentences_of_its_passages(cli, index):
    done = cli("index", "sample", "-o", index)
    assert "sample:cloze: a dataset (jsonl)" in done.err
    names = ("single-choice", "multiple-answer", "cloze", "multi-span")
    passages = [p for name in names for p in load(f"sample:{name}").passages]
    corpus = passage_corpus(passages, Sparse())
    assert open_corpus(index).fingerprint == corpus.fingerprint
    assert sentences_of(index)[0][1] == f"sample:single-choice#{passages[0].id}"


def test_datasets_are_distinguished_from_text(cli, single, own_files, write, index, tmp_path):
    table = write(
        "rows.csv", 'passage,question,candidates,gold\nA fox ran.,Who?,"[""fox"", ""crow""]",0\n'
    )
    tale = own_files / "mctest"
    for number, (data, expected) in enumerate(
        [
            (single, "a dataset (jsonl), 2 passages"),
            (table, "a dataset (table), 1 passages"),
            (tale, "(mctest)"),
        ]
    ):
        assert expected in cli("index", data, "-o", tmp_path / f"index-{number}").err
    done = cli("index", f"{single},reader=text", "-o", index)
    done.fails(3, source=str(single), line=1, field="text")
    assert done.out == ""
    assert (
        "each line a sentence"
        in cli("index", f"{write('a.csv', 'A fox.')},reader=text", "-o", index).err
    )
    assert cli("index", f"{write('b.txt', 'A fox.')},reader=jsonl", "-o", tmp_path / "b").code == 3


def test_an_extended_index_is_intact_until_a_byte_changes(cli, write, index):
    first, second = write("a.txt", FABLES[0]), write("b.txt", FABLES[1])
    cli("index", first, "-o", index)
    done = cli("index", second, "-o", index, "--append")
    assert done.out.startswith(f"{index}: 2 sentences, ")
    assert done.messages("note", "1 of 2 segments")
    done = cli("index", index, "--check")
    assert (done.code, done.out.splitlines()[1], done.err) == (0, "  intact", "")
    path = segment_files(index)[0]
    path.write_bytes(path.read_bytes().replace(b"sour", b"sore"))
    done = cli("index", index, "--check")
    done.fails(3, source=str(path))
    assert done.out == ""


def test_a_check_recognises_the_engine_and_says_how_to_search(cli, write, index, tmp_path):
    cli("index", write("a.txt", FABLES[0]), "-o", index)
    search = "  search it: classic-rc run DATA -s ir,"
    assert cli("index", index, "--check").out.splitlines()[2] == f"{search}corpus={index}"
    path = tmp_path / "lucene"
    try:
        Lucene(place=path).index(FABLES).close()
    except ClassicRCError as error:
        pytest.skip(f"Lucene cannot run here: {error}")
    done = cli("index", path, "--check")
    assert done.out.splitlines()[2] == f"{search}engine=lucene,corpus={path}"
    cli("index", path, "--check", "--engine", "rank-bm25").fails(2, field="--engine")


def test_a_truncated_file_is_one_error_that_says_what_is_kept(cli, tmp_path, index):
    path = tmp_path / "a.txt.gz"
    compressed = gzip.compress("".join(f"The fox {n * n} ran.\n" for n in range(20_000)).encode())
    path.write_bytes(compressed[:-1000])
    done = cli("index", path, "-o", index, "--segment-sentences", 5000, "--quiet")
    assert (done.code, done.out) == (3, "")
    assert len(done.err.splitlines()) == 2
    assert done.messages("note", "finished segments", index)
    done.fails(3, source=str(path))
    path.write_bytes(compressed)
    assert cli("index", path, "-o", index, "--segment-sentences", 5000).code == 0
    assert check_index(index).counts.sentences == 20_000


@pytest.mark.parametrize(
    ("arguments", "code", "facts", "fields"),
    [
        (["{text}"], 2, ["-o DIR"], {"field": "--output"}),
        (["{text}", "-o", "{text}"], 2, ["folder", "{text}"], {}),
        (
            ["{folder}", "-o", "{folder}/index"],
            2,
            [" {folder},"],
            {"field": "--output", "found": "{folder}/index"},
        ),
        (["{folder}/nothing", "-o", "{index}"], 3, [], {"source": "{folder}/nothing"}),
        (["{empty}", "-o", "{index}"], 3, ["sentence"], {"source": "{empty}"}),
        (
            ["{text}", "-o", "{index}", "--segment-sentences", "x"],
            2,
            ["'x'"],
            {"field": "--segment-sentences"},
        ),
        (["{text}", "-o", "{index}", "--append"], 2, ["{index}"], {}),
        (["{text}", "--check"], 3, [], {"source": "{text}"}),
        (["{folder}", "--check"], 3, ["index"], {"source": "{folder}"}),
        (["-o", "{index}"], 2, ["CORPUS"], {}),
    ],
)
def test_mistakes_are_one_line(cli, write, index, tmp_path, arguments, code, facts, fields):
    names = {
        "text": write("c/a.txt", FABLES[0]),
        "empty": write("empty.txt", "\n\n"),
        "folder": tmp_path / "c",
    }
    names["index"] = index
    done = cli("index", "--quiet", *(argument.format(**names) for argument in arguments))
    fields = {field: value.format(**names) for field, value in fields.items()}
    done.fails(code, *(fact.format(**names) for fact in facts), **fields)
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
