"""Invitations: what the account that invites learns, how many there may be, and how they end."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.domain.accounts import invitations
from app.domain.accounts.invitations import MAX_PEOPLE, AddressInUse
from app.domain.accounts.links import PasswordLinkInvalid
from app.domain.accounts.mailer import Mail
from app.domain.accounts.models import Invitation, Role, User
from app.domain.accounts.scopes import ALL
from app.domain.accounts.sessions import Visitor
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound, RateLimited
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.mail_senders import set_up_sender
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, INVITATIONS, USERS, WAITING_MAILS, multiply_users
from tests.factories.tables import ago, ahead

PASSWORD = "seven green bicycles"
SOFA = Visitor("203.0.113.8")


@pytest.fixture
def owner(account: Opened) -> Actor:
    """Give an actor that may do anything."""
    return Actor(account.account_id, ALL, "user:1", "request-1")


async def invite(services: Services, actor: Actor, email: str, role: Role = Role.member) -> Invitation:
    async with unit_of(services, actor) as unit:
        return await invitations.invite(unit, services.authentication.tokens, email, role)


async def pending(services: Services, actor: Actor) -> list[str]:
    async with unit_of(services, actor) as unit:
        return [each.email for each in await invitations.list_pending(unit)]


async def mailed(services: Services) -> list[Mail]:
    return await set_up_sender(services).send_due()


def token(mail: Mail) -> str:
    [url] = [line for line in mail.text.splitlines() if "/password/" in line]
    return url.rpartition("/")[2]


async def accept(services: Services, mail: Mail) -> User:
    return await services.authentication.set_password(token(mail), PASSWORD, SOFA)


async def test_an_invited_person_is_no_user_before_accepting(services: Services, owner: Actor) -> None:
    made = await invite(services, owner, " Bob@Example.COM ", Role.service)

    assert (made.email, made.role, made.expires_at - made.created_at) == (
        "bob@example.com",
        "service",
        timedelta(days=7),
    )
    assert await USERS.count(services) == 1
    action = await AUDIT_ENTRIES.where(action="user_invited").only(services, "actor", "subject", "details")
    assert action == ("user:1", "bob@example.com", {"invitation_id": made.id, "role": "service"})
    [mail] = await mailed(services)
    user = await accept(services, mail)
    assert (user.email, user.role, user.account_id) == ("bob@example.com", "service", owner.account_id)
    assert await services.authentication.enter("bob@example.com", PASSWORD, SOFA)
    assert await pending(services, owner) == []


async def test_an_inviter_does_not_learn_of_users_of_other_accounts(
    services: Services, owner: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    stranger = Actor(other.account_id, ALL)
    await invite(services, stranger, "carol@example.com")

    told = [await invite(services, owner, email) for email in (other.email, "carol@example.com", "new@example.com")]

    assert [(each.role, each.expires_at - each.created_at) for each in told] == [("member", timedelta(days=7))] * 3
    assert await pending(services, owner) == ["new@example.com", "carol@example.com", other.email]
    assert await pending(services, stranger) == ["carol@example.com"]


async def test_the_invitation_mail_says_that_the_address_is_in_use(
    services: Services, owner: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account(company_name="Others")
    await invite(services, owner, other.email)

    [mail] = await mailed(services)

    assert (mail.to, mail.subject) == (other.email, "You are invited to Blue Door")
    assert "Your e-mail address signs in to another account already" in mail.text
    assert "Others" not in mail.text
    with pytest.raises(AddressInUse, match="Ask to be invited under another address"):
        await accept(services, mail)
    assert await USERS.where(email=other.email).only(services, "account_id") == other.account_id

    await USERS.where(email=other.email).change(services, removed_at=ago())
    assert (await accept(services, mail)).account_id == owner.account_id


async def test_of_two_accounts_that_invite_one_person_the_first_accepted_wins(
    services: Services, owner: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account(company_name="Others")
    await invite(services, owner, "bob@example.com")
    await invite(services, Actor(other.account_id, ALL), "bob@example.com")
    mails = await mailed(services)
    assert [mail.subject for mail in mails] == ["You are invited to Blue Door", "You are invited to Others"]

    answers = await asyncio.gather(*(accept(services, mail) for mail in mails), return_exceptions=True)

    assert sorted(type(answer).__name__ for answer in answers) == ["AddressInUse", "User"]
    assert await USERS.where(email="bob@example.com").count(services) == 1


async def test_one_of_two_concurrent_acceptances_of_an_invitation_is_refused(services: Services, owner: Actor) -> None:
    await invite(services, owner, "bob@example.com")
    [mail] = await mailed(services)

    answers = await asyncio.gather(*(accept(services, mail) for _ in range(2)), return_exceptions=True)

    assert sum(isinstance(answer, User) for answer in answers) == 1
    assert await USERS.where(email="bob@example.com").count(services) == 1


async def test_an_invitation_made_again_replaces_the_one_before(services: Services, owner: Actor) -> None:
    await invite(services, owner, "bob@example.com")
    [first] = await mailed(services)
    await invite(services, owner, "BOB@example.com", Role.owner)
    [second] = await mailed(services)

    with pytest.raises(PasswordLinkInvalid):
        await accept(services, first)
    assert (await accept(services, second)).role == "owner"


async def test_a_user_of_the_own_account_is_not_invited(services: Services, owner: Actor, account: Opened) -> None:
    with pytest.raises(Conflict, match=rf"^A user of this account has the e-mail address {account.email}\.$"):
        await invite(services, owner, account.email.upper())

    assert (await INVITATIONS.count(services), await WAITING_MAILS.count(services)) == (0, 0)


async def test_an_invitation_is_withdrawn_and_neither_mailed_nor_accepted(services: Services, owner: Actor) -> None:
    made = await invite(services, owner, "bob@example.com")
    [mail] = await mailed(services)
    again = await invite(services, owner, "ann@example.com")

    async with unit_of(services, owner) as unit:
        for invitation in (made, again):
            await invitations.withdraw(unit, invitation.id)
        with pytest.raises(NotFound, match=rf"^No invitation with id {made.id}\.$"):
            await invitations.withdraw(unit, made.id)

    assert (await mailed(services), await pending(services, owner)) == ([], [])
    with pytest.raises(PasswordLinkInvalid):
        await accept(services, mail)


async def test_an_invitation_of_another_account_cannot_be_withdrawn(
    services: Services, owner: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    made = await invite(services, owner, "bob@example.com")

    async with unit_of(services, Actor(other.account_id, ALL)) as unit:
        with pytest.raises(NotFound):
            await invitations.withdraw(unit, made.id)

    assert await pending(services, owner) == ["bob@example.com"]


@pytest.mark.parametrize("over", ["time", "account"])
async def test_an_invitation_ends_with_its_time_and_rests_with_its_account(
    services: Services, owner: Actor, over: str
) -> None:
    await invite(services, owner, "bob@example.com")
    [mail] = await mailed(services)
    if over == "time":
        await INVITATIONS.change(services, expires_at=ago())
    else:
        await ACCOUNTS.change(services, status="suspended")

    with pytest.raises(PasswordLinkInvalid):
        await accept(services, mail)

    assert await pending(services, owner) == ([] if over == "time" else ["bob@example.com"])
    assert await USERS.count(services) == 1


async def test_an_account_mails_one_person_three_invitations_a_day(services: Services, owner: Actor) -> None:
    for _ in range(3):
        await invite(services, owner, "bob@example.com")
    await INVITATIONS.age(services, "created_at", hours=1)

    with pytest.raises(RateLimited) as refused:
        await invite(services, owner, "Bob@example.com")

    assert 22.9 * 3600 < float(str(refused.value.facts["seconds"])) <= 23 * 3600
    assert await INVITATIONS.count(services) == 3
    await INVITATIONS.age(services, "created_at", hours=23)
    assert await invite(services, owner, "bob@example.com")


async def test_an_account_makes_a_hundred_invitations_a_day(services: Services, owner: Actor) -> None:
    for number in range(99):
        made = {
            "email": f"{number}@example.com",
            "role": "member",
            "hash": bytes([number]),
            "created_at": ago(hours=23),
        }
        await INVITATIONS.insert(services, account_id=owner.account_id, expires_at=ahead(days=1), **made)
    await invite(services, owner, "ann@example.com")

    with pytest.raises(RateLimited):
        await invite(services, owner, "bob@example.com")


async def test_many_accounts_that_invite_one_person_are_answered_alike_and_mail_five_a_day(
    services: Services, new_account: Callable[..., Any]
) -> None:
    for _ in range(6):
        other = await new_account()
        await invite(services, Actor(other.account_id, ALL), "bob@example.com")
    setup = set_up_sender(services)

    assert len(await setup.send_due()) == 5

    setup.clock.at += timedelta(days=1)
    assert len(await setup.send_due()) == 6


async def test_invitations_to_one_mailbox_are_mailed_five_in_any_day_and_refused_when_they_would_end_before(
    services: Services, owner: Actor, new_account: Callable[..., Any]
) -> None:
    other, now = await new_account(), services.clock.now() + timedelta(minutes=1)
    made = 0

    async def fill(mail_at: datetime, count: int) -> None:
        nonlocal made
        for _ in range(count):
            made += 1
            told = {"email": "bob@example.com", "role": "member", "hash": bytes([made]), "expires_at": ahead(days=7)}
            await INVITATIONS.insert(services, account_id=other.account_id, mail_at=mail_at, **told)

    for day in range(3):
        await fill(now + timedelta(days=day), 4)
        invited = await invite(services, owner, "bob@example.com")
        await fill(now + timedelta(days=day), 1)
        assert round((invited.mail_at - now) / timedelta(days=1), 2) == day
        await INVITATIONS.where(id=invited.id).delete(services)
    for day in range(3, 6):
        await fill(now + timedelta(days=day), 5)

    with pytest.raises(RateLimited):
        await invite(services, owner, "bob@example.com")


@pytest.mark.parametrize(
    "email",
    ["", "bob", "bob@", "@example.com", "bob@ex ample.com", "a@b@c", "bob@example.com\r\nBcc: x@y.z", "a\0@b.c"],
)
async def test_an_invitation_to_an_invalid_address_is_refused(services: Services, owner: Actor, email: str) -> None:
    with pytest.raises(InvalidInput, match=r"^email must be an e-mail address, such as ann@example.com\.$"):
        await invite(services, owner, email)

    assert await INVITATIONS.count(services) == 0


@pytest.mark.parametrize(
    ("email", "reason"),
    [
        (
            "jörg@example.com",
            "email must have ASCII letters only. Write an international domain in its xn-- form.",
        ),
        (
            "joerg@müller.example",
            "email must have ASCII letters only. Write an international domain in its xn-- form.",
        ),
        ("=?utf-8?q?victim=40corp.com=2C?=@x.com", "email must not contain =?. Write the address without an encoding."),
    ],
)
async def test_an_address_that_mail_servers_refuse_or_read_as_another_is_not_invited(
    services: Services, owner: Actor, email: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await invite(services, owner, email)

    assert str(refused.value) == reason
    assert await INVITATIONS.count(services) == 0


async def test_users_and_invitations_are_no_more_than_a_list_shows(services: Services, owner: Actor) -> None:
    await multiply_users(services, MAX_PEOPLE - 1)
    await invite(services, owner, "bob@example.com")

    with pytest.raises(Conflict, match=r"^An account has at most 500 users and invitations\. Remove a user or"):
        await invite(services, owner, "carol@example.com")

    assert await pending(services, owner) == ["bob@example.com"]
    again = await invite(services, owner, "bob@example.com")
    async with unit_of(services, owner) as unit:
        await invitations.withdraw(unit, again.id)
    await invite(services, owner, "carol@example.com")
    assert await pending(services, owner) == ["carol@example.com"]
