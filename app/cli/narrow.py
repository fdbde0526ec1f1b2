"""Help in narrow terminals: long names of options go on in the next line, where Typer would cut them."""

from rich.highlighter import RegexHighlighter
from rich.text import Text
from typer import rich_utils


class FoldedNames(RegexHighlighter):
    """Colors names that go on in the next line."""

    def highlight(self, text: Text) -> None:
        """Color a text, and let it go on in the next line."""
        super().highlight(text)
        text.overflow = "fold"


class Names(FoldedNames, rich_utils.OptionHighlighter):
    """Colors the names of options."""


class NegativeNames(FoldedNames, rich_utils.NegativeOptionHighlighter):
    """Colors the negative names of options."""


def fold() -> None:
    """Let names of options go on in the next line from now on."""
    rich_utils.highlighter, rich_utils.negative_highlighter = Names(), NegativeNames()
