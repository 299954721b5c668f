"""Tokens as facts, and the state that follows from them. The text of a token is in neither."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, NamedTuple

from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State, Unit
from engross.store import Reading

NAMESPACE: Final = "door"
TABLE: Final = "door_tokens"
JWT_PREFIX: Final = "jwt_"

SQL = """
CREATE TABLE door_tokens (
    tenant     $text NOT NULL,
    id         $text NOT NULL,
    version    $integer NOT NULL,
    kind       $text NOT NULL,
    principal  $text NOT NULL,
    type       $text NOT NULL,
    roles      $text NOT NULL,
    scopes     $text NOT NULL,
    note       $text,
    issuer     $text,
    jti        $text,
    created_at $text NOT NULL,
    created_by $text NOT NULL,
    expires_at $text,
    revoked_at $text,
    revoked_by $text,
    PRIMARY KEY (tenant, id)
)$clustered;
CREATE INDEX door_tokens_in_order ON door_tokens (tenant, created_at, id);
"""

COLUMNS = (
    "id, version, kind, principal, type, roles, scopes, note, issuer, jti,"
    " created_at, created_by, expires_at, revoked_at, revoked_by"
)
LOOK = (
    "SELECT principal, type, roles, scopes, expires_at, revoked_at FROM door_tokens WHERE tenant = :tenant AND id = :id"
)
NOTHING: dict[str, Any] = {
    "principal": "",
    "type": "",
    "roles": "",
    "scopes": "",
    "note": None,
    "issuer": None,
    "jti": None,
    "expires_at": None,
    "revoked_at": None,
    "revoked_by": None,
}


class Token(NamedTuple):
    """A token as a person may see it: all but its text."""

    id: str
    version: int
    kind: str
    """`local`, `jwt` for a revoked one of an issuer's, `erased`."""
    principal: str
    type: str
    roles: str
    scopes: str
    note: str | None
    issuer: str | None
    jti: str | None
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None

    def as_data(self, now: str) -> dict[str, Any]:
        """What a listing shows."""
        ended = {"status": self.status(now), "revoked_at": self.revoked_at, "revoked_by": self.revoked_by}
        if self.kind == "jwt":
            return {"id": self.id, "kind": self.kind, "issuer": self.issuer, "jti": self.jti, **ended}
        return {
            "id": self.id,
            "kind": self.kind,
            "principal": self.principal,
            "type": self.type,
            "roles": self.roles.split(),
            "scopes": self.scopes.split(),
            "note": self.note,
            "created_at": self.created_at,
            "created_by": self.created_by,
            "expires_at": self.expires_at,
            **ended,
        }

    def status(self, now: str) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


def tokens_aggregate() -> Aggregate:
    """The aggregate that keeps tokens, without its flows."""
    aggregate = Aggregate(NAMESPACE, "The door", tables=[TABLE], migrations=[("tokens", SQL)])
    aggregate.applies("TokenCreated")(_created)
    aggregate.applies("TokenRevoked")(_revoked)
    aggregate.applies("JwtRevoked")(_jwt_revoked)
    aggregate.erases(_erased)
    return aggregate


def jwt_subject(issuer: str, jti: str) -> str:
    """Under which id the revocation of an issuer's token is kept: a `jti` may be long, and means something to one."""
    return JWT_PREFIX + sha256(f"{issuer}\0{jti}".encode()).hexdigest()


def look(reading: Reading, token_id: str) -> dict[str, Any] | None:
    """What a credential is judged by. On the way of every request."""
    rows = reading.rows(LOOK, {"id": token_id})
    return rows[0] if rows else None


def find_token(reader: Reader, token_id: str) -> Token | None:
    """A token of the caller's tenant."""
    row = reader.row(f"SELECT {COLUMNS} FROM door_tokens WHERE tenant = :tenant AND id = :id", id=token_id)
    return None if row is None else Token(**row)


def page_of_tokens(reader: Reader, after: tuple[str, str] | None, most: int) -> list[Token]:
    """Tokens in the order they came to be known."""
    created, last = after or ("", "")
    rows = reader.rows(
        f"SELECT {COLUMNS} FROM door_tokens WHERE tenant = :tenant AND kind <> 'erased'"
        " AND (created_at > :created OR (created_at = :created AND id > :last))"
        " ORDER BY created_at, id LIMIT :most",
        created=created,
        last=last,
        most=most,
    )
    return [Token(**row) for row in rows]


def state_created(unit: Unit, token_id: str, payload: dict[str, Any]) -> None:
    """State that a token exists from now on."""
    unit.append("TokenCreated", token_id, 0, payload, fields=payload)


def state_revoked(unit: Unit, token: Token) -> None:
    """State that a token of ours is good for nothing from now on."""
    by = {"revoked_by": unit.context.principal.id}
    unit.append("TokenRevoked", token.id, token.version, by, before=token.as_data(unit.now), fields=by)


def state_jwt_revoked(unit: Unit, token_id: str, issuer: str, jti: str) -> None:
    """State that an issuer's token is good for nothing here from now on."""
    payload = {"issuer": issuer, "jti": jti, "revoked_by": unit.context.principal.id}
    unit.append("JwtRevoked", token_id, 0, payload, fields=payload)


def _created(state: State, fact: Fact) -> None:
    made = fact.payload or {}
    _insert(
        state,
        fact,
        kind="local",
        principal=made["principal"],
        type=made["type"],
        roles=" ".join(made["roles"]),
        scopes=" ".join(made["scopes"]),
        note=made["note"],
        created_by=made["created_by"],
        expires_at=made["expires_at"],
    )


def _revoked(state: State, fact: Fact) -> None:
    state.execute(
        "UPDATE door_tokens SET version = :version, revoked_at = :time, revoked_by = :by"
        " WHERE tenant = :tenant AND id = :id",
        id=fact.subject,
        version=fact.version,
        time=fact.time,
        by=(fact.payload or {})["revoked_by"],
    )


def _jwt_revoked(state: State, fact: Fact) -> None:
    told = fact.payload or {}
    by = told["revoked_by"]
    known = {"issuer": told["issuer"], "jti": told["jti"], "created_by": by, "revoked_by": by}
    _insert(state, fact, kind="jwt", revoked_at=fact.time, **known)


def _erased(state: State, fact: Fact) -> None:
    """Nothing stays but that the token is good for nothing: to forget a revocation would undo it."""
    state.execute("DELETE FROM door_tokens WHERE tenant = :tenant AND id = :id", id=fact.subject)
    _insert(state, fact, kind="erased", created_by="", revoked_at=fact.time)


def _insert(state: State, fact: Fact, **columns: Any) -> None:
    row = {**NOTHING, "id": fact.subject, "version": fact.version, "created_at": fact.time, **columns}
    places = ", ".join(f":{name}" for name in COLUMNS.split(", "))
    state.execute(f"INSERT INTO door_tokens (tenant, {COLUMNS}) VALUES (:tenant, {places})", **row)
