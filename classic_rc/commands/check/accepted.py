"""Accepted findings: by the name that is printed, by id, or as JSON with the reason of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import inf
from typing import NamedTuple

from classic_rc.commands.check.cues import ORDER_NAMES, cue_pattern, finding_id, phrase
from classic_rc.commands.check.families import FIELD_NAME
from classic_rc.commands.check.feature_matrix import FeatureMatrix
from classic_rc.commands.check.option_arrays import OptionTable
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import read_text

_ADDITION = re.compile(r', and \d+ more like this$|(?:(?<="...")|(?<="..")|(?<=\w)) \(.*\)$')
"""What may follow the name of a feature in print: the number of similar findings, or examples."""


def read_accepted(path: str) -> dict[str, str]:
    """Read names or ids of findings: one per line without a reason, or a JSON list of objects with
    the reason of each. Lines that start with ``#`` are ignored.
    """
    text = read_text(path)
    if not text.lstrip().startswith(("[", "{")):
        lines = map(str.strip, text.splitlines())
        return {line: "" for line in lines if line and not line.startswith("#")}
    root = Node(parse_json(text, path), path)
    items = list(root.items("accepted") if isinstance(root.value, dict) else root.elements())
    return {item.text("id" if item.has("id") else "name"): item.text("reason") for item in items}


class EarlierFinding(NamedTuple):
    """A finding of an earlier check."""

    what: str  # in words
    n: float = inf  # how many of a defect or copy: more are a new finding


def read_baseline(path: str) -> dict[str, dict[str, EarlierFinding]]:
    """Read what an earlier check printed as JSON: by the name of the dataset, the cues by id and
    the kinds of defects and copies by what they say.
    """
    root = Node(parse_json(read_text(path), path), path)
    hint = "Write it with check --format json -o FILE"
    if not root.has("checks"):
        actual = describe_value(root.value)
        raise root.error("no baseline", found=actual, expected="what check printed", hint=hint)
    baselines: dict[str, dict[str, EarlierFinding]] = {}
    for check in root.items("checks"):
        if check.get("missing"):
            actual = ", ".join(check.texts("missing"))
            raise check.error("the check was interrupted", field="missing", found=actual, hint=hint)
        findings: dict[str, EarlierFinding] = {}
        name = check.child("dataset").text("name")
        if baselines.setdefault(name, findings) is not findings:
            raise check.error("several checks of one name", field="dataset", found=name, hint=hint)
        for cue in check.items("findings"):
            finding = EarlierFinding(phrase(cue.text("name")))
            findings |= dict.fromkeys(cue.text("id").split("+"), finding)
        for defect in check.items("defects"):
            what = defect.text("what")  # kinds of questions left out share a name
            findings[what] = EarlierFinding(what, defect.integer("count"))
    return baselines


def without_cues(features: FeatureMatrix, numbers: Iterable[int]) -> OptionTable | None:
    """Return the options without the cues that are parts of their texts; None if none is."""
    families, values = features.families, features.values
    cue_numbers = (j for j in numbers if j < len(features))
    texts = before = features.table.texts
    for j in cue_numbers:
        cue = cue_pattern(families[j], values[j])
        if cue is not None and families[j].how == "word":  # its blank goes too
            cue = re.compile(f" (?:{cue.pattern})|(?:{cue.pattern}) ?", cue.flags)
        texts = texts if cue is None else [cue.sub("", text) for text in texts]
    return None if texts is before else replace(features.table, texts=texts)


def _split(text: str) -> list[str]:
    """Return the names of a finding about several fields, or the ids that plus signs join."""
    if re.fullmatch(r"[0-9a-f]{8}(\+[0-9a-f]{8})*", text):
        return text.split("+")
    first, *others = text.split(', and the field "')
    return [first, *(FIELD_NAME.sub(f'field "{name}', first, count=1) for name in others)]


def match_accepted(
    features: FeatureMatrix, accepted: Mapping[str, str]
) -> tuple[list[int], dict[str, list[str]]]:
    """Return the features that are accepted by names or ids, and the nearest name of each name
    that is no feature's.
    """
    features_by_name: dict[str, list[int]] = {}
    for j in range(len(features) if accepted else 0):
        name = features.name(j)
        features_by_name.setdefault(name, []).append(j)
        if j >= features.n_sparse:
            features_by_name.setdefault(features.opposites[name], []).append(j)
    features_by_name |= {name: [j] for j, name in enumerate(ORDER_NAMES, len(features))}
    keys = {key: name for name in features_by_name for key in (phrase(name), finding_id(name))}
    numbers: list[int] = []
    unknown: dict[str, list[str]] = {}
    for text, name in ((key, name) for key in accepted for name in _split(key)):
        tried = (name, phrase(name), phrase(_ADDITION.sub("", name)))
        near = [key for key in tried if key in keys][:1]
        if not near and name.endswith("…"):  # a name that was too long for the table
            near = [key for key in keys if key.startswith(phrase(name[:-1]))]
        if len(near) == 1:
            numbers += features_by_name[keys[near[0]]]
        else:
            unknown[text] = near[:2] or get_close_matches(tried[-1], keys, 1)
    return numbers, unknown
