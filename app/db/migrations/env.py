"""Alembic's entry: migrations run on the connection that they are given."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
)
with context.begin_transaction():
    context.run_migrations()
