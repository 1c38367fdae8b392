"""Coverage and width of intervals of accuracy, on simulated questions whose accuracy is known.

``python -m benchmarks.interval_coverage`` prints every cell of the grid: how often the 95 %
interval of :func:`classic_rc.results.mean_intervals.mean_interval` holds the true accuracy, how
often it lies below and above it, its mean width in points, the coverage of the same bounds with the
true design effect, and the width relative to theirs. With ``--bootstrap`` it also prints by how
much the bounds differ from those of the percentile bootstrap, in points. It takes some minutes.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from classic_rc.results.mean_intervals import PRIOR_CORRELATION, PRIOR_ERRORS, mean_interval
from classic_rc.results.resampling import percentile_interval, resample_means

PASSAGES = (10, 20, 30, 50, 100, 300, 1000)
QUESTIONS = (1, 4, 15)  # a passage
ACCURACIES = (0.5, 0.7, 0.9, 0.95, 0.98, 0.998)
CORRELATIONS = (0.0, 0.1, 0.2, 0.5)  # of two questions about a passage

Floats = NDArray[np.float64]
Generator = Callable[[np.random.Generator, tuple[int, int], int, float, float], Floats]
LOWER, UPPER = 0.025, 0.975
_LIKELY = 6.0  # no standard normal variable is larger


class Setting(NamedTuple):
    """What a cell of the grid simulates."""

    passages: int
    questions: int
    accuracy: float
    correlation: float


class Cell(NamedTuple):
    """What was found, as shares and fractions."""

    setting: Setting
    coverage: float
    below: float  # intervals that lie below the true accuracy
    above: float
    width: float
    true_coverage: float  # of the same bounds with the true design effect
    relative_width: float


def settings(passages: tuple[int, ...] = PASSAGES) -> Iterator[Setting]:
    """Yield the cells of the grid; one question a passage has no correlation."""
    for setting in itertools.product(passages, QUESTIONS, ACCURACIES, CORRELATIONS):
        if setting[1] > 1 or setting[3] == 0:
            yield Setting(*setting)


def draw_beta_binomial(
    rng: np.random.Generator, shape: tuple[int, int], size: int, accuracy: float, correlation: float
) -> Floats:
    """Return how many of `size` questions are right, for each draw and passage."""
    if correlation == 0 or size == 1:
        return rng.binomial(size, accuracy, size=shape).astype(np.float64)
    total = 1 / correlation - 1
    ease = rng.beta(accuracy * total, (1 - accuracy) * total, size=shape)
    return rng.binomial(size, ease).astype(np.float64)


def draw_probit(
    rng: np.random.Generator, shape: tuple[int, int], size: int, accuracy: float, correlation: float
) -> Floats:
    """Return the same with a normal random effect of passages before the probit link."""
    if correlation == 0 or size == 1:
        return draw_beta_binomial(rng, shape, size, accuracy, 0.0)
    threshold = ndtri(accuracy)
    points = np.linspace(-_LIKELY, _LIKELY, 2001)
    weights = np.exp(-(points**2) / 2)
    weights /= weights.sum()

    def right(latent: float, effect: Floats) -> Floats:
        return ndtr((threshold + np.sqrt(latent) * effect) / np.sqrt(1 - latent))

    low, high = 0.0, 1 - 1e-9
    for _ in range(60):  # bisection for the latent correlation
        latent = (low + high) / 2
        both = (weights * right(latent, points) ** 2).sum()
        is_low = both - accuracy**2 < correlation * accuracy * (1 - accuracy)
        low, high = (latent, high) if is_low else (low, latent)
    return rng.binomial(size, right(low, rng.standard_normal(shape))).astype(np.float64)


def clopper_pearson(accuracy: Floats, size: Floats | float) -> tuple[Floats, Floats]:
    """Return the bounds for any effective size."""
    right, wrong = accuracy * size, (1 - accuracy) * size
    tiny = 1e-12
    low = np.where(right > tiny, betaincinv(np.maximum(right, tiny), wrong + 1, LOWER), 0.0)
    high = np.where(wrong > tiny, betaincinv(right + 1, np.maximum(wrong, tiny), UPPER), 1.0)
    return low, high


def intervals(counts: Floats, size: int) -> tuple[Floats, Floats, Floats]:
    """Return the accuracies and bounds of many datasets with `size` questions a passage.

    It is the rule of the package for equal groups, vectorised over datasets: `counts` has the
    number of right answers, shape (n_datasets, n_passages).
    """
    n_passages = counts.shape[1]
    n = n_passages * size
    accuracy = counts.sum(axis=1) / n
    estimated = 1 - 1 / size
    between = ((counts - accuracy[:, None] * size) ** 2).sum(axis=1)
    between *= 1 + estimated / (n_passages - 1)
    prior = PRIOR_ERRORS * (1 + PRIOR_CORRELATION * (size - 1))
    variance = between + prior
    effective = n * (n * accuracy * (1 - accuracy) + PRIOR_ERRORS) / variance
    with np.errstate(divide="ignore"):
        freedom = variance**2 * (n_passages - 1) / (estimated * between**2)
    factor = np.full(len(counts), 1.0)
    finite = np.isfinite(freedom)
    factor[finite] = (ndtri(UPPER) / stdtrit(freedom[finite], UPPER)) ** 2
    return accuracy, *clopper_pearson(accuracy, effective * factor)


def simulate(
    setting: Setting, n_draws: int, draw: Generator = draw_beta_binomial, seed: int = 0
) -> Cell:
    """Simulate a cell of the grid."""
    rng = np.random.default_rng(seed)
    passages, size, truth, correlation = setting
    counts = draw(rng, (n_draws, passages), size, truth, correlation)
    accuracy, low, high = intervals(counts, size)
    true_low, true_high = clopper_pearson(
        accuracy, passages * size / (1 + correlation * (size - 1))
    )
    return Cell(
        setting,
        float(((low <= truth) & (truth <= high)).mean()),
        float((high < truth).mean()),
        float((low > truth).mean()),
        float((high - low).mean()),
        float(((true_low <= truth) & (truth <= true_high)).mean()),
        float((high - low).mean() / (true_high - true_low).mean()),
    )


def differ_from_bootstrap(setting: Setting, n_draws: int = 20, seed: int = 0) -> Floats:
    """Return the mean differences of both bounds from those of the percentile bootstrap."""
    rng = np.random.default_rng(seed)
    passages, size, truth, correlation = setting
    counts = draw_beta_binomial(rng, (n_draws, passages), size, truth, correlation)
    groups = np.repeat(np.arange(passages), size)
    differences = []
    for i, of in enumerate(counts):
        outcomes = (np.arange(size) < of[:, None]).astype(np.float64).reshape(-1, 1)
        # With equal groups, resampled means of the groups are resampled means of the questions.
        means = resample_means(of[:, None] / size, np.arange(passages), n=4000, seed=i)[:, 0]
        differences.append(np.subtract(mean_interval(outcomes, groups), percentile_interval(means)))
    mean: Floats = np.mean(differences, axis=0)
    return mean


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=4000, help="datasets a cell")
    parser.add_argument("--passages", type=int, nargs="+", default=PASSAGES)
    parser.add_argument("--generator", choices=["beta", "probit"], default="beta")
    parser.add_argument("--bootstrap", action="store_true", help="compare with the bootstrap")
    args = parser.parse_args()
    draw = draw_beta_binomial if args.generator == "beta" else draw_probit
    heading = (
        "pass.",
        "quest.",
        "acc.",
        "corr.",
        "cover",
        "below",
        "above",
        "width",
        "true",
        "rel.",
    )
    print(*(f"{name:>6}" for name in heading))
    for setting in settings(tuple(args.passages)):
        cell = simulate(setting, args.draws, draw)
        print(
            f"{setting.passages:6} {setting.questions:6} {100 * setting.accuracy:6.1f} "
            f"{setting.correlation:6.1f} {100 * cell.coverage:6.1f} {100 * cell.below:6.1f} "
            f"{100 * cell.above:6.1f} {100 * cell.width:6.2f} {100 * cell.true_coverage:6.1f} "
            f"{cell.relative_width:6.2f}",
            end="",
        )
        if args.bootstrap and setting.passages >= 100 and setting.accuracy <= 0.9:
            low, high = 100 * differ_from_bootstrap(setting)
            print(f"   bounds {low:+.2f} {high:+.2f}", end="")
        print(flush=True)


if __name__ == "__main__":
    main()
