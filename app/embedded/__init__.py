"""PostgreSQL and Valkey of its own, for one machine, and the processes of the service."""
