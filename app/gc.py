"""Python's collector of cycles: off while a process loads, patient once it serves."""

import gc


def pause() -> None:
    """Collect nothing until `settle`: what loading makes stays, and to look through it costs a third of a start."""
    gc.disable()


def settle() -> None:
    """Collect again, but never look at what start-up made: that is most of the slow tail of requests."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    gc.enable()
