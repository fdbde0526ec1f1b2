"""Lets the enrollments under way follow a change of their sequence: to other steps, or to its end.

Each transaction takes a part of them, so that a sequence of any size changes at once. It sends nothing until the last
one has followed.
"""

from sqlalchemy import select, text

from app.db.engine import Database
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.sequences.models import Sequence

BATCH, ABOVE_ALL = 1000, 2**63 - 1

TOPIC = "sequences"

ARCHIVED = "sequence_archived"
"""The exit reason of the enrollments of an archived sequence."""

IS_FOLLOWED = "EXISTS (SELECT FROM sequences WHERE follows_below IS NOT NULL)"
"""The condition that enrollments of a sequence are to follow it."""

AT_ONCE = 4
"""The sequences of which one call lets a part follow, chosen at random; steps are sent between two calls."""

FIND_FOLLOWED = f"""
SELECT id, account_id FROM sequences WHERE follows_below IS NOT NULL ORDER BY random() LIMIT {AT_ONCE}
"""

_PART = """
chosen AS MATERIALIZED (
  SELECT id FROM sequence_enrollments WHERE sequence_id = :sequence_id AND status = 'active' AND id < :below
  ORDER BY id DESC LIMIT :batch
), part AS (
  SELECT id, steps_version, position FROM sequence_enrollments
  WHERE id = ANY(ARRAY(SELECT id FROM chosen)) AND status = 'active' ORDER BY id FOR UPDATE
)
"""
_REST = "SELECT count(*) AS found, min(id) AS last FROM chosen"

# The wait that is under way stays. An enrollment whose next step is gone finishes its own version.
MOVE = text(f"""
WITH {_PART}, moved AS (
  SELECT part.id, present.position FROM part
  JOIN sequence_steps old ON old.sequence_id = :sequence_id AND old.version = part.steps_version
    AND old.position = part.position
  JOIN sequence_steps present ON present.sequence_id = :sequence_id AND present.version = :version
    AND present.key = old.key
  WHERE part.steps_version < :version
), written AS (
  UPDATE sequence_enrollments e SET steps_version = :version, position = moved.position FROM moved
  WHERE e.id = moved.id
)
{_REST}
""")
END = text(f"""
WITH {_PART}, written AS (
  UPDATE sequence_enrollments e SET status = 'exited', exit_reason = '{ARCHIVED}', next_send_at = NULL,
    claimed_until = NULL, ended_at = :now
  FROM part WHERE e.id = part.id
)
{_REST}
""")


async def begin(unit: UnitOfWork, sequence: Sequence, version: int | None) -> None:
    """Let the enrollments of a locked sequence move to a version, or end: a part now, the others in the background."""
    sequence.moves_to, sequence.follows_below = version, ABOVE_ALL
    await _move_part(unit, sequence)


async def move_next(database: Database, clock: Clock, notify: Notify) -> bool:
    """Let the next parts of some sequences follow, so that none waits for another; return whether more may have to."""
    rows = await database.pool.fetch(FIND_FOLLOWED)
    for row in rows:
        async with open_unit(database.sessions, Actor(row["account_id"], frozenset()), clock, notify) as unit:
            waiting = select(Sequence).where(Sequence.id == row["id"], Sequence.follows_below.is_not(None))
            sequence = await unit.one(waiting.with_for_update(key_share=True))
            if sequence is not None:
                await _move_part(unit, sequence)
    return bool(rows)


async def _move_part(unit: UnitOfWork, sequence: Sequence) -> None:
    """Let the next part follow, from the newest on, so that later enrollments have no part in it."""
    given = {"sequence_id": sequence.id, "below": sequence.follows_below, "batch": BATCH}
    if sequence.moves_to is None:
        part = (await unit.execute(END, {**given, "now": unit.clock.now()})).one()
    else:
        part = (await unit.execute(MOVE, {**given, "version": sequence.moves_to})).one()
    sequence.follows_below = part.last if part.found == BATCH else None
    await unit.save(sequence)
    if sequence.follows_below is not None:
        unit.notify(TOPIC)
