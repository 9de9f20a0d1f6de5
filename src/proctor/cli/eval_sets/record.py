"""`proctor record`: talk to an agent, and save the conversation as a case."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options, option, parents_option
from proctor.cli.file_changes import show_audit, show_problems
from proctor.cli.messages import notify
from proctor.cli.run_flags import run_options
from proctor.common.safe_text import clean, count_text, cut_text, has_lone_surrogate
from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.authoring.edit_eval_set import Added
    from proctor.engine.trial.live_conversation import Conversation
    from proctor.schema.evidence.event import Event
    from proctor.schema.evidence.trial import Failure
    from proctor.schema.format.case import EvalCase

WHAT, HOW = "What to write", "How to talk"

EXAMPLES = """
proctor record my_project.agent --output booking.evalset.yaml
proctor record agents/travel --output trip.evalset.json --id two_turns --final-state
proctor record --from-session session.json --output trip.evalset.json
proctor record --from-trace traces.jsonl --output trip.evalset.json
"""

COMMANDS = """\
/undo   take the last turn back
/save   keep the conversation as a case, and end
/quit   end and keep nothing; so does Ctrl-C"""


@click.command("record", cls=SectionedCommand, examples=EXAMPLES)
@argument("agent", metavar="[AGENT]", required=False)
@option(
    "--output", "-o", "into", old=("--into",), section=WHAT, metavar="SET", required=True, type=click.Path(path_type=Path),
    help="The eval set to which the case is added; created if it does not exist.",
)  # fmt: skip
@option("--id", "eval_id", section=WHAT, metavar="CASE", help="The id of the case.  [recorded_DATE_TIME]")
@option(
    "--final-state", section=WHAT, is_flag=True,
    help="The case also expects the state keys that the conversation changed.",
)  # fmt: skip
@option(
    "--from-session", section=WHAT, metavar="FILE", type=click.Path(path_type=Path),
    help="Take a session that google-adk kept (JSON) in place of a conversation.",
)  # fmt: skip
@option(
    "--from-trace", "from_traces", section=WHAT, metavar="TRACE", multiple=True, type=click.Path(path_type=Path),
    help="Save each conversation of an OpenTelemetry trace as a case, for review. May be repeated.",
)  # fmt: skip
@parents_option(WHAT)
@option(
    "--session-input-file", section=HOW, metavar="FILE", type=click.Path(path_type=Path),
    help="The session that the conversation starts in: app, user, state.",
)  # fmt: skip
@run_options(["isolate", "isolate_memory", "timeout"], section=HOW)
@common_options
def record(
    *,
    agent: str | None,
    into: Path,
    eval_id: str | None,
    from_session: Path | None,
    from_traces: tuple[Path, ...],
    make_parents: bool,
    **how: Any,
) -> None:
    """Talk to an agent in the terminal, and save the conversation as a new case.

    Its tool calls are shown as they happen. /undo takes the last turn back, /save writes the case
    (so does the end of the input), /quit keeps nothing. Off a terminal each line of the input is a
    message.
    """
    from proctor.authoring.edit_eval_set import add_cases
    from proctor.runs.output_guard import check_growing_set

    inputs = [*from_traces, *filter(None, (from_session, how["session_input_file"]))]
    check_growing_set(into, make_parents=make_parents, inputs=inputs)
    if from_traces:
        if agent is not None or from_session is not None:
            raise SetupError(
                "--from-trace takes the traces as they are: leave the agent and --from-session out"
            )
        _from_traces(from_traces, into, eval_id, make_parents=make_parents)
        return
    eval_id = eval_id or time.strftime("recorded_%Y%m%d_%H%M%S")
    _check_target(into, eval_id)
    if from_session is not None:
        from proctor.authoring.record import case_of_session

        if agent is not None:
            raise SetupError("--from-session takes the session as it is: leave the agent out")
        case: EvalCase | None = case_of_session(eval_id, from_session)
    else:
        case = _Recording(_agent(agent), eval_id, **how)()
    if case is None:
        notify("nothing was written")
        return
    added = add_cases(into, [case], make_parents=make_parents)
    turns = len(case.conversation or ())
    click.echo(clean(f"{added.path}: case {eval_id} of {count_text(turns, 'turn')} added"))
    _report(added)


def _report(added: Added) -> None:
    """Show the warnings about the new cases, else what they catch."""
    show_problems(added.warnings)
    if not added.warnings:
        show_audit(added.path, added.cases)


def _from_traces(traces: Sequence[Path], into: Path, eval_id: str | None, *, make_parents: bool) -> None:
    """Add the conversations of traces to a set; report those that cannot become a case."""
    from proctor.authoring.edit_eval_set import add_cases
    from proctor.authoring.record import eval_set_of
    from proctor.files.eval_sets.selectors import require_new_case_id

    eval_set, left = eval_set_of(traces)
    cases = eval_set.eval_cases
    if eval_id is not None:
        if len(cases) != 1:
            raise SetupError(f"--id names one case, and the traces contain {len(cases)} that can be taken")
        cases[0].eval_id = require_new_case_id(eval_id)
    for why in left:
        notify(f"not taken: {why}")
    if not cases:
        raise SetupError("nothing was written: no conversation in these traces can be expected of an agent")
    added = add_cases(into, cases, make_parents=make_parents)
    click.echo(clean(f"{into}: {count_text(len(cases), 'case')} added for review: "
                     f"{', '.join(case.eval_id for case in cases[:5])}{' …' if len(cases) > 5 else ''}"))  # fmt: skip
    _report(added)


def _check_target(into: Path, eval_id: str) -> None:
    """Fail before the conversation starts if the case cannot be written later."""
    from proctor.files.edit.add_remove_cases import check_new_case
    from proctor.files.eval_sets.selectors import require_new_case_id

    check_new_case(into, require_new_case_id(eval_id))


def _agent(agent: str | None) -> str:
    from proctor.runs.setup.settings import load_settings

    agents = [agent] if agent is not None else load_settings(Path.cwd()).agent
    if not agents:
        raise SetupError(
            "no agent given: name one (a module, a file, a folder), or set `agent` in proctor.toml"
        )
    return agents[0]


class _Recording:
    """One conversation on a terminal, or with messages from a pipe."""

    def __init__(
        self,
        agent: str,
        eval_id: str,
        *,
        final_state: bool,
        session_input_file: Path | None,
        timeout: float | None,
        **isolation: Any,
    ) -> None:
        from proctor.engine.execution.run_control import OwnLoop
        from proctor.engine.run_options import RunOptions
        from proctor.engine.trial.live_conversation import Conversation
        from proctor.files.eval_sets.load import load_session_input
        from proctor.runs.load import load_agent

        session = load_session_input(session_input_file) if session_input_file else None
        timeout = RunOptions().timeout if timeout is None else timeout
        self._conversation: Conversation = Conversation(
            load_agent(agent, **isolation), session_input=session, timeout=timeout
        )
        self._eval_id, self._final_state = eval_id, final_state
        self._loop = OwnLoop()
        self._at_terminal = sys.stdin.isatty()
        self._streamed = False

    def __call__(self) -> EvalCase | None:
        """Hold the conversation until the user ends it; return the case, or `None` if the user discards it."""
        self._wait(self._conversation.open())
        try:
            if self._at_terminal:
                click.echo(COMMANDS + "\n", err=True)
            return self._case() if self._converse() and self._conversation.turns else None
        finally:
            self._wait(self._conversation.close())
            self._loop.close()

    def _converse(self) -> bool:
        """Exchange messages until the user ends the conversation; return whether to save it."""
        while True:
            text = self._prompt()
            if text is None or text == "/save":
                return True
            if text == "/quit":
                return False
            if text == "/undo":
                self._undo()
            elif text.startswith("/"):
                notify(f"{text}: there is /undo, /save and /quit")
            elif "\0" in text or has_lone_surrogate(text):
                notify("this message has characters that no file can keep; it was not sent")
            elif text:
                self._report_failure(self._wait(self._conversation.send(text, self._note_event)))

    def _prompt(self) -> str | None:
        """Read the next message; return `None` at the end of the input."""
        try:
            if self._at_terminal:
                return input("you> ").strip()
            line = sys.stdin.readline()
        except EOFError:
            click.echo(err=True)
            return None
        if line:
            click.echo(clean(f"you> {line.strip()}"))
        return line.strip() if line else None

    def _undo(self) -> None:
        if not self._conversation.turns:
            notify("nothing to take back")
            return
        again = len(self._conversation.turns) - 1
        notify(
            "the last turn is taken back"
            + (f"; {again} before it, repeated in a new session:" if again else "")
        )
        self._report_failure(self._wait(self._conversation.undo(self._note_event)))

    def _note_event(self, event: Event) -> None:
        for part in (event.content.parts if event.content else None) or ():
            if part.function_call is not None:
                self._line(_call_text(part.function_call.name, part.function_call.args))
            elif part.function_response is not None:
                self._line(f"  -> {_short(part.function_response.response)}")
            elif part.text and not part.thought:
                self._text(part.text, partial=bool(event.partial), author=event.author)

    def _text(self, text: str, *, partial: bool, author: str) -> None:
        if partial:
            click.echo(clean(text, lines=True), nl=False)
            self._streamed = True
        elif self._streamed:  # the complete text, after its parts were streamed
            click.echo()
            self._streamed = False
        else:
            click.echo(f"{clean(author)}> {clean(text, lines=True)}")

    def _line(self, text: str) -> None:
        if self._streamed:
            click.echo()
            self._streamed = False
        click.echo(clean(text))

    def _report_failure(self, failure: Failure | None) -> None:
        if failure is not None:
            notify(f"{failure.cause}; this turn is not kept")

    def _case(self) -> EvalCase:
        from proctor.authoring.record import case_of_conversation

        case: EvalCase = self._wait(
            case_of_conversation(self._conversation, self._eval_id, with_final_state=self._final_state)
        )
        return case

    def _wait(self, what: Any) -> Any:
        return self._loop.wait_for(self._loop.start(what))


def _call_text(name: str | None, arguments: dict[str, Any] | None) -> str:
    from proctor.files.yaml.call_syntax import write_call

    called = name or "?"
    return f"  {write_call(called, arguments or {}) or called}"


def _short(value: Any, most: int = 200) -> str:
    return cut_text(json.dumps(value, ensure_ascii=False, default=str), most)
