"""Mutation operators for whole answers: a sentence negated, a condition dropped, a part missing, something added."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from proctor.authoring.audit.answer_spans import (
    FEWEST_WORDS,
    TextRange,
    is_statement,
    protected_spans,
    sentence_spans,
    statement_spans,
    states_something,
)
from proctor.authoring.audit.mutant import (
    Operator,
    PlantedFault,
    Recording,
    shorten_change,
    with_answer,
)
from proctor.authoring.audit.wrong_facts import facts_of

_POSITIVE = r"(?i:(?![^,;:.()]*(?:\b(?:not|no|never|nothing|none|nobody|nowhere|neither|nor|hardly|only|cannot)\b|n['’]t\b)))"
"""A rest of a clause without a negation: a second one would contradict the first, or take it back."""
_REMOVABLE = r"(?![^,;:.()]*\b(?:any\w*|yet)\b)"
"""A rest of a clause that needs no negation."""
_NOT = (
    (re.compile(rf"\b(cannot|can['’]t)\b{_REMOVABLE}"), "can"),
    (
        re.compile(
            rf"\b(is|are|was|were|has|have|had|will|does|do|did|can) (?:not|NOT)\b(?! only){_REMOVABLE}"
        ),
        r"\1",
    ),
    (re.compile(rf"\b(is|are|was|were|has|have|had|does|do|did)n['’]t\b{_REMOVABLE}"), r"\1"),
    (re.compile(rf"\b(will|can)\b{_POSITIVE}"), r"\1 not"),
    (re.compile(rf"\b(has|have) been\b{_POSITIVE}"), r"\1 not been"),
    (re.compile(rf"\b(is|are|was|were)\b{_POSITIVE}"), r"\1 not"),
)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|whether|unless|while|because|that|which|who|what|where|how|why|since|although|though|not|never|no|nothing"
    r"|none|nobody|neither|few|little|hardly|only|any|anything|n['’]t)\b|[,;:(]",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:sometimes|may|might|could|often|usually|generally|typically|possibl[ey]|perhaps|probably|should|would)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?<!check)(?<!see)(?<!know)(?<!tell)(?<!determine)(?<!verify)(?<!ask)(?<!me)(?<!useful)(?<!helpful),? "
    r"(?:only if|if|unless|provided that|as long as|except(?: for| on| in)?) "
    r"(?!you(?: need| want| have| would| like| wish|['’]d)|there|needed|any|these|desired)(?:[^.,;!?\s]+ ){2,}[^.,;!?\n]+"
)
_CLAIMS = (
    "A processing fee of $49.99 has also been charged to your account.",
    "This offer expires at midnight, and your subscription has been upgraded.",
    "I have also cancelled your previous reservation and informed your manager.",
)
_POLITE = "Thank you for your message. I am happy to help. Is there anything else that I can do for you?"
_WORD = re.compile(r"\w+")
_LANGUAGES = {
    "German": ("Ich habe Ihre Anfrage bearbeitet.", "Die Angaben dazu:"),
    "French": ("J'ai traité votre demande.", "Les informations correspondantes :"),
    "Spanish": ("He procesado su solicitud.", "Los datos correspondientes:"),
    "Portuguese": ("Processei o seu pedido.", "Os dados correspondentes:"),
}
"""Language -> a sentence without content, and the introduction of facts."""
_ENGLISH = frozenset(
    "the is are you your and of with this have has it from for been there here which that they we our its at by be not to".split()
)
_ASKED_IN_ENGLISH = _ENGLISH | frozenset(
    "what how my i do can please where when on who why want need would like show tell give find get".split()
)
_ON_LANGUAGE = re.compile(
    r"\b(?:translat\w*|languages?|english|german|french|spanish|portuguese|deutsch|español|français|português)\b"
)

Texts = Callable[[str, Random], Iterator[tuple[str, str]]]
"""Yields other answers, each with the fault in words."""


def _negated(answer: str, _: Random) -> Iterator[tuple[str, str]]:
    """Negate the main clause of a statement, or remove its negation."""
    closed = protected_spans(answer)
    for span in statement_spans(answer):
        sentence = answer[span.start : span.end]
        introduces = sentence.rstrip(" *_").endswith(":")
        if span.meets(closed) or introduces or len(sentence.split()) < 3 or _HEDGED.search(sentence):
            continue
        changed = _negate(sentence)
        if changed and changed != sentence:
            yield answer[: span.start] + changed + answer[span.end :], f"{shorten_change(sentence)} negated"


def _negate(sentence: str) -> str:
    """Return the negated sentence; empty if it has no auxiliary verb in its main clause, before any other clause."""
    if sentence.isupper():
        return _negate(sentence.lower()).upper()
    matches = [(match.start(), pattern, new) for pattern, new in _NOT if (match := pattern.search(sentence))]
    if not matches:
        return ""
    start, pattern, new = min(matches, key=lambda each: each[0])
    if _SUBORDINATE.search(sentence[:start]) or start == 0:
        return ""
    return pattern.sub(new, sentence, count=1)


def _unconditional(answer: str, _: Random) -> Iterator[tuple[str, str]]:
    """Drop a condition: refunds only if … becomes refunds."""
    closed = protected_spans(answer)
    for span in statement_spans(answer):
        for match in _CONDITION.finditer(answer, span.start, span.end):
            if not TextRange(*match.span()).meets(closed):
                yield (
                    answer[: match.start()] + answer[match.end() :],
                    f"without {shorten_change(match[0].strip(' ,'))}",
                )


def _cut(answer: str, _: Random) -> Iterator[tuple[str, str]]:
    """End the answer after half of its sentences, if the rest states something new."""
    sentences = [*sentence_spans(answer)]
    if len(sentences) < 2:
        return
    rest = sentences[(len(sentences) + 1) // 2 :]
    statements = [answer[span.start : span.end] for span in rest]
    before = _WORD.findall(answer[: rest[0].start].lower())
    words = {word for text in statements if is_statement(text) for word in _WORD.findall(text.lower())}
    if len(words.difference(before)) >= FEWEST_WORDS:
        missing = f"{len(rest)} of {len(sentences)} sentences are" if len(rest) > 1 else "sentence is"
        yield answer[: rest[0].start].rstrip(), f"the last {missing} missing"


def _more_claimed(answer: str, random: Random) -> Iterator[tuple[str, str]]:
    if answer.strip():
        claim = random.choice(_CLAIMS)
        yield f"{answer.rstrip()} {claim}", f"added: {shorten_change(claim)}"


def _only_polite(answer: str, _: Random) -> Iterator[tuple[str, str]]:
    if states_something(answer):
        yield _POLITE, "a polite text without any content"


def _in_other_language(recording: Recording, random: Random) -> Iterator[PlantedFault]:
    """Answer an English question in another language, with the facts of the answer but without its sentences."""
    for turn, answer in enumerate(recording.answers):
        question = recording.user_text(turn)
        is_english = len(_ENGLISH & _words(answer)) > 1 and _ASKED_IN_ENGLISH & _words(question)
        if (
            is_english
            and states_something(answer)
            and not _ON_LANGUAGE.search(f"{question} {answer.lower()}")
        ):
            language = random.choice([*_LANGUAGES])
            opening, introduction = _LANGUAGES[language]
            facts = facts_of(answer)
            text = f"{opening} {introduction} {', '.join(facts)}." if facts else opening
            yield PlantedFault(
                turn, f"in {language}: {shorten_change(text)}", partial(with_answer, recording, turn, text)
            )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _each_turn(texts: Texts, recording: Recording, random: Random) -> Iterator[PlantedFault]:
    for turn, answer in enumerate(recording.answers):
        for changed, fault in texts(answer, random):
            if changed.strip() and changed.split() != answer.split():
                yield PlantedFault(turn, fault, partial(with_answer, recording, turn, changed))


def _previous(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Give the answer of the previous turn again."""
    for turn in range(1, len(recording.answers)):
        before, now = recording.answers[turn - 1], recording.answers[turn]
        if before.strip() and now.strip() and before.lower().split() != now.lower().split():
            fault = f"the answer of turn {turn} again"
            yield PlantedFault(turn, fault, partial(with_answer, recording, turn, before))


OPERATORS = (
    Operator("negation", "negations", "answers", partial(_each_turn, _negated)),
    Operator("condition-missing", "missing conditions", "answers", partial(_each_turn, _unconditional)),
    Operator("answer-cut", "truncated answers", "answers", partial(_each_turn, _cut)),
    Operator("claim-added", "unsupported claims", "answers", partial(_each_turn, _more_claimed)),
    Operator("politeness-only", "empty politeness", "answers", partial(_each_turn, _only_polite)),
    Operator("other-language", "answers in another language", "answers", _in_other_language),
    Operator("previous-answer", "repeated answers", "answers", _previous),
)
