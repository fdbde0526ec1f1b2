"""Workers that die anywhere in a run: each action still acts once."""

import asyncio

from app.bootstrap import open_dispatcher
from app.domain.automations.runner import AutomationRunner
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.automations.test_runs import NEW, add_ann, enable, runner, shown
from tests.domain.conftest import Act
from tests.factories.automations import AUTOMATION_RUNS
from tests.factories.billing import audit, balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.events import EVENTS
from tests.factories.messages import OUTBOUND
from tests.waiting import within


async def live_for(worker: AutomationRunner, steps: int) -> None:
    """Run a worker that dies after some steps of the event loop, with its transaction."""
    task = asyncio.create_task(worker.run())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await within("the death of the worker", asyncio.gather(task, return_exceptions=True))


async def test_each_action_acts_once_wherever_workers_die(perform: Act, services: Services, account: Opened) -> None:
    await enable(
        perform,
        NEW,
        {"kind": "send", "body": "Hello"},
        {"kind": "add_tag", "tag": "a"},
        {"kind": "notify", "text": "New"},
        {"kind": "webhook", "text": "Told"},
        {"kind": "send", "body": "Bye"},
    )
    await add_ann(perform)
    await open_dispatcher(services).run()

    steps = 1
    while await AUTOMATION_RUNS.only(services, "status") != "done":
        await live_for(runner(services), steps)
        await AUTOMATION_RUNS.where(ended_at=None).change(services, claimed_until=None)
        steps += 1 + steps // 8

    assert await shown(services) == [("done", "", ["sent", "done", "done", "done", "sent"])]
    assert await OUTBOUND.read(services, "body") == ["Hello", "Bye"]
    assert await CONTACTS.only(services, "tags") == ["a"]
    assert await EVENTS.where(name="owners_notified").count(services) == 1
    assert await EVENTS.where(name="contact_tag_added").count(services) == 1
    assert await EVENTS.where(name="automation_webhook").count(services) == 1
    assert await balance_of(services) == 998
    await audit(services)
