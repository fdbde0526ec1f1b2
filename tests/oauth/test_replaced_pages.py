"""Pages that the dashboard has replaced, and the page that CRMs lead people back to."""

import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.graphql.people import change_role
from tests.oauth.browsing import Browsing

pytestmark = pytest.mark.anyio

REPLACED = {"keys": "keys", "people": "people", "export": "company"}


async def test_pages_of_earlier_releases_lead_to_the_settings_that_replaced_them(browsing: Browsing, account: Opened):
    await browsing.enter(account)

    answers = {name: await browsing.get(f"/account/{name}") for name in REPLACED}

    assert {name: (answer.status_code, answer.headers["location"]) for name, answer in answers.items()} == {
        name: (303, f"/app/settings/{page}") for name, page in REPLACED.items()
    }


async def test_the_page_of_the_account_leads_to_the_dashboard_but_for_a_service_user(
    browsing: Browsing, services: Services, account: Opened
):
    await browsing.enter(account)
    of_owner = (await browsing.get("/account")).text
    await change_role(services, "service")
    of_service = (await browsing.get("/account")).text

    assert ['href="/app/settings/profile"' in page for page in (of_owner, of_service)] == [True, False]


async def test_a_person_who_signs_in_returns_to_the_authorization_that_a_crm_gave(browsing: Browsing, account: Opened):
    given = "/crm/callback?state=a%2Bb%3D&code=c%26d"

    answer = await browsing.get(given)
    form = await browsing.form(answer.headers["location"], "/login")
    answer = await browsing.send(form, email=account.email, password=account.password)

    assert (answer.status_code, answer.headers["location"]) == (303, given)


async def test_a_service_user_connects_no_crm(browsing: Browsing, services: Services, account: Opened):
    await browsing.enter(account)
    await change_role(services, "service")

    assert (await browsing.get("/crm/callback?state=a&code=b")).status_code == 401
