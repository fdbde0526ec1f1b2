"""Table of the area that the deletion of an account empties."""

from app.domain.kernel.account_tables import PHYSICAL, DeletedTable

DELETED = (DeletedTable("live_updates", ("position",), row=PHYSICAL),)
