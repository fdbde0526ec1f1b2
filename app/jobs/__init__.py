"""Work that happens later: bells, the clock that rings them, and one file an area."""
