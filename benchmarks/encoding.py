"""Speed of turning text into word ids, compared with nltk's tokenizer and scikit-learn's vectorizer."""

from __future__ import annotations

import numpy as np

from benchmarks.generate import dataset
from benchmarks.timing import Table, interleaved
from classic_rc.text.encode import encode


def run(quick: bool = False) -> list[Table]:
    """Measure microseconds per token on the passages, questions and options of RACE-sized data."""
    from nltk import word_tokenize
    from sklearn.feature_extraction.text import CountVectorizer

    questions = dataset("RACE", 100 if quick else 1000)
    texts = [p.text for p in questions.passages]
    texts += [text for q in questions for text in (q.text, *(c.text for c in q.candidates))]
    few = texts[:: max(len(texts) // 500, 1)]
    arrays = encode(questions, "word").arrays
    n_tokens = sum(map(len, (arrays.passage_tokens, arrays.question_tokens, arrays.candidate_tokens)))
    share = sum(map(len, few)) / sum(map(len, texts))
    seconds = interleaved(
        {
            "encode, analyzer word": lambda: encode(questions, "word"),
            "encode, analyzer mctest": lambda: encode(questions, "mctest"),
            "scikit-learn CountVectorizer": lambda: CountVectorizer(dtype=np.int32).fit_transform(texts),
            "nltk word_tokenize, tokens alone": lambda: [word_tokenize(t, preserve_line=True) for t in few],
        },
        3 if quick else 5,
    )
    seconds["nltk word_tokenize, tokens alone"] /= share
    ours = seconds["encode, analyzer word"]
    return [
        {
            "title": "Encoding text",
            "header": ["", "us a token", "times ours"],
            "rows": [[name, round(1e6 * s / n_tokens, 3), round(s / ours, 2)] for name, s in seconds.items()],
            "notes": [f"{n_tokens:,} tokens; nltk is timed on a sample of the texts and scaled."],
        }
    ]


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["encoding"])
