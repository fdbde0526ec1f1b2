"""Alembic's entry: migrations run on the connection that they are given, each in a transaction of its own."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
