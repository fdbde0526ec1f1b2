"""The error of an invalid document."""


class InvalidDocument(Exception):
    """A document does not fit the schema or its surfaces; the process that finds one does not start."""
