"""The bookings of all scheduling tools: consent, texts, pauses, secrets, erasure; `test_contract.py` has the rest."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.integrations import service
from app.domain.integrations.errors import UnsignedEvent
from app.domain.integrations.models import BookingTextKind
from app.domain.integrations.scheduling import BadSignature, Booked, Unreadable
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.messages.acceptor import SendAcceptor
from app.providers.scheduling_tools import TOOLS
from tests.domain.integrations.conftest import START, Office
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS, INTEGRATION_EVENTS, INTEGRATIONS, SECRET
from tests.factories.integrations import TOOLS as PEERS
from tests.factories.messages import OUTBOUND
from tests.peers import calcom, calendly
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))
CREATED = {kind: peer.booked(VISIT) for kind, peer in PEERS.items()}
EACH = pytest.mark.parametrize("kind", sorted(TOOLS))


@EACH
def test_a_signature_as_the_vendor_makes_it_is_accepted_and_no_other(kind: str) -> None:
    tool, vector, at = TOOLS[kind], PEERS[kind].VECTOR, datetime.fromtimestamp(1_700_000_000, UTC)
    [(header, value)] = vector.headers.items()
    forged = [
        replace(vector, body=vector.body + b" "),
        replace(vector, body=vector.body[:-1]),
        replace(vector, headers={}),
        replace(vector, headers={header: value[:-1] + ("0" if value[-1] != "0" else "1")}),
        replace(vector, headers={header: ""}),
        replace(vector, headers={header: "t=,v1="}),
        replace(vector, headers={header: "é\udcff"}),
    ]

    tool.verify("secret", vector, at)

    for each in forged:
        with pytest.raises(BadSignature):
            tool.verify("secret", each, at)
    with pytest.raises(BadSignature):
        tool.verify("Secret", vector, at)


def test_a_signature_of_calendly_is_accepted_for_three_minutes_around_its_time() -> None:
    tool, at = TOOLS["calendly"], datetime.fromtimestamp(1_700_000_000, UTC)

    for seconds in (-180, 180):
        tool.verify("secret", calendly.VECTOR, at + timedelta(seconds=seconds))
    for seconds in (-181, 181, 86_400):
        with pytest.raises(BadSignature):
            tool.verify("secret", calendly.VECTOR, at + timedelta(seconds=seconds))


@EACH
async def test_a_booking_is_confirmed_once_however_often_its_event_arrives(office: Office, kind: str) -> None:
    integration = await office.connect(kind)

    answers = await asyncio.gather(*(office.post(integration, CREATED[kind]) for _ in range(5)))
    await asyncio.gather(office.applier.run(), office.applier.run())
    await office.work()
    again = await office.post(integration, CREATED[kind])
    await office.work()

    assert len([id for id in answers if id]) == 1
    assert again is None
    assert await office.bodies() == [
        "Acme: your Check-up is booked for Fri 23 Oct at 8:00 am EDT. Reply STOP to opt out."
    ]
    contact = await CONTACTS.only(office.services, "phone", "first_name", "last_name", "time_zone", "time_zone_source")
    assert contact == ("+12025550143", "Ann", "Lee", "America/New_York", "booking")
    evidence = await CONSENTS.where(method="booking_form", kind="opt_in").only(office.services, "text")
    assert evidence.endswith(": +12025550143")
    health = await INTEGRATIONS.only(office.services, "received", "refused", "failed", "last_received_at")
    assert health == (6, 0, 0, START)


async def test_an_address_is_found_with_its_own_kind_only(office: Office) -> None:
    integration = await office.connect("calcom")

    for kind, address in (("calcom", "another address"), ("webhook", integration.address)):
        with pytest.raises(NotFound):
            await office.intake.find(kind, address)


BROKEN: list[bytes] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b"{}",
    b'{"event": {}, "triggerEvent": []}',
    b'{"event": "invitee.created", "triggerEvent": "BOOKING_CREATED"}',
    b'{"event": "invitee.created", "triggerEvent": "BOOKING_CREATED", "payload": []}',
    b'{"event": "invitee.created", "triggerEvent": "BOOKING_CREATED", "createdAt": "x", "payload": {"uri": "u",'
    b' "uid": "u", "startTime": "tomorrow", "created_at": "now", "scheduled_event": {"start_time": 5}}}',
]
UNKNOWN = b'{"event": "routing_form.created", "triggerEvent": "MEETING_ENDED", "payload": {"uid": "u"}}'


@pytest.mark.parametrize("kind", ["calcom", "calendly"])
async def test_a_signed_event_that_cannot_be_read_fails_visibly_and_an_unknown_one_changes_nothing(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind)

    for body in [*BROKEN, UNKNOWN]:
        await office.post(integration, body)
    await office.work()

    events = await INTEGRATION_EVENTS.read(office.services, "status", "result")
    assert [status for status, _ in events] == ["failed"] * len(BROKEN) + ["ignored"]
    assert all(result for _, result in events)
    assert await INTEGRATIONS.only(office.services, "failed") == len(BROKEN)
    assert await INTEGRATIONS.only(office.services, "last_error") == events[-2][1]
    assert (await BOOKINGS.count(office.services), await office.bodies()) == (0, [])


QUESTION = "May we text you?"
ANSWERS: list[tuple[Any, bool]] = [
    ("Yes", True), ("yes, please", True), ("I agree", True), ("No", False), ("no, thanks", False), ("", False),
    ("Do not text me", False), ("Never", False), ("Nope", False), ("I would rather not", False), ("Nein danke", False),
    ("N", False), ("Please don’t", False), ("I decline", False), ("Opt-out", False),
]  # fmt: skip


@EACH
def test_a_phone_is_a_consent_only_with_a_positive_answer_to_the_question(kind: str) -> None:
    def read(answer: Any, asked: str = QUESTION) -> tuple[str, bool]:
        change = TOOLS[kind].read(PEERS[kind].answered(VISIT, asked, answer), QUESTION).changes[0]
        assert isinstance(change, Booked)
        return change.details.phone, change.details.consent is not None

    assert [read(answer) for answer, _ in ANSWERS] == [("(202) 555-0143", is_consent) for _, is_consent in ANSWERS]
    assert read("yes", " may WE text  you? ") == ("(202) 555-0143", True)
    assert read("yes", "Do you like texts?") == ("(202) 555-0143", False)


@EACH
async def test_without_consent_or_a_phone_that_can_be_texted_there_is_no_text_and_the_booking_says_so(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind, consent_question=QUESTION)

    await office.post(integration, PEERS[kind].answered(VISIT, QUESTION, "No"))
    await office.work()

    assert await office.bodies() == []
    assert set(await BOOKING_TEXTS.read(office.services, "status", "reason")) == {("skipped", "no_consent")}
    assert await BOOKINGS.only(office.services, "phone", "consent") == ("+12025550143", None)
    assert await CONSENTS.count(office.services) == 0

    later = replace(VISIT, number=7, phone="12")
    await office.post(integration, PEERS[kind].booked(later))
    await office.work()

    assert await office.bodies() == []
    assert (await BOOKING_TEXTS.read(office.services, "status", "reason"))[-1] == ("skipped", "no_phone")


@EACH
async def test_a_contact_who_has_opted_out_gets_no_text_and_the_reason_is_shown(office: Office, kind: str) -> None:
    integration = await office.connect(kind)
    async with office.unit() as unit:
        contact = await contacts.create(unit, {"phone": VISIT.phone})
        await opt_outs.opt_out(unit, contact, "STOP", "keyword", Evidence("keyword", "STOP"))

    await office.post(integration, CREATED[kind])
    await office.work()

    assert await OUTBOUND.where(purpose="transactional").count(office.services) == 0
    assert (await BOOKING_TEXTS.read(office.services, "kind", "status", "reason"))[0] == (
        "confirmation",
        "refused",
        "contact_opted_out",
    )


class Dying(SendAcceptor):
    """An acceptor whose caller dies as soon as a send is accepted."""

    async def accept(self, actor: Any, send: Any) -> Any:
        await super().accept(actor, send)
        raise asyncio.CancelledError


async def test_a_worker_that_dies_after_a_send_does_not_send_again(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.applier.run()
    services = office.services
    dying = Dying(services.database.pool, office.clock, services.notify, services.connections)

    with pytest.raises(asyncio.CancelledError):
        await replace(office.texts, acceptor=dying).run()
    await dying.close()
    claimed = await office.texts.due()
    office.clock.instant += timedelta(minutes=2)
    await office.work()

    assert claimed is False
    assert len(await office.bodies()) == 1
    message_id = await OUTBOUND.only(services, "id")
    assert await BOOKING_TEXTS.where(kind="confirmation").only(services, "status", "message_id") == ("sent", message_id)


async def test_during_a_pause_events_and_texts_wait_and_late_texts_are_skipped(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.work()
    async with office.unit() as unit:
        await service.pause(unit, integration.id)
    office.clock.instant = VISIT.starts_at - timedelta(minutes=50)
    await office.post(integration, calcom.event("BOOKING_CANCELLED", replace(VISIT, number=5)))
    await office.work()
    before = await BOOKING_TEXTS.read(office.services, "status")

    async with office.unit() as unit:
        await service.resume(unit, office.intake.ports, integration.id)
    await office.work()

    assert before == ["sent", "skipped", "waiting"]
    states = await BOOKING_TEXTS.where_not(kind="canceled").read(office.services, "kind", "status", "reason")
    assert states == [("confirmation", "sent", ""), ("reminder_day", "skipped", "past"), ("reminder_hour", "sent", "")]
    assert await INTEGRATION_EVENTS.read(office.services, "status") == ["applied", "applied"]


async def test_after_a_rotation_the_former_secret_is_accepted_for_some_hours(office: Office) -> None:
    integration = await office.connect("calcom")
    async with office.unit() as unit:
        await service.rotate(unit, office.intake.ports, integration.id, "the next secret", 2)

    assert await office.deliver(integration, calcom.sign(CREATED["calcom"], START, "the next secret"))
    assert await office.deliver(integration, calcom.sign(CREATED["calcom"], START, SECRET)) is None
    office.clock.instant += timedelta(hours=2, seconds=1)
    with pytest.raises(UnsignedEvent):
        await office.deliver(integration, calcom.sign(CREATED["calcom"], START, SECRET))


async def test_an_erased_contact_leaves_no_booking_and_no_body(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.work()

    async with office.unit() as unit:
        await erasure.erase(unit, await CONTACTS.only(office.services, "id"))

    assert await BOOKINGS.count(office.services) == await BOOKING_TEXTS.count(office.services) == 0
    assert await INTEGRATION_EVENTS.only(office.services, "body", "result") == ("", "The contact was deleted.")


@EACH
async def test_a_booking_without_a_contact_tells_nothing_of_the_person(office: Office, kind: str) -> None:
    integration = await office.connect(kind)
    title = {"calcom": ""}.get(kind, "Check-up")  # that of Cal.com beside the one of the event names the attendee
    moved = {"calcom": {"rescheduleUid": "x", "eventTitle": None}, "calendly": {"old_invitee": calendly.invitee_of(8)}}
    bodies = [
        PEERS[kind].booked(VISIT),
        PEERS[kind].booked(replace(VISIT, number=1, phone="")),
        PEERS[kind].booked(replace(VISIT, number=2, phone=""), **moved[kind]),
    ]

    for body in bodies:
        await office.post(integration, body)
    await office.work()

    personal = "name", "email", "phone", "cancel_url", "reschedule_url", "location"
    known, *strangers = await BOOKINGS.read(office.services, *personal)
    assert all(known)
    assert [set(each) for each in strangers] == [{""}] * 3  # the last one is that before the move
    assert await BOOKINGS.read(office.services, "title") == ["Check-up", "Check-up", title, ""]
    assert [bool(body) for body in await INTEGRATION_EVENTS.read(office.services, "body")] == [True, False, False]


@EACH
async def test_the_answer_to_any_question_for_a_phone_is_the_phone_if_it_has_digits(office: Office, kind: str) -> None:
    integration = await office.connect(kind, consent_question=QUESTION, texts={"confirmation": "Booked"})
    asked = {"By phone or by video?": "By phone", "Your phone": "(202) 555-0143", QUESTION: "Yes"}
    answers: dict[str, Any] = {
        "calcom": {
            "responses": {f"q{n}": {"label": asks, "value": asked[asks]} for n, asks in enumerate(asked)},
            "smsReminderNumber": None,
        },
        "calendly": {
            "questions_and_answers": [{"question": asks, "answer": asked[asks]} for asks in asked],
            "text_reminder_number": None,
        },
    }

    await office.post(integration, PEERS[kind].booked(VISIT, **answers[kind]))
    await office.work()

    assert await OUTBOUND.read(office.services, "to_number", "body") == [("+12025550143", "Booked")]


async def test_an_address_that_calcom_made_of_a_phone_is_none_of_the_contact(office: Office) -> None:
    integration = await office.connect("calcom", texts={"no_show": "We missed you"})
    made_up, guest = "12025550143@sms.cal.com", calcom.attendee("Ben Lee", "ben@example.com", "America/New_York")
    responses = {"email": {"label": "email_address", "value": made_up}}
    attendees = [calcom.attendee("Ann Lee", made_up, "America/New_York"), guest]

    await office.post(integration, calcom.booked(VISIT, attendees=attendees, responses=responses))
    await office.post(integration, calcom.missed(VISIT, office.clock.now(), ben=True))
    await office.work()

    assert await CONTACTS.only(office.services, "phone", "first_name", "email") == ("+12025550143", "Ann", "")
    assert await BOOKINGS.where_not(starts_at=None).only(office.services, "status") == "booked"


async def test_a_text_with_an_unknown_placeholder_or_kind_is_refused(office: Office) -> None:
    for texts in ({"confirmation": "{booking.titel}"}, {"welcome": "Hello"}):
        with pytest.raises(InvalidInput):
            await office.connect("calcom", texts=texts)
    assert await INTEGRATIONS.count(office.services) == 0


async def test_a_booking_that_is_moved_under_the_same_id_gets_one_text_and_the_reminders_of_the_new_time(
    office: Office,
) -> None:
    integration = await office.connect(
        "calcom", texts={kind: f"{kind} {{booking.start:date(d MMM)}}" for kind in map(str, BookingTextKind)}
    )
    moved = replace(VISIT, made_at=VISIT.made_at + timedelta(seconds=30), starts_at=VISIT.starts_at + timedelta(days=2))
    body = calcom.event("BOOKING_RESCHEDULED", moved, rescheduleUid=None)

    await office.post(integration, CREATED["calcom"])
    await office.work()
    await office.post(integration, body)
    await office.work()
    await office.post(
        integration, calcom.event("BOOKING_CREATED", replace(VISIT, made_at=VISIT.made_at - timedelta(seconds=1)))
    )
    while office.clock.now() < moved.starts_at:
        await office.work()
        office.clock.instant += timedelta(hours=1)

    assert await office.bodies() == [
        "confirmation 23 Oct",
        "rescheduled 25 Oct",
        "reminder_day 25 Oct",
        "reminder_hour 25 Oct",
    ]


async def test_links_are_filled_in_whole(office: Office) -> None:
    link = f"https://calendly.com/cancellations/{'0' * 60}"
    integration = await office.connect("calendly", texts={"confirmation": "Cancel: {booking.cancel_url}"})

    await office.post(integration, calendly.event("invitee.created", VISIT, last=0, cancel_url=link))
    await office.work()

    assert await office.bodies() == [f"Cancel: {link}"]


def test_any_json_is_read_or_refused_by_each_tool() -> None:
    values: list[Any] = [None, 5, "x", [], {}, [None], {"a": []}, True]
    names = ("payload", "event", "triggerEvent", "createdAt", "created_at")
    payloads = ("scheduled_event", "questions_and_answers", "attendees", "responses", "metadata", "uri", "uid")
    for tool in TOOLS.values():
        for name in (*names, *payloads):
            for value in values:
                event: dict[str, Any] = orjson.loads(CREATED[tool.name])
                (event if name in names else event["payload"])[name] = value
                with suppress(Unreadable):
                    tool.read(orjson.dumps(event), QUESTION)


async def test_the_pages_of_calcom_for_the_attendee_are_found_in_its_events(office: Office) -> None:
    integration = await office.connect("calcom")
    apart = replace(VISIT, number=1)

    await office.post(integration, CREATED["calcom"])
    await office.post(integration, calcom.event("BOOKING_CREATED", apart, bookerUrl="javascript:alert(1)//"))
    await office.work()

    assert await BOOKINGS.read(office.services, "cancel_url", "reschedule_url", "location") == [
        ("https://cal.com/booking/uid0?cancel=true", "https://cal.com/reschedule/uid0", "https://cal.com/video/uid0"),
        ("", "", "https://cal.com/video/uid1"),
    ]
