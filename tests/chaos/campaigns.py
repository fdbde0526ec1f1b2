"""Sends campaigns while workers are killed; then counts the texts and the credits of every recipient."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from app.domain.kernel.unit_of_work import Actor
from tests.chaos.storm import REPORT_NOW, Storm
from tests.conftest import unit_of
from tests.factories.billing import audit
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, add_people, audit_counts
from tests.factories.saved import let_texts_leave_at_any_hour
from tests.waiting import until

CREATE = """mutation { create_campaign(campaign: {
  name: "Sale", body: "Hi {first_name}, our sale begins today.", audience: {everyone: true}}) { id } }"""
SEND = "mutation ($id: BigInt!) { send_campaign(id: $id, consent_attested: true) { status } }"
CANCEL = "mutation ($id: BigInt!) { cancel_campaign(id: $id) { canceled left in_flight } }"
COUNT_DECIDED = "SELECT count(*) FROM campaign_recipients WHERE state <> 'queued'"
COUNT_OPEN = """
SELECT (SELECT count(*) FROM campaigns WHERE status NOT IN ('completed', 'canceled'))
  + (SELECT count(*) FROM outgoing)
  + (SELECT count(*) FROM campaign_recipients WHERE state IN ('queued', 'claimed', 'sent'))
"""
COUNT_CALLS = "SELECT reference, calls FROM sandbox_messages"
SUM_DEBITS = "SELECT -sum(amount) FROM ledger_entries WHERE message_id IS NOT NULL"


@dataclass(frozen=True)
class Sent:
    """A campaign that has ended: its recipients by state, and the calls of the carrier."""

    states: dict[str, int]
    calls: int
    credits: int


async def begin(weather: Storm, people: int) -> int:
    """Add contacts, and send a campaign to all of them; return its id."""
    async with unit_of(weather.services, Actor(weather.account_id, frozenset())) as unit:
        await let_texts_leave_at_any_hour(unit, weather.account_id)
    await add_people(weather.pool, people)
    campaign_id = (await ask(weather, CREATE))["id"]
    await ask(weather, SEND, id=campaign_id)
    return campaign_id


async def ask(weather: Storm, query: str, **variables: Any) -> Any:
    """Return the root field of a GraphQL answer."""
    answer = (await weather.api.post("/graphql", json={"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    [value] = answer["data"].values()
    return value


async def await_decided(weather: Storm, count: int, seconds: float = 600) -> None:
    """Wait until a number of recipients have left the queue."""

    async def are_decided() -> bool:
        return await weather.pool.fetchval(COUNT_DECIDED) >= count

    await until(are_decided, seconds, every=0.1)


async def end(weather: Storm, people: int, seconds: float = 180) -> Sent:
    """Wait until the campaign has ended and every text is settled; fail unless texts and credits are exact."""

    async def has_ended() -> bool:
        await weather.pool.execute(REPORT_NOW)
        return not await weather.pool.fetchval(COUNT_OPEN)

    await until(has_ended, seconds, every=0.2)
    handed = {row["reference"]: row["calls"] for row in await weather.pool.fetch(COUNT_CALLS)}
    rows = await CAMPAIGN_RECIPIENTS.read(weather.pool, "phone", "state", "message_id")
    reached = {row["message_id"] for row in rows if row["state"] in ("sent", "delivered", "failed")}
    states = Counter(row["state"] for row in rows)
    debits = await weather.pool.fetchval(SUM_DEBITS)
    assert len({row["phone"] for row in rows}) == len(rows) == states.total() == people
    assert {reference: calls for reference, calls in handed.items() if calls != 1} == {}
    assert set(handed) ^ reached == set()
    assert debits == len(reached)
    await audit(weather.pool)
    await audit_counts(weather.pool)
    return Sent(dict(states), len(handed), debits)
