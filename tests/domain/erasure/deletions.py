"""Deletions of accounts, as tests ask for them and do their work."""

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
    """Return what deletes accounts, in small batches, on a clock that is so far ahead."""
    return AccountDeletions(services.database, Later(timedelta(**later)), services.notify, batch)


async def ask(services: Services, account_id: int) -> None:
    """Have an account deleted at once; its owners' mails have left."""
    async with unit_of(services, Actor(account_id, frozenset())) as unit:
        await deletion.bring_forward(unit)
    await WAITING_MAILS.where(account_id=account_id).change(services, attempts=1)


async def run_out(job: AccountDeletions) -> None:
    """Run a job until nothing is due, or others hold what is."""
    while await job.run():
        pass


async def forget_at_carriers(services: Services, **later: float) -> None:
    """Have carriers forget what was erased."""
    await CarrierErasures(services.database, services.carriers, Later(timedelta(**later))).run()
