"""SQL fragments on AI agents for the statements of other areas."""


def has_answering(account_id: str) -> str:
    """Return the condition that an account has an active agent whose drafts are sent."""
    answering = f"g.account_id = {account_id} AND g.status = 'active' AND g.mode = 'auto'"
    return f"EXISTS (SELECT FROM ai_agents g WHERE {answering})"
