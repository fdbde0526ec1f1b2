"""The account and its people, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import strawberry

from app.domain.accounts import deletion, invitations, models, queries, service, users
from app.domain.accounts.models import AccountStatus, Role
from app.domain.accounts.users import UserFields, ViewerFields
from app.domain.automations import time_zones
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    AccountStatus,
    "Whether an account may be used.",
    {
        "active": "It may be used.",
        "suspended": "The operator of the service has suspended it: it sends nothing, and its keys are refused.",
        "deleted": "It was deleted, which cannot be undone.",
    },
)
describe(
    Role,
    "The role of a user, which decides the user's scopes.",
    {
        "owner": "Everything.",
        "member": "Everything but changing the account, its people and its billing.",
        "service": "A user for a program: it signs in to connect applications, which have the scopes of a member.",
    },
)

UserId = Annotated[BigInt, strawberry.argument(description="The user's id.")]
RoleWanted = Annotated[Role, strawberry.argument(description="The role to give to the user.")]


@strawberry.type(description="A person who works in the account.")
class User:
    """A user."""

    id: BigInt = strawberry.field(description="The user's id.")
    email: str = strawberry.field(description="The e-mail address, by which the user signs in.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    role: Role = strawberry.field(description="The role of the user.")
    created_at: datetime = strawberry.field(description="The time at which the user was added.")
    last_active_at: datetime | None = strawberry.field(
        description="The time of the last activity in a browser, to the minute; null before the first sign-in."
    )


@strawberry.type(description="An invitation of a person to the account.")
class Invitation:
    """An invitation."""

    id: BigInt = strawberry.field(description="The invitation's id.")
    email: str = strawberry.field(description="The address that it is mailed to, and that the user will sign in with.")
    role: Role = strawberry.field(description="The role of the user.")
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    expires_at: datetime = strawberry.field(description="The time until which it can be accepted.")

    @strawberry.field(description="The folder of its mail while there is no mail server; null with one.")
    def mail_folder(self, info: Info) -> str | None:
        """Return the folder of mails."""
        return info.context.services.settings.mail_folder


@strawberry.type(description="The account that the key belongs to.")
class Account:
    """An account."""

    id: BigInt = strawberry.field(description="The account's id.")
    company_name: str = strawberry.field(description="The name that texts give to recipients; empty until it is set.")
    status: AccountStatus = strawberry.field(description="Whether it may be used.")
    region: str = strawberry.field(description="The country of national phone numbers; texts to it cost least.")
    support_contact: str = strawberry.field(
        description="The contact that a HELP reply names; empty for the company name."
    )
    time_zone: str | None = strawberry.field(
        description="The time zone (IANA) of phones whose place is not known; null if not set."
    )
    limits_transactional: bool = strawberry.field(
        description="Whether quiet hours and frequency caps hold for transactional texts as well as promotional ones."
    )
    weekly_cap: int = strawberry.field(description="The maximum number of limited texts to a phone in 7 days.")
    smart_encoding: bool = strawberry.field(
        description="Whether sends replace typographic characters where that saves SMS parts; campaigns decide that "
        "themselves."
    )
    fold_accents: bool = strawberry.field(
        description="Whether smart encoding, of campaigns too, also removes accents of letters where that saves parts."
    )
    created_at: datetime = strawberry.field(description="The time at which the account was created.")
    deletion_at: datetime | None = strawberry.field(
        description="The time at which it will be deleted with everything in it; null unless a deletion was requested."
    )


@strawberry.type(description="A deletion of the account that is to come.")
class AccountDeletion:
    """A deletion to come."""

    account_id: BigInt = strawberry.field(description="The account's id.")
    deletion_at: datetime = strawberry.field(
        description="The time at which the account will be deleted with everything in it."
    )
    credits: BigInt = strawberry.field(
        description="The credits that the account holds. The rest is forfeited at the deletion."
    )


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class AccountChanges:
    """Changes to an account; a field that is left out stays as it is."""

    company_name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"The name that texts give to recipients, one line of 1 to {users.MAX_LINE} characters. Not null.",
        directives=[Constraint(min_length=1, max_length=users.MAX_LINE)],
    )
    region: strawberry.Maybe[str | None] = strawberry.field(
        description="The two letters of the country (ISO 3166), such as US or GB, in any case."
    )
    support_contact: strawberry.Maybe[str | None] = strawberry.field(
        description=(
            f"One line of at most {users.MAX_LINE} characters, such as an e-mail address; null or empty for none."
        ),
        directives=[Constraint(max_length=users.MAX_LINE)],
    )
    time_zone: strawberry.Maybe[str | None] = strawberry.field(
        description="The time zone (IANA) of the account, such as America/Chicago; null for none."
    )
    limits_transactional: strawberry.Maybe[bool | None] = strawberry.field(
        description="Whether quiet hours and frequency caps hold for transactional texts too. Not null."
    )
    weekly_cap: strawberry.Maybe[int | None] = strawberry.field(
        description=(
            f"The maximum number of limited texts to a phone in 7 days, 1 to {service.MAX_WEEKLY_CAP}. Not null."
        ),
        directives=[Constraint(minimum=1, maximum=service.MAX_WEEKLY_CAP)],
    )
    smart_encoding: strawberry.Maybe[bool | None] = strawberry.field(
        description="Whether sends replace typographic characters where that saves SMS parts. Not null."
    )
    fold_accents: strawberry.Maybe[bool | None] = strawberry.field(
        description="Whether smart encoding also removes accents of letters, which changes words. Not null."
    )


@strawberry.input(
    description="The fields to change; fields that are left out keep their values, and null empties a field."
)
class UserChanges:
    """The fields of a user to change."""

    first_name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"The first name, one line of at most {users.MAX_LINE} characters.",
        directives=[Constraint(max_length=users.MAX_LINE)],
    )
    last_name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"The last name, one line of at most {users.MAX_LINE} characters.",
        directives=[Constraint(max_length=users.MAX_LINE)],
    )


@strawberry.input(
    description="The fields to change; fields that are left out keep their values, and null empties a field."
)
class ViewerChanges(UserChanges):
    """The fields of the own user to change."""

    time_zone: strawberry.Maybe[str | None] = strawberry.field(
        description="The time zone (IANA) in which times are shown, such as America/Chicago; null for the browser's."
    )
    locale: strawberry.Maybe[str | None] = strawberry.field(
        description="The language tag by which times and numbers are written, such as en-GB; null for the browser's.",
        directives=[Constraint(pattern=f"^({users.LOCALE})?$")],
    )


@strawberry.type(description="The caller: the user of a session or token; for a key, the first owner of the account.")
class Viewer:
    """The caller."""

    id: BigInt = strawberry.field(description="The user's id.")
    email: str = strawberry.field(description="The e-mail address.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    role: Role = strawberry.field(description="The role of the user.")
    time_zone: str | None = strawberry.field(
        description="The time zone (IANA) in which the user reads times; null for the browser's."
    )
    locale: str | None = strawberry.field(
        description="The language tag by which times and numbers are written for the user; null for the browser's."
    )

    @strawberry.field(description="The scopes of the caller: of the session, the key or the access token.")
    def scopes(self, info: Info) -> list[str]:
        """Return the actor's scopes."""
        return sorted(info.context.unit.actor.scopes)

    @strawberry.field(description="The id of the caller's session; null for a key or an access token.")
    def session_id(self, info: Info) -> BigInt | None:
        """Return the session's id."""
        id = info.context.unit.actor.session_id
        return None if id is None else BigInt(id)

    @strawberry.field(graphql_type=User, description="The user.", directives=guarded("conversations:write"))
    def user(self) -> Any:
        """Return the user, who is read as the viewer too."""
        return self

    @strawberry.field(description="The name of the account's company.")
    async def company_name(self, info: Info) -> str:
        """Return the company's name."""
        return (await queries.get_own(info.context.unit)).company_name


@strawberry.type
class AccountQuery:
    """Reading the account."""

    @strawberry.field(
        graphql_type=Account, description="The account that the key belongs to.", directives=guarded("account:read")
    )
    async def account(self, info: Info) -> models.Account:
        """Return the account."""
        return await queries.get_own(info.context.unit)

    @strawberry.field(
        graphql_type=Viewer,
        description="The user of the caller; for a key, the first owner of the account.",
        directives=guarded("account:read", "not_found"),
    )
    async def viewer(self, info: Info) -> models.User:
        """Return the caller."""
        return await queries.get_viewer(info.context.unit)

    @strawberry.field(
        graphql_type=list[User],
        description=(
            "The users of the account, to whom conversations can be assigned: the first one first; at most "
            f"{invitations.MAX_PEOPLE}."
        ),
        directives=guarded("conversations:write"),
    )
    async def users(self, info: Info) -> Sequence[models.User]:
        """Return the account's people."""
        return await queries.list_users(info.context.unit)

    @strawberry.field(
        graphql_type=list[Invitation],
        description=(
            "The invitations that can be accepted, the newest first; with the users of the account at most "
            f"{invitations.MAX_PEOPLE}."
        ),
        directives=guarded("account:write"),
    )
    async def invitations(self, info: Info) -> Sequence[models.Invitation]:
        """Return the invitations."""
        return await invitations.list_pending(info.context.unit)


@strawberry.type
class AccountMutation:
    """Changing the account and its users."""

    @strawberry.mutation(
        graphql_type=Account,
        description=(
            "Change the account, and return it: its company name, the country of its national phone numbers, the "
            "contact that a HELP reply names, its time zone, and the limits of its texts. Texts from then on obey "
            "them."
        ),
        directives=guarded("account:write"),
    )
    async def update_account(
        self,
        info: Info,
        changes: Annotated[AccountChanges, strawberry.argument(description="The fields to change.")],
    ) -> models.Account:
        """Change the account."""
        return await time_zones.update_account(info.context.unit, given(vars(changes), service.AccountFields))

    @strawberry.mutation(
        graphql_type=AccountDeletion,
        description="Schedule the deletion of the account with everything in it, 30 days from now unless the operator "
        "of the service chose another delay, and return its time. A second call keeps the first time. Until then the "
        "account takes no new texts, all else works, and the deletion can be withdrawn. Owners are mailed now, and "
        "again 3 days before.",
        directives=guarded("account:write"),
    )
    async def request_account_deletion(
        self,
        info: Info,
        confirm: Annotated[
            str,
            strawberry.argument(
                description="The company name of the account, as it is written; the account's id where it has no name."
            ),
        ],
    ) -> deletion.Deletion:
        """Have the account deleted."""
        delay = timedelta(days=info.context.services.settings.account_deletion_days)
        return await deletion.request(info.context.unit, confirm, delay)

    @strawberry.mutation(
        graphql_type=Account,
        description="Withdraw the deletion of the account, which sends texts again, and return the account. "
        "Owners are mailed.",
        directives=guarded("account:write", "conflict"),
    )
    async def withdraw_account_deletion(self, info: Info) -> models.Account:
        """Keep the account."""
        return await deletion.withdraw(info.context.unit)

    @strawberry.mutation(
        graphql_type=Invitation,
        description="Invite a person by mail, and return the invitation. A second call for an address mails a new "
        "invitation, which replaces the first. An account can send 100 invitations a day, 3 of them to one e-mail "
        "address. An invitation ends when its sender may no longer invite.",
        directives=guarded("account:write", "conflict", "insufficient_scope", "person_required", "rate_limited"),
    )
    async def invite_user(
        self,
        info: Info,
        email: Annotated[
            str,
            strawberry.argument(
                description="The e-mail address that the invitation is mailed to.",
                directives=[Constraint(max_length=users.MAX_EMAIL)],
            ),
        ],
        role: RoleWanted,
    ) -> models.Invitation:
        """Invite a person."""
        return await invitations.invite(info.context.unit, info.context.services.authentication.tokens, email, role)

    @strawberry.mutation(
        graphql_type=Invitation,
        description="Withdraw an invitation, and return it. Its link stops working.",
        directives=guarded("account:write", "not_found", "person_required"),
    )
    async def withdraw_invitation(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The invitation's id.")]
    ) -> models.Invitation:
        """Withdraw an invitation."""
        return await invitations.withdraw(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=User,
        description="Change the first and last name of a user, and return the user.",
        directives=guarded("account:write", "not_found"),
    )
    async def update_user(
        self,
        info: Info,
        id: UserId,
        changes: Annotated[UserChanges, strawberry.argument(description="The fields to change.")],
    ) -> models.User:
        """Change a user's name."""
        return await users.update(info.context.unit, id, given(vars(changes), UserFields))

    @strawberry.mutation(
        graphql_type=Viewer,
        description="Change the name, time zone and locale of the signed-in user, and return the user.",
        directives=guarded("account:read", "person_required"),
    )
    async def update_viewer(
        self,
        info: Info,
        changes: Annotated[ViewerChanges, strawberry.argument(description="The fields to change.")],
    ) -> models.User:
        """Change the caller's own fields."""
        return await users.update_own(info.context.unit, given(vars(changes), ViewerFields))

    @strawberry.mutation(
        graphql_type=User,
        description=(
            "Change the role of a user, from the next request on, and return the user. The last owner cannot get "
            "another role."
        ),
        directives=guarded("account:write", "not_found", "conflict", "insufficient_scope", "person_required"),
    )
    async def change_role(self, info: Info, id: UserId, role: RoleWanted) -> models.User:
        """Change a role."""
        return await users.change_role(info.context.unit, id, role)

    @strawberry.mutation(
        graphql_type=User,
        description="Remove a user, and return the user. The sessions, connected applications and keys end at once. "
        "The last owner cannot be removed.",
        directives=guarded("account:write", "not_found", "conflict", "person_required"),
    )
    async def remove_user(self, info: Info, id: UserId) -> models.User:
        """Remove a user."""
        return await users.remove(info.context.unit, id)
