"""Payments, plans and customers of payment providers; balances below zero after refunds and disputes.

Code before this migration never takes a balance below zero, and the constraint is weaker than it was. To take it back,
no balance may be below zero.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_payments_account_id": "payments (account_id, id)",
    "ix_plan_subscriptions_account_id": "plan_subscriptions (account_id, id)",
}


def _text(name: str, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _number(name: str, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default=default, nullable=False)


def _time(name: str, *, nullable: bool = True) -> sa.Column[sa.DateTime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _created() -> sa.Column[sa.DateTime]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False)


def _of_account(name: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=f"fk_{name}_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
    )


def _replace_check(condition: str) -> None:
    name = "ck_accounts_balance_not_negative"
    op.execute(f"ALTER TABLE accounts DROP CONSTRAINT {name}")
    op.execute(f"ALTER TABLE accounts ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID")
    op.execute(f"ALTER TABLE accounts VALIDATE CONSTRAINT {name}")


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "payments",
        *_of_account("payments"),
        *map(_text, ("provider", "key", "status", "description", "currency")),
        *(_text(name, "") for name in ("provider_id", "url", "created_by")),
        *map(_number, ("credits", "amount")),
        *(_number(name, "0") for name in ("refunded", "disputed", "purchased", "reversed", "withheld")),
        _created(),
        _time("seen_at"),
        _time("paid_at"),
        sa.UniqueConstraint("provider", "key", name="uq_payments_provider_key"),
    )
    op.create_table(
        "plan_subscriptions",
        *_of_account("plan_subscriptions"),
        *map(_text, ("provider", "provider_id", "plan", "currency", "status")),
        *map(_number, ("credits", "amount")),
        sa.Column("is_ending", sa.Boolean(), server_default=sa.false(), nullable=False),
        _time("period_end"),
        _created(),
        _time("seen_at", nullable=False),
        sa.UniqueConstraint("provider", "provider_id", name="uq_plan_subscriptions_provider_provider_id"),
    )
    op.create_table(
        "payment_customers",
        *_of_account("payment_customers"),
        *map(_text, ("provider", "provider_id")),
        sa.UniqueConstraint("account_id", "provider", name="uq_payment_customers_account_id_provider"),
    )
    op.add_column("accounts", _number("overdraft", "0"))
    _replace_check("balance >= -overdraft")
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    _replace_check("balance >= 0")
    op.drop_column("accounts", "overdraft")
    for name in ("payment_customers", "plan_subscriptions", "payments"):
        op.drop_table(name)
