"""Taking personal data out of the ledger without breaking it.

The payloads of all facts about a subject go, with the salts of their digests; so do the remembered answers of the
calls that stated them, and of those that only showed them. The envelope of every fact stays, so counts, versions,
receipts and seals still verify. A last fact says that the subject was erased, and its aggregate forgets the state.
"""

from __future__ import annotations

import orjson

from .factbook import ERASED
from .unit import Reader, Unit


def erase_subject(unit: Unit, aggregate: str, subject: str, follows: int) -> int:
    """Erase one subject; the answer is how many payloads went."""
    forgotten = unit.transaction.rows(
        "UPDATE keys SET answer = NULL, fingerprint = '', state = 'erased'"
        " WHERE tenant = :tenant AND answer IS NOT NULL AND (answer LIKE :mentioned ESCAPE '~' OR position IN ("
        " SELECT position FROM facts WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject))"
        " RETURNING operation, key",
        {"aggregate": aggregate, "subject": subject, "mentioned": _mentioned(subject)},
    )
    unit.forgotten.extend((row["operation"], row["key"]) for row in forgotten)
    gone = unit.transaction.execute(
        "UPDATE facts SET payload = NULL, salt = NULL WHERE tenant = :tenant AND aggregate = :aggregate"
        " AND subject = :subject AND payload IS NOT NULL AND type <> :erased",
        {"aggregate": aggregate, "subject": subject, "erased": ERASED},
    )
    unit.append(ERASED, subject, follows, {"payloads": gone}, aggregate=aggregate, ends=True)
    return gone


def is_erased_subject(unit: Unit, aggregate: str, subject: str) -> bool:
    """Whether a subject was erased and nothing was said about it since."""
    last = unit.row(
        "SELECT type FROM facts WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject"
        " ORDER BY version DESC LIMIT 1",
        aggregate=aggregate,
        subject=subject,
    )
    return last is not None and last["type"] == ERASED


def last_version(reader: Reader, aggregate: str, subject: str) -> int:
    """The version a subject has come to; 0 when there is no such subject."""
    version = reader.value(
        "SELECT max(version) AS version FROM facts"
        " WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject",
        aggregate=aggregate,
        subject=subject,
    )
    return int(version or 0)


def _mentioned(subject: str) -> str:
    """The pattern of a stored answer that names the subject."""
    name = orjson.dumps(subject).decode()
    for special in "~%_":
        name = name.replace(special, "~" + special)
    return f"%{name}%"
