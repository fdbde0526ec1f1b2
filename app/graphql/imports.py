"""Imports and exports of contacts, as the contract shows them."""

import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.bulk import exports, files, imports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.files import FileKind, Wanted
from app.domain.bulk.import_rules import Existing, Import
from app.domain.bulk.mapping import FIELDS
from app.domain.bulk.selection import Selection
from app.domain.contacts import queries, service
from app.domain.jobs import models, uploads
from app.domain.jobs.uploads import MAX_MEBIBYTES, MAX_UPLOADS, PART_BYTES
from app.domain.kernel.errors import InvalidInput
from app.graphql.bulk import ContactFilter, filter_of, frozen
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt
from app.graphql.jobs import Job

describe(
    Existing,
    "The treatment of contacts whose phone is in the file. Tags are added to them unless they are skipped.",
    {
        "update": "The values of the file replace theirs.",
        "keep": "Only their empty fields are filled.",
        "skip": "They stay as they are.",
    },
)
describe(
    ExportFormat,
    "The format of an exported file.",
    {
        "csv": "CSV in UTF-8, safe to open in a spreadsheet.",
        "json": "A JSON object on each line.",
        "vcard": "vCard 4.0.",
    },
)

describe(
    FileKind,
    "The kind of an uploaded file.",
    {"csv": "A table, with any delimiter.", "vcard": "Contacts in the form vCard."},
)

UploadId = Annotated[BigInt, strawberry.argument(description="The upload's id.")]


@strawberry.type(description="A file that is uploaded in parts, and kept for 7 days or until it was imported.")
class Upload:
    """An upload."""

    id: BigInt = strawberry.field(description="The upload's id.")
    name: str = strawberry.field(description="The name of the file.")
    created_at: datetime = strawberry.field(description="The time at which it was begun.")


@strawberry.type(description="A column of an uploaded file.")
class ImportColumn:
    """A column."""

    index: int = strawberry.field(description="The number of the column, from 0.")
    name: str = strawberry.field(description="The name in the header; empty without one.")
    samples: list[str] = strawberry.field(description="The first values.")
    field: str = strawberry.field(description="The field of contacts that it has; empty when it is not imported.")


@strawberry.type(description="The detected format of an uploaded file.")
class ImportPreview:
    """A preview of an import."""

    format: FileKind = strawberry.field(description="The kind of the file.")
    encoding: str = strawberry.field(description="The encoding, such as utf-8 or cp1252.")
    delimiter: str = strawberry.field(description="The character between columns; empty for vCard.")
    has_header: bool = strawberry.field(description="Whether the first row names the columns.")
    columns: list[ImportColumn] = strawberry.field(description="The columns with their proposed fields.")
    note: str = strawberry.field(description="The format in a sentence.")


@strawberry.input(description="The field of a column.")
class ColumnField:
    """A column and its field."""

    column: int = strawberry.field(description="The number of the column, from 0.")
    field: str = strawberry.field(description=f"One of {', '.join(FIELDS)}, or custom. and the key of a custom field.")


@strawberry.input(
    description="The format of a file, where the detection is wrong. Values that are left out are detected."
)
class FileFormat:
    """A prescribed format."""

    encoding: str | None = strawberry.field(default=None, description=f"One of {', '.join(files.ENCODINGS)}.")
    delimiter: str | None = strawberry.field(default=None, description="The character between columns.")
    has_header: bool | None = strawberry.field(default=None, description="Whether the first row names the columns.")
    columns: list[ColumnField] | None = strawberry.field(
        default=None, description="The fields of columns; columns that are not named are not imported."
    )


FileFormatArgument = Annotated[
    FileFormat | None, strawberry.argument(description="The format, where the detection is wrong.")
]


def _wanted(given: FileFormat | None) -> Wanted:
    if given is None:
        return Wanted()
    columns = None if given.columns is None else {each.column: each.field.strip() for each in given.columns}
    return Wanted(given.encoding, given.delimiter, given.has_header, columns)


def _decode(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except ValueError:  # binascii.Error, or a character outside ASCII
        raise InvalidInput(reason="content must be base64.", field="content") from None


@strawberry.type
class ImportQuery:
    """Reading uploads."""

    @strawberry.field(
        graphql_type=list[Upload],
        description=f"The files that are uploaded, the newest first; at most {MAX_UPLOADS}.",
        directives=guarded("contacts:read"),
    )
    async def uploads(self, info: Info) -> Sequence[models.Upload]:
        """Return the uploads."""
        return await uploads.list_all(info.context.unit)

    @strawberry.field(
        graphql_type=ImportPreview | None,
        description="The detected format of an upload, with a proposal for its columns; null beside an error.",
        directives=guarded("contacts:read", "conflict", "not_found", "unreadable_file"),
    )
    async def preview_import(self, info: Info, upload_id: UploadId, format: FileFormatArgument = None) -> ImportPreview:
        """Return a preview."""
        found, columns = await imports.preview(info.context.unit, upload_id, _wanted(format))
        shown = [
            ImportColumn(index=each.index, name=each.name, samples=each.samples, field=each.field) for each in columns
        ]
        return ImportPreview(
            format=found.kind,
            encoding=found.encoding,
            delimiter=found.delimiter,
            has_header=found.has_header,
            columns=shown,
            note=found.sentence,
        )


@strawberry.type
class ImportMutation:
    """Importing and exporting contacts."""

    @strawberry.mutation(
        graphql_type=Upload,
        description=(
            f"Begin to upload a CSV or vCard file, and return the upload: a file of at most {MAX_MEBIBYTES} MiB."
        ),
        directives=guarded("contacts:write", "conflict"),
    )
    async def create_upload(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description="The name of the file.", directives=[Constraint(max_length=uploads.MAX_NAME)]
            ),
        ],
    ) -> models.Upload:
        """Begin an upload."""
        return await uploads.create(info.context.unit, name)

    @strawberry.mutation(
        graphql_type=Upload,
        description=(
            "Add the next part of a file, and return the upload. A part that was added before is left as it is, so "
            "that a request may be repeated."
        ),
        directives=guarded("contacts:write", "conflict", "not_found"),
    )
    async def add_upload_part(
        self,
        info: Info,
        upload_id: UploadId,
        number: Annotated[
            int,
            strawberry.argument(
                description="The number of the part, from 0.",
                directives=[Constraint(minimum=0, maximum=uploads.MAX_PARTS - 1)],
            ),
        ],
        content: Annotated[
            str, strawberry.argument(description=f"The bytes of the part in base64, at most {PART_BYTES:,} of them.")
        ],
    ) -> models.Upload:
        """Add a part."""
        return await uploads.add_part(info.context.unit, upload_id, number, _decode(content))

    @strawberry.mutation(
        graphql_type=Upload,
        description="Delete an uploaded file, and return its upload.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def delete_upload(self, info: Info, upload_id: UploadId) -> models.Upload:
        """Delete an upload."""
        return await uploads.delete(info.context.unit, upload_id)

    @strawberry.mutation(
        graphql_type=Job,
        description=(
            "Import contacts from an uploaded file by a job, and return the job. Phones that have opted out stay opted "
            "out. The file of the job reports the outcome of every row; a dry run reports the same and changes "
            "nothing."
        ),
        directives=guarded("contacts:write", "conflict", "not_found", "unreadable_file"),
    )
    async def import_contacts(
        self,
        info: Info,
        upload_id: UploadId,
        format: FileFormatArgument = None,
        country: Annotated[
            str | None,
            strawberry.argument(description="The country of national numbers; by default the account's region."),
        ] = None,
        existing: Annotated[
            Existing, strawberry.argument(description="The treatment of contacts that exist.")
        ] = Existing.update,
        tags: Annotated[
            list[str] | None,
            strawberry.argument(
                description="Tags for every contact of the file.",
                directives=[Constraint(max_length=service.MAX_TAG, max_items=service.MAX_TAGS)],
            ),
        ] = None,
        source: Annotated[
            str,
            strawberry.argument(
                description="The source of new contacts without one.",
                directives=[Constraint(max_length=service.MAX_NAME)],
            ),
        ] = "import",
        consent: Annotated[
            str,
            strawberry.argument(
                description="The text by which the persons agreed to texts, recorded as evidence for each phone.",
                directives=[Constraint(max_length=imports.MAX_CONSENT)],
            ),
        ] = "",
        dry_run: Annotated[bool, strawberry.argument(description="True to change nothing.")] = False,
    ) -> models.AccountJob:
        """Begin an import."""
        wanted = Import(upload_id, _wanted(format), country, existing, tags or [], source, consent, dry_run)
        return await imports.begin(info.context.unit, wanted)

    @strawberry.mutation(
        graphql_type=Job,
        description=(
            "Write the contacts of a filter or segment to a file by a job, and return the job; create_job_link gives a "
            "link to it."
        ),
        directives=guarded("contacts:read", "conflict", "insufficient_scope", "not_found"),
    )
    async def export_contacts(
        self,
        info: Info,
        filter: Annotated[
            ContactFilter | None, strawberry.argument(description="Only these contacts; by default every one.")
        ] = None,
        format: Annotated[ExportFormat, strawberry.argument(description="The format.")] = ExportFormat.csv,
        segment_id: Annotated[
            BigInt | None,
            strawberry.argument(
                description="Only the contacts of this segment; needs the scope campaigns:read. Not with filter."
            ),
        ] = None,
    ) -> models.AccountJob:
        """Begin an export."""
        unit = info.context.unit
        wanted = queries.ContactFilter() if filter is None else await filter_of(info, filter)
        if segment_id is None:
            return await exports.begin(unit, Selection(filter=wanted), format)
        if wanted != queries.ContactFilter():
            raise InvalidInput(reason="segment_id must not be given together with a filter.", field="segment_id")
        return await exports.begin(unit, Selection(segment=await frozen(info, segment_id)), format)
