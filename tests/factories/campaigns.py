"""Reads campaigns, their recipients and counts, and the results of numbers by the hour; adds many contacts at once."""

from collections import Counter
from typing import Any

from tests.factories.tables import Rows, Source, open_pool

CAMPAIGNS = Rows("campaigns")
CAMPAIGN_COUNTS = Rows("campaign_counts")
CAMPAIGN_RECIPIENTS = Rows("campaign_recipients")
NUMBER_HOURS = Rows("number_hours")


async def add_people(source: Source, count: int) -> None:
    """Add contacts of the only account: the phones +1 202 200 0000 and up, the names Ann0, Ann1 and so on, a tag."""
    added = (
        "INSERT INTO contacts (account_id, phone, first_name, tags)"
        " SELECT a.id, '+1202' || 2000000 + n, 'Ann' || n, ARRAY['vip']"
        " FROM accounts a, generate_series(0, $1::int - 1) n"
    )
    await open_pool(source).execute(added, count)


async def add_unreached(source: Source, campaign_id: int, times: int) -> None:
    """Add that many texts to each contact, of as many campaigns from an id on, that did not reach its phone."""
    added = (
        "INSERT INTO campaign_recipients (account_id, campaign_id, contact_id, phone, state, reason, settled_at)"
        " SELECT account_id, $1::bigint + n, id, phone, 'failed', 'unreachable', now() - n * interval '1 day'"
        " FROM contacts, generate_series(0, $2::int - 1) n"
    )
    await open_pool(source).execute(added, campaign_id, times)


async def states(source: Source, **which: Any) -> dict[str, int]:
    """Return the number of recipients in each state."""
    return dict(Counter(await CAMPAIGN_RECIPIENTS.where(**which).read(source, "state")))


async def reasons(source: Source) -> dict[str, str]:
    """Return the reasons of the recipients that have one, by phone."""
    rows = await CAMPAIGN_RECIPIENTS.where_not(reason="").read(source, "phone", "reason")
    return {row["phone"]: row["reason"] for row in rows}


async def audit_counts(source: Source) -> None:
    """Fail unless the counts are those of the recipients, and each phone of a campaign has at most one message."""
    counted, found = Counter[Any](), Counter[Any]()
    for row in await CAMPAIGN_COUNTS.read(source):
        for name in ("recipients", "segments", "credits"):
            counted[row["campaign_id"], row["state"], row["reason"], name] += row[name]
    for row in await CAMPAIGN_RECIPIENTS.read(source):
        for name, number in (("recipients", 1), ("segments", row["segments"]), ("credits", row["credits"])):
            found[row["campaign_id"], row["state"], row["reason"], name] += number
    assert +counted == +found
    assert min(counted.values(), default=0) >= 0
