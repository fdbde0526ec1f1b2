"""AI agents: made, taught, tried beside the rules that fired, and drafts that a person approves."""

from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.agents.runner import AgentRunner
from app.domain.onboarding.service import Opened
from tests.browser.screen import Screen, Windows
from tests.factories.agents import AGENT_RUNS, AGENTS, KNOWLEDGE, add_agent
from tests.factories.clocks import Later
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

QUESTION, ANSWER = "When are you open?", "We are open from 9 to 5, Monday to Friday."
SETTLED = timedelta(seconds=20)
"""Longer than an agent waits for further texts of a contact."""


async def answer(scene: Scene, text: str) -> None:
    """Receive a text, and run the agents once they do not wait any more."""
    await scene.receive(text)
    services = scene.services
    runner = AgentRunner(services.database, services.acceptor, services.writers, Later(SETTLED), services.notify)
    while await runner.due():
        await runner.run()
    await scene.dispatch()


async def ask(screen: Screen, text: str) -> None:
    """Write a text into the test chat."""
    await screen.fill("Text of a contact", text)
    await screen.page.keyboard.press("Enter")


async def save(screen: Screen, card: str) -> None:
    """Save a card of the settings."""
    region = screen.page.get_by_role("region", name=card)
    await region.get_by_role("button", name="Save", exact=True).click()
    await region.get_by_role("button", name="Saved", exact=True).wait_for()


async def test_an_agent_is_made_taught_and_tried(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/agents")
    await screen.check(pictures, "agents-empty")
    await screen.press("New agent")
    await screen.fill("Name", "Front desk")
    await screen.fill("Instructions", "You answer for a hair salon. Be brief and kind.")
    await screen.press("Create the agent")
    await screen.heading("Front desk").wait_for()
    await screen.fill("Question", QUESTION)
    await screen.fill("Answer", ANSWER)
    await screen.press("Add the question")
    await page.get_by_role("region", name="Knowledge").get_by_text(ANSWER).wait_for()
    await screen.check(pictures, "agent-knowledge")

    await page.get_by_role("tab", name="Try it").click()
    await ask(screen, "what time do you open")
    chat = page.get_by_role("log", name="Test chat")
    await chat.get_by_text(ANSWER).wait_for()
    await ask(screen, "I want to speak to a real person now")
    await screen.sees("Person wanted.")
    await screen.check(pictures, "agent-chat")
    await page.reload()
    await screen.heading("Front desk").wait_for()
    assert await AGENTS.only(scene.services, "status", "mode") == ("paused", "approve")
    assert await KNOWLEDGE.only(scene.services, "title", "body") == (QUESTION, ANSWER)


async def test_the_settings_of_an_agent_are_kept_and_it_is_activated_and_deleted(
    windows: Windows, scene: Scene, account: Opened, pictures: Path
):
    async with scene.unit() as unit:
        id = await add_agent(unit, {"mode": "shadow"})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open(f"/agents/{id}?tab=settings")
    await screen.fill("Goals", "Book a visit.")
    for leave in (page.get_by_role("tab", name="Try it"), page.get_by_role("link", name="Home")):
        await leave.click()
        await page.get_by_role("dialog", name="Leave without saving?").wait_for()
        await screen.press("Stay here")
    await save(screen, "Instructions")
    await page.get_by_role("radio", name="Approve").check()
    await page.get_by_role("checkbox", name="Monday").check()
    await screen.fill("From", "09:00")
    await save(screen, "When it answers")
    await screen.fill("Drafts a day", "7")
    await save(screen, "Limits and hand-over")
    await screen.check(pictures, "agent-settings")
    row = await AGENTS.only(scene.services, "goals", "mode", "days", "daily_limit")
    assert row == ("Book a visit.", "approve", [1], 7)

    await screen.press("Pause")
    await screen.press("Activate")
    await screen.press("Activate Robin")
    await page.get_by_role("button", name="Pause", exact=True).wait_for()
    assert await AGENTS.only(scene.services, "status") == "active"
    await screen.press("Delete")
    await screen.press("Delete Robin")
    await screen.sees("An AI agent answers texts from what you teach it.")
    assert await AGENTS.count(scene.services) == 0


async def test_a_draft_is_changed_and_sent(windows: Windows, scene: Scene, account: Opened, pictures: Path):
    async with scene.unit() as unit:
        id = await add_agent(unit, {"mode": "approve"})
    screen = await windows.owner(account)
    page = screen.page
    await screen.open("/agents")
    await page.get_by_role("link", name="Robin").wait_for()
    await answer(scene, "When are you open?")
    await page.get_by_role("textbox", name="Draft").wait_for()
    await screen.check(pictures, "agents")
    await screen.fill("Draft", "From 9 to 5.")
    await page.get_by_role("button", name="Send as changed").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("textbox", name="Draft").wait_for(state="hidden")
    assert await AGENT_RUNS.only(scene.services, "draft", "status") == ("From 9 to 5.", "sending")

    await screen.narrow(f"/agents/{id}?tab=runs")
    await screen.sees("Under way")
    await screen.check(pictures, "agent-runs-narrow")


async def test_a_draft_is_discarded_and_an_unknown_agent_is_not_found(windows: Windows, scene: Scene, account: Opened):
    async with scene.unit() as unit:
        await add_agent(unit, {"mode": "approve"})
    await answer(scene, "When are you open?")
    screen = await windows.owner(account)
    await screen.open("/agents")
    await screen.press("Discard")
    await screen.page.get_by_role("textbox", name="Draft").wait_for(state="hidden")
    assert await AGENT_RUNS.only(scene.services, "outcome") == "discarded"
    await screen.go("/agents/999999999")
    await screen.sees("There is no such agent.")
