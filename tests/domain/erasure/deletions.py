"""Requests deletions of accounts, and runs their jobs."""

from datetime import timedelta

from app.domain.accounts import deletion
from app.domain.erasure.accounts import AccountDeletions
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.carrier_erasures import CarrierErasures
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import WAITING_MAILS
from tests.factories.clocks import Later


def deletions(services: Services, batch: int = 2, **later: float) -> AccountDeletions:
    """Return the deleter of accounts, with small batches and a clock moved ahead."""
    return AccountDeletions(services.database, Later(timedelta(**later)), services.notify, batch)


async def ask(services: Services, account_id: int) -> None:
    """Request the immediate deletion of an account, with its owners' mails sent."""
    async with unit_of(services, Actor(account_id, frozenset())) as unit:
        await deletion.bring_forward(unit)
    await WAITING_MAILS.where(account_id=account_id).change(services, attempts=1)


async def run_out(job: AccountDeletions) -> None:
    """Run a job until it has no more work."""
    while await job.run():
        pass


async def forget_at_carriers(services: Services, **later: float) -> None:
    """Delete erased messages at the carriers."""
    await CarrierErasures(services.database, services.connections, Later(timedelta(**later))).run()
