"""The named learners against the optimum of the loss that they minimise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit

from classic_rc.kernels.blocked_matrix import Features
from classic_rc.solvers.learning import LEARNERS, fit_model


def problem(n: int = 400, n_features: int = 30) -> tuple[csr_matrix, np.ndarray]:
    """Return sparse features, and flags that depend on them and on chance, one in four right."""
    rng = np.random.default_rng(7)
    features = csr_matrix(sparse.random(n, n_features, density=0.1, random_state=rng))
    odds = features @ rng.normal(0, 3, n_features) - 1.5
    return features, (rng.random(n) < expit(odds)).astype(np.int64)


def loss(weights: np.ndarray, features: csr_matrix, right: np.ndarray, C: float) -> float:
    """Return C times the log loss plus half the squared norm of the weights; the last weight is
    the bias.
    """
    odds = features @ weights[:-1] + weights[-1]
    losses = np.logaddexp(0, np.where(right, -odds, odds))
    return C * losses.sum() + weights @ weights / 2


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_logistic_regression_reaches_the_optimum_of_its_loss(learner, C):
    features, right = problem()
    arguments, n = (features, right, C), features.shape[1]
    optimum = minimize(loss, np.zeros(n + 1), arguments, "L-BFGS-B", tol=1e-12).fun
    model, caveats = fit_model(learner, C, Features(sparse=features), right, np.ones(n))
    assert caveats == ()
    weights = np.append(model.weights, model.bias)
    assert loss(weights, *arguments) == pytest.approx(optimum, rel=1e-4)
