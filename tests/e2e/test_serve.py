"""One machine, one command: the first start, the README, the second start, the stop."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from tests.e2e.commands import Done, complete
from tests.e2e.conftest import Served
from tests.e2e.processes import PATIENCE_SECONDS, ROOT, free_port, sections, starting, until

README = (ROOT / "README.md").read_text()
TO = "+12025550143"
SUBSCRIPTION = """
subscription {
  updates(after: 0, kinds: [message_status]) { id ... on MessageStatusUpdate { message { status body } } }
}
"""


def run(served: Served, script: str, **exports: str) -> Any:
    """Run a step of the README in the second terminal; return its output, parsed where it is JSON."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=served.folder,
        env=served.environment() | exports,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), script
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout


def messaging(served: Served, *arguments: str) -> Done:
    return complete(arguments, served.folder, served.environment())


@pytest.fixture(scope="module")
def account(served: Served) -> Any:
    """Give a demo account, as the command prints it."""
    return json.loads(messaging(served, "demo", "--json").stdout)


def balance(served: Served, account: Any) -> int:
    return served.ask("GET", "/billing/balance", account["svc_key"])["data"]["balance"]


def send(served: Served, account: Any, to: str, text: str = "Hello") -> int:
    body = {"to": to, "message": text, "consent_attested": True}
    return int(served.ask("POST", "/sms/send", account["svc_key"], body)["data"]["message_id"])


def entry(served: Served, account: Any, id: int) -> Any:
    [found] = [each for each in served.ask("GET", "/sms/logs", account["svc_key"])["data"] if each["id"] == id]
    return found


@contextmanager
def looking(served: Served, key: str, **headers: str) -> Iterator[Iterator[Any]]:
    """Look on; give the data of each event, and `complete` for the end that is none of a stop."""
    with httpx2.stream(
        "POST",
        f"{served.url}/graphql",
        json={"query": SUBSCRIPTION},
        headers={"Authorization": f"Bearer {key}", "Accept": "text/event-stream", **headers},
        timeout=PATIENCE_SECONDS,
    ) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("data:"))
        yield (json.loads(line[5:])["data"]["updates"] if line != "data:" else "complete" for line in lines)


@dataclass(frozen=True)
class Stop:
    """A stop of the service while an account looked on: `shown` are the updates before it, `rest` those of it."""

    account: Any
    waiting: int
    started: int
    left: list[psutil.Process]
    code: int
    shown: list[Any]
    rest: list[Any]


@pytest.fixture(scope="module")
def stop(served: Served, account: Any) -> Stop:
    """Stop the service while an account looks on and a text of another one waits; start it again."""
    family, onlooker = served.process.family(), json.loads(messaging(served, "demo", "--json").stdout)
    with looking(served, onlooker["svc_key"]) as updates:
        send(served, onlooker, TO, "One")
        shown = [next(updates), next(updates)]
        waiting = send(served, account, TO)
        code = served.process.stop()
        rest = list(updates)
    left = [each for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    served.again()
    return Stop(onlooker, waiting, len(family), left, code, shown, rest)


def test_the_first_start_says_how_to_go_on_and_keeps_the_secrets_to_itself(served: Served) -> None:
    output = served.welcome

    assert re.search(rf"^  sign in   {served.url}/login$", output, re.M)
    assert re.search(r"^  password  \S{16}$", output, re.M)
    assert re.search(rf"^  export URL={served.url}$", output, re.M)
    assert re.search(r"^  export KEY=svc_\w{38}$", output, re.M)
    assert re.search(r"^  export NUMBER=\+15002000001$", output, re.M)
    assert re.search(rf"^  export MESSAGING_DATA={served.data}$", output, re.M)
    assert re.search(rf'^  export PATH={Path(sys.executable).parent}:"\$PATH"$', output, re.M)
    assert {path.name: path.stat().st_mode & 0o077 for path in [served.data, *served.data.glob("*.key")]} == {
        "data": 0,
        "secret.key": 0,
    }


def test_the_ten_commands_of_the_readme_have_the_described_results(served: Served) -> None:
    steps = sections(README, "Ten commands")
    fresh = json.loads(messaging(served, "demo", "--json").stdout)  # the examples of other pages use the first account
    number = fresh["phone_number"]
    step = partial(run, served, KEY=fresh["svc_key"], NUMBER=number)

    sent = step(steps[0])
    until(lambda: step(steps[1])["data"][0]["status"] == "delivered")
    said = step(steps[2])
    [reply] = step(steps[3])["data"]
    [contact] = step(steps[4])["data"]
    failing = step(steps[5])
    step(steps[6])
    refused = step(steps[7])
    copy = step(steps[8])
    until(lambda: "refund" in [each["type"] for each in step(steps[9])["data"]])
    ledger = step(steps[9])["data"]

    assert len(steps) == 10
    assert sent["data"].pop("message_id").isdigit()
    assert sent["data"] == {"credits_remaining": fresh["credits"] - 1, "segments": 1, "status": "pending"}
    assert said == f"{number} received the text.\n"
    assert (reply["body"], reply["from_number"], reply["status"]) == ("See you then!", TO, "received")
    assert (contact["phone"], contact["score"]) == (TO, 14)
    assert failing["data"]["status"] == "pending"
    assert (refused["success"], refused["error_code"]) == (False, "contact_opted_out")
    assert ["20% off all haircuts this Friday" in text for text in copy["data"]] == [True] * 3
    assert sorted((each["type"], each["amount"]) for each in ledger) == [
        ("adjustment", fresh["credits"]),
        ("debit", -1),
        ("debit", -1),
        ("debit", -1),
        ("refund", 1),
    ]


def test_a_second_service_on_the_same_data_is_refused_in_a_sentence(served: Served) -> None:
    second = messaging(served, "serve", "--port", str(free_port()), "--data", str(served.data))

    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == (
        f"messaging: The data folder {served.data} is in use by process {served.process.pid}: "
        "stop that process, or choose another folder with MESSAGING_DATA.\n"
    )


def test_a_demo_account_can_be_used_at_once(served: Served, account: Any) -> None:
    before = balance(served, account)
    answer = served.ask("POST", "/sms/send", account["auto_key"], {"to": TO, "message": "Hi", "consent_attested": True})

    assert account["base_url"] == served.url
    assert answer["data"]["credits_remaining"] == before - 1
    assert account["phone_number"] != served.environment()["NUMBER"]


def test_the_sandbox_reports_the_status_given_on_the_command_line(served: Served, account: Any) -> None:
    before = balance(served, account)
    id = send(served, account, "+15005550205")
    until(lambda: entry(served, account, id)["status"] == "sent")

    done = messaging(served, "sandbox", "status", str(id), "failed", "--code", "filtered")

    failed = entry(served, account, id)
    assert (done.returncode, done.stdout) == (0, f"Message {id} was reported failed.\n")
    assert (failed["status"], failed["error_code"]) == ("failed", "filtered")
    assert balance(served, account) == before


def test_a_killed_worker_is_started_again_and_waiting_messages_are_sent(served: Served, account: Any) -> None:
    [worker] = [each for each in served.process.family() if each.name() == "worker"]

    worker.kill()
    id = send(served, account, TO)

    until(lambda: entry(served, account, id)["status"] == "delivered")


def test_an_ordinary_day_leaves_no_error_in_the_log(served: Served, account: Any) -> None:
    id = send(served, account, TO)
    until(lambda: entry(served, account, id)["status"] == "delivered")
    killed = "worker ended with code -9; it starts again in 1 s"

    errors = [line for line in served.process.output.splitlines() if "[error" in line and killed not in line]

    assert errors == []


def test_a_service_that_is_told_to_stop_leaves_nothing_running_and_goes_on_where_it_stopped(
    served: Served, account: Any, stop: Stop
) -> None:
    assert stop.started > 4
    assert (stop.code, stop.left) == (0, [])
    assert f"Serving at {served.url}\n" in until(lambda: served.process.output)
    assert "No text leaves this machine: only the sandbox is connected" in served.process.output
    assert "password" not in served.process.output
    until(lambda: entry(served, account, stop.waiting)["status"] == "delivered")


def test_the_fate_of_a_text_is_shown_and_a_stop_ends_the_stream_but_not_the_looking_on(
    served: Served, stop: Stop
) -> None:
    send(served, stop.account, TO, "Two")
    last = str(stop.shown[0]["id"])
    with looking(served, stop.account["svc_key"], **{"Last-Event-ID": last}) as updates:
        again = [next(updates) for _ in range(3)]

    assert [each["message"]["body"] for each in stop.shown] == ["One", "One"]
    assert stop.rest == []
    assert sorted(each["message"]["body"] for each in again) == ["One", "Two", "Two"]
    assert again[0]["id"] == stop.shown[1]["id"]


def test_a_port_that_is_taken_is_refused_in_a_sentence(served: Served, tmp_path: Path) -> None:
    with starting(tmp_path) as start:
        late = start("serve", PORT=served.port, MESSAGING_DATA=tmp_path / "data")
        code = late.wait()

    assert code == 1
    assert late.output == (
        f"messaging: Port {served.port} of 127.0.0.1 is taken by another program. "
        "Stop that, or choose another port with PORT.\n"
    )
    assert not (tmp_path / "data").exists()
