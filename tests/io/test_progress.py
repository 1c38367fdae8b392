from __future__ import annotations

import time

from classic_rc.io import progress
from classic_rc.io.progress import progress_bar


def test_a_hidden_bar_shows_nothing(capsys):
    with progress_bar("reading", None, shown=False) as advance:
        advance(1)
    assert capsys.readouterr() == ("", "")


def test_short_work_shows_nothing(capsys):
    with progress_bar("reading", None, shown=True):
        pass
    assert "reading" not in capsys.readouterr().err


def test_the_clock_continues_during_a_long_step(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_REFRESH_SECONDS", 0.01)
    with progress_bar("reading RACE", None, shown=True):
        time.sleep(0.3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("reading RACE") > 3


def test_an_error_stops_the_clock(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY_SECONDS", 0.01)
    try:
        with progress_bar("scoring", 10, shown=True) as advance:
            advance(3)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    capsys.readouterr()
    time.sleep(0.3)
    assert capsys.readouterr().err == ""
