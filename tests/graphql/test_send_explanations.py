"""The query `explain_send`: its answers, its scopes and its tenants."""

from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS, add_contacts, suppress
from tests.factories.messages import MESSAGES
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

TO = "+12025550143"
QUERY = """
query ($body: String!, $to: String, $contact_id: BigInt, $consent_attested: Boolean) {
  explain_send(body: $body, to: $to, contact_id: $contact_id, consent_attested: $consent_attested) {
    is_allowed blocked_by { gate verdict error_code reason remedy } gates { gate verdict } to segments credits
  }
}
"""


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


async def explain(api: httpx2.AsyncClient, **variables: Any) -> Any:
    answer = await post(api, {"query": QUERY, "variables": {"body": "Hello", **variables}})
    assert "errors" not in answer.json()
    return answer.json()["data"]["explain_send"]


async def test_a_text_that_would_be_sent_passes_every_gate(api: httpx2.AsyncClient, pool: Pool) -> None:
    found = await explain(api, to="(202) 555-0143")

    assert (found["is_allowed"], found["blocked_by"]) == (True, None)
    assert {each["verdict"] for each in found["gates"]} == {"passed"}
    assert (found["to"], found["segments"], found["credits"]) == (TO, 1, 1)
    assert await MESSAGES.count(pool) == 0


async def test_the_gate_that_refuses_gives_its_reason_and_a_remedy(
    api: httpx2.AsyncClient, pool: Pool, account: Opened
) -> None:
    await suppress(pool, account.account_id, TO)

    found = await explain(api, to=TO)

    assert found["is_allowed"] is False
    assert found["blocked_by"] == {
        "gate": "opt_out",
        "verdict": "refused",
        "error_code": "contact_opted_out",
        "reason": (
            "The recipient has opted out and cannot be texted. "
            "Only their reply START or a new recorded consent lifts this."
        ),
        "remedy": "Wait for the contact's reply START, or record a new written consent of theirs.",
    }


async def test_no_number_has_the_id_0(api: httpx2.AsyncClient) -> None:
    query = 'query { explain_send(to: "+12025550143", body: "Hi", from_phone_number_id: 0) { blocked_by { reason } } }'

    answer = await post(api, {"query": query})

    assert answer.json()["data"]["explain_send"]["blocked_by"] == {"reason": "No active phone number with id 0."}


async def test_a_contact_is_explained_by_its_id(api: httpx2.AsyncClient, pool: Pool, account: Opened) -> None:
    await add_contacts(pool, account.account_id, [TO])
    await CONTACTS.change(pool, dnd_sms=True)

    found = await explain(api, contact_id=await CONTACTS.only(pool, "id"))

    assert (found["to"], found["blocked_by"]["error_code"]) == (TO, "contact_dnd")


async def test_a_send_without_consent_is_explained(api: httpx2.AsyncClient) -> None:
    found = await explain(api, to=TO, consent_attested=False)

    assert found["blocked_by"]["error_code"] == "api_consent_attested_required"


async def test_a_contact_of_another_account_is_not_found(api: httpx2.AsyncClient, pool: Pool, new_account: Any) -> None:
    other = await new_account()
    await add_contacts(pool, other.account_id, [TO])

    answer = await post(
        api, {"query": QUERY, "variables": {"body": "Hello", "contact_id": await CONTACTS.only(pool, "id")}}
    )

    assert codes(answer) == ["not_found"]


@pytest.mark.parametrize("variables", [{}, {"to": TO, "contact_id": 1}])
async def test_either_a_phone_or_a_contact_is_named(api: httpx2.AsyncClient, variables: dict[str, Any]) -> None:
    answer = await post(api, {"query": QUERY, "variables": {"body": "Hello", **variables}})

    assert codes(answer) == ["invalid_input"]


async def test_an_opt_out_from_another_account_is_not_told(
    api: httpx2.AsyncClient, pool: Pool, new_account: Any
) -> None:
    other = await new_account()
    await suppress(pool, other.account_id, TO)

    found = await explain(api, to=TO)

    assert found["is_allowed"] is True


async def test_a_contact_is_named_by_its_id_only_to_those_who_may_read_contacts(
    api: httpx2.AsyncClient, pool: Pool, account: Opened
) -> None:
    await add_contacts(pool, account.account_id, [TO])
    await API_KEYS.change(pool, scopes=["messages:send"])

    answer = await post(
        api, {"query": QUERY, "variables": {"body": "Hello", "contact_id": await CONTACTS.only(pool, "id")}}
    )

    assert codes(answer) == ["insufficient_scope"]
    assert TO not in answer.text
