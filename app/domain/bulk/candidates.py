"""Checks the rows of a file: the contact that each describes, or the reason why it describes none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.bulk import csv_text, tag_lists
from app.domain.bulk.mapping import CUSTOM
from app.domain.bulk.tables import Row
from app.domain.contacts import custom_fields
from app.domain.contacts.additions import AddedContact
from app.domain.contacts.models import CustomField, PipelineStage
from app.domain.contacts.service import MAX_NAME, clean_email, clean_tags, clean_text
from app.domain.kernel import phone as phones
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.phone import InvalidPhone

SCIENTIFIC = re.compile(r"\d[.,]\d+E\+?\d+", re.I)
LETTERS = re.compile(r"[^\W\d_]")
NOT_LETTERS = re.compile(r"(?:tel|ext|x)\W*", re.I)
TRUE, FALSE = frozenset({"yes", "true", "1", "on"}), frozenset({"no", "false", "0", "off"})
ACTIVE = frozenset({"active", "subscribed", "yes", "true", "1", "optedin", "optin"})
MAX_REASON = 200
"""The characters of a reason that are kept: it may repeat a cell of any length."""

OPTED_OUT = frozenset({"optedout", "optout", "unsubscribed", "stop", "stopped", "donotcontact", "no", "false", "0"})


@dataclass(slots=True)
class Candidate:
    """A row: the phone and the given fields of a contact, and the contact to add; or the reason why it is invalid."""

    number: int
    phone: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    custom: dict[str, Any] = field(default_factory=dict)
    opted_out: bool = False
    reason: str = ""
    contact: AddedContact = field(init=False)


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads rows of columns with known fields. `region` is that of national numbers."""

    columns: Sequence[str]
    known: Sequence[CustomField]
    region: str | None

    def read(self, row: Row) -> Candidate:
        """Return the candidate of a row."""
        found = Candidate(row.number)
        try:
            self._fill(found, row)
        except DomainError as fault:
            found.reason = str(fault)[:MAX_REASON]
        return found

    def _fill(self, found: Candidate, row: Row) -> None:
        if row.fault:
            raise InvalidInput(reason=row.fault, field="row")
        if any(cell.strip() for cell in row.cells[len(self.columns) :]):
            reason = f"The row has {len(row.cells)} columns, and the first row {len(self.columns)}."
            raise InvalidInput(reason=reason, field="row")
        cells = dict[str, str]()
        for name, cell in zip(self.columns, row.cells, strict=False):
            if name and (text := cell.strip()):
                cells[name] = csv_text.read(text)
        if "\0" in "".join(cells.values()):
            raise InvalidInput(reason="The row has the character U+0000.", field="row")
        found.phone = self._phone(cells.pop("phone", ""))
        if name := cells.pop("name", ""):
            first, _, last = name.rpartition(" ")
            cells = {"first_name": first or last, "last_name": last if first else "", **cells}
        for name, text in cells.items():
            self._set(found, name, text)

    def _phone(self, text: str) -> str:
        if not text:
            raise InvalidInput(reason="phone is required.", field="phone")
        if LETTERS.search(text):
            _check_letters(text)
        return phones.normalize(text, self.region)

    def _set(self, found: Candidate, name: str, text: str) -> None:
        match name:
            case "email":
                found.fields[name] = clean_email(text)
            case "tags":
                found.tags = clean_tags(tag_lists.read(text))
            case "pipeline_stage":
                found.fields[name] = _stage(text)
            case "status":
                found.opted_out = _is_opted_out(text)
            case "dnd_sms":
                found.fields |= {name: True} if _is_true(name, text) else {}
            case _ if name.startswith(CUSTOM):
                key = name.removeprefix(CUSTOM)
                declared = next(each for each in self.known if each.key == key)
                found.custom[key] = custom_fields.read(declared, text)
            case _:
                found.fields[name] = clean_text(name, text, MAX_NAME)


def _check_letters(phone: str) -> None:
    """Refuse a phone with other letters than those before a number or an extension."""
    if SCIENTIFIC.fullmatch(phone):
        raise InvalidInput(
            reason=f"phone '{phone}' was shortened by a spreadsheet. Format the column as text.", field="phone"
        )
    if LETTERS.search(NOT_LETTERS.sub("", phone)):
        raise InvalidPhone(phone=f"'{phone[:40]}'", reason="it has letters")


def _stage(text: str) -> str:
    stage = re.sub(r"[\s-]+", "_", text.lower())
    if stage not in list(PipelineStage):
        raise InvalidInput(
            reason=f"pipeline_stage must be one of {', '.join(PipelineStage)}, not '{text[:40]}'.",
            field="pipeline_stage",
        )
    return stage


def _is_opted_out(text: str) -> bool:
    """Return whether a status is an opt-out; refuse one that is unclear, because a wrong guess would text a person."""
    word = re.sub(r"[\W_]", "", text.lower())
    if word not in ACTIVE | OPTED_OUT:
        raise InvalidInput(reason=f"status must be active or opted_out, not '{text[:40]}'.", field="status")
    return word in OPTED_OUT


def _is_true(name: str, text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise InvalidInput(reason=f"{name} must be true or false, not '{text[:40]}'.", field=name)
    return text.lower() in TRUE
