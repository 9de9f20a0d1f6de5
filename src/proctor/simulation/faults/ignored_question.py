"""Find questions that the user repeats after their answer, and questions of the agent that the user ignores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.text_features import (
    asks_to_wait,
    content_words,
    depends,
    is_english,
    is_failing,
    normalize,
    questions,
    sentences,
    shares_word,
    words,
)
from proctor.simulation.faults.values import addresses, references

_YES_OR_NO = re.compile(r"(?:yes|no|yep|nope|sure|certainly)\b", re.IGNORECASE)
_ASKS_YES_OR_NO = re.compile(
    r"^(?:\w+[,!] )?(?:shall|should|is|are|was|were|do|does|did|has|have|would|will|may i (?!have)|can i (?!have|get))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(r"\b(?:when|what (?:time|date|day))\b", re.IGNORECASE)
_ASKS_COUNT = re.compile(r"\bhow (?:many|much|old|big|long)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tomorrow|tonight|now|soon\w*|asap|noon|midnight|mornings?|"
    r"afternoons?|evenings?|nights?|week\w*|months?|days?|hours?|early|later?|time|january|february|march|april|june|july|august|"
    r"september|october|november|december|spring|summer|autumn|fall|winter|o['’]clock|flexible|possible)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|half|couple|few|several|both|alone|just me|none|most|least|more|less|much|budget)\b",
    re.IGNORECASE,
)
_ASK_AGAIN = re.compile(
    r"\b(again|twice|repeat\w*|double[- ]check\w*|confirm\w*|insist\w*|persist\w*|keep (?:asking|pressing)|verify)\b",
    re.IGNORECASE,
)
_RELUCTANT = re.compile(
    r"\b(do ?n['’]?o?t (?:know|have|remember|recall|want|care|mind|see|understand)|not sure|no (?:idea|preference)|unsure|rather not|"
    r"already|whichever|whatever|any|either|doesn['’]?t matter|up to you|you (?:choose|decide)|first|before that|wrong|"
    r"nothing to do|(?:off|stay on) topic|irrelevant|what has that|excuse me|"
    r"not what|no|nope|never mind|forget|skip|why|actually|wait|hold on|prefer not|keep|withhold|vague)\b",
    re.IGNORECASE,
)
_WITHHOLDS = re.compile(
    r"\b(?:(?:do not|don['’]t|never|not|without|only|refuse to|avoid) (?:ever )?(?:giv\w+|tell\w*|answer\w*|reveal\w*|shar\w+|say\w*|"
    r"provid\w+|disclos\w+)|reluctant\w*|unwilling|withhold|keep back|evasive\w*|vague\w*|dodge\w*|ignore\w*|"
    r"change the subject)\b",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"\b(?:order|booking|reservation|confirmation|ticket|account|customer|member\w*|reference|tracking|invoice|policy|case|"
    r"contract|serial|licen[cs]e|patient|employee|student|card|flight|loyalty|phone|telephone|mobile|user|room)?\s*(?:id|number|"
    r"no\.|code|reference|pin|e-?mail(?: address)?|zip(?: code)?|postal code|postcode|digits)\b",
    re.IGNORECASE,
)


def ignored_question(conversation: UserConversation) -> Iterator[UserFault]:
    """Find repeated and ignored questions.

    A plan that wants repeated questions, or wants the user to withhold something, permits them. Only English plans are checked.
    """
    if not is_english(conversation.plan):
        return
    if not _ASK_AGAIN.search(conversation.plan):
        yield from _repeated_questions(conversation)
    if not _WITHHOLDS.search(f"{conversation.plan}\n{conversation.briefing}"):
        yield from _ignored_questions(conversation)


class _Question:
    """A message with questions, parsed once because every later message is compared with it."""

    def __init__(self, turn: int, text: str) -> None:
        self.turn = turn
        self.words = " ".join(words(text))
        self.about = content_words(text)
        self.questions = [(each, content_words(each)) for each in sentences(text) if each.endswith("?")]


def _repeated_questions(conversation: UserConversation) -> Iterator[UserFault]:
    asking = [_Question(turn, text) for turn, text in enumerate(conversation.user_messages) if "?" in text]
    own = dict(conversation.own_turns())
    for place, later in enumerate(asking):
        if later.turn not in own:
            continue
        for earlier in asking[:place]:
            question = _repeated_question(earlier, later, own[later.turn])
            turns = {earlier.turn, later.turn - 1}
            if question and all(_is_answer(question, conversation.answers[turn]) for turn in turns):
                why = f"it had asked that in turn {earlier.turn + 1}, and the agent had answered"
                yield new_fault(FaultKind.IGNORED_QUESTION, later.turn, question, why)
                break


def _repeated_question(earlier: _Question, later: _Question, text: str) -> str:
    """Return the question of a message that repeats an earlier one in similar words; empty if there is none."""
    if later.words == earlier.words:
        return ""  # the rule `repeated_itself` reports the same message
    if len(later.about) > 2 and _are_similar(later.about, earlier.about):
        return text
    for question, about in later.questions:
        if len(about) > 1 and any(_repeats(about, other, earlier) for _, other in earlier.questions):
            return question
    return ""


def _repeats(about: frozenset[str], other: frozenset[str], earlier: _Question) -> bool:
    """Whether a question is similar to another one, or only adds words that the earlier message had."""
    is_extension = bool(other) and other <= about and len(about & earlier.about) >= _SIMILAR * len(about)
    return is_extension or _are_similar(about, other)


_SIMILAR = 0.75


def _are_similar(these: frozenset[str], those: frozenset[str]) -> bool:
    return bool(these and those) and len(these & those) >= _SIMILAR * len(these | those)


def _is_answer(question: str, answer: str) -> bool:
    """Whether an answer is yes or no, or is about the question. Failures and counter-questions are not answers."""
    if is_failing(answer):
        return False
    if _YES_OR_NO.match(answer.strip()):
        return True
    asked_back = questions(answer)
    statement_words = content_words("\n".join(each for each in sentences(answer) if each not in asked_back))
    return shares_word(content_words(question), statement_words) or (
        len(statement_words) > 2 and not asks_to_wait(answer)
    )


def _ignored_questions(conversation: UserConversation) -> Iterator[UserFault]:
    facts = [sentence for sentence in sentences(conversation.plan) if not depends(sentence)]
    for turn, text in conversation.own_turns():
        open_questions = _checkable_questions(conversation.answer_before(turn))
        if not open_questions or _RELUCTANT.search(text) or _answers_any(text, open_questions[:-1]):
            continue
        fact = _fact_for(open_questions[-1], facts)
        if fact and not _is_response(open_questions[-1], fact, text, conversation.user_messages[:turn]):
            why = f"the agent asked {open_questions[-1]!r}; the plan contains the answer: {fact!r}"
            yield new_fault(FaultKind.IGNORED_QUESTION, turn, text, why)


def _checkable_questions(answer: str) -> list[str]:
    """Return the questions of an answer that are English, or that ask for an identifier."""
    return [question for question in questions(answer) if is_english(question) or _SLOT.search(question)]


def _answers_any(text: str, open_questions: list[str]) -> bool:
    """Whether a message may answer one of several questions."""
    about = content_words(text)
    return any(len(about) < 4 or shares_word(about, content_words(question)) for question in open_questions)


def _fact_for(question: str, facts: list[str]) -> str:
    """Return the sentence of the plan that answers a question; empty if there is none."""
    if _ASKS_YES_OR_NO.match(question):
        return ""
    answers = _fact_test(question)
    return next((fact for fact in facts if answers(fact)), "")


def _fact_test(question: str) -> Callable[[str], bool]:
    """Return the function that tests whether a sentence answers a question."""
    if (kind := _expected_kind(question)) is not None:
        return lambda fact: kind.search(fact) is not None
    if (slot := _SLOT.search(question)) is not None:
        return lambda fact: bool(_values(fact)) and _names_slot(fact, slot[0])
    about = content_words(question)
    return lambda fact: len(about) > 1 and len(_common_words(about, fact)) > 1


def _expected_kind(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the answers to a question for a time or a count; `None` for other questions."""
    if _ASKS_WHEN.search(question):
        return _TIME
    return _COUNT if _ASKS_COUNT.search(question) else None


def _names_slot(fact: str, slot: str) -> bool:
    names = content_words(slot) | {word for word in words(slot) if word in ("id", "pin", "zip")}
    return shares_word(names, content_words(fact) | set(words(fact)))


def _common_words(about: frozenset[str], fact: str) -> list[str]:
    fact_words = content_words(fact)
    return [word for word in about if shares_word([word], fact_words)]


def _values(text: str) -> list[str]:
    return [*addresses(text), *references(text)]


def _is_response(question: str, fact: str, text: str, earlier: Sequence[str]) -> bool:
    """Whether a message contains the fact or anything else that may be an answer, or an earlier message did."""
    about = content_words(text)
    if (kind := _expected_kind(question)) is not None:
        is_stated = any(kind.search(message) for message in (*earlier[-1:], text))
        return is_stated or "?" in text or len(about) <= 3
    if _SLOT.search(question):
        return bool(_values(text)) or "?" in text or _states_value_of(fact, [*earlier, text])
    return len(about) <= 3 or shares_word(about, content_words(question) | content_words(fact))


def _states_value_of(fact: str, messages: Sequence[str]) -> bool:
    normal_text = normalize("\n".join(messages))
    return any(normalize(value) in normal_text for value in _values(fact))
