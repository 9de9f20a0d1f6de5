"""`proctor web`: serve runs, cases and eval sets to a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    argument,
    common_options,
    option,
    store_option,
)

WHERE, WHO = "Where it listens", "Who may use it"

EXAMPLES = """
proctor web
proctor web agents/ --store sqlite:///runs.sqlite3
proctor web my_agent/ --port 0 --open
proctor web --host 0.0.0.0 --token-file ~/.proctor-token
"""


@click.command("web", cls=SectionedCommand, examples=EXAMPLES)
@argument(
    "agents", metavar="[AGENTS_DIR]", required=False,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)  # fmt: skip
@option("--host", section=WHERE, metavar="HOST", default="127.0.0.1",
        help="The address to listen at; one that others can reach needs a token.  [127.0.0.1]")  # fmt: skip
@option("--port", section=WHERE, metavar="PORT", type=NumberType(least=0, most=65_535), default=8000,
        help="The port; 0: any that is free.  [8000]")  # fmt: skip
@option("--open", "opens", section=WHERE, is_flag=True, help="Open a browser.")
@option("--adk-ui", "adk_ui", section=WHERE, is_flag=True,
        help="Serve google-adk's own web UI as well, at /dev-ui/ (extra adk).")  # fmt: skip
@option("--token", section=WHO, metavar="TOKEN",
        help="What clients must know; also in PROCTOR_WEB_TOKEN, where no list of processes shows it.")  # fmt: skip
@option("--token-file", section=WHO, metavar="FILE", type=click.Path(path_type=Path),
        help="The file that the token is in.")  # fmt: skip
@option("--allow-host", "hosts", section=WHO, metavar="NAME[:PORT]", multiple=True,
        help="A further name by which browsers may call the server; may be repeated.")  # fmt: skip
@option("--allow-any-agent", "any_agent", section=WHO, is_flag=True,
        help="Let the page start any AGENT, not only those of AGENTS_DIR and of the project's settings.")  # fmt: skip
@option("--allow-target", "targets", section=WHO, metavar="HOST[:PORT]", multiple=True,
        help="Let agents that the page names by a URL be at this private address; may be repeated.")  # fmt: skip
@store_option
@common_options
def web(*, agents: Path | None, **options: Any) -> None:
    """Show runs, cases and eval sets in a browser; start runs, talk to agents.

    AGENTS_DIR is a folder with a folder for each agent, or one agent's folder; without it the agents
    are those of the project's settings. Only this machine can reach the server, unless --host allows
    otherwise; then clients need a token. Ctrl-C ends it.
    """
    from proctor.common.optional_packages import import_extra

    for module in ("fastapi", "uvicorn"):
        import_extra(module, extra="web", feature="proctor web")
    from proctor.cli.messages import notify
    from proctor.common.registry import load_object

    serve_page = load_object("proctor.web.server.launch:serve_page")  # entry points do not import one another
    serve_page(agents, options, announce=click.echo, warn=notify)
