from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from classic_rc.io import progress
from classic_rc.io.forks import can_fork, map_in_forks
from classic_rc.io.progress import progress_bar, start_command
from classic_rc.io.reporters import reporters
from classic_rc.work import CURRENT_WORK, tracked


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
    assert lines[-1].startswith("classic-rc: RACE: scoring\\x1b[2J sw+d, 40%, 00:00, ")
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
    screen = terminal.getvalue()
    time.sleep(0.3)
    assert terminal.getvalue() == screen


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


def lines_at(times, work):
    """Return the lines of a log at some times after the work began, by a clock of the test."""
    start_command()
    lines = progress.Lines(work, "RACE")
    return [line for seconds in times for line in lines.due(work.start + seconds)]


def test_a_log_gets_a_line_each_half_minute():
    work = progress.Progress()
    lines = lines_at(range(1, 125, 5), work)
    assert [line.rpartition(" ")[2] for line in lines] == ["00:31", "01:01", "01:31", "02:01"]


def test_the_estimate_counts_down_while_a_step_lasts_and_ends_when_it_is_over():
    work = progress.Progress()
    work.total = 10
    work(4)
    estimates = [work.look(work.start + seconds)[1] for seconds in (40, 50, 70, 110)]
    assert estimates == pytest.approx([60, 50, 30, -10])
    assert "? left" in lines_at([111], work)[0]
    work(1)
    assert work.look(work.start + 150)[1] == pytest.approx(150)


def test_loops_inside_a_step_move_the_bar():
    shares = []
    work = progress.Progress()
    work.total, work.step_size = 4, 2.0
    with work.run():
        for _ in tracked("ab", 2):
            for size in tracked([1, 3], 4, lambda size: size):
                shares.append((size, work.share))
        work(2)
    assert shares == [(1, 0), (3, 0.0625), (1, 0.25), (3, 0.3125)]
    assert work.share == 0.5


def test_without_a_bar_loops_count_nothing():
    assert list(tracked("ab", 2)) == ["a", "b"]
    assert CURRENT_WORK.get() is None


def test_a_bar_inside_a_bar_is_a_part_of_it(capsys):
    with progress_bar("suite", 2, shown=True) as outer:
        with progress_bar("RACE", 10, shown=True) as inner:
            inner(5)
            assert outer.share == 0.25
            assert sum(t.name == progress.CLOCK_NAME for t in threading.enumerate()) == 1
        outer(1)
        assert outer.share == 0.5


def half(work):
    """Do half of some work, and return what the process that began it would see."""
    for item in tracked([1, 2], 2):
        if item == 2:
            return work.share
    return None


def test_other_processes_report_the_share_that_they_have_done():
    work = progress.Progress()
    with work.run(), reporters(2) as both_reporters:
        assert both_reporters[1](half, work) == 0.25
        CURRENT_WORK.set(None)
        both_reporters[1].forget()
        assert work.share == 0
    CURRENT_WORK.set(None)


def test_forks_report_their_work():
    work = progress.Progress()
    with work.run():
        shares = map_in_forks(half, [work, work]) if can_fork() else [0.25]
    assert max(shares) >= 0.25
