"""Merging two contacts that are one person, and finding them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.bootstrap import METADATA
from app.db.engine import Pool
from app.domain.accounts.scopes import Scope
from app.domain.consent.service import Evidence
from app.domain.contacts import custom_fields, duplicates, opt_outs
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.duplicates import DuplicateKind
from app.domain.contacts.models import Contact
from app.domain.crm.models import CrmPush
from app.domain.erasure import merging, moving
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import queries as messages
from app.domain.messages import reading
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Message
from app.domain.notices.models import Notice
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments as drips
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.webhooks.models import Delivery
from app.services import Services
from tests.conftest import unit_of
from tests.domain.messages.replies import OTHER, TO
from tests.factories.contacts import CONSENTS, CONTACTS, SUPPRESSIONS, id_of_contact
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.tables import Rows
from tests.factories.webhooks import WEBHOOK_DELIVERIES, add_delivery, add_subscription

EVENTS, AUDIT, ENROLLMENTS = Rows("events"), Rows("audit_entries"), Rows("sequence_enrollments")

Act = Callable[..., Any]


async def _pair(act: Act, **fields: Any) -> tuple[Contact, Contact]:
    """Add two contacts; the fields are those of the second."""
    async with act() as unit:
        into = await contacts.create(unit, {"phone": TO, "first_name": "Ann", "tags": ["a"]})
        other = await contacts.create(unit, {"phone": OTHER, "first_name": "Anna", "tags": ["b", "a"], **fields})
    return into, other


async def _merge(act: Act, into: int, other: int, *take: str) -> Contact:
    wanted = Merge(into, other, take)
    async with act() as unit:
        shown = await merging.preview(unit, wanted)
    async with act() as unit:
        return await merging.merge(unit, wanted, shown.preview_id)


async def test_a_merge_keeps_fields_fills_empty_ones_takes_named_ones_and_joins_tags(act: Act, pool: Pool) -> None:
    async with act() as unit:
        for key in ("city", "size"):
            await custom_fields.create(unit, NewField(key))
    into, other = await _pair(
        act, last_name="Lee", email="ann@example.com", custom_fields={"city": "Bonn"}, pipeline_stage="won"
    )

    async with act() as unit:
        shown = await merging.preview(unit, Merge(into.id, other.id, ["first_name"]))
    assert {each.name: (each.value, each.discarded) for each in shown.fields if each.value} == {
        "first_name": ("Anna", "Ann"),
        "last_name": ("Lee", None),
        "email": ("ann@example.com", None),
        "custom.city": ("Bonn", None),
        "pipeline_stage": ("new_lead", "won"),
        "tags": (["a", "b"], None),
    }
    await _merge(act, into.id, other.id, "first_name")

    kept = await CONTACTS.only(pool, "id", "phone", "first_name", "last_name", "email", "tags", "custom_fields")
    assert kept == (into.id, TO, "Anna", "Lee", "ann@example.com", ["a", "b"], {"city": "Bonn"})
    assert (await EVENTS.read(pool, "name"))[2:] == ["contact_tag_added", "contact_merged"]
    assert await AUDIT.where(action="contacts_merged").read(pool, "details") == [
        {"merged_id": other.id, "into_id": into.id}
    ]


async def test_messages_and_conversations_of_both_are_one_thread(
    act: Act, text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await text("From the first")
    await text("From the second", OTHER)
    into, other = await id_of_contact(pool, TO), await id_of_contact(pool, OTHER)

    await _merge(act, into, other)

    assert await MESSAGES.read(pool, "contact_id", "from_number") == [(into, TO), (into, OTHER)]
    thread = await CONVERSATIONS.only(pool, "contact_id", "unread_count")
    assert thread == (into, 2)


async def test_a_text_that_was_unread_before_a_merge_is_unread_until_it_is_read(
    act: Act, text: Callable[..., Any], pool: Pool
) -> None:
    await text("From the second", OTHER)
    await text("From the first")
    unread, read = await MESSAGES.read(pool, "id")
    into, other = await id_of_contact(pool, TO), await id_of_contact(pool, OTHER)
    thread = await CONVERSATIONS.where(contact_id=into).only(pool, "id")
    async with act() as unit:
        await reading.update(unit, thread, {"read_up_to": read})

    await _merge(act, into, other)

    read_up_to, unread_count = await CONVERSATIONS.only(pool, "read_up_to", "unread_count")
    async with act() as unit:
        first = await messages.find_first_unread(unit, [(thread, read_up_to)])
    assert (first, unread_count) == ({(thread, read_up_to): unread}, 2)
    async with act() as unit:
        assert (await reading.update(unit, thread, {"read_up_to": read})).unread_count == 0


async def test_texts_that_were_read_before_the_first_unread_one_stay_read_through_a_merge(
    act: Act, text: Callable[..., Any], pool: Pool
) -> None:
    await text("A first text")
    await text("A second text")
    into = await id_of_contact(pool, TO)
    thread, last = await CONVERSATIONS.only(pool, "id"), await MESSAGES.last(pool, "id")
    async with act() as unit:
        await reading.update(unit, thread, {"read_up_to": last})
    await text("From another phone", OTHER)

    await _merge(act, into, await id_of_contact(pool, OTHER))

    assert await CONVERSATIONS.only(pool, "unread_count") == 1


@pytest.mark.parametrize(
    ("kept", "merged", "joined"), [("active", "paused", "paused"), ("none", "handed_over", "handed_over")]
)
async def test_a_conversation_that_people_answer_is_theirs_and_of_its_latest_number_after_a_merge(
    act: Act, text: Callable[..., Any], pool: Pool, kept: str, merged: str, joined: str
) -> None:
    await text("From the first")
    await text("From the second", OTHER)
    into, other = await id_of_contact(pool, TO), await id_of_contact(pool, OTHER)
    await CONVERSATIONS.where(contact_id=into).change(pool, ai_state=kept, sending_number="+15002000001")
    await CONVERSATIONS.where(contact_id=other).change(pool, ai_state=merged, sending_number="+15002000002")

    await _merge(act, into, other)

    assert await CONVERSATIONS.only(pool, "ai_state", "sending_number") == (joined, "+15002000002")


async def test_deliveries_of_events_move_with_the_events(act: Act, account: Opened, pool: Pool) -> None:
    into, other = await _pair(act)
    event = (await EVENTS.where(contact_id=other.id).read(pool, "id"))[0]
    webhook = await add_subscription(pool, account.account_id)
    await add_delivery(pool, account.account_id, webhook, event_id=event, contact_id=other.id, status="delivered")

    await _merge(act, into.id, other.id)

    assert await EVENTS.where(id=event).only(pool, "contact_id") == into.id
    assert await WEBHOOK_DELIVERIES.only(pool, "contact_id") == into.id


async def test_a_conversation_moves_to_a_contact_that_has_none(act: Act, text: Callable[..., Any], pool: Pool) -> None:
    await text("Hello", OTHER)
    async with act() as unit:
        into = await contacts.create(unit, {"phone": TO})

    await _merge(act, into.id, await id_of_contact(pool, OTHER))

    assert await CONVERSATIONS.only(pool, "contact_id") == into.id
    assert await MESSAGES.only(pool, "contact_id") == into.id


async def test_an_opt_out_of_either_holds_for_both_phones_and_dnd_for_the_one_that_remains(
    act: Act, pool: Pool
) -> None:
    into, other = await _pair(act, dnd_sms=True)
    async with act() as unit:
        await opt_outs.record_opt_out(unit, other.id, Evidence("letter", "No texts."))

    await _merge(act, into.id, other.id)

    assert await CONTACTS.only(pool, "status", "dnd_sms") == ("opted_out", True)
    assert sorted(await SUPPRESSIONS.read(pool, "phone")) == [TO, OTHER]
    assert await CONSENTS.read(pool, "phone", "method") == [(OTHER, "letter"), (TO, "merge")]
    async with act() as unit:
        assert (await contacts.create(unit, {"phone": OTHER})).status == "opted_out"


async def test_an_opt_out_of_the_contact_that_remains_is_not_lifted_by_the_other(act: Act, pool: Pool) -> None:
    into, other = await _pair(act)
    async with act() as unit:
        await opt_outs.record_opt_out(unit, into.id, Evidence("letter", "No texts."))
        await opt_outs.record_opt_in(unit, other.id, Evidence("web_form", "I agree."))

    await _merge(act, into.id, other.id)

    assert await CONTACTS.only(pool, "status") == "opted_out"
    assert await SUPPRESSIONS.read(pool, "phone") == [TO]


async def test_drip_enrollments_of_the_merged_contact_end_and_are_kept(act: Act, pool: Pool) -> None:
    into, other = await _pair(act)
    async with act() as unit:
        made = await sequences.create(unit, "Welcome", [NewStep(60, "Hi")])
        await drips.enroll(unit, made.id, other.id)
        await drips.enroll(unit, made.id, into.id)

    await _merge(act, into.id, other.id)

    assert await ENROLLMENTS.read(pool, "contact_id", "status", "exit_reason") == [
        (into.id, "exited", "merged"),
        (into.id, "active", ""),
    ]


async def test_a_merge_is_refused_while_a_text_waits_or_a_reply_is_unclear_and_changes_nothing(
    act: Act, send: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await send(TO)
    await text("STOP what time is the showing", OTHER)
    one, two = await id_of_contact(pool, TO), await id_of_contact(pool, OTHER)

    for into, other, reason in ((two, one, "may be an opt-out"), (one, two, "may be an opt-out")):
        with pytest.raises(Conflict, match=reason):
            await _merge(act, into, other)
    async with act() as unit:
        await opt_outs.release_hold(unit, two, opted_out=False)
    with pytest.raises(Conflict, match="has not left"):
        await _merge(act, two, one)

    assert await CONTACTS.count(pool) == 2


async def test_a_merge_needs_the_preview_of_the_contacts_as_they_are(act: Act, pool: Pool) -> None:
    into, other = await _pair(act)
    wanted = Merge(into.id, other.id)
    async with act() as unit:
        shown = await merging.preview(unit, wanted)
    async with act() as unit:
        await opt_outs.record_opt_out(unit, other.id, Evidence("letter"))

    async with act() as unit:
        with pytest.raises(Conflict, match="changed since the preview"):
            await merging.merge(unit, wanted, shown.preview_id)

    assert await CONTACTS.count(pool) == 2


async def test_a_contact_does_not_merge_with_itself_with_one_of_another_account_or_by_a_wrong_field(
    act: Act, services: Services, new_account: Callable[..., Any]
) -> None:
    into, other = await _pair(act)
    stranger: Opened = await new_account()
    for wanted, error in (
        (Merge(into.id, into.id), InvalidInput),
        (Merge(into.id, other.id, ["phone"]), InvalidInput),
        (Merge(into.id, 10**9), NotFound),
    ):
        async with act() as unit:
            with pytest.raises(error):
                await merging.preview(unit, wanted)
    async with unit_of(services, Actor(stranger.account_id, frozenset(Scope))) as unit:
        with pytest.raises(NotFound):
            await merging.preview(unit, Merge(into.id, other.id))


async def test_of_two_merges_at_once_one_is_made(act: Act, pool: Pool) -> None:
    into, other = await _pair(act)

    outcomes = await asyncio.gather(
        _merge(act, into.id, other.id), _merge(act, other.id, into.id), return_exceptions=True
    )

    assert sorted(type(each).__name__ for each in outcomes) == ["Contact", "NotFound"]
    assert await CONTACTS.count(pool) == 1


@pytest.mark.parametrize("word", ["STOP", "Hello"])
async def test_a_text_during_a_merge_is_kept_and_an_opt_out_holds(
    act: Act, text: Callable[..., Any], pool: Pool, word: str
) -> None:
    into, other = await _pair(act)

    await asyncio.gather(_merge(act, into.id, other.id), text(word, OTHER), return_exceptions=True)

    assert await MESSAGES.where(direction="inbound").read(pool, "body") == [word]
    stopped = word == "STOP"
    assert await SUPPRESSIONS.where(phone=OTHER).count(pool) == stopped
    assert stopped is False or "opted_out" in await CONTACTS.read(pool, "status")


async def test_a_merge_and_an_erasure_at_once_leave_no_trace_of_an_error(act: Act, pool: Pool) -> None:
    into, other = await _pair(act)

    async def erase() -> None:
        async with act() as unit:
            await erasure.erase(unit, other.id)

    outcomes = await asyncio.gather(_merge(act, into.id, other.id), erase(), return_exceptions=True)

    assert [type(each).__name__ for each in outcomes if isinstance(each, Exception)] == ["NotFound"]
    assert await CONTACTS.read(pool, "id") == [into.id]


async def test_duplicates_are_found_by_address_phone_variants_and_a_custom_field(act: Act) -> None:
    async with act() as unit:
        await custom_fields.create(unit, NewField("crm_id"))
        people = [
            {"phone": "+442025550199", "email": "Ann@example.com", "custom_fields": {"crm_id": "X1"}},
            {"phone": "+12025550199", "email": "bob@example.com"},
            {"phone": "+12025550145", "email": "ann@Example.com", "custom_fields": {"crm_id": "x1"}},
            {"phone": "+12025550146", "email": ""},
            {"phone": "+12025550147", "email": ""},
        ]
        ids = [(await contacts.create(unit, each)).id for each in people]
        keys = {DuplicateKind.email: None, DuplicateKind.phone: None, DuplicateKind.custom_field: "crm_id"}
        found = {
            kind: [(each.value, [contact.id for contact in each.contacts]) for each in groups]
            for kind, key in keys.items()
            for groups in [await duplicates.find(unit, kind, key, 20, None)]
        }

        assert found == {
            "email": [("ann@example.com", [ids[0], ids[2]])],
            "phone": [("2025550199", ids[:2])],
            "custom_field": [("x1", [ids[0], ids[2]])],
        }
        assert await duplicates.find(unit, DuplicateKind.email, None, 20, "ann@example.com") == []
        wrong = (DuplicateKind.email, "x", 1), (DuplicateKind.custom_field, None, 1), (DuplicateKind.email, None, 0)
        for kind, key, first in wrong:
            with pytest.raises(InvalidInput):
                await duplicates.find(unit, kind, key, first, None)


LEFT_BEHIND = {
    "ai_agent_runs": "Those that are done move; others are canceled.",
    "automation_runs": "Those of an automation that ran for both stay, and are deleted.",
    "contact_tags": "The tags of the contact that remains are joined.",
    "conversations": "It moves, or is joined with the one there is.",
    "crm_links": "The record of the phone in the CRM has no contact any more.",
    "live_updates": "They are read within minutes.",
}


def test_each_table_with_a_contact_is_moved_by_a_merge_or_named_here() -> None:
    of_contacts = {table.name for table in METADATA.sorted_tables if "contact_id" in table.c}
    moved = {each.__tablename__ for each in (*moving.BY_ID, Message, Notice, CrmPush, Delivery)}

    assert of_contacts - moved == set(LEFT_BEHIND)
