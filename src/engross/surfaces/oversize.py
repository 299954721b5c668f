"""More than is taken in at once, and the way that is open to it."""

from __future__ import annotations

from engross.replies import Invalid, codes

UPLOAD = "Upload large content by REST, with PUT /v1/blobs, and name its content_hash where a flow takes one."


def too_large(limit: int, *, what: str = "The number of bytes in the body", hint: str | None = UPLOAD) -> Invalid:
    """There is more than may be sent at once."""
    suggestions = None if hint is None else {"hint": hint}
    return Invalid(codes.LIMIT_EXCEEDED, {"what": what, "limit": limit}, suggestions=suggestions)
