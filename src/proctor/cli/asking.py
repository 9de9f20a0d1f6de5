"""What a `proctor eval` was asked for, checked before anything runs: all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from proctor import api
from proctor.api.project import engine_options, load_function
from proctor.api.runs import is_for_results
from proctor.cli.common import common
from proctor.cli.failures import problems_of
from proctor.cli.keeping import NOWHERE, Keeping, choose_keeping
from proctor.cli.outputs import Output, outputs_over_inputs, parse_outputs
from proctor.cli.request import Request, who_and_what
from proctor.errors import NothingToRunError, SetupError, SetupProblems
from proctor.files.find import split_where_found
from proctor.settings import Settings

if TYPE_CHECKING:
    from proctor.cli.failed import Failed

_Part = TypeVar("_Part")


class Asking:
    """The command line over the settings, read and checked.

    Raises:
        SetupProblems: everything that is wrong, also what only the engine can tell.
    """

    def __init__(
        self,
        words: Sequence[str],
        given: Mapping[str, Any],
        settings: Settings,
        *,
        earlier: str | None = None,
    ) -> None:
        """Read it; `earlier` is the store that `--failed` looks into where the run itself is to be kept nowhere."""
        self._problems: list[SetupError] = []
        self.details = bool(given["details"] or common().verbose)
        self.only_different = bool(given["only_different"])
        self._check(lambda: _refuse_storage(given["eval_storage_uri"]))
        outputs = self._check(lambda: parse_outputs(given["reports"], given["format_"]))
        keeping = self._check(lambda: choose_keeping(given["stores"], settings))
        self.keeping = keeping or Keeping()
        self.outputs: list[Output] = outputs or []
        self.options = engine_options(given, settings)
        self._load_hooks()
        self.is_empty = False
        """Whether `--failed` names a run in which everything passed."""
        failed = self._only_failed(given["failed"], earlier or store_named(given["stores"]))
        if self.is_empty and not self._problems:
            self.request = None
            return
        self.request = self._check(
            lambda: who_and_what(
                words,
                given["agents"],
                given["sets"],
                settings,
                earlier=Request(failed.agents, failed.files),
            )
        )
        self._problems += outputs_over_inputs(
            self.outputs, self._inputs(given.get("config") or settings.config)
        )
        if self._problems:
            raise SetupProblems([*self._problems, *self._more_problems()])
        self.options["outputs"] = self._to_be_kept()

    @property
    def chosen(self) -> Request:
        """The agents and the sets."""
        if self.request is None:
            raise SetupError("no agent and no eval set")
        return self.request

    def _check(self, part: Callable[[], _Part]) -> _Part | None:
        try:
            return part()
        except SetupError as problem:
            self._problems += problems_of(problem)
            return None

    def _to_be_kept(self) -> dict[str, list[str]]:
        """Return what goes on to be written when the run is resumed; a report of several agents is none of one run."""
        files = [output.word for output in self.outputs if output.path is not None]
        reports = files if len(self.chosen.agents) == 1 else []
        return {"reports": reports, "results": [place.url for place in self.keeping.adk]}

    def _inputs(self, config: str | None) -> Iterator[str]:
        """Yield the files that are named for the run."""
        if self.request is not None:
            yield from (split_where_found(one)[0] for one in self.request.sets)
            for agent in self.request.agents:
                yield from (agent, agent.rpartition(":")[0])
        if config is not None:
            yield config

    def _load_hooks(self) -> None:
        for name in ("setup", "teardown"):
            if name in self.options:
                self.options[name] = self._check(partial(load_function, self.options[name], f"--{name}"))

    def _only_failed(self, name: str | None, store: str | None) -> Failed:
        """Read what did not pass in an earlier run, and remember to run only that."""
        from proctor.cli.failed import Failed, read_failed

        if not name:
            return Failed()
        failed = self._check(lambda: read_failed(name, store))
        if failed is None:
            return Failed()
        self.options["only"], self.is_empty = failed.cases, failed.is_empty
        return failed

    def _more_problems(self) -> list[SetupError]:
        """Return what the engine would refuse, too."""
        found: list[SetupError] = []
        for agent in self.request.agents if self.request else []:
            try:
                api.prepare(agent, self.chosen.sets, self.options)  # type: ignore[arg-type]  # checked by name
            except NothingToRunError:  # what is wrong already is worse
                continue
            except SetupError as problem:
                found += problems_of(problem)
        return found


def store_named(urls: Sequence[str]) -> str | None:
    """Return the first of `urls` in which earlier runs may be; `None`: they are in the project's own store."""
    return next((url for url in urls if not is_for_results(url) and url != NOWHERE), None)


def _refuse_storage(uri: str | None) -> None:
    if uri:
        raise SetupError(
            f"--eval_storage_uri {uri}: storage in a bucket is not in this version. Give the eval set as a file, "
            f"and keep the result with --report json=PATH."
        )
