"""The audit log, as the contract shows it."""

from datetime import datetime
from typing import Annotated

import strawberry
from strawberry.scalars import JSON

from app.domain.accounts import audit, models
from app.domain.accounts.audit import AuditAction, EntryFilter
from app.domain.kernel.paging import Page
from app.graphql.actors import Actor, actor_in
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    AuditAction,
    "An action that the audit log records.",
    {
        "account_changed": "A setting of the account was changed, such as its name, its region or its caps.",
        "account_deletion_requested": "The deletion of the account was requested.",
        "account_deletion_withdrawn": "The requested deletion of the account was withdrawn.",
        "account_exported": "The export of the account was downloaded.",
        "account_resumed": "The operator of the service ended the suspension of the account.",
        "account_suspended": "The operator of the service suspended the account.",
        "application_connected": "A user connected an application.",
        "application_cut_off": "The service disconnected an application, because a code or token of it was used twice.",
        "application_disconnected": "A connected application was disconnected.",
        "carrier_connection_added": "A connection to a carrier was added.",
        "carrier_connection_paused": "A connection to a carrier was paused.",
        "carrier_connection_removed": "A connection to a carrier was removed.",
        "carrier_connection_resumed": "A connection to a carrier was resumed.",
        "carrier_connection_rotated": "A connection to a carrier was given new credentials.",
        "consent_link_made": "A link to the evidence of a phone's consent was made.",
        "contacts_merged": "A contact was merged into another one.",
        "export_link_made": "A link to download the export of the account was made.",
        "job_link_made": "A link to download the file of a job was made: the report of an import, or an export.",
        "integration_added": "An integration was added.",
        "integration_paused": "An integration was paused.",
        "integration_removed": "An integration was removed.",
        "integration_resumed": "An integration was resumed.",
        "integration_rotated": "An integration was given a new secret.",
        "integration_taken_over": "An integration was bound to another key, application or user.",
        "invitation_withdrawn": "An invitation was withdrawn.",
        "key_created": "An API key was made.",
        "key_revoked": "An API key was revoked.",
        "key_rotated": "An API key was replaced by a new one.",
        "oauth_client_created": "An OAuth client was made.",
        "oauth_client_revoked": "An OAuth client was revoked.",
        "oauth_client_secret_rotated": "An OAuth client was given a new secret.",
        "oauth_client_taken_over": "An OAuth client was bound to another key or user.",
        "password_reset_asked": "A mail to reset a password was requested.",
        "password_set": "A user set a password: by an invitation, a reset or a change.",
        "quiet_hours_added": "A rule of quiet hours or of a frequency cap was added.",
        "quiet_hours_removed": "A rule of quiet hours or of a frequency cap was removed.",
        "role_changed": "A user was given another role.",
        "session_ended": "A session was ended by a user or key of the account.",
        "sign_in_refused": "A sign-in was refused.",
        "signed_in": "A user signed in.",
        "signed_out": "A user signed out.",
        "user_changed": "The name of a user was changed.",
        "user_invited": "A person was invited to the account.",
        "user_removed": "A user was removed from the account.",
        "webhook_secret_revealed": "The secret of a webhook was shown.",
        "webhook_secret_rotated": "A webhook was given a new secret.",
    },
)


@strawberry.type(description="A change of access or of settings. Entries are never changed.")
class AuditEntry:
    """An entry of the audit log."""

    id: BigInt = strawberry.field(description="The entry's id.")
    action: AuditAction = strawberry.field(description="The action that was taken.")
    subject: str = strawberry.field(description="The subject of the action, such as an e-mail address or a key's name.")
    address: str = strawberry.field(description="The network address of the caller; empty when not known.")
    user_agent: str = strawberry.field(description="The browser's `User-Agent` header; empty when not known.")
    details: JSON = strawberry.field(description="Further details, as an object.")
    request_id: str | None = strawberry.field(description="The request that did it, as the log names it.")
    created_at: datetime = strawberry.field(description="The time of the action.")

    @strawberry.field(description="The user, key, application or part of the service that did it.")
    def actor(self) -> Actor:
        """Return the actor."""
        return actor_in(self)


@strawberry.type
class AuditQuery:
    """Reading the audit log."""

    @strawberry.field(
        graphql_type=Connection[AuditEntry],
        description="Changes of access and of settings, the newest first.",
        directives=guarded("account:write"),
    )
    async def audit_log(
        self,
        info: Info,
        action: Annotated[AuditAction | None, strawberry.argument(description="Only entries of this action.")] = None,
        actor: Annotated[
            str | None, strawberry.argument(description="Only entries of an actor, by its label, such as user:5.")
        ] = None,
        since: Annotated[datetime | None, strawberry.argument(description="Only entries from this time on.")] = None,
        until: Annotated[datetime | None, strawberry.argument(description="Only entries before this time.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.AuditEntry]:
        """Return one page of the audit log."""
        part = window(info, "audit_log", first, after, last, before, offset)
        return await audit.find_entries(info.context.unit, EntryFilter(action, actor, since, until), part)
