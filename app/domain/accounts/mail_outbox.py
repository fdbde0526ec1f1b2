"""The outbox of mails, written in one transaction with the change they report."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, select

from app.db.engine import Connection
from app.domain.accounts.models import Invitation, PasswordLink, Role, User, WaitingMail
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.unit_of_work import UnitOfWork

TOPIC = "mail"
INVITATION, RESET, NOTICE = "invitation", "reset", "notice"
"""The kinds of mails; a notice has no link."""

NOTICE_LASTS = timedelta(days=7)
POST_NOTICE = f"""
INSERT INTO waiting_mails (account_id, user_id, kind, words, expires_at)
VALUES ($1, $2, '{NOTICE}', $3, now() + $4)
"""


async def post_link(unit: UnitOfWork, link: PasswordLink, seed: bytes) -> None:
    """Queue the mail with a password link; `seed` yields its token, and is stored until the mail is sent."""
    mail = WaitingMail(
        account_id=link.account_id,
        user_id=link.user_id,
        kind=RESET,
        link_id=link.id,
        seed=seed,
        due_at=unit.clock.now(),
        expires_at=link.expires_at,
    )
    await unit.save(mail)
    unit.notify(TOPIC)


async def read_token(unit: UnitOfWork, tokens: Tokens, link: PasswordLink) -> str:
    """Return the token of a link that is not yet mailed, for the operator."""
    seed = await unit.one(select(WaitingMail.seed).where(WaitingMail.link_id == link.id))
    return tokens.of_link(seed or b"")


async def notify_owners(unit: UnitOfWork, *, subject: str, opening: str) -> None:
    """Queue a notice to every owner of the actor's account, one mail each."""
    owners = select(User.id).where(
        User.account_id == unit.actor.account_id, User.role == Role.owner, User.removed_at.is_(None)
    )
    now = unit.clock.now()
    mails = [
        WaitingMail(
            account_id=unit.actor.account_id,
            user_id=owner,
            kind=NOTICE,
            words={"subject": subject, "opening": opening},
            due_at=now,
            expires_at=now + NOTICE_LASTS,
        )
        for owner in await unit.all(owners.order_by(User.id))
    ]
    await unit.save(*mails)
    unit.notify(TOPIC)


async def withdraw_link(unit: UnitOfWork, link_id: int) -> None:
    """Delete the queued mail of a used link."""
    await unit.execute(delete(WaitingMail).where(WaitingMail.link_id == link_id))


async def post_invitation(unit: UnitOfWork, invitation: Invitation, seed: bytes) -> None:
    """Queue the mail of an invitation for its `mail_at`; `seed` yields the token of its link."""
    mail = WaitingMail(
        account_id=invitation.account_id,
        invitation_id=invitation.id,
        kind=INVITATION,
        seed=seed,
        due_at=invitation.mail_at,
        expires_at=invitation.expires_at,
    )
    await unit.save(mail)
    unit.notify(TOPIC)


async def withdraw_invitations(unit: UnitOfWork, *which: ColumnElement[bool]) -> None:
    """Delete the queued mails of invitations."""
    ended = select(Invitation.id).where(*which)
    await unit.execute(delete(WaitingMail).where(WaitingMail.invitation_id.in_(ended)))


async def post_notice(connection: Connection, account_id: int, user_id: int, words: Mapping[str, str]) -> None:
    """Queue a notice to a user; a mail not sent within a week is dropped.

    `words` are the subject, the opening, the closing, and the path of the page that it leads to.
    """
    await connection.execute(POST_NOTICE, account_id, user_id, dict(words), NOTICE_LASTS)
