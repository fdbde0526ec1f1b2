"""SQL fragments on integrations, for the statements of other areas."""


def is_active(id: str) -> str:
    """Return the condition that the integration with an id is active."""
    return f"EXISTS (SELECT FROM integrations i WHERE i.id = {id} AND i.status = 'active')"


def number_of(id: str) -> str:
    """Return the id of the number from which the integration with an id sends, or null."""
    return f"(SELECT i.phone_number_id FROM integrations i WHERE i.id = {id})"


def join_kept(id: str) -> str:
    """Return the join with the integration `i` of a row, unless it was removed."""
    return f"JOIN integrations i ON i.id = {id} AND i.status <> 'removed'"
