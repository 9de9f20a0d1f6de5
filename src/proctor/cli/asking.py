"""What a `proctor eval` was asked for, checked before anything runs: all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from proctor import api
from proctor.cli.common import common
from proctor.cli.failures import problems_of
from proctor.cli.outputs import Output, parse_outputs
from proctor.cli.request import Request, engine_options, load_function, who_and_what
from proctor.errors import SetupError, SetupProblems
from proctor.settings import Settings

_Part = TypeVar("_Part")


class Asking:
    """The command line over the settings, read and checked.

    Raises:
        SetupProblems: everything that is wrong, also what only the engine can tell.
    """

    def __init__(self, words: Sequence[str], given: Mapping[str, Any], settings: Settings) -> None:
        self._problems: list[SetupError] = []
        self.details = bool(given["details"] or common().verbose)
        self.only_different = bool(given["only_different"])
        self._check(lambda: _refuse_storage(given["eval_storage_uri"]))
        outputs = self._check(lambda: parse_outputs(given["reports"], given["format_"]))
        self.outputs: list[Output] = outputs or []
        self.options = engine_options(given, settings)
        self._load_hooks()
        sets = [*given["sets"], *self._only_failed(given["failed"], bool(words[1:] or given["sets"]))]
        self.request = self._check(lambda: who_and_what(words, given["agents"], sets, settings))
        if self._problems:
            raise SetupProblems([*self._problems, *self._more_problems()])

    @property
    def chosen(self) -> Request:
        """The agents and the sets."""
        if self.request is None:
            raise SetupError("no agent and no eval set")
        return self.request

    @property
    def is_empty(self) -> bool:
        """Whether `--failed` names a run in which everything passed."""
        return self.options.get("only") == {}

    def _check(self, part: Callable[[], _Part]) -> _Part | None:
        try:
            return part()
        except SetupError as problem:
            self._problems += problems_of(problem)
            return None

    def _load_hooks(self) -> None:
        for name in ("setup", "teardown"):
            if name in self.options:
                reference = self.options[name]
                self.options[name] = self._check(
                    lambda ref=reference, name=name: load_function(ref, f"--{name}")
                )

    def _only_failed(self, report: str | None, sets_are_given: bool) -> list[str]:  # noqa: FBT001
        """Read what did not pass in an earlier run; its sets are run again unless others are named."""
        if not report:
            return []
        from proctor.cli.failed import read_failed

        failed = self._check(lambda: read_failed(Path(report)))
        if failed is None:
            return []
        self.options["only"] = failed.cases
        return [] if sets_are_given else failed.files

    def _more_problems(self) -> list[SetupError]:
        """Return what the engine would refuse, too."""
        found: list[SetupError] = []
        for agent in self.request.agents if self.request else []:
            try:
                api.prepare(agent, self.chosen.sets, self.options)  # type: ignore[arg-type]  # checked by name
            except SetupError as problem:
                found += problems_of(problem)
        return found


def _refuse_storage(uri: str | None) -> None:
    if uri:
        raise SetupError(
            f"--eval_storage_uri {uri}: storage in a bucket is not in this version. Give the eval set as a file, "
            f"and keep the result with --report json=PATH."
        )
