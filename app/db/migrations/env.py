"""Alembic's entry: migrations run on the connection that they are given, each in a transaction of its own."""

from typing import Any

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo


def state_oldest_code(*, ctx: MigrationContext, step: MigrationInfo, **_: Any) -> None:
    """Write the oldest code that runs on the schema, in the transaction of the migration: see `app.db.schema`."""
    if step.is_upgrade and step.up_revision and ctx.connection:
        ctx.connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{step.up_revision.module.oldest_code}'")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    transaction_per_migration=True,
    on_version_apply=state_oldest_code,
)
with context.begin_transaction():
    context.run_migrations()
