"""Proposes the field of a contact for each column of a file, by the name of the column or by its values."""

import re
from collections.abc import Mapping, Sequence

from app.domain.bulk.tables import MAX_COLUMNS
from app.domain.contacts.models import CustomField
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.phone import InvalidPhone, normalize

CUSTOM = "custom."
NAMES = {
    "phone": "phone phonenumber phoneno mobile mobilephone mobilenumber mobileno cell cellphone cellnumber telephone "
    "telephonenumber tel telefon telefonnummer handy handynummer mobil mobilnummer telefono telefone celular movil "
    "portable gsm msisdn number contactnumber smsnumber phone1value primaryphone whatsapp",
    "first_name": "firstname first givenname forename fname vorname prenom nombre nome",
    "last_name": "lastname last surname familyname lname nachname familienname nom apellido apellidos sobrenome "
    "cognome",
    "name": "name fullname displayname contactname contact kunde",
    "email": "email emailaddress mail emailadresse correo correoelectronico courriel email1value eemailaddress",
    "tags": "tags tag labels label groups group groupmembership categories category etiquetas",
    "pipeline_stage": "pipelinestage stage pipeline",
    "source": "source leadsource origin quelle",
    "status": "status optstatus subscriptionstatus",
    "dnd_sms": "dndsms dnd donotdisturb",
}
FIELDS = (*NAMES,)
"""The fields that a column may have, besides `custom.KEY`. `name` is a whole name, divided at its last space."""

SYNONYMS = {synonym: field for field, synonyms in NAMES.items() for synonym in synonyms.split()}


def propose(header: Sequence[str], samples: Sequence[Sequence[str]], known: Sequence[CustomField]) -> list[str]:
    """Return the field of each column, or an empty text for none; no field is proposed twice."""
    custom = {_plain(text): f"{CUSTOM}{each.key}" for each in known for text in (each.label, each.key)}
    custom |= {_plain(f"custom{each.key}"): f"{CUSTOM}{each.key}" for each in known}
    found: list[str] = []
    for name in header:
        field = SYNONYMS.get(_plain(name)) or custom.get(_plain(name), "")
        found.append("" if field in found else field)
    if "phone" not in found:
        _propose_by_values(found, samples)
    return found


def is_header(row: Sequence[str], known: Sequence[CustomField]) -> bool:
    """Return whether the first row of a file names columns: a cell is a known name, and none is a phone."""
    return any(propose(row, [], known)) and not any(_is_phone(cell) for cell in row)


def check(columns: Mapping[int, str], width: int, known: Sequence[CustomField]) -> list[str]:
    """Return the field of each column that a caller wrote; raise `InvalidInput`."""
    allowed = {*FIELDS, "", *(f"{CUSTOM}{each.key}" for each in known)}
    for number, field in columns.items():
        if not 0 <= number < min(width, MAX_COLUMNS):
            raise InvalidInput(reason=f"columns: the file has no column {number}.", field="columns")
        if field not in allowed:
            raise InvalidInput(reason=f"columns: {field[:50]} is not a field of contacts.", field="columns")
    named = [field for field in columns.values() if field]
    if len(set(named)) < len(named):
        raise InvalidInput(reason="columns: a field has two columns.", field="columns")
    return [columns.get(number, "") for number in range(width)]


def _propose_by_values(found: list[str], samples: Sequence[Sequence[str]]) -> None:
    for number, field in enumerate(found):
        values = [row[number] for row in samples if number < len(row) and row[number].strip()]
        if field or not values:
            continue
        if "phone" not in found and 2 * sum(map(_is_phone, values)) > len(values):
            found[number] = "phone"
        elif "email" not in found and all("@" in value for value in values):
            found[number] = "email"


def _is_phone(text: str) -> bool:
    try:
        return bool(normalize(text.strip(), "US")) and sum(map(str.isdigit, text)) >= 7
    except InvalidPhone:
        return False


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
