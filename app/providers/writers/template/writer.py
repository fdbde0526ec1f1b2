"""The template writer."""

from typing import ClassVar

from app.domain.agents.writer import Brief


class TemplateWriter:
    """Writes texts deterministically from a brief, in one segment if the facts fit."""

    name: ClassVar[str] = "template"

    async def write(self, brief: Brief) -> list[str]:
        """Return `brief.count` candidates, the best first."""
        from app.providers.writers.template.candidates import candidates  # its patterns take 0.1 s to compile

        return candidates(brief)
