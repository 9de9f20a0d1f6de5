"""Report the cases that a run would refuse because they assert nothing, and those that are negative only, without a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from proctor.authoring.check import bind_without_code
from proctor.engine.planning.case_checks import REMEDIES, Assertions, and_others, cannot_run
from proctor.engine.planning.criteria import Bound
from proctor.errors import SettingsError, SetupError
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.files.text.problems import Problem
from proctor.files.text.validation_messages import Finding
from proctor.runs.load import Configs
from proctor.runs.setup.settings import Settings, load_settings
from proctor.schema.format.case import EvalCase

__all__ = ["assertion_findings", "assertion_problems", "assertion_problems_of_file", "warning_texts"]

_REFUSED = "a run refuses it"


def assertion_problems_of_file(path: str | Path, eval_ids: Collection[str] | None = None) -> list[Problem]:
    """Return the warnings about the cases of a file; `eval_ids`: about these only.

    Raises:
        EvalFileError: the file cannot be read.
    """
    source = open_eval_set(path, allow_empty=True, allow_duplicate_ids=True)
    return assertion_problems(source, Path(path), eval_ids)


def assertion_problems(
    source: EvalSetFile,
    path: Path,
    eval_ids: Collection[str] | None = None,
    *,
    consequence: str = _REFUSED,
) -> list[Problem]:
    """Return the warnings about the cases of a set, by the config that a run of the file at `path` would use.

    One warning for all cases of which the same is true, at the place of the first. Where the config cannot be used, none: a
    run and `check` report that. `consequence`: what becomes of a case that asserts nothing.
    """
    settings = _settings()
    bound = _bind_metrics(path, settings)
    if bound is None:
        return []
    seen = Assertions(bound, settings.options.get("allow_unasserted", False))
    ids = source.ids()
    for index in range(len(source)):
        if eval_ids is None or ids[index] in eval_ids:
            _look_at(seen, index, source.case(index))
    problems: list[Problem] = []
    for message, hint, indexes in _groups(seen, consequence):
        text = f"case {ids[indexes[0]]!r}{and_others(source, indexes[1:])}: {message}"
        problems += source.problems([(indexes[0], [Finding((), text, hint)])], "warning")
    return problems


def assertion_findings(case: EvalCase, path: Path) -> list[Finding]:
    """Return the same of one case that is being written into the file at `path`."""
    settings = _settings()
    bound = _bind_metrics(path, settings)
    if bound is None:
        return []
    seen = Assertions(bound, settings.options.get("allow_unasserted", False))
    _look_at(seen, 0, case)
    return [Finding((), message, hint) for message, hint, _ in _groups(seen, _REFUSED)]


def warning_texts(problems: Iterable[Problem]) -> list[str]:
    """Return warnings for a reader who knows which case they are about: without their place in the file."""
    return [f"{one.message} ({one.hint})" if one.hint else one.message for one in problems]


def _look_at(seen: Assertions, index: int, case: EvalCase) -> None:
    if not cannot_run(case):
        seen.see(index, case)


def _groups(seen: Assertions, consequence: str) -> Iterable[tuple[str, str, Sequence[int]]]:
    """Return message, hint and indexes of the cases."""
    refused: dict[str, list[int]] = {}
    for index, reason in () if seen.allowed else seen.unasserted.items():
        refused.setdefault(reason, []).append(index)
    for reason, indexes in refused.items():
        yield f"{reason}; {consequence}", REMEDIES, indexes
    for message, indexes in (*seen.groups(), *seen.skips()):
        yield message, "", indexes


def _settings() -> Settings:
    try:
        return load_settings(Path.cwd())
    except SettingsError:  # every command reports it
        return Settings()


def _bind_metrics(path: Path, settings: Settings) -> Bound | None:
    """Return the metrics that a run of a set would use; `None` if it would not begin with them."""
    problems: list[SetupError] = []
    config, _ = Configs(settings.config, problems, []).of(path)
    if config is None or problems:
        return None
    bound = bind_without_code(config, settings.user)
    return None if bound.problems else bound
