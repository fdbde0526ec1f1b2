"""Loads the service, so that processes forked from this one start quickly."""

from importlib import import_module

from app import gc

gc.pause()
for name in ("app.cli", "app.cli.setup", "app.main", "app.worker", "tests.e2e.commands"):
    import_module(name)
