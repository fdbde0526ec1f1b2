"""Changes the account, and moves the times of its automations with its time zone."""

from sqlalchemy import select

from app.domain.accounts import queries, service
from app.domain.accounts.models import Account
from app.domain.accounts.service import AccountFields
from app.domain.automations import triggers
from app.domain.automations.models import Automation, AutomationStatus
from app.domain.kernel.unit_of_work import UnitOfWork


async def update_account(unit: UnitOfWork, fields: AccountFields) -> Account:
    """Change the actor's account as `service.update` does.

    The day of the next run of an automation stays; its time is that of the new zone. A time that has passed is due now.
    """
    former = (await queries.get_own(unit, lock=True)).time_zone
    account = await service.update(unit, fields)
    if account.time_zone != former:
        await _move(unit, former, account.time_zone)
    return account


async def _move(unit: UnitOfWork, former: str | None, zone: str | None) -> None:
    own = Automation.account_id == unit.actor.account_id, Automation.status == AutomationStatus.active
    found = select(Automation).where(*own, Automation.next_at.is_not(None)).order_by(Automation.id)
    for automation in await unit.all(found.with_for_update().execution_options(populate_existing=True)):
        assert automation.next_at
        automation.next_at = triggers.move(automation.trigger, automation.next_at, former, zone)
        await unit.save(automation)
