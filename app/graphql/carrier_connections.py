"""Connections to carriers of an account's own, as the contract shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app.domain.carriers import models, queries, service
from app.domain.carriers.kinds import OPERATOR_ONLY, CarrierKind
from app.domain.carriers.models import ConnectionStatus
from app.domain.carriers.service import CheckedConnection, NewConnection
from app.domain.kernel.errors import InvalidInput
from app.domain.messages import connections
from app.domain.numbers import senders
from app.domain.numbers.senders import ImportedNumbers, NewNumber
from app.graphql.carrier_health import CarrierHealth, of_connections
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import ASKS_ANOTHER_SERVICE, Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.overlap import OverlapHours
from app.graphql.core.scalars import BigInt
from app.graphql.numbers import PhoneNumber

describe(
    ConnectionStatus,
    "Whether texts leave through a connection.",
    {"active": "Texts leave.", "paused": "Texts wait until it is resumed."},
    name="CarrierConnectionStatus",
)

MOST_VALUES = 50
ASKED = ("carrier_connection_refused", "carrier_unreachable")
NAMED = Constraint(max_length=service.MAX_NAME)
ConnectionId = Annotated[BigInt, strawberry.argument(description="The connection's id.")]


@strawberry.type(description="A value that a connection of a kind is configured with.")
class CarrierField:
    """A setting or a credential."""

    name: str = strawberry.field(description="The name of the value.")
    description: str = strawberry.field(description="The meaning of the value.")
    is_required: bool = strawberry.field(description="True where there is no default.")

    @staticmethod
    def of(model: type[BaseModel]) -> "list[CarrierField]":
        """Return the values of a model that accounts choose."""
        fields = model.model_fields.items()
        chosen: Sequence[tuple[str, FieldInfo]] = [
            each for each in fields if each[1].json_schema_extra != OPERATOR_ONLY
        ]
        return [
            CarrierField(name=name, description=each.description or "", is_required=each.default is PydanticUndefined)
            for name, each in chosen
        ]


@strawberry.type(name="CarrierKind", description="A carrier that the account may have connections of its own to.")
class OwnCarrierKind:
    """A kind of connections."""

    name: str = strawberry.field(description="The name of the kind.")
    title: str = strawberry.field(description="The name of the carrier.")
    settings: list[CarrierField] = strawberry.field(description="The settings of a connection.")
    credentials: list[CarrierField] = strawberry.field(description="The credentials, which are never shown again.")

    @staticmethod
    def of(kind: CarrierKind) -> "OwnCarrierKind":
        """Return a kind."""
        settings, credentials = CarrierField.of(kind.settings), CarrierField.of(kind.credentials)
        return OwnCarrierKind(name=kind.name, title=kind.title, settings=settings, credentials=credentials)


@strawberry.type(description="A value of a connection.")
class CarrierValue:
    """A setting and its value."""

    name: str = strawberry.field(description="The name of the setting.")
    value: str = strawberry.field(description="The value, as text.")


@strawberry.input(description="A value to configure a connection with.")
class CarrierValueInput:
    """A setting or a credential and its value."""

    name: str = strawberry.field(description="The name of the setting or credential.")
    value: str = strawberry.field(description="The value, as text.")


@strawberry.type(description="A connection of the account's own to a carrier. Its credentials are never shown.")
class CarrierConnection:
    """A connection."""

    id: BigInt = strawberry.field(description="The connection's id.")
    key: str = strawberry.field(description="The key of the connection in callback addresses and in carrier fields.")
    kind: str = strawberry.field(description="The name of its kind.")
    name: str = strawberry.field(description="The name that the account gave it.")
    status: ConnectionStatus = strawberry.field(description="Whether texts leave through it.")
    created_at: datetime = strawberry.field(description="The time at which it was added.")

    @strawberry.field(description="Its settings.")
    def settings(self) -> list[CarrierValue]:
        """Return the settings."""
        row = row_of(self, models.CarrierConnection)
        return [CarrierValue(name=name, value=str(value)) for name, value in sorted(row.settings.items())]

    @strawberry.field(
        graphql_type=CarrierHealth,
        description="Its health: its latest results, its speed, and the conditions that need a person.",
    )
    def health(self, info: Info) -> Load[Any]:
        """Return the health, read at once for a whole list."""
        return info.context.load(of_connections, self.id)

    @strawberry.field(description="The address that the carrier posts status reports to.")
    def status_url(self, info: Info) -> str:
        """Return the address of status callbacks."""
        return f"{info.context.services.settings.public_url}/carriers/{self.key}/status"

    @strawberry.field(description="The address that the carrier posts inbound texts to.")
    def inbound_url(self, info: Info) -> str:
        """Return the address of inbound callbacks."""
        return f"{info.context.services.settings.public_url}/carriers/{self.key}/inbound"


@strawberry.type(description="The answer of a carrier about a connection.")
class CarrierCheck:
    """A connection that its carrier accepts."""

    connection: CarrierConnection = strawberry.field(description="The connection.")
    carrier_account: str = strawberry.field(description="The account at the carrier, in the carrier's words.")
    facts: list[CarrierValue] = strawberry.field(description="Further facts that the carrier states.")


@strawberry.type(description="The result of an import of numbers.")
class NumberImport:
    """Imported numbers."""

    added: list[PhoneNumber] = strawberry.field(description="The numbers that were added.")
    known: list[PhoneNumber] = strawberry.field(
        description="The numbers that the account had at the connection before."
    )
    in_use: list[str] = strawberry.field(
        description="The numbers that were left out, because they are active at another connection."
    )


@strawberry.type
class CarrierConnectionQuery:
    """Reading connections to carriers."""

    @strawberry.field(
        description="The carriers that the account may have connections of its own to; at most 20.",
        directives=guarded("numbers:read"),
    )
    def carrier_kinds(self, info: Info) -> list[OwnCarrierKind]:
        """Return the kinds for accounts."""
        kinds = info.context.services.carriers.kinds.values()
        return [OwnCarrierKind.of(each) for each in kinds if each.is_for_accounts]

    @strawberry.field(
        graphql_type=list[CarrierConnection],
        description=f"The account's own connections to carriers, the oldest first; at most {service.MAX_OWN}.",
        directives=guarded("numbers:read"),
    )
    async def carrier_connections(self, info: Info) -> Sequence[models.CarrierConnection]:
        """Return the account's own connections."""
        return await queries.list_own(info.context.unit)

    @strawberry.field(
        graphql_type=CarrierCheck | None,
        description="The answer of the carrier to whether it accepts a connection; null beside an error.",
        directives=guarded("numbers:write", "not_found", *ASKED),
        metadata=ASKS_ANOTHER_SERVICE,
    )
    async def carrier_connection_check(self, info: Info, id: ConnectionId) -> CarrierCheck:
        """Ask the carrier about a connection."""
        unit, ports = info.context.unit, info.context.services.carriers
        connection = await queries.get_own(unit, id)
        return _checked(CheckedConnection(connection, await service.check(unit, ports, connection)))


@strawberry.type
class CarrierConnectionMutation:
    """Changing connections to carriers, and their numbers."""

    @strawberry.mutation(
        graphql_type=CarrierCheck,
        description=(
            "Add a connection of the account's own to a carrier, and return it. The carrier is asked first: nothing is "
            "stored unless it accepts the credentials."
        ),
        directives=guarded("numbers:write", "conflict", *ASKED),
    )
    async def add_carrier_connection(
        self,
        info: Info,
        kind: Annotated[str, strawberry.argument(description="The name of the kind, as carrier_kinds lists it.")],
        credentials: Annotated[list[CarrierValueInput], strawberry.argument(description="The credentials.")],
        settings: Annotated[list[CarrierValueInput] | None, strawberry.argument(description="The settings.")] = None,
        name: Annotated[
            str, strawberry.argument(description="A name; that of the carrier if empty.", directives=[NAMED])
        ] = "",
    ) -> CarrierCheck:
        """Add a connection."""
        unit, ports = info.context.unit, info.context.services.carriers
        new = NewConnection(kind, name, _values(settings, "settings"), _values(credentials, "credentials"))
        return _checked(await service.add(unit, ports, unit.actor.account_id, new))

    @strawberry.mutation(
        graphql_type=CarrierCheck,
        description=(
            "Replace the credentials of a connection, and return it. Callbacks that the former ones sign are accepted "
            "for some hours."
        ),
        directives=guarded("numbers:write", "not_found", *ASKED),
    )
    async def rotate_carrier_connection(
        self,
        info: Info,
        id: ConnectionId,
        credentials: Annotated[list[CarrierValueInput], strawberry.argument(description="The new credentials.")],
        overlap_hours: OverlapHours = 24,
    ) -> CarrierCheck:
        """Rotate the credentials."""
        unit, ports = info.context.unit, info.context.services.carriers
        connection, new = await queries.get_own(unit, id), _values(credentials, "credentials")
        return _checked(await service.rotate(unit, ports, connection, new, overlap_hours))

    @strawberry.mutation(
        graphql_type=CarrierConnection,
        description="Pause a connection, and return it: its texts wait, and its callbacks are processed.",
        directives=guarded("numbers:write", "not_found"),
    )
    async def pause_carrier_connection(self, info: Info, id: ConnectionId) -> models.CarrierConnection:
        """Pause a connection."""
        unit = info.context.unit
        return await service.pause(unit, info.context.services.carriers, await queries.get_own(unit, id))

    @strawberry.mutation(
        graphql_type=CarrierConnection,
        description="Resume a paused connection, and return it.",
        directives=guarded("numbers:write", "not_found"),
    )
    async def resume_carrier_connection(self, info: Info, id: ConnectionId) -> models.CarrierConnection:
        """Resume a connection."""
        unit = info.context.unit
        return await service.resume(unit, info.context.services.carriers, await queries.get_own(unit, id))

    @strawberry.mutation(
        graphql_type=CarrierConnection,
        description="Remove a connection that has no active numbers and no waiting texts, and return it.",
        directives=guarded("numbers:write", "not_found", "carrier_connection_in_use"),
    )
    async def remove_carrier_connection(self, info: Info, id: ConnectionId) -> models.CarrierConnection:
        """Remove a connection."""
        connection = await queries.get_own(info.context.unit, id)
        await connections.remove(info.context.unit, info.context.services.carriers, connection)
        return connection

    @strawberry.mutation(
        graphql_type=NumberImport,
        description="Import the numbers that the carrier lists for a connection, and return the result.",
        directives=guarded("numbers:write", "not_found", *ASKED),
    )
    async def sync_phone_numbers(
        self, info: Info, connection_id: Annotated[BigInt, strawberry.argument(description="The connection's id.")]
    ) -> ImportedNumbers:
        """Import numbers."""
        unit = info.context.unit
        return await senders.sync(unit, info.context.services.carriers, await queries.get_own(unit, connection_id))

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description="Add a number of a connection of the account's own by hand, and return it.",
        directives=guarded("numbers:write", "not_found", "conflict", "invalid_phone", *ASKED),
    )
    async def add_phone_number(
        self,
        info: Info,
        connection_id: Annotated[BigInt, strawberry.argument(description="The connection's id.")],
        phone_number: Annotated[
            str,
            strawberry.argument(
                description="The number in E.164 form; or a short code, or a name such as ACME, where allowed."
            ),
        ],
        label: Annotated[
            str,
            strawberry.argument(
                description="A label; the number if empty.", directives=[Constraint(max_length=senders.MAX_LABEL)]
            ),
        ] = "",
    ) -> object:
        """Add a number."""
        unit, ports = info.context.unit, info.context.services.carriers
        new = NewNumber(phone_number, label)
        return await senders.add(unit, ports, await queries.get_own(unit, connection_id), new)

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description=(
            "Release a number, and return it: nothing is sent from it or received on it any more. Its queued texts "
            "fail at once and are refunded; those in flight end with the carrier's answer."
        ),
        directives=guarded("numbers:write", "not_found"),
    )
    async def release_phone_number(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The number's id.")]
    ) -> object:
        """Release a number."""
        return await connections.release_number(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description=(
            "Move a number to another connection of the account's own, and return it. Texts that wait leave through "
            "the new connection; those in flight end on the old one. Where the carrier lists its numbers, the number "
            "must be among those of the new connection."
        ),
        directives=guarded("numbers:write", "not_found", *ASKED),
    )
    async def move_phone_number(
        self,
        info: Info,
        id: Annotated[BigInt, strawberry.argument(description="The number's id.")],
        connection_id: Annotated[BigInt, strawberry.argument(description="The connection's id.")],
    ) -> object:
        """Move a number."""
        unit, ports = info.context.unit, info.context.services.carriers
        return await connections.move_number(unit, ports, id, await queries.get_own(unit, connection_id))


def _values(given: list[CarrierValueInput] | None, field: str) -> Mapping[str, str]:
    values = {each.name: each.value for each in given or []}
    if len(values) != len(given or []) or len(values) > MOST_VALUES:
        raise InvalidInput(reason=f"{field} must name each value once, and at most {MOST_VALUES}.", field=field)
    return values


def _checked(checked: CheckedConnection) -> CarrierCheck:
    facts = [CarrierValue(name=name, value=value) for name, value in checked.account.facts.items()]
    return CarrierCheck(connection=cast("Any", checked.connection), carrier_account=checked.account.name, facts=facts)
