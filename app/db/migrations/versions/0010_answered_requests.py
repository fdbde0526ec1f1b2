"""Authorization requests are sealed in the page: only that one was granted is stored."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(sa.text("DELETE FROM oauth_requests"))
    for column in ("client_id", "parameters", "created_at"):
        op.drop_column("oauth_requests", column)
