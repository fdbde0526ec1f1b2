"""Reads and adds contacts and their consent."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.factories.tables import Rows, Source, open_pool

CONSENTS = Rows("consents")
CONTACTS = Rows("contacts")
CONTACT_TAGS = Rows("contact_tags")
CONTACT_TOTALS = Rows("contact_totals")
HOLDS = Rows("holds")
SUPPRESSIONS = Rows("suppressions")


async def id_of_contact(source: Source, phone: str | None = None) -> int:
    """Return the id of the contact with a phone, by default of the only contact."""
    return await (CONTACTS.where(phone=phone) if phone else CONTACTS).only(source, "id")


async def suppress(source: Source, account_id: int, phone: str) -> int:
    """Suppress a phone for an account, as its opt-out keyword does; no contact is needed."""
    return await SUPPRESSIONS.insert(source, account_id=account_id, phone=phone, reason="keyword")


async def add_contacts(source: Source, account_id: int, phones: list[str]) -> None:
    """Add contacts with only a phone."""
    added = "INSERT INTO contacts (account_id, phone) SELECT $1, unnest($2::text[])"
    await open_pool(source).execute(added, account_id, phones)


@asynccontextmanager
async def locked_contacts(source: Source) -> AsyncGenerator[None]:
    """Lock all contacts for a block, even against reads."""
    async with open_pool(source).acquire() as connection, connection.transaction():
        await connection.execute("LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
        yield


async def audit_tags(source: Source) -> None:
    """Fail unless the list of tags is equal to the tags of the contacts."""
    listed = await CONTACT_TAGS.read(source)
    found = "SELECT account_id, tag, id, created_at FROM contacts, unnest(tags) AS tag ORDER BY 1, 2, 3"
    assert listed == await open_pool(source).fetch(found)
