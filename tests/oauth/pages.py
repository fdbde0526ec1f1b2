"""Reading of the sign-in pages and their effects."""

import re

import httpx2

from app.services import Services
from tests.factories.accounts import AUDIT_ENTRIES, SESSIONS


def alert(answer: httpx2.Response) -> str:
    [text] = re.findall(r'role="alert"[^>]*>([^<]*)<', answer.text)
    return text


async def actions(services: Services) -> list[tuple[str, str, str]]:
    rows = await AUDIT_ENTRIES.read(services, "action", "actor", "subject")
    return [row for row in rows if not row["action"].startswith("key_")]


async def count_sessions(services: Services) -> int:
    return await SESSIONS.count(services)
