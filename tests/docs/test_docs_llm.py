"""The tables of the page on LLMs are what the command above them prints on the harness's own
log.
"""

from __future__ import annotations

import re
from pathlib import Path

from classic_rc.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "llm.md").read_text(encoding="utf-8")


def test_both_tables_are_printed(shared_golden, monkeypatch, capsys):
    (log,) = (shared_golden / "harness").glob("samples_race_*.jsonl")
    results, differences = (
        block
        for block in re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
        if "dummy" in block
    )
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["run", str(log), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(results)
    assert f"\n{differences}" in printed
