"""Which scorers a dataset of spans has."""

from __future__ import annotations

import json

import pytest

from classic_rc import evaluate, load
from classic_rc.datasets import from_rows, join_datasets
from classic_rc.errors import UsageError
from classic_rc.metrics import metrics_for, primary_metric
from classic_rc.metrics.base import solved_metric
from classic_rc.results.record import runs_to_dict
from classic_rc.solvers import parse_solver, save_solver
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises

ENGLISH = "The owl sat on the roof of the old house and looked at the moon. " * 50
TEXTS = {
    "en": (ENGLISH, "owl"),
    "de": ("Die Eule sitzt auf dem Dach und sieht den Mond an. " * 60, "Dach"),
    "vi": ("Con cú ngồi trên mái nhà ở Hội An và nhìn mặt trăng. " * 60, "Hội An"),
    "ru": ("Сова сидит на крыше и смотрит на луну.", "крыше"),
    "zh": ("猫头鹰坐在屋顶上，看着月亮。", "屋顶"),
    "ja": ("フクロウは屋根の上にいて、月を見ている。", "屋根"),
    "ko": ("올빼미는 지붕에 앉아 달을 본다.", "지붕"),
    "th": ("นกฮูกนั่งอยู่บนหลังคา", "หลังคา"),
    "ar": ("تجلس البومة على السطح", "السطح"),
    "fa": ("جغد روی پشت بام نشسته است", "پشت بام"),
    "hi": ("उल्लू छत पर बैठा है", "छत"),
    "km": ("សត្វទីទុយអង្គុយលើដំបូល", "ដំបូល"),
}


@pytest.fixture
def write(tmp_path):
    def squad_file(language, name="mine.json", id_="q-1", **question):
        text, answer = TEXTS[language]
        qa = {"id": id_, "question": "?", **question}
        qa["answers"] = [{"text": answer, "answer_start": text.index(answer)}]
        path = tmp_path / name
        data = {"data": [{"paragraphs": [{"context": text, "qas": [qa]}]}]}
        path.write_text(json.dumps(data), "utf-8")
        return path

    return squad_file


PROPOSED = {
    "zh": ("cmrc2018",),
    "ja": ("jsquad",),
    "ko": ("korquad1",),
    "th": ("chars",),
    "km": ("chars",),
    "ar": ("mlqa_ar",),
    "fa": ("words",),
    "hi": ("mlqa_hi",),
    "de": ("squad", "words"),
    "vi": ("squad", "words"),
}


@pytest.mark.parametrize("language", PROPOSED)
def test_the_script_of_the_passages_proposes_a_scorer(write, language):
    dataset = load(write(language))
    assert dataset.scorers == PROPOSED[language]
    assert dataset.scorers_proposed
    assert sum("is proposed" in note for note in dataset.notes) == 1


@pytest.mark.parametrize("language", ["en", "ru"])
def test_words_between_blanks_are_compared_as_in_squad(write, language):
    dataset = load(write(language))
    assert (dataset.scorers, dataset.scorers_proposed) == ((), False)
    assert [metric.name for metric in metrics_for(dataset)] == ["em", "f1"]


def test_gold_plays_no_part(write):
    path = write("ja")
    with_gold = load(path).scorers
    plain = json.loads(path.read_text("utf-8"))
    for qa in plain["data"][0]["paragraphs"][0]["qas"]:
        del qa["answers"]
    path.write_text(json.dumps(plain), "utf-8")
    assert load(path).scorers == with_gold


KNOWN = [
    ("zh", "xquad.zh.json", "q", ("squad", "chars")),
    ("th", "mine.json", "56beb4343aeaaa14008c925b", ("squad", "chars")),
    ("vi", "viquad-dev.json", "q", ("squad", "words")),
    ("ru", "sberquad.json", "q", ()),
    ("zh", "DRCD_dev.json", "q", ("cmrc2018",)),
    ("zh", "mine.json", "1147-5-1", ("cmrc2018",)),
    ("ko", "mine.json", "6566495-0-0", ("korquad1",)),
    ("zh", "mine.json", "DEV_0_QUERY_0", ("cmrc2018",)),
    ("zh", "dureader_robust-dev.json", "q", ("dureader",)),
    ("zh", "mlqa-dev-context-zh-question-en.json", "q", ("mlqa_zh",)),
    ("de", "mlqa.de.json", "q", ("mlqa_de",)),
    ("ko", "KorQuAD_2.1_dev.json", "q", ("korquad2",)),
    ("ko", "KorQuAD_v1.0_dev.json", "q", ("korquad1",)),
    ("ko", "mine.json", "klue-mrc-v1_dev_01891", ("klue",)),
    ("ja", "mine.json", "a10336p0q0", ("jsquad",)),
    ("ar", "arcd-test.json", "q", ("arcd",)),
    ("ar", "xquad.ar.json", "q", ()),
    ("fa", "pqa_test.json", "q", ("persianqa",)),
    ("ko", "tydiqa-goldp-dev-korean.json", "q", ("squad", "chars")),
]


@pytest.mark.parametrize(("language", "name", "id_", "scorers"), KNOWN)
def test_a_known_dataset_has_its_owners_scorer(write, language, name, id_, scorers):
    dataset = load(write(language, name, id_))
    assert dataset.scorers == scorers
    assert not dataset.scorers_proposed


def test_whoever_reads_the_data_chooses(write):
    path = write("zh", "drcd.json")
    dataset = load(f"{path},scorer=mlqa_zh + chars")
    assert dataset.scorers == load(path, scorer="mlqa_zh+chars").scorers == ("mlqa_zh", "chars")
    assert load(f"{path},scorer=squad").scorers == ()
    with raises(UsageError, field="scorer", found="cmrc", expected="cmrc2018"):
        load(path, scorer="cmrc")
    with raises(UsageError, field="scorer", found="klue"):
        load("sample:cloze", scorer="klue")


def test_metrics_are_those_of_the_scorers(write):
    dataset = load(write("th", "xquad.th.json"))
    names = [metric.name for metric in metrics_for(dataset)]
    assert names == ["em", "f1", "chars_em", "chars_f1"]
    assert primary_metric(dataset).name == "f1"
    dataset = load(write("ja"))
    assert [metric.name for metric in metrics_for(dataset[0])] == ["jsquad_em", "jsquad_f1"]
    assert (solved_metric(dataset).name, primary_metric(dataset).name) == ("jsquad_em", "jsquad_f1")


def test_rows_in_memory_have_scorers_too():
    text, answer = TEXTS["ja"]
    row = {"id": "1", "context": text, "question": "?", "title": "t"}
    row["answers"] = {"text": [answer], "answer_start": [text.index(answer)]}
    assert from_rows([row]).scorers == ("jsquad",)
    assert from_rows([row], scorer="chars").scorers == ("chars",)


def test_results_name_the_scorer(write):
    dataset = load(write("ja"))
    evaluation = evaluate(dataset, ["random"])
    (run,) = runs_to_dict([evaluation])["runs"]
    assert run["dataset"]["scorers"] == ["jsquad"]
    assert run["dataset"]["scorers_proposed"]
    assert "scorer:jsquad" in evaluation.rows[0].signature.split("|")
    assert "scorer jsquad (proposed)" in str(evaluation)
    assert evaluation.rows[0].metrics().keys() == {"jsquad_em", "jsquad_f1"}


def test_another_metric_can_be_chosen(write):
    evaluation = evaluate(load(write("ja")), ["random"], metrics="chars_f1")
    assert evaluation.results.primary.name == "chars_f1"
    assert "chars_f1" in evaluation.rows[0].metrics()


def test_signatures_of_squad_are_as_they_were(write):
    evaluation = evaluate(load(write("en")), ["random"])
    assert "scorer" not in evaluation.rows[0].signature


def test_questions_of_two_scorers_are_not_one_result(write):
    joined = join_datasets([load(write("ja", "a.json", "1")), load(write("ko", "b.json", "2"))])
    with raises(UsageError, field="scorer", found="jsquad, korquad1"):
        evaluate(joined, ["random"])


def test_a_saved_solver_refuses_data_of_other_units(write, tmp_path):
    chinese = load(write("zh", "a.json"))
    candidates = chinese.with_candidates(SpanGenerator(tokenizer="char"), "characters")
    save_solver(parse_solver("span-ranker").fit(candidates), tmp_path / "ranker.npz")
    saved = parse_solver(f"saved,path={tmp_path / 'ranker.npz'}")
    assert evaluate(load(f"{write('zh', 'b.json')},scorer=mlqa_zh"), [saved]).rows
    with raises(UsageError, field="scorer", found="jsquad", expected="Chinese characters"):
        evaluate(load(write("ja", "c.json")), [saved])
