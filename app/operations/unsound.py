"""What is wrong with a document."""


class Unsound(Exception):
    """A document does not fit the schema or its surfaces; the process that finds one does not start."""
