"""Queries of the account's users."""

from app.domain.accounts.sessions import Visitor
from app.services import Services
from tests.factories.accounts import USERS

OURS = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8000"}
SOFA = Visitor("203.0.113.7", "Firefox")


async def change_role(services: Services, role: str) -> None:
    await USERS.change(services, role=role)
