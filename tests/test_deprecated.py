from __future__ import annotations

from importlib import import_module

import pytest

OLD = {
    "classic_rc.analysis": {
        "FAMILY": "classic_rc.audit.PARTIAL_INPUTS",
        "KINDS": "classic_rc.audit.KINDS",
        "CheckReport": "classic_rc.audit.CheckReport",
        "DatasetStatistics": "classic_rc.audit.DatasetStatistics",
        "Finding": "classic_rc.audit.Finding",
        "LeakingWords": "classic_rc.audit.LeakingWords",
        "PartialInput": "classic_rc.audit.PartialInput",
        "PartialInputs": "classic_rc.audit.PartialInputs",
        "PartialResult": "classic_rc.audit.PartialResult",
        "check": "classic_rc.audit.check_dataset",
        "integrity": "classic_rc.audit.find_defects",
        "leaking_words": "classic_rc.audit.find_leaking_words",
        "statistics": "classic_rc.audit.describe_datasets",
        "try_partial_inputs": "classic_rc.audit.measure_partial_inputs",
    },
    "classic_rc.datasets": {"expand": "classic_rc.datasets.expand_sample_names"},
    "classic_rc.evaluation": {"Contest": "classic_rc.evaluation.SharedResults"},
    "classic_rc.reports": {"FORMATS": "classic_rc.reports.TABLE_FORMATS"},
    "classic_rc.testing": {
        "Checked": "classic_rc.teaching.CheckResult",
        "Grade": "classic_rc.teaching.Grade",
        "grade_file": "classic_rc.teaching.grade_file",
        "grade_folder": "classic_rc.teaching.grade_folder",
    },
}


@pytest.mark.parametrize(("package", "old"), [(package, old) for package, names in OLD.items() for old in names])
def test_an_old_name_is_the_new_object_and_warns(package, old):
    new_package, _, new = OLD[package][old].rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{new_package}.{new}") as warnings:
        found = getattr(import_module(package), old)
    assert found is getattr(import_module(new_package), new)
    assert warnings[0].filename == __file__


@pytest.mark.parametrize("package", OLD)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=package):
        import_module(package).nothing  # noqa: B018
