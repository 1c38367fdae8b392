"""Text processing: tokenizers, stop lists, stemmers, analyzers, sentences, spans, and the encoding
into token ids.

A function with the name of its module is imported from that module:
``classic_rc.text.encode.encode``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.text.analyzers import (
        STEMMERS,
        STOP_LISTS,
        TOKENIZERS,
        Analyzer,
        get_analyzer,
        get_tokenizer,
        stemmer,
        stop_words,
    )
    from classic_rc.text.annotations import Annotations, read_annotations
    from classic_rc.text.encoded import EncodedDataset
    from classic_rc.text.sentences import passage_sentences, split_sentences
    from classic_rc.text.spans import SpanCandidates, SpanGenerator
    from classic_rc.text.tokenizers import Tokenizer, unspaced_share

__all__ = [
    "STEMMERS",
    "STOP_LISTS",
    "TOKENIZERS",
    "Analyzer",
    "Annotations",
    "EncodedDataset",
    "SpanCandidates",
    "SpanGenerator",
    "Tokenizer",
    "get_analyzer",
    "get_tokenizer",
    "passage_sentences",
    "read_annotations",
    "split_sentences",
    "stemmer",
    "stop_words",
    "unspaced_share",
]

__getattr__, __dir__ = names_on_use(__name__)
