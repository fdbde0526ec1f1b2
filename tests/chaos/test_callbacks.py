"""Ten thousand callbacks that a carrier posts, most of them broken or forged."""

import httpx2
import pytest

from app.bootstrap import derive
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.billing import audit
from tests.rest.callbacks import exchange

pytestmark = pytest.mark.anyio


async def test_ten_thousand_random_callbacks_are_all_answered_and_nothing_signed_is_lost(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    secret = derive(services.settings, "sandbox")

    await exchange(http, secret, account.phone_number, services.database.pool, seed=20_261_128, callbacks=10_000)

    await audit(services.database.pool)
