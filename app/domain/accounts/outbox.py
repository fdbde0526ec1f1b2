"""The outbox: what is to be mailed, written in one transaction with what it tells of."""

from datetime import timedelta

from sqlalchemy import delete

from app.db.engine import Connection
from app.domain.accounts.models import PasswordLink, WaitingLetter
from app.domain.kernel.unit import Unit

BELL = "mail"
NOTICE = "notice"
"""The kind of a letter that brings no link; the others are the purposes of links."""

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
        kind=link.purpose,
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


async def post_notice(connection: Connection, account_id: int, *, subject: str, opening: str) -> None:
    """Have every owner of an account mailed, each in a letter of their own, so that one is tried again without another.

    One that no worker got to within a week is not sent any more.
    """
    words = {"subject": subject, "opening": opening}
    await connection.execute(POST_NOTICE, account_id, words, NOTICE_LASTS)
