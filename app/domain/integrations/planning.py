"""Plans the texts that follow from the state of a booking."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import case, select, true, update
from sqlalchemy.dialects.postgresql import insert

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
from app.domain.kernel.unit_of_work import UnitOfWork

REMINDERS = (BookingTextKind.reminder_day, BookingTextKind.reminder_hour)


async def lock(unit: UnitOfWork, integration: Integration, external_ids: list[str]) -> None:
    """Lock the waiting texts of bookings before any contact, in the order of locks of the send acceptor."""
    named = Booking.integration_id == integration.id, Booking.external_id.in_(external_ids)
    waiting = BookingText.status == BookingTextStatus.waiting
    texts = select(BookingText.id).join(Booking, Booking.id == BookingText.booking_id).where(*named, waiting)
    await unit.all(texts.order_by(BookingText.id).with_for_update(of=BookingText))


async def plan(unit: UnitOfWork, integration: Integration, booking: Booking, hold_back: timedelta = timedelta()) -> str:
    """Plan the texts of a locked booking, each once, and cancel those that it needs no more; return a sentence.

    A canceled text that the booking needs again waits again, such as a reminder after a no-show was withdrawn.
    """
    await cancel(unit, booking, str(booking.status), keep=_wanted(booking))
    if booking.starts_at is None:
        return "It has no time yet."
    zone = texts.find_zone(booking, (await accounts.get_own(unit)).time_zone)
    rows = [
        _row(unit, booking, booking.starts_at, zone, kind, hold_back)
        for kind in _wanted(booking)
        if texts.find(integration.texts, kind)
    ]
    if not rows:
        return "It needs no text."
    added = insert(BookingText).values(rows)
    renewed = {name: added.excluded[name] for name in ("due_at", "expires_at", "status", "reason")}
    planned_again = added.on_conflict_do_update(
        index_elements=["booking_id", "kind", "starts_at"],
        set_=renewed | {"claimed_until": None},
        where=BookingText.status == BookingTextStatus.canceled,
    )
    planned = (await unit.execute(planned_again.returning(BookingText))).scalars().all()
    unit.notify("booking_texts")
    shown = ", ".join(f"{row.kind} {row.status} {row.reason}".strip() for row in planned)
    return f"Texts: {shown}." if shown else "Its texts are as before."


async def cancel(unit: UnitOfWork, booking: Booking, reason: str, keep: tuple[BookingTextKind, ...] = ()) -> None:
    """Cancel the waiting texts of a booking, but for those of the kinds `keep` about its present time.

    A booking that is `booked` was moved to another time, or its no-show was withdrawn.
    """
    waiting = BookingText.booking_id == booking.id, BookingText.status == BookingTextStatus.waiting
    others = ~(BookingText.kind.in_(keep) & (BookingText.starts_at == booking.starts_at)) if keep else true()
    is_follow_up = BookingText.kind == BookingTextKind.no_show
    told = case((is_follow_up, "attended"), else_="moved") if reason == BookingStatus.booked else reason
    values = {"status": BookingTextStatus.canceled, "reason": told}
    await unit.execute(
        update(BookingText).where(*waiting, others).values(values).execution_options(synchronize_session=False)
    )


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
