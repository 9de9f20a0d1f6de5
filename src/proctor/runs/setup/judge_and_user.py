"""The judges and simulated users of a run: models, objects or functions, created when a metric or a scenario needs them."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.common.error_text import safe_repr, safe_str
from proctor.errors import SetupError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from proctor.engine.usage.shared_budget import SharedBudget
    from proctor.judges.base import AnswerCache
    from proctor.judges.pool import ModelJudge, RunJudges
    from proctor.models.base import Budget
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.config import EvalConfig
    from proctor.schema.format.criterion import JudgeModelOptions
    from proctor.schema.results.manifest import Manifest
    from proctor.schema.results.model_usage import Spent
    from proctor.simulation.base import UserSimulator
    from proctor.simulation.pool import RunUsers

VARIABLE = "PROCTOR_JUDGE_MODEL"
"""The environment variable that names the judge of criteria that name none."""


def default_judge(judge: Any, setting: str | None = None) -> Any:
    """Return the default judge: the given one, else that of the environment, else the setting."""
    return judge if judge is not None else os.environ.get(VARIABLE, "").strip() or setting


def rescoring_judge(judge: Any, run: Manifest, setting: str | None = None) -> Any:
    """Return the default judge for re-scoring: the given one, else the run's, else that of `default_judge`."""
    return default_judge(judge if judge is not None else run.options.get("judge"), setting)


def budget_of(options: Mapping[str, Any]) -> SharedBudget | None:
    """Return the budget for the limits on calls and cost; `None` if none is given."""
    limits = {"max_calls": options.get("max_judge_calls"), "max_cost": options.get("max_cost")}
    if all(limit is None for limit in limits.values()):
        return None
    from proctor.engine.usage.shared_budget import SharedBudget

    return SharedBudget(**limits)


def _no_judge(_messages: object) -> str:
    """Replace a judge that was refused: nothing is run."""
    raise NotImplementedError


class JudgesOnDemand:
    """The judges of a run (see `Judges`), loaded when the first metric needs one.

    `judge` is the name of a model for criteria that name none themselves; or a `ChatModel`, or a plain or
    async function from messages to the answer as text or as data, which replaces every judge.
    """

    def __init__(self, judge: Any = None, *, budget: Budget | None = None) -> None:
        self._given = default_judge(judge)
        self._budget = budget
        self.made: RunJudges | None = None
        """The judges and their usage, once a metric has requested one."""

    def problems(self) -> list[SetupError]:
        """Return the problems of the given judge, whether or not a metric needs it: its type is invalid, or its name unknown."""
        if self._given is None:
            return []
        from proctor.common.registry import MODELS
        from proctor.models.load import as_model
        from proctor.models.names import parse_name

        try:
            if isinstance(self._given, str):
                parse_name(self._given, MODELS.names())
            else:
                as_model(self._given)
        except SetupError as problem:
            self._given = _no_judge  # report it once, not again for every metric
            return [SetupError(f"judge: {problem}")]
        return []

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> ModelJudge:
        """Return the judge of a criterion.

        Raises:
            SetupError: the model is unknown, it has no key, or an extra is missing.
        """
        if self.made is None:
            self.made = self._make()
        return self.made.judge(metric, options, stated=stated)

    def remember(self, cache: AnswerCache) -> None:
        """Look up answers in `cache` before a model is called, and store its answers there."""
        if self.made is not None:
            self.made.remember(cache)

    def spending(self) -> list[Spent]:
        """Return the usage of the judges so far, by model."""
        return self.made.spending() if self.made is not None else []

    def listen(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the reason when a judge is not called any more."""
        if self.made is not None:
            self.made.listen(notify)

    def share(self, processes: int) -> None:
        """Send an equal part of the requests that may be under way at a time: other processes of the run send theirs."""
        if self.made is not None:
            self.made.limiter.share(processes)

    async def close(self) -> None:
        """Close connections at the end of the run."""
        if self.made is not None:
            await self.made.close()

    def _make(self) -> RunJudges:
        from proctor.judges.pool import RunJudges
        from proctor.models.load import as_model, load_model
        from proctor.schema.format.criterion import JudgeModelOptions

        by_name = isinstance(self._given, str) or self._given is None
        return RunJudges(
            find=lambda name, limiter: load_model(name, limiter=limiter),
            default=(self._given if by_name else None) or JudgeModelOptions().judge_model,
            only=None if by_name else as_model(self._given),
            budget=self._budget,
        )


# --- Provider of the simulated users of a run: the models of configs, or a given one, created when the first scenario needs it ---


class UsersOnDemand:
    """The simulated users of a run (see `Users`), loaded when the first scenario needs one.

    `user` replaces the models that configs name: a model's name, a `ChatModel`, or a plain or async function
    from the conversation so far (and the scenario, if it takes two arguments) to the next message; as a string
    `module:function` or `file.py:function`.
    """

    def __init__(self, user: Any = None, *, budget: Budget | None = None) -> None:
        self._given, self._budget = user, budget
        self._made: RunUsers | None = None

    def value_problems(self) -> list[SetupError]:
        """Return the problems of the given user, whether or not there is a scenario."""
        user = self._given
        if isinstance(user, str):
            return self._not_found(user)
        if user is None or (_answers(user) and not isinstance(user, type)):
            return []
        return [
            SetupError(
                "user: expected a model's name, an object with `complete`, or a function from the conversation so far "
                f"to the next message; not {safe_repr(user)}."
            )
        ]

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Return why the user of a case cannot be simulated; empty if it can."""
        try:
            return self._users().problems(case, config)
        except SetupError as problem:
            return [problem]

    def warnings(self, config: EvalConfig) -> list[str]:
        """Return the warnings about the simulated user."""
        return self._users().warnings(config)

    def _not_found(self, name: str) -> list[SetupError]:
        try:
            if name != AN_OBJECT:  # a placeholder is an error only if there is a scenario
                find_user(name)
        except SetupError as problem:
            self._given = _no_user  # report it once, not again for every scenario
            return [problem]
        return []

    def play(self, case: EvalCase, config: EvalConfig) -> UserSimulator:
        """Return a simulator for one conversation."""
        return self._users().play(case, config)

    def share(self, processes: int) -> None:
        """Send an equal part of the requests that may be under way at a time: other processes of the run send theirs."""
        if self._made is not None:
            self._made.limiter.share(processes)

    async def close(self) -> None:
        """Close connections at the end of the run."""
        if self._made is not None:
            await self._made.close()

    def _users(self) -> RunUsers:
        if self._made is None:
            from proctor.simulation.pool import RunUsers

            user = find_user(self._given) if isinstance(self._given, str) else self._given
            self._made = RunUsers(user, budget=self._budget)
        return self._made


def _no_user(_so_far: object) -> None:
    """Replace a user that was refused: nothing is run."""
    raise NotImplementedError


def _answers(value: Any) -> bool:
    return callable(value) or callable(getattr(value, "complete", None))


# --- Resolution of the name of a simulated user: a model, or a function in a module or a file -------------------------


FUNCTION = "user"
"""The default name of the function in a file."""
AN_OBJECT = "<an object in Python>"
"""Placeholder in a manifest for a simulated user or a hook that has no name."""
_FILE = re.compile(r"(?P<file>.+\.py)(:(?P<name>[^\W\d][\w.]*))?", re.DOTALL)
_DOTTED = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):[^\W\d][\w.]*")
_FUNCTIONS = "A function is named by MODULE:FUNCTION or FILE.py:FUNCTION."


def find_user(name: str) -> str | Callable[..., Any]:
    """Return the function with this name, or the name of a model unchanged.

    `file.py:function` and `module:function` are functions (`file.py` alone: its function `user`), unless the part
    before the colon is a provider of models.

    Raises:
        SetupError: the function does not exist, or no model has this name.
    """
    from proctor.common.registry import MODELS
    from proctor.models.names import parse_name

    if name == AN_OBJECT:
        raise not_recorded("user")
    if is_function(name):
        if (match := _FILE.fullmatch(name)) is not None:
            return _function_of_file(Path(match["file"]), match["name"] or FUNCTION, name)
        return _function_of_module(name.partition(":")[0], name)
    try:
        parse_name(name, MODELS.names())
    except UnknownNameError as problem:
        raise UnknownNameError(f"user: {problem} {_FUNCTIONS}") from None
    return name


def is_function(name: str) -> bool:
    """Return whether the name is that of a function rather than of a model; nothing is imported."""
    from proctor.common.registry import MODELS
    from proctor.models.names import ALIASES

    prefix = name.partition(":")[0].strip().lower()
    if prefix in {*MODELS.names(), *ALIASES}:
        return False
    dotted = _DOTTED.fullmatch(name)
    return _FILE.fullmatch(name) is not None or (dotted is not None and _is_module(dotted["module"]))


def _function_of_module(dotted: str, name: str) -> Callable[..., Any]:
    from proctor.agents.import_user_code import import_module_path

    with suppress(Exception):  # imports as agents are imported; `load_function` reports errors
        import_module_path(dotted)
    return load_function(name, "user")


def _is_module(dotted: str) -> bool:
    """Return whether a package or module with the first name exists; nothing is imported."""
    from importlib.util import find_spec

    first = dotted.partition(".")[0]
    if Path(first).is_dir() or Path(f"{first}.py").is_file():
        return True
    try:
        return find_spec(first) is not None
    except (ImportError, ValueError):
        return False


def _function_of_file(file: Path, name: str, reference: str) -> Callable[..., Any]:
    if not file.is_file():
        raise SetupError(f"user: there is no file {file}. {_FUNCTIONS}")
    from proctor.agents.import_user_code import import_folder

    try:
        module = import_folder(file.parent, file.stem)
    except (Exception, SystemExit) as error:  # a script that exits on import must not end this process
        raise SetupError(
            f"user: {file} cannot be imported: {type(error).__name__}: {safe_str(error)}"
        ) from error
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        has = [known for known, value in vars(module).items() if callable(value) and known[0] != "_"]
        what = "no function" if function is None else f"a {type(function).__name__}, and no function, called"
        raise SetupError(f"user: {reference}: {file} has {what} {name!r}.{did_you_mean(name, has)}")
    hook: Callable[..., Any] = function
    return hook


def function_reference(function: object) -> str:
    """Return `module:function`, by which another process finds this very object; `AN_OBJECT` if there is no such name.

    The name that a decorated function has of itself may lead to the function without its decorator.
    """
    loaded = next((reference for reference, owner in _LOADED.items() if owner is function), "")
    if loaded:
        return loaded
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if (
        module is None or module.__name__ == "__main__" or not callable(function)
    ):  # __main__ differs in each process
        return AN_OBJECT
    others = (name for name, value in vars(module).items() if value is function)
    for name in (getattr(function, "__qualname__", ""), *others):
        owner: object = module
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is function:
            return f"{module.__name__}:{name}"
    return AN_OBJECT


def not_recorded(option: str) -> SetupError:
    """Return the error for a function that a run had, and that no name in its manifest leads to."""
    return SetupError(
        f"{option}: the function of this run was an object in Python that no name in a module leads to: give it again, "
        f"resume(run, {option}=…) or --{option} MODULE:FUNCTION"
    )


_LOADED: dict[str, object] = {}
"""The functions that this process loaded by a name, such as a bound method, which has none that leads to it."""


def load_function(reference: str, said_by: str) -> Callable[..., Any]:
    """Return the function that `module:function` names.

    Raises:
        SetupError: the function cannot be found; an exception that the module raised is the cause.
    """
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise SetupError(f"{said_by} takes module:function, got {reference!r}")
    try:
        value: Any = importlib.import_module(module)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise SetupError(
            f"{said_by} {reference}: the module {module!r} cannot be imported: {type(error).__name__}: {safe_str(error)}"
        ) from error
    for part in name.split("."):
        if not hasattr(value, part):
            known = (
                [known for known in vars(value) if not known.startswith("_")]
                if hasattr(value, "__dict__")
                else []
            )
            raise SetupError(f"{said_by} {reference}: {module!r} has no {name!r}.{did_you_mean(name, known)}")
        value = getattr(value, part)
    if not callable(value):
        raise SetupError(f"{said_by} {reference}: that is {type(value).__name__}, not a function")
    function: Callable[..., Any] = value
    _LOADED[reference] = function
    return function
