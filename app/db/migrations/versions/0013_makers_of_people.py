"""Invitations, users and OAuth clients name the credential that they were made with."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NAMED_BY = (("invitations", "maker_id"), ("oauth_clients", "maker_id"), ("oauth_clients", "secret_maker_id"))


def upgrade() -> None:
    op.add_column("makers", sa.Column("user_id", sa.BigInteger(), nullable=True))
    op.add_column(
        "makers", sa.Column("is_of_role", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.create_foreign_key(
        op.f("fk_makers_user_id_users"), "makers", "users", ["user_id"], ["id"], ondelete="CASCADE"
    )
    op.create_index(op.f("ix_makers_user_id"), "makers", ["user_id"])
    op.create_index("ix_makers_of_users", "makers", ["account_id"], postgresql_where=sa.text("user_id IS NOT NULL"))
    for table, column in NAMED_BY:
        op.add_column(table, sa.Column(column, sa.BigInteger(), nullable=True))
        op.create_foreign_key(op.f(f"fk_{table}_{column}_makers"), table, "makers", [column], ["id"])
    _bind("invitations", "maker_id", "(SELECT a.actor FROM audit_entries a WHERE a.account_id = made.account_id"
          " AND a.action = 'user_invited' AND a.details ->> 'invitation_id' = made.id::text LIMIT 1)",
          "made.accepted_at IS NULL AND made.withdrawn_at IS NULL")
    _bind("oauth_clients", "maker_id", "made.created_by", "made.account_id IS NOT NULL")
    op.add_column("oauth_clients", sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "invitations",
        sa.Column("mail_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.execute("UPDATE invitations SET mail_at = created_at")
    op.drop_index("ix_invitations_email", "invitations")
    op.create_index("ix_invitations_email", "invitations", ["email", "mail_at"])


def _bind(table: str, column: str, label: str, condition: str) -> None:
    """Make a row of `makers` for what the label of its maker, such as key:7 or user:1, says.

    What was made with a credential that has ended since is left without a maker: it has worked until now.
    """
    op.execute(
        f"""
        WITH labelled AS (
          SELECT made.id, made.account_id, {label} AS label FROM {table} made WHERE {condition}
        ), known AS (
          SELECT labelled.id, labelled.account_id, k.id AS key_id, u.id AS user_id,
            nextval(pg_get_serial_sequence('makers', 'id')) AS maker_id
          FROM labelled
          LEFT JOIN api_keys k ON k.account_id = labelled.account_id AND labelled.label = 'key:' || k.id
            AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
          LEFT JOIN users u ON u.account_id = labelled.account_id AND labelled.label = 'user:' || u.id
            AND u.removed_at IS NULL
          WHERE k.id IS NOT NULL OR u.id IS NOT NULL
        ), bound AS (
          UPDATE {table} SET {column} = known.maker_id FROM known WHERE {table}.id = known.id
        )
        INSERT INTO makers (id, account_id, maker_key_id, maker_user_id)
        SELECT maker_id, account_id, key_id, user_id FROM known
        """
    )
