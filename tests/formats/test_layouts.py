"""The documented forms of files with the texts of language models, and JSON lines with paths of
one's own.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib

import pytest

import classic_rc
from classic_rc.errors import DataError, UsageError
from classic_rc.formats import read_predictions
from classic_rc.predictions import AnswerCounts
from classic_rc.questions import Dataset
from classic_rc.systems import parse_system, split_options
from tests.errors import raises
from tests.formats.builders import ask, ask_each, json_lines, selected

OPTIONS = ("red", "blue", "green")
QUESTIONS = ask_each(3, *OPTIONS)


def openai_row(i, content, **body):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, "refusal": None},
        "finish_reason": "stop",
    }
    body = body or {
        "id": f"chatcmpl-{i}",
        "object": "chat.completion",
        "model": "gpt-4o",
        "choices": [choice],
    }
    response = {"status_code": 200, "request_id": f"r{i}", "body": body}
    return {"id": f"batch_req_{i}", "custom_id": f"q{i}", "response": response, "error": None}


def anthropic_row(i, *content, type="succeeded"):
    message = {
        "id": f"msg_{i}",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
    }
    result = {"type": type, "message": message} if type == "succeeded" else {"type": type}
    return {"custom_id": f"q{i}", "result": result}


def inspect_sample(i, *contents, epoch=1, choices=OPTIONS):
    answers = [
        {"message": {"content": content, "role": "assistant"}, "stop_reason": "stop"}
        for content in contents
    ]
    output = {"model": "mockllm/model", "choices": answers, "completion": "x"}
    return {"id": f"q{i}", "epoch": epoch, "input": "Which?", "choices": list(choices), "target": "A", "output": output,  # noqa: E501
            "scores": {}, "events": []}  # fmt: skip


def write(path, rows):
    path.write_text(json_lines(rows), encoding="utf-8")
    return path


def options_of(path):
    return selected(read_predictions(path, QUESTIONS))


def test_the_output_of_openai_batches(tmp_path):
    text = {"type": "output_text", "text": "The answer is (C)."}
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": [text]}]
    rows = [
        openai_row(2, None, model="gpt-5", output=output),
        openai_row(0, "I think the answer is B, since it says so"),
        {
            "id": "r",
            "custom_id": "q1",
            "response": None,
            "error": {"code": "batch_expired", "message": "late"},
        },
    ]
    path = write(tmp_path / "out.jsonl", rows)
    assert options_of(path) == [{1}, None, {2}]
    counts = AnswerCounts.of(read_predictions(path, QUESTIONS))
    assert (counts.unparsed, counts.empty, counts.models) == (0, 1, ("gpt-4o", "gpt-5"))
    with raises(
        DataError,
        problem="1 of 3 questions have no row",
        hint="Requests that failed are in the batch's error file: append its lines",
    ):
        options_of(write(path, rows[1:]))


def test_several_choices_of_one_request_are_samples(tmp_path):
    texts = ("A", "Answer: B", "A")
    choices = [{"index": i, "message": {"content": text}} for i, text in enumerate(texts)]
    rows = [openai_row(0, None, choices=choices), openai_row(1, "B"), openai_row(2, "C")]
    first = read_predictions(write(tmp_path / "out.jsonl", rows), QUESTIONS)[0]
    assert first.answers == (frozenset({0}), frozenset({1}))
    assert first.weights == pytest.approx((2 / 3, 1 / 3))


def test_the_results_of_anthropic_batches(tmp_path):
    thinking = {"type": "thinking", "thinking": "The answer is A", "signature": "x"}
    rows = [
        anthropic_row(1, type="expired"),
        anthropic_row(
            2,
            thinking,
            {"type": "text", "text": "The answer is "},
            {"type": "text", "text": "(B)."},
        ),
        anthropic_row(0, {"type": "text", "text": "**C**"}),
    ]
    assert options_of(write(tmp_path / "out.jsonl", rows)) == [{2}, None, {1}]


def eval_archive(path, samples, method):
    """A log as inspect_ai writes it: a member for each sample, compressed with Zstandard (93) or
    Deflate (8).
    """
    content = {"header.json": {"version": 2}, "_journal/start.json": {"version": 2}}
    content |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    local, central = b"", b""
    for name, value in content.items():
        data = json.dumps(value).encode().replace(b'"scores": {}', b'"scores": {"x": NaN}')
        if method == 93:
            packed = pytest.importorskip("pyarrow").compress(data, codec="zstd", asbytes=True)
        else:
            packed = zlib.compress(data)[2:-4]
        sizes = (len(packed), len(data), len(name))
        fields = (20, 0, method, 0, 33, zlib.crc32(data), *sizes)
        place = (0, 0, 0, 0, 0, len(local))
        central += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *fields, *place) + name.encode()
        local += struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields, 0) + name.encode() + packed
    counts = (0, 0, len(content), len(content), len(central), len(local), 0)
    path.write_bytes(local + central + struct.pack("<4s4H2LH", b"PK\x05\x06", *counts))
    assert zipfile.ZipFile(path).testzip is not None
    return path


@pytest.mark.parametrize("form", ["deflate", "zstandard", "json"])
def test_logs_of_inspect_ai_in_both_forms(tmp_path, form):
    blocks = [{"type": "reasoning", "reasoning": "A"}, {"type": "text", "text": "ANSWER: B"}]
    samples = [
        inspect_sample(1, "ANSWER: C"),
        inspect_sample(0, blocks),
        inspect_sample(2),  # an error
        inspect_sample(2, "ANSWER: A", epoch=2),
    ]
    if form == "json":
        path = tmp_path / "log.json"
        document = {
            "version": 2,
            "status": "success",
            "eval": {"model": "mockllm/model"},
            "samples": samples,
        }
        text = json.dumps(document, indent=2).replace('"scores": {}', '"scores": NaN')
        path.write_text(text, encoding="utf-8")
    else:
        path = eval_archive(tmp_path / "log.eval", samples, 93 if form == "zstandard" else 8)
    predictions = read_predictions(path, QUESTIONS)
    assert selected(predictions) == [{1}, {2}, {0}]
    assert [p.weights for p in predictions] == [None, None, (0.5,)]
    assert AnswerCounts.of(predictions).models == ("mockllm/model",)


def test_a_letter_means_the_option_that_the_model_saw_there(tmp_path):
    texts = ("ANSWER: A", "the answer is B", "blue")
    choices = ("green", "red", "blue")
    rows = [inspect_sample(i, text, choices=choices) for i, text in enumerate(texts)]
    assert options_of(write(tmp_path / "log.jsonl", rows)) == [{2}, {0}, {1}]
    rows[1]["choices"] = ["green", "red", "black"]
    with raises(DataError, field="options", where="line 2"):
        options_of(write(tmp_path / "log.jsonl", rows))


def shuffled_sample(i, content, prompt_options, prompt="{}", **more):
    """A sample whose prompt shows the options in another order than `choices` has."""
    lines = "\n".join(map("{}) {}".format, "ABC", prompt_options))
    messages = [
        {"role": "user", "content": "Which?\n\n" + prompt.format(lines)},
        {"role": "assistant", "content": f"A) red\n{content}"},
    ]
    return inspect_sample(i, content) | {"messages": messages, **more}


def write_log(path, samples, shuffle=True, status="success", **more):
    steps = [{"solver": "multiple_choice", "params": {"shuffle": shuffle}}]
    log = {"version": 2, "status": status, "plan": {"steps": steps}, "samples": samples, **more}
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def test_options_that_inspect_shuffled_have_the_order_of_the_prompt(tmp_path):
    prompt_options = ("green", "red", "blue")
    samples = [
        shuffled_sample(
            0, "I think the answer is B.", prompt_options
        ),  # inspect could not parse it
        shuffled_sample(1, "ANSWER: B", OPTIONS),  # inspect has written its own order
        shuffled_sample(2, "The answer is B.", prompt_options, prompt="no options"),
    ]
    path = write_log(tmp_path / "log.json", samples)
    assert options_of(path) == [{0}, {1}, None]
    assert AnswerCounts.of(read_predictions(path, QUESTIONS)).unparsed == 1
    assert options_of(write_log(path, samples, shuffle=False)) == [{0}, {1}, {1}]
    blocks = [{"type": "text", "text": "Which?\n\nA) blue\nB) green\nC) red"}]
    samples[2]["messages"][0]["content"] = blocks
    assert options_of(write_log(path, samples)) == [{0}, {1}, {2}]


def test_a_run_that_failed_says_so(tmp_path):
    samples = [shuffled_sample(i, "ANSWER: B", OPTIONS) for i in range(3)]
    path = write_log(tmp_path / "log.json", samples, status="error")
    notes: list[str] = []
    read_predictions(path, QUESTIONS, notes=notes)
    assert notes == [f"{path}: the status of this run is error, so that answers may be missing"]
    for sample in samples:
        sample["output"] = {"choices": []}
    for more, found_text in (
        ({"error": {"message": "no network"}}, "status error, no network, 3 samples"),
        ({"samples": []}, "status error, no error, 0 samples"),
    ):
        write_log(path, samples, status="error")
        log = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(log | more), encoding="utf-8")
        with raises(DataError, source=str(path), found=found_text):
            read_predictions(path, QUESTIONS)


def test_a_record_is_no_system(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"version": "0.2.0",\n"schema": 4,\n"runs": []}', encoding="utf-8")
    for location in (path, tmp_path):
        with raises(UsageError, found=str(location), expected=f"{location}#ROW"):
            parse_system(f"X={location}")


def test_any_other_layout_has_paths(tmp_path):
    texts = ("A", "It is B. Answer: B", "?")
    rows = [{"meta": {"q": i}, "gen": [{"out": text}]} for i, text in enumerate(texts)]
    questions = Dataset([ask(str(i), *OPTIONS) for i in range(3)])
    path = write(tmp_path / "mine.jsonl", rows)
    for text in ("gen.0.out", "gen.out"):
        loaded = read_predictions(path, questions, options={"id": "meta.q", "text": text})
        assert selected(loaded) == [{0}, {1}, None]
    with raises(DataError, field="meta.x", found="the paths meta.q, gen.out"):
        read_predictions(path, questions, options={"id": "meta.x", "text": "gen.out"})
    with raises(DataError, field="gen.x"):
        read_predictions(path, questions, options={"id": "meta.q", "text": "gen.x"})
    with raises(
        DataError,
        hint="Name the paths of ids and answers: -s FILE,id=PATH,text=PATH; it has meta.q, gen.out",
    ):
        read_predictions(path, questions)


def test_options_of_a_file_are_a_part_of_its_specification(tmp_path):
    path = write(tmp_path / "a,b.jsonl", [{"n": i, "t": "vote: B, sure"} for i in range(3)])
    system = parse_system(f"LLM={path},id=n,text=t,pattern=vote: ([A-C]), sure")
    assert (system.name, system.path) == ("LLM", str(path))
    assert system.options == {"id": "n", "text": "t", "pattern": "vote: ([A-C]), sure"}
    assert split_options("x.jsonl,window=3") == ("x.jsonl,window=3", {})
    assert parse_system("a,b.jsonl", str(tmp_path)).options == {}


def test_options_are_in_the_signature_and_in_the_record(tmp_path):
    questions = classic_rc.load("sample:single-choice")
    rows = [{"custom": q.id, "reply": "first A then C"} for q in questions]
    path = write(tmp_path / "mine.jsonl", rows)
    spec = f"{path},id=custom,text=reply,pattern="
    first = classic_rc.evaluate(questions, [f"{spec}first (.)"]).rows[0]
    second = classic_rc.evaluate(questions, [f"{spec}then (.)"]).rows[0]
    assert first.signature != second.signature
    assert first.params["pattern"] == "first (.)"
    assert first.outcomes.answers[0] == [0]
    assert second.outcomes.answers[0] == [2]


def test_a_file_for_the_whole_set_answers_a_part_of_it(tmp_path):
    rows = [{"id": f"q{i}", "answer": answer} for i, answer in enumerate("ABC")]
    path = write(tmp_path / "whole.jsonl", rows)
    notes: list[str] = []
    subset = Dataset(QUESTIONS.questions[1:])
    assert selected(read_predictions(path, subset, notes=notes)) == [{1}, {2}]
    assert any("more questions than these 2" in note for note in notes)
    with raises(DataError, found="'q2'"):
        read_predictions(path, Dataset([*QUESTIONS.questions[:2], ask("x", *OPTIONS)]))
