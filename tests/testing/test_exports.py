"""The exports of classic_rc.testing, and how much importing it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from classic_rc import testing


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'classic_rc\.testing' has no attribute 'gone'"):
        testing.gone  # noqa: B018


@pytest.mark.ci
def test_names_are_loaded_on_first_use():
    code = "import sys, classic_rc.testing; print({'numpy', 'sklearn'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "set()"
    assert dir(testing) == sorted(testing.__all__)
