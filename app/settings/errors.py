"""Refusals of settings; each text is one sentence or two for the operator."""


class UnknownSetting(Exception):
    """A `MESSAGING_*` name that the service does not know; it would be ignored in silence otherwise."""


class InvalidSetting(Exception):
    """A setting has a value that it cannot have."""


class UnsafeStart(Exception):
    """The settings do not fit the environment, development or production, in which the service is to run."""


class MissingSecretKey(UnsafeStart):
    """A service in production was given no secret key."""


class InvalidKeyFile(Exception):
    """The file that keeps the secret key of development holds no good key, or cannot be read."""
