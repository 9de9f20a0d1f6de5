"""`proctor eval`: validate the arguments before anything runs, report all problems together, run, and show the result."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from proctor.cli.command_base import common, terminal_options
from proctor.cli.eval.execution import Execution, Start
from proctor.cli.eval.joint_execution import carry_out_against, carry_out_part, code_after_empty_part
from proctor.cli.messages import notify, single_problems
from proctor.cli.outputs import (
    NOWHERE,
    RunOutput,
    RunTargets,
    open_targets,
    output_guard,
    parse_outputs,
    reported_errors,
    write_nothing_run,
)
from proctor.cli.own_process import reserve_stdout
from proctor.cli.run_flags import read_settings
from proctor.errors import NothingToRunError, SettingsError, SetupError, SetupProblems
from proctor.files.eval_sets.selectors import SET_SUFFIXES, sets_in, split_existing
from proctor.reports.content.estimate import estimate_data, write_estimate
from proctor.reports.formats.json_text import write_json
from proctor.runs.attempts import attempts_recorded_by_caller
from proctor.runs.estimate import estimate_sync
from proctor.runs.evaluate import evaluate, evaluate_matrix
from proctor.runs.load import ADK_RS, ADK_RS_SOURCE
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.judge_and_user import load_function
from proctor.runs.setup.prepare import prepare
from proctor.runs.setup.settings import (
    Settings,
    engine_options,
    load_settings,
    prepare_process,
    relative_to_working_folder,
)
from proctor.runs.storage.open import is_for_results, project_store
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.cli.eval.failed_cases import FailedCases

_Part = TypeVar("_Part")


class EvalRequest:
    """The arguments of `proctor eval` merged with the settings and validated.

    Raises:
        SetupProblems: all configuration errors, including those that only the engine detects.
    """

    def __init__(
        self,
        words: Sequence[str],
        options: Mapping[str, Any],
        settings: Settings,
        *,
        earlier: str | None = None,
    ) -> None:
        """Read the arguments; `earlier` is the store that `--failed` searches if the new run is not stored."""
        self._problems: list[SetupError] = []
        self._check(lambda: _refuse_storage(options["eval_storage_uri"]))
        guard = partial(input_guard, words, options, settings)
        outputs = self._check(lambda: parse_outputs(options["reports"], options["format_"], guard))
        targets = self._check(lambda: open_targets(options["stores"], settings))
        self.targets = targets or RunTargets()
        self.outputs: list[RunOutput] = outputs or []
        self.options = engine_options(options, settings)
        if options["format_"] == ADK_RS:
            self.options["default_config"] = ADK_RS
        self._load_hooks()
        self.is_empty = False
        """Whether `--failed` names a run in which everything passed."""
        failed = self._restrict_to_failed(options["failed"], earlier or first_store(options["stores"]))
        if self.is_empty and not self._problems:
            self._selection = None
            return
        earlier_run = self._earlier(failed, options, settings) if failed.labels else None
        self._selection = self._check(
            lambda: select_agents_and_sets(
                words, options["agents"], options["sets"], settings, earlier=earlier_run
            )
        )
        if earlier_run is not None and self._selection is not None:
            self._apply_earlier_options(failed, words, options)
        if self._problems:
            raise SetupProblems([*self._problems, *self._more_problems()])
        self.options["outputs"] = self._resumable_outputs()

    @property
    def selection(self) -> Selection:
        """The agents and the eval sets."""
        if self._selection is None:
            raise SetupError("no agent and no eval set")
        return self._selection

    def _check(self, part: Callable[[], _Part]) -> _Part | None:
        try:
            return part()
        except SetupError as problem:
            self._problems += single_problems(problem)
            return None

    def _resumable_outputs(self) -> dict[str, list[str]]:
        """Return the outputs that `proctor resume` writes again; a report of several agents belongs to no single run."""
        files = [output.word for output in self.outputs if output.path is not None]
        reports = files if len(self.selection.agents) == 1 else []
        return {"reports": reports, "results": [place.url for place in self.targets.adk]}

    def _load_hooks(self) -> None:
        for name in ("setup", "teardown"):
            if name in self.options:
                self.options[name] = self._check(partial(load_function, self.options[name], f"--{name}"))

    def _restrict_to_failed(self, name: str | None, store: str | None) -> FailedCases:
        """Read the cases that did not pass in an earlier run, and restrict this run to them."""
        from proctor.cli.eval.failed_cases import FailedCases, find_failed_cases

        if not name:
            return FailedCases()
        failed = self._check(lambda: find_failed_cases(name, store))
        if failed is None:
            return FailedCases()
        self.options["only"], self.is_empty = failed.cases, failed.is_empty
        return failed

    @staticmethod
    def _earlier(failed: FailedCases, options: Mapping[str, Any], settings: Settings) -> Selection:
        agents, why = failed.known_agents(settings.agent)
        missing = f"--failed {options['failed']}: {why}; name the agent with --agent"
        return Selection(agents, failed.files, missing=missing)

    def _apply_earlier_options(
        self, failed: FailedCases, words: Sequence[str], options: Mapping[str, Any]
    ) -> None:
        """Use the config and the sub-agent of the run that `--failed` names, unless the command line names others."""
        from proctor.cli.eval.failed_cases import other_agents

        run, is_agent_named = options["failed"], self.selection.is_agent_named
        others = other_agents(self.selection.agents, failed) if is_agent_named else []
        if others:
            labels = ", ".join(dict.fromkeys(failed.labels))
            notify(f"--failed {run}: runs {', '.join(others)}, which is not the agent of that run, {labels}")
        values = {
            "--config": options["config"],
            "--set": options["sets"] or len(words) > (is_agent_named and not options["agents"]),
        }
        self._problems += [
            SetupError(f"--failed {run}: {why}; name it with {option}")
            for option, why in failed.unknown.items()
            if option in values and not values[option]
        ]
        if failed.is_of_store:
            names = ["config"] if is_agent_named else ["config", "agent_name"]
            self.options = failed.restored(self.options, [name for name in names if options[name] is None])

    def _more_problems(self) -> list[SetupError]:
        """Return the configuration errors that the engine would raise in addition."""
        problems: list[SetupError] = []
        for agent in self._selection.agents if self._selection else []:
            try:
                prepare(agent, self.selection.sets, self.options)  # type: ignore[arg-type]  # checked by name
            except NothingToRunError:  # less severe than the problems already found
                continue
            except SetupError as problem:
                problems += single_problems(problem)
        return problems


def input_guard(words: Sequence[str], options: Mapping[str, Any], settings: Settings) -> OutputGuard:
    """Return the output guard of a run: it protects the files that the command line and the settings name as inputs."""
    from proctor.agents.reference import read_reference

    agents = [*words[:1], *options["agents"], *settings.agent]
    inputs = [*words, *options["sets"], *settings.sets, *agents, options["config"], settings.config]
    inputs += [one.rpartition(":")[0] for one in agents]
    folders = []
    for agent in agents:
        try:
            folders.append(read_reference(agent).folder)
        except SetupError:  # reported when the agent is loaded
            continue
    return output_guard(
        options,
        project=project_store(settings),
        inputs=[Path(split_existing(one)[0]) for one in inputs if one],
        folders=[folder for folder in folders if folder is not None],
    )


def first_store(urls: Sequence[str]) -> str | None:
    """Return the first of `urls` that can hold earlier runs; `None` means the project's own store."""
    return next((url for url in urls if not is_for_results(url) and url != NOWHERE), None)


def _refuse_storage(uri: str | None) -> None:
    if uri:
        raise SetupError(
            f"--eval_storage_uri {uri}: storage in a bucket is not in this version. Give the eval set as a file, "
            f"and keep the result with --report json=PATH."
        )


# --- Determine which agents and eval sets `proctor eval` runs: the command line takes precedence over the settings ----


_SET_SUFFIXES = (".json", ".jsonc", ".json5", ".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Selection:
    """The agents and the eval sets to run."""

    agents: list[str]
    sets: list[str]
    is_agent_named: bool = True
    """Whether the command line names the agents."""
    missing: str = ""
    """For an earlier run whose agent is not known: the error message that asks for it."""


def select_agents_and_sets(
    words: Sequence[str],
    agents: Sequence[str],
    sets: Sequence[str],
    settings: Settings,
    *,
    earlier: Selection | None = None,
) -> Selection:
    """Separate the agents from the eval sets and fill in the defaults.

    `words` are the positional arguments. With `--agent` all of them are sets. Otherwise the first one is the agent, unless
    the settings name an agent and the word is an eval set: an existing file or folder of sets, or the id of a set in that
    agent's folder. If the command line names no agent or no set, use those of `earlier` (the run that `--failed` names),
    otherwise those of the settings. The last default for sets is the agent's own folder.

    Raises:
        SetupError: no agent or no set is named anywhere.
    """
    words, named_agents = list(words), list(agents)
    if not named_agents and words and not _is_set(words[0], settings):
        named_agents = [words.pop(0)]
    if not named_agents and earlier is not None and not earlier.agents:
        raise SetupError(earlier.missing)
    default = earlier or Selection(list(settings.agent), [])
    selected = named_agents or default.agents
    if not selected:
        raise SetupError(_no_agent(words))
    selected_sets = [*words, *sets] or default.sets or [*map(relative_to_working_folder, settings.sets)]
    selected_sets = selected_sets or _own_sets(selected[0])
    _refuse_agent_file(words, named_agents)
    if not selected_sets:
        raise SetupError(
            f"No eval set to run against {selected[0]}: give one after the agent (proctor eval AGENT SET), "
            f"with --set, or as `sets` in proctor.toml."
        )
    return Selection(selected, selected_sets, is_agent_named=bool(named_agents))


def _refuse_agent_file(words: Sequence[str], agents: Sequence[str]) -> None:
    """Refuse a Python file in the place of an eval set: the arguments are probably swapped."""
    for word in words:
        if Path(word).suffix == ".py":
            others = " ".join(one for one in (*agents, *words) if one != word)
            raise SetupError(
                f"{word} is a Python file and no eval set. The agent comes first: `proctor eval {word} {others}`"
            )


def _own_sets(agent: str) -> list[str]:
    """Return the agent's own folder if it contains eval sets, for `proctor eval AGENT`."""
    folder = Path(agent)
    return [agent] if folder.is_dir() and any(sets_in(folder)) else []


def _no_agent(rest: Sequence[str]) -> str:
    where = (
        "give one before the eval set (proctor eval AGENT SET), with --agent, or as `agent` in proctor.toml"
    )
    if rest:
        swapped = f" Did you mean `proctor eval {rest[1]} {rest[0]}`?" if len(rest) == 2 else ""
        return f"{rest[0]} is an eval set, and no agent is named: {where}.{swapped}"
    return f"Nothing to run: no agent is named, and no settings were found. Either {where}, or start with `proctor init`."


def _is_set(word: str, settings: Settings) -> bool:
    name = split_existing(word)[0]
    path = Path(name)
    if path.suffix.lower() in _SET_SUFFIXES:
        return True  # never an agent
    if not settings.agent:
        return False
    if path.is_dir():
        holds_agent = any((path / name).exists() for name in ("__init__.py", "agent.py"))
        return not holds_agent and any(sets_in(path))
    return any(
        (Path(agent) / f"{name}{suffix}").is_file() for agent in settings.agent for suffix in SET_SUFFIXES
    )


# --- Run and show the result ------------------------------------------------------------------------------------------


def run_and_show(words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: all configuration errors; nothing was run.
    """
    with reported_errors(options, lambda: _guard(words, options)) as executions:
        return _run_and_show(words, options, executions)


def _guard(words: Sequence[str], options: Mapping[str, Any]) -> OutputGuard:
    """Return the output guard of the reports, even if the settings cannot be read."""
    try:
        settings = load_settings(Path.cwd())
    except SettingsError:
        settings = Settings()
    return input_guard(words, options, settings)


def _run_and_show(words: Sequence[str], options: Mapping[str, Any], executions: list[Execution]) -> int:
    settings = read_settings(options)
    prepare_process(settings)
    _show_logs(options["log_level"])
    with reserve_stdout() as stdout:
        request = EvalRequest(words, options, settings)
        if request.is_empty:
            return _report_nothing_to_run(f"every case passed in {options['failed']}", request, stdout)
        report_options = terminal_options(
            verbose=options["details"], only_different=options["only_different"]
        )
        with closing(request.targets), attempts_recorded_by_caller():
            execution = Execution(stdout, request.outputs, report_options, request.targets)
            executions.append(execution)
            try:
                return _carry_out(request, execution)
            except NothingToRunError as nothing:
                _report_nothing_to_run(str(nothing), request, stdout)
                return code_after_empty_part(request.options, request.targets.store)


def _carry_out(request: EvalRequest, execution: Execution) -> int:
    """Run and show the result; the exit code comes from the run, from a comparison, or from all parts of a shared run."""
    start, options, store = _evaluation(request), request.options, request.targets.store
    if against := options.get("against"):
        return carry_out_against(execution, start, store, str(against), options.get("margin"))
    if store is not None and (run_id := options.get("join")):
        return carry_out_part(execution, start, store, run_id)
    return execution.carry_out(start)


def _report_nothing_to_run(why: str, request: EvalRequest, stdout: TextIO) -> int:
    """Report in every requested report that there is nothing to run and no error; return the exit code."""
    note = f"nothing to run: {why}"
    notify(f"{note}; the reports are empty" if request.outputs else note)
    write_nothing_run(request.outputs, [], stdout, note, is_empty=True)
    return ExitCode.PASSED


def _evaluation(request: EvalRequest) -> Start:
    """Return the coroutine function that evaluates the requested agents."""
    agents, sets = request.selection.agents, request.selection.sets

    async def start(options: dict[str, Any]) -> Sequence[RunResult]:
        arguments: dict[str, Any] = {**request.options, **options, "store": request.targets.store}
        if len(agents) == 1:
            runs = [await evaluate(agents[0], sets, **arguments)]
        else:
            runs = await evaluate_matrix(agents, sets, **arguments)
        _report_default_criteria(runs)
        return runs

    return start


def _report_default_criteria(runs: Sequence[RunResult]) -> None:
    """Report which sets were scored with adk-rs's default criteria."""
    sets = [one for run in runs for one in run.sets if one.config_source == ADK_RS_SOURCE]
    if names := dict.fromkeys(one.path or one.eval_set_id for one in sets):
        notify(
            f"no config found for {', '.join(names)}: scored by adk-rs's criteria, tool_trajectory_avg_score 1.0 and "
            "final_response_match_v1 0.5 in every invocation (a test_config.json or --config names others)"
        )


def _show_logs(level: str | None) -> None:
    """Log to stderr from `level` on; without a level, only `-vv` enables logging."""
    if chosen := level or ("DEBUG" if common().verbose > 1 else None):
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )


# --- `proctor eval --estimate`: show the expected usage and cost of a run; nothing is run -----------------------------


def show_estimate(words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Show the estimate of a run for each agent, and return the exit code.

    Raises:
        SetupProblems: all configuration errors.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    as_json = options["format_"] == "json"
    store = first_store(options["stores"])
    with reserve_stdout() as stdout:
        # an estimate creates neither a store nor a report
        unkept = {**options, "stores": (NOWHERE,), "reports": (), "format_": None}
        request = EvalRequest(words, unkept, settings, earlier=store)
        if request.is_empty:
            notify(f"nothing to run: every case passed in {options['failed']}")
            return ExitCode.PASSED
        for agent in request.selection.agents:
            try:
                # an estimate joins no run
                estimate = estimate_sync(
                    agent, request.selection.sets, **{**request.options, "store": store, "join": None}
                )
            except NothingToRunError as nothing:
                notify(f"nothing to run: {nothing}")
                continue
            if as_json:
                write_json(estimate_data(estimate), stdout)
                continue
            if len(request.selection.agents) > 1:
                stdout.write(f"{agent}\n")
            write_estimate(estimate, stdout)
    sys.stdout.flush()
    return ExitCode.PASSED
