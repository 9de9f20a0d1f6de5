"""`proctor init`: create a sample project that runs immediately, as a starting point."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options
from proctor.cli.file_changes import show_audit
from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.runs.setup.settings import PYPROJECT, SETTINGS_FILE, load_settings

EXAMPLES = """
proctor init
proctor init my_project
"""

AGENT = '''\
"""A sample agent: it reports the weather, with the help of one tool. Replace it by your own agent.

An agent may also be an agent of google-adk, an async function, or an object with `answer`.
"""

FORECASTS = {"Paris": "sunny", "London": "rainy", "Oslo": "snowy"}


def get_weather(city: str) -> str:
    return FORECASTS[city]


def root_agent(message: str, state: dict) -> dict:
    """Answer one message: what the agent called, what it wants to remember, what it answers."""
    city = next((city for city in FORECASTS if city.lower() in message.lower()), state.get("city"))
    if city is None:
        return {"text": "For which city?"}
    weather = get_weather(city)
    return {
        "tool_calls": [{"name": "get_weather", "args": {"city": city}, "response": {"weather": weather}}],
        "state_delta": {"city": city},
        "text": f"It is {weather} in {city} today.",
    }
'''

CASES = """\
# What the user asks, and what the agent should do and answer. Change a word and run `proctor eval` again.
cases:
  - case: two_turns
    turns:
      - ask: What is the weather like?
        expect: For which city?
      - ask: In Paris.
        tools: [get_weather(city=Paris)]
        expect: It is sunny in Paris today.
    final_state: {city: Paris}
"""

CONFIG = """\
{
  "criteria": {
    "tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "EXACT"},
    "response_match_score": 0.8
  }
}
"""

SETTINGS = """\
# What a bare `proctor eval` runs; what is said on the command line wins.
agent = "agent.py"
sets = ["evals"]
"""

EVAL_SET = "evals/weather.evalset.yaml"
CASE_IDS = ("two_turns",)
FILES = {
    "agent.py": AGENT,
    EVAL_SET: CASES,
    "evals/test_config.json": CONFIG,
    SETTINGS_FILE: SETTINGS,
}


@click.command("init", cls=SectionedCommand, examples=EXAMPLES)
@argument("folder", required=False, default=".", metavar="[DIR]", type=click.Path(path_type=Path))
@common_options
def init(folder: Path) -> None:
    """Create a project: a sample agent with an eval set that runs.

    Writes a sample agent, an eval set, a config and settings into DIR (the working folder unless
    given), so that `proctor eval` runs there at once. Nothing that is there is overwritten.
    """
    _refuse_what_is_there(folder)
    try:
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            click.echo(clean(f"wrote {path}"))
    except OSError as error:
        raise SetupError(f"{error.filename}: {error.strerror}") from error
    show_audit(folder / EVAL_SET, CASE_IDS)
    _suggest_next_commands(folder)


def _refuse_what_is_there(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise SetupError(f"{folder} is not a folder")
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise SetupError(
            f"{', '.join(str(folder / name) for name in there)}: already there; nothing was written. "
            f"Name an empty folder: proctor init my_project"
        )
    shared = folder / PYPROJECT
    if shared.is_file() and load_settings(folder).file == shared.absolute():
        raise SetupError(
            f"{shared} has [tool.proctor] already, and nothing was written: this project is set up"
        )


def _suggest_next_commands(folder: Path) -> None:
    enter = "" if folder.resolve() == Path.cwd() else f"  cd {folder}\n"
    click.echo(
        clean(
            f"\nNext:\n{enter}"
            f"  proctor eval              run the eval set: it passes\n"
            f"  proctor eval --watch      keep running it while you change agent.py\n"
            f"  proctor check evals       see whether a file is as it should be\n"
            f"Make it fail: in evals/weather.evalset.yaml change city=Paris to city=Oslo, and run it again.",
            lines=True,
        )
    )
