"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


COUNT_CONTACTS = """
CREATE FUNCTION count_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO contact_totals (account_id, total)
      SELECT account_id, count(*) FROM changed GROUP BY account_id ORDER BY account_id
      ON CONFLICT (account_id) DO UPDATE SET total = contact_totals.total + excluded.total;
  ELSE
    UPDATE contact_totals t SET total = t.total - c.lost
      FROM (SELECT account_id, count(*) AS lost FROM changed GROUP BY account_id) c WHERE t.account_id = c.account_id;
  END IF;
  RETURN NULL;
END $$
"""


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    op.execute("CREATE EXTENSION IF NOT EXISTS btree_gin")
    op.create_table(
        "accounts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("company_name", sa.Text(), nullable=False),
        sa.Column("account_type", sa.Text(), server_default="prepaid", nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("balance", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rate", sa.Numeric(precision=10, scale=4), nullable=False),
        sa.Column("region", sa.Text(), server_default="US", nullable=False),
        sa.Column("support_contact", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("balance >= 0", name=op.f("ck_accounts_balance_not_negative")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
    )
    op.create_table(
        "erased_texts",
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("provider_message_id", sa.Text(), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("carrier", "provider_message_id", name=op.f("pk_erased_texts")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_account_id_name", "events", ["account_id", "name", "id"], unique=False)
    op.create_index("ix_events_contact_id", "events", ["contact_id"], unique=False)
    op.create_index(
        "ix_events_undispatched", "events", ["id"], unique=False, postgresql_where=sa.text("dispatched_at IS NULL")
    )
    op.create_table(
        "receipts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("provider_message_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("raw_status", sa.Text(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("carrier_error", sa.Text(), nullable=False),
        sa.Column("part", sa.BigInteger(), nullable=False),
        sa.Column("contradicts", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receipts")),
        sa.UniqueConstraint(
            "carrier",
            "provider_message_id",
            "raw_status",
            "carrier_error",
            "part",
            name=op.f("uq_receipts_carrier_provider_message_id_raw_status_carrier_error_part"),
        ),
    )
    op.create_index("ix_receipts_message_id", "receipts", ["message_id"], unique=False)
    op.create_index(
        "ix_receipts_parked", "receipts", ["received_at"], unique=False, postgresql_where=sa.text("message_id IS NULL")
    )
    op.create_table(
        "sandbox_callbacks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("reference", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sandbox_callbacks")),
    )
    op.create_index(
        "ix_sandbox_callbacks_due",
        "sandbox_callbacks",
        ["due_at", "id"],
        unique=False,
        postgresql_where="done_at IS NULL",
    )
    op.create_table(
        "sandbox_messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("reference", sa.BigInteger(), nullable=False),
        sa.Column("provider_message_id", sa.Text(), nullable=False),
        sa.Column("from_number", sa.Text(), nullable=False),
        sa.Column("to_number", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sandbox_messages")),
        sa.UniqueConstraint("reference", name=op.f("uq_sandbox_messages_reference")),
    )
    op.create_table(
        "unmatched_callbacks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unmatched_callbacks")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("last_four", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("made_by_key_id", sa.BigInteger(), nullable=True),
        sa.Column("made_by_grant_id", sa.BigInteger(), nullable=True),
        sa.Column("made_by_user_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("successor_id", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_api_keys_account_id_accounts")),
        sa.ForeignKeyConstraint(["made_by_key_id"], ["api_keys.id"], name=op.f("fk_api_keys_made_by_key_id_api_keys")),
        sa.ForeignKeyConstraint(["successor_id"], ["api_keys.id"], name=op.f("fk_api_keys_successor_id_api_keys")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_keys_hash")),
    )
    op.create_index(op.f("ix_api_keys_account_id"), "api_keys", ["account_id"], unique=False)
    op.create_index(op.f("ix_api_keys_made_by_grant_id"), "api_keys", ["made_by_grant_id"], unique=False)
    op.create_index(op.f("ix_api_keys_made_by_key_id"), "api_keys", ["made_by_key_id"], unique=False)
    op.create_table(
        "consents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_consents_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consents")),
    )
    op.create_index("ix_consents_account_id_phone", "consents", ["account_id", "phone", "id"], unique=False)
    op.create_table(
        "contact_totals",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_contact_totals_account_id_accounts")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_contact_totals")),
    )
    op.create_table(
        "contacts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("first_name", sa.Text(), server_default="", nullable=False),
        sa.Column("last_name", sa.Text(), server_default="", nullable=False),
        sa.Column("email", sa.Text(), server_default="", nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("pipeline_stage", sa.Text(), server_default="new_lead", nullable=False),
        sa.Column("source", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("dnd_sms", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("replies", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "score",
            sa.BigInteger(),
            sa.Computed(
                "\nCASE WHEN status = 'opted_out' THEN 0 ELSE\nCASE pipeline_stage WHEN 'new_lead' THEN 10 WHEN 'contacted' THEN 20 WHEN 'qualified' THEN 40\n  WHEN 'proposal' THEN 60 WHEN 'won' THEN 70 ELSE 0 END\n+ CASE WHEN first_name <> '' OR last_name <> '' THEN 5 ELSE 0 END\n+ CASE WHEN email <> '' THEN 5 ELSE 0 END\n+ LEAST(replies, 5) * 4\nEND\n",
                persisted=True,
            ),
            nullable=False,
        ),
        sa.Column(
            "searched",
            sa.Text(),
            sa.Computed("lower(first_name || ' ' || last_name || ' ' || phone || ' ' || email)", persisted=True),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "pipeline_stage IN ('new_lead','contacted','qualified','proposal','won','lost')",
            name=op.f("ck_contacts_stage"),
        ),
        sa.CheckConstraint("status IN ('active','opted_out')", name=op.f("ck_contacts_status")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_contacts_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contacts")),
        sa.UniqueConstraint("account_id", "phone", name=op.f("uq_contacts_account_id_phone")),
    )
    op.create_index(
        "ix_contacts_date_added",
        "contacts",
        ["account_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_contacts_held", "contacts", ["held_until"], unique=False, postgresql_where=sa.text("held_until IS NOT NULL")
    )
    op.create_index(
        "ix_contacts_name",
        "contacts",
        ["account_id", sa.literal_column("lower(first_name)"), sa.literal_column("lower(last_name)"), "id"],
        unique=False,
    )
    op.create_index(
        "ix_contacts_score",
        "contacts",
        ["account_id", sa.literal_column("score DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_contacts_searched",
        "contacts",
        ["account_id", "searched"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"searched": "gin_trgm_ops"},
    )
    op.create_index("ix_contacts_tags", "contacts", ["account_id", "tags"], unique=False, postgresql_using="gin")
    op.create_table(
        "idempotency_keys",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_idempotency_keys_account_id_accounts")),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "ledger_entries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("balance_after", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_ledger_entries_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_entries")),
    )
    op.create_index(
        "ix_ledger_entries_account_id", "ledger_entries", ["account_id", sa.literal_column("id DESC")], unique=False
    )
    op.create_index(
        "ix_ledger_entries_texts",
        "ledger_entries",
        ["account_id", "created_at"],
        unique=False,
        postgresql_include=["amount"],
        postgresql_where=sa.text("message_id IS NOT NULL"),
    )
    op.create_index(
        "uq_ledger_entries_message_id",
        "ledger_entries",
        ["message_id", "type"],
        unique=True,
        postgresql_where=sa.text("message_id IS NOT NULL"),
    )
    op.create_table(
        "phone_numbers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("phone_number", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("is_primary", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_phone_numbers_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phone_numbers")),
    )
    op.create_index(op.f("ix_phone_numbers_account_id"), "phone_numbers", ["account_id"], unique=False)
    op.create_index(
        "uq_phone_numbers_active",
        "phone_numbers",
        ["phone_number"],
        unique=True,
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        "uq_phone_numbers_primary", "phone_numbers", ["account_id"], unique=True, postgresql_where=sa.text("is_primary")
    )
    op.create_table(
        "suppressions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("scope_type", sa.Text(), server_default="account", nullable=False),
        sa.Column("scope_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("keyword", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_suppressions_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppressions")),
        sa.UniqueConstraint(
            "account_id",
            "phone",
            "scope_type",
            "scope_id",
            name=op.f("uq_suppressions_account_id_phone_scope_type_scope_id"),
        ),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("first_name", sa.Text(), server_default="", nullable=False),
        sa.Column("last_name", sa.Text(), server_default="", nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_users_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )
    op.create_index(op.f("ix_users_account_id"), "users", ["account_id"], unique=False)
    op.create_foreign_key(op.f("fk_api_keys_made_by_user_id_users"), "api_keys", "users", ["made_by_user_id"], ["id"])
    op.create_index("uq_users_email", "users", [sa.literal_column("lower(email)")], unique=True)
    op.create_table(
        "conversations",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), server_default="open", nullable=False),
        sa.Column("assignee_id", sa.BigInteger(), nullable=True),
        sa.Column("possible_opt_out", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("wrong_number", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("unread_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_message_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_conversations_account_id_accounts")),
        sa.ForeignKeyConstraint(["assignee_id"], ["users.id"], name=op.f("fk_conversations_assignee_id_users")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_conversations_contact_id_contacts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("contact_id", name=op.f("uq_conversations_contact_id")),
    )
    op.create_index(
        "ix_conversations_recent",
        "conversations",
        ["account_id", sa.literal_column("last_message_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        sa.Column("conversation_id", sa.BigInteger(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("from_number", sa.Text(), nullable=False),
        sa.Column("to_number", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), server_default="transactional", nullable=False),
        sa.Column("segments", sa.BigInteger(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("credits", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cost", sa.Numeric(precision=14, scale=4), server_default="0", nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("provider_message_id", sa.Text(), nullable=True),
        sa.Column("carrier_status", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("carrier_error", sa.Text(), nullable=True),
        sa.Column("unconfirmed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('pending','sent','delivered','failed','received')", name=op.f("ck_messages_status")
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_messages_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_messages_contact_id_contacts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_messages_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
    )
    op.create_index(
        "ix_messages_claimed",
        "messages",
        ["claimed_until"],
        unique=False,
        postgresql_where=sa.text("status = 'pending' AND claimed_until IS NOT NULL"),
    )
    op.create_index("ix_messages_contact_id", "messages", ["contact_id"], unique=False)
    op.create_index("ix_messages_conversation_id", "messages", ["conversation_id", "id"], unique=False)
    op.create_index(
        "ix_messages_due",
        "messages",
        ["due_at", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'pending' AND claimed_until IS NULL"),
    )
    op.create_index("ix_messages_log", "messages", ["account_id", sa.literal_column("id DESC")], unique=False)
    op.create_index(
        "uq_messages_provider_message_id",
        "messages",
        ["carrier", "provider_message_id", "direction"],
        unique=True,
        postgresql_where=sa.text("provider_message_id IS NOT NULL"),
    )
    op.execute(COUNT_CONTACTS)
    for operation, rows in (("INSERT", "NEW"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER count_contacts_{operation.lower()} AFTER {operation} ON contacts "
            f"REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_contacts()"
        )
