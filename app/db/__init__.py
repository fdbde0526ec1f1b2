"""The database: connections, the declarative base, migrations."""
