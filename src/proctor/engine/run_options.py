"""The options of a run. Each one is declared once, as a field of `RunOptions`.

A field carries how users meet the option: its flags, its help, its group, the kind of its values, and who else takes it.
The command line (`cli/run_flags.py`), the settings (`runs/setup/settings.py`), the pytest plug-in, the server's form for a new
run, the checks and the documentation of `evaluate` are all derived from these fields.

To add an option, add a field and run `make options`; the page offers the options with `PAGE` among their uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from proctor.common.limits import MAX_EVENTS, MAX_TEXT
from proctor.common.option_kinds import (
    Amount,
    Checked,
    Choice,
    Flag,
    Fraction,
    FunctionName,
    MemorySize,
    Names,
    OptionKind,
    PythonObject,
    RepeatedText,
    Share,
    Text,
    WholeNumber,
    WorkerPlace,
)
from proctor.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from proctor.engine.execution.run_control import Progress, StoppingRule, StopRequest
    from proctor.engine.usage.shared_budget import SharedBudget
    from proctor.judges.base import Judges
    from proctor.schema.format.config import EvalConfig
    from proctor.simulation.base import Users
    from proctor.stores.base import Store


class OptionGroup(Enum):
    """The groups in which help and documentation list the options."""

    CASES = "What to run"
    TRIALS = "How often"
    EXECUTION = "How to run"
    LIMITS = "When to stop"
    PROBLEMS = "What to accept"
    SCORING = "How to score"
    RESULT = "Where the result goes"


class Use(Enum):
    """Who takes an option besides `evaluate` and, if it has a flag, `proctor eval`."""

    SETTING = "the project's settings"
    PYTEST = "the pytest plug-in"
    RESUME = "resume"
    SCORE = "score and score-trace"
    PAGE = "the web page that starts a run"


SETTING, PYTEST, RESUME, SCORE, PAGE = Use


@dataclass(frozen=True)
class RunOption:
    """How users meet one option of a run."""

    kind: OptionKind
    help: str
    """One sentence. A name of another option is in backticks; the command line shows its flag."""
    flags: tuple[str, ...]
    """The spellings on the command line; empty if only Python code can give it."""
    metavar: str
    group: OptionGroup
    uses: frozenset[Use]
    unset: str
    """What applies if the option is not given."""
    default_text: str
    """What applies if the option is not given, as text; empty if the option then has no effect."""
    python: str
    """What Python code can give besides, for the documentation of `evaluate`."""
    name: str = ""
    annotation: str = ""
    default: object = None


def option(
    default: object,
    kind: OptionKind,
    help_text: str,
    *flags: str,
    group: OptionGroup,
    metavar: str = "",
    uses: Iterable[Use] = (),
    unset: str = "",
    python: str = "",
) -> Any:
    """Return a field of `RunOptions`."""
    default_text = unset
    if not unset and default is not None and not isinstance(default, bool | tuple):
        default_text = f"{default:g}" if isinstance(default, float) else str(default)
    declared = RunOption(kind, help_text, flags, metavar, group, frozenset(uses), unset, default_text, python)
    return field(default=default, metadata={"option": declared})


def _config_problem(name: str, value: object) -> str:
    from os import PathLike

    from proctor.schema.format.config import EvalConfig

    if isinstance(value, str | PathLike | Mapping | EvalConfig):
        return ""
    return f"{name}: expected a path, an EvalConfig or a dict, got {type(value).__name__}"


def _check(function: str) -> Checked:
    """Return the check by a function of `set_plan`, which is imported when the option has a value."""
    module = "proctor.engine.planning.set_plan"
    return Checked(lambda name, value: str(getattr(import_module(module), function)(name, value)))


FAILURES_OR_ALL = Choice(("all", "failures"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one run."""

    # --- which cases ---------------------------------------------------------------------------------------------------

    agent_name: str | None = option(
        None, Text("the name of an agent"), "Run this sub-agent instead of the root agent.", "--agent-name",
        metavar="NAME", group=OptionGroup.CASES, uses=[SETTING, PYTEST],
    )  # fmt: skip
    limit: int | None = option(
        None, WholeNumber(), "Only the first N cases of each set.", "--limit", metavar="N", group=OptionGroup.CASES, uses=[PAGE],
    )  # fmt: skip
    tags: Sequence[str] = option(
        (), RepeatedText(), "Only cases with this tag; may be repeated.", "--tag", metavar="T", group=OptionGroup.CASES,
        uses=[PAGE], python="A list.",
    )  # fmt: skip
    only: Mapping[str, Sequence[str]] | None = option(
        None, PythonObject(), "Only these case ids, by set id; sets that are not named are left out.", group=OptionGroup.CASES,
    )  # fmt: skip
    shard: str | None = option(
        None, _check("shard_problem"), "Only the I-th of N parts of the cases, for N machines; case ids decide the part.",
        "--shard", metavar="I/N", group=OptionGroup.CASES,
    )  # fmt: skip
    join: str | None = option(
        None, _check("run_name_problem"), "With `shard`: write one run, named RUN, together with the processes that run the other parts.",
        "--join", metavar="RUN", group=OptionGroup.CASES,
    )  # fmt: skip
    join_timeout: float = option(
        600.0, Amount(), "With `join`: seconds to wait for the other parts before anything is run.", "--join-timeout",
        metavar="S", group=OptionGroup.CASES,
    )  # fmt: skip
    changed_since: str | None = option(
        None, OptionKind(), "Only cases that differ from REF, a commit of git; all cases of a set whose config differs.",
        "--changed-since", metavar="REF", group=OptionGroup.CASES,
    )  # fmt: skip

    # --- how many trials -----------------------------------------------------------------------------------------------

    num_runs: int | None = option(
        None, WholeNumber(1, most=1_000_000), "Run every case N times.", "--num-runs", "--trials", metavar="N",
        group=OptionGroup.TRIALS, uses=[SETTING, PYTEST, PAGE], unset="the config's `trials`, else 1",
    )  # fmt: skip
    min_pass_rate: float | None = option(
        None, Share(), "The share of a case's trials that must pass, such as 0.8.", metavar="SHARE",
        group=OptionGroup.TRIALS, uses=[PYTEST], unset="the config's `trials`, else 1",
    )  # fmt: skip
    pass_k: int | None = option(
        None, PythonObject(), "Decide by pass^k, the probability that K trials all pass, instead of the share that passes.", group=OptionGroup.TRIALS,
    )  # fmt: skip
    confidence: float | None = option(
        None, PythonObject(), "Decide a case only if the confidence interval of its pass rate does; for example 0.95.",
        group=OptionGroup.TRIALS,
    )  # fmt: skip
    until_decided: bool = option(
        False, Flag(), "Add trials only where needed, up to `num_runs`, until each case, or `against`, is decided.",
        "--until-decided", group=OptionGroup.TRIALS,
    )  # fmt: skip
    against: str | None = option(
        None, OptionKind(), "With `until_decided`: compare with this run or baseline, and decide that.", "--against", metavar="RUN",
        group=OptionGroup.TRIALS,
    )  # fmt: skip
    deterministic: bool = option(
        False, Flag(), "The agent always does the same: in a comparison, one trial that now fails is a regression.",
        "--deterministic", group=OptionGroup.TRIALS, uses=[SETTING],
    )  # fmt: skip
    margin: float | None = option(
        None, Fraction(), "With `against`: the largest drop of the pass rate that is not a regression.", "--margin",
        metavar="D", group=OptionGroup.TRIALS, unset="0.05: 5 points",
    )  # fmt: skip
    retry_errors: int = option(
        0, WholeNumber(0, most=1_000), "Repeat a trial up to N times after an infrastructure or simulator error.",
        "--retry-errors", metavar="N", group=OptionGroup.TRIALS, uses=[SETTING, PYTEST, PAGE], unset="0; a wrong answer is never repeated",
    )  # fmt: skip

    # --- how trials run ------------------------------------------------------------------------------------------------

    concurrency: int = option(
        8, WholeNumber(1, most=10_000), "Trials that run at the same time.", "--concurrency", metavar="N",
        group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME, SCORE, PAGE],
    )  # fmt: skip
    isolate: bool = option(
        False, Flag(), "Run a Python agent in worker processes: contains crashes, memory and blocking code.", "--isolate",
        group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME],
    )  # fmt: skip
    isolate_memory: str | int | None = option(
        None, MemorySize(), "The memory of each worker (512MB, 2GB); a trial that needs more is an error. Implies `isolate`.",
        "--isolate-memory", metavar="SIZE", group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME],
    )  # fmt: skip
    on: str | None = option(
        None, WorkerPlace(), "Run the trials on workers: `processes` of this machine, or Ray: `ray:local`, `ray:auto`, `ray://HOST:PORT`.",
        "--on", metavar="WHERE", group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], unset="in this process",
    )  # fmt: skip
    workers: int | None = option(
        None, WholeNumber(1, most=1_000), "With `on`: start N workers, which share the trials.", "--workers", metavar="N",
        group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], unset="4",
    )  # fmt: skip
    per_worker: int | None = option(
        None, WholeNumber(1, most=10_000), "With `on`: the most trials that a worker runs at a time.", "--per-worker", metavar="N",
        group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], unset="an equal part of `concurrency`",
    )  # fmt: skip
    max_pending: int | None = option(
        None, WholeNumber(), "With `on`: at most N workers start at a time.", "--max-pending", metavar="N", group=OptionGroup.EXECUTION, uses=[SETTING, RESUME],
    )  # fmt: skip
    ramp: int | None = option(
        None, WholeNumber(), "With `on`: start at most N workers a minute.", "--ramp", metavar="N", group=OptionGroup.EXECUTION, uses=[SETTING, RESUME],
    )  # fmt: skip
    worker_cpu: float | None = option(
        None, Amount("CPUs"), "With `on` a cluster of Ray: the CPUs that each worker takes, such as 0.5.", "--worker-cpu",
        metavar="N", group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], unset="1",
    )  # fmt: skip
    env: Sequence[str] = option(
        (), RepeatedText(), "With `on`: refuse workers whose environment lacks NAME; may be repeated.", "--env",
        metavar="NAME", group=OptionGroup.EXECUTION, uses=[RESUME], python="A list.",
    )  # fmt: skip
    timeout: float | None = option(
        300.0, Amount(), "Seconds that one turn may take.", "--timeout", metavar="S", group=OptionGroup.EXECUTION,
        uses=[SETTING, PYTEST, SCORE, PAGE], python="`None` sets no limit.",
    )  # fmt: skip
    trial_timeout: float | None = option(
        None, Amount(), "Seconds that one trial may take.", "--trial-timeout", metavar="S", group=OptionGroup.EXECUTION,
        uses=[SETTING, PYTEST],
    )  # fmt: skip
    max_text: int = option(
        MAX_TEXT, WholeNumber(), "Keep N characters of a text of the agent; a longer one is cut, and an error.", "--max-text",
        metavar="N", group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME],
    )  # fmt: skip
    max_events: int = option(
        MAX_EVENTS, WholeNumber(), "Stop an agent after N events in one turn, which is an error.", "--max-events",
        metavar="N", group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME],
    )  # fmt: skip
    user: Any = option(
        None, Text("the name of a model, module:function or file.py:function"),
        "The simulated user of scenarios: a model, module:function or file.py:function.", "--user", metavar="WHO",
        group=OptionGroup.EXECUTION, uses=[SETTING, PYTEST, RESUME], unset="the config's user_simulator_config",
        python="Also a `ChatModel` or a function from the conversation so far to the next message.",
    )  # fmt: skip
    setup: Callable[..., object] | None = option(
        None, FunctionName(), "Called before each trial.", "--setup", metavar="MODULE:FUNCTION",
        group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], python="May take `case` and `session`.",
    )  # fmt: skip
    teardown: Callable[..., object] | None = option(
        None, FunctionName(), "Called after each trial, even a failed one.", "--teardown", metavar="MODULE:FUNCTION",
        group=OptionGroup.EXECUTION, uses=[SETTING, RESUME], python="May take `case` and `session`.",
    )  # fmt: skip

    # --- limits: a run that reaches one stops in order and can be resumed, which starts each limit again ----------------

    fail_fast: bool = option(
        False, Flag(), "Stop after the first case that does not pass (the same as --max-failures 1).", "-x", "--fail-fast", group=OptionGroup.LIMITS,
    )  # fmt: skip
    max_failures: int | None = option(
        None, WholeNumber(), "Start no trial once N cases did not pass.", "--max-failures", metavar="N",
        group=OptionGroup.LIMITS, uses=[RESUME, PAGE],
    )  # fmt: skip
    max_time: float | None = option(
        None, Amount(), "Start no trial after S seconds; `proctor resume` runs the rest.", "--max-time", metavar="S",
        group=OptionGroup.LIMITS, uses=[RESUME, PAGE],
    )  # fmt: skip
    max_tokens: int | None = option(
        None, WholeNumber(), "Start no trial once the agent has used N tokens.", "--max-tokens", metavar="N",
        group=OptionGroup.LIMITS, uses=[RESUME, PAGE],
    )  # fmt: skip
    max_cost: float | None = option(
        None, Amount("US dollars"), "Spend at most USD on models: judges, simulated users and, if its price is known, the agent.",
        "--max-cost", metavar="USD", group=OptionGroup.LIMITS, uses=[SETTING, RESUME, SCORE, PAGE],
    )  # fmt: skip
    max_judge_calls: int | None = option(
        None, WholeNumber(), "Call LLM judges at most N times.", "--max-judge-calls", metavar="N",
        group=OptionGroup.LIMITS, uses=[SETTING, RESUME, SCORE, PAGE],
    )  # fmt: skip
    stop: StopRequest | None = option(
        None, PythonObject(("listen",)), "An object that stops the run early when it is called.", group=OptionGroup.LIMITS,
        uses=[RESUME, SCORE],
    )  # fmt: skip

    # --- which problems are no errors, and which warnings are ------------------------------------------------------------

    keep_going: bool = option(
        False, Flag(),
        "An eval set that cannot be read is a separate error; the others run. A missing file is still a configuration error.",
        "--keep-going", group=OptionGroup.PROBLEMS,
    )  # fmt: skip
    allow_duplicate_ids: bool = option(
        False, Flag(), "Run cases that share an id under distinct ids, instead of refusing the set.",
        "--allow-duplicate-ids", group=OptionGroup.PROBLEMS, uses=[PYTEST],
    )  # fmt: skip
    allow_unknown_keys: bool = option(
        False, Flag(), "Only warn of unknown keys that look like an expectation, instead of refusing the set.",
        "--allow-unknown-keys", group=OptionGroup.PROBLEMS, uses=[SETTING, PYTEST, SCORE, PAGE],
    )  # fmt: skip
    allow_unasserted: bool = option(
        False, Flag(), "Skip a case that asserts nothing, instead of refusing it.", "--allow-unasserted",
        group=OptionGroup.PROBLEMS, uses=[SETTING, PYTEST, RESUME, SCORE, PAGE],
    )  # fmt: skip
    warnings_as_errors: bool = option(
        False, Flag(), "Every warning about eval sets, configs and criteria is a configuration error.", "--warnings-as-errors",
        group=OptionGroup.PROBLEMS, uses=[SETTING, PYTEST, SCORE, PAGE],
    )  # fmt: skip

    # --- scores and verdicts -------------------------------------------------------------------------------------------

    config: str | Path | EvalConfig | Mapping[str, object] | None = option(
        None, Checked(_config_problem, "the path of a config file"), "The criteria.", "--config", "--config_file_path",
        metavar="FILE", group=OptionGroup.SCORING, uses=[SETTING, PYTEST, SCORE, PAGE],
        unset="test_config.json in the folder of each set or above it, else ADK's defaults",
        python="Also an `EvalConfig` or a dict.",
    )  # fmt: skip
    default_config: Literal["adk-rs"] | None = option(
        None, Choice(("adk-rs",)), "`adk-rs`: the criteria of adk-rs's `eval` where no config is found.",
        group=OptionGroup.SCORING,
    )  # fmt: skip
    metrics: Sequence[str] | None = option(
        None, Names("the name of a metric, or an array of names"),
        "Compute only these metrics of the config; the others are reported as skipped.", "--metrics", metavar="A,B",
        group=OptionGroup.SCORING, uses=[SETTING, PYTEST, SCORE, PAGE],
    )  # fmt: skip
    no_judge: bool = option(
        False, Flag(), "Leave out the metrics that ask a language model.", "--no-judge", group=OptionGroup.SCORING,
        uses=[PYTEST, SCORE, PAGE],
    )  # fmt: skip
    judge: Any = option(
        None, Text("the name of a model"), "The model of judges whose criterion names none, such as openai:gpt-5 or ollama/llama3.2.",
        "--judge", metavar="MODEL", group=OptionGroup.SCORING, uses=[SETTING, PYTEST, RESUME, SCORE, PAGE],
        unset="PROCTOR_JUDGE_MODEL, the setting `judge`, else gemini-2.5-flash",
        python="Also a `ChatModel` or a function from messages to an answer, for every judge.",
    )  # fmt: skip
    compat: str | None = option(
        None, Choice(("adk",)), "Score exactly as google-adk does, known weaknesses included.", "--compat",
        group=OptionGroup.SCORING, uses=[SETTING, PYTEST, SCORE],
    )  # fmt: skip
    explain: Literal["all", "failures"] = option(
        "failures", FAILURES_OR_ALL, "`all`: give reasons for passed metrics, too.", group=OptionGroup.SCORING, uses=[SCORE],
    )  # fmt: skip

    # --- the result ----------------------------------------------------------------------------------------------------

    store: str | Path | Store | None = option(
        None, PythonObject(), "Write the run to this store (a URL, a path, a `Store`) as it happens, so that it can be resumed.",
        group=OptionGroup.RESULT, uses=[RESUME, SCORE], unset="in memory only",
    )  # fmt: skip
    outputs: Mapping[str, Sequence[str]] | None = option(
        None, PythonObject(), 'Where the caller writes the result, for `resume`: `{"reports": ["NAME=PATH"], "results": ["adk:DIR"]}`.',
        group=OptionGroup.RESULT,
    )  # fmt: skip
    keep_evidence: Literal["all", "failures"] = option(
        "all", FAILURES_OR_ALL, "`failures`: drop the evidence of passed cases, which limits memory.", group=OptionGroup.RESULT,
    )  # fmt: skip
    progress: Progress | None = option(
        None, PythonObject(("run_started", "trial_finished", "case_finished", "run_finished")),
        "An object that receives the progress of the run (see `Progress`).", group=OptionGroup.RESULT, uses=[RESUME, SCORE],
    )  # fmt: skip

    # --- objects that the setup of a run makes from the options ---------------------------------------------------------

    looks: StoppingRule | None = None
    """Ends the run when its comparison with another run is decided (`against`)."""
    budget: SharedBudget | None = None
    """Enforces `max_cost` and `max_judge_calls`: asked before each call of a model. `None`: there are no such limits."""
    judges: Judges | None = None
    """The judges of the metrics. `None`: metrics that need one are refused."""
    users: Users | None = None
    """The simulated users of scenarios. `None`: none are needed, because recorded evidence is scored."""

    def listen(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the reason when judges stop answering: a limit is reached, or the judge refuses."""
        if self.budget is not None:
            self.budget.listen(notify)
        if self.judges is not None:
            self.judges.listen(notify)

    def problems(self) -> list[SetupError]:
        """Return the configuration errors in these options."""
        return [SetupError(message) for message in self._invalid().values()]

    def usable(self) -> RunOptions:
        """Return these options with the default in place of each invalid one, so that a plan finds further problems."""
        defaults: dict[str, Any] = {name: OPTIONS[name].default for name in self._invalid()}
        return replace(self, **defaults)

    def _invalid(self) -> dict[str, str]:
        """Return the error message of each option that is invalid. `None` is valid if it is the default, or lifts a limit."""
        values = {name: getattr(self, name) for name in OPTIONS}
        problems = {
            name: OPTIONS[name].kind.problem(name, value)
            for name, value in values.items()
            if value is not None
            or (OPTIONS[name].default is not None and "None" not in OPTIONS[name].annotation)
        }
        return {name: problem for name, problem in problems.items() if problem}


OPTIONS: Mapping[str, RunOption] = {
    each.name: replace(
        each.metadata["option"], name=each.name, annotation=str(each.type), default=each.default
    )
    for each in fields(RunOptions)
    if each.metadata
}
"""Every option of a run by its name, in the order of the help."""


def options_for_use(use: Use) -> list[str]:
    """Return the names of the options that `use` takes."""
    return [option.name for option in OPTIONS.values() if use in option.uses]


WORKERS = ("on", "workers", "per_worker", "max_pending", "ramp", "worker_cpu", "env")
"""The options for where the trials of a run, or of a session of it, are run. They change no verdict."""
