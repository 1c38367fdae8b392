"""The words of Chinese text: jieba's, whatever the text around them and the machine."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import unicodedata

import pytest

from classic_rc.errors import DataError, MissingPackageError
from classic_rc.text import segmenters
from classic_rc.text.analyzers import get_analyzer
from tests.errors import raises
from tests.text.builders import texts_at
from tests.text.conftest import REASON

TEXT = "她昨天在北京大学看见3个iPhone手机，Don’t pay 3.50！"
WORDS = [
    "她",
    "昨天",
    "在",
    "北京大学",
    "看见",
    "3",
    "个",
    "iphone",
    "手机",
    "don't",
    "pay",
    "3.50",
]


def test_han_is_cut_into_words_and_other_text_as_in_char():
    pytest.importorskip("jieba", reason=REASON)
    assert get_analyzer("jieba").analyze(TEXT) == WORDS
    assert get_analyzer("jieba+cased").analyze(TEXT)[7] == "iPhone"
    kana = "タワーへ行きます"
    assert get_analyzer("jieba").analyze(kana) == get_analyzer("char").analyze(kana)


def test_words_are_found_at_their_places_in_unnormalised_text():
    pytest.importorskip("jieba", reason=REASON)
    # an ideograph with its variant, and one that NFC replaces
    text = "去\u5317\U000e0100\u4eac大学\uf98e年"
    located = get_analyzer("jieba").locate(text)
    assert [text[start:end] for _, start, end in located] == [
        "去",
        "北\U000e0100京大学",
        "\uf98e",
        "年",
    ]
    assert [word for word, _, _ in located] == get_analyzer("jieba").analyze(text)
    assert located[2][0] == "\u5e74"


def test_the_version_is_signed():
    jieba = pytest.importorskip("jieba", reason=REASON)
    assert get_analyzer("jieba+cased").signature == f"jieba-{jieba.__version__}+cased"
    assert get_analyzer("char").signature == "char"


def test_words_of_the_users_own_change_nothing():
    jieba = pytest.importorskip("jieba", reason=REASON)
    before = get_analyzer("jieba").analyze("阅读理解基线")
    jieba.setLogLevel("ERROR")
    jieba.add_word("阅读理解基线")
    assert jieba.lcut("阅读理解基线") == ["阅读理解基线"]
    assert get_analyzer("jieba").analyze("阅读理解基线") == before != ["阅读理解基线"]


def test_jieba_is_imported_on_use_without_a_word_or_a_file(tmp_path):
    pytest.importorskip("jieba", reason=REASON)
    code = (
        "import sys, classic_rc; from classic_rc.text import get_analyzer; analyzer = "
        "get_analyzer('jieba');assert 'jieba' not in sys.modules; "
        "print(analyzer.analyze('我去北京大学'))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        capture_output=True,
        check=True,
        env=environment,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr) == ("['我', '去', '北京大学']\n", "")
    assert list(tmp_path.iterdir()) == []


def test_without_jieba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(segmenters.JiebaTokenizer, "packages", ("absent-jieba",))
    with raises(MissingPackageError, package="absent-jieba") as caught:
        get_analyzer("jieba")
    assert "pip install 'classic_rc[zh]'" in str(caught.value)


EXTRAS = {
    "fugashi": (("fugashi", "unidic_lite"), "ja", "狐は「東京タワー」で20羽の烏を見た。"),
    "kiwi": (("kiwipiepy",), "ko", "여우가 1989년 강가에서(江) 까마귀를 만났다."),
    "newmm": (("pythainlp",), "th", "สุนัขจิ้งจอก(หมา)พบอีกา 3 ตัวที่แม่น้ำ"),
}


@pytest.mark.parametrize("name", EXTRAS)
def test_words_of_a_dictionary_are_those_of_the_text(name):
    packages, extra, text = EXTRAS[name]
    for package in packages:
        pytest.importorskip(package, reason=f"needs the extra {extra}")
    analyzer = get_analyzer(f"{name}+cased")
    words = [text[start:end] for _, start, end in analyzer.locate(text)]
    assert words == analyzer.analyze(text)
    letters = [character for character in text if get_analyzer("char").analyze(character)]
    assert [c for c in "".join(words) if c in letters] == letters
    assert max(map(len, words)) < 13
    assert len(words) < len(get_analyzer("syllable").analyze(text))
    assert analyzer.signature.startswith(f"{name}-{importlib.metadata.version(packages[0])}")
    decomposed = unicodedata.normalize("NFD", text)
    assert analyzer.analyze(decomposed) == words
    places = [place for _, *place in analyzer.locate(decomposed)]
    letters = "".join(texts_at(decomposed, places))
    assert letters == unicodedata.normalize("NFD", "".join(words))


class Shouting(segmenters.DictionaryTokenizer):
    """Returns what is not in the text."""

    name, script, packages, extra = "shouting", segmenters.HANGUL, ("numpy",), "ko"

    def cut(self, run):
        return [run, "!"]


def test_words_that_are_not_in_the_text_are_refused():
    with raises(DataError, found="'여우가 !'"):
        Shouting().locate("여우가 fox")


def test_syllables_keep_their_vowels_and_lower_consonants():
    analyze = get_analyzer("syllable").analyze
    assert analyze("เป็นน้ำ") == ["เป็", "น", "น้ำ"]
    assert analyze("ភាសាខ្មែរ") == ["ភា", "សា", "ខ្មែ", "រ"]
    assert analyze("여우 fox 狐狸") == ["여", "우", "fox", "狐", "狸"]
