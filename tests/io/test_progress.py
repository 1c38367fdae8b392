from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from classic_rc.io import progress
from classic_rc.io.progress import progress_bar, start_command


class Terminal(io.StringIO):
    def isatty(self):
        return True


def use_terminal(monkeypatch):
    """Put a terminal in the place of stderr, on which bars appear at once. pytest undoes this
    after a fixture.
    """
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.01)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    return stream


def wait_for(condition):
    """Wait until the thread that draws has done something; fail after ten seconds."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("nothing happened")


def test_short_work_shows_nothing(capsys):
    start_command()
    with progress_bar("reading", None, shown=True) as advance:
        advance.finished("sw+d: 50.0")
    assert capsys.readouterr() == ("", "")


def test_a_bar_names_the_stage_and_prints_results_above_it(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with progress_bar("RACE", 10, shown=True) as advance:
        advance.stage("scoring sw+d")
        advance.finished("RACE: sw+d: Acc. 50.0")
        wait_for(lambda: "RACE: scoring sw+d" in terminal.getvalue())
        advance.finished("the last one")
    lines = terminal.getvalue().replace("\r", "\n").splitlines()
    assert "classic-rc: RACE: sw+d: Acc. 50.0" in lines
    assert "classic-rc: the last one" in lines


def test_a_bar_leaves_no_thread(monkeypatch):
    terminal = use_terminal(monkeypatch)
    before = set(threading.enumerate())
    with progress_bar("RACE", 10, shown=True):
        wait_for(lambda: "RACE" in terminal.getvalue())
        others = set(threading.enumerate()) - before
    assert [thread.name for thread in others] == [progress.CLOCK_NAME]
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("term", ["dumb", None])
def test_without_a_terminal_there_is_a_line_when_nothing_was_written_for_long(monkeypatch, term):
    stream = io.StringIO() if term is None else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", term or "xterm")
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    with progress_bar("RACE", 10, shown=True) as advance:
        advance(4)
        advance.stage("scoring\x1b[2J sw+d")
        wait_for(lambda: stream.getvalue().count("\n") >= 2)
    lines = stream.getvalue().splitlines()
    assert lines[-1] == "classic-rc: RACE: scoring\\x1b[2J sw+d, 40%, 00:00, 00:00 left"
    assert "\r" not in stream.getvalue()


def test_results_of_long_work_are_lines_at_once(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    with progress_bar("RACE", None, shown=True) as advance:
        advance.finished("the first one")
        wait_for(lambda: "the first one" in stream.getvalue())
        monkeypatch.setattr(progress, "LINE_SECONDS", 1000.0)
        advance.finished("the second one")
        wait_for(lambda: "the second one" in stream.getvalue())
        advance.finished("the last one")
    results = [line for line in stream.getvalue().splitlines() if line.endswith("one")]
    assert results == [f"classic-rc: the {which} one" for which in ("first", "second", "last")]


def test_many_short_pieces_of_work_are_not_silent(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.1)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    start_command()

    def work():
        with progress_bar("reading", None, shown=True):
            time.sleep(0.03)
        return stream.getvalue()

    wait_for(work)
    assert stream.getvalue().startswith("classic-rc: reading, 00:00")


def test_an_error_stops_the_clock(monkeypatch):
    terminal = use_terminal(monkeypatch)

    def fail():
        with progress_bar("scoring", 10, shown=True):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    shown = terminal.getvalue()
    time.sleep(0.3)
    assert terminal.getvalue() == shown


@pytest.mark.parametrize("has_terminal", [True, False])
def test_work_that_shows_its_results_shows_them_even_if_it_is_short(monkeypatch, has_terminal):
    stream = use_terminal(monkeypatch) if has_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 1000.0)
    work = progress.Progress(shows_results=True)
    for name in ("one", "two"):
        with progress_bar("suite", 2, shown=True, progress=work) as advance:
            advance.finished(name)
    assert stream.getvalue() == "classic-rc: one\nclassic-rc: two\n"


def test_what_was_done_before_took_no_time(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    work = progress.Progress()
    work.start -= 10
    work.keep(40)
    work(15)  # of the 60 that are not done yet
    with progress_bar("suite", 100, shown=True, progress=work):
        wait_for(stream.getvalue)
    assert stream.getvalue().startswith("classic-rc: suite, 55%, 00:10, 00:30 left\n")
