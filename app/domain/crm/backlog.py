"""Age of the oldest work in each queue of the area, in seconds at `$1`, without the work of paused integrations."""

from app.domain.integrations import sql as integrations

_OF_ACTIVE = f" WHERE w.status = 'waiting' AND {integrations.is_active('w.integration_id')}"

OLDEST = {
    "crm": f"SELECT extract(epoch FROM $1 - min(w.due_at)) FROM crm_pushes w{_OF_ACTIVE}",
    "crm_sends": f"SELECT extract(epoch FROM $1 - min(w.due_at)) FROM crm_sends w{_OF_ACTIVE}",
}
