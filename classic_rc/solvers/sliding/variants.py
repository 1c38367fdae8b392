"""The published variants of sliding window and word distance: which unsaid choices make which number.

Bugs of published code live here, each named where it is reproduced; the solvers' defaults do the right thing.
"""

from __future__ import annotations

from classic_rc.decisions import Argmax
from classic_rc.solvers.base import Variant

_RELEASE = "the authors' released score files (partial credit for ties)"
_PAPER = "Richardson, Burges and Renshaw 2013, MCTest"
_PORT = "the public Python port mcobzarenco/mctest, the 'Baseline SW+D' of Sugawara et al. 2017 (AAAI), Table 3"
_DREAM = "Sun et al. 2019, DREAM, and the released dsw++/run.py"
_PORT_CITES = ("richardson2013", "sugawara2017")
_DREAM_CITES = ("richardson2013", "sun2019")

_MCTEST = {"analyzer": "mctest", "decision": Argmax(ties="partial")}
_COIN_FLIP = {"analyzer": "mctest", "decision": Argmax(ties="random")}
_MCOBZARENCO = {"analyzer": "mcobzarenco", "decision": Argmax(ties="first")}
_DREAM_TEXT = {"analyzer": "dream", "decision": Argmax(ties="first")}

_MCOBZARENCO_TEXT = (
    "case kept, stop words removed before everything, ties to the first option; its distance keeps the first "
    "pair it meets (a bug)"
)
_DREAM_TEXT_NOTE = "without the speaker focus, the dropped turns and the ConceptNet similarity of DSW++"

# The splits that the authors' distance weights were tuned on, by content fingerprint.
_MC160_DEV = {"965e7973287df919e25559a0416490fbafccb726309018470c1b949669964151": "mc160.dev"}
_MC500_DEV = {"7fba13a76aeade81e73f40766ac2e98dce076c733c000d43e8752380380778fa": "mc500.dev"}

WINDOW_VARIANTS = {
    "mctest": Variant(
        {**_MCTEST},
        "what the authors released: their tokenizer, a window of |S|, counts within the passage",
        f"{_RELEASE}, Baseline_SW",
    ),
    "richardson2013": Variant(
        {**_COIN_FLIP},
        "as the paper says: ties are broken by a coin flip, so its tables are one draw and not reproducible",
        f"{_PAPER}, Algorithm 1",
    ),
    "mcobzarenco": Variant(
        {**_MCOBZARENCO, "inverse_counts": "corpus"},
        f"counts over all passages of the file, {_MCOBZARENCO_TEXT}",
        _PORT,
        cites=_PORT_CITES,
    ),
    "dream": Variant({**_DREAM_TEXT}, f"the SW row of DREAM, {_DREAM_TEXT_NOTE}", _DREAM, cites=_DREAM_CITES),
    "race": Variant(
        {"analyzer": "treebank", "window": "tuned", "decision": Argmax(ties="partial")},
        "one window for all questions, tuned on a split; the paper leaves tokens, weights and ties unsaid, so "
        "its figures are not a target",
        "Lai et al. 2017, RACE, sliding window baseline",
        cites=("richardson2013", "lai2017"),
    ),
}

DISTANCE_VARIANTS = {
    "mctest": Variant(
        {**_MCTEST, "distance": "mean", "stop_words": "mctest"},
        "the distance as released: the mean over question words",
        f"{_RELEASE}, Baseline_SW_D",
    ),
    "richardson2013": Variant(
        {**_COIN_FLIP, "distance": "min", "stop_words": "mctest"},
        "the distance as printed: the least over question words",
        f"{_PAPER}, Algorithm 2",
    ),
    "mcobzarenco": Variant(
        {**_MCOBZARENCO, "distance": "first", "stop_words": "none"}, _MCOBZARENCO_TEXT, _PORT, cites=_PORT_CITES
    ),
    "dream": Variant(
        {**_DREAM_TEXT, "distance": "min+1", "stop_words": "nltk"},
        f"the least distance plus one step, {_DREAM_TEXT_NOTE}",
        _DREAM,
        cites=_DREAM_CITES,
    ),
}


def _both(name: str, weight: float, release: str, tuned_on: dict[str, str] | None = None) -> Variant:
    distance, window = DISTANCE_VARIANTS[name], WINDOW_VARIANTS[name]
    return Variant(
        {**window.params, **distance.params, "distance_weight": weight},
        f"{window.description}; {distance.description}; weight {weight:g}",
        release,
        tuned_on or {},
        window.cites,
    )


WINDOW_AND_DISTANCE_VARIANTS = {
    "mctest160": _both("mctest", 10.0, f"{_RELEASE}, Baseline_SW_D", _MC160_DEV),
    "mctest500": _both("mctest", 11.0, f"{_RELEASE}, Baseline_SW_D", _MC500_DEV),
    "richardson2013": _both(
        "richardson2013", 1.0, f"{_PAPER}, Algorithms 1 and 2; BaselineInPaper_SW_D as released"
    ),
    "mcobzarenco": _both("mcobzarenco", 1.0, _PORT),
    "dream": _both("dream", 1.0, _DREAM),
}
