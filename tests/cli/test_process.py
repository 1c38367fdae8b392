"""The program as a process: streams, encodings, full disks, signals, and what it imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from classic_rc._version import RELEASE

pytestmark = pytest.mark.ci  # each test starts interpreters

MODULE = [sys.executable, "-m", "classic_rc"]


HEAVY = {"numpy", "scipy", "sklearn", "nltk", "joblib", "pandas", "tqdm"}


def call(*args, command=MODULE, **environment):
    plain = dict(os.environ)
    for name in ("LC_ALL", "LANG", "PYTHONIOENCODING", "PYTHONUTF8"):
        plain.pop(name, None)
    return subprocess.run(
        [*command, *map(str, args)], capture_output=True, env={**plain, **environment}, check=False
    )


def test_the_module_and_the_script_are_one_program(tmp_path, monkeypatch):
    script = Path(sys.executable).with_name(
        "classic-rc.exe" if sys.platform == "win32" else "classic-rc"
    )
    if not script.exists():
        pytest.skip("the package is not installed, so there is no script")
    # in the checkout, the module would be its code and not the installed one
    monkeypatch.chdir(tmp_path)
    module, script = call("--version"), call("--version", command=[str(script)])
    assert (module.returncode, module.stdout) == (script.returncode, script.stdout)
    name, version = script.stdout.decode().split()
    assert (name, version.removesuffix("+dev")) == ("classic-rc", RELEASE.removesuffix("+dev"))


START = [
    "import classic_rc",
    *(
        f"from classic_rc.cli.main import main; main({args!r})"
        for args in (["--help"], ["run", "--help"], ["--version"], ["rnu"])
    ),
]


@pytest.mark.parametrize("code", START)
def test_importing_help_and_mistakes_load_nothing_heavy(code):
    done = call(
        "-c",
        f"import sys; {code}; print(); print(*{HEAVY!r} & set(sys.modules))",
        command=[sys.executable],
    )
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1] == ""


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LANG": ""}]
)
def test_pipes_are_utf8_whatever_the_locale(environment):
    done = call("explain", "sample:cloze", "tiller-bridge.1", "-s", "max-frequency", **environment)
    assert done.returncode == 0, done.stderr
    assert "Zoë Marchetti" in done.stdout.decode("utf-8")
    assert b"\r" not in done.stdout


@pytest.mark.parametrize(("encoding", "printed"), [("cp1252", "Zoë"), ("ascii", "Zoe")])
def test_the_encoding_of_the_environment_is_used(encoding, printed):
    done = call(
        "explain",
        "sample:cloze",
        "tiller-bridge.1",
        "-s",
        "max-frequency",
        PYTHONIOENCODING=encoding,
    )
    assert done.returncode == 0, done.stderr
    assert f"{printed} Marchetti" in done.stdout.decode(encoding)


def test_tables_and_variants_come_out_in_cp1252():
    for args in (("run", "sample:single-choice"), ("list", "variants")):
        done = call(*args, PYTHONIOENCODING="cp1252")
        assert (done.returncode, done.stderr) == (0, b"")
        assert len(done.stdout.decode("cp1252").splitlines()) > 10


def test_a_reader_that_leaves_is_no_error():
    """As with `classic-rc run sample --format json | head -1`."""
    for args in (["run", "sample:single-choice", "--format", "json"], ["run", "--help"], ["rnu"]):
        process = subprocess.Popen([*MODULE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # long before the program has anything to write
        stderr = process.stderr.read()
        assert process.wait(60) == (2 if args == ["rnu"] else 0)
        process.stderr.close()
        assert b"Traceback" not in stderr
        assert b"Exception" not in stderr


FULL = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no device that is always full"
)
RESULTS = [
    [*MODULE, "run", "sample:single-choice", "--format", "json"],
    [*MODULE, "run", "sample:single-choice", "-o", "/dev/stdout"],
    [*MODULE, "--version"],
    # in a container that is none: another user may not be able to read this Python
    [*MODULE, "grade", "{folder}", "--assignment", "window", "--quiet", "--container", "env"],
]


@pytest.fixture
def own_file(tmp_path):
    """A student's file."""
    path = tmp_path / "student" / "own.py"
    path.parent.mkdir()
    path.write_text("def sliding_window(passage, question, option):\n    return 0.0\n", "utf-8")
    return path


@FULL
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", RESULTS)
def test_a_full_disk_is_one_line(command, unbuffered, own_file):
    command = [argument.format(folder=own_file.parent) for argument in command]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=120, env=environment
        )
    assert done.returncode == 2
    *notes, error = done.stderr.decode("utf-8").splitlines()
    assert error.endswith("No space left on device")
    assert error.startswith("classic-rc: error: ")
    assert notes == []


@FULL
@pytest.mark.parametrize(
    ("args", "code"), [(["run", "sample:single-choice"], 0), (["rnu"], 2), (["run", "none"], 3)]
)
def test_messages_that_cannot_be_written_change_no_exit_code(args, code, tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*MODULE, *args], stdout=subprocess.PIPE, stderr=full, check=False, timeout=120
        )
        assert done.returncode == code
        assert (code == 0) == (b"24 questions" in done.stdout)
        done = subprocess.run([*MODULE, *args], stdout=full, stderr=full, check=False, timeout=120)
        assert done.returncode == (code or 2)


@pytest.mark.skipif(sys.platform == "win32", reason="the shell is another one there")
@pytest.mark.parametrize(
    ("args", "closed", "code", "printed"),
    [
        ("list solvers", ">&-", 2, "classic-rc: error: standard output is closed\n"),
        ("--version", ">&-", 2, "classic-rc: error: standard output is closed\n"),
        ("run sample:single-choice -s longest -o {out} --quiet", ">&-", 0, ""),
        ("run none", "2>&-", 3, ""),
        ("list solvers", "2>&-", 0, ""),
        ("list solvers", ">&- 2>&-", 2, ""),
    ],
)
def test_a_stream_that_is_closed_from_the_start(args, closed, code, printed, tmp_path):
    command = f"{' '.join(MODULE)} {args.format(out=tmp_path / 'out')} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr.decode()) == (code, printed)


def test_errors_are_one_line_and_the_exit_code_is_the_process(tmp_path):
    done = call("run", tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (3, b"")
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert line.startswith(f"classic-rc: error: {tmp_path / 'nothing'}: ")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way there")
def test_a_real_interrupt_keeps_what_is_finished(tmp_path):
    import signal

    solver = tmp_path / "slow.py"
    solver.write_text(
        "import time\n"
        "from pathlib import Path\n"
        "from classic_rc import Scores, Solver\n"
        "class Slow(Solver):\n"
        "    def score_candidates(self, questions):\n"
        "        if questions[0].id.startswith('bakery'):\n"
        f"            Path({str(tmp_path / 'started')!r}).touch()\n"
        "            time.sleep(60)\n"
        "        return Scores.from_lists([0.0] * len(q.candidates) for q in questions)\n",
        encoding="utf-8",
    )
    command = [*MODULE, "run", "sample", "-s", f"{solver}:Slow"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background has them ignore interrupts, and children would
        # too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "started").exists():
        assert process.poll() is None
    # Python's own code inside a library call may swallow an interrupt: let the solver reach its
    # sleep.
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.startswith(b"sample:single-choice")
    # Of the second dataset, the row that every table of such questions has is finished.
    assert out.count(b"questions,") == 2
    assert b"all-positive" in out
    assert err.splitlines()[-1] == b"classic-rc: interrupted"
