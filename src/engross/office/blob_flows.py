"""Files that somebody uploaded: which there are, on the record. The bytes lie in the tenant's blobs.

Bytes come in beside the pipeline, since they would not fit through it; that they came is a write like any other.
Whoever received them vouches for them with a token, so that nobody can put on the record, and then fetch, bytes of
which they know no more than the digest.

A file belongs to whoever uploaded it, and is shown to them, to their agent, and to the people who review. Of those who
bring the same bytes each has an entry of their own.
"""

import hmac
from collections.abc import Callable
from hashlib import sha256
from typing import Annotated, Any, cast

from typing_extensions import TypedDict

from engross.calls import Overtaken
from engross.flows import Aggregate, Described, Example, Semantics
from engross.governance import reviews
from engross.ledger import Fact, Reader, State, Unit, last_version
from engross.replies import Invalid, codes
from engross.store import Blobs, are_here_to_stay

TABLES = """
CREATE TABLE kept_blobs (
    tenant       $text NOT NULL,
    content_hash $text NOT NULL,
    version      $integer NOT NULL,
    size         $integer NOT NULL,
    media_type   $text NOT NULL,
    name         $text NOT NULL,
    kept_at      $text NOT NULL,
    PRIMARY KEY (tenant, content_hash)
)$clustered;
"""
HOLDERS = """
CREATE TABLE blob_holders (
    tenant       $text NOT NULL,
    content_hash $text NOT NULL,
    owner        $text NOT NULL,
    version      $integer NOT NULL,
    size         $integer NOT NULL,
    media_type   $text NOT NULL,
    name         $text NOT NULL,
    kept_at      $text NOT NULL,
    PRIMARY KEY (tenant, content_hash, owner)
)$clustered;
"""
TABLE_NAMES = ("kept_blobs", "blob_holders")
STEPS = (("kept blobs", TABLES), ("whose they are", HOLDERS))
COLUMNS = "content_hash, version, size, media_type, name, kept_at"
OWNER = "owner"
_UNDER = "WHERE tenant = :tenant AND content_hash = :content_hash"
_FIRST = f"SELECT {COLUMNS} FROM kept_blobs {_UNDER}"
_OWN = f"SELECT {COLUMNS} FROM blob_holders {_UNDER} AND owner = :owner"
KEPT = "BlobKept"
TOKEN_SIZE = 2 * sha256().digest_size
MEDIA_TYPE = r"^[A-Za-z0-9][A-Za-z0-9!#$&^_.+\-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+\-]*$"
_ELSE = r"/\\\x00-\x1f\x7f]"
# Neither `.` nor `..`: those are folders. Not every JSON Schema validator can look ahead.
FILE_NAME = rf"^([^.{_ELSE}[^{_ELSE}*|\.[^.{_ELSE}[^{_ELSE}*|\.\.[^{_ELSE}+)$"

ContentHash = Annotated[str, Described("The SHA-256 of the bytes, in hex.", pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Described("How many bytes there are.", minimum=0)]
MediaType = Annotated[str, Described("What kind of file it is.", maxLength=127, pattern=MEDIA_TYPE)]
NAMED = "The file's name: no slash, backslash or control character, and not just one dot or two."
FileName = Annotated[str, Described(NAMED, minLength=1, maxLength=255, pattern=FILE_NAME)]


class KeepBlob(TypedDict):
    """A file that has arrived."""

    content_hash: ContentHash
    size: Size
    media_type: MediaType
    name: FileName
    upload_token: Annotated[
        str, Described("Vouches for the bytes; only an upload makes it.", minLength=TOKEN_SIZE, maxLength=TOKEN_SIZE)
    ]


class GetBlob(TypedDict):
    """A file."""

    content_hash: ContentHash


class Kept(TypedDict):
    """A file on the record."""

    content_hash: ContentHash
    version: Annotated[int, Described("The version of this entry.")]
    size: Size
    media_type: MediaType
    name: FileName
    kept_at: Annotated[str, Described("When it was put on the record.")]


class OneBlob(TypedDict):
    """The file, as it is on the record."""

    blob: Annotated[Kept, Described("The file.")]


class Vouching:
    """Makes and knows the tokens of bytes that this office received."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def token(self, tenant: str, content_hash: str, size: int) -> str:
        """Vouches that these bytes came in for this tenant."""
        return hmac.new(self._secret, f"{tenant}\n{content_hash}\n{size}".encode(), sha256).hexdigest()

    def knows(self, token: str, tenant: str, content_hash: str, size: int) -> bool:
        """Is it the token of exactly these bytes?"""
        return hmac.compare_digest(token.encode(), self.token(tenant, content_hash, size).encode())


NOWHERE = "0" * 64
MADE_UP: dict[str, object] = {
    "content_hash": NOWHERE,
    "size": 3,
    "media_type": "text/plain",
    "name": "note.txt",
    "upload_token": "0" * TOKEN_SIZE,
}


def own_blob(reader: Reader, content_hash: str) -> dict[str, Any] | None:
    """What is on the record about a file that the caller, or the person whose agent calls, has uploaded."""
    return reader.row(_OWN, content_hash=content_hash, owner=reader.context.principal.stands_for)


def add_blob_flows(record: Aggregate, blobs: Callable[[str], Blobs], vouching: Callable[[], Vouching]) -> None:
    """The flows by which uploaded files get on the record, and are found there."""

    @record.record(
        effect="create",
        tier=1,
        posture="direct",
        exposed=False,
        rate="upload",
        refuses=[codes.RECORD_NOT_FOUND],
        semantics=Semantics(idempotent=True, destructive=False),
        controls=("client_request_id", "reason"),
        examples=[Example("Bytes that never came", MADE_UP, reply="TOKEN_INVALID")],
    )
    def keep_blob(unit: Unit, arguments: KeepBlob) -> OneBlob:
        """Put an uploaded file on the record. One that is yours already stays as it is."""
        content_hash = arguments["content_hash"]
        if (found := own_blob(unit, content_hash)) is not None:
            return {"blob": _shown(found)}
        tenant, is_real = unit.context.tenant, not unit.context.dry_run
        if is_real and not are_here_to_stay(unit.reading, blobs(tenant), content_hash):
            # The same bytes were erased a moment ago, and these went with them.
            raise not_found(content_hash, Overtaken)
        kept = {name: arguments[name] for name in ("size", "media_type", "name")}
        follows = last_version(unit, record.namespace, content_hash)
        stated = {**kept, OWNER: unit.context.principal.stands_for}
        unit.append(KEPT, content_hash, follows, stated, fields=kept)
        return {"blob": _shown({"content_hash": content_hash, "version": follows + 1, **kept, "kept_at": unit.now})}

    @keep_blob.prepare
    def refuse_unseen(reader: Reader, arguments: KeepBlob) -> KeepBlob:
        context, content_hash = reader.context, arguments["content_hash"]
        if context.dry_run:
            # Asked before the bytes are let in.
            return arguments
        if not vouching().knows(arguments["upload_token"], context.tenant, content_hash, arguments["size"]):
            raise Invalid(codes.TOKEN_INVALID, field="upload_token")
        if not blobs(context.tenant).has(content_hash):
            raise not_found(content_hash)
        return arguments

    @record.read(
        controls=(),
        exposed=False,
        examples=[Example("No such file", {"content_hash": NOWHERE}, reply="RECORD_NOT_FOUND")],
    )
    def get_blob(reader: Reader, arguments: GetBlob) -> OneBlob:
        """Show what is on the record about a file that you uploaded."""
        found = own_blob(reader, arguments["content_hash"])
        if found is None and reviews(reader.context.principal):
            found = reader.row(_FIRST, content_hash=arguments["content_hash"])
        if found is None:
            raise not_found(arguments["content_hash"])
        return {"blob": _shown(found)}

    @record.applies(KEPT)
    def blob_kept(state: State, fact: Fact) -> None:
        told = dict(fact.payload or {})
        owner = told.pop(OWNER, None)
        row = {"content_hash": fact.subject, "version": fact.version, "kept_at": fact.time, **told}
        values = ":content_hash, :version, :size, :media_type, :name, :kept_at"
        state.execute(
            f"INSERT INTO kept_blobs (tenant, {COLUMNS}) VALUES (:tenant, {values}) ON CONFLICT DO NOTHING", **row
        )
        if owner is not None:
            # Before files had owners, they were everybody's; now they are shown to the people who review.
            state.execute(
                f"INSERT INTO blob_holders (tenant, owner, {COLUMNS}) VALUES (:tenant, :owner, {values})",
                owner=owner,
                **row,
            )

    @record.erases
    def blob_erased(state: State, fact: Fact) -> None:
        for table in TABLE_NAMES:
            state.execute(f"DELETE FROM {table} {_UNDER}", content_hash=fact.subject)


def _shown(row: dict[str, Any]) -> Kept:
    return cast(Kept, row)


def not_found(content_hash: str, kind: type[Invalid] = Invalid) -> Invalid:
    """There is no such file, as far as the caller can tell."""
    return kind(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": content_hash}, field="content_hash")
