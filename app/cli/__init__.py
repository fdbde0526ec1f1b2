"""The command line: `messaging …`."""

from app.cli.commands import main

__all__ = ["main"]
