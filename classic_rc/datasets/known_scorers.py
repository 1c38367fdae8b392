"""The scorers of a dataset of spans: its owner's if the dataset is known, else those that the
script of its passages proposes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Task
from classic_rc.text.scorers import DEFAULT_SCORER, get_scorer
from classic_rc.text.scripts import dominant_script


@dataclass(frozen=True, slots=True)
class _Known:
    """How questions with an owner's scorer are recognised: by the name of the data, or by all ids,
    in a script if the ids alone say too little.
    """

    scorer: str
    name: str
    ids: str = "(?!)"
    script: str | None = None


_KNOWN = (
    _Known("cmrc2018", r"cmrc", r"[A-Z]+_\d+_QUERY_\d+"),
    _Known("cmrc2018", r"drcd", r"\d+-\d+-\d+", "han"),
    _Known("dureader", r"dureader", r"[0-9a-f]{32}", "han"),
    _Known("mlqa_zh", r"mlqa( \w+)*? zh", r"[0-9a-f]{40}", "han"),
    _Known("mlqa_ar", r"mlqa( \w+)*? ar", r"[0-9a-f]{40}", "arabic"),
    _Known("mlqa_hi", r"mlqa( \w+)*? hi", r"[0-9a-f]{40}", "devanagari"),
    *(_Known(f"mlqa_{code}", rf"mlqa( \w+)*? {code}") for code in ("en", "es", "de", "vi")),
    _Known("korquad2", r"korquad ?v?2"),
    _Known("korquad1", r"korquad|squad kor", r"\d+-\d+-\d+", "hangul"),
    _Known("klue", r"klue", r"klue-mrc-.*"),
    _Known("jsquad", r"jsquad", r"a\d+p\d+q\d+"),
    _Known("arcd", r"arcd"),
    _Known("persianqa", r"persian ?qa|pqa"),
    # as SQuAD's own, XQuAD's, and those of translations
    _Known("squad", r"xquad|sberquad|squad ?it|viquad|indic ?qa", r"[0-9a-f]{24}"),
    _Known("squad", r"tydi ?qa", r"[a-z]+-+-?\d+-\d+"),
    _Known("squad", r"uit viquad", r"uit_.*"),
)

_PROPOSED = {
    "han": "cmrc2018",
    "japanese": "jsquad",
    "hangul": "korquad1",
    "arabic": "mlqa_ar",
    "devanagari": "mlqa_hi",
    "perso-arabic": "words",
    **dict.fromkeys(("thai", "lao", "khmer", "myanmar", "tibetan"), "chars"),
}
"""Scorers by script; those of other scripts is SQuAD's."""

_COUNTED_BY_CHARACTER = ("han", "japanese", "hangul", "thai", "lao", "khmer", "myanmar", "tibetan")

_LEAST_THE, _LEAST_WORDS = 0.01, 200
"""The share of ``the`` among the words of English, at least: usually a twentieth; and how many
words can tell.
"""


def with_scorers(dataset: Dataset, scorer: str | None = None) -> Dataset:
    """Return the dataset with the scorers of its span questions; others have none.

    Parameters
    ----------
    dataset : Dataset
    scorer : str, optional
        The scorers by name, joined by plus signs, the primary one first. None finds them: a known
        dataset has its owner's scorer, and the script of the passages proposes one otherwise. Where
        SQuAD's counts words that are none, one that fits is beside it.

    Raises
    ------
    UsageError
        A scorer is unknown, or these are not span questions.
    """
    if dataset.task is not Task.SPAN:
        if scorer is not None:
            raise UsageError(
                f"{dataset.name} does not accept scorer: it has {dataset.task} questions, not span "
                "questions",
                field="scorer",
                found=scorer,
                expected="None",
            )
        return dataset
    script = known = None
    if scorer is not None:
        names = dict.fromkeys(name.strip() for name in scorer.split("+"))
        scorers = tuple(get_scorer(name).name for name in names)
    else:
        script = dominant_script(passage.text for passage in dataset.passages)
        known = find_known_scorer(dataset, script)
        scorers = (known or _PROPOSED.get(script or "", DEFAULT_SCORER),)
        if scorers == (DEFAULT_SCORER,) and (fit := _find_fit(dataset, script)):
            scorers += (fit,)
    if scorers == (DEFAULT_SCORER,):
        return dataset
    is_proposed = scorer is None and known is None
    notes = dataset.notes
    if is_proposed:
        notes += (
            f"the scorer {scorers[0]} is proposed, because no scorer of this data is known and its "
            f"script is {script}: scorer=NAME chooses another (classic-rc list scorers)",
        )
    read_with = dataset.read_with
    if read_with is not None and not is_proposed:
        # the file of a record may have another name
        read_with = {**read_with, "scorer": "+".join(scorers)}
    questions = [replace(question, scorers=scorers) for question in dataset]
    return replace(
        dataset,
        questions=questions,
        notes=notes,
        read_with=read_with,
        scorers_proposed=is_proposed,
    )


def find_known_scorer(dataset: Dataset, script: str | None) -> str | None:
    """Return the scorer of the dataset's owner, or None."""
    files = [re.split(r"[\\/]", source.path)[-1] for source in dataset.sources]
    names = " | ".join(
        " ".join(re.findall(r"[^\W_]+", name.lower())) for name in (dataset.name, *files)
    )
    for known in _KNOWN:
        if re.search(rf"\b(?:{known.name})\b", names):
            return known.scorer
    for known in _KNOWN:
        pattern = re.compile(known.ids)
        if known.script in (None, script) and all(pattern.fullmatch(q.id) for q in dataset):
            return known.scorer
    return None


def _find_fit(dataset: Dataset, script: str | None) -> str | None:
    """Return the scorer that fits where SQuAD's does not: words are not between blanks, or English
    articles are words of another meaning.
    """
    if script in _COUNTED_BY_CHARACTER:
        return "chars"
    if script != "latin":
        return None
    n_words = n_articles = 0
    for passage in dataset.passages:
        words = passage.text[:_READ_CHARACTERS].lower().split()
        n_words += len(words)
        n_articles += words.count("the")
    is_foreign = n_words >= _LEAST_WORDS and n_articles < _LEAST_THE * n_words
    return "words" if is_foreign else None


_READ_CHARACTERS = 2000


def describe_scorers(dataset: Dataset) -> str | None:
    """Return which scorers a dataset has, in words; None for SQuAD's alone and for other tasks."""
    if not dataset.scorers:
        return None
    ending = " (proposed)" if dataset.scorers_proposed else ""
    return f"scorer {' and '.join(dataset.scorers)}{ending}"
