"""What a run warns of: languages without blanks, caveats of solvers, folds, and data and options
that nothing used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from classic_rc.datasets.registry import as_dataset
from classic_rc.questions import Dataset
from classic_rc.results.outcomes import Row
from classic_rc.running.fitted_system import FittedSystem
from classic_rc.running.plan import EvaluationPlan, fold_plan, unused_settings
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer, get_tokenizer
from classic_rc.text.languages import dataset_language
from classic_rc.text.spans import SpanGenerator
from classic_rc.text.tokenizers import unspaced_share

_EXAMINED_PASSAGES = 20
_EXAMINED_CHARACTERS = 1000
_LONG_WORD = 4
"""Characters of a word in a script without spaces: in none of them are words that long on
average.
"""


def data_warnings(dataset: Dataset, solvers: Sequence[Solver]) -> Iterator[str]:
    """Say in one line what the tokens are if blanks do not separate words."""
    language = dataset_language(dataset)
    tokenizers = {get_analyzer(s.analyzer).tokenizer for s in solvers if s.analyzer is not None}
    if language.analyzer not in ("char", "syllable"):
        return
    facts = []
    texts = [
        passage.text[:_EXAMINED_CHARACTERS] for passage in dataset.passages[:_EXAMINED_PASSAGES]
    ]
    if others := sorted(name for name in tokenizers if _leaves_sentences(name, texts)):
        facts.append(
            f"with the analyzer {', '.join(others)}, a token can be a whole sentence; use "
            f"analyzer={language.analyzer}"
        )
    elif language.analyzer in tokenizers:
        words = "; analyzer=jieba has Chinese words" if language.name == "Chinese" else ""
        facts.append(f"each character is a token (analyzer={language.analyzer}{words})")
    extra = language.missing_extra
    generator = SpanGenerator.of_language(language).signature.rpartition(",")[2]
    if extra and (dataset.span_generator or "").endswith(generator):
        facts.append(
            f"spans begin and end at any character: pip install 'classic_rc[{extra}]' for "
            f"those of {language.name} words"
        )
    if facts:
        yield (
            f"{dataset.name} is in {language.name}, where blanks are not between words: "
            f"{'; '.join(facts)}"
        )


def _leaves_sentences(tokenizer: str, texts: Sequence[str]) -> bool:
    """Return whether a tokenizer leaves runs of scripts without spaces in one token."""
    tokens = (token for text in texts for token in get_tokenizer(tokenizer).tokenize(text))
    lengths = [len(token) for token in tokens if unspaced_share([token]) > 0.5]
    return sum(lengths) > _LONG_WORD * len(lengths)


def fit_warnings(systems: Sequence[tuple[str, FittedSystem]]) -> Iterator[str]:
    """Yield each system's caveats once."""
    sentences = (f"{name}: {caveat}" for name, system in systems for caveat in system.caveats)
    yield from dict.fromkeys(sentences)


def saved_warnings(
    systems: Sequence[tuple[str, FittedSystem]], rows: Mapping[str, Row]
) -> Iterator[str]:
    """Say that `drop_overlap` does not change what solvers learned before this run."""
    for name, system in systems:
        if name in rows and system.fitted_solver.learned_before:
            has_copies = rows[name].copied is not None
            see = "; its value without copies is in the table" if has_copies else ""
            yield f"{name}: drop_overlap changes nothing that it learned before this run{see}"


def fold_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn if folds could not keep near duplicates together."""
    if any(system.uses_folds for system in systems):
        warning = fold_plan(plan.protocol).groups(plan.dataset).warning
        yield from [warning] if warning else []


def unused_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn about data and options that no solver used."""
    protocol = plan.separated
    train, tune = as_dataset(protocol.train), protocol.tune
    if not systems:
        return
    if train is not None and all(system.solver.learns_from == "nothing" for system in systems):
        yield f"training data {train.name} is not used: no solver here learns"
    cross_fitted = any(system.cross_fit for system in systems)
    if (
        protocol.cv is not None
        and not cross_fitted
        and all(s.solver.learns_from != "gold" for s in systems)
    ):
        yield (
            f"the {protocol.cv} folds are not used: no solver learns from gold or is tuned out of "
            "fold"
        )
    if tune is not None and all(system.tune is None for system in systems):
        yield f"tuning data {tune.name} is not used: no solver is tuned"
    for _, sentence in unused_settings(
        protocol, [s.decision for s in systems], [s.solver for s in systems]
    ):
        yield sentence
