"""One system for RACE as a script with scikit-learn: the sentence of the passage that is most like
question and option, by tf-idf and cosine.

``python benchmarks/tfidf_script.py RACE-train-dev.tar.gz`` prints the accuracy.
"""

import json
import re
import sys
import tarfile

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer


def main(archive: str, split: str = "") -> None:
    """Print the accuracy on all articles of the archive, or on those of one split."""
    with tarfile.open(archive) as files:
        members = [m for m in files if m.isfile() and f"/{split}" in m.name]
        articles = [json.load(files.extractfile(m)) for m in members]  # type: ignore[arg-type]

    passages = [re.split(r"(?<=[.!?])\s+", article["article"]) for article in articles]
    queries = [
        [
            f"{question} {option}"
            for question, options in zip(article["questions"], article["options"], strict=True)
            for option in options
        ]
        for article in articles
    ]
    vectorizer = TfidfVectorizer()
    sentence_vectors = vectorizer.fit_transform([s for sentences in passages for s in sentences])
    query_vectors = vectorizer.transform([q for of_article in queries for q in of_article])

    scores = []
    sentence = query = 0
    for sentences, of_article in zip(passages, queries, strict=True):
        rows = query_vectors[query : query + len(of_article)]
        cosines = rows @ sentence_vectors[sentence : sentence + len(sentences)].T
        scores.append(cosines.max(axis=1).toarray().ravel())
        sentence, query = sentence + len(sentences), query + len(of_article)
    answers = np.concatenate(scores).reshape(-1, 4).argmax(axis=1)
    gold = np.array(["ABCD".index(letter) for a in articles for letter in a["answers"]])
    print(f"{100 * (answers == gold).mean():.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
