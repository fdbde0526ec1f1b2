"""Handing texts to the sandbox: what it answers, keeps and owes."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import phonenumbers
import pytest

from app.db.engine import Database, connect
from app.domain.carriers.carrier import Accepted, Ambiguous, FailureCode, OutboundMessage, Rejected
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.carriers.sandbox.numbers import MAGIC, as_markdown
from tests.factories.messages import SANDBOX_CALLBACKS, SANDBOX_MESSAGES

pytestmark = pytest.mark.anyio

SECRET = b"a secret of the tests"
ORDINARY = "+14155550100"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def carrier(database: Database, *, delay: float = 0.2, timeout: float = 30.0) -> SandboxCarrier:
    return SandboxCarrier(database.pool, SECRET, delay, timeout)


def text_to(number: str, reference: int = 7) -> OutboundMessage:
    return OutboundMessage(reference, "+14155550199", number, "Hello", 1)


def number_that(says: str) -> str:
    (number,) = [number for number, script in MAGIC.items() if says in script.description]
    return number


async def messages(database: Database) -> list[dict[str, Any]]:
    return [dict(row) for row in await SANDBOX_MESSAGES.read(database.pool)]


async def owed(database: Database) -> list[tuple[float, dict[str, Any]]]:
    """Return what is owed as (seconds after acceptance, payload)."""
    accepted = dict(await SANDBOX_MESSAGES.read(database, "reference", "accepted_at"))
    callbacks = await SANDBOX_CALLBACKS.read(database, "due_at", "id", "reference", "payload")
    return [((due - accepted[about]).total_seconds(), payload) for due, _, about, payload in sorted(callbacks)]


def receipt(status: str, code: str | None = None) -> dict[str, Any]:
    return {"id": "sbx_7", "reference": 7, "status": status, "code": code}


async def test_an_ordinary_text_is_accepted_and_its_receipts_are_owed(database: Database) -> None:
    answer = await carrier(database).send(text_to(ORDINARY))

    assert answer == Accepted("sbx_7")
    (row,) = await messages(database)
    assert row["accepted_at"] is not None
    assert row == {
        "id": row["id"],
        "reference": 7,
        "provider_message_id": "sbx_7",
        "from_number": "+14155550199",
        "to_number": ORDINARY,
        "body": "Hello",
        "outcome": "accepted",
        "carrier": "sandbox",
        "calls": 1,
        "accepted_at": row["accepted_at"],
        "received_at": row["received_at"],
    }
    assert await owed(database) == [(0.2, receipt("sent")), (0.4, receipt("delivered"))]


async def test_a_text_handed_over_twice_is_counted_and_its_receipts_are_owed_once(database: Database) -> None:
    sandbox = carrier(database)

    answers = await asyncio.gather(*(sandbox.send(text_to(ORDINARY)) for _ in range(5)))

    assert answers == [Accepted("sbx_7")] * 5
    assert [row["calls"] for row in await messages(database)] == [5]
    assert len(await owed(database)) == 2


async def test_a_text_that_is_tried_again_another_day_has_another_id_with_the_same_receipts(database: Database) -> None:
    sandbox, number = carrier(database), number_that("Tried again the next day")

    answers = [await sandbox.send(text_to(number)) for _ in range(2)]

    assert answers == [Accepted("sbx_7"), Accepted("sbx_7_2")]
    assert await sandbox.find(text_to(number), NOW) == (Accepted("sbx_7_2"),)
    told = [(payload["id"], payload["status"], payload["code"]) for _, payload in await owed(database)]
    assert sorted(told) == [
        ("sbx_7", "failed", "daily_cap"),
        ("sbx_7", "sent", None),
        ("sbx_7_2", "failed", "daily_cap"),
        ("sbx_7_2", "sent", None),
    ]


@pytest.mark.parametrize(
    ("number", "code"), [(n, s.refusal) for n, s in MAGIC.items() if s.refusal and s.refused_calls > 2]
)
async def test_a_refused_text_is_answered_at_once_and_owes_no_receipt(
    database: Database, number: str, code: FailureCode
) -> None:
    sandbox = carrier(database)

    answers = [await sandbox.send(text_to(number)) for _ in range(3)]

    assert answers == [Rejected(code, code, retryable=False)] * 3
    assert [(row["outcome"], row["accepted_at"]) for row in await messages(database)] == [(code, None)]
    assert await owed(database) == []


async def test_the_limited_number_takes_each_message_at_the_third_call(database: Database) -> None:
    sandbox = carrier(database)
    number = number_that("the third call is accepted")

    answers = [await sandbox.send(text_to(number)) for _ in range(4)]
    other = await sandbox.send(text_to(number, reference=8))

    refused = Rejected(FailureCode.rate_limited, "rate_limited", retryable=True)
    assert answers == [refused, refused, Accepted("sbx_7"), Accepted("sbx_7")]
    assert other == refused
    assert await owed(database) == [(0.2, receipt("sent")), (0.4, receipt("delivered"))]


@pytest.mark.parametrize(
    ("number", "code"), [(n, s.reports[1].code) for n, s in MAGIC.items() if n.startswith("+150055501")]
)
async def test_a_text_that_the_network_loses_is_accepted_and_reported_failed(
    database: Database, number: str, code: FailureCode
) -> None:
    answer = await carrier(database).send(text_to(number))

    assert answer == Accepted("sbx_7")
    assert await owed(database) == [(0.2, receipt("sent")), (0.4, receipt("failed", code))]


def test_every_failure_code_has_one_number() -> None:
    refused = [s.refusal for s in MAGIC.values() if s.refusal]
    lost = [s.reports[1].code for n, s in MAGIC.items() if n.startswith("+150055501")]

    assert sorted([*refused, *lost]) == sorted(FailureCode)


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("5 seconds later", [(5.2, "sent"), (5.4, "delivered")]),
        ("comes before", [(0.2, "delivered"), (0.4, "sent")]),
        ("Accepted; no receipts", []),
        ("then `unconfirmed`", [(0.2, "sent"), (0.4, "unconfirmed")]),
        ("first final one counts", [(0.2, "sent"), (0.4, "delivered"), (0.6, "failed")]),
        (
            "three times",
            [(0.2, "sent"), (0.4, "sent"), (0.6, "sent"), (0.8, "delivered"), (1.0, "delivered"), (1.2, "delivered")],
        ),
    ],
)
async def test_a_number_owes_the_receipts_of_its_script(
    database: Database, says: str, expected: list[tuple[float, str]]
) -> None:
    answer = await carrier(database).send(text_to(number_that(says)))

    assert answer == Accepted("sbx_7")
    assert [(wait, payload["status"]) for wait, payload in await owed(database)] == expected


@pytest.mark.parametrize("reply", ["STOP", "START", "HELP", "YES", "What time do you open tomorrow?"])
async def test_a_number_that_replies_owes_an_inbound_text_after_its_delivery(database: Database, reply: str) -> None:
    number = number_that(f'"{reply}"')

    await carrier(database).send(text_to(number))

    assert await owed(database) == [
        (0.2, receipt("sent")),
        (0.4, receipt("delivered")),
        (0.6, {"id": "sbx_in_7", "from": number, "to": "+14155550199", "text": reply}),
    ]


async def test_a_text_taken_without_an_answer_is_ambiguous_and_is_found(database: Database) -> None:
    sandbox = carrier(database, timeout=4.0)  # time for the database, though it is slow

    answer = await sandbox.send(text_to(number_that("but the hand-off gets no answer")))

    assert answer == Ambiguous("no answer within 4 seconds")
    assert await sandbox.find(text_to(ORDINARY), NOW) == (Accepted("sbx_7"),)
    assert await owed(database) == [(0.2, receipt("sent")), (0.4, receipt("delivered"))]


async def test_a_text_that_is_never_heard_is_ambiguous_and_is_not_found(database: Database) -> None:
    answer = await carrier(database, timeout=0.01).send(text_to(number_that("does not reach")))

    assert answer == Ambiguous("no answer within 0.01 seconds")
    assert await carrier(database).find(text_to(ORDINARY), NOW) == ()
    assert await messages(database) == []


async def test_a_refused_text_is_found_refused(database: Database) -> None:
    sandbox = carrier(database)
    await sandbox.send(text_to("+15005550001"))

    assert await sandbox.find(text_to(ORDINARY), NOW) == (Rejected(FailureCode.invalid_number, "invalid_number"),)


async def test_a_network_that_is_down_gives_no_answer(database_url: str) -> None:
    down = await connect(database_url, 1)
    sandbox = carrier(down)
    await down.close()

    answer = await sandbox.send(text_to(ORDINARY))

    assert answer == Ambiguous("pool is closed")
    with pytest.raises(ConnectionError, match="pool is closed"):
        await sandbox.find(text_to(ORDINARY), NOW)


@pytest.mark.parametrize("number", MAGIC)
def test_a_magic_number_is_a_valid_number_that_no_person_has(number: str) -> None:
    parsed = phonenumbers.parse(number)

    assert phonenumbers.is_valid_number(parsed)
    assert phonenumbers.number_type(parsed) == phonenumbers.PhoneNumberType.PERSONAL_NUMBER


def test_the_page_on_the_sandbox_is_the_one_that_the_numbers_make(pytestconfig: pytest.Config) -> None:
    assert (pytestconfig.rootpath / "docs" / "sandbox.md").read_text() == as_markdown()


def test_the_page_on_the_sandbox_describes_every_number() -> None:
    lines = as_markdown().splitlines()

    assert [line for line in lines if line.startswith("| `+")] == [
        f"| `{n}` | {s.description} |" for n, s in MAGIC.items()
    ]
