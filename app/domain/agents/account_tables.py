"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

NAMES = ("ai_agent_runs", "ai_passages", "ai_knowledge", "ai_agents")

DELETED = tuple(DeletedTable(name, BY_ID) for name in NAMES)

EXPORTED = tuple(ExportedTable(name, order=BY_ID) for name in ("ai_agents", "ai_knowledge", "ai_agent_runs"))
