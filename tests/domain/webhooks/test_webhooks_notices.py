"""Notices of webhooks in trouble are mailed to the owners of the account, each of whom gets one."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts import api_keys
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.mail_sender import LEASE, WAITS
from app.domain.accounts.mailer import Mail
from app.domain.accounts.models import Role
from app.domain.accounts.sessions import Visitor
from app.domain.notices.mails import CHOSEN, NoticeMails
from app.domain.webhooks import ownership, service
from tests.domain.mail_senders import SenderSetup, set_up_sender
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.accounts import USERS, WAITING_MAILS
from tests.factories.tables import ago
from tests.waiting import until

CANCELED = "Its pending deliveries are canceled. To receive its events again, subscribe again."


class Died(BaseException):
    """An error that ends a worker at once."""


async def add_user(harness: Harness, name: str, role: Role = Role.owner) -> str:
    """Add somebody to the account; return the e-mail address."""
    async with harness.act() as unit:
        user = await accounts.add_user(unit, f"{name}@example.com", "seven green bicycles")
        user.role = role
        await unit.save(user)
    return user.email


async def leave_out(harness: Harness) -> None:
    """Add a member and a machine to the account, and an owner who has left."""
    await add_user(harness, "member", Role.member)
    await add_user(harness, "service", Role.service)
    gone = await add_user(harness, "gone")
    await USERS.where(email=gone).change(harness.pool, removed_at=ago())


async def is_gone(harness: Harness) -> str:
    """Have a subscription removed, since its endpoint answers 410; return its id and host as mails name them."""
    harness.receiver.respond = status(410)
    subscription = await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: harness.are_all("canceled"))
        await until(harness.is_at_rest)
    return f"{subscription.id} to {harness.receiver.url.removeprefix('http://')}"


async def work(harness: Harness) -> list[Mail]:
    """Send the due mails; return all mails sent."""
    await note(harness)
    return await set_up_sender(harness.services).send_due()


async def note(harness: Harness) -> None:
    """Add the notices of the owners, and queue their mails."""
    await harness.dispatcher.run()
    await NoticeMails(harness.services.database, harness.services.clock, harness.services.notify).run()


async def mails_left(harness: Harness) -> int:
    return await WAITING_MAILS.count(harness.pool)


async def test_the_notice_of_a_disabled_webhook_is_mailed_once_to_each_owner_only(
    harness: Harness, new_account: Callable[..., Any]
) -> None:
    await new_account()
    second = await add_user(harness, "second")
    await leave_out(harness)
    harness.pace(waits=(60,), breaker_waits=(0.03,), notice_after=(), disable_after=0.4)
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    for contact in range(60):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await until(lambda: is_disabled(harness, subscription.id))

    sent = await work(harness)

    host, what = harness.receiver.url.removeprefix("http://"), "was disabled after 0.4 seconds without success."
    title = f"Webhook {subscription.id} to {host} was disabled"
    advice = (
        "Fix the endpoint, activate the webhook (update_webhook with active: true), then send the skipped deliveries "
        "(replay_webhook_deliveries)."
    )
    text = f"{title}\n\n{harness.receiver.url}/hook {what} {advice}\n\nhttps://sms.example.com/app/\n\n{CHOSEN}\n"
    assert [(mail.to, mail.subject, mail.text) for mail in sent] == [
        (harness.account.email, title, text),
        (second, title, text),
    ]
    for part in (title, f"{harness.receiver.url}/hook {what} {advice}", 'href="https://sms.example.com/app/"', CHOSEN):
        assert part in sent[0].html
    assert await mails_left(harness) == 0


async def is_disabled(harness: Harness, id: int) -> bool:
    return (await harness.subscription(id))["status"] == "disabled"


async def test_a_failing_webhook_is_mailed_as_often_as_it_is_noticed(harness: Harness) -> None:
    harness.pace(waits=(0.02,) * 10_000, breaker_waits=(0.02,), notice_after=(0.05, 0.1))
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: has_noticed(harness, "0.1 seconds"))

    sent = await work(harness)

    url, notices = harness.receiver.url, await harness.notices()
    assert {mail.subject for mail in sent} == {f"Webhook {subscription.id} to {url.removeprefix('http://')} is failing"}
    advice = (
        "Fix the endpoint: it must answer with a status from 200 to 299. Pending deliveries are then sent "
        "automatically; replay_webhook_deliveries sends the failed ones again."
    )
    assert [mail.text.splitlines()[2] for mail in sent] == [f"{text} {advice}" for _, text in notices]
    assert notices[-1] == (
        "failing",
        f"{url}/hook has been failing for 0.1 seconds; 3 days without success disable it.",
    )


async def has_noticed(harness: Harness, spelled: str) -> bool:
    return any(f"failing for {spelled};" in text for _, text in await harness.notices())


async def test_a_webhook_that_is_gone_is_mailed(harness: Harness) -> None:
    name = await is_gone(harness)

    [mail] = await work(harness)

    assert (mail.to, mail.subject) == (harness.account.email, f"Webhook {name} was removed")
    assert mail.text.splitlines()[2] == f"{harness.receiver.url}/hook answered 410 Gone and was removed. {CANCELED}"


async def test_a_webhook_that_ends_with_its_creator_is_mailed(harness: Harness) -> None:
    subscription = await harness.subscribe()
    async with harness.act() as unit:
        key, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Zaps"))
        owner, unit.actor = unit.actor, replace(unit.actor, key_id=key.id)
        await service.take_over(unit, subscription.id)
        unit.actor = owner
        await api_keys.revoke_key(unit, key.id)
    await harness.tell("won")
    await harness.dispatcher.run()

    [mail] = await work(harness)

    host = harness.receiver.url.removeprefix("http://")
    assert mail.subject == f"Webhook {subscription.id} to {host} was removed"
    why = f"{ownership.WHY_ENDED}."
    assert mail.text.splitlines()[2] == f"{harness.receiver.url}/hook {why} {CANCELED}"


async def test_without_an_owner_the_notice_is_kept_and_not_mailed(harness: Harness) -> None:
    await USERS.change(harness.pool, role="member")
    await is_gone(harness)

    assert (await work(harness), len(await harness.notices()), await mails_left(harness)) == ([], 1, 0)


async def test_an_owner_who_left_before_the_mail_was_sent_gets_none(harness: Harness) -> None:
    second = await add_user(harness, "second")
    await is_gone(harness)
    await note(harness)
    await USERS.where(email=harness.account.email).change(harness.pool, removed_at=ago())

    assert [mail.to for mail in await work(harness)] == [second]


async def test_a_notice_that_one_owners_server_refuses_is_tried_again_for_that_one_and_then_given_up(
    harness: Harness,
) -> None:
    second = await add_user(harness, "second")
    await is_gone(harness)
    await note(harness)
    setup = set_up_sender(harness.services)
    refuse(setup, harness.account.email)
    await setup.send_due()

    for wait in WAITS:
        assert not await setup.mail_sender.due()
        setup.clock.at += wait
        assert await setup.mail_sender.run()

    assert [mail.to for mail in setup.server.sent] == [second]
    assert sorted(setup.counted) == sorted(
        [("sent", ""), *[("failed", "down for repairs")] * len(WAITS), ("given_up", "down for repairs")]
    )
    assert setup.server.open_transactions == [0] * 6
    setup.clock.at += timedelta(hours=1)
    assert (await setup.mail_sender.due(), await mails_left(harness)) == (False, 0)


def refuse(setup: SenderSetup, to: str) -> None:
    """Have the server be down for mails to one address."""

    async def choose(mail: Mail) -> None:
        setup.server.is_down = mail.to == to

    setup.server.on_mail = choose


async def test_an_owner_who_got_the_mail_gets_no_other_when_the_worker_dies_over_the_next_ones(
    harness: Harness,
) -> None:
    second = await add_user(harness, "second")
    await is_gone(harness)
    await note(harness)
    setup = set_up_sender(harness.services)
    assert await setup.mail_sender.run()
    setup.server.on_mail = die
    with pytest.raises(Died):
        await setup.mail_sender.run()
    setup.server.on_mail = None
    in_hand = await setup.mail_sender.due()

    setup.clock.at += LEASE

    assert (in_hand, [mail.to for mail in await setup.send_due()]) == (False, [harness.account.email, second])


async def die(_: Mail) -> None:
    raise Died


async def test_a_requested_link_is_mailed_before_older_notices(harness: Harness) -> None:
    await is_gone(harness)
    await harness.services.authentication.ask_reset(harness.account.email, Visitor("203.0.113.7"))

    sent = await work(harness)

    assert [mail.subject.partition(" ")[0] for mail in sent] == ["Choose", "Webhook"]
