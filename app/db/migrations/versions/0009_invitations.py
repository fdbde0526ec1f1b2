"""Invitations of their own: an invited person is a user only once the invitation is accepted."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_invitations_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("hash", name=op.f("uq_invitations_hash")),
    )
    op.create_index("ix_invitations_account_id", "invitations", ["account_id", "created_at"], unique=False)
    op.create_index("ix_invitations_email", "invitations", ["email", "created_at"], unique=False)
    op.create_index(op.f("ix_invitations_expires_at"), "invitations", ["expires_at"], unique=False)
    op.alter_column("waiting_letters", "user_id", nullable=True)
    op.add_column("waiting_letters", sa.Column("invitation_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(
        op.f("fk_waiting_letters_invitation_id_invitations"),
        "waiting_letters",
        "invitations",
        ["invitation_id"],
        ["id"],
        ondelete="CASCADE",
    )
    op.create_index(op.f("ix_waiting_letters_invitation_id"), "waiting_letters", ["invitation_id"], unique=False)
    for statement in MOVE:
        op.execute(statement)
    op.drop_column("password_links", "purpose")


MOVE = (
    """
    INSERT INTO invitations (account_id, email, role, hash, created_at, expires_at)
    SELECT l.account_id, lower(u.email), u.role, l.hash, l.created_at, l.expires_at
    FROM password_links l JOIN users u ON u.id = l.user_id
    WHERE l.purpose = 'invitation' AND l.used_at IS NULL AND u.removed_at IS NULL
    """,
    """
    UPDATE waiting_letters w SET invitation_id = i.id, user_id = NULL, link_id = NULL
    FROM password_links l JOIN invitations i ON i.hash = l.hash WHERE w.link_id = l.id
    """,
    "DELETE FROM password_links WHERE purpose = 'invitation' AND used_at IS NULL",
    "UPDATE users SET removed_at = now() WHERE password_hash IS NULL AND removed_at IS NULL",
)
"""Invited people were users without a password: their links go on working as invitations, and the users are removed."""
