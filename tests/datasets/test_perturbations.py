"""Perturbed copies: what each one keeps and drops, draws that depend on ids only, and systems on
copies.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc import evaluate
from classic_rc.datasets import PERTURBATIONS, from_rows, load, perturb_dataset
from classic_rc.datasets.edits import Settings
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import FoldPlan
from classic_rc.harness.task import harness_rows, harness_yaml
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task, candidate_texts
from classic_rc.reports.result_tables import perturbation_table
from classic_rc.running import evaluate_perturbed
from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.sentences import split_sentences
from tests.contents import cut
from tests.depth import thinned
from tests.errors import raises

STORY = (
    "The old fox ran to the river, because he was thirsty. \"Don't drink!\" said Nora's hen. "
    "It was 3.5 degrees cold. Who was the hen?"
)
FEW = {"intervals": 200, "seeds": 2}


def words(text: str) -> list[str]:
    return get_tokenizer("word").tokenize(text)


def one(
    question: str = "Who said that the water was cold?", passage: str = STORY, **more
) -> Dataset:
    row = {"id": "q", "passage_id": "p", "passage": passage, "question": question, "gold": 0}
    return from_rows([{**row, "candidates": ["Nora's hen", "the fox"], **more}])


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return load("sample:single-choice")


TASKS = ["single-choice", "multiple-answer", "cloze", "span", "multi-span"]


def applying(task: str) -> list[str]:
    """The perturbations of English questions."""
    return [
        name
        for name, perturbation in PERTURBATIONS.items()
        if task in perturbation.tasks and name != "no-blanks"
    ]


def sample_of(task: str) -> Dataset:
    if task != "span":
        return load(f"sample:{task}")
    return Dataset([replace(q, task=Task.SPAN) for q in load("sample:multi-span")], "spans")


def mentioned() -> Dataset:
    """A cloze question whose mentions are parts of words, overlap, and cross what looks like a
    border.
    """
    text = "Mr. J. Smith met Ann Lee. Ann's dog ran to J. Smith and the lake. The lake is cold."
    names = ["J. Smith", "Ann Lee", "Ann", "lake", "Smith"]
    mentions = [
        Candidate(name, m.start(), m.end())
        for name in names
        for m in re.finditer(re.escape(name), text)
    ]
    question = Question(
        "c", Passage("p", text), "@placeholder has a dog .", mentions, ("Ann",), Task.CLOZE
    )
    return Dataset([question], "mentioned")


# --------------------------------------------------------------------------------------------------
# Each perturbation


def copied(name: str, dataset: Dataset | None = None, **settings) -> Question:
    return perturb_dataset(one() if dataset is None else dataset, name, **settings)[0]


def test_questions_keep_their_interrogatives_or_nothing():
    assert copied("interrogatives-only").text == "Who?"
    assert (
        copied("interrogatives-only", one("In what year, and why, did it end ?")).text
        == "what why?"
    )
    assert copied("interrogatives-only", one("The story is about _ .")).text == ""
    assert copied("no-question").text == ""
    assert copied("no-question", mentioned()).text == "@placeholder"
    assert copied("interrogatives-only").passage.text == STORY


def test_function_words_go_with_one_blank_each():
    text = copied("no-function-words").passage.text
    assert text == 'old fox ran river, thirsty. "drink!" said Nora\'s hen. 3.5 degrees cold. hen?'
    text = copied("no-content-words").passage.text
    assert text == 'The to the, because he was. "Don\'t!". It was. Who was the?'
    assert copied("no-content-words").text == one()[0].text


def test_function_words_are_told_from_content_words():
    function_words, others = (
        "the The who Whose he's can't who’s don't I'm not",
        "fox 3 Nora's o'clock thirsty",
    )
    kinds = [
        word for word in f"{function_words} {others}".split() if Settings().is_function_word(word)
    ]
    assert " ".join(kinds) == function_words


def test_another_list_of_function_words(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("fox\nriver\n", encoding="utf-8")
    copy = perturb_dataset(
        one(passage="The fox saw the river."), "no-function-words", function_words=str(mine)
    )
    assert copy[0].passage.text == "The saw the."
    with raises(UsageError, field="stop list"):
        perturb_dataset(one(), "no-function-words", function_words="nothing-known")


def test_words_change_places_within_sentences():
    copy = copied("shuffled-words", seed=3).passage
    assert copy.text != STORY
    before, after = cut(STORY, split_sentences(STORY)), []
    at = 0
    for sentence in before:  # sentences keep their length, so their places are known
        start = STORY.index(sentence, at)
        at = start + len(sentence)
        after.append(copy.text[start:at])
    assert [Counter(words(s)) for s in after] == [Counter(words(s)) for s in before]
    between_words = re.compile(r"[^\w'.]+")
    assert list(map(between_words.findall, after)) == list(map(between_words.findall, before))


def test_sentences_change_places():
    copies = [copied("shuffled-sentences", seed=seed).passage.text for seed in range(8)]
    sentences = sorted(STORY[a:b] for a, b in split_sentences(STORY))
    assert len(set(copies)) > 3
    for text in copies:
        assert len(text) == len(STORY)
        assert all(sentence in text for sentence in sentences)


def test_the_datasets_own_sentences_move_along():
    text = "One fox. Two hens! Three"
    dataset = one(passage=text, sentences=[[0, 8], [9, 18], [19, 24]], meta={"sentences_used": [1]})
    for seed in range(5):
        question = copied("shuffled-sentences", dataset, seed=seed)
        marks = question.passage.sentences
        assert marks is not None
        sentences = cut(question.passage.text, marks)
        assert sorted(sentences) == ["One fox.", "Three", "Two hens!"]
        assert "sentences_used" not in question.meta
    shorter = copied("no-content-words", dataset)
    assert cut(shorter.passage.text, shorter.passage.sentences or ()) == [".", "!"]


def test_labels_of_speakers_stay():
    dialogue = "W: Did you see the red train?\nM: No, I slept.\nW: What a pity."
    for name in ("shuffled-words", "shuffled-sentences", "no-content-words"):
        text = copied(name, one(passage=dialogue), seed=1).passage.text
        assert [line[:2] for line in text.split("\n")] == ["W:", "M:", "W:"]


def test_only_sentences_with_words_of_the_question_are_left():
    question = copied("matching-sentences", one("Who said that it was COLD?"))
    assert question.passage.text == "\"Don't drink!\" said Nora's hen. It was 3.5 degrees cold."
    assert question.passage.id == "p/q"
    assert question.meta_value("original_passage") == "p"
    assert copied("matching-sentences", one("Why is he there?")).passage.text == ""


def test_codes_are_equal_where_words_are():
    dataset = one(
        "Was the FOX thirsty, or the zebra?",
        candidates=["the fox", "Nora's zebra", "at the river"],
        gold=1,
    )
    question = copied("anonymous-words", dataset)
    original_words = words(STORY.replace("Nora's", "Nora"))
    codes = words(question.passage.text.replace("'s", ""))
    code = dict(zip(original_words, codes, strict=True))
    fox, nora, river = (f"@{code[word]}" for word in ("fox", "Nora", "river"))
    assert (
        len({code[word] for word in ("fox", "Nora", "hen", "river", "thirsty", "cold", "3.5")}) == 7
    )
    assert question.passage.text.startswith("The @word")
    zebra = re.search(r"or the (@word\d+)", question.text)
    assert zebra is not None
    assert question.text == f"Was the {fox} @{code['thirsty']}, or the {zebra[1]}?"
    expected = f"the {fox}", f"{nora}'s {zebra[1]}", f"at the {river}"
    assert candidate_texts(question.candidates) == expected
    assert zebra[1] not in question.passage.text
    assert question.gold == frozenset({1})


def test_codes_of_spans_reach_their_gold():
    row = {
        "id": "q",
        "passage": "Ann Lee saw an owl.",
        "question": "Who?",
        "gold": ["Ann Lee"],
        "task": "span",
    }
    question = perturb_dataset(from_rows([row]), "anonymous-words")[0]
    assert question.gold_texts[0] in question.passage.text
    assert re.fullmatch(r"@word\d @word\d", question.gold_texts[0])


def test_another_passage_is_of_similar_length_and_no_near_duplicate(simulated):
    dataset = simulated(Task.SINGLE_CHOICE, 0, n_passages=60, n_questions=2)
    passages = dataset.passages
    # The second half repeats the first half, but for one word.
    twins = {}
    for i, passage in enumerate(passages):
        twins[id(passage)] = replace(passage, text=f"{passages[i % 30].text} end{i}")
    dataset = Dataset([replace(q, passage=twins[id(q.passage)]) for q in dataset])
    text_of = {p.id: p.text for p in dataset.passages}
    copy = perturb_dataset(dataset, "other-passage")
    gaps = []
    for old, new in zip(dataset, copy, strict=True):
        donor = str(new.meta_value("other_passage"))
        assert (int(donor[1:]) - int(old.passage.id[1:])) % 30, "a near duplicate"
        assert new.passage.text == text_of[donor]
        assert new.passage.id == old.passage.id
        n_old, n_new = len(words(old.passage.text)), len(words(new.passage.text))
        gaps.append(abs(n_new - n_old))
    lengths = [len(words(p.text)) for p in dataset.passages]
    assert np.mean(gaps) < np.std(lengths) / 2


def test_one_passage_has_no_other():
    with raises(UsageError, field="dataset"):
        perturb_dataset(one(), "other-passage")


def test_removed_texts_are_empty():
    assert copied("no-passage").passage.text == ""
    assert copied("no-passage").text
    only = copied("options-only")
    assert (only.passage.text, only.text) == ("", "")
    assert candidate_texts(only.candidates) == candidate_texts(one()[0].candidates)


# --------------------------------------------------------------------------------------------------
# All perturbations


@pytest.mark.parametrize("name", applying("single-choice"))
def test_copies_depend_on_the_seed_and_not_on_the_order_or_the_rest(name, sample):
    copy = perturb_dataset(sample, name, seed=1)
    assert [q.id for q in copy] == [q.id for q in sample]
    assert [q.gold for q in copy] == [q.gold for q in sample]
    assert all(len(q.candidates) == 4 for q in copy)
    reordered = perturb_dataset(Dataset(list(sample)[::-1]), name, seed=1)
    assert rows_by_id(reordered) == rows_by_id(copy)
    if name != "other-passage":  # which chooses among the passages that there are
        excerpt = perturb_dataset(sample[4:9], name, seed=1)
        assert rows_by_id(excerpt).items() <= rows_by_id(copy).items()
    differs = rows_by_id(perturb_dataset(sample, name, seed=2)) != rows_by_id(copy)
    assert differs == PERTURBATIONS[name].draws
    if name != "matching-sentences":
        assert len(copy.passages) == len(sample.passages)


def rows_by_id(dataset: Dataset) -> dict[str, str]:
    return {json.loads(line)["id"]: line for line in to_jsonl(dataset).splitlines()}


@pytest.mark.parametrize("task", TASKS)
def test_every_copy_can_be_written_and_read(task, tmp_path):
    dataset = sample_of(task)
    for name in applying(task):
        copy = perturb_dataset(dataset, name)
        path = tmp_path / f"{name}.jsonl"
        path.write_text(to_jsonl(copy), encoding="utf-8")
        assert load(path).fingerprint == copy.fingerprint


def test_the_splitter_finds_no_other_sentences_in_a_copy():
    passage = "Mr. Fox ran. He saw the U.S. Army! A hen, i.e. Nora, fled."
    for name in ("shuffled-words", "shuffled-sentences", "anonymous-words"):
        copy = copied(name, one(passage=passage), seed=1).passage
        assert copy.sentences is not None
        parts = cut(copy.text, copy.sentences)
        assert len(parts) == 3
        assert " ".join(parts) == copy.text


@pytest.mark.parametrize("name", applying("cloze"))
def test_mentions_stay_whole_and_in_place(name):
    for dataset in (mentioned(), load("sample:cloze")):
        copy = perturb_dataset(dataset, name, seed=2)
        for old, new in zip(dataset, copy, strict=True):
            assert len(new.candidates) == len(old.candidates)
            for before, after in zip(old.candidates, new.candidates, strict=True):
                assert new.passage.text[after.start : after.end] == after.text
                if name != "anonymous-words":
                    assert after.text == before.text
            accepted = [[c.text in q.gold_texts for c in q.candidates] for q in (old, new)]
            assert accepted[0] == accepted[1]


@pytest.mark.parametrize("task", ["cloze", "span"])
@pytest.mark.parametrize("name", ["other-passage", "no-passage", "options-only"])
def test_what_cannot_be_answered_is_refused(task, name):
    with raises(UsageError, field="perturbation", found=name):
        perturb_dataset(sample_of(task), name)


def test_spans_that_are_gone_are_counted():
    rows = [
        {
            "id": "a",
            "passage": "The fox ran. It rained.",
            "question": "Who ran?",
            "gold": ["fox"],
            "task": "span",
        },
        {
            "id": "b",
            "passage": "The hen ran. It rained.",
            "question": "Who was it?",
            "gold": ["It"],
            "task": "span",
        },
    ]
    dataset = from_rows(rows)
    notes = " ".join(perturb_dataset(dataset, "no-content-words").notes)
    assert "1 of 2 questions no longer have a right answer in the passage" in notes
    assert "a right answer" not in " ".join(perturb_dataset(dataset, "no-question").notes)


def test_unspaced_scripts_are_shuffled_by_characters():
    text = copied("shuffled-words", one(passage="狐狸跑了。母鸡看见了狐狸。")).passage.text
    assert text != "狐狸跑了。母鸡看见了狐狸。"
    assert Counter(text) == Counter("狐狸跑了。母鸡看见了狐狸。")
    assert text[4] == "。"


CHINESE = "去年 Super Bowl 50 冠军 野马队 (AFC)。 队长 \u00a0是 狐狸"


def test_blanks_stay_only_between_words_that_need_them():
    passage = Passage("p", CHINESE, ((0, 30), (31, 34), (35, len(CHINESE))))
    question = Question("q", passage, "谁 赢了？", (), ("Super Bowl 50 冠军", "狐狸"), Task.SPAN)
    copy = perturb_dataset(Dataset([question]), "no-blanks")[0]
    assert copy.passage.text == "去年Super Bowl 50冠军野马队(AFC)。队长是狐狸"
    assert copy.gold == ("Super Bowl 50冠军", "狐狸")
    assert cut(copy.passage.text, copy.passage.sentences) == [
        "去年Super Bowl 50冠军野马队(AFC)。",
        "队长",
        "是狐狸",
    ]
    assert copy.text == question.text


def test_borders_of_sentences_that_blanks_give_are_gone_with_them():
    thai = Question("q", Passage("p", "สวัสดี ครับ"), "ใคร", (), ("ครับ",), Task.SPAN)
    copy = perturb_dataset(Dataset([thai]), "no-blanks")[0].passage
    assert (copy.text, copy.sentences) == ("สวัสดีครับ", None)


def test_languages_keep_the_blanks_between_their_words():
    with raises(UsageError, field="dataset"):
        perturb_dataset(one(), "no-blanks")


PIECES = [
    "the",
    "Fox",
    "he's",
    "don't",
    "’s",
    "3.5",
    "é",
    "e\u0301",
    "猫が",
    "who",
    "Mr.",
    "@word3",
    "@placeholder",
    "_",
    ".",
    "!",
    " . ",
    '"',
    "-",
    " ",
    "\n",
    "\n\n",
    "\t",
    "\u200d",
    "W: ",
    "\nM: ",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(TEXTS, TEXTS, TEXTS, st.data())
def test_any_text_gives_copies_that_can_be_read(passage, question, option, data):
    def draw_place() -> tuple[int, int]:
        first, second = (data.draw(st.integers(0, len(passage))) for _ in range(2))
        return min(first, second), max(first, second)

    sentences = (draw_place(),) if data.draw(st.booleans()) else None
    shared = Passage("p", passage, sentences)
    places = [draw_place() for _ in range(3)]
    mentions = tuple(Candidate(passage[start:end], start, end) for start, end in places)
    choices = (Candidate(option), Candidate("fox"))
    of_task = {
        Task.CLOZE: (mentions, (mentions[0].text,)),
        Task.SINGLE_CHOICE: (choices, frozenset({0})),
    }
    task = data.draw(st.sampled_from(list(of_task)))
    query = f"{question} @placeholder" if task is Task.CLOZE else question
    dataset = Dataset([Question("q", shared, query, *of_task[task], task)])
    for name in applying(task):
        if name == "other-passage":
            continue
        copy = perturb_dataset(dataset, name)
        rows = [json.loads(line) for line in to_jsonl(copy).splitlines()]
        assert from_rows(rows).fingerprint == copy.fingerprint  # offsets and marks are checked


# --------------------------------------------------------------------------------------------------
# Systems on copies


def test_scores_are_those_of_the_copies(sample):
    names = ["shuffled-words", "no-question", "other-passage"]
    evaluation = evaluate_perturbed(sample, ["sw+d", "ir"], names, **FEW)
    for original in evaluation.originals:
        system = {"sw+d": "sw+d", "ir:passage": "ir"}[original.system]
        assert original.score == evaluate(sample, [system]).rows[0].metrics()["accuracy"]
    for score in evaluation.scores:
        system = {"sw+d": "sw+d", "ir:passage": "ir"}[score.system]
        seeds = range(2 if PERTURBATIONS[score.perturbation].draws else 1)
        copies = [perturb_dataset(sample, score.perturbation, seed=seed) for seed in seeds]
        expected = [evaluate(copy, [system]).rows[0].metrics()["accuracy"] for copy in copies]
        assert score.by_seed == pytest.approx(expected)
        assert score.score == pytest.approx(np.mean(expected))
        original = next(o.score for o in evaluation.originals if o.system == score.system)
        assert score.difference == pytest.approx(score.score - original)
        assert score.interval is not None
        assert score.interval.low <= score.difference + 1e-9
        assert score.interval.high >= score.difference - 1e-9


def test_systems_lose_nothing_that_they_do_not_use(sample):
    names = [
        "shuffled-question",
        "shuffled-words",
        "shuffled-sentences",
        "options-only",
        "no-passage",
    ]
    evaluation = evaluate_perturbed(sample, ["longest", "ir", "surface-lr"], names, cv=3, **FEW)
    lost = {(score.system, score.perturbation): score for score in evaluation.scores}
    for name in names:  # the longest option is the longest option
        assert lost["longest", name].difference == 0
        low, high = lost["longest", name].interval  # few questions: others could differ
        assert low == -high < 0
    # overlap of bags of words
    for name in ("shuffled-question", "shuffled-words", "shuffled-sentences"):
        assert lost["surface-lr", name].difference == 0
        # a sentence has the words it had
        assert lost["ir:passage", name].difference == pytest.approx(0)
    assert lost["ir:passage", "no-passage"].score == pytest.approx(1 / 4)  # all tie


@pytest.mark.parametrize("task", thinned(TASKS, 3))
def test_all_default_solvers_take_all_copies(task):
    from classic_rc.solvers.registry import DEFAULT_SOLVERS

    dataset = sample_of(task)
    evaluation = evaluate_perturbed(
        dataset, list(DEFAULT_SOLVERS[Task(task)]), intervals=20, seeds=1
    )
    assert set(evaluation.left_out) == set(PERTURBATIONS) - set(applying(task))
    measured = {(score.system, score.perturbation) for score in evaluation.scores}
    failed = {name for name in evaluation.errors if " on " in name}
    n_systems = len(evaluation.originals)
    assert len(measured) + len(failed) == n_systems * len(applying(task))
    # a model of texts without words
    assert failed <= {"ngram-lm on no-passage", "ngram-lm on options-only"}


def test_learners_keep_what_they_learned_from_the_original(simulated, leaks):
    # Right options have a telling word. A learner that was trained on codes cannot know it.
    dataset = simulated(Task.SINGLE_CHOICE, 1, leak=leaks["word"])
    names = ["anonymous-words", "no-passage"]
    solver = "surface-lr,inputs=candidates"
    original = evaluate_perturbed(dataset, [solver], names, cv=4, **FEW)
    codes, no_passage = original.scores
    assert original.originals[0].score > 0.4
    assert no_passage.difference == 0
    assert codes.difference < -0.1


def test_systems_that_learned_from_questions_have_both_values(sample):
    train = replace(sample[:12], name="train")
    uncopied = np.arange(len(sample)) >= 12
    names, systems = ["no-question", "shuffled-words"], ["sw+d", "surface-lr"]
    evaluation = evaluate_perturbed(sample, systems, names, train=train, **FEW)
    originals = {system_score.system: system_score.score for system_score in evaluation.originals}
    assert {*originals} == {
        name + suffix for name in systems for suffix in ("", ", without copies")
    }
    for row in evaluate(sample, systems, train=train).rows:
        assert originals[row.name] == row.metrics()["accuracy"]
        assert originals[f"{row.name}, without copies"] == row.metrics(uncopied)["accuracy"]
    copy = perturb_dataset(sample, "no-question")
    (expected,) = evaluate(copy, ["sw+d"]).rows
    (score,) = (
        system_score
        for system_score in evaluation.scores
        if (system_score.system, system_score.perturbation)
        == ("sw+d, without copies", "no-question")
    )
    assert score.score == pytest.approx(expected.metrics(uncopied)["accuracy"])
    assert any("without copies: only" in note for note in perturbation_table(evaluation).notes)
    apart = evaluate_perturbed(sample, ["surface-lr"], names[:1], cv=3, **FEW)
    assert not any("without copies" in system_score.system for system_score in apart.originals)


def test_training_data_is_not_perturbed(simulated):
    dataset, train = simulated(Task.SINGLE_CHOICE, 2), simulated(Task.SINGLE_CHOICE, 3)
    train = Dataset([replace(q, id=f"t{q.id}", passage=q.passage) for q in train], "train")
    name = "no-function-words"
    evaluation = evaluate_perturbed(dataset, ["surface-lr"], [name], train=train, **FEW)
    copy = perturb_dataset(dataset, name)
    of_copy = evaluate(copy, ["surface-lr"], train=train)
    assert evaluation.scores[0].score == of_copy.rows[0].metrics()["accuracy"]


def test_thresholds_are_those_of_the_original():
    dataset = load("sample:multiple-answer")
    evaluation = evaluate_perturbed(dataset, ["sw+d"], ["no-passage"], **FEW)
    assert evaluation.originals[0].tuned_on == "cv5"
    assert evaluation.scores[0].score == 0  # all scores are 0 and below every threshold
    assert "tuned thresholds are the original's" in " ".join(perturbation_table(evaluation).notes)


def test_folds_are_those_of_the_original(sample):
    # Without passages each question would be a group by itself, and questions of one passage in
    # different folds.
    evaluation = evaluate_perturbed(sample, ["surface-lr"], ["options-only"], cv=3, **FEW)
    assert not evaluation.errors
    original = FoldPlan(3).groups(sample).numbers
    copy = FoldPlan(3).groups(perturb_dataset(sample, "options-only")).numbers
    assert len(set(original)) == len(sample.passages) < len(set(copy))


@pytest.mark.parametrize("content", ["selected", "score"])
def test_files_of_predictions_answer_the_original_only(content, sample, tmp_path):
    answers = tmp_path / "answers.jsonl"
    rows = []
    for q in sample:
        for i in range(4):
            value = i == 0 if content == "selected" else i
            rows.append({"question_id": q.id, "candidate": i, content: value})
    answers.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    evaluation = evaluate_perturbed(
        sample, {"mine": str(answers), "sw": "sw"}, ["no-question"], **FEW
    )
    assert [original.system for original in evaluation.originals] == ["sw"]
    assert evaluation.errors["mine"].field == "systems"
    with raises(UsageError, field="systems"):
        evaluate_perturbed(sample, {"mine": str(answers)}, ["no-question"], **FEW)


def test_hidden_gold_and_no_seed(sample):
    with raises(UsageError, field="seeds"):
        evaluate_perturbed(sample, ["sw"], seeds=0)
    with raises(DataError, source="questions"):
        evaluate_perturbed(Dataset([replace(q, gold=None) for q in sample]), ["sw"])


# --------------------------------------------------------------------------------------------------
# lm-evaluation-harness


def test_a_task_of_single_choices(sample, tmp_path):
    copy = perturb_dataset(sample, "no-question")
    rows = [json.loads(line) for line in harness_rows(copy).splitlines()]
    assert [{row["gold"]} for row in rows] == [q.gold for q in sample]
    assert rows[0].keys() == {
        "id",
        "passage_id",
        "passage",
        "question",
        "task",
        "candidates",
        "gold",
    }
    path = tmp_path / "rows.jsonl"
    path.write_text(harness_rows(copy), encoding="utf-8")
    assert load(path).fingerprint == copy.fingerprint
    task = parse_yaml(harness_yaml(copy, "my task", "rows.jsonl"))
    assert task["task"] == "my_task"
    assert task["dataset_kwargs"] == {"data_files": {"test": "rows.jsonl"}}
    assert task["doc_to_text"] == "{{passage}}\nQuestion: {{question}}\nAnswer:"
    assert task["doc_to_choice"] in rows[0]
    assert task["doc_to_target"] in rows[0]


def test_a_row_for_each_option_if_several_may_be_right():
    dataset = load("sample:multiple-answer")
    rows = [json.loads(line) for line in harness_rows(dataset).splitlines()]
    assert len(rows) == sum(len(q.candidates) for q in dataset)
    is_gold = []
    for q in dataset:
        is_gold += [i in (q.gold or ()) for i in range(len(q.candidates))]
    assert [row["label"] for row in rows] == is_gold
    task = parse_yaml(harness_yaml(dataset, "several", "rows.jsonl"))
    assert task["doc_to_choice"] == ["no", "yes"]


def test_tasks_that_the_harness_cannot_take(sample):
    for task in ("cloze", "span"):
        with raises(UsageError, field="--format"):
            harness_rows(sample_of(task))
    with raises(DataError):
        harness_yaml(Dataset([replace(q, gold=None) for q in sample]), "hidden", "rows.jsonl")


def parse_yaml(text: str) -> dict:
    """Each line is a key and a JSON value, which YAML reads in the same way."""
    lines = [line.partition(": ") for line in text.splitlines() if not line.startswith("#")]
    parsed = {key: json.loads(value) for key, _, value in lines}
    try:
        import yaml
    except ImportError:
        return parsed
    assert yaml.safe_load(text) == parsed
    return parsed


# --------------------------------------------------------------------------------------------------
# Real data


def test_copies_of_record_keep_offsets_and_gold(shared_data):
    dataset = load(shared_data / "record" / "record_explorer_123.json")
    for name in applying("cloze"):
        copy = perturb_dataset(dataset, name)
        for old, new in zip(dataset, copy, strict=True):
            text = new.passage.text
            assert all(text[c.start : c.end] == c.text for c in new.candidates)
            was_gold = {c.text in old.gold_texts for c in old.candidates}
            is_gold = {c.text in new.gold_texts for c in new.candidates}
            assert was_gold == is_gold


def test_no_places_of_the_original_in_copies(shared_data):
    quoref = load(shared_data / "quoref" / "quoref-dev-v0.1.json")[:20]
    dream = load(shared_data / "dream" / "dev.json")[:20]
    for dataset, key in ((quoref, "spans"), (dream, "turns")):
        for name in ("shuffled-words", "matching-sentences", "anonymous-words"):
            copy = perturb_dataset(dataset, name)
            assert all(q.meta_value(key) is not None for q in dataset)
            assert all(q.meta_value(key) is None for q in copy)
        assert all(q.meta_value(key) is not None for q in perturb_dataset(dataset, "no-question"))
    spans = perturb_dataset(quoref, "anonymous-words")
    assert all(text in q.passage.text for q in spans for text in q.gold_texts)


def test_mc500_needs_its_questions_but_not_their_word_order(shared_data):
    dataset = load(shared_data / "mctest" / "mc500.dev.tsv")
    evaluation = evaluate_perturbed(
        dataset, ["sw+d"], ["shuffled-question", "no-question", "shuffled-words"]
    )
    lost = {score.perturbation: score for score in evaluation.scores}
    assert lost["shuffled-question"].difference == 0
    assert lost["no-question"].interval is not None
    assert lost["no-question"].interval.high < -0.1
    assert abs(lost["shuffled-words"].difference) < 0.06


def test_a_list_of_another_language_changes_nothing_and_says_so():
    rows = [
        {
            "passage": f"猫在第{i}家。",
            "question": "猫在哪里？",
            "candidates": ["家", "山"],
            "gold": 0,
        }
        for i in range(3)
    ]
    assert (
        "3 of 3 questions are as before"
        in perturb_dataset(from_rows(rows), "no-function-words").notes
    )
    assert not any(
        "as before" in note for note in perturb_dataset(from_rows(rows), "no-passage").notes
    )


def test_what_the_data_do_not_allow_is_left_out_unless_it_is_named():
    evaluation = evaluate_perturbed(one(), ["sw"], **FEW)
    assert "other-passage" in evaluation.left_out
    assert {score.perturbation for score in evaluation.scores} == set(PERTURBATIONS) - {
        "other-passage",
        "no-blanks",
    }
    with raises(UsageError, field="dataset"):
        evaluate_perturbed(one(), ["sw"], ["other-passage"], **FEW)
