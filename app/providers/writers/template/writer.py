"""A writer that needs no model."""

from typing import ClassVar

from app.domain.agents.writer import Brief


class TemplateWriter:
    """Writes the same texts for the same brief, every time, in one segment where the facts leave room for it."""

    name: ClassVar[str] = "template"

    async def write(self, brief: Brief) -> list[str]:
        """Return `brief.count` candidates, the best first."""
        from app.providers.writers.template.candidates import candidates  # its patterns take 0.1 s to compile

        return candidates(brief)
