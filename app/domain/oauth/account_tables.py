"""Tables of the area that the deletion of an account empties."""

from app.domain.kernel.account_tables import PHYSICAL, DeletedTable

DELETED = (
    DeletedTable("oauth_codes", parent="oauth_grants", key="grant_id", row=PHYSICAL),
    DeletedTable("oauth_refresh_tokens", parent="oauth_grants", key="grant_id", row=PHYSICAL),
)
