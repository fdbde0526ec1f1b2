"""Phone numbers of accounts, as tests make them."""

from tests.factories.tables import Rows, Source

PHONE_NUMBERS = Rows("phone_numbers")


async def add_number(source: Source, account_id: int, phone_number: str, label: str = "") -> int:
    """Give an account another sandbox number that is active and not its primary one; return its id."""
    return await PHONE_NUMBERS.insert(
        source, account_id=account_id, phone_number=phone_number, label=label, carrier="sandbox"
    )
