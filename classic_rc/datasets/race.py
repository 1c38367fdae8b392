"""The reader of RACE: one JSON file per article, in folders of splits and levels, or in the
official archive.
"""

from __future__ import annotations

from collections.abc import Iterator

from classic_rc.datasets.base import Reader
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.splits import find_split_name
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Question, Task, TextCandidates

_KEYS = {"article", "questions", "options", "answers", "id"}
_LEVELS = ("middle", "high")
_LETTERS = "ABCD"
_GOLD_OF_LETTER = {letter: frozenset((i,)) for i, letter in enumerate(_LETTERS)}


class RaceReader(Reader):
    """RACE in its official form: ``RACE/{train,dev,test}/{middle,high}/N.txt``, each a JSON object.

    The path is the archive (``.tar.gz``, read without unpacking it to disk), the folder ``RACE``,
    the folder of a split or a level, or one file. Splits and levels are in sorted order, articles
    in numeric order. A passage's id is the article's (``middle1011``); a question's id adds its
    position (``middle1011-0``). ``subset`` is the level, kept as ``meta["level"]``.
    """

    name = "race"
    published_as = "RACE"
    title = "RACE"
    description = "English examinations: a folder of JSON files, or the official tar.gz."
    citation = (
        "Lai, Xie, Liu, Yang and Hovy 2017, RACE: Large-scale ReAding Comprehension Dataset From "
        "Examinations, EMNLP"
    )
    cites = ("lai2017",)
    takes = frozenset({"subset"})
    is_one_dataset = True

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is one object with the five keys of a RACE article."""
        return isinstance(file.head, dict) and file.head.keys() >= _KEYS and file.is_one_value

    def files(self, source: InputFiles, reading: Reading) -> list[InputFile]:
        """Return the articles in the folders of levels, in numeric order."""
        if source.single:
            return [source.single]
        articles = [file for file in source.files if self._has_name_of_article(file)]
        if not articles:
            raise DataError(
                "no articles of RACE",
                source=source.path,
                expected="files such as train/middle/1.txt",
            )
        article_set = set(articles)
        reading.others = [f for f in source.files if f not in article_set]
        return articles

    def _has_name_of_article(self, file: InputFile) -> bool:
        is_numbered = file.suffix == ".txt" and file.stem.isdigit()
        return is_numbered and self.subset_of(file) is not None

    def split_of(self, file: InputFile) -> str | None:
        """Return the split, the name of the folder above the level's folder, or None."""
        if len(file.folders) < 2 or not self.subset_of(file):
            return None
        return find_split_name(file.folders[-2])

    def subset_of(self, file: InputFile) -> str | None:
        """Return the level, the name of the file's folder, or None."""
        return file.folders[-1] if file.folders and file.folders[-1] in _LEVELS else None

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of one article."""
        root = file.root()
        id, level = _read_id_and_level(root, file)
        article = root.text("article")
        questions, options, answers = (
            root.texts("questions"),
            root.sequence("options"),
            root.texts("answers"),
        )
        if not len(questions) == len(options) == len(answers):
            raise root.error(
                "lists of different lengths",
                found=f"{len(questions)} questions, {len(options)} options, {len(answers)} answers",
                expected="one of each for every question",
            )
        passage = reading.passage(id, article, file.name, "$.id")
        meta = reading.meta(level=level)
        texts = root.child("options")
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            own_id = f"{id}-{i}"
            with reading.at(f"$.questions[{i}]", own_id):
                choices = texts.texts(i)
                gold = _GOLD_OF_LETTER.get(answer)
                if gold is None or _LETTERS.index(answer) >= len(choices):
                    raise root.child("answers").error(
                        "gold is not an option",
                        field=f"[{i}]",
                        found=f"{describe_value(answer)} with {len(choices)} options",
                        expected="the letter of an option",
                    )
                yield Question(
                    own_id,
                    passage,
                    question,
                    TextCandidates(choices),
                    gold,
                    Task.SINGLE_CHOICE,
                    meta,
                )


def _read_id_and_level(root: Node, file: InputFile) -> tuple[str, str]:
    """Return the article's id and level, which must agree with the file's place."""
    article_id = root.text("id")
    name = article_id.removesuffix(".txt")
    stem = file.stem
    level = next((level for level in _LEVELS if name == f"{level}{stem}"), None)
    folder = file.folders[-1] if file.folders else None
    if level is None or (folder in _LEVELS and folder != level):
        levels = [folder] if folder in _LEVELS else _LEVELS
        expected = " or ".join(f"'{level}{file.base}'" for level in levels)
        raise root.error(
            "the id does not match the path",
            field="id",
            found=describe_value(article_id),
            expected=expected,
        )
    return name, level
