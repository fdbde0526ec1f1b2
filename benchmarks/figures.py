"""Results, their ratios, and the limits of the ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Series:
    """The results of one program by round."""

    name: str
    values: Sequence[float]

    def __str__(self) -> str:
        """Return the name and the median."""
        return f"{self.name} {median(self.values):,.4g}"


@dataclass(frozen=True, slots=True)
class Bar:
    """The minimum of a ratio, or with `is_most` its maximum."""

    limit: float
    is_most: bool = False

    def is_met(self, ratio: float) -> bool:
        """Return whether a ratio is within the limit."""
        return ratio <= self.limit if self.is_most else ratio >= self.limit

    def __str__(self) -> str:
        """Return the limit as shown in the table."""
        return f"{'<=' if self.is_most else '>='} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A series compared with another of the same rounds; without a `bar` it is for information only."""

    title: str
    unit: str
    measured: Series
    against: Series
    bar: Bar | None = None

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each round, because a disturbance slows both programs of a round."""
        return [one / other for one, other in zip(self.measured.values, self.against.values, strict=True)]

    @property
    def is_met(self) -> bool:
        """Return whether the median of the ratios is within the limit."""
        return self.bar is None or self.bar.is_met(median(self.ratios))

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        ratios = self.ratios
        ratio = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        bar = (str(self.bar), "met" if self.is_met else "MISSED") if self.bar else ("", "")
        return (self.title, self.unit, str(self.measured), str(self.against), ratio, *bar)


HEADS = ("program", "unit", "measured", "against", "ratio (of the rounds)", "bar", "")


def table(comparisons: Sequence[Comparison]) -> str:
    """Return the table of all comparisons; results are medians of the rounds."""
    rows = [HEADS, *(comparison.cells() for comparison in comparisons)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
