"""Divides the room of a window between accounts and carriers: the part that both claims of `outgoing` share."""

from app.domain.accounts import sql as accounts
from app.domain.messages.window import Room

_DIVIDE = f"""
of_account AS (
  SELECT w.*, a.weight, coalesce(calls, 0) AS held,
    greatest(1, $8 * a.weight / (a.weight + 3)) AS part,
    row_number() OVER (PARTITION BY w.account_id ORDER BY lane, due_at, message_id) AS place
  FROM waiting w {accounts.join("w.account_id")}
  LEFT JOIN unnest($4::bigint[], $5::bigint[]) AS held(account_id, calls) ON held.account_id = w.account_id
), account_over AS (
  SELECT *, (place + weight - 1) / weight AS turn, place + held > part AS is_over,
    min(account_id) FILTER (WHERE place + held > part) OVER () <>
    max(account_id) FILTER (WHERE place + held > part) OVER () AS others_wait
  FROM of_account
), of_carrier AS (
  SELECT a.*, coalesce(calls, 0) AS carrier_held, row_number() OVER placed AS carrier_turn,
    sum(segments) OVER placed - segments AS carrier_parts_before
  FROM account_over a LEFT JOIN unnest($6::text[], $7::bigint[]) AS held(carrier, calls) USING (carrier)
  WHERE NOT (is_over AND others_wait) AND place <= ($3 - a.held + 1) / 2
  WINDOW placed AS (PARTITION BY a.carrier ORDER BY a.is_over, lane, turn, due_at, message_id)
), carrier_over AS (
  SELECT *, carrier_turn + carrier_held > greatest(1, $8 / 4) AS is_carrier_over,
    min(carrier) FILTER (WHERE carrier_turn + carrier_held > greatest(1, $8 / 4)) OVER () <>
    max(carrier) FILTER (WHERE carrier_turn + carrier_held > greatest(1, $8 / 4)) OVER () AS other_carriers_wait
  FROM of_carrier
), chosen AS (
  SELECT message_id FROM carrier_over
  LEFT JOIN unnest($9::text[], $10::float8[]) AS pace(carrier, carrier_tokens) USING (carrier)
  WHERE NOT (is_carrier_over AND other_carriers_wait) AND carrier_turn <= (3 * $3 - carrier_held + 3) / 4
    AND carrier_parts_before <= coalesce(carrier_tokens, 'infinity')
  ORDER BY is_carrier_over, is_over, lane, turn, due_at, message_id LIMIT {{most}}
)"""


def divide(most: str) -> str:
    """Return CTEs that choose at most `most` texts to claim from the CTE `waiting`, whose rows are locked.

    Texts go lane by lane; the accounts of a lane take turns, in which each gets as many texts as its weight. `part` is
    the fair part of an account: its share beside three others of weight 1. Only an account, or a carrier, that is the
    only one with more texts than its fair part gets more than that part. `$3` is the room of the window, and the other
    parameters are those of `columns`, followed by the tokens of each carrier: `$9` and `$10`.
    """
    return _DIVIDE.format(most=most)


def columns(room: Room) -> tuple[int, list[int], list[int], list[str], list[int], int]:
    """Return the parameters `$3` to `$8`: the room, the calls of each account and of each carrier, and the size."""
    accounts, carriers = room.accounts, room.carriers
    held = list(accounts), list(accounts.values()), list(carriers), list(carriers.values())
    return room.free, *held, room.size
