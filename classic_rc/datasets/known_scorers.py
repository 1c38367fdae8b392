"""The scorers of a dataset of spans: its owner's if the dataset is known, else those that the
script of its passages proposes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Task
from classic_rc.text.languages import ENGLISH, dataset_language
from classic_rc.text.scorers import DEFAULT_SCORER, get_scorer
from classic_rc.text.scripts import dominant_script


@dataclass(frozen=True, slots=True)
class _Known:
    """How a known dataset is recognised: by its name, or by the form of all its ids, together with
    the script if other datasets have such ids too.
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
"""The proposed scorer of each script; SQuAD's is proposed for all others."""

_COUNTED_BY_CHARACTER = ("han", "japanese", "hangul", "thai", "lao", "khmer", "myanmar", "tibetan")


def with_scorers(dataset: Dataset, scorer: str | None = None) -> Dataset:
    """Return the dataset with the scorers of its span questions; others have none.

    Parameters
    ----------
    dataset : Dataset
    scorer : str, optional
        The scorers by name, joined by plus signs, the primary one first. By default a known dataset
        has its owner's scorer, and for any other dataset the script of the passages proposes one.
        If SQuAD's scorer does not fit the language, a second one that does is added.

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
    script = known_scorer = None
    if scorer is not None:
        names = dict.fromkeys(name.strip() for name in scorer.split("+"))
        scorers = tuple(get_scorer(name).name for name in names)
    else:
        script = dominant_script(passage.text for passage in dataset.passages)
        known_scorer = find_known_scorer(dataset, script)
        scorers = (known_scorer or _PROPOSED.get(script or "", DEFAULT_SCORER),)
        if scorers == (DEFAULT_SCORER,) and (fit := _find_fit(dataset, script)):
            scorers += (fit,)
    if scorers == (DEFAULT_SCORER,):
        return dataset
    is_proposed = scorer is None and known_scorer is None
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
    names_in_words = [
        " ".join(re.findall(r"[^\W_]+", name.lower())) for name in (dataset.name, *files)
    ]
    names = " | ".join(names_in_words)
    for owner_data in _KNOWN:
        if re.search(rf"\b(?:{owner_data.name})\b", names):
            return owner_data.scorer
    for owner_data in _KNOWN:
        pattern = re.compile(owner_data.ids)
        if owner_data.script in (None, script) and all(pattern.fullmatch(q.id) for q in dataset):
            return owner_data.scorer
    return None


def _find_fit(dataset: Dataset, script: str | None) -> str | None:
    """Return a second scorer if SQuAD's does not fit: blanks do not separate words, or the
    articles that it drops are not those of the language.
    """
    if script in _COUNTED_BY_CHARACTER:
        return "chars"
    is_foreign = script == "latin" and dataset_language(dataset) is not ENGLISH
    return "words" if is_foreign else None


def describe_scorers(dataset: Dataset) -> str | None:
    """Return which scorers a dataset has, in words; None for SQuAD's alone and for other tasks."""
    if not dataset.scorers:
        return None
    ending = " (proposed)" if dataset.scorers_proposed else ""
    return f"scorer {' and '.join(dataset.scorers)}{ending}"
