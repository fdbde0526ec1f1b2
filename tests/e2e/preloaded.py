"""Load the service; processes that are forked from this one then start at once."""

from importlib import import_module

from app import gc

gc.pause()
for name in ("app.cli", "app.cli.setup", "app.main", "app.worker", "tests.e2e.commands"):
    import_module(name)
