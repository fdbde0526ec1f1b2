"""Mailing what waits: once, again when a server fails, and not for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError

from app.domain.accounts.mail_sender import LEASE, WAITS
from app.domain.accounts.mailer import Mail
from app.domain.accounts.sessions import Visitor
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.domain.mail_senders import SenderSetup, set_up_sender
from tests.factories.accounts import PASSWORD_LINKS, USERS, WAITING_MAILS
from tests.factories.tables import Change, ago
from tests.factories.traps import LosingSessions, lose_connections

SOFA = Visitor("203.0.113.7")


@pytest.fixture
def setup(services: Services) -> SenderSetup:
    """Provide a mail sender with a clock that tests set."""
    return set_up_sender(services)


async def test_a_mail_is_sent_once_with_no_transaction_open(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    assert (await setup.mail_sender.due(), await setup.mail_sender.run()) == (False, False)
    await services.authentication.ask_reset(account.email, SOFA)
    assert await setup.mail_sender.due()

    assert [await setup.mail_sender.run() for _ in range(2)] == [True, False]

    [mail] = setup.server.sent
    assert (mail.to, mail.subject) == (account.email, "Choose a new password")
    [url] = [line for line in mail.text.splitlines() if line.startswith("https://sms.example.com/password/")]
    link = await services.authentication.find_link(url.rpartition("/")[2])
    assert (link.email, link.is_invitation, await waiting(services)) == (account.email, False, [])
    assert (setup.server.open_transactions, setup.counted) == ([0], [("sent", "")])


async def test_a_mail_that_no_server_takes_is_tried_again_later_and_then_given_up(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    setup.server.is_down = True
    await services.authentication.ask_reset(account.email, SOFA)
    await WAITING_MAILS.age(services, "expires_at", days=-1)

    for wait in WAITS:
        assert await setup.mail_sender.run()
        assert not await setup.mail_sender.due()
        setup.clock.at += wait
        assert await setup.mail_sender.due()
    assert await setup.mail_sender.run()

    assert setup.counted == [("failed", "down for repairs")] * len(WAITS) + [("given_up", "down for repairs")]
    setup.clock.at += timedelta(hours=1)
    assert not await setup.mail_sender.due()
    assert await waiting(services) == []


async def test_a_mail_in_hand_is_not_taken_twice_until_its_sender_must_have_died(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    await services.authentication.ask_reset(account.email, SOFA)

    claims = await asyncio.gather(*(setup.mail_sender._claim() for _ in range(3)))

    assert [claim is None for claim in claims].count(False) == 1
    setup.clock.at += LEASE - timedelta(seconds=1)
    assert not await setup.mail_sender.due()
    setup.clock.at += timedelta(seconds=1)
    assert await setup.mail_sender.run()
    assert len(setup.server.sent) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda services: WAITING_MAILS.change(services, expires_at=ago()),
        PASSWORD_LINKS.delete,
        lambda services: USERS.change(services, removed_at=ago()),
    ],
    ids=["mail over", "link deleted", "user removed"],
)
async def test_an_expired_link_or_one_of_a_removed_user_is_not_mailed(
    services: Services, account: Opened, setup: SenderSetup, change: Change
) -> None:
    await services.authentication.ask_reset(account.email, SOFA)
    await change(services)

    assert (await setup.mail_sender.due(), await setup.mail_sender.run(), setup.server.sent) == (False, False, [])


async def test_a_link_that_was_used_before_its_mail_was_known_to_be_sent_is_not_mailed_again(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    setup.server.on_mail, setup.server.is_down = _use(services), True
    await services.authentication.ask_reset(account.email, SOFA)

    assert await setup.mail_sender.run()

    assert await waiting(services) == []
    setup.clock.at += WAITS[0]
    assert (await setup.mail_sender.due(), len(setup.server.sent)) == (False, 0)


async def waiting(services: Services) -> list[bytes]:
    """Return what is kept of the letters that wait to bring a link."""
    return await WAITING_MAILS.read(services, "seed")


def _use(services: Services) -> Callable[[Mail], Awaitable[object]]:
    """Return what has a letter's link set a password: its reader is quicker than the server's answer."""

    async def use(mail: Mail) -> object:
        [url] = [line for line in mail.text.splitlines() if line.startswith("https://sms.example.com/password/")]
        return await services.authentication.set_password(url.rpartition("/")[2], "seven green bicycles", SOFA)

    return use


async def test_a_mail_whose_claim_was_lost_with_the_connection_is_sent_at_once_and_once(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    await services.authentication.ask_reset(account.email, SOFA)
    sessions: Any = LosingSessions(services.database.sessions)

    with pytest.raises(DBAPIError):
        await replace(setup.mail_sender, db=sessions).run()

    assert (sessions.lost, setup.server.sent) == (1, [])
    assert await setup.mail_sender.due()
    assert [await setup.mail_sender.run() for _ in range(2)] == [True, False]
    assert len(setup.server.sent) == 1
    assert setup.counted == [("sent", "")]


async def test_a_mail_is_sent_once_though_every_connection_is_lost_while_it_is_sent(
    services: Services, account: Opened, setup: SenderSetup, settings: Settings
) -> None:
    await services.authentication.ask_reset(account.email, SOFA)

    async def lose(_: Mail) -> None:
        connection: Any = await asyncpg.connect(settings.database_url)
        await lose_connections(connection)
        await connection.close()

    setup.server.on_mail = lose
    await setup.mail_sender.run()

    setup.clock.at += 2 * LEASE
    assert not await setup.mail_sender.due()
    fresh: Any = await asyncpg.connect(settings.database_url)  # those of the pool are lost
    left = await WAITING_MAILS.count(fresh)
    await fresh.close()
    assert (len(setup.server.sent), left) == (1, 0)


async def test_a_mail_is_sent_once_though_the_connection_is_lost_when_that_was_recorded(
    services: Services, account: Opened, setup: SenderSetup
) -> None:
    await services.authentication.ask_reset(account.email, SOFA)
    sessions: Any = LosingSessions(services.database.sessions)
    sessions.lost = 1

    async def lose(_: Mail) -> None:
        sessions.lost = 0

    setup.server.on_mail = lose
    await replace(setup.mail_sender, db=sessions).run()

    assert (sessions.lost, len(setup.server.sent), await waiting(services)) == (1, 1, [])
    assert setup.counted == [("sent", "")]
