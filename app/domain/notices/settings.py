"""The choices of a user: which notices come in the browser, and which by mail."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import users
from app.domain.accounts.models import Role
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.notices.models import OF_OWNERS, NoticeKind, NoticePreference

MAILED = OF_OWNERS
"""The kinds that are mailed unless the user chooses otherwise; all kinds come in the browser."""


@dataclass(frozen=True, slots=True)
class NoticeSetting:
    """The choice of a user for a kind of notices."""

    kind: NoticeKind
    in_browser: bool
    by_mail: bool


async def list_settings(unit: UnitOfWork) -> Sequence[NoticeSetting]:
    """Return the choices of the user for the kinds of notices that the user can get; raise `PersonRequired`."""
    person = await users.get_person(unit)
    own = select(NoticePreference).where(NoticePreference.user_id == person.id)
    chosen = {row.kind: NoticeSetting(NoticeKind(row.kind), row.in_browser, row.by_mail) for row in await unit.all(own)}
    kinds = [kind for kind in NoticeKind if person.role == Role.owner or kind not in OF_OWNERS]
    return [chosen.get(kind) or NoticeSetting(kind, in_browser=True, by_mail=kind in MAILED) for kind in kinds]


async def update_setting(unit: UnitOfWork, setting: NoticeSetting) -> NoticeSetting:
    """Store the choice of the user for a kind of notices; raise `PersonRequired`."""
    person = await users.get_person(unit)
    chosen = {"in_browser": setting.in_browser, "by_mail": setting.by_mail}
    row = insert(NoticePreference).values(
        user_id=person.id, kind=setting.kind, account_id=unit.actor.account_id, **chosen
    )
    await unit.execute(row.on_conflict_do_update(index_elements=["user_id", "kind"], set_=chosen))
    return setting
