"""Questions that the first start asks about the first account."""

import re
import sys
from collections.abc import Callable
from typing import Any

import typer

from app.settings import EMAIL, Settings

QUESTIONS = {
    "company_name": "Company name, shown to recipients (Enter to set it later)",
    "owner_email": "E-mail address of the owner",
    "owner_first_name": "First name of the owner (Enter to leave it out)",
    "owner_last_name": "Last name of the owner (Enter to leave it out)",
}
"""The settings of the first account, and their prompts."""


def ask_profile(settings: Settings, is_first_start: Callable[[], bool]) -> Settings:
    """Return the settings, completed by prompts for those that are not set.

    Without a terminal there are no prompts, and `is_first_start` is not called.
    """
    asked = [name for name in QUESTIONS if name not in settings.model_fields_set]
    if not asked or not _has_terminal() or not is_first_start():
        return settings
    typed: dict[str, Any] = {name: _ask(name, getattr(settings, name) or "") for name in asked}
    return settings.model_copy(update=typed)


def _has_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def check_email(text: str | None) -> str | None:
    """Return an e-mail address without spaces around it; raise `BadParameter` for another text."""
    if text is not None and not re.match(EMAIL, text.strip()):
        raise typer.BadParameter(f"{text!r} is not an e-mail address, such as ann@example.com.")
    return text.strip() if text else text


def _ask(name: str, default: str) -> str:
    check = check_email if name == "owner_email" else str.strip
    return typer.prompt(QUESTIONS[name], default=default, show_default=bool(default), value_proc=check)
