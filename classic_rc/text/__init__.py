"""Text processing: tokenizers, stop lists, stemmers, analyzers, sentences, spans, and the encoding into token ids.

A function with the name of its module is imported from that module: ``classic_rc.text.encode.encode``,
``classic_rc.text.stop_words.stop_words``.
"""

from classic_rc.text.analyzers import TOKENIZERS, Analyzer, get_analyzer, get_tokenizer
from classic_rc.text.annotations import Annotations, read_annotations
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.sentences import passage_sentences, split_sentences
from classic_rc.text.spans import SpanCandidates, SpanGenerator
from classic_rc.text.stemmers import STEMMERS, stemmer
from classic_rc.text.stop_words import STOP_LISTS
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
    "unspaced_share",
]
