"""Signs of prompt injection in the material of a judge. They cause a warning and never change a score.

Signs prove nothing: an attack can be written so that no rule finds it. Fences around the material, random ballot numbers
and several votes protect a verdict. No complete protection is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from proctor.judges.base import Passage

_WORDS: dict[str, tuple[str, ...]] = {
    "an order to leave instructions aside": (
        (
            r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
            r"\b(?:instruction|prompt|rule|rubric|criteri|guideline|above|previous|prior|everything)"
        ),
        r"\b(?:ignorier|vergiss|missachte)\w*\b.{0,40}\b(?:anweisung|regel|vorgabe|anleitung|bisher)",
        r"\b(?:ignora|olvida|omite)\w*\b.{0,40}\b(?:instruccion|regla|anterior)",
        r"\b(?:ignore[rz]?|oublie[rz]?)\b.{0,40}\b(?:instruction|consigne|règle|précédent)",
        r"忽略.{0,20}(?:指令|说明|提示|规则|要求)",
        r"(?:指示|命令|ルール).{0,12}無視",
        r"игнориру\w*.{0,40}(?:инструкц|правил|указан)",
        r"(?:이전|위의?).{0,10}(?:지시|명령).{0,10}무시",
        r"تجاهل.{0,30}(?:التعليمات|الأوامر)",
    ),
    "words to the judge about its verdict": (
        (
            r"\b(?:judge|grader|evaluator|rater|reviewer|auto-?rater)\b.{0,60}"
            r"\b(?:must|should|please|give|award|mark|rate|score|return|output|answer|verdict|assign)\b"
        ),
        (
            r"\b(?:give|award|assign|return|output|answer|respond with|mark)\b.{0,40}"
            r"\b(?:full (?:marks|score|points)|(?:highest|maximum|perfect|top) (?:score|rating|marks|grade)"
            r"|score (?:of )?[01](?:\.\d+)?|verdict)\b"
        ),
        (
            r"\b(?:mark|rate|grade|score|judge|consider|treat)\b.{0,40}\b(?:as|this|it)\b.{0,20}"
            r"\b(?:valid|correct|pass(?:ed|ing)?|true|fulfilled|supported|safe|perfect)\b"
        ),
    ),
    "a finished verdict": (
        (
            r"[\"'{,]\s*\\*[\"']?(?:score|verdict|rating|is_valid|label|ballot|is_the_agent_response_valid)"
            r"\\*[\"']?\s*[:=]"
        ),
        r"\bnumber of (?:this|the) ballot\b",
        r"^\s*(?:final )?(?:verdict|score|rating)\s*[:=]\s*\S",
    ),
    "an imitation of roles or system messages": (
        (
            r"<\|?/?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id|end_header_id"
            r"|start_of_turn|end_of_turn)\b[^>]{0,20}\|?>"
        ),
        r"\[/?(?:INST|SYS)\]|<</?SYS>>",
        r"^\s*#{0,3}\s*(?:system|developer)\s*(?:message|prompt|override|update|note)?\s*:",
    ),
    "an imitation of the material's end": (
        r"<<<\s*/?(?:begin|end)\b",
        r"\bend of (?:the )?(?:material|passage|data|answer|response|input|document)\b",
        r"</(?:answer|response|data|material|passage|document|input|agent_response|final_answer|user_prompt)>",
    ),
    "a change of the rubric or of the judge's part": (
        r"\b(?:new|updated|revised|actual|real) (?:rubric|criteri(?:on|a)|task|instructions?|scoring)\b",
        r"\byou are (?:now|no longer|not)\b.{0,40}(?:judge|grader|evaluator|assistant|mode)\b",
        r"\b(?:developer|debug|admin|god|test) mode\b.{0,60}\b(?:evaluat|judg|grad|verdict|output|answer)",
        r"\b(?:evaluation|grading|judging) is (?:disabled|off|over|suspended|skipped)\b",
    ),
}
_SIGNS = [
    (what, re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE | re.DOTALL))
    for what, patterns in _WORDS.items()
]
_HIDDEN = re.compile("[\U000e0000-\U000e007f]|[\u202a-\u202e\u2066-\u2069]|[\u200b\u200c\u2060\ufeff]{3,}")
_INVISIBLE = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufe00-\ufe0f]")
_TAG = re.compile("[\U000e0020-\U000e007e]")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,4000}={0,2}(?![A-Za-z0-9+/=])")
_MOST = 200_000
"""Characters of a passage that are searched."""


def signs_in(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the signs of prompt injection, each with the name of its passage."""
    signs = (
        f"{what} (in the {passage.label})" for passage in passages for what in _signs(passage.text[:_MOST])
    )
    return tuple(dict.fromkeys(signs))


def warning_of(signs: Sequence[str]) -> str:
    """Return the warning for the user; empty without signs."""
    if not signs:
        return ""
    return f"the material may try to steer the judge: {'; '.join(signs)}. Read the votes before you trust this score"


def _signs(text: str) -> Iterator[str]:
    if _HIDDEN.search(text):
        yield "invisible characters"
    plain = normalize("NFKC", _INVISIBLE.sub("", _TAG.sub(lambda tag: chr(ord(tag[0]) - 0xE0000), text)))
    for what, pattern in _SIGNS:
        if pattern.search(plain):
            yield what
    for run in _ENCODED.finditer(plain):
        if any(pattern.search(_decode(run[0])) for _, pattern in _SIGNS):
            yield "an encoded order"
            return


def _decode(text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "ignore")
    except (binascii.Error, ValueError):
        return ""
