"""A PostgreSQL server of the tests' own: a cluster in a temporary folder, with a password, gone in the end.

It takes Debian's package `postgresql` and the library psycopg. Where they are missing, tests that ask for a
server are skipped; STEAD_POSTGRES=required makes that an error, and CI sets it.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

PASSWORD = "open:sesame@42"
"""With characters that a URL has to escape."""
_ESCAPED = "open%3Asesame%4042"


def _programs() -> Path | None:
    """The folder that has initdb; Debian keeps it out of the path."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")), shutil.which("initdb")]
    return Path(found[0]).parent if found[0] else None


def _missing() -> str:
    if _programs() is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed (pip install '.[postgres]')"
    return ""


def unprivileged() -> str | None:
    """Return who runs the server, which refuses to be run by root; None for whoever runs the tests."""
    return None if os.geteuid() else "postgres"


@contextmanager
def server() -> Iterator[Callable[[], str]]:
    """A server, as a function that makes a new database and returns its URL."""
    if why := _missing():
        if os.environ.get("STEAD_POSTGRES") == "required":
            raise RuntimeError(why)
        pytest.skip(why)
    programs, user = _programs(), unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="stead-pg-"))
    try:
        (folder / "password").write_text(PASSWORD)
        if user is not None:
            for path in (folder, folder / "password"):
                os.chown(path, pwd.getpwnam(user).pw_uid, -1)

        def run(*words: str) -> None:
            subprocess.run(
                [str(programs / words[0]), *words[1:]], user=user, cwd=folder, check=True, capture_output=True
            )

        data = str(folder / "data")
        secret = ["--pwfile", str(folder / "password"), "--auth", "scram-sha-256"]
        run("initdb", "-D", data, "-U", "stead", "-E", "UTF8", "--locale", "C", "--no-sync", *secret)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            numbers = count()

            def database() -> str:
                import psycopg

                name = f"decisions{next(numbers)}"
                to = f"host=127.0.0.1 port={port} user=stead password='{PASSWORD}' dbname=postgres"
                with psycopg.connect(to, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")
                return f"postgresql+psycopg://stead:{_ESCAPED}@127.0.0.1:{port}/{name}"

            yield database
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
