"""The steps and conditions of a conversation plan, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.simulation.faults.leaked_answer import about_the_agent
from proctor.simulation.faults.text_features import sentences

__all__ = ["depends", "may_end_early", "steps"]

_LEAD = (
    r"(?:(?:first|second|third|then|next|finally|lastly|afterwards?|after that|also|once (?:that|this|it)['’]?s? (?:is )?\w+|"
    r"in the end|and|you (?:also )?(?:want to|would like to|need to|should|must|are to|will)|your goal is to|the user "
    r"(?:wants to|should|must|will))[, ]+)*"
)
_VERB = (
    r"(?:ask|book|request|cancel|change|order|buy|return|exchange|find out|inquire|add|remove|replace|update|move|check|report|"
    r"rent|reserve|schedule|arrange|reschedule|upgrade|renew|pay|complain|apply|enrol|register|switch|compare|demand|get|have)"
)
_STEP = re.compile(rf"^{_LEAD}(?P<step>{_VERB}\b.*)", re.IGNORECASE)
_DEPENDS = re.compile(
    r"\b(if|unless|when|whenever|only|in case|otherwise|should (?:the|they|it|this|that)|optional\w*|depending|maybe|prefer\w*|"
    r"do not|don['’]t|never|without)\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"(?<=\b)(?:ask|check|see|know|find out|inquire|enquire|confirm|verify)(?: \w+){0,2} if\b", re.IGNORECASE
)
_ENDS = re.compile(
    r"\b(?:end|stop|leave|quit|hang up|finish|give up|walk away|abort|break off|say goodbye|conclude|be done)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r";|,? (?:and )?then |, and (?:also )?(?=(?:ask|book|request|cancel|change|order|return|add|find out)\b)",
    re.IGNORECASE,
)


def steps(plan: str) -> Iterator[str]:
    """Yield the steps that the user must take unconditionally."""
    agents = about_the_agent(plan)
    for sentence in sentences(plan):
        if sentence in agents or depends(sentence):
            continue
        for part in _JOINT.split(sentence):
            match = _STEP.match(re.sub(r"^\d+[.)]\s*", "", part.strip()))
            if match is not None:
                yield match["step"]


def depends(sentence: str) -> bool:
    """Return whether a sentence of a plan is conditional or a prohibition."""
    return _DEPENDS.search(_WHETHER.sub(" ", sentence)) is not None


def may_end_early(plan: str) -> bool:
    """Return whether a plan allows the user to end the conversation before all steps are done."""
    return any(_ENDS.search(sentence) and depends(sentence) for sentence in sentences(plan))
