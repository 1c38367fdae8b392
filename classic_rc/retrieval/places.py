"""Where each sentence of a segment comes from, in a few bytes a sentence."""

from __future__ import annotations

import numpy as np

from classic_rc.retrieval.reading import Record
from classic_rc.retrieval.storage import Arrays
from classic_rc.retrieval.texts import Texts


class PlaceWriter:
    """Notes the places of sentences as they come.

    The arrays: the names of the inputs, and the first sentence of each; the labels of the records that have one;
    and of each sentence the number of its record, or ``~i`` where the record has label i.
    """

    def __init__(self) -> None:
        self._inputs: list[str] = []
        self._starts: list[int] = []
        self._labels: list[str] = []
        self._places: list[int] = []

    def add(self, name: str, record: Record, n_sentences: int) -> None:
        """The next sentences are of this record of the input of this name."""
        if not self._inputs or self._inputs[-1] != name:
            self._inputs.append(name)
            self._starts.append(len(self._places))
        place = record.number
        if record.label is not None:
            place = ~len(self._labels)
            self._labels.append(record.label)
        self._places += [place] * n_sentences

    def arrays(self) -> Arrays:
        """All of it."""
        places = np.array(self._places, dtype=np.int64)
        small = len(places) == 0 or places.max() < 2**31
        return {
            **Texts.of(self._inputs).arrays("input"),
            "input_starts": np.array(self._starts, dtype=np.int32),
            **Texts.of(self._labels).arrays("label"),
            "places": places.astype(np.int32) if small else places,
        }


def place_of(arrays: Arrays, sentence: int) -> str:
    """Where a sentence of a segment comes from: ``"a.txt:1234"``, ``"a.jsonl#id"``.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Of :meth:`PlaceWriter.arrays`.
    sentence : int
        Its number in the segment.
    """
    number = int(np.searchsorted(arrays["input_starts"], sentence, side="right")) - 1
    name, place = Texts.of_arrays(arrays, "input")[number], int(arrays["places"][sentence])
    return f"{name}:{place}" if place > 0 else f"{name}#{Texts.of_arrays(arrays, 'label')[~place]}"
