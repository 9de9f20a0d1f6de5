"""The toy of google-adk behind google-adk's own A2A server: prints its port, and serves until it is ended."""

import logging
import socket
import sys
from importlib import import_module
from typing import Any

from google.adk.a2a.utils.agent_to_a2a import to_a2a

logging.disable(logging.CRITICAL)


def begin_with_the_case_s_state(callback_context: Any) -> None:
    """A2A has no state of sessions: that of a case comes as metadata of the first message."""
    sent = callback_context.run_config.custom_metadata.get("a2a_metadata", {}).get("proctor", {})
    for key, value in sent.get("state", {}).items():
        callback_context.state[key] = value


def main(agent: str) -> None:
    """Serve `module:attribute`."""
    uvicorn: Any = import_module("uvicorn")
    module, _, name = agent.partition(":")
    root_agent = getattr(import_module(module), name)
    root_agent.before_agent_callback = begin_with_the_case_s_state
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        port = listening.getsockname()[1]
        app = to_a2a(root_agent, host="127.0.0.1", port=port)
        print(port, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
