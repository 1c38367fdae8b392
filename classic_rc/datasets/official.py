"""Find the published dataset and split that questions come from, and whether they equal the
official file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from classic_rc.datasets.registry import READERS
from classic_rc.questions import Dataset, Question


@dataclass(frozen=True)
class OfficialPart:
    """A published dataset and split, the subject of published figures."""

    dataset: str  # the name in tables: "MC160", "MC500", "RACE", "MultiRC", …
    split: str | None  # "train", "dev" or "test"; None if unknown
    # Whether the content equals the official file to the letter; None if that file's fingerprint is
    # not known.
    is_exact: bool | None = None


FINGERPRINTS: Mapping[str, tuple[str, str]] = {
    "2032725dfe1ed79ead8ae923d472d83a7f3c90c99a65174c743796bdaf8462a2": ("MC160", "train"),
    "965e7973287df919e25559a0416490fbafccb726309018470c1b949669964151": ("MC160", "dev"),
    "6184fe8833155a9e3f95b26e7faecc2aa3858a0bb1718ec267f7682dc7b5058b": ("MC500", "train"),
    "7fba13a76aeade81e73f40766ac2e98dce076c733c000d43e8752380380778fa": ("MC500", "dev"),
    "ed711fe523cfc57895adf3494cda89b86b5083a5dbab98c9b6a958c7f46d0d4b": ("RACE", "train"),
    "438a94ad599d074ab8fec6f6215f50c347cb7426e2403afa0011500be3bc5705": ("RACE", "train"),  # middle
    "99be078d77217e256ffa49f7aa40fa1f2bf68f3e6a81f60898f5f36431d00ccd": ("RACE", "train"),  # high
    "650a494eacf30f663a57a6721ab8525934db888189da1b9c72d7544226048373": ("RACE", "dev"),
    "dbe74e63da4213f421bb4aa701f13e703df73c131a491980751d647edf3e3316": ("RACE", "dev"),  # middle
    "8cbcce4f9047f1b3f66075be48174aae0c5ae0e50e8aebce8edde8d6150badf1": ("RACE", "dev"),  # high
    # 456-fixedIds
    "1bb7c8843479c86f25286afd15e5d891ae9faf8e87d704b98175f2e64c6425e5": ("MultiRC", "train"),
    # 83-fixedIds
    "59ccab9c3201599dc8c41355616ace2c70cffee10d5c3e863b644fbea42ac494": ("MultiRC", "dev"),
    # SuperGLUE's val
    "67629df77dfad8dc11e01dd6bb6b095ae07dccf71d0f290c9add7b00627e925f": ("MultiRC", "dev"),
    "eddf8f6f4a0043517fa69c60b0165171392f4f75ad6b0fd9d7cd10370cd85ff1": ("Quoref", "dev"),  # v0.1
    "f644feca6f645ceff303869e461e277160b5d9612d38de4fd23cd3a5f05c992f": ("DREAM", "train"),
    "80e93ea94ca0ca63c8079faecf31f5a5571fc3cc57268e96408e0d6385154b51": ("DREAM", "dev"),
    "c398deeafb51fb480741fe73fa7b19b04eec6a8a185ba36f6b36c1670451d49c": ("MCScript", "train"),
    "b7275c734f448db94e699482dd8ec1d0c412da6fa12a38acd4d4c3d88e57f128": ("MCScript", "dev"),
}
"""The dataset and split of official files, by :attr:`~classic_rc.questions.Dataset.fingerprint`."""


def match_official_parts(dataset: Dataset) -> list[tuple[OfficialPart | None, Dataset]]:
    """Split questions by the published dataset and split that they come from, in the order of first
    questions.

    The content's fingerprint decides first; otherwise the reader, and the split that it gives each
    question (the ids of MCTest's stories have it). ``is_exact`` tells official data from the user's
    own data in the same format. None marks questions for which there are no published figures.
    """
    if dataset.fingerprint in FINGERPRINTS:
        return [(OfficialPart(*FINGERPRINTS[dataset.fingerprint], True), dataset)]
    keys = [_find_origin(question, dataset) for question in dataset]
    distinct = list(dict.fromkeys(keys))
    if len(distinct) == 1:
        return [(_with_exactness(distinct[0], dataset), dataset)]
    parts = []
    for key in distinct:
        questions = [
            question for question, origin in zip(dataset, keys, strict=True) if origin == key
        ]
        name, split = dataset.name, dataset.split
        if key is not None:
            name, split = key.dataset.lower(), key.split
            if split:
                name += f".{split}"
        origin_questions = replace(dataset, questions=questions, name=name, split=split)
        parts.append((_with_exactness(key, origin_questions), origin_questions))
    return parts


def _find_origin(question: Question, dataset: Dataset) -> OfficialPart | None:
    reader = READERS.get(dataset.reader or "")
    origin = None if reader is None else reader.origin(question, dataset)
    return None if origin is None else OfficialPart(*origin)


def _with_exactness(origin: OfficialPart | None, questions: Dataset) -> OfficialPart | None:
    """Set `is_exact`, if the fingerprint of the official file is known."""
    if origin is None:
        return None
    official = FINGERPRINTS.get(questions.fingerprint)
    if official is None and (origin.dataset, origin.split) not in FINGERPRINTS.values():
        return origin
    return replace(origin, is_exact=official == (origin.dataset, origin.split))
