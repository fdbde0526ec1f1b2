"""Work that happens later: topics, the clock that rings them, and one file an area."""
