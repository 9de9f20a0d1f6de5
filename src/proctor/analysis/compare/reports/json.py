"""A comparison as JSON, for programs; docs/schemas/comparison.schema.json has its form."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TextIO

from proctor.analysis.compare.reports.case_diff import Parting, parting_sentence
from proctor.common.safe_text import clean_json
from proctor.reports.evidence.diff_kind import Kind
from proctor.schema.analysis.comparison import ChangedCase, ComparedRun, Comparison, Look, Measured, Trials

VERSION = 1


def write_json(found: Comparison, out: TextIO) -> None:
    """Write `found` as JSON."""
    text = json.dumps(as_data(found), indent=2, ensure_ascii=False, allow_nan=False)
    encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "")
    if encoding != "utf8":
        text = json.dumps(json.loads(text), indent=2)
    out.write(clean_json(text) + "\n")


def as_data(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "version": VERSION,
        "outcome": found.outcome.value,
        "exit_code": found.exit_code,
        "sentence": found.sentence,
        "base": _run(found.base),
        "candidate": _run(found.candidate),
        "margin": found.margin,
        "confidence": found.confidence,
        "pairs": found.pairs,
        "undecided": found.undecided,
        "more_cases": found.more_cases,
        "more_trials": found.more_trials,
        "look": _look(found.look),
        "measures": [_measure(one) for one in found.measures],
        "cases": [_case(case) for case in found.cases],
        "only_base": list(found.only_base),
        "only_candidate": list(found.only_candidate),
        "changed_cases": list(found.changed_cases),
        "unlike": [{"what": one.what, "text": one.text, "expected": one.expected} for one in found.unlike],
    }


def _run(run: ComparedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id or None,
        "agent": run.agent,
        "cases": run.cases,
        "num_runs": run.num_runs,
        "started_at": run.started_at,
        "cost": run.cost,
        "against": run.against or None,
        "most": run.most or None,
    }


def _look(look: Look | None) -> dict[str, Any] | None:
    return None if look is None else asdict(look)


def _measure(one: Measured) -> dict[str, Any]:
    return {
        "name": one.name,
        "decides": one.decides,
        "lower_is_better": one.lower_is_better,
        "base": one.base,
        "candidate": one.candidate,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "p_value": one.p_value,
        "adjusted": one.adjusted,
        "pairs": one.pairs,
        "verdict": one.verdict or None,
        "apart": one.apart,
    }


def _case(case: ChangedCase) -> dict[str, Any]:
    return {
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "change": case.change.value,
        "base": _trials(case.base),
        "candidate": _trials(case.candidate),
        "metric": case.metric or None,
        "scores": list(case.scores) if case.scores else None,
        "reason": case.reason,
    }


def _trials(trials: Trials) -> dict[str, int]:
    return {"passed": trials.passed, "failed": trials.failed, "other": trials.other}


# --- One case of two runs side by side, as JSON; docs/schemas/parting.schema.json has its form ------------------------


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
