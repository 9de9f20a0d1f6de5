"""google-adk's REST server over a folder of apps: prints its port, and serves until it is ended."""

import logging
import socket
import sys
from importlib import import_module

from google.adk.cli.fast_api import get_fast_api_app

logging.disable(logging.CRITICAL)  # what it logs about errors, the tests read from its answers


def main(folder: str, prefix: str = "") -> None:
    """Serve `folder`, below `prefix` where there is one."""
    app = get_fast_api_app(
        agents_dir=folder,
        session_service_uri="memory://",
        artifact_service_uri="memory://",
        use_local_storage=False,
        web=False,
        url_prefix=prefix or None,
    )
    uvicorn = import_module("uvicorn")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        print(listening.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
