"""Garbage collector settings: disabled while a process loads, tuned while it serves, left out when it ends."""

import gc


def pause() -> None:
    """Disable the collector until `settle`: it takes a third of the start-up time, and frees nothing."""
    gc.disable()


def keep() -> None:
    """Exclude the present objects from collection, such as those of a process that ends: it frees them anyway."""
    gc.freeze()


def settle() -> None:
    """Enable the collector without the objects created at start, whose scans cause most slow requests."""
    keep()
    gc.set_threshold(20_000, 50, 100)
    gc.enable()
