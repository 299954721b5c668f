"""What things are called: canonical names, the field that names an entity, identifiers, and the words of a text.

The normalisation of names is part of every entity's id, so it never changes. It trims and folds as the format's first
implementation does, whose idea of a blank differs a little from Python's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

LONGEST_NAME = 400
LONGEST_WORD = 40
LONGEST_TEXT = 2_000
"""So much of a text is looked at for words."""

COMPANIES = frozenset({"company", "organization"})
# JavaScript trims the byte order mark and leaves the separators U+001C to U+001F alone.
BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_RUN = re.compile(f"[{BLANKS}]+")
_LEGAL_FORM = re.compile(rf"[{BLANKS}]+(?:inc|llc|ltd|corp|corporation|co|company|limited)\.?$")
_TRIMMED = BLANKS.replace("\u2000-\u200a", "".join(map(chr, range(0x2000, 0x200B))))
# A capital behind a small letter begins a new word.
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

NAMING = ("name", "canonical_name", "full_name", "title", "email", "url")
NUMBERING = (
    *("message_id", "turn_key", "thread_id", "external_id", "source_id", "id", "uuid"),
    *("company_id", "person_id", "contact_id"),
)
SAY_NOTHING = frozenset(
    {
        *("contact_type", "entity_type", "type", "status", "created_at", "updated_at", "created_date", "updated_date"),
        *("schema_version", "import_date", "import_source_file", "source", "source_name", "data_source", "origin"),
        *("currency", "currency_code", "category"),
    }
)
NO_NAMES = frozenset(
    {
        *("usd", "eur", "gbp", "chf", "jpy", "unknown", "none", "null", "n/a", "na", "active", "inactive", "pending"),
        *("true", "false", "yes", "no"),
    }
)
_DATE_OR_NUMBER = re.compile(r"\d{4}-\d{2}-\d{2}.*|[\d.,+\-\s]+")

_TITLES = "mr|mrs|ms|dr|prof|sir|jr|sr|ii|iii|iv"
_FORMS = "inc|llc|ltd|corp|corporation|co|company|limited|plc|gmbh|pty|pvt"
TITLES_AND_FORMS = frozenset(f"{_TITLES}|{_FORMS}".split("|"))
_HONORIFIC = re.compile(rf"\b(?:{_TITLES})\b\.?")
_PUNCTUATION = re.compile(r"[-.,;:!?'\"()\[\]{}_/\\]+")
_MORE_LEGAL_FORMS = re.compile(rf"\s+(?:{_FORMS})$")


def normalise(entity_type: str, raw: str) -> str:
    """A name as it counts: small letters, single blanks, and for companies one legal form less."""
    name = raw.strip(_TRIMMED).lower()
    if entity_type in COMPANIES:
        name = _LEGAL_FORM.sub("", name).strip(_TRIMMED)
    return name if _is_even(name) else _RUN.sub(" ", name).strip(_TRIMMED)


def _is_even(text: str) -> bool:
    """Whether there is no blank in it but single ones: the quick look that most texts pass."""
    return text.isascii() and text.isprintable() and "  " not in text


def naming_value(fields: Mapping[str, Any]) -> str | None:
    """What names an entity among its fields: a name, else a number of its own, else the first text that says much."""
    for field in NAMING:
        value = fields.get(field)
        if isinstance(value, str) and value.strip(_TRIMMED):
            return value
    for field in NUMBERING:
        value = fields.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip(_TRIMMED):
            return f"id:{field}:{value}"
    for field in sorted(fields):
        value = fields[field]
        if field not in SAY_NOTHING and isinstance(value, str) and _says_something(value):
            return value
    return None


def _says_something(value: str) -> bool:
    text = value.strip(_TRIMMED)
    return bool(text) and text.lower() not in NO_NAMES and _DATE_OR_NUMBER.fullmatch(text) is None


def alike_key(entity_type: str, name: str) -> str:
    """What names have in common that probably mean the same: no titles, no punctuation, no legal forms."""
    if "@" in name or (name.replace(" ", "").isalnum() and TITLES_AND_FORMS.isdisjoint(name.split(" "))):
        return name
    key = name
    if entity_type in ("person", "contact"):
        key = _HONORIFIC.sub(" ", key)
    key = " ".join(_PUNCTUATION.sub(" ", key).split())
    if entity_type in COMPANIES:
        while (shorter := _MORE_LEGAL_FORMS.sub("", key)) != key:
            key = shorter
    return key or name


def words(text: str) -> list[str]:
    """The words of a text in small letters: `OrderService` and `order service` have the same ones."""
    known = text[:LONGEST_TEXT]
    if not known.islower():
        known = _HUMP.sub(" ", known).casefold()
    # Most texts are words and blanks, for which no pattern is needed.
    found = known.split() if known.replace(" ", "").isalnum() else _WORD.findall(known)
    return found if len(known) <= LONGEST_WORD else [word[:LONGEST_WORD] for word in found]


_NO_DIGITS = re.compile(r"\D+")
_NOT_OF_A_TAX_ID = re.compile(r"[^A-Z0-9]+")


def _email(value: str) -> str:
    return value.strip(_TRIMMED).lower()


def _tax_id(value: str) -> str:
    return _NOT_OF_A_TAX_ID.sub("", value.upper())


def _phone(value: str) -> str:
    if value.isascii() and value.removeprefix("+").isdigit():
        return value
    digits = _NO_DIGITS.sub("", value)
    return f"+{digits}" if digits and value.lstrip().startswith("+") else digits


def _domain(value: str) -> str:
    host = re.sub(r"^[a-z][a-z0-9+.\-]*://", "", value.strip(_TRIMMED).lower())
    return re.split(r"[/?#]", host, maxsplit=1)[0].rpartition("@")[2].removeprefix("www.").rstrip(".")


def _plain(value: str) -> str:
    text = value.strip(_TRIMMED).lower()
    return text if _is_even(text) else _RUN.sub(" ", text)


Normaliser = Callable[[str], str]
IDENTIFIERS: Mapping[str, Normaliser] = {
    "email": _email,
    "emails": _email,
    "email_address": _email,
    "phone": _phone,
    "phones": _phone,
    "phone_number": _phone,
    "tax_id": _tax_id,
    "vat_id": _tax_id,
    "domain": _domain,
    "website": _domain,
    "name": _plain,
    "full_name": _plain,
    "title": _plain,
    "company": _plain,
    "external_id": _plain,
    "id": _plain,
    "uuid": _plain,
    "url": _plain,
    "invoice_number": _plain,
    "receipt_number": _plain,
    "contract_number": _plain,
    "transaction_id": _plain,
    "account_number": _plain,
    "message_id": _plain,
}
"""The fields that tell which entity is meant, each with the form in which two values are the same."""
ADDRESSES = frozenset(
    {
        *("email", "emails", "email_address", "phone", "phones", "phone_number", "tax_id", "vat_id"),
        *("external_id", "id", "uuid", "url", "message_id", "account_number", "transaction_id"),
    }
)
"""Identifying fields that are looked up as a whole: their parts are not words that anybody would search for."""
GROUPS: Mapping[str, str] = {
    "emails": "email",
    "email_address": "email",
    "phones": "phone",
    "phone_number": "phone",
    "vat_id": "tax_id",
    "website": "domain",
    "full_name": "name",
}
"""Fields that are looked up together with another one."""


def identifier_terms(field: str, value: Any) -> Sequence[str]:
    """The terms under which a value of an identifying field is found."""
    normaliser = IDENTIFIERS.get(field)
    if normaliser is None:
        return ()
    group = GROUPS.get(field, field)
    if type(value) is str:
        found = normaliser(value)[:LONGEST_NAME]
        return (f"{group}={found}",) if found else ()
    said = value[:20] if isinstance(value, list | tuple) else (value,)
    texts = [str(one) for one in said if isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool))]
    return [f"{group}={found}" for text in texts if (found := normaliser(text)[:LONGEST_NAME])]


def identifier_guesses(identifier: str) -> dict[str, str]:
    """Under which terms something is looked up when nobody says which field it is from: the field by term."""
    return {term: GROUPS.get(field, field) for field in IDENTIFIERS for term in identifier_terms(field, identifier)}


def exact_guesses(identifier: str) -> list[str]:
    """The terms of `identifier_guesses` that stand for the whole of it, not for what a part of it might be."""
    guesses = identifier_guesses(identifier)
    partial = {"domain"} if "@" in identifier else set()
    if any(map(str.isalpha, identifier)):
        partial.add("phone")
    return [term for term, field in guesses.items() if field not in partial]
