"""One case of two runs side by side, as JSON; docs/schemas/parting.schema.json has its form."""

from __future__ import annotations

import json
from typing import Any, TextIO

from proctor.analysis.compare.reports.case_diff import Parting, parting_sentence
from proctor.common.safe_text import clean_json
from proctor.reports.evidence.diff_kind import Kind

_IN = {Kind.SAME: "both", Kind.MISSING: "base", Kind.EXTRA: "candidate"}


def write_parting_json(found: Parting, out: TextIO) -> None:
    """Write two trials as JSON; texts are whole."""
    text = json.dumps(parting_data(found), indent=2, ensure_ascii=not _is_utf8(out), allow_nan=False)
    out.write(clean_json(text) + "\n")


def _is_utf8(out: TextIO) -> bool:
    return (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def parting_data(found: Parting) -> dict[str, Any]:
    """Return two trials as plain data; turns and trials count from 1, as everywhere that people read."""
    base, candidate = (None if number is None else number + 1 for number in found.numbers)
    return {
        "version": 1,
        "case": found.name,
        "sentence": parting_sentence(found),
        "base": {"trial": base, "called": found.base},
        "candidate": {"trial": candidate, "called": found.candidate},
        "turn": None if found.turn is None else found.turn + 1,
        "alike": found.alike,
        "steps": [{"in": _IN[kind], "turn": turn + 1, "said": said} for kind, (turn, said) in found.steps],
        "saw": [{"metric": one.metric, "base": one.base, "candidate": one.candidate} for one in found.saw],
    }
