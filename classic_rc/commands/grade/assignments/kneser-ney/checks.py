"""Interpolated Kneser-Ney of pairs on random texts."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function

WORDS = "san new york old town".split()


def draw(rng):
    """Return texts, a word, its context, and the discount."""
    cases = [
        ([["san"] * 4], "san", "san", 0.5),
        ([[]], "</s>", "<s>", 0.5),
        ([["san"]], "<unk>", "york", 0.75),
    ]
    for _ in range(110):
        texts = []
        for _ in range(rng.randint(1, 3)):
            texts.append(rng.choices(WORDS[:4], k=rng.randint(0, 5)))
        word = rng.choice([*WORDS, "</s>", "<unk>"])
        context = rng.choice([*WORDS, "<s>"])
        cases.append((texts, word, context, rng.choice((0.5, 0.75, 1.0))))
    return cases


def draw_words(rng):
    return [(texts, word, discount) for texts, word, _, discount in draw(rng)]


def are_usual(texts, word, discount=0.5):
    is_plain = texts and not any(token.startswith("<") for text in texts for token in text)
    return is_plain and word != "<s>" and 0 < discount <= 1


def is_usual(texts, word, context, discount):
    return are_usual(texts, word, discount) and context != "</s>"


def has_context(texts, word, context, discount):
    return context == "<s>" or any(context in text for text in texts)


ASSIGNMENT = Assignment(
    title="Kneser-Ney",
    main="my_kneser_ney.py",
    functions={
        "continuation": Function(lambda rng: [case[:2] for case in draw(rng)], allowed=are_usual),
        "word_probability": Function(draw_words, allowed=are_usual),
        "probability": Function(draw, uses=("word_probability",), allowed=is_usual),
    },
    checks=(
        Check("continuations", 3, "continuation", "continuation"),
        Check(
            "words",
            3,
            "word_probability: also of words that are not in the texts",
            "word_probability",
        ),
        Check("pairs", 2, "probability: after words of the texts", "probability", has_context),
        Check("all_pairs", 2, "probability: everything", "probability", needs=("pairs",)),
    ),
)
