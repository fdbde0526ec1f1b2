"""The evidence of a phone's consent: a page and a JSON file, by a link."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL
from app.domain.consent import evidence
from app.domain.consent.service import Evidence
from app.domain.contacts import service as contacts
from app.domain.conversations import review
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from app.web import consent_files
from tests.conftest import unit_of
from tests.domain.conftest import SetClock
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES
from tests.factories.contacts import CONSENTS

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
MAKE = {"query": f'mutation {{ create_consent_link(phone: "{PHONE}") {{ url json_url expires_at }} }}'}
WHOLE = f"""{{ phone_consent(phone: "{PHONE}") {{
  phone held_until suppression {{ reason keyword }}
  records {{ total_count nodes {{ kind method text source note ip_address user_agent occurred_at
  actor {{ label }} }} }} }} }}"""
FORM = ("203.0.113.9", "Firefox <150>")
DAY = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def owner(account: Opened, **who: int) -> Actor:
    return Actor(account.account_id, ALL, "user:1", **who)


@pytest.fixture
async def revoked(services: Services, account: Opened) -> None:
    """Record a revocation by letter."""
    async with unit_of(services, owner(account)) as unit:
        words = "Stop & <b>never</b> text me."
        await review.revoke(unit, PHONE, Evidence("letter", words, None, "letter 17", "Signed.", DAY, *FORM))


async def make_link(services: Services, actor: Actor, minutes_ago: int = 0) -> str:
    async with unit_of(services, actor) as unit:
        unit.clock = SetClock(services.clock.now() - timedelta(minutes=minutes_ago))
        return f"/consents/{(await evidence.make_link(unit, services.exports, PHONE))[0]}"


async def links_of(http: httpx2.AsyncClient, key: str) -> dict[str, str]:
    answer = await http.post("/graphql", json=MAKE, headers={"X-API-Key": key})
    return answer.json()["data"]["create_consent_link"]


async def test_a_page_shows_the_state_and_every_record_with_its_evidence(
    http: httpx2.AsyncClient, services: Services, account: Opened, revoked: None
):
    page = await http.get((await links_of(http, account.svc_key))["url"])

    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["cache-control"] == "no-store"
    assert f"style-src 'sha256-{consent_files.STYLE_HASH}'" in page.headers["content-security-policy"]
    for shown in (
        f"Consent to text messages: {PHONE}",
        f"Blue Door (account {account.account_id})",
        "Opted out since 2",
        "The person took consent back.",
        "<q>Stop &amp; &lt;b&gt;never&lt;/b&gt; text me.</q>",
        "Source: letter 17",
        "Note: Signed.",
        "IP address of the person: 203.0.113.9",
        "Browser of the person: Firefox &lt;150&gt;",
        "2026-03-04 05:06:07 UTC",
        "by user 1",
        "1 record. End of the file.",
    ):
        assert shown in page.text


async def test_the_audit_log_names_the_contact_of_the_evidence_and_no_phone(
    http: httpx2.AsyncClient, services: Services, account: Opened
):
    await links_of(http, account.svc_key)
    async with unit_of(services, owner(account)) as unit:
        contact = await contacts.create(unit, {"phone": PHONE})
        await review.record_opt_out(unit, contact.id, Evidence("letter", "Stop."))
    await links_of(http, account.svc_key)

    made = await AUDIT_ENTRIES.where(action="consent_link_made").read(services, "subject", "details")
    consent_ids = [await CONSENTS.only(services, "id")]
    assert [tuple(row) for row in made] == [
        ("", {"consent_ids": []}),
        (f"contact {contact.id}", {"consent_ids": consent_ids}),
    ]
    assert PHONE[1:] not in str(await AUDIT_ENTRIES.texts(services))


async def test_a_json_file_has_the_same(http: httpx2.AsyncClient, account: Opened, revoked: None, services: Services):
    answer = await http.get((await links_of(http, account.svc_key))["json_url"])

    assert answer.headers["content-disposition"] == 'attachment; filename="consent.json"'
    found: dict[str, Any] = answer.json()
    [record] = found.pop("records")
    assert record.pop("id") > 0
    assert record.pop("recorded_at") == found["opted_out_at"]
    assert record == {
        "kind": "revoked_other",
        "method": "letter",
        "text": "Stop & <b>never</b> text me.",
        "source": "letter 17",
        "note": "Signed.",
        "ip_address": "203.0.113.9",
        "user_agent": "Firefox <150>",
        "message_id": None,
        "actor": "user:1",
        "occurred_at": "2026-03-04T05:06:07.000Z",
    }
    assert (found["phone"], found["company_name"], found["held_until"]) == (PHONE, "Blue Door", None)
    assert found["scope"] == "account"
    assert (found["opt_out_reason"], found["opt_out_keyword"]) == ("recorded", "Stop & <b>never</b> text me.")


async def test_a_phone_without_records_has_a_file_that_says_so(http: httpx2.AsyncClient, account: Opened):
    links = await links_of(http, account.svc_key)

    page, file = await http.get(links["url"]), await http.get(links["json_url"])

    assert "No opt-out is in force." in page.text
    assert "0 records. End of the file." in page.text
    assert (file.json()["records"], file.json()["opted_out_at"]) == ([], None)


async def test_the_contract_shows_the_consent_of_a_phone_without_a_contact(api: httpx2.AsyncClient, revoked: None):
    answer = await api.post("/graphql", json={"query": WHOLE})

    assert answer.json()["data"]["phone_consent"] == {
        "phone": PHONE,
        "held_until": None,
        "suppression": {"reason": "recorded", "keyword": "Stop & <b>never</b> text me."},
        "records": {
            "total_count": 1,
            "nodes": [
                {
                    "kind": "revoked_other",
                    "method": "letter",
                    "text": "Stop & <b>never</b> text me.",
                    "source": "letter 17",
                    "note": "Signed.",
                    "ip_address": "203.0.113.9",
                    "user_agent": "Firefox <150>",
                    "occurred_at": "2026-03-04T05:06:07.000Z",
                    "actor": {"label": "user:1"},
                }
            ],
        },
    }


async def test_a_link_ends_after_ten_minutes(http: httpx2.AsyncClient, services: Services, account: Opened):
    nearly = await http.get(await make_link(services, owner(account), 9))
    late = await http.get(await make_link(services, owner(account), 10))

    assert (nearly.status_code, late.status_code, late.json()["error_code"]) == (200, 410, "consent_link_ended")


@pytest.mark.parametrize("scope", ["contacts:read", "messages:read"])
async def test_a_link_is_made_only_with_both_scopes(
    http: httpx2.AsyncClient, services: Services, account: Opened, scope: str
):
    async with unit_of(services, owner(account)) as unit:
        _, key = await api_keys.create_key(unit, services.secret, NewKey("Half", scopes=[scope]))

    answer = await http.post("/graphql", json=MAKE, headers={"X-API-Key": key.text})

    assert answer.json()["errors"][0]["extensions"]["code"] == "insufficient_scope"
    assert await AUDIT_ENTRIES.where(action="consent_link_made").count(services) == 0


async def test_a_link_ends_with_the_key_that_made_it(http: httpx2.AsyncClient, services: Services, account: Opened):
    async with unit_of(services, owner(account)) as unit:
        key, _ = await api_keys.create_key(unit, services.secret, NewKey("Mine", scopes=["messages:read"]))
        key_id = key.id
    link = await make_link(services, owner(account, key_id=key_id))
    async with unit_of(services, owner(account)) as unit:
        await api_keys.revoke_key(unit, key_id)

    said = (await http.get(link)).json()

    assert said["error_code"] == "consent_link_ended"
    assert "or its creator may no longer read it" in said["error"]


async def test_links_of_other_kinds_open_no_evidence(http: httpx2.AsyncClient, services: Services, account: Opened):
    link = await make_link(services, owner(account))

    assert (await http.get(link.replace("/consents/", "/jobs/"))).status_code == 404
    assert (await http.get("/consents/nonsense")).json()["error_code"] == "not_found"
    assert (await http.get("/consents/nonsense.json")).json()["error_code"] == "not_found"


async def test_a_link_of_a_suspended_account_is_refused(http: httpx2.AsyncClient, services: Services, account: Opened):
    link = await make_link(services, owner(account))
    await ACCOUNTS.where(id=account.account_id).change(services, status="suspended")

    assert (await http.get(link)).json()["error_code"] == "consent_link_ended"
