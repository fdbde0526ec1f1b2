"""Long results are cut at the boundary of a page."""

from typing import Any

import orjson
import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.mcp.sizes import MAX_BYTES
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.numbers import PHONE_NUMBERS
from tests.mcp.assistants import Assistant

pytestmark = pytest.mark.anyio


async def test_a_list_is_cut_at_a_page_and_the_cursor_leads_on(
    assistant: Assistant, services: Services, account: Opened
):
    for number in range(120):
        await CONTACTS.insert(
            services, account_id=account.account_id, phone=f"+1202555{1000 + number}", first_name="x" * 100, source=""
        )

    seen: list[int] = []
    after: str | None = None
    for _ in range(3):
        params = {"name": "search_contacts", "arguments": {"limit": 120, "after": after}}
        result = await assistant.ask("tools/call", params)
        page = result["structuredContent"]
        assert len(orjson.dumps(page)) <= MAX_BYTES
        seen += [contact["id"] for contact in page["contacts"]]
        after = page["page_info"]["end_cursor"]
        shown = len(page["contacts"])
        said = f"Cut at 25,000 bytes: {shown} of 120 contacts. For the next ones call again with `after`"
        assert (len(result["content"]) == 2) is page["page_info"]["has_next_page"]
        assert all(hint["text"].startswith(said) for hint in result["content"][1:])
        if not page["page_info"]["has_next_page"]:
            break

    assert (len(seen), len(set(seen))) == (120, 120)


async def test_texts_after_a_cut_and_an_offset_are_all_read_as_the_hint_says(
    assistant: Assistant, services: Services, account: Opened
):
    for number in range(50):
        text = InboundMessage(f"in-{number}", "+12025550143", account.phone_number, "x" * 600)
        await services.inbox.receive("sandbox", text)

    first = await assistant.ask("tools/call", {"name": "get_message_logs", "arguments": {"limit": 50, "offset": 5}})
    page = first["structuredContent"]
    hint = first["content"][1]["text"]
    after = page["page_info"]["end_cursor"]
    rest = await assistant.call("get_message_logs", limit=50, after=after)

    assert hint.endswith("call again with `after`: page_info.end_cursor, without `offset`.")
    assert rest["messages"][0]["id"] == page["messages"][-1]["id"] - 1


async def test_a_list_without_pages_is_cut_as_well(assistant: Assistant, services: Services, account: Opened):
    for number in range(150):
        values: dict[str, Any] = {"phone_number": f"+1500300{1000 + number}", "label": "x" * 100, "carrier": "sandbox"}
        await PHONE_NUMBERS.insert(services, account_id=account.account_id, status="active", **values)

    result = await assistant.ask("tools/call", {"name": "list_phone_numbers", "arguments": {}})

    shown = len(result["structuredContent"]["phone_numbers"])
    assert 50 < shown < 151
    assert len(orjson.dumps(result["structuredContent"])) <= MAX_BYTES
    assert result["content"][1]["text"] == f"Cut at 25,000 bytes: {shown} of 151 phone_numbers. Ask for less."
