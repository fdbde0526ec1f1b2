"""The fixtures of the tests of messages for sending and receiving, and one that erases contacts."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.erasure import service as erasure
from app.domain.erasure.service import Erased
from tests.domain.messages.conftest import act, actor, handoff, pool, send, text
from tests.factories.contacts import id_of_contact

__all__ = ["act", "actor", "handoff", "pool", "send", "text"]


@pytest.fixture
def erase(act: Callable[..., Any], pool: Pool) -> Callable[..., Any]:
    """Give a function that erases the contact with a phone."""

    async def erase(phone: str = "+12025550143") -> Erased:
        async with act() as unit:
            return await erasure.erase(unit, await id_of_contact(pool, phone))

    return erase
