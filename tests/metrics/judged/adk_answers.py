"""Reads what judges answered google-adk as it reads them (adk-eval.md 11): by patterns over text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

Verdicts = dict[str, tuple[bool | None, str]]
"""By rubric: yes, no or no verdict; and the rationale."""

_TYPED = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-"})


def rubric_verdicts(text: str, rubrics: Mapping[str, str]) -> Verdicts:
    """Return the verdicts of one sample on the rubrics (id → text)."""
    properties = [*re.finditer(r"^[ \t]*Property:(.*)$", text, re.MULTILINE)]
    rationales = re.findall(r"Rationale: (.*)", text)
    verdicts = re.findall(r"Verdict: (.*)", text)
    if not len(properties) == len(rationales) == len(verdicts):
        return {}
    ids = [*re.finditer(r"^[ \t]*ID:(.*)$", text, re.MULTILINE)]
    by_text = {_plain(words): rubric_id for rubric_id, words in rubrics.items()}
    found: Verdicts = {}
    begin = 0
    for stated, rationale, verdict in zip(properties, rationales, verdicts, strict=True):
        named = [each[1].strip() for each in ids if begin <= each.start() < stated.start()]
        begin = stated.end()
        rubric_id = next((name for name in named[-1:] if name in rubrics), None)
        rubric_id = rubric_id or by_text.get(_plain(stated[1]))
        if rubric_id is not None and rubric_id not in found:
            found[rubric_id] = (_yes_or_no(verdict), rationale.strip())
    return found


def _yes_or_no(verdict: str) -> bool | None:
    low = verdict.lower()
    return True if "yes" in low else False if "no" in low else None


def _plain(text: str) -> str:
    words = unicodedata.normalize("NFKC", text).translate(_TYPED)
    return " ".join(words.split()).strip(" *_`#>-•\"'").lower()


def sentence_labels(text: str) -> list[str]:
    """The labels of the sentences that one validator's answer has in full."""
    block = re.compile(
        r"sentence:(.*?)\nlabel:(.*?)\nrationale:(.*?)\nsupporting_excerpt:(.*?)\ncontradicting_excerpt:(.*?)"
        r"(?=\nsentence:|\Z)",
        re.DOTALL | re.IGNORECASE,
    )
    known = ("supported", "unsupported", "contradictory", "disputed", "not_applicable")
    return [label for found in block.finditer(text) if (label := found[2].strip().lower()) in known]


def is_valid(text: str) -> bool | None:
    """Return the verdict of one sample on a message of the simulated user."""
    found = re.search(r'"is_valid":\s*\[*\s*"*([^"\]]*?)"*\s*\]*\s*[,\n}]', text)
    label = found[1].strip().lower() if found else ""
    if label in {"true", "valid"}:
        return True
    return (
        False
        if label in {"false", "invalid", "almost", "partially_valid", "partially valid", "partially"}
        else None
    )


def text_of(output: Mapping[str, Any]) -> str | None:
    """The text of one answer; `None` where the call failed or nothing came."""
    return output.get("text")


def validity(text: str) -> bool | None:
    """Return the verdict of one sample on a final answer; case matters, and two words are not a label."""
    label = _label(text, "is_the_agent_response_valid")
    if label is not None:
        if label in {"valid", "true"}:
            return True
        return False if label in {"invalid", "almost", "false", "partially_valid", "partially"} else None
    label = _label(text, "is_the_agent_response_invalid")
    return None if label is None else label not in {"true", "invalid"}


def _label(text: str, field: str) -> str | None:
    found = re.search(rf'"{field}":\s*\[*\s*"*([^"\]\s,}}]*)"*\s*\]*\s*[,\n}}]', text)
    return found[1] if found else None
