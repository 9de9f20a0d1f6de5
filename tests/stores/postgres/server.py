"""A real PostgreSQL server on the loopback, from the binaries of the system's packages, in a folder of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PASSWORD = "p4ss/w%rd"
_USER = "tester"


def binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs; `None` if it is not installed."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    newest = max(found, key=lambda path: int(path.parts[-3]), default=Path(on_path) if on_path else None)
    return newest.parent if newest else None


@dataclass
class PostgresServer:
    """A running server."""

    programs: Path
    folder: Path
    port: int
    fsync: bool = False
    """Whether a commit waits for the disk."""

    def url(self, schema: str = "public", *, user: str = _USER, password: str = PASSWORD) -> str:
        """Return the URL of a store in a schema."""
        option = quote(f"-csearch_path={schema}")
        return (
            f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/postgres?options={option}"
        )

    def new_schema(self) -> str:
        """Create an empty schema; return its name."""
        name = f"store_{secrets.token_hex(6)}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    def new_url(self) -> str:
        """Return the URL of a store that does not exist yet."""
        return self.url(self.new_schema())

    def execute(self, sql: str) -> None:
        """Execute a statement as the owner of the server."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        fsync = "on" if self.fsync else "off"
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync={fsync} -c max_connections=50"
        self._pg_ctl("start", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; `immediate`: as after a crash."""
        self._pg_ctl("stop", "-w", "-m", mode)

    def initialise(self) -> None:
        """Create the data of the server."""
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if owner := _owner():
            for path in (self.folder, secret):
                shutil.chown(path, *owner)
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", _USER, "--auth=scram-sha-256", f"--pwfile={secret}",
            "--encoding=UTF8", "--locale=C", "--no-sync",
        )  # fmt: skip

    def _pg_ctl(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        owner = _owner()
        subprocess.run(
            [str(self.programs / program), *arguments], check=True, timeout=120, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            user=owner[0] if owner else None, group=owner[1] if owner else None,
        )  # fmt: skip


def _owner() -> tuple[str, str] | None:
    """Return the user and group that run the server: PostgreSQL refuses to run as root."""
    return ("postgres", "postgres") if os.geteuid() == 0 else None


@contextmanager
def postgres_server(programs: Path, *, fsync: bool = False) -> Iterator[PostgresServer]:
    """Start a server, and stop and delete it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(
        tempfile.mkdtemp(prefix="proctor-postgres-")
    )  # not in pytest's folder: others may not enter that
    server = PostgresServer(programs, folder, port, fsync)
    try:
        server.initialise()
        server.start()
        yield server
        server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
