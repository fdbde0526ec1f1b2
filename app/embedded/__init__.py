"""Embedded PostgreSQL and Valkey for one machine, and the supervisor of the service's processes."""
