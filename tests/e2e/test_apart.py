"""The roles apart: databases of one's own, and each process started by itself."""

import asyncio
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.embedded.servers import Servers
from tests.db.databases import execute
from tests.e2e.backgrounds import running
from tests.e2e.commands import complete
from tests.e2e.pages import SHELL, blocks_of
from tests.e2e.processes import await_ready, environment, free_port, is_ready, starting, until
from tests.e2e.terminals import terminal

SECRET = "a random text kept by the operator"

ADD_COLUMNS = """
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relname <> 'alembic_version' LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN of_newer_code text', name);
    COMMIT;
  END LOOP;
  UPDATE alembic_version SET version_num = '9999';
END $$
"""
"""A newer schema: each table has a column that this version does not know.

Each table is changed in a transaction of its own, as by migrations: locks on all of them at once meet those of the
running processes in the opposite order.
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Start a PostgreSQL and a Valkey that the service knows by their addresses alone."""
    servers = Servers.start(tmp_path_factory.mktemp("databases"), durable=False)
    yield {
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
        "PORT": free_port(),
        "MESSAGING_ENVIRONMENT": "development",
        "MESSAGING_SECRET_KEY": SECRET,
    }
    servers.stop()


def messaging(folder: Path, settings: dict[str, object], *arguments: str) -> str:
    """Run a command to its end and return what it printed."""
    done = complete(arguments, folder, environment(folder, **settings))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("role", ["web", "worker"])
def test_a_process_that_waits_for_the_schema_stops_when_told_to(
    tmp_path: Path, settings: dict[str, object], role: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, starting(tmp_path) as start:
        silent.settimeout(60)
        address = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"
        process = start(role, **settings | {"DATABASE_URL": address})
        connection, _ = silent.accept()
        with connection:
            assert process.stop() in {0, -signal.SIGTERM}


def test_web_and_worker_wait_for_the_schema_and_then_send(tmp_path: Path, settings: dict[str, object]) -> None:
    url = f"http://127.0.0.1:{settings['PORT']}"
    with starting(tmp_path) as start:
        web, worker = start("web", **settings), start("worker", **settings)
        migrated = messaging(tmp_path, settings, "migrate")
        await_ready(url, web, worker)

        opening = ("account", "create", "Blue Door", "--email", "ann@example.com", "--credits", "7", "--json")
        account = json.loads(messaging(tmp_path, settings, *opening))
        headers = {"X-API-Key": account["svc_key"]}
        sent = send(url, headers)
        [message] = delivered(url, headers, 1)

        codes = [worker.stop(), web.stop()]

    assert migrated == "The database has the newest schema.\n"
    assert message["id"] == sent
    assert codes == [0, -signal.SIGTERM]
    assert not (tmp_path / "data").exists()


def test_the_commands_of_the_page_run_the_service_on_own_servers(tmp_path: Path, settings: dict[str, object]) -> None:
    migrate, web, worker, create = blocks_of("docs/operating.md", "apart")
    port, database = free_port(), "of_the_page"
    address = str(settings["DATABASE_URL"])
    asyncio.run(execute(address, f"CREATE DATABASE {database}"))
    own = {"DATABASE_URL": address.replace("/messaging?", f"/{database}?"), "PORT": port}
    env = environment(tmp_path, **settings | own)
    env["PATH"] = f"{tmp_path}/.venv/bin:{env['PATH']}"
    with terminal(tmp_path):
        migrated = shown_by(migrate, tmp_path, env)
        with running(SHELL, web, tmp_path, env), running(SHELL, worker, tmp_path, env):
            until(lambda: is_ready(f"http://127.0.0.1:{port}"))
            created = shown_by(create, tmp_path, env)
            [key] = re.findall(r"svc_[\w-]{20,}", created)
            headers = {"X-API-Key": key}
            sent = send(f"http://127.0.0.1:{port}", headers)
            [message] = delivered(f"http://127.0.0.1:{port}", headers, 1)

    assert migrated == "The database has the newest schema.\n"
    assert message["id"] == sent


def shown_by(commands: str, folder: Path, env: Mapping[str, str]) -> str:
    """Run commands; return what they print."""
    done = subprocess.run(
        [SHELL, "-e", "-c", commands], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_processes_of_an_older_version_run_and_restart_on_a_newer_schema(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    messaging(tmp_path, settings, "migrate")
    ports = [free_port(), free_port()]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with starting(tmp_path) as start:
        webs = [start("web", **settings | {"PORT": port}) for port in ports]
        first = settings | {"PORT": ports[0]}  # the sandbox reports to the first web process
        workers = [start("worker", **first) for _ in range(2)]
        for url, web, worker in zip(urls, webs, workers, strict=True):
            await_ready(url, web, worker)
        opening = ("account", "create", "Red Door", "--email", "bob@example.com", "--credits", "20", "--json")
        headers = {"X-API-Key": json.loads(messaging(tmp_path, settings, *opening))["svc_key"]}
        sent = [send(url, headers) for url in urls]
        delivered(urls[0], headers, 2)

        asyncio.run(execute(str(settings["DATABASE_URL"]), ADD_COLUMNS))
        sent += [send(url, headers) for url in urls]
        delivered(urls[1], headers, 4)
        for process in (webs[0], workers[0]):
            process.stop()
        again = start("web", **first), start("worker", **first)
        await_ready(urls[0], *again)
        workers[1].stop()
        sent += [send(url, headers) for url in urls]
        found = delivered(urls[0], headers, 6)

    assert sorted(message["id"] for message in found) == sorted(sent)
    assert messaging(tmp_path, settings, "migrate") == "The database has the newest schema.\n"


def send(url: str, headers: dict[str, str]) -> int:
    """Send a text, and return its message's id."""
    body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
    answer = httpx2.post(f"{url}/sms/send", json=body, headers=headers, timeout=30).json()
    return int(answer["data"]["message_id"])


def delivered(url: str, headers: dict[str, str], count: int) -> list[dict[str, Any]]:
    """Wait until as many texts are delivered, and return them."""

    def found() -> list[dict[str, Any]]:
        messages = httpx2.get(f"{url}/sms/logs?status=delivered", headers=headers, timeout=30).json()["data"]
        return messages if len(messages) == count else []

    return until(found)
