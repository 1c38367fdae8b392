"""The reader of sample logs of lm-evaluation-harness: their questions, without the model's
answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from classic_rc.datasets.base import Reader
from classic_rc.datasets.reading import Reading
from classic_rc.errors import DataError
from classic_rc.formats.harness_log import is_log_row, read_log
from classic_rc.formats.harness_settings import task_of_log
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.questions import Question


class HarnessReader(Reader):
    """A log that ``lm_eval --log_samples`` writes: the questions of its documents.

    Passage, question and options come from the documents, never from the prompts, which can also
    have other questions with their answers. A question's id is its ``doc_id``; MultiRC's, with a
    row for each option, are ``paragraph==question``. The model's answers are a system of their own
    (:class:`~classic_rc.formats.harness.HarnessFormat`).
    """

    name = "harness"
    is_log = True
    title = "Logs of lm-evaluation-harness"
    description = "The questions of a log of lm-evaluation-harness; `run` adds the model's answers."
    citation = "Gao et al. 2023, lm-evaluation-harness, the files of --log_samples"
    cites = ("gao2023",)
    is_dataset = False
    takes = frozenset({"gold_as"})

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first row has a document, the model's arguments and its responses."""
        return is_log_row(file.head)

    def files(self, source: InputFiles, reading: Reading) -> list[InputFile]:
        """Return the log; of a folder, its only one."""
        files = super().files(source, reading)
        if len(files) > 1:
            folder = source.path.rstrip("/")
            names = ", ".join(file.base for file in files[:3])
            if len(files) > 3:
                names += ", …"
            raise DataError(
                f"the folder has {len(files):,} logs, and each is a dataset of its own",
                source=source.path,
                found=names,
                expected="one log",
                hint=f"Name the logs: classic-rc run {folder}/samples_*.jsonl",
            )
        return files

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of the log."""
        log = read_log(file.text, file.name, gold_as=reading.options.gold_as)
        if log.undecided is not None:
            raise log.undecided
        for note in log.notes:
            reading.note(note)
        for question in log.questions:
            passage = reading.passage(
                None, question.passage.text, file.name, f"question {question.id}"
            )
            yield replace(question, passage=passage)

    def split_of(self, file: InputFile) -> str | None:
        """Return None: a log does not name its split."""
        return None

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return the task that the log's name gives."""
        return task_of_log(files[0].name) or super().dataset_name(source, files, split, subset)
