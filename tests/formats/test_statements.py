"""Forms in which a model may state an answer, or may not: forms x options x ways to write an option
x wrappers. The forms are written for this test, and know nothing of the extractor's table.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import NamedTuple

import pytest

from classic_rc.formats import get_format
from classic_rc.questions import Dataset
from tests.formats.builders import ask, json_lines

OPTIONS = (
    ("Oslo", "Rome", "Bonn", "Turku"),
    ("Old Tam", "Wren", "the dog", "no one"),
    ("we should copy others answers", "a wrong answer", "it is not known", "who can say?"),
    ("He left because it rained.", "She did not like tea.", "They were late.", "If only he knew."),
    ("北京", "上海", "罗马", "东京"),
)
LABELS = "ABCD"

# {x} is the option that is stated, {y} and {z} are others; {b} is its label alone
READ = {
    "en": (
        *("The answer is {x}.", "The correct answer is {x}", "Answer: {x}", "Final answer: {x}"),
        *(
            "Correct: {x}",
            "My answer is {x}.",
            "I think the answer is {x}.",
            "So the answer is {x}.",
        ),
        *("I believe that the correct answer is {x}.", "The best choice is {x}.", "I choose {x}."),
        *(
            "The right answer is {x}, not {y}.",
            "Therefore, the answer is {x}.",
            "I would pick {x}.",
        ),
        *("The answer is {x} because the text says so.", "The answer must be {x}.", "ANSWER: {x}"),
        *("It isn't {y}, so the answer is {x}.", "I'll go with {x}.", "The correct option is: {x}"),
        *("It is not {y} but {x}.", "The answer is not {y} but {x}.", "Let's go with {x}."),
        *("{y} is wrong. The answer is {x}.", "The answer to the question is {x}."),
        *("Based on the passage, the answer is {x}.", "The most likely answer is {x}."),
        *("{x} is the correct answer.", "{x} is the best answer because it fits.", "Solution: {x}"),
        *("As the text does not mention {y}, the answer is {x}.", "Hence the answer is {x}."),
        *("We can conclude that the answer is {x}.", "It is clear that the answer is {x}."),
        *("There is no doubt that the answer is {x}.", "The answer is clearly {x}."),
        *("First I considered {y}. However, the text is clear. The answer is {x}.",),
        *("Is it {y}? No. The answer is {x}.", "The answer is {y}? No, the answer is {x}."),
        *("The text rules out {y} and {z}. So the answer is {x}.", "The answer should be {x}."),
        *("Wait, let me think. The answer is {x}.", "This means that the answer is {x}."),
    ),
    "en-label": (
        *(
            "{b} is correct.",
            "I think {b} is right.",
            "Option {b} is correct.",
            "So {b} is correct.",
        ),
        *("It is {b}.", "Thus, {b}.", "({b}) is the correct option.", "{b}, because it fits."),
        *("({b}) because the text says so", "{b}) That is what it says.", "Choice {b} is right."),
        *("The answer is option {b}.", "The answer is the letter {b}.", "The answer is ({b})."),
        *("The answer: **{b}**", "{b}\n\nThe passage says so.", "### {b}", "The answer is: {b}!"),
    ),
    "de": (
        *("Die Antwort ist {x}.", "Die richtige Antwort ist {x}.", "Antwort: {x}"),
        *("Ich denke, die Antwort ist {x}.", "Die korrekte Antwort lautet {x}.", "Ich wähle {x}."),
        *("Die Antwort ist {x}, nicht {y}.", "Die Antwort ist nicht {y}, sondern {x}."),
        *(
            "Also ist die Sache klar. Die Antwort ist {x}.",
            "Die richtige Lösung ist {x}, weil es passt.",
        ),
        *("{b} ist richtig.", "Option {b} ist korrekt.", "Richtig ist {b}."),
    ),
    "fr": (
        *("La réponse est {x}.", "La bonne réponse est {x}.", "Réponse : {x}", "Je choisis {x}."),
        *("La réponse correcte est {x}.", "Je pense que la réponse est {x}.", "Réponse: {x}"),
        *(
            "Donc la réponse est {x}.",
            "La réponse est {x}, pas {y}.",
            "La bonne réponse est la {b}.",
        ),
        *("La réponse est {x} parce que le texte le dit.", "{b} est correct.", "C'est {b}."),
    ),
    "es": (
        *("La respuesta es {x}.", "La respuesta correcta es {x}.", "Respuesta: {x}", "Elijo {x}."),
        *("Creo que la respuesta es {x}.", "Por lo tanto, la respuesta es {x}."),
        *("La respuesta correcta es la {b}.", "La opción correcta es {x}.", "La {b} es correcta."),
        *("La respuesta es {x} porque el texto lo dice.", "La respuesta es {x}, no {y}."),
    ),
    "zh": (
        *(
            "答案是{x}。",
            "答案是{x}",
            "正确答案是{x}。",
            "答案：{x}",
            "选{b}",
            "我选{b}。",
            "应选{b}。",
        ),
        *(
            "所以答案是{x}。",
            "我认为答案是{x}。",
            "因此，正确答案为{x}。",
            "故选{b}。",
            "{b}是正确的。",
        ),
        *(
            "正确选项是{b}。",
            "答案是{x}，因为文章这么说。",
            "答案不是{y}，而是{x}。",
            "本题选{b}。",
        ),
    ),
    "ja": (
        *("答えは{x}です。", "正解は{x}です。", "正解は{x}", "答え：{x}", "正しい答えは{x}です。"),
        *("したがって、答えは{x}です。", "よって正解は{x}。", "{b}が正解です。", "{b}が正しい。"),
    ),
}
NOTHING = {
    "en": (
        *("The answer is not {x}.", "The answer isn't {x}.", "I doubt that the answer is {x}."),
        *("The least likely answer is {x}.", "It would be a mistake to think {x} is correct."),
        *("It would be wrong to say that the answer is {x}.", "The wrong answer is {x}."),
        *(
            "{x} is correct, as is {y}.",
            "The answer is {x} or {y}.",
            "The answer is either {x} or {y}.",
        ),
        *("If {x} were correct, the text would say so.", "If the dog barked, the answer is {x}."),
        *("If so, the answer is {x}.", "Unless I am mistaken, the answer is {x} or {y}."),
        *(
            "Is the answer {x}?",
            "The answer is {x}?",
            "Could the answer be {x}?",
            "Why is {x} correct?",
        ),
        *(
            "Perhaps the answer is {x}.",
            "The answer might be {x}.",
            "The answer could be {x} or {y}.",
        ),
        *(
            "Maybe {x} is the correct answer.",
            "{x} is not the correct answer.",
            "{x} is incorrect.",
        ),
        *("Neither {x} nor {y} is correct.", "Both {x} and {y} are correct.", "Not {x}."),
        *("Some people say the answer is {x}.", "One might think that the answer is {x}."),
        *("Many students would choose {x}.", "He claims that the answer is {x}."),
        *("I cannot determine whether the answer is {x} or {y}.", "I cannot choose {x}."),
        *("The answer is {x}. Wait, no.", "The answer is {x}. No, that is wrong."),
        *("The answer is {x}. Actually, I am not sure.", "The answer is {x}. Scratch that."),
        *("The answer is {x}. The answer is {y}.", "Answer: {x}\nAnswer: {y}", "{x} and {y}"),
        *("At first I thought the answer was {x}.", "I would not choose {x}.", "I rule out {x}."),
        *(
            "The answer is {x}. But {y} is also correct.",
            "The answer is {x}, and {y} is also correct.",
        ),
        *(
            "The answer is {x}. So is {y}.",
            "The answer is {x}. Or {y}.",
            "The answer is {x} and {y}.",
        ),
        *(
            "A common mistake is to say the answer is {x}.",
            "Everyone but me says the answer is {x}.",
        ),
        *("The answer is anything but {x}.", "The answer is none of {x}, {y} and {z}."),
        *("The opposite of the right answer is {x}.", "The second best answer is {x}."),
        *("The answer is {x}, which is wrong.", "The answer is {x} only if it rained."),
        *("The answer would be {x} if it had rained.", "Suppose the answer is {x}."),
        *(
            "Options: {x}, {y}, {z}",
            "The options are {x}, {y} and {z}.",
            "Which is right: {x} or {y}?",
        ),
        *("Let us assume the answer is {x}.", "It is false that the answer is {x}."),
        *("Nobody would say that the answer is {x}.", "The answer can't be {x}."),
        *("I was going to say the answer is {x}.", "I almost chose {x}.", "Don't choose {x}."),
        *("The answer is {x}... no, wait, it could be {y}.", "The answer is {x}, I mean {y}."),
        *(
            "My friend thinks the answer is {x}.",
            "It is unclear whether {x} is the correct answer.",
        ),
        *("The answer is hardly {x}.", "The answer is never {x}.", "The answer is far from {x}."),
        *("Saying the answer is {x} is wrong.", "The incorrect answer is {x}.", "Incorrect: {x}"),
        *("Eliminate {x}.", "I would eliminate {x} and {y}.", "The answer seems to be {x} or {y}."),
        *("The first distractor is {x}.", "It is tempting to answer {x}.", "Wrong answer: {x}"),
        *("The answer is {x}? I do not know.", "I don't think that {x} is the best answer."),
        *("The question is whether the answer is {x}.", "You might choose {x}."),
    ),
    "en-label": (
        *("{b} is correct, isn't it?", "Is {b} correct?", "It is not true that {b} is correct."),
        *("{b} seems correct, but it is wrong.", "{b} would be correct if it had rained."),
        *("I doubt {b} is correct.", "Either ({b}) or ({c}).", "({b}) is wrong.", "{b} or {c}"),
        *("{b} could be correct.", "{b} and {c} are correct.", "Only a fool would choose {b}."),
        *("The answer is {b}/{c}.", "The answer is {b} & {c}.", "Vitamin {b} is correct here."),
        *("Who says {b} is correct?", "They think {b} is right.", "{b} is correct and so is {c}."),
        *("{b}: incorrect. {c}: incorrect.", "{b}) False, because it rained.", "({b}) Incorrect."),
        *("It is wrong to answer {b}.", "{b} is right or {c} is right.", "{b} is half correct."),
        *(
            "{b} is correct. {c} is correct.",
            "{b} is right only in part.",
            "All but {b} are right.",
        ),
    ),
    "de": (
        *("Die Antwort ist nicht {x}.", "Ich glaube nicht, dass die Antwort {x} ist."),
        *(
            "Ist die Antwort {x}?",
            "Vielleicht ist die Antwort {x}.",
            "Die falsche Antwort ist {x}.",
        ),
        *("Die Antwort ist {x} oder {y}.", "Wenn es regnet, ist die Antwort {x}."),
        *("Die Antwort ist {x}. Nein, doch nicht.", "{b} ist nicht richtig.", "{b} ist falsch."),
        *("Die Antwort könnte {x} sein.", "Manche sagen, die Antwort ist {x}.", "Nicht {x}."),
    ),
    "fr": (
        *("La réponse n'est pas {x}.", "Je ne pense pas que la réponse soit {x}."),
        *("La réponse est-elle {x} ?", "Peut-être que la réponse est {x}.", "Pas {x}."),
        *(
            "La réponse est {x} ou {y}.",
            "Si la réponse est {x}, il a plu.",
            "{b} n'est pas correct.",
        ),
        *("La réponse est {x}. Non, attendez.", "La mauvaise réponse est {x}.", "{b} est faux."),
    ),
    "es": (
        *("La respuesta no es {x}.", "No creo que la respuesta sea {x}.", "¿Es {x} la respuesta?"),
        *(
            "Quizás la respuesta es {x}.",
            "La respuesta es {x} o {y}.",
            "La respuesta podría ser {x}.",
        ),
        *(
            "Si la respuesta es {x}, llovió.",
            "La {b} no es correcta.",
            "La respuesta incorrecta es {x}.",
        ),
        *("La respuesta es {x}. No, espera.", "No es {x}.", "No creo que la respuesta es {x}."),
    ),
    "zh": (
        *("答案不是{x}。", "答案是{x}吗？", "我不认为答案是{x}。", "如果答案是{x}，那么下雨了。"),
        *("可能答案是{x}。", "答案是{x}或{y}。", "答案是{x}还是{y}？", "不选{b}。", "{b}不正确。"),
        *("{b}是错误的。", "错误答案是{x}。", "答案是{x}。不对，等一下。", "有人说答案是{x}。"),
    ),
    "ja": (
        *(
            "答えは{x}ではありません。",
            "答えは{x}ではない。",
            "答えは{x}ですか？",
            "{b}は間違いです。",
        ),
        *("もし答えが{x}なら、雨だった。", "答えは{x}または{y}です。", "答えは{x}かもしれません。"),
        *("{b}は正しくない。", "{b}が正解ではない。"),
    ),
}
WRAPPERS = {
    "en": (
        "{t}",
        "**{t}**",
        '"{t}"',
        "({t})",
        "> {t}",
        "The passage is about a trip. It has four parts.\n\n{t}",
        "<think>It may be {y}. The answer is {y}.</think>\n{t}",
        "{t}\n\nExplanation: it follows from the second part of the text.",
        "A. {o[0]}\nB. {o[1]}\nC. {o[2]}\nD. {o[3]}\n\n{t}",
        "Let me look at each option.\n- {o[0]}: no support.\n- {o[1]}: the text is silent.\n{t}",
        "{t} The text has this in its second part.",
    ),
    "": ("{t}", "**{t}**", '"{t}"', "{t}\n\n(1/2)", "<think>{y}?</think>{t}", "\n\n{t}\n"),
}
WAYS = (
    "{b}",
    "({b})",
    "{b}. {o}",
    "({b}) {o}",
    "{o}",
    '"{o}"',
    "**{b}**",
    "option {b}",
    "{b}) {o}",
)


class Sample(NamedTuple):
    text: str
    options: tuple[str, ...]
    stated: int | None
    form: str


def make_samples(seed: int, n_each: int) -> list[Sample]:
    """Distinct texts, `n_each` of each form: with options, ways to write them and wrappers."""
    draw = random.Random(seed)
    samples = {}
    for is_read, table in ((True, READ), (False, NOTHING)):
        for kind, form in [(kind, form) for kind, forms in table.items() for form in forms]:
            language = kind.partition("-")[0]
            wrappers = WRAPPERS.get(language, WRAPPERS[""])
            choices = list(itertools.product(OPTIONS, range(4), WAYS, wrappers))
            for options, place, way, wrapper in draw.sample(choices, n_each):
                if language in ("zh", "ja", "de", "fr", "es") and "option" in way:
                    continue
                places = [place, *(i for i in range(4) if i != place)]
                names = [
                    way.format(b=LABELS[i], o=options[i].rstrip(".") if "{o}" in way else "")
                    for i in places
                ]
                parts = dict(zip("xyz", names, strict=False), b=LABELS[place], c=LABELS[places[1]])
                response = form.format(**parts)
                text = wrapper.format(t=response, o=options, y=parts["y"])
                samples[text, options] = Sample(text, options, place if is_read else None, form)
    return list(samples.values())


def read_samples(samples):
    """The option that each text is read as, or None."""
    questions = [ask(f"q{i}", *sample.options) for i, sample in enumerate(samples)]
    rows = json_lines({"id": f"q{i}", "text": sample.text} for i, sample in enumerate(samples))
    form = get_format("answers").with_options({"reading": "letter"})
    predictions = form.read(rows, Dataset(questions), source="a")
    return [next(iter(p.answers[0])) if p.answers else None for p in predictions]


@pytest.mark.parametrize("seed", [0])
def test_no_form_is_read_as_another_option(seed):
    samples = make_samples(seed, 44)
    assert len({sample.text for sample in samples}) > 10_000
    pairs = list(zip(samples, read_samples(samples), strict=True))
    read = [(sample, answer) for sample, answer in pairs if answer is not None]
    assert [(sample, answer) for sample, answer in read if answer != sample.stated] == []
    n_stated = sum(sample.stated is not None for sample in samples)
    assert len(read) / n_stated > 0.9


def describe(seed: int = 0, n_each: int = 44) -> None:
    """Print the counts, and the forms that are read wrongly or seldom."""
    samples = make_samples(seed, n_each)
    answers = read_samples(samples)
    pairs = list(zip(samples, answers, strict=True))
    wrong = [(s, a) for s, a in pairs if a not in (None, s.stated)]
    unread = Counter(s.form for s, a in pairs if a is None and s.stated is not None)
    n_stated = sum(s.stated is not None for s in samples)
    print(
        f"{len(samples)} texts, {n_stated} state an answer, {n_stated - unread.total()} read, "
        f"{len(wrong)} wrong"
    )
    for s, a in wrong[:60]:
        print("WRONG", repr(s.form), repr(s.text), s.options, a)
    print(Counter(s.form for s, _ in wrong).most_common(40))
    print(unread.most_common(60))


if __name__ == "__main__":
    describe()
