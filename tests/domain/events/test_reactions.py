"""Reactions: what the areas offer, and what the worker runs."""

from importlib import import_module
from pkgutil import walk_packages

from app import domain
from app.bootstrap import REACTIONS


def test_the_dispatcher_is_given_the_reactions_of_every_area() -> None:
    modules = [import_module(found.name) for found in walk_packages(domain.__path__, "app.domain.")]

    offered = {reaction for module in modules for reaction in getattr(module, "REACTIONS", ())}

    assert offered == {*REACTIONS}
    assert len(offered) == len(REACTIONS)
