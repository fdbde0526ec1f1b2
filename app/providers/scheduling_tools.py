"""The scheduling tools, each with its adapter."""

from collections.abc import Mapping

from app.domain.integrations.scheduling import SchedulingTool
from app.providers.scheduling.calcom import CalCom
from app.providers.scheduling.calendly import Calendly

TOOLS: Mapping[str, SchedulingTool] = {each.name: each for each in (Calendly(), CalCom())}
"""One entry for each tool; a new one is added here."""
