"""The readers of cloze datasets: ReCoRD, CNN and Daily Mail, and the Children's Book Test."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from classic_rc.datasets.base import Origin, Reader, has_path, join_parts
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.splits import find_split_name
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, Question, Task, TextCandidates

# --------------------------------------------------------------------------------------------------
# ReCoRD.


class ReCoRDReader(Reader):
    """ReCoRD: news passages with entity mentions, and queries with one missing entity.

    The candidates are the mentions in the file's order, including equal texts (``end`` is inclusive
    in the files and exclusive here). The passage's text is unchanged and includes the
    ``@highlight`` lines. Gold is the accepted texts, each once; it is hidden if the file has no
    answer. In SuperGLUE's form the ids are the ``idx`` of passage and query, and the query's is
    ``meta["idx"]`` too.
    """

    name = "record"
    published_as = "ReCoRD"
    title = "ReCoRD"
    description = "News cloze queries over entity mentions: original JSON or SuperGLUE JSON lines."
    citation = (
        "Zhang, Liu, Liu, Gao, Duh and Van Durme 2018, ReCoRD: Bridging the Gap between Human and "
        "Machine Commonsense Reading Comprehension, arXiv:1810.12885"
    )
    cites = ("zhang2018",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the entries have queries and a passage with entities."""
        entry = ("data", 0) if has_path(file.head, "data", 0) else ()
        paths = ("qas",), ("passage", "entities")
        return all(has_path(file.head, *entry, *path) for path in paths)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the queries of every passage."""
        is_original = isinstance(file.head, dict) and "data" in file.head
        for entry in file.root().items("data") if is_original else file.records(reading.guard):
            with reading.at(entry):
                yield from _read_entry(entry, "id" if is_original else "idx", file, reading)


def _read_entry(entry: Node, key: str, file: InputFile, reading: Reading) -> Iterator[Question]:
    content = entry.child("passage")
    text = content.text("text")
    passage = reading.passage(entry.name(key), text, file.name, entry.where)
    mentions = tuple(_read_mention(node, text) for node in content.items("entities"))
    if not mentions:
        raise content.error(
            "no candidates", field="entities", found="an empty list", expected="at least one entity"
        )
    for node in entry.items("qas"):
        with reading.at(node):
            query = node.text("query")
            if PLACEHOLDER not in query:
                raise node.error(
                    "no placeholder in the query",
                    field="query",
                    found=describe_value(query),
                    expected=PLACEHOLDER,
                )
            answers = [a.text("text") for a in node.items("answers")] if node.has("answers") else []
            gold = tuple(dict.fromkeys(answers)) or None
            meta = reading.meta() if key == "id" else reading.meta(idx=node.name(key))
            yield Question(node.name(key), passage, query, mentions, gold, Task.CLOZE, meta)


def _read_mention(node: Node, text: str) -> Candidate:
    start, end = node.integer("start"), node.integer("end") + 1
    if 0 <= start < end <= len(text):
        return Candidate(text[start:end], start, end)
    raise node.error(
        "mention outside the passage",
        found=f"{start} to {end - 1}",
        expected=f"offsets from 0 to {len(text) - 1}",
    )


# --------------------------------------------------------------------------------------------------
# CNN and Daily Mail.


_ENTITY = re.compile(r"@entity\d+")
_TEXTS = ("URL", "passage", "query", "answer")  # with a blank line after each
_ENTITIES = 2 * len(_TEXTS)


class CNNDailyMailReader(Reader):
    """The ``.question`` files of Hermann et al. 2015: URL, passage, query, answer, entities, blank
    lines between.

    The path is one file, a folder of files (``cnn/questions/test``) or a tar archive. The
    candidates are the mentions ``@entityN`` in passage order, including equal ones. Gold is the
    marker of the answer. The question's ``meta["entities"]`` has the names of the markers, the
    passage's ``meta["url"]`` the address. A question's id is the file name without the extension.
    ``subset`` is ``cnn`` or ``dailymail``, the name of a folder above the file.
    """

    name = "cnn-dailymail"
    title = "CNN and Daily Mail"
    description = (
        "News cloze queries over anonymised entities: .question files with one query each."
    )
    citation = (
        "Hermann, Kočiský, Grefenstette, Espeholt, Kay, Suleyman and Blunsom 2015, Teaching "
        "Machines to Read and Comprehend, NIPS"
    )
    cites = ("hermann2015",)
    takes = frozenset({"subset"})
    is_one_dataset = True
    published_as = "CNN"

    def origin(self, question: Question, dataset: Dataset) -> Origin | None:
        """Return CNN or Daily Mail, by the article's address, and the split."""
        _, split = super().origin(question, dataset) or ("", None)
        return "Daily Mail" if "dailymail" in str(
            question.passage.meta.get("url", "")
        ) else "CNN", split

    def recognises(self, file: InputFile) -> bool:
        """Return whether text lines alternate with blank lines, the third text a query and the
        fourth an entity.
        """
        lines = file.first_text.split("\n", _ENTITIES)[:_ENTITIES]
        texts, blank_lines = lines[::2], lines[1::2]
        if len(texts) < len(_TEXTS) or any(map(str.strip, blank_lines)):
            return False
        *_, query, answer = texts
        return PLACEHOLDER in query and _ENTITY.fullmatch(answer.strip()) is not None

    def accepts(self, file: InputFile, reading: Reading) -> bool:
        """Return whether the name ends in ``.question``. Folders have 100,000 files; opening
        each is too slow.
        """
        return file.suffix == ".question"

    def split_of(self, file: InputFile) -> str | None:
        """Return the split in the name of the file's folder, or None."""
        return find_split_name(file.folders[-1]) if file.folders else None

    def subset_of(self, file: InputFile) -> str | None:
        """Return ``cnn`` or ``dailymail``, the name of the nearest such folder above the file,
        or None.
        """
        folders = (folder.lower() for folder in reversed(file.folders))
        return next((folder for folder in folders if folder in ("cnn", "dailymail")), None)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the one query of the file."""
        lines = [line.with_value(line.value.strip()) for line in file.line_nodes()]
        for line in lines[1:_ENTITIES:2]:
            if line.value:
                raise line.error(
                    "wrong line", found=describe_value(line.value), expected="a blank line"
                )
        texts = lines[:_ENTITIES:2]
        for i, name in enumerate(_TEXTS):
            if i >= len(texts) or not texts[i].value:
                place = Node(None, file.name, 2 * i + 1)
                raise place.error(
                    f"the {name} is missing", expected=f"the {name} between blank lines"
                )
        url, text, query, answer = (line.value for line in texts)
        matches = _ENTITY.finditer(text)
        mentions = tuple(Candidate(match.group(), *match.span()) for match in matches)
        _, passage_line, query_line, answer_line = texts
        is_entity = _ENTITY.fullmatch(answer)
        for line, is_right, problem, expected in (
            (query_line, PLACEHOLDER in query, "no placeholder in the query", PLACEHOLDER),
            (answer_line, is_entity, "gold is not an entity", "a marker such as @entity1"),
            (passage_line, mentions, "no candidates", "entities such as @entity1"),
        ):
            if not is_right:
                raise line.error(problem, found=describe_value(line.value), expected=expected)
        if answer not in {mention.text for mention in mentions}:
            reading.count("queries whose answer is not in the passage (kept)")
        passage = reading.passage(None, text, file.name, "line 3", meta={"url": url})
        facts = reading.meta(entities=_read_entities(lines[_ENTITIES:]))
        yield Question(file.stem, passage, query, mentions, (answer,), Task.CLOZE, facts)


def _read_entities(lines: list[Node]) -> dict[str, str]:
    names = {}
    for line in lines:
        marker, colon, name = line.value.partition(":")
        if not (colon and _ENTITY.fullmatch(marker)):
            raise line.error(
                "malformed entity", found=describe_value(line.value), expected="@entity1:Name"
            )
        names[marker] = name
    return names


# --------------------------------------------------------------------------------------------------
# The Children's Book Test.


_BLANK = "XXXXX"
_SENTENCES = 20
_CANDIDATES = 10
_QUERY_COLUMNS = "query, answer, an empty column and candidates, separated by tabs"


_NAME = re.compile(r"cbtest_(NE|CN|V|P)_", re.IGNORECASE)


class CBTReader(Reader):
    """The Children's Book Test: sentences numbered 1 to 20, then ``21
    query<TAB>answer<TAB><TAB>ten|candidates``.

    The passage is the twenty sentences, one per line; they are also its ``sentences``. ``XXXXX`` in
    the query becomes our placeholder. Candidates keep the file's order. Question n (from 1) of
    ``cbtest_NE_test_2500ex.txt`` has the id ``cbtest_NE_test_2500ex-n``. ``subset`` is the kind of
    the missing word in the file's name: ``NE``, ``CN``, ``V`` or ``P``; it is kept as
    ``meta["type"]``. Whole books without questions (``cbt_train.txt``) are skipped.
    """

    name = "cbt"
    published_as = "CBT"
    title = "Children's Book Test"
    description = "A missing word after twenty sentences of a children's book, with ten candidates."
    citation = (
        "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle: Reading Children's Books "
        "with Explicit Memory Representations, arXiv:1511.02301"
    )
    cites = ("hill2015",)
    takes = frozenset({"subset"})
    names_subset = True

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file starts with sentences numbered 1 to 20 and a query with
        candidates.
        """
        lines = file.first_text.lstrip("\n").split("\n", _SENTENCES + 1)[: _SENTENCES + 1]
        first_words = [line.partition(" ")[0] for line in lines]
        are_numbered = first_words == [str(number) for number in range(1, _SENTENCES + 2)]
        return are_numbered and _BLANK in lines[-1] and lines[-1].count("\t") == 3

    def subset_of(self, file: InputFile) -> str | None:
        """Return the kind of the missing word in the file's name, or None."""
        match = _NAME.match(file.base)
        return match[1].upper() if match else None

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one query per 21 lines."""
        kind = self.subset_of(file)
        facts = reading.meta() if kind is None else reading.meta(type=kind)
        for n, (*sentences, last) in enumerate(_read_blocks(file, reading), start=1):
            with reading.at(last.where, f"{file.stem}-{n}"):
                text, marks = join_parts([sentence.value for sentence in sentences], "\n")
                passage = reading.passage(None, text, file.name, last.where, marks)
                query, answer, candidates = _read_columns(last)
                if len(candidates) != _CANDIDATES:
                    reading.count("queries with more or fewer than ten candidates (kept)")
                query = query.replace(_BLANK, PLACEHOLDER)
                yield Question(
                    f"{file.stem}-{n}",
                    passage,
                    query,
                    TextCandidates(candidates),
                    (answer,),
                    Task.CLOZE,
                    facts,
                )


def _read_blocks(file: InputFile, reading: Reading) -> Iterator[list[Node]]:
    """Yield the 21 lines of each question without their numbers."""
    block: list[Node] = []
    is_damaged = False  # up to the next blank line
    lines = file.text.rstrip("\n").split("\n")
    for number, text in enumerate(itertools.chain(lines, [""]), start=1):
        line_number, _, content = text.partition(" ")
        line = Node(content.strip(" "), file.name, number)
        expected = str(len(block) + 1)
        if not text.strip():
            n_lines, block, is_damaged = len(block), [], False
            if n_lines:
                with reading.at(line.where):
                    raise line.error(
                        "incomplete question",
                        found=f"{n_lines} lines",
                        expected=f"{_SENTENCES + 1}",
                    )
        elif not is_damaged and line_number != expected:
            block, is_damaged = [], True
            with reading.at(line.where):
                raise line.error(
                    "wrong line number", found=describe_value(line_number), expected=expected
                )
        elif not is_damaged:
            block.append(line)
        if len(block) > _SENTENCES:
            yield block
            block = []


def _read_columns(line: Node) -> tuple[str, str, list[str]]:
    """Return the query, the answer and the candidates of a query's line."""
    columns = [column.strip() for column in line.value.split("\t")]
    if len(columns) != 4 or columns[2]:
        raise line.error(
            "malformed query line", found=describe_value(line.value), expected=_QUERY_COLUMNS
        )
    query, answer, _, listed = columns
    if _BLANK not in query:
        raise line.error(
            "no placeholder in the query", found=describe_value(query), expected=_BLANK
        )
    candidates = [candidate for candidate in listed.split("|") if candidate]
    if answer not in candidates:
        raise line.error(
            "gold is not among the candidates", found=describe_value(answer), expected=listed
        )
    return query, answer, candidates
