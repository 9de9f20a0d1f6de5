"""The command line of a run that the page requests.

A value of the request becomes a part of the command, or a path, only after it was found among the known ones: agents by
their names, files below the project's folder, metrics in the registry. A judge may be any model of a known provider, but
not one with a URL, because its key would be sent there. A request may also name a stored run (`options_of`), whose manifest
then names the agent, the judge, the simulated user and the hooks: only files of the project, because a store may come from an
untrusted source, and none if the run was imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from fastapi import Request
from fastapi.responses import JSONResponse

from proctor.common.registry import METRICS
from proctor.common.safe_text import clean
from proctor.common.secrets import hide_secrets
from proctor.engine.run_options import OPTIONS
from proctor.errors import SetupError, did_you_mean
from proctor.files.eval_sets.selectors import SET_SUFFIXES, quote_case_id
from proctor.runs.load import is_config_object
from proctor.runs.setup.settings import Settings, load_settings
from proctor.runs.storage.open import url_for_commands
from proctor.schema.results.manifest import Manifest
from proctor.web.pages.start import ChosenSet, StartProblem, StartProblems, StartRun
from proctor.web.server.adk.apps import apps_of
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.stored_options import names_of, repeatable_options
from proctor.web.server.security.allowed_names import check_agent, model_problem, model_problems

_MOST_FILES = 2_000
_NOT_LOOKED_INTO = {"node_modules", "venv", "build", "dist", "site-packages", "__pycache__"}
CONFIG_SUFFIXES = (".json", ".yaml", ".yml")
_CHECKED = {"config", "metrics", "judge"}
"""Options of a run whose values are checked before they become a word of a command."""


class InvalidRunError(SetupError):
    """The requested run has problems; `words`: the valid part of the command, to find further ones."""

    def __init__(self, problems: Sequence[StartProblem], words: Sequence[str] = ()) -> None:
        self.problems, self.words = list(problems), list(words)
        super().__init__("; ".join(problem.message for problem in self.problems))


def agents_of_page(context: ServerContext) -> dict[str, str]:
    """Return the agents of the server's start and of the settings: their names on the page, and AGENT arguments."""
    agents: dict[str, str] = {}
    for name, app in apps_of(context.agents, context.root).items():
        if app.is_remote:  # the settings name it, see below
            continue
        relative = _relative(app.reference, context.root)
        agents[name if Path(relative).name == name else relative] = (
            app.reference  # a file is only a part of its folder
        )
    for reference in load_settings(context.root).agent:
        if reference != "replay" and reference not in agents.values():
            agents[hide_secrets(_relative(reference, context.root))] = reference
    return agents


def startable(context: ServerContext) -> dict[str, str]:
    """Return the agents that the page may start: names and AGENT arguments, relative to the project's folder."""
    agents = agents_of_page(context)
    relative = {name: _relative(reference, context.root) for name, reference in agents.items()}
    return {**relative, "replay": "replay"}


def command_of(form: StartRun, context: ServerContext) -> list[str]:
    """Return the words after `proctor` for a requested run.

    Raises:
        InvalidRunError: a name is unknown, or a page may not use it.
    """
    problems: list[StartProblem] = []
    settings = load_settings(context.root)
    stored = _stored_run(form, context, problems)
    names = names_of(stored, context.root) if stored is not None else ()
    words = [
        "eval",
        *_agent(form, context, names, problems),
        *_sets(form, context.root, problems),
        *_scoring(form, context, settings, names, problems),
        *_plain(form),
        *(_options_without_field(stored, context.root, settings) if stored is not None else ()),
        *store_words(context),
    ]
    if problems:
        raise InvalidRunError(problems, words)
    return words


def _stored_run(form: StartRun, context: ServerContext, problems: list[StartProblem]) -> Manifest | None:
    """Return the manifest of the run that the request names; a problem if it cannot be used."""
    if form.options_of is None:
        return None
    try:
        with context.runs() as store:
            manifest = store.manifest(store.find(form.options_of))
    except SetupError as error:
        problems.append(_problem("options_of", str(error)))
        return None
    if not manifest.imported_from:
        return manifest
    message = f"run {manifest.run_id} was imported: its options do not apply here"
    problems.append(_problem("options_of", message))
    return None


def display_command(words: Sequence[str]) -> str:
    """Return a command line to copy, without passwords."""
    return shlex.join(["proctor", *map(_shown, words)])


def _shown(word: str) -> str:
    """Return a word of a command without secrets; the user in the URL of a store is none."""
    option = word.startswith(_STORE)
    return _STORE + url_for_commands(word.removeprefix(_STORE)) if option else hide_secrets(word)


_STORE = "--store="


def store_words(context: ServerContext) -> list[str]:
    """Return the option for the server's store, if it is not the project's own."""
    return [] if context.store_url is None else [_STORE + _relative(str(context.store_url), context.root)]


def option_words(name: str, value: object) -> list[str]:
    """Return an option of a run as words of a command."""
    declared = OPTIONS[name]
    return declared.kind.command_words(declared.flags[0], value)


def _plain(form: StartRun) -> Iterator[str]:
    """Return the fields of the form that are options of a run and need no check here."""
    for name in StartRun.model_fields:
        if name in OPTIONS and name not in _CHECKED:
            yield from option_words(name, getattr(form, name))


def _options_without_field(stored: Manifest, root: Path, settings: Settings) -> Iterator[str]:
    """Return the options of a stored run that the form has no field for."""
    for name, value in repeatable_options(stored, root, settings).items():
        yield from option_words(name, value)


def _agent(
    form: StartRun, context: ServerContext, names: Collection[str], problems: list[StartProblem]
) -> list[str]:
    known = startable(context)
    if form.agent in known or form.agent in names:
        return [f"--agent={known.get(form.agent, form.agent)}"]
    if context.access.any_agent:
        try:
            check_agent(form.agent, context.access)
        except SetupError as error:
            problems.append(_problem("agent", str(error)))
        return [f"--agent={form.agent}"]
    choices = ", ".join(known)
    problems.append(
        _problem(
            "agent", f"no agent named {form.agent!r}.{did_you_mean(form.agent, known)} There is: {choices}"
        )
    )
    return []


def _sets(form: StartRun, root: Path, problems: list[StartProblem]) -> Iterator[str]:
    if form.failed_of is not None:
        if form.failed_of.isalnum():
            yield f"--failed={form.failed_of}"
        else:
            problems.append(_problem("failed_of", f"{form.failed_of!r} is not the id of a run"))
    elif not form.eval_sets:
        problems.append(_problem("eval_sets", "no eval set is chosen: choose at least one"))
    for chosen in form.eval_sets:
        yield from _set_option(chosen, root, problems)


def _set_option(chosen: ChosenSet, root: Path, problems: list[StartProblem]) -> Iterator[str]:
    if file_below(root, chosen.path, SET_SUFFIXES) is None:
        problems.append(_problem("eval_sets", f"{chosen.path}: no eval set below {root.name}"))
        return
    if chosen.cases is not None and not chosen.cases:
        problems.append(_problem("eval_sets", f"{chosen.path}: no case of it is chosen"))
        return
    problems += [
        _problem(
            "eval_sets",
            f"{chosen.path}: the case {case!r} cannot be selected by its id: run the whole set, or select by tag",
        )
        for case in chosen.cases or ()
        if not case.strip()
    ]
    picked = f":{','.join(map(quote_case_id, chosen.cases))}" if chosen.cases is not None else ""
    yield f"--set={chosen.path}{picked}"


def _scoring(
    form: StartRun,
    context: ServerContext,
    settings: Settings,
    names: Collection[str],
    problems: list[StartProblem],
) -> Iterator[str]:
    yield from _config(form, context, settings, problems)
    if form.metrics is not None:
        invalid = [name for name in form.metrics if "," in name]
        problems += [_problem("metrics", f"{name!r} is not the name of a metric") for name in invalid]
        yield from option_words("metrics", form.metrics)
    if form.judge is not None:
        problem = model_problem(form.judge, settings)
        if problem and form.judge not in names:
            problems.append(_problem("judge", problem))
        else:
            yield from option_words("judge", form.judge)


def _config(
    form: StartRun, context: ServerContext, settings: Settings, problems: list[StartProblem]
) -> Iterator[str]:
    if form.config is not None and form.criteria is not None:
        problems.append(_problem("config", "either a config file or metrics chosen here, not both"))
    if form.config is not None:
        if is_config_object(form.config):
            problems.append(
                _problem("config", f"the criteria were {form.config}: choose a config file or metrics")
            )
        elif file_below(context.root, form.config, CONFIG_SUFFIXES) is None:
            problems.append(
                _problem("config", f"there is no config file {form.config} in the folder {context.root.name}")
            )
        else:
            yield from option_words("config", form.config)
    elif form.criteria is not None:
        yield from _criteria(form, context, settings, problems)


def _criteria(
    form: StartRun, context: ServerContext, settings: Settings, problems: list[StartProblem]
) -> Iterator[str]:
    """Write the criteria to a config file named by its content, so that the run can be resumed and the command repeated."""
    criteria = form.criteria or {}
    if not criteria:
        problems.append(_problem("criteria", "no metric is chosen: nothing would decide"))
    faults = {name: _criterion_faults(name, options, settings) for name, options in criteria.items()}
    problems += [_problem("criteria", fault, name) for name, texts in faults.items() for fault in texts]
    criteria = {name: options for name, options in criteria.items() if not faults[name]}
    if not criteria:
        return
    document = json.dumps({"criteria": criteria}, indent=2, ensure_ascii=False) + "\n"
    name = hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    path = context.root / ".proctor" / "criteria" / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document, encoding="utf-8", errors="replace")
    yield from option_words("config", path.relative_to(context.root))


def _criterion_faults(name: str, options: object, settings: Settings) -> list[str]:
    known = METRICS.names()
    unknown = [] if name in known else [f"no metric named {name!r}.{did_you_mean(name, known)}"]
    return [*unknown, *model_problems(options, settings)]


def file_below(root: Path, name: str, suffixes: Sequence[str]) -> Path | None:
    """Return the file `name`, relative to `root`; `None` if there is none, or if it is outside of the folder."""
    if "\0" in name or ":" in name or not name.lower().endswith(tuple(suffixes)):
        return None
    try:
        path = (root / name).resolve()
        inside = path.is_relative_to(root.resolve()) and path.is_file()
    except (OSError, ValueError):
        return None
    return path if inside else None


def files_below(root: Path, suffixes: Sequence[str], *, most: int = _MOST_FILES) -> list[str]:
    """Return the relative paths of the files below `root` with these suffixes, without hidden folders and libraries."""
    paths: list[str] = []
    for place, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _NOT_LOOKED_INTO
        )
        paths += [
            _relative(f"{place}{os.sep}{name}", root)
            for name in sorted(files)
            if name.lower().endswith(tuple(suffixes))
        ]
        if len(paths) >= most:
            break
    return paths[:most]


def _relative(path: str, root: Path) -> str:
    return path.removeprefix(f"{root}{os.sep}")


def _problem(field: str, message: str, metric: str = "") -> StartProblem:
    return StartProblem(field=field, message=message, metric=metric)


# --- problems that the command reports, each with the field of the form that it concerns ------------------------------


_OUR_FILE = re.compile(r"^\.proctor/criteria/\w+\.json(:\d+)*: ")
"""The location of a problem in the file of generated criteria, which the user of the page does not know."""


async def problems_response(_request: Request, error: Exception) -> JSONResponse:
    """Return 422 with all problems."""
    problems = error.problems if isinstance(error, InvalidRunError) else []
    cleaned = [one.model_copy(update={"message": clean(one.message, lines=True)}) for one in problems]
    body = StartProblems(detail="\n".join(one.message for one in cleaned), problems=cleaned)
    return JSONResponse(body.model_dump(), status_code=422)


def attribute_problems(problems: Sequence[Mapping[str, object]], form: StartRun | None) -> list[StartProblem]:
    """Return the command's problems, each with its field; without `form` for none."""
    return [_attribute(problem, form) for problem in problems]


def _attribute(problem: Mapping[str, object], form: StartRun | None) -> StartProblem:
    message, kind = _OUR_FILE.sub("", str(problem["message"])), str(problem.get("kind", ""))
    if form is None:
        return StartProblem(field="", message=message, metric="")
    path = problem.get("path")
    parts = list(map(str, path)) if isinstance(path, list) else []
    metric = _metric(message, parts, form.criteria or {})
    signs = _signs(message, kind, metric, form)
    return StartProblem(
        field=next((field for field, holds in signs if holds), ""), message=message, metric=metric
    )


def _metric(message: str, path: Sequence[str], chosen: Collection[str]) -> str:
    if len(path) > 1 and path[0] == "criteria" and path[1] in chosen:
        return path[1]
    names = (
        name for name in chosen if f"{name!r}" in message or f"{name}:" in message or f".{name}" in message
    )
    return next(names, "")


def _signs(message: str, kind: str, metric: str, form: StartRun) -> list[tuple[str, bool]]:
    """Return fields, and whether a problem seems to concern them; the first match applies."""
    of_metrics = "criteria" if form.criteria is not None else "config"
    is_set_named = any(chosen.path in message for chosen in form.eval_sets)
    return [
        ("agent", kind == "AgentLoadError"),
        ("judge", message.startswith("judge")),
        (of_metrics, bool(metric) or kind == "CriterionError"),
        ("config", form.config is not None and form.config in message),
        ("tags", bool(form.tags) and "tag" in message),
        ("eval_sets", is_set_named or kind == "EvalFileError"),
        ("failed_of", form.failed_of is not None and form.failed_of in message),
        (of_metrics, "metric" in message or "criteria" in message),
        ("judge", "judge" in message),
        ("eval_sets", "case" in message),
    ]
