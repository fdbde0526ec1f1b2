"""Table of the area that the deletion of an account empties."""

from app.domain.kernel.account_tables import PHYSICAL, DeletedTable

DELETED = (DeletedTable("number_hours", ("number", "hour", "carrier", "region", "segments"), row=PHYSICAL),)
