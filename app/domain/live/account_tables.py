"""Table of the area that the deletion of an account empties."""

from app.domain.kernel.account_tables import DeletedTable

DELETED = (DeletedTable("live_updates", ("position",)),)
