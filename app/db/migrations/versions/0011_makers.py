"""One table of the credentials that keys and webhooks depend on; deliveries named as their subscription names them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TOPICS = {
    "message_sent": "message.sent",
    "message_delivered": "message.delivered",
    "message_failed": "message.failed",
    "new_message": "message.inbound",
    "new_contact": "contact.created",
    "new_opt_out": "contact.opted_out",
}


def upgrade() -> None:
    op.create_table(
        "makers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.BigInteger(), nullable=True),
        sa.Column("maker_key_id", sa.BigInteger(), nullable=True),
        sa.Column("maker_grant_id", sa.BigInteger(), nullable=True),
        sa.Column("maker_user_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("num_nonnulls(maker_key_id, maker_grant_id, maker_user_id) = 1", name=op.f("ck_makers_one")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_makers_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name=op.f("fk_makers_key_id_api_keys"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["maker_key_id"], ["api_keys.id"], name=op.f("fk_makers_maker_key_id_api_keys")),
        sa.ForeignKeyConstraint(["maker_user_id"], ["users.id"], name=op.f("fk_makers_maker_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_makers")),
    )
    for column in ("key_id", "maker_key_id", "maker_grant_id", "maker_user_id"):
        op.create_index(op.f(f"ix_makers_{column}"), "makers", [column])
    op.create_index(
        op.f("ix_makers_account_id"), "makers", ["account_id"], postgresql_where=sa.text("key_id IS NOT NULL")
    )
    op.create_index(op.f("ix_api_keys_successor_id"), "api_keys", ["successor_id"])
    for column in ("key_id", "grant_id", "user_id"):
        op.execute(
            f"INSERT INTO makers (account_id, key_id, maker_{column})"
            f" SELECT account_id, id, made_by_{column} FROM api_keys WHERE made_by_{column} IS NOT NULL"
        )
    _bind_subscriptions()
    _rename_deliveries()
    for column in ("key_id", "grant_id", "user_id"):
        op.drop_column("api_keys", f"made_by_{column}")


def _bind_subscriptions() -> None:
    op.add_column("webhook_subscriptions", sa.Column("maker_id", sa.BigInteger(), nullable=True))
    op.execute(
        """
        WITH made AS (
          SELECT s.id, s.account_id, k.id AS key_id, CASE WHEN k.id IS NULL THEN s.made_by_grant_id END AS grant_id,
            nextval(pg_get_serial_sequence('makers', 'id')) AS maker_id
          FROM webhook_subscriptions s LEFT JOIN api_keys k ON k.id = s.made_by_key_id
          WHERE k.id IS NOT NULL OR s.made_by_grant_id IS NOT NULL
        ), bound AS (
          UPDATE webhook_subscriptions s SET maker_id = made.maker_id FROM made WHERE s.id = made.id
        )
        INSERT INTO makers (id, account_id, maker_key_id, maker_grant_id)
        SELECT maker_id, account_id, key_id, grant_id FROM made
        """
    )
    op.create_foreign_key(
        op.f("fk_webhook_subscriptions_maker_id_makers"), "webhook_subscriptions", "makers", ["maker_id"], ["id"]
    )
    op.create_index(op.f("ix_webhook_subscriptions_maker_id"), "webhook_subscriptions", ["maker_id"])
    op.drop_column("webhook_subscriptions", "made_by_key_id")
    op.drop_column("webhook_subscriptions", "made_by_grant_id")


def _rename_deliveries() -> None:
    for event, topic in TOPICS.items():
        op.execute(
            f"UPDATE webhook_deliveries d SET event = '{topic}' FROM webhook_subscriptions s"
            f" WHERE s.id = d.subscription_id AND s.kind = 'endpoint' AND d.event = '{event}'"
        )
