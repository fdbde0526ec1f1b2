"""Kinds of connections: the settings and credentials of each kind. `app.providers.registry` lists them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from app.domain.carriers.carrier import Carrier
from app.domain.carriers.models import WORKER

OPERATOR_ONLY: JsonDict = {"operator_only": True}
"""The `json_schema_extra` of a setting that an account cannot choose, such as the address of the carrier's API."""


class Settings(BaseModel):
    """The settings of a kind. They are shown to all who may see the connection; each field has a description."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1000)


class LookupSettings(Settings):
    """The settings of a kind whose carrier charges for looking numbers up."""

    shares_lookups: bool = Field(
        False,
        description="Whether every account may look numbers up through a connection of the installation.",
        json_schema_extra=OPERATOR_ONLY,
    )


class Credentials(BaseModel):
    """The credentials of a kind, stored sealed and never shown; secret texts are `SecretStr`."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1000, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings and credentials of an adapter, before their validation.

    They are `proposed` while they are not stored, so that no process uses them yet.
    """

    key: str
    kind: str
    settings: Mapping[str, Any]
    credentials: Mapping[str, Any]
    proposed: bool = False


Open = Callable[[Configuration], Carrier]
"""Opens a connection without a call; it raises `pydantic.ValidationError` for values that do not fit the kind."""


@dataclass(frozen=True, slots=True)
class CarrierKind:
    """A kind of connection. `role` is the role of the processes that hand its texts over.

    Accounts may have connections of their own where it `is_for_accounts`.
    """

    name: str
    title: str
    settings: type[Settings]
    credentials: type[Credentials]
    is_for_accounts: bool = False
    role: str = WORKER
