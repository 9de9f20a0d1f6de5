"""Implementation of `proctor eval-set generate`: a model writes scenarios, a person reviews them, Proctor saves them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from proctor.cli.file_changes import show_audit
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, count_text
from proctor.errors import SetupError
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.schema.format.case import ConversationScenario, SessionInput
    from proctor.schema.format.persona import UserPersona
    from proctor.simulation.generate_scenarios import Generated

_WIDTH = 100
_UNDECIDED = "add what decides them: a final state, rules or rubrics in each case, or a metric for scenarios in the config"


def generate_and_keep(agent: str, out: Path | None, options: Mapping[str, Any]) -> int:
    """Generate scenarios, let the user select some on a terminal, save them, and return the exit code.

    Raises:
        SetupError: a configuration error, or no terminal for the review; no model was called.
    """
    from proctor.authoring.generate_scenarios import generate_scenarios_sync, session_for
    from proctor.cli.own_process import reserve_stdout
    from proctor.runs.setup.settings import load_settings, prepare_process

    if not (options["yes"] or options["dry_run"] or out is None or sys.stdin.isatty()):
        raise SetupError("there is no terminal to ask: add --yes to keep all, or --dry-run only to show them")
    prepare_process(load_settings(Path.cwd()))
    wish, persona = _given_options(options), _persona(options["persona"])
    if out is not None:
        wish |= _place(out, make_parents=options["make_parents"])
    with reserve_stdout() as stdout:
        generated = generate_scenarios_sync(agent, **wish)
        scenarios = _choose(generated, options, asks=out is not None, stdout=stdout)
        if persona is not None:
            scenarios = [one.model_copy(update={"user_persona": persona}) for one in scenarios]
        if options["dry_run"] and out is not None:
            notify(f"{out}: nothing was written (--dry-run)")
        else:
            _save_scenarios(
                scenarios,
                out,
                session_for(agent, generated.agent),
                stdout,
                make_parents=options["make_parents"],
            )
        stdout.flush()
    _report_generation(generated)
    if not generated.problem:
        return ExitCode.PASSED
    return ExitCode.FAILED if generated.scenarios else ExitCode.ERROR


def _given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the generation options: those of google-adk's config file, overridden by the command line."""
    from proctor.authoring.generate_scenarios import load_generation_config

    names = ("count", "guidance", "environment", "model")
    wish: dict[str, Any] = {}
    if options["config_file"]:
        config = load_generation_config(options["config_file"])
        values = (config.count, config.generation_instruction, config.environment_context, config.model_name)
        wish = dict(zip(names, values, strict=True))
    wish |= {name: options[name] for name in names if options[name] is not None}
    wish |= {name: options[name] for name in ("agent_name", "max_cost")}
    return {name: value for name, value in wish.items() if value is not None}


def _persona(name: str | None) -> UserPersona | None:
    from proctor.schema.format.persona import UnknownPersonaError, find_persona

    try:
        return find_persona(name) if name else None
    except UnknownPersonaError as error:
        raise SetupError(f"--persona: {error}") from None


def _place(out: Path, *, make_parents: bool) -> dict[str, Any]:
    """Check that the set can be written; return an existing set as an option, so that its scenarios are not repeated."""
    from proctor.files.edit.add_remove_cases import id_of_new_set, is_occupied
    from proctor.runs.output_guard import check_growing_set

    check_growing_set(out, make_parents=make_parents)
    if is_occupied(out):
        return {"existing": out}
    id_of_new_set(out)
    return {}


# --- Review ------------------------------------------------------------------------------------------------------------


def _choose(
    generated: Generated, options: Mapping[str, Any], *, asks: bool, stdout: TextIO
) -> list[ConversationScenario]:
    """Show the scenarios and return those to save: the ones that the user accepts on a terminal, otherwise all."""
    is_asked = asks and not options["yes"] and not options["dry_run"]
    scenarios: list[ConversationScenario] = []
    for number, (scenario, tools) in enumerate(zip(generated.scenarios, generated.tools, strict=True), 1):
        text = _scenario_text(f"{number} of {len(generated.scenarios)}", scenario, tools)
        if is_asked:
            notify(text)
            answer = _answer()
            if answer == "q":
                break
            if answer == "n":
                continue
            is_asked = answer != "a"
        elif asks:
            stdout.write(clean(text, lines=True) + "\n")
        scenarios.append(scenario)
    return scenarios


def _answer() -> str:
    choice = click.Choice(["y", "n", "a", "q"])
    answer: str = click.prompt(
        "keep it? (a: this one and all others, q: no more)", type=choice, default="y", err=True
    )
    return answer


def _scenario_text(number: str, scenario: ConversationScenario, tools: Sequence[str]) -> str:
    lines = [f"SCENARIO  {number}", *_set_in("start", scenario.starting_prompt)]
    lines += _set_in("plan", scenario.conversation_plan)
    return "\n".join([*lines, *_set_in("tools", ", ".join(tools))])


def _set_in(name: str, text: str) -> list[str]:
    margin = " " * 10
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, _WIDTH - len(margin)) or [""]]
    return [f"{f'  {name}' if index == 0 else '':10}{line}" for index, line in enumerate(lines)]


# --- Output ------------------------------------------------------------------------------------------------------------


def _save_scenarios(
    scenarios: Sequence[ConversationScenario],
    out: Path | None,
    session: SessionInput | None,
    stdout: TextIO,
    *,
    make_parents: bool,
) -> None:
    """Add the scenarios to the set, or print them; if writing fails, print them, so that they are not lost."""
    from proctor.authoring import edit_eval_set
    from proctor.authoring.generate_scenarios import cases_of

    if out is None:
        _print(scenarios, stdout)
    elif not scenarios:
        notify(f"{out}: no scenario was kept; nothing was written")
    else:
        try:
            cases = cases_of(scenarios, session_input=session)
            added = edit_eval_set.add_cases(out, cases, make_parents=make_parents)
        except (SetupError, OSError):
            _print(scenarios, stdout)
            raise
        count = len(added.cases)
        message = f"{out}: {count_text(count, 'case')} added: {', '.join(added.cases)}"
        stdout.write(clean(message) + "\n")
        notify(f"{_UNDECIDED}: `proctor check {out}`")
        show_audit(added.path, added.cases)


def _print(scenarios: Sequence[ConversationScenario], stdout: TextIO) -> None:
    """Print a scenarios file, as `add-scenarios` reads it."""
    from proctor.schema.format.case import ConversationScenarios
    from proctor.schema.serialize import to_adk_json

    stdout.write(to_adk_json(ConversationScenarios(scenarios=list(scenarios))) + "\n")


def _report_generation(generated: Generated) -> None:
    """Report the rejected scenarios, the usage and cost, and why there are fewer scenarios than requested."""
    for one in generated.refused:
        notify(f"not taken: {one.starting_prompt!r}: {one.why}")
    cost = "cost not known" if generated.cost is None else f"${generated.cost:.4g}"
    calls = count_text(generated.calls, "call")
    tokens = generated.input_tokens + generated.output_tokens
    notify(f"{generated.model}: {calls}, {tokens:,} tokens, {cost}")
    if generated.problem:
        came = len(generated.scenarios)
        notify(f"{came or 'no'} scenario{'' if came == 1 else 's'} came: {generated.problem}")
