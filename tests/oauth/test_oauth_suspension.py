"""While an account is suspended its connections rest; none is lost, and all work again once it is resumed."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.oauth import OAUTH_GRANTS, OAUTH_REFRESH_TOKENS
from tests.oauth.applications import REVOKE, Application, bearer

pytestmark = pytest.mark.anyio

SUSPENDED = "This account is suspended and cannot send. Its keys and connections work again once it is resumed."


async def test_a_refresh_is_put_off_and_works_once_the_account_is_resumed(
    application: Application, services: Services
) -> None:
    tokens, code = await application.connect(), await application.code()
    await ACCOUNTS.change(services, status="suspended")

    for answer in (await application.refresh(tokens["refresh_token"]), await application.exchange(code)):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "300")
        assert answer.json() == {"error": "temporarily_unavailable", "error_description": SUSPENDED}
    assert await OAUTH_REFRESH_TOKENS.where_not(rotated_at=None).count(services) == 0

    await ACCOUNTS.change(services, status="active")
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200
    assert (await application.exchange(code)).status_code == 200


async def test_tokens_and_keys_are_refused_by_a_code_of_their_own_and_work_again(
    application: Application, services: Services, http: httpx2.AsyncClient, account: Opened
) -> None:
    tokens = await application.connect()
    credentials = [tokens["access_token"], account.svc_key, account.auto_key]
    await ACCOUNTS.change(services, status="suspended")

    for each in credentials:
        answer = await http.get("/automation/auth/test", headers=bearer(each))
        assert (answer.status_code, answer.json()["error_code"]) == (403, "account_suspended")
        assert "www-authenticate" not in answer.headers

    await ACCOUNTS.change(services, status="active")
    statuses = [(await http.get("/automation/auth/test", headers=bearer(each))).status_code for each in credentials]
    assert statuses == [200, 200, 200]


async def test_a_client_takes_its_connection_back_while_the_account_is_suspended(
    application: Application, services: Services
) -> None:
    tokens = await application.connect()
    await ACCOUNTS.change(services, status="suspended")

    answer = await application.post(REVOKE, token=tokens["refresh_token"])

    assert answer.status_code == 200
    assert await OAUTH_GRANTS.only(services, "revoked_because") == "revoked_by_client"
