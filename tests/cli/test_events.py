"""Commands for reactions to events that failed."""

import json

from tests.cli.conftest import Ask, Run

FAILED = """
WITH event AS (
  INSERT INTO events (account_id, name, payload) VALUES (1, 'new_contact', '{}'), (1, 'new_contact', '{}') RETURNING id
)
INSERT INTO failed_reactions (account_id, event_id, reaction, attempts, error, failed_at)
SELECT 1, id, 'webhooks', 7, 'LookupError()', '2030-01-31T09:30:00Z' FROM event RETURNING event_id
"""
WAITING = "SELECT event_id FROM failed_reactions WHERE next_attempt_at IS NOT NULL ORDER BY event_id"


def test_reactions_that_were_set_aside_are_listed_and_tried_again(messaging: Run, ask: Ask) -> None:
    first, second = (row[0] for row in ask(FAILED))

    listed = json.loads(messaging("event", "failures", "--json").output)
    one = messaging("event", "retry", first)
    retried = ask(WAITING)
    rest = messaging("event", "retry")

    assert [each["event_id"] for each in listed] == [second, first]
    assert listed[0] == {
        "event_id": second,
        "account_id": 1,
        "event": "new_contact",
        "reaction": "webhooks",
        "attempts": 7,
        "error": "LookupError()",
        "failed_at": "2030-01-31T09:30:00.000Z",
        "next_attempt_at": None,
    }
    assert (one.output, rest.output) == ("Tried again: 1.\n", "Tried again: 1.\n")
    assert (retried, ask(WAITING)) == ([(first,)], [(first,), (second,)])
