"""Billing: the credits, what was spent, the ledger, and the purchase of credits with and without a provider."""

from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import expect
from pydantic import SecretStr

from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings.payments import OfferedPlan
from tests.browser.screen import QUIET, Screen, Shelf, Windows
from tests.browser.test_refusals import refuse, told
from tests.factories.accounts import USERS
from tests.factories.billing import BALANCE_ALERTS, PAYMENTS, balance_of, debit_at
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS
from tests.graphql.live import Scene, serving
from tests.peers.stripe import SECRET, StripePeer
from tests.peers.stripe import serving as serving_peer

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)
SPENT_ON = 10**9
"""The first of the ids of texts of past days, which are those of no text of a test."""


@pytest.fixture
def peer() -> StripePeer:
    """Provide a peer in place of Stripe."""
    return StripePeer()


@pytest.fixture
def peer_url(peer: StripePeer) -> Generator[str]:
    """Serve the peer."""
    with serving_peer(peer) as url:
        yield url


@pytest.fixture
async def online(
    services: Services, shelf: Shelf, packages: Path, built: Path, peer_url: str
) -> AsyncGenerator[Windows]:
    """Open windows of a service that sells credits and a plan through the peer."""
    changes = {
        "payments": "stripe",
        "stripe_secret_key": SecretStr("sk_test_key"),
        "stripe_webhook_secret": SecretStr(SECRET),
        "stripe_url": peer_url,
        "payment_plans": (OfferedPlan("Starter", 1000, Decimal(9)),),
    }
    axe = (packages / "node_modules" / "axe-core" / "axe.min.js").read_text()
    async with serving(services.settings.model_copy(update=changes), shelf.port()) as served:
        windows = Windows(shelf, served.base_url, axe, services.authentication)
        yield windows
        await windows.close()


async def deliver(peer: StripePeer, screen: Screen) -> None:
    """Deliver every event of the peer."""
    async with httpx2.AsyncClient(base_url=screen.base) as client:
        for event in peer.events:
            signed = {"Stripe-Signature": peer.sign(event)}
            assert (await client.post("/payments/stripe/webhook", content=event, headers=signed)).is_success


async def spend(services: Services, account: Opened, *credits: int) -> None:
    """Insert a debit for each of the last days."""
    for days, each in enumerate(credits):
        await debit_at(services, account.account_id, each, datetime.now(UTC) - days * DAY, SPENT_ON + days)


async def test_the_spending_is_a_chart_by_day_week_and_month(
    windows: Windows, services: Services, account: Opened, pictures: Path
):
    await spend(services, account, 30, 45, 12, 60, 41, 9)
    await debit_at(services, account.account_id, 4, datetime.now(UTC), None)
    screen = await windows.owner(account)
    await screen.open("/billing")
    await screen.sees("201 credits were spent in the last 30 days: 197 credits on texts, 4 credits on AI.")
    await screen.page.locator("figure canvas").wait_for()
    await screen.check(pictures, "billing")

    await screen.page.get_by_text("By month", exact=True).click()
    await screen.sees("201 credits were spent in the last 12 months")
    assert screen.page.url.endswith("/billing?by=month")
    await screen.page.reload()
    await screen.sees("201 credits were spent in the last 12 months")
    await screen.page.get_by_text("Show as table").click()
    numbers = screen.page.get_by_role("region", name="The numbers of the chart").get_by_role("row")
    assert await numbers.count() in (13, 14)

    await screen.narrow("/billing")
    await screen.page.locator("figure canvas").wait_for()
    await screen.check(pictures, "billing-narrow")


async def test_credits_are_requested_of_the_operator_and_a_warning_is_set_by_keyboard(
    windows: Windows, services: Services, account: Opened
):
    screen = await windows.owner(account)
    await screen.open("/billing")
    await screen.sees("Ask the operator of this service to add credits.")
    await screen.page.get_by_role("textbox", name="Credits").focus()
    await screen.page.keyboard.press("Control+A")
    await screen.page.keyboard.type("2500")
    await screen.page.get_by_role("button", name="Request 2,500 credits for $25.00").wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.sees("2,500 credits for $25.00 are requested.")
    await screen.page.get_by_role("region", name="Payments of the account").get_by_text("Requested").wait_for()
    assert await PAYMENTS.only(services, "credits", "status") == (2500, "requested")
    assert await balance_of(services) == 1000

    await screen.page.get_by_label("Warn the owners below").fill("1500")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Owners get a mail once the balance is below 1,500 credits.")
    await expect(screen.page.locator("dt:text-is('Warning') + dd")).to_have_text("below 1,500 credits")
    await screen.open("/billing")
    await screen.sees("The balance is below the threshold of the warning.")
    await screen.check()
    assert await BALANCE_ALERTS.only(services, "threshold") == 1500


async def test_a_payment_method_that_was_not_loaded_is_loaded_on_request(online: Windows, account: Opened):
    screen = await online.owner(account)
    await screen.open("/settings/profile")
    await refuse(screen.page, "BillingMethod")
    await screen.go("/billing")
    await told(screen)
    await screen.page.unroute("**/graphql")
    await screen.press("Try again")
    await screen.sees("No payment method is saved: the first payment saves one.")


async def test_credits_are_paid_on_the_page_of_the_provider_and_a_plan_begins_and_ends(
    online: Windows, services: Services, account: Opened, peer: StripePeer, pictures: Path
):
    screen = await online.owner(account)
    page = screen.page
    await screen.open("/billing")
    await screen.sees("No payment method is saved: the first payment saves one.")
    await screen.press("1,000")
    await screen.press("Buy 1,000 credits for $10.00")
    link = page.get_by_role("link", name="Go to the payment page")
    url = await link.get_attribute("href")
    assert url
    await page.get_by_role("link", name="Pay", exact=True).wait_for()
    peer.pay(url)
    await deliver(peer, screen)
    assert await balance_of(services) == 2000

    await screen.open("/billing")
    await screen.sees("Paid by visa, ending in 4242, until 8/2030.")
    await screen.press("Start the plan Starter")
    plan = await page.get_by_role("link", name="Go to the payment page").get_attribute("href")
    assert plan
    peer.pay(plan)
    await deliver(peer, screen)
    await screen.open("/billing")
    await screen.check(pictures, "billing-online")
    await screen.press("End the plan Starter")
    await screen.press("End Starter")
    await screen.sees(", then it ends")
    assert await balance_of(services) == 3000


async def test_the_ledger_is_filtered_by_the_address_and_leads_to_the_text(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    services = scene.services
    await scene.receive("Hello")
    await scene.send("Good morning")
    await spend(services, account, 0, 7, 8)
    campaign_id = await CAMPAIGNS.insert(
        services, account_id=account.account_id, name="Spring", body="", audience={}, created_by=""
    )
    await CAMPAIGN_RECIPIENTS.insert(
        services, campaign_id=campaign_id, account_id=account.account_id, state="sent", message_id=SPENT_ON + 2
    )
    screen = await windows.owner(account)
    page = screen.page
    table = page.get_by_role("region", name="Transactions")
    await screen.open("/billing/transactions")
    await table.get_by_role("cell", name="-8", exact=True).wait_for()
    await screen.check(pictures, "ledger")

    await page.get_by_role("combobox", name="Campaign").fill("spr")
    await page.get_by_role("option", name="Spring").click()
    await table.get_by_role("cell", name="-7", exact=True).wait_for(state="hidden")
    await table.get_by_role("cell", name="-8", exact=True).wait_for()
    await page.reload()
    await page.get_by_role("combobox", name="Campaign").and_(page.locator("[value=Spring]")).wait_for()
    await table.get_by_role("cell", name="-8", exact=True).wait_for()
    assert await table.get_by_role("row").count() == 2

    await screen.open("/billing/transactions?type=purchase&from=2020-01-01&to=nonsense")
    await screen.sees("No transaction matches.")
    await page.get_by_role("link", name="Show all transactions").click()
    await table.get_by_role("link").first.click()
    await page.wait_for_url("**/inbox/open/*")

    await screen.narrow("/billing/transactions")
    await screen.page.get_by_role("region", name="Transactions").wait_for()
    await screen.check(pictures, "ledger-narrow")


async def test_a_member_reads_the_balance_and_cannot_pay(windows: Windows, services: Services, account: Opened):
    await USERS.where(email=account.email).change(services, role="member")
    screen = await windows.owner(account)
    await screen.open("/billing")
    await screen.sees("No credits were spent in the last 30 days.")
    assert await screen.page.get_by_role("button", name="Request").count() == 0
    assert await screen.page.get_by_label("Warn the owners below").count() == 0
    await screen.check()


async def test_a_double_click_requests_credits_once(windows: Windows, services: Services, account: Opened):
    screen = await windows.owner(account)
    mouse = screen.page.mouse
    await screen.open("/billing")
    await screen.page.get_by_role("button", name="Request 5,000 credits for $50.00").hover()
    for clicks in (1, 2):
        await mouse.down(click_count=clicks)
        await mouse.up(click_count=clicks)
        await screen.sees("5,000 credits for $50.00 are requested.")
        await screen.page.evaluate(QUIET)

    assert await PAYMENTS.only(services, "credits", "status") == (5000, "requested")
