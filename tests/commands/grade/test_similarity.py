"""Similar code is flagged with its lines, whatever hides it; honest work of different people is
not.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from classic_rc.cli.main import main
from classic_rc.commands.grade import Isolation, grade_folder, load_assignment
from classic_rc.commands.grade.similarity import ALIKE, KNOWN, find_similar, known_pieces, pieces_of
from classic_rc.kernels import reference

SOLUTIONS = sorted(Path(__file__).with_name("solutions").glob("*.py"))
WINDOW = Path(__file__).with_name("solutions") / "window.py"
LESSONS = Path(reference.__file__).parent
OTHER = """
import math


def sliding_window(passage, question, candidate):
    wanted = set(question).union(candidate)
    best = 0.0
    for first in range(len(passage)):
        piece, value = passage[first : first + len(wanted)], 0.0
        for token in piece:
            if token in wanted:
                value += math.log1p(1.0 / passage.count(token))
        if value > best:
            best = value
    return best


def word_distance(passage, question, candidate, stop_words):
    def positions(words):
        kept = [w for w in words if w not in stop_words and w in passage]
        return {w: [k for k, t in enumerate(passage) if t == w] for w in kept}

    asked, offered = positions(question), positions(set(candidate).difference(question))
    if not (asked and offered):
        return 1.0
    flat = sorted(k for ks in offered.values() for k in ks)
    steps = [min(abs(k - j) for k in ks for j in flat) for ks in asked.values()]
    return sum(steps) / (len(asked) * (len(passage) - 1))
"""


def shuffled(source: str) -> str:
    """Its functions in another order."""
    head, *functions = source.split("\n\n\n")
    return "\n\n\n".join([head, *functions[::-1]])


def test_the_hashed_pieces_are_those_of_our_solutions():
    """Made anew by ``python -c 'from tests.commands.grade import test_similarity as own;
    own.write_known()'``.
    """
    assert known_pieces() == made_known()


def made_known() -> dict[str, str]:
    return {f"solution of {file.stem}": pieces_of(file.read_bytes()) for file in SOLUTIONS}


def write_known() -> None:
    lines = [f"{name}: {hashes}\n" for name, hashes in made_known().items()]
    KNOWN.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("file", SOLUTIONS, ids=lambda file: file.stem)
def test_each_of_our_solutions_is_known_as_it_is_renamed_and_vendored(file):
    source = file.read_text(encoding="utf-8")
    renamed = (
        source.replace("passage", "text").replace("scores", "values").replace("total", "summe")
    )
    padded = (Path(__file__).parent / "attacks.py").read_text(encoding="utf-8") + renamed
    for copy in (source, "# my own work\n" + renamed, padded):
        matches = find_similar({"ann": {"ann.py": copy.encode()}}).of("ann")
        assert any(
            match.startswith(f"known: solution of {file.stem}: ") and " of ann.py" in match
            for match in matches
        )


def test_what_grades_is_known():
    source = (LESSONS / "window.py").read_bytes() + (LESSONS / "distance.py").read_bytes()
    lesson = {"window.py of the package": (LESSONS / "window.py").read_bytes()}
    (match,) = find_similar({"ann": {"ann.py": source}}, None, lesson).of("ann")
    assert match.startswith("known: window.py of the package: ")


def test_pairs_are_flagged_with_lines_and_honest_work_is_not():
    work = WINDOW.read_text(encoding="utf-8")
    files = {"ann": work, "bob": shuffled(work.replace("words", "ws")), "eve": OTHER}
    submissions = {name: {f"{name}.py": source.encode()} for name, source in files.items()}
    similarity = find_similar(submissions)
    assert similarity.clusters == (("ann", "bob"),)
    (pair,) = [match for match in similarity.matches if not match.second.startswith("known")]
    assert pair.share >= 0.71
    assert " of ann.py = lines " in pair.lines
    assert max(share for share in similarity.shares if share < pair.share) < ALIKE
    assert similarity.of("eve") == []
    assert similarity.distribution.startswith("3 pairs share 0.")


@pytest.mark.ci
def test_twenty_equal_files_are_one_cluster(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    drawn = load_assignment("window").drawn(3)
    for number in range(20):
        (folder / f"copy{number:02}.py").write_text(drawn.source(), encoding="utf-8")
    (folder / "honest.py").write_text(OTHER, encoding="utf-8")
    grading = grade_folder(folder, drawn, seed=3, isolation=Isolation("none"))
    assert [len(cluster) for cluster in grading.similarity.clusters] == [20]
    assert {grade.earned for grade in grading.grades[:20]} == {10}  # no points change by themselves
    assert "known: the reference of your class: 100 % of the code" in "".join(
        grading.similarity.of("copy00")
    )
    assert grading.similarity.of("honest") == []


HONEST_TIES = """
def best(scores):
    top = max(scores)
    return [i for i, s in enumerate(scores) if top - s <= 1e-9]


def credit(scores, gold):
    winners = best(scores)
    return 1 / len(winners) if gold in winners else 0


def accuracy(questions, policy):
    total = 0
    for scores, gold in questions:
        winners = best(scores)
        if policy == "partial":
            total += credit(scores, gold)
        elif policy == "first":
            total += gold == winners[0]
        else:
            total += winners == [gold]
    return total / len(questions)
"""


def test_a_short_task_is_done_alike_and_copied_within_the_class(tmp_path):
    """Likeness to known code flags no short task; that of two students does, without points."""
    assignment = load_assignment("ties")
    copy = shuffled(HONEST_TIES.replace("winners", "ws"))
    references = {"the reference of your class": assignment.source().encode()}
    assert find_similar({"ann": {"ann.py": HONEST_TIES.encode()}}, None, references).matches == ()
    for name, source in {"ann": HONEST_TIES, "bob": copy}.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    grading = grade_folder(tmp_path, assignment, seed=1, isolation=Isolation("none"))
    assert grading.similarity.clusters == (("ann", "bob"),)
    assert [grade.earned for grade in grading.grades] == [10, 10]
    (match,) = grading.similarity.of("ann")
    assert match.startswith("nearly the same code: bob: ")
    assert re.search(r"lines \d.* of ann.py = lines \d.* of bob.py", match)


HONEST_LEAKS = [
    "return max(range(len(options)), key=lambda i: len(options[i]))",
    "lengths = [len(option) for option in options]\n    return lengths.index(max(lengths))",
    "words = [len(o.split()) for o in options]\n    return words.index(max(words))",
    "lengths = list(map(len, options))\n    return lengths.index(max(lengths))",
    "longest = max(options, key=len)\n    return options.index(longest)",
    """best, most = 0, 0
    for i, option in enumerate(options):
        if len(option) > most:
            best, most = i, len(option)
    return best""",
]


def test_a_few_lines_are_written_alike(tmp_path):
    """Different honest answers to one small question are no copies of each other, and all right."""
    leak = load_assignment("leak")
    planted = leak.checks[0].run.__globals__["planted"]
    seed = next(seed for seed in range(1000) if planted(seed) == ("length", "longest"))
    for number, body in enumerate(HONEST_LEAKS):
        source = f'CUE = "length"\n\n\ndef answer(passage, options):\n    {body}\n'
        (tmp_path / f"student{number}.py").write_text(source, encoding="utf-8")
    grading = grade_folder(tmp_path, leak, seed=seed, isolation=Isolation("none"))
    assert [grade.earned for grade in grading.grades] == [10] * len(HONEST_LEAKS)
    assert (grading.similarity.matches, grading.similarity.clusters) == ((), ())


def test_the_template_does_not_count():
    template = load_assignment("solver").start()
    similarity = find_similar({name: {f"{name}.py": template} for name in ("ann", "bob")}, template)
    assert (similarity.matches, similarity.shares) == ((), ())


def test_code_is_written_as_plain_files(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "classic_rc.commands.grade.choose_isolation", lambda **rest: Isolation("none")
    )
    folder = tmp_path / "class"
    (folder / "bob").mkdir(parents=True)
    for name in ("ann.py", "bob/my_window.py", "bob/more.py"):
        (folder / name).write_text(WINDOW.read_text(encoding="utf-8"), encoding="utf-8")
    arguments = [
        "--assignment",
        "window",
        "--plain",
        str(tmp_path / "plain"),
        "-o",
        str(tmp_path / "g.csv"),
        "--quiet",
    ]
    assert main(["grade", str(folder), *arguments]) == 0
    names = sorted(path.name for path in (tmp_path / "plain").iterdir())
    assert names == ["ann__ann.py", "bob__more.py", "bob__my_window.py"]
    rows = list(csv.DictReader((tmp_path / "g.csv").open(encoding="utf-8")))
    assert all(
        "nearly the same code" in row["similar"] and "solution of window" in row["similar"]
        for row in rows
    )
