"""Texts that want more of a terminal than to be read, and a run that has them everywhere."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, Part
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
)
from proctor.schema.results.score import MetricScore, Score

_SEQUENCES = {
    "blink": "\x1b[5m",
    "hide": "\x1b[8m",
    "clear": "\x1b[2J",
    "clear scrollback": "\x1b[3J",
    "home": "\x1b[H",
    "up": "\x1b[99A",
    "erase line": "\x1b[2K\x1b[1A",
    "scroll region": "\x1b[1;2r",
    "alternate screen": "\x1b[?1049h",
    "hide cursor": "\x1b[?25l",
    "bracketed paste": "\x1b[?2004l",
    "mouse": "\x1b[?1003h",
    "window size": "\x1b[8;1;1t",
    "report title": "\x1b[21t",
    "report position": "\x1b[6n",
    "identify": "\x1b[c",
    "title": "\x1b]0;owned\x07",
    "title, ST": "\x1b]2;owned\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "hyperlink": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "palette": "\x1b]4;1;#000000\x07",
    "notify": "\x1b]9;hello\x07",
    "iterm file": "\x1b]1337;File=inline=1:AAAA\x07",
    "DCS": "\x1bP$qm\x1b\\",
    "APC": "\x1b_G\x1b\\",
    "PM": "\x1b^x\x1b\\",
    "SOS": "\x1bXx\x1b\\",
    "reset": "\x1bc",
    "charset": "\x1b(0",
    "save": "\x1b7\x1b8",
    "lone ESC": "\x1b",
    "ESC ESC": "\x1b\x1b[31m",
    "unfinished CSI": "\x1b[",
    "unfinished OSC": "\x1b]0;",
    "C1 CSI": "\x9b2J",
    "C1 OSC": "\x9d0;owned\x9c",
    "C1 DCS": "\x90q\x9c",
    "C1 NEL": "\x85",
    "CR": "\rpassed",
    "CR LF": "\r\n✓ passed",
    "newline": "\n✓ passed: all cases pass\n",
    "BS": "\b\b\b\b",
    "BEL": "\x07",
    "VT": "\x0b",
    "FF": "\x0c",
    "SO": "\x0e",
    "NUL": "\x00",
    "DEL": "\x7f",
    "CAN": "\x18",
    "SUB": "\x1a",
    "RLO": "\u202egnp.exe",
    "isolates": "\u2066\u2067\u2068\u2069",
    "marks": "\u200e\u200f\u061c",
    "no width": "\u200b\u200c\u200d\u2060\ufeff",
    "tags": "\U000e0041\U000e0042\U000e007f",
    "separators": "\u2028\u2029",
    "surrogates": "\ud83d \udc00",
    "fillers": "\u3164\u115f\u00ad",
    "markup": "[bold red]x[/] [link=https://evil.example]y[/link] [/nope] :smile:",
    "backslash": "\\[red]\\",
}
_FRAMES = {"alone": "{}", "at the end": "name{}", "at the start": "{}tail", "in backticks": "a`{}`b"}
HOSTILE = [frame.format(text) for text, frame in product(_SEQUENCES.values(), _FRAMES.values())]
GROUPS = {name: HOSTILE[first :: len(_FRAMES)] for first, name in enumerate(_FRAMES)}


def for_each_text(
    groups: Mapping[str, Sequence[str]],
) -> Callable[[Callable[[str], None]], Callable[..., None]]:
    """Make one test per group of a check of one text: a test per text would take longer to set up than to run."""

    def decorate(check: Callable[[str], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("group", groups)
        def check_group(group: str) -> None:
            assert groups[group]
            for text in groups[group]:
                try:
                    check(text)
                except BaseException as error:
                    error.add_note(f"with the text {text!r}")
                    raise

        return check_group

    return decorate


def everywhere(text: str) -> RunResult:
    """A run in which every text there is comes from a stranger."""
    failure = Failure(where="agent", type=f"T{text}", message=f"m{text}", traceback=_traceback(text), turn=0)
    steps: list[dict[str, Any]] = [
        {
            "kind": "differs",
            "expected": {"name": text, "args": {text: text, "b": 1}},
            "actual": {"name": text, "args": {text: text, "b": 2}},
        },
        {"kind": "extra", "expected": None, "actual": {"name": text, "args": {"x": [text, {text: None}]}}},
    ]
    details = {
        "alignment": steps,
        "text": {"expected": f"one {text} two", "actual": f"one {text}{text} three"},
        "state": [{"key": text, "kind": "differs", "expected": text, "actual": {text: 1}}],
        "note": text,
    }
    score = Score(0.0, reason=text, details=details, warning=f"w{text}")
    metric = f"metric{text}"
    verdict = MetricVerdict(
        metric, Outcome.FAILED, 0.0, 0.5, reason=text, per_trial=[MetricScore(0.0, [score], details=details)]
    )
    turn = Turn(user_content=Content(role="user", parts=[Part(text=text)]))
    recorded = Trial.model_construct(
        eval_set_id=text, eval_id=text, turns=[turn], failure=failure, notes=[text]
    )
    trials = [TrialResult(n, Outcome.ERROR, evidence=recorded, failure=failure) for n in range(2)]
    cases = [
        CaseResult(text, text, Outcome.FAILED, text, {metric: verdict}, trials, place=text),
        CaseResult(f"set{text}", f"id{text}", Outcome.PASSED, "", {metric: verdict}, trials[:1]),
        CaseResult(text, f"error{text}", Outcome.ERROR, failure.cause, {}, trials),
    ]
    sets = [
        SetSummary(text, f"dir/{text}", text, 2, [metric], {text: text}),
        SetSummary(text, None, f"other{text}", 1, failure=failure),
    ]
    return RunResult(text, cases, sets, num_runs=2, warnings=[text], duration=1.0)


def _traceback(text: str) -> str:
    return (
        f'Traceback (most recent call last):\n  File "app{text}.py", line 1, in f{text}\n    call({text})\n'
    )
