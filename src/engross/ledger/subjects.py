"""How far each subject's facts have come, in a temporary database, so that a million of them need no memory."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

TABLE = """
CREATE TABLE subjects (
    aggregate TEXT NOT NULL,
    subject   TEXT NOT NULL,
    version   INTEGER NOT NULL,
    missing   INTEGER NOT NULL,
    PRIMARY KEY (aggregate, subject)
) WITHOUT ROWID
"""


class Subjects:
    """The subjects of one tenant: their versions, and how many of their payloads are gone unexplained."""

    def __init__(self) -> None:
        # An empty name is a private file that vanishes with the connection.
        self._connection = apsw.Connection("")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("PRAGMA journal_mode = OFF").fetchall()
        self._connection.execute("BEGIN")
        self._connection.execute(TABLE)

    def follow(self, aggregate: str, subject: str, version: int, missing: int) -> int:
        """Note a subject's next fact, and by how much its missing payloads change; the version before it."""
        before = self._connection.execute(
            "SELECT version, missing FROM subjects WHERE aggregate = ? AND subject = ?", (aggregate, subject)
        ).fetchone()
        last, so_far = (int(before[0]), int(before[1])) if before else (0, 0)
        self._connection.execute(
            "REPLACE INTO subjects (aggregate, subject, version, missing) VALUES (?, ?, ?, ?)",
            (aggregate, subject, version, so_far + missing),
        )
        return last

    def unexplained(self) -> Iterator[tuple[str, str, int]]:
        """Subjects whose payloads are not just those that their erasures took."""
        yield from self._connection.execute(
            "SELECT aggregate, subject, missing FROM subjects WHERE missing <> 0 ORDER BY aggregate, subject"
        )

    def close(self) -> None:
        """Forget them all."""
        self._connection.close(True)
