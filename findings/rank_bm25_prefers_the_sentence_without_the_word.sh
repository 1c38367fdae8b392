#!/usr/bin/env bash
# rank-bm25 0.2.2, BM25Okapi, used to find the sentence of a short passage that answers a question.
# Expected: a sentence with a word of the query scores above one without it.
# Happens: a word in most sentences gets a share of the mean idf; in a short passage most words are
# frequent, so the mean is negative, and the only sentence WITHOUT the name that was asked for wins.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q rank-bm25==0.2.2 numpy==2.3.4
"$folder/venv/bin/python" - <<'PY'
from importlib.metadata import version

from rank_bm25 import BM25Okapi

passage = ["tom has a dog", "tom has a dog too", "ann has a dog"]
engine = BM25Okapi([sentence.split() for sentence in passage])
scores = engine.get_scores(["tom"])
print("rank-bm25", version("rank-bm25"), "| query: tom | mean idf:", round(engine.average_idf, 4))
for score, sentence in sorted(zip(scores, passage), reverse=True):
    print(f"{score:8.4f}  {sentence}")
best = passage[scores.argmax()]
assert engine.average_idf < 0, "the mean idf is no longer negative"
assert "tom" not in best.split(), f"changed: the best sentence is now {best!r}"
print("the best sentence for 'tom' is the one without tom:", best)
PY
