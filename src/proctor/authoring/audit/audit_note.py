"""The audit of cases that were just written, in one or two lines."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path

from proctor.authoring.audit.audit_report import sentence
from proctor.authoring.audit.audit_sets import audit_sync
from proctor.errors import ProctorError, SetupError
from proctor.files.eval_sets.load import load_eval_set
from proctor.runs.load import Configs
from proctor.runs.setup.settings import load_settings

_MOST = 50
"""Cases; more would take longer than a second."""


def audit_note(path: Path, eval_ids: Collection[str]) -> list[str]:
    """Return what these cases of a file catch, and how to see more.

    It is an extra of a command that has done its work: nothing is returned where the audit is not possible, and a config with
    custom metrics is left out, because their code may be slow or cost money.
    """
    try:
        problems: list[SetupError] = []
        config, _ = Configs(load_settings(Path.cwd()).config, problems, []).of(path)
        eval_set = load_eval_set(path)
        eval_set.eval_cases = [case for case in eval_set.eval_cases if case.eval_id in eval_ids]
        has_code = config is not None and config.custom_metrics
        if problems or has_code or not 0 < len(eval_set.eval_cases) <= _MOST:
            return []
        found = audit_sync(eval_set, config=config, proposals=False, allow_unknown_keys=True)
    except (ProctorError, OSError):
        return []
    if not found.score.made:
        return []
    text = sentence(found)
    lines = [f"audit: {text[0].lower()}{text[1:]}"]
    if found.passed_by_any:
        names = ", ".join(case.eval_id for case in found.passed_by_any)
        lines.append(f"warning: an agent that does nothing passes {names}")
    if found.score.made > found.score.caught:
        lines.append(f"next: `proctor audit {shlex.quote(str(path))} -v` lists the survivors")
    return lines
