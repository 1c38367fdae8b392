"""The fields of a user's own rows: which key has which role, paths into rows, and columns that
belong together.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.json import Node, parse_json
from classic_rc.io.values import option_texts, read_nested

ROLES = (
    "id",
    "passage",
    "passage_id",
    "question",
    "candidates",
    "gold",
    "task",
    "sentences",
    "meta",
    "annotators",
)
"""The roles of the values in a row."""

ANNOTATORS = ROLES[-1]
"""The key of a question's meta for the votes of its annotators: by name, each as gold is coded
inside (an index from 0, a list of all right indices, or a text), None if there is none.
"""

OWN_FIELDS = {role: role for role in ROLES[:-1]}
"""The fields of our own schema: each role is its own key. Votes are in its meta."""

CONSTANT = "const:"
"""The start of a path that is the value itself: ``const:no|yes`` gives each question these two
candidates.
"""

PROPOSAL_ROWS = 200
"""How many rows are looked at to propose fields."""

COLUMN_NAMES = {
    "passage": "passage context article text story paragraph document doc ctx premise support "
    "sent1 input",
    "question": "question query questionstem questiontext qstr stem q goal sent2 instruction",
    "candidates": "candidates options choices answerchoices answeroptions endings "
    "distractors wronganswers incorrectanswers",
    "gold": "gold answer answers label labels answerkey answeridx answerindex answerid "
    "correct correctanswer correctanswers correctoption goldlabel output",
    "id": "qid id questionid questionuniqueid queryid exampleid uid guid idx",
}
"""The names of columns that say which role they have, in lower case and without blanks and
signs.
"""

_VAGUE = ("doc", "input", "instruction", "output")
"""Those that count only without any other."""

_STEMS = (
    "candidate option opt op choice answer ans ending sol distractor wrong wronganswer "
    "incorrectanswer"
)
"""The names of columns with one option each, without their number or letter."""

_WRONG_OPTIONS = ("distractor", "wrong", "incorrect")
_LABEL_NAMES = ("label", "labels", "key", "letter", "id", "idx", "index", "option")
"""The names, in lower case, of members that label the options next to them."""

_MEMBER = re.compile(r"(.*?)([_ .-]?)([0-9]{1,4}|[A-Za-z])([).:\]]?)")
_LABEL = r"[(\[]?([A-Za-z]|[0-9]{1,2})[).:\]][ \t]*"
_LABELS = (re.compile(rf"^[ \t]*{_LABEL}", re.MULTILINE), re.compile(rf"(?:^|(?<=\s)){_LABEL}"))
"""The labels of options in one text: each on its own line, or anywhere after a blank."""
_FIRST_LABELS = ("A", "a", "0", "1")


def parse_fields(fields: str | Mapping[str, str]) -> dict[str, str]:
    """Return the paths of roles that a text says, a mapping, or a JSON object (for keys with
    commas).

    ``"passage=context,question=q.text,candidates=choices,gold=label"``: a path goes through objects
    by key and through lists by position (``"answers.0"``). A key after a list is looked up in each
    element (``"choices.text"``). A list whose elements are the questions of a row is marked
    (``"questions[].text"``, :func:`~classic_rc.datasets.nested_rows.split_rows`). A plus sign
    collects several values in a list (``"option_a+option_b"``), and names columns of votes
    (``"annotators=vote1+vote2"``). A number is a column of a table
    (``"#2"``). ``"const:no|yes"`` is the same list for all rows, and ``"const:"`` an
    empty text. For `task`, the name of a task means that task.

    Examples
    --------
    >>> parse_fields("passage=context,question=q.text")
    {'passage': 'context', 'question': 'q.text'}
    """
    if not isinstance(fields, str):
        pairs = list(fields.items())
    elif fields.lstrip().startswith("{"):
        pairs = list(_parse_json_fields(fields).items())
    else:
        parts = (
            assignment.partition("=")[::2] for assignment in fields.split(",") if assignment.strip()
        )
        pairs = [(role, path.strip()) for role, path in parts]
    parsed: dict[str, str] = {}
    for role, path in ((role.strip(), str(path)) for role, path in pairs):
        if role not in ROLES:
            raise unknown_name("field", role or str(fields), ROLES)
        if not path or role in parsed:
            raise UsageError(
                f"fields: {role!r} needs exactly one path, for example {role}=key.inner",
                field="fields",
                found=f"{role}={path}",
                expected=f"one path for {role}",
            )
        parsed[role] = path
    missing = " and ".join(role for role in ("passage", "question") if role not in parsed)
    if missing:
        raise UsageError(
            f"fields: no path for {missing}: write for example passage=context,question=q.text",
            field="fields",
            found=",".join(f"{role}={path}" for role, path in parsed.items()),
            expected=f"a path for {missing}",
        )
    votes = parsed.get(ANNOTATORS, "").split("+")
    for vote in votes:
        if vote == parsed.get("gold") or votes.count(vote) > 1:
            raise UsageError(
                f"fields: {vote!r} is not the vote of one annotator: it is named twice",
                field="fields",
                found=f"{ANNOTATORS}={parsed[ANNOTATORS]}",
                expected="each column of votes once, without gold",
            )
    return parsed


def format_fields(fields: Mapping[str, str]) -> str:
    """Return the text from which :func:`parse_fields` reads these fields; JSON if a path has a
    comma.

    Examples
    --------
    >>> format_fields({"passage": "context", "question": "q.text"})
    'passage=context,question=q.text'
    """
    text = ",".join(f"{role}={path}" for role, path in fields.items())
    is_plain = all("," not in path and path == path.strip() for path in fields.values())
    return text if is_plain else json.dumps(dict(fields))


def find_value(node: Node, path: str) -> Node | None:
    """Return the value at a path (see :func:`parse_fields`), or None if the row has no such key.

    Of values collected with plus signs, the last ones may be missing or empty: a question may have
    fewer options.

    Examples
    --------
    >>> row = Node({"q": {"choices": [{"text": "yes"}, {"text": "no"}]}}, "rows")
    >>> find_value(row, "q.choices.text").value, find_value(row, "q.choices.1.text").value
    (['yes', 'no'], 'no')
    >>> find_value(row, "q.label")
    """
    value = node.value
    if isinstance(value, dict) and path in value:  # The path itself may be a key that has dots.
        return node.at(path)
    if path.startswith(CONSTANT):
        constant = path.removeprefix(CONSTANT)
        collected: Any = constant.split("|") if "|" in constant else constant
    elif "+" in path:
        collected = []
        for member in (find_value(node, column) for column in split_path(path)):
            element = None if member is None else member.value
            collected += element if isinstance(element, list) else [element]
        while collected and collected[-1] in (None, ""):
            collected.pop()
        if not collected:
            return None
    else:
        key, _, rest = path.partition(".")
        inner = None
        if isinstance(value, dict):
            inner = node.at(key) if rest and key in value else None
        elif isinstance(value, (list, tuple)) and key.isascii() and key.isdigit():
            # int() refuses texts of thousands of digits.
            is_position = len(key) < 10 and int(key) < len(value)
            inner = node.at(int(key)) if is_position else None
        elif isinstance(value, (list, tuple)):
            parts = [find_value(element, path) for element in node.elements()]
            collected = [member.value for member in parts if member is not None]
            is_whole = len(collected) == len(parts)
            return Node(collected, node.source, None, node, path) if is_whole else None
        return find_value(inner, rest) if inner is not None and rest else inner
    return Node(collected, node.source, None, node, path)


def find_votes(row: Node, path: str) -> dict[str, Any]:
    """Return the votes at a path by the names of their columns, or of the members of one column;
    those of a list have numbers. A blank is no vote.

    Examples
    --------
    >>> find_votes(Node({"ann": "B", "bob": ""}, "rows"), "ann+bob")
    {'ann': 'B', 'bob': None}
    """
    columns = split_path(path, row)
    votes: dict[str, Any] = {}
    for name in columns:
        node = find_value(row, name)
        vote = node and node.value
        votes[name] = read_nested(vote) if isinstance(vote, str) else vote
    ballots = votes[columns[0]] if len(columns) == 1 else votes
    if isinstance(ballots, (list, tuple)):
        votes = {str(number): vote for number, vote in enumerate(ballots, 1)}
    elif isinstance(ballots, Mapping):
        votes = dict(ballots)
    for name, vote in votes.items():
        if isinstance(vote, str) and not vote.strip():
            votes[name] = None
    return votes


def find_values(rows: Iterable[Node], path: str) -> list[Any]:
    """Return the values at a path in the rows that have it."""
    return [node.value for row in rows if (node := find_value(row, path)) is not None]


def split_path(path: str, row: Node | None = None) -> list[str]:
    """Return the columns that a path collects with plus signs; a key of the row may have some."""
    is_key = row is not None and isinstance(row.value, dict) and path in row.value
    if is_key or path.startswith(CONSTANT):
        return [path]
    return [column.strip() for column in path.split("+")]


def find_paths(value: Any, before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return the paths of a row and their values."""
    members: Mapping[Any, Any] = value if isinstance(value, Mapping) else {}
    if is_list_of(value, Mapping):
        shared = set(value[0]).intersection(*value)
        shared_keys = [key for key in value[0] if key in shared]
        members = {key: [element[key] for element in value] for key in shared_keys}
    paths: dict[str, Any] = {}
    for key, element in members.items():
        path = f"{before}{key}"
        further = find_paths(element, f"{path}.", depth + 1) if depth < 3 else {}
        paths.update(further or {path: element})
    return paths


def find_families(names: Iterable[str]) -> list[list[str]]:
    """Return the groups of names that differ only in a number or a letter at their end, each in
    natural order.

    A bracket, a full stop or a colon may follow: ``(A)``. Numbers start at 0 or 1 and letters at A;
    a gap ends a group.

    Examples
    --------
    >>> find_families(["option2", "option10", "B", "option1", "A", "text"])
    [['option1', 'option2'], ['A', 'B']]
    """
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for name in names:
        if (match := _MEMBER.fullmatch(name)) and not name.startswith("#") and "+" not in name:
            prefix, separator, mark, end = match.groups()
            kind = "number" if mark.isdigit() else "upper" if mark.isupper() else "lower"
            position = int(mark) if mark.isdigit() else ord(mark.lower()) - ord("a") + 1
            groups.setdefault((kind, prefix, separator, end), {}).setdefault(position, name)
    families = []
    for members in groups.values():
        first = 0 if 0 in members else 1
        positions = itertools.takewhile(members.__contains__, itertools.count(first))
        families.append([members[position] for position in positions])
    return [family for family in families if len(family) > 1]


def find_whole_family(path: str, rows: Sequence[Node]) -> str | None:
    """Return the path of all columns of the family that a path takes in part or in another order,
    or None.

    The path is columns joined by plus signs. A column without a text in any row is not missed.
    """
    columns = split_path(path, *rows[:1])
    if len(columns) < 2:
        return None
    text_columns: dict[str, None] = {}
    for row in rows:
        for name, value in find_paths(row.value).items():
            if isinstance(value, str) and value.strip():
                text_columns[name] = None
    for family in find_families([*text_columns, *columns]):
        family_columns = [name for name in columns if name in family]
        if len(family_columns) > 1 and family_columns != family:
            first = columns.index(family_columns[0])
            others = [name for name in columns if name not in family]
            return "+".join([*others[:first], *family, *others[first:]])
    return None


def list_options(value: Any) -> Any:
    r"""Return the options in a value as a list of texts; a value with no options is returned
    unchanged.

    A text has options as a JSON or Python list, after labels (``A. red B. blue``), or between line
    ends, bars or semicolons; an object, as members ``A``, ``B``, … or as the list in its member
    ``text``.

    Examples
    --------
    >>> (
    ...     list_options("A) red\nB) blue"),
    ...     list_options("red|blue"),
    ...     list_options({"A": "red", "B": "blue"}),
    ... )
    (['red', 'blue'], ['red', 'blue'], ['red', 'blue'])
    """
    if isinstance(value, Mapping):
        for key in ("text", "texts"):
            if isinstance(value.get(key), list):
                return list_options(value[key])
        families = find_families(map(str, value))
        is_whole = [len(family) for family in families] == [len(value)]
        return list_options([value[name] for name in families[0]]) if is_whole else value
    if isinstance(value, (list, tuple)):
        are_numbers = all(type(element) in (int, float) for element in value)
        return option_texts(value) if are_numbers else value
    return (_split_options(value) or value) if isinstance(value, str) else value


def find_labels(row: Node, path: str, texts: Sequence[Any]) -> list[str] | None:
    """Return the labels of the options at a path, one for each option; None if they have no labels.

    Labels are a list or members of their own (``label``, ``key``) next to the texts, or the names
    of the columns or keys that have the texts.

    Examples
    --------
    >>> row = Node({"choices": [{"key": "B", "text": "red"}, {"key": "A", "text": "blue"}]}, "rows")
    >>> find_labels(row, "choices.text", ["red", "blue"])
    ['B', 'A']
    """
    columns, labels = split_path(path, row), list[Any]()
    if len(columns) > 1:
        labels = [column.rpartition(".")[2] for column in columns][: len(texts)]
    holder = path.rpartition(".")[0]
    for place in () if labels else (path, holder)[: 1 + bool(holder)]:
        for value in find_values([row], place):
            members = value[0] if is_list_of(value, Mapping) else value
            names = list(members) if isinstance(members, Mapping) else []
            keys = [name for name in names if str(name).lower() in _LABEL_NAMES]
            if keys and members is value:
                labels = value[keys[0]]
            elif keys:
                labels = [element.get(keys[0]) for element in value]
            elif place == path and members is value:
                labels = names
        if labels:
            break
    if path.startswith("#") or not isinstance(labels, list):
        return None
    if not {str, int}.issuperset(map(type, labels)):
        return None
    is_whole = 1 < len(set(labels)) == len(labels) == len(texts)
    return [str(label) for label in labels] if is_whole else None


def name_columns(rows: Sequence[Node]) -> dict[str, str]:
    """Return the fields that the names of columns say for certain.

    A role has a field if exactly one column has one of its usual names, and all values of this
    column fit the role. Columns of one family (``option1``, ``option2``, …) are candidates
    together. Without any column that may be the passage, questions have none.

    Examples
    --------
    >>> row = {
    ...     "context": "It rained.",
    ...     "q": {"text": "Did it?"},
    ...     "choices": ["no", "yes"],
    ...     "label": 1,
    ... }
    >>> name_columns([Node(row, "rows")])
    {'passage': 'context', 'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}
    >>> name_columns([Node({**row, "text": "It snowed."}, "rows")])
    {'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}
    """
    columns: dict[str, Any] = {}
    for row in rows:
        for name, value in _list_columns(row.value):
            if is_empty(columns.get(name)):
                columns[name] = value
    columns_of_roles = {
        role: [name for name in columns if _has_role(name, role)] for role in COLUMN_NAMES
    }
    for role, names in columns_of_roles.items():  # a question has its own, and shares the passage
        names = [name for name in names if ("[]" in name) != (role == "passage")] or names
        columns_of_roles[role] = [name for name in names if _fold(name) not in _VAGUE] or names
    families = find_families(name for name, value in columns.items() if isinstance(value, str))
    columns_of_roles["candidates"] += [
        "+".join(family) for family in families if _has_options(family[0])
    ]
    columns_of_roles["id"].sort(key=lambda name: COLUMN_NAMES["id"].split().index(_fold(name)))
    columns_of_roles["id"] += [
        name for name in columns if str(name).startswith("#")
    ]  # pandas' index
    fields = _find_flags([*columns_of_roles["gold"], *columns_of_roles["candidates"]], rows)
    for role, names in columns_of_roles.items():
        members = ("",) if role == "id" else ("", ".text", ".stem")
        paths = [name + member for name in names for member in members]
        fitting = [path for path in paths if _fits(role, path, rows)]
        if fitting and (role == "id" or len(names) == 1):
            fields.setdefault(role, fitting[0])
    if "candidates" not in fields and "question" in fields:
        texts = find_values(rows, fields["question"])
        if all(isinstance(text, str) and split_question(text) for text in texts):
            fields["candidates"] = fields["question"]
    if _fold(fields.get("candidates", "")).startswith(_WRONG_OPTIONS):
        wrong = fields.pop("candidates")
        if "gold" in fields:
            fields["candidates"] = f"{fields['gold']}+{wrong}"
    columns_with_role: set[str] = set()
    for path in itertools.chain.from_iterable(columns_of_roles.values()):
        columns_with_role.update((path, *split_path(path)))
    if not columns_of_roles["passage"] and columns_with_role >= columns.keys():
        fields["passage"] = CONSTANT
    return {role: fields[role] for role in (*COLUMN_NAMES, "task") if role in fields}


def _fits(role: str, path: str, rows: Sequence[Node]) -> bool:
    """Return whether the values at a path can have a role; ids are one for each row."""
    values = [value for value in find_values(rows, path) if not is_empty(value)]
    if role == "id":
        ids = {str(value) for value in values if isinstance(value, (str, int))}
        return len(ids) == len(rows)

    def fits(value: Any) -> bool:
        if role == "candidates":
            return is_list_of(list_options(value), str)
        may_be_list = role == "passage" and is_list_of(value, str)
        return role == "gold" or isinstance(value, str) or may_be_list

    return bool(values) and all(map(fits, values))


def _find_flags(paths: Sequence[str], rows: Sequence[Node]) -> dict[str, str]:
    """Return the fields of options that are objects with a text and a flag that says whether they
    are right.
    """
    for path in paths:
        lists = [value for value in find_values(rows, path) if isinstance(value, list)]
        options = list(itertools.chain.from_iterable(lists))
        if not is_list_of(options, Mapping) or not all("text" in option for option in options):
            continue
        flags = [name for name in options[0] if all(type(o.get(name)) is bool for o in options)]
        if len(flags) == 1:
            counts = {sum(option[flags[0]] for option in options) for options in lists}
            task = {"task": "single-choice"} if counts == {1} else {}
            return {"candidates": f"{path}.text", "gold": f"{path}.{flags[0]}", **task}
    return {}


def _list_columns(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the columns of a row, and those of the elements that it was split at."""
    for name, value in row.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping) and "[]" in "".join([name, *map(str, value)]):
            yield from _list_columns(value, f"{path}.")
        else:
            yield path, value


def is_question(name: str) -> bool:
    """Return whether a column has a usual name of questions; a list of them may have the plural."""
    return _has_role(name, "question")


def _has_role(name: str, role: str) -> bool:
    folded, names = _fold(name), COLUMN_NAMES[role].split()
    return folded in names or (name.endswith("[]") and folded.removesuffix("s") in names)


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name.rpartition("[].")[2].lower())


def _has_options(name: str) -> bool:
    """Return whether the first column of a family says that the family has options:
    ``option_a``, ``A``.
    """
    stem = re.sub(r"([0-9]+|[a-z])$", "", _fold(name))
    return stem in _STEMS.split() or (_fold(name) == "a" and name != "a")


def is_empty(value: Any) -> bool:
    """Return whether a value of a row says nothing."""
    return value is None or value in ("", [])


def is_list_of(value: Any, kind: type) -> bool:
    """Return whether a value is a list of at least one value of a type."""
    is_list = isinstance(value, (list, tuple)) and bool(value)
    return is_list and all(isinstance(element, kind) for element in value)


def _split_options(text: str) -> list[str] | None:
    text = text.strip()
    if text.startswith(("[", "{")):
        value = read_nested(text)
        options: Any = None if value is text else list_options(value)
        # One element may be several: Python joins the strings of a printed array, which has no
        # commas.
        return options if is_list_of(options, str) and len(options) > 1 else None
    for pattern in _LABELS:
        if labelled := _split_at_labels(text, pattern):
            return labelled
    for separator in ("\n", "||", "|", "\t", ";"):
        parts = [option.strip() for option in text.split(separator)]
        if len(parts) > 1 and all(parts):
            return parts
    return None


def split_question(text: str) -> tuple[str, list[str]] | None:
    r"""Return the question and the options of a text that ends with options, each on lines of its
    own after its label; None for other texts.

    Examples
    --------
    >>> split_question("What rose?\nA. the river\nB. rain")
    ('What rose?', ['the river', 'rain'])
    """
    starts = [label.start() for label in _LABELS[0].finditer(text) if label[1] in _FIRST_LABELS]
    for start in reversed(starts):
        options = _split_at_labels(text[start:], _LABELS[0])
        if options and (question := text[:start].strip()):
            return question, options
    return None


def _split_at_labels(text: str, pattern: re.Pattern[str]) -> list[str] | None:
    """Return what follows each label (A, B, … or 1, 2, …) of a text that starts with one; None
    for other texts.
    """
    matches = pattern.finditer(text)
    first = next(matches, None)
    if first is None or first.start() or first[1] not in _FIRST_LABELS:
        return None
    labels = [first]
    for match in matches:
        last = labels[-1][1]
        following = str(int(last) + 1) if last.isdigit() else chr(ord(last) + 1)
        if match[1] == following:
            labels.append(match)
    starts = [match.end() for match in labels]
    ends = [match.start() for match in labels[1:]] + [len(text)]
    options = [text[i:j].strip(" \t\n;,|") for i, j in zip(starts, ends, strict=True)]
    return options if len(options) > 1 and all(options) else None


def _parse_json_fields(text: str) -> dict[str, str]:
    try:
        value = parse_json(text, "--fields")
    except DataError:
        value = None
    if not isinstance(value, dict) or not all(isinstance(path, str) for path in value.values()):
        expected = 'a JSON object of texts, such as {"passage": "context", "question": "q"}'
        raise UsageError(
            f"fields: expected {expected}", field="fields", found=text[:60], expected=expected
        )
    return value
