"""A text that arrives, in Chromium: the time until the open thread shows it, and the list of the inbox.

The sandbox posts it as a carrier does. It is measured in a quiet service, and beside a campaign that is being sent.
"""

import asyncio
import time
from collections.abc import Sequence
from statistics import quantiles

from playwright.async_api import Page, async_playwright

from app.bootstrap import open_services
from app.cli.setup import create_demo, find_network_of_number
from app.domain.accounts.scopes import ALL
from app.domain.campaigns import service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.service import Order
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.quiet_hours.rules import EVERY_DAY
from app.providers.carriers.sandbox.reports import Service, report_inbound
from app.services import Services
from app.settings import Settings
from benchmarks import harness
from benchmarks.campaigns import ADD_PEOPLE, AT_ANY_HOUR, BODY
from benchmarks.dashboard import sign_in
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage
from tests.browser.chromium import build_dashboard, install_packages, launch

TEXTS, PEOPLE, CREDITS = 50, 100_000, 1_000_000
PHONE = "+12025550143"
WITHIN_MS = 1_000.0
COUNT_LEFT = "SELECT count(*) FROM outgoing"
ALLOW = "UPDATE accounts SET weekly_cap = 1000000"

SHOWN = """([text, selector]) => new Promise(done => {
  const look = () => {
    if (!document.querySelector(selector)?.textContent.includes(text)) return;
    observer.disconnect();
    requestAnimationFrame(() => done(Date.now()));
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  setTimeout(() => done(Date.now()), 10_000);
})"""
"""Resolves with the time of the frame in which an element has a text, or after 10 seconds without it."""

PLACES = {"the thread": "[role=log]", "the list": "section[aria-label=Conversations]"}


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Receive texts in each round: without other work, then beside a campaign."""
    build_dashboard()
    install_packages()
    async with on.database("arrivals") as settings, open_services(settings) as services:
        owner = await create_demo(settings, "Blue Door", "owner@example.com", CREDITS, "http://127.0.0.1/callback")
        number = await _prepare(services, owner.account_id)
        with harness.product(settings) as product, harness.worker(settings):
            async with async_playwright() as playwright:
                page = await sign_in(await launch(playwright), product.port, owner.email, owner.password)
                await _open_thread(page, settings, number)
                quiet = [await _arrivals(page, settings, number) for _ in range(rounds)]
                await _begin_campaign(services, owner.account_id)
                beside = [await _arrivals(page, settings, number) for _ in range(rounds)]
                assert await services.database.pool.fetchval(COUNT_LEFT), "the campaign ended before the texts"
    return [*_compared("in a quiet service", quiet), *_compared(f"beside a campaign to {PEOPLE:,}", beside)]


def _compared(name: str, rounds: Sequence[dict[str, list[float]]]) -> list[Comparison]:
    budget = Series("budget", [WITHIN_MS] * len(rounds))
    return [
        Comparison(
            f"dashboard, {place} shows a text {name}",
            "ms",
            Series(share, [quantiles(each[place], n=20)[at] for each in rounds]),
            budget,
            Bar(1, is_most=True),
        )
        for place in rounds[0]
        for share, at in (("p50", 9), ("p95", 18))
    ]


async def _prepare(services: Services, account_id: int) -> str:
    pool = services.database.pool
    number: str = await pool.fetchval("SELECT phone_number FROM phone_numbers WHERE account_id = $1", account_id)
    await pool.execute(ALLOW)
    await pool.execute(AT_ANY_HOUR, list(EVERY_DAY))
    await pool.execute(ADD_PEOPLE, account_id, PEOPLE, number)
    await pool.execute("VACUUM ANALYZE")
    return number


async def _open_thread(page: Page, settings: Settings, number: str) -> None:
    await page.goto("/app/inbox/open")
    await page.get_by_role("region", name="Conversations").wait_for()
    await _receive(settings, number, "Hello")
    await page.goto("/app/inbox/open?search=2025550143")
    await page.get_by_role("link", name="Hello").click()
    await page.get_by_role("log").get_by_text("Hello").wait_for()
    await page.goto(page.url.partition("?")[0])
    await page.get_by_role("log").get_by_text("Hello").wait_for()


async def _arrivals(page: Page, settings: Settings, number: str) -> dict[str, list[float]]:
    """Receive texts one after another; return the milliseconds until each place shows each text."""
    found: dict[str, list[float]] = {place: [] for place in PLACES}
    for _ in range(TEXTS):
        text = f"Is the table free at {time.time_ns()}?"
        shown = [asyncio.create_task(page.evaluate(SHOWN, [text, each])) for each in PLACES.values()]
        await asyncio.sleep(0.05)
        begun = time.time()
        await _receive(settings, number, text)
        for times, each in zip(found.values(), shown, strict=True):
            times.append(await each - 1_000 * begun)
    return found


async def _receive(settings: Settings, number: str, text: str) -> None:
    network = await find_network_of_number(settings, number)
    await report_inbound(Service(settings.public_url, network.key, network.secret), PHONE, number, text)


async def _begin_campaign(services: Services, account_id: int) -> None:
    database, actor = services.database, Actor(account_id, ALL, "benchmark")
    async with open_unit(database.sessions, actor, services.clock, services.notify) as unit:
        fields: service.CampaignFields = {"name": "Sale", "body": BODY, "audience": Audience(everyone=True)}
        campaign = await service.create(unit, fields)
        await service.send(unit, campaign.id, Order(consent_attested=True))
