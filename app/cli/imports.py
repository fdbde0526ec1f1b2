"""Commands that import and export contacts, with a progress bar, and that write evidence of consent."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.administration import TYPERS, find_settings, print_value
from app.cli.documents import ACCOUNT, JSON

contact = TYPERS["contact"]
Source = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or vCard file.", exists=True, dir_okay=False)]
Target = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]


@contact.command("import")
def import_contacts(  # noqa: PLR0913 - each parameter is an option of the command
    account: ACCOUNT,
    file: Source,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, and report the same.")] = False,
    existing: Annotated[
        Literal["update", "keep", "skip"],
        typer.Option(help="Existing contacts get the values of the file, keep their own, or stay as they are."),
    ] = "update",
    tag: Annotated[list[str] | None, typer.Option(help="A tag for every contact; may be given several times.")] = None,
    country: Annotated[str | None, typer.Option(help="The country of national numbers, such as GB.")] = None,
    source: Annotated[str, typer.Option(help="The source of new contacts without one.")] = "import",
    consent: Annotated[str, typer.Option(help="The text by which the persons agreed to texts.")] = "",
    encoding: Annotated[str | None, typer.Option(help="The encoding, if the detection is wrong.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the outcome of every row to this new CSV file.")] = None,
    json: JSON = False,
) -> None:
    """Import contacts from a file. A worker does it, and goes on when this command is interrupted.

    The exit code is 1 if the import failed or was canceled.
    """
    from app.cli import new_files, transfers
    from app.domain.bulk.files import Wanted
    from app.domain.bulk.import_rules import Existing, Import

    if report:
        new_files.check(report)
    wanted = Import(0, Wanted(encoding), country, Existing(existing), tag or [], source, consent, dry_run)
    done = asyncio.run(transfers.import_file(find_settings(), account, file, wanted, report))
    print_value(done, as_json=json)
    if done["status"] != "done":
        raise typer.Exit(1)


@contact.command("export")
def export_contacts(  # noqa: PLR0913 - each parameter is an option of the command
    account: ACCOUNT,
    file: Target,
    *,
    format: Annotated[
        Literal["csv", "json", "vcard"] | None,
        typer.Option(help="The format of the file; without it, JSON for .json, vCards for .vcf, otherwise CSV."),
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only contacts with this tag.")] = None,
    search: Annotated[str | None, typer.Option(help="Only contacts with this in name, phone or e-mail.")] = None,
    segment: Annotated[int | None, typer.Option(help="Only contacts of the segment with this id.")] = None,
    json: JSON = False,
) -> None:
    """Export contacts to a new file. A worker writes it."""
    from app.cli import new_files, transfers
    from app.domain.contacts.queries import ContactFilter

    new_files.check(file)
    if segment is not None and (tag or search):
        raise typer.BadParameter("--segment cannot be combined with --tag and --search.")
    wanted = ContactFilter(search=search, tag=tag) if segment is None else segment
    done = transfers.export_file(find_settings(), account, file, wanted, transfers.format_of(file, format))
    print_value(asyncio.run(done), as_json=json)


@contact.command("evidence")
def write_evidence(
    account: ACCOUNT,
    phone: Annotated[str, typer.Argument(help="The phone, whether or not a contact has it.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A new file: JSON if its name ends with .json, otherwise a page.")
    ],
    *,
    json: JSON = False,
) -> None:
    """Write all records of a phone's consent to a file that can be printed."""
    from app.cli import new_files, transfers

    new_files.check(file)
    print_value(asyncio.run(transfers.write_evidence(find_settings(), account, phone, file)), as_json=json)
