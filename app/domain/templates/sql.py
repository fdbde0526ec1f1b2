"""SQL fragments on templates for the statements of other areas."""


def fallbacks_of(account_id: str) -> str:
    """Return the fallbacks of an account for placeholders, as an object of JSON by their names."""
    own = f"SELECT jsonb_object_agg(f.name, f.fallback) FROM placeholder_fallbacks f WHERE f.account_id = {account_id}"
    return f"coalesce(({own}), '{{}}')"
