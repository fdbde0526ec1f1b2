"""The roles apart: databases of one's own, and each process started by itself."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.embedded.servers import Servers
from tests.e2e.commands import complete
from tests.e2e.processes import await_ready, environment, free_port, starting, until

SECRET = "a random text kept by the operator"


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
def test_who_waits_for_the_schema_stops_when_told_to(tmp_path: Path, settings: dict[str, object], role: str) -> None:
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
        body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
        sent = httpx2.post(f"{url}/sms/send", json=body, headers=headers).json()
        [delivered] = until(lambda: httpx2.get(f"{url}/sms/logs?status=delivered", headers=headers).json()["data"])

        codes = [worker.stop(), web.stop()]

    assert migrated == "The database has the newest schema.\n"
    assert sent["data"]["credits_remaining"] == 6
    assert delivered["id"] == int(sent["data"]["message_id"])
    assert codes == [0, -signal.SIGTERM]
    assert not (tmp_path / "data").exists()
