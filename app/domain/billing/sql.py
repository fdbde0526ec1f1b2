"""SQL fragments on the ledger for the statements of other areas."""


def debit_messages(rows: str) -> str:
    """Return the insert of debits from rows of `account_id, message_id, credits, balance_after, actor, created_at`."""
    return f"""
  INSERT INTO ledger_entries (account_id, type, amount, balance_after, message_id, description, actor, created_at)
  SELECT account_id, 'debit', -credits, balance_after, message_id, 'Message ' || message_id, actor, created_at
  FROM ({rows}) AS sent"""


def refund_messages(rows: str) -> str:
    """Return SQL that enters refunds from rows of `account_id, message_id, credits, balance_after, reason, actor`."""
    return f"""
  INSERT INTO ledger_entries (account_id, type, amount, balance_after, message_id, description, actor)
  SELECT account_id, 'refund', credits, balance_after, message_id, 'Message failed: ' || reason, actor
  FROM ({rows}) AS failed"""
