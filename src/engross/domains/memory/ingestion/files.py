"""The bytes that a caller ingests: in the call itself, or uploaded before."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.replies import Failed, Invalid, codes

from ..refusals import malformed, no_such_record, raise_all
from ..ways import Files, Ways

MEDIA_TYPE = re.compile(
    r"[A-Za-z0-9][\w!#$&^.+\-]{0,126}/[A-Za-z0-9][\w!#$&^.+\-]{0,126}(?:\s*;[\x20-\x7e]{0,200})?", re.ASCII
)


class Arrived(NamedTuple):
    """A file as it came in."""

    content: bytes
    media_type: str
    name: str
    is_uploaded: bool


def arrived(reader: Reader, arguments: Mapping[str, Any], ways: Ways) -> Arrived:
    """The file that a call brings or names; Invalid if there is none, or one that is too large."""
    given = [name for name in ("file_content", "content_hash") if name in arguments]
    if len(given) != 1:
        hint = "file_content for the bytes in base64, content_hash for what was uploaded before."
        raise_all([malformed("/file_content", "give one of file_content and content_hash", hint)])
    files = require_files(ways)
    said = arguments.get("mime_type")
    if said is not None and not MEDIA_TYPE.fullmatch(said):
        raise_all([malformed("/mime_type", "this is no media type", "As application/pdf.")])
    if "content_hash" in arguments:
        return _uploaded(reader, arguments, files, ways)
    if said is None:
        raise_all([malformed("/mime_type", "it is needed with file_content", "As application/pdf.")])
    content = _decoded(arguments["file_content"], ways.most_file_bytes)
    return Arrived(content, str(said), arguments.get("original_filename", ""), False)


def require_files(ways: Ways) -> Files:
    """Where bytes are kept; an office without such a place cannot take files."""
    if ways.files is None:
        raise Failed(codes.CONFIG_INVALID, {"setting": "data"})  # reply-lint: L7 because the house gave it no place
    return ways.files


def too_large(size: int, limit: int, field: str) -> Invalid:
    """The file is larger than a source may be."""
    details = {"file_size_bytes": size, "max_size_bytes": limit}
    return Invalid(codes.FILE_TOO_LARGE, {"limit": limit}, field=field, details=details)


def _decoded(text: str, limit: int) -> bytes:
    # Judged by its length first: there is no need to unpack what will be refused.
    size = len(text) * 3 // 4 - (2 if text.endswith("==") else 1 if text.endswith("=") else 0)
    if size > limit:
        raise too_large(size, limit, "file_content")
    try:
        # The decoder forgives padding behind a whole number of groups.
        content = b64decode(text if len(text) % 4 == 0 else "?", validate=True)
    except (NotBase64, ValueError):
        raise Invalid.many([malformed("/file_content", "this is not base64")]) from None
    if not content:
        raise_all([malformed("/file_content", "the file is empty")])
    return content


def _uploaded(reader: Reader, arguments: Mapping[str, Any], files: Files, ways: Ways) -> Arrived:
    digest = arguments["content_hash"]
    upload = files.uploaded(reader, digest)
    if upload is None:
        # Whoever knows no more than a digest is not shown what lies under it.
        raise no_such_record(digest, "content_hash", "blob")
    if upload.size > ways.most_file_bytes:
        raise too_large(upload.size, ways.most_file_bytes, "content_hash")
    if upload.size == 0:
        raise_all([malformed("/content_hash", "the file is empty")])
    content = files.content(reader.context.tenant, digest)
    media_type = arguments.get("mime_type") or upload.media_type
    return Arrived(content, media_type, arguments.get("original_filename") or upload.name, True)
