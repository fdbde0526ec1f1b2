"""The dispatcher of recorded events, and the type of the areas' reactions."""
