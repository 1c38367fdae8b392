"""``classic-rc check`` of span data: is there an answer, where, of which kind, with which ends?"""

from __future__ import annotations

import json
import random

import pytest

from classic_rc.commands.check import CueKind, check_dataset
from classic_rc.commands.check.integrity import find_defects
from classic_rc.datasets import load

WORDS = (
    "river tower garden station bakery harbour library theatre museum stable orchard market "
    "window basket ladder bottle"
).split()


def make_squad(n=120, *, unanswerable=False, plant="", sentence=None, quote=""):
    """One passage of four sentences a question; the answer is two words of one of them."""
    rng = random.Random(3)
    paragraphs = []
    for i in range(n):
        sentences = [[*rng.sample(WORDS, 8)] for _ in range(4)]
        place = rng.randrange(4) if sentence is None else sentence
        start = rng.randrange(1, 5)
        answer = " ".join(sentences[place][start : start + 2])
        texts = [f"Item {i} {' '.join(words)} here." for words in sentences]
        texts[place] = texts[place].replace(answer, f"{quote}{answer}{quote}")
        context = " ".join(texts)
        query_words = [*rng.sample(WORDS, 4)]
        is_impossible = unanswerable and rng.random() < 0.5
        if is_impossible and plant:
            query_words.insert(rng.randrange(1, 4), plant)
        offset = sum(len(text) + 1 for text in texts[:place]) + texts[place].index(answer)
        qa = {"id": f"q{i}", "question": f"What {' '.join(query_words)}?"}
        qa["answers"] = [] if is_impossible else [{"text": answer, "answer_start": offset}]
        paragraphs.append({"context": context, "qas": [{**qa, "is_impossible": is_impossible}]})
    return {"version": "1", "data": [{"title": "t", "paragraphs": paragraphs}]}


@pytest.fixture
def squad(write):
    """Write span data, and return its path."""
    return lambda **options: write("spans.json", json.dumps(make_squad(**options)))


def first_cue(path):
    return check_dataset(load(path), duplicates=False, header=False).cues[0]


def test_words_of_unanswerable_questions_are_named(squad):
    cue = first_cue(squad(unanswerable=True, plant="the green"))
    assert cue.kind is CueKind.ARTIFACT
    assert cue.about == "answerable"
    assert cue.name == 'is unanswerable where the question has the words "the green"'
    assert cue.precision == 1
    assert "the green" in cue.examples[0].option


def test_answers_in_one_sentence_are_named(squad):
    cue = first_cue(squad(sentence=0))
    assert (cue.kind, cue.about) == (CueKind.SHORTCUT, "sentence")
    assert cue.name == "is in the first sentence"
    assert (cue.precision, cue.chance) == (1, 0.25)


def test_answers_in_quotes_are_named(squad):
    cue = first_cue(squad(quote='"'))
    assert (cue.kind, cue.about) == (CueKind.SHORTCUT, "span")
    assert "quote" in cue.name
    assert cue.precision > 0.9
    assert "[[" in cue.examples[0].option


def test_nothing_is_found_where_nothing_is_planted(squad):
    report = check_dataset(load(squad(unanswerable=True)), duplicates=False)
    assert not report.cues
    for row in report.header:
        assert row.interval is None or row.interval[0] <= row.chance + 0.05


def test_the_header_has_chance_beside_each_row(squad):
    report = check_dataset(load(squad(unanswerable=True, plant="the green")), duplicates=False)
    rows = {row.input: row for row in report.header}
    answerable = rows["question: is there an answer"]
    assert answerable.accuracy > 0.9 > answerable.chance
    assert rows["position: which sentence"].chance == 0.25
    assert "question: which length and type" not in rows  # all answers are two words
    assert any("which length and type" in note for note in report.notes)


def test_what_the_question_says_of_the_kind_of_answer_does_not_fail(cli, write):
    data = make_squad(n=150)
    rng = random.Random(4)
    for i, paragraph in enumerate(data["data"][0]["paragraphs"]):
        (qa,) = paragraph["qas"]
        if rng.random() < 0.5:
            (answer,) = qa["answers"]
            context = paragraph["context"]
            start = answer["answer_start"]
            year = str(1900 + i).ljust(len(answer["text"]), "0")[:4]
            paragraph["context"] = context[:start] + year + context[start + len(answer["text"]) :]
            qa["answers"] = [{"text": year, "answer_start": start}]
            qa["question"] = qa["question"].replace("What", "When")
    path = write("when.json", json.dumps(data))
    cues = check_dataset(load(path), duplicates=False, header=False).cues
    of_type = [cue for cue in cues if cue.kind is CueKind.ANSWER_TYPE]
    # both say the same
    assert any('"when"' in cue.name or '"what"' in cue.name for cue in of_type)
    assert all(cue.precision > cue.chance for cue in of_type)
    assert cli("check", path, "--fail=artifacts").code == 0


def test_json_html_and_ids_have_the_cues_of_spans(cli, squad, tmp_path):
    path, ids = squad(quote='"'), tmp_path / "ids.tsv"
    (check,) = cli("check", path, "--format", "json", "--ids", ids).json["checks"]
    assert check["findings"][0]["about"] == "span"
    name, id_ = ids.read_text("utf-8").splitlines()[0].split("\t")
    assert (name, id_[0]) == (check["findings"][0]["name"], "q")
    page = cli("check", path, "--format", "html").out
    assert "<svg" in page
    assert "the answer that stands" in page


@pytest.mark.parametrize("form", ["{label}", "{id}", "{name}"])
def test_a_cue_is_accepted_by_its_printed_name_or_id(cli, squad, tmp_path, form):
    path, allow = squad(unanswerable=True, plant="the green"), tmp_path / "allow.txt"
    cue = first_cue(path)
    allow.write_text(form.format(label=cue.label, id=cue.id, name=cue.name), encoding="utf-8")
    assert cli("check", path, "--fail=artifacts").code == 1
    assert cli("check", path, "--fail=artifacts", "--allow", allow).code == 0


def test_a_name_that_no_view_has_is_refused(cli, squad, tmp_path):
    allow = tmp_path / "allow.txt"
    allow.write_text("the answer that flies", encoding="utf-8")
    result = cli("check", squad(), "--allow", allow)
    assert result.code == 2
    assert "flies" in result.err


def test_a_mended_copy_can_be_checked(cli, squad, tmp_path):
    result = cli("check", squad(quote='"'), "--mend", tmp_path / "mended.jsonl")
    assert result.code == 0
    assert "before and after" in result.out
    assert len(load(tmp_path / "mended.jsonl")) == 120


def notes_of(data, write):
    return check_dataset(load(write("bad.json", json.dumps(data))), duplicates=False).notes


def test_bad_cases_get_notes(write):
    few = make_squad(n=10)
    assert notes_of(few, write) == ("no cues: 10 questions are too few",)
    impossible = make_squad(n=30)
    hidden = make_squad(n=30)
    short = make_squad(n=30)
    for data, change in ((impossible, True), (hidden, False)):
        for paragraph in data["data"][0]["paragraphs"]:
            (qa,) = paragraph["qas"]
            if change:
                qa.update(answers=[], is_impossible=True)
            else:
                del qa["answers"], qa["is_impossible"]
    for paragraph in short["data"][0]["paragraphs"]:
        paragraph["context"] = paragraph["context"].replace(".", "")
        (qa,) = paragraph["qas"]
        text = qa["answers"][0]["text"]
        qa["answers"][0]["answer_start"] = paragraph["context"].index(text)
    assert notes_of(impossible, write) == ("no cues: no question has an answer",)
    assert notes_of(hidden, write) == ("no cues: gold is hidden",)
    assert sum("which sentence" in note for note in notes_of(short, write)) == 1


def test_one_passage_has_no_header(write):
    data = make_squad(n=40)
    paragraphs = data["data"][0]["paragraphs"]
    context = paragraphs[0]["context"]
    words = context.split()
    for i, paragraph in enumerate(paragraphs):
        text = words[2 + i % 8]
        (qa,) = paragraph["qas"]
        qa["answers"] = [{"text": text, "answer_start": context.index(text)}]
        paragraph["context"] = context
    paragraphs[0]["qas"] = [paragraph["qas"][0] for paragraph in paragraphs]
    del paragraphs[1:]
    report = check_dataset(load(write("one.json", json.dumps(data))), duplicates=False)
    assert not report.header
    assert sum(note.startswith("no header") for note in report.notes) == 1


def test_defects_of_gold_spans_are_found(write):
    context = "He saw the Ugandan flag, the flag and more of the flags."
    golds = {"inside": ("Uganda", 11), "fine": ("Ugandan flag", 11), "edge": ("more of", 38)}
    qas = [
        {"id": id_, "question": "What?", "answers": [{"text": text, "answer_start": start}]}
        for id_, (text, start) in golds.items()
    ]
    data = {"data": [{"title": "t", "paragraphs": [{"context": context, "qas": qas}]}]}
    defects = {f.kind.name: f for f in find_defects(load(write("defects.json", json.dumps(data))))}
    assert defects["gold-in-word"].examples == ("inside",)
    assert set(defects["gold-no-candidate"].examples) == {"inside", "edge"}
    assert "%" in defects["gold-no-candidate"].detail
    assert "gold-several-times" not in defects


def test_gold_without_an_offset_at_several_places_is_found(write):
    passage = "the flag and a flag by the sea"
    rows = [
        {"id": id_, "passage": passage, "question": "What?", "gold": [gold], "task": "span"}
        for id_, gold in (("twice", "flag"), ("once", "sea"))
    ]
    defects = {f.kind.name: f for f in find_defects(load(write("rows.jsonl", rows)))}
    assert defects["gold-several-times"].examples == ("twice",)


@pytest.mark.parametrize("language", ["zh", "th"])
def test_gold_between_blanks_is_found_in_translated_data(shared_data, language):
    data = load(shared_data / "wild" / f"xquad.{language}.json")
    cues = check_dataset(data, duplicates=False, header=False).cues
    cue = next(cue for cue in cues if cue.name == "stands between blanks")
    assert cue.precision > 2 * cue.chance
    assert cue.coverage > 0.5
