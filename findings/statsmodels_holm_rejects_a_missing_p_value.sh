#!/usr/bin/env bash
# statsmodels 0.15.0, multipletests(method="holm"): a test that could not be done has p = nan, as of
# a paired t-test between two systems with the same answers.
# Expected: nan is not rejected and not counted, or it is refused.
# Happens: the hypothesis with p = nan is reported as rejected, and it counts in the correction of the
# others: two systems that agree on every question differ "significantly".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PY'
from importlib.metadata import version

from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests

right = [1, 0, 1, 1, 0, 0, 1, 0]
p_same = ttest_rel(right, right).pvalue
rejected, adjusted, *_ = multipletests([0.01, 0.02, p_same], method="holm")
print("statsmodels", version("statsmodels"), "| p of equal answers:", p_same)
print("adjusted:", adjusted.tolist(), "| rejected:", rejected.tolist())
assert p_same != p_same, f"changed: {p_same}"
assert rejected.tolist() == [True, True, True], f"changed: {rejected}"
alone = multipletests([0.01, 0.02], method="holm")[1]
assert adjusted[0] > alone[0], f"changed: {adjusted}"
PY
