"""Every reader on a small file of its format, in every encoding."""

from __future__ import annotations

import codecs
import json
import re
import socket

import pytest

from classic_rc.datasets import READERS, from_rows, load
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Task
from classic_rc.testing import check_reader
from tests.contents import cut
from tests.errors import raises


@pytest.fixture
def small(tmp_path, write):
    """Load the small file of a form, or another content in its place."""
    return lambda form, value=None, **options: load(write(tmp_path, form, value), **options)


def test_every_reader_keeps_the_contract(form, tmp_path, write):
    path = write(tmp_path, form)
    check_reader(READERS[load(path).reader], path)


def test_every_form_is_recognised_by_its_content(form, tmp_path, write):
    path = write(tmp_path, form)
    hidden = path.rename(path.with_name("unnamed")) if form != "race" else path
    assert load(hidden).reader == form.removesuffix("-line")


def test_no_other_reader_recognises_it(form, tmp_path, write):
    from classic_rc.io.archives import open_input

    file = open_input(write(tmp_path, form)).single
    recognising = [name for name, reader in READERS.items() if reader.recognises(file)]
    assert recognising == [form.removesuffix("-line")]


def test_mctest_has_stories_with_four_questions(small):
    dataset = small("mctest")
    first = dataset[1]
    assert (dataset.name, dataset.split, len(dataset)) == ("mc160.dev", "dev", 8)
    assert (first.id, first.passage.id) == ("mc160.dev.0,1", "mc160.dev.0")
    assert first.passage.text == "Ann had a red kite.\n\tIt flew away, and Bob found it."
    assert first.text == "Why did it fly: wind or luck?"
    assert first.meta == {"type": "multiple"}
    assert [min(q.gold) for q in dataset] == [0, 0, 1, 2, 0, 1, 1, 2]
    assert [source.path.rpartition(".")[2] for source in dataset.sources] == ["tsv", "ans"]


@pytest.mark.parametrize(
    "place", ["mc160.dev.ans", "MCTestAnswers/mc160.dev.ans", "../MCTestAnswers/mc160.dev.ans"]
)
def test_mctest_answers_are_found_near_the_stories(tmp_path, write, place):
    path = write(tmp_path / "MCTest", "mctest")
    answers = path.with_suffix(".ans").read_bytes()
    path.with_suffix(".ans").unlink()
    target = path.parent / place
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(answers)
    assert load(path)[1].gold == {0}


def test_mctest_without_answers_has_hidden_gold_and_a_note(tmp_path, write):
    path = write(tmp_path, "mctest")
    path.with_suffix(".ans").rename(tmp_path / "key.ans")
    dataset = load(path)
    assert {q.gold for q in dataset} == {None}
    assert dataset.notes == ("files without answers, so gold is hidden (mc160.dev.tsv): 1",)
    assert load(path, answers=tmp_path / "key.ans")[3].gold == {2}
    with raises(DataError, source=str(tmp_path), expected="mc160.dev.ans"):
        load(path, answers=tmp_path)


def test_mctest_folder_is_read_by_subset_and_split(tmp_path, write):
    for name in ("mc160.dev", "mc160.train", "mc500.dev"):
        write(tmp_path, "mctest", name=f"{name}.tsv")
        path = tmp_path / f"{name}.tsv"
        path.write_text(path.read_text("utf-8").replace("mc160.dev", name), "utf-8")
    assert load(tmp_path, subset="mc500", split="dev").name == "mc500.dev"
    dataset = load(tmp_path, subset="mc160")
    assert (dataset.name, dataset.split, len(dataset)) == ("mc160", None, 16)
    assert [q.meta["split"] for q in dataset] == ["dev"] * 8 + ["train"] * 8
    assert dataset.notes == ("other files skipped (mc500.dev.ans): 1",)
    with raises(
        DataError, source=str(tmp_path), field="subset", found="mc160, mc500", expected="'mc700'"
    ):
        load(tmp_path, subset="mc700")
    with raises(
        DataError, source=str(tmp_path), field="split", found="dev, train", expected="'test'"
    ):
        load(tmp_path, split="test")
    with raises(UsageError, field="answers", found=str(tmp_path / "mc500.dev.ans")):
        load(tmp_path, subset="mc160", answers=tmp_path / "mc500.dev.ans")


def test_race_articles_have_a_level(small):
    dataset = small("race")
    assert [q.id for q in dataset] == ["middle7-0", "middle7-1"]
    assert dataset[0].passage is dataset[1].passage
    assert dataset[0].passage.id == "middle7"
    assert [q.gold for q in dataset] == [{0}, {1}]
    assert dataset[0].meta == {"level": "middle"}


def test_multirc_keeps_sentences_and_flags(small):
    dataset = small("multirc")
    first, second = dataset
    assert (dataset.name, dataset.task) == ("multirc.dev", Task.MULTIPLE_ANSWER)
    assert first.passage.text == "It rained. The river rose Ann left."
    assert cut(first.passage.text, first.passage.sentences) == [
        "It rained.",
        "The river rose",
        "Ann left.",
    ]
    assert (first.id, first.gold, second.gold) == ("News/rain.txt==0", {0, 2}, frozenset())
    assert first.meta == {
        "pid": "News/rain.txt",
        "qid": "0",
        "sentences_used": (0, 1),
        "multisent": True,
    }
    assert first.candidates[1].text == ""


def test_multirc_without_flags_has_hidden_gold(small, content):
    value = content("multirc")
    for answer in value["data"][0]["paragraph"]["questions"][0]["answers"]:
        del answer["isAnswer"]
    assert [q.gold for q in small("multirc", value)] == [None, frozenset()]


def test_superglue_reads_labels_and_numbers_of_answers(small, content):
    dataset = small("superglue")
    assert (dataset.split, dataset[0].id, dataset[0].gold) == ("val", "3==4", {0})
    assert dataset[0].meta == {"pid": "3", "qid": "4", "answer_idx": (9, 10)}
    value = content("superglue")
    for answer in value["passage"]["questions"][0]["answers"]:
        del answer["label"]
    assert small("superglue", value)[0].gold is None


@pytest.mark.parametrize(("which", "id"), [("record", "q1"), ("record-line", "8")])
def test_record_has_mentions_as_candidates(small, which, id):
    (question,) = small(which)
    assert (question.id, question.task, question.gold) == (id, Task.CLOZE, ("Bob",))
    assert [(c.text, c.start, c.end) for c in question.candidates] == [
        ("Ann Lee", 0, 7),
        ("Bob", 12, 15),
        ("Rome", 19, 23),
        ("Bob", 36, 39),
    ]
    assert "@highlight" in question.passage.text


def test_squad_accepts_texts_and_counts_what_it_moves(small):
    dataset = small("squad")
    assert [q.gold for q in dataset] == [("Maya",), ("",)]
    assert (dataset.task, dataset[0].passage.id) == (Task.SPAN, "0-0")
    assert dataset[0].meta == {"spans": ((0, 4), (0, 4))}
    assert dataset.notes == (
        "answer offsets moved to the answer's text: 1",
        "questions without an answer, kept with the empty text as gold: 1",
    )


def test_quoref_has_several_spans(small):
    (question,) = small("quoref")
    assert (question.task, question.gold) == (Task.MULTI_SPAN, ("Ines", "Paul"))
    assert question.passage.id == "c1"
    assert cut(question.passage.text, question.meta["spans"]) == ["Ines", "Paul"]


def test_dream_keeps_turns(small):
    (question,) = small("dream")
    assert (question.id, question.gold) == ("12-3-0", {1})
    text, turns = question.passage.text, question.passage.meta["turns"]
    assert cut(text, turns) == text.split("\n") == ["M: Shall we walk?", "W: I would rather drive."]


def test_c3_is_not_dream(small, tmp_path, write):
    dataset = small("c3")
    assert (dataset.name, dataset.split, dataset.task) == ("c3.dev.d", "dev", Task.SINGLE_CHOICE)
    assert [(q.id, q.gold, q.meta["genre"]) for q in dataset] == [
        ("d-12-3-0", {1}, "dialogue"),
        ("d-m1-4-0", {0}, "mixed"),
    ]
    assert dataset[0].passage.text == "男：我们走路吗?\n女：我想开车去。"
    detected = load(write(tmp_path, "c3", name="talks.json"))
    assert [q.id for q in detected] == ["12-3-0", "m1-4-0"]


def test_the_parts_of_c3_are_read_together_or_alone(tmp_path, write):
    for letter in "dm":
        write(tmp_path, "c3", name=f"c3-{letter}-dev.json")
    write(tmp_path, "c3", name="c3-d-train.json")
    assert len(load(tmp_path, split="dev")) == 4
    assert [q.id[0] for q in load(tmp_path, split="dev", subset="m")] == ["m", "m"]


@pytest.mark.parametrize("layout", ["quail", "quail-line"])
def test_quail_keeps_type_and_domain(small, layout):
    dataset = small(layout)
    first = dataset[0]
    assert (first.id, first.passage.id, first.gold, dataset.split) == ("f7_0", "f7", {1}, "dev")
    assert first.passage.text == "It rained.\nShe stayed at home."
    assert [c.text for c in first.candidates] == ["Ines", "not enough information", "Mira", "Ann"]
    assert (first.text, first.meta) == (
        "What is her name?",
        {"type": "Unanswerable", "domain": "fiction"},
    )


def test_quail_in_xml_may_hide_gold(small, tmp_path, write, content):
    second = small("quail")[1]
    assert (second.id, second.gold, second.candidates[0].text) == (
        "f7_1",
        {0},
        "It rained & she was tired.",
    )
    hidden = content("quail").replace(' correct="True"', "").replace(' correct="False"', "")
    assert [q.gold for q in load(write(tmp_path, "quail", hidden))] == [None, None]
    assert load(write(tmp_path / "c", "quail", name="quail_1.3_challenge.xml")).split == "challenge"


def test_cosmos_qa_may_hide_gold(small, tmp_path, write):
    dataset = small("cosmosqa")
    assert [(q.id, q.gold) for q in dataset] == [("a##b##q1_a1", {1}), ("a##b##q2_a1", {0})]
    assert (dataset.split, dataset[0].candidates[1].text) == ("valid", "No bus , no choice .")
    assert dataset[0].passage is dataset[1].passage
    answers = {f"answer{i}": text for i, text in enumerate(("w", "x", "y", "z"))}
    row = {"id": "t1", "context": "It rained .", "question": "Why ?", **answers}
    hidden = load(write(tmp_path, "cosmosqa", row, name="test.jsonl"))
    assert (hidden.reader, hidden.split, hidden[0].gold) == ("cosmosqa", "test", None)
    rows = [row | {"label": -1}, row | {"id": "t2", "label": 3}]
    assert [q.gold for q in from_rows(rows)] == [None, {3}]


def test_logiqa_text_has_letters_cut(small, tmp_path, write, content):
    dataset = small("logiqa")
    assert [(q.id, q.gold) for q in dataset] == [("eval-0", {1}), ("eval-1", {3})]
    assert (dataset.split, dataset.name, dataset[0].meta) == (
        "dev",
        "logiqa.dev",
        {"language": "en"},
    )
    assert dataset[0].passage.text == "All ferries are boats.No boat is a train."
    assert dataset[0].candidates[2].text == "B. is a boat."
    text = "\nc\n1.甲在河边。\n谁在河边？\nA.乙\nB，丙\nC、甲\nD 丁\n"
    (chinese,) = load(write(tmp_path, "logiqa", text, name="zh_eval.txt"), subset="zh")
    assert (chinese.id, chinese.gold, chinese.meta) == ("zh_eval-0", {2}, {"language": "zh"})
    assert [c.text for c in chinese.candidates] == ["乙", "丙", "甲", "D 丁"]
    assert {q.id for q in load(tmp_path, subset="en")} == {"eval-0", "eval-1"}


def test_rows_of_logiqa_equal_its_text(small):
    text = small("logiqa")[0]
    options = [
        "All trains are ferries.",
        "No ferry is a train.",
        "B. is a boat.",
        "Some ferries are trains.",
    ]
    context, question = text.passage.text, "Which of the following must be true?"
    for row in (
        {"context": context, "query": question, "options": options, "correct_option": 1},
        {"context": context, "question": question, "options": options, "label": "b"},
    ):
        (read,) = from_rows([row])
        assert (read.gold, read.text) == (text.gold, text.text)
        assert [c.text for c in read.candidates] == [c.text for c in text.candidates]


def test_logiqa_2_keeps_kinds_of_reasoning(small, tmp_path, write, content):
    (question,) = small("logiqa2")
    assert (question.id, question.gold) == ("71", {2})
    assert question.meta == {
        "language": "en",
        "reasoning": ["Categorical Reasoning", "Conjunctive Reasoning"],
    }
    value = content("logiqa2")
    del value["id"], value["type"]
    row = {
        "example_id": 9,
        **value,
        "question": "可以推出：",
        "options": ["A.甲", "B.乙", "C.丙", "D.丁"],
    }
    (chinese,) = load(write(tmp_path, "logiqa2", row, name="dev_zh.txt"), subset="zh")
    assert (chinese.id, chinese.meta, chinese.candidates[3].text) == ("9", {"language": "zh"}, "丁")
    assert load(tmp_path / "dev_zh.txt").name == "logiqa2.dev.zh"


def test_boolq_is_read_in_its_three_forms(small, tmp_path, write, content):
    dataset = small("boolq")
    (question,) = dataset
    assert (question.id, question.gold, question.meta) == ("dev-1", {0}, {"title": "Bee"})
    assert [c.text for c in question.candidates] == ["no", "yes"]
    row = {"question": "can bees swim", "passage": "Bees drown in deep water."}
    superglue = load(write(tmp_path, "boolq", {**row, "idx": 7, "label": True}, name="val.jsonl"))
    assert (superglue.reader, superglue[0].id, superglue[0].gold) == ("boolq", "7", {1})
    for hidden in ({**row, "title": "Bee"}, {**row, "idx": 0}):
        (question,) = load(write(tmp_path, "boolq", hidden, name="test.jsonl"))
        assert question.gold is None
    rows = [{**row, "idx": i, "label": label} for i, label in enumerate((0, 1, -1))]
    assert [q.gold for q in from_rows(rows)] == [{0}, {1}, None]
    assert from_rows([{**row, "answer": True}])[0].gold == {1}


def test_belebele_is_read_from_lines_and_tables(small, tmp_path, write, content):
    dataset = small("belebele")
    assert (dataset.name, dataset.split, dataset[0].id) == (
        "belebele.eng_Latn",
        "test",
        "eng_Latn-0",
    )
    assert (dataset[0].gold, dataset[0].candidates[2].text) == ({2}, "The harbour")
    assert dataset[0].meta == {
        "language": "eng_Latn",
        "link": "https://a.example/wiki/Harbour",
        "question_number": "2",
    }
    row = content("belebele")
    table = "\t".join(row) + "\n" + "\t".join(map(str, row.values())) + "\n"
    tsv = load(write(tmp_path, "belebele", table, name="deu_Latn.tsv"))
    assert (tsv.reader, tsv.fingerprint) == ("belebele", dataset.fingerprint)
    german = row | {"dialect": "deu_Latn", "correct_answer_num": 1}
    write(tmp_path / "all", "belebele")
    write(tmp_path / "all", "belebele", german, name="deu_Latn.jsonl")
    assert [q.id for q in load(tmp_path / "all")] == ["deu_Latn-0", "eng_Latn-0"]
    (question,) = (subset := load(tmp_path / "all", subset="deu_Latn"))
    assert (subset.name, question.gold) == ("belebele.deu_Latn", {0})


def test_rows_of_the_hub_equal_the_files(small, content):
    for form in ("quail-line", "boolq", "belebele", "logiqa2"):
        original = small(form)[0]
        (question,) = from_rows([content(form)])
        assert (question.text, question.gold) == (original.text, original.gold)
        assert question.meta == original.meta


@pytest.mark.parametrize(
    "row",
    [
        {"passage": "p", "question": "q", "answer": True, "candidates": ["a", "b"], "gold": 0},
        {"passage": "p", "question": "q", "answer": "yes"},
        {"passage": "p", "question": "q", "answer": True, "options": ["a", "b"]},
        {"passage": "p", "question": "q", "label": 1, "source": "mine"},
        {"text": "t", "question": "q", "options": ["a", "b"], "answer": 1, "source": "mine"},
        {"context": "c", "question": "q", "options": ["a", "b"], "label": 1},
    ],
)
def test_rows_of_ones_own_are_of_no_dataset(row, tmp_path):
    from classic_rc.io.archives import open_input

    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    file = open_input(path).single
    assert not {name for name, reader in READERS.items() if reader.recognises(file)} - {"jsonl"}


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE data SYSTEM "MCScript.dtd">',
        "<!DOCTYPE data SYSTEM 'file:///etc/passwd'>",
        '<!DOCTYPE\n data\n SYSTEM\n "a[b].dtd"\n >\n<!-- end -->',
    ],
)
@pytest.mark.parametrize("header", ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n', ""])
def test_a_document_type_with_an_external_identifier_is_read_and_never_fetched(
    tmp_path, write, content, monkeypatch, declaration, header
):
    """The official MCScript test file has one."""

    def fetch(*args, **kwargs):
        raise AssertionError("nothing is fetched")

    text = content("mcscript").partition("?>")[2].lstrip()
    expected = load(write(tmp_path, "mcscript", f"<?xml version='1.0'?>\n{text}"))
    path = write(tmp_path, "mcscript", f"{header}{declaration}\n{text}")
    monkeypatch.setattr(socket, "socket", fetch)
    assert load(path).fingerprint == expected.fingerprint
    broken = write(tmp_path, "mcscript", f"{header}{declaration}\n{text.replace('True', 'yes')}")
    line = f"{header}{declaration}\n{text.partition('True')[0]}".count("\n") + 1
    with raises(DataError, where=f"line {line}", found="'yes'"):
        load(broken)


def test_mcscript_keeps_types(small):
    dataset = small("mcscript")
    assert (dataset.name, dataset[0].id, dataset[0].gold) == ("mcscript.dev", "4-0", {1})
    assert dataset[0].passage.text == "I boiled water & made tea."
    assert dataset[0].meta == {"type": "text"}


def test_arc_reads_labels_and_paragraphs(small, content):
    question = small("arc")[0]
    assert (question.passage.text, question.gold) == ("", {0})
    value = content("arc")
    value["question"]["para"] = "Heat melts ice."
    del value["answerKey"]
    question = small("arc", value)[0]
    assert (question.passage.text, question.gold) == ("Heat melts ice.", None)


def test_own_json_lines_follow_our_schema(small):
    (question,) = small("jsonl")
    assert (question.id, question.passage.id, question.gold) == ("o1", "p1", {1})
    assert question.candidates[1].end == 3
    assert question.passage.sentences == ((0, 9), (10, 21))
    assert question.meta == {"kind": "easy"}


def test_a_table_is_read_by_its_header(small):
    (question,) = small("table")
    assert (question.passage.text, question.gold) == ("Ann sang, Bob hummed.", {1})
    assert question.meta == {"kind": "easy"}


def test_exported_rows_are_read(small):
    (question,) = small("huggingface")
    assert (question.id, question.passage.id, question.gold) == ("high2-0", "high2", {0})
    assert question.meta == {"level": "high"}


def test_every_reader_reads_every_encoding(form, tmp_path, write):
    path = write(tmp_path, form)
    text = path.read_text("utf-8")
    plain = load(path)
    for data in (
        text.replace("\n", "\r\n").encode("utf-8"),
        text.replace("\n", "\r").encode("utf-8-sig"),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.replace("\n", "\r\n").encode("utf-16-be"),
    ):
        path.write_bytes(data)
        reencoded = load(path)
        assert reencoded.fingerprint == plain.fingerprint
        assert reencoded.sources[0].sha256 != plain.sources[0].sha256


def test_every_reader_refuses_invalid_bytes(form, tmp_path, write):
    path = write(tmp_path, form)
    data = path.read_bytes()
    path.write_bytes(data[:-3] + b"\xff" + data[-3:])
    with raises(DataError, source=str(path), where=re.compile(f"^byte offset {len(data) - 3} ")):
        load(path)


def test_every_reader_refuses_an_empty_file(form, tmp_path, write):
    path = write(tmp_path, form, b"\n \n")
    with raises(DataError, source=str(path), problem="the file is empty"):
        load(path)
    with raises(DataError, source=str(path), problem="the file is empty"):
        load(path, reader=form.removesuffix("-line"))
