"""Plans the texts that follow from the state of a booking."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, ColumnElement, String, any_, case, literal, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.accounts import queries as accounts
from app.domain.integrations import texts
from app.domain.integrations.models import (
    Booking,
    BookingStatus,
    BookingText,
    BookingTextKind,
    BookingTextStatus,
    Integration,
)
from app.domain.kernel import records
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.kernel.unit_of_work import UnitOfWork

PART = 1000
"""The number of texts that one statement adds."""

REMINDERS = (BookingTextKind.reminder_day, BookingTextKind.reminder_hour)


def any_of(column: InstrumentedAttribute[str], texts: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a column has one of these texts, by one parameter for any number of them."""
    return column == any_(literal(texts, ARRAY(String)))


async def lock(unit: UnitOfWork, integration: Integration, external_ids: Sequence[str]) -> None:
    """Lock the waiting texts of bookings before any contact, in the order of locks of the send acceptor."""
    named = Booking.integration_id == integration.id, any_of(Booking.external_id, external_ids)
    waiting = BookingText.status == BookingTextStatus.waiting
    texts = select(BookingText.id).join(Booking, Booking.id == BookingText.booking_id).where(*named, waiting)
    await unit.all(texts.order_by(BookingText.id).with_for_update(of=BookingText))


async def plan(
    unit: UnitOfWork, integration: Integration, bookings: Sequence[Booking], hold_backs: Mapping[int, timedelta]
) -> dict[int, str]:
    """Plan the texts of saved bookings, each once, and cancel those that they need no more.

    Returns a sentence for each id of a booking. A canceled text that its booking needs again waits again, such as a
    reminder after a no-show was withdrawn.
    """
    by_id = {each.id: each for each in bookings}
    for reason, keep in {(each.status, _wanted(each)) for each in by_id.values()}:
        ids = [each.id for each in by_id.values() if (each.status, _wanted(each)) == (reason, keep)]
        await cancel(unit, ids, reason, keep)
    zone = (await accounts.get_own(unit)).time_zone
    rows = [
        row
        for each in by_id.values()
        for row in _rows(unit, integration, each, zone, hold_backs.get(each.id, timedelta()))
    ]
    planned = await _add(unit, rows)
    wanting = {row["booking_id"] for row in rows}
    return {id: _tell(booking, planned.get(id, []), is_wanting=id in wanting) for id, booking in by_id.items()}


async def cancel(
    unit: UnitOfWork, booking_ids: Sequence[int], reason: str, keep: tuple[BookingTextKind, ...] = ()
) -> None:
    """Cancel the waiting texts of bookings, but for those of the kinds `keep` about their present times.

    A booking that is `booked` was moved to another time, or its no-show was withdrawn.
    """
    if not booking_ids:
        return
    waiting = records.among(BookingText.booking_id, booking_ids), BookingText.status == BookingTextStatus.waiting
    is_of_now = BookingText.starts_at.is_not_distinct_from(Booking.starts_at)
    others = ~(BookingText.kind.in_(keep) & is_of_now) if keep else true()
    is_follow_up = BookingText.kind == BookingTextKind.no_show
    told = case((is_follow_up, "attended"), else_="moved") if reason == BookingStatus.booked else reason
    values = {"status": BookingTextStatus.canceled, "reason": told}
    ended = update(BookingText).where(Booking.id == BookingText.booking_id, *waiting, others).values(values)
    await unit.execute(ended.execution_options(synchronize_session=False))


async def _add(unit: UnitOfWork, rows: Sequence[dict[str, object]]) -> dict[int, list[BookingText]]:
    """Add texts, and plan canceled ones again; return those by their bookings."""
    planned = dict[int, list[BookingText]]()
    for part in (rows[start : start + PART] for start in range(0, len(rows), PART)):
        added = insert(BookingText).values(part)
        renewed = {name: added.excluded[name] for name in ("due_at", "expires_at", "status", "reason")}
        planned_again = added.on_conflict_do_update(
            index_elements=["booking_id", "kind", "starts_at"],
            set_=renewed | {"claimed_until": None},
            where=BookingText.status == BookingTextStatus.canceled,
        )
        for row in (await unit.execute(planned_again.returning(BookingText))).scalars():
            planned.setdefault(row.booking_id, []).append(row)
        unit.notify("booking_texts")
    return planned


def _tell(booking: Booking, planned: Sequence[BookingText], *, is_wanting: bool) -> str:
    if booking.starts_at is None:
        return "It has no time yet."
    if not is_wanting:
        return "It needs no text."
    shown = ", ".join(f"{row.kind} {row.status} {row.reason}".strip() for row in planned)
    return f"Texts: {shown}." if shown else "Its texts are as before."


def _wanted(booking: Booking) -> tuple[BookingTextKind, ...]:
    """Return the kinds of texts that the state of a booking asks for."""
    match booking.status:
        case BookingStatus.booked if booking.is_known:
            kind = BookingTextKind.rescheduled if booking.is_moved else BookingTextKind.confirmation
            return (kind, *REMINDERS)
        case BookingStatus.canceled:
            return (BookingTextKind.canceled,)
        case BookingStatus.no_show:
            return (BookingTextKind.no_show,)
        case _:
            return ()


def _rows(
    unit: UnitOfWork, integration: Integration, booking: Booking, account_zone: str | None, hold_back: timedelta
) -> list[dict[str, object]]:
    """Return the texts of a booking that has a time."""
    if booking.starts_at is None:
        return []
    zone = texts.find_zone(booking, account_zone)
    wanted = [kind for kind in _wanted(booking) if texts.find(integration.texts, kind)]
    return [_row(unit, booking, booking.starts_at, zone, kind, hold_back) for kind in wanted]


def _row(
    unit: UnitOfWork,
    booking: Booking,
    starts_at: datetime,
    zone: ZoneInfo,
    kind: BookingTextKind,
    hold_back: timedelta,
) -> dict[str, object]:
    now = unit.clock.now()
    due_at = texts.due_at(kind, starts_at, zone, now)
    expires_at = texts.expires_at(kind, starts_at, due_at)
    reason = _find_obstacle(booking, is_past=expires_at <= now or (kind in REMINDERS and due_at <= now))
    return {
        "account_id": booking.account_id,
        "booking_id": booking.id,
        "kind": kind,
        "starts_at": starts_at,
        "due_at": max(due_at, now + hold_back),
        "expires_at": expires_at,
        "status": BookingTextStatus.skipped if reason else BookingTextStatus.waiting,
        "reason": reason,
    }


def _find_obstacle(booking: Booking, *, is_past: bool) -> str:
    if not booking.phone:
        return "no_phone"
    if booking.consent is None:
        return "no_consent"
    return "past" if is_past else ""
