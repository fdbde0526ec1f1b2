"""Metadata of every table of the service."""

from app.bootstrap import jobs as _jobs  # noqa: F401 - METADATA lacks the tables of the areas otherwise
from app.db.base import Base
from app.domain.agents import models as _agent_tables  # noqa: F401
from app.domain.automations import models as _automation_tables  # noqa: F401
from app.domain.campaigns import models as _campaign_tables  # noqa: F401
from app.domain.deliverability import models as _deliverability_tables  # noqa: F401
from app.domain.grants import models as _grant_tables  # noqa: F401
from app.domain.live import models as _live_tables  # noqa: F401
from app.domain.numbers import models as _number_tables  # noqa: F401
from app.domain.payments import models as _payment_tables  # noqa: F401
from app.domain.segments import models as _segment_tables  # noqa: F401
from app.domain.sequences import models as _sequence_tables  # noqa: F401
from app.domain.templates import models as _template_tables  # noqa: F401
from app.domain.writing import models as _writing_tables  # noqa: F401
from app.providers.carriers.sandbox import models as _sandbox_tables  # noqa: F401
from app.providers.carriers.smpp import models as _smpp_tables  # noqa: F401

METADATA = Base.metadata
"""Every table: importing an area registers its tables."""
