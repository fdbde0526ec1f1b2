"""The folders of sockets that killed runs left."""

import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from app.embedded.sockets import PREFIX
from tests.embedded.conftest import Start


def test_a_folder_with_the_name_of_sockets_and_another_content_is_left_alone(tmp_path: Path, start: Start) -> None:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp"))
    (folder / "letter.txt").touch()

    start(tmp_path, database_url="given", redis_url="given")

    assert (folder / "letter.txt").exists()
    shutil.rmtree(folder)


def test_a_socket_that_its_server_removes_meanwhile_is_no_other_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp"))
    listening, is_socket = folder / ".s.PGSQL.5432", Path.is_socket
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))

    def is_socket_by_now(path: Path) -> bool:
        """Remove the socket just before it is looked at, as a server that ends may do."""
        if path == listening:
            path.unlink(missing_ok=True)
        return is_socket(path)

    monkeypatch.setattr(Path, "is_socket", is_socket_by_now)
    start(tmp_path, database_url="given", redis_url="given")

    assert not folder.exists()
