"""BM25 on random sentences."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function

WORDS = "fox eat grape sour sleep high run".split()


def draw(rng):
    """Return queries, sentences, k1 and b."""
    long = ["fox", "fox", *WORDS[1:5]]  # the best one, unless empty sentences count in L
    cases = [(["fox"], [["fox"], long, [], [], []], 0.9, 0.4)]
    cases += [(["high"], [["fox"]], 0.9, 0.4), ([], [["fox"]], 0.9, 0.4)]
    for number in range(200):
        plain = number % 2 == 0
        sentences = []
        for _ in range(rng.randint(2, 5)):
            sentences.append(rng.choices(WORDS, k=rng.randint(plain, 6)))
        sentences[0] = sentences[0] or ["fox"]
        sentences += [[] for _ in range(0 if plain else rng.randint(0, 6))]
        if plain:
            query, k1, b = rng.sample(WORDS, rng.randint(1, 3)), 0.9, 0.4
        else:
            query = rng.choices(WORDS, k=rng.randint(0, 4))
            k1, b = rng.choice((0.0, 0.9, 1.2)), rng.choice((0.0, 0.4, 1.0))
        if number % 5 == 0:  # a tie
            sentences.insert(rng.randrange(len(sentences)), list(rng.choice(sentences)))
        cases.append((query, sentences, k1, b))
    return cases


def draw_scores(rng):
    """Return each query with a sentence, the weights of the terms, and the mean length."""
    cases = []
    for query, sentences, k1, b in draw(rng):
        matching = [sentence for sentence in sentences if set(query) & set(sentence)]
        weights = {term: round(rng.uniform(0.1, 2), 2) for term in sorted(set(query))}
        mean_length = round(sum(map(len, sentences)) / sum(map(bool, sentences)), 2)
        cases.append((query, rng.choice(matching or sentences), weights, mean_length, k1, b))
    return cases


def are_parameters(query, sentence, weights, mean_length, k1, b):
    is_weighed = set(query) <= weights.keys() and min(weights.values(), default=1) >= 0
    return is_weighed and k1 >= 0 and 0 <= b <= 1 and mean_length >= 1


def is_plain(query, sentence, weights, mean_length, k1, b):
    return len(set(query)) == len(query) and sentence and k1 > 0 and 0 < b < 1


ASSIGNMENT = Assignment(
    title="BM25",
    main="my_bm25.py",
    functions={
        "idf": Function(
            lambda rng: [(rng.choice(WORDS), case[1]) for case in draw(rng)],
            allowed=lambda term, sentences: any(sentences),
        ),
        "score": Function(draw_scores, allowed=are_parameters),
        "best_sentence": Function(
            draw,
            uses=("idf", "score"),
            allowed=lambda query, sentences, k1, b: any(sentences) and k1 >= 0 and 0 <= b <= 1,
        ),
    },
    checks=(
        Check("rarity", 3, "idf", "idf"),
        Check("scores", 3, "score: queries that have each term once", "score", is_plain),
        Check(
            "all_scores",
            2,
            "score: repeated terms, empty sentences, extreme k1 and b",
            "score",
            needs=("scores",),
        ),
        Check(
            "best_sentences",
            2,
            "best_sentence: with ties and queries that match nothing",
            "best_sentence",
        ),
    ),
)
