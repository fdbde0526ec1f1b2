"""Integrations: a CRM, a scheduling tool and an inbound webhook, as their owner connects, watches and repairs them."""

import re
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import orjson
import pytest
from playwright.async_api import Page, Route, expect
from pydantic import SecretStr

from app.bootstrap import open_applier, open_booking_texts
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.browser.screen import HEIGHT, NARROW, Screen, Windows
from tests.domain.crm.conftest import Shop, shop
from tests.factories.contacts import CONTACT_TAGS, CONTACTS
from tests.factories.crm import CRM_CONNECTIONS, CRM_PUSHES
from tests.factories.integrations import BOOKING_TEXTS, INTEGRATIONS
from tests.graphql.live import Scene, Served, serving
from tests.peers import calcom
from tests.peers.highlevel import HighLevelPeer
from tests.peers.highlevel import serving as serving_peer
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

__all__ = ["shop"]

PHONE, OTHER = "+12025550143", "+12025550144"


async def shown_secret(page: Page) -> str:
    """Return the secret that the page shows once."""
    return (await page.get_by_role("region", name="The secret").locator("[data-secret]").text_content() or "").strip()


async def shown_address(page: Page) -> str:
    """Return the path of the address that the page shows."""
    url = (await page.locator("[data-secret=Address]").text_content() or "").strip()
    return "/integrations/" + url.partition("/integrations/")[2]


async def add_webhook(screen: Screen) -> None:
    """Add an inbound webhook by keys."""
    page = screen.page
    await screen.open("/settings/integrations")
    await page.get_by_role("button", name="Add an inbound webhook").focus()
    await page.keyboard.press("Enter")
    await screen.fill("Name", "Shop")
    await screen.fill("Path of the phone", "order.phone")
    await page.keyboard.press("Enter")
    await screen.heading("Shop").wait_for()


async def map_name_and_tag(screen: Screen) -> None:
    """Have the webhook of the page store the name of the contact, and tag it."""
    await screen.press("I stored it")
    await screen.fill("Path of: First name", "order.name")
    await screen.page.get_by_role("combobox", name="Add these tags").fill("customer")
    await screen.page.keyboard.press("Enter")
    await screen.page.get_by_role("link", name="Home").click()
    await screen.press("Stay here")
    await screen.press("Save the actions")
    await screen.sees("Saved")


async def test_an_inbound_webhook_is_mapped_tried_and_logs_its_events(
    windows: Windows, scene: Scene, served: Served, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await add_webhook(screen)
    secret, path = await shown_secret(page), await shown_address(page)
    await screen.check(pictures, "integration-webhook-new")
    await map_name_and_tag(screen)
    body = orjson.dumps({"order": {"phone": PHONE, "name": "Ann"}}).decode()
    await screen.fill("JSON that a sender would post", body)
    await screen.press("Show the result")
    await screen.sees("An event with this body: Created the contact")
    tried = await CONTACTS.count(scene.services)
    await screen.check(pictures, "integration-webhook-tried")
    await screen.fill("JSON that a sender would post", "{")
    await screen.press("Show the result")
    await page.locator("[role=status]").get_by_text(re.compile("JSON")).wait_for()

    async with httpx2.AsyncClient(base_url=served.base_url) as client:
        wrong = await client.post(path, content=body, headers={"X-Webhook-Secret": "wrong"})
        right = await client.post(path, content=body, headers={"X-Webhook-Secret": secret})
        bad = await client.post(path, content='{"order": {}}', headers={"X-Webhook-Secret": secret})
    await open_applier(scene.services).run()
    await screen.press("Refresh")
    await screen.sees("1 event failed")
    await page.get_by_text("Created the contact").first.click()
    await screen.check(pictures, "integration-webhook")

    assert (tried, wrong.status_code, right.status_code, bad.status_code) == (0, 403, 202, 202)
    assert await CONTACTS.read(scene.services, "phone", "first_name") == [(PHONE, "Ann")]
    assert await CONTACT_TAGS.read(scene.services, "tag") == ["customer"]
    assert secret not in await page.content()


async def test_a_failed_event_is_applied_again_after_its_cause_was_removed(
    windows: Windows, scene: Scene, served: Served, account: Opened, pictures: Path
):
    screen = await windows.owner(account, NARROW)
    page = screen.page
    await add_webhook(screen)
    secret, path = await shown_secret(page), await shown_address(page)
    async with httpx2.AsyncClient(base_url=served.base_url) as client:
        await client.post(path, json={"phone": PHONE}, headers={"X-Webhook-Secret": secret})
    await open_applier(scene.services).run()
    await screen.press("I stored it")
    await screen.fill("Path of: Phone", "phone")
    await screen.press("Save the actions")
    await screen.sees("Saved")
    await screen.press("Refresh")
    await page.locator("summary", has_text="Failed").click()
    await screen.press("Apply it again")
    await page.locator("summary", has_text="Waiting").wait_for()
    await open_applier(scene.services).run()
    await screen.press("Refresh")
    await page.locator("summary", has_text="Applied").wait_for()
    await screen.check(pictures, "integration-webhook-narrow")

    assert await CONTACTS.read(scene.services, "phone") == [PHONE]


async def add_tool(screen: Screen, pictures: Path) -> None:
    """Add a scheduling tool, and open its page."""
    await screen.open("/settings/integrations")
    await screen.check(pictures, "integrations")
    await screen.press("Add Cal.com")
    await screen.fill("Name", "Consultations")
    await screen.page.get_by_role("dialog").get_by_role("button", name="Add Cal.com").click()
    await screen.heading("Consultations").wait_for()


async def book(scene: Scene, served: Served, path: str, secret: str) -> int:
    """Post a signed booking, and apply it; return the status of the answer."""
    now = scene.services.clock.now()
    visit = Visit(0, now, now.replace(microsecond=0) + timedelta(days=3))
    delivery = calcom.sign(calcom.booked(visit), now, secret)
    async with httpx2.AsyncClient(base_url=served.base_url) as client:
        answer = await client.post(path, content=delivery.body, headers=dict(delivery.headers))
    await open_applier(scene.services).run()
    return answer.status_code


async def find_texts(screen: Screen) -> None:
    """Open the booking, on the page of its tool."""
    await screen.page.locator("summary", has_text="Check-up").click()
    await screen.sees("Reminder on the day before, due")


async def find_in_inbox(screen: Screen) -> None:
    """Open the conversation with the text about the booking, in the inbox."""
    await screen.page.get_by_role("link", name="your Check-up is booked").click()
    await screen.page.get_by_role("log").get_by_text("your Check-up is booked").wait_for()


async def test_a_scheduling_tool_is_added_and_the_text_about_a_booking_is_in_the_inbox(
    windows: Windows, scene: Scene, served: Served, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    page = screen.page
    await add_tool(screen, pictures)
    secret, path = await shown_secret(page), await shown_address(page)
    tool = urlsplit(page.url).path.removeprefix("/app")
    await screen.check(pictures, "integration-tool-new")
    await screen.fill("Reminder, an hour before", "")
    await screen.press("Save the texts")
    await screen.sees("Saved")
    status = await book(scene, served, path, secret)
    await screen.open(tool)
    await find_texts(screen)
    await screen.check(pictures, "integration-tool")
    hidden = secret not in await page.content()
    texts = open_booking_texts(scene.services)
    while await texts.due():
        await texts.run()
    await scene.dispatch()
    await screen.go("/inbox")
    await find_in_inbox(screen)
    await screen.check(pictures, "inbox-booking")
    await screen.narrow("/inbox")
    await find_in_inbox(screen)
    await screen.check(pictures, "inbox-booking-narrow")
    await screen.go(tool)
    await find_texts(screen)
    await screen.check(pictures, "integration-tool-narrow")

    assert status == 202
    assert hidden
    assert sorted(await BOOKING_TEXTS.read(scene.services, "kind")) == ["confirmation", "reminder_day"]


async def test_a_scheduling_tool_is_paused_and_removed_with_the_deleted_texts_named(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    screen = await windows.owner(account)
    await add_tool(screen, pictures)
    await screen.press("Pause")
    await screen.press("Pause Consultations")
    await screen.sees("Its events wait.")
    paused = await INTEGRATIONS.read(scene.services, "status")
    await screen.press("Remove")
    await screen.sees("the texts that wait are not sent")
    await screen.press("Remove Consultations")
    await screen.heading("Integrations").wait_for()

    assert paused == ["paused"]
    assert await INTEGRATIONS.read(scene.services, "status") == ["removed"]


async def test_a_crm_shows_its_synchronization_and_a_refused_change_is_tried_again(
    windows: Windows, scene: Scene, account: Opened, shop: Shop, pictures: Path
):
    await shop.connect()
    shop.peer.add(phone=PHONE, firstName="Ann", email="home@example.com")
    await shop.settle()
    await shop.add(OTHER, first_name="Bob", email="home@example.com")
    await shop.settle()
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/settings/integrations/{shop.integration_id}")
    await screen.sees("All contacts are synchronized.")
    await screen.sees("This location does not allow duplicated contacts.")
    await screen.check(pictures, "integration-crm")
    refused = await CRM_PUSHES.where(status="failed").count(scene.services)
    await page.get_by_role("button", name="Try again").first.click()
    await expect(page.get_by_role("button", name="Try again")).to_have_count(refused - 1)
    await screen.press("Synchronize again")
    await screen.sees("The contacts of the CRM are fetched.")
    await CRM_CONNECTIONS.change(scene.services, state="lost")
    await page.set_viewport_size({"width": NARROW, "height": HEIGHT})
    await page.reload()
    await screen.sees("Connection lost")
    await screen.check(pictures, "integration-crm-narrow")
    await screen.press("Disconnect")
    await page.get_by_role("dialog").get_by_role("button", name=re.compile("Disconnect")).click()
    await screen.heading("Integrations").wait_for()

    assert await INTEGRATIONS.read(scene.services, "status") == ["removed"]


@pytest.fixture
async def peer() -> AsyncGenerator[tuple[HighLevelPeer, str]]:
    """Serve a simulated CRM on loopback."""
    peer = HighLevelPeer()
    async with serving_peer(peer) as url:
        yield peer, url


async def test_a_person_connects_a_crm_by_its_authorization(
    windows: Windows, services: Services, account: Opened, peer: tuple[HighLevelPeer, str]
):
    crm, url = peer
    settings = services.settings.model_copy(
        update={
            "highlevel_client_id": crm.client_id,
            "highlevel_client_secret": SecretStr(crm.client_secret),
            "highlevel_provider_id": crm.provider_id,
            "highlevel_url": url,
            "highlevel_authorize_url": f"{url}/authorize",
        }
    )
    async with serving(settings) as connecting:
        windows.base = connecting.base_url
        screen = await windows.owner(account)

        async def consent(route: Route) -> None:
            given: dict[str, Any] = crm.authorize(route.request.url)
            address = f"{connecting.base_url}/crm/callback?{urlencode(given)}"
            await route.fulfill(status=302, headers={"Location": address})

        await screen.page.route(re.compile("/authorize"), consent)
        await screen.open("/settings/integrations")
        await screen.press("Connect HighLevel")
        await expect(screen.heading()).to_have_text("Connected")
        await screen.page.get_by_role("link", name="Go to the integrations").click()
        await screen.page.get_by_role("link", name="HighLevel").wait_for()

    assert await CRM_CONNECTIONS.read(services, "location", "state") == [("loc1", "authorized")]
