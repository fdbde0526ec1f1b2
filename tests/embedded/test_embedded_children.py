"""The processes of the service under one parent: stopping, starting again, dying together."""

import os
import signal
from pathlib import Path

import pytest

from app.embedded.children import delay_after
from tests.embedded.conftest import Launch
from tests.embedded.probes import runs, servers_of
from tests.waiting import block_until

GRACE = 60
"""The seconds that children have to stop; busy machines are slow."""

NAP = "while :; do sleep 0.05; done"


def note_term(path: Path) -> str:
    """Return a script that notes that it is up, and that it got SIGTERM."""
    return f"trap 'echo TERM >> {path}; exit' TERM; echo up >> {path}; {NAP}"


def lines(path: Path) -> list[str]:
    """Return the lines of a file that a script writes to."""
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_work_in_hand_is_finished_before_the_service_stops(
    tmp_path: Path, launch: Launch, number: signal.Signals
) -> None:
    done = tmp_path / "done"
    worker = f"trap 'sleep 0.3; echo $0 >> {done}; exit 0' TERM; echo up >> {done}; {NAP}"
    service = launch("service", GRACE, "web", worker, "worker", worker)
    block_until(lambda: lines(done) == ["up", "up"])

    service.send_signal(number)

    assert service.wait() == 0
    assert len(lines(done)) == 4


def test_ctrl_c_reaches_the_parent_alone(tmp_path: Path, launch: Launch) -> None:
    got = tmp_path / "got"
    service = launch("service", GRACE, "web", f"trap 'echo INT >> {got}' INT; {note_term(got)}")
    block_until(lambda: lines(got) == ["up"])

    os.killpg(service.pid, signal.SIGINT)

    assert service.wait() == 0
    assert lines(got) == ["up", "TERM"]


def test_a_child_is_started_once_it_is_wanted(tmp_path: Path, launch: Launch) -> None:
    got, wanted = tmp_path / "got", tmp_path / "wanted"
    service = launch("service", GRACE, "web", note_term(got), "later", f"echo later >> {got}; {NAP}", WANTED=wanted)
    block_until(lambda: lines(got) == ["up"])

    wanted.touch()

    block_until(lambda: lines(got) == ["up", "later"])
    service.terminate()
    assert service.wait() == 0


def test_a_child_that_cannot_be_started_is_tried_again_and_the_others_are_left_alone(
    tmp_path: Path, launch: Launch
) -> None:
    got, wanted = tmp_path / "got", tmp_path / "wanted"
    broken = wanted.with_suffix(".broken")
    service = launch("service", 60, "web", note_term(got), "later", f"echo later >> {got}; {NAP}", WANTED=wanted)
    block_until(lambda: lines(got) == ["up"])
    broken.touch()
    assert service.stderr
    complaint = service.stderr.readline()

    broken.rename(wanted)

    block_until(lambda: lines(got) == ["up", "later"])
    service.terminate()
    assert service.wait() == 0
    assert complaint == "later cannot be started, and is tried again in 0.05 s: Resource temporarily unavailable\n"


def test_a_service_that_was_started_by_nohup_outlives_its_terminal(tmp_path: Path, launch: Launch) -> None:
    got = tmp_path / "got"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        service = launch("service", 60, "web", f"echo up >> {got}")
    finally:
        signal.signal(signal.SIGHUP, before)
    block_until(lambda: lines(got) == ["up"])

    service.send_signal(signal.SIGHUP)

    block_until(lambda: lines(got) == ["up", "up"])
    service.terminate()
    assert service.wait() == 0


def test_the_caller_is_told_once_that_all_children_are_started(tmp_path: Path, launch: Launch) -> None:
    got = tmp_path / "got"
    service = launch("service", GRACE, "web", note_term(got), "worker", note_term(got))
    block_until(lambda: lines(got) == ["up", "up"])

    service.terminate()

    output, _ = service.communicate()
    assert output == "ready\n"


def test_a_child_that_does_not_stop_is_killed_with_all_it_started(tmp_path: Path, launch: Launch) -> None:
    pids = tmp_path / "pids"
    service = launch(
        "service", 0.3, "web", f"trap '' TERM; sleep 600 >/dev/null 2>&1 & echo $! $$ > {pids}; while :; do wait; done"
    )
    block_until(lambda: lines(pids))

    service.terminate()

    _, complaints = service.communicate()
    assert service.returncode == 1
    assert complaints == "web did not stop within 0.3 s and is killed\n"
    block_until(lambda: not any(runs(int(pid)) for pid in lines(pids)[0].split()))


def test_a_child_that_is_killed_is_started_again_and_the_others_are_left_alone(tmp_path: Path, launch: Launch) -> None:
    web, worker = tmp_path / "web", tmp_path / "worker"
    service = launch("service", GRACE, "web", f"echo $$ >> {web}; {NAP}", "worker", f"echo $$ >> {worker}; {NAP}")
    block_until(lambda: lines(web) and lines(worker))

    os.kill(int(lines(web)[0]), signal.SIGKILL)

    block_until(lambda: len(lines(web)) == 2)
    service.terminate()
    _, complaints = service.communicate()
    assert complaints == "web ended with code -9; it starts again in 1 s\n"
    assert len(lines(worker)) == 1


def test_the_wait_before_a_start_doubles_to_30_seconds() -> None:
    waits = [0.0]

    for _ in range(7):
        waits.append(delay_after(waits[-1], uptime=0.1))

    assert waits[1:] == [1, 2, 4, 8, 16, 30, 30]


def test_a_child_that_lived_long_is_started_again_after_one_second() -> None:
    assert delay_after(16.0, uptime=30.1) == 1


def test_children_stop_when_their_parent_is_killed(tmp_path: Path, launch: Launch) -> None:
    got = tmp_path / "got"
    service = launch("service", GRACE, "worker", note_term(got))
    block_until(lambda: lines(got) == ["up"])

    service.kill()

    block_until(lambda: lines(got) == ["up", "TERM"])


@pytest.mark.parametrize(("name", "folder"), [("PostgreSQL", "postgres"), ("Valkey", "valkey")])
def test_a_server_that_dies_is_started_again_and_the_children_are_left_alone(
    data: Path, tmp_path: Path, launch: Launch, name: str, folder: str
) -> None:
    got = tmp_path / "got"
    service = launch("service", GRACE, "worker", note_term(got), DATA=data)
    block_until(lambda: lines(got) == ["up"])
    killed = min(servers_of(data, folder), key=lambda each: each.create_time())
    before = set(servers_of(data, folder))

    killed.kill()

    block_until(lambda: set(servers_of(data, folder)) - before)
    service.terminate()
    _, complaints = service.communicate()
    assert service.returncode == 0
    assert complaints == f"{name} ended with code -9; it starts again in 1 s\n"
    assert lines(got) == ["up", "TERM"]
    assert servers_of(data) == []


def test_the_servers_outlive_the_work_of_the_children(data: Path, tmp_path: Path, launch: Launch) -> None:
    got = tmp_path / "got"
    postmaster = f"$(head -1 {data}/postgres/postmaster.pid)"
    work = f"sleep 0.3; test -d /proc/{postmaster} && echo still >> {got}; exit"
    service = launch("service", GRACE, "worker", f"trap '{work}' TERM; echo up >> {got}; {NAP}", DATA=data)
    block_until(lambda: lines(got) == ["up"])

    service.terminate()

    assert service.wait() == 0
    assert lines(got) == ["up", "still"]
    assert servers_of(data) == []
