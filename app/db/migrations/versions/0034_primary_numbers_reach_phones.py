"""The primary number of an account with numbers at carriers is one of these, not that of the sandbox."""

from alembic import op

from app.db.revisions import limit_locks

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

REACHES_PHONES = "EXISTS (SELECT FROM carrier_connections k WHERE k.key = p.carrier AND k.kind <> 'sandbox')"


def upgrade() -> None:
    limit_locks()
    op.execute(f"""
        CREATE TEMPORARY TABLE new_primaries ON COMMIT DROP AS
        SELECT DISTINCT ON (p.account_id) p.id, p.account_id FROM phone_numbers p
        WHERE p.status = 'active' AND {REACHES_PHONES} AND NOT EXISTS (
          SELECT FROM phone_numbers o JOIN carrier_connections k ON k.key = o.carrier AND k.kind <> 'sandbox'
          WHERE o.account_id = p.account_id AND o.is_primary)
        ORDER BY p.account_id, p.id
    """)
    op.execute("""
        UPDATE phone_numbers p SET is_primary = false FROM new_primaries n
        WHERE p.account_id = n.account_id AND p.is_primary
    """)
    op.execute("UPDATE phone_numbers p SET is_primary = true FROM new_primaries n WHERE p.id = n.id")


def downgrade() -> None:
    limit_locks()  # the primary numbers stay: earlier code sends from them as well
