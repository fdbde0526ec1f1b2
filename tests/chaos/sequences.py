"""Runs drip sequences while workers are killed; then counts the texts and events of every contact."""

from collections import Counter

from app.domain.kernel.unit_of_work import Actor
from tests.chaos.campaigns import ask
from tests.chaos.storm import REPORT_NOW, Storm
from tests.conftest import unit_of
from tests.factories.billing import audit
from tests.factories.campaigns import add_people
from tests.factories.events import event_names
from tests.factories.messages import OUTBOUND, OUTGOING
from tests.factories.saved import let_texts_leave_at_any_hour
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCE_STEPS
from tests.waiting import until

BODIES = ("One", "Two", "Three")
CREATE = 'mutation ($steps: [NewSequenceStep!]!) { create_sequence(name: "Welcome", steps: $steps) { id } }'
ENROLL = (
    "mutation ($id: BigInt!) { bulk_enroll(contacts: {filter: {}}, sequence_id: $id, consent_attested: true) { id } }"
)
COUNT_OPEN = "SELECT count(*) FROM sequence_enrollments WHERE status IN ('active', 'finishing')"
COUNT_ENROLLED = "SELECT count(*) FROM sequence_enrollments"
COUNT_CALLS = "SELECT count(*) FROM sandbox_messages WHERE calls = 1"


async def run_sequence(weather: Storm, people: int, kills: int, seconds: float = 180) -> None:
    """Enroll people in a sequence of three steps; fail unless each gets each once, in order, and completes once."""
    async with unit_of(weather.services, Actor(weather.account_id, frozenset())) as unit:
        await let_texts_leave_at_any_hour(unit, weather.account_id)
    await add_people(weather.pool, people)
    steps = [{"delay_minutes": 0, "body": body} for body in BODIES]
    sequence_id = (await ask(weather, CREATE, steps=steps))["id"]
    await ask(weather, ENROLL, id=sequence_id)
    await weather.kill(kills, pause=0.5)

    async def has_ended() -> bool:
        await weather.pool.execute(REPORT_NOW)
        is_enrolled = await weather.pool.fetchval(COUNT_ENROLLED) == people
        is_open = await weather.pool.fetchval(COUNT_OPEN) or await OUTGOING.count(weather.pool)
        return is_enrolled and not is_open

    await until(has_ended, seconds, every=0.2)
    await _check(weather, people)


async def _check(weather: Storm, people: int) -> None:
    rows = await OUTBOUND.read(weather.pool, "to_number", "body")
    assert Counter(body for _, body in rows) == dict.fromkeys(BODIES, people)
    texts = dict[str, list[str]]()
    for to, body in rows:
        texts.setdefault(to, []).append(body)
    assert [to for to, bodies in texts.items() if tuple(bodies) != BODIES] == []
    assert await weather.pool.fetchval(COUNT_CALLS) == len(rows)
    assert Counter(await SEQUENCE_ENROLLMENTS.read(weather.pool, "status")) == {"completed": people}
    assert await SEQUENCE_STEPS.read(weather.pool, "sent") == [people] * len(BODIES)
    assert len(await event_names(weather.pool, "drip_completed")) == people
    await audit(weather.pool)
