"""SQL fragments on AI agents for the statements of other areas."""

from app.domain.numbers import sql as numbers

_SCOPE = "({agent}.number_ids = '{{}}', {agent}.segment_id IS NULL, {agent}.id)"
"""The place of an agent among those of an account: the narrowest scope is the first."""


def has_answering(account_id: str, number: str) -> str:
    """Return the condition that texts to a number of an account have an active agent whose drafts are sent.

    Every contact counts as one of an agent's segment. An agent with a wider scope than that of one without a segment,
    which has all contacts, is never asked.
    """
    g, narrower = (_SCOPE.format(agent=agent) for agent in ("g", "o"))
    before = f"{_takes('o', account_id, number)} AND o.segment_id IS NULL AND {narrower} < {g}"
    return f"""EXISTS (SELECT FROM ai_agents g WHERE {_takes("g", account_id, number)} AND g.mode = 'auto'
    AND NOT EXISTS (SELECT FROM ai_agents o WHERE {before}))"""


def _takes(agent: str, account_id: str, number: str) -> str:
    """Return the condition that an agent is active, and has a number in its scope."""
    is_in_scope = f"{numbers.find_id(number, account_id)} = ANY({agent}.number_ids)"
    return (
        f"{agent}.account_id = {account_id} AND {agent}.status = 'active'"
        f" AND ({agent}.number_ids = '{{}}' OR {is_in_scope})"
    )
