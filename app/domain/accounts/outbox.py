"""The outbox: what is to be mailed, written in one transaction with what it tells of."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select

from app.db.engine import Connection
from app.domain.accounts.models import Invitation, PasswordLink, WaitingLetter
from app.domain.kernel.unit import Unit

BELL = "mail"
INVITATION, RESET, NOTICE = "invitation", "reset", "notice"
"""The kinds of letters; a notice brings no link."""

NOTICE_LASTS = timedelta(days=7)
POST_NOTICE = f"""
INSERT INTO waiting_letters (account_id, user_id, kind, words, expires_at)
SELECT account_id, id, '{NOTICE}', $2, now() + $3 FROM users
WHERE account_id = $1 AND role = 'owner' AND removed_at IS NULL ORDER BY id
"""


async def post_link(unit: Unit, link: PasswordLink, seed: bytes) -> None:
    """Have a link mailed to its user; `seed` makes its token, and is kept until then."""
    letter = WaitingLetter(
        account_id=link.account_id,
        user_id=link.user_id,
        kind=RESET,
        link_id=link.id,
        seed=seed,
        due_at=unit.clock.now(),
        expires_at=link.expires_at,
    )
    await unit.save(letter)
    unit.ring(BELL)


async def withdraw_link(unit: Unit, link_id: int) -> None:
    """Have a link not mailed, again or at all: it was used, so its mail came."""
    await unit.execute(delete(WaitingLetter).where(WaitingLetter.link_id == link_id))


async def post_invitation(unit: Unit, invitation: Invitation, seed: bytes, due_at: datetime) -> None:
    """Have an invitation mailed, not before an instant; `seed` makes the token of its link."""
    letter = WaitingLetter(
        account_id=invitation.account_id,
        invitation_id=invitation.id,
        kind=INVITATION,
        seed=seed,
        due_at=due_at,
        expires_at=invitation.expires_at,
    )
    await unit.save(letter)
    unit.ring(BELL)


async def withdraw_invitations(unit: Unit, *which: ColumnElement[bool]) -> None:
    """Have invitations not mailed, again or at all."""
    ended = select(Invitation.id).where(*which)
    await unit.execute(delete(WaitingLetter).where(WaitingLetter.invitation_id.in_(ended)))


async def post_notice(connection: Connection, account_id: int, *, subject: str, opening: str) -> None:
    """Have every owner of an account mailed, each in a letter of their own, so that one is tried again without another.

    One that no worker got to within a week is not sent any more.
    """
    words = {"subject": subject, "opening": opening}
    await connection.execute(POST_NOTICE, account_id, words, NOTICE_LASTS)
