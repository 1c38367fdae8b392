"""Which script texts are written in."""

from __future__ import annotations

import random
import unicodedata

import pytest

from classic_rc.text.scripts import dominant_script

WRITTEN = {
    "latin": "Hội An là một thành phố; ＡＢＣ straße",
    "cyrillic": "Столица Болгарии — София, IBM",
    "greek": "Η Αθήνα είναι πρωτεύουσα",
    "arabic": "عاصمة مصر هي القاهرة",
    "perso-arabic": "تهران پایتخت ایران است",
    "hebrew": "ירושלים היא עיר הבירה",
    "devanagari": "दिल्ली भारत की राजधानी है",
    "bengali": "ঢাকা বাংলাদেশের রাজধানী",
    "thai": "กรุงเทพมหานครเป็นเมืองหลวง",
    "lao": "ວຽງຈັນເປັນນະຄອນຫຼວງ",
    "khmer": "ភ្នំពេញជារាជធានី",
    "myanmar": "ရန်ကုန်မြို့",
    "hangul": "서울은 大韓民國의 수도이다",
    "han": "北京是中华人民共和国的首都（1949年），ＧＤＰ",
    "japanese": "東京は日本国の首都である",
}


@pytest.mark.parametrize("script", WRITTEN)
def test_the_script_of_most_letters_is_that_of_the_text(script):
    assert dominant_script([WRITTEN[script]]) == script


def test_a_little_kana_does_not_make_a_chinese_text_japanese():
    chinese = "的一是不了人我在有他這為之大來以個中上們" * 4
    assert dominant_script([chinese, "の"]) == "han"
    assert dominant_script([chinese, "の" * 10]) == "japanese"
    assert dominant_script([chinese, "ﾃﾞｰﾀ" * 10]) == "japanese"


def test_decomposed_letters_belong_to_their_script():
    assert dominant_script([unicodedata.normalize("NFD", "한국")]) == "hangul"
    assert dominant_script(["e\u0301" * 3, "я"]) == "latin"


@pytest.mark.parametrize("texts", [[], [""], ["1,200 – 3 %", "。！ー"]])
def test_without_letters_there_is_none(texts):
    assert dominant_script(texts) is None


def test_the_order_of_the_texts_does_not_matter():
    texts = [text for script, text in WRITTEN.items() for _ in range(len(script))]
    scripts = {dominant_script(random.Random(seed).sample(texts, len(texts))) for seed in range(5)}
    assert len(scripts) == 1


def test_equal_counts_are_decided_by_name():
    assert dominant_script(["яя", "aa"]) == dominant_script(["aa", "яя"]) == "cyrillic"


def test_a_long_text_is_judged_by_all_of_it():
    page = "<html><body>" * 50 + WRITTEN["hangul"] * 200
    assert dominant_script([page]) == "hangul"
