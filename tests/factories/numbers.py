"""Adds sending numbers."""

from tests.factories.tables import Rows, Source

PHONE_NUMBERS = Rows("phone_numbers")


async def add_number(
    source: Source, account_id: int, phone_number: str, label: str = "", carrier: str = "sandbox"
) -> int:
    """Add an active number of a connection to an account, not its primary one; return its id."""
    return await PHONE_NUMBERS.insert(
        source, account_id=account_id, phone_number=phone_number, label=label, carrier=carrier
    )
