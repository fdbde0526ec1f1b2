"""Lists of contacts by filters of segments, and in the order of facts of other areas."""

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.types import NullType

from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.contacts.queries import ContactFilter, ContactSort, Joined, Listed
from app.domain.conversations import queries as conversations
from app.domain.kernel.paging import Page, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters
from app.domain.segments import queries as segments
from app.domain.segments.compiling import Compiler
from app.domain.segments.filters import Group, Match, Node

LAST_MESSAGE = Joined(*conversations.by_last_message(Listed.account_id, Listed.id))


async def find_page(
    unit: UnitOfWork,
    wanted: ContactFilter,
    sort: ContactSort,
    window: Window,
    *,
    filter: Node | None = None,
    segment_id: int | None = None,
) -> Page[Contact]:
    """Return one page of the account's contacts that satisfy all filters; raise `NotFound` for an unknown segment."""
    by = LAST_MESSAGE if sort is ContactSort.last_message else None
    nodes = [] if filter is None else [filter]
    if segment_id is not None:
        nodes.append(filters.load((await segments.get(unit, segment_id)).filter))
    condition = _compile(unit, Group(Match.all, tuple(nodes))) if nodes else None
    return await contacts.find_page(unit, wanted, sort, window, condition=condition, by=by)


def _compile(unit: UnitOfWork, filter: Node) -> TextClause:
    """Return the condition of a filter on `Listed`; the casts in it tell the types of its parameters."""
    compiler = Compiler(unit.clock.now())
    condition = text(f"({compiler.compile(filter)})")
    values = (bindparam(name, value, NullType()) for name, value in compiler.parameters.items())
    return condition.bindparams(*values)
