"""The model ``classic-rc`` of lm-evaluation-harness. Importing this module registers it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from classic_rc.errors import MissingPackageError, UsageError
from classic_rc.harness.answering import Answerer, Request

LM: Any = object
register_model: Any = None
with suppress(ImportError):  # without the harness there is nothing to register
    import lm_eval.models  # noqa: F401  # the harness adds its own models only to an empty registry
    from lm_eval.api.model import LM  # type: ignore[no-redef]
    from lm_eval.api.registry import register_model  # type: ignore[no-redef]

NAME = "classic-rc"


class ClassicRC(LM):
    """A solver of this package as a model.

    Its "log-likelihoods" are scores: 0 for the best option and below 0 for the others. They are not
    probabilities, so that of the harness's metrics only those of the best option mean something
    (``acc``, and equal to it ``acc_norm``). `solver` and the arguments are as in
    :class:`~classic_rc.harness.answering.Answerer`; `batch_size`, `max_batch_size` and `device`,
    which the harness gives to all models, are not used.
    """

    tokenizer_name = NAME

    def __init__(
        self,
        solver: str = "",
        *,
        batch_size: Any = None,
        max_batch_size: Any = None,
        device: Any = None,
        **arguments: Any,
    ) -> None:
        require_harness()
        super().__init__()
        self._answerer = Answerer(solver, **arguments)

    def loglikelihood(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Return a number for each request, of any tasks, and False: nothing is known of greedy
        decoding.
        """
        converted = []
        for r in requests:
            task, document_id = str(r.task_name), int(r.doc_id or 0)
            prompt, continuation = str(r.args[0]), str(r.args[1])
            converted.append(Request(task, document_id, r.idx, r.doc, prompt, continuation))
        return [(value, False) for value in self._answerer.answer(converted)]

    def loglikelihood_rolling(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> NoReturn:
        """Raise UsageError: solvers choose among options."""
        raise _no_options(requests, "measures the probability of texts")

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> NoReturn:
        """Raise UsageError: solvers choose among options."""
        raise _no_options(requests, "asks for generated texts")

    def apply_chat_template(
        self, chat_history: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return the messages with a blank line between them: solvers have no chat template."""
        return "\n\n".join(message["content"] for message in chat_history)


def require_harness() -> None:
    """Check that the harness is installed."""
    if register_model is None:
        raise MissingPackageError("lm_eval", needed_for="classic_rc.harness", extra="harness")


def _no_options(requests: Sequence[Any], what: str) -> UsageError:
    task = requests[0].task_name if requests else "the task"
    return UsageError(
        f"task {task} {what}, and {NAME} only chooses among options: name multiple-choice tasks",
        field="tasks",
        found=str(task),
        expected="multiple-choice tasks",
    )


if register_model is not None:
    register_model(NAME)(ClassicRC)
