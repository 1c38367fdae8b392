"""``--analyzer``: one analyzer for all systems but those that were given their own; words of
Chinese questions.
"""

from __future__ import annotations

import importlib.util
import json
import random

import pytest

from classic_rc.text.analyzers import get_analyzer

SAMPLE = "sample:single-choice"
needs_jieba = pytest.mark.skipif(
    importlib.util.find_spec("jieba") is None,
    reason="jieba is not installed: pip install 'classic_rc[zh]'",
)


def signatures(done):
    return {row["name"]: row["signature"] for row in done.json["runs"][0]["rows"]}


def run(cli, *args):
    done = cli("run", *args, "--format", "json")
    assert done.code == 0, done.err
    return done


def test_it_is_as_if_every_specification_had_it(cli):
    solvers = ("sliding-window", "lexical", "ir", "combination,solvers=[sw+d; ir]")
    with_analyzer = [f"{s},analyzer=word+porter" for s in solvers[:3]]
    with_analyzer.append("combination,solvers=[sw+d,analyzer=word+porter; ir,analyzer=word+porter]")
    options = [f"-s{solver}" for solver in solvers]
    at_once = run(cli, SAMPLE, *options, "--cv", 3, "--analyzer", "word+porter")
    options = [f"-s{solver}" for solver in with_analyzer]
    spelled_out = run(cli, SAMPLE, *options, "--cv", 3)
    assert list(signatures(at_once).values()) == list(signatures(spelled_out).values())
    expected = [row["metrics"] for row in spelled_out.rows]
    assert [row["metrics"] for row in at_once.rows] == expected


def test_variants_and_parameters_keep_their_own(cli):
    done = run(
        cli,
        SAMPLE,
        "-s",
        "sliding-window:mctest",
        "-s",
        "sw+d,analyzer=char",
        "-s",
        "ir",
        "--analyzer",
        "word",
    )
    params = [
        signature.split("analyzer:")[1].split("|")[0] for signature in signatures(done).values()
    ]
    assert params == ["mctest", "char", "word"]
    done = cli("run", SAMPLE, "-s", "longest", "--analyzer", "char")
    assert done.code == 0
    assert done.messages("warning", "'char' is not used")
    cli("predict", SAMPLE, "-s", "longest", "--analyzer", "char").fails(
        2, field="--analyzer", found="char"
    )
    cli("run", SAMPLE, "--analyzer", "chars").fails(2, field="analyzer", found="chars")


def test_other_commands_and_suites_have_it(cli, tmp_path):
    spec = "sw,analyzer=word+porter"
    for command in (["predict", SAMPLE, "--scores"], ["explain", SAMPLE, "lantern.1"]):
        printed = cli(*command, "-s", "sw", "--analyzer", "word+porter")
        assert (printed.code, printed.out) == (0, cli(*command, "-s", spec).out)
    assert (
        cli("predict", SAMPLE, "--scores", "-s", "sw").out
        != cli("predict", SAMPLE, "--scores", "-s", spec).out
    )
    models = [tmp_path / "one", tmp_path / "other"]
    assert cli("fit", SAMPLE, "-s", "surface-lr", "--analyzer", "char", "-o", models[0]).code == 0
    assert cli("fit", SAMPLE, "-s", "surface-lr,analyzer=char", "-o", models[1]).code == 0
    assert models[0].read_bytes() == models[1].read_bytes()
    compared = cli("compare", "--data", SAMPLE, "sw", "sw+d", "--analyzer", "char", "-v")
    assert compared.out.count("a:char") == 2
    suite = tmp_path / "suite.toml"
    cli("run", SAMPLE, "-s", "sw", "--analyzer", "char", "--format", "suite", "-o", suite)
    assert 'analyzer = "char"' in suite.read_text()
    assert cli("run", suite, "--save", tmp_path / "results", "-v").out.count("a:char") == 1


def test_a_recorded_run_has_the_same_analyzer(cli, tmp_path):
    assert cli("run", SAMPLE, "-s", "sw", "--analyzer", "char", "--save", tmp_path).code == 0
    assert cli("reproduce", tmp_path).code == 0


PEOPLE = "小明 小红 老师 医生 司机 奶奶 爸爸 妹妹 警察 农民".split()
PLACES = "学校 医院 公园 车站 图书馆 超市 邮局 银行 机场 海边".split()
THINGS = "苹果 雨伞 报纸 自行车 书包 手机 面包 牛奶 照相机 毛衣".split()
DEEDS = "买了 丢了 看见了 借来了 送出了".split()


@pytest.fixture
def chinese(tmp_path):
    """Stories of who did what where; the wrong options are elsewhere in the story."""
    rng, rows = random.Random(4), []
    for number in range(60):
        people, places, things = (rng.sample(words, 4) for words in (PEOPLE, PLACES, THINGS))
        deeds = [rng.choice(DEEDS) for _ in people]
        story = "".join(
            f"早上{who}在{where}{deed}一个{what}。"
            for who, where, deed, what in zip(people, places, deeds, things, strict=True)
        )
        place_number = rng.randrange(4)
        question = f"早上{people[place_number]}在哪里{deeds[place_number]}{things[place_number]}？"
        rows.append(
            {
                "id": str(number),
                "passage": story,
                "question": question,
                "candidates": places,
                "gold": place_number,
            }
        )
    path = tmp_path / "zh.jsonl"
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_characters_are_the_words_of_chinese_by_default(cli, chinese):
    done = run(cli, chinese, "-s", "word-distance")
    assert "analyzer:char" in next(iter(signatures(done).values()))
    assert cli("run", chinese, "-s", "word-distance").messages(
        "warning", "analyzer=char", "analyzer=jieba"
    )
    by_words = cli("run", chinese, "-s", "word-distance", "--analyzer", "word")
    assert by_words.messages("warning", "with the analyzer word, a token can be a whole sentence")


@needs_jieba
def test_words_answer_chinese_questions_as_characters_do(cli, chinese):
    score = {}
    for analyzer in ("char", "jieba", "word"):
        done = run(cli, chinese, "-s", "word-distance", "--analyzer", analyzer)
        assert get_analyzer(analyzer).signature in next(iter(signatures(done).values()))
        score[analyzer] = done.json["runs"][0]["rows"][0]["metrics"]["accuracy"]
    assert score["word"] == 0.25
    assert min(score["char"], score["jieba"]) > 0.9
    assert cli("run", chinese, "-s", "sw", "--analyzer", "jieba").messages("warning") == []
